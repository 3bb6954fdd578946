/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Large: large messages of a subgroup, brought to its members by RDMC.
 *
 * The bytes of a large message go to where a push would have brought them, into the
 * sender's payload ring in every member's copy of its row, but block by block and from
 * member to member. While they do the message is held (enum spindle_held in
 * core/multicast.h); then it gets its place in the order, and its header goes as any other.
 *
 *	IDLE --subgroup active--> STARTING --groups made--> RUNNING
 *	  ^                          |                         | view ends, or a group fails
 *	  +------- groups gone ------+------> STOPPING <-------+
 *
 * There is an RDMC group for each sender, with all members. The subgroup makes it anew in each view
 * in which it begins anew. In a view that ends nothing more is moved, and a member says that it has
 * pushed all only when no device can write into its rings any more: so nobody ever finds bytes of
 * an old message over those of a new one.
 *
 * Owner: the subgroup. State is the engine's; groups are made, fed with memory, and freed by
 * the chore, with the namespace's lock.
 */
#ifndef SPINDLE_LARGE_H
#define SPINDLE_LARGE_H

#include "rdmc.h"

struct spindle_attachment;
struct spindle_subgroup;

enum spindle_large_state {
	SPINDLE_LARGE_IDLE,
	SPINDLE_LARGE_STARTING,
	SPINDLE_LARGE_RUNNING,
	SPINDLE_LARGE_STOPPING,
};

/**
 * struct spindle_large_sender - what one sender sends
 * @group: its group, or NULL; the namespace's lock, and the engine's from STARTING to STOPPING
 * @open: all members have made the group
 * @wanted: memory is wanted for an object; what follows stays as it is while this is set
 * @object: its number
 * @len: its bytes
 * @unit: where it begins in the sender's ring
 */
struct spindle_large_sender {
	struct spindle_rdmc_group *group;
	bool open;
	bool wanted;
	u64 object;
	u64 len;
	u64 unit;
};

/**
 * struct spindle_large - large messages of a subgroup at a node
 * @sg: the subgroup
 * @vid: view in which the subgroup began. It may stay through later ones, of which members hear at
 *	different times: so groups are named by this one
 * @run: in the engine's list
 * @state: see above; only changed by change_state()
 * @moving: own object that is under way
 * @chore: what may sleep
 * @sender: by sender rank
 */
struct spindle_large {
	struct spindle_subgroup *sg;
	u64 vid;
	struct list_head run;
	enum spindle_large_state state;
	u64 moving;
	struct spindle_chore chore;
	struct spindle_large_sender sender[];
};

bool spindle_large_wanted(const struct spindle_view_subgroup *cfg);
int spindle_large_create(struct spindle_subgroup *sg, u64 vid);
void spindle_large_destroy(struct spindle_large *large);

/* engine context */
bool spindle_large_pass(struct spindle_large *large);
void spindle_large_stop(struct spindle_large *large);
bool spindle_large_quiet(const struct spindle_large *large);

#endif /* SPINDLE_LARGE_H */
