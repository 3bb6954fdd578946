// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-dds topic echo: the samples of a topic, as they come.
 */
#include <stdio.h>

#include "cmd.h"
#include "common/record.h"
#include "common/util.h"
#include "value.h"

/**
 * struct row - a sample as it is printed
 */
struct row {
	/** @s: the sample */
	struct spindle_dds_sample s;
	/** @key: its key hash, or an empty text */
	const char *key;
	/** @state: what it says of its key, or an empty text */
	const char *state;
	/** @value: its bytes */
	const char *value;
};

#define FIELD(_kind, _name, _field, ...)	\
	CTL_FIELD(_kind, _name, struct row, _field, 0, ##__VA_ARGS__)

static const struct ctl_field fields[] = {
	FIELD(NUM, "lsn", s.lsn),
	FIELD(NUM, "node", s.node),
	FIELD(NUM, "writer", s.writer),
	FIELD(NUM, "sequence", s.sequence),
	FIELD(INT, "time", s.time),
	FIELD(TEXT, "key", key, .some = true),
	FIELD(TEXT, "state", state, .some = true),
	FIELD(NUM, "bytes", s.len),
	/* JSON has "text" or "hex" instead. */
	FIELD(TEXT, NULL, value, .head = "value"),
	{ .kind = CTL_F_END }
};

#define COLUMNS	"lsn node writer sequence time key state bytes value"

static const char *state_of(const struct spindle_dds_sample *s)
{
	return s->flags & SPINDLE_DDS_DISPOSE ? "disposed" :
	       s->flags & SPINDLE_DDS_UNREGISTER ? "unregistered" : "";
}

static void print_json(const struct dds_opts *o, const struct row *r)
{
	struct json_object *obj = ctl_record_json(NULL, fields, r);

	if (!*r->state)
		dds_value_json(obj, r->s.data, r->s.len, o->form == DDS_HEX);
	ctl_json_print(obj);
}

static void print_text(const struct dds_opts *o, const struct row *r)
{
	printf("%llu %u ", (unsigned long long)r->s.lsn, r->s.node);
	if (o->verbose)
		printf("%llu %lld ", (unsigned long long)r->s.sequence, (long long)r->s.time);
	if (o->keys)
		printf("%s ", *r->key ? r->key : "-");
	if (*r->state)
		printf("(%s)\n", r->state);
	else
		puts(r->value);
}

/* Print what is above all samples. */
static void print_head(const struct dds_opts *o)
{
	if (o->csv)
		ctl_record_csv(stdout, COLUMNS, fields, NULL);
}

/* Print a sample, whose bytes nobody changes any more. */
static void print_sample(const struct dds_opts *o, const struct spindle_dds_sample *s)
{
	struct row r = { .s = *s, .state = state_of(s), .key = "", .value = "" };

	if (o->form == DDS_RAW) {
		if (s->len)
			fwrite(s->data, 1, s->len, stdout);
		return;
	}
	if (s->flags & SPINDLE_DDS_KEYED)
		r.key = dds_value_hex(s->key, sizeof(s->key));
	if (!o->json)
		r.value = o->form == DDS_HEX ? dds_value_hex(s->data, s->len) :
			  dds_value_text(s->data, s->len);
	if (o->json)
		print_json(o, &r);
	else if (o->csv)
		ctl_record_csv(stdout, COLUMNS, fields, &r);
	else
		print_text(o, &r);
}

static void on_sample(void *ctx, const struct spindle_dds_sample *s, uint64_t now)
{
	(void)now;
	print_sample(ctx, s);
}

/* spindle-dds topic echo. Return: exit code. */
int dds_cmd_echo(struct dds_link *l)
{
	struct dds_read how = { .sample = on_sample, .ctx = (void *)l->o };
	int rc = dds_need_topic(l);

	if (rc)
		return rc;
	print_head(l->o);
	return dds_link_read(l, &how);
}
