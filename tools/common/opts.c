// SPDX-License-Identifier: GPL-2.0-only
/* The reader of command lines. See opts.h. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opts.h"

/* Numbers of long options are above all characters. */
#define FIRST_ID	256

/* ---- values ------------------------------------------------------------- */

static void *field(const struct ctl_opt *opt, void *into)
{
	return (char *)into + opt->at;
}

static void store(const struct ctl_opt *opt, void *into, uint64_t num)
{
	ctl_store(field(opt, into), opt->size, num);
}

/**
 * ctl_opt_num() - read the number of an option
 * @opt: option with a number, a word or a flag
 * @from: struct with the values
 *
 * Return: the number
 */
uint64_t ctl_opt_num(const struct ctl_opt *opt, const void *from)
{
	return ctl_load((const char *)from + opt->at, opt->size);
}

static const char *word_list(const struct ctl_opt_word *w)
{
	const char *list = "";

	for (; w && w->word; w++)
		list = ctl_asprintf("%s%s%s", list, *list ? "|" : w[1].word ?
				    ", and none of " : ", and not ", w->word);
	return list;
}

static const char *take_number(const struct ctl_opt *opt, void *into, const char *text)
{
	bool bytes = opt->kind == CTL_OPT_BYTES;
	const struct ctl_opt_word *w;
	uint64_t num;

	for (w = opt->words; w && w->word; w++) {
		if (!strcmp(w->word, text)) {
			store(opt, into, w->num);
			return NULL;
		}
	}
	if (ctl_num_parse(text, opt->max, bytes, &num) || num < opt->min)
		return ctl_asprintf("not a number%s from %llu to %llu%s%s",
				    opt->value && !strcmp(opt->value, "SECONDS") ?
				    " of seconds" : "", (unsigned long long)opt->min,
				    (unsigned long long)opt->max,
				    bytes ? ctl_num_suffixes(opt->max) : "",
				    word_list(opt->words));
	if (opt->pow2 && num && (num < opt->pow2 || num & (num - 1)))
		return ctl_asprintf("not a power of two from %llu to %llu",
				    (unsigned long long)opt->pow2, (unsigned long long)opt->max);
	store(opt, into, num);
	return NULL;
}

/* Seconds as milliseconds: "1.5" is 1500. */
static const char *take_millis(const struct ctl_opt *opt, void *into, const char *text)
{
	static const char wrong[] = "not a number of seconds, like 2 or 0.5";
	const char *dot = strchr(text, '.');
	uint64_t num, unit = 100;
	char *head = ctl_strdup(text);
	const char *err;

	if (dot)
		head[dot - text] = '\0';
	err = ctl_num_parse(head, opt->max / 1000, false, &num);
	ctl_free(head);
	if (err || (dot && !dot[1]))
		return wrong;
	num *= 1000;
	for (dot = dot ? dot + 1 : ""; *dot; dot++) {
		if (*dot < '0' || *dot > '9')
			return wrong;
		num += (*dot - '0') * unit;
		unit /= 10;
	}
	if (num < opt->min || num > opt->max)
		return wrong;
	store(opt, into, num);
	return NULL;
}

static const char *take_word(const struct ctl_opt *opt, void *into, const char *text)
{
	uint64_t num;
	const char *err = ctl_name_parse(opt->names, text, &num);

	if (!err)
		store(opt, into, num);
	return err;
}

/**
 * ctl_opt_take() - store the value of an option
 * @opt: option
 * @into: struct that the option describes
 * @text: value as the user wrote it; NULL: none
 *
 * Return: NULL, or what is wrong, as a message has it behind the name and the text
 */
