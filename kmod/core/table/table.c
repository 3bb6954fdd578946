// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table: rows of cells that programs share. See table.h.
 *
 * Context: engine, all of it.
 */
#include "predicate.h"
#include "table.h"

/* ---- life ------------------------------------------------------------- */

/* A member that has just come has nothing of the own row. */
static void lacks_all(const struct spindle_tb *tb, struct spindle_tb_member *m)
{
	u32 w;

	for (w = 0; w < spindle_tb_words(tb); w++)
		m->lacks[w] = spindle_tb_cells(tb, w);
	/* There is no guard yet to push. */
	if (!tb->word[SPINDLE_TB_GUARD])
		m->lacks[0] &= ~1ULL;
	m->first = 0;
	m->due = true;
}

/* A member that stays keeps its row here, and has what it has of the own one. */
static void keep_member(struct spindle_tb_member *m, const struct spindle_tb_member *old)
{
	memcpy(m->lacks, old->lacks, sizeof(m->lacks));
	m->first = old->first;
	m->piece = old->piece;
	m->due = old->due;
	m->seal = old->seal;
	m->guard_seal = old->guard_seal;
	m->guard = old->guard;
	m->flush = old->flush;
	m->place = old->place;
}

/* What the process says goes over to the table of the next view. */
static void keep_process(struct spindle_tb *tb, struct spindle_tb *old)
{
	tb->dirty = old->dirty;
	tb->ask = old->ask;
	tb->skip = old->skip;
	tb->flush = old->flush;
	tb->flushed = old->flushed;
	tb->half = old->half;
	old->dirty = NULL;
	old->ask = NULL;
	old->skip = NULL;
}

/**
 * spindle_tb_follow() - go on from the same table in the view before
 * @tb: new; rows here are as they were
 * @old: the table in the view before, not used any more
 * @from: of each member its rank in @old, or SPINDLE_NO_RANK
 */
void spindle_tb_follow(struct spindle_tb *tb, struct spindle_tb *old, const u32 *from)
{
	u32 r;

	keep_process(tb, old);
	memcpy(tb->guard, old->guard, tb->cell);
	memcpy(tb->word, old->word, sizeof(tb->word));
	tb->stats = old->stats;
	tb->signals = old->signals;
	tb->sets = old->sets;
	tb->sets_taken = old->sets_taken;
	tb->turns = old->turns;
	spindle_block_write(&tb->block, tb->word);
	for (r = 0; r < tb->members; r++) {
		if (from[r] != SPINDLE_NO_RANK) {
			keep_member(&tb->member[r], &old->member[from[r]]);
			continue;
		}
		lacks_all(tb, &tb->member[r]);
		spindle_tb_take_in(tb, r);
	}
	spindle_tb_preds_follow(tb, old, from);
}

/* ---- the own row ------------------------------------------------------ */

/* Count the changes of the own row in this pass as one. Returns whether there is work. */
static bool change_row(struct spindle_tb *tb)
{
	u64 ask = spindle_tb_asked(tb);
	bool process = spindle_tb_take_dirty(tb);
	bool flush = spindle_tb_take_flush(tb, ask);

	if (process)
		tb->changed |= BIT_ULL(tb->me);
	if (!process && tb->sets == tb->sets_taken)
		return flush;
	tb->sets_taken = tb->sets;
	tb->word[SPINDLE_TB_PUSHES]++;
	spindle_block_write(&tb->block, tb->word);
	spindle_count(&tb->stats.taken, 1);
	return true;
}

/**
 * spindle_tb_attach() - a process writes the own row from now on
 * @tb: the table, without such a process
 * @dirty: its dirty bits; SPINDLE_TB_WORDS words that it writes at any time, as all of these
 * @ask: the number of the flush that it wants; 0
 * @skip: its mask of members to skip, for all instances
 */
void spindle_tb_attach(struct spindle_tb *tb, u64 *dirty, const u64 *ask, u64 *skip)
{
	u32 r;

	tb->dirty = dirty;
	tb->ask = ask;
	tb->skip = skip;
	tb->flush = 0;
	tb->flushed = 0;
	for (r = 0; r < tb->members; r++)
		tb->member[r].flush = 0;
}

/**
 * spindle_tb_adopt() - take all of the row that the writer before has left
 * @tb: the table; the process has just been attached
 *
 * That writer may have died between a seal and its dirty bit, and guards of the new one vouch for
 * what is in the row. If it has left the guard half written, no flush has to wait for that.
 */
void spindle_tb_adopt(struct spindle_tb *tb)
{
	memset(tb->dirty, 0xff, SPINDLE_TB_WORDS * sizeof(*tb->dirty));
	change_row(tb);
	tb->half = false;
}

