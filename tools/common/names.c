// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words for the numbers of the netlink contract. See names.h.
 */
#include <string.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>
#include <linux/spindle_rdmc.h>

#include "names.h"
#include "util.h"
#include "words.h"

#define NAMES(_what, _words)							\
	{ .what = (_what), .name = (_words), .count = CTL_ARRAY_SIZE(_words) }

/* Modes of a table, where it is known that a subgroup is one. */
static const char *const table_mode_words[] = {
	[SPINDLE_MODE_TABLE] = "write",
	[SPINDLE_MODE_TABLE_READ] = "read",
};

const struct ctl_names ctl_visibility = NAMES("visibility", ctl_visibility_words);
const struct ctl_names ctl_mode = NAMES("mode", ctl_mode_words);
const struct ctl_names ctl_table_mode = NAMES("mode", table_mode_words);
const struct ctl_names ctl_node_state = NAMES("state", ctl_node_state_words);
const struct ctl_names ctl_peer_state = NAMES("state", ctl_peer_state_words);
const struct ctl_names ctl_state = NAMES("state", ctl_state_words);
const struct ctl_names ctl_error = NAMES("error", ctl_error_words);
const struct ctl_names ctl_event = NAMES("event", ctl_event_kind_words);
const struct ctl_names ctl_live_state = NAMES("state", ctl_live_state_words);
const struct ctl_names ctl_why = NAMES("why", ctl_why_words);
const struct ctl_names ctl_on_exit = NAMES("on-exit", ctl_on_exit_words);
const struct ctl_names ctl_ack = NAMES("ack", ctl_ack_words);
const struct ctl_names ctl_deliver = NAMES("deliver", ctl_deliver_words);
const struct ctl_names ctl_on_log_stall = NAMES("on-log-stall", ctl_on_log_stall_words);
const struct ctl_names ctl_log_state = NAMES("log-state", ctl_log_state_words);
const struct ctl_names ctl_reads = NAMES("reads", ctl_reads_words);
const struct ctl_names ctl_replica_state = NAMES("state", ctl_replica_state_words);
const struct ctl_names ctl_rdmc_state = NAMES("state", ctl_rdmc_group_state_words);
const struct ctl_names ctl_rdmc_phase = NAMES("phase", ctl_rdmc_object_phase_words);
const struct ctl_names ctl_rdmc_algorithm = NAMES("algorithm", ctl_rdmc_algorithm_words);
const struct ctl_names ctl_rdmc_error = NAMES("error", ctl_rdmc_error_words);
const struct ctl_names ctl_engine_stat = NAMES("counter", ctl_engine_counter_words);
const struct ctl_names ctl_subgroup_stat = NAMES("counter", ctl_subgroup_counter_words);
const struct ctl_names ctl_table_stat = NAMES("counter", ctl_table_counter_words);
const struct ctl_names ctl_peer_stat = NAMES("counter", ctl_peer_counter_words);
const struct ctl_names ctl_rdmc_stat = NAMES("counter", ctl_rdmc_group_counter_words);

/*
 * Attributes of requests in the words that people use: keys of the command line and of the
 * configuration file.
 */
static const char *const attr_words[] = {
	[SPINDLE_A_NODE_ID] = "node id",
	[SPINDLE_A_CLUSTER] = "cluster",
	[SPINDLE_A_ADDR4] = "addr",
	[SPINDLE_A_ADDR6] = "addr",
	[SPINDLE_A_PORT] = "port",
	[SPINDLE_A_VISIBILITY] = "visibility",
	[SPINDLE_A_IDLE_US] = "idle-us",
	[SPINDLE_A_ENGINE] = "engine",
	[SPINDLE_A_CPU] = "cpu",
	[SPINDLE_A_VIEW_ID] = "vid",
	[SPINDLE_A_MEMBER] = "member",
	[SPINDLE_A_SUBGROUP] = "subgroup",
	[SPINDLE_A_SUBGROUP_ID] = "subgroup id",
	[SPINDLE_A_TIMING] = "timing",
	[SPINDLE_A_PEER_ID] = "node",
	[SPINDLE_A_TUNE] = "tuning",
	[SPINDLE_A_LIVE] = "live",
	[SPINDLE_A_KEY] = "key-file",
	[SPINDLE_A_KEYED] = "keyed",
	[SPINDLE_A_FORMER_KEY] = "former-key",
	[SPINDLE_A_RACK] = "rack",
	[SPINDLE_A_RDMC_ID] = "group",
	[SPINDLE_A_INSECURE] = "insecure",
};

const struct ctl_names ctl_attr = NAMES("attribute", attr_words);

