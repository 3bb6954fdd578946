// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several threads reserve, commit out of order, shorten and abandon; one thread reads
 * and checks every byte. The fake's engine runs beside them and enforces the rules
 * of the ring with the module's own code. TAP on stdout.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "attach.h"

#define THREADS		4
#define HOLD		3	/* slots that one thread holds at most */

/* A record of each slot, written before the commit, read after the delivery. */
struct record {
	uint32_t len;
	bool abandoned;
};

static struct {
	struct spindle_queue q;
	struct record *rec;
	uint64_t first;
	unsigned int per_thread;
	unsigned int views;
	atomic_int running;
	atomic_uint full;
} st;

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static uint32_t some_len(uint32_t *seed)
{
	switch (rnd(seed) % 8) {
	case 0:
		return 0;
	case 1:
		return spindle_max_msg(&st.q);
	case 2:
		return SPINDLE_UNIT * (1 + rnd(seed) % 3);
	default:
		return rnd(seed) % (spindle_max_msg(&st.q) + 1);
	}
}

static void settle(struct spindle_slot *s, uint32_t *seed)
{
	struct record *r = &st.rec[s->slot - st.first];

	/* The ranks are those of the reader's view, which may change at any time. */
	CHECK(spindle_sender_rank(&st.q) < 8 && spindle_rank(&st.q) == 1);
	r->abandoned = rnd(seed) % 8 == 0;
	r->len = rnd(seed) % 4 ? s->len : rnd(seed) % (s->len + 1);
	if (r->abandoned) {
		memset(s->data, 0xee, s->len);
		spindle_abandon(&st.q, s);
		return;
	}
	fill(s, r->len);
	if (rnd(seed) % 2) {
		CHECK(!spindle_commit(&st.q, s, r->len));
	} else {
		CHECK(!spindle_commit_quiet(&st.q, s, r->len));
		if (rnd(seed) % 2)
			CHECK(!spindle_flush(&st.q));
	}
}

static void *sender(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg;
	struct spindle_slot held[HOLD];
	unsigned int n = 0, done = 0, i;
	int err;

	while (done + n < st.per_thread || n) {
		if (n < HOLD && done + n < st.per_thread && rnd(&seed) % 3) {
			err = spindle_reserve(&st.q, some_len(&seed), &held[n]);
			if (!err) {
				n++;
				continue;
			}
			if (err != -EAGAIN)
				bail_out(spindle_strerror(spindle_error_code(&st.q)));
			atomic_fetch_add_explicit(&st.full, 1, memory_order_relaxed);
			if (!n && rnd(&seed) % 16) {
				sched_yield();
			} else if (!n) {
				err = spindle_wait(&st.q, POLLOUT, 1);
				CHECK(err == 0 || err == POLLOUT);
			}
		}
		if (n) {
			i = rnd(&seed) % n;
			settle(&held[i], &seed);
			held[i] = held[--n];
			done++;
		}
	}
	CHECK(!spindle_flush(&st.q));
	atomic_fetch_sub(&st.running, 1);
	return NULL;
}

/* Own messages: the records of the slots, in order, without the abandoned ones. */
static void check_own(const struct spindle_msg *m, uint64_t *next)
{
	const unsigned char *p = m->data;
	uint64_t slot;
	uint32_t i;

	while (st.rec[*next].abandoned)
		++*next;
	slot = st.first + (*next)++;
	CHECK(m->len == st.rec[slot - st.first].len);
	for (i = 0; i < m->len; i++)
		if (p[i] != pattern(slot, i))
			break;
	CHECK(i == m->len);
}

static void check_peer(const struct spindle_msg *m, uint32_t peer, uint64_t *next)
{
	const unsigned char *p = m->data;
	uint32_t i;

	CHECK(m->slot == *next);
	CHECK(m->len == fake_peer_len(peer, m->slot, spindle_max_msg(&st.q)));
	for (i = 0; i < m->len; i++)
		if (p[i] != fake_peer_byte(peer, m->slot, i))
			break;
	CHECK(i == m->len);
	++*next;
}

/* A batch belongs to one view. In every other view a silent sender has the first rank. */
static void check_msg(const struct spindle_msg *m, uint64_t *next)
{
	uint32_t peer = m->sender - (st.views % 2);

	if (m->sender == spindle_sender_rank(&st.q))
		check_own(m, &next[peer]);
	else
		check_peer(m, peer, &next[peer]);
}

/* Read until the senders have finished and all their slots are free again. */
static void read_all(uint64_t *next)
{
	uint32_t seed = 99;
	struct spindle_msg m[32];
	uint64_t lsn = spindle_lsn(&st.q);
	int i, n, given;
	bool quiet;

	for (;;) {
		quiet = !atomic_load(&st.running) && !spindle_drain(&st.q, 0);
		n = spindle_next_batch(&st.q, m, 1 + rnd(&seed) % 32);
		if (n < 0)
			bail_out(strerror(-n));
		if (!n) {
			if (quiet && spindle_wait(&st.q, POLLIN, 20) == 0)
				return;
			i = spindle_wait(&st.q, POLLIN, 10);
			CHECK(i == 0 || i == POLLIN);
			continue;
		}
		for (i = 0, given = 0; i < n; i++) {
			if (m[i].kind == SPINDLE_DLV_VIEW) {
				CHECK(i == 0 && m[i].slot == st.q.vid && m[i].lsn >= lsn);
				st.views++;
				lsn = m[i].lsn;
			} else {
				CHECK(m[i].lsn >= lsn);
				lsn = m[i].lsn + 1;
				check_msg(&m[i], next);
			}
			if (rnd(&seed) % 8 == 0) {
				CHECK(!spindle_release_n(&st.q, i + 1 - given));
				CHECK(spindle_lsn(&st.q) >= lsn);
				given = i + 1;
			}
		}
		spindle_release(&st.q);
	}
}

