/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decree: what the members of a view decide about its end. See membership.rst.
 *
 * A decree says all there is to agree on: the members that go on, the nodes that join, and how many
 * messages of each sender are delivered in the view (the trim). It is a list of words in the row of
 * each member that has accepted it. The sealed state block has the digest of the list. Words that
 * are half written, or of two versions, have another digest.
 *
 *	0		vid of the view that ends
 *	1		survivors, as a mask of ranks
 *	2		number of joiners
 *	3 ...		of each joiner: id, incarnation, address, family and port
 *	23		name of the rules of the next view; 0: the present ones
 *	HEAD ...	trim: of each subgroup of the view, of each sender, in order
 *
 * Context: engine.
 */
#ifndef SPINDLE_CORE_DECREE_H
#define SPINDLE_CORE_DECREE_H

#include "core/base/view.h"

/*
 * If a subgroup loses all its members at once, no survivor knows how many messages it has
 * delivered. Its positions then go on at a multiple of this, and at least as far above the messages
 * of former senders, because a life may begin at any position.
 */
#define SPINDLE_LIFE_MESSAGES	BIT_ULL(48)

/* Members that one change of the view takes in at most; others join by the next one. */
#define SPINDLE_DECREE_JOINS	4

/* Words of a joiner. The address is needed by joiners of the same change, see membership.rst. */
enum spindle_join_word {
	SPINDLE_JOIN_ID,
	SPINDLE_JOIN_INCARNATION,
	SPINDLE_JOIN_IP,
	SPINDLE_JOIN_PORT = SPINDLE_JOIN_IP + 2,
	SPINDLE_JOIN_WORDS,
};

enum spindle_decree_word {
	SPINDLE_DECREE_VID,
	SPINDLE_DECREE_SURVIVORS,
	SPINDLE_DECREE_NUM_JOINS,
	SPINDLE_DECREE_JOIN,
	SPINDLE_DECREE_RULES = SPINDLE_DECREE_JOIN + SPINDLE_JOIN_WORDS * SPINDLE_DECREE_JOINS,
	SPINDLE_DECREE_HEAD,
};

u32 spindle_decree_trims(const struct spindle_view *view);
u32 spindle_decree_trim_at(const struct spindle_view *view, u32 subgroup);
u64 spindle_decree_digest(const u64 *word, u32 n);
bool spindle_decree_add(u64 *word, const struct spindle_view_member *who, u64 incarnation);
void spindle_decree_drop(u64 *word);
int spindle_decree_joiner(const u64 *word, u32 id);
bool spindle_decree_check(const u64 *word, const struct spindle_view *view);
u64 spindle_decree_renumber(u64 mask, u64 survivors);
u64 spindle_decree_stays(const u64 *word, const struct spindle_view *view,
			 const struct spindle_view *next);
void spindle_decree_apply(const u64 *word, const struct spindle_view *view,
			  struct spindle_view *next);
void spindle_decree_count(const u64 *word, const struct spindle_view *view,
			  struct spindle_view *next);

/**
 * spindle_decree_join() - the words of a joiner
 * @word: a decree
 * @i: which joiner, below SPINDLE_DECREE_JOINS
 *
 * Return: its words, enum spindle_join_word
 */
static inline u64 *spindle_decree_join(const u64 *word, u32 i)
{
	return (u64 *)word + SPINDLE_DECREE_JOIN + i * SPINDLE_JOIN_WORDS;
}

#endif /* SPINDLE_CORE_DECREE_H */
