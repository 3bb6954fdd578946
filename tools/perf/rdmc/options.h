/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of spindle-perf rdmc.
 */
#ifndef SPINDLE_PERF_ROPTS_H
#define SPINDLE_PERF_ROPTS_H

#include "perf-place.h"

/**
 * struct perf_ropts - what the user wants
 * @where: addresses of the nodes
 * @members: members of a group
 * @nodes: nodes
 * @senders: members of which each is the root of a group of all; not with @mix
 * @mix: groups of the first node and others of the nodes; 0: no such thing
 * @sigma: with @mix: of the logarithm of sizes, in percent; @size is the median
 * @algorithm: enum spindle_rdmc_algorithm
 * @size: bytes of an object
 * @block: bytes of a block; 0: the default
 * @count: objects of a root in a repetition; with @mix: of all
 * @queue: objects that a root, with @mix all, may have under way
 * @reps: repetitions
 * @idle_us: microseconds that an engine polls without work
 * @give_up: seconds to wait for what does not come
 * @json: print JSON instead of a table
 * @json_file: where to; NULL: standard output
 * @csv_file: where to put a row; NULL: nowhere
 */
struct perf_ropts {
	struct perf_where where;
	unsigned int members;
	unsigned int nodes;
	unsigned int senders;
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

int perf_ropts_parse(struct perf_ropts *o, int argc, char **argv);

#endif /* SPINDLE_PERF_ROPTS_H */
