// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block schedules: is each of them a valid schedule, and is it the intended one?
 *
 * Without racks the sweep covers all of 1 to 64 members and 1 to 300 blocks. Formulas and racks go
 * through small numbers of blocks and some of the larger ones. With SCHEDULES=1000 or more in the
 * environment they go through all of them. SCHEDULES is also a percentage for the random cases, and
 * with less than 100 the sweeps take a few numbers of blocks, too.
 */
#include "rng.h"
#include "tap.h"
#include "core/rdmc/schedule.h"

#define MEMBERS 64U
#define BLOCKS 300U

static struct rng rng;
static u64 percent;

static const char * const name[] = {
	[SPINDLE_ALG_PIPELINE] = "pipeline",
	[SPINDLE_ALG_SEQUENTIAL] = "sequential",
	[SPINDLE_ALG_CHAIN] = "chain",
	[SPINDLE_ALG_TREE] = "tree",
	[SPINDLE_ALG_HYBRID] = "hybrid",
};

static u32 log2_down(u32 n)
{
	u32 l = 0;

	while (n >>= 1)
		l++;
	return l;
}

static u32 log2_up(u32 n)
{
	u32 l = 0;

	while (1ULL << l < n)
		l++;
	return l;
}

/* The next number of blocks of a sweep: all small numbers, and few of the large ones. */
static u32 more_blocks(u32 k, u32 dense)
{
	if (percent < 100)
		return k + 1 + rng_below(&rng, 2 * BLOCKS);
	return k < dense || percent >= 1000 ? k + 1 : k + 1 + rng_below(&rng, 60);
}

/* ---- rules for every schedule ------------------------------------------------------ */

/*
 * The step in which a member gets a block, and the sender. @check: the number of the schedule that
 * is checked.
 */
struct got {
	u64 step;
	u32 peer;
	u32 check;
};

static struct got *got;
static size_t got_size;
static u32 check_no;

/* The slack of senders other than the root, by step. Only some cases ask for it. */
static u64 *slack_sum, *slack_senders;

static struct got *got_at(u32 rank, u32 block, u32 blocks)
{
	return &got[(size_t)rank * blocks + block];
}

static void check_recvs(const struct spindle_schedule *s, const char *what)
{
	u64 next = 0, count = 0, peers = 0;
	struct spindle_hop hop = { .step = U64_MAX };
	struct spindle_walk w;

	spindle_walk_begin(&w, s);
	while (spindle_walk_recv(&w, s, &hop)) {
		struct got *g;

		if (hop.step < next || hop.step >= s->steps || hop.block >= s->blocks ||
		    hop.peer >= s->n || hop.peer == s->rank || ++count > s->blocks)
			return tap_fail("%s: %u of %u, %u blocks: receive %u from %u at %llu", what,
					s->rank, s->n, s->blocks, hop.block, hop.peer,
					(unsigned long long)hop.step);
		next = hop.step + 1;
		peers |= 1ULL << (hop.peer & 63);
		g = got_at(s->rank, hop.block, s->blocks);
		if (g->check == check_no)
			return tap_fail("%s: %u of %u, %u blocks: %u twice", what, s->rank, s->n,
					s->blocks, hop.block);
		*g = (struct got){ .step = hop.step, .peer = hop.peer, .check = check_no };
	}
	if (count != (s->rank ? s->blocks : 0) || spindle_walk_recv(&w, s, &hop))
		tap_fail("%s: %u of %u, %u blocks: receives %llu", what, s->rank, s->n, s->blocks,
			 (unsigned long long)count);
	/* The failed call did not overwrite the last hop. */
	CHECK_EQ(hop.step + 1, next);
	/* With few blocks some sources may send nothing. */
	if (s->n <= 64 && (s->blocks > 30 ? peers != spindle_schedule_sources(s) :
					    peers & ~spindle_schedule_sources(s)))
		tap_fail("%s: %u of %u, %u blocks: sources %llx, not %llx", what, s->rank, s->n,
			 s->blocks, (unsigned long long)peers,
			 (unsigned long long)spindle_schedule_sources(s));
}

