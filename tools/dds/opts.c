// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command lines of spindle-dds. See opts.h.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spindle/rdmc.h>
#include <spindle/spindle.h>

#include "common/fields.h"
#include "common/opts.h"
#include "opts.h"

#define DAY_MS		(24ULL * 3600 * 1000)
#define MIN_RATE	0.001
#define MAX_RATE	1e6
#define MAX_WINDOW	1000000U
#define DEF_WINDOW	10000U

#define AT(field)	CTL_OPT_AT(struct dds_opts, field)

/* ---- values -------------------------------------------------------------------------- */

static const char *take_partition(void *into, const char *text)
{
	struct dds_opts *o = into;

	if (o->partitions == SPINDLE_DDS_PARTITIONS)
		return ctl_asprintf("there are %u partitions at most", SPINDLE_DDS_PARTITIONS);
	if (strlen(text) >= SPINDLE_DDS_SHORT)
		return ctl_asprintf("a name of a partition has %u characters at most",
				    SPINDLE_DDS_SHORT - 1);
	strcpy(o->partition[o->partitions++], text);
	return NULL;
}

static const char *take_level(void *into, const char *text)
{
	struct dds_opts *o = into;
	uint32_t level;

	for (level = 0; level < SPINDLE_DDS_LEVELS; level++)
		if (!strcmp(spindle_dds_level_string(level), text))
			break;
	o->level = level;
	return level < SPINDLE_DDS_LEVELS ? NULL :
	       "not a level: unordered, atomic, transient or persistent";
}

static const char *take_rate(void *into, const char *text)
{
	static const char wrong[] =
		"not a number of samples per second: 0, or from 0.001 to 1000000";
	struct dds_opts *o = into;
	char *end;

	/* strtod() would also take blanks, signs, hexadecimal digits and infinity. */
	if (text[strspn(text, "0123456789.")])
		return wrong;
	o->rate = strtod(text, &end);
	o->has_rate = true;
	if (end == text || *end || o->rate > MAX_RATE || (o->rate > 0 && o->rate < MIN_RATE))
		return wrong;
	return NULL;
}

/* The rest of a short key is 0, as in the key hash that DDS makes of a short key. */
static const char *take_key(void *into, const char *text)
{
	struct dds_opts *o = into;
	uint32_t len;

	memset(o->key, 0, sizeof(o->key));
	o->keyed = true;
	return ctl_value_unhex(text, o->key, sizeof(o->key), &len) ?
	       "not 1 to 16 bytes in hexadecimal, two digits each" : NULL;
}

static const char *take_form(void *into, const char *text)
{
	static const char *const word[] = {
		[DDS_TEXT] = "text", [DDS_HEX] = "hex", [DDS_RAW] = "raw",
	};
	struct dds_opts *o = into;
	uint32_t form;

	for (form = 0; form < CTL_ARRAY_SIZE(word); form++)
		if (!strcmp(word[form], text))
			break;
	o->form = form;
	return form < CTL_ARRAY_SIZE(word) ? NULL : "neither text, hex nor raw";
}

/* ---- tables -------------------------------------------------------------------------- */

static const struct ctl_opt common[] = {
	{ .name = "node", .letter = 'n', .kind = CTL_OPT_NUM, AT(node),
	  .min = 1, .max = UINT32_MAX, .value = "ID",
	  .help = "own node (the only one of this machine)" },
	{ .name = "control", .letter = 'c', .kind = CTL_OPT_TEXT, AT(control), .value = "NAME",
	  .help = "name of the control subgroup (dds)" },
	{ .name = "begin", .letter = 'b', .kind = CTL_OPT_FLAG, AT(begin),
	  .help = "begin a domain if no participant has its directory" },
	{ .name = "timeout", .letter = 't', .kind = CTL_OPT_MILLIS, AT(timeout),
	  .min = 100, .max = DAY_MS, .def = 10000, .value = "SECONDS",
	  .help = "how long to wait for other participants" },
	{ .name = "device", .letter = 'D', .kind = CTL_OPT_TEXT, AT(device), .value = "PATH",
	  .help = "default " SPINDLE_DEVICE },
	{ .name = "rdmc-device", .kind = CTL_OPT_TEXT, AT(rdmc_device), .value = "PATH",
	  .help = "default " SPINDLE_RDMC_DEVICE },
	{ .name = "help", .letter = 'h', .kind = CTL_OPT_HELP, .help = "this text" },
	{ .name = "version", .letter = 'V', .kind = CTL_OPT_VERSION, .help = "version" },
	{ .name = NULL }
};

