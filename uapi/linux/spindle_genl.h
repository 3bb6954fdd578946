/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR MIT */
/*
 * Spindle: generic netlink family "spindle".
 *
 * Do not edit: Documentation/netlink/generate makes this file from
 * Documentation/netlink/spindle.yaml.
 *
 * Configuration of nodes, views and subgroups of Spindle, atomic multicast over RDMA. Addresses
 * are in network byte order, all other numbers in host byte order.
 *
 * Requests that change something need CAP_NET_ADMIN in the user namespace that owns the network
 * namespace. A refused request changes nothing, and its extended acknowledgment carries a text
 * and the offset of the offending attribute. An attribute that is "reply only" is in replies and
 * notifications; a request with such an attribute is refused.
 */
#ifndef _UAPI_LINUX_SPINDLE_GENL_H
#define _UAPI_LINUX_SPINDLE_GENL_H

#define SPINDLE_GENL_NAME		"spindle"
#define SPINDLE_GENL_VERSION		1
#define SPINDLE_GENL_MCGRP		"events"

#define SPINDLE_CLUSTER_LEN		23	/* characters of a cluster name */
#define SPINDLE_NAME_LEN		64	/* characters of a subgroup name */
#define SPINDLE_FIELDS_LEN		255	/* characters of the fields of a table */
#define SPINDLE_DEF_CLUSTER		"spindle"	/* default of CLUSTER */
#define SPINDLE_DEF_PORT		4790	/* default of PORT */
#define SPINDLE_DEF_IDLE_US		50	/* default of IDLE_US */
#define SPINDLE_DEF_WINDOW		128	/* default of WINDOW */
#define SPINDLE_DEF_SPARE_RING		1048576	/* default of SPARE_RING */
#define SPINDLE_DEF_CELL		64	/* default of CELL */
#define SPINDLE_DEF_MAX_MSG		10240	/* default of MAX_MSG */
#define SPINDLE_MAX_IDLE_US		1000000	/* largest IDLE_US */
#define SPINDLE_MAX_ENGINE		1023	/* largest ENGINE */
#define SPINDLE_MAX_NET_NODES		256	/* nodes of a network namespace */
#define SPINDLE_NO_RACK			65535	/* default of RACK: a rack of its own */
#define SPINDLE_DEF_TIMEOUT_MS		500	/* default of TIMEOUT_MS */
#define SPINDLE_MIN_TIMEOUT_MS		20	/* smallest TIMEOUT_MS */
#define SPINDLE_MAX_TIMEOUT_MS		60000	/* largest TIMEOUT_MS */
#define SPINDLE_DEF_MAX_NODES		16	/* default of MAX_NODES */
#define SPINDLE_MAX_WITNESSES		4	/* named members that are in no subgroup */
#define SPINDLE_MAX_KEY			64	/* bytes of the longest group key */
#define SPINDLE_MIN_KEY			16	/* bytes of the shortest group key */
#define SPINDLE_LINEAGE_LEN		16	/* bytes of a lineage */
#define SPINDLE_MAX_CONTACTS		64	/* contacts of a request */
#define SPINDLE_HIST_BUCKETS		17	/* entries of a histogram of batch sizes */
#define SPINDLE_DEF_SEND_BUDGET		512	/* default of SEND_BUDGET */
#define SPINDLE_DEF_RECV_BUDGET		65536	/* default of RECV_BUDGET */
#define SPINDLE_DEF_DLV_BUDGET		2048	/* default of DLV_BUDGET */
#define SPINDLE_MAX_BUDGET		65536	/* largest budget */
#define SPINDLE_DEF_SILENCE		1024	/* default of SILENCE */
#define SPINDLE_MAX_SILENCE		1048576	/* largest SILENCE */
/* default of LARGE; only a subgroup with a larger MAX_MSG has messages that go by RDMC */
#define SPINDLE_DEF_LARGE		262144
#define SPINDLE_MIN_LARGE		4096	/* smallest LARGE */
#define SPINDLE_MAX_LARGE		1048576	/* largest LARGE */
#define SPINDLE_MAX_STALL_MS		3600000	/* largest STALL_MS */
#define SPINDLE_DEF_LOG_STALL_MS	5000	/* default of LOG_STALL_MS */
/* bytes of the history that a subgroup with logs begins with, or more for long messages */
#define SPINDLE_DEF_LOG_HISTORY		16777216
#define SPINDLE_MIN_HISTORY		65536	/* bytes of the smallest history */
#define SPINDLE_MAX_HISTORY		1073741824	/* largest HISTORY */
#define SPINDLE_RAW_MAX_COUNT		1000000	/* largest COUNT of a measurement */
#define SPINDLE_MAX_RANGE		15	/* attributes RANGE of a subgroup */

/**
 * enum spindle_cmd - requests, replies and notifications
 */
enum spindle_cmd {
	/** @SPINDLE_CMD_UNSPEC: never used */
	SPINDLE_CMD_UNSPEC,
	/**
	 * @SPINDLE_CMD_NODE_ADD: create a node: NODE_ID, ADDR4 or ADDR6; optional CLUSTER, PORT,
	 * VISIBILITY, IDLE_US, ENGINE, CPU, KEY, RACK, CHECK. EEXIST if the id is taken in this
	 * network namespace, ENOSPC if it has 256 nodes, EADDRINUSE, EADDRNOTAVAIL, ENODEV (the
	 * address belongs to no RDMA device)
	 */
	SPINDLE_CMD_NODE_ADD,
	/** @SPINDLE_CMD_NODE_DEL: remove a node and its view: NODE_ID */
	SPINDLE_CMD_NODE_DEL,
	/** @SPINDLE_CMD_NODE_GET: one node (NODE_ID) or, as a dump, all of this namespace */
	SPINDLE_CMD_NODE_GET,
	/**
	 * @SPINDLE_CMD_VIEW_SET: install a view on a node: NODE_ID, VIEW_ID, MEMBER (several),
	 * SUBGROUP (several). The same view again is a success without effect; the same id with
	 * other content is EEXIST; a lower id is ESTALE; a higher one replaces the view. The
	 * addresses of a view are all IPv4 or all IPv6. With LIVE the view is the first of a series
	 * that changes by itself as members come and go; EBUSY while the node is in another series.
	 * The view begins at once, so this command always creates a new group. With CONTACT
	 * (several) the node first asks each contact once. If a contact is in a live view of the
	 * cluster, or is about to begin one, the view does not begin, and SPINDLE_EVENT_JOIN_FAILED
	 * names the contact. Optional LINEAGE, CHECK. A node without a key needs INSECURE, else
	 * ENOKEY
	 */
	SPINDLE_CMD_VIEW_SET,
	/**
	 * @SPINDLE_CMD_VIEW_DEL: remove a node's view, give up a join, and forget the lineage of
	 * the last live view: NODE_ID. ENOENT if the node has none of these
	 */
	SPINDLE_CMD_VIEW_DEL,
	/**
	 * @SPINDLE_CMD_VIEW_GET: the view of one node, or of all (dump; NODE_ID filters). A live
	 * view also has LIVE as it was given, RULE of each subgroup, and INSECURE if it was given
	 */
	SPINDLE_CMD_VIEW_GET,
	/**
	 * @SPINDLE_CMD_SUBGROUP_GET: subgroups with state and counters, one message each (dump;
	 * NODE_ID, SUBGROUP_ID and SUBGROUP_NAME filter)
	 */
	SPINDLE_CMD_SUBGROUP_GET,
	/**
	 * @SPINDLE_CMD_STATS_GET: a node with the counters of its engine and of each PEER (dump;
	 * NODE_ID filters). If the node has refused a peer, also the last refusal: REASON, and
	 * PEER_ID as the peer gave it, 0 if it gave none
	 */
	SPINDLE_CMD_STATS_GET,
	/**
	 * @SPINDLE_CMD_EVENT: notification: EVENT, NODE_ID and those that apply of VIEW_ID,
	 * SUBGROUP_ID, SUBGROUP_NAME, PEER_ID, LSN, ERROR, REASON, RDMC_ID, RDMC_ERROR
	 */
	SPINDLE_CMD_EVENT,
	/**
	 * @SPINDLE_CMD_NODE_SET: change a node while it runs: NODE_ID; optional IDLE_US, TIMING,
	 * RACK, KEY, FORMER_KEY. A new RACK applies to RDMC groups that are created afterwards
	 */
	SPINDLE_CMD_NODE_SET,
	/**
	 * @SPINDLE_CMD_SUBGROUP_SET: tune a node's end of a subgroup while it runs, until the view
	 * is replaced: NODE_ID, SUBGROUP_ID or SUBGROUP_NAME, TUNE. EBUSY if PACKED is to change
	 * while a sender is attached; EOPNOTSUPP for a table
	 */
	SPINDLE_CMD_SUBGROUP_SET,
	/**
	 * @SPINDLE_CMD_RAW_RUN: measure the speed of the device itself, with writes into the node's
	 * idle ring at the other members, or with reads of their rows: NODE_ID, SUBGROUP_ID or
	 * SUBGROUP_NAME, RAW; the reply has RAW. The engine does nothing else during the
	 * measurement, so a request takes 0.1 s at most, and COUNT of the reply says how many
	 * writes to each member, round trips, or reads of each row, it had time for. EPERM if the
	 * node is no sender of the subgroup. EBUSY if the subgroup is not active, a sender is
	 * attached, or rows are being read. EOPNOTSUPP for a ping-pong with a node of another
	 * kernel or engine, and for reads in what is no table of mode read. EAGAIN if the device
	 * cannot read all rows yet. ENOTCONN if a member is lost during the measurement, ETIMEDOUT
	 * if the device does not answer
	 */
	SPINDLE_CMD_RAW_RUN,
	/**
	 * @SPINDLE_CMD_NODE_JOIN: join the live view that a member, the contact, is in: NODE_ID,
	 * CONTACT (1 to 64), or for a single contact ADDR4 or ADDR6 and optional PORT; optional
	 * LINEAGE. The command returns when the join has begun. SPINDLE_EVENT_VIEW_INSTALL or
	 * SPINDLE_EVENT_JOIN_FAILED reports its end, STATUS_GET its progress. The node asks the
	 * contacts in turn, again and again. The join ends when the node is a member, when
	 * NODE_LEAVE, VIEW_DEL or NODE_DEL gives it up, or when all contacts refuse it for a
	 * permanent reason: another key, cluster, protocol or lineage, no room, or an id that
	 * another node has. EBUSY if the node is in a view or already joins one. A node that was
	 * evicted, or has stopped, may only join its own lineage, unless LINEAGE gives another one
	 * or VIEW_DEL was called before. A node without a key needs INSECURE, else ENOKEY
	 */
	SPINDLE_CMD_NODE_JOIN,
	/**
	 * @SPINDLE_CMD_NODE_LEAVE: leave the live view, or give up a join: NODE_ID. The command
	 * returns when the node has begun to leave. SPINDLE_EVENT_STOPPED reports the end, or
	 * SPINDLE_EVENT_JOIN_FAILED that of a join. ENOENT if the node is in no live view, EALREADY
	 * if it already leaves, EBUSY if the rules cannot be met without it
	 */
	SPINDLE_CMD_NODE_LEAVE,
	/**
	 * @SPINDLE_CMD_NODE_EVICT: remove a member from a live view: NODE_ID, PEER_ID. EINVAL if
	 * PEER_ID is the node itself, ENOENT if it is no member, EBUSY if the rules cannot be met
	 * without it or too few members would be left
	 */
	SPINDLE_CMD_NODE_EVICT,
	/**
	 * @SPINDLE_CMD_STATUS_GET: NODE_ID, CLUSTER and LIVE of each node (dump; NODE_ID filters).
	 * A member also has VIEW_ID and LINEAGE, a node that joins also each CONTACT, and both
	 * INSECURE if it was given. A node whose last join has failed has REASON instead of LIVE. A
	 * node whose RDMA device is gone has REASON, ERROR and the VIEW_ID that it was in. Other
	 * nodes that are in no live view and join none are left out
	 */
	SPINDLE_CMD_STATUS_GET,
	/**
	 * @SPINDLE_CMD_RDMC_GET: RDMC groups, one message each: NODE_ID and RDMC (dump; NODE_ID and
	 * RDMC_ID filter). A group exists from its creation until its file is closed and no memory
	 * is in use any more, or until its node leaves the view
	 */
	SPINDLE_CMD_RDMC_GET,
	/**
	 * @SPINDLE_CMD_SUBGROUP_CHANGE: change the subgroups of the live view of the node, at all
	 * members: NODE_ID, each SUBGROUP to add, each REPLACE, and each REMOVE. All changes of a
	 * request are made by one change of the view, or none is. The command returns when the node
	 * has asked the other members. SPINDLE_EVENT_VIEW_INSTALL or SPINDLE_EVENT_RULES_FAILED
	 * reports the end. A subgroup that replaces another one goes on at the position of that
	 * one; of several shards, each one goes on at the position of its id, if that is not new. A
	 * subgroup that is removed goes with all its shards, and attachments end with
	 * SPINDLE_ERR_NOT_MEMBER. The spare of a subgroup that is removed or replaced is free for
	 * the next request. ENOENT if the node is in no live view, or the view has no such
	 * subgroup; EEXIST if the id to add, or that of a shard, is taken; ENOSPC if no spare is
	 * free that is large enough, or not as many side by side as a subgroup has shards; EBUSY if
	 * another change is under way; EINVAL if the subgroups contradict each other; EOPNOTSUPP if
	 * a subgroup with logs is removed or replaced, or replaces another one, or is added to a
	 * view that has one already
	 */
	SPINDLE_CMD_SUBGROUP_CHANGE,
	/* private: */
	__SPINDLE_CMD_MAX
#define SPINDLE_CMD_MAX (__SPINDLE_CMD_MAX - 1)
};

