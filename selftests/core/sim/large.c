// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large messages: streams of the core, over lanes. See sim.h.
 *
 * A lane carries messages and blocks from one node to another, in order, late, and as slowly as the
 * other end has room. A lane is independent of the link that carries rows, except that it breaks
 * with the link. A lane may also break alone. A block is read when it is sent and written when it
 * arrives. The write needs a right that is not revoked.
 */
#include "core/group/stream.h"
#include "sim.h"

#define MIN_BLOCK 32
#define BLOCKS 16 /* of the largest message, at most */
#define ROOM 12
#define SNAPS 8

/* Memory of an object, in a sender's ring at a node. */
struct mem {
	u8 *ring;
	u64 at;
	u64 mask; /* of the ring */
	u64 len;
	u32 grants;
	u32 writes;
	unsigned long have; /* bits: there are few blocks */
};

/* The right to write a block; its index is the key. */
struct right {
	enum { RIGHT_DEAD, RIGHT_OPEN, RIGHT_USED, RIGHT_GOING } state;
	struct mem *mem;
	struct spindle_rdmc *r;
	u32 owner, holder, g, block, len;
};

/* A message or block on a lane, or a report of a device to its node. */
struct item {
	enum { ITEM_MSG, ITEM_WRITE, ITEM_WRITTEN, ITEM_REVOKED } kind;
	struct item *next;
	u64 at;
	struct spindle_rdmc *r; /* the stream; NULL: it has ended */
	struct mem *mem;
	u64 object;
	u32 key, len;
	struct spindle_rdmc_msg msg;
	u8 data[];
};

struct queue {
	struct item *head, **tail;
	u32 n;
};

struct lane {
	struct queue queue;
	u64 last;
	u64 up_at;
	u32 life; /* of the other end */
	u32 own; /* of this one */
	bool lost;
	bool alone; /* the link is there */
	bool parted; /* by the other end, which has lost the lane */
	u64 part_at; /* when this end learns that the other lost it; 0: not lost */
};

/* A lane breaks without an action of a node, and the link between the two nodes stays. */
struct snap {
	u64 at;
	u32 node;
	u32 to;
	bool idle; /* the node closes it, because no stream of its own has used it */
};

/* The ctx of a stream in the core. */
struct of {
	struct large *lg;
	u32 s;
	u32 node_of[SIM_NODES];
	u64 lied; /* life of the stream in which a liar lied here; 0: none */
};

struct large {
	struct spindle_streams ss; /* first */
	struct node *node;
	u32 g;
	u64 ask_at; /* when there is memory; 0: no stream asks */
	struct of of[SIM_NODES];
	struct spindle_stream stream[SIM_NODES];
};

struct lanes {
	struct lane lane[SIM_NODES][SIM_NODES]; /* from, to */
	u32 used[SIM_NODES]; /* by sender: the lanes that may have items */
	struct queue device[SIM_NODES];
	struct right *right;
	u32 rights, max_rights;
	struct rng rng;
	struct snap snap[SNAPS];
	u32 snaps;
	bool planned;
};

/* ---- queues ------------------------------------------------------------------------ */

static struct item *add(struct queue *q, u64 at, u32 bytes)
{
	struct item *it = calloc(1, sizeof(*it) + bytes);

	if (!q->tail)
		q->tail = &q->head;
	it->at = at;
	*q->tail = it;
	q->tail = &it->next;
	q->n++;
	return it;
}

static struct item *take(struct queue *q)
{
	struct item *it = q->head;

	q->head = it->next;
	if (!q->head)
		q->tail = &q->head;
	q->n--;
	return it;
}

static struct of *of(const struct spindle_rdmc *r)
{
	return r->ctx;
}

static struct node *node_of(const struct spindle_rdmc *r)
{
	return of(r)->lg->node;
}

static u32 peer_of(const struct spindle_rdmc *r, u32 m)
{
	return of(r)->node_of[m];
}

static u32 rank_of(const struct spindle_rdmc *r, u32 index)
{
	u32 m;

	for (m = 0; m < r->cfg.n && of(r)->node_of[m] != index; m++)
		;
	return m;
}

static u64 later(struct lanes *l, u64 now)
{
	return now + 1 + rng_below(&l->rng, rng_chance(&l->rng, 5) ? 400 : 40);
}

