/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMC: one group of members that multicast large objects, as one of them sees it.
 *
 * This code decides which message goes to which member, and when which block goes where; not how
 * bytes travel. The embedder (the module, a test) has a lane to each other member: reliable, in
 * order, for short messages and for blocks that are written straight into the other's memory. A
 * lane may break at any time, and then stays broken.
 *
 *	OPENING -> OPEN -> CLOSING -> CLOSED		all members have all objects, or
 *	    |        |         |			know that some member has not
 *	    +--------+---------+--> FAILING -> FAILED	a member is missing
 *
 * Opening. Every member that creates the group has a new life, a random number, by which the others
 * address it: a message to an older life of the same group is dropped. HELLO {id, digest, own life,
 * the other's life or 0} goes to each member when its lane is up. A member that gets a HELLO with 0
 * answers. The group is OPEN when all lives are known. A member that says HELLO with another life
 * than before has left, and come back as a new one.
 *
 * Objects go from the root (rank 0), in order. ANNOUNCE {object, length, tag} goes to all when the
 * root's process has queued an object. A receiver that has got memory from its process grants its
 * sources block after block, in the order of the schedule: GRANT {object, length, block, where}
 * gives the right to write that block, once. So nothing is sent to a member that is not ready. A
 * member can write only the blocks that the schedule has it send. It can do so only until they are
 * there, because the right is taken back at once. Each member sends in the order of the schedule
 * the blocks that it has, and has a grant for. At most SPINDLE_RDMC_GRANTS grants are open per
 * source, at most SPINDLE_RDMC_SENDS own writes under way. When all sends of an object are written
 * the next object's begin, while blocks of the first one may still be coming.
 *
 * An object that is complete or given up has ended at a member when none of the member's grants for
 * it is open, and none of its writes is under way. Then the memory is the process's again. Complete
 * means that the member's own sends are posted, too. PROGRESS {objects ended, complete, blocks of
 * the present one} goes to the root when an object has ended, or a sixteenth of it has come. It
 * also goes when anything has come and the member was silent for long. The root announces at most
 * SPINDLE_RDMC_QUEUE objects more than the slowest member has ended. While anything goes on
 * anywhere the root says PROGRESS, too, now and then, to members that have not ended all objects:
 * in some schedules a member gets its first block when others have all of theirs.
 *
 * Giving up an object. A member that wants that grants and writes no more of it, and tells the
 * root: STOP {object, error, reason}. The root, unless all have ended the object, tells all
 * members: ABORT {object, error, reason, culprit}. The object does not end at the member that
 * wanted this before ABORT has come. A member that gets an ABORT writes no more of the object, and
 * says so to members that have granted it something: RETURN {object}, behind its last write on the
 * same lane. A member that gets a RETURN takes back what it has granted there.
 *
 * Failure. A member that misses another one (lane broken, not in the view), or that leaves, tells
 * all others: FAIL {culprit, error}. A member that learns this for the first time passes it on
 * likewise. A member whose life is not known yet may know ours: a HELLO tells it the same, and
 * counts if that member does know our life. No write comes behind a FAIL, so that a FAIL returns
 * all grants. A member whose lane is quiet (the device has finished with it) has returned all, too.
 *
 * Silence. The root measures what goes on. After the timeout it gives an object up, and a member
 * that has not ended the object after two more is missing. A receiver that has begun an object
 * waits three times the timeout. If in that time nothing has moved and the root has said nothing
 * new, it misses the root: whichever member holds the object up, the root would have said so. A
 * lane that is up does not prove that the member behind it is alive. Time does not count while an
 * object, or one before it, waits for the member's own process to give memory or to read. Time in
 * which the member itself ran no pass does not count either.
 *
 * Closing. When its process has closed and all objects have ended at the root, the root says CLOSE
 * {objects, complete}. Another member says so when its process has closed as well and it has ended
 * as many objects. The group is CLOSED when all have said so and all messages have arrived (the
 * lane is flushed). A member may go when it has said CLOSE to us and we have said CLOSE to it.
 * While objects still move elsewhere, the root says CLOSE again now and then, so that waiting
 * members see that it is alive.
 *
 * All messages are level-triggered: a pass says what is due, as far as there is room.
 *
 * Streams. Inside of a view, membership knows which members are there, and a group needs no random
 * life: see @stream of the configuration, and stream.h. All members compute the stream's life, so
 * that the stream is OPEN at once. Objects flow as above, and none is given up: a stream ends as a
 * whole, when the view does. A stream has the words ANNOUNCE, GRANT, PROGRESS and END, and no
 * timeouts.
 *
 *	OPEN -> FAILING -> FAILED
 *
 * A member that ends the stream says END to each member that has begun it. No write comes behind an
 * END. A member that gets an END takes back what it has granted there, and says END as well. So
 * each member gets its grants back, whether or not the others know already that the view ends. A
 * member that breaks the rules, or whose lane is lost, is cut. For a stream this breaks the view's
 * connection, too, and then membership removes the member.
 *
 * Nothing that a peer says is believed: ranges are checked, and a member that breaks the rules is
 * cut off (ops->cut) with SPINDLE_RDMC_PROTOCOL. An early GRANT, RETURN or FAIL is legal, because
 * lanes are not ordered among each other. A root may tell its receivers different things, and a
 * member may give each of the others another rack. Two members whose ideas of the group differ for
 * that reason do not know which member has lied. They end the group, and keep their lane, because
 * other groups use the lane, too: see spindle_rdmc_differ() and spindle_rdmc_astray().
 *
 * Context: engine, all of it. Nothing here sleeps or allocates; time comes with the pass.
 */