/**
 * enum spindle_attr - top-level attributes
 */
enum spindle_attr {
	/** @SPINDLE_A_UNSPEC: never used */
	SPINDLE_A_UNSPEC,
	/** @SPINDLE_A_PAD: alignment of 64-bit attributes */
	SPINDLE_A_PAD,
	/** @SPINDLE_A_NODE_ID: u32, id of a node, unique in its network namespace, from 1 */
	SPINDLE_A_NODE_ID,
	/**
	 * @SPINDLE_A_CLUSTER: string, 1..23 characters, default "spindle"; peers of another cluster
	 * are refused
	 */
	SPINDLE_A_CLUSTER,
	/** @SPINDLE_A_ADDR4: u32, network byte order, IPv4 address */
	SPINDLE_A_ADDR4,
	/** @SPINDLE_A_ADDR6: 16 bytes, IPv6 address */
	SPINDLE_A_ADDR6,
	/** @SPINDLE_A_PORT: u16, port that the node listens on, default 4790 */
	SPINDLE_A_PORT,
	/**
	 * @SPINDLE_A_VISIBILITY: u8, enum spindle_visibility: when the reader of a guard may rely
	 * on it, default auto
	 */
	SPINDLE_A_VISIBILITY,
	/**
	 * @SPINDLE_A_IDLE_US: u32, microseconds that the engine polls without work before it
	 * sleeps, 0..1000000, default 50; more than that needs CAP_SYS_NICE, or EPERM
	 */
	SPINDLE_A_IDLE_US,
	/**
	 * @SPINDLE_A_ENGINE: u32, engine that serves the node; nodes of one network namespace with
	 * the same number share a thread. 0..1023, default 0
	 */
	SPINDLE_A_ENGINE,
	/**
	 * @SPINDLE_A_CPU: u32, CPU that the engine is bound to; the same for all nodes of an
	 * engine. Default: any CPU; to bind the engine needs CAP_SYS_NICE, else EPERM
	 */
	SPINDLE_A_CPU,
	/** @SPINDLE_A_DEVICE: string, name of the RDMA device (reply only) */
	SPINDLE_A_DEVICE,
	/** @SPINDLE_A_NODE_STATE: u8, enum spindle_node_state: state of the node (reply only) */
	SPINDLE_A_NODE_STATE,
	/** @SPINDLE_A_INCARNATION: u64, differs between two lives of a node (reply only) */
	SPINDLE_A_INCARNATION,
	/** @SPINDLE_A_VIEW_ID: u64, id of a view, from 1 */
	SPINDLE_A_VIEW_ID,
	/**
	 * @SPINDLE_A_MEMBER: nest of enum spindle_member_attr; several: members of a view, in rank
	 * order
	 */
	SPINDLE_A_MEMBER,
	/** @SPINDLE_A_SUBGROUP: nest of enum spindle_subgroup_attr; several: subgroups of a view */
	SPINDLE_A_SUBGROUP,
	/** @SPINDLE_A_SUBGROUP_ID: u32, id of a subgroup */
	SPINDLE_A_SUBGROUP_ID,
	/** @SPINDLE_A_PEER_ID: u32, node id of a peer */
	SPINDLE_A_PEER_ID,
	/**
	 * @SPINDLE_A_PEER: nest of enum spindle_peer_attr; several: peers of a node (reply only)
	 */
	SPINDLE_A_PEER,
	/**
	 * @SPINDLE_A_STATS: nest of enum spindle_engine_stat: counters of the engine that serves
	 * the node (reply only)
	 */
	SPINDLE_A_STATS,
	/** @SPINDLE_A_EVENT: u8, enum spindle_event_kind: what happened (reply only) */
	SPINDLE_A_EVENT,
	/**
	 * @SPINDLE_A_ERROR: u32, enum spindle_error of <linux/spindle.h>: why it happened (reply
	 * only)
	 */
	SPINDLE_A_ERROR,
	/** @SPINDLE_A_REASON: string, an explanation for people (reply only) */
	SPINDLE_A_REASON,
	/**
	 * @SPINDLE_A_TIMING: u8, 1: the engine of the node measures how it spends its time, which
	 * takes two readings of the clock per pass with work. Default 0
	 */
	SPINDLE_A_TIMING,
	/**
	 * @SPINDLE_A_TUNE: nest of enum spindle_tune_attr: parameters of the node's end of a
	 * subgroup
	 */
	SPINDLE_A_TUNE,
	/** @SPINDLE_A_RAW: nest of enum spindle_raw_attr: what to measure, and what was measured */
	SPINDLE_A_RAW,
	/**
	 * @SPINDLE_A_LIVE: nest of enum spindle_live_attr: parameters of a live view and, in a
	 * reply, its status
	 */
	SPINDLE_A_LIVE,
	/**
	 * @SPINDLE_A_KEY: binary, 16 to 64 bytes. Of NODE_ADD: peers have to prove that they know
	 * it. Of NODE_SET, for a node that was added with a key: the new key; the key that it
	 * replaces becomes the former key. Never in a reply
	 */
	SPINDLE_A_KEY,
	/** @SPINDLE_A_KEYED: u8, 1: the node was added with a key, 0: without (reply only) */
	SPINDLE_A_KEYED,
	/**
	 * @SPINDLE_A_RACK: u16, rack of the node, for the hybrid algorithm of RDMC groups: nodes
	 * with the same number share a rack. 0..65534; 65535 (default): a rack of its own
	 */
	SPINDLE_A_RACK,
	/** @SPINDLE_A_RDMC: nest of enum spindle_rdmc_group_attr: an RDMC group (reply only) */
	SPINDLE_A_RDMC,
	/** @SPINDLE_A_RDMC_ID: u64, id of an RDMC group */
	SPINDLE_A_RDMC_ID,
	/**
	 * @SPINDLE_A_RDMC_ERROR: u32, enum spindle_rdmc_error of <linux/spindle_rdmc.h>: why an
	 * RDMC group has ended (reply only)
	 */
	SPINDLE_A_RDMC_ERROR,
	/**
	 * @SPINDLE_A_FORMER_KEY: u8, of a reply: 1: peers with the former key are accepted, too. Of
	 * NODE_SET: 0: stop accepting the former key
	 */
	SPINDLE_A_FORMER_KEY,
	/**
	 * @SPINDLE_A_CHECK: u8, enum spindle_check: NODE_ADD and VIEW_SET check the request and
	 * change nothing
	 */
	SPINDLE_A_CHECK,
	/**
	 * @SPINDLE_A_CONTACT: nest of enum spindle_contact_attr; several: nodes to ask for a live
	 * view, 64 at most
	 */
	SPINDLE_A_CONTACT,
	/**
	 * @SPINDLE_A_LINEAGE: 16 bytes, not all 0: common to a live view and all views that follow
	 * from it. Of VIEW_SET: the default is random if the view has one member. If it has more,
	 * the default follows from the request, so that the same request gives all members the same
	 * lineage. Of NODE_JOIN: views of another lineage are not joined
	 */
	SPINDLE_A_LINEAGE,
	/**
	 * @SPINDLE_A_INSECURE: flag, the live view has no key, so that any host that reaches the
	 * port of a member can become a member. VIEW_SET with LIVE and NODE_JOIN need it for a node
	 * without a key; EINVAL if the node has a key
	 */
	SPINDLE_A_INSECURE,
	/**
	 * @SPINDLE_A_ERA: u64, how often the group began again after all its members were gone.
	 * Nodes of two eras are not connected. Of VIEW_SET: with LINEAGE, default 0
	 */
	SPINDLE_A_ERA,
	/**
	 * @SPINDLE_A_LSN: u64, position at which it happened, see SPINDLE_SUBGROUP_A_LSN (reply
	 * only)
	 */
	SPINDLE_A_LSN,
	/**
	 * @SPINDLE_A_SUBGROUP_NAME: string, name of a subgroup. A request may have this in place of
	 * SUBGROUP_ID: of shards, it means the one that the node is in
	 */
	SPINDLE_A_SUBGROUP_NAME,
	/**
	 * @SPINDLE_A_REPLACE: nest of enum spindle_subgroup_attr; several: subgroup that takes the
	 * place of the one of its id
	 */
	SPINDLE_A_REPLACE,
	/**
	 * @SPINDLE_A_REMOVE: u32; several: id of a subgroup to remove; of shards, that of one of
	 * them
	 */
	SPINDLE_A_REMOVE,
	/* private: */
	__SPINDLE_A_MAX
#define SPINDLE_A_MAX (__SPINDLE_A_MAX - 1)
};

/**
 * enum spindle_contact_attr - a node that a joining node asks for its live view
 */
enum spindle_contact_attr {
	/** @SPINDLE_CONTACT_A_UNSPEC: never used */
	SPINDLE_CONTACT_A_UNSPEC,
	/** @SPINDLE_CONTACT_A_ADDR4: u32, network byte order, IPv4 address */
	SPINDLE_CONTACT_A_ADDR4,
	/** @SPINDLE_CONTACT_A_ADDR6: 16 bytes, IPv6 address */
	SPINDLE_CONTACT_A_ADDR6,
	/** @SPINDLE_CONTACT_A_PORT: u16, port that the contact listens on, default 4790 */
	SPINDLE_CONTACT_A_PORT,
	/**
	 * @SPINDLE_CONTACT_A_REASON: string, result of the last request to it; left out before the
	 * first result (reply only)
	 */
	SPINDLE_CONTACT_A_REASON,
	/** @SPINDLE_CONTACT_A_FINAL: u8, 1: this refusal is permanent (reply only) */
	SPINDLE_CONTACT_A_FINAL,
	/* private: */
	__SPINDLE_CONTACT_A_MAX
#define SPINDLE_CONTACT_A_MAX (__SPINDLE_CONTACT_A_MAX - 1)
};

/**
 * enum spindle_member_attr - a member of a view
 */
enum spindle_member_attr {
	/** @SPINDLE_MEMBER_A_UNSPEC: never used */
	SPINDLE_MEMBER_A_UNSPEC,
	/** @SPINDLE_MEMBER_A_ID: u32, node id */
	SPINDLE_MEMBER_A_ID,
	/** @SPINDLE_MEMBER_A_ADDR4: u32, network byte order, IPv4 address */
	SPINDLE_MEMBER_A_ADDR4,
	/** @SPINDLE_MEMBER_A_ADDR6: 16 bytes, IPv6 address */
	SPINDLE_MEMBER_A_ADDR6,
	/** @SPINDLE_MEMBER_A_PORT: u16, port that the member listens on, default 4790 */
	SPINDLE_MEMBER_A_PORT,
	/* private: */
	__SPINDLE_MEMBER_A_MAX
#define SPINDLE_MEMBER_A_MAX (__SPINDLE_MEMBER_A_MAX - 1)
};

