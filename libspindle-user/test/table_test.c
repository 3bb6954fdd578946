// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of the library's tables without a kernel, on top of fake_table.c. TAP on stdout.
 *
 * The value of a cell follows from node, cell and version, so a reader can check all of it. The
 * value of the guard lists the versions that the other cells had when it was sealed.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <linux/spindle_genl.h>
#include <spindle/table.h>

#include "fake_table.h"
#include "sys.h"
#include "tap.h"

#define MAX_CELLS	5
#define BIG		((SPINDLE_MAX_CELL - 16) / 8)

static const struct fake_table_opts plain;

static int attach_node(struct spindle_table *t, uint32_t node, uint32_t flags)
{
	struct spindle_table_attr o = { .node = node, .table = 2, .flags = flags };

	return spindle_table_attach(t, &o);
}

/* Attach, or bail out, because the rest of a test needs the attachment. */
static void start(struct spindle_table *t, uint32_t node, uint32_t flags)
{
	/* SIGALRM ends a test that hangs. */
	alarm(300);
	if (attach_node(t, node, flags))
		bail_out("cannot attach");
}

static void stop(struct spindle_table *t, unsigned int n)
{
	while (n--)
		spindle_table_detach(&t[n]);
	CHECK(fake_table_look().open_files == 0);
	CHECK(fake_table_look().mappings == 0);
	CHECK(fake_table_look().lost == 0);
}

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static uint64_t word_of(uint32_t node, uint32_t cell, uint64_t version, uint32_t i)
{
	return version ? (node * 1000003ULL + cell * 101 + version) * (2 * i + 1) : 0;
}

/* ---- attach ----------------------------------------------------------- */

static void test_geometry(void)
{
	struct spindle_seat seat[FAKE_NODES];
	struct spindle_table t;
	uint32_t instance = 99;

	fake_table_setup(&plain);
	start(&t, 2, SPINDLE_TABLE_WRITE);
	CHECK(t.step == SPINDLE_STEP_DONE && t.table == 2 && t.vid == 3 && t.rank == 1);
	CHECK(t.cells == 4 && spindle_cell_bytes(&t) == 48 && spindle_table_row_bytes(&t) == 256);
	CHECK(spindle_table_fd(&t) >= 0 && !*spindle_table_fields(&t));
	CHECK(spindle_table_state(&t) == SPINDLE_STATE_ACTIVE && !spindle_table_error(&t));
	CHECK(spindle_table_seats(&t, seat, FAKE_NODES) == FAKE_NODES);
	CHECK(seat[1].node == 2 && seat[1].sst == t.own_instance);
	CHECK(seat[1].flags & SPINDLE_SEAT_ME);
	CHECK(spindle_table_seats(&t, seat, 2) == -ENOSPC && t.members == 3);
	CHECK(spindle_table_seats(&t, NULL, 0) == FAKE_NODES);
	CHECK(!spindle_table_instance(&t, 2, &instance) && instance == t.own_instance);
	CHECK(spindle_table_instance(&t, 9, &instance) == -ENOENT);
	stop(&t, 1);
	spindle_table_detach(&t);
	CHECK(!spindle_cell_begin(&t, 1) && spindle_cell_put(&t, 1, "x", 1) == -EBADF);
	CHECK(spindle_cell_get(&t, instance, 1, NULL, 0, NULL) == -ENOENT);
	CHECK(spindle_table_wait(&t, 0) == -EBADF);
}

/* The text is the kernel's, as long as the attachment. */
static void test_fields(void)
{
	struct fake_table_opts o = { .fields = "load:u32,host:s16" };
	struct spindle_table t;

	fake_table_setup(&o);
	start(&t, 2, 0);
	CHECK(!strcmp(spindle_table_fields(&t), o.fields));
	spindle_table_detach(&t);
}

static void expect_refusal(const struct fake_table_opts *f, int want, const char *text)
{
	struct spindle_table_attr o = { .node = 1, .table = 2, .flags = SPINDLE_TABLE_WRITE };
	struct spindle_table t;
	char buf[200];
	int err;

	fake_table_setup(f);
	err = spindle_table_attach(&t, &o);
	CHECK_EQ(err, want);
	spindle_table_attach_strerror(&t, &o, err, buf, sizeof(buf));
	if (!strstr(buf, text))
		tap_fail("want \"%s\" in \"%s\"", text, buf);
	stop(&t, 1);
}

