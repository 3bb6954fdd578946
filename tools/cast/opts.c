// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command lines of spindle-cast and spindle-recv. See opts.h.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spindle/rdmc.h>

#include "common/util.h"
#include "opts.h"

#define DEF_GROUP	1
#define MAX_GROUP	(UINT64_MAX >> 16)
/* A receiver that writes a large file to a slow disk has no room for the next one until then. */
#define DEF_TIMEOUT	120
#define MAX_SECONDS	(24 * 3600)
#define DEF_MEMORY	(1ULL << 30)

/* The program that an option is for. */
enum owner {
	BOTH,
	CAST,
	RECV
};

/**
 * struct word - an option
 * @letter: short option, or a number above all letters
 * @name: long option
 * @value: name of the value; NULL: the option has none
 * @help: description in the help
 * @owner: enum owner
 */
struct word {
	int letter;
	const char *name;
	const char *value;
	const char *help;
	enum owner owner;
};

enum { FROM = 256, NO_VERIFY, MEMORY, WAIT, KEEP_GOING, OVERWRITE, FSYNC, LOOP };

static const struct word words[] = {
	{ 'n', "node", "ID", "own node (the only one of this machine)", BOTH },
	{ 'm', "members", "ID,...", "members, the sender first (all of the view)", BOTH },
	{ FROM, "from", "ID", "the sender, unless -m says it", RECV },
	{ 'g', "group", "N", "number that both sides have agreed upon (1)", BOTH },
	{ 'a', "algorithm", "WORD", "pipeline, sequential, chain, tree or hybrid (pipeline)",
	  BOTH },
	{ 'b', "block", "BYTES", "bytes of a block, a power of two (the kernel's default)", BOTH },
	{ 't', "timeout", "SECONDS", "how long nothing may go on (120)", BOTH },
	{ WAIT, "wait", "SECONDS", "how long to wait for the members (for ever)", BOTH },
	{ MEMORY, "memory", "BYTES", "files in memory at a time, at least one (1G)", BOTH },
	{ 'r', "recursive", NULL, "directories with all that is in them", CAST },
	{ 'k', "keep-going", NULL, "send what somebody cannot take to the others", CAST },
	{ OVERWRITE, "overwrite", NULL, "replace files that are different", RECV },
	{ FSYNC, "fsync", NULL, "write through to the disk", RECV },
	{ LOOP, "loop", NULL, "receive one batch after the other", RECV },
	{ NO_VERIFY, "no-verify", NULL, "do not compare checksums of what has arrived", BOTH },
	{ 'q', "quiet", NULL, "nothing but errors", BOTH },
	{ 'v', "verbose", NULL, "say more", BOTH },
	{ 'j', "json", NULL, "a line of JSON for each file and member", BOTH },
	{ 'D', "device", "PATH", "default " SPINDLE_RDMC_DEVICE, BOTH },
	{ 'h', "help", NULL, "this text", BOTH },
	{ 'V', "version", NULL, "version", BOTH },
};

static bool is_for(const struct word *w, bool sender)
{
	return w->owner == BOTH || (w->owner == CAST) == sender;
}

static int help(bool sender)
{
	char left[64];
	unsigned int i;

	if (sender)
		puts("usage: spindle-cast [OPTION]... FILE...\n"
		     "Send files to all members of a view at once; they run spindle-recv.\n");
	else
		puts("usage: spindle-recv [OPTION]... --from=ID|-m ID,... DIR\n"
		     "Receive the files that a spindle-cast sends into a directory.\n");
	for (i = 0; i < CTL_ARRAY_SIZE(words); i++) {
		const struct word *w = &words[i];
		char letter[] = { '-', (char)w->letter, ',', ' ', '\0' };

		if (!is_for(w, sender))
			continue;
		snprintf(left, sizeof(left), "%s--%s%s%s", w->letter < FROM ? letter : "    ",
			 w->name, w->value ? "=" : "", w->value ? w->value : "");
		printf("  %-28s %s\n", left, w->help);
	}
	puts("\nExit status: 0 all is there, 1 something is not, 2 usage, 3 a member was lost.");
	exit(CTL_OK);
}

static int usage(const char *what, const char *value)
{
	ctl_err("%s%s%s; see %s --help", what, value ? ": " : "", value ? value : "", ctl_program);
	return CTL_USAGE;
}

static bool number(const char *text, uint64_t min, uint64_t max, bool bytes, uint64_t *v)
{
	unsigned int shift = 0;
	char *end;

	errno = 0;
	*v = strtoull(text, &end, 10);
	if (bytes && *end && strchr("KMGT", *end)) {
		shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 40;
		end++;
	}
	/* strtoull() alone would accept signs and blanks. */
	if (errno || *text < '0' || *text > '9' || *end || *v > UINT64_MAX >> shift)
		return false;
	*v <<= shift;
	return *v >= min && *v <= max;
}

static int take_members(struct cast_opts *o, const char *text)
{
	char *copy = ctl_strdup(text), *word, *rest = copy;
	unsigned int i;
	uint64_t id;

	o->members = 0;
	while ((word = strsep(&rest, ","))) {
		if (!number(word, 1, UINT32_MAX, false, &id))
			return usage("a list of node ids is needed", text);
		for (i = 0; i < o->members; i++)
			if (o->member[i] == id)
				return usage("a member is there twice", text);
		if (o->members == SPINDLE_MAX_MEMBERS)
			return usage("too many members", text);
		o->member[o->members++] = (uint32_t)id;
	}
	ctl_free(copy);
	return o->members < 2 ? usage("a member alone has nobody to talk to", text) : CTL_OK;
}

