// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetch: owners that write their rows, a device that reads them word by word, an engine that takes
 * what was read, and readers. Owners act between any two words of the device. Readers look between
 * any two loads and stores of the engine.
 *
 * The test notes the seal of each value that an owner has sealed, and knows the bytes. So a reader
 * that accepts a cell can tell whether it is a whole value.
 */
#include "core/group/wire.h"
#include "core/table/predicate.h"
#include "rng.h"
#include "tap.h"
#include "world.h"

/* The fetch of this program is a copy of fetch.c. Readers look between its stores, too. */
static void between_stores(void);

#undef WRITE_ONCE
#undef smp_store_release
#define WRITE_ONCE(x, v) \
	(__atomic_store_n(&(x), (v), __ATOMIC_RELAXED), between_stores())
#define smp_store_release(p, v) \
	(__atomic_store_n((p), (v), __ATOMIC_RELEASE), between_stores())
#define spindle_tb_fetch_begin	test_fetch_begin
#define spindle_tb_fetch_next	test_fetch_next
#define spindle_tb_fetch_take	test_fetch_take
#include "core/table/fetch.c"

#define MEMBERS		4U
#define ME		1U
#define OTHER		2U	/* the owner of directed tests */
#define GUARDS		2048U
#define VALUES		(1U << 13)
#define MAX_WORDS	(SPINDLE_MAX_TABLE_ROW / 8)
#define READS		SPINDLE_FETCH_READS

/* A value that was sealed. */
struct value {
	u64 seal, version, salt;
	u32 cell;
};

/* Another member: its process and its row. */
struct owner {
	u64 *row;
	/* The process in the middle of an update: words that are stored, of the cell. */
	u32 cell, at;
	u64 version, salt;
	bool busy, down;
	/* Versions that were sealed last; and when each guard was sealed. */
	u64 sealed[SPINDLE_MAX_CELLS], *before;
	struct value value[VALUES];
	u32 values;
};

/* What the device is reading of a row: words, in its own order. */
struct device {
	u32 word[MAX_WORDS], words, next;
	u64 *landing;
	bool busy;
	/* Versions that were sealed when the fetch began. */
	u64 begun[SPINDLE_MAX_CELLS];
};

static struct owner owner[MEMBERS];
static struct device device[MEMBERS];
static struct spindle_tb_fetch fetch[MEMBERS];
static struct spindle_tb tb;
static struct spindle_tb_member member[MEMBERS];
static u64 *shown[MEMBERS];	/* rows as processes of this node see them */
static u64 seen[MEMBERS][SPINDLE_MAX_CELLS];
static struct spindle_block block[MEMBERS];
static u64 own[MAX_WORDS], guard[3][SPINDLE_MAX_CELL / 8], dirty[SPINDLE_TB_WORDS], ask, skip[1];
static u32 vouch[MEMBERS];
static struct rng rng;
static u32 cells, words;	/* of a row; of a cell */
static bool vouched;	/* as where visibility is imm */
static void (*look)(u32 r);	/* what readers do while the engine takes a row */
static u32 looked = MEMBERS;	/* the row that the engine takes */
static u64 accepted, half, guards, again, limits, given_up;

/* ---- owners --------------------------------------------------------------- */

static u64 word_of(u32 r, u32 cell, u64 version, u64 salt, u32 at)
{
	return rng_mix((u64)r << 48 ^ (u64)cell << 32 ^ version << 16 ^ at ^ salt);
}

static u64 *cell_of(u32 r, u32 cell)
{
	return owner[r].row + cell * words;
}

/* The place of the value with this seal, or a free place. */
static struct value *find(u32 r, u64 seal)
{
	struct value *v = owner[r].value;
	u32 at = seal % VALUES;

	while (v[at].version && v[at].seal != seal)
		at = (at + 1) % VALUES;
	return &v[at];
}

static bool may_write(u32 r)
{
	return owner[r].values < VALUES / 2 && owner[r].sealed[0] < GUARDS - 8 &&
	       cell_of(r, 0)[words - 2] < GUARDS - 8;
}

/* A process begins to write a cell. It continues with the version that it finds. */
static void begin_cell(u32 r, u32 cell)
{
	struct owner *o = &owner[r];

	o->cell = cell;
	o->at = 0;
	o->version = cell_of(r, cell)[words - 2] + 1;
	o->salt = rng_u64(&rng);
	o->down = rng_chance(&rng, 50);
	o->busy = true;
}

static void end_cell(u32 r)
{
	struct owner *o = &owner[r];
	u64 *cell = cell_of(r, o->cell), seal = spindle_mix(cell, words - 1);

	cell[words - 1] = seal;
	o->sealed[o->cell] = o->version;
	*find(r, seal) = (struct value){
		.seal = seal, .version = o->version, .salt = o->salt, .cell = o->cell,
	};
	o->values++;
	if (!o->cell)
		memcpy(o->before + o->version * cells, o->sealed, cells * sizeof(u64));
	o->busy = false;
}

