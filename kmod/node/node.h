/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes: endpoints of the protocol. A kernel may have several.
 *
 * Ownership: the lock of the namespace (base/net.h) protects the list of nodes, their configuration
 * and their installed views. The engine owns the protocol state of an installed view.
 */
#ifndef SPINDLE_NODE_NODE_H
#define SPINDLE_NODE_NODE_H

#include <linux/list.h>

#include "base/engine.h"
#include "base/key.h"
#include "base/net.h"
#include "core/membership/card.h"
#include "fabric/endpoint.h"
#include "log.h"
#include "payer.h"
#include "refusal.h"

struct spindle_door;
struct spindle_engine;
struct spindle_installed;
struct spindle_join;
struct spindle_join_config;
struct spindle_ranges;
struct spindle_rules;

/**
 * struct spindle_node_config - configuration of a new node
 */
struct spindle_node_config {
	/** @net: network namespace */
	struct net *net;
	/** @id: node id */
	u32 id;
	/** @cluster: name, padded with zeroes */
	char cluster[SPINDLE_CLUSTER_LEN + 1];
	/** @addr: address and port to listen on */
	struct spindle_addr addr;
	/** @visibility: enum spindle_visibility */
	u8 visibility;
	/** @key: a key, or NULL */
	const void *key;
	/** @key_len: its bytes */
	u32 key_len;
	/** @idle_us: microseconds of polling before sleep */
	u32 idle_us;
	/** @engine: number of the engine */
	u32 engine;
	/** @cpu: CPU of the engine, or SPINDLE_ANY_CPU */
	int cpu;
	/** @rack: number of its rack, or SPINDLE_NO_RACK */
	u16 rack;
	/** @check: enum spindle_check */
	u8 check;
};

/**
 * struct spindle_node - a node
 */
struct spindle_node {
	/** @list: in the list of nodes */
	struct list_head list;
	/** @sn: its namespace, a reference */
	struct spindle_net *sn;
	/** @net: network namespace, a reference unless @dead */
	struct net *net;
	/** @id: node id, unique in @net */
	u32 id;
	/** @cluster: name, padded with zeroes */
	char cluster[SPINDLE_CLUSTER_LEN + 1];
	/** @addr: address and port that the node listens on */
	struct spindle_addr addr;
	/** @key: key that peers have to prove that they know */
	struct spindle_key key;
	/** @visibility: as configured */
	u8 visibility;
	/** @imm: guards are only valid after a completion */
	bool imm;
	/** @rack: number of its rack, or SPINDLE_NO_RACK; the namespace's lock */
	u16 rack;
	/** @incarnation: differs between two lives of the node */
	u64 incarnation;
	/** @nonce: nonce of the last request */
	atomic64_t nonce;
	/** @engine: its engine, a reference */
	struct spindle_engine *engine;
	/** @served: its part that the engine knows; engine context, but for idle_us */
	struct spindle_served served;
	/** @ep: its endpoint */
	struct spindle_endpoint ep;
	/** @device: name of the RDMA device */
	char device[IB_DEVICE_NAME_MAX];
	/** @dead: the device is gone; @ep is closed */
	bool dead;
	/** @door: door of the live view, or NULL; protected by the lock of @ep */
	struct spindle_door *door;
	/** @begins: the node is about to begin a live view; protected by the lock of @ep */
	bool begins;
	/** @join: an attempt to join a live view, or NULL */
	struct spindle_join *join;
	/** @inst: the installed view, or NULL */
	struct spindle_installed *inst;
	/** @running: the installed view as the engine sees it */
	struct spindle_installed *running;
	/** @lanes: lanes that are not closed */
	struct list_head lanes;
	/** @lanes_run: lanes as the engine sees them */
	struct list_head lanes_run;
	/** @rdmcs: RDMC groups of the node */
	struct list_head rdmcs;
	/** @rdmc_run: RDMC groups as the engine sees them */
	struct list_head rdmc_run;
	/** @larges: large messages of subgroups; engine */
	struct list_head larges;
	/** @fetches: fetches of tables; engine */
	struct list_head fetches;
	/**
	 * @why: why the node is in no view, or in no live one, although no request asked for that;
	 * a constant string, or @why_text
	 */
	const char *why;
	/** @why_text: a reason with details */
	char why_text[128];
	/**
	 * @lineage: lineage of the last live view with this node, until the view is removed; or
	 * none
	 */
	struct spindle_lineage lineage;
	/** @last_vid: the view of the node when its device was removed, 0: none */
	u64 last_vid;
	/** @payer: account for rows, connections and views */
	struct spindle_payer payer;
	/** @refusals: connection requests that were refused, on both sides */
	struct spindle_refusals refusals;
	/** @log: limits of log lines */
	struct spindle_log log;
};

struct netlink_ext_ack;

int spindle_node_add(const struct spindle_node_config *cfg, struct netlink_ext_ack *extack);
void spindle_node_del(struct spindle_node *node);
int spindle_node_check_view(const struct spindle_node *node, const struct spindle_view *view,
			    struct netlink_ext_ack *extack);
void spindle_node_install(struct spindle_node *node, struct spindle_installed *inst);
int spindle_node_set_view(struct spindle_node *node, const struct spindle_view *view, u8 check,
			  struct netlink_ext_ack *extack);
void spindle_node_del_view(struct spindle_node *node);
void spindle_node_drop_view(struct spindle_node *node);
int spindle_node_begin(struct spindle_node *node, const struct spindle_view *view,
		       const struct spindle_rules *rules, struct spindle_lineage *lineage,
		       const struct spindle_ranges *ranges, struct netlink_ext_ack *extack);
int spindle_node_set_live(struct spindle_node *node, const struct spindle_view *view,
			  const struct spindle_rules *rules, struct spindle_join_config *cfg,
			  u8 check, struct netlink_ext_ack *extack);
int spindle_node_join(struct spindle_node *node, struct spindle_join_config *cfg,
		      struct netlink_ext_ack *extack);
int spindle_node_forget(struct spindle_node *node);
struct spindle_live *spindle_node_live(const struct spindle_node *node,
				       struct netlink_ext_ack *extack);
int spindle_node_leave(struct spindle_node *node, struct netlink_ext_ack *extack);
int spindle_node_evict(struct spindle_node *node, u32 id, struct netlink_ext_ack *extack);
void spindle_node_device_removed(struct ib_device *ib);
void spindle_node_net_gone(struct spindle_net *sn);

/* list.c */
struct spindle_node *spindle_node_find(const struct spindle_net *sn, u32 id);
struct spindle_node *spindle_node_next(const struct spindle_net *sn, u32 id);
u32 spindle_nodes_count(const struct spindle_net *sn);
void spindle_nodes_add(struct spindle_node *node);

/* pass.c */
extern const struct spindle_served_ops spindle_node_served;

#endif /* SPINDLE_NODE_NODE_H */
