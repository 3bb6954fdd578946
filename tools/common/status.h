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
 */
struct ctl_status_member {
	/** @id: node id */
	uint64_t id;
	/** @rank: rank; not set: the node wants to join */
	struct ctl_val rank;
	/** @state: enum spindle_peer_state; not set: the member is the node itself */
	struct ctl_val state;
	/** @vid: the view that the member has installed */
	struct ctl_val vid;
	/** @beat: milliseconds since the member's last sign of life; not set: there was none */
	struct ctl_val beat;
	/** @why: enum spindle_why, if the member is suspected */
	uint64_t why;
	/** @by: members that suspect it */
	struct ctl_ids by;
	/** @lag: messages of the node that the member has not delivered */
	uint64_t lag;
	/** @lag_bytes: bytes of these messages */
	uint64_t lag_bytes;
	/** @reason: why the member is not connected, or empty */
	const char *reason;
	/** @self: the member is the node itself */
	bool self;
	/**
	 * @joins: the node wants to join. A joining node lists the members that it connects to, and
	 * none of them joins
	 */
	bool joins;
	/** @witness: the member is a witness */
	bool witness;
};

/**
 * struct ctl_status_contact - a node that a joining node asks for its view
 */
struct ctl_status_contact {
	/** @addr: address of the contact */
	struct ctl_addr addr;
	/** @port: port of the contact */
	uint16_t port;
	/** @reason: result of the last request to it; empty: nothing yet */
	const char *reason;
	/** @final: the result will not change with time */
	bool final;
};

/**
 * struct ctl_status - the status of a node
 */
struct ctl_status {
	/** @node: id of the node */
	uint64_t node;
	/** @cluster: cluster of the node */
	const char *cluster;
	/** @device: name of the RDMA device */
	const char *device;
	/** @is_dead: the device is gone */
	bool is_dead;
	/**
	 * @is_live: the node is in a live view, was in one, or joins one. Without a live view, @vid
	 * and @reason can still be valid, if the node is dead or could not join.
	 */
	bool is_live;
	/** @vid: view; 0: none yet; if the node is dead: its last view */
	uint64_t vid;
	/** @lineage: number that this view and all views that follow from it share */
	struct ctl_val lineage;
	/** @insecure: the view is without a key */
	bool insecure;
	/** @live: properties of the live view */
	struct ctl_val live[CTL_LIVE_VALS];
	/** @witnesses: members that are in no subgroup */
	struct ctl_ids witnesses;
	/** @state: enum spindle_live_state */
	uint64_t state;
	/** @why: enum spindle_why, if the node has stopped */
	uint64_t why;
	/** @reason: the last event */
	const char *reason;
	/** @changes: views that were installed */
	uint64_t changes;
	/** @phase: durations of the phases of the last change, microseconds */
	struct ctl_val phase[CTL_PHASES];
	/** @wanted_by: the member that wants other subgroups; not set: none does */
	struct ctl_val wanted_by;
	/** @offered_by: members that would follow it */
	struct ctl_ids offered_by;
	/** @member: members by rank, then nodes that want to join */
	struct ctl_status_member *member;
	/** @members: entries of @member */
	unsigned int members;
	/** @contact: nodes that the node asks while it joins */
	struct ctl_status_contact *contact;
	/** @contacts: entries of @contact */
	unsigned int contacts;
};

extern const struct ctl_field ctl_status_member_fields[];
extern const struct ctl_field ctl_status_contact_fields[];
extern const struct ctl_field ctl_status_live_fields[];

bool ctl_status_suspects(const struct ctl_status_member *m);
const struct ctl_status_member *ctl_status_member(const struct ctl_status *s, uint64_t id);
struct ctl_status *ctl_status_find(struct ctl_status *list, unsigned int count, uint64_t node);
int ctl_fetch_status(struct ctl_net *net, const char *what, const struct ctl_val *node,
		     enum ctl_say say, struct ctl_status **status, unsigned int *count);

#endif /* SPINDLE_COMMON_STATUS_H */
