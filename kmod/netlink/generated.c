// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: policies and operations of the family.
 *
 * Do not edit: Documentation/netlink/generate makes this file from
 * Documentation/netlink/spindle.yaml.
 */
#include <linux/spindle.h>

#include "generated.h"

static const struct nla_policy node_add_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_CLUSTER] = { .type = NLA_NUL_STRING, .len = SPINDLE_CLUSTER_LEN },
	[SPINDLE_A_ADDR4] = { .type = NLA_U32 },
	[SPINDLE_A_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[SPINDLE_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SPINDLE_A_VISIBILITY] = NLA_POLICY_MAX(NLA_U8, SPINDLE_VISIBILITY_IMM),
	[SPINDLE_A_IDLE_US] = { .type = NLA_U32 },
	[SPINDLE_A_ENGINE] = NLA_POLICY_MAX(NLA_U32, SPINDLE_MAX_ENGINE),
	[SPINDLE_A_CPU] = { .type = NLA_U32 },
	[SPINDLE_A_KEY] = { .type = NLA_BINARY, .len = SPINDLE_MAX_KEY },
	[SPINDLE_A_RACK] = { .type = NLA_U16 },
	[SPINDLE_A_CHECK] = NLA_POLICY_MAX(NLA_U8, SPINDLE_CHECK_ALONE),
};

static const struct nla_policy node_id_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy live_policy[SPINDLE_LIVE_A_MAX + 1] = {
	[SPINDLE_LIVE_A_TIMEOUT_MS] = { .type = NLA_U32 },
	[SPINDLE_LIVE_A_MAX_NODES] = NLA_POLICY_RANGE(NLA_U32, 1, SPINDLE_MAX_MEMBERS),
	[SPINDLE_LIVE_A_QUORUM] = NLA_POLICY_MAX(NLA_U8, 1),
	[SPINDLE_LIVE_A_WITNESS] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_LIVE_A_SPARES] = NLA_POLICY_MAX(NLA_U32, SPINDLE_MAX_SUBGROUPS),
	[SPINDLE_LIVE_A_SPARE_WINDOW] = { .type = NLA_U32 },
	[SPINDLE_LIVE_A_SPARE_RING] = { .type = NLA_U32 },
};

static const struct nla_policy view_member_policy[SPINDLE_MEMBER_A_MAX + 1] = {
	[SPINDLE_MEMBER_A_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_MEMBER_A_ADDR4] = { .type = NLA_U32 },
	[SPINDLE_MEMBER_A_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[SPINDLE_MEMBER_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
};

static const struct nla_policy subgroup_node_policy[SPINDLE_SUBGROUP_NODE_A_MAX + 1] = {
	[SPINDLE_SUBGROUP_NODE_A_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_SUBGROUP_NODE_A_SENDER] = NLA_POLICY_MAX(NLA_U8, 1),
};

static const struct nla_policy rule_policy[SPINDLE_RULE_A_MAX + 1] = {
	[SPINDLE_RULE_A_SHARDS] = NLA_POLICY_RANGE(NLA_U32, 1, SPINDLE_MAX_SUBGROUPS),
	[SPINDLE_RULE_A_MIN] = NLA_POLICY_RANGE(NLA_U32, 1, SPINDLE_MAX_MEMBERS),
	[SPINDLE_RULE_A_ON_EXIT] = NLA_POLICY_MAX(NLA_U8, SPINDLE_ON_EXIT_LEAVE),
	[SPINDLE_RULE_A_SENDERS] = NLA_POLICY_MAX(NLA_U8, 1),
};

static const struct nla_policy range_policy[SPINDLE_RANGE_A_MAX + 1] = {
	[SPINDLE_RANGE_A_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy shard_policy[SPINDLE_SHARD_A_MAX + 1] = {
	[SPINDLE_SHARD_A_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_SHARD_A_LSN] = { .type = NLA_U64 },
	[SPINDLE_SHARD_A_RANGE] = NLA_POLICY_NESTED(range_policy),
};

static const struct nla_policy subgroup_policy[SPINDLE_SUBGROUP_A_MAX + 1] = {
	[SPINDLE_SUBGROUP_A_ID] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_NAME] = { .type = NLA_NUL_STRING, .len = SPINDLE_NAME_LEN },
	[SPINDLE_SUBGROUP_A_MODE] = NLA_POLICY_MAX(NLA_U8, SPINDLE_MODE_TABLE_READ),
	[SPINDLE_SUBGROUP_A_WINDOW] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_MAX_MSG] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_RING] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_HOLD] = NLA_POLICY_MAX(NLA_U8, 1),
	[SPINDLE_SUBGROUP_A_NODE] = NLA_POLICY_NESTED(subgroup_node_policy),
	[SPINDLE_SUBGROUP_A_RULE] = NLA_POLICY_NESTED(rule_policy),
	[SPINDLE_SUBGROUP_A_LSN] = { .type = NLA_U64 },
	[SPINDLE_SUBGROUP_A_CELLS] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_CELL] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_FIELDS] = { .type = NLA_NUL_STRING, .len = SPINDLE_FIELDS_LEN },
	[SPINDLE_SUBGROUP_A_LOG] = NLA_POLICY_MAX(NLA_U8, 1),
	[SPINDLE_SUBGROUP_A_ACK] = NLA_POLICY_MAX(NLA_U8, SPINDLE_ACK_MAJORITY),
	[SPINDLE_SUBGROUP_A_DELIVER] = NLA_POLICY_MAX(NLA_U8, SPINDLE_DELIVER_DURABLE),
	[SPINDLE_SUBGROUP_A_MIN_COPIES] = NLA_POLICY_MAX(NLA_U32, SPINDLE_MAX_MEMBERS),
	[SPINDLE_SUBGROUP_A_RANGE] = NLA_POLICY_NESTED(range_policy),
	[SPINDLE_SUBGROUP_A_SHARD] = NLA_POLICY_NESTED(shard_policy),
};

