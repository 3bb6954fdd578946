// SPDX-License-Identifier: GPL-2.0-only
/* Groups of nodes of this kernel, and the objects that they send. See rdmc.h. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <spindle/rdmc.h>

#include "common/clock.h"
#include "common/util.h"
#include "common/wire.h"
#include "perf/net.h"
#include "perf/stop.h"
#include "rdmc.h"

/* A power of two above the number of objects that a group may have under way. */
#define SLOTS		64
/* Bounds of random sizes: LONGEST medians, and SHORTEST bytes. */
#define LONGEST		8
#define SHORTEST	1024

struct group;

/* A member of a group. */
struct end {
	struct spindle_rdmc_group *g;
	struct group *group;
	uint32_t node;
	unsigned int rank;
	uint8_t *mem;
	uint64_t last;	/* bytes of the last object */
	bool open;
};

struct group {
	unsigned int first;	/* index of the root's end; its other ends follow */
	uint64_t left;		/* objects to be sent in this repetition */
	uint64_t busy;		/* objects under way */
	struct perf_rdmc_object *slot[SLOTS];
};

static struct run {
	struct perf_rdmc r;
	struct perf_ropts o;
	struct perf_place place;
	struct ctl_net net;
	struct end *end;
	struct pollfd *pfd;
	unsigned int ends;
	struct group *group;
	struct perf_rdmc_object *obj;
	uint64_t begun;
	uint64_t done;
	uint64_t room;		/* bytes of each end's memory */
	uint64_t random;
} run;

/* Groups and nodes are removed, however the program ends. */
static void leave(void)
{
	unsigned int i;

	for (i = 0; i < run.ends; i++)
		spindle_rdmc_destroy(run.end[i].g);
	run.ends = 0;
	perf_place_leave(&run.place);
}

/* ---- random numbers, the same in each run ---------------------------------- */

static uint64_t next_random(void)
{
	run.random = run.random * 6364136223846793005ULL + 1442695040888963407ULL;
	return run.random >> 32;
}

static double uniform(void)
{
	return (next_random() + 1.0) / 4294967297.0;
}

/* A log-normal size, within the bounds of LONGEST and SHORTEST. */
static uint64_t random_size(void)
{
	double normal = sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
	double size = run.o.size * exp(normal * run.o.sigma / 100);

	size = fmin(size, (double)run.o.size * LONGEST);
	return fmax(size, fmin(run.o.size, SHORTEST));
}

/* ---- nodes and groups ------------------------------------------------------ */

static int make_nodes(void)
{
	struct ctl_view view = { .vid = ctl_val_num(1) };
	struct perf_conf conf;
	int rc;

	perf_conf_default(&conf);
	conf.idle_us = run.o.idle_us;
	rc = perf_setup_nodes(&run.place, &run.o.where, &conf, run.o.where.first, run.o.nodes);
	return rc ? rc : perf_setup_view(&run.place, &run.o.where, &view, run.o.nodes);
}

