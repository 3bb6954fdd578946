/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The status of a live view: its members, what one of its nodes knows about the others, and the
 * last event.
 */
#ifndef SPINDLE_COMMON_STATUS_H
#define SPINDLE_COMMON_STATUS_H

#include "model.h"
#include "net.h"
#include "record.h"

/* Phases of a change of the view, in the order of time. */
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
 * @rank: rank; not set: the node wants to join
 * @state: enum spindle_peer_state; not set: the member is the node itself
 * @vid: the view that the member has installed
 * @beat: milliseconds since the member's last sign of life; not set: there was none
 * @why: enum spindle_why, if the member is suspected
 * @by: members that suspect it
 * @lag: messages of the node that the member has not delivered
 * @lag_bytes: bytes of these messages
 * @reason: why the member is not connected, or empty
 * @self: the member is the node itself
 * @joins: the node wants to join. A joining node lists the members that it connects to, and none
 *	of them joins
 * @witness: the member is a witness
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
	bool self;
	bool joins;
	bool witness;
};

/**
 * struct ctl_status_contact - a node that a joining node asks for its view
 * @addr: address of the contact
 * @port: port of the contact
 * @reason: result of the last request to it; empty: nothing yet
 * @final: the result will not change with time
 */
struct ctl_status_contact {
	struct ctl_addr addr;
	uint16_t port;
	const char *reason;
	bool final;
};

/**
 * struct ctl_status - the status of a node
 * @node: id of the node
 * @cluster: cluster of the node
 * @device: name of the RDMA device
 * @is_dead: the device is gone
 * @is_live: the node is in a live view, was in one, or joins one. Without a live view, @vid and
 *	@reason can still be valid, if the node is dead or could not join.
 * @vid: view; 0: none yet; if the node is dead: its last view
 * @lineage: number that this view and all views that follow from it share
 * @insecure: the view is without a key
 * @live: properties of the live view
 * @witnesses: members that are in no subgroup
 * @state: enum spindle_live_state
 * @why: enum spindle_why, if the node has stopped
 * @reason: the last event
 * @changes: views that were installed
 * @phase: durations of the phases of the last change, microseconds
 * @member: members by rank, then nodes that want to join
 * @members: entries of @member
 * @contact: nodes that the node asks while it joins
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

extern const struct ctl_field ctl_status_member_fields[];
extern const struct ctl_field ctl_status_contact_fields[];
extern const struct ctl_field ctl_status_live_fields[];

bool ctl_status_suspects(const struct ctl_status_member *m);
const struct ctl_status_member *ctl_status_member(const struct ctl_status *s, uint64_t id);
int ctl_fetch_status(struct ctl_net *net, const char *what, const struct ctl_val *node,
		     enum ctl_say say, struct ctl_status **status, unsigned int *count);

#endif /* SPINDLE_COMMON_STATUS_H */
