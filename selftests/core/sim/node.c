// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node: the embedder of the core. See sim.h.
 */
#include "sim.h"

/* ---- subgroups ------------------------------------------------------------- */

bool node_up(const struct node *node)
{
	return node->started && !node->crashed && node->mb.state < SPINDLE_MB_STOPPED;
}

/* The schedule whose pass runs. Hooks of the core that have no context use it. */
static struct sim *running;

/*
 * No peer, even a liar, may make a node ask for more memory than its view needs, or loop for ever.
 */
#define MOST_BYTES (SIM_NODES * SIM_WINDOW * 64 * 2)
#define MOST_LOOKS 1000000

static void exceeded(const char *what)
{
	fprintf(stderr, "seed %llu: a pass takes %s without bound\n",
		running ? (unsigned long long)running->seed : 0, what);
	abort();
}

static void *zalloc(size_t n, size_t size)
{
	if (size && n > MOST_BYTES / size)
		exceeded("memory");
	return calloc(n, size);
}

static const struct spindle_memory memory = { .zalloc = zalloc, .free = (void *)free };

static void free_group(struct spindle_mc *mc)
{
	spindle_mc_destroy(mc, &memory);
	free(mc);
}

struct spindle_row node_row(void *ctx, u32 rank)
{
	struct node *node = ctx;
	struct sim *sim = node->sim;
	u32 index = peer_index(node, rank);

	return (struct spindle_row){
		.base = node->row[index],
		.in = &sim->lo[index],
		.out = index == node->index ? NULL : &sim->lo[node->index],
		.vouch = sim->imm ? node->vouch[index][node->life[index]] : NULL,
		.done = &sim->link[node->index][index].done,
	};
}

static struct spindle_mc *new_group(struct node *node, const struct spindle_view *view, u32 g,
				    u32 me)
{
	const struct spindle_view_subgroup *sg = &view->subgroup[g];
	struct spindle_mc *mc = calloc(1, sizeof(*mc));
	struct group *grp = &node->group[g];
	u32 v;

	spindle_mc_create(mc, view, g, me, node->rules, grp->mc, &memory);
	mc->node = node->index;
	spindle_mc_wire(mc, view, g, node_row, node);
	for (v = 0; v < view->num_members; v++) {
		u32 index = view->member[v].id - 1;

		if (sg->members & BIT_ULL(v))
			grp->member_node[spindle_mask_rank(sg->members, v)] = index;
		if (sg->senders & BIT_ULL(v))
			grp->node_of[spindle_mask_rank(sg->senders, v)] = index;
	}
	if (node->sim->large)
		mc->tune.large = node->sim->large;
	return mc;
}

/* ---- operations of membership -------------------------------------------------- */

static void node_wedge(void *ctx)
{
	struct node *node = ctx;

	spindle_mg_wedge(&node->mg);
}

static bool node_flushed(void *ctx, u32 rank)
{
	const struct node *node = ctx;

	return spindle_mg_flushed(&node->mg, rank);
}

static void node_freeze(void *ctx, u64 *have)
{
	struct node *node = ctx;

	spindle_mg_freeze(&node->mg, have);
}

static void check_all(struct node *node)
{
	u32 g;

	for (g = 0; g < SIM_GROUPS; g++)
		if (node->group[g].mc)
			check_deliveries(node, g);
}

static bool node_trim(void *ctx, const u64 *trim)
{
	struct node *node = ctx;
	u64 moving = large_moving(node);

	check_all(node);
	if (spindle_mg_trim(&node->mg, trim)) {
		liar_trimmed(node);
		node->sim->stayed += hweight64(node->mg.stays);
		if (moving & node->mg.stays)
			sim_fail(node->sim, "node %u begins streams while blocks move",
				 node->index);
		return true;
	}
	/* A liar reported fewer messages than it had. */
	if (!node->sim->liar)
		sim_fail(node->sim, "node %u: the trim cannot be true", node->index);
	return false;
}

static bool node_drain(void *ctx)
{
	struct node *node = ctx;
	bool done = spindle_mg_drain(&node->mg);

	check_all(node);
	return done;
}

static const char *node_layout(void *ctx, u64 rules, const struct spindle_view *view,
			       struct spindle_view *next)
{
	const struct node *node = ctx;
	struct sim *sim = node->sim;
	u32 n = next->num_members;

