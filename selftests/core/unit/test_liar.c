// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lies in membership: one node with the module's core, and others whose rows the case writes.
 * membership.rst lists the harm that a member can do to the others, and the harm that it cannot do.
 * Each entry is a case here, or a property of the simulator.
 */
#include "tap.h"
#include "core/membership/member.h"

#define MOST 5
#define FORMER 30
#define INTERVAL 100
#define TIMEOUT (10 * INTERVAL)
#define STEP (INTERVAL / 2) /* between two passes */

static struct spindle_mb mb;
static struct spindle_mb_row *row[MOST];
static struct spindle_view view;
static u64 start = 1000 * TIMEOUT; /* when a case begins */
static u64 now, cuts, have[MOST], trimmed[MOST];
static u32 installs, stops, last_id, refused_id, absent_id;
static u64 last_rules;
static bool undrained, unflushed;

static void op_none(void *ctx)
{
}

static bool op_flushed(void *ctx, u32 rank)
{
	return !unflushed;
}

static void op_freeze(void *ctx, u64 *words)
{
	memcpy(words, have, view.num_members * sizeof(*words));
}

static bool op_trim(void *ctx, const u64 *trim)
{
	memcpy(trimmed, trim, view.num_members * sizeof(*trim));
	return true;
}

static bool op_drain(void *ctx)
{
	return !undrained;
}

/* One subgroup with all members as senders. The layout refuses a view with the node @refused_id. */
static const char *op_layout(void *ctx, u64 rules, const struct spindle_view *old,
			     struct spindle_view *next)
{
	if (rules)
		last_rules = rules;
	if (refused_id && spindle_view_rank(next, refused_id) >= 0)
		return "no room";
	next->num_subgroups = 1;
	next->subgroup[0].window = 1;
	next->subgroup[0].members = ~0ULL >> (64 - next->num_members);
	next->subgroup[0].senders = next->subgroup[0].members;
	return NULL;
}

static struct spindle_addr address_of(u32 id)
{
	return (struct spindle_addr){ .family = 4, .port = id };
}

static bool op_guest(void *ctx, u32 id, u64 incarnation, struct spindle_addr *addr)
{
	*addr = address_of(id);
	return id != absent_id;
}

/* Nodes that are ready, by seat. */
static u32 ready[SPINDLE_DECREE_JOINS + 2];

static bool op_ready(void *ctx, u32 *seat, u32 *id, u64 *incarnation)
{
	for (; *seat < ARRAY_SIZE(ready); ++*seat) {
		if (!ready[*seat])
			continue;
		*id = ready[*seat];
		*incarnation = 1;
		return true;
	}
	return false;
}

static bool op_join(void *ctx, u32 id, u64 incarnation, struct spindle_mb_peer *peer)
{
	return false;
}

static void op_install(void *ctx, const struct spindle_view *next, const u32 *from,
		       const u64 *trim)
{
	installs++;
	last_id = next->member[next->num_members - 1].id;
}

static void op_cut(void *ctx, u32 rank)
{
	cuts |= BIT_ULL(rank);
}

static void op_stopped(void *ctx)
{
	stops++;
}

static const struct spindle_mb_ops ops = {
	.wedge = op_none,
	.flushed = op_flushed,
	.freeze = op_freeze,
	.trim = op_trim,
	.drain = op_drain,
	.layout = op_layout,
	.guest = op_guest,
	.ready = op_ready,
	.join = op_join,
	.install = op_install,
	.cut = op_cut,
	.stopped = op_stopped,
};

/* A view of some members, with ids from 1, and exactly as much memory as it needs. */
static void open_rows(u32 members)
{
	u32 r;

	memset(&mb, 0, sizeof(mb));
	memset(&view, 0, sizeof(view));
	view.vid = 7;
	view.num_members = members;
	op_layout(NULL, 0, &view, &view);
	view.subgroup[0].former = FORMER;
	now = start;
	cuts = 0;
	installs = 0;
	last_id = 0;
	last_rules = 0;
	stops = 0;
	refused_id = 0;
	absent_id = 0;
	undrained = false;
	unflushed = false;
	memset(have, 0, sizeof(have));
	memset(trimmed, 0, sizeof(trimmed));
	mb.ops = &ops;
	mb.timeout = TIMEOUT;
	mb.interval = INTERVAL;
	mb.trims = MOST;
	mb.joins = 1;
	mb.seen = calloc(spindle_mb_decree_words(MOST), sizeof(u64));
	for (r = 0; r < MOST; r++) {
		view.member[r].id = r + 1;
		view.member[r].addr = address_of(r + 1);
		row[r] = calloc(1, spindle_mb_row_bytes(MOST));
		mb.peer[r].row = row[r];
	}
}

static void end(void)
{
	u32 r;

	for (r = 0; r < MOST; r++)
		free(row[r]);
	free(mb.seen);
}

/* ---- sizes --------------------------------------------------------------------- */

/* Each member is in both subgroups, where the rules have it in one: twice the senders. */
static void test_too_many_trims(void)
{
	open_rows(MOST);
	mb.row = row[0];
	view.num_subgroups = 2;
	view.subgroup[1] = view.subgroup[0];
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), -EINVAL);
	CHECK_EQ(spindle_mb_join(&mb, &view, 9, 1, now), -EINVAL);
	view.subgroup[1].senders = 0;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), 0);
	view.subgroup[1].senders = 1;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), -EINVAL);
	end();
}

static void test_no_members(void)
{
	open_rows(MOST);
	mb.row = row[0];
	view.num_subgroups = 0;
	view.num_members = 0;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), -EINVAL);
	view.num_members = SPINDLE_MAX_MEMBERS + 1;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), -EINVAL);
	view.num_members = 1;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), 0);
	end();
}

/* ---- words of the other members -------------------------------------------------- */

#define VID 7
#define LEAVES SPINDLE_MB_PHASE_LEAVE

static void say(u32 r, u64 vid, u64 phase, u32 ballot, u64 suspected, u64 digest)
{
	const u64 word[SPINDLE_BLOCK_WORDS] = {
		vid, suspected, phase | (u64)ballot << SPINDLE_MB_PHASE_BALLOT, digest
	};

	spindle_block_write(&row[r]->state, word);
}

static void beat(u32 r, u64 id, u64 rules)
{
	const u64 word[SPINDLE_BLOCK_WORDS] = {
		row[r]->beat.word[SPINDLE_MB_COL_BEAT] + 1, id, 1, rules
	};

	spindle_block_write(&row[r]->beat, word);
}

static void wish(u32 r, u64 id)
{
	beat(r, id, row[r]->beat.word[SPINDLE_MB_COL_RULES]);
}

/*
 * Write the text of a decree: one trim for all senders, and one joiner or none. Returns the digest.
 */
static u64 write_decree(u32 r, u64 survivors, u64 trim, u32 join)
{
	struct spindle_view_member who = { .id = join, .addr = address_of(join) };
	u64 *word = row[r]->word + MOST;
	u32 i;

	memset(word, 0, spindle_mb_decree_words(MOST) * sizeof(*word));
	word[SPINDLE_DECREE_VID] = VID;
	word[SPINDLE_DECREE_SURVIVORS] = survivors;
	if (join)
		spindle_decree_add(word, &who, 1);
	for (i = 0; i < view.num_members; i++)
		word[SPINDLE_DECREE_HEAD + i] = trim;
	return spindle_decree_digest(word, spindle_mb_decree_words(MOST));
}

static void write_have(u32 r, u64 n)
{
	u32 i;

	for (i = 0; i < view.num_members; i++)
		row[r]->word[i] = n;
}

/* Run some passes, while all other members beat. */
static void run(u32 passes)
{
	u32 r;

	for (; passes; passes--) {
		for (r = 0; r < MOST; r++)
			if (row[r] != mb.row)
				wish(r, row[r]->beat.word[SPINDLE_MB_COL_WISH]);
		now += STEP;
		spindle_mb_run(&mb, now);
	}
}

static void begin(u32 members, u32 me)
{
	open_rows(members);
	mb.row = row[me];
	CHECK_EQ(spindle_mb_init(&mb, &view, me, now), 0);
	for (me = 0; me < members; me++)
		if (row[me] != mb.row)
			say(me, VID, SPINDLE_MB_ACTIVE, 0, 0, 0);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
}

/* The view ends. All members have five messages of each sender. */
static void begin_fenced(u32 members, u32 me)
{
	u32 r;

	begin(members, me);
	for (r = 0; r < MOST; r++) {
		have[r] = 5;
		if (r == me)
			continue;
		write_have(r, 5);
		if (r < members)
			say(r, VID, me ? SPINDLE_MB_FENCED : SPINDLE_MB_WEDGED, 0, 0, 0);
	}
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
}

static void expect_waiting(u32 state)
{
	run(5 * TIMEOUT / STEP);
	CHECK_EQ(mb.state, state);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(cuts, 0);
	CHECK_EQ(installs, 0);
}

/* ---- decrees --------------------------------------------------------------------- */

/* One member says that it has gone on with this node alone, and then perhaps with the other one. */
static void test_split(void)
{
	begin_fenced(3, 1);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(2, BIT(1), 5, 0));
	expect_waiting(SPINDLE_MB_FENCED);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(2, BIT(1) | BIT(2), 3, 0));
	expect_waiting(SPINDLE_MB_FENCED);
	end();
}

/* One member says that all are in the next view, and no other member confirms it. */
static void test_one_word(void)
{
	u64 digest;

	begin_fenced(3, 1);
	digest = write_decree(2, 7, 5, 0);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	expect_waiting(SPINDLE_MB_ECHOED);
	CHECK_EQ(mb.digest, digest);
	CHECK_EQ(mb.ballot, 1);
	/* A different decree does not confirm the first one. */
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(0, 7, 4, 0));
	expect_waiting(SPINDLE_MB_ECHOED);
	end();
}

/*
 * A member that was left behind learns the decree from members that have gone on, and from one that
 * has not.
 */
