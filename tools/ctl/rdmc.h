/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMC groups, as the kernel shows them.
 */
#ifndef SPINDLE_CTL_RDMC_H
#define SPINDLE_CTL_RDMC_H

#include "common/model.h"
#include "common/net.h"
#include "common/record.h"

/**
 * struct ctl_rdmc_member - a member of a group, as the node sees it
 * @node: id of the node
 * @group: id of the group
 * @id: node id
 * @state: enum spindle_peer_state; not set: the member is the node itself
 * @reason: why the peer is not up, or ""
 * @created: the member has created the group
 * @rack: rack of the member; not set: it has one of its own, or the rack is not known
 * @ended: objects that have ended at the member; not set: not known here
 * @complete: ended objects that are complete
 * @blocks: blocks that the member has of the next object
 * @total: blocks of the next object; 0: there is none
 */
struct ctl_rdmc_member {
	uint64_t node;
	uint64_t group;
	uint64_t id;
	struct ctl_val state;
	const char *reason;
	bool created;
	struct ctl_val rack;
	struct ctl_val ended;
	uint64_t complete;
	uint64_t blocks;
	uint64_t total;
};

/**
 * struct ctl_rdmc_object - an object under way
 * @node: id of the node
 * @group: id of the group
 * @number: number of the object
 * @len: bytes
 * @tag: tag that the root gave
 * @phase: enum spindle_rdmc_object_phase
 * @blocks: blocks that this node has
 * @total: blocks of the object
 * @since_ms: milliseconds since the first block moved; not set: none has
 * @error: enum spindle_rdmc_error, if the object was given up
 * @done: share that has moved, 0 to 1: at the root, that of the slowest members
 * @slowest: at the root, the members that have the least of the object
 */
struct ctl_rdmc_object {
	uint64_t node;
	uint64_t group;
	uint64_t number;
	uint64_t len;
	uint64_t tag;
	uint64_t phase;
	uint64_t blocks;
	uint64_t total;
	struct ctl_val since_ms;
	uint64_t error;
	double done;
	struct ctl_ids slowest;
};

/**
 * struct ctl_rdmc - a group at a node
 * @node: id of the node
 * @id: id of the group
 * @state: enum spindle_rdmc_group_state
 * @error: enum spindle_rdmc_error, if the group has failed
 * @culprit: id of the node that is the cause, or 0
 * @algorithm: enum spindle_rdmc_algorithm
 * @block: bytes of a block
 * @timeout_ms: how long a group may make no progress
 * @rank: rank of the node; 0: the root
 * @pid: process that created the group; 0: unknown here
 * @comm: name of the process
 * @released: the file of the group is closed
 * @unread: events that the process has not read
 * @announced: objects that are known
 * @ended: objects that have ended here
 * @complete: ended objects that are complete
 * @member: members by rank
 * @members: entries of @member
 * @object: objects under way
 * @objects: entries of @object
 * @stats: counters
 * @rated: there are rates
 * @in: bytes that arrived in a second
 * @out: bytes that were sent in a second
 */
struct ctl_rdmc {
	uint64_t node;
	uint64_t id;
	uint64_t state;
	uint64_t error;
	uint64_t culprit;
	uint64_t algorithm;
	uint64_t block;
	uint64_t timeout_ms;
	uint64_t rank;
	uint64_t pid;
	const char *comm;
	bool released;
	uint64_t unread;
	uint64_t announced;
	uint64_t ended;
	uint64_t complete;
	struct ctl_rdmc_member *member;
	unsigned int members;
	struct ctl_rdmc_object *object;
	unsigned int objects;
	struct ctl_stats stats;
	bool rated;
	double in;
	double out;
};

/**
 * struct ctl_rdmc_sample - one look at groups
 * @group: groups
 * @groups: entries of @group
 */
struct ctl_rdmc_sample {
	struct ctl_rdmc *group;
	unsigned int groups;
};

extern const struct ctl_field ctl_rdmc_member_fields[];
extern const struct ctl_field ctl_rdmc_object_fields[];
extern const struct ctl_field ctl_rdmc_fields[];

int ctl_rdmc_fetch(struct ctl_net *net, const char *what, const struct ctl_val *node,
		   const struct ctl_val *id, struct ctl_rdmc_sample *sample);
void ctl_rdmc_rates(const struct ctl_rdmc_sample *now, const struct ctl_rdmc_sample *before,
		    double seconds);

#endif /* SPINDLE_CTL_RDMC_H */
