// SPDX-License-Identifier: GPL-2.0-only
/* The measurement of one configuration. See run.h. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/bar.h"
#include "common/clock.h"
#include "common/util.h"
#include "loop.h"
#include "run.h"
#include "stop.h"

/* The longest delay that is spent spinning. */
#define SPIN_NS		50000.0

/**
 * struct run - the state of a measurement
 */
struct run {
	/** @conf: configuration */
	const struct perf_conf *conf;
	/** @place: place */
	const struct perf_place *place;
	/** @how: repetitions and so on */
	const struct perf_how *how;
	/** @load: what the ends do */
	struct perf_load load;
	/** @end: ends, subgroup by subgroup */
	struct perf_end *end;
	/** @ends: entries of @end */
	unsigned int ends;
	/** @loop: loops */
	struct perf_loop *loop;
	/** @loops: entries of @loop */
	unsigned int loops;
	/** @remote: other processes drive some of the members */
	bool remote;
	/** @sample: figures of a repetition */
	struct perf_sample sample;
};

/* ---- before ------------------------------------------------------------ */

/* The digest of the arguments that must be equal on all hosts. */
static uint64_t digest(const struct perf_conf *conf, const struct perf_how *how)
{
	static const char *const words[] = {
		"senders", "active", "size", "count", "seconds", "warmup", "rate", "latency",
		"delay", "delay-senders", "verify", "tune",
	};
	uint64_t d = perf_mix(how->reps);
	const char *c;
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(words); i++)
		for (c = perf_conf_text(conf, perf_param_find(words[i])); *c; c++)
			d = perf_mix(d ^ *c) + i;
	return d;
}

static void make_load(struct run *run)
{
	const struct perf_conf *conf = run->conf;
	struct perf_load *l = &run->load;
	uint64_t quota = perf_conf_quota(conf);

	l->conf = conf;
	l->size = conf->size;
	l->heads = conf->size >= PERF_HEAD;
	/* A view that this program made has only the senders that the user wants. */
	l->all = run->place->made;
	l->quota[0] = quota * conf->warmup / 100;
	l->quota[1] = quota;
	if (!quota) {
		l->ticks[0] = perf_ticks(conf->millis * 1e4 * conf->warmup);
		l->ticks[1] = perf_ticks(conf->millis * 1e6);
	}
	l->warm = l->quota[0] || l->ticks[0];
	l->gap = conf->rate ? 1e9 / conf->rate / perf_clock.ns : 0;
	if (conf->delay < PERF_SILENT)
		l->delay = perf_ticks(conf->delay * 1e3);
	l->silent = conf->delay == PERF_SILENT;
	l->upcall = perf_ticks(conf->upcall * 1e3);
	l->spin_ticks = perf_ticks(SPIN_NS);
	if (getrandom(&l->nonce, sizeof(l->nonce), 0) != sizeof(l->nonce))
		l->nonce = getpid();
	l->nonce |= 1;
	l->digest = digest(conf, run->how);
	l->source = ctl_alloc(conf->size);
	perf_fill(l->source, conf->size, l->nonce);
}

static int attach_all(struct run *run)
{
	const struct perf_place *place = run->place;
	unsigned int g, i;

	run->end = ctl_alloc(((size_t)place->groups * place->nodes + 1) * sizeof(*run->end));
	for (g = 0; g < place->groups; g++) {
		for (i = 0; i < place->nodes; i++) {
			const struct perf_spot *spot = &place->group[g].spot[i];

			if (!spot->member)
				continue;
			if (perf_end_attach(&run->end[run->ends], &run->load,
					    place->node[i], &place->group[g], spot->sender))
				return -EIO;
			run->ends++;
		}
	}
	return 0;
}

static void detach_all(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->ends; i++)
		perf_end_detach(&run->end[i]);
	for (i = 0; i < run->loops; i++) {
		ctl_free(run->loop[i].end);
		ctl_free(run->loop[i].pfd);
	}
	ctl_free(run->loop);
	ctl_free(run->end);
	run->loop = NULL;
	run->loops = 0;
	run->end = NULL;
	run->ends = 0;
}

