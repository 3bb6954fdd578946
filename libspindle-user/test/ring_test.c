// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of the library without a kernel, on top of fake.c. TAP on stdout.
 */
#include <sched.h>

#include "attach.h"

static bool intact(const struct spindle_msg *m, uint64_t slot)
{
	const unsigned char *p = m->data;
	uint32_t i;

	for (i = 0; i < m->len; i++)
		if (p[i] != pattern(slot, i))
			return false;
	return true;
}

/* ---- attach ----------------------------------------------------------- */

static void test_geometry(void)
{
	struct spindle_member m[4];
	struct spindle_queue q;
	uint32_t node = 0;

	start(&q, SPINDLE_ATTACH_BOTH, &(struct fake_opts){ .senders = 3, .memlock = 77 });
	CHECK(q.step == SPINDLE_STEP_DONE && q.memlock == 77);
	CHECK(spindle_window(&q) == 16 && spindle_max_msg(&q) == 1000);
	CHECK(spindle_rank(&q) == 1 && spindle_sender_rank(&q) == 2 && q.vid == 3);
	CHECK(spindle_state(&q) == SPINDLE_STATE_ACTIVE && spindle_error_code(&q) == 0);
	CHECK(spindle_fd(&q) >= 0);
	CHECK(spindle_members(&q, m, 4) == 4);
	CHECK(m[1].node == 7 && m[1].sender_rank == 2 && m[3].node == 103);
	CHECK(spindle_members(&q, m, 3) == -ENOSPC);
	CHECK(!spindle_sender_node(&q, 0, &node) && node == 103);
	CHECK(!spindle_sender_node(&q, 2, &node) && node == 7);
	CHECK(spindle_sender_node(&q, 3, &node) == -EINVAL);
	stop(&q);
	spindle_detach(&q);
	CHECK(spindle_send(&q, "x", 1) == -EBADF);
}

static void expect_refusal(const struct fake_opts *f, int want, const char *text)
{
	struct spindle_attach_opts o = { .node = 7, .subgroup = 2, .flags = SPINDLE_ATTACH_BOTH };
	struct spindle_queue q;
	char buf[200];
	int err;

	fake_setup(f);
	err = spindle_attach(&q, &o);
	CHECK(err == want);
	spindle_attach_strerror(&q, &o, err, buf, sizeof(buf));
	if (!strstr(buf, text))
		printf("# want \"%s\" in \"%s\"\n", text, buf);
	CHECK(strstr(buf, text));
	stop(&q);
}

static void test_refusal(void)
{
	struct spindle_attach_opts o = { .device = "/nonexistent", .flags = SPINDLE_ATTACH_RECV };
	struct spindle_queue q;
	char buf[200];

	expect_refusal(&(struct fake_opts){ .attach_err = ENOMEM, .memlock = 123456 }, -ENOMEM,
		       "123456 bytes");
	expect_refusal(&(struct fake_opts){ .attach_err = ENOMEM }, -ENOMEM, "out of memory");
	expect_refusal(&(struct fake_opts){ .attach_err = EPERM }, -EPERM, "may not send");
	expect_refusal(&(struct fake_opts){ .attach_err = ENODEV }, -ENODEV, "node 7");
	expect_refusal(&(struct fake_opts){ .attach_err = ENOENT }, -ENOENT, "subgroup 2");
	expect_refusal(&(struct fake_opts){ .attach_err = EBUSY }, -EBUSY, "its sender");
	expect_refusal(&(struct fake_opts){ .attach_err = EUSERS }, -EUSERS, "64 processes");
	expect_refusal(&(struct fake_opts){ .attach_err = EIO }, -EIO, "cannot attach");
	CHECK(spindle_attach(&q, &o) == -ENOENT && q.step == SPINDLE_STEP_OPEN);
	spindle_attach_strerror(&q, &o, -ENOENT, buf, sizeof(buf));
	CHECK(strstr(buf, "/nonexistent"));
	o.log_end = 1;
	CHECK(spindle_attach(&q, &o) == -EINVAL && q.step == SPINDLE_STEP_OPTS);
}

