// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile bytes: reports, proposals, voters and view records that were encoded well are broken at
 * random. Nothing may crash, and what is decoded may be judged and voted for. In half of the runs,
 * the CRC is made right again, so that the bytes get past it.
 *
 *	fuzz [-s SEED] [-n RUNS]
 */
#include <endian.h>
#include <getopt.h>
#include <string.h>

#include "inner.h"
#include "log/format.h"
#include "rng.h"
#include "tap.h"

#define NODES 4
#define LONGEST 8192U

static struct spindle_restart_report report[NODES];
static struct spindle_restart_answer answer;
static struct spindle_restart_voter voter;
static struct spindle_restart_proposal proposal;
static u8 room[SPINDLE_RESTART_BYTES];
static u64 taken, refused;

static void make_record(struct rng *rng, struct spindle_restart_record *record, u32 views)
{
	u32 i, k;

	record->known = rng_chance(rng, 70);
	record->views = views;
	for (i = 0; i < views; i++) {
		struct spindle_restart_view *view = &record->view[i];

		view->id = (struct spindle_restart_id){ 1 + (i > 2), 1 + i };
		view->origin = view->id.era;
		view->base = i;
		view->members = 1 + rng_below(rng, NODES);
		for (k = 0; k < view->members; k++)
			view->node[k] = k + 1;
	}
}

static void make_path(struct spindle_restart_path *path, u32 eras)
{
	u32 i;

	path->whole = true;
	path->eras = eras;
	for (i = 0; i < eras; i++)
		path->past[i] = (struct spindle_restart_past){ { i, 1 }, i };
}

static void make_proposal(struct rng *rng, struct spindle_restart_proposal *p)
{
	struct spindle_restart_id last;
	u32 i;

	p->ballot = (struct spindle_restart_ballot){ .era = 9, .proposer = 1 };
	p->origin = 8;
	p->lineage[0] = 1;
	p->lineage[1] = 2;
	p->vid = 9;
	p->members = 1 + rng_below(rng, NODES);
	for (i = 0; i < p->members; i++)
		p->node[i] = i + 1;
	p->parts = 1 + rng_below(rng, 3);
	for (i = 0; i < p->parts; i++) {
		p->part[i].id = i;
		p->part[i].base = rng_below(rng, 9);
		p->part[i].members = 1;
		make_record(rng, &p->part[i].range, 1 + rng_below(rng, 5));
		last = p->part[i].range.view[p->part[i].range.views - 1].id;
		make_path(&p->part[i].path, (u32)last.era);
		p->part[i].path.past[p->part[i].path.eras++] =
			(struct spindle_restart_past){ last, p->part[i].base };
	}
}

static void make_log(struct rng *rng, struct spindle_restart_log *log)
{
	u32 i;

	log->missing = rng_chance(rng, 10);
	log->whole = rng_chance(rng, 80);
	log->epochs = rng_below(rng, 5);
	log->end = log->epochs + rng_below(rng, 9);
	log->good = log->end - (log->end && rng_chance(rng, 20));
	for (i = 0; i < log->epochs; i++)
		log->epoch[i] = (struct spindle_restart_epoch){ { 1 + (i > 2), 1 + i }, i };
}

static void make_report(struct rng *rng, struct spindle_restart_report *r, u32 node)
{
	u32 i;

	r->node = node;
	memset(r->address, 0, sizeof(r->address));
	r->address[0] = 'x';
	r->lineage[0] = 1;
	r->lineage[1] = 2;
	r->promised = (struct spindle_restart_ballot){ .era = 10, .proposer = 1 };
	r->parts = rng_below(rng, 4);
	for (i = 0; i < r->parts; i++) {
		struct spindle_restart_part *part = &r->part[i];

		part->id = i;
		part->shard = rng_below(rng, i + 1);
		part->majority = rng_chance(rng, 30);
		part->member = true;
		make_record(rng, &part->record, rng_below(rng, 6));
		make_path(&part->path, part->record.views != 0);
		make_log(rng, &part->log);
	}
	r->has_accepted = rng_chance(rng, 50);
	if (r->has_accepted)
		make_proposal(rng, &r->accepted);
}

static u32 odd_word(struct rng *rng)
{
	static const u32 words[] = { 0, 1, 2, 15, 16, 17, 63, 64, 65, 255, 0x7fffffff, 0x80000000,
				     0xffffffff };

	return words[rng_below(rng, sizeof(words) / sizeof(*words))];
}

/* Break some bytes, and in half of the cases make the CRC right. */
static size_t spoil(struct rng *rng, u8 *bytes, size_t len)
{
	u32 n = rng_below(rng, 6), at, word, crc;

	while (n--) {
		at = rng_below(rng, (u32)len);
		word = htole32(odd_word(rng));
		if (rng_chance(rng, 50))
			bytes[at] ^= (u8)(1U << rng_below(rng, 8));
		else if (at / 4 * 4 + 4 <= len)
			memcpy(bytes + at / 4 * 4, &word, sizeof(word));
	}
	if (rng_chance(rng, 10))
		len = rng_below(rng, (u32)len);
	if (len < 16 || rng_chance(rng, 30))
		return len;
	word = htole32((u32)len - 4);
	memcpy(bytes + 8, &word, sizeof(word));
	crc = htole32(spindle_dlog_crc(0, bytes, len - 4));
	memcpy(bytes + len - 4, &crc, sizeof(crc));
	return len;
}

