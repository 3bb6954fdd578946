/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMC groups, as the kernel shows them.
 */
#ifndef SPINDLE_CTL_RDMC_H
#define SPINDLE_CTL_RDMC_H

#include "ctl-model.h"
#include "ctl-net.h"

/**
 * struct ctl_rdmc_member - a member of a group, as the node sees it
 * @id: node id
 * @state: enum spindle_peer_state; not set: it is the node itself
 * @reason: why it is not up, or ""
 * @created: it has created the group, too
 * @rack: its rack; not set: one of its own, or not known
 * @ended: objects that have ended there; not set: not known here
 * @complete: of these, well
 * @blocks: blocks that it has of the next one
 * @total: blocks that this one has; 0: there is none
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
 * @number: its number
 * @len: bytes
 * @tag: as the root has given it
 * @phase: enum spindle_rdmc_object_phase
 * @blocks: blocks that are here
 * @total: blocks that it has
 * @since_ms: milliseconds since it began to move; not set: it has not
 * @error: enum spindle_rdmc_error, if it was given up
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
 * @error: enum spindle_rdmc_error, if it has failed
 * @culprit: node id of who is the cause, or 0
 * @algorithm: enum spindle_rdmc_algorithm
 * @block: bytes of a block
 * @timeout_ms: how long nothing may go on
 * @rank: own rank; 0: the root
 * @pid: process that created it; 0: unknown here
 * @comm: its name
 * @released: its file is closed
 * @unread: events that the process has not read
 * @announced: objects that are known
 * @ended: objects that have ended here
 * @complete: of these, well
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
 * @ns: when, on the monotonic clock
 * @group: groups
 * @groups: entries of @group
 */
struct ctl_rdmc_sample {
	uint64_t ns;
	struct ctl_rdmc *group;
	unsigned int groups;
};

void ctl_rdmc_get(struct ctl_rdmc *g, struct nlmsghdr *nlh);
int ctl_rdmc_fetch(struct ctl_net *net, const char *what, const struct ctl_val *node,
		   const struct ctl_val *id, struct ctl_rdmc_sample *sample);
double ctl_rdmc_done(const struct ctl_rdmc *g, const struct ctl_rdmc_object *o,
		     struct ctl_ids *slowest);
double ctl_rdmc_rate(const struct ctl_rdmc_sample *now, const struct ctl_rdmc_sample *before,
		     const struct ctl_rdmc *g, unsigned int counter);

#endif /* SPINDLE_CTL_RDMC_H */
