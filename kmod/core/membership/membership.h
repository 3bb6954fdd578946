/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Membership: how one view follows another, at one node. Documentation/design/membership.rst has
 * the protocol, its cases and why it is right.
 *
 * All of it is predicates over columns that the members push to each other: no messages,
 * no timers but one, and nothing that waits. The embedder calls spindle_mb_run() in each
 * pass of the engine and pushes what spindle_mb_push() says.
 *
 * Context: engine. Nothing sleeps or allocates; memory is the embedder's.
 */
#ifndef SPINDLE_CORE_MEMBERSHIP_H
#define SPINDLE_CORE_MEMBERSHIP_H

#include "core/base/push.h"
#include "core/base/sst.h"
#include "decree.h"

/**
 * enum spindle_mb_state - where a node is between two views; grows, until the next view
 */
enum spindle_mb_state {
	/** @SPINDLE_MB_ACTIVE: messages are sent */
	SPINDLE_MB_ACTIVE,
	/** @SPINDLE_MB_WEDGED: no new messages; what was sent is flushed, a fence behind it */
	SPINDLE_MB_WEDGED,
	/** @SPINDLE_MB_FENCED: all live members' fences are here; what was received is final */
	SPINDLE_MB_FENCED,
	/** @SPINDLE_MB_ECHOED: has accepted a decree, and shows it in the own row */
	SPINDLE_MB_ECHOED,
	/** @SPINDLE_MB_COMMITTED: the decree is known to be chosen; its trim is delivered */
	SPINDLE_MB_COMMITTED,
	/** @SPINDLE_MB_STOPPED: not a member any more; the reason says why */
	SPINDLE_MB_STOPPED,
	/**
	 * @SPINDLE_MB_JOINING: not a member yet; waits for a view with this node. Not visible to
	 * others
	 */
	SPINDLE_MB_JOINING,
	/** @SPINDLE_MB_STATES: how many there are */
	SPINDLE_MB_STATES,
};

/**
 * enum spindle_mb_reason - why a member is suspected, or why this one has stopped
 */
enum spindle_mb_reason {
	/** @SPINDLE_MB_FINE: neither */
	SPINDLE_MB_FINE,
	/** @SPINDLE_MB_SILENT: its heartbeat has stood still for the timeout */
	SPINDLE_MB_SILENT,
	/** @SPINDLE_MB_LOST: its connection broke */
	SPINDLE_MB_LOST,
	/** @SPINDLE_MB_GONE: it has stopped, and says so */
	SPINDLE_MB_GONE,
	/** @SPINDLE_MB_ADMIN: the administrator said so */
	SPINDLE_MB_ADMIN,
	/** @SPINDLE_MB_GOSSIP: another member suspects it */
	SPINDLE_MB_GOSSIP,
	/** @SPINDLE_MB_LIED: it wrote what no correct member writes */
	SPINDLE_MB_LIED,
	/** @SPINDLE_MB_MINORITY: too few members of the view are left to go on */
	SPINDLE_MB_MINORITY,
	/** @SPINDLE_MB_EVICTED: the others have gone on without this node, or are about to */
	SPINDLE_MB_EVICTED,
	/** @SPINDLE_MB_LEFT: this node has left, as it wanted to */
	SPINDLE_MB_LEFT,
	/** @SPINDLE_MB_LAYOUT: the rules give no view of the members that are left */
	SPINDLE_MB_LAYOUT,
};

/* Columns of the beat block. */
enum spindle_mb_beat_column {
	SPINDLE_MB_COL_BEAT,	/* grows while the engine runs */
	SPINDLE_MB_COL_WISH,	/* id of a node that wants to join, or 0 */
	SPINDLE_MB_COL_WISH_INC, /* its incarnation */
	SPINDLE_MB_COL_RULES,	/* offer: other rules that it has and would follow, or 0 */
};

/* An offer is a digest without this bit. The member with the bit wants the rules, others follow. */
#define SPINDLE_MB_WANTS	BIT_ULL(0)

