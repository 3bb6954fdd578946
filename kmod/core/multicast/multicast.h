/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Multicast: the protocol of one subgroup at one member.
 *
 * Arithmetic (design: Documentation/design/protocol.rst). Counts start at 0 and are u64.
 * Sender s of S takes rounds k = 0, 1, ...; a round is a message or a null. The
 * message of round k of sender s has sequence number k S + s, which is its place in
 * the total order. From the rounds c[s] received of each sender, with m = min c and
 * j the first sender at m, all sequence numbers below m S + j are here: that is the
 * column "received". Its minimum over the members is stable, and what is below it is
 * delivered in order. Slots are free again below the minimum of "delivered".
 *
 * Four predicates do it, each on whatever has piled up:
 *	receive	a member's block changed, or a message came by express: believe it,
 *		walk the new headers
 *	send	the process has slots ready, or silence would hold up others
 *	deliver	messages are stable, and the readers have room
 *	release	readers have consumed: let senders reuse the slots
 * and push.c turns the outcome into writes, behind all of them. Each has a file of its own. A
 * subgroup with logs has a fifth predicate, see durable.h.
 *
 * Ownership: struct spindle_mc and all it points to is the engine's. Memory comes
 * from the subgroup that embeds it; core allocates nothing.
 */
#ifndef SPINDLE_CORE_MULTICAST_H
#define SPINDLE_CORE_MULTICAST_H

#include "core/base/layout.h"
#include "core/base/predicate.h"
#include "core/base/sst.h"
#include "dlvq.h"
#include "durable.h"
#include "txq.h"

/*
 * No sender has more rounds than this, and the sequence number of such a round fits into 64 bits.
 * No member follows a peer beyond half of this, so that honest members stay believable.
 */
#define SPINDLE_MAX_ROUND	BIT_ULL(56)

/**
 * struct spindle_mc_tune - how this member works, whatever the others do
 */
struct spindle_mc_tune {
	/** @switches: enum spindle_switch, techniques in use */
	u32 switches;
	/** @send_budget: messages sent in a pass at most, so that no subgroup starves the others */
	u32 send_budget;
	/** @recv_budget: messages received in a pass at most */
	u32 recv_budget;
	/** @dlv_budget: messages delivered in a pass at most */
	u32 dlv_budget;
	/**
	 * @copy_budget: bytes copied for readers in a pass at most: heartbeats have to come in
	 * time, however long messages are and however many readers copy them
	 */
	u32 copy_budget;
	/** @silence: rounds given up in advance at most */
	u32 silence;
	/**
	 * @large: own messages of more bytes, when they are taken from the process, are held until
	 * their bytes are at all members, see enum spindle_held; U32_MAX: none is. Other members
	 * need not know this, because the bytes come to the same place either way
	 */
	u32 large;
};

/**
 * struct spindle_mc_member - a member of the subgroup, by rank
 */
struct spindle_mc_member {
	/** @block: its columns, in the copy of its row that we hold */
	const struct spindle_block *block;
	/** @seal: seal of the last block that was accepted */
	u64 seal;
	/** @sent: its rounds decided */
	u64 sent;
	/** @slots: its messages sent */
	u64 slots;
	/** @received: its contiguous prefix */
	u64 received;
	/** @delivered: its delivered prefix */
	u64 delivered;
	/** @sender: its sender rank, or SPINDLE_NO_RANK */
	u32 sender;
	/** @dirty: the latest own block was not pushed to it */
	bool dirty;
	/** @push_slot: own messages below this one are on their way to it */
	u64 push_slot;
	/** @remote_block: offset of the own block in its copy of our row */
	u64 remote_block;
	/** @remote_hdr: offset of the own header ring there */
	u64 remote_hdr;
	/** @remote_pay: offset of the own payload ring there */
	u64 remote_pay;
	/**
	 * @vouch: NULL where the device keeps writes in order, and of a member that does not send.
	 * Else the low bits of the count of its messages that a completion has vouched for
	 * (push.h), stored with release
	 */
	u32 *vouch;
	/** @vouched: last value of @vouch that was used */
	u32 vouched;
	/** @torn: reads that found its block half written */
	u64 torn;
	/** @torn_run: of these, in a row */
	u32 torn_run;
	/** @told_received: SPINDLE_COL_RECEIVED of the block that was pushed to it last */
	u64 told_received;
	/** @told_delivered: SPINDLE_COL_DELIVERED of that block */
	u64 told_delivered;
	/** @half: block that is pushed to it first if acknowledgments go one by one */
	struct spindle_block half;
	/**
	 * @express: place of its express messages, in the copy of its row that we hold; NULL of a
	 * member that does not send, and where a completion has to vouch
	 */
	const struct spindle_express *express;
	/** @express_seal: seal of its last express message that was accepted */
	u64 express_seal;
	/**
	 * @overtaken: the last columns came with an express message: the block may still be an
	 * older one
	 */
	bool overtaken;
	/** @remote_express: offset of the place for our express messages in its copy of our row */
	u64 remote_express;
	/**
	 * @by_express: sequence number behind the last message that went there by express; that
	 * message is received when @received has come so far
	 */
	u64 by_express;
};

