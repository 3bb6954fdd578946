/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of nodes, and rates from two looks at them. */
#ifndef SPINDLE_COMMON_STATS_H
#define SPINDLE_COMMON_STATS_H

#include "wire.h"

/**
 * struct ctl_peer - the connection to a peer
 */
struct ctl_peer {
	/** @id: node id */
	uint64_t id;
	/** @state: enum spindle_peer_state */
	uint64_t state;
	/** @reason: why the peer is not up */
	const char *reason;
	/** @imm: 1 if guards of the peer arrive by completions, else 0 */
	uint8_t imm;
	/** @stats: counters */
	struct ctl_stats stats;
};

/**
 * struct ctl_node_stats - the counters of a node
 */
struct ctl_node_stats {
	/** @id: node id */
	uint64_t id;
	/** @state: enum spindle_node_state */
	uint64_t state;
	/** @refused_id: id that the last refused node gave; 0: none */
	uint64_t refused_id;
	/** @refused: why it was refused; empty: no node was refused */
	const char *refused;
	/** @engine: counters of the node's engine */
	struct ctl_stats engine;
	/** @peer: peers of the node */
	struct ctl_peer *peer;
	/** @peers: entries of @peer */
	unsigned int peers;
};

/**
 * struct ctl_sample - one look at all counters
 */
struct ctl_sample {
	/** @node: nodes */
	struct ctl_node_stats *node;
	/** @nodes: entries of @node */
	unsigned int nodes;
	/** @sg: subgroups of these nodes */
	struct ctl_running_subgroup *sg;
	/** @sgs: entries of @sg */
	unsigned int sgs;
};

/**
 * struct ctl_rate - a rate that is computed from counters
 */
struct ctl_rate {
	/** @word: name in JSON */
	const char *word;
	/** @head: head of the column; NULL: the rate has no column */
	const char *head;
	/** @part: counter */
	unsigned int part;
	/** @less: counter that is subtracted from @part; 0: none */
	unsigned int less;
	/** @whole: counter that @part is divided by; 0: seconds */
	unsigned int whole;
	/** @scale: factor for the column */
	double scale;
};

extern const struct ctl_field ctl_peer_fields[];
extern const struct ctl_field ctl_stats_fields[];

/* Lists end with an entry without a word. */
extern const struct ctl_rate ctl_node_rates[];
extern const struct ctl_rate ctl_subgroup_rates[];

int ctl_fetch_stats(struct ctl_net *net, const char *what, const struct ctl_val *node,
		    struct ctl_node_stats **stats, unsigned int *count);
int ctl_sample_take(struct ctl_net *net, const char *what, const struct ctl_val *node,
		    const struct ctl_val *id, struct ctl_sample *sample);
const struct ctl_stats *ctl_node_before(const struct ctl_sample *before,
					const struct ctl_node_stats *node);
const struct ctl_stats *ctl_subgroup_before(const struct ctl_sample *before,
					    const struct ctl_running_subgroup *sg);
double ctl_rate(const struct ctl_rate *rate, const struct ctl_stats *now,
		const struct ctl_stats *before, double seconds);

#endif /* SPINDLE_COMMON_STATS_H */
