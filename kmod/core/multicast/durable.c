// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durable: how long a prefix of a subgroup's messages survives a crash of all members. See
 * durable.h.
 *
 * Context: engine, all of it.
 */
#include "durable.h"
#include "history.h"
#include "stage.h"

/**
 * spindle_durable_init() - set what follows from the configuration
 * @d: zeroed
 * @cfg: of a subgroup with logs
 */
void spindle_durable_init(struct spindle_durable *d, const struct spindle_view_subgroup *cfg)
{
	d->majority = cfg->log & SPINDLE_LOGGED_MAJORITY;
	d->gate = cfg->log & SPINDLE_LOGGED_GATE;
	d->members = hweight64(cfg->members);
	d->copies = cfg->min_copies ?: min(d->members, 2U);
}

/* ---- log blocks ---------------------------------------------------------- */

static bool is_bad(const struct spindle_mc *mc, u32 rank)
{
	return mc->bad & BIT_ULL(rank);
}

/*
 * Could a correct member have written this? A logger cannot take back what it has persisted. There
 * is no limit to how far a member is ahead, because its disk is as believable as the member is.
 */
static bool plausible(const u64 old[SPINDLE_BLOCK_WORDS], const u64 word[SPINDLE_BLOCK_WORDS])
{
	u64 persisted = word[SPINDLE_LOG_COL_PERSISTED], low = word[SPINDLE_LOG_COL_LOW];

	return persisted >= old[SPINDLE_LOG_COL_PERSISTED] && persisted <= SPINDLE_MAX_LSN &&
	       low >= old[SPINDLE_LOG_COL_LOW] && low <= persisted &&
	       word[SPINDLE_LOG_COL_SNAPSHOT] <= persisted &&
	       spindle_durable_record(word) >= spindle_durable_record(old) &&
	       spindle_durable_record(word) <= SPINDLE_MAX_LIVE_VID &&
	       spindle_durable_state(word) <= SPINDLE_LOG_BEHIND;
}

/* Take columns that are plausible. Pairs with READ_ONCE() of threads that show them. */
static void take(u64 to[SPINDLE_BLOCK_WORDS], const u64 word[SPINDLE_BLOCK_WORDS])
{
	u32 i;

	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		WRITE_ONCE(to[i], word[i]);
}

static void read_member(struct spindle_mc *mc, u32 rank)
{
	struct spindle_durable_member *m = &mc->durable->member[rank];
	u64 word[SPINDLE_BLOCK_WORDS];
	bool bad = false;

	switch (spindle_block_read(m->block, &m->seal, word)) {
	case SPINDLE_READ_SAME:
		return;
	case SPINDLE_READ_TORN:
		bad = ++m->torn_run > SPINDLE_MAX_TORN;
		break;
	case SPINDLE_READ_NEW:
		m->torn_run = 0;
		bad = !plausible(m->word, word);
		if (!bad)
			take(m->word, word);
		break;
	}
	if (!bad)
		return;
	mc->bad |= BIT_ULL(rank);
	mc->events |= SPINDLE_MC_FAILED;
}

/*
 * Show the other members the own columns. The own logger takes the bit for one about the view whose
 * record it has written, so the bit waits for that record.
 */
static void publish(struct spindle_durable *d)
{
	u64 *own = d->member[d->me].word;
	u32 r;

	if (d->established && spindle_durable_record(own) >= d->vid)
		WRITE_ONCE(own[SPINDLE_LOG_COL_RECORD],
			   own[SPINDLE_LOG_COL_RECORD] | SPINDLE_LOG_ESTABLISHED);
	spindle_block_write(d->block, own);
	for (r = 0; r < d->members; r++)
		d->member[r].dirty = r != d->me;
}

static u64 with_state(const u64 word[SPINDLE_BLOCK_WORDS], enum spindle_log_state state)
{
	return (word[SPINDLE_LOG_COL_RECORD] & ~SPINDLE_LOG_STATE) | state;
}