/* Check the sends of a member. Returns their number. @last: the last step in use. */
static u64 check_sends(const struct spindle_schedule *s, const char *what, u64 *last)
{
	u64 next = 0, count = 0, peers = 0;
	struct spindle_hop hop = { .step = U64_MAX };
	struct spindle_walk w;

	spindle_walk_begin(&w, s);
	while (spindle_walk_send(&w, s, &hop)) {
		const struct got *to, *own = NULL;
		bool ok = hop.peer < s->n && hop.block < s->blocks && hop.step >= next;

		if (ok) {
			to = got_at(hop.peer, hop.block, s->blocks);
			/*
			 * Only the send that the receiver expects counts, so two sends cannot match
			 * one receipt.
			 */
			ok = to->check == check_no && to->step == hop.step && to->peer == s->rank;
		}
		if (ok && s->rank) {
			own = got_at(s->rank, hop.block, s->blocks);
			ok = own->check == check_no && own->step < hop.step;
		}
		if (!ok) {
			tap_fail("%s: %u of %u, %u blocks: send %u to %u at %llu", what, s->rank,
				 s->n, s->blocks, hop.block, hop.peer,
				 (unsigned long long)hop.step);
			return count;
		}
		if (slack_sum && own) {
			slack_sum[hop.step] += hop.step - own->step;
			slack_senders[hop.step]++;
		}
		next = hop.step + 1;
		peers |= 1ULL << (hop.peer & 63);
		count++;
	}
	*last = max(*last, next);
	if (spindle_walk_send(&w, s, &hop))
		tap_fail("%s: %u of %u, %u blocks: no end", what, s->rank, s->n, s->blocks);
	CHECK_EQ(hop.step + 1, next);
	if (s->n <= 64 && (s->blocks > 30 ? peers != spindle_schedule_targets(s) :
					    peers & ~spindle_schedule_targets(s)))
		tap_fail("%s: %u of %u, %u blocks: targets %llx, not %llx", what, s->rank, s->n,
			 s->blocks, (unsigned long long)peers,
			 (unsigned long long)spindle_schedule_targets(s));
	return count;
}

/* Returns whether the schedule is valid, with exactly @steps steps. */
static bool check_schedule(u32 algorithm, u32 n, u32 blocks, const u16 *rack, u64 steps)
{
	static struct spindle_schedule s[SPINDLE_SCHEDULE_MAX];
	u32 r, failures = tap_failures;
	u64 sends = 0, last = 0;

	if (got_size < (size_t)n * blocks) {
		got_size = (size_t)n * blocks;
		free(got);
		got = calloc(got_size, sizeof(*got));
		check_no = 0;
	}
	check_no++;
	for (r = 0; r < n; r++) {
		/* The result must not depend on old contents of the memory. */
		memset(&s[r], 0x5a, sizeof(s[r]));
		spindle_schedule_init(&s[r], algorithm, n, r, blocks, rack);
		if (spindle_schedule_steps(&s[r]) != steps)
			tap_fail("%s: %u of %u, %u blocks: %llu steps, not %llu", name[algorithm],
				 r, n, blocks, (unsigned long long)spindle_schedule_steps(&s[r]),
				 (unsigned long long)steps);
		check_recvs(&s[r], name[algorithm]);
	}
	for (r = 0; r < n; r++)
		sends += check_sends(&s[r], name[algorithm], &last);
	CHECK_EQ(sends, (u64)(n - 1) * blocks);
	CHECK_EQ(last, steps);
	return failures == tap_failures;
}

static u64 steps_of(u32 algorithm, u32 n, u32 k)
{
	if (n == 1)
		return 0;
	switch (algorithm) {
	case SPINDLE_ALG_SEQUENTIAL:
		return (u64)k * (n - 1);
	case SPINDLE_ALG_CHAIN:
		return (u64)k + n - 2;
	case SPINDLE_ALG_TREE:
		return (u64)k * log2_up(n);
	default:
		/* The power of two has one step less, which makes floor and ceiling the same. */
		return (u64)k + log2_down(n) - ((n & (n - 1)) == 0);
	}
}

static void sweep(u32 algorithm)
{
	u32 n, k;

	for (n = 1; n <= MEMBERS; n++)
		for (k = 1; k <= BLOCKS; k = more_blocks(k, BLOCKS))
			if (!check_schedule(algorithm, n, k, NULL, steps_of(algorithm, n, k)))
				return;
}

static void test_pipeline(void)
{
	sweep(SPINDLE_ALG_PIPELINE);
}

