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
struct spindle_rules;

/**
 * struct spindle_node_config - configuration of a new node
 * @net: network namespace
 * @id: node id
 * @cluster: name, padded with zeroes
 * @addr: address and port to listen on
 * @visibility: enum spindle_visibility
 * @key: a key, or NULL
 * @key_len: its bytes
 * @idle_us: microseconds of polling before sleep
 * @engine: number of the engine
 * @cpu: CPU of the engine, or SPINDLE_ANY_CPU
 * @rack: number of its rack, or SPINDLE_NO_RACK
 * @check: enum spindle_check
 */
struct spindle_node_config {
	struct net *net;
	u32 id;
	char cluster[SPINDLE_CLUSTER_LEN + 1];
	struct spindle_addr addr;
	u8 visibility;
	const void *key;
	u32 key_len;
	u32 idle_us;
	u32 engine;
	int cpu;
	u16 rack;
	u8 check;
};

/**
 * struct spindle_node - a node
 * @list: in the list of nodes
 * @sn: its namespace, a reference
 * @net: network namespace, a reference unless @dead
 * @id: node id, unique in @net
 * @cluster: name, padded with zeroes
 * @addr: address and port that the node listens on
 * @key: key that peers have to prove that they know
 * @visibility: as configured
 * @imm: guards are only valid after a completion
 * @rack: number of its rack, or SPINDLE_NO_RACK; the namespace's lock
 * @incarnation: differs between two lives of the node
 * @nonce: nonce of the last request
 * @engine: its engine, a reference
 * @served: its part that the engine knows; engine context, but for idle_us
 * @ep: its endpoint
 * @device: name of the RDMA device
 * @dead: the device is gone; @ep is closed
 * @door: door of the live view, or NULL; protected by the lock of @ep
 * @begins: the node is about to begin a live view; protected by the lock of @ep
 * @join: an attempt to join a live view, or NULL
 * @inst: the installed view, or NULL
 * @running: the installed view as the engine sees it
 * @lanes: lanes that are not closed
 * @lanes_run: lanes as the engine sees them
 * @rdmcs: RDMC groups of the node
 * @rdmc_run: RDMC groups as the engine sees them
 * @larges: large messages of subgroups; engine
 * @why: why the node is in no view, or in no live one, although no request asked for that; a
 *	constant string, or @why_text
 * @why_text: a reason with details
 * @lineage: lineage of the last live view with this node, until the view is removed; or none
 * @last_vid: the view of the node when its device was removed, 0: none
 * @payer: account for rows, connections and views
 * @refusals: connection requests that were refused, on both sides
 * @log: limits of log lines
 */
struct spindle_node {
	struct list_head list;
	struct spindle_net *sn;
	struct net *net;
	u32 id;
	char cluster[SPINDLE_CLUSTER_LEN + 1];
	struct spindle_addr addr;
	struct spindle_key key;
	u8 visibility;
	bool imm;
	u16 rack;
	u64 incarnation;
	atomic64_t nonce;
	struct spindle_engine *engine;
	struct spindle_served served;
	struct spindle_endpoint ep;
	char device[IB_DEVICE_NAME_MAX];
	bool dead;
	struct spindle_door *door;
	bool begins;
	struct spindle_join *join;
	struct spindle_installed *inst;
	struct spindle_installed *running;
	struct list_head lanes;
	struct list_head lanes_run;
	struct list_head rdmcs;
	struct list_head rdmc_run;
	struct list_head larges;
	const char *why;
	char why_text[128];
	struct spindle_lineage lineage;
	u64 last_vid;
	struct spindle_payer payer;
	struct spindle_refusals refusals;
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
		       struct netlink_ext_ack *extack);
int spindle_node_set_live(struct spindle_node *node, const struct spindle_view *view,
			  const struct spindle_rules *rules, struct spindle_join_config *cfg,
			  u8 check, struct netlink_ext_ack *extack);
int spindle_node_join(struct spindle_node *node, struct spindle_join_config *cfg,
		      struct netlink_ext_ack *extack);
int spindle_node_forget(struct spindle_node *node);
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
