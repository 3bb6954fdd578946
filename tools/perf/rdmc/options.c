// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of spindle-perf rdmc. See options.h.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>
#include <linux/spindle_rdmc.h>
#include <spindle/rdmc.h>

#include "common/util.h"
#include "options.h"
#include "perf/conf.h"

#define DEF_MEMBERS	4
#define DEF_SIZE	(16U << 20)
#define MAX_SIZE	(1ULL << 34)
#define DEF_PORT	5000
#define DEF_REPS	3
#define MAX_REPS	1000
#define MAX_COUNT	1000000
#define MAX_MIX		256
#define DEF_SIGMA	133
#define MAX_SIGMA	1000
#define DEF_GIVE_UP	60
#define MAX_SECONDS	3600

/**
 * struct word - an option
 * @letter: short option, or 0
 * @name: long option
 * @value: name of the value; NULL: the option has none
 * @help: description in the help
 * @at: offset of a number, or NO_NUMBER
 * @min: smallest number
 * @max: largest number
 * @bytes: the number may have K or M behind it
 */
struct word {
	char letter;
	const char *name;
	const char *value;
	const char *help;
	size_t at;
	uint64_t min;
	uint64_t max;
	bool bytes;
};

/* Numbers of the command line, before they are stored in struct perf_ropts. */
struct numbers {
	uint64_t members;
	uint64_t nodes;
	uint64_t senders;
	uint64_t mix;
	uint64_t sigma;
	uint64_t size;
	uint64_t block;
	uint64_t count;
	uint64_t queue;
	uint64_t reps;
	uint64_t idle_us;
	uint64_t give_up;
	uint64_t port;
	uint64_t first;
};

#define NO_NUMBER	sizeof(struct numbers)
#define AT(field)	offsetof(struct numbers, field)

static const struct word words[] = {
	{ 'n', "members", "N", "members of a group (4)", AT(members), 2, SPINDLE_MAX_MEMBERS,
	  false },
	{ 'a', "algorithm", "NAME", "pipeline, sequential, chain, tree, hybrid (pipeline)",
	  NO_NUMBER, 0, 0, false },
	{ 'S', "size", "BYTES", "bytes of an object (16M)", AT(size), 1, MAX_SIZE, true },
	{ 'b', "block", "BYTES", "bytes of a block; 0: the default", AT(block), 0,
	  SPINDLE_RDMC_MAX_BLOCK, true },
	{ 's', "senders", "N", "groups of the same members, each with another root (one); or all, half",
	  AT(senders), 1, SPINDLE_MAX_MEMBERS, false },
	{ 'c', "count", "N", "objects of each root in a repetition (1)", AT(count), 1, MAX_COUNT,
	  false },
	{ 'q', "queue", "N", "of those, under way at a time (16)", AT(queue), 1,
	  SPINDLE_RDMC_QUEUE, false },
	{ 0, "mix", "GROUPS", "groups of the first node and others at random, and sizes at random",
	  AT(mix), 1, MAX_MIX, false },
	{ 0, "nodes", "N", "with --mix: nodes (16)", AT(nodes), 2, SPINDLE_MAX_MEMBERS, false },
	{ 0, "sigma", "PERCENT", "with --mix: of the logarithm of sizes; SIZE is the median (133)",
	  AT(sigma), 0, MAX_SIGMA, false },
	{ 'r', "repetitions", "N", "repetitions, after one that does not count (3)", AT(reps), 1,
	  MAX_REPS, false },
	{ 0, "idle-us", "US", "time that an engine polls without work (50)", AT(idle_us), 0,
	  SPINDLE_MAX_IDLE_US, false },
	{ 0, "give-up", "SECONDS", "give up when what has to come does not (60)", AT(give_up), 1,
	  MAX_SECONDS, false },
	{ 0, "addr", "ADDRESS", "address of the nodes (that of the first RDMA device)", NO_NUMBER,
	  0, 0, false },
	{ 0, "spread", NULL, "of the first node; others have those that follow", NO_NUMBER, 0, 0,
	  false },
	{ 0, "port", "PORT", "node I has port PORT + I (5000)", AT(port), 1, UINT16_MAX, false },
	{ 0, "first-node", "ID", "id of the first one (1)", AT(first), 1, UINT32_MAX, false },
	{ 'C', "csv", "FILE", "a row of figures", NO_NUMBER, 0, 0, false },
	{ 'j', "json", "[FILE]", "JSON, to standard output without FILE", NO_NUMBER, 0, 0, false },
	{ 'h', "help", NULL, "this text", NO_NUMBER, 0, 0, false },
};

