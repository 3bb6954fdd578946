// SPDX-License-Identifier: GPL-2.0-only
/*
 * A world: nodes, rows, engine passes, the schedule, the drain. See world.h.
 */
#include "world.h"

void world_fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->failed)
		return;
	w->failed = true;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
}

/* ---- set up ------------------------------------------------------------ */

static const struct spindle_memory memory = { .zalloc = calloc, .free = (void *)free };

/* Start the counts of messages at a given number. */
static void count_from(struct group *g, u64 first, u64 first_unit)
{
	struct spindle_mc *mc = &g->mc;
	bool sends = mc->my_sender != SPINDLE_NO_RANK;
	u32 i;

	for (i = 0; i < mc->members; i++) {
		if (sends)
			mc->member[i].push_slot = first;
		if (mc->member[i].sender == SPINDLE_NO_RANK)
			continue;
		mc->member[i].slots = first;
		mc->member[i].vouched = first & SPINDLE_IMM_SLOTS;
		if (mc->member[i].vouch)
			*mc->member[i].vouch = mc->member[i].vouched;
	}
	for (i = 0; i < mc->senders; i++) {
		mc->sender[i].walk.slot = first;
		mc->sender[i].dlv_slot = first;
		mc->sender[i].rel_slot = first;
	}
	if (!sends)
		return;
	mc->send.txq.unit = mc->send.txq.free_unit = first_unit;
	mc->send.txq.slot = mc->send.txq.free_slot = first;
	mc->own.word[SPINDLE_COL_SLOTS] = first;
	mc->send.free_slot = first;
}

static struct spindle_row row_of(void *ctx, u32 rank)
{
	struct node *node = ctx;
	struct world *w = node->world;

	return (struct spindle_row){
		.base = node->row[rank],
		.in = &node->lo[rank],
		.out = rank == node->rank ? NULL : &w->node[rank].lo[node->rank],
		.vouch = w->conf.vouch ? node->vouch[rank] : NULL,
	};
}

static void wire(struct group *g)
{
	u64 members = group_conf(g)->members;
	u32 r;

	spindle_mc_wire(&g->mc, &g->node->world->view, g->index, row_of, g->node);
	for (r = 0; members; r++, members &= members - 1)
		g->view_rank[r] = __ffs64(members);
}

static struct group *mc_group(struct spindle_mc *mc)
{
	return container_of(mc, struct group, mc);
}

/* Where guards can overtake each other, a push has only one guard, and no express. */
static u32 push_how(const struct world *w)
{
	return w->conf.vouch ? 0 : SPINDLE_PUSH_SPLIT | SPINDLE_PUSH_EXPRESS;
}

static void post_in_place(struct spindle_mc *mc)
{
	struct group *g = mc_group(mc);
	u32 r;

	for (r = 0; r < mc->members; r++)
		if (r != mc->me && spindle_push_wanted(mc, r))
			spindle_mg_push_one(&g->node->mg, g->index, g->view_rank[r],
					    push_how(g->node->world));
}

/* Choose any combination of techniques and budgets, at any member, at any time. */
static void group_tune(struct group *g, struct rng *rng)
{
	struct spindle_mc_tune *t = &g->mc.tune;

	/* Without nulls a silent member delays the others, and no world would come to its end. */
	t->switches = (rng_u64(rng) & SPINDLE_SW_ALL) | SPINDLE_SW_NULLS;
	t->send_budget = 1 + rng_below(rng, 20);
	t->recv_budget = 1 + rng_below(rng, 20);
	t->dlv_budget = 1 + rng_below(rng, 20);
	t->copy_budget = 1 + rng_below(rng, 500);
	t->silence = rng_chance(rng, 50) ? 0 : 1U << rng_below(rng, 21);
	if (g->node->world->conf.large)
		t->large = rng_chance(rng, 30) ? U32_MAX : rng_below(rng, 1000);
}

static void open_group(struct node *node, u32 index)
{
	struct world *w = node->world;
	struct group *g = calloc(1, sizeof(*g));
	struct spindle_mc *mc = &g->mc;

	g->node = node;
	g->index = index;
	spindle_mc_create(mc, &w->view, index, node->rank, NULL, NULL, &memory);
	wire(g);
	if (mc->my_sender != SPINDLE_NO_RANK)
		g->pay = node->row[node->rank] + mc->own.pay;
	count_from(g, w->conf.first, w->conf.first_unit);
	mc->post = post_in_place;
	if (w->conf.large)
		mc->tune.large = w->conf.large;
	if (w->conf.tune)
		group_tune(g, &w->rng);
	node->group[index] = g;
	node->mg.mc[index] = mc;
}

