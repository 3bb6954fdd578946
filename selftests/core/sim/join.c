// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a node gets into a view. The node asks a contact for the card, and knocks at all members that
 * the card names. When all of them have let it connect, the contact invites it. Hellos and cards
 * are the core's, byte by byte. A contact may lie in either. See sim.h.
 *
 * In strict schedules all members are connected at once, and no connection fails.
 */
#include "sim.h"

#define CLUSTER 0x5151
#define GIVES_UP (4 * SIM_TIMEOUT)

/* Rings are smaller here than in any legal view, so that they wrap. */
static void scale(struct spindle_rules *rules, struct spindle_view *view, bool up)
{
	u32 i;

	for (i = 0; i < SIM_GROUPS; i++) {
		u32 *ring = &rules->rule[i].cfg.ring, *of_view = &view->subgroup[i].ring;
		u32 *room = &rules->rule[i].room_ring;

		*ring = up ? *ring * SIM_SCALE : *ring / SIM_SCALE;
		*room = up ? *room * SIM_SCALE : *room / SIM_SCALE;
		*of_view = up ? *of_view * SIM_SCALE : *of_view / SIM_SCALE;
	}
}

/* Copies of a view and its rules, as a node describes them to others. */
static struct spindle_view *told(const struct spindle_rules *of, const struct spindle_view *view,
				 struct spindle_rules **rules)
{
	static struct spindle_rules r;
	static struct spindle_view v;

	r = *of;
	v = *view;
	scale(&r, &v, true);
	*rules = &r;
	return &v;
}

/**
 * join_door() - a node is in a view, and sets what other nodes may learn of the view
 * @node: the node
 * @view: the view
 */
void join_door(struct node *node, const struct spindle_view *view)
{
	struct spindle_hello_door *door = &node->door;
	struct spindle_rules *rules;
	u32 i;

	view = told(node->rules, view, &rules);
	door->digest = spindle_live_digest(view, rules, &node->lineage);
	door->mark = spindle_lineage_mark(&node->lineage);
	door->max = node->rules->max_nodes;
	door->bytes = 1;
	door->ids = view->num_members;
	for (i = 0; i < view->num_members; i++)
		door->id[i] = view->member[i].id;
}

/* ---- cards ------------------------------------------------------------------- */

static u32 say_card(struct node *contact, const struct spindle_view *of,
		    const struct spindle_rules *by, struct spindle_card *card)
{
	bool lies = liar_is(contact->sim, contact->index);
	struct spindle_lineage lineage = contact->lineage;
	struct spindle_rules *rules;
	struct spindle_view *view = told(by, of, &rules);

	if (lies)
		liar_view(contact, view, rules, &lineage);
	if (!view->num_members)
		return 0;
	spindle_card_make(card, view, rules, &lineage, contact->index + 1);
	if (lies)
		return liar_card(contact, card, spindle_card_bytes(view, rules));
	return spindle_card_bytes(view, rules);
}

/* A joiner has memory only for rows of this size, with rings of these senders. */
static bool has_room(const struct sim *sim, const struct spindle_view *view,
		     const struct spindle_rules *rules)
{
	u32 i;

	if (rules->num_rules != sim->rules.num_rules || view->num_subgroups != SIM_GROUPS ||
	    rules->max_nodes > SIM_NODES || view->num_members > SIM_NODES)
		return false;
	for (i = SIM_BORN; i < rules->num_rules; i++)
		if (rules->rule[i].room_window != sim->window ||
		    rules->rule[i].room_ring != sim->ring ||
		    (rules->rule[i].cfg.window && !spindle_view_is_table(&rules->rule[i].cfg) &&
		     (rules->rule[i].cfg.window != sim->window ||
		      rules->rule[i].cfg.ring != sim->ring)))
			return false;
	for (i = 0; i < SIM_BORN; i++)
		if (rules->rule[i].cfg.window != sim->rules.rule[i].cfg.window ||
		    rules->rule[i].cfg.ring != sim->rules.rule[i].cfg.ring ||
		    spindle_view_is_table(&rules->rule[i].cfg) !=
			    spindle_view_is_table(&sim->rules.rule[i].cfg) ||
		    rules->rule[i].shards != sim->rules.rule[i].shards ||
		    rules->rule[i].all_send != sim->rules.rule[i].all_send)
			return false;
	/* A member with this id does not exist, and the joiner would wait for it for ever. */
	for (i = 0; i < view->num_members; i++)
		if (view->member[i].id > sim->nodes)
			return false;
	return true;
}

