// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histories, and the processes that read them: they come, fall behind, go, and come back to where
 * they were. See sim.h.
 */
#include "sim.h"

/**
 * kept_begin() - a subgroup that begins at a node may get a history
 * @node: the node
 * @group: the subgroup
 */
void kept_begin(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct kept *k = &g->kept;

	memset(k, 0, sizeof(*k));
	/* A stream of its own: the schedules are what they are without histories. */
	k->rng.state = rng_mix(node->sim->seed ^ (u64)node->index << 56 ^ (u64)group << 48 ^
			       (u64)node->inc << 40 ^ g->epoch);
	if (node->sim->max_msg > SIM_HISTORY / 2 ||
	    (rng_chance(&k->rng, 50) && !g->mc->durable))
		return;
	spindle_history_init(&k->h, k->ring, k->copy, k->ends, SIM_HISTORY >> SPINDLE_UNIT_SHIFT);
	spindle_mc_remember(g->mc, &k->h);
	k->on = true;
	k->vid = g->epoch;
	k->lsn = g->mc->deliver.lsn;
	k->want = k->lsn;
}

/**
 * kept_age() - the module does not remember old views for ever
 * @node: the node, which has installed a view
 */
void kept_age(struct node *node)
{
	u64 vid = spindle_mb_view(&node->mb)->vid;
	u32 g;

	for (g = 0; g < SIM_GROUPS; g++) {
		struct kept *k = &node->group[g].kept;

		if (!node->group[g].mc || !k->on || !rng_chance(&k->rng, 20))
			continue;
		spindle_history_age(&k->h, vid - min_t(u64, vid - 1, rng_below(&k->rng, 6)));
		log_aged(node, g);
	}
}

/* Is this a view that the entry may have been delivered in? */
static void check_vid(struct node *node, u32 group, u64 at)
{
	struct group *g = &node->group[group];
	struct kept *k = &g->kept;
	u64 last = g->mc->deliver.vid_due ? g->mc->deliver.vid_due - 1 :
					    spindle_mb_view(&node->mb)->vid;
	u64 vid = spindle_history_vid(&k->h, at, last), i;

	if (at < k->seen && vid < k->epoch[at & k->h.q.mask])
		sim_fail(node->sim, "node %u group %u: entry of view %llu is said to be of %llu",
			 node->index, group, (unsigned long long)k->epoch[at & k->h.q.mask],
			 (unsigned long long)vid);
	for (i = at; i < k->h.q.tail; i++)
		if (k->ring[i & k->h.q.mask].kind == SPINDLE_DLV_VIEW &&
		    k->ring[i & k->h.q.mask].slot <= vid)
			sim_fail(node->sim, "node %u group %u: entry before view %llu is said to be of it",
				 node->index, group,
				 (unsigned long long)k->ring[i & k->h.q.mask].slot);
}

/* A process attaches: where it was, or at the oldest message, or at the next one. */
static void comes(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct kept *k = &g->kept;
	u64 next = spindle_mc_next(g->mc);
	u64 oldest = spindle_history_oldest(&k->h, g->mc->deliver.lsn);
	u32 how = rng_below(&k->rng, 10);
	int err;

	k->q = (struct spindle_dlvq){
		.tail_word = &k->tail, .consumed_word = &k->consumed, .low_word = &k->low,
	};
	if (how < 2)
		k->want = how ? oldest : next;
	err = spindle_mc_attach_cursor(g->mc, &k->q, k->want);
	if (err == -ESTALE && k->want < oldest) {
		node->sim->overtaken++;
		k->want = oldest;
		err = spindle_mc_attach_cursor(g->mc, &k->q, oldest);
	} else if (how >= 2) {
		node->sim->came_back++;
	}
	if (err) {
		sim_fail(node->sim, "node %u group %u: position %llu of %llu to %llu gives %d",
			 node->index, group, (unsigned long long)k->want,
			 (unsigned long long)oldest, (unsigned long long)next, err);
		return;
	}
	k->consumed = k->q.consumed;
	k->reading = true;
	check_vid(node, group, k->consumed);
}

static void goes(struct group *g)
{
	spindle_mc_detach_reader(g->mc, &g->kept.q);
	g->kept.reading = false;
}

/* The process finds that the history has not waited for it. */
static void overtaken(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct kept *k = &g->kept;

	if (k->q.error != SPINDLE_ERR_BEHIND || spindle_dlvq_lsn(&k->q, 0) != k->want)
		sim_fail(node->sim, "node %u group %u: error %u at %llu, the reader is at %llu",
			 node->index, group, k->q.error,
			 (unsigned long long)spindle_dlvq_lsn(&k->q, 0),
			 (unsigned long long)k->want);
	goes(g);
}

/* With a gate, a reader gets only what is durable. */
static void check_gate(struct node *node, u32 group, u64 lsn)
{
	const struct spindle_mc *mc = node->group[group].mc;
	u32 log = spindle_mb_view(&node->mb)->subgroup[group].log;

	if (!(log & SPINDLE_LOGGED_GATE))
		return;
	if (lsn >= mc->durable->durable)
		sim_fail(node->sim, "node %u group %u: a reader gets position %llu, durable is %llu",
			 node->index, group, (unsigned long long)lsn,
			 (unsigned long long)mc->durable->durable);
	node->sim->gated++;
}

static void read_entry(struct node *node, u32 group)
{
	struct kept *k = &node->group[group].kept;
	u32 i = k->consumed++ & k->h.q.mask;

	if (k->ring[i].kind == SPINDLE_DLV_VIEW)
		return;
	check_gate(node, group, k->ring[i].lsn);
	if (k->ring[i].lsn != k->want)
		sim_fail(node->sim, "node %u group %u: position %llu in the history in place of %llu",
			 node->index, group, (unsigned long long)k->ring[i].lsn,
			 (unsigned long long)k->want);
	k->want = k->ring[i].lsn + 1;
	check_same(node, group, &k->held[i]);
	node->sim->kept++;
}

static void reads(struct node *node, u32 group)
{
	struct kept *k = &node->group[group].kept;
	u32 n;

	for (n = rng_below(&k->rng, 12); n && k->consumed != k->tail; n--) {
		if (k->low > k->consumed) {
			overtaken(node, group);
			return;
		}
		read_entry(node, group);
	}
}

/**
 * kept_run() - the process that reads the history does something, or nothing
 * @node: its node
 * @group: the subgroup
 */
void kept_run(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct kept *k = &g->kept;

	if (!k->on || !node_up(node))
		return;
	/* Entries are compared with what the checker has seen of them. */
	check_kept(node, group);
	if (!k->reading && rng_chance(&k->rng, 10))
		comes(node, group);
	else if (k->reading && rng_chance(&k->rng, 2))
		goes(g);
	if (k->reading && rng_chance(&k->rng, 30))
		reads(node, group);
}
