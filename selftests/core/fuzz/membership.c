// SPDX-License-Identifier: GPL-2.0-only
/*
 * The membership of two honest nodes, which run the core, among liars. The liars write what the
 * input says into their rows: heartbeats, states, counts, and decrees with a right or wrong digest.
 * These writes come between two passes and between two looks. Connections break and close, nodes
 * join and leave, and the clock jumps.
 *
 * An honest node keeps its state within its limits, and goes from view to view by one. It never
 * takes the other honest node for a liar, and ends each pass.
 */
#include "fuzz.h"
#include "core/membership/membership.h"
#include "core/membership/rules.h"

#define IDS		6	/* ids of nodes, from 1 */
#define HONEST		2	/* ids 1 and 2 */
#define TRIMS		(IDS + 3)
#define INTERVAL	100
#define TIMEOUT		1000

struct node {
	struct world *w;
	struct spindle_mb mb;
	struct spindle_mb_row *row[IDS + 1];	/* by id of the writer */
	u32 *vouch[IDS + 1];
	u64 have[TRIMS];
	u32 id;
	u64 vid;
	bool drains, stopped;
};

struct world {
	struct input in;
	u64 now;
	bool vouch;
	struct node node[HONEST + 1];		/* by id */
};

static struct world world;
static struct spindle_rules rules;

static u32 words_of(const struct spindle_view *view)
{
	return SPINDLE_DECREE_HEAD + spindle_decree_trims(view);
}

/* ---- operations of the core ------------------------------------------------------------- */

static void op_wedge(void *ctx)
{
	struct node *node = ctx;

	MUST(!node->stopped);
}

static bool op_flushed(void *ctx, u32 rank)
{
	struct node *node = ctx;

	MUST(rank < spindle_mb_view(&node->mb)->num_members);
	return in_u8(&node->w->in) < 200;
}

static void op_freeze(void *ctx, u64 *have)
{
	struct node *node = ctx;
	u32 i, n = spindle_decree_trims(spindle_mb_view(&node->mb));

	MUST(n <= TRIMS);
	for (i = 0; i < n; i++)
		node->have[i] += in_u8(&node->w->in) & 3;
	memcpy(have, node->have, n * sizeof(*have));
}

static bool op_trim(void *ctx, const u64 *trim)
{
	struct node *node = ctx;
	u32 i, n = spindle_decree_trims(spindle_mb_view(&node->mb));

	for (i = 0; i < n; i++)
		if (trim[i] > node->have[i])
			return false;
	return true;
}

static bool op_drain(void *ctx)
{
	struct node *node = ctx;

	return node->drains;
}

static const char *op_layout(void *ctx, u64 offer, const struct spindle_view *view,
			     struct spindle_view *next)
{
	struct node *node = ctx;

	MUST(next->num_members <= SPINDLE_MAX_MEMBERS);
	MUST(!offer || offer == node->mb.rules);
	return spindle_rules_next(&rules, view, next);
}

/* Only existing nodes are connected. */
static bool op_guest(void *ctx, u32 id, u64 incarnation, struct spindle_addr *addr)
{
	*addr = (struct spindle_addr){ .family = 4, .port = id };
	return id && id <= IDS && incarnation <= 3;
}

/* All ids are ready, also those of members. */
static bool op_ready(void *ctx, u32 *seat, u32 *id, u64 *incarnation)
{
	struct node *node = ctx;

	*id = *seat + 1;
	*incarnation = in_u8(&node->w->in) & 3;
	return *seat < IDS;
}

static bool op_join(void *ctx, u32 id, u64 incarnation, struct spindle_mb_peer *p)
{
	struct spindle_addr addr;
	struct node *node = ctx;

	if (!op_guest(ctx, id, incarnation, &addr))
		return false;
	p->row = node->row[id];
	p->vouch = node->w->vouch ? node->vouch[id] : NULL;
	return true;
}

