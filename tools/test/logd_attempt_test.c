// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attempt to restart: nodes in one process, which ask each other through a network that loses
 * and repeats, and which crash. Time is a number.
 */
#include "logd/attempt.h"
#include "tap.h"

#define NODES		5U
#define SUBGROUP	3U
#define LINEAGE		7U
#define IN_FLIGHT	64U
#define STEP_MS		10U

/* A node: what it has on disk, and its attempt while it runs. */
struct box {
	struct attempt a;
	struct spindle_restart_voter voter;
	bool up;
	bool broken;
	uint64_t entered;
	uint64_t origin;
	struct spindle_restart_record record;
	struct spindle_restart_path path;
	struct spindle_restart_log log;
	uint64_t forming_ms;
	uint32_t heard;
	uint32_t heard_from;
	bool heard_begun;
	uint64_t heard_base;
};

/* A question on its way; the answer is made when it arrives. */
struct flight {
	bool used;
	uint32_t from;
	uint32_t to;
	uint64_t turn;
	uint64_t life;
	uint64_t at_ms;
	struct attempt_request req;
	struct spindle_restart_proposal *proposal;
};

static struct box box[NODES];
static struct flight flight[IN_FLIGHT];
static uint64_t life[NODES];
static uint64_t now, rng;
static uint32_t nodes, lost, twice;
/* Messages below this position were durable. */
static uint64_t durable;
static bool broken;

static uint64_t draw(uint64_t n)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (rng >> 33) % n;
}

/* ---- a node ------------------------------------------------------------------------------- */

static int settle(struct box *b, enum spindle_restart_vote vote)
{
	if (vote == SPINDLE_RESTART_REFUSED)
		return 0;
	return b->broken ? -1 : 1;
}

static int do_promise(void *arg, const struct spindle_restart_ballot *ballot)
{
	struct box *b = arg;

	return settle(b, spindle_restart_promise(&b->voter, ballot));
}

static int do_accept(void *arg, const struct spindle_restart_proposal *proposal)
{
	struct box *b = arg;

	return settle(b, spindle_restart_accept(&b->voter, proposal));
}

static void do_withdraw(void *arg, const struct spindle_restart_ballot *ballot)
{
	struct box *b = arg;

	spindle_restart_withdraw(&b->voter, ballot);
}

static bool do_report(void *arg, struct spindle_restart_report *r)
{
	struct box *b = arg;
	struct spindle_restart_part *p = &r->part[0];

	memset(r, 0, offsetof(struct spindle_restart_report, part));
	r->node = b->a.node;
	r->lineage[0] = LINEAGE;
	r->parts = 1;
	p->id = SUBGROUP;
	p->majority = false;
	p->member = true;
	p->record = b->record;
	p->path = b->path;
	p->log = b->log;
	return true;
}

/* All nodes were in view 4 of era 1, which is established. */
static void begin_box(struct box *b, uint64_t end)
{
	struct spindle_restart_view *v = &b->record.view[0];
	uint32_t i;

	b->record.known = true;
	b->record.views = 1;
	v->id = (struct spindle_restart_id){ 1, 4 };
	v->origin = 1;
	for (i = 0; i < nodes; i++)
		v->node[v->members++] = i + 1;
	b->path.whole = true;
	b->log = (struct spindle_restart_log){
		.whole = true, .end = end, .good = end, .epochs = 1,
	};
	b->log.epoch[0].id = v->id;
}

static void do_hear(void *arg, uint32_t node, const struct spindle_restart_force *force,
		    bool begun)
{
	struct box *b = arg;

	b->heard++;
	b->heard_from = node;
	b->heard_begun = begun;
	b->heard_base = force->proposal.part[0].base;
}

static const struct attempt_ops ops = {
	.promise = do_promise, .accept = do_accept, .withdraw = do_withdraw, .report = do_report,
	.heard = do_hear,
};

static void boot(uint32_t i)
{
	struct box *b = &box[i];
	uint32_t k;

	life[i]++;
	spindle_restart_boot(&b->voter);
	spindle_restart_withdraw_own(&b->voter, i + 1);
	b->a = (struct attempt){
		.ops = &ops, .arg = b, .node = i + 1, .lineage[0] = LINEAGE, .voter = &b->voter,
	};
	if (!attempt_begin(&b->a, draw(1U << 30) + 1, now))
		die("no memory");
	for (k = 0; k < nodes; k++)
		attempt_know(&b->a, k + 1);
	b->up = true;
	b->entered = 0;
	b->forming_ms = 0;
}

