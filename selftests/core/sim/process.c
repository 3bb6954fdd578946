// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes of a node: at most one that sends and one that reads in each subgroup. See sim.h.
 */
#include "sim.h"

static void note(struct commits *all, u64 vid, bool direct)
{
	if (all->n == all->room) {
		all->room = all->room ? 2 * all->room : 64;
		all->msg = realloc(all->msg, all->room * sizeof(*all->msg));
	}
	all->msg[all->n++] = (struct commit){ .vid = vid, .direct = direct };
}

/*
 * Name the members that get the message, by their ranks in the view of the subgroup. In a subgroup
 * with logs all get it.
 */
static void direct(struct node *node, u32 index, u64 key, struct spindle_tx_desc *d)
{
	const struct spindle_mc *mc = node->group[index].mc;
	bool some = !mc->durable && message_is_direct(key);
	u32 r;

	if (some) {
		node->sim->direct++;
		for (r = 0; r < mc->members; r++)
			if (message_is_for(key, node->index, node->group[index].member_node[r]))
				d->mask |= BIT_ULL(r);
	}
	/* A subgroup that stays has the ranks of an earlier view. */
	d->flags |= (u32)spindle_mb_view(&node->mb)->vid << SPINDLE_TX_VIEW_SHIFT;
	note(&node->sim->commits[node->index][node->inc][index], mc->vid, some);
}

static void send(struct node *node, u32 index)
{
	struct group *g = &node->group[index];
	u64 key = message_key(node->index, node->inc, g->mc->id, g->msgs);
	struct sim *sim = node->sim;
	u32 len = message_len(sim, key), mask = sim->ring - 1, i;
	u64 at = (g->unit << SPINDLE_UNIT_SHIFT) & mask;
	u8 *pay = node->row[node->index] + SIM_PAY(sim, index);
	struct spindle_tx_desc *d = &g->desc[g->slot & (sim->window - 1)];

	/* A liar may have named a smaller limit. */
	if (!g->sending || len > g->mc->max_msg || g->slot - g->free_slot >= sim->window ||
	    g->unit + spindle_units(len) - g->free_unit > sim->ring >> SPINDLE_UNIT_SHIFT)
		return;
	for (i = 0; i < len; i++)
		pay[(at + i) & mask] = rng_mix(key + i / 8) >> (i % 8 * 8);
	d->unit = g->unit;
	d->units = spindle_units(len);
	d->len = len;
	d->flags = 0;
	d->mask = 0;
	g->unit += d->units;
	/* The process abandons the slot. */
	if (rng_chance(&sim->draw, 5)) {
		d->flags = SPINDLE_TX_ABANDON;
		d->len = 0;
		sim->abandoned++;
	} else {
		direct(node, index, key, d);
		g->msgs++;
	}
	smp_store_release(&d->ready, ++g->slot);
}

static void consume(struct node *node, u32 index)
{
	struct group *g = &node->group[index];
	u64 n = g->tail - g->consumed;

	if (!g->reading || !n)
		return;
	for (n = 1 + rng_below(&node->sim->rng, n); n; n--)
		check_held(node, index, g->consumed++);
}

/**
 * process_read() - a process attaches that reads in place, or with a small copy ring
 * @node: its node
 * @group: the subgroup
 *
 * The process gets the messages that are delivered from now on.
 */
void process_read(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct rng *rng = &node->sim->draw;

	g->tail = 0;
	g->consumed = 0;
	g->seen = 0;
	g->q = (struct spindle_dlvq){
		.ring = g->ring,
		.tail_word = &g->tail,
		.consumed_word = &g->consumed,
		.mask = 2 * SIM_NODES * node->sim->window - 1,
	};
	if (rng_chance(rng, 30) && node->sim->max_msg <= SIM_COPY) {
		g->q.mask = (4U << rng_below(rng, 4)) - 1;
		g->q.copy = g->copy;
		g->q.copy_end = g->copy_end;
		g->q.copy_units = min_t(u32, SIM_COPY, node->sim->ring) >> SPINDLE_UNIT_SHIFT;
	}
	spindle_mc_attach_reader(g->mc, &g->q);
	g->vid = g->epoch;
	g->lsn = g->mc->deliver.lsn;
	g->reading = true;
	g->late = true;
	g->blind = ~0ULL;
}

/**
 * process_send() - a process attaches that sends, and starts where the last one stopped
 * @node: its node
 * @group: the subgroup
 */
