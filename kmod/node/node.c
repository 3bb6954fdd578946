// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes: endpoints of the protocol. See node.h.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "above.h"
#include "attachment.h"
#include "base/addr.h"
#include "base/engine.h"
#include "base/extack.h"
#include "event.h"
#include "fabric/device.h"
#include "fabric/post.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"

static void add_node_fn(void *ctx)
{
	struct spindle_node *node = ctx;

	list_add_tail(&node->served.link, &node->engine->served);
}

static void remove_node_fn(void *ctx)
{
	struct spindle_node *node = ctx;

	list_del(&node->served.link);
}

static bool visibility_imm(const struct spindle_node *node)
{
	if (node->visibility == SPINDLE_VISIBILITY_AUTO)
		return !spindle_device_ordered(node->ep.ib);
	return node->visibility == SPINDLE_VISIBILITY_IMM;
}

static int check_device(struct ib_device *ib, struct netlink_ext_ack *extack)
{
	int err;

	if (!spindle_device_usable(ib))
		return spindle_deny(extack, NULL, -ENODEV, "the RDMA device is being removed");
	if (!spindle_device_capable(ib))
		return spindle_deny(extack, NULL, -EOPNOTSUPP,
				    "the RDMA device is not IB or RoCE, or registers less than 512 KiB");
	err = spindle_device_coherent(ib);
	if (err == -EOPNOTSUPP)
		return spindle_deny(extack, NULL, err,
				    "the RDMA device accesses copies of memory (swiotlb)");
	return err;
}

static int open_endpoint(struct spindle_node *node, struct netlink_ext_ack *extack)
{
	struct sockaddr_storage addr;
	int err;

	spindle_sockaddr(&addr, &node->addr);
	err = spindle_endpoint_open(&node->ep, node->net, &spindle_peer_endpoint_ops,
				    (struct sockaddr *)&addr);
	switch (err) {
	case 0:
		break;
	case -EADDRINUSE:
		NL_SET_ERR_MSG(extack, "the address and port are in use");
		return err;
	case -EADDRNOTAVAIL:
	case -ENODEV:
		NL_SET_ERR_MSG(extack, "the address belongs to no RDMA device of this host");
		return err;
	default:
		NL_SET_ERR_MSG(extack, "cannot listen on the address");
		return err;
	}
	err = check_device(node->ep.ib, extack);
	if (err)
		spindle_endpoint_close(&node->ep);
	return err;
}

/*
 * End a check: undo open_endpoint(), and return its error. With CHECK_ALONE an address in use is
 * no error, because the node that uses the address will be removed first.
 */
static int only_checked(struct spindle_node *node, u8 check, int err,
			struct netlink_ext_ack *extack)
{
	if (!err)
		spindle_endpoint_close(&node->ep);
	if (err != -EADDRINUSE || check != SPINDLE_CHECK_ALONE)
		return err;
	extack->_msg = NULL;
	return 0;
}

/* With CHECK_ALONE existing nodes do not count, because they will be removed first. */
static int check_new(const struct spindle_net *sn, const struct spindle_node_config *cfg,
		     struct netlink_ext_ack *extack)
{
	if (cfg->check == SPINDLE_CHECK_ALONE)
		return 0;
	if (spindle_node_find(sn, cfg->id))
		return spindle_deny(extack, NULL, -EEXIST, "a node with this id exists");
	if (spindle_nodes_count(sn) >= SPINDLE_MAX_NET_NODES)
		return spindle_deny(extack, NULL, -ENOSPC,
				    "a network namespace has 256 nodes at most");
	return 0;
}

/**
 * spindle_node_add() - create a node, or check whether it could be created
 * @cfg: configuration; ranges are checked
 * @extack: for the reason of an error
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -errno
 */
