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
 */
struct perf_fopts {
	/** @where: addresses of the nodes */
	struct perf_where where;
	/** @nodes: nodes, including the mover */
	unsigned int nodes;
	/** @kinds: bits of enum perf_move */
	unsigned int kinds;
	/** @reps: changes of each kind */
	unsigned int reps;
	/** @load: what each node sends */
	struct perf_pump_load load;
	/** @window: slots of a sender */
	uint32_t window;
	/** @timeout_ms: how long a member is silent before it is suspected */
	unsigned int timeout_ms;
	/** @quiet_ms: time without a change before each change */
	unsigned int quiet_ms;
	/** @give_up: seconds to wait for an event before giving up */
	unsigned int give_up;
	/** @watch: seconds to watch a node that exists; 0: make nodes, and change the view */
	unsigned int watch;
	/** @node: node to watch */
	uint32_t node;
	/** @subgroup: subgroup to watch */
	uint32_t subgroup;
	/** @json: print JSON instead of a table */
	bool json;
	/** @json_file: file for the JSON; NULL: standard output */
	const char *json_file;
};

extern const struct ctl_opt perf_fopts[];

int perf_fopts_parse(struct perf_fopts *o, int argc, char **argv);

#endif /* SPINDLE_PERF_FAILOVER_OPTIONS_H */
