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

/* options.c */
extern const struct ctl_opt perf_ropts[];
int perf_ropts_parse(struct perf_ropts *o, int argc, char **argv);

/* report.c */
void perf_rout_table(const struct perf_rdmc *r);
int perf_rout_json(const struct perf_rdmc *r, const struct perf_place *place);
int perf_rout_csv(const struct perf_rdmc *r);

#endif /* SPINDLE_PERF_RDMC_RDMC_H */
