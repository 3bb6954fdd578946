// SPDX-License-Identifier: MIT
/*
 * Cells of tables: write them, read them, copy all of them.
 *
 * Three pairs of barriers order the accesses of writer and engine, and of writer and reader.
 * <linux/spindle_table.h> uses the same letters:
 *
 *	writer					engine, or a reader
 *
 *	STORE value, version			reader: LOAD seal	    (A)
 *	STORE seal		   (A)		LOAD value, version; fence; mix
 *	OR usr.dirty		   (B)		engine: LOAD usr.flush	    (D)
 *	STORE usr.flush		   (D)		take usr.dirty		    (B)
 *						LOAD the cell
 *
 * (A) Without it a reader could find the seal of a version, and then, in the other cells, values
 *     that are older than the guard promises.
 * (B) Without it the engine could push the cell as it was before, and nobody pushes it again.
 * (D) Without it the engine could end a flush that cells marked before it had no part in.
 *
 * That a value is whole does not depend on an order, because the mix of the copy decides. The
 * owner, the device and the reader may touch the cell at the same time, so its words are loaded and
 * stored one by one.
 *
 * The mark of a cell comes before the load of need_wakeup, with a full barrier in between (C). The
 * engine stores need_wakeup, then looks for marks. At least one of them sees the store of the
 * other.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "table.h"

/* How often a reader looks at a cell that is being written. A write takes less time than that. */
#define LOOKS	4
/* How often an atomic snapshot collects the rows. */
#define PASSES	16

#define CELL_WORDS	(SPINDLE_MAX_CELL / 8)

static uint32_t words_of(const struct spindle_table *t)
{
	return t->cell / 8;
}

static spindle_word *own_cell(const struct spindle_table *t, uint32_t cell)
{
	return (spindle_word *)(void *)(t->own + (size_t)cell * t->cell);
}

/* ---- write ------------------------------------------------------------ */

void *spindle_cell_begin(struct spindle_table *t, uint32_t cell)
{
	return t->own && cell < t->cells ? own_cell(t, cell) : NULL;
}

/* Tell the engine that a cell has changed. Bits of other cells may be set at the same time. */
static void mark(struct spindle_table *t, uint32_t cell)
{
	__u64 *word = &t->usr_dirty[cell / 64];

	__atomic_fetch_or(word, 1ULL << cell % 64, __ATOMIC_RELEASE);	/* B */
}

int spindle_cell_seal(struct spindle_table *t, uint32_t cell)
{
	uint32_t seal = words_of(t) - 1, version = seal - 1;
	spindle_word *w;

	if (!t->own)
		return -EBADF;
	if (cell >= t->cells)
		return -EINVAL;
	w = own_cell(t, cell);
	/* The row outlives its writer, so the version of the writer before is there. */
	__atomic_store_n(&w[version], w[version] + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&w[seal], spindle_cell_mix(w, seal), __ATOMIC_RELEASE);	/* A */
	mark(t, cell);
	return 0;
}

int spindle_table_wake(struct spindle_table *t)
{
	spindle_mb();					/* C */
	if (spindle_table_state(t) > SPINDLE_STATE_ACTIVE)
		return -EPIPE;
	if (spindle_load_once32(t->ctl_need_wakeup))
		return spindle_sys_ioctl(t->fd, SPINDLE_TABLE_IOC_KICK, NULL);
	return 0;
}

int spindle_table_push(struct spindle_table *t)
{
	return t->own ? spindle_table_wake(t) : -EBADF;
}

int spindle_cell_end(struct spindle_table *t, uint32_t cell)
{
	int err = spindle_cell_seal(t, cell);

	return err ? err : spindle_table_push(t);
}

int spindle_cell_put(struct spindle_table *t, uint32_t cell, const void *p, uint32_t len)
{
	__u64 value[CELL_WORDS] = { 0 };
	spindle_word *w;
	uint32_t i;

	if (!t->own)
		return -EBADF;
	if (cell >= t->cells)
		return -EINVAL;
	if (len > spindle_cell_bytes(t))
		return -EMSGSIZE;
	if (len)
		memcpy(value, p, len);
	w = own_cell(t, cell);
	for (i = 0; i < spindle_cell_bytes(t) / 8; i++)
		__atomic_store_n(&w[i], value[i], __ATOMIC_RELAXED);
	return spindle_cell_end(t, cell);
}

int spindle_table_skip(struct spindle_table *t, uint32_t instance, bool skip)
{
	__u64 bit = 1ULL << instance % 64, *word;

	if (!t->own)
		return -EBADF;
	if (t->read)
		return -EOPNOTSUPP;
	if (instance >= t->instances || instance == t->own_instance)
		return -EINVAL;
	word = &t->usr_skip[instance / 64];
	if (skip) {
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
		return 0;
	}
	__atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
	return spindle_table_push(t);
}

