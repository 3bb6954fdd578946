// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs: the disks of the nodes, and the processes that write to them. A disk is fast, slow or
 * stopped, and keeps what it has when its node crashes. A logger comes, writes what the history
 * shows it, syncs some of that, tells the core late, is killed, and comes back. See sim.h.
 *
 * The checker sees all disks. When a member shows a message as durable, as many disks as the
 * subgroup's settings ask for have it. The view is established then: the rule had reached its base,
 * and of each view back to the last one that was established, a majority has the record of this one
 * on disk. With a gate no reader gets a message before. The durable position never goes back, and
 * the history keeps what its logger has not persisted. A change of the view waits for no disk. In
 * the end all that is delivered is durable, if enough members are left for that.
 */
#include "sim.h"

/**
 * logs_open() - do subgroups of this schedule have logs, and which disks work?
 * @sim: the schedule, with its sizes
 */
void logs_open(struct sim *sim)
{
	u32 i;

	sim->logs.state = rng_mix(sim->seed ^ 0xeeee);
	/* A history has room for two messages. */
	sim->logged = sim->max_msg <= SIM_HISTORY / 2 && rng_chance(&sim->logs, 50);
	sim->dead_disks = sim->logged && rng_chance(&sim->logs, 8);
	sim->still_disks = rng_chance(&sim->logs, 15);
	sim->impatient = rng_chance(&sim->logs, 20);
	for (i = 0; i < sim->nodes; i++) {
		sim->disk_speed[i] = 30 + rng_below(&sim->logs, 70);
		if (rng_chance(&sim->logs, 40))
			sim->disk_speed[i] = rng_below(&sim->logs, 5);
	}
}

/**
 * logs_give() - a subgroup may have logs
 * @sim: the schedule
 * @cfg: the subgroup
 */
void logs_give(struct sim *sim, struct spindle_view_subgroup *cfg)
{
	if (!sim->logged || cfg->mode != SPINDLE_MODE_ORDERED || rng_chance(&sim->logs, 30))
		return;
	cfg->log = SPINDLE_LOGGED;
	if (rng_chance(&sim->logs, 50))
		cfg->log |= SPINDLE_LOGGED_MAJORITY;
	if (rng_chance(&sim->logs, 40))
		cfg->log |= SPINDLE_LOGGED_GATE;
	if (rng_chance(&sim->logs, 50))
		cfg->min_copies = 1 + rng_below(&sim->logs, rng_chance(&sim->logs, 90) ? 3 : 8);
}

static void follow(struct sim *sim, u32 subgroup, u32 nodes)
{
	struct logged *all = &sim->views[subgroup];
	u32 node[SIM_NODES], n = 0, i;

	for (i = 0; i < sim->nodes; i++)
		if (nodes & BIT(i))
			node[n++] = i + 1;
	if (spindle_ranges_add(&sim->ranges.all, subgroup, node, n))
		sim_fail(sim, "subgroup %u: a range is refused", subgroup);
	/* Id 0 puts them in front of the views of this era. */
	all->view[all->n++] = (struct logged_view){ .nodes = nodes, .former = true };
}

/**
 * logs_follow() - subgroups of the first view may follow views of earlier eras
 * @sim: the schedule, with its first view
 */
void logs_follow(struct sim *sim)
{
	struct rng rng = { rng_mix(sim->seed ^ 0xeef0) };
	u32 g, n, nodes, i;

	if (!rng_chance(&rng, 40))
		return;
	for (g = 0; g < SIM_BORN; g++) {
		const struct spindle_view_subgroup *cfg = &sim->first.subgroup[g];

		if (!cfg->log || !cfg->members || rng_chance(&rng, 30))
			continue;
		for (n = 1 + rng_below(&rng, SIM_RANGE); n; n--) {
			nodes = BIT(rng_below(&rng, sim->nodes));
			for (i = 0; i < sim->nodes; i++)
				nodes |= rng_chance(&rng, 60) ? BIT(i) : 0;
			follow(sim, cfg->id, nodes);
		}
	}
}

static struct disk *disk_of(const struct node *node, u32 group)
{
	return &node->sim->disk[node->index][node->group[group].mc->id];
}

static const struct spindle_view_subgroup *config(const struct node *node, u32 group)
{
	return &spindle_mb_view(&node->mb)->subgroup[group];
}

/* ---- what has to be so ---------------------------------------------------------- */

