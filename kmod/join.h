/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Join: how a node becomes a member of a live view.
 *
 *	ASKING --card--> CONNECTING --the view has it--> (over)
 *	   ^                |
 *	   +-- the view has gone on without it
 *
 * It asks a member, the contact, for the view; connects to all members of it; the contact sees
 * that and lets it in. If the view changes meanwhile it begins again, as another life of the
 * node, until its time is over.
 *
 * Owner: the node, while it lasts. Context: process, the namespace's lock, but for its work item.
 */
#ifndef SPINDLE_JOIN_H
#define SPINDLE_JOIN_H

#include "core/view.h"

struct spindle_node;

struct spindle_join;

struct spindle_join *spindle_join_start(struct spindle_node *node,
					const struct spindle_addr *contact);
const char *spindle_join_reason(const struct spindle_join *join);
void spindle_join_cancel(struct spindle_join *join);

#endif /* SPINDLE_JOIN_H */
