// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of live views without a kernel, on top of fake.c. TAP on stdout.
 *
 * The view of the attach is number 3. Its nodes are, by rank: 100, which does not send; 7, which
 * is us and sender 2; 102, which is sender 1; 103, which is sender 0.
 */
#include "attach.h"

#define NONE	SPINDLE_NO_RANK
#define ME	SPINDLE_SEAT_ME
#define JOINED	SPINDLE_SEAT_JOINED

#define SEAT(n, s, r, f) { .node = (n), .sender_rank = (s), .rx = (r), .flags = (f) }
#define VIEW(vid, ...) do {						\
	const struct spindle_seat seats_[] = { __VA_ARGS__ };		\
									\
	fake_view(vid, seats_, ARRAY_SIZE(seats_));			\
} while (0)

static void begin_with(struct spindle_queue *q, uint32_t flags, uint64_t want, struct fake_opts o)
{
	struct spindle_attach_opts a = {
		.node = 7, .subgroup = 2, .flags = flags, .want = want,
	};

	o.manual = true;
	o.senders = 3;
	fake_setup(&o);
	alarm(300);
	if (spindle_attach(q, &a))
		bail_out("cannot attach");
}

static void begin(struct spindle_queue *q, uint64_t want)
{
	begin_with(q, SPINDLE_ATTACH_BOTH, want, (struct fake_opts){ 0 });
}

/* Is it message @n of @node, byte for byte? */
static bool is_msg(const struct spindle_msg *m, uint32_t node, uint64_t n)
{
	const unsigned char *p = m->data;
	uint32_t i;

	if (m->kind != SPINDLE_DLV_MSG || m->node != node || m->slot != n ||
	    m->len != fake_peer_len(node, n, 1000))
		return false;
	for (i = 0; i < m->len; i++)
		if (p[i] != fake_peer_byte(node, n, i))
			return false;
	return true;
}

static bool is_view(const struct spindle_msg *m, uint64_t vid)
{
	return m->kind == SPINDLE_DLV_VIEW && m->slot == vid && m->sender == NONE && !m->data &&
	       !m->len && !m->node;
}

static uint64_t vid_of(const struct spindle_queue *q)
{
	struct spindle_view v;

	return spindle_view(q, &v) ? 0 : v.vid;
}

/* Node 200 joins after two messages, as the fifth member. Ranks change, seats do not. */
static void let_one_join(void)
{
	fake_deliver(0, 0);
	fake_deliver(1, 0);
	VIEW(4, SEAT(100, NONE, 0, 0), SEAT(103, 0, 0, 0), SEAT(7, 1, 2, ME),
	     SEAT(200, 2, 9, JOINED), SEAT(102, 3, 1, 0));
	fake_deliver(2, 0);
	fake_deliver(3, 1);
}

static void test_in_order(void)
{
	struct spindle_queue q;
	struct spindle_view v;
	struct spindle_msg m[8];

	begin(&q, SPINDLE_WANT_VIEWS);
	CHECK(!spindle_view(&q, &v) && v.vid == 3 && v.members == 4 && v.senders == 3);
	CHECK(v.rank == 1 && v.sender_rank == 2 && v.seat[1].node == 7 && v.seat[1].flags == ME);
	let_one_join();
	CHECK(spindle_next_batch(&q, m, 8) == 2);
	CHECK(is_msg(&m[0], 103, 0) && is_msg(&m[1], 102, 0));
	CHECK(vid_of(&q) == 3 && spindle_sender_rank(&q) == 2);
	CHECK(spindle_next_batch(&q, m + 2, 6) == 3);
	CHECK(is_view(&m[2], 4) && is_msg(&m[3], 200, 0) && is_msg(&m[4], 102, 1));
	CHECK(is_msg(&m[0], 103, 0) && is_msg(&m[1], 102, 0));
	CHECK(!spindle_view(&q, &v) && v.vid == 4 && v.members == 5 && v.senders == 4);
	CHECK(v.rank == 2 && v.sender_rank == 1 && q.vid == 4);
	CHECK(spindle_rank(&q) == 2 && spindle_sender_rank(&q) == 1);
	CHECK(v.seat[3].node == 200 && v.seat[3].flags == JOINED && v.seat[3].sender_rank == 2);
	/* A view is given back like a message. */
	CHECK(spindle_release_n(&q, 6) == -EINVAL && spindle_release_n(&q, 5) == 0);
	CHECK(*q.usr_consumed == 5);
	VIEW(5, SEAT(7, 0, 2, ME));
	VIEW(6, SEAT(7, 0, 2, ME));
	CHECK(spindle_wait(&q, POLLIN, 0) == POLLIN);
	CHECK(spindle_next_batch(&q, m, 8) == 1 && is_view(&m[0], 5) && vid_of(&q) == 5);
	CHECK(spindle_peek(&q, &m[1]) == 1 && is_view(&m[1], 6) && vid_of(&q) == 6);
	CHECK(spindle_peek(&q, m) == 0 && *q.usr_consumed == 5);
	spindle_release(&q);
	CHECK(*q.usr_consumed == 7);
	stop(&q);
	CHECK(spindle_view(&q, &v) == -EINVAL);
}

