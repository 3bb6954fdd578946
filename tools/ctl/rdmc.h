/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMC groups, as the kernel shows them.
 */
#ifndef SPINDLE_CTL_RDMC_H
#define SPINDLE_CTL_RDMC_H

#include "common/model.h"
#include "common/net.h"

/**
 * struct ctl_rdmc_member - a member of a group, as the node sees it
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
 * @number: number of the object
 * @len: bytes
 * @tag: tag that the root gave
 * @phase: enum spindle_rdmc_object_phase
 * @blocks: blocks that this node has
 * @total: blocks of the object
 * @since_ms: milliseconds since the first block moved; not set: none has
 * @error: enum spindle_rdmc_error, if the object was given up
 */
struct ctl_rdmc_object {
	uint64_t number;
	uint64_t len;
	uint64_t tag;
	uint64_t phase;
	uint64_t blocks;
	uint64_t total;
	struct ctl_val since_ms;
	uint64_t error;
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
};

/**
 * struct ctl_rdmc_sample - one look at groups
 * @ns: time of the look, on the monotonic clock
 * @group: groups
 * @groups: entries of @group
 */
struct ctl_rdmc_sample {
	uint64_t ns;
	struct ctl_rdmc *group;
	unsigned int groups;
};

int ctl_rdmc_fetch(struct ctl_net *net, const char *what, const struct ctl_val *node,
		   const struct ctl_val *id, struct ctl_rdmc_sample *sample);
double ctl_rdmc_done(const struct ctl_rdmc *g, const struct ctl_rdmc_object *o,
		     struct ctl_ids *slowest);
double ctl_rdmc_rate(const struct ctl_rdmc_sample *now, const struct ctl_rdmc_sample *before,
		     const struct ctl_rdmc *g, unsigned int counter);

#endif /* SPINDLE_CTL_RDMC_H */
