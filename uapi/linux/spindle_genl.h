/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note OR MIT */
/*
 * Spindle: generic netlink family "spindle".
 *
 * Nodes, views and subgroups are configured here; Documentation/netlink/spindle.yaml
 * is the same contract in the kernel's specification language. All numbers are in
 * host byte order but for addresses, which are in network byte order.
 *
 * Requests that change something need CAP_NET_ADMIN in the user namespace that owns
 * the network namespace. A refused request changes nothing, and its extended
 * acknowledgment carries a text and the offset of the offending attribute.
 */
#ifndef _UAPI_LINUX_SPINDLE_GENL_H
#define _UAPI_LINUX_SPINDLE_GENL_H

#define SPINDLE_GENL_NAME	"spindle"
#define SPINDLE_GENL_VERSION	1
#define SPINDLE_GENL_MCGRP	"events"

#define SPINDLE_CLUSTER_LEN	23	/* characters of a cluster name */
#define SPINDLE_NAME_LEN	31	/* characters of a subgroup name */

/* What is taken for attributes that are left out. */
#define SPINDLE_DEF_CLUSTER	"spindle"
#define SPINDLE_DEF_PORT	4790
#define SPINDLE_DEF_IDLE_US	50
#define SPINDLE_DEF_WINDOW	128
#define SPINDLE_DEF_MAX_MSG	10240

#define SPINDLE_MAX_IDLE_US	1000000
#define SPINDLE_MAX_ENGINE	1023
#define SPINDLE_MAX_NET_NODES	256	/* nodes of a network namespace */
#define SPINDLE_NO_RACK		0xffff	/* default: a rack of its own */

/* Live views. */
#define SPINDLE_DEF_TIMEOUT_MS	500
#define SPINDLE_MIN_TIMEOUT_MS	20
#define SPINDLE_MAX_TIMEOUT_MS	60000
#define SPINDLE_DEF_MAX_NODES	16
#define SPINDLE_MAX_WITNESSES	4	/* members that are in no subgroup, by name */
#define SPINDLE_MAX_KEY		64	/* bytes of a group key */
#define SPINDLE_MIN_KEY		16
#define SPINDLE_LINEAGE_LEN	16	/* bytes of a lineage */
#define SPINDLE_MAX_CONTACTS	64	/* of a request */

/**
 * enum spindle_cmd - requests, replies and notifications
 * @SPINDLE_CMD_UNSPEC: never used
 * @SPINDLE_CMD_NODE_ADD: create a node: NODE_ID, ADDR4 or ADDR6; optional CLUSTER,
 *	PORT, VISIBILITY, IDLE_US, ENGINE, CPU, RACK, CHECK. EEXIST if the id is taken in this
 *	network namespace, ENOSPC if it has 256 nodes, EADDRINUSE, EADDRNOTAVAIL, ENODEV (the
 *	address belongs to no RDMA device)
 * @SPINDLE_CMD_NODE_DEL: remove a node and its view: NODE_ID
 * @SPINDLE_CMD_NODE_GET: one node (NODE_ID) or, as a dump, all of this namespace
 * @SPINDLE_CMD_VIEW_SET: install a view on a node: NODE_ID, VIEW_ID, MEMBER (several),
 *	SUBGROUP (several). The same view again is a success without effect; the same
 *	id with other content is EEXIST; a lower id is ESTALE; a higher one replaces. The
 *	addresses of a view are all IPv4 or all IPv6. With LIVE it is the first of a series
 *	that changes by itself as members come and go; EBUSY while the node is in another. It
 *	begins at once, which is the explicit word for a new group; with CONTACT (several) each
 *	is asked first, once, and if one is in a live view of the cluster, or about to begin one,
 *	the view does not begin, and SPINDLE_EVENT_JOIN_FAILED names it. Optional LINEAGE, CHECK;
 *	at a node without a key INSECURE, or ENOKEY
 * @SPINDLE_CMD_VIEW_DEL: remove a node's view, give a join up, and forget the lineage of the
 *	last live view: NODE_ID. ENOENT if there is none of these
 * @SPINDLE_CMD_VIEW_GET: the view of one node, or of all (dump; NODE_ID filters); of a live
 *	one LIVE, too, with what was given, RULE of each subgroup, and INSECURE if that was given
 * @SPINDLE_CMD_SUBGROUP_GET: subgroups with state and counters, one message each
 *	(dump; NODE_ID and SUBGROUP_ID filter)
 * @SPINDLE_CMD_STATS_GET: a node with the counters of its engine and of each PEER; if it has
 *	refused somebody, the last one: PEER_ID as that one gave it, 0: none, and REASON
 *	(dump; NODE_ID filters)
 * @SPINDLE_CMD_EVENT: notification: EVENT, NODE_ID and what applies of VIEW_ID,
 *	SUBGROUP_ID, PEER_ID, ERROR, REASON, RDMC_ID, RDMC_ERROR
 * @SPINDLE_CMD_NODE_SET: change a node while it runs: NODE_ID; optional IDLE_US, TIMING,
 *	RACK, which groups take that are created from then on
 * @SPINDLE_CMD_SUBGROUP_SET: tune a node's end of a subgroup while it runs, until the
 *	view is replaced: NODE_ID, SUBGROUP_ID, TUNE. EBUSY if PACKED is to change while a
 *	sender is attached
 * @SPINDLE_CMD_RAW_RUN: measure what the device itself does, with writes into the node's
 *	idle ring at the other members: NODE_ID, SUBGROUP_ID, RAW; the reply has RAW. The
 *	engine does nothing else meanwhile, so a request takes 0.1 s at most, and COUNT of
 *	the reply says how far it came. EPERM if the node is no sender of the subgroup, EBUSY
 *	if the subgroup is not active or a sender is attached, EOPNOTSUPP for a ping-pong
 *	with a node of another kernel or engine, ENOTCONN if a member is lost meanwhile,
 *	ETIMEDOUT if the device does not answer
 * @SPINDLE_CMD_NODE_JOIN: join the live view that a member, the contact, is in: NODE_ID, CONTACT
 *	(1 to 64), or of a single one ADDR4 or ADDR6 and optional PORT; optional LINEAGE. Returns
 *	when it has begun; SPINDLE_EVENT_VIEW_INSTALL or SPINDLE_EVENT_JOIN_FAILED tells the end,
 *	STATUS_GET how far it is. Contacts are asked in turn, again and again, until the node is
 *	in, or NODE_LEAVE, VIEW_DEL or NODE_DEL gives it up, or all contacts refuse it for a
 *	reason that time does not change: another key, cluster, protocol or lineage, no room, an
 *	id that another node has. EBUSY if the node is in a view or joins already. A node that
 *	was evicted, or stopped, joins its own lineage only, unless LINEAGE says another one or
 *	VIEW_DEL came between. At a node without a key INSECURE, or ENOKEY
 * @SPINDLE_CMD_NODE_LEAVE: leave the live view, or give a join up: NODE_ID. Returns when it has
 *	begun; SPINDLE_EVENT_STOPPED tells the end, or SPINDLE_EVENT_JOIN_FAILED that of a join.
 *	ENOENT if the node is in none, EALREADY if it leaves already, EBUSY if the rules cannot
 *	be met without it
 * @SPINDLE_CMD_NODE_EVICT: have the members of a live view go on without one: NODE_ID, PEER_ID.
 *	EINVAL if it is the node itself, ENOENT if it is no member, EBUSY if the rules cannot be
 *	met without it or too few would be left
 * @SPINDLE_CMD_STATUS_GET: NODE_ID, CLUSTER and LIVE of each node, of a member VIEW_ID and
 *	LINEAGE, of a node that joins each CONTACT, and of both INSECURE if that was given (dump;
 *	NODE_ID filters). A node whose last
 *	join has failed has REASON instead of LIVE; one whose RDMA device is gone has REASON,
 *	ERROR and the VIEW_ID that it was in. Other nodes that are in no live view and join none
 *	are left out
 * @SPINDLE_CMD_RDMC_GET: RDMC groups, one message each: NODE_ID and RDMC (dump; NODE_ID and
 *	RDMC_ID filter). A group is there from its creation until its file is closed and no
 *	memory is in use any more, or until its node leaves the view
 */