const char *ctl_opt_take(const struct ctl_opt *opt, void *into, const char *text)
{
	switch (opt->kind) {
	case CTL_OPT_FILE:
		*((bool *)into + opt->also) = true;
		*(const char **)field(opt, into) = text;
		return NULL;
	case CTL_OPT_TEXT:
		*(const char **)field(opt, into) = text;
		return NULL;
	case CTL_OPT_MILLIS:
		return take_millis(opt, into, text);
	case CTL_OPT_WORD:
		return take_word(opt, into, text);
	case CTL_OPT_ADDR:
		return ctl_addr_parse(text, field(opt, into));
	case CTL_OPT_FLAG:
		if (text)
			return take_number(opt, into, text);
		store(opt, into, 1);
		return NULL;
	case CTL_OPT_NOT:
		store(opt, into, 0);
		return NULL;
	case CTL_OPT_TAKE:
		return opt->take(into, text);
	default:
		return take_number(opt, into, text);
	}
}

/* A number of an option as a text of ctl_brief(). */
static const char *text_of(const struct ctl_opt *opt, uint64_t num)
{
	const struct ctl_opt_word *w;

	if (opt->kind == CTL_OPT_WORD)
		return ctl_name(opt->names, num);
	/* A number in range has digits, even if there is a word for the number. */
	for (w = opt->words; num > opt->max && w && w->word; w++)
		if (w->num == num)
			return w->word;
	if (opt->kind == CTL_OPT_MILLIS)
		return ctl_brief("%g", num / 1000.0);
	return ctl_brief("%llu", (unsigned long long)num);
}

/**
 * ctl_opt_text() - write the value of an option
 * @opt: option with a number, a word or a flag
 * @from: struct that the option describes
 *
 * Return: a text of ctl_brief(), which ctl_opt_take() accepts
 */
const char *ctl_opt_text(const struct ctl_opt *opt, const void *from)
{
	return text_of(opt, ctl_opt_num(opt, from));
}

/**
 * ctl_opt_default() - store the defaults of a table
 * @opt: table
 * @into: zeroed struct that the table describes
 */
void ctl_opt_default(const struct ctl_opt *opt, void *into)
{
	for (; opt->name; opt++)
		if (opt->def || opt->kind == CTL_OPT_NOT)
			store(opt, into, opt->kind == CTL_OPT_NOT ? 1 : opt->def);
}

/* ---- help --------------------------------------------------------------- */

static void help_line(const struct ctl_opt *opt, int wide)
{
	bool optional = opt->kind == CTL_OPT_FILE;
	char flag[] = { '-', opt->letter, ',', ' ', '\0' };
	const char *def = "";

	if (opt->def && !strchr(opt->help, '('))
		def = ctl_asprintf(" (%s)", text_of(opt, opt->def));
	printf("  %-*s %s%s\n", wide,
	       ctl_asprintf("%s--%s%s%s%s%s", opt->letter ? flag : "    ", opt->name,
			    optional ? "[" : "", opt->value ? "=" : "",
			    opt->value ? opt->value : "", optional ? "]" : ""),
	       opt->help, def);
}

static bool has(const struct ctl_opt_part *p, const struct ctl_opt *opt)
{
	return p->groups & 1U << opt->group;
}

static void help(const struct ctl_command *c)
{
	const struct ctl_opt_part *p;
	const struct ctl_opt *opt;

	puts(c->head);
	for (p = c->part; p < c->part + c->parts; p++) {
		if (p->title)
			puts(p->title);
		for (opt = p->opt; opt->name; opt++)
			if (has(p, opt))
				help_line(opt, c->wide);
	}
	puts(c->tail);
}

/* ---- reader ------------------------------------------------------------- */

/**
 * struct table - the options of a command, as getopt_long() takes them
 */
struct table {
	/** @option: long options */
	struct option *option;
	/** @opt: the same as rows */
	const struct ctl_opt **opt;
	/** @at: offsets of their structs */
	size_t *at;
	/** @count: options */
	unsigned int count;
	/** @letters: short options */
	char letters[256];
};

static int arg_of(const struct ctl_opt *opt)
{
	if (opt->kind == CTL_OPT_FILE)
		return optional_argument;
	return opt->value ? required_argument : no_argument;
}