/**
 * struct spindle_mc_sender - a sender of the subgroup, by sender rank
 */
struct spindle_mc_sender {
	/**
	 * @walk: place in its header ring; @walk.slot messages and @walk.rounds rounds are received
	 */
	struct spindle_smc_walk walk;
	/** @msgs: its messages that are received and not yet released, by slot mod window */
	struct spindle_msg *msgs;
	/** @pay: its payload ring; we write messages that came by express there */
	u8 *pay;
	/** @member: its member rank */
	u32 member;
	/** @dlv_slot: next message to deliver */
	u64 dlv_slot;
	/** @rel_slot: next message to release; rel_slot <= dlv_slot <= walk.slot */
	u64 rel_slot;
	/** @head: round of @dlv_slot's message, U64_MAX if it is not here */
	u64 head;
	/** @heard: round of its last message, plus one; 0: none, or the own */
	u64 heard;
	/** @owed: units of its ring that were released here since the members were told last */
	u32 owed;
	/** @owed_slot: messages below are counted in @owed */
	u64 owed_slot;
};

/**
 * struct spindle_mc_end - what an own message frees once all have it, and where its bytes are
 */
struct spindle_mc_end {
	/** @slot: process's slots below */
	u64 slot;
	/** @unit: units below */
	u64 unit;
	/** @clean: bytes from its first one on that may be sent: its own, and behind them zeroes */
	u64 clean;
	/**
	 * @to: ranks of the members that get its bytes by a push: all, or the destinations of a
	 * direct message; none if the bytes are at all members already, because they went by
	 * another way
	 */
	u64 to;
};

/**
 * enum spindle_held - what becomes of a large message that has been taken from the process
 *
 * The bytes of a large message do not go with its header. The embedder brings them by RDMC to where
 * a push would have brought them, in the payload ring of every member. Until they are there the
 * message has no round. So only what its own sender has committed behind it waits for the message.
 * A view can end at any time, and a member that receives the header finds the bytes in place.
 *
 *	NONE -> WAITING <-> MOVING -> PLACED -> NONE
 *
 * The end of a view sets a message that is moving or placed back to WAITING, because the next view
 * may have other members.
 */
enum spindle_held {
	/** @SPINDLE_HELD_NONE: there is none */
	SPINDLE_HELD_NONE,
	/** @SPINDLE_HELD_WAITING: its bytes have to be brought to all members */
	SPINDLE_HELD_WAITING,
	/** @SPINDLE_HELD_MOVING: its bytes are on their way */
	SPINDLE_HELD_MOVING,
	/** @SPINDLE_HELD_PLACED: its bytes are at all members */
	SPINDLE_HELD_PLACED
};

/**
 * enum spindle_epoch - what the end of a view means for a subgroup
 *
 *	OPEN -----+
 *	          +-> WEDGED -> FROZEN -> a new subgroup, OPEN in the next view
 *	STAYED ---+               |
 *	   +----------------------+  the members are the same in the next view
 */
enum spindle_epoch {
	/** @SPINDLE_EPOCH_OPEN: messages get rounds and are received */
	SPINDLE_EPOCH_OPEN,
	/**
	 * @SPINDLE_EPOCH_STAYED: the same, and members that are still in the view before get them,
	 * too
	 */
	SPINDLE_EPOCH_STAYED,
	/** @SPINDLE_EPOCH_WEDGED: the view ends: no more messages and no more nulls */
	SPINDLE_EPOCH_WEDGED,
	/** @SPINDLE_EPOCH_FROZEN: the view has ended: what comes now is not received */
	SPINDLE_EPOCH_FROZEN
};

/**
 * struct spindle_mc_stats - counters, written by the engine, read by any thread
 */