/* Store one more word: the value in any order, the version, the seal. */
static void write_word(u32 r)
{
	struct owner *o = &owner[r];
	u64 *cell = cell_of(r, o->cell);
	u32 at = o->down ? words - 3 - o->at : o->at;

	if (o->at < words - 2)
		cell[at] = word_of(r, o->cell, o->version, o->salt, at);
	else if (o->at == words - 2)
		cell[words - 2] = o->version;
	else
		end_cell(r);
	o->at++;
}

static void finish_cell(u32 r)
{
	while (owner[r].busy)
		write_word(r);
}

/* Most updates are of the guard, and of cells at both ends. */
static u32 any_cell(void)
{
	switch (rng_below(&rng, 4)) {
	case 0:
		return 0;
	case 1:
		return min(1 + rng_below(&rng, 3), cells - 1);
	case 2:
		return cells - 1 - min(rng_below(&rng, 3), cells - 1);
	default:
		return rng_below(&rng, cells);
	}
}

static void write_step(u32 r)
{
	if (owner[r].busy) {
		write_word(r);
		/* The process dies. The next one writes any cell. */
		if (rng_below(&rng, 40 * words) == 0)
			owner[r].busy = false;
	} else if (may_write(r)) {
		begin_cell(r, any_cell());
	}
}

/* Seal a whole value of a cell. */
static void put(u32 r, u32 cell)
{
	begin_cell(r, cell);
	finish_cell(r);
}

/* Stop in the middle of a cell. */
static void put_half(u32 r, u32 cell)
{
	begin_cell(r, cell);
	write_word(r);
	write_word(r);
}

/* The next writers complete what others have left. */
static void repair(u32 r)
{
	u32 i;

	finish_cell(r);
	for (i = 0; i < cells; i++)
		if (spindle_mix(cell_of(r, i), words - 1) != cell_of(r, i)[words - 1])
			put(r, i);
}

/* ---- readers -------------------------------------------------------------- */

/* Read a cell as the contract says. Returns its version; U64_MAX: not a whole value. */
static u64 read_cell(u32 r, u32 cell)
{
	const u64 *at = shown[r] + cell * words;
	u64 version = at[words - 2];
	const struct value *v;
	u32 i;

	if (spindle_mix(at, words - 1) != at[words - 1]) {
		half++;
		return U64_MAX;
	}
	v = find(r, at[words - 1]);
	CHECK_EQ(v->version, version);
	for (i = 0; version && i < words - 2; i++)
		if (at[i] != word_of(r, cell, version, v->salt, i))
			break;
	CHECK_EQ(i, version ? words - 2 : 0);
	CHECK(!version || v->cell == cell);
	CHECK(version >= seen[r][cell]);
	seen[r][cell] = version;
	accepted++;
	return version;
}

/* A reader of this guard sees in a cell what was sealed before it, or something newer. */
static void read_behind(u32 r, u64 version, u32 cell)
{
	u64 of_cell = read_cell(r, cell);

	if (version && version != U64_MAX && of_cell != U64_MAX)
		CHECK(of_cell >= owner[r].before[version * cells + cell]);
}

/* Some readers look: at all cells, if these are few. */
static void read_some(u32 r)
{
	u32 n = min(cells, 8U), i;
	u64 version;

	if (rng_below(&rng, n * words) >= 64)
		return;
	version = read_cell(r, 0);
	guards += version && version != U64_MAX;
	for (i = 1; i < n; i++)
		read_behind(r, version, cells == n ? i : any_cell());
}

static void read_all(u32 r)
{
	u64 version = read_cell(r, 0);
	u32 i;

	CHECK(version != U64_MAX);
	CHECK_EQ(tb.member[r].guard, version);
	for (i = 1; i < cells; i++) {
		read_behind(r, version, i);
		CHECK(seen[r][i] == shown[r][i * words + words - 2]);
	}
}

static void between_stores(void)
{
	if (look && looked != MEMBERS)
		look(looked);
}

/* ---- the device, and the engine ------------------------------------------- */

static void shuffle(u32 *word, u32 n)
{
	u32 i, k, kept;

	for (i = n; i > 1; i--) {
		k = rng_below(&rng, i);
		kept = word[i - 1];
		word[i - 1] = word[k];
		word[k] = kept;
	}
}

static void turn_round(u32 *word, u32 n)
{
	u32 i, kept;

	for (i = 0; i < n / 2; i++) {
		kept = word[i];
		word[i] = word[n - 1 - i];
		word[n - 1 - i] = kept;
	}
}

static void any_order(u32 *word, u32 n)
{
	u32 how = rng_below(&rng, 4);

	if (how == 0)
		shuffle(word, n);
	else if (how < 3)
		turn_round(word, n);
}

