// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes: requests to begin, join and leave a live view. See node/node.h.
 *
 * Context: process, the namespace's lock.
 */
#include <linux/netlink.h>
#include <linux/slab.h>

#include "base/engine.h"
#include "base/extack.h"
#include "core/base/ranges.h"
#include "join.h"
#include "live.h"
#include "node/event.h"
#include "node/installed.h"
#include "node/node.h"

/* Is the node free for another live view? A live view that has stopped does not count. */
static int check_free(const struct spindle_node *node, struct netlink_ext_ack *extack)
{
	if (node->dead)
		return spindle_deny(extack, NULL, -ENODEV, "the node's RDMA device is gone");
	if (node->join)
		return spindle_deny(extack, NULL, -EBUSY,
				    "the node is already joining a live view");
	if (node->inst && !node->inst->live)
		return spindle_deny(extack, NULL, -EBUSY,
				    "the node is in a static view: remove that first (view del)");
	if (node->inst && node->inst->live->mb.state != SPINDLE_MB_STOPPED)
		return spindle_deny(extack, NULL, -EBUSY,
				    "the node is in a live view already: leave it first");
	return 0;
}

/*
 * Without a key any host that reaches the port can join, so the request has to confirm that. One
 * check is enough, because a node never loses its key, and never gets one later.
 */
static int check_key(const struct spindle_node *node, const struct spindle_join_config *cfg,
		     struct netlink_ext_ack *extack)
{
	if (cfg->insecure && spindle_key_given(&node->key)) {
		NL_SET_ERR_MSG(extack, "the node has a key: do not say insecure");
		return -EINVAL;
	}
	if (cfg->insecure || spindle_key_given(&node->key))
		return 0;
	NL_SET_ERR_MSG(extack,
		       "the node has no key: add it with one (key-file), or say insecure, and any host can join");
	return -ENOKEY;
}

/* Check the memory for a view: build all of it, and free it again. */
static int check_room(struct spindle_node *node, const struct spindle_view *view,
		      const struct spindle_rules *rules, struct netlink_ext_ack *extack)
{
	const struct spindle_lineage none = {};
	struct spindle_installed *inst = spindle_installed_create(node, view, rules, &none,
								 NULL);

	if (!inst)
		return spindle_deny(extack, NULL, -ENOMEM,
				    "not enough memory for the rows of this view, or row_mib");
	spindle_installed_free(inst);
	return 0;
}

static int check_contacts(const struct spindle_node *node, const struct spindle_join_config *cfg,
			  struct netlink_ext_ack *extack)
{
	u32 i, k;

	for (i = 0; i < cfg->contacts; i++) {
		if (cfg->contact[i].family != node->addr.family)
			return spindle_deny(extack, NULL, -EINVAL,
					    "the contact's address is of another family");
		if (!memcmp(&cfg->contact[i], &node->addr, sizeof(node->addr)))
			return spindle_deny(extack, NULL, -EINVAL,
					    "the contact is the node itself");
		for (k = 0; k < i; k++) {
			if (memcmp(&cfg->contact[i], &cfg->contact[k], sizeof(*cfg->contact)))
				continue;
			return spindle_deny(extack, NULL, -EINVAL, "a contact is given twice");
		}
	}
	return 0;
}

static int start_join(struct spindle_node *node, const struct spindle_join_config *cfg)
{
	struct spindle_join *join = spindle_join_start(node, cfg);

	if (!join)
		return -ENOMEM;
	spindle_node_drop_view(node);
	node->why = NULL;
	spindle_payer_set(&node->payer);
	node->join = join;
	node->sn->generation++;
	spindle_log_join(node, cfg->contact, cfg->contacts, cfg->view);
	return 0;
}

/* Did the node begin with this view? */
static bool began_with(const struct spindle_node *node, const struct spindle_view *view,
		       const struct spindle_rules *rules, const struct spindle_join_config *cfg)
{
	const struct spindle_live *live = node->inst ? node->inst->live : NULL;
	const struct spindle_lineage none = {}, *lineage = &cfg->lineage;

	if (!live || live->mb.state == SPINDLE_MB_STOPPED ||
	    live->first != spindle_ranges_digest(spindle_live_digest(view, rules, &none),
						 cfg->ranges))
		return false;
	return !spindle_lineage_given(lineage) ||
	       !memcmp(lineage, &live->lineage, sizeof(*lineage));
}

/**
 * spindle_node_set_live() - begin a live view, or ask contacts first
 * @node: the node
 * @view: checked, by @rules; the node is a member
 * @rules: checked
 * @cfg: contacts to ask before, if there are any, and the lineage and range of the view, or none
 * @check: enum spindle_check
 * @extack: for the reason of an error
 *
 * Return: 0 or -errno
 */
int spindle_node_set_live(struct spindle_node *node, const struct spindle_view *view,
			  const struct spindle_rules *rules, struct spindle_join_config *cfg,
			  u8 check, struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&node->sn->lock);
	err = spindle_node_check_view(node, view, extack);
	if (!err)
		err = check_key(node, cfg, extack);
	if (err)
		return err;
	/* The same request again changes nothing, even if later views have been installed. */
	if (began_with(node, view, rules, cfg))
		return 0;
	err = check_free(node, extack);
	if (!err)
		err = check_contacts(node, cfg, extack);
	if (err)
		return err;
	if (check)
		return check_room(node, view, rules, extack);
	if (!cfg->contacts)
		return spindle_node_begin(node, view, rules, &cfg->lineage, cfg->ranges, extack);
	cfg->view = view;
	cfg->rules = rules;
	return start_join(node, cfg);
}

