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
#include <sys/eventfd.h>
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
#define CTL_DURABLE	384
#define CTL_LSN		456
#define USR_CONSUMED	64
#define USR_WANT	136
#define USR_RESERVE	192
#define USR_LOG		264
#define USR_DESC	320

/* Of a log block in a row. */
#define SST_LOG		128

enum { CTL, USR, TX, RX, DLV, COPY, SST, SECTIONS };

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
	int memfd, user_fd, kernel_fd, pri_fd;
	bool kept;
	off_t used;
	struct area area[SECTIONS], rx[MAX_RX], old[MAX_RX], sst[MAX_RX];
	struct view view[MAX_VIEWS], now;
	u32 views, olds;
	u32 me;
	struct spindle_txq txq;
	struct spindle_dlvq dlvq;
	struct spindle_history history;
	struct end *end;
	u64 head, freed, msgs, lsn, durable;
	struct spindle_log_words log;
	struct { u64 n; u64 *entry; } peer[MAX_SENDERS];
	u32 peer_room;
	bool readable, final;
	pthread_t thread;
	bool running, stop, kicked;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	u32 rng;
} f = { .user_fd = -1, .kernel_fd = -1, .memfd = -1, .pri_fd = -1,
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

static struct area *area_of(uint64_t cookie)
{
	u32 instance = (u32)(cookie >> 32) % MAX_RX;

	switch (cookie >> 40) {
	case RX:
		return &f.rx[instance];
	case SST:
		return &f.sst[instance];
	}
	return &f.area[cookie >> 40];
}

int spindle_sys_mmap(int fd, uint64_t cookie, size_t len, int prot, int flags, void **addr)
{
	struct area *s = area_of(cookie);
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
	if (!f.o.logs)
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
	/* The position comes first, so that a message whose slot is free has one below. */
	if (e && f.o.logs)
		__atomic_store_n(ctl64(CTL_LSN), f.lsn, __ATOMIC_RELAXED);
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

void fake_era(uint64_t era)
{
	f.o.era = era;
}

void fake_refuse(int err)
{
	f.o.attach_err = err;
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
	if (!reads()) {
		f.lsn++;
		return;
	}
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

/* ---- logs ------------------------------------------------------------- */

static u64 *usr64(u32 off)
{
	return (u64 *)(void *)(f.area[USR].kva + off);
}

/* Does the process wait for what is durable by now? */
static bool is_wanted(void)
{
	u64 want = __atomic_load_n(usr64(USR_WANT), __ATOMIC_RELAXED);

	return want && want <= f.durable;
}

void fake_durable(uint64_t lsn)
{
	pthread_mutex_lock(&f.lock);
	f.durable = lsn;
	if (f.area[USR].kva) {
		__atomic_store_n(ctl64(CTL_DURABLE), lsn, __ATOMIC_RELEASE);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (is_wanted() && eventfd_write(f.pri_fd, 1))
			abort();
	}
	if (f.o.gate)
		spindle_history_open(&f.history, lsn);
	pthread_mutex_unlock(&f.lock);
}

static bool is_plausible(const struct spindle_log_words *w)
{
	return w->persisted >= f.log.persisted && w->persisted <= f.lsn && w->low >= f.log.low &&
	       w->low <= w->persisted && w->snapshot >= f.log.snapshot &&
	       w->snapshot <= w->persisted && w->record >= f.log.record &&
	       w->record <= f.now.vid && w->state <= SPINDLE_LOG_FAILED;
}

/* Take what the logger says. */
static bool step_log(void)
{
	const struct spindle_log_words *words = (void *)usr64(USR_LOG);
	struct spindle_log_words copy;
	u64 change = __atomic_load_n(&words->change, __ATOMIC_ACQUIRE);

	if (!(f.a.flags & SPINDLE_ATTACH_LOG) || change == f.log.change)
		return false;
	/* What @persisted has to be above comes in front of it. */
	copy = (struct spindle_log_words){
		.change = change,
		.low = __atomic_load_n(&words->low, __ATOMIC_ACQUIRE),
		.snapshot = __atomic_load_n(&words->snapshot, __ATOMIC_ACQUIRE),
		.record = __atomic_load_n(&words->record, __ATOMIC_ACQUIRE),
		.state = __atomic_load_n(&words->state, __ATOMIC_ACQUIRE),
		.persisted = __atomic_load_n(&words->persisted, __ATOMIC_RELAXED),
	};
	if (is_plausible(&copy))
		f.log = copy;
	else
		fake_final(SPINDLE_STATE_FROZEN, SPINDLE_ERR_LOG);
	return true;
}

const struct spindle_log_words *fake_log_words(void)
{
	return (void *)usr64(USR_LOG);
}

struct spindle_log_block *fake_log_block(uint32_t instance)
{
	return (void *)(f.sst[instance].kva + SST_LOG);
}

void fake_other(void)
{
	append(0, 0, 0, 0, SPINDLE_DLV_OTHER);
	publish();
}

uint64_t fake_want(void)
{
	return __atomic_load_n(usr64(USR_WANT), __ATOMIC_RELAXED);
}

static int may_log(const struct spindle_attach *a)
{
	if (!f.o.logs)
		return -EOPNOTSUPP;
	if (f.o.has_logger)
		return -EBUSY;
	if (!(a->flags & SPINDLE_ATTACH_RECV) || a->from == SPINDLE_FROM_NOW)
		return -EINVAL;
	return 0;
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

	if (f.final || !f.area[USR].kva)
		return false;
	any = reads() && spindle_dlvq_poll(&f.dlvq);
	if (sends())
		any |= step_free();
	any |= step_peers();
	if (sends())
		any |= step_send();
	any |= step_log();
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

/* A subgroup that outlives its attachments ends. */
static void end_kept(void)
{
	u32 i;

	for (i = 0; i < MAX_RX; i++) {
		area_free(&f.rx[i]);
		area_free(&f.old[i]);
		area_free(&f.sst[i]);
	}
	f.olds = 0;
	for (i = 0; i < SECTIONS; i++)
		area_free(&f.area[i]);
	free(f.dlvq.copy_end);
	f.dlvq.copy_end = NULL;
	f.used = 0;
	close(f.memfd);
	f.kept = false;
}

void fake_setup(const struct fake_opts *o)
{
	if (f.kept)
		end_kept();
	f.o = *o;
	f.o.window = o->window ? o->window : 16;
	f.o.max_msg = o->max_msg ? o->max_msg : 1000;
	f.o.ring_bytes = o->ring_bytes ? o->ring_bytes : 4096;
	f.o.senders = o->senders ? o->senders : 1;
	f.configured = true;
	f.durable = o->durable;
	memset(&f.log, 0, sizeof(f.log));
	f.log.persisted = o->logged;
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
	if (!f.kept)
		f.memfd = memfd_create("fake", MFD_CLOEXEC);
	f.pri_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f.memfd < 0 || f.pri_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
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
	a->sst_stride = 1ULL << 32;
	if (f.o.logs) {
		a->features &= ~SPINDLE_FEAT_DIRECT;
		a->features |= SPINDLE_FEAT_LOG | (f.o.gate ? SPINDLE_FEAT_GATE : 0);
		a->ctl_durable = CTL_DURABLE;
		a->ctl_lsn = CTL_LSN;
		a->usr_want = USR_WANT;
		a->usr_log = a->flags & SPINDLE_ATTACH_LOG ? USR_LOG : 0;
		a->sst_log = SST_LOG;
		a->began_vid = FIRST_VIEW;
		a->began_lsn = FIRST_LSN;
		a->features |= f.o.first ? SPINDLE_FEAT_FIRST : 0;
	}
	if (f.o.era)
		a->era = f.o.era;
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
	if (reads() && !f.kept) {
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
	if (!f.kept) {
		area_make(&f.area[SST], PAGE, false, false);
		for (i = 0; i < a->members; i++)
			area_make(&f.sst[i], PAGE, false, false);
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
	f.dlvq.copy_end = f.kept ? f.history.q.copy_end : calloc(a->dlv_entries, sizeof(u64));
	f.dlvq.logger = a->flags & SPINDLE_ATTACH_LOG;
	if (f.o.logs) {
		*ctl64(CTL_LSN) = f.lsn;
		*ctl64(CTL_DURABLE) = f.durable;
	}
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

	f.dlvq.copy = NULL;
	f.dlvq.low_word = ctl64(CTL_LOW);
	if (!f.kept) {
		f.history = (struct spindle_history){ 0 };
		spindle_history_init(&f.history, (void *)f.area[DLV].kva, f.area[COPY].kva,
				     f.dlvq.copy_end, HISTORY_BYTES / SPINDLE_UNIT);
		for (n = 0; n < f.o.history; n++)
			fake_deliver(0, n);
		if (f.o.gate)
			spindle_history_open(&f.history, f.durable);
	}
	f.kept = f.o.lasts;
	a->oldest = spindle_history_oldest(&f.history, f.lsn);
	a->next = f.dlvq.logger ? f.lsn : spindle_history_next(&f.history, f.lsn);
	lsn = in->from == SPINDLE_FROM_NOW ? a->next :
	      in->from == SPINDLE_FROM_OLDEST ? a->oldest : in->lsn;
	if (lsn > a->next || lsn < a->oldest)
		return lsn > a->next ? -ERANGE : -ESTALE;
	if (f.dlvq.logger) {
		u64 end = in->next ? in->next : lsn;

		if (end < lsn || end > f.lsn)
			return -ERANGE;
		if (end < f.log.persisted)
			return -ENODATA;
		f.log.persisted = end;
	}
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

	f.r.attaches++;
	if (a->size != sizeof(*a) || a->from > SPINDLE_FROM_LSN || a->ctl_durable || a->ctl_lsn ||
	    a->usr_want || a->usr_log || a->sst_log || a->resv2 ||
	    (a->next && !(a->flags & SPINDLE_ATTACH_LOG)) || !(a->flags & 3) ||
	    (a->flags & ~31U) || !(a->flags & SPINDLE_ATTACH_HISTORY) != !(a->flags & 2))
		return -EINVAL;
	if (f.o.attach_err) {
		a->memlock = f.o.memlock;
		return -f.o.attach_err;
	}
	a->memlock = f.o.memlock;
	if (a->flags & SPINDLE_ATTACH_LOG && may_log(a))
		return may_log(a);
	if (f.o.on_attach)
		f.o.on_attach();
	f.a = *a;
	if (!f.kept) {
		f.me = f.o.senders - 1;
		f.rng = 1;
		f.lsn = FIRST_LSN;
	}
	fill_reply(a);
	make_memory(a);
	f.a = *a;
	for (i = 0; i < MAX_SENDERS; i++)
		f.peer[i].n = 0;
	f.head = 0;
	f.freed = 0;
	f.msgs = 0;
	f.log.change = 0;
	*ctl32(CTL_STATE) = SPINDLE_STATE_ACTIVE;
	if (!f.kept)
		make_view();
	make_engine(a);
	if (f.o.mangle)
		f.o.mangle(a);
	if (in.from == SPINDLE_FROM_LSN && (in.lineage[0] || in.lineage[1] || in.era) &&
	    (in.lineage[0] != 1 || in.lineage[1] != 2 || in.era != a->era))
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

/* As poll() of the kernel: it looks again when it was woken, and may sleep on. */
int spindle_sys_poll(int fd, short events, short *revents, const struct timespec *timeout)
{
	struct pollfd p[2] = {
		{ .fd = fd, .events = events & ~POLLPRI },
		{ .fd = events & POLLPRI ? f.pri_fd : -1, .events = POLLIN },
	};
	struct timespec end, now, left;
	bool wanted;
	u64 n;
	int ret;

	clock_gettime(CLOCK_MONOTONIC, &end);
	if (timeout)
		end = (struct timespec){ end.tv_sec + timeout->tv_sec,
					 end.tv_nsec + timeout->tv_nsec };
	do {
		pthread_mutex_lock(&f.lock);
		wanted = events & POLLPRI && is_wanted();
		if (!wanted)
			eventfd_read(f.pri_fd, &n);
		pthread_mutex_unlock(&f.lock);
		clock_gettime(CLOCK_MONOTONIC, &now);
		n = (u64)((end.tv_sec - now.tv_sec) * 1000000000LL + end.tv_nsec - now.tv_nsec);
		if (wanted || (s64)n < 0)
			n = 0;
		left = (struct timespec){ (time_t)(n / 1000000000), (long)(n % 1000000000) };
		ret = ppoll(p, 2, timeout || wanted ? &left : NULL, NULL);
		*revents = p[0].revents | (wanted ? POLLPRI : 0);
	} while (ret > 0 && !*revents);
	if (ret < 0)
		return -errno;
	return !!*revents;
}

struct fake_report fake_look(void)
{
	f.r.tx_error = f.txq.error;
	f.r.dlv_error = f.dlvq.error;
	f.r.free_slot = f.txq.free_slot;
	f.r.free_unit = f.txq.free_unit;
	f.r.log = f.log;
	f.r.lsn = f.lsn;
	return f.r;
}

/* The memory of an attachment, and that of the subgroup if no other attachment follows. */
static void close_memory(void)
{
	struct spindle_dlvq *c;
	u32 i;

	for (c = f.history.cursors; f.o.history && c; c = c->next)
		if (c == &f.dlvq)
			break;
	if (f.o.history && c)
		spindle_history_detach(&f.history, c);
	for (i = 0; i < MAX_RX; i++)
		if (f.rx[i].kva == f.area[TX].kva)
			f.rx[i].kva = NULL;
	for (i = CTL; i <= TX; i++)
		area_free(&f.area[i]);
	if (!f.kept)
		end_kept();
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
	free(f.end);
	f.end = NULL;
	close_memory();
	close(f.user_fd);
	close(f.kernel_fd);
	close(f.pri_fd);
	f.user_fd = -1;
	f.r.open_files--;
}
