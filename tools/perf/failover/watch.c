// SPDX-License-Identifier: GPL-2.0-only
/* Watching a node while other programs change its view. See failover.h. */
#include <errno.h>
#include <math.h>

#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/clock.h"
#include "common/event.h"
#include "common/util.h"
#include "failover.h"
#include "perf/net.h"

#define LOOK_MS		100

/* The time to wait after a view, so that delayed messages have arrived. */
#define SETTLE_NS	100000000ULL

/* The longest wait for a message of a view. No member may be sending. */
#define READ_NS		2000000000ULL

/**
 * struct watch - the state of watching
 */
struct watch {
	/** @f: results */
	struct perf_failover *f;
	/** @place: node */
	struct perf_place *place;
	/** @events: socket that listens */
	struct ctl_net *events;
	/** @pump: end of the node */
	struct perf_pump pump;
	/** @vid: the last view that was reported */
	uint64_t vid;
	/** @seen: the last view that an event announced */
	uint64_t seen;
	/** @at: ticks when that event was read */
	uint64_t at;
	/** @end: when watching ends, ns */
	uint64_t end;
};

static void take_event(struct watch *w, struct nlmsghdr *nlh)
{
	struct nlattr *a[SPINDLE_A_MAX + 1];
	struct ctl_event ev;

	if (!ctl_event_attrs(w->events, nlh, a))
		return;
	ctl_event_get(&ev, a);
	if (ev.node != w->f->o->node || ev.kind != SPINDLE_EVENT_VIEW_INSTALL ||
	    ev.vid <= w->vid)
		return;
	w->seen = ev.vid;
	w->at = perf_now();
}

static void hear(struct watch *w)
{
	struct nlmsghdr *nlh;
	int len = ctl_event_recv(w->events, LOOK_MS, &nlh);

	for (; len > 0 && nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len))
		take_event(w, nlh);
}

/* Return: ticks when the first message of the view was delivered to the end, or 0 */
static uint64_t resumed(struct watch *w, uint64_t vid)
{
	const struct perf_pump_end *e = &w->pump.end[0];
	uint64_t at;

	pthread_mutex_lock(&w->pump.lock);
	at = e->vid >= vid ? e->resumed : 0;
	pthread_mutex_unlock(&w->pump.lock);
	return at;
}

/* Read the node's status of the last view. */
static int ask(struct watch *w, struct perf_change *c)
{
	struct ctl_status *list;
	unsigned int count;
	int rc = perf_net_status(w->place->net, w->f->o->node, &list, &count);

	if (!rc && count)
		perf_change_view(c, 0, list);
	return rc;
}

/*
 * The time when a change began. Its phases follow one after the other, and the event comes at the
 * end of the last one.
 */
static uint64_t began(const struct watch *w, const struct perf_change *c)
{
	double us = 0;
	unsigned int i;

	for (i = 0; i < CTL_PHASES; i++)
		if (!isnan(c->stayer[0].phase[i]))
			us += c->stayer[0].phase[i];
	return w->at - perf_ticks(us * 1000);
}

static int settle(struct watch *w)
{
	uint64_t last = perf_monotonic() + READ_NS;
	int rc = 0;

	while (!rc && !resumed(w, w->seen) && perf_monotonic() < last)
		rc = perf_failover_nap(&w->pump);
	for (last = perf_monotonic() + SETTLE_NS; !rc && perf_monotonic() < last;)
		rc = perf_failover_nap(&w->pump);
	return rc;
}

static int tell(struct watch *w)
{
	struct perf_change *c;
	int rc = settle(w);

	if (rc)
		return rc;
	c = perf_change_new(&w->f->all, 1);
	c->stayer[0].node = w->f->o->node;
	rc = ask(w, c);
	if (rc)
		return rc;
	c->views = c->vid - w->vid;
	c->to = resumed(w, w->seen);
	/* This process may have read the event late, and the first message comes after the view. */
	if (c->to && c->to < w->at)
		w->at = c->to;
	c->from = began(w, c);
	if (!c->to)
		c->to = perf_now();
	c->stayer[0].gap = perf_pump_sort(&w->pump, 0, c->from, c->to, &w->f->quiet[0].hist);
	w->vid = c->vid;
	if (!w->f->o->json || w->f->o->json_file)
		perf_fout_view(c);
	return 0;
}

static int watch(struct watch *w)
{
	int rc = 0;

	while (!rc && perf_monotonic() < w->end) {
		hear(w);
		rc = perf_failover_dead(&w->pump);
		if (!rc && w->seen > w->vid)
			rc = tell(w);
	}
	/* A signal is a normal way to end watching. */
	return rc == -EINTR ? 0 : rc;
}

static int begin(struct watch *w)
{
	const struct perf_fopts *o = w->f->o;
	int rc;

	perf_pump_init(&w->pump, 1);
	rc = perf_pump_open(&w->pump.end[0], &o->load, o->node, o->subgroup);
	if (rc)
		return rc;
	if (!(w->pump.end[0].q.features & SPINDLE_FEAT_LIVE)) {
		ctl_err("node %u is in no live view; its view does not change", o->node);
		return -EINVAL;
	}
	w->vid = w->pump.end[0].vid;
	w->end = perf_monotonic() + o->watch * 1000000000ULL;
	perf_failover_readers(w->f, &w->pump);
	w->place->node[w->place->nodes++] = o->node;
	rc = perf_place_devices(w->place);
	return rc ? rc : perf_pump_start(&w->pump);
}

/**
 * perf_watch() - watch a node
 * @f: out: results
 * @place: place, with a socket for requests
 * @events: socket that listens
 *
 * Return: 0, or a negative errno after a message
 */
int perf_watch(struct perf_failover *f, struct perf_place *place, struct ctl_net *events)
{
	struct watch w = { .f = f, .place = place, .events = events };
	int rc = begin(&w);

	if (!rc) {
		rc = watch(&w);
		perf_clock_refine();
		perf_failover_sum(f, &w.pump);
		perf_pump_sort(&w.pump, 0, 1, 0, &f->quiet[0].hist);
		if (!f->o->json || f->o->json_file)
			perf_fout_watched(f);
	}
	perf_pump_end(&w.pump);
	return rc;
}