/**
 * enum spindle_subgroup_attr - a subgroup of a view
 */
enum spindle_subgroup_attr {
	/** @SPINDLE_SUBGROUP_A_UNSPEC: never used */
	SPINDLE_SUBGROUP_A_UNSPEC,
	/** @SPINDLE_SUBGROUP_A_PAD: alignment of 64-bit attributes */
	SPINDLE_SUBGROUP_A_PAD,
	/** @SPINDLE_SUBGROUP_A_ID: u32, id of the subgroup, unique in its view */
	SPINDLE_SUBGROUP_A_ID,
	/**
	 * @SPINDLE_SUBGROUP_A_NAME: string, 1..64 characters, optional. No other subgroup of the
	 * view has the name, but shards share one
	 */
	SPINDLE_SUBGROUP_A_NAME,
	/**
	 * @SPINDLE_SUBGROUP_A_MODE: u8, enum spindle_mode: delivery order, default ordered. A table
	 * has CELLS and CELL, and none of WINDOW, MAX_MSG, RING, HOLD, LSN, SENDER, SHARDS, ON_EXIT
	 * and SENDERS
	 */
	SPINDLE_SUBGROUP_A_MODE,
	/**
	 * @SPINDLE_SUBGROUP_A_WINDOW: u32, slots of each sender, 1..65536, default 128; rounded up
	 * to a power of two
	 */
	SPINDLE_SUBGROUP_A_WINDOW,
	/**
	 * @SPINDLE_SUBGROUP_A_MAX_MSG: u32, 1..2^28 bytes, at most the ring, default 10240. If this
	 * is above SPINDLE_DEF_LARGE, messages to all that are longer than TUNE_A_LARGE go by RDMC
	 */
	SPINDLE_SUBGROUP_A_MAX_MSG,
	/**
	 * @SPINDLE_SUBGROUP_A_RING: u32, bytes of each sender's payload ring, a power of two from
	 * 4096 to 2^30; default: window times max_msg, this rounded up to 64, but at most the
	 * greater of 1 MiB and four messages; all rounded up to a power of two
	 */
	SPINDLE_SUBGROUP_A_RING,
	/**
	 * @SPINDLE_SUBGROUP_A_HOLD: u8, 1: messages wait for the first local attachment (default),
	 * 0: a member without attachment discards messages
	 */
	SPINDLE_SUBGROUP_A_HOLD,
	/**
	 * @SPINDLE_SUBGROUP_A_NODE: nest of enum spindle_subgroup_node_attr; several: members of
	 * the subgroup; default: all members of the view, all of them senders
	 */
	SPINDLE_SUBGROUP_A_NODE,
	/**
	 * @SPINDLE_SUBGROUP_A_STATE: u8, enum spindle_state of <linux/spindle.h>: state of the
	 * subgroup (reply only)
	 */
	SPINDLE_SUBGROUP_A_STATE,
	/**
	 * @SPINDLE_SUBGROUP_A_ERROR: u32, enum spindle_error of <linux/spindle.h>: why the subgroup
	 * is in this state (reply only)
	 */
	SPINDLE_SUBGROUP_A_ERROR,
	/**
	 * @SPINDLE_SUBGROUP_A_STATS: nest of enum spindle_subgroup_stat: counters of the subgroup
	 * (reply only)
	 */
	SPINDLE_SUBGROUP_A_STATS,
	/**
	 * @SPINDLE_SUBGROUP_A_READERS: u32, attachments that read; of a table, all attachments
	 * (reply only)
	 */
	SPINDLE_SUBGROUP_A_READERS,
	/**
	 * @SPINDLE_SUBGROUP_A_SENDER: u8, 1: a sender is attached; of a table, a writer of the
	 * node's row (reply only)
	 */
	SPINDLE_SUBGROUP_A_SENDER,
	/**
	 * @SPINDLE_SUBGROUP_A_TUNE: nest of enum spindle_tune_attr: parameters of the node's end of
	 * the subgroup (reply only)
	 */
	SPINDLE_SUBGROUP_A_TUNE,
	/**
	 * @SPINDLE_SUBGROUP_A_SEND_HIST: binary, batches of the send predicate by size: 17 u64,
	 * entry i counts batches of 2^i messages and more, but fewer than 2^(i+1) (reply only)
	 */
	SPINDLE_SUBGROUP_A_SEND_HIST,
	/** @SPINDLE_SUBGROUP_A_RECV_HIST: binary, the same of the receive predicate (reply only) */
	SPINDLE_SUBGROUP_A_RECV_HIST,
	/** @SPINDLE_SUBGROUP_A_DLV_HIST: binary, the same of the deliver predicate (reply only) */
	SPINDLE_SUBGROUP_A_DLV_HIST,
	/**
	 * @SPINDLE_SUBGROUP_A_READER: nest of enum spindle_reader_attr; several: readers, 32 at
	 * most, by decreasing lag (reply only)
	 */
	SPINDLE_SUBGROUP_A_READER,
	/**
	 * @SPINDLE_SUBGROUP_A_ROW: nest of enum spindle_row_attr; several: columns of the members,
	 * by rank (reply only)
	 */
	SPINDLE_SUBGROUP_A_ROW,
	/**
	 * @SPINDLE_SUBGROUP_A_RULE: nest of enum spindle_rule_attr: choice of the members in later
	 * views, of a live view. NODE names the nodes that may be in the subgroup while they are
	 * members of the view; without NODE all members may
	 */
	SPINDLE_SUBGROUP_A_RULE,
	/**
	 * @SPINDLE_SUBGROUP_A_LSN: u64, position of the next message: how many messages of the
	 * subgroup were delivered before it, in all views. Of VIEW_SET: the position that an
	 * ordered subgroup begins with, default 0, at most 2^62; several shards have it in SHARD
	 */
	SPINDLE_SUBGROUP_A_LSN,
	/**
	 * @SPINDLE_SUBGROUP_A_OLDEST: u64, position of the oldest message of the history, LSN if it
	 * has none; not without history (reply only)
	 */
	SPINDLE_SUBGROUP_A_OLDEST,
	/**
	 * @SPINDLE_SUBGROUP_A_CELLS: u32, of a table, cells of a row, 1..1024; all cells of a row
	 * have 65536 bytes at most
	 */
	SPINDLE_SUBGROUP_A_CELLS,
	/**
	 * @SPINDLE_SUBGROUP_A_CELL: u32, of a table, bytes of a cell, a power of two from 64 to
	 * 4096, default 64
	 */
	SPINDLE_SUBGROUP_A_CELL,
	/**
	 * @SPINDLE_SUBGROUP_A_FIELDS: string, of a table, names and types of the fields of a value,
	 * as spindle-ctl reads them. The kernel keeps the text for all members and does not read it
	 */
	SPINDLE_SUBGROUP_A_FIELDS,
	/**
	 * @SPINDLE_SUBGROUP_A_TABLE_STATS: nest of enum spindle_table_stat: counters of a table,
	 * which has neither STATS nor histograms, READER and ROW (reply only)
	 */
	SPINDLE_SUBGROUP_A_TABLE_STATS,
	/**
	 * @SPINDLE_SUBGROUP_A_LOG: u8, 1: each member has a log of the messages, 0 (default): none
	 * has. Only of an ordered subgroup of a live view
	 */
	SPINDLE_SUBGROUP_A_LOG,
	/**
	 * @SPINDLE_SUBGROUP_A_ACK: u8, enum spindle_ack: which logs make a message durable, default
	 * all; only with LOG
	 */
	SPINDLE_SUBGROUP_A_ACK,
	/**
	 * @SPINDLE_SUBGROUP_A_DELIVER: u8, enum spindle_deliver: when readers get a message,
	 * default stable; only with LOG
	 */
	SPINDLE_SUBGROUP_A_DELIVER,
	/**
	 * @SPINDLE_SUBGROUP_A_MIN_COPIES: u32, logs that a durable message is in at least, 1..64; 0
	 * (default): two, or one if the subgroup has one member. With fewer members no message
	 * becomes durable
	 */
	SPINDLE_SUBGROUP_A_MIN_COPIES,
	/**
	 * @SPINDLE_SUBGROUP_A_DURABLE: u64, messages below this position are durable; only with LOG
	 * (reply only)
	 */
	SPINDLE_SUBGROUP_A_DURABLE,
	/**
	 * @SPINDLE_SUBGROUP_A_ESTABLISHED: u8, 1: a restart cannot miss the present view of the
	 * subgroup; 0: the durable position stands still until then. Only with LOG (reply only)
	 */
	SPINDLE_SUBGROUP_A_ESTABLISHED,
	/**
	 * @SPINDLE_SUBGROUP_A_DURABLE_MS: u64, milliseconds for which the durable position has
	 * stood still although messages wait for that; 0: none waits. Only with LOG (reply only)
	 */
	SPINDLE_SUBGROUP_A_DURABLE_MS,
	/**
	 * @SPINDLE_SUBGROUP_A_RANGE: nest of enum spindle_range_attr; several: a view of an earlier
	 * era; the oldest view first, SPINDLE_MAX_RANGE at most. The first view is not established
	 * before a majority of each of them has its record. Only of a live VIEW_SET with LINEAGE
	 * and an ERA above 0, of a subgroup with LOG that has one shard and a member
	 */
	SPINDLE_SUBGROUP_A_RANGE,
	/**
	 * @SPINDLE_SUBGROUP_A_SHARD: nest of enum spindle_shard_attr; several: how a shard begins
	 * again; one for each shard, in the order of their ids. Each member of the view that may be
	 * in the subgroup is in one of them. Only of a live VIEW_SET, of a subgroup with LOG,
	 * without LSN and RANGE
	 */
	SPINDLE_SUBGROUP_A_SHARD,
	/* private: */
	__SPINDLE_SUBGROUP_A_MAX
#define SPINDLE_SUBGROUP_A_MAX (__SPINDLE_SUBGROUP_A_MAX - 1)
};

/**
 * enum spindle_subgroup_node_attr - a member of a subgroup
 */
enum spindle_subgroup_node_attr {
	/** @SPINDLE_SUBGROUP_NODE_A_UNSPEC: never used */
	SPINDLE_SUBGROUP_NODE_A_UNSPEC,
	/** @SPINDLE_SUBGROUP_NODE_A_ID: u32, node id, a member of the view */
	SPINDLE_SUBGROUP_NODE_A_ID,
	/** @SPINDLE_SUBGROUP_NODE_A_SENDER: u8, 1: may send (default), 0: only receives */
	SPINDLE_SUBGROUP_NODE_A_SENDER,
	/* private: */
	__SPINDLE_SUBGROUP_NODE_A_MAX
#define SPINDLE_SUBGROUP_NODE_A_MAX (__SPINDLE_SUBGROUP_NODE_A_MAX - 1)
};

/**
 * enum spindle_range_attr - a view of an earlier era, by its members
 */
enum spindle_range_attr {
	/** @SPINDLE_RANGE_A_UNSPEC: never used */
	SPINDLE_RANGE_A_UNSPEC,
	/** @SPINDLE_RANGE_A_ID: u32; several: node id of a member, 1 to 64 of them in any order */
	SPINDLE_RANGE_A_ID,
	/* private: */
	__SPINDLE_RANGE_A_MAX
#define SPINDLE_RANGE_A_MAX (__SPINDLE_RANGE_A_MAX - 1)
};

/**
 * enum spindle_shard_attr - how a shard begins again
 */
enum spindle_shard_attr {
	/** @SPINDLE_SHARD_A_UNSPEC: never used */
	SPINDLE_SHARD_A_UNSPEC,
	/** @SPINDLE_SHARD_A_PAD: alignment of 64-bit attributes */
	SPINDLE_SHARD_A_PAD,
	/** @SPINDLE_SHARD_A_ID: u32; several: node id of a member of the shard, in any order */
	SPINDLE_SHARD_A_ID,
	/** @SPINDLE_SHARD_A_LSN: u64, position that it begins with, default 0, at most 2^62 */
	SPINDLE_SHARD_A_LSN,
	/**
	 * @SPINDLE_SHARD_A_RANGE: nest of enum spindle_range_attr; several: views of earlier eras
	 * that it follows, as SPINDLE_SUBGROUP_A_RANGE
	 */
	SPINDLE_SHARD_A_RANGE,
	/* private: */
	__SPINDLE_SHARD_A_MAX
#define SPINDLE_SHARD_A_MAX (__SPINDLE_SHARD_A_MAX - 1)
};

