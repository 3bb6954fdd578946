// SPDX-License-Identifier: GPL-2.0-only
/*
 * All results that spindle-perf writes, as text, JSON and CSV. TAP.
 *
 * perf_show.txt has the expected output. "perf_show_test.asan update" writes the file again.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include <linux/spindle_rdmc.h>

#include "common/clock.h"
#include "common/util.h"
#include "perf/failover/failover.h"
#include "perf/out.h"
#include "perf/rdmc/rdmc.h"

static struct perf_place place = { .device = { "rxe0", "mlx5_0" }, .devices = 2 };
static char path[40];

/* Print what a file has, without the lines about this machine. */
static void print_file(void)
{
	char line[32768];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strstr(line, "\"host\"") && !strstr(line, "\"kernel\"") &&
		    !strstr(line, "\"machine\"") && !strstr(line, "\"cpus\"") &&
		    !strstr(line, "\"program\""))
			fputs(line, stdout);
	if (f)
		fclose(f);
}

static void fill(struct perf_hist *h, unsigned int n)
{
	unsigned int i;

	perf_hist_clear(h);
	for (i = 1; i <= n; i++)
		perf_hist_add(h, 1000 * i);
}

static void print_measure(void)
{
	static double v[2 * PERF_METRICS], bandwidth[] = { 11e6, 9e6 }, latency[] = { 4000, NAN };
	struct perf_result r = { .members = 4, .senders = 2, .local = 3, .v = v, .order = 77 };
	static struct perf_sample sample;
	struct perf_sweep sweep = { .p = perf_param_find("size") };
	struct perf_opts o = { .sweep = { sweep }, .sweeps = 1 };
	struct json_object *doc;
	unsigned int i;
	FILE *f;

	perf_conf_default(&r.conf);
	ctl_opt_take(perf_param_find("tune"), &r.conf, "all=off,nulls=on");
	ctl_opt_take(perf_param_find("seconds"), &r.conf, "1.5");
	r.conf.copy_in = 1;
	for (i = 0; i < PERF_COUNTERS; i++)
		sample.counts.num[i] = 1000 + i;
	sample.counts.has = ~0ULL & ~(1ULL << PERF_C_PKTS_OUT);
	sample.counts.batch[PERF_SEND][2] = 5;
	sample.counts.batch[PERF_DLV][0] = 1;
	for (i = 1; i <= 2; i++) {
		sample.goodput = 1e6 * i;
		sample.slowest = 1e6 / 3;
		sample.rate = 12345;
		sample.seconds = 1.5;
		sample.sent = 100 * i;
		sample.delivered = 300;
		sample.copies = 300;
		sample.payload = 3000;
		sample.wire = 3e6;
		fill(&sample.own, 100 * i);
		fill(&sample.slow, i - 1);
		sample.durable_rate = i == 1 ? 500 : NAN;
		sample.durable_goodput = 50 * sample.durable_rate;
		fill(&sample.durable, 30 * (2 - i));
		perf_metric_sample(&r, &sample);
	}
	r.raw = (struct perf_raw){ 2, bandwidth, latency };
	perf_metric_raw(&r);
	perf_out_table(&r);
	perf_out_head(&o);
	perf_out_row(&o, &r);
	doc = perf_json_new(&place);
	perf_json_add(doc, &r);
	perf_json_write(doc, path);
	print_file();
	f = fopen(path, "w");
	perf_csv_head(f);
	perf_csv_row(f, &r);
	fclose(f);
	print_file();
}

