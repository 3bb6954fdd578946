// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of a restart, one by one. Nodes have the letters of durability.rst: A is node 1. The
 * views of a case are those of its schedule there.
 */
#include <endian.h>

#include "inner.h"
#include "log/format.h"
#include "tap.h"

#define SUBGROUP 10
#define OTHER 11

static struct spindle_restart_report report[6], copy;
static struct spindle_restart_answer answer;
static struct spindle_restart_voter voter;
static struct spindle_restart_proposal proposal;
static struct spindle_restart_force force;
static uint8_t bytes[SPINDLE_RESTART_BYTES];
static const struct spindle_restart_ballot ballot = { .era = 9, .proposer = 1 };

/* ---- builders -------------------------------------------------------------------------- */

static struct spindle_restart_report *node(char name)
{
	return &report[name - 'A'];
}

/* All nodes are there, with empty logs and no record. */
static void begin(void)
{
	uint32_t i;

	memset(report, 0, sizeof(report));
	for (i = 0; i < ARRAY_SIZE(report); i++) {
		report[i].node = i + 1;
		report[i].lineage[0] = 7;
		report[i].promised = ballot;
		report[i].parts = 1;
		report[i].part[0].id = SUBGROUP;
		report[i].part[0].member = true;
		report[i].part[0].path.whole = true;
		report[i].part[0].log.whole = true;
	}
}

static void set_view(struct spindle_restart_view *view, uint64_t era, uint64_t vid, uint64_t base,
		     const char *members)
{
	view->id = (struct spindle_restart_id){ era, vid };
	view->origin = era;
	view->base = base;
	for (view->members = 0; members[view->members]; view->members++)
		view->node[view->members] = (uint32_t)(members[view->members] - 'A' + 1);
}

static void add(char name, uint64_t era, uint64_t vid, uint64_t base, const char *members)
{
	struct spindle_restart_record *record = &node(name)->part[0].record;

	set_view(&record->view[record->views++], era, vid, base, members);
}

/* The record of a node begins with a view that is established. */
static void known(char name)
{
	node(name)->part[0].record.known = true;
}

static void epoch(char name, uint64_t era, uint64_t vid, uint64_t lsn, uint64_t end)
{
	struct spindle_restart_log *log = &node(name)->part[0].log;

	log->epoch[log->epochs++] = (struct spindle_restart_epoch){ { era, vid }, lsn };
	log->end = end;
	log->good = end;
}

static void past(char name, uint64_t era, uint64_t vid, uint64_t base)
{
	struct spindle_restart_path *path = &node(name)->part[0].path;

	path->past[path->eras++] = (struct spindle_restart_past){ { era, vid }, base };
}

static uint32_t judge(const char *names)
{
	const struct spindle_restart_report *set[6];
	uint32_t n;

	for (n = 0; names[n]; n++)
		set[n] = node(names[n]);
	spindle_restart_judge(&ballot, set, n, &answer);
	return answer.kind;
}

static bool stands(const char *names)
{
	uint32_t set[6], n;

	for (n = 0; names[n]; n++)
		set[n] = (uint32_t)(names[n] - 'A' + 1);
	return spindle_restart_stands(&answer, set, n);
}

/* The restart waits for this reason, because of this view and these nodes. */
static void waits(const char *names, uint32_t why, uint64_t vid, const char *missing)
{
	const struct spindle_restart_need *need = &answer.part[0];
	uint32_t i;

	CHECK_EQ(judge(names), SPINDLE_RESTART_WAIT);
	CHECK_EQ(need->why, why);
	CHECK_EQ(need->view.vid, vid);
	CHECK_EQ(need->nodes, strlen(missing));
	for (i = 0; i < need->nodes && missing[i]; i++)
		CHECK_EQ(need->node[i], missing[i] - 'A' + 1);
	CHECK(!spindle_restart_stands(&answer, NULL, 0));
}

/* ---- schedules -------------------------------------------------------------------------- */

static void schedule_a(void)
{
	begin();
	known('A');
	known('B');
	known('D');
	add('A', 1, 1, 0, "ABC");
	add('B', 1, 1, 0, "ABC");
	add('D', 1, 1, 0, "ABC");
	add('D', 1, 2, 0, "ABD");
	waits("AD", SPINDLE_RESTART_NODES, 1, "BC");
	CHECK_EQ(answer.part[0].more, 1);
	CHECK(answer.part[0].open);
	CHECK_EQ(judge("ABD"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.part[0].range.views, 2);
	/* The view of D is newer than what the others know, so D's is the one. */
	CHECK(!stands("AD"));
	CHECK(stands("AB"));
	CHECK(!stands("CD"));
	CHECK(!stands("BC"));
}

static void schedule_b(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "ABC");
	add('A', 1, 2, 0, "ABD");
	add('A', 1, 3, 0, "AD");
	node('D')->part[0].record = node('A')->part[0].record;
	waits("AD", SPINDLE_RESTART_NODES, 1, "BC");
	known('B');
	add('B', 1, 1, 0, "ABC");
	CHECK_EQ(judge("ABD"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.part[0].range.views, 3);
	CHECK(!stands("AD"));
	CHECK(stands("ABD"));
}

static void schedule_c(void)
{
	begin();
	node('A')->part[0].majority = true;
	known('A');
	add('A', 1, 1, 0, "ABC");
	add('A', 1, 2, 1, "ABD");
	node('D')->part[0].record = node('A')->part[0].record;
	known('B');
	add('B', 1, 1, 0, "ABC");
	epoch('B', 1, 1, 0, 1);
	waits("AD", SPINDLE_RESTART_NODES, 1, "BC");
	CHECK_EQ(judge("ABD"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.part[0].base, 1);
}

static void schedule_d(void)
{
	begin();
	known('B');
	add('B', 1, 1, 0, "A");
	add('B', 1, 2, 1, "ABC");
	waits("BC", SPINDLE_RESTART_NODES, 1, "A");
	/* A reports, and cannot read its log. */
	node('A')->part[0].log.missing = true;
	waits("ABC", SPINDLE_RESTART_LOGS, 1, "A");
	CHECK_EQ(answer.part[0].base, 0);
	CHECK_EQ(answer.part[0].to, 1);
	CHECK(!answer.part[0].open);
}

static void schedule_e(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "A");
	add('A', 1, 2, 1, "ABC");
	epoch('A', 1, 1, 0, 1);
	node('B')->part[0].record = node('A')->part[0].record;
	/* B has not caught up, so the log of A is needed for the first view. */
	node('A')->part[0].log.good = 0;
	waits("AB", SPINDLE_RESTART_LOGS, 1, "A");
	node('A')->part[0].log.good = 1;
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.part[0].base, 1);
}