static const struct ctl_opt prints[] = {
	{ .name = "json", .letter = 'j', .kind = CTL_OPT_FLAG, AT(json), .help = "print JSON" },
	{ .name = "pretty", .letter = 'p', .kind = CTL_OPT_FLAG, AT(pretty),
	  .help = "print JSON, indented" },
	{ .name = "csv", .kind = CTL_OPT_FLAG, AT(csv), .help = "print CSV" },
	{ .name = NULL }
};

static const struct ctl_opt waits[] = {
	{ .name = "wait", .letter = 'w', .kind = CTL_OPT_MILLIS, AT(wait), .max = DAY_MS,
	  .value = "SECONDS", .help = "how long to wait for the topic (not at all)" },
	{ .name = NULL }
};

static const struct ctl_opt streams[] = {
	{ .name = "count", .letter = 'N', .kind = CTL_OPT_NUM, AT(count),
	  .min = 1, .max = UINT64_MAX, .value = "N", .help = "end after N samples" },
	{ .name = "partition", .letter = 'P', .kind = CTL_OPT_TAKE, .take = take_partition,
	  .value = "NAME", .help = "partition; may be repeated (the one with the empty name)" },
	{ .name = "quiet", .letter = 'q', .kind = CTL_OPT_FLAG, AT(quiet),
	  .help = "no summary, and no notes about what does not match" },
	{ .name = NULL }
};

static const struct ctl_opt of_echo[] = {
	{ .name = "once", .letter = '1', .kind = CTL_OPT_FLAG, AT(once),
	  .help = "end after one sample" },
	{ .name = "depth", .letter = 'd', .kind = CTL_OPT_NUM, AT(depth),
	  .min = 1, .max = UINT32_MAX - 1, .value = "N",
	  .help = "first the last N samples of each key (only new samples)" },
	{ .name = "form", .letter = 'f', .kind = CTL_OPT_TAKE, .take = take_form,
	  .value = "FORM", .help = "text, hex or raw (text)" },
	{ .name = "keys", .letter = 'k', .kind = CTL_OPT_FLAG, AT(keys),
	  .help = "show the key of each sample" },
	{ .name = "verbose", .letter = 'v', .kind = CTL_OPT_FLAG, AT(verbose),
	  .help = "show also its number and its source time" },
	{ .name = NULL }
};

static const struct ctl_opt of_pub[] = {
	{ .name = "once", .letter = '1', .kind = CTL_OPT_FLAG, AT(once),
	  .help = "end after one sample" },
	{ .name = "rate", .letter = 'r', .kind = CTL_OPT_TAKE, .take = take_rate,
	  .value = "HZ", .help = "samples per second, 0: no limit (1 of a TEXT, 0 of lines)" },
	{ .name = "form", .letter = 'f', .kind = CTL_OPT_TAKE, .take = take_form,
	  .value = "FORM", .help = "text, or hex: the bytes in hexadecimal (text)" },
	{ .name = "key", .letter = 'k', .kind = CTL_OPT_TAKE, .take = take_key, .value = "HEX",
	  .help = "key of the samples: 1 to 16 bytes, then zeroes" },
	{ .name = "size", .letter = 's', .kind = CTL_OPT_BYTES, AT(size),
	  .min = 1, .max = UINT32_MAX, .value = "BYTES",
	  .help = "longest sample (that of the TEXT, 1024 of lines)" },
	{ .name = "depth", .letter = 'd', .kind = CTL_OPT_NUM, AT(depth),
	  .max = UINT32_MAX - 1, .value = "N",
	  .help = "samples of each key for late readers (1 if the topic keeps any)" },
	{ .name = "wait-readers", .letter = 'w', .kind = CTL_OPT_NUM, AT(readers),
	  .min = 1, .max = UINT32_MAX, .value = "N", .help = "wait until N readers match" },
	{ .name = "level", .letter = 'l', .kind = CTL_OPT_TAKE, .take = take_level,
	  .value = "LEVEL", .help = "make the topic, if it is not there, with this level:\n"
		"                             unordered, atomic, transient or persistent" },
	{ .name = "type", .kind = CTL_OPT_TEXT, AT(type), .value = "NAME",
	  .help = "name of its type (none)" },
	{ .name = "subgroup", .letter = 'g', .kind = CTL_OPT_TEXT, AT(subgroup), .value = "NAME",
	  .help = "a subgroup of its own (a shared one)" },
	{ .name = NULL }
};

