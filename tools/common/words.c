// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of the netlink contract.
 *
 * Do not edit: Documentation/netlink/generate makes this file from
 * Documentation/netlink/spindle.yaml.
 */
#include <linux/spindle.h>
#include <linux/spindle_rdmc.h>

#include "words.h"

const char *const ctl_visibility_words[SPINDLE_VISIBILITY_IMM + 1] = {
	[SPINDLE_VISIBILITY_AUTO] = "auto",
	[SPINDLE_VISIBILITY_POLL] = "poll",
	[SPINDLE_VISIBILITY_IMM] = "imm",
};

const char *const ctl_mode_words[SPINDLE_MODE_TABLE_READ + 1] = {
	[SPINDLE_MODE_ORDERED] = "ordered",
	[SPINDLE_MODE_UNORDERED] = "unordered",
	[SPINDLE_MODE_TABLE] = "table",
	[SPINDLE_MODE_TABLE_READ] = "table-read",
};

const char *const ctl_node_state_words[SPINDLE_NODE_DEAD + 1] = {
	[SPINDLE_NODE_IDLE] = "idle",
	[SPINDLE_NODE_VIEW] = "view",
	[SPINDLE_NODE_DEAD] = "dead",
};

const char *const ctl_peer_state_words[SPINDLE_PEER_FAILED + 1] = {
	[SPINDLE_PEER_CONNECTING] = "connecting",
	[SPINDLE_PEER_SETUP] = "setup",
	[SPINDLE_PEER_UP] = "up",
	[SPINDLE_PEER_FAILED] = "failed",
};

const char *const ctl_event_kind_words[SPINDLE_EVENT_LOG_OK + 1] = {
	[SPINDLE_EVENT_NODE_ADD] = "node-add",
	[SPINDLE_EVENT_NODE_DEL] = "node-del",
	[SPINDLE_EVENT_NODE_DEAD] = "node-dead",
	[SPINDLE_EVENT_VIEW_INSTALL] = "view-install",
	[SPINDLE_EVENT_VIEW_REMOVE] = "view-remove",
	[SPINDLE_EVENT_PEER_UP] = "peer-up",
	[SPINDLE_EVENT_PEER_DOWN] = "peer-down",
	[SPINDLE_EVENT_PEER_REFUSED] = "peer-refused",
	[SPINDLE_EVENT_SUBGROUP_ACTIVE] = "subgroup-active",
	[SPINDLE_EVENT_SUBGROUP_FAILED] = "subgroup-failed",
	[SPINDLE_EVENT_RING_ERROR] = "ring-error",
	[SPINDLE_EVENT_READER_STALLED] = "reader-stalled",
	[SPINDLE_EVENT_SUSPECT] = "suspect",
	[SPINDLE_EVENT_CHANGING] = "changing",
	[SPINDLE_EVENT_STOPPED] = "stopped",
	[SPINDLE_EVENT_JOIN_FAILED] = "join-failed",
	[SPINDLE_EVENT_RDMC_CREATED] = "rdmc-created",
	[SPINDLE_EVENT_RDMC_OPENED] = "rdmc-opened",
	[SPINDLE_EVENT_RDMC_CLOSED] = "rdmc-closed",
	[SPINDLE_EVENT_RDMC_FAILED] = "rdmc-failed",
	[SPINDLE_EVENT_READER_BEHIND] = "reader-behind",
	[SPINDLE_EVENT_RULES_FAILED] = "rules-failed",
	[SPINDLE_EVENT_LOG_LAGGING] = "log-lagging",
	[SPINDLE_EVENT_LOG_BEHIND] = "log-behind",
	[SPINDLE_EVENT_LOG_FULL] = "log-full",
	[SPINDLE_EVENT_LOG_FAILED] = "log-failed",
	[SPINDLE_EVENT_LOG_OK] = "log-ok",
};

const char *const ctl_reads_words[SPINDLE_READS_HISTORY + 1] = {
	[SPINDLE_READS_SLOTS] = "slots",
	[SPINDLE_READS_COPIES] = "copies",
	[SPINDLE_READS_HISTORY] = "history",
};

