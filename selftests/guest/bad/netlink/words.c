// SPDX-License-Identifier: GPL-2.0-only
/*
 * From words to a request, byte by byte, because an error in a request has to stay there. See
 * words.h.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"
#include "tap.h"

enum type { U8, U16, U32, U64, BITS, STR, IP4, IP6, NEST };

struct word {
	const char *name;
	int attr;
	enum type type;
	const struct word *in;		/* words of a nest */
};

static const struct word node_words[] = {
	{ "id", SPINDLE_SUBGROUP_NODE_A_ID, U32, NULL },
	{ "sender", SPINDLE_SUBGROUP_NODE_A_SENDER, U8, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word rule_words[] = {
	{ "shards", SPINDLE_RULE_A_SHARDS, U32, NULL },
	{ "min", SPINDLE_RULE_A_MIN, U32, NULL },
	{ "on-exit", SPINDLE_RULE_A_ON_EXIT, U8, NULL },
	{ "senders", SPINDLE_RULE_A_SENDERS, U8, NULL },
	{ "node", SPINDLE_RULE_A_NODE, NEST, node_words },
	{ NULL, 0, 0, NULL }
};

static const struct word range_words[] = {
	{ "id", SPINDLE_RANGE_A_ID, U32, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word shard_words[] = {
	{ "id", SPINDLE_SHARD_A_ID, U32, NULL },
	{ "lsn", SPINDLE_SHARD_A_LSN, U64, NULL },
	{ "range", SPINDLE_SHARD_A_RANGE, NEST, range_words },
	{ NULL, 0, 0, NULL }
};

static const struct word subgroup_words[] = {
	{ "id", SPINDLE_SUBGROUP_A_ID, U32, NULL },
	{ "name", SPINDLE_SUBGROUP_A_NAME, STR, NULL },
	{ "mode", SPINDLE_SUBGROUP_A_MODE, U8, NULL },
	{ "window", SPINDLE_SUBGROUP_A_WINDOW, U32, NULL },
	{ "max-msg", SPINDLE_SUBGROUP_A_MAX_MSG, U32, NULL },
	{ "ring", SPINDLE_SUBGROUP_A_RING, U32, NULL },
	{ "hold", SPINDLE_SUBGROUP_A_HOLD, U8, NULL },
	{ "node", SPINDLE_SUBGROUP_A_NODE, NEST, node_words },
	{ "rule", SPINDLE_SUBGROUP_A_RULE, NEST, rule_words },
	{ "lsn", SPINDLE_SUBGROUP_A_LSN, U64, NULL },
	{ "log", SPINDLE_SUBGROUP_A_LOG, U8, NULL },
	{ "ack", SPINDLE_SUBGROUP_A_ACK, U8, NULL },
	{ "deliver", SPINDLE_SUBGROUP_A_DELIVER, U8, NULL },
	{ "min-copies", SPINDLE_SUBGROUP_A_MIN_COPIES, U32, NULL },
	{ "durable", SPINDLE_SUBGROUP_A_DURABLE, U64, NULL },
	{ "range", SPINDLE_SUBGROUP_A_RANGE, NEST, range_words },
	{ "shard", SPINDLE_SUBGROUP_A_SHARD, NEST, shard_words },
	{ "cells", SPINDLE_SUBGROUP_A_CELLS, U32, NULL },
	{ "cell", SPINDLE_SUBGROUP_A_CELL, U32, NULL },
	{ "state", SPINDLE_SUBGROUP_A_STATE, U8, NULL },
	{ "readers", SPINDLE_SUBGROUP_A_READERS, U32, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word member_words[] = {
	{ "id", SPINDLE_MEMBER_A_ID, U32, NULL },
	{ "addr4", SPINDLE_MEMBER_A_ADDR4, IP4, NULL },
	{ "addr6", SPINDLE_MEMBER_A_ADDR6, IP6, NULL },
	{ "port", SPINDLE_MEMBER_A_PORT, U16, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word contact_words[] = {
	{ "addr4", SPINDLE_CONTACT_A_ADDR4, IP4, NULL },
	{ "addr6", SPINDLE_CONTACT_A_ADDR6, IP6, NULL },
	{ "port", SPINDLE_CONTACT_A_PORT, U16, NULL },
	{ "reason", SPINDLE_CONTACT_A_REASON, STR, NULL },
	{ "final", SPINDLE_CONTACT_A_FINAL, U8, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word tune_words[] = {
	{ "switches", SPINDLE_TUNE_A_SWITCHES, BITS, NULL },
	{ "send-budget", SPINDLE_TUNE_A_SEND_BUDGET, U32, NULL },
	{ "recv-budget", SPINDLE_TUNE_A_RECV_BUDGET, U32, NULL },
	{ "dlv-budget", SPINDLE_TUNE_A_DLV_BUDGET, U32, NULL },
	{ "silence", SPINDLE_TUNE_A_SILENCE, U32, NULL },
	{ "stall-ms", SPINDLE_TUNE_A_STALL_MS, U32, NULL },
	{ "large", SPINDLE_TUNE_A_LARGE, U32, NULL },
	{ "history", SPINDLE_TUNE_A_HISTORY, U32, NULL },
	{ "history-fill", SPINDLE_TUNE_A_HISTORY_FILL, U8, NULL },
	{ "log-stall-ms", SPINDLE_TUNE_A_LOG_STALL_MS, U32, NULL },
	{ "on-log-stall", SPINDLE_TUNE_A_ON_LOG_STALL, U8, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word raw_words[] = {
	{ "kind", SPINDLE_RAW_A_KIND, U8, NULL },
	{ "size", SPINDLE_RAW_A_SIZE, U32, NULL },
	{ "count", SPINDLE_RAW_A_COUNT, U32, NULL },
	{ "ns", SPINDLE_RAW_A_NS, U64, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word live_words[] = {
	{ "timeout-ms", SPINDLE_LIVE_A_TIMEOUT_MS, U32, NULL },
	{ "max-nodes", SPINDLE_LIVE_A_MAX_NODES, U32, NULL },
	{ "quorum", SPINDLE_LIVE_A_QUORUM, U8, NULL },
	{ "state", SPINDLE_LIVE_A_STATE, U8, NULL },
	{ "witness", SPINDLE_LIVE_A_WITNESS, U32, NULL },
	{ "spares", SPINDLE_LIVE_A_SPARES, U32, NULL },
	{ "spare-window", SPINDLE_LIVE_A_SPARE_WINDOW, U32, NULL },
	{ "spare-ring", SPINDLE_LIVE_A_SPARE_RING, U32, NULL },
	{ "spares-free", SPINDLE_LIVE_A_SPARES_FREE, U32, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word top_words[] = {
	{ "id", SPINDLE_A_NODE_ID, U32, NULL },
	{ "cluster", SPINDLE_A_CLUSTER, STR, NULL },
	{ "addr4", SPINDLE_A_ADDR4, IP4, NULL },
	{ "addr6", SPINDLE_A_ADDR6, IP6, NULL },
	{ "port", SPINDLE_A_PORT, U16, NULL },
	{ "visibility", SPINDLE_A_VISIBILITY, U8, NULL },
	{ "idle-us", SPINDLE_A_IDLE_US, U32, NULL },
	{ "engine", SPINDLE_A_ENGINE, U32, NULL },
	{ "cpu", SPINDLE_A_CPU, U32, NULL },
	{ "device", SPINDLE_A_DEVICE, STR, NULL },
	{ "node-state", SPINDLE_A_NODE_STATE, U8, NULL },
	{ "vid", SPINDLE_A_VIEW_ID, U64, NULL },
	{ "member", SPINDLE_A_MEMBER, NEST, member_words },
	{ "subgroup", SPINDLE_A_SUBGROUP, NEST, subgroup_words },
	{ "subgroup-id", SPINDLE_A_SUBGROUP_ID, U32, NULL },
	{ "subgroup-name", SPINDLE_A_SUBGROUP_NAME, STR, NULL },
	{ "reason", SPINDLE_A_REASON, STR, NULL },
	{ "timing", SPINDLE_A_TIMING, U8, NULL },
	{ "keyed", SPINDLE_A_KEYED, U8, NULL },
	{ "former-key", SPINDLE_A_FORMER_KEY, U8, NULL },
	{ "tune", SPINDLE_A_TUNE, NEST, tune_words },
	{ "raw", SPINDLE_A_RAW, NEST, raw_words },
	{ "peer-id", SPINDLE_A_PEER_ID, U32, NULL },
	{ "live", SPINDLE_A_LIVE, NEST, live_words },
	{ "rack", SPINDLE_A_RACK, U16, NULL },
	{ "rdmc", SPINDLE_A_RDMC, NEST, node_words },
	{ "rdmc-id", SPINDLE_A_RDMC_ID, U64, NULL },
	{ "rdmc-error", SPINDLE_A_RDMC_ERROR, U32, NULL },
	{ "contact", SPINDLE_A_CONTACT, NEST, contact_words },
	{ "lineage", SPINDLE_A_LINEAGE, U64, NULL },
	{ "era", SPINDLE_A_ERA, U64, NULL },
	{ "insecure", SPINDLE_A_INSECURE, U8, NULL },
	{ "replace", SPINDLE_A_REPLACE, NEST, subgroup_words },
	{ "remove", SPINDLE_A_REMOVE, U32, NULL },
	{ "check", SPINDLE_A_CHECK, U8, NULL },
	{ NULL, 0, 0, NULL }
};

/* ---- from words to a request ------------------------------------------ */

struct build {
	struct nl_req *r;
	int blame;		/* offset of the attribute marked with *, or 0 */
};

static int offset(const struct build *b, const void *at)
{
	return (const unsigned char *)at - b->r->buf;
}

static struct nlattr *put_value(struct nl_req *r, const struct word *w, const char *text)
{
	uint64_t num = strtoull(text, NULL, 10);
	struct nla_bitfield32 bits;
	unsigned char ip[16];

	switch (w->type) {
	case U8:
		return nl_put(r, w->attr, &num, 1);
	case U16:
		return nl_put(r, w->attr, &num, 2);
	case U32:
		return nl_put(r, w->attr, &num, 4);
	case U64:
		return nl_put(r, w->attr, &num, 8);
	case BITS:
		if (sscanf(text, "%u:%u", &bits.value, &bits.selector) != 2)
			die("no value and selector: '%s'", text);
		return nl_put(r, w->attr, &bits, sizeof(bits));
	case STR:
		return nl_put(r, w->attr, text, strlen(text) + 1);
	case IP4:
	case IP6:
		if (inet_pton(w->type == IP4 ? AF_INET : AF_INET6, text, ip) != 1)
			die("bad address '%s'", text);
		return nl_put(r, w->attr, ip, w->type == IP4 ? 4 : 16);
	case NEST:
		break;
	}
	die("'%s' is a nest", w->name);
}

static void put_range(struct build *b, bool members, const char *range, bool blame)
{
	unsigned int i, first, last;
	struct nlattr *a = NULL;

	if (sscanf(range, "%u-%u", &first, &last) != 2)
		die("bad range '%s'", range);
	for (i = first; i <= last; i++) {
		uint32_t ip = htonl(0x0a000001), window = 1, msg = 64, ring = 4096;
		uint16_t port = 5000 + i;

		a = nl_nest(b->r, (members ? SPINDLE_A_MEMBER : SPINDLE_A_SUBGROUP) | NLA_F_NESTED);
		if (members) {
			nl_put_u32(b->r, SPINDLE_MEMBER_A_ID, i);
			nl_put(b->r, SPINDLE_MEMBER_A_ADDR4, &ip, 4);
			nl_put(b->r, SPINDLE_MEMBER_A_PORT, &port, 2);
		} else {
			nl_put_u32(b->r, SPINDLE_SUBGROUP_A_ID, i);
			nl_put_u32(b->r, SPINDLE_SUBGROUP_A_WINDOW, window);
			nl_put_u32(b->r, SPINDLE_SUBGROUP_A_MAX_MSG, msg);
			nl_put_u32(b->r, SPINDLE_SUBGROUP_A_RING, ring);
		}
		nl_nest_end(b->r);
	}
	if (blame)
		b->blame = offset(b, a);
}

static const struct word *find_word(const struct word *words, const char *s, size_t len)
{
	for (; words->name; words++)
		if (strlen(words->name) == len && !memcmp(words->name, s, len))
			return words;
	die("no word '%.*s'", (int)len, s);
}

static const char *put_words(struct build *b, const struct word *words, const char *s);

static struct nlattr *put_odd(struct nl_req *r, int attr, int len)
{
	struct nlattr *a = nl_put(r, attr, NULL, len);

	memset(nl_data(a), 1, len);
	return a;
}

/* Put a nest up to its bracket. Returns the text behind it. */
static const char *put_nest(struct build *b, const struct word *w, bool flag, const char *s,
			    struct nlattr **a)
{
	*a = nl_nest(b->r, w->attr | (flag ? NLA_F_NESTED : 0));
	s = put_words(b, w->in, s);
	nl_nest_end(b->r);
	/* Align the attribute behind a nest of an odd length. */
	while (b->r->nlh.nlmsg_len % NLA_ALIGNTO)
		b->r->buf[b->r->nlh.nlmsg_len++] = 0;
	return s;
}

/* Put one word. Returns the text behind it. */
static const char *put_word(struct build *b, const struct word *words, const char *s)
{
	bool blame = *s == '*';
	struct nlattr *a = NULL;
	const char *end;
	char text[128], *value, *mark;

	s += blame;
	end = s + strcspn(s, " ");
	snprintf(text, sizeof(text), "%.*s", (int)(end - s), s);
	value = strchr(text, '=');
	value = value ? value + 1 : text + strlen(text);
	mark = text + strcspn(text, "=/^!{");
	if (*text == '~') {
		nl_raw(b->r, NULL, atoi(text + 1));
		/* The length is not rounded, so the sum is not rounded either. */
		b->r->nlh.nlmsg_len -= NLA_ALIGN(atoi(text + 1)) - atoi(text + 1);
		return end;
	}
	if (!strncmp(text, "members=", 8) || !strncmp(text, "subgroups=", 10)) {
		put_range(b, *text == 'm', value, blame);
		return end;
	}
	if (*text == '#') {
		a = nl_put_u32(b->r, atoi(text + 1), atoi(value));
	} else {
		const struct word *w = find_word(words, text, mark - text);

		if (end[-1] == '{')
			end = put_nest(b, w, *mark != '!', end, &a);
		else if (*mark == '/')
			a = put_odd(b->r, w->attr, atoi(mark + 1));
		else
			a = put_value(b->r, w, value);
		if (*mark == '^')
			a->nla_len = atoi(mark + 1);
	}
	if (blame)
		b->blame = offset(b, a);
	return end;
}

static const char *put_words(struct build *b, const struct word *words, const char *s)
{
	for (;;) {
		s += strspn(s, " ");
		if (!*s)
			return s;
		if (*s == '}')
			return s + 1;
		s = put_word(b, words, s);
	}
}

int request_for(struct nl *sk, int cmd, const char *words, struct nl_ack *ack, int *blame,
		int (*fn)(void *ctx, const struct nlmsghdr *nlh), void *ctx)
{
	static struct nl_req r;
	struct build b = { .r = &r };
	int err;

	nl_begin(sk, &r, cmd & ~DUMP, cmd & DUMP ? NLM_F_DUMP : 0);
	put_words(&b, top_words, words);
	if (blame)
		*blame = b.blame;
	err = nl_talk(sk, &r, ack, fn, ctx);
	if (err)
		die("socket: %s", strerror(-err));
	return -ack->err;
}

int request(struct nl *sk, int cmd, const char *words, struct nl_ack *ack, int *blame)
{
	return request_for(sk, cmd, words, ack, blame, NULL, NULL);
}