static void schedule_f(void)
{
	struct spindle_restart_ballot later = { .era = 10, .proposer = 3 };

	memset(&voter, 0, sizeof(voter));
	begin();
	known('A');
	add('A', 1, 1, 0, "ABC");
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(spindle_restart_promise(&voter, &ballot), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_promise(&voter, &ballot), SPINDLE_RESTART_SAME);
	CHECK_EQ(spindle_restart_promise(&voter, &later), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_accept(&voter, &answer.proposal), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(spindle_restart_promise(&voter, &ballot), SPINDLE_RESTART_REFUSED);
	CHECK(!voter.has_accepted);
}

/* ---- all members count -------------------------------------------------------------------- */

static void joiner_free(void)
{
	begin();
	known('B');
	known('C');
	add('B', 1, 1, 0, "A");
	add('B', 1, 2, 1, "ABC");
	node('C')->part[0].record = node('B')->part[0].record;
	waits("BC", SPINDLE_RESTART_NODES, 1, "A");
	known('A');
	add('A', 1, 1, 0, "A");
	epoch('A', 1, 1, 0, 2);
	CHECK_EQ(judge("ABC"), SPINDLE_RESTART_NEW);
	/* The end of a view is not known to its members, so more than the base may be there. */
	CHECK_EQ(answer.proposal.part[0].base, 2);
}

static void unknown_range(void)
{
	begin();
	add('B', 1, 2, 1, "ABC");
	add('C', 1, 2, 1, "ABC");
	waits("BC", SPINDLE_RESTART_UNKNOWN_RANGE, 2, "");
	CHECK(answer.part[0].open);
	known('A');
	add('A', 1, 1, 0, "A");
	CHECK_EQ(judge("ABC"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.part[0].range.views, 2);
	CHECK(answer.part[0].range.known);
}

static void gap(void)
{
	begin();
	known('C');
	add('C', 1, 1, 0, "ABC");
	add('B', 1, 4, 1, "ABCDE");
	add('E', 1, 4, 1, "ABCDE");
	waits("BCE", SPINDLE_RESTART_UNKNOWN_RANGE, 4, "");
	/* D knows the views between, and its own view is a part of the range. */
	known('D');
	add('D', 1, 1, 0, "ABC");
	add('D', 1, 2, 0, "ABD");
	add('D', 1, 3, 0, "AD");
	waits("BCDE", SPINDLE_RESTART_NODES, 3, "A");
	CHECK_EQ(judge("ABCDE"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.part[0].range.views, 4);
}

/* Views of a subgroup do not have all numbers. */
static void gap_of_numbers(void)
{
	begin();
	known('A');
	add('A', 1, 3, 0, "AB");
	add('B', 1, 7, 0, "ABC");
	waits("ABC", SPINDLE_RESTART_UNKNOWN_RANGE, 7, "");
	add('C', 1, 3, 0, "AB");
	add('C', 1, 7, 0, "ABC");
	CHECK_EQ(judge("ABC"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.part[0].range.views, 2);
}

static void stuck(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "A");
	add('C', 1, 3, 0, "ABC");
	waits("ABC", SPINDLE_RESTART_UNKNOWN_RANGE, 3, "");
}

static void blind(void)
{
	begin();
	add('A', 1, 3, 0, "ABC");
	add('B', 1, 3, 0, "ABC");
	add('C', 1, 2, 0, "ABC");
	waits("ABC", SPINDLE_RESTART_UNKNOWN_RANGE, 2, "");
	known('C');
	CHECK_EQ(judge("ABC"), SPINDLE_RESTART_NEW);
}

/* ---- rules -------------------------------------------------------------------------------- */

static void established_ends_range(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "ABCDE");
	add('A', 1, 2, 0, "AB");
	known('B');
	add('B', 1, 2, 0, "AB");
	waits("A", SPINDLE_RESTART_NODES, 2, "B");
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.part[0].range.views, 1);
}

static void no_record(void)
{
	begin();
	waits("ABC", SPINDLE_RESTART_NO_RECORD, 0, "");
	CHECK_EQ(judge(""), SPINDLE_RESTART_WAIT);
	CHECK_EQ(answer.parts, 0);
}

static void conflict(void)
{
	begin();
	known('A');
	known('B');
	add('A', 1, 1, 0, "AB");
	add('B', 1, 1, 0, "ABC");
	waits("AB", SPINDLE_RESTART_CONFLICT, 1, "");
}

static void too_long(void)
{
	uint64_t vid;

	begin();
	known('A');
	for (vid = 1; vid < SPINDLE_RESTART_VIEWS; vid++)
		add('A', 1, vid, 0, "A");
	CHECK_EQ(judge("A"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.part[0].range.views, SPINDLE_RESTART_VIEWS - 1);
	add('A', 1, vid, 0, "A");
	waits("A", SPINDLE_RESTART_TOO_LONG, 1, "");
}

static void which_reports(void)
{
	begin();
	known('A');
	known('B');
	add('A', 1, 1, 0, "ABC");
	add('B', 1, 1, 0, "ABC");
	node('B')->promised.proposer = 2;
	waits("AB", SPINDLE_RESTART_NODES, 1, "BC");
	node('B')->promised = (struct spindle_restart_ballot){ .era = 8, .proposer = 1 };
	waits("AB", SPINDLE_RESTART_NODES, 1, "BC");
	node('B')->promised = ballot;
	node('B')->lineage[1] = 1;
	waits("AB", SPINDLE_RESTART_NODES, 1, "BC");
	waits("AA", SPINDLE_RESTART_NODES, 1, "BC");
	node('B')->lineage[1] = 0;
	CHECK_EQ(judge("ABA"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.reports, 2);
	CHECK_EQ(answer.proposal.members, 2);
	/* Without an attempt, promises do not matter, and there is no proposal. */
	node('B')->promised.era = 1;
	spindle_restart_judge(NULL, (const struct spindle_restart_report *const[]){
			      node('A'), node('B') }, 2, &answer);
	CHECK_EQ(answer.kind, SPINDLE_RESTART_WAIT);
	CHECK_EQ(answer.part[0].why, SPINDLE_RESTART_READY);
}

static void logs_of_majority(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "ABC");
	node('A')->part[0].majority = true;
	node('B')->part[0].log.missing = true;
	waits("AB", SPINDLE_RESTART_LOGS, 1, "BC");
	CHECK_EQ(answer.part[0].more, 1);
	CHECK_EQ(judge("ABC"), SPINDLE_RESTART_NEW);
	node('A')->part[0].majority = false;
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
	node('A')->part[0].log.missing = true;
	waits("AB", SPINDLE_RESTART_LOGS, 1, "ABC");
}

static void damage(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "AB");
	epoch('A', 1, 1, 0, 5);
	node('A')->part[0].log.good = 3;
	epoch('B', 1, 1, 0, 4);
	/* B has counted, and its log is whole, so it has all that was durable. */
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.part[0].base, 4);
	node('B')->part[0].log.missing = true;
	waits("AB", SPINDLE_RESTART_LOGS, 1, "AB");
	CHECK_EQ(answer.part[0].base, 3);
	CHECK_EQ(answer.part[0].to, 5);
	/* Another log covers what A cannot read. */
	node('A')->part[0].majority = true;
	node('B')->part[0].log.missing = false;
	waits("AB", SPINDLE_RESTART_LOGS, 1, "A");
	node('B')->part[0].log.end = 5;
	node('B')->part[0].log.good = 5;
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
}

/* A log counts up to its first damage, so two logs do not cover each other. */
static void damage_everywhere(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "AB");
	epoch('A', 1, 1, 0, 5);
	epoch('B', 1, 1, 0, 5);
	node('A')->part[0].log.good = 2;
	node('B')->part[0].log.good = 4;
	waits("AB", SPINDLE_RESTART_LOGS, 1, "AB");
	CHECK_EQ(answer.part[0].base, 4);
	CHECK_EQ(answer.part[0].to, 5);
	/* A log that is whole is enough, also if it ends earlier. */
	node('B')->part[0].log.end = 4;
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
}

/* ---- logs ---------------------------------------------------------------------------------- */

static uint64_t cut(char name, uint64_t era, uint64_t vid)
{
	struct spindle_restart_id id = { era, vid };
	uint64_t end = 99;

	if (!spindle_restart_cut(&node(name)->part[0].log, &id, &node(name)->part[0].path, &end))
		return 77;
	return end;
}

static void cut_by_epoch(void)
{
	begin();
	epoch('A', 1, 1, 0, 4);
	epoch('A', 1, 2, 4, 9);
	CHECK_EQ(cut('A', 1, 2), 9);
	CHECK_EQ(cut('A', 1, 3), 9);
	CHECK_EQ(cut('A', 1, 1), 4);
	/* An era that has begun after the first view, at 3. */
	past('A', 1, 1, 3);
	CHECK_EQ(cut('A', 2, 3), 3);
	epoch('A', 3, 4, 9, 12);
	CHECK_EQ(cut('A', 2, 3), 3);
	CHECK_EQ(cut('A', 3, 4), 12);
}

static void cut_without_epochs(void)
{
	begin();
	CHECK_EQ(cut('A', 1, 1), 0);
	epoch('A', 1, 5, 4, 9);
	/* What is below is of a view that is not told. */
	node('A')->part[0].log.whole = false;
	CHECK_EQ(cut('A', 1, 2), 77);
	node('A')->part[0].log.whole = true;
	CHECK_EQ(cut('A', 1, 2), 4);
	/* The era of the log may have been on the path, which does not go back so far. */
	node('A')->part[0].path.whole = false;
	CHECK_EQ(cut('A', 2, 6), 77);
	past('A', 2, 6, 2);
	CHECK_EQ(cut('A', 3, 7), 77);
}