/* Does a joiner believe a card? Returns false if it has to ask another contact. */
static bool read_card(struct node *node, const struct spindle_card *card, u32 bytes,
		      struct spindle_view *view, struct spindle_rules *rules)
{
	const struct spindle_view_member self = {
		.id = node->index + 1,
		.addr = address_of(node->index + 1),
	};
	const struct spindle_lineage none = {};
	struct sim *sim = node->sim;
	const char *wrong = "no answer";
	bool final;

	if (bytes)
		wrong = spindle_card_read(card, bytes, view, rules);
	if (!wrong)
		wrong = spindle_card_admits(card, view, rules, node->picky ? &sim->lineage : &none,
					    &self, &final);
	if (!wrong)
		scale(rules, view, false);
	if (!wrong && !has_room(sim, view, rules))
		wrong = "no memory";
	if (!wrong)
		return true;
	sim_say(sim, "node %u does not take the card: %s", node->index, wrong);
	sim->cards_refused++;
	if (!sim->liar)
		sim_fail(sim, "node %u does not take an honest card: %s", node->index, wrong);
	return false;
}

static void take_rules(struct node *node, const struct spindle_rules *rules,
		       const struct spindle_lineage *lineage)
{
	node->lineage = *lineage;
	node->rules = &node->sim->rules;
	if (!memcmp(rules, &node->sim->rules, sizeof(*rules)))
		return;
	if (!node->own_rules)
		node->own_rules = malloc(sizeof(*rules));
	*node->own_rules = *rules;
	node->rules = node->own_rules;
}

/* Take a view from a card. @of, @by: the view that the card describes, and its rules. */
static bool hear(struct node *node, struct node *contact, const struct spindle_view *of,
		 const struct spindle_rules *by, const u32 *life)
{
	static struct spindle_rules rules;
	static struct spindle_view view;
	struct spindle_card *card = malloc(spindle_card_max()), *sent;
	u32 bytes = say_card(contact, of, by, card);
	bool good;

	/* A copy of the exact size, so that the sanitizer finds a reader that goes beyond it. */
	sent = malloc(bytes);
	memcpy(sent, card, bytes);
	free(card);
	node->sim->cards++;
	good = read_card(node, sent, bytes, &view, &rules);
	if (good) {
		take_rules(node, &rules, &sent->lineage);
		node_follow(node, &view, life);
		node->door.digest = sent->digest;
	}
	free(sent);
	return good;
}

/* ---- connections --------------------------------------------------------------- */

static bool gradual(const struct sim *sim)
{
	return !sim->strict || sim->liar;
}

static bool tagged(void *ctx, const struct spindle_hello *hello)
{
	return true;
}

/* The decision of a member on a knock, from what the member can know. */
static u32 knock(struct node *node, struct node *to)
{
	const struct spindle_hello_self self = { .id = to->index + 1, .cluster = CLUSTER };
	struct spindle_addr from = { .family = 4 };
	struct spindle_hello hello;
	u32 refusal;

	spindle_hello_make(&hello, &(struct spindle_hello_self){
		.id = node->index + 1, .cluster = CLUSTER, .incarnation = node->inc, .port = 1,
	});
	hello.flags |= SPINDLE_HELLO_F_JOIN;
	hello.dst = cpu_to_le32(self.id);
	hello.digest = cpu_to_le64(node->door.digest);
	hello.lineage = cpu_to_le32(spindle_lineage_mark(&node->lineage));
	if (liar_is(node->sim, node->index))
		liar_hello(node, &hello);
	refusal = spindle_hello_meant(&hello, &self, tagged, NULL);
	if (refusal)
		return refusal;
	join_door(to, spindle_mb_view(&to->mb));
	refusal = spindle_hello_knocks(&hello, &to->door, &from);
	if (refusal)
		return refusal;
	/*
	 * The joiner uses another name than its own, so the member would write to a row of no node.
	 */
	return hello.src == cpu_to_le32(node->index + 1) &&
	       hello.incarnation == cpu_to_le64(node->inc) ? 0 : SPINDLE_REFUSE_LIFE;
}

