/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Join: how a node becomes a member of a live view.
 *
 *	ASKING --card--> CONNECTING --node is a member--> (over)
 *	 ^  ^               |  |
 *	 |  +-- next -------+  |
 *	 +-- the contact has another view
 *
 * The node asks a member, the contact, for the view, and connects to all members of the view. The
 * contact sees that and admits the node. If the view changes before that, the node starts over
 * with a new incarnation. Contacts are asked in turn. When none of them has admitted the node, it
 * waits, longer each time, and asks all again. The join ends when the node is a member, when the
 * join is cancelled, or when all contacts have refused it for a permanent reason.
 *
 * The same code asks before a node begins a view by itself, each contact once. The join fails if a
 * contact is in a view, or is about to begin one. Otherwise the view begins.
 *
 * Owner: the node, until the join ends. Context: process, the namespace's lock; the work item
 * that asks runs without the lock.
 */
#ifndef SPINDLE_LIVE_JOIN_H
#define SPINDLE_LIVE_JOIN_H

#include "core/membership/card.h"

/* If the node knows the view, and is not admitted within this time, it asks the next contact. */
#define SPINDLE_JOIN_CONNECT_MS	20000

struct spindle_node;
struct spindle_ranges;

struct spindle_join;

/**
 * struct spindle_join_config - parameters of a join
 */
struct spindle_join_config {
	/** @contact: addresses of members, to be asked in turn */
	const struct spindle_addr *contact;
	/** @contacts: their number, 1..SPINDLE_MAX_CONTACTS */
	u32 contacts;
	/** @lineage: lineage that the view must have; none: any */
	struct spindle_lineage lineage;
	/** @view: the view to begin if no contact is in one; NULL: join */
	const struct spindle_view *view;
	/** @rules: rules of @view */
	const struct spindle_rules *rules;
	/** @ranges: views of earlier eras that @view follows, or NULL */
	const struct spindle_ranges *ranges;
	/** @insecure: the request has confirmed that the view has no key */
	bool insecure;
};

/**
 * struct spindle_join_contact - a contact and its last answer, for people
 */
struct spindle_join_contact {
	/** @addr: address of the contact */
	struct spindle_addr addr;
	/** @reason: result of asking it last; NULL: none yet */
	const char *reason;
	/** @final: the refusal is permanent */
	bool final;
};

struct spindle_join *spindle_join_start(struct spindle_node *node,
					const struct spindle_join_config *cfg);
u32 spindle_join_contacts(const struct spindle_join *join,
			  const struct spindle_join_contact **contact);
const char *spindle_join_reason(const struct spindle_join *join);
void spindle_join_cancel(struct spindle_join *join);

#endif /* SPINDLE_LIVE_JOIN_H */
