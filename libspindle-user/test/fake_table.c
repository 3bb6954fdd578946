// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls of the library over a table in memory. See fake_table.h.
 *
 * A channel from node to node has writes of cells, which are posted in the order of the contract. A
 * write reads words of the source and stores them at the destination, some in each step. Writes of
 * different cells overtake each other, but not the guard, unless the guard is vouched for.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <spindle/table.h>

#include "fake_table.h"
#include "sys.h"

#define FILES		16
#define FD0		1000
#define OPS		256
#define WORDS		(SPINDLE_MAX_CELL / 8)
#define PAGE		4096
#define ROW_STRIDE	(1ULL << 20)
#define OLDS		64

enum cookie { CTL, USR, OWN, ROWS };

/* Offsets in ctl and usr. */
enum place { STATE = 0, ERROR = 4, NEED = 8, GENERATION = 16, VOUCHED = 64, SEEN = 8, DIRTY = 64 };

struct file {
	bool used, attached;
	uint32_t node;		/* index */
	uint32_t flags;
	__u64 ctl[PAGE / 8], usr[PAGE / 8];
};

struct op {
	uint32_t cell, read, written;
	bool done;
	uint64_t version;	/* of a whole guard */
	uint64_t copy[WORDS];
};

struct channel {
	struct op *op;
	uint32_t n;
};

static struct {
	struct fake_table_opts o;
	struct file file[FILES];
	struct spindle_seat seat[FAKE_INSTANCES];
	uint32_t seats;
	uint64_t vid;
	uint32_t instance[FAKE_NODES];
	__u64 *row[FAKE_NODES][FAKE_INSTANCES];
	void *old[OLDS];
	uint32_t olds;
	struct channel ch[FAKE_NODES][FAKE_NODES];
	/* The pass of an engine, between the guard and the other cells. */
	bool in_pass[FAKE_NODES], has_guard[FAKE_NODES];
	uint64_t guard[FAKE_NODES][WORDS];
	struct fake_table_report r;
	pthread_mutex_t lock;
	pthread_cond_t work, change;
	pthread_t thread;
	bool running, stop, kicked;
} f = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER,
	.change = PTHREAD_COND_INITIALIZER };

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static uint32_t cell_words(void)
{
	return f.o.cell / 8;
}

static __u32 *ctl32(struct file *file, uint32_t at)
{
	return (__u32 *)((char *)file->ctl + at);
}