/**
 * enum spindle_tune_attr - parameters of a node's end of a subgroup
 */
enum spindle_tune_attr {
	/** @SPINDLE_TUNE_A_UNSPEC: never used */
	SPINDLE_TUNE_A_UNSPEC,
	/**
	 * @SPINDLE_TUNE_A_SWITCHES: bitfield32 of enum spindle_switch: techniques that are on,
	 * default all
	 */
	SPINDLE_TUNE_A_SWITCHES,
	/**
	 * @SPINDLE_TUNE_A_SEND_BUDGET: u32, messages sent in a pass at most, 1..65536, default 512
	 */
	SPINDLE_TUNE_A_SEND_BUDGET,
	/**
	 * @SPINDLE_TUNE_A_RECV_BUDGET: u32, messages received in a pass at most, 1..65536, default
	 * 65536
	 */
	SPINDLE_TUNE_A_RECV_BUDGET,
	/**
	 * @SPINDLE_TUNE_A_DLV_BUDGET: u32, messages delivered in a pass at most, 1..65536, default
	 * 2048
	 */
	SPINDLE_TUNE_A_DLV_BUDGET,
	/**
	 * @SPINDLE_TUNE_A_SILENCE: u32, rounds at most that an idle sender gives up in advance,
	 * after it has given up rounds one by one, 0..2^20, default 1024
	 */
	SPINDLE_TUNE_A_SILENCE,
	/**
	 * @SPINDLE_TUNE_A_STALL_MS: u32, milliseconds after which a reader is detached that has
	 * messages and consumes none, 0..3600000; 0 (default): never
	 */
	SPINDLE_TUNE_A_STALL_MS,
	/**
	 * @SPINDLE_TUNE_A_LARGE: u32, bytes above which a message of this node goes by RDMC,
	 * 4096..2^20, default 2^18. Only for subgroups whose max_msg is above that default, left
	 * out for others
	 */
	SPINDLE_TUNE_A_LARGE,
	/**
	 * @SPINDLE_TUNE_A_HISTORY: u32, bytes of the messages that are kept for readers that come
	 * later, a power of two, 65536..2^30 and at least twice max_msg; 0 (default): none. A new
	 * size begins with nothing
	 */
	SPINDLE_TUNE_A_HISTORY,
	/**
	 * @SPINDLE_TUNE_A_HISTORY_FILL: u8, 1: the node's sender may put messages in front of the
	 * history that were delivered before it began, 0 (default): nobody may
	 */
	SPINDLE_TUNE_A_HISTORY_FILL,
	/**
	 * @SPINDLE_TUNE_A_LOG_STALL_MS: u32, milliseconds after which LOG_LAGGING is reported, and
	 * ON_LOG_STALL is done, if the log of the node has messages and persists none, or has no
	 * logger, 0..3600000, default 5000; 0: never. Only of a subgroup with logs, left out for
	 * others
	 */
	SPINDLE_TUNE_A_LOG_STALL_MS,
	/**
	 * @SPINDLE_TUNE_A_ON_LOG_STALL: u8, enum spindle_on_log_stall: what the node does then,
	 * default wait
	 */
	SPINDLE_TUNE_A_ON_LOG_STALL,
	/* private: */
	__SPINDLE_TUNE_A_MAX
#define SPINDLE_TUNE_A_MAX (__SPINDLE_TUNE_A_MAX - 1)
};

/**
 * enum spindle_reader_attr - an attachment that reads, reply only
 */
enum spindle_reader_attr {
	/** @SPINDLE_READER_A_UNSPEC: never used */
	SPINDLE_READER_A_UNSPEC,
	/** @SPINDLE_READER_A_PAD: alignment of 64-bit attributes */
	SPINDLE_READER_A_PAD,
	/**
	 * @SPINDLE_READER_A_PID: u32, process that attached, in the pid namespace of the process
	 * that asks; 0: it has no pid there
	 */
	SPINDLE_READER_A_PID,
	/** @SPINDLE_READER_A_COMM: string, name of the process at the attach */
	SPINDLE_READER_A_COMM,
	/**
	 * @SPINDLE_READER_A_COPY: u8, 1: the reader has a copy ring, 0: it holds the senders' slots
	 */
	SPINDLE_READER_A_COPY,
	/** @SPINDLE_READER_A_LAG: u64, messages delivered to the reader that it has not consumed */
	SPINDLE_READER_A_LAG,
	/**
	 * @SPINDLE_READER_A_IDLE_MS: u64, milliseconds since the reader consumed something, or
	 * since there has been something to consume; 0 without lag
	 */
	SPINDLE_READER_A_IDLE_MS,
	/** @SPINDLE_READER_A_LSN: u64, position of the next message that the reader consumes */
	SPINDLE_READER_A_LSN,
	/** @SPINDLE_READER_A_READS: u8, enum spindle_reads: where the messages are that it reads */
	SPINDLE_READER_A_READS,
	/**
	 * @SPINDLE_READER_A_REPLICA: u8, enum spindle_replica_state of <linux/spindle.h>: how far
	 * its process is that keeps the state of the subgroup, as the process reports; left out,
	 * with all that follows, if it reports nothing
	 */
	SPINDLE_READER_A_REPLICA,
	/** @SPINDLE_READER_A_REPLICA_MS: u64, milliseconds in this state, with this donor */
	SPINDLE_READER_A_REPLICA_MS,
	/** @SPINDLE_READER_A_DONOR: u32, node that its snapshot comes or came from; 0: none */
	SPINDLE_READER_A_DONOR,
	/** @SPINDLE_READER_A_RECEIVED: u64, bytes of the snapshot that have arrived */
	SPINDLE_READER_A_RECEIVED,
	/** @SPINDLE_READER_A_BYTES: u64, length of the snapshot; 0: not known */
	SPINDLE_READER_A_BYTES,
	/** @SPINDLE_READER_A_SERVING: u32, nodes that it gives its state to */
	SPINDLE_READER_A_SERVING,
	/* private: */
	__SPINDLE_READER_A_MAX
#define SPINDLE_READER_A_MAX (__SPINDLE_READER_A_MAX - 1)
};

/**
 * enum spindle_row_attr - a member's columns as this node sees them, reply only
 */
enum spindle_row_attr {
	/** @SPINDLE_ROW_A_UNSPEC: never used */
	SPINDLE_ROW_A_UNSPEC,
	/** @SPINDLE_ROW_A_PAD: alignment of 64-bit attributes */
	SPINDLE_ROW_A_PAD,
	/** @SPINDLE_ROW_A_ID: u32, node id */
	SPINDLE_ROW_A_ID,
	/** @SPINDLE_ROW_A_SENT: u64, rounds that the member has decided */
	SPINDLE_ROW_A_SENT,
	/** @SPINDLE_ROW_A_SLOTS: u64, messages that the member has sent */
	SPINDLE_ROW_A_SLOTS,
	/** @SPINDLE_ROW_A_RECEIVED: u64, the member has received all below this sequence number */
	SPINDLE_ROW_A_RECEIVED,
	/**
	 * @SPINDLE_ROW_A_DELIVERED: u64, the member has delivered all below this sequence number,
	 * and its readers have consumed it
	 */
	SPINDLE_ROW_A_DELIVERED,
	/**
	 * @SPINDLE_ROW_A_PERSISTED: u64, messages below this position are on the member's disk;
	 * left out, with all that follows, of a subgroup without logs
	 */
	SPINDLE_ROW_A_PERSISTED,
	/** @SPINDLE_ROW_A_LOW: u64, the first position that its log keeps */
	SPINDLE_ROW_A_LOW,
	/** @SPINDLE_ROW_A_SNAPSHOT: u64, position of the newest snapshot on its disk; 0: none */
	SPINDLE_ROW_A_SNAPSHOT,
	/** @SPINDLE_ROW_A_RECORD: u64, id of the newest view whose record is on its disk */
	SPINDLE_ROW_A_RECORD,
	/**
	 * @SPINDLE_ROW_A_LOG_STATE: u8, enum spindle_log_state of <linux/spindle.h>: what its
	 * logger says
	 */
	SPINDLE_ROW_A_LOG_STATE,
	/**
	 * @SPINDLE_ROW_A_AWAITED: u8, 1: its log does not have all messages, or not the record of
	 * the view
	 */
	SPINDLE_ROW_A_AWAITED,
	/* private: */
	__SPINDLE_ROW_A_MAX
#define SPINDLE_ROW_A_MAX (__SPINDLE_ROW_A_MAX - 1)
};

/**
 * enum spindle_raw_attr - a measurement of the device
 */
enum spindle_raw_attr {
	/** @SPINDLE_RAW_A_UNSPEC: never used */
	SPINDLE_RAW_A_UNSPEC,
	/** @SPINDLE_RAW_A_PAD: alignment of 64-bit attributes */
	SPINDLE_RAW_A_PAD,
	/** @SPINDLE_RAW_A_KIND: u8, enum spindle_raw_kind: what to measure, default write */
	SPINDLE_RAW_A_KIND,
	/**
	 * @SPINDLE_RAW_A_SIZE: u32, bytes of a write or read, 1 to 2^20, at most the ring or row
	 */
	SPINDLE_RAW_A_SIZE,
	/**
	 * @SPINDLE_RAW_A_COUNT: u32, writes to each member, round trips, or reads of each row,
	 * 1..1000000; in a reply as many as there was time for
	 */
	SPINDLE_RAW_A_COUNT,
	/** @SPINDLE_RAW_A_NS: u64, nanoseconds that it took (reply only) */
	SPINDLE_RAW_A_NS,
	/** @SPINDLE_RAW_A_WRITES: u64, writes or reads posted (reply only) */
	SPINDLE_RAW_A_WRITES,
	/**
	 * @SPINDLE_RAW_A_POST_NS: u64, nanoseconds of NS in which reads were posted; only of kind
	 * read (reply only)
	 */
	SPINDLE_RAW_A_POST_NS,
	/* private: */
	__SPINDLE_RAW_A_MAX
#define SPINDLE_RAW_A_MAX (__SPINDLE_RAW_A_MAX - 1)
};

/**
 * enum spindle_peer_attr - a peer of a node, reply only
 */
enum spindle_peer_attr {
	/** @SPINDLE_PEER_A_UNSPEC: never used */
	SPINDLE_PEER_A_UNSPEC,
	/** @SPINDLE_PEER_A_PAD: alignment of 64-bit attributes */
	SPINDLE_PEER_A_PAD,
	/** @SPINDLE_PEER_A_ID: u32, node id */
	SPINDLE_PEER_A_ID,
	/** @SPINDLE_PEER_A_STATE: u8, enum spindle_peer_state: state of the connection */
	SPINDLE_PEER_A_STATE,
	/** @SPINDLE_PEER_A_REASON: string, why it is not up */
	SPINDLE_PEER_A_REASON,
	/** @SPINDLE_PEER_A_IMM: u8, 1: guards are valid after a completion, 0: memory is polled */
	SPINDLE_PEER_A_IMM,
	/** @SPINDLE_PEER_A_WRITES: u64, work requests posted */
	SPINDLE_PEER_A_WRITES,
	/** @SPINDLE_PEER_A_POSTS: u64, chains posted */
	SPINDLE_PEER_A_POSTS,
	/** @SPINDLE_PEER_A_BYTES: u64, bytes written */
	SPINDLE_PEER_A_BYTES,
	/** @SPINDLE_PEER_A_DOORBELLS: u64, writes with immediate data */
	SPINDLE_PEER_A_DOORBELLS,
	/** @SPINDLE_PEER_A_TORN: u64, reads of a row that had to be repeated */
	SPINDLE_PEER_A_TORN,
	/** @SPINDLE_PEER_A_ATTEMPTS: u64, connection attempts */
	SPINDLE_PEER_A_ATTEMPTS,
	/* private: */
	__SPINDLE_PEER_A_MAX
#define SPINDLE_PEER_A_MAX (__SPINDLE_PEER_A_MAX - 1)
};

/**
 * enum spindle_engine_stat - counters of the engine that serves a node, all u64
 */
