// SPDX-License-Identifier: GPL-2.0-only
/*
 * The differences between what runs and what is wanted, one line for each.
 *
 * All functions return NULL if there is no difference, otherwise lines that end in a newline.
 */
#include <string.h>

#include "common/live.h"
#include "common/model.h"
#include "common/util.h"
#include "diff.h"

#define INDENT	"    "

static char *add(char *to, char *line)
{
	return ctl_asprintf("%s" INDENT "%s\n", to ? to : "", line);
}

static char *diff_vals(char *out, const char *in, const struct ctl_key *keys,
		       const struct ctl_val *from, const struct ctl_val *to)
{
	unsigned int i;

	for (i = 0; keys[i].name; i++)
		if (!ctl_val_equal(&keys[i], &from[i], &to[i]))
			out = add(out, ctl_asprintf("%s%s: %s -> %s", in, keys[i].name,
						    ctl_val_text(&keys[i], &from[i]),
						    ctl_val_text(&keys[i], &to[i])));
	return out;
}

/* A value that @to leaves out counts as the kernel's default. */
char *ctl_node_diff(const struct ctl_node *from, const struct ctl_node *to)
{
	struct ctl_node full = *to;
	unsigned int i;
	char *out;

	for (i = 0; i < CTL_NODE_VALS; i++)
		ctl_val_default(&ctl_node_keys[i], &full.val[i]);
	out = diff_vals(NULL, "", ctl_node_keys, from->val, full.val);
	/*
	 * The kernel does not show keys, so two keys cannot be compared. A file without a KeyFile
	 * does not mean that the node is to have no key.
	 */
	if (to->key_file.set && from->keyed.set && !from->keyed.num)
		out = add(out, ctl_asprintf("key: none -> that of %s", to->key_file.str));
	return out;
}

/* The differences of the members: their set, their addresses, and their order. */
char *ctl_member_diff(const struct ctl_view *from, const struct ctl_view *to)
{
	char *out = NULL;
	unsigned int i;

	for (i = 0; i < from->members; i++)
		if (!ctl_view_member(to, from->member[i].id))
			out = add(out, ctl_asprintf("member %s leaves",
						    ctl_member_text(&from->member[i])));
	for (i = 0; i < to->members; i++) {
		const struct ctl_member *was = ctl_view_member(from, to->member[i].id);

		if (!was)
			out = add(out, ctl_asprintf("member %s joins",
						    ctl_member_text(&to->member[i])));
		else if (!ctl_same_place(was, &to->member[i]))
			out = add(out, ctl_asprintf("member %s -> %s", ctl_member_text(was),
						    ctl_member_text(&to->member[i])));
	}
	if (out || from->members != to->members)
		return out;
	for (i = 0; i < to->members; i++)
		if (from->member[i].id != to->member[i].id) {
			struct ctl_ids a = ctl_view_ids(from), b = ctl_view_ids(to);

			return add(NULL, ctl_asprintf("order of members: %s -> %s",
						      ctl_ids_text(&a), ctl_ids_text(&b)));
		}
	return NULL;
}

static char *diff_ids(char *out, const char *in, const char *what,
		      const struct ctl_ids *from, const struct ctl_ids *to)
{
	if (!strcmp(ctl_ids_text(from), ctl_ids_text(to)))
		return out;
	return add(out, ctl_asprintf("%s%s: %s -> %s", in, what, ctl_ids_text(from),
				     ctl_ids_text(to)));
}

/* A subgroup as the kernel would show it or, for a live view, as the kernel would keep it. */
static struct ctl_subgroup resolve(const struct ctl_view *view, const struct ctl_subgroup *sg)
{
	return view->is_live ? ctl_rule_resolve(view, sg) : ctl_subgroup_resolve(view, sg);
}

/*
 * Where only one of two subgroups has logs, the other one gets the defaults of the values that say
 * more of them.
 */
