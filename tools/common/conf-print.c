// SPDX-License-Identifier: GPL-2.0-only
/* Print what a configuration file has. */
#include <string.h>

#include <linux/spindle_genl.h>

#include "conf.h"
#include "live.h"
#include "util.h"

/* Quote a string that a reader of files would take for a blank, a comment or a quote. */
static void print_str(FILE *to, const char *s)
{
	const unsigned char *c;
	bool plain = *s;

	for (c = (const unsigned char *)s; *c; c++)
		plain &= *c > ' ' && *c != '"' && *c != '#' && *c != '\\' && *c != 127;
	if (plain) {
		fprintf(to, "%s\n", s);
		return;
	}
	fputc('"', to);
	for (c = (const unsigned char *)s; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(to, "\\%c", *c);
		else if (*c < ' ' || *c == 127)
			fprintf(to, "\\x%02x", *c);
		else
			fputc(*c, to);
	}
	fputs("\"\n", to);
}

/**
 * ctl_conf_print_vals() - print values as lines of a file
 * @to: file
 * @keys: their keys
 * @val: the values
 */
void ctl_conf_print_vals(FILE *to, const struct ctl_key *keys, const struct ctl_val *val)
{
	for (; keys->name; keys++, val++) {
		if (!val->set || ctl_val_none(keys, val))
			continue;
		fprintf(to, "%s = ", keys->conf);
		if (keys->kind == CTL_STR)
			print_str(to, val->str);
		else
			fprintf(to, "%s\n", ctl_val_text(keys, val));
	}
}

static void print_subgroup(FILE *to, const struct ctl_subgroup *sg, bool tuned)
{
	struct ctl_subgroup out = *sg;
	bool table = ctl_is_table(sg);
	unsigned int i;

	/* The section says that it is a table, of mode write unless there is a line. */
	out.val[CTL_SG_MODE].set &= !table;
	for (i = CTL_SG_LOG; i <= CTL_SG_MIN_COPIES; i++)
		out.val[i].set &= ctl_is_logged(sg);
	fprintf(to, "\n[%s]\n", table ? "Table" : "Subgroup");
	ctl_conf_print_vals(to, ctl_subgroup_keys, out.val);
	if (ctl_is_read(sg))
		fprintf(to, "%s = %s\n", ctl_table_mode_key.conf, ctl_mode_text(sg));
	fprintf(to, "Members = %s\n", ctl_ids_text(&sg->members));
	if (!table)
		fprintf(to, "Senders = %s\n", ctl_ids_text(&sg->senders));
	ctl_conf_print_vals(to, ctl_rule_keys, sg->rule);
	if (tuned && !table)
		ctl_conf_print_vals(to, ctl_tune_keys, sg->tune);
}

/**
 * ctl_conf_print_view() - print a view as a section of a file, with its subgroups
 * @to: file
 * @view: the view, with one subgroup for each rule if it is live
 * @note: comment in front of the keys of a live view, or ""
 * @tuned: also print the tuning of the subgroups, see struct ctl_conf
 */
void ctl_conf_print_view(FILE *to, const struct ctl_view *view, const char *note, bool tuned)
{
	unsigned int i;

	fprintf(to, "\n[View]\nVid = %llu\n", (unsigned long long)view->vid.num);
	if (view->is_live) {
		fprintf(to, "%sLive = yes\n", note);
		if (view->lineage.set)
			fprintf(to, "%s = %s\n", ctl_lineage_key.conf, view->lineage.str);
		ctl_conf_print_vals(to, ctl_live_keys, view->live);
		if (view->witnesses.count)
			fprintf(to, "%s = %s\n", ctl_witness_key.conf,
				ctl_ids_text(&view->witnesses));
	}
	if (view->nodes.set)
		fprintf(to, "Nodes = %s\n", ctl_ids_text(&view->nodes));
	for (i = 0; i < view->members; i++)
		fprintf(to, "Member = %s\n", ctl_member_text(&view->member[i]));
	for (i = 0; i < view->subgroups; i++)
		print_subgroup(to, &view->subgroup[i], tuned);
}
