// SPDX-License-Identifier: MIT
/*
 * Messages of a replicated subgroup, in their order: which nodes have the state, and which of
 * them is the donor of a node that asks. All replicas see the same messages, so those that have the
 * state agree on both. No replica depends on that: a donor that does not answer is passed over.
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

/* Note which older messages a node that waits wants, if any. */
static void note_wish(struct spindle_replica *r, uint32_t node, uint64_t oldest)
{
	struct donor *d = &r->donor;

	nodes_drop(&d->filling, node);
	if (!oldest || !(r->q.features & SPINDLE_FEAT_HISTORY))
		return;
	/* A receiver drops what it has, so the history begins where the first receiver needs it. */
	if (!d->filling.n || oldest > d->oldest)
		d->oldest = oldest;
	nodes_add(&d->filling, node);
}

static void handle_ask(struct spindle_replica *r, uint32_t node, const struct replica_ask *ask)
{
	nodes_drop(&r->current, node);
	if (node == r->opts.node) {
		r->heard |= ask->life == r->life;
		return;
	}
	/* Until then it may be an ASK of the past, of a reader that goes on from its own place. */
	if (!r->known || !is_chosen(r, node, ask->attempt))
		return;
	nodes_add(&r->donor.waiting, node);
	note_wish(r, node, ask->oldest);
}

/* The state of this process is not that of the group. */
static void lose_state(struct spindle_replica *r)
{
	r->valid = false;
	r->say &= ~SAY_HAVE;
	r->ask_at = replica_now();
	spill_clear(&r->spill);
	replica_set_state(r, SPINDLE_REPLICA_ASKING);
}

/* Is the state that of an old place or of a log, and nobody else knows of it? */
static bool is_own_state(const struct spindle_replica *r)
{
	if (r->known)
		return false;
	return r->st.state == SPINDLE_REPLICA_CURRENT ||
	       (r->st.state == SPINDLE_REPLICA_FOLLOWING && !r->st.donor);
}

static void handle_own_have(struct spindle_replica *r, const struct replica_have *have)
{
	if (have->life != r->life)
		return;
	/* A HAVE from before the declaration is about a state that this process has lost. */
	if (r->declared && have->declared) {
		r->declared = false;
		r->valid = true;
		replica_set_state(r, SPINDLE_REPLICA_CURRENT);
	}
	r->known = r->st.state != SPINDLE_REPLICA_ASKING;
}

static void handle_have(struct spindle_replica *r, uint32_t node, const struct replica_have *have)
{
	nodes_add(&r->current, node);
	nodes_drop(&r->donor.waiting, node);
	nodes_drop(&r->donor.filling, node);
	if (node == r->opts.node) {
		handle_own_have(r, have);
		return;
	}
	/* Somebody has the state after all. */
	if (r->declared) {
		r->declared = false;
		r->say &= ~SAY_HAVE;
		r->ask_at = replica_now();
	}
	/* An administrator has begun again while this state was not known to anybody. */
	if (have->declared && is_own_state(r))
		lose_state(r);
}

/* The same number at the donor and at those that it names: they have the offer in common. */
static uint64_t group_of(const struct spindle_replica *r, uint64_t lsn)
{
	uint64_t h = r->q.lineage[0] ^ r->q.lineage[1] ^ r->q.era;

	h ^= (uint64_t)r->q.subgroup << 32;
	h = (h ^ lsn) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
	h = (h ^ h >> 29) & (UINT64_MAX >> 1);
	return h ? h : 1;
}

/* The nodes of an offer. Return: false if it is malformed. */
static bool read_offer(const struct replica_offer *offer, uint32_t len, uint32_t donor,
		       struct nodes *to)
{
	const uint32_t *id = (const uint32_t *)(offer + 1);
	uint32_t i;

	memset(to, 0, sizeof(*to));
	if (len < sizeof(*offer) || !offer->count || offer->count >= SPINDLE_MAX_MEMBERS ||
	    offer->history > 1 || len != sizeof(*offer) + offer->count * sizeof(*id))
		return false;
	for (i = 0; i < offer->count; i++)
		nodes_add(to, id[i]);
	/* No node twice, and not the donor. */
	return to->n == offer->count && !nodes_have(to, donor);
}

/* A snapshot has all messages up to the offer, so a replica that is named drops those. */
static bool handle_offer(struct spindle_replica *r, const struct spindle_msg *m,
			 const struct replica_offer *offer, uint32_t len)
{
	struct nodes to;

	if (!read_offer(offer, len, m->node, &to))
		return false;
	if (m->node == r->opts.node) {
		if (offer->life == r->life)
			donor_begin(r, &to, group_of(r, m->lsn), m->lsn + 1, offer->history);
	} else if (r->st.state == SPINDLE_REPLICA_ASKING && r->heard &&
		   nodes_have(&to, r->opts.node)) {
		joiner_begin(r, m->node, &to, group_of(r, m->lsn), m->lsn + 1, offer->history);
	}
	return true;
}

/*
 * Handle a message of the library. The sender may write the bytes of a message at any time, so
 * @body is a copy. Return: false if it is none.
 */
static bool handle_body(struct spindle_replica *r, const struct spindle_msg *m, uint16_t kind,
			const void *body, uint32_t len)
{
	switch (kind) {
	case REPLICA_HAVE:
		if (len != sizeof(struct replica_have))
			return false;
		handle_have(r, m->node, body);
		return true;
	case REPLICA_ASK:
		if (len != sizeof(struct replica_ask))
			return false;
		handle_ask(r, m->node, body);
		return true;
	case REPLICA_OFFER:
		return handle_offer(r, m, body, len);
	default:
		return false;
	}
}

