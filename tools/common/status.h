/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The status of a live view: who is in it, what one of its nodes thinks of the others, and
 * what happened last.
 */
#ifndef SPINDLE_CTL_STATUS_H
#define SPINDLE_CTL_STATUS_H

#include "ctl-model.h"
#include "ctl-net.h"

/* Phases of a change of the view, one after the other. */
enum {
	CTL_DETECT,
	CTL_WEDGE,
	CTL_AGREE,
	CTL_INSTALL,
	CTL_PHASES
};

/**
 * struct ctl_status_member - a member as a node sees it
 * @id: node id
 * @rank: rank; not set: it wants to join
 * @state: enum spindle_peer_state; not set: it is the node itself
 * @vid: the view that it has installed
 * @beat: milliseconds since its last sign of life; not set: there was none
 * @why: enum spindle_why, if it is suspected
 * @by: members that suspect it
 * @lag: messages of the node that it has not delivered
 * @lag_bytes: their bytes
 * @reason: why it is not connected, or empty
 */
struct ctl_status_member {
	uint64_t id;
	struct ctl_val rank;
	struct ctl_val state;
	struct ctl_val vid;
	struct ctl_val beat;
	uint64_t why;
	struct ctl_ids by;
	uint64_t lag;
	uint64_t lag_bytes;
	const char *reason;
};

/**
 * struct ctl_status_contact - a node that is asked for the view that it is in
 * @addr: its address
 * @port: its port
 * @reason: what came of asking it last; empty: nothing yet
 * @final: time does not change that
 */
struct ctl_status_contact {
	struct ctl_addr addr;
	uint16_t port;
	const char *reason;
	bool final;
};

/**
 * struct ctl_status - the status of a node
 * @node: its id
 * @cluster: its cluster
 * @device: name of its RDMA device
 * @is_dead: the device is gone
 * @is_live: it is in a live view, or was, or joins one; without, of what is below only @vid and
 *	@reason can be there: of who is dead, or could not join
 * @vid: view; 0: none yet; of who is dead, the one that it was in
 * @lineage: what it has in common with all views that follow from it
 * @insecure: the view is without a key
 * @live: how the view changes
 * @witnesses: members that are in no subgroup
 * @state: enum spindle_live_state
 * @why: enum spindle_why, if it has stopped
 * @reason: what happened last
 * @changes: views that were installed
 * @phase: how long the last change took, microseconds
 * @member: members by rank, then who wants to join
 * @members: entries of @member
 * @contact: nodes that it asks while it joins
 * @contacts: entries of @contact
 */
struct ctl_status {
	uint64_t node;
	const char *cluster;
	const char *device;
	bool is_dead;
	bool is_live;
	uint64_t vid;
	struct ctl_val lineage;
	bool insecure;
	struct ctl_val live[CTL_LIVE_VALS];
	struct ctl_ids witnesses;
	uint64_t state;
	uint64_t why;
	const char *reason;
	uint64_t changes;
	struct ctl_val phase[CTL_PHASES];
	struct ctl_status_member *member;
	unsigned int members;
	struct ctl_status_contact *contact;
	unsigned int contacts;
};

bool ctl_status_suspects(const struct ctl_status_member *m);
const struct ctl_status_member *ctl_status_member(const struct ctl_status *s, uint64_t id);
void ctl_status_get(struct ctl_status *s, struct nlmsghdr *nlh);
int ctl_fetch_status(struct ctl_net *net, const char *what, const struct ctl_val *node,
		     enum ctl_say say, struct ctl_status **status, unsigned int *count);

#endif /* SPINDLE_CTL_STATUS_H */
