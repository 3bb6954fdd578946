// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of spindle-perf rdmc. See rdmc.h.
 */
#include <string.h>

#include <linux/spindle_genl.h>
#include <linux/spindle_rdmc.h>

#include "common/opts.h"
#include "perf/conf.h"
#include "perf/opts.h"
#include "rdmc.h"

#define DEF_MEMBERS	4
#define DEF_MIX_NODES	16
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

#define AT(field)	CTL_OPT_AT(struct perf_ropts, field)

const struct ctl_opt perf_ropts[] = {
	{ .name = "members", .letter = 'n', .kind = CTL_OPT_NUM, AT(members),
	  .min = 2, .max = SPINDLE_MAX_MEMBERS, .def = DEF_MEMBERS, .value = "N",
	  .help = "members of a group" },
	{ .name = "algorithm", .letter = 'a', .kind = CTL_OPT_WORD, AT(algorithm),
	  .names = &ctl_rdmc_algorithm, .value = "NAME",
	  .help = "pipeline, sequential, chain, tree, hybrid (pipeline)" },
	{ .name = "size", .letter = 'S', .kind = CTL_OPT_BYTES, AT(size),
	  .min = 1, .max = MAX_SIZE, .def = DEF_SIZE, .value = "BYTES",
	  .help = "bytes of an object (16M)" },
	{ .name = "block", .letter = 'b', .kind = CTL_OPT_BYTES, AT(block),
	  .max = SPINDLE_RDMC_MAX_BLOCK, .pow2 = SPINDLE_RDMC_MIN_BLOCK, .value = "BYTES",
	  .help = "bytes of a block; 0: the default" },
	{ .name = "senders", .letter = 's', .kind = CTL_OPT_NUM, AT(senders),
	  .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = 1, .words = perf_some_words, .value = "N",
	  .help = "groups of the same members, each with another root (one); or all, half" },
	{ .name = "count", .letter = 'c', .kind = CTL_OPT_NUM, AT(count),
	  .min = 1, .max = MAX_COUNT, .def = 1, .value = "N",
	  .help = "objects of each root in a repetition" },
	{ .name = "queue", .letter = 'q', .kind = CTL_OPT_NUM, AT(queue),
	  .min = 1, .max = SPINDLE_RDMC_QUEUE, .def = SPINDLE_RDMC_QUEUE, .value = "N",
	  .help = "of those, under way at a time" },
	{ .name = "mix", .kind = CTL_OPT_NUM, AT(mix),
	  .min = 1, .max = MAX_MIX, .value = "GROUPS",
	  .help = "groups of the first node and others at random, and sizes at random" },
	{ .name = "nodes", .kind = CTL_OPT_NUM, AT(nodes),
	  .min = 2, .max = SPINDLE_MAX_MEMBERS, .value = "N", .help = "with --mix: nodes (16)" },
	{ .name = "sigma", .kind = CTL_OPT_NUM, AT(sigma),
	  .max = MAX_SIGMA, .def = DEF_SIGMA, .value = "PERCENT",
	  .help = "with --mix: of the logarithm of sizes; SIZE is the median" },
	{ .name = "repetitions", .letter = 'r', .kind = CTL_OPT_NUM, AT(reps),
	  .min = 1, .max = MAX_REPS, .def = DEF_REPS, .value = "N",
	  .help = "repetitions, after one that does not count" },
	{ .name = "idle-us", .kind = CTL_OPT_NUM, AT(idle_us),
	  .max = SPINDLE_MAX_IDLE_US, .def = SPINDLE_DEF_IDLE_US, .value = "US",
	  .help = "time that an engine polls without work" },
	{ .name = "give-up", .kind = CTL_OPT_NUM, AT(give_up),
	  .min = 1, .max = MAX_SECONDS, .def = DEF_GIVE_UP, .value = "SECONDS",
	  .help = "give up when what has to come does not" },
	{ .name = "addr", .kind = CTL_OPT_ADDR, AT(where.addr), .value = "ADDRESS",
	  .help = "address of the nodes (that of the first RDMA device)" },
	{ .name = "spread", .kind = CTL_OPT_FLAG, AT(where.spread),
	  .help = "of the first node; others have those that follow" },
	{ .name = "port", .kind = CTL_OPT_NUM, AT(where.port),
	  .min = 1, .max = UINT16_MAX, .def = DEF_PORT, .value = "PORT",
	  .help = "node I has port PORT + I" },
	{ .name = "first-node", .kind = CTL_OPT_NUM, AT(where.first),
	  .min = 1, .max = UINT32_MAX, .def = 1, .value = "ID", .help = "id of the first one" },
	{ .name = "csv", .letter = 'C', .kind = CTL_OPT_TEXT, AT(csv_file), .value = "FILE",
	  .help = "a row of figures" },
	{ .name = "json", .letter = 'j', .kind = CTL_OPT_FILE, AT(json_file),
	  .also = offsetof(struct perf_ropts, json), .value = "FILE",
	  .help = "JSON, to standard output without FILE" },
	{ .name = "help", .letter = 'h', .kind = CTL_OPT_HELP, .help = "this text" },
	{ .name = NULL }
};

static const struct ctl_opt_part part = { .opt = perf_ropts, .groups = CTL_OPT_ALL };

static const struct ctl_command command = {
	.name = "spindle-perf rdmc",
	.head = "usage: spindle-perf rdmc [OPTION]...\n"
		"Measure large objects to many members, all of them nodes that are made for it.\n",
	.tail = "\nExit status: 0 done, 1 failed, 2 usage. See spindle-perf(1).",
	.wide = 30, .part = &part, .parts = 1,
};

/* Check whether the options fit together. */
static int check(const struct perf_ropts *o)
{
	if (o->nodes < o->members)
		return ctl_command_usage(&command, "members %u: there are %u nodes", o->members,
					 o->nodes);
	if (o->where.spread && !o->where.addr.family)
		return ctl_command_usage(&command, "spread: --addr is missing");
	if (o->mix && o->senders != 1)
		return ctl_command_usage(&command, "senders: has no meaning with --mix");
	return perf_opts_ports(&command, &o->where, o->nodes);
}

/**
 * perf_ropts_parse() - read the command line
 * @o: out: options
 * @argc: words, from "rdmc" on
 * @argv: words
 *
 * Return: CTL_OK; CTL_USAGE after a message; CTL_OPT_SHOWN: the user wanted help, which was printed
 */
int perf_ropts_parse(struct perf_ropts *o, int argc, char **argv)
{
	int rc;

	memset(o, 0, sizeof(*o));
	rc = ctl_command_parse(&command, o, argc, argv, NULL);
	if (rc)
		return rc;
	if (o->nodes && !o->mix)
		return ctl_command_usage(&command, "nodes: says what --mix makes");
	if (!o->nodes)
		o->nodes = o->mix ? DEF_MIX_NODES : o->members;
	o->senders = perf_some(o->senders, o->members);
	return check(o);
}
