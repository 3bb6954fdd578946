// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the kernel. See event.h.
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

#include "event.h"
#include "util.h"
#include "wire.h"

/* Larger than any event. */
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
 * @net: socket; the caller sends no other request on it from now on
 * @what: purpose of the socket, for messages
 * @unload: also listen for families that come and go
 *
 * Return: 0, or a negative error, which has been printed
 */
int ctl_event_join(const struct ctl_net *net, const char *what, bool unload)
{
	/*
	 * Find all groups before joining the first one. Otherwise an event that arrives between a
	 * request and its reply would be taken for the reply.
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
 * ctl_event_recv() - receive messages
 * @net: socket
 * @timeout_ms: how long to wait; -1: without end
 * @nlh: out: the first message; valid until the next call
 *
 * Return: bytes of the messages; 0: none arrived; -ENOBUFS: some are lost; or another -errno
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
 * ctl_event_attrs() - read the attributes of an event
 * @net: socket
 * @nlh: message
 * @attrs: out: SPINDLE_A_MAX + 1 attributes
 *
 * Return: whether the message is an event
 */
bool ctl_event_attrs(const struct ctl_net *net, struct nlmsghdr *nlh, struct nlattr **attrs)
{
	struct genlmsghdr *genl = nlmsg_data(nlh);

	return nlh->nlmsg_type == net->family && genlmsg_valid_hdr(nlh, 0) &&
	       genl->cmd == SPINDLE_CMD_EVENT &&
	       genlmsg_parse(nlh, 0, attrs, SPINDLE_A_MAX, NULL) >= 0;
}

/* Read the part of an event that a waiting command needs. */
void ctl_event_get(struct ctl_event *ev, struct nlattr **attrs)
{
	ev->kind = ctl_attr_num(attrs[SPINDLE_A_EVENT]);
	ev->node = ctl_attr_num(attrs[SPINDLE_A_NODE_ID]);
	ev->vid = ctl_attr_num(attrs[SPINDLE_A_VIEW_ID]);
	ev->error = ctl_attr_num(attrs[SPINDLE_A_ERROR]);
	ev->reason = ctl_clean(ctl_attr_str(attrs[SPINDLE_A_REASON]));
}
