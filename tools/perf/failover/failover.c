// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes of this kernel in a live view. The last node, the mover, leaves and joins. A subgroup is
 * added and removed. See failover.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/spindle_genl.h>

#include "common/clock.h"
#include "common/event.h"
#include "common/util.h"
#include "common/wire.h"
#include "extra.h"
#include "failover.h"
#include "mover.h"
#include "perf/net.h"
#include "perf/stop.h"

/* The subgroup of the nodes that stay. */
#define FIXED		2

#define LOOK_MS		20
#define NAP_NS		5000000

/**
 * struct run - the state of a run
 */
struct run {
	/** @f: results */
	struct perf_failover f;
	/** @o: options */
	struct perf_fopts o;
	/** @place: nodes; the mover is the last one */
	struct perf_place place;
	/** @net: socket for requests */
	struct ctl_net net;
	/** @events: socket that listens */
	struct ctl_net events;
	/** @pump: ends of the nodes that stay: first those of PERF_SUBGROUP, then those of FIXED */
	struct perf_pump pump;
	/** @mover: the process of the mover */
	struct perf_mover mover;
	/** @node: id of the mover */
	uint32_t node;
	/** @stayers: number of nodes that stay */
	unsigned int stayers;
	/** @in: the mover is a member */
	bool in;
	/** @wanted: the mover is to be a member */
	bool wanted;
	/** @extra: the view has the extra subgroup */
	bool extra;
	/** @vid: the view */
	uint64_t vid;
};

static struct run run;

/* Remove the nodes, however the program ends. */
static void leave(void)
{
	perf_mover_stop(&run.mover);
	perf_pump_end(&run.pump);
	perf_place_leave(&run.place);
}

/* Have all ends continued? Return: 0, or a negative errno after a message */
int perf_failover_dead(struct perf_pump *pump)
{
	const struct perf_pump_end *e = perf_pump_dead(pump);

	if (!e)
		return perf_stopped() ? -EINTR : 0;
	if (e->gaps.lost)
		ctl_err("not enough memory to note all gaps");
	else
		ctl_err("node %u, subgroup %u: %s: %s", e->q.node, e->q.subgroup,
			spindle_state_string(spindle_state(&e->q)),
			spindle_strerror(spindle_error_code(&e->q)));
	return -ENOTCONN;
}

/* Sleep for a moment. Return: as perf_failover_dead() */
int perf_failover_nap(struct perf_pump *pump)
{
	const struct timespec nap = { 0, NAP_NS };
	int rc = perf_failover_dead(pump);

	nanosleep(&nap, NULL);
	return rc;
}

/* ---- nodes --------------------------------------------------------------- */

static void make_subgroup(struct ctl_subgroup *sg, uint32_t id)
{
	sg->val[CTL_SG_ID] = ctl_val_num(id);
	sg->val[CTL_SG_WINDOW] = ctl_val_num(run.o.window);
	sg->val[CTL_SG_MAX_MSG] = ctl_val_num(run.o.load.size);
}

static int make_view(void)
{
	struct ctl_subgroup sg[2] = { 0 };
	struct ctl_view view = {
		.vid = ctl_val_num(1),
		.is_live = true,
		.insecure = true,
		.live[CTL_LIVE_TIMEOUT] = ctl_val_num(run.o.timeout_ms),
		.subgroup = sg,
		.subgroups = 2,
	};
	unsigned int i;

	if (run.o.nodes > SPINDLE_DEF_MAX_NODES)
		view.live[CTL_LIVE_MAX_NODES] = ctl_val_num(run.o.nodes);
	if (run.o.kinds & PERF_MOVE_RULES)
		perf_extra_room(&view);
	make_subgroup(&sg[0], PERF_SUBGROUP);
	make_subgroup(&sg[1], FIXED);
	sg[0].rule[CTL_RULE_ON_EXIT] = ctl_val_num(SPINDLE_ON_EXIT_LEAVE);
	sg[1].members.set = true;
	for (i = 0; i < run.stayers; i++)
		ctl_ids_add(&sg[1].members, run.place.node[i]);
	return perf_setup_view(&run.place, &run.o.where, &view, run.stayers);
}

/* Make nodes with the defaults of --setup. */
static int make_nodes(uint32_t first, unsigned int nodes)
{
	struct perf_conf conf;

	perf_conf_default(&conf);
	return perf_setup_nodes(&run.place, &run.o.where, &conf, first, nodes);
}

