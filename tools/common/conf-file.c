// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a configuration file:
 *
 *	# comment
 *	[Node]
 *	Id = 1
 *	Address = 10.0.0.1
 *
 *	[View]
 *	Vid = 1
 *	Member = 1@10.0.0.1
 *	Member = 2@10.0.0.2
 *
 *	[Subgroup]
 *	Id = 0
 *	Name = "with blanks"
 *
 *	[Table]
 *	Id = 1
 *	Cells = 16
 *
 * A key of live views makes the view live, as on the command line.
 *
 * The reader reports all mistakes, not only the first. Nothing is done before the whole file is
 * read.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "conf.h"
#include "live.h"
#include "model.h"
#include "util.h"

/* How many complaints are printed. A file that is no configuration at all would have many. */
#define COMPLAINTS_MAX	20

enum section {
	SECTION_NONE,
	SECTION_UNKNOWN,
	SECTION_NODE,
	SECTION_VIEW,
	SECTION_SUBGROUP,
	SECTION_TABLE
};

static const char *const section_names[] = {
	[SECTION_NODE] = "Node",
	[SECTION_VIEW] = "View",
	[SECTION_SUBGROUP] = "Subgroup",
	[SECTION_TABLE] = "Table",
};

/**
 * struct reader - the state of reading a file
 */
struct reader {
	/** @conf: what has been read */
	struct ctl_conf *conf;
	/** @section: section that the next line belongs to */
	enum section section;
	/** @line: number of the line */
	int line;
};

/**
 * ctl_conf_complain() - report a mistake in a file, and count it
 * @conf: configuration that the file is read into
 * @line: line
 * @fmt: what is wrong
 */
void ctl_conf_complain(struct ctl_conf *conf, int line, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (conf->errors++ >= COMPLAINTS_MAX)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (conf->quiet) {
		if (conf->errors == 1)
			conf->first = ctl_asprintf("line %d: %s", line,
						   text ? ctl_clean(text) : "?");
		free(text);
		return;
	}
	fflush(stdout);
	fprintf(stderr, "%s:%d: %s\n", conf->file, line, text ? ctl_clean(text) : "?");
	free(text);
	if (conf->errors == COMPLAINTS_MAX)
		fprintf(stderr, "%s: there may be more\n", conf->file);
}

static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t\r\n\f\v");
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return s;
}

/* Read the escape behind a backslash. Return: bytes of the escape, or 0 if it is invalid. */
static int unescape(const char *s, char *c)
{
	switch (*s) {
	case '"':
	case '\\':
		*c = *s;
		return 1;
	case 'x':
		if (!isxdigit((unsigned char)s[1]) || !isxdigit((unsigned char)s[2]) ||
		    sscanf(s + 1, "%2hhx", (unsigned char *)c) != 1)
			return 0;
		return *c ? 3 : 0;
	}
	return 0;
}

/**
 * unquote() - reduce the right side of a line to the value, in place
 * @s: right side, trimmed
 *
 * A comment begins with a # at the start or after a blank. Quotes keep blanks and #.
 *
 * Return: NULL, or what is wrong
 */
static const char *unquote(char *s)
{
	char *in = s, *out = s;
	int n;

	if (*in != '"') {
		for (; *in; in++)
			if (*in == '#' && (in == s || isspace((unsigned char)in[-1])))
				break;
		*in = '\0';
		trim(s);
		return NULL;
	}
	for (in++; *in && *in != '"'; out++) {
		if (*in != '\\') {
			*out = *in++;
			continue;
		}
		n = unescape(in + 1, out);
		if (!n)
			return "a backslash is followed by \\, \" or xHH (not x00)";
		in += n + 1;
	}
	if (!*in)
		return "the closing quote is missing";
	in = trim(in + 1);
	*out = '\0';
	if (*in && *in != '#')
		return "something follows the closing quote";
	return NULL;
}

static struct ctl_view *last_view(struct ctl_conf *conf)
{
	return &conf->view[conf->views - 1];
}

static struct ctl_subgroup *last_subgroup(struct ctl_conf *conf)
{
	return &last_view(conf)->subgroup[last_view(conf)->subgroups - 1];
}

