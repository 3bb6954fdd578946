// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of durable messages without a kernel, on top of fake.c. TAP on stdout.
 *
 * The first message has position 7000, and each one the position behind the one before.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <spindle/table.h>

#include "attach.h"

#define FIRST		7000ULL
#define LONG_MS		10000
#define WAITERS		8
#define STEPS		400U

static const struct fake_opts logs = { .manual = true, .logs = true, .durable = FIRST };
static const struct fake_opts with_history = {
	.manual = true, .logs = true, .durable = FIRST, .senders = 3, .history = 5,
};

static void nap_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* ---- the attach ------------------------------------------------------- */

static void test_no_logs(void)
{
	static const struct fake_opts none = { .manual = true };
	struct spindle_log_report report = { 0 };
	struct spindle_queue q;
	uint64_t vid, lsn;

	start(&q, SPINDLE_ATTACH_BOTH, &none);
	CHECK_EQ(spindle_durable(&q), 0);
	CHECK_EQ(spindle_wait_durable(&q, 0, 0), -EOPNOTSUPP);
	CHECK_EQ(spindle_send_durable(&q, "x", 1, 0), -EOPNOTSUPP);
	CHECK_EQ(spindle_log_say(&q, &report), -EBADF);
	CHECK_EQ(spindle_log_block(&q, 0, &report), -EOPNOTSUPP);
	CHECK_EQ(spindle_log_began(&q, &vid, &lsn), -EOPNOTSUPP);
	fake_step();
	CHECK_EQ(fake_look().free_slot, 0);
	stop(&q);
}

static void durable_is_odd(struct spindle_attach *a)
{
	a->ctl_durable += 4;
}

static void durable_is_outside(struct spindle_attach *a)
{
	a->ctl_durable = (uint32_t)a->ctl.len;
}

static void lsn_is_odd(struct spindle_attach *a)
{
	a->ctl_lsn += 1;
}

static void lsn_is_outside(struct spindle_attach *a)
{
	a->ctl_lsn = (uint32_t)a->ctl.len;
}

static void want_is_odd(struct spindle_attach *a)
{
	a->usr_want += 4;
}

static void want_is_outside(struct spindle_attach *a)
{
	a->usr_want = (uint32_t)a->usr.len;
}

static void words_are_odd(struct spindle_attach *a)
{
	a->usr_log += 4;
}

static void words_end_outside(struct spindle_attach *a)
{
	a->usr_log = (uint32_t)(a->usr.len - 40);
}

static void block_is_odd(struct spindle_attach *a)
{
	a->sst_log += 4;
}

static void block_ends_outside(struct spindle_attach *a)
{
	a->sst_log = (uint32_t)(a->sst.len - 32);
}

static void gate_without_logs(struct spindle_attach *a)
{
	a->features = (a->features & ~SPINDLE_FEAT_LOG) | SPINDLE_FEAT_GATE;
}

static void no_feature(struct spindle_attach *a)
{
	a->features &= ~SPINDLE_FEAT_LOG;
}

/* An older module leaves these words as they are, and other memory may be anything. */
static void no_feature_and_any_offset(struct spindle_attach *a)
{
	a->features &= ~SPINDLE_FEAT_LOG;
	a->ctl_durable = a->ctl_lsn = a->usr_want = a->usr_log = a->sst_log = 0xfffffff3;
}