static void op_install(void *ctx, const struct spindle_view *next, const u32 *from,
		       const u64 *trim)
{
	struct node *node = ctx;
	u32 i, j;

	MUST(next->vid == node->vid + 1);
	MUST(next->num_members && next->num_members <= IDS);
	MUST(spindle_decree_trims(next) <= TRIMS);
	MUST(spindle_view_rank(next, node->id) >= 0);
	for (i = 0; i < next->num_members; i++) {
		MUST(from[i] == SPINDLE_NO_RANK || from[i] < SPINDLE_MAX_MEMBERS);
		for (j = 0; j < i; j++)
			MUST(next->member[i].id != next->member[j].id);
	}
	node->vid = next->vid;
	for (i = 0; i < TRIMS; i++)
		node->have[i] = 0;
}

static void op_cut(void *ctx, u32 rank)
{
	struct node *node = ctx;

	MUST(rank < spindle_mb_view(&node->mb)->num_members && rank != node->mb.me);
	MUST(node->mb.suspected >> rank & 1);
}

static void op_stopped(void *ctx)
{
	struct node *node = ctx;

	MUST(!node->stopped);
	node->stopped = true;
}

static const struct spindle_mb_ops ops = {
	.wedge = op_wedge,
	.flushed = op_flushed,
	.freeze = op_freeze,
	.trim = op_trim,
	.drain = op_drain,
	.layout = op_layout,
	.guest = op_guest,
	.ready = op_ready,
	.join = op_join,
	.install = op_install,
	.cut = op_cut,
	.stopped = op_stopped,
};

/* ---- wiring -------------------------------------------------------------------------- */

static void open_rows(struct world *w, u32 id)
{
	struct node *node = &w->node[id];
	u32 i;

	node->w = w;
	node->id = id;
	node->drains = true;
	for (i = 1; i <= IDS; i++) {
		node->row[i] = fuzz_alloc(spindle_mb_row_bytes(TRIMS));
		node->vouch[i] = fuzz_alloc(sizeof(u32));
	}
}

static void open_node(struct world *w, u32 id, const struct spindle_view *view, bool joins)
{
	struct node *node = &w->node[id];
	struct spindle_mb *mb = &node->mb;
	u32 r;

	open_rows(w, id);
	mb->ops = &ops;
	mb->ctx = node;
	mb->timeout = TIMEOUT;
	mb->interval = INTERVAL;
	mb->trims = TRIMS;
	mb->joins = SPINDLE_DECREE_JOINS;
	mb->row = node->row[id];
	mb->seen = fuzz_alloc((SPINDLE_DECREE_HEAD + TRIMS) * sizeof(u64));
	for (r = 0; r < view->num_members; r++)
		op_join(node, view->member[r].id, 1, &mb->peer[r]);
	node->vid = view->vid;
	if (joins)
		spindle_mb_join(mb, view, id, 1, w->now);
	else
		spindle_mb_init(mb, view, spindle_view_rank(view, id), w->now);
}

/* One subgroup of all nodes, and one of some nodes, two of which send. */
static void make_rules(void)
{
	u32 i;

	rules = (struct spindle_rules) {
		.timeout_ms = TIMEOUT, .max_nodes = IDS, .quorum = 1, .num_rules = 2,
	};
	rules.rule[0] = (struct spindle_rule) { .shards = 1, .min = 1, .all_send = 1 };
	rules.rule[1] = (struct spindle_rule) {
		.cfg.id = 1, .shards = 2, .min = 1, .senders = 0x0b, .num_nodes = 4,
	};
	for (i = 0; i < 4; i++)
		rules.rule[1].node[i] = i + 1;
	for (i = 0; i < 2; i++) {
		rules.rule[i].cfg.window = 8;
		rules.rule[i].cfg.ring = 4096;
		rules.rule[i].cfg.max_msg = 100;
	}
	MUST(spindle_rules_trims(&rules) == TRIMS);
}

/* ---- writes to the others ---------------------------------------------------------------- */