/* Tell the device what to read. */
static void begin_read(u32 r)
{
	struct spindle_range range = spindle_tb_fetch_next(&fetch[r], &tb);
	struct device *d = &device[r];

	CHECK(range.len && range.at % tb.cell == 0 && range.len % tb.cell == 0);
	CHECK(range.at + range.len <= cells * tb.cell);
	d->next = 0;
	for (d->words = 0; d->words < min(range.len / 8, MAX_WORDS); d->words++)
		d->word[d->words] = range.at / 8 + d->words;
	any_order(d->word, d->words);
}

static void begin_fetch(u32 r)
{
	spindle_tb_fetch_begin(&fetch[r], &tb);
	memcpy(device[r].begun, owner[r].sealed, sizeof(device[r].begun));
	device[r].busy = true;
}

static bool has_read(u32 r)
{
	return device[r].next == device[r].words;
}

static void device_step(u32 r)
{
	struct device *d = &device[r];
	u32 at = d->word[d->next++];

	d->landing[at] = owner[r].row[at];
}

/* A fetch that has brought the row has brought all that was sealed when it began. */
static void check_fetched(u32 r)
{
	u32 i;

	for (i = 0; i < cells; i++)
		CHECK(shown[r][i * words + words - 2] >= device[r].begun[i]);
}

/* The engine takes what the device has read. Returns whether the fetch has ended. */
static bool take(u32 r)
{
	static u64 kept[MAX_WORDS];
	struct spindle_tb_stats stats = tb.stats;
	bool end, changed;

	memcpy(kept, shown[r], cells * words * 8);
	tb.changed = 0;
	looked = r;
	end = spindle_tb_fetch_take(&fetch[r], &tb, r, device[r].landing);
	looked = MEMBERS;
	changed = memcmp(kept, shown[r], cells * words * 8);
	CHECK_EQ(tb.changed, changed ? BIT_ULL(r) : 0);
	CHECK_EQ(tb.stats.heard, stats.heard + changed);
	CHECK_EQ(tb.stats.reads, stats.reads + 1);
	CHECK(fetch[r].reads <= READS);
	CHECK_EQ(end, tb.stats.fetches != stats.fetches || fetch[r].reads == READS);
	return end;
}

/* One read, while the owner does nothing. Returns whether the fetch has ended. */
static bool read_once(u32 r)
{
	bool end;

	begin_read(r);
	while (!has_read(r))
		device_step(r);
	end = take(r);
	read_all(r);
	return end;
}

/* A whole fetch while the owner does nothing, which has this many reads. */
static void fetch_all(u32 r, u32 reads)
{
	u64 fetches = tb.stats.fetches;
	u32 i;

	begin_fetch(r);
	for (i = 1; i < READS; i++) {
		begin_read(r);
		while (!has_read(r))
			device_step(r);
		if (take(r))
			break;
	}
	read_all(r);
	CHECK_EQ(i, reads);
	CHECK_EQ(tb.stats.fetches, fetches + 1);
}

/* Reads of a fetch that finds nothing torn: one more if there is a new guard. */
static u32 least_reads(u32 r)
{
	return cells > 1 && owner[r].row[words - 1] != shown[r][words - 1] ? 2 : 1;
}

static void fetch_least(u32 r)
{
	fetch_all(r, least_reads(r));
}

/* ---- the world ------------------------------------------------------------ */

static void make_member(u32 r)
{
	struct spindle_tb_member *m = &member[r];

	memset(m, 0, sizeof(*m));
	m->instance = 7 + 3 * r;
	m->node = 10 + r;
	if (r == ME)
		return;
	m->cells = (u8 *)shown[r];
	m->block = &block[r];
	m->vouch = vouched ? &vouch[r] : NULL;
}

static void make_tb(void)
{
	u32 r;

	tb = (struct spindle_tb){
		.members = MEMBERS, .me = ME, .cells = cells, .cell = words * 8, .read = true,
		.member = member, .row = (u8 *)own,
		.guard = guard[0], .next = guard[1], .copy = guard[2],
	};
	for (r = 0; r < MEMBERS; r++)
		make_member(r);
}

/* All memory has exactly the size that it needs. */
static void make_owner(u32 r)
{
	size_t bytes = (size_t)cells * words * 8;

	free(owner[r].row);
	free(owner[r].before);
	free(device[r].landing);
	free(fetch[r].guard);
	free(shown[r]);
	memset(&owner[r], 0, sizeof(owner[r]));
	memset(&device[r], 0, sizeof(device[r]));
	owner[r].row = calloc(1, bytes);
	owner[r].before = calloc((size_t)GUARDS * cells, sizeof(u64));
	device[r].landing = malloc(bytes);
	memset(device[r].landing, 0xa5, bytes);
	shown[r] = calloc(1, bytes);
	fetch[r] = (struct spindle_tb_fetch){ .guard = malloc(words * 8) };
}

