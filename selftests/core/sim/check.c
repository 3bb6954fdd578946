// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checker: the promises of a group, one after the other. See sim.h.
 *
 * Integrity, exactly once, first in first out: a delivery is the next message of its sender, over
 * all views, with its length and its bytes. The bytes stay until the reader consumes them. Total
 * order: in each view, the first delivery at any node makes the order of the view, and all others
 * follow it. Virtual synchrony: a node that goes on to the next view has delivered all of the
 * order. No node, dead or alive, ever adds to the order after that. No split brain: a view id names
 * one view. Positions: a reader gets them without a gap, over all views, and at each of them all
 * nodes that are or were in the subgroup deliver the same message. Progress: in the end all nodes
 * that are left are in one view, and have all messages that each of them has sent.
 */
#include "sim.h"

u64 message_key(u32 node, u32 life, u32 id, u64 slot)
{
	return rng_mix((u64)node << 56 ^ (u64)id << 48 ^ (u64)life << 40 ^ slot);
}

u32 message_len(const struct sim *sim, u64 key)
{
	/* Most messages are short, and some fill the ring. */
	return min_t(u32, sim->max_msg, key % 5 ? key % 60 : key % (sim->max_msg + 1));
}

/* One message in four is for some of the nodes, and always for its sender. */
bool message_is_direct(u64 key)
{
	return rng_mix(key ^ 0xd1) % 4 == 0;
}

bool message_is_for(u64 key, u32 sender, u32 node)
{
	return node == sender || (rng_mix(key ^ 0xd2) >> node & 1);
}

static bool has_bytes(const struct held *h, u64 key)
{
	u32 i;

	for (i = 0; i < h->len; i++)
		if (h->ring[(h->offset + i) & h->mask] !=
		    (u8)(rng_mix(key + i / 8) >> (i % 8 * 8)))
			return false;
	return true;
}

static u64 key_of(const struct held *h)
{
	return message_key(h->node, h->life, h->id, h->slot);
}

static bool same(const struct held *h)
{
	return has_bytes(h, key_of(h));
}

static struct position *position_at(const struct positions *all, u64 lsn)
{
	u64 i = rng_mix(lsn) & (all->room - 1);

	while (all->v[i].v && all->v[i].lsn != lsn)
		i = (i + 1) & (all->room - 1);
	return &all->v[i];
}

/* Returns the place of a position, which is free if no node has delivered there yet. */
static struct position *find_position(struct positions *all, u64 lsn)
{
	struct positions old = *all;
	u64 i;

	if (2 * all->n >= all->room) {
		all->room = all->room ? 2 * all->room : 256;
		all->v = calloc(all->room, sizeof(*all->v));
		for (i = 0; i < old.room; i++)
			if (old.v[i].v)
				*position_at(all, old.v[i].lsn) = old.v[i];
		free(old.v);
	}
	return position_at(all, lsn);
}

/**
 * check_first() - put a message at a place, unless there is one
 * @all: places
 * @at: the place
 * @v: the message, not 0
 *
 * Return: the message that was there; 0: there was none
 */
u64 check_first(struct positions *all, u64 at, u64 v)
{
	struct position *p = find_position(all, at);

	if (p->v)
		return p->v;
	*p = (struct position){ .lsn = at, .v = v };
	all->n++;
	return 0;
}

/* Does the message @v stand at this position, at every node that has delivered there? */
static void check_position(struct node *node, u32 group, u64 lsn, u64 v)
{
	struct sim *sim = node->sim;
	u64 other;

	if (sim->liar) {
		liar_check_position(node, group, lsn, v);
		return;
	}
	other = check_first(&sim->positions[node->group[group].mc->id], lsn, v);
	if (other && other != v)
		sim_fail(sim, "node %u group %u: position %llu is %llx, elsewhere %llx",
			 node->index, group, (unsigned long long)lsn, (unsigned long long)v,
			 (unsigned long long)other);
}

