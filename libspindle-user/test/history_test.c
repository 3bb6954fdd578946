// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of readers of a history without a kernel, on top of fake.c. TAP on stdout.
 *
 * Node 103 is sender 0 of three, and its messages were delivered before the attach.
 */
#include "attach.h"

static const struct spindle_place nowhere;

static int attach_to(struct spindle_queue *q, unsigned int messages,
		     const struct spindle_place *from, uint64_t want)
{
	struct fake_opts o = { .manual = true, .senders = 3, .history = messages };
	struct spindle_attach_opts a = {
		.node = 7, .subgroup = 2, .flags = SPINDLE_ATTACH_RECV, .from = from, .want = want,
	};

	fake_setup(&o);
	alarm(300);
	return spindle_attach(q, &a);
}

/* Is it message @n of node 103, byte for byte? */
static bool is_msg(const struct spindle_msg *m, uint64_t n)
{
	const unsigned char *p = m->data;
	uint32_t i;

	if (m->kind != SPINDLE_DLV_MSG || m->node != 103 || m->slot != n ||
	    m->len != fake_peer_len(103, n, 1000))
		return false;
	for (i = 0; i < m->len; i++)
		if (p[i] != fake_peer_byte(103, n, i))
			return false;
	return true;
}

static void test_oldest(void)
{
	struct spindle_queue q;
	struct spindle_msg m;
	uint64_t n;

	if (attach_to(&q, 5, NULL, SPINDLE_WANT_OLDEST))
		bail_out("cannot attach");
	CHECK(q.oldest == spindle_lsn(&q) && q.next > q.oldest);
	for (n = 0; n < 5; n++)
		CHECK(spindle_peek(&q, &m) == 1 && is_msg(&m, n));
	CHECK(spindle_peek(&q, &m) == 0 && spindle_intact(&q) == 1);
	fake_deliver(0, 5);
	CHECK(spindle_peek(&q, &m) == 1 && is_msg(&m, 5));
	spindle_release(&q);
	CHECK(spindle_lsn(&q) == m.lsn + 1);
	stop(&q);
}

static void test_now(void)
{
	struct spindle_queue q;
	struct spindle_msg m;

	if (attach_to(&q, 5, NULL, 0))
		bail_out("cannot attach");
	CHECK(q.next == spindle_lsn(&q) && spindle_peek(&q, &m) == 0);
	fake_deliver(0, 5);
	CHECK(spindle_peek(&q, &m) == 1 && is_msg(&m, 5));
	stop(&q);
}

/* A large history makes no attachment slower, because only usr is mapped at once. */
static void test_pages(void)
{
	struct spindle_queue q;

	if (attach_to(&q, 5, NULL, 0))
		bail_out("cannot attach");
	CHECK(fake_look().mappings == 4 && fake_look().populated == 1);
	stop(&q);
}

/* A reader stops after each message, and the next one goes on from its place. */
static void test_place(void)
{
	struct spindle_place place = nowhere;
	struct spindle_queue q;
	struct spindle_msg m;
	uint64_t n;

	for (n = 0; n < 5; n++) {
		int err = attach_to(&q, 5, n ? &place : NULL, n ? 0 : SPINDLE_WANT_OLDEST);

		if (!CHECK(!err))
			return;
		CHECK(spindle_peek(&q, &m) == 1 && is_msg(&m, n));
		spindle_release(&q);
		spindle_place(&q, &place);
		CHECK(place.lsn == m.lsn + 1 && place.lineage[0] == 1 && place.lineage[1] == 2 &&
		      place.era == 3);
		stop(&q);
	}
}

static void test_refused(void)
{
	static const struct {
		struct spindle_place place;
		int err;
		const char *text;
	} row[] = {
		{ { .lsn = 1 }, -ESTALE, "position 1 cannot be read, only 70" },
		{ { .lsn = UINT64_MAX }, -ERANGE, "18446744073709551615 cannot be read, only 70" },
		{ { 7003, { 1, 2 }, 4 }, -EXDEV, "another lineage, or another era" },
		{ { 7003, { 1, 3 }, 3 }, -EXDEV, "another lineage, or another era" },
		{ { 7003, { 0, 0 }, 3 }, -EXDEV, "another lineage, or another era" },
		{ { 7003, { 1, 2 }, 3 }, 0, "success" },
		{ { 7003, { 0, 0 }, 0 }, 0, "success" },
	};
	struct spindle_attach_opts o = { .node = 7, .subgroup = 2, .flags = SPINDLE_ATTACH_RECV };
	struct spindle_queue q;
	char text[200];
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		err = attach_to(&q, 6, &row[i].place, 0);
		o.from = &row[i].place;
		if (!CHECK(err == row[i].err))
			printf("# row %zu: %d\n", i, err);
		spindle_attach_strerror(&q, &o, err, text, sizeof(text));
		if (!CHECK(strstr(text, row[i].text)))
			printf("# row %zu: %s\n", i, text);
		if (err == -ESTALE || err == -ERANGE)
			CHECK(q.oldest >= 7000 && q.next >= q.oldest + 6);
		stop(&q);
	}
	/* Oldest, or a place: not both. */
	CHECK(attach_to(&q, 5, &nowhere, SPINDLE_WANT_OLDEST) == -EINVAL);
	CHECK(q.step == SPINDLE_STEP_OPTS);
}

