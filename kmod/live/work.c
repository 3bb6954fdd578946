// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live: work that may sleep: seats, memory of the next view, farewells. See live.h.
 *
 * Context: the chore, with the namespace's lock. The engine runs functions that take a letter.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "base/engine.h"
#include "bulk/large.h"
#include "fabric/post.h"
#include "join.h"
#include "live.h"
#include "node/attachment.h"
#include "node/history.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/subgroup.h"
#include "offer.h"
#include "past.h"

/* Time between two checks whether the members know that this node has stopped. */
#define AGAIN_MS	2
/* Number of such checks: after these the node stops waiting for members that do not answer. */
#define FAREWELLS	100
/* A guest that is not connected after this time loses its seat. */
#define GUEST_NS	(10ULL * NSEC_PER_SEC)
/*
 * A guest that is connected, but not admitted after this time, loses its seat, too. The time is
 * long, because a slow reader may hold up the member that admits the guest. A guest that gives up
 * closes the connection itself.
 */
#define GUEST_UP_NS	(2ULL * SPINDLE_JOIN_CONNECT_MS * NSEC_PER_MSEC)
/* Time for a guest to connect, before another incarnation of its node may take its seat. */
#define YIELD_NS	(2ULL * NSEC_PER_SEC)
/* A departed member keeps its connection for this time, to read that it has departed. */
#define PART_NS		(2ULL * NSEC_PER_SEC)

struct letter {
	struct spindle_live *live;
	struct spindle_next *next;
	struct spindle_peer *peer;
	u32 seat;
	u64 vid;
	bool ok;
};

static void call(struct spindle_live *live, void (*fn)(void *ctx), struct letter *letter)
{
	letter->live = live;
	spindle_engine_call(live->inst->node->engine, fn, letter);
}

/* ---- seats ------------------------------------------------------------- */

static int free_seat(struct spindle_live *live)
{
	u32 i;

	for (i = 0; i < SPINDLE_SEATS; i++) {
		live->last_seat = (live->last_seat + 1) % SPINDLE_SEATS;
		if (!live->inst->seat[live->last_seat])
			return live->last_seat;
	}
	return -1;
}

static void give_seat_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_live *live = letter->live;

	spindle_installed_seat(live->inst, letter->seat, letter->peer);
	live->guests++;
}

/* Create a guest with its row. The engine does not see it before put_guest(). */
static struct spindle_peer *make_guest(struct spindle_live *live,
				       const struct spindle_view_member *who, u64 incarnation,
				       u64 digest)
{
	int seat = free_seat(live);
	struct spindle_peer *peer;

	peer = seat < 0 ? NULL : spindle_peer_create(live->inst, seat, who, digest);
	if (peer)
		peer->expected = incarnation;
	return peer;
}

static void put_guest(struct spindle_live *live, struct spindle_peer *peer)
{
	struct letter letter = { .peer = peer, .seat = peer->seat };

	mutex_lock(&live->inst->seats_lock);
	call(live, give_seat_fn, &letter);
	mutex_unlock(&live->inst->seats_lock);
}

static bool read_by_all(const struct spindle_installed *inst, const struct spindle_peer *peer)
{
	u32 g;

	for (g = 0; g < SPINDLE_MAX_SUBGROUPS; g++)
		if (inst->subgroup[g] && inst->subgroup[g]->mc.deliver.log_head < peer->marks[g])
			return false;
	return true;
}

/* Is the seat of a node that is no member free again? */
static bool has_gone(struct spindle_live *live, struct spindle_peer *peer)
{
	u64 limit = peer->phase == SPINDLE_PEER_JOINED ? GUEST_UP_NS : GUEST_NS;
	const struct spindle_mb *mb = &live->mb;
	u64 age = ktime_get_ns() - peer->since;

	/* A departed peer may have reconnected since it departed. */
	if (spindle_peer_departed(peer) && age > PART_NS)
		spindle_conn_fail(&peer->conn, "the peer is no longer a member");
	switch (peer->phase) {
	case SPINDLE_PEER_PARTING:
		return false;
	case SPINDLE_PEER_DEPARTED:
		return read_by_all(live->inst, peer);
	case SPINDLE_PEER_LOST:
		return true;
	default:
		if (mb->wish != peer->id || mb->wish_inc != peer->expected)
			return age > limit;
		/* Keep the guest that membership wants to admit while a view change is running. */
		return mb->state == SPINDLE_MB_ACTIVE && age > 2 * GUEST_UP_NS;
	}
}

static void reap_seat_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_live *live = letter->live;
	struct spindle_peer *peer = live->inst->seat[letter->seat];

	if (!peer || peer->rank != SPINDLE_NO_RANK || live->mb.state == SPINDLE_MB_JOINING)
		return;
	letter->ok |= has_gone(live, peer);
	if (!letter->ok)
		return;
	letter->peer = peer;
	spindle_installed_seat(live->inst, letter->seat, NULL);
	live->guests--;
}