/* A reader gets all positions from the one on that it began with. */
static void check_next(struct node *node, u32 group, const struct spindle_dlv *d, u64 *next)
{
	if (!liar_is(node->sim, node->index) && d->lsn != *next)
		sim_fail(node->sim, "node %u group %u: position %llu in place of %llu", node->index,
			 group, (unsigned long long)d->lsn, (unsigned long long)*next);
	*next = d->lsn + (d->kind != SPINDLE_DLV_VIEW);
}

/* What a message is called where nodes compare what they have delivered. */
static u64 name_of(const struct held *h)
{
	return (u64)h->life << 60 | (u64)h->node << 56 | h->slot;
}

static void check_order(struct node *node, u32 group, const struct held *h, u64 lsn)
{
	struct sim *sim = node->sim;
	struct group *g = &node->group[group];
	u64 vid = g->epoch;
	u64 v = name_of(h);
	struct order *o = &sim->order[group][vid % SIM_VIEWS];

	if (!g->mc->ordered)
		return;
	check_position(node, group, lsn, v);
	/* A reader that came late does not know how many messages of the view it has missed. */
	if (g->late)
		return;
	/* With a liar several views may have this number. */
	if (sim->liar) {
		liar_check_order(node, group, lsn, v);
		return;
	}
	if (g->dlv == o->n) {
		if (o->final)
			sim_fail(sim, "node %u group %u delivers %u:%llu in view %llu, which has ended without it",
				 node->index, group, h->node, (unsigned long long)h->slot,
				 (unsigned long long)vid);
		if (o->n == o->room) {
			o->room = o->room ? 2 * o->room : 64;
			o->v = realloc(o->v, o->room * sizeof(*o->v));
		}
		o->v[o->n++] = v;
	}
	if (o->v[g->dlv] != v)
		sim_fail(sim, "node %u group %u view %llu: place %llu is %u:%llu, elsewhere %u:%llu",
			 node->index, group, (unsigned long long)vid,
			 (unsigned long long)g->dlv, h->node, (unsigned long long)h->slot,
			 (u32)(o->v[g->dlv] >> 56) % SIM_NODES,
			 (unsigned long long)(o->v[g->dlv] & ~0ULL >> 8));
	g->dlv++;
}

/* The number of messages that a node has sent in a life. */
static u64 sent_by(const struct sim *sim, const struct held *h, u32 group)
{
	const struct node *node = &sim->node[h->node];

	return h->life == node->inc ? node->group[group].msgs : node->past[h->life][group];
}

/* The entry of a view comes once, and before all messages that are delivered in the view. */
static void check_view(struct node *node, struct group *g, const struct spindle_dlv *d)
{
	if (d->slot <= g->vid)
		sim_fail(node->sim, "node %u: view %llu again", node->index,
			 (unsigned long long)d->slot);
	g->vid = d->slot;
}

static bool as_sent(const struct node *node, u32 group, const struct held *h)
{
	const struct sim *sim = node->sim;

	if (h->slot >= sent_by(sim, h, group))
		return false;
	if (h->other)
		return !h->len && !h->offset;
	return same(h) && h->len == message_len(sim, key_of(h));
}

/* Does the copy of a ring at a node hold the bytes of a message that is for other nodes? */
static bool leaked(const struct node *node, u32 group, u64 key, const struct spindle_dlv *d)
{
	const struct spindle_mc_sender *sd = &node->group[group].mc->sender[d->sender];
	const struct spindle_msg *msg = &sd->msgs[d->slot & sd->walk.wmask];
	struct held h = {
		.ring = sd->pay,
		.mask = node->sim->ring - 1,
		.offset = (u64)msg->unit << SPINDLE_UNIT_SHIFT,
		.len = msg->len,
	};

	/* A few bytes may be the same by chance. */
	return h.len >= 16 && has_bytes(&h, key);
}

/*
 * Does a node get the message if it is one of the destinations, and else only its position? A node
 * that was no member when the message was committed is no destination.
 */
