// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of the library's tables of mode read without a kernel, on top of fake_table.c. TAP on
 * stdout. The random schedules of table_test.c run in that mode, too.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include <linux/spindle_genl.h>
#include <spindle/predicate.h>
#include <spindle/table.h>

#include "fake_table.h"
#include "sys.h"
#include "tap.h"

#define W	SPINDLE_TABLE_WRITE

static const struct fake_table_opts plain = { .read = true };
static uint32_t seed = 1;
static unsigned int rounds = 1000;

/* Attach, or bail out, because the rest of a test needs the attachment. */
static void start(struct spindle_table *t, uint32_t node, uint32_t flags)
{
	struct spindle_table_attr o = { .node = node, .table = 2, .flags = flags };

	/* SIGALRM ends a test that hangs. */
	alarm(300);
	if (spindle_table_attach(t, &o))
		bail_out("cannot attach");
}

/* Attach to the same node as a reader, and to the others as their writers. */
static void start_all(struct spindle_table *t, const struct fake_table_opts *o)
{
	uint32_t i;

	fake_table_setup(o);
	for (i = 0; i < FAKE_NODES; i++)
		start(&t[i], i + 1, i ? W : 0);
}

static void stop(struct spindle_table *t, unsigned int n)
{
	while (n--)
		spindle_table_detach(&t[n]);
	CHECK_EQ(fake_table_look().open_files, 0);
	CHECK_EQ(fake_table_look().mappings, 0);
	CHECK_EQ(fake_table_look().predicates, 0);
	CHECK_EQ(fake_table_look().lost, 0);
}

/* How many values of a cell of the node have been read. */
static uint64_t version_of(const struct spindle_table *t, uint32_t node, uint32_t cell)
{
	uint64_t version = UINT64_MAX;
	uint32_t instance;

	CHECK(!spindle_table_instance(t, node, &instance));
	CHECK(!spindle_cell_get(t, instance, cell, NULL, 0, &version));
	return version;
}

static uint64_t value_of(const struct spindle_table *t, uint32_t node)
{
	uint64_t value = 0;
	uint32_t instance;

	CHECK(!spindle_table_instance(t, node, &instance));
	CHECK(!spindle_cell_get(t, instance, 1, &value, sizeof(value), NULL));
	return value;
}

static void put(struct spindle_table *t, uint32_t cell, uint64_t value)
{
	CHECK(!spindle_cell_put(t, cell, &value, sizeof(value)));
	fake_table_settle(&seed);
}

static bool is_band(const struct spindle_table *t)
{
	struct timespec now = { 0 };
	short revents;

	return spindle_sys_poll(t->fd, POLLRDBAND, &revents, &now) == 1 && (revents & POLLRDBAND);
}

static unsigned int reads(void)
{
	return fake_table_look().reads;
}

static bool explains(const struct spindle_table *t, const char *text)
{
	char why[160];

	return strstr(spindle_table_call_strerror(t, -EOPNOTSUPP, why, sizeof(why)), text);
}

/* ---- modes ------------------------------------------------------------ */

static void test_modes(void)
{
	struct spindle_table t[FAKE_NODES];

	start_all(t, &(struct fake_table_opts){ 0 });
	CHECK(!spindle_table_is_read(&t[0]) && spindle_table_refreshed(&t[0]));
	fake_table_sleep(true);
	CHECK_EQ(spindle_table_refresh(&t[0], -1), -EOPNOTSUPP);
	CHECK_EQ(spindle_table_every(&t[1], 1), -EOPNOTSUPP);
	CHECK(!*t[0].usr_refresh && !*t[1].usr_every && !fake_table_look().kicks);
	CHECK(explains(&t[0], "arrive by themselves"));
	stop(t, FAKE_NODES);
	start_all(t, &plain);
	CHECK(spindle_table_is_read(&t[0]) && spindle_table_is_read(&t[1]));
	fake_table_sleep(true);
	CHECK_EQ(spindle_table_flush(&t[1], -1), -EOPNOTSUPP);
	CHECK_EQ(spindle_table_skip(&t[1], t[0].own_instance, true), -EOPNOTSUPP);
	CHECK_EQ(spindle_table_skip(&t[1], t[0].own_instance, false), -EOPNOTSUPP);
	CHECK(!*t[1].usr_flush && !*t[1].usr_skip && !fake_table_look().kicks);
	CHECK_EQ(spindle_table_flush(&t[0], -1), -EBADF);
	CHECK_EQ(spindle_table_skip(&t[0], t[1].own_instance, true), -EBADF);
	CHECK(explains(&t[0], "members read the rows"));
	stop(t, FAKE_NODES);
	CHECK_EQ(spindle_table_refresh(&t[0], 0), -EBADF);
	CHECK_EQ(spindle_table_every(&t[0], 0), -EBADF);
}