/*
 * Take a seat back, if its node has gone or @force is set. seats_lock covers both the seat and the
 * mappings, so a process cannot map the row after this has ended its mappings.
 */
static void reap_seat(struct spindle_live *live, u32 seat, bool force)
{
	struct letter letter = { .seat = seat, .ok = force };

	mutex_lock(&live->inst->seats_lock);
	call(live, reap_seat_fn, &letter);
	if (letter.peer)
		spindle_attachment_forget(live->inst, &letter.peer->row.mem);
	mutex_unlock(&live->inst->seats_lock);
	spindle_peer_destroy(letter.peer);
}

static void reap(struct spindle_live *live)
{
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(live->inst, &i)); i++)
		if (peer->rank == SPINDLE_NO_RANK)
			reap_seat(live, i, false);
}

/*
 * Every knock makes this node allocate a row. So guests and members together may be at most one
 * more than the view allows, and strangers cannot use more memory than members could.
 */
static bool has_place(const struct spindle_live *live)
{
	const struct spindle_installed *inst = live->inst;
	u32 i, n = inst->view.num_members;
	const struct spindle_peer *peer;

	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		n += spindle_peer_is_guest(peer);
	return n <= live->rules.max_nodes;
}

/*
 * Does a guest keep its seat, although another incarnation of its node wants one? A knock may be a
 * replay of a recorded one. A guest whose connection is up has proved that it has the key, so it
 * keeps the seat. If its node has gone, has_gone() frees the seat later.
 */
static bool keeps_seat(const struct spindle_peer *peer)
{
	enum spindle_conn_state state = READ_ONCE(peer->conn.state);

	return state == SPINDLE_CONN_UP ||
	       (state < SPINDLE_CONN_UP && ktime_get_ns() - peer->since < YIELD_NS);
}

/*
 * Give a node a seat. Another incarnation of the node that is not connected loses its seat. If
 * there is no place, the node has to knock again.
 */
static void admit(struct spindle_live *live, const struct spindle_knock *knock)
{
	struct spindle_view_member who = { .id = knock->id, .addr = knock->addr };
	struct spindle_installed *inst = live->inst;
	struct mem_cgroup *before;
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++) {
		if (peer->id != knock->id || !spindle_peer_is_guest(peer))
			continue;
		if (keeps_seat(peer))
			return;
		reap_seat(live, i, true);
	}
	if (!has_place(live))
		return;
	before = spindle_payer_enter(&inst->node->payer);
	peer = make_guest(live, &who, knock->incarnation, knock->digest);
	spindle_payer_leave(before);
	if (!peer)
		return;
	put_guest(live, peer);
	spindle_peer_start(peer);
}

static void admit_all(struct spindle_live *live)
{
	struct spindle_knock knock;

	while (spindle_door_take(&live->door, &live->inst->node->ep, &knock))
		if (live->mb.state < SPINDLE_MB_STOPPED)
			admit(live, &knock);
}

/* ---- the next view ------------------------------------------------------ */

/*
 * The incarnation of a member of the next view that this node is not connected to, because both
 * join by the same decree. U64_MAX: this node should be connected to it.
 */
static u64 joins_with_us(const struct spindle_mb *mb, u32 id)
{
	const u64 *word = spindle_mb_own_decree(mb);
	int i = spindle_decree_joiner(word, id);

	if (mb->state != SPINDLE_MB_JOINING || i < 0)
		return U64_MAX;
	return spindle_decree_join(word, i)[SPINDLE_JOIN_INCARNATION];
}

/* Copy the next view that membership has decided, if there is one. */
static void see_next_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_live *live = letter->live;
	const struct spindle_mb *mb = &live->mb;
	const struct spindle_view *view = spindle_mb_view(mb), *to = &mb->view[!mb->now];
	struct spindle_next *next = letter->next;
	struct spindle_peer *peer;
	u32 r, i;
	int rank;

	letter->ok = (mb->state == SPINDLE_MB_COMMITTED || mb->state == SPINDLE_MB_JOINING) &&
		     to->vid == view->vid + 1;
	if (!letter->ok)
		return;
	next->view = *to;
	next->stays = live->inst->mg.stays;
	next->me = spindle_view_rank(to, live->inst->node->id);
	for (r = 0; r < to->num_members; r++) {
		u32 id = to->member[r].id;

		next->expected[r] = joins_with_us(mb, id);
		if (r == next->me)
			continue;
		rank = spindle_view_rank(view, id);
		if (rank >= 0) {
			next->peer[r] = live->inst->peer[rank];
			continue;
		}
		for (i = 0; (peer = spindle_installed_next(live->inst, &i)); i++)
			if (peer->id == id && spindle_peer_is_guest(peer))
				next->peer[r] = peer;
	}
}