const char *const ctl_on_exit_words[SPINDLE_ON_EXIT_LEAVE + 1] = {
	[SPINDLE_ON_EXIT_DISCARD] = "discard",
	[SPINDLE_ON_EXIT_LEAVE] = "leave",
};

const char *const ctl_live_state_words[SPINDLE_LIVE_STOPPED + 1] = {
	[SPINDLE_LIVE_FORMING] = "forming",
	[SPINDLE_LIVE_JOINING] = "joining",
	[SPINDLE_LIVE_ACTIVE] = "active",
	[SPINDLE_LIVE_CHANGING] = "changing",
	[SPINDLE_LIVE_STOPPED] = "stopped",
};

const char *const ctl_why_words[SPINDLE_WHY_LAYOUT + 1] = {
	[SPINDLE_WHY_FINE] = "fine",
	[SPINDLE_WHY_SILENT] = "silent",
	[SPINDLE_WHY_LOST] = "lost",
	[SPINDLE_WHY_GONE] = "gone",
	[SPINDLE_WHY_ADMIN] = "admin",
	[SPINDLE_WHY_GOSSIP] = "gossip",
	[SPINDLE_WHY_LIED] = "lied",
	[SPINDLE_WHY_MINORITY] = "minority",
	[SPINDLE_WHY_EVICTED] = "evicted",
	[SPINDLE_WHY_LEFT] = "left",
	[SPINDLE_WHY_LAYOUT] = "layout",
};

const char *const ctl_state_words[SPINDLE_STATE_GONE + 1] = {
	[SPINDLE_STATE_FORMING] = "forming",
	[SPINDLE_STATE_ACTIVE] = "active",
	[SPINDLE_STATE_FROZEN] = "frozen",
	[SPINDLE_STATE_FAILED] = "failed",
	[SPINDLE_STATE_GONE] = "gone",
};

const char *const ctl_replica_state_words[SPINDLE_REPLICA_FAILED + 1] = {
	[SPINDLE_REPLICA_NONE] = "none",
	[SPINDLE_REPLICA_ASKING] = "asking",
	[SPINDLE_REPLICA_RECEIVING] = "receiving",
	[SPINDLE_REPLICA_LOADING] = "loading",
	[SPINDLE_REPLICA_FOLLOWING] = "following",
	[SPINDLE_REPLICA_CURRENT] = "current",
	[SPINDLE_REPLICA_FAILED] = "failed",
};

const char *const ctl_error_words[SPINDLE_ERR_LOG + 1] = {
	[SPINDLE_ERR_NONE] = "none",
	[SPINDLE_ERR_TX_READY] = "tx-ready",
	[SPINDLE_ERR_TX_EXTENT] = "tx-extent",
	[SPINDLE_ERR_TX_LEN] = "tx-len",
	[SPINDLE_ERR_CONSUMED] = "consumed",
	[SPINDLE_ERR_PEER_LOST] = "peer-lost",
	[SPINDLE_ERR_PEER_PROTOCOL] = "peer-protocol",
	[SPINDLE_ERR_DEVICE_GONE] = "device-gone",
	[SPINDLE_ERR_VIEW_GONE] = "view-gone",
	[SPINDLE_ERR_STALLED] = "stalled",
	[SPINDLE_ERR_MINORITY] = "minority",
	[SPINDLE_ERR_EVICTED] = "evicted",
	[SPINDLE_ERR_LEFT] = "left",
	[SPINDLE_ERR_NOT_MEMBER] = "not-member",
	[SPINDLE_ERR_TX_MASK] = "tx-mask",
	[SPINDLE_ERR_BEHIND] = "behind",
	[SPINDLE_ERR_LOG] = "log",
};