static void begin_node(struct reader *r)
{
	CTL_ADD(r->conf->node, r->conf->nodes)->line = r->line;
	r->section = SECTION_NODE;
}

static void begin_view(struct reader *r)
{
	CTL_ADD(r->conf->view, r->conf->views)->line = r->line;
	r->section = SECTION_VIEW;
}

/* @section: that of a subgroup or a table */
static void begin_subgroup(struct reader *r, enum section section)
{
	struct ctl_subgroup *sg;
	struct ctl_view *view;

	if (!r->conf->views) {
		ctl_conf_complain(r->conf, r->line,
				  "[%s] comes before any [View]; it belongs to the one above it",
				  section_names[section]);
		r->section = SECTION_UNKNOWN;
		return;
	}
	view = last_view(r->conf);
	sg = CTL_ADD(view->subgroup, view->subgroups);
	sg->line = r->line;
	if (section == SECTION_TABLE)
		ctl_make_table(sg, r->line);
	r->section = section;
}

static void read_section(struct reader *r, char *s)
{
	char *close = strchr(s, ']');
	const char *name, *rest;

	r->section = SECTION_UNKNOWN;
	if (!close) {
		ctl_conf_complain(r->conf, r->line, "'%s': the closing ] is missing", s);
		return;
	}
	*close = '\0';
	name = trim(s + 1);
	rest = trim(close + 1);
	if (*rest && *rest != '#')
		ctl_conf_complain(r->conf, r->line, "'%s' follows the section [%s]", rest, name);
	if (ctl_conf_word(name, section_names[SECTION_NODE]))
		begin_node(r);
	else if (ctl_conf_word(name, section_names[SECTION_VIEW]))
		begin_view(r);
	else if (ctl_conf_word(name, section_names[SECTION_SUBGROUP]))
		begin_subgroup(r, SECTION_SUBGROUP);
	else if (ctl_conf_word(name, section_names[SECTION_TABLE]))
		begin_subgroup(r, SECTION_TABLE);
	else
		ctl_conf_complain(r->conf, r->line,
				  "no such section: [%s]; there is [Node], [View], [Subgroup] and [Table]",
				  name);
}

/* Complain about a value in the user's words, unless @err is NULL. */
static void check_value(struct reader *r, const char *word, const char *text, const char *err)
{
	if (err)
		ctl_conf_complain(r->conf, r->line, "%s = %s: %s", word, text, err);
}

static void bad_key(struct reader *r, const char *word, const char *known)
{
	ctl_conf_complain(r->conf, r->line, "[%s] has no key '%s'; there is: %s",
			  section_names[r->section], word, known);
}

/* Each key except Member and Join may occur once. */
static bool is_first(struct reader *r, const char *word, int line)
{
	if (line)
		ctl_conf_complain(r->conf, r->line, "%s is given twice; it is in line %d too",
				  word, line);
	return !line;
}

static void read_val(struct reader *r, const struct ctl_key *key, struct ctl_val *val,
		     const char *word, const char *text)
{
	if (!is_first(r, word, val->line))
		return;
	val->line = r->line;
	check_value(r, word, text, ctl_val_parse(key, val, text));
}

static void read_ids(struct reader *r, struct ctl_ids *ids, bool none, const char *word,
		     const char *text)
{
	if (!is_first(r, word, ids->line))
		return;
	ids->line = r->line;
	check_value(r, word, text, ctl_ids_parse(text, ids, none));
}

static void read_node(struct reader *r, const char *word, const char *text)
{
	const struct ctl_key *key = ctl_key_find_conf(ctl_node_keys, word);
	struct ctl_node *node = &r->conf->node[r->conf->nodes - 1];

	if (key)
		read_val(r, key, &node->val[key - ctl_node_keys], word, text);
	else if (ctl_conf_word(word, ctl_secret_key.conf))
		read_val(r, &ctl_secret_key, &node->key_file, word, text);
	else if (ctl_conf_word(word, ctl_insecure_key.conf))
		read_val(r, &ctl_insecure_key, &node->insecure, word, text);
	else if (ctl_conf_word(word, ctl_contact_key.conf))
		check_value(r, word, text,
			    ctl_members_add(&node->contact, &node->contacts, text, r->line,
					    ctl_contact_parse));
	else
		bad_key(r, word, ctl_asprintf("%s, %s, %s, %s", ctl_key_list(ctl_node_keys, true),
					      ctl_secret_key.conf, ctl_insecure_key.conf,
					      ctl_contact_key.conf));
}

