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
 * @id: node id
 * @state: enum spindle_peer_state
 * @reason: why the peer is not up
 * @imm: 1 if guards of the peer arrive by completions, else 0
 * @stats: counters
 */
struct ctl_peer {
	uint64_t id;
	uint64_t state;
	const char *reason;
	uint8_t imm;
	struct ctl_stats stats;
};

/**
 * struct ctl_node_stats - the counters of a node
 * @id: node id
 * @state: enum spindle_node_state
 * @refused_id: id that the last refused node gave; 0: none
 * @refused: why it was refused; empty: no node was refused
 * @engine: counters of the node's engine
 * @peer: peers of the node
 * @peers: entries of @peer
 */
struct ctl_node_stats {
	uint64_t id;
	uint64_t state;
	uint64_t refused_id;
	const char *refused;
	struct ctl_stats engine;
	struct ctl_peer *peer;
	unsigned int peers;
};

extern const struct ctl_field ctl_peer_fields[];
extern const struct ctl_field ctl_stats_fields[];

int ctl_fetch_stats(struct ctl_net *net, const char *what, const struct ctl_val *node,
		    struct ctl_node_stats **stats, unsigned int *count);

#endif /* SPINDLE_CTL_STATS_H */