static u64 nodes_of(const struct group *g)
{
	u64 nodes = 0;
	u32 r;

	for (r = 0; r < g->mc->members; r++)
		nodes |= BIT_ULL(g->member_node[r]);
	return nodes;
}

static struct logged_view *find_view(struct logged *all, u64 vid)
{
	u32 i;

	for (i = 0; i < all->n; i++)
		if (all->view[i].vid == vid)
			return &all->view[i];
	return NULL;
}

static bool is_fresh(const struct node *node, u32 group)
{
	const struct spindle_view_subgroup *was = &node->mb.view[!node->mb.now].subgroup[group];
	const struct spindle_mc *mc = node->group[group].mc;

	if (mc->vid == node->sim->first.vid)
		return !node->sim->views[mc->id].n;
	return spindle_view_closed(was) || was->id != mc->id ||
	       (!was->members && !mc->deliver.lsn);
}

/* Members begin in any order, and a member may be behind by several views. */
static void note_view(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct logged *all = &node->sim->views[g->mc->id];
	u32 i;

	if (find_view(all, g->mc->vid) || all->n == SIM_VIEWS)
		return;
	for (i = all->n++; i && all->view[i - 1].vid > g->mc->vid; i--)
		all->view[i] = all->view[i - 1];
	all->view[i] = (struct logged_view){
		.vid = g->mc->vid,
		.nodes = nodes_of(g),
		.base = g->mc->deliver.lsn,
		.fresh = is_fresh(node, group),
	};
}

/* Nothing is known of the disk of a liar, so it may have all. */
static bool is_on_disk(const struct node *node, u32 group, u32 index, u64 lsn)
{
	return liar_is(node->sim, index) ||
	       node->sim->disk[index][node->group[group].mc->id].persisted >= lsn;
}

static u32 copies_of(const struct spindle_view_subgroup *cfg, u32 members)
{
	return cfg->min_copies ?: min(members, 2U);
}

/* Do as many disks of the present members have all messages below @lsn as the settings ask for? */
static void check_disks(struct node *node, u32 group, u64 lsn, const char *what)
{
	const struct group *g = &node->group[group];
	const struct spindle_view_subgroup *cfg = config(node, group);
	u32 n = g->mc->members, have = 0, need, r;

	for (r = 0; r < n; r++)
		have += is_on_disk(node, group, g->member_node[r], lsn);
	need = cfg->log & SPINDLE_LOGGED_MAJORITY ? n / 2 + 1 : n;
	need = max(need, copies_of(cfg, n));
	if (have < need)
		sim_fail(node->sim, "node %u group %u: %s %llu is on %u disks of %u, not on %u",
			 node->index, group, what, (unsigned long long)lsn, have, n, need);
}

/* Does a majority of the members of @view have the record of view @vid or of a later one? */
static bool has_records(const struct sim *sim, u32 id, const struct logged_view *view, u64 vid)
{
	u32 have = 0, i;

	for (i = 0; i < sim->nodes; i++)
		have += (view->nodes & BIT_ULL(i)) && sim->disk[i][id].record >= vid;
	return 2 * have > hweight64(view->nodes);
}

/* A member is the first one that takes the view for established. */
static void check_established(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct sim *sim = node->sim;
	struct logged *all = &sim->views[g->mc->id];
	struct logged_view *view = find_view(all, g->mc->vid), *v;

	if (sim->liar || !view || view->established)
		return;
	if (view->base)
		check_disks(node, group, view->base, "the base");
	for (v = view; v >= all->view && !sim->failed; v--) {
		if (!has_records(sim, g->mc->id, v, view->vid))
			sim_fail(sim, "node %u group %u: view %llu is not established, for view %llu",
				 node->index, group, (unsigned long long)view->vid,
				 (unsigned long long)v->vid);
		if (v->established || v->fresh)
			break;
	}
	sim->established++;
	sim->long_ranges += view - v > 1;
	sim->followed += all->view[0].former && v < all->view;
	view->established = true;
}

/* Does the history have what its logger still needs, unless it has given the logger up? */
static void check_kept_for_logger(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	const struct spindle_durable *d = g->mc->durable;
	u64 oldest = spindle_history_oldest(&g->kept.h, g->mc->deliver.lsn);
	struct logger *l = &g->log;

	l->from = max(l->from, d->member[d->me].word[SPINDLE_LOG_COL_PERSISTED]);
	if (oldest <= l->from)
		l->aged = false;
	else if (l->from && !d->behind && !l->aged)
		sim_fail(node->sim, "node %u group %u: the history begins at %llu, the logger needs %llu",
			 node->index, group, (unsigned long long)oldest,
			 (unsigned long long)l->from);
}