/* A device reports to its node, in the order of the reports. */
static struct item *report(struct sim *sim, u32 index, struct spindle_rdmc *r, u32 kind)
{
	struct item *it = add(&sim->lanes->device[index], later(sim->lanes, sim->now), 0);

	it->kind = kind;
	it->r = r;
	return it;
}

static void report_written(struct sim *sim, u32 from, const struct item *it)
{
	struct item *done = report(sim, from, it->r, ITEM_WRITTEN);

	done->mem = it->mem;
	done->object = it->object;
}

static struct lane *lane_to(const struct spindle_rdmc *r, u32 m)
{
	return &node_of(r)->sim->lanes->lane[node_of(r)->index][peer_of(r, m)];
}

static bool broken(const struct sim *sim, u32 me, u32 to)
{
	return sim->link[me][to].cut || sim->node[to].crashed ||
	       sim->node[me].life[to] != sim->node[to].inc;
}

/* Both ends have to know each other. */
static bool connected(const struct sim *sim, u32 from, u32 to)
{
	return !broken(sim, from, to) && !broken(sim, to, from);
}

/* ---- operations of the core ------------------------------------------------------------ */

static bool op_room(struct spindle_rdmc *r, u32 m)
{
	const struct lane *lane = lane_to(r, m);

	return !lane->lost && lane->queue.n < ROOM;
}

static struct item *post(struct spindle_rdmc *r, u32 m, u32 kind, u32 bytes)
{
	struct sim *sim = node_of(r)->sim;
	struct lane *lane = lane_to(r, m);
	struct item *it;

	sim->lanes->used[node_of(r)->index] |= BIT(of(r)->node_of[m]);
	lane->last = max(lane->last, later(sim->lanes, sim->now));
	it = add(&lane->queue, lane->last, bytes);
	it->kind = kind;
	it->r = r;
	return it;
}

static void op_say(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	if (!op_room(r, m))
		sim_fail(node_of(r)->sim, "node %u says something without room",
			 node_of(r)->index);
	post(r, m, ITEM_MSG, 0)->msg = *msg;
}

static void op_grant(struct spindle_rdmc *r, u32 m, u32 g, void *mem, u32 block, u32 len,
		     struct spindle_rdmc_msg *msg)
{
	struct lanes *l = node_of(r)->sim->lanes;

	if (l->rights == l->max_rights) {
		l->max_rights = max(64U, 2 * l->max_rights);
		l->right = realloc(l->right, l->max_rights * sizeof(*l->right));
	}
	l->right[l->rights] = (struct right){
		.state = RIGHT_OPEN, .mem = mem, .r = r, .owner = node_of(r)->index,
		.holder = peer_of(r, m), .g = g, .block = block, .len = len,
	};
	((struct mem *)mem)->grants++;
	msg->w[1] = (u64)block << r->block_shift;
	msg->w[2] = l->rights++;
	op_say(r, m, msg);
}

static void die(struct right *right)
{
	if (right->state != RIGHT_DEAD)
		right->mem->grants--;
	right->state = RIGHT_DEAD;
}

static void op_revoke(struct spindle_rdmc *r, u32 m, u32 g)
{
	struct lanes *l = node_of(r)->sim->lanes;
	u32 k;

	for (k = l->rights; k-- > 0;) {
		struct right *right = &l->right[k];

		if (right->r == r && right->holder == peer_of(r, m) && right->g == g &&
		    (right->state == RIGHT_OPEN || right->state == RIGHT_USED)) {
			right->state = RIGHT_GOING;
			report(node_of(r)->sim, right->owner, r, ITEM_REVOKED)->key = k;
			return;
		}
	}
	sim_fail(node_of(r)->sim, "node %u takes back what it has not granted", node_of(r)->index);
}

static void op_write(struct spindle_rdmc *r, u32 m, u64 object, void *mem, u32 block, u32 len,
		     const struct spindle_rdmc_grant *grant)
{
	struct item *it = post(r, m, ITEM_WRITE, len);
	struct mem *from = mem;
	u64 at = from->at + ((u64)block << r->block_shift);
	u32 i;

	it->object = object;
	it->mem = from;
	it->key = grant->key;
	it->len = len;
	from->writes++;
	for (i = 0; i < len; i++)
		it->data[i] = from->ring[(at + i) & from->mask];
}

