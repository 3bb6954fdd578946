// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members that lie. Each liar runs the core like all others, and now and then writes something else
 * into its row at one of them. A liar tells any view to a joiner that asks it. See sim.h.
 *
 * Documentation/design/membership.rst lists the harm that a liar can do. This file and check.c
 * check the rest. No correct node blames a correct one for a lie. Deliveries between correct nodes
 * are the messages that were sent, in turn. They are in one order at all correct nodes of a view.
 * Nodes that go on together have delivered the same messages. Two correct nodes go on to different
 * views only if one of them suspects the other.
 */
#include "sim.h"

#define ENDS 512 /* ends of views that are remembered */

/**
 * struct view_end - the deliveries that correct nodes share when they go on from one view to
 * another
 * @group: subgroup
 * @began: digest of the view that it began in
 * @next: digest of the view that was installed then
 * @sum: of the messages of correct nodes that were delivered
 * @places: of the positions of these messages
 */
struct view_end {
	u32 group;
	u64 began;
	u64 next;
	u64 sum;
	u64 places;
};

/**
 * struct step - a node has gone on
 * @node: index
 * @from: digest of the view before
 * @to: digest of the view
 * @accused: nodes that it had suspected by then
 * @misled: it comes in by a card with at least half of the members liars
 */
struct step {
	u32 node;
	u64 from;
	u64 to;
	u64 accused;
	bool misled;
};

struct liar {
	u64 nodes; /* one or more, by index */
	struct rng rng;
	struct rng logs; /* for lies about logs, so that most seeds keep their schedules */
	u64 kinds; /* that it uses */
	u32 often; /* percent of its passes */
	u32 last; /* the last kind of lie */
	bool found; /* by a correct node */
	bool told_once;
	bool miscounted; /* it has told a member of other rounds or messages than it has */
	struct view_end end[ENDS];
	u32 ends;
	struct step step[ENDS];
	u32 steps;
	struct positions places; /* in the order of a line */
	struct positions positions; /* of a line */
};

/* These numbers come from another hash, so that seeds without a liar keep their schedules. */
void liar_open(struct sim *sim)
{
	u32 old = sim->nodes - sim->late;
	struct liar *liar;

	if (rng_mix(sim->seed ^ 0x3333) % 10 >= 3 || old < 3)
		return;
	liar = calloc(1, sizeof(*liar));
	liar->rng.state = rng_mix(sim->seed ^ 0x4444);
	liar->logs.state = rng_mix(sim->seed ^ 0xeeef);
	liar->nodes = BIT_ULL(rng_below(&liar->rng, rng_chance(&liar->rng, 50) ? 2 : old));
	/* Other liars may join the first one, and one of the liars may be a joiner. */
	if (rng_chance(&liar->rng, 30))
		liar->nodes |= BIT_ULL(rng_below(&liar->rng, sim->nodes));
	if (rng_chance(&liar->rng, 10))
		liar->nodes |= BIT_ULL(rng_below(&liar->rng, sim->nodes));
	liar->often = 1 + rng_below(&liar->rng, rng_chance(&liar->rng, 50) ? 3 : 30);
	/* One kind, or all of them. */
	liar->kinds = BIT_ULL(LIE_LOG) - 1;
	if (rng_chance(&liar->rng, 80))
		liar->kinds = BIT_ULL(rng_below(&liar->rng, LIE_LOG));
	/* Few schedules have both a liar and streams, so these liars lie in streams more often. */
	if (sim->large && rng_mix(sim->seed ^ 0x9999) % 2)
		liar->kinds |= BIT_ULL(LIE_TALK);
	sim->liar = liar;
}

void liar_close(struct sim *sim)
{
	if (!sim->liar)
		return;
	free(sim->liar->places.v);
	free(sim->liar->positions.v);
	free(sim->liar);
}

bool liar_is(const struct sim *sim, u32 node)
{
	return sim->liar && sim->liar->nodes & BIT_ULL(node);
}

/*
 * May a node blame another one for a lie? A joiner believes half of the members in the view that a
 * card named.
 */
bool liar_excuses(const struct node *node, u32 to)
{
	return liar_is(node->sim, to) || liar_is(node->sim, node->index) || node->misled;
}