static void test_others(void)
{
	sweep(SPINDLE_ALG_SEQUENTIAL);
	sweep(SPINDLE_ALG_CHAIN);
	sweep(SPINDLE_ALG_TREE);
}

/* Many members with few blocks, few members with many blocks. */
static void test_large(void)
{
	static const u32 sizes[] = { 2047, 2048, 2049, 4095, 4096 };
	u32 i, n, k, a;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (k = 1; k <= 3; k++)
			check_schedule(SPINDLE_ALG_PIPELINE, sizes[i], k, NULL,
				       steps_of(SPINDLE_ALG_PIPELINE, sizes[i], k));
	for (i = 0; i < percent * 40 / 100; i++) {
		a = rng_chance(&rng, 60) ? SPINDLE_ALG_PIPELINE : rng_below(&rng, 4);
		n = 65 + rng_below(&rng, 4096 - 64);
		k = 1 + rng_below(&rng, 25);
		check_schedule(a, n, k, NULL, steps_of(a, n, k));
		a = rng_chance(&rng, 60) ? SPINDLE_ALG_PIPELINE : rng_below(&rng, 4);
		n = 2 + rng_below(&rng, 30);
		k = 1 + rng_below(&rng, 10000);
		check_schedule(a, n, k, NULL, steps_of(a, n, k));
	}
}

static void test_alone(void)
{
	u32 a, k;

	for (a = SPINDLE_ALG_PIPELINE; a <= SPINDLE_ALG_HYBRID; a++) {
		const u16 rack = 5;

		for (k = 1; k <= 3; k++)
			check_schedule(a, 1, k, &rack, 0);
	}
}

/* ---- the intended schedule --------------------------------------------------------- */

/*
 * The block that a member sends in a step, and its receiver. Returns false if there is none. The
 * formulas come from the papers, with division and rotation, and share nothing with the code.
 */
static bool formula(u32 a, u32 n, u32 k, u32 rank, u64 j, u32 *to, u32 *block)
{
	u32 l = log2_up(n), rot, r, x;

	switch (a) {
	case SPINDLE_ALG_SEQUENTIAL:
		*to = 1 + j / k;
		*block = j % k;
		return !rank;
	case SPINDLE_ALG_CHAIN:
		*to = rank + 1;
		*block = j - rank;
		return j >= rank && j - rank < k && rank + 1 < n;
	case SPINDLE_ALG_TREE:
		*to = rank + (1U << j / k);
		*block = j % k;
		return rank < 1U << j / k && *to < n;
	}
	/* Section 4.4. Here n is a power of two. */
	rot = j % l;
	x = ((rank >> rot) | (rank << (l - rot))) & (n - 1);
	*to = rank ^ (1U << rot);
	if (!x) {
		*block = min_t(u64, j, k - 1);
		return true;
	}
	for (r = 0; !(x >> r & 1); r++)
		;
	if (x == 1 || j + r < l)
		return false;
	*block = min_t(u64, j + r - l, k - 1);
	return true;
}

static bool check_formula(u32 a, u32 n, u32 k)
{
	u64 steps = steps_of(a, n, k), j;
	struct spindle_schedule s;
	struct spindle_walk w;
	struct spindle_hop hop;
	u32 r, to, block;

	for (r = 0; r < n; r++) {
		spindle_schedule_init(&s, a, n, r, k, NULL);
		spindle_walk_begin(&w, &s);
		for (j = 0; j < steps; j++) {
			if (!formula(a, n, k, r, j, &to, &block))
				continue;
			if (!spindle_walk_send(&w, &s, &hop) || hop.step != j || hop.peer != to ||
			    hop.block != block) {
				tap_fail("%s: %u of %u, %u blocks: not %u to %u at %llu", name[a],
					 r, n, k, block, to, (unsigned long long)j);
				return false;
			}
		}
		if (spindle_walk_send(&w, &s, &hop)) {
			tap_fail("%s: %u of %u, %u blocks: sends more", name[a], r, n, k);
			return false;
		}
	}
	return true;
}