static size_t spoiled;

static void spoil(struct spindle_table_attach *a)
{
	uint32_t value = 4096;

	memcpy((char *)a + spoiled, &value, sizeof(value));
}

/* A reader has these words, too. */
static void test_layout(void)
{
	static const size_t places[] = {
		offsetof(struct spindle_table_attach, ctl_refreshed),
		offsetof(struct spindle_table_attach, usr_refresh),
		offsetof(struct spindle_table_attach, usr_every),
	};
	struct spindle_table_attr o = { .node = 1, .table = 2 };
	struct spindle_table t;
	size_t i;

	fake_table_setup(&(struct fake_table_opts){ .read = true, .mangle = spoil });
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		spoiled = places[i];
		CHECK_EQ(spindle_table_attach(&t, &o), -EPROTO);
	}
	stop(&t, 1);
}

/* ---- refresh ---------------------------------------------------------- */

static void test_refresh(void)
{
	struct spindle_table t[FAKE_NODES];

	start_all(t, &plain);
	CHECK(spindle_table_refreshed(&t[0]) && is_band(&t[0]) && is_band(&t[1]));
	put(&t[1], 2, 7);
	CHECK(!reads() && version_of(&t[0], 2, 2) == 0);
	fake_table_sleep(true);
	CHECK(spindle_table_refresh(&t[0], 0) == 0 && fake_table_look().kicks == 1);
	fake_table_sleep(false);
	CHECK(!spindle_table_refreshed(&t[0]) && !is_band(&t[0]) && is_band(&t[1]));
	while (!spindle_table_refreshed(&t[0]))
		CHECK(fake_table_step(&seed));
	CHECK(version_of(&t[0], 2, 2) == 1 && is_band(&t[0]) && reads() == 1);
	CHECK(version_of(&t[2], 2, 2) == 0);
	/* Nothing has changed, and the number is a new one all the same. */
	CHECK(spindle_table_refresh(&t[0], 10) == 0 && fake_table_look().kicks == 1);
	fake_table_settle(&seed);
	CHECK(spindle_table_refreshed(&t[0]) && reads() == 2);
	CHECK(spindle_table_refresh(&t[0], 0) == 0);
	fake_table_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	CHECK(spindle_table_refresh(&t[0], -1) == -EPIPE);
	CHECK(spindle_table_every(&t[0], 1) == -EPIPE);
	stop(t, FAKE_NODES);
}