#define FIRST_ID	256

static void help(void)
{
	char left[64];
	unsigned int i;

	puts("usage: spindle-perf rdmc [OPTION]...\n"
	     "Measure large objects to many members, all of them nodes that are made for it.\n");
	for (i = 0; i < CTL_ARRAY_SIZE(words); i++) {
		const struct word *w = &words[i];
		bool optional = w->value && *w->value == '[';

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", w->letter ? '-' : ' ',
			 w->letter ? w->letter : ' ', w->letter ? ", " : "  ", w->name,
			 !w->value ? "" : optional ? "[=FILE]" : "=",
			 w->value && !optional ? w->value : "");
		printf("  %-30s %s\n", left, w->help);
	}
	puts("\nExit status: 0 done, 1 failed, 2 usage. See spindle-perf(1).");
}

static int usage(const char *text)
{
	ctl_err("%s; see spindle-perf rdmc --help", text);
	return CTL_USAGE;
}

/* Make the arguments of getopt_long(). */
static void make_table(struct option *option, char *letters)
{
	unsigned int i;

	*letters++ = ':';
	for (i = 0; i < CTL_ARRAY_SIZE(words); i++) {
		const struct word *w = &words[i];
		int arg = !w->value ? no_argument :
			  *w->value == '[' ? optional_argument : required_argument;

		option[i] = (struct option){ w->name, arg, NULL, FIRST_ID + i };
		if (!w->letter)
			continue;
		*letters++ = w->letter;
		if (arg != no_argument)
			*letters++ = ':';
		if (arg == optional_argument)
			*letters++ = ':';
	}
	*letters = '\0';
}

static const struct word *word_of(int c)
{
	unsigned int i;

	if (c >= FIRST_ID)
		return &words[c - FIRST_ID];
	for (i = 0; i < CTL_ARRAY_SIZE(words); i++)
		if (words[i].letter == c)
			return &words[i];
	return NULL;
}

static const char *take_algorithm(struct perf_ropts *o, const char *text)
{
	const char *name;

	for (o->algorithm = 0; ; o->algorithm++) {
		name = spindle_rdmc_algorithm_string(o->algorithm);
		if (!name)
			return "none of pipeline, sequential, chain, tree, hybrid";
		if (!strcmp(name, text))
			return NULL;
	}
}

/* Take an option. Return: NULL, or what is wrong with the value */
static const char *take(struct perf_ropts *o, struct numbers *n, const struct word *w,
			const char *text)
{
	uint64_t num;

	if (!strcmp(w->name, "algorithm"))
		return take_algorithm(o, text);
	if (!strcmp(w->name, "addr"))
		return ctl_addr_parse(text, &o->where.addr);
	if (!strcmp(w->name, "csv")) {
		o->csv_file = text;
		return NULL;
	}
	if (!strcmp(w->name, "json")) {
		o->json = true;
		o->json_file = text;
		return NULL;
	}
	if (!strcmp(w->name, "senders") && (!strcmp(text, "all") || !strcmp(text, "half"))) {
		n->senders = *text == 'a' ? PERF_ALL : PERF_HALF;
		return NULL;
	}
	if (!strcmp(w->name, "senders") && !strcmp(text, "one"))
		text = "1";
	if (ctl_num_parse(text, w->max, w->bytes, &num) || num < w->min)
		return ctl_asprintf("not a number from %llu to %llu", (unsigned long long)w->min,
				    (unsigned long long)w->max);
	*(uint64_t *)((char *)n + w->at) = num;
	return NULL;
}