static void test_learn(void)
{
	u64 digest;

	begin_fenced(3, 1);
	digest = write_decree(2, 7, 5, 0);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	run(2);
	write_decree(0, 7, 5, 0);
	say(0, VID, SPINDLE_MB_FENCED, 0, 0, digest);
	expect_waiting(SPINDLE_MB_ECHOED);
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	run(3);
	CHECK_EQ(installs, 1);
	CHECK_EQ(trimmed[0], 5);
	/* All senders go on, so none of them is a former one. */
	CHECK_EQ(spindle_mb_view(&mb)->subgroup[0].former, FORMER);
	end();
	begin_fenced(3, 1);
	write_decree(0, 7, 5, 0);
	write_decree(2, 7, 5, 0);
	say(0, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	run(4);
	CHECK_EQ(installs, 1);
	end();
}

/*
 * The members of a subgroup are liars, 0 and 3. By the decree its sender, 0, goes with more
 * messages than it can have sent. This node cannot know, and the positions of the subgroup jump.
 */
static void test_foreign_positions(void)
{
	u64 digest;
	u32 r;

	begin_fenced(5, 2);
	mb.view[mb.now].subgroup[0].members = 9;
	mb.view[mb.now].subgroup[0].senders = 1;
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_LIED);
	for (r = 1; r < 5; r++) {
		if (r == 2)
			continue;
		digest = write_decree(r, 30, 1ULL << 60, 0);
		say(r, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	}
	run(4);
	CHECK_EQ(installs, 1);
	CHECK_EQ(spindle_mb_view(&mb)->subgroup[0].former, FORMER + (1ULL << 60));
	end();
}

/* The digest belongs to the other decree. A liar can easily make such a pair. */
static void test_same_digest(void)
{
	u64 digest;

	begin_fenced(3, 1);
	digest = write_decree(0, 7, 5, 0);
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	write_decree(2, 7, 4, 0);
	say(2, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	expect_waiting(SPINDLE_MB_ECHOED);
	write_decree(2, 7, 5, 0);
	run(3);
	CHECK_EQ(installs, 1);
	end();
}

/* The leader shows different decrees to two members, and says of both that they are committed. */
static void test_two_decrees(void)
{
	u64 digest;

	begin_fenced(3, 1);
	digest = write_decree(0, 7, 5, 0);
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	run(2);
	CHECK_EQ(mb.ballot, 1);
	say(0, VID, SPINDLE_MB_COMMITTED, 1, 0, digest);
	say(2, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(2, 7, 4, 0));
	expect_waiting(SPINDLE_MB_ECHOED);
	say(0, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	expect_waiting(SPINDLE_MB_ECHOED);
	/* The leader is evicted, and the other members agree on one decree. */
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_ADMIN);
	say(2, VID, SPINDLE_MB_ECHOED, 1, BIT(0), row[2]->state.word[SPINDLE_MB_COL_DIGEST]);
	run(2);
	CHECK_EQ(mb.ballot, 2);
	CHECK_EQ(mb.digest, digest);
	CHECK_EQ(installs, 0);
	write_decree(2, 7, 5, 0);
	say(2, VID, SPINDLE_MB_ECHOED, 2, BIT(0), digest);
	run(3);
	CHECK_EQ(installs, 1);
	CHECK_EQ(mb.suspected, BIT(0));
	end();
}

/*
 * Rank 3 claims to be in a next view, by a decree that no other member has. This node accepts that
 * decree in place of the leader's. After the eviction of rank 3 the node accepts the leader's
 * decree.
 */
static void test_misled(void)
{
	u64 digest;

	begin_fenced(4, 1);
	say(3, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(3, 0xf, 4, 0));
	run(2);
	CHECK_EQ(mb.ballot, 1);
	digest = mb.digest;
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(0, 0xf, 5, 0));
	say(2, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(2, 0xf, 5, 0));
	expect_waiting(SPINDLE_MB_ECHOED);
	CHECK_EQ(mb.digest, digest);
	/* Rank 3 shows another digest, and may have gone on. */
	say(3, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest + 1);
	expect_waiting(SPINDLE_MB_ECHOED);
	CHECK_EQ(mb.digest, digest);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_ADMIN);
	say(0, VID, SPINDLE_MB_ECHOED, 1, BIT(3), row[0]->state.word[SPINDLE_MB_COL_DIGEST]);
	/* While another member supports the decree, it may be true. */
	say(2, VID, SPINDLE_MB_ECHOED, 1, BIT(3), digest);
	run(2);
	CHECK_EQ(mb.digest, digest);
	say(2, VID, SPINDLE_MB_ECHOED, 1, BIT(3), row[0]->state.word[SPINDLE_MB_COL_DIGEST]);
	run(3);
	CHECK_EQ(installs, 1);
	end();
}

/*
 * Rank 0 has gone, and this node leads. Rank 2 claims to have accepted a decree that is impossible.
 */
static void take_over(u64 survivors, u64 trim, u32 join, u64 left)
{
	begin_fenced(4, 1);
	refused_id = 50;
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_ADMIN);
	say(2, VID, SPINDLE_MB_ECHOED, 1, BIT(0), write_decree(2, survivors, trim, join));
	write_have(3, left);
	say(3, VID, SPINDLE_MB_FENCED, 0, BIT(0), 0);
	run(3);
	CHECK_EQ(mb.suspected, BIT(0));
	CHECK_EQ(cuts, BIT(0));
	CHECK_EQ(mb.ballot, 2);
	CHECK_EQ(mb.state, SPINDLE_MB_ECHOED);
}

static u64 own_decree(u32 word)
{
	return spindle_mb_own_decree(&mb)[word];
}

static void test_takeover(void)
{
	take_over(15, 4, 0, 5);
	CHECK_EQ(own_decree(SPINDLE_DECREE_SURVIVORS), 15);
	CHECK_EQ(own_decree(SPINDLE_DECREE_HEAD), 4);
	end();
	/* The trim has more than rank 3 has, so rank 3 would blame this node for it. */
	take_over(15, 5, 0, 4);
	CHECK_EQ(own_decree(SPINDLE_DECREE_SURVIVORS), 14);
	CHECK_EQ(own_decree(SPINDLE_DECREE_HEAD), 4);
	end();
	take_over(15, 4, 50, 5);
	CHECK_EQ(own_decree(SPINDLE_DECREE_SURVIVORS), 14);
	CHECK_EQ(own_decree(SPINDLE_DECREE_NUM_JOINS), 0);
	end();
	take_over(6, 4, 0, 5);
	CHECK_EQ(own_decree(SPINDLE_DECREE_SURVIVORS), 14);
	CHECK_EQ(own_decree(SPINDLE_DECREE_HEAD), 5);
	end();
}

/*
 * The text of an accepted decree is still under way. This node waits for it, because the decree may
 * have been chosen.
 */
static void test_takeover_waits(void)
{
	u64 digest;

	begin_fenced(3, 1);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_ADMIN);
	digest = write_decree(2, 7, 4, 0);
	write_decree(2, 7, 5, 0);
	say(2, VID, SPINDLE_MB_ECHOED, 1, BIT(0), digest);
	run(20);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
	write_decree(2, 7, 4, 0);
	run(1);
	CHECK_EQ(mb.digest, digest);
	CHECK_EQ(mb.ballot, 2);
	end();
}

/* This node itself has accepted a decree that it cannot propose again. */
static void test_own_takeover(void)
{
	begin_fenced(3, 1);
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(0, 7, 5, 0));
	run(2);
	CHECK_EQ(mb.ballot, 1);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_ADMIN);
	write_have(2, 3);
	say(2, VID, SPINDLE_MB_FENCED, 0, BIT(0), 0);
	run(2);
	CHECK_EQ(mb.ballot, 2);
	CHECK_EQ(own_decree(SPINDLE_DECREE_HEAD), 3);
	CHECK_EQ(own_decree(SPINDLE_DECREE_SURVIVORS), 6);
	end();
}

static void offered(u64 survivors, u64 trim, u32 join)
{
	begin_fenced(3, 1);
	refused_id = 50;
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(0, survivors, trim, join));
}

static void expect_blame(void)
{
	run(2);
	CHECK_EQ(mb.suspected, BIT(0));
	CHECK_EQ(mb.peer[0].reason, SPINDLE_MB_LIED);
	CHECK_EQ(mb.ballot, 0);
	end();
}

/* A correct leader would know that the decree is impossible, so this node blames it. */
static void test_blame(void)
{
	offered(7, 6, 0);
	expect_blame();
	offered(7, 5, 50);
	expect_blame();
	offered(7, 5, 40);
	mb.joins = 0;
	expect_blame();
	offered(7, 5, 40);
	run(2);
	CHECK_EQ(mb.ballot, 1);
	CHECK_EQ(mb.suspected, 0);
	end();
}

/* A member may have told the leader alone that it leaves, so this node blames no member. */
static void test_no_blame(void)
{
	offered(3, 5, 0);
	expect_waiting(SPINDLE_MB_FENCED);
	/* This node is not among the survivors, although no member suspects it. */
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(0, 5, 5, 0));
	expect_waiting(SPINDLE_MB_FENCED);
	end();
	begin_fenced(3, 1);
	say(2, VID, SPINDLE_MB_FENCED | LEAVES, 0, 0, 0);
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(0, 3, 5, 0));
	run(2);
	CHECK_EQ(mb.ballot, 1);
	end();
}

/* The leader answers for a trim, so it learns none that another member has not received. */
static void test_learn_leader(void)
{
	begin_fenced(3, 0);
	write_have(1, 4);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(2, 7, 5, 0));
	expect_waiting(SPINDLE_MB_FENCED);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(2, 7, 4, 0));
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_ECHOED);
	CHECK_EQ(mb.learned, BIT(2));
	end();
}