enum spindle_engine_stat {
	/** @SPINDLE_ENGINE_S_UNSPEC: never used */
	SPINDLE_ENGINE_S_UNSPEC,
	/** @SPINDLE_ENGINE_S_PAD: alignment of 64-bit attributes */
	SPINDLE_ENGINE_S_PAD,
	/** @SPINDLE_ENGINE_S_PASSES: passes over the predicates */
	SPINDLE_ENGINE_S_PASSES,
	/** @SPINDLE_ENGINE_S_BUSY: passes that found work */
	SPINDLE_ENGINE_S_BUSY,
	/** @SPINDLE_ENGINE_S_SLEEPS: times that the engine went to sleep */
	SPINDLE_ENGINE_S_SLEEPS,
	/** @SPINDLE_ENGINE_S_KICKS: wake-ups by a process */
	SPINDLE_ENGINE_S_KICKS,
	/** @SPINDLE_ENGINE_S_BELLS: wake-ups by a peer's doorbell */
	SPINDLE_ENGINE_S_BELLS,
	/**
	 * @SPINDLE_ENGINE_S_REFUSED: connection requests and proofs of the key that the node
	 * refused
	 */
	SPINDLE_ENGINE_S_REFUSED,
	/**
	 * @SPINDLE_ENGINE_S_PID: thread of the engine, in the pid namespace of the process that
	 * asks; 0: none
	 */
	SPINDLE_ENGINE_S_PID,
	/**
	 * @SPINDLE_ENGINE_S_SPIN_US: microseconds that the engine polled at most when it last had
	 * no work: IDLE_US, or 0 because other tasks wanted its CPU
	 */
	SPINDLE_ENGINE_S_SPIN_US,
	/** @SPINDLE_ENGINE_S_BUSY_NS: nanoseconds in passes that found work, while TIMING was on */
	SPINDLE_ENGINE_S_BUSY_NS,
	/** @SPINDLE_ENGINE_S_POST_NS: of these, nanoseconds spent posting */
	SPINDLE_ENGINE_S_POST_NS,
	/** @SPINDLE_ENGINE_S_TIMED_NS: nanoseconds that TIMING was on */
	SPINDLE_ENGINE_S_TIMED_NS,
	/* private: */
	__SPINDLE_ENGINE_S_MAX
#define SPINDLE_ENGINE_S_MAX (__SPINDLE_ENGINE_S_MAX - 1)
};

/**
 * enum spindle_subgroup_stat - counters of a subgroup at one member, all u64
 */
enum spindle_subgroup_stat {
	/** @SPINDLE_SUBGROUP_S_UNSPEC: never used */
	SPINDLE_SUBGROUP_S_UNSPEC,
	/** @SPINDLE_SUBGROUP_S_PAD: alignment of 64-bit attributes */
	SPINDLE_SUBGROUP_S_PAD,
	/** @SPINDLE_SUBGROUP_S_SENT: messages multicast by this node */
	SPINDLE_SUBGROUP_S_SENT,
	/** @SPINDLE_SUBGROUP_S_SENT_BYTES: their bytes */
	SPINDLE_SUBGROUP_S_SENT_BYTES,
	/** @SPINDLE_SUBGROUP_S_NULLS: rounds that this node gave up as nulls */
	SPINDLE_SUBGROUP_S_NULLS,
	/** @SPINDLE_SUBGROUP_S_RECEIVED: messages received, own ones included */
	SPINDLE_SUBGROUP_S_RECEIVED,
	/** @SPINDLE_SUBGROUP_S_DELIVERED: messages delivered */
	SPINDLE_SUBGROUP_S_DELIVERED,
	/** @SPINDLE_SUBGROUP_S_DELIVERED_BYTES: their bytes */
	SPINDLE_SUBGROUP_S_DELIVERED_BYTES,
	/**
	 * @SPINDLE_SUBGROUP_S_DISCARDED: of these messages, those delivered while there was no
	 * reader
	 */
	SPINDLE_SUBGROUP_S_DISCARDED,
	/** @SPINDLE_SUBGROUP_S_SEND_BATCHES: times the send predicate found messages */
	SPINDLE_SUBGROUP_S_SEND_BATCHES,
	/**
	 * @SPINDLE_SUBGROUP_S_RECV_BATCHES: times the receive predicate found messages of others
	 */
	SPINDLE_SUBGROUP_S_RECV_BATCHES,
	/** @SPINDLE_SUBGROUP_S_DLV_BATCHES: times the deliver predicate found messages */
	SPINDLE_SUBGROUP_S_DLV_BATCHES,
	/**
	 * @SPINDLE_SUBGROUP_S_ABANDONED: slots that the process gave up, or left behind when it
	 * died, and messages whose destinations have all gone
	 */
	SPINDLE_SUBGROUP_S_ABANDONED,
	/** @SPINDLE_SUBGROUP_S_FROZEN: attachments frozen for breaking the ring's rules */
	SPINDLE_SUBGROUP_S_FROZEN,
	/** @SPINDLE_SUBGROUP_S_STABLE: all below this sequence number is stable */
	SPINDLE_SUBGROUP_S_STABLE,
	/** @SPINDLE_SUBGROUP_S_ROUND: next round of the own sender */
	SPINDLE_SUBGROUP_S_ROUND,
	/** @SPINDLE_SUBGROUP_S_ACTIVATIONS: times the engine found work in the subgroup */
	SPINDLE_SUBGROUP_S_ACTIVATIONS,
	/** @SPINDLE_SUBGROUP_S_VISITS: times the engine looked at the subgroup */
	SPINDLE_SUBGROUP_S_VISITS,
	/** @SPINDLE_SUBGROUP_S_SILENT: rounds that this node gave up in advance; not in NULLS */
	SPINDLE_SUBGROUP_S_SILENT,
	/** @SPINDLE_SUBGROUP_S_FREE: own messages that all members have delivered */
	SPINDLE_SUBGROUP_S_FREE,
	/** @SPINDLE_SUBGROUP_S_STALLED: readers detached because they consumed nothing */
	SPINDLE_SUBGROUP_S_STALLED,
	/**
	 * @SPINDLE_SUBGROUP_S_ROW_BYTES: memory of this node's table that the subgroup takes: rings
	 * and headers of all senders, and a block of columns per member
	 */
	SPINDLE_SUBGROUP_S_ROW_BYTES,
	/**
	 * @SPINDLE_SUBGROUP_S_PRIVATE_BYTES: memory of the engine's own state of the subgroup, and
	 * of its history
	 */
	SPINDLE_SUBGROUP_S_PRIVATE_BYTES,
	/** @SPINDLE_SUBGROUP_S_LARGE: of SENT, large messages, which went by RDMC */
	SPINDLE_SUBGROUP_S_LARGE,
	/** @SPINDLE_SUBGROUP_S_LARGE_BYTES: of SENT_BYTES, the bytes of large messages */
	SPINDLE_SUBGROUP_S_LARGE_BYTES,
	/**
	 * @SPINDLE_SUBGROUP_S_LARGE_AGAIN: times that the transfer of a large message of this node
	 * started over because a view ended
	 */
	SPINDLE_SUBGROUP_S_LARGE_AGAIN,
	/**
	 * @SPINDLE_SUBGROUP_S_LARGE_NOMEM: times that there was no memory to send a large message
	 * of this node, or to receive one of another, so that it was tried again
	 */
	SPINDLE_SUBGROUP_S_LARGE_NOMEM,
	/**
	 * @SPINDLE_SUBGROUP_S_LARGE_WAITING: no counter: 1 if a large message of this node is in
	 * transfer, or waits for it, else 0
	 */
	SPINDLE_SUBGROUP_S_LARGE_WAITING,
	/** @SPINDLE_SUBGROUP_S_DIRECT: of SENT, messages for some of the members */
	SPINDLE_SUBGROUP_S_DIRECT,
	/**
	 * @SPINDLE_SUBGROUP_S_BEHIND: readers detached because the history forgot what they had not
	 * consumed
	 */
	SPINDLE_SUBGROUP_S_BEHIND,
	/* private: */
	__SPINDLE_SUBGROUP_S_MAX
#define SPINDLE_SUBGROUP_S_MAX (__SPINDLE_SUBGROUP_S_MAX - 1)
};

/**
 * enum spindle_table_stat - counters of a table at one member, all u64
 */
enum spindle_table_stat {
	/** @SPINDLE_TABLE_S_UNSPEC: never used */
	SPINDLE_TABLE_S_UNSPEC,
	/** @SPINDLE_TABLE_S_PAD: alignment of 64-bit attributes */
	SPINDLE_TABLE_S_PAD,
	/** @SPINDLE_TABLE_S_TAKEN: times that the engine found the node's row changed */
	SPINDLE_TABLE_S_TAKEN,
	/** @SPINDLE_TABLE_S_CELLS: cells that the process or a predicate had changed then */
	SPINDLE_TABLE_S_CELLS,
	/** @SPINDLE_TABLE_S_WRITES: one-sided writes of cells to other members */
	SPINDLE_TABLE_S_WRITES,
	/**
	 * @SPINDLE_TABLE_S_BLOCKS: blocks pushed, at most one for each member and batch of cells
	 */
	SPINDLE_TABLE_S_BLOCKS,
	/** @SPINDLE_TABLE_S_HEARD: changes of rows of other members */
	SPINDLE_TABLE_S_HEARD,
	/**
	 * @SPINDLE_TABLE_S_TORN: reads of a block or a guard of another member that had to be
	 * repeated
	 */
	SPINDLE_TABLE_S_TORN,
	/**
	 * @SPINDLE_TABLE_S_HALF: guards that were left for later, because the process was changing
	 * them
	 */
	SPINDLE_TABLE_S_HALF,
	/**
	 * @SPINDLE_TABLE_S_GENERATION: changes of rows and of the view, as processes count them:
	 * ctl.generation
	 */
	SPINDLE_TABLE_S_GENERATION,
	/**
	 * @SPINDLE_TABLE_S_ROW_BYTES: memory of the node's shared state table that the table takes:
	 * cells and blocks of all members
	 */
	SPINDLE_TABLE_S_ROW_BYTES,
	/** @SPINDLE_TABLE_S_PRIVATE_BYTES: memory of the engine's own state of the table */
	SPINDLE_TABLE_S_PRIVATE_BYTES,
	/** @SPINDLE_TABLE_S_LOOKS: looks at predicates that processes have given to the engine */
	SPINDLE_TABLE_S_LOOKS,
	/** @SPINDLE_TABLE_S_FIRED: looks at which a predicate fired */
	SPINDLE_TABLE_S_FIRED,
	/** @SPINDLE_TABLE_S_READS: in mode read: one-sided reads of rows of other members */
	SPINDLE_TABLE_S_READS,
	/** @SPINDLE_TABLE_S_FETCHES: in mode read: rows of other members that were read whole */
	SPINDLE_TABLE_S_FETCHES,
	/* private: */
	__SPINDLE_TABLE_S_MAX
#define SPINDLE_TABLE_S_MAX (__SPINDLE_TABLE_S_MAX - 1)
};

/**
 * enum spindle_rule_attr - choice of the members of a live view's subgroup
 */
enum spindle_rule_attr {
	/** @SPINDLE_RULE_A_UNSPEC: never used */
	SPINDLE_RULE_A_UNSPEC,
	/**
	 * @SPINDLE_RULE_A_SHARDS: u32, 1..64, default 1: number of subgroups, with consecutive ids
	 * from the one given, that share the nodes among them: each node is in one of them. A node
	 * stays in its subgroup as long as possible
	 */
	SPINDLE_RULE_A_SHARDS,
	/**
	 * @SPINDLE_RULE_A_MIN: u32, 1..64, default 1: members that the subgroup needs. A requested
	 * change that would leave fewer is refused. After a failure that leaves fewer, the subgroup
	 * is FORMING until it has enough
	 */
	SPINDLE_RULE_A_MIN,
	/**
	 * @SPINDLE_RULE_A_ON_EXIT: u8, enum spindle_on_exit: what a node does when its last reader
	 * has gone, default discard
	 */
	SPINDLE_RULE_A_ON_EXIT,
	/**
	 * @SPINDLE_RULE_A_SENDERS: u8, 1: all members may send (default), 0: only those that are
	 * named as senders
	 */
	SPINDLE_RULE_A_SENDERS,
	/**
	 * @SPINDLE_RULE_A_NODE: nest of enum spindle_subgroup_node_attr; several: the nodes that
	 * the rule names, members now or not; none: all members may be in the subgroup (reply only)
	 */
	SPINDLE_RULE_A_NODE,
	/* private: */
	__SPINDLE_RULE_A_MAX
#define SPINDLE_RULE_A_MAX (__SPINDLE_RULE_A_MAX - 1)
};

