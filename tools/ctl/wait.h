/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for the result of a request that the kernel answers when the change has only begun: to
 * join a live view, to leave it, to evict another member, or to change the subgroups.
 */
#ifndef SPINDLE_CTL_WAIT_H
#define SPINDLE_CTL_WAIT_H

#include "common/event.h"
#include "common/status.h"
#include "common/wire.h"

/* How long a command waits, in seconds, if it is not told. */
#define CTL_WAIT_DEF_S	30

/* The key for that time. */
extern const struct ctl_key ctl_timeout_key;

/**
 * enum ctl_wait_for - the result to wait for
 */
enum ctl_wait_for {
	/** @CTL_WAIT_JOIN: the node is a member */
	CTL_WAIT_JOIN,
	/** @CTL_WAIT_LEAVE: the node is not a member */
	CTL_WAIT_LEAVE,
	/** @CTL_WAIT_EVICT: the node is in a view without the peer */
	CTL_WAIT_EVICT,
	/** @CTL_WAIT_CHANGE: the view has the subgroups that were asked for */
	CTL_WAIT_CHANGE
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
	/** @view: the view that has the subgroups of @change, as the user gave it */
	const struct ctl_view *view;
	/** @change: changes of subgroups */
	const struct ctl_change *change;
	/** @changes: entries of @change */
	unsigned int changes;
	/** @timeout_ms: longest time to wait */
	uint64_t timeout_ms;
	/** @net: socket for requests */
	struct ctl_net net;
	/** @events: socket that listens */
	struct ctl_net events;
	/** @nlh: next event that was not read */
	struct nlmsghdr *nlh;
	/** @len: bytes that are left from @nlh */
	int len;
	/** @polls: events are not sufficient, so the status is requested as well */
	bool polls;
	/** @vid: out: the view with which the wait ended, or 0 */
	uint64_t vid;
	/** @reason: out: why the request failed */
	const char *reason;
	/** @status: out: the last status, or NULL */
	const struct ctl_status *status;
};

int ctl_wait_ask(struct ctl_wait *w, struct ctl_req *req);
int ctl_wait_command(struct ctl_wait *w, struct ctl_req *req, bool wait);

#endif /* SPINDLE_CTL_WAIT_H */