static void even_out(struct ctl_subgroup *a, struct ctl_subgroup *b)
{
	unsigned int i;

	for (i = CTL_SG_ACK; i <= CTL_SG_MIN_COPIES; i++) {
		if (a->val[i].set == b->val[i].set)
			continue;
		ctl_val_default(&ctl_subgroup_keys[i], &a->val[i]);
		ctl_val_default(&ctl_subgroup_keys[i], &b->val[i]);
	}
}

static char *diff_subgroup(char *out, const char *in, struct ctl_subgroup *a,
			   struct ctl_subgroup *b)
{
	even_out(a, b);
	out = diff_vals(out, in, ctl_subgroup_keys, a->val, b->val);
	out = diff_vals(out, in, ctl_rule_keys, a->rule, b->rule);
	out = diff_ids(out, in, "members", &a->members, &b->members);
	return diff_ids(out, in, "senders", &a->senders, &b->senders);
}

/* The differences of the rules of one subgroup of a live view. */
char *ctl_rule_diff(const struct ctl_view *from, const struct ctl_subgroup *was,
		    const struct ctl_view *to, const struct ctl_subgroup *is)
{
	struct ctl_subgroup a = ctl_rule_resolve(from, was), b = ctl_rule_resolve(to, is);

	return diff_subgroup(NULL, ctl_asprintf("%s ", ctl_subgroup_title(is)), &a, &b);
}

static char *diff_subgroups(char *out, const struct ctl_view *from, const struct ctl_view *to)
{
	bool set_differs = from->subgroups != to->subgroups;
	unsigned int i;

	for (i = 0; i < from->subgroups; i++) {
		const struct ctl_subgroup *sg = &from->subgroup[i];

		if (ctl_view_subgroup(to, sg->val[CTL_SG_ID].num))
			continue;
		out = add(out, ctl_asprintf("%s goes", ctl_subgroup_title(sg)));
		set_differs = true;
	}
	for (i = 0; i < to->subgroups; i++) {
		struct ctl_subgroup b = resolve(to, &to->subgroup[i]), a;
		const struct ctl_subgroup *was = ctl_view_subgroup(from, b.val[CTL_SG_ID].num);
		const char *in = ctl_asprintf("%s ", ctl_subgroup_title(&b));

		if (!was) {
			out = add(out, ctl_asprintf("%scomes", in));
			set_differs = true;
			continue;
		}
		a = resolve(from, was);
		out = diff_subgroup(out, in, &a, &b);
	}
	for (i = 0; !set_differs && i < to->subgroups; i++)
		if (from->subgroup[i].val[CTL_SG_ID].num != to->subgroup[i].val[CTL_SG_ID].num)
			return add(out, ctl_strdup("order of subgroups"));
	return out;
}

/* The differences of members and subgroups. The view id is not compared. */
char *ctl_view_diff(const struct ctl_view *from, const struct ctl_view *to)
{
	return diff_subgroups(ctl_member_diff(from, to), from, to);
}

/*
 * The differences of the settings of live views, which never change. Neither vid nor members nor
 * subgroups are compared.
 */
char *ctl_live_diff(const struct ctl_view *from, const struct ctl_view *to)
{
	struct ctl_val a[CTL_LIVE_VALS], b[CTL_LIVE_VALS];
	struct ctl_ids was, is;
	unsigned int i;
	char *out;

	for (i = 0; i < CTL_LIVE_VALS; i++) {
		a[i] = from->live[i];
		b[i] = to->live[i];
		ctl_val_default(&ctl_live_keys[i], &a[i]);
		ctl_val_default(&ctl_live_keys[i], &b[i]);
	}
	was = ctl_ids_sorted(&from->witnesses);
	is = ctl_ids_sorted(&to->witnesses);
	/* An empty list and a list that was not given are equal here. */
	was.set = is.set = true;
	out = diff_vals(NULL, "", ctl_live_keys, a, b);
	return diff_ids(out, "", "witness", &was, &is);
}
