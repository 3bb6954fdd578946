// SPDX-License-Identifier: GPL-2.0-only
/*
 * Closed process groups of Corosync: messages in one order, by a rotating token.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include <corosync/cpg.h>

#include "peer.h"

/* The daemon runs, but may not be ready yet. */
#define TRIES		100
#define TRY_NS		100000000

static cpg_handle_t handle;
static struct peer *self;
static unsigned int taken;

static void deliver(cpg_handle_t h, const struct cpg_name *group, uint32_t node, uint32_t pid,
		    void *msg, size_t len)
{
	(void)h;
	(void)group;
	(void)node;
	(void)pid;
	taken++;
	peer_take(self, msg, len);
}

static void change(cpg_handle_t h, const struct cpg_name *group,
		   const struct cpg_address *member, size_t members,
		   const struct cpg_address *left, size_t lefts,
		   const struct cpg_address *joined, size_t joineds)
{
	(void)h;
	(void)group;
	(void)member;
	(void)left;
	(void)lefts;
	(void)joined;
	(void)joineds;
	taken++;
	self->present = members;
}

static int cpg_peer_join(struct peer *p)
{
	cpg_callbacks_t calls = { .cpg_deliver_fn = deliver, .cpg_confchg_fn = change };
	struct cpg_name group = { .length = 5, .value = "bench" };
	struct timespec ts = { 0, TRY_NS };
	unsigned int tries = TRIES;
	cs_error_t err;

	self = p;
	while ((err = cpg_initialize(&handle, &calls)) == CS_ERR_TRY_AGAIN && tries--)
		nanosleep(&ts, NULL);
	if (err != CS_OK)
		return peer_say(p, "no Corosync: %s", cs_strerror(err));
	while ((err = cpg_join(handle, &group)) == CS_ERR_TRY_AGAIN && tries--)
		nanosleep(&ts, NULL);
	if (err == CS_OK)
		err = cpg_fd_get(handle, &p->fd);
	return err == CS_OK ? 0 : peer_say(p, "cannot join: %s", cs_strerror(err));
}

static int cpg_peer_send(struct peer *p, unsigned int most)
{
	struct iovec vec = { .iov_len = p->conf->size };
	unsigned int n;
	cs_error_t err;

	/* Fill one message at a time, because each may have to wait. */
	for (n = 0; n < most; n++) {
		vec.iov_base = peer_fill(p, n);
		err = cpg_mcast_joined(handle, CPG_TYPE_AGREED, &vec, 1);
		if (err == CS_ERR_TRY_AGAIN) {
			p->blocked = true;
			break;
		}
		if (err != CS_OK)
			return peer_say(p, "cannot send: %s", cs_strerror(err));
	}
	return n;
}

static int cpg_peer_receive(struct peer *p, unsigned int most)
{
	unsigned int before;
	cs_error_t err;

	taken = 0;
	while (taken < most) {
		before = taken;
		err = cpg_dispatch(handle, CS_DISPATCH_ONE_NONBLOCKING);
		if (err != CS_OK && err != CS_ERR_TRY_AGAIN)
			return peer_say(p, "cannot receive: %s", cs_strerror(err));
		if (taken == before)
			break;
	}
	return taken;
}

int main(int argc, char **argv)
{
	static const struct peer_link link = {
		.name = "cpg",
		.join = cpg_peer_join,
		.send = cpg_peer_send,
		.receive = cpg_peer_receive,
	};

	return peer_main(argc, argv, &link);
}
