/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of results for people and programs. */
#ifndef SPINDLE_PERF_OUT_H
#define SPINDLE_PERF_OUT_H

#include <stdio.h>

#include "metric.h"
#include "opts.h"

struct json_object;

/* out.c: a table for people */
void perf_out_table(const struct perf_result *r);
void perf_out_head(const struct perf_opts *o);
void perf_out_row(const struct perf_opts *o, const struct perf_result *r);
void perf_out_drift(void);

/* file.c: for programs */
void perf_csv_head(FILE *f);
void perf_csv_row(FILE *f, const struct perf_result *r);
void perf_json_num(struct json_object *obj, const char *name, double v);
void perf_json_stat(struct json_object *obj, const struct perf_stat *s);
void perf_json_values(struct json_object *obj, const char *name, const double *v, unsigned int n,
		      unsigned int step);
void perf_json_opts(struct json_object *obj, const struct ctl_opt *opt, const char *names,
		    const void *from);
struct json_object *perf_json_new(const struct perf_place *place);
void perf_json_add(struct json_object *doc, const struct perf_result *r);
int perf_json_write(struct json_object *doc, const char *file);

#endif /* SPINDLE_PERF_OUT_H */
