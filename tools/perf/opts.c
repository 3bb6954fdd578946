// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line. See opts.h.
 */
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "opts.h"

#define MAX_REPS	1000
#define DEF_REPS	3
#define MAX_WAIT	3600
#define DEF_WAIT	60
#define DEF_PORT	5000

#define AT(field)	CTL_OPT_AT(struct perf_opts, field)

/* Parse "KEY=V,V". If the text has a ';', that separates the values, which may have commas then. */
static const char *add_sweep(void *into, const char *text)
{
	struct perf_opts *o = into;
	char *copy = ctl_strdup(text), *values = strchr(copy, '='), *value;
	struct perf_sweep *s = &o->sweep[o->sweeps];
	const char *sep, *err;
	struct perf_conf conf;
	unsigned int i;

	if (!values)
		return "not like size=1K,10K";
	*values++ = '\0';
	if (o->sweeps == PERF_SWEEPS)
		return ctl_asprintf("more than %u parameters", PERF_SWEEPS);
	s->p = perf_param_find(copy);
	if (!s->p)
		return ctl_asprintf("there is no parameter '%s'", copy);
	for (i = 0; i < o->sweeps; i++)
		if (o->sweep[i].p == s->p)
			return ctl_asprintf("%s is swept already", copy);
	sep = strchr(values, ';') ? ";" : ",";
	if (s->p->kind == CTL_OPT_TAKE)
		sep = ";";
	while ((value = strsep(&values, sep))) {
		perf_conf_default(&conf);
		err = ctl_opt_take(s->p, &conf, value);
		if (err)
			return ctl_asprintf("%s: %s", value, err);
		s->value = ctl_grow(s->value, s->values, sizeof(*s->value));
		s->value[s->values++] = value;
	}
	o->sweeps++;
	return NULL;
}

static const struct ctl_opt place_options[] = {
	{ .name = "setup", .kind = CTL_OPT_FLAG, AT(where.setup),
	  .help = "make nodes and a view, and remove them" },
	{ .name = "addr", .kind = CTL_OPT_ADDR, AT(where.addr), .value = "ADDRESS",
	  .help = "their address (that of the first RDMA device)" },
	{ .name = "port", .kind = CTL_OPT_NUM, AT(where.port),
	  .min = 1, .max = UINT16_MAX, .def = DEF_PORT, .value = "PORT",
	  .help = "node I has port PORT + I" },
	{ .name = "first-node", .kind = CTL_OPT_NUM, AT(where.first),
	  .min = 1, .max = UINT32_MAX, .def = 1, .value = "ID", .help = "id of the first one" },
	{ .name = "log-dir", .kind = CTL_OPT_TEXT, AT(where.log_dir), .value = "DIR",
	  .help = "with --log: loggers write below this directory" },
	{ .name = "only-nodes", .kind = CTL_OPT_TEXT, AT(where.node), .value = "IDS",
	  .help = "of nodes that exist only these, like 1-4,7" },
	{ .name = "only-subgroups", .kind = CTL_OPT_TEXT, AT(where.group), .value = "IDS",
	  .help = "the same" },
	{ .name = NULL }
};

static const struct ctl_opt other_options[] = {
	{ .name = "repetitions", .letter = 'r', .kind = CTL_OPT_NUM, AT(how.reps),
	  .min = 1, .max = MAX_REPS, .def = DEF_REPS, .value = "N", .help = "repetitions" },
	{ .name = "sweep", .letter = 'x', .kind = CTL_OPT_TAKE, .take = add_sweep,
	  .value = "KEY=V,V", .help = "each value of a parameter; of several, each combination" },
	{ .name = "csv", .letter = 'C', .kind = CTL_OPT_TEXT, AT(csv_file), .value = "FILE",
	  .help = "a row for each of them" },
	{ .name = "json", .letter = 'j', .kind = CTL_OPT_FILE, AT(json_file),
	  .also = offsetof(struct perf_opts, json), .value = "FILE",
	  .help = "JSON, to standard output without FILE" },
	{ .name = "raw-count", .kind = CTL_OPT_NUM, AT(how.raw_count),
	  .max = SPINDLE_RAW_MAX_COUNT, .value = "N",
	  .help = "raw writes to each member; 0: enough" },
	{ .name = "no-raw", .kind = CTL_OPT_NOT, AT(how.raw), .help = "do not measure the device" },
	{ .name = "no-timing", .kind = CTL_OPT_NOT, AT(where.timing),
	  .help = "do not have engines measure their time" },
	{ .name = "wait", .kind = CTL_OPT_NUM, AT(how.wait),
	  .min = 1, .max = MAX_WAIT, .def = DEF_WAIT, .value = "SECONDS",
	  .help = "give up when nothing moves for so long" },
	{ .name = "quiet", .letter = 'q', .kind = CTL_OPT_FLAG, AT(quiet), .help = "no progress" },
	{ .name = "help", .letter = 'h', .kind = CTL_OPT_HELP, .help = "this text" },
	{ .name = "version", .letter = 'V', .kind = CTL_OPT_VERSION, .help = "version" },
	{ .name = NULL }
};

