/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spindle-perf rdmc: large objects to many members.
 *
 * All members are nodes of this kernel and ends of this process. An object's time runs
 * from when its root's process calls for it to be sent until the last member has it, as
 * the kernel's events say.
 */
#ifndef SPINDLE_PERF_RDMC_H
#define SPINDLE_PERF_RDMC_H

#include <stdbool.h>
#include <stdint.h>

#include "perf-place.h"
#include "perf-ropts.h"

/**
 * struct perf_rdmc_seen - an object as a member saw it
 * @at: it ended, ns
 * @first: its first block came, or was sent by the root, ns; 0: never
 * @busy: ns since then with a block under way to another member
 */
struct perf_rdmc_seen {
	uint64_t at;
	uint64_t first;
	uint64_t busy;
};

/**
 * struct perf_rdmc_object - an object of a repetition
 * @len: bytes
 * @start: the root's process called for it, ns
 * @left: members that do not have it yet
 * @seen: by rank
 */
struct perf_rdmc_object {
	uint64_t len;
	uint64_t start;
	unsigned int left;
	struct perf_rdmc_seen seen[SPINDLE_MAX_MEMBERS];
};

/**
 * struct perf_rdmc_cpu - processor time, ns
 * @engines: of the engines of nodes
 * @workers: of kernel threads that do the work of others: soft-RoCE's is theirs
 * @process: of this process
 */
struct perf_rdmc_cpu {
	uint64_t engines;
	uint64_t workers;
	uint64_t process;
};

/* The figures of a repetition, an index into perf_rdmc_figures. */
enum perf_rdmc_figure {
	PERF_R_TIME,		/* median of objects: from the call until the last has it, us */
	PERF_R_TIME_P90,
	PERF_R_TIME_P99,
	PERF_R_SKEW,		/* between the first receiver that has it and the last, us */
	PERF_R_SETUP,		/* from the call until the root sends the first block, us */
	PERF_R_BUSY,		/* of the root: with a block under way, us */
	PERF_R_WAIT,		/* of the root: from the first block to the end, without one, us */
	PERF_R_TAIL,		/* from the root's end until the last member's, us */
	PERF_R_FAR_FIRST,	/* of the last member: from the call to its first block, us */
	PERF_R_FAR_BUSY,	/* and with a block under way to another, us */
	PERF_R_FAR_WAIT,	/* and without one, us */
	PERF_R_OUTSIDE,		/* share of the root's setup and wait in the time */
	PERF_R_SECONDS,		/* the repetition, s */
	PERF_R_BANDWIDTH,	/* bytes of all objects by that, bytes/s */
	PERF_R_RATE,		/* objects by that, 1/s */
	PERF_R_CPU,		/* processor time for a byte at a receiver, ns */
	PERF_R_ENGINES,		/* of that, engines */
	PERF_R_WORKERS,		/* of that, workers */
	PERF_R_PROCESS,		/* of that, this process */
	PERF_R_LOAD,		/* processor time of all by the time of the repetition */
	PERF_R_PACKETS,		/* packets of the devices for each MiB at a receiver */
	PERF_R_FIGURES
};

extern const char *const perf_rdmc_figures[PERF_R_FIGURES];

/**
 * struct perf_rdmc - what was measured
 * @o: what was asked for
 * @groups: groups that objects were sent in
 * @block: bytes of a block
 * @objects: objects of a repetition
 * @v: of each repetition: figures
 */
struct perf_rdmc {
	const struct perf_ropts *o;
	unsigned int groups;
	uint32_t block;
	uint64_t objects;
	double *v;
};

int perf_rdmc_main(int argc, char **argv);

/* perf-rcount.c */
void perf_rdmc_cpu(struct perf_rdmc_cpu *cpu);
uint64_t perf_rdmc_packets(void);
void perf_rdmc_figure(double *v, const struct perf_rdmc_object *obj, uint64_t objects,
		      unsigned int members);

/* perf-rout.c */
void perf_rout_table(const struct perf_rdmc *r);
int perf_rout_json(const struct perf_rdmc *r, const struct perf_place *place);
int perf_rout_csv(const struct perf_rdmc *r);

#endif /* SPINDLE_PERF_RDMC_H */
