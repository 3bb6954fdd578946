// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes wrong in a schedule, and when. See sim.h.
 */
#include "sim.h"

/*
 * A member leaves, and those that can be spared die while the others agree on it: between
 * an echo and the commit, before and behind the install.
 */
static void plan_storm(struct sim *sim, u64 bad)
{
	u32 n = 0;

	sim->fault[n++] = (struct fault){
		.at = 2000 + rng_below(&sim->rng, 2000),
		.kind = FAULT_LEAVE,
		.node = fls64(bad) - 1,
	};
	for (bad &= ~BIT_ULL(fls64(bad) - 1); bad && n < SIM_FAULTS; bad &= bad - 1)
		sim->fault[n++] = (struct fault){
			.at = 1000,
			.kind = FAULT_CRASH,
			.node = __ffs64(bad),
			.state = SPINDLE_MB_ECHOED + rng_below(&sim->rng, 2),
			.len = 1 + rng_below(&sim->rng, 3 * sim->nodes),
		};
	sim->faults = n;
}

/*
 * A node pauses, and becomes deaf during the pause. When it runs again it forgives all silence. It
 * learns that its connections broke before it can notice that it hears no member.
 */
static void plan_sleeper(struct sim *sim, u64 bad)
{
	u64 at = rng_below(&sim->rng, SIM_WILD / 2);
	u64 len = SIM_TIMEOUT / 2 + rng_below(&sim->rng, SIM_TIMEOUT / 2);

	sim->fault[0] = (struct fault){
		.at = at,
		.len = len,
		.kind = FAULT_PAUSE,
		.node = __ffs64(bad),
	};
	sim->fault[1] = (struct fault){
		.at = at + rng_below(&sim->rng, len / 2),
		.len = U64_MAX / 2,
		.kind = FAULT_DEAF,
		.node = __ffs64(bad),
	};
	sim->faults = 2;
}

/*
 * The second node commits with all members but one, which it has just begun to suspect. It dies
 * with the leader before any other member learns of that. The others must agree on the decree that
 * this node has installed, although one of them has not accepted it. The decree is about a leaver,
 * or has other rules.
 */
static void plan_secret(struct sim *sim)
{
	bool rules = rng_mix(sim->seed ^ 0xcccc) % 2;
	u32 n = sim->nodes - sim->late, i;

	/* The late writes of these nodes are lost when the nodes die. */
	sim->link[0][3].slow = 3000;
	for (i = 2; i < sim->nodes; i++)
		sim->link[1][i].slow = 3000;
	sim->fault[0] = (struct fault){
		.at = 2000 + rng_below(&sim->rng, 2000),
		.kind = rules ? FAULT_RULES : FAULT_LEAVE,
		.node = n - 1,
	};
	sim->fault[1] = (struct fault){
		.at = 1000,
		.kind = FAULT_CRASH,
		.node = 0,
		.state = SPINDLE_MB_ECHOED,
		.len = n + rng_below(&sim->rng, 4 * n),
	};
	sim->fault[2] = (struct fault){
		.at = 1000,
		.kind = FAULT_EVICT,
		.node = 3,
		.by = 1,
		.half = 1,
		.state = SPINDLE_MB_ECHOED,
	};
	sim->fault[3] = (struct fault){
		.at = 1000,
		.kind = FAULT_CRASH,
		.node = 1,
		.state = SPINDLE_MB_STATES,
		.len = 1 + rng_below(&sim->rng, n),
	};
	sim->faults = 4;
}

/*
 * In most schedules faults hit fewer than half of the nodes: the others have to go on, whatever
 * happens to the faulty ones. In the rest any fault hits any node. There no false message may be
 * delivered, and the schedule must come to an end.
 */
static void plan_fault(struct sim *sim, struct fault *f, bool strict, u64 bad)
{
	do {
		f->node = rng_below(&sim->rng, sim->nodes - sim->late);
	} while (!(bad & BIT_ULL(f->node)));
	/* Prefer the leader, or the next one. */
	if (bad & 3 && rng_chance(&sim->rng, 40))
		f->node = __ffs64(bad);
	f->kind = rng_chance(&sim->rng, 40) ? FAULT_CRASH : rng_below(&sim->rng, FAULT_BACK + 1);
	/* No single node is at fault in a split. */
	if (f->kind == FAULT_JOIN || f->kind == FAULT_BACK ||
	    (strict && f->kind == FAULT_SPLIT))
		f->kind = FAULT_CRASH;
	f->at = rng_below(&sim->rng, SIM_WILD);
	/* Faults often come together. */
	if (f != sim->fault && rng_chance(&sim->rng, 50))
		f->at = f[-1].at + rng_below(&sim->rng, 1500);
	f->len = SIM_TIMEOUT / 10 + rng_below(&sim->rng, 3 * SIM_TIMEOUT);
	f->half = f->kind == FAULT_SPLIT ? rng_u64(&sim->rng) : 0;
	/* The node crashes between any two writes, mostly during one change of the view. */
	if (f->kind == FAULT_CRASH && rng_chance(&sim->rng, 50))
		f->state = SPINDLE_MB_WEDGED + rng_below(&sim->rng, 4);
	if (f->kind == FAULT_CRASH)
		f->len = 1 + rng_below(&sim->rng, f->state ? 3 * sim->nodes : 300);
	do {
		f->by = rng_below(&sim->rng, sim->nodes);
	} while (f->by == f->node);
}

