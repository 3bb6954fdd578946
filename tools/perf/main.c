// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-perf: measure subgroups.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common/bar.h"
#include "common/clock.h"
#include "common/util.h"
#include "opts.h"
#include "out.h"
#include "perf/failover/failover.h"
#include "perf/rdmc/rdmc.h"
#include "stop.h"

/* leave() removes the nodes of --setup, however the program ends. */
static struct perf_place place;

static void leave(void)
{
	perf_place_leave(&place);
}

/* Check all configurations before anything is started. */
static int check_confs(const struct perf_opts *o)
{
	unsigned int i, n = perf_opts_confs(o);
	struct perf_conf conf;
	const char *err;

	for (i = 0; i < n; i++) {
		err = perf_opts_conf(o, i, &conf);
		if (err) {
			ctl_err("%s", err);
			return CTL_USAGE;
		}
	}
	return CTL_OK;
}

/**
 * struct sinks - outputs for the results
 */
struct sinks {
	/** @json: document, or NULL */
	struct json_object *json;
	/** @csv: file, or NULL */
	FILE *csv;
};

static void show(const struct perf_opts *o, struct sinks *s, const struct perf_result *r)
{
	ctl_bar_clear();
	if (o->json && !s->json)
		s->json = perf_json_new(&place);
	if (o->json)
		perf_json_add(s->json, r);
	if (s->csv)
		perf_csv_row(s->csv, r);
	if (o->json && !o->json_file)
		return;
	if (o->sweeps)
		perf_out_row(o, r);
	else
		perf_out_table(r);
}

static int measure_all(const struct perf_opts *o, struct ctl_net *net, struct sinks *s)
{
	static struct ctl_pool pool;
	unsigned int i, n = perf_opts_confs(o);
	struct perf_result r;
	struct perf_conf conf;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		ctl_pool_use(&pool);
		memset(&r, 0, sizeof(r));
		perf_opts_conf(o, i, &conf);
		ctl_bar_title("setup");
		ctl_bar_show((double)i / n, perf_now());
		rc = perf_place_enter(&place, net, &o->where, &conf);
		if (!rc)
			rc = perf_run(&conf, &place, &o->how, &r);
		ctl_bar_clear();
		perf_place_leave(&place);
		if (!rc)
			show(o, s, &r);
		if (!rc && perf_stopped())
			rc = -EINTR;
		/* Drop all memory of this configuration: its results, and texts of messages. */
		ctl_pool_use(NULL);
		ctl_pool_drop(&pool);
	}
	return rc;
}

static int open_sinks(const struct perf_opts *o, struct sinks *s)
{
	if (o->csv_file) {
		s->csv = fopen(o->csv_file, "w");
		if (!s->csv) {
			ctl_err("%s: %s", o->csv_file, strerror(errno));
			return -1;
		}
		perf_csv_head(s->csv);
	}
	if (o->sweeps && (!o->json || o->json_file))
		perf_out_head(o);
	return 0;
}

static int close_sinks(const struct perf_opts *o, struct sinks *s)
{
	int rc = 0;

	if (s->json)
		rc = perf_json_write(s->json, o->json_file);
	if (s->csv && (ferror(s->csv) | fclose(s->csv))) {
		ctl_err("%s: %s", o->csv_file, strerror(errno));
		rc = -EIO;
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct sinks sinks = { NULL, NULL };
	struct perf_opts o;
	struct ctl_net net;
	int rc;

	ctl_program = "spindle-perf";
	if (argc > 1 && !strcmp(argv[1], "failover"))
		return perf_failover_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "rdmc"))
		return perf_rdmc_main(argc - 1, argv + 1);
	rc = perf_opts_parse(&o, argc, argv);
	if (rc < 0)
		return ctl_flush(CTL_OK);
	if (!rc)
		rc = check_confs(&o);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY))
		return CTL_FAILED;
	if (o.where.setup && perf_setup_addr(&o.where))
		return CTL_FAILED;
	if (open_sinks(&o, &sinks))
		return CTL_FAILED;
	perf_clock_init();
	ctl_bar_init(o.quiet);
	perf_stop_catch();
	atexit(leave);
	rc = measure_all(&o, &net, &sinks);
	if (close_sinks(&o, &sinks) && !rc)
		rc = -EIO;
	rc = ctl_flush(rc ? CTL_FAILED : CTL_OK);
	perf_stop_die();
	return rc;
}