/* Apply a message, without its head. Return: 0, or a negative errno of apply(). */
int replica_apply(struct spindle_replica *r, const struct spindle_msg *m)
{
	struct spindle_msg data = *m;
	int err;

	data.data = (const unsigned char *)m->data + SPINDLE_REPLICA_HEAD;
	data.len -= SPINDLE_REPLICA_HEAD;
	err = r->ops.apply(r->ctx, &data);
	return err > 0 ? -EINVAL : err;
}

static int handle_data(struct spindle_replica *r, const struct spindle_msg *m)
{
	int err;

	if (r->st.state == SPINDLE_REPLICA_ASKING)
		return 0;
	err = replica_apply(r, m);
	/* Nobody knows what it has done by then. */
	if (err)
		r->valid = false;
	return err;
}

/* Is this a message of a replica? Then @head has its head, and otherwise zeros. */
bool replica_is_ours(const void *data, uint32_t len, struct replica_head *head)
{
	memset(head, 0, sizeof(*head));
	if (len >= sizeof(*head))
		memcpy(head, data, sizeof(*head));
	return head->magic == REPLICA_MAGIC && head->version == REPLICA_VERSION;
}

/*
 * Handle the next message at the position that this replica has reached. Return: 0, or a negative
 * errno of apply().
 */
int replica_handle(struct spindle_replica *r, const struct spindle_msg *m)
{
	uint64_t body[BODY_MAX / sizeof(uint64_t)];
	uint32_t len = m->len - SPINDLE_REPLICA_HEAD;
	struct replica_head head;
	int err = 0;

	if (!replica_is_ours(m->data, m->len, &head)) {
		r->st.foreign++;
	} else if (head.kind == REPLICA_DATA) {
		err = handle_data(r, m);
	} else if (len <= sizeof(body)) {
		memcpy(body, (const unsigned char *)m->data + sizeof(head), len);
		r->st.foreign += !handle_body(r, m, head.kind, body, len);
	} else {
		r->st.foreign++;
	}
	if (!err)
		r->st.lsn = m->lsn + 1;
	return err;
}

/* Send a message, with its head. Any thread. Return: as spindle_send(). */
int replica_send(struct spindle_replica *r, enum replica_kind kind, const void *body, uint32_t len)
{
	struct replica_head head = {
		.magic = REPLICA_MAGIC, .version = REPLICA_VERSION, .kind = (uint16_t)kind,
	};
	struct spindle_slot s;
	int err = spindle_reserve(&r->q, (uint32_t)sizeof(head) + len, &s);

	if (err)
		return err;
	memcpy(s.data, &head, sizeof(head));
	if (len)
		memcpy((unsigned char *)s.data + sizeof(head), body, len);
	return spindle_commit(&r->q, &s, (uint32_t)sizeof(head) + len);
}

/* Keep those that want older messages, or those that do not, as the first node does. */
static void keep_alike(struct donor *d)
{
	uint32_t i, n = 0;

	d->history = nodes_have(&d->filling, d->to.id[0]);
	for (i = 0; i < d->to.n; i++)
		if (nodes_have(&d->filling, d->to.id[i]) == d->history)
			d->to.id[n++] = d->to.id[i];
	d->to.n = n;
}

/* Of those that wait: all alike that a message has room for, or one after the other. */
static void choose(struct donor *d, uint32_t room)
{
	uint32_t i = 0;

	d->to = d->waiting;
	if (d->to.n > room)
		d->to.n = room;
	if (!d->to.n)
		return;
	if (!d->alone) {
		keep_alike(d);
		return;
	}
	while (i < d->to.n && d->to.id[i] <= d->last)
		i++;
	d->to.id[0] = d->to.id[i < d->to.n ? i : 0];
	d->to.n = 1;
	d->last = d->to.id[0];
	d->history = nodes_have(&d->filling, d->last);
}

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
	keep_members(r, &d->filling);
	choose(d, room);
	if (!d->to.n)
		return 0;
	offer.head.life = r->life;
	offer.head.count = d->to.n;
	offer.head.history = d->history;
	memcpy(offer.id, d->to.id, d->to.n * sizeof(*offer.id));
	err = replica_send(r, REPLICA_OFFER, &offer,
			   (uint32_t)(sizeof(offer.head) + d->to.n * sizeof(*offer.id)));
	d->offered = !err;
	return err;
}

static int say_have(struct spindle_replica *r)
{
	struct replica_have have = { .life = r->life, .declared = r->declared };

	return replica_send(r, REPLICA_HAVE, &have, sizeof(have));
}

static int say_ask(struct spindle_replica *r)
{
	struct replica_ask ask = {
		.life = r->life, .attempt = r->joiner.attempt, .oldest = r->joiner.oldest,
	};
	int err = replica_send(r, REPLICA_ASK, &ask, sizeof(ask));

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
	/* If the attachment has ended, reading says so when all has been read. */
	return err == -EAGAIN || err == -EPIPE ? 0 : err;
}

/* Say what is to be said, as far as there is room. Return: 0, or an errno of the attachment. */
int replica_say(struct spindle_replica *r)
{
	struct donor *d = &r->donor;
	int err;

	if (d->waiting.n && !d->group && !d->offered && replica_now() >= d->not_before)
		r->say |= SAY_OFFER;
	err = say_one(r, SAY_HAVE);
	if (!err)
		err = say_one(r, SAY_ASK);
	return err ? err : say_one(r, SAY_OFFER);
}
