/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One configuration of a measurement. A table of parameters has one word for each, which is the
 * same on the command line, in a sweep, in JSON and in CSV.
 */
#ifndef SPINDLE_PERF_CONF_H
#define SPINDLE_PERF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/opts.h"
#include "tune.h"

/* Values that are words and not numbers. */
#define PERF_ALL	UINT64_MAX		/* all senders, nodes or subgroups */
#define PERF_HALF	(UINT64_MAX - 1)	/* half of the senders or nodes */
#define PERF_LONG	UINT64_MAX		/* delay: the sender sends nothing */
#define PERF_SILENT	(UINT64_MAX - 1)	/* delay: and has announced its silence */

/**
 * struct perf_conf - what is measured
 */
struct perf_conf {
	/** @nodes: members of the view */
	uint64_t nodes;
	/** @senders: members that send */
	uint64_t senders;
	/** @subgroups: subgroups of the view, each with all nodes */
	uint64_t subgroups;
	/** @active: subgroups that are used */
	uint64_t active;
	/** @window: slots of a sender */
	uint64_t window;
	/** @max_msg: largest message; 0: as large as the messages are */
	uint64_t max_msg;
	/** @ring: bytes of a sender's ring; 0: the kernel's default for @window and @max_msg */
	uint64_t ring;
	/** @mode: enum spindle_mode */
	uint64_t mode;
	/** @visibility: enum spindle_visibility */
	uint64_t visibility;
	/** @log: the subgroups have logs */
	uint64_t log;
	/** @idle_us: microseconds that an engine polls without work */
	uint64_t idle_us;
	/** @size: bytes of a message */
	uint64_t size;
	/** @count: messages of a sender in a repetition; 0: @millis is the limit */
	uint64_t count;
	/** @millis: milliseconds of a repetition; 0: @count is the limit */
	uint64_t millis;
	/** @warmup: length of a first run that is not counted, in percent of a repetition */
	uint64_t warmup;
	/** @rate: messages of a sender per second; 0: as fast as possible */
	uint64_t rate;
	/** @closed: a sender waits for its own message before it sends the next one */
	uint64_t closed;
	/** @delay: microseconds after each message, or PERF_LONG, PERF_SILENT */
	uint64_t delay;
	/** @delay_senders: how many senders have the delay, counted from the last one */
	uint64_t delay_senders;
	/** @upcall: microseconds that a reader takes for a message */
	uint64_t upcall;
	/** @upcall_nodes: how many nodes have such readers, counted from the last one */
	uint64_t upcall_nodes;
	/** @copy_in: messages are copied into the ring, not built there */
	uint64_t copy_in;
	/** @copy_out: readers have copy rings of their own */
	uint64_t copy_out;
	/** @batch: largest number of messages that a sender sends at a time */
	uint64_t batch;
	/**
	 * @spin: microseconds that a process looks for work before it sleeps; PERF_ALL: automatic
	 */
	uint64_t spin;
	/** @threads: each node has a thread */
	uint64_t threads;
	/** @verify: each byte is checked */
	uint64_t verify;
	/** @tune: how the nodes are tuned */
	struct perf_tune tune;
	/** @tune_text: the same as text */
	const char *tune_text;
};

/* Groups of parameters. */
enum {
	PERF_MEASURE,	/* parameters of a measurement */
	PERF_MAKE	/* of --setup; they have no meaning for nodes that exist already */
};

/* The words of a number of senders, nodes or subgroups, see perf_some(). */
extern const struct ctl_opt_word perf_some_words[];

/* Parameters: options that describe struct perf_conf. */
extern const struct ctl_opt perf_params[];
extern const unsigned int perf_param_count;

const struct ctl_opt *perf_param_find(const char *name);
void perf_conf_default(struct perf_conf *conf);
const char *perf_conf_text(const struct perf_conf *conf, const struct ctl_opt *p);
const char *perf_conf_settle(struct perf_conf *conf);
uint64_t perf_conf_quota(const struct perf_conf *conf);

/* The number that a word like "half" stands for. */
static inline uint32_t perf_some(uint64_t v, uint32_t of)
{
	if (v == PERF_HALF)
		return (of + 1) / 2;
	return v < of ? v : of;
}

/* limit.c */
const char *perf_limit(const struct perf_conf *conf, bool setup);
uint64_t perf_limit_ring(const struct perf_conf *conf);
uint64_t perf_limit_memory(const struct perf_conf *conf);
uint64_t perf_limit_available(void);
void perf_limit_raise(void);

#endif /* SPINDLE_PERF_CONF_H */
