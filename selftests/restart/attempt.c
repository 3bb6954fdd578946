// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attempts to restart. A node that does not run asks the others for promises and reports, makes a
 * proposal, asks for votes, and says that the restart stands. All messages are encoded, and come
 * late, twice, or never.
 */
#include <string.h>

#include "sim.h"

#define BIT32(i) (1U << (i))
#define ID(j) ((j) + 1)

/* ---- what a node reports -------------------------------------------------------------- */

void attempt_fill_view(const struct sim *sim, u32 s, int v, struct spindle_restart_view *to)
{
	const struct sview *view = &sim->view[s][v];
	u32 j;

	to->id = view->id;
	to->origin = view->origin;
	to->base = view->base;
	to->members = 0;
	for (j = 0; j < sim->nodes; j++)
		if (view->members & BIT32(j))
			to->node[to->members++] = ID(j);
}

void attempt_fill_log(const struct sim *sim, u32 j, u32 s, struct spindle_restart_log *log)
{
	const struct node_log *from = &sim->node[j].log[s];
	u32 i, epochs = 0, skip;

	for (i = 0; i < from->len; i++)
		epochs += !i || from->seq[i] != from->seq[i - 1];
	skip = epochs > SPINDLE_RESTART_EPOCHS ? epochs - SPINDLE_RESTART_EPOCHS : 0;
	log->missing = false;
	log->whole = !skip;
	log->end = from->len;
	log->good = from->len - from->damaged;
	log->epochs = 0;
	for (i = 0; i < from->len; i++) {
		if (i && from->seq[i] == from->seq[i - 1])
			continue;
		if (skip) {
			skip--;
			continue;
		}
		log->epoch[log->epochs++] = (struct spindle_restart_epoch){
			.id = sim->view[s][from->seq[i]].id, .lsn = i };
	}
}

static void fill_part(const struct sim *sim, u32 j, u32 s, struct spindle_restart_part *part)
{
	const struct list *record = &sim->node[j].record[s];
	u32 i;

	part->id = 10 + s;
	part->shard = 0;
	part->majority = sim->majority[s];
	part->member = sim->config[s] >> j & 1;
	part->record.known = record->known;
	part->record.views = record->n;
	for (i = 0; i < record->n; i++)
		attempt_fill_view(sim, s, record->view[i], &part->record.view[i]);
	part->path = (struct spindle_restart_path){ .whole = true };
	if (record->n)
		part->path = sim->view[s][record->view[record->n - 1]].path;
	attempt_fill_log(sim, j, s, &part->log);
	part->log.missing = !part->member;
}

void attempt_fill_report(const struct sim *sim, u32 j, struct spindle_restart_report *report)
{
	u32 s;

	report->node = ID(j);
	memset(report->address, 0, sizeof(report->address));
	report->address[0] = (char)('a' + j);
	report->lineage[0] = 7;
	report->lineage[1] = 8;
	report->parts = sim->subs;
	for (s = 0; s < sim->subs; s++)
		fill_part(sim, j, s, &report->part[s]);
	spindle_restart_tell(sim->node[j].voter, report);
}

/* ---- disk and network ------------------------------------------------------------------ */

void attempt_save(struct sim *sim, u32 j)
{
	struct node *node = &sim->node[j];

	node->votes_len = spindle_restart_put_voter(node->voter, sim->buf, SPINDLE_RESTART_BYTES);
	if (!node->votes_len)
		sim_fail(sim, "the votes of node %u have no room", j);
	node->votes = realloc(node->votes, node->votes_len + 1);
	memcpy(node->votes, sim->buf, node->votes_len);
}

static void drop(struct sim *sim, u32 m)
{
	free(sim->message[m].bytes);
	sim->message[m] = sim->message[--sim->messages];
}

static void send_to(struct sim *sim, enum type type, u32 from, u32 to, u32 a, size_t len)
{
	struct message *m;

	if (rng_chance(&sim->rng, sim->chance_lost))
		return;
	if (sim->messages == MESSAGES)
		drop(sim, rng_below(&sim->rng, MESSAGES));
	m = &sim->message[sim->messages++];
	*m = (struct message){ .type = type, .from = from, .to = to, .attempt = a, .len = len };
	m->bytes = malloc(len + 1);
	memcpy(m->bytes, sim->buf, len);
}