/* What the history overwrites while it is read is not believed. */
static void test_overtaken(void)
{
	struct spindle_place place;
	struct spindle_queue q;
	struct spindle_msg m[2];
	uint64_t n, lsn;
	char text[160];

	if (attach_to(&q, 5, NULL, SPINDLE_WANT_OLDEST))
		bail_out("cannot attach");
	CHECK(spindle_peek(&q, m) == 1);
	spindle_release(&q);
	lsn = spindle_lsn(&q);
	CHECK(spindle_next_batch(&q, m, 2) == 2 && spindle_intact(&q) == 1);
	for (n = 5; spindle_intact(&q); n++)
		fake_deliver(0, n);
	CHECK(n > 10);
	CHECK(spindle_next_batch(&q, m, 2) == -ESTALE);
	/* The place stays where the reader was, so it cannot take anything for read. */
	spindle_release(&q);
	spindle_place(&q, &place);
	CHECK(place.lsn == lsn);
	CHECK(spindle_next_batch(&q, m, 2) == -ESTALE);
	fake_final(SPINDLE_STATE_FROZEN, SPINDLE_ERR_BEHIND);
	CHECK(strstr(spindle_call_strerror(&q, -EPIPE, text, sizeof(text)),
		     "the history has forgotten what the process had not read"));
	CHECK(fake_look().dlv_error == SPINDLE_ERR_BEHIND);
	spindle_detach(&q);
}

/* Messages that came and went at once are no end of the stream. */
static void test_overtaken_at_the_end(void)
{
	struct spindle_queue q;
	struct spindle_msg m;

	if (attach_to(&q, 1, NULL, SPINDLE_WANT_OLDEST))
		bail_out("cannot attach");
	CHECK(spindle_peek(&q, &m) == 1);
	spindle_release(&q);
	fake_burst(0, 1, 100);
	CHECK(spindle_wait(&q, POLLIN, 0) == POLLIN);
	CHECK(spindle_peek(&q, &m) == -ESTALE);
	fake_final(SPINDLE_STATE_FROZEN, SPINDLE_ERR_BEHIND);
	CHECK(spindle_peek(&q, &m) == -ESTALE);
	spindle_detach(&q);
}

static int overwrite_it(void *arg, const struct spindle_msg *msgs, unsigned int n)
{
	uint64_t *next = arg;

	(void)msgs;
	(void)n;
	for (; *next < 100; (*next)++)
		fake_deliver(0, *next);
	return 0;
}

static void test_overtaken_in_dispatch(void)
{
	struct spindle_queue q;
	uint64_t next = 2;

	if (attach_to(&q, 2, NULL, SPINDLE_WANT_OLDEST))
		bail_out("cannot attach");
	CHECK(spindle_dispatch(&q, overwrite_it, &next, 10) == -ESTALE);
	spindle_detach(&q);
}

/* A reader that keeps up reads through many laps. */
static void test_laps(void)
{
	struct spindle_queue q;
	struct spindle_msg m;
	uint64_t n;

	if (attach_to(&q, 1, NULL, SPINDLE_WANT_OLDEST))
		bail_out("cannot attach");
	CHECK(spindle_peek(&q, &m) == 1 && is_msg(&m, 0));
	for (n = 1; n < 1000; n++) {
		spindle_release(&q);
		fake_deliver(0, n);
		CHECK(spindle_peek(&q, &m) == 1 && is_msg(&m, n) && spindle_intact(&q));
	}
	stop(&q);
}

static void test_views(void)
{
	static const struct spindle_seat next[] = {
		{ .node = 7, .sender_rank = 1, .rx = 2, .flags = SPINDLE_SEAT_ME },
		{ .node = 103, .sender_rank = 0, .rx = 0 },
	};
	struct spindle_queue q;
	struct spindle_msg m;

	if (attach_to(&q, 2, NULL, SPINDLE_WANT_OLDEST | SPINDLE_WANT_VIEWS))
		bail_out("cannot attach");
	fake_view(4, next, 2);
	fake_deliver(0, 2);
	CHECK(q.vid == 3 && spindle_peek(&q, &m) == 1 && is_msg(&m, 0));
	CHECK(spindle_peek(&q, &m) == 1 && is_msg(&m, 1));
	CHECK(spindle_peek(&q, &m) == 1 && m.kind == SPINDLE_DLV_VIEW && m.slot == 4);
	CHECK(spindle_peek(&q, &m) == 1 && is_msg(&m, 2) && q.vid == 4);
	stop(&q);
}

static void no_low(struct spindle_attach *a)
{
	a->ctl_dlv_low = a->ctl.len;
}

static void test_bad_reply(void)
{
	struct fake_opts o = { .manual = true, .history = 1, .senders = 3, .mangle = no_low };
	struct spindle_queue q;

	fake_setup(&o);
	CHECK(attach_as(&q, SPINDLE_ATTACH_RECV) == -EPROTO && q.step == SPINDLE_STEP_LAYOUT);
}

int main(void)
{
	static const struct tap_case list[] = {
		{ "history: from the oldest message", test_oldest },
		{ "history: from now on", test_now },
		{ "history: its pages come when they are read", test_pages },
		{ "history: from the place where the last reader was", test_place },
		{ "history: places that cannot be read", test_refused },
		{ "history: a reader that is overtaken", test_overtaken },
		{ "history: a reader that is overtaken at the end", test_overtaken_at_the_end },
		{ "history: a reader that is overtaken in a callback", test_overtaken_in_dispatch },
		{ "history: a reader that keeps up", test_laps },
		{ "history: views pass", test_views },
		{ "history: a reply that makes no sense", test_bad_reply },
	};

	tap_cases(list, ARRAY_SIZE(list));
	return tap_end();
}