/* The longest log is not always on the way to the newest view. */
static void base_is_on_the_way(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "ABC");
	add('A', 2, 4, 2, "AB");
	past('A', 1, 1, 2);
	epoch('A', 1, 1, 0, 2);
	epoch('A', 2, 4, 2, 3);
	known('C');
	add('C', 1, 1, 0, "ABC");
	epoch('C', 1, 1, 0, 4);
	epoch('C', 1, 2, 4, 8);
	CHECK_EQ(judge("ABC"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.part[0].base, 3);
	CHECK_EQ(answer.proposal.vid, 5);
	CHECK_EQ(answer.proposal.part[0].path.eras, 2);
	CHECK_EQ(answer.proposal.part[0].path.past[1].last.vid, 4);
	CHECK_EQ(answer.proposal.part[0].path.past[1].base, 3);
	CHECK(answer.proposal.part[0].path.whole);
}

/* ---- proposals that were accepted ----------------------------------------------------------- */

/* A proposal of era @era that was accepted by @name, of the view 1.1 of A, B and C. */
static void accepted(char name, uint64_t era, uint64_t origin)
{
	struct spindle_restart_proposal *p = &node(name)->accepted;

	node(name)->has_accepted = true;
	p->ballot.era = era;
	p->ballot.proposer = 2;
	p->origin = origin;
	p->lineage[0] = 7;
	p->vid = 2;
	p->members = 2;
	p->node[0] = 1;
	p->node[1] = 2;
	p->parts = 1;
	p->part[0].id = SUBGROUP;
	p->part[0].base = era;
	p->part[0].members = 3;
	p->part[0].range.known = true;
	p->part[0].range.views = 1;
	set_view(&p->part[0].range.view[0], 1, 1, 0, "ABC");
	p->part[0].path.whole = true;
	p->part[0].path.eras = 1;
	p->part[0].path.past[0] = (struct spindle_restart_past){ { 1, 1 }, era };
}

static void again(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "ABC");
	accepted('A', 5, 3);
	accepted('B', 4, 4);
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_AGAIN);
	CHECK_EQ(answer.proposal.ballot.era, 9);
	CHECK_EQ(answer.proposal.ballot.proposer, 1);
	CHECK_EQ(answer.proposal.origin, 3);
	CHECK_EQ(answer.proposal.part[0].base, 5);
	CHECK_EQ(judge("BA"), SPINDLE_RESTART_AGAIN);
	CHECK_EQ(answer.proposal.origin, 3);
	CHECK(spindle_restart_good_proposal(&answer.proposal));
}

static void superseded_by_era(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "ABC");
	add('A', 5, 2, 0, "AB");
	past('A', 1, 1, 0);
	accepted('B', 5, 5);
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.part[0].range.views, 2);
	accepted('B', 4, 4);
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
	accepted('B', 6, 6);
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_AGAIN);
}

static void superseded_by_follower(void)
{
	begin();
	known('A');
	add('A', 1, 1, 0, "ABC");
	add('A', 3, 2, 0, "AB");
	past('A', 1, 1, 0);
	/* The proposal of era 3 was accepted once more in era 6, and runs since era 3. */
	accepted('B', 6, 3);
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.part[0].range.view[1].id.era, 3);
}

/* A record of one subgroup says that the other one has a view of that era, too. */
static void other_subgroup(void)
{
	struct spindle_restart_part *part;
	uint32_t i;

	begin();
	for (i = 0; i < ARRAY_SIZE(report); i++) {
		report[i].parts = 2;
		report[i].part[1].id = OTHER;
		report[i].part[1].member = i == 2;
		report[i].part[1].path.whole = true;
		report[i].part[1].log.whole = true;
	}
	known('A');
	add('A', 1, 1, 0, "AB");
	part = &node('C')->part[1];
	part->record.known = true;
	part->record.views = 1;
	set_view(&part->record.view[0], 5, 2, 0, "C");
	part->path.eras = 1;
	part->path.past[0] = (struct spindle_restart_past){ { 1, 1 }, 0 };
	waits("ABC", SPINDLE_RESTART_UNKNOWN_RANGE, 1, "");
	accepted('A', 5, 5);
	set_view(&node('A')->accepted.part[0].range.view[0], 1, 1, 0, "AB");
	CHECK_EQ(judge("ABC"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.part[0].range.views, 2);
	CHECK_EQ(answer.part[0].range.view[1].id.era, 5);
	CHECK_EQ(answer.part[0].range.view[1].id.vid, 2);
	CHECK_EQ(answer.proposal.part[0].path.eras, 2);
	/* Both subgroups have to be ready. */
	part->record.known = false;
	CHECK_EQ(judge("ABC"), SPINDLE_RESTART_WAIT);
}

/* The range of a proposal that was accepted has views that no record has. */
static void accepted_tells_views(void)
{
	struct spindle_restart_base *base = &node('B')->accepted.part[0];

	begin();
	known('A');
	add('A', 1, 1, 0, "AB");
	epoch('A', 2, 2, 0, 6);
	accepted('B', 5, 5);
	set_view(&base->range.view[0], 1, 1, 0, "AB");
	set_view(&base->range.view[1], 2, 2, 0, "ABC");
	base->range.views = 2;
	base->path.eras = 2;
	base->path.past[0] = (struct spindle_restart_past){ { 1, 1 }, 0 };
	base->path.past[1] = (struct spindle_restart_past){ { 2, 2 }, 5 };
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_AGAIN);
	CHECK_EQ(answer.part[0].range.views, 2);
	CHECK_EQ(answer.part[0].base, 6);
	CHECK(!stands("AC"));
	waits("A", SPINDLE_RESTART_NODES, 1, "B");
	waits("B", SPINDLE_RESTART_NODES, 2, "AC");
}