static void test_formulas(void)
{
	u32 a, n, k;

	for (a = SPINDLE_ALG_PIPELINE; a <= SPINDLE_ALG_TREE; a++)
		for (n = 2; n <= MEMBERS; n = a == SPINDLE_ALG_PIPELINE ? 2 * n : n + 1)
			for (k = 1; k <= BLOCKS; k = more_blocks(k, 40))
				/*
				 * All members times all steps take long, so only a part of them is
				 * checked.
				 */
				if ((a != SPINDLE_ALG_SEQUENTIAL || k <= 8 ||
				     rng_chance(&rng, percent / 10)) &&
				    !check_formula(a, n, k))
					break;
}

/*
 * Section 4.5: in each steady step, l to l + k - 2, the average slack of the senders other than the
 * root is 2(1 - (l - 1)/(n - 2)). The value is exact. Of the n - 1 other members all send but one,
 * which is the neighbour of the root in the dimension of the step. That makes n - 2 senders, and
 * the sum is 2(n - 2) - 2(l - 1). With two members only the root sends.
 */
static void test_slack(void)
{
	u64 sum[BLOCKS + 16], senders[BLOCKS + 16];
	u32 l, k, j, n;

	for (l = 1; l <= 8; l++) {
		n = 1U << l;
		for (k = 1; k <= BLOCKS; k = more_blocks(k, 40)) {
			memset(sum, 0, sizeof(sum));
			memset(senders, 0, sizeof(senders));
			slack_sum = sum;
			slack_senders = senders;
			check_schedule(SPINDLE_ALG_PIPELINE, n, k, NULL, l + k - 1);
			slack_sum = NULL;
			for (j = l; j + 2 <= l + k; j++) {
				CHECK_EQ(senders[j], n - 2);
				CHECK_EQ(sum[j], 2 * (n - 2) - (n > 2 ? 2 * (l - 1) : 0));
			}
		}
	}
}

/*
 * "On the last step they all simultaneously receive their last block (if the number of nodes isn't
 * a power of 2, the final receipt spreads over two asynchronous steps)." A single block reaches all
 * members before the last step.
 */
static void test_ends(void)
{
	u32 n, k, r;

	for (n = 2; n <= MEMBERS; n++) {
		for (k = 2; k <= 40; k++) {
			u64 steps = steps_of(SPINDLE_ALG_PIPELINE, n, k);

			for (r = 1; r < n; r++) {
				struct spindle_hop hop = { .step = 0 };
				struct spindle_schedule s;
				struct spindle_walk w;

				spindle_schedule_init(&s, SPINDLE_ALG_PIPELINE, n, r, k, NULL);
				spindle_walk_begin(&w, &s);
				while (spindle_walk_recv(&w, &s, &hop))
					;
				CHECK(hop.step + 1 == steps ||
				      (hop.step + 2 == steps && (n & (n - 1))));
			}
		}
	}
}

/* ---- racks ------------------------------------------------------------------------- */

/*
 * The racks in the order of their leaders, and the place of each member, computed a second time in
 * a simple and slow way.
 */
struct racks {
	u32 count;
	u32 size[SPINDLE_SCHEDULE_MAX];
	u32 of[SPINDLE_SCHEDULE_MAX], at[SPINDLE_SCHEDULE_MAX];
	u32 leader[SPINDLE_SCHEDULE_MAX];
};

static void find_racks(struct racks *x, const u16 *rack, u32 n)
{
	u32 r, q;

	x->count = 0;
	for (r = 0; r < n; r++) {
		for (q = 0; q < x->count; q++)
			if (rack[r] != SPINDLE_NO_RACK && rack[x->leader[q]] == rack[r])
				break;
		if (q == x->count) {
			x->leader[q] = r;
			x->size[q] = 0;
			x->count++;
		}
		x->of[r] = q;
		x->at[r] = x->size[q]++;
	}
}