/* Show another state, and the rest as it was. */
static void set_state(struct spindle_durable *d, enum spindle_log_state state)
{
	u64 *own = d->member[d->me].word;

	WRITE_ONCE(own[SPINDLE_LOG_COL_RECORD], with_state(own, state));
	publish(d);
}

/* ---- the logger ---------------------------------------------------------- */

static u64 own_persisted(const struct spindle_durable *d)
{
	return d->member[d->me].word[SPINDLE_LOG_COL_PERSISTED];
}

/*
 * Keep what the logger has not persisted, if all of that is still there. Otherwise the logger has
 * to get the rest from another log, and the history is of no use to it. Delivery may have waited.
 */
static void keep(struct spindle_mc *mc)
{
	struct spindle_history *h = mc->deliver.history;
	struct spindle_durable *d = mc->durable;

	d->behind = spindle_history_oldest(h, mc->deliver.lsn) > own_persisted(d);
	if (d->behind)
		spindle_history_let_go(h);
	else
		spindle_history_keep(h, own_persisted(d));
	mc->deliver.blocked = false;
	mc->deliver.settle = true;
}

/* Has the logger said anything new? */
static bool has_news(const struct spindle_durable *d)
{
	return d->words && !d->bad && READ_ONCE(d->words->change) != d->change;
}

/*
 * The words of the logger as columns. The logger may be storing the next ones. It stores @persisted
 * first, and so it is read last: others never are beyond it. Returns false if no correct logger has
 * written the words.
 */
static bool read_words(const struct spindle_mc *mc, const struct spindle_log_words *words,
		       u64 word[SPINDLE_BLOCK_WORDS])
{
	u32 state = READ_ONCE(words->state);
	u64 record = READ_ONCE(words->record);

	/* Pairs with the logger's release behind its store of @persisted. */
	word[SPINDLE_LOG_COL_LOW] = smp_load_acquire(&words->low);
	/* The same. */
	word[SPINDLE_LOG_COL_SNAPSHOT] = smp_load_acquire(&words->snapshot);
	word[SPINDLE_LOG_COL_PERSISTED] = READ_ONCE(words->persisted);
	if (record > mc->latest || state > SPINDLE_LOG_FAILED)
		return false;
	word[SPINDLE_LOG_COL_RECORD] = record << SPINDLE_LOG_RECORD_SHIFT | state;
	return word[SPINDLE_LOG_COL_PERSISTED] <= mc->deliver.lsn;
}

/* The logger says this state. Its disk fails once. */
static void count_failure(struct spindle_durable *d, u32 state)
{
	if (state == SPINDLE_LOG_FAILED &&
	    spindle_durable_state(d->member[d->me].word) != SPINDLE_LOG_FAILED)
		d->failed++;
}

/* Take what the logger says. Once given up, the history keeps messages again with progress. */
static void take_words(struct spindle_mc *mc)
{
	struct spindle_durable *d = mc->durable;
	u64 *own = d->member[d->me].word, word[SPINDLE_BLOCK_WORDS];
	bool more;

	/* Pairs with the logger's store-release: the other words are no older. */
	d->change = smp_load_acquire(&d->words->change);
	if (!read_words(mc, d->words, word) || !plausible(own, word)) {
		d->bad = true;
		mc->events |= SPINDLE_MC_FROZEN;
		return;
	}
	more = word[SPINDLE_LOG_COL_PERSISTED] != own[SPINDLE_LOG_COL_PERSISTED];
	word[SPINDLE_LOG_COL_RECORD] |= own[SPINDLE_LOG_COL_RECORD] & SPINDLE_LOG_ESTABLISHED;
	if (d->behind && !more)
		word[SPINDLE_LOG_COL_RECORD] = with_state(word, SPINDLE_LOG_BEHIND);
	/* A logger that says the same again causes no write to any member. */
	if (!memcmp(own, word, sizeof(word)))
		return;
	count_failure(d, spindle_durable_state(word));
	take(own, word);
	if (more)
		keep(mc);
	if (d->behind)
		set_state(d, SPINDLE_LOG_BEHIND);
	else
		publish(d);
}