static const struct ctl_opt_part parts[] = {
	{ .opt = place_options, .groups = CTL_OPT_ALL },
	{ .title = "\nWhat --setup makes:", .opt = perf_params, .groups = 1U << PERF_MAKE,
	  .at = offsetof(struct perf_opts, conf) },
	{ .title = "\nWhat is done:", .opt = perf_params, .groups = 1U << PERF_MEASURE,
	  .at = offsetof(struct perf_opts, conf) },
	{ .title = "\nHow it is measured and shown:", .opt = other_options,
	  .groups = CTL_OPT_ALL },
};

static const struct ctl_command command = {
	.name = "spindle-perf",
	.head = "usage: spindle-perf [OPTION]...\n"
		"       spindle-perf failover [OPTION]...\n"
		"       spindle-perf rdmc [OPTION]...\n"
		"Measure subgroups: throughput, latency, and what they cost.\n"
		"\n"
		"Where: nodes that exist, or",
	.tail = "\nExit status: 0 done, 1 failed, or something was lost or in a wrong order, 2 usage.\n"
		"What changes of a live view cost: spindle-perf failover --help. Large objects:\n"
		"spindle-perf rdmc --help. See spindle-perf(1).",
	.wide = 30, .part = parts, .parts = CTL_ARRAY_SIZE(parts),
};

/**
 * perf_opts_ports() - check that each node has a port
 * @c: command line, for a message
 * @where: port and id of the first node
 * @nodes: number of nodes
 *
 * Return: CTL_OK, or CTL_USAGE after a message
 */
int perf_opts_ports(const struct ctl_command *c, const struct perf_where *where,
		    unsigned int nodes)
{
	if ((uint64_t)where->port + where->first + nodes - 1 <= UINT16_MAX)
		return CTL_OK;
	return ctl_command_usage(c, "port %u, first-node %u: node I has port %u + I, and ports end at %u",
				 where->port, where->first, where->port, UINT16_MAX);
}

/* Is there a configuration with logs? */
static bool has_logs(const struct perf_opts *o)
{
	unsigned int i;

	for (i = 0; i < o->sweeps; i++)
		if (o->sweep[i].p == perf_param_find("log"))
			return true;
	return o->conf.log;
}

/* Check whether the options fit together. */
static int check(const struct perf_opts *o, const char *setup_param)
{
	unsigned int i;

	for (i = 0; i < o->sweeps && !setup_param; i++)
		if (o->sweep[i].p->group == PERF_MAKE)
			setup_param = o->sweep[i].p->name;
	if (!o->where.setup && setup_param)
		return ctl_command_usage(&command, "%s: says what --setup makes", setup_param);
	if (!o->where.setup && o->where.addr.family)
		return ctl_command_usage(&command, "addr: says where --setup makes nodes");
	if (has_logs(o) && !o->where.log_dir)
		return ctl_command_usage(&command, "log: --log-dir is missing");
	if (!has_logs(o) && o->where.log_dir)
		return ctl_command_usage(&command, "log-dir: has no meaning without --log");
	if (o->where.setup && (o->where.node || o->where.group))
		return ctl_command_usage(&command, "only-nodes, only-subgroups: of those that exist; "
					 "without --setup");
	if (o->where.setup)
		return perf_opts_ports(&command, &o->where, SPINDLE_MAX_MEMBERS);
	return CTL_OK;
}

/**
 * perf_opts_parse() - read the command line
 * @o: out: options
 * @argc: words
 * @argv: words
 *
 * Return: CTL_OK; CTL_USAGE after a message; CTL_OPT_SHOWN: the user wanted help, which was printed
 */
int perf_opts_parse(struct perf_opts *o, int argc, char **argv)
{
	const char *given[CTL_OPT_GROUPS] = { NULL };
	int rc;

	memset(o, 0, sizeof(*o));
	perf_conf_default(&o->conf);
	rc = ctl_command_parse(&command, o, argc, argv, given);
	o->where.wait = o->how.wait;
	return rc ? rc : check(o, given[PERF_MAKE]);
}

/* The number of configurations that the sweeps lead to. */
unsigned int perf_opts_confs(const struct perf_opts *o)
{
	unsigned int i, n = 1;

	for (i = 0; i < o->sweeps; i++)
		n *= o->sweep[i].values;
	return n;
}

/**
 * perf_opts_conf() - compute one of the configurations
 * @o: options
 * @i: number of the configuration; the last parameter of the sweeps changes fastest
 * @conf: out: configuration
 *
 * Return: NULL, or what is wrong with the configuration
 */
const char *perf_opts_conf(const struct perf_opts *o, unsigned int i, struct perf_conf *conf)
{
	const char *err = NULL;
	unsigned int s;

	*conf = o->conf;
	for (s = o->sweeps; s-- && !err; i /= o->sweep[s].values)
		err = ctl_opt_take(o->sweep[s].p, conf,
				   o->sweep[s].value[i % o->sweep[s].values]);
	if (!err)
		err = perf_conf_settle(conf);
	return err ? err : perf_limit(conf, o->where.setup);
}