static int take_algorithm(struct cast_opts *o, const char *text)
{
	uint32_t i;

	for (i = 0; spindle_rdmc_algorithm_string(i); i++) {
		if (!strcmp(spindle_rdmc_algorithm_string(i), text)) {
			o->algorithm = i;
			return CTL_OK;
		}
	}
	return usage("none of pipeline, sequential, chain, tree, hybrid", text);
}

static int take_number(struct cast_opts *o, int letter, const char *text)
{
	uint64_t v = 0;

	switch (letter) {
	case 'n':
	case FROM:
		if (!number(text, 1, UINT32_MAX, false, &v))
			return usage("a node id is needed", text);
		*(letter == 'n' ? &o->node : &o->from) = (uint32_t)v;
		break;
	case 'g':
		if (!number(text, 1, MAX_GROUP, false, &o->group))
			return usage("the group must be a number from 1 to 2^48 - 1", text);
		break;
	case 'b':
		if (!number(text, SPINDLE_RDMC_MIN_BLOCK, SPINDLE_RDMC_MAX_BLOCK, true, &v) ||
		    v & (v - 1))
			return usage("the block must be a power of two from 4K to 1M", text);
		o->block = (uint32_t)v;
		break;
	case 't':
	case WAIT:
		if (!number(text, 1, MAX_SECONDS, false, &v))
			return usage("a number of seconds from 1 to 86400 is needed", text);
		*(letter == 't' ? &o->timeout_ms : &o->wait_ms) = (uint32_t)v * 1000;
		break;
	default:
		if (!number(text, 1, UINT64_MAX, true, &o->memory))
			return usage("a number of bytes is needed, K, M, G or T may follow", text);
	}
	return CTL_OK;
}

static int take(struct cast_opts *o, int letter, const char *text, bool sender)
{
	switch (letter) {
	case 'm':
		return take_members(o, text);
	case 'a':
		return take_algorithm(o, text);
	case 'r':
		o->recursive = true;
		break;
	case 'k':
		o->keep_going = true;
		break;
	case OVERWRITE:
		o->overwrite = true;
		break;
	case FSYNC:
		o->fsync = true;
		break;
	case LOOP:
		o->loop = true;
		break;
	case NO_VERIFY:
		o->verify = false;
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	case 'j':
		o->json = true;
		break;
	case 'D':
		o->device = text;
		break;
	case 'h':
		return help(sender);
	case 'V':
		printf("%s %s\n", ctl_program, SPINDLE_VERSION);
		exit(CTL_OK);
	default:
		return take_number(o, letter, text);
	}
	return CTL_OK;
}

static int check(struct cast_opts *o, bool sender)
{
	unsigned int i;

	if (sender && !o->argc)
		return usage("there is no file to send", NULL);
	if (!sender && o->argc != 1)
		return usage(o->argc ? "one directory is enough" : "the directory is missing",
			     NULL);
	if (!o->members)
		return !sender && !o->from ? usage("--from or --members is missing", NULL) : CTL_OK;
	if (o->from && o->from != o->member[0])
		return usage("--from is not the first of --members", NULL);
	if (!o->node)
		return usage("--node is missing", NULL);
	if (sender ? o->member[0] != o->node : o->member[0] == o->node)
		return usage(sender ? "the first of --members sends: that is not --node" :
			     "the first of --members sends: that is --node itself", NULL);
	for (i = 0; i < o->members; i++)
		if (o->member[i] == o->node)
			return CTL_OK;
	return usage("--node is not among --members", NULL);
}

/**
 * cast_opts_parse() - read the command line
 * @o: out: options
 * @argc: words
 * @argv: words
 * @sender: whether the program is spindle-cast, not spindle-recv
 *
 * Return: CTL_OK, or CTL_USAGE after a message
 */
int cast_opts_parse(struct cast_opts *o, int argc, char **argv, bool sender)
{
	struct option option[CTL_ARRAY_SIZE(words) + 1] = { { 0 } };
	char letters[2 * CTL_ARRAY_SIZE(words) + 2] = "", *p = letters;
	unsigned int i, n = 0;
	int c, rc;

	*o = (struct cast_opts){ .group = DEF_GROUP, .timeout_ms = DEF_TIMEOUT * 1000,
				 .memory = DEF_MEMORY, .verify = true };
	for (i = 0; i < CTL_ARRAY_SIZE(words); i++) {
		if (!is_for(&words[i], sender))
			continue;
		option[n++] = (struct option){ words[i].name, words[i].value ?
					       required_argument : no_argument, NULL,
					       words[i].letter };
		if (words[i].letter >= FROM)
			continue;
		*p++ = (char)words[i].letter;
		if (words[i].value)
			*p++ = ':';
	}
	while ((c = getopt_long(argc, argv, letters, option, NULL)) != -1) {
		if (c == '?')
			return CTL_USAGE;
		rc = take(o, c, optarg, sender);
		if (rc)
			return rc;
	}
	o->argv = argv + optind;
	o->argc = argc - optind;
	return check(o, sender);
}
