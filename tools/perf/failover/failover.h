/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spindle-perf failover: what a change of a live view costs those that stay.
 */
#ifndef SPINDLE_PERF_FAILOVER_H
#define SPINDLE_PERF_FAILOVER_H

#include "ctl-status.h"
#include "perf-fout.h"

int perf_failover_main(int argc, char **argv);

/* What both ways to measure it need. */
const struct ctl_status *perf_failover_status(const struct ctl_status *list,
					      unsigned int count, uint32_t node);
void perf_failover_readers(struct perf_failover *f, const struct perf_pump *pump);
void perf_failover_sum(struct perf_failover *f, struct perf_pump *pump);
int perf_failover_dead(struct perf_pump *pump);

/* perf-watch.c */
int perf_watch(struct perf_failover *f, struct perf_place *place, struct ctl_net *events);

#endif /* SPINDLE_PERF_FAILOVER_H */