struct spindle_mc_stats {
	/** @sent: own messages */
	u64 sent;
	/** @sent_bytes: their bytes */
	u64 sent_bytes;
	/** @nulls: own rounds given up */
	u64 nulls;
	/** @received: messages received; an own one is as soon as it is sent */
	u64 received;
	/** @delivered: messages delivered */
	u64 delivered;
	/** @delivered_bytes: their bytes */
	u64 delivered_bytes;
	/** @discarded: of these, while there was no reader */
	u64 discarded;
	/** @send_batches: times that messages were sent */
	u64 send_batches;
	/** @recv_batches: times that messages of others were received */
	u64 recv_batches;
	/** @dlv_batches: times that messages were delivered */
	u64 dlv_batches;
	/** @abandoned: slots given up, and messages whose destinations have all gone */
	u64 abandoned;
	/** @direct: of @sent, messages for some of the members */
	u64 direct;
	/** @frozen: attachments frozen */
	u64 frozen;
	/** @activations: passes that found work */
	u64 activations;
	/** @visits: passes */
	u64 visits;
	/** @silent: own rounds given up in advance, not in @nulls */
	u64 silent;
	/** @stalled: readers detached because they consumed nothing */
	u64 stalled;
	/** @behind: readers detached because the history forgot what they had not consumed */
	u64 behind;
	/** @large: of @sent, messages that were held: their bytes did not go by a push */
	u64 large;
	/** @large_bytes: their bytes */
	u64 large_bytes;
	/** @large_again: times that a held one was on its way, or placed, and had to begin again */
	u64 large_again;
	/**
	 * @large_nomem: times that there was no memory to send or receive one, and it was tried
	 * again
	 */
	u64 large_nomem;
	/** @send_hist: batches by size, powers of two: of @send_batches */
	u64 send_hist[SPINDLE_HIST_BUCKETS];
	/** @recv_hist: of @recv_batches */
	u64 recv_hist[SPINDLE_HIST_BUCKETS];
	/** @dlv_hist: of @dlv_batches */
	u64 dlv_hist[SPINDLE_HIST_BUCKETS];
};

/* Bits of spindle_mc.events: what the subgroup has to tell its users. */
#define SPINDLE_MC_DELIVERED	BIT(0) /* readers have something new */
#define SPINDLE_MC_FREED	BIT(1) /* the sender has room again */
#define SPINDLE_MC_FROZEN	BIT(2) /* a txq or dlvq has an error */
#define SPINDLE_MC_FAILED	BIT(3) /* a member broke the protocol: see spindle_mc.bad */
#define SPINDLE_MC_PARTED	BIT(4) /* the sender that was parting has nothing left */
#define SPINDLE_MC_DURABLE	BIT(5) /* the durable position has moved */

/**
 * struct spindle_mc_own - the own columns, and where the own messages are in the own row
 */
struct spindle_mc_own {
	/** @word: own columns */
	u64 word[SPINDLE_BLOCK_WORDS];
	/** @block: own block, in the own row */
	struct spindle_block *block;
	/** @changed: @word differs from the own block */
	bool changed;
	/** @lazy: members may not know yet what was delivered */
	bool lazy;
	/** @overdue: a sender may be waiting to know that: a quarter of its ring is free here */
	bool overdue;
	/** @express_ready: @express is up to date */
	bool express_ready;
	/** @express: the newest own message and its guard, for members that miss only that */
	struct spindle_express express;
	/** @hdr_ring: own header ring in the own row, if a sender */
	struct spindle_hdr *hdr_ring;
	/** @hdr: offset of the own header ring in the own row */
	u64 hdr;
	/** @pay: offset of the own payload ring in the own row */
	u64 pay;
};

/**
 * struct spindle_mc_send - what this member sends
 *
 * Only a sender has any of it, but for @need.
 */
struct spindle_mc_send {
	/** @txq: the sender attachment; txq.desc is NULL if there is none */
	struct spindle_txq txq;
	/** @held: what becomes of @held_slot; only spindle_mc_hold() writes it */
	enum spindle_held held;
	/** @held_slot: a large message that has no round yet */
	struct spindle_tx_slot held_slot;
	/** @parting: the process has gone, but not all that it has committed is sent */
	bool parting;
	/** @ends: what own messages free, by slot mod window */
	struct spindle_mc_end *ends;
	/** @free_slot: own messages below are delivered by all */
	u64 free_slot;
	/** @need: rounds that others need us to have decided (null rule) */
	u64 need;
	/** @ahead: rounds to give up in advance when others need more the next time */
	u64 ahead;
	/** @late: passes that have put nulls off */
	u32 late;
};