static void add_option(struct table *t, const struct ctl_opt *opt, size_t at)
{
	static const char *const colons[] = {
		[no_argument] = "", [required_argument] = ":", [optional_argument] = "::",
	};
	size_t len = strlen(t->letters);
	unsigned int n = t->count++;

	t->opt = ctl_grow(t->opt, n, sizeof(*t->opt));
	t->opt[n] = opt;
	t->at = ctl_grow(t->at, n, sizeof(*t->at));
	t->at[n] = at;
	t->option = ctl_grow(t->option, n, sizeof(*t->option));
	t->option[n] = (struct option){ opt->name, arg_of(opt), NULL, FIRST_ID + n };
	if (opt->letter)
		snprintf(t->letters + len, sizeof(t->letters) - len, "%c%s", opt->letter,
			 colons[arg_of(opt)]);
}

static void make_table(struct table *t, const struct ctl_command *c)
{
	const struct ctl_opt_part *p;
	const struct ctl_opt *opt;

	for (p = c->part; p < c->part + c->parts; p++)
		for (opt = p->opt; opt->name; opt++)
			if (has(p, opt))
				add_option(t, opt, p->at);
	/* The zeroed entry ends the array. */
	t->option = ctl_grow(t->option, t->count, sizeof(*t->option));
}

/* The index of what getopt_long() has found; the number of options if it is none. */
static unsigned int find(const struct table *t, int c)
{
	unsigned int i;

	if (c >= FIRST_ID)
		return c - FIRST_ID;
	for (i = 0; i < t->count && t->opt[i]->letter != c; i++)
		;
	return i;
}

/**
 * ctl_command_usage() - complain about a command line
 * @c: command line
 * @fmt: what is wrong
 *
 * Return: CTL_USAGE
 */
int ctl_command_usage(const struct ctl_command *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ctl_err("%s; see %s --help", text, c->name);
	return CTL_USAGE;
}

static int take(const struct ctl_command *c, const struct ctl_opt *opt, void *into)
{
	const char *err;

	switch (opt->kind) {
	case CTL_OPT_HELP:
		help(c);
		return CTL_OPT_SHOWN;
	case CTL_OPT_VERSION:
		printf("%s %s\n", c->name, SPINDLE_VERSION);
		return CTL_OPT_SHOWN;
	default:
		err = ctl_opt_take(opt, into, optarg);
	}
	if (err)
		return ctl_command_usage(c, "%s %s: %s", opt->name, optarg, err);
	return CTL_OK;
}

static int refuse(const struct ctl_command *c, int found, const char *word)
{
	if (found == ':')
		return ctl_command_usage(c, "%s: the value is missing", word);
	if (optopt && optopt < FIRST_ID)
		return ctl_command_usage(c, "there is no option -%c", optopt);
	return ctl_command_usage(c, "there is no option %s", word);
}

/**
 * ctl_command_parse() - read a command line
 * @c: command line
 * @into: out: values; zeroed before. Values without an option get their defaults
 * @argc: words
 * @argv: words; those that are no options stand behind optind afterwards
 * @given: out: name of the last option of each group, NULL if there was none; or NULL
 *
 * Return: CTL_OK; CTL_USAGE after a message; CTL_OPT_SHOWN if the user wanted help or the version
 */
int ctl_command_parse(const struct ctl_command *c, void *into, int argc, char **argv,
		      const char **given)
{
	struct table t = { .letters = ":" };
	const struct ctl_opt_part *p;
	unsigned int i;
	int found, rc;

	for (p = c->part; p < c->part + c->parts; p++)
		ctl_opt_default(p->opt, (char *)into + p->at);
	make_table(&t, c);
	opterr = 0;
	optopt = 0;
	while ((found = getopt_long(argc, argv, t.letters, t.option, NULL)) != -1) {
		i = found == ':' || found == '?' ? t.count : find(&t, found);
		if (i == t.count)
			return refuse(c, found, argv[optind - 1]);
		rc = take(c, t.opt[i], (char *)into + t.at[i]);
		if (rc)
			return rc;
		if (given)
			given[t.opt[i]->group] = t.opt[i]->name;
	}
	if (optind < argc && !c->words)
		return ctl_command_usage(c, "'%s': there are only options", argv[optind]);
	return CTL_OK;
}
