// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decree: what the members of a view decide about its end. See decree.h.
 */
#include "core/base/sst.h"
#include "decree.h"

/**
 * spindle_decree_trim_at() - where the trim of a subgroup begins
 * @view: the view
 * @subgroup: index
 *
 * Return: words behind SPINDLE_DECREE_HEAD
 */
u32 spindle_decree_trim_at(const struct spindle_view *view, u32 subgroup)
{
	u32 i, n = 0;

	for (i = 0; i < subgroup; i++)
		n += hweight64(view->subgroup[i].senders);
	return n;
}

/**
 * spindle_decree_trims() - words of the trim of all subgroups
 * @view: the view
 *
 * Return: number of senders of all subgroups
 */
u32 spindle_decree_trims(const struct spindle_view *view)
{
	return spindle_decree_trim_at(view, view->num_subgroups);
}

/**
 * spindle_decree_digest() - a digest that tells two decrees apart
 * @word: the decree
 * @n: its words
 *
 * Return: digest, never 0
 */
u64 spindle_decree_digest(const u64 *word, u32 n)
{
	u64 part[SPINDLE_BLOCK_WORDS] = { n };
	u32 i;

	for (i = 0; i < n; i++) {
		part[1] = i;
		part[2] = word[i];
		part[3] = spindle_seal(part);
	}
	return part[3] ?: 1;
}

/* A joiner as a member, from its words. Returns false if they are no address. */
static bool read_join(const u64 *join, struct spindle_view_member *who)
{
	u64 port = join[SPINDLE_JOIN_PORT], rest = join[SPINDLE_JOIN_IP + 1];

	memset(who, 0, sizeof(*who));
	who->id = join[SPINDLE_JOIN_ID];
	who->addr.family = port >> 16;
	who->addr.port = port;
	memcpy(who->addr.ip, join + SPINDLE_JOIN_IP, sizeof(who->addr.ip));
	if (!who->addr.port || port >> 32)
		return false;
	return who->addr.family == 6 ||
	       (who->addr.family == 4 && !rest && !memchr_inv(who->addr.ip + 4, 0, 4));
}

/**
 * spindle_decree_add() - add a joiner
 * @word: a decree
 * @who: the joiner
 * @incarnation: its life
 *
 * Return: false if there is no room, or the decree has the joiner already
 */
bool spindle_decree_add(u64 *word, const struct spindle_view_member *who, u64 incarnation)
{
	u64 n = word[SPINDLE_DECREE_NUM_JOINS], *join = spindle_decree_join(word, n);

	if (n == SPINDLE_DECREE_JOINS || spindle_decree_joiner(word, who->id) >= 0)
		return false;
	join[SPINDLE_JOIN_ID] = who->id;
	join[SPINDLE_JOIN_INCARNATION] = incarnation;
	join[SPINDLE_JOIN_PORT] = (u32)who->addr.family << 16 | who->addr.port;
	memcpy(join + SPINDLE_JOIN_IP, who->addr.ip, sizeof(who->addr.ip));
	word[SPINDLE_DECREE_NUM_JOINS]++;
	return true;
}

/**
 * spindle_decree_drop() - take back the last joiner
 * @word: a decree with joiners
 */
void spindle_decree_drop(u64 *word)
{
	u64 n = --word[SPINDLE_DECREE_NUM_JOINS];

	memset(spindle_decree_join(word, n), 0, SPINDLE_JOIN_WORDS * sizeof(u64));
}

/**
 * spindle_decree_joiner() - find a joiner
 * @word: a decree with at most SPINDLE_DECREE_JOINS joiners
 * @id: node id
 *
 * Return: which joiner it is, or -ENOENT
 */
int spindle_decree_joiner(const u64 *word, u32 id)
{
	u32 i;

	for (i = 0; i < word[SPINDLE_DECREE_NUM_JOINS]; i++)
		if (spindle_decree_join(word, i)[SPINDLE_JOIN_ID] == id)
			return i;
	return -ENOENT;
}