/* A joiner waits for a view that follows this one. Half of the members as liars can mislead it. */
void liar_misleads(struct node *node, const struct spindle_view *view)
{
	u32 r, n = 0;

	for (r = 0; r < view->num_members; r++)
		n += liar_is(node->sim, view->member[r].id - 1);
	node->misled = n && 2 * n >= view->num_members;
}

/* ---- lies ---------------------------------------------------------------------- */

static void lie_bytes(const struct sim *sim, struct liar *liar, u8 *row)
{
	u32 n = 1 + rng_below(&liar->rng, 64), at = rng_below(&liar->rng, SIM_ROW(sim) - n);

	while (n--)
		row[at + n] = rng_u64(&liar->rng);
}

/* A block that is never whole. */
static void lie_torn(struct liar *liar, u8 *row)
{
	struct spindle_mb_row *mb = (void *)(row + SIM_MB);
	struct spindle_block *block = rng_chance(&liar->rng, 50) ? &mb->state :
				      (void *)(row + SIM_BLOCK(rng_below(&liar->rng, SIM_GROUPS)));

	block->seal ^= 1 + rng_below(&liar->rng, 1000);
}

static void lie_state(struct liar *liar, struct spindle_mb_row *row, const struct node *to)
{
	const struct spindle_view *view = spindle_mb_view(&to->mb);
	u64 word[SPINDLE_BLOCK_WORDS];

	memcpy(word, row->state.word, sizeof(word));
	switch (rng_below(&liar->rng, 6)) {
	case 0:
		word[SPINDLE_MB_COL_VID] = view->vid + rng_below(&liar->rng, 3);
		break;
	case 1:
		word[SPINDLE_MB_COL_SUSPECTED] |= BIT_ULL(rng_below(&liar->rng, SIM_NODES));
		break;
	case 2:
		word[SPINDLE_MB_COL_PHASE] ^= SPINDLE_MB_PHASE_LEAVE;
		break;
	case 3:
		word[SPINDLE_MB_COL_PHASE] &= ~0xffffULL;
		word[SPINDLE_MB_COL_PHASE] |= rng_below(&liar->rng, SPINDLE_MB_STOPPED);
		word[SPINDLE_MB_COL_PHASE] |= rng_below(&liar->rng, view->num_members + 2)
					      << SPINDLE_MB_PHASE_BALLOT;
		break;
	case 4:
		word[SPINDLE_MB_COL_DIGEST] = to->mb.digest;
		break;
	default:
		word[rng_below(&liar->rng, SPINDLE_BLOCK_WORDS)] = rng_odd(&liar->rng);
		break;
	}
	spindle_block_write(&row->state, word);
}

/* Write words that a member believes: the fence, or a new end of the view. */
static void lie_fence(struct liar *liar, struct spindle_mb_row *row, const struct node *to)
{
	u64 word[SPINDLE_BLOCK_WORDS];

	memcpy(word, row->state.word, sizeof(word));
	word[SPINDLE_MB_COL_VID] = spindle_mb_view(&to->mb)->vid;
	word[SPINDLE_MB_COL_SUSPECTED] |= to->mb.suspected;
	word[SPINDLE_MB_COL_PHASE] &= ~0xffULL;
	word[SPINDLE_MB_COL_PHASE] |= SPINDLE_MB_WEDGED + rng_below(&liar->rng, 2);
	spindle_block_write(&row->state, word);
}

/* A joiner of a decree, now and then with the address of another node. */
static void lie_joiner(struct liar *liar, u64 *text, u32 id, u64 incarnation)
{
	struct spindle_view_member who = { .id = id, .addr = address_of(id) };

	if (rng_chance(&liar->rng, 20))
		who.addr = address_of(1 + rng_below(&liar->rng, SIM_NODES));
	spindle_decree_add(text, &who, incarnation);
}