/* A decree is not learned if it has messages that are not here, or joiners without a place. */
static void test_learn_nonsense(void)
{
	begin_fenced(3, 1);
	refused_id = 50;
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(2, 7, 6, 0));
	expect_waiting(SPINDLE_MB_FENCED);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(2, 7, 5, 50));
	expect_waiting(SPINDLE_MB_FENCED);
	write_decree(2, 7, 5, 0);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, 77);
	expect_waiting(SPINDLE_MB_FENCED);
	end();
}

/* ---- those that leave --------------------------------------------------------------- */

static void test_leaver_told(void)
{
	struct spindle_write write[SPINDLE_MB_PUSH_MAX];

	begin_fenced(3, 0);
	say(2, VID, SPINDLE_MB_FENCED | LEAVES, 0, 0, 0);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(2);
	CHECK_EQ(mb.ballot, 1);
	CHECK_EQ(own_decree(SPINDLE_DECREE_SURVIVORS), 3);
	write_decree(1, 3, 5, 0);
	say(1, VID, SPINDLE_MB_ECHOED, 1, 0, mb.digest);
	expect_waiting(SPINDLE_MB_COMMITTED);
	spindle_mb_push(&mb, 1, write);
	expect_waiting(SPINDLE_MB_COMMITTED);
	spindle_mb_push(&mb, 2, write);
	run(1);
	CHECK_EQ(installs, 1);
	end();
}