enum spindle_cmd {
	SPINDLE_CMD_UNSPEC,
	SPINDLE_CMD_NODE_ADD,
	SPINDLE_CMD_NODE_DEL,
	SPINDLE_CMD_NODE_GET,
	SPINDLE_CMD_VIEW_SET,
	SPINDLE_CMD_VIEW_DEL,
	SPINDLE_CMD_VIEW_GET,
	SPINDLE_CMD_SUBGROUP_GET,
	SPINDLE_CMD_STATS_GET,
	SPINDLE_CMD_EVENT,
	SPINDLE_CMD_NODE_SET,
	SPINDLE_CMD_SUBGROUP_SET,
	SPINDLE_CMD_RAW_RUN,
	SPINDLE_CMD_NODE_JOIN,
	SPINDLE_CMD_NODE_LEAVE,
	SPINDLE_CMD_NODE_EVICT,
	SPINDLE_CMD_STATUS_GET,
	SPINDLE_CMD_RDMC_GET,
	/* private: */
	__SPINDLE_CMD_MAX
#define SPINDLE_CMD_MAX (__SPINDLE_CMD_MAX - 1)
};

/**
 * enum spindle_attr - top-level attributes
 * @SPINDLE_A_UNSPEC: never used
 * @SPINDLE_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_A_NODE_ID: u32, from 1
 * @SPINDLE_A_CLUSTER: string, 1..23 characters, default "spindle"; peers of another
 *	cluster are refused
 * @SPINDLE_A_ADDR4: u32, network byte order
 * @SPINDLE_A_ADDR6: 16 bytes
 * @SPINDLE_A_PORT: u16, default 4790
 * @SPINDLE_A_VISIBILITY: u8, enum spindle_visibility
 * @SPINDLE_A_IDLE_US: u32, microseconds that the engine polls without work before it
 *	sleeps, 0..1000000, default 50; more than that needs CAP_SYS_NICE, or EPERM
 * @SPINDLE_A_ENGINE: u32, engine that serves the node; nodes of one network namespace
 *	with the same number share a thread. 0..1023, default 0
 * @SPINDLE_A_CPU: u32, CPU that the engine is bound to; all nodes of an engine must
 *	agree. Default: any; another one needs CAP_SYS_NICE, or EPERM
 * @SPINDLE_A_DEVICE: string, name of the RDMA device (reply only)
 * @SPINDLE_A_NODE_STATE: u8, enum spindle_node_state (reply only)
 * @SPINDLE_A_INCARNATION: u64, tells two lives of a node apart (reply only)
 * @SPINDLE_A_VIEW_ID: u64, from 1
 * @SPINDLE_A_MEMBER: nest of enum spindle_member_attr; several, in rank order
 * @SPINDLE_A_SUBGROUP: nest of enum spindle_subgroup_attr; several
 * @SPINDLE_A_SUBGROUP_ID: u32
 * @SPINDLE_A_PEER_ID: u32, node id of a peer
 * @SPINDLE_A_PEER: nest of enum spindle_peer_attr; several (reply only)
 * @SPINDLE_A_STATS: nest of enum spindle_engine_stat (reply only)
 * @SPINDLE_A_EVENT: u8, enum spindle_event_kind
 * @SPINDLE_A_ERROR: u32, enum spindle_error of <linux/spindle.h>
 * @SPINDLE_A_REASON: string for people
 * @SPINDLE_A_TIMING: u8, 1: the engine of the node measures where its time goes, which
 *	costs two looks at the clock per pass with work. Default 0
 * @SPINDLE_A_TUNE: nest of enum spindle_tune_attr
 * @SPINDLE_A_RAW: nest of enum spindle_raw_attr
 * @SPINDLE_A_LIVE: nest of enum spindle_live_attr
 * @SPINDLE_A_KEY: binary, 16 to 64 bytes, of NODE_ADD: peers have to prove that they know it.
 *	Of NODE_SET, for a node that was added with one: the next key; the one that it replaces
 *	is the former key from then on. Never shown
 * @SPINDLE_A_KEYED: u8, 1: the node was added with a key, 0: without (reply only)
 * @SPINDLE_A_RACK: u16, where the node is, for the hybrid algorithm of RDMC groups: nodes with
 *	the same number share a rack. 0..65534; 65535 (default): a rack of its own
 * @SPINDLE_A_RDMC: nest of enum spindle_rdmc_group_attr (reply only)
 * @SPINDLE_A_RDMC_ID: u64, id of an RDMC group
 * @SPINDLE_A_RDMC_ERROR: u32, enum spindle_rdmc_error of <linux/spindle_rdmc.h>
 * @SPINDLE_A_FORMER_KEY: u8, of a reply: 1: peers that have the key which the present one has
 *	replaced are accepted, too. Of NODE_SET: 0: they are not any more
 * @SPINDLE_A_CHECK: u8, enum spindle_check: NODE_ADD and VIEW_SET check and change nothing
 * @SPINDLE_A_CONTACT: nest of enum spindle_contact_attr; several, 64 at most
 * @SPINDLE_A_LINEAGE: 16 bytes, not all 0: what a live view and all that follow from it have in
 *	common. Of VIEW_SET: default random if the view has one member; if it has more, all of
 *	them get the same by the same request. Of NODE_JOIN: a view of another one is not joined
 * @SPINDLE_A_INSECURE: flag: the live view is one without a key, so that any host which reaches
 *	the port of a member can become one. Of VIEW_SET with LIVE, and of NODE_JOIN: a node
 *	without a key needs it; EINVAL if the node has a key
 */
enum spindle_attr {
	SPINDLE_A_UNSPEC,
	SPINDLE_A_PAD,
	SPINDLE_A_NODE_ID,
	SPINDLE_A_CLUSTER,
	SPINDLE_A_ADDR4,
	SPINDLE_A_ADDR6,
	SPINDLE_A_PORT,
	SPINDLE_A_VISIBILITY,
	SPINDLE_A_IDLE_US,
	SPINDLE_A_ENGINE,
	SPINDLE_A_CPU,
	SPINDLE_A_DEVICE,
	SPINDLE_A_NODE_STATE,
	SPINDLE_A_INCARNATION,
	SPINDLE_A_VIEW_ID,
	SPINDLE_A_MEMBER,
	SPINDLE_A_SUBGROUP,
	SPINDLE_A_SUBGROUP_ID,
	SPINDLE_A_PEER_ID,
	SPINDLE_A_PEER,
	SPINDLE_A_STATS,
	SPINDLE_A_EVENT,
	SPINDLE_A_ERROR,
	SPINDLE_A_REASON,
	SPINDLE_A_TIMING,
	SPINDLE_A_TUNE,
	SPINDLE_A_RAW,
	SPINDLE_A_LIVE,
	SPINDLE_A_KEY,
	SPINDLE_A_KEYED,
	SPINDLE_A_RACK,
	SPINDLE_A_RDMC,
	SPINDLE_A_RDMC_ID,
	SPINDLE_A_RDMC_ERROR,
	SPINDLE_A_FORMER_KEY,
	SPINDLE_A_CHECK,
	SPINDLE_A_CONTACT,
	SPINDLE_A_LINEAGE,
	SPINDLE_A_INSECURE,
	/* private: */
	__SPINDLE_A_MAX
#define SPINDLE_A_MAX (__SPINDLE_A_MAX - 1)
};

/**
 * enum spindle_member_attr - a member of a view
 * @SPINDLE_MEMBER_A_UNSPEC: never used
 * @SPINDLE_MEMBER_A_ID: u32, node id
 * @SPINDLE_MEMBER_A_ADDR4: u32, network byte order
 * @SPINDLE_MEMBER_A_ADDR6: 16 bytes
 * @SPINDLE_MEMBER_A_PORT: u16, default 4790
 */
enum spindle_member_attr {
	SPINDLE_MEMBER_A_UNSPEC,
	SPINDLE_MEMBER_A_ID,
	SPINDLE_MEMBER_A_ADDR4,
	SPINDLE_MEMBER_A_ADDR6,
	SPINDLE_MEMBER_A_PORT,
	/* private: */
	__SPINDLE_MEMBER_A_MAX
#define SPINDLE_MEMBER_A_MAX (__SPINDLE_MEMBER_A_MAX - 1)
};

/**
 * enum spindle_contact_attr - a node that is asked for the view that it is in
 * @SPINDLE_CONTACT_A_UNSPEC: never used
 * @SPINDLE_CONTACT_A_ADDR4: u32, network byte order
 * @SPINDLE_CONTACT_A_ADDR6: 16 bytes
 * @SPINDLE_CONTACT_A_PORT: u16, default 4790
 * @SPINDLE_CONTACT_A_REASON: string, what came of asking it last; left out before (reply only)
 * @SPINDLE_CONTACT_A_FINAL: u8, 1: time does not change that (reply only)
 */
