// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel made of one thread: see fake.h.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys.h"
#include "fake.h"
#include "core/multicast/txq.h"
#include "core/multicast/dlvq.h"
#include "core/multicast/history.h"

#define PAGE		4096UL
#define MAX_SENDERS	8
#define MAX_RX		16
#define MAX_VIEWS	8
#define FIRST_VIEW	3
#define FIRST_LSN	7000
#define HISTORY_BYTES	8192
#define LOST_WAKEUP_S	5

/* Offsets in ctl and usr; only the attach reply knows them. */
#define CTL_STATE	8
#define CTL_ERROR	12
#define CTL_WAKEUP	64
#define CTL_TAIL	128
#define CTL_SLOT	192
#define CTL_UNIT	256
#define CTL_LOW		320
#define USR_CONSUMED	64
#define USR_RESERVE	192
#define USR_DESC	256

enum { CTL, USR, TX, RX, DLV, COPY, SECTIONS };

struct area {
	size_t len;
	bool ring;
	bool writable;
	off_t at;
	u8 *kva;
};

/* Slots and units to free after entry @entry of the delivery ring. */
struct end {
	u64 slot;
	u64 unit;
	u64 entry;
};

struct view {
	u64 vid;
	u32 n;
	struct spindle_seat seat[MAX_SENDERS + 1];
};

