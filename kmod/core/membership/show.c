// SPDX-License-Identifier: GPL-2.0-only
/*
 * Show: membership columns become writes to the other members. See membership.h.
 *
 * Context: engine. A status reads spindle_mb_offered() elsewhere.
 */
#include "core/base/push.h"
#include "member.h"

/**
 * spindle_mb_open() - may messages of this view be written to a member?
 * @mb: membership
 * @rank: the member
 *
 * Messages are not written before the member has installed the view, because the same memory has
 * another meaning in its old view. They are not written behind our fence either.
 *
 * Return: true if so
 */
bool spindle_mb_open(const struct spindle_mb *mb, u32 rank)
{
	const struct spindle_mb_peer *p = &mb->peer[rank];

	return rank != mb->me && mb->state != SPINDLE_MB_STOPPED && !p->fenced &&
	       !(mb->suspected & BIT_ULL(rank)) && p->vid == spindle_mb_view(mb)->vid;
}

/**
 * spindle_mb_has_begun() - has a member begun a view, or a subgroup that stays in it?
 * @mb: membership
 * @rank: the member
 * @vid: the installed view; of a subgroup that stays also the next one, which is decided
 * @stayed: the question is about a subgroup that stays
 *
 * Return: true if it has shown that
 */
bool spindle_mb_has_begun(const struct spindle_mb *mb, u32 rank, u64 vid, bool stayed)
{
	const struct spindle_mb_peer *p = &mb->peer[rank];

	if (mb->suspected & BIT_ULL(rank))
		return false;
	return p->vid >= vid ||
	       (stayed && p->vid + 1 == vid && p->phase == SPINDLE_MB_COMMITTED);
}

/**
 * spindle_mb_offered() - the rules that a member offers
 * @mb: membership
 * @rank: the member; this node, too
 *
 * Return: their digest, with SPINDLE_MB_WANTS if it wants them; 0 if it offers none
 */
u64 spindle_mb_offered(const struct spindle_mb *mb, u32 rank)
{
	if (rank != mb->me)
		return mb->peer[rank].offer;
	return mb->rules | (mb->wants ? SPINDLE_MB_WANTS : 0);
}

/* The own columns as a member may see them: states beyond ACTIVE only behind all messages. */
static void columns_for(struct spindle_mb *mb, u32 rank, u64 word[SPINDLE_BLOCK_WORDS])
{
	struct spindle_mb_peer *p = &mb->peer[rank];
	u64 state = mb->state;

	if (state >= SPINDLE_MB_WEDGED && state < SPINDLE_MB_STOPPED && !p->fenced) {
		p->fenced = mb->ops->flushed(mb->ctx, rank);
		if (!p->fenced)
			state = SPINDLE_MB_ACTIVE;
	}
	word[SPINDLE_MB_COL_VID] = spindle_mb_view(mb)->vid;
	word[SPINDLE_MB_COL_SUSPECTED] = mb->suspected;
	word[SPINDLE_MB_COL_PHASE] = state;
	if (mb->leaving)
		word[SPINDLE_MB_COL_PHASE] |= SPINDLE_MB_PHASE_LEAVE;
	else
		word[SPINDLE_MB_COL_PHASE] |= (u64)mb->ballot << SPINDLE_MB_PHASE_BALLOT;
	word[SPINDLE_MB_COL_DIGEST] = mb->digest;
}

/**
 * spindle_mb_leavers_told() - do the leavers know what this member has accepted?
 * @mb: membership, committed
 *
 * In the next view this member writes nothing to leavers. A leaver follows a decree only when all
 * others have shown it that they do, see follow(). Nothing reaches a leaver whose connection broke.
 * A deaf node hears of no leaver that it has gone. If the node waited for such a leaver, it would
 * never install a view, and find in there that it is deaf.
 *
 * Return: true if the decree has been pushed to all of them that are not in doubt
 */