/*
 * A source may get a grant whose length differs from the sender's announcement. Then the source
 * blames the sender. The source does so in the stream in which one of the two has lied to it, and
 * in no other.
 */
static bool liar_excuses_root(const struct spindle_rdmc *r, u32 m)
{
	return !m && of(r)->lied == r->cfg.life;
}

static bool op_parted(struct spindle_rdmc *r, u32 m)
{
	return lane_to(r, m)->parted;
}

/* The view has to go on without this member. */
static void op_miss(struct spindle_rdmc *r, u32 m, enum spindle_mb_reason how)
{
	struct node *node = node_of(r);
	u32 to = peer_of(r, m);
	int rank = spindle_view_rank(spindle_mb_view(&node->mb), to + 1);

	if (how == SPINDLE_MB_LIED && liar_excuses_root(r, m))
		node->excused |= BIT_ULL(to);
	else if (how == SPINDLE_MB_LIED && !liar_excuses(node, to))
		sim_fail(node->sim, "node %u blames node %u for a stream", node->index, to);
	/* The next life of the node has a link of its own. */
	if (node->life[to] == node->sim->node[to].inc)
		fabric_cut(node->sim, node->index, to);
	if (rank >= 0)
		spindle_mg_lost(&node->mg, rank, how);
}

static bool op_release(struct spindle_rdmc *r, void *mem)
{
	struct mem *me = mem;

	if (me->grants || me->writes)
		sim_fail(node_of(r)->sim, "node %u releases memory with %u grants and %u writes",
			 node_of(r)->index, me->grants, me->writes);
	if (rng_chance(&node_of(r)->sim->lanes->rng, 20))
		return false;
	free(me);
	return true;
}

static bool op_ready(struct spindle_rdmc *r, u32 m)
{
	struct sim *sim = node_of(r)->sim;
	u32 me = node_of(r)->index, to = peer_of(r, m);
	const struct lane *other = &sim->lanes->lane[to][me];
	struct lane *lane = lane_to(r, m);

	if (lane->lost || other->lost || other->part_at || !connected(sim, me, to) ||
	    sim->link[me][to].up_at > sim->now)
		return false;
	if (!lane->up_at)
		lane->up_at = later(sim->lanes, sim->now);
	return lane->up_at <= sim->now;
}

static bool op_lost(struct spindle_rdmc *r, u32 m)
{
	return lane_to(r, m)->lost;
}

static void op_want(struct spindle_streams *ss, u32 s)
{
	struct large *lg = (struct large *)ss;

	if (!lg->ask_at)
		lg->ask_at = later(lg->node->sim->lanes, lg->node->sim->now);
}

static const struct spindle_streams_ops ops = {
	.rdmc = {
		.room = op_room,
		.say = op_say,
		.grant = op_grant,
		.revoke = op_revoke,
		.write = op_write,
		.cut = spindle_stream_cut,
		.release = op_release,
	},
	.ready = op_ready,
	.lost = op_lost,
	.parted = op_parted,
	.miss = op_miss,
	.want = op_want,
};

/* ---- arrivals -------------------------------------------------------------------------- */

static struct spindle_rdmc *stream_of(struct sim *sim, u32 node, u64 life)
{
	u32 g, s;

	for (g = 0; g < SIM_GROUPS; g++) {
		struct large *lg = sim->node[node].group[g].large;

		for (s = 0; lg && lg->ss.vid && s < lg->ss.mc->senders; s++)
			if (lg->stream[s].r.cfg.life == life)
				return &lg->stream[s].r;
	}
	return NULL;
}

/* The right that an arriving block uses, or NULL. */
static struct right *right_of(struct sim *sim, u32 from, u32 to, const struct item *it)
{
	struct right *right = &sim->lanes->right[it->key];

	if (it->key < sim->lanes->rights && right->state == RIGHT_OPEN && right->owner == to &&
	    right->holder == from && right->len == it->len)
		return right;
	return NULL;
}

