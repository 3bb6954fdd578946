// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench-replay: the time of an object if only links take time.
 *
 *	bench-replay [-a ALGORITHM] [-n N,...] [-S BYTES] [-b BLOCK] [-r BYTES/S] [-t NS] [-o NS]
 *		     [-g NS] [-s NS] [-w GRANTS] [-W GRANTS] [-f] [-L SERIES]
 *	bench-replay --check
 *
 * kmod/core/rdmc/schedule.c gives each block its sender and receiver, as in the kernel. Each member
 * has one link. Each direction of a link carries one block at a time, at -r, plus -o for each
 * block. -t gives the time of a whole block instead of both. A member does its sends in the order
 * of the schedule. A send needs four things. The send before it has ended. The block is here. Its
 * receiver has granted it. No other block is on its way to that receiver. If several members wait
 * for the same receiver, the one with the first step goes first, or with -f the one that came
 * first. Grants go out in the order of the receives, as in kmod/core/rdmc/move.c: at most -w to
 * each source at a time, and at most -W to all. A grant takes -g. The root begins after -s.
 *
 * The rows are those of a figure of "make bench": series, x, members, blocks, and the time until
 * the last member has all, in us. Then follow the same time for one receiver, the ratio of both,
 * and the gain over sending to one receiver after the other. Then follows the gain as a share of
 * the gain that the fewest steps would give. Last are the time between the first and the last
 * receiver, in blocks, and the steps of the schedule.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rdmc/schedule.h"

/* The same as in rdmc.h of the core, and the largest number here. */
#define GRANTS		4
#define MAX_GRANTS	64

#define NOBODY	UINT32_MAX

struct grant {
	uint64_t at;	/* when its holder learns of it */
	uint32_t block;
};

/* The grants of a member to one of its sources. */
struct pair {
	struct grant grant[MAX_GRANTS];
	uint32_t head, tail;
};

struct member {
	struct spindle_schedule s;
	struct spindle_walk send, recv;
	struct spindle_hop out, in;
	bool out_known, in_known;
	bool sending, receiving;
	uint8_t *have;
	uint32_t got;
	uint64_t done;
	struct pair *pair;	/* by source */
	uint32_t granted;	/* to all */
	uint32_t waits_for;	/* its link */
	uint32_t next;		/* the next member that waits for the same link */
	uint32_t first;		/* the first member that waits for this one's link */
	bool stirred;
};

struct event {
	uint64_t at;
	uint64_t number;
	uint32_t from, to, block;	/* a block has arrived; from NOBODY: @to checks again */
};

static struct {
	uint32_t algorithm, n, blocks;
	uint64_t size, block, whole, over, latency, setup;
	double rate;
	struct member *m;
	struct event *heap;
	size_t events, room;
	uint64_t now, number;
	uint32_t *stirred, stirs;	/* members that may have something to send now */
	uint32_t window, all;
	bool first_come;
} sim = { .window = GRANTS, .all = UINT32_MAX };

#define die(...) do { fprintf(stderr, "bench-replay: " __VA_ARGS__); exit(1); } while (0)

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("no memory\n");
	return p;
}

/* ---- events ----------------------------------------------------------------- */

static bool before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void push(uint64_t at, uint32_t from, uint32_t to, uint32_t block)
{
	struct event e = { at, sim.number++, from, to, block };
	size_t i = sim.events++;

	if (sim.events > sim.room) {
		sim.room = 2 * sim.events;
		sim.heap = realloc(sim.heap, sim.room * sizeof(*sim.heap));
		if (!sim.heap)
			die("no memory\n");
	}
	for (; i && before(&e, &sim.heap[(i - 1) / 2]); i = (i - 1) / 2)
		sim.heap[i] = sim.heap[(i - 1) / 2];
	sim.heap[i] = e;
}

static struct event pop(void)
{
	struct event top = sim.heap[0], e = sim.heap[--sim.events];
	size_t i = 0, c;

	while ((c = 2 * i + 1) < sim.events) {
		if (c + 1 < sim.events && before(&sim.heap[c + 1], &sim.heap[c]))
			c++;
		if (!before(&sim.heap[c], &e))
			break;
		sim.heap[i] = sim.heap[c];
		i = c;
	}
	sim.heap[i] = e;
	return top;
}