const char *const ctl_log_state_words[SPINDLE_LOG_BEHIND + 1] = {
	[SPINDLE_LOG_NONE] = "none",
	[SPINDLE_LOG_CATCHING_UP] = "catching-up",
	[SPINDLE_LOG_LOGGING] = "logging",
	[SPINDLE_LOG_FULL] = "full",
	[SPINDLE_LOG_FAILED] = "failed",
	[SPINDLE_LOG_BEHIND] = "behind",
};

const char *const ctl_ack_words[SPINDLE_ACK_MAJORITY + 1] = {
	[SPINDLE_ACK_ALL] = "all",
	[SPINDLE_ACK_MAJORITY] = "majority",
};

const char *const ctl_deliver_words[SPINDLE_DELIVER_DURABLE + 1] = {
	[SPINDLE_DELIVER_STABLE] = "stable",
	[SPINDLE_DELIVER_DURABLE] = "durable",
};

const char *const ctl_on_log_stall_words[SPINDLE_ON_LOG_STALL_LEAVE + 1] = {
	[SPINDLE_ON_LOG_STALL_WAIT] = "wait",
	[SPINDLE_ON_LOG_STALL_FORGET] = "forget",
	[SPINDLE_ON_LOG_STALL_LEAVE] = "leave",
};

const char *const ctl_rdmc_group_state_words[SPINDLE_RDMC_GROUP_FAILED + 1] = {
	[SPINDLE_RDMC_GROUP_OPENING] = "opening",
	[SPINDLE_RDMC_GROUP_OPEN] = "open",
	[SPINDLE_RDMC_GROUP_CLOSING] = "closing",
	[SPINDLE_RDMC_GROUP_CLOSED] = "closed",
	[SPINDLE_RDMC_GROUP_FAILING] = "failing",
	[SPINDLE_RDMC_GROUP_FAILED] = "failed",
};

const char *const ctl_rdmc_object_phase_words[SPINDLE_RDMC_OBJECT_ABORTED + 1] = {
	[SPINDLE_RDMC_OBJECT_NONE] = "none",
	[SPINDLE_RDMC_OBJECT_WAITING] = "waiting",
	[SPINDLE_RDMC_OBJECT_MOVING] = "moving",
	[SPINDLE_RDMC_OBJECT_STOPPING] = "stopping",
	[SPINDLE_RDMC_OBJECT_COMPLETE] = "complete",
	[SPINDLE_RDMC_OBJECT_ABORTED] = "aborted",
};

const char *const ctl_rdmc_algorithm_words[SPINDLE_RDMC_HYBRID + 1] = {
	[SPINDLE_RDMC_PIPELINE] = "pipeline",
	[SPINDLE_RDMC_SEQUENTIAL] = "sequential",
	[SPINDLE_RDMC_CHAIN] = "chain",
	[SPINDLE_RDMC_TREE] = "tree",
	[SPINDLE_RDMC_HYBRID] = "hybrid",
};

const char *const ctl_rdmc_error_words[SPINDLE_RDMC_INCOMPLETE + 1] = {
	[SPINDLE_RDMC_OK] = "ok",
	[SPINDLE_RDMC_CANCELLED] = "cancelled",
	[SPINDLE_RDMC_REFUSED] = "refused",
	[SPINDLE_RDMC_TIMEOUT] = "timeout",
	[SPINDLE_RDMC_LOST] = "lost",
	[SPINDLE_RDMC_LEFT] = "left",
	[SPINDLE_RDMC_PROTOCOL] = "protocol",
	[SPINDLE_RDMC_MISMATCH] = "mismatch",
	[SPINDLE_RDMC_VIEW] = "view",
	[SPINDLE_RDMC_NOMEM] = "nomem",
	[SPINDLE_RDMC_INCOMPLETE] = "incomplete",
};

const char *const ctl_peer_counter_words[SPINDLE_PEER_A_ATTEMPTS + 1] = {
	[SPINDLE_PEER_A_WRITES] = "writes",
	[SPINDLE_PEER_A_POSTS] = "posts",
	[SPINDLE_PEER_A_BYTES] = "bytes",
	[SPINDLE_PEER_A_DOORBELLS] = "doorbells",
	[SPINDLE_PEER_A_TORN] = "torn",
	[SPINDLE_PEER_A_ATTEMPTS] = "attempts",
};