void process_send(struct node *node, u32 group)
{
	struct group *g = &node->group[group];

	if (g->mc->my_sender == SPINDLE_NO_RANK || g->sending || g->parted)
		return;
	if (g->mc->send.txq.slot != g->slot)
		sim_fail(node->sim, "node %u group %u: of %llu messages committed %llu were taken",
			 node->index, group, (unsigned long long)g->slot,
			 (unsigned long long)g->mc->send.txq.slot);
	memset(g->desc, 0, sizeof(g->desc));
	spindle_mc_attach_sender(g->mc, g->desc, &g->free_slot, &g->free_unit);
	g->sending = true;
}

/**
 * process_parted() - the messages of a departed process are sent, or never will be
 * @node: its node
 * @group: the subgroup
 */
void process_parted(struct node *node, u32 group)
{
	node->group[group].parted = false;
}

static void stop_reading(struct node *node, u32 index)
{
	struct group *g = &node->group[index];

	check_deliveries(node, index);
	spindle_mc_detach_reader(g->mc, &g->q);
	g->reading = false;
	node->sim->closed++;
}

/* The process dies with an uncommitted slot, and has committed the slot behind it. */
static void leave_gap(struct node *node, struct group *g)
{
	u64 slot = g->slot + 1;
	struct spindle_tx_desc *d = &g->desc[slot & (node->sim->window - 1)];

	if (slot - g->free_slot >= node->sim->window)
		return;
	d->unit = g->unit + 1;
	d->units = 1;
	d->len = 0;
	d->flags = 0;
	/* The store is the same as that of a commit in <linux/spindle.h>. */
	smp_store_release(&d->ready, slot + 1);
	node->sim->abandoned += 2;
}

static void stop_sending(struct node *node, u32 index)
{
	struct group *g = &node->group[index];

	if (rng_chance(&node->sim->draw, 30))
		leave_gap(node, g);
	g->sending = false;
	g->parted = !spindle_mc_detach_sender(g->mc);
	node->sim->closed++;
	node->sim->parted += g->parted;
}

/* Processes attach and exit, at any time. In the end each subgroup has a reader. */
static void come_and_go(struct node *node, u32 index)
{
	struct group *g = &node->group[index];
	struct sim *sim = node->sim;

	if (!node_up(node) || (sim->quiet ? g->reading : !rng_chance(&sim->draw, 1)))
		return;
	if (!g->reading)
		process_read(node, index);
	else if (!sim->quiet && rng_chance(&sim->draw, 50))
		stop_reading(node, index);
	if (!g->sending)
		process_send(node, index);
	else if (!sim->quiet && rng_chance(&sim->draw, 50))
		stop_sending(node, index);
	spindle_mg_touch(&node->mg, index);
}

/* ---- a second reader ----------------------------------------------------------- */

static void extra_comes(struct node *node, u32 index)
{
	struct group *g = &node->group[index];
	struct extra *x = &g->extra;

	x->tail = 0;
	x->consumed = 0;
	x->seen = 0;
	x->q = (struct spindle_dlvq){
		.ring = x->ring,
		.tail_word = &x->tail,
		.consumed_word = &x->consumed,
		.mask = 2 * SIM_NODES * node->sim->window - 1,
	};
	spindle_mc_attach_reader(g->mc, &x->q);
	x->vid = g->epoch;
	x->lsn = g->mc->deliver.lsn;
	x->blind = ~0ULL;
	x->reading = true;
	node->sim->extras += g->reading;
}

static void extra_goes(struct node *node, u32 index)
{
	struct group *g = &node->group[index];

	check_deliveries(node, index);
	spindle_mc_detach_reader(g->mc, &g->extra.q);
	g->extra.reading = false;
	node->sim->closed++;
}

static void run_extra(struct node *node, u32 index)
{
	struct group *g = &node->group[index];
	struct extra *x = &g->extra;
	struct sim *sim = node->sim;

	if (node_up(node) && !sim->quiet && rng_chance(&sim->draw, 1)) {
		if (x->reading)
			extra_goes(node, index);
		else
			extra_comes(node, index);
		spindle_mg_touch(&node->mg, index);
	}
	while (x->reading && x->consumed != x->seen && (sim->quiet || rng_chance(&sim->draw, 60))) {
		check_same(node, index, &x->held[x->consumed & x->q.mask]);
		x->consumed++;
	}
}

/* Each process does something, or nothing. */
void node_processes(struct node *node)
{
	struct sim *sim = node->sim;
	u32 g;

	for (g = 0; g < SIM_GROUPS; g++) {
		struct group *grp = &node->group[g];

		if (grp->tb)
			table_run(node, g);
		if (!grp->mc || grp->table)
			continue;
		come_and_go(node, g);
		if (!sim->quiet && rng_chance(&sim->rng, grp->talk))
			send(node, g);
		if (sim->quiet || !rng_chance(&sim->rng, grp->lazy))
			consume(node, g);
		run_extra(node, g);
		kept_run(node, g);
		log_run(node, g);
	}
}