/* The hops of a member are the hops of one pipeline after the other. */
static void check_levels(const struct racks *x, const u16 *rack, u32 n, u32 r, u32 k, bool send)
{
	bool (*walk)(struct spindle_walk *w, const struct spindle_schedule *s,
		     struct spindle_hop *hop) = send ? spindle_walk_send : spindle_walk_recv;
	u64 first = steps_of(SPINDLE_ALG_PIPELINE, x->count, k);
	struct spindle_schedule s, part;
	struct spindle_hop hop, want;
	u32 member[SPINDLE_SCHEDULE_MAX], q;
	struct spindle_walk w, v;

	for (q = 0; q < n; q++)
		if (x->of[q] == x->of[r])
			member[x->at[q]] = q;
	spindle_schedule_init(&s, SPINDLE_ALG_HYBRID, n, r, k, rack);
	spindle_walk_begin(&w, &s);
	if (!x->at[r]) {
		spindle_schedule_init(&part, SPINDLE_ALG_PIPELINE, x->count, x->of[r], k, NULL);
		spindle_walk_begin(&v, &part);
		while (walk(&v, &part, &want))
			if (!walk(&w, &s, &hop) || hop.step != want.step ||
			    hop.block != want.block || hop.peer != x->leader[want.peer])
				return tap_fail("racks: leader %u of %u, %u blocks", r, n, k);
	}
	spindle_schedule_init(&part, SPINDLE_ALG_PIPELINE, x->size[x->of[r]], x->at[r], k, NULL);
	spindle_walk_begin(&v, &part);
	while (walk(&v, &part, &want))
		if (!walk(&w, &s, &hop) || hop.step != first + want.step ||
		    hop.block != want.block || hop.peer != member[want.peer])
			return tap_fail("racks: %u of %u, %u blocks", r, n, k);
	CHECK(!walk(&w, &s, &hop));
}

static void random_racks(u16 *rack, u32 n)
{
	u32 r, some = 1 + rng_below(&rng, n), lonely = rng_below(&rng, 3) * 10;

	for (r = 0; r < n; r++)
		rack[r] = rng_chance(&rng, lonely) ? SPINDLE_NO_RACK :
						     65534 - rng_below(&rng, some);
}

static void check_hybrid(u32 n, u32 k)
{
	static struct racks x;
	u16 rack[512];
	u32 r, i, largest = 0;

	random_racks(rack, n);
	find_racks(&x, rack, n);
	for (i = 0; i < x.count; i++)
		largest = max(largest, x.size[i]);
	check_schedule(SPINDLE_ALG_HYBRID, n, k, rack,
		       steps_of(SPINDLE_ALG_PIPELINE, x.count, k) +
		       steps_of(SPINDLE_ALG_PIPELINE, largest, k));
	for (r = 0; r < n; r++) {
		check_levels(&x, rack, n, r, k, true);
		check_levels(&x, rack, n, r, k, false);
	}
}

static void test_hybrid(void)
{
	u32 n, k, i;

	for (n = 2; n <= MEMBERS; n++)
		for (k = 1; k <= BLOCKS; k = more_blocks(k, 10))
			check_hybrid(n, k);
	for (i = 0; i < (percent < 100 ? 1 : 20); i++)
		check_hybrid(65 + rng_below(&rng, 400), 1 + rng_below(&rng, 12));
}

/* With one rack, or as many racks as members, the hybrid schedule is a pipeline. */
static void test_hybrid_flat(void)
{
	u16 one[MEMBERS], each[MEMBERS], none[MEMBERS];
	const u16 *rack[] = { one, each, none, NULL };
	u32 n, k, r, i, send;

	for (r = 0; r < MEMBERS; r++) {
		one[r] = 3;
		each[r] = (r * 5) % MEMBERS;
		none[r] = SPINDLE_NO_RACK;
	}
	for (n = 1; n <= MEMBERS; n++) {
		k = 1 + rng_below(&rng, 50);
		for (r = 0; r < n; r++) {
			for (i = 0; i < ARRAY_SIZE(rack); i++) {
				struct spindle_schedule s, flat;

				spindle_schedule_init(&s, SPINDLE_ALG_HYBRID, n, r, k, rack[i]);
				spindle_schedule_init(&flat, SPINDLE_ALG_PIPELINE, n, r, k, NULL);
				CHECK_EQ(spindle_schedule_steps(&s), spindle_schedule_steps(&flat));
				CHECK_EQ(spindle_schedule_sources(&s),
					 spindle_schedule_sources(&flat));
				CHECK_EQ(spindle_schedule_targets(&s),
					 spindle_schedule_targets(&flat));
				for (send = 0; send < 2; send++) {
					struct spindle_walk w, v;
					struct spindle_hop a, b;
					bool more;

					spindle_walk_begin(&w, &s);
					spindle_walk_begin(&v, &flat);
					do {
						more = send ? spindle_walk_send(&v, &flat, &b) :
							      spindle_walk_recv(&v, &flat, &b);
						CHECK_EQ(more, send ?
							 spindle_walk_send(&w, &s, &a) :
							 spindle_walk_recv(&w, &s, &a));
						CHECK(!more || (a.step == b.step &&
								a.peer == b.peer &&
								a.block == b.block));
					} while (more && !tap_failures);
				}
			}
		}
	}
}

