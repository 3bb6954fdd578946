// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of spindle-perf failover. See failover.h.
 */
#include <string.h>

#include <linux/spindle_genl.h>

#include "failover.h"
#include "perf/opts.h"

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
enum {
	BOTH,
	CHANGE,	/* make nodes, and change the view */
	WATCH	/* watch a node that exists */
};

#define AT(field)	CTL_OPT_AT(struct perf_fopts, field)

static const char *take_kinds(void *into, const char *text)
{
	return perf_moves_parse(text, &((struct perf_fopts *)into)->kinds);
}

const struct ctl_opt perf_fopts[] = {
	{ .name = "nodes", .letter = 'n', .kind = CTL_OPT_NUM, .group = CHANGE, AT(nodes),
	  .min = MIN_NODES, .max = SPINDLE_MAX_MEMBERS, .def = DEF_NODES, .value = "N",
	  .help = "nodes, with the one that comes and goes" },
	{ .name = "kind", .kind = CTL_OPT_TAKE, .take = take_kinds, .group = CHANGE,
	  .value = "LIST", .help = "of " PERF_MOVE_WORDS " (all)" },
	{ .name = "repetitions", .letter = 'r', .kind = CTL_OPT_NUM, .group = CHANGE, AT(reps),
	  .min = 1, .max = MAX_REPS, .def = DEF_REPS, .value = "N",
	  .help = "changes of each kind" },
	{ .name = "rate", .letter = 'R', .kind = CTL_OPT_NUM, AT(load.rate),
	  .max = MAX_RATE, .def = DEF_RATE, .value = "N",
	  .help = "messages that a node sends per second (2000); 0: none, to watch" },
	{ .name = "size", .letter = 'S', .kind = CTL_OPT_NUM, AT(load.size),
	  .min = 1, .max = SPINDLE_MAX_MSG, .def = DEF_SIZE, .value = "BYTES",
	  .help = "bytes of a message" },
	{ .name = "window", .letter = 'w', .kind = CTL_OPT_NUM, .group = CHANGE, AT(window),
	  .min = 1, .max = SPINDLE_MAX_WINDOW, .def = SPINDLE_DEF_WINDOW, .value = "N",
	  .help = "slots of a sender" },
	{ .name = "timeout-ms", .kind = CTL_OPT_NUM, .group = CHANGE, AT(timeout_ms),
	  .min = SPINDLE_MIN_TIMEOUT_MS, .max = SPINDLE_MAX_TIMEOUT_MS,
	  .def = SPINDLE_DEF_TIMEOUT_MS, .value = "MS",
	  .help = "a member that is silent for so long is suspected" },
	{ .name = "quiet-ms", .kind = CTL_OPT_NUM, .group = CHANGE, AT(quiet_ms),
	  .min = 1, .max = MAX_QUIET, .def = DEF_QUIET, .value = "MS",
	  .help = "time without a change before each one" },
	{ .name = "give-up", .kind = CTL_OPT_NUM, .group = CHANGE, AT(give_up),
	  .min = 1, .max = MAX_SECONDS, .def = DEF_GIVE_UP, .value = "SECONDS",
	  .help = "give up when what has to come does not" },
	{ .name = "addr", .kind = CTL_OPT_ADDR, .group = CHANGE, AT(where.addr),
	  .value = "ADDRESS", .help = "address of the nodes (that of the first RDMA device)" },
	{ .name = "port", .kind = CTL_OPT_NUM, .group = CHANGE, AT(where.port),
	  .min = 1, .max = UINT16_MAX, .def = DEF_PORT, .value = "PORT",
	  .help = "node I has port PORT + I" },
	{ .name = "first-node", .kind = CTL_OPT_NUM, .group = CHANGE, AT(where.first),
	  .min = 1, .max = UINT32_MAX, .def = 1, .value = "ID", .help = "id of the first one" },
	{ .name = "wait", .kind = CTL_OPT_NUM, AT(watch),
	  .min = 1, .max = MAX_SECONDS, .value = "SECONDS",
	  .help = "only watch a node that exists, for so long" },
	{ .name = "node", .kind = CTL_OPT_NUM, .group = WATCH, AT(node),
	  .min = 1, .max = UINT32_MAX, .value = "ID", .help = "this node" },
	{ .name = "subgroup", .kind = CTL_OPT_NUM, .group = WATCH, AT(subgroup),
	  .max = UINT32_MAX, .def = 1, .value = "ID", .help = "this subgroup of it" },
	{ .name = "json", .letter = 'j', .kind = CTL_OPT_FILE, AT(json_file),
	  .also = offsetof(struct perf_fopts, json), .value = "FILE",
	  .help = "JSON, to standard output without FILE" },
	{ .name = "help", .letter = 'h', .kind = CTL_OPT_HELP, .help = "this text" },
	{ .name = NULL }
};

static const struct ctl_opt_part parts[] = {
	{ .opt = perf_fopts, .groups = 1U << CHANGE },
	{ .title = "\nOr with --wait watches, and leaves it to others to change it:",
	  .opt = perf_fopts, .groups = 1U << WATCH },
	{ .title = "\nBoth:", .opt = perf_fopts, .groups = 1U << BOTH },
};

static const struct ctl_command command = {
	.name = "spindle-perf failover",
	.head = "usage: spindle-perf failover [OPTION]...\n"
		"Measure what a change of a live view costs those that stay.\n"
		"\n"
		"Makes nodes and a live view, and changes it:",
	.tail = "\nExit status: 0 done, 1 failed, 2 usage. See spindle-perf(1).",
	.wide = 30, .part = parts, .parts = CTL_ARRAY_SIZE(parts),
};

/* Check whether the options fit together. */
static int check(const struct perf_fopts *o, const char *change, const char *watch)
{
	if (o->watch && change)
		return ctl_command_usage(&command, "%s: has no meaning with --wait", change);
	if (!o->watch && watch)
		return ctl_command_usage(&command, "%s: says what --wait watches", watch);
	if (o->watch && !o->node)
		return ctl_command_usage(&command, "wait: --node is missing");
	if (!o->watch && !o->load.rate)
		return ctl_command_usage(&command,
					 "rate 0: a node that sends nothing has no gaps; only with --wait");
	return o->watch ? CTL_OK : perf_opts_ports(&command, &o->where, o->nodes);
}

/**
 * perf_fopts_parse() - read the command line
 * @o: out: options
 * @argc: words, from "failover" on
 * @argv: words
 *
 * Return: CTL_OK; CTL_USAGE after a message; CTL_OPT_SHOWN: the user wanted help, which was printed
 */
int perf_fopts_parse(struct perf_fopts *o, int argc, char **argv)
{
	const char *given[CTL_OPT_GROUPS] = { NULL };
	int rc;

	memset(o, 0, sizeof(*o));
	o->kinds = PERF_MOVE_ALL;
	rc = ctl_command_parse(&command, o, argc, argv, given);
	return rc ? rc : check(o, given[CHANGE], given[WATCH]);
}
