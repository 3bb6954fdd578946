// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulated fabric. See sim.h.
 *
 * Writes of a link become visible in order, each of them in one step or in two. Links are
 * independent of each other. Where completions vouch, a write may become visible before others that
 * do not touch the same bytes. Completions come in order, each behind all writes before it. A link
 * that is cut stays cut. The writes under way are lost, or a part of them, and both ends learn of
 * the cut some time later.
 */
#include "sim.h"

u32 fabric_room(const struct sim *sim, u32 from, u32 to)
{
	return SIM_QUEUE - min_t(u32, SIM_QUEUE, sim->link[from][to].n);
}

static u64 delay(struct sim *sim, const struct link *link)
{
	/* Now and then a write takes much longer. */
	if (rng_chance(&sim->rng, 2))
		return rng_below(&sim->rng, 300);
	return 1 + rng_below(&sim->rng, link->slow);
}

void fabric_post(struct sim *sim, u32 from, u32 to, u64 base, const struct spindle_write *write)
{
	struct node *src = &sim->node[from];
	struct link *link = &sim->link[from][to];
	struct op *op;

	link->posted++;
	if (write->place)
		*write->place = link->posted;
	/* A connection belongs to one life of a node. Other writes are lost, and never complete. */
	if (src->crashed || link->cut || src->life[to] != sim->node[to].inc)
		return;
	if (link->up_at > sim->now) {
		sim_fail(sim, "node %u writes to node %u, and is not connected", from, to);
		return;
	}
	if (base + write->remote + write->len > SIM_ROW(sim)) {
		sim_fail(sim, "node %u writes outside of its row", from);
		return;
	}
	sim->writes++;
	op = malloc(sizeof(*op) + write->len);
	op->next = NULL;
	op->remote = base + write->remote;
	op->len = write->len;
	op->imm = sim->imm && write->guard ? write->imm : NO_IMM;
	op->torn = false;
	op->early = false;
	memcpy(op->data, write->data ?: src->row[from] + write->local, write->len);
	/* A link has room for many writes, and no write overtakes another. */
	op->at = max(link->last, sim->now + delay(sim, link));
	link->last = op->at;
	if (!link->n++) {
		link->at = op->at;
		sim->posted[from] |= BIT(to);
	}
	*link->tail = op;
	link->tail = &op->next;
	if (src->crash_in == SPINDLE_MB_STATES ? spindle_mb_view(&src->mb)->vid > sim->first.vid :
						 src->mb.state >= src->crash_in)
		src->crash_in = SPINDLE_MB_ACTIVE;
	if (src->crash_after && src->crash_in == SPINDLE_MB_ACTIVE && !--src->crash_after)
		fabric_crash(sim, from);
}

/* Make some bytes of a write visible. The others keep their old values. */
static void tear(struct sim *sim, u8 *to, const struct op *op)
{
	u32 at = rng_below(&sim->rng, op->len), i;

	switch (rng_below(&sim->rng, 3)) {
	case 0:
		memcpy(to, op->data, at);
		break;
	case 1:
		memcpy(to + at, op->data + at, op->len - at);
		break;
	default:
		for (i = 0; i < op->len; i++)
			if (rng_chance(&sim->rng, 50))
				to[i] = op->data[i];
		break;
	}
}

static void pop(struct sim *sim, u32 from, u32 to)
{
	struct link *link = &sim->link[from][to];
	struct op *op = link->head;

	link->head = op->next;
	if (!--link->n) {
		link->tail = &link->head;
		sim->posted[from] &= ~BIT(to);
	}
	free(op);
}

static void complete(struct sim *sim, u32 from, u32 to, const struct op *op)
{
	u32 life = sim->node[from].inc;
	struct node *node = &sim->node[to];
	u32 index = op->imm >> SPINDLE_IMM_SHIFT, count = op->imm & SPINDLE_IMM_SLOTS;

	if (op->imm == NO_IMM)
		return;
	if (index < SIM_GROUPS)
		node->vouch[from][life][index] = count;
	else if (index == SPINDLE_IMM_STATE)
		node->vouch_state[from][life] = count;
}

static bool touches(const struct op *a, const struct op *b)
{
	return a->remote < b->remote + b->len && b->remote < a->remote + a->len;
}

/* One of the writes behind the first one becomes visible before it. */
static void overtake(struct sim *sim, u32 from, u32 to)
{
	struct op *head = sim->link[from][to].head, *op = head, *o;
	u32 skip = rng_below(&sim->rng, sim->link[from][to].n);

	while (skip--)
		op = op->next;
	for (o = head; o != op; o = o->next)
		if (touches(o, op))
			return;
	memcpy(sim->node[to].row[from] + op->remote, op->data, op->len);
	op->early = true;
}

/* Make progress on a link whose time has come. */
void fabric_move(struct sim *sim, u32 from, u32 to)
{
	struct link *link = &sim->link[from][to];
	struct op *op = link->head;
	u8 *row = sim->node[to].row[from] + op->remote;

	if (sim->imm && link->n > 1 && rng_chance(&sim->rng, 40)) {
		overtake(sim, from, to);
		link->at = sim->now + 1 + rng_below(&sim->rng, 60);
		return;
	}
	if (!op->early && !op->torn && rng_chance(&sim->rng, 20)) {
		op->torn = true;
		tear(sim, row, op);
		link->at = sim->now + 1 + rng_below(&sim->rng, 60);
		return;
	}
	if (!op->early)
		memcpy(row, op->data, op->len);
	complete(sim, from, to, op);
	pop(sim, from, to);
	link->done++;
	if (link->n)
		link->at = max(sim->now, link->head->at);
}