static const char *const member_attr_words[] = {
	[SPINDLE_MEMBER_A_ID] = "id",
	[SPINDLE_MEMBER_A_ADDR4] = "address",
	[SPINDLE_MEMBER_A_ADDR6] = "address",
	[SPINDLE_MEMBER_A_PORT] = "port",
};

const struct ctl_names ctl_member_attr = NAMES("attribute", member_attr_words);

static const char *const contact_attr_words[] = {
	[SPINDLE_CONTACT_A_ADDR4] = "address",
	[SPINDLE_CONTACT_A_ADDR6] = "address",
	[SPINDLE_CONTACT_A_PORT] = "port",
};

const struct ctl_names ctl_contact_attr = NAMES("attribute", contact_attr_words);

static const char *const subgroup_attr_words[] = {
	[SPINDLE_SUBGROUP_A_ID] = "id",
	[SPINDLE_SUBGROUP_A_NAME] = "name",
	[SPINDLE_SUBGROUP_A_MODE] = "mode",
	[SPINDLE_SUBGROUP_A_WINDOW] = "window",
	[SPINDLE_SUBGROUP_A_MAX_MSG] = "max-msg",
	[SPINDLE_SUBGROUP_A_RING] = "ring",
	[SPINDLE_SUBGROUP_A_HOLD] = "hold",
	[SPINDLE_SUBGROUP_A_NODE] = "members",
	[SPINDLE_SUBGROUP_A_RULE] = "rule",
	[SPINDLE_SUBGROUP_A_LOG] = "log",
	[SPINDLE_SUBGROUP_A_ACK] = "ack",
	[SPINDLE_SUBGROUP_A_DELIVER] = "deliver",
	[SPINDLE_SUBGROUP_A_MIN_COPIES] = "min-copies",
	[SPINDLE_SUBGROUP_A_RANGE] = "range",
	[SPINDLE_SUBGROUP_A_SHARD] = "shard",
};

const struct ctl_names ctl_subgroup_attr = NAMES("attribute", subgroup_attr_words);

static const char *const range_attr_words[] = {
	[SPINDLE_RANGE_A_ID] = "id",
};

const struct ctl_names ctl_range_attr = NAMES("attribute", range_attr_words);

static const char *const shard_attr_words[] = {
	[SPINDLE_SHARD_A_ID] = "id",
	[SPINDLE_SHARD_A_LSN] = "lsn",
	[SPINDLE_SHARD_A_RANGE] = "range",
};

const struct ctl_names ctl_shard_attr = NAMES("attribute", shard_attr_words);
const struct ctl_names ctl_subgroup_node_attr = NAMES("attribute", ctl_subgroup_node_key_words);
const struct ctl_names ctl_tune_attr = NAMES("attribute", ctl_tune_key_words);
const struct ctl_names ctl_live_attr = NAMES("attribute", ctl_live_key_words);
const struct ctl_names ctl_rule_attr = NAMES("attribute", ctl_rule_key_words);

static const char *const error_text[] = {
	[SPINDLE_ERR_NONE] = "nothing is wrong",
	[SPINDLE_ERR_TX_READY] =
		"a slot's ready word is neither this lap's nor the last lap's value",
	[SPINDLE_ERR_TX_EXTENT] =
		"an extent does not begin where the one before ended, or ends beyond the free part",
	[SPINDLE_ERR_TX_LEN] = "a message is longer than max-msg or than its extent",
	[SPINDLE_ERR_CONSUMED] = "the consumed counter went back, or beyond what was delivered",
	[SPINDLE_ERR_PEER_LOST] = "the connection to a member broke",
	[SPINDLE_ERR_PEER_PROTOCOL] = "a member wrote a value outside its legal range",
	[SPINDLE_ERR_DEVICE_GONE] = "the RDMA device was removed",
	[SPINDLE_ERR_VIEW_GONE] = "the view was replaced or removed",
	[SPINDLE_ERR_STALLED] =
		"a reader consumed nothing for longer than the subgroup allows",
	[SPINDLE_ERR_MINORITY] =
		"too few members of the live view are left, and only a majority goes on",
	[SPINDLE_ERR_EVICTED] = "the other members of the live view have gone on without it",
	[SPINDLE_ERR_LEFT] = "the node has left the live view, as it was asked to",
	[SPINDLE_ERR_NOT_MEMBER] = "the rules of the live view have moved it to another subgroup",
	[SPINDLE_ERR_TX_MASK] = "a message names members of no view that the module knows",
	[SPINDLE_ERR_BEHIND] = "the history has forgotten what the process had not consumed",
	[SPINDLE_ERR_LOG] = "the logger took back what it had said, or contradicted itself",
};

