/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spindle-perf rdmc: large objects to many members.
 *
 * All members are nodes of this kernel and ends of this process. The time of an object begins when
 * the process of its root calls spindle_rdmc_send(). It ends when the last member has the object,
 * by the time of the kernel's events.
 */
#ifndef SPINDLE_PERF_RDMC_RDMC_H
#define SPINDLE_PERF_RDMC_RDMC_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "perf/place.h"

/**
 * struct perf_rdmc_seen - an object as a member saw it
 */
struct perf_rdmc_seen {
	/** @at: when the object ended at the member, ns */
	uint64_t at;
	/** @first: when the first block arrived or, at the root, was sent, ns; 0: never */
	uint64_t first;
	/** @busy: ns after @first with a block under way to another member */
	uint64_t busy;
};

/**
 * struct perf_rdmc_object - an object of a repetition
 */
struct perf_rdmc_object {
	/** @len: bytes */
	uint64_t len;
	/** @start: when the process of the root called for the object, ns */
	uint64_t start;
	/** @left: members that do not have the object yet */
	unsigned int left;
	/** @seen: times at each member, by rank */
	struct perf_rdmc_seen seen[SPINDLE_MAX_MEMBERS];
};

/**
 * struct perf_rdmc_cpu - processor time, ns
 */
struct perf_rdmc_cpu {
	/** @engines: time of the engines of nodes */
	uint64_t engines;
	/** @workers: time of kernel threads that run work items, among them those of soft-RoCE */
	uint64_t workers;
	/** @process: time of this process */
	uint64_t process;
};

/* The figures of a repetition. The value is the index into perf_rdmc_figures. */
enum perf_rdmc_figure {
	PERF_R_TIME,		/* median: from the call until the last member has it, us */
	PERF_R_TIME_P90,
	PERF_R_TIME_P99,
	PERF_R_SKEW,		/* from the first receiver that has it to the last, us */
	PERF_R_SETUP,		/* from the call until the root sends the first block, us */
	PERF_R_BUSY,		/* root: time with a block under way, us */
	PERF_R_WAIT,		/* root: from first block to end without one under way, us */
	PERF_R_TAIL,		/* from the root's end until the last member's, us */
	PERF_R_FAR_FIRST,	/* last member: from the call to its first block, us */
	PERF_R_FAR_BUSY,	/* last member: with a block under way to another, us */
	PERF_R_FAR_WAIT,	/* last member: without such a block, us */
	PERF_R_OUTSIDE,		/* share of the root's setup and wait in the time */
	PERF_R_SECONDS,		/* length of the repetition, s */
	PERF_R_BANDWIDTH,	/* bytes of all objects per second, bytes/s */
	PERF_R_RATE,		/* objects per second, 1/s */
	PERF_R_CPU,		/* processor time for a byte at a receiver, ns */
	PERF_R_ENGINES,		/* part of that in engines */
	PERF_R_WORKERS,		/* part of that in workers */
	PERF_R_PROCESS,		/* part of that in this process */
	PERF_R_LOAD,		/* processor time of all, divided by the repetition */
	PERF_R_PACKETS,		/* packets of the devices for each MiB at a receiver */
	PERF_R_FIGURES
};

extern const char *const perf_rdmc_figures[PERF_R_FIGURES];

/**
 * struct perf_rdmc - results
 */
struct perf_rdmc {
	/** @o: options */
	const struct perf_ropts *o;
	/** @groups: groups that objects were sent in */
	unsigned int groups;
	/** @block: bytes of a block */
	uint32_t block;
	/** @objects: objects of a repetition */
	uint64_t objects;
	/** @v: figures of each repetition */
	double *v;
};

int perf_rdmc_main(int argc, char **argv);

/* count.c */
void perf_rdmc_cpu(struct perf_rdmc_cpu *cpu);
uint64_t perf_rdmc_packets(void);
void perf_rdmc_figure(double *v, const struct perf_rdmc_object *obj, uint64_t objects,
		      unsigned int members);

/* report.c */
void perf_rout_table(const struct perf_rdmc *r);
int perf_rout_json(const struct perf_rdmc *r, const struct perf_place *place);
int perf_rout_csv(const struct perf_rdmc *r);

#endif /* SPINDLE_PERF_RDMC_RDMC_H */
