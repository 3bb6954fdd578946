// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table: processes that write rows, engines that push them, devices that read memory late and store
 * it word by word, and readers. Any step of one may come between any two steps of another.
 *
 * Of each value the test knows the bytes, from owner, cell and version. So a reader that accepts a
 * cell can tell whether it is a whole value of its owner.
 */
#include "core/table/predicate.h"
#include "rng.h"
#include "tap.h"
#include "world.h"

#define NODES		4U
#define QUEUE		512U
#define SKEW		64U	/* rows have other offsets at other members */
#define GUARDS		4096U
#define MAX_WORDS	(SPINDLE_MAX_TABLE_ROW / 8)

/* One write on its way, as the device has it. */
struct flight {
	struct spindle_write write;
	u64 copy[8];	/* of an inline write */
	u32 first;	/* word that is stored first */
	u32 done;	/* words that are stored */
};

struct wire {
	struct flight flight[QUEUE];
	u64 head, tail;
};

/* A process in the middle of an update of a cell. */
struct writer {
	u32 cell, at;
	u64 version;
	bool busy;
};

struct host {
	struct spindle_tb tb;
	struct spindle_tb_member member[NODES];
	u64 guard[3][SPINDLE_MAX_CELL / 8];	/* and a copy of a cell */
	u64 dirty[SPINDLE_TB_WORDS];
	u64 ask, skip[1];
	/* Rows as this node has them; each has a block behind its cells. */
	u64 row[NODES][SKEW / 8 + MAX_WORDS + 8];
	u32 vouch[NODES];
	struct wire to[NODES];
	struct writer writer;
	/* Versions that this node's readers have seen. */
	u64 seen[NODES][SPINDLE_MAX_CELLS];
	/* And those that a reader has seen that looks when the engine has heard of a change. */
	u64 told[NODES][SPINDLE_MAX_CELLS];
	/* Versions that this node's process has sealed; and when it sealed each guard. */
	u64 sealed[SPINDLE_MAX_CELLS];
	/* And what it had sealed when it asked for the flushes of these numbers. */
	u64 *before, *asked;
	u64 life;
};

static struct host host[NODES];
static struct rng rng;
static u32 cells, words, quiet;
static bool ordered, sleeping;	/* no process writes */
static u64 torn, accepted, guards, flushes, blocks, endings;

static u32 how(void)
{
	return ordered ? SPINDLE_PUSH_SPLIT : 0;
}

static u64 value_of(u32 owner, u32 cell, u64 version, u32 at)
{
	return rng_mix((u64)owner << 48 ^ (u64)cell << 32 ^ version << 8 ^ at ^ host[owner].life);
}

static u64 *cell_of(u32 holder, u32 owner, u32 cell)
{
	u32 skew = holder == owner ? 0 : SKEW / 8;

	return host[holder].row[owner] + skew + cell * words;
}

/* ---- processes ----------------------------------------------------------- */

static void begin_update(u32 n)
{
	struct writer *w = &host[n].writer;

	w->cell = rng_chance(&rng, 40) ? 0 : rng_below(&rng, cells);
	if (w->cell == 0 && host[n].sealed[0] + 1 >= GUARDS)
		return;
	w->version = host[n].sealed[w->cell] + 1;
	w->at = 0;
	w->busy = true;
}

static void end_update(u32 n)
{
	struct writer *w = &host[n].writer;
	u64 *cell = cell_of(n, n, w->cell);

	cell[words - 1] = spindle_mix(cell, words - 1);
	host[n].sealed[w->cell] = w->version;
	if (!w->cell)
		memcpy(host[n].before + w->version * cells, host[n].sealed,
		       cells * sizeof(u64));
	host[n].dirty[w->cell / 64] |= BIT_ULL(w->cell % 64);
	w->busy = false;
}

static void ask_for_flush(u32 n)
{
	struct host *h = &host[n];

	if (h->ask + 1 >= GUARDS)
		return;
	h->ask++;
	memcpy(h->asked + h->ask * cells, h->sealed, cells * sizeof(u64));
}

/* One step of a process: a word, or the seal and the dirty bit, or a flush. */
static void write_step(u32 n)
{
	struct writer *w = &host[n].writer;

	if (rng_chance(&rng, 2)) {
		ask_for_flush(n);
		return;
	}
	if (!w->busy) {
		begin_update(n);
		return;
	}
	if (w->at < words - 1) {
		cell_of(n, n, w->cell)[w->at] = w->at == words - 2 ? w->version :
			value_of(n, w->cell, w->version, w->at);
		w->at++;
		return;
	}
	end_update(n);
}