/**
 * spindle_durable_attach() - attach the logger
 * @mc: a subgroup with logs, which has no logger at this node
 * @words: its page, zeroed
 * @lsn: the position that it begins with, in the history: all messages below are on its disk
 *
 * From now on the history keeps what the logger has not persisted.
 *
 * Return: 0; -ENODATA: an earlier logger has persisted more than this one has
 */
int spindle_durable_attach(struct spindle_mc *mc, const struct spindle_log_words *words, u64 lsn)
{
	struct spindle_durable *d = mc->durable;

	if (lsn < own_persisted(d))
		return -ENODATA;
	d->words = words;
	d->change = 0;
	d->bad = false;
	d->behind = false;
	/* An earlier logger may have begun further on, and said nothing. */
	spindle_history_let_go(mc->deliver.history);
	spindle_history_keep(mc->deliver.history, lsn);
	return 0;
}

/**
 * spindle_durable_detach() - the logger has gone
 * @mc: the subgroup
 *
 * The history goes on to keep what the logger has not persisted, for the next one. A logger whose
 * disk has failed may go before the engine has read its last words.
 */
void spindle_durable_detach(struct spindle_mc *mc)
{
	struct spindle_durable *d = mc->durable;

	if (has_news(d))
		count_failure(d, READ_ONCE(d->words->state));
	d->words = NULL;
	set_state(d, SPINDLE_LOG_NONE);
}

/**
 * spindle_durable_give_up() - let the history forget what the logger has not persisted
 * @mc: a subgroup with logs
 *
 * A change of the view waits for no disk, and a policy may not wait, either. The logger has to get
 * what is forgotten from the log of another member.
 */
void spindle_durable_give_up(struct spindle_mc *mc)
{
	struct spindle_durable *d = mc->durable;

	if (d->behind)
		return;
	d->behind = true;
	d->given_up++;
	spindle_history_let_go(mc->deliver.history);
	set_state(d, SPINDLE_LOG_BEHIND);
	mc->deliver.blocked = false;
	mc->deliver.settle = true;
}

/* ---- the durable position ------------------------------------------------- */

/* The largest position that at least @n logs have persisted; 0: there are fewer logs. */
static u64 in_logs(const struct spindle_durable *d, u32 n)
{
	u64 used = 0, position = 0;
	u32 r, best;

	if (n > d->members)
		return 0;
	while (n--) {
		best = d->members;
		for (r = 0; r < d->members; r++)
			if (!(used & BIT_ULL(r)) &&
			    (best == d->members || d->member[r].word[SPINDLE_LOG_COL_PERSISTED] >
			     d->member[best].word[SPINDLE_LOG_COL_PERSISTED]))
				best = r;
		used |= BIT_ULL(best);
		position = d->member[best].word[SPINDLE_LOG_COL_PERSISTED];
	}
	return position;
}

/* The rule of acknowledgment, and min-copies in addition to it. */
static u64 find_reach(const struct spindle_durable *d)
{
	u32 rule = d->majority ? d->members / 2 + 1 : d->members;

	return in_logs(d, max(rule, d->copies));
}

/* Members that have synced the record of the present view, by rank. */
static u64 recorded(const struct spindle_durable *d)
{
	u64 set = 0;
	u32 r;

	for (r = 0; r < d->members; r++)
		if (spindle_durable_record(d->member[r].word) >= d->vid)
			set |= BIT_ULL(r);
	return set;
}

/* Has a majority of each view in the range synced the record of the present one? */
static bool has_records(const struct spindle_durable *d)
{
	u64 set = recorded(d);
	u32 i;

	for (i = 0; i < d->views; i++)
		if (2 * hweight64(d->view[i].now & set) <= d->view[i].members)
			return false;
	return true;
}

/* A member that has joined does not know the range, and believes another member. */
static bool is_told(const struct spindle_durable *d)
{
	u32 r;

	for (r = 0; r < d->members; r++)
		if (d->member[r].word[SPINDLE_LOG_COL_RECORD] & SPINDLE_LOG_ESTABLISHED)
			return true;
	return false;
}

