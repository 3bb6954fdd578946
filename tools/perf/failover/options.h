/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of spindle-perf failover.
 */
#ifndef SPINDLE_PERF_FAILOVER_OPTIONS_H
#define SPINDLE_PERF_FAILOVER_OPTIONS_H

#include "perf/place.h"
#include "pump.h"

/**
 * struct perf_fopts - what the user wants
 * @where: addresses of the nodes
 * @nodes: nodes, including the mover
 * @kinds: bits of enum perf_move
 * @reps: changes of each kind
 * @load: what each node sends
 * @window: slots of a sender
 * @timeout_ms: how long a member is silent before it is suspected
 * @quiet_ms: time without a change before each change
 * @give_up: seconds to wait for an event before giving up
 * @watch: seconds to watch a node that exists; 0: make nodes, and change the view
 * @node: node to watch
 * @subgroup: subgroup to watch
 * @json: print JSON instead of a table
 * @json_file: file for the JSON; NULL: standard output
 */
struct perf_fopts {
	struct perf_where where;
	unsigned int nodes;
	unsigned int kinds;
	unsigned int reps;
	struct perf_pump_load load;
	uint32_t window;
	unsigned int timeout_ms;
	unsigned int quiet_ms;
	unsigned int give_up;
	unsigned int watch;
	uint32_t node;
	uint32_t subgroup;
	bool json;
	const char *json_file;
};

extern const struct ctl_opt perf_fopts[];

int perf_fopts_parse(struct perf_fopts *o, int argc, char **argv);

#endif /* SPINDLE_PERF_FAILOVER_OPTIONS_H */