#ifndef SPINDLE_CORE_RDMC_H
#define SPINDLE_CORE_RDMC_H

#include <linux/spindle_rdmc.h>

#include "core/base/port.h"
#include "schedule.h"

/* Grants that a source may hold of one member of one group. */
#define SPINDLE_RDMC_GRANTS	4U
/* How often a lane is replaced, so that a member cannot keep this node busy by breaking lanes. */
#define SPINDLE_RDMC_LANES	8U
/* Own writes under way in one group. */
#define SPINDLE_RDMC_SENDS	4U
/*
 * Objects that a member remembers: those that members may be at, and those that the root has
 * queued.
 */
#define SPINDLE_RDMC_OBJECTS	(2 * SPINDLE_RDMC_QUEUE)

/**
 * enum spindle_rdmc_state - state of a group at a member
 */
enum spindle_rdmc_state {
	/** @SPINDLE_RDMC_S_OPENING: not all members are known */
	SPINDLE_RDMC_S_OPENING,
	/** @SPINDLE_RDMC_S_OPEN: objects flow */
	SPINDLE_RDMC_S_OPEN,
	/** @SPINDLE_RDMC_S_CLOSING: this member has nothing more to do, and says or has said so */
	SPINDLE_RDMC_S_CLOSING,
	/** @SPINDLE_RDMC_S_CLOSED: all members have said so */
	SPINDLE_RDMC_S_CLOSED,
	/** @SPINDLE_RDMC_S_FAILING: a member is missing; memory may still be in use */
	SPINDLE_RDMC_S_FAILING,
	/** @SPINDLE_RDMC_S_FAILED: a member is missing; memory is not in use any more */
	SPINDLE_RDMC_S_FAILED
};

/* What a message is, in struct spindle_rdmc_msg. */
enum spindle_rdmc_word {
	/*
	 * to: id; w: digest, own life, your life or 0; arg: rack, and of a member that goes
	 * error << 16 | culprit << 24
	 */
	SPINDLE_RDMC_HELLO = 1,
	SPINDLE_RDMC_ANNOUNCE,	/* w: object, length, tag */
	/* w: object, address, key | number << 32, the object's length; arg: block */
	SPINDLE_RDMC_GRANT,
	/* w: ended, complete, blocks of object number "ended"; 0 blocks of the root: it has all */
	SPINDLE_RDMC_PROGRESS,
	SPINDLE_RDMC_STOP,	/* w: object, error, reason */
	SPINDLE_RDMC_ABORT,	/* w: object, error, reason; arg: rank that wanted it */
	SPINDLE_RDMC_RETURN,	/* w: object */
	SPINDLE_RDMC_FAIL,	/* w: error; arg: rank that is missing */
	SPINDLE_RDMC_CLOSE,	/* w: objects ended, complete */
	SPINDLE_RDMC_END	/* of a stream; w: nothing */
};

