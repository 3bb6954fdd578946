// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the kernel. See ctl-event.h.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include <linux/spindle_genl.h>

#include "ctl.h"
#include "ctl-event.h"
#include "ctl-wire.h"

/* More than any event has. */
#define EVENT_MAX	(64 << 10)

static int find_group(const struct ctl_net *net, const char *what, const char *family,
		      const char *group)
{
	int id = genl_ctrl_resolve_grp(net->sk, family, group);

	if (id < 0)
		ctl_err("%s: the group '%s' of '%s': %s", what, group, family, nl_geterror(id));
	return id;
}

/**
 * ctl_event_join() - listen to the module's events
 * @net: socket, of which nothing else is asked from now on
 * @what: what it is for, for messages
 * @unload: listen for families that come and go, too
 *
 * Return: 0 or less, having told the user
 */
int ctl_event_join(const struct ctl_net *net, const char *what, bool unload)
{
	/* All are found before the first is joined: an event between a question and its
	 * answer would be taken for the answer.
	 */
	int events = find_group(net, what, SPINDLE_GENL_NAME, SPINDLE_GENL_MCGRP);
	int families = unload && events >= 0 ? find_group(net, what, "nlctrl", "notify") : 0;
	int rc;

	if (events < 0 || families < 0)
		return events < 0 ? events : families;
	rc = nl_socket_add_memberships(net->sk, events, families, 0);
	if (rc < 0)
		ctl_err("%s: cannot listen to events: %s", what, nl_geterror(rc));
	return rc;
}

/**
 * ctl_event_recv() - messages that came
 * @net: socket
 * @timeout_ms: how long to wait; -1: for ever
 * @nlh: out: the first of them, until the next call
 *
 * Return: their bytes; 0: none came; -ENOBUFS: some are lost; or another -errno
 */
int ctl_event_recv(const struct ctl_net *net, int timeout_ms, struct nlmsghdr **nlh)
{
	static char buf[EVENT_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct pollfd fd = { .fd = nl_socket_get_fd(net->sk), .events = POLLIN };
	ssize_t got;
	int rc;

	*nlh = (struct nlmsghdr *)buf;
	rc = poll(&fd, 1, timeout_ms);
	if (rc > 0) {
		got = recv(fd.fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (got >= 0)
			return got;
	}
	if (!rc || errno == EINTR || errno == EAGAIN)
		return 0;
	return -errno;
}

/**
 * ctl_event_attrs() - the attributes of an event
 * @net: socket
 * @nlh: message
 * @attrs: out: SPINDLE_A_MAX + 1 attributes
 *
 * Return: whether it is an event
 */
bool ctl_event_attrs(const struct ctl_net *net, struct nlmsghdr *nlh, struct nlattr **attrs)
{
	struct genlmsghdr *genl = nlmsg_data(nlh);

	return nlh->nlmsg_type == net->family && genlmsg_valid_hdr(nlh, 0) &&
	       genl->cmd == SPINDLE_CMD_EVENT &&
	       genlmsg_parse(nlh, 0, attrs, SPINDLE_A_MAX, NULL) >= 0;
}

/* What somebody who waits has to know. */
void ctl_event_get(struct ctl_event *ev, struct nlattr **attrs)
{
	ev->kind = ctl_attr_num(attrs[SPINDLE_A_EVENT]);
	ev->node = ctl_attr_num(attrs[SPINDLE_A_NODE_ID]);
	ev->vid = ctl_attr_num(attrs[SPINDLE_A_VIEW_ID]);
	ev->error = ctl_attr_num(attrs[SPINDLE_A_ERROR]);
	ev->reason = ctl_clean(ctl_attr_str(attrs[SPINDLE_A_REASON]));
}
