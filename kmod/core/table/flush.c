// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flush: when do the other members have what the process has marked, and which of them are skipped?
 * See table.h.
 *
 * The numbers of flushes and the mask of members to skip come from a process, which may change them
 * at any time. A number only has to differ from the one before, and one flush is under way at a
 * time. So a process causes one block for each member and flush, and no more.
 *
 * Context: engine, all of it.
 */
#include "table.h"

/**
 * spindle_tb_skips() - is a member skipped?
 * @tb: the table
 * @rank: another member
 *
 * Return: true if the process wants so
 */
bool spindle_tb_skips(const struct spindle_tb *tb, u32 rank)
{
	u32 instance = tb->member[rank].instance;

	return tb->skip && (READ_ONCE(tb->skip[instance / 64]) & BIT_ULL(instance % 64));
}

/**
 * spindle_tb_take_in() - a member has just come, whose instance may have had another one before
 * @tb: the table
 * @rank: the member
 */
void spindle_tb_take_in(struct spindle_tb *tb, u32 rank)
{
	u32 instance = tb->member[rank].instance;

	if (spindle_tb_skips(tb, rank))
		spindle_take_bits(&tb->skip[instance / 64], BIT_ULL(instance % 64));
}

/**
 * spindle_tb_withhold() - note the members that lack something and are skipped
 * @tb: the table
 *
 * Return: true if one of them is not skipped any more
 */
bool spindle_tb_withhold(struct spindle_tb *tb)
{
	u64 before = tb->withheld;
	u32 r;

	tb->withheld = 0;
	if (!tb->skip)
		return before;
	for (r = 0; r < tb->members; r++)
		if (tb->member[r].due && spindle_tb_skips(tb, r))
			tb->withheld |= BIT_ULL(r);
	return before & ~tb->withheld;
}

/**
 * spindle_tb_asked() - which flush does the process want?
 * @tb: the table
 *
 * To be called before the dirty bits of a pass are taken.
 *
 * Return: the number of a new flush; tb->flush: none, or the present one has not ended
 */
u64 spindle_tb_asked(const struct spindle_tb *tb)
{
	if (!tb->ask || tb->flushed != tb->flush)
		return tb->flush;
	/* Pairs with (D) of the contract: bits that were set before are visible. */
	return smp_load_acquire(tb->ask);
}

/**
 * spindle_tb_take_flush() - begin a flush, behind the dirty bits of the same pass
 * @tb: the table
 * @ask: what spindle_tb_asked() has returned
 *
 * If the guard was half written, the process had perhaps sealed it before that, and no copy was
 * made of it. Then the flush waits for the next copy.
 *
 * Return: true if one has begun
 */
bool spindle_tb_take_flush(struct spindle_tb *tb, u64 ask)
{
	u32 r;

	if (ask == tb->flush || (tb->half && !tb->read))
		return false;
	tb->flush = ask;
	for (r = 0; r < tb->members; r++)
		tb->member[r].due |= r != tb->me;
	return true;
}

/* Has a member what the flush is about? Otherwise *@posted says whether it is on its way. */
static bool has_all(const struct spindle_tb_member *m, u64 flush, bool *posted)
{
	if (m->flush != flush)
		return false;
	if (m->place <= *m->done)
		return true;
	*posted = true;
	return false;
}

/**
 * spindle_tb_end_flush() - end the flush that is under way, if all members have what it is about
 * @tb: the table
 *
 * Return: true if completions are awaited
 */
bool spindle_tb_end_flush(struct spindle_tb *tb)
{
	bool posted = false, all = true;
	u32 r;

	if (tb->flushed == tb->flush)
		return false;
	for (r = 0; r < tb->members && !tb->read; r++)
		if (r != tb->me && !spindle_tb_skips(tb, r))
			all &= has_all(&tb->member[r], tb->flush, &posted);
	if (!all)
		return posted;
	tb->flushed = tb->flush;
	return true;
}