/* Columns of the state block: one seal, so that they are seen together or not at all. */
enum spindle_mb_state_column {
	SPINDLE_MB_COL_VID,	/* installed view */
	SPINDLE_MB_COL_SUSPECTED, /* ranks in that view; bits are only added */
	SPINDLE_MB_COL_PHASE,	/* state, ballot, flags; see below */
	SPINDLE_MB_COL_DIGEST,	/* of the decree accepted, else of the one that made the view */
};

/* SPINDLE_MB_COL_PHASE: enum spindle_mb_state, rank of the accepted decree's leader + 1. */
#define SPINDLE_MB_PHASE_STATE	0xffULL
#define SPINDLE_MB_PHASE_BALLOT	8
#define SPINDLE_MB_PHASE_LEAVE	BIT_ULL(16)
/* Number of state blocks pushed to the reader on this connection, in SPINDLE_IMM_SLOTS bits. */
#define SPINDLE_MB_PHASE_COUNT	32

/**
 * struct spindle_mb_row - the membership's part of a row, the same in all views
 */
struct spindle_mb_row {
	/** @beat: columns that change for ever */
	struct spindle_block beat;
	/** @state: columns that change when something happens */
	struct spindle_block state;
	/** @word: what was received, spindle_mb.trims words; then the decree */
	u64 word[];
};

/**
 * struct spindle_mb_peer - a member, by rank
 */
struct spindle_mb_peer {
	/** @row: our copy of its row */
	const struct spindle_mb_row *row;
	/**
	 * @vouch: count of its last state block that a completion vouches for, with all that was
	 * written before it; NULL if memory shows writes in their order
	 */
	const u32 *vouch;
	/** @beat_seal: of its last beat block */
	u64 beat_seal;
	/** @state_seal: of its last state block that was accepted */
	u64 state_seal;
	/**
	 * @heard: its silence counts from here: when its heartbeat last moved, or when its silence
	 * was last forgiven
	 */
	u64 heard;
	/** @proof: its heartbeat has moved since this time */
	u64 proof;
	/** @doubted_at: the last pass before it was suspected, or doubted */
	u64 doubted_at;
	/** @wish: node that wants to join through it, or 0 */
	u64 wish;
	/** @wish_inc: its incarnation */
	u64 wish_inc;
	/** @offer: other rules that it offers; of any view */
	u64 offer;
	/** @vid: its view */
	u64 vid;
	/** @suspected: members that it suspects */
	u64 suspected;
	/** @phase: enum spindle_mb_state */
	u32 phase;
	/** @ballot: rank + 1 of the leader whose decree it has accepted, or 0 */
	u32 ballot;
	/** @leaving: it wants to leave */
	bool leaving;
	/**
	 * @digest: of the decree that it has accepted; without one, of the decree that made its
	 * view
	 */
	u64 digest;
	/** @reason: why it is suspected, enum spindle_mb_reason */
	u32 reason;
	/** @fenced: our fence was pushed to it: it gets nothing more of this view */
	bool fenced;
	/** @told_beat: heartbeat that was pushed to it */
	u64 told_beat;
	/** @told_have: what we have received was pushed to it */
	bool told_have;
	/** @told_decree: digest of the decree that was pushed to it */
	u64 told_decree;
	/** @told: columns that were pushed to it */
	u64 told[SPINDLE_BLOCK_WORDS];
	/** @said: number of state blocks that were pushed to it */
	u32 said;
	/** @beat_out: beat block under way */
	struct spindle_block beat_out;
	/** @out: state block under way */
	struct spindle_block out;
};

/**
 * struct spindle_mb_ops - what membership asks of its embedder
 */