static int attach_all(void)
{
	unsigned int i, s = run.stayers;
	int rc = 0;

	perf_pump_init(&run.pump, 2 * s);
	for (i = 0; !rc && i < 2 * s; i++)
		rc = perf_pump_open(&run.pump.end[i], &run.o.load, run.place.node[i % s],
				    i < s ? PERF_SUBGROUP : FIXED);
	return rc ? rc : perf_pump_start(&run.pump);
}

/* ---- waiting for a view -------------------------------------------------- */

/* Return: 1 if the node is in the new view, 0 if not yet, or a negative errno */
static int judge(const struct ctl_status *s, uint32_t node)
{
	const struct ctl_status_member *m = s ? ctl_status_member(s, run.node) : NULL;

	if (!s || !s->is_live || s->state == SPINDLE_LIVE_STOPPED) {
		ctl_err("node %u should stay, and has gone: %s", node,
			s && s->reason ? ctl_clean(s->reason) : "");
		return -ENOTCONN;
	}
	return s->state == SPINDLE_LIVE_ACTIVE && s->vid > run.vid &&
	       (m && m->rank.set) == run.wanted;
}

/* Are all nodes that stay in one new view? If so, their status goes into the change. */
static int look(struct perf_change *c)
{
	struct ctl_status *list;
	unsigned int count, i;
	int rc = perf_net_status(&run.net, 0, &list, &count);

	if (rc)
		return rc;
	for (i = 0; i < run.stayers; i++) {
		uint32_t node = run.place.node[i];
		const struct ctl_status *s = ctl_status_find(list, count, node);

		rc = judge(s, node);
		if (rc <= 0)
			return rc;
		if (i && s->vid != c->vid)
			return 0;
		c->stayer[i].node = node;
		perf_change_view(c, i, s);
	}
	return 1;
}

/* Has the mover left its view, so that it can join again? */
static int look_free(struct perf_change *c)
{
	struct ctl_status *list;
	unsigned int count;
	int rc = perf_net_status(&run.net, run.node, &list, &count);

	(void)c;
	if (rc)
		return rc;
	return !count || !list->is_live || list->state == SPINDLE_LIVE_STOPPED;
}

/*
 * Have all nodes that stay read a message of the new view? The last of these reads ends the change.
 */
static int look_read(struct perf_change *c)
{
	bool all = true;
	unsigned int i;

	pthread_mutex_lock(&run.pump.lock);
	for (i = 0; i < run.stayers; i++) {
		const struct perf_pump_end *e = &run.pump.end[i];

		all &= e->vid >= c->vid && e->resumed;
		if (e->resumed > c->to)
			c->to = e->resumed;
	}
	pthread_mutex_unlock(&run.pump.lock);
	return all;
}

static int look_after(struct perf_change *c)
{
	return perf_pump_after(&run.pump, c->to);
}

/*
 * Wait until @done returns non-zero. An event only says that it is time to look again; its content
 * is not read.
 */
static int wait_for(int (*done)(struct perf_change *c), struct perf_change *c, const char *what)
{
	uint64_t end = perf_monotonic() + run.o.give_up * 1000000000ULL;
	const struct timespec nap = { 0, NAP_NS };
	struct nlmsghdr *nlh;
	int rc;

	for (;;) {
		rc = done(c);
		if (!rc)
			rc = perf_failover_dead(&run.pump);
		if (rc)
			return rc < 0 ? rc : 0;
		if (perf_monotonic() > end) {
			ctl_err("%s: not after %u s; see spindle-ctl status", what,
				run.o.give_up);
			return -ETIMEDOUT;
		}
		if (ctl_event_recv(&run.events, LOOK_MS, &nlh) < 0)
			nanosleep(&nap, NULL);
	}
}

/* ---- a change ------------------------------------------------------------ */

static int ask(uint8_t cmd, uint32_t node, uint32_t peer, const char *what)
{
	struct ctl_req *req = perf_net_req(&run.net, cmd, node, what);

	if (peer)
		perf_net_u32(req, SPINDLE_A_PEER_ID, "peer", peer);
	return perf_net_call(&run.net, req, NULL, CTL_SAY);
}

static int remove_mover(void)
{
	int rc = perf_net_node_del(&run.net, run.node);

	if (!rc) {
		run.place.nodes--;
		run.place.made--;
	}
	return rc;
}

static double since(const struct perf_change *c, uint64_t time)
{
	return perf_us(perf_since(time, c->from));
}

