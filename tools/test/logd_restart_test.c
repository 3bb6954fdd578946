// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions that a node is asked while it looks for its group, as they come over TCP, with the
 * sources of spindle-logd. No kernel and no file is needed for the answers.
 */
#include "logd/logd.h"
#include "logd/restart.h"
#include "tap.h"

#define SUBGROUP	3U

static uint8_t question[PEER_ASK_MAX], answer[PEER_TELL_MAX];
static struct spindle_restart_voter voter;
static struct spindle_restart_proposal proposal;
static struct logd_opts opts = { .node = 1 };
static struct logd_peers peers;
static struct logd_restart r = { .opts = &opts, .peers = &peers };
/* Subgroups that the node has logs of. */
static uint32_t logs;

static int do_promise(void *arg, const struct spindle_restart_ballot *ballot)
{
	(void)arg;
	return spindle_restart_promise(&voter, ballot) != SPINDLE_RESTART_REFUSED;
}

static int do_accept(void *arg, const struct spindle_restart_proposal *p)
{
	(void)arg;
	return spindle_restart_accept(&voter, p) != SPINDLE_RESTART_REFUSED;
}

static void do_withdraw(void *arg, const struct spindle_restart_ballot *ballot)
{
	(void)arg;
	spindle_restart_withdraw(&voter, ballot);
}

static bool do_report(void *arg, struct spindle_restart_report *report)
{
	(void)arg;
	memset(report, 0, offsetof(struct spindle_restart_report, part));
	report->node = opts.node;
	report->parts = logs;
	report->part[0].id = SUBGROUP;
	return true;
}

static const struct attempt_ops ops = {
	.promise = do_promise, .accept = do_accept, .withdraw = do_withdraw, .report = do_report,
};

static void begin(void)
{
	r.report = calloc(1, sizeof(*r.report));
	r.proposal = calloc(1, sizeof(*r.proposal));
	r.attempt = (struct attempt){ .ops = &ops, .node = 1, .voter = &voter };
	if (!r.report || !r.proposal || !attempt_begin(&r.attempt, 1, 1000))
		die("no memory");
	r.begun = true;
}

/* Return: whether the node answers. */
static bool ask(const struct attempt_request *req, uint32_t client, const char *address)
{
	const struct peer_session session = { .client = client };
	uint32_t len = attempt_put_request(req, address, question);

	return len && logd_restart_answer(&r, &session, question, len, answer);
}

static void names(void)
{
	struct attempt_request req = { .kind = ATTEMPT_PROMISE, .ballot = { 9, 2 } };
	struct spindle_restart_base *part = &proposal.part[0];

	CHECK(!ask(&req, 3, ""));
	CHECK(ask(&req, 2, ""));
	CHECK_EQ(voter.promised.era, 9);
	proposal.ballot = req.ballot;
	proposal.origin = 9;
	proposal.vid = 5;
	proposal.members = 2;
	proposal.node[0] = 1;
	proposal.node[1] = 2;
	proposal.parts = 1;
	part->id = SUBGROUP;
	part->members = 3;
	part->range.views = 1;
	part->range.view[0] = (struct spindle_restart_view){
		.id = { 1, 4 }, .members = 2, .node = { 1, 2 },
	};
	part->path = (struct spindle_restart_path){ .eras = 1 };
	part->path.past[0].last = part->range.view[0].id;
	req = (struct attempt_request){ .kind = ATTEMPT_VOTE, .proposal = &proposal };
	CHECK(!ask(&req, 3, ""));
	CHECK(!voter.has_accepted);
	/* The node has the logs of no subgroup, so the proposal is of other nodes. */
	CHECK(ask(&req, 2, ""));
	CHECK(!voter.has_accepted);
	logs = 1;
	CHECK(ask(&req, 2, ""));
	CHECK(voter.has_accepted);
}

/* Nodes ask as long as the restart waits, so an answer leaves nothing in the pool of its caller. */
static void memory(void)
{
	const struct attempt_request req = { .kind = ATTEMPT_HOW };
	struct ctl_pool pool = { 0 }, *before = ctl_pool_use(&pool);

	CHECK(ask(&req, 2, "[fd00::2]:7000"));
	CHECK(ask(&req, 2, "10.0.0.2:7000"));
	CHECK(ask(&req, 3, "nonsense:7000"));
	CHECK(LIST_EMPTY(&pool.list));
	CHECK(ctl_pool_use(before) == &pool);
	CHECK_EQ(r.attempt.peers, 1);
	CHECK_EQ(r.ask[0].place.addr.ss_family, AF_INET);
}

static const struct tap_case cases[] = {
	{ "an attempt is asked for by the node that makes it", names },
	{ "questions take no memory for ever", memory },
};

int main(void)
{
	ctl_program = "logd_restart_test";
	begin();
	return tap_run(cases, ARRAY_SIZE(cases));
}