static int build_next(struct spindle_live *live, struct spindle_next *next)
{
	u32 i;

	for (i = 0; i < next->view.num_members; i++) {
		if (i == next->me || next->peer[i])
			continue;
		/*
		 * The member is not connected here. It needs a row until this node suspects it, or
		 * until both are connected, if they join together. Both name the view before in
		 * their hellos.
		 */
		next->peer[i] = make_guest(live, &next->view.member[i], next->expected[i],
					   live->inst->digest);
		if (!next->peer[i])
			return -ENOMEM;
		put_guest(live, next->peer[i]);
	}
	for (i = 0; i < next->view.num_subgroups; i++) {
		if (!(next->view.subgroup[i].members & BIT_ULL(next->me)) ||
		    (next->stays & BIT_ULL(i)))
			continue;
		next->subgroup[i] = spindle_subgroup_create(live->inst, &next->view, next->me,
							    next->peer, i);
		if (!next->subgroup[i])
			return -ENOMEM;
		if (next->subgroup[i]->large &&
		    spindle_large_open(next->subgroup[i]->large, &next->view, next->peer))
			return -ENOMEM;
	}
	return 0;
}

static void install_next_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_live *live = letter->live;
	struct spindle_mb *mb = &live->mb;
	struct spindle_next *next = letter->next;

	/*
	 * Only install the view that see_next_fn() copied. Since then membership may have
	 * stopped, and a joining node may have seen another view.
	 */
	if (memcmp(&next->view, &mb->view[!mb->now], sizeof(next->view)))
		return;
	live->next = next;
	spindle_mb_run(mb, ktime_get_ns());
	live->next = NULL;
}

static void give_up_next_fn(void *ctx)
{
	struct letter *letter = ctx;

	spindle_mb_stop(&letter->live->mb, SPINDLE_MB_LAYOUT);
}

/* Connect to the members that have joined together with this node. */
static void meet(const struct spindle_next *next)
{
	u32 r;

	for (r = 0; r < next->view.num_members; r++)
		if (next->expected[r] != U64_MAX && r != next->me)
			spindle_peer_start(next->peer[r]);
}

/* Move attachments to the subgroups of the installed view, or cut them off. */
static void move_attachments(struct spindle_live *live, struct spindle_next *next)
{
	struct spindle_attachment *att, *safe;
	u32 i;

	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++) {
		struct spindle_subgroup *sg = live->inst->subgroup[i];
		struct spindle_subgroup *old = next->subgroup[i];

		if (sg && old)
			list_for_each_entry(att, &sg->attachments, link)
				spindle_attachment_move(att, sg);
		if (!old)
			continue;
		list_for_each_entry_safe(att, safe, &old->attachments, link)
			spindle_attachment_cut(att);
	}
}

static void open_door(struct spindle_live *live)
{
	struct spindle_installed *inst = live->inst;
	struct spindle_node *node = inst->node;
	u32 bytes = spindle_card_bytes(&inst->view, &live->rules);
	struct spindle_card *card = kvzalloc(bytes, GFP_KERNEL_ACCOUNT);

	/* Without a card no node can join by this member, but other members still have one. */
	if (card)
		spindle_card_make(card, &inst->view, &live->rules, &live->lineage, node->id);
	kvfree(spindle_door_change(&live->door, &node->ep, &inst->view, card, bytes));
	spin_lock(&node->ep.lock);
	node->door = &live->door;
	spin_unlock(&node->ep.lock);
}

/**
 * spindle_live_settle() - open the door, and remember the first view for its readers
 * @live: live view with its first view, not started yet
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -ENOMEM
 */
int spindle_live_settle(struct spindle_live *live)
{
	const struct spindle_view *view = &live->inst->view;
	struct spindle_past *past = spindle_past_alloc(view->num_members, view->num_subgroups);

	lockdep_assert_held(&live->inst->node->sn->lock);
	if (!past)
		return -ENOMEM;
	spindle_past_keep(&live->past, past, live->inst);
	open_door(live);
	return 0;
}

/*
 * Histories forget the views whose members are not remembered any more. Before a view is forgotten
 * for the first time, they may have messages of views from before this node was a member
 * (node/history.h).
 */
static void age_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_installed_subgroup(letter->live->inst, &i)); i++) {
		if (!sg->kept)
			continue;
		spindle_history_age(&sg->kept->history, letter->vid);
		/* The next pass freezes the readers that were dropped. */
		sg->mc.deliver.settle = true;
		spindle_subgroup_touch(sg);
	}
}