/**
 * struct spindle_mc_deliver - what this member delivers to its readers
 */
struct spindle_mc_deliver {
	/** @stable: all sequence numbers below are received by all members */
	u64 stable;
	/** @readers: readers with a queue of their own, and the history */
	struct spindle_dlvq *readers;
	/** @history: what is kept for other readers, or NULL */
	struct spindle_history *history;
	/** @hold: wait with delivery for the first attachment */
	bool hold;
	/** @attached: there has been an attachment */
	bool attached;
	/** @blocked: a copying reader or the log is full; wait until there is room */
	bool blocked;
	/** @settle: something happened that release has to look at */
	bool settle;
	/** @log: sender of each message delivered and not yet released, a ring, and views */
	u8 *log;
	/** @log_mask: entries - 1 */
	u64 log_mask;
	/** @log_tail: messages and views delivered */
	u64 log_tail;
	/** @log_head: of these, released */
	u64 log_head;
	/** @vid_due: view that has to go to readers before its first message, or 0 */
	u64 vid_due;
	/**
	 * @vid_before: with @vid_due, the last view with the members that the messages before it
	 * were delivered to; 0 without
	 */
	u64 vid_before;
	/**
	 * @lsn: position of the next message: messages delivered before it, in all views. All
	 * members of an ordered subgroup agree on it. In an unordered one each of them counts its
	 * own deliveries
	 */
	u64 lsn;
};

/*
 * Views whose ranks a subgroup knows besides those of the present one. A committed message waits in
 * its queue for as long as the window is full, and members may come and go in that time.
 */
#define SPINDLE_FORMER_VIEWS	32
/* In spindle_mc_former.now: the member has left the subgroup. */
#define SPINDLE_NO_MEMBER	0xff

/**
 * struct spindle_mc_former - a former view of a subgroup, and what has become of its members
 */
struct spindle_mc_former {
	/** @vid: id of the view that the subgroup began, or began again, with; 0: none */
	u64 vid;
	/** @members: number of members */
	u32 members;
	/** @now: by rank: present rank, or SPINDLE_NO_MEMBER */
	u8 now[SPINDLE_MAX_MEMBERS];
};

/**
 * struct spindle_mc - a subgroup at one member
 */
struct spindle_mc {
	/** @node: node id, for traces */
	u32 node;
	/** @id: subgroup id, for traces */
	u32 id;
	/** @post: post what the members miss, now; used without SPINDLE_SW_LATE_POST */
	void (*post)(struct spindle_mc *mc);
	/** @max_msg: bytes of the largest message */
	u32 max_msg;
	/** @members: number of members */
	u32 members;
	/** @senders: number of senders, S */
	u32 senders;
	/** @me: own rank */
	u32 me;
	/** @my_sender: own sender rank, or SPINDLE_NO_RANK */
	u32 my_sender;
	/** @window: slots of each sender, w */
	u32 window;
	/** @ring_units: units of each payload ring */
	u32 ring_units;
	/** @ordered: deliver stable messages in total order, else on receipt */
	bool ordered;
	/**
	 * @formed: the protocol runs. In a static view, all members are connected. In a live one a
	 * member that is not connected is suspected, and no member waits for it
	 */
	bool formed;
	/** @lacking: too few members: no more messages and no more nulls, until there are enough */
	bool lacking;
	/** @ended: the subgroup is over, for good */
	bool ended;
	/** @epoch: what the end of a view means here; only epoch.c writes it */
	enum spindle_epoch epoch;
	/** @events: SPINDLE_MC_*, cleared by the subgroup */
	u32 events;
	/** @bad: members that broke the protocol, by rank; what they write is not believed */
	u64 bad;
	/** @backlog: the last pass ran out of budget and has left messages unreceived */
	bool backlog;
	/** @idle: in this pass, nulls need not be put off */
	bool idle;
	/** @turn: sender rank that the next pass begins to receive with */
	u32 turn;
	/** @quiet: passes in a row that found nothing to do */
	u32 quiet;
	/** @member: by rank */
	struct spindle_mc_member *member;
	/** @sender: by sender rank */
	struct spindle_mc_sender *sender;
	/** @msgs: memory of the senders' messages */
	struct spindle_msg *msgs;
	/** @own: its columns and the place of its messages */
	struct spindle_mc_own own;
	/** @send: what it sends */
	struct spindle_mc_send send;
	/** @deliver: what it delivers */
	struct spindle_mc_deliver deliver;
	/** @durable: the logs, or NULL of a subgroup without */
	struct spindle_durable *durable;
	/** @preds: the predicates */
	struct spindle_preds preds;
	/** @pred: their memory; the last one is of a subgroup with logs */
	struct spindle_pred pred[5];
	/** @tune: how this member works */
	struct spindle_mc_tune tune;
	/** @stats: counters */
	struct spindle_mc_stats stats;
	/** @vid: id of the view that it began, or began again, with */
	u64 vid;
	/** @latest: id of the present view, a later one if the subgroup has stayed as it was */
	u64 latest;
	/** @former: former views, the last one first */
	struct spindle_mc_former former[SPINDLE_FORMER_VIEWS];
};

