// SPDX-License-Identifier: GPL-2.0-only
/*
 * refuse: a refusal is more than an errno. genl-bad.c lists its parts.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "genl-bad.h"
#include "refusal.h"
#include "tap.h"

/* Subgroup 0 of BASE, in other words. */
#define ORDER0 "subgroup{ id=0 name=zero hold=1 mode=0 window=15 max-msg=1024 ring=65536 " \
	       "node{ id=3 } node{ id=2 sender=1 } node{ id=1 } } "

static const char *const cmd_names[] = {
	[SPINDLE_CMD_UNSPEC] = "command",
	[ADD] = "node add", [DEL] = "node del", [GET] = "node get",
	[VSET] = "view set", [VDEL] = "view del", [VGET] = "view get",
	[SGET] = "subgroup get", [STATS] = "stats get", [SPINDLE_CMD_EVENT] = "event",
	[NSET] = "node set", [SSET] = "subgroup set",
	[CHANGE] = "subgroup change", [RAW] = "raw run",
	[JOIN] = "node join", [LEAVE] = "node leave", [EVICT] = "node evict",
	[STATUS] = "status get", [RGET] = "rdmc get",
	[SPINDLE_CMD_MAX + 1] = "command",
};

static bool right_offset(const struct nl_ack *ack, int blame)
{
	if (!blame)
		return true;
	if (ack->has_offs && ack->offs == (uint32_t)blame)
		return true;
	printf(ack->has_offs ? "# blames the attribute at %u, not at %d\n" :
	       "# blames no attribute\n", ack->offs, blame);
	return false;
}

void try_refusal(const struct refusal *c, const struct state *before)
{
	static struct state after;
	struct nl_ack ack;
	bool good = true;
	int err, blame, n;

	err = request(&nl, c->cmd, c->words, &ack, &blame);
	if (err != c->err) {
		printf("# answer %s, want %s\n", strerror(err), strerror(c->err));
		good = false;
	}
	if (c->text && !strcasestr(ack.text, c->text)) {
		printf("# the text does not say '%s'\n", c->text);
		good = false;
	}
	good &= right_offset(&ack, blame);
	if (c->miss && (!ack.has_miss || ack.miss != (uint32_t)c->miss)) {
		printf("# does not name the missing attribute\n");
		good = false;
	}
	if (err == ERANGE && c->text && !strcmp(c->text, RANGE) && !ack.has_policy) {
		printf("# does not name the range\n");
		good = false;
	}
	read_state(&after);
	if (!same_state(before, &after)) {
		printf("# the configuration is another one now\n");
		good = false;
	}
	n = no_events();
	if (n) {
		printf("# %d events\n", n);
		good = false;
	}
	if (!ok(good, "%s: %s", cmd_names[c->cmd & ~DUMP], c->what))
		printf("# errno %d, text '%s'\n", err, ack.text);
}

void refuse(void)
{
	static const struct refusal *const tables[] = {
		node_refusals, view_refusals, subgroup_refusals, tune_refusals, raw_refusals,
		live_refusals, rdmc_refusals,
	};
	static struct state before, after;
	const struct refusal *c;
	struct nl_ack ack;
	unsigned int i;

	read_state(&before);
	ok(before.len > 0, "the state is not empty before the refusals");
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (c = tables[i]; c->what; c++)
			try_refusal(c, &before);

	/* Requests that must succeed, and have no effect. */
	is(request(&nl, VSET, "id=1 " BASE, &ack, NULL), 0, "view set: the same view again");
	is(request(&nl, VSET, "id=1 vid=7 " MEMBERS ORDER0 SUBGROUP5, &ack, NULL), 0,
	   "view set: the same view in other words");
	is(request(&nl, GET | DUMP, "id=99", &ack, NULL), 0, "node get: dump of an unknown node");
	is(request(&nl, VGET | DUMP, "id=4", &ack, NULL), 0, "view get: dump without a view");
	is(request(&nl, SGET | DUMP, "id=1 subgroup-id=77", &ack, NULL), 0,
	   "subgroup get: dump of an unknown subgroup");
	is(request(&nl, RGET | DUMP, "id=1 rdmc-id=77", &ack, NULL), 0,
	   "rdmc get: dump of an unknown group");
	read_state(&after);
	ok(same_state(&before, &after), "the refusals changed nothing");
	is(no_events(), 0, "the refusals caused no event");
}
