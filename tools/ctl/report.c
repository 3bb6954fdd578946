// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status of a live view. See report.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "common/live.h"
#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "report.h"

static const char *const phase_words[CTL_PHASES] = {
	[CTL_DETECT] = "detect",
	[CTL_WEDGE] = "wedge",
	[CTL_AGREE] = "agree",
	[CTL_INSTALL] = "install",
};

/*
 * The word for the state. A node in no live view has one only if something went wrong, else NULL.
 */
static const char *state_word(const struct ctl_status *s)
{
	if (s->is_live)
		return ctl_name(&ctl_live_state, s->state);
	if (s->is_dead)
		return "dead";
	return *s->reason ? "failed" : NULL;
}

/* The state in capitals, if there is one. */
const char *ctl_report_state(const struct ctl_status *s)
{
	const char *state = state_word(s);
	char *word = ctl_strdup(state ? state : ""), *c;

	for (c = word; *c; c++)
		*c = toupper((unsigned char)*c);
	return word;
}

/* The members of the view, without nodes that want to join. */
unsigned int ctl_report_ranked(const struct ctl_status *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->members; i++)
		n += s->member[i].rank.set;
	return n;
}

/* The text for the view. A node that has stopped may have no list of members any more. */
static const char *view_text(const struct ctl_status *s)
{
	unsigned int n = ctl_report_ranked(s);

	return ctl_asprintf("%llu%s, %llu change%s", (unsigned long long)s->vid,
			    n ? ctl_asprintf(", %u member%s", n, n == 1 ? "" : "s") : "",
			    (unsigned long long)s->changes, s->changes == 1 ? "" : "s");
}

/* 500000 us are "500 ms", and a time below 10 ms has one more digit. */
static const char *us_text(uint64_t us)
{
	if (us >= 10000)
		return ctl_asprintf("%llu ms", (unsigned long long)(us + 500) / 1000);
	return ctl_asprintf("%.1f ms", us / 1000.0);
}

/* Describe the last change of the view; NULL: there was none. */
static const char *change_text(const struct ctl_status *s)
{
	const char *text = NULL;
	unsigned int i;

	for (i = 0; i < CTL_PHASES; i++) {
		/* 0 means that no member was suspected, so there was nothing to detect. */
		if (!s->phase[i].set || (i == CTL_DETECT && !s->phase[i].num))
			continue;
		text = ctl_asprintf("%s%s%s %s", text ? text : "", text ? ", " : "",
				    phase_words[i], us_text(s->phase[i].num));
	}
	return s->changes ? text : NULL;
}

/* Describe the change of the subgroups that a member wants; NULL: none does. */
static const char *wanted_text(const struct ctl_status *s)
{
	struct ctl_ids left = { .set = true };
	unsigned int i;

	if (!s->wanted_by.set)
		return NULL;
	for (i = 0; i < s->members; i++)
		if (s->member[i].rank.set && !ctl_ids_has(&s->offered_by, s->member[i].id))
			ctl_ids_add(&left, s->member[i].id);
	return ctl_asprintf("other subgroups, by node %llu; %s%s",
			    (unsigned long long)s->wanted_by.num,
			    left.count ? "does not follow: " : "all members follow",
			    left.count ? ctl_ids_text(&left) : "");
}

/*
 * The note of a member, like "this node", "witness", "suspected: silent, by 1,2", "wants to join",
 * or the reason why it is not connected.
 */
static const char *note(const struct ctl_status_member *m)
{
	const char *text = m->self ? "this node" : m->joins ? "wants to join" : "";

	if (m->witness)
		text = ctl_asprintf("%s%switness", text, *text ? ", " : "");
	if (m->reason && *m->reason)
		text = ctl_asprintf("%s%s%s", text, *text ? ": " : "", ctl_clean(m->reason));
	if (!ctl_status_suspects(m))
		return text;
	text = ctl_asprintf("%s%ssuspected", text, *text ? ", " : "");
	if (m->why != SPINDLE_WHY_FINE)
		text = ctl_asprintf("%s: %s", text, ctl_name(&ctl_why, m->why));
	if (m->by.count)
		text = ctl_asprintf("%s%s by %s", text, m->why != SPINDLE_WHY_FINE ? "," : "",
				    ctl_ids_text(&m->by));
	return text;
}