/* The last of four members leaves, and no more messages of this view come. */
static void leaver_fences(void)
{
	begin(4, 3);
	spindle_mb_leave(&mb);
	have[0] = 5;
	say(0, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
}

/* A leaver does not deliver on the word of a single member either. */
static void test_leaver_waits(void)
{
	u64 digest;

	leaver_fences();
	digest = write_decree(0, 7, 0, 0);
	say(0, VID, SPINDLE_MB_COMMITTED, 1, 0, digest);
	expect_waiting(SPINDLE_MB_ECHOED);
	write_decree(1, 7, 0, 0);
	say(1, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	expect_waiting(SPINDLE_MB_ECHOED);
	write_decree(2, 7, 0, 0);
	say(2, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_LEFT);
	end();
}

/* Three timeouts pass. Of the other members, only @members beat. */
static void live(u64 members)
{
	u64 until, mask;

	for (until = now + 3 * TIMEOUT; now < until; now += STEP) {
		for (mask = members; mask; mask &= mask - 1)
			wish(__ffs64(mask), 0);
		spindle_mb_run(&mb, now);
	}
}

/* The leader died before it told the leaver. The others have accepted its decree. */
static void leader_dies(void)
{
	u64 digest;

	leaver_fences();
	digest = write_decree(1, 7, 0, 0);
	write_decree(2, 7, 0, 0);
	say(1, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	say(2, VID, SPINDLE_MB_COMMITTED, 1, 0, digest);
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
}

/* A leaver that hears the others accuses the leader, and follows the decree. */
static void test_leaver_follows(void)
{
	leader_dies();
	live(BIT(1) | BIT(2));
	CHECK_EQ(mb.suspected, BIT_ULL(0));
	CHECK_EQ(mb.ballot, 1);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_LEFT);
	end();
}

/*
 * The others go on, so they tell the leaver nothing more, and do not beat. The leaver may as well
 * be deaf: it accuses nobody, and stops. Closed and lost connections do not change that.
 */
static void test_leaver_alone(void)
{
	leader_dies();
	spindle_mb_suspect(&mb, 2, SPINDLE_MB_LOST);
	spindle_mb_closed(&mb, 1);
	spindle_mb_closed(&mb, 2);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
	live(0);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(mb.ballot, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_LEFT);
	end();
}

/* One member has gone on, and the leaver hears the others. It does not accuse that one. */
static void test_leaver_spares(void)
{
	leaver_fences();
	say(2, VID, SPINDLE_MB_COMMITTED, 1, 0, write_decree(2, 7, 0, 0));
	live(BIT(0) | BIT(1));
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
	end();
}

/* If the others show different decrees, the leaver cannot know which one is chosen. */
static void test_leaver_divided(void)
{
	leaver_fences();
	say(1, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(1, 7, 0, 0));
	say(2, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(2, 6, 0, 0));
	live(BIT(1) | BIT(2));
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
	CHECK_EQ(mb.suspected, BIT_ULL(0));
	end();
}

/* ---- wishes ------------------------------------------------------------------------- */

static void test_phantom(void)
{
	begin(3, 0);
	absent_id = 40;
	wish(1, 40);
	expect_waiting(SPINDLE_MB_ACTIVE);
	wish(2, 41);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	end();
}

/* The number of joiners that the leader would admit now, and its record of the first one. */
static u64 would_join(u64 *id, u64 *life)
{
	bool due = spindle_mb_join_due(&mb);

	*id = mb.seen[SPINDLE_DECREE_JOIN];
	*life = mb.seen[SPINDLE_DECREE_JOIN + 1];
	return due ? mb.seen[SPINDLE_DECREE_NUM_JOINS] : 0;
}

/* Let the node read the wishes, without a full pass. */
static void hear_wishes(void)
{
	now += STEP;
	spindle_mb_hear(&mb, now);
}

static void test_wishes(void)
{
	u64 id, life;

	begin(3, 0);
	mb.joins = 2;
	wish(1, 40);
	wish(2, 40);
	hear_wishes();
	/* Two members wish for the same node. Then this one wishes for another. */
	CHECK_EQ(would_join(&id, &life), 1);
	CHECK_EQ(id, 40);
	mb.wish = 41;
	mb.wish_inc = 3;
	CHECK_EQ(would_join(&id, &life), 2);
	CHECK_EQ(id, 41);
	CHECK_EQ(life, 3);
	/* The leader admits no more joiners at once than there is room for. */
	mb.joins = 1;
	CHECK_EQ(would_join(&id, &life), 1);
	/* A joiner without a place leaves no trace in the record. */
	mb.wish = 0;
	refused_id = 40;
	CHECK_EQ(would_join(&id, &life), 0);
	CHECK_EQ(id, 0);
	CHECK_EQ(life, 0);
	/* An id has 32 bits. */
	wish(1, (1ULL << 32) + 44);
	wish(2, 0);
	hear_wishes();
	CHECK_EQ(would_join(&id, &life), 0);
	end();
}

/* This node does not lead, so it admits no joiner, although two members wish for one. */
static void test_wishes_of_leader(void)
{
	u64 id, life;

	begin(3, 1);
	mb.wish = 41;
	wish(2, 40);
	hear_wishes();
	CHECK_EQ(would_join(&id, &life), 0);
	end();
}

/* The view gets a fifth member, and the memory is for decrees of five. */
static void test_last_place(void)
{
	u64 id, life;

	begin(MOST - 1, 0);
	wish(1, 40);
	hear_wishes();
	CHECK_EQ(would_join(&id, &life), 1);
	end();
}

/*
 * The lower rank wishes for a node that the layout refuses. Another rank wishes for one that it
 * accepts.
 */
static void test_hidden_wish(void)
{
	begin(3, 0);
	refused_id = 40;
	wish(1, 40);
	expect_waiting(SPINDLE_MB_ACTIVE);
	wish(2, 41);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	write_have(1, 0);
	write_have(2, 0);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(3);
	CHECK_EQ(own_decree(SPINDLE_DECREE_NUM_JOINS), 1);
	CHECK_EQ(own_decree(SPINDLE_DECREE_JOIN), 41);
	end();
}

/* Two of four leave. The remaining two are too few for a joiner to believe them. */
static void test_few_let_nobody_in(void)
{
	u32 r;

	begin(4, 0);
	for (r = 1; r < 4; r++)
		say(r, VID, SPINDLE_MB_FENCED | (r > 1 ? LEAVES : 0), 0, 0, 0);
	wish(1, 40);
	run(4);
	CHECK_EQ(mb.ballot, 1);
	CHECK_EQ(own_decree(SPINDLE_DECREE_SURVIVORS), 3);
	CHECK_EQ(own_decree(SPINDLE_DECREE_NUM_JOINS), 0);
	end();
}

/* ---- one that joins --------------------------------------------------------------------- */

#define JOINER 9

static void begin_joining(void)
{
	open_rows(3);
	mb.row = row[3];
	CHECK_EQ(spindle_mb_join(&mb, &view, JOINER, 1, now), 0);
}

static void expect_outside(void)
{
	run(100);
	CHECK_EQ(mb.state, SPINDLE_MB_JOINING);
	CHECK_EQ(installs, 0);
}

static void test_joiner(void)
{
	u64 digest;

	begin_joining();
	/* The decree admits another node. */
	digest = write_decree(0, 7, 5, JOINER + 1);
	write_decree(1, 7, 5, JOINER + 1);
	say(0, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	say(1, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	expect_outside();
	say(1, VID, SPINDLE_MB_ACTIVE, 0, 0, 0);
	digest = write_decree(0, 7, 5, JOINER);
	say(0, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	expect_outside();
	/*
	 * A different decree, a digest that does not match the text, and a decree that is not
	 * chosen yet.
	 */
	say(1, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(1, 3, 5, JOINER));
	expect_outside();
	say(1, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	expect_outside();
	write_decree(1, 7, 5, JOINER);
	say(1, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	expect_outside();
	say(1, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	run(1);
	CHECK_EQ(installs, 1);
	CHECK_EQ(last_id, JOINER);
	end();
}

/* The words of members that do not go on do not count. */
static void test_joiner_outsiders(void)
{
	u64 digest;

	begin_joining();
	digest = write_decree(0, 1, 5, JOINER);
	write_decree(1, 1, 5, JOINER);
	write_decree(2, 1, 5, JOINER);
	say(0, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	say(1, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	expect_outside();
	end();
}

/* While the joiner makes memory, the members that admitted it go on to the end of that view. */
static void test_joiner_keeps(void)
{
	u64 digest;

	begin_joining();
	undrained = true;
	digest = write_decree(0, 7, 5, JOINER);
	write_decree(1, 7, 5, JOINER);
	say(0, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	say(1, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	expect_outside();
	say(1, VID + 1, SPINDLE_MB_ECHOED, 1, 0, 5);
	expect_outside();
	undrained = false;
	run(1);
	CHECK_EQ(installs, 1);
	end();
}

/* ---- what a member can do --------------------------------------------------------------- */

/* ---- a member that has closed its connection ---------------------------------------- */

static void test_closed(void)
{
	begin(5, 1);
	now += STEP;
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_LOST);
	CHECK_EQ(mb.doubted, BIT(0));
	mb.peer[0].heard = 1;
	spindle_mb_closed(&mb, 0);
	/*
	 * From now on this node waits for the member, and the broken connection says nothing more.
	 */
	CHECK_EQ(mb.closed, BIT(0));
	CHECK_EQ(mb.doubted, 0);
	CHECK_EQ(mb.peer[0].heard, mb.ran_at);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_LOST);
	CHECK_EQ(mb.doubted, 0);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_SILENT);
	CHECK_EQ(mb.doubted, BIT(0));
	/* Two of five are too few to go on. */
	spindle_mb_closed(&mb, 2);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
	spindle_mb_closed(&mb, 3);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_EVICTED);
	end();
}

/* The last word of the member counts, even if this node has not read it before. */
static void test_closed_unread(void)
{
	begin(3, 1);
	say(0, VID, SPINDLE_MB_STOPPED, 0, 0, 0);
	spindle_mb_closed(&mb, 0);
	CHECK_EQ(mb.suspected, BIT(0));
	CHECK_EQ(mb.closed, 0);
	end();
}

static void test_closed_joiner(void)
{
	begin_joining();
	spindle_mb_closed(&mb, 0);
	CHECK_EQ(mb.doubted, BIT(0));
	CHECK_EQ(mb.closed, 0);
	end();
}

/* A doubt keeps its reason and its time, and ends with the suspicion. */
static void test_doubt(void)
{
	u64 at;

	begin(3, 1);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_SILENT);
	at = mb.peer[0].doubted_at;
	mb.ran_at += STEP;
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_LOST);
	CHECK_EQ(mb.peer[0].reason, SPINDLE_MB_SILENT);
	CHECK_EQ(mb.peer[0].doubted_at, at);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_GONE);
	CHECK_EQ(mb.suspected, BIT(0));
	CHECK_EQ(mb.doubted, 0);
	end();
}

/* The clock has just begun to run, so less time has passed than a member may be silent. */
static void test_doubt_early(void)
{
	start = STEP;
	begin(3, 1);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_SILENT);
	CHECK_EQ(mb.doubted, BIT(0));
	now += STEP;
	wish(2, 0);
	spindle_mb_run(&mb, now);
	CHECK_EQ(mb.suspected, BIT(0));
	end();
	start = 1000 * TIMEOUT;
}

/* ---- words of this node -------------------------------------------------------------------- */

#define BALLOT (0xffULL << SPINDLE_MB_PHASE_BALLOT)

/* The number of writes to a member. @there: does one of them start at this word of the row? */
static u32 shows(u32 r, u32 at, bool *there)
{
	struct spindle_write write[SPINDLE_MB_PUSH_MAX];
	u32 i, n = spindle_mb_push(&mb, r, write);

	*there = false;
	for (i = 0; i < n; i++) {
		if (write[i].data != &mb.row->word[at])
			continue;
		*there = true;
		CHECK(at || write[i].len == spindle_mb_view(&mb)->num_members * sizeof(u64));
	}
	/* The block vouches for the words before it. */
	CHECK(!n || write[n - 1].guard);
	return n;
}

/*
 * The counts of received messages follow the fence once. The decree follows each time that it is
 * another.
 */
static void test_show_once(void)
{
	bool there;

	begin(3, 1);
	say(0, VID, SPINDLE_MB_WEDGED, 0, 0, 0);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	CHECK(shows(0, 0, &there) && !there);
	say(2, VID, SPINDLE_MB_WEDGED, 0, 0, 0);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
	CHECK(shows(0, 0, &there) && there);
	/* First nothing has changed, then something else has. */
	CHECK(!shows(0, 0, &there));
	mb.ballot = 1;
	mb.digest = 11;
	CHECK(shows(0, MOST, &there) && there);
	mb.ballot = 2;
	CHECK(shows(0, MOST, &there) && !there);
	mb.ballot = 3;
	CHECK(shows(0, 0, &there) && !there);
	end();
}

/* A fence follows all messages, and a member that leaves accepts no decree. */
static void test_show_fence(void)
{
	bool there;

	begin(3, 1);
	unflushed = true;
	mb.leaving = true;
	mb.ballot = 2;
	say(0, VID, SPINDLE_MB_WEDGED, 0, 0, 0);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	CHECK(shows(0, 0, &there));
	CHECK_EQ(mb.peer[0].told[SPINDLE_MB_COL_PHASE], SPINDLE_MB_ACTIVE | LEAVES);
	CHECK(spindle_mb_open(&mb, 0));
	unflushed = false;
	CHECK(shows(0, 0, &there));
	CHECK_EQ(mb.peer[0].told[SPINDLE_MB_COL_PHASE], SPINDLE_MB_WEDGED | LEAVES);
	CHECK(!(mb.peer[0].told[SPINDLE_MB_COL_PHASE] & BALLOT));
	/* No message follows the fence. */
	CHECK(!spindle_mb_open(&mb, 0));
	end();
}

/*
 * A member goes on without this node's fence. Even then this node freezes only counts that are
 * final.
 */
static void test_fence_skipped(void)
{
	u32 state;

	begin(3, 1);
	unflushed = true;
	write_have(0, 0);
	write_have(2, 0);
	say(2, VID, SPINDLE_MB_WEDGED, 0, 0, 0);
	for (state = SPINDLE_MB_WEDGED; state <= SPINDLE_MB_COMMITTED; state++) {
		u32 ballot = state >= SPINDLE_MB_ECHOED;

		say(0, VID, state, ballot, 0, write_decree(0, 7, 0, 0));
		expect_waiting(SPINDLE_MB_WEDGED);
	}
	unflushed = false;
	run(1);
	CHECK(mb.state > SPINDLE_MB_WEDGED);
	end();
}

/* A suspect gets no words, except that this node has stopped. */
static void test_show_suspect(void)
{
	bool there;

	begin(3, 1);
	CHECK(spindle_mb_open(&mb, 0));
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_GONE);
	CHECK(!spindle_mb_open(&mb, 0));
	CHECK(!shows(0, 0, &there));
	/* A member that stops cuts off no peer. */
	spindle_mb_stop(&mb, SPINDLE_MB_LEFT);
	cuts = 0;
	mb.uncut = BIT(0);
	spindle_mb_hear(&mb, now);
	CHECK_EQ(cuts, 0);
	CHECK(shows(0, 0, &there));
	end();
}

/* The count of states wraps where its bits end. */
static void test_show_count(void)
{
	bool there;

	begin(3, 1);
	mb.peer[0].said = SPINDLE_IMM_SLOTS;
	mb.leaving = true;
	CHECK(shows(0, 0, &there));
	CHECK_EQ(mb.peer[0].said, 0);
	mb.digest = 12;
	CHECK(shows(0, 0, &there));
	CHECK_EQ(mb.peer[0].out.word[SPINDLE_MB_COL_PHASE] >> SPINDLE_MB_PHASE_COUNT, 1);
	end();
}

/* This node was not run for more than half of a timeout. That is no other member's silence. */
static void test_paused(void)
{
	begin(3, 1);
	now += 6 * TIMEOUT / 10;
	spindle_mb_run(&mb, now);
	now += 45 * TIMEOUT / 100;
	spindle_mb_run(&mb, now);
	CHECK_EQ(mb.doubted, 0);
	/* The time in which the node was run counts. */
	now += 45 * TIMEOUT / 100;
	spindle_mb_run(&mb, now);
	CHECK_EQ(mb.doubted, 0);
	now += 45 * TIMEOUT / 100;
	spindle_mb_run(&mb, now);
	CHECK(mb.doubted == (BIT(0) | BIT(2)) || mb.state == SPINDLE_MB_STOPPED);
	end();
}

/* A committed decree is delivered, even if the other members are gone. */
static void test_committed_alone(void)
{
	u64 digest;

	begin_fenced(3, 1);
	undrained = true;
	digest = write_decree(0, 7, 5, 0);
	write_decree(2, 7, 5, 0);
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	say(2, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_COMMITTED);
	now += TIMEOUT / 4;
	for (; now < 1010 * TIMEOUT; now += TIMEOUT / 4)
		spindle_mb_run(&mb, now);
	CHECK_EQ(mb.state, SPINDLE_MB_COMMITTED);
	end();
}

/* The next view, without rank 2, is decided. A slow reader holds this node up in the last one. */
static void begin_committed(void)
{
	u64 digest;

	begin_fenced(4, 1);
	undrained = true;
	spindle_mb_suspect(&mb, 2, SPINDLE_MB_ADMIN);
	run(1);
	CHECK_EQ(cuts, BIT(2));
	cuts = 0;
	digest = write_decree(0, 0xb, 5, 0);
	write_decree(3, 0xb, 5, 0);
	say(0, VID, SPINDLE_MB_ECHOED, 1, BIT(2), digest);
	say(3, VID, SPINDLE_MB_ECHOED, 1, BIT(2), digest);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_COMMITTED);
}

/* This node accuses rank 3 for @reason when the others can read it, and beats until then. */
static void accuse_later(enum spindle_mb_reason reason)
{
	struct spindle_write write[SPINDLE_MB_PUSH_MAX];
	u64 beats;

	begin_committed();
	spindle_mb_suspect(&mb, 3, reason);
	run(3);
	CHECK_EQ(mb.suspected, BIT(2));
	CHECK_EQ(cuts, 0);
	beats = mb.peer[3].told_beat;
	now += INTERVAL;
	run(1);
	spindle_mb_push(&mb, 3, write);
	CHECK(mb.peer[3].told_beat > beats);
	undrained = false;
	run(2);
	CHECK_EQ(spindle_mb_view(&mb)->vid, VID + 1);
	/* Rank 3 of the last view is rank 2 of this one. */
	CHECK_EQ(mb.suspected, BIT(2));
	CHECK_EQ(cuts, BIT(2));
	CHECK_EQ(mb.later, 0);
	end();
}

static void test_accused_later(void)
{
	accuse_later(SPINDLE_MB_ADMIN);
	accuse_later(SPINDLE_MB_GOSSIP);
}

/* A member that has gone or lied is accused and cut off in the last view, too. */
static void test_accused_at_once(void)
{
	begin_committed();
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_LIED);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_GONE);
	run(1);
	CHECK_EQ(mb.suspected, BIT(0) | BIT(2) | BIT(3));
	CHECK_EQ(cuts, BIT(0) | BIT(3));
	end();
}