static const struct nla_policy contact_policy[SPINDLE_CONTACT_A_MAX + 1] = {
	[SPINDLE_CONTACT_A_ADDR4] = { .type = NLA_U32 },
	[SPINDLE_CONTACT_A_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[SPINDLE_CONTACT_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
};

static const struct nla_policy view_set_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_VIEW_ID] = { .type = NLA_U64 },
	[SPINDLE_A_LIVE] = NLA_POLICY_NESTED(live_policy),
	[SPINDLE_A_MEMBER] = NLA_POLICY_NESTED(view_member_policy),
	[SPINDLE_A_SUBGROUP] = NLA_POLICY_NESTED(subgroup_policy),
	[SPINDLE_A_CHECK] = NLA_POLICY_MAX(NLA_U8, SPINDLE_CHECK_ALONE),
	[SPINDLE_A_CONTACT] = NLA_POLICY_NESTED(contact_policy),
	[SPINDLE_A_LINEAGE] = NLA_POLICY_EXACT_LEN(SPINDLE_LINEAGE_LEN),
	[SPINDLE_A_ERA] = { .type = NLA_U64 },
	[SPINDLE_A_INSECURE] = { .type = NLA_FLAG },
};

static const struct nla_policy subgroup_get_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_SUBGROUP_ID] = { .type = NLA_U32 },
	[SPINDLE_A_SUBGROUP_NAME] = { .type = NLA_NUL_STRING, .len = SPINDLE_NAME_LEN },
};

static const struct nla_policy node_set_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_IDLE_US] = { .type = NLA_U32 },
	[SPINDLE_A_TIMING] = NLA_POLICY_MAX(NLA_U8, 1),
	[SPINDLE_A_RACK] = { .type = NLA_U16 },
	[SPINDLE_A_KEY] = { .type = NLA_BINARY, .len = SPINDLE_MAX_KEY },
	[SPINDLE_A_FORMER_KEY] = NLA_POLICY_MAX(NLA_U8, 0),
};

static const struct nla_policy tune_policy[SPINDLE_TUNE_A_MAX + 1] = {
	[SPINDLE_TUNE_A_SWITCHES] = NLA_POLICY_BITFIELD32(SPINDLE_SW_ALL),
	[SPINDLE_TUNE_A_SEND_BUDGET] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_RECV_BUDGET] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_DLV_BUDGET] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_SILENCE] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_STALL_MS] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_LARGE] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_HISTORY] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_HISTORY_FILL] = NLA_POLICY_MAX(NLA_U8, 1),
	[SPINDLE_TUNE_A_LOG_STALL_MS] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_ON_LOG_STALL] = NLA_POLICY_MAX(NLA_U8, SPINDLE_ON_LOG_STALL_LEAVE),
};

