/* SPDX-License-Identifier: GPL-2.0-only */
/* spindle-perf failover: the cost of a change of a live view for the nodes that stay. */
#ifndef SPINDLE_PERF_FAILOVER_FAILOVER_H
#define SPINDLE_PERF_FAILOVER_FAILOVER_H

#include "common/status.h"
#include "report.h"

int perf_failover_main(int argc, char **argv);

/* Functions for both ways of measuring. */
void perf_failover_readers(struct perf_failover *f, const struct perf_pump *pump);
void perf_failover_sum(struct perf_failover *f, struct perf_pump *pump);
int perf_failover_dead(struct perf_pump *pump);
int perf_failover_nap(struct perf_pump *pump);

/* watch.c */
int perf_watch(struct perf_failover *f, struct perf_place *place, struct ctl_net *events);

#endif /* SPINDLE_PERF_FAILOVER_FAILOVER_H */