static void arrive(struct sim *sim, u32 from, u32 to, const struct item *it)
{
	struct right *right = right_of(sim, from, to, it);
	const struct mem *mem;
	u64 at;
	u32 i;

	/*
	 * A device that gets a write without a right breaks the connection. Liars grant rights that
	 * they do not have, and say END while they still write.
	 */
	if (!right) {
		if (!liar_is(sim, from) && !liar_is(sim, to))
			sim_fail(sim, "node %u writes to node %u without a right", from, to);
		fabric_break(sim, from, to);
		return;
	}
	mem = right->mem;
	at = mem->at + ((u64)right->block << right->r->block_shift);
	for (i = 0; i < it->len; i++)
		mem->ring[(at + i) & mem->mask] = it->data[i];
	right->state = RIGHT_USED;
	sim->blocks++;
	spindle_rdmc_arrived(right->r, rank_of(right->r, from), right->g);
}

static void hear(struct spindle_rdmc *r, u32 from, struct item *it)
{
	struct node *node = node_of(r);

	if (liar_is(node->sim, from) && liar_talk(node, r, rank_of(r, from), &it->msg))
		of(r)->lied = r->cfg.life;
	spindle_rdmc_hear(r, rank_of(r, from), &it->msg);
}

static void lane_move(struct sim *sim, u32 from, u32 to)
{
	struct lane *lane = &sim->lanes->lane[from][to];
	struct item *it = take(&lane->queue);
	struct spindle_rdmc *r;

	/*
	 * An end that has lost the lane hears nothing on it. An end that has another lane by now
	 * hears nothing on the former one.
	 */
	if (connected(sim, from, to) && !sim->lanes->lane[to][from].lost && !lane->part_at) {
		if (it->kind == ITEM_WRITE)
			arrive(sim, from, to, it);
		r = it->kind == ITEM_MSG ? stream_of(sim, to, it->msg.to) : NULL;
		if (r && rank_of(r, from) < r->cfg.n && !r->m[rank_of(r, from)].lost)
			hear(r, from, it);
	}
	if (it->kind == ITEM_WRITE)
		report_written(sim, from, it);
	free(it);
}

static void device_tells(struct sim *sim, u32 index)
{
	struct item *it = take(&sim->lanes->device[index]);
	struct right *right = &sim->lanes->right[it->key];

	if (it->kind == ITEM_WRITTEN && it->mem)
		it->mem->writes--;
	if (it->r && it->kind == ITEM_WRITTEN)
		spindle_rdmc_written(it->r, it->object);
	if (it->r && it->kind == ITEM_REVOKED) {
		die(right);
		spindle_rdmc_revoked(it->r, rank_of(it->r, right->holder), right->g);
	}
	free(it);
}

/**
 * large_next() - when does the next item arrive by a lane or from a device?
 * @sim: the schedule
 * @from: out: the sending node, or the node of the device
 * @to: out: the receiving node; SIM_NODES: a device
 *
 * Return: when; U64_MAX: never
 */
u64 large_next(const struct sim *sim, u32 *from, u32 *to)
{
	u64 at = U64_MAX;
	u32 i, j, used;

	for (i = 0; sim->lanes && i < sim->nodes; i++) {
		const struct item *it = sim->lanes->device[i].head;

		if (it && it->at < at) {
			at = it->at;
			*from = i;
			*to = SIM_NODES;
		}
		for (used = sim->lanes->used[i]; used; used &= used - 1) {
			j = __builtin_ctz(used);
			it = sim->lanes->lane[i][j].queue.head;
			if (!it) {
				sim->lanes->used[i] &= ~BIT(j);
			} else if (it->at < at && !sim->link[i][j].blocked) {
				at = it->at;
				*from = i;
				*to = j;
			}
		}
	}
	return at;
}

void large_move(struct sim *sim, u32 from, u32 to)
{
	if (to == SIM_NODES)
		device_tells(sim, from);
	else
		lane_move(sim, from, to);
}

/* ---- lanes that break ------------------------------------------------------------------ */

/* The device is finished with the lane. */
static void flush_lane(struct sim *sim, u32 me, u32 to)
{
	struct lane *lane = &sim->lanes->lane[me][to];
	u32 k;

	while (lane->queue.n) {
		struct item *it = take(&lane->queue);

		if (it->kind == ITEM_WRITE)
			report_written(sim, me, it);
		free(it);
	}
	for (k = 0; k < sim->lanes->rights; k++) {
		struct right *right = &sim->lanes->right[k];

		if (right->owner == me && right->holder == to)
			die(right);
	}
}

