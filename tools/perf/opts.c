// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line. See opts.h.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "opts.h"

#ifndef SPINDLE_VERSION
#define SPINDLE_VERSION	"unknown"
#endif

#define MAX_REPS	1000
#define DEF_REPS	3
#define MAX_WAIT	3600
#define DEF_WAIT	60
#define DEF_PORT	5000

/* Options that are not parameters. Their numbers are above all characters. */
enum {
	OPT_SETUP = 256,
	OPT_ADDR,
	OPT_PORT,
	OPT_FIRST,
	OPT_NODES,
	OPT_SUBGROUPS,
	OPT_REPS,
	OPT_WAIT,
	OPT_NO_RAW,
	OPT_RAW_COUNT,
	OPT_NO_TIMING,
	OPT_SWEEP,
	OPT_CSV,
	OPT_JSON,
	OPT_QUIET,
	OPT_HELP,
	OPT_VERSION,
	OPT_PARAM	/* options of the table begin here */
};

/**
 * struct fixed - an option that is not a parameter
 * @id: number
 * @letter: short option, or 0
 * @arg: required_argument and so on
 * @name: long option
 * @value: name of the value in the help
 * @help: description in the help
 */
struct fixed {
	int id;
	char letter;
	int arg;
	const char *name;
	const char *value;
	const char *help;
};

static const struct fixed place_options[] = {
	{ OPT_SETUP, 0, no_argument, "setup", NULL, "make nodes and a view, and remove them" },
	{ OPT_ADDR, 0, required_argument, "addr", "ADDRESS",
	  "their address (that of the first RDMA device)" },
	{ OPT_PORT, 0, required_argument, "port", "PORT", "node I has port PORT + I (5000)" },
	{ OPT_FIRST, 0, required_argument, "first-node", "ID", "id of the first one (1)" },
	{ OPT_NODES, 0, required_argument, "only-nodes", "IDS",
	  "of nodes that exist only these, like 1-4,7" },
	{ OPT_SUBGROUPS, 0, required_argument, "only-subgroups", "IDS", "the same" },
};

static const struct fixed other_options[] = {
	{ OPT_REPS, 'r', required_argument, "repetitions", "N", "repetitions (3)" },
	{ OPT_SWEEP, 'x', required_argument, "sweep", "KEY=V,V",
	  "each value of a parameter; of several, each combination" },
	{ OPT_CSV, 'C', required_argument, "csv", "FILE", "a row for each of them" },
	{ OPT_JSON, 'j', optional_argument, "json", "FILE",
	  "JSON, to standard output without FILE" },
	{ OPT_RAW_COUNT, 0, required_argument, "raw-count", "N",
	  "raw writes to each member; 0: enough" },
	{ OPT_NO_RAW, 0, no_argument, "no-raw", NULL, "do not measure the device" },
	{ OPT_NO_TIMING, 0, no_argument, "no-timing", NULL,
	  "do not have engines measure their time" },
	{ OPT_WAIT, 0, required_argument, "wait", "SECONDS",
	  "give up when nothing moves for so long (60)" },
	{ OPT_QUIET, 'q', no_argument, "quiet", NULL, "no progress" },
	{ OPT_HELP, 'h', no_argument, "help", NULL, "this text" },
	{ OPT_VERSION, 'V', no_argument, "version", NULL, "version" },
};

/* ---- help -------------------------------------------------------------- */

static void help_line(char letter, const char *name, const char *value, bool optional,
		      const char *help, const char *def)
{
	char left[64], flag[8] = "    ";

	if (letter)
		snprintf(flag, sizeof(flag), "-%c, ", letter);
	snprintf(left, sizeof(left), "%s--%s%s%s%s%s", flag, name, value && optional ? "[" : "",
		 value ? "=" : "", value ? value : "", value && optional ? "]" : "");
	printf("  %-30s %s%s%s%s\n", left, help, def ? " (" : "", def ? def : "",
	       def ? ")" : "");
}

static void help_fixed(const struct fixed *f, unsigned int n)
{
	for (; n--; f++)
		help_line(f->letter, f->name, f->value, f->arg == optional_argument, f->help,
			  NULL);
}

static void help_params(bool setup)
{
	struct perf_conf def;
	unsigned int i;

	perf_conf_default(&def);
	for (i = 0; i < perf_param_count; i++) {
		const struct perf_param *p = &perf_params[i];

		if (p->setup == setup)
			help_line(p->letter, p->name, p->arg, false, p->help,
				  p->kind != PERF_TUNE && p->def ? perf_conf_text(&def, p) :
								   NULL);
	}
}