/**
 * spindle_tb_detach() - the process does not write the own row any more
 * @tb: the table
 *
 * What the process has marked goes to the other members, also to those that it has skipped. Its
 * predicates are removed already.
 */
void spindle_tb_detach(struct spindle_tb *tb)
{
	change_row(tb);
	tb->dirty = NULL;
	tb->ask = NULL;
	tb->skip = NULL;
	tb->flushed = tb->flush;
}

/* ---- the rows of others ----------------------------------------------- */

/*
 * Where completions vouch, a block counts when its own completion is here. The next one is not
 * posted before that, so that the low bits cannot come round.
 */
static bool is_vouched(const struct spindle_tb_member *m, const u64 *word)
{
	u32 pushes = word[SPINDLE_TB_PUSHES] & SPINDLE_IMM_SLOTS;

	/* Pairs with the release of the completion's handler. */
	return !m->vouch || smp_load_acquire(m->vouch) == pushes;
}

static enum spindle_read hear_block(struct spindle_tb_member *m)
{
	u64 word[SPINDLE_BLOCK_WORDS], seal = m->seal;
	enum spindle_read read = spindle_block_read(m->block, &seal, word);

	if (read != SPINDLE_READ_NEW)
		return read;
	if (!is_vouched(m, word))
		return SPINDLE_READ_SAME;
	m->seal = seal;
	/* Pairs with the READ_ONCE() of an attachment that begins. */
	WRITE_ONCE(m->guard, word[SPINDLE_TB_GUARD]);
	return SPINDLE_READ_NEW;
}

/*
 * Where the device keeps writes in order, a guard ends a push, and no block follows. Its seal may
 * be here before its other words are.
 */
static enum spindle_read hear_guard(struct spindle_tb *tb, struct spindle_tb_member *m)
{
	const u64 *cell = (const u64 *)m->cells;
	u32 n = tb->cell / sizeof(u64);

	if (m->vouch || READ_ONCE(cell[n - 1]) == m->guard_seal)
		return SPINDLE_READ_SAME;
	if (!spindle_tb_copy_cell(cell, n, tb->copy))
		return SPINDLE_READ_TORN;
	m->guard_seal = tb->copy[n - 1];
	WRITE_ONCE(m->guard, tb->copy[n - 2]);
	return SPINDLE_READ_NEW;
}

/* Look for changes of a row. Returns whether there are any, or may be soon. */
static bool hear(struct spindle_tb *tb, u32 r)
{
	struct spindle_tb_member *m = &tb->member[r];
	enum spindle_read block = hear_block(m), guard = hear_guard(tb, m);

	if (block == SPINDLE_READ_SAME && guard == SPINDLE_READ_SAME)
		return false;
	if (block == SPINDLE_READ_TORN || guard == SPINDLE_READ_TORN) {
		spindle_count(&tb->stats.torn, 1);
		if (++m->torn_run > SPINDLE_MAX_TORN)
			tb->bad |= BIT_ULL(r);
	} else {
		m->torn_run = 0;
	}
	if (block != SPINDLE_READ_NEW && guard != SPINDLE_READ_NEW)
		return true;
	tb->changed |= BIT_ULL(r);
	spindle_count(&tb->stats.heard, 1);
	return true;
}

/**
 * spindle_tb_run() - look for changes of the rows, look at predicates, take changes of the own row
 * @tb: the table
 *
 * Flushes end here, too.
 *
 * Return: true if there was something, or may be something soon
 */
bool spindle_tb_run(struct spindle_tb *tb)
{
	bool work = false;
	u32 r;

	for (r = 0; r < tb->members; r++)
		if (r != tb->me && !tb->read && !(tb->bad & BIT_ULL(r)))
			work |= hear(tb, r);
	work |= spindle_tb_preds_look(tb);
	work |= change_row(tb);
	work |= spindle_tb_withhold(tb);
	return spindle_tb_end_flush(tb) || work;
}

/* ---- push ------------------------------------------------------------- */

/**
 * spindle_tb_wanted() - does a member lack anything of the own row, or a block for a flush?
 * @tb: the table
 * @rank: the member
 *
 * Return: true if so, and the member is not skipped
 */
bool spindle_tb_wanted(const struct spindle_tb *tb, u32 rank)
{
	return !tb->read && tb->member[rank].due && !spindle_tb_skips(tb, rank);
}

/**
 * spindle_tb_pending() - is spindle_tb_wanted() true of any member?
 * @tb: the table
 *
 * Return: true if so
 */
