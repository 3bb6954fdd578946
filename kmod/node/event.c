// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: what happened, for people and tools, over netlink. See event.h.
 */
#include "event.h"
#include "log.h"
#include "netlink.h"
#include "node.h"

static int fill(struct sk_buff *skb, const struct spindle_node *node,
		enum spindle_event_kind event, const struct spindle_event_info *info)
{
	if (nla_put_u8(skb, SPINDLE_A_EVENT, event) ||
	    nla_put_u32(skb, SPINDLE_A_NODE_ID, node->id))
		return -EMSGSIZE;
	if (info->vid && nla_put_u64_64bit(skb, SPINDLE_A_VIEW_ID, info->vid, SPINDLE_A_PAD))
		return -EMSGSIZE;
	if (info->peer && nla_put_u32(skb, SPINDLE_A_PEER_ID, info->peer))
		return -EMSGSIZE;
	if (info->has_subgroup && nla_put_u32(skb, SPINDLE_A_SUBGROUP_ID, info->subgroup))
		return -EMSGSIZE;
	if (info->error && nla_put_u32(skb, SPINDLE_A_ERROR, info->error))
		return -EMSGSIZE;
	if (info->rdmc && nla_put_u64_64bit(skb, SPINDLE_A_RDMC_ID, info->rdmc, SPINDLE_A_PAD))
		return -EMSGSIZE;
	if (info->rdmc_error && nla_put_u32(skb, SPINDLE_A_RDMC_ERROR, info->rdmc_error))
		return -EMSGSIZE;
	if (info->reason && nla_put_string(skb, SPINDLE_A_REASON, info->reason))
		return -EMSGSIZE;
	return 0;
}

/**
 * spindle_event() - tell listeners, and the kernel log
 * @node: node that it happened to
 * @event: what
 * @info: details
 */
void spindle_event(struct spindle_node *node, enum spindle_event_kind event,
		   const struct spindle_event_info *info)
{
	struct sk_buff *skb;
	void *hdr;

	spindle_log_event(node, event, info);
	if (!genl_has_listeners(&spindle_family, node->net, 0))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb) {
		/* As when a socket is full: who listens has to know that one is lost. */
		genl_set_err(&spindle_family, node->net, 0, 0, -ENOBUFS);
		return;
	}
	hdr = genlmsg_put(skb, 0, 0, &spindle_family, 0, SPINDLE_CMD_EVENT);
	if (!hdr || fill(skb, node, event, info)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&spindle_family, node->net, skb, 0, 0, GFP_ATOMIC);
}