/* Do what the voter says. Returns false if the answer is no, or if the node crashes first. */
static bool settle(struct sim *sim, u32 j, enum spindle_restart_vote vote)
{
	if (vote == SPINDLE_RESTART_REFUSED) {
		sim->n_refused++;
		return false;
	}
	if (rng_chance(&sim->rng, sim->chance_sync_crash)) {
		world_crash(sim, j);
		return false;
	}
	if (vote == SPINDLE_RESTART_SYNC)
		attempt_save(sim, j);
	return true;
}

/* ---- a restart that stands ---------------------------------------------------------------- */

/* L6: of two restarts that both stand, one follows the other. */
static void check_order(struct sim *sim, const int view[SUBS])
{
	u32 g, s;
	int b;

	for (g = 1; g < sim->groups; g++) {
		bool found = false;

		for (s = 0; s < sim->subs; s++) {
			for (b = 0; sim->view[s][b].id.era != sim->group[g].era; b++)
				;
			found = found || world_is_followed(sim, s, sim->group[g].origin, view[s]) ||
				world_is_followed(sim, s, sim->view[s][view[s]].origin, b);
		}
		if (!found)
			sim_fail(sim, "L6: restarts %llu and %llu both stand",
				 (unsigned long long)sim->group[g].era,
				 (unsigned long long)sim->view[0][view[0]].id.era);
	}
}

static int make_view(struct sim *sim, u32 s, const struct spindle_restart_proposal *proposal)
{
	struct spindle_restart_view first;
	const struct spindle_restart_base *part;
	struct sview *view;
	u32 p, i;
	int v, parent;

	for (p = 0; p < proposal->parts && proposal->part[p].id != 10 + s; p++)
		;
	if (!spindle_restart_first(proposal, 10 + s, &first) || p == proposal->parts) {
		sim_fail(sim, "a proposal without subgroup %u", s);
		return 0;
	}
	part = &proposal->part[p];
	parent = world_find(sim, s, &part->range.view[part->range.views - 1].id);
	if (parent == NOWHERE || first.base > sim->view[s][parent].top) {
		sim_fail(sim, "a restart of a view or a position that is not there");
		return 0;
	}
	v = world_new_view(sim, s, parent, (u32)first.base, 0);
	view = &sim->view[s][v];
	view->id = first.id;
	view->origin = first.origin;
	view->path = part->path;
	view->stands = true;
	for (i = 0; i < first.members; i++)
		view->members |= BIT32(first.node[i] - 1);
	return v;
}

/* The attempt has enough votes, whether or not anybody knows that. */
static void stand(struct sim *sim, u32 a)
{
	struct attempt *attempt = &sim->attempt[a];
	const struct spindle_restart_proposal *proposal = &attempt->answer->proposal;
	struct group *g = &sim->group[sim->groups];
	int view[SUBS];
	u32 s, i;

	attempt->stands = true;
	sim->n_stand++;
	SAY(sim, "era %llu stands, origin %llu\n", (unsigned long long)proposal->ballot.era,
	    (unsigned long long)proposal->origin);
	*g = (struct group){ .era = proposal->ballot.era, .origin = proposal->origin,
			     .vid = proposal->vid, .first_vid = proposal->vid };
	for (i = 0; i < proposal->members; i++)
		g->members |= BIT32(proposal->node[i] - 1);
	for (s = 0; s < sim->subs; s++) {
		view[s] = make_view(sim, s, proposal);
		if (sim->failure[0])
			return;
		g->view[s] = view[s];
		world_check_stands(sim, s, view[s]);
	}
	check_order(sim, view);
	sim->groups++;
}

