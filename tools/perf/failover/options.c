// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of spindle-perf failover. See options.h.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "change.h"
#include "common/util.h"
#include "options.h"

#define DEF_NODES	4
#define MIN_NODES	3
#define DEF_PORT	5000
#define DEF_REPS	3
#define MAX_REPS	1000
#define DEF_RATE	2000
#define MAX_RATE	100000
#define DEF_SIZE	64
#define DEF_QUIET	300
#define MAX_QUIET	60000
#define DEF_GIVE_UP	30
#define MAX_SECONDS	3600

/* The use of the program that an option is for. */
enum owner {
	BOTH,
	CHANGE,	/* make nodes, and change the view */
	WATCH	/* watch a node that exists */
};

/**
 * struct word - an option
 * @letter: short option, or 0
 * @name: long option
 * @value: name of the value; NULL: the option has none
 * @help: description in the help
 * @owner: enum owner
 * @at: offset of a number, or NO_NUMBER
 * @min: smallest number
 * @max: largest number
 */
struct word {
	char letter;
	const char *name;
	const char *value;
	const char *help;
	enum owner owner;
	size_t at;
	uint64_t min;
	uint64_t max;
};

/* Numbers of the command line, before they are stored in struct perf_fopts. */
struct numbers {
	uint64_t nodes;
	uint64_t reps;
	uint64_t rate;
	uint64_t size;
	uint64_t window;
	uint64_t timeout;
	uint64_t quiet;
	uint64_t give_up;
	uint64_t port;
	uint64_t first;
	uint64_t wait;
	uint64_t node;
	uint64_t subgroup;
};

#define NO_NUMBER	sizeof(struct numbers)
#define AT(field)	offsetof(struct numbers, field)

static const struct word words[] = {
	{ 'n', "nodes", "N", "nodes, with the one that comes and goes (4)", CHANGE,
	  AT(nodes), MIN_NODES, SPINDLE_MAX_MEMBERS },
	{ 0, "kind", "LIST", "of join, leave, evict, crash, del (all)", CHANGE, NO_NUMBER, 0, 0 },
	{ 'r', "repetitions", "N", "changes of each kind (3)", CHANGE, AT(reps), 1, MAX_REPS },
	{ 'R', "rate", "N", "messages that a node sends per second (2000); 0: none, to watch",
	  BOTH, AT(rate), 0, MAX_RATE },
	{ 'S', "size", "BYTES", "bytes of a message (64)", BOTH, AT(size), 1, SPINDLE_MAX_MSG },
	{ 'w', "window", "N", "slots of a sender (128)", CHANGE, AT(window), 1,
	  SPINDLE_MAX_WINDOW },
	{ 0, "timeout-ms", "MS", "who is silent for so long is suspected (500)", CHANGE,
	  AT(timeout), SPINDLE_MIN_TIMEOUT_MS, SPINDLE_MAX_TIMEOUT_MS },
	{ 0, "quiet-ms", "MS", "time without a change before each one (300)", CHANGE, AT(quiet),
	  1, MAX_QUIET },
	{ 0, "give-up", "SECONDS", "give up when what has to come does not (30)", CHANGE,
	  AT(give_up), 1, MAX_SECONDS },
	{ 0, "addr", "ADDRESS", "address of the nodes (that of the first RDMA device)", CHANGE,
	  NO_NUMBER, 0, 0 },
	{ 0, "port", "PORT", "node I has port PORT + I (5000)", CHANGE, AT(port), 1,
	  UINT16_MAX },
	{ 0, "first-node", "ID", "id of the first one (1)", CHANGE, AT(first), 1, UINT32_MAX },
	{ 0, "wait", "SECONDS", "only watch a node that exists, for so long", BOTH, AT(wait), 1,
	  MAX_SECONDS },
	{ 0, "node", "ID", "this node", WATCH, AT(node), 1, UINT32_MAX },
	{ 0, "subgroup", "ID", "this subgroup of it (1)", WATCH, AT(subgroup), 0, UINT32_MAX },
	{ 'j', "json", "[FILE]", "JSON, to standard output without FILE", BOTH, NO_NUMBER, 0, 0 },
	{ 'h', "help", NULL, "this text", BOTH, NO_NUMBER, 0, 0 },
};

#define FIRST_ID	256

static void help_of(enum owner owner)
{
	char left[64];
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(words); i++) {
		const struct word *w = &words[i];
		bool optional = w->value && *w->value == '[';

		if (w->owner != owner)
			continue;
		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", w->letter ? '-' : ' ',
			 w->letter ? w->letter : ' ', w->letter ? ", " : "  ", w->name,
			 !w->value ? "" : optional ? "[=FILE]" : "=",
			 w->value && !optional ? w->value : "");
		printf("  %-30s %s\n", left, w->help);
	}
}