/**
 * struct spindle_rdmc_msg - a message from one member to another
 */
struct spindle_rdmc_msg {
	/** @to: life of the receiver, or, of HELLO, id of the group */
	u64 to;
	/** @word: enum spindle_rdmc_word */
	u32 word;
	/** @arg: depends on @word, see there */
	u32 arg;
	/** @w: depends on @word, see there */
	u64 w[4];
};

static_assert(sizeof(struct spindle_rdmc_msg) == 48, "messages are protocol");

/**
 * struct spindle_rdmc_grant - the right to write a block into another member's memory
 */
struct spindle_rdmc_grant {
	/** @object: object */
	u64 object;
	/** @len: bytes of the object, as the other member knows them */
	u64 len;
	/** @addr: address of the block, for the other member's device */
	u64 addr;
	/** @block: block */
	u32 block;
	/** @key: key for @addr */
	u32 key;
	/** @number: immediate data that has to go with the last byte */
	u32 number;
};

struct spindle_rdmc;

/**
 * struct spindle_rdmc_ops - what the group needs of its embedder
 */
struct spindle_rdmc_ops {
	/** @room: can the lane to @m take one message, or grant, or block now? */
	bool (*room)(struct spindle_rdmc *r, u32 m);
	/** @say: send a message; there was room */
	void (*say)(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg);
	/**
	 * @grant: let @m write block @block of @object, registered as grant number @g (below
	 * SPINDLE_RDMC_GRANTS) of ours to @m: fill in w[1] and w[2] of @msg and send it. There was
	 * room. The block's bytes are spindle_rdmc_block_len() from @block * g->block in the
	 * object's memory
	 */
	void (*grant)(struct spindle_rdmc *r, u32 m, u32 g, void *mem, u32 block, u32 len,
		      struct spindle_rdmc_msg *msg);
	/**
	 * @revoke: take grant @g of @m back; ends with spindle_rdmc_revoked(), not before it has
	 * returned. There was room. Not called once the lane is lost
	 */
	void (*revoke)(struct spindle_rdmc *r, u32 m, u32 g);
	/**
	 * @write: write a block, of which we have all bytes, where @grant says; ends with
	 * spindle_rdmc_written(), not before it has returned, whether or not the lane breaks. There
	 * was room
	 */
	void (*write)(struct spindle_rdmc *r, u32 m, u64 object, void *mem, u32 block, u32 len,
		      const struct spindle_rdmc_grant *grant);
	/** @flushed: has all that was said to @m arrived there, or can it never arrive? */
	bool (*flushed)(struct spindle_rdmc *r, u32 m);
	/**
	 * @cut: @m broke the protocol, or keeps us waiting: break the lane. Called once for each
	 * member; ends with spindle_rdmc_lost(). Of a stream: called also if the lane is lost; the
	 * view has to go on without @m
	 */
	void (*cut)(struct spindle_rdmc *r, u32 m);
	/**
	 * @listens: is there room for events? No object ends while there is none, unless the group
	 * fails: then there is one more event for each object that has not ended, and the last one
	 */
	bool (*listens)(struct spindle_rdmc *r);
	/**
	 * @event: something for the process; all but @ev->at_ns and node are filled in, and
	 * @ev->node is a rank + 1, or SPINDLE_RDMC_NOBODY. Not called of a stream, like @flushed
	 * and @listens
	 */
	void (*event)(struct spindle_rdmc *r, const struct spindle_rdmc_event *ev);
	/**
	 * @release: release an object's memory, which is not used any more. Called before the
	 * object's event DONE, for each object that had got memory. False: not all of it is
	 * released yet, and this is called again in the next pass
	 */
	bool (*release)(struct spindle_rdmc *r, void *mem);
};