enum spindle_contact_attr {
	SPINDLE_CONTACT_A_UNSPEC,
	SPINDLE_CONTACT_A_ADDR4,
	SPINDLE_CONTACT_A_ADDR6,
	SPINDLE_CONTACT_A_PORT,
	SPINDLE_CONTACT_A_REASON,
	SPINDLE_CONTACT_A_FINAL,
	/* private: */
	__SPINDLE_CONTACT_A_MAX
#define SPINDLE_CONTACT_A_MAX (__SPINDLE_CONTACT_A_MAX - 1)
};

/**
 * enum spindle_subgroup_attr - a subgroup of a view
 * @SPINDLE_SUBGROUP_A_UNSPEC: never used
 * @SPINDLE_SUBGROUP_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_SUBGROUP_A_ID: u32
 * @SPINDLE_SUBGROUP_A_NAME: string, up to 31 characters, optional
 * @SPINDLE_SUBGROUP_A_MODE: u8, enum spindle_mode, default ordered
 * @SPINDLE_SUBGROUP_A_WINDOW: u32, slots of each sender, 1..65536, default 128; rounded
 *	up to a power of two
 * @SPINDLE_SUBGROUP_A_MAX_MSG: u32, 1..2^28 bytes, at most the ring, default 10240. In
 *	subgroups with more than SPINDLE_DEF_LARGE, messages above TUNE_A_LARGE go by RDMC
 * @SPINDLE_SUBGROUP_A_RING: u32, bytes of each sender's payload ring, a power of two
 *	from 4096 to 2^30; default: window times max_msg, this rounded up to 64, but at
 *	most the greater of 1 MiB and four messages; all rounded up to a power of two
 * @SPINDLE_SUBGROUP_A_HOLD: u8, 1: messages wait for the first local attachment (default),
 *	0: a member without attachment discards
 * @SPINDLE_SUBGROUP_A_NODE: nest of enum spindle_subgroup_node_attr; several, default: all
 *	members of the view, all of them senders
 * @SPINDLE_SUBGROUP_A_STATE: u8, enum spindle_state (reply only)
 * @SPINDLE_SUBGROUP_A_ERROR: u32, enum spindle_error (reply only)
 * @SPINDLE_SUBGROUP_A_STATS: nest of enum spindle_subgroup_stat (reply only)
 * @SPINDLE_SUBGROUP_A_READERS: u32, attachments that read (reply only)
 * @SPINDLE_SUBGROUP_A_SENDER: u8, 1: a sender is attached (reply only)
 * @SPINDLE_SUBGROUP_A_TUNE: nest of enum spindle_tune_attr (reply only)
 * @SPINDLE_SUBGROUP_A_SEND_HIST: binary, batches of the send predicate by size: 17 u64,
 *	entry i counts batches of 2^i messages and more, but fewer than 2^(i+1) (reply only)
 * @SPINDLE_SUBGROUP_A_RECV_HIST: binary, the same of the receive predicate (reply only)
 * @SPINDLE_SUBGROUP_A_DLV_HIST: binary, the same of the deliver predicate (reply only)
 * @SPINDLE_SUBGROUP_A_READER: nest of enum spindle_reader_attr; several, 32 at most, the one
 *	that lags most first (reply only)
 * @SPINDLE_SUBGROUP_A_ROW: nest of enum spindle_row_attr; several, by rank (reply only)
 * @SPINDLE_SUBGROUP_A_RULE: nest of enum spindle_rule_attr, of a live view: who is in the
 *	subgroup in the views that follow. NODE names those that may be in it, whenever they
 *	are members of the view; if none is named all may
 */
enum spindle_subgroup_attr {
	SPINDLE_SUBGROUP_A_UNSPEC,
	SPINDLE_SUBGROUP_A_PAD,
	SPINDLE_SUBGROUP_A_ID,
	SPINDLE_SUBGROUP_A_NAME,
	SPINDLE_SUBGROUP_A_MODE,
	SPINDLE_SUBGROUP_A_WINDOW,
	SPINDLE_SUBGROUP_A_MAX_MSG,
	SPINDLE_SUBGROUP_A_RING,
	SPINDLE_SUBGROUP_A_HOLD,
	SPINDLE_SUBGROUP_A_NODE,
	SPINDLE_SUBGROUP_A_STATE,
	SPINDLE_SUBGROUP_A_ERROR,
	SPINDLE_SUBGROUP_A_STATS,
	SPINDLE_SUBGROUP_A_READERS,
	SPINDLE_SUBGROUP_A_SENDER,
	SPINDLE_SUBGROUP_A_TUNE,
	SPINDLE_SUBGROUP_A_SEND_HIST,
	SPINDLE_SUBGROUP_A_RECV_HIST,
	SPINDLE_SUBGROUP_A_DLV_HIST,
	SPINDLE_SUBGROUP_A_READER,
	SPINDLE_SUBGROUP_A_ROW,
	SPINDLE_SUBGROUP_A_RULE,
	/* private: */
	__SPINDLE_SUBGROUP_A_MAX
#define SPINDLE_SUBGROUP_A_MAX (__SPINDLE_SUBGROUP_A_MAX - 1)
};

/**
 * enum spindle_subgroup_node_attr - a member of a subgroup
 * @SPINDLE_SUBGROUP_NODE_A_UNSPEC: never used
 * @SPINDLE_SUBGROUP_NODE_A_ID: u32, node id, a member of the view
 * @SPINDLE_SUBGROUP_NODE_A_SENDER: u8, 1: may send (default), 0: only receives
 */
enum spindle_subgroup_node_attr {
	SPINDLE_SUBGROUP_NODE_A_UNSPEC,
	SPINDLE_SUBGROUP_NODE_A_ID,
	SPINDLE_SUBGROUP_NODE_A_SENDER,
	/* private: */
	__SPINDLE_SUBGROUP_NODE_A_MAX
#define SPINDLE_SUBGROUP_NODE_A_MAX (__SPINDLE_SUBGROUP_NODE_A_MAX - 1)
};

/**
 * enum spindle_rule_attr - who is in a subgroup of a live view
 * @SPINDLE_RULE_A_UNSPEC: never used
 * @SPINDLE_RULE_A_SHARDS: u32, 1..64, default 1: so many subgroups, with ids from the one
 *	given, that share the nodes among them: each node is in one. A node stays where it is
 *	as long as it can
 * @SPINDLE_RULE_A_MIN: u32, 1..64, default 1: fewer members are not enough. A change that
 *	somebody asks for and that would leave fewer is refused; after a failure the subgroup
 *	waits, FORMING, until there are enough
 * @SPINDLE_RULE_A_ON_EXIT: u8, enum spindle_on_exit
 * @SPINDLE_RULE_A_SENDERS: u8, 1: all members may send (default), 0: only those that are named
 *	as senders
 * @SPINDLE_RULE_A_NODE: nest of enum spindle_subgroup_node_attr; several: the nodes that the
 *	rule names, whether they are members now or not; none: all may be in it (reply only)
 */
enum spindle_rule_attr {
	SPINDLE_RULE_A_UNSPEC,
	SPINDLE_RULE_A_SHARDS,
	SPINDLE_RULE_A_MIN,
	SPINDLE_RULE_A_ON_EXIT,
	SPINDLE_RULE_A_SENDERS,
	SPINDLE_RULE_A_NODE,
	/* private: */
	__SPINDLE_RULE_A_MAX
#define SPINDLE_RULE_A_MAX (__SPINDLE_RULE_A_MAX - 1)
};

/**
 * enum spindle_on_exit - what the end of a node's last reader of a subgroup means
 * @SPINDLE_ON_EXIT_DISCARD: the node goes on as a member and discards messages
 * @SPINDLE_ON_EXIT_LEAVE: the node leaves the view, at once
 */
enum spindle_on_exit {
	SPINDLE_ON_EXIT_DISCARD,
	SPINDLE_ON_EXIT_LEAVE
};