static void members(void)
{
	struct spindle_restart_view view;

	begin();
	known('A');
	add('A', 1, 1, 0, "AB");
	node('C')->part[0].member = false;
	CHECK_EQ(judge("ACB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.members, 3);
	CHECK(spindle_restart_first(&answer.proposal, SUBGROUP, &view));
	CHECK(!spindle_restart_first(&answer.proposal, OTHER, &view));
	CHECK_EQ(view.members, 2);
	CHECK_EQ(view.node[1], 2);
	CHECK_EQ(view.id.era, 9);
	CHECK_EQ(view.id.vid, 2);
	/* Half of two is no majority. */
	CHECK(!stands("AC"));
	CHECK(stands("AB"));
}

/* The log of A has 0 to 8, and its view 1.2, which is established, begins at 4. */
static void keeps(void)
{
	struct spindle_restart_part *part = &node('A')->part[0];
	struct spindle_restart_past *past_era = &proposal.part[0].path.past[0];

	begin();
	accepted('B', 5, 5);
	spindle_restart_copy_proposal(&proposal, &node('B')->accepted);
	known('A');
	add('A', 1, 2, 4, "ABC");
	epoch('A', 1, 1, 0, 4);
	epoch('A', 1, 2, 4, 8);
	*past_era = (struct spindle_restart_past){ { 1, 2 }, 4 };
	CHECK(spindle_restart_keeps(node('A'), &proposal));
	past_era->base = 3;
	CHECK(!spindle_restart_keeps(node('A'), &proposal));
	part->record.known = false;
	CHECK(spindle_restart_keeps(node('A'), &proposal));
	part->record.known = true;
	part->log.missing = true;
	CHECK(spindle_restart_keeps(node('A'), &proposal));
	part->log.missing = false;
	/* A proposal of another subgroup is of other nodes. */
	past_era->base = 4;
	part->id = OTHER;
	CHECK(!spindle_restart_keeps(node('A'), &proposal));
	proposal.part[0].id = OTHER;
	CHECK(spindle_restart_keeps(node('A'), &proposal));
	past_era->base = 3;
	CHECK(!spindle_restart_keeps(node('A'), &proposal));
	/* The era of the log is not on the path. */
	*past_era = (struct spindle_restart_past){ { 2, 2 }, 100 };
	CHECK(!spindle_restart_keeps(node('A'), &proposal));
	/* A log that is shorter than the base is not cut. */
	*past_era = (struct spindle_restart_past){ { 1, 2 }, 3 };
	part->log.epochs = 1;
	part->log.end = 3;
	CHECK(spindle_restart_keeps(node('A'), &proposal));
	past_era->base = 2;
	CHECK(!spindle_restart_keeps(node('A'), &proposal));
	/* Where nothing is known of the epochs, nothing is cut. */
	proposal.part[0].path = (struct spindle_restart_path){ .whole = false };
	CHECK(spindle_restart_keeps(node('A'), &proposal));
}

/* ---- votes ----------------------------------------------------------------------------------- */

/* A proposal of this attempt. */
static void make(uint64_t era)
{
	begin();
	accepted('A', era, era);
	spindle_restart_copy_proposal(&proposal, &node('A')->accepted);
}

static void votes(void)
{
	memset(&voter, 0, sizeof(voter));
	make(5);
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(spindle_restart_promise(&voter, &proposal.ballot), SPINDLE_RESTART_SYNC);
	spindle_restart_boot(&voter);
	proposal.ballot.proposer = 3;
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(spindle_restart_promise(&voter, &proposal.ballot), SPINDLE_RESTART_REFUSED);
	proposal.ballot.proposer = 2;
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_SAME);
	CHECK_EQ(voter.accepted.ballot.era, 5);
	/* An old request for a promise gets no report: the proposal is made. */
	CHECK_EQ(spindle_restart_promise(&voter, &proposal.ballot), SPINDLE_RESTART_REFUSED);
	make(6);
	CHECK_EQ(spindle_restart_promise(&voter, &proposal.ballot), SPINDLE_RESTART_SYNC);
	CHECK_EQ(voter.accepted.ballot.era, 5);
	CHECK(voter.has_accepted);
	spindle_restart_tell(&voter, node('B'));
	CHECK_EQ(node('B')->promised.era, 6);
	CHECK_EQ(node('B')->accepted.ballot.era, 5);
}

/* A change of any member of a proposal makes it another one, which gets no vote in the attempt. */
#define OTHER_ONE(change) do {							\
	spindle_restart_copy_proposal(&proposal, &voter.accepted);		\
	CHECK(spindle_restart_equal(&voter.accepted, &proposal));		\
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_SAME);	\
	change;									\
	CHECK(!spindle_restart_equal(&voter.accepted, &proposal));		\
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_REFUSED);	\
} while (0)

static void one_vote(void)
{
	struct spindle_restart_base *part = &proposal.part[0];

	memset(&voter, 0, sizeof(voter));
	make(5);
	spindle_restart_promise(&voter, &proposal.ballot);
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_SYNC);
	OTHER_ONE(proposal.ballot.era--);
	OTHER_ONE(proposal.ballot.proposer++);
	OTHER_ONE(proposal.origin--);
	OTHER_ONE(proposal.lineage[1]++);
	OTHER_ONE(proposal.vid++);
	OTHER_ONE(proposal.members--);
	OTHER_ONE(proposal.node[1] = 3);
	OTHER_ONE(proposal.parts = 0);
	OTHER_ONE(part->id++);
	OTHER_ONE(part->base++);
	OTHER_ONE(part->members = 1);
	OTHER_ONE(part->range.known = false);
	OTHER_ONE(part->range.views = 0);
	OTHER_ONE(part->range.view[0].id.vid++);
	OTHER_ONE(part->range.view[0].origin--);
	OTHER_ONE(part->range.view[0].base++);
	OTHER_ONE(part->range.view[0].members--);
	OTHER_ONE(part->range.view[0].node[2]++);
	OTHER_ONE(part->path.whole = false);
	OTHER_ONE(part->path.eras = 0);
	OTHER_ONE(part->path.past[0].last.vid++);
	OTHER_ONE(part->path.past[0].base++);
	/* What is not used does not matter. */
	spindle_restart_copy_proposal(&proposal, &voter.accepted);
	memset(&proposal.node[2], 0xff, sizeof(proposal.node[2]));
	memset(&proposal.part[1], 0xff, sizeof(proposal.part[1]));
	part->range.view[1].base = 7;
	part->path.past[1].base = 7;
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_SAME);
}

