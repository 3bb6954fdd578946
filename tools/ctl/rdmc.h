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
 */
struct ctl_rdmc_member {
	/** @node: id of the node */
	uint64_t node;
	/** @group: id of the group */
	uint64_t group;
	/** @id: node id */
	uint64_t id;
	/** @state: enum spindle_peer_state; not set: the member is the node itself */
	struct ctl_val state;
	/** @reason: why the peer is not up, or "" */
	const char *reason;
	/** @created: the member has created the group */
	bool created;
	/** @rack: rack of the member; not set: it has one of its own, or the rack is not known */
	struct ctl_val rack;
	/** @ended: objects that have ended at the member; not set: not known here */
	struct ctl_val ended;
	/** @complete: ended objects that are complete */
	uint64_t complete;
	/** @blocks: blocks that the member has of the next object */
	uint64_t blocks;
	/** @total: blocks of the next object; 0: there is none */
	uint64_t total;
};

/**
 * struct ctl_rdmc_object - an object under way
 */
struct ctl_rdmc_object {
	/** @node: id of the node */
	uint64_t node;
	/** @group: id of the group */
	uint64_t group;
	/** @number: number of the object */
	uint64_t number;
	/** @len: bytes */
	uint64_t len;
	/** @tag: tag that the root gave */
	uint64_t tag;
	/** @phase: enum spindle_rdmc_object_phase */
	uint64_t phase;
	/** @blocks: blocks that this node has */
	uint64_t blocks;
	/** @total: blocks of the object */
	uint64_t total;
	/** @since_ms: milliseconds since the first block moved; not set: none has */
	struct ctl_val since_ms;
	/** @error: enum spindle_rdmc_error, if the object was given up */
	uint64_t error;
	/** @done: share that has moved, 0 to 1: at the root, that of the slowest members */
	double done;
	/** @slowest: at the root, the members that have the least of the object */
	struct ctl_ids slowest;
};

/**
 * struct ctl_rdmc - a group at a node
 */
struct ctl_rdmc {
	/** @node: id of the node */
	uint64_t node;
	/** @id: id of the group */
	uint64_t id;
	/** @state: enum spindle_rdmc_group_state */
	uint64_t state;
	/** @error: enum spindle_rdmc_error, if the group has failed */
	uint64_t error;
	/** @culprit: id of the node that is the cause, or 0 */
	uint64_t culprit;
	/** @algorithm: enum spindle_rdmc_algorithm */
	uint64_t algorithm;
	/** @block: bytes of a block */
	uint64_t block;
	/** @timeout_ms: how long a group may make no progress */
	uint64_t timeout_ms;
	/** @rank: rank of the node; 0: the root */
	uint64_t rank;
	/** @pid: process that created the group; 0: unknown here */
	uint64_t pid;
	/** @comm: name of the process */
	const char *comm;
	/** @released: the file of the group is closed */
	bool released;
	/** @unread: events that the process has not read */
	uint64_t unread;
	/** @announced: objects that are known */
	uint64_t announced;
	/** @ended: objects that have ended here */
	uint64_t ended;
	/** @complete: ended objects that are complete */
	uint64_t complete;
	/** @member: members by rank */
	struct ctl_rdmc_member *member;
	/** @members: entries of @member */
	unsigned int members;
	/** @object: objects under way */
	struct ctl_rdmc_object *object;
	/** @objects: entries of @object */
	unsigned int objects;
	/** @stats: counters */
	struct ctl_stats stats;
	/** @rated: there are rates */
	bool rated;
	/** @in: bytes that arrived in a second */
	double in;
	/** @out: bytes that were sent in a second */
	double out;
};

/**
 * struct ctl_rdmc_sample - one look at groups
 */
struct ctl_rdmc_sample {
	/** @group: groups */
	struct ctl_rdmc *group;
	/** @groups: entries of @group */
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