static void test_not_wanted(void)
{
	struct spindle_queue q;
	struct spindle_msg m[8];
	uint32_t node = 0;

	begin(&q, 0);
	let_one_join();
	CHECK(spindle_next_batch(&q, m, 8) == 2 && is_msg(&m[0], 103, 0) && is_msg(&m[1], 102, 0));
	CHECK(spindle_next_batch(&q, m, 8) == 2 && is_msg(&m[0], 200, 0) && is_msg(&m[1], 102, 1));
	CHECK(!spindle_sender_node(&q, 2, &node) && node == 200);
	CHECK(vid_of(&q) == 4 && spindle_sender_rank(&q) == 1 && m[1].sender == 3);
	CHECK(spindle_release_n(&q, 5) == -EINVAL);
	CHECK(spindle_release_n(&q, 2) == 0 && *q.usr_consumed == 3);
	CHECK(spindle_release_n(&q, 2) == 0 && *q.usr_consumed == 5);
	/* A view with no entry after it must not stay unreleased for ever. */
	VIEW(5, SEAT(7, 0, 2, ME));
	CHECK(spindle_peek(&q, m) == 0 && *q.usr_consumed == 6 && vid_of(&q) == 5);
	CHECK(spindle_wait(&q, POLLIN, 0) == 0);
	stop(&q);
}

static void test_seats(void)
{
	struct spindle_queue q;
	struct spindle_msg m[8];
	int maps;

	begin_with(&q, SPINDLE_ATTACH_BOTH, 0, (struct fake_opts){ .seat_shift = 4 });
	fake_deliver(0, 0);
	fake_deliver(1, 0);
	CHECK(spindle_next_batch(&q, m, 8) == 2 && is_msg(&m[0], 103, 0) && is_msg(&m[1], 102, 0));
	maps = fake_look().mappings;
	/* All members change their ranks, and none its seat. */
	VIEW(4, SEAT(7, 0, 6, ME), SEAT(103, 2, 4, 0), SEAT(102, 1, 5, 0));
	CHECK(!spindle_send(&q, NULL, 0));
	fake_step();
	fake_deliver(2, 1);
	fake_deliver(1, 1);
	CHECK(spindle_next_batch(&q, m + 2, 6) == 3);
	CHECK(m[2].node == 7 && m[2].sender == 0 && m[2].sender == spindle_sender_rank(&q));
	CHECK(is_msg(&m[3], 103, 1) && is_msg(&m[4], 102, 1) && is_msg(&m[0], 103, 0));
	CHECK(fake_look().mappings == maps);
	spindle_release(&q);
	CHECK(fake_look().mappings == maps);
	stop(&q);
}