/**
 * enum spindle_rdmc_phase - what becomes of an object at a member
 */
enum spindle_rdmc_phase {
	/** @SPINDLE_RDMC_P_NONE: not announced; early grants may be here */
	SPINDLE_RDMC_P_NONE,
	/** @SPINDLE_RDMC_P_WAITING: announced; the process has not given memory yet */
	SPINDLE_RDMC_P_WAITING,
	/** @SPINDLE_RDMC_P_MOVING: the process has given memory */
	SPINDLE_RDMC_P_MOVING,
	/** @SPINDLE_RDMC_P_STOPPING: given up; memory may still be in use */
	SPINDLE_RDMC_P_STOPPING,
	/** @SPINDLE_RDMC_P_COMPLETE: ended well */
	SPINDLE_RDMC_P_COMPLETE,
	/** @SPINDLE_RDMC_P_ABORTED: ended because it was given up */
	SPINDLE_RDMC_P_ABORTED
};

/**
 * struct spindle_rdmc_object - an object at a member
 */
struct spindle_rdmc_object {
	/** @phase: see there */
	enum spindle_rdmc_phase phase;
	/** @blocks: blocks */
	u32 blocks;
	/** @len: bytes */
	u64 len;
	/** @tag: the root's */
	u64 tag;
	/** @got: blocks that are there */
	u32 got;
	/** @writing: own writes under way */
	u32 writing;
	/** @mem: the embedder's name for its memory; NULL: none */
	void *mem;
	/**
	 * @have: blocks that are there, a bit each; NULL at the root: all. Lives as long as @mem
	 */
	unsigned long *have;
	/** @granted: grants of ours that are open or being taken back */
	u32 granted;
	/** @sends_done: all own sends are posted */
	bool sends_done;
	/**
	 * @decided: the root has given it up, and @error, @reason and @culprit are what the root
	 * has said
	 */
	bool decided;
	/** @stop_due: STOP has to be said to the root */
	bool stop_due;
	/** @error: enum spindle_rdmc_error, of one that was given up */
	u32 error;
	/** @reason: number from the process that wanted that */
	u32 reason;
	/** @culprit: rank + 1 of the member that wanted that, or 0 */
	u32 culprit;
	/** @returned: ranks that write no more of it */
	u64 returned;
	/** @to_return: ranks that RETURN has to be said to */
	u64 to_return;
	/** @abort_due: root: ranks that ABORT has to be said to */
	u64 abort_due;
	/** @first_ns: first block here, or first write of the root */
	u64 first_ns;
	/** @busy_ns: time since then with a write under way */
	u64 busy_ns;
	/** @busy_since: begin of the present such time, or 0 */
	u64 busy_since;
	/** @moved_ns: when something last went on with it; of one that was given up: since when */
	u64 moved_ns;
};

/**
 * struct spindle_rdmc_cursor - a position in the own sends, or in the own grants
 */
struct spindle_rdmc_cursor {
	/** @object: object */
	u64 object;
	/** @begun: @schedule and @walk are those of @object */
	bool begun;
	/** @known: @hop is the next hop */
	bool known;
	/** @hop: next hop, if @known */
	struct spindle_hop hop;
	/** @walk: position in the schedule */
	struct spindle_walk walk;
	/** @schedule: of the object */
	struct spindle_schedule schedule;
};

/**
 * struct spindle_rdmc_slot - a grant of ours to a source
 */
struct spindle_rdmc_slot {
	/** @state: free, open, used or returned, or being taken back */
	enum { SPINDLE_RDMC_FREE, SPINDLE_RDMC_GRANTED, SPINDLE_RDMC_USED,
	       SPINDLE_RDMC_REVOKING } state;
	/** @block: block */
	u32 block;
	/** @object: object */
	u64 object;
};

/**
 * struct spindle_rdmc_member - another member, as this one knows it
 */
