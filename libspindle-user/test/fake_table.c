// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls of the library over a table in memory. See fake_table.h.
 *
 * A channel from node to node has writes of cells, which are posted in the order of the contract. A
 * write reads words of the source and stores them at the destination, some in each step. Writes of
 * different cells overtake each other, but not the guard, unless the guard is vouched for.
 *
 * In mode read there are no such writes. A node reads the rows of all other members, the words of
 * each row in order, some in each step. Then it takes the whole cells, and the guard last, if all
 * the others were whole.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <linux/spindle_genl.h>
#include <spindle/table.h>

#include "fake_table.h"
#include "sys.h"

#define FILES		16
#define FD0		1000
#define OPS		256
#define WORDS		(SPINDLE_MAX_CELL / 8)
#define PAGE		4096
#define ROW_STRIDE	(1ULL << 20)
#define OLDS		64

enum cookie { CTL, USR, OWN, ROWS };

/* Offsets in ctl and usr. */
enum place {
	STATE = 0, ERROR = 4, NEED = 8, GENERATION = 16, SIGNALS = 24, FLUSHED = 32,
	REFRESHED = 40, VOUCHED = 64, FIRED = 1024, FIELDS = 2048,
	SEEN = 8, HEARD = 16, FLUSH = 24, SKIP = 32, REFRESH = 40, EVERY = 48, DIRTY = 64,
};

/* A predicate of a file, and what the engine remembers of it. */
struct pred {
	bool used, armed, held;
	struct spindle_predicate p;
};

struct file {
	bool used, attached, look;
	uint32_t node;		/* index */
	uint32_t flags;
	__u64 refresh;		/* that the present reads are for; 0: none */
	__u64 ctl[PAGE / 8], usr[PAGE / 8];
	struct pred pred[SPINDLE_MAX_PREDICATES];
};

struct op {
	uint32_t cell, read, written;
	bool done;
	uint64_t version;	/* of a whole guard */
	uint64_t copy[WORDS];
};

struct channel {
	struct op *op;
	uint32_t n;
};

/* A node reads the row of another one. */
struct pull {
	bool on;
	uint32_t at;		/* words that are read */
	__u64 copy[SPINDLE_MAX_TABLE_ROW / 8];
};

static struct {
	struct fake_table_opts o;
	struct file file[FILES];
	struct spindle_seat seat[FAKE_INSTANCES];
	uint32_t seats;
	uint64_t vid;
	uint32_t instance[FAKE_NODES];
	__u64 *row[FAKE_NODES][FAKE_INSTANCES];
	void *old[OLDS];
	uint32_t olds;
	struct channel ch[FAKE_NODES][FAKE_NODES];
	/* Cells that a node has not sent to another one that it skips. */
	__u64 lacks[FAKE_NODES][FAKE_NODES][SPINDLE_MAX_CELLS / 64];
	/* The pass of an engine, between the guard and the other cells. */
	bool in_pass[FAKE_NODES], has_guard[FAKE_NODES];
	uint64_t guard[FAKE_NODES][WORDS];
	/* Mode read: by reader and owner; the time, and when a node has begun to read. */
	struct pull pull[FAKE_NODES][FAKE_NODES];
	bool reads[FAKE_NODES], mute[FAKE_NODES];
	uint64_t now, began[FAKE_NODES];
	struct fake_table_report r;
	/* The newest whole values that have arrived, for predicates. */
	__u64 *whole[FAKE_NODES][FAKE_INSTANCES];
	/* Held while predicates are looked at, or changed; outside of lock. */
	pthread_mutex_t look_lock;
	pthread_mutex_t lock;
	pthread_cond_t work, change;
	pthread_t thread;
	bool running, stop, kicked;
} f = { .lock = PTHREAD_MUTEX_INITIALIZER, .look_lock = PTHREAD_MUTEX_INITIALIZER,
	 .work = PTHREAD_COND_INITIALIZER,
	.change = PTHREAD_COND_INITIALIZER };

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static uint32_t cell_words(void)
{
	return f.o.cell / 8;
}

static __u32 *ctl32(struct file *file, uint32_t at)
{
	return (__u32 *)((char *)file->ctl + at);
}