static void test_departed(void)
{
	struct spindle_queue q;
	struct spindle_msg m[8];
	int maps;

	begin(&q, SPINDLE_WANT_VIEWS);
	maps = fake_look().mappings;
	fake_deliver(1, 1);
	VIEW(4, SEAT(7, 1, 2, ME), SEAT(103, 0, 0, 0));
	fake_deliver(0, 0);
	CHECK(spindle_peek(&q, &m[0]) == 1);
	CHECK(spindle_next_batch(&q, m + 1, 7) == 2 && is_view(&m[1], 4) && is_msg(&m[2], 103, 0));
	CHECK(fake_look().mappings == maps && is_msg(&m[0], 102, 1));
	CHECK(!spindle_release_n(&q, 1) && fake_look().mappings == maps);
	CHECK(!spindle_release_n(&q, 1) && fake_look().mappings == maps - 1);
	CHECK(is_msg(&m[2], 103, 0));
	/* Two members leave one after the other; bytes of the first one are still held. */
	fake_deliver(0, 1);
	VIEW(5, SEAT(7, 1, 2, ME), SEAT(104, 0, 4, JOINED));
	fake_deliver(0, 2);
	VIEW(6, SEAT(7, 0, 2, ME));
	CHECK(spindle_peek(&q, &m[3]) == 1);
	CHECK(spindle_next_batch(&q, m + 4, 2) == 2);
	CHECK(spindle_peek(&q, &m[6]) == 1 && is_view(&m[6], 6));
	CHECK(fake_look().mappings == maps);
	CHECK(is_msg(&m[2], 103, 0) && is_msg(&m[3], 103, 1) && is_msg(&m[5], 104, 2));
	CHECK(!spindle_release_n(&q, 3) && fake_look().mappings == maps - 1);
	CHECK(is_msg(&m[5], 104, 2));
	spindle_release(&q);
	CHECK(fake_look().mappings == maps - 2 && !q.left);
	stop(&q);
}

/* Two nodes, and then two incarnations of one node, use the same seat. */
static void test_reused(void)
{
	struct spindle_queue q;
	struct spindle_msg m[8];
	int maps;

	begin(&q, 0);
	maps = fake_look().mappings;
	fake_deliver(1, 0);
	VIEW(4, SEAT(7, 2, 2, ME), SEAT(201, 1, 1, JOINED), SEAT(103, 0, 0, 0));
	fake_deliver(1, 0);
	CHECK(spindle_peek(&q, &m[0]) == 1 && spindle_peek(&q, &m[1]) == 1);
	VIEW(5, SEAT(7, 2, 2, ME), SEAT(201, 1, 1, JOINED), SEAT(103, 0, 0, 0));
	fake_deliver(1, 4);
	CHECK(spindle_peek(&q, &m[2]) == 1 && spindle_peek(&q, &m[3]) == 0);
	/* All three are at the same place of their rings. */
	CHECK(is_msg(&m[0], 102, 0) && is_msg(&m[1], 201, 0) && is_msg(&m[2], 201, 4));
	CHECK(fake_look().mappings == maps + 2);
	spindle_release(&q);
	CHECK(fake_look().mappings == maps);
	/* The member that joined stays, and so does its mapping. */
	VIEW(6, SEAT(7, 1, 2, ME), SEAT(201, 0, 1, 0));
	CHECK(spindle_peek(&q, m) == 0 && fake_look().mappings == maps - 1);
	stop(&q);

	/* Even if the kernel does not say that the other node is new. */
	begin(&q, 0);
	VIEW(4, SEAT(7, 2, 2, ME), SEAT(201, 1, 1, 0), SEAT(103, 0, 0, 0));
	fake_deliver(1, 1);
	CHECK(spindle_peek(&q, m) == 1 && is_msg(m, 201, 1) && q.left);
	stop(&q);
}

static void test_stale(void)
{
	struct spindle_queue q;
	struct spindle_msg m[8];
	int i;

	begin(&q, 0);
	let_one_join();
	fake_forget(4);
	CHECK(spindle_next_batch(&q, m, 8) == 2 && is_msg(&m[1], 102, 0));
	for (i = 0; i < 3; i++)
		CHECK(spindle_next_batch(&q, m + 2, 6) == -ESTALE);
	CHECK(spindle_wait(&q, POLLIN, 0) == POLLIN && vid_of(&q) == 3);
	CHECK(is_msg(&m[0], 103, 0) && is_msg(&m[1], 102, 0));
	spindle_release(&q);
	CHECK(spindle_peek(&q, m) == -ESTALE && *q.usr_consumed == 2);
	stop(&q);
}