int spindle_node_add(const struct spindle_node_config *cfg, struct netlink_ext_ack *extack)
{
	struct spindle_net *sn = spindle_net_of(cfg->net);
	struct spindle_node *node;
	int err;

	lockdep_assert_held(&sn->lock);
	err = check_new(sn, cfg, extack);
	if (err)
		return err;
	/* A node holds the module, so it has to be removed before the module. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	node = kzalloc(sizeof(*node), GFP_KERNEL_ACCOUNT);
	if (!node) {
		err = -ENOMEM;
		goto err_module;
	}
	spindle_net_hold(sn);
	node->sn = sn;
	node->net = get_net(cfg->net);
	node->id = cfg->id;
	memcpy(node->cluster, cfg->cluster, sizeof(node->cluster));
	node->addr = cfg->addr;
	node->visibility = cfg->visibility;
	node->served.ops = &spindle_node_served;
	node->served.idle_us = cfg->idle_us;
	node->rack = cfg->rack;
	INIT_LIST_HEAD(&node->lanes);
	INIT_LIST_HEAD(&node->lanes_run);
	INIT_LIST_HEAD(&node->rdmcs);
	INIT_LIST_HEAD(&node->rdmc_run);
	INIT_LIST_HEAD(&node->larges);
	INIT_LIST_HEAD(&node->fetches);
	node->incarnation = get_random_u64();
	/* Random, so that an answer to a former life of the node does not fit this one. */
	atomic64_set(&node->nonce, get_random_u64() >> 1);
	spindle_key_init(&node->key);
	spindle_payer_set(&node->payer);
	spindle_refusals_init(&node->refusals);
	spindle_log_init(&node->log);
	err = cfg->key ? spindle_key_set(&node->key, cfg->key, cfg->key_len) : 0;
	if (err) {
		if (err == -ENOENT)
			NL_SET_ERR_MSG(extack, "the kernel has no hmac(sha256), which a key needs");
		goto err_free;
	}
	node->engine = spindle_engine_get(sn, cfg->engine, cfg->check == SPINDLE_CHECK_ALONE ?
					  SPINDLE_ANY_CPU : cfg->cpu);
	if (IS_ERR(node->engine)) {
		err = PTR_ERR(node->engine);
		if (err == -EINVAL)
			NL_SET_ERR_MSG(extack, "the engine runs already, on another CPU");
		goto err_free;
	}
	err = open_endpoint(node, extack);
	if (cfg->check)
		err = only_checked(node, cfg->check, err, extack);
	if (err || cfg->check)
		goto err_engine;
	node->imm = visibility_imm(node);
	strscpy(node->device, dev_name(&node->ep.ib->dev), sizeof(node->device));
	spindle_nodes_add(node);
	spindle_engine_call(node->engine, add_node_fn, node);
	node->sn->generation++;
	spindle_event(node, SPINDLE_EVENT_NODE_ADD, &(struct spindle_event_info){});
	return 0;

err_engine:
	spindle_engine_put(node->engine);
err_free:
	spindle_key_free(&node->key);
	spindle_payer_put(&node->payer);
	put_net(node->net);
	spindle_net_put(sn);
	kfree(node);
err_module:
	module_put(THIS_MODULE);
	return err;
}

/* Remove the installed view, which is stopped. */
static void drop_installed(struct spindle_node *node, u32 error)
{
	struct spindle_event_info info = { .error = error, .vid = node->inst->view.vid };

	spindle_transfer->drop(node);
	spindle_installed_remove(node->inst);
	node->inst = NULL;
	node->sn->generation++;
	spindle_event(node, SPINDLE_EVENT_VIEW_REMOVE, &info);
}

/**
 * spindle_node_drop_view() - remove the installed view
 * @node: the node
 *
 * A join goes on, even if the view belongs to it.
 *
 * Context: process, the namespace's lock.
 */
void spindle_node_drop_view(struct spindle_node *node)
{
	lockdep_assert_held(&node->sn->lock);
	if (!node->inst)
		return;
	spindle_installed_stop(node->inst, SPINDLE_ERR_VIEW_GONE);
	drop_installed(node, SPINDLE_ERR_VIEW_GONE);
}

static void remove_installed(struct spindle_node *node)
{
	if (node->join)
		spindle_membership->cancel(node->join);
	spindle_node_drop_view(node);
}

/**
 * spindle_node_del() - remove a node, its view and everything that belongs to them
 * @node: the node
 *
 * Context: process, the namespace's lock.
 */
void spindle_node_del(struct spindle_node *node)
{
	lockdep_assert_held(&node->sn->lock);
	remove_installed(node);
	spindle_engine_call(node->engine, remove_node_fn, node);
	if (!node->dead)
		spindle_endpoint_close(&node->ep);
	list_del(&node->list);
	spindle_event(node, SPINDLE_EVENT_NODE_DEL, &(struct spindle_event_info){});
	node->sn->generation++;
	spindle_engine_put(node->engine);
	if (!node->dead)
		put_net(node->net);
	spindle_net_put(node->sn);
	spindle_key_free(&node->key);
	spindle_payer_put(&node->payer);
	kfree(node);
	module_put(THIS_MODULE);
}

/*
 * Device removal has three steps over all nodes. All views stop before any node closes its
 * connections, because peers on the same device would report these as lost.
 */
static void end_joins(struct spindle_net *sn, struct ib_device *ib)
{
	struct spindle_node *node;

	list_for_each_entry(node, &sn->nodes, list) {
		if (node->dead || node->ep.ib != ib)
			continue;
		node->why = node->join ? "the RDMA device was removed while the node joined" :
					 "the RDMA device was removed";
		if (node->inst)
			node->last_vid = node->inst->view.vid;
		if (node->join)
			spindle_membership->cancel(node->join);
	}
}

static void stop_installed(struct spindle_net *sn, struct ib_device *ib)
{
	struct spindle_node *node;

	list_for_each_entry(node, &sn->nodes, list)
		if (!node->dead && node->ep.ib == ib && node->inst)
			spindle_installed_stop(node->inst, SPINDLE_ERR_DEVICE_GONE);
}