const char *const ctl_engine_counter_words[SPINDLE_ENGINE_S_TIMED_NS + 1] = {
	[SPINDLE_ENGINE_S_PASSES] = "passes",
	[SPINDLE_ENGINE_S_BUSY] = "busy",
	[SPINDLE_ENGINE_S_SLEEPS] = "sleeps",
	[SPINDLE_ENGINE_S_KICKS] = "kicks",
	[SPINDLE_ENGINE_S_BELLS] = "bells",
	[SPINDLE_ENGINE_S_REFUSED] = "refused",
	[SPINDLE_ENGINE_S_PID] = "pid",
	[SPINDLE_ENGINE_S_SPIN_US] = "spin-us",
	[SPINDLE_ENGINE_S_BUSY_NS] = "busy-ns",
	[SPINDLE_ENGINE_S_POST_NS] = "post-ns",
	[SPINDLE_ENGINE_S_TIMED_NS] = "timed-ns",
};

const char *const ctl_subgroup_counter_words[SPINDLE_SUBGROUP_S_BEHIND + 1] = {
	[SPINDLE_SUBGROUP_S_SENT] = "sent",
	[SPINDLE_SUBGROUP_S_SENT_BYTES] = "sent-bytes",
	[SPINDLE_SUBGROUP_S_NULLS] = "nulls",
	[SPINDLE_SUBGROUP_S_RECEIVED] = "received",
	[SPINDLE_SUBGROUP_S_DELIVERED] = "delivered",
	[SPINDLE_SUBGROUP_S_DELIVERED_BYTES] = "delivered-bytes",
	[SPINDLE_SUBGROUP_S_DISCARDED] = "discarded",
	[SPINDLE_SUBGROUP_S_SEND_BATCHES] = "send-batches",
	[SPINDLE_SUBGROUP_S_RECV_BATCHES] = "recv-batches",
	[SPINDLE_SUBGROUP_S_DLV_BATCHES] = "dlv-batches",
	[SPINDLE_SUBGROUP_S_ABANDONED] = "abandoned",
	[SPINDLE_SUBGROUP_S_FROZEN] = "frozen",
	[SPINDLE_SUBGROUP_S_STABLE] = "stable",
	[SPINDLE_SUBGROUP_S_ROUND] = "round",
	[SPINDLE_SUBGROUP_S_ACTIVATIONS] = "activations",
	[SPINDLE_SUBGROUP_S_VISITS] = "visits",
	[SPINDLE_SUBGROUP_S_SILENT] = "silent",
	[SPINDLE_SUBGROUP_S_FREE] = "free",
	[SPINDLE_SUBGROUP_S_STALLED] = "stalled",
	[SPINDLE_SUBGROUP_S_ROW_BYTES] = "row-bytes",
	[SPINDLE_SUBGROUP_S_PRIVATE_BYTES] = "private-bytes",
	[SPINDLE_SUBGROUP_S_LARGE] = "large",
	[SPINDLE_SUBGROUP_S_LARGE_BYTES] = "large-bytes",
	[SPINDLE_SUBGROUP_S_LARGE_AGAIN] = "large-again",
	[SPINDLE_SUBGROUP_S_LARGE_NOMEM] = "large-nomem",
	[SPINDLE_SUBGROUP_S_LARGE_WAITING] = "large-waiting",
	[SPINDLE_SUBGROUP_S_DIRECT] = "direct",
	[SPINDLE_SUBGROUP_S_BEHIND] = "behind",
};