static void print_members(const struct ctl_status *s, FILE *to)
{
	static const char columns[] = "member rank state view beat lag bytes";
	struct ctl_table t = { .indent = 8 };
	unsigned int i;

	if (!s->members)
		return;
	ctl_table_head(&t, columns);
	ctl_table_head(&t, "note");
	for (i = 0; i < s->members; i++) {
		ctl_record_cells(&t, columns, ctl_status_member_fields, &s->member[i]);
		ctl_table_cell(&t, note(&s->member[i]));
	}
	ctl_table_write(&t, to);
}

/* Print the contacts that a joining node asks, and their answers. */
static void print_contacts(const struct ctl_status *s, FILE *to)
{
	struct ctl_table t = { .indent = 8 };

	ctl_record_rows(&t, "contact answer", ctl_status_contact_fields, s->contact, s->contacts,
			sizeof(*s->contact));
	if (s->contacts)
		ctl_table_write(&t, to);
}

/* Say what happened to a node that is in no live view. */
static const char *outside(const struct ctl_status *s)
{
	const char *why = *s->reason ? s->reason : "the RDMA device was removed";

	if (!s->is_dead)
		return ctl_asprintf("it has not joined: %s", why);
	return ctl_asprintf("%s%s%s%s", why, *s->device ? ": " : "", s->device, s->vid ?
			    ctl_asprintf("; it was in view %llu", (unsigned long long)s->vid) : "");
}

/* Print text that may have come from another host. */
static void print_line(FILE *to, const char *head, const char *text)
{
	fprintf(to, "%6s: %s\n", head, ctl_clean(text));
}

/* Print the status for people. */
void ctl_report_print(const struct ctl_status *s, FILE *to)
{
	const char *action = ctl_report_action(s), *change = change_text(s);
	const char *wanted = wanted_text(s);

	if (!state_word(s)) {
		fprintf(to, "Node %llu has no live view.\n", (unsigned long long)s->node);
		return;
	}
	print_line(to, "node", ctl_asprintf("%llu  (cluster %s)", (unsigned long long)s->node,
					    s->cluster ? s->cluster : "?"));
	print_line(to, "state", ctl_report_state(s));
	if (s->is_live && s->vid)
		print_line(to, "view", view_text(s));
	if (s->lineage.set)
		print_line(to, "of", ctl_asprintf("lineage %s", s->lineage.str));
	if (s->insecure)
		print_line(to, "key", "none (insecure): any host that reaches a member can join");
	if (!s->is_live)
		print_line(to, "last", outside(s));
	else if (*s->reason)
		print_line(to, "last", s->reason);
	if (action)
		print_line(to, "action", action);
	if (wanted)
		print_line(to, "wanted", wanted);
	if (change)
		print_line(to, "change", change);
	print_contacts(s, to);
	print_members(s, to);
}

static void json_live(struct json_object *obj, const struct ctl_status *s)
{
	const char *action = ctl_report_action(s);

	ctl_record_add(obj, "state vid lineage insecure changes why reason",
		       ctl_status_live_fields, s);
	if (action)
		ctl_json_str(obj, "action", action);
	ctl_record_add(obj, "timeout-ms max-nodes quorum wanted-by offered-by detect-us wedge-us "
		       "agree-us install-us members contacts", ctl_status_live_fields, s);
}

static void json_outside(struct json_object *obj, const struct ctl_status *s)
{
	ctl_json_str(obj, "state", state_word(s));
	ctl_record_add(obj, "vid", ctl_status_live_fields, s);
	if (s->is_dead)
		ctl_json_str(obj, "device", s->device);
	ctl_json_str(obj, "reason", s->reason);
	ctl_json_str(obj, "action", ctl_report_action(s));
}

/* The status for programs. */
struct json_object *ctl_report_json(const struct ctl_status *s)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "node", ctl_json_num(s->node));
	if (s->cluster)
		ctl_json_str(obj, "cluster", s->cluster);
	ctl_json_add(obj, "live", json_object_new_boolean(s->is_live));
	if (s->is_live)
		json_live(obj, s);
	else if (state_word(s))
		json_outside(obj, s);
	return obj;
}
