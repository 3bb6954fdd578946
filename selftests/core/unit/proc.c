// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes of a world: some follow the rules of <linux/spindle.h>, some break them. See
 * world.h.
 */
#include "world.h"

/* ---- senders ------------------------------------------------------------- */

void sender_open(struct group *g)
{
	struct spindle_mc *mc = &g->mc;
	struct sender *p = calloc(1, sizeof(*p));

	p->desc = calloc(mc->window, sizeof(*p->desc));
	p->rec = calloc(mc->window, sizeof(*p->rec));
	p->free_slot = calloc(1, sizeof(u64));
	p->free_unit = calloc(1, sizeof(u64));
	p->threads = 1 + rng_below(&g->node->world->rng, 4);
	spindle_mc_attach_sender(mc, p->desc, p->free_slot, p->free_unit);
	g->node->asleep = false;
	p->told = *p->free_slot;
	p->slot = p->settled = mc->send.txq.slot;
	p->unit = mc->send.txq.unit;
	if (p->slot - *p->free_slot > mc->window || p->unit - *p->free_unit > mc->ring_units)
		world_fail(g->node->world, "attach with more in flight than there is");
	g->sender = p;
}

static void free_sender(struct group *g, struct sender *p)
{
	if (!g->mc.ended && g->mc.send.txq.slot != p->settled)
		world_fail(g->node->world, "%llu slots taken of a dead sender's %llu",
			   (unsigned long long)g->mc.send.txq.slot,
			   (unsigned long long)p->settled);
	free(p->desc);
	free(p->rec);
	free(p->free_slot);
	free(p->free_unit);
	free(p);
}

void sender_close(struct group *g)
{
	struct sender *p = g->sender;

	g->sender = NULL;
	g->node->asleep = false;
	/*
	 * A large message is moving: the sender's memory stays until this message and the rest are
	 * sent.
	 */
	if (spindle_mc_detach_sender(&g->mc))
		free_sender(g, p);
	else
		g->parted = p;
}

/* All messages that the departed process had committed are sent: free its memory. */
void sender_parted(struct group *g)
{
	if (!g->parted || g->mc.send.txq.desc)
		world_fail(g->node->world, "parted, but no sender was parting");
	else
		free_sender(g, g->parted);
	g->parted = NULL;
}

bool sender_reserve(struct group *g, u32 len, u32 extra_units)
{
	struct sender *p = g->sender;
	u32 units = spindle_units(len) + extra_units;
	struct reserved *rec = &p->rec[p->slot & (g->mc.window - 1)];

	/* Pair with the engine's releases: the engine no longer reads these bytes. */
	if (p->slot - smp_load_acquire(p->free_slot) >= g->mc.window ||
	    p->unit + units - smp_load_acquire(p->free_unit) > g->mc.ring_units)
		return false;
	*rec = (struct reserved){
		.unit = p->unit,
		.units = units,
		.len = len,
		.key = rng_u64(&g->node->world->rng),
	};
	p->slot++;
	p->unit += units;
	return true;
}

/* Write the bytes of a message into the ring that the device reads. */
static void fill(struct group *g, const struct reserved *rec)
{
	struct world *w = g->node->world;
	u64 ring = (u64)g->mc.ring_units << SPINDLE_UNIT_SHIFT;
	u64 at = (rec->unit << SPINDLE_UNIT_SHIFT) & (ring - 1);
	u32 first = min_t(u64, rec->len, ring - at);

	pattern(w->scratch, rec->key, rec->len);
	memcpy(g->pay + at, w->scratch, first);
	memcpy(g->pay, w->scratch + first, rec->len - first);
}

void sender_commit(struct group *g, u64 slot, bool abandon)
{
	struct sender *p = g->sender;
	struct reserved *rec = &p->rec[slot & (g->mc.window - 1)];
	struct spindle_tx_desc *d = &p->desc[slot & (g->mc.window - 1)];

	rec->abandoned = abandon;
	rec->committed = true;
	if (!abandon)
		fill(g, rec);
	d->unit = rec->unit;
	d->units = rec->units;
	d->len = rec->len;
	d->flags = abandon ? SPINDLE_TX_ABANDON : 0;
	smp_store_release(&d->ready, slot + 1); /* A */
	g->node->asleep = false; /* the kick */

	for (; p->settled != p->slot && !p->cheated; p->settled++) {
		rec = &p->rec[p->settled & (g->mc.window - 1)];
		if (!rec->committed)
			break;
		if (!rec->abandoned)
			check_sent(g, rec);
		/* The record may be used again, because the slot is free by then. */
	}
}

static u32 random_len(struct group *g)
{
	struct rng *rng = &g->node->world->rng;
	u32 max_msg = group_conf(g)->max_msg;

	switch (rng_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return max_msg;
	case 2:
		return rng_below(rng, max_msg + 1);
	default:
		return rng_below(rng, min_t(u32, max_msg, 200) + 1);
	}
}

static u32 open_slots(const struct group *g, u64 *pick, u32 which)
{
	const struct sender *p = g->sender;
	u32 n = 0;
	u64 slot;

	for (slot = p->settled; slot != p->slot; slot++)
		if (!p->rec[slot & (g->mc.window - 1)].committed && n++ == which)
			*pick = slot;
	return n;
}

