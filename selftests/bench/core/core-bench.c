// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of the engine per message, without network, processes and threads. core/ runs in user
 * space and is timed pass by pass. The table also shows the limits, which the engine cannot beat.
 *
 *	core-bench			the table: one thing varied at a time
 *	core-bench -a			all combinations
 *	core-bench -n 4 -s 64 -b 8	one line of it
 *	core-bench -l			looks at predicates of tables (SST paper)
 *	core-bench -p 10 -b 1		no table: ten seconds of that, for a profiler
 *
 * See usage() for the rest. All times are nanoseconds.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "measure.h"
#include "tables.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_SEC 1000000000ULL

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const u32 all_members[] = { 2, 3, 4, 8, 16 };
static const u32 all_sizes[] = { 0, 64, 1024, 10240 };
static const u32 all_batches[] = { 1, 8, 64, 512 };
static const u32 all_subgroups[] = { 1, 50 };

static const char *const sender_names[] = {
	[CLUSTER_ALL] = "all",
	[CLUSTER_ONE] = "one",
	[CLUSTER_QUIET] = "quiet",
};

/* Techniques of core/, by the switches that are off. Tracking belongs to the module. */
static const struct technique {
	const char *name;
	u32 off;
} techniques[] = {
	{ "-", 0 },
	{ "send-batch", SPINDLE_SW_SEND_BATCH },
	{ "recv-batch", SPINDLE_SW_RECV_BATCH },
	{ "dlv-batch", SPINDLE_SW_DLV_BATCH },
	{ "nulls", SPINDLE_SW_NULLS },
	{ "late-post", SPINDLE_SW_LATE_POST },
	{ "merged-acks", SPINDLE_SW_MERGED_ACKS },
	{ "packed", SPINDLE_SW_PACKED },
	{ "all", SPINDLE_SW_ALL },
};

static struct effort effort = { .reps = 15, .rep_ns = 1 * NS_PER_MS };
static u64 max_bytes = 768ULL << 20;
static FILE *csv;
static int failed;

static const char *off_name(u32 switches)
{
	u32 off = SPINDLE_SW_ALL & ~switches;
	size_t i;

	for (i = 0; i < LEN(techniques); i++)
		if (techniques[i].off == off)
			return techniques[i].name;
	return "some";
}

/* ---- the table -------------------------------------------------------------- */

static void put_heading(const char *title)
{
	printf("\n%s\n", title);
	printf("%3s %5s %5s %-5s %-11s %6s | %8s %8s %8s | %6s %6s %6s %6s %6s | %7s | %6s %6s | %6s %6s %6s\n",
	       "n", "bytes", "batch", "send", "off", "real", "engine", "min", "max", "send",
	       "recv", "dlv", "rel", "push", "wire", "ring", "memcpy", "instr", "cmiss",
	       "bmiss");
}

static void put_csv_heading(void)
{
	if (csv)
		fprintf(csv, "kind,members,bytes,batch,senders,off,subgroups,real_batch,"
			"engine_ns,engine_min_ns,engine_max_ns,pass_ns,send_ns,receive_ns,"
			"deliver_ns,release_ns,push_ns,wire_ns,ring_ns,memcpy_ns,"
			"instructions,cache_misses,branch_misses,disturbed\n");
}

static void put_conf(const struct cluster_conf *conf)
{
	printf("%3u %5u %5u %-5s %-11s ", conf->members, conf->size, conf->batch,
	       sender_names[conf->senders], off_name(conf->switches));
}

static void put_counts(const struct traffic *t)
{
	int i;

	for (i = 0; i < COUNTERS; i++) {
		if (t->counted)
			printf(" %6.2f", t->count[i]);
		else
			printf(" %6s", "");
		if (csv && t->counted)
			fprintf(csv, ",%.3f", t->count[i]);
		else if (csv)
			fprintf(csv, ",");
	}
}

static void put_traffic(const struct cluster_conf *conf, const struct traffic *t)
{
	put_conf(conf);
	printf("%6.1f | %8.1f %8.1f %8.1f | %6.1f %6.1f %6.1f %6.1f %6.1f | %7.1f | %6.1f ",
	       t->batch, t->engine.median, t->engine.min, t->engine.max, t->send, t->receive,
	       t->deliver, t->release, t->push, t->wire, t->limits.ring);
	if (conf->size)
		printf("%6.1f |", t->limits.copy);
	else
		printf("%6s |", "");
	if (csv)
		fprintf(csv, "traffic,%u,%u,%u,%s,%s,%u,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f",
			conf->members, conf->size, conf->batch, sender_names[conf->senders],
			off_name(conf->switches), conf->subgroups, t->batch,
			t->engine.median, t->engine.min, t->engine.max, t->pass, t->send,
			t->receive, t->deliver, t->release, t->push, t->wire,
			t->limits.ring, t->limits.copy);
	put_counts(t);
	if (csv)
		fprintf(csv, ",%u\n", t->disturbed);
	printf("%s\n", t->disturbed ? "  disturbed" : "");
	fflush(stdout);
}