static int join(struct perf_change *c)
{
	struct perf_mover_news news;
	int rc = perf_mover_go(&run.mover);

	if (!rc)
		rc = perf_mover_wait(&run.mover, PERF_MOVER_CAME, run.o.give_up, &news);
	if (rc)
		return rc;
	c->from = news.asked;
	c->join_view = since(c, news.viewed);
	c->join_attach = since(c, news.attached);
	c->join_first = since(c, news.first);
	c->to = news.first;
	return 0;
}

static bool changes_rules(enum perf_move kind)
{
	return 1U << kind & PERF_MOVE_RULES;
}

static int begin(struct perf_change *c, enum perf_move kind)
{
	switch (kind) {
	case PERF_MOVE_JOIN:
		return join(c);
	case PERF_MOVE_LEAVE:
		return ask(SPINDLE_CMD_NODE_LEAVE, run.node, 0, "node leave");
	case PERF_MOVE_EVICT:
		return ask(SPINDLE_CMD_NODE_EVICT, run.place.node[0], run.node, "node evict");
	case PERF_MOVE_CRASH:
		perf_mover_kill(&run.mover);
		return 0;
	case PERF_MOVE_SUBGROUP_ADD:
	case PERF_MOVE_SUBGROUP_REPLACE:
	case PERF_MOVE_SUBGROUP_DEL:
		return perf_extra_ask(&run.net, run.place.node[0], kind);
	default:
		return remove_mover();
	}
}

/*
 * Wait until messages of the new view have been delivered. A subgroup whose members stay does not
 * notice the change, so any message after it will do.
 */
static int wait_end(struct perf_change *c, enum perf_move kind)
{
	int rc = 0;

	if (changes_rules(kind))
		c->to = perf_now();
	else
		rc = wait_for(look_read, c, "those that stay are delivered messages");
	return rc ? rc : wait_for(look_after, c, "messages flow");
}

/* Prepare the mover for its next join. */
static int clean_up(struct perf_change *c, enum perf_move kind)
{
	struct perf_mover_news news;
	int rc;

	if (kind == PERF_MOVE_JOIN || changes_rules(kind))
		return 0;
	rc = perf_mover_wait(&run.mover, PERF_MOVER_ENDED, run.o.give_up, &news);
	if (!rc && kind == PERF_MOVE_DEL)
		rc = make_nodes(run.node, 1);
	return rc ? rc : wait_for(look_free, c, "the node that goes has gone");
}

/* Store the gaps of the nodes that stay in the change. */
static void take_gaps(struct perf_change *c, bool counts)
{
	unsigned int i, s = run.stayers;

	if (!counts) {
		perf_pump_forget(&run.pump);
		return;
	}
	for (i = 0; i < s; i++) {
		c->stayer[i].gap = perf_pump_sort(&run.pump, i, c->from, c->to,
						  &run.f.quiet[i].hist);
		c->stayer[i].fixed = perf_pump_sort(&run.pump, s + i, c->from, c->to,
						    &run.f.quiet[s + i].hist);
	}
}

static int change(struct perf_changes *all, enum perf_move kind, unsigned int rep)
{
	struct perf_change *c = perf_change_new(all, run.stayers);
	int rc;

	run.wanted = changes_rules(kind) ? run.in : kind == PERF_MOVE_JOIN;
	c->rep = rep;
	c->from = perf_now();
	rc = begin(c, kind);
	if (!rc)
		rc = wait_for(look, c, "those that stay are in another view");
	if (!rc)
		rc = wait_end(c, kind);
	if (!rc) {
		c->views = c->vid - run.vid;
		run.vid = c->vid;
		run.in = run.wanted;
		if (changes_rules(kind))
			run.extra = kind != PERF_MOVE_SUBGROUP_DEL;
		take_gaps(c, rep);
		rc = clean_up(c, kind);
	}
	/* A change of which not all results are known does not count. */
	c->kind = rc ? PERF_MOVES : kind;
	if (rc)
		all->changes--;
	return rc;
}

/* Bring about what the next change undoes. This change does not count. */
static int prepare(enum perf_move kind)
{
	struct perf_changes spare = { 0 };
	bool add = kind != PERF_MOVE_SUBGROUP_ADD, in = kind != PERF_MOVE_JOIN;
	int rc;

	if (changes_rules(kind) ? run.extra == add : run.in == in)
		return 0;
	if (changes_rules(kind))
		kind = add ? PERF_MOVE_SUBGROUP_ADD : PERF_MOVE_SUBGROUP_DEL;
	else
		kind = in ? PERF_MOVE_JOIN : PERF_MOVE_LEAVE;
	rc = change(&spare, kind, 0);
	ctl_free(spare.change->stayer);
	ctl_free(spare.change);
	return rc;
}