static void help(void)
{
	puts("usage: spindle-perf [OPTION]...\n"
	     "       spindle-perf failover [OPTION]...\n"
	     "       spindle-perf rdmc [OPTION]...\n"
	     "Measure subgroups: throughput, latency, and what they cost.\n"
	     "\n"
	     "Where: nodes that exist, or");
	help_fixed(place_options, CTL_ARRAY_SIZE(place_options));
	puts("\nWhat --setup makes:");
	help_params(true);
	puts("\nWhat is done:");
	help_params(false);
	puts("\nHow it is measured and shown:");
	help_fixed(other_options, CTL_ARRAY_SIZE(other_options));
	puts("\nExit status: 0 done, 1 failed, or something was lost or in a wrong order, 2 usage.\n"
	     "What changes of a live view cost: spindle-perf failover --help. Large objects:\n"
	     "spindle-perf rdmc --help. See spindle-perf(1).");
}

/* ---- parsing ----------------------------------------------------------- */

/* The arguments of getopt_long(), made from the tables. */
struct table {
	struct option *option;
	unsigned int options;
	char letters[160];
};

static void add_option(struct table *t, const char *name, char letter, int arg, int id)
{
	size_t len = strlen(t->letters);

	t->option = ctl_grow(t->option, t->options, sizeof(*t->option));
	t->option[t->options++] = (struct option){ name, arg, NULL, id };
	if (letter)
		snprintf(t->letters + len, sizeof(t->letters) - len, "%c%s", letter,
			 arg == required_argument ? ":" : arg == optional_argument ? "::" : "");
}

static void make_table(struct table *t)
{
	unsigned int i;

	for (i = 0; i < perf_param_count; i++)
		add_option(t, perf_params[i].name, perf_params[i].letter,
			   perf_params[i].kind == PERF_FLAG ? no_argument : required_argument,
			   OPT_PARAM + i);
	for (i = 0; i < CTL_ARRAY_SIZE(place_options); i++)
		add_option(t, place_options[i].name, place_options[i].letter,
			   place_options[i].arg, place_options[i].id);
	for (i = 0; i < CTL_ARRAY_SIZE(other_options); i++)
		add_option(t, other_options[i].name, other_options[i].letter,
			   other_options[i].arg, other_options[i].id);
	/* The zeroed entry ends the array. */
	t->option = ctl_grow(t->option, t->options, sizeof(*t->option));
}

/* Map a short option to the number of its long one. */
static int long_id(int c)
{
	unsigned int i;

	for (i = 0; i < perf_param_count; i++)
		if (perf_params[i].letter == c)
			return OPT_PARAM + i;
	for (i = 0; i < CTL_ARRAY_SIZE(other_options); i++)
		if (other_options[i].letter == c)
			return other_options[i].id;
	return c;
}

static const char *number(const char *text, uint64_t min, uint64_t max, uint64_t *num)
{
	if (!ctl_num_parse(text, max, false, num) && *num >= min)
		return NULL;
	return ctl_asprintf("not a number from %llu to %llu", (unsigned long long)min,
			    (unsigned long long)max);
}

/* Parse "KEY=V,V". If the text has a ';', that separates the values, which may have commas then. */
static const char *add_sweep(struct perf_opts *o, const char *text)
{
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
	if (s->p->kind == PERF_TUNE)
		sep = ";";
	while ((value = strsep(&values, sep))) {
		perf_conf_default(&conf);
		err = perf_conf_set(&conf, s->p, value);
		if (err)
			return ctl_asprintf("%s: %s", value, err);
		s->value = ctl_grow(s->value, s->values, sizeof(*s->value));
		s->value[s->values++] = value;
	}
	o->sweeps++;
	return NULL;
}

