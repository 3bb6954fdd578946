// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results in JSON and CSV. See out.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <json-c/json.h>

#include "common/clock.h"
#include "common/out.h"
#include "common/util.h"
#include "out.h"

static const char *const stage_name[PERF_STAGES] = {
	[PERF_SEND] = "send", [PERF_RECV] = "recv", [PERF_DLV] = "dlv",
};

static const char *clock_name(void)
{
	return perf_clock.tsc ? "tsc" : "clock_gettime";
}

/* ---- JSON -------------------------------------------------------------- */

/*
 * Counters are printed exactly, figures without digits that were not measured. An unknown number is
 * null.
 */
static struct json_object *number(double v)
{
	if (!isfinite(v))
		return NULL;
	if (v == floor(v) && fabs(v) < 1e15)
		return json_object_new_int64((int64_t)v);
	return json_object_new_double_s(v, ctl_asprintf("%.9g", v));
}

void perf_json_num(struct json_object *obj, const char *name, double v)
{
	ctl_json_add(obj, name, number(v));
}

static void add_option(struct json_object *obj, const struct ctl_opt *opt, const void *from)
{
	struct json_object *val;

	if (opt->kind == CTL_OPT_FLAG)
		val = json_object_new_boolean(ctl_opt_num(opt, from));
	else if (opt->kind == CTL_OPT_MILLIS)
		val = number(ctl_opt_num(opt, from) / 1000.0);
	else if ((opt->kind == CTL_OPT_NUM && !opt->words) || opt->kind == CTL_OPT_BYTES)
		val = ctl_json_num(ctl_opt_num(opt, from));
	else if (opt->kind == CTL_OPT_TAKE)
		val = json_object_new_string(perf_conf_text(from, opt));
	else
		val = json_object_new_string(ctl_opt_text(opt, from));
	ctl_json_add(obj, opt->name, val);
}

/**
 * perf_json_opts() - add the values of options
 * @obj: object
 * @opt: table of options
 * @names: names of options, like "nodes rate size"
 * @from: struct that the table describes
 */
void perf_json_opts(struct json_object *obj, const struct ctl_opt *opt, const char *names,
		    const void *from)
{
	char *list = ctl_strdup(names), *name;
	const struct ctl_opt *o;

	while ((name = strsep(&list, " ")))
		for (o = opt; o->name; o++)
			if (!strcmp(o->name, name))
				add_option(obj, o, from);
}

/* Add median and range of a sample. */
void perf_json_stat(struct json_object *obj, const struct perf_stat *s)
{
	perf_json_num(obj, "median", s->median);
	perf_json_num(obj, "min", s->min);
	perf_json_num(obj, "max", s->max);
}

/* Add each @step-th value as an array of @n numbers. */
void perf_json_values(struct json_object *obj, const char *name, const double *v, unsigned int n,
		      unsigned int step)
{
	struct json_object *list = json_object_new_array();

	for (; n--; v += step)
		json_object_array_add(list, number(*v));
	ctl_json_add(obj, name, list);
}

static struct json_object *metric(const struct perf_result *r, enum perf_metric_id id)
{
	struct json_object *obj = json_object_new_object();
	struct perf_stat s = perf_metric_stat(r, id);

	perf_json_stat(obj, &s);
	perf_json_num(obj, "stddev", s.dev);
	perf_json_values(obj, "values", &r->v[id], r->reps, PERF_METRICS);
	return obj;
}

/* Begin a document with what is the same for all configurations. */
struct json_object *perf_json_new(const struct perf_place *place)
{
	struct json_object *doc = json_object_new_object(), *list = json_object_new_array();
	struct utsname u;
	unsigned int i;

	ctl_json_str(doc, "program", "spindle-perf " SPINDLE_VERSION);
	if (!uname(&u)) {
		ctl_json_str(doc, "host", u.nodename);
		ctl_json_str(doc, "kernel", u.release);
		ctl_json_str(doc, "machine", u.machine);
	}
	ctl_json_add(doc, "cpus", json_object_new_int64(sysconf(_SC_NPROCESSORS_ONLN)));
	for (i = 0; i < place->devices; i++)
		json_object_array_add(list, json_object_new_string(place->device[i]));
	ctl_json_add(doc, "devices", list);
	ctl_json_str(doc, "clock", clock_name());
	ctl_json_add(doc, "runs", json_object_new_array());
	return doc;
}