/* Measure gaps while nothing changes. A gap that began before this time does not count. */
static int be_quiet(void)
{
	struct perf_change before = { .to = perf_now() };
	uint64_t end;
	int rc;

	rc = wait_for(look_after, &before, "messages flow");
	perf_pump_forget(&run.pump);
	end = perf_monotonic() + run.o.quiet_ms * 1000000ULL;
	while (!rc && perf_monotonic() < end)
		rc = perf_failover_nap(&run.pump);
	return rc;
}

static int all_changes(void)
{
	unsigned int rep, k;
	int rc = 0;

	for (rep = 1; !rc && rep <= run.o.reps; rep++) {
		for (k = 0; !rc && k < PERF_MOVES; k++) {
			if (!(run.o.kinds & 1U << k))
				continue;
			rc = prepare(k);
			if (!rc)
				rc = be_quiet();
			if (!rc)
				rc = change(&run.f.all, k, rep);
		}
	}
	return rc;
}

/* ---- the whole run --------------------------------------------------------- */

/* Prepare the results of all readers. Gaps are added as changes are measured. */
void perf_failover_readers(struct perf_failover *f, const struct perf_pump *pump)
{
	unsigned int i;

	f->quiets = pump->ends;
	f->quiet = ctl_alloc(pump->ends * sizeof(*f->quiet));
	for (i = 0; i < pump->ends; i++) {
		f->quiet[i].node = pump->end[i].q.node;
		f->quiet[i].subgroup = pump->end[i].q.subgroup;
	}
}

/* Store the totals of all readers, after the thread that drives them has stopped. */
void perf_failover_sum(struct perf_failover *f, struct perf_pump *pump)
{
	unsigned int i;

	perf_pump_stop(pump);
	for (i = 0; i < f->quiets; i++) {
		const struct perf_pump_end *e = &pump->end[i];

		f->quiet[i].sent = e->sent;
		f->quiet[i].delivered = e->delivered;
		f->quiet[i].seconds = perf_ns(perf_since(perf_now(), e->start)) / 1e9;
	}
}

static int measure(void)
{
	struct perf_change *first;
	struct perf_changes none = { 0 };
	unsigned int i;
	int rc;

	run.stayers = run.o.nodes - 1;
	run.node = perf_fopts_mover(&run.o);
	rc = make_nodes(run.o.where.first, run.o.nodes);
	if (!rc)
		rc = make_view();
	if (!rc)
		rc = perf_place_devices(&run.place);
	if (rc)
		return rc;
	first = perf_change_new(&none, run.stayers);
	rc = wait_for(look, first, "the first view is active");
	run.vid = first->vid;
	if (!rc)
		rc = attach_all();
	if (rc)
		return rc;
	perf_failover_readers(&run.f, &run.pump);
	for (i = run.stayers; i < run.f.quiets; i++)
		run.f.quiet[i].fixed = true;
	rc = wait_for(look_after, first, "messages flow");
	if (!rc)
		rc = all_changes();
	perf_failover_sum(&run.f, &run.pump);
	return rc;
}

static int change_views(void)
{
	int rc = perf_setup_addr(&run.o.where);

	if (rc)
		return rc;
	/* The nursery has to exist before there are nodes. */
	rc = perf_mover_start(&run.mover, &run.o);
	atexit(leave);
	if (!rc)
		rc = measure();
	perf_clock_refine();
	if (!run.o.json || run.o.json_file)
		perf_fout_table(&run.f);
	return rc;
}

/**
 * perf_failover_main() - spindle-perf failover
 * @argc: words, from "failover" on
 * @argv: words
 *
 * Return: exit code
 */
int perf_failover_main(int argc, char **argv)
{
	int rc = perf_fopts_parse(&run.o, argc, argv);

	if (rc)
		return rc < 0 ? ctl_flush(CTL_OK) : rc;
	run.f.o = &run.o;
	if (ctl_net_open(&run.net, CTL_SAY) || ctl_net_open(&run.events, CTL_SAY) ||
	    ctl_event_join(&run.events, "failover", false) < 0)
		return CTL_FAILED;
	run.place.net = &run.net;
	perf_limit_raise();
	perf_clock_init();
	perf_stop_catch();
	rc = run.o.watch ? perf_watch(&run.f, &run.place, &run.events) : change_views();
	if (run.o.json && perf_fout_json(&run.f, &run.place) && !rc)
		rc = -EIO;
	leave();
	rc = ctl_flush(rc ? CTL_FAILED : CTL_OK);
	perf_stop_die();
	return rc;
}