bool spindle_mb_leavers_told(const struct spindle_mb *mb)
{
	u64 mask = spindle_mb_leavers(mb) & spindle_mb_alive(mb) & ~mb->doubted & ~BIT_ULL(mb->me);

	for (; mask && !mb->leaving; mask &= mask - 1) {
		const u64 *told = mb->peer[__ffs64(mask)].told;

		if (told[SPINDLE_MB_COL_DIGEST] != mb->digest ||
		    !((told[SPINDLE_MB_COL_PHASE] >> SPINDLE_MB_PHASE_BALLOT) & 0xff))
			return false;
	}
	return true;
}

static u32 put_words(const struct spindle_mb *mb, struct spindle_write *write, u32 at, u32 n)
{
	u64 offset = offsetof(struct spindle_mb_row, word) + at * sizeof(u64);

	*write = (struct spindle_write){
		.data = &mb->row->word[at],
		.remote = offset,
		.len = n * sizeof(u64),
	};
	return 1;
}

static u32 put_block(const struct spindle_block *block, struct spindle_write *write, u64 offset,
		     u32 imm)
{
	*write = (struct spindle_write){
		.data = block,
		.remote = offset,
		.len = SPINDLE_BLOCK_PUSH,
		.guard = true,
		.imm = imm,
	};
	return 1;
}

/**
 * spindle_mb_push() - writes that show a member the own membership columns
 * @mb: membership
 * @rank: the member
 * @write: out, room for SPINDLE_MB_PUSH_MAX; offsets are from the start of the
 *	membership's part of the row
 *
 * The caller posts the writes in this order, behind the messages that it has posted. A block
 * vouches for what is before it, so the words of the row come first. A member that believes
 * completions only needs the one of the state block with its immediate data. No other write to that
 * block may be posted before it is acknowledged.
 *
 * Return: number of writes
 */
u32 spindle_mb_push(struct spindle_mb *mb, u32 rank, struct spindle_write *write)
{
	struct spindle_mb_peer *p = &mb->peer[rank];
	u32 trims = spindle_decree_trims(spindle_mb_view(mb)), n = 0;
	u64 beat[SPINDLE_BLOCK_WORDS] = {
		mb->beat, mb->wish, mb->wish_inc, spindle_mb_offered(mb, mb->me)
	};
	u64 word[SPINDLE_BLOCK_WORDS];

	if (rank == mb->me || mb->state == SPINDLE_MB_JOINING ||
	    (mb->suspected & BIT_ULL(rank) && mb->state != SPINDLE_MB_STOPPED))
		return 0;
	if (p->told_beat != mb->beat) {
		p->told_beat = mb->beat;
		spindle_block_write(&p->beat_out, beat);
		n += put_block(&p->beat_out, &write[n], SPINDLE_MB_BEAT,
			       SPINDLE_IMM_NODE << SPINDLE_IMM_SHIFT);
	}
	columns_for(mb, rank, word);
	if (!memcmp(word, p->told, sizeof(word)))
		return n;
	if (mb->state >= SPINDLE_MB_FENCED && !p->told_have && trims) {
		p->told_have = true;
		n += put_words(mb, &write[n], 0, trims);
	}
	if (p->told_decree != mb->digest) {
		p->told_decree = mb->digest;
		n += put_words(mb, &write[n], mb->trims, spindle_mb_decree_words(mb->trims));
	}
	memcpy(p->told, word, sizeof(word));
	p->said = (p->said + 1) & SPINDLE_IMM_SLOTS;
	word[SPINDLE_MB_COL_PHASE] |= (u64)p->said << SPINDLE_MB_PHASE_COUNT;
	spindle_block_write(&p->out, word);
	n += put_block(&p->out, &write[n], offsetof(struct spindle_mb_row, state),
		       SPINDLE_IMM_STATE << SPINDLE_IMM_SHIFT | p->said);
	return n;
}