static u64 write_decree(struct liar *liar, struct spindle_mb_row *row, const struct node *to)
{
	const struct spindle_view *view = spindle_mb_view(&to->mb);
	u64 *text = row->word + SIM_TRIMS, *word = text + SPINDLE_DECREE_HEAD;
	u64 all = spindle_mask_rank(~0ULL, view->num_members) < 64 ?
		  BIT_ULL(view->num_members) - 1 : ~0ULL;
	u32 i;

	memset(text, 0, spindle_mb_decree_words(SIM_TRIMS) * sizeof(*text));
	text[SPINDLE_DECREE_VID] = view->vid;
	text[SPINDLE_DECREE_SURVIVORS] = all;
	if (rng_chance(&liar->rng, 40))
		text[SPINDLE_DECREE_SURVIVORS] &= rng_u64(&liar->rng);
	for (i = 0; i < spindle_decree_trims(view); i++)
		word[i] = to->mb.row->word[i] - (rng_chance(&liar->rng, 10) ? 1 : 0);
	if (to->mb.state == SPINDLE_MB_JOINING && rng_chance(&liar->rng, 80)) {
		lie_joiner(liar, text, to->index + 1, to->inc);
	} else if (rng_chance(&liar->rng, 20)) {
		lie_joiner(liar, text, 1 + rng_below(&liar->rng, to->sim->nodes),
			   1 + rng_below(&liar->rng, 2));
	}
	return spindle_decree_digest(text, spindle_mb_decree_words(SIM_TRIMS));
}

static void lie_decree(struct liar *liar, struct spindle_mb_row *row, const struct node *to,
		       u32 me)
{
	u64 word[SPINDLE_BLOCK_WORDS];

	memcpy(word, row->state.word, sizeof(word));
	word[SPINDLE_MB_COL_DIGEST] = write_decree(liar, row, to);
	word[SPINDLE_MB_COL_SUSPECTED] |= to->mb.suspected;
	word[SPINDLE_MB_COL_PHASE] &= ~0xffffULL;
	if (to->mb.state == SPINDLE_MB_JOINING || rng_chance(&liar->rng, 40)) {
		word[SPINDLE_MB_COL_VID] = spindle_mb_view(&to->mb)->vid + 1;
	} else {
		word[SPINDLE_MB_COL_PHASE] |= (me + 1) << SPINDLE_MB_PHASE_BALLOT;
		word[SPINDLE_MB_COL_PHASE] |= SPINDLE_MB_ECHOED + rng_below(&liar->rng, 2);
	}
	spindle_block_write(&row->state, word);
}

static void lie_have(struct liar *liar, struct spindle_mb_row *row)
{
	u32 i = rng_below(&liar->rng, SIM_TRIMS);

	row->word[i] += rng_chance(&liar->rng, 80) ? rng_below(&liar->rng, 8) - 4 :
						     rng_odd(&liar->rng);
}

static void lie_wish(struct liar *liar, struct spindle_mb_row *row, const struct node *to)
{
	u64 word[SPINDLE_BLOCK_WORDS];

	memcpy(word, row->beat.word, sizeof(word));
	word[SPINDLE_MB_COL_BEAT]++;
	word[SPINDLE_MB_COL_WISH] = 1 + rng_below(&liar->rng, to->sim->nodes + 2);
	word[SPINDLE_MB_COL_WISH_INC] = 1 + rng_below(&liar->rng, 3);
	spindle_block_write(&row->beat, word);
}

static void lie_block(struct liar *liar, u8 *row)
{
	struct spindle_block *block = (void *)(row + SIM_BLOCK(rng_below(&liar->rng, SIM_GROUPS)));
	u32 i = rng_below(&liar->rng, SPINDLE_BLOCK_WORDS);
	u64 word[SPINDLE_BLOCK_WORDS];

	memcpy(word, block->word, sizeof(word));
	word[i] = rng_chance(&liar->rng, 80) ? word[i] + rng_below(&liar->rng, 4) - 1 :
					       rng_odd(&liar->rng);
	spindle_block_write(block, word);
	liar->miscounted |= i == SPINDLE_COL_SENT || i == SPINDLE_COL_SLOTS;
}

static void lie_header(const struct sim *sim, struct liar *liar, u8 *row)
{
	const struct spindle_msg msg = {
		.round = rng_odd(&liar->rng),
		.unit = rng_u64(&liar->rng),
		.len = rng_below(&liar->rng, 2 * sim->max_msg),
		.mask = rng_chance(&liar->rng, 50) ? rng_below(&liar->rng, 1 << SIM_NODES) : 0,
	};
	u32 g = rng_below(&liar->rng, SIM_GROUPS);

	spindle_hdr_write((void *)(row + SIM_HDR(sim, g)), sim->window - 1,
			  rng_below(&liar->rng, 200), &msg);
}