static void stress(const char *name, uint32_t flags, const struct fake_opts *o,
		   unsigned int per_thread)
{
	unsigned int total = per_thread * THREADS;
	struct fake_report r;
	pthread_t t[THREADS];
	uint64_t next[8] = { 0 };
	uintptr_t i;

	tap_begin(name);
	start(&st.q, flags, o);
	/* Ask for views after the attach, as if it had been done there. */
	st.q.want = SPINDLE_WANT_VIEWS;
	st.views = 0;
	st.rec = calloc(total + 1, sizeof(*st.rec));
	st.first = o->slot;
	st.per_thread = per_thread;
	st.running = THREADS;
	st.full = 0;
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, sender, (void *)(i + 1));
	if (flags & SPINDLE_ATTACH_RECV)
		read_all(next);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	CHECK(!spindle_drain(&st.q, -1));
	CHECK((uint32_t)spindle_load_acquire(st.q.usr_reserve) == (uint32_t)(st.first + total));
	if (flags & SPINDLE_ATTACH_RECV) {
		while (next[o->senders ? o->senders - 1 : 0] < total &&
		       st.rec[next[o->senders ? o->senders - 1 : 0]].abandoned)
			next[o->senders ? o->senders - 1 : 0]++;
		CHECK(next[o->senders ? o->senders - 1 : 0] == total);
		for (i = 0; i + 1 < o->senders; i++)
			CHECK(next[i] == o->peer_msgs);
	}
	r = stop(&st.q);
	CHECK(r.free_slot == st.first + total);
	if (o->view_every)
		CHECK(st.views == (total - r.abandoned) / o->view_every);
	printf("# %u slots, %u times full, %llu abandoned, %u kicks, %u views\n", total, st.full,
	       (unsigned long long)r.abandoned, r.kicks, st.views);
	free(st.rec);
	tap_report();
}

/* A blocking send against a ring that empties now and then. */
static void test_send_wait(void)
{
	struct spindle_queue q;
	int i;

	tap_begin("send_wait: blocks until there is room, drain until all is delivered");
	start(&q, SPINDLE_ATTACH_SEND, &(struct fake_opts){ .window = 4, .slow = true });
	for (i = 0; i < 500; i++)
		CHECK(!spindle_send_wait(&q, &i, sizeof(i), -1));
	CHECK(!spindle_drain(&q, -1));
	CHECK(stop(&q).free_slot == 500);
	start(&q, SPINDLE_ATTACH_SEND, &(struct fake_opts){ .window = 4, .manual = true });
	for (i = 0; i < 4; i++)
		CHECK(!spindle_send_wait(&q, &i, sizeof(i), -1));
	CHECK(spindle_send_wait(&q, &i, sizeof(i), 20) == -EAGAIN);
	CHECK(spindle_drain(&q, 20) == -EAGAIN);
	stop(&q);
	tap_report();
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 0) : 5000;

	stress("stress: send only", SPINDLE_ATTACH_SEND, &(struct fake_opts){ .idle = 100 }, n);
	stress("stress: send and read in place", SPINDLE_ATTACH_BOTH,
	       &(struct fake_opts){ .idle = 100 }, n);
	stress("stress: an engine that always sleeps", SPINDLE_ATTACH_BOTH,
	       &(struct fake_opts){ .idle = 0, .window = 8 }, n);
	stress("stress: copying reader, slots given back late",
	       SPINDLE_ATTACH_BOTH | SPINDLE_ATTACH_COPY,
	       &(struct fake_opts){ .idle = 10, .slow = true, .window = 64,
				    .ring_bytes = 65536 }, n);
	stress("stress: three senders, unknown kinds", SPINDLE_ATTACH_BOTH,
	       &(struct fake_opts){ .idle = 10, .senders = 3, .peer_msgs = n,
				    .unknown_every = 5 }, n);
	stress("stress: three senders, and one that comes and goes", SPINDLE_ATTACH_BOTH,
	       &(struct fake_opts){ .idle = 10, .senders = 3, .peer_msgs = n,
				    .view_every = 3 }, n);
	stress("stress: 32-bit wrap of slots and units", SPINDLE_ATTACH_BOTH,
	       &(struct fake_opts){ .idle = 100, .slot = (1ULL << 32) - 1000,
				    .unit = (1ULL << 32) - 2000 }, n);
	stress("stress: wrap far above 2^32", SPINDLE_ATTACH_BOTH,
	       &(struct fake_opts){ .idle = 100, .slot = (5ULL << 32) - 7,
				    .unit = (9ULL << 32) - 5, .window = 1024,
				    .ring_bytes = 1 << 20, .max_msg = 1 << 20 }, n / 25);
	test_send_wait();
	return tap_end();
}