static void run_traffic(const struct cluster_conf *conf)
{
	struct traffic t;
	const char *wrong;

	/* A quiet member would delay the others for ever, because there are no nulls. */
	if (conf->senders == CLUSTER_QUIET && !(conf->switches & SPINDLE_SW_NULLS))
		return;
	if (cluster_bytes(conf) > max_bytes) {
		put_conf(conf);
		printf("left out: its rows take %llu MiB (-m)\n",
		       (unsigned long long)cluster_bytes(conf) >> 20);
		return;
	}
	wrong = measure_traffic(conf, &effort, &t);
	put_traffic(conf, &t);
	if (wrong) {
		printf("not ok: %s\n", wrong);
		failed = 1;
	}
}

static void run_idle(void)
{
	struct cluster_conf conf = {
		.batch = 1,
		.switches = SPINDLE_SW_ALL,
		.lone = true,
	};
	size_t i, j;

	printf("\na pass in which there is nothing to do, and per subgroup\n");
	printf("%3s %9s | %8s %8s %8s | %8s\n", "n", "subgroups", "pass", "min", "max",
	       "subgroup");
	for (i = 0; i < LEN(all_members); i++) {
		for (j = 0; j < LEN(all_subgroups); j++) {
			struct spread s;

			conf.members = all_members[i];
			conf.subgroups = all_subgroups[j];
			s = measure_idle(&conf, &effort);
			printf("%3u %9u | %8.1f %8.1f %8.1f | %8.1f\n", conf.members,
			       conf.subgroups, s.median, s.min, s.max,
			       s.median / conf.subgroups);
			if (csv)
				fprintf(csv, "idle,%u,,,,-,%u,,,,,%.2f,,,,,,,,,,,,\n",
					conf.members, conf.subgroups, s.median);
		}
	}
}

/* ---- measurements ------------------------------------------------------------ */

static void vary_switches(struct cluster_conf conf)
{
	size_t i;

	for (i = 0; i < LEN(techniques); i++) {
		conf.switches = SPINDLE_SW_ALL & ~techniques[i].off;
		run_traffic(&conf);
	}
}

static void vary_members_and_batches(struct cluster_conf conf)
{
	size_t i, j;

	for (i = 0; i < LEN(all_members); i++) {
		for (j = 0; j < LEN(all_batches); j++) {
			conf.members = all_members[i];
			conf.batch = all_batches[j];
			run_traffic(&conf);
		}
	}
}

static void vary_sizes_and_batches(struct cluster_conf conf)
{
	size_t i, j;

	for (i = 0; i < LEN(all_sizes); i++) {
		for (j = 0; j < LEN(all_batches); j++) {
			conf.size = all_sizes[i];
			conf.batch = all_batches[j];
			run_traffic(&conf);
		}
	}
}

static void one_at_a_time(struct cluster_conf conf)
{
	put_heading("sizes");
	vary_sizes_and_batches(conf);
	put_heading("members, all of them send");
	vary_members_and_batches(conf);
	put_heading("members, one of them is the sender");
	conf.senders = CLUSTER_ONE;
	vary_members_and_batches(conf);
	put_heading("members, one of them sends, the others could");
	conf.senders = CLUSTER_QUIET;
	vary_members_and_batches(conf);
	conf.senders = CLUSTER_ALL;
	put_heading("techniques");
	vary_switches(conf);
	put_heading("techniques, one message per pass");
	conf.batch = 1;
	vary_switches(conf);
	run_idle();
}

static void all_combinations(struct cluster_conf conf)
{
	size_t i, j, k;

	put_heading("all combinations");
	for (i = 0; i < LEN(sender_names); i++) {
		for (j = 0; j < LEN(all_sizes); j++) {
			conf.senders = i;
			conf.size = all_sizes[j];
			vary_members_and_batches(conf);
		}
	}
	put_heading("techniques");
	for (i = 0; i < LEN(sender_names); i++) {
		for (j = 0; j < LEN(all_members); j++) {
			for (k = 0; k < LEN(all_batches); k++) {
				conf.senders = i;
				conf.size = 64;
				conf.members = all_members[j];
				conf.batch = all_batches[k];
				vary_switches(conf);
			}
		}
	}
	run_idle();
}

/* Run one configuration and nothing else, for a profiler. */
static void profile(const struct cluster_conf *conf, u64 ns, u64 rounds)
{
	struct cluster *c = cluster_open(conf);
	u64 begin = clock_wall(), i;
	const char *wrong;

	cluster_clear(c);
	for (i = 0; rounds ? i < rounds : clock_wall() - begin < ns; i++)
		cluster_round(c, LOOK_NOT);
	wrong = cluster_finish(c);
	printf("%llu messages delivered by %u members in %llu rounds\n",
	       (unsigned long long)cluster_tally(c).delivered, conf->members,
	       (unsigned long long)cluster_tally(c).rounds);
	if (wrong) {
		printf("not ok: %s\n", wrong);
		failed = 1;
	}
	cluster_close(c);
}

/* ---- options ------------------------------------------------------------------ */