/* Drop the writes under way. Without @all some of the first ones arrive, and a part of the next. */
void fabric_drop(struct sim *sim, u32 from, u32 to, bool all)
{
	struct link *link = &sim->link[from][to];
	u32 keep = all || !link->n ? 0 : rng_below(&sim->rng, link->n + 1);
	struct op *op;

	for (; keep; keep--) {
		op = link->head;
		memcpy(sim->node[to].row[from] + op->remote, op->data, op->len);
		complete(sim, from, to, op);
		pop(sim, from, to);
	}
	if (!all && link->n && rng_chance(&sim->rng, 30))
		tear(sim, sim->node[to].row[from] + link->head->remote, link->head);
	while (link->n)
		pop(sim, from, to);
}

/* Node @a ends the connection. All writes to it are lost, and a part of its own writes arrives. */
void fabric_cut(struct sim *sim, u32 a, u32 b)
{
	struct link *in = &sim->link[b][a], *out = &sim->link[a][b];

	if (in->cut)
		return;
	fabric_drop(sim, b, a, true);
	fabric_drop(sim, a, b, sim->node[b].crashed || out->blocked);
	in->cut = true;
	out->cut = true;
	in->lost_at = sim->now + 1 + rng_below(&sim->rng, SIM_TIMEOUT / 2);
	in->closed = !out->blocked && !in->blocked;
}

/*
 * The connection between two nodes breaks, and no node has ended it. Both ends learn of it later.
 */
void fabric_break(struct sim *sim, u32 a, u32 b)
{
	struct link *one = &sim->link[a][b], *other = &sim->link[b][a];

	if (one->cut || sim->node[a].crashed || sim->node[b].crashed)
		return;
	fabric_drop(sim, a, b, one->blocked);
	fabric_drop(sim, b, a, other->blocked);
	one->cut = true;
	other->cut = true;
	one->lost_at = sim->now + 1 + rng_below(&sim->draw, SIM_TIMEOUT);
	other->lost_at = sim->now + 1 + rng_below(&sim->draw, SIM_TIMEOUT);
}

void fabric_crash(struct sim *sim, u32 n)
{
	u32 i;

	sim_say(sim, "node %u crashes", n);
	sim->node[n].crashed = true;
	for (i = 0; i < sim->nodes; i++) {
		if (i == n || sim->link[n][i].cut)
			continue;
		fabric_drop(sim, n, i, sim->link[n][i].blocked);
		fabric_drop(sim, i, n, true);
		sim->link[n][i].cut = true;
		sim->link[i][n].cut = true;
		/* Retries end, unless the other node suspects the silent one first. */
		sim->link[i][n].lost_at = sim->now + 1 + rng_below(&sim->rng, 2 * SIM_TIMEOUT);
	}
}

/* A node begins a new life. The writes under way and the rows belong to the old life. */
static void renew(struct sim *sim, u32 from, u32 to)
{
	struct link *link = &sim->link[from][to];
	struct node *holder = &sim->node[to];

	while (link->n)
		pop(sim, from, to);
	link->cut = false;
	link->closed = false;
	link->up_at = 0;
	link->lost_at = 0;
	link->last = sim->now;
	link->posted = 0;
	link->done = 0;
	/* A member that is still in an old view reads the row of the old life. */
	sim->old_row[sim->old_rows++] = holder->row[from];
	holder->row[from] = calloc(1, SIM_ROW(sim));
	table_member(holder, from);
}

void fabric_open(struct sim *sim, u32 n)
{
	u32 i;

	for (i = 0; i < sim->nodes; i++) {
		renew(sim, i, n);
		if (i != n)
			renew(sim, n, i);
	}
	memset(sim->node[n].vouch, 0, sizeof(sim->node[n].vouch));
	memset(sim->node[n].vouch_state, 0, sizeof(sim->node[n].vouch_state));
}

/* Does the node hear all others, and they it? */
bool fabric_whole(const struct sim *sim, u32 n)
{
	u32 i;

	for (i = 0; i < sim->nodes; i++)
		if (sim->link[i][n].blocked || sim->link[n][i].blocked)
			return false;
	return true;
}

/* Does it have to wait until a chain of writes has been acknowledged? */
bool fabric_busy(const struct sim *sim, u32 from, u32 to)
{
	return sim->imm && sim->link[from][to].n;
}

/* A partition begins or ends. Writes wait; not for ever. */
void fabric_block(struct sim *sim, u32 from, u32 to, bool blocked)
{
	struct link *link = &sim->link[from][to];

	link->blocked = blocked;
	link->retry_at = sim->now + SIM_TIMEOUT / 2 + rng_below(&sim->rng, 2 * SIM_TIMEOUT);
	link->at = max(link->at, sim->now);
}

void fabric_close(struct sim *sim)
{
	u32 i, j;

	for (i = 0; i < sim->nodes; i++)
		for (j = 0; j < sim->nodes; j++)
			while (sim->link[i][j].n)
				pop(sim, i, j);
	while (sim->old_rows)
		free(sim->old_row[--sim->old_rows]);
}