/* Check that each process that waits for something gets the event when it is there. */
static void check_events(struct group *g)
{
	struct world *w = g->node->world;
	struct sender *p = g->sender;
	struct reader *r;

	for (r = g->readers; r; r = r->next)
		if (*r->tail != r->seen && !(g->mc.events & SPINDLE_MC_DELIVERED))
			world_fail(w, "node %u: delivered in silence", g->node->rank);
	if (p && *p->free_slot != p->told && !(g->mc.events & SPINDLE_MC_FREED))
		world_fail(w, "node %u: freed in silence", g->node->rank);
	if (p)
		p->told = *p->free_slot;
}

static bool op_joined(void *ctx, u32 rank)
{
	/* The case decides when a subgroup has formed. */
	return false;
}

static void op_formed(void *ctx, u32 index)
{
}

static void op_ran(void *ctx, u32 index, bool work)
{
	struct node *node = ctx;
	struct group *g = node->group[index];
	struct reader *r;
	u32 k;

	for (k = 0; k < g->mc.members; k++)
		if (g->mc.bad & BIT_ULL(k) && g->view_rank[k] != node->world->hostile)
			world_fail(node->world, "node %u group %u blames member %u", node->rank,
				   index, k);
	check_events(g);
	if (g->mc.events & SPINDLE_MC_PARTED)
		sender_parted(g);
	g->mc.events = 0;
	check_group(g);
	for (r = g->readers; r; r = r->next)
		check_reader(g, r);
}

static u32 op_room(void *ctx, u32 rank, u32 writes)
{
	const struct node *node = ctx;

	return min_t(u32, writes, fabric_room(node->world, node->rank, rank));
}

static void op_post(void *ctx, u32 rank, const struct spindle_write *write, u32 n,
		    bool membership)
{
	struct node *node = ctx;
	struct world *w = node->world;
	u32 i;

	if (n > fabric_room(w, node->rank, rank))
		world_fail(w, "push of %u writes without room", n);
	for (i = 0; i < n && !w->failed; i++)
		fabric_post(w, node->rank, rank, &write[i]);
}

static const struct spindle_mg_ops node_ops = {
	.joined = op_joined, .row = row_of, .formed = op_formed, .ran = op_ran, .room = op_room,
	.post = op_post,
};

struct world *world_open(const struct spindle_view *view, const struct world_conf *conf,
			 u64 seed)
{
	struct world *w = calloc(1, sizeof(*w));
	const char *err = spindle_view_check(view, false, NULL);
	u32 i, j, max_msg = 1;

	w->view = *view;
	for (i = 0; i < view->num_subgroups; i++)
		w->view.subgroup[i].former = 1000 * (i + 1);
	w->conf = *conf;
	w->rng.state = seed;
	w->hostile = view->num_members;
	if (err)
		world_fail(w, "view: %s", err);
	for (i = 0; i < view->num_members; i++) {
		struct node *node = &w->node[i];

		node->world = w;
		node->idle = true;
		node->rank = i;
		node->mg = (struct spindle_mg){
			.ops = &node_ops, .ctx = node, .view = &w->view, .me = i,
		};
		for (j = 0; j < view->num_members; j++) {
			w->link[i][j].tail = &w->link[i][j].head;
			spindle_layout_row(&node->lo[j], view, j, i);
			node->row[j] = aligned_alloc(SPINDLE_PAGE, node->lo[j].size);
			memset(node->row[j], 0, node->lo[j].size);
		}
	}
	for (i = 0; i < view->num_members; i++)
		for (j = 0; j < view->num_subgroups; j++)
			if (view->subgroup[j].members & BIT_ULL(i))
				open_group(&w->node[i], j);
	for (j = 0; j < view->num_subgroups; j++)
		max_msg = max(max_msg, view->subgroup[j].max_msg);
	w->scratch = malloc(max_msg);
	return w;
}

static void close_group(struct group *g)
{
	while (g->readers)
		reader_close(g, g->readers);
	if (g->sender)
		sender_close(g);
	if (g->parted) {
		spindle_mc_end(&g->mc);
		sender_parted(g);
	}
	spindle_mc_destroy(&g->mc, &memory);
	free(g);
}

void world_close(struct world *w)
{
	u32 i, j;

	fabric_close(w);
	for (i = 0; i < w->view.num_members; i++) {
		for (j = 0; j < w->view.num_subgroups; j++)
			if (w->node[i].group[j])
				close_group(w->node[i].group[j]);
		for (j = 0; j < w->view.num_members; j++)
			free(w->node[i].row[j]);
	}
	for (i = 0; i < WORLD_GROUPS; i++) {
		free(w->order[i].v);
		for (j = 0; j < WORLD_NODES; j++)
			free(w->ledger[i][j].v);
	}
	free(w->scratch);
	free(w);
}