/**
 * enum spindle_live_attr - a live view
 * @SPINDLE_LIVE_A_UNSPEC: never used
 * @SPINDLE_LIVE_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_LIVE_A_TIMEOUT_MS: u32, 20..60000, default 500: a member that shows no life for so
 *	long is suspected
 * @SPINDLE_LIVE_A_MAX_NODES: u32, 1..64, default 16: members at most
 * @SPINDLE_LIVE_A_QUORUM: u8, 1: only a majority of a view goes on to the next (default), 0:
 *	any part does, so that two may, each by itself
 * @SPINDLE_LIVE_A_STATE: u8, enum spindle_live_state (reply only)
 * @SPINDLE_LIVE_A_WHY: u8, enum spindle_why: why it has stopped (reply only)
 * @SPINDLE_LIVE_A_REASON: string, what happened last (reply only)
 * @SPINDLE_LIVE_A_MEMBER: nest of enum spindle_live_member_attr; several, by rank, then nodes
 *	that want to join (reply only)
 * @SPINDLE_LIVE_A_CHANGES: u64, views installed (reply only)
 * @SPINDLE_LIVE_A_DETECT_US: u64, of the last change of the view: from the last sign of life of
 *	who was suspected first to the suspicion, microseconds; 0: nobody was, or not for
 *	silence or a lost connection (reply only)
 * @SPINDLE_LIVE_A_WEDGE_US: u64, from there to the end of all traffic of the old view (reply
 *	only)
 * @SPINDLE_LIVE_A_AGREE_US: u64, from there until it was decided what to deliver (reply only)
 * @SPINDLE_LIVE_A_INSTALL_US: u64, from there until the new view was installed (reply only)
 * @SPINDLE_LIVE_A_WITNESS: u32, id of a node that counts for the majority and is in no subgroup;
 *	several, 4 at most
 */
enum spindle_live_attr {
	SPINDLE_LIVE_A_UNSPEC,
	SPINDLE_LIVE_A_PAD,
	SPINDLE_LIVE_A_TIMEOUT_MS,
	SPINDLE_LIVE_A_MAX_NODES,
	SPINDLE_LIVE_A_QUORUM,
	SPINDLE_LIVE_A_STATE,
	SPINDLE_LIVE_A_WHY,
	SPINDLE_LIVE_A_REASON,
	SPINDLE_LIVE_A_MEMBER,
	SPINDLE_LIVE_A_CHANGES,
	SPINDLE_LIVE_A_DETECT_US,
	SPINDLE_LIVE_A_WEDGE_US,
	SPINDLE_LIVE_A_AGREE_US,
	SPINDLE_LIVE_A_INSTALL_US,
	SPINDLE_LIVE_A_WITNESS,
	/* private: */
	__SPINDLE_LIVE_A_MAX
#define SPINDLE_LIVE_A_MAX (__SPINDLE_LIVE_A_MAX - 1)
};

/**
 * enum spindle_live_state - where a node is with its live view
 * @SPINDLE_LIVE_FORMING: the members of the first view connect to each other
 * @SPINDLE_LIVE_JOINING: no member yet: it asks, connects, waits to be let in
 * @SPINDLE_LIVE_ACTIVE: messages flow
 * @SPINDLE_LIVE_CHANGING: the view ends: it is being agreed who goes on, and with what
 * @SPINDLE_LIVE_STOPPED: for good, until it joins again
 */
enum spindle_live_state {
	SPINDLE_LIVE_FORMING,
	SPINDLE_LIVE_JOINING,
	SPINDLE_LIVE_ACTIVE,
	SPINDLE_LIVE_CHANGING,
	SPINDLE_LIVE_STOPPED
};

/**
 * enum spindle_why - why a member is suspected, or a node has stopped
 * @SPINDLE_WHY_FINE: it is not
 * @SPINDLE_WHY_SILENT: no sign of life for the timeout
 * @SPINDLE_WHY_LOST: the connection to it broke
 * @SPINDLE_WHY_GONE: it said that it has stopped
 * @SPINDLE_WHY_ADMIN: the administrator said so
 * @SPINDLE_WHY_GOSSIP: another member suspects it
 * @SPINDLE_WHY_LIED: it wrote what no correct member writes
 * @SPINDLE_WHY_MINORITY: too few members are left to go on
 * @SPINDLE_WHY_EVICTED: the others have gone on without it
 * @SPINDLE_WHY_LEFT: it has left, as it was asked to
 * @SPINDLE_WHY_LAYOUT: the rules have no next view
 */
enum spindle_why {
	SPINDLE_WHY_FINE,
	SPINDLE_WHY_SILENT,
	SPINDLE_WHY_LOST,
	SPINDLE_WHY_GONE,
	SPINDLE_WHY_ADMIN,
	SPINDLE_WHY_GOSSIP,
	SPINDLE_WHY_LIED,
	SPINDLE_WHY_MINORITY,
	SPINDLE_WHY_EVICTED,
	SPINDLE_WHY_LEFT,
	SPINDLE_WHY_LAYOUT
};

/**
 * enum spindle_live_member_attr - a member as a node sees it, reply only
 * @SPINDLE_LIVE_MEMBER_A_UNSPEC: never used
 * @SPINDLE_LIVE_MEMBER_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_LIVE_MEMBER_A_ID: u32, node id
 * @SPINDLE_LIVE_MEMBER_A_RANK: u32, rank in the view; left out of one that wants to join
 * @SPINDLE_LIVE_MEMBER_A_STATE: u8, enum spindle_peer_state of the connection; left out of the
 *	node itself
 * @SPINDLE_LIVE_MEMBER_A_VIEW: u64, the view that it has installed
 * @SPINDLE_LIVE_MEMBER_A_BEAT_MS: u64, milliseconds since its last sign of life; left out before
 *	the first
 * @SPINDLE_LIVE_MEMBER_A_WHY: u8, enum spindle_why, if it is suspected here
 * @SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY: u32, node id of a member that suspects it; several
 * @SPINDLE_LIVE_MEMBER_A_LAG: u64, messages of this node that it has not delivered yet, in the
 *	subgroup where there are most
 * @SPINDLE_LIVE_MEMBER_A_LAG_BYTES: u64, their bytes
 * @SPINDLE_LIVE_MEMBER_A_REASON: string, why it is not connected; if this node has refused it,
 *	the last refusal
 */
enum spindle_live_member_attr {
	SPINDLE_LIVE_MEMBER_A_UNSPEC,
	SPINDLE_LIVE_MEMBER_A_PAD,
	SPINDLE_LIVE_MEMBER_A_ID,
	SPINDLE_LIVE_MEMBER_A_RANK,
	SPINDLE_LIVE_MEMBER_A_STATE,
	SPINDLE_LIVE_MEMBER_A_VIEW,
	SPINDLE_LIVE_MEMBER_A_BEAT_MS,
	SPINDLE_LIVE_MEMBER_A_WHY,
	SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY,
	SPINDLE_LIVE_MEMBER_A_LAG,
	SPINDLE_LIVE_MEMBER_A_LAG_BYTES,
	SPINDLE_LIVE_MEMBER_A_REASON,
	/* private: */
	__SPINDLE_LIVE_MEMBER_A_MAX
#define SPINDLE_LIVE_MEMBER_A_MAX (__SPINDLE_LIVE_MEMBER_A_MAX - 1)
};

/* Entries of a histogram of batch sizes. */
#define SPINDLE_HIST_BUCKETS	17

/**
 * enum spindle_switch - techniques that can be turned off, to see what they are worth
 *
 * All are on unless said otherwise; all off is the Spindle paper's baseline. None changes
 * what is guaranteed, but for NULLS: without them a member that does not send holds up
 * those who do.
 * @SPINDLE_SW_SEND_BATCH: all messages that are ready go out together; off: one per pass
 * @SPINDLE_SW_RECV_BATCH: all messages that came are received together; off: one per pass
 * @SPINDLE_SW_DLV_BATCH: all stable messages are delivered together; off: one per pass
 * @SPINDLE_SW_NULLS: a sender that lags gives its rounds up
 * @SPINDLE_SW_LATE_POST: writes are posted at the end of a pass, in one chain per member;
 *	off: by each predicate, where it changes something
 * @SPINDLE_SW_MERGED_ACKS: one write says what was received and what was delivered
 * @SPINDLE_SW_PACKED: messages are sent at their length; off: in slots of max_msg bytes,
 *	which go out whole
 * @SPINDLE_SW_TRACKING: subgroups in which nothing happens are looked at now and then;
 *	off: in every pass
 * @SPINDLE_SW_EXPRESS: a message of at most 128 bytes that is alone goes inside its guard,
 *	by one write; off: by three. Needs MERGED_ACKS and PACKED, too
 */
enum spindle_switch {
	SPINDLE_SW_SEND_BATCH = 1 << 0,
	SPINDLE_SW_RECV_BATCH = 1 << 1,
	SPINDLE_SW_DLV_BATCH = 1 << 2,
	SPINDLE_SW_NULLS = 1 << 3,
	SPINDLE_SW_LATE_POST = 1 << 4,
	SPINDLE_SW_MERGED_ACKS = 1 << 5,
	SPINDLE_SW_PACKED = 1 << 6,
	SPINDLE_SW_TRACKING = 1 << 7,
	SPINDLE_SW_EXPRESS = 1 << 8
};

#define SPINDLE_SW_ALL		0x1ffU