static void crash(uint32_t i)
{
	if (!box[i].up)
		return;
	attempt_end(&box[i].a);
	box[i].up = false;
	life[i]++;
}

static void begin(uint32_t n, uint64_t seed)
{
	uint32_t i;

	for (i = 0; i < NODES; i++)
		crash(i);
	for (i = 0; i < IN_FLIGHT; i++) {
		free(flight[i].proposal);
		flight[i] = (struct flight){ .used = false };
	}
	memset(box, 0, sizeof(box));
	nodes = n;
	rng = seed * 977 + 13;
	lost = 0;
	twice = 0;
	now = 1000;
	for (i = 0; i < n; i++)
		begin_box(&box[i], 100 + i);
	durable = 100;
	broken = false;
}

/* ---- the network -------------------------------------------------------------------------- */

static void send_one(uint32_t from, uint32_t to, uint64_t turn, const struct attempt_request *req)
{
	uint32_t i;

	for (i = 0; i < IN_FLIGHT && flight[i].used; i++)
		;
	if (i == IN_FLIGHT || draw(100) < lost)
		return;
	flight[i] = (struct flight){
		.used = true, .from = from, .to = to, .turn = turn, .life = life[from],
		.at_ms = now + draw(80), .req = *req,
	};
	if (req->proposal) {
		flight[i].proposal = malloc(sizeof(*req->proposal));
		if (!flight[i].proposal)
			die("no memory");
		*flight[i].proposal = *req->proposal;
		flight[i].req.proposal = flight[i].proposal;
	}
}

/* The asker may have started again, and then nobody waits for the answer. */
static void answer_one(struct flight *f)
{
	struct box *to = &box[f->to], *from = &box[f->from];
	struct attempt_reply reply;

	if (!to->up) {
		if (from->up && life[f->from] == f->life)
			attempt_answer(&from->a, f->to + 1, f->turn, NULL, now);
		return;
	}
	if (!attempt_is_of(&f->req, f->from + 1))
		die("node %u asks in the name of another one", f->from + 1);
	attempt_serve(&to->a, &f->req, &reply, now);
	if (draw(100) < twice)
		attempt_serve(&to->a, &f->req, &reply, now);
	if (from->up && life[f->from] == f->life && draw(100) >= lost)
		attempt_answer(&from->a, f->to + 1, f->turn, &reply, now);
	if (from->up && life[f->from] == f->life && draw(100) < twice)
		attempt_answer(&from->a, f->to + 1, f->turn, &reply, now);
}

static void deliver(void)
{
	uint32_t i;

	for (i = 0; i < IN_FLIGHT; i++) {
		if (!flight[i].used || flight[i].at_ms > now)
			continue;
		answer_one(&flight[i]);
		free(flight[i].proposal);
		flight[i] = (struct flight){ .used = false };
	}
}

/* ---- the views ---------------------------------------------------------------------------- */

static bool all_enter(const struct spindle_restart_proposal *p)
{
	uint32_t i;

	for (i = 0; i < p->members; i++)
		if (!box[p->node[i] - 1].up || box[p->node[i] - 1].entered != p->ballot.era)
			return false;
	return true;
}

/* The log is cut, and the record has the range and the first view. */
static void enter_disk(struct box *b, const struct spindle_restart_proposal *p)
{
	const struct spindle_restart_base *part = &p->part[0];
	struct spindle_restart_view first;
	uint64_t end = 0;

	if (!spindle_restart_first(p, SUBGROUP, &first) || part->base < durable ||
	    !spindle_restart_cut(&b->log, &first.id, &part->path, &end)) {
		broken = true;
		return;
	}
	b->log.end = end;
	b->log.good = end;
	while (b->log.epochs && b->log.epoch[b->log.epochs - 1].lsn >= end)
		b->log.epochs--;
	b->record = part->range;
	if (b->record.views < SPINDLE_RESTART_VIEWS)
		b->record.view[b->record.views++] = first;
	else
		broken = true;
	b->path = part->path;
}