/* ---- read ------------------------------------------------------------- */

/* Copy a cell. Return: is the copy whole? */
static bool look(const spindle_word *w, spindle_word *copy, uint32_t words)
{
	uint32_t i;

	copy[words - 1] = __atomic_load_n(&w[words - 1], __ATOMIC_ACQUIRE);	/* A */
	for (i = 0; i < words - 1; i++)
		copy[i] = __atomic_load_n(&w[i], __ATOMIC_RELAXED);
	/* What the caller reads next is not older than this copy. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return spindle_cell_mix(copy, words - 1) == copy[words - 1];
}

/*
 * May this version of the guard be believed? The own row is not sent to this node: its cells are
 * seen in the order in which the writer has stored them, and need no vouching.
 */
static bool is_vouched(const struct spindle_table *t, uint32_t instance, uint64_t version)
{
	return !(t->features & SPINDLE_TABLE_FEAT_VOUCH) || instance == t->own_instance ||
	       version <= spindle_load_acquire(&t->ctl_vouched[instance]);
}

/* Copy a cell of a member's row with its seal. Return: 0, or -EAGAIN and the copy is of no use. */
static int read_cell(const struct spindle_table *t, uint32_t instance, uint32_t cell,
		     spindle_word *copy)
{
	const unsigned char *row = t->rows->row[instance].addr;
	const spindle_word *w = (const void *)(row + (size_t)cell * t->cell);
	uint32_t words = words_of(t);
	int i;

	for (i = 0; i < LOOKS; i++)
		if (look(w, copy, words))
			return cell || is_vouched(t, instance, copy[words - 2]) ? 0 : -EAGAIN;
	return -EAGAIN;
}

int spindle_cell_get(const struct spindle_table *t, uint32_t instance, uint32_t cell, void *p,
		     uint32_t len, uint64_t *version)
{
	spindle_word copy[CELL_WORDS];
	int err;

	if (cell >= t->cells || len > spindle_cell_bytes(t))
		return -EINVAL;
	if (!t->rows || instance >= t->rows->instances || !t->rows->row[instance].len)
		return -ENOENT;
	err = read_cell(t, instance, cell, copy);
	if (err)
		return err;
	if (len)
		memcpy(p, copy, len);
	if (version)
		*version = copy[words_of(t) - 2];
	return 0;
}

/* ---- all rows --------------------------------------------------------- */

/* What a collection has found. */
struct pass {
	uint32_t torn;
	uint32_t changed;	/* cells with another version than in the collection before */
};

static void collect_cell(const struct spindle_table *t, uint32_t instance, uint32_t cell,
			 spindle_word *to, struct pass *p)
{
	spindle_word copy[CELL_WORDS];
	uint32_t words = words_of(t);

	if (read_cell(t, instance, cell, copy)) {
		p->torn++;
		memset(to, 0, t->cell);
		return;
	}
	if (to[words - 2] != copy[words - 2] || to[words - 1] != copy[words - 1])
		p->changed++;
	memcpy(to, copy, t->cell);
}

static struct pass collect(const struct spindle_table *t, unsigned char *buf)
{
	const struct spindle_rows *r = t->rows;
	struct pass p = { 0, 0 };
	uint32_t rank, cell;

	for (rank = 0; rank < r->members; rank++)
		for (cell = 0; cell < t->cells; cell++, buf += t->cell)
			collect_cell(t, r->seat[rank].sst, cell, (void *)buf, &p);
	return p;
}

/*
 * Versions only grow. So if a collection finds the versions of the one before, each cell has kept
 * its value from the end of that one to the begin of this one, and all were there in between. A
 * torn cell is no version: neither collection may have any.
 */
int spindle_table_snapshot(const struct spindle_table *t, void *buf, size_t bytes,
			   unsigned int flags, struct spindle_snapshot *info)
{
	bool torn_before = true;
	struct pass p;

	if (!t->rows)
		return -EBADF;
	if ((flags & ~SPINDLE_SNAPSHOT_ATOMIC) || (uintptr_t)buf % 8)
		return -EINVAL;
	if (bytes / spindle_table_row_bytes(t) < t->rows->members)
		return -ENOSPC;
	*info = (struct spindle_snapshot){ .vid = t->rows->vid, .rows = t->rows->members };
	do {
		p = collect(t, buf);
		info->passes++;
		info->torn = p.torn;
		if (!(flags & SPINDLE_SNAPSHOT_ATOMIC) ||
		    (!torn_before && !p.torn && !p.changed))
			return 0;
		torn_before = p.torn != 0;
	} while (info->passes < PASSES);
	return -EAGAIN;
}