/* Not by spindle_restart_stands(), so that a fault there is found. */
static bool has_votes(const struct attempt *attempt)
{
	u32 p, i, k, have;

	for (p = 0; p < attempt->answer->parts; p++) {
		const struct spindle_restart_record *range = &attempt->answer->part[p].range;

		for (i = 0; i < range->views; i++) {
			have = 0;
			for (k = 0; k < range->view[i].members; k++)
				have += attempt->votes >> (range->view[i].node[k] - 1) & 1;
			if (have * 2 <= range->view[i].members)
				return false;
		}
	}
	return true;
}

static void count_vote(struct sim *sim, u32 a, u32 j)
{
	struct attempt *attempt = &sim->attempt[a];

	attempt->votes |= BIT32(j);
	if (!attempt->stands && has_votes(attempt))
		stand(sim, a);
}

/* ---- the first view ------------------------------------------------------------------------ */

static const struct spindle_restart_base *
base_of(const struct spindle_restart_proposal *proposal, u32 s)
{
	u32 p;

	for (p = 0; p < proposal->parts; p++)
		if (proposal->part[p].id == 10 + s)
			return &proposal->part[p];
	return &proposal->part[0];
}

/* No proposal of nodes that do not lie is one that a node may refuse. */
static void check_keeps(struct sim *sim, u32 j, const struct spindle_restart_proposal *proposal)
{
	struct spindle_restart_report *report = sim->own;

	attempt_fill_report(sim, j, report);
	if (!spindle_restart_keeps(report, proposal))
		sim_fail(sim, "node %u would lose what it knows to be durable", j);
}

/* A member of a proposal has reported to the attempt that has made it first. */
static void check_member(struct sim *sim, u32 j, const struct spindle_restart_proposal *proposal)
{
	check_keeps(sim, j, proposal);
	if (sim->node[j].voter->promised.era < proposal->origin)
		sim_fail(sim, "node %u is a member of a proposal without its promise", j);
}

/* A member of a restart that stands knows the range, because the proposal has it. */
static void begin(struct sim *sim, u32 j, const struct spindle_restart_proposal *proposal)
{
	struct node *node = &sim->node[j];
	u32 g, s, i;

	for (g = 1; g < sim->groups && sim->group[g].era != proposal->ballot.era; g++)
		;
	if (g >= sim->groups) {
		sim_fail(sim, "a node begins era %llu, which does not stand",
			 (unsigned long long)proposal->ballot.era);
		return;
	}
	if (sim->group[g].vid != sim->group[g].first_vid || world_runs(sim, j) ||
	    !(sim->group[g].members & BIT32(j)))
		return;
	check_member(sim, j, proposal);
	if (!world_enter(sim, j, g))
		return;
	for (s = 0; s < sim->subs; s++) {
		const struct spindle_restart_record *range = &base_of(proposal, s)->range;
		struct list *list = &node->list[s];

		if (node->view[s] == NOWHERE)
			continue;
		*list = (struct list){ .known = range->known, .n = range->views };
		for (i = 0; i < range->views; i++)
			list->view[i] = world_find(sim, s, &range->view[i].id);
		list->view[list->n++] = node->view[s];
	}
}

/* ---- steps of an attempt -------------------------------------------------------------------- */

static void ask_all(struct sim *sim, u32 a, enum type type, u32 set, size_t len)
{
	u32 j;

	for (j = 0; j < sim->nodes; j++)
		if (set & BIT32(j))
			send_to(sim, type, sim->attempt[a].proposer, j, a, len);
}

static void take_report(struct sim *sim, u32 a, u32 from, const u8 *bytes, size_t len)
{
	struct attempt *attempt = &sim->attempt[a];

	if (!attempt->live || attempt->proposed || attempt->has & BIT32(from))
		return;
	if (!spindle_restart_get_report(attempt->report[from], bytes, len))
		sim_fail(sim, "a report cannot be read");
	attempt->has |= BIT32(from);
}

static void promise(struct sim *sim, u32 a, u32 j)
{
	struct attempt *attempt = &sim->attempt[a];
	u64 promised = sim->node[j].voter->promised.era;

	if (rng_chance(&sim->rng, 50) && promised > sim->node[attempt->proposer].hint)
		sim->node[attempt->proposer].hint = promised;
	if (!settle(sim, j, spindle_restart_promise(sim->node[j].voter, &attempt->ballot)))
		return;
	attempt_fill_report(sim, j, attempt->report[j]);
	send_to(sim, REPORT, j, attempt->proposer, a,
		spindle_restart_put_report(attempt->report[j], sim->buf, SPINDLE_RESTART_BYTES));
}

