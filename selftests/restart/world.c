// SPDX-License-Identifier: GPL-2.0-only
/*
 * Views, logs, records, and what is durable. The rules are those of kmod/core/multicast/durable.c
 * and of tools/logd/record.c, in other words.
 */
#include <string.h>

#include "sim.h"

#define BIT32(i) (1U << (i))

static u32 weight(u32 set)
{
	return (u32)__builtin_popcount(set);
}

bool world_is_on_path(const struct sim *sim, u32 s, int view, int of)
{
	for (; of != NOWHERE; of = sim->view[s][of].parent)
		if (of == view)
			return true;
	return false;
}

bool world_runs(const struct sim *sim, u32 j)
{
	return sim->node[j].group != NOWHERE;
}

/* Is the node in the present view of its group? */
static bool is_current(const struct sim *sim, u32 j)
{
	const struct node *node = &sim->node[j];

	return node->group != NOWHERE && node->vid == sim->group[node->group].vid;
}

int world_find(const struct sim *sim, u32 s, const struct spindle_restart_id *id)
{
	int v;

	for (v = 0; v < (int)sim->views[s]; v++)
		if (sim->view[s][v].id.era == id->era && sim->view[s][v].id.vid == id->vid)
			return v;
	return NOWHERE;
}

u32 world_common(const struct sim *sim, u32 s, const u8 *a, u32 a_len, const u8 *b, u32 b_len)
{
	u32 i, most = a_len < b_len ? a_len : b_len;

	(void)sim;
	(void)s;
	for (i = 0; i < most && a[i] == b[i]; i++)
		;
	return i;
}

static u32 readable(const struct node_log *log)
{
	return log->len - log->damaged;
}

/* What a node's log has of the sequence of a view. */
static u32 has_of(const struct sim *sim, u32 j, u32 s, int v)
{
	const struct node_log *log = &sim->node[j].log[s];

	return world_common(sim, s, log->seq, readable(log), sim->view[s][v].seq,
			    sim->view[s][v].top);
}

int world_new_view(struct sim *sim, u32 s, int parent, u32 base, u32 members)
{
	int v = (int)sim->views[s]++;
	struct sview *view = &sim->view[s][v];

	*view = (struct sview){ .parent = parent, .base = base, .top = base, .members = members };
	if (parent != NOWHERE)
		memcpy(view->seq, sim->view[s][parent].seq, base);
	sim->n_views++;
	return v;
}

/* ---- durable --------------------------------------------------------------------------- */

static u32 find_reach(const struct sim *sim, u32 s, int v)
{
	const struct sview *view = &sim->view[s][v];
	u32 rule = sim->majority[s] ? weight(view->members) / 2 + 1 : weight(view->members);
	u32 b, j, copies, reach = 0;

	if (rule < sim->copies)
		rule = sim->copies;
	for (b = 1; b <= view->top; b++) {
		copies = 0;
		for (j = 0; j < sim->nodes; j++)
			if (view->members & BIT32(j) && has_of(sim, j, s, v) >= b)
				copies++;
		if (copies >= rule)
			reach = b;
	}
	return reach;
}

/* Has a majority of each view of the list the record of the view, or of a later one? */
static bool has_records(const struct sim *sim, u32 s, int v, const struct list *list)
{
	u32 i, j, set = 0;

	for (j = 0; j < sim->nodes; j++) {
		const struct list *record = &sim->node[j].record[s];

		if (sim->view[s][v].members & BIT32(j) && record->n &&
		    world_is_on_path(sim, s, v, record->view[record->n - 1]))
			set |= BIT32(j);
	}
	for (i = 0; i < list->n; i++) {
		u32 members = sim->view[s][list->view[i]].members;

		if (2 * weight(members & set) <= weight(members))
			return false;
	}
	return true;
}

static bool is_told(const struct sim *sim, u32 j, u32 s)
{
	u32 i;

	for (i = 0; i < sim->nodes; i++)
		if (i != j && world_runs(sim, i) && sim->node[i].view[s] == sim->node[j].view[s] &&
		    sim->node[i].established[s])
			return true;
	return false;
}

/* Is a restart of this content on the way to a view? */
bool world_is_followed(const struct sim *sim, u32 s, u64 origin, int of)
{
	for (; of != NOWHERE; of = sim->view[s][of].parent)
		if (sim->view[s][of].origin == origin)
			return true;
	return false;
}

/*
 * L5: all restarts that stand have what is shown, or are before it. Two restarts of one proposal
 * are the same one, and at most one of them shows anything.
 */