struct spindle_rdmc_member {
	/** @life: its life; 0: not known yet */
	u64 life;
	/** @up: the lane is up */
	bool up;
	/** @lost: the lane is broken; no message comes any more */
	bool lost;
	/** @quiet: the lane is lost, and the device has finished with it */
	bool quiet;
	/** @cut: we have asked to break the lane; nothing that comes counts any more */
	bool cut;
	/** @hello_due: HELLO has to be said to it */
	bool hello_due;
	/** @failed: it has said FAIL, or END: it writes no more */
	bool failed;
	/** @fail_due: FAIL has to be said to it */
	bool fail_due;
	/** @closed: it has said CLOSE */
	bool closed;
	/** @close_due: CLOSE has to be said to it */
	bool close_due;
	/** @close_said: CLOSE was said to it at least once */
	bool close_said;
	/** @spoke: of a stream: it has said something, so that it has begun */
	bool spoke;
	/** @end_due: of a stream: END has to be said to it */
	bool end_due;
	/** @end_said: of a stream: END was said to it */
	bool end_said;
	/** @return_due: RETURN of some object has to be said to it */
	bool return_due;
	/** @abort_due: ABORT of some object has to be said to it */
	bool abort_due;
	/** @alive_due: root: PROGRESS has to be said to it, because something goes on */
	bool alive_due;
	/** @told: root: objects that were announced to it */
	u64 told;
	/** @ended: objects that have ended there */
	u64 ended;
	/** @complete: of these, well */
	u64 complete;
	/** @blocks: blocks that it has of the next one */
	u32 blocks;
	/** @grant_head: next to use */
	u32 grant_head;
	/** @grant_tail: next to come */
	u32 grant_tail;
	/** @replaced: how often the lane was replaced */
	u32 replaced;
	/** @slot: our grants to it */
	struct spindle_rdmc_slot slot[SPINDLE_RDMC_GRANTS];
	/** @grant: its grants to us, a ring */
	struct spindle_rdmc_grant grant[SPINDLE_RDMC_GRANTS];
};

/**
 * struct spindle_rdmc_stats - counters
 */
struct spindle_rdmc_stats {
	/** @blocks_in: blocks that have come */
	u64 blocks_in;
	/** @blocks_out: blocks that were written */
	u64 blocks_out;
	/** @bytes_in: the same in bytes */
	u64 bytes_in;
	/** @bytes_out: the same in bytes */
	u64 bytes_out;
	/** @grants: grants given */
	u64 grants;
	/** @said: messages sent */
	u64 said;
	/** @heard: messages received */
	u64 heard;
	/** @complete: objects that ended well */
	u64 complete;
	/** @aborted: objects that did not */
	u64 aborted;
};

/**
 * struct spindle_rdmc_config - what a group is
 */
struct spindle_rdmc_config {
	/** @stream: its members are those of a view, which begin it and end it together */
	bool stream;
	/**
	 * @endless: its lanes are replaced any number of times, because the members of a static
	 * view may restart before that view has formed
	 */
	bool endless;
	/** @id: its id, the same at all members */
	u64 id;
	/** @life: a random number, not 0; of a stream: the same at all members */
	u64 life;
	/** @n: members */
	u32 n;
	/** @me: own rank; 0: the root */
	u32 me;
	/** @algorithm: enum spindle_rdmc_algorithm */
	u32 algorithm;
	/** @block: bytes of a block, a power of two */
	u32 block;
	/** @timeout_ns: for how long nothing may go on */
	u64 timeout_ns;
	/** @rack: own rack */
	u16 rack;
	/** @member: node ids, by rank; only their digest is used */
	u32 member[SPINDLE_MAX_MEMBERS];
};

/**
 * struct spindle_rdmc - a group
 */
