/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMC: one group of members that multicast large objects, as one of them sees it.
 *
 * Here is who says what to whom, and when which block goes where; not how bytes travel.
 * The embedder (the module, a test) has a lane to each other member: reliable, in order,
 * for short messages and for blocks that are written straight into the other's memory.
 * A lane may break at any time, and then stays broken.
 *
 *	OPENING -> OPEN -> CLOSING -> CLOSED		all members have all objects, or
 *	    |        |         |			know that somebody has not
 *	    +--------+---------+--> FAILING -> FAILED	somebody is missing
 *
 * Opening. Every member that creates the group has a new life, a random number, by which
 * the others address it: what was meant for an older life of the same group finds nobody.
 * HELLO {id, digest, own life, the other's life or 0} goes to each member when its lane is
 * up; who gets one with 0 answers. OPEN when all lives are known. A member that is heard of
 * with another life than before has left, and come back as somebody else.
 *
 * Objects go from the root (rank 0), in order. ANNOUNCE {object, length, tag} goes to all when
 * the root's process has queued it. A receiver that has got memory from its process grants its
 * sources block after block, in the order of the schedule: GRANT {object, length, block, where}
 * gives the right to write that block, once. So nothing is sent to a member that is not ready,
 * and a member can write only the blocks that are its to send, and only until they are there: the
 * right is taken back at once. Each member sends in the order of the schedule what it has, and
 * has a grant for. At most SPINDLE_RDMC_GRANTS grants are open per source, at most
 * SPINDLE_RDMC_SENDS own writes under way. When all sends of an object are written the next
 * object's begin, while blocks of the first one may still be coming.
 *
 * An object has ended at a member when it is complete or given up, none of the member's
 * grants for it is open, none of its writes is under way: the memory is the process's
 * again. Complete means that its own sends are posted, too. PROGRESS {objects ended, complete,
 * blocks of the present one} to the root, when an object has ended, a sixteenth of it has
 * come, or anything has and it was silent for long; the root announces at most
 * SPINDLE_RDMC_QUEUE objects more than the slowest has ended. While anything goes on anywhere
 * it says PROGRESS, too, now and then, to those that have not ended all: in some schedules a
 * member gets its first block when others have all of theirs.
 *
 * Giving up an object. Who wants that grants and writes no more of it, and tells the root:
 * STOP {object, error, reason}; the root, unless all have ended it, tells everybody: ABORT
 * {object, error, reason, who}. Before it has heard that, who wanted it has not ended it. Who
 * hears it writes no more, and says so to those that have granted it something: RETURN
 * {object}, behind its last write on the same lane. Who gets a RETURN takes back what it has
 * granted there.
 *
 * Failure. Who misses a member (lane broken, not in the view), or is told to leave, tells all
 * others: FAIL {who, error}; who hears of it for the first time passes it on likewise. Whose
 * life is not known yet may know ours: to it a HELLO says the same, and counts if it does.
 * Behind a FAIL comes no write any more: it returns all grants. A member whose lane is
 * quiet (the device is through with it) has returned all, too.
 *
 * Silence. The root measures what goes on: after the timeout it gives an object up, and who has
 * not ended it after two more is missing. Who has begun an object, and for three times the
 * timeout has seen nothing move and heard nothing new from the root, misses the root: whoever
 * holds the object up, the root would have said so. A lane that lives says nothing about who is
 * behind it. What waits for the member's own process, to give memory or to read, does not count,
 * nor what is queued behind that, nor a time during which the member itself did not look.
 *
 * Closing. The root, told to close, says CLOSE {objects, complete} when all objects have
 * ended at the root; others when their process has closed as well and they have ended as
 * many. CLOSED when all have said so and what was said has arrived (the lane is flushed).
 * A member that has said CLOSE, and to which we have, may go. While objects still move
 * elsewhere, the root says CLOSE again now and then, so that those that wait hear something.
 *
 * All messages are level-triggered: a pass says what is not said yet as far as there is room.
 *
 * Streams. Inside of a view membership knows who is there, and a group needs no life of its own:
 * see @stream of the configuration, and stream.h. All members compute the stream's life, so that it
 * is OPEN at once. Objects flow as above, and none is given up: a stream ends as a whole, when the
 * view does. It has the words ANNOUNCE, GRANT, PROGRESS and END, and no times.
 *
 *	OPEN -> FAILING -> FAILED
 *
 * A member that ends the stream tells each other one that it has heard of: END. Behind an END
 * comes no write any more. Whoever gets an END takes back what it has granted there, and says END
 * as well. So each gets its grants back, whether or not the others know
 * already that the view ends. Who breaks the rules, or whose lane is lost, is cut: that is to break
 * the view's connection, too, and then membership sees to the rest.
 *
 * Nothing that a peer says is believed: ranges are checked, and who breaks the rules is cut
 * off (ops->cut) with SPINDLE_RDMC_PROTOCOL. An early GRANT, RETURN or FAIL is legal: lanes
 * are not ordered among each other. A root may tell its receivers different things, and a member
 * may give each of the others another rack. Two members whose ideas of the group differ for that
 * reason do not know who has lied. They end the group, and keep their lane, because other groups
 * use the lane, too: see spindle_rdmc_differ() and spindle_rdmc_astray().
 *
 * Context: engine, all of it. Nothing here sleeps or allocates; time comes with the pass.
 */
#ifndef SPINDLE_CORE_RDMC_H
#define SPINDLE_CORE_RDMC_H

#include <linux/spindle_rdmc.h>

#include "port.h"
#include "schedule.h"

/* Grants that a source may hold of one member of one group. */
#define SPINDLE_RDMC_GRANTS	4U
/* Own writes under way in one group. */
#define SPINDLE_RDMC_SENDS	4U
/* Objects that a member remembers: what all may be at, and what the root has queued beyond. */
#define SPINDLE_RDMC_OBJECTS	(2 * SPINDLE_RDMC_QUEUE)

/**
 * enum spindle_rdmc_state - state of a group at a member
 * @SPINDLE_RDMC_S_OPENING: not all members are known
 * @SPINDLE_RDMC_S_OPEN: objects flow
 * @SPINDLE_RDMC_S_CLOSING: this member has nothing more to do, and says or has said so
 * @SPINDLE_RDMC_S_CLOSED: all have
 * @SPINDLE_RDMC_S_FAILING: somebody is missing; memory may still be in use
 * @SPINDLE_RDMC_S_FAILED: it is not any more
 */
enum spindle_rdmc_state {
	SPINDLE_RDMC_S_OPENING,
	SPINDLE_RDMC_S_OPEN,
	SPINDLE_RDMC_S_CLOSING,
	SPINDLE_RDMC_S_CLOSED,
	SPINDLE_RDMC_S_FAILING,
	SPINDLE_RDMC_S_FAILED
};

/* What a message is, in struct spindle_rdmc_msg. */
enum spindle_rdmc_word {
	/* to: id; w: digest, own life, your life or 0; arg: rack, and of one that goes
	 * error << 16 | who << 24
	 */
	SPINDLE_RDMC_HELLO = 1,
	SPINDLE_RDMC_ANNOUNCE,	/* w: object, length, tag */
	/* w: object, address, key | number << 32, the object's length; arg: block */
	SPINDLE_RDMC_GRANT,
	SPINDLE_RDMC_PROGRESS,	/* w: ended, complete, blocks of object number "ended"; the
				 * root has all blocks: 0
				 */
	SPINDLE_RDMC_STOP,	/* w: object, error, reason */
	SPINDLE_RDMC_ABORT,	/* w: object, error, reason; arg: rank of who wanted it */
	SPINDLE_RDMC_RETURN,	/* w: object */
	SPINDLE_RDMC_FAIL,	/* w: error; arg: rank of who is missing */
	SPINDLE_RDMC_CLOSE,	/* w: objects ended, complete */
	SPINDLE_RDMC_END	/* of a stream; w: nothing */
};

/**
 * struct spindle_rdmc_msg - what members say to each other
 * @to: life of the receiver, or, of HELLO, id of the group
 * @word: enum spindle_rdmc_word
 * @arg: see there
 * @w: see there
 */
struct spindle_rdmc_msg {
	u64 to;
	u32 word;
	u32 arg;
	u64 w[4];
};

static_assert(sizeof(struct spindle_rdmc_msg) == 48, "messages are protocol");

/**
 * struct spindle_rdmc_grant - the right to write a block of somebody's object
 * @object: object
 * @len: its bytes, as the other knows them
 * @addr: where, in terms of the other's device
 * @block: block
 * @key: key for @addr
 * @number: immediate data that has to go with the last byte
 */
struct spindle_rdmc_grant {
	u64 object;
	u64 len;
	u64 addr;
	u32 block;
	u32 key;
	u32 number;
};

struct spindle_rdmc;

/**
 * struct spindle_rdmc_ops - what the group needs of its embedder
 * @room: can the lane to @m take one message, or grant, or block now?
 * @say: send a message; there was room
 * @grant: let @m write block @block of @object, registered as grant number @g (below
 *	SPINDLE_RDMC_GRANTS) of ours to @m: fill in w[1] and w[2] of @msg and send it. There was
 *	room. The block's bytes are spindle_rdmc_block_len() from @block * g->block in the
 *	object's memory
 * @revoke: take grant @g of @m back; ends with spindle_rdmc_revoked(), not before it has
 *	returned. There was room. Not called once the lane is lost
 * @write: write a block, of which we have all bytes, where @grant says; ends with
 *	spindle_rdmc_written(), not before it has returned, whether or not the lane breaks.
 *	There was room
 * @flushed: has all that was said to @m arrived there, or will it never?
 * @cut: @m broke the protocol, or keeps us waiting: break the lane. Once for each member; ends
 *	with spindle_rdmc_lost(). Of a stream: also if the lane is lost; the view is to go on
 *	without @m
 * @listens: is there room for events? While there is not no object ends, unless the group fails:
 *	then there is one more for each object that has not, and the last one
 * @event: something for the process; all but @ev->at_ns and node are filled in, and
 *	@ev->node is a rank + 1, or SPINDLE_RDMC_NOBODY. Not of a stream, as @flushed and @listens
 * @release: an object's memory is not used any more; before its event DONE, for each object that
 *	had got memory. False: not all of it is released yet. It is called again in the next pass
 */
struct spindle_rdmc_ops {
	bool (*room)(struct spindle_rdmc *r, u32 m);
	void (*say)(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg);
	void (*grant)(struct spindle_rdmc *r, u32 m, u32 g, void *mem, u32 block, u32 len,
		      struct spindle_rdmc_msg *msg);
	void (*revoke)(struct spindle_rdmc *r, u32 m, u32 g);
	void (*write)(struct spindle_rdmc *r, u32 m, u64 object, void *mem, u32 block, u32 len,
		      const struct spindle_rdmc_grant *grant);
	bool (*flushed)(struct spindle_rdmc *r, u32 m);
	void (*cut)(struct spindle_rdmc *r, u32 m);
	bool (*listens)(struct spindle_rdmc *r);
	void (*event)(struct spindle_rdmc *r, const struct spindle_rdmc_event *ev);
	bool (*release)(struct spindle_rdmc *r, void *mem);
};

/**
 * enum spindle_rdmc_phase - what becomes of an object at a member
 * @SPINDLE_RDMC_P_NONE: nothing is known of it, but perhaps early grants
 * @SPINDLE_RDMC_P_WAITING: announced; the process has not given memory yet
 * @SPINDLE_RDMC_P_MOVING: it has
 * @SPINDLE_RDMC_P_STOPPING: given up; memory may still be in use
 * @SPINDLE_RDMC_P_COMPLETE: ended well
 * @SPINDLE_RDMC_P_ABORTED: ended otherwise
 */
enum spindle_rdmc_phase {
	SPINDLE_RDMC_P_NONE,
	SPINDLE_RDMC_P_WAITING,
	SPINDLE_RDMC_P_MOVING,
	SPINDLE_RDMC_P_STOPPING,
	SPINDLE_RDMC_P_COMPLETE,
	SPINDLE_RDMC_P_ABORTED
};

/**
 * struct spindle_rdmc_object - an object at a member
 * @phase: see there
 * @len: bytes
 * @tag: the root's
 * @blocks: blocks
 * @got: blocks that are there
 * @mem: the embedder's name for its memory; NULL: none
 * @have: blocks that are there, a bit each; NULL at the root: all. Lives as long as @mem
 * @writing: own writes under way
 * @granted: grants of ours that are open or being taken back
 * @sends_done: all own sends are posted
 * @decided: the root has given it up, and the three below are its words
 * @stop_due: the root has to be told that we give it up
 * @error: enum spindle_rdmc_error, of one that was given up
 * @reason: the same
 * @culprit: rank + 1 of who wanted that, or 0
 * @returned: ranks that write no more of it
 * @to_return: ranks that have to be told that we write no more of it
 * @abort_due: root: ranks that have to be told that it is given up
 * @first_ns: first block here, or first write of the root
 * @busy_ns: time since then with a write under way
 * @busy_since: begin of the present such time, or 0
 * @moved_ns: when something last went on; of one that stops: since when
 */
struct spindle_rdmc_object {
	enum spindle_rdmc_phase phase;
	u32 blocks;
	u64 len;
	u64 tag;
	u32 got;
	u32 writing;
	void *mem;
	unsigned long *have;
	u32 granted;
	bool sends_done;
	bool decided;
	bool stop_due;
	u32 error;
	u32 reason;
	u32 culprit;
	u64 returned;
	u64 to_return;
	u64 abort_due;
	u64 first_ns;
	u64 busy_ns;
	u64 busy_since;
	u64 moved_ns;
};

/**
 * struct spindle_rdmc_cursor - where own sends, or own grants, are
 * @object: object
 * @begun: @schedule and @walk are of this one
 * @known: @hop is the next
 * @hop: what comes next
 * @walk: where it is in the schedule
 * @schedule: of the object
 */
struct spindle_rdmc_cursor {
	u64 object;
	bool begun;
	bool known;
	struct spindle_hop hop;
	struct spindle_walk walk;
	struct spindle_schedule schedule;
};

/**
 * struct spindle_rdmc_slot - a grant of ours to a source
 * @state: free, open, used or returned, or being taken back
 * @block: block
 * @object: object
 */
struct spindle_rdmc_slot {
	enum { SPINDLE_RDMC_FREE, SPINDLE_RDMC_GRANTED, SPINDLE_RDMC_USED,
	       SPINDLE_RDMC_REVOKING } state;
	u32 block;
	u64 object;
};

/**
 * struct spindle_rdmc_member - another member, as this one knows it
 * @life: its life; 0: not known yet
 * @up: the lane is up
 * @lost: the lane is broken; no message comes any more
 * @quiet: and the device is through with it
 * @cut: we have asked for that; nothing that comes counts any more
 * @hello_due: it has to be told who we are
 * @failed: it has said FAIL, or END: it writes no more
 * @fail_due: it has to be told FAIL
 * @closed: it has said CLOSE
 * @close_due: it has to be told CLOSE
 * @close_said: it was told at least once
 * @spoke: of a stream: it has said something, so that it has begun
 * @end_due: of a stream: it has to be told END
 * @end_said: it was
 * @return_due: of some object it has to be told RETURN
 * @abort_due: of some object it has to be told ABORT
 * @alive_due: root: it has to be told that something goes on
 * @told: root: objects that were announced to it
 * @ended: objects that have ended there
 * @complete: of these, well
 * @blocks: blocks of the next one
 * @slot: our grants to it
 * @grant: its grants to us, a ring
 * @grant_head: next to use
 * @grant_tail: next to come
 */
struct spindle_rdmc_member {
	u64 life;
	bool up;
	bool lost;
	bool quiet;
	bool cut;
	bool hello_due;
	bool failed;
	bool fail_due;
	bool closed;
	bool close_due;
	bool close_said;
	bool spoke;
	bool end_due;
	bool end_said;
	bool return_due;
	bool abort_due;
	bool alive_due;
	u64 told;
	u64 ended;
	u64 complete;
	u32 blocks;
	u32 grant_head;
	u32 grant_tail;
	struct spindle_rdmc_slot slot[SPINDLE_RDMC_GRANTS];
	struct spindle_rdmc_grant grant[SPINDLE_RDMC_GRANTS];
};

/**
 * struct spindle_rdmc_stats - counters
 * @blocks_in: blocks that have come
 * @blocks_out: blocks that were written
 * @bytes_in: the same in bytes
 * @bytes_out: the same in bytes
 * @grants: grants given
 * @said: messages sent
 * @heard: messages received
 * @complete: objects that ended well
 * @aborted: objects that did not
 */
struct spindle_rdmc_stats {
	u64 blocks_in;
	u64 blocks_out;
	u64 bytes_in;
	u64 bytes_out;
	u64 grants;
	u64 said;
	u64 heard;
	u64 complete;
	u64 aborted;
};

/**
 * struct spindle_rdmc_config - what a group is
 * @stream: its members are those of a view, which begin it and end it together
 * @id: its id, the same at all members
 * @life: a random number, not 0; of a stream: the same at all members
 * @n: members
 * @me: own rank; 0: the root
 * @algorithm: enum spindle_rdmc_algorithm
 * @block: bytes of a block, a power of two
 * @timeout_ns: how long nothing may go on
 * @rack: own rack
 * @member: node ids, by rank; only their digest is used
 */
struct spindle_rdmc_config {
	bool stream;
	u64 id;
	u64 life;
	u32 n;
	u32 me;
	u32 algorithm;
	u32 block;
	u64 timeout_ns;
	u16 rack;
	u32 member[SPINDLE_MAX_MEMBERS];
};

/**
 * struct spindle_rdmc - a group
 * @ops: of the embedder
 * @ctx: the embedder's
 * @cfg: constant
 * @block_shift: log2 of the block's bytes
 * @digest: of what all members have to agree on
 * @others: ranks of the others
 * @state: see there
 * @error: why it is failing, enum spindle_rdmc_error
 * @culprit: rank + 1 of who is missing, or 0
 * @now: time of the present pass
 * @since: when something last went on that is not an object's
 * @quiet_ns: receiver: since when it has waited for others, and nothing has gone on
 * @deadline: when a pass has to look next, whatever happens or not
 * @stir: something went on since the last pass
 * @count_front: root: @front may not be right any more
 * @timed: objects with which something went on, a bit for each in @object
 * @closing: the process has closed
 * @told_closing: CLOSING was said to the process
 * @total: objects that the root sends in all; U64_MAX: not known yet
 * @announced: objects that the root has queued, or that are known here
 * @shown: objects that the process knows of
 * @ended: objects that have ended here, all below
 * @complete: of these, well
 * @front: root: objects that have ended everywhere
 * @front_ns: root: since when that is so
 * @reminded: root: when those that wait were last told that something goes on
 * @told_ended: as last told to the root
 * @told_blocks: the same
 * @told_ns: when
 * @known: ranks whose life is known
 * @closed: ranks that have said CLOSE
 * @due: ranks that there may be something to say to
 * @to_revoke: ranks to which a grant has to be taken back
 * @writing: own writes under way
 * @granted: grants of ours that are open or being taken back
 * @stopping: objects in phase STOPPING
 * @send: where own sends are
 * @recv: where own grants are
 * @object: by number modulo SPINDLE_RDMC_OBJECTS, the last ones that are known
 * @racks: by rank
 * @m: other members, by rank
 * @stats: counters
 */
struct spindle_rdmc {
	const struct spindle_rdmc_ops *ops;
	void *ctx;
	struct spindle_rdmc_config cfg;
	u32 block_shift;
	u64 digest;
	u64 others;
	enum spindle_rdmc_state state;
	u32 error;
	u32 culprit;
	u64 now;
	u64 since;
	u64 quiet_ns;
	u64 deadline;
	bool stir;
	bool count_front;
	u32 timed;
	bool closing;
	bool told_closing;
	u64 total;
	u64 announced;
	u64 shown;
	u64 ended;
	u64 complete;
	u64 front;
	u64 front_ns;
	u64 reminded;
	u64 told_ended;
	u32 told_blocks;
	u64 told_ns;
	u64 known;
	u64 closed;
	u64 due;
	u64 to_revoke;
	u32 writing;
	u32 granted;
	u32 stopping;
	struct spindle_rdmc_cursor send;
	struct spindle_rdmc_cursor recv;
	struct spindle_rdmc_object object[SPINDLE_RDMC_OBJECTS];
	u16 racks[SPINDLE_MAX_MEMBERS];
	struct spindle_rdmc_member m[SPINDLE_MAX_MEMBERS];
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

/* rdmc_move.c: a pass, and what lanes report */
bool spindle_rdmc_pass(struct spindle_rdmc *r, u64 now);
void spindle_rdmc_arrived(struct spindle_rdmc *r, u32 m, u32 g);
void spindle_rdmc_written(struct spindle_rdmc *r, u64 object);
void spindle_rdmc_revoked(struct spindle_rdmc *r, u32 m, u32 g);
void spindle_rdmc_up(struct spindle_rdmc *r, u32 m);
bool spindle_rdmc_down(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_lost(struct spindle_rdmc *r, u32 m);
void spindle_rdmc_quiet(struct spindle_rdmc *r, u32 m);

/* rdmc_talk.c: what others say, and what they are told */
void spindle_rdmc_hear(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg);
bool spindle_rdmc_talk(struct spindle_rdmc *r);

/* rdmc_wait.c: who is waited for */
bool spindle_rdmc_over(const struct spindle_rdmc *r);
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
 * spindle_rdmc_moved() - something goes on with an object
 * @r: group
 * @object: number
 *
 * When, the next pass knows.
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
 * spindle_rdmc_has_all() - is an object complete, but for what is under way?
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