/**
 * enum spindle_live_attr - a live view
 */
enum spindle_live_attr {
	/** @SPINDLE_LIVE_A_UNSPEC: never used */
	SPINDLE_LIVE_A_UNSPEC,
	/** @SPINDLE_LIVE_A_PAD: alignment of 64-bit attributes */
	SPINDLE_LIVE_A_PAD,
	/**
	 * @SPINDLE_LIVE_A_TIMEOUT_MS: u32, 20..60000, default 500: a member whose heartbeat does
	 * not advance for this time is suspected
	 */
	SPINDLE_LIVE_A_TIMEOUT_MS,
	/** @SPINDLE_LIVE_A_MAX_NODES: u32, 1..64, default 16: members at most */
	SPINDLE_LIVE_A_MAX_NODES,
	/**
	 * @SPINDLE_LIVE_A_QUORUM: u8, 1: only a majority of a view goes on to the next (default),
	 * 0: any part goes on, so that two parts may go on separately
	 */
	SPINDLE_LIVE_A_QUORUM,
	/**
	 * @SPINDLE_LIVE_A_STATE: u8, enum spindle_live_state: state of the node in the live view
	 * (reply only)
	 */
	SPINDLE_LIVE_A_STATE,
	/** @SPINDLE_LIVE_A_WHY: u8, enum spindle_why: why the node has stopped (reply only) */
	SPINDLE_LIVE_A_WHY,
	/** @SPINDLE_LIVE_A_REASON: string, the last thing that happened (reply only) */
	SPINDLE_LIVE_A_REASON,
	/**
	 * @SPINDLE_LIVE_A_MEMBER: nest of enum spindle_live_member_attr; several: members by rank,
	 * then nodes that want to join (reply only)
	 */
	SPINDLE_LIVE_A_MEMBER,
	/** @SPINDLE_LIVE_A_CHANGES: u64, views installed (reply only) */
	SPINDLE_LIVE_A_CHANGES,
	/**
	 * @SPINDLE_LIVE_A_DETECT_US: u64, first part of the last change of the view, microseconds:
	 * from the last sign of life of the member that was suspected first until it was suspected.
	 * 0 if no member was, or for a reason other than silence or a lost connection (reply only)
	 */
	SPINDLE_LIVE_A_DETECT_US,
	/**
	 * @SPINDLE_LIVE_A_WEDGE_US: u64, second part: until all traffic of the old view had ended
	 * (reply only)
	 */
	SPINDLE_LIVE_A_WEDGE_US,
	/**
	 * @SPINDLE_LIVE_A_AGREE_US: u64, third part: until it was decided which messages to deliver
	 * (reply only)
	 */
	SPINDLE_LIVE_A_AGREE_US,
	/**
	 * @SPINDLE_LIVE_A_INSTALL_US: u64, last part: until the new view was installed (reply only)
	 */
	SPINDLE_LIVE_A_INSTALL_US,
	/**
	 * @SPINDLE_LIVE_A_WITNESS: u32; several: id of a node that counts for the majority and is
	 * in no subgroup, 4 at most
	 */
	SPINDLE_LIVE_A_WITNESS,
	/**
	 * @SPINDLE_LIVE_A_SPARES: u32, 0..64, default 0: places for subgroups that SUBGROUP_CHANGE
	 * adds later, in the rows of all members. They count as subgroups of the view
	 */
	SPINDLE_LIVE_A_SPARES,
	/**
	 * @SPINDLE_LIVE_A_SPARE_WINDOW: u32, 1..65536, default 128, rounded up to a power of two:
	 * the largest window of a subgroup that takes a spare
	 */
	SPINDLE_LIVE_A_SPARE_WINDOW,
	/**
	 * @SPINDLE_LIVE_A_SPARE_RING: u32, the largest ring of a subgroup that takes a spare, a
	 * power of two from 4096 to 2^30, default 2^20
	 */
	SPINDLE_LIVE_A_SPARE_RING,
	/** @SPINDLE_LIVE_A_SPARES_FREE: u32, spares that no subgroup has taken (reply only) */
	SPINDLE_LIVE_A_SPARES_FREE,
	/**
	 * @SPINDLE_LIVE_A_WANTED_BY: u32, node id of the member that has asked the others for other
	 * subgroups, of several the one that the members follow; left out if none has (reply only)
	 */
	SPINDLE_LIVE_A_WANTED_BY,
	/**
	 * @SPINDLE_LIVE_A_OFFERED_BY: u32; several: node id of a member that would follow; the view
	 * changes to the other subgroups when all of them would (reply only)
	 */
	SPINDLE_LIVE_A_OFFERED_BY,
	/* private: */
	__SPINDLE_LIVE_A_MAX
#define SPINDLE_LIVE_A_MAX (__SPINDLE_LIVE_A_MAX - 1)
};

/**
 * enum spindle_live_member_attr - a member as a node sees it, reply only
 */
enum spindle_live_member_attr {
	/** @SPINDLE_LIVE_MEMBER_A_UNSPEC: never used */
	SPINDLE_LIVE_MEMBER_A_UNSPEC,
	/** @SPINDLE_LIVE_MEMBER_A_PAD: alignment of 64-bit attributes */
	SPINDLE_LIVE_MEMBER_A_PAD,
	/** @SPINDLE_LIVE_MEMBER_A_ID: u32, node id */
	SPINDLE_LIVE_MEMBER_A_ID,
	/**
	 * @SPINDLE_LIVE_MEMBER_A_RANK: u32, rank in the view; left out for a node that wants to
	 * join
	 */
	SPINDLE_LIVE_MEMBER_A_RANK,
	/**
	 * @SPINDLE_LIVE_MEMBER_A_STATE: u8, enum spindle_peer_state: state of the connection; left
	 * out for the node itself
	 */
	SPINDLE_LIVE_MEMBER_A_STATE,
	/** @SPINDLE_LIVE_MEMBER_A_VIEW: u64, the view that the member has installed */
	SPINDLE_LIVE_MEMBER_A_VIEW,
	/**
	 * @SPINDLE_LIVE_MEMBER_A_BEAT_MS: u64, milliseconds since its last sign of life; left out
	 * before the first
	 */
	SPINDLE_LIVE_MEMBER_A_BEAT_MS,
	/**
	 * @SPINDLE_LIVE_MEMBER_A_WHY: u8, enum spindle_why: why it is suspected here; left out if
	 * it is not
	 */
	SPINDLE_LIVE_MEMBER_A_WHY,
	/**
	 * @SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY: u32; several: node id of a member that suspects it
	 */
	SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY,
	/**
	 * @SPINDLE_LIVE_MEMBER_A_LAG: u64, messages of this node that the member has not delivered
	 * yet, in the subgroup with the most of them
	 */
	SPINDLE_LIVE_MEMBER_A_LAG,
	/** @SPINDLE_LIVE_MEMBER_A_LAG_BYTES: u64, bytes of these messages */
	SPINDLE_LIVE_MEMBER_A_LAG_BYTES,
	/**
	 * @SPINDLE_LIVE_MEMBER_A_REASON: string, why it is not connected; if this node has refused
	 * it, the last refusal
	 */
	SPINDLE_LIVE_MEMBER_A_REASON,
	/* private: */
	__SPINDLE_LIVE_MEMBER_A_MAX
#define SPINDLE_LIVE_MEMBER_A_MAX (__SPINDLE_LIVE_MEMBER_A_MAX - 1)
};

/**
 * enum spindle_rdmc_group_attr - an RDMC group at one member, reply only
 */
enum spindle_rdmc_group_attr {
	/** @SPINDLE_RDMC_GROUP_A_UNSPEC: never used */
	SPINDLE_RDMC_GROUP_A_UNSPEC,
	/** @SPINDLE_RDMC_GROUP_A_PAD: alignment of 64-bit attributes */
	SPINDLE_RDMC_GROUP_A_PAD,
	/**
	 * @SPINDLE_RDMC_GROUP_A_ID: u64, id of the group. A group that has ended, but whose file is
	 * not closed, may exist beside another group with the same id
	 */
	SPINDLE_RDMC_GROUP_A_ID,
	/** @SPINDLE_RDMC_GROUP_A_STATE: u8, enum spindle_rdmc_group_state: state of the group */
	SPINDLE_RDMC_GROUP_A_STATE,
	/**
	 * @SPINDLE_RDMC_GROUP_A_ERROR: u32, enum spindle_rdmc_error of <linux/spindle_rdmc.h>: why
	 * the group has failed; left out if it has not
	 */
	SPINDLE_RDMC_GROUP_A_ERROR,
	/**
	 * @SPINDLE_RDMC_GROUP_A_CULPRIT: u32, node id of the member that is the cause; left out if
	 * there is none
	 */
	SPINDLE_RDMC_GROUP_A_CULPRIT,
	/**
	 * @SPINDLE_RDMC_GROUP_A_ALGORITHM: u32, enum spindle_rdmc_algorithm of
	 * <linux/spindle_rdmc.h>: which member sends which block to which member, and when
	 */
	SPINDLE_RDMC_GROUP_A_ALGORITHM,
	/** @SPINDLE_RDMC_GROUP_A_BLOCK: u32, bytes of a block */
	SPINDLE_RDMC_GROUP_A_BLOCK,
	/**
	 * @SPINDLE_RDMC_GROUP_A_TIMEOUT_MS: u32, longest time without progress while there is work
	 */
	SPINDLE_RDMC_GROUP_A_TIMEOUT_MS,
	/** @SPINDLE_RDMC_GROUP_A_RANK: u32, own rank; 0: the root, which sends */
	SPINDLE_RDMC_GROUP_A_RANK,
	/**
	 * @SPINDLE_RDMC_GROUP_A_PID: u32, process that created the group, in the pid namespace of
	 * the process that asks; 0: it has no pid there
	 */
	SPINDLE_RDMC_GROUP_A_PID,
	/** @SPINDLE_RDMC_GROUP_A_COMM: string, name of the process at the creation */
	SPINDLE_RDMC_GROUP_A_COMM,
	/**
	 * @SPINDLE_RDMC_GROUP_A_RELEASED: u8, 1: the file is closed, and the rest of the group is
	 * ending
	 */
	SPINDLE_RDMC_GROUP_A_RELEASED,
	/** @SPINDLE_RDMC_GROUP_A_UNREAD: u32, events that the process has not read */
	SPINDLE_RDMC_GROUP_A_UNREAD,
	/**
	 * @SPINDLE_RDMC_GROUP_A_ANNOUNCED: u64, at the root, objects queued; at others, objects
	 * known
	 */
	SPINDLE_RDMC_GROUP_A_ANNOUNCED,
	/** @SPINDLE_RDMC_GROUP_A_ENDED: u64, objects that have ended here */
	SPINDLE_RDMC_GROUP_A_ENDED,
	/** @SPINDLE_RDMC_GROUP_A_COMPLETE: u64, of these objects, those that are complete */
	SPINDLE_RDMC_GROUP_A_COMPLETE,
	/**
	 * @SPINDLE_RDMC_GROUP_A_MEMBER: nest of enum spindle_rdmc_member_attr; several: members by
	 * rank
	 */
	SPINDLE_RDMC_GROUP_A_MEMBER,
	/**
	 * @SPINDLE_RDMC_GROUP_A_OBJECT: nest of enum spindle_rdmc_object_attr; several: objects by
	 * number that have not ended here, or, at the root, not everywhere
	 */
	SPINDLE_RDMC_GROUP_A_OBJECT,
	/**
	 * @SPINDLE_RDMC_GROUP_A_STATS: nest of enum spindle_rdmc_group_stat: counters of the group
	 */
	SPINDLE_RDMC_GROUP_A_STATS,
	/* private: */
	__SPINDLE_RDMC_GROUP_A_MAX
#define SPINDLE_RDMC_GROUP_A_MAX (__SPINDLE_RDMC_GROUP_A_MAX - 1)
};