void world_activate(struct world *w)
{
	u32 i, j;

	for (i = 0; i < w->view.num_members; i++) {
		w->node[i].asleep = false;
		for (j = 0; j < w->view.num_subgroups; j++)
			if (w->node[i].group[j])
				w->node[i].group[j]->mc.formed = true;
	}
}

/* ---- the engine --------------------------------------------------------- */

/* The node whose pass runs, and the number of looks until another node writes to its memory. */
static struct node *looking;
static u32 looks;
void (*world_look)(void);

/* Called by the core: links to the node make progress in the middle of its pass. */
void world_between_looks(void)
{
	struct world *w;
	u32 from;

	if (world_look)
		world_look();
	if (!looking || looks--)
		return;
	w = looking->world;
	looks = rng_below(&w->rng, w->conf.races);
	from = rng_below(&w->rng, w->view.num_members);
	if (from != looking->rank)
		fabric_step(w, from, looking->rank);
}

/* Copy some of the bytes of a large message, or all of them, to all members. */
static void bring(struct group *g, u32 part)
{
	struct world *w = g->node->world;
	const struct spindle_tx_slot *slot = &g->mc.send.held_slot;
	u64 mask = ((u64)g->mc.ring_units << SPINDLE_UNIT_SHIFT) - 1;
	u64 at = (slot->unit << SPINDLE_UNIT_SHIFT) & mask;
	u32 r, i;

	for (r = 0; r < g->mc.members; r++) {
		u32 v = g->view_rank[r];
		u8 *pay;

		if (r == g->mc.me)
			continue;
		pay = w->node[v].row[g->node->rank] + g->mc.member[r].remote_pay;
		for (i = 0; i < part; i++)
			pay[(at + i) & mask] = g->pay[(at + i) & mask];
	}
}

/* Move large messages, as the embedder does. Returns true if there is more to do. */
static bool move_large(struct group *g)
{
	struct rng *rng = &g->node->world->rng;
	struct spindle_mc *mc = &g->mc;

	switch (mc->send.held) {
	case SPINDLE_HELD_NONE:
	case SPINDLE_HELD_PLACED:
		break;
	case SPINDLE_HELD_WAITING:
		spindle_mc_hold(mc, SPINDLE_HELD_MOVING);
		break;
	case SPINDLE_HELD_MOVING:
		if (rng_chance(rng, 50))
			break;
		if (rng_chance(rng, 20)) {
			bring(g, rng_below(rng, mc->send.held_slot.len + 1));
			spindle_mc_hold(mc, SPINDLE_HELD_WAITING);
			break;
		}
		bring(g, mc->send.held_slot.len);
		spindle_mc_hold(mc, SPINDLE_HELD_PLACED);
		break;
	}
	return mc->send.held != SPINDLE_HELD_NONE;
}

static bool look_at_large(struct group *g)
{
	if (!spindle_mc_active(&g->mc) || !move_large(g))
		return false;
	spindle_mg_touch(&g->node->mg, g->index);
	return true;
}

/* Run the pass as the module does, but look at all subgroups more often. */
static bool run_groups(struct node *node)
{
	struct world *w = node->world;
	bool busy;

	if (w->conf.races) {
		looking = node;
		looks = rng_below(&w->rng, w->conf.races);
	}
	busy = spindle_mg_pass(&node->mg, node->idle || rng_chance(&w->rng, 50), node->idle);
	looking = NULL;
	return busy;
}

/* One pass of a node's engine. Returns true if the engine has to run again. */
bool node_pass(struct node *node)
{
	struct world *w = node->world;
	bool busy = false;
	u32 i;

	if (w->conf.sleepy && node->asleep)
		return false;
	node->rung = false;
	for (i = 0; i < w->view.num_subgroups; i++)
		busy |= node->group[i] && look_at_large(node->group[i]);
	busy |= run_groups(node);
	for (i = 0; i < w->view.num_members && !w->failed; i++)
		if (i != node->rank)
			busy |= spindle_mg_push(&node->mg, i, push_how(w)) && i != w->hostile;
	spindle_mg_pushed(&node->mg);
	/* The node sleeps after a pass that found nothing to do, if no doorbell rang in it. */
	busy |= node->rung;
	node->asleep = node->idle && !busy;
	node->idle = !busy;
	return !node->asleep;
}

/* ---- the schedule ------------------------------------------------------- */

static struct group *random_group(struct world *w)
{
	u32 n = rng_below(&w->rng, w->view.num_members);

	return w->node[n].group[rng_below(&w->rng, w->view.num_subgroups)];
}