	if (node->poor && node->mb.state == SPINDLE_MB_JOINING)
		return "no memory";
	if (!sim->strict && (n < sim->least || n > sim->most)) {
		sim->refused++;
		return "there is no layout for so many";
	}
	return rules_layout(node, rules, view, next);
}

static void node_install(void *ctx, const struct spindle_view *next, const u32 *from,
			 const u64 *trim)
{
	struct node *node = ctx;

	check_install(node, next);
	rules_install(node);
	join_tell(node, next);
	spindle_mg_install(&node->mg, from, trim);
	kept_age(node);
}

/* Set the place where membership reads a node's words, in the node's present life. */
static void show(struct node *node, u32 index, struct spindle_mb_peer *p)
{
	p->row = (void *)(node->row[index] + SIM_MB);
	p->vouch = node->sim->imm ? &node->vouch_state[index][node->life[index]] : NULL;
}

static bool is_connected(const struct node *node, u32 to)
{
	const struct link *link = &node->sim->link[node->index][to];

	return !link->cut && link->up_at <= node->sim->now;
}

static bool node_guest(void *ctx, u32 id, u64 incarnation, struct spindle_addr *addr)
{
	const struct node *node = ctx;

	*addr = address_of(id);
	return id <= node->sim->nodes && is_connected(node, id - 1) &&
	       incarnation == node->sim->node[id - 1].inc;
}

static bool node_next_guest(void *ctx, struct spindle_mg_guest *guest)
{
	const struct node *node = ctx;
	const struct spindle_view *view = spindle_mb_view(&node->mb);
	struct sim *sim = node->sim;

	for (; guest->seat < sim->nodes; guest->seat++) {
		const struct node *other = &sim->node[guest->seat];

		if (!is_connected(node, guest->seat) || !other->started ||
		    spindle_view_rank(view, guest->seat + 1) >= 0)
			continue;
		guest->id = guest->seat + 1;
		guest->incarnation = other->inc;
		guest->ready = join_ready(other, node);
		return true;
	}
	return false;
}

static bool node_ready(void *ctx, u32 *seat, u32 *id, u64 *incarnation)
{
	const struct node *node = ctx;
	struct spindle_mg_guest guest = { .seat = *seat };

	for (; node_next_guest(ctx, &guest); guest.seat++) {
		if (guest.ready != spindle_mb_view(&node->mb)->vid)
			continue;
		*seat = guest.seat;
		*id = guest.id;
		*incarnation = guest.incarnation;
		return true;
	}
	return false;
}

static bool node_joins(void *ctx, u32 id, u64 incarnation, struct spindle_mb_peer *p)
{
	struct node *node = ctx;

	node->life[id - 1] = incarnation;
	if (incarnation != node->sim->node[id - 1].inc ||
	    (!is_connected(node, id - 1) && !join_meets(node, id - 1)))
		return false;
	show(node, id - 1, p);
	return true;
}

static void node_cut(void *ctx, u32 rank)
{
	struct node *node = ctx;
	u32 to = peer_index(node, rank);

	sim_say(node->sim, "node %u suspects node %u: reason %u", node->index, to,
		node->mb.peer[rank].reason);
	liar_blamed(node, to, node->mb.peer[rank].reason);
	if (node->life[to] == node->sim->node[to].inc)
		fabric_cut(node->sim, node->index, to);
}

static void node_stopped(void *ctx)
{
	struct node *node = ctx;
	u32 g, r;

	for (g = 0; g < SIM_GROUPS; g++)
		if (node->group[g].mc)
			spindle_mc_end(node->group[g].mc);
	sim_say(node->sim, "node %u stops: reason %u", node->index, node->mb.reason);
	node->sim->stops[node->mb.reason]++;
	/*
	 * The other members learn of the stop. Before the view has formed, only the closed
	 * connection tells them.
	 */
	for (r = 0; r < node->mg.view->num_members && !node->mg.formed; r++)
		if (peer_index(node, r) != node->index)
			fabric_cut(node->sim, node->index, peer_index(node, r));
}