/* Defaults and limits of what can be tuned. */
#define SPINDLE_DEF_SEND_BUDGET	512
#define SPINDLE_DEF_RECV_BUDGET	65536
#define SPINDLE_DEF_DLV_BUDGET	2048
#define SPINDLE_MAX_BUDGET	65536
#define SPINDLE_DEF_SILENCE	1024
#define SPINDLE_MAX_SILENCE	(1U << 20)
/* Bytes above which a message goes by RDMC, where max_msg is more than the default of this. */
#define SPINDLE_DEF_LARGE	(256U << 10)
#define SPINDLE_MIN_LARGE	4096U
#define SPINDLE_MAX_LARGE	(1U << 20)
#define SPINDLE_MAX_STALL_MS	3600000

/**
 * enum spindle_tune_attr - how a node works at its end of a subgroup
 * @SPINDLE_TUNE_A_UNSPEC: never used
 * @SPINDLE_TUNE_A_SWITCHES: bitfield32 of enum spindle_switch, default all
 * @SPINDLE_TUNE_A_SEND_BUDGET: u32, messages sent in a pass at most, 1..65536, default 512
 * @SPINDLE_TUNE_A_RECV_BUDGET: u32, messages received in a pass at most, 1..65536,
 *	default 65536
 * @SPINDLE_TUNE_A_DLV_BUDGET: u32, messages delivered in a pass at most, 1..65536, default
 *	2048
 * @SPINDLE_TUNE_A_SILENCE: u32, a sender that has been giving up rounds one by one gives up
 *	so many in advance at most, 0..2^20, default 1024
 * @SPINDLE_TUNE_A_STALL_MS: u32, a reader that has messages and consumes none for so many
 *	milliseconds is detached, 0..3600000; 0 (default): never
 * @SPINDLE_TUNE_A_LARGE: u32, messages that this node sends go by RDMC if they are of more bytes,
 *	4096..2^20, default 2^18; only where max_msg is above that default, and left out elsewhere
 */
enum spindle_tune_attr {
	SPINDLE_TUNE_A_UNSPEC,
	SPINDLE_TUNE_A_SWITCHES,
	SPINDLE_TUNE_A_SEND_BUDGET,
	SPINDLE_TUNE_A_RECV_BUDGET,
	SPINDLE_TUNE_A_DLV_BUDGET,
	SPINDLE_TUNE_A_SILENCE,
	SPINDLE_TUNE_A_STALL_MS,
	SPINDLE_TUNE_A_LARGE,
	/* private: */
	__SPINDLE_TUNE_A_MAX
#define SPINDLE_TUNE_A_MAX (__SPINDLE_TUNE_A_MAX - 1)
};

/**
 * enum spindle_reader_attr - an attachment that reads, reply only
 * @SPINDLE_READER_A_UNSPEC: never used
 * @SPINDLE_READER_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_READER_A_PID: u32, process that attached, in the namespace of who asks; 0: it
 *	has none there
 * @SPINDLE_READER_A_COMM: string, its name then
 * @SPINDLE_READER_A_COPY: u8, 1: it reads copies, 0: it holds the senders' slots
 * @SPINDLE_READER_A_LAG: u64, messages delivered to it that it has not consumed
 * @SPINDLE_READER_A_IDLE_MS: u64, milliseconds since it consumed something, or since there
 *	has been something to consume; 0 without lag
 */
enum spindle_reader_attr {
	SPINDLE_READER_A_UNSPEC,
	SPINDLE_READER_A_PAD,
	SPINDLE_READER_A_PID,
	SPINDLE_READER_A_COMM,
	SPINDLE_READER_A_COPY,
	SPINDLE_READER_A_LAG,
	SPINDLE_READER_A_IDLE_MS,
	/* private: */
	__SPINDLE_READER_A_MAX
#define SPINDLE_READER_A_MAX (__SPINDLE_READER_A_MAX - 1)
};

/**
 * enum spindle_row_attr - a member's columns as this node sees them, reply only
 * @SPINDLE_ROW_A_UNSPEC: never used
 * @SPINDLE_ROW_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_ROW_A_ID: u32, node id
 * @SPINDLE_ROW_A_SENT: u64, rounds that it has decided
 * @SPINDLE_ROW_A_SLOTS: u64, messages that it has sent
 * @SPINDLE_ROW_A_RECEIVED: u64, it has received all below this sequence number
 * @SPINDLE_ROW_A_DELIVERED: u64, it has delivered, and no reader of it holds, all below
 */
enum spindle_row_attr {
	SPINDLE_ROW_A_UNSPEC,
	SPINDLE_ROW_A_PAD,
	SPINDLE_ROW_A_ID,
	SPINDLE_ROW_A_SENT,
	SPINDLE_ROW_A_SLOTS,
	SPINDLE_ROW_A_RECEIVED,
	SPINDLE_ROW_A_DELIVERED,
	/* private: */
	__SPINDLE_ROW_A_MAX
#define SPINDLE_ROW_A_MAX (__SPINDLE_ROW_A_MAX - 1)
};

/**
 * enum spindle_raw_kind - what to measure
 * @SPINDLE_RAW_WRITE: one write after another, each to all other members, as fast as the
 *	send queues take them; the time ends with the last completion
 * @SPINDLE_RAW_PINGPONG: a write to the next member, which is polled for and answered by a
 *	write back; both nodes are of this kernel and of one engine
 */
enum spindle_raw_kind {
	SPINDLE_RAW_WRITE,
	SPINDLE_RAW_PINGPONG
};

#define SPINDLE_RAW_MAX_COUNT	1000000

/**
 * enum spindle_raw_attr - a measurement of the device
 * @SPINDLE_RAW_A_UNSPEC: never used
 * @SPINDLE_RAW_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_RAW_A_KIND: u8, enum spindle_raw_kind, default write
 * @SPINDLE_RAW_A_SIZE: u32, bytes of a write, 1 to 2^20, at most the ring
 * @SPINDLE_RAW_A_COUNT: u32, writes to each member, or round trips, 1..1000000; in a reply
 *	as many as there was time for
 * @SPINDLE_RAW_A_NS: u64, nanoseconds that it took (reply only)
 * @SPINDLE_RAW_A_WRITES: u64, writes posted (reply only)
 */
enum spindle_raw_attr {
	SPINDLE_RAW_A_UNSPEC,
	SPINDLE_RAW_A_PAD,
	SPINDLE_RAW_A_KIND,
	SPINDLE_RAW_A_SIZE,
	SPINDLE_RAW_A_COUNT,
	SPINDLE_RAW_A_NS,
	SPINDLE_RAW_A_WRITES,
	/* private: */
	__SPINDLE_RAW_A_MAX
#define SPINDLE_RAW_A_MAX (__SPINDLE_RAW_A_MAX - 1)
};

/**
 * enum spindle_peer_attr - a peer of a node, reply only
 * @SPINDLE_PEER_A_UNSPEC: never used
 * @SPINDLE_PEER_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_PEER_A_ID: u32, node id
 * @SPINDLE_PEER_A_STATE: u8, enum spindle_peer_state
 * @SPINDLE_PEER_A_REASON: string, why it is not up
 * @SPINDLE_PEER_A_IMM: u8, 1: guards come by completion, 0: memory is polled
 * @SPINDLE_PEER_A_WRITES: u64, work requests posted
 * @SPINDLE_PEER_A_POSTS: u64, chains posted
 * @SPINDLE_PEER_A_BYTES: u64, bytes written
 * @SPINDLE_PEER_A_DOORBELLS: u64, writes with immediate data
 * @SPINDLE_PEER_A_TORN: u64, reads of a row that had to be repeated
 * @SPINDLE_PEER_A_ATTEMPTS: u64, connection attempts
 */
enum spindle_peer_attr {
	SPINDLE_PEER_A_UNSPEC,
	SPINDLE_PEER_A_PAD,
	SPINDLE_PEER_A_ID,
	SPINDLE_PEER_A_STATE,
	SPINDLE_PEER_A_REASON,
	SPINDLE_PEER_A_IMM,
	SPINDLE_PEER_A_WRITES,
	SPINDLE_PEER_A_POSTS,
	SPINDLE_PEER_A_BYTES,
	SPINDLE_PEER_A_DOORBELLS,
	SPINDLE_PEER_A_TORN,
	SPINDLE_PEER_A_ATTEMPTS,
	/* private: */
	__SPINDLE_PEER_A_MAX
#define SPINDLE_PEER_A_MAX (__SPINDLE_PEER_A_MAX - 1)
};

