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
#include "stat.h"

/* The figures of a histogram of times. */
#define PERF_M_TIMES(_id)							\
	PERF_M_##_id##_COUNT, PERF_M_##_id##_MEAN, PERF_M_##_id##_P50,		\
	PERF_M_##_id##_P90, PERF_M_##_id##_P99, PERF_M_##_id##_P999,		\
	PERF_M_##_id##_MAX

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
	PERF_M_TIMES(OWN),
	PERF_M_TIMES(SLOWEST),
	PERF_M_TIMES(LATE),
	PERF_M_DURABLE_GOODPUT,
	PERF_M_DURABLE_RATE,
	PERF_M_TIMES(DURABLE),
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
 */
enum perf_unit {
	/** @PERF_U_NUM: a number */
	PERF_U_NUM,
	/** @PERF_U_BYTE_RATE: bytes per second */
	PERF_U_BYTE_RATE,
	/** @PERF_U_RATE: per second */
	PERF_U_RATE,
	/** @PERF_U_US: microseconds */
	PERF_U_US,
	/** @PERF_U_S: seconds */
	PERF_U_S,
	/** @PERF_U_SHARE: 1 is everything */
	PERF_U_SHARE
};

/**
 * struct perf_metric - a figure
 */
struct perf_metric {
	/** @name: name in JSON and CSV */
	const char *name;
	/** @unit: how the figure is shown */
	enum perf_unit unit;
	/** @text: text for people; NULL: not shown to them */
	const char *text;
	/** @section: heading above the figure, for the first one of a section */
	const char *section;
	/** @counts: the figure is the number of @counter */
	bool counts;
	/** @counter: enum perf_counter */
	enum perf_counter counter;
};

extern const struct perf_metric perf_metrics[PERF_METRICS];

/**
 * struct perf_sample - one repetition
 */
struct perf_sample {
	/**
	 * @goodput: bytes per second that were delivered to a member, the mean of all members of
	 * this process
	 */
	double goodput;
	/** @slowest: the same of the member to which the fewest were delivered */
	double slowest;
	/** @rate: messages per second that were delivered to a member */
	double rate;
	/** @seconds: length of the repetition */
	double seconds;
	/** @sent: messages that members of this process sent */
	uint64_t sent;
	/** @delivered: deliveries at these members */
	uint64_t delivered;
	/** @copies: messages times the other members that have to get them */
	uint64_t copies;
	/** @payload: bytes of these copies */
	uint64_t payload;
	/** @wire: bytes per second that the nodes of this process have to write for the goodput */
	double wire;
	/** @own: times from sending to own delivery, ticks */
	struct perf_hist own;
	/** @slow: times until the last member of this process has the message, ticks */
	struct perf_hist slow;
	/** @late: times from when messages were due until they were sent, ticks */
	struct perf_hist late;
	/**
	 * @durable_goodput: bytes per second that became durable, as the senders of this process
	 * have seen it; NaN without logs
	 */
	double durable_goodput;
	/** @durable_rate: the same in messages per second */
	double durable_rate;
	/** @durable: times from sending until the message was durable, ticks */
	struct perf_hist durable;
	/** @counts: counters of the repetition */
	struct perf_counts counts;
};

/**
 * struct perf_raw - samples of the device without Spindle
 *
 * A value that could not be measured is NaN.
 */
struct perf_raw {
	/** @samples: number of samples */
	unsigned int samples;
	/** @bandwidth: bytes that a node writes per second, to all other members together */
	double *bandwidth;
	/** @latency: nanoseconds from one member to another, half of a round trip */
	double *latency;
};

/**
 * struct perf_result - a configuration that was measured
 */
struct perf_result {
	/**
	 * @conf: configuration; for nodes and subgroups that existed before, their properties as
	 * found
	 */
	struct perf_conf conf;
	/** @members: members of a subgroup */
	unsigned int members;
	/** @senders: members that sent */
	unsigned int senders;
	/** @local: members in this process */
	unsigned int local;
	/** @reps: repetitions */
	unsigned int reps;
	/** @v: PERF_METRICS figures of each repetition; NaN: not known */
	double *v;
	/** @counts: sum of all repetitions */
	struct perf_counts counts;
	/**
	 * @raw: samples of the device, before and after each repetition, or before the first and
	 * after the last one
	 */
	struct perf_raw raw;
	/** @order: hash of the order in the last repetition, of the first subgroup */
	uint64_t order;
};

void perf_metric_sample(struct perf_result *r, const struct perf_sample *s);
void perf_metric_raw(struct perf_result *r);
struct perf_stat perf_metric_stat(const struct perf_result *r, enum perf_metric_id id);
const char *perf_metric_text(enum perf_metric_id id, double v);

#endif /* SPINDLE_PERF_METRIC_H */