/* A member of the reply, and an invalid value for it. */
static const struct spoil {
	size_t offset;
	size_t size;
	uint64_t value;
} spoils[] = {
	{ offsetof(struct spindle_attach, window), 4, 12 },
	{ offsetof(struct spindle_attach, ctl_state), 4, 4096 },
	{ offsetof(struct spindle_attach, ctl_dlv_tail), 4, 4092 },
	{ offsetof(struct spindle_attach, ctl_tx_slot), 4, 132 },
	{ offsetof(struct spindle_attach, usr_desc), 4, 4000 },
	{ offsetof(struct spindle_attach, max_msg), 4, 8192 },
	{ offsetof(struct spindle_attach, tx.len), 8, 4097 },
	{ offsetof(struct spindle_attach, tx.len), 8, 8192 },
	{ offsetof(struct spindle_attach, rx.len), 8, 1ULL << 63 },
	{ offsetof(struct spindle_attach, dlv_stride), 4, 16 },
	{ offsetof(struct spindle_attach, dlv_entries), 4, 4096 },
	{ offsetof(struct spindle_attach, sender_rank), 4, 9 },
	{ offsetof(struct spindle_attach, members), 4, 0 },
};

static const struct spoil *spoil;

static void spoil_member(struct spindle_attach *a)
{
	/* Little-endian, as the whole test. */
	memcpy((char *)a + spoil->offset, &spoil->value, spoil->size);
}

static void spoil_cookie(struct spindle_attach *a)
{
	a->usr.cookie += 8;
}

static void test_layout(void)
{
	struct fake_opts o = { .manual = true, .mangle = spoil_member };

	for (spoil = spoils; spoil < spoils + ARRAY_SIZE(spoils); spoil++)
		expect_refusal(&o, -EPROTO, "ABI");
	o.mangle = spoil_cookie;
	expect_refusal(&o, -EINVAL, "cannot map");
}

/* ---- sending ---------------------------------------------------------- */

static void test_limits(void)
{
	struct spindle_queue q;
	char why[160];
	struct spindle_slot s = { 0 };
	struct spindle_msg m;
	unsigned int i, n;

	start(&q, SPINDLE_ATTACH_BOTH, &(struct fake_opts){ .manual = true, .window = 8 });
	CHECK(spindle_reserve(&q, 1001, &s) == -EMSGSIZE);
	/* The text must be that of the errno, and not of the attachment's enum spindle_error. */
	CHECK(!strcmp(spindle_call_strerror(&q, -EMSGSIZE, why, sizeof(why)),
		      "the message is longer than the 1000 bytes that the subgroup takes"));
	CHECK(!strcmp(spindle_call_strerror(&q, -EIO, why, sizeof(why)), strerror(EIO)));
	CHECK(!strcmp(spindle_call_strerror(&q, 0, why, sizeof(why)), "success"));
	/* Here slots run out before bytes. */
	for (i = 0; i < 8; i++)
		CHECK(!spindle_send(&q, "ab", 2));
	CHECK(spindle_send(&q, NULL, 0) == -EAGAIN);
	CHECK(spindle_drain(&q, 0) == -EAGAIN);
	fake_step();
	for (n = 0; spindle_peek(&q, &m) == 1; n++)
		CHECK(m.len == 2 && !memcmp(m.data, "ab", 2) && m.slot == n && m.node == 7);
	CHECK(n == 8);
	CHECK(spindle_send(&q, NULL, 0) == -EAGAIN);
	spindle_release(&q);
	fake_step();
	CHECK(spindle_drain(&q, 0) == 0);
	/* Here bytes run out: 4 messages of 1000 bytes fill 4096. */
	for (i = 0; i < 4; i++)
		CHECK(!spindle_reserve(&q, 1000, &s) && !spindle_commit(&q, &s, 1000));
	CHECK(spindle_reserve(&q, 1, &s) == -EAGAIN);
	CHECK(!spindle_send(&q, NULL, 0));
	fake_step();
	CHECK(spindle_peek(&q, &m) == 1 && m.len == 1000);
	spindle_release(&q);
	fake_step();
	CHECK(spindle_reserve(&q, 1000, &s) == 0);
	CHECK(spindle_commit(&q, &s, 1001) == -EMSGSIZE);
	CHECK(!spindle_commit(&q, &s, 0));
	fake_step();
	for (n = 0; spindle_peek(&q, &m) == 1; n++)
		;
	CHECK(n == 5 && m.len == 0);
	spindle_release(&q);
	fake_step();
	/* A short commit takes the reserved room, which is free again as usual. */
	for (i = 0; i < 100; i++) {
		CHECK(!spindle_reserve(&q, 1000, &s) && !spindle_commit(&q, &s, 1));
		fake_step();
		CHECK(spindle_peek(&q, &m) == 1 && m.len == 1);
		spindle_release(&q);
		fake_step();
	}
	CHECK(spindle_drain(&q, 0) == 0);
	stop(&q);
}

