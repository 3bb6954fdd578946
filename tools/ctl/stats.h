/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of nodes.
 */
#ifndef SPINDLE_CTL_STATS_H
#define SPINDLE_CTL_STATS_H

#include "common/model.h"
#include "common/net.h"
#include "common/record.h"

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

extern const struct ctl_field ctl_peer_fields[];
extern const struct ctl_field ctl_stats_fields[];

int ctl_fetch_stats(struct ctl_net *net, const char *what, const struct ctl_val *node,
		    struct ctl_node_stats **stats, unsigned int *count);

#endif /* SPINDLE_CTL_STATS_H */