static void close_nodes(struct spindle_net *sn, struct ib_device *ib)
{
	struct spindle_node *node;

	list_for_each_entry(node, &sn->nodes, list) {
		if (node->dead || node->ep.ib != ib)
			continue;
		if (node->inst)
			drop_installed(node, SPINDLE_ERR_DEVICE_GONE);
		spindle_endpoint_close(&node->ep);
		node->dead = true;
		sn->generation++;
		spindle_event(node, SPINDLE_EVENT_NODE_DEAD, &(struct spindle_event_info){
			.error = SPINDLE_ERR_DEVICE_GONE,
		});
		put_net(node->net);
	}
}

/**
 * spindle_node_device_removed() - remove everything from an RDMA device that goes
 * @ib: the device
 *
 * The nodes stay in state dead, so that people see what happened. Attachments see FAILED. A dead
 * node does not hold its namespace, so it goes when the namespace ends.
 *
 * Context: process, from the ib_client.
 */
void spindle_node_device_removed(struct ib_device *ib)
{
	spindle_net_lock_all();
	spindle_net_each(end_joins, ib);
	spindle_net_each(stop_installed, ib);
	spindle_net_each(close_nodes, ib);
	spindle_net_unlock_all();
}

/**
 * spindle_node_net_gone() - remove the nodes of a namespace that ends
 * @sn: the namespace; only dead nodes are left, because other nodes hold the namespace
 *
 * Context: process, the namespace's lock.
 */
void spindle_node_net_gone(struct spindle_net *sn)
{
	struct spindle_node *node;

	lockdep_assert_held(&sn->lock);
	while ((node = spindle_node_next(sn, 0)))
		spindle_node_del(node);
}

/**
 * spindle_node_check_view() - can this node be in a view?
 * @node: the node
 * @view: the view
 * @extack: for the reason of an error
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -errno
 */
int spindle_node_check_view(const struct spindle_node *node, const struct spindle_view *view,
			    struct netlink_ext_ack *extack)
{
	int rank = spindle_view_rank(view, node->id);

	lockdep_assert_held(&node->sn->lock);
	if (rank < 0)
		return spindle_deny(extack, NULL, -EINVAL, "the node is not a member of the view");
	if (memcmp(&view->member[rank].addr, &node->addr, sizeof(node->addr)))
		return spindle_deny(extack, NULL, -EINVAL,
				    "the view has another address or port for this node");
	if (node->dead)
		return spindle_deny(extack, NULL, -ENODEV, "the node's RDMA device is gone");
	return 0;
}

/**
 * spindle_node_install() - install a view that is built
 * @node: the node; its former view has been removed
 * @inst: built
 *
 * Context: process, the namespace's lock.
 */
void spindle_node_install(struct spindle_node *node, struct spindle_installed *inst)
{
	lockdep_assert_held(&node->sn->lock);
	node->inst = inst;
	node->why = NULL;
	node->sn->generation++;
	/* Report this first, because other events may follow from the start. */
	spindle_event(node, SPINDLE_EVENT_VIEW_INSTALL, &(struct spindle_event_info){
		.vid = inst->view.vid,
		.view = &inst->view,
	});
	spindle_installed_start(inst);
}

/**
 * spindle_node_set_view() - install a view
 * @node: the node
 * @view: checked
 * @check: enum spindle_check
 * @extack: for the reason of an error
 *
 * The new view is built before the old one is removed, so that a refusal changes nothing.
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -errno
 */
int spindle_node_set_view(struct spindle_node *node, const struct spindle_view *view, u8 check,
			  struct netlink_ext_ack *extack)
{
	struct spindle_installed *inst;
	int err = spindle_node_check_view(node, view, extack);

	lockdep_assert_held(&node->sn->lock);
	if (err)
		return err;
	if (node->join || (node->inst && node->inst->live))
		return spindle_deny(extack, NULL, -EBUSY,
				    "the node is in a live view: leave it, or remove it first");
	if (node->inst && view->vid < node->inst->view.vid)
		return spindle_deny(extack, NULL, -ESTALE, "a view with a higher id is installed");
	if (node->inst && view->vid == node->inst->view.vid) {
		if (!memcmp(view, &node->inst->view, sizeof(*view)))
			return 0;
		NL_SET_ERR_MSG(extack,
			       "another view with this id is installed: choose a higher id");
		return -EEXIST;
	}
	if (!check)
		spindle_payer_set(&node->payer);
	inst = spindle_installed_create(node, view, NULL, NULL, NULL);
	if (!inst)
		return spindle_deny(extack, NULL, -ENOMEM,
				    "not enough memory for the rows of this view, or row_mib");
	if (check) {
		spindle_installed_free(inst);
		return 0;
	}
	remove_installed(node);
	spindle_node_install(node, inst);
	return 0;
}

/**
 * spindle_node_del_view() - remove the installed view
 * @node: the node
 *
 * Context: process, the namespace's lock.
 */
void spindle_node_del_view(struct spindle_node *node)
{
	lockdep_assert_held(&node->sn->lock);
	remove_installed(node);
}