/* Ten messages are durable in the view, which is established then. */
static void run_in(struct box *b, const struct spindle_restart_view *view)
{
	struct spindle_restart_log *log = &b->log;

	b->record.known = true;
	b->record.views = 1;
	b->record.view[0] = *view;
	if (log->epochs == SPINDLE_RESTART_EPOCHS) {
		log->whole = false;
		memmove(log->epoch, log->epoch + 1, --log->epochs * sizeof(log->epoch[0]));
	}
	log->epoch[log->epochs++] = (struct spindle_restart_epoch){ view->id, view->base };
	log->end = view->base + 10;
	log->good = log->end;
	durable = log->end > durable ? log->end : durable;
}

static void enter(struct box *b)
{
	const struct spindle_restart_proposal *p = b->a.proposal;
	struct spindle_restart_view first;

	if (!b->entered) {
		if (spindle_restart_enter(&b->voter, p->ballot.era) == SPINDLE_RESTART_REFUSED)
			die("node %u may not enter", b->a.node);
		enter_disk(b, p);
		b->entered = p->ballot.era;
		b->origin = p->origin;
		b->forming_ms = now;
	}
	if (all_enter(p) && spindle_restart_first(p, SUBGROUP, &first)) {
		run_in(b, &first);
		attempt_runs(&b->a, p->ballot.era, p->vid, now);
	} else if (now - b->forming_ms > 20000 + draw(1000)) {
		/* A first member is away. */
		b->entered = 0;
		spindle_restart_stop(&b->voter);
		attempt_again(&b->a, now);
	}
}

/* The contact may have crashed by now. A view changes at all that run at once. */
static void join(struct box *b)
{
	struct box *to = &box[b->a.contact - 1];
	struct spindle_restart_view view;
	uint32_t i;

	if (!to->up || to->a.state != ATTEMPT_RUNNING ||
	    spindle_restart_enter(&b->voter, to->a.era) == SPINDLE_RESTART_REFUSED) {
		attempt_again(&b->a, now);
		return;
	}
	b->entered = to->a.era;
	b->origin = to->origin;
	b->log = to->log;
	b->path = to->path;
	view = to->record.view[0];
	view.id.vid = to->a.vid + 1;
	view.base = to->log.end;
	for (i = 0; i < view.members && view.node[i] != b->a.node; i++)
		;
	if (i == view.members)
		view.node[view.members++] = b->a.node;
	attempt_runs(&b->a, to->a.era, view.id.vid, now);
	for (i = 0; i < nodes; i++)
		if (box[i].up && box[i].a.state == ATTEMPT_RUNNING &&
		    box[i].entered == b->entered) {
			run_in(&box[i], &view);
			box[i].a.vid = view.id.vid;
		}
}

static void turn_one(uint32_t i)
{
	struct box *b = &box[i];
	struct attempt_request req;
	uint64_t turn;
	uint32_t k;

	attempt_work(&b->a, now);
	for (k = 0; k < b->a.peers; k++)
		if (attempt_next(&b->a, k, &req, &turn))
			send_one(i, b->a.peer[k].node - 1, turn, &req);
	if (b->a.state == ATTEMPT_ENTER)
		enter(b);
	else if (b->a.state == ATTEMPT_JOIN)
		join(b);
}

static void pass(uint64_t ms)
{
	uint64_t end = now + ms;
	uint32_t i;

	for (; now < end; now += STEP_MS) {
		deliver();
		for (i = 0; i < nodes; i++)
			if (box[i].up)
				turn_one(i);
	}
}

/* Do so many nodes run, all in one era? */
static bool run_together(uint32_t n)
{
	uint64_t era = 0;
	uint32_t i;

	for (i = 0; i < nodes; i++) {
		if (!box[i].up || box[i].a.state != ATTEMPT_RUNNING)
			continue;
		if (era && box[i].entered != era)
			return false;
		era = box[i].entered;
		n--;
	}
	return !n && era;
}

static bool pass_until(uint32_t n, uint64_t ms)
{
	uint64_t end = now + ms;

	while (now < end && !run_together(n))
		pass(100);
	return run_together(n);
}

/* ---- the tests ---------------------------------------------------------------------------- */