struct spindle_mb_ops {
	/** @wedge: give no more messages a round */
	void (*wedge)(void *ctx);
	/** @flushed: has all that has a round been posted to this rank? */
	bool (*flushed)(void *ctx, u32 rank);
	/** @freeze: receive what is here and nothing after it; say how much, per sender */
	void (*freeze)(void *ctx, u64 *have);
	/**
	 * @trim: deliver this much of each sender; false if the trim cannot be true. If this node
	 * goes on to the next view, which is known, subgroups that stay as they are need no trim,
	 * see spindle_decree_stays()
	 */
	bool (*trim)(void *ctx, const u64 *trim);
	/**
	 * @drain: has the trim been delivered, and may the next view, or a joiner's first, be
	 * installed?
	 */
	bool (*drain)(void *ctx);
	/**
	 * @layout: the subgroups of the next view, a function of both views, the rules and of
	 * nothing else. @rules: digest of the rules that this node has offered; 0: the present ones
	 * stay. Returns NULL, or what is wrong
	 */
	const char *(*layout)(void *ctx, u64 rules, const struct spindle_view *view,
			      struct spindle_view *next);
	/**
	 * @guest: is this life of a node connected to this node, so that it may be let in? Out: its
	 * address
	 */
	bool (*guest)(void *ctx, u32 id, u64 incarnation, struct spindle_addr *addr);
	/**
	 * @ready: the first node whose seat is *@seat, or behind it, that is connected to this node
	 * and says that it is connected to all members. Out: its seat. False: there is none
	 */
	bool (*ready)(void *ctx, u32 *seat, u32 *id, u64 *incarnation);
	/**
	 * @join: set row and vouch of a node that joins; false if this life of it is not connected.
	 * Nodes that join in one change connect only after it, and get true for each other
	 */
	bool (*join)(void *ctx, u32 id, u64 incarnation, struct spindle_mb_peer *peer);
	/**
	 * @install: begin a new view; ranks in the old one, or SPINDLE_NO_RANK, and the trim of the
	 * old one
	 */
	void (*install)(void *ctx, const struct spindle_view *next, const u32 *from,
			const u64 *trim);
	/** @cut: tear down the connection to this rank; its row stays as it is */
	void (*cut)(void *ctx, u32 rank);
	/** @stopped: this node has stopped, and nothing more will happen */
	void (*stopped)(void *ctx);
};

/**
 * struct spindle_mb - membership of a node
 */
struct spindle_mb {
	/** @ops: the embedder's */
	const struct spindle_mb_ops *ops;
	/** @ctx: their argument */
	void *ctx;
	/** @timeout: silence that makes a member suspected, in units of the clock */
	u64 timeout;
	/** @interval: between heartbeats */
	u64 interval;
	/** @trims: room for a trim, words */
	u32 trims;
	/** @joins: nodes that one change takes in at most, up to SPINDLE_DECREE_JOINS */
	u32 joins;
	/** @any: any part of a view may go on, majority or not */
	bool any;
	/** @row: own row */
	struct spindle_mb_row *row;
	/** @seen: memory for a decree that is being read, spindle_mb_decree_words() */
	u64 *seen;
	/** @view: installed; two buffers, the other one is for the next view */
	struct spindle_view view[2];
	/** @now: which of them */
	u32 now;
	/** @me: own rank */
	u32 me;
	/** @state: enum spindle_mb_state; only changed by transition() */
	u32 state;
	/** @reason: with STOPPED */
	u32 reason;
	/** @suspected: ranks; bits are only added */
	u64 suspected;
	/** @doubted: ranks that are silent or lost; either they are at fault or this node is */
	u64 doubted;
	/** @closed: ranks that have closed their connection to this node */
	u64 closed;
	/** @uncut: suspects whose connections are to be torn down */
	u64 uncut;
	/** @later: ranks that are suspected when the next view, which is decided, is installed */
	u64 later;
	/** @came: ranks of the members that joined with this view */
	u64 came;
	/**
	 * @most: this many members are a majority of the view before; a joiner goes on when they do
	 */
	u32 most;
	/** @ballot: rank + 1 of the leader of the accepted decree, or 0 */
	u32 ballot;
	/**
	 * @learned: bit of the member that the decree was learned from in place of the leader; 0:
	 * none
	 */
	u64 learned;
	/** @leave: this node is to leave, as soon as no change is under way */
	bool leave;
	/** @leaving: this node shows that it leaves */
	bool leaving;
	/** @found: of a joiner: a view with this node was found */
	bool found;
	/** @digest: as in the column */
	u64 digest;
	/** @wish: node that wants to join through this one, or 0; of a joiner, its own id */
	u64 wish;
	/** @wish_inc: its incarnation */
	u64 wish_inc;
	/** @rules: other rules that this node would follow, without SPINDLE_MB_WANTS; or 0 */
	u64 rules;
	/** @wants: this node wants them, because its administrator does */
	bool wants;
	/** @offered: a member has offered rules since this view began */
	bool offered;
	/** @hold: more nodes are about to be ready, so as the leader let none in yet */
	bool hold;
	/** @beat: own heartbeat */
	u64 beat;
	/** @beat_at: when @beat last moved */
	u64 beat_at;
	/** @ran_at: last pass */
	u64 ran_at;
	/** @edges: times that each transition was taken */
	u64 edges[SPINDLE_MB_STATES][SPINDLE_MB_STATES];
	/** @peer: by rank */
	struct spindle_mb_peer peer[SPINDLE_MAX_MEMBERS];
};

