// SPDX-License-Identifier: MIT
/*
 * Durable messages: wait for them, and the words between loggers and the kernel.
 *
 * Many threads may wait for positions, and the kernel looks at one word, usr.want. It has the
 * smallest position that a thread waits for. The order of a wait is: store usr.want, full barrier,
 * look at ctl.durable, poll(). The engine stores ctl.durable, has a full barrier, and looks at
 * usr.want. So one of them sees the store of the other.
 *
 * The kernel looks at usr.want once more when it has woken a thread. If another thread had raised
 * the word by then, the first one would sleep on. So the word never goes up past a thread that has
 * its position and has not left. Threads that wait for more let that thread leave first.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <spindle/table.h>

#include "internal.h"

/* Reads of a log block that may find it half written, before the caller has to try again. */
#define TRIES		1000
#define BLOCK_WORDS	(offsetof(struct spindle_log_block, seal) / sizeof(uint64_t))

/* In the word "record" of a log block. */
#define STATE_MASK	7U
#define ESTABLISHED	8U
#define RECORD_SHIFT	4

/**
 * struct waiter - a thread that waits; on its stack
 */
struct waiter {
	/** @want: it waits until ctl.durable is at least this */
	uint64_t want;
	/** @next: another one */
	struct waiter *next;
};

/**
 * struct spindle_logs - words of a subgroup with logs
 */
struct spindle_logs {
	/** @durable: messages below this position are durable */
	const __u64 *durable;
	/** @lsn: position of the next message that is delivered */
	const __u64 *lsn;
	/** @want: the kernel wakes the process when @durable is at least this */
	__u64 *want;
	/** @words: of the logger, or NULL */
	struct spindle_log_words *words;
	/** @change: of @words */
	uint64_t change;
	/** @lock: of @waiters and @want */
	pthread_mutex_t lock;
	/** @left: a thread has left @waiters */
	pthread_cond_t left;
	/** @waiters: threads that wait */
	struct waiter *waiters;
	/** @sst: rows of members, by instance */
	struct spindle_section sst;
	/** @sst_stride: from one of their cookies to the next */
	uint64_t sst_stride;
	/** @sst_log: offset of the log block in a row */
	uint32_t sst_log;
	/** @began_vid: view that the subgroup began, or began again, with */
	uint64_t began_vid;
	/** @began_lsn: position that it began with */
	uint64_t began_lsn;
	/** @vid: view of @row */
	uint64_t vid;
	/** @row: rows that are mapped, by rank in that view */
	struct spindle_map row[SPINDLE_MAX_MEMBERS];
};

int spindle_logs_begin(struct spindle_queue *q, const struct spindle_attach *a)
{
	struct spindle_logs *l;

	if (!(a->features & SPINDLE_FEAT_LOG))
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->durable = (const void *)((const char *)q->map_ctl.addr + a->ctl_durable);
	l->lsn = (const void *)((const char *)q->map_ctl.addr + a->ctl_lsn);
	l->want = (void *)((char *)q->map_usr.addr + a->usr_want);
	if (a->flags & SPINDLE_ATTACH_LOG)
		l->words = (void *)((char *)q->map_usr.addr + a->usr_log);
	l->sst = a->sst;
	l->sst_stride = a->sst_stride;
	l->sst_log = a->sst_log;
	l->began_vid = a->began_vid;
	l->began_lsn = a->began_lsn;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->left, NULL);
	q->logs = l;
	return 0;
}

static void unmap_rows(struct spindle_logs *l)
{
	uint32_t i;

	for (i = 0; i < SPINDLE_MAX_MEMBERS; i++)
		spindle_unmap_section(&l->row[i]);
}

void spindle_logs_end(struct spindle_queue *q)
{
	struct spindle_logs *l = q->logs;

	if (!l)
		return;
	unmap_rows(l);
	pthread_cond_destroy(&l->left);
	pthread_mutex_destroy(&l->lock);
	free(l);
	q->logs = NULL;
}

/* ---- wait ------------------------------------------------------------- */

uint64_t spindle_durable(const struct spindle_queue *q)
{
	return q->logs ? spindle_load_acquire(q->logs->durable) : 0;
}