/* What was read before the call is no answer, and each attachment has numbers of its own. */
static void test_again(void)
{
	struct spindle_table t[FAKE_NODES], other;

	start_all(t, &plain);
	start(&other, 1, W | SPINDLE_TABLE_SIGNALS);
	CHECK(spindle_table_refresh(&t[0], 0) == 0);
	while (!reads())
		CHECK(fake_table_step(&seed));
	CHECK(!spindle_cell_put(&t[1], 1, "x", 1) && !spindle_cell_put(&t[2], 1, "x", 1));
	CHECK(spindle_table_refresh(&other, 0) == 0);
	while (!spindle_table_refreshed(&t[0]))
		CHECK(fake_table_step(&seed));
	CHECK(!spindle_table_refreshed(&other) && !is_band(&other) && is_band(&t[0]));
	CHECK(spindle_table_refresh(&t[0], 0) == 0 && spindle_table_refresh(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(spindle_table_refreshed(&other) && spindle_table_refreshed(&t[0]) && reads() == 2);
	CHECK(version_of(&other, 2, 1) == 1 && version_of(&t[0], 3, 1) == 1);
	spindle_table_detach(&other);
	stop(t, FAKE_NODES);
}

/* A change that is read wakes a process that waits. A read alone does not. */
static void test_generation(void)
{
	struct spindle_table t[FAKE_NODES];

	start_all(t, &plain);
	put(&t[1], 1, 5);
	CHECK(spindle_table_wait(&t[0], 0) == 0 && spindle_table_wait(&t[1], 0) == 1);
	CHECK(spindle_table_refresh(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(spindle_table_wait(&t[0], 0) == 1 && value_of(&t[0], 2) == 5);
	CHECK(spindle_table_refresh(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(spindle_table_refreshed(&t[0]) && spindle_table_wait(&t[0], 0) == 0);
	stop(t, FAKE_NODES);
}

static int hook_calls;

/* Node 3 leaves. */
static void leave_at_poll(enum fake_call call)
{
	struct spindle_seat seat[] = { { .node = 1, .sst = FAKE_INSTANCES - 1 },
				       { .node = 2, .sst = FAKE_INSTANCES - 2 } };

	if (call == FAKE_POLL && !hook_calls++)
		fake_table_view(seat, 2);
	fake_table_settle(&seed);
}

static void end_at_poll(enum fake_call call)
{
	if (call == FAKE_POLL)
		fake_table_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
}

/* A member does not answer. The call waits for that member until it leaves. */
static void test_leave(void)
{
	struct spindle_table t[FAKE_NODES];

	start_all(t, &plain);
	put(&t[1], 1, 6);
	fake_table_mute(3, true);
	CHECK(spindle_table_refresh(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(!spindle_table_refreshed(&t[0]) && value_of(&t[0], 2) == 6);
	stop(t, FAKE_NODES);

	hook_calls = 0;
	start_all(t, &(struct fake_table_opts){ .read = true, .hook = leave_at_poll });
	put(&t[1], 1, 7);
	fake_table_mute(3, true);
	CHECK(spindle_table_refresh(&t[0], -1) == 1 && hook_calls == 1 && value_of(&t[0], 2) == 7);
	stop(t, FAKE_NODES);

	start_all(t, &(struct fake_table_opts){ .read = true, .hook = end_at_poll });
	CHECK_EQ(spindle_table_refresh(&t[0], -1), -EPIPE);
	stop(t, FAKE_NODES);
}

static void test_refresh_waits(void)
{
	struct spindle_table t[FAKE_NODES];
	uint64_t i;

	start_all(t, &(struct fake_table_opts){ .read = true, .cell = SPINDLE_MAX_CELL });
	fake_table_start();
	for (i = 1; i <= 300 && !tap_failures; i++) {
		CHECK(!spindle_cell_put(&t[1], 3, &i, sizeof(i)));
		CHECK_EQ(spindle_table_refresh(&t[0], -1), 1);
		CHECK(version_of(&t[0], 2, 3) == i);
	}
	fake_table_stop();
	stop(t, FAKE_NODES);
}

/* ---- every ------------------------------------------------------------ */

/* Let time pass in small steps. Return: how often the node has read. */
static unsigned int reads_in(uint64_t us)
{
	unsigned int before = reads();

	while (us--) {
		fake_table_pass(1);
		fake_table_settle(&seed);
	}
	return reads() - before;
}

static void test_every(void)
{
	struct spindle_table t[FAKE_NODES], other;

	start_all(t, &plain);
	start(&other, 1, 0);
	fake_table_sleep(true);
	CHECK(!spindle_table_every(&t[0], 10) && *t[0].usr_every == 10);
	CHECK(fake_table_look().kicks == 1);
	CHECK(!spindle_table_every(&t[0], 1ULL << 40) && *t[0].usr_every == 1ULL << 40);
	CHECK(!spindle_table_every(&t[0], 10) && fake_table_look().kicks == 3);
	fake_table_sleep(false);
	CHECK(reads_in(100) == 10);
	CHECK(!spindle_table_every(&other, 4) && fake_table_look().kicks == 3);
	CHECK(reads_in(100) == 25);
	CHECK(!spindle_table_every(&other, 0) && reads_in(100) == 10);
	CHECK(!spindle_table_every(&t[0], 1) && reads_in(100) == 100);
	put(&t[2], 1, 3);
	CHECK(version_of(&t[0], 3, 1) == 0 && reads_in(1) && value_of(&other, 3) == 3);
	/* A refresh does not wait for the time. */
	CHECK(!spindle_table_every(&t[0], 1000) && spindle_table_refresh(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(spindle_table_refreshed(&t[0]));
	spindle_table_detach(&t[0]);
	CHECK(reads_in(2000) == 0);
	spindle_table_detach(&other);
	stop(t, FAKE_NODES);
}

/* ---- snapshots, predicates, loops ------------------------------------- */

static void test_snapshot(void)
{
	uint64_t buf[FAKE_NODES][4][8], *p;
	struct spindle_table t[FAKE_NODES];
	struct spindle_snapshot info;

	start_all(t, &plain);
	put(&t[1], 2, 8);
	put(&t[2], 2, 9);
	CHECK(spindle_table_refresh(&t[0], 0) == 0);
	fake_table_settle(&seed);
	/* A value that is half written does not replace a whole one. */
	p = spindle_cell_begin(&t[1], 2);
	*p = 99;
	CHECK(spindle_table_refresh(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(spindle_table_refreshed(&t[0]));
	CHECK(!spindle_table_snapshot(&t[0], buf, sizeof(buf), SPINDLE_SNAPSHOT_ATOMIC, &info));
	CHECK(info.rows == 3 && !info.torn && buf[1][2][0] == 8 && buf[2][2][0] == 9);
	CHECK(!spindle_cell_end(&t[1], 2));
	CHECK(spindle_table_refresh(&t[0], 0) == 0);
	fake_table_settle(&seed);
	CHECK(!spindle_table_snapshot(&t[0], buf, sizeof(buf), 0, &info));
	CHECK(!info.torn && buf[1][2][0] == 99 && buf[1][2][6] == 2);
	stop(t, FAKE_NODES);
}

/* The time goes on while the library waits. */
static void time_at_poll(enum fake_call call)
{
	if (call != FAKE_POLL)
		return;
	fake_table_pass(5);
	fake_table_settle(&seed);
}

static void test_barrier(void)
{
	struct spindle_table t[FAKE_NODES];
	struct spindle_leader leader;

	fake_table_setup(&(struct fake_table_opts){ .read = true, .hook = time_at_poll });
	start(&t[0], 1, W);
	start(&t[1], 2, W);
	start(&t[2], 3, W);
	put(&t[1], 1, 4);
	put(&t[2], 1, 5);
	CHECK_EQ(spindle_table_barrier(&t[0], 1, 4, 5), -ETIMEDOUT);
	CHECK(!spindle_table_every(&t[0], 5));
	CHECK_EQ(spindle_table_barrier(&t[0], 1, 4, -1), 0);
	CHECK_EQ(spindle_table_barrier(&t[0], 1, 5, 5), -ETIMEDOUT);
	put(&t[1], 2, t[1].vid);
	put(&t[2], 2, t[2].vid);
	CHECK_EQ(spindle_table_elect(&t[0], 2, -1, &leader), 0);
	CHECK(leader.node == 1 && leader.me == 1);
	stop(t, FAKE_NODES);
}

static struct spindle_table *looked, *writer;

static bool is_ten(void *ctx)
{
	(void)ctx;
	return value_of(looked, 2) == 10;
}

static bool is_less(void *ctx)
{
	return !is_ten(ctx);
}

/* The other node goes on as soon as the loop has looked. */
static void add_one(void *ctx)
{
	(void)ctx;
	put(writer, 1, value_of(looked, 2) + 1);
}

static void stop_loop(void *ctx)
{
	spindle_loop_stop(ctx, 42);
}

static void test_loop(void)
{
	static const spindle_act_fn less_act = add_one, ten_act = stop_loop;
	struct spindle_loop loop = { 0 };
	struct spindle_watch less = { .test = is_less, .act = &less_act, .acts = 1 };
	struct spindle_watch ten = { .test = is_ten, .act = &ten_act, .acts = 1, .ctx = &loop };
	struct spindle_table t[FAKE_NODES];

	looked = &t[0];
	writer = &t[1];
	start_all(t, &(struct fake_table_opts){ .read = true, .hook = time_at_poll });
	CHECK(!spindle_loop_add(&loop, &less) && !spindle_loop_add(&loop, &ten));
	/* No process has asked for reads. */
	CHECK_EQ(spindle_loop_run(&loop, &t[0], 5), -ETIMEDOUT);
	CHECK(value_of(&t[0], 2) == 0 && reads() == 0);
	CHECK(!spindle_table_every(&t[0], 5));
	CHECK_EQ(spindle_loop_run(&loop, &t[0], -1), 42);
	stop(t, FAKE_NODES);
}

/* ---- stress ----------------------------------------------------------- */

#define BIG	((SPINDLE_MAX_CELL - 16) / 8)

static void *stress_writer(void *arg)
{
	struct spindle_table *t = arg;
	uint64_t *p, i, k;

	p = spindle_cell_begin(t, 1);
	for (i = 1; i <= rounds; i++) {
		for (k = 0; k < BIG; k++)
			__atomic_store_n(&p[k], i * (k + 1), __ATOMIC_RELAXED);
		if (spindle_cell_end(t, 1))
			break;
		if (i % 16 == 0)
			usleep(50);
	}
	return NULL;
}

/* Look after each change, until the last version is there. */
static const char *stress_read(struct spindle_table *t)
{
	uint64_t value[BIG], version, last = 0, k;
	uint32_t instance;

	if (spindle_table_instance(t, 2, &instance))
		return "node 2 is no member";
	while (last < rounds) {
		if (spindle_table_wait(t, 20000) != 1)
			return "a change was not read";
		if (spindle_cell_get(t, instance, 1, value, sizeof(value), &version))
			continue;
		for (k = 0; k < BIG; k++)
			if (value[k] != version * (k + 1))
				return "a value is torn";
		if (version < last)
			return "a version went back";
		last = version;
	}
	return NULL;
}

static void test_stress(void)
{
	struct spindle_table t[FAKE_NODES];
	const char *why;
	pthread_t writes;

	start_all(t, &(struct fake_table_opts){
		.read = true, .cells = 2, .cell = SPINDLE_MAX_CELL,
	});
	fake_table_start();
	usleep(1000);
	/* The engine sleeps. */
	CHECK(!spindle_table_every(&t[0], 1));
	pthread_create(&writes, NULL, stress_writer, &t[1]);
	why = stress_read(&t[0]);
	if (why)
		bail_out(why);
	pthread_join(writes, NULL);
	CHECK(spindle_table_refresh(&t[0], -1) == 1);
	CHECK(!spindle_table_every(&t[0], 0));
	fake_table_stop();
	printf("# %u reads\n", reads());
	stop(t, FAKE_NODES);
}

int main(int argc, char **argv)
{
	static const struct tap_case list[] = {
		{ "modes: each refuses the calls of the other, and says why", test_modes },
		{ "modes: an illegal layout is refused by a reader, too", test_layout },
		{ "refresh: ends when all rows have been read", test_refresh },
		{ "refresh: rows are read after the call, for each attachment", test_again },
		{ "refresh: a change that is read is reported, and only that", test_generation },
		{ "refresh: no wait for a member that leaves, or behind the end", test_leave },
		{ "refresh: waits for an engine of its own pace", test_refresh_waits },
		{ "every: the shortest time counts, and 0 ends it", test_every },
		{ "snapshot: the last whole values that were read", test_snapshot },
		{ "barrier, election: come to an end while rows are read", test_barrier },
		{ "loop: looks at what is read", test_loop },
		{ "stress: writer, engine and reader at once", test_stress },
	};

	if (argc > 1)
		rounds = (unsigned int)strtoul(argv[1], NULL, 0);
	return tap_run(list, ARRAY_SIZE(list));
}
