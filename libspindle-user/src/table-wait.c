// SPDX-License-Identifier: MIT
/*
 * Tables: wait for changes of rows, for signals of predicates, and for the ends of flushes and
 * refreshes.
 *
 * Changes and signals have a counter that the engine adds to, and a word in which the process notes
 * the counter that it has handled. The engine changes a row or ctl.fired, then adds one to the
 * counter with release. What came before the process loads the counter is in the memory that the
 * process reads after the call. What comes later makes the counter differ from the word. Then the
 * next call returns at once. So does poll(), because the kernel compares after the store of the
 * word. A counter that is loaded after the process has looked must not be stored, because it would
 * hide what came in between.
 *
 * A flush is the other way round: the process stores a number, and waits until the engine shows it.
 * So is a refresh. The engine loads the number, then lets the device read the rows.
 */
#include <errno.h>
#include <poll.h>

#include "table.h"

/* A counter of the engine, the word of the process, and the event of poll() while they differ. */
struct news {
	const __u64 *counter;
	__u64 *handled;
	short event;
	bool asks;	/* the process stores the word first; the event comes when they are equal */
};

static bool has_news(const struct news *n)
{
	__u64 counter = spindle_load_acquire(n->counter);

	if (n->asks)
		return counter == *n->handled;
	if (counter == *n->handled)
		return false;
	spindle_store_release(n->handled, counter);
	return true;
}

static int wait_for(struct spindle_table *t, const struct news *n, int64_t deadline)
{
	short revents;
	bool ended;
	int ret;

	for (;;) {
		/* Load the state before the counter: nothing follows a final state. */
		ended = spindle_table_state(t) > SPINDLE_STATE_ACTIVE;
		if (has_news(n))
			return 1;
		if (ended)
			return -EPIPE;
		if (!deadline)
			return 0;
		ret = spindle_poll_until(t->fd, n->event, &revents, deadline);
		if (ret < 0)
			return ret;
		if (!ret)
			return has_news(n);
		if (revents & POLLNVAL)
			return -EBADF;
		if ((revents & (POLLERR | POLLHUP)) &&
		    spindle_table_state(t) <= SPINDLE_STATE_ACTIVE)
			return -EIO;
	}
}

int spindle_change_until(struct spindle_table *t, int64_t deadline)
{
	struct news n = { t->ctl_generation, t->usr_seen, POLLIN, false };

	/* The kernel would wake nobody for a change. */
	if (!n.handled || (deadline && (t->flags & SPINDLE_TABLE_SIGNALS)))
		return -EBADF;
	return wait_for(t, &n, deadline);
}

int spindle_table_wait(struct spindle_table *t, int timeout_ms)
{
	return spindle_change_until(t, timeout_ms ? spindle_deadline(timeout_ms) : 0);
}

int spindle_signal_until(struct spindle_table *t, int64_t deadline)
{
	struct news n = { t->ctl_signals, t->usr_heard, POLLPRI, false };

	return n.handled ? wait_for(t, &n, deadline) : -EBADF;
}

int spindle_table_wait_signal(struct spindle_table *t, int timeout_ms)
{
	return spindle_signal_until(t, timeout_ms ? spindle_deadline(timeout_ms) : 0);
}

int spindle_table_flush(struct spindle_table *t, int timeout_ms)
{
	struct news n = { t->ctl_flushed, t->usr_flush, POLLOUT, true };
	int err;

	if (!t->own)
		return -EBADF;
	if (t->read)
		return -EOPNOTSUPP;
	/* Behind the marks of all cells that are sealed (D). */
	spindle_store_release(t->usr_flush, *t->usr_flush + 1);
	err = spindle_table_push(t);
	return err ? err : wait_for(t, &n, timeout_ms ? spindle_deadline(timeout_ms) : 0);
}

int spindle_table_refresh(struct spindle_table *t, int timeout_ms)
{
	struct news n = { t->ctl_refreshed, t->usr_refresh, POLLRDBAND, true };
	int err;

	if (!n.handled)
		return -EBADF;
	if (!t->read)
		return -EOPNOTSUPP;
	spindle_store_release(t->usr_refresh, *t->usr_refresh + 1);
	err = spindle_table_wake(t);
	return err ? err : wait_for(t, &n, timeout_ms ? spindle_deadline(timeout_ms) : 0);
}

int spindle_table_every(struct spindle_table *t, uint64_t us)
{
	if (!t->usr_every)
		return -EBADF;
	if (!t->read)
		return -EOPNOTSUPP;
	spindle_store_release(t->usr_every, us);
	return spindle_table_wake(t);
}
