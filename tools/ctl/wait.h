/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for the result of a request that the kernel answers when the change has only begun: to
 * join a live view, to leave it, or to evict another member.
 */
#ifndef SPINDLE_CTL_WAIT_H
#define SPINDLE_CTL_WAIT_H

#include "common/event.h"
#include "common/status.h"

/**
 * enum ctl_wait_for - the result to wait for
 * @CTL_WAIT_JOIN: the node is a member
 * @CTL_WAIT_LEAVE: the node is not a member
 * @CTL_WAIT_EVICT: the node is in a view without the peer
 */
enum ctl_wait_for {
	CTL_WAIT_JOIN,
	CTL_WAIT_LEAVE,
	CTL_WAIT_EVICT
};

/**
 * enum ctl_wait_end - progress of a wait
 * @CTL_WAIT_MORE: continue to wait
 * @CTL_WAIT_LOOK: the status has to decide
 * @CTL_WAIT_DONE: the requested result is there
 * @CTL_WAIT_FAILED: the requested result cannot come any more
 * @CTL_WAIT_TIMEOUT: the time is over
 */
enum ctl_wait_end {
	CTL_WAIT_MORE,
	CTL_WAIT_LOOK,
	CTL_WAIT_DONE,
	CTL_WAIT_FAILED,
	CTL_WAIT_TIMEOUT
};

/**
 * struct ctl_wait - a wait for a result
 * @what: what was requested, for messages
 * @how: the result to wait for
 * @node: node that got the request
 * @peer: node that is to be evicted
 * @timeout_ms: longest time to wait
 * @polls: events are not sufficient, so the status is requested as well
 * @vid: out: the view with which the wait ended, or 0
 * @reason: out: why the request failed
 * @status: out: the last status, or NULL
 */
struct ctl_wait {
	const char *what;
	enum ctl_wait_for how;
	uint64_t node;
	uint64_t peer;
	uint64_t timeout_ms;
	bool polls;
	uint64_t vid;
	const char *reason;
	const struct ctl_status *status;
};

/**
 * struct ctl_wait_ops - the source of events and status
 * @event: waits for the next event; returns 1: there is one, 0: none came in time, -ENOBUFS: some
 *	are lost, or another -errno
 * @status: returns the status of a node, or NULL if there is no such node any more
 * @now_ms: returns the time
 * @ctx: argument for these functions
 */
struct ctl_wait_ops {
	int (*event)(void *ctx, int timeout_ms, struct ctl_event *ev);
	const struct ctl_status *(*status)(void *ctx, uint64_t node);
	uint64_t (*now_ms)(void *ctx);
	void *ctx;
};

enum ctl_wait_end ctl_wait_run(struct ctl_wait *w, const struct ctl_wait_ops *ops);
int ctl_wait_say(const struct ctl_wait *w, enum ctl_wait_end end);

#endif /* SPINDLE_CTL_WAIT_H */