static void check_shown(struct sim *sim, u32 s, int v)
{
	int b;

	for (b = 0; b < (int)sim->views[s]; b++) {
		const struct sview *view = &sim->view[s][b];

		if (!view->stands || world_is_followed(sim, s, view->origin, v))
			continue;
		if (world_common(sim, s, view->seq, view->top, sim->shown[s],
				 sim->shown_len[s]) < sim->shown_len[s])
			sim_fail(sim, "L5: restart %llu does not have what view %llu.%llu shows",
				 (unsigned long long)view->id.era,
				 (unsigned long long)sim->view[s][v].id.era,
				 (unsigned long long)sim->view[s][v].id.vid);
	}
}

/* A prefix is shown as durable. */
static void reveal(struct sim *sim, u32 s, int v, u32 durable)
{
	const struct sview *view = &sim->view[s][v];
	u32 common = world_common(sim, s, view->seq, durable, sim->shown[s], sim->shown_len[s]);
	u32 j, copies = 0;

	if (common < durable && common < sim->shown_len[s])
		sim_fail(sim, "L5: view %llu.%llu shows another sequence",
			 (unsigned long long)view->id.era, (unsigned long long)view->id.vid);
	if (durable <= sim->shown_len[s])
		return;
	for (j = 0; j < sim->nodes; j++)
		copies += has_of(sim, j, s, v) >= durable;
	if (copies < sim->copies)
		sim_fail(sim, "%u copies of what is durable", copies);
	memcpy(sim->shown[s], view->seq, durable);
	sim->shown_len[s] = durable;
	sim->shown_era[s] = view->id.era;
	sim->n_durable++;
	SAY(sim, "durable: subgroup %u, %u in view %llu.%llu\n", s, durable,
	    (unsigned long long)view->id.era, (unsigned long long)view->id.vid);
	check_shown(sim, s, v);
}

/* A node looks at the columns of the others. */
void world_poll(struct sim *sim, u32 j, u32 s)
{
	struct node *node = &sim->node[j];
	struct list *list = &node->list[s];
	int v = node->view[s];
	u32 reach;

	if (!world_runs(sim, j) || v == NOWHERE)
		return;
	reach = find_reach(sim, s, v);
	if (!node->established[s]) {
		if (!(list->known && reach >= sim->view[s][v].base &&
		      has_records(sim, s, v, list)) && !is_told(sim, j, s))
			return;
		node->established[s] = true;
		node->blind[s] = false;
		list->known = true;
		list->view[0] = v;
		list->n = 1;
		/* L3: a restart shows no less than was shown before. */
		if (sim->view[s][v].id.era > sim->shown_era[s] && reach < sim->shown_len[s])
			sim_fail(sim, "L3: view %llu.%llu shows %u, and %u was shown",
				 (unsigned long long)sim->view[s][v].id.era,
				 (unsigned long long)sim->view[s][v].id.vid, reach,
				 sim->shown_len[s]);
	}
	reveal(sim, s, v, reach);
}

/* A member that knows the range sends it to a joiner (A5). */
void world_see(struct sim *sim, u32 j, u32 s)
{
	struct node *node = &sim->node[j];
	u32 i;

	if (!world_runs(sim, j) || !node->blind[s] || !sim->range_sent)
		return;
	for (i = 0; i < sim->nodes; i++)
		if (world_runs(sim, i) && sim->node[i].view[s] == node->view[s] &&
		    !sim->node[i].blind[s]) {
			node->list[s] = sim->node[i].list[s];
			node->blind[s] = false;
		}
}

bool world_sync_record(struct sim *sim, u32 j, u32 s)
{
	struct node *node = &sim->node[j];

	if (!world_runs(sim, j) || node->view[s] == NOWHERE)
		return false;
	if (node->blind[s] && sim->range_sent)
		return false;
	node->record[s] = node->list[s];
	return true;
}

/* ---- messages ----------------------------------------------------------------------------- */

void world_send(struct sim *sim)
{
	struct group *g = &sim->group[rng_below(&sim->rng, sim->groups)];
	u32 j, s = rng_below(&sim->rng, sim->subs);
	struct sview *view = &sim->view[s][g->view[s]];

	for (j = 0; j < sim->nodes; j++)
		if (view->members & BIT32(j) &&
		    !(is_current(sim, j) && &sim->group[sim->node[j].group] == g))
			return;
	if (view->top < LSNS)
		view->seq[view->top++] = (u8)g->view[s];
}

/* The next message, from the memory or from the log of another member. */
bool world_persist(struct sim *sim, u32 j, u32 s)
{
	struct node *node = &sim->node[j];
	struct node_log *log = &node->log[s];
	int v = node->view[s];
	const struct sview *view;
	u32 i, have = readable(log);
	bool can;

	if (!world_runs(sim, j) || v == NOWHERE || have >= sim->view[s][v].top)
		return false;
	view = &sim->view[s][v];
	can = have >= node->from[s];
	for (i = 0; i < sim->nodes; i++)
		if (i != j && world_runs(sim, i) && sim->node[i].view[s] == v)
			can = can || has_of(sim, i, s, v) > have;
	if (!can)
		return false;
	if (world_common(sim, s, log->seq, log->len, view->seq, view->top) != log->len)
		sim_fail(sim, "L1: the log of node %u has messages of another view", j);
	if (log->damaged)
		log->damaged = false;
	else
		log->seq[log->len++] = view->seq[have];
	if (node->from[s] <= readable(log))
		node->from[s] = 0;
	return true;
}

