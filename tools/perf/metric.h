/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures of a measurement. A table has the name of each figure in JSON and CSV, and its text
 * for people.
 */
#ifndef SPINDLE_PERF_METRIC_H
#define SPINDLE_PERF_METRIC_H

#include "conf.h"
#include "count.h"
#include "hist.h"
#include "raw.h"
#include "stat.h"

/* The figures. The index into perf_metrics, where the figures are explained. */
enum perf_metric_id {
	PERF_M_GOODPUT,
	PERF_M_GOODPUT_SLOWEST,
	PERF_M_RATE,
	PERF_M_SECONDS,
	PERF_M_SENT,
	PERF_M_DELIVERED,
	PERF_M_RAW_BANDWIDTH,
	PERF_M_EFFICIENCY,
	PERF_M_RAW_LATENCY,
	PERF_M_OWN_COUNT,
	PERF_M_OWN_MEAN,
	PERF_M_OWN_P50,
	PERF_M_OWN_P90,
	PERF_M_OWN_P99,
	PERF_M_OWN_P999,
	PERF_M_OWN_MAX,
	PERF_M_SLOWEST_COUNT,
	PERF_M_SLOWEST_MEAN,
	PERF_M_SLOWEST_P50,
	PERF_M_SLOWEST_P90,
	PERF_M_SLOWEST_P99,
	PERF_M_SLOWEST_P999,
	PERF_M_SLOWEST_MAX,
	PERF_M_LATE_COUNT,
	PERF_M_LATE_MEAN,
	PERF_M_LATE_P50,
	PERF_M_LATE_P90,
	PERF_M_LATE_P99,
	PERF_M_LATE_P999,
	PERF_M_LATE_MAX,
	PERF_M_MSGS_PER_WRITE,
	PERF_M_WRITES_PER_MSG,
	PERF_M_WRITES_PER_POST,
	PERF_M_WIRE_PER_BYTE,
	PERF_M_PACKETS_PER_MSG,
	PERF_M_WRITES,
	PERF_M_POSTS,
	PERF_M_WIRE_BYTES,
	PERF_M_PACKETS,
	PERF_M_DOORBELLS,
	PERF_M_TORN,
	PERF_M_NULLS,
	PERF_M_SILENT,
	PERF_M_SEND_BATCH,
	PERF_M_RECV_BATCH,
	PERF_M_DLV_BATCH,
	PERF_M_PASSES,
	PERF_M_BUSY_PASSES,
	PERF_M_VISITS,
	PERF_M_ACTIVATIONS,
	PERF_M_ENGINE_BUSY,
	PERF_M_ENGINE_POST,
	PERF_M_SLEEPS,
	PERF_M_KICKS,
	PERF_M_BELLS,
	PERF_M_IOCTLS,
	PERF_M_POLLS,
	PERF_M_SYSCALLS_PER_MSG,
	PERF_M_SWITCHES,
	PERF_M_CPU_USER,
	PERF_M_CPU_SYSTEM,
	PERF_METRICS
};

/**
 * enum perf_unit - how a figure is shown to people
 * @PERF_U_NUM: a number
 * @PERF_U_BYTES: bytes
 * @PERF_U_BYTE_RATE: bytes per second
 * @PERF_U_RATE: per second
 * @PERF_U_US: microseconds
 * @PERF_U_S: seconds
 * @PERF_U_SHARE: 1 is everything
 */
enum perf_unit {
	PERF_U_NUM,
	PERF_U_BYTES,
	PERF_U_BYTE_RATE,
	PERF_U_RATE,
	PERF_U_US,
	PERF_U_S,
	PERF_U_SHARE
};

/**
 * struct perf_metric - a figure
 * @name: name in JSON and CSV
 * @unit: how the figure is shown
 * @text: text for people; NULL: not shown to them
 * @section: heading above the figure, for the first one of a section
 */
struct perf_metric {
	const char *name;
	enum perf_unit unit;
	const char *text;
	const char *section;
};

extern const struct perf_metric perf_metrics[PERF_METRICS];

/**
 * struct perf_sample - one repetition
 * @goodput: bytes per second that were delivered to a member, the mean of all members of this
 *	process
 * @slowest: the same of the member to which the fewest were delivered
 * @rate: messages per second that were delivered to a member
 * @seconds: length of the repetition
 * @sent: messages that members of this process sent
 * @delivered: deliveries at these members
 * @copies: messages times the other members that have to get them
 * @payload: bytes of these copies
 * @wire: bytes per second that the nodes of this process have to write for the goodput
 * @own: times from sending to own delivery, ticks
 * @slow: times until the last member of this process has the message, ticks
 * @late: times from when messages were due until they were sent, ticks
 * @counts: counters of the repetition
 */
struct perf_sample {
	double goodput;
	double slowest;
	double rate;
	double seconds;
	uint64_t sent;
	uint64_t delivered;
	uint64_t copies;
	uint64_t payload;
	double wire;
	struct perf_hist own;
	struct perf_hist slow;
	struct perf_hist late;
	struct perf_counts counts;
};

/**
 * struct perf_result - a configuration that was measured
 * @conf: configuration; for nodes and subgroups that existed before, their properties as found
 * @members: members of a subgroup
 * @senders: members that sent
 * @local: members in this process
 * @reps: repetitions
 * @v: PERF_METRICS figures of each repetition; NaN: not known
 * @counts: sum of all repetitions
 * @raw: samples of the device, before and after each repetition, or before the first and after the
 *	last one
 * @order: hash of the order in the last repetition, of the first subgroup
 */
struct perf_result {
	struct perf_conf conf;
	unsigned int members;
	unsigned int senders;
	unsigned int local;
	unsigned int reps;
	double *v;
	struct perf_counts counts;
	struct perf_raw raw;
	uint64_t order;
};

void perf_metric_sample(struct perf_result *r, const struct perf_sample *s);
void perf_metric_raw(struct perf_result *r);
void perf_metric_free(struct perf_result *r);
struct perf_stat perf_metric_stat(const struct perf_result *r, enum perf_metric_id id);
const char *perf_metric_text(enum perf_metric_id id, double v);

#endif /* SPINDLE_PERF_METRIC_H */