static void make_buffers(struct attempt *attempt)
{
	u32 j;

	if (attempt->answer)
		return;
	attempt->answer = malloc(sizeof(*attempt->answer));
	for (j = 0; j < NODES; j++)
		attempt->report[j] = malloc(sizeof(*attempt->report[j]));
}

static void open_attempt(struct sim *sim, u32 p, u64 era)
{
	struct attempt *attempt = &sim->attempt[sim->attempts];

	make_buffers(attempt);
	attempt->live = true;
	attempt->proposed = false;
	attempt->decided = false;
	attempt->stands = false;
	attempt->ballot = (struct spindle_restart_ballot){ .era = era, .proposer = ID(p) };
	attempt->proposer = p;
	attempt->has = 0;
	attempt->votes = 0;
	attempt->acks = 0;
	sim->attempts++;
}

/* The proposer promises first. */
void attempt_begin(struct sim *sim, u32 p)
{
	u64 era = sim->node[p].voter->promised.era;
	u32 a = sim->attempts;

	if (a + 1 >= ATTEMPTS || sim->groups + 2 > GROUPS || world_runs(sim, p))
		return;
	if (sim->node[p].hint > era && rng_chance(&sim->rng, 70))
		era = sim->node[p].hint;
	open_attempt(sim, p, era + 1);
	if (!settle(sim, p, spindle_restart_promise(sim->node[p].voter,
						    &sim->attempt[a].ballot))) {
		sim->attempt[a].live = false;
		return;
	}
	SAY(sim, "node %u attempts era %llu\n", p, (unsigned long long)era + 1);
	attempt_fill_report(sim, p, sim->attempt[a].report[p]);
	sim->attempt[a].has = BIT32(p);
	ask_all(sim, a, ASK_PROMISE, (BIT32(sim->nodes) - 1) & ~BIT32(p), 0);
}

/* Return: how many reports an attempt has. They come in any order. */
u32 attempt_shuffle(struct sim *sim, const struct attempt *attempt,
		    const struct spindle_restart_report *report[NODES])
{
	u32 j, n = 0, s;

	for (j = 0; j < sim->nodes; j++)
		if (attempt->has & BIT32(j))
			report[n++] = attempt->report[j];
	for (s = 0; s < n; s++) {
		u32 k = rng_below(&sim->rng, n);
		const struct spindle_restart_report *other = report[k];

		report[k] = report[s];
		report[s] = other;
	}
	return n;
}

static bool judge(struct sim *sim, struct attempt *attempt)
{
	const struct spindle_restart_report *report[NODES];
	u32 n = attempt_shuffle(sim, attempt, report);

	spindle_restart_judge(&attempt->ballot, report, n, attempt->answer);
	return attempt->answer->kind != SPINDLE_RESTART_WAIT;
}

/* An attempt looks at its reports, and may make a proposal. */
void attempt_consider(struct sim *sim)
{
	u32 a, j;

	for (a = 0; a < sim->attempts; a++) {
		struct attempt *attempt = &sim->attempt[a];

		if (!attempt->live || attempt->proposed || !rng_chance(&sim->rng, 40))
			continue;
		if (!judge(sim, attempt)) {
			forced_check(sim, attempt);
			continue;
		}
		attempt->proposed = true;
		/* The node that attempts is the first that votes for its proposal. */
		if (!settle(sim, attempt->proposer,
			    spindle_restart_accept(sim->node[attempt->proposer].voter,
						   &attempt->answer->proposal))) {
			attempt->live = false;
			continue;
		}
		count_vote(sim, a, attempt->proposer);
		sim->n_again += attempt->answer->kind == SPINDLE_RESTART_AGAIN;
		SAY(sim, "era %llu: proposal of %x, origin %llu\n",
		    (unsigned long long)attempt->ballot.era, attempt->has,
		    (unsigned long long)attempt->answer->proposal.origin);
		for (j = 0; j < sim->nodes; j++)
			send_to(sim, ASK_VOTE, attempt->proposer, j, a,
				spindle_restart_put_proposal(&attempt->answer->proposal, sim->buf,
							     SPINDLE_RESTART_BYTES));
	}
}