static void test_refusal(void)
{
	struct spindle_table_attr o = { .device = "/nonexistent", .node = 1 };
	struct spindle_table t, second;
	char buf[200];

	expect_refusal(&(struct fake_table_opts){ .attach_err = ENODEV }, -ENODEV, "node 1");
	expect_refusal(&(struct fake_table_opts){ .attach_err = ENOENT }, -ENOENT, "table 2");
	expect_refusal(&(struct fake_table_opts){ .attach_err = EBUSY }, -EBUSY, "writes its row");
	expect_refusal(&(struct fake_table_opts){ .attach_err = EUSERS }, -EUSERS, "64 processes");
	expect_refusal(&(struct fake_table_opts){ .attach_err = ENOMEM }, -ENOMEM, "MEMLOCK");
	expect_refusal(&(struct fake_table_opts){ .attach_err = EIO }, -EIO, "cannot attach");
	expect_refusal(&(struct fake_table_opts){ .map_err = EAGAIN }, -EAGAIN, "cannot map");
	CHECK(spindle_table_attach(&t, &o) == -ENOENT && t.step == SPINDLE_STEP_OPEN);
	spindle_table_attach_strerror(&t, &o, -ENOENT, buf, sizeof(buf));
	CHECK(strstr(buf, "/nonexistent"));
	o.resv[1] = 1;
	CHECK(spindle_table_attach(&t, &o) == -EINVAL && t.step == SPINDLE_STEP_OPTS);
	fake_table_setup(&plain);
	start(&t, 1, SPINDLE_TABLE_WRITE);
	CHECK(attach_node(&second, 1, SPINDLE_TABLE_WRITE) == -EBUSY);
	CHECK(attach_node(&second, 1, 4) == -EINVAL);
	stop(&t, 1);
}

/* A member of the reply, and an invalid value for it. */
static const struct spoil {
	size_t offset;
	size_t size;
	uint64_t value;
} spoils[] = {
	{ offsetof(struct spindle_table_attach, cell), 4, 96 },
	{ offsetof(struct spindle_table_attach, cell), 4, 32 },
	{ offsetof(struct spindle_table_attach, cell), 4, 8192 },
	{ offsetof(struct spindle_table_attach, cells), 4, 0 },
	{ offsetof(struct spindle_table_attach, cells), 4, 1025 },
	{ offsetof(struct spindle_table_attach, members), 4, 0 },
	{ offsetof(struct spindle_table_attach, members), 4, FAKE_INSTANCES + 1 },
	{ offsetof(struct spindle_table_attach, rank), 4, 3 },
	{ offsetof(struct spindle_table_attach, own_instance), 4, FAKE_INSTANCES },
	{ offsetof(struct spindle_table_attach, instances), 4, 0 },
	{ offsetof(struct spindle_table_attach, instances), 4, 0xffffffff },
	{ offsetof(struct spindle_table_attach, row_stride), 8, 4096 },
	{ offsetof(struct spindle_table_attach, row_stride), 8, 1ULL << 62 },
	{ offsetof(struct spindle_table_attach, ctl_state), 4, 4096 },
	{ offsetof(struct spindle_table_attach, ctl_generation), 4, 20 },
	{ offsetof(struct spindle_table_attach, ctl_vouched), 4, 4096 - 8 * FAKE_INSTANCES + 8 },
	{ offsetof(struct spindle_table_attach, ctl_signals), 4, 4092 },
	{ offsetof(struct spindle_table_attach, ctl_fired), 4,
	  4096 - 8 * SPINDLE_MAX_PREDICATES + 8 },
	{ offsetof(struct spindle_table_attach, usr_heard), 4, 4096 },
	{ offsetof(struct spindle_table_attach, usr_seen), 4, 4092 },
	{ offsetof(struct spindle_table_attach, usr_dirty), 4, 4096 },
	{ offsetof(struct spindle_table_attach, ctl_flushed), 4, 4092 },
	{ offsetof(struct spindle_table_attach, usr_flush), 4, 4096 },
	{ offsetof(struct spindle_table_attach, usr_skip), 4, 4096 },
	{ offsetof(struct spindle_table_attach, mode), 4, SPINDLE_MODE_UNORDERED },
	{ offsetof(struct spindle_table_attach, mode), 4, SPINDLE_MODE_TABLE_READ + 1 },
	{ offsetof(struct spindle_table_attach, ctl_refreshed), 4, 4092 },
	{ offsetof(struct spindle_table_attach, usr_refresh), 4, 4096 },
	{ offsetof(struct spindle_table_attach, usr_every), 4, 4092 },
	{ offsetof(struct spindle_table_attach, ctl_fields), 4, 4096 - SPINDLE_FIELDS_LEN },
	{ offsetof(struct spindle_table_attach, own.len), 8, 0 },
	{ offsetof(struct spindle_table_attach, own.len), 8, 255 },
	{ offsetof(struct spindle_table_attach, rows.len), 8, 255 },
	{ offsetof(struct spindle_table_attach, rows.cookie), 8, 1ULL << 63 },
};

static const struct spoil *spoil;

static void spoil_member(struct spindle_table_attach *a)
{
	/* Little-endian, as the whole test. */
	memcpy((char *)a + spoil->offset, &spoil->value, spoil->size);
}

static void spoil_row(struct spindle_table_attach *a)
{
	a->cells = 1024;
	a->cell = 4096;
	a->own.len = 4 << 20;
	a->rows.len = 4 << 20;
	a->row_stride = 4 << 20;
}

static void test_layout(void)
{
	struct fake_table_opts o = { .mangle = spoil_member };

	for (spoil = spoils; spoil < spoils + ARRAY_SIZE(spoils); spoil++)
		expect_refusal(&o, -EPROTO, "ABI");
	o.mangle = spoil_row;
	expect_refusal(&o, -EPROTO, "ABI");
}

/* ---- cells ------------------------------------------------------------ */

