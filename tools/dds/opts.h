/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command lines of spindle-dds.
 *
 * Owner: main() has the struct, and its strings are words of the command line.
 * Context: main thread, before anything else is started.
 */
#ifndef SPINDLE_DDS_TOOL_OPTS_H
#define SPINDLE_DDS_TOOL_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include <spindle/dds.h>

/* Without --level. */
#define DDS_LEVEL_NONE	UINT32_MAX

/**
 * enum dds_verb - what is done with a topic
 */
enum dds_verb {
	/** @DDS_LIST: list all topics */
	DDS_LIST,
	/** @DDS_INFO: show a topic */
	DDS_INFO,
	/** @DDS_ECHO: print its samples */
	DDS_ECHO,
	/** @DDS_PUB: write samples */
	DDS_PUB,
	/** @DDS_HZ: measure samples per second */
	DDS_HZ,
	/** @DDS_BW: measure bytes per second */
	DDS_BW,
	/** @DDS_VERBS: not a verb, but how many there are */
	DDS_VERBS
};

/**
 * enum dds_form - how the bytes of a sample are written
 */
enum dds_form {
	/** @DDS_TEXT: as text; what cannot be printed is escaped */
	DDS_TEXT,
	/** @DDS_HEX: two digits for each byte */
	DDS_HEX,
	/** @DDS_RAW: the bytes, and nothing else */
	DDS_RAW
};

/**
 * struct dds_opts - options
 */
struct dds_opts {
	/** @verb: enum dds_verb */
	enum dds_verb verb;
	/** @node: own node id; 0: the only one there is */
	uint32_t node;
	/** @control: name of the control subgroup, or NULL */
	const char *control;
	/** @device: device, or NULL */
	const char *device;
	/** @rdmc_device: device of RDMC, or NULL */
	const char *rdmc_device;
	/** @timeout: how long a call waits for other participants, milliseconds */
	uint64_t timeout;
	/** @begin: begin a domain if no participant has one */
	bool begin;
	/** @json: print JSON */
	bool json;
	/** @pretty: indented */
	bool pretty;
	/** @csv: print CSV */
	bool csv;
	/** @quiet: no summary and no notes */
	bool quiet;
	/** @wait: how long to wait for the topic, milliseconds */
	uint64_t wait;
	/** @count: samples after which the program ends; 0: no such number */
	uint64_t count;
	/** @once: one sample, as @count = 1 */
	bool once;
	/** @partition: partitions of the writer or of the reader */
	char partition[SPINDLE_DDS_PARTITIONS][SPINDLE_DDS_SHORT];
	/** @partitions: entries of @partition */
	uint32_t partitions;
	/** @form: enum dds_form */
	uint32_t form;
	/**
	 * @depth: echo: samples of each key from before; pub: how many are offered, UINT32_MAX:
	 * one if the topic keeps samples
	 */
	uint32_t depth;
	/** @keys: echo: show keys */
	bool keys;
	/** @verbose: echo: show also sequence number and source time */
	bool verbose;
	/** @window: hz, bw: samples that a figure is made of */
	uint32_t window;
	/** @rate: pub: samples per second; 0: no limit */
	double rate;
	/** @has_rate: pub: @rate was given */
	bool has_rate;
	/** @level: pub: level of a new topic, or DDS_LEVEL_NONE */
	uint32_t level;
	/** @type: pub: name of the type, or NULL */
	const char *type;
	/** @subgroup: pub: own subgroup of a new topic, or NULL */
	const char *subgroup;
	/** @key: pub: key hash */
	uint8_t key[SPINDLE_DDS_HASH];
	/** @keyed: pub: @key was given */
	bool keyed;
	/** @size: pub: bytes of the longest sample; 0: those of the text, or DDS_SIZE */
	uint32_t size;
	/** @readers: pub: readers to wait for */
	uint32_t readers;
	/** @topic: name of the topic; NULL: DDS_LIST */
	const char *topic;
	/** @text: pub: the sample; NULL: lines of standard input */
	const char *text;
	/** @bytes: bytes of @text, which is not a string if --form is hex */
	uint32_t bytes;
};

/* Bytes of the longest line of standard input, without --size. */
#define DDS_SIZE	1024U

int dds_opts_parse(struct dds_opts *o, int argc, char **argv);

#endif /* SPINDLE_DDS_TOOL_OPTS_H */
