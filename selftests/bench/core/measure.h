/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measurements: repetitions of one configuration, and their results.
 */
#ifndef SPINDLE_BENCH_MEASURE_H
#define SPINDLE_BENCH_MEASURE_H

#include "cluster.h"
#include "counters.h"
#include "limits.h"
#include "util.h"

/**
 * struct effort - the effort of a measurement
 * @reps: repetitions
 * @rep_ns: how long each of them takes, with copies and processes, at least
 * @counters: there are counters of the processor
 */
struct effort {
	unsigned int reps;
	u64 rep_ns;
	bool counters;
};

/**
 * struct traffic - the cost of messages; nanoseconds, medians
 * @batch: messages per sender and pass, as measured
 * @engine: passes and pushes, per message at a member
 * @pass: a pass of a member without its pushes
 * @send: send stage, per message sent
 * @receive: receive stage, per message received from another member
 * @deliver: deliver stage, per message delivered at a member
 * @release: release stage and own block, per message delivered at a member
 * @push: per message and member that it goes to
 * @wire: copies, per message and member that it goes to
 * @limits: of the same number of bytes, in the same batches
 * @counted: @count is valid
 * @count: counters of the processor, as @engine
 * @disturbed: repetitions in which another thread had the processor
 */
struct traffic {
	double batch;
	struct spread engine;
	double pass;
	double send;
	double receive;
	double deliver;
	double release;
	double push;
	double wire;
	struct limits limits;
	bool counted;
	double count[COUNTERS];
	unsigned int disturbed;
};

const char *measure_traffic(const struct cluster_conf *conf, const struct effort *effort,
			    struct traffic *t);
struct spread measure_repeat(double (*once)(void *ctx, const struct effort *effort), void *ctx,
			     const struct effort *effort);
struct spread measure_idle(const struct cluster_conf *conf, const struct effort *effort);

#endif /* SPINDLE_BENCH_MEASURE_H */
