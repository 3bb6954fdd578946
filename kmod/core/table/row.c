// SPDX-License-Identifier: GPL-2.0-only
/*
 * Row: how the own row of a table changes, by the process or by the engine. See table.h.
 *
 * Context: engine, all of it.
 */
#include "table.h"

/* Take bits of a word that the process sets. */
static u64 take(u64 *word, u64 mask)
{
	/* An idle table costs a load for each word, and no write to the process's page. */
	if (!(READ_ONCE(*word) & mask))
		return 0;
	/* Pairs with (B) of the contract: what was sealed before the bit was set is visible. */
	return spindle_take_bits(word, mask);
}

/**
 * spindle_tb_copy_cell() - copy a cell of any row
 * @from: the cell
 * @n: words of a cell
 * @copy: out
 *
 * Return: true if the copy is one whole value, false if somebody was writing the cell
 */
bool spindle_tb_copy_cell(const u64 *from, u32 n, u64 *copy)
{
	u32 i;

	/* Pairs with (A) of the contract. */
	copy[n - 1] = smp_load_acquire(&from[n - 1]);
	for (i = 0; i < n - 1; i++)
		copy[i] = READ_ONCE(from[i]);
	/* The cell may be the guard, which is read in front of the other cells. */
	smp_rmb();
	return spindle_mix(copy, n - 1) == copy[n - 1];
}

/*
 * Copy the guard. A process that is writing it sets the bit again when it has sealed the next
 * version. So a copy that is half written is left alone. Nothing repeats the attempt, because a
 * process may write what has no seal for ever.
 */
static bool copy_guard(struct spindle_tb *tb)
{
	u32 n = tb->cell / sizeof(u64);
	u64 *copy = tb->next;

	tb->half = !spindle_tb_copy_cell((const u64 *)tb->row, n, copy);
	if (tb->half) {
		spindle_count(&tb->stats.half, 1);
		return false;
	}
	tb->next = tb->guard;
	tb->guard = copy;
	tb->word[SPINDLE_TB_GUARD] = copy[n - 2];
	return true;
}

static void mark(struct spindle_tb *tb, u32 w, u64 bits)
{
	u32 r;

	spindle_count(&tb->stats.cells, hweight64(bits));
	for (r = 0; r < tb->members; r++) {
		struct spindle_tb_member *m = &tb->member[r];

		if (r == tb->me)
			continue;
		m->lacks[w] |= bits;
		m->first = min(m->first, w);
		m->due = true;
		/* Pieces of an older guard are worth nothing. */
		if (!w && (bits & 1))
			m->piece = 0;
	}
}

/**
 * spindle_tb_set() - set a field of the own row
 * @tb: the table
 * @field: checked by spindle_tb_pred_check()
 * @value: its low bytes count
 *
 * The process does not write the cell, by the contract. If it does, the seal may be wrong.
 */
void spindle_tb_set(struct spindle_tb *tb, const struct spindle_field *field, u64 value)
{
	u64 *to = (u64 *)(tb->row + field->cell * tb->cell), mix = 0, word;
	u32 n = tb->cell / sizeof(u64), at = field->offset / sizeof(u64), i;
	u32 shift = 8 * (field->offset % sizeof(u64));
	u64 mask = (U64_MAX >> (64 - 8 * field->width)) << shift;

	WRITE_ONCE(to[at], (READ_ONCE(to[at]) & ~mask) | (value << shift & mask));
	WRITE_ONCE(to[n - 2], READ_ONCE(to[n - 2]) + 1);
	for (i = 0; i < n - 1; i++) {
		word = READ_ONCE(to[i]);
		mix = spindle_mix_next(mix, word);
	}
	/* As (A) of the contract. */
	smp_store_release(&to[n - 1], mix);
	if (field->cell || copy_guard(tb))
		mark(tb, field->cell / 64, BIT_ULL(field->cell % 64));
	tb->sets++;
}

/**
 * spindle_tb_take_dirty() - take what the process has marked
 * @tb: the table
 *
 * The guard comes first, see table.h.
 *
 * Return: true if there was something
 */
bool spindle_tb_take_dirty(struct spindle_tb *tb)
{
	u64 guard, bits;
	bool any = false;
	u32 w;

	if (!tb->dirty)
		return false;
	guard = take(&tb->dirty[0], 1);
	if (guard && copy_guard(tb)) {
		mark(tb, 0, 1);
		any = true;
	}
	for (w = 0; w < spindle_tb_words(tb); w++) {
		bits = take(&tb->dirty[w], w ? U64_MAX : ~1ULL) & spindle_tb_cells(tb, w);
		if (!bits)
			continue;
		mark(tb, w, bits);
		any = true;
	}
	return any;
}
