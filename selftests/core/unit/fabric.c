// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fabric of a world: a link for each ordered pair of nodes. See world.h.
 *
 * A link that keeps the order makes one write visible after the other, byte by byte if the world
 * tears. On a link that reorders, several writes are under way at once. Completions, which vouch
 * for messages, always come in order. Each comes after all writes that were posted before it.
 */
#include "world.h"

u32 fabric_room(const struct world *w, u32 from, u32 to)
{
	return w->conf.queue - min(w->conf.queue, w->link[from][to].n);
}

void fabric_post(struct world *w, u32 from, u32 to, const struct spindle_write *write)
{
	const struct node *src = &w->node[from], *dst = &w->node[to];
	struct link *link = &w->link[from][to];
	struct op *op;

	w->posted++;
	if (from == to || !write->len || (!write->data && write->len > src->lo[from].size) ||
	    (!write->data && write->local > src->lo[from].size - write->len) ||
	    write->len > dst->lo[from].size ||
	    write->remote > dst->lo[from].size - write->len) {
		world_fail(w, "write outside the row: local %llu remote %llu len %u",
			   (unsigned long long)write->local,
			   (unsigned long long)write->remote, write->len);
		return;
	}
	op = malloc(sizeof(*op) + write->len);
	op->next = NULL;
	op->remote = write->remote;
	op->len = op->left = write->len;
	op->guard = write->guard;
	op->imm = write->imm;
	op->order = rng_below(&w->rng, 3);
	op->todo = write->len >= 64 ? U64_MAX : BIT_ULL(write->len) - 1;
	op->src = op->data;
	if (write->data)
		memcpy(op->data, write->data, write->len);
	else if (!w->conf.late)
		memcpy(op->data, src->row[from] + write->local, write->len);
	else
		op->src = src->row[from] + write->local;
	*link->tail = op;
	link->tail = &op->next;
	link->n++;
}

/* Make some bytes of a write visible. */
static void move(struct world *w, u8 *row, struct op *op)
{
	u32 part = op->left, at;

	if (w->conf.tear)
		part = 1 + rng_below(&w->rng, min(part, op->len / 3 + 1));
	if (op->len > 64 || op->order < 2) {
		at = op->order & 1 ? op->left - part : op->len - op->left;
		memcpy(row + op->remote + at, op->src + at, part);
		op->left -= part;
		return;
	}
	for (; part; part--, op->left--) {
		do {
			at = rng_below(&w->rng, op->len);
		} while (!(op->todo & BIT_ULL(at)));
		op->todo &= ~BIT_ULL(at);
		row[op->remote + at] = op->src[at];
	}
}

static void complete(struct world *w, u32 from, u32 to, const struct op *op)
{
	u32 *vouch = &w->node[to].vouch[from][op->imm >> SPINDLE_IMM_SHIFT];

	__atomic_store_n(vouch, op->imm & SPINDLE_IMM_SLOTS, __ATOMIC_RELEASE);
	w->node[to].asleep = false; /* the doorbell */
	w->node[to].rung = true;
}

/* Is an earlier write to the same place still under way? */
static bool must_wait(const struct link *link, const struct op *op)
{
	const struct op *o;

	for (o = link->head; o != op; o = o->next)
		if (o->left && o->remote < op->remote + op->len &&
		    op->remote < o->remote + o->len)
			return true;
	return false;
}

/* Make progress on a link. Returns false if the link is empty. */
bool fabric_step(struct world *w, u32 from, u32 to)
{
	struct link *link = &w->link[from][to];
	struct op *op = link->head;
	u32 skip;

	if (!op)
		return false;
	if (w->conf.reorder) {
		skip = rng_below(&w->rng, min(link->n, w->conf.reorder));
		while (skip--)
			op = op->next;
		if (!op->left || (!w->conf.overwrite && must_wait(link, op)))
			op = link->head;
	}
	if (op->left)
		move(w, w->node[to].row[from], op);
	if (rng_chance(&w->rng, 20))
		return true; /* the completion comes later */
	while (link->head && !link->head->left) {
		op = link->head;
		link->head = op->next;
		link->n--;
		if (op->guard)
			complete(w, from, to, op);
		free(op);
	}
	if (!link->head)
		link->tail = &link->head;
	return true;
}

void fabric_close(struct world *w)
{
	struct op *op, *next;
	u32 i, j;

	for (i = 0; i < w->view.num_members; i++) {
		for (j = 0; j < w->view.num_members; j++) {
			for (op = w->link[i][j].head; op; op = next) {
				next = op->next;
				free(op);
			}
			w->link[i][j].head = NULL;
			w->link[i][j].n = 0;
		}
	}
}