static void lie_express(const struct sim *sim, struct liar *liar, u8 *row)
{
	u32 g = rng_below(&liar->rng, SIM_GROUPS);
	struct spindle_express *x = (void *)(row + SIM_EXPRESS(sim, g));
	const struct spindle_msg msg = {
		.round = x->round + rng_below(&liar->rng, 3),
		.unit = x->unit + rng_below(&liar->rng, 3),
		.len = rng_below(&liar->rng, SPINDLE_EXPRESS_BYTES + 1),
	};
	u64 word[SPINDLE_BLOCK_WORDS];

	memcpy(word, x->word, sizeof(word));
	word[rng_below(&liar->rng, SPINDLE_BLOCK_WORDS)] += rng_below(&liar->rng, 3);
	spindle_express_write(x, word, &msg, row + SIM_PAY(sim, g), sim->ring);
}

/* Columns of a disk, sealed or not. */
static void lie_log(struct liar *liar, u8 *row)
{
	u32 g = rng_below(&liar->logs, SIM_GROUPS), i;
	struct spindle_block *block = (void *)(row + spindle_layout_log(SIM_GROUPS, g));
	u64 word[SPINDLE_BLOCK_WORDS];

	memcpy(word, block->word, sizeof(word));
	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		if (rng_chance(&liar->logs, 50))
			word[i] = rng_chance(&liar->logs, 80) ?
				  word[i] + rng_below(&liar->logs, 40) - 4 :
				  rng_odd(&liar->logs);
	spindle_block_write(block, word);
	if (rng_chance(&liar->logs, 10))
		block->seal++;
}

static void lie(struct sim *sim, u32 from, u32 kind, struct node *to)
{
	u32 me = spindle_view_rank(spindle_mb_view(&to->mb), from + 1);
	struct liar *liar = sim->liar;
	u8 *row = to->row[from];
	void *mb = row + SIM_MB;

	switch (kind) {
	case LIE_BYTES:
		lie_bytes(sim, liar, row);
		break;
	case LIE_TORN:
		lie_torn(liar, row);
		break;
	case LIE_STATE:
		lie_state(liar, mb, to);
		break;
	case LIE_FENCE:
		lie_fence(liar, mb, to);
		break;
	case LIE_DECREE:
		lie_decree(liar, mb, to, me);
		break;
	case LIE_HAVE:
		lie_have(liar, mb);
		break;
	case LIE_WISH:
		lie_wish(liar, mb, to);
		break;
	case LIE_CARD:
		/* Where a joiner believes the card, a decree lets it in. */
		lie_decree(liar, mb, to, me);
		break;
	case LIE_HELLO:
		lie_wish(liar, mb, to);
		break;
	case LIE_BLOCK:
		lie_block(liar, row);
		break;
	case LIE_HEADER:
		lie_header(sim, liar, row);
		break;
	case LIE_LOG:
		lie_log(liar, row);
		break;
	default:
		lie_express(sim, liar, row);
		break;
	}
	sim->lies[kind]++;
	liar->last = kind;
}

/* Is the liar a member in the view of @to, or did another liar tell @to so? */
static bool reaches(const struct sim *sim, u32 from, const struct node *to)
{
	const struct node *node = &sim->node[from];
	bool joins = to->started && to->mb.state == SPINDLE_MB_JOINING;

	return to != node && node_up(node) && (node_up(to) || joins) &&
	       node->life[to->index] <= to->inc && to->life[from] == node->inc &&
	       !sim->link[from][to->index].cut && sim->link[from][to->index].up_at <= sim->now &&
	       spindle_view_rank(spindle_mb_view(&to->mb), from + 1) >= 0;
}

/*
 * Tell a lie in the liar's pass. The liar can write only to nodes that are connected to it in their
 * present life.
 */
void liar_run(struct sim *sim, u32 from)
{
	struct liar *liar = sim->liar;
	struct node *to;
	u32 kind;

	if (!liar || sim->quiet)
		return;
	if (sim->logged && rng_chance(&liar->logs, 2)) {
		to = &sim->node[rng_below(&liar->logs, sim->nodes)];
		if (reaches(sim, from, to))
			lie(sim, from, LIE_LOG, to);
	}
	if (!rng_chance(&liar->rng, liar->often))
		return;
	to = &sim->node[rng_below(&liar->rng, sim->nodes)];
	do {
		kind = rng_below(&liar->rng, LIE_LOG);
	} while (!(liar->kinds & BIT_ULL(kind)));
	/* Lies in streams are told when a message is under way. */
	if (kind == LIE_TALK)
		return;
	/* Members ignore cards and hellos: only joiners read these. */
	if ((kind == LIE_CARD || kind == LIE_HELLO) && to->mb.state != SPINDLE_MB_JOINING)
		return;
	if (reaches(sim, from, to))
		lie(sim, from, kind, to);
}