const char *const ctl_table_counter_words[SPINDLE_TABLE_S_FETCHES + 1] = {
	[SPINDLE_TABLE_S_TAKEN] = "taken",
	[SPINDLE_TABLE_S_CELLS] = "cells",
	[SPINDLE_TABLE_S_WRITES] = "writes",
	[SPINDLE_TABLE_S_BLOCKS] = "blocks",
	[SPINDLE_TABLE_S_HEARD] = "heard",
	[SPINDLE_TABLE_S_TORN] = "torn",
	[SPINDLE_TABLE_S_HALF] = "half",
	[SPINDLE_TABLE_S_GENERATION] = "generation",
	[SPINDLE_TABLE_S_ROW_BYTES] = "row-bytes",
	[SPINDLE_TABLE_S_PRIVATE_BYTES] = "private-bytes",
	[SPINDLE_TABLE_S_LOOKS] = "looks",
	[SPINDLE_TABLE_S_FIRED] = "fired",
	[SPINDLE_TABLE_S_READS] = "reads",
	[SPINDLE_TABLE_S_FETCHES] = "fetches",
};

const char *const ctl_rdmc_group_counter_words[SPINDLE_RDMC_GROUP_S_ABORTED + 1] = {
	[SPINDLE_RDMC_GROUP_S_BLOCKS_IN] = "blocks-in",
	[SPINDLE_RDMC_GROUP_S_BLOCKS_OUT] = "blocks-out",
	[SPINDLE_RDMC_GROUP_S_BYTES_IN] = "bytes-in",
	[SPINDLE_RDMC_GROUP_S_BYTES_OUT] = "bytes-out",
	[SPINDLE_RDMC_GROUP_S_GRANTS] = "grants",
	[SPINDLE_RDMC_GROUP_S_SAID] = "said",
	[SPINDLE_RDMC_GROUP_S_HEARD] = "heard",
	[SPINDLE_RDMC_GROUP_S_COMPLETE] = "complete",
	[SPINDLE_RDMC_GROUP_S_ABORTED] = "aborted",
};

const char *const ctl_subgroup_node_key_words[SPINDLE_SUBGROUP_NODE_A_SENDER + 1] = {
	[SPINDLE_SUBGROUP_NODE_A_ID] = "id",
	[SPINDLE_SUBGROUP_NODE_A_SENDER] = "sender",
};

const char *const ctl_tune_key_words[SPINDLE_TUNE_A_ON_LOG_STALL + 1] = {
	[SPINDLE_TUNE_A_SWITCHES] = "switches",
	[SPINDLE_TUNE_A_SEND_BUDGET] = "send-budget",
	[SPINDLE_TUNE_A_RECV_BUDGET] = "recv-budget",
	[SPINDLE_TUNE_A_DLV_BUDGET] = "dlv-budget",
	[SPINDLE_TUNE_A_SILENCE] = "silence",
	[SPINDLE_TUNE_A_STALL_MS] = "stall-ms",
	[SPINDLE_TUNE_A_LARGE] = "large",
	[SPINDLE_TUNE_A_HISTORY] = "history",
	[SPINDLE_TUNE_A_HISTORY_FILL] = "history-fill",
	[SPINDLE_TUNE_A_LOG_STALL_MS] = "log-stall-ms",
	[SPINDLE_TUNE_A_ON_LOG_STALL] = "on-log-stall",
};

const char *const ctl_live_key_words[SPINDLE_LIVE_A_SPARE_RING + 1] = {
	[SPINDLE_LIVE_A_TIMEOUT_MS] = "timeout-ms",
	[SPINDLE_LIVE_A_MAX_NODES] = "max-nodes",
	[SPINDLE_LIVE_A_QUORUM] = "quorum",
	[SPINDLE_LIVE_A_WITNESS] = "witness",
	[SPINDLE_LIVE_A_SPARES] = "spares",
	[SPINDLE_LIVE_A_SPARE_WINDOW] = "spare-window",
	[SPINDLE_LIVE_A_SPARE_RING] = "spare-ring",
};

const char *const ctl_rule_key_words[SPINDLE_RULE_A_SENDERS + 1] = {
	[SPINDLE_RULE_A_SHARDS] = "shards",
	[SPINDLE_RULE_A_MIN] = "min",
	[SPINDLE_RULE_A_ON_EXIT] = "on-exit",
	[SPINDLE_RULE_A_SENDERS] = "senders",
};
