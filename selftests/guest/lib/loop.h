/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that break rules in one subgroup, in a loop. The loop runs at least ITERATIONS times,
 * and until the file -f exists. The random numbers of an iteration follow from the seed and from
 * its number.
 *
 *	-n NODE -g SUBGROUP [-i ITERATIONS] [-f FILE] [-S SEED]
 */
#ifndef SPINDLE_GUEST_LOOP_H
#define SPINDLE_GUEST_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "nl.h"
#include "selfcheck.h"
#include "tap.h"

#define LOOP_OPTIONS "n:g:i:f:S:"

struct loop {
	uint32_t node, group;
	int iterations;
	const char *stop;
	uint64_t seed;
};

/* Take an option that getopt() found. Returns false if it is not one of LOOP_OPTIONS. */
static inline bool loop_option(struct loop *loop, int c, const char *arg)
{
	switch (c) {
	case 'n':
		loop->node = atoi(arg);
		return true;
	case 'g':
		loop->group = atoi(arg);
		return true;
	case 'i':
		loop->iterations = atoi(arg);
		return true;
	case 'f':
		loop->stop = arg;
		return true;
	case 'S':
		loop->seed = strtoull(arg, NULL, 10);
		return true;
	}
	return false;
}

static inline bool loop_goes_on(const struct loop *loop, int number)
{
	return number < loop->iterations || (loop->stop && access(loop->stop, F_OK));
}

static inline int loop_attach(const struct loop *loop, struct spindle_queue *q, uint32_t flags)
{
	struct spindle_attach_opts o = {
		.node = loop->node, .subgroup = loop->group, .flags = flags, .event_fd = -1,
	};

	return spindle_attach(q, &o);
}

static inline void loop_look(const struct loop *loop, struct nl *nl, struct nl_subgroup *sg)
{
	int err = nl_subgroup(nl, loop->node, loop->group, sg);

	if (err)
		die("subgroup %u of node %u: %s", loop->group, loop->node, strerror(-err));
}

/* ---- random numbers ---------------------------------------------------- */

static uint64_t rng;

static inline void rnd_begin(const struct loop *loop, uint64_t number)
{
	rng = mix(loop->seed) + mix(number);
}

static inline uint64_t rnd(void)
{
	return rng = mix(rng + 0x9e3779b97f4a7c15ULL);
}

#endif /* SPINDLE_GUEST_LOOP_H */