/* Only the present view is left in the range: a restart cannot begin before it. */
static void establish(struct spindle_durable *d)
{
	WRITE_ONCE(d->established, true);
	d->known = true;
	d->view[0] = d->view[d->views - 1];
	d->views = 1;
	publish(d);
}

static u64 next_durable(const struct spindle_mc *mc)
{
	const struct spindle_durable *d = mc->durable;

	return d->established ? max(d->durable, min(d->reach, mc->deliver.lsn)) : d->durable;
}

static void move_durable(struct spindle_mc *mc)
{
	struct spindle_durable *d = mc->durable;
	u64 durable = next_durable(mc);

	if (durable == d->durable)
		return;
	WRITE_ONCE(d->durable, durable);	/* pairs with READ_ONCE() of statistics */
	mc->events |= SPINDLE_MC_DURABLE;
	trace_spindle_durable(mc->node, mc->id, durable);
	if (!d->gate)
		return;
	spindle_history_open(mc->deliver.history, durable);
	mc->events |= SPINDLE_MC_DELIVERED;
}

/**
 * spindle_durable_test() - has a logger said anything, or has the durable position to move?
 * @ctx: the subgroup, with logs
 *
 * Return: true if so
 */
bool spindle_durable_test(void *ctx)
{
	const struct spindle_mc *mc = ctx;
	const struct spindle_durable *d = mc->durable;
	u32 r;

	if (has_news(d))
		return true;
	for (r = 0; r < d->members; r++)
		if (r != d->me && !is_bad(mc, r) &&
		    READ_ONCE(d->member[r].block->seal) != d->member[r].seal)
			return true;
	return next_durable(mc) != d->durable;
}

/**
 * spindle_durable_trigger() - take what the loggers say, and move the durable position
 * @ctx: the subgroup, with logs
 */
void spindle_durable_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	struct spindle_durable *d = mc->durable;
	u32 r;

	if (has_news(d))
		take_words(mc);
	for (r = 0; r < d->members; r++)
		if (r != d->me && !is_bad(mc, r))
			read_member(mc, r);
	d->reach = find_reach(d);
	if (!d->established && ((d->known && d->reach >= d->base && has_records(d)) || is_told(d)))
		establish(d);
	move_durable(mc);
}

/**
 * spindle_durable_waits_for() - which members does the durable position wait for?
 * @mc: a subgroup with logs
 * @establish: out: it waits because the view is not established
 *
 * Context: engine; or any, for an answer of a moment ago.
 * Return: ranks in the subgroup of the members whose logs do not have all that is delivered, or not
 *	the record of the view
 */
u64 spindle_durable_waits_for(const struct spindle_mc *mc, bool *establish)
{
	const struct spindle_durable *d = mc->durable;
	u64 set = 0, lsn = READ_ONCE(mc->deliver.lsn);
	u32 r;

	*establish = !READ_ONCE(d->established);
	if (READ_ONCE(d->durable) >= lsn && !*establish)
		return 0;
	if (*establish)
		set = ~recorded(d) & (U64_MAX >> (64 - d->members));
	for (r = 0; r < d->members; r++)
		if (READ_ONCE(d->member[r].word[SPINDLE_LOG_COL_PERSISTED]) < lsn)
			set |= BIT_ULL(r);
	return set;
}

/* ---- views ---------------------------------------------------------------- */

/* Is a view of the range one of the present members? */
static bool has_present_members(const struct spindle_durable *d, u32 i)
{
	u32 k, r;

	if (d->view[i].members != d->members)
		return false;
	for (r = 0; r < d->members; r++) {
		for (k = 0; k < d->members && d->view[i].node[k] != d->member[r].node; k++)
			;
		if (k == d->members)
			return false;
	}
	return true;
}

/* Views with the same members ask for the same records, so the range has one of them. */
static void drop_equal(struct spindle_durable *d)
{
	u32 i;

	for (i = 0; i < d->views; i++) {
		if (!has_present_members(d, i))
			continue;
		d->views--;
		memmove(&d->view[i], &d->view[i + 1], (d->views - i) * sizeof(*d->view));
		return;
	}
}