static void together(void)
{
	uint32_t i;

	begin(3, 1);
	for (i = 0; i < 3; i++)
		boot(i);
	ok(pass_until(3, 60000), "three nodes restart the group");
	is((long long)box[0].a.proposal->part[0].base, 102, "the longest log is the base");
	is(box[0].a.proposal->members, 3, "all nodes that report are members");
}

static void majority(void)
{
	begin(3, 2);
	boot(0);
	pass(20000);
	ok(!run_together(1), "one of three nodes does not run alone");
	is(box[0].a.state, ATTEMPT_PREPARE, "it waits");
	is(box[0].a.answer->part[0].why, SPINDLE_RESTART_NODES, "it waits for nodes");
	is(box[0].a.answer->part[0].nodes, 2, "for two nodes");
	is(box[0].a.answer->part[0].more, 1, "of which one is enough");
	boot(2);
	ok(pass_until(2, 60000), "with another one it runs");
	boot(1);
	ok(pass_until(3, 60000), "the third one joins");
	is(box[1].a.state, ATTEMPT_RUNNING, "the third one runs");
	crash(0);
	pass(1000);
	boot(0);
	ok(pass_until(3, 60000), "a node that starts again joins");
}

/* Two nodes restart, and one of them crashes: the other one is no majority of their view. */
static void away(void)
{
	uint32_t other;

	begin(3, 3);
	boot(0);
	boot(1);
	while (!box[0].entered && !box[1].entered && now < 60000)
		pass(STEP_MS);
	other = box[0].entered ? 1 : 0;
	crash(other);
	boot(2);
	pass(120000);
	ok(!run_together(1) && !run_together(2), "without a first member nobody runs");
	boot(other);
	ok(pass_until(3, 300000), "all run when that member is back");
}

/* A node that has attempted in vain, and one that has promised to it, join an earlier era. */
static void in_vain(void)
{
	struct attempt_request req = {
		.kind = ATTEMPT_PROMISE, .ballot = { .era = 50, .proposer = 4 },
	};
	struct attempt_reply reply;

	begin(4, 6);
	boot(0);
	boot(1);
	boot(2);
	ok(pass_until(3, 60000), "three of four nodes run");
	boot(3);
	spindle_restart_promise(&box[3].voter, &req.ballot);
	box[3].a.ballot = req.ballot;
	attempt_move(&box[3].a, ATTEMPT_PREPARE, now);
	crash(2);
	boot(2);
	attempt_serve(&box[2].a, &req, &reply, now);
	ok(reply.yes, "the node promises to an attempt of a later era");
	ok(pass_until(4, 60000), "it joins when that is withdrawn, and so does the other one");
	ok(box[2].voter.promised.era == 50 && box[2].entered < 50, "the era is the earlier one");
}

/* The nodes are in view 4 of era 0 from the beginning, and each that starts again joins. */
static void first_era(void)
{
	uint32_t i;

	begin(3, 7);
	for (i = 0; i < 3; i++) {
		box[i].record.view[0].id.era = 0;
		box[i].record.view[0].origin = 0;
		box[i].log.epoch[0].id.era = 0;
		boot(i);
		spindle_restart_enter(&box[i].voter, 0);
		attempt_runs(&box[i].a, 0, 4, now);
	}
	crash(1);
	pass(1000);
	boot(1);
	pass(10000);
	is(box[1].a.state, ATTEMPT_RUNNING, "a node joins a group that has never restarted");
	is((long long)box[1].a.era, 0, "and the era is still the first one");
	is((long long)box[1].voter.promised.era, 0, "it has promised nothing");
}

/* The view of the node with index @i has stopped, or has another era. */
static void run_alone(uint32_t i, uint64_t era, uint64_t vid)
{
	boot(i);
	attempt_runs(&box[i].a, era, vid, now);
}

/* Do the first two nodes restart the group without the third one? */
static bool restart_two(uint64_t bound)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		box[i].voter.bound = bound;
		box[i].voter.promised.era = bound;
		boot(i);
	}
	pass(30000);
	return box[0].a.state == ATTEMPT_RUNNING && box[1].a.state == ATTEMPT_RUNNING &&
	       box[0].entered > bound && box[0].entered == box[1].entered;
}

/* A node that nobody can join holds up nobody. */
static void no_veto(void)
{
	begin(3, 8);
	run_alone(2, 1, 0);
	ok(restart_two(1), "a node whose view has stopped does not hold up the others");
	begin(3, 9);
	run_alone(2, 1, 4);
	ok(restart_two(2), "nor does one that runs in an era that all others are beyond");
}

