// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block schedules: which member sends which block of a large object to which one. See schedule.h.
 *
 * The binomial pipeline is that of the paper, section 4.4. With l = floor(log2 n) the vertices of a
 * hypercube are 0 to 2^l - 1. In step j each vertex exchanges blocks with its neighbour in
 * dimension j mod l. Say that j is a vertex's own step if bit j mod l of its number is set. Then
 * the paper's formula comes to this:
 *
 *	- In an own step j, of which the next one is j', a vertex receives block
 *	  min(j' - l, k - 1), if j' >= l. In any other step j it receives block j - l, if
 *	  j >= l.
 *	- A vertex sends in step j what it has received in its last own step before j.
 *	  Blocks that it has received in other steps it never sends.
 *
 * The last step in which a block crosses from vertex to vertex is l + k - 2. The last own step up
 * to there brings block k - 1.
 *
 * If n is not a power of two, vertices 1 to n - 2^l have two seats, for ranks v and v + 2^l - 1.
 * The root is alone. Other vertices only need to know which seat to talk to. In each step one seat,
 * the receiver, receives from outside and sends to the other seat, which sends to the outside. The
 * seats swap roles after each own step: the seat that has received in that step has what the vertex
 * sends up to and including its next own step. The receiver passes blocks to the other seat by this
 * rule:
 *
 *	- In step j, l < j <= l + k - 1, the receiver sends block j - l - 1 to the other
 *	  seat. If j - 1 was not an own step, the receiver has just got that block in it.
 *	  If it was, the receiver has got the block in the own step before, after which it
 *	  had no turn.
 *	- In step l + k - 1, where nothing crosses any more, the other seat sends block
 *	  k - 1.
 *
 * So all members are done after l + k steps, which is ceil(log2 n) + k - 1. No schedule is shorter:
 * it takes k - 1 steps until the root sends the last block, and ceil(log2 n) until all have it.
 *
 * The receiver's seat is the parity of the number of own steps before j. Numbers of neighbours
 * differ in one bit, that of the dimension of the step. So the receivers of both have the same seat
 * if the dimensions have had an even number of whole laps, and else opposite ones. That is why a
 * walk needs no more than two bits to know all four seats.
 *
 * Context: any.
 */
#include "schedule.h"

/* ---- pipelines ------------------------------------------------------------------- */

static void cube_init(struct spindle_cube *c, u32 n, u32 blocks)
{
	memset(c, 0, sizeof(*c));
	c->dims = fls64(n) - 1;
	if (n == 1)
		return;
	c->cross = (u64)blocks + c->dims - 1;
	c->steps = c->cross + !is_power_of_2(n);
}

static u32 vertex_of(const struct spindle_cube *c, u32 rank)
{
	return rank >> c->dims ? rank + 1 - BIT(c->dims) : rank;
}

/* Set the own place; ranks are those of the pipeline. */
static void cube_enter(struct spindle_cube *c, u32 n, u32 rank)
{
	c->vertex = vertex_of(c, rank);
	c->seat = rank >> c->dims;
	c->shared = c->vertex && c->vertex + BIT(c->dims) <= n;
	/* Of two members, the one that is not the root could only send to the root. */
	c->sends = n > 2 || (n == 2 && !rank);
	c->recvs = rank;
}

/* Rank @at of the pipeline is member @rank. Seat 0 has to come before seat 1. */
static void cube_meet(struct spindle_cube *c, u32 at, u32 rank)
{
	u32 seat = at >> c->dims, away = vertex_of(c, at) ^ c->vertex;

	if (!away && seat != c->seat)
		c->mate = rank;
	if (!is_power_of_2(away))
		return;
	c->peer[fls64(away) - 1][1] = rank;
	if (!seat)
		c->peer[fls64(away) - 1][0] = rank;
}

/* A pipeline whose ranks are those of the schedule. */
static void cube_flat(struct spindle_cube *c, u32 n, u32 rank, u32 blocks)
{
	u32 d, v;

	cube_init(c, n, blocks);
	cube_enter(c, n, rank);
	if (c->shared)
		c->mate = c->seat ? c->vertex : c->vertex + BIT(c->dims) - 1;
	for (d = 0; d < c->dims; d++) {
		v = c->vertex ^ BIT(d);
		cube_meet(c, v, v);
		if (v && v + BIT(c->dims) <= n)
			cube_meet(c, v + BIT(c->dims) - 1, v + BIT(c->dims) - 1);
	}
}

/* The first block comes to a vertex in the dimension of its highest bit. */
static void cube_begin(struct spindle_walk *w, const struct spindle_cube *c)
{
	u64 vertex = c->vertex;

	w->dim = vertex ? fls64(vertex) - 1 : 0;
	w->step = w->dim;
	w->lap = 0;
	w->turn = vertex ? (hweight64(vertex) - 1) & 1 : 0;
}

static void cube_next(struct spindle_walk *w, const struct spindle_cube *c)
{
	w->turn ^= (c->vertex >> w->dim) & 1;
	w->step++;
	if (++w->dim == c->dims) {
		w->dim = 0;
		w->lap ^= 1;
	}
}

/* Is the next step one between the two seats of the own vertex? */
static bool cube_inside(const struct spindle_walk *w, const struct spindle_cube *c, bool send)
{
	return c->shared && (w->turn == c->seat) == send;
}

/* The member at the other end of a step between vertices. */
static u32 cube_peer(const struct spindle_walk *w, const struct spindle_cube *c, bool send)
{
	/* Send to the receiver of the neighbour, and receive from its other seat. */
	return c->peer[w->dim][w->turn ^ w->lap ^ !send];
}

/* Steps from the next one on until an own one of @vertex; the root has no own step. */
static u32 cube_ahead(const struct spindle_walk *w, const struct spindle_cube *c, u32 vertex)
{
	if (vertex >> w->dim)
		return __ffs64(vertex >> w->dim);
	return vertex ? c->dims - w->dim + __ffs64(vertex) : c->dims;
}

/* Go to the next step in which there is something to do, and leave the walk behind it. */
static bool cube_hop(struct spindle_walk *w, const struct spindle_cube *c, u32 blocks, bool send,
		     struct spindle_hop *hop)
{
	while (w->step <= c->cross) {
		u32 near = c->vertex ^ BIT(w->dim), from = send ? c->vertex : near;
		u64 at = w->step, block;
		u32 peer = c->mate;
		bool found;

		if (cube_inside(w, c, send)) {
			found = at > c->dims;
			block = at - c->dims - 1;
		} else if (at == c->cross) {
			found = c->shared;
			block = blocks - 1;
		} else {
			u64 own = at + cube_ahead(w, c, from);

			found = own >= c->dims && !(send && !near);
			block = min_t(u64, own - c->dims, blocks - 1);
			peer = cube_peer(w, c, send);
		}
		cube_next(w, c);
		if (!found)
			continue;
		hop->step = c->begin + at;
		hop->peer = peer;
		hop->block = block;
		return true;
	}
	return false;
}

/* Seats repeat after two laps, so the peers of two laps are all peers. */
static u64 cube_peers(const struct spindle_cube *c, bool send)
{
	struct spindle_walk w = { .step = 0 };
	u64 mask = 0;

	if (!(send ? c->sends : c->recvs))
		return 0;
	while (w.step < 2 * c->dims) {
		if (cube_inside(&w, c, send))
			mask |= BIT_ULL(c->mate);
		else if (!send || c->vertex != BIT(w.dim))
			mask |= BIT_ULL(cube_peer(&w, c, send));
		cube_next(&w, c);
	}
	return mask;
}

/* ---- racks ------------------------------------------------------------------------ */

static bool same_rack(const u16 *rack, u32 a, u32 b)
{
	return a == b || (rack && rack[a] == rack[b] && rack[a] != SPINDLE_NO_RACK);
}

/* The lowest rank of a rack leads it, so the root leads its own rack. */
static bool leads(const u16 *rack, u32 rank)
{
	u32 r;

	for (r = 0; r < rank; r++)
		if (same_rack(rack, r, rank))
			return false;
	return true;
}

/* How many of the ranks below @end are in the rack of @rank. */
static u32 in_rack(const u16 *rack, u32 rank, u32 end)
{
	u32 r, count = 0;

	for (r = 0; r < end; r++)
		count += same_rack(rack, r, rank);
	return count;
}

static void hybrid_init(struct spindle_schedule *s, const u16 *rack)
{
	struct spindle_cube *top = &s->cube[0], *own = &s->cube[1];
	u32 r, at, racks = 0, my_rack = 0, largest = 1;
	u32 below = in_rack(rack, s->rank, s->rank), size = in_rack(rack, s->rank, s->n);

	for (r = 0; r < s->n; r++) {
		if (!leads(rack, r))
			continue;
		if (r < s->rank)
			my_rack++;
		racks++;
		largest = max(largest, in_rack(rack, r, s->n));
	}
	cube_init(top, racks, s->blocks);
	/* The second level takes as many steps in all racks as in the largest one. */
	cube_init(own, largest, s->blocks);
	s->steps = top->steps + own->steps;
	cube_init(own, size, s->blocks);
	own->begin = top->steps;
	cube_enter(own, size, below);
	for (r = 0, at = 0; r < s->n; r++)
		if (same_rack(rack, r, s->rank))
			cube_meet(own, at++, r);
	if (below)
		return;
	cube_enter(top, racks, my_rack);
	for (r = 0, at = 0; r < s->n; r++)
		if (leads(rack, r))
			cube_meet(top, at++, r);
}

/* ---- sequential, chain and tree --------------------------------------------------- */

/* The member that gets all blocks after @peer has got them; @n: none. */
static u32 next_target(const struct spindle_schedule *s, u32 peer)
{
	switch (s->algorithm) {
	case SPINDLE_ALG_SEQUENTIAL:
		return peer + 1;
	case SPINDLE_ALG_TREE:
		return min(2 * peer - s->rank, s->n);
	default:
		return s->n;
	}
}

/* ---- schedules --------------------------------------------------------------------- */

static bool in_cubes(const struct spindle_schedule *s)
{
	return s->algorithm == SPINDLE_ALG_PIPELINE || s->algorithm == SPINDLE_ALG_HYBRID;
}

/**
 * spindle_schedule_init() - work out a schedule
 * @s: out
 * @algorithm: enum spindle_algorithm
 * @n: members, 1 to SPINDLE_SCHEDULE_MAX; rank 0 is the root
 * @rank: own, below @n
 * @blocks: at least one
 * @rack: label of each rank's rack, SPINDLE_NO_RACK for one of its own; only hybrid looks at
 *	it, and not later than here; NULL: all have racks of their own
 *
 * All members have to give the same, but for @rank. Takes time of O(log n); hybrid, which
 * compares all racks with each other, of O(n^2).
 */
void spindle_schedule_init(struct spindle_schedule *s, u32 algorithm, u32 n, u32 rank,
			   u32 blocks, const u16 *rack)
{
	u32 stage = fls64(rank);

	memset(s, 0, sizeof(*s));
	s->algorithm = algorithm;
	s->n = n;
	s->rank = rank;
	s->blocks = blocks;
	s->target = n;
	if (n == 1 && !in_cubes(s))
		return;
	switch (algorithm) {
	case SPINDLE_ALG_PIPELINE:
		cube_flat(&s->cube[0], n, rank, blocks);
		s->steps = s->cube[0].steps;
		break;
	case SPINDLE_ALG_SEQUENTIAL:
		s->steps = (u64)blocks * (n - 1);
		s->first_recv = rank ? (u64)blocks * (rank - 1) : 0;
		s->target = rank ? n : 1;
		break;
	case SPINDLE_ALG_CHAIN:
		s->steps = (u64)blocks + n - 2;
		s->first_recv = rank ? rank - 1 : 0;
		s->first_send = rank;
		s->source = rank ? rank - 1 : 0;
		s->target = rank + 1;
		break;
	case SPINDLE_ALG_TREE:
		/* The number of members that have the object doubles in each stage. */
		s->steps = (u64)blocks * fls64(n - 1);
		s->first_recv = rank ? (u64)blocks * (stage - 1) : 0;
		s->first_send = (u64)blocks * stage;
		s->source = rank ? rank - BIT(stage - 1) : 0;
		s->target = min_t(u32, rank + BIT(stage), n);
		break;
	case SPINDLE_ALG_HYBRID:
		hybrid_init(s, rack);
		break;
	}
}

/**
 * spindle_schedule_steps() - number of steps
 * @s: schedule
 *
 * Return: the last step in use, plus one, the same for all members; 0 for one member
 */
u64 spindle_schedule_steps(const struct spindle_schedule *s)
{
	return s->steps;
}

/**
 * spindle_schedule_sources() - members that may send to this member
 * @s: schedule of at most 64 members
 *
 * The mask does not depend on the number of blocks: if there are few, some of these members have
 * none to send.
 *
 * Return: mask of ranks; 0 if there are more than 64 members
 */
u64 spindle_schedule_sources(const struct spindle_schedule *s)
{
	if (s->n > 64)
		return 0;
	if (in_cubes(s))
		return cube_peers(&s->cube[0], false) | cube_peers(&s->cube[1], false);
	return s->rank ? BIT_ULL(s->source) : 0;
}

/**
 * spindle_schedule_targets() - members that this member may send to
 * @s: schedule of at most 64 members
 *
 * The mask does not depend on the number of blocks, like that of spindle_schedule_sources().
 *
 * Return: mask of ranks; 0 if there are more than 64 members
 */
u64 spindle_schedule_targets(const struct spindle_schedule *s)
{
	u64 mask = 0;
	u32 r;

	if (s->n > 64)
		return 0;
	if (in_cubes(s))
		return cube_peers(&s->cube[0], true) | cube_peers(&s->cube[1], true);
	for (r = s->target; r < s->n; r = next_target(s, r))
		mask |= BIT_ULL(r);
	return mask;
}

/**
 * spindle_walk_begin() - go to the first step
 * @w: out
 * @s: schedule
 *
 * From there on a walk is for spindle_walk_send() or for spindle_walk_recv(), not for both.
 */
void spindle_walk_begin(struct spindle_walk *w, const struct spindle_schedule *s)
{
	memset(w, 0, sizeof(*w));
	if (in_cubes(s)) {
		cube_begin(w, &s->cube[0]);
		return;
	}
	w->step = s->first_send;
	w->peer = s->target;
}

static bool walk_cubes(struct spindle_walk *w, const struct spindle_schedule *s, bool send,
		       struct spindle_hop *hop)
{
	const struct spindle_cube *c;

	while (w->level < 2) {
		c = &s->cube[w->level];
		/*
		 * Skip the walk if no step has anything for this member, instead of going through
		 * all steps.
		 */
		if ((send ? c->sends : c->recvs) && cube_hop(w, c, s->blocks, send, hop))
			return true;
		if (++w->level < 2)
			cube_begin(w, &s->cube[w->level]);
	}
	return false;
}

/**
 * spindle_walk_send() - the next send of this member, in the order of steps
 * @w: a walk through the sends
 * @s: schedule
 * @hop: out: block, and the member to send it to
 *
 * Return: whether there is one; @hop is left alone if not
 */
bool spindle_walk_send(struct spindle_walk *w, const struct spindle_schedule *s,
		       struct spindle_hop *hop)
{
	if (in_cubes(s))
		return walk_cubes(w, s, true, hop);
	if (w->peer >= s->n)
		return false;
	hop->step = w->step++;
	hop->peer = w->peer;
	hop->block = w->block++;
	if (w->block == s->blocks) {
		w->block = 0;
		w->peer = next_target(s, w->peer);
	}
	return true;
}

/**
 * spindle_walk_recv() - the next receive of this member, in the order of steps
 * @w: a walk through the receives
 * @s: schedule
 * @hop: out: block, and the member that sends it
 *
 * Return: whether there is one; @hop is left alone if not
 */
bool spindle_walk_recv(struct spindle_walk *w, const struct spindle_schedule *s,
		       struct spindle_hop *hop)
{
	if (in_cubes(s))
		return walk_cubes(w, s, false, hop);
	if (!s->rank || w->block == s->blocks)
		return false;
	hop->step = s->first_recv + w->block;
	hop->peer = s->source;
	hop->block = w->block++;
	return true;
}