/**
 * log_check() - a subgroup has had a pass
 * @node: its node
 * @group: the subgroup
 */
void log_check(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	const struct spindle_durable *d = g->mc->durable;
	struct logger *l = &g->log;
	struct sim *sim = node->sim;

	if (!d || liar_is(sim, node->index))
		return;
	if (d->bad)
		sim_fail(sim, "node %u group %u: an honest logger is frozen", node->index, group);
	if (d->durable < l->durable || d->durable > g->mc->deliver.lsn)
		sim_fail(sim, "node %u group %u: durable goes from %llu to %llu of %llu",
			 node->index, group, (unsigned long long)l->durable,
			 (unsigned long long)d->durable, (unsigned long long)g->mc->deliver.lsn);
	if (l->began != g->mc->vid)
		l->established = false;
	l->began = g->mc->vid;
	if (d->established && !l->established)
		check_established(node, group);
	l->established = d->established;
	if (d->durable != l->durable) {
		if (!d->established)
			sim_fail(sim, "node %u group %u: durable moves too early", node->index,
				 group);
		check_disks(node, group, d->durable, "durable");
		sim->durable++;
	}
	l->durable = d->durable;
	check_kept_for_logger(node, group);
}

/* ---- the logger ---------------------------------------------------------------- */

/**
 * log_begin() - a subgroup begins in a view
 * @node: the node
 * @group: the subgroup
 * @again: the node was in it before
 */
void log_begin(struct node *node, u32 group, bool again)
{
	struct group *g = &node->group[group];
	struct logger *l = &g->log;

	if (!g->mc->durable)
		return;
	note_view(node, group);
	if (again)
		return;
	memset(l, 0, sizeof(*l));
	/* A stream of its own, as in kept_begin(). */
	l->rng.state = rng_mix(node->sim->seed ^ 0xeeee ^ (u64)node->index << 56 ^
			       (u64)group << 48 ^ (u64)node->inc << 40 ^ g->epoch);
}

/**
 * log_end() - the node is not in the subgroup any more
 * @g: the subgroup
 */
void log_end(struct group *g)
{
	memset(&g->log, 0, sizeof(g->log));
}

/**
 * log_aged() - the history has forgotten old views, for whomever it kept them
 * @node: the node
 * @group: the subgroup
 */
void log_aged(struct node *node, u32 group)
{
	node->group[group].log.aged = true;
}

/* Tell the core what is on disk. */
static void tell(struct node *node, u32 group)
{
	struct logger *l = &node->group[group].log;
	const struct disk *disk = disk_of(node, group);

	l->words.persisted = disk->persisted;
	l->words.low = disk->low;
	l->words.snapshot = disk->snapshot;
	l->words.record = disk->record;
	l->words.state = l->written < node->group[group].mc->deliver.lsn ?
			 SPINDLE_LOG_CATCHING_UP : SPINDLE_LOG_LOGGING;
	smp_store_release(&l->words.change, l->words.change + 1);
	l->half = false;
}

/* The core may look while the process stores the words. This one is the first. */
static void tell_half(struct node *node, u32 group)
{
	node->group[group].log.words.persisted = disk_of(node, group)->persisted;
	node->group[group].log.half = true;
}

/* The disk that has the most of those of the members that are up. */
static u64 most_of_others(const struct node *node, u32 group)
{
	const struct group *g = &node->group[group];
	const struct sim *sim = node->sim;
	u64 most = 0;
	u32 r;

	for (r = 0; r < g->mc->members; r++)
		if (node_up(&sim->node[g->member_node[r]]))
			most = max(most, sim->disk[g->member_node[r]][g->mc->id].persisted);
	return min(most, g->mc->deliver.lsn);
}

/*
 * The history does not have what the disk needs next. The messages come from another member's log,
 * or a snapshot of a program stands for them.
 */
static void fetch(struct node *node, u32 group, u64 oldest)
{
	struct disk *disk = disk_of(node, group);
	struct logger *l = &node->group[group].log;
	u64 most = most_of_others(node, group);
	struct sim *sim = node->sim;

	if (most > disk->persisted) {
		u64 n = 1 + rng_below(&l->rng, min_t(u64, most - disk->persisted, 1000));

		n = sim->quiet ? most - disk->persisted : n;
		disk->persisted += n;
		sim->fetched++;
	} else if (sim->quiet || rng_chance(&l->rng, 2)) {
		disk->persisted = oldest;
		sim->snapshots++;
	}
}

