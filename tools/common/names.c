// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words for the numbers of the netlink contract. See names.h.
 */
#include <stdio.h>
#include <string.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>
#include <linux/spindle_rdmc.h>

#include "names.h"
#include "util.h"

#define NAMES(_what, _words)							\
	{ .what = (_what), .name = (_words), .count = CTL_ARRAY_SIZE(_words) }

static const char *const visibility_words[] = {
	[SPINDLE_VISIBILITY_AUTO] = "auto",
	[SPINDLE_VISIBILITY_POLL] = "poll",
	[SPINDLE_VISIBILITY_IMM] = "imm",
};

const struct ctl_names ctl_visibility = NAMES("visibility", visibility_words);

static const char *const mode_words[] = {
	[SPINDLE_MODE_ORDERED] = "ordered",
	[SPINDLE_MODE_UNORDERED] = "unordered",
};

const struct ctl_names ctl_mode = NAMES("mode", mode_words);

static const char *const node_state_words[] = {
	[SPINDLE_NODE_IDLE] = "idle",
	[SPINDLE_NODE_VIEW] = "view",
	[SPINDLE_NODE_DEAD] = "dead",
};

const struct ctl_names ctl_node_state = NAMES("state", node_state_words);

static const char *const peer_state_words[] = {
	[SPINDLE_PEER_CONNECTING] = "connecting",
	[SPINDLE_PEER_SETUP] = "setup",
	[SPINDLE_PEER_UP] = "up",
	[SPINDLE_PEER_FAILED] = "failed",
};

const struct ctl_names ctl_peer_state = NAMES("state", peer_state_words);

static const char *const state_words[] = {
	[SPINDLE_STATE_FORMING] = "forming",
	[SPINDLE_STATE_ACTIVE] = "active",
	[SPINDLE_STATE_FROZEN] = "frozen",
	[SPINDLE_STATE_FAILED] = "failed",
	[SPINDLE_STATE_GONE] = "gone",
};

const struct ctl_names ctl_state = NAMES("state", state_words);

static const char *const error_words[] = {
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
};

const struct ctl_names ctl_error = NAMES("error", error_words);

static const char *const event_words[] = {
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
};

const struct ctl_names ctl_event = NAMES("event", event_words);

static const char *const live_state_words[] = {
	[SPINDLE_LIVE_FORMING] = "forming",
	[SPINDLE_LIVE_JOINING] = "joining",
	[SPINDLE_LIVE_ACTIVE] = "active",
	[SPINDLE_LIVE_CHANGING] = "changing",
	[SPINDLE_LIVE_STOPPED] = "stopped",
};

const struct ctl_names ctl_live_state = NAMES("state", live_state_words);

