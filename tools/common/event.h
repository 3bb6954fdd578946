/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of the kernel. */
#ifndef SPINDLE_COMMON_EVENT_H
#define SPINDLE_COMMON_EVENT_H

#include "net.h"

/**
 * struct ctl_event - an event that a command waits for
 * @kind: enum spindle_event_kind
 * @node: node id
 * @vid: view, or 0
 * @error: enum spindle_error
 * @reason: the kernel's text, safe to print, or ""
 */
struct ctl_event {
	uint64_t kind;
	uint64_t node;
	uint64_t vid;
	uint64_t error;
	const char *reason;
};

int ctl_event_join(const struct ctl_net *net, const char *what, bool unload);
int ctl_event_recv(const struct ctl_net *net, int timeout_ms, struct nlmsghdr **nlh);
bool ctl_event_attrs(const struct ctl_net *net, struct nlmsghdr *nlh, struct nlattr **attrs);
void ctl_event_get(struct ctl_event *ev, struct nlattr **attrs);

#endif /* SPINDLE_COMMON_EVENT_H */