static bool of_links(const struct fault *f)
{
	return f->kind == FAULT_CUT || f->kind == FAULT_DEAF || f->kind == FAULT_MUTE ||
	       f->kind == FAULT_SPLIT;
}

/* Strict schedules have no fault that members cannot tell from the fault of another node. */
static void make_strict(struct sim *sim)
{
	bool links = false;
	u32 i;

	for (i = 0; i < sim->faults; i++) {
		struct fault *f = &sim->fault[i];

		/*
		 * Members cannot tell a node that they do not hear from a dead one. If they hear
		 * the node again after a while, it may have lost others by then, and one side has
		 * to go. So the fault lasts for ever.
		 */
		if (of_links(f))
			f->len = U64_MAX / 2;
		links |= of_links(f);
		/* A deaf node does not read that it is evicted. */
		if (links && f->kind == FAULT_EVICT)
			f->kind = FAULT_PAUSE;
		/* A freeze hides which other node is silent. */
		if (f->kind == FAULT_FREEZE) {
			sim->fault[0] = *f;
			sim->faults = 1;
		}
	}
}

/* Nodes join, some of them together, and half of them crash early. */
static void plan_joins(struct sim *sim)
{
	bool together = rng_chance(&sim->newer, 50);
	u64 at = 0;
	u32 i;

	for (i = sim->nodes - sim->late; i < sim->nodes && sim->faults + 2 <= SIM_FAULTS; i++) {
		u64 alone = rng_below(&sim->rng, SIM_WILD);

		at = at && together ? at + rng_below(&sim->newer, SIM_TIMEOUT) : alone;
		sim->fault[sim->faults++] = (struct fault){
			.at = at,
			.kind = FAULT_JOIN,
			.node = i,
		};
		sim->node[i].disturbed = true;
		/* Each joiner counts for the majority that strict schedules need. */
		if (rng_chance(&sim->rng, 50) && (!sim->strict || sim->late == 1))
			sim->fault[sim->faults++] = (struct fault){
				.at = 1,
				.kind = FAULT_CRASH,
				.node = i,
				.len = 1 + rng_below(&sim->rng, 100),
			};
	}
}

/*
 * A connection between two members breaks, or one between a member and a node that is joining. The
 * members cannot tell which of the two is at fault, so strict schedules do not have this fault.
 */
static void plan_links(struct sim *sim)
{
	u32 n = sim->strict || rng_chance(&sim->draw, 50) ? 0 : 1 + rng_below(&sim->draw, 2);

	for (; n && sim->faults < SIM_FAULTS; n--) {
		struct fault *f = &sim->fault[sim->faults++];

		*f = (struct fault){
			.at = rng_below(&sim->draw, SIM_WILD),
			.kind = FAULT_LINK,
			.node = rng_below(&sim->draw, sim->nodes),
		};
		/* Most of these faults come while the view changes because of the fault before. */
		if (sim->faults > 1 && rng_chance(&sim->draw, 70))
			f->at = f[-1].at + rng_below(&sim->draw, 1500);
		if (sim->late && rng_chance(&sim->draw, 50))
			f->node = sim->nodes - 1;
		do {
			f->by = rng_below(&sim->draw, sim->nodes);
		} while (f->by == f->node);
	}
}

/*
 * A node that has crashed or had to go may come back, while the others are still removing it or
 * later.
 */