/* Exactly as long as the bytes, so that the sanitizer sees each read behind them. */
static u8 *own(const u8 *bytes, size_t len)
{
	u8 *copy = malloc(len ? len : 1);

	memcpy(copy, bytes, len);
	return copy;
}

static void count(bool good)
{
	taken += good;
	refused += !good;
}

static void try_votes(struct rng *rng)
{
	u8 *bytes;
	size_t len;

	make_proposal(rng, &proposal);
	memset(&voter, 0, sizeof(voter));
	if (rng_chance(rng, 80))
		spindle_restart_promise(&voter, &proposal.ballot);
	if (rng_chance(rng, 80))
		spindle_restart_accept(&voter, &proposal);
	len = spindle_restart_put_voter(&voter, room, LONGEST);
	len = spoil(rng, room, len);
	bytes = own(room, len);
	if (spindle_restart_get_voter(&voter, bytes, len)) {
		if (spindle_restart_bound(&voter) > SPINDLE_RESTART_ERA_MAX ||
		    spindle_restart_reach(&voter) > SPINDLE_RESTART_ERA_MAX)
			die("votes with an era above all were taken");
		spindle_restart_boot(&voter);
		spindle_restart_enter(&voter, rng_below(rng, 20));
		count(true);
	} else {
		count(false);
		memset(&voter, 0, offsetof(struct spindle_restart_voter, accepted));
	}
	free(bytes);
	len = spindle_restart_put_proposal(&proposal, room, LONGEST);
	len = spoil(rng, room, len);
	bytes = own(room, len);
	count(spindle_restart_get_proposal(&proposal, bytes, len) &&
	      (spindle_restart_promise(&voter, &proposal.ballot) ||
	       spindle_restart_accept(&voter, &proposal) || true));
	free(bytes);
}

static void try_keep(struct rng *rng)
{
	static struct spindle_restart_keep keep, back;
	u8 *bytes;
	size_t len;
	bool good;

	make_record(rng, &keep.record, 1 + rng_below(rng, 5));
	make_path(&keep.path, 1);
	keep.established = keep.record.known && keep.record.views == 1;
	len = spindle_restart_put_keep(&keep, room, LONGEST);
	if (!spindle_restart_get_keep(&back, room, len) ||
	    spindle_restart_put_keep(&back, room, LONGEST) != len)
		die("a view record does not come back");
	len = spoil(rng, room, len);
	bytes = own(room, len);
	good = spindle_restart_get_keep(&back, bytes, len);
	if (good && (!back.record.views || back.record.views > SPINDLE_RESTART_VIEWS ||
		     (back.established && back.record.views > 1)))
		die("a view record that is none was taken");
	count(good);
	free(bytes);
}

/* What could be forced comes back, and hostile bytes of it are refused. */
static void try_force(struct rng *rng, const struct spindle_restart_ballot *attempt,
		      const struct spindle_restart_report *const *set, u32 n)
{
	static struct spindle_restart_force force;
	size_t len;
	u8 *bytes;

	if (!spindle_restart_force(attempt, set, n, &answer, &force))
		return;
	len = spindle_restart_put_force(&force, room, SPINDLE_RESTART_BYTES);
	if (!len || !spindle_restart_get_force(&force, room, len))
		die("a forced restart of reports that were taken is refused");
	len = spoil(rng, room, len);
	bytes = own(room, len);
	count(spindle_restart_get_force(&force, bytes, len));
	free(bytes);
}

static void try_reports(struct rng *rng)
{
	static const struct spindle_restart_ballot ballot = { .era = 10, .proposer = 1 };
	const struct spindle_restart_report *set[NODES];
	const struct spindle_restart_ballot *attempt;
	u32 i, n = 0;
	size_t len;
	u8 *bytes;

	for (i = 0; i < NODES; i++) {
		bool good;

		make_report(rng, &report[i], i + 1);
		len = spindle_restart_put_report(&report[i], room, SPINDLE_RESTART_BYTES);
		len = spoil(rng, room, len);
		bytes = own(room, len);
		good = spindle_restart_get_report(&report[i], bytes, len);
		if (good && report[i].promised.era > SPINDLE_RESTART_ERA_MAX)
			die("a report with an era above all was taken");
		count(good);
		if (good)
			set[n++] = &report[i];
		free(bytes);
	}
	attempt = rng_chance(rng, 80) ? &ballot : NULL;
	spindle_restart_judge(attempt, set, n, &answer);
	if (answer.kind == SPINDLE_RESTART_WAIT) {
		try_force(rng, attempt, set, n);
		return;
	}
	len = spindle_restart_put_proposal(&answer.proposal, room, SPINDLE_RESTART_BYTES);
	if (!len || !spindle_restart_get_proposal(&proposal, room, len))
		die("a proposal of reports that were taken is refused");
}

int main(int argc, char **argv)
{
	u64 seed = 1, n = 20000, i;
	struct rng rng;
	int c;

	while ((c = getopt(argc, argv, "s:n:")) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			n = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	for (i = 0; i < n; i++) {
		rng = (struct rng){ .state = rng_mix(seed + i) };
		if (i % 2)
			try_reports(&rng);
		else
			try_votes(&rng);
		try_keep(&rng);
	}
	printf("# %llu encodings taken, %llu refused\n", (unsigned long long)taken,
	       (unsigned long long)refused);
	ok(taken > n / 50 && refused > n / 50, "hostile bytes, in %llu runs from seed %llu on",
	   (unsigned long long)n, (unsigned long long)seed);
	return tap_end();
}