/* ---- readers -------------------------------------------------------------- */

/* Read a cell as the contract says. Returns its version; U64_MAX: not a whole value. */
static u64 read_cell(u32 holder, u32 owner, u32 cell)
{
	const u64 *at = cell_of(holder, owner, cell);
	u64 version = at[words - 2];
	u32 i;

	if (spindle_mix(at, words - 1) != at[words - 1]) {
		torn++;
		return U64_MAX;
	}
	for (i = 0; version && i < words - 2; i++)
		if (at[i] != value_of(owner, cell, version, i))
			break;
	CHECK_EQ(i, version ? words - 2 : 0);
	CHECK(version >= host[holder].seen[owner][cell]);
	host[holder].seen[owner][cell] = version;
	accepted++;
	return version;
}

/* A reader that sees a guard sees all that was sealed before it, or something newer. */
static void read_row(u32 holder, u32 owner)
{
	u64 guard = read_cell(holder, owner, 0), version;
	const u64 *before;
	u32 i;

	if (guard == U64_MAX || !guard)
		return;
	if (!ordered && holder != owner && guard > host[holder].tb.member[owner].guard)
		return;
	guards++;
	before = host[owner].before + guard * cells;
	for (i = 1; i < cells; i++) {
		version = read_cell(holder, owner, i);
		if (version != U64_MAX)
			CHECK(version >= before[i]);
	}
}

/* When a flush has ended, members that are not skipped have what was sealed, or something newer. */
static void check_flush(u32 n)
{
	const u64 *asked = host[n].asked + host[n].tb.flushed * cells;
	u32 r, i;

	for (r = 0; r < NODES; r++) {
		if (r == n || (host[n].skip[0] & BIT_ULL(host[n].member[r].instance)))
			continue;
		for (i = 0; i < cells; i++)
			CHECK(cell_of(r, n, i)[words - 2] >= asked[i]);
	}
	flushes++;
}

/* ---- devices -------------------------------------------------------------- */

static u64 source(u32 from, const struct flight *f, u32 at)
{
	if (f->write.data)
		return f->copy[at];
	return host[from].row[from][f->write.local / 8 + at];
}

static void complete(u32 from, u32 to, const struct flight *f)
{
	if (f->write.guard && !ordered)
		host[to].vouch[from] = f->write.imm & SPINDLE_IMM_SLOTS;
}

/* The words of a write come in any order, also where writes keep theirs. */
static void store_word(u32 from, u32 to, struct flight *f)
{
	u32 n = f->write.len / 8, at = (f->first + f->done) % n;

	if (f->done == n)
		return;
	host[to].row[from][f->write.remote / 8 + at] = source(from, f, at);
	f->done++;
}

/* Store one more word. Without order, of any write that is on its way. */
static void device_step(u32 from, u32 to)
{
	struct wire *w = &host[from].to[to];
	u32 at = w->head;

	if (w->head == w->tail)
		return;
	if (!ordered)
		at += rng_below(&rng, w->tail - w->head);
	store_word(from, to, &w->flight[at % QUEUE]);
	while (w->head != w->tail && w->flight[w->head % QUEUE].done ==
				     w->flight[w->head % QUEUE].write.len / 8)
		complete(from, to, &w->flight[w->head++ % QUEUE]);
}

static void post(u32 from, u32 to, const struct spindle_write *write)
{
	struct wire *w = &host[from].to[to];
	struct flight *f = &w->flight[w->tail++ % QUEUE];
	u64 end = SKEW + (u64)cells * words * 8;
	bool block = write->remote == end;

	CHECK(w->tail - w->head <= QUEUE);
	if (write->place) {
		CHECK(write->guard);
		*write->place = w->tail;
	}
	CHECK(write->len && write->len % 8 == 0);
	*f = (struct flight){ .write = *write, .first = rng_below(&rng, write->len / 8) };
	if (block)
		CHECK_EQ(write->len, SPINDLE_BLOCK_PUSH);
	else
		CHECK(write->remote >= SKEW && write->remote + write->len <= end);
	/* Where writes keep order, the end of cell 0 ends a push as well. */
	if (write->guard) {
		CHECK(block || (ordered && write->remote + write->len == SKEW + words * 8));
		CHECK_EQ(write->imm >> SPINDLE_IMM_SHIFT, 3);
	}
	blocks += block;
	endings += write->guard;
	if (write->data) {
		CHECK(write->len <= sizeof(f->copy));
		memcpy(f->copy, write->data, write->len);
	} else {
		CHECK_EQ(write->remote, write->local + SKEW);
	}
}

/* ---- engines -------------------------------------------------------------- */

