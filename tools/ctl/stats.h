/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of nodes.
 */
#ifndef SPINDLE_CTL_STATS_H
#define SPINDLE_CTL_STATS_H

#include "ctl-model.h"
#include "ctl-net.h"

/**
 * struct ctl_peer - the connection to a peer
 * @id: node id
 * @state: enum spindle_peer_state
 * @reason: why it is not up
 * @imm: guards come by completion
 * @stats: counters
 */
struct ctl_peer {
	uint64_t id;
	uint64_t state;
	const char *reason;
	bool imm;
	struct ctl_stats stats;
};

/**
 * struct ctl_node_stats - the counters of a node
 * @id: node id
 * @state: enum spindle_node_state
 * @refused_id: id that the last node gave that it has refused; 0: none
 * @refused: why; empty: it has refused nobody
 * @engine: counters of its engine
 * @peer: its peers
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

void ctl_stats_get(struct ctl_node_stats *s, struct nlmsghdr *nlh);
int ctl_fetch_stats(struct ctl_net *net, const char *what, const struct ctl_val *node,
		    struct ctl_node_stats **stats, unsigned int *count);

#endif /* SPINDLE_CTL_STATS_H */