static uint64_t smallest(const struct spindle_logs *l)
{
	const struct waiter *w;
	uint64_t want = UINT64_MAX;

	for (w = l->waiters; w; w = w->next)
		if (w->want < want)
			want = w->want;
	return want;
}

static void tell_kernel(struct spindle_logs *l)
{
	spindle_store_release(l->want, l->waiters ? smallest(l) : 0);
}

static void enlist(struct spindle_logs *l, struct waiter *w)
{
	pthread_mutex_lock(&l->lock);
	w->next = l->waiters;
	l->waiters = w;
	tell_kernel(l);
	pthread_mutex_unlock(&l->lock);
	/* Pairs with the barrier of the engine between ctl.durable and usr.want. */
	spindle_mb();
}

static void leave(struct spindle_logs *l, struct waiter *w)
{
	struct waiter **at = &l->waiters;

	pthread_mutex_lock(&l->lock);
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	tell_kernel(l);
	pthread_cond_broadcast(&l->left);
	pthread_mutex_unlock(&l->lock);
}

/* Let threads leave that have their position. The kernel would wake this one for them at once. */
static void let_leave(const struct spindle_queue *q, struct spindle_logs *l, const struct waiter *w)
{
	uint64_t durable;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		durable = spindle_durable(q);
		if (durable >= w->want || durable < smallest(l))
			break;
		pthread_cond_wait(&l->left, &l->lock);
	}
	pthread_mutex_unlock(&l->lock);
}

static bool final(const struct spindle_queue *q)
{
	return spindle_state(q) > SPINDLE_STATE_ACTIVE;
}

/* Return: 0 if the position is there, -EAGAIN to wait. */
static int look(const struct spindle_queue *q, uint64_t want, int64_t deadline)
{
	/* Load the state before the position: the one after a final state is the last. */
	bool ended = final(q);

	if (spindle_durable(q) >= want)
		return 0;
	if (ended)
		return -ENOTCONN;
	return spindle_is_past(deadline) ? -ETIMEDOUT : -EAGAIN;
}

/* Return: -EAGAIN to look again. */
static int sleep_until(const struct spindle_queue *q, int64_t deadline)
{
	short revents;
	int ret = spindle_poll_until(q->fd, POLLPRI, &revents, deadline);

	if (ret < 0)
		return ret;
	if (revents & POLLNVAL)
		return -EBADF;
	if ((revents & (POLLERR | POLLHUP)) && !final(q))
		return -EIO;
	return -EAGAIN;
}

static int durable_until(struct spindle_queue *q, uint64_t want, int64_t deadline)
{
	struct waiter w = { .want = want };
	int ret = look(q, want, deadline);

	if (ret != -EAGAIN)
		return ret;
	spindle_flush_quiet(q);
	enlist(q->logs, &w);
	while (ret == -EAGAIN) {
		ret = look(q, want, deadline);
		if (ret != -EAGAIN)
			break;
		let_leave(q, q->logs, &w);
		ret = sleep_until(q, deadline);
	}
	leave(q->logs, &w);
	return ret;
}

int spindle_wait_durable(struct spindle_queue *q, uint64_t lsn, int timeout_ms)
{
	if (!q->logs)
		return -EOPNOTSUPP;
	if (lsn == UINT64_MAX)
		return -EINVAL;
	return durable_until(q, lsn + 1, spindle_deadline(timeout_ms));
}

/* ---- send ------------------------------------------------------------- */

/*
 * Wait until a message that was sent is durable. It has a position from @first on, so nothing needs
 * to be looked at before that is durable. When the slot is free again, the message has a position
 * below ctl.lsn.
 */
static int sent_until(struct spindle_queue *q, uint64_t slot, uint64_t first, int64_t deadline)
{
	int err = durable_until(q, first + 1, deadline);

	if (err)
		return err;
	err = spindle_freed_until(q, (uint32_t)slot + 1, deadline);
	if (err)
		return err == -EAGAIN ? -ETIMEDOUT : err == -EPIPE ? -ENOTCONN : err;
	return durable_until(q, spindle_load_acquire(q->logs->lsn), deadline);
}