/**
 * enum spindle_rdmc_member_attr - a member of an RDMC group as the node sees it, reply only
 */
enum spindle_rdmc_member_attr {
	/** @SPINDLE_RDMC_MEMBER_A_UNSPEC: never used */
	SPINDLE_RDMC_MEMBER_A_UNSPEC,
	/** @SPINDLE_RDMC_MEMBER_A_PAD: alignment of 64-bit attributes */
	SPINDLE_RDMC_MEMBER_A_PAD,
	/** @SPINDLE_RDMC_MEMBER_A_ID: u32, node id */
	SPINDLE_RDMC_MEMBER_A_ID,
	/**
	 * @SPINDLE_RDMC_MEMBER_A_STATE: u8, enum spindle_peer_state: state of the connection for
	 * blocks; left out for the node itself
	 */
	SPINDLE_RDMC_MEMBER_A_STATE,
	/** @SPINDLE_RDMC_MEMBER_A_REASON: string, why the connection is not up */
	SPINDLE_RDMC_MEMBER_A_REASON,
	/** @SPINDLE_RDMC_MEMBER_A_CREATED: u8, 1: the member has created the group, too */
	SPINDLE_RDMC_MEMBER_A_CREATED,
	/**
	 * @SPINDLE_RDMC_MEMBER_A_RACK: u16, rack that the member has reported; left out if it has a
	 * rack of its own, or has not reported yet
	 */
	SPINDLE_RDMC_MEMBER_A_RACK,
	/**
	 * @SPINDLE_RDMC_MEMBER_A_ENDED: u64, objects that have ended at the member; the root knows
	 * this of all members, other members only of themselves
	 */
	SPINDLE_RDMC_MEMBER_A_ENDED,
	/** @SPINDLE_RDMC_MEMBER_A_COMPLETE: u64, of these objects, those that are complete */
	SPINDLE_RDMC_MEMBER_A_COMPLETE,
	/** @SPINDLE_RDMC_MEMBER_A_BLOCKS: u32, blocks of the next object that the member has */
	SPINDLE_RDMC_MEMBER_A_BLOCKS,
	/** @SPINDLE_RDMC_MEMBER_A_TOTAL: u32, all blocks of that object; 0: there is none */
	SPINDLE_RDMC_MEMBER_A_TOTAL,
	/* private: */
	__SPINDLE_RDMC_MEMBER_A_MAX
#define SPINDLE_RDMC_MEMBER_A_MAX (__SPINDLE_RDMC_MEMBER_A_MAX - 1)
};

/**
 * enum spindle_rdmc_object_attr - an object in progress, reply only
 */
enum spindle_rdmc_object_attr {
	/** @SPINDLE_RDMC_OBJECT_A_UNSPEC: never used */
	SPINDLE_RDMC_OBJECT_A_UNSPEC,
	/** @SPINDLE_RDMC_OBJECT_A_PAD: alignment of 64-bit attributes */
	SPINDLE_RDMC_OBJECT_A_PAD,
	/** @SPINDLE_RDMC_OBJECT_A_NUMBER: u64, number of the object */
	SPINDLE_RDMC_OBJECT_A_NUMBER,
	/** @SPINDLE_RDMC_OBJECT_A_LEN: u64, bytes of the object */
	SPINDLE_RDMC_OBJECT_A_LEN,
	/** @SPINDLE_RDMC_OBJECT_A_TAG: u64, tag that the root has given the object */
	SPINDLE_RDMC_OBJECT_A_TAG,
	/** @SPINDLE_RDMC_OBJECT_A_PHASE: u8, enum spindle_rdmc_object_phase: phase of the object */
	SPINDLE_RDMC_OBJECT_A_PHASE,
	/** @SPINDLE_RDMC_OBJECT_A_BLOCKS: u32, blocks that are here; at the root, all */
	SPINDLE_RDMC_OBJECT_A_BLOCKS,
	/** @SPINDLE_RDMC_OBJECT_A_TOTAL: u32, all blocks of the object */
	SPINDLE_RDMC_OBJECT_A_TOTAL,
	/**
	 * @SPINDLE_RDMC_OBJECT_A_SINCE_MS: u64, milliseconds since the first block arrived here, or
	 * left the root; left out before that
	 */
	SPINDLE_RDMC_OBJECT_A_SINCE_MS,
	/**
	 * @SPINDLE_RDMC_OBJECT_A_ERROR: u32, enum spindle_rdmc_error of <linux/spindle_rdmc.h>: why
	 * the object was given up; left out if it was not
	 */
	SPINDLE_RDMC_OBJECT_A_ERROR,
	/* private: */
	__SPINDLE_RDMC_OBJECT_A_MAX
#define SPINDLE_RDMC_OBJECT_A_MAX (__SPINDLE_RDMC_OBJECT_A_MAX - 1)
};

/**
 * enum spindle_rdmc_group_stat - counters of an RDMC group at one member, all u64
 */
enum spindle_rdmc_group_stat {
	/** @SPINDLE_RDMC_GROUP_S_UNSPEC: never used */
	SPINDLE_RDMC_GROUP_S_UNSPEC,
	/** @SPINDLE_RDMC_GROUP_S_PAD: alignment of 64-bit attributes */
	SPINDLE_RDMC_GROUP_S_PAD,
	/** @SPINDLE_RDMC_GROUP_S_BLOCKS_IN: blocks that have arrived */
	SPINDLE_RDMC_GROUP_S_BLOCKS_IN,
	/** @SPINDLE_RDMC_GROUP_S_BLOCKS_OUT: blocks that were written to others */
	SPINDLE_RDMC_GROUP_S_BLOCKS_OUT,
	/** @SPINDLE_RDMC_GROUP_S_BYTES_IN: bytes that have arrived */
	SPINDLE_RDMC_GROUP_S_BYTES_IN,
	/** @SPINDLE_RDMC_GROUP_S_BYTES_OUT: bytes that were written to others */
	SPINDLE_RDMC_GROUP_S_BYTES_OUT,
	/** @SPINDLE_RDMC_GROUP_S_GRANTS: times that another member was allowed to write a block */
	SPINDLE_RDMC_GROUP_S_GRANTS,
	/** @SPINDLE_RDMC_GROUP_S_SAID: messages sent */
	SPINDLE_RDMC_GROUP_S_SAID,
	/** @SPINDLE_RDMC_GROUP_S_HEARD: messages received */
	SPINDLE_RDMC_GROUP_S_HEARD,
	/** @SPINDLE_RDMC_GROUP_S_COMPLETE: objects that ended complete */
	SPINDLE_RDMC_GROUP_S_COMPLETE,
	/** @SPINDLE_RDMC_GROUP_S_ABORTED: objects that ended with an error */
	SPINDLE_RDMC_GROUP_S_ABORTED,
	/* private: */
	__SPINDLE_RDMC_GROUP_S_MAX
#define SPINDLE_RDMC_GROUP_S_MAX (__SPINDLE_RDMC_GROUP_S_MAX - 1)
};

/**
 * enum spindle_visibility - when the reader of a guard may rely on it
 */
enum spindle_visibility {
	/** @SPINDLE_VISIBILITY_AUTO: POLL if the device keeps writes in order, else IMM */
	SPINDLE_VISIBILITY_AUTO,
	/** @SPINDLE_VISIBILITY_POLL: as soon as polling memory shows the guard */
	SPINDLE_VISIBILITY_POLL,
	/** @SPINDLE_VISIBILITY_IMM: when the completion of the write arrives */
	SPINDLE_VISIBILITY_IMM
};

/**
 * enum spindle_mode - delivery order of a subgroup, or table
 */
enum spindle_mode {
	/** @SPINDLE_MODE_ORDERED: atomic multicast: stable messages, one order everywhere */
	SPINDLE_MODE_ORDERED,
	/** @SPINDLE_MODE_UNORDERED: on receipt, first in first out per sender */
	SPINDLE_MODE_UNORDERED,
	/**
	 * @SPINDLE_MODE_TABLE: a table: members share rows of memory, see <linux/spindle_table.h>
	 */
	SPINDLE_MODE_TABLE,
	/**
	 * @SPINDLE_MODE_TABLE_READ: a table whose rows are read from their owners, and not pushed
	 */
	SPINDLE_MODE_TABLE_READ
};

/**
 * enum spindle_node_state - state of a node
 */
enum spindle_node_state {
	/** @SPINDLE_NODE_IDLE: no view */
	SPINDLE_NODE_IDLE,
	/** @SPINDLE_NODE_VIEW: a view is installed */
	SPINDLE_NODE_VIEW,
	/** @SPINDLE_NODE_DEAD: its RDMA device is gone; the node can only be removed */
	SPINDLE_NODE_DEAD
};

/**
 * enum spindle_peer_state - state of the connection to a peer
 */
enum spindle_peer_state {
	/** @SPINDLE_PEER_CONNECTING: not connected yet; the node tries again and again */
	SPINDLE_PEER_CONNECTING,
	/** @SPINDLE_PEER_SETUP: connected, memory rights are being exchanged */
	SPINDLE_PEER_SETUP,
	/** @SPINDLE_PEER_UP: in use */
	SPINDLE_PEER_UP,
	/** @SPINDLE_PEER_FAILED: lost; final until the next view */
	SPINDLE_PEER_FAILED
};

/**
 * enum spindle_event_kind - kinds of notifications
 */
enum spindle_event_kind {
	/** @SPINDLE_EVENT_NODE_ADD: a node was created */
	SPINDLE_EVENT_NODE_ADD,
	/** @SPINDLE_EVENT_NODE_DEL: a node was removed */
	SPINDLE_EVENT_NODE_DEL,
	/** @SPINDLE_EVENT_NODE_DEAD: a node lost its RDMA device */
	SPINDLE_EVENT_NODE_DEAD,
	/** @SPINDLE_EVENT_VIEW_INSTALL: a view was installed; members may still be connecting */
	SPINDLE_EVENT_VIEW_INSTALL,
	/** @SPINDLE_EVENT_VIEW_REMOVE: a view was removed */
	SPINDLE_EVENT_VIEW_REMOVE,
	/** @SPINDLE_EVENT_PEER_UP: the connection to a peer works */
	SPINDLE_EVENT_PEER_UP,
	/** @SPINDLE_EVENT_PEER_DOWN: a peer was lost, with reason */
	SPINDLE_EVENT_PEER_DOWN,
	/**
	 * @SPINDLE_EVENT_PEER_REFUSED: this node has refused a connection request or a proof of the
	 * key, or a peer has refused this node, which the reason then says. The rate is limited. A
	 * refusal that the next attempt resolves is not reported: those that differing views
	 * explain are reported after 3 seconds
	 */
	SPINDLE_EVENT_PEER_REFUSED,
	/** @SPINDLE_EVENT_SUBGROUP_ACTIVE: all members of a subgroup are connected */
	SPINDLE_EVENT_SUBGROUP_ACTIVE,
	/** @SPINDLE_EVENT_SUBGROUP_FAILED: a subgroup failed, with error and reason */
	SPINDLE_EVENT_SUBGROUP_FAILED,
	/** @SPINDLE_EVENT_RING_ERROR: an attachment was frozen, with error and reason */
	SPINDLE_EVENT_RING_ERROR,
	/** @SPINDLE_EVENT_READER_STALLED: a reader was detached, with reason */
	SPINDLE_EVENT_READER_STALLED,
	/** @SPINDLE_EVENT_SUSPECT: a member of a live view, PEER_ID, is suspected, with reason */
	SPINDLE_EVENT_SUSPECT,
	/**
	 * @SPINDLE_EVENT_CHANGING: the live view ends, with reason; VIEW_INSTALL or STOPPED follows
	 */
	SPINDLE_EVENT_CHANGING,
	/**
	 * @SPINDLE_EVENT_STOPPED: the node is no member of the live view any more, with error and
	 * reason
	 */
	SPINDLE_EVENT_STOPPED,
	/** @SPINDLE_EVENT_JOIN_FAILED: the node could not join, with reason */
	SPINDLE_EVENT_JOIN_FAILED,
	/** @SPINDLE_EVENT_RDMC_CREATED: a process has created an RDMC group, RDMC_ID */
	SPINDLE_EVENT_RDMC_CREATED,
	/** @SPINDLE_EVENT_RDMC_OPENED: all members have created the group */
	SPINDLE_EVENT_RDMC_OPENED,
	/**
	 * @SPINDLE_EVENT_RDMC_CLOSED: all members have closed the group, with RDMC_ERROR if some
	 * member does not have all objects
	 */
	SPINDLE_EVENT_RDMC_CLOSED,
	/**
	 * @SPINDLE_EVENT_RDMC_FAILED: the group has failed, with RDMC_ERROR and PEER_ID, the node
	 * that is the cause, possibly the node itself
	 */
	SPINDLE_EVENT_RDMC_FAILED,
	/**
	 * @SPINDLE_EVENT_READER_BEHIND: a reader was detached because the history forgot what it
	 * had not consumed, with LSN, the position of that
	 */
	SPINDLE_EVENT_READER_BEHIND,
	/**
	 * @SPINDLE_EVENT_RULES_FAILED: a change of the subgroups that this node has asked for has
	 * failed, with reason
	 */
	SPINDLE_EVENT_RULES_FAILED,
	/**
	 * @SPINDLE_EVENT_LOG_LAGGING: the log of this node has persisted nothing for LOG_STALL_MS
	 * although it has messages, with LSN, how far it is, and reason
	 */
	SPINDLE_EVENT_LOG_LAGGING,
	/**
	 * @SPINDLE_EVENT_LOG_BEHIND: the history has stopped to keep what the log has not
	 * persisted, with LSN, how far the log is
	 */
	SPINDLE_EVENT_LOG_BEHIND,
	/** @SPINDLE_EVENT_LOG_FULL: the logger says that its disk is full */
	SPINDLE_EVENT_LOG_FULL,
	/** @SPINDLE_EVENT_LOG_FAILED: the logger says that its disk has failed */
	SPINDLE_EVENT_LOG_FAILED,
	/**
	 * @SPINDLE_EVENT_LOG_OK: the log of this node writes again, after one of the four events
	 * before this one
	 */
	SPINDLE_EVENT_LOG_OK
};