/* A call that failed has left nothing behind, and may succeed the next time. */
static void test_again(void)
{
	struct spindle_queue q;
	struct spindle_msg m[8];
	int maps;

	begin(&q, SPINDLE_WANT_VIEWS);
	maps = fake_look().mappings;
	let_one_join();
	CHECK(spindle_next_batch(&q, m, 8) == 2);
	fake_errors(ENOMEM, 0);
	CHECK(spindle_peek(&q, &m[2]) == -ENOMEM);
	fake_errors(0, ENOMEM);
	CHECK(spindle_peek(&q, &m[2]) == -ENOMEM && spindle_peek(&q, &m[2]) == -ENOMEM);
	CHECK(vid_of(&q) == 3 && fake_look().mappings == maps);
	CHECK(is_msg(&m[0], 103, 0) && is_msg(&m[1], 102, 0));
	fake_errors(0, 0);
	CHECK(spindle_next_batch(&q, m + 2, 6) == 3 && is_view(&m[2], 4) && is_msg(&m[3], 200, 0));
	CHECK(is_msg(&m[4], 102, 1) && fake_look().mappings == maps + 1);
	stop(&q);
}

static void test_old_module(void)
{
	struct spindle_attach_opts a = { .node = 7, .subgroup = 2, .flags = SPINDLE_ATTACH_BOTH };
	struct spindle_queue q;
	struct spindle_view v;
	struct spindle_msg m[8];

	begin_with(&q, SPINDLE_ATTACH_BOTH, SPINDLE_WANT_VIEWS,
		   (struct fake_opts){ .seats_err = ENOTTY });
	fake_deliver(0, 0);
	fake_deliver(1, 0);
	CHECK(spindle_next_batch(&q, m, 8) == 2 && is_msg(&m[0], 103, 0) && is_msg(&m[1], 102, 0));
	CHECK(!spindle_view(&q, &v) && v.vid == 3 && v.members == 4 && v.senders == 3);
	CHECK(v.rank == 1 && v.sender_rank == 2 && v.seat[0].sender_rank == NONE);
	CHECK(v.seat[1].flags == ME && v.seat[3].node == 103 && !v.seat[3].flags);
	stop(&q);
	/* Only that one error means that there are no seats. */
	fake_setup(&(struct fake_opts){ .manual = true, .seats_err = ESTALE });
	CHECK(spindle_attach(&q, &a) == -ESTALE);
	stop(&q);
	a.want = 1 << 7;
	CHECK(spindle_attach(&q, &a) == -EINVAL && q.step == SPINDLE_STEP_OPTS);
	stop(&q);
}

static void test_copy(void)
{
	struct spindle_queue q;
	struct spindle_msg m[8];
	int maps;

	begin_with(&q, SPINDLE_ATTACH_BOTH | SPINDLE_ATTACH_COPY, SPINDLE_WANT_VIEWS,
		   (struct fake_opts){ .ring_bytes = 16384 });
	maps = fake_look().mappings;
	let_one_join();
	CHECK(spindle_next_batch(&q, m, 8) == 2 && spindle_next_batch(&q, m + 2, 6) == 3);
	CHECK(is_msg(&m[0], 103, 0) && is_msg(&m[1], 102, 0) && is_view(&m[2], 4));
	CHECK(is_msg(&m[3], 200, 0) && is_msg(&m[4], 102, 1));
	CHECK(fake_look().mappings == maps);
	stop(&q);
}

static void test_no_sender_any_more(void)
{
	struct spindle_slot s = { 0 };
	struct spindle_queue q;
	struct spindle_msg m[2];

	begin(&q, SPINDLE_WANT_VIEWS);
	CHECK(!spindle_reserve(&q, 10, &s));
	VIEW(4, SEAT(103, 0, 0, 0), SEAT(7, NONE, 2, ME));
	fake_deliver(0, 0);
	CHECK(spindle_next_batch(&q, m, 2) == 2 && is_view(&m[0], 4) && is_msg(&m[1], 103, 0));
	CHECK(spindle_rank(&q) == 1 && spindle_sender_rank(&q) == NONE);
	CHECK(!spindle_commit(&q, &s, 10) && !spindle_send(&q, "x", 1));
	spindle_release(&q);
	stop(&q);

	begin_with(&q, SPINDLE_ATTACH_SEND, SPINDLE_WANT_VIEWS, (struct fake_opts){ 0 });
	CHECK(vid_of(&q) == 3 && !spindle_send(&q, "x", 1) && spindle_peek(&q, m) == -EBADF);
	stop(&q);
}

static void commit_to(struct spindle_queue *q, const struct spindle_dest *to)
{
	struct spindle_slot s;

	CHECK(!spindle_reserve(q, 40, &s));
	CHECK(spindle_commit_to(q, &s, 41, to) == -EMSGSIZE);
	CHECK(!spindle_commit_to(q, &s, 40, to));
	fake_step();
}