static void push(u32 n, u32 to)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	struct spindle_tb *tb = &host[n].tb;
	const struct wire *w = &host[n].to[to];
	u32 i, count, max = 2 + rng_below(&rng, SPINDLE_PUSH_MAX - 1);

	if (!spindle_tb_wanted(tb, to) || (!ordered && w->head != w->tail) ||
	    w->tail - w->head + max > QUEUE)
		return;
	count = spindle_tb_push(tb, to, 3, how(), write, max);
	CHECK(count && count <= max);
	for (i = 0; i < count; i++)
		post(n, to, &write[i]);
}

/* The engine has heard of a change. A cell that is torn keeps its former value. */
static void tell(u32 n)
{
	const u64 *cell;
	u32 owner, i;

	for (owner = 0; owner < NODES; owner++)
		for (i = 0; i < cells; i++) {
			cell = cell_of(n, owner, i);
			if (spindle_mix(cell, words - 1) == cell[words - 1])
				host[n].told[owner][i] = cell[words - 2];
		}
}

static bool engine_pass(u32 n)
{
	u64 flushed = host[n].tb.flushed, heard = host[n].tb.stats.heard;
	bool work = spindle_tb_run(&host[n].tb);
	u32 i;

	CHECK_EQ(host[n].tb.bad, 0);
	if (host[n].tb.stats.heard != heard)
		tell(n);
	if (host[n].tb.flushed != flushed)
		check_flush(n);
	for (i = 0; i < NODES; i++)
		if (i != n)
			push(n, i);
	return work;
}

/* Others act between any two looks of an engine. */
static void between_looks(void)
{
	u32 n = rng_below(&rng, NODES);

	if (quiet)
		return;
	if (!sleeping && rng_chance(&rng, 70))
		write_step(n);
	else
		device_step(n, (n + 1 + rng_below(&rng, NODES - 1)) % NODES);
}

/* ---- the world ------------------------------------------------------------ */

/* Instances are no ranks. */
static u32 instance_of(u32 rank)
{
	return 7 + 3 * rank;
}

static void make_tb(u32 n)
{
	struct spindle_tb *tb = &host[n].tb;
	u64 end = (u64)cells * words * 8;
	u32 r;

	*tb = (struct spindle_tb){
		.members = NODES, .me = n, .cells = cells, .cell = words * 8,
		.member = host[n].member, .row = (u8 *)host[n].row[n],
		.guard = host[n].guard[0], .next = host[n].guard[1], .copy = host[n].guard[2],
	};
	memset(host[n].member, 0, sizeof(host[n].member));
	for (r = 0; r < NODES; r++) {
		struct spindle_tb_member *m = &host[n].member[r];

		m->instance = instance_of(r);
		if (r == n)
			continue;
		m->done = &host[n].to[r].head;
		m->cells = (u8 *)cell_of(n, r, 0);
		m->remote_cells = SKEW;
		m->remote_block = SKEW + end;
		m->block = (void *)(cell_of(n, r, 0) + end / 8);
		m->vouch = ordered ? NULL : &host[n].vouch[r];
	}
	spindle_tb_attach(tb, host[n].dirty, &host[n].ask, host[n].skip);
}

static void open_world(u32 c, u32 cell, bool in_order)
{
	u32 n;

	cells = c;
	words = cell / 8;
	ordered = in_order;
	for (n = 0; n < NODES; n++) {
		free(host[n].before);
		free(host[n].asked);
		memset(&host[n], 0, sizeof(host[n]));
		host[n].before = calloc((u64)GUARDS * cells, sizeof(u64));
		host[n].asked = calloc((u64)GUARDS * cells, sizeof(u64));
		make_tb(n);
	}
}

static void deliver_all(u32 n, u32 to)
{
	while (host[n].to[to].head != host[n].to[to].tail)
		device_step(n, to);
}

/* Let all that has begun end. */
static void settle(void)
{
	u32 n, i, pass;

	quiet++;
	for (n = 0; n < NODES; n++) {
		host[n].skip[0] = 0;
		while (host[n].writer.busy)
			write_step(n);
	}
	for (pass = 0; pass < 4000; pass++)
		for (n = 0; n < NODES; n++) {
			engine_pass(n);
			for (i = 0; i < NODES; i++)
				if (i != n)
					deliver_all(n, i);
		}
	quiet--;
}