static void check_destination(struct node *node, u32 group, const struct held *h,
			      const struct spindle_dlv *d)
{
	const struct commits *all = &node->sim->commits[h->node][h->life][group];
	u64 key = key_of(h);
	bool other;

	/* A liar may have sent what no process has committed. */
	if (h->slot >= all->n)
		return;
	other = all->msg[h->slot].direct &&
		(!message_is_for(key, h->node, node->index) ||
		 node->group[group].since > all->msg[h->slot].vid);
	if (h->other != other)
		sim_fail(node->sim, "node %u group %u: %u:%llu is %s it", node->index, group,
			 h->node, (unsigned long long)h->slot, other ? "not for" : "kept from");
	if (!h->other)
		return;
	node->sim->others++;
	if (leaked(node, group, key, d))
		sim_fail(node->sim, "node %u group %u: the bytes of %u:%llu are here, for others",
			 node->index, group, h->node, (unsigned long long)h->slot);
}

/* A delivery in the present view, whose bytes are in a ring of so many bytes. */
static struct held held_of(const struct node *node, const struct group *g,
			   const struct spindle_dlv *d, const u8 *ring, u32 bytes)
{
	return (struct held){
		.id = g->mc->id,
		.node = g->node_of[d->sender],
		.life = node->life[g->node_of[d->sender]],
		.len = d->len,
		.slot = d->slot,
		.other = d->kind == SPINDLE_DLV_OTHER,
		.ring = ring,
		.mask = bytes - 1,
		.offset = d->offset,
	};
}

static void check_extra_message(struct node *node, u32 group, struct held *h,
				const struct spindle_dlv *d)
{
	struct extra *x = &node->group[group].extra;
	struct sim *sim = node->sim;

	if (liar_is(sim, h->node) || liar_is(sim, node->index)) {
		x->blind |= BIT_ULL(h->node);
		h->ring = NULL;
		return;
	}
	if (x->blind & BIT_ULL(h->node))
		x->next[h->node] = h->slot;
	x->blind &= ~BIT_ULL(h->node);
	if (h->slot != x->next[h->node]++ || !as_sent(node, group, h))
		sim_fail(sim, "node %u group %u: %u:%llu is not what the other reader is to get",
			 node->index, group, h->node, (unsigned long long)h->slot);
	check_destination(node, group, h, d);
}

/* Check the deliveries that the second reader got since the last look. */
void check_extra(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct extra *x = &g->extra;

	for (; x->reading && x->seen != x->tail && !node->sim->failed; x->seen++) {
		const struct spindle_dlv *d = &x->ring[x->seen & x->q.mask];
		struct held *h = &x->held[x->seen & x->q.mask];

		*h = (struct held){ 0 };
		check_next(node, group, d, &x->lsn);
		if (d->kind == SPINDLE_DLV_VIEW) {
			if (d->slot <= x->vid)
				sim_fail(node->sim, "node %u: view %llu again, at the other reader",
					 node->index, (unsigned long long)d->slot);
			x->vid = d->slot;
			continue;
		}
		if (x->vid != g->epoch || d->sender >= g->mc->senders) {
			sim_fail(node->sim, "node %u: no such view, or sender, at the other reader",
				 node->index);
			return;
		}
		*h = held_of(node, g, d, g->mc->sender[d->sender].pay, node->sim->ring);
		check_extra_message(node, group, h, d);
	}
}

static void check_kept_message(struct node *node, u32 group, struct held *h,
			       const struct spindle_dlv *d)
{
	struct sim *sim = node->sim;

	if (liar_is(sim, h->node) || liar_is(sim, node->index)) {
		h->ring = NULL;
		return;
	}
	if (!as_sent(node, group, h))
		sim_fail(sim, "node %u group %u: %u:%llu in the history is not what was sent",
			 node->index, group, h->node, (unsigned long long)h->slot);
	check_destination(node, group, h, d);
	if (node->group[group].mc->ordered)
		check_position(node, group, d->lsn, name_of(h));
}

