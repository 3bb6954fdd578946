/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of spindle-perf rdmc.
 */
#ifndef SPINDLE_PERF_RDMC_OPTIONS_H
#define SPINDLE_PERF_RDMC_OPTIONS_H

#include "perf/place.h"

/**
 * struct perf_ropts - what the user wants
 * @where: addresses of the nodes
 * @members: members of a group
 * @nodes: nodes
 * @senders: number of roots; each is the root of a group of all members; not with @mix
 * @mix: number of groups, each of the first node and random other nodes; 0: no mix
 * @sigma: with @mix: standard deviation of the logarithm of sizes, in percent; @size is the median
 * @algorithm: enum spindle_rdmc_algorithm
 * @size: bytes of an object
 * @block: bytes of a block; 0: the default
 * @count: objects of a root in a repetition; with @mix: objects of all roots together
 * @queue: objects that a root may have under way; with @mix: all roots together
 * @reps: repetitions
 * @idle_us: microseconds that an engine polls without work
 * @give_up: seconds to wait for an event before giving up
 * @json: print JSON instead of a table
 * @json_file: file for the JSON; NULL: standard output
 * @csv_file: file for a row of CSV; NULL: none
 */
struct perf_ropts {
	struct perf_where where;
	unsigned int members;
	unsigned int nodes;
	uint64_t senders;
	unsigned int mix;
	unsigned int sigma;
	uint32_t algorithm;
	uint64_t size;
	uint32_t block;
	uint64_t count;
	unsigned int queue;
	unsigned int reps;
	uint64_t idle_us;
	unsigned int give_up;
	bool json;
	const char *json_file;
	const char *csv_file;
};

extern const struct ctl_opt perf_ropts[];

int perf_ropts_parse(struct perf_ropts *o, int argc, char **argv);

#endif /* SPINDLE_PERF_RDMC_OPTIONS_H */