static void test_order(void)
{
	struct spindle_queue q;
	struct spindle_slot s[5] = { { 0 } };
	struct spindle_msg m[8];
	struct fake_report r;
	int i;

	start(&q, SPINDLE_ATTACH_BOTH, &(struct fake_opts){ .manual = true });
	for (i = 0; i < 5; i++) {
		CHECK(!spindle_reserve(&q, 100, &s[i]));
		fill(&s[i], 100);
	}
	CHECK(!spindle_commit(&q, &s[3], 60));
	CHECK(!spindle_commit(&q, &s[1], 100));
	spindle_abandon(&q, &s[4]);
	fake_step();
	CHECK(spindle_next_batch(&q, m, 8) == 0);
	spindle_abandon(&q, &s[2]);
	CHECK(!spindle_commit(&q, &s[0], 0));
	fake_step();
	CHECK(spindle_next_batch(&q, m, 8) == 3);
	CHECK(m[0].len == 0 && m[1].len == 100 && m[2].len == 60);
	CHECK(intact(&m[1], 1) && intact(&m[2], 3));
	CHECK(m[0].lsn < m[1].lsn && m[1].lsn < m[2].lsn && m[2].slot == 2);
	CHECK(spindle_lsn(&q) == 7000);
	CHECK(!spindle_release_n(&q, 1));
	CHECK(spindle_lsn(&q) == m[0].lsn + 1);
	spindle_release(&q);
	CHECK(spindle_lsn(&q) == m[2].lsn + 1);
	fake_step();
	CHECK(spindle_drain(&q, 0) == 0);
	r = stop(&q);
	CHECK(r.abandoned == 2 && r.free_slot == 5 && r.free_unit == 10);
}

static void test_quiet(void)
{
	struct spindle_queue q;
	struct spindle_slot s = { 0 };
	int i;

	start(&q, SPINDLE_ATTACH_SEND, &(struct fake_opts){ .idle = 0 });
	CHECK(spindle_peek(&q, &(struct spindle_msg){ 0 }) == -EBADF);
	CHECK(spindle_wait(&q, POLLIN, 0) == -EBADF);
	while (!spindle_load_once32(q.ctl_need_wakeup))
		sched_yield();
	for (i = 0; i < 8; i++)
		CHECK(!spindle_reserve(&q, 10, &s) && !spindle_commit_quiet(&q, &s, 10));
	CHECK(spindle_drain(&q, 0) == -EAGAIN || !spindle_drain(&q, -1));
	CHECK(spindle_drain(&q, 5000) == 0);
	CHECK(!spindle_flush(&q));
	CHECK(stop(&q).kicks <= 4);
}

/* ---- reading ---------------------------------------------------------- */