static void open_world(u32 c, u32 cell, bool is_vouched)
{
	u32 r;

	cells = c;
	words = cell / 8;
	vouched = is_vouched;
	for (r = 0; r < MEMBERS; r++)
		make_owner(r);
	memset(seen, 0, sizeof(seen));
	memset(block, 0, sizeof(block));
	memset(own, 0, sizeof(own));
	memset(guard, 0, sizeof(guard));
	memset(dirty, 0, sizeof(dirty));
	ask = 0;
	skip[0] = 0;
	make_tb();
	look = read_some;
}

static const struct {
	u32 cells, cell;
} shapes[] = {
	{ 1, 64 }, { 2, 64 }, { 5, 64 }, { 64, 64 }, { 65, 64 }, { 1024, 64 }, { 3, 128 },
	{ 1, 4096 }, { 7, 1024 }, { 16, 4096 },
};

/* ---- random --------------------------------------------------------------- */

/* Some words of the device. Returns true if that was the end of a fetch. */
static bool device_steps(u32 r, u32 n)
{
	while (!has_read(r) && n--)
		device_step(r);
	if (!has_read(r))
		return false;
	device[r].busy = !take(r);
	if (device[r].busy) {
		again++;
		begin_read(r);
		return false;
	}
	if (fetch[r].guarded && fetch[r].reads < READS)
		check_fetched(r);
	limits += fetch[r].reads == READS;
	read_all(r);
	return true;
}

/* Now and then a fetch is given up, and the next one begins. */
static bool gives_up(void)
{
	bool now = !rng_below(&rng, cells * words);

	given_up += now;
	return now;
}

/* Fetch rows while all owners write, some faster than the device reads, some slower. */
static void run(u32 fetches)
{
	u32 pace[MEMBERS], r, k;

	for (r = 0; r < MEMBERS; r++)
		pace[r] = 1U << rng_below(&rng, 9);
	while (fetches) {
		r = (ME + 1 + rng_below(&rng, MEMBERS - 1)) % MEMBERS;
		if (!device[r].busy || gives_up()) {
			begin_fetch(r);
			begin_read(r);
		}
		if (device_steps(r, 1 + rng_below(&rng, 32))) {
			pace[r] = 1U << rng_below(&rng, 9);
			fetches--;
		}
		for (k = rng_below(&rng, pace[r]); k; k--)
			write_step(r);
	}
}

/* Owners are quiet: one fetch brings all. */
static void settle(void)
{
	u32 r, i;

	for (r = 0; r < MEMBERS; r++) {
		if (r == ME)
			continue;
		repair(r);
		fetch_least(r);
		for (i = 0; i < cells; i++)
			CHECK_EQ(read_cell(r, i), owner[r].sealed[i]);
		CHECK_EQ(member[r].guard, owner[r].sealed[0]);
	}
}

static void test_random(bool is_vouched)
{
	u32 i, turn, scale = tap_env("SCHEDULES", 100);

	accepted = 0;
	half = 0;
	guards = 0;
	again = 0;
	limits = 0;
	given_up = 0;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		open_world(shapes[i].cells, shapes[i].cell, is_vouched);
		for (turn = 0; turn < 4; turn++) {
			run(1 + max(1U, 2048 / (cells * words)) * scale / 20);
			settle();
		}
	}
	CHECK(accepted && half && guards && again);
	/* A few fetches do not meet all that is rare. */
	CHECK((limits && given_up) || scale < 100);
}

static void test_poll(void)
{
	test_random(false);
}

static void test_imm(void)
{
	test_random(true);
}

/* ---- directed ------------------------------------------------------------- */

/* The same test with and without versions of guards that are vouched for. */
static void both(void (*fn)(void), u32 c)
{
	open_world(c, 64, false);
	fn();
	open_world(c, 64, true);
	fn();
}

/* The first fetch brings the row. One that finds nothing new changes nothing. */
static void quiet_of(u32 c, u32 cell, bool is_vouched)
{
	u32 i;

	open_world(c, cell, is_vouched);
	fetch_least(OTHER);
	CHECK_EQ(tb.stats.heard, 0);
	for (i = cells; i--;)
		put(OTHER, i);
	fetch_least(OTHER);
	for (i = 0; i < cells; i++)
		CHECK_EQ(read_cell(OTHER, i), 1);
	/* First the cells show, and then the guard. */
	CHECK_EQ(tb.stats.heard, cells > 1 ? 2 : 1);
	CHECK_EQ(member[OTHER].guard, 1);
	fetch_all(OTHER, 1);
	CHECK_EQ(tb.stats.heard, cells > 1 ? 2 : 1);
	CHECK_EQ(tb.changed, 0);
	CHECK_EQ(tb.stats.fetches, 3);
	CHECK_EQ(tb.stats.reads, cells > 1 ? 4 : 3);
	CHECK_EQ(member[0].guard, 0);
}