static const struct spindle_mb_ops node_ops = {
	.wedge = node_wedge,
	.flushed = node_flushed,
	.freeze = node_freeze,
	.trim = node_trim,
	.drain = node_drain,
	.layout = node_layout,
	.guest = node_guest,
	.ready = node_ready,
	.join = node_joins,
	.install = node_install,
	.cut = node_cut,
	.stopped = node_stopped,
};

/* ---- operations of the subgroups ------------------------------------------------- */

static bool node_joined(void *ctx, u32 rank)
{
	const struct node *node = ctx;

	return is_connected(node, peer_index(node, rank));
}

static void node_connected(void *ctx)
{
	struct node *node = ctx;

	if (node->mb.state == SPINDLE_MB_JOINING)
		join_connected(node);
}

static struct spindle_mc *node_made(void *ctx, u32 g, struct spindle_streams **streams,
				    struct spindle_tb **tb)
{
	struct node *node = ctx;
	const struct spindle_view *view = spindle_mb_view(&node->mb);
	struct spindle_mc *mc = new_group(node, view, g, node->mb.me);

	*streams = large_new(node, g, mc, view);
	*tb = NULL;
	if (spindle_view_is_table(&view->subgroup[g]))
		*tb = table_new(node, view, g, &memory);
	return mc;
}

/* A subgroup that the node comes into has nothing in common with a former one at this index. */
static void clear_processes(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];

	grp->slot = 0;
	grp->msgs = 0;
	grp->unit = 0;
	grp->free_slot = 0;
	grp->free_unit = 0;
	/* Other nodes may send in it. */
	memset(grp->next, 0, sizeof(grp->next));
	memset(grp->extra.next, 0, sizeof(grp->extra.next));
	node->sim->commits[node->index][node->inc][g].n = 0;
}

/* The node is not in the subgroup any more, and its processes are cut off. */
static void end_group(struct node *node, u32 g)
{
	struct group *grp = &node->group[g];

	large_begin(node, g, NULL);
	grp->mc = NULL;
	table_free(grp->tb, &memory);
	grp->tb = NULL;
	grp->sending = false;
	grp->parted = false;
	grp->reading = false;
	grp->extra.reading = false;
	grp->kept.on = false;
	grp->kept.reading = false;
	log_end(grp);
}

/* Processes go over to the new view. The processes of a joiner begin here. */
static void begin_group(struct node *node, u32 g, struct spindle_mc *old)
{
	const struct spindle_view *view = spindle_mb_view(&node->mb);
	const struct spindle_view_subgroup *sg = &view->subgroup[g];
	struct group *grp = &node->group[g];
	struct sim *sim = node->sim;
	u32 s;

	grp->mc = node->mg.mc[g];
	table_free(grp->tb, &memory);
	grp->tb = node->mg.tb[g];
	large_begin(node, g, node->mg.streams[g]);
	if (!old)
		clear_processes(node, g);
	grp->epoch = view->vid;
	grp->began = spindle_view_digest(view);
	grp->line = rng_mix(grp->began ^ rng_mix(node->mb.digest));
	grp->sum = 0;
	grp->places = 0;
	grp->dlv = 0;
	/* A joiner begins at 0, whatever it has sent in another life. */
	for (s = 0; s < grp->mc->senders; s++)
		if (!old || !grp->mc->sender[s].walk.slot) {
			grp->next[grp->node_of[s]] = grp->mc->sender[s].walk.slot;
			grp->blind &= ~BIT_ULL(grp->node_of[s]);
			grp->extra.next[grp->node_of[s]] = grp->mc->sender[s].walk.slot;
			grp->extra.blind &= ~BIT_ULL(grp->node_of[s]);
		}
	grp->late = false;
	grp->table = spindle_view_is_table(sg);
	if (grp->table && (sg->senders || grp->mc->senders || grp->mc->deliver.lsn))
		sim_fail(sim, "node %u group %u: a table has messages", node->index, g);
	grp->lacks = (!sg->senders && !grp->table) ||
		     hweight64(sg->members) < spindle_rules_of(node->rules, g)->min;
	if (grp->lacks != grp->mc->lacking)
		sim_fail(sim, "node %u group %u does not know whether it lacks members",
			 node->index, g);
	sim->tables_begun += grp->table;
	sim->lacked += grp->lacks;
	grp->began_at = grp->mc->own.word[SPINDLE_COL_SLOTS];
	if (grp->table)
		table_members(node, g, !old);
	log_begin(node, g, old);
	if (old)
		return;
	/* Small budgets leave work for the next pass. */
	grp->mc->tune.recv_budget = 4 + rng_below(&sim->rng, 40);
	grp->mc->tune.dlv_budget = 4 + rng_below(&sim->rng, 40);
	grp->mc->tune.copy_budget = 64 + rng_below(&sim->rng, 1 << 14);
	if (!grp->table && (g != SIM_ODD || rng_chance(&sim->draw, 50))) {
		process_read(node, g);
		process_send(node, g);
	}
	grp->vid = view->vid;
	grp->since = view->vid;
	grp->late = false;
	grp->blind = 0;
	if (grp->table)
		table_begin(node, g);
	else
		kept_begin(node, g);
}