static void test_release(void)
{
	struct spindle_queue q;
	struct spindle_msg m[16];
	unsigned int i;

	start(&q, SPINDLE_ATTACH_BOTH,
	      &(struct fake_opts){ .manual = true, .window = 8, .unknown_every = 3 });
	for (i = 0; i < 8; i++)
		CHECK(!spindle_send(&q, &i, sizeof(i)));
	fake_step();
	CHECK(spindle_wait(&q, POLLIN | POLLOUT, -1) == POLLIN);
	CHECK(spindle_next_batch(&q, m, 0) == 0);
	CHECK(spindle_next_batch(&q, m, 5) == 5);
	CHECK(spindle_next_batch(&q, m + 5, 11) == 3);
	CHECK(spindle_next_batch(&q, m + 8, 8) == 0);
	for (i = 0; i < 8; i++)
		CHECK(m[i].slot == i && !memcmp(m[i].data, &i, sizeof(i)));
	CHECK(spindle_wait(&q, POLLIN, -1) == -EBUSY);
	CHECK(spindle_release_n(&q, 9) == -EINVAL);
	CHECK(spindle_release_n(&q, 3) == 0);
	fake_step();
	for (i = 0; i < 3; i++)
		CHECK(!spindle_send(&q, "new", 3));
	CHECK(spindle_send(&q, "new", 3) == -EAGAIN);
	for (i = 3; i < 8; i++)
		CHECK(!memcmp(m[i].data, &i, sizeof(i)));
	CHECK(spindle_release_n(&q, 5) == 0);
	CHECK(spindle_release_n(&q, 1) == -EINVAL);
	fake_step();
	CHECK(spindle_peek(&q, m) == 1 && m->len == 3);
	spindle_release(&q);
	spindle_release(&q);
	stop(&q);
}

/* Entries of an unknown kind alone must not pile up unreleased. */
static void test_unknown(void)
{
	struct spindle_queue q;
	struct spindle_msg m;
	int i;

	start(&q, SPINDLE_ATTACH_BOTH, &(struct fake_opts){ .manual = true, .unknown_every = 2 });
	for (i = 0; i < 100; i++) {
		CHECK(!spindle_send(&q, "x", 1));
		fake_step();
		CHECK(spindle_peek(&q, &m) == 1);
		CHECK(spindle_release_n(&q, 1) == 0);
		fake_step();
		CHECK(spindle_peek(&q, &m) == 0);
		CHECK(spindle_wait(&q, POLLIN, 0) == 0);
	}
	stop(&q);
}

static void bad_len(struct spindle_dlv *d)
{
	d->len = 1001;
}

static void bad_offset(struct spindle_dlv *d)
{
	d->offset = 4096;
}

static void bad_sender(struct spindle_dlv *d)
{
	d->sender = 1;
}

static void test_bad_descriptor(void)
{
	static void (*const bad[])(struct spindle_dlv *) = { bad_len, bad_offset, bad_sender };
	struct fake_opts o = { .manual = true };
	struct spindle_queue q;
	struct spindle_msg m;
	size_t i;

	for (i = 0; i < 3; i++) {
		o.mangle_dlv = bad[i];
		start(&q, SPINDLE_ATTACH_BOTH, &o);
		CHECK(!spindle_send(&q, "x", 1));
		fake_step();
		CHECK(spindle_peek(&q, &m) == -EBADMSG);
		CHECK(spindle_peek(&q, &m) == -EBADMSG);
		stop(&q);
	}
}

static void test_final(void)
{
	struct spindle_queue q;
	char why[160];
	struct spindle_slot s = { 0 };
	struct spindle_msg m;

	start(&q, SPINDLE_ATTACH_BOTH, &(struct fake_opts){ .manual = true });
	CHECK(!spindle_send(&q, "a", 1) && !spindle_send(&q, "b", 1));
	fake_step();
	CHECK(!spindle_reserve(&q, 1, &s));
	fake_final(SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST);
	CHECK(spindle_send(&q, "c", 1) == -EPIPE);
	CHECK(!spindle_commit(&q, &s, 1));
	CHECK(spindle_send_wait(&q, "c", 1, -1) == -EPIPE);
	CHECK(spindle_drain(&q, -1) == -EPIPE);
	CHECK(spindle_wait(&q, POLLOUT, -1) == -EPIPE);
	CHECK(spindle_wait(&q, POLLIN, -1) == POLLIN);
	CHECK(spindle_peek(&q, &m) == 1 && spindle_peek(&q, &m) == 1);
	CHECK(*(const char *)m.data == 'b');
	CHECK(spindle_peek(&q, &m) == -EPIPE);
	CHECK(spindle_wait(&q, POLLIN, -1) == -EPIPE);
	CHECK(spindle_state(&q) == SPINDLE_STATE_FAILED);
	CHECK(!strcmp(spindle_state_string(spindle_state(&q)), "failed"));
	CHECK(strstr(spindle_strerror(spindle_error_code(&q)), "connection"));
	CHECK(!strcmp(spindle_call_strerror(&q, -EPIPE, why, sizeof(why)),
		      "the subgroup is failed: the connection to a member broke"));
	CHECK(!strcmp(spindle_call_strerror(&q, -EPIPE, why, 8), "the sub"));
	spindle_release(&q);
	stop(&q);
}

