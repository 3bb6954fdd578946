// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables. See out.h.
 */
#include <stdio.h>

#include "common/clock.h"
#include "common/util.h"
#include "out.h"

/* Figures of a row that stands for a whole configuration. */
static const enum perf_metric_id line[] = {
	PERF_M_GOODPUT, PERF_M_RATE, PERF_M_EFFICIENCY, PERF_M_OWN_P50, PERF_M_SLOWEST_P99,
	PERF_M_MSGS_PER_WRITE, PERF_M_WIRE_PER_BYTE, PERF_M_SYSCALLS_PER_MSG,
};

static void print_title(const struct perf_result *r)
{
	const struct perf_conf *c = &r->conf;

	printf("%u members, %u of them send ", r->members, r->senders);
	if (c->millis)
		printf("for %g s ", c->millis / 1000.0);
	else
		printf("%llu messages each ", (unsigned long long)c->count);
	printf("of %llu bytes; window %llu; ", (unsigned long long)c->size,
	       (unsigned long long)c->window);
	if (c->subgroups > 1)
		printf("%s of %llu subgroups; ",
		       perf_conf_text(c, perf_param_find("active")),
		       (unsigned long long)c->subgroups);
	printf("%u repetitions\n", r->reps);
	if (r->local < r->members)
		printf("%u members are here; counters are theirs\n", r->local);
}

static void print_metric(const struct perf_result *r, enum perf_metric_id id)
{
	const struct perf_metric *m = &perf_metrics[id];
	struct perf_stat s = perf_metric_stat(r, id);

	if (m->section)
		printf("\n%-28s %14s %14s %14s\n", m->section, "median", "least", "most");
	if (!m->text)
		return;
	printf("  %-26s %14s %14s %14s\n", m->text, perf_metric_text(id, s.median),
	       perf_metric_text(id, s.min), perf_metric_text(id, s.max));
}

/* Print the share of the batches that has a number of messages. */
static void print_batches(const struct perf_counts *c)
{
	static const char *const name[] = { "sent", "received", "delivered" };
	unsigned int last = 0, s, i;

	for (s = 0; s < PERF_STAGES; s++)
		for (i = 0; i < SPINDLE_HIST_BUCKETS; i++)
			if (c->batch[s][i] && i > last)
				last = i;
	printf("\n%-12s", "batches of");
	for (i = 0; i <= last; i++)
		printf(" %5u%s", 1U << i, i ? "-" : " ");
	putchar('\n');
	for (s = 0; s < PERF_STAGES; s++) {
		double sum = 0;

		for (i = 0; i < SPINDLE_HIST_BUCKETS; i++)
			sum += c->batch[s][i];
		printf("  %-10s", name[s]);
		for (i = 0; i <= last; i++)
			printf(" %4.0f %%", sum > 0 ? 100 * c->batch[s][i] / sum : 0);
		putchar('\n');
	}
}

/* Print all figures of one configuration. */
void perf_out_table(const struct perf_result *r)
{
	unsigned int i;

	print_title(r);
	for (i = 0; i < PERF_METRICS; i++)
		print_metric(r, i);
	print_batches(&r->counts);
	perf_out_drift();
}

/* Print a warning if the clock was not steady. */
void perf_out_drift(void)
{
	if (perf_clock.drift > 0.01)
		printf("\nThe clock is not steady (%.1f %%): do not believe times.\n",
		       perf_clock.drift * 100);
}

/* Print the head above the rows of a sweep. */
void perf_out_head(const struct perf_opts *o)
{
	unsigned int i;

	for (i = 0; i < o->sweeps; i++)
		printf("%-14s ", o->sweep[i].p->name);
	for (i = 0; i < CTL_ARRAY_SIZE(line); i++)
		printf(" %20s", perf_metrics[line[i]].name);
	putchar('\n');
}

/* Print one configuration of a sweep. */
void perf_out_row(const struct perf_opts *o, const struct perf_result *r)
{
	unsigned int i;

	for (i = 0; i < o->sweeps; i++)
		printf("%-14s ", perf_conf_text(&r->conf, o->sweep[i].p));
	for (i = 0; i < CTL_ARRAY_SIZE(line); i++)
		printf(" %20s",
		       perf_metric_text(line[i], perf_metric_stat(r, line[i]).median));
	putchar('\n');
	fflush(stdout);
}