static void prepare(struct spindle_live *live)
{
	struct mem_cgroup *before = spindle_payer_enter(&live->inst->node->payer);
	struct spindle_next *next = kvzalloc(sizeof(*next), GFP_KERNEL_ACCOUNT);
	struct letter letter = { .next = next };
	struct spindle_past *past = NULL;
	u32 i;

	if (next) {
		call(live, see_next_fn, &letter);
		if (!letter.ok)
			goto out;
		past = spindle_past_alloc(next->view.num_members, next->view.num_subgroups);
	}
	if (!past || build_next(live, next)) {
		call(live, give_up_next_fn, &letter);
		goto out;
	}
	call(live, install_next_fn, &letter);
	if (!next->taken)
		goto out;
	meet(next);
	move_attachments(live, next);
	spindle_installed_settle(live->inst);
	letter.vid = spindle_past_keep(&live->past, past, live->inst);
	past = NULL;
	call(live, age_fn, &letter);
	live->inst->node->sn->generation++;
	open_door(live);
out:
	/* Free subgroups that were not installed, or those of the former view. */
	for (i = 0; next && i < SPINDLE_MAX_SUBGROUPS; i++)
		spindle_subgroup_free(next->subgroup[i]);
	spindle_past_free(past);
	kvfree(next);
	spindle_payer_leave(before);
}

/* ---- farewell ----------------------------------------------------------- */

/* Do all connected members know that this node has stopped? */
static bool said(const struct spindle_live *live)
{
	const struct spindle_installed *inst = live->inst;
	u32 r;

	for (r = 0; inst->mg.formed && r < inst->view.num_members; r++) {
		const struct spindle_peer *peer = inst->peer[r];
		u64 told = live->mb.peer[r].told[SPINDLE_MB_COL_PHASE] & SPINDLE_MB_PHASE_STATE;

		if (peer && spindle_peer_joined(peer) &&
		    (told != SPINDLE_MB_STOPPED || !spindle_post_idle(&peer->conn)))
			return false;
	}
	return true;
}

static void look_if_said_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_peer *peer;
	u32 i;

	letter->ok = said(letter->live);
	for (i = 0; (peer = spindle_installed_next(letter->live->inst, &i)); i++)
		if (spindle_peer_joined(peer))
			spindle_post_poll(&peer->conn);
}

static void part_from_all_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(letter->live->inst, &i)); i++)
		if (spindle_peer_joined(peer))
			spindle_conn_fail(&peer->conn, "this node has stopped");
}

static void close_door(struct spindle_live *live)
{
	kvfree(spindle_door_change(&live->door, &live->inst->node->ep, NULL, NULL, 0));
}

/* Disconnect when the members know that this node has stopped. Returns false to try again. */
static bool farewell(struct spindle_live *live)
{
	struct letter letter = {};

	close_door(live);
	call(live, look_if_said_fn, &letter);
	if (!letter.ok && ++live->tries < FAREWELLS)
		return false;
	call(live, part_from_all_fn, &letter);
	return true;
}

static void stop_live_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_live *live = letter->live;

	live->mb.leaving = true;
	spindle_mb_stop(&live->mb, SPINDLE_MB_LEFT);
}

/**
 * spindle_live_bow_out() - stop the node's membership, and tell the other members
 * @live: the live view; the engine runs it
 *
 * Context: process, the namespace's lock; takes a fifth of a second at most.
 */
void spindle_live_bow_out(struct spindle_live *live)
{
	struct letter letter = {};

	lockdep_assert_held(&live->inst->node->sn->lock);
	call(live, stop_live_fn, &letter);
	while (!farewell(live))
		msleep(AGAIN_MS);
}

/* ---- the chore ---------------------------------------------------------- */

/**
 * spindle_live_work() - do the chores that are set
 * @chore: the chore of the live view
 */
void spindle_live_work(struct spindle_chore *chore)
{
	struct spindle_live *live = container_of(chore, struct spindle_live, chore);

	lockdep_assert_held(&chore->sn->lock);
	/* A view that the engine does not run has no chores. */
	if (live->inst->node->running != live->inst)
		return;
	if (test_and_clear_bit(SPINDLE_CHORE_KNOCK, &live->chores))
		admit_all(live);
	if (test_and_clear_bit(SPINDLE_CHORE_PREPARE, &live->chores))
		prepare(live);
	if (test_and_clear_bit(SPINDLE_CHORE_OFFER, &live->chores))
		spindle_offer_work(live);
	if (test_and_clear_bit(SPINDLE_CHORE_REAP, &live->chores))
		reap(live);
	if (!test_bit(SPINDLE_CHORE_STOP, &live->chores))
		return;
	if (farewell(live))
		clear_bit(SPINDLE_CHORE_STOP, &live->chores);
	else
		spindle_chore_queue(chore, AGAIN_MS);
}