/* The present view, behind those that are in the range already. */
static void add_view(struct spindle_durable *d)
{
	struct spindle_durable_view *view;
	u32 r;

	drop_equal(d);
	if (d->views == SPINDLE_DURABLE_VIEWS) {
		/* The range has a gap now, so no view follows from it. */
		d->known = false;
		d->views--;
	}
	view = &d->view[d->views++];
	view->members = d->members;
	for (r = 0; r < d->members; r++)
		view->node[r] = d->member[r].node;
}

/* Find the members of the range that are members now. */
static void find_present(struct spindle_durable *d)
{
	u32 i, k, r;

	for (i = 0; i < d->views; i++) {
		d->view[i].now = 0;
		for (r = 0; r < d->members; r++)
			for (k = 0; k < d->view[i].members; k++)
				if (d->view[i].node[k] == d->member[r].node)
					d->view[i].now |= BIT_ULL(r);
	}
}

static void take_over(struct spindle_durable *d, const struct spindle_durable *old)
{
	u64 *own = d->member[d->me].word;

	memcpy(own, old->member[old->me].word, SPINDLE_BLOCK_WORDS * sizeof(*own));
	/* The bit is about the view that has ended. */
	own[SPINDLE_LOG_COL_RECORD] &= ~SPINDLE_LOG_ESTABLISHED;
	d->words = old->words;
	d->change = old->change;
	d->bad = old->bad;
	d->behind = old->behind;
	d->known = old->known;
	d->views = old->views;
	memcpy(d->view, old->view, old->views * sizeof(*d->view));
	d->durable = old->durable;
	d->given_up = old->given_up;
	d->failed = old->failed;
}

/**
 * spindle_durable_follow() - the first view of a subgroup follows views of earlier eras
 * @mc: a subgroup with logs that begins with its first view, by spindle_durable_begin() after this
 * @ranges: the ranges of all subgroups, made by spindle_ranges_add(); or NULL
 */
void spindle_durable_follow(struct spindle_mc *mc, const struct spindle_ranges *ranges)
{
	struct spindle_durable *d = mc->durable;
	u32 i;

	for (i = 0; ranges && i < ranges->views; i++) {
		const struct spindle_range_view *view = &ranges->view[i];

		if (view->subgroup != mc->id)
			continue;
		d->view[d->views].members = view->members;
		memcpy(d->view[d->views++].node, view->node, sizeof(view->node));
	}
}

/**
 * spindle_durable_begin() - the logs begin in a new view
 * @mc: the subgroup, begun
 * @old: the logs in the view before; NULL if this node was not in the subgroup
 * @fresh: without @old: the subgroup begins with this view, so that nothing but the range of
 *	spindle_durable_follow() can come before it
 */
void spindle_durable_begin(struct spindle_mc *mc, struct spindle_durable *old, bool fresh)
{
	struct spindle_durable *d = mc->durable;

	if (old)
		take_over(d, old);
	else
		d->known = fresh;
	d->first = fresh && !d->views && !mc->deliver.lsn;
	d->vid = mc->vid;
	d->base = mc->deliver.lsn;
	add_view(d);
	find_present(d);
	publish(d);
}

/* ---- push ------------------------------------------------------------------ */

/**
 * spindle_durable_push() - the write that brings a member's copy of the own log block up to date
 * @d: the logs
 * @rank: the member
 * @write: out
 *
 * The block needs no order to other writes, because it has a seal, and says nothing about them.
 *
 * Return: number of writes, 0 or 1
 */
u32 spindle_durable_push(struct spindle_durable *d, u32 rank, struct spindle_write *write)
{
	struct spindle_durable_member *m = &d->member[rank];

	if (!m->dirty)
		return 0;
	m->dirty = false;
	*write = (struct spindle_write){
		.data = d->block,
		.remote = m->remote,
		.len = SPINDLE_BLOCK_PUSH,
	};
	return 1;
}
