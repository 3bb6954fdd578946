/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for what becomes of a request that is only begun when the kernel has answered it:
 * to join a live view, to leave it, to have somebody else out of it.
 */
#ifndef SPINDLE_CTL_WAIT_H
#define SPINDLE_CTL_WAIT_H

#include "ctl-event.h"
#include "ctl-status.h"

/**
 * enum ctl_wait_for - what is waited for
 * @CTL_WAIT_JOIN: the node is a member
 * @CTL_WAIT_LEAVE: the node is none
 * @CTL_WAIT_EVICT: the node is in a view without the peer
 */
enum ctl_wait_for {
	CTL_WAIT_JOIN,
	CTL_WAIT_LEAVE,
	CTL_WAIT_EVICT
};

/**
 * enum ctl_wait_end - how far it is
 * @CTL_WAIT_MORE: go on
 * @CTL_WAIT_LOOK: the status has to tell
 * @CTL_WAIT_DONE: it is as it was asked for
 * @CTL_WAIT_FAILED: it will never be
 * @CTL_WAIT_TIMEOUT: it took too long
 */
enum ctl_wait_end {
	CTL_WAIT_MORE,
	CTL_WAIT_LOOK,
	CTL_WAIT_DONE,
	CTL_WAIT_FAILED,
	CTL_WAIT_TIMEOUT
};

/**
 * struct ctl_wait - what is waited for
 * @what: what was asked, for messages
 * @how: what is waited for
 * @node: node that was asked
 * @peer: node that is to go
 * @timeout_ms: how long to wait at most
 * @polls: events do not tell all, so the status is asked for
 * @vid: out: the view that it ended with, or 0
 * @reason: out: why it failed
 * @status: out: what was seen last, or NULL
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
 * struct ctl_wait_ops - where news come from
 * @event: the next event; its return value is 1: there is one, 0: none came in time,
 *	-ENOBUFS: some are lost, or another -errno
 * @status: the status of a node, or NULL if there is no such node any more
 * @now_ms: a clock
 * @ctx: for these functions
 */
struct ctl_wait_ops {
	int (*event)(void *ctx, int timeout_ms, struct ctl_event *ev);
	const struct ctl_status *(*status)(void *ctx, uint64_t node);
	uint64_t (*now_ms)(void *ctx);
	void *ctx;
};

enum ctl_wait_end ctl_wait_event(struct ctl_wait *w, const struct ctl_event *ev);
enum ctl_wait_end ctl_wait_status(struct ctl_wait *w, const struct ctl_status *s);
enum ctl_wait_end ctl_wait_run(struct ctl_wait *w, const struct ctl_wait_ops *ops);
int ctl_wait_say(const struct ctl_wait *w, enum ctl_wait_end end);

#endif /* SPINDLE_CTL_WAIT_H */
