// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checker of a world: it records each commit, looks at each delivery at once, and reports the
 * first error. See world.h.
 *
 * Integrity and exactly once: a delivery is the next message of its sender, with the length and
 * bytes that were committed. Total order: the first delivery of a sequence number at any node fixes
 * the message for that number, and all other nodes have to follow. Uniformity: when a message is
 * delivered for the first time, every member has received it and has its bytes.
 */
#include "world.h"

/* Fill @to with bytes that tell which message they belong to, and where in it. */
void pattern(u8 *to, u64 key, u32 len)
{
	u64 v;

	for (; len >= 8; len -= 8, to += 8) {
		key = key * 6364136223846793005ULL + 1442695040888963407ULL;
		v = key ^ key >> 33;
		memcpy(to, &v, 8);
	}
	v = key ^ key >> 29;
	memcpy(to, &v, len);
}

static void *grow(void *v, u64 n, u64 *room, size_t size)
{
	if (n < *room)
		return v;
	*room = *room ? 2 * *room : 64;
	return realloc(v, *room * size);
}

/* The sender's next message is certain to be sent: record it. */
void check_sent(struct group *g, const struct reserved *rec)
{
	struct ledger *l = group_ledger(g, g->mc.my_sender);

	l->v = grow(l->v, l->n, &l->room, sizeof(*l->v));
	l->v[l->n++] = (struct sent){ .key = rec->key, .len = rec->len, .unit = rec->unit };
}

/* Are these bytes of the ring (its size is a power of two) the bytes of message @m? */
static bool same(struct world *w, const u8 *ring, u64 bytes, u64 at, const struct sent *m)
{
	u32 first;

	at &= bytes - 1;
	first = min_t(u64, m->len, bytes - at);
	pattern(w->scratch, m->key, m->len);
	return !memcmp(ring + at, w->scratch, first) &&
	       !memcmp(ring, w->scratch + first, m->len - first);
}

static const struct sent *find(struct group *g, u32 sender, u64 slot)
{
	struct ledger *l = group_ledger(g, sender);
	u64 n = slot - g->node->world->conf.first;

	return n < l->n ? &l->v[n] : NULL;
}

void check_payload(struct group *g, const struct reader *r, const struct spindle_dlv *d,
		   const char *when)
{
	struct world *w = g->node->world;
	u64 ring = (u64)g->mc.ring_units << SPINDLE_UNIT_SHIFT;
	const struct sent *m;
	bool ok;

	if (w->failed || (w->hostile < w->view.num_members &&
			  g->view_rank[g->mc.sender[d->sender].member] == w->hostile))
		return;
	m = find(g, d->sender, d->slot);
	if (!m || m->len != d->len) {
		world_fail(w, "%s: node %u group %u sender %u slot %llu: length %u",
			   when, g->node->rank, g->index, d->sender,
			   (unsigned long long)d->slot, d->len);
		return;
	}
	if (r->q.copy)
		ok = same(w, r->q.copy, (u64)r->q.copy_units << SPINDLE_UNIT_SHIFT, d->offset,
			  m);
	else
		ok = d->offset == (((u64)m->unit << SPINDLE_UNIT_SHIFT) & (ring - 1)) &&
		     same(w, g->mc.sender[d->sender].pay, ring, d->offset, m);
	if (!ok)
		world_fail(w, "%s: node %u group %u sender %u slot %llu: bytes differ", when,
			   g->node->rank, g->index, d->sender, (unsigned long long)d->slot);
}

/* The sequence number of a message that is delivered and not released yet. */
static u64 seq_of(const struct group *g, const struct spindle_dlv *d)
{
	const struct spindle_mc_sender *sd = &g->mc.sender[d->sender];

	return sd->msgs[d->slot & sd->walk.wmask].round * g->mc.senders + d->sender;
}