/* All streams that use a lane learn of its state. */
static void tell_streams(struct node *node, u32 to, void (*tell)(struct spindle_rdmc *r, u32 m))
{
	u32 g, s, m;

	for (g = 0; g < SIM_GROUPS; g++) {
		struct large *lg = node->group[g].large;

		for (s = 0; lg && lg->ss.vid && s < lg->ss.mc->senders; s++) {
			m = rank_of(&lg->stream[s].r, to);
			if (m < lg->stream[s].r.cfg.n)
				tell(&lg->stream[s].r, m);
		}
	}
}

static void lose_lane(struct node *node, u32 to)
{
	node->sim->lanes->lane[node->index][to].lost = true;
	tell_streams(node, to, spindle_rdmc_lost);
	flush_lane(node->sim, node->index, to);
	tell_streams(node, to, spindle_rdmc_quiet);
}

/* A lane that comes up, between two lives. It carries nothing before the other end has it, too. */
static void renew_lane(struct node *node, struct lane *lane, u32 to)
{
	const struct lane *other = &node->sim->lanes->lane[to][node->index];

	*lane = (struct lane){
		.queue = lane->queue,
		.life = node->life[to],
		.own = node->inc,
		.last = max(node->sim->now, other->part_at),
	};
}

/* The lane is replaced for streams that may have another one. For the others it is lost. */
static void break_lane(struct spindle_rdmc *r, u32 m)
{
	if (spindle_rdmc_down(r, m))
		lane_to(r, m)->lost = false;
}

static void quiet_or_replace(struct spindle_rdmc *r, u32 m)
{
	if (r->m[m].lost)
		spindle_rdmc_quiet(r, m);
	else
		spindle_rdmc_replaced(r, m);
}

/* This end of a lane breaks, and the link between the two nodes does not. */
static void snap_end(struct node *node, u32 to)
{
	struct lane *lane = &node->sim->lanes->lane[node->index][to];

	lane->alone = true;
	lane->lost = true;
	lane->part_at = 0;
	tell_streams(node, to, break_lane);
	flush_lane(node->sim, node->index, to);
	tell_streams(node, to, quiet_or_replace);
	if (lane->lost)
		return;
	node->sim->renewed++;
	renew_lane(node, lane, to);
}

/* The other end of a lane breaks soon. Returns this end. */
static struct lane *break_other(struct node *node, u32 to)
{
	struct lanes *l = node->sim->lanes;
	struct lane *other = &l->lane[to][node->index];

	other->part_at = node->sim->now + 1 + rng_below(&l->rng, SIM_TIMEOUT / 4);
	return other;
}

/* A lane breaks. The other end learns the reason in most cases. */
static void snap(struct node *node, u32 to)
{
	struct lane *other = break_other(node, to);

	sim_say(node->sim, "node %u loses the lane to node %u", node->index, to);
	node->sim->snapped++;
	other->parted = rng_chance(&node->sim->lanes->rng, 70);
	snap_end(node, to);
}

/* Is there a stream that may use the lane, and has no stream used it? */
static bool is_idle(struct node *node, u32 to)
{
	bool any = false;
	u32 g, s, m;

	for (g = 0; g < SIM_GROUPS; g++) {
		struct large *lg = node->group[g].large;

		for (s = 0; lg && lg->ss.vid && s < lg->ss.mc->senders; s++) {
			const struct spindle_rdmc *r = &lg->stream[s].r;

			m = rank_of(r, to);
			if (m >= r->cfg.n)
				continue;
			if (r->state != SPINDLE_RDMC_S_OPEN || r->m[m].up || r->m[m].spoke ||
			    r->m[m].lost)
				return false;
			any = true;
		}
	}
	return any;
}

/*
 * The module closes a lane that no subgroup needs in a view, and the next view gets another one.
 * The other end may use the former lane again before it learns of that.
 */
static void close_idle(struct node *node, u32 to)
{
	struct sim *sim = node->sim;

	sim_say(sim, "node %u closes the lane to node %u", node->index, to);
	sim->idled++;
	break_other(node, to)->parted = true;
	flush_lane(sim, node->index, to);
	renew_lane(node, &sim->lanes->lane[node->index][to], to);
}