static void plan_returns(struct sim *sim)
{
	u32 n = sim->faults, i;

	for (i = 0; i < n && sim->faults < SIM_FAULTS; i++) {
		const struct fault *f = &sim->fault[i];
		bool joiner = f->node >= sim->nodes - sim->late;

		if (f->kind == FAULT_JOIN || f->kind == FAULT_SPLIT || f->kind == FAULT_LINK ||
		    f->kind == FAULT_RULES || rng_chance(&sim->rng, joiner ? 20 : 60))
			continue;
		/* A joiner crashes after its join, whose fault stands before the crash. */
		sim->fault[sim->faults++] = (struct fault){
			.at = f[joiner ? -1 : 0].at +
			      rng_below(&sim->rng, rng_chance(&sim->rng, 50) ? SIM_WILD :
									  SIM_TIMEOUT),
			.kind = FAULT_BACK,
			.node = f->node,
		};
	}
}

/*
 * If a view needs no majority, nodes that do not hear each other become two groups. So nodes only
 * crash and leave. All nodes but one may do so.
 */
static void plan_any(struct sim *sim)
{
	u32 old = sim->nodes - sim->late, stays = rng_below(&sim->newer, old), n, i;

	sim->any = sim->strict && !sim->liar && old > 1 && rng_chance(&sim->newer, 15);
	if (!sim->any)
		return;
	for (i = 0; i < sim->nodes; i++) {
		sim->node[i].mb.any = true;
		sim->node[i].disturbed = i != stays;
	}
	sim->faults = 0;
	for (n = 1 + rng_below(&sim->newer, SIM_FAULTS / 2); n; n--) {
		struct fault *f = &sim->fault[sim->faults];

		*f = (struct fault){
			.at = rng_below(&sim->newer, SIM_WILD),
			.kind = rng_chance(&sim->newer, 80) ? FAULT_CRASH : FAULT_LEAVE,
			.node = rng_below(&sim->newer, old),
			.len = 1 + rng_below(&sim->newer, 300),
		};
		if (f->kind == FAULT_CRASH && rng_chance(&sim->newer, 50))
			f->state = SPINDLE_MB_WEDGED + rng_below(&sim->newer, 4);
		sim->faults += f->node != stays;
	}
}

/* An administrator wants other subgroups, mostly while the view changes. */
static void plan_rules(struct sim *sim)
{
	u32 n = rng_chance(&sim->newer, 40) ? 1 + rng_below(&sim->newer, SIM_WANTS - 1) : 0;

	for (; n; n--) {
		struct fault *f = &sim->fault[sim->faults++];

		*f = (struct fault){
			.at = rng_below(&sim->newer, SIM_WILD),
			.kind = FAULT_RULES,
			.node = rng_below(&sim->newer, sim->nodes - sim->late),
		};
		if (sim->faults > 1 && rng_chance(&sim->newer, 50))
			f->at = f[-1].at + rng_below(&sim->newer, 1500);
	}
}

/*
 * An administrator stops a node that joins, or the node has no memory for the view. Each joiner
 * counts for the majority that strict schedules need, as in plan_joins().
 */
static void plan_stop(struct sim *sim)
{
	struct rng rng = { rng_mix(sim->seed ^ 0xdddd) };

	if (!sim->late || (sim->strict && sim->late > 1) || !rng_chance(&rng, 20))
		return;
	sim->fault[sim->faults++] = (struct fault){
		.at = rng_below(&rng, SIM_WILD),
		.kind = FAULT_STOP,
		.node = sim->nodes - 1 - rng_below(&rng, sim->late),
		.half = rng_chance(&rng, 50),
	};
}

/* Choose the faults of this schedule. */
void fault_plan(struct sim *sim)
{
	u32 old = sim->nodes - sim->late, few = (old - 1) / 2, i;
	bool strict = sim->strict;
	u64 bad = 0;

	/* Joiners may die, too. */
	few -= min(few, sim->late);
	/* Leaders often have faults, because leaders have the most to do. */
	while (strict && hweight64(bad) < few)
		bad |= BIT_ULL(rng_below(&sim->rng, rng_chance(&sim->rng, 50) ? few : old));
	if (!strict)
		bad = BIT_ULL(old) - 1;
	sim->faults = bad ? rng_below(&sim->rng, rng_chance(&sim->rng, 80) ? 4 :
				      SIM_FAULTS - 4) : 0;
	for (i = 0; i < sim->faults; i++)
		plan_fault(sim, &sim->fault[i], strict, bad);
	for (i = 0; i < sim->nodes; i++)
		sim->node[i].disturbed = bad & BIT_ULL(i);
	if (strict)
		make_strict(sim);
	if (strict && bad && rng_chance(&sim->rng, 30))
		plan_storm(sim, bad);
	/* These faults are drawn from another hash, so that most seeds keep their schedules. */
	if (strict && bad && rng_mix(~sim->seed) % 8 == 1)
		plan_sleeper(sim, bad);
	if (!strict && old >= 6 && rng_chance(&sim->rng, 50))
		plan_secret(sim);
	plan_any(sim);
	plan_joins(sim);
	plan_links(sim);
	plan_returns(sim);
	plan_rules(sim);
	plan_stop(sim);
}

