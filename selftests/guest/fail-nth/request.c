// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to the module by netlink.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "nth.h"
#include "request.h"
#include "tap.h"

struct nl_req request;

void put_addr(struct nl_req *r, int addr, int port, uint32_t id)
{
	uint32_t ip = inet_addr("10.0.0.1");
	uint16_t p = 5000 + id;

	nl_put(r, addr, &ip, sizeof(ip));
	nl_put(r, port, &p, sizeof(p));
}

static void view_request(struct nl *nl, struct nl_req *r, const struct view *v, uint32_t node,
			 uint64_t vid)
{
	const struct subgroup *sg;
	uint32_t i;

	nl_begin(nl, r, SPINDLE_CMD_VIEW_SET, 0);
	nl_put_u32(r, SPINDLE_A_NODE_ID, node);
	nl_put(r, SPINDLE_A_VIEW_ID, &vid, sizeof(vid));
	for (i = 0; i < 32; i++) {
		if (!(v->members & 1U << i))
			continue;
		nl_nest(r, SPINDLE_A_MEMBER)->nla_type |= NLA_F_NESTED;
		nl_put_u32(r, SPINDLE_MEMBER_A_ID, i);
		put_addr(r, SPINDLE_MEMBER_A_ADDR4, SPINDLE_MEMBER_A_PORT, i);
		nl_nest_end(r);
	}
	for (sg = v->sg; sg < v->sg + ARRAY_SIZE(v->sg) && sg->id; sg++) {
		uint32_t members = sg->members ? sg->members : v->members;
		uint32_t senders = sg->senders ? sg->senders : members;

		nl_nest(r, SPINDLE_A_SUBGROUP)->nla_type |= NLA_F_NESTED;
		nl_put_u32(r, SPINDLE_SUBGROUP_A_ID, sg->id);
		nl_put(r, SPINDLE_SUBGROUP_A_MODE, &sg->mode, 1);
		nl_put_u32(r, SPINDLE_SUBGROUP_A_WINDOW, sg->window);
		nl_put_u32(r, SPINDLE_SUBGROUP_A_MAX_MSG, sg->max_msg);
		nl_put_u32(r, SPINDLE_SUBGROUP_A_RING, sg->ring);
		for (i = 0; i < 32; i++) {
			uint8_t sends = !!(senders & 1U << i);

			if (!(members & 1U << i))
				continue;
			nl_nest(r, SPINDLE_SUBGROUP_A_NODE)->nla_type |= NLA_F_NESTED;
			nl_put_u32(r, SPINDLE_SUBGROUP_NODE_A_ID, i);
			nl_put(r, SPINDLE_SUBGROUP_NODE_A_SENDER, &sends, 1);
			nl_nest_end(r);
		}
		nl_nest_end(r);
	}
}

int talk_for(struct nl *nl, struct nl_req *r, int (*fn)(void *ctx, const struct nlmsghdr *nlh),
	     void *ctx)
{
	struct nl_ack ack;
	int err;

	arm();
	err = nl_talk(nl, r, &ack, fn, ctx);
	disarm();
	return err ? err : ack.err;
}

int talk(struct nl *nl, struct nl_req *r)
{
	return talk_for(nl, r, NULL, NULL);
}

void begin(struct nl *nl)
{
	int err = nl_open(nl);

	if (err)
		die("cannot open a socket: %s", strerror(-err));
}

void begin_for(struct nl *nl, int cmd, uint32_t node)
{
	begin(nl);
	nl_begin(nl, &request, cmd, 0);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, node);
}

int finish(struct nl *nl)
{
	int err = talk(nl, &request);

	close(nl->fd);
	return err;
}

void simple(int cmd, uint32_t node)
{
	unsigned int n = nth;
	struct nl nl;
	int err;

	nth = 0;
	begin_for(&nl, cmd, node);
	err = finish(&nl);
	nth = n;
	if (err)
		die("node %u cannot be undone: %s", node, strerror(-err));
}

int set_view(const struct view *v, uint32_t node, uint64_t vid)
{
	struct nl nl;

	begin(&nl);
	view_request(&nl, &request, v, node, vid);
	return finish(&nl);
}
