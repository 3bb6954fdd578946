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
 */
enum ctl_wait_for {
	/** @CTL_WAIT_JOIN: the node is a member */
	CTL_WAIT_JOIN,
	/** @CTL_WAIT_LEAVE: the node is not a member */
	CTL_WAIT_LEAVE,
	/** @CTL_WAIT_EVICT: the node is in a view without the peer */
	CTL_WAIT_EVICT
};

/**
 * enum ctl_wait_end - progress of a wait
 */
enum ctl_wait_end {
	/** @CTL_WAIT_MORE: continue to wait */
	CTL_WAIT_MORE,
	/** @CTL_WAIT_LOOK: the status has to decide */
	CTL_WAIT_LOOK,
	/** @CTL_WAIT_DONE: the requested result is there */
	CTL_WAIT_DONE,
	/** @CTL_WAIT_FAILED: the requested result cannot come any more */
	CTL_WAIT_FAILED,
	/** @CTL_WAIT_TIMEOUT: the time is over */
	CTL_WAIT_TIMEOUT
};

/**
 * struct ctl_wait - a wait for a result
 */
struct ctl_wait {
	/** @what: what was requested, for messages */
	const char *what;
	/** @how: the result to wait for */
	enum ctl_wait_for how;
	/** @node: node that got the request */
	uint64_t node;
	/** @peer: node that is to be evicted */
	uint64_t peer;
	/** @timeout_ms: longest time to wait */
	uint64_t timeout_ms;
	/** @polls: events are not sufficient, so the status is requested as well */
	bool polls;
	/** @vid: out: the view with which the wait ended, or 0 */
	uint64_t vid;
	/** @reason: out: why the request failed */
	const char *reason;
	/** @status: out: the last status, or NULL */
	const struct ctl_status *status;
};

/**
 * struct ctl_wait_ops - the source of events and status
 */
struct ctl_wait_ops {
	/**
	 * @event: waits for the next event; returns 1: there is one, 0: none came in time,
	 * -ENOBUFS: some are lost, or another -errno
	 */
	/** @ctx: argument for these functions */
	int (*event)(void *ctx, int timeout_ms, struct ctl_event *ev);
	/** @status: returns the status of a node, or NULL if there is no such node any more */
	const struct ctl_status *(*status)(void *ctx, uint64_t node);
	/** @now_ms: returns the time */
	uint64_t (*now_ms)(void *ctx);
	void *ctx;
};

enum ctl_wait_end ctl_wait_run(struct ctl_wait *w, const struct ctl_wait_ops *ops);
int ctl_wait_say(const struct ctl_wait *w, enum ctl_wait_end end);

#endif /* SPINDLE_CTL_WAIT_H */