/* ---- views --------------------------------------------------------------------------------- */

void world_crash(struct sim *sim, u32 j)
{
	struct node *node = &sim->node[j];
	u32 s, i;

	node->group = NOWHERE;
	for (s = 0; s < SUBS; s++) {
		node->view[s] = NOWHERE;
		node->established[s] = false;
		node->blind[s] = false;
	}
	for (i = 0; i < ATTEMPTS; i++)
		if (sim->attempt[i].proposer == j)
			sim->attempt[i].live = false;
	if (!node->votes_len)
		memset(node->voter, 0, offsetof(struct spindle_restart_voter, accepted));
	else if (!spindle_restart_get_voter(node->voter, node->votes, node->votes_len))
		sim_fail(sim, "the votes of node %u cannot be read", j);
	spindle_restart_boot(node->voter);
	sim->n_crashes++;
}

/* Cut the log as the library says, and compare that with what is so. */
static void cut(struct sim *sim, u32 j, u32 s, int v)
{
	struct node_log *log = &sim->node[j].log[s];
	const struct sview *view = &sim->view[s][v];
	struct spindle_restart_log told;
	u64 end = 0;
	u32 common = world_common(sim, s, log->seq, log->len, view->seq, view->top);

	attempt_fill_log(sim, j, s, &told);
	if (!spindle_restart_cut(&told, &view->id, &view->path, &end)) {
		if (told.whole)
			sim_fail(sim, "R5: the way to a view is not known");
		end = common;
	}
	if (end != common)
		sim_fail(sim, "R5: the log of node %u is cut at %llu, and not at %u", j,
			 (unsigned long long)end, common);
	if (end < log->len) {
		log->len = (u32)end;
		log->damaged = false;
	}
	sim->node[j].from[s] = view->base <= readable(log) ? 0 : view->base;
}

/* A node enters the present view of a group. The caller sets what it knows of the range. */
bool world_enter(struct sim *sim, u32 j, u32 g)
{
	struct node *node = &sim->node[j];
	struct group *group = &sim->group[g];
	enum spindle_restart_vote vote = spindle_restart_enter(node->voter, group->era);
	u32 s;

	sim->n_refused += vote == SPINDLE_RESTART_REFUSED;
	if (vote == SPINDLE_RESTART_REFUSED)
		return false;
	if (rng_chance(&sim->rng, sim->chance_sync_crash)) {
		world_crash(sim, j);
		return false;
	}
	if (vote == SPINDLE_RESTART_SYNC)
		attempt_save(sim, j);
	node->group = (int)g;
	node->vid = group->vid;
	for (s = 0; s < sim->subs; s++) {
		node->view[s] = NOWHERE;
		if (!(sim->view[s][group->view[s]].members & BIT32(j)))
			continue;
		node->view[s] = group->view[s];
		node->established[s] = false;
		cut(sim, j, s, group->view[s]);
	}
	SAY(sim, "node %u enters era %llu, view %llu\n", j, (unsigned long long)group->era,
	    (unsigned long long)group->vid);
	return true;
}

static void follow(struct sim *sim, u32 j, u32 s, int v)
{
	struct node *node = &sim->node[j];
	struct list *list = &node->list[s];

	node->view[s] = v;
	node->established[s] = false;
	if (list->n == SPINDLE_RESTART_VIEWS) {
		/* A record has no gap, so the views in front of the gap go. */
		list->n = 0;
		list->known = false;
		sim->too_many = true;
	}
	list->view[list->n++] = v;
}

static void join(struct sim *sim, u32 j, u32 g)
{
	struct node *node = &sim->node[j];
	u32 s;

	if (!world_enter(sim, j, g))
		return;
	for (s = 0; s < sim->subs; s++) {
		if (node->view[s] == NOWHERE)
			continue;
		node->list[s] = (struct list){ .n = 1, .view = { node->view[s] } };
		node->blind[s] = true;
	}
}

/* Subgroups with other members begin the view, the others go on. */
static void next_views(struct sim *sim, struct group *g, u32 set, bool fresh[SUBS])
{
	u32 s;

	for (s = 0; s < sim->subs; s++) {
		int old = g->view[s];
		u32 members = set & sim->config[s];

		fresh[s] = members != sim->view[s][old].members;
		if (!fresh[s])
			continue;
		g->view[s] = world_new_view(sim, s, old, sim->view[s][old].top, members);
		sim->view[s][g->view[s]].id = (struct spindle_restart_id){ g->era, g->vid };
		sim->view[s][g->view[s]].origin = g->origin;
		sim->view[s][g->view[s]].path = sim->view[s][old].path;
	}
}