struct spindle_rdmc {
	/** @ops: of the embedder */
	const struct spindle_rdmc_ops *ops;
	/** @ctx: the embedder's */
	void *ctx;
	/** @cfg: constant */
	struct spindle_rdmc_config cfg;
	/** @block_shift: log2 of the block's bytes */
	u32 block_shift;
	/** @digest: of what all members have to agree on */
	u64 digest;
	/** @others: ranks of the others */
	u64 others;
	/** @state: see there */
	enum spindle_rdmc_state state;
	/** @error: why it is failing, enum spindle_rdmc_error */
	u32 error;
	/** @culprit: rank + 1 of the member that is missing, or 0 */
	u32 culprit;
	/** @now: time of the present pass */
	u64 now;
	/** @since: when something last went on that is not about an object */
	u64 since;
	/** @quiet_ns: receiver: since when it has waited for others, and nothing has gone on */
	u64 quiet_ns;
	/** @deadline: when a pass is needed, even if nothing happens */
	u64 deadline;
	/** @stir: something went on since the last pass */
	bool stir;
	/** @count_front: root: @front may not be right any more */
	bool count_front;
	/** @timed: objects with which something went on, a bit for each in @object */
	u32 timed;
	/** @closing: the process has closed */
	bool closing;
	/** @told_closing: the event CLOSING was given to the process */
	bool told_closing;
	/** @total: objects that the root sends in all; U64_MAX: not known yet */
	u64 total;
	/** @announced: objects that the root has queued, or that are known here */
	u64 announced;
	/** @shown: objects that the process knows of */
	u64 shown;
	/** @ended: objects that have ended here, all below */
	u64 ended;
	/** @complete: of these, well */
	u64 complete;
	/** @front: root: objects that have ended everywhere */
	u64 front;
	/** @front_ns: root: since when @front is what it is */
	u64 front_ns;
	/** @reminded: root: when waiting members were last told that something goes on */
	u64 reminded;
	/** @told_ended: @ended as last said to the root */
	u64 told_ended;
	/** @told_blocks: blocks as last said to the root */
	u32 told_blocks;
	/** @told_ns: when that was said */
	u64 told_ns;
	/** @known: ranks whose life is known */
	u64 known;
	/** @closed: ranks that have said CLOSE */
	u64 closed;
	/** @due: ranks that there may be something to say to */
	u64 due;
	/** @to_revoke: ranks to which a grant has to be taken back */
	u64 to_revoke;
	/** @writing: own writes under way */
	u32 writing;
	/** @granted: grants of ours that are open or being taken back */
	u32 granted;
	/** @stopping: objects in phase STOPPING */
	u32 stopping;
	/** @send: position in the own sends */
	struct spindle_rdmc_cursor send;
	/** @recv: position in the own grants */
	struct spindle_rdmc_cursor recv;
	/** @object: by number modulo SPINDLE_RDMC_OBJECTS, the last ones that are known */
	struct spindle_rdmc_object object[SPINDLE_RDMC_OBJECTS];
	/** @racks: by rank */
	u16 racks[SPINDLE_MAX_MEMBERS];
	/** @m: other members, by rank */
	struct spindle_rdmc_member m[SPINDLE_MAX_MEMBERS];
	/** @stats: counters */
	struct spindle_rdmc_stats stats;
};

/* rdmc.c: life, and what the process asks for */
void spindle_rdmc_init(struct spindle_rdmc *r, const struct spindle_rdmc_config *cfg,
		       const struct spindle_rdmc_ops *ops);
int spindle_rdmc_send(struct spindle_rdmc *r, u64 len, u64 tag, void *mem, u64 *object);
int spindle_rdmc_accept(struct spindle_rdmc *r, u64 object, u64 len, void *mem,
			unsigned long *have);
int spindle_rdmc_cancel(struct spindle_rdmc *r, u64 object, bool refuse, u32 reason);
int spindle_rdmc_close(struct spindle_rdmc *r);
void spindle_rdmc_fail(struct spindle_rdmc *r, u32 culprit, u32 error);
bool spindle_rdmc_spoiled(const struct spindle_rdmc *r);
bool spindle_rdmc_everywhere(const struct spindle_rdmc *r, u64 object);
void spindle_rdmc_stat(const struct spindle_rdmc *r, struct spindle_rdmc_stat *stat);