static void test_quiet(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		quiet_of(shapes[i].cells, shapes[i].cell, false);
		quiet_of(shapes[i].cells, shapes[i].cell, true);
	}
}

static void check_range(u32 at, u32 len)
{
	struct spindle_range range = spindle_tb_fetch_next(&fetch[OTHER], &tb);

	CHECK_EQ(range.at, at);
	CHECK_EQ(range.len, len);
}

static void test_ranges(void)
{
	open_world(65, 128, false);
	put(OTHER, 0);
	begin_fetch(OTHER);
	check_range(0, 65 * 128);
	CHECK(!read_once(OTHER));
	check_range(128, 64 * 128);
	CHECK(read_once(OTHER));
	begin_fetch(OTHER);
	check_range(0, 65 * 128);
	CHECK(read_once(OTHER));
}

/* A cell that is torn is read again, and the guard waits for it. */
static void torn_cell(void)
{
	u32 last = cells - 1, next = cells - 2, i;

	for (i = 0; i < cells; i++)
		put(OTHER, i);
	put_half(OTHER, last);
	begin_fetch(OTHER);
	for (i = 0; i < 2; i++) {
		CHECK(!read_once(OTHER));
		CHECK_EQ(read_cell(OTHER, 0), 0);
		CHECK_EQ(read_cell(OTHER, 1), 1);
		CHECK_EQ(read_cell(OTHER, next), 1);
		CHECK_EQ(read_cell(OTHER, last), 0);
		CHECK_EQ(tb.stats.heard, 1);
	}
	/* What was whole behind the guard may be torn in the next read. */
	finish_cell(OTHER);
	put(OTHER, next);
	put_half(OTHER, next);
	CHECK(read_once(OTHER));
	CHECK_EQ(read_cell(OTHER, 0), 1);
	CHECK_EQ(read_cell(OTHER, last), 2);
	CHECK_EQ(read_cell(OTHER, next), 1);
	CHECK_EQ(tb.stats.heard, 2);
	CHECK_EQ(tb.stats.fetches, 1);
	CHECK_EQ(tb.stats.reads, 3);
}

static void test_torn_cell(void)
{
	both(torn_cell, 4);
	both(torn_cell, 64);
	both(torn_cell, 65);
	both(torn_cell, 1024);
}

/* The owner has left a cell half written. Fetch until the limit, while another cell changes. */
static void fetch_to_limit(u32 r, u32 changing)
{
	u64 fetches = tb.stats.fetches, heard = tb.stats.heard;
	u32 i;

	begin_fetch(r);
	for (i = 1; i <= READS; i++) {
		begin_read(r);
		while (!has_read(r))
			device_step(r);
		CHECK_EQ(take(r), i == READS);
		read_all(r);
		if (changing)
			CHECK_EQ(read_cell(r, changing), owner[r].sealed[changing]);
		if (changing)
			put(r, changing);
	}
	CHECK_EQ(tb.stats.fetches, fetches);
	if (changing)
		CHECK_EQ(tb.stats.heard, heard + READS);
}

/* A cell that is never sealed costs all reads. Others come, and the guard stays as it was. */
static void never_sealed(void)
{
	put(OTHER, 0);
	put(OTHER, 1);
	fetch_least(OTHER);
	put(OTHER, 2);
	put(OTHER, 3);
	put(OTHER, 0);
	put_half(OTHER, 2);
	owner[OTHER].busy = false;
	put(OTHER, 1);
	fetch_to_limit(OTHER, 1);
	CHECK_EQ(read_cell(OTHER, 0), 1);
	CHECK_EQ(member[OTHER].guard, 1);
	CHECK_EQ(read_cell(OTHER, 2), 0);
	CHECK_EQ(read_cell(OTHER, 3), 1);
	fetch_to_limit(OTHER, 1);
	/* The next writer continues. */
	put(OTHER, 2);
	fetch_least(OTHER);
	CHECK_EQ(member[OTHER].guard, 2);
	CHECK_EQ(read_cell(OTHER, 2), owner[OTHER].sealed[2]);
}

static void test_never_sealed(void)
{
	both(never_sealed, 4);
	both(never_sealed, 128);
}

/* While an owner writes a cell whose last value is here already, nothing is read again. */
static void known_seal(void)
{
	u32 i;

	for (i = 1; i <= cells; i++)
		put(OTHER, i % cells);
	fetch_least(OTHER);
	put(OTHER, 1);
	put(OTHER, 0);
	put_half(OTHER, 2);
	fetch_least(OTHER);
	CHECK_EQ(read_cell(OTHER, 0), 2);
	CHECK_EQ(read_cell(OTHER, 1), 2);
	CHECK_EQ(read_cell(OTHER, 2), 1);
	finish_cell(OTHER);
	/* The same for the guard. */
	put_half(OTHER, 0);
	fetch_least(OTHER);
	CHECK_EQ(read_cell(OTHER, 0), 2);
	CHECK_EQ(read_cell(OTHER, 2), 2);
	CHECK_EQ(member[OTHER].guard, 2);
	finish_cell(OTHER);
	fetch_least(OTHER);
	CHECK_EQ(read_cell(OTHER, 0), 3);
}