/* Check that some sender sends, because an existing view may have other senders than expected. */
static int check_senders(const struct run *run)
{
	const struct perf_end *e = &run->end[0];
	unsigned int s, active = 0, idle = 0;

	for (s = 0; s < e->q.senders; s++) {
		active += e->from[s].active;
		idle += !e->from[s].active;
	}
	if (!active) {
		ctl_err("of %u senders nobody would send", e->q.senders);
		return -EINVAL;
	}
	if (idle && run->place->conf.mode == SPINDLE_MODE_ORDERED &&
	    (run->conf->tune.selector & SPINDLE_SW_NULLS & ~run->conf->tune.switches)) {
		ctl_err("nulls=off: of %u senders %u would send, and wait for the others for ever",
			e->q.senders, active);
		return -EINVAL;
	}
	return 0;
}

/* Tell each end of a subgroup about the others. */
static void introduce(struct run *run)
{
	unsigned int i, j;

	for (i = 0; i < run->ends; i++) {
		struct perf_end *e = &run->end[i];

		e->mate = ctl_alloc(run->ends * sizeof(*e->mate));
		for (j = 0; j < run->ends; j++) {
			struct perf_end *other = &run->end[j];

			if (other->q.subgroup != e->q.subgroup)
				continue;
			if (j != i)
				e->mate[e->mates++] = other;
			if (other->me)
				e->from[other->q.sender_rank].local = true;
		}
	}
}

static uint64_t spin_of(const struct perf_conf *conf)
{
	cpu_set_t set;

	if (conf->spin != PERF_ALL)
		return perf_ticks(conf->spin * 1e3);
	/* With one processor the engine cannot run while this process spins. */
	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) < 2)
		return 0;
	return perf_ticks(SPIN_NS);
}

/* Make one loop for all ends, or one for each node. */
static void make_loops(struct run *run)
{
	const struct perf_place *place = run->place;
	unsigned int i, l;

	run->loops = run->conf->threads ? place->nodes : 1;
	run->loop = ctl_alloc(run->loops * sizeof(*run->loop));
	for (i = 0; i < run->ends; i++) {
		struct perf_end *e = &run->end[i];
		struct perf_loop *loop;

		l = run->conf->threads ? perf_place_index(place, e->q.node) : 0;
		loop = &run->loop[l];
		loop->end = ctl_grow(loop->end, loop->ends, sizeof(*loop->end));
		loop->end[loop->ends++] = e;
		e->own = &loop->own;
		e->slowest = &loop->slowest;
		e->late = &loop->late;
	}
	for (l = 0; l < run->loops; l++) {
		run->loop[l].pfd = ctl_alloc((run->loop[l].ends + 1) *
					     sizeof(*run->loop[l].pfd));
		run->loop[l].spin = spin_of(run->conf);
		run->loop[l].wait = run->how->wait;
		run->loop[l].shows = !l;
	}
}

/* ---- a repetition ------------------------------------------------------ */

/*
 * Wait until all members have delivered all that this process sent, so that counters stand still.
 */
static int drain_all(struct run *run)
{
	unsigned int i, tries;
	int err;

	for (i = 0; i < run->ends; i++) {
		if (!run->end[i].me)
			continue;
		for (tries = 0, err = -EAGAIN; err == -EAGAIN; tries++) {
			if (perf_stopped())
				return -EINTR;
			if (tries > run->how->wait * 10)
				break;
			err = spindle_drain(&run->end[i].q, 100);
		}
		if (err) {
			perf_end_fail(&run->end[i], "what it sent is not delivered everywhere: %s",
				      strerror(-err));
			return err;
		}
	}
	return 0;
}

