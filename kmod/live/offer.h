/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offer: how other rules get from the member that wants them to all members.
 *
 *	wanted here --------> OFFERED --all offer the same--> (the rules are in force)
 *	wanted elsewhere --fetched--^ |
 *	                              +-- time is over; a member before wants others; nobody wants
 *	                                  them any more --> (dropped)
 *
 * Membership shows offers, and decides, see spindle_mb_offer(). This file has the texts. A member
 * whose administrator wants other rules keeps them at its door. The other members see that, ask for
 * the rules as joiners ask for a card, check them, and offer the same.
 *
 * Owner: the live view. Context: process, the namespace's lock, unless a function says otherwise.
 * The engine reads the offer, so only letters change it.
 */
#ifndef SPINDLE_LIVE_OFFER_H
#define SPINDLE_LIVE_OFFER_H

#include "core/membership/rules.h"

struct netlink_ext_ack;
struct spindle_live;

/**
 * struct spindle_offer - other rules that this node would follow
 */
struct spindle_offer {
	/** @rules: the rules */
	struct spindle_rules rules;
	/** @name: spindle_rules_offer() */
	u64 name;
	/** @wants: the administrator of this node wants them */
	bool wants;
	/** @taken: they are in force; the chore frees the offer */
	bool taken;
	/** @since: when the node began to offer them, ktime */
	u64 since;
};

int spindle_offer_want(struct spindle_live *live, const struct spindle_rules *rules,
		       const struct spindle_rule **fault, struct netlink_ext_ack *extack);
void spindle_offer_work(struct spindle_live *live);
void spindle_offer_forget(struct spindle_live *live);

/* Engine. */
void spindle_offer_pass(struct spindle_live *live);
const struct spindle_rules *spindle_offer_rules(const struct spindle_live *live, u64 name);
void spindle_offer_install(struct spindle_live *live);

#endif /* SPINDLE_LIVE_OFFER_H */