static uint8_t *new_memory(void)
{
	uint8_t *mem = mmap(NULL, run.room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

/* In a mix, ends of one node share memory, because the groups are too many. */
static uint8_t *memory_of(const struct end *e)
{
	unsigned int i;

	for (i = 0; run.o.mix && i < run.ends; i++)
		if (run.end[i].node == e->node)
			return run.end[i].mem;
	return new_memory();
}

static void choose_members(unsigned int group, uint32_t *member)
{
	unsigned int i, m;

	if (!run.o.mix) {
		for (i = 0; i < run.o.members; i++)
			member[i] = run.place.node[(group + i) % run.o.members];
		return;
	}
	member[0] = run.place.node[0];
	for (i = 1; i < run.o.members; i++) {
		do {
			member[i] = run.place.node[1 + next_random() % (run.o.nodes - 1)];
			for (m = 1; m < i && member[m] != member[i]; m++)
				;
		} while (m < i);
	}
}

static int make_end(struct group *g, unsigned int number, const uint32_t *member,
		    unsigned int rank)
{
	const struct spindle_rdmc_options o = {
		.algorithm = run.o.algorithm,
		.block = run.o.block,
		.timeout_ms = run.o.give_up * 1000,
	};
	struct end *e = &run.end[run.ends];
	char why[200];
	int err;

	*e = (struct end){ .group = g, .node = member[rank], .rank = rank };
	e->mem = memory_of(e);
	if (!e->mem) {
		ctl_err("not enough memory");
		return -ENOMEM;
	}
	err = spindle_rdmc_create(&e->g, e->node, number + 1, member, run.o.members, &o);
	if (err) {
		ctl_err("%s", spindle_rdmc_create_strerror(err, e->node, number + 1, &o, why,
							   sizeof(why)));
		return err;
	}
	run.pfd[run.ends].fd = spindle_rdmc_fd(e->g);
	run.pfd[run.ends++].events = POLLIN;
	run.r.block = spindle_rdmc_block(e->g);
	return 0;
}

static int make_group(unsigned int number)
{
	struct group *g = &run.group[number];
	uint32_t member[SPINDLE_MAX_MEMBERS];
	unsigned int i;
	int rc = 0;

	g->first = run.ends;
	choose_members(number, member);
	for (i = 0; !rc && i < run.o.members; i++)
		rc = make_end(g, number, member, i);
	return rc;
}

/* ---- objects --------------------------------------------------------------- */

/* Send one object and record its start. Return: 1; 0: no room now; or -errno */
static int send_one(struct group *g, uint64_t len)
{
	struct perf_rdmc_object *obj = &run.obj[run.begun];
	const struct end *root = &run.end[g->first];
	uint64_t number;
	int err;

	memset(obj, 0, sizeof(*obj));
	obj->len = len;
	obj->left = run.o.members;
	obj->start = perf_monotonic();
	err = spindle_rdmc_send(root->g, root->mem, len, 0, &number);
	if (err == -EAGAIN)
		return 0;
	if (err) {
		ctl_err("node %u: sending an object: %s", root->node, strerror(-err));
		return err;
	}
	g->slot[number % SLOTS] = obj;
	g->busy++;
	run.begun++;
	return 1;
}

/* Send objects of a mix, as many as may be under way, over all groups. */
static int send_mix(void)
{
	static struct group *next;
	static uint64_t len;
	int rc = 1;

	while (rc > 0 && run.begun < run.r.objects && run.begun - run.done < run.o.queue) {
		if (!next) {
			next = &run.group[next_random() % run.r.groups];
			len = random_size();
		}
		rc = send_one(next, len);
		if (rc > 0)
			next = NULL;
	}
	return rc < 0 ? rc : 0;
}

static int send_some(struct group *g)
{
	int rc = 1;

	if (run.o.mix)
		return send_mix();
	while (rc > 0 && g->left && g->busy < run.o.queue) {
		rc = send_one(g, run.o.size);
		g->left -= rc > 0;
	}
	return rc < 0 ? rc : 0;
}

static int ended(struct end *e, const struct spindle_rdmc_event *ev)
{
	struct perf_rdmc_object *obj = e->group->slot[ev->object % SLOTS];
	struct perf_rdmc_seen *seen = &obj->seen[e->rank];

	if (ev->error) {
		ctl_err("node %u: an object did not come: %s", e->node,
			spindle_rdmc_strerror(ev->error));
		return -EIO;
	}
	*seen = (struct perf_rdmc_seen){ ev->at_ns, ev->first_ns, ev->busy_ns };
	e->last = ev->len;
	if (!--obj->left) {
		e->group->busy--;
		run.done++;
	}
	return send_some(e->group);
}

static int handle(struct end *e, const struct spindle_rdmc_event *ev)
{
	int err;

	switch (ev->kind) {
	case SPINDLE_RDMC_OPENED:
		e->open = true;
		return 0;
	case SPINDLE_RDMC_INCOMING:
		err = spindle_rdmc_accept(e->g, ev->object, e->mem, ev->len);
		if (err)
			ctl_err("node %u: taking an object: %s", e->node, strerror(-err));
		return err;
	case SPINDLE_RDMC_DONE:
		return ended(e, ev);
	default:
		ctl_err("node %u: the group has ended: %s", e->node,
			spindle_rdmc_strerror(ev->error));
		return -EPIPE;
	}
}

static int look(void)
{
	struct spindle_rdmc_event ev;
	unsigned int i;
	int rc = 0;

	for (i = 0; rc >= 0 && i < run.ends; i++) {
		if (!(run.pfd[i].revents & (POLLIN | POLLHUP)))
			continue;
		while ((rc = spindle_rdmc_next(run.end[i].g, &ev, 0)) > 0) {
			rc = handle(&run.end[i], &ev);
			if (rc)
				return rc;
		}
	}
	return rc < 0 && rc != -EAGAIN ? rc : 0;
}

static bool all_open(void)
{
	unsigned int i;

	for (i = 0; i < run.ends && run.end[i].open; i++)
		;
	return i == run.ends;
}

static bool all_done(void)
{
	return run.done == run.r.objects;
}

static int wait_for(bool (*enough)(void), const char *what)
{
	int rc = 0;

	while (!rc && !enough()) {
		rc = poll(run.pfd, run.ends, run.o.give_up * 1000);
		if (!rc) {
			ctl_err("%s: not within %u s", what, run.o.give_up);
			return -ETIMEDOUT;
		}
		if (perf_stopped())
			return -EINTR;
		rc = rc < 0 ? 0 : look();
	}
	return rc;
}

/*
 * Zero the memory of receivers, so that old bytes are not taken for new ones. It also makes the
 * pages before the measurement.
 */
static void clear(void)
{
	unsigned int i;

	for (i = 0; i < run.ends; i++) {
		run.end[i].last = 0;
		if (run.end[i].rank)
			memset(run.end[i].mem, 0, run.room);
	}
}

/* Compare the bytes of all ends, because all roots send the same bytes. */
static int check(void)
{
	const uint8_t *want = run.end[0].mem;
	unsigned int i;

	for (i = 0; i < run.ends; i++) {
		if (memcmp(want, run.end[i].mem, run.end[i].last)) {
			ctl_err("node %u: what came is not what was sent", run.end[i].node);
			return -EBADMSG;
		}
	}
	return 0;
}

static void per_byte(double *v, const struct perf_rdmc_cpu *from, const struct perf_rdmc_cpu *to,
		     double bytes)
{
	v[PERF_R_ENGINES] = (to->engines - from->engines) / bytes;
	v[PERF_R_WORKERS] = (to->workers - from->workers) / bytes;
	v[PERF_R_PROCESS] = (to->process - from->process) / bytes;
	v[PERF_R_CPU] = v[PERF_R_ENGINES] + v[PERF_R_WORKERS] + v[PERF_R_PROCESS];
}

static void sum_up(double *v, uint64_t start)
{
	uint64_t i, m, end = start, bytes = 0;

	for (i = 0; i < run.r.objects; i++) {
		bytes += run.obj[i].len;
		for (m = 0; m < run.o.members; m++)
			if (run.obj[i].seen[m].at > end)
				end = run.obj[i].seen[m].at;
	}
	v[PERF_R_SECONDS] = (end - start) / 1e9;
	v[PERF_R_BANDWIDTH] = bytes / v[PERF_R_SECONDS];
	v[PERF_R_RATE] = run.r.objects / v[PERF_R_SECONDS];
}

/* Run a repetition. @v: out: figures; NULL: the repetition does not count. */
static int repeat(double *v)
{
	struct perf_rdmc_cpu before, after;
	uint64_t start, packets;
	double bytes;
	unsigned int i;
	int rc = 0;

	clear();
	run.begun = 0;
	run.done = 0;
	for (i = 0; i < run.r.groups; i++)
		run.group[i].left = run.o.count;
	perf_rdmc_cpu(&before);
	packets = perf_rdmc_packets();
	start = perf_monotonic();
	for (i = 0; !rc && i < run.r.groups; i++)
		rc = send_some(&run.group[i]);
	if (!rc)
		rc = wait_for(all_done, "an object comes to all");
	perf_rdmc_cpu(&after);
	if (!rc)
		rc = check();
	if (rc || !v)
		return rc;
	perf_rdmc_figure(v, run.obj, run.r.objects, run.o.members);
	sum_up(v, start);
	bytes = v[PERF_R_BANDWIDTH] * v[PERF_R_SECONDS] * (run.o.members - 1);
	per_byte(v, &before, &after, bytes);
	v[PERF_R_LOAD] = v[PERF_R_CPU] * bytes / 1e9 / v[PERF_R_SECONDS];
	v[PERF_R_PACKETS] = (perf_rdmc_packets() - packets) / bytes * (1 << 20);
	return 0;
}

/* ---- the whole run ------------------------------------------------------------ */

static void raise_limits(void)
{
	const struct rlimit files = { 65536, 65536 };

	/*
	 * Pinned memory is charged against a limit, which does not hold for a process that may
	 * exceed limits.
	 */
	setrlimit(RLIMIT_NOFILE, &files);
	perf_limit_raise();
}

static void allocate(void)
{
	unsigned int ends;

	run.r.groups = run.o.mix ? run.o.mix : run.o.senders;
	run.r.objects = run.o.mix ? run.o.count : run.o.count * run.r.groups;
	run.room = run.o.mix ? run.o.size * LONGEST : run.o.size;
	ends = run.r.groups * run.o.members;
	run.end = ctl_alloc(ends * sizeof(*run.end));
	run.pfd = ctl_alloc(ends * sizeof(*run.pfd));
	run.group = ctl_alloc(run.r.groups * sizeof(*run.group));
	run.obj = ctl_alloc(run.r.objects * sizeof(*run.obj));
	run.r.v = ctl_alloc(run.o.reps * PERF_R_FIGURES * sizeof(*run.r.v));
}

static void fill(void)
{
	uint64_t *word;
	unsigned int i;
	uint64_t k;

	for (i = 0; i < run.ends; i++) {
		if (run.end[i].rank)
			continue;
		run.random = 1;
		word = (uint64_t *)run.end[i].mem;
		for (k = 0; k < run.room / sizeof(*word); k++)
			word[k] = next_random();
	}
}

static int measure(void)
{
	unsigned int i;
	int rc = make_nodes();

	if (!rc)
		rc = perf_place_devices(&run.place);
	run.random = 1;
	for (i = 0; !rc && i < run.r.groups; i++)
		rc = make_group(i);
	if (!rc)
		rc = wait_for(all_open, "groups open");
	if (rc)
		return rc;
	fill();
	rc = repeat(NULL);
	for (i = 0; !rc && i < run.o.reps; i++)
		rc = repeat(run.r.v + i * PERF_R_FIGURES);
	return rc;
}

static int tell(void)
{
	int rc = 0;

	if (!run.o.json || run.o.json_file)
		perf_rout_table(&run.r);
	if (run.o.json)
		rc = perf_rout_json(&run.r, &run.place);
	if (run.o.csv_file && perf_rout_csv(&run.r))
		rc = -EIO;
	return rc;
}

/**
 * perf_rdmc_main() - spindle-perf rdmc
 * @argc: words, from "rdmc" on
 * @argv: words
 *
 * Return: exit code
 */
int perf_rdmc_main(int argc, char **argv)
{
	int rc = perf_ropts_parse(&run.o, argc, argv);

	if (rc)
		return rc < 0 ? ctl_flush(CTL_OK) : rc;
	run.r.o = &run.o;
	if (ctl_net_open(&run.net, CTL_SAY))
		return CTL_FAILED;
	run.place.net = &run.net;
	if (perf_setup_addr(&run.o.where))
		return CTL_FAILED;
	raise_limits();
	allocate();
	perf_clock_init();
	perf_stop_catch();
	atexit(leave);
	rc = measure();
	if (!rc)
		rc = tell();
	leave();
	rc = ctl_flush(rc ? CTL_FAILED : CTL_OK);
	perf_stop_die();
	return rc;
}