/* ---- masks, large numbers ---------------------------------------------------------- */

/*
 * The masks do not depend on the number of blocks. A member is in the targets of each of its
 * sources.
 */
static void test_masks(void)
{
	u32 a, n, r, q;

	for (a = SPINDLE_ALG_PIPELINE; a <= SPINDLE_ALG_HYBRID; a++) {
		for (n = 1; n <= MEMBERS; n++) {
			u64 sources[MEMBERS], targets[MEMBERS];
			struct spindle_schedule s;
			u16 rack[MEMBERS];

			random_racks(rack, n);
			for (r = 0; r < n; r++) {
				spindle_schedule_init(&s, a, n, r, 1, rack);
				sources[r] = spindle_schedule_sources(&s);
				targets[r] = spindle_schedule_targets(&s);
				spindle_schedule_init(&s, a, n, r, U32_MAX, rack);
				CHECK_EQ(sources[r], spindle_schedule_sources(&s));
				CHECK_EQ(targets[r], spindle_schedule_targets(&s));
				CHECK(!(sources[r] & 1ULL << r) && !(targets[r] & 1ULL << r));
				CHECK(!r == !sources[r]);
			}
			for (r = 0; r < n; r++)
				for (q = 0; q < n; q++)
					CHECK_EQ(sources[r] >> q & 1, targets[q] >> r & 1);
		}
		for (r = 0; r < 3; r++) {
			struct spindle_schedule s;

			spindle_schedule_init(&s, a, 65, r, 9, NULL);
			CHECK_EQ(spindle_schedule_sources(&s), 0);
			CHECK_EQ(spindle_schedule_targets(&s), 0);
		}
	}
}

/*
 * A walk skips steps in which its member has nothing to do, because going through each step would
 * take minutes.
 */
static void test_jumps(void)
{
	struct spindle_schedule s;
	struct spindle_walk w;
	struct spindle_hop hop;
	u16 rack[4];
	u32 i;

	for (i = 0; i < 200; i++) {
		spindle_schedule_init(&s, SPINDLE_ALG_SEQUENTIAL, 4096, 4095, U32_MAX, NULL);
		CHECK_EQ(spindle_schedule_steps(&s), 4095ULL * U32_MAX);
		spindle_walk_begin(&w, &s);
		CHECK(spindle_walk_recv(&w, &s, &hop));
		CHECK_EQ(hop.step, 4094ULL * U32_MAX);
		CHECK(!spindle_walk_send(&w, &s, &hop));

		spindle_schedule_init(&s, SPINDLE_ALG_TREE, 4096, 2048, U32_MAX, NULL);
		CHECK_EQ(spindle_schedule_steps(&s), 12ULL * U32_MAX);
		spindle_walk_begin(&w, &s);
		CHECK(spindle_walk_recv(&w, &s, &hop));
		CHECK_EQ(hop.step, 11ULL * U32_MAX);
		spindle_schedule_init(&s, SPINDLE_ALG_TREE, 4096, 1024, U32_MAX, NULL);
		spindle_walk_begin(&w, &s);
		CHECK(spindle_walk_send(&w, &s, &hop));
		CHECK_EQ(hop.step, 11ULL * U32_MAX);
		CHECK_EQ(hop.peer, 3072);

		/* A member that never receives, and one that never sends. */
		spindle_schedule_init(&s, SPINDLE_ALG_PIPELINE, 64, 0, U32_MAX, NULL);
		CHECK_EQ(spindle_schedule_steps(&s), 5ULL + U32_MAX);
		spindle_walk_begin(&w, &s);
		CHECK(!spindle_walk_recv(&w, &s, &hop));
		spindle_schedule_init(&s, SPINDLE_ALG_PIPELINE, 2, 1, U32_MAX, NULL);
		spindle_walk_begin(&w, &s);
		CHECK(!spindle_walk_send(&w, &s, &hop));

		/* Two racks of two. */
		rack[0] = 1;
		rack[1] = 1;
		rack[2] = 2;
		rack[3] = 2;
		spindle_schedule_init(&s, SPINDLE_ALG_HYBRID, 4, 3, U32_MAX, rack);
		CHECK_EQ(spindle_schedule_steps(&s), 2ULL * U32_MAX);
		spindle_walk_begin(&w, &s);
		CHECK(spindle_walk_recv(&w, &s, &hop));
		CHECK_EQ(hop.step, U32_MAX);
		spindle_walk_begin(&w, &s);
		CHECK(!spindle_walk_send(&w, &s, &hop));
	}
}