/* Events that mean the same each time, so that the kernel need not give a reason. */
static const char *const event_text[] = {
	[SPINDLE_EVENT_LOG_LAGGING] = "the log of the node has messages and persists none",
	[SPINDLE_EVENT_LOG_BEHIND] = "the history has forgotten what the log has not persisted",
	[SPINDLE_EVENT_LOG_FULL] = "the disk of the log is full",
	[SPINDLE_EVENT_LOG_FAILED] = "the disk of the log has failed",
	[SPINDLE_EVENT_LOG_OK] = "the log writes again",
};

/* What is wrong with a log in such a state. */
static const char *const log_state_text[] = {
	[SPINDLE_LOG_NONE] = "no logger",
	[SPINDLE_LOG_CATCHING_UP] = "catching up",
	[SPINDLE_LOG_FULL] = "disk full",
	[SPINDLE_LOG_FAILED] = "disk failed",
	[SPINDLE_LOG_BEHIND] = "behind the history",
};

static const char *const rdmc_error_texts[] = {
	[SPINDLE_RDMC_OK] = "nothing is wrong",
	[SPINDLE_RDMC_CANCELLED] = "it was cancelled",
	[SPINDLE_RDMC_REFUSED] = "a member did not want it",
	[SPINDLE_RDMC_TIMEOUT] = "nothing went on for the group's timeout",
	[SPINDLE_RDMC_LOST] = "the connection to a member broke",
	[SPINDLE_RDMC_LEFT] = "a member has closed its file",
	[SPINDLE_RDMC_PROTOCOL] = "a member broke the protocol",
	[SPINDLE_RDMC_MISMATCH] = "a member created the group with other arguments",
	[SPINDLE_RDMC_VIEW] = "a member is not in the view any more",
	[SPINDLE_RDMC_INCOMPLETE] = "not all members have all objects",
	[SPINDLE_RDMC_NOMEM] = "a member's kernel had no memory for the group",
};

/**
 * ctl_name() - the word for a value
 * @names: words
 * @value: value
 *
 * Return: the word; for a value newer than this program "what-value" of ctl_brief()
 */
const char *ctl_name(const struct ctl_names *names, uint64_t value)
{
	if (value < names->count && names->name[value])
		return names->name[value];
	return ctl_brief("%s-%llu", names->what, (unsigned long long)value);
}

/* All words of an enum, like "auto|poll|imm". */
static const char *word_list(const struct ctl_names *names)
{
	const char *list = "";
	unsigned int i;

	for (i = 0; i < names->count; i++)
		if (names->name[i])
			list = ctl_asprintf("%s%s%s", list, *list ? "|" : "", names->name[i]);
	return list;
}

/**
 * ctl_name_parse() - find the value of a word
 * @names: words
 * @word: exact word
 * @value: out: its value
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_name_parse(const struct ctl_names *names, const char *word, uint64_t *value)
{
	unsigned int i;

	for (i = 0; i < names->count; i++) {
		if (names->name[i] && !strcmp(names->name[i], word)) {
			*value = i;
			return NULL;
		}
	}
	return ctl_asprintf("none of %s", word_list(names));
}

/**
 * ctl_error_text() - a sentence for an error
 * @error: enum spindle_error
 *
 * Return: the sentence, or NULL if the error is newer than this program
 */
const char *ctl_error_text(uint64_t error)
{
	return error < CTL_ARRAY_SIZE(error_text) ? error_text[error] : NULL;
}

/**
 * ctl_event_text() - a sentence for an event
 * @event: enum spindle_event_kind
 *
 * Return: the sentence, or NULL if the word for the event says enough
 */
const char *ctl_event_text(uint64_t event)
{
	return event < CTL_ARRAY_SIZE(event_text) ? event_text[event] : NULL;
}

/**
 * ctl_log_state_text() - what is wrong with the log of a member
 * @state: enum spindle_log_state
 *
 * Return: the words, or NULL if nothing is wrong
 */
const char *ctl_log_state_text(uint64_t state)
{
	if (state < CTL_ARRAY_SIZE(log_state_text))
		return log_state_text[state];
	return ctl_name(&ctl_log_state, state);
}

/**
 * ctl_rdmc_error_text() - a sentence for an error of an RDMC group
 * @error: enum spindle_rdmc_error
 *
 * Return: the sentence, or NULL if the error is newer than this program
 */
const char *ctl_rdmc_error_text(uint64_t error)
{
	return error < CTL_ARRAY_SIZE(rdmc_error_texts) ? rdmc_error_texts[error] : NULL;
}
