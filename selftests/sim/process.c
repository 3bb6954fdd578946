// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes of a node: one that sends and one that reads in each subgroup. See sim.h.
 */
#include "sim.h"

static void send(struct node *node, u32 index)
{
	struct group *g = &node->group[index];
	u64 key = message_key(node->index, node->inc, index, g->slot);
	u32 len = message_len(key), i;
	u64 at = (g->unit << SPINDLE_UNIT_SHIFT) & (SIM_RING - 1);
	u8 *pay = node->row[node->index] + SIM_PAY(index);
	struct spindle_tx_desc *d = &g->desc[g->slot & (SIM_WINDOW - 1)];

	if (g->slot - g->free_slot >= SIM_WINDOW ||
	    g->unit + spindle_units(len) - g->free_unit > SIM_RING >> SPINDLE_UNIT_SHIFT)
		return;
	for (i = 0; i < len; i++)
		pay[(at + i) & (SIM_RING - 1)] = rng_mix(key + i / 8) >> (i % 8 * 8);
	d->unit = g->unit;
	d->units = spindle_units(len);
	d->len = len;
	d->flags = 0;
	g->unit += d->units;
	smp_store_release(&d->ready, ++g->slot);
}

static void consume(struct node *node, u32 index)
{
	struct group *g = &node->group[index];
	u64 n = g->tail - g->consumed;

	if (!n)
		return;
	for (n = 1 + rng_below(&node->sim->rng, n); n; n--)
		check_held(node, index, g->consumed++);
}

/* The processes do something, or nothing. */
void node_processes(struct node *node)
{
	struct sim *sim = node->sim;
	u32 g;

	for (g = 0; g < SIM_GROUPS; g++) {
		struct group *grp = &node->group[g];

		if (!grp->mc)
			continue;
		if (!sim->quiet && rng_chance(&sim->rng, grp->talk))
			send(node, g);
		if (sim->quiet || !rng_chance(&sim->rng, grp->lazy))
			consume(node, g);
	}
}