/* All nodes have what each process sealed last, and nothing is left to do. */
static void check_settled(void)
{
	u32 n, owner, i;

	quiet++;
	for (n = 0; n < NODES; n++) {
		CHECK(!spindle_tb_pending(&host[n].tb));
		CHECK(!spindle_tb_run(&host[n].tb));
		CHECK(!spindle_tb_pending(&host[n].tb));
		CHECK_EQ(host[n].tb.flushed, host[n].ask);
		for (owner = 0; owner < NODES; owner++)
			for (i = 0; i < cells; i++)
				CHECK_EQ(read_cell(n, owner, i), host[owner].sealed[i]);
		for (owner = 0; owner < NODES; owner++) {
			if (owner == n)
				continue;
			CHECK_EQ(host[n].tb.member[owner].guard, host[owner].sealed[0]);
			for (i = 0; i < cells; i++)
				CHECK_EQ(host[n].told[owner][i], host[owner].sealed[i]);
		}
	}
	quiet--;
}

/* A member of the table leaves, and another life of it comes. */
static void replace_host(u32 n)
{
	u32 from[NODES], r;

	quiet++;
	for (r = 0; r < NODES; r++) {
		struct spindle_tb old = host[r].tb;
		struct spindle_tb_member member[NODES];
		u64 guard[SPINDLE_MAX_CELL / 8];
		u32 i;

		if (r == n)
			continue;
		memcpy(member, host[r].member, sizeof(member));
		memcpy(guard, old.guard, old.cell);
		old.member = member;
		old.guard = guard;
		make_tb(r);
		host[r].tb.dirty = NULL;
		host[r].tb.ask = NULL;
		host[r].tb.skip = NULL;
		for (i = 0; i < NODES; i++)
			from[i] = i == n ? SPINDLE_NO_RANK : i;
		spindle_tb_follow(&host[r].tb, &old, from);
		CHECK(host[r].tb.dirty == host[r].dirty && !old.dirty);
		CHECK(host[r].tb.ask == &host[r].ask && !old.ask && !old.skip);
		CHECK(!(host[r].skip[0] & BIT_ULL(instance_of(n))));
		memset(host[r].row[n], 0, sizeof(host[r].row[n]));
		memset(host[r].seen[n], 0, sizeof(host[r].seen[n]));
		memset(host[r].told[n], 0, sizeof(host[r].told[n]));
		host[r].to[n].head = host[r].to[n].tail;
		host[r].vouch[n] = 0;
	}
	memset(host[n].before, 0, (u64)GUARDS * cells * sizeof(u64));
	memset(host[n].asked, 0, (u64)GUARDS * cells * sizeof(u64));
	memset(&host[n].tb, 0, offsetof(struct host, before));
	host[n].life = rng_u64(&rng);
	make_tb(n);
	quiet--;
}

static void run(u32 steps)
{
	u32 i, n;

	for (i = 0; i < steps; i++) {
		n = rng_below(&rng, NODES);
		if (rng_chance(&rng, 5))
			host[n].skip[0] ^= BIT_ULL(instance_of(rng_below(&rng, NODES)));
		switch (rng_below(&rng, 8)) {
		case 0:
		case 1:
			engine_pass(n);
			break;
		case 2:
			read_row(n, rng_below(&rng, NODES));
			break;
		case 3:
			for (u32 k = rng_below(&rng, 3 * words); k; k--)
				write_step(n);
			break;
		default:
			for (u32 k = rng_below(&rng, 4 * words); k; k--)
				device_step(n, (n + 1 + rng_below(&rng, NODES - 1)) % NODES);
		}
	}
}

static const struct {
	u32 cells, cell;
} shapes[] = {
	{ 1, 64 }, { 2, 64 }, { 8, 64 }, { 65, 64 }, { 128, 64 }, { 1024, 64 }, { 5, 128 },
	{ 3, 1024 }, { 16, 4096 }, { 4, 4096 },
};

/* Nothing is written behind the last replacement, so only the joiner makes others push. */
static void test_random(bool in_order, u32 lives)
{
	u32 i, life, scale = tap_env("SCHEDULES", 100);

	blocks = 0;
	endings = 0;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		open_world(shapes[i].cells, shapes[i].cell, in_order);
		for (life = 0; life <= lives; life++) {
			run(40 * scale / (lives + 1));
			if (lives)
				replace_host(rng_below(&rng, NODES));
			settle();
			check_settled();
		}
	}
	CHECK(accepted && guards && torn && flushes);
	CHECK(lives || (host[0].tb.stats.heard && host[0].tb.stats.taken));
	CHECK(in_order ? blocks && blocks < endings : blocks == endings);
}