void spindle_mc_init(struct spindle_mc *mc);
bool spindle_mc_run(struct spindle_mc *mc, bool idle);
bool spindle_mc_flush_acks(struct spindle_mc *mc);
void spindle_mc_retune(struct spindle_mc *mc, const struct spindle_mc_tune *tune);
bool spindle_mc_silence(struct spindle_mc *mc, u64 rounds);
void spindle_mc_attach_sender(struct spindle_mc *mc, const struct spindle_tx_desc *desc,
			      u64 *free_slot_word, u64 *free_unit_word);
bool spindle_mc_detach_sender(struct spindle_mc *mc);
bool spindle_mc_hold(struct spindle_mc *mc, enum spindle_held to);
void spindle_mc_end(struct spindle_mc *mc);
void spindle_mc_attach_reader(struct spindle_mc *mc, struct spindle_dlvq *dlvq);
void spindle_mc_detach_reader(struct spindle_mc *mc, struct spindle_dlvq *dlvq);
void spindle_mc_remember(struct spindle_mc *mc, struct spindle_history *history);
u64 spindle_mc_next(const struct spindle_mc *mc);
int spindle_mc_attach_cursor(struct spindle_mc *mc, struct spindle_dlvq *cursor, u64 lsn);

/* epoch.c: from one view to the next, in this order. */
void spindle_mc_wedge(struct spindle_mc *mc);
bool spindle_mc_flushed(const struct spindle_mc *mc, u32 rank);
void spindle_mc_freeze(struct spindle_mc *mc, u64 *have);
void spindle_mc_stay(struct spindle_mc *mc);
bool spindle_mc_trim(struct spindle_mc *mc, const u64 *trim);
bool spindle_mc_drain(struct spindle_mc *mc);
void spindle_mc_begin(struct spindle_mc *mc, struct spindle_mc *old, const u32 *from,
		      const u64 *first, u64 former);
void spindle_mc_announce(struct spindle_mc *mc, u64 vid);

/* direct.c: messages for some of the members. */
void spindle_mc_renumber(struct spindle_mc *mc, const struct spindle_mc *old, const u32 *was);
bool spindle_mc_direct(const struct spindle_mc *mc, u64 *mask, u16 vid);

/**
 * spindle_mc_wedged() - does the view end for the subgroup?
 * @mc: the subgroup
 *
 * Return: true if no message gets a round any more
 */
static inline bool spindle_mc_wedged(const struct spindle_mc *mc)
{
	return mc->epoch >= SPINDLE_EPOCH_WEDGED;
}

/**
 * spindle_mc_runs() - is anything received, delivered and pushed?
 * @mc: the subgroup
 *
 * Return: true if so
 */
static inline bool spindle_mc_runs(const struct spindle_mc *mc)
{
	return mc->formed && !mc->ended;
}

/**
 * spindle_mc_active() - does a message that is committed now get a round?
 * @mc: the subgroup
 *
 * Return: true if so, unless the view ends
 */
static inline bool spindle_mc_active(const struct spindle_mc *mc)
{
	return spindle_mc_runs(mc) && !mc->lacking;
}

/**
 * spindle_mc_log_entries() - messages that can be delivered and not yet released
 * @senders: S; 0 while no member is left that may send
 * @window: w
 *
 * A sender has at most w slots that some member has not delivered. So this many entries are enough
 * for the log and for the ring of a zero-copy reader.
 *
 * Return: entries, a power of two
 */
static inline u64 spindle_mc_log_entries(u32 senders, u32 window)
{
	return roundup_pow_of_two((u64)max(senders, 1U) * window);
}

#endif /* SPINDLE_CORE_MULTICAST_H */