static void node_begun(void *ctx, u32 g, struct spindle_mc *old)
{
	struct node *node = ctx;

	if (node->mg.mc[g])
		begin_group(node, g, old);
	else
		end_group(node, g);
	if (old)
		free_group(old);
}

static void node_formed(void *ctx, u32 g)
{
	struct node *node = ctx;

	sim_say(node->sim, "node %u group %u has formed", node->index, g);
}

/* A subgroup reports that a member has broken the protocol. Only liars do that. */
static void check_failed(struct node *node, struct group *g, u32 member)
{
	u32 bad = g->member_node[member];
	int rank = spindle_view_rank(spindle_mb_view(&node->mb), bad + 1);

	if (!liar_excuses(node, bad))
		sim_fail(node->sim, "node %u group %u blames node %u", node->index, g->mc->id, bad);
	if (rank >= 0)
		spindle_mb_suspect(&node->mb, rank, SPINDLE_MB_LIED);
}

static void check_events(struct node *node, struct group *g)
{
	u64 bad;

	if (g->mc->events & SPINDLE_MC_FAILED)
		for (bad = g->mc->bad; bad; bad &= bad - 1)
			check_failed(node, g, __ffs64(bad));
	if (g->mc->send.txq.error || g->q.error)
		sim_fail(node->sim, "node %u: an honest process is frozen", node->index);
	if (g->lacks && g->mc->own.word[SPINDLE_COL_SLOTS] != g->began_at)
		sim_fail(node->sim, "node %u group %u sends to too few", node->index, g->mc->id);
	if (g->mc->events & SPINDLE_MC_PARTED)
		process_parted(node, g - node->group);
	g->mc->events = 0;
}

static void node_ran(void *ctx, u32 g, bool work)
{
	struct node *node = ctx;

	check_events(node, &node->group[g]);
	check_deliveries(node, g);
	log_check(node, g);
	if (node->group[g].tb)
		table_ran(node, g);
}

/* The module sees completions of a joiner's writes, which takes some passes, or many. */
static bool node_told(void *ctx)
{
	struct node *node = ctx;
	struct sim *sim = node->sim;

	if (sim->told_late && !node->told_at)
		node->told_at = sim->now + rng_below(&sim->newer, rng_chance(&sim->newer, 20) ?
						     2 * SIM_TIMEOUT : SIM_INTERVAL);
	return node->told_at <= sim->now;
}

static u32 node_room(void *ctx, u32 rank, u32 writes)
{
	const struct node *node = ctx;

	u32 to = peer_index(node, rank);

	return is_connected(node, to) || node->sim->link[node->index][to].cut ?
	       min_t(u32, writes, fabric_room(node->sim, node->index, to)) : 0;
}

static void node_post(void *ctx, u32 rank, const struct spindle_write *write, u32 n,
		      bool membership)
{
	const struct node *node = ctx;
	u32 i;

	for (i = 0; i < n; i++)
		fabric_post(node->sim, node->index, peer_index(node, rank),
			    membership ? SIM_MB : 0, &write[i]);
}

static const struct spindle_mg_ops casts_ops = {
	.joined = node_joined,
	.connected = node_connected,
	.guest = node_next_guest,
	.row = node_row,
	.made = node_made,
	.begun = node_begun,
	.formed = node_formed,
	.ran = node_ran,
	.told = node_told,
	.room = node_room,
	.post = node_post,
};

/* ---- life -------------------------------------------------------------------- */