static void post(struct node *node, u32 to, const struct spindle_write *write)
{
	struct node *peer;

	MUST(write->data && write->len);
	MUST(write->remote + write->len <= spindle_mb_row_bytes(TRIMS));
	if (to > HONEST)
		return;
	peer = &node->w->node[to];
	memcpy((u8 *)peer->row[node->id] + write->remote, write->data, write->len);
	if (write->guard && write->imm >> SPINDLE_IMM_SHIFT == SPINDLE_IMM_STATE)
		*peer->vouch[node->id] = write->imm & SPINDLE_IMM_SLOTS;
}

static void push(struct node *node)
{
	struct spindle_write write[SPINDLE_MB_PUSH_MAX];
	const struct spindle_view *view = spindle_mb_view(&node->mb);
	u32 r, i, n;

	for (r = 0; r < view->num_members; r++) {
		if (r == node->mb.me)
			continue;
		n = spindle_mb_push(&node->mb, r, write);
		MUST(n <= SPINDLE_MB_PUSH_MAX);
		for (i = 0; i < n; i++)
			post(node, view->member[r].id, &write[i]);
	}
}

/* ---- invariants ------------------------------------------------------------------------ */

static void check_node(struct node *node)
{
	const struct spindle_mb *mb = &node->mb;
	const struct spindle_view *view = spindle_mb_view(mb);
	u64 all = ~0ULL >> (64 - view->num_members);
	int other = spindle_view_rank(view, HONEST + 1 - node->id);

	MUST(view->num_members && view->num_members <= IDS && view->vid == node->vid);
	MUST(mb->state < SPINDLE_MB_STATES);
	MUST((mb->state == SPINDLE_MB_STOPPED) == node->stopped);
	MUST(!node->stopped || mb->reason);
	MUST(!((mb->suspected | mb->doubted | mb->closed) & ~all));
	MUST(mb->ballot <= view->num_members);
	if (mb->state == SPINDLE_MB_JOINING)
		return;
	if (mb->me != SPINDLE_NO_RANK) {
		MUST(mb->me < view->num_members && view->member[mb->me].id == node->id);
		MUST(!((mb->suspected | mb->doubted) >> mb->me & 1));
	}
	if (other >= 0 && mb->suspected >> other & 1)
		MUST(mb->peer[other].reason != SPINDLE_MB_LIED);
}

static void run(struct node *node)
{
	u64 before = fuzz_looks;

	spindle_mb_run(&node->mb, node->w->now);
	/* A pass looks at each row a few times, with the decree and the counts. */
	MUST(fuzz_looks - before <= 8 * (IDS + 1) * (SPINDLE_DECREE_HEAD + TRIMS + 16));
	check_node(node);
}

/* ---- liars -------------------------------------------------------------------------------- */

struct victim {
	struct node *node;
	struct spindle_mb_row *row;
	const struct spindle_view *view;
	u32 id, rank;
};

/* A liar in the view of an honest node, or one that may join it. */
static struct victim victim(struct world *w, struct input *in)
{
	u8 pick = in_u8(in);
	struct victim v = { .node = &w->node[1 + (pick & 1)] };
	int rank;

	v.id = HONEST + 1 + (pick >> 1) % (IDS - HONEST);
	v.row = v.node->row[v.id];
	v.view = spindle_mb_view(&v.node->mb);
	rank = spindle_view_rank(v.view, v.id);
	v.rank = rank < 0 ? 0 : rank;
	return v;
}

static void lie_beat(struct victim *v, struct input *in)
{
	u64 word[SPINDLE_BLOCK_WORDS] = { v->row->beat.word[0] + 1 };
	u8 how = in_u8(in);

	if (how & 1)
		word[SPINDLE_MB_COL_BEAT] = in_near(in, word[SPINDLE_MB_COL_BEAT]);
	if (how & 2)
		word[SPINDLE_MB_COL_WISH] = how & 4 ? in_near(in, 0) : how >> 3 & 7;
	if (how & 2)
		word[SPINDLE_MB_COL_WISH_INC] = 1;
	spindle_block_write(&v->row->beat, word);
}