static void test_replies(void)
{
	static const struct {
		void (*mangle)(struct spindle_attach *a);
		uint32_t flags;
		int err;
	} row[] = {
		{ durable_is_odd, SPINDLE_ATTACH_SEND, -EPROTO },
		{ durable_is_outside, SPINDLE_ATTACH_SEND, -EPROTO },
		{ lsn_is_odd, SPINDLE_ATTACH_SEND, -EPROTO },
		{ lsn_is_outside, SPINDLE_ATTACH_SEND, -EPROTO },
		{ want_is_odd, SPINDLE_ATTACH_SEND, -EPROTO },
		{ want_is_outside, SPINDLE_ATTACH_SEND, -EPROTO },
		{ block_is_odd, SPINDLE_ATTACH_SEND, -EPROTO },
		{ block_ends_outside, SPINDLE_ATTACH_SEND, -EPROTO },
		{ gate_without_logs, SPINDLE_ATTACH_SEND, -EPROTO },
		{ words_are_odd, SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_LOG, -EPROTO },
		{ words_end_outside, SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_LOG, -EPROTO },
		{ no_feature, SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_LOG, -EPROTO },
		{ words_are_odd, SPINDLE_ATTACH_RECV, 0 },
		{ no_feature_and_any_offset, SPINDLE_ATTACH_RECV, 0 },
	};
	struct spindle_queue q;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		struct fake_opts o = with_history;
		struct spindle_attach_opts a = {
			.node = 7, .subgroup = 2, .flags = row[i].flags,
			.want = row[i].flags & SPINDLE_ATTACH_RECV ? SPINDLE_WANT_OLDEST : 0,
		};

		o.mangle = row[i].mangle;
		o.history = row[i].flags & SPINDLE_ATTACH_RECV ? 5 : 0;
		fake_setup(&o);
		alarm(300);
		if (!CHECK_EQ(-spindle_attach(&q, &a), -row[i].err))
			tap_fail("row %zu", i);
		stop(&q);
	}
}

/* ---- wait ------------------------------------------------------------- */

static void test_position(void)
{
	struct spindle_queue q;

	start(&q, SPINDLE_ATTACH_SEND, &logs);
	CHECK_EQ(spindle_durable(&q), FIRST);
	fake_durable(FIRST + 3);
	CHECK_EQ(spindle_durable(&q), FIRST + 3);
	/* The message of the position itself is not durable yet. */
	CHECK_EQ(spindle_wait_durable(&q, FIRST + 2, 0), 0);
	CHECK_EQ(spindle_wait_durable(&q, FIRST + 3, 0), -ETIMEDOUT);
	CHECK_EQ(spindle_wait_durable(&q, FIRST + 3, 20), -ETIMEDOUT);
	CHECK_EQ(fake_want(), 0);
	CHECK_EQ(spindle_wait_durable(&q, UINT64_MAX, 0), -EINVAL);
	fake_durable(UINT64_MAX);
	CHECK_EQ(spindle_wait_durable(&q, UINT64_MAX - 1, 0), 0);
	stop(&q);
}

static void test_final(void)
{
	struct spindle_queue q;
	char text[160];

	start(&q, SPINDLE_ATTACH_SEND, &logs);
	fake_durable(FIRST + 3);
	fake_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	CHECK_EQ(spindle_wait_durable(&q, FIRST + 2, -1), 0);
	CHECK_EQ(spindle_wait_durable(&q, FIRST + 3, -1), -ENOTCONN);
	CHECK_EQ(spindle_send_durable(&q, "x", 1, -1), -EPIPE);
	CHECK(strstr(spindle_call_strerror(&q, -ETIMEDOUT, text, sizeof(text)), "durable"));
	CHECK(strstr(spindle_call_strerror(&q, -EINPROGRESS, text, sizeof(text)), "signal"));
	CHECK(strstr(spindle_call_strerror(&q, -EOPNOTSUPP, text, sizeof(text)), "no logs"));
	stop(&q);
}

struct call {
	struct spindle_queue *q;
	uint64_t lsn;
	int timeout_ms;
	bool send;
	int ret;
	bool done;
	pthread_t thread;
};