/**
 * enum spindle_engine_stat - counters of the engine that serves a node, all u64
 * @SPINDLE_ENGINE_S_UNSPEC: never used
 * @SPINDLE_ENGINE_S_PAD: alignment of 64-bit attributes
 * @SPINDLE_ENGINE_S_PASSES: passes over the predicates
 * @SPINDLE_ENGINE_S_BUSY: passes that found work
 * @SPINDLE_ENGINE_S_SLEEPS: times it went to sleep
 * @SPINDLE_ENGINE_S_KICKS: wake-ups by a process
 * @SPINDLE_ENGINE_S_BELLS: wake-ups by a peer's doorbell
 * @SPINDLE_ENGINE_S_REFUSED: connection requests refused, and proofs of the key (of the node)
 * @SPINDLE_ENGINE_S_PID: thread of the engine, in the namespace of the asking process; 0: none
 * @SPINDLE_ENGINE_S_SPIN_US: microseconds that it polled at most when it last had no work:
 *	IDLE_US, or 0 because others wanted its CPU
 * @SPINDLE_ENGINE_S_BUSY_NS: nanoseconds in passes that found work, while TIMING was on
 * @SPINDLE_ENGINE_S_POST_NS: of these, nanoseconds spent posting
 * @SPINDLE_ENGINE_S_TIMED_NS: nanoseconds that TIMING was on
 */
enum spindle_engine_stat {
	SPINDLE_ENGINE_S_UNSPEC,
	SPINDLE_ENGINE_S_PAD,
	SPINDLE_ENGINE_S_PASSES,
	SPINDLE_ENGINE_S_BUSY,
	SPINDLE_ENGINE_S_SLEEPS,
	SPINDLE_ENGINE_S_KICKS,
	SPINDLE_ENGINE_S_BELLS,
	SPINDLE_ENGINE_S_REFUSED,
	SPINDLE_ENGINE_S_PID,
	SPINDLE_ENGINE_S_SPIN_US,
	SPINDLE_ENGINE_S_BUSY_NS,
	SPINDLE_ENGINE_S_POST_NS,
	SPINDLE_ENGINE_S_TIMED_NS,
	/* private: */
	__SPINDLE_ENGINE_S_MAX
#define SPINDLE_ENGINE_S_MAX (__SPINDLE_ENGINE_S_MAX - 1)
};

/**
 * enum spindle_subgroup_stat - counters of a subgroup at one member, all u64
 * @SPINDLE_SUBGROUP_S_UNSPEC: never used
 * @SPINDLE_SUBGROUP_S_PAD: alignment of 64-bit attributes
 * @SPINDLE_SUBGROUP_S_SENT: messages multicast by this node
 * @SPINDLE_SUBGROUP_S_SENT_BYTES: their bytes
 * @SPINDLE_SUBGROUP_S_NULLS: rounds that this node gave up as nulls
 * @SPINDLE_SUBGROUP_S_RECEIVED: messages received, own ones included
 * @SPINDLE_SUBGROUP_S_DELIVERED: messages delivered
 * @SPINDLE_SUBGROUP_S_DELIVERED_BYTES: their bytes
 * @SPINDLE_SUBGROUP_S_DISCARDED: of these, delivered while nobody read
 * @SPINDLE_SUBGROUP_S_SEND_BATCHES: times the send predicate found messages
 * @SPINDLE_SUBGROUP_S_RECV_BATCHES: times the receive predicate found messages of others
 * @SPINDLE_SUBGROUP_S_DLV_BATCHES: times the deliver predicate found messages
 * @SPINDLE_SUBGROUP_S_ABANDONED: slots given up by the process or by its death
 * @SPINDLE_SUBGROUP_S_FROZEN: attachments frozen for breaking the ring's rules
 * @SPINDLE_SUBGROUP_S_STABLE: all below this sequence number is stable
 * @SPINDLE_SUBGROUP_S_ROUND: next round of the own sender
 * @SPINDLE_SUBGROUP_S_ACTIVATIONS: times the engine found work in the subgroup
 * @SPINDLE_SUBGROUP_S_VISITS: times the engine looked at the subgroup
 * @SPINDLE_SUBGROUP_S_SILENT: rounds that this node gave up in advance; not in NULLS
 * @SPINDLE_SUBGROUP_S_FREE: own messages that all members have delivered
 * @SPINDLE_SUBGROUP_S_STALLED: readers detached because they consumed nothing
 * @SPINDLE_SUBGROUP_S_ROW_BYTES: memory of this node's table that the subgroup takes: rings
 *	and headers of all senders, and a block of columns per member
 * @SPINDLE_SUBGROUP_S_PRIVATE_BYTES: memory of the engine's own state of the subgroup
 * @SPINDLE_SUBGROUP_S_LARGE: of SENT, large messages: their bytes went by RDMC
 * @SPINDLE_SUBGROUP_S_LARGE_BYTES: of SENT_BYTES, the bytes of these
 * @SPINDLE_SUBGROUP_S_LARGE_AGAIN: times that a large message of this node had to begin again on
 *	its way, because a view ended
 * @SPINDLE_SUBGROUP_S_LARGE_NOMEM: times that there was no memory to bring a large message of
 *	this node, or to take one of another, and it was tried again
 * @SPINDLE_SUBGROUP_S_LARGE_WAITING: 1: a large message of this node is on its way, or waits for
 *	that; 0: none is. No counter
 */
enum spindle_subgroup_stat {
	SPINDLE_SUBGROUP_S_UNSPEC,
	SPINDLE_SUBGROUP_S_PAD,
	SPINDLE_SUBGROUP_S_SENT,
	SPINDLE_SUBGROUP_S_SENT_BYTES,
	SPINDLE_SUBGROUP_S_NULLS,
	SPINDLE_SUBGROUP_S_RECEIVED,
	SPINDLE_SUBGROUP_S_DELIVERED,
	SPINDLE_SUBGROUP_S_DELIVERED_BYTES,
	SPINDLE_SUBGROUP_S_DISCARDED,
	SPINDLE_SUBGROUP_S_SEND_BATCHES,
	SPINDLE_SUBGROUP_S_RECV_BATCHES,
	SPINDLE_SUBGROUP_S_DLV_BATCHES,
	SPINDLE_SUBGROUP_S_ABANDONED,
	SPINDLE_SUBGROUP_S_FROZEN,
	SPINDLE_SUBGROUP_S_STABLE,
	SPINDLE_SUBGROUP_S_ROUND,
	SPINDLE_SUBGROUP_S_ACTIVATIONS,
	SPINDLE_SUBGROUP_S_VISITS,
	SPINDLE_SUBGROUP_S_SILENT,
	SPINDLE_SUBGROUP_S_FREE,
	SPINDLE_SUBGROUP_S_STALLED,
	SPINDLE_SUBGROUP_S_ROW_BYTES,
	SPINDLE_SUBGROUP_S_PRIVATE_BYTES,
	SPINDLE_SUBGROUP_S_LARGE,
	SPINDLE_SUBGROUP_S_LARGE_BYTES,
	SPINDLE_SUBGROUP_S_LARGE_AGAIN,
	SPINDLE_SUBGROUP_S_LARGE_NOMEM,
	SPINDLE_SUBGROUP_S_LARGE_WAITING,
	/* private: */
	__SPINDLE_SUBGROUP_S_MAX
#define SPINDLE_SUBGROUP_S_MAX (__SPINDLE_SUBGROUP_S_MAX - 1)
};

/**
 * enum spindle_rdmc_group_attr - an RDMC group at one member, reply only
 * @SPINDLE_RDMC_GROUP_A_UNSPEC: never used
 * @SPINDLE_RDMC_GROUP_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_RDMC_GROUP_A_ID: u64, its id. One that has ended, but whose file is not closed, may
 *	be there beside another one with the same id
 * @SPINDLE_RDMC_GROUP_A_STATE: u8, enum spindle_rdmc_group_state
 * @SPINDLE_RDMC_GROUP_A_ERROR: u32, enum spindle_rdmc_error of <linux/spindle_rdmc.h>: why it has
 *	failed; left out if it has not
 * @SPINDLE_RDMC_GROUP_A_CULPRIT: u32, node id of who is the cause; left out if nobody is
 * @SPINDLE_RDMC_GROUP_A_ALGORITHM: u32, enum spindle_rdmc_algorithm of <linux/spindle_rdmc.h>
 * @SPINDLE_RDMC_GROUP_A_BLOCK: u32, bytes of a block
 * @SPINDLE_RDMC_GROUP_A_TIMEOUT_MS: u32, how long nothing may go on
 * @SPINDLE_RDMC_GROUP_A_RANK: u32, own rank; 0: the root, which sends
 * @SPINDLE_RDMC_GROUP_A_PID: u32, process that created it, in the namespace of who asks; 0: it
 *	has none there
 * @SPINDLE_RDMC_GROUP_A_COMM: string, its name then
 * @SPINDLE_RDMC_GROUP_A_RELEASED: u8, 1: its file is closed, and what is left is to end
 * @SPINDLE_RDMC_GROUP_A_UNREAD: u32, events that the process has not read
 * @SPINDLE_RDMC_GROUP_A_ANNOUNCED: u64, objects that the root has queued, or that are known here
 * @SPINDLE_RDMC_GROUP_A_ENDED: u64, objects that have ended here
 * @SPINDLE_RDMC_GROUP_A_COMPLETE: u64, of these, well
 * @SPINDLE_RDMC_GROUP_A_MEMBER: nest of enum spindle_rdmc_member_attr; several, by rank
 * @SPINDLE_RDMC_GROUP_A_OBJECT: nest of enum spindle_rdmc_object_attr; several: objects that have
 *	not ended here, or, at the root, not everywhere, in their order
 * @SPINDLE_RDMC_GROUP_A_STATS: nest of enum spindle_rdmc_group_stat
 */
