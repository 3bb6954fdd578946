/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Join: how a node becomes a member of a live view.
 *
 *	ASKING --card--> CONNECTING --the view has it--> (over)
 *	 ^  ^               |  |
 *	 |  +-- next -------+  |
 *	 +-- the view has gone on without it
 *
 * It asks a member, the contact, for the view; connects to all members of it; the contact sees
 * that and lets it in. If the view changes meanwhile it begins again, as another life of the
 * node. Contacts are asked in turn. When none of them could help it waits, longer each time, and
 * asks all again, until it is in, or nobody wants it any more, or all contacts have refused it
 * for a reason that time does not change.
 *
 * The same machinery asks before a node begins a view by itself: each contact once. One that is
 * in a view, or is about to begin one, ends it; otherwise the view begins.
 *
 * Owner: the node, while it lasts. Context: process, the namespace's lock, but for its work item.
 */
#ifndef SPINDLE_JOIN_H
#define SPINDLE_JOIN_H

#include "core/card.h"

/* A joiner that knows the view, and is not let in by then, asks the next contact. */
#define SPINDLE_JOIN_CONNECT_MS	20000

struct spindle_node;

struct spindle_join;

/**
 * struct spindle_join_config - what is wanted
 * @contact: addresses of members, to be asked in turn
 * @contacts: their number, 1..SPINDLE_MAX_CONTACTS
 * @lineage: the view has to be of this one; none: any
 * @view: the view to begin with if no contact is in one; NULL: join
 * @rules: its rules
 * @insecure: somebody has said that it is a view without a key
 */
struct spindle_join_config {
	const struct spindle_addr *contact;
	u32 contacts;
	struct spindle_lineage lineage;
	const struct spindle_view *view;
	const struct spindle_rules *rules;
	bool insecure;
};

/**
 * struct spindle_join_contact - what became of a contact, for people
 * @addr: its address
 * @reason: what came of asking it last; NULL: nothing yet
 * @final: another attempt would have the same answer
 */
struct spindle_join_contact {
	struct spindle_addr addr;
	const char *reason;
	bool final;
};

struct spindle_join *spindle_join_start(struct spindle_node *node,
					const struct spindle_join_config *cfg);
bool spindle_join_begins(const struct spindle_join *join);
u32 spindle_join_contacts(const struct spindle_join *join,
			  const struct spindle_join_contact **contact);
const char *spindle_join_reason(const struct spindle_join *join);
void spindle_join_cancel(struct spindle_join *join);

#endif /* SPINDLE_JOIN_H */