static void put_numbers(struct perf_ropts *o, const struct numbers *n)
{
	o->members = n->members;
	o->nodes = n->nodes ? n->nodes : n->mix ? 16 : n->members;
	o->senders = perf_some(n->senders, n->members);
	o->mix = n->mix;
	o->sigma = n->sigma;
	o->size = n->size;
	o->block = n->block;
	o->count = n->count;
	o->queue = n->queue;
	o->reps = n->reps;
	o->idle_us = n->idle_us;
	o->give_up = n->give_up;
	o->where.port = n->port;
	o->where.first = n->first;
}

/* Check whether the options fit together. */
static int check(const struct perf_ropts *o, const struct numbers *n)
{
	unsigned long long last = (unsigned long long)o->where.first + o->nodes - 1;

	if (o->block & (o->block - 1) || (o->block && o->block < SPINDLE_RDMC_MIN_BLOCK))
		return usage(ctl_asprintf("block %u: not a power of two from %u to %u", o->block,
					  SPINDLE_RDMC_MIN_BLOCK, SPINDLE_RDMC_MAX_BLOCK));
	if (n->nodes && !o->mix)
		return usage("nodes: says what --mix makes");
	if (o->nodes < o->members)
		return usage(ctl_asprintf("members %u: there are %u nodes", o->members, o->nodes));
	if (o->where.spread && !o->where.addr.family)
		return usage("spread: --addr is missing");
	if (o->mix && o->senders != 1)
		return usage("senders: has no meaning with --mix");
	if (o->where.port + last > UINT16_MAX)
		return usage(ctl_asprintf("port %u, first-node %u: node I has port %u + I, and ports end at %u",
					  o->where.port, o->where.first, o->where.port,
					  UINT16_MAX));
	return CTL_OK;
}

/**
 * perf_ropts_parse() - read the command line
 * @o: out: options
 * @argc: words, from "rdmc" on
 * @argv: words
 *
 * Return: CTL_OK; CTL_USAGE after a message; -1: the user wanted help, which was printed
 */
int perf_ropts_parse(struct perf_ropts *o, int argc, char **argv)
{
	struct numbers n = {
		.members = DEF_MEMBERS, .senders = 1, .sigma = DEF_SIGMA, .size = DEF_SIZE,
		.count = 1, .queue = SPINDLE_RDMC_QUEUE, .reps = DEF_REPS,
		.idle_us = SPINDLE_DEF_IDLE_US, .give_up = DEF_GIVE_UP, .port = DEF_PORT,
		.first = 1,
	};
	struct option option[CTL_ARRAY_SIZE(words) + 1] = { 0 };
	char letters[3 * CTL_ARRAY_SIZE(words) + 2];
	const struct word *w;
	const char *err;
	int c;

	memset(o, 0, sizeof(*o));
	make_table(option, letters);
	opterr = 0;
	optopt = 0;
	while ((c = getopt_long(argc, argv, letters, option, NULL)) != -1) {
		if (c == ':')
			return usage(ctl_asprintf("%s: the value is missing", argv[optind - 1]));
		w = c == '?' ? NULL : word_of(c);
		if (!w)
			return usage(optopt && optopt < FIRST_ID ?
				     ctl_asprintf("there is no option -%c", optopt) :
				     ctl_asprintf("there is no option %s", argv[optind - 1]));
		if (!strcmp(w->name, "help")) {
			help();
			return -1;
		}
		o->where.spread |= !strcmp(w->name, "spread");
		err = w->value ? take(o, &n, w, optarg) : NULL;
		if (err)
			return usage(ctl_asprintf("%s %s: %s", w->name, optarg, err));
	}
	if (optind < argc)
		return usage(ctl_asprintf("'%s': there are only options", argv[optind]));
	put_numbers(o, &n);
	return check(o, &n);
}
