/* SPDX-License-Identifier: GPL-2.0-only */
/* spindle-perf failover: the cost of a change of a live view for the nodes that stay. */
#ifndef SPINDLE_PERF_FAILOVER_FAILOVER_H
#define SPINDLE_PERF_FAILOVER_FAILOVER_H

#include "change.h"
#include "common/opts.h"
#include "perf/place.h"

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

/* The subgroup of all nodes. */
#define PERF_SUBGROUP	1

/* The id of the mover, which is the last node. */
static inline uint32_t perf_fopts_mover(const struct perf_fopts *o)
{
	return o->where.first + o->nodes - 1;
}

/**
 * struct perf_quiet - the gaps of a reader while nothing changed
 */
struct perf_quiet {
	/** @node: node of the reader */
	uint32_t node;
	/** @subgroup: subgroup of the reader */
	uint32_t subgroup;
	/** @fixed: the subgroup is the one whose members do not change */
	bool fixed;
	/** @sent: messages that its node sent in it, during the whole run */
	uint64_t sent;
	/** @delivered: messages that were delivered to it, during the whole run */
	uint64_t delivered;
	/** @seconds: length of the run */
	double seconds;
	/** @hist: gaps, ticks */
	struct perf_hist hist;
};

/**
 * struct perf_failover - results
 */
struct perf_failover {
	/** @o: options */
	const struct perf_fopts *o;
	/** @all: changes */
	struct perf_changes all;
	/** @quiet: readers */
	struct perf_quiet *quiet;
	/** @quiets: entries of @quiet */
	unsigned int quiets;
};

int perf_failover_main(int argc, char **argv);

/* Functions for both ways of measuring. */
void perf_failover_readers(struct perf_failover *f, const struct perf_pump *pump);
void perf_failover_sum(struct perf_failover *f, struct perf_pump *pump);
int perf_failover_dead(struct perf_pump *pump);
int perf_failover_nap(struct perf_pump *pump);

/* options.c */
extern const struct ctl_opt perf_fopts[];
int perf_fopts_parse(struct perf_fopts *o, int argc, char **argv);

/* report.c */
void perf_fout_table(const struct perf_failover *f);
void perf_fout_view(const struct perf_change *c);
void perf_fout_watched(const struct perf_failover *f);
int perf_fout_json(const struct perf_failover *f, const struct perf_place *place);

/* watch.c */
int perf_watch(struct perf_failover *f, struct perf_place *place, struct ctl_net *events);

#endif /* SPINDLE_PERF_FAILOVER_FAILOVER_H */