/* One of the process's threads takes a step. */
void sender_step(struct group *g)
{
	struct world *w = g->node->world;
	struct sender *p = g->sender;
	u32 open, len, extra;
	u64 slot = 0;

	if (p->cheated) {
		if (g->mc.send.txq.error)
			sender_close(g);
		return;
	}
	open = open_slots(g, &slot, 0);
	if (open < p->threads && !w->stopped && rng_chance(&w->rng, 60)) {
		len = random_len(g);
		extra = rng_chance(&w->rng, 30) ? rng_below(&w->rng, 24) : 0;
		/* The ring has no more units than these. */
		extra = min(extra, g->mc.ring_units - spindle_units(len));
		sender_reserve(g, len, extra);
	} else if (open) {
		open_slots(g, &slot, rng_below(&w->rng, open));
		sender_commit(g, slot, rng_chance(&w->rng, 10));
	}
}

/* Commit all that is reserved. */
void sender_finish(struct group *g)
{
	u64 slot = 0;

	if (g->sender->cheated)
		sender_close(g);
	else
		while (open_slots(g, &slot, 0))
			sender_commit(g, slot, false);
}

/* Break a rule at the next slot that the engine will look at. */
void sender_cheat(struct group *g)
{
	struct rng *rng = &g->node->world->rng;
	struct sender *p = g->sender;
	struct spindle_tx_desc *d = &p->desc[p->settled & (g->mc.window - 1)];
	const struct reserved *rec = &p->rec[p->settled & (g->mc.window - 1)];

	/*
	 * Cheat neither in a descriptor that the engine still reads nor in a slot that is not free
	 * yet.
	 */
	if (p->cheated || p->settled - *p->free_slot >= g->mc.window)
		return;
	p->cheated = true;
	d->unit = p->settled == p->slot ? p->unit : rec->unit;
	d->units = 1;
	d->len = 64;
	d->flags = 0;
	switch (rng_below(rng, 4)) {
	case 0:
		d->unit += 1 + rng_below(rng, 1000);
		break;
	case 1:
		d->units = g->mc.ring_units + 1 + rng_below(rng, 100);
		break;
	case 2:
		d->len = group_conf(g)->max_msg + 1 + rng_below(rng, 1000);
		break;
	default:
		d->flags = 2;
		break;
	}
	smp_store_release(&d->ready, p->settled + 1); /* A */
	g->node->asleep = false;
}

/* ---- readers ------------------------------------------------------------- */

struct reader *reader_open(struct group *g, u32 entries, u32 copy_bytes)
{
	struct reader *r = calloc(1, sizeof(*r));
	u32 s;

	r->tail = calloc(1, sizeof(u64));
	r->consumed = calloc(1, sizeof(u64));
	r->next_slot = calloc(g->mc.senders, sizeof(u64));
	r->q.ring = calloc(entries, sizeof(*r->q.ring));
	r->q.mask = entries - 1;
	r->q.tail_word = r->tail;
	r->q.consumed_word = r->consumed;
	if (copy_bytes) {
		r->q.copy = malloc(copy_bytes);
		r->q.copy_end = calloc(entries, sizeof(u64));
		r->q.copy_units = copy_bytes >> SPINDLE_UNIT_SHIFT;
	}
	for (s = 0; s < g->mc.senders; s++)
		r->next_slot[s] = g->mc.sender[s].dlv_slot;
	spindle_mc_attach_reader(&g->mc, &r->q);
	g->node->asleep = false;
	r->next = g->readers;
	g->readers = r;
	return r;
}

void reader_close(struct group *g, struct reader *r)
{
	struct reader **at = &g->readers;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	spindle_mc_detach_reader(&g->mc, &r->q);
	g->node->asleep = false;
	free(r->q.ring);
	free(r->q.copy);
	free(r->q.copy_end);
	free(r->tail);
	free(r->consumed);
	free(r->next_slot);
	free(r);
}

/* Consume a few messages, or all. Returns true if there were any. */
bool reader_step(struct group *g, struct reader *r, bool all)
{
	u64 tail = smp_load_acquire(r->tail); /* B */
	u64 n = tail - *r->consumed, i;

	if (r->cheated || !n)
		return false;
	if (!all)
		n = 1 + rng_below(&g->node->world->rng, n);
	for (i = *r->consumed; i < *r->consumed + n; i++)
		check_payload(g, r, &r->q.ring[i & r->q.mask], "consumed");
	smp_store_release(r->consumed, *r->consumed + n); /* C */
	g->node->asleep = false;
	return true;
}

void reader_cheat(struct group *g, struct reader *r)
{
	struct rng *rng = &g->node->world->rng;

	if (r->cheated)
		return;
	r->cheated = true;
	g->node->asleep = false;
	/* Set @consumed back behind the engine's value, or beyond the tail. */
	if (r->q.consumed && rng_chance(rng, 50))
		*r->consumed = r->q.consumed - 1;
	else
		*r->consumed = U64_MAX - rng_below(rng, 1000);
}
