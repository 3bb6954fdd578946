/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of spindle-perf rdmc.
 */
#ifndef SPINDLE_PERF_RDMC_OPTIONS_H
#define SPINDLE_PERF_RDMC_OPTIONS_H

#include "perf/place.h"

/**
 * struct perf_ropts - what the user wants
 */
struct perf_ropts {
	/** @where: addresses of the nodes */
	struct perf_where where;
	/** @members: members of a group */
	unsigned int members;
	/** @nodes: nodes */
	unsigned int nodes;
	/** @senders: number of roots; each is the root of a group of all members; not with @mix */
	uint64_t senders;
	/** @mix: number of groups, each of the first node and random other nodes; 0: no mix */
	unsigned int mix;
	/**
	 * @sigma: with @mix: standard deviation of the logarithm of sizes, in percent; @size is the
	 * median
	 */
	unsigned int sigma;
	/** @algorithm: enum spindle_rdmc_algorithm */
	uint32_t algorithm;
	/** @size: bytes of an object */
	uint64_t size;
	/** @block: bytes of a block; 0: the default */
	uint32_t block;
	/** @count: objects of a root in a repetition; with @mix: objects of all roots together */
	uint64_t count;
	/** @queue: objects that a root may have under way; with @mix: all roots together */
	unsigned int queue;
	/** @reps: repetitions */
	unsigned int reps;
	/** @idle_us: microseconds that an engine polls without work */
	uint64_t idle_us;
	/** @give_up: seconds to wait for an event before giving up */
	unsigned int give_up;
	/** @json: print JSON instead of a table */
	bool json;
	/** @json_file: file for the JSON; NULL: standard output */
	const char *json_file;
	/** @csv_file: file for a row of CSV; NULL: none */
	const char *csv_file;
};

extern const struct ctl_opt perf_ropts[];

int perf_ropts_parse(struct perf_ropts *o, int argc, char **argv);

#endif /* SPINDLE_PERF_RDMC_OPTIONS_H */
