/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Above: what node/ asks of the folders that use it.
 *
 * A node carries an installed view. It knows neither how membership is agreed on (live/) nor how
 * blocks move between nodes (bulk/). Each of the two has one table here. main.c registers both
 * before there is a node, and they never change.
 */
#ifndef SPINDLE_NODE_ABOVE_H
#define SPINDLE_NODE_ABOVE_H

#include <linux/socket.h>
#include <linux/types.h>

struct spindle_conn;
struct spindle_door;
struct spindle_endpoint;
struct spindle_hello;
struct spindle_installed;
struct spindle_join;
struct spindle_key;
struct spindle_large;
struct spindle_lineage;
struct spindle_live;
struct spindle_mg_ops;
struct spindle_node;
struct spindle_peer;
struct spindle_reject;
struct spindle_rules;
struct spindle_subgroup;
struct spindle_view;

/**
 * struct spindle_membership_ops - the membership of live views
 *
 * Context: process with the namespace's lock, where nothing else is said.
 */
struct spindle_membership_ops {
	/** @mg: what core/group asks of a live view; only connected, guest, made, begun and told */
	const struct spindle_mg_ops *mg;
	/** @create: make @inst->live; -ENOMEM leaves what was made, for @destroy */
	int (*create)(struct spindle_installed *inst, const struct spindle_rules *rules,
		      const struct spindle_lineage *lineage);
	/** @destroy: the mirror; NULL is fine. The engine does not run the view any more */
	void (*destroy)(struct spindle_live *live);
	/** @begin: the first view is there; returns 0 or -errno */
	int (*begin)(struct spindle_live *live, const struct spindle_view *view);
	/** @bow_out: the view stops: leave its members behind in good order. May sleep */
	void (*bow_out)(struct spindle_live *live);
	/** @cancel: the node does not join any more. May sleep */
	void (*cancel)(struct spindle_join *join);
	/** @state: enum spindle_live_state */
	u8 (*state)(const struct spindle_live *live);
	/** @pass: one pass of membership; engine. Returns true if there was work */
	bool (*pass)(struct spindle_live *live, u32 how);
	/** @due: nanoseconds until the next pass is needed, U64_MAX: never; engine */
	u64 (*due)(const struct spindle_live *live);
	/** @lost: the connection to a peer broke; engine */
	void (*lost)(struct spindle_live *live, struct spindle_peer *peer);
	/** @ready: what the own node block tells a peer about membership; engine */
	u64 (*ready)(const struct spindle_live *live, const struct spindle_peer *peer);
	/** @leave: the node has to leave the view, because its log stands still; engine */
	void (*leave)(struct spindle_live *live);
	/** @unread: the last reader of a subgroup has gone; engine */
	void (*unread)(struct spindle_live *live, u32 subgroup);
	/**
	 * @answer: a stranger asks at the door. Under the endpoint's lock, as are the two below.
	 * Returns enum spindle_refusal
	 */
	u32 (*answer)(const struct spindle_door *door, struct spindle_key *key,
		      const struct spindle_hello *hello, struct spindle_reject *reject);
	/** @knock: a node asks to be let in. Returns enum spindle_refusal */
	u32 (*knock)(struct spindle_door *door, const struct spindle_hello *hello,
		     const struct sockaddr_storage *from);
	/** @other: has the node of a hello another lineage or era? Returns enum spindle_refusal */
	u32 (*other)(const struct spindle_door *door, const struct spindle_hello *hello);
};

/**
 * struct spindle_transfer_ops - blocks between nodes, and what is made of them
 *
 * Context: process with the namespace's lock, where nothing else is said.
 */
struct spindle_transfer_ops {
	/**
	 * @create: make @sg->large and @sg->streams, if the configuration has large messages; 0 or
	 * -ENOMEM
	 */
	int (*create)(struct spindle_subgroup *sg, const struct spindle_view *view);
	/** @destroy: the mirror; NULL is fine */
	void (*destroy)(struct spindle_large *large);
	/** @open: make the lanes of a subgroup's large messages; 0 or -ENOMEM */
	int (*open)(struct spindle_large *large, const struct spindle_view *view,
		    struct spindle_peer *const *peer);
	/** @drop: a node leaves its view: all its RDMC groups end, and all its lanes. May sleep */
	void (*drop)(struct spindle_node *node);
	/**
	 * @match: which lane is a connection request for? Under the endpoint's lock. Returns enum
	 * spindle_refusal
	 */
	u32 (*match)(struct spindle_endpoint *ep, const struct spindle_hello *hello,
		     const struct sockaddr_storage *from, struct spindle_conn **found);
	/**
	 * @pass: a pass over the lanes and RDMC groups of a node; engine. Returns true if there was
	 * work
	 */
	bool (*pass)(struct spindle_node *node);
	/** @due: nanoseconds until the next pass is needed, U64_MAX: never; engine */
	u64 (*due)(const struct spindle_node *node);
	/** @arm: the engine goes to sleep: returns true if something has come already; engine */
	bool (*arm)(struct spindle_node *node);
	/** @lost: a static view has lost a member; engine */
	void (*lost)(struct spindle_node *node, u32 id);
};

extern const struct spindle_membership_ops *spindle_membership;
extern const struct spindle_transfer_ops *spindle_transfer;

void spindle_above_init(const struct spindle_membership_ops *membership,
			const struct spindle_transfer_ops *transfer);

#endif /* SPINDLE_NODE_ABOVE_H */