/* Add a configuration that was measured. */
void perf_json_add(struct json_object *doc, const struct perf_result *r)
{
	struct json_object *run = json_object_new_object(), *obj, *list, *runs;
	char order[24];
	unsigned int i, s;

	obj = json_object_new_object();
	for (i = 0; i < perf_param_count; i++)
		add_option(obj, &perf_params[i], &r->conf);
	ctl_json_add(run, "config", obj);
	ctl_json_add(run, "members", json_object_new_int(r->members));
	ctl_json_add(run, "senders", json_object_new_int(r->senders));
	ctl_json_add(run, "local", json_object_new_int(r->local));
	ctl_json_add(run, "repetitions", json_object_new_int(r->reps));
	perf_json_num(run, "ns-per-tick", perf_clock.ns);
	perf_json_num(run, "clock-drift", perf_clock.drift);
	snprintf(order, sizeof(order), "%016llx", (unsigned long long)r->order);
	ctl_json_str(run, "order", order);
	obj = json_object_new_object();
	perf_json_values(obj, "bandwidth", r->raw.bandwidth, r->raw.samples, 1);
	perf_json_values(obj, "latency-ns", r->raw.latency, r->raw.samples, 1);
	ctl_json_add(run, "raw", obj);
	obj = json_object_new_object();
	for (i = 0; i < PERF_METRICS; i++)
		ctl_json_add(obj, perf_metrics[i].name, metric(r, i));
	ctl_json_add(run, "metrics", obj);
	obj = json_object_new_object();
	for (s = 0; s < PERF_STAGES; s++) {
		list = json_object_new_array();
		for (i = 0; i < SPINDLE_HIST_BUCKETS; i++)
			json_object_array_add(list,
					      json_object_new_uint64(r->counts.batch[s][i]));
		ctl_json_add(obj, stage_name[s], list);
	}
	ctl_json_add(run, "batches", obj);
	if (json_object_object_get_ex(doc, "runs", &runs))
		json_object_array_add(runs, run);
}

/**
 * perf_json_write() - write a document and free it
 * @doc: document
 * @file: file to write; NULL: standard output
 *
 * Return: 0 or -errno, after a message
 */
int perf_json_write(struct json_object *doc, const char *file)
{
	int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		    JSON_C_TO_STRING_NOSLASHESCAPE;
	FILE *f = file ? fopen(file, "w") : stdout;
	int rc = 0;

	if (!f || fprintf(f, "%s\n", json_object_to_json_string_ext(doc, flags)) < 0 ||
	    fflush(f))
		rc = -errno;
	if (f && file && fclose(f) && !rc)
		rc = -errno;
	if (rc)
		ctl_err("%s: %s", file ? file : "output", strerror(-rc));
	json_object_put(doc);
	return rc;
}

/* ---- CSV --------------------------------------------------------------- */

/* Write a word. CSV, like JSON, has _ where the words of parameters have -. */
static void put_word(FILE *f, const char *word)
{
	for (; *word; word++)
		fputc(*word == '-' ? '_' : *word, f);
}

static void put_number(FILE *f, double v)
{
	if (!isfinite(v))
		fputc(',', f);
	else
		fprintf(f, v == floor(v) && fabs(v) < 1e15 ? ",%.0f" : ",%.9g", v);
}

void perf_csv_head(FILE *f)
{
	unsigned int i;

	for (i = 0; i < perf_param_count; i++) {
		put_word(f, perf_params[i].name);
		fputc(',', f);
	}
	fputs("members,senders_active,local,repetitions,clock,order", f);
	for (i = 0; i < PERF_METRICS; i++)
		fprintf(f, ",%s,%s_min,%s_max", perf_metrics[i].name, perf_metrics[i].name,
			perf_metrics[i].name);
	for (i = 0; i < PERF_STAGES; i++)
		fprintf(f, ",%s_batches", stage_name[i]);
	fputc('\n', f);
	fflush(f);
}

void perf_csv_row(FILE *f, const struct perf_result *r)
{
	unsigned int i, s;

	/* The words of --tune have commas, so they are quoted. */
	for (i = 0; i < perf_param_count; i++)
		fprintf(f, perf_params[i].kind == CTL_OPT_TAKE ? "\"%s\"," : "%s,",
			perf_conf_text(&r->conf, &perf_params[i]));
	fprintf(f, "%u,%u,%u,%u,%s,%016llx", r->members, r->senders, r->local, r->reps,
		clock_name(), (unsigned long long)r->order);
	for (i = 0; i < PERF_METRICS; i++) {
		struct perf_stat stat = perf_metric_stat(r, i);

		put_number(f, stat.median);
		put_number(f, stat.min);
		put_number(f, stat.max);
	}
	for (s = 0; s < PERF_STAGES; s++)
		for (i = 0; i < SPINDLE_HIST_BUCKETS; i++)
			fprintf(f, "%s%llu", i ? " " : ",",
				(unsigned long long)r->counts.batch[s][i]);
	fputc('\n', f);
	fflush(f);
}