/*
 * With 2^32 - 1 blocks, the walk begins as with few blocks, except for the clamp. The walk also
 * ends in the same way, because the numbers differ by a multiple of both laps. No walk goes all the
 * way.
 */
static void test_most_blocks(void)
{
	u32 n, r, send;

	for (n = 2; n <= MEMBERS; n++) {
		u64 l = log2_down(n), away = (U32_MAX - 100) / (2 * l) * (2 * l);
		u32 few = U32_MAX - away;

		for (r = 0; r < n; r++) {
			for (send = 0; send < 2; send++) {
				bool (*walk)(struct spindle_walk *w,
					     const struct spindle_schedule *s,
					     struct spindle_hop *hop) =
					send ? spindle_walk_send : spindle_walk_recv;
				struct spindle_schedule s, much;
				struct spindle_hop a, b;
				struct spindle_walk w, v;
				bool more;

				spindle_schedule_init(&s, SPINDLE_ALG_PIPELINE, n, r, few, NULL);
				spindle_schedule_init(&much, SPINDLE_ALG_PIPELINE, n, r, U32_MAX,
						      NULL);
				if ((n == 2 && r && send) || (!r && !send))
					continue;
				spindle_walk_begin(&w, &s);
				spindle_walk_begin(&v, &much);
				while (walk(&w, &s, &a) && a.step < few - 1) {
					CHECK(walk(&v, &much, &b));
					CHECK(a.step == b.step && a.peer == b.peer &&
					      a.block == b.block);
				}
				/* Start in the middle. */
				spindle_walk_begin(&w, &s);
				while (walk(&w, &s, &a) && a.step < 40)
					;
				v = w;
				v.step += away;
				do {
					more = walk(&w, &s, &a);
					CHECK_EQ(more, walk(&v, &much, &b));
					CHECK(!more || (a.step + away == b.step &&
							a.peer == b.peer &&
							a.block + away == b.block));
				} while (more);
			}
		}
	}
}

/* ---- random delays --------------------------------------------------------------------- */

/* Blocks or grants on their way between two members, in order. */
struct queue {
	u32 block[4];
	u32 head, tail;
};

static void put(struct queue *q, u32 block)
{
	q->block[q->tail++ & 3] = block;
}

struct actor {
	struct spindle_schedule s;
	struct spindle_walk send, recv;
	struct spindle_hop to, from;	/* the next hops */
	bool more_to, more_from;
	u32 slow;			/* percent of its turns in which it does nothing */
	u32 missing;
	bool *has;
	/*
	 * By source: the number of grants without their block, the grants, and the blocks on their
	 * way.
	 */
	u32 open[MEMBERS];
	struct queue grant[MEMBERS], data[MEMBERS];
};

static struct actor actor[MEMBERS];

static void actor_begin(struct actor *m)
{
	memset(m->open, 0, sizeof(m->open));
	memset(m->grant, 0, sizeof(m->grant));
	memset(m->data, 0, sizeof(m->data));
	m->missing = m->s.rank ? m->s.blocks : 0;
	free(m->has);
	m->has = calloc(m->s.blocks, sizeof(bool));
	memset(m->has, !m->s.rank, m->s.blocks);
	m->slow = rng_chance(&rng, 20) ? 95 : rng_below(&rng, 60);
	spindle_walk_begin(&m->send, &m->s);
	spindle_walk_begin(&m->recv, &m->s);
	m->more_to = spindle_walk_send(&m->send, &m->s, &m->to);
	m->more_from = spindle_walk_recv(&m->recv, &m->s, &m->from);
}