static __u64 load(const __u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void store(__u64 *p, __u64 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* A test may protect the pages of a row. */
static void *new_row(void)
{
	void *row = aligned_alloc(PAGE, SPINDLE_MAX_TABLE_ROW);

	if (!row)
		abort();
	return memset(row, 0, SPINDLE_MAX_TABLE_ROW);
}

void fake_table_setup(const struct fake_table_opts *o)
{
	uint32_t i, k;

	for (i = 0; i < FAKE_NODES; i++)
		for (k = 0; k < FAKE_INSTANCES; k++) {
			free(f.row[i][k]);
			free(f.whole[i][k]);
		}
	while (f.olds)
		free(f.old[--f.olds]);
	f.o = *o;
	f.o.cells = o->cells ? o->cells : 4;
	f.o.cell = o->cell ? o->cell : 64;
	f.r = (struct fake_table_report){ 0 };
	f.vid = 3;
	f.seats = FAKE_NODES;
	memset(f.file, 0, sizeof(f.file));
	memset(f.in_pass, 0, sizeof(f.in_pass));
	memset(f.reads, 0, sizeof(f.reads));
	memset(f.mute, 0, sizeof(f.mute));
	memset(f.began, 0, sizeof(f.began));
	f.now = 0;
	memset(f.lacks, 0, sizeof(f.lacks));
	memset(f.seat, 0, sizeof(f.seat));
	for (i = 0; i < FAKE_NODES; i++) {
		f.instance[i] = FAKE_INSTANCES - 1 - i;
		f.seat[i].node = i + 1;
		f.seat[i].sst = f.instance[i];
		for (k = 0; k < FAKE_INSTANCES; k++) {
			f.row[i][k] = new_row();
			f.whole[i][k] = new_row();
		}
		for (k = 0; k < FAKE_NODES; k++) {
			if (!f.ch[i][k].op)
				f.ch[i][k].op = calloc(OPS, sizeof(struct op));
			f.ch[i][k].n = 0;
			f.pull[i][k].on = false;
		}
	}
}

struct fake_table_report fake_table_look(void)
{
	return f.r;
}

/* ---- the engine ------------------------------------------------------- */

/* A row of this node may have changed. */
static void changed(uint32_t node)
{
	struct file *file;

	pthread_mutex_lock(&f.lock);
	for (file = f.file; file < f.file + FILES; file++)
		if (file->attached && file->node == node) {
			store(&file->ctl[GENERATION / 8], file->ctl[GENERATION / 8] + 1);
			__atomic_store_n(&file->look, true, __ATOMIC_SEQ_CST);
		}
	pthread_cond_broadcast(&f.change);
	pthread_mutex_unlock(&f.lock);
}

static struct file *writer_of(uint32_t node)
{
	struct file *file;

	for (file = f.file; file < f.file + FILES; file++)
		if (__atomic_load_n(&file->attached, __ATOMIC_ACQUIRE) && file->node == node &&
		    (file->flags & SPINDLE_TABLE_WRITE))
			return file;
	return NULL;
}

static __u64 *own_cell(uint32_t node, uint32_t cell)
{
	return f.row[node][f.instance[node]] + cell * cell_words();
}

static bool is_dirty(uint32_t node)
{
	struct file *w = writer_of(node);
	uint32_t i;

	for (i = 0; w && i < (f.o.cells + 63) / 64; i++)
		if (load(&w->usr[DIRTY / 8 + i]))
			return true;
	return false;
}

/* The first half of a pass: the bit of the guard, then a copy of it. */
static void take_guard(uint32_t node, struct file *w)
{
	uint32_t i;

	f.has_guard[node] = __atomic_fetch_and(&w->usr[DIRTY / 8], ~1ULL, __ATOMIC_SEQ_CST) & 1;
	for (i = 0; f.has_guard[node] && i < cell_words(); i++)
		f.guard[node][i] = load(own_cell(node, 0) + i);
	f.in_pass[node] = true;
}

static void post(uint32_t src, uint32_t dst, uint32_t cell)
{
	struct channel *ch = &f.ch[src][dst];
	uint32_t words = cell_words();
	struct op *op;

	if (ch->n == OPS)
		abort();
	op = &ch->op[ch->n++];
	memset(op, 0, offsetof(struct op, copy));
	op->cell = cell;
	if (cell)
		return;
	memcpy(op->copy, f.guard[src], words * 8);
	op->read = words;
	if (spindle_cell_mix((__u64 *)op->copy, words - 1) == op->copy[words - 1])
		op->version = op->copy[words - 2];
}

static bool is_skipped(const struct file *w, uint32_t dst)
{
	return load(&w->usr[SKIP / 8 + f.instance[dst] / 64]) >> f.instance[dst] % 64 & 1;
}

static bool lacks_any(uint32_t node, uint32_t dst)
{
	uint32_t i;

	for (i = 0; i < SPINDLE_MAX_CELLS / 64; i++)
		if (f.lacks[node][dst][i])
			return true;
	return false;
}

/* A node that is not skipped any more lacks some cells: send these to all, once more. */
static bool take_in(uint32_t node, struct file *w)
{
	bool any = false;
	uint32_t i, dst;

	for (dst = 0; dst < FAKE_NODES; dst++) {
		if (is_skipped(w, dst) || !lacks_any(node, dst))
			continue;
		for (i = 0; i < SPINDLE_MAX_CELLS / 64; i++)
			__atomic_fetch_or(&w->usr[DIRTY / 8 + i], f.lacks[node][dst][i],
					  __ATOMIC_SEQ_CST);
		memset(f.lacks[node][dst], 0, sizeof(f.lacks[node][dst]));
		any = true;
	}
	return any;
}

static bool flush_is_due(const struct file *w)
{
	return load(&w->usr[FLUSH / 8]) != load(&w->ctl[FLUSHED / 8]);
}

/* Everything that was marked before the process asked has arrived. */
static bool end_flush(uint32_t node, struct file *w)
{
	__u64 flush = load(&w->usr[FLUSH / 8]);
	uint32_t dst;

	if (flush == load(&w->ctl[FLUSHED / 8]) || f.in_pass[node] || is_dirty(node))
		return false;
	for (dst = 0; dst < FAKE_NODES; dst++)
		if (!is_skipped(w, dst) && (f.ch[node][dst].n || lacks_any(node, dst)))
			return false;
	pthread_mutex_lock(&f.lock);
	store(&w->ctl[FLUSHED / 8], flush);
	pthread_cond_broadcast(&f.change);
	pthread_mutex_unlock(&f.lock);
	return true;
}

/* The second half: the other bits, and the guard last. */
static void take_rest(uint32_t node, struct file *w)
{
	__u64 taken[SPINDLE_MAX_CELLS / 64] = { 0 };
	uint32_t i, dst;

	for (i = 0; i < (f.o.cells + 63) / 64; i++)
		taken[i] = __atomic_fetch_and(&w->usr[DIRTY / 8 + i], i ? 0 : 1ULL,
					      __ATOMIC_SEQ_CST) & (i ? ~0ULL : ~1ULL);
	for (dst = 0; dst < FAKE_NODES; dst++) {
		if (dst == node || f.o.read)
			continue;
		if (is_skipped(w, dst)) {
			for (i = 0; i < SPINDLE_MAX_CELLS / 64; i++)
				f.lacks[node][dst][i] |= taken[i];
			f.lacks[node][dst][0] |= f.has_guard[node];
			continue;
		}
		for (i = 1; i < f.o.cells; i++)
			if (taken[i / 64] >> i % 64 & 1)
				post(node, dst, i);
		if (f.has_guard[node])
			post(node, dst, 0);
	}
	f.in_pass[node] = false;
	changed(node);
}

/* ---- predicates ------------------------------------------------------- */

static bool is_whole(const __u64 *copy, uint32_t file_node, uint32_t instance, uint32_t cell,
		     const struct file *file)
{
	uint32_t words = cell_words();

	if (spindle_cell_mix(copy, words - 1) != copy[words - 1])
		return false;
	return cell || !f.o.vouch || instance == f.instance[file_node] ||
	       copy[words - 2] <= load(&file->ctl[VOUCHED / 8 + instance]);
}

/* The newest whole value of a cell. */
static const unsigned char *value_at(const struct file *file, uint32_t instance, uint32_t cell)
{
	__u64 *kept = f.whole[file->node][instance] + cell * cell_words();
	const __u64 *from = f.row[file->node][instance] + cell * cell_words();
	__u64 copy[WORDS];
	uint32_t i;

	copy[cell_words() - 1] = load(from + cell_words() - 1);
	for (i = 0; i < cell_words() - 1; i++)
		copy[i] = load(from + i);
	if (is_whole(copy, file->node, instance, cell, file))
		memcpy(kept, copy, f.o.cell);
	return (unsigned char *)kept;
}

/* Byte by byte, so that this has nothing in common with an engine. */
static __int128 field_of(const struct file *file, uint32_t instance, const struct spindle_field *at)
{
	const unsigned char *p = value_at(file, instance, at->cell) + at->offset;
	__int128 v = 0;
	int i;

	for (i = at->width - 1; i >= 0; i--)
		v = v * 256 + p[i];
	if ((at->flags & SPINDLE_FIELD_SIGNED) && (p[at->width - 1] & 0x80))
		return v - ((__int128)1 << 8 * at->width);
	return v;
}

static bool takes_row(const struct file *file, const struct spindle_number *n,
		      const struct spindle_seat *seat)
{
	uint32_t i;

	if (n->rows == SPINDLE_ROWS_ALL)
		return true;
	if (n->rows == SPINDLE_ROWS_OTHERS)
		return seat->sst != f.instance[file->node];
	for (i = 0; i < n->nodes; i++)
		if (n->node[i] == seat->node)
			return true;
	return false;
}

/* An integer of 64 bits, with a sign or not. */
static __int128 wrap(__int128 v, bool sign)
{
	uint64_t low = (uint64_t)v;

	return sign ? (__int128)(int64_t)low : (__int128)low;
}

/* The number over no rows. */
static __int128 fold_begin(uint32_t how, bool sign)
{
	__int128 one = 1;

	if (how == SPINDLE_FOLD_MIN)
		return (one << (sign ? 63 : 64)) - 1;
	return how == SPINDLE_FOLD_MAX && sign ? -(one << 63) : 0;
}

static __int128 fold(const struct file *file, const struct spindle_number *n, bool sign)
{
	__int128 v, all = fold_begin(n->fold, sign);
	uint32_t i;

	for (i = 0; i < f.seats; i++) {
		if (!takes_row(file, n, &f.seat[i]))
			continue;
		v = field_of(file, f.seat[i].sst, &n->field);
		if (n->fold == SPINDLE_FOLD_SUM)
			all += v;
		else if (n->fold == SPINDLE_FOLD_MIN ? v < all : v > all)
			all = v;
	}
	return all;
}

static __int128 number(const struct file *file, const struct spindle_number *n, bool sign)
{
	__int128 v = 0;

	if (n->fold == SPINDLE_FOLD_OWN)
		v = field_of(file, f.instance[file->node], &n->field);
	else if (n->fold != SPINDLE_FOLD_NONE)
		v = fold(file, n, sign);
	return wrap(v + (__int128)n->add, sign);
}

static bool compares(uint32_t how, __int128 a, __int128 b)
{
	switch (how) {
	case SPINDLE_CMP_EQ:
		return a == b;
	case SPINDLE_CMP_NE:
		return a != b;
	case SPINDLE_CMP_LT:
		return a < b;
	case SPINDLE_CMP_LE:
		return a <= b;
	case SPINDLE_CMP_GT:
		return a > b;
	}
	return a >= b;
}

static bool term_holds(const struct file *file, const struct spindle_term *t)
{
	bool sign = t->left.field.flags & SPINDLE_FIELD_SIGNED;
	__int128 v, right = number(file, &t->right, sign);
	uint32_t i, rows = 0, good = 0;

	if (t->left.fold != SPINDLE_FOLD_EACH)
		return compares(t->compare, number(file, &t->left, sign), right);
	for (i = 0; i < f.seats; i++) {
		if (!takes_row(file, &t->left, &f.seat[i]))
			continue;
		v = field_of(file, f.seat[i].sst, &t->left.field);
		rows++;
		good += compares(t->compare, wrap(v, sign), right);
	}
	return t->least == SPINDLE_ALL_ROWS ? good == rows : good >= t->least;
}

static bool holds(const struct file *file, const struct spindle_predicate *p)
{
	bool any = p->flags & SPINDLE_PREDICATE_ANY;
	uint32_t i;

	for (i = 0; i < p->terms; i++)
		if (term_holds(file, &p->term[i]) == any)
			return any;
	return !any;
}

static void set_field(struct file *file, const struct spindle_trigger *d)
{
	__u64 *cell = own_cell(file->node, d->field.cell);
	uint32_t words = cell_words(), i;
	__u64 copy[WORDS];
	uint64_t v;

	v = (uint64_t)number(file, &d->value, d->value.field.flags & SPINDLE_FIELD_SIGNED);
	memcpy(copy, value_at(file, f.instance[file->node], d->field.cell), f.o.cell);
	memcpy((char *)copy + d->field.offset, &v, d->field.width);
	copy[words - 2]++;
	copy[words - 1] = spindle_cell_mix(copy, words - 1);
	for (i = 0; i < words; i++)
		store(cell + i, copy[i]);
	__atomic_fetch_or(&file->usr[DIRTY / 8 + d->field.cell / 64], 1ULL << d->field.cell % 64,
			  __ATOMIC_SEQ_CST);
}

static void tell(struct file *file, uint32_t id)
{
	pthread_mutex_lock(&f.lock);
	store(&file->ctl[FIRED / 8 + id], file->ctl[FIRED / 8 + id] + 1);
	store(&file->ctl[SIGNALS / 8], file->ctl[SIGNALS / 8] + 1);
	pthread_cond_broadcast(&f.change);
	pthread_mutex_unlock(&f.lock);
}

static void run_trigger(struct file *file, uint32_t id, const struct spindle_trigger *d)
{
	struct pred *other = &file->pred[d->id];

	switch (d->what) {
	case SPINDLE_DO_SIGNAL:
		tell(file, id);
		break;
	case SPINDLE_DO_SET:
		set_field(file, d);
		__atomic_store_n(&file->look, true, __ATOMIC_SEQ_CST);
		break;
	case SPINDLE_DO_ARM:
		other->armed = other->used;
		other->held = false;
		__atomic_store_n(&file->look, true, __ATOMIC_SEQ_CST);
		break;
	case SPINDLE_DO_DISARM:
		other->armed = false;
		break;
	}
}

static void look_at(struct file *file, uint32_t id)
{
	struct pred *pred = &file->pred[id];
	bool held = pred->held;
	uint32_t i;

	pred->held = holds(file, &pred->p);
	if (!pred->held || (held && pred->p.kind == SPINDLE_KIND_TRANSITION))
		return;
	if (pred->p.kind == SPINDLE_KIND_ONCE)
		pred->armed = false;
	for (i = 0; i < pred->p.triggers; i++)
		run_trigger(file, id, &pred->p.trigger[i]);
}

/* One look at the predicates of a file. Return: were there any? */
static bool look(struct file *file)
{
	uint32_t id;
	bool any = false, due;

	pthread_mutex_lock(&f.look_lock);
	due = file->attached && __atomic_exchange_n(&file->look, false, __ATOMIC_SEQ_CST);
	for (id = 0; due && id < SPINDLE_MAX_PREDICATES; id++) {
		if (!file->pred[id].used || !file->pred[id].armed)
			continue;
		any = true;
		look_at(file, id);
	}
	f.r.looks += any;
	pthread_mutex_unlock(&f.look_lock);
	return any;
}

static bool step_predicates(uint32_t node)
{
	struct file *file;
	bool any = false;

	for (file = f.file; file < f.file + FILES; file++)
		if (__atomic_load_n(&file->attached, __ATOMIC_ACQUIRE) && file->node == node)
			any |= look(file);
	return any;
}

/* ---- mode read -------------------------------------------------------- */

static bool is_member(uint32_t node)
{
	uint32_t i;

	for (i = 0; i < f.seats; i++)
		if (f.seat[i].sst == f.instance[node])
			return true;
	return false;
}

static bool is_file_of(const struct file *file, uint32_t node)
{
	return __atomic_load_n(&file->attached, __ATOMIC_ACQUIRE) && file->node == node;
}

/* Does an attachment of the node want the rows to be read now? */
static bool reads_are_due(uint32_t node)
{
	const struct file *file;
	__u64 every;

	for (file = f.file; f.o.read && file < f.file + FILES; file++) {
		if (!is_file_of(file, node))
			continue;
		every = load(&file->usr[EVERY / 8]);
		if (load(&file->usr[REFRESH / 8]) != load(&file->ctl[REFRESHED / 8]) ||
		    (every && f.now - f.began[node] >= every))
			return true;
	}
	return false;
}

/* Note the refreshes before the first word is read. */
static void begin_reads(uint32_t node)
{
	struct file *file;
	uint32_t src;

	for (file = f.file; file < f.file + FILES; file++)
		if (is_file_of(file, node))
			file->refresh = load(&file->usr[REFRESH / 8]);
	for (src = 0; src < FAKE_NODES; src++) {
		f.pull[node][src].on = src != node && is_member(src);
		f.pull[node][src].at = 0;
	}
	f.began[node] = f.now;
	f.reads[node] = true;
	f.r.reads++;
}

static void end_reads(uint32_t node)
{
	struct file *file;

	f.reads[node] = false;
	pthread_mutex_lock(&f.lock);
	for (file = f.file; file < f.file + FILES; file++)
		if (is_file_of(file, node) && file->refresh)
			store(&file->ctl[REFRESHED / 8], file->refresh);
	pthread_cond_broadcast(&f.change);
	pthread_mutex_unlock(&f.lock);
}

static bool step_reads(uint32_t node)
{
	uint32_t src;

	if (!f.reads[node]) {
		if (!reads_are_due(node))
			return false;
		begin_reads(node);
		return true;
	}
	for (src = 0; src < FAKE_NODES; src++)
		if (f.pull[node][src].on)
			return false;
	end_reads(node);
	return true;
}

/* Take a cell that is whole and newer. Return: is it whole? */
static bool take_cell(const __u64 *from, __u64 *to, bool *news)
{
	uint32_t words = cell_words(), i;

	if (spindle_cell_mix(from, words - 1) != from[words - 1])
		return false;
	if (from[words - 2] <= load(to + words - 2))
		return true;
	*news = true;
	for (i = 0; i < words; i++)
		store(to + i, from[i]);
	return true;
}

static void take_row(uint32_t node, uint32_t src)
{
	const __u64 *from = f.pull[node][src].copy;
	__u64 *to = f.row[node][f.instance[src]];
	bool whole = true, news = false;
	uint32_t cell;

	for (cell = 1; cell < f.o.cells; cell++)
		whole &= take_cell(from + cell * cell_words(), to + cell * cell_words(), &news);
	if (whole)
		take_cell(from, to, &news);
	if (news)
		changed(node);
}

/* Read some words of another row. What was read of a member that has left is dropped. */
static bool step_pull(uint32_t src, uint32_t node, uint32_t words)
{
	struct pull *p = &f.pull[node][src];
	uint32_t all = f.o.cells * cell_words();

	if (!p->on || (f.mute[src] && is_member(src)))
		return false;
	for (; words && p->at < all; words--, p->at++)
		p->copy[p->at] = load(own_cell(src, 0) + p->at);
	p->on = p->at < all && is_member(src);
	if (p->at == all && is_member(src))
		take_row(node, src);
	return true;
}

void fake_table_pass(uint64_t us)
{
	f.now += us;
}

void fake_table_mute(uint32_t node, bool on)
{
	f.mute[node - 1] = on;
}

/* ---- passes ----------------------------------------------------------- */

static bool step_engine(uint32_t node)
{
	struct file *w = writer_of(node);

	if (step_predicates(node) || step_reads(node) ||
	    (w && (take_in(node, w) || end_flush(node, w))))
		return true;

	/* The kernel goes on with a pass when the writer has gone: its row is still there. */
	if (!w || (!f.in_pass[node] && !is_dirty(node)) || f.ch[node][!node].n > OPS - 70 ||
	    f.ch[node][node == 2 ? 1 : 2].n > OPS - 70) {
		if (!w)
			f.in_pass[node] = false;
		return false;
	}
	if (f.in_pass[node])
		take_rest(node, w);
	else
		take_guard(node, w);
	return true;
}

/* ---- the network ------------------------------------------------------ */

static bool may_run(const struct channel *ch, uint32_t at)
{
	uint32_t i;

	if (ch->op[at].done)
		return false;
	for (i = 0; i < at; i++) {
		if (ch->op[i].done)
			continue;
		if (ch->op[i].cell == ch->op[at].cell)
			return false;
		if (!f.o.vouch && (!ch->op[i].cell || !ch->op[at].cell))
			return false;
	}
	return true;
}

static void move(uint32_t src, uint32_t dst, struct op *op, uint32_t words)
{
	__u64 *to = f.row[dst][f.instance[src]] + op->cell * cell_words();
	const __u64 *from = own_cell(src, op->cell);
	uint32_t all = cell_words();

	for (; words; words--) {
		if (op->read < all) {
			op->copy[op->read] = load(from + op->read);
			op->read++;
		} else if (op->written < all) {
			store(to + op->written, op->copy[op->written]);
			op->written++;
		}
	}
	op->done = op->written == all;
}

/* All writes in front of a guard have arrived. */
static void vouch(uint32_t src, uint32_t dst, uint64_t version)
{
	struct file *file;
	__u64 *word;

	for (file = f.file; file < f.file + FILES; file++) {
		word = &file->ctl[VOUCHED / 8 + f.instance[src]];
		if (file->attached && file->node == dst && version > *word)
			store(word, version);
	}
}

static void retire(uint32_t src, uint32_t dst)
{
	struct channel *ch = &f.ch[src][dst];
	uint32_t i;

	for (i = 0; i < ch->n && ch->op[i].done; i++)
		if (!ch->op[i].cell)
			vouch(src, dst, ch->op[i].version);
	memmove(ch->op, ch->op + i, (ch->n - i) * sizeof(*ch->op));
	ch->n -= i;
}

static bool step_channel(uint32_t src, uint32_t dst, uint32_t *seed)
{
	struct channel *ch = &f.ch[src][dst];
	uint32_t i, at;

	if (f.o.read)
		return step_pull(src, dst, 1 + rnd(seed) % (2 * cell_words()));
	if (!ch->n)
		return false;
	at = rnd(seed) % ch->n;
	for (i = 0; !may_run(ch, (at + i) % ch->n); i++)
		;
	at = (at + i) % ch->n;
	move(src, dst, &ch->op[at], 1 + rnd(seed) % (2 * cell_words()));
	if (ch->op[at].done) {
		retire(src, dst);
		changed(dst);
	}
	return true;
}

bool fake_table_step(uint32_t *seed)
{
	uint32_t first = rnd(seed), i, n;

	for (i = 0; i < FAKE_NODES * (FAKE_NODES + 1); i++) {
		n = (first + i) % (FAKE_NODES * (FAKE_NODES + 1));
		if (n < FAKE_NODES ? step_engine(n) :
		    step_channel((n - FAKE_NODES) / FAKE_NODES, n % FAKE_NODES, seed))
			return true;
	}
	return false;
}

void fake_table_settle(uint32_t *seed)
{
	while (fake_table_step(seed))
		;
}

bool fake_table_is_calm(uint32_t node)
{
	const struct channel *ch;
	uint32_t src, i;

	for (src = 0; src < FAKE_NODES; src++) {
		ch = &f.ch[src][node];
		for (i = 0; i < ch->n; i++)
			if (ch->op[i].written && !ch->op[i].done)
				return false;
	}
	return true;
}

void fake_table_sleep(bool on)
{
	struct file *file;

	for (file = f.file; file < f.file + FILES; file++)
		__atomic_store_n(ctl32(file, NEED), on, __ATOMIC_SEQ_CST);
}

void fake_table_final(uint32_t state, uint32_t error)
{
	struct file *file;

	pthread_mutex_lock(&f.lock);
	for (file = f.file; file < f.file + FILES; file++) {
		__atomic_store_n(ctl32(file, ERROR), error, __ATOMIC_RELEASE);
		__atomic_store_n(ctl32(file, STATE), state, __ATOMIC_RELEASE);
	}
	pthread_cond_broadcast(&f.change);
	pthread_mutex_unlock(&f.lock);
}

void fake_table_view(const struct spindle_seat *seat, uint32_t n)
{
	uint32_t i, node;

	pthread_mutex_lock(&f.look_lock);
	memcpy(f.seat, seat, n * sizeof(*seat));
	f.seats = n;
	f.vid++;
	for (i = 0; i < n; i++) {
		if (!(seat[i].flags & SPINDLE_SEAT_JOINED))
			continue;
		for (node = 0; node < FAKE_NODES; node++) {
			f.old[f.olds++] = f.row[node][seat[i].sst];
			f.row[node][seat[i].sst] = new_row();
			memset(f.whole[node][seat[i].sst], 0, SPINDLE_MAX_TABLE_ROW);
		}
	}
	pthread_mutex_unlock(&f.look_lock);
	for (node = 0; node < FAKE_NODES; node++)
		changed(node);
}

/* ---- the engine as a thread ------------------------------------------- */

static bool any_work(void)
{
	const struct file *w;
	uint32_t node;

	for (node = 0; node < FAKE_NODES; node++) {
		w = writer_of(node);
		if (is_dirty(node) || (w && flush_is_due(w)) || reads_are_due(node))
			return true;
	}
	return false;
}

static bool any_look(void)
{
	const struct file *file;

	for (file = f.file; file < f.file + FILES; file++)
		if (file->attached && __atomic_load_n(&file->look, __ATOMIC_SEQ_CST))
			return true;
	return false;
}

/* Does time let a read begin? */
static bool any_every(void)
{
	const struct file *file;

	for (file = f.file; f.o.read && file < f.file + FILES; file++)
		if (__atomic_load_n(&file->attached, __ATOMIC_ACQUIRE) &&
		    load(&file->usr[EVERY / 8]))
			return true;
	return false;
}

static void deadline_in(struct timespec *ts, long ms)
{
	clock_gettime(CLOCK_REALTIME, ts);
	ts->tv_sec += ms / 1000;
	ts->tv_nsec += ms % 1000 * 1000000;
	ts->tv_sec += ts->tv_nsec / 1000000000;
	ts->tv_nsec %= 1000000000;
}

static void doze(void)
{
	struct timespec ts;
	int err = 0;

	fake_table_sleep(true);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	pthread_mutex_lock(&f.lock);
	deadline_in(&ts, 2000);
	while (!f.kicked && !f.stop && !err && !any_work() && !any_look())
		err = pthread_cond_timedwait(&f.work, &f.lock, &ts);
	if (err && !f.kicked && any_work())
		f.r.lost++;
	f.kicked = false;
	pthread_mutex_unlock(&f.lock);
	fake_table_sleep(false);
}

static void *engine(void *arg)
{
	uint32_t seed = 1;

	(void)arg;
	while (!__atomic_load_n(&f.stop, __ATOMIC_ACQUIRE))
		if (!fake_table_step(&seed)) {
			if (any_every())
				fake_table_pass(1);
			else
				doze();
		}
	return NULL;
}

void fake_table_start(void)
{
	f.stop = false;
	f.running = true;
	pthread_create(&f.thread, NULL, engine, NULL);
}

void fake_table_stop(void)
{
	pthread_mutex_lock(&f.lock);
	__atomic_store_n(&f.stop, true, __ATOMIC_RELEASE);
	pthread_cond_signal(&f.work);
	pthread_mutex_unlock(&f.lock);
	pthread_join(f.thread, NULL);
	f.running = false;
}

/* ---- system calls ----------------------------------------------------- */

static void hook(enum fake_call call)
{
	if (f.o.hook)
		f.o.hook(call);
}

int spindle_sys_open(const char *path, int flags)
{
	int i;

	(void)flags;
	if (strcmp(path, SPINDLE_TABLE_DEVICE))
		return -ENOENT;
	for (i = 0; f.file[i].used; i++)
		;
	memset(&f.file[i], 0, sizeof(f.file[i]));
	f.file[i].used = true;
	f.r.open_files++;
	return FD0 + i;
}

void spindle_sys_close(int fd)
{
	struct file *file = &f.file[fd - FD0];
	uint32_t id;

	pthread_mutex_lock(&f.look_lock);
	for (id = 0; id < SPINDLE_MAX_PREDICATES; id++)
		f.r.predicates -= file->pred[id].used;
	__atomic_store_n(&file->attached, false, __ATOMIC_RELEASE);
	file->used = false;
	f.r.open_files--;
	pthread_mutex_unlock(&f.look_lock);
}

/* Wake the engine, as each request to it does. */
static void wake_engine(void)
{
	pthread_mutex_lock(&f.lock);
	f.kicked = true;
	pthread_cond_signal(&f.work);
	pthread_mutex_unlock(&f.lock);
}

/* A new writer: send again what the one before has left. */
static void adopt_row(struct file *file)
{
	uint32_t cell;

	for (cell = 0; cell < f.o.cells; cell++)
		if (load(own_cell(file->node, cell) + cell_words() - 2))
			file->usr[DIRTY / 8 + cell / 64] |= 1ULL << cell % 64;
}

static int do_attach(struct file *file, struct spindle_table_attach *a)
{
	if (f.o.attach_err)
		return -f.o.attach_err;
	if (a->flags & ~(SPINDLE_TABLE_WRITE | SPINDLE_TABLE_SIGNALS))
		return -EINVAL;
	if (!a->node || a->node > FAKE_NODES)
		return -ENODEV;
	if ((a->flags & SPINDLE_TABLE_WRITE) && writer_of(a->node - 1))
		return -EBUSY;
	file->node = a->node - 1;
	file->flags = a->flags;
	*a = (struct spindle_table_attach){
		.size = sizeof(*a), .node = a->node, .table = 2, .flags = a->flags,
		.features = SPINDLE_TABLE_FEAT_LIVE |
			    (f.o.vouch ? SPINDLE_TABLE_FEAT_VOUCH : 0),
		.vid = f.vid, .members = FAKE_NODES, .rank = file->node, .cells = f.o.cells,
		.cell = f.o.cell, .own_instance = f.instance[file->node],
		.instances = FAKE_INSTANCES, .row_stride = ROW_STRIDE, .ctl_state = STATE,
		.ctl_error = ERROR, .ctl_need_wakeup = NEED, .ctl_generation = GENERATION,
		.ctl_vouched = VOUCHED, .usr_seen = SEEN, .usr_dirty = DIRTY,
		.ctl_signals = SIGNALS, .ctl_fired = FIRED, .usr_heard = HEARD,
		.ctl_flushed = FLUSHED, .usr_flush = FLUSH, .usr_skip = SKIP, .ctl_fields = FIELDS,
		.mode = f.o.read ? SPINDLE_MODE_TABLE_READ : SPINDLE_MODE_TABLE,
		.ctl_refreshed = REFRESHED, .usr_refresh = REFRESH, .usr_every = EVERY,
		.ctl = { CTL << 12, PAGE }, .usr = { USR << 12, PAGE }, .own = { OWN << 12, },
		.rows = { (__u64)ROWS << 20, SPINDLE_MAX_TABLE_ROW },
	};
	if (a->flags & SPINDLE_TABLE_WRITE) {
		a->own.len = SPINDLE_MAX_TABLE_ROW;
		adopt_row(file);
	}
	/* The word behind the counters is none of them. */
	file->ctl[FIRED / 8 + SPINDLE_MAX_PREDICATES] = 77;
	if (f.o.fields)
		strcpy((char *)file->ctl + FIELDS, f.o.fields);
	*ctl32(file, STATE) = SPINDLE_STATE_ACTIVE;
	__atomic_store_n(&file->attached, true, __ATOMIC_RELEASE);
	/* The new control page does not say yet that the engine sleeps. */
	wake_engine();
	if (f.o.mangle)
		f.o.mangle(a);
	return 0;
}

static int do_seats(const struct file *file, struct spindle_seats *s)
{
	struct spindle_seat *to = (void *)(uintptr_t)s->ptr;
	uint32_t i, room = s->count;

	if (s->vid && s->vid != f.vid)
		return -ESTALE;
	s->vid = f.vid;
	s->count = f.seats;
	if (room < f.seats)
		return -ENOSPC;
	for (i = 0; i < f.seats; i++) {
		to[i] = f.seat[i];
		to[i].flags |= to[i].sst == f.instance[file->node] ? SPINDLE_SEAT_ME : 0;
	}
	return 0;
}

/* ---- predicates come and go ------------------------------------------- */

static bool field_ok(const struct spindle_field *at)
{
	return (at->width == 1 || at->width == 2 || at->width == 4 || at->width == 8) &&
	       !(at->flags & ~SPINDLE_FIELD_SIGNED) && !at->resv && at->cell < f.o.cells &&
	       at->offset % at->width == 0 && at->offset + at->width <= f.o.cell - 16;
}

static bool is_zero(const void *p, size_t len)
{
	const unsigned char *byte = p;

	while (len && !byte[len - 1])
		len--;
	return !len;
}

static bool nodes_ok(const struct spindle_number *n, uint32_t nodes)
{
	uint32_t i;

	for (i = 0; i < nodes; i++)
		if (!n->node[i])
			return false;
	return is_zero(n->node + nodes, (SPINDLE_MAX_ROW_NODES - nodes) * 4);
}

static bool number_ok(const struct spindle_number *n, bool each)
{
	uint32_t nodes = n->rows == SPINDLE_ROWS_NODES ? n->nodes : 0;

	if (n->fold > SPINDLE_FOLD_SUM || n->resv || (n->fold == SPINDLE_FOLD_EACH && !each))
		return false;
	if (n->nodes != nodes || nodes > SPINDLE_MAX_ROW_NODES || n->rows > SPINDLE_ROWS_NODES ||
	    (n->rows == SPINDLE_ROWS_NODES && !nodes) || !nodes_ok(n, nodes))
		return false;
	if (n->fold == SPINDLE_FOLD_NONE)
		return !n->rows && is_zero(&n->field, sizeof(n->field));
	return field_ok(&n->field) && (n->fold != SPINDLE_FOLD_OWN || !n->rows);
}

static bool term_ok(const struct spindle_term *t)
{
	if (t->compare > SPINDLE_CMP_GE || !number_ok(&t->left, true) ||
	    !number_ok(&t->right, false) || t->left.fold == SPINDLE_FOLD_NONE)
		return false;
	if (t->right.fold && t->right.field.flags != t->left.field.flags)
		return false;
	if (t->left.fold == SPINDLE_FOLD_EACH)
		return t->least && !t->left.add;
	return !t->least;
}

static int trigger_err(const struct file *file, const struct spindle_trigger *d)
{
	bool id = d->what == SPINDLE_DO_ARM || d->what == SPINDLE_DO_DISARM;

	if (d->what > SPINDLE_DO_DISARM || d->id >= (id ? SPINDLE_MAX_PREDICATES : 1))
		return -EINVAL;
	if (d->what != SPINDLE_DO_SET)
		return is_zero(&d->field, sizeof(d->field) + sizeof(d->value)) ? 0 : -EINVAL;
	if (!field_ok(&d->field) || !number_ok(&d->value, false))
		return -EINVAL;
	return file->flags & SPINDLE_TABLE_WRITE ? 0 : -EBADF;
}

static int parts_err(const struct file *file, struct spindle_predicate *p)
{
	uint32_t i;
	int err;

	for (i = 0; i < SPINDLE_MAX_TERMS; i++) {
		p->bad = 1 + i;
		if (i < p->terms ? !term_ok(&p->term[i]) : !is_zero(&p->term[i], sizeof(*p->term)))
			return -EINVAL;
	}
	for (i = 0; i < SPINDLE_MAX_TRIGGERS; i++) {
		p->bad = SPINDLE_BAD_TRIGGER + i;
		err = i < p->triggers ? trigger_err(file, &p->trigger[i]) :
		      is_zero(&p->trigger[i], sizeof(*p->trigger)) ? 0 : -EINVAL;
		if (err)
			return err;
	}
	p->bad = 0;
	return 0;
}

static int predicate_err(const struct file *file, struct spindle_predicate *p)
{
	if (p->size != sizeof(*p))
		return -EPROTONOSUPPORT;
	if (p->kind > SPINDLE_KIND_TRANSITION || p->resv || p->bad || !p->terms ||
	    p->terms > SPINDLE_MAX_TERMS || !p->triggers || p->triggers > SPINDLE_MAX_TRIGGERS ||
	    (p->id >= SPINDLE_MAX_PREDICATES && p->id != SPINDLE_ANY_ID) ||
	    (p->flags & ~(SPINDLE_PREDICATE_ANY | SPINDLE_PREDICATE_DISARMED)))
		return -EINVAL;
	return parts_err(file, p);
}

static int choose_id(const struct file *file, struct spindle_predicate *p)
{
	uint32_t id;

	if (p->id != SPINDLE_ANY_ID)
		return file->pred[p->id].used ? -EBUSY : 0;
	for (id = 0; id < SPINDLE_MAX_PREDICATES; id++) {
		if (file->pred[id].used)
			continue;
		p->id = id;
		return 0;
	}
	return -ENOSPC;
}

static int add_locked(struct file *file, struct spindle_predicate *p)
{
	int err = f.o.add_err ? -f.o.add_err : predicate_err(file, p);

	if (!err && *ctl32(file, STATE) > SPINDLE_STATE_ACTIVE)
		err = -ENOTCONN;
	if (!err)
		err = choose_id(file, p);
	if (err)
		return err;
	file->pred[p->id] = (struct pred){
		.used = true, .armed = !(p->flags & SPINDLE_PREDICATE_DISARMED), .p = *p,
	};
	store(&file->ctl[FIRED / 8 + p->id], 0);
	f.r.predicates++;
	__atomic_store_n(&file->look, true, __ATOMIC_SEQ_CST);
	wake_engine();
	return 0;
}

static int do_add(struct file *file, struct spindle_predicate *p)
{
	int err;

	pthread_mutex_lock(&f.look_lock);
	err = add_locked(file, p);
	if (f.o.mangle_add)
		f.o.mangle_add(p);
	pthread_mutex_unlock(&f.look_lock);
	return err;
}

static int do_remove(struct file *file, uintptr_t id)
{
	int err = -ENOENT;

	pthread_mutex_lock(&f.look_lock);
	if (id < SPINDLE_MAX_PREDICATES && file->pred[id].used) {
		file->pred[id].used = false;
		f.r.predicates--;
		err = 0;
	}
	pthread_mutex_unlock(&f.look_lock);
	return err;
}

/* ---- other system calls ----------------------------------------------- */

int spindle_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	struct file *file = &f.file[fd - FD0];

	switch (cmd) {
	case SPINDLE_TABLE_IOC_ATTACH:
		return do_attach(file, arg);
	case SPINDLE_TABLE_IOC_SEATS:
		return do_seats(file, arg);
	case SPINDLE_TABLE_IOC_ADD:
		return do_add(file, arg);
	case SPINDLE_TABLE_IOC_REMOVE:
		return do_remove(file, (uintptr_t)arg);
	case SPINDLE_TABLE_IOC_KICK:
		hook(FAKE_KICK);
		pthread_mutex_lock(&f.lock);
		f.r.kicks++;
		pthread_mutex_unlock(&f.lock);
		wake_engine();
		return 0;
	}
	return -ENOTTY;
}

static int find(struct file *file, uint64_t cookie, void **addr)
{
	uint64_t row = (cookie - ((__u64)ROWS << 20)) / ROW_STRIDE;

	if (cookie == CTL << 12)
		*addr = file->ctl;
	else if (cookie == USR << 12)
		*addr = file->usr;
	else if (cookie == OWN << 12)
		*addr = f.row[file->node][f.instance[file->node]];
	else if (cookie % ROW_STRIDE || row >= FAKE_INSTANCES)
		return -EINVAL;
	else if (f.o.map_err)
		return -f.o.map_err;
	else
		*addr = f.row[file->node][row];
	return 0;
}

int spindle_sys_mmap(int fd, uint64_t cookie, size_t len, int prot, int flags, void **addr)
{
	int err;

	(void)prot;
	(void)flags;
	if (len > SPINDLE_MAX_TABLE_ROW)
		return -EINVAL;
	if (cookie >= (__u64)ROWS << 20)
		hook(FAKE_ROW);
	err = find(&f.file[fd - FD0], cookie, addr);
	f.r.mappings += !err;
	return err;
}

void spindle_sys_munmap(void *addr, size_t len)
{
	(void)addr;
	(void)len;
	f.r.mappings--;
}

ssize_t spindle_sys_read(int fd, void *buf, size_t len)
{
	(void)fd;
	(void)buf;
	(void)len;
	return -EBADF;
}

/* Without the thread nothing would wake a sleeper: the time is up at once. */
int spindle_sys_poll(int fd, short events, short *revents, const struct timespec *timeout)
{
	struct file *file = &f.file[fd - FD0];
	struct timespec ts;
	int err = 0;

	hook(FAKE_POLL);
	deadline_in(&ts, timeout ? timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000 + 1 : 20000);
	*revents = 0;
	pthread_mutex_lock(&f.lock);
	while (!*revents && !err) {
		if (!(file->flags & SPINDLE_TABLE_SIGNALS) &&
		    load(&file->ctl[GENERATION / 8]) != load(&file->usr[SEEN / 8]))
			*revents |= events & POLLIN;
		if (load(&file->ctl[SIGNALS / 8]) != load(&file->usr[HEARD / 8]))
			*revents |= events & POLLPRI;
		if ((file->flags & SPINDLE_TABLE_WRITE) && !flush_is_due(file))
			*revents |= events & POLLOUT;
		if (load(&file->ctl[REFRESHED / 8]) == load(&file->usr[REFRESH / 8]))
			*revents |= events & POLLRDBAND;
		if (*ctl32(file, STATE) > SPINDLE_STATE_ACTIVE)
			*revents |= POLLERR | POLLHUP;
		if (!*revents)
			err = f.running ? pthread_cond_timedwait(&f.change, &f.lock, &ts) : 1;
	}
	/* A process that waits without limit is woken sooner. */
	if (err && f.running && !timeout) {
		f.r.lost++;
		err = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&f.lock);
	return err < 0 ? err : *revents != 0;
}