/* An idle table costs nothing, and what a process sets beyond its cells means nothing. */
static void test_dirty_bits(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	struct spindle_tb *tb = &host[0].tb;

	quiet++;
	open_world(65, 64, true);
	CHECK(!spindle_tb_run(tb));
	CHECK(!spindle_tb_pending(tb));
	memset(host[0].dirty, 0xff, sizeof(host[0].dirty));
	host[0].dirty[0] = 0;
	host[0].dirty[1] = ~1ULL;
	CHECK(!spindle_tb_run(tb));
	CHECK_EQ(host[0].dirty[1], 0);
	CHECK(!spindle_tb_pending(tb));

	/* All cells but the guard are one range, up to the end of a word. */
	host[0].dirty[0] = ~1ULL;
	host[0].dirty[1] = ~0ULL;
	CHECK(spindle_tb_run(tb));
	CHECK_EQ(tb->stats.cells, 64);
	CHECK_EQ(spindle_tb_push(tb, 1, 3, SPINDLE_PUSH_SPLIT, write, SPINDLE_PUSH_MAX), 3);
	CHECK_EQ(write[0].local, 64);
	CHECK_EQ(write[0].len, 63 * 64);
	CHECK_EQ(write[1].len, 64);
	CHECK(write[2].guard && !spindle_tb_wanted(tb, 1) && spindle_tb_wanted(tb, 2));

	/* A guard without a seal is left alone, and does not come again by itself. */
	host[0].row[0][0] = 1;
	host[0].dirty[0] = 1;
	CHECK(!spindle_tb_run(tb));
	CHECK_EQ(tb->stats.half, 1);
	CHECK_EQ(host[0].dirty[0], 0);
	CHECK(!spindle_tb_wanted(tb, 1));
	quiet--;
}

/* A guard that is half written does not spoil the one that members still lack. */
static void test_guard_is_kept(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	struct spindle_tb *tb = &host[0].tb;
	u64 *cell = host[0].row[0];
	u32 i;

	quiet++;
	open_world(4, 64, true);
	for (i = 0; i < 2; i++) {
		cell[0] = 42 + i;
		cell[6] = 1 + i;
		cell[7] = spindle_mix(cell, 7);
		host[0].dirty[0] = 1;
		CHECK(spindle_tb_run(tb));
	}
	cell[0] = 44;
	host[0].dirty[0] = 1;
	CHECK(!spindle_tb_run(tb));
	CHECK_EQ(spindle_tb_push(tb, 1, 3, 0, write, SPINDLE_PUSH_MAX), 2);
	CHECK_EQ(((const u64 *)write[0].data)[0], 43);
	CHECK_EQ(((const struct spindle_block *)write[1].data)->word[SPINDLE_TB_GUARD], 2);
	quiet--;
}

/* Where writes keep order, a guard ends a push, and is told and flushed as a block is. */
static void test_guard_ends_push(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	struct spindle_tb *tb = &host[0].tb;
	u64 *cell = host[0].row[0];

	quiet++;
	open_world(4, 128, true);
	cell[14] = 1;
	cell[15] = spindle_mix(cell, 15);
	host[0].dirty[0] = 9;
	host[0].ask = 1;
	CHECK(spindle_tb_run(tb));
	/* Cell 3 and a piece of the guard have room, and the end of the guard follows. */
	CHECK_EQ(spindle_tb_push(tb, 1, 3, SPINDLE_PUSH_SPLIT, write, 3), 2);
	CHECK(!write[0].guard && !write[1].guard && spindle_tb_wanted(tb, 1));
	CHECK_EQ(spindle_tb_push(tb, 1, 3, SPINDLE_PUSH_SPLIT, write, 3), 1);
	CHECK(write[0].guard && write[0].place == &tb->member[1].place);
	CHECK_EQ(write[0].remote, SKEW + 64);
	CHECK(!spindle_tb_wanted(tb, 1) && !tb->stats.blocks);
	/* Without a guard, a block ends the push. */
	host[0].dirty[0] = 8;
	CHECK(spindle_tb_run(tb));
	CHECK_EQ(spindle_tb_push(tb, 1, 3, SPINDLE_PUSH_SPLIT, write, SPINDLE_PUSH_MAX), 2);
	CHECK(!write[0].guard && write[1].guard && tb->stats.blocks == 1);
	CHECK_EQ(write[1].len, SPINDLE_BLOCK_PUSH);
	quiet--;
}

/* Rows of members that stay are no news in the next view. */
static void test_stay(void)
{
	u32 n;
	u64 heard;

	open_world(2, 64, true);
	run(400);
	settle();
	replace_host(3);
	quiet++;
	for (n = 0; n < 3; n++) {
		heard = host[n].tb.stats.heard;
		CHECK(heard);
		spindle_tb_run(&host[n].tb);
		CHECK_EQ(host[n].tb.stats.heard, heard);
	}
	quiet--;
}