/* A member that an administrator evicts, and that lies, is cut off once. */
static void test_accused_twice(void)
{
	begin_committed();
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_ADMIN);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_LIED);
	run(1);
	CHECK_EQ(cuts, BIT(3));
	cuts = 0;
	undrained = false;
	run(2);
	CHECK_EQ(spindle_mb_view(&mb)->vid, VID + 1);
	CHECK_EQ(mb.suspected, BIT(2));
	CHECK_EQ(cuts, 0);
	end();
}

/* The leader shows another text under the same ballot. */
static void test_same_ballot(void)
{
	u64 digest;

	begin_fenced(3, 1);
	digest = write_decree(0, 7, 5, 0);
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	run(2);
	CHECK_EQ(mb.digest, digest);
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, write_decree(0, 7, 4, 0));
	run(2);
	CHECK_EQ(mb.digest, digest);
	end();
}

/* ---- decrees that are not accepted -------------------------------------------------------- */

/* The leader shows a ballot of another rank, which is not the leader's own proposal. */
static void test_other_ballot(void)
{
	begin_fenced(3, 1);
	say(0, VID, SPINDLE_MB_ECHOED, 2, 0, write_decree(0, 7, 5, 0));
	expect_waiting(SPINDLE_MB_FENCED);
	end();
}

/* One member has gone on, while this node has not reported its counts yet. */
static void test_wedged_behind(void)
{
	begin(3, 1);
	say(0, VID, SPINDLE_MB_WEDGED, 0, 0, 0);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(2, 7, 0, 0));
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_EVICTED);
	end();
}

/* A view with one subgroup of some members, and all of them send. */
static void begin_part(u32 members, u32 me, u64 part)
{
	u32 r;

	open_rows(members);
	view.subgroup[0].members = part;
	view.subgroup[0].senders = part;
	mb.row = row[me];
	CHECK_EQ(spindle_mb_init(&mb, &view, me, now), 0);
	for (r = 0; r < members; r++)
		if (r != me)
			say(r, VID, SPINDLE_MB_ACTIVE, 0, 0, 0);
	run(2);
}

/* This node cannot know the counts of a subgroup of other members. */
static void test_trim_of_others(void)
{
	u64 *word, digest;

	begin_part(3, 1, BIT(0) | BIT(2));
	say(0, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
	write_decree(0, 7, 5, 0);
	word = row[0]->word + MOST;
	word[SPINDLE_DECREE_HEAD + 2] = 0;
	digest = spindle_decree_digest(word, spindle_mb_decree_words(MOST));
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	run(3);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(mb.digest, digest);
	end();
}

/* All members of a subgroup have gone, so no member has any of its messages. */
static void test_trim_of_nobody(void)
{
	begin_part(3, 0, BIT(2));
	say(2, VID, SPINDLE_MB_STOPPED, 0, 0, 0);
	run(2);
	CHECK_EQ(mb.suspected, BIT(2));
	say(1, VID, SPINDLE_MB_FENCED, 0, BIT(2), 0);
	run(3);
	CHECK_EQ(mb.ballot, 1);
	CHECK_EQ(own_decree(SPINDLE_DECREE_HEAD), 0);
	end();
}

/* The liar accuses this node, and the others believe it, as they believe any member. */
static void test_accused(void)
{
	begin(3, 1);
	say(2, VID, SPINDLE_MB_ACTIVE, 0, BIT(1), 0);
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_EVICTED);
	end();
}

static void test_gossip(void)
{
	begin(3, 1);
	say(2, VID, SPINDLE_MB_ACTIVE, 0, BIT(0), 0);
	run(1);
	CHECK_EQ(mb.suspected, BIT(0));
	CHECK_EQ(mb.peer[0].reason, SPINDLE_MB_GOSSIP);
	CHECK(mb.state != SPINDLE_MB_STOPPED);
	end();
}

/* The liar says that it is far ahead. */
static void test_left_behind(void)
{
	begin(3, 1);
	say(2, VID + 2, SPINDLE_MB_ACTIVE, 0, 0, 0);
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_EVICTED);
	end();
}

static void test_far_ahead(void)
{
	begin_fenced(3, 1);
	say(2, VID + 2, SPINDLE_MB_ACTIVE, 0, 0, 0);
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_EVICTED);
	end();
}

/* The liar beats and says nothing else. The change waits until an administrator evicts it. */
static void test_hold_up(void)
{
	begin(3, 1);
	say(0, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	expect_waiting(SPINDLE_MB_WEDGED);
	spindle_mb_suspect(&mb, 2, SPINDLE_MB_ADMIN);
	say(0, VID, SPINDLE_MB_FENCED, 0, BIT(2), 0);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
	end();
}

/*
 * First the liar reports fewer messages than it had: the trim is that count. Then the liar reports
 * more than the others have: the trim is the count that they have.
 */
static void test_have_too_small(void)
{
	begin_fenced(3, 0);
	write_have(2, 1);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(2);
	CHECK_EQ(own_decree(SPINDLE_DECREE_HEAD), 1);
	end();
	begin_fenced(3, 0);
	write_have(2, U64_MAX);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(2);
	CHECK_EQ(own_decree(SPINDLE_DECREE_HEAD), 5);
	end();
}

/* A decree that no correct member shows: this node suspects the leader, and no other member. */
static void test_nonsense(void)
{
	static const struct {
		u64 vid, phase, ballot, suspected;
	} wrong[] = {
		{ VID - 1, SPINDLE_MB_FENCED, 1, 1 },
		{ VID, SPINDLE_MB_WEDGED, 1, 1 },
		{ VID, SPINDLE_MB_FENCED, 0, 1 },
		{ VID, SPINDLE_MB_FENCED, 1, 0 },
		{ VID, SPINDLE_MB_FENCED, 1, 1 | BIT(4) },
		{ VID, SPINDLE_MB_FENCED, 5, 1 },
		{ VID, SPINDLE_MB_JOINING, 1, 1 },
		{ VID, 0xff, 1, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin(4, 1);
		say(3, VID, SPINDLE_MB_FENCED, 1, 1, 0);
		run(1);
		CHECK_EQ(mb.suspected, BIT(0));
		say(3, wrong[i].vid, wrong[i].phase, wrong[i].ballot, wrong[i].suspected, 0);
		run(1);
		CHECK(mb.suspected & BIT(3) || mb.state == SPINDLE_MB_STOPPED);
		CHECK_EQ(mb.peer[3].reason, SPINDLE_MB_LIED);
		end();
	}
}

/* All members show the decree of this node, and go on by it. */
static void follow_own(u32 members)
{
	u32 r;

	for (r = 0; r < members; r++) {
		if (row[r] == mb.row || (mb.suspected & BIT_ULL(r)))
			continue;
		memcpy(row[r]->word + MOST, mb.row->word + MOST,
		       spindle_mb_decree_words(MOST) * sizeof(u64));
		say(r, VID, SPINDLE_MB_ECHOED, mb.me + 1, mb.suspected, mb.digest);
	}
	run(3);
}

/* The liar wedges in each view, and each view ends because of that. No member is blamed. */
static void test_view_after_view(void)
{
	begin_fenced(3, 0);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_ECHOED);
	follow_own(3);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
	CHECK_EQ(spindle_mb_view(&mb)->vid, VID + 1);
	CHECK_EQ(spindle_mb_view(&mb)->num_members, 3);
	say(1, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, mb.digest);
	say(2, VID + 1, SPINDLE_MB_WEDGED, 0, 0, mb.digest);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(cuts, 0);
	end();
}

/* The view of one of two parts: the liar accuses the other part, and goes on with each. */
static void part_of(u32 members, u32 me, u64 accused)
{
	u64 rest = (BIT_ULL(members) - 1) & ~accused, mask;

	begin(members, me);
	say(members - 1, VID, SPINDLE_MB_ACTIVE, 0, accused, 0);
	run(2);
	if (mb.state == SPINDLE_MB_STOPPED)
		return;
	CHECK_EQ(mb.suspected, accused);
	for (mask = rest & ~BIT_ULL(me); mask; mask &= mask - 1)
		say(__ffs64(mask), VID, SPINDLE_MB_FENCED, 0, accused, 0);
	run(3);
	follow_own(members);
}

/* The liar is in both parts. Of three members each part is a majority, of four none is. */
static void test_divide(void)
{
	part_of(3, 0, BIT(1));
	CHECK_EQ(installs, 1);
	CHECK_EQ(spindle_mb_view(&mb)->num_members, 2);
	end();
	part_of(3, 1, BIT(0));
	CHECK_EQ(installs, 1);
	CHECK_EQ(spindle_mb_view(&mb)->num_members, 2);
	end();
	part_of(4, 1, BIT(0) | BIT(2));
	CHECK_EQ(installs, 0);
	CHECK_EQ(mb.reason, SPINDLE_MB_MINORITY);
	end();
}

/* ---- what a view leaves behind ------------------------------------------------------- */

/* Rank 0 is gone, and four of five members agree on the next view. It is not installed yet. */
static void begin_next(u64 any)
{
	bool there;
	u32 r;

	begin(MOST, 1);
	mb.any = any;
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_ADMIN);
	for (r = 2; r < MOST; r++)
		say(r, VID, SPINDLE_MB_FENCED, 0, BIT(0), 0);
	undrained = true;
	run(3);
	CHECK_EQ(mb.ballot, 2);
	CHECK(shows(2, 0, &there));
	follow_own(MOST);
	CHECK_EQ(mb.state, SPINDLE_MB_COMMITTED);
}