bool spindle_tb_pending(const struct spindle_tb *tb)
{
	u32 r;

	for (r = 0; r < tb->members; r++)
		if (spindle_tb_wanted(tb, r))
			return true;
	return false;
}

/* A run of cells that a member lacks, of one word: its first bit, and its length. */
static u32 run_of(u64 bits, u32 *first)
{
	*first = __ffs64(bits);
	bits >>= *first;
	return ~bits ? __ffs64(~bits) : 64;
}

/* Add the cells of word @w, at most up to @max writes in all. */
static u32 push_word(const struct spindle_tb *tb, struct spindle_tb_member *m, u32 w,
		     struct spindle_write *write, u32 n, u32 max)
{
	u64 guard = w ? 0 : 1;
	u32 first, len;

	while ((m->lacks[w] & ~guard) && n < max) {
		u64 at;

		len = run_of(m->lacks[w] & ~guard, &first);
		at = (64ULL * w + first) * tb->cell;
		write[n++] = (struct spindle_write){
			.local = tb->local + at,
			.remote = m->remote_cells + at,
			.len = len * tb->cell,
		};
		m->lacks[w] &= ~((len == 64 ? U64_MAX : BIT_ULL(len) - 1) << first);
	}
	return n;
}

/* Add the cells behind the guard. Returns the number of writes. */
static u32 push_cells(const struct spindle_tb *tb, struct spindle_tb_member *m,
		      struct spindle_write *write, u32 max)
{
	u32 n = 0;

	for (; m->first < spindle_tb_words(tb); m->first++) {
		n = push_word(tb, m, m->first, write, n, max);
		if (m->lacks[m->first] & ~(m->first ? 0 : 1ULL))
			break;
	}
	return n;
}

/*
 * Add pieces of the guard's copy, from place @n on. Returns the number of writes. The last piece
 * has the seal.
 */
static u32 push_guard(const struct spindle_tb *tb, struct spindle_tb_member *m,
		      struct spindle_write *write, u32 n, u32 max)
{
	while (m->piece < tb->cell && n < max) {
		write[n++] = (struct spindle_write){
			.data = (const u8 *)tb->guard + m->piece,
			.remote = m->remote_cells + m->piece,
			.len = SPINDLE_TB_PIECE,
		};
		m->piece += SPINDLE_TB_PIECE;
	}
	if (m->piece == tb->cell) {
		m->lacks[0] &= ~1ULL;
		m->piece = 0;
	}
	return n;
}

static u32 push_block(struct spindle_tb *tb, const struct spindle_tb_member *m,
		      struct spindle_write *write, u32 n)
{
	write[n++] = (struct spindle_write){
		.data = &tb->block,
		.remote = m->remote_block,
		.len = SPINDLE_BLOCK_PUSH,
	};
	spindle_count(&tb->stats.blocks, 1);
	return n;
}

/* The last write of a push tells the member's engine to look, and ends a flush. */
static void end_push(const struct spindle_tb *tb, struct spindle_tb_member *m, u32 index,
		     struct spindle_write *last)
{
	last->guard = true;
	last->imm = index << SPINDLE_IMM_SHIFT |
		    ((u32)tb->word[SPINDLE_TB_PUSHES] & SPINDLE_IMM_SLOTS);
	if (m->flush != tb->flush) {
		m->flush = tb->flush;
		last->place = &m->place;
	}
	m->due = false;
}

/**
 * spindle_tb_push() - writes that bring a member up to date, or part of the way
 * @tb: the table
 * @rank: the member
 * @index: the table's index in the view
 * @how: SPINDLE_PUSH_*
 * @write: out
 * @max: room in @write, at least 2
 *
 * The caller posts all of the writes in this order on the member's queue pair, before the table
 * changes. The table counts them as posted already.
 *
 * Return: number of writes
 */
u32 spindle_tb_push(struct spindle_tb *tb, u32 rank, u32 index, u32 how,
		    struct spindle_write *write, u32 max)
{
	struct spindle_tb_member *m = &tb->member[rank];
	bool guard = m->lacks[0] & 1;
	u32 n = push_cells(tb, m, write, max - 1);

	/* While other cells are left, there is no room for the guard. */
	if (guard)
		n = push_guard(tb, m, write, n, max - 1);
	spindle_count(&tb->stats.writes, n);
	if (m->first != spindle_tb_words(tb) || (m->lacks[0] & 1))
		return n;
	if (!guard || !(how & SPINDLE_PUSH_SPLIT))
		n = push_block(tb, m, write, n);
	end_push(tb, m, index, &write[n - 1]);
	return n;
}