/* R9: the node enters no view of an era before that of its vote, or of its promise. */
static void turn(void)
{
	memset(&voter, 0, sizeof(voter));
	make(5);
	CHECK_EQ(spindle_restart_promise(&voter, &proposal.ballot), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_enter(&voter, 4), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_enter(&voter, 4), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(voter.state, SPINDLE_RESTART_ACCEPTED);
	CHECK_EQ(spindle_restart_enter(&voter, 5), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_enter(&voter, 5), SPINDLE_RESTART_SAME);
	CHECK_EQ(voter.state, SPINDLE_RESTART_RUNNING);
}

/* A promise to an attempt that was withdrawn binds no more, and the one before it does. */
static void withdrawn(void)
{
	struct spindle_restart_ballot later = { .era = 6, .proposer = 3 };
	uint32_t i;

	memset(&voter, 0, sizeof(voter));
	make(5);
	CHECK_EQ(spindle_restart_promise(&voter, &proposal.ballot), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_promise(&voter, &later), SPINDLE_RESTART_SYNC);
	CHECK(!spindle_restart_withdrawn(&voter, 3, &later));
	CHECK_EQ(spindle_restart_withdraw(&voter, &later), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_withdraw(&voter, &later), SPINDLE_RESTART_SAME);
	CHECK_EQ(voter.state, SPINDLE_RESTART_SILENT);
	CHECK(spindle_restart_withdrawn(&voter, 3, &later));
	CHECK(!spindle_restart_withdrawn(&voter, 2, &later));
	CHECK_EQ(spindle_restart_bound(&voter), 5);
	CHECK_EQ(spindle_restart_enter(&voter, 4), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(spindle_restart_promise(&voter, &later), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(spindle_restart_enter(&voter, 5), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_enter(&voter, 5), SPINDLE_RESTART_SAME);
	CHECK_EQ(voter.promised.era, 6);
	later.era = 7;
	CHECK(!spindle_restart_withdrawn(&voter, 3, &later));
	/* What was accepted binds for ever. */
	memset(&voter, 0, sizeof(voter));
	spindle_restart_promise(&voter, &proposal.ballot);
	spindle_restart_accept(&voter, &proposal);
	CHECK(!spindle_restart_withdrawn(&voter, proposal.ballot.proposer, &proposal.ballot));
	CHECK_EQ(spindle_restart_withdraw(&voter, &proposal.ballot), SPINDLE_RESTART_SAME);
	CHECK_EQ(spindle_restart_enter(&voter, 4), SPINDLE_RESTART_REFUSED);
	/* A start withdraws the own attempts, and no others. */
	memset(&voter, 0, sizeof(voter));
	for (i = 1; i <= 6; i++) {
		later.era = i;
		later.proposer = i % 3;
		spindle_restart_promise(&voter, &later);
	}
	spindle_restart_withdraw_own(&voter, 0);
	CHECK_EQ(voter.opens, 4);
	CHECK_EQ(spindle_restart_bound(&voter), 5);
	later.proposer = 3;
	/* An attempt that is forgotten binds as well. */
	memset(&voter, 0, sizeof(voter));
	for (i = 1; i <= SPINDLE_RESTART_OPEN + 1; i++) {
		later.era = i;
		spindle_restart_promise(&voter, &later);
	}
	while (later.era) {
		spindle_restart_withdraw(&voter, &later);
		later.era--;
	}
	CHECK_EQ(spindle_restart_bound(&voter), 1);
}

/* R10: what a node has promised before it enters a view is void. */
static void stale_vote(void)
{
	struct spindle_restart_ballot next = { .era = 7, .proposer = 1 };

	memset(&voter, 0, sizeof(voter));
	make(5);
	CHECK_EQ(spindle_restart_promise(&voter, &proposal.ballot), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_enter(&voter, 6), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_promise(&voter, &next), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_REFUSED);
	spindle_restart_stop(&voter);
	CHECK_EQ(voter.state, SPINDLE_RESTART_SILENT);
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_REFUSED);
	next.era = 6;
	CHECK_EQ(spindle_restart_promise(&voter, &next), SPINDLE_RESTART_REFUSED);
	next.era = 7;
	CHECK_EQ(spindle_restart_promise(&voter, &next), SPINDLE_RESTART_SYNC);
}

/* Eras have a limit, and no promise jumps there. A view that the node is in may be anywhere. */
static void eras(void)
{
	struct spindle_restart_ballot b = { .era = SPINDLE_RESTART_ERA_JUMP + 1, .proposer = 3 };

	memset(&voter, 0, sizeof(voter));
	CHECK_EQ(spindle_restart_reach(&voter), SPINDLE_RESTART_ERA_JUMP);
	CHECK_EQ(spindle_restart_promise(&voter, &b), SPINDLE_RESTART_REFUSED);
	b.era = ~0ULL;
	CHECK_EQ(spindle_restart_promise(&voter, &b), SPINDLE_RESTART_REFUSED);
	CHECK_EQ(voter.promised.era, 0);
	b.era = SPINDLE_RESTART_ERA_JUMP;
	CHECK_EQ(spindle_restart_promise(&voter, &b), SPINDLE_RESTART_SYNC);
	b.era *= 2;
	CHECK_EQ(spindle_restart_promise(&voter, &b), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_enter(&voter, SPINDLE_RESTART_ERA_MAX + 1),
		 SPINDLE_RESTART_REFUSED);
	CHECK_EQ(spindle_restart_enter(&voter, SPINDLE_RESTART_ERA_MAX - 1), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_reach(&voter), SPINDLE_RESTART_ERA_MAX);
	spindle_restart_stop(&voter);
	b.era = SPINDLE_RESTART_ERA_MAX + 1;
	CHECK_EQ(spindle_restart_promise(&voter, &b), SPINDLE_RESTART_REFUSED);
	b.era = SPINDLE_RESTART_ERA_MAX;
	CHECK_EQ(spindle_restart_promise(&voter, &b), SPINDLE_RESTART_SYNC);
}

/* A node votes in the era that it runs in no more. */
static void same_era(void)
{
	memset(&voter, 0, sizeof(voter));
	make(5);
	CHECK_EQ(spindle_restart_promise(&voter, &proposal.ballot), SPINDLE_RESTART_SYNC);
	CHECK_EQ(spindle_restart_enter(&voter, 5), SPINDLE_RESTART_SYNC);
	spindle_restart_stop(&voter);
	CHECK_EQ(spindle_restart_accept(&voter, &proposal), SPINDLE_RESTART_REFUSED);
}

/* ---- bytes ---------------------------------------------------------------------------- */

static void round_trips(void)
{
	size_t len, i;

	memset(&voter, 0, sizeof(voter));
	make(5);
	spindle_restart_promise(&voter, &proposal.ballot);
	spindle_restart_accept(&voter, &proposal);
	spindle_restart_tell(&voter, node('A'));
	known('A');
	add('A', 1, 1, 0, "ABC");
	add('A', 1, 2, 3, "ABCDE");
	epoch('A', 1, 1, 0, 4);
	strcpy(node('A')->address, "10.0.0.1");
	len = spindle_restart_put_report(node('A'), bytes, sizeof(bytes));
	CHECK(len > 0);
	CHECK(spindle_restart_get_report(&copy, bytes, len));
	CHECK(!memcmp(&copy.part[0].record.view[1].node,
		      &node('A')->part[0].record.view[1].node, 20));
	CHECK_EQ(copy.part[0].log.epoch[0].id.vid, 1);
	CHECK_EQ(copy.accepted.part[0].path.past[0].base, 5);
	CHECK(!strcmp(copy.address, "10.0.0.1"));
	CHECK(!spindle_restart_get_proposal(&proposal, bytes, len));
	CHECK(!spindle_restart_get_voter(&voter, bytes, len));
	for (i = 0; i < len; i++)
		CHECK(!spindle_restart_get_report(&copy, bytes, i));
	for (i = 0; i < len * 8; i++) {
		bytes[i / 8] ^= 1U << i % 8;
		CHECK(!spindle_restart_get_report(&copy, bytes, len));
		bytes[i / 8] ^= 1U << i % 8;
	}
	for (i = 0; i < len; i++)
		CHECK_EQ(spindle_restart_put_report(node('A'), bytes, i), 0);
}

/* Of another kind, and with a CRC that is right. */
static void other_kind(void)
{
	uint32_t crc;
	size_t len;

	make(5);
	len = spindle_restart_put_proposal(&proposal, bytes, sizeof(bytes));
	CHECK(spindle_restart_get_proposal(&proposal, bytes, len));
	bytes[4]++;
	crc = htole32(spindle_dlog_crc(0, bytes, len - 4));
	memcpy(bytes + len - 4, &crc, sizeof(crc));
	CHECK(!spindle_restart_get_proposal(&proposal, bytes, len));
}

static void votes_on_disk(void)
{
	size_t len;

	memset(&voter, 0, sizeof(voter));
	make(5);
	spindle_restart_promise(&voter, &proposal.ballot);
	spindle_restart_accept(&voter, &proposal);
	spindle_restart_enter(&voter, 6);
	len = spindle_restart_put_voter(&voter, bytes, sizeof(bytes));
	memset(&voter, 0, sizeof(voter));
	CHECK(spindle_restart_get_voter(&voter, bytes, len + 5));
	CHECK_EQ(voter.state, SPINDLE_RESTART_RUNNING);
	CHECK_EQ(voter.promised.era, 6);
	CHECK_EQ(voter.accepted.origin, 5);
	spindle_restart_boot(&voter);
	CHECK_EQ(voter.state, SPINDLE_RESTART_SILENT);
}

static void fill_part(struct spindle_restart_part *part)
{
	uint32_t i, k;

	for (i = 0; i < SPINDLE_RESTART_VIEWS; i++) {
		set_view(&part->record.view[i], 60, i + 1, 0, "A");
		part->record.view[i].members = SPINDLE_MAX_MEMBERS;
		for (k = 0; k < SPINDLE_MAX_MEMBERS; k++)
			part->record.view[i].node[k] = k;
	}
	part->record.views = SPINDLE_RESTART_VIEWS;
	for (i = 0; i < SPINDLE_RESTART_PAST; i++)
		past('A', i, 1, i);
	for (i = 0; i < SPINDLE_RESTART_EPOCHS; i++)
		epoch('A', i, 1, i, i + 1);
}

/* The largest structs have room. */
static void largest(void)
{
	struct spindle_restart_part *part = &node('A')->part[0];
	uint32_t i;
	size_t len;

	make(100);
	fill_part(part);
	for (i = 1; i < SPINDLE_MAX_SUBGROUPS; i++) {
		node('A')->part[i] = *part;
		node('A')->part[i].id = 100 + i;
		node('A')->accepted.part[i] = node('A')->accepted.part[0];
		node('A')->accepted.part[i].id = 100 + i;
	}
	node('A')->parts = SPINDLE_MAX_SUBGROUPS;
	node('A')->accepted.parts = SPINDLE_MAX_SUBGROUPS;
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++) {
		struct spindle_restart_base *base = &node('A')->accepted.part[i];

		base->range = part->record;
		base->range.views--;
		base->path = part->path;
		base->path.past[SPINDLE_RESTART_PAST - 1] = (struct spindle_restart_past){
			base->range.view[base->range.views - 1].id, base->base };
	}
	len = spindle_restart_put_report(node('A'), bytes, sizeof(bytes));
	CHECK(len > 0);
	CHECK(spindle_restart_get_report(&copy, bytes, len));
}

/* Valid numbers in a wrong order are refused, with a CRC that is right. */
#define REFUSED(change) do {							\
	make(5);								\
	a->promised.era = 5;							\
	add('A', 1, 1, 4, "ABC");						\
	add('A', 1, 2, 5, "AB");						\
	epoch('A', 1, 1, 0, 4);							\
	epoch('A', 1, 2, 4, 6);							\
	past('A', 0, 1, 1);							\
	len = spindle_restart_put_report(a, bytes, sizeof(bytes));		\
	CHECK(spindle_restart_get_report(&copy, bytes, len));			\
	change;									\
	len = spindle_restart_put_report(a, bytes, sizeof(bytes));		\
	CHECK(!spindle_restart_get_report(&copy, bytes, len));			\
} while (0)