static void look_for_snaps(struct node *node, u32 to)
{
	struct sim *sim = node->sim;
	struct lane *lane = &sim->lanes->lane[node->index][to];
	u32 i;

	if (lane->lost || broken(sim, node->index, to))
		return;
	if (lane->part_at && lane->part_at <= sim->now) {
		snap_end(node, to);
		return;
	}
	for (i = 0; i < sim->lanes->snaps && !sim->quiet && !lane->part_at; i++) {
		struct snap *s = &sim->lanes->snap[i];

		if (s->node != node->index || s->to != to || s->at > sim->now ||
		    (s->idle && !is_idle(node, to)))
			continue;
		s->at = U64_MAX;
		if (s->idle)
			close_idle(node, to);
		else
			snap(node, to);
		return;
	}
}

/* Members cannot tell which of the two ends is at fault, so strict schedules have no such break. */
static void plan_snaps(struct sim *sim)
{
	struct lanes *l = sim->lanes;

	l->planned = true;
	if (sim->strict || !rng_chance(&sim->newer, 60))
		return;
	while (l->snaps < SNAPS)
		l->snap[l->snaps++] = (struct snap){
			.at = rng_below(&sim->newer, SIM_WILD),
			.node = rng_below(&sim->newer, sim->nodes),
			.to = rng_below(&sim->newer, sim->nodes),
			.idle = rng_chance(&sim->newer, 50),
		};
}

/* Lanes belong to two lives. A joiner that comes again gets new links and lanes. */
static void look_at_lanes(struct node *node)
{
	struct sim *sim = node->sim;
	u32 to;

	for (to = 0; to < sim->nodes; to++) {
		struct lane *lane = &sim->lanes->lane[node->index][to];

		if (to == node->index)
			continue;
		if (lane->life != node->life[to] || lane->own != node->inc ||
		    (lane->lost && !lane->alone && !broken(sim, node->index, to))) {
			if (!lane->lost)
				lose_lane(node, to);
			renew_lane(node, lane, to);
		}
		look_for_snaps(node, to);
		if (broken(sim, node->index, to))
			lane->alone = false;
		if (!lane->lost && broken(sim, node->index, to) &&
		    rng_chance(&sim->lanes->rng, 20)) {
			lane->parted = sim->link[node->index][to].closed;
			lose_lane(node, to);
		}
	}
}

/* ---- a node ------------------------------------------------------------------------------ */

static u8 *ring_of(const struct large *lg, u32 s)
{
	return lg->node->row[lg->of[s].node_of[0]] + SIM_PAY(lg->node->sim, lg->g);
}

/* The smallest power of two with which the largest message has at most BLOCKS blocks. */
static u32 block_of(const struct sim *sim)
{
	u32 block = MIN_BLOCK;

	while (block * BLOCKS < sim->max_msg)
		block <<= 1;
	return block;
}

static void give(struct large *lg, u32 s)
{
	struct spindle_stream *st = &lg->stream[s];
	struct sim *sim = lg->node->sim;
	struct mem *mem;

	if (!st->wanted)
		return;
	if (rng_chance(&sim->lanes->rng, 10)) {
		spindle_streams_give(&lg->ss, s, st->turn, NULL, NULL);
		op_want(&lg->ss, s);
		return;
	}
	if (st->len > sim->max_msg)
		sim_fail(sim, "node %u wants memory for %llu bytes", lg->node->index,
			 (unsigned long long)st->len);
	mem = calloc(1, sizeof(*mem));
	mem->ring = ring_of(lg, s);
	mem->mask = sim->ring - 1;
	mem->at = (st->unit << SPINDLE_UNIT_SHIFT) & mem->mask;
	mem->len = st->len;
	if (!spindle_streams_give(&lg->ss, s, st->turn, mem, &mem->have))
		free(mem);
}

/**
 * large_pass() - the part of an engine's pass that serves streams
 * @node: its node
 */
void large_pass(struct node *node)
{
	u32 g, s;

	if (!node->sim->lanes)
		return;
	if (!node->sim->lanes->planned)
		plan_snaps(node->sim);
	look_at_lanes(node);
	for (g = 0; g < SIM_GROUPS; g++) {
		struct large *lg = node->group[g].large;

		if (!lg)
			continue;
		if (lg->ask_at && lg->ask_at <= node->sim->now) {
			lg->ask_at = 0;
			for (s = 0; s < lg->ss.mc->senders; s++)
				give(lg, s);
		}
		if (spindle_streams_pass(&lg->ss, node->sim->now + 1) &&
		    lg->ss.mc->send.held == SPINDLE_HELD_PLACED)
			spindle_mg_touch(&node->mg, g);
	}
}