enum spindle_rdmc_group_attr {
	SPINDLE_RDMC_GROUP_A_UNSPEC,
	SPINDLE_RDMC_GROUP_A_PAD,
	SPINDLE_RDMC_GROUP_A_ID,
	SPINDLE_RDMC_GROUP_A_STATE,
	SPINDLE_RDMC_GROUP_A_ERROR,
	SPINDLE_RDMC_GROUP_A_CULPRIT,
	SPINDLE_RDMC_GROUP_A_ALGORITHM,
	SPINDLE_RDMC_GROUP_A_BLOCK,
	SPINDLE_RDMC_GROUP_A_TIMEOUT_MS,
	SPINDLE_RDMC_GROUP_A_RANK,
	SPINDLE_RDMC_GROUP_A_PID,
	SPINDLE_RDMC_GROUP_A_COMM,
	SPINDLE_RDMC_GROUP_A_RELEASED,
	SPINDLE_RDMC_GROUP_A_UNREAD,
	SPINDLE_RDMC_GROUP_A_ANNOUNCED,
	SPINDLE_RDMC_GROUP_A_ENDED,
	SPINDLE_RDMC_GROUP_A_COMPLETE,
	SPINDLE_RDMC_GROUP_A_MEMBER,
	SPINDLE_RDMC_GROUP_A_OBJECT,
	SPINDLE_RDMC_GROUP_A_STATS,
	/* private: */
	__SPINDLE_RDMC_GROUP_A_MAX
#define SPINDLE_RDMC_GROUP_A_MAX (__SPINDLE_RDMC_GROUP_A_MAX - 1)
};

/**
 * enum spindle_rdmc_member_attr - a member of an RDMC group as the node sees it, reply only
 * @SPINDLE_RDMC_MEMBER_A_UNSPEC: never used
 * @SPINDLE_RDMC_MEMBER_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_RDMC_MEMBER_A_ID: u32, node id
 * @SPINDLE_RDMC_MEMBER_A_STATE: u8, enum spindle_peer_state of the connection for blocks; left out
 *	of the node itself
 * @SPINDLE_RDMC_MEMBER_A_REASON: string, why it is not up
 * @SPINDLE_RDMC_MEMBER_A_CREATED: u8, 1: it has created the group, too
 * @SPINDLE_RDMC_MEMBER_A_RACK: u16, its rack, as it has said; left out if it has one of its own,
 *	or has not said it yet
 * @SPINDLE_RDMC_MEMBER_A_ENDED: u64, objects that have ended there; the root knows this of all
 *	members, others of themselves only
 * @SPINDLE_RDMC_MEMBER_A_COMPLETE: u64, of these, well
 * @SPINDLE_RDMC_MEMBER_A_BLOCKS: u32, blocks that it has of the next one
 * @SPINDLE_RDMC_MEMBER_A_TOTAL: u32, blocks that this object has; 0: there is none
 */
enum spindle_rdmc_member_attr {
	SPINDLE_RDMC_MEMBER_A_UNSPEC,
	SPINDLE_RDMC_MEMBER_A_PAD,
	SPINDLE_RDMC_MEMBER_A_ID,
	SPINDLE_RDMC_MEMBER_A_STATE,
	SPINDLE_RDMC_MEMBER_A_REASON,
	SPINDLE_RDMC_MEMBER_A_CREATED,
	SPINDLE_RDMC_MEMBER_A_RACK,
	SPINDLE_RDMC_MEMBER_A_ENDED,
	SPINDLE_RDMC_MEMBER_A_COMPLETE,
	SPINDLE_RDMC_MEMBER_A_BLOCKS,
	SPINDLE_RDMC_MEMBER_A_TOTAL,
	/* private: */
	__SPINDLE_RDMC_MEMBER_A_MAX
#define SPINDLE_RDMC_MEMBER_A_MAX (__SPINDLE_RDMC_MEMBER_A_MAX - 1)
};

/**
 * enum spindle_rdmc_object_attr - an object under way, reply only
 * @SPINDLE_RDMC_OBJECT_A_UNSPEC: never used
 * @SPINDLE_RDMC_OBJECT_A_PAD: alignment of 64-bit attributes
 * @SPINDLE_RDMC_OBJECT_A_NUMBER: u64, its number
 * @SPINDLE_RDMC_OBJECT_A_LEN: u64, bytes
 * @SPINDLE_RDMC_OBJECT_A_TAG: u64, as the root has given it
 * @SPINDLE_RDMC_OBJECT_A_PHASE: u8, enum spindle_rdmc_object_phase
 * @SPINDLE_RDMC_OBJECT_A_BLOCKS: u32, blocks that are here; at the root, all
 * @SPINDLE_RDMC_OBJECT_A_TOTAL: u32, blocks that it has
 * @SPINDLE_RDMC_OBJECT_A_SINCE_MS: u64, milliseconds since the first block was here, or was sent by
 *	the root; left out before
 * @SPINDLE_RDMC_OBJECT_A_ERROR: u32, enum spindle_rdmc_error of <linux/spindle_rdmc.h>, of one that
 *	was given up
 */
enum spindle_rdmc_object_attr {
	SPINDLE_RDMC_OBJECT_A_UNSPEC,
	SPINDLE_RDMC_OBJECT_A_PAD,
	SPINDLE_RDMC_OBJECT_A_NUMBER,
	SPINDLE_RDMC_OBJECT_A_LEN,
	SPINDLE_RDMC_OBJECT_A_TAG,
	SPINDLE_RDMC_OBJECT_A_PHASE,
	SPINDLE_RDMC_OBJECT_A_BLOCKS,
	SPINDLE_RDMC_OBJECT_A_TOTAL,
	SPINDLE_RDMC_OBJECT_A_SINCE_MS,
	SPINDLE_RDMC_OBJECT_A_ERROR,
	/* private: */
	__SPINDLE_RDMC_OBJECT_A_MAX
#define SPINDLE_RDMC_OBJECT_A_MAX (__SPINDLE_RDMC_OBJECT_A_MAX - 1)
};

/**
 * enum spindle_rdmc_group_stat - counters of an RDMC group at one member, all u64
 * @SPINDLE_RDMC_GROUP_S_UNSPEC: never used
 * @SPINDLE_RDMC_GROUP_S_PAD: alignment of 64-bit attributes
 * @SPINDLE_RDMC_GROUP_S_BLOCKS_IN: blocks that have come
 * @SPINDLE_RDMC_GROUP_S_BLOCKS_OUT: blocks that were written to others
 * @SPINDLE_RDMC_GROUP_S_BYTES_IN: bytes that have come
 * @SPINDLE_RDMC_GROUP_S_BYTES_OUT: bytes that were written to others
 * @SPINDLE_RDMC_GROUP_S_GRANTS: times that another member was allowed to write a block
 * @SPINDLE_RDMC_GROUP_S_SAID: messages sent
 * @SPINDLE_RDMC_GROUP_S_HEARD: messages received
 * @SPINDLE_RDMC_GROUP_S_COMPLETE: objects that ended well
 * @SPINDLE_RDMC_GROUP_S_ABORTED: objects that did not
 */