static void test_limits(void)
{
	char big[64] = "0123456789", got[64];
	struct spindle_table t, r;
	uint32_t seed = 1, own;
	uint64_t version = 7;
	char why[160];

	fake_table_setup(&plain);
	start(&t, 1, SPINDLE_TABLE_WRITE);
	start(&r, 1, 0);
	own = t.own_instance;
	CHECK(spindle_cell_begin(&t, 3) && !spindle_cell_begin(&t, 4));
	CHECK(!spindle_cell_begin(&r, 0));
	CHECK(spindle_cell_end(&t, 4) == -EINVAL && spindle_cell_seal(&t, 4) == -EINVAL);
	CHECK(spindle_cell_end(&r, 0) == -EBADF && spindle_table_push(&r) == -EBADF);
	CHECK(spindle_cell_put(&t, 4, big, 1) == -EINVAL);
	CHECK(spindle_cell_put(&t, 0, big, 49) == -EMSGSIZE);
	CHECK(strstr(spindle_table_call_strerror(&t, -EMSGSIZE, why, sizeof(why)), "48 bytes"));
	CHECK(!spindle_cell_get(&r, own, 1, got, 48, &version) && version == 0 && got[47] == 0);
	memset(big + 10, 'x', 38);
	CHECK(!spindle_cell_put(&t, 1, big, 48) && !spindle_cell_put(&t, 1, big, 9));
	CHECK(!spindle_cell_get(&r, own, 1, got, 48, &version) && version == 2);
	CHECK(!memcmp(got, "012345678\0\0", 11) && got[47] == 0);
	CHECK(!spindle_cell_put(&t, 1, NULL, 0) && !spindle_cell_get(&r, own, 1, got, 1, NULL));
	CHECK(got[0] == 0 && got[1] == '1');
	CHECK(spindle_cell_get(&r, own, 4, got, 1, NULL) == -EINVAL);
	CHECK(spindle_cell_get(&r, own, 0, got, 49, NULL) == -EINVAL);
	CHECK(spindle_cell_get(&r, 0, 0, got, 1, NULL) == -ENOENT);
	CHECK(spindle_cell_get(&r, FAKE_INSTANCES, 0, got, 1, NULL) == -ENOENT);
	fake_table_settle(&seed);
	stop((struct spindle_table[]){ t, r }, 2);
}

/* All cells of the widest row arrive, each with its own bit. */
static void test_wide(void)
{
	struct spindle_table t[2];
	uint32_t seed = 5, i, n = 0, instance;
	uint64_t version;

	fake_table_setup(&(struct fake_table_opts){ .cells = 200 });
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	start(&t[1], 2, 0);
	CHECK(!spindle_table_instance(&t[1], 1, &instance));
	for (i = 0; i < 200; i += 1 + i % 3, n++) {
		CHECK(!spindle_cell_put(&t[0], i, &i, sizeof(i)));
		fake_table_settle(&seed);
		CHECK(!spindle_cell_get(&t[1], instance, i, NULL, 0, &version) && version == 1);
	}
	stop(t, 2);
}

static void test_kick(void)
{
	struct spindle_table t;
	uint32_t seed = 1;

	fake_table_setup(&plain);
	start(&t, 1, SPINDLE_TABLE_WRITE);
	CHECK(!spindle_cell_end(&t, 1) && fake_table_look().kicks == 0);
	fake_table_sleep(true);
	CHECK(!spindle_cell_seal(&t, 1) && !spindle_cell_seal(&t, 2));
	CHECK(fake_table_look().kicks == 0);
	CHECK(!spindle_table_push(&t) && fake_table_look().kicks == 1);
	CHECK(!spindle_cell_put(&t, 0, NULL, 0) && fake_table_look().kicks == 2);
	fake_table_settle(&seed);
	fake_table_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	CHECK(spindle_cell_end(&t, 1) == -EPIPE && fake_table_look().kicks == 2);
	stop(&t, 1);
}

/* ---- flush, skip ------------------------------------------------------ */

static uint64_t version_of(const struct spindle_table *t, uint32_t instance, uint32_t cell)
{
	uint64_t version = 0;

	CHECK(!spindle_cell_get(t, instance, cell, NULL, 0, &version));
	return version;
}

static bool is_out(const struct spindle_table *t)
{
	struct timespec now = { 0 };
	short revents;

	return spindle_sys_poll(t->fd, POLLOUT, &revents, &now) == 1 && (revents & POLLOUT);
}