/* ---- members ---------------------------------------------------------------- */

static uint64_t time_of(uint32_t block)
{
	uint64_t len = sim.block;

	if (block == sim.blocks - 1)
		len = sim.size - (uint64_t)block * sim.block;
	if (sim.whole)
		return (double)sim.whole * len / sim.block;
	return sim.over + len * 1e9 / sim.rate;
}

/*
 * Something has changed for a member. The member is checked when all events of this instant are
 * known.
 */
static void stir(uint32_t who)
{
	if (!sim.m[who].stirred)
		sim.stirred[sim.stirs++] = who;
	sim.m[who].stirred = true;
}

static uint64_t step_of(uint32_t who)
{
	return sim.m[who].out_known ? sim.m[who].out.step : 0;
}

static void wait_behind(uint32_t who, uint32_t whom)
{
	uint32_t *at = &sim.m[whom].first;

	if (sim.m[who].waits_for == whom)
		return;
	sim.m[who].waits_for = whom;
	while (*at != NOBODY && (sim.first_come || step_of(*at) <= step_of(who)))
		at = &sim.m[*at].next;
	sim.m[who].next = *at;
	*at = who;
}

static void try_send(uint32_t who)
{
	struct member *m = &sim.m[who], *to;
	struct pair *p;

	if (m->sending)
		return;
	if (!m->out_known || !m->have[m->out.block])
		return;
	to = &sim.m[m->out.peer];
	p = &to->pair[who];
	if (p->head == p->tail || p->grant[p->head % MAX_GRANTS].at > sim.now)
		return;
	if (p->grant[p->head % MAX_GRANTS].block != m->out.block)
		die("member %u has no grant for block %u of %u\n", who, m->out.block, m->out.peer);
	if (to->receiving) {
		wait_behind(who, m->out.peer);
		return;
	}
	m->sending = true;
	to->receiving = true;
	m->out_known = false;
	push(sim.now + time_of(m->out.block), who, m->out.peer, m->out.block);
}

static void try_grant(uint32_t who)
{
	struct member *m = &sim.m[who];
	struct pair *p;

	for (;;) {
		if (!m->in_known)
			m->in_known = spindle_walk_recv(&m->recv, &m->s, &m->in);
		if (!m->in_known)
			return;
		p = &m->pair[m->in.peer];
		if (p->tail - p->head == sim.window || m->granted == sim.all)
			return;
		p->grant[p->tail++ % MAX_GRANTS] = (struct grant){ sim.now + sim.latency,
							       m->in.block };
		m->in_known = false;
		m->granted++;
		if (sim.latency)
			push(sim.now + sim.latency, NOBODY, m->in.peer, 0);
		else
			stir(m->in.peer);
	}
}

static void arrive(const struct event *e)
{
	struct member *from = &sim.m[e->from], *to = &sim.m[e->to];

	from->sending = false;
	to->receiving = false;
	to->pair[e->from].head++;
	to->granted--;
	if (to->have[e->block])
		die("member %u gets block %u twice\n", e->to, e->block);
	to->have[e->block] = 1;
	if (++to->got == sim.blocks)
		to->done = sim.now;
	/* Members in the queue come before members that have not checked yet. */
	while (to->first != NOBODY) {
		uint32_t who = to->first;

		to->first = sim.m[who].next;
		sim.m[who].waits_for = NOBODY;
		stir(who);
	}
	try_grant(e->to);
	stir(e->to);
	stir(e->from);
}

static int by_step(const void *a, const void *b)
{
	uint64_t x = step_of(*(const uint32_t *)a), y = step_of(*(const uint32_t *)b);

	return (x > y) - (x < y);
}

/* All events of this instant are known: check the members. */
static void go_on(void)
{
	uint32_t i;

	for (i = 0; i < sim.stirs; i++) {
		struct member *m = &sim.m[sim.stirred[i]];

		m->stirred = false;
		if (!m->out_known)
			m->out_known = spindle_walk_send(&m->send, &m->s, &m->out);
	}
	if (!sim.first_come)
		qsort(sim.stirred, sim.stirs, sizeof(*sim.stirred), by_step);
	for (i = 0; i < sim.stirs; i++)
		try_send(sim.stirred[i]);
	sim.stirs = 0;
}