void node_open(struct sim *sim, u32 index)
{
	struct node *node = &sim->node[index];
	u32 i, g;

	node->sim = sim;
	node->index = index;
	node->inc = 1;
	for (i = 0; i < sim->nodes; i++)
		node->life[i] = 1;
	node->rules = &sim->rules;
	node->lineage = sim->lineage;
	node->picky = rng_chance(&sim->draw, 50);
	node->restless = rng_chance(&sim->draw, 20);
	node->slow = rng_chance(&sim->rng, 15) ? 400 : 60;
	for (i = 0; i < sim->nodes; i++)
		node->row[i] = calloc(1, SIM_ROW(sim));
	for (g = 0; g < SIM_GROUPS; g++) {
		node->group[g].talk = rng_chance(&sim->rng, 25) ? 0 : 1 + rng_below(&sim->rng, 99);
		node->group[g].lazy = rng_chance(&sim->rng, 50) ? 0 : rng_below(&sim->rng, 100);
	}
}

static void open_membership(struct node *node, const struct spindle_view *view)
{
	struct spindle_mb *mb = &node->mb;
	u32 r;

	memset(mb, 0, sizeof(*mb));
	mb->ops = &node_ops;
	mb->ctx = node;
	mb->timeout = SIM_TIMEOUT;
	mb->interval = SIM_INTERVAL;
	mb->trims = SIM_TRIMS;
	mb->joins = node->sim->joins;
	mb->any = node->sim->any;
	mb->row = (void *)(node->row[node->index] + SIM_MB);
	mb->seen = node->seen;
	for (r = 0; r < view->num_members; r++)
		show(node, view->member[r].id - 1, &mb->peer[r]);
	node->started = true;
}

static void open_casts(struct node *node)
{
	node->mg = (struct spindle_mg){
		.ops = &casts_ops,
		.ctx = node,
		.mb = &node->mb,
		.view = spindle_mb_view(&node->mb),
		.me = node->mb.me,
		.formed = true,
		.hot = U64_MAX,
	};
}

void node_start(struct node *node, const struct spindle_view *view)
{
	int me = spindle_view_rank(view, node->index + 1);
	u32 g;

	open_membership(node, view);
	if (spindle_mb_init(&node->mb, view, me, node->sim->now))
		sim_fail(node->sim, "node %u: no room for the first view", node->index);
	open_casts(node);
	for (g = 0; g < SIM_GROUPS; g++) {
		if (!(view->subgroup[g].members & BIT_ULL(me)))
			continue;
		node->mg.mc[g] = node_made(node, g, &node->mg.streams[g], &node->mg.tb[g]);
		begin_group(node, g, NULL);
	}
	spindle_mg_start(&node->mg, &node->sim->ranges.all);
}

/**
 * node_follow() - a joiner waits for a view that includes it
 * @node: the joiner
 * @view: the view of the card
 * @life: lives of the members
 */
void node_follow(struct node *node, const struct spindle_view *view, const u32 *life)
{
	memcpy(node->life, life, sizeof(node->life));
	node->life[node->index] = node->inc;
	liar_misleads(node, view);
	open_membership(node, view);
	if (spindle_mb_join(&node->mb, view, node->index + 1, node->inc, node->sim->now))
		sim_fail(node->sim, "node %u: no room for a view", node->index);
	open_casts(node);
	node->mg.formed = false;
	node->told_at = 0;
}

/*
 * A node that has crashed or stopped, or that was turned away, begins a new life. The new life has
 * other processes and new connections. Returns false if the node is none of these.
 */
bool node_back(struct node *node)
{
	struct sim *sim = node->sim;
	u32 g, i, j;

	if (!node->started || node->inc + 1 == SIM_LIVES || !fabric_whole(sim, node->index) ||
	    (!node->crashed && node->mb.state != SPINDLE_MB_STOPPED && !join_turned_away(node)))
		return false;
	for (g = 0; g < SIM_GROUPS; g++) {
		struct group *grp = &node->group[g];
		u32 talk = grp->talk, lazy = grp->lazy;

		node->past[node->inc][g] = grp->msgs;
		large_end(node, g);
		if (grp->mc)
			free_group(grp->mc);
		table_free(grp->tb, &memory);
		memset(grp, 0, sizeof(*grp));
		grp->talk = talk;
		grp->lazy = lazy;
	}
	for (i = 0; i < SPINDLE_MB_STATES; i++)
		for (j = 0; j < SPINDLE_MB_STATES; j++)
			sim->edges[i][j] += node->mb.edges[i][j];
	fabric_open(sim, node->index);
	node->inc++;
	node->started = false;
	node->lineage = sim->lineage;
	node->rules = &sim->rules;
	node->offer = NULL;
	node->crashed = false;
	node->crash_after = 0;
	node->awake_at = 0;
	node->poor = false;
	memset(&node->mb, 0, sizeof(node->mb));
	node_join(node);
	return true;
}