static void split(struct sim *sim, const struct fault *f, bool blocked)
{
	u32 i, j;

	for (i = 0; i < sim->nodes; i++)
		for (j = 0; j < sim->nodes; j++)
			if (i != f->node && j != f->node && f->half & BIT_ULL(i) &&
			    !(f->half & BIT_ULL(j))) {
				fabric_block(sim, i, j, blocked);
				fabric_block(sim, j, i, blocked);
			}
}

static void block(struct sim *sim, const struct fault *f, bool blocked)
{
	u32 i;

	if (f->kind == FAULT_SPLIT) {
		split(sim, f, blocked);
		return;
	}
	for (i = 0; i < sim->nodes; i++) {
		if (i == f->node)
			continue;
		if (f->kind != FAULT_MUTE)
			fabric_block(sim, i, f->node, blocked);
		if (f->kind != FAULT_DEAF)
			fabric_block(sim, f->node, i, blocked);
	}
}

/* The other nodes learn of the stop as they do in the module: the connections are closed. */
static void stop_joiner(struct node *node)
{
	u32 i;

	node->mb.leaving = true;
	spindle_mb_stop(&node->mb, SPINDLE_MB_LEFT);
	for (i = 0; i < node->sim->nodes; i++)
		if (i != node->index)
			fabric_cut(node->sim, node->index, i);
}

static void begin_fault(struct sim *sim, struct fault *f)
{
	struct node *node = &sim->node[f->node], *by = &sim->node[f->by];
	int rank;
	u32 i;

	sim_say(sim, "fault %u of node %u by %u, length %llu", f->kind, f->node, f->by,
		(unsigned long long)f->len);
	f->done = true;
	sim->happened[f->kind] += f->kind != FAULT_BACK;
	switch (f->kind) {
	case FAULT_CRASH:
		node->crash_after = f->len;
		node->crash_in = f->state;
		break;
	case FAULT_PAUSE:
		node->awake_at = sim->now + f->len;
		break;
	case FAULT_FREEZE:
		for (i = 0; i < sim->nodes; i++)
			sim->node[i].awake_at = sim->now + f->len +
						rng_below(&sim->rng, SIM_INTERVAL);
		break;
	case FAULT_JOIN:
		if (!node->crashed)
			node_join(node);
		break;
	case FAULT_BACK:
		sim->happened[f->kind] += node_back(node);
		break;
	case FAULT_LEAVE:
		if (node_up(node) && node->mg.formed)
			spindle_mb_leave(&node->mb);
		break;
	case FAULT_EVICT:
		rank = spindle_view_rank(spindle_mb_view(&by->mb), f->node + 1);
		if (f->half) {
			fabric_block(sim, f->node, f->by, true);
			fabric_block(sim, f->by, f->node, true);
		}
		if (node_up(by) && rank >= 0)
			spindle_mb_suspect(&by->mb, rank, SPINDLE_MB_ADMIN);
		break;
	case FAULT_LINK:
		fabric_break(sim, f->node, f->by);
		break;
	case FAULT_RULES:
		rules_want(node);
		break;
	case FAULT_STOP:
		if (f->half)
			node->poor = true;
		else
			stop_joiner(node);
		break;
	default:
		block(sim, f, true);
		break;
	}
}

static bool is_due(const struct sim *sim, const struct fault *f)
{
	const struct node *node = &sim->node[f->node];

	if (f->kind == FAULT_STOP)
		return sim->now >= f->at && node->started && !node->crashed &&
		       node->mb.state == SPINDLE_MB_JOINING;
	return sim->now >= f->at &&
	       (f->kind != FAULT_EVICT || sim->node[f->by].mb.state >= f->state);
}

/*
 * Begin the faults that are due, and heal those that are over. With @all_heal all heal, and none
 * begins.
 */
void fault_run(struct sim *sim, bool all_heal)
{
	u32 i;

	for (i = 0; i < sim->faults; i++) {
		struct fault *f = &sim->fault[i];

		if (!f->done && !all_heal && !(sim->skip & BIT_ULL(i)) && is_due(sim, f))
			begin_fault(sim, f);
		if (!f->done || f->healed)
			continue;
		if (sim->now < f->at + f->len && !(all_heal && f->len < SIM_CALM))
			continue;
		f->healed = true;
		if (of_links(f))
			block(sim, f, false);
	}
}