static void begin(void)
{
	uint32_t i;

	sim.m = allocate(sim.n, sizeof(*sim.m));
	sim.stirred = allocate(sim.n, sizeof(*sim.stirred));
	sim.stirs = 0;
	for (i = 0; i < sim.n; i++) {
		struct member *m = &sim.m[i];

		spindle_schedule_init(&m->s, sim.algorithm, sim.n, i, sim.blocks, NULL);
		spindle_walk_begin(&m->send, &m->s);
		spindle_walk_begin(&m->recv, &m->s);
		m->have = allocate(sim.blocks, 1);
		m->pair = allocate(sim.n, sizeof(*m->pair));
		m->first = NOBODY;
		m->waits_for = NOBODY;
	}
	memset(sim.m[0].have, 1, sim.blocks);
	sim.now = sim.setup;
	for (i = 0; i < sim.n; i++)
		push(sim.now, NOBODY, i, 0);
	for (i = 0; i < sim.n; i++)
		try_grant(i);
}

static void end(void)
{
	uint32_t i;

	for (i = 0; i < sim.n; i++) {
		free(sim.m[i].have);
		free(sim.m[i].pair);
	}
	free(sim.m);
	free(sim.stirred);
}

/* Return: the time when the last member has all; *first: the same for the first receiver */
static uint64_t replay(uint32_t algorithm, uint32_t n, uint64_t *first)
{
	uint64_t last = 0;
	struct event e;
	uint32_t i;

	sim.algorithm = algorithm;
	sim.n = n;
	begin();
	while (sim.events) {
		e = pop();
		sim.now = e.at;
		if (e.from == NOBODY)
			stir(e.to);
		else
			arrive(&e);
		if (!sim.events || sim.heap[0].at > sim.now)
			go_on();
	}
	*first = UINT64_MAX;
	for (i = 1; i < n; i++) {
		if (sim.m[i].got != sim.blocks)
			die("member %u of %u has %u of %u blocks\n", i, n, sim.m[i].got,
			    sim.blocks);
		if (sim.m[i].done > last)
			last = sim.m[i].done;
		if (sim.m[i].done < *first)
			*first = sim.m[i].done;
	}
	end();
	return last;
}

static uint64_t steps(uint32_t algorithm, uint32_t n)
{
	struct spindle_schedule s;

	spindle_schedule_init(&s, algorithm, n, 0, sim.blocks, NULL);
	return spindle_schedule_steps(&s);
}

/* ---- check ------------------------------------------------------------------ */

static const char *const algorithms[] = {
	[SPINDLE_ALG_PIPELINE] = "pipeline",
	[SPINDLE_ALG_SEQUENTIAL] = "sequential",
	[SPINDLE_ALG_CHAIN] = "chain",
	[SPINDLE_ALG_TREE] = "tree",
	[SPINDLE_ALG_HYBRID] = "hybrid",
};

#define ALGORITHMS	(sizeof(algorithms) / sizeof(algorithms[0]))

static uint32_t log2_up(uint32_t n)
{
	uint32_t l = 0;

	while (1U << l < n)
		l++;
	return l;
}

static uint64_t expected(uint32_t algorithm, uint32_t n)
{
	uint64_t k = sim.blocks, l = log2_up(n);

	switch (algorithm) {
	case SPINDLE_ALG_SEQUENTIAL:
		return k * (n - 1);
	case SPINDLE_ALG_CHAIN:
		return k + n - 2;
	case SPINDLE_ALG_TREE:
		return k * l;
	default:
		return k + l - 1;
	}
}

/* Count in steps: a block takes one unit of time, and nothing else takes time. */
static uint32_t check_one(uint32_t algorithm, uint32_t n)
{
	uint64_t first, time = replay(algorithm, n, &first), want = expected(algorithm, n);

	if (time == want && steps(algorithm, n) == want)
		return 0;
	printf("%s, %u members, %u blocks: %" PRIu64 " and not %" PRIu64 "\n",
	       algorithms[algorithm], n, sim.blocks, time, want);
	return 1;
}