static __u64 load(const __u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void store(__u64 *p, __u64 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* A test may protect the pages of a row. */
static void *new_row(void)
{
	void *row = aligned_alloc(PAGE, SPINDLE_MAX_TABLE_ROW);

	if (!row)
		abort();
	return memset(row, 0, SPINDLE_MAX_TABLE_ROW);
}

void fake_table_setup(const struct fake_table_opts *o)
{
	uint32_t i, k;

	for (i = 0; i < FAKE_NODES; i++)
		for (k = 0; k < FAKE_INSTANCES; k++)
			free(f.row[i][k]);
	while (f.olds)
		free(f.old[--f.olds]);
	f.o = *o;
	f.o.cells = o->cells ? o->cells : 4;
	f.o.cell = o->cell ? o->cell : 64;
	f.r = (struct fake_table_report){ 0 };
	f.vid = 3;
	f.seats = FAKE_NODES;
	memset(f.file, 0, sizeof(f.file));
	memset(f.in_pass, 0, sizeof(f.in_pass));
	memset(f.seat, 0, sizeof(f.seat));
	for (i = 0; i < FAKE_NODES; i++) {
		f.instance[i] = FAKE_INSTANCES - 1 - i;
		f.seat[i].node = i + 1;
		f.seat[i].sst = f.instance[i];
		for (k = 0; k < FAKE_INSTANCES; k++)
			f.row[i][k] = new_row();
		for (k = 0; k < FAKE_NODES; k++) {
			if (!f.ch[i][k].op)
				f.ch[i][k].op = calloc(OPS, sizeof(struct op));
			f.ch[i][k].n = 0;
		}
	}
}

struct fake_table_report fake_table_look(void)
{
	return f.r;
}

/* ---- the engine ------------------------------------------------------- */

/* A row of this node may have changed. */
static void changed(uint32_t node)
{
	struct file *file;

	pthread_mutex_lock(&f.lock);
	for (file = f.file; file < f.file + FILES; file++)
		if (file->attached && file->node == node)
			store(&file->ctl[GENERATION / 8], file->ctl[GENERATION / 8] + 1);
	pthread_cond_broadcast(&f.change);
	pthread_mutex_unlock(&f.lock);
}

static struct file *writer_of(uint32_t node)
{
	struct file *file;

	for (file = f.file; file < f.file + FILES; file++)
		if (__atomic_load_n(&file->attached, __ATOMIC_ACQUIRE) && file->node == node &&
		    (file->flags & SPINDLE_TABLE_WRITE))
			return file;
	return NULL;
}

static __u64 *own_cell(uint32_t node, uint32_t cell)
{
	return f.row[node][f.instance[node]] + cell * cell_words();
}

static bool is_dirty(uint32_t node)
{
	struct file *w = writer_of(node);
	uint32_t i;

	for (i = 0; w && i < (f.o.cells + 63) / 64; i++)
		if (load(&w->usr[DIRTY / 8 + i]))
			return true;
	return false;
}

/* The first half of a pass: the bit of the guard, then a copy of it. */
static void take_guard(uint32_t node, struct file *w)
{
	uint32_t i;

	f.has_guard[node] = __atomic_fetch_and(&w->usr[DIRTY / 8], ~1ULL, __ATOMIC_SEQ_CST) & 1;
	for (i = 0; f.has_guard[node] && i < cell_words(); i++)
		f.guard[node][i] = load(own_cell(node, 0) + i);
	f.in_pass[node] = true;
}

static void post(uint32_t src, uint32_t dst, uint32_t cell)
{
	struct channel *ch = &f.ch[src][dst];
	uint32_t words = cell_words();
	struct op *op;

	if (ch->n == OPS)
		abort();
	op = &ch->op[ch->n++];
	memset(op, 0, offsetof(struct op, copy));
	op->cell = cell;
	if (cell)
		return;
	memcpy(op->copy, f.guard[src], words * 8);
	op->read = words;
	if (spindle_cell_mix((__u64 *)op->copy, words - 1) == op->copy[words - 1])
		op->version = op->copy[words - 2];
}

/* The second half: the other bits, and the guard last. */
static void take_rest(uint32_t node, struct file *w)
{
	__u64 taken[SPINDLE_MAX_CELLS / 64] = { 0 };
	uint32_t i, dst;

	for (i = 0; i < (f.o.cells + 63) / 64; i++)
		taken[i] = __atomic_fetch_and(&w->usr[DIRTY / 8 + i], i ? 0 : 1ULL,
					      __ATOMIC_SEQ_CST) & (i ? ~0ULL : ~1ULL);
	for (dst = 0; dst < FAKE_NODES; dst++) {
		if (dst == node)
			continue;
		for (i = 1; i < f.o.cells; i++)
			if (taken[i / 64] >> i % 64 & 1)
				post(node, dst, i);
		if (f.has_guard[node])
			post(node, dst, 0);
	}
	f.in_pass[node] = false;
	changed(node);
}

static bool step_engine(uint32_t node)
{
	struct file *w = writer_of(node);

	/* The kernel goes on with a pass when the writer has gone: its row is still there. */
	if (!w || (!f.in_pass[node] && !is_dirty(node)) || f.ch[node][!node].n > OPS - 70 ||
	    f.ch[node][node == 2 ? 1 : 2].n > OPS - 70) {
		if (!w)
			f.in_pass[node] = false;
		return false;
	}
	if (f.in_pass[node])
		take_rest(node, w);
	else
		take_guard(node, w);
	return true;
}

/* ---- the network ------------------------------------------------------ */

static bool may_run(const struct channel *ch, uint32_t at)
{
	uint32_t i;

	if (ch->op[at].done)
		return false;
	for (i = 0; i < at; i++) {
		if (ch->op[i].done)
			continue;
		if (ch->op[i].cell == ch->op[at].cell)
			return false;
		if (!f.o.vouch && (!ch->op[i].cell || !ch->op[at].cell))
			return false;
	}
	return true;
}

static void move(uint32_t src, uint32_t dst, struct op *op, uint32_t words)
{
	__u64 *to = f.row[dst][f.instance[src]] + op->cell * cell_words();
	const __u64 *from = own_cell(src, op->cell);
	uint32_t all = cell_words();

	for (; words; words--) {
		if (op->read < all) {
			op->copy[op->read] = load(from + op->read);
			op->read++;
		} else if (op->written < all) {
			store(to + op->written, op->copy[op->written]);
			op->written++;
		}
	}
	op->done = op->written == all;
}

/* All writes in front of a guard have arrived. */
static void vouch(uint32_t src, uint32_t dst, uint64_t version)
{
	struct file *file;
	__u64 *word;

	for (file = f.file; file < f.file + FILES; file++) {
		word = &file->ctl[VOUCHED / 8 + f.instance[src]];
		if (file->attached && file->node == dst && version > *word)
			store(word, version);
	}
}

static void retire(uint32_t src, uint32_t dst)
{
	struct channel *ch = &f.ch[src][dst];
	uint32_t i;

	for (i = 0; i < ch->n && ch->op[i].done; i++)
		if (!ch->op[i].cell)
			vouch(src, dst, ch->op[i].version);
	memmove(ch->op, ch->op + i, (ch->n - i) * sizeof(*ch->op));
	ch->n -= i;
}

static bool step_channel(uint32_t src, uint32_t dst, uint32_t *seed)
{
	struct channel *ch = &f.ch[src][dst];
	uint32_t i, at;

	if (!ch->n)
		return false;
	at = rnd(seed) % ch->n;
	for (i = 0; !may_run(ch, (at + i) % ch->n); i++)
		;
	at = (at + i) % ch->n;
	move(src, dst, &ch->op[at], 1 + rnd(seed) % (2 * cell_words()));
	if (ch->op[at].done) {
		retire(src, dst);
		changed(dst);
	}
	return true;
}

bool fake_table_step(uint32_t *seed)
{
	uint32_t first = rnd(seed), i, n;

	for (i = 0; i < FAKE_NODES * (FAKE_NODES + 1); i++) {
		n = (first + i) % (FAKE_NODES * (FAKE_NODES + 1));
		if (n < FAKE_NODES ? step_engine(n) :
		    step_channel((n - FAKE_NODES) / FAKE_NODES, n % FAKE_NODES, seed))
			return true;
	}
	return false;
}

void fake_table_settle(uint32_t *seed)
{
	while (fake_table_step(seed))
		;
}

bool fake_table_is_calm(uint32_t node)
{
	const struct channel *ch;
	uint32_t src, i;

	for (src = 0; src < FAKE_NODES; src++) {
		ch = &f.ch[src][node];
		for (i = 0; i < ch->n; i++)
			if (ch->op[i].written && !ch->op[i].done)
				return false;
	}
	return true;
}

void fake_table_sleep(bool on)
{
	struct file *file;

	for (file = f.file; file < f.file + FILES; file++)
		__atomic_store_n(ctl32(file, NEED), on, __ATOMIC_SEQ_CST);
}

void fake_table_final(uint32_t state, uint32_t error)
{
	struct file *file;

	pthread_mutex_lock(&f.lock);
	for (file = f.file; file < f.file + FILES; file++) {
		__atomic_store_n(ctl32(file, ERROR), error, __ATOMIC_RELEASE);
		__atomic_store_n(ctl32(file, STATE), state, __ATOMIC_RELEASE);
	}
	pthread_cond_broadcast(&f.change);
	pthread_mutex_unlock(&f.lock);
}

void fake_table_view(const struct spindle_seat *seat, uint32_t n)
{
	uint32_t i, node;

	memcpy(f.seat, seat, n * sizeof(*seat));
	f.seats = n;
	f.vid++;
	for (i = 0; i < n; i++) {
		if (!(seat[i].flags & SPINDLE_SEAT_JOINED))
			continue;
		for (node = 0; node < FAKE_NODES; node++) {
			f.old[f.olds++] = f.row[node][seat[i].sst];
			f.row[node][seat[i].sst] = new_row();
		}
	}
	for (node = 0; node < FAKE_NODES; node++)
		changed(node);
}

/* ---- the engine as a thread ------------------------------------------- */

static bool any_dirty(void)
{
	uint32_t node;

	for (node = 0; node < FAKE_NODES; node++)
		if (is_dirty(node))
			return true;
	return false;
}

static void deadline_in(struct timespec *ts, long ms)
{
	clock_gettime(CLOCK_REALTIME, ts);
	ts->tv_sec += ms / 1000;
	ts->tv_nsec += ms % 1000 * 1000000;
	ts->tv_sec += ts->tv_nsec / 1000000000;
	ts->tv_nsec %= 1000000000;
}

static void doze(void)
{
	struct timespec ts;
	int err = 0;

	fake_table_sleep(true);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	pthread_mutex_lock(&f.lock);
	deadline_in(&ts, 2000);
	while (!f.kicked && !f.stop && !err && !any_dirty())
		err = pthread_cond_timedwait(&f.work, &f.lock, &ts);
	if (err && !f.kicked && any_dirty())
		f.r.lost++;
	f.kicked = false;
	pthread_mutex_unlock(&f.lock);
	fake_table_sleep(false);
}

static void *engine(void *arg)
{
	uint32_t seed = 1;

	(void)arg;
	while (!__atomic_load_n(&f.stop, __ATOMIC_ACQUIRE))
		if (!fake_table_step(&seed))
			doze();
	return NULL;
}

void fake_table_start(void)
{
	f.stop = false;
	f.running = true;
	pthread_create(&f.thread, NULL, engine, NULL);
}

void fake_table_stop(void)
{
	pthread_mutex_lock(&f.lock);
	__atomic_store_n(&f.stop, true, __ATOMIC_RELEASE);
	pthread_cond_signal(&f.work);
	pthread_mutex_unlock(&f.lock);
	pthread_join(f.thread, NULL);
	f.running = false;
}

/* ---- system calls ----------------------------------------------------- */

static void hook(enum fake_call call)
{
	if (f.o.hook)
		f.o.hook(call);
}

int spindle_sys_open(const char *path, int flags)
{
	int i;

	(void)flags;
	if (strcmp(path, SPINDLE_TABLE_DEVICE))
		return -ENOENT;
	for (i = 0; f.file[i].used; i++)
		;
	memset(&f.file[i], 0, sizeof(f.file[i]));
	f.file[i].used = true;
	f.r.open_files++;
	return FD0 + i;
}

void spindle_sys_close(int fd)
{
	struct file *file = &f.file[fd - FD0];

	__atomic_store_n(&file->attached, false, __ATOMIC_RELEASE);
	file->used = false;
	f.r.open_files--;
}

static int do_attach(struct file *file, struct spindle_table_attach *a)
{
	if (f.o.attach_err)
		return -f.o.attach_err;
	if (a->flags & ~SPINDLE_TABLE_WRITE)
		return -EINVAL;
	if (!a->node || a->node > FAKE_NODES)
		return -ENODEV;
	if ((a->flags & SPINDLE_TABLE_WRITE) && writer_of(a->node - 1))
		return -EBUSY;
	file->node = a->node - 1;
	file->flags = a->flags;
	*a = (struct spindle_table_attach){
		.size = sizeof(*a), .node = a->node, .table = 2, .flags = a->flags,
		.features = SPINDLE_TABLE_FEAT_LIVE |
			    (f.o.vouch ? SPINDLE_TABLE_FEAT_VOUCH : 0),
		.vid = f.vid, .members = FAKE_NODES, .rank = file->node, .cells = f.o.cells,
		.cell = f.o.cell, .own_instance = f.instance[file->node],
		.instances = FAKE_INSTANCES, .row_stride = ROW_STRIDE, .ctl_state = STATE,
		.ctl_error = ERROR, .ctl_need_wakeup = NEED, .ctl_generation = GENERATION,
		.ctl_vouched = VOUCHED, .usr_seen = SEEN, .usr_dirty = DIRTY,
		.ctl = { CTL << 12, PAGE }, .usr = { USR << 12, PAGE }, .own = { OWN << 12, },
		.rows = { (__u64)ROWS << 20, SPINDLE_MAX_TABLE_ROW },
	};
	if (a->flags & SPINDLE_TABLE_WRITE)
		a->own.len = SPINDLE_MAX_TABLE_ROW;
	*ctl32(file, STATE) = SPINDLE_STATE_ACTIVE;
	__atomic_store_n(&file->attached, true, __ATOMIC_RELEASE);
	if (f.o.mangle)
		f.o.mangle(a);
	return 0;
}

static int do_seats(const struct file *file, struct spindle_seats *s)
{
	struct spindle_seat *to = (void *)(uintptr_t)s->ptr;
	uint32_t i, room = s->count;

	if (s->vid && s->vid != f.vid)
		return -ESTALE;
	s->vid = f.vid;
	s->count = f.seats;
	if (room < f.seats)
		return -ENOSPC;
	for (i = 0; i < f.seats; i++) {
		to[i] = f.seat[i];
		to[i].flags |= to[i].sst == f.instance[file->node] ? SPINDLE_SEAT_ME : 0;
	}
	return 0;
}

int spindle_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	struct file *file = &f.file[fd - FD0];

	switch (cmd) {
	case SPINDLE_TABLE_IOC_ATTACH:
		return do_attach(file, arg);
	case SPINDLE_TABLE_IOC_SEATS:
		return do_seats(file, arg);
	case SPINDLE_TABLE_IOC_KICK:
		hook(FAKE_KICK);
		pthread_mutex_lock(&f.lock);
		f.r.kicks++;
		f.kicked = true;
		pthread_cond_signal(&f.work);
		pthread_mutex_unlock(&f.lock);
		return 0;
	}
	return -ENOTTY;
}

static int find(struct file *file, uint64_t cookie, void **addr)
{
	uint64_t row = (cookie - ((__u64)ROWS << 20)) / ROW_STRIDE;

	if (cookie == CTL << 12)
		*addr = file->ctl;
	else if (cookie == USR << 12)
		*addr = file->usr;
	else if (cookie == OWN << 12)
		*addr = f.row[file->node][f.instance[file->node]];
	else if (cookie % ROW_STRIDE || row >= FAKE_INSTANCES)
		return -EINVAL;
	else if (f.o.map_err)
		return -f.o.map_err;
	else
		*addr = f.row[file->node][row];
	return 0;
}

int spindle_sys_mmap(int fd, uint64_t cookie, size_t len, int prot, int flags, void **addr)
{
	int err;

	(void)prot;
	(void)flags;
	if (len > SPINDLE_MAX_TABLE_ROW)
		return -EINVAL;
	if (cookie >= (__u64)ROWS << 20)
		hook(FAKE_ROW);
	err = find(&f.file[fd - FD0], cookie, addr);
	f.r.mappings += !err;
	return err;
}

void spindle_sys_munmap(void *addr, size_t len)
{
	(void)addr;
	(void)len;
	f.r.mappings--;
}

ssize_t spindle_sys_read(int fd, void *buf, size_t len)
{
	(void)fd;
	(void)buf;
	(void)len;
	return -EBADF;
}

/* Without the thread nothing would wake a sleeper: the time is up at once. */
int spindle_sys_poll(int fd, short events, short *revents, const struct timespec *timeout)
{
	struct file *file = &f.file[fd - FD0];
	struct timespec ts;
	int err = 0;

	hook(FAKE_POLL);
	deadline_in(&ts, timeout ? timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000 + 1 : 20000);
	*revents = 0;
	pthread_mutex_lock(&f.lock);
	while (!*revents && !err) {
		if (load(&file->ctl[GENERATION / 8]) != load(&file->usr[SEEN / 8]))
			*revents |= events & POLLIN;
		if (*ctl32(file, STATE) > SPINDLE_STATE_ACTIVE)
			*revents |= POLLERR | POLLHUP;
		if (!*revents)
			err = f.running ? pthread_cond_timedwait(&f.change, &f.lock, &ts) : 1;
	}
	pthread_mutex_unlock(&f.lock);
	return *revents != 0;
}