/* A guard of any bytes makes readers look when it is whole. One that stays torn is a lie. */
static void test_liar_guard(void)
{
	struct spindle_tb *tb = &host[0].tb;
	u64 *cell, heard;
	u32 i;

	quiet++;
	open_world(4, 64, true);
	cell = cell_of(0, 1, 0);
	for (i = 0; i < 10000; i++) {
		for (u32 k = 0; k < 7; k++)
			cell[k] = rng_odd(&rng);
		cell[7] = spindle_mix(cell, 7);
		heard = tb->stats.heard;
		CHECK(spindle_tb_run(tb) && tb->stats.heard == heard + 1);
		CHECK(!spindle_tb_run(tb) && !tb->bad && !spindle_tb_pending(tb));
	}
	cell[7]++;
	for (i = 0; i <= SPINDLE_MAX_TORN && !tb->bad; i++)
		CHECK(spindle_tb_run(tb));
	CHECK_EQ(i, SPINDLE_MAX_TORN + 1);
	CHECK_EQ(tb->bad, BIT_ULL(1));
	CHECK(!spindle_tb_run(tb));

	/* Where writes have no order, only a block and its completion tell. */
	open_world(4, 64, false);
	cell[6] = 1;
	cell[7] = spindle_mix(cell, 7);
	CHECK(!spindle_tb_run(tb) && !tb->member[1].guard);
	quiet--;
}

/* What the process has marked before its end is pushed. */
static void test_detach(void)
{
	struct spindle_tb *tb = &host[0].tb;

	quiet++;
	open_world(4, 64, true);
	host[0].dirty[0] = 4;
	spindle_tb_detach(tb);
	CHECK(!tb->dirty && !host[0].dirty[0]);
	CHECK(spindle_tb_wanted(tb, 1));
	host[0].dirty[0] = 2;
	CHECK(!spindle_tb_run(tb));
	CHECK_EQ(host[0].dirty[0], 2);
	quiet--;
}

/* A flush ends when the queues to all members are complete up to its blocks. */
static void test_flush(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	struct spindle_tb *tb = &host[0].tb;
	u32 r;

	quiet++;
	open_world(4, 64, true);
	host[0].ask = 1;
	CHECK(spindle_tb_run(tb) && tb->flush == 1 && !tb->flushed);
	/* The block alone is news for nobody. Nothing is posted yet, so nothing is awaited. */
	CHECK(!spindle_tb_run(tb) && spindle_tb_pending(tb));
	for (r = 1; r < NODES; r++) {
		CHECK_EQ(spindle_tb_push(tb, r, 3, SPINDLE_PUSH_SPLIT, write, SPINDLE_PUSH_MAX), 1);
		CHECK(write[0].place == &tb->member[r].place);
		*write[0].place = 2 + r;
		host[0].to[r].head = 1 + r;
	}
	CHECK(!spindle_tb_pending(tb));
	/* Another flush waits for the end of this one. */
	host[0].ask = 7;
	for (r = 1; r < NODES; r++) {
		CHECK(spindle_tb_run(tb) && tb->flush == 1 && !tb->flushed);
		host[0].to[r].head = 2 + r;
	}
	CHECK(spindle_tb_run(tb) && tb->flushed == 1 && tb->flush == 1);
	CHECK(spindle_tb_run(tb) && tb->flushed == 1 && tb->flush == 7);
	spindle_tb_detach(tb);
	CHECK(!tb->ask && tb->flushed == 7);
	quiet--;
}

static u32 looks_left;

/* The process of node 0 marks a cell and asks for a flush, at one look of the engine. */
static void mark_and_ask(void)
{
	if (!looks_left || --looks_left)
		return;
	host[0].dirty[0] |= 8;
	host[0].ask = 1;
}

/* What was marked before the process asked has a part in the flush, whenever the process did so. */
static void test_flush_order(void)
{
	u32 look, begun = 0, later = 0;

	world_look = mark_and_ask;
	for (look = 1; look < 40; look++) {
		struct spindle_tb *tb = &host[0].tb;

		open_world(4, 64, true);
		looks_left = look;
		spindle_tb_run(tb);
		if (looks_left)
			break;
		begun += tb->flush == 1;
		later += tb->flush != 1;
		CHECK(!tb->flush || (tb->member[1].lacks[0] & 8));
	}
	CHECK(begun && later);
	world_look = between_looks;
}