static const struct ctl_opt of_rate[] = {
	{ .name = "window", .letter = 'W', .kind = CTL_OPT_NUM, AT(window),
	  .min = 2, .max = MAX_WINDOW, .def = DEF_WINDOW, .value = "N",
	  .help = "compute figures of the last N samples" },
	{ .name = NULL }
};

/* Options of all programs alone, for a command line without a verb. */
static const struct ctl_opt none[] = {
	{ .name = "help", .letter = 'h', .kind = CTL_OPT_HELP, .help = "this text" },
	{ .name = "version", .letter = 'V', .kind = CTL_OPT_VERSION, .help = "version" },
	{ .name = NULL }
};

/* The tables of a command line, in the order of its help. */
#define PART(_opt)	{ .opt = (_opt), .groups = CTL_OPT_ALL }

static const struct ctl_opt_part parts_none[] = { PART(none) };

static const struct ctl_opt_part parts_list[] = { PART(prints), PART(common) };

static const struct ctl_opt_part parts_info[] = { PART(prints), PART(waits), PART(common) };

static const struct ctl_opt_part parts_echo[] = {
	PART(of_echo), PART(prints), PART(streams), PART(waits), PART(common),
};

static const struct ctl_opt_part parts_pub[] = { PART(of_pub), PART(streams), PART(common) };

static const struct ctl_opt_part parts_rate[] = {
	PART(of_rate), PART(prints), PART(streams), PART(waits), PART(common),
};

#define TAIL	"\nExit status: 0 done, 1 failed or not there, 2 usage."
#define COMMAND(_word, _args, _what, _words, _parts)				\
	{ .name = "spindle-dds topic " _word,					\
	  .head = "usage: spindle-dds topic " _word " [OPTION]..." _args "\n" _what "\n", \
	  .tail = TAIL, .wide = 26, .words = (_words),				\
	  .part = (_parts), .parts = CTL_ARRAY_SIZE(_parts) }

static const struct ctl_command commands[DDS_VERBS] = {
	[DDS_LIST] = COMMAND("list", "", "List the topics of the domain.", false, parts_list),
	[DDS_INFO] = COMMAND("info", " TOPIC", "Show a topic.", true, parts_info),
	[DDS_ECHO] = COMMAND("echo", " TOPIC", "Print the samples of a topic as they come.", true,
			     parts_echo),
	[DDS_PUB] = COMMAND("pub", " TOPIC [TEXT|-]",
			    "Write a text to a topic, again and again, or the lines of standard input.",
			    true, parts_pub),
	[DDS_HZ] = COMMAND("hz", " TOPIC", "Measure how often samples of a topic come.", true,
			   parts_rate),
	[DDS_BW] = COMMAND("bw", " TOPIC", "Measure how many bytes the samples of a topic have.",
			   true, parts_rate),
};

static const char *const verbs[DDS_VERBS] = {
	[DDS_LIST] = "list", [DDS_INFO] = "info", [DDS_ECHO] = "echo", [DDS_PUB] = "pub",
	[DDS_HZ] = "hz", [DDS_BW] = "bw",
};

static const struct ctl_command top = {
	.name = "spindle-dds",
	.head = "usage: spindle-dds topic list|info|echo|pub|hz|bw [OPTION]... [TOPIC [TEXT|-]]\n"
		"Look at topics, read and write their samples. Each verb has --help.\n",
	.tail = TAIL, .wide = 26, .words = true, .part = parts_none, .parts = 1,
};

/* ---- check --------------------------------------------------------------------------- */

/* Is this a text that a record of the directory takes? */
static bool is_name(const char *text, size_t size)
{
	const unsigned char *c = (const unsigned char *)text;

	while (*c > ' ' && *c < 127)
		c++;
	return !*c && strlen(text) < size;
}

static const char *check_names(const struct dds_opts *o)
{
	uint32_t i;

	if (o->topic && (!*o->topic || !is_name(o->topic, SPINDLE_DDS_NAME)))
		return ctl_asprintf("the name of a topic has 1 to %u printable characters, "
				    "and no blanks", SPINDLE_DDS_NAME - 1);
	if (o->type && !is_name(o->type, SPINDLE_DDS_NAME))
		return ctl_asprintf("the name of a type has up to %u printable characters, "
				    "and no blanks", SPINDLE_DDS_NAME - 1);
	if (o->subgroup && (!*o->subgroup || !is_name(o->subgroup, SPINDLE_DDS_SUBGROUP)))
		return ctl_asprintf("the name of a subgroup has 1 to %u printable characters, "
				    "and no blanks", SPINDLE_DDS_SUBGROUP - 1);
	for (i = 0; i < o->partitions; i++)
		if (!is_name(o->partition[i], SPINDLE_DDS_SHORT))
			return "the name of a partition has printable characters, and no blanks";
	return NULL;
}

