// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetch: the row of another member, as the device has read it. See fetch.h.
 *
 * Context: engine, all of it.
 */
#include "fetch.h"

static void all_torn(struct spindle_tb_fetch *f, const struct spindle_tb *tb)
{
	u32 w;

	for (w = 0; w < spindle_tb_words(tb); w++)
		f->torn[w] = spindle_tb_cells(tb, w);
	f->torn[0] &= ~1ULL;
}

static bool any_torn(const struct spindle_tb_fetch *f, const struct spindle_tb *tb)
{
	u32 w;

	for (w = 0; w < spindle_tb_words(tb); w++)
		if (f->torn[w])
			return true;
	return false;
}

/**
 * spindle_tb_fetch_begin() - begin a fetch
 * @f: the fetch; the one before has ended, or is given up
 * @tb: the table
 */
void spindle_tb_fetch_begin(struct spindle_tb_fetch *f, const struct spindle_tb *tb)
{
	f->guarded = false;
	f->reads = 0;
	all_torn(f, tb);
}

/**
 * spindle_tb_fetch_next() - what does the device have to read now?
 * @f: the fetch, which has not ended
 * @tb: the table
 *
 * Return: a part of the row
 */
struct spindle_range spindle_tb_fetch_next(const struct spindle_tb_fetch *f,
					   const struct spindle_tb *tb)
{
	u32 at = f->guarded ? tb->cell : 0;

	return (struct spindle_range){ .at = at, .len = tb->cells * tb->cell - at };
}

/* Copy a cell that is whole, unless it is older than what is there. Returns whether it changed. */
static bool put_cell(const u64 *from, u64 *to, u32 n)
{
	u32 i;

	if (from[n - 1] == READ_ONCE(to[n - 1]) || from[n - 2] < READ_ONCE(to[n - 2]))
		return false;
	for (i = 0; i < n - 1; i++)
		WRITE_ONCE(to[i], from[i]);
	/* As (A) of the contract. */
	smp_store_release(&to[n - 1], from[n - 1]);
	return true;
}

/*
 * Take the cells behind the guard. A cell with the seal that is there already is not computed
 * again: either nothing has changed, or the owner is writing and has not sealed a newer value.
 * Returns whether one has changed.
 */
static bool take_cells(struct spindle_tb_fetch *f, struct spindle_tb *tb, u32 rank, const u64 *row)
{
	u32 n = tb->cell / sizeof(u64), c;
	bool changed = false;

	for (c = 1; c < tb->cells; c++) {
		u64 *to = (u64 *)(tb->member[rank].cells + c * tb->cell);
		const u64 *from = row + c * n;

		if (from[n - 1] != READ_ONCE(to[n - 1]) && spindle_mix(from, n - 1) != from[n - 1])
			continue;
		changed |= put_cell(from, to, n);
		f->torn[c / 64] &= ~BIT_ULL(c % 64);
	}
	return changed;
}

/* Is the copy of the guard the one that is shown? */
static bool is_shown(const struct spindle_tb_fetch *f, const struct spindle_tb_member *m, u32 n)
{
	return f->guard[n - 1] == READ_ONCE(((const u64 *)m->cells)[n - 1]);
}

/*
 * Copy the guard. One with the seal that is there already counts as whole, as for other cells, and
 * put_cell() leaves it alone. Returns whether the guard is whole.
 */
static bool copy_guard(struct spindle_tb_fetch *f, const struct spindle_tb_member *m,
		       const u64 *row, u32 n)
{
	memcpy(f->guard, row, n * sizeof(u64));
	return is_shown(f, m, n) || spindle_mix(f->guard, n - 1) == f->guard[n - 1];
}

/* Show the guard, because all other cells are there. Returns whether it has changed. */
static bool put_guard(const struct spindle_tb_fetch *f, struct spindle_tb_member *m, u32 n)
{
	u64 *to = (u64 *)m->cells;
	bool changed = put_cell(f->guard, to, n);

	/* Pairs with the READ_ONCE() of an attachment that begins. */
	WRITE_ONCE(m->guard, READ_ONCE(to[n - 2]));
	return changed;
}

/*
 * Take what was read. The other cells may be older than a guard that was read with them, so a new
 * guard waits for the next read. Returns whether a cell has changed.
 */
static bool take_read(struct spindle_tb_fetch *f, struct spindle_tb *tb, u32 rank, const u64 *row)
{
	const struct spindle_tb_member *m = &tb->member[rank];
	bool changed = take_cells(f, tb, rank, row);
	u32 n = tb->cell / sizeof(u64);

	if (f->guarded)
		return changed;
	f->guarded = copy_guard(f, m, row, n);
	if (!f->guarded || !is_shown(f, m, n))
		all_torn(f, tb);
	return changed;
}

/**
 * spindle_tb_fetch_take() - the device has read what spindle_tb_fetch_next() has said
 * @f: the fetch
 * @tb: the table
 * @rank: the member
 * @row: where the device has put the row; the device writes nothing there now
 *
 * Return: true if the fetch has ended; false: read again
 */
bool spindle_tb_fetch_take(struct spindle_tb_fetch *f, struct spindle_tb *tb, u32 rank,
			   const u64 *row)
{
	bool changed = take_read(f, tb, rank, row), done = f->guarded && !any_torn(f, tb);

	f->reads++;
	spindle_count(&tb->stats.reads, 1);
	if (done)
		changed |= put_guard(f, &tb->member[rank], tb->cell / sizeof(u64));
	if (changed) {
		tb->changed |= BIT_ULL(rank);
		spindle_count(&tb->stats.heard, 1);
	}
	spindle_count(&tb->stats.fetches, done);
	return done || f->reads == SPINDLE_FETCH_READS;
}