static u64 in_phase(struct victim *v, struct input *in, u8 how)
{
	const struct spindle_mb_peer *p = &v->node->mb.peer[v->rank];
	u64 ballot = p->ballot, state = p->phase, phase;

	if (how & 1)
		state = in_below(in, SPINDLE_MB_STATES + 2);
	else if (how & 2)
		state = v->node->mb.state;
	if (how & 4)
		ballot = in_below(in, 8);
	phase = state | ballot << SPINDLE_MB_PHASE_BALLOT;
	if (how & 8)
		phase |= SPINDLE_MB_PHASE_LEAVE;
	if (how & 16)
		phase = in_near(in, phase);
	return phase;
}

/* A sealed state. By default the state is that of a member that follows the victim. */
static void lie_state(struct victim *v, struct input *in)
{
	struct spindle_mb *mb = &v->node->mb;
	u64 word[SPINDLE_BLOCK_WORDS];
	u8 how = in_u8(in);
	u32 count;

	word[SPINDLE_MB_COL_VID] = how & 1 ? in_near(in, v->view->vid) : v->view->vid;
	word[SPINDLE_MB_COL_SUSPECTED] = how & 2 ? in_u8(in) : mb->suspected;
	word[SPINDLE_MB_COL_PHASE] = in_phase(v, in, how >> 3);
	word[SPINDLE_MB_COL_DIGEST] = mb->digest;
	if (how & 4)
		word[SPINDLE_MB_COL_DIGEST] =
			spindle_decree_digest(v->row->word + TRIMS, words_of(v->view));
	count = (*v->node->vouch[v->id] + 1) & SPINDLE_IMM_SLOTS;
	*v->node->vouch[v->id] = count;
	word[SPINDLE_MB_COL_PHASE] |= (u64)count << SPINDLE_MB_PHASE_COUNT;
	spindle_block_write(&v->row->state, word);
}

/* A decree about the victim's view, near the decree that an honest member would show. */
static void lie_decree(struct victim *v, struct input *in)
{
	u64 *word = v->row->word + TRIMS;
	u8 how = in_u8(in);
	u32 i;

	memset(word, 0, SPINDLE_DECREE_HEAD * sizeof(*word));
	word[SPINDLE_DECREE_VID] = how & 1 ? in_near(in, v->view->vid) : v->view->vid;
	word[SPINDLE_DECREE_SURVIVORS] = ~0ULL >> (64 - v->view->num_members);
	if (how & 2)
		word[SPINDLE_DECREE_SURVIVORS] = in_u8(in);
	word[SPINDLE_DECREE_NUM_JOINS] = how & 4 ? in_near(in, 0) : how >> 4 & 3;
	for (i = SPINDLE_DECREE_JOIN; i < SPINDLE_DECREE_RULES && how & 48; i++)
		word[i] = in_below(in, 8);
	word[SPINDLE_DECREE_RULES] = how & 64 ? in_near(in, 0) : 0;
	/* Most addresses are good. */
	for (i = 0; i < SPINDLE_DECREE_JOINS && how & 128; i++) {
		u64 *join = spindle_decree_join(word, i);

		join[SPINDLE_JOIN_PORT] = 4 << 16 | in_u8(in);
		join[SPINDLE_JOIN_IP + 1] = 0;
	}
	for (i = 0; i < spindle_decree_trims(v->view); i++)
		word[SPINDLE_DECREE_HEAD + i] =
			how & 8 ? in_near(in, v->node->have[i]) : v->node->have[i];
}

static void lie_word(struct victim *v, struct input *in, bool later)
{
	u64 *at = (u64 *)v->row + in_below(in, spindle_mb_row_bytes(TRIMS) / 8);
	u64 value = in_near(in, *at);

	if (later)
		fuzz_write_later(at, value, in_u8(in));
	else
		*at = value;
}