/* A message is delivered only after every member has received it. */
static void check_uniform(struct group *g, const struct spindle_dlv *d)
{
	struct world *w = g->node->world;
	u64 ring = (u64)g->mc.ring_units << SPINDLE_UNIT_SHIFT;
	const struct sent *m = find(g, d->sender, d->slot);
	u64 seq = seq_of(g, d);
	u32 r;

	for (r = 0; r < g->mc.members && m && w->hostile == w->view.num_members; r++) {
		struct group *at = group_at(g, r);

		if (at->mc.own.word[SPINDLE_COL_RECEIVED] <= seq)
			world_fail(w, "node %u group %u delivers %llu, node %u has up to %llu",
				   g->node->rank, g->index, (unsigned long long)seq,
				   at->node->rank,
				   (unsigned long long)at->mc.own.word[SPINDLE_COL_RECEIVED]);
		if (!same(w, at->mc.sender[d->sender].pay, ring,
			  (u64)m->unit << SPINDLE_UNIT_SHIFT, m))
			world_fail(w, "node %u group %u delivers %llu, node %u has not its bytes",
				   g->node->rank, g->index, (unsigned long long)seq,
				   at->node->rank);
	}
}

static void check_ordered(struct group *g, struct reader *r, const struct spindle_dlv *d)
{
	struct world *w = g->node->world;
	struct order *o = &w->order[g->index];
	u64 at = r->q.base + r->seen, seq = seq_of(g, d);
	struct place *p;

	/* Members without readers may have passed places. The checker does not know these yet. */
	for (; o->n <= at; o->n++) {
		o->v = grow(o->v, o->n, &o->room, sizeof(*o->v));
		o->v[o->n].seq = U64_MAX;
	}
	p = &o->v[at];
	if (p->seq == U64_MAX) {
		*p = (struct place){ .seq = seq, .sender = d->sender, .slot = d->slot };
		if (at && p[-1].seq != U64_MAX && p[-1].seq >= seq)
			world_fail(w, "seq %llu after %llu", (unsigned long long)seq,
				   (unsigned long long)p[-1].seq);
		check_uniform(g, d);
		return;
	}
	if (p->seq != seq || p->sender != d->sender || p->slot != d->slot)
		world_fail(w, "node %u group %u: place %llu is seq %llu sender %u slot %llu, elsewhere %llu %u %llu",
			   g->node->rank, g->index, (unsigned long long)at,
			   (unsigned long long)seq, d->sender, (unsigned long long)d->slot,
			   (unsigned long long)p->seq, p->sender, (unsigned long long)p->slot);
}

/* A world begins at a position, see world_open(). Unordered subgroups have none. */
static u64 first_position(const struct group *g)
{
	return g->mc.ordered ? g->node->world->view.subgroup[g->index].former : 0;
}

/* A message, or with a hostile sender also the position of one that is for other members. */
static bool is_delivery(const struct world *w, const struct spindle_dlv *d)
{
	return d->kind == SPINDLE_DLV_MSG ||
	       (d->kind == SPINDLE_DLV_OTHER && w->hostile != w->view.num_members && !d->len &&
		!d->offset);
}

/* Check the deliveries that the reader got since the last look. */
void check_reader(struct group *g, struct reader *r)
{
	struct world *w = g->node->world;
	u64 tail = smp_load_acquire(r->tail); /* B */

	if (r->cheated) {
		r->seen = tail;
		return;
	}
	for (; r->seen != tail && !w->failed; r->seen++) {
		const struct spindle_dlv *d = &r->q.ring[r->seen & r->q.mask];

		if (!is_delivery(w, d) || d->sender >= g->mc.senders ||
		    d->lsn != first_position(g) + r->q.base + r->seen) {
			world_fail(w, "node %u: no such delivery", g->node->rank);
			return;
		}
		if (d->slot != r->next_slot[d->sender]++)
			world_fail(w, "node %u group %u sender %u: slot %llu out of turn",
				   g->node->rank, g->index, d->sender,
				   (unsigned long long)d->slot);
		check_payload(g, r, d, "delivered");
		if (g->mc.ordered && w->hostile == w->view.num_members)
			check_ordered(g, r, d);
	}
	if (r->q.error)
		world_fail(w, "node %u: an honest reader is frozen", g->node->rank);
	if (r->q.tail - r->q.consumed > r->q.mask + 1)
		world_fail(w, "node %u: a reader's ring overflows", g->node->rank);
}