/* One pass, in which this node hears no heartbeat, and which is too early for its own one. */
static void install_next(void)
{
	undrained = false;
	spindle_mb_run(&mb, now);
	CHECK_EQ(installs, 1);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
}

/* Messages of the next view are pushed, and its counts are shown behind its fence. */
static void test_next_fence(void)
{
	bool there;
	u32 r;

	begin_next(0);
	CHECK(!spindle_mb_open(&mb, 2));
	install_next();
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, mb.digest);
	run(1);
	/* Rank 2 has rank 1 now, and its row stays where it is. */
	CHECK(spindle_mb_open(&mb, 1));
	for (r = 2; r < MOST; r++)
		say(r, VID + 1, SPINDLE_MB_FENCED, 0, 0, mb.digest);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_ECHOED);
	CHECK(shows(1, 0, &there) && there);
	end();
}

/* This node led the view before, and leads the next one, too: it proposes again. */
static void test_next_ballot(void)
{
	u32 r;

	begin_fenced(3, 0);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(2);
	follow_own(3);
	CHECK_EQ(installs, 1);
	CHECK_EQ(mb.ballot, 0);
	for (r = 1; r < 3; r++)
		say(r, VID + 1, SPINDLE_MB_FENCED, 0, 0, mb.digest);
	run(3);
	CHECK_EQ(mb.ballot, 1);
	CHECK_EQ(own_decree(SPINDLE_DECREE_VID), VID + 1);
	end();
}

/* A member is ahead, and wedges in the next view before this node is there. */
static void test_next_wedged(void)
{
	begin_next(0);
	say(4, VID + 1, SPINDLE_MB_WEDGED, 0, 0, mb.digest);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_COMMITTED);
	install_next();
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	end();
}

/* Doubts and closed connections follow their members to the ranks of the next view. */
static void test_next_doubts(void)
{
	begin_next(0);
	spindle_mb_closed(&mb, 3);
	spindle_mb_suspect(&mb, 4, SPINDLE_MB_LOST);
	CHECK_EQ(mb.closed, BIT(3));
	CHECK_EQ(mb.doubted, BIT(4));
	mb.came = BIT(4);
	install_next();
	CHECK_EQ(mb.closed, BIT(2));
	CHECK_EQ(mb.doubted, BIT(3));
	/* No joiner came with this view. */
	CHECK_EQ(mb.came, 0);
	end();
}

/* Joiners wait for a majority of the view before, which may have had more members. */
static void test_next_majority(void)
{
	begin_next(0);
	install_next();
	CHECK_EQ(mb.most, 3);
	end();
	begin_next(1);
	install_next();
	CHECK_EQ(mb.most, 1);
	end();
	part_of(4, 0, BIT(2));
	CHECK_EQ(installs, 1);
	CHECK_EQ(mb.most, 3);
	end();
}

/* A joiner takes the rank of a member that is gone, and nothing of its words. */
static void test_next_joiner(void)
{
	u64 beat;

	begin(3, 0);
	spindle_mb_suspect(&mb, 2, SPINDLE_MB_ADMIN);
	spindle_mb_invite(&mb, 9, 1);
	mb.peer[2].said = 5;
	say(1, VID, SPINDLE_MB_FENCED, 0, BIT(2), 0);
	undrained = true;
	run(3);
	CHECK_EQ(own_decree(SPINDLE_DECREE_NUM_JOINS), 1);
	follow_own(3);
	CHECK_EQ(mb.state, SPINDLE_MB_COMMITTED);
	beat = mb.beat;
	install_next();
	CHECK_EQ(last_id, 9);
	CHECK_EQ(mb.peer[2].vid, 0);
	CHECK_EQ(mb.peer[2].said, 0);
	/* The wish is fulfilled, and the next heartbeat says so at once. */
	CHECK_EQ(mb.wish, 0);
	CHECK_EQ(mb.beat, beat + 1);
	end();
}

/* The joiners of the decree that a leader proposes, by bits of their ids. */
static u64 proposed(void)
{
	u64 i, ids = 0;

	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(3);
	for (i = 0; i < own_decree(SPINDLE_DECREE_NUM_JOINS); i++)
		ids |= BIT_ULL(own_decree(SPINDLE_DECREE_JOIN + i * SPINDLE_JOIN_WORDS));
	memset(ready, 0, sizeof(ready));
	absent_id = 0;
	end();
	return ids;
}

/* A member whose changes let in two nodes, and that wishes for node 9. */
static void begin_wish(void)
{
	begin(3, 0);
	mb.joins = 2;
	spindle_mb_invite(&mb, 9, 1);
}

/* A wish comes first, then the nodes that are ready in the order of their seats. */
static void test_ready_together(void)
{
	begin_wish();
	ready[1] = 9;
	ready[3] = 12;
	CHECK_EQ(proposed(), BIT(9) | BIT(12));
	/* One is not connected, one is a member, and there are more than have room. */
	begin_wish();
	absent_id = 10;
	memcpy(ready, (u32[]){ 10, 2, 9, 11, 12, 13 }, sizeof(ready));
	CHECK_EQ(proposed(), BIT(9) | BIT(11));
}

/* A change that waits for more nodes begins when it is full, or has another cause. */
static void test_ready_held(void)
{
	begin_wish();
	mb.hold = true;
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
	ready[5] = 10;
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	CHECK_EQ(proposed(), BIT(9) | BIT(10));
	begin_wish();
	mb.hold = true;
	say(1, VID, SPINDLE_MB_WEDGED, 0, 0, 0);
	CHECK_EQ(proposed(), BIT(9));
	begin_wish();
	CHECK_EQ(proposed(), BIT(9));
}

/* ---- other rules --------------------------------------------------------------------------- */

#define RULES 76

/* Three members, of which this one is the leader, and a node that is ready to join. */
static void begin_offers(u64 own, u64 of_1, u64 of_2)
{
	ready[0] = 0;
	begin(3, 0);
	ready[0] = 9;
	if (own)
		CHECK(spindle_mb_offer(&mb, own));
	beat(1, 0, of_1);
	beat(2, 0, of_2);
}

/* The rules that the leader proposes. */
static u64 proposes(void)
{
	u64 rules;

	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_ECHOED);
	rules = own_decree(SPINDLE_DECREE_RULES);
	/* A joiner has the old rules. */
	CHECK_EQ(own_decree(SPINDLE_DECREE_NUM_JOINS), !rules);
	end();
	return rules;
}

static void test_rules_all(void)
{
	u64 now_beat;

	begin_offers(RULES, RULES, RULES);
	mb.hold = true;
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	CHECK(!spindle_mb_offer(&mb, 0));
	CHECK_EQ(mb.rules, RULES);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	undrained = true;
	run(3);
	CHECK_EQ(own_decree(SPINDLE_DECREE_RULES), RULES);
	follow_own(3);
	CHECK_EQ(mb.state, SPINDLE_MB_COMMITTED);
	CHECK_EQ(last_rules, RULES);
	now_beat = mb.beat;
	ready[0] = 0;
	install_next();
	/* The offer is over, and the next heartbeat says so at once. */
	CHECK_EQ(mb.rules, 0);
	CHECK(mb.beat > now_beat);
	end();
}

static void test_rules_some(void)
{
	u64 now_beat;

	begin_offers(RULES, RULES, RULES + 2);
	CHECK_EQ(proposes(), 0);
	begin_offers(RULES, 0, RULES);
	CHECK_EQ(proposes(), 0);
	begin_offers(0, RULES, RULES);
	CHECK_EQ(proposes(), 0);
	begin_offers(RULES, RULES, RULES);
	CHECK_EQ(proposes(), RULES);
	begin_offers(RULES, RULES | SPINDLE_MB_WANTS, RULES);
	CHECK_EQ(proposes(), RULES);
	begin_offers(RULES | SPINDLE_MB_WANTS, RULES, RULES);
	CHECK_EQ(proposes(), RULES);
	/* A member that leaves needs no rules, and one that is suspected does not count. */
	begin_offers(RULES, RULES, 0);
	say(2, VID, LEAVES | SPINDLE_MB_ACTIVE, 0, 0, 0);
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, LEAVES | SPINDLE_MB_FENCED, 0, 0, 0);
	run(3);
	CHECK_EQ(own_decree(SPINDLE_DECREE_RULES), RULES);
	end();
	/* The last word before a fence counts. */
	begin_offers(RULES, RULES, RULES);
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	beat(1, 0, 0);
	CHECK_EQ(proposes(), 0);
	/* Only the leader begins a change. */
	ready[0] = 0;
	begin(3, 1);
	now_beat = mb.beat;
	CHECK(spindle_mb_offer(&mb, RULES));
	/* The others hear of an offer at once. */
	CHECK(mb.beat > now_beat);
	beat(0, 0, RULES);
	beat(2, 0, RULES);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
	end();
}

