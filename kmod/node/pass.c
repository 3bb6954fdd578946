// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes: what the engine does for a node. See node.h and base/engine.h.
 *
 * Context: engine, all of it.
 */
#include <linux/ktime.h>

#include "above.h"
#include "attachment.h"
#include "fabric/post.h"
#include "fetch.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"

static struct spindle_node *node_of(struct spindle_served *served)
{
	return container_of(served, struct spindle_node, served);
}

static bool fetch_rows(const struct spindle_node *node)
{
	struct spindle_fetches *all;
	bool work = false;
	u64 now;

	if (list_empty(&node->fetches))
		return false;
	now = ktime_get_ns();
	list_for_each_entry(all, &node->fetches, run)
		work |= spindle_fetches_pass(all, now);
	return work;
}

static bool pass(struct spindle_served *served, u32 how)
{
	struct spindle_node *node = node_of(served);
	bool work = fetch_rows(node);

	spindle_engine_assert(node->engine);
	work |= node->running && spindle_installed_pass(node->running, how);
	return spindle_transfer->pass(node) || work;
}

/*
 * Can the engine sleep without polling this node? This polls for completions. While a signalled
 * write is outstanding, it may end in an error that raises no event. A reader that consumes nothing
 * raises no event either.
 */
static bool settled(struct spindle_served *served)
{
	struct spindle_node *node = node_of(served);
	struct spindle_installed *inst = node->running;
	const struct spindle_fetches *fetches;
	struct spindle_subgroup *sg;
	struct spindle_peer *peer;
	bool all = true;
	u32 i;

	spindle_engine_assert(node->engine);
	list_for_each_entry(fetches, &node->fetches, run)
		all &= spindle_fetches_settled(fetches);
	if (!inst)
		return all;
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++) {
		if (!spindle_peer_joined(peer))
			continue;
		spindle_post_poll(&peer->conn);
		all &= spindle_post_idle(&peer->conn);
	}
	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		all &= !spindle_subgroup_watch(sg);
	return all;
}

static u64 fetches_due(const struct spindle_node *node)
{
	const struct spindle_fetches *all;
	u64 ns = U64_MAX;

	list_for_each_entry(all, &node->fetches, run)
		ns = min(ns, spindle_fetches_due(all, ktime_get_ns()));
	return ns;
}

static u64 due(struct spindle_served *served)
{
	struct spindle_node *node = node_of(served);
	const struct spindle_installed *inst = node->running;
	u64 ns = inst && inst->live ? spindle_membership->due(inst->live) : U64_MAX;

	spindle_engine_assert(node->engine);
	return min3(ns, spindle_transfer->due(node), fetches_due(node));
}

static bool announce(struct spindle_served *served, bool sleep)
{
	struct spindle_node *node = node_of(served);
	struct spindle_installed *inst = node->running;
	struct spindle_attachment *att;
	struct spindle_subgroup *sg;
	struct spindle_peer *peer;
	bool ok = !sleep || !spindle_transfer->arm(node);
	u32 i;

	spindle_engine_assert(node->engine);
	if (!inst)
		return ok;
	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		list_for_each_entry(att, &sg->attachments, link)
			WRITE_ONCE(att->ctl->need_wakeup, sleep);
	if (!sleep)
		return ok;
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		ok &= spindle_peer_sleep(peer);
	return ok;
}

const struct spindle_served_ops spindle_node_served = {
	.pass = pass,
	.settled = settled,
	.due = due,
	.announce = announce,
};
