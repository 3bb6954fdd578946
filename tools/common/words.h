/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words of the netlink contract, by value or by number of the attribute; NULL where there is
 * none.
 *
 * Do not edit: Documentation/netlink/generate makes this file from
 * Documentation/netlink/spindle.yaml.
 */
#ifndef SPINDLE_COMMON_WORDS_H
#define SPINDLE_COMMON_WORDS_H

#include <linux/spindle.h>
#include <linux/spindle_genl.h>
#include <linux/spindle_rdmc.h>

extern const char *const ctl_visibility_words[SPINDLE_VISIBILITY_IMM + 1];
extern const char *const ctl_mode_words[SPINDLE_MODE_TABLE_READ + 1];
extern const char *const ctl_node_state_words[SPINDLE_NODE_DEAD + 1];
extern const char *const ctl_peer_state_words[SPINDLE_PEER_FAILED + 1];
extern const char *const ctl_event_kind_words[SPINDLE_EVENT_LOG_OK + 1];
extern const char *const ctl_reads_words[SPINDLE_READS_HISTORY + 1];
extern const char *const ctl_on_exit_words[SPINDLE_ON_EXIT_LEAVE + 1];
extern const char *const ctl_live_state_words[SPINDLE_LIVE_STOPPED + 1];
extern const char *const ctl_why_words[SPINDLE_WHY_LAYOUT + 1];
extern const char *const ctl_state_words[SPINDLE_STATE_GONE + 1];
extern const char *const ctl_replica_state_words[SPINDLE_REPLICA_FAILED + 1];
extern const char *const ctl_error_words[SPINDLE_ERR_LOG + 1];
extern const char *const ctl_log_state_words[SPINDLE_LOG_BEHIND + 1];
extern const char *const ctl_ack_words[SPINDLE_ACK_MAJORITY + 1];
extern const char *const ctl_deliver_words[SPINDLE_DELIVER_DURABLE + 1];
extern const char *const ctl_on_log_stall_words[SPINDLE_ON_LOG_STALL_LEAVE + 1];
extern const char *const ctl_rdmc_group_state_words[SPINDLE_RDMC_GROUP_FAILED + 1];
extern const char *const ctl_rdmc_object_phase_words[SPINDLE_RDMC_OBJECT_ABORTED + 1];
extern const char *const ctl_rdmc_algorithm_words[SPINDLE_RDMC_HYBRID + 1];
extern const char *const ctl_rdmc_error_words[SPINDLE_RDMC_INCOMPLETE + 1];
extern const char *const ctl_peer_counter_words[SPINDLE_PEER_A_ATTEMPTS + 1];
extern const char *const ctl_engine_counter_words[SPINDLE_ENGINE_S_TIMED_NS + 1];
extern const char *const ctl_subgroup_counter_words[SPINDLE_SUBGROUP_S_BEHIND + 1];
extern const char *const ctl_table_counter_words[SPINDLE_TABLE_S_FETCHES + 1];
extern const char *const ctl_rdmc_group_counter_words[SPINDLE_RDMC_GROUP_S_ABORTED + 1];
extern const char *const ctl_subgroup_node_key_words[SPINDLE_SUBGROUP_NODE_A_SENDER + 1];
extern const char *const ctl_tune_key_words[SPINDLE_TUNE_A_ON_LOG_STALL + 1];
extern const char *const ctl_live_key_words[SPINDLE_LIVE_A_SPARE_RING + 1];
extern const char *const ctl_rule_key_words[SPINDLE_RULE_A_SENDERS + 1];

#endif /* SPINDLE_COMMON_WORDS_H */
