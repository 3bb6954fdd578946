// SPDX-License-Identifier: GPL-2.0-only
/*
 * Group broadcast of TIPC: reliable, in order of each sender, in no order between senders.
 *
 * Messages go out and come in by sendmmsg() and recvmmsg(), which cost least. With -b 1 each
 * message takes a system call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/tipc.h>

#include "peer.h"

/* Any number that is not reserved. */
#define GROUP	4711

static struct mmsghdr out[PEER_BATCH];
static struct iovec out_vec[PEER_BATCH];
static struct mmsghdr in[PEER_BATCH];
static struct iovec in_vec[PEER_BATCH];

static int tipc_join(struct peer *p)
{
	struct tipc_group_req req = {
		.type = GROUP,
		.instance = p->me,
		.scope = TIPC_CLUSTER_SCOPE,
		/* Deliver to the sender, too, because the other systems do so. */
		.flags = TIPC_GROUP_LOOPBACK | TIPC_GROUP_MEMBER_EVTS,
	};
	unsigned int i;

	for (i = 0; i < PEER_BATCH; i++) {
		in_vec[i].iov_len = PEER_SIZE_MAX;
		in_vec[i].iov_base = malloc(PEER_SIZE_MAX);
		if (!in_vec[i].iov_base)
			return peer_say(p, "no memory");
		in[i].msg_hdr.msg_iov = &in_vec[i];
		in[i].msg_hdr.msg_iovlen = 1;
		out[i].msg_hdr.msg_iov = &out_vec[i];
		out[i].msg_hdr.msg_iovlen = 1;
	}
	p->fd = socket(AF_TIPC, SOCK_RDM | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return peer_say(p, "no TIPC: %s", strerror(errno));
	if (setsockopt(p->fd, SOL_TIPC, TIPC_GROUP_JOIN, &req, sizeof(req)))
		return peer_say(p, "cannot join: %s", strerror(errno));
	p->present = 1;
	return 0;
}

/* A message without an address goes to the whole group. */
static int tipc_send(struct peer *p, unsigned int most)
{
	unsigned int i;
	int n;

	for (i = 0; i < most; i++) {
		out_vec[i].iov_base = peer_fill(p, i);
		out_vec[i].iov_len = p->conf->size;
	}
	n = sendmmsg(p->fd, out, most, MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return peer_say(p, "cannot send: %s", strerror(errno));
	p->blocked = n < (int)most;
	return n < 0 ? 0 : n;
}

static int tipc_receive(struct peer *p, unsigned int most)
{
	int i, n = recvmmsg(p->fd, in, most, MSG_DONTWAIT, NULL);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return peer_say(p, "cannot receive: %s", strerror(errno));
	for (i = 0; i < n; i++) {
		/* A member has joined or left. */
		if (in[i].msg_hdr.msg_flags & MSG_OOB)
			p->present += in[i].msg_hdr.msg_flags & MSG_EOR ? -1 : 1;
		else
			peer_take(p, in_vec[i].iov_base, in[i].msg_len);
		in[i].msg_hdr.msg_flags = 0;
	}
	return n < 0 ? 0 : n;
}

int main(int argc, char **argv)
{
	static const struct peer_link link = {
		.name = "tipc",
		.tells_room = true,
		.join = tipc_join,
		.send = tipc_send,
		.receive = tipc_receive,
	};

	return peer_main(argc, argv, &link);
}
