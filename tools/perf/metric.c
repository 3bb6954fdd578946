// SPDX-License-Identifier: GPL-2.0-only
/* Figures from counters and times. See metric.h. */
#include <math.h>

#include "common/clock.h"
#include "common/util.h"
#include "metric.h"

/* The figures of a histogram. */
#define TIMES(_id, _name, _text)						\
	[PERF_M_##_id##_COUNT] = { _name "_count", PERF_U_NUM, NULL },		\
	[PERF_M_##_id##_MEAN] = { _name "_mean", PERF_U_US, _text ", mean" },	\
	[PERF_M_##_id##_P50] = { _name "_p50", PERF_U_US, "  median" },		\
	[PERF_M_##_id##_P90] = { _name "_p90", PERF_U_US, "  90 %" },		\
	[PERF_M_##_id##_P99] = { _name "_p99", PERF_U_US, "  99 %" },		\
	[PERF_M_##_id##_P999] = { _name "_p999", PERF_U_US, "  99.9 %" },	\
	[PERF_M_##_id##_MAX] = { _name "_max", PERF_U_US, "  longest" }

/* A figure that is a counter. */
#define COUNTS(_counter)	.counts = true, .counter = PERF_C_##_counter

const struct perf_metric perf_metrics[PERF_METRICS] = {
	[PERF_M_GOODPUT] = { "goodput", PERF_U_BYTE_RATE, "goodput of a member", "throughput" },
	[PERF_M_GOODPUT_SLOWEST] = { "goodput_slowest", PERF_U_BYTE_RATE, "of the slowest" },
	[PERF_M_RATE] = { "rate", PERF_U_RATE, "messages" },
	[PERF_M_SECONDS] = { "seconds", PERF_U_S, "time" },
	[PERF_M_SENT] = { "sent", PERF_U_NUM, "sent" },
	[PERF_M_DELIVERED] = { "delivered", PERF_U_NUM, "delivered" },
	[PERF_M_RAW_BANDWIDTH] = { "raw_bandwidth", PERF_U_BYTE_RATE,
				   "raw writes of the device" },
	[PERF_M_EFFICIENCY] = { "efficiency", PERF_U_SHARE, "efficiency" },
	[PERF_M_RAW_LATENCY] = { "raw_latency", PERF_U_US, "raw write, one way", "latency" },
	TIMES(OWN, "own", "own delivery"),
	TIMES(SLOWEST, "slowest", "last member here"),
	TIMES(LATE, "late", "of this, sent late"),
	[PERF_M_DURABLE_GOODPUT] = { "durable_goodput", PERF_U_BYTE_RATE, "goodput, durable",
				     "logs" },
	[PERF_M_DURABLE_RATE] = { "durable_rate", PERF_U_RATE, "messages, durable" },
	TIMES(DURABLE, "durable", "durable"),
	[PERF_M_MSGS_PER_WRITE] = { "messages_per_write", PERF_U_NUM, "messages per write",
				    "network" },
	[PERF_M_WRITES_PER_MSG] = { "writes_per_message", PERF_U_NUM, "writes per message" },
	[PERF_M_WRITES_PER_POST] = { "writes_per_post", PERF_U_NUM, "writes per post" },
	[PERF_M_WIRE_PER_BYTE] = { "wire_per_byte", PERF_U_NUM, "bytes written per byte" },
	[PERF_M_PACKETS_PER_MSG] = { "packets_per_message", PERF_U_NUM,
				     "packets per message" },
	[PERF_M_WRITES] = { "writes", PERF_U_NUM, "writes", COUNTS(WRITES) },
	[PERF_M_POSTS] = { "posts", PERF_U_NUM, NULL, COUNTS(POSTS) },
	[PERF_M_WIRE_BYTES] = { "wire_bytes", PERF_U_NUM, NULL, COUNTS(BYTES) },
	[PERF_M_PACKETS] = { "packets", PERF_U_NUM, NULL, COUNTS(PKTS_OUT) },
	[PERF_M_DOORBELLS] = { "doorbells", PERF_U_NUM, "doorbells", COUNTS(DOORBELLS) },
	[PERF_M_TORN] = { "torn", PERF_U_NUM, NULL, COUNTS(TORN) },
	[PERF_M_NULLS] = { "nulls", PERF_U_NUM, "nulls", COUNTS(NULLS) },
	[PERF_M_SILENT] = { "silent", PERF_U_NUM, "rounds given up in advance", COUNTS(SILENT) },
	[PERF_M_SEND_BATCH] = { "send_batch", PERF_U_NUM, "sent at a time", "engine" },
	[PERF_M_RECV_BATCH] = { "recv_batch", PERF_U_NUM, "received at a time" },
	[PERF_M_DLV_BATCH] = { "dlv_batch", PERF_U_NUM, "delivered at a time" },
	[PERF_M_PASSES] = { "passes", PERF_U_NUM, "passes", COUNTS(PASSES) },
	[PERF_M_BUSY_PASSES] = { "busy_passes", PERF_U_NUM, "with work", COUNTS(BUSY) },
	[PERF_M_VISITS] = { "visits", PERF_U_NUM, NULL, COUNTS(VISITS) },
	[PERF_M_ACTIVATIONS] = { "activations", PERF_U_NUM, NULL, COUNTS(ACTIVATIONS) },
	[PERF_M_ENGINE_BUSY] = { "engine_busy", PERF_U_SHARE, "busy" },
	[PERF_M_ENGINE_POST] = { "engine_post", PERF_U_SHARE, "of this, posting" },
	[PERF_M_SLEEPS] = { "sleeps", PERF_U_NUM, "sleeps", COUNTS(SLEEPS) },
	[PERF_M_KICKS] = { "kicks", PERF_U_NUM, "woken by processes", COUNTS(KICKS) },
	[PERF_M_BELLS] = { "bells", PERF_U_NUM, "woken by peers", COUNTS(BELLS) },
	[PERF_M_IOCTLS] = { "ioctls", PERF_U_NUM, "system calls to wake", "process",
			    COUNTS(IOCTLS) },
	[PERF_M_POLLS] = { "polls", PERF_U_NUM, "system calls to wait", COUNTS(POLLS) },
	[PERF_M_SYSCALLS_PER_MSG] = { "syscalls_per_message", PERF_U_NUM,
				      "system calls per message" },
	[PERF_M_SWITCHES] = { "switches", PERF_U_NUM, "context switches" },
	[PERF_M_CPU_USER] = { "cpu_user", PERF_U_S, "processor, user" },
	[PERF_M_CPU_SYSTEM] = { "cpu_system", PERF_U_S, "processor, system" },
};

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static double num(const struct perf_counts *c, enum perf_counter id)
{
	return c->has & 1ULL << id ? (double)c->num[id] : NAN;
}

/* Fill in count, mean, quantiles and maximum, in the order of the enum. */
static void put_times(double *v, const struct perf_hist *h)
{
	static const double q[] = { 0.5, 0.9, 0.99, 0.999, 1 };
	unsigned int i;

	*v++ = h->count;
	*v++ = h->count ? perf_us(perf_hist_mean(h)) : NAN;
	for (i = 0; i < CTL_ARRAY_SIZE(q); i++)
		*v++ = h->count ? perf_us(perf_hist_quantile(h, q[i])) : NAN;
}

static void put_counts(double *v, const struct perf_sample *s)
{
	const struct perf_counts *c = &s->counts;
	unsigned int i;

	for (i = 0; i < PERF_METRICS; i++)
		if (perf_metrics[i].counts)
			v[i] = num(c, perf_metrics[i].counter);
	v[PERF_M_MSGS_PER_WRITE] = ratio(s->copies, v[PERF_M_WRITES]);
	v[PERF_M_WRITES_PER_MSG] = ratio(v[PERF_M_WRITES], s->sent);
	v[PERF_M_WRITES_PER_POST] = ratio(v[PERF_M_WRITES], v[PERF_M_POSTS]);
	v[PERF_M_WIRE_PER_BYTE] = ratio(v[PERF_M_WIRE_BYTES], s->payload);
	v[PERF_M_PACKETS_PER_MSG] = ratio(v[PERF_M_PACKETS], s->sent);
	v[PERF_M_SEND_BATCH] = ratio(num(c, PERF_C_SENT), num(c, PERF_C_SEND_BATCHES));
	v[PERF_M_RECV_BATCH] = ratio(num(c, PERF_C_RECEIVED), num(c, PERF_C_RECV_BATCHES));
	v[PERF_M_DLV_BATCH] = ratio(num(c, PERF_C_DELIVERED), num(c, PERF_C_DLV_BATCHES));
	v[PERF_M_ENGINE_BUSY] = ratio(num(c, PERF_C_BUSY_NS), num(c, PERF_C_TIMED_NS));
	v[PERF_M_ENGINE_POST] = ratio(num(c, PERF_C_POST_NS), num(c, PERF_C_BUSY_NS));
	v[PERF_M_SYSCALLS_PER_MSG] = ratio(v[PERF_M_IOCTLS] + v[PERF_M_POLLS], s->sent);
	v[PERF_M_SWITCHES] = num(c, PERF_C_YIELDS) + num(c, PERF_C_PREEMPTED);
	v[PERF_M_CPU_USER] = num(c, PERF_C_USER_NS) / 1e9;
	v[PERF_M_CPU_SYSTEM] = num(c, PERF_C_SYS_NS) / 1e9;
}

/*
 * Add a repetition to a result. PERF_M_EFFICIENCY has the wire rate until perf_metric_raw() runs.
 */
void perf_metric_sample(struct perf_result *r, const struct perf_sample *s)
{
	double *v = r->v + (size_t)r->reps++ * PERF_METRICS;

	v[PERF_M_GOODPUT] = s->goodput;
	v[PERF_M_GOODPUT_SLOWEST] = s->slowest;
	v[PERF_M_RATE] = s->rate;
	v[PERF_M_SECONDS] = s->seconds;
	v[PERF_M_SENT] = s->sent;
	v[PERF_M_DELIVERED] = s->delivered;
	v[PERF_M_EFFICIENCY] = s->wire;
	put_times(&v[PERF_M_OWN_COUNT], &s->own);
	put_times(&v[PERF_M_SLOWEST_COUNT], &s->slow);
	put_times(&v[PERF_M_LATE_COUNT], &s->late);
	v[PERF_M_DURABLE_GOODPUT] = s->durable_goodput;
	v[PERF_M_DURABLE_RATE] = s->durable_rate;
	put_times(&v[PERF_M_DURABLE_COUNT], &s->durable);
	put_counts(v, s);
	perf_count_add(&r->counts, &s->counts);
}

/*
 * The mean of the device's samples before and after a repetition. Without such a pair, the mean of
 * all samples.
 */
static double raw_of(const struct perf_result *r, const double *sample, unsigned int rep)
{
	if (r->raw.samples == r->reps + 1)
		return perf_stat(&sample[rep], 2).mean;
	return perf_stat(sample, r->raw.samples).mean;
}

/* Fill in the figures that need the samples of the device. All repetitions have been added. */
void perf_metric_raw(struct perf_result *r)
{
	unsigned int i;

	for (i = 0; i < r->reps; i++) {
		double *v = r->v + (size_t)i * PERF_METRICS;

		v[PERF_M_RAW_BANDWIDTH] = raw_of(r, r->raw.bandwidth, i);
		v[PERF_M_RAW_LATENCY] = raw_of(r, r->raw.latency, i) / 1000;
		v[PERF_M_EFFICIENCY] = ratio(v[PERF_M_EFFICIENCY], v[PERF_M_RAW_BANDWIDTH]);
	}
}

/* Sum up a figure over all repetitions. */
struct perf_stat perf_metric_stat(const struct perf_result *r, enum perf_metric_id id)
{
	return perf_stat_of(&r->v[id], r->reps, PERF_METRICS);
}

static const char *scaled(double v, const char *unit)
{
	static const char *const prefix[] = { "", "k", "M", "G", "T" };
	unsigned int i = 0;

	while (v >= 9999.5 && i + 1 < CTL_ARRAY_SIZE(prefix)) {
		v /= 1000;
		i++;
	}
	return ctl_asprintf("%.4g %s%s", v, prefix[i], unit);
}

/* A figure as text for people. */
const char *perf_metric_text(enum perf_metric_id id, double v)
{
	if (isnan(v))
		return "-";
	switch (perf_metrics[id].unit) {
	case PERF_U_BYTE_RATE:
		return scaled(v, "B/s");
	case PERF_U_RATE:
		return scaled(v, "/s");
	case PERF_U_US:
		if (v >= 9999.5)
			return ctl_asprintf("%.4g ms", v / 1000);
		return ctl_asprintf("%.4g us", v);
	case PERF_U_S:
		return ctl_asprintf("%.4g s", v);
	case PERF_U_SHARE:
		return ctl_asprintf("%.1f %%", v * 100);
	default:
		return ctl_asprintf(v == floor(v) && v < 1e15 ? "%.0f" : "%.4g", v);
	}
}