/*
 * An attempt that has made no proposal is withdrawn, and some nodes hear of that. Whether it has
 * made one, the votes of its node say.
 */
void attempt_withdraw(struct sim *sim)
{
	u32 a = rng_below(&sim->rng, ATTEMPTS), j;
	struct attempt *attempt = &sim->attempt[a];

	if (a >= sim->attempts)
		return;
	if (!attempt->proposed) {
		attempt->live = false;
		spindle_restart_withdraw(sim->node[attempt->proposer].voter, &attempt->ballot);
	}
	for (j = 0; j < sim->nodes; j++) {
		if (!spindle_restart_withdrawn(sim->node[attempt->proposer].voter,
					       ID(attempt->proposer), &attempt->ballot) ||
		    !rng_chance(&sim->rng, 60))
			continue;
		sim->n_withdrawn++;
		if (spindle_restart_withdraw(sim->node[j].voter, &attempt->ballot) ==
		    SPINDLE_RESTART_SYNC && rng_chance(&sim->rng, 50))
			attempt_save(sim, j);
	}
}

static void vote(struct sim *sim, u32 a, u32 j, const u8 *bytes, size_t len)
{
	if (!spindle_restart_get_proposal(sim->scratch, bytes, len)) {
		sim_fail(sim, "a proposal cannot be read");
		return;
	}
	check_keeps(sim, j, sim->scratch);
	if (!settle(sim, j, spindle_restart_accept(sim->node[j].voter, sim->scratch)))
		return;
	SAY(sim, "node %u accepts era %llu\n", j,
	    (unsigned long long)sim->scratch->ballot.era);
	count_vote(sim, a, j);
	send_to(sim, VOTE, j, sim->attempt[a].proposer, a, 0);
}

static void take_vote(struct sim *sim, u32 a, u32 from)
{
	struct attempt *attempt = &sim->attempt[a];
	u32 node[NODES], n = 0, j;

	if (!attempt->live || !attempt->proposed)
		return;
	attempt->acks |= BIT32(from);
	for (j = 0; j < sim->nodes; j++)
		if (attempt->acks & BIT32(j))
			node[n++] = ID(j);
	if (!spindle_restart_stands(attempt->answer, node, n))
		return;
	attempt->decided = true;
	if (!attempt->stands)
		stand(sim, a);
	for (j = 0; j < sim->nodes; j++)
		send_to(sim, BEGIN, attempt->proposer, j, a,
			spindle_restart_put_proposal(&attempt->answer->proposal, sim->buf,
						     SPINDLE_RESTART_BYTES));
}

static void act(struct sim *sim, const struct message *m)
{
	switch (m->type) {
	case ASK_PROMISE:
		promise(sim, m->attempt, m->to);
		break;
	case REPORT:
		take_report(sim, m->attempt, m->from, m->bytes, m->len);
		break;
	case ASK_VOTE:
		vote(sim, m->attempt, m->to, m->bytes, m->len);
		break;
	case VOTE:
		take_vote(sim, m->attempt, m->from);
		break;
	case BEGIN:
		if (!spindle_restart_get_proposal(sim->scratch, m->bytes, m->len))
			sim_fail(sim, "a proposal cannot be read");
		else
			begin(sim, m->to, sim->scratch);
		break;
	}
}

void attempt_deliver(struct sim *sim)
{
	struct message m;
	u32 i;

	if (!sim->messages)
		return;
	i = rng_below(&sim->rng, sim->messages);
	m = sim->message[i];
	if (rng_chance(&sim->rng, 10)) {
		/* The message comes once more, later on. */
		m.bytes = malloc(m.len + 1);
		memcpy(m.bytes, sim->message[i].bytes, m.len);
	} else {
		sim->message[i] = sim->message[--sim->messages];
	}
	act(sim, &m);
	free(m.bytes);
}