/**
 * large_new() - make the streams of a subgroup
 * @node: its node
 * @g: the subgroup
 * @mc: its protocol
 * @view: the view
 *
 * Return: streams that have not begun; NULL: there are no large messages
 */
struct spindle_streams *large_new(struct node *node, u32 g, struct spindle_mc *mc,
				  const struct spindle_view *view)
{
	struct large *lg;
	u32 s, m;

	if (!node->sim->large)
		return NULL;
	if (!node->sim->lanes) {
		node->sim->lanes = calloc(1, sizeof(struct lanes));
		node->sim->lanes->rng.state = rng_mix(node->sim->seed ^ 0x7777);
	}
	lg = calloc(1, sizeof(*lg));
	lg->node = node;
	lg->g = g;
	lg->ss.ops = &ops;
	lg->ss.mg = &node->mg;
	lg->ss.mc = mc;
	lg->ss.stream = lg->stream;
	spindle_streams_init(&lg->ss, view, g, block_of(node->sim));
	for (s = 0; s < mc->senders; s++) {
		lg->of[s].lg = lg;
		lg->of[s].s = s;
		lg->stream[s].r.ctx = &lg->of[s];
		for (m = 0; m < lg->stream[s].cfg.n; m++)
			lg->of[s].node_of[m] = lg->stream[s].cfg.member[m] - 1;
	}
	return &lg->ss;
}

/**
 * large_moving() - may blocks still come into rings?
 * @node: the node
 *
 * Return: the subgroups that have such streams, by index
 */
u64 large_moving(const struct node *node)
{
	u64 set = 0;
	u32 g;

	for (g = 0; g < SIM_GROUPS; g++)
		if (node->mg.streams[g] && !spindle_streams_quiet(node->mg.streams[g]))
			set |= BIT_ULL(g);
	return set;
}

/**
 * large_begin() - a subgroup goes on with these streams
 * @node: its node
 * @g: the subgroup
 * @ss: new ones, or NULL
 */
void large_begin(struct node *node, u32 g, struct spindle_streams *ss)
{
	large_end(node, g);
	if (!ss)
		return;
	node->group[g].large = (struct large *)ss;
	look_at_lanes(node);
}

/* The stream ends, so items that have not arrived lose it. */
static void forget_in(struct queue *q, const struct spindle_rdmc *r)
{
	struct item *it;

	for (it = q->head; it; it = it->next) {
		if (it->r != r)
			continue;
		it->r = NULL;
		it->mem = NULL;
	}
}

static void forget(struct sim *sim, u32 me, struct spindle_rdmc *r)
{
	struct lanes *l = sim->lanes;
	u64 o;
	u32 i, k;

	for (k = 0; k < l->rights; k++)
		if (l->right[k].r == r)
			die(&l->right[k]);
	for (i = 0; i < sim->nodes; i++)
		forget_in(&l->lane[me][i].queue, r);
	forget_in(&l->device[me], r);
	for (o = r->ended; o < r->announced; o++)
		free(spindle_rdmc_object(r, o)->mem);
}

/**
 * large_end() - a subgroup ends at a node
 * @node: its node
 * @g: the subgroup
 */
void large_end(struct node *node, u32 g)
{
	struct large *lg = node->group[g].large;
	u32 s;

	if (!lg)
		return;
	for (s = 0; s < lg->ss.mc->senders && lg->ss.vid; s++)
		forget(node->sim, node->index, &lg->stream[s].r);
	free(lg);
	node->group[g].large = NULL;
}

void large_close(struct sim *sim)
{
	struct lanes *l = sim->lanes;
	u32 i, j;

	if (!l)
		return;
	for (i = 0; i < sim->nodes; i++) {
		while (l->device[i].n)
			free(take(&l->device[i]));
		for (j = 0; j < sim->nodes; j++)
			while (l->lane[i][j].queue.n)
				free(take(&l->lane[i][j].queue));
	}
	free(l->right);
	free(l);
}