static bool can_change(const struct sim *sim, u32 g, u32 set, u32 *stay)
{
	const struct group *group = &sim->group[g];
	u32 j, s;

	*stay = 0;
	for (j = 0; j < sim->nodes; j++) {
		if (!(set & BIT32(j)))
			continue;
		if (is_current(sim, j) && sim->node[j].group == (int)g)
			*stay |= BIT32(j);
		else if (world_runs(sim, j) || group->members & BIT32(j))
			return false;
	}
	for (s = 0; s < sim->subs; s++)
		if (!(set & sim->config[s]) || sim->views[s] + 4 > VIEWS)
			return false;
	return set != group->members && 2 * weight(*stay) > weight(group->members);
}

/* The members of a view go on with others, and without those that are silent. */
void world_change(struct sim *sim)
{
	u32 g = rng_below(&sim->rng, sim->groups), set, stay, j, s;
	struct group *group = &sim->group[g];
	bool fresh[SUBS];

	/* Nodes that run in the view stay, most of the time. */
	set = rng_below(&sim->rng, BIT32(sim->nodes));
	for (j = 0; j < sim->nodes; j++)
		if (is_current(sim, j) && sim->node[j].group == (int)g &&
		    rng_chance(&sim->rng, 85))
			set |= BIT32(j);
	if (!can_change(sim, g, set, &stay))
		return;
	group->vid++;
	group->members = set;
	next_views(sim, group, set, fresh);
	SAY(sim, "change: era %llu view %llu members %x\n", (unsigned long long)group->era,
	    (unsigned long long)group->vid, set);
	for (j = 0; j < sim->nodes; j++) {
		if (!(stay & BIT32(j)))
			continue;
		sim->node[j].vid = group->vid;
		for (s = 0; s < sim->subs; s++)
			if (fresh[s] && sim->view[s][group->view[s]].members & BIT32(j))
				follow(sim, j, s, group->view[s]);
	}
	for (j = 0; j < sim->nodes; j++)
		if (set & ~stay & BIT32(j))
			join(sim, j, g);
	sim->changes++;
}

void world_begin(struct sim *sim)
{
	u32 members, j, s;
	struct group *g = &sim->group[0];

	do {
		members = rng_chance(&sim->rng, 60) ? BIT32(sim->nodes) - 1 :
			  1 + rng_below(&sim->rng, BIT32(sim->nodes) - 1);
	} while (!(members & sim->config[0]) || !(members & sim->config[sim->subs - 1]));
	*g = (struct group){ .era = 1, .origin = 1, .vid = 1, .first_vid = 1,
			     .members = members };
	sim->groups = 1;
	for (s = 0; s < sim->subs; s++) {
		struct sview *view;

		g->view[s] = world_new_view(sim, s, NOWHERE, 0, members & sim->config[s]);
		view = &sim->view[s][g->view[s]];
		view->id = (struct spindle_restart_id){ 1, 1 };
		view->origin = 1;
		view->path.whole = true;
	}
	for (j = 0; j < sim->nodes; j++) {
		if (!(members & BIT32(j)) || !world_enter(sim, j, 0))
			continue;
		for (s = 0; s < sim->subs; s++)
			if (sim->node[j].view[s] != NOWHERE) {
				sim->node[j].list[s] = (struct list){
					.known = true, .n = 1, .view = { sim->node[j].view[s] } };
				/* A group that nobody has a record of is not there yet. */
				world_sync_record(sim, j, s);
			}
	}
}

/* L5: a restart that stands has all that was shown, and a member has it on disk. */
void world_check_stands(struct sim *sim, u32 s, int v)
{
	const struct sview *view = &sim->view[s][v];
	const struct node_log *log;
	u32 j, found = 0;

	if (world_common(sim, s, view->seq, view->base, sim->shown[s], sim->shown_len[s]) <
	    sim->shown_len[s])
		sim_fail(sim, "L5: restart %llu of subgroup %u begins at %u, and %u were shown",
			 (unsigned long long)view->id.era, s, view->base, sim->shown_len[s]);
	for (j = 0; j < sim->nodes; j++) {
		log = &sim->node[j].log[s];
		found += view->members & BIT32(j) &&
			 world_common(sim, s, log->seq, readable(log), sim->shown[s],
				      sim->shown_len[s]) == sim->shown_len[s];
	}
	if (!found)
		sim_fail(sim, "L5: no member of restart %llu has what was shown",
			 (unsigned long long)view->id.era);
}