static void hostile_report(void)
{
	struct spindle_restart_report *a = node('A');
	size_t len;

	REFUSED(a->part[0].record.view[1].id.vid = 1);
	REFUSED(a->part[0].record.view[1].base = 3);
	REFUSED(a->part[0].record.view[1].node[1] = 1);
	REFUSED(a->part[0].record.view[1].members = 0);
	REFUSED(a->part[0].record.view[1].origin = 2);
	REFUSED(a->part[0].path.past[0].last.era = 1);
	REFUSED(a->part[0].log.good = 7);
	REFUSED(a->part[0].log.epoch[1].lsn = 6);
	REFUSED(a->part[0].log.epoch[1].lsn = 0);
	REFUSED(a->part[0].log.epoch[1].id.vid = 1);
	REFUSED(memset(a->address, 'x', sizeof(a->address)));
	REFUSED(strcpy(a->address, "10.0.0.1\033:1"));
	REFUSED(strcpy(a->address, "10.0.0.1 "));
	REFUSED(strcpy(a->address, "10.0.0.1\177"));
	REFUSED(strcpy(a->address, "10.0.0.1\377"));
	REFUSED(a->promised.era = SPINDLE_RESTART_ERA_MAX + 1);
	REFUSED(a->part[0].record.view[1].id.era = SPINDLE_RESTART_ERA_MAX + 1);
	REFUSED(a->part[1] = a->part[0]; a->parts = 2);
}

static void hostile_proposal(void)
{
	struct spindle_restart_report *a = node('A');
	size_t len;

	REFUSED(a->accepted.origin = 6);
	REFUSED(a->accepted.ballot.era = SPINDLE_RESTART_ERA_MAX + 1);
	REFUSED(a->accepted.members = 0);
	REFUSED(a->accepted.node[1] = 1);
	REFUSED(a->accepted.part[0].members = 4);
	REFUSED(a->accepted.part[0].range.views = 0);
	REFUSED(a->accepted.part[0].range.view[0].id.era = 5);
	REFUSED(a->accepted.part[0].base = SPINDLE_RESTART_LSN_MAX + 1);
	REFUSED(a->accepted.parts = 0);
	REFUSED(a->accepted.part[0].members = 0);
	REFUSED(a->accepted.part[0].path.past[0].base++);
	REFUSED(a->accepted.part[0].path.past[0].last.vid++);
	REFUSED(a->accepted.vid = 1ULL << 60);
}

static void bad_voter(void)
{
	size_t len;

#define BAD(change) do {							\
	memset(&voter, 0, sizeof(voter));					\
	make(5);								\
	spindle_restart_promise(&voter, &proposal.ballot);			\
	spindle_restart_accept(&voter, &proposal);				\
	change;									\
	len = spindle_restart_put_voter(&voter, bytes, sizeof(bytes));		\
	CHECK(!spindle_restart_get_voter(&voter, bytes, len));			\
} while (0)
	BAD(voter.state = SPINDLE_RESTART_RUNNING + 1);
	BAD(voter.promised.era = 4);
	BAD(voter.promised.proposer = 4);
	BAD(voter.has_accepted = false);
	BAD(voter.bound = 4);
	BAD(voter.bound = 6);
	BAD((voter.state = SPINDLE_RESTART_SILENT,
	     voter.promised.era = SPINDLE_RESTART_ERA_MAX + 1));
	BAD(voter.opens = SPINDLE_RESTART_OPEN + 1);
	BAD((voter.opens = 1, voter.open[0].era = 6));
	BAD((voter.opens = 1, voter.open[0].era = 0));
}

/* ---- forced restarts ----------------------------------------------------------------------- */

static bool can_force(const char *names)
{
	const struct spindle_restart_report *set[6];
	uint32_t n;

	judge(names);
	for (n = 0; names[n]; n++)
		set[n] = node(names[n]);
	return spindle_restart_force(&ballot, set, n, &answer, &force);
}

/* Bytes of the restart that these nodes could be forced to. */
static size_t encode_force(const char *names, uint8_t *to)
{
	return can_force(names) ? spindle_restart_put_force(&force, to, SPINDLE_RESTART_BYTES) : 0;
}

/* All nodes of "ABCDE" have view 1, and each of them a log of its own length. */
static void begin_five(void)
{
	char name;

	begin();
	for (name = 'A'; name <= 'E'; name++) {
		known(name);
		add(name, 1, 4, 10, "ABCDE");
		epoch(name, 1, 4, 0, 20 + (uint64_t)(name - 'A'));
		node(name)->address[0] = name;
	}
}

static void one_of_three(void)
{
	const struct spindle_restart_base *part = &force.proposal.part[0];

	begin();
	known('A');
	known('B');
	add('A', 1, 4, 10, "ABC");
	add('B', 1, 4, 10, "ABC");
	epoch('A', 1, 4, 0, 20);
	CHECK(can_force("A"));
	CHECK_EQ(force.proposal.ballot.era, 2);
	CHECK_EQ(force.proposal.vid, 5);
	CHECK_EQ(force.proposal.members, 1);
	CHECK_EQ(force.proposal.node[0], 1);
	CHECK_EQ(force.proposal.lineage[0], 7);
	CHECK_EQ(part->base, 20);
	CHECK_EQ(part->members, 1);
	CHECK_EQ(part->path.past[0].base, 20);
	CHECK_EQ(force.loss[0].to, 20);
	CHECK(force.loss[0].open);
	CHECK(!can_force("AB"));
	CHECK_EQ(answer.kind, SPINDLE_RESTART_NEW);
}

static void longest_of_two(void)
{
	static uint8_t other[SPINDLE_RESTART_BYTES];
	size_t len;

	begin_five();
	len = encode_force("BD", bytes);
	CHECK(len);
	CHECK_EQ(force.proposal.part[0].base, 23);
	CHECK_EQ(force.proposal.part[0].members, 3);
	CHECK_EQ(force.proposal.node[1], 4);
	CHECK_EQ(force.address[1][0], 'D');
	/* The same reports in another order make the same restart. */
	CHECK_EQ(encode_force("DB", other), len);
	CHECK(!memcmp(bytes, other, len));
	node('D')->part[0].record.view[0].node[0] = 5;
	node('D')->part[0].record.view[0].node[4] = 1;
	CHECK_EQ(encode_force("DB", other), len);
	CHECK(!memcmp(bytes, other, len));
	/* Another report makes another one, and so does another log. */
	CHECK(encode_force("B", other) && memcmp(bytes, other, len));
	node('D')->part[0].log.end++;
	CHECK_EQ(encode_force("BD", other), len);
	CHECK(memcmp(bytes, other, len));
	CHECK_EQ(force.loss[0].to, 24);
}

static void two_parts(void)
{
	struct spindle_restart_part *part;
	char name;

	begin_five();
	for (name = 'A'; name <= 'E'; name++) {
		part = &node(name)->part[1];
		*part = node(name)->part[0];
		node(name)->parts = 2;
		part->id = OTHER;
		part->member = name != 'A';
	}
	/* Reports may have the subgroups in any order. */
	part = &node('A')->part[0];
	part[2] = part[0];
	part[0] = part[1];
	part[1] = part[2];
	node('A')->part[0].log.missing = true;
	CHECK(can_force("AB"));
	CHECK_EQ(force.proposal.parts, 2);
	CHECK_EQ(force.proposal.part[0].id, SUBGROUP);
	CHECK_EQ(force.proposal.part[0].members, 3);
	CHECK_EQ(force.proposal.part[1].id, OTHER);
	CHECK_EQ(force.proposal.part[1].members, 2);
	CHECK(can_force("BA"));
	CHECK_EQ(force.proposal.parts, 2);
	CHECK_EQ(force.proposal.part[1].id, OTHER);
	/* A subgroup without a member that reports has nothing to go on from. */
	CHECK(!can_force("A"));
}

/* ---- shards --------------------------------------------------------------------------- */