static struct {
	struct fake_opts o;
	bool configured;
	struct fake_report r;
	struct spindle_attach a;
	int memfd, user_fd, kernel_fd;
	off_t used;
	struct area area[SECTIONS], rx[MAX_RX], old[MAX_RX];
	struct view view[MAX_VIEWS], now;
	u32 views, olds;
	u32 me;
	struct spindle_txq txq;
	struct spindle_dlvq dlvq;
	struct spindle_history history;
	struct end *end;
	u64 head, freed, msgs, lsn;
	struct { u64 n; u64 *entry; } peer[MAX_SENDERS];
	u32 peer_room;
	bool readable, final;
	pthread_t thread;
	bool running, stop, kicked;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	u32 rng;
} f = { .user_fd = -1, .kernel_fd = -1, .memfd = -1,
	.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static u32 rnd(void)
{
	f.rng = f.rng * 1664525 + 1013904223;
	return f.rng >> 8;
}

uint32_t fake_peer_len(uint32_t sender, uint64_t n, uint32_t max_msg)
{
	return (uint32_t)((n * 2654435761U + sender * 40503U) >> 5) % (max_msg + 1);
}

unsigned char fake_peer_byte(uint32_t sender, uint64_t n, uint32_t i)
{
	return (unsigned char)(sender * 31 + n * 7 + i);
}

/* ---- memory ----------------------------------------------------------- */

static u8 *map_pages(off_t at, size_t len, int times, int prot)
{
	u8 *p = mmap(NULL, len * times, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (p == MAP_FAILED)
		abort();
	for (i = 0; i < times; i++)
		if (mmap(p + i * len, len, prot, MAP_SHARED | MAP_FIXED, f.memfd, at) == MAP_FAILED)
			abort();
	return p;
}

static void area_make(struct area *s, size_t len, bool ring, bool writable)
{
	s->len = ALIGN(len, PAGE);
	s->ring = ring;
	s->writable = writable;
	s->at = f.used;
	f.used += s->len;
	if (ftruncate(f.memfd, f.used))
		abort();
	s->kva = map_pages(s->at, s->len, ring ? 2 : 1, PROT_READ | PROT_WRITE);
}

static void area_free(struct area *s)
{
	if (s->kva)
		munmap(s->kva, s->len * (s->ring ? 2 : 1));
	memset(s, 0, sizeof(*s));
}

int spindle_sys_mmap(int fd, uint64_t cookie, size_t len, int prot, int flags, void **addr)
{
	struct area *s = (cookie >> 40) == RX ? &f.rx[(cookie >> 32) % MAX_RX] :
						&f.area[cookie >> 40];
	int times = s->ring && len == 2 * s->len ? 2 : 1;

	if (fd != f.user_fd || !s->len || (u32)cookie || len != s->len * times)
		return -EINVAL;
	if ((cookie >> 40) == RX && f.o.map_err)
		return -f.o.map_err;
	if ((prot & PROT_WRITE) && !s->writable)
		return -EACCES;
	f.r.mappings++;
	f.r.populated += !!(flags & MAP_POPULATE);
	/* TSan must see both sides at one address. */
#ifdef __SANITIZE_THREAD__
	*addr = s->kva;
#else
	*addr = map_pages(s->at, s->len, times, prot);
#endif
	return 0;
}

void spindle_sys_munmap(void *addr, size_t len)
{
	f.r.mappings--;
#ifdef __SANITIZE_THREAD__
	(void)addr;
	(void)len;
#else
	munmap(addr, len);
#endif
}

/* ---- the engine ------------------------------------------------------- */

static u32 *ctl32(u32 off)
{
	return (u32 *)(void *)(f.area[CTL].kva + off);
}

static u64 *ctl64(u32 off)
{
	return (u64 *)(void *)(f.area[CTL].kva + off);
}

void fake_final(uint32_t state, uint32_t error)
{
	__atomic_store_n(ctl32(CTL_ERROR), error, __ATOMIC_RELAXED);
	__atomic_store_n(ctl32(CTL_STATE), state, __ATOMIC_RELEASE);
	f.final = true;
	shutdown(f.kernel_fd, SHUT_RDWR);
}

static bool reads(void)
{
	return f.a.flags & SPINDLE_ATTACH_RECV;
}

static bool sends(void)
{
	return f.a.flags & SPINDLE_ATTACH_SEND;
}

static const struct spindle_seat *seat_of(u32 sender)
{
	u32 i;

	for (i = 0; i < f.now.n; i++)
		if (f.now.seat[i].sender_rank == sender)
			return &f.now.seat[i];
	abort();
}

static u8 *ring_of(u32 sender)
{
	return f.rx[seat_of(sender)->rx].kva;
}

/* The queue that is delivered to. With a history, f.dlvq is the cursor of the process. */
static struct spindle_dlvq *queue(void)
{
	return f.o.history ? &f.history.q : &f.dlvq;
}

static void publish(void)
{
	if (f.o.history)
		spindle_history_show(&f.history);
	else
		spindle_dlvq_publish(&f.dlvq);
}

static void append(u32 sender, u64 offset, u32 len, u64 slot, u16 kind)
{
	struct spindle_dlvq *q = queue();
	struct spindle_dlv d = { .offset = offset, .len = len, .sender = (u16)sender,
				 .kind = kind, .slot = slot };
	u64 budget = len;

	/* Positions without a message here are those of messages for other members. */
	f.lsn += rnd() % 4 == 0;
	d.lsn = f.lsn;
	f.lsn += kind == SPINDLE_DLV_MSG || kind == SPINDLE_DLV_OTHER;
	if (q->history && !spindle_dlvq_room(q, len))
		spindle_history_make_room(q->history, len);
	if (q->copy && kind == SPINDLE_DLV_MSG)
		spindle_dlvq_copy(q, &d, ring_of(sender), f.a.ring_bytes, &budget);
	spindle_dlvq_append(q, &d);
	if (f.o.mangle_dlv)
		f.o.mangle_dlv(&q->ring[(q->tail - 1) & q->mask]);
}

static bool room(void)
{
	/* A message, one of an unknown kind, and a view. */
	return f.dlvq.mask + 1 - (f.dlvq.tail - f.dlvq.consumed) >= 3 &&
	       spindle_dlvq_room(&f.dlvq, f.a.max_msg);
}

static void maybe_unknown(void)
{
	if (f.o.unknown_every && f.dlvq.tail % f.o.unknown_every == f.o.unknown_every - 1)
		append(f.me, ~0ULL, ~0U, 0, 77);
}

static bool step_free(void)
{
	struct end *e = NULL, *at;
	bool held = false;

	for (; f.freed != f.head; f.freed++, e = at) {
		at = &f.end[f.freed % f.a.window];
		if (reads() && !f.dlvq.copy && at->entry > f.dlvq.consumed)
			break;
		if (f.o.slow && rnd() % 4) {
			held = true;
			break;
		}
	}
	if (e)
		spindle_txq_free(&f.txq, e->slot, e->unit);
	return e || held;
}

static bool step_peers(void)
{
	u32 moved = f.me - (f.o.senders - 1);
	bool any = false;
	u32 s, i, len;

	for (s = 0; reads() && s < f.o.senders - 1; s++) {
		u64 n = f.peer[s].n;
		u64 at = n % f.peer_room * spindle_units(f.a.max_msg) * SPINDLE_UNIT;

		if (n == f.o.peer_msgs || !room() ||
		    (n >= f.peer_room && f.peer[s].entry[n % f.peer_room] > f.dlvq.consumed))
			continue;
		len = fake_peer_len(s, n, f.a.max_msg);
		for (i = 0; i < len; i++)
			ring_of(s + moved)[at + i] = fake_peer_byte(s, n, i);
		append(s + moved, at, len, n, SPINDLE_DLV_MSG);
		f.peer[s].entry[n % f.peer_room] = f.dlvq.tail;
		f.peer[s].n++;
		any = true;
	}
	return any;
}

/* ---- views ------------------------------------------------------------ */

static void remember(void)
{
	pthread_mutex_lock(&f.lock);
	f.view[f.views++ % MAX_VIEWS] = f.now;
	pthread_mutex_unlock(&f.lock);
}

static void new_ring(const struct spindle_seat *s)
{
	struct area *a = &f.rx[s->rx];

	/* With view_every the node joins again and again, and never sends: reuse the ring. */
	if (a->kva && f.o.view_every)
		return;
	if (f.olds == MAX_RX)
		abort();
	/* Do not free it: with TSan the reader's mapping has the same address. */
	if (a->kva)
		f.old[f.olds++] = *a;
	area_make(a, f.a.ring_bytes, true, false);
}

void fake_view(uint64_t vid, const struct spindle_seat *seat, uint32_t n)
{
	struct spindle_dlv d = {
		.lsn = f.lsn, .offset = f.now.vid, .slot = vid, .kind = SPINDLE_DLV_VIEW,
	};
	u32 i;

	f.now = (struct view){ .vid = vid, .n = n };
	memcpy(f.now.seat, seat, n * sizeof(*seat));
	remember();
	for (i = 0; i < n; i++) {
		if (seat[i].sender_rank == SPINDLE_NO_RANK)
			continue;
		if (seat[i].flags & SPINDLE_SEAT_ME)
			f.me = seat[i].sender_rank;
		else if (seat[i].flags & SPINDLE_SEAT_JOINED)
			new_ring(&seat[i]);
	}
	spindle_dlvq_append(queue(), &d);
	if (f.o.history)
		spindle_history_viewed(&f.history, vid, d.offset);
	publish();
}

void fake_forget(uint64_t vid)
{
	u32 i;

	for (i = 0; i < MAX_VIEWS; i++)
		if (f.view[i].vid == vid)
			f.view[i].vid = 0;
}

void fake_errors(int seats_err, int map_err)
{
	f.o.seats_err = seats_err;
	f.o.map_err = map_err;
}

static void deliver_peer(u32 sender, u64 n)
{
	u32 node = seat_of(sender)->node, len = fake_peer_len(node, n, f.a.max_msg), i;
	u64 at = n % f.peer_room * spindle_units(f.a.max_msg) * SPINDLE_UNIT;

	for (i = 0; i < len; i++)
		ring_of(sender)[at + i] = fake_peer_byte(node, n, i);
	append(sender, at, len, n, SPINDLE_DLV_MSG);
}

void fake_deliver(uint32_t sender, uint64_t n)
{
	deliver_peer(sender, n);
	publish();
}

void fake_burst(uint32_t sender, uint64_t n, uint64_t end)
{
	while (n < end)
		deliver_peer(sender, n++);
	publish();
}

/* Node 200 joins as sender 0 and sends nothing, or leaves. The ranks of all others change. */
static void come_or_go(void)
{
	struct view v = f.now;
	bool there = v.seat[v.n - 1].node == 200;
	u32 i;

	for (i = 0; i < v.n; i++)
		if (v.seat[i].sender_rank != SPINDLE_NO_RANK)
			v.seat[i].sender_rank += there ? -1 : 1;
	if (there)
		v.n--;
	else
		v.seat[v.n++] = (struct spindle_seat){
			.node = 200, .sender_rank = 0, .rx = MAX_RX - 1, .sst = v.n,
			.flags = SPINDLE_SEAT_JOINED,
		};
	fake_view(v.vid + 1, v.seat, v.n);
	if (f.o.forget)
		fake_forget(v.vid + 1);
}

static bool view_is_due(void)
{
	return f.msgs == f.o.view_after || (f.o.view_every && !(f.msgs % f.o.view_every));
}

static bool is_for_me(u64 mask)
{
	u32 r;

	for (r = 0; r < f.now.n && !(f.now.seat[r].flags & SPINDLE_SEAT_ME); r++)
		;
	return !mask || (mask >> r & 1);
}

/* Deliver an own message, whose ranks are those of the present view. */
static void deliver_own(const struct spindle_tx_slot *slot)
{
	u64 at = (slot->unit << SPINDLE_UNIT_SHIFT) & (f.a.ring_bytes - 1);

	if (slot->mask) {
		f.r.to_mask = slot->mask;
		f.r.to_vid = (uint16_t)(slot->flags >> SPINDLE_TX_VIEW_SHIFT);
	}
	if (!reads())
		return;
	if (is_for_me(slot->mask))
		append(f.me, at, slot->len, f.msgs, SPINDLE_DLV_MSG);
	else
		append(f.me, 0, 0, f.msgs, SPINDLE_DLV_OTHER);
}

static bool step_send(void)
{
	struct spindle_tx_slot slot;
	bool any = false;

	while (!reads() || room()) {
		if (!spindle_txq_take(&f.txq, &slot))
			break;
		any = true;
		if (slot.abandoned) {
			f.r.abandoned++;
		} else {
			deliver_own(&slot);
			f.msgs++;
			if (reads())
				maybe_unknown();
			if (reads() && view_is_due())
				come_or_go();
		}
		f.end[f.head++ % f.a.window] = (struct end){ slot.end_slot, slot.end_unit,
							     f.dlvq.tail };
		if (f.o.fail_after && f.msgs == f.o.fail_after)
			break;
	}
	return any;
}

/* poll() of the real device looks at the rings; a socket has to be told. */
static void step_poll(void)
{
	bool want = reads() && f.dlvq.tail != f.dlvq.consumed;
	char c = 0;

	if (want == f.readable || f.final)
		return;
	f.readable = want;
	if (want ? send(f.kernel_fd, &c, 1, MSG_NOSIGNAL) != 1 :
		   recv(f.user_fd, &c, 1, MSG_DONTWAIT) != 1)
		abort();
}

bool fake_step(void)
{
	bool any;

	if (f.final)
		return false;
	any = reads() && spindle_dlvq_poll(&f.dlvq);
	if (sends())
		any |= step_free();
	any |= step_peers();
	if (sends())
		any |= step_send();
	if (reads())
		spindle_dlvq_publish(&f.dlvq);
	step_poll();
	if (f.txq.error || f.dlvq.error)
		fake_final(SPINDLE_STATE_FROZEN, f.txq.error ? f.txq.error : f.dlvq.error);
	else if (f.o.fail_after && f.msgs >= f.o.fail_after)
		fake_final(SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST);
	return any;
}

/* Returns false if there was no kick for a suspiciously long time. */
static bool engine_sleep(void)
{
	struct timespec ts;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += LOST_WAKEUP_S;
	pthread_mutex_lock(&f.lock);
	while (!f.kicked && !f.stop && !err)
		err = pthread_cond_timedwait(&f.cond, &f.lock, &ts);
	f.kicked = false;
	pthread_mutex_unlock(&f.lock);
	return !err;
}

static void *engine(void *arg)
{
	unsigned int idle = 0;

	while (!__atomic_load_n(&f.stop, __ATOMIC_ACQUIRE)) {
		if (fake_step()) {
			idle = 0;
			continue;
		}
		if (idle++ < f.o.idle)
			continue;
		__atomic_store_n(ctl32(CTL_WAKEUP), 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);	/* E */
		if (!fake_step() && !engine_sleep() && fake_step())
			__atomic_fetch_add(&f.r.lost_wakeups, 1, __ATOMIC_RELAXED);
		__atomic_store_n(ctl32(CTL_WAKEUP), 0, __ATOMIC_RELAXED);
		idle = 0;
	}
	return arg;
}

/* ---- the device ------------------------------------------------------- */

void fake_setup(const struct fake_opts *o)
{
	f.o = *o;
	f.o.window = o->window ? o->window : 16;
	f.o.max_msg = o->max_msg ? o->max_msg : 1000;
	f.o.ring_bytes = o->ring_bytes ? o->ring_bytes : 4096;
	f.o.senders = o->senders ? o->senders : 1;
	f.configured = true;
	memset(&f.r, 0, sizeof(f.r));
}

/* For programs that know nothing of the fake: spindle-pipe. */
static u32 env(const char *name)
{
	const char *v = getenv(name);

	return v ? (u32)strtoul(v, NULL, 0) : 0;
}

static void setup_from_env(void)
{
	struct fake_opts o = {
		.window = env("FAKE_WINDOW"), .max_msg = env("FAKE_MAX_MSG"),
		.ring_bytes = env("FAKE_RING"), .senders = env("FAKE_SENDERS"),
		.peer_msgs = env("FAKE_PEER_MSGS"), .idle = env("FAKE_IDLE"),
		.fail_after = env("FAKE_FAIL_AFTER"), .slow = env("FAKE_SLOW"),
		.view_after = env("FAKE_VIEW_AFTER"), .forget = env("FAKE_FORGET"),
		.attach_err = (int)env("FAKE_ATTACH_ERR"), .memlock = env("FAKE_MEMLOCK"),
	};

	fake_setup(&o);
}

int spindle_sys_open(const char *path, int flags)
{
	int sv[2];

	(void)flags;
	if (!strcmp(path, "/nonexistent"))
		return -ENOENT;
	if (!f.configured)
		setup_from_env();
	f.memfd = memfd_create("fake", MFD_CLOEXEC);
	if (f.memfd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		abort();
	f.user_fd = sv[0];
	f.kernel_fd = sv[1];
	f.r.open_files++;
	return f.user_fd;
}

static void fill_reply(struct spindle_attach *a)
{
	a->vid = FIRST_VIEW;
	a->features = SPINDLE_FEAT_PACKED | SPINDLE_FEAT_COPY | SPINDLE_FEAT_DIRECT;
	a->members = f.o.senders + 1;
	a->senders = f.o.senders;
	a->rank = 1;
	a->sender_rank = sends() ? f.me : SPINDLE_NO_RANK;
	a->window = f.o.window;
	a->max_msg = f.o.max_msg;
	a->ring_bytes = f.o.ring_bytes;
	a->dlv_entries = (u32)roundup_pow_of_two(2 * f.o.senders * f.o.window);
	a->dlv_stride = sizeof(struct spindle_dlv);
	a->rx_stride = 1ULL << 32;
	a->ctl_state = CTL_STATE;
	a->ctl_error = CTL_ERROR;
	a->ctl_need_wakeup = CTL_WAKEUP;
	a->ctl_dlv_tail = CTL_TAIL;
	a->ctl_tx_slot = CTL_SLOT;
	a->ctl_tx_unit = CTL_UNIT;
	a->usr_consumed = USR_CONSUMED;
	a->usr_reserve = USR_RESERVE;
	a->usr_desc = USR_DESC;
	a->lsn = FIRST_LSN;
	a->lineage[0] = 1;
	a->lineage[1] = 2;
	a->era = 3;
	if (!f.o.history)
		return;
	a->features |= SPINDLE_FEAT_HISTORY;
	a->ctl_dlv_low = CTL_LOW;
	a->dlv_entries = spindle_history_entries(HISTORY_BYTES);
	a->copy_bytes = HISTORY_BYTES;
}

static void make_memory(struct spindle_attach *a)
{
	u32 i;

	area_make(&f.area[CTL], PAGE, false, false);
	area_make(&f.area[USR], USR_DESC + a->window * sizeof(struct spindle_tx_desc), false, true);
	if (sends())
		area_make(&f.area[TX], a->ring_bytes, true, true);
	if (reads()) {
		area_make(&f.area[DLV], a->dlv_entries * sizeof(struct spindle_dlv), false, false);
		for (i = 0; i < a->senders; i++) {
			struct area *rx = &f.rx[i + f.o.seat_shift];

			if (i == f.me && sends()) {
				/* The local sender's ring is read where it was written. */
				*rx = f.area[TX];
				rx->writable = false;
			} else {
				area_make(rx, a->ring_bytes, true, false);
			}
		}
		if (f.o.history || (a->flags & SPINDLE_ATTACH_COPY))
			area_make(&f.area[COPY], a->copy_bytes ? a->copy_bytes : a->ring_bytes,
				  true, false);
	}
	for (i = 0; i < SECTIONS; i++) {
		struct spindle_section *s = &a->ctl + i;

		s->cookie = (u64)i << 40;
		s->len = i == RX && reads() && !f.area[COPY].len ? a->ring_bytes : f.area[i].len;
	}
}

static void make_engine(struct spindle_attach *a)
{
	u64 *reserve = (void *)(f.area[USR].kva + USR_RESERVE);
	u32 i;

	f.txq = (struct spindle_txq){
		.desc = (void *)(f.area[USR].kva + USR_DESC),
		.free_slot_word = ctl64(CTL_SLOT), .free_unit_word = ctl64(CTL_UNIT),
		.wmask = a->window - 1, .max_msg = a->max_msg,
		.ring_units = (u32)(a->ring_bytes / SPINDLE_UNIT),
		.slot = f.o.slot, .unit = f.o.unit,
	};
	spindle_txq_free(&f.txq, f.o.slot, f.o.unit);
	*reserve = (u32)f.o.slot | f.o.unit << 32;
	f.end = calloc(a->window, sizeof(*f.end));
	f.dlvq = (struct spindle_dlvq){
		.ring = (void *)f.area[DLV].kva, .tail_word = ctl64(CTL_TAIL),
		.consumed_word = (void *)(f.area[USR].kva + USR_CONSUMED),
		.mask = a->dlv_entries - 1, .copy = f.area[COPY].kva,
		.copy_units = (u32)(f.area[COPY].len / SPINDLE_UNIT),
	};
	f.dlvq.copy_end = calloc(a->dlv_entries, sizeof(u64));
	f.peer_room = (u32)(a->ring_bytes / SPINDLE_UNIT) / spindle_units(a->max_msg);
	for (i = 0; i < MAX_SENDERS; i++)
		f.peer[i].entry = calloc(f.peer_room, sizeof(u64));
	if (!f.o.manual) {
		f.running = true;
		pthread_create(&f.thread, NULL, engine, NULL);
	}
}

static int do_members(struct spindle_members *m)
{
	struct spindle_member *out = (void *)(uintptr_t)m->ptr;
	u32 i, n = f.a.members;

	if (m->resv)
		return -EINVAL;
	if (m->count < n) {
		m->count = n;
		return -ENOSPC;
	}
	/* Member 0 does not send. The ranks of senders are in reverse order of members. */
	for (i = 0; i < n; i++) {
		out[i].node = i == 1 ? f.a.node : 100 + i;
		out[i].sender_rank = i ? n - 1 - i : SPINDLE_NO_RANK;
	}
	m->count = n;
	return 0;
}

static void make_view(void)
{
	struct spindle_member m[MAX_SENDERS + 1];
	struct spindle_members arg = { .count = MAX_SENDERS + 1, .ptr = (uintptr_t)m };
	u32 i;

	if (do_members(&arg))
		abort();
	f.views = 0;
	f.now = (struct view){ .vid = FIRST_VIEW, .n = arg.count };
	for (i = 0; i < arg.count; i++)
		f.now.seat[i] = (struct spindle_seat){
			.node = m[i].node, .sender_rank = m[i].sender_rank,
			.rx = m[i].sender_rank + f.o.seat_shift, .sst = i,
			.flags = i == f.a.rank ? SPINDLE_SEAT_ME : 0,
		};
	memset(f.view, 0, sizeof(f.view));
	remember();
}

static int find_seats(struct spindle_seats *s)
{
	struct view *v;

	for (v = f.view; v->vid != s->vid; v++)
		if (v == f.view + MAX_VIEWS - 1)
			return s->vid < FIRST_VIEW + f.views ? -ESTALE : -ENOENT;
	if (s->count < v->n) {
		s->count = v->n;
		return -ENOSPC;
	}
	s->count = v->n;
	memcpy((void *)(uintptr_t)s->ptr, v->seat, v->n * sizeof(v->seat[0]));
	return 0;
}

static int do_seats(struct spindle_seats *s)
{
	int err;

	if (f.o.seats_err)
		return -f.o.seats_err;
	if (s->resv)
		return -EINVAL;
	pthread_mutex_lock(&f.lock);
	err = find_seats(s);
	pthread_mutex_unlock(&f.lock);
	return err;
}

/* Deliver the messages of the history, and attach the process to it as it wants. */
static int make_history(struct spindle_attach *a, const struct spindle_attach *in)
{
	u64 n, lsn, at;

	spindle_history_init(&f.history, (void *)f.area[DLV].kva, f.area[COPY].kva,
			     f.dlvq.copy_end, HISTORY_BYTES / SPINDLE_UNIT);
	f.dlvq.copy = NULL;
	f.dlvq.low_word = ctl64(CTL_LOW);
	for (n = 0; n < f.o.history; n++)
		fake_deliver(0, n);
	a->oldest = spindle_history_oldest(&f.history, f.lsn);
	a->next = f.lsn;
	lsn = in->from == SPINDLE_FROM_NOW ? f.lsn :
	      in->from == SPINDLE_FROM_OLDEST ? a->oldest : in->lsn;
	if (lsn > f.lsn || lsn < a->oldest)
		return lsn > f.lsn ? -ERANGE : -ESTALE;
	at = spindle_history_find(&f.history, lsn);
	spindle_history_attach(&f.history, &f.dlvq, at);
	*(u64 *)(void *)(f.area[USR].kva + USR_CONSUMED) = at;
	a->lsn = spindle_dlvq_lsn(&f.dlvq, f.lsn);
	a->vid = spindle_history_vid(&f.history, at, f.now.vid);
	return 0;
}

static int do_attach(struct spindle_attach *a)
{
	const struct spindle_attach in = *a;
	u32 i;

	if (a->size != sizeof(*a) || a->from > SPINDLE_FROM_LSN || a->resv1 || !(a->flags & 3) ||
	    (a->flags & ~15U) || !(a->flags & SPINDLE_ATTACH_HISTORY) != !(a->flags & 2))
		return -EINVAL;
	if (f.o.attach_err) {
		a->memlock = f.o.memlock;
		return -f.o.attach_err;
	}
	a->memlock = f.o.memlock;
	f.a = *a;
	f.me = f.o.senders - 1;
	f.rng = 1;
	fill_reply(a);
	make_memory(a);
	f.a = *a;
	for (i = 0; i < MAX_SENDERS; i++)
		f.peer[i].n = 0;
	f.head = 0;
	f.freed = 0;
	f.msgs = 0;
	f.lsn = a->lsn;
	*ctl32(CTL_STATE) = SPINDLE_STATE_ACTIVE;
	make_view();
	make_engine(a);
	if (f.o.mangle)
		f.o.mangle(a);
	if (in.from == SPINDLE_FROM_LSN && (in.lineage[0] || in.lineage[1] || in.era) &&
	    (in.lineage[0] != 1 || in.lineage[1] != 2 || in.era != 3))
		return -EXDEV;
	return f.o.history ? make_history(a, &in) : 0;
}

int spindle_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	if (fd != f.user_fd)
		return -EBADF;
	switch (cmd) {
	case SPINDLE_IOC_ATTACH:
		return do_attach(arg);
	case SPINDLE_IOC_MEMBERS:
		return do_members(arg);
	case SPINDLE_IOC_SEATS:
		return do_seats(arg);
	case SPINDLE_IOC_KICK:
		pthread_mutex_lock(&f.lock);
		f.r.kicks++;
		f.kicked = true;
		pthread_cond_signal(&f.cond);
		pthread_mutex_unlock(&f.lock);
		return 0;
	}
	return -ENOTTY;
}

ssize_t spindle_sys_read(int fd, void *buf, size_t len)
{
	(void)fd;
	(void)buf;
	(void)len;
	return -EBADF;
}

int spindle_sys_poll(int fd, short events, short *revents, const struct timespec *timeout)
{
	struct pollfd p = { .fd = fd, .events = events };
	int ret = ppoll(&p, 1, timeout, NULL);

	*revents = p.revents;
	return ret < 0 ? -errno : ret;
}

struct fake_report fake_look(void)
{
	f.r.tx_error = f.txq.error;
	f.r.dlv_error = f.dlvq.error;
	f.r.free_slot = f.txq.free_slot;
	f.r.free_unit = f.txq.free_unit;
	return f.r;
}

void spindle_sys_close(int fd)
{
	u32 i;

	if (fd != f.user_fd)
		abort();
	if (f.running) {
		pthread_mutex_lock(&f.lock);
		__atomic_store_n(&f.stop, true, __ATOMIC_RELEASE);
		pthread_cond_signal(&f.cond);
		pthread_mutex_unlock(&f.lock);
		pthread_join(f.thread, NULL);
	}
	f.running = false;
	f.stop = false;
	f.kicked = false;
	f.final = false;
	f.readable = false;
	for (i = 0; i < MAX_SENDERS; i++) {
		free(f.peer[i].entry);
		f.peer[i].entry = NULL;
	}
	for (i = 0; i < MAX_RX; i++) {
		if (f.rx[i].kva == f.area[TX].kva)
			f.rx[i].kva = NULL;
		area_free(&f.rx[i]);
		area_free(&f.old[i]);
	}
	f.olds = 0;
	for (i = 0; i < SECTIONS; i++)
		area_free(&f.area[i]);
	free(f.end);
	free(f.dlvq.copy_end);
	f.end = NULL;
	f.dlvq.copy_end = NULL;
	f.used = 0;
	close(f.memfd);
	close(f.user_fd);
	close(f.kernel_fd);
	f.user_fd = -1;
	f.r.open_files--;
}