/* Node 7 has rank 1 in view 3, and rank 2 in view 4. */
static void test_destinations(void)
{
	static const uint32_t some[] = { 7, 103 }, others[] = { 102, 100, 102 };
	static const uint32_t wrong[] = { 7, 101 };
	struct spindle_dest to, old;
	struct spindle_queue q;
	struct spindle_msg m[8];
	uint64_t lsn;

	begin(&q, 0);
	memset(&to, 0, sizeof(to));
	CHECK(spindle_destinations(&q, some, 0, &to) == -EINVAL);
	CHECK(spindle_destinations(&q, wrong, 2, &to) == -ENOENT && !to.mask);
	/* A descriptor without a mask would name all members. */
	CHECK(spindle_commit_to(&q, &(struct spindle_slot){ .len = 1 }, 1, &to) == -EINVAL);
	CHECK(!spindle_destinations(&q, some, 2, &old) && old.mask == 10 && old.vid == 3);
	commit_to(&q, &old);
	CHECK(fake_look().to_mask == 10 && fake_look().to_vid == 3);
	CHECK(spindle_next_batch(&q, m, 8) == 1 && m[0].node == 7 && m[0].len == 40);
	spindle_release(&q);
	lsn = spindle_lsn(&q);

	/* Readers skip a message for other members, and the position goes on. */
	CHECK(!spindle_destinations(&q, others, 3, &to) && to.mask == 5);
	commit_to(&q, &to);
	CHECK(fake_look().to_mask == 5);
	CHECK(spindle_peek(&q, m) == 0 && spindle_lsn(&q) > lsn && *q.usr_consumed == 2);
	CHECK(!spindle_send(&q, "x", 1) && fake_step());
	CHECK(fake_look().to_mask == 5 && spindle_peek(&q, m) == 1 && m[0].slot == 2);
	spindle_release(&q);

	/* Ranks are those of the view that the reader is in, whatever has begun. */
	let_one_join();
	CHECK(spindle_next_batch(&q, m, 8) == 2);
	CHECK(!spindle_destinations(&q, some, 2, &to) && to.mask == old.mask && to.vid == 3);
	CHECK(spindle_next_batch(&q, m, 8) == 2);
	CHECK(!spindle_destinations(&q, some, 2, &to) && to.mask == 6 && to.vid == 4);
	CHECK(spindle_commit_to(&q, &(struct spindle_slot){ .len = UINT32_MAX },
				SPINDLE_MAX_DIRECT + 1, &to) == -EMSGSIZE);
	q.features &= ~SPINDLE_FEAT_DIRECT;
	CHECK(spindle_commit_to(&q, &(struct spindle_slot){ .len = 1 }, 1, &to) == -EOPNOTSUPP);
	stop(&q);
	CHECK(spindle_destinations(&q, some, 2, &to) == -EINVAL);
}

static void test_nonsense(void)
{
	struct spindle_queue q;
	struct spindle_msg m;
	int i;

	for (i = 0; i < 5; i++) {
		begin(&q, SPINDLE_WANT_VIEWS);
		if (i == 0)
			VIEW(4, SEAT(103, 0, 0, ME), SEAT(7, 1, 2, ME));
		else if (i == 1)
			VIEW(4, SEAT(103, 0, 0, 0), SEAT(7, 1, 2, 0));
		else if (i == 2)
			VIEW(4, SEAT(103, 0, 0, 0), SEAT(7, 2, 2, ME));
		else if (i == 3)
			VIEW(4, SEAT(103, 1, 0, 0), SEAT(7, 1, 2, ME));
		else
			VIEW(4, SEAT(103, 0, 2, 0), SEAT(7, 1, 2, ME));
		CHECK(spindle_peek(&q, &m) == -EPROTO && spindle_peek(&q, &m) == -EPROTO);
		CHECK(vid_of(&q) == 3);
		stop(&q);
	}
}