/* The record of a node in one of two shards has this view, which is established. */
static void in_shard(char name, uint32_t shard, uint64_t vid, const char *members)
{
	struct spindle_restart_record *record = &node(name)->part[shard].record;

	record->known = true;
	record->views = 1;
	set_view(&record->view[0], 1, vid, 0, members);
}

/* A and B are in the first shard, C and D in the second one. E and F are in none. */
static void begin_shards(void)
{
	char name;

	begin();
	for (name = 'A'; name <= 'F'; name++) {
		node(name)->part[1] = node(name)->part[0];
		node(name)->part[1].id = OTHER;
		node(name)->part[1].shard = 1;
		node(name)->parts = 2;
	}
	in_shard('A', 0, 1, "AB");
	in_shard('B', 0, 1, "AB");
	in_shard('C', 1, 1, "CD");
	in_shard('D', 1, 1, "CD");
}

/* The nodes of a subgroup, in the order of the members. */
static void placed(const struct spindle_restart_proposal *p, uint32_t id, const char *names)
{
	struct spindle_restart_view view;
	uint32_t i;

	CHECK(spindle_restart_first(p, id, &view));
	CHECK_EQ(view.members, strlen(names));
	for (i = 0; i < view.members && names[i]; i++)
		CHECK_EQ(view.node[i], names[i] - 'A' + 1);
}

static void are_placed(const char *names, const char *first, const char *second)
{
	CHECK_EQ(judge(names), SPINDLE_RESTART_NEW);
	placed(&answer.proposal, SUBGROUP, first);
	placed(&answer.proposal, OTHER, second);
}

static void shards(void)
{
	begin_shards();
	are_placed("ABCD", "AB", "CD");
	are_placed("DBCA", "BA", "DC");
	/* New nodes go to the smallest shard, when all others have their places. */
	are_placed("EABCD", "EAB", "CD");
	are_placed("EFABCD", "EAB", "FCD");
	in_shard('A', 0, 2, "ABE");
	are_placed("FABCDE", "ABE", "FCD");
	/* A rule may not name a node. */
	node('F')->part[0].member = false;
	node('F')->part[1].member = false;
	are_placed("ABCDEF", "ABE", "CD");
	/* Another subgroup, which only A may be in, is none of the shards. */
	begin_shards();
	for (const char *name = "ABCD"; *name; name++) {
		node(*name)->part[2] = node('A')->part[0];
		node(*name)->part[2].id = OTHER + 1;
		node(*name)->part[2].member = *name == 'A';
		node(*name)->parts = 3;
	}
	are_placed("ABCD", "AB", "CD");
	placed(&answer.proposal, OTHER + 1, "A");
}

/* A node was in both shards, one after the other. */
static void shard_left(void)
{
	/* The newest view of the first shard is without C, which it has a record of. */
	begin_shards();
	in_shard('C', 0, 3, "ABC");
	in_shard('A', 0, 4, "AB");
	are_placed("ABCD", "AB", "CD");
	/* No reporter knows the view by which C has left the first shard. */
	begin_shards();
	in_shard('A', 0, 1, "ABC");
	in_shard('B', 0, 1, "ABC");
	in_shard('C', 0, 1, "ABC");
	in_shard('C', 1, 3, "CD");
	are_placed("ABCD", "AB", "CD");
	in_shard('A', 0, 4, "ABC");
	are_placed("ABCD", "ABC", "D");
	/* A node that is in the newest view of neither begins where it was last. */
	begin_shards();
	in_shard('E', 0, 1, "ABE");
	in_shard('A', 0, 4, "AB");
	in_shard('B', 0, 1, "ABE");
	in_shard('E', 1, 2, "CDE");
	in_shard('C', 1, 3, "CD");
	in_shard('D', 1, 2, "CDE");
	are_placed("ABCDE", "AB", "CDE");
	are_placed("ECDAB", "AB", "ECD");
}

/* All reporters of a shard have left it, and one that has stayed is away. */
static void shard_deserted(void)
{
	begin_shards();
	in_shard('A', 0, 1, "ABE");
	in_shard('B', 0, 1, "ABE");
	in_shard('A', 1, 2, "ABCD");
	in_shard('B', 1, 2, "ABCD");
	waits("ABCD", SPINDLE_RESTART_NODES, 1, "E");
	CHECK_EQ(answer.part[0].more, 1);
	CHECK(answer.part[0].open);
	CHECK_EQ(answer.part[1].why, SPINDLE_RESTART_READY);
	are_placed("ABCDE", "E", "ABCD");
	/* Nobody is away, so a reporter is wrong. */
	in_shard('A', 0, 1, "AB");
	in_shard('B', 0, 1, "AB");
	CHECK_EQ(judge("ABCD"), SPINDLE_RESTART_WAIT);
	CHECK_EQ(answer.part[0].why, SPINDLE_RESTART_CONFLICT);
}

/* The log of a node that has left a shard still counts there. */
static void shard_logs(void)
{
	begin_shards();
	in_shard('A', 0, 1, "ABC");
	in_shard('B', 0, 1, "ABC");
	in_shard('C', 0, 1, "ABC");
	node('A')->part[0].log.missing = true;
	node('B')->part[0].log.missing = true;
	epoch('C', 1, 1, 0, 6);
	in_shard('C', 1, 2, "CD");
	are_placed("ABCD", "AB", "CD");
	CHECK_EQ(answer.proposal.part[0].base, 6);
	node('C')->part[0].log.missing = true;
	waits("ABCD", SPINDLE_RESTART_LOGS, 1, "ABC");
}

static void shards_forced(void)
{
	begin_shards();
	CHECK(can_force("AC"));
	placed(&force.proposal, SUBGROUP, "A");
	placed(&force.proposal, OTHER, "C");
	CHECK(can_force("CEA"));
	placed(&force.proposal, SUBGROUP, "AE");
	placed(&force.proposal, OTHER, "C");
	CHECK(!can_force("CD"));
}

static void shard_bytes(void)
{
	static struct spindle_restart_report back;
	size_t len;

	begin_shards();
	len = spindle_restart_put_report(node('A'), bytes, sizeof(bytes));
	CHECK(spindle_restart_get_report(&back, bytes, len));
	CHECK_EQ(back.part[0].shard, 0);
	CHECK_EQ(back.part[1].shard, 1);
	node('A')->part[1].shard = OTHER;
	CHECK(spindle_restart_good_report(node('A')));
	node('A')->part[1].shard = OTHER + 1;
	CHECK(!spindle_restart_good_report(node('A')));
	node('A')->part[1].id = 1000;
	node('A')->part[1].shard = SPINDLE_MAX_SUBGROUPS;
	CHECK(!spindle_restart_good_report(node('A')));
}

static void damage_forced(void)
{
	begin_five();
	node('B')->part[0].log.good = 12;
	CHECK(can_force("B"));
	CHECK_EQ(force.proposal.part[0].base, 12);
	CHECK_EQ(force.loss[0].to, 21);
	CHECK(can_force("AB"));
	CHECK_EQ(force.proposal.part[0].base, 20);
	CHECK_EQ(force.loss[0].to, 21);
}

static void not_forced(void)
{
	begin_five();
	node('A')->part[0].record.views = 0;
	CHECK(!can_force("A"));
	begin_five();
	node('B')->part[0].record.view[0].base++;
	CHECK(!can_force("AB"));
	CHECK_EQ(answer.part[0].why, SPINDLE_RESTART_CONFLICT);
	CHECK(!can_force(""));
}

/* The new lineage has an era above each one that the logs may have a message of. */
static void forced_era(void)
{
	begin_five();
	epoch('A', 6, 1, 18, 25);
	CHECK(can_force("A"));
	CHECK_EQ(force.proposal.ballot.era, 7);
	CHECK_EQ(force.proposal.part[0].base, 18);
	begin_five();
	node('A')->has_accepted = true;
	node('A')->accepted = (struct spindle_restart_proposal){ .ballot = { 8, 2 } };
	CHECK(can_force("A"));
	CHECK_EQ(force.proposal.ballot.era, 9);
	begin_five();
	epoch('A', SPINDLE_RESTART_ERA_MAX, 1, 18, 25);
	CHECK(!can_force("A"));
}