/* A process that breaks the rules is frozen, and can still read delivered messages. */
static void test_frozen(void)
{
	struct spindle_queue q;
	struct spindle_slot s = { 0 };
	struct spindle_msg m;

	start(&q, SPINDLE_ATTACH_BOTH, &(struct fake_opts){ .manual = true });
	CHECK(!spindle_send(&q, "a", 1));
	CHECK(!spindle_reserve(&q, 64, &s));
	s.unit++;
	CHECK(!spindle_commit(&q, &s, 64));
	fake_step();
	CHECK(spindle_state(&q) == SPINDLE_STATE_FROZEN);
	CHECK(spindle_error_code(&q) == SPINDLE_ERR_TX_EXTENT);
	CHECK(spindle_peek(&q, &m) == 1);
	CHECK(spindle_peek(&q, &m) == -EPIPE);
	spindle_detach(&q);
	CHECK(fake_look().tx_error == SPINDLE_ERR_TX_EXTENT);
}

struct tally {
	unsigned int calls, msgs, stop_at;
};

static int count_batch(void *arg, const struct spindle_msg *msgs, unsigned int n)
{
	struct tally *t = arg;

	CHECK(n >= 1 && n <= 64 && msgs[0].slot == t->msgs);
	t->calls++;
	t->msgs += n;
	return t->msgs >= t->stop_at ? -ECANCELED : 0;
}

static void test_dispatch(void)
{
	struct tally t = { 0, 0, 1000 };
	struct spindle_queue q;
	struct spindle_msg m;
	unsigned int i;

	start(&q, SPINDLE_ATTACH_BOTH, &(struct fake_opts){ .manual = true, .window = 256 });
	for (i = 0; i < 200; i++)
		CHECK(!spindle_send(&q, NULL, 0));
	fake_step();
	CHECK(spindle_dispatch(&q, count_batch, &t, 0) == -EINVAL);
	CHECK(spindle_dispatch(&q, count_batch, &t, 70) == 70 && t.calls == 2);
	t.stop_at = 130;
	CHECK(spindle_dispatch(&q, count_batch, &t, 1000) == -ECANCELED && t.msgs == 134);
	t.stop_at = 1000;
	CHECK(spindle_dispatch(&q, count_batch, &t, 1000) == 66 && t.msgs == 200);
	CHECK(spindle_dispatch(&q, count_batch, &t, 1000) == 0);
	CHECK(!spindle_send(&q, NULL, 0) && fake_step() && spindle_peek(&q, &m) == 1);
	CHECK(spindle_dispatch(&q, count_batch, &t, 1) == -EBUSY);
	fake_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	spindle_release(&q);
	CHECK(spindle_dispatch(&q, count_batch, &t, 1) == -EPIPE);
	stop(&q);
}

int main(void)
{
	static const struct tap_case list[] = {
		{ "attach: geometry, members, detach twice", test_geometry },
		{ "attach: refusals are undone and explained", test_refusal },
		{ "attach: an illegal layout is refused", test_layout },
		{ "send: window, ring and message limits", test_limits },
		{ "send: commits and abandons out of order", test_order },
		{ "send: quiet commits, one kick", test_quiet },
		{ "read: batches, partial release, lifetime of data", test_release },
		{ "read: unknown kinds are skipped and released", test_unknown },
		{ "read: descriptors outside the mapping are refused", test_bad_descriptor },
		{ "final state: deliveries first, then EPIPE", test_final },
		{ "frozen: a wrong extent stops the sender only", test_frozen },
		{ "dispatch: budget, stop, batches", test_dispatch },
	};

	tap_cases(list, ARRAY_SIZE(list));
	return tap_end();
}
