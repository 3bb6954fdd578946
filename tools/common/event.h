/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of the kernel. */
#ifndef SPINDLE_COMMON_EVENT_H
#define SPINDLE_COMMON_EVENT_H

#include "net.h"

/**
 * struct ctl_event - an event that a command waits for
 */
struct ctl_event {
	/** @kind: enum spindle_event_kind */
	uint64_t kind;
	/** @node: node id */
	uint64_t node;
	/** @vid: view, or 0 */
	uint64_t vid;
	/** @error: enum spindle_error */
	uint64_t error;
	/** @reason: the kernel's text, safe to print, or "" */
	const char *reason;
};

int ctl_event_join(const struct ctl_net *net, const char *what, bool unload);
int ctl_event_recv(const struct ctl_net *net, int timeout_ms, struct nlmsghdr **nlh);
bool ctl_event_attrs(const struct ctl_net *net, struct nlmsghdr *nlh, struct nlattr **attrs);
void ctl_event_get(struct ctl_event *ev, struct nlattr **attrs);

#endif /* SPINDLE_COMMON_EVENT_H */
