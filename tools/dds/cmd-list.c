// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-dds topic list|info: topics with their writers and readers, as the directory has them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "common/record.h"
#include "common/util.h"
#include "value.h"

/* ---- table --------------------------------------------------------------------------- */

static const char *name_text(const void *rec)
{
	return ((const struct spindle_dds_topic_info *)rec)->topic.name;
}

static const char *level_text(const void *rec)
{
	return spindle_dds_level_string(((const struct spindle_dds_topic_info *)rec)->topic.level);
}

static const char *type_text(const void *rec)
{
	return ((const struct spindle_dds_topic_info *)rec)->topic.type;
}

static const char *hash_text(const void *rec)
{
	static const uint8_t none[SPINDLE_DDS_HASH];
	const uint8_t *hash = ((const struct spindle_dds_topic_info *)rec)->topic.type_hash;

	return memcmp(hash, none, sizeof(none)) ? dds_value_hex(hash, sizeof(none)) : "";
}

/* A topic without a subgroup of its own is in a shared one. */
static const char *subgroup_text(const void *rec)
{
	return ((const struct spindle_dds_topic_info *)rec)->topic.subgroup;
}

#define FIELD(_kind, _name, _field)	\
	CTL_FIELD(_kind, _name, struct spindle_dds_topic_info, _field, 0)

static const struct ctl_field fields[] = {
	CTL_MADE("topic", name_text),
	FIELD(NUM, "id", id),
	CTL_MADE("level", level_text),
	CTL_MADE("type", type_text, .some = true),
	CTL_MADE("type-hash", hash_text, .some = true),
	FIELD(FLAG, "keyed", topic.keyed),
	CTL_MADE("subgroup", subgroup_text, .some = true),
	FIELD(NUM, "writers", writers),
	FIELD(NUM, "readers", readers),
	{ .kind = CTL_F_END }
};

#define COLUMNS	"topic level type keyed subgroup writers readers"
#define ALL	"topic id level type type-hash keyed subgroup writers readers"

/* ---- output -------------------------------------------------------------------------- */

static void print_topics(const struct dds_opts *o, const struct spindle_dds_topic_info *info,
			 uint32_t n)
{
	struct ctl_table t = { 0 };
	uint32_t i;

	if (o->json) {
		ctl_json_print(ctl_record_list(NULL, fields, info, n, sizeof(*info)));
	} else if (o->csv) {
		ctl_record_csv(stdout, ALL, fields, NULL);
		for (i = 0; i < n; i++)
			ctl_record_csv(stdout, ALL, fields, &info[i]);
	} else if (n) {
		ctl_record_rows(&t, COLUMNS, fields, info, n, sizeof(*info));
		ctl_table_print(&t);
	} else {
		puts("There is no topic.");
	}
}

/* Print all that is known of a topic. */
static void print_topic(const struct dds_opts *o, const struct spindle_dds_topic_info *info)
{
	const struct ctl_field *f;
	const char *text;

	if (o->json) {
		ctl_json_print(ctl_record_json(NULL, fields, info));
		return;
	}
	if (o->csv) {
		ctl_record_csv(stdout, ALL, fields, NULL);
		ctl_record_csv(stdout, ALL, fields, info);
		return;
	}
	for (f = fields; f->kind; f++) {
		text = ctl_record_text(f, info);
		printf("%-10s %s\n", f->name, *text ? text : "-");
	}
}

/* ---- verbs --------------------------------------------------------------------------- */

/* spindle-dds topic list. Return: exit code. */
int dds_cmd_list(struct dds_link *l)
{
	struct spindle_dds_topic_info *info;
	uint32_t n = spindle_dds_topics(l->p, NULL, 0);

	info = ctl_alloc(n * sizeof(*info) + 1);
	spindle_dds_topics(l->p, info, n);
	print_topics(l->o, info, n);
	return CTL_OK;
}

/* Find the topic of the command line, or say that there is none. Return: exit code. */
int dds_need_topic(struct dds_link *l)
{
	int err = dds_link_find(l, true);

	if (err == -ENOENT)
		ctl_err("there is no topic '%s'", l->o->topic);
	return err ? CTL_FAILED : CTL_OK;
}

/* spindle-dds topic info. Return: exit code. */
int dds_cmd_info(struct dds_link *l)
{
	int rc = dds_need_topic(l);

	if (!rc)
		print_topic(l->o, &l->topic);
	return rc;
}