static const struct nla_policy subgroup_set_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_SUBGROUP_ID] = { .type = NLA_U32 },
	[SPINDLE_A_SUBGROUP_NAME] = { .type = NLA_NUL_STRING, .len = SPINDLE_NAME_LEN },
	[SPINDLE_A_TUNE] = NLA_POLICY_NESTED(tune_policy),
};

static const struct nla_policy raw_policy[SPINDLE_RAW_A_MAX + 1] = {
	[SPINDLE_RAW_A_KIND] = NLA_POLICY_MAX(NLA_U8, SPINDLE_RAW_READ),
	[SPINDLE_RAW_A_SIZE] = { .type = NLA_U32 },
	[SPINDLE_RAW_A_COUNT] = { .type = NLA_U32 },
};

static const struct nla_policy raw_run_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_SUBGROUP_ID] = { .type = NLA_U32 },
	[SPINDLE_A_SUBGROUP_NAME] = { .type = NLA_NUL_STRING, .len = SPINDLE_NAME_LEN },
	[SPINDLE_A_RAW] = NLA_POLICY_NESTED(raw_policy),
};

static const struct nla_policy node_join_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_ADDR4] = { .type = NLA_U32 },
	[SPINDLE_A_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[SPINDLE_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SPINDLE_A_CONTACT] = NLA_POLICY_NESTED(contact_policy),
	[SPINDLE_A_LINEAGE] = NLA_POLICY_EXACT_LEN(SPINDLE_LINEAGE_LEN),
	[SPINDLE_A_ERA] = { .type = NLA_U64 },
	[SPINDLE_A_INSECURE] = { .type = NLA_FLAG },
};

static const struct nla_policy node_evict_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_PEER_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy rdmc_get_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_RDMC_ID] = { .type = NLA_U64 },
};

static const struct nla_policy subgroup_change_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_SUBGROUP] = NLA_POLICY_NESTED(subgroup_policy),
	[SPINDLE_A_REPLACE] = NLA_POLICY_NESTED(subgroup_policy),
	[SPINDLE_A_REMOVE] = { .type = NLA_U32 },
};

const struct genl_ops spindle_netlink_ops[SPINDLE_NETLINK_OPS] = {
	{
		.cmd = SPINDLE_CMD_NODE_ADD,
		.doit = spindle_netlink_node_add_doit,
		.policy = node_add_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_DEL,
		.doit = spindle_netlink_node_del_doit,
		.policy = node_id_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_GET,
		.doit = spindle_netlink_node_get_doit,
		.dumpit = spindle_netlink_node_get_dumpit,
		.policy = node_id_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_VIEW_SET,
		.doit = spindle_netlink_view_set_doit,
		.policy = view_set_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_VIEW_DEL,
		.doit = spindle_netlink_view_del_doit,
		.policy = node_id_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_VIEW_GET,
		.doit = spindle_netlink_view_get_doit,
		.start = spindle_netlink_dump_start,
		.dumpit = spindle_netlink_view_get_dumpit,
		.policy = node_id_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_SUBGROUP_GET,
		.start = spindle_netlink_subgroup_start,
		.dumpit = spindle_netlink_subgroup_get_dumpit,
		.policy = subgroup_get_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_STATS_GET,
		.start = spindle_netlink_dump_start,
		.dumpit = spindle_netlink_stats_get_dumpit,
		.policy = node_id_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_NODE_SET,
		.doit = spindle_netlink_node_set_doit,
		.policy = node_set_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_SUBGROUP_SET,
		.doit = spindle_netlink_subgroup_set_doit,
		.policy = subgroup_set_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_RAW_RUN,
		.doit = spindle_netlink_raw_run_doit,
		.policy = raw_run_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_JOIN,
		.doit = spindle_netlink_node_join_doit,
		.policy = node_join_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_LEAVE,
		.doit = spindle_netlink_node_leave_doit,
		.policy = node_id_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_EVICT,
		.doit = spindle_netlink_node_evict_doit,
		.policy = node_evict_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_STATUS_GET,
		.start = spindle_netlink_status_start,
		.dumpit = spindle_netlink_status_get_dumpit,
		.policy = node_id_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_RDMC_GET,
		.start = spindle_netlink_rdmc_start,
		.dumpit = spindle_netlink_rdmc_get_dumpit,
		.policy = rdmc_get_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_SUBGROUP_CHANGE,
		.doit = spindle_netlink_subgroup_change_doit,
		.policy = subgroup_change_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	},
};