static void random_reader(struct group *g)
{
	struct world *w = g->node->world;
	u32 copy = 0, entries = g->mc.deliver.log_mask + 1, max_msg = group_conf(g)->max_msg;

	if (rng_chance(&w->rng, 40)) {
		copy = roundup_pow_of_two(max_t(u32, max_msg, SPINDLE_UNIT)) <<
		       rng_below(&w->rng, 3);
		entries = 1U << rng_below(&w->rng, 6);
	}
	reader_open(g, entries, copy)->lazy = rng_chance(&w->rng, 50) ? 0 :
					      rng_below(&w->rng, 99);
}

/* Processes open and close. */
static void life(struct group *g)
{
	struct world *w = g->node->world;
	struct reader *r = g->readers;
	bool is_sender = g->mc.my_sender != SPINDLE_NO_RANK && g->talk;

	if (w->conf.tune && rng_chance(&w->rng, 20)) {
		group_tune(g, &w->rng);
		if (g->mc.my_sender != SPINDLE_NO_RANK && rng_chance(&w->rng, 20) &&
		    !spindle_mc_silence(&g->mc, rng_below(&w->rng, 1000)))
			world_fail(w, "silence refused");
		g->node->asleep = false;
		return;
	}
	switch (rng_below(&w->rng, 6)) {
	case 0:
		if (g->sender && w->conf.deaths)
			sender_close(g);
		break;
	case 1:
	case 2:
		if (!g->sender && !g->parted && is_sender)
			sender_open(g);
		break;
	case 3:
		if (!r || (!r->next && rng_chance(&w->rng, 30)))
			random_reader(g);
		break;
	case 4:
		if (r && w->conf.deaths)
			reader_close(g, rng_chance(&w->rng, 50) && r->next ? r->next : r);
		break;
	default:
		if (!w->conf.cheats)
			break;
		if (g->sender && rng_chance(&w->rng, 50))
			sender_cheat(g);
		else if (r)
			reader_cheat(g, r);
		break;
	}
}

void world_step(struct world *w)
{
	u32 n = w->view.num_members, dice = rng_below(&w->rng, 100), i, from, to;
	struct group *g;
	struct reader *r;

	w->steps++;
	if (dice < 45) {
		from = rng_below(&w->rng, n);
		to = rng_below(&w->rng, n);
		if (!w->link[from][to].n || rng_chance(&w->rng, w->link[from][to].slow))
			return;
		for (i = 1 + rng_below(&w->rng, 4); i && fabric_step(w, from, to); i--)
			;
		return;
	}
	if (dice < 70) {
		i = rng_below(&w->rng, n);
		if (i != w->hostile && !rng_chance(&w->rng, w->node[i].slow))
			node_pass(&w->node[i]);
		return;
	}
	g = random_group(w);
	if (!g || g->node->rank == w->hostile)
		return;
	if (dice == 70 && rng_chance(&w->rng, 50)) {
		life(g);
	} else if (dice < 86) {
		if (g->sender && rng_chance(&w->rng, g->talk))
			sender_step(g);
	} else {
		for (r = g->readers; r; r = r->next)
			if (!rng_chance(&w->rng, r->lazy))
				reader_step(g, r, false);
	}
}

/* ---- the drain ----------------------------------------------------------- */

static bool drain_node(struct node *node)
{
	struct world *w = node->world;
	struct reader *r;
	bool busy = false;
	u32 j;

	for (j = 0; j < w->view.num_members; j++)
		while (w->link[node->rank][j].n && fabric_step(w, node->rank, j))
			busy = true;
	if (node->rank == w->hostile)
		return busy;
	busy |= node_pass(node);
	for (j = 0; j < w->view.num_subgroups; j++)
		for (r = node->group[j] ? node->group[j]->readers : NULL; r; r = r->next)
			busy |= reader_step(node->group[j], r, true);
	return busy;
}

/*
 * Senders commit their reserved messages and stop, links become empty, and readers read. The world
 * must come to rest, and then check_end() must hold.
 */
void world_drain(struct world *w)
{
	u32 i, j, rounds;
	bool busy = true;
	u64 posted;

	w->stopped = true;
	for (i = 0; i < w->view.num_members; i++)
		for (j = 0; j < w->view.num_subgroups; j++)
			if (w->node[i].group[j] && w->node[i].group[j]->sender)
				sender_finish(w->node[i].group[j]);
	for (rounds = 0; busy && !w->failed; rounds++) {
		if (rounds == 20000) {
			world_fail(w, "does not come to rest");
			return;
		}
		busy = false;
		for (i = 0; i < w->view.num_members; i++)
			busy |= drain_node(&w->node[i]);
	}
	posted = w->posted;
	for (i = 0; i < w->view.num_members && !w->failed; i++)
		if (i != w->hostile && node_pass(&w->node[i]))
			world_fail(w, "node %u is not at rest", i);
	if (w->posted != posted)
		world_fail(w, "writes in a world at rest");
	if (!w->failed)
		check_end(w);
}