/* A liar lets every node connect. */
static bool lets_connect(struct node *node, u32 to)
{
	struct sim *sim = node->sim;
	struct node *other = &sim->node[to];
	u32 refusal;

	if (!node_up(other) || node->life[to] != other->inc || sim->link[node->index][to].cut ||
	    sim->link[node->index][to].blocked || sim->link[to][node->index].blocked)
		return false;
	refusal = liar_is(sim, to) ? 0 : knock(node, other);
	sim->knocks_refused += !!refusal;
	return !refusal;
}

/**
 * join_connect() - a joiner knocks where it is not connected yet
 * @node: the joiner
 */
void join_connect(struct node *node)
{
	struct sim *sim = node->sim;
	u32 r;

	for (r = 0; r < node->mg.view->num_members; r++) {
		u32 to = peer_index(node, r);
		struct link *link = &sim->link[node->index][to];

		if (link->up_at > sim->now && link->try_at <= sim->now && lets_connect(node, to)) {
			link->up_at = sim->now;
			sim->link[to][node->index].up_at = sim->now;
		}
	}
}

/* One connection may never come up. The others come up late. */
static void draw_lanes(struct node *node)
{
	struct sim *sim = node->sim;
	u32 i, never = SIM_NODES;

	if (!gradual(sim))
		return;
	if (rng_chance(&sim->draw, 15))
		never = rng_below(&sim->draw, sim->nodes);
	for (i = 0; i < sim->nodes; i++) {
		struct link *link = &sim->link[node->index][i];

		link->up_at = U64_MAX;
		sim->link[i][node->index].up_at = U64_MAX;
		link->try_at = i == never ? U64_MAX : sim->now + rng_below(&sim->draw, 1500);
	}
	sim->unjoined += never < SIM_NODES;
}

/**
 * join_meets() - a node becomes a member in the same change as this one: they connect to each other
 * @node: the node, which may have been a member before
 * @other: the other one
 *
 * The connection may never come up. Then the two accuse each other.
 *
 * Return: false if this node was a member before, so that the other one should be connected
 */
bool join_meets(struct node *node, u32 other)
{
	struct link *link = &node->sim->link[node->index][other];
	struct sim *sim = node->sim;

	if (spindle_view_rank(spindle_mb_view(&node->mb), node->index + 1) >= 0 || link->cut)
		return false;
	if (link->up_at != U64_MAX)
		return true;
	sim->met++;
	if (rng_chance(&sim->draw, 10)) {
		node->disturbed = true;
		sim->node[other].disturbed = true;
		return true;
	}
	link->up_at = sim->now + rng_below(&sim->draw, 1500);
	sim->link[other][node->index].up_at = link->up_at;
	return true;
}

/**
 * join_connected() - a joiner is connected to all members, and may lose one of them at once
 * @node: the joiner
 */
void join_connected(struct node *node)
{
	struct sim *sim = node->sim;
	u32 lost = rng_below(&sim->draw, sim->nodes);

	if (!gradual(sim) || lost == node->index || !rng_chance(&sim->draw, 10))
		return;
	sim->lost_then++;
	node->lose_at = sim->now + (rng_chance(&sim->draw, 50) ? rng_below(&sim->draw, 800) : 0);
	node->lose = lost;
}

