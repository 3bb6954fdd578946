// SPDX-License-Identifier: GPL-2.0-only
/*
 * Worlds for tests that go step by step. See directed.h.
 */
#include "directed.h"

void view_init(struct spindle_view *v, u32 members)
{
	u32 i;

	memset(v, 0, sizeof(*v));
	v->vid = 1;
	v->num_members = members;
	for (i = 0; i < members; i++) {
		v->member[i].id = i + 1;
		v->member[i].addr.port = i + 1;
		v->member[i].addr.family = 6;
	}
}

struct spindle_view_subgroup *add_subgroup(struct spindle_view *v, u64 members,
					   u64 senders)
{
	struct spindle_view_subgroup *sg = &v->subgroup[v->num_subgroups];

	sg->id = v->num_subgroups++;
	sg->window = 8;
	sg->max_msg = 1000;
	sg->ring = 4096;
	sg->members = members;
	sg->senders = senders;
	return sg;
}

void send_one(struct group *g, u32 len)
{
	u64 slot = g->sender->slot;

	if (CHECK(sender_reserve(g, len, 0)))
		sender_commit(g, slot, false);
}

/*
 * Mark all subgroups. The case called core directly, so the nodes do not know that there is
 * something to push.
 */
static void touch_all(struct world *w)
{
	u32 i, j;

	for (i = 0; i < w->view.num_members; i++)
		for (j = 0; j < w->view.num_subgroups; j++)
			spindle_mg_touch(&w->node[i].mg, j);
}

/* Run until no node and no link moves, without the checks at the end. */
void settle(struct world *w)
{
	bool busy = true;
	u32 i, j, rounds;
	struct reader *r;

	touch_all(w);
	for (rounds = 0; busy && rounds < 1000; rounds++) {
		busy = false;
		for (i = 0; i < w->view.num_members; i++) {
			busy |= node_pass(&w->node[i]);
			for (j = 0; j < w->view.num_members; j++)
				while (fabric_step(w, i, j))
					busy = true;
			for (r = w->node[i].group[0]->readers; r; r = r->next)
				busy |= reader_step(w->node[i].group[0], r, true);
		}
	}
	CHECK(!busy);
}

struct world *plain_world(u32 nodes, u64 senders)
{
	struct world_conf conf = { .queue = WORLD_LINK_MAX };
	struct spindle_view v;
	struct world *w;
	u32 i;

	view_init(&v, nodes);
	add_subgroup(&v, BIT_ULL(nodes) - 1, senders);
	w = world_open(&v, &conf, 1);
	for (i = 0; i < nodes; i++)
		reader_open(w->node[i].group[0], w->node[i].group[0]->mc.deliver.log_mask + 1, 0);
	world_activate(w);
	return w;
}

/* The same world with silence 0: each null is one round, so a test can count nulls. */
struct world *chatty_world(u32 nodes, u64 senders)
{
	struct world *w = plain_world(nodes, senders);
	u32 i;

	for (i = 0; i < nodes; i++)
		w->node[i].group[0]->mc.tune.silence = 0;
	return w;
}

void finish(struct world *w)
{
	touch_all(w);
	world_drain(w);
	if (w->failed)
		tap_fail("%s", w->why);
	world_close(w);
}