static void test_flush(void)
{
	struct spindle_table t[2];
	uint32_t seed = 1;

	fake_table_setup(&plain);
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	start(&t[1], 2, 0);
	CHECK(spindle_table_flushed(&t[0]) && is_out(&t[0]) && !is_out(&t[1]));
	CHECK(spindle_table_flush(&t[1], 0) == -EBADF);
	CHECK(!spindle_cell_put(&t[0], 1, "x", 1));
	fake_table_sleep(true);
	CHECK(spindle_table_flush(&t[0], 0) == 0 && fake_table_look().kicks == 1);
	fake_table_sleep(false);
	CHECK(!spindle_table_flushed(&t[0]) && !is_out(&t[0]));
	while (!spindle_table_flushed(&t[0]))
		CHECK(fake_table_step(&seed));
	CHECK(version_of(&t[1], t[0].own_instance, 1) == 1 && is_out(&t[0]));
	/* Nothing is left to send, and the number is a new one all the same. */
	CHECK(spindle_table_flush(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(spindle_table_flushed(&t[0]));
	CHECK(!spindle_cell_put(&t[0], 1, "y", 1));
	CHECK(spindle_table_flush(&t[0], 10) == 0);
	fake_table_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	CHECK(spindle_table_flush(&t[0], -1) == -EPIPE);
	fake_table_settle(&seed);
	stop(t, 2);
}

static void test_flush_waits(void)
{
	struct spindle_table t[2];
	uint64_t i;

	fake_table_setup(&(struct fake_table_opts){ .cells = 4, .cell = SPINDLE_MAX_CELL });
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	start(&t[1], 3, 0);
	fake_table_start();
	for (i = 1; i <= 300; i++) {
		CHECK(!spindle_cell_put(&t[0], 3, &i, sizeof(i)));
		CHECK(spindle_table_flush(&t[0], -1) == 1);
		CHECK(version_of(&t[1], t[0].own_instance, 3) == i);
	}
	fake_table_stop();
	stop(t, 2);
}

static void test_skip(void)
{
	struct spindle_table t[3];
	uint32_t seed = 1;

	fake_table_setup(&plain);
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	start(&t[1], 2, 0);
	start(&t[2], 3, 0);
	CHECK(spindle_table_skip(&t[1], 0, true) == -EBADF);
	CHECK(spindle_table_skip(&t[0], FAKE_INSTANCES, true) == -EINVAL);
	CHECK(spindle_table_skip(&t[0], t[0].own_instance, true) == -EINVAL);
	CHECK(!spindle_table_skip(&t[0], t[1].own_instance, true));
	CHECK(!spindle_cell_put(&t[0], 2, "x", 1));
	CHECK(spindle_table_flush(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(spindle_table_flushed(&t[0]));
	CHECK(version_of(&t[1], t[0].own_instance, 2) == 0);
	CHECK(version_of(&t[2], t[0].own_instance, 2) == 1);
	fake_table_sleep(true);
	CHECK(!spindle_table_skip(&t[0], t[1].own_instance, false) && fake_table_look().kicks == 1);
	fake_table_settle(&seed);
	CHECK(version_of(&t[1], t[0].own_instance, 2) == 1);
	stop(t, 3);
}

static struct spindle_table *watched;
static int stores, marked;

/* The first store to the row: was the cell marked before? */
static void on_store(int sig)
{
	(void)sig;
	stores++;
	marked |= __atomic_load_n(watched->usr_dirty, __ATOMIC_ACQUIRE) != 0;
	mprotect(spindle_cell_begin(watched, 0), 4096, PROT_READ | PROT_WRITE);
}

/* An engine that takes the mark without the seal would push the cell torn, and not again. */
static void test_order(void)
{
	struct sigaction act = { .sa_handler = on_store }, old;
	struct spindle_table t;
	uint32_t seed = 1;

	watched = &t;
	stores = 0;
	marked = 0;
	fake_table_setup(&plain);
	start(&t, 1, SPINDLE_TABLE_WRITE);
	sigaction(SIGSEGV, &act, &old);
	mprotect(spindle_cell_begin(&t, 0), 4096, PROT_READ);
	CHECK(!spindle_cell_seal(&t, 1));
	sigaction(SIGSEGV, &old, NULL);
	CHECK(stores == 1 && !marked && *t.usr_dirty == 2);
	fake_table_settle(&seed);
	stop(&t, 1);
}

/* A writer dies in a change. The next one goes on with the versions of the row. */
static void test_successor(void)
{
	uint64_t value[6] = { 1, 2, 3, 4, 5, 6 }, got[6] = { 0 }, version = 0, *p;
	struct spindle_table t[2];
	uint32_t seed = 3, instance, i;

	fake_table_setup(&plain);
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	start(&t[1], 2, 0);
	CHECK(!spindle_table_instance(&t[1], 1, &instance));
	for (i = 0; i < 3; i++)
		CHECK(!spindle_cell_put(&t[0], 2, value, sizeof(value)));
	fake_table_settle(&seed);
	CHECK(!spindle_cell_get(&t[1], instance, 2, got, sizeof(got), &version) && version == 3);
	/* The engine pushes what the cell contains, which is torn. */
	CHECK(!spindle_cell_seal(&t[0], 2));
	p = spindle_cell_begin(&t[0], 2);
	p[0] = 99;
	fake_table_settle(&seed);
	spindle_table_detach(&t[0]);
	CHECK(spindle_cell_get(&t[1], instance, 2, got, sizeof(got), &version) == -EAGAIN);
	CHECK(version == 3 && got[0] == 1);
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	CHECK(spindle_cell_get(&t[0], instance, 2, got, sizeof(got), NULL) == -EAGAIN);
	p = spindle_cell_begin(&t[0], 2);
	CHECK(p[0] == 99 && p[1] == 2);
	p[0] = 100;
	CHECK(!spindle_cell_end(&t[0], 2));
	fake_table_settle(&seed);
	CHECK(!spindle_cell_get(&t[1], instance, 2, got, sizeof(got), &version));
	CHECK(version == 5 && got[0] == 100 && got[5] == 6);
	stop(t, 2);
}

/* ---- random schedules ------------------------------------------------- */

static struct {
	struct spindle_table w[FAKE_NODES], r;
	uint64_t version[FAKE_NODES][MAX_CELLS];	/* sealed by the writer */
	uint64_t begun[FAKE_NODES];		/* cell + 1 that is half written */
	uint64_t newest[FAKE_NODES][MAX_CELLS];		/* seen by the reader */
	uint64_t looked[FAKE_NODES][MAX_CELLS];		/* at the last look after a change */
	unsigned int whole, torn;
} s;

static void value_of(uint32_t node, uint32_t cell, uint64_t *value)
{
	uint32_t i;

	for (i = 0; i < 6; i++)
		value[i] = cell ? word_of(node, cell, s.version[node][cell] + 1, i) :
			   i && i < MAX_CELLS ? s.version[node][i] : 0;
}

static void write_some(uint32_t node, uint32_t *seed)
{
	uint32_t cell = rnd(seed) % MAX_CELLS, i, part;
	uint64_t value[6], *p;

	/* What is half written is finished first. */
	if (s.begun[node])
		cell = (uint32_t)s.begun[node] - 1;
	value_of(node, cell, value);
	p = spindle_cell_begin(&s.w[node], cell);
	part = rnd(seed) % 7;
	for (i = 0; i < (s.begun[node] ? 6 : part); i++)
		p[i] = value[i];
	if (!s.begun[node] && part < 6) {
		s.begun[node] = cell + 1;
		if (rnd(seed) % 16)
			return;
		/* Kill the writer now and then. */
		spindle_table_detach(&s.w[node]);
		start(&s.w[node], node + 1, SPINDLE_TABLE_WRITE);
		return;
	}
	s.begun[node] = 0;
	s.version[node][cell]++;
	CHECK(!spindle_cell_end(&s.w[node], cell));
}

#define TORN	UINT64_MAX

/* What a reader sees of one cell. Return: its version, or TORN. */
static uint64_t check_cell(uint32_t node, uint32_t cell, uint64_t *value)
{
	uint64_t version = 0;
	uint32_t i;
	int err;

	err = spindle_cell_get(&s.r, s.w[node].own_instance, cell, value, 48, &version);
	if (err) {
		CHECK(err == -EAGAIN);
		s.torn++;
		return TORN;
	}
	s.whole++;
	CHECK(version >= s.newest[node][cell] && version <= s.version[node][cell]);
	s.newest[node][cell] = version;
	for (i = 0; cell && i < 6; i++)
		CHECK(value[i] == word_of(node, cell, version, i));
	return version;
}

static void check_row(uint32_t node, bool look)
{
	uint64_t guard[6] = { 0 }, value[6], version;
	uint32_t cell;
	bool known;

	known = check_cell(node, 0, guard) != TORN;
	for (cell = 1; cell < MAX_CELLS; cell++) {
		version = check_cell(node, cell, value);
		if (known && version != TORN)
			CHECK(version >= guard[cell]);
		else if (known)
			/* Only something newer can have torn the cell. */
			CHECK(s.version[node][cell] > guard[cell] || s.begun[node] == cell + 1);
	}
	for (cell = 0; look && cell < MAX_CELLS; cell++)
		s.looked[node][cell] = s.newest[node][cell];
}

/* A reader that looks after each wait misses nothing. */
static void check_wait(void)
{
	uint32_t node, cell;
	int ret = spindle_table_wait(&s.r, -1);

	CHECK(ret == 0 || ret == 1);
	for (node = 1; node < FAKE_NODES; node++) {
		check_row(node, ret == 1);
		for (cell = 0; cell < MAX_CELLS; cell++)
			CHECK(s.looked[node][cell] == s.newest[node][cell] ||
			      !fake_table_is_calm(0));
	}
}

/* The rows are read once, or again and again, or no more. */
static void ask_for_reads(uint32_t *seed)
{
	CHECK(spindle_table_refresh(&s.r, 0) == 0);
	CHECK(!spindle_table_every(&s.r, rnd(seed) % 3));
	fake_table_pass(rnd(seed) % 3);
}

static void run_seed(uint32_t seed, const struct fake_table_opts *o)
{
	uint32_t node, cell, i;
	uint64_t value[6];

	memset(s.version, 0, sizeof(s.version));
	memset(s.begun, 0, sizeof(s.begun));
	memset(s.newest, 0, sizeof(s.newest));
	memset(s.looked, 0, sizeof(s.looked));
	fake_table_setup(o);
	for (node = 0; node < FAKE_NODES; node++)
		start(&s.w[node], node + 1, SPINDLE_TABLE_WRITE);
	start(&s.r, 1, 0);
	for (i = 0; i < 300; i++) {
		if (o->read && rnd(&seed) % 32 == 0)
			ask_for_reads(&seed);
		if (rnd(&seed) % 4 == 0)
			write_some(rnd(&seed) % FAKE_NODES, &seed);
		else
			fake_table_step(&seed);
		if (rnd(&seed) % 3 == 0)
			check_wait();
	}
	for (node = 0; node < FAKE_NODES; node++)
		if (s.begun[node])
			write_some(node, &seed);
	if (o->read)
		CHECK(spindle_table_refresh(&s.r, 0) == 0);
	fake_table_settle(&seed);
	for (node = 0; node < FAKE_NODES; node++)
		for (cell = 0; cell < MAX_CELLS; cell++) {
			check_cell(node, cell, value);
			CHECK_EQ(s.newest[node][cell], s.version[node][cell]);
		}
	spindle_table_detach(&s.r);
	stop(s.w, FAKE_NODES);
}

static void run_seeds(const struct fake_table_opts *o)
{
	uint32_t seed;

	s.whole = 0;
	s.torn = 0;
	for (seed = 1; seed <= 300 && !tap_failures; seed++)
		run_seed(seed, o);
	if (tap_failures)
		tap_fail("seed %u", seed - 1);
	printf("# %u whole, %u torn\n", s.whole, s.torn);
	/* Only whole cells are taken from what was read. */
	CHECK(s.whole > 10000 && (o->read ? !s.torn : s.torn > 1000));
}

static void test_random(void)
{
	run_seeds(&(struct fake_table_opts){ .cells = MAX_CELLS });
}

static void test_vouch(void)
{
	run_seeds(&(struct fake_table_opts){ .cells = MAX_CELLS, .vouch = true });
}

static void test_mode_read(void)
{
	run_seeds(&(struct fake_table_opts){ .cells = MAX_CELLS, .read = true });
}

/* ---- snapshots -------------------------------------------------------- */

static void test_snapshot(void)
{
	struct spindle_table t[2];
	struct spindle_snapshot info;
	uint32_t seed = 9;
	uint64_t buf[3 * 32 + 1], *p;

	fake_table_setup(&plain);
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	start(&t[1], 2, 0);
	memset(buf, 0xff, sizeof(buf));
	CHECK(spindle_table_snapshot(&t[1], buf, sizeof(buf), 2, &info) == -EINVAL);
	CHECK(spindle_table_snapshot(&t[1], (char *)buf + 4, 768, 0, &info) == -EINVAL);
	CHECK(spindle_table_snapshot(&t[1], buf, 767, 0, &info) == -ENOSPC);
	CHECK(!spindle_cell_put(&t[0], 3, "abc", 3));
	fake_table_settle(&seed);
	CHECK(!spindle_table_snapshot(&t[1], buf, 768, SPINDLE_SNAPSHOT_ATOMIC, &info));
	CHECK(info.vid == 3 && info.rows == 3 && !info.torn && info.passes == 2);
	CHECK(!memcmp(&buf[3 * 8], "abc", 4) && buf[3 * 8 + 6] == 1);
	CHECK(buf[2 * 8 + 6] == 0 && buf[32] == 0 && buf[95] == 0 && buf[96] == ~0ULL);
	CHECK(!spindle_table_snapshot(&t[1], buf, 768, SPINDLE_SNAPSHOT_ATOMIC, &info));
	CHECK(info.passes == 2);
	p = spindle_cell_begin(&t[0], 3);
	p[0] = 5;
	CHECK(!spindle_table_snapshot(&t[0], buf, 768, 0, &info));
	CHECK(info.torn == 1 && info.passes == 1 && buf[3 * 8] == 0 && buf[3 * 8 + 7] == 0);
	CHECK(spindle_table_snapshot(&t[0], buf, 768, SPINDLE_SNAPSHOT_ATOMIC, &info) == -EAGAIN);
	CHECK(info.torn == 1);
	spindle_table_detach(&t[0]);
	CHECK(spindle_table_snapshot(&t[0], buf, 768, 0, &info) == -EBADF);
	stop(&t[1], 1);
}

/* ---- waiting, members ------------------------------------------------- */

static struct spindle_table *hooked;
static int hook_calls;

/* The table changes between the compare of the library and poll() of the kernel. */
static void change_at_poll(enum fake_call call)
{
	uint32_t seed = 1;

	if (call != FAKE_POLL || hook_calls++)
		return;
	spindle_cell_put(hooked, 1, "x", 1);
	fake_table_settle(&seed);
}

static void test_wait(void)
{
	struct spindle_table t[2];
	uint32_t seed = 1;
	uint64_t version;
	char why[160];

	hooked = &t[0];
	hook_calls = 0;
	fake_table_setup(&(struct fake_table_opts){ .hook = change_at_poll });
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	start(&t[1], 2, 0);
	CHECK(spindle_table_wait(&t[1], 0) == 0 && hook_calls == 0);
	CHECK(spindle_table_wait(&t[1], -1) == 1 && hook_calls == 1);
	CHECK(!spindle_cell_get(&t[1], t[0].own_instance, 1, NULL, 0, &version) && version == 1);
	CHECK(spindle_table_wait(&t[1], -1) == 0);
	/* A change while the process looks at the rows. */
	CHECK(!spindle_cell_put(&t[0], 1, "y", 1));
	fake_table_settle(&seed);
	CHECK(spindle_table_wait(&t[1], 0) == 1);
	CHECK(!spindle_cell_put(&t[0], 1, "z", 1));
	fake_table_settle(&seed);
	CHECK(spindle_table_wait(&t[1], -1) == 1 && spindle_table_wait(&t[1], 0) == 0);
	/* The last change comes before the end. */
	CHECK(!spindle_cell_put(&t[0], 1, "!", 1));
	fake_table_settle(&seed);
	fake_table_final(SPINDLE_STATE_FAILED, SPINDLE_ERR_DEVICE_GONE);
	CHECK(spindle_table_wait(&t[1], -1) == 1);
	CHECK(spindle_table_wait(&t[1], -1) == -EPIPE);
	spindle_table_call_strerror(&t[1], -EPIPE, why, sizeof(why));
	CHECK(strstr(why, "failed: the RDMA device"));
	stop(t, 2);
}

static void begin_view(bool with_third)
{
	struct spindle_seat seat[3] = {
		{ .node = 1, .sst = FAKE_INSTANCES - 1 },
		{ .node = 2, .sst = FAKE_INSTANCES - 2 },
		{ .node = 3, .sst = FAKE_INSTANCES - 3, .flags = SPINDLE_SEAT_JOINED },
	};

	fake_table_view(seat, 2 + with_third);
}

/* The third node leaves and comes back while rows are mapped. */
static void view_at_row(enum fake_call call)
{
	if (call != FAKE_ROW || hook_calls++ != 3)
		return;
	begin_view(false);
	begin_view(true);
}

static void test_members(void)
{
	struct spindle_seat seat[3];
	struct spindle_table r, w;
	uint32_t seed = 4, i, third = FAKE_INSTANCES - 3;
	uint64_t version;

	fake_table_setup(&plain);
	start(&w, 3, SPINDLE_TABLE_WRITE);
	start(&r, 1, 0);
	CHECK(!spindle_cell_put(&w, 1, "old", 3));
	fake_table_settle(&seed);
	spindle_table_detach(&w);
	CHECK(!spindle_cell_get(&r, third, 1, NULL, 0, &version) && version == 1);
	begin_view(false);
	CHECK(spindle_table_wait(&r, 0) == 1 && spindle_table_seats(&r, seat, 3) == 2);
	CHECK(r.vid == 4 && r.members == 2);
	CHECK(spindle_cell_get(&r, third, 1, NULL, 0, &version) == -ENOENT);
	CHECK(spindle_table_instance(&r, 3, &i) == -ENOENT);
	begin_view(true);
	CHECK(spindle_table_seats(&r, seat, 3) == 3);
	/* The reader misses both views. */
	start(&w, 3, SPINDLE_TABLE_WRITE);
	CHECK(!spindle_cell_put(&w, 1, "old", 3));
	fake_table_settle(&seed);
	spindle_table_detach(&w);
	begin_view(false);
	begin_view(true);
	CHECK(spindle_table_seats(&r, seat, 3) == 3 && r.vid == 7);
	CHECK(!spindle_cell_get(&r, third, 1, NULL, 0, &version) && version == 0);
	stop(&r, 1);
}

static void test_view_race(void)
{
	struct spindle_table r;
	uint64_t version;

	hook_calls = 1;
	fake_table_setup(&(struct fake_table_opts){ .hook = view_at_row });
	start(&r, 1, 0);
	CHECK(r.vid == 5 && hook_calls > 4);
	CHECK(!spindle_cell_get(&r, FAKE_INSTANCES - 3, 1, NULL, 0, &version));
	stop(&r, 1);
}

static void test_bad_seats(void)
{
	struct spindle_seat seat[2] = { { .node = 1, .sst = FAKE_INSTANCES - 1 }, { .node = 2 } };
	struct spindle_table r;

	fake_table_setup(&plain);
	start(&r, 1, 0);
	seat[1].sst = FAKE_INSTANCES;
	fake_table_view(seat, 2);
	CHECK(spindle_table_seats(&r, NULL, 0) == -EPROTO && r.members == 3 && r.vid == 3);
	seat[1].sst = seat[0].sst;
	fake_table_view(seat, 2);
	CHECK(spindle_table_seats(&r, NULL, 0) == -EPROTO);
	fake_table_view(&(struct spindle_seat){ .node = 2 }, 1);
	CHECK(spindle_table_seats(&r, NULL, 0) == -EPROTO);
	CHECK(fake_table_look().mappings == 5);
	stop(&r, 1);
}

/* ---- threads ---------------------------------------------------------- */

static struct spindle_table stress_w, stress_r;
static unsigned int stress_rounds = 3000;

static void *stress_writer(void *arg)
{
	uint64_t value[BIG];
	unsigned int round, i;

	(void)arg;
	for (round = 1; round <= stress_rounds; round++) {
		for (i = 0; i < BIG; i++)
			value[i] = word_of(1, 1, round, i);
		CHECK(!spindle_cell_put(&stress_w, 1, value, sizeof(value)));
		/* Now and then the engine falls asleep. Each time the value has to arrive. */
		if (round % 2)
			continue;
		while (__atomic_load_n(&s.newest[0][1], __ATOMIC_ACQUIRE) < round)
			sched_yield();
	}
	return NULL;
}

/* Read until the last version. Return: what went wrong. */
static const char *stress_read(void)
{
	uint64_t value[BIG], version = 0, last = 0;
	uint32_t i;
	int ret;

	while (last < stress_rounds) {
		ret = spindle_table_wait(&stress_r, 20000);
		if (ret != 1)
			return "a change was not reported, or its cell was not sent";
		if (spindle_cell_get(&stress_r, stress_w.own_instance, 1, value, sizeof(value),
				     &version))
			continue;
		for (i = 0; i < BIG; i++)
			if (value[i] != word_of(1, 1, version, i))
				return "a value is torn";
		if (version < last)
			return "a version went back";
		last = version;
		__atomic_store_n(&s.newest[0][1], last, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void test_stress(void)
{
	const char *why;
	pthread_t t;

	memset(s.newest, 0, sizeof(s.newest));
	fake_table_setup(&(struct fake_table_opts){ .cells = 2, .cell = SPINDLE_MAX_CELL });
	start(&stress_w, 1, SPINDLE_TABLE_WRITE);
	start(&stress_r, 2, 0);
	fake_table_start();
	pthread_create(&t, NULL, stress_writer, NULL);
	why = stress_read();
	if (why)
		bail_out(why);
	pthread_join(t, NULL);
	fake_table_stop();
	printf("# %u kicks\n", fake_table_look().kicks);
	stop((struct spindle_table[]){ stress_w, stress_r }, 2);
}

/* The first and the last cell get the same numbers, one after the other, until the reader ends. */
static void *pair_writer(void *arg)
{
	const bool *end = arg;
	uint32_t seed = 1, pause;

	while (!__atomic_load_n(end, __ATOMIC_ACQUIRE)) {
		CHECK(!spindle_cell_put(&stress_w, 0, NULL, 0));
		CHECK(!spindle_cell_put(&stress_w, 5, NULL, 0));
		for (pause = rnd(&seed) % 3; pause; pause--)
			usleep(100);
	}
	return NULL;
}

static void test_atomic(void)
{
	static uint64_t buf[FAKE_NODES][6][SPINDLE_MAX_CELL / 8];
	struct spindle_snapshot info;
	unsigned int i, good = 0;
	uint64_t first = 0, last = 0;
	bool end = false;
	pthread_t t;
	int err;

	fake_table_setup(&(struct fake_table_opts){ .cells = 6, .cell = SPINDLE_MAX_CELL });
	start(&stress_w, 1, SPINDLE_TABLE_WRITE);
	pthread_create(&t, NULL, pair_writer, &end);
	for (i = 0; i < stress_rounds / 3; i++) {
		err = spindle_table_snapshot(&stress_w, buf, sizeof(buf), SPINDLE_SNAPSHOT_ATOMIC,
					     &info);
		CHECK(err == 0 || err == -EAGAIN);
		first = buf[0][0][SPINDLE_MAX_CELL / 8 - 2];
		last = buf[0][5][SPINDLE_MAX_CELL / 8 - 2];
		if (err)
			continue;
		good++;
		CHECK(!info.torn && (first == last || first == last + 1));
	}
	__atomic_store_n(&end, true, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	CHECK(good > 0);
	printf("# %u of %u snapshots, %llu versions\n", good, i, (unsigned long long)last);
	stop(&stress_w, 1);
}

int main(int argc, char **argv)
{
	static const struct tap_case list[] = {
		{ "attach: geometry, members, detach twice", test_geometry },
		{ "attach: the fields of the table", test_fields },
		{ "attach: refusals are undone and explained", test_refusal },
		{ "attach: an illegal layout is refused", test_layout },
		{ "cells: limits, lengths, bad arguments", test_limits },
		{ "cells: each of a wide row has its own dirty bit", test_wide },
		{ "cells: one kick for each push, and only if the engine sleeps", test_kick },
		{ "cells: a cell is marked behind its seal", test_order },
		{ "cells: a new writer goes on where one was killed", test_successor },
		{ "flush: ends when all members have what was sealed", test_flush },
		{ "flush: waits for an engine of its own pace", test_flush_waits },
		{ "skip: a member gets nothing, then all that it lacks", test_skip },
		{ "snapshot: sizes, torn cells, no change in between", test_snapshot },
		{ "wait: no change is missed, the last one before the end", test_wait },
		{ "members: a row of another view is mapped again", test_members },
		{ "members: a view that ends while rows are mapped", test_view_race },
		{ "members: impossible seats change nothing", test_bad_seats },
		{ "random: values are whole, versions grow, the guard holds", test_random },
		{ "random: the same, and the guard arrives before the other cells", test_vouch },
		{ "random: the same, and rows are read", test_mode_read },
		{ "stress: writer, engine and reader at once", test_stress },
		{ "stress: atomic snapshots while cells change", test_atomic },
	};

	if (argc > 1)
		stress_rounds = (unsigned int)strtoul(argv[1], NULL, 0);
	return tap_run(list, ARRAY_SIZE(list));
}