/* In the midst of its own attempt, a node hears that the one it waits for was withdrawn. */
static void withdrawn(void)
{
	struct spindle_restart_ballot open = { .era = 9, .proposer = 2 };
	struct attempt_request req;
	uint64_t turn;

	begin(4, 10);
	spindle_restart_promise(&box[0].voter, &open);
	boot(0);
	run_alone(2, 1, 4);
	run_alone(3, 1, 4);
	pass(5000);
	is(box[0].a.state, ATTEMPT_PREPARE, "a promise to another attempt forbids to join");
	spindle_restart_promise(&box[1].voter, &open);
	boot(1);
	pass(20000);
	is(box[0].a.state, ATTEMPT_RUNNING, "the node joins once it is withdrawn");
	is((long long)box[0].a.era, 1, "the group that runs");
	ok(!attempt_next(&box[0].a, 0, &req, &turn), "and asks nothing more");
}

/* Replies to the questions of a node: all others run. Return: the contact that it has chosen. */
static uint32_t answer_all(struct attempt *a)
{
	const struct attempt_reply reply = {
		.how = { .state = ATTEMPT_RUNNING, .era = 1, .vid = 4 },
	};
	struct attempt_request req;
	uint64_t turn;
	uint32_t i;

	attempt_work(a, now);
	for (i = 0; i < a->peers; i++)
		if (attempt_next(a, i, &req, &turn))
			attempt_answer(a, a->peer[i].node, turn, &reply, now);
	now += STEP_MS;
	return a->state == ATTEMPT_JOIN ? a->contact : 0;
}

/* Joins that fail come slower and slower, and go to all members in turn. */
static void contacts(void)
{
	uint32_t tries[5] = { 0 }, i, n = 0;
	uint64_t end;

	begin(4, 11);
	boot(0);
	for (end = now + 60000; now < end;) {
		i = answer_all(&box[0].a);
		if (!i)
			continue;
		tries[i]++;
		n++;
		attempt_again(&box[0].a, now);
	}
	ok(n >= 6 && n <= 15, "a join that fails is tried %u times in a minute", n);
	ok(tries[2] && tries[3] && tries[4], "and over each of the members");
	is((long long)box[0].voter.promised.era, 0, "a node that can join makes no attempt");
}

/* The process before has told the kernel of a view. */
static void resume(void)
{
	struct attempt_request req = {
		.kind = ATTEMPT_PROMISE, .ballot = { .era = 9, .proposer = 2 },
	};
	struct attempt_reply reply;

	begin(3, 12);
	box[0].voter.bound = 3;
	boot(0);
	attempt_resume(&box[0].a, now);
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes && !box[0].voter.promised.era, "a node whose view forms promises nothing");
	is((long long)box[0].a.era, 3, "its view has the era of its votes, or a later one");
	attempt_again(&box[0].a, now);
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(reply.yes, "without that view it promises again");
}

static void disk(void)
{
	begin(3, 4);
	box[1].broken = true;
	boot(0);
	boot(1);
	pass(20000);
	is(box[1].a.state, ATTEMPT_FAILED, "a node whose disk fails takes part in nothing");
	ok(!run_together(1), "and is not counted");
}

static void strangers(void)
{
	struct spindle_restart_proposal *p = calloc(1, sizeof(*p));
	struct attempt_request req = {
		.kind = ATTEMPT_PROMISE, .ballot = { .era = 9, .proposer = 1 },
	};
	struct attempt_reply reply;

	if (!p)
		die("no memory");
	begin(3, 5);
	boot(0);
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes, "nobody else may use the name of the node for an attempt");
	req.ballot.proposer = 2;
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(reply.yes && reply.report, "an attempt gets a promise and a report");
	is((long long)reply.how.promised.era, 9, "and hears of it");
	p->ballot = req.ballot;
	p->lineage[0] = LINEAGE + 1;
	req = (struct attempt_request){ .kind = ATTEMPT_VOTE, .proposal = p };
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes, "a proposal of another lineage gets no vote");
	p->lineage[0] = LINEAGE;
	ok(attempt_is_of(&req, 2) && !attempt_is_of(&req, 3), "only its proposer asks for votes");
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes, "nor does one without the subgroup of the node");
	p->parts = 1;
	p->part[0].id = SUBGROUP + 1;
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes, "or with another one");
	p->part[0].id = SUBGROUP;
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(reply.yes, "the same of this lineage and this subgroup does");
	p->vid++;
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes, "another one of the same attempt does not");
	/* Only the node itself makes proposals in its name. */
	spindle_restart_promise(&box[0].voter, &(struct spindle_restart_ballot){ 10, 1 });
	p->ballot = box[0].voter.promised;
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes, "nobody else may use the name of the node for a proposal");
	req = (struct attempt_request){ .kind = ATTEMPT_RECORD };
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes && !reply.report, "a node that is in no view gives no record");
	free(p);
}

