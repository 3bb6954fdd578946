/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of spindle-perf.
 */
#ifndef SPINDLE_PERF_OPTS_H
#define SPINDLE_PERF_OPTS_H

#include "conf.h"
#include "place.h"
#include "run.h"

#define PERF_SWEEPS	8

/**
 * struct perf_sweep - a parameter with several values
 * @p: parameter
 * @value: values
 * @values: entries of @value
 */
struct perf_sweep {
	const struct ctl_opt *p;
	char **value;
	unsigned int values;
};

/**
 * struct perf_opts - what the user wants
 * @conf: parameters
 * @where: place
 * @how: repetitions and so on
 * @sweep: parameters with several values
 * @sweeps: entries of @sweep
 * @json: print JSON instead of a table
 * @json_file: file for the JSON; NULL: standard output
 * @csv_file: file for CSV, in addition; NULL: none
 * @quiet: no progress
 */
struct perf_opts {
	struct perf_conf conf;
	struct perf_where where;
	struct perf_how how;
	struct perf_sweep sweep[PERF_SWEEPS];
	unsigned int sweeps;
	bool json;
	const char *json_file;
	const char *csv_file;
	bool quiet;
};

int perf_opts_ports(const struct ctl_command *c, const struct perf_where *where,
		    unsigned int nodes);
int perf_opts_parse(struct perf_opts *o, int argc, char **argv);
unsigned int perf_opts_confs(const struct perf_opts *o);
const char *perf_opts_conf(const struct perf_opts *o, unsigned int i, struct perf_conf *conf);

#endif /* SPINDLE_PERF_OPTS_H */