/* Does a member of the next view, or a joiner before this one, have the address of a joiner? */
static bool is_taken(const u64 *word, const struct spindle_view *view, u32 i,
		     const struct spindle_view_member *who)
{
	struct spindle_view_member other;
	u32 k;

	for (k = 0; k < view->num_members; k++)
		if ((word[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(k)) &&
		    !memcmp(&view->member[k].addr, &who->addr, sizeof(who->addr)))
			return true;
	for (k = 0; k < i; k++) {
		read_join(spindle_decree_join(word, k), &other);
		if (other.id == who->id || !memcmp(&other.addr, &who->addr, sizeof(who->addr)))
			return true;
	}
	return false;
}

/* Could a joiner of a decree be a member of the next view? */
static bool check_join(const u64 *word, const struct spindle_view *view, u32 i)
{
	const u64 *join = spindle_decree_join(word, i);
	struct spindle_view_member who;

	if (!join[SPINDLE_JOIN_ID] || join[SPINDLE_JOIN_ID] > U32_MAX || !read_join(join, &who) ||
	    who.addr.family != view->member[0].addr.family)
		return false;
	/* A node can come back only when its last life is not in the view any more. */
	return spindle_view_rank(view, who.id) < 0 && !is_taken(word, view, i, &who);
}

/**
 * spindle_decree_check() - could this be a decree about a view?
 * @word: the decree; a peer wrote it
 * @view: the view
 *
 * Return: true if so. The caller checks the trim, because it knows what was received
 */
bool spindle_decree_check(const u64 *word, const struct spindle_view *view)
{
	u64 all = ~0ULL >> (64 - view->num_members);
	u64 survivors = word[SPINDLE_DECREE_SURVIVORS], joins = word[SPINDLE_DECREE_NUM_JOINS];
	u32 i;

	/* A joiner has no other rules than those that its contact has told it. */
	if (word[SPINDLE_DECREE_VID] != view->vid || (word[SPINDLE_DECREE_RULES] && joins) ||
	    survivors & ~all || joins > SPINDLE_DECREE_JOINS || !(survivors || joins) ||
	    hweight64(survivors) + joins > SPINDLE_MAX_MEMBERS)
		return false;
	for (i = 0; i < joins; i++)
		if (!check_join(word, view, i))
			return false;
	return true;
}

/**
 * spindle_decree_apply() - members of the next view
 * @word: a checked decree
 * @view: the view that it ends
 * @next: out: vid and members; survivors keep their order, joiners come last. The layout adds the
 *	subgroups
 */
void spindle_decree_apply(const u64 *word, const struct spindle_view *view,
			  struct spindle_view *next)
{
	u32 i, n = 0;

	memset(next, 0, sizeof(*next));
	next->vid = view->vid + 1;
	for (i = 0; i < view->num_members; i++)
		if (word[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(i))
			next->member[n++] = view->member[i];
	for (i = 0; i < word[SPINDLE_DECREE_NUM_JOINS]; i++)
		read_join(spindle_decree_join(word, i), &next->member[n++]);
	next->num_members = n;
}

/**
 * spindle_decree_renumber() - convert a mask of ranks in the view that ends to one of the next
 * @mask: the mask
 * @survivors: of the decree
 *
 * Return: the mask, without members that do not go on
 */
u64 spindle_decree_renumber(u64 mask, u64 survivors)
{
	u64 to = 0;

	for (mask &= survivors; mask; mask &= mask - 1)
		to |= BIT_ULL(spindle_mask_rank(survivors, __ffs64(mask)));
	return to;
}

/**
 * spindle_decree_stays() - subgroups that a change of the view leaves as they are
 * @word: a checked decree
 * @view: the view that it ends
 * @next: the one that it leads to, with the same subgroups
 *
 * All members of such a subgroup go on, and no node joins it. What they have sent each other
 * arrives, so the subgroup needs no trim.
 *
 * Return: mask of indexes
 */
u64 spindle_decree_stays(const u64 *word, const struct spindle_view *view,
			 const struct spindle_view *next)
{
	u64 survivors = word[SPINDLE_DECREE_SURVIVORS], stays = 0;
	u32 i;

	for (i = 0; i < view->num_subgroups; i++) {
		const struct spindle_view_subgroup *a = &view->subgroup[i];
		const struct spindle_view_subgroup *b = &next->subgroup[i];

		if (a->members && !(a->members & ~survivors) &&
		    spindle_decree_renumber(a->members, survivors) == b->members &&
		    spindle_decree_renumber(a->senders, survivors) == b->senders)
			stays |= BIT_ULL(i);
	}
	return stays;
}

/* Messages of the senders of a subgroup that do not send in the next view, up to their trim. */
static u64 messages_of_former(const struct spindle_view_subgroup *a,
			      const struct spindle_view_subgroup *b, u64 survivors, const u64 *trim)
{
	u64 mask, n = 0;

	for (mask = a->senders; mask; mask &= mask - 1, trim++)
		if (!(spindle_decree_renumber(mask & -mask, survivors) & b->senders))
			n += *trim;
	return n;
}

/* The former messages of the next view, of a subgroup that goes on as @b, or ends with the view. */
static u64 count_on(const struct spindle_view_subgroup *a, const struct spindle_view_subgroup *b,
		    u64 survivors, const u64 *trim)
{
	if (a->members && !(a->members & survivors))
		return ALIGN(a->former + SPINDLE_LIFE_MESSAGES, SPINDLE_LIFE_MESSAGES);
	return a->former + messages_of_former(a, b, survivors, trim);
}

/*
 * The position at which a subgroup begins that was not in the view before: behind that of the same
 * id, which ends with the view; or as its rule says. A table of the same id has no position.
 */
static u64 begins_at(const u64 *word, const struct spindle_view *view,
		     const struct spindle_view *next, const struct spindle_view_subgroup *sg)
{
	const u64 *trim = word + SPINDLE_DECREE_HEAD;
	u32 i;

	for (i = 0; i < view->num_subgroups; i++) {
		const struct spindle_view_subgroup *a = &view->subgroup[i];
		const struct spindle_view_subgroup *b = &next->subgroup[i];

		if (!spindle_view_closed(a) && !spindle_view_is_table(a) &&
		    spindle_view_closed(b) && a->id == sg->id)
			return count_on(a, b, word[SPINDLE_DECREE_SURVIVORS], trim);
		trim += hweight64(a->senders);
	}
	return sg->former;
}

/**
 * spindle_decree_count() - count the messages that come before the next view
 * @word: a checked decree
 * @view: the view that it ends
 * @next: the one that it leads to, with the same subgroups; out: their former messages
 *
 * A message of an ordered subgroup has a position: the number of messages that were delivered
 * before it, in all views. A sender numbers its own messages on from view to view. So the position
 * of the next message is the sum of those numbers and of @next's former messages. Each member of
 * the view counts all subgroups, because it may hand the view to a joiner. A table has no messages.
 */
void spindle_decree_count(const u64 *word, const struct spindle_view *view,
			  struct spindle_view *next)
{
	u64 survivors = word[SPINDLE_DECREE_SURVIVORS];
	const u64 *trim = word + SPINDLE_DECREE_HEAD;
	u32 i;

	for (i = 0; i < view->num_subgroups; i++) {
		const struct spindle_view_subgroup *a = &view->subgroup[i];
		struct spindle_view_subgroup *b = &next->subgroup[i];

		if (spindle_view_closed(b) || spindle_view_is_table(b))
			b->former = 0;
		else if (spindle_view_closed(a))
			b->former = begins_at(word, view, next, b);
		else
			b->former = count_on(a, b, survivors, trim);
		trim += hweight64(a->senders);
	}
}