/* ---- the end of a schedule ------------------------------------------------------------------- */

/* Is there a reason to wait, although all nodes report? */
static bool may_wait(const struct sim *sim, const struct attempt *attempt)
{
	u32 p;

	for (p = 0; p < attempt->answer->parts; p++) {
		u32 why = attempt->answer->part[p].why;

		if (why == SPINDLE_RESTART_UNKNOWN_RANGE && (!sim->range_sent || sim->too_many))
			return true;
		if (why == SPINDLE_RESTART_LOGS && sim->damages)
			return true;
		if (why == SPINDLE_RESTART_TOO_LONG)
			return true;
	}
	return false;
}

static void explain(struct sim *sim, const struct attempt *attempt)
{
	u32 p;

	for (p = 0; p < attempt->answer->parts; p++)
		if (attempt->answer->part[p].why)
			sim_fail(sim, "all nodes report, and subgroup %u waits: why %u",
				 attempt->answer->part[p].id, attempt->answer->part[p].why);
	sim_fail(sim, "all nodes report, and there is no proposal");
}

static bool has_copies(const struct sim *sim, u32 s, int v)
{
	return (u32)__builtin_popcount(sim->view[s][v].members) >= sim->copies;
}

/* All members are in the group: it comes to rest, and shows what was shown. */
static void settle_group(struct sim *sim)
{
	u32 i, j, s;

	for (i = 0; i < 2 * LSNS && !sim->failure[0]; i++)
		for (j = 0; j < sim->nodes; j++)
			for (s = 0; s < sim->subs; s++) {
				world_persist(sim, j, s);
				world_sync_record(sim, j, s);
			}
	for (j = 0; j < sim->nodes && !sim->failure[0]; j++)
		for (s = 0; s < sim->subs; s++) {
			world_poll(sim, j, s);
			if (sim->node[j].view[s] != NOWHERE && !sim->node[j].established[s] &&
			    has_copies(sim, s, sim->node[j].view[s]))
				sim_fail(sim, "the last view is not established at node %u", j);
		}
}

/* No message is on the way, no node runs, and nothing fails any more. Return: the next era. */
static u64 calm_down(struct sim *sim)
{
	u64 era = 0;
	u32 j;

	while (sim->messages)
		drop(sim, 0);
	sim->chance_lost = 0;
	sim->chance_sync_crash = 0;
	for (j = 0; j < sim->nodes; j++) {
		world_crash(sim, j);
		if (sim->node[j].voter->promised.era > era)
			era = sim->node[j].voter->promised.era;
	}
	return era + 1;
}

static void deliver_all(struct sim *sim)
{
	while (sim->messages && !sim->failure[0])
		attempt_deliver(sim);
}

static void ask_each(struct sim *sim, struct attempt *attempt)
{
	u32 j;

	attempt->proposed = true;
	for (j = 0; j < sim->nodes; j++)
		send_to(sim, ASK_VOTE, attempt->proposer, j, sim->attempts - 1,
			spindle_restart_put_proposal(&attempt->answer->proposal, sim->buf,
						     SPINDLE_RESTART_BYTES));
}

/* Nothing fails any more, and all nodes report: the restart has to stand. */
void attempt_finish(struct sim *sim)
{
	struct attempt *attempt = &sim->attempt[sim->attempts];
	u32 j, a = sim->attempts;

	open_attempt(sim, 0, calm_down(sim));
	attempt->live = true;
	for (j = 0; j < sim->nodes; j++)
		promise(sim, a, j);
	deliver_all(sim);
	if (sim->failure[0])
		return;
	if (!judge(sim, attempt)) {
		sim->n_stuck++;
		if (!may_wait(sim, attempt))
			explain(sim, attempt);
		return;
	}
	ask_each(sim, attempt);
	deliver_all(sim);
	if (!sim->failure[0] && !attempt->decided)
		sim_fail(sim, "all nodes were asked, and the restart does not stand");
	if (!sim->failure[0])
		settle_group(sim);
}