/* ---- lies to joiners, and of joiners ------------------------------------------------ */

/* The contact of a joiner: a liar more often than others. */
u32 liar_contact(struct sim *sim, u32 at)
{
	struct liar *liar = sim->liar;

	if (!liar || !(liar->kinds & BIT_ULL(LIE_CARD)) || !rng_chance(&liar->rng, 60))
		return at;
	return __ffs64(liar->nodes);
}

static bool tells(struct sim *sim, u32 kind)
{
	if (!(sim->liar->kinds & BIT_ULL(kind)) || sim->quiet || !rng_chance(&sim->liar->rng, 80))
		return false;
	sim->lies[kind]++;
	return true;
}

static void other_members(struct liar *liar, struct spindle_view *view)
{
	u32 r = rng_below(&liar->rng, view->num_members);

	switch (rng_below(&liar->rng, 4)) {
	case 0:
		view->member[r] = view->member[--view->num_members];
		break;
	case 1:
		view->member[r].id = 1 + rng_below(&liar->rng, SIM_NODES + 2);
		break;
	case 2:
		view->member[r].addr = address_of(1 + rng_below(&liar->rng, SIM_NODES));
		break;
	default:
		r = view->num_members++;
		view->member[r].id = 1 + rng_below(&liar->rng, SIM_NODES + 2);
		view->member[r].addr = address_of(view->member[r].id);
		break;
	}
}

static void other_rules(struct liar *liar, struct spindle_rules *rules)
{
	struct spindle_rule *rule = &rules->rule[rng_below(&liar->rng, rules->num_rules)];

	switch (rng_below(&liar->rng, 8)) {
	case 0:
		rule->min = rng_below(&liar->rng, 5);
		break;
	case 1:
		rule->cfg.window <<= 1 + rng_below(&liar->rng, 12);
		break;
	case 2:
		rule->cfg.ring <<= rng_below(&liar->rng, 20);
		break;
	case 3:
		rule->cfg.max_msg = 1 + rng_below(&liar->rng, 2 * rule->cfg.max_msg);
		break;
	case 4:
		rule->all_send ^= 1;
		break;
	case 5:
		rules->max_nodes = rng_below(&liar->rng, SPINDLE_MAX_MEMBERS + 2);
		break;
	case 6:
		rule->cfg.mode = rng_below(&liar->rng, SPINDLE_MODE_TABLE_READ + 2);
		break;
	default:
		rule->shards = rng_below(&liar->rng, 4);
		break;
	}
}

/* The view has the liar as its only member, so no other member contradicts it. */
static void invent(struct liar *liar, struct spindle_view *view, u32 id)
{
	view->num_members = 1;
	view->member[0] = (struct spindle_view_member){ .id = id, .addr = address_of(id) };
	view->vid += rng_below(&liar->rng, 3);
}

static void other_positions(struct liar *liar, struct spindle_view *view,
			    struct spindle_lineage *lineage)
{
	u32 g = rng_below(&liar->rng, view->num_subgroups + 1);

	if (g < view->num_subgroups)
		view->subgroup[g].former += rng_odd(&liar->rng);
	else
		lineage->era += rng_odd(&liar->rng);
}

/**
 * liar_view() - the view that a lying contact tells a joiner, a different one to each
 * @contact: the liar
 * @view: in: its view; out: the view that it tells; no members: it does not answer
 * @rules: same
 * @lineage: same
 */
void liar_view(struct node *contact, struct spindle_view *view, struct spindle_rules *rules,
	       struct spindle_lineage *lineage)
{
	struct liar *liar = contact->sim->liar;