/* Check the invariants that hold after every pass. */
void check_group(struct group *g)
{
	const struct spindle_mc *mc = &g->mc;
	struct world *w = g->node->world;
	u32 i;

	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++) {
		if (mc->own.word[i] < g->last_word[i])
			world_fail(w, "node %u group %u: column %u goes back", g->node->rank,
				   g->index, i);
		g->last_word[i] = mc->own.word[i];
	}
	if (mc->own.word[SPINDLE_COL_DELIVERED] > mc->own.word[SPINDLE_COL_RECEIVED])
		world_fail(w, "node %u: delivered what was not received", g->node->rank);
	if (mc->deliver.log_tail - mc->deliver.log_head > mc->deliver.log_mask + 1)
		world_fail(w, "node %u: the delivery log overflows", g->node->rank);
	for (i = 0; i < mc->senders; i++) {
		const struct spindle_mc_sender *sd = &mc->sender[i];

		if (sd->rel_slot > sd->dlv_slot || sd->dlv_slot > sd->walk.slot ||
		    sd->walk.slot - sd->rel_slot > mc->window)
			world_fail(w, "node %u group %u sender %u: slots out of range",
				   g->node->rank, g->index, i);
	}
	if (mc->stats.large > mc->stats.sent || mc->stats.large_bytes > mc->stats.sent_bytes)
		world_fail(w, "node %u group %u: more large messages than messages",
			   g->node->rank, g->index);
	if (g->sender && mc->send.txq.error && !g->sender->cheated)
		world_fail(w, "node %u group %u: an honest sender is frozen, error %u",
			   g->node->rank, g->index, mc->send.txq.error);
}

static void check_group_end(struct group *g)
{
	const struct spindle_mc *mc = &g->mc;
	struct world *w = g->node->world;
	const struct sender *p = g->sender;
	u64 all = 0;
	u32 s, r;

	for (s = 0; s < mc->senders; s++) {
		all += group_ledger(g, s)->n;
		if (mc->sender[s].dlv_slot - w->conf.first != group_ledger(g, s)->n)
			world_fail(w, "end: node %u group %u has %llu of %llu of sender %u",
				   g->node->rank, g->index,
				   (unsigned long long)(mc->sender[s].dlv_slot - w->conf.first),
				   (unsigned long long)group_ledger(g, s)->n, s);
	}
	if (mc->deliver.log_tail != all || mc->deliver.log_head != all ||
	    mc->stats.delivered != all)
		world_fail(w, "end: node %u group %u: not all is delivered and released",
			   g->node->rank, g->index);
	for (r = 0; r < mc->members; r++)
		if (spindle_push_wanted(mc, r))
			world_fail(w, "end: node %u has something to push", g->node->rank);
	if (mc->my_sender == SPINDLE_NO_RANK)
		return;
	if (p ? *p->free_slot != p->slot || *p->free_unit != p->unit :
		mc->send.txq.free_slot != mc->send.txq.slot ||
		mc->send.txq.free_unit != mc->send.txq.unit)
		world_fail(w, "end: node %u group %u: slots or units are not free",
			   g->node->rank, g->index);
}

/* Check the invariants that hold when the world is at rest. */
void check_end(struct world *w)
{
	u32 i, j;

	for (i = 0; i < w->view.num_members; i++)
		for (j = 0; j < w->view.num_subgroups; j++)
			if (w->node[i].group[j])
				check_group_end(w->node[i].group[j]);
}