/* Members follow the first one that wants rules. */
static void test_rules_wanted(void)
{
	u32 rank = 9;

	begin_offers(0, RULES, 0);
	ready[0] = 0;
	run(1);
	CHECK_EQ(spindle_mb_wanted(&mb, &rank), 0);
	beat(2, 0, RULES | SPINDLE_MB_WANTS);
	run(1);
	CHECK_EQ(spindle_mb_wanted(&mb, &rank), RULES);
	CHECK_EQ(rank, 2);
	beat(1, 0, (RULES + 2) | SPINDLE_MB_WANTS);
	run(1);
	CHECK_EQ(spindle_mb_wanted(&mb, &rank), RULES + 2);
	CHECK_EQ(rank, 1);
	CHECK(spindle_mb_offer(&mb, RULES + 4));
	CHECK_EQ(spindle_mb_wanted(&mb, &rank), RULES + 2);
	CHECK_EQ(spindle_mb_offered(&mb, 0), RULES + 4);
	CHECK_EQ(spindle_mb_offered(&mb, 1), (RULES + 2) | SPINDLE_MB_WANTS);
	CHECK(spindle_mb_offer(&mb, (RULES + 4) | SPINDLE_MB_WANTS));
	CHECK_EQ(spindle_mb_offered(&mb, 0), (RULES + 4) | SPINDLE_MB_WANTS);
	CHECK_EQ(spindle_mb_wanted(&mb, &rank), RULES + 4);
	CHECK_EQ(rank, 0);
	CHECK(spindle_mb_offer(&mb, 0));
	spindle_mb_suspect(&mb, 1, SPINDLE_MB_ADMIN);
	CHECK_EQ(spindle_mb_wanted(&mb, &rank), RULES);
	spindle_mb_stop(&mb, SPINDLE_MB_LEFT);
	CHECK_EQ(spindle_mb_wanted(&mb, &rank), 0);
	end();
}

/* The leader of this member proposes rules. Does the member accept them, and blame nobody? */
static bool accepts_rules(u64 own, bool leaving)
{
	u64 digest;
	bool accepted;

	begin(3, 1);
	if (own)
		CHECK(spindle_mb_offer(&mb, own));
	if (leaving)
		spindle_mb_leave(&mb);
	say(0, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_FENCED);
	write_decree(0, leaving ? 5 : 7, 0, 0);
	row[0]->word[MOST + SPINDLE_DECREE_RULES] = RULES;
	memcpy(row[2]->word, row[0]->word, spindle_mb_row_bytes(MOST) - sizeof(*row[0]));
	digest = spindle_decree_digest(row[0]->word + MOST, spindle_mb_decree_words(MOST));
	say(0, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	if (leaving)
		say(2, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	undrained = true;
	run(2);
	accepted = mb.ballot == 1 && !mb.suspected;
	CHECK(accepted || mb.suspected == BIT(0));
	end();
	return accepted;
}

static void test_rules_follow(void)
{
	CHECK(accepts_rules(RULES, false));
	CHECK(!accepts_rules(0, false));
	CHECK(!accepts_rules(RULES + 2, false));
	CHECK(accepts_rules(0, true));
}

/* The view has another life of the node than the one that is wished for, so the wish stays. */
static void test_next_life(void)
{
	begin(3, 0);
	spindle_mb_invite(&mb, 9, 1);
	say(1, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	say(2, VID, SPINDLE_MB_FENCED, 0, 0, 0);
	undrained = true;
	run(3);
	CHECK_EQ(own_decree(SPINDLE_DECREE_NUM_JOINS), 1);
	follow_own(3);
	CHECK_EQ(mb.state, SPINDLE_MB_COMMITTED);
	mb.wish_inc = 2;
	install_next();
	CHECK_EQ(last_id, 9);
	CHECK_EQ(mb.wish, 9);
	CHECK_EQ(mb.wish_inc, 2);
	end();
}

static void test_wish_beats(void)
{
	u64 beat;

	begin(3, 1);
	beat = mb.beat;
	spindle_mb_invite(&mb, 9, 1);
	CHECK_EQ(mb.beat, beat + 1);
	end();
}

/* ---- votes and trims of others ---------------------------------------------------------- */

/* Two leaders are gone. Each has left a decree, and the later one may have been chosen. */
static void test_takeover_latest(void)
{
	u64 digest;

	begin_fenced(MOST, 2);
	spindle_mb_suspect(&mb, 0, SPINDLE_MB_ADMIN);
	spindle_mb_suspect(&mb, 1, SPINDLE_MB_ADMIN);
	digest = write_decree(4, 0x1e, 4, 0);
	say(3, VID, SPINDLE_MB_ECHOED, 1, 3, write_decree(3, 0x1f, 3, 0));
	say(4, VID, SPINDLE_MB_ECHOED, 2, 3, digest);
	run(2);
	CHECK_EQ(mb.ballot, 3);
	CHECK_EQ(mb.digest, digest);
	end();
}

/* This node gave up a lie for the leader's decree. The leader may not change that one. */
static void test_misled_once(void)
{
	u64 digest;

	begin_fenced(4, 1);
	say(3, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(3, 0xf, 4, 0));
	run(2);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_ADMIN);
	digest = write_decree(0, 0xf, 5, 0);
	say(0, VID, SPINDLE_MB_ECHOED, 1, BIT(3), digest);
	say(2, VID, SPINDLE_MB_FENCED, 0, BIT(3), 0);
	run(2);
	CHECK_EQ(mb.digest, digest);
	say(0, VID, SPINDLE_MB_ECHOED, 1, BIT(3), write_decree(0, 0x7, 5, 0));
	run(2);
	CHECK_EQ(mb.digest, digest);
	end();
}

/* The trim has what the living have. Leavers deliver it, too, and the dead do not. */
static void test_trim_of_living(void)
{
	begin_fenced(4, 0);
	write_have(2, 3);
	write_have(3, 1);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_ADMIN);
	say(1, VID, SPINDLE_MB_FENCED, 0, BIT(3), 0);
	say(2, VID, SPINDLE_MB_FENCED | LEAVES, 0, BIT(3), 0);
	run(2);
	CHECK_EQ(mb.ballot, 1);
	CHECK_EQ(own_decree(SPINDLE_DECREE_SURVIVORS), 3);
	CHECK_EQ(own_decree(SPINDLE_DECREE_HEAD), 3);
	end();
}

/* The lowest rank leaves. A learned decree has the ballot of the next one, which leads. */
static void test_learn_from_below(void)
{
	begin_fenced(4, 2);
	say(0, VID, SPINDLE_MB_FENCED | LEAVES, 0, 0, 0);
	run(1);
	say(3, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(3, 0xe, 5, 0));
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_ECHOED);
	CHECK_EQ(mb.ballot, 2);
	end();
}

/* A member votes in the next view: that view ends already, and this node was never in it. */
static void test_left_out(void)
{
	begin_fenced(3, 1);
	say(2, VID + 1, SPINDLE_MB_ECHOED, 1, 0, write_decree(2, 7, 5, 0));
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_EVICTED);
	end();
}

/* All others show a decree that delivers messages which the leaver does not have. */
static void test_leaver_lacks(void)
{
	u64 digest;

	leaver_fences();
	digest = write_decree(1, 7, 5, 0);
	write_decree(2, 7, 5, 0);
	say(1, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	say(2, VID, SPINDLE_MB_ECHOED, 1, 0, digest);
	live(BIT(1) | BIT(2));
	CHECK_EQ(mb.suspected, BIT_ULL(0));
	CHECK_EQ(mb.ballot, 0);
	end();
}

/* A member cannot join, and a full view has no rank for anybody. */
static void test_no_rank(void)
{
	u32 r;

	begin(3, 0);
	mb.wish = 2;
	mb.wish_inc = 8;
	CHECK(!spindle_mb_join_due(&mb));
	end();
	open_rows(MOST);
	free(mb.seen);
	mb.trims = 2 * SPINDLE_MAX_MEMBERS;
	mb.seen = calloc(spindle_mb_decree_words(mb.trims), sizeof(u64));
	view.num_members = SPINDLE_MAX_MEMBERS;
	for (r = 0; r < SPINDLE_MAX_MEMBERS; r++)
		view.member[r].id = r + 1;
	mb.row = row[0];
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), 0);
	mb.wish = 100;
	CHECK(!spindle_mb_join_due(&mb));
	end();
}

/* ---- a joiner and the view that it has found --------------------------------------------- */

static void let_in(u64 survivors)
{
	u64 digest = write_decree(1, survivors, 5, JOINER);

	write_decree(2, survivors, 5, JOINER);
	say(1, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, digest);
	now += STEP;
	spindle_mb_run(&mb, now);
	CHECK_EQ(installs, 1);
}

/* Slow readers keep the members from the view, so the joiner waits for them, from now on. */
static void test_joiner_waits(void)
{
	u32 r;

	begin_joining();
	expect_outside();
	for (r = 0; r < 3; r++)
		memset(&row[r]->beat, 0, sizeof(row[r]->beat));
	let_in(7);
	live(0);
	CHECK_EQ(mb.doubted, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
	live(0);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	end();
}

/* The joiner has accused a member by its old rank, which is another member's by now. */
static void test_joiner_cuts(void)
{
	begin_joining();
	mb.any = true;
	spindle_mb_suspect(&mb, 1, SPINDLE_MB_LIED);
	write_decree(2, 6, 5, JOINER);
	say(2, VID + 1, SPINDLE_MB_ACTIVE, 0, 0, write_decree(2, 6, 5, JOINER));
	run(1);
	CHECK_EQ(installs, 1);
	CHECK_EQ(mb.suspected, BIT(0));
	run(1);
	CHECK(!(cuts & BIT(1)));
	end();
}

/* ---- whose words count ------------------------------------------------------------------- */

/* Ranks of a former view mean nothing here, but a member that has stopped has stopped. */
static void test_former_view(void)
{
	begin(3, 1);
	mb.peer[2].vid = VID - 1;
	say(2, VID - 1, SPINDLE_MB_FENCED, 0, BIT(0) | BIT(1), 0);
	run(1);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
	/* The fence is that of the former view, too. */
	say(0, VID, SPINDLE_MB_WEDGED, 0, 0, 0);
	run(4);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	say(2, VID - 1, SPINDLE_MB_STOPPED, 0, BIT(0), 0);
	run(1);
	CHECK_EQ(mb.suspected, BIT(2));
	CHECK_EQ(mb.peer[2].reason, SPINDLE_MB_GONE);
	end();
}

/* Two of four leave. Of the others one is gone, and one is no majority of two. */
static void test_leavers_of_quorum(void)
{
	begin(4, 0);
	say(2, VID, SPINDLE_MB_ACTIVE | LEAVES, 0, 0, 0);
	say(3, VID, SPINDLE_MB_ACTIVE | LEAVES, 0, 0, 0);
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	spindle_mb_suspect(&mb, 1, SPINDLE_MB_ADMIN);
	run(1);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_MINORITY);
	end();
}