int spindle_mb_init(struct spindle_mb *mb, const struct spindle_view *view, u32 me, u64 now);
int spindle_mb_join(struct spindle_mb *mb, const struct spindle_view *view, u32 id,
		    u64 incarnation, u64 now);
void spindle_mb_invite(struct spindle_mb *mb, u32 id, u64 incarnation);
bool spindle_mb_offer(struct spindle_mb *mb, u64 offer);
u64 spindle_mb_wanted(const struct spindle_mb *mb, u32 *rank);
bool spindle_mb_may(enum spindle_mb_state old, enum spindle_mb_state to);
bool spindle_mb_run(struct spindle_mb *mb, u64 now);
u32 spindle_mb_push(struct spindle_mb *mb, u32 rank, struct spindle_write *write);
u64 spindle_mb_offered(const struct spindle_mb *mb, u32 rank);
bool spindle_mb_open(const struct spindle_mb *mb, u32 rank);
bool spindle_mb_has_begun(const struct spindle_mb *mb, u32 rank, u64 vid, bool stayed);
bool spindle_mb_has_wedged(const struct spindle_mb *mb, u32 rank);
void spindle_mb_suspect(struct spindle_mb *mb, u32 rank, enum spindle_mb_reason reason);
void spindle_mb_closed(struct spindle_mb *mb, u32 rank);
void spindle_mb_leave(struct spindle_mb *mb);
void spindle_mb_stop(struct spindle_mb *mb, enum spindle_mb_reason reason);

/* Where the heartbeat is, in the membership's part of a row. */
#define SPINDLE_MB_BEAT		offsetof(struct spindle_mb_row, beat)
/* Writes that one push makes at most. */
#define SPINDLE_MB_PUSH_MAX	4

/**
 * spindle_mb_view() - the installed view
 * @mb: membership
 *
 * Return: the view
 */
static inline const struct spindle_view *spindle_mb_view(const struct spindle_mb *mb)
{
	return &mb->view[mb->now];
}

/**
 * spindle_mb_own_decree() - the decree that this member shows
 * @mb: membership; it has accepted one, or learned
 *
 * Return: its words
 */
static inline u64 *spindle_mb_own_decree(const struct spindle_mb *mb)
{
	return mb->row->word + mb->trims;
}

/**
 * spindle_mb_decree_words() - words of a decree in memory and in rows
 * @trims: senders of all subgroups at most, in any view
 *
 * The words behind the last sender of a view are zero, so the length is the same in all views. A
 * decree that is read from a member's row always fits the memory that it goes to.
 *
 * Return: words
 */
static inline u32 spindle_mb_decree_words(u32 trims)
{
	return SPINDLE_DECREE_HEAD + trims;
}

/**
 * spindle_mb_row_bytes() - bytes of the membership's part of a row
 * @trims: senders of all subgroups at most, in any view
 *
 * Return: bytes
 */
static inline u64 spindle_mb_row_bytes(u32 trims)
{
	return sizeof(struct spindle_mb_row) +
	       ((u64)trims + spindle_mb_decree_words(trims)) * sizeof(u64);
}

#endif /* SPINDLE_CORE_MEMBERSHIP_H */