	if (!tells(contact->sim, LIE_CARD))
		return;
	switch (rng_below(&liar->rng, 8)) {
	case 0:
		view->num_members = 0;
		return;
	case 1:
		view->vid += rng_odd(&liar->rng);
		break;
	case 2:
		lineage->word[rng_below(&liar->rng, 2)] ^= rng_u64(&liar->rng);
		break;
	case 3:
		other_members(liar, view);
		break;
	case 4:
		other_rules(liar, rules);
		break;
	case 5:
		/* liar_card() changes the bytes later. */
		return;
	case 6:
		other_positions(liar, view, lineage);
		return;
	default:
		invent(liar, view, contact->index + 1);
		if (rng_chance(&liar->rng, 30))
			other_rules(liar, rules);
		break;
	}
	if (rng_chance(&liar->rng, 80))
		spindle_rules_apply(rules, NULL, view);
}

/**
 * liar_card() - change bytes of a card
 * @contact: the liar
 * @card: the card
 * @bytes: its length
 *
 * Return: the length that it sends
 */
u32 liar_card(struct node *contact, struct spindle_card *card, u32 bytes)
{
	struct liar *liar = contact->sim->liar;
	u32 n;

	if (!(liar->kinds & BIT_ULL(LIE_CARD)) || !rng_chance(&liar->rng, 20))
		return bytes;
	for (n = 1 + rng_below(&liar->rng, 4); n; n--)
		((u8 *)card)[rng_below(&liar->rng, bytes)] = rng_u64(&liar->rng);
	return bytes - (rng_chance(&liar->rng, 30) ? rng_below(&liar->rng, bytes) : 0);
}

/**
 * liar_hello() - a liar that joins lies in its hello about its identity or its knowledge
 * @node: the liar
 * @hello: in: the truth
 */
void liar_hello(struct node *node, struct spindle_hello *hello)
{
	struct liar *liar = node->sim->liar;

	if (!tells(node->sim, LIE_HELLO))
		return;
	switch (rng_below(&liar->rng, 6)) {
	case 0:
		hello->src = cpu_to_le32(rng_below(&liar->rng, SIM_NODES + 2));
		break;
	case 1:
		hello->incarnation = cpu_to_le64(rng_below(&liar->rng, SIM_LIVES));
		break;
	case 2:
		hello->digest ^= cpu_to_le64(rng_u64(&liar->rng));
		break;
	case 3:
		hello->lineage ^= cpu_to_le32(rng_u64(&liar->rng));
		break;
	case 4:
		hello->cluster ^= cpu_to_le32(rng_u64(&liar->rng));
		break;
	default:
		((u8 *)hello)[rng_below(&liar->rng, sizeof(*hello))] = rng_u64(&liar->rng);
		break;
	}
}

/* ---- lies in streams ------------------------------------------------------------------ */

/* Forge a message near the one that @r expects next. */
static void forge(struct liar *liar, const struct spindle_rdmc *r, u32 m,
		  struct spindle_rdmc_msg *msg)
{
	static const u32 words[] = {
		SPINDLE_RDMC_ANNOUNCE, SPINDLE_RDMC_GRANT, SPINDLE_RDMC_PROGRESS, SPINDLE_RDMC_END,
	};

	msg->word = words[rng_below(&liar->rng, ARRAY_SIZE(words))];
	msg->w[0] = r->announced + rng_below(&liar->rng, 3) - 1;
	if (msg->word == SPINDLE_RDMC_PROGRESS) {
		msg->w[0] = r->m[m].told + rng_below(&liar->rng, 3) - 1;
		msg->w[1] = msg->w[0];
		msg->w[2] = 0;
	} else if (msg->word == SPINDLE_RDMC_ANNOUNCE) {
		msg->w[1] = rng_chance(&liar->rng, 50) ? rng_odd(&liar->rng) :
							 rng_below(&liar->rng, 4096);
	}
}

/**
 * liar_talk() - perhaps replace a liar's message in a stream
 * @to: the node that hears it
 * @r: its stream
 * @m: rank of the liar there
 * @msg: in: the message of the core
 *
 * Return: true if it is a lie
 */
bool liar_talk(struct node *to, const struct spindle_rdmc *r, u32 m, struct spindle_rdmc_msg *msg)
{
	struct liar *liar = to->sim->liar;
	u32 i = rng_below(&liar->rng, ARRAY_SIZE(msg->w));

	if (!(liar->kinds & BIT_ULL(LIE_TALK)) || to->sim->quiet ||
	    !rng_chance(&liar->rng, 5 + liar->often))
		return false;
	switch (rng_below(&liar->rng, 5)) {
	case 0:
		msg->word = rng_below(&liar->rng, SPINDLE_RDMC_END + 2);
		break;
	case 1:
		msg->arg = rng_chance(&liar->rng, 50) ? msg->arg + 1 : rng_u64(&liar->rng);
		break;
	case 2:
		msg->w[i] = rng_odd(&liar->rng);
		break;
	case 3:
		msg->w[i] += rng_below(&liar->rng, 4) - 1;
		break;
	default:
		forge(liar, r, m, msg);
		break;
	}
	to->sim->lies[LIE_TALK]++;
	liar->last = LIE_TALK;
	return true;
}

