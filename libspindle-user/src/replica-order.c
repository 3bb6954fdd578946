// SPDX-License-Identifier: MIT
/*
 * Messages of a replicated subgroup, in their order: which nodes have the state, and which of them
 * is the donor of a node that asks. All replicas see the same messages, so those that have the state
 * agree on both. No replica depends on that: a donor that does not answer is passed over.
 */
#include <errno.h>
#include <string.h>

#include "replica.h"

static bool nodes_have(const struct nodes *set, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < set->n; i++)
		if (set->id[i] == id)
			return true;
	return false;
}

void nodes_add(struct nodes *set, uint32_t id)
{
	if (set->n < SPINDLE_MAX_MEMBERS && !nodes_have(set, id))
		set->id[set->n++] = id;
}

void nodes_drop(struct nodes *set, uint32_t id)
{
	uint32_t i, n = 0;

	for (i = 0; i < set->n; i++)
		if (set->id[i] != id)
			set->id[n++] = set->id[i];
	set->n = n;
}

/* Keep those that are members of the view that the reader is in. */
static void keep_members(const struct spindle_replica *r, struct nodes *set)
{
	struct nodes kept = { 0 };
	struct spindle_view v;
	uint32_t i;

	if (spindle_view(&r->q, &v))
		return;
	for (i = 0; i < v.members; i++)
		if (nodes_have(set, v.seat[i].node))
			nodes_add(&kept, v.seat[i].node);
	*set = kept;
}

/*
 * Does this replica answer? The number of the attempt goes round among those that have the state,
 * by their ranks.
 */
static bool is_chosen(struct spindle_replica *r, uint32_t asker, uint64_t attempt)
{
	struct nodes can;

	keep_members(r, &r->current);
	can = r->current;
	nodes_drop(&can, asker);
	return can.n && can.id[attempt % can.n] == r->opts.node;
}

static void handle_ask(struct spindle_replica *r, const struct spindle_msg *m)
{
	const struct replica_ask *ask = m->data;

	if (m->len != sizeof(*ask)) {
		r->st.foreign++;
		return;
	}
	nodes_drop(&r->current, m->node);
	if (m->node == r->opts.node)
		r->heard |= ask->life == r->life;
	else if (r->st.state != SPINDLE_REPLICA_ASKING &&
		 is_chosen(r, m->node, ask->attempt))
		nodes_add(&r->donor.waiting, m->node);
}

static void handle_have(struct spindle_replica *r, const struct spindle_msg *m)
{
	const struct replica_have *have = m->data;

	if (m->len != sizeof(*have)) {
		r->st.foreign++;
		return;
	}
	nodes_add(&r->current, m->node);
	nodes_drop(&r->donor.waiting, m->node);
	/* This process has declared it, and not the process before it on this node. */
	if (r->st.state == SPINDLE_REPLICA_ASKING && m->node == r->opts.node &&
	    have->life == r->life) {
		r->ask_at = 0;
		replica_set_state(r, SPINDLE_REPLICA_CURRENT);
	}
}

/* The same number at the donor and at those that it names: they have the offer in common. */
static uint64_t group_of(const struct spindle_replica *r, uint64_t lsn)
{
	uint64_t h = r->q.lineage[0] ^ r->q.lineage[1] ^ r->q.era;

	h ^= (uint64_t)r->opts.subgroup << 32;
	h = (h ^ lsn) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
	h = (h ^ h >> 29) & (UINT64_MAX >> 1);
	return h ? h : 1;
}

/* The nodes of an offer. Return: false if it is malformed. */
static bool read_offer(const struct spindle_msg *m, struct nodes *to)
{
	const struct replica_offer *offer = m->data;
	const uint32_t *id = (const uint32_t *)(offer + 1);
	uint32_t i;

	memset(to, 0, sizeof(*to));
	if (m->len < sizeof(*offer) || !offer->count || offer->count >= SPINDLE_MAX_MEMBERS ||
	    m->len != sizeof(*offer) + offer->count * sizeof(*id))
		return false;
	for (i = 0; i < offer->count; i++)
		nodes_add(to, id[i]);
	/* No node twice, and not the donor. */
	return to->n == offer->count && !nodes_have(to, m->node);
}

/* A snapshot has all messages up to the offer, so a replica that is named drops those. */
static void handle_offer(struct spindle_replica *r, const struct spindle_msg *m)
{
	struct nodes to;

	if (!read_offer(m, &to))
		r->st.foreign++;
	else if (m->node == r->opts.node && r->donor.offered)
		donor_begin(r, &to, group_of(r, m->lsn), m->lsn + 1);
	else if (r->st.state == SPINDLE_REPLICA_ASKING && r->heard &&
		 nodes_have(&to, r->opts.node))
		joiner_begin(r, m->node, &to, group_of(r, m->lsn), m->lsn + 1);
}