/* Add a change of each kind, and one that another program makes. */
static void add_changes(struct perf_changes *all)
{
	unsigned int i, p;

	for (i = 0; i <= PERF_MOVES; i++) {
		struct perf_change *c = perf_change_new(all, 2);

		c->kind = i;
		c->rep = 1;
		c->vid = 2 + i;
		c->views = 1;
		c->members = 4;
		if (i == PERF_MOVE_JOIN)
			c->join_first = 123.456;
		for (p = 0; p < 2 * CTL_PHASES; p++)
			c->stayer[p % 2].phase[p / 2] = p ? 1000.5 * p : NAN;
		c->stayer[0].node = 1;
		c->stayer[0].gap = (struct perf_gap){ 3, 20000 + i };
		c->stayer[1].node = 2;
		c->stayer[1].fixed = (struct perf_gap){ 1, 40000 };
	}
}

static void print_failover(void)
{
	static struct perf_quiet quiet[3] = {
		{ .node = 1, .subgroup = 1, .sent = 500, .delivered = 1500, .seconds = 0.25 },
		{ .node = 2, .subgroup = 1 }, { .node = 1, .subgroup = 2, .fixed = true },
	};
	struct perf_fopts o = { .nodes = 3, .reps = 2, .window = 128, .timeout_ms = 500,
				.quiet_ms = 300, .node = 7, .subgroup = 1, .json_file = path,
				.load = { .rate = 2000, .size = 64 } };
	struct perf_failover f = { .o = &o, .quiet = quiet, .quiets = 3 };

	fill(&quiet[0].hist, 50);
	add_changes(&f.all);
	perf_fout_table(&f);
	perf_fout_view(&f.all.change[PERF_MOVES]);
	perf_fout_watched(&f);
	perf_fout_json(&f, &place);
	print_file();
	o.watch = 3;
	perf_fout_json(&f, &place);
	print_file();
}

static void print_rdmc(void)
{
	static double v[2 * PERF_R_FIGURES];
	struct perf_ropts o = { .members = 4, .nodes = 6, .algorithm = SPINDLE_RDMC_CHAIN,
				.size = 1 << 24, .queue = 16, .reps = 2, .idle_us = 50,
				.sigma = 133, .json_file = path, .csv_file = path };
	struct perf_rdmc r = { .o = &o, .groups = 2, .block = 65536, .objects = 10, .v = v };
	unsigned int i;

	for (i = 0; i < 2 * PERF_R_FIGURES; i++)
		v[i] = i % 7 ? 1000.0 * i / 7 : NAN;
	perf_rout_table(&r);
	perf_rout_json(&r, &place);
	print_file();
	perf_rout_csv(&r);
	print_file();
	o.mix = 2;
	perf_rout_table(&r);
	perf_rout_json(&r, &place);
	print_file();
}

/* Print the results into a text. */
static char *text_of(void (*print)(void))
{
	FILE *out = stdout;
	char *text = NULL;
	size_t size;

	stdout = open_memstream(&text, &size);
	print();
	fclose(stdout);
	stdout = out;
	return text;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} part[] = {
		{ "a measurement", print_measure },
		{ "changes of a view", print_failover },
		{ "large objects", print_rdmc },
	};
	bool update = argc > 1 && !strcmp(argv[1], "update"), good, bad = false;
	FILE *f = fopen("perf_show.txt", update ? "w" : "r");
	int fd;
	char *have, *want;
	unsigned int i;

	snprintf(path, sizeof(path), "/tmp/perf_show_test.XXXXXX");
	fd = mkstemp(path);
	if (!f || fd < 0) {
		perror("perf_show.txt");
		return 1;
	}
	/* A tick is a nanosecond, as on a machine without a counter. */
	perf_clock = (struct perf_clock){ .ns = 1, .drift = 0.02 };
	for (i = 0; i < CTL_ARRAY_SIZE(part); i++) {
		have = text_of(part[i].print);
		want = ctl_alloc(strlen(have) + 1);
		if (update)
			fputs(have, f);
		good = update || (fread(want, 1, strlen(have), f) == strlen(have) &&
				  !strcmp(have, want));
		printf("%sok %u - the output of %s\n", good ? "" : "not ", i + 1, part[i].name);
		bad |= !good;
		free(have);
	}
	printf("1..%u\n", i);
	unlink(path);
	return bad;
}