/* A state waits for the completion that vouches for it. The counts of both wrap. */
static void test_vouched(void)
{
	u32 vouch = SPINDLE_IMM_SLOTS;

	begin(3, 1);
	mb.peer[2].vouch = &vouch;
	say(2, VID, SPINDLE_MB_WEDGED | 1ULL << SPINDLE_MB_PHASE_COUNT, 0, 0, 0);
	run(3);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
	vouch = 1;
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	end();
	begin(3, 1);
	vouch = 2;
	mb.peer[2].vouch = &vouch;
	say(2, VID, SPINDLE_MB_WEDGED | (u64)SPINDLE_IMM_SLOTS << SPINDLE_MB_PHASE_COUNT, 0, 0, 0);
	run(2);
	CHECK_EQ(mb.state, SPINDLE_MB_WEDGED);
	end();
}

/* Members wish for one life of a node, and then for another one. */
static void test_wish_life(void)
{
	u64 word[SPINDLE_BLOCK_WORDS] = { 100, 40, 7 };
	u64 id, life;

	begin(3, 0);
	spindle_block_write(&row[2]->beat, word);
	hear_wishes();
	CHECK_EQ(would_join(&id, &life), 1);
	CHECK_EQ(life, 7);
	word[SPINDLE_MB_COL_BEAT]++;
	word[SPINDLE_MB_COL_WISH_INC] = 8;
	spindle_block_write(&row[2]->beat, word);
	hear_wishes();
	CHECK_EQ(would_join(&id, &life), 1);
	CHECK_EQ(life, 8);
	end();
}

/* Has a member begun the view, or a subgroup that stays? May messages be written to it? */
static void test_begun(void)
{
	begin(3, 1);
	CHECK(spindle_mb_has_begun(&mb, 2, VID, false));
	say(2, VID, SPINDLE_MB_COMMITTED, 1, 0, 0);
	run(1);
	CHECK(spindle_mb_has_begun(&mb, 2, VID + 1, true));
	CHECK(!spindle_mb_has_begun(&mb, 2, VID + 2, true));
	CHECK(spindle_mb_open(&mb, 0));
	mb.peer[0].vid = VID + 1;
	CHECK(!spindle_mb_open(&mb, 0));
	mb.peer[0].vid = VID;
	spindle_mb_suspect(&mb, 2, SPINDLE_MB_ADMIN);
	CHECK(!spindle_mb_has_begun(&mb, 2, VID, false));
	spindle_mb_stop(&mb, SPINDLE_MB_LEFT);
	CHECK(!spindle_mb_open(&mb, 0));
	end();
}

/* A member that stops says so at once, although messages are left. */
static void test_show_stopped(void)
{
	bool there;

	begin(3, 1);
	unflushed = true;
	spindle_mb_stop(&mb, SPINDLE_MB_MINORITY);
	CHECK(shows(0, 0, &there));
	CHECK_EQ(mb.peer[0].told[SPINDLE_MB_COL_PHASE], SPINDLE_MB_STOPPED);
	end();
}

/* What has to be in a leaver's row before the others go on: the vote, and for this decree. */
static void test_leaver_row(void)
{
	u64 *told = mb.peer[2].told;

	begin(3, 0);
	say(2, VID, SPINDLE_MB_ACTIVE | LEAVES, 0, 0, 0);
	run(1);
	mb.digest = 11;
	told[SPINDLE_MB_COL_DIGEST] = 11;
	told[SPINDLE_MB_COL_PHASE] = SPINDLE_MB_ECHOED;
	CHECK(!spindle_mb_leavers_told(&mb));
	told[SPINDLE_MB_COL_PHASE] |= 1ULL << SPINDLE_MB_PHASE_BALLOT;
	CHECK(spindle_mb_leavers_told(&mb));
	told[SPINDLE_MB_COL_DIGEST] = 10;
	CHECK(!spindle_mb_leavers_told(&mb));
	end();
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a view that has no room in a decree is refused", test_too_many_trims },
		{ "a view without members, or with too many, is refused", test_no_members },
		{ "a decree that leaves out an unsuspected member is not followed", test_split },
		{ "the word of one member that all have gone on is not enough", test_one_word },
		{ "a member that is behind follows a decree of all members", test_learn },
		{ "positions of a subgroup of liars", test_foreign_positions },
		{ "equal digests do not make decrees equal", test_same_digest },
		{ "a leader that shows two decrees gets neither committed", test_two_decrees },
		{ "a value from a liar is dropped when the liar is evicted", test_misled },
		{ "a leader adopts only a decree that all members can follow", test_takeover },
		{ "a leader waits for a decree that a member has accepted", test_takeover_waits },
		{ "a leader drops a decree that others cannot follow", test_own_takeover },
		{ "a leader that shows an impossible decree has lied", test_blame },
		{ "a leader that leaves out a member may have been deceived", test_no_blame },
		{ "an impossible decree is not learned", test_learn_nonsense },
		{ "a leader learns no trim that a member lacks", test_learn_leader },
		{ "leavers learn of the decree before the view is installed", test_leaver_told },
		{ "a leaver waits for all voters", test_leaver_waits },
		{ "a leaver follows the decree of the voters", test_leaver_follows },
		{ "a leaver follows only a decree that all voters show", test_leaver_divided },
		{ "a leaver accuses no member that goes on without it", test_leaver_spares },
		{ "a leaver in silence accuses no member", test_leaver_alone },
		{ "a wish for a node that does not exist is dropped", test_phantom },
		{ "a refused wish does not hide another one", test_hidden_wish },
		{ "less than half of a view admits no node", test_few_let_nobody_in },
		{ "a joiner follows a majority", test_joiner },
		{ "a joiner follows only members that go on", test_joiner_outsiders },
		{ "a joiner keeps to the view that it has found", test_joiner_keeps },
		{ "a liar can make another member stop", test_accused },
		{ "a liar can make the other members suspect one", test_gossip },
		{ "a liar can claim to be far ahead, and stop other members", test_left_behind },
		{ "a liar can do this during a change as well", test_far_ahead },
		{ "a liar can hold up a change until it is evicted", test_hold_up },
		{ "a liar can cause view after view", test_view_after_view },
		{ "a liar can divide three members, but not four", test_divide },
		{ "a liar can show have too small, but not too large", test_have_too_small },
		{ "a value that no correct member shows is a lie", test_nonsense },
		{ "wishes are granted once, one at a time, as far as there is room", test_wishes },
		{ "only the leader grants wishes", test_wishes_of_leader },
		{ "a view admits a node to its last place", test_last_place },
		{ "members wait for a member that has closed its connection", test_closed },
		{ "the last words of a closed connection count", test_closed_unread },
		{ "members do not wait for a joiner that has closed", test_closed_joiner },
		{ "a doubt keeps its reason and its time", test_doubt },
		{ "a member is silent when the clock has just begun", test_doubt_early },
		{ "the counts of received messages follow the fence once", test_show_once },
		{ "a fence is shown behind all messages", test_show_fence },
		{ "a fence freezes no earlier message", test_fence_skipped },
		{ "a suspect gets no words, except that this node has stopped", test_show_suspect },
		{ "the count of states wraps", test_show_count },
		{ "a paused node accuses no member of silence", test_paused },
		{ "a decree is delivered although the others have gone", test_committed_alone },
		{ "a member in the last view accuses in the next one", test_accused_later },
		{ "a member accuses a liar at once in any view", test_accused_at_once },
		{ "a member with two accusations is cut off once", test_accused_twice },
		{ "another decree under the same ballot is a lie", test_same_ballot },
		{ "a leader shows the decree of another leader", test_other_ballot },
		{ "a wedged member finds that the others have gone on", test_wedged_behind },
		{ "subgroups of other members can go on", test_trim_of_others },
		{ "a subgroup can lose all of its members", test_trim_of_nobody },
		{ "messages and counts of the next view", test_next_fence },
		{ "a leader proposes in each view", test_next_ballot },
		{ "a member that wedges in a view that is not installed yet", test_next_wedged },
		{ "doubts in the ranks of the next view", test_next_doubts },
		{ "the majority that joiners wait for", test_next_majority },
		{ "a joiner with the rank of another member", test_next_joiner },
		{ "a leader lets in what is wished for, and what is ready", test_ready_together },
		{ "a leader holds a change for nodes that connect", test_ready_held },
		{ "all members offer the same rules", test_rules_all },
		{ "some members offer other rules, or none", test_rules_some },
		{ "members follow the first one that wants rules", test_rules_wanted },
		{ "a member follows the rules that it has offered", test_rules_follow },
		{ "a wish for another life of the joiner stays", test_next_life },
		{ "a wish is said at once", test_wish_beats },
		{ "of two decrees a new leader adopts the later one", test_takeover_latest },
		{ "what the leader said in place of a lie stays", test_misled_once },
		{ "the trim is of the living, and of leavers", test_trim_of_living },
		{ "a leader that is not the lowest rank", test_learn_from_below },
		{ "a member that votes in the next view", test_left_out },
		{ "a leaver follows no decree that it lacks messages for", test_leaver_lacks },
		{ "members and full views let nobody in", test_no_rank },
		{ "a joiner waits for members that are held up", test_joiner_waits },
		{ "a joiner cuts off no member by its former rank", test_joiner_cuts },
		{ "words of a former view", test_former_view },
		{ "a majority of those that stay", test_leavers_of_quorum },
		{ "states and their completions", test_vouched },
		{ "a wish for another life", test_wish_life },
		{ "members that have begun", test_begun },
		{ "a stop waits for nothing", test_show_stopped },
		{ "what leavers are shown", test_leaver_row },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
