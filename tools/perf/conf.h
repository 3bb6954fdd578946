/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One configuration of a measurement. A table of parameters says how each is called, on
 * the command line, in a sweep, in JSON and in CSV alike.
 */
#ifndef SPINDLE_PERF_CONF_H
#define SPINDLE_PERF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf-tune.h"

/* Values that are words and not numbers. */
#define PERF_ALL	UINT64_MAX		/* of a number of senders, nodes or subgroups */
#define PERF_HALF	(UINT64_MAX - 1)	/* of a number of senders or nodes */
#define PERF_LONG	UINT64_MAX		/* of a delay: sends nothing */
#define PERF_SILENT	(UINT64_MAX - 1)	/* of a delay: and has said so */

/**
 * struct perf_conf - what is measured
 * @nodes: members of the view
 * @senders: those that send
 * @subgroups: subgroups of the view, each with all nodes
 * @active: those that are used
 * @window: slots of a sender
 * @max_msg: largest message; 0: as large as the messages are
 * @ring: bytes of a sender's ring; 0: what the kernel takes for the two
 * @mode: enum spindle_mode
 * @visibility: enum spindle_visibility
 * @idle_us: microseconds that an engine polls without work
 * @size: bytes of a message
 * @count: messages of a sender in a repetition; 0: @millis holds
 * @millis: milliseconds of a repetition; 0: @count holds
 * @warmup: a first run that is not counted, in percent of a repetition
 * @rate: messages of a sender per second; 0: as fast as it can
 * @closed: a sender waits for its own message before it sends the next one
 * @delay: microseconds after each message, or PERF_LONG, PERF_SILENT
 * @delay_senders: so many of the senders, the last ones, have the delay
 * @upcall: microseconds that a reader takes for a message
 * @upcall_nodes: so many of the nodes, the last ones, have such readers
 * @copy_in: messages are copied into the ring, not built there
 * @copy_out: readers have copy rings of their own
 * @batch: messages that a sender sends at a time at most
 * @spin: microseconds that a process looks for work before it sleeps; PERF_ALL: choose
 * @threads: a thread for each node
 * @verify: every byte is checked
 * @tune: how the nodes are tuned
 * @tune_text: the same in words
 */
struct perf_conf {
	uint64_t nodes;
	uint64_t senders;
	uint64_t subgroups;
	uint64_t active;
	uint64_t window;
	uint64_t max_msg;
	uint64_t ring;
	uint64_t mode;
	uint64_t visibility;
	uint64_t idle_us;
	uint64_t size;
	uint64_t count;
	uint64_t millis;
	uint64_t warmup;
	uint64_t rate;
	uint64_t closed;
	uint64_t delay;
	uint64_t delay_senders;
	uint64_t upcall;
	uint64_t upcall_nodes;
	uint64_t copy_in;
	uint64_t copy_out;
	uint64_t batch;
	uint64_t spin;
	uint64_t threads;
	uint64_t verify;
	struct perf_tune tune;
	const char *tune_text;
};

/**
 * enum perf_param_kind - how the value of a parameter is written
 * @PERF_NUM: number
 * @PERF_BYTES: number, K and M may follow
 * @PERF_MILLIS: seconds with a fraction, kept in milliseconds
 * @PERF_SOME: number, or all, half, one
 * @PERF_DELAY: microseconds, or long, silent
 * @PERF_AUTO: number, or auto
 * @PERF_MODE: word of enum spindle_mode
 * @PERF_VISIBILITY: word of enum spindle_visibility
 * @PERF_FLAG: on the command line no value; in a sweep 0 or 1
 * @PERF_TUNE: switches and budgets
 */
enum perf_param_kind {
	PERF_NUM,
	PERF_BYTES,
	PERF_MILLIS,
	PERF_SOME,
	PERF_DELAY,
	PERF_AUTO,
	PERF_MODE,
	PERF_VISIBILITY,
	PERF_FLAG,
	PERF_TUNE
};

/**
 * struct perf_param - a parameter
 * @name: its word
 * @letter: its short option, or 0
 * @kind: how it is written
 * @at: offset of the field in struct perf_conf
 * @min: smallest number
 * @max: largest number
 * @def: default
 * @setup: it says how the view is made; with nodes that exist it has no meaning
 * @arg: name of the value in the help
 * @help: what it is
 */
struct perf_param {
	const char *name;
	char letter;
	enum perf_param_kind kind;
	size_t at;
	uint64_t min;
	uint64_t max;
	uint64_t def;
	bool setup;
	const char *arg;
	const char *help;
};

extern const struct perf_param perf_params[];
extern const unsigned int perf_param_count;

const struct perf_param *perf_param_find(const char *name);
void perf_conf_default(struct perf_conf *conf);
const char *perf_conf_set(struct perf_conf *conf, const struct perf_param *p, const char *text);
const char *perf_conf_text(const struct perf_conf *conf, const struct perf_param *p);
const char *perf_conf_settle(struct perf_conf *conf);
uint64_t perf_conf_quota(const struct perf_conf *conf);

static inline uint64_t perf_conf_num(const struct perf_conf *conf, const struct perf_param *p)
{
	return *(const uint64_t *)((const char *)conf + p->at);
}

/* How many a word like "half" is. */
static inline uint32_t perf_some(uint64_t v, uint32_t of)
{
	if (v == PERF_HALF)
		return (of + 1) / 2;
	return v < of ? v : of;
}

/* perf-limit.c */
const char *perf_limit(const struct perf_conf *conf, bool setup);
uint64_t perf_limit_ring(const struct perf_conf *conf);
uint64_t perf_limit_memory(const struct perf_conf *conf);
uint64_t perf_limit_available(void);
void perf_limit_raise(void);

#endif /* SPINDLE_PERF_CONF_H */