/* ---- checks --------------------------------------------------------------------- */

/* Node @node suspects node @to: is that allowed? */
void liar_blamed(struct node *node, u32 to, u32 reason)
{
	struct sim *sim = node->sim;
	bool by_stream = node->excused & BIT_ULL(to);

	node->accused |= BIT_ULL(to);
	node->excused &= ~BIT_ULL(to);
	if (liar_is(sim, node->index) || reason != SPINDLE_MB_LIED)
		return;
	if (!by_stream && !liar_excuses(node, to)) {
		sim_fail(sim, "node %u blames node %u for a lie", node->index, to);
		return;
	}
	if (!liar_is(sim, to))
		return;
	if (!sim->liar->found)
		sim->found[sim->liar->last]++;
	sim->liar->found = true;
}

/* May a message of the liar have another round at each member? Then positions behind it differ. */
static bool moves_own_messages(const struct sim *sim)
{
	return sim->lies[LIE_BYTES] || sim->lies[LIE_HEADER] || sim->lies[LIE_EXPRESS];
}

/* A table of places has those of all lines and subgroups. */
static u64 place_of(const struct node *node, u32 group, u64 n)
{
	return rng_mix(node->group[group].line + rng_mix(n + rng_mix(group)));
}

/**
 * liar_check_position() - is a message of a correct node at the position that another node saw?
 * @node: a correct node
 * @group: subgroup
 * @lsn: the position
 * @v: name of the message
 *
 * Not if a liar may have given a message of its own another round at each member, or has told
 * members of different rounds: one of them then takes a round for given up, and another has a
 * message there.
 */
void liar_check_position(struct node *node, u32 group, u64 lsn, u64 v)
{
	struct sim *sim = node->sim;
	u64 other;

	if (moves_own_messages(sim) || sim->liar->miscounted)
		return;
	other = check_first(&sim->liar->positions, place_of(node, group, lsn), v);
	if (other && other != v)
		sim_fail(sim, "node %u group %u: position %llu is %llx, elsewhere %llx, with a liar",
			 node->index, group, (unsigned long long)lsn, (unsigned long long)v,
			 (unsigned long long)other);
}

/**
 * liar_check_order() - is a message of a correct node the next one in the order of the view?
 * @node: a correct node
 * @group: an ordered subgroup
 * @lsn: the position
 * @v: name of the message
 *
 * The order of all messages of correct nodes is the same at all correct nodes, dead or alive, of a
 * *line*. A line is a view that began with a decree. A liar can make a trim too small, which takes
 * back what some members have delivered, and these stop. So what a trim delivers is another line
 * for each decree. What a subgroup that stays delivers belongs to the line that it began with.
 */
void liar_check_order(struct node *node, u32 group, u64 lsn, u64 v)
{
	struct group *g = &node->group[group];
	struct sim *sim = node->sim;
	u64 other = check_first(&sim->liar->places, place_of(node, group, g->dlv), v);

	sim->compared += !!other;
	if (other && other != v)
		sim_fail(sim, "node %u group %u: message %llu of correct nodes is %llx, elsewhere %llx",
			 node->index, group, (unsigned long long)g->dlv, (unsigned long long)v,
			 (unsigned long long)other);
	g->dlv++;
	g->sum = rng_mix(g->sum + v);
	g->places = rng_mix(g->places + lsn);
}

/**
 * liar_trimmed() - a node has a trim: what it delivers now depends on the decree
 * @node: the node, which has checked all deliveries before
 */
void liar_trimmed(struct node *node)
{
	u32 g;

	for (g = 0; g < SIM_GROUPS; g++)
		if (!(node->mg.stays & BIT_ULL(g)))
			node->group[g].line = rng_mix(node->group[g].line ^ node->mb.digest);
}