static void test_known_seal(void)
{
	both(known_seal, 3);
}

/* A guard that nobody completes keeps no other cell from readers. */
static void torn_guard(void)
{
	put(OTHER, 0);
	put(OTHER, 1);
	put_half(OTHER, 0);
	fetch_to_limit(OTHER, 0);
	CHECK_EQ(device[OTHER].words, cells * words);
	CHECK_EQ(read_cell(OTHER, 0), 0);
	CHECK_EQ(read_cell(OTHER, 1), 1);
	CHECK_EQ(member[OTHER].guard, 0);
	finish_cell(OTHER);
	fetch_least(OTHER);
	CHECK_EQ(member[OTHER].guard, 2);
}

/* What comes together with the guard is not behind it. */
static void guard_in_last_read(void)
{
	u32 i;

	put(OTHER, 0);
	put(OTHER, 1);
	put_half(OTHER, 0);
	begin_fetch(OTHER);
	for (i = 1; i < READS; i++)
		CHECK(!read_once(OTHER));
	finish_cell(OTHER);
	CHECK(read_once(OTHER));
	CHECK_EQ(read_cell(OTHER, 1), 1);
	CHECK_EQ(read_cell(OTHER, 0), 0);
	CHECK_EQ(tb.stats.fetches, 0);
	fetch_least(OTHER);
	CHECK_EQ(read_cell(OTHER, 0), 2);
}

/* A cell that was whole in front of a guard has to be whole behind the guard, too. */
static void cells_before_guard(void)
{
	put(OTHER, 1);
	put(OTHER, 0);
	put_half(OTHER, 0);
	begin_fetch(OTHER);
	CHECK(!read_once(OTHER));
	CHECK_EQ(read_cell(OTHER, 1), 1);
	owner[OTHER].busy = false;
	put(OTHER, 1);
	put(OTHER, 0);
	put_half(OTHER, 1);
	CHECK(!read_once(OTHER));
	CHECK(!read_once(OTHER));
	CHECK_EQ(read_cell(OTHER, 0), 0);
	finish_cell(OTHER);
	CHECK(read_once(OTHER));
	CHECK_EQ(read_cell(OTHER, 0), owner[OTHER].sealed[0]);
	CHECK_EQ(read_cell(OTHER, 1), 3);
}

/* The guard that shows is the one in front of the cells, and no newer one. */
static void guard_is_kept(void)
{
	put(OTHER, 0);
	put(OTHER, 1);
	put_half(OTHER, 1);
	begin_fetch(OTHER);
	CHECK(!read_once(OTHER));
	finish_cell(OTHER);
	put(OTHER, 0);
	CHECK(read_once(OTHER));
	CHECK_EQ(read_cell(OTHER, 0), 1);
	CHECK_EQ(member[OTHER].guard, 1);
	/* The next fetch begins with a new guard. */
	fetch_least(OTHER);
	CHECK_EQ(read_cell(OTHER, 0), 2);
}

/* A fetch that is given up leaves nothing to the next one. */
static void begin_again(void)
{
	put(OTHER, 1);
	put(OTHER, 0);
	put_half(OTHER, 1);
	begin_fetch(OTHER);
	CHECK(!read_once(OTHER));
	finish_cell(OTHER);
	put(OTHER, 0);
	fetch_least(OTHER);
	CHECK_EQ(read_cell(OTHER, 0), 2);
}

static void test_guard(void)
{
	both(torn_guard, 3);
	both(guard_in_last_read, 3);
	both(cells_before_guard, 3);
	both(guard_is_kept, 3);
	both(begin_again, 3);
}

/* ---- liars ---------------------------------------------------------------- */

/* An owner that goes back to older values changes nothing. */
static void older(void)
{
	u64 kept[3 * 8];
	u32 i, k;

	for (i = 1; i <= cells; i++)
		put(OTHER, i % cells);
	memcpy(kept, owner[OTHER].row, sizeof(kept));
	for (i = 1; i <= cells; i++)
		put(OTHER, i % cells);
	fetch_least(OTHER);
	memcpy(owner[OTHER].row, kept, sizeof(kept));
	for (k = 0; k < 3; k++) {
		u64 heard = tb.stats.heard;

		fetch_least(OTHER);
		CHECK_EQ(tb.stats.heard, heard);
		for (i = 0; i < cells; i++)
			CHECK_EQ(read_cell(OTHER, i), 2);
	}
}

static void test_older(void)
{
	both(older, 3);
}

static u64 *lied, *truth;	/* what was read; and what had been shown before */