static void read_witnesses(struct reader *r, struct ctl_view *view, const char *word,
			   const char *text)
{
	view->is_live = true;
	if (!is_first(r, word, view->witnesses.line))
		return;
	view->witnesses.line = r->line;
	check_value(r, word, text, ctl_witness_parse(text, &view->witnesses));
}

/* The group that the view belongs to, with its era. */
static void read_lineage(struct reader *r, struct ctl_view *view, const char *word,
			 const char *text)
{
	uint8_t lineage[SPINDLE_LINEAGE_LEN];
	uint64_t era;

	read_val(r, &ctl_lineage_key, &view->lineage, word, text);
	view->is_live = true;
	if (view->lineage.set)
		check_value(r, word, text, ctl_lineage_parse(text, lineage, &era));
}

static void read_view(struct reader *r, const char *word, const char *text)
{
	const struct ctl_key *live = ctl_key_find_conf(ctl_live_keys, word);
	struct ctl_view *view = last_view(r->conf);

	if (live) {
		read_val(r, live, &view->live[live - ctl_live_keys], word, text);
		view->is_live = true;
	} else if (ctl_conf_word(word, ctl_witness_key.conf)) {
		read_witnesses(r, view, word, text);
	} else if (ctl_conf_word(word, ctl_live_key.conf)) {
		read_val(r, &ctl_live_key, &view->said, word, text);
		view->is_live |= view->said.num;
	} else if (ctl_conf_word(word, ctl_lineage_key.conf)) {
		read_lineage(r, view, word, text);
	} else if (ctl_conf_word(word, "Vid")) {
		read_val(r, &ctl_vid_key, &view->vid, word, text);
	} else if (ctl_conf_word(word, "Nodes")) {
		read_ids(r, &view->nodes, false, word, text);
	} else if (ctl_conf_word(word, "Member")) {
		check_value(r, word, text,
			    ctl_members_add(&view->member, &view->members, text, r->line,
					    ctl_member_parse));
	} else {
		bad_key(r, word, ctl_asprintf("Vid, Member, Nodes, %s, %s, %s, %s",
					      ctl_live_key.conf, ctl_key_list(ctl_live_keys, true),
					      ctl_witness_key.conf, ctl_lineage_key.conf));
	}
}

static void read_subgroup(struct reader *r, const char *word, const char *text)
{
	const struct ctl_key *key = ctl_key_find_conf(ctl_subgroup_keys, word);
	const struct ctl_key *rule = ctl_key_find_conf(ctl_rule_keys, word);
	const struct ctl_key *tune = r->conf->tuned ? ctl_key_find_conf(ctl_tune_keys, word) : NULL;
	struct ctl_subgroup *sg = last_subgroup(r->conf);

	if (key)
		read_val(r, key, &sg->val[key - ctl_subgroup_keys], word, text);
	else if (rule)
		read_val(r, rule, &sg->rule[rule - ctl_rule_keys], word, text);
	else if (tune)
		read_val(r, tune, &sg->tune[tune - ctl_tune_keys], word, text);
	else if (ctl_conf_word(word, "Members"))
		read_ids(r, &sg->members, false, word, text);
	else if (ctl_conf_word(word, "Senders"))
		read_ids(r, &sg->senders, true, word, text);
	else
		bad_key(r, word, ctl_asprintf("%s, Members, Senders, %s",
					      ctl_key_list(ctl_subgroup_keys, true),
					      ctl_key_list(ctl_rule_keys, true)));
}

static void read_way(struct reader *r, struct ctl_subgroup *sg, const char *word, const char *text)
{
	read_val(r, &ctl_table_mode_key, &sg->way, word, text);
	ctl_take_way(sg);
}