/* Do the options fit together? Return: NULL, or what is wrong. */
static const char *check(const struct dds_opts *o)
{
	if (o->json && o->csv)
		return "--json and --csv exclude each other";
	if (o->once && o->count)
		return "--once and --count exclude each other";
	if (o->verb == DDS_ECHO && o->form == DDS_RAW &&
	    (o->json || o->csv || o->keys || o->verbose))
		return "--form=raw prints the bytes alone, without --json, --csv, --keys and "
		       "--verbose";
	if (o->verb == DDS_PUB && o->form == DDS_RAW)
		return "--form is text or hex";
	if (o->level == DDS_LEVEL_NONE && (o->type || o->subgroup))
		return "--type and --subgroup are of a new topic, which needs --level";
	return check_names(o);
}

/* The words behind the options: TOPIC, and TEXT of a writer. */
static const char *take_words(struct dds_opts *o, int argc, char **argv)
{
	int most = o->verb == DDS_PUB ? 2 : o->verb == DDS_LIST ? 0 : 1;

	if (most && !argc)
		return "the topic is missing";
	if (argc > most)
		return ctl_asprintf("'%s': there are only %s", argv[most],
				    most == 2 ? "a topic and a text" : "options and a topic");
	o->topic = argc ? argv[0] : NULL;
	o->text = argc > 1 && strcmp(argv[1], "-") ? argv[1] : NULL;
	return NULL;
}

/* The bytes of the text. */
static const char *take_text(struct dds_opts *o)
{
	size_t len = o->text ? strlen(o->text) : 0;
	unsigned char *bytes;
	const char *err;

	if (len > INT32_MAX)
		return "the text is too long";
	o->bytes = (uint32_t)len;
	if (o->text && o->form == DDS_HEX) {
		bytes = ctl_alloc(len + 1);
		err = ctl_value_unhex(o->text, bytes, (uint32_t)len, &o->bytes);
		if (err)
			return ctl_asprintf("'%s': %s", o->text, err);
		o->text = (const char *)bytes;
	}
	if (o->size && o->bytes > o->size)
		return ctl_asprintf("the text has %u bytes, and --size is %u", o->bytes, o->size);
	return NULL;
}

static int parse_verb(struct dds_opts *o, int argc, char **argv)
{
	const struct ctl_command *c = &commands[o->verb];
	const char *err;
	int rc;

	rc = ctl_command_parse(c, o, argc, argv, NULL);
	if (rc)
		return rc;
	o->json |= o->pretty;
	err = take_words(o, argc - optind, argv + optind);
	if (!err)
		err = check(o);
	if (!err)
		err = take_text(o);
	if (err)
		return ctl_command_usage(c, "%s", err);
	if (o->once)
		o->count = 1;
	if (!o->has_rate)
		o->rate = o->text ? 1 : 0;
	return CTL_OK;
}

/**
 * dds_opts_parse() - read the command line
 * @o: out: options
 * @argc: words
 * @argv: words
 *
 * Return: CTL_OK; CTL_USAGE after a message; CTL_OPT_SHOWN: the user wanted help, which was printed
 */
int dds_opts_parse(struct dds_opts *o, int argc, char **argv)
{
	bool is_topic = false;
	unsigned int i;
	int rc;

	memset(o, 0, sizeof(*o));
	o->level = DDS_LEVEL_NONE;
	if (argc > 1 && !strcmp(argv[1], "topic")) {
		argc--;
		argv++;
		is_topic = true;
	}
	if (argc < 2 || argv[1][0] == '-') {
		rc = ctl_command_parse(&top, o, argc, argv, NULL);
		return rc ? rc : ctl_command_usage(&top, "the command is missing");
	}
	for (i = 0; is_topic && i < DDS_VERBS; i++)
		if (!strcmp(verbs[i], argv[1]))
			break;
	if (!is_topic || i == DDS_VERBS)
		return ctl_command_usage(&top, "there is no command '%s%s'",
					 is_topic ? "topic " : "", argv[1]);
	o->verb = i;
	o->depth = i == DDS_PUB ? UINT32_MAX : 0;
	return parse_verb(o, argc - 1, argv + 1);
}