/* Take an option that is not a parameter. Return: NULL, or what is wrong with its value */
static const char *fixed_option(struct perf_opts *o, int id, const char *arg)
{
	const char *err = NULL;
	uint64_t num = 0;

	switch (id) {
	case OPT_SETUP:
		o->where.setup = true;
		break;
	case OPT_ADDR:
		return ctl_addr_parse(arg, &o->where.addr);
	case OPT_PORT:
		err = number(arg, 1, UINT16_MAX, &num);
		o->where.port = num;
		break;
	case OPT_FIRST:
		err = number(arg, 1, UINT32_MAX, &num);
		o->where.first = num;
		break;
	case OPT_NODES:
		o->where.node = arg;
		break;
	case OPT_SUBGROUPS:
		o->where.group = arg;
		break;
	case OPT_REPS:
		err = number(arg, 1, MAX_REPS, &num);
		o->how.reps = num;
		break;
	case OPT_WAIT:
		err = number(arg, 1, MAX_WAIT, &num);
		o->how.wait = num;
		o->where.wait = num;
		break;
	case OPT_NO_RAW:
		o->how.raw = false;
		break;
	case OPT_RAW_COUNT:
		err = number(arg, 0, SPINDLE_RAW_MAX_COUNT, &num);
		o->how.raw_count = num;
		break;
	case OPT_NO_TIMING:
		o->where.timing = false;
		break;
	case OPT_SWEEP:
		return add_sweep(o, arg);
	case OPT_CSV:
		o->csv_file = arg;
		break;
	case OPT_JSON:
		o->json = true;
		o->json_file = arg;
		break;
	case OPT_QUIET:
		o->quiet = true;
		break;
	}
	return err;
}

static const char *option_name(const struct table *t, int id)
{
	unsigned int i;

	for (i = 0; i < t->options; i++)
		if (t->option[i].val == id)
			return t->option[i].name;
	return "?";
}

static int usage(const char *text)
{
	ctl_err("%s; see spindle-perf --help", text);
	return CTL_USAGE;
}

/* Check whether the options fit together. */
static int check(const struct perf_opts *o, const char *setup_param)
{
	unsigned int last = o->where.first + SPINDLE_MAX_MEMBERS - 1;
	unsigned int i;

	for (i = 0; i < o->sweeps && !setup_param; i++)
		if (o->sweep[i].p->setup)
			setup_param = o->sweep[i].p->name;
	if (!o->where.setup && setup_param)
		return usage(ctl_asprintf("%s: says what --setup makes", setup_param));
	if (!o->where.setup && o->where.addr.family)
		return usage("addr: says where --setup makes nodes");
	if (o->where.setup && (o->where.node || o->where.group))
		return usage("only-nodes, only-subgroups: of those that exist; without --setup");
	if (o->where.setup && (last < o->where.first || o->where.port + last > UINT16_MAX))
		return usage(ctl_asprintf("port %u, first-node %u: node I has port %u + I, and ports end at %u",
					  o->where.port, o->where.first, o->where.port,
					  UINT16_MAX));
	return CTL_OK;
}

/**
 * perf_opts_parse() - read the command line
 * @o: out: options
 * @argc: words
 * @argv: words
 *
 * Return: CTL_OK; CTL_USAGE after a message; -1: the user wanted help, which was printed
 */
int perf_opts_parse(struct perf_opts *o, int argc, char **argv)
{
	const char *setup_param = NULL, *err;
	struct table t = { .letters = ":" };
	int c;

	memset(o, 0, sizeof(*o));
	perf_conf_default(&o->conf);
	o->where.port = DEF_PORT;
	o->where.first = 1;
	o->where.wait = DEF_WAIT;
	o->where.timing = true;
	o->how.reps = DEF_REPS;
	o->how.wait = DEF_WAIT;
	o->how.raw = true;
	make_table(&t);
	opterr = 0;
	while ((c = getopt_long(argc, argv, t.letters, t.option, NULL)) != -1) {
		const char *word = argv[optind - 1];

		if (c == ':')
			return usage(ctl_asprintf("%s: the value is missing", word));
		if (c == '?')
			return usage(optopt && optopt < 256 ?
				     ctl_asprintf("there is no option -%c", optopt) :
				     ctl_asprintf("there is no option %s", word));
		c = long_id(c);
		if (c == OPT_HELP) {
			help();
			return -1;
		}
		if (c == OPT_VERSION) {
			puts("spindle-perf " SPINDLE_VERSION);
			return -1;
		}
		if (c >= OPT_PARAM) {
			const struct perf_param *p = &perf_params[c - OPT_PARAM];

			err = perf_conf_set(&o->conf, p, p->kind == PERF_FLAG ? "1" : optarg);
			if (p->setup)
				setup_param = p->name;
		} else {
			err = fixed_option(o, c, optarg);
		}
		if (err)
			return usage(ctl_asprintf("%s %s: %s", option_name(&t, c),
						  optarg ? optarg : "", err));
	}
	if (optind < argc)
		return usage(ctl_asprintf("'%s': there are only options", argv[optind]));
	return check(o, setup_param);
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
		err = perf_conf_set(conf, o->sweep[s].p,
				    o->sweep[s].value[i % o->sweep[s].values]);
	if (!err)
		err = perf_conf_settle(conf);
	return err ? err : perf_limit(conf, o->where.setup);
}