static int handle_data(struct spindle_replica *r, const struct spindle_msg *m)
{
	return r->st.state == SPINDLE_REPLICA_ASKING ? 0 : r->ops.apply(r->ctx, m);
}

/*
 * Handle the next message at the position that this replica has reached. Return: 0, or a negative
 * errno of apply().
 */
int replica_handle(struct spindle_replica *r, const struct spindle_msg *m)
{
	const struct replica_head *head = m->data;
	struct spindle_msg body = *m;
	int err = 0;

	/* The position counts when the message is applied, and not before. */
	if (m->len < sizeof(*head) || head->magic != REPLICA_MAGIC ||
	    head->version != REPLICA_VERSION) {
		r->st.foreign++;
		r->st.lsn = m->lsn + 1;
		return 0;
	}
	body.data = head + 1;
	body.len -= (uint32_t)sizeof(*head);
	switch (head->kind) {
	case REPLICA_DATA:
		err = handle_data(r, &body);
		break;
	case REPLICA_HAVE:
		handle_have(r, &body);
		break;
	case REPLICA_ASK:
		handle_ask(r, &body);
		break;
	case REPLICA_OFFER:
		handle_offer(r, &body);
		break;
	default:
		r->st.foreign++;
	}
	r->st.lsn = m->lsn + 1;
	return err;
}

/* Send a message of the library. Return: as spindle_send(). */
static int send_kind(struct spindle_replica *r, uint16_t kind, const void *body, uint32_t len)
{
	struct replica_head head = {
		.magic = REPLICA_MAGIC, .version = REPLICA_VERSION, .kind = kind,
	};
	struct spindle_slot s;
	int err = spindle_reserve(&r->q, (uint32_t)sizeof(head) + len, &s);

	if (err)
		return err;
	memcpy(s.data, &head, sizeof(head));
	memcpy((unsigned char *)s.data + sizeof(head), body, len);
	return spindle_commit(&r->q, &s, (uint32_t)sizeof(head) + len);
}

/* Name as many of those that wait as a message has room for. */
static int say_offer(struct spindle_replica *r)
{
	struct donor *d = &r->donor;
	uint32_t room = (r->q.max_msg - (uint32_t)sizeof(struct replica_head) -
			 (uint32_t)sizeof(struct replica_offer)) / sizeof(uint32_t);
	struct {
		struct replica_offer head;
		uint32_t id[SPINDLE_MAX_MEMBERS];
	} offer = { 0 };
	int err;

	keep_members(r, &d->waiting);
	d->to = d->waiting;
	if (d->to.n > room)
		d->to.n = room;
	if (!d->to.n)
		return 0;
	offer.head.count = d->to.n;
	memcpy(offer.id, d->to.id, d->to.n * sizeof(*offer.id));
	err = send_kind(r, REPLICA_OFFER, &offer,
			(uint32_t)(sizeof(offer.head) + d->to.n * sizeof(*offer.id)));
	d->offered = !err;
	return err;
}

static int say_have(struct spindle_replica *r)
{
	struct replica_have have = { .life = r->life };

	return send_kind(r, REPLICA_HAVE, &have, sizeof(have));
}

static int say_ask(struct spindle_replica *r)
{
	struct replica_ask ask = { .life = r->life, .attempt = r->joiner.attempt };
	int err = send_kind(r, REPLICA_ASK, &ask, sizeof(ask));

	if (!err)
		r->st.asked++;
	return err;
}

/* Say one thing, if it is to be said. It stays to be said while there is no room to send. */
static int say_one(struct spindle_replica *r, uint32_t what)
{
	int err;

	if (!(r->say & what))
		return 0;
	if (what == SAY_HAVE)
		err = say_have(r);
	else
		err = what == SAY_ASK ? say_ask(r) : say_offer(r);
	if (!err)
		r->say &= ~what;
	return err == -EAGAIN ? 0 : err;
}

/* Say what is to be said, as far as there is room. Return: 0, or an errno of the attachment. */
int replica_say(struct spindle_replica *r)
{
	struct donor *d = &r->donor;
	int err;

	if (d->waiting.n && !d->group && !d->offered)
		r->say |= SAY_OFFER;
	err = say_one(r, SAY_HAVE);
	if (!err)
		err = say_one(r, SAY_ASK);
	return err ? err : say_one(r, SAY_OFFER);
}
