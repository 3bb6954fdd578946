// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of spindle-perf that need no kernel: words, limits, histograms, statistics, and the output
 * of results. TAP.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <json-c/json_pointer.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle_rdmc.h>

#include "common/clock.h"
#include "common/net.h"
#include "common/util.h"
#include "common/wire.h"
#include "perf/durable.h"
#include "perf/failover/change.h"
#include "perf/failover/failover.h"
#include "perf/hist.h"
#include "perf/msg.h"
#include "perf/opts.h"
#include "perf/out.h"
#include "perf/rdmc/rdmc.h"
#include "perf/stat.h"
#include "tap.h"

/* The rounding error of a few operations. */
#define EPSILON	0.000000001

static bool near(double a, double b)
{
	return fabs(a - b) <= EPSILON * (fabs(a) + fabs(b));
}

/* ---- statistics -------------------------------------------------------- */

static void test_stat(void)
{
	static const double odd[] = { 5, 1, 4, 2, 3 }, even[] = { 4, 1, NAN, 3, 2 };
	static const double eight[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct perf_stat s;

	s = perf_stat(odd, 5);
	ok(s.count == 5 && s.median == 3 && s.min == 1 && s.max == 5 && s.mean == 3,
	   "the median of an odd number is the middle one");
	s = perf_stat(even, 5);
	ok(s.count == 4 && s.median == 2.5 && s.mean == 2.5,
	   "the median of an even number is between two values; an unknown value does not count");
	s = perf_stat(eight, 8);
	ok(near(s.dev, sqrt(32.0 / 7)), "the deviation is that of a sample");
	s = perf_stat(odd, 1);
	ok(s.median == 5 && s.dev == 0, "one value does not deviate");
	s = perf_stat(odd, 0);
	ok(!s.count && isnan(s.median) && isnan(s.min) && isnan(s.dev),
	   "an empty sample has no figures");
}

/* ---- histogram --------------------------------------------------------- */

static struct perf_hist hist, other;

static bool quantile_is(double q, double want)
{
	double have = perf_hist_quantile(&hist, q);

	return have >= want && have <= want * 1.001;
}

static void test_index(void)
{
	unsigned int i, last = 0, index;
	bool grows = true;
	uint64_t v;

	for (v = 0; v < 1 << 20; v++) {
		index = perf_hist_index(v);
		grows &= index == last || index == last + 1;
		last = index;
	}
	for (i = 20; i < 64; i++) {
		grows &= perf_hist_index(1ULL << i) == perf_hist_index((1ULL << i) - 1) + 1;
		last = perf_hist_index(1ULL << i);
	}
	ok(grows, "larger values have larger entries, without gaps");
	ok(perf_hist_index(UINT64_MAX) == PERF_HIST_ENTRIES - 1, "the largest value has the last");
	ok(perf_hist_index(PERF_HIST_FINE - 1) == PERF_HIST_FINE - 1,
	   "small values have entries of their own");
}

static void test_hist(void)
{
	uint64_t v;

	perf_hist_clear(&hist);
	ok(!perf_hist_quantile(&hist, 0.5) && !perf_hist_mean(&hist), "an empty histogram");
	perf_hist_add(&hist, 1234567);
	ok(perf_hist_quantile(&hist, 0) == 1234567 && perf_hist_quantile(&hist, 1) == 1234567,
	   "a single value is every quantile, exactly");
	perf_hist_clear(&hist);
	for (v = 1; v <= 1000000; v++)
		perf_hist_add(&hist, v);
	ok(hist.count == 1000000 && hist.min == 1 && hist.max == 1000000, "a million values");
	ok(near(perf_hist_mean(&hist), 500000.5), "the mean of a histogram is exact");
	ok(quantile_is(0.5, 500000) && quantile_is(0.9, 900000) && quantile_is(0.99, 990000) &&
	   quantile_is(0.999, 999000) && quantile_is(0.0001, 100),
	   "the quantiles of a histogram are right to a thousandth");
	ok(perf_hist_quantile(&hist, 1) == 1000000, "no quantile is above the largest value");
	perf_hist_clear(&other);
	perf_hist_merge(&hist, &other);
	ok(hist.min == 1, "an empty histogram adds nothing");
	for (v = 0; v < 3000000; v++)
		perf_hist_add(&other, 1ULL << 40);
	perf_hist_merge(&other, &hist);
	ok(other.count == 4000000 && other.min == 1 && other.max == 1ULL << 40,
	   "two histograms are added");
	hist = other;
	ok(quantile_is(0.25, 1000000) && quantile_is(0.26, 1ULL << 40),
	   "the entries of two histograms are added");
}

/* ---- clock and bytes --------------------------------------------------- */

static void test_time(void)
{
	uint64_t a, b;

	perf_clock_init();
	a = perf_now();
	usleep(20000);
	b = perf_now();
	ok(perf_ns(b - a) >= 19e6, "ticks last as long as time does");
	perf_clock_refine();
	ok(perf_clock.drift < 0.1, "two calibrations say much the same");
	ok(!perf_since(5, 9) && perf_since(9, 5) == 4, "no time is negative");
	ok(near(perf_ns(perf_ticks(1e9)), 1e9) || fabs(perf_ns(perf_ticks(1e9)) - 1e9) < 10,
	   "nanoseconds become ticks and the same nanoseconds");
}

static void test_bytes(void)
{
	unsigned char a[64];
	bool all = true;
	uint32_t len;

	for (len = 0; len < sizeof(a); len++) {
		memset(a, 0, sizeof(a));
		perf_fill(a, len, perf_key(1, 2, len));
		all &= perf_filled(a, len, perf_key(1, 2, len));
		all &= len + 1 == sizeof(a) || !a[len];
		if (len) {
			a[len - 1] ^= 1;
			all &= !perf_filled(a, len, perf_key(1, 2, len));
		}
	}
	ok(all, "bytes follow from a key, and a wrong one is seen");
	ok(perf_key(1, 2, 3) != perf_key(1, 2, 4) && perf_key(1, 2, 3) != perf_key(2, 1, 3),
	   "keys differ");
}

/* ---- words ------------------------------------------------------------- */

static const char *set(struct perf_conf *c, const char *name, const char *text)
{
	return ctl_opt_take(perf_param_find(name), c, text);
}

static void test_conf(void)
{
	struct perf_conf c, d;
	unsigned int i;
	bool same = true;

	perf_conf_default(&c);
	for (i = 0; i < perf_param_count; i++) {
		const struct ctl_opt *p = &perf_params[i];

		d = c;
		same &= !ctl_opt_take(p, &d, perf_conf_text(&c, p));
		same &= !strcmp(perf_conf_text(&d, p), perf_conf_text(&c, p));
	}
	ok(same, "all defaults can be read as they are written");
	ok(!set(&c, "size", "64K") && c.size == 65536, "K follows bytes");
	ok(set(&c, "count", "64K"), "K does not follow a count");
	ok(!set(&c, "seconds", "1.25") && c.millis == 1250, "1.25 seconds");
	ok(!set(&c, "seconds", "0.0005") && c.millis == 0, "half a millisecond becomes 0");
	ok(set(&c, "seconds", "1.") && set(&c, "seconds", ".x") && set(&c, "seconds", "1.2.3") &&
	   set(&c, "seconds", "-1") && set(&c, "seconds", "100000"), "texts that are no seconds");
	ok(!set(&c, "senders", "half") && perf_some(c.senders, 5) == 3 &&
	   perf_some(c.senders, 4) == 2, "half of five are three");
	ok(!set(&c, "senders", "one") && perf_some(c.senders, 5) == 1, "the word one is 1");
	ok(!set(&c, "senders", "7") && perf_some(c.senders, 5) == 5, "a number above all is all");
	ok(!set(&c, "delay", "silent") && c.delay == PERF_SILENT &&
	   !strcmp(perf_conf_text(&c, perf_param_find("delay")), "silent"), "a silent sender");
	ok(set(&c, "delay", "half") && set(&c, "senders", "long") && set(&c, "nodes", "all"),
	   "words have their places");
	ok(!set(&c, "mode", "unordered") && set(&c, "mode", "total"), "words of the contract");
	ok(set(&c, "nodes", "0") && set(&c, "nodes", "65") && set(&c, "nodes", "") &&
	   set(&c, "nodes", " 1"), "numbers out of range, or none");
	ok(strstr(set(&c, "nodes", "65"), "from 1 to 64"), "the limit is named");
	ok(!perf_param_find("nodez"), "no such parameter");
}

static void test_tune(void)
{
	struct ctl_req *req = ctl_req_new(NULL, SPINDLE_CMD_SUBGROUP_SET, 0, "tune");
	struct nlattr *a[SPINDLE_A_MAX + 1];
	struct ctl_val val[CTL_TUNE_VALS] = { 0 };
	struct perf_tune t, back;

	ok(!perf_tune_parse("", &t) && perf_tune_empty(&t) && !perf_tune_parse("default", &t),
	   "nothing is tuned");
	ok(!perf_tune_parse("all=off,nulls=on", &t) && t.selector == SPINDLE_SW_ALL &&
	   t.switches == SPINDLE_SW_NULLS, "all off but one");
	ok(!perf_tune_parse("nulls=on,all=off", &t) && !t.switches, "the last word counts");
	ok(perf_tune_parse("nulls", &t) && perf_tune_parse("nulls=2", &t) &&
	   perf_tune_parse("foo=on", &t) && perf_tune_parse("send-budget=x", &t) &&
	   perf_tune_parse("nulls=on,,", &t), "texts that are no tuning");
	perf_tune_parse("all=on,tracking=off,silence=7,stall-ms=9,send-budget=1,recv-budget=2,"
			"dlv-budget=3,large=8K", &t);
	perf_tune_put(req, &t);
	ok(!req->full && genlmsg_parse(nlmsg_hdr(req->msg), 0, a, SPINDLE_A_MAX, NULL) >= 0 &&
	   a[SPINDLE_A_TUNE], "the tuning goes into a request");
	ctl_tune_get(val, a[SPINDLE_A_TUNE]);
	perf_tune_get(val, &back);
	ok(!memcmp(&t, &back, sizeof(t)), "the tuning comes back");
	memset(val, 0, sizeof(val));
	ctl_tune_get(val, NULL);
	perf_tune_get(val, &back);
	ok(perf_tune_empty(&back), "an empty nest is an empty tuning");
}

/* ---- what is durable --------------------------------------------------- */

/* A thread waits with a queue without logs, which is an error at once. */
static struct perf_durable *durable_begin(struct spindle_queue *q)
{
	struct perf_durable *d;

	memset(q, 0, sizeof(*q));
	d = perf_durable_begin(q);
	perf_durable_clear(d);
	return d;
}

static void test_durable(void)
{
	struct spindle_queue q;
	struct perf_durable *d = durable_begin(&q);
	uint64_t i;

	perf_durable_start(d, 0);
	for (i = 0; i < 5; i++)
		perf_durable_note(d, 10 + i, i < 3 ? 100 * i + 1 : 0, i != 1);
	ok(!perf_durable_left(d), "a batch is known when it is given");
	perf_durable_give(d);
	ok(perf_durable_left(d) == 5, "no message that was delivered is durable before it is said");
	perf_durable_take(d, 10, 1000);
	ok(perf_durable_left(d) == 5 && !d->msgs, "a position is not below itself");
	perf_durable_take(d, 13, 1000);
	ok(perf_durable_left(d) == 2 && d->msgs == 2 && d->last == 1000,
	   "messages below the position are durable, and those that count are counted");
	ok(d->hist.count == 3 && d->hist.min == 799 && d->hist.max == 999,
	   "messages with a time have the time until then");
	perf_durable_take(d, 100, 2000);
	ok(!perf_durable_left(d) && d->msgs == 4 && d->hist.count == 3 && d->last == 2000,
	   "those of others are counted, and have no time");
	perf_durable_end(d);
}

static void test_durable_time(void)
{
	struct spindle_queue q;
	struct perf_durable *d = durable_begin(&q);
	uint64_t i;

	perf_durable_start(d, 5000);
	perf_durable_note(d, 1, 10, true);
	perf_durable_note(d, 2, 10, true);
	perf_durable_give(d);
	perf_durable_take(d, 2, 4999);
	perf_durable_take(d, 3, 5000);
	ok(d->msgs == 1 && d->last == 4999 && d->hist.count == 2 && !perf_durable_left(d),
	   "what is durable too late is measured, and does not count");
	perf_durable_clear(d);
	ok(!d->msgs && !d->hist.count && !d->stop, "a repetition begins with nothing");
	/* More than a ring holds, while its first entries have moved on. */
	for (i = 0; i < 5000; i++) {
		perf_durable_note(d, i, 0, true);
		perf_durable_give(d);
		if (i < 1000)
			perf_durable_take(d, i, 1);
	}
	perf_durable_take(d, 4999, 1);
	ok(perf_durable_left(d) == 1 && d->msgs == 4999, "a ring that is full grows, in order");
	perf_durable_end(d);
	perf_durable_end(NULL);
}

static void test_durable_error(void)
{
	struct spindle_queue q;
	struct perf_durable *d = durable_begin(&q);
	int tries;

	ok(!perf_durable_error(d), "a thread without a message waits");
	perf_durable_note(d, 0, 0, true);
	perf_durable_give(d);
	for (tries = 0; tries < 10000 && !perf_durable_error(d); tries++)
		usleep(1000);
	ok(perf_durable_error(d) == -EOPNOTSUPP, "a subgroup without logs is an error");
	perf_durable_end(d);
}

/* ---- limits ------------------------------------------------------------ */

static const char *limit(const char *words)
{
	char *copy = ctl_strdup(words), *word, *value;
	const char *err = NULL;
	struct perf_conf c;

	perf_conf_default(&c);
	while (!err && (word = strsep(&copy, " "))) {
		value = strchr(word, ':');
		*value++ = '\0';
		err = set(&c, word, value);
	}
	if (!err)
		err = perf_conf_settle(&c);
	return err ? err : perf_limit(&c, true);
}

static void test_limit(void)
{
	struct perf_conf c;
	uint64_t two, four;

	ok(!limit("nodes:2"), "a sane configuration");
	ok(limit("count:1 seconds:1"), "a repetition has one end");
	ok(limit("size:2000 max-msg:1000") && limit("ring:5000") && limit("ring:2K"),
	   "messages fit slots, rings are powers of two");
	ok(limit("max-msg:64K size:100 ring:4096"), "slots fit rings");
	ok(limit("nodes:3 senders:4") && limit("subgroups:2 active:3"), "no more than there are");
	ok(limit("rate:5 latency:1") && limit("rate:5 delay:5"), "a sender has one pace");
	ok(limit("delay:long") && limit("delay:long delay-senders:4") &&
	   limit("senders:one delay:long delay-senders:half") &&
	   !limit("delay:long delay-senders:3"), "at least one sender has to send");
	ok(limit("tune:nulls=off seconds:1") && !limit("tune:nulls=off count:10") &&
	   !limit("tune:nulls=off seconds:1 mode:unordered") &&
	   limit("tune:all=off delay:long delay-senders:one"), "without nulls all wait for all");
	ok(!strcmp(limit("mode:table") ?: "", "mode table: a table has no messages to measure") &&
	   !strcmp(limit("mode:table-read") ?: "",
		   "mode table-read: a table has no messages to measure"),
	   "no table is measured");
	ok(!limit("size:1"), "a message may be shorter than a head");
	ok(limit("log:1 mode:unordered") && !limit("log:1") && !limit("log:0 mode:unordered"),
	   "only an order can be logged");
	ok(strstr(limit("nodes:64 subgroups:64 window:65536 ring:1G max-msg:1M") ?: "",
		  "MiB are available"), "memory is looked at before");
	perf_conf_default(&c);
	perf_conf_settle(&c);
	set(&c, "nodes", "2");
	two = perf_limit_memory(&c);
	set(&c, "nodes", "4");
	four = perf_limit_memory(&c);
	ok(perf_limit_ring(&c) == 1 << 20, "the ring is what the kernel takes");
	ok(two > 4 << 20 && four > 16 << 20 && four > 3 * two && four < 6 * two,
	   "memory grows with the square of the nodes");
	set(&c, "log", "1");
	ok(perf_limit_memory(&c) == four + 4 * (16 << 20), "each node with a log has a history");
	ok(perf_limit_available() > 1 << 20, "there is memory");
	c.count = 0;
	c.millis = 500;
	c.rate = 100;
	ok(perf_conf_quota(&c) == 50, "the number of messages follows from time and rate");
	c.rate = 1;
	ok(perf_conf_quota(&c) == 1, "at least one message is sent");
	c.rate = 0;
	ok(perf_conf_quota(&c) == 0, "without a rate the time decides");
}

/* ---- command lines ----------------------------------------------------- */

static int parse(struct perf_opts *o, const char *words)
{
	char *copy = ctl_strdup(words), *argv[32] = { "spindle-perf" };
	int argc = 1;

	while ((argv[argc] = strsep(&copy, " ")))
		argc++;
	optind = 0;
	return perf_opts_parse(o, argc, argv);
}

static void test_opts(void)
{
	struct perf_conf c;
	struct perf_opts o;

	ok(!parse(&o, "--setup -n 8 --senders=half -S 1K -L -r 5 --json=/tmp/x --no-raw") &&
	   o.where.setup && o.conf.nodes == 8 && o.conf.senders == PERF_HALF &&
	   o.conf.size == 1024 && o.conf.closed && o.how.reps == 5 && o.json &&
	   !strcmp(o.json_file, "/tmp/x") && !o.how.raw, "options");
	ok(perf_opts_confs(&o) == 1, "one configuration");
	ok(!parse(&o, "--setup -x nodes=2,4 --sweep tune=default;all=off,nulls=on -x size=1,2,3"),
	   "sweeps");
	ok(perf_opts_confs(&o) == 12, "all combinations");
	ok(!perf_opts_conf(&o, 0, &c) && c.nodes == 2 && c.size == 1 &&
	   perf_tune_empty(&c.tune), "the first one");
	ok(!perf_opts_conf(&o, 4, &c) && c.nodes == 2 && c.size == 2 &&
	   c.tune.switches == SPINDLE_SW_NULLS, "a configuration in between");
	ok(!perf_opts_conf(&o, 11, &c) && c.nodes == 4 && c.size == 3, "the last one");
	ok(c.max_msg == PERF_HEAD, "what follows from a value follows from each");
}

static bool json_is(struct json_object *doc, const char *at, const char *want)
{
	struct json_object *val;

	if (json_pointer_get(doc, at, &val))
		return false;
	return !strcmp(val ? json_object_get_string(val) : "null", want);
}

/* ---- failover ---------------------------------------------------------- */

static int parse_failover(struct perf_fopts *o, const char *words)
{
	char *copy = ctl_strdup(words), *argv[32] = { "failover" };
	int argc = 1;

	while ((argv[argc] = strsep(&copy, " ")))
		argc++;
	optind = 0;
	return perf_fopts_parse(o, argc, argv);
}

static void test_failover_opts(void)
{
	struct perf_fopts o;
	unsigned int kinds;

	ok(!perf_moves_parse("join,del", &kinds) &&
	   kinds == (1U << PERF_MOVE_JOIN | 1U << PERF_MOVE_DEL) &&
	   !perf_moves_parse("all", &kinds) && kinds == PERF_MOVE_ALL &&
	   perf_moves_parse("join,", &kinds) && perf_moves_parse("", &kinds), "kinds of changes");
	ok(!parse_failover(&o, "-n 5 --kind=leave -r 2 -R 100 --size 10 --json=/tmp/x") &&
	   o.nodes == 5 && o.kinds == 1U << PERF_MOVE_LEAVE && o.reps == 2 &&
	   o.load.rate == 100 && o.load.size == 10 && !o.watch && o.json &&
	   !strcmp(o.json_file, "/tmp/x") && o.window == SPINDLE_DEF_WINDOW,
	   "options of failover");
	ok(!parse_failover(&o, "--wait 3 --node 7 --subgroup 0 -R 0 -j") && o.watch == 3 &&
	   o.node == 7 && !o.subgroup && !o.load.rate && o.json && !o.json_file,
	   "options to watch a node");
}

static int parse_rdmc(struct perf_ropts *o, const char *words)
{
	char *copy = ctl_strdup(words), *argv[32] = { "rdmc" };
	int argc = 1;

	while ((argv[argc] = strsep(&copy, " ")))
		argc++;
	optind = 0;
	return perf_ropts_parse(o, argc, argv);
}

static void test_rdmc_opts(void)
{
	struct perf_ropts o;

	ok(!parse_rdmc(&o, "-n 5 -a chain -S 1M -b 64K -s half -c 7 -q 3 --idle-us=0 -r 2") &&
	   o.members == 5 && o.nodes == 5 && o.algorithm == SPINDLE_RDMC_CHAIN &&
	   o.size == 1 << 20 && o.block == 65536 && o.senders == 3 && o.count == 7 &&
	   o.queue == 3 && !o.idle_us && o.reps == 2 && !o.mix, "options of rdmc");
	ok(!parse_rdmc(&o, "--mix 9 --sigma 50 -c 40 --addr 10.0.0.250 --spread") && o.mix == 9 &&
	   o.nodes == 16 && o.sigma == 50 && o.count == 40 && o.where.spread, "a mix");
}

static void test_rdmc_figures(void)
{
	/* The root and two receivers, of which the second one is last. */
	struct perf_rdmc_object obj[3] = {
		{ .start = 1000, .seen = { { 9000, 2000, 6000 }, { 8000, 3000, 4000 },
					   { 11000, 4000, 1000 } } },
		{ .start = 1000, .seen = { { 0 }, { 2000 }, { 3000 } } },
		{ .start = 1000, .seen = { { 0 }, { 90000 }, { 101000 } } },
	};
	double v[PERF_R_FIGURES];

	perf_rdmc_figure(v, obj, 1, 3);
	ok(v[PERF_R_TIME] == 10 && v[PERF_R_SKEW] == 3 && v[PERF_R_SETUP] == 1 &&
	   v[PERF_R_BUSY] == 6 && v[PERF_R_WAIT] == 1 && v[PERF_R_TAIL] == 2 &&
	   v[PERF_R_OUTSIDE] == 0.2, "an object, as its root saw it");
	ok(v[PERF_R_FAR_FIRST] == 3 && v[PERF_R_FAR_BUSY] == 1 && v[PERF_R_FAR_WAIT] == 6,
	   "  and the last receiver");
	perf_rdmc_figure(v, obj, 3, 3);
	ok(v[PERF_R_TIME] == 10 && v[PERF_R_TIME_P90] == 100 && v[PERF_R_TIME_P99] == 100 &&
	   v[PERF_R_SKEW] == 3, "the median of three objects, and the slowest");
}

static void test_gap(void)
{
	struct perf_gap_log log = { 0 };
	struct perf_gap gap;
	unsigned int i;

	/*
	 * Gaps before, into, within, out of and after the first change; and one around all of the
	 * second.
	 */
	perf_gap_note(&log, 90, 80);
	perf_gap_note(&log, 110, 20);
	perf_gap_note(&log, 150, 40);
	perf_gap_note(&log, 230, 60);
	perf_gap_note(&log, 900, 500);
	perf_hist_clear(&hist);
	gap = perf_gap_sort(&log, 100, 200, &hist);
	ok(gap.count == 3 && gap.longest == 60, "gaps around a change, also those half in it");
	ok(hist.count == 2 && hist.min == 80 && hist.max == 500,
	   "gaps before and after a change are quiet");
	gap = perf_gap_sort(&log, 500, 600, &hist);
	ok(gap.count == 1 && gap.longest == 500, "a gap may be longer than the change");
	perf_hist_clear(&hist);
	gap = perf_gap_sort(&log, 1, 0, &hist);
	ok(!gap.count && !gap.longest && hist.count == 5, "without a change, all are quiet");
	perf_gap_free(&log);
	for (i = 0; i < 5000; i++)
		perf_gap_note(&log, i, 1);
	ok(log.notes == 5000 && !log.lost && log.note[4999].end == 4999, "many gaps");
	perf_gap_free(&log);
	ok(!log.note && !log.notes, "no gaps are left");
}

/* Make three changes, with two nodes that stay. */
static void make_changes(struct perf_changes *all)
{
	static const enum perf_move kind[] = { PERF_MOVE_JOIN, PERF_MOVE_DEL, PERF_MOVE_JOIN };
	struct ctl_status status = { .phase[CTL_WEDGE] = { .set = true } };
	unsigned int i, j;

	for (i = 0; i < 3; i++) {
		struct perf_change *c = perf_change_new(all, 2);

		c->kind = kind[i];
		c->rep = 1 + i / 2;
		c->vid = 2 + i;
		c->views = 1;
		status.phase[CTL_DETECT] = (struct ctl_val){ .set = true, .num = i % 2 * 70 };
		for (j = 0; j < 2; j++) {
			c->stayer[j].node = j + 1;
			c->stayer[j].gap = (struct perf_gap){ 3, 1000 * (i * 2 + j + 1) };
			status.phase[CTL_WEDGE].num = 10 * i + j;
			perf_change_phases(&c->stayer[j], &status);
		}
		if (kind[i] == PERF_MOVE_JOIN)
			c->join_first = 5 + i;
	}
}

static void test_changes(void)
{
	struct perf_changes all = { 0 };
	struct perf_stat s;

	make_changes(&all);
	ok(perf_change_count(&all, PERF_MOVE_JOIN) == 2 &&
	   perf_change_count(&all, PERF_MOVE_DEL) == 1 &&
	   !perf_change_count(&all, PERF_MOVE_EVICT), "changes of a kind");
	s = perf_change_stat(&all, PERF_MOVE_JOIN, PERF_F_GAP, 0);
	ok(s.count == 4 && near(s.min, perf_ns(1)) && near(s.max, perf_ns(6)),
	   "the gaps of all members that stay");
	s = perf_change_stat(&all, PERF_MOVE_JOIN, PERF_F_GAP, 2);
	ok(s.count == 2 && near(s.min, perf_ns(2)) && near(s.max, perf_ns(6)),
	   "the gaps of one member that stays");
	s = perf_change_stat(&all, PERF_MOVE_JOIN, PERF_F_WEDGE, 0);
	ok(s.count == 4 && near(s.median, 10.5) && s.max == 21, "a phase");
	ok(!perf_change_stat(&all, PERF_MOVE_JOIN, PERF_F_DETECT, 0).count &&
	   perf_change_stat(&all, PERF_MOVE_DEL, PERF_F_DETECT, 0).count == 2,
	   "without a suspected member there is no detection");
	ok(!perf_change_stat(&all, PERF_MOVE_JOIN, PERF_F_FIXED, 0).count &&
	   !perf_change_stat(&all, PERF_MOVE_JOIN, PERF_F_AGREE, 0).count &&
	   !perf_change_stat(&all, PERF_MOVE_EVICT, PERF_F_GAP, 0).count,
	   "a value that was not measured has no figure");
	s = perf_change_stat(&all, PERF_MOVE_JOIN, PERF_F_JOIN_FIRST, 0);
	ok(s.count == 2 && s.min == 5 && s.max == 7 &&
	   !perf_change_stat(&all, PERF_MOVE_DEL, PERF_F_JOIN_FIRST, 0).count, "joins");
}

static void test_failover_json(void)
{
	static struct perf_place place = { .device = { "rxe0" }, .devices = 1 };
	static struct perf_quiet quiet[1] = { { .node = 1, .subgroup = 1 } };
	char path[] = "/tmp/perf_test.XXXXXX";
	struct perf_failover f = { .quiet = quiet, .quiets = 1 };
	struct perf_fopts o = { .nodes = 3, .json_file = path };
	struct json_object *doc;
	int fd = mkstemp(path);

	f.o = &o;
	make_changes(&f.all);
	ok(fd >= 0 && !perf_fout_json(&f, &place), "failover: JSON is written");
	doc = json_object_from_file(path);
	ok(doc && json_is(doc, "/kinds/join/changes", "2") &&
	   json_is(doc, "/kinds/del/longest_gap_us/values", "2") &&
	   json_is(doc, "/changes/2/kind", "join") && json_is(doc, "/changes/2/repetition", "2") &&
	   json_is(doc, "/changes/1/survivors/1/node", "2") &&
	   json_is(doc, "/changes/1/survivors/1/detect_us", "70") &&
	   json_is(doc, "/config/nodes", "3"), "the JSON of failover has all changes");
	ok(doc && json_is(doc, "/quiet/0/longest_us", "null") &&
	   json_is(doc, "/quiet/0/sent_per_s", "null") &&
	   json_is(doc, "/changes/0/survivors/0/detect_us", "null") &&
	   json_is(doc, "/changes/0/join_view_us", "null"), "an unknown value is null in JSON");
	json_object_put(doc);
	unlink(path);
	close(fd);
}

/* ---- results ----------------------------------------------------------- */

static unsigned int columns(const char *line)
{
	unsigned int n = 1;
	bool quoted = false;

	for (; *line && *line != '\n'; line++) {
		quoted ^= *line == '"';
		n += *line == ',' && !quoted;
	}
	return n;
}

static struct perf_sample sample;

static void test_metric(void)
{
	static double v[2 * PERF_METRICS], bandwidth[] = { 11e6, 9e6 };
	static double latency[] = { 4000, NAN }, third[] = { 2e6, 4e6, 8e6 };
	struct perf_result r = { .members = 4, .senders = 2, .local = 4, .v = v };
	static struct perf_place place = { .device = { "rxe0" }, .devices = 1 };
	char path[] = "/tmp/perf_test.XXXXXX", head[16384], row[16384];
	struct json_object *doc;
	FILE *f;
	int fd;

	perf_conf_default(&r.conf);
	set(&r.conf, "tune", "all=off,nulls=on");
	sample.goodput = 1e6;
	sample.wire = 3e6;
	sample.sent = 100;
	sample.copies = 300;
	sample.payload = 3000;
	sample.counts.has = 1ULL << PERF_C_WRITES | 1ULL << PERF_C_BYTES |
			    1ULL << PERF_C_IOCTLS | 1ULL << PERF_C_POLLS;
	sample.counts.num[PERF_C_WRITES] = 150;
	sample.counts.num[PERF_C_BYTES] = 3300;
	sample.counts.num[PERF_C_IOCTLS] = 3;
	sample.counts.num[PERF_C_POLLS] = 7;
	sample.counts.batch[PERF_SEND][2] = 5;
	perf_hist_add(&sample.own, 1000);
	perf_metric_sample(&r, &sample);
	sample.goodput = 2e6;
	sample.wire = 6e6;
	perf_metric_sample(&r, &sample);
	r.raw = (struct perf_raw){ 2, bandwidth, latency };
	perf_metric_raw(&r);
	ok(near(perf_metric_stat(&r, PERF_M_EFFICIENCY).min, 0.3) &&
	   near(perf_metric_stat(&r, PERF_M_EFFICIENCY).max, 0.6),
	   "efficiency: what had to be written, by what the device can write");
	ok(near(perf_metric_stat(&r, PERF_M_RAW_LATENCY).median, 4), "a sample that failed");
	ok(perf_metric_stat(&r, PERF_M_MSGS_PER_WRITE).median == 2 &&
	   near(perf_metric_stat(&r, PERF_M_WRITES_PER_MSG).median, 1.5) &&
	   near(perf_metric_stat(&r, PERF_M_WIRE_PER_BYTE).median, 1.1) &&
	   near(perf_metric_stat(&r, PERF_M_SYSCALLS_PER_MSG).median, 0.1), "ratios");
	ok(!perf_metric_stat(&r, PERF_M_PACKETS).count &&
	   !perf_metric_stat(&r, PERF_M_SLOWEST_P50).count,
	   "a counter that is missing is not known");
	ok(r.counts.batch[PERF_SEND][2] == 10, "batches are added up");
	v[PERF_M_EFFICIENCY] = 3e6;
	v[PERF_METRICS + PERF_M_EFFICIENCY] = 6e6;
	r.raw = (struct perf_raw){ 3, third, third };
	perf_metric_raw(&r);
	ok(near(v[PERF_M_EFFICIENCY], 1) && near(v[PERF_METRICS + PERF_M_EFFICIENCY], 1),
	   "a repetition goes with what was measured before and after it");
	r.raw = (struct perf_raw){ 2, bandwidth, latency };
	ok(!strcmp(perf_metric_text(PERF_M_GOODPUT, 12345678), "12.35 MB/s") &&
	   !strcmp(perf_metric_text(PERF_M_OWN_P50, 12345), "12.35 ms") &&
	   !strcmp(perf_metric_text(PERF_M_EFFICIENCY, 0.8769), "87.7 %") &&
	   !strcmp(perf_metric_text(PERF_M_SENT, NAN), "-"), "figures as text for people");

	fd = mkstemp(path);
	if (fd < 0)
		exit(1);
	close(fd);
	doc = perf_json_new(&place);
	perf_json_add(doc, &r);
	ok(!perf_json_write(doc, path), "JSON is written");
	doc = json_object_from_file(path);
	ok(doc && json_is(doc, "/devices/0", "rxe0") &&
	   json_is(doc, "/runs/0/config/max_msg", "0") &&
	   json_is(doc, "/runs/0/config/tune", "all=off,nulls=on") &&
	   json_is(doc, "/runs/0/config/senders", "all") &&
	   json_is(doc, "/runs/0/metrics/sent/values/1", "100") &&
	   json_is(doc, "/runs/0/metrics/goodput/max", "2000000") &&
	   json_is(doc, "/runs/0/metrics/packets/median", "null") &&
	   json_is(doc, "/runs/0/raw/latency_ns/0", "4000") &&
	   json_is(doc, "/runs/0/batches/send/2", "10"), "JSON is read back");
	json_object_put(doc);
	f = fopen(path, "w+");
	perf_csv_head(f);
	perf_csv_row(f, &r);
	rewind(f);
	ok(fgets(head, sizeof(head), f) && fgets(row, sizeof(row), f) && strchr(row, '\n') &&
	   columns(head) == columns(row), "CSV has as many values as words");
	ok(!strncmp(head, "nodes,senders,", 14) && !strncmp(row, "4,all,", 6) &&
	   strstr(head, ",goodput,goodput_min,goodput_max,") &&
	   strstr(row, ",1500000,1000000,2000000,"),
	   "the columns of CSV are in the order of the words");
	fclose(f);
	unlink(path);
	ok(perf_json_write(json_object_new_object(), "/nonexistent/x"), "a file that cannot be");
}

int main(void)
{
	/* Return values report all errors here, so the messages are not needed. */
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	test_stat();
	test_index();
	test_hist();
	test_time();
	test_bytes();
	test_conf();
	test_tune();
	test_durable();
	test_durable_time();
	test_durable_error();
	test_limit();
	test_opts();
	test_failover_opts();
	test_rdmc_opts();
	test_rdmc_figures();
	test_gap();
	test_changes();
	test_failover_json();
	test_metric();
	return tap_end();
}