static void reboot(uint32_t i)
{
	crash(i);
	boot(i);
}

/* Node 3 says this to node 1. */
static void say(const struct attempt_reply *reply)
{
	attempt_answer(&box[0].a, 3, box[0].a.turn, reply, now);
}

/* A node that names a large era costs some eras, and not the group. */
static void far(void)
{
	struct attempt_reply reply = {
		.how = { .state = ATTEMPT_LOOK, .promised = { SPINDLE_RESTART_ERA_MAX, 3 } },
	};
	struct spindle_restart_proposal *p = calloc(1, sizeof(*p));
	struct attempt_request req = { .kind = ATTEMPT_PROMISE };
	uint64_t reach;

	if (!p)
		die("no memory");
	begin(3, 7);
	boot(0);
	reach = spindle_restart_reach(&box[0].voter);
	say(&reply);
	is((long long)box[0].a.seen, (long long)reach - 1, "an era counts as far as it may");
	req.ballot = (struct spindle_restart_ballot){ reach + 1, 3 };
	attempt_serve(&box[0].a, &req, &reply, now);
	ok(!reply.yes && !box[0].voter.promised.era, "one that is too far gets no promise");
	/* Each answer is the first one of its round. */
	reboot(0);
	reply = (struct attempt_reply){ .how = { .state = ATTEMPT_RUNNING, .vid = 1,
						    .era = reach + 1 } };
	say(&reply);
	is(box[0].a.state, ATTEMPT_LOOK, "a group that runs there is not joined");
	reboot(0);
	p->ballot = (struct spindle_restart_ballot){ reach + 1, 3 };
	p->lineage[0] = LINEAGE;
	p->members = 1;
	p->node[0] = 1;
	p->parts = 1;
	p->part[0].id = SUBGROUP;
	reply = (struct attempt_reply){ .how = { .state = ATTEMPT_ENTER }, .proposal = p };
	say(&reply);
	is(box[0].a.state, ATTEMPT_LOOK, "and none is entered there");
	reboot(0);
	reply = (struct attempt_reply){ .how = { .state = ATTEMPT_RUNNING, .vid = 1,
						    .era = reach } };
	say(&reply);
	is(box[0].a.state, ATTEMPT_JOIN, "one that is near enough is");
	free(p);
	begin(3, 7);
	boot(0);
	boot(1);
	/* Node 2 has been led three times as far as node 1. */
	box[1].voter.promised.era = 3 * SPINDLE_RESTART_ERA_JUMP;
	ok(pass_until(2, 600000), "nodes that were led far come together");
	ok(box[0].entered > 3 * SPINDLE_RESTART_ERA_JUMP, "behind the eras that are used up");
}

/* Node 3 has attempted era 2, and says that this follows. Messages from @base on would be lost. */
static struct spindle_restart_proposal *lie(uint64_t base)
{
	static struct spindle_restart_proposal p;

	p = (struct spindle_restart_proposal){
		.ballot = { 2, 3 }, .origin = 2, .lineage = { LINEAGE }, .vid = 5, .members = 3,
		.node = { 1, 2, 3 }, .parts = 1,
	};
	p.part[0] = (struct spindle_restart_base){
		.id = SUBGROUP, .base = base, .members = 7, .range = box[0].record,
		.path = { .whole = true, .eras = 1, .past = { { { 1, 4 }, base } } },
	};
	return &p;
}

/* Node 1 knows that all below 50 is durable, and has promised era 2 to node 3. */
static void begin_liar(void)
{
	begin(3, 9);
	box[0].record.view[0].base = 50;
	spindle_restart_promise(&box[0].voter, &(struct spindle_restart_ballot){ 2, 3 });
	boot(0);
}