static void push(struct node *node)
{
	u32 how = node->sim->imm ? 0 : SPINDLE_PUSH_SPLIT | SPINDLE_PUSH_EXPRESS, r;

	for (r = 0; r < node->mg.view->num_members; r++)
		if (r != node->mb.me && !fabric_busy(node->sim, node->index, peer_index(node, r)))
			spindle_mg_push(&node->mg, r, how);
	spindle_mg_pushed(&node->mg);
}

/* Called by the core, between any two looks at memory: a write to the node may arrive. */
void sim_between_looks(void)
{
	struct sim *sim = running;
	u32 from;

	if (!sim)
		return;
	if (++sim->looked > MOST_LOOKS)
		exceeded("time");
	if (sim->looks--)
		return;
	sim->looks = rng_below(&sim->rng, 200);
	from = rng_below(&sim->rng, sim->nodes);
	if (sim->link[from][sim->looking->index].n &&
	    !sim->link[from][sim->looking->index].blocked)
		fabric_move(sim, from, sim->looking->index);
}

static void pass(struct node *node)
{
	struct sim *sim = node->sim;
	u32 ballot, r;
	bool work;

	node->pass_at = sim->now + 5 + rng_below(&sim->rng, node->slow);
	if (join_turned_away(node) && node->retry_at <= sim->now)
		node_back(node);
	if (node->retry_at && node->retry_at <= sim->now &&
	    (!node->started || node->mb.state == SPINDLE_MB_JOINING))
		node_join(node);
	if (!node->started)
		return;
	if (node->mb.state == SPINDLE_MB_JOINING && node->news_at && node->news_at <= sim->now)
		join_news(node);
	if (node->lose_at && node->lose_at <= sim->now)
		join_loses(node);
	for (r = 0; r < spindle_mb_view(&node->mb)->num_members; r++) {
		u32 to = peer_index(node, r);
		struct link *link = &sim->link[node->index][to];

		if (r != node->mb.me && node->life[to] != sim->node[to].inc) {
			spindle_mg_lost(&node->mg, r, SPINDLE_MB_LOST);
			continue;
		}
		if (link->blocked && link->n && link->retry_at <= sim->now && !link->lost_at)
			link->lost_at = sim->now;
		if (r == node->mb.me || !link->lost_at || link->lost_at > sim->now)
			continue;
		spindle_mg_lost(&node->mg, r,
				link->closed ? SPINDLE_MB_GONE : SPINDLE_MB_LOST);
	}
	large_pass(node);
	rules_offer(node);
	work = spindle_mg_pass(&node->mg, !node->busy, !node->busy);
	if (!node->mg.formed && node->mb.state == SPINDLE_MB_JOINING)
		join_connect(node);
	ballot = node->mb.ballot;
	work |= spindle_mg_run(&node->mg, sim->now);
	rules_adopted(node, ballot);
	push(node);
	node->busy = work || node->restless;
}

/* A pass of the engine. */
void node_pass(struct node *node)
{
	struct sim *sim = node->sim;

	sim->looking = node;
	sim->looked = 0;
	sim->looks = rng_below(&sim->rng, 200);
	running = sim;
	pass(node);
	running = NULL;
}

void node_close(struct node *node)
{
	u32 i;

	for (i = 0; i < SIM_GROUPS; i++) {
		large_end(node, i);
		if (node->group[i].mc)
			free_group(node->group[i].mc);
		table_free(node->group[i].tb, &memory);
	}
	for (i = 0; i < node->sim->nodes; i++)
		free(node->row[i]);
	free(node->own_rules);
}
