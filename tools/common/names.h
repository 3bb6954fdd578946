/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words for the numbers of the netlink contract.
 */
#ifndef SPINDLE_COMMON_NAMES_H
#define SPINDLE_COMMON_NAMES_H

#include <stdint.h>

/**
 * struct ctl_names - words of one enum
 */
struct ctl_names {
	/** @what: name of the enum, for values that are newer than this program */
	const char *what;
	/** @name: words by value; NULL where there is none */
	const char *const *name;
	/** @count: entries of @name */
	unsigned int count;
};

extern const struct ctl_names ctl_visibility;
extern const struct ctl_names ctl_mode;
extern const struct ctl_names ctl_table_mode;
extern const struct ctl_names ctl_node_state;
extern const struct ctl_names ctl_peer_state;
extern const struct ctl_names ctl_state;
extern const struct ctl_names ctl_error;
extern const struct ctl_names ctl_event;
extern const struct ctl_names ctl_live_state;
extern const struct ctl_names ctl_why;
extern const struct ctl_names ctl_on_exit;
extern const struct ctl_names ctl_ack;
extern const struct ctl_names ctl_deliver;
extern const struct ctl_names ctl_on_log_stall;
extern const struct ctl_names ctl_log_state;
extern const struct ctl_names ctl_reads;
extern const struct ctl_names ctl_replica_state;
extern const struct ctl_names ctl_rdmc_state;
extern const struct ctl_names ctl_rdmc_phase;
extern const struct ctl_names ctl_rdmc_algorithm;
extern const struct ctl_names ctl_rdmc_error;

/* Counters: names by attribute number. */
extern const struct ctl_names ctl_engine_stat;
extern const struct ctl_names ctl_subgroup_stat;
extern const struct ctl_names ctl_table_stat;
extern const struct ctl_names ctl_peer_stat;
extern const struct ctl_names ctl_rdmc_stat;

/* Attributes, for messages about those that the kernel misses. */
extern const struct ctl_names ctl_attr;
extern const struct ctl_names ctl_member_attr;
extern const struct ctl_names ctl_contact_attr;
extern const struct ctl_names ctl_subgroup_attr;
extern const struct ctl_names ctl_subgroup_node_attr;
extern const struct ctl_names ctl_range_attr;
extern const struct ctl_names ctl_shard_attr;
extern const struct ctl_names ctl_tune_attr;
extern const struct ctl_names ctl_live_attr;
extern const struct ctl_names ctl_rule_attr;

const char *ctl_name(const struct ctl_names *names, uint64_t value);
const char *ctl_name_parse(const struct ctl_names *names, const char *word, uint64_t *value);
const char *ctl_error_text(uint64_t error);
const char *ctl_event_text(uint64_t event);
const char *ctl_log_state_text(uint64_t state);
const char *ctl_rdmc_error_text(uint64_t error);

#endif /* SPINDLE_COMMON_NAMES_H */