static bool may_sync(const struct sim *sim)
{
	return !sim->dead_disks && (sim->quiet || !sim->still_disks);
}

/* A logger attaches where the disk ends. */
static void comes(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct kept *k = &g->kept;
	u64 at = disk_of(node, group)->persisted;
	u64 oldest = spindle_history_oldest(&k->h, g->mc->deliver.lsn);
	struct logger *l = &g->log;
	int err;

	if (at < oldest) {
		if (may_sync(node->sim))
			fetch(node, group, oldest);
		return;
	}
	l->q = (struct spindle_dlvq){
		.tail_word = &l->tail, .consumed_word = &l->consumed, .low_word = &l->low,
		.logger = true,
	};
	memset(&l->words, 0, sizeof(l->words));
	l->half = false;
	err = spindle_mc_attach_cursor(g->mc, &l->q, at);
	err = err ?: spindle_durable_attach(g->mc, &l->words, at);
	if (err) {
		/* What members deliver may differ behind a lie. */
		if (!node->sim->liar)
			sim_fail(node->sim, "node %u group %u: no logger can begin at %llu: %d",
				 node->index, group, (unsigned long long)at, err);
		return;
	}
	l->consumed = l->q.consumed;
	l->written = at;
	l->from = at;
	l->given_up = g->mc->durable->given_up;
	l->vid = spindle_history_vid(&k->h, l->consumed, g->mc->deliver.vid_due ?
				     g->mc->deliver.vid_due - 1 :
				     spindle_mb_view(&node->mb)->vid);
	l->attached = true;
	node->sim->loggers++;
	if (rng_chance(&l->rng, 50))
		tell(node, group);
}

/* The logger is gone, and with it what it has not synced. */
static void goes(struct node *node, u32 group)
{
	struct group *g = &node->group[group];

	spindle_mc_detach_reader(g->mc, &g->log.q);
	spindle_durable_detach(g->mc);
	g->log.attached = false;
	spindle_mg_touch(&node->mg, group);
}

static void overtaken(struct node *node, u32 group)
{
	const struct spindle_durable *d = node->group[group].mc->durable;
	const struct logger *l = &node->group[group].log;

	if (l->q.error != SPINDLE_ERR_BEHIND ||
	    (!d->behind && !l->aged && d->given_up == l->given_up))
		sim_fail(node->sim, "node %u group %u: the logger is dropped at %llu, error %u",
			 node->index, group, (unsigned long long)l->written, l->q.error);
	goes(node, group);
}

/* Write what the history has to the disk. Nothing of it is synced. */
static void writes(struct node *node, u32 group)
{
	struct kept *k = &node->group[group].kept;
	struct logger *l = &node->group[group].log;
	u32 n = rng_below(&l->rng, node->sim->quiet ? 64 : 12);

	if (n && l->low > l->consumed) {
		overtaken(node, group);
		return;
	}
	for (; n && l->consumed != l->tail; n--) {
		const struct spindle_dlv *d = &k->ring[l->consumed & k->h.q.mask];

		if (d->kind == SPINDLE_DLV_VIEW)
			l->vid = d->slot;
		else if (d->lsn != l->written++)
			sim_fail(node->sim, "node %u group %u: the logger gets %llu, not %llu",
				 node->index, group, (unsigned long long)d->lsn,
				 (unsigned long long)l->written - 1);
		l->consumed++;
	}
}

/* The disk gets some of what is written, the log loses some of its beginning, or none of both. */
static void syncs(struct node *node, u32 group)
{
	struct disk *disk = disk_of(node, group);
	struct logger *l = &node->group[group].log;
	struct sim *sim = node->sim;

	if (!may_sync(sim) ||
	    !rng_chance(&l->rng, sim->quiet ? 60 : sim->disk_speed[node->index]))
		return;
	if (l->written > disk->persisted)
		disk->persisted = rng_chance(&l->rng, 30) ? l->written :
			disk->persisted + 1 + rng_below(&l->rng, l->written - disk->persisted);
	/* Records may come late, and before or behind the messages. */
	if (rng_chance(&l->rng, 40))
		disk->record = max(disk->record, l->vid);
	if (rng_chance(&l->rng, 10)) {
		disk->low += rng_below(&l->rng, min_t(u64, disk->persisted - disk->low, 100) + 1);
		disk->snapshot = disk->low;
	}
}