/* Check that all ends of a subgroup have delivered the same sequence. */
static int check_order(const struct run *run)
{
	unsigned int i, j;

	for (i = 0; i < run->ends; i++) {
		const struct perf_end *e = &run->end[i];

		if (spindle_state(&e->q) > SPINDLE_STATE_ACTIVE)
			return perf_end_fail(e, "not active");
		if (!(e->q.features & SPINDLE_FEAT_ORDERED))
			continue;
		for (j = 0; j < e->mates; j++) {
			if (e->mate[j]->hash == e->hash)
				continue;
			perf_stop(PERF_FAILED);
			ctl_err("subgroup %u: nodes %u and %u delivered in different orders",
				e->q.subgroup, e->q.node, e->mate[j]->q.node);
			return -EIO;
		}
	}
	return 0;
}

static double elapsed(const struct perf_end *e)
{
	return perf_ns((e->stop ? e->stop : e->last) - e->start) / 1e9;
}

/* The share of a subgroup's messages that ends of this process send. */
static double local_share(const struct perf_end *e)
{
	unsigned int s, local = 0, active = 0;

	for (s = 0; s < e->q.senders; s++) {
		active += e->from[s].active;
		local += e->from[s].active && e->from[s].local;
	}
	return active ? (double)local / active : 0;
}

/* Collect what is durable, by senders that have logs. Without one the figures are unknown. */
static void gather_durable(struct run *run)
{
	struct perf_sample *s = &run->sample;
	double member[SPINDLE_MAX_MEMBERS], sum = 0, seconds;
	unsigned int i, nodes = 0;

	for (i = 0; i < run->place->nodes; i++)
		member[i] = NAN;
	for (i = 0; i < run->ends; i++) {
		const struct perf_end *e = &run->end[i];
		double *have = &member[perf_place_index(run->place, e->q.node)];
		const struct perf_durable *d = e->durable;

		if (!d)
			continue;
		nodes += isnan(*have);
		*have = 0;
		seconds = perf_ns((e->stop ? e->stop : d->last) - e->start) / 1e9;
		sum += d->msgs && seconds > 0 ? d->msgs / seconds : 0;
		perf_hist_merge(&s->durable, &d->hist);
	}
	s->durable_rate = nodes ? sum / nodes : NAN;
	s->durable_goodput = s->durable_rate * run->conf->size;
}

/* Collect the results of the repetition from all ends. */
static void gather(struct run *run)
{
	struct perf_sample *s = &run->sample;
	double member[SPINDLE_MAX_MEMBERS], rate = 0, seconds;
	unsigned int i, n, nodes = 0;

	/* A node may be in none of the subgroups that are used. */
	for (i = 0; i < run->place->nodes; i++)
		member[i] = NAN;

	for (i = 0; i < run->ends; i++) {
		const struct perf_end *e = &run->end[i];
		double *have = &member[perf_place_index(run->place, e->q.node)], goodput;

		seconds = elapsed(e);
		if (seconds > s->seconds)
			s->seconds = seconds;
		goodput = seconds > 0 ? e->bytes / seconds : 0;
		rate += seconds > 0 ? e->msgs / seconds : 0;
		*have = isnan(*have) ? goodput : *have + goodput;
		s->wire += goodput * local_share(e) * (e->q.members - 1) / (e->mates + 1);
		s->sent += e->sent;
		s->copies += e->sent * (e->q.members - 1);
		for (n = 0; n < e->q.senders; n++)
			s->delivered += perf_from_num(&e->from[n]);
	}
	s->payload = s->copies * run->conf->size;
	s->slowest = INFINITY;
	for (i = 0; i < run->place->nodes; i++) {
		if (isnan(member[i]))
			continue;
		nodes++;
		s->goodput += member[i];
		if (member[i] < s->slowest)
			s->slowest = member[i];
	}
	s->goodput /= nodes;
	s->rate = rate / nodes;
	for (i = 0; i < run->loops; i++) {
		perf_hist_merge(&s->own, &run->loop[i].own);
		perf_hist_merge(&s->slow, &run->loop[i].slowest);
		perf_hist_merge(&s->late, &run->loop[i].late);
	}
	gather_durable(run);
}