/* Check what a history got since the last look, as far as it has not forgotten that. */
void check_kept(struct node *node, u32 group)
{
	struct group *g = &node->group[group];
	struct kept *k = &g->kept;

	for (; k->on && k->seen != k->h.shown && !node->sim->failed; k->seen++) {
		u32 i = k->seen & k->h.q.mask;
		const struct spindle_dlv *d = &k->ring[i];
		bool gone = k->seen < k->h.q.consumed;

		k->epoch[i] = k->vid;
		k->held[i] = (struct held){ 0 };
		if (gone) {
			k->vid = g->epoch;
			continue;
		}
		if (k->seen == k->h.q.consumed)
			k->lsn = d->lsn;
		check_next(node, group, d, &k->lsn);
		if (d->kind == SPINDLE_DLV_VIEW) {
			k->vid = d->slot;
			continue;
		}
		if (k->vid != g->epoch || d->sender >= g->mc->senders) {
			sim_fail(node->sim, "node %u: no such view, or sender, in the history",
				 node->index);
			return;
		}
		k->held[i] = held_of(node, g, d, k->copy, SIM_HISTORY);
		check_kept_message(node, group, &k->held[i], d);
	}
}

/* Check the deliveries that a reader got since the last look. */
void check_deliveries(struct node *node, u32 group)
{
	struct sim *sim = node->sim;
	struct group *g = &node->group[group];

	check_extra(node, group);
	check_kept(node, group);
	for (; g->seen != g->tail && !sim->failed; g->seen++) {
		const struct spindle_dlv *d = &g->ring[g->seen & g->q.mask];
		struct held *h = &g->held[g->seen & g->q.mask];

		check_next(node, group, d, &g->lsn);
		if (d->kind == SPINDLE_DLV_VIEW) {
			*h = (struct held){ 0 };
			check_view(node, g, d);
			continue;
		}
		if (g->vid != g->epoch)
			sim_fail(sim,
				 "node %u group %u: a message of a view that was not announced",
				 node->index, group);
		if (d->sender >= g->mc->senders) {
			sim_fail(sim, "node %u: no such sender", node->index);
			return;
		}
		*h = held_of(node, g, d, g->q.copy ?: g->mc->sender[d->sender].pay,
			     g->q.copy ? min_t(u32, SIM_COPY, sim->ring) : sim->ring);
		/* A liar sends anything, with any slot number. */
		if (liar_is(sim, h->node) || liar_is(sim, node->index)) {
			g->next[h->node] = d->slot + 1;
			h->ring = NULL;
			continue;
		}
		if (g->blind & BIT_ULL(h->node))
			g->next[h->node] = d->slot;
		g->blind &= ~BIT_ULL(h->node);
		if (d->slot != g->next[h->node]++)
			sim_fail(sim, "node %u group %u: %u:%llu out of turn", node->index, group,
				 h->node, (unsigned long long)d->slot);
		if (!as_sent(node, group, h))
			sim_fail(sim, "node %u group %u: %u:%llu is not what was sent", node->index,
				 group, h->node, (unsigned long long)d->slot);
		check_destination(node, group, h, d);
		check_order(node, group, h, d->lsn);
		sim->deliveries++;
	}
}

void check_held(struct node *node, u32 group, u64 entry)
{
	check_same(node, group, &node->group[group].held[entry & node->group[group].q.mask]);
}

/* A held message must still have the bytes with which it came. */
void check_same(struct node *node, u32 group, const struct held *h)
{
	if (h->ring && !h->other && !same(h))
		sim_fail(node->sim, "node %u group %u: %u:%llu is overwritten before it is read",
			 node->index, group, h->node, (unsigned long long)h->slot);
}

/* Do the positions of a subgroup begin again, because it has lost all its members? */
static bool begins_life(const struct spindle_view_subgroup *old,
			const struct spindle_view_subgroup *now)
{
	return old->former / SPINDLE_LIFE_MESSAGES != now->former / SPINDLE_LIFE_MESSAGES;
}