/* A history may be older than the membership of its node. It has no rings of senders. */
static void test_not_a_member(void)
{
	const struct fake_opts o = { .history = 1 };
	struct spindle_queue q;
	struct spindle_view v;
	struct spindle_msg m[4];

	begin_with(&q, SPINDLE_ATTACH_RECV, SPINDLE_WANT_VIEWS, o);
	VIEW(4, SEAT(103, 0, 0, 0), SEAT(100, NONE, 0, 0), SEAT(102, 1, 0, 0));
	fake_deliver(1, 1);
	VIEW(5, SEAT(103, 0, 0, 0), SEAT(7, 1, 2, ME | JOINED));
	fake_deliver(0, 1);
	CHECK(spindle_next_batch(&q, m, 4) == 2 && is_view(&m[0], 4) && is_msg(&m[1], 102, 1));
	CHECK(!spindle_view(&q, &v) && v.members == 3 && v.senders == 2);
	CHECK(v.rank == NONE && v.sender_rank == NONE);
	CHECK(spindle_rank(&q) == NONE && spindle_sender_rank(&q) == NONE);
	CHECK(spindle_next_batch(&q, m, 4) == 2 && is_view(&m[0], 5) && is_msg(&m[1], 103, 1));
	CHECK(spindle_rank(&q) == 1 && spindle_sender_rank(&q) == 1);
	/* Ranks still have to fit to each other. */
	VIEW(6, SEAT(103, 0, 0, ME), SEAT(7, 1, 0, ME));
	CHECK(spindle_peek(&q, m) == -EPROTO && vid_of(&q) == 5);
	stop(&q);

	begin_with(&q, SPINDLE_ATTACH_RECV, SPINDLE_WANT_VIEWS, o);
	VIEW(4, SEAT(103, 0, 0, 0), SEAT(102, 2, 0, 0));
	CHECK(spindle_peek(&q, m) == -EPROTO && vid_of(&q) == 3);
	stop(&q);
}

static int note_batch(void *arg, const struct spindle_msg *msgs, unsigned int n)
{
	char *at = arg;
	unsigned int i;

	at += strlen(at);
	for (i = 0; i < n; i++)
		*at++ = msgs[i].kind == SPINDLE_DLV_VIEW ? 'v' : 'm';
	*at++ = ' ';
	return 0;
}

static void test_dispatch(void)
{
	struct spindle_queue q;
	char seen[16] = "";
	int maps;

	begin(&q, SPINDLE_WANT_VIEWS);
	maps = fake_look().mappings;
	let_one_join();
	VIEW(5, SEAT(7, 0, 2, ME));
	CHECK(spindle_dispatch(&q, note_batch, seen, 100) == 6);
	CHECK(!strcmp(seen, "mm vmm v "));
	CHECK(vid_of(&q) == 5 && fake_look().mappings == maps - 2);
	CHECK(spindle_dispatch(&q, note_batch, seen, 100) == 0);
	fake_forget(6);
	VIEW(6, SEAT(7, 0, 2, ME));
	fake_forget(6);
	CHECK(spindle_dispatch(&q, note_batch, seen, 100) == -ESTALE);
	stop(&q);
}

static void test_words(void)
{
	int a, b;

	for (a = SPINDLE_ERR_NONE; a <= SPINDLE_ERR_LOG; a++) {
		CHECK(strcmp(spindle_strerror(a), spindle_strerror(-1)));
		for (b = SPINDLE_ERR_NONE; b < a; b++)
			CHECK(strcmp(spindle_strerror(a), spindle_strerror(b)));
	}
	CHECK(!strcmp(spindle_strerror(a), spindle_strerror(-1)));
}

int main(void)
{
	static const struct tap_case list[] = {
		{ "view: an entry is in its place and has its members", test_in_order },
		{ "view: a reader that does not want views gets only messages", test_not_wanted },
		{ "view: seats, not ranks, identify the rings", test_seats },
		{ "view: a ring is unmapped when no message in it is held", test_departed },
		{ "view: a seat gets another node, or another incarnation", test_reused },
		{ "view: ESTALE several times in a row", test_stale },
		{ "view: a failed call can be repeated", test_again },
		{ "view: a module that knows no seats", test_old_module },
		{ "view: a copying reader", test_copy },
		{ "view: a view without this sender or reader", test_no_sender_any_more },
		{ "view: a message names its destinations by node", test_destinations },
		{ "view: seats that contradict each other are refused", test_nonsense },
		{ "view: a history that is older than its node's membership", test_not_a_member },
		{ "view: dispatch", test_dispatch },
		{ "errors: each has its own text", test_words },
	};

	tap_cases(list, ARRAY_SIZE(list));
	return tap_end();
}
