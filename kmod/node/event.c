// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: netlink notifications for people and tools. See event.h.
 */
#include <net/genetlink.h>

#include "event.h"
#include "log.h"
#include "node.h"

static struct genl_family *family __ro_after_init;

/**
 * spindle_event_init() - name the family that events go to
 * @to: the family, which is registered before there is a node
 *
 * Context: module init.
 */
void __init spindle_event_init(struct genl_family *to)
{
	family = to;
}

static int fill_subgroup(struct sk_buff *skb, const struct spindle_view_subgroup *cfg)
{
	if (nla_put_u32(skb, SPINDLE_A_SUBGROUP_ID, cfg->id))
		return -EMSGSIZE;
	return cfg->name[0] ? nla_put_string(skb, SPINDLE_A_SUBGROUP_NAME, cfg->name) : 0;
}

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
	if (info->subgroup && fill_subgroup(skb, info->subgroup))
		return -EMSGSIZE;
	if (info->has_lsn && nla_put_u64_64bit(skb, SPINDLE_A_LSN, info->lsn, SPINDLE_A_PAD))
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
 * spindle_event() - report an event to listeners and to the kernel log
 * @node: node of the event
 * @event: kind of event
 * @info: details
 */
void spindle_event(struct spindle_node *node, enum spindle_event_kind event,
		   const struct spindle_event_info *info)
{
	struct sk_buff *skb;
	void *hdr;

	spindle_log_event(node, event, info);
	if (!genl_has_listeners(family, node->net, 0))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb) {
		/* Listeners must learn that an event is lost, as when their socket is full. */
		genl_set_err(family, node->net, 0, 0, -ENOBUFS);
		return;
	}
	hdr = genlmsg_put(skb, 0, 0, family, 0, SPINDLE_CMD_EVENT);
	if (!hdr || fill(skb, node, event, info)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(family, node->net, skb, 0, 0, GFP_ATOMIC);
}