static bool votes_for(const struct spindle_restart_proposal *p)
{
	const struct attempt_request req = { .kind = ATTEMPT_VOTE, .proposal = p };
	struct attempt_reply reply;

	attempt_serve(&box[0].a, &req, &reply, now);
	return reply.yes;
}

/* Does node 1 enter when node 3 says that this stands? */
static bool enters(const struct spindle_restart_proposal *p)
{
	const struct attempt_reply reply = {
		.how = { .state = ATTEMPT_ENTER, .era = 2 }, .proposal = p,
	};
	bool does;

	reboot(0);
	say(&reply);
	does = box[0].a.state == ATTEMPT_ENTER;
	reboot(0);
	return does;
}

/* What node 3 says is not so, and node 1 can know that. */
static void liar(void)
{
	struct spindle_restart_proposal *p;

	begin_liar();
	ok(!votes_for(lie(49)), "a proposal that cuts what is durable gets no vote");
	ok(!enters(lie(49)), "and is not entered");
	p = lie(50);
	p->origin = 3;
	p->ballot.era = 3;
	ok(!enters(p), "nor is one that the node has reported nothing for");
	p = lie(50);
	p->node[0] = 4;
	ok(!enters(p), "nor one that it is no member of");
	ok(enters(lie(50)), "one that it can know nothing against is");
	ok(votes_for(lie(60)), "such a one gets its vote");
	ok(!enters(lie(61)), "another one of the attempt is not entered then");
	ok(enters(lie(60)), "and the same is");
	ok(!votes_for(lie(61)) && votes_for(lie(60)), "the vote stays with it");
}

/* Node 3 reports a view that it alone was in, and that leaves out what node 1 has durable. */
static void lying_report(void)
{
	struct spindle_restart_record *record;
	uint32_t i;

	begin(3, 10);
	for (i = 0; i < 2; i++)
		box[i].record.view[0].base = 50;
	record = &box[2].record;
	record->view[0].id = (struct spindle_restart_id){ 2, 9 };
	record->view[0].members = 1;
	record->view[0].node[0] = 3;
	box[2].path.eras = 1;
	box[2].path.past[0] = (struct spindle_restart_past){ { 1, 4 }, 10 };
	box[2].log = (struct spindle_restart_log){ .whole = true };
	box[0].voter.promised.era = 5;
	boot(0);
	pass(5000);
	boot(2);
	/* Node 3 leaves the attempt to node 1. */
	box[2].a.propose_ms = now + 1000000;
	pass(20000);
	is(box[0].a.state, ATTEMPT_PREPARE, "an attempt with a report that is not so waits");
	is(box[0].a.answer->part[0].why, SPINDLE_RESTART_CONFLICT, "for the reports contradict");
	crash(2);
	boot(1);
	ok(!pass_until(2, 30000), "it has the report until it begins again");
	reboot(0);
	ok(pass_until(2, 60000), "and goes on without that node");
}

/* Two of five nodes show what could be forced, and nothing follows from that. */
static void force(void)
{
	struct attempt *a;

	begin(5, 11);
	boot(1);
	boot(3);
	pass(1000);
	ok(!box[1].a.forced && !box[3].a.forced, "no restart is shown while reports come");
	pass(20000);
	a = box[1].a.state == ATTEMPT_PREPARE ? &box[1].a : &box[3].a;
	ok(a->forced && a->force->proposal.members == 2, "two of five could be forced");
	is((long long)a->force->proposal.part[0].base, 103, "behind the longest log");
	pass(60000);
	ok(!run_together(1) && !run_together(2), "nothing follows without a consent");
	ok(!box[1].heard && !box[3].heard, "and nobody asks what could be forced");
	box[1].a.wants = true;
	box[3].a.wants = true;
	pass(60000);
	ok(box[1].heard || box[3].heard, "a node with a consent asks");
	a = box[1].heard ? &box[1].a : &box[3].a;
	ok(box[a->node - 1].heard_from == 6 - a->node && !box[a->node - 1].heard_begun &&
	   box[a->node - 1].heard_base == 103, "and hears it from the node that shows it");
	boot(0);
	ok(pass_until(3, 200000), "a majority needs no force");
	is(box[1].a.forced, false, "and then none is shown");
}