/* A guard that is half written may hide one that was sealed before the flush was wanted. */
static void test_flush_waits_for_guard(void)
{
	struct spindle_tb *tb = &host[0].tb;
	u64 *cell = host[0].row[0];

	quiet++;
	open_world(4, 64, true);
	cell[0] = 1;
	host[0].dirty[0] = 1;
	host[0].ask = 1;
	CHECK(!spindle_tb_run(tb) && !tb->flush);
	CHECK(!spindle_tb_run(tb) && !tb->flush && !spindle_tb_pending(tb));
	cell[7] = spindle_mix(cell, 7);
	host[0].dirty[0] = 1;
	CHECK(spindle_tb_run(tb) && tb->flush == 1);
	quiet--;
}

/* A writer that died has left the guard half written. The flushes of the next one do not wait. */
static void test_adopt(void)
{
	struct spindle_tb *tb = &host[0].tb;

	quiet++;
	open_world(4, 64, true);
	host[0].row[0][0] = 1;
	spindle_tb_adopt(tb);
	CHECK_EQ(tb->stats.half, 1);
	CHECK_EQ(tb->member[1].lacks[0], 0xe);
	CHECK_EQ(host[0].dirty[0], 0);
	host[0].ask = 1;
	CHECK(spindle_tb_run(tb) && tb->flush == 1);
	quiet--;
}

/* A member that is skipped gets nothing, and all that it lacks when it is taken in again. */
static void test_skip(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	struct spindle_tb *tb = &host[0].tb;
	u32 r;

	quiet++;
	open_world(4, 64, true);
	host[0].skip[0] = BIT_ULL(instance_of(2)) | BIT_ULL(instance_of(0));
	host[0].dirty[0] = 4;
	host[0].ask = 1;
	CHECK(spindle_tb_run(tb));
	CHECK(spindle_tb_wanted(tb, 1) && !spindle_tb_wanted(tb, 2) && spindle_tb_wanted(tb, 3));
	for (r = 1; r < NODES; r += 2)
		spindle_tb_push(tb, r, 3, SPINDLE_PUSH_SPLIT, write, SPINDLE_PUSH_MAX);
	CHECK(!spindle_tb_pending(tb));
	/* No flush waits for it. */
	CHECK(spindle_tb_run(tb) && tb->flushed == 1);
	CHECK(!spindle_tb_run(tb));
	host[0].skip[0] = 0;
	CHECK(spindle_tb_run(tb) && spindle_tb_wanted(tb, 2));
	CHECK_EQ(spindle_tb_push(tb, 2, 3, SPINDLE_PUSH_SPLIT, write, SPINDLE_PUSH_MAX), 2);
	CHECK_EQ(write[0].local, 2 * 64);
	CHECK(!spindle_tb_run(tb));
	/* The process ends: nobody is skipped any more. */
	host[0].skip[0] = BIT_ULL(instance_of(3));
	host[0].dirty[0] = 4;
	spindle_tb_detach(tb);
	CHECK(spindle_tb_wanted(tb, 3));
	quiet--;
}

/* A block of any bytes only makes readers look; one that is half written for ever is a lie. */
static void test_liar(void)
{
	struct spindle_tb *tb = &host[0].tb;
	struct spindle_block *block;
	u32 i;

	quiet++;
	open_world(4, 64, true);
	block = (void *)tb->member[1].block;
	for (i = 0; i < 10000; i++) {
		u64 word[SPINDLE_BLOCK_WORDS];

		for (u32 k = 0; k < SPINDLE_BLOCK_WORDS; k++)
			word[k] = rng_odd(&rng);
		spindle_block_write(block, word);
		spindle_tb_run(tb);
		CHECK(!tb->bad && !spindle_tb_pending(tb));
	}
	CHECK(tb->stats.heard > 9000);
	block->seal = ~spindle_seal(block->word);
	for (i = 0; i <= SPINDLE_MAX_TORN && !tb->bad; i++)
		CHECK(spindle_tb_run(tb));
	CHECK_EQ(i, SPINDLE_MAX_TORN + 1);
	CHECK_EQ(tb->bad, BIT_ULL(1));
	CHECK(!spindle_tb_run(tb));
	quiet--;
}

/* Without order of writes, a block counts when its completion is here. */
static void test_vouch(void)
{
	u64 word[SPINDLE_BLOCK_WORDS] = { [SPINDLE_TB_PUSHES] = 1, [SPINDLE_TB_GUARD] = 7 };
	struct spindle_tb *tb = &host[0].tb;

	quiet++;
	open_world(4, 64, false);
	spindle_block_write((void *)tb->member[1].block, word);
	CHECK(!spindle_tb_run(tb));
	CHECK_EQ(tb->member[1].guard, 0);
	host[0].vouch[1] = 1;
	CHECK(spindle_tb_run(tb));
	CHECK_EQ(tb->member[1].guard, 7);
	CHECK(!spindle_tb_run(tb));
	quiet--;
}