/* Give the next grant, if the window allows it. No later grant goes before it. */
static bool act_grant(struct actor *m, u32 window)
{
	u32 peer = m->from.peer;

	if (!m->more_from || m->open[peer] == window)
		return false;
	m->open[peer]++;
	put(&m->grant[peer], m->from.block);
	m->more_from = spindle_walk_recv(&m->recv, &m->s, &m->from);
	return true;
}

/* Make the next send, if it is granted and the block is here. No later send goes before it. */
static bool act_send(struct actor *m)
{
	struct queue *grant = &actor[m->to.peer].grant[m->s.rank];

	if (!m->more_to || !m->has[m->to.block] || grant->head == grant->tail)
		return false;
	CHECK_EQ(grant->block[grant->head++ & 3], m->to.block);
	put(&actor[m->to.peer].data[m->s.rank], m->to.block);
	m->more_to = spindle_walk_send(&m->send, &m->s, &m->to);
	return true;
}

static bool act_arrive(struct actor *m, u32 n, bool now)
{
	bool any = false;
	u32 i;

	for (i = 0; i < n; i++) {
		struct queue *data = &m->data[i];

		if (data->head == data->tail || (!now && rng_chance(&rng, 50)))
			continue;
		CHECK(!m->has[data->block[data->head & 3]]);
		m->has[data->block[data->head++ & 3]] = true;
		m->missing--;
		m->open[i]--;
		any = true;
	}
	return any;
}

/* Returns whether any member did something. @now: do all that can be done. */
static bool pass(u32 n, u32 window, bool now)
{
	bool any = false;
	u32 i;

	for (i = 0; i < n; i++) {
		struct actor *m = &actor[now ? i : rng_below(&rng, n)];

		if (!now && rng_chance(&rng, m->slow))
			continue;
		any |= act_grant(m, window);
		any |= act_send(m);
		any |= act_arrive(m, n, now);
	}
	return any;
}

static void execute(u32 algorithm, u32 n, u32 k, u32 window)
{
	u16 rack[MEMBERS];
	u32 r, missing = 0;

	random_racks(rack, n);
	for (r = 0; r < n; r++) {
		spindle_schedule_init(&actor[r].s, algorithm, n, r, k, rack);
		actor_begin(&actor[r]);
	}
	/* The end is reached only when no member can do anything at all. */
	while (pass(n, window, false) || pass(n, window, true))
		;
	for (r = 0; r < n; r++)
		missing += actor[r].missing + actor[r].more_to + actor[r].more_from;
	if (missing)
		tap_fail("%s: %u members, %u blocks, %u grants: %u are missing", name[algorithm], n,
			 k, window, missing);
}

static void test_no_deadlock(void)
{
	u32 i, r;

	for (i = 0; i < percent * 300 / 100 && !tap_failures; i++) {
		u32 n = i & 1 ? 2 + rng_below(&rng, 14) : 2 + rng_below(&rng, MEMBERS - 1);

		execute(rng_chance(&rng, 50) ? SPINDLE_ALG_PIPELINE : rng_below(&rng, 5), n,
			1 + rng_below(&rng, 60), 1 + rng_below(&rng, 4));
	}
	for (r = 0; r < MEMBERS; r++) {
		free(actor[r].has);
		actor[r].has = NULL;
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "pipeline: 1 to 64 members, 1 to 300 blocks", test_pipeline },
		{ "sequential, chain and tree: 1 to 64 members, 1 to 300 blocks", test_others },
		{ "schedules of thousands of members or blocks", test_large },
		{ "one member alone has nothing to do", test_alone },
		{ "each step follows from the formula", test_formulas },
		{ "pipeline: steady steps have slack", test_slack },
		{ "pipeline: all members end at about the same time", test_ends },
		{ "hybrid: one pipeline between racks, one in each rack", test_hybrid },
		{ "hybrid: one rack or many racks give a pipeline", test_hybrid_flat },
		{ "sources and targets match", test_masks },
		{ "walks skip the steps of other members", test_jumps },
		{ "an object has 2^32 - 1 blocks", test_most_blocks },
		{ "all blocks arrive if members are late at random", test_no_deadlock },
	};
	int ret;

	rng = rng_seed();
	percent = tap_env("SCHEDULES", 100);
	ret = tap_run(cases, ARRAY_SIZE(cases));
	free(got);
	return ret;
}