/**
 * join_loses() - a joiner loses the connection that was chosen
 * @node: the joiner, or by now a member
 *
 * The joiner and the other node accuse each other as soon as the joiner is a member.
 */
void join_loses(struct node *node)
{
	struct sim *sim = node->sim;

	node->lose_at = 0;
	node->disturbed = true;
	sim->node[node->lose].disturbed = true;
	fabric_break(sim, node->index, node->lose);
}

/**
 * join_ready() - the view to whose members a joiner is connected, as it tells a member
 * @node: the node, which has begun to join, or is in a view
 * @member: the member
 *
 * Return: the view id; 0: it is not connected to all yet. A liar treats all joiners as ready.
 */
u64 join_ready(const struct node *node, const struct node *member)
{
	if (node->mb.state != SPINDLE_MB_JOINING || !node->mg.formed)
		return 0;
	return liar_is(node->sim, member->index) ? member->mg.view->vid : node->mg.view->vid;
}

/* ---- joining ------------------------------------------------------------------- */

/**
 * join_turned_away() - does the node have to begin again?
 * @node: the node
 *
 * The contact has closed its connection and goes on without the node, or the node has waited for
 * too long.
 *
 * Return: true if so
 */
bool join_turned_away(const struct node *node)
{
	const struct sim *sim = node->sim;

	if (!node->started || node->mb.state != SPINDLE_MB_JOINING)
		return false;
	if (gradual(sim) && sim->now > node->asked_at + GIVES_UP)
		return true;
	return node_up(&sim->node[node->contact]) && sim->link[node->index][node->contact].cut;
}

/**
 * node_join() - a node asks any member that is up for an invitation, and asks again if that member
 * is down
 * @node: the node
 */
void node_join(struct node *node)
{
	struct sim *sim = node->sim;
	struct node *contact = &sim->node[node->contact];
	u32 at = rng_below(&sim->rng, sim->nodes), i;

	node->retry_at = sim->now + SIM_TIMEOUT;
	if (node->started && node_up(contact))
		return;
	at = liar_contact(sim, at);
	for (i = 0; i < sim->nodes; i++, at = (at + 1) % sim->nodes) {
		contact = &sim->node[at];
		if (node_up(contact) && !contact->mb.leaving &&
		    spindle_view_rank(spindle_mb_view(&contact->mb), node->index + 1) < 0 &&
		    !(sim->strict && contact->disturbed))
			break;
	}
	if (i == sim->nodes)
		return;
	sim_say(sim, "node %u joins by node %u", node->index, at);
	node->news_at = 0;
	if (!hear(node, contact, spindle_mb_view(&contact->mb), contact->rules, contact->life))
		return;
	node->contact = at;
	node->asked_at = sim->now;
	node->lose_at = 0;
	draw_lanes(node);
}

/**
 * join_tell() - a contact has gone on: nodes that wait for its invitation and are not in the view
 * get news
 * @contact: the contact
 * @view: the new view of the contact
 */
void join_tell(const struct node *contact, const struct spindle_view *view)
{
	struct sim *sim = contact->sim;
	u32 i;

	for (i = 0; i < sim->nodes; i++) {
		struct node *node = &sim->node[i];

		if (!node->started || node->mb.state != SPINDLE_MB_JOINING ||
		    node->contact != contact->index || spindle_view_rank(view, i + 1) >= 0)
			continue;
		node->news = *view;
		node->news_rules = *contact->rules;
		memcpy(node->news_life, contact->life, sizeof(node->news_life));
		node->news_at = sim->now + 1 + rng_below(&sim->rng, 300);
	}
}

/**
 * join_news() - a joiner learns the new view of its contact
 * @node: the joiner
 */
void join_news(struct node *node)
{
	struct node *contact = &node->sim->node[node->contact];

	node->news_at = 0;
	if (!hear(node, contact, &node->news, &node->news_rules, node->news_life))
		return;
	/* Connections start again as for the first card, because a contact may lie now as well. */
	draw_lanes(node);
}