/* ---- predicates ------------------------------------------------------------ */

#define COUNT_TO	60U

/* While no member counts less than this one: count one more. */
static void add_counting(u32 n, struct spindle_tb_preds *set)
{
	struct spindle_field count = { .cell = 1, .width = 8 };
	struct spindle_number own = { .fold = SPINDLE_FOLD_OWN, .field = count };
	struct spindle_predicate p = {
		.id = 0, .terms = 2, .triggers = 1,
		.term[0] = {
			.compare = SPINDLE_CMP_GE, .least = SPINDLE_ALL_ROWS, .right = own,
			.left = { .fold = SPINDLE_FOLD_EACH, .field = count },
		},
		.term[1] = {
			.compare = SPINDLE_CMP_LT, .left = own, .right = { .add = COUNT_TO },
		},
		.trigger[0] = { .what = SPINDLE_DO_SET, .field = count, .value = own },
	};
	struct spindle_tb_pred *pred;

	p.trigger[0].value.add = 1;
	CHECK_EQ(spindle_tb_pred_check(&p, cells, words * 8, true), 0);
	pred = calloc(1, spindle_tb_pred_bytes(&p));
	spindle_tb_pred_init(pred, &p);
	spindle_tb_pred_add(&host[n].tb, set, 0, pred);
}

/* Each value is its version. No member is ahead of another by more than one. */
static void check_counts(void)
{
	u32 n, owner;

	for (n = 0; n < NODES; n++)
		for (owner = 0; owner < NODES; owner++) {
			const u64 *cell = cell_of(n, owner, 1);

			CHECK(cell_of(n, n, 1)[0] <= cell_of(owner, owner, 1)[0] + 1);
			if (spindle_mix(cell, words - 1) == cell[words - 1])
				CHECK_EQ(cell[0], cell[words - 2]);
		}
}

/* Distributed counting (SST paper, 5.6), in the engines alone. */
static void count_together(bool in_order)
{
	struct spindle_tb_preds set[NODES] = { 0 };
	u32 i, k, n;

	open_world(2, 64, in_order);
	sleeping = true;
	for (n = 0; n < NODES; n++)
		add_counting(n, &set[n]);
	for (i = 0; i < 20000; i++) {
		n = rng_below(&rng, NODES);
		if (rng_chance(&rng, 30))
			engine_pass(n);
		for (k = rng_below(&rng, 20); k; k--)
			device_step(n, (n + 1 + rng_below(&rng, NODES - 1)) % NODES);
		check_counts();
	}
	for (n = 0; n < NODES; n++) {
		CHECK_EQ(cell_of(n, n, 1)[0], COUNT_TO);
		CHECK_EQ(host[n].tb.stats.fired, COUNT_TO);
		free(spindle_tb_pred_remove(&set[n], 0));
	}
	sleeping = false;
}

static void test_counting(void)
{
	count_together(true);
	count_together(false);
}

static void test_ordered(void)
{
	test_random(true, 0);
}

static void test_unordered(void)
{
	test_random(false, 0);
}

static void test_lives(void)
{
	test_random(true, 3);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "an idle table costs nothing, and bits beyond the cells mean nothing",
		  test_dirty_bits },
		{ "a guard that is half written does not spoil the last one", test_guard_is_kept },
		{ "a guard ends a push where writes keep order", test_guard_ends_push },
		{ "what was marked before the end of a process is pushed", test_detach },
		{ "a flush ends when devices have confirmed its blocks", test_flush },
		{ "a flush has all that was marked before it", test_flush_order },
		{ "a flush waits for a guard that is half written", test_flush_waits_for_guard },
		{ "a new writer adopts all cells, and no half-written guard", test_adopt },
		{ "a member that is skipped gets what it lacks later", test_skip },
		{ "a block of any bytes makes readers look, and no more", test_liar },
		{ "a guard of any bytes does the same, where writes keep order", test_liar_guard },
		{ "a block counts when its completion is here", test_vouch },
		{ "rows of members that stay are no news in the next view", test_stay },
		{ "readers get whole values, and what was before a guard", test_ordered },
		{ "the same if writes become visible in any order", test_unordered },
		{ "the same while members come and go", test_lives },
		{ "engines count together, and none is ahead by more than one", test_counting },
	};

	rng = rng_seed();
	world_look = between_looks;
	return tap_run(cases, ARRAY_SIZE(cases));
}