static bool is_whole(const u64 *cell)
{
	return spindle_mix(cell, words - 1) == cell[words - 1];
}

/* A cell that readers accept is sealed in one of the two. */
static void read_lies(u32 r)
{
	u32 cell = rng_below(&rng, cells);
	const u64 *at = shown[r] + cell * words, *kept = truth + cell * words;

	if (!is_whole(at) || !memcmp(at, kept, words * 8))
		return;
	/* The guard may be from a read before. */
	if (!cell && !memcmp(at, fetch[r].guard, words * 8))
		return;
	CHECK(is_whole(lied + cell * words));
	CHECK(!memcmp(at, lied + cell * words, words * 8));
	CHECK(at[words - 2] >= kept[words - 2]);
}

/* Any bytes, some of them with a seal, some with the seal of another value. */
static void lie(u32 r)
{
	u32 i, k;

	for (i = 0; i < cells; i++) {
		u64 *cell = lied + i * words;

		for (k = 0; k < words; k++)
			cell[k] = rng_odd(&rng);
		switch (rng_below(&rng, 4)) {
		case 0:
			break;
		case 1:
			cell[words - 1] = shown[r][i * words + words - 1];
			break;
		default:
			cell[words - 1] = spindle_mix(cell, words - 1);
		}
	}
}

static void lies_of(u32 c, u32 cell, bool is_vouched, u32 reads)
{
	bool end = true;
	u32 i;

	open_world(c, cell, is_vouched);
	truth = calloc(c, cell);
	lied = device[OTHER].landing;
	look = read_lies;
	while (reads--) {
		if (end)
			spindle_tb_fetch_begin(&fetch[OTHER], &tb);
		CHECK(spindle_tb_fetch_next(&fetch[OTHER], &tb).len);
		lie(OTHER);
		memcpy(truth, shown[OTHER], c * cell);
		end = take(OTHER);
		for (i = 0; i < cells; i++)
			CHECK(is_whole(shown[OTHER] + i * words));
	}
	CHECK(tb.stats.heard);
	CHECK(!spindle_tb_pending(&tb));
	spindle_tb_run(&tb);
	CHECK_EQ(tb.bad, 0);
	free(truth);
}

static void test_lies(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		lies_of(shapes[i].cells, shapes[i].cell, false, 60);
		lies_of(shapes[i].cells, shapes[i].cell, true, 60);
	}
}

/* ---- the own row ---------------------------------------------------------- */

/* Nothing is pushed, and flushes end at once. */
static void own_row(void)
{
	spindle_tb_attach(&tb, dirty, &ask, skip);
	CHECK(!spindle_tb_run(&tb));
	own[0] = 42;
	own[words - 2] = 1;
	own[words - 1] = spindle_mix(own, words - 1);
	dirty[0] = 3;
	ask = 1;
	CHECK(spindle_tb_run(&tb));
	CHECK_EQ(dirty[0], 0);
	CHECK_EQ(tb.stats.taken, 1);
	CHECK_EQ(tb.changed, BIT_ULL(ME));
	CHECK_EQ(tb.flushed, 1);
	CHECK(!spindle_tb_pending(&tb));
	ask = 2;
	spindle_tb_run(&tb);
	CHECK_EQ(tb.flushed, 2);
	CHECK(!spindle_tb_run(&tb));
	/* A member that is skipped is nothing special. */
	skip[0] = BIT_ULL(member[OTHER].instance);
	ask = 3;
	spindle_tb_run(&tb);
	CHECK_EQ(tb.flushed, 3);
	skip[0] = 0;
	spindle_tb_run(&tb);
	CHECK(!spindle_tb_pending(&tb));
	/* No member waits for a copy of the guard. */
	own[0]++;
	dirty[0] = 1;
	ask = 4;
	spindle_tb_run(&tb);
	CHECK_EQ(tb.flushed, 4);
	spindle_tb_adopt(&tb);
	CHECK(!spindle_tb_pending(&tb));
}

/* Only a liar pushes a block. Nobody looks at it. */
static void no_blocks(void)
{
	static const u64 word[SPINDLE_BLOCK_WORDS] = { [SPINDLE_TB_GUARD] = 9 };

	spindle_block_write(&block[OTHER], word);
	CHECK(!spindle_tb_run(&tb));
	CHECK_EQ(member[OTHER].guard, 0);
	CHECK_EQ(tb.stats.heard, 0);
}