static const char *const why_words[] = {
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

const struct ctl_names ctl_why = NAMES("why", why_words);

static const char *const on_exit_words[] = {
	[SPINDLE_ON_EXIT_DISCARD] = "discard",
	[SPINDLE_ON_EXIT_LEAVE] = "leave",
};

const struct ctl_names ctl_on_exit = NAMES("on-exit", on_exit_words);

static const char *const rdmc_state_words[] = {
	[SPINDLE_RDMC_GROUP_OPENING] = "opening",
	[SPINDLE_RDMC_GROUP_OPEN] = "open",
	[SPINDLE_RDMC_GROUP_CLOSING] = "closing",
	[SPINDLE_RDMC_GROUP_CLOSED] = "closed",
	[SPINDLE_RDMC_GROUP_FAILING] = "failing",
	[SPINDLE_RDMC_GROUP_FAILED] = "failed",
};

const struct ctl_names ctl_rdmc_state = NAMES("state", rdmc_state_words);

static const char *const rdmc_phase_words[] = {
	[SPINDLE_RDMC_OBJECT_NONE] = "none",
	[SPINDLE_RDMC_OBJECT_WAITING] = "waiting",
	[SPINDLE_RDMC_OBJECT_MOVING] = "moving",
	[SPINDLE_RDMC_OBJECT_STOPPING] = "stopping",
	[SPINDLE_RDMC_OBJECT_COMPLETE] = "complete",
	[SPINDLE_RDMC_OBJECT_ABORTED] = "aborted",
};

const struct ctl_names ctl_rdmc_phase = NAMES("phase", rdmc_phase_words);

static const char *const rdmc_algorithm_words[] = {
	[SPINDLE_RDMC_PIPELINE] = "pipeline",
	[SPINDLE_RDMC_SEQUENTIAL] = "sequential",
	[SPINDLE_RDMC_CHAIN] = "chain",
	[SPINDLE_RDMC_TREE] = "tree",
	[SPINDLE_RDMC_HYBRID] = "hybrid",
};

const struct ctl_names ctl_rdmc_algorithm = NAMES("algorithm", rdmc_algorithm_words);

static const char *const rdmc_error_words[] = {
	[SPINDLE_RDMC_OK] = "ok",
	[SPINDLE_RDMC_CANCELLED] = "cancelled",
	[SPINDLE_RDMC_REFUSED] = "refused",
	[SPINDLE_RDMC_TIMEOUT] = "timeout",
	[SPINDLE_RDMC_LOST] = "lost",
	[SPINDLE_RDMC_LEFT] = "left",
	[SPINDLE_RDMC_PROTOCOL] = "protocol",
	[SPINDLE_RDMC_MISMATCH] = "mismatch",
	[SPINDLE_RDMC_VIEW] = "view",
	[SPINDLE_RDMC_INCOMPLETE] = "incomplete",
	[SPINDLE_RDMC_NOMEM] = "nomem",
};

const struct ctl_names ctl_rdmc_error = NAMES("error", rdmc_error_words);

static const char *const engine_stat_words[] = {
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

const struct ctl_names ctl_engine_stat = NAMES("counter", engine_stat_words);

static const char *const subgroup_stat_words[] = {
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
};

const struct ctl_names ctl_subgroup_stat = NAMES("counter", subgroup_stat_words);

static const char *const peer_stat_words[] = {
	[SPINDLE_PEER_A_WRITES] = "writes",
	[SPINDLE_PEER_A_POSTS] = "posts",
	[SPINDLE_PEER_A_BYTES] = "bytes",
	[SPINDLE_PEER_A_DOORBELLS] = "doorbells",
	[SPINDLE_PEER_A_TORN] = "torn",
	[SPINDLE_PEER_A_ATTEMPTS] = "attempts",
};

const struct ctl_names ctl_peer_stat = NAMES("counter", peer_stat_words);

static const char *const rdmc_stat_words[] = {
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

const struct ctl_names ctl_rdmc_stat = NAMES("counter", rdmc_stat_words);

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
};

const struct ctl_names ctl_subgroup_attr = NAMES("attribute", subgroup_attr_words);

static const char *const subgroup_node_attr_words[] = {
	[SPINDLE_SUBGROUP_NODE_A_ID] = "id",
	[SPINDLE_SUBGROUP_NODE_A_SENDER] = "sender",
};

const struct ctl_names ctl_subgroup_node_attr = NAMES("attribute", subgroup_node_attr_words);

static const char *const tune_attr_words[] = {
	[SPINDLE_TUNE_A_SWITCHES] = "switches",
	[SPINDLE_TUNE_A_SEND_BUDGET] = "send-budget",
	[SPINDLE_TUNE_A_RECV_BUDGET] = "recv-budget",
	[SPINDLE_TUNE_A_DLV_BUDGET] = "dlv-budget",
	[SPINDLE_TUNE_A_SILENCE] = "silence",
	[SPINDLE_TUNE_A_STALL_MS] = "stall-ms",
	[SPINDLE_TUNE_A_LARGE] = "large",
};

const struct ctl_names ctl_tune_attr = NAMES("attribute", tune_attr_words);

static const char *const live_attr_words[] = {
	[SPINDLE_LIVE_A_TIMEOUT_MS] = "timeout-ms",
	[SPINDLE_LIVE_A_MAX_NODES] = "max-nodes",
	[SPINDLE_LIVE_A_QUORUM] = "quorum",
	[SPINDLE_LIVE_A_WITNESS] = "witness",
};

const struct ctl_names ctl_live_attr = NAMES("attribute", live_attr_words);

static const char *const rule_attr_words[] = {
	[SPINDLE_RULE_A_SHARDS] = "shards",
	[SPINDLE_RULE_A_MIN] = "min",
	[SPINDLE_RULE_A_ON_EXIT] = "on-exit",
	[SPINDLE_RULE_A_SENDERS] = "senders",
};

const struct ctl_names ctl_rule_attr = NAMES("attribute", rule_attr_words);

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
 * Return: the word; for a value newer than this program "what-value", in one of a
 *	few static buffers
 */
const char *ctl_name(const struct ctl_names *names, uint64_t value)
{
	static char buf[4][48];
	static unsigned int turn;

	if (value < names->count && names->name[value])
		return names->name[value];
	turn = (turn + 1) % CTL_ARRAY_SIZE(buf);
	snprintf(buf[turn], sizeof(buf[turn]), "%s-%llu", names->what,
		 (unsigned long long)value);
	return buf[turn];
}

/**
 * ctl_name_find() - the value of a word
 * @names: words
 * @word: exact word
 * @value: out: its value
 *
 * Return: whether there is such a word
 */
bool ctl_name_find(const struct ctl_names *names, const char *word, uint64_t *value)
{
	unsigned int i;

	for (i = 0; i < names->count; i++) {
		if (names->name[i] && !strcmp(names->name[i], word)) {
			*value = i;
			return true;
		}
	}
	return false;
}

/**
 * ctl_name_list() - all words of an enum, for messages
 * @names: words
 * @sep: between them
 *
 * Return: "auto|poll|imm"
 */
const char *ctl_name_list(const struct ctl_names *names, char sep)
{
	char *list = ctl_strdup("");
	unsigned int i;

	for (i = 0; i < names->count; i++) {
		if (!names->name[i])
			continue;
		if (*list)
			list = ctl_asprintf("%s%c%s", list, sep, names->name[i]);
		else
			list = ctl_strdup(names->name[i]);
	}
	return list;
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
 * ctl_rdmc_error_text() - a sentence for an error of an RDMC group
 * @error: enum spindle_rdmc_error
 *
 * Return: the sentence, or NULL if the error is newer than this program
 */
const char *ctl_rdmc_error_text(uint64_t error)
{
	return error < CTL_ARRAY_SIZE(rdmc_error_texts) ? rdmc_error_texts[error] : NULL;
}