/**
 * enum spindle_check - whether a request is only checked
 */
enum spindle_check {
	/** @SPINDLE_CHECK_NONE: the request is executed */
	SPINDLE_CHECK_NONE,
	/** @SPINDLE_CHECK_NOW: nothing is changed; the kernel refuses what it would refuse now */
	SPINDLE_CHECK_NOW,
	/**
	 * @SPINDLE_CHECK_ALONE: like CHECK_NOW, but existing nodes and views do not count. This is
	 * for a request that is planned behind others, which remove a node or create the one needed
	 */
	SPINDLE_CHECK_ALONE
};

/**
 * enum spindle_reads - where a reader finds its messages
 */
enum spindle_reads {
	/** @SPINDLE_READS_SLOTS: in the rings of the senders, whose slots it holds */
	SPINDLE_READS_SLOTS,
	/**
	 * @SPINDLE_READS_COPIES: in a ring of its own; while that is full it holds up the senders
	 */
	SPINDLE_READS_COPIES,
	/** @SPINDLE_READS_HISTORY: in the history of the subgroup; it holds up nobody */
	SPINDLE_READS_HISTORY
};

/**
 * enum spindle_on_exit - what a node does when its last reader of a subgroup has gone
 */
enum spindle_on_exit {
	/** @SPINDLE_ON_EXIT_DISCARD: the node goes on as a member and discards messages */
	SPINDLE_ON_EXIT_DISCARD,
	/** @SPINDLE_ON_EXIT_LEAVE: the node leaves the view, at once */
	SPINDLE_ON_EXIT_LEAVE
};

/**
 * enum spindle_live_state - state of a node in its live view
 */
enum spindle_live_state {
	/** @SPINDLE_LIVE_FORMING: the members of the first view connect to each other */
	SPINDLE_LIVE_FORMING,
	/**
	 * @SPINDLE_LIVE_JOINING: the node is no member yet: it asks, connects, waits for admission
	 */
	SPINDLE_LIVE_JOINING,
	/** @SPINDLE_LIVE_ACTIVE: messages flow */
	SPINDLE_LIVE_ACTIVE,
	/**
	 * @SPINDLE_LIVE_CHANGING: the view ends; the members agree on the next members and on the
	 * last messages
	 */
	SPINDLE_LIVE_CHANGING,
	/**
	 * @SPINDLE_LIVE_STOPPED: the node is no member any more; only a new join leads out of this
	 */
	SPINDLE_LIVE_STOPPED
};

/**
 * enum spindle_why - why a member is suspected, or a node has stopped
 */
enum spindle_why {
	/** @SPINDLE_WHY_FINE: neither */
	SPINDLE_WHY_FINE,
	/** @SPINDLE_WHY_SILENT: the member showed no sign of life for the timeout */
	SPINDLE_WHY_SILENT,
	/** @SPINDLE_WHY_LOST: the connection to the member broke */
	SPINDLE_WHY_LOST,
	/** @SPINDLE_WHY_GONE: the member reported that it has stopped */
	SPINDLE_WHY_GONE,
	/** @SPINDLE_WHY_ADMIN: an administrator asked for it */
	SPINDLE_WHY_ADMIN,
	/** @SPINDLE_WHY_GOSSIP: another member suspects the member */
	SPINDLE_WHY_GOSSIP,
	/** @SPINDLE_WHY_LIED: the member wrote what no correct member writes */
	SPINDLE_WHY_LIED,
	/** @SPINDLE_WHY_MINORITY: too few members are left to go on */
	SPINDLE_WHY_MINORITY,
	/** @SPINDLE_WHY_EVICTED: the other members have gone on without this node */
	SPINDLE_WHY_EVICTED,
	/** @SPINDLE_WHY_LEFT: the node has left on request */
	SPINDLE_WHY_LEFT,
	/** @SPINDLE_WHY_LAYOUT: the rules allow no next view */
	SPINDLE_WHY_LAYOUT
};

/**
 * enum spindle_switch - techniques that can be turned off, to measure their effect
 *
 * All are on by default; all off is the Spindle paper's baseline. Only NULLS changes a guarantee:
 * without it a member that does not send holds up the other senders.
 */
enum spindle_switch {
	/**
	 * @SPINDLE_SW_SEND_BATCH: all messages that are ready go out together; off: one per pass
	 */
	SPINDLE_SW_SEND_BATCH = 1 << 0,
	/**
	 * @SPINDLE_SW_RECV_BATCH: all messages that arrived are received together; off: one per
	 * pass
	 */
	SPINDLE_SW_RECV_BATCH = 1 << 1,
	/** @SPINDLE_SW_DLV_BATCH: all stable messages are delivered together; off: one per pass */
	SPINDLE_SW_DLV_BATCH = 1 << 2,
	/** @SPINDLE_SW_NULLS: a sender that lags gives up its rounds */
	SPINDLE_SW_NULLS = 1 << 3,
	/**
	 * @SPINDLE_SW_LATE_POST: writes are posted at the end of a pass, in one chain per member;
	 * off: by each predicate as soon as it has changed something
	 */
	SPINDLE_SW_LATE_POST = 1 << 4,
	/** @SPINDLE_SW_MERGED_ACKS: one write says what was received and what was delivered */
	SPINDLE_SW_MERGED_ACKS = 1 << 5,
	/**
	 * @SPINDLE_SW_PACKED: messages are sent at their length; off: in slots of max_msg bytes,
	 * which go out whole
	 */
	SPINDLE_SW_PACKED = 1 << 6,
	/**
	 * @SPINDLE_SW_TRACKING: the engine visits idle subgroups only now and then; off: in every
	 * pass
	 */
	SPINDLE_SW_TRACKING = 1 << 7,
	/**
	 * @SPINDLE_SW_EXPRESS: a single message of at most 128 bytes travels inside its guard, by
	 * one write; off: by three. Needs MERGED_ACKS and PACKED, too
	 */
	SPINDLE_SW_EXPRESS = 1 << 8
};

#define SPINDLE_SW_ALL		0x1ffU

/**
 * enum spindle_raw_kind - what to measure
 */
enum spindle_raw_kind {
	/**
	 * @SPINDLE_RAW_WRITE: one write after another, each to all other members, as fast as the
	 * send queues take them; the time ends with the last completion
	 */
	SPINDLE_RAW_WRITE,
	/**
	 * @SPINDLE_RAW_PINGPONG: a write to the next member, which polls for it and answers by a
	 * write back; both nodes must be of this kernel and of one engine
	 */
	SPINDLE_RAW_PINGPONG,
	/**
	 * @SPINDLE_RAW_READ: in a table of mode read: reads of the rows of all other members at
	 * once, from their begin; the next ones are posted when the last one has completed
	 */
	SPINDLE_RAW_READ
};

/**
 * enum spindle_ack - which logs make a message durable
 */
enum spindle_ack {
	/** @SPINDLE_ACK_ALL: those of all members */
	SPINDLE_ACK_ALL,
	/** @SPINDLE_ACK_MAJORITY: those of a majority of the members */
	SPINDLE_ACK_MAJORITY
};

/**
 * enum spindle_deliver - when readers get a message
 */
enum spindle_deliver {
	/** @SPINDLE_DELIVER_STABLE: when all members have received it */
	SPINDLE_DELIVER_STABLE,
	/** @SPINDLE_DELIVER_DURABLE: when it is durable; only the logger gets it before */
	SPINDLE_DELIVER_DURABLE
};

/**
 * enum spindle_on_log_stall - what a node does when its log has persisted nothing for
 *	LOG_STALL_MS
 */
enum spindle_on_log_stall {
	/**
	 * @SPINDLE_ON_LOG_STALL_WAIT: messages wait for the log when the history is full of what it
	 * has not persisted
	 */
	SPINDLE_ON_LOG_STALL_WAIT,
	/**
	 * @SPINDLE_ON_LOG_STALL_FORGET: the history may forget what the log has not persisted; the
	 * logger has to fetch that from the logs of others
	 */
	SPINDLE_ON_LOG_STALL_FORGET,
	/** @SPINDLE_ON_LOG_STALL_LEAVE: the node leaves the view */
	SPINDLE_ON_LOG_STALL_LEAVE
};

/**
 * enum spindle_rdmc_group_state - state of an RDMC group at one member
 */
enum spindle_rdmc_group_state {
	/** @SPINDLE_RDMC_GROUP_OPENING: not all members have created the group */
	SPINDLE_RDMC_GROUP_OPENING,
	/** @SPINDLE_RDMC_GROUP_OPEN: objects flow */
	SPINDLE_RDMC_GROUP_OPEN,
	/** @SPINDLE_RDMC_GROUP_CLOSING: this member has nothing more to do */
	SPINDLE_RDMC_GROUP_CLOSING,
	/** @SPINDLE_RDMC_GROUP_CLOSED: all members have closed the group */
	SPINDLE_RDMC_GROUP_CLOSED,
	/** @SPINDLE_RDMC_GROUP_FAILING: the group has failed; memory may still be in use */
	SPINDLE_RDMC_GROUP_FAILING,
	/** @SPINDLE_RDMC_GROUP_FAILED: the group has failed; no memory is in use any more */
	SPINDLE_RDMC_GROUP_FAILED
};

/**
 * enum spindle_rdmc_object_phase - phase of an object at one member
 */
enum spindle_rdmc_object_phase {
	/** @SPINDLE_RDMC_OBJECT_NONE: not begun */
	SPINDLE_RDMC_OBJECT_NONE,
	/** @SPINDLE_RDMC_OBJECT_WAITING: the process has not given memory for the object */
	SPINDLE_RDMC_OBJECT_WAITING,
	/** @SPINDLE_RDMC_OBJECT_MOVING: the process has given memory, and blocks move */
	SPINDLE_RDMC_OBJECT_MOVING,
	/** @SPINDLE_RDMC_OBJECT_STOPPING: given up; memory may still be in use */
	SPINDLE_RDMC_OBJECT_STOPPING,
	/** @SPINDLE_RDMC_OBJECT_COMPLETE: ended here, complete */
	SPINDLE_RDMC_OBJECT_COMPLETE,
	/** @SPINDLE_RDMC_OBJECT_ABORTED: ended here, with an error */
	SPINDLE_RDMC_OBJECT_ABORTED
};

#endif /* _UAPI_LINUX_SPINDLE_GENL_H */