/* A member that joins gets no push, and its row begins with nothing. */
static void own_follow(void)
{
	static struct spindle_tb_member before[MEMBERS];
	u32 from[MEMBERS], r;
	struct spindle_tb old;

	own_row();
	put(OTHER, 0);
	put(0, 0);
	fetch_least(OTHER);
	fetch_least(0);
	memcpy(before, member, sizeof(before));
	old = tb;
	old.member = before;
	make_tb();
	tb.guard = guard[2];
	tb.copy = guard[0];
	for (r = 0; r < MEMBERS; r++)
		from[r] = r ? r : SPINDLE_NO_RANK;
	spindle_tb_follow(&tb, &old, from);
	CHECK(!spindle_tb_pending(&tb));
	CHECK_EQ(member[OTHER].guard, 1);
	CHECK_EQ(member[0].guard, 0);
	CHECK_EQ(tb.stats.fetches, 2);
	ask = 5;
	spindle_tb_run(&tb);
	CHECK_EQ(tb.flushed, 5);
	CHECK(!spindle_tb_pending(&tb));
}

static void test_own_row(void)
{
	both(own_row, 3);
	both(no_blocks, 3);
	both(own_follow, 3);
}

/* Signal while word 0 of a cell of another row is not 0. */
static struct spindle_tb_pred *add_pred(struct spindle_tb_preds *set, u32 id, u32 cell)
{
	struct spindle_predicate p = {
		.id = id, .terms = 1, .triggers = 1,
		.term[0] = {
			.compare = SPINDLE_CMP_NE, .least = 1,
			.left = {
				.fold = SPINDLE_FOLD_EACH, .rows = SPINDLE_ROWS_OTHERS,
				.field = { .cell = cell, .width = 8 },
			},
		},
	};
	struct spindle_tb_pred *pred;

	CHECK_EQ(spindle_tb_pred_check(&p, cells, words * 8, true), 0);
	pred = calloc(1, spindle_tb_pred_bytes(&p));
	spindle_tb_pred_init(pred, &p);
	spindle_tb_pred_add(&tb, set, id, pred);
	return pred;
}

/* What a fetch has changed makes predicates look, and they see the guard. */
static void predicates(void)
{
	struct spindle_tb_preds set = { 0 };
	struct spindle_tb_pred *of_guard = add_pred(&set, 0, 0), *of_cell = add_pred(&set, 1, 1);

	spindle_tb_run(&tb);
	put(OTHER, 1);
	put(OTHER, 0);
	put_half(OTHER, 2);
	finish_cell(OTHER);
	put_half(OTHER, 2);
	begin_fetch(OTHER);
	CHECK(!read_once(OTHER));
	CHECK(spindle_tb_run(&tb));
	CHECK_EQ(of_cell->signals, 1);
	CHECK_EQ(of_guard->signals, 0);
	finish_cell(OTHER);
	CHECK(read_once(OTHER));
	CHECK(spindle_tb_run(&tb));
	CHECK_EQ(of_cell->signals, 2);
	CHECK_EQ(of_guard->signals, 1);
	/* Nothing has changed since. */
	fetch_least(OTHER);
	CHECK(!spindle_tb_run(&tb));
	CHECK_EQ(tb.stats.fired, 3);
	free(spindle_tb_pred_remove(&set, 0));
	free(spindle_tb_pred_remove(&set, 1));
}

static void test_predicates(void)
{
	both(predicates, 3);
}

static void free_any(const void *at)
{
	free((void *)at);
}

/* The mode of the view's subgroup is that of the table. */
static void test_mode(void)
{
	static const struct spindle_memory memory = { .zalloc = calloc, .free = free_any };
	static struct spindle_view view;
	u32 mode;

	for (mode = SPINDLE_MODE_TABLE; mode <= SPINDLE_MODE_TABLE_READ; mode++) {
		struct spindle_tb of_view = { 0 };

		view.num_subgroups = 1;
		view.subgroup[0] = (struct spindle_view_subgroup){
			.mode = mode, .window = 2, .max_msg = 64, .members = 3,
		};
		CHECK_EQ(spindle_tb_create(&of_view, &view, 0, 1, &memory), 0);
		CHECK_EQ(of_view.read, mode == SPINDLE_MODE_TABLE_READ);
		spindle_tb_destroy(&of_view, &memory);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "one fetch brings a row, and an idle row changes nothing", test_quiet },
		{ "first the row is read, and then the cells behind a new guard", test_ranges },
		{ "a torn cell is read again, and the guard waits", test_torn_cell },
		{ "a cell that is never sealed costs all reads, and no more", test_never_sealed },
		{ "a cell whose seal is known is not read again", test_known_seal },
		{ "a guard shows when all cells were read behind it", test_guard },
		{ "an older value changes nothing", test_older },
		{ "no bytes make readers accept what has no seal", test_lies },
		{ "in mode read nothing is pushed, and flushes end at once", test_own_row },
		{ "what was fetched makes predicates fire", test_predicates },
		{ "a table has the mode of its subgroup", test_mode },
		{ "readers get whole values, and what was before a guard", test_poll },
		{ "the same where guards are vouched for", test_imm },
	};

	rng = rng_seed();
	world_look = between_stores;
	return tap_run(cases, ARRAY_SIZE(cases));
}