/* move.c: a pass, and what lanes report */
bool spindle_rdmc_pass(struct spindle_rdmc *r, u64 now);
void spindle_rdmc_arrived(struct spindle_rdmc *r, u32 m, u32 g);
void spindle_rdmc_written(struct spindle_rdmc *r, u64 object);
void spindle_rdmc_revoked(struct spindle_rdmc *r, u32 m, u32 g);
void spindle_rdmc_up(struct spindle_rdmc *r, u32 m);
bool spindle_rdmc_down(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_replaced(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_lost(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_quiet(struct spindle_rdmc *r, u32 m);

/* talk.c: messages from the other members, and to them */
void spindle_rdmc_hear(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg);
bool spindle_rdmc_talk(struct spindle_rdmc *r);

/* wait.c: which members are waited for */
bool spindle_rdmc_over(const struct spindle_rdmc *r);
bool spindle_rdmc_may_write(const struct spindle_rdmc *r, u32 m);
u64 spindle_rdmc_due(const struct spindle_rdmc *r);

/* Between these files. */
bool spindle_rdmc_enter(struct spindle_rdmc *r, enum spindle_rdmc_state to);
bool spindle_rdmc_step(struct spindle_rdmc *r, u64 object, enum spindle_rdmc_phase to);
void spindle_rdmc_new_object(struct spindle_rdmc *r, u64 len, u64 tag);
void spindle_rdmc_give_up(struct spindle_rdmc *r, u64 object, u32 error, u32 reason,
			  u32 culprit);
void spindle_rdmc_abort(struct spindle_rdmc *r, u64 object, u32 error, u32 reason,
			u32 culprit);
bool spindle_rdmc_fall(struct spindle_rdmc *r, u32 culprit, u32 error);
void spindle_rdmc_end_with(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_remind(struct spindle_rdmc *r);
void spindle_rdmc_cut(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_breach(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_differ(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_astray(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_returned(struct spindle_rdmc *r, u32 m, u64 object);
bool spindle_rdmc_may_say(struct spindle_rdmc *r, u32 m);
u32 spindle_rdmc_missing(const struct spindle_rdmc *r);
void spindle_rdmc_judge(struct spindle_rdmc *r);

/**
 * spindle_rdmc_is_root() - are the objects ours?
 * @r: group
 *
 * Return: true if so
 */
static inline bool spindle_rdmc_is_root(const struct spindle_rdmc *r)
{
	return !r->cfg.me;
}

/**
 * spindle_rdmc_object() - an object by its number
 * @r: group
 * @object: number, of the last SPINDLE_RDMC_OBJECTS that are known
 *
 * Return: the object
 */
static inline struct spindle_rdmc_object *spindle_rdmc_object(struct spindle_rdmc *r, u64 object)
{
	return &r->object[object & (SPINDLE_RDMC_OBJECTS - 1)];
}

/**
 * spindle_rdmc_moved() - note that something goes on with an object
 * @r: group
 * @object: number
 *
 * The next pass sets the time.
 */
static inline void spindle_rdmc_moved(struct spindle_rdmc *r, u64 object)
{
	r->timed |= 1U << (object & (SPINDLE_RDMC_OBJECTS - 1));
}

/**
 * spindle_rdmc_here() - how far is the object that ends next?
 * @r: group
 *
 * Return: blocks of it that are here
 */
static inline u32 spindle_rdmc_here(const struct spindle_rdmc *r)
{
	return r->ended < r->announced ?
	       r->object[r->ended & (SPINDLE_RDMC_OBJECTS - 1)].got : 0;
}

/**
 * spindle_rdmc_has_all() - is an object complete, except for writes under way?
 * @obj: object
 *
 * Return: true if all blocks are here and all sends are posted
 */
static inline bool spindle_rdmc_has_all(const struct spindle_rdmc_object *obj)
{
	return obj->phase == SPINDLE_RDMC_P_MOVING && obj->got == obj->blocks && obj->sends_done;
}

/**
 * spindle_rdmc_block_len() - bytes of a block
 * @r: group
 * @len: bytes of the object
 * @block: one of its blocks
 *
 * Return: bytes; the last block may be shorter
 */
static inline u32 spindle_rdmc_block_len(const struct spindle_rdmc *r, u64 len, u32 block)
{
	return min(len - ((u64)block << r->block_shift), (u64)r->cfg.block);
}

#endif /* SPINDLE_CORE_RDMC_H */