static void usage(void)
{
	fprintf(stderr,
		"core-bench [option]...\n"
		"  -a         all combinations instead of one thing varied at a time\n"
		"  -i         passes in which there is nothing to do, alone\n"
		"  -l         looks at predicates of tables, alone, as CSV (-c)\n"
		"  -n N       members, 2 to %u\n"
		"  -s BYTES   of a message\n"
		"  -b N       messages that each sender commits before a pass\n"
		"  -w WHO     sends: all, one (the others are no senders), quiet (they could)\n"
		"  -x NAME    technique that is off, may be repeated:", CLUSTER_MEMBERS);
	for (size_t i = 1; i < LEN(techniques); i++)
		fprintf(stderr, " %s", techniques[i].name);
	fprintf(stderr, "\n"
		"             Any of these five: that configuration alone.\n"
		"  -p SECONDS run it for a profiler, measure nothing\n"
		"  -r ROUNDS  the same, until so many rounds are over\n"
		"  -k N       repetitions of each measurement (%u)\n"
		"  -t MS      how long each takes (%llu)\n"
		"  -m MIB     memory that rows may take (%llu)\n"
		"  -c FILE    results as CSV\n"
		"  -g         clock_gettime() instead of the time stamp counter\n",
		effort.reps, (unsigned long long)(effort.rep_ns / NS_PER_MS),
		(unsigned long long)max_bytes >> 20);
	exit(2);
}

static u64 number(const char *s, u64 min, u64 max)
{
	char *end;
	u64 v = strtoull(s, &end, 0);

	if (!*s || *end || v < min || v > max)
		usage();
	return v;
}

static enum cluster_senders senders(const char *s)
{
	size_t i;

	for (i = 0; i < LEN(sender_names); i++)
		if (!strcmp(sender_names[i], s))
			return i;
	usage();
	return CLUSTER_ALL;
}

static u32 technique(const char *s)
{
	size_t i;

	for (i = 1; i < LEN(techniques); i++)
		if (!strcmp(techniques[i].name, s))
			return techniques[i].off;
	usage();
	return 0;
}

int main(int argc, char **argv)
{
	struct cluster_conf conf = {
		.members = 4,
		.size = 64,
		.batch = 64,
		.switches = SPINDLE_SW_ALL,
		.subgroups = 1,
	};
	bool all = false, one = false, idle = false, looks = false, no_tsc = false;
	u64 profile_ns = 0, profile_rounds = 0;
	const char *csv_name = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "ailn:s:b:w:x:p:r:k:t:m:c:g")) != -1) {
		one |= !!strchr("nsbwx", opt);
		switch (opt) {
		case 'a':
			all = true;
			break;
		case 'i':
			idle = true;
			break;
		case 'l':
			looks = true;
			break;
		case 'n':
			conf.members = number(optarg, 2, CLUSTER_MEMBERS);
			break;
		case 's':
			conf.size = number(optarg, 0, SPINDLE_MAX_MSG);
			break;
		case 'b':
			conf.batch = number(optarg, 1, 8192);
			break;
		case 'w':
			conf.senders = senders(optarg);
			break;
		case 'x':
			conf.switches &= ~technique(optarg);
			break;
		case 'p':
			profile_ns = number(optarg, 1, 1000000) * NS_PER_SEC;
			break;
		case 'r':
			profile_rounds = number(optarg, 1, U64_MAX);
			break;
		case 'k':
			effort.reps = number(optarg, 1, 100);
			break;
		case 't':
			effort.rep_ns = number(optarg, 1, 100000) * NS_PER_MS;
			break;
		case 'm':
			max_bytes = number(optarg, 1, 1 << 20) << 20;
			break;
		case 'c':
			csv_name = optarg;
			break;
		case 'g':
			no_tsc = true;
			break;
		default:
			usage();
		}
	}
	if (optind != argc)
		usage();
	if (profile_ns || profile_rounds) {
		profile(&conf, profile_ns, profile_rounds);
		return failed;
	}
	if (csv_name) {
		csv = fopen(csv_name, "w");
		if (!csv) {
			perror(csv_name);
			return 1;
		}
	}
	clock_open(no_tsc);
	effort.counters = counters_open();
	if (looks) {
		tables_csv(csv ? csv : stdout, &effort);
		return 0;
	}
	printf("instructions, cache misses, branch misses: %s\n",
	       effort.counters ? "of the processor, in user mode" : "not available here");
	printf("nanoseconds and counts: engine per message at a member; send per message sent; recv, push\n"
	       "and wire per message and member that it goes to; dlv and rel per message at a member.\n"
	       "wire is the copy in place of a network and no part of engine; ring and memcpy are limits.\n");
	put_csv_heading();
	if (idle) {
		run_idle();
	} else if (one) {
		put_heading("one configuration");
		run_traffic(&conf);
	} else if (all) {
		all_combinations(conf);
	} else {
		one_at_a_time(conf);
	}
	if (csv && fclose(csv)) {
		perror(csv_name);
		return 1;
	}
	return failed;
}