static void help(void)
{
	puts("usage: spindle-perf failover [OPTION]...\n"
	     "Measure what a change of a live view costs those that stay.\n"
	     "\n"
	     "Makes nodes and a live view, and changes it:");
	help_of(CHANGE);
	puts("\nOr with --wait watches, and leaves it to others to change it:");
	help_of(WATCH);
	puts("\nBoth:");
	help_of(BOTH);
	puts("\nExit status: 0 done, 1 failed, 2 usage. See spindle-perf(1).");
}

static int usage(const char *text)
{
	ctl_err("%s; see spindle-perf failover --help", text);
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

/* Take an option. Return: NULL, or what is wrong with the value */
static const char *take(struct perf_fopts *o, struct numbers *n, const struct word *w,
			const char *text)
{
	uint64_t num;

	if (!strcmp(w->name, "kind"))
		return perf_moves_parse(text, &o->kinds);
	if (!strcmp(w->name, "addr"))
		return ctl_addr_parse(text, &o->where.addr);
	if (!strcmp(w->name, "json")) {
		o->json = true;
		o->json_file = text;
		return NULL;
	}
	if (ctl_num_parse(text, w->max, false, &num) || num < w->min)
		return ctl_asprintf("not a number from %llu to %llu", (unsigned long long)w->min,
				    (unsigned long long)w->max);
	*(uint64_t *)((char *)n + w->at) = num;
	return NULL;
}

static void put_numbers(struct perf_fopts *o, const struct numbers *n)
{
	o->nodes = n->nodes;
	o->reps = n->reps;
	o->load.rate = n->rate;
	o->load.size = n->size;
	o->window = n->window;
	o->timeout_ms = n->timeout;
	o->quiet_ms = n->quiet;
	o->give_up = n->give_up;
	o->watch = n->wait;
	o->node = n->node;
	o->subgroup = n->subgroup;
	o->where.port = n->port;
	o->where.first = n->first;
}

/* Check whether the options fit together. */
static int check(const struct perf_fopts *o, const char *change, const char *watch)
{
	unsigned long long last = (unsigned long long)o->where.first + o->nodes - 1;

	if (o->watch && change)
		return usage(ctl_asprintf("%s: has no meaning with --wait", change));
	if (!o->watch && watch)
		return usage(ctl_asprintf("%s: says what --wait watches", watch));
	if (o->watch && !o->node)
		return usage("wait: --node is missing");
	if (!o->watch && !o->load.rate)
		return usage("rate 0: who sends nothing has no gaps; only with --wait");
	if (!o->watch && o->where.port + last > UINT16_MAX)
		return usage(ctl_asprintf("port %u, first-node %u: node I has port %u + I, and ports end at %u",
					  o->where.port, o->where.first, o->where.port,
					  UINT16_MAX));
	return CTL_OK;
}

/**
 * perf_fopts_parse() - read the command line
 * @o: out: options
 * @argc: words, from "failover" on
 * @argv: words
 *
 * Return: CTL_OK; CTL_USAGE after a message; -1: the user wanted help, which was printed
 */
int perf_fopts_parse(struct perf_fopts *o, int argc, char **argv)
{
	struct numbers n = {
		.nodes = DEF_NODES, .reps = DEF_REPS, .rate = DEF_RATE, .size = DEF_SIZE,
		.window = SPINDLE_DEF_WINDOW, .timeout = SPINDLE_DEF_TIMEOUT_MS,
		.quiet = DEF_QUIET, .give_up = DEF_GIVE_UP, .port = DEF_PORT, .first = 1,
		.subgroup = 1,
	};
	struct option option[CTL_ARRAY_SIZE(words) + 1] = { 0 };
	const char *change = NULL, *watch = NULL, *err;
	char letters[3 * CTL_ARRAY_SIZE(words) + 2];
	const struct word *w;
	int c;

	memset(o, 0, sizeof(*o));
	o->kinds = PERF_MOVE_ALL;
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
		err = take(o, &n, w, optarg);
		if (err)
			return usage(ctl_asprintf("%s %s: %s", w->name, optarg, err));
		if (w->owner == CHANGE)
			change = w->name;
		if (w->owner == WATCH)
			watch = w->name;
	}
	if (optind < argc)
		return usage(ctl_asprintf("'%s': there are only options", argv[optind]));
	put_numbers(o, &n);
	return check(o, change, watch);
}