static bool is_told(const struct node *node, u32 group)
{
	const struct logger *l = &node->group[group].log;
	const struct disk *disk = disk_of(node, group);

	return l->words.change && !l->half && l->words.persisted == disk->persisted &&
	       l->words.record == disk->record;
}

/* The policy of a node does not wait for a disk for ever. */
static void lose_patience(struct node *node, u32 group)
{
	struct spindle_mc *mc = node->group[group].mc;

	if (!node->sim->impatient || !mc->deliver.blocked ||
	    !rng_chance(&node->group[group].log.rng, 2))
		return;
	spindle_durable_give_up(mc);
	spindle_mg_touch(&node->mg, group);
}

/**
 * log_run() - the logger of a subgroup does something, or nothing
 * @node: its node
 * @group: the subgroup
 */
void log_run(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct logger *l = &g->log;
	struct sim *sim = node->sim;
	u64 given_up;

	if (!g->mc->durable || !node_up(node))
		return;
	given_up = g->mc->durable->given_up;
	lose_patience(node, group);
	sim->gave_up += g->mc->durable->given_up - given_up;
	if (!l->attached && rng_chance(&l->rng, 20))
		comes(node, group);
	else if (l->attached && !sim->quiet && rng_chance(&l->rng, 1))
		goes(node, group);
	if (!l->attached)
		return;
	writes(node, group);
	if (!l->attached)
		return;
	syncs(node, group);
	if (is_told(node, group))
		return;
	if (rng_chance(&l->rng, 50))
		tell(node, group);
	else if (rng_chance(&l->rng, 10))
		tell_half(node, group);
}

/* ---- the end ---------------------------------------------------------------------- */

/* Have enough members of each view that a restart could begin from come to the present one? */
static bool can_establish(const struct spindle_durable *d)
{
	u32 i;

	for (i = 0; i < d->views; i++)
		if (2 * hweight64(d->view[i].now) <= d->view[i].members)
			return false;
	return d->known;
}

/* Is a member left that knows which views there were, and are enough members of them left? */
static bool may_move(const struct node *node, u32 group)
{
	const struct group *g = &node->group[group];
	bool may = false;
	u32 r;

	if (copies_of(config(node, group), g->mc->members) > g->mc->members)
		return false;
	for (r = 0; r < g->mc->members; r++) {
		const struct node *other = &node->sim->node[g->member_node[r]];
		const struct spindle_mc *mc = other->group[group].mc;

		if (!node_up(other) || !mc || mc->vid != g->mc->vid)
			continue;
		may |= mc->durable->established || can_establish(mc->durable);
	}
	return may;
}

/**
 * log_at_rest() - is all that is delivered durable, if it ever will be?
 * @node: a node
 * @group: a subgroup of it
 *
 * Return: true if so
 */
bool log_at_rest(struct node *node, u32 group)
{
	const struct spindle_mc *mc = node->group[group].mc;

	return !mc->durable || node->sim->liar || node->sim->dead_disks ||
	       mc->durable->durable == mc->deliver.lsn || !may_move(node, group);
}

/**
 * log_waits() - do messages of a subgroup perhaps wait for dead disks?
 * @node: a node
 * @group: a subgroup of it
 *
 * Return: true if so
 */
bool log_waits(const struct node *node, u32 group)
{
	return node->sim->dead_disks && node->group[group].mc->durable;
}

/**
 * log_check_end() - all disks and members have been well for long enough
 * @node: a node
 * @group: a subgroup of it
 */
void log_check_end(struct node *node, u32 group)
{
	const struct spindle_mc *mc = node->group[group].mc;
	struct sim *sim = node->sim;

	if (!mc->durable)
		return;
	if (sim->dead_disks) {
		sim->waited += mc->deliver.blocked;
		return;
	}
	if (!may_move(node, group)) {
		sim->stood_still++;
		return;
	}
	if (mc->durable->durable != mc->deliver.lsn || spindle_mc_next(mc) != mc->deliver.lsn)
		sim_fail(sim, "end: node %u group %u: %llu of %llu are durable, readers see %llu",
			 node->index, group, (unsigned long long)mc->durable->durable,
			 (unsigned long long)mc->deliver.lsn,
			 (unsigned long long)spindle_mc_next(mc));
	sim->all_durable++;
}