/* Node 3 is in a group that has begun by a forced restart of the one of node 1. */
static void left_behind(void)
{
	struct spindle_restart_force *f = calloc(1, sizeof(*f));
	struct attempt_reply reply = { .how = { .state = ATTEMPT_LOOK }, .yes = true, .force = f };
	uint32_t i;

	if (!f)
		die("no memory");
	begin(3, 12);
	boot(0);
	f->proposal.lineage[0] = LINEAGE + 1;
	say(&reply);
	ok(!box[0].heard, "a restart of another group is none");
	reboot(0);
	f->proposal.lineage[0] = LINEAGE;
	pass(5000);
	is(box[0].a.state, ATTEMPT_PREPARE, "a node attempts");
	attempt_move(&box[0].a, ATTEMPT_PREPARE, now);
	say(&reply);
	ok(box[0].heard == 1 && box[0].heard_begun, "it hears of the group");
	is(box[0].a.state, ATTEMPT_LOOK, "and gives up its attempt");
	for (i = 0; i < 2000 && box[0].a.state == ATTEMPT_LOOK; i++) {
		say(&reply);
		attempt_answer(&box[0].a, 2, box[0].a.turn, NULL, now);
		attempt_work(&box[0].a, now += STEP_MS);
	}
	is(box[0].a.state, ATTEMPT_LOOK, "it attempts nothing as long as that group answers");
	boot(1);
	ok(pass_until(2, 60000), "and restarts its own one when that is silent");
	free(f);
}

static void spent(void)
{
	uint64_t turn;

	begin(3, 8);
	box[0].voter.promised = (struct spindle_restart_ballot){ SPINDLE_RESTART_ERA_MAX, 1 };
	boot(0);
	pass(5000);
	turn = box[0].a.turn;
	pass(5000);
	ok(box[0].a.spent && box[0].a.state == ATTEMPT_LOOK, "without an era nothing is attempted");
	ok(box[0].a.turn > turn + 5, "and rounds go on");
	is((long long)box[0].voter.promised.era, (long long)SPINDLE_RESTART_ERA_MAX,
	   "no era comes round");
	boot(1);
	boot(2);
	/* The others cannot get a promise of the first one, and are enough. */
	ok(pass_until(3, 60000), "the node joins the group of the others");
}

/* All nodes that run with one era run by one proposal, and all come together in the end. */
static bool schedule(uint64_t seed)
{
	uint32_t i, k, n;
	bool good;

	begin(3 + (uint32_t)(seed % 3), seed + 100);
	lost = (uint32_t)draw(30);
	twice = (uint32_t)draw(20);
	for (i = 0; i < 40; i++) {
		k = (uint32_t)draw(nodes);
		if (!box[k].up)
			boot(k);
		else if (draw(100) < 30)
			crash(k);
		pass(draw(2000));
		for (n = 0; n < nodes; n++)
			for (k = 0; k < n; k++)
				if (box[n].up && box[k].up && box[n].entered &&
				    box[n].entered == box[k].entered &&
				    box[n].origin != box[k].origin)
					return false;
		if (broken)
			return false;
	}
	lost = 0;
	for (i = 0; i < nodes; i++)
		crash(i);
	for (i = 0; i < nodes; i++) {
		boot(i);
		pass(draw(500));
	}
	good = pass_until(nodes, 600000) && !broken;
	for (i = 0; !good && i < nodes; i++)
		printf("# seed %llu: node %u state %u promised %llu/%u entered %llu\n",
		       (unsigned long long)seed, i + 1, box[i].a.state,
		       (unsigned long long)box[i].voter.promised.era,
		       box[i].voter.promised.proposer, (unsigned long long)box[i].entered);
	return good;
}

static void schedules(void)
{
	uint64_t seed, bad = 0;

	for (seed = 0; seed < 100; seed++)
		bad += !schedule(seed);
	is((long long)bad, 0, "100 schedules with crashes and losses: all come together");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	together();
	majority();
	away();
	in_vain();
	first_era();
	no_veto();
	withdrawn();
	contacts();
	resume();
	disk();
	strangers();
	far();
	liar();
	lying_report();
	force();
	left_behind();
	spent();
	schedules();
	begin(1, 0);
	return tap_end();
}
