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
 */
struct perf_sweep {
	/** @p: parameter */
	const struct ctl_opt *p;
	/** @value: values */
	char **value;
	/** @values: entries of @value */
	unsigned int values;
};

/**
 * struct perf_opts - what the user wants
 */
struct perf_opts {
	/** @conf: parameters */
	struct perf_conf conf;
	/** @where: place */
	struct perf_where where;
	/** @how: repetitions and so on */
	struct perf_how how;
	/** @sweep: parameters with several values */
	struct perf_sweep sweep[PERF_SWEEPS];
	/** @sweeps: entries of @sweep */
	unsigned int sweeps;
	/** @json: print JSON instead of a table */
	bool json;
	/** @json_file: file for the JSON; NULL: standard output */
	const char *json_file;
	/** @csv_file: file for CSV, in addition; NULL: none */
	const char *csv_file;
	/** @quiet: no progress */
	bool quiet;
};

int perf_opts_ports(const struct ctl_command *c, const struct perf_where *where,
		    unsigned int nodes);
int perf_opts_parse(struct perf_opts *o, int argc, char **argv);
unsigned int perf_opts_confs(const struct perf_opts *o);
const char *perf_opts_conf(const struct perf_opts *o, unsigned int i, struct perf_conf *conf);

#endif /* SPINDLE_PERF_OPTS_H */