static int repeat(struct run *run, uint64_t rep, struct perf_result *r)
{
	struct perf_sample *s = &run->sample;
	struct perf_counts before;
	char title[80];
	unsigned int i;
	int rc = 0;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < run->ends; i++)
		perf_end_begin(&run->end[i], rep);
	for (i = 0; i < run->loops; i++) {
		perf_hist_clear(&run->loop[i].own);
		perf_hist_clear(&run->loop[i].slowest);
		perf_hist_clear(&run->loop[i].late);
	}
	if (run->load.warm && rep == 1)
		snprintf(title, sizeof(title), "warm-up");
	else
		snprintf(title, sizeof(title), "repetition %u of %u", r->reps + 1,
			 run->how->reps);
	ctl_bar_title(title);
	/*
	 * Other processes begin when they are ready, and do not wait until this one has read its
	 * counters.
	 */
	if (run->remote)
		rc = perf_count_begin(run->place, &before);
	if (!rc)
		rc = perf_loops_run(run->loop, run->loops, PERF_READY_ALL);
	if (!rc && !run->remote)
		rc = drain_all(run);
	if (!rc && !run->remote)
		rc = perf_count_begin(run->place, &before);
	if (!rc)
		rc = perf_loops_run(run->loop, run->loops, PERF_DONE_ALL);
	if (!rc)
		rc = drain_all(run);
	if (!rc)
		rc = perf_count_end(run->place, &s->counts);
	if (!rc)
		rc = check_order(run);
	if (rc)
		return rc;
	perf_count_since(&s->counts, &before);
	if (run->load.warm && rep == 1)
		return 0;
	perf_clock_refine();
	gather(run);
	r->order = run->end[0].hash;
	perf_metric_sample(r, s);
	return 0;
}

/* ---- the whole measurement ---------------------------------------------- */

/* Describe what was measured. */
static void describe(const struct run *run, struct perf_result *r)
{
	const struct perf_end *e = &run->end[0];
	unsigned int s;

	r->conf = run->place->conf;
	r->members = run->place->group[0].members;
	r->senders = 0;
	r->local = e->mates + 1;
	for (s = 0; s < e->q.senders; s++)
		r->senders += e->from[s].active;
}

/* Attach, run the warm-up and some repetitions, and detach. */
static int session(struct run *run, struct perf_result *r, unsigned int reps)
{
	uint64_t rep = 0;
	int rc;

	reps += r->reps;
	rc = attach_all(run);
	if (!rc)
		rc = check_senders(run);
	if (!rc) {
		introduce(run);
		make_loops(run);
		describe(run, r);
	}
	while (!rc && r->reps < reps)
		rc = repeat(run, ++rep, r);
	detach_all(run);
	return rc;
}

static int raw(const struct run *run, struct perf_result *r)
{
	ctl_bar_title("raw writes");
	ctl_bar_show(0, perf_now());
	return run->how->raw ? perf_raw(run->place, run->conf->size, run->how->raw_count,
					&r->raw) : 0;
}

/**
 * perf_run() - measure a configuration
 * @conf: configuration
 * @place: place, which is prepared
 * @how: repetitions and so on
 * @r: zeroed; gets the results
 *
 * The speed of a machine changes with time. So the device is measured between repetitions, while no
 * process is attached. If other processes drive members, this one stays attached, because otherwise
 * each repetition would have to find all members again.
 *
 * Return: 0 or -errno, after a message; -EINTR: interrupted
 */
int perf_run(const struct perf_conf *conf, const struct perf_place *place,
	     const struct perf_how *how, struct perf_result *r)
{
	struct run *run = ctl_alloc(sizeof(*run));
	unsigned int at_a_time;
	int rc;

	run->conf = conf;
	run->place = place;
	run->how = how;
	run->remote = perf_place_remote(place);
	at_a_time = run->remote || !how->raw ? how->reps : 1;
	r->v = ctl_alloc((how->reps + 1) * PERF_METRICS * sizeof(*r->v));
	perf_limit_raise();
	make_load(run);
	rc = raw(run, r);
	while (!rc && r->reps < how->reps) {
		rc = session(run, r, at_a_time);
		if (!rc)
			rc = raw(run, r);
	}
	if (!rc)
		perf_metric_raw(r);
	return rc;
}