int spindle_send_durable(struct spindle_queue *q, const void *buf, uint32_t len, int timeout_ms)
{
	int64_t deadline = spindle_deadline(timeout_ms);
	struct spindle_slot s;
	uint64_t first;
	int err;

	if (!q->tx_ring)
		return -EBADF;
	if (!q->logs)
		return -EOPNOTSUPP;
	err = spindle_reserve_until(q, len, &s, deadline);
	if (err)
		return err;
	if (len)
		memcpy(s.data, buf, len);
	first = spindle_load_acquire(q->logs->lsn);
	spindle_commit(q, &s, len);
	err = sent_until(q, s.slot, first, deadline);
	return err == -EINTR ? -EINPROGRESS : err;
}

/* ---- loggers ---------------------------------------------------------- */

int spindle_log_began(const struct spindle_queue *q, uint64_t *vid, uint64_t *lsn)
{
	if (!q->logs)
		return -EOPNOTSUPP;
	*vid = q->logs->began_vid;
	*lsn = q->logs->began_lsn;
	return q->features & SPINDLE_FEAT_FIRST ? 1 : 0;
}

int spindle_log_say(struct spindle_queue *q, const struct spindle_log_report *report)
{
	struct spindle_log_words *w = q->logs ? q->logs->words : NULL;

	if (!w)
		return -EBADF;
	if (report->low > report->persisted || report->snapshot > report->persisted ||
	    report->state > SPINDLE_LOG_FAILED)
		return -EINVAL;
	/* The kernel may copy the words now. What @persisted has to be above comes behind it. */
	spindle_store_release(&w->persisted, report->persisted);
	spindle_store_release(&w->low, report->low);
	spindle_store_release(&w->snapshot, report->snapshot);
	spindle_store_release(&w->record, report->record);
	__atomic_store_n(&w->state, report->state, __ATOMIC_RELEASE);
	spindle_store_release(&w->change, ++q->logs->change);
	return spindle_wake(q);
}

/* Map the row of a member, unless it is mapped. Rows of other views may be those of others now. */
static int map_row(struct spindle_queue *q, uint32_t rank)
{
	const struct spindle_epoch *e = q->epoch;
	struct spindle_logs *l = q->logs;

	if (l->vid != e->vid)
		unmap_rows(l);
	l->vid = e->vid;
	if (l->row[rank].len)
		return 0;
	return spindle_map_section(q, l->sst.cookie + e->seat[rank].sst * l->sst_stride,
				   l->sst.len, 1, PROT_READ, &l->row[rank]);
}

/* The seal is the mix of the words, so a blend of two versions has another one. */
static bool read_block(const struct spindle_log_block *b, spindle_word word[BLOCK_WORDS])
{
	const __u64 *from = &b->persisted;
	uint64_t seal = spindle_load_acquire(&b->seal);
	uint32_t i;

	for (i = 0; i < BLOCK_WORDS; i++)
		word[i] = spindle_load_acquire(from + i);
	return spindle_cell_mix(word, BLOCK_WORDS) == seal;
}

int spindle_log_block(struct spindle_queue *q, uint32_t rank, struct spindle_log_report *report)
{
	const struct spindle_log_block *b;
	spindle_word word[BLOCK_WORDS];
	uint32_t i;
	int err;

	if (!q->logs)
		return -EOPNOTSUPP;
	if (rank >= q->epoch->members || rank >= SPINDLE_MAX_MEMBERS)
		return -EINVAL;
	err = map_row(q, rank);
	if (err)
		return err;
	b = (const void *)((const char *)q->logs->row[rank].addr + q->logs->sst_log);
	for (i = 0; !read_block(b, word); i++)
		if (i == TRIES)
			return -EAGAIN;
	*report = (struct spindle_log_report){
		.persisted = word[0], .low = word[1], .snapshot = word[2],
		.record = word[3] >> RECORD_SHIFT, .state = word[3] & STATE_MASK,
		.established = !!(word[3] & ESTABLISHED),
	};
	return 0;
}
