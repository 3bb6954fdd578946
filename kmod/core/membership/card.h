/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Card: a live view with all that a node has to know to join it: members, rules, lineage.
 *
 * A member writes the card of each view that it installs. A node that wants to join gets the card
 * from a member, its contact. The node trusts nothing in the card before spindle_card_read() has
 * checked all of it.
 *
 * The lineage is what a view and all that follow from it have in common: 128 bits that are drawn
 * when the first view begins. Two groups that began apart have two lineages, even if all else is
 * the same.
 *
 * Context: any. Nothing here sleeps or allocates.
 */
#ifndef SPINDLE_CORE_CARD_H
#define SPINDLE_CORE_CARD_H

#include "core/base/view.h"
#include "rules.h"

/**
 * struct spindle_lineage - what a live view and all that follow from it have in common
 */
struct spindle_lineage {
	/** @word: random; both 0: none */
	u64 word[2];
	/**
	 * @era: how often the group began again after all its members were gone. Views of two eras
	 * have nothing to do with each other
	 */
	u64 era;
};

/**
 * struct spindle_card_subgroup - what the rules do not say about a subgroup
 */
struct spindle_card_subgroup {
	/** @members: ranks in the view, as a bit mask */
	u64 members;
	/** @former: messages of former senders */
	u64 former;
};

/**
 * struct spindle_card - a view and its rules, as a contact sends them
 *
 * Behind the card are a struct spindle_view_member for each member, a struct spindle_card_subgroup
 * for each subgroup, and a struct spindle_rule up to cfg.fields for each rule. All are as they are
 * in memory, because hosts are little-endian and the structs have no holes. At the end are the
 * fields of each rule with their zero byte, and zero bytes up to a multiple of 8. Most rules have
 * none, so a card does not have the room that a rule has for them. Another protocol version may
 * change the layout.
 */
struct spindle_card {
	/** @vid: id of the view */
	u64 vid;
	/** @digest: spindle_live_digest() of view, rules and lineage */
	u64 digest;
	/** @lineage: of the view */
	struct spindle_lineage lineage;
	/** @contact: id of the member that sends it */
	u32 contact;
	/** @members: number of members */
	u32 members;
	/** @subgroups: number of subgroups */
	u32 subgroups;
	/** @rules: number of rules */
	u32 rules;
	/** @timeout_ms: of the rules */
	u32 timeout_ms;
	/** @max_nodes: of the rules */
	u32 max_nodes;
	/** @quorum: of the rules */
	u32 quorum;
	/** @text: bytes of the fields of all rules, with what follows them */
	u32 text;
	/** @witness: of the rules */
	u32 witness[SPINDLE_MAX_WITNESSES];
};

/* The bits of a lineage's mark that are the last ones of its era. */
#define SPINDLE_MARK_ERA	0xffU

bool spindle_lineage_given(const struct spindle_lineage *lineage);
void spindle_lineage_of(struct spindle_lineage *lineage, const struct spindle_view *view,
			const struct spindle_rules *rules);
u32 spindle_lineage_mark(const struct spindle_lineage *lineage);

u64 spindle_live_digest(const struct spindle_view *view, const struct spindle_rules *rules,
			const struct spindle_lineage *lineage);

u32 spindle_card_max(void);
u32 spindle_card_bytes(const struct spindle_view *view, const struct spindle_rules *rules);
void spindle_card_make(struct spindle_card *card, const struct spindle_view *view,
		       const struct spindle_rules *rules, const struct spindle_lineage *lineage,
		       u32 id);
const char *spindle_card_read(const struct spindle_card *card, u32 bytes,
			      struct spindle_view *view, struct spindle_rules *rules);
const char *spindle_card_rules(const struct spindle_card *card, u32 bytes,
			       struct spindle_rules *rules);
const char *spindle_card_admits(const struct spindle_card *card, const struct spindle_view *view,
				const struct spindle_rules *rules,
				const struct spindle_lineage *want,
				const struct spindle_view_member *self, bool *final);

#endif /* SPINDLE_CORE_CARD_H */