enum spindle_rdmc_group_stat {
	SPINDLE_RDMC_GROUP_S_UNSPEC,
	SPINDLE_RDMC_GROUP_S_PAD,
	SPINDLE_RDMC_GROUP_S_BLOCKS_IN,
	SPINDLE_RDMC_GROUP_S_BLOCKS_OUT,
	SPINDLE_RDMC_GROUP_S_BYTES_IN,
	SPINDLE_RDMC_GROUP_S_BYTES_OUT,
	SPINDLE_RDMC_GROUP_S_GRANTS,
	SPINDLE_RDMC_GROUP_S_SAID,
	SPINDLE_RDMC_GROUP_S_HEARD,
	SPINDLE_RDMC_GROUP_S_COMPLETE,
	SPINDLE_RDMC_GROUP_S_ABORTED,
	/* private: */
	__SPINDLE_RDMC_GROUP_S_MAX
#define SPINDLE_RDMC_GROUP_S_MAX (__SPINDLE_RDMC_GROUP_S_MAX - 1)
};

/**
 * enum spindle_visibility - when a reader may believe a guard
 * @SPINDLE_VISIBILITY_AUTO: poll where the device keeps writes in order, else imm
 * @SPINDLE_VISIBILITY_POLL: memory is polled
 * @SPINDLE_VISIBILITY_IMM: guards are believed when their completion arrives
 */
enum spindle_visibility {
	SPINDLE_VISIBILITY_AUTO,
	SPINDLE_VISIBILITY_POLL,
	SPINDLE_VISIBILITY_IMM
};

/**
 * enum spindle_mode - delivery order of a subgroup
 * @SPINDLE_MODE_ORDERED: atomic multicast: stable messages, one order everywhere
 * @SPINDLE_MODE_UNORDERED: on receipt, first in first out per sender
 */
enum spindle_mode {
	SPINDLE_MODE_ORDERED,
	SPINDLE_MODE_UNORDERED
};

/**
 * enum spindle_node_state - state of a node
 * @SPINDLE_NODE_IDLE: no view
 * @SPINDLE_NODE_VIEW: a view is installed
 * @SPINDLE_NODE_DEAD: its RDMA device is gone; only removing it is left
 */
enum spindle_node_state {
	SPINDLE_NODE_IDLE,
	SPINDLE_NODE_VIEW,
	SPINDLE_NODE_DEAD
};

/**
 * enum spindle_peer_state - state of the connection to a peer
 * @SPINDLE_PEER_CONNECTING: not there yet, tried again and again
 * @SPINDLE_PEER_SETUP: connected, memory rights are being exchanged
 * @SPINDLE_PEER_UP: in use
 * @SPINDLE_PEER_FAILED: lost; final until the next view
 */
enum spindle_peer_state {
	SPINDLE_PEER_CONNECTING,
	SPINDLE_PEER_SETUP,
	SPINDLE_PEER_UP,
	SPINDLE_PEER_FAILED
};

/**
 * enum spindle_rdmc_group_state - state of an RDMC group at one member
 * @SPINDLE_RDMC_GROUP_OPENING: not all members have created it
 * @SPINDLE_RDMC_GROUP_OPEN: objects flow
 * @SPINDLE_RDMC_GROUP_CLOSING: this member has nothing more to do
 * @SPINDLE_RDMC_GROUP_CLOSED: all have closed
 * @SPINDLE_RDMC_GROUP_FAILING: a member is missing; memory may still be in use
 * @SPINDLE_RDMC_GROUP_FAILED: it is not any more
 */
enum spindle_rdmc_group_state {
	SPINDLE_RDMC_GROUP_OPENING,
	SPINDLE_RDMC_GROUP_OPEN,
	SPINDLE_RDMC_GROUP_CLOSING,
	SPINDLE_RDMC_GROUP_CLOSED,
	SPINDLE_RDMC_GROUP_FAILING,
	SPINDLE_RDMC_GROUP_FAILED
};

/**
 * enum spindle_rdmc_object_phase - what becomes of an object at one member
 * @SPINDLE_RDMC_OBJECT_NONE: nothing yet
 * @SPINDLE_RDMC_OBJECT_WAITING: the process has not given memory for it
 * @SPINDLE_RDMC_OBJECT_MOVING: it has
 * @SPINDLE_RDMC_OBJECT_STOPPING: given up; memory may still be in use
 * @SPINDLE_RDMC_OBJECT_COMPLETE: ended well, here
 * @SPINDLE_RDMC_OBJECT_ABORTED: ended otherwise, here
 */
enum spindle_rdmc_object_phase {
	SPINDLE_RDMC_OBJECT_NONE,
	SPINDLE_RDMC_OBJECT_WAITING,
	SPINDLE_RDMC_OBJECT_MOVING,
	SPINDLE_RDMC_OBJECT_STOPPING,
	SPINDLE_RDMC_OBJECT_COMPLETE,
	SPINDLE_RDMC_OBJECT_ABORTED
};

/**
 * enum spindle_check - what of a request is done
 * @SPINDLE_CHECK_NONE: all
 * @SPINDLE_CHECK_NOW: nothing; it is refused where it would be
 * @SPINDLE_CHECK_ALONE: nothing; nodes and views that there are do not count. That is for a
 *	request that follows others: that remove a node, or make the one that gets a view
 */
enum spindle_check {
	SPINDLE_CHECK_NONE,
	SPINDLE_CHECK_NOW,
	SPINDLE_CHECK_ALONE
};

/**
 * enum spindle_event_kind - kinds of notifications
 * @SPINDLE_EVENT_NODE_ADD: a node was created
 * @SPINDLE_EVENT_NODE_DEL: a node was removed
 * @SPINDLE_EVENT_NODE_DEAD: a node lost its RDMA device
 * @SPINDLE_EVENT_VIEW_INSTALL: a view was installed; members may still be connecting
 * @SPINDLE_EVENT_VIEW_REMOVE: a view was removed
 * @SPINDLE_EVENT_PEER_UP: the connection to a peer works
 * @SPINDLE_EVENT_PEER_DOWN: a peer was lost, with reason
 * @SPINDLE_EVENT_PEER_REFUSED: this node has refused a connection request or a proof of the key,
 *	or a peer has refused this node, as reason says then. At most some per second, and none
 *	that the next attempt resolves: what differing views explain is told after 3 seconds
 * @SPINDLE_EVENT_SUBGROUP_ACTIVE: all members of a subgroup are connected
 * @SPINDLE_EVENT_SUBGROUP_FAILED: a subgroup failed, with error and reason
 * @SPINDLE_EVENT_RING_ERROR: an attachment was frozen, with error and reason
 * @SPINDLE_EVENT_READER_STALLED: a reader was detached, with reason
 * @SPINDLE_EVENT_SUSPECT: a member of a live view, PEER_ID, is suspected, with reason
 * @SPINDLE_EVENT_CHANGING: the live view ends, with reason; VIEW_INSTALL or STOPPED follows
 * @SPINDLE_EVENT_STOPPED: the node is no member of the live view any more, with error and
 *	reason
 * @SPINDLE_EVENT_JOIN_FAILED: the node could not join, with reason
 * @SPINDLE_EVENT_RDMC_CREATED: a process has created an RDMC group, RDMC_ID
 * @SPINDLE_EVENT_RDMC_OPENED: all members have
 * @SPINDLE_EVENT_RDMC_CLOSED: all members have closed it, with RDMC_ERROR if not all have all
 *	objects
 * @SPINDLE_EVENT_RDMC_FAILED: it has ended otherwise, with RDMC_ERROR and PEER_ID, the node that
 *	is the cause, which may be the node itself
 */
enum spindle_event_kind {
	SPINDLE_EVENT_NODE_ADD,
	SPINDLE_EVENT_NODE_DEL,
	SPINDLE_EVENT_NODE_DEAD,
	SPINDLE_EVENT_VIEW_INSTALL,
	SPINDLE_EVENT_VIEW_REMOVE,
	SPINDLE_EVENT_PEER_UP,
	SPINDLE_EVENT_PEER_DOWN,
	SPINDLE_EVENT_PEER_REFUSED,
	SPINDLE_EVENT_SUBGROUP_ACTIVE,
	SPINDLE_EVENT_SUBGROUP_FAILED,
	SPINDLE_EVENT_RING_ERROR,
	SPINDLE_EVENT_READER_STALLED,
	SPINDLE_EVENT_SUSPECT,
	SPINDLE_EVENT_CHANGING,
	SPINDLE_EVENT_STOPPED,
	SPINDLE_EVENT_JOIN_FAILED,
	SPINDLE_EVENT_RDMC_CREATED,
	SPINDLE_EVENT_RDMC_OPENED,
	SPINDLE_EVENT_RDMC_CLOSED,
	SPINDLE_EVENT_RDMC_FAILED
};

#endif /* _UAPI_LINUX_SPINDLE_GENL_H */
