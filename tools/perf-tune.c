// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of --tune. See perf-tune.h.
 *
 * Whether a number is in range is for the kernel to say.
 */
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>

#include "ctl.h"
#include "ctl-net.h"
#include "perf-tune.h"

/**
 * struct word - a word of --tune
 * @name: the word
 * @bits: the switches that it turns; 0: it is a number
 * @attr: the attribute of a number
 */
struct word {
	const char *name;
	uint32_t bits;
	uint16_t attr;
};

static const struct word words[] = {
	{ .name = "all", .bits = SPINDLE_SW_ALL },
	{ .name = "send-batch", .bits = SPINDLE_SW_SEND_BATCH },
	{ .name = "recv-batch", .bits = SPINDLE_SW_RECV_BATCH },
	{ .name = "dlv-batch", .bits = SPINDLE_SW_DLV_BATCH },
	{ .name = "nulls", .bits = SPINDLE_SW_NULLS },
	{ .name = "late-post", .bits = SPINDLE_SW_LATE_POST },
	{ .name = "merged-acks", .bits = SPINDLE_SW_MERGED_ACKS },
	{ .name = "packed", .bits = SPINDLE_SW_PACKED },
	{ .name = "tracking", .bits = SPINDLE_SW_TRACKING },
	{ .name = "send-budget", .attr = SPINDLE_TUNE_A_SEND_BUDGET },
	{ .name = "recv-budget", .attr = SPINDLE_TUNE_A_RECV_BUDGET },
	{ .name = "dlv-budget", .attr = SPINDLE_TUNE_A_DLV_BUDGET },
	{ .name = "silence", .attr = SPINDLE_TUNE_A_SILENCE },
	{ .name = "stall-ms", .attr = SPINDLE_TUNE_A_STALL_MS },
};

static const char *parse_one(const struct word *w, const char *value, struct perf_tune *tune)
{
	uint64_t num;

	if (!w->bits) {
		if (ctl_num_parse(value, UINT32_MAX, false, &num))
			return ctl_asprintf("%s=%s: not a number from 0 to %u", w->name, value,
					    UINT32_MAX);
		tune->has |= 1U << w->attr;
		tune->num[w->attr] = num;
		return NULL;
	}
	tune->selector |= w->bits;
	if (!strcmp(value, "on"))
		tune->switches |= w->bits;
	else if (!strcmp(value, "off"))
		tune->switches &= ~w->bits;
	else
		return ctl_asprintf("%s=%s: neither on nor off", w->name, value);
	return NULL;
}

/**
 * perf_tune_parse() - read "all=off,nulls=on,send-budget=8"
 * @text: "" and "default" are nothing
 * @tune: out; of two words that contradict each other the last one holds
 *
 * Return: NULL, or what is wrong
 */
const char *perf_tune_parse(const char *text, struct perf_tune *tune)
{
	char *copy, *rest, *item, *value;
	const char *err = NULL;
	unsigned int i;

	memset(tune, 0, sizeof(*tune));
	if (!*text || !strcmp(text, "default"))
		return NULL;
	copy = ctl_strdup(text);
	rest = copy;
	while (!err && (item = strsep(&rest, ","))) {
		value = strchr(item, '=');
		if (value)
			*value++ = '\0';
		for (i = 0; i < CTL_ARRAY_SIZE(words); i++)
			if (!strcmp(item, words[i].name))
				break;
		if (i == CTL_ARRAY_SIZE(words))
			err = ctl_asprintf("'%s' is nothing to tune; see spindle-ctl(8)", item);
		else if (!value)
			err = ctl_asprintf("%s: the value is missing, as in %s=%s", item, item,
					   words[i].bits ? "off" : "8");
		else
			err = parse_one(&words[i], value, tune);
	}
	ctl_free(copy);
	return err;
}

int perf_tune_empty(const struct perf_tune *tune)
{
	return !tune->selector && !tune->has;
}

/* Add it to SUBGROUP_SET. */
void perf_tune_put(struct ctl_req *req, const struct perf_tune *tune)
{
	struct nla_bitfield32 bits = { .value = tune->switches, .selector = tune->selector };
	struct nlattr *nest;
	unsigned int i;

	ctl_req_mark(req, 0, "tune");
	nest = ctl_req_nest(req, SPINDLE_A_TUNE, NULL);
	if (tune->selector) {
		ctl_req_mark(req, 0, "switches");
		ctl_req_bytes(req, SPINDLE_TUNE_A_SWITCHES, &bits, sizeof(bits));
	}
	for (i = 0; i < CTL_ARRAY_SIZE(words); i++) {
		const struct word *w = &words[i];

		if (w->bits || !(tune->has & 1U << w->attr))
			continue;
		ctl_req_mark(req, 0, ctl_asprintf("%s %u", w->name, tune->num[w->attr]));
		ctl_req_u32(req, w->attr, tune->num[w->attr]);
	}
	ctl_req_nest_end(req, nest);
}

/* How a subgroup is tuned at present, to be put back later. */
void perf_tune_get(struct nlattr *nest, struct perf_tune *tune)
{
	struct nlattr *a[SPINDLE_TUNE_A_MAX + 1];
	unsigned int i;

	memset(tune, 0, sizeof(*tune));
	if (!nest || nla_parse_nested(a, SPINDLE_TUNE_A_MAX, nest, NULL) < 0)
		return;
	for (i = 1; i <= SPINDLE_TUNE_A_MAX; i++) {
		if (i == SPINDLE_TUNE_A_SWITCHES || !a[i] || nla_len(a[i]) < 4)
			continue;
		tune->has |= 1U << i;
		tune->num[i] = nla_get_u32(a[i]);
	}
	if (a[SPINDLE_TUNE_A_SWITCHES] &&
	    nla_len(a[SPINDLE_TUNE_A_SWITCHES]) >= (int)sizeof(struct nla_bitfield32)) {
		const struct nla_bitfield32 *bits = nla_data(a[SPINDLE_TUNE_A_SWITCHES]);

		tune->switches = bits->value & SPINDLE_SW_ALL;
		tune->selector = SPINDLE_SW_ALL;
	}
}