static void *do_call(void *arg)
{
	struct call *c = arg;

	c->ret = c->send ? spindle_send_durable(c->q, "message", 7, c->timeout_ms) :
			   spindle_wait_durable(c->q, c->lsn, c->timeout_ms);
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void begin_call(struct call *c)
{
	c->done = false;
	if (pthread_create(&c->thread, NULL, do_call, c))
		bail_out("no thread");
}

static int end_call(struct call *c)
{
	pthread_join(c->thread, NULL);
	return c->ret;
}

static bool is_done(struct call *c)
{
	return __atomic_load_n(&c->done, __ATOMIC_ACQUIRE);
}

/* Until the kernel is told this position. */
static void until_wanted(uint64_t want)
{
	int i;

	for (i = 0; fake_want() != want && i < 5000; i++)
		nap_us(1000);
	CHECK_EQ(fake_want(), want);
}

static void test_wakes(void)
{
	struct spindle_queue q;
	struct call c = { .q = &q, .lsn = FIRST + 4, .timeout_ms = LONG_MS };

	start(&q, SPINDLE_ATTACH_SEND, &logs);
	begin_call(&c);
	until_wanted(FIRST + 5);
	fake_durable(FIRST + 4);
	nap_us(20000);
	CHECK(!is_done(&c));
	fake_durable(FIRST + 5);
	CHECK_EQ(end_call(&c), 0);
	CHECK_EQ(fake_want(), 0);

	begin_call(&c);
	CHECK_EQ(end_call(&c), 0);
	c.lsn = FIRST + 100;
	begin_call(&c);
	until_wanted(FIRST + 101);
	fake_final(SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST);
	CHECK_EQ(end_call(&c), -ENOTCONN);
	stop(&q);
}

/* The kernel is told the smallest position, also when it is not the first one or the last one. */
static void test_smallest(void)
{
	struct spindle_queue q;
	struct call c[3] = {
		{ .q = &q, .lsn = FIRST + 20, .timeout_ms = LONG_MS },
		{ .q = &q, .lsn = FIRST + 10, .timeout_ms = LONG_MS },
		{ .q = &q, .lsn = FIRST + 30, .timeout_ms = LONG_MS },
	};

	start(&q, SPINDLE_ATTACH_SEND, &logs);
	begin_call(&c[0]);
	until_wanted(FIRST + 21);
	begin_call(&c[1]);
	until_wanted(FIRST + 11);
	begin_call(&c[2]);
	nap_us(20000);
	CHECK_EQ(fake_want(), FIRST + 11);
	fake_durable(FIRST + 11);
	CHECK_EQ(end_call(&c[1]), 0);
	until_wanted(FIRST + 21);
	CHECK(!is_done(&c[0]) && !is_done(&c[2]));
	fake_durable(FIRST + 31);
	CHECK_EQ(end_call(&c[0]), 0);
	CHECK_EQ(end_call(&c[2]), 0);
	CHECK_EQ(fake_want(), 0);
	stop(&q);
}

/* A thread that has waited long enough leaves the others alone. */
static void test_one_gives_up(void)
{
	struct spindle_queue q;
	struct call early = { .q = &q, .lsn = FIRST + 1, .timeout_ms = 30 };
	struct call late = { .q = &q, .lsn = FIRST + 2, .timeout_ms = LONG_MS };

	start(&q, SPINDLE_ATTACH_SEND, &logs);
	begin_call(&late);
	until_wanted(FIRST + 3);
	begin_call(&early);
	CHECK_EQ(end_call(&early), -ETIMEDOUT);
	until_wanted(FIRST + 3);
	fake_durable(FIRST + 3);
	CHECK_EQ(end_call(&late), 0);
	stop(&q);
}

static void *many_waits(void *arg)
{
	struct call *c = arg;
	uint64_t lsn = FIRST + c->lsn % 3;

	for (; lsn < FIRST + STEPS && !c->ret; lsn += 1 + c->lsn % 3)
		c->ret = spindle_wait_durable(c->q, lsn, LONG_MS);
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool all_done(struct call *c, unsigned int n)
{
	while (n && is_done(&c[n - 1]))
		n--;
	return !n;
}

/* Many threads, and a position that moves under them: no wake-up may be lost. */
static void test_many(void)
{
	struct call c[WAITERS];
	struct spindle_queue q;
	uint64_t lsn = FIRST;
	unsigned int i, idle = 0;

	start(&q, SPINDLE_ATTACH_SEND, &logs);
	for (i = 0; i < WAITERS; i++) {
		c[i] = (struct call){ .q = &q, .lsn = i };
		if (pthread_create(&c[i].thread, NULL, many_waits, &c[i]))
			bail_out("no thread");
	}
	while (lsn < FIRST + STEPS) {
		/* Behind the position that is wanted, and now and then in front of it. */
		if (fake_want() || ++idle % 64 == 0)
			fake_durable(++lsn);
		nap_us(lsn % 7 ? 30 : 0);
	}
	/* No thread has slept on until its time was up. */
	for (i = 0; i < 8000 && !all_done(c, WAITERS); i++)
		nap_us(1000);
	for (i = 0; i < WAITERS; i++) {
		CHECK(is_done(&c[i]));
		pthread_join(c[i].thread, NULL);
		CHECK_EQ(c[i].ret, 0);
	}
	CHECK_EQ(fake_want(), 0);
	stop(&q);
}

static void on_signal(int sig)
{
	(void)sig;
}

static int interrupt(struct call *c)
{
	while (!is_done(c)) {
		pthread_kill(c->thread, SIGUSR1);
		nap_us(1000);
	}
	return end_call(c);
}

static void test_signal(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct spindle_queue q;
	struct call c = { .q = &q, .lsn = FIRST, .timeout_ms = -1 };

	sigaction(SIGUSR1, &act, NULL);
	start(&q, SPINDLE_ATTACH_SEND, &logs);
	begin_call(&c);
	until_wanted(FIRST + 1);
	CHECK_EQ(interrupt(&c), -EINTR);
	CHECK_EQ(fake_want(), 0);
	/* Nobody may take a message for one that was not sent. */
	c.send = true;
	begin_call(&c);
	until_wanted(FIRST + 1);
	CHECK_EQ(interrupt(&c), -EINPROGRESS);
	stop(&q);
}

/* ---- send ------------------------------------------------------------- */

static void test_send(void)
{
	struct spindle_queue q;
	struct call c = { .q = &q, .send = true, .timeout_ms = LONG_MS };

	start(&q, SPINDLE_ATTACH_SEND, &logs);
	/* Position 7000 is another one's. It alone is durable, then also the own message. */
	CHECK_EQ(spindle_send(&q, "other", 5), 0);
	begin_call(&c);
	until_wanted(FIRST + 1);
	fake_durable(FIRST + 1);
	nap_us(20000);
	CHECK(!is_done(&c));
	while (fake_look().free_slot != 2)
		fake_step();
	until_wanted(FIRST + 2);
	CHECK(!is_done(&c));
	fake_durable(FIRST + 2);
	CHECK_EQ(end_call(&c), 0);
	CHECK_EQ(fake_look().lsn, FIRST + 2);
	stop(&q);
}

/* What is durable already, and not delivered everywhere, is not there yet. */
static void test_send_needs_delivery(void)
{
	struct spindle_queue q;
	struct call c = { .q = &q, .send = true, .timeout_ms = LONG_MS };

	start(&q, SPINDLE_ATTACH_SEND, &logs);
	fake_durable(FIRST + 1);
	begin_call(&c);
	nap_us(20000);
	CHECK(!is_done(&c));
	while (fake_look().free_slot != 1)
		fake_step();
	CHECK_EQ(end_call(&c), 0);
	c.timeout_ms = 20;
	fake_durable(FIRST + 2);
	begin_call(&c);
	CHECK_EQ(end_call(&c), -ETIMEDOUT);
	c.timeout_ms = LONG_MS;
	fake_durable(FIRST + 100);
	begin_call(&c);
	nap_us(20000);
	CHECK(!is_done(&c));
	fake_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	CHECK_EQ(end_call(&c), -ENOTCONN);
	stop(&q);
}

static void test_send_fails(void)
{
	static const struct fake_opts small = { .manual = true, .logs = true, .window = 1 };
	struct spindle_queue q;
	struct call c = { .q = &q, .send = true, .timeout_ms = LONG_MS };

	start(&q, SPINDLE_ATTACH_SEND, &small);
	CHECK_EQ(spindle_send_durable(&q, "x", 1, 20), -ETIMEDOUT);
	/* The first one has not been sent in vain, so there is no room. */
	CHECK_EQ(spindle_send_durable(&q, "x", 1, 20), -EAGAIN);
	CHECK_EQ(spindle_send_durable(&q, "x", 1, 0), -EAGAIN);
	CHECK_EQ(spindle_send_durable(&q, "x", q.max_msg + 1, 0), -EMSGSIZE);
	while (fake_look().free_slot != 1)
		fake_step();
	CHECK_EQ(fake_look().lsn, FIRST + 1);
	begin_call(&c);
	until_wanted(FIRST + 2);
	fake_durable(FIRST + 2);
	nap_us(5000);
	fake_final(SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST);
	CHECK_EQ(end_call(&c), -ENOTCONN);
	stop(&q);

	start(&q, SPINDLE_ATTACH_RECV, &with_history);
	CHECK_EQ(spindle_send_durable(&q, "x", 1, 20), -EBADF);
	stop(&q);
}

/* ---- loggers ---------------------------------------------------------- */

static int attach_logger_to(struct spindle_queue *q, const struct fake_opts *o, uint64_t lsn,
			    uint64_t log_end)
{
	const struct spindle_place from = { .lsn = lsn };
	struct spindle_attach_opts a = {
		.node = 7, .subgroup = 2, .flags = SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_LOG,
		.from = lsn ? &from : NULL, .log_end = log_end,
	};
	char text[160];
	int err;

	fake_setup(o);
	alarm(300);
	err = spindle_attach(q, &a);
	if (err)
		printf("# %s\n", spindle_attach_strerror(q, &a, err, text, sizeof(text)));
	return err;
}

static int attach_logger(struct spindle_queue *q, const struct fake_opts *o, uint64_t lsn)
{
	return attach_logger_to(q, o, lsn, 0);
}

static void test_logger_is_refused(void)
{
	struct fake_opts o = with_history;
	struct spindle_queue q;

	CHECK_EQ(attach_logger(&q, &o, 0), -EINVAL);
	o.logged = FIRST + 2;
	CHECK_EQ(attach_logger(&q, &o, FIRST + 1), -ENODATA);
	CHECK_EQ(attach_logger(&q, &o, FIRST + 2), 0);
	stop(&q);
	/* The logger reads its last message again. */
	CHECK_EQ(attach_logger_to(&q, &o, FIRST + 1, FIRST + 2), 0);
	stop(&q);
	CHECK_EQ(attach_logger_to(&q, &o, FIRST + 3, FIRST + 2), -ERANGE);
	CHECK_EQ(attach_logger_to(&q, &o, FIRST + 3, FIRST + 6), -ERANGE);
	o.has_logger = true;
	CHECK_EQ(attach_logger(&q, &o, FIRST + 2), -EBUSY);
	o.logs = false;
	CHECK_EQ(attach_logger(&q, &o, FIRST + 2), -EOPNOTSUPP);
}

static bool is_logged(uint64_t persisted, uint64_t low, uint64_t snapshot, uint64_t record,
		      uint32_t state)
{
	const struct spindle_log_words w = fake_look().log;

	return w.persisted == persisted && w.low == low && w.snapshot == snapshot &&
	       w.record == record && w.state == state;
}

static void test_say(void)
{
	struct spindle_log_report report = { .persisted = FIRST + 1, .low = FIRST };
	struct spindle_queue q;

	CHECK_EQ(attach_logger(&q, &with_history, FIRST), 0);
	report.state = SPINDLE_LOG_CATCHING_UP;
	CHECK_EQ(spindle_log_say(&q, &report), 0);
	fake_step();
	CHECK(is_logged(FIRST + 1, FIRST, 0, 0, SPINDLE_LOG_CATCHING_UP));
	report = (struct spindle_log_report){
		.persisted = FIRST + 5, .low = FIRST + 2, .snapshot = FIRST + 3, .record = 3,
		.state = SPINDLE_LOG_LOGGING, .established = 1,
	};
	CHECK_EQ(spindle_log_say(&q, &report), 0);
	fake_step();
	CHECK(is_logged(FIRST + 5, FIRST + 2, FIRST + 3, 3, SPINDLE_LOG_LOGGING));
	report.low = FIRST + 6;
	CHECK_EQ(spindle_log_say(&q, &report), -EINVAL);
	report.low = FIRST + 5;
	report.snapshot = FIRST + 6;
	CHECK_EQ(spindle_log_say(&q, &report), -EINVAL);
	report.snapshot = FIRST + 5;
	report.state = SPINDLE_LOG_BEHIND;
	CHECK_EQ(spindle_log_say(&q, &report), -EINVAL);
	fake_step();
	CHECK(is_logged(FIRST + 5, FIRST + 2, FIRST + 3, 3, SPINDLE_LOG_LOGGING));
	CHECK_EQ(spindle_state(&q), SPINDLE_STATE_ACTIVE);
	report.state = SPINDLE_LOG_FULL;
	CHECK_EQ(spindle_log_say(&q, &report), 0);
	fake_step();
	CHECK(is_logged(FIRST + 5, FIRST + 5, FIRST + 5, 3, SPINDLE_LOG_FULL));
	stop(&q);

	start(&q, SPINDLE_ATTACH_RECV, &with_history);
	CHECK_EQ(spindle_log_say(&q, &report), -EBADF);
	stop(&q);
}

/* An engine that sleeps hears of it. */
static void test_say_wakes(void)
{
	static const struct fake_opts o = { .logs = true, .senders = 3 };
	struct spindle_log_report report = { .state = SPINDLE_LOG_LOGGING };
	struct spindle_attach_opts a = {
		.node = 7, .subgroup = 2, .flags = SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_LOG,
		.want = SPINDLE_WANT_OLDEST,
	};
	struct spindle_queue q;
	int i;

	fake_setup(&o);
	CHECK_EQ(spindle_attach(&q, &a), 0);
	for (i = 0; i < 1000 && !spindle_load_once32(q.ctl_need_wakeup); i++)
		nap_us(1000);
	nap_us(5000);
	CHECK_EQ(spindle_log_say(&q, &report), 0);
	CHECK_EQ(fake_look().kicks, 1);
	stop(&q);
}

/* What a logger cannot take back freezes it. */
static void test_say_nonsense(void)
{
	struct spindle_log_report report = { .persisted = FIRST + 3 };
	struct spindle_queue q;
	char text[160];

	CHECK_EQ(attach_logger(&q, &with_history, FIRST), 0);
	CHECK_EQ(spindle_log_say(&q, &report), 0);
	fake_step();
	report.persisted--;
	CHECK_EQ(spindle_log_say(&q, &report), 0);
	fake_step();
	CHECK_EQ(spindle_state(&q), SPINDLE_STATE_FROZEN);
	CHECK_EQ(spindle_error_code(&q), SPINDLE_ERR_LOG);
	CHECK(strstr(spindle_call_strerror(&q, -EPIPE, text, sizeof(text)), "logger"));
	spindle_detach(&q);
	CHECK_EQ(attach_logger(&q, &with_history, FIRST), 0);
	report.persisted = FIRST + 6;
	CHECK_EQ(spindle_log_say(&q, &report), 0);
	fake_step();
	CHECK_EQ(spindle_error_code(&q), SPINDLE_ERR_LOG);
	spindle_detach(&q);
}

/* What the kernel may copy at any time, in the order of the kernel. */
static bool is_consistent(const struct spindle_log_words *w)
{
	uint64_t low = __atomic_load_n(&w->low, __ATOMIC_ACQUIRE);
	uint64_t snapshot = __atomic_load_n(&w->snapshot, __ATOMIC_ACQUIRE);
	uint64_t persisted = __atomic_load_n(&w->persisted, __ATOMIC_RELAXED);

	return low <= persisted && snapshot <= persisted;
}

static void *look_at_words(void *arg)
{
	const struct spindle_log_words *words = fake_log_words();
	struct call *c = arg;

	while (!is_done(c))
		c->ret |= !is_consistent(words);
	return NULL;
}

static void test_say_often(void)
{
	struct spindle_log_report report = { 0 };
	struct spindle_queue q;
	struct call c = { 0 };
	uint64_t i;

	CHECK_EQ(attach_logger(&q, &with_history, FIRST), 0);
	if (pthread_create(&c.thread, NULL, look_at_words, &c))
		bail_out("no thread");
	for (i = 1; i <= 3000000; i++) {
		report.persisted = report.low = report.snapshot = FIRST + i;
		spindle_log_say(&q, &report);
	}
	__atomic_store_n(&c.done, true, __ATOMIC_RELEASE);
	CHECK_EQ(end_call(&c), 0);
	CHECK_EQ(fake_log_words()->change, 3000000);
	stop(&q);
}

static void write_block(uint32_t instance, uint64_t persisted, uint64_t record)
{
	struct spindle_log_block *b = fake_log_block(instance);

	*b = (struct spindle_log_block){
		.persisted = persisted, .low = persisted - 2, .snapshot = persisted - 1,
		.record = record,
	};
	b->seal = spindle_cell_mix(&b->persisted, 4);
}

static void test_block(void)
{
	static const struct spindle_seat next[] = {
		{ .node = 7, .sender_rank = 1, .rx = 2, .sst = 1, .flags = SPINDLE_SEAT_ME },
		{ .node = 103, .sender_rank = 0, .rx = 0, .sst = 0 },
	};
	struct spindle_log_report report;
	struct spindle_queue q;
	struct spindle_msg m;
	int mapped;

	start(&q, SPINDLE_ATTACH_RECV, &with_history);
	mapped = fake_look().mappings;
	CHECK_EQ(spindle_log_block(&q, 0, &report), 0);
	CHECK(!report.persisted && !report.state && !report.record);
	write_block(2, 500, 9 << 4 | 8 | SPINDLE_LOG_FULL);
	CHECK_EQ(spindle_log_block(&q, 2, &report), 0);
	CHECK_EQ(report.persisted, 500);
	CHECK_EQ(report.low, 498);
	CHECK_EQ(report.snapshot, 499);
	CHECK_EQ(report.record, 9);
	CHECK_EQ(report.state, SPINDLE_LOG_FULL);
	CHECK_EQ(report.established, 1);
	write_block(2, 501, 10 << 4 | SPINDLE_LOG_LOGGING);
	CHECK_EQ(spindle_log_block(&q, 2, &report), 0);
	CHECK(report.persisted == 501 && report.record == 10 && !report.established);
	CHECK_EQ(fake_look().mappings, mapped + 2);
	/* Half of the next version is there. */
	fake_log_block(2)->persisted++;
	CHECK_EQ(spindle_log_block(&q, 2, &report), -EAGAIN);
	CHECK_EQ(report.persisted, 501);
	CHECK_EQ(spindle_log_block(&q, 4, &report), -EINVAL);

	/* In another view another member may have the rank. */
	write_block(0, 77, 0);
	fake_view(4, next, 2);
	fake_deliver(0, 5);
	CHECK_EQ(spindle_peek(&q, &m), 1);
	CHECK_EQ(spindle_log_block(&q, 1, &report), 0);
	CHECK_EQ(report.persisted, 77);
	CHECK_EQ(fake_look().mappings, mapped + 1);
	CHECK_EQ(spindle_log_block(&q, 2, &report), -EINVAL);
	stop(&q);
}

static void test_began(void)
{
	struct fake_opts o = with_history;
	uint64_t vid = 0, lsn = 0;
	struct spindle_queue q;
	struct spindle_dest to;

	start(&q, SPINDLE_ATTACH_RECV, &o);
	/* A log has all messages, so none is for some of the members. */
	CHECK_EQ(spindle_destinations(&q, (const uint32_t []){ 7 }, 1, &to), -EOPNOTSUPP);
	CHECK_EQ(spindle_log_began(&q, &vid, &lsn), 0);
	CHECK(vid == q.vid && vid);
	CHECK_EQ(lsn, 7000);
	stop(&q);
	o.first = true;
	start(&q, SPINDLE_ATTACH_RECV, &o);
	CHECK_EQ(spindle_log_began(&q, &vid, &lsn), 1);
	stop(&q);
}

int main(void)
{
	static const struct tap_case list[] = {
		{ "a subgroup without logs", test_no_logs },
		{ "replies of the kernel", test_replies },
		{ "the durable position", test_position },
		{ "a final state", test_final },
		{ "a wait ends", test_wakes },
		{ "the kernel is told the smallest position", test_smallest },
		{ "one thread gives up", test_one_gives_up },
		{ "many threads, and a position that moves", test_many },
		{ "signals", test_signal },
		{ "send, and wait until it is durable", test_send },
		{ "a message that is not delivered everywhere", test_send_needs_delivery },
		{ "sends that fail", test_send_fails },
		{ "loggers that are refused", test_logger_is_refused },
		{ "what a logger says", test_say },
		{ "what a logger says to an engine that sleeps", test_say_wakes },
		{ "what no logger may say", test_say_nonsense },
		{ "what a logger says while the kernel looks", test_say_often },
		{ "what other loggers have said", test_block },
		{ "the view that a subgroup with logs began with", test_began },
	};

	tap_cases(list, ARRAY_SIZE(list));
	return tap_end();
}
