// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-dds topic hz|bw: a line each second about the samples of the window, and one at the end.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "common/bar.h"
#include "common/record.h"
#include "common/util.h"
#include "rate.h"

#define NSEC_PER_SEC	1000000000ULL

#define HZ(_kind, _name, _field)	CTL_FIELD(_kind, _name, struct dds_hz, _field, 0)
static const struct ctl_field hz_fields[] = {
	HZ(REAL, "rate", rate),
	HZ(REAL, "min-ms", min),
	HZ(REAL, "max-ms", max),
	HZ(REAL, "deviation-ms", deviation),
	HZ(NUM, "samples", samples),
	{ .kind = CTL_F_END }
};

#define HZ_COLUMNS	"rate min-ms max-ms deviation-ms samples"

#define BW(_kind, _name, _field)	CTL_FIELD(_kind, _name, struct dds_bw, _field, 0)
static const struct ctl_field bw_fields[] = {
	BW(REAL, "rate", rate),
	BW(REAL, "mean", mean),
	BW(NUM, "min", min),
	BW(NUM, "max", max),
	BW(NUM, "samples", samples),
	{ .kind = CTL_F_END }
};

#define BW_COLUMNS	"rate mean min max samples"

/* A figure that needs more samples is a dash. */
static const char *figure(double num)
{
	return isnan(num) ? "-" : ctl_digits(num);
}

static void print_hz(const struct dds_hz *hz)
{
	printf("%s/s, interval %s to %s ms, deviation %s ms, %u samples\n", figure(hz->rate),
	       figure(hz->min), figure(hz->max), figure(hz->deviation), hz->samples);
}

static void print_bw(const struct dds_bw *bw)
{
	char rate[CTL_RATE_LEN];

	if (isnan(bw->rate))
		strcpy(rate, "-");
	else
		ctl_rate_text(rate, (uint64_t)(bw->rate + 0.5), NSEC_PER_SEC);
	printf("%s, %s bytes each, %u to %u, %u samples\n", rate, figure(bw->mean), bw->min,
	       bw->max, bw->samples);
}

/* Print what is above all figures. */
static void print_head(const struct dds_opts *o)
{
	if (!o->csv)
		return;
	if (o->verb == DDS_HZ)
		ctl_record_csv(stdout, HZ_COLUMNS, hz_fields, NULL);
	else
		ctl_record_csv(stdout, BW_COLUMNS, bw_fields, NULL);
}

/* Print the figures of a window at the time @now, nanoseconds. */
static void print_figures(const struct dds_opts *o, const struct dds_window *w, uint64_t now)
{
	bool is_hz = o->verb == DDS_HZ;
	struct dds_hz hz;
	struct dds_bw bw;

	dds_window_hz(w, &hz);
	dds_window_bw(w, now, &bw);
	if (o->json)
		ctl_json_print(is_hz ? ctl_record_json(NULL, hz_fields, &hz) :
			       ctl_record_json(NULL, bw_fields, &bw));
	else if (o->csv)
		ctl_record_csv(stdout, is_hz ? HZ_COLUMNS : BW_COLUMNS,
			       is_hz ? hz_fields : bw_fields,
			       is_hz ? (const void *)&hz : (const void *)&bw);
	else if (is_hz)
		print_hz(&hz);
	else
		print_bw(&bw);
	fflush(stdout);
}

/**
 * struct rate - samples that are measured
 */
struct rate {
	/** @o: options */
	const struct dds_opts *o;
	/** @w: the last samples */
	struct dds_window w;
	/** @fresh: samples since the last line */
	uint64_t fresh;
};

static void on_sample(void *ctx, const struct spindle_dds_sample *s, uint64_t now)
{
	struct rate *r = ctx;

	dds_window_add(&r->w, now, s->len);
	r->fresh++;
}

static void on_tick(void *ctx, uint64_t now, bool last)
{
	struct rate *r = ctx;

	if (r->fresh) {
		print_figures(r->o, &r->w, now);
	} else if (!last && !r->o->json && !r->o->csv) {
		puts("no new samples");
		fflush(stdout);
	}
	r->fresh = 0;
}

/* spindle-dds topic hz and bw. Return: exit code. */
int dds_cmd_rate(struct dds_link *l)
{
	struct rate r = { .o = l->o };
	struct dds_read how = { .sample = on_sample, .tick = on_tick, .ctx = &r };
	int rc = dds_need_topic(l);

	if (rc)
		return rc;
	dds_window_init(&r.w, l->o->window);
	print_head(l->o);
	return dds_link_read(l, &how);
}
