// SPDX-License-Identifier: GPL-2.0-only
/*
 * State of a connection: which changes are legal, and what follows from a failure. See conn.h.
 *
 * The other files of fabric/ call this file. It calls none of them.
 */
#include "base/states.h"
#include "conn.h"

static struct workqueue_struct *conn_wq;

/**
 * spindle_conns_init() - create the work queue of connections
 *
 * Return: 0 or -ENOMEM
 */
int spindle_conns_init(void)
{
	conn_wq = alloc_workqueue("spindle_conn", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return conn_wq ? 0 : -ENOMEM;
}

/**
 * spindle_conns_exit() - destroy the work queue; all connections are closed
 */
void spindle_conns_exit(void)
{
	destroy_workqueue(conn_wq);
}

/**
 * spindle_conn_init() - initialize a connection
 * @conn: zeroed
 *
 * Until spindle_conn_open(), only its state may be read, and spindle_conn_fail() may be called.
 */
void spindle_conn_init(struct spindle_conn *conn)
{
	spin_lock_init(&conn->lock);
	init_waitqueue_head(&conn->wq);
	conn->reason = "not connected yet";
}

/**
 * spindle_conn_queue() - let the work item of a connection run
 * @conn: the connection, opened
 * @ms: delay in milliseconds
 *
 * Context: any.
 */
void spindle_conn_queue(struct spindle_conn *conn, u32 ms)
{
	queue_delayed_work(conn_wq, &conn->work, msecs_to_jiffies(ms));
}

/**
 * spindle_conn_closing() - has spindle_conn_close() begun?
 * @conn: the connection
 *
 * Return: true if so: then all waits of the work item must end
 */
bool spindle_conn_closing(const struct spindle_conn *conn)
{
	return READ_ONCE(conn->closing);
}

/* For each state the states that it may follow; the drawing is in conn.h. */
static const u8 from[] = {
	/* The work item has undone an attempt that did not reach UP. */
	[SPINDLE_CONN_IDLE] = BIT(SPINDLE_CONN_CONNECTING) | BIT(SPINDLE_CONN_SETUP),
	/* One attempt at a time, because each has the queue pair to itself. */
	[SPINDLE_CONN_CONNECTING] = BIT(SPINDLE_CONN_IDLE),
	[SPINDLE_CONN_SETUP] = BIT(SPINDLE_CONN_CONNECTING),
	[SPINDLE_CONN_UP] = BIT(SPINDLE_CONN_SETUP),
	/* Before UP there is nothing to lose, and the work item tries again. */
	[SPINDLE_CONN_FAILED] = BIT(SPINDLE_CONN_UP),
	/* The owner closes a connection in any state, once. */
	[SPINDLE_CONN_CLOSED] = BIT(SPINDLE_CONN_IDLE) | BIT(SPINDLE_CONN_CONNECTING) |
				BIT(SPINDLE_CONN_SETUP) | BIT(SPINDLE_CONN_UP) |
				BIT(SPINDLE_CONN_FAILED),
};

/**
 * spindle_conn_enter() - change the state; no other function does
 * @conn: the connection
 * @to: the new state
 *
 * Context: any.
 * Return: false if the change is not legal, because another context has changed the state first.
 * Then that context does the work that follows
 */
bool spindle_conn_enter(struct spindle_conn *conn, enum spindle_conn_state to)
{
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&conn->lock, flags);
	ok = spindle_may(from, conn->state, to);
	/* Readers do not take the lock. */
	if (ok)
		WRITE_ONCE(conn->state, to);
	/* Queue under the lock, so that a spindle_conn_close() that follows cancels the work. */
	if (ok && to == SPINDLE_CONN_FAILED)
		spindle_conn_queue(conn, 0);
	spin_unlock_irqrestore(&conn->lock, flags);
	return ok;
}

/**
 * spindle_conn_fail() - report that a connection is broken
 * @conn: the connection
 * @reason: why, a constant string
 *
 * A connection that was up is lost, and ops->down() is called once. If the connection was not up
 * yet, its work item tries again.
 *
 * Context: any.
 */
void spindle_conn_fail(struct spindle_conn *conn, const char *reason)
{
	if (spindle_conn_enter(conn, SPINDLE_CONN_FAILED)) {
		WRITE_ONCE(conn->reason, reason);
		conn->cfg.ops->down(conn);
	}
	/* End the wait of the work item for a completion that will not come. */
	if (!READ_ONCE(conn->event_status))
		WRITE_ONCE(conn->event_status, -ECONNRESET);
	wake_up(&conn->wq);
}