/* A node may join any lineage if it has left on request. Otherwise it keeps its last lineage. */
static void find_lineage(const struct spindle_node *node, struct spindle_lineage *lineage)
{
	const struct spindle_live *live = node->inst ? node->inst->live : NULL;

	if (spindle_lineage_given(lineage) || (live && live->mb.reason == SPINDLE_MB_LEFT))
		return;
	*lineage = node->lineage;
}

/**
 * spindle_node_join() - begin to join a live view
 * @node: the node
 * @cfg: contacts, and the lineage that the view must have; none: that of the node's last view
 * @extack: for the reason of an error
 *
 * Return: 0 or -errno
 */
int spindle_node_join(struct spindle_node *node, struct spindle_join_config *cfg,
		      struct netlink_ext_ack *extack)
{
	int err = check_free(node, extack);

	lockdep_assert_held(&node->sn->lock);
	if (!err)
		err = check_contacts(node, cfg, extack);
	if (!err)
		err = check_key(node, cfg, extack);
	if (err)
		return err;
	find_lineage(node, &cfg->lineage);
	err = start_join(node, cfg);
	if (!err)
		spindle_log_insecure(node);
	return err;
}

/**
 * spindle_node_forget() - remove the view, and forget its lineage
 * @node: the node
 *
 * Return: 0, or -ENOENT if there is nothing to forget
 */
int spindle_node_forget(struct spindle_node *node)
{
	lockdep_assert_held(&node->sn->lock);
	if (!node->inst && !node->join && !spindle_lineage_given(&node->lineage))
		return -ENOENT;
	spindle_node_del_view(node);
	node->lineage = (struct spindle_lineage){};
	return 0;
}

/* Can the rules be met without this member? */
static bool met_without(const struct spindle_live *live, u32 rank)
{
	const struct spindle_view *view = &live->inst->view;
	struct spindle_view *next = kvzalloc(sizeof(*next), GFP_KERNEL);
	bool met = false;
	u32 i;

	if (!next)
		return false;
	next->vid = view->vid + 1;
	for (i = 0; i < view->num_members; i++)
		if (i != rank)
			next->member[next->num_members++] = view->member[i];
	spindle_rules_apply(&live->rules, view, next);
	/* If a subgroup lacks members even now, keeping this member does not help. */
	met = spindle_rules_lacking(&live->rules, next) < 0 ||
	      spindle_rules_lacking(&live->rules, view) >= 0;
	kvfree(next);
	return met;
}

/**
 * spindle_node_live() - the live view that a node is a member of
 * @node: the node
 * @extack: for the reason if there is none
 *
 * Return: the live view, or NULL
 */
struct spindle_live *spindle_node_live(const struct spindle_node *node,
				       struct netlink_ext_ack *extack)
{
	struct spindle_live *live = node->inst ? node->inst->live : NULL;

	lockdep_assert_held(&node->sn->lock);
	if (live && live->mb.state < SPINDLE_MB_STOPPED)
		return live;
	NL_SET_ERR_MSG(extack, "the node is in no live view");
	return NULL;
}

static void leave_view_fn(void *ctx)
{
	struct spindle_live *live = ctx;

	spindle_mb_leave(&live->mb);
}

/**
 * spindle_node_leave() - begin to leave the live view, or give up a join
 * @node: the node
 * @extack: for the reason of an error
 *
 * Return: 0 or -errno
 */
int spindle_node_leave(struct spindle_node *node, struct netlink_ext_ack *extack)
{
	struct spindle_live *live;

	lockdep_assert_held(&node->sn->lock);
	if (node->join) {
		spindle_node_del_view(node);
		spindle_event(node, SPINDLE_EVENT_JOIN_FAILED,
			      &(struct spindle_event_info){ .reason = "the join was cancelled" });
		return 0;
	}
	live = spindle_node_live(node, extack);
	if (!live)
		return -ENOENT;
	if (live->mb.leave)
		return spindle_deny(extack, NULL, -EALREADY, "the node is already leaving");
	if (live->inst->view.num_members > 1 && !met_without(live, live->inst->mg.me))
		return spindle_deny(extack, NULL, -EBUSY,
				    "without this node a subgroup would have too few members");
	spindle_engine_call(node->engine, leave_view_fn, live);
	return 0;
}

struct evict {
	struct spindle_live *live;
	u32 rank;
};

static void evict_fn(void *ctx)
{
	struct evict *evict = ctx;

	spindle_mb_suspect(&evict->live->mb, evict->rank, SPINDLE_MB_ADMIN);
}

/**
 * spindle_node_evict() - remove a member from the live view
 * @node: the node
 * @id: id of the member
 * @extack: for the reason of an error
 *
 * Return: 0 or -errno
 */
int spindle_node_evict(struct spindle_node *node, u32 id, struct netlink_ext_ack *extack)
{
	struct evict evict;
	u32 members;
	int rank;

	lockdep_assert_held(&node->sn->lock);
	if (id == node->id)
		return spindle_deny(extack, NULL, -EINVAL,
				    "a node does not evict itself: let it leave");
	evict.live = spindle_node_live(node, extack);
	if (!evict.live)
		return -ENOENT;
	members = node->inst->view.num_members;
	rank = spindle_view_rank(&node->inst->view, id);
	if (rank < 0)
		return spindle_deny(extack, NULL, -ENOENT, "no member of the view has this id");
	if (evict.live->rules.quorum && 2 * (members - 1) <= members)
		return spindle_deny(extack, NULL, -EBUSY,
				    "without this member there is no majority: let it leave");
	if (!met_without(evict.live, rank))
		return spindle_deny(extack, NULL, -EBUSY,
				    "without this member a subgroup would have too few members");
	evict.rank = rank;
	spindle_engine_call(node->engine, evict_fn, &evict);
	return 0;
}
