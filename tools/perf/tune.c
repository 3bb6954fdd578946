// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of --tune. See tune.h.
 *
 * The kernel checks whether a number is in range. Each node has a tuning for each subgroup, so
 * struct perf_tune is smaller than an array of struct ctl_val.
 */
#include <string.h>

#include "common/model.h"
#include "common/util.h"
#include "common/wire.h"
#include "tune.h"

static const struct ctl_key all_key = { .name = "all", .kind = CTL_SWITCH };

static void take(const struct ctl_key *key, const struct ctl_val *val, struct perf_tune *tune)
{
	uint32_t bits = SPINDLE_SW_ALL;

	if (key->kind != CTL_SWITCH) {
		tune->has |= 1U << key->attr;
		tune->num[key->attr] = val->num;
		return;
	}
	/* The keys of switches are in the order of their bits. */
	if (key != &all_key)
		bits = 1U << (key - ctl_tune_keys);
	tune->selector |= bits;
	if (val->num)
		tune->switches |= bits;
	else
		tune->switches &= ~bits;
}

static const char *parse_one(const struct ctl_key *key, const char *value,
			     struct perf_tune *tune)
{
	struct ctl_val val = { 0 };
	const char *err = ctl_val_parse(key, &val, value);

	if (err)
		return ctl_asprintf("%s=%s: %s", key->name, value, err);
	take(key, &val, tune);
	return NULL;
}

/**
 * perf_tune_parse() - read "all=off,nulls=on,send-budget=8"
 * @text: "" and "default" set nothing
 * @tune: out: tuning; of two words that contradict each other the last one holds
 *
 * Return: NULL, or what is wrong
 */
const char *perf_tune_parse(const char *text, struct perf_tune *tune)
{
	char *rest, *item, *value;
	const struct ctl_key *key;
	const char *err = NULL;

	memset(tune, 0, sizeof(*tune));
	if (!*text || !strcmp(text, "default"))
		return NULL;
	rest = ctl_strdup(text);
	while (!err && (item = strsep(&rest, ","))) {
		value = strchr(item, '=');
		if (value)
			*value++ = '\0';
		key = strcmp(item, all_key.name) ? ctl_key_find(ctl_tune_keys, item) : &all_key;
		if (!key)
			err = ctl_asprintf("'%s' is nothing to tune; there is: all, %s", item,
					   ctl_key_list(ctl_tune_keys, false));
		else if (!value)
			err = ctl_asprintf("%s: the value is missing, as in %s=%s", item, item,
					   key->kind == CTL_SWITCH ? "off" : "8");
		else
			err = parse_one(key, value, tune);
	}
	return err;
}

int perf_tune_empty(const struct perf_tune *tune)
{
	return !tune->selector && !tune->has;
}

/* Add the tuning to SUBGROUP_SET. */
void perf_tune_put(struct ctl_req *req, const struct perf_tune *tune)
{
	struct ctl_val val[CTL_TUNE_VALS] = { 0 };
	unsigned int i;

	for (i = 0; i < CTL_TUNE_SWITCHES; i++) {
		val[i].set = tune->selector & 1U << i;
		val[i].num = !!(tune->switches & 1U << i);
	}
	for (; i < CTL_TUNE_VALS; i++) {
		val[i].set = tune->has & 1U << ctl_tune_keys[i].attr;
		val[i].num = tune->num[ctl_tune_keys[i].attr];
	}
	ctl_tune_put(req, val);
}

/* Take over the present tuning of a subgroup, so that it can be restored later. */
void perf_tune_get(const struct ctl_val *val, struct perf_tune *tune)
{
	unsigned int i;

	memset(tune, 0, sizeof(*tune));
	for (i = 0; i < CTL_TUNE_VALS; i++)
		if (val[i].set)
			take(&ctl_tune_keys[i], &val[i], tune);
}