static void check_end_of(struct node *node, u32 group, u64 next)
{
	struct liar *liar = node->sim->liar;
	struct group *g = &node->group[group];
	u32 i;

	for (i = 0; i < liar->ends; i++) {
		const struct view_end *e = &liar->end[i];

		if (e->group != group || e->began != g->began || e->next != next)
			continue;
		if (e->sum != g->sum ||
		    (e->places != g->places && !moves_own_messages(node->sim)))
			sim_fail(node->sim, "node %u group %u has delivered something else than one that goes on",
				 node->index, group);
		return;
	}
	if (liar->ends < ENDS)
		liar->end[liar->ends++] = (struct view_end){ group, g->began, next, g->sum,
							    g->places };
}

/*
 * A correct node goes on. Its new view is the same as that of the others, or one of the two nodes
 * has suspected the other. A joiner may come into another view if liars are half of the members of
 * its card, because it believes so many.
 */
void liar_check_install(struct node *node, const struct spindle_view *view)
{
	struct liar *liar = node->sim->liar;
	const struct spindle_view *old = &node->mb.view[!node->mb.now];
	const struct step now = {
		.node = node->index,
		.from = spindle_view_digest(old),
		.to = spindle_view_digest(view),
		.accused = node->accused,
		.misled = node->misled && spindle_view_rank(old, node->index + 1) < 0,
	};
	u32 i, g;

	if (liar_is(node->sim, node->index))
		return;
	for (i = 0; i < liar->steps; i++) {
		const struct step *s = &liar->step[i];

		if (s->from == now.from && s->to != now.to && s->node != now.node &&
		    !s->misled && !now.misled && !(s->accused & BIT_ULL(now.node)) &&
		    !(now.accused & BIT_ULL(s->node)))
			sim_fail(node->sim, "nodes %u and %u go on to different views",
				 s->node, now.node);
	}
	if (liar->steps < ENDS)
		liar->step[liar->steps++] = now;
	for (g = 0; g < SIM_GROUPS; g++)
		if (node->group[g].mc && !(node->mg.stays & BIT_ULL(g)) &&
		    node->group[g].reading && !node->group[g].late)
			check_end_of(node, g, now.to);
}

/*
 * Does an honest member still wait? Not if its processes have sent all and the view does not
 * change.
 */
static bool waits(const struct sim *sim, struct node *node)
{
	const struct spindle_view *view = spindle_mb_view(&node->mb);
	u32 r, g;

	if (node->mb.state != SPINDLE_MB_ACTIVE || node->mb.suspected)
		return true;
	for (r = 0; r < view->num_members; r++)
		if (!node_up(&sim->node[view->member[r].id - 1]))
			return true;
	for (g = 0; g < SIM_GROUPS; g++)
		if (node->group[g].mc && !group_at_rest(node, g))
			return true;
	return false;
}

static bool is_left(const struct sim *sim, u32 i)
{
	return !liar_is(sim, i) && node_up(&sim->node[i]) && sim->node[i].mg.formed;
}

/**
 * liar_at_rest() - after the eviction of the liars: has every remaining honest member come to rest?
 * @sim: the schedule
 *
 * Return: true if so
 */
bool liar_at_rest(const struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->nodes; i++)
		if (is_left(sim, i) && waits(sim, &sim->node[i]))
			return false;
	return true;
}

/**
 * liar_check_end() - each honest member has stopped, or has gone on, and none waits for ever
 * @sim: the schedule
 *
 * If no liar has told a lie, undisturbed nodes stop only because they lack a majority. They may
 * lack one because liars are evicted.
 */
void liar_check_end(struct sim *sim)
{
	u64 told = 0;
	u32 i;

	for (i = 0; i < LIE_KINDS; i++)
		told += sim->lies[i];
	for (i = 0; i < sim->nodes; i++) {
		struct node *node = &sim->node[i];

		if (is_left(sim, i) && waits(sim, node))
			sim_fail(sim, "end: node %u waits in state %u of view %llu, suspects 0x%llx",
				 i, node->mb.state,
				 (unsigned long long)spindle_mb_view(&node->mb)->vid,
				 (unsigned long long)node->mb.suspected);
		if (!told && !liar_is(sim, i) && node->mb.state == SPINDLE_MB_STOPPED &&
		    !node->crashed && !node->disturbed && node->mb.reason != SPINDLE_MB_MINORITY)
			sim_fail(sim, "end: node %u has stopped without a lie", i);
	}
}