/* Members of the first view of a forced lineage need not have all that it begins with. */
static void durable_is_needed(void)
{
	begin();
	known('A');
	known('B');
	add('A', 1, 4, 30, "ABC");
	add('B', 1, 4, 30, "ABC");
	epoch('A', 0, 1, 0, 20);
	epoch('B', 0, 1, 0, 29);
	past('A', 0, 1, 30);
	past('B', 0, 1, 30);
	waits("AB", SPINDLE_RESTART_LOGS, 4, "ABC");
	CHECK_EQ(answer.part[0].more, 1);
	CHECK_EQ(answer.part[0].base, 29);
	CHECK_EQ(answer.part[0].to, 30);
	CHECK(can_force("AB"));
	CHECK_EQ(force.loss[0].to, 30);
	node('B')->part[0].log.end = 30;
	node('B')->part[0].log.good = 30;
	CHECK_EQ(judge("AB"), SPINDLE_RESTART_NEW);
}

static void forced_bytes(void)
{
	static struct spindle_restart_force back;
	static uint8_t other[SPINDLE_RESTART_BYTES];
	size_t len, i, k;

	begin_five();
	len = encode_force("BD", bytes);
	CHECK(spindle_restart_get_force(&back, bytes, len));
	CHECK_EQ(spindle_restart_put_force(&back, other, sizeof(other)), len);
	CHECK(!memcmp(bytes, other, len));
	for (i = 0; i < len; i++)
		CHECK(!spindle_restart_get_force(&back, bytes, i));
	for (i = 0; i < 8 * len; i++) {
		bytes[i / 8] ^= (uint8_t)(1U << i % 8);
		CHECK(!spindle_restart_get_force(&back, bytes, len));
		bytes[i / 8] ^= (uint8_t)(1U << i % 8);
	}
#define WRONG(change) do {							\
	encode_force("BD", bytes);						\
	change;									\
	k = spindle_restart_put_force(&force, bytes, sizeof(bytes));		\
	CHECK(k && !spindle_restart_get_force(&back, bytes, k));		\
} while (0)
	WRONG(force.proposal.ballot.proposer = 1);
	WRONG(force.proposal.origin--);
	WRONG(force.proposal.node[0] = 5);
	WRONG(force.address[0][0] = ' ');
	WRONG(force.address[0][2] = 'x');
	WRONG(memset(force.address[1], 'x', sizeof(force.address[1])));
	WRONG(force.loss[0].to = force.proposal.part[0].base - 1);
	WRONG(force.loss[0].to = SPINDLE_RESTART_LSN_MAX + 1);
	WRONG(force.proposal.part[0].range.known = false);
	WRONG(force.proposal.part[0].range.views = 0);
#undef WRONG
}

/* The node lists another subgroup as well, in which it was in the same views without a message. */
static void list_other(char name)
{
	node(name)->part[1] = node(name)->part[0];
	node(name)->part[1].id = OTHER;
	node(name)->parts = 2;
}

static void lists(void)
{
	begin();
	for (const char *name = "ABC"; *name; name++) {
		known(*name);
		add(*name, 1, 1, 0, "ABC");
	}
	list_other('A');
	list_other('B');
	/* The list of the first report counts. */
	waits("AC", SPINDLE_RESTART_NODES, 1, "BC");
	CHECK_EQ(answer.parts, 2);
	waits("CAB", SPINDLE_RESTART_NODES, 1, "AB");
	CHECK_EQ(answer.parts, 1);
	CHECK_EQ(judge("ACB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.reports, 2);
	CHECK_EQ(answer.proposal.parts, 2);
	CHECK_EQ(answer.proposal.members, 2);
	CHECK(spindle_restart_keeps(node('A'), &answer.proposal));
	CHECK(!spindle_restart_keeps(node('C'), &answer.proposal));
	/* B does not know of the other subgroup. */
	node('B')->parts = 1;
	CHECK_EQ(judge("CAB"), SPINDLE_RESTART_NEW);
	CHECK_EQ(answer.proposal.parts, 1);
	CHECK(spindle_restart_keeps(node('B'), &answer.proposal));
	CHECK(!spindle_restart_keeps(node('A'), &answer.proposal));
	/* As many subgroups are no equal list. */
	node('A')->parts = 1;
	node('A')->part[0].id = OTHER;
	CHECK(!spindle_restart_keeps(node('A'), &answer.proposal));
	waits("AB", SPINDLE_RESTART_NODES, 1, "BC");
}

static const struct tap_case cases[] = {
	{ "a: a majority of the newest view alone does not restart", schedule_a },
	{ "b: majorities of the last two views do not restart", schedule_b },
	{ "c: a view that is not established does not end the range", schedule_c },
	{ "d: the log of a joiner does not stand for the view before it", schedule_d },
	{ "e: a member that has not caught up does not stand for another", schedule_e },
	{ "f: a node that has promised a later attempt accepts no earlier one", schedule_f },
	{ "JOINER_FREE: the only member of the view before has to report", joiner_free },
	{ "UNKNOWN_RANGE: a view of joiners alone does not restart", unknown_range },
	{ "GAP: a view that is missing is noticed", gap },
	{ "a gap of a subgroup's numbers closes only by a record", gap_of_numbers },
	{ "STUCK: a view that no record has is waited for", stuck },
	{ "BLIND: members without a range wait", blind },
	{ "an established view ends the range", established_ends_range },
	{ "a group without a record waits", no_record },
	{ "records that differ are a conflict", conflict },
	{ "a range has a limit", too_long },
	{ "a report counts once, for its attempt and its lineage", which_reports },
	{ "with ack majority, a majority has to have logs", logs_of_majority },
	{ "a damaged log counts where another one covers it", damage },
	{ "logs that are damaged in different places do not cover each other", damage_everywhere },
	{ "a log is cut by the epochs of its messages", cut_by_epoch },
	{ "a log whose epochs are not told cannot be used", cut_without_epochs },
	{ "the base is the longest log on the way to the newest view", base_is_on_the_way },
	{ "the proposal accepted in the highest era is made again", again },
	{ "a view of the era supersedes a proposal", superseded_by_era },
	{ "a view that follows a proposal supersedes it", superseded_by_follower },
	{ "an era that one subgroup has a record of counts for all", other_subgroup },
	{ "what was accepted tells views that no record has", accepted_tells_views },
	{ "the reporters with a logger are the members", members },
	{ "a proposal may not cut what a node knows to be durable", keeps },
	{ "nodes with different lists of subgroups do not restart together", lists },
	{ "votes follow promises", votes },
	{ "a node votes for one proposal of an attempt", one_vote },
	{ "a node that has promised enters no earlier era", turn },
	{ "a promise to an attempt that was withdrawn does not bind", withdrawn },
	{ "a node that has entered a view has no vote left", stale_vote },
	{ "eras do not jump, and have a limit", eras },
	{ "a node that has run in an era does not vote in it", same_era },
	{ "a report comes back as it was, and no bit of it can flip", round_trips },
	{ "an encoding of another kind is refused", other_kind },
	{ "votes come back from a disk", votes_on_disk },
	{ "the largest report has room", largest },
	{ "reports with wrong contents are refused", hostile_report },
	{ "proposals with wrong contents are refused", hostile_proposal },
	{ "votes with wrong contents are refused", bad_voter },
	{ "R8: one of three nodes can be forced", one_of_three },
	{ "R8: the longest log is the base, and the order of reports does not matter",
	  longest_of_two },
	{ "each node begins again in its shard", shards },
	{ "a node that was in two shards begins again in the later one", shard_left },
	{ "a shard that all reporters have left waits", shard_deserted },
	{ "the log of a node that has left a shard counts there", shard_logs },
	{ "R8: nodes stay in their shards", shards_forced },
	{ "reports come back with their shards", shard_bytes },
	{ "R8: each subgroup needs a member that reports", two_parts },
	{ "R8: a damaged log counts up to its damage", damage_forced },
	{ "R8: without a record, or with a conflict, nothing can be forced", not_forced },
	{ "R8: the era is above all that reporters know", forced_era },
	{ "what an established view begins with has to be there", durable_is_needed },
	{ "forced restarts come back as they were, and wrong ones are refused", forced_bytes },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