static int check(void)
{
	static const uint32_t of[] = { 1, 2, 3, 7, 64, 255 };
	uint32_t a, n, i, bad = 0;

	sim.block = 1;
	sim.rate = 1e9;
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		sim.blocks = of[i];
		sim.size = of[i];
		for (a = 0; a < SPINDLE_ALG_HYBRID; a++)
			for (n = 2; n <= 64; n++)
				bad += check_one(a, n);
	}
	printf("closed forms: %u wrong\n", bad);
	return bad ? 1 : 0;
}

/* ---- rows -------------------------------------------------------------------- */

static void row(const char *series, uint32_t algorithm, uint32_t n)
{
	uint64_t first, none, time, one, sequential;
	double best, gain;

	one = replay(SPINDLE_ALG_PIPELINE, 2, &none);
	sequential = replay(SPINDLE_ALG_SEQUENTIAL, n, &none);
	time = replay(algorithm, n, &first);
	gain = (double)sequential / time;
	best = (double)steps(SPINDLE_ALG_SEQUENTIAL, n) / steps(SPINDLE_ALG_PIPELINE, n);
	printf("%s,%u,%u,%u,%.3f,%.3f,%.6g,%.6g,%.6g,%.6g,%" PRIu64 "\n", series, n, n, sim.blocks,
	       time / 1e3, one / 1e3, (double)time / one, gain, gain / best,
	       (double)(time - first) / time_of(0), steps(algorithm, n));
}

static uint64_t bytes(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (*end == 'K')
		return n << 10;
	if (*end == 'M')
		return n << 20;
	if (*end || end == text)
		die("bad number '%s'\n", text);
	return n;
}

static uint32_t algorithm_of(const char *name)
{
	uint32_t i;

	for (i = 0; i < ALGORITHMS; i++)
		if (!strcmp(name, algorithms[i]))
			return i;
	die("no algorithm '%s'\n", name);
}

int main(int argc, char **argv)
{
	const char *series = NULL, *list = "2,4,8,16";
	uint32_t algorithm = SPINDLE_ALG_PIPELINE;
	char *end;
	int c;

	if (argc == 2 && !strcmp(argv[1], "--check"))
		return check();
	sim.size = 64 << 20;
	sim.block = 256 << 10;
	sim.rate = 1e9;
	while ((c = getopt(argc, argv, "a:n:S:b:r:t:o:g:s:w:W:fL:")) != -1) {
		switch (c) {
		case 'a': algorithm = algorithm_of(optarg); break;
		case 'n': list = optarg; break;
		case 'S': sim.size = bytes(optarg); break;
		case 'b': sim.block = bytes(optarg); break;
		case 'r': sim.rate = strtod(optarg, NULL); break;
		case 't': sim.whole = strtoull(optarg, NULL, 10); break;
		case 'o': sim.over = strtoull(optarg, NULL, 10); break;
		case 'g': sim.latency = strtoull(optarg, NULL, 10); break;
		case 's': sim.setup = strtoull(optarg, NULL, 10); break;
		case 'w': sim.window = strtoul(optarg, NULL, 10); break;
		case 'W': sim.all = strtoul(optarg, NULL, 10); break;
		case 'f': sim.first_come = true; break;
		case 'L': series = optarg; break;
		default: return 2;
		}
	}
	if (!sim.window || sim.window > MAX_GRANTS || !sim.all)
		die("at least one grant, and at most %u to a source\n", MAX_GRANTS);
	sim.blocks = (sim.size + sim.block - 1) / sim.block;
	puts("series,x,members,blocks,time_us,unicast_us,over_unicast,over_sequential,of_best,skew_blocks,steps");
	for (; *list; list = *end ? end + 1 : end) {
		uint32_t n = strtoul(list, &end, 10);

		if (end == list || n < 2 || n > SPINDLE_SCHEDULE_MAX)
			die("bad list of members\n");
		row(series ? series : algorithms[algorithm], algorithm, n);
	}
	return 0;
}