void check_install(struct node *node, const struct spindle_view *view)
{
	const struct spindle_view *old = &node->mb.view[!node->mb.now];
	struct sim *sim = node->sim;
	u64 digest = spindle_view_digest(view), *known = &sim->view_digest[view->vid % SIM_VIEWS];
	u32 g;

	sim_say(sim, "node %u installs view %llu of %u", node->index,
		(unsigned long long)view->vid, view->num_members);
	if (spindle_view_rank(view, node->index + 1) < 0)
		sim_fail(sim, "node %u installs a view without itself", node->index);
	if (sim->liar) {
		liar_check_install(node, view);
		sim->changes++;
		return;
	}
	for (g = 0; g < SIM_GROUPS && !*known; g++)
		sim->lives += begins_life(&old->subgroup[g], &view->subgroup[g]);
	if (*known && *known != digest)
		sim_fail(sim, "split brain: view %llu is two", (unsigned long long)view->vid);
	sim->changes += !*known;
	*known = digest;
	for (g = 0; g < SIM_GROUPS; g++) {
		struct order *o = &sim->order[g][node->group[g].epoch % SIM_VIEWS];

		if (!node->group[g].mc || (node->mg.stays & BIT_ULL(g)) ||
		    !node->group[g].mc->ordered || !node->group[g].reading ||
		    node->group[g].late)
			continue;
		if (node->group[g].dlv != o->n)
			sim_fail(sim, "node %u group %u leaves view %llu with %llu of %llu messages",
				 node->index, g, (unsigned long long)view->vid - 1,
				 (unsigned long long)node->group[g].dlv,
				 (unsigned long long)o->n);
		o->final = true;
	}
}

/* With too few members, committed messages wait. */
static u64 sent_in_the_end(const struct group *g)
{
	return g->lacks ? g->mc->own.word[SPINDLE_COL_SLOTS] : g->msgs;
}

/*
 * In the end there is one view of all nodes that are up. All of them have all messages of each
 * other.
 */
static void check_pair(struct sim *sim, struct node *a, struct node *b)
{
	u32 g;

	if (spindle_view_digest(spindle_mb_view(&a->mb)) !=
	    spindle_view_digest(spindle_mb_view(&b->mb)) || a->mb.state || a->mb.suspected)
		sim_fail(sim, "end: nodes %u and %u are in views %llu and %llu, states %u and %u",
			 a->index, b->index,
			 (unsigned long long)spindle_mb_view(&a->mb)->vid,
			 (unsigned long long)spindle_mb_view(&b->mb)->vid,
			 a->mb.state, b->mb.state);
	for (g = 0; g < SIM_GROUPS; g++)
		if (a->group[g].mc && b->group[g].mc && !log_waits(a, g) && !log_waits(b, g) &&
		    !(a->group[g].blind & BIT_ULL(b->index)) &&
		    a->group[g].next[b->index] != sent_in_the_end(&b->group[g]))
			sim_fail(sim, "end: node %u has %llu of %llu messages of node %u group %u",
				 a->index, (unsigned long long)a->group[g].next[b->index],
				 (unsigned long long)sent_in_the_end(&b->group[g]), b->index, g);
}

void check_end(struct sim *sim)
{
	u32 up = 0, i, j, g;

	if (sim->liar) {
		liar_check_end(sim);
		return;
	}
	for (i = 0; i < sim->nodes; i++) {
		struct node *node = &sim->node[i];

		up += node_up(node);
		if (node->mb.state == SPINDLE_MB_STOPPED && !node->crashed && !node->disturbed)
			sim_fail(sim, "end: node %u has stopped for no reason", i);
		if (sim->strict && up && node->started && !node->crashed &&
		    fabric_whole(sim, i) && node->mb.state == SPINDLE_MB_JOINING)
			sim_fail(sim, "end: node %u is not let in", i);
		for (j = 0; j < sim->nodes && node_up(node); j++)
			if (node_up(&sim->node[j]))
				check_pair(sim, node, &sim->node[j]);
		for (g = 0; g < SIM_GROUPS && node_up(node); g++)
			if (node->group[g].mc && !node->group[g].lacks && !log_waits(node, g) &&
			    (node->group[g].mc->send.txq.free_slot != node->group[g].slot ||
			     node->group[g].parted))
				sim_fail(sim, "end: node %u group %u: slots are not free", i, g);
		for (g = 0; g < SIM_GROUPS && node_up(node); g++)
			if (node->group[g].mc)
				log_check_end(node, g);
	}
	for (i = 0; i < sim->nodes; i++)
		if (up && node_up(&sim->node[i]) &&
		    spindle_mb_view(&sim->node[i].mb)->num_members != up)
			sim_fail(sim, "end: node %u is in a view with dead members", i);
}