static void lie(struct world *w, u8 op)
{
	struct victim v = victim(w, &w->in);

	switch (op) {
	case 0:
		lie_beat(&v, &w->in);
		break;
	case 1:
		lie_state(&v, &w->in);
		break;
	case 2:
		lie_decree(&v, &w->in);
		break;
	case 3:
		lie_word(&v, &w->in, false);
		break;
	default:
		lie_word(&v, &w->in, true);
		break;
	}
}

/* ---- operations of the input ---------------------------------------------------------------- */

/* Events of connections, of the administrator, and of the node's processes. */
static void happen(struct world *w, struct node *node)
{
	struct spindle_mb *mb = &node->mb;
	u8 op = in_u8(&w->in);
	u32 rank = (op >> 4) % spindle_mb_view(mb)->num_members;

	switch (op & 15) {
	case 0:
		spindle_mb_suspect(mb, rank, SPINDLE_MB_LOST);
		break;
	case 1:
		if (rank != mb->me)
			spindle_mb_closed(mb, rank);
		break;
	case 2:
		if (mb->state != SPINDLE_MB_JOINING)
			spindle_mb_leave(mb);
		break;
	case 3:
		if (mb->state != SPINDLE_MB_JOINING)
			spindle_mb_invite(mb, in_below(&w->in, IDS + 2), 1);
		mb->hold = op & 16;
		break;
	case 4:
		spindle_mb_suspect(mb, rank, SPINDLE_MB_ADMIN);
		break;
	case 5:
		node->drains = !node->drains;
		break;
	case 7:
		if (mb->state != SPINDLE_MB_JOINING)
			spindle_mb_offer(mb, in_below(&w->in, 4));
		MUST(!spindle_mb_wanted(mb, &rank) || !(mb->suspected >> rank & 1));
		break;
	case 6:
		MUST(!spindle_mb_open(mb, rank) || rank != mb->me);
		break;
	default:
		w->now += (op >> 4) * INTERVAL;
		break;
	}
	check_node(node);
}

static void step(struct world *w)
{
	u8 op = in_u8(&w->in);
	struct node *node = &w->node[1 + (op >> 3 & 1)];
	u32 i;

	switch (op & 7) {
	case 0:
		w->now += op >> 4;
		run(node);
		break;
	case 1:
		push(node);
		break;
	/* Run all honest nodes a few times. */
	case 2:
		for (i = 0; i < 1 + (op >> 6); i++) {
			w->now += INTERVAL * (op >> 4 & 3) / 2;
			run(&w->node[1]);
			push(&w->node[1]);
			run(&w->node[2]);
			push(&w->node[2]);
		}
		break;
	case 3:
		happen(w, node);
		break;
	default:
		lie(w, op >> 4 < 10 ? (op & 3) : 3 + (op >> 4 & 1));
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct spindle_view view = { .vid = 1 };
	struct world *w = &world;
	u8 how, i;

	fuzz_begin();
	if (!rules.num_rules)
		make_rules();
	memset(w, 0, sizeof(*w));
	w->in = (struct input){ .at = data, .left = size };
	how = in_u8(&w->in);
	w->now = 100 * TIMEOUT;
	w->vouch = how & 1;
	/* The ids are consecutive from any start. The second honest node may be about to join. */
	view.num_members = 3 + (how >> 1 & 1);
	for (i = 0; i < view.num_members; i++)
		view.member[i].id = 1 + (i + (how >> 2 & 3)) % view.num_members;
	if (how & 16)
		for (i = 0; i < view.num_members; i++)
			if (view.member[i].id == HONEST)
				view.member[i].id = IDS;
	spindle_rules_apply(&rules, NULL, &view);
	open_node(w, 1, &view, false);
	open_node(w, 2, &view, how & 16);
	w->node[1].mb.any = how & 32;
	w->node[2].mb.any = how & 32;
	while (w->in.left && !(w->node[1].stopped && w->node[2].stopped))
		step(w);
	return 0;
}