/* A table has some of the keys of a subgroup, and modes of its own. */
static void read_table(struct reader *r, const char *word, const char *text)
{
	const struct ctl_key *key = ctl_key_find_conf(ctl_subgroup_keys, word);
	const struct ctl_key *rule = ctl_key_find_conf(ctl_rule_keys, word);
	struct ctl_subgroup *sg = last_subgroup(r->conf);

	if (key == &ctl_subgroup_keys[CTL_SG_MODE])
		read_way(r, sg, word, text);
	else if (key && ctl_subgroup_has(sg, key - ctl_subgroup_keys))
		read_val(r, key, &sg->val[key - ctl_subgroup_keys], word, text);
	else if (rule && ctl_rule_has(sg, rule - ctl_rule_keys))
		read_val(r, rule, &sg->rule[rule - ctl_rule_keys], word, text);
	else if (ctl_conf_word(word, "Members"))
		read_ids(r, &sg->members, false, word, text);
	else
		bad_key(r, word, "Id, Name, Mode, Cells, Cell, Fields, Members, Shards, Min");
}

static void read_key(struct reader *r, char *s)
{
	char *equals = strchr(s, '='), *word, *text;
	const char *err, *raw;

	if (!equals) {
		ctl_conf_complain(r->conf, r->line, "'%s' is neither [Section] nor Key = Value", s);
		return;
	}
	*equals = '\0';
	word = trim(s);
	text = trim(equals + 1);
	raw = ctl_strdup(text);
	err = unquote(text);
	if (err) {
		check_value(r, word, raw, err);
		return;
	}
	switch (r->section) {
	case SECTION_NONE:
		ctl_conf_complain(r->conf, r->line, "%s comes before any [Node] or [View]", word);
		break;
	case SECTION_UNKNOWN:
		break;	/* the section was complained about */
	case SECTION_NODE:
		read_node(r, word, text);
		break;
	case SECTION_VIEW:
		read_view(r, word, text);
		break;
	case SECTION_SUBGROUP:
		read_subgroup(r, word, text);
		break;
	case SECTION_TABLE:
		read_table(r, word, text);
		break;
	}
}

static void read_line(struct reader *r, char *line, size_t len)
{
	char *s;

	if (strlen(line) != len) {
		ctl_conf_complain(r->conf, r->line, "a zero byte; this is not a text file");
		return;
	}
	if (r->line == 1 && !strncmp(line, "\xef\xbb\xbf", 3))
		line += 3;	/* the byte order mark that some editors write */
	s = trim(line);
	if (!*s || *s == '#' || *s == ';')
		return;
	if (*s == '[')
		read_section(r, s);
	else
		read_key(r, s);
}

/**
 * ctl_conf_parse() - read an open file
 * @conf: out: the configuration; @file and @quiet are set, all else is zeroed
 * @f: the file
 *
 * Return: CTL_OK, or CTL_FAILED if the file cannot be read at all. Mistakes in it are counted in
 *	@conf
 */
int ctl_conf_parse(struct ctl_conf *conf, FILE *f)
{
	struct reader r = { .conf = conf };
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = CTL_OK;

	while ((len = getline(&line, &size, f)) >= 0) {
		r.line++;
		read_line(&r, line, len);
	}
	if (ferror(f)) {
		ctl_err("%s: %s", conf->file, strerror(errno));
		rc = CTL_FAILED;
	}
	free(line);
	return rc;
}

/**
 * ctl_conf_read() - read a file
 * @conf: out: the configuration; check it with ctl_conf_check()
 * @path: name of the file, "-" for standard input
 *
 * Return: CTL_OK, or CTL_FAILED if the file cannot be read at all. Mistakes in it are counted in
 *	@conf
 */
int ctl_conf_read(struct ctl_conf *conf, const char *path)
{
	bool input = !strcmp(path, "-");
	FILE *f = input ? stdin : fopen(path, "re");
	int rc;

	memset(conf, 0, sizeof(*conf));
	conf->file = input ? "<stdin>" : path;
	if (!f) {
		ctl_err("%s: %s", conf->file, strerror(errno));
		return CTL_FAILED;
	}
	rc = ctl_conf_parse(conf, f);
	if (!input)
		fclose(f);
	return rc;
}
