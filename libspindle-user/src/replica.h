/* SPDX-License-Identifier: MIT */
/*
 * Declarations inside the replicas of the library.
 *
 *	replica.c		open, close, dispatch; what a replica is
 *	replica-order.c		messages in their order: which nodes have the state
 *	replica-child.c		child processes that save
 *	replica-donor.c		save, and send a snapshot
 *	replica-joiner.c	receive a snapshot, and load it
 *	replica-history.c	send and receive what is older than the history of a newcomer
 *	replica-restore.c	get the state from a snapshot and the log of this node
 *	replica-snapshot.c	save the state beside the log
 *	spill.c			messages that are kept aside
 */
#ifndef SPINDLE_REPLICA_INTERNAL_H
#define SPINDLE_REPLICA_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include <spindle/rdmc.h>
#include <spindle/replay.h>
#include <spindle/replica.h>
#include <spindle/snapshot.h>
#include <spindle/spindle.h>

#define REPLICA_MAGIC		0x53504d52U	/* "RMPS" in memory */
#define REPLICA_VERSION		2U
#define SNAPSHOT_MAGIC		0x50414e5353504d52ULL
#define BATCH_MAGIC		0x484352415350524dULL

/*
 * Bytes of a part of a snapshot, which is one object: at first, at least and at most; powers of
 * two. A process reads no message while the kernel maps a part, so a part is short.
 */
#ifndef PART
#define PART			(4U << 20)
#endif
#define PART_MIN		(64U << 10)
#define PART_MAX		(16U << 20)
/* Parts on their way at once. */
#define PARTS			8U
/* A transfer without progress ends after so many times the timeout. */
#define STALL			6
/* After an attempt has failed, so that a fault that stays is no busy loop. */
#define PAUSE_MS		200

/* Kinds of messages, in replica_head.kind. */
enum replica_kind {
	REPLICA_DATA,		/* bytes of the program */
	REPLICA_HAVE,		/* the sender has the state from here on */
	REPLICA_ASK,		/* the sender needs the state */
	REPLICA_OFFER		/* the sender gives the state that is behind this message */
};

/* In front of each message. */
struct replica_head {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;		/* enum replica_kind */
};

/* Behind the head of a HAVE. */
struct replica_have {
	uint64_t life;		/* random: another process of the node has another one */
	uint64_t declared;	/* 1: by an administrator; 0: it is that of the group */
};

/* Behind the head of an ASK. */
struct replica_ask {
	uint64_t life;
	uint64_t attempt;	/* chooses among those that have the state */
	uint64_t oldest;	/* position: older messages are wanted, too; 0: none are */
};

/* Behind the head of an OFFER, with @count node ids behind it. */
struct replica_offer {
	uint64_t life;
	uint32_t count;
	uint32_t history;	/* 1: older messages follow the state; 0: none do */
};

/* The longest body of a message of the library. */
#define BODY_MAX	(sizeof(struct replica_offer) + SPINDLE_MAX_MEMBERS * sizeof(uint32_t))

/* In front of a snapshot. */
struct snapshot_head {
	uint64_t magic;
	uint64_t lsn;		/* position of the first message that is not in it */
	uint64_t bytes;		/* with this head; 0 until save() has succeeded */
	uint32_t version;
	uint32_t current;	/* entries of @node */
	uint32_t node[SPINDLE_MAX_MEMBERS]; /* those that have the state */
};

/* In the tag of an object that is a batch of older messages. The rest of it is its number. */
#define BATCH			(1ULL << 63)

/*
 * In front of a batch: messages that were delivered in one view. Behind it are @members of struct
 * spindle_seat, @count of struct spindle_dlv, and @bytes, all as in struct spindle_fill.
 */
struct batch_head {
	uint64_t magic;
	uint64_t lsn;		/* position behind the last message */
	uint64_t vid;
	uint64_t before;
	uint32_t members;
	uint32_t count;
	uint32_t bytes;
	uint32_t version;
};

/* The longest batch. */
#define BATCH_MAX	(sizeof(struct batch_head) +					\
			 SPINDLE_MAX_MEMBERS * sizeof(struct spindle_seat) +		\
			 SPINDLE_MAX_FILL_MSGS * sizeof(struct spindle_dlv) + SPINDLE_MAX_FILL)

/* Messages in a file, first in, first out. */
struct spill {
	int fd;			/* -1 without messages */
	uint64_t first;		/* offset of the oldest */
	uint64_t end;
	uint64_t given_back;	/* memory of the file below is free again */
	uint64_t limit;
	void *buf;		/* the message that was taken last */
	uint32_t room;
};

/* A set of nodes. */
struct nodes {
	uint32_t n;
	uint32_t id[SPINDLE_MAX_MEMBERS];
};

/* A history that goes out behind a snapshot, from the newest message to the oldest one. */
struct past {
	uint64_t below;		/* position: older messages are wanted; 0: no more are */
	uint64_t at;		/* entry behind the next one to look at */
	uint64_t view;		/* that entries below @at were delivered in */
	uint64_t vid;		/* view that began behind the next batch; 0: none */
	uint64_t seats_of;	/* view whose seats are in @buf */
	uint64_t batches;	/* that were sent */
	unsigned char *buf;	/* BATCH_MAX bytes; NULL: the state has not arrived everywhere */
	bool flying;		/* a batch is on its way */
};

/* A snapshot that goes out. */
struct donor {
	struct nodes waiting;	/* have asked, and chosen this replica */
	struct nodes filling;	/* of these, the nodes that want older messages, too */
	uint64_t oldest;	/* of the histories of @filling, at most; 0: there are none */
	struct nodes to;	/* of the offer that is said, or of the transfer */
	bool history;		/* those of @to want older messages */
	struct past past;
	bool offered;		/* the offer has been sent, and not come back */
	bool alone;		/* the last transfer failed: offer to one node at a time */
	uint32_t last;		/* that node */
	int64_t not_before;	/* ms; no offer until then */
	struct spindle_rdmc_group *group;
	bool opened;
	int64_t deadline;	/* ms; there has to be progress by then */
	int child;		/* pidfd of the child that saves, or -1 */
	int fd;			/* memfd of the snapshot, or -1 */
	unsigned char *map;	/* its bytes, when they are all there */
	uint64_t len;
	uint64_t sent;		/* next byte to send */
	uint64_t freed;		/* bytes below have arrived, and their memory is free */
	uint64_t again;		/* bytes from here on were refused; UINT64_MAX: none */
	uint32_t part;		/* bytes of a part */
	uint32_t flying;	/* parts on their way */
	bool closed;		/* no more follows */
	bool over;		/* the group has ended */
	int error;
};

/* A part of a snapshot that comes in. */
struct part {
	uint64_t object;
	void *addr;		/* NULL: unused */
	uint64_t offset;
	uint64_t len;
};

/* A snapshot that comes in. */
struct joiner {
	struct spindle_rdmc_group *group;
	int64_t deadline;	/* as donor.deadline */
	uint64_t lsn;		/* that it must have */
	uint64_t attempt;
	unsigned int failed;	/* attempts, one after the other */
	int fd;			/* memfd, or -1 */
	uint64_t size;		/* of the memfd */
	uint64_t good;		/* bytes that have arrived, without a gap */
	struct part part[SPINDLE_RDMC_QUEUE];
	uint64_t oldest;	/* of the own history: older messages are wanted; 0: none are */
	bool history;		/* the offer promises such messages */
	bool shared;		/* other nodes get them, too */
	void *batch;		/* memory for them, of @batch_len bytes */
	uint64_t batch_len;
	bool over;		/* the group has ended */
	int error;
	pthread_t thread;	/* runs @job */
	bool running;		/* @thread is to be joined */
	int (*job)(struct spindle_replica *r);
	int result;		/* of @job; 1: it runs. Atomic */
};

/* How far a replica is that gets its state from its log. */
enum restore_step {
	RESTORE_NONE,		/* it does not */
	RESTORE_WAITS,		/* for the logger, or for a time to look again */
	RESTORE_LOOKS,		/* for a snapshot; in a thread */
	RESTORE_REPLAYS,	/* to the end of the messages; in a thread */
	RESTORE_PAUSES,		/* the log does not have the next message yet */
	RESTORE_ENDS		/* replays up to what is kept aside; in a thread */
};

struct restore {
	enum restore_step step;
	char *dir;		/* as given; NULL: there is none */
	char *program;
	int fd;			/* the snapshot that load() has not read; -1: none */
	bool empty;		/* the program began without a state */
	bool loaded;		/* the program has the state in front of @at, or had it once */
	bool final;		/* what a function of the program returned */
	bool replaced;		/* a state was declared behind the snapshot */
	bool stop;		/* the thread has to end. Atomic */
	struct spindle_place at;	/* of the snapshot */
	uint64_t persisted;	/* position that the logger has said last */
	uint64_t until;		/* position to replay to; UINT64_MAX: the end */
	struct spindle_replay *replay;
	int64_t look_at;	/* ms; the next try */
	int64_t give_up;	/* ms; others are asked then */
};

/* A snapshot that is being made. */
struct keeper {
	struct spindle_snapshot *s;	/* NULL: none */
	struct spindle_place at;
	int child;		/* pidfd, or -1 */
	bool *sealed;		/* shared with the child: all of it is on disk */
	int64_t look_at;	/* ms; it is on disk, and waits for the durable position */
};

/* What is to be said, in spindle_replica.say. */
#define SAY_HAVE		(1U << REPLICA_HAVE)
#define SAY_ASK			(1U << REPLICA_ASK)
#define SAY_OFFER		(1U << REPLICA_OFFER)

struct spindle_replica {
	struct spindle_queue q;
	struct spindle_replica_ops ops;
	void *ctx;
	struct spindle_replica_opts opts;
	struct spindle_replica_stat st;
	struct nodes current;	/* nodes that have the state, at st.lsn */
	uint64_t life;
	bool heard;		/* the own ASK has come back: offers behind it are for this life */
	bool known;		/* the own HAVE has come back */
	bool declared;		/* the own HAVE makes the state of this process that of the group */
	bool valid;		/* the program has the state of st.lsn */
	void *copy;		/* a message of a history, which may overwrite it */
	uint32_t say;
	int64_t ask_at;		/* ms; when to ask again; 0: never */
	int epoll;
	int timer;
	int wake;		/* eventfd: dispatch again */
	bool wants_room;	/* epoll waits for room to send */
	struct spill spill;
	struct donor donor;
	struct joiner joiner;
	struct restore restore;
	struct keeper keeper;
};

/* replica.c */
void replica_set_state(struct spindle_replica *r, enum spindle_replica_state state);
void replica_changed(struct spindle_replica *r);
void replica_report(const struct spindle_replica *r);
int64_t replica_now(void);
bool replica_has_log(const struct spindle_replica *r);
int replica_watch(struct spindle_replica *r, int fd, uint32_t events);
void replica_unwatch(struct spindle_replica *r, int fd);
int replica_errno(uint32_t reason);
void replica_wake(struct spindle_replica *r);

/* replica-order.c */
void nodes_add(struct nodes *set, uint32_t id);
void nodes_drop(struct nodes *set, uint32_t id);
int replica_handle(struct spindle_replica *r, const struct spindle_msg *m);
int replica_send(struct spindle_replica *r, enum replica_kind kind, const void *body, uint32_t len);
int replica_say(struct spindle_replica *r);

bool replica_is_ours(const void *data, uint32_t len, struct replica_head *head);
int replica_apply(struct spindle_replica *r, const struct spindle_msg *m);

/* replica-child.c */
typedef int (*replica_work_fn)(struct spindle_replica *r, int fd, uint64_t lsn);

int replica_fork(struct spindle_replica *r, int fd, replica_work_fn work, uint64_t lsn, int *child);
bool replica_ended(struct spindle_replica *r, int *child);
void replica_kill(struct spindle_replica *r, int *child);

/* replica-donor.c */
void donor_begin(struct spindle_replica *r, const struct nodes *to, uint64_t group, uint64_t lsn,
		 bool history);
void donor_run(struct spindle_replica *r);
void donor_end(struct spindle_replica *r, int error);

/* replica-joiner.c */
void joiner_begin(struct spindle_replica *r, uint32_t donor, const struct nodes *to,
		  uint64_t group, uint64_t lsn, bool history);
int joiner_start(struct spindle_replica *r, int (*job)(struct spindle_replica *r));
bool joiner_ended(struct spindle_replica *r, int *result);
void joiner_done(struct spindle_replica *r, uint64_t lsn);
int joiner_run(struct spindle_replica *r);
void joiner_end(struct spindle_replica *r);

/* replica-history.c */
bool past_run(struct spindle_replica *r);
void past_done(struct spindle_replica *r, const struct spindle_rdmc_event *ev);
void past_end(struct donor *d);
void *batch_incoming(struct spindle_replica *r, const struct spindle_rdmc_event *ev,
		     uint32_t *reason);
void batch_done(struct spindle_replica *r, const struct spindle_rdmc_event *ev);
void batch_end(struct joiner *j);

/* replica-restore.c */
void restore_begin(struct spindle_replica *r);
bool restore_drops(const struct spindle_replica *r, uint64_t lsn);
int restore_run(struct spindle_replica *r);
void restore_stop(struct spindle_replica *r);
void restore_end(struct spindle_replica *r);

/* replica-snapshot.c */
void keeper_run(struct spindle_replica *r);
void keeper_end(struct spindle_replica *r, int error);

/* spill.c */
int spill_add(struct spill *s, const struct spindle_msg *m);
int spill_take(struct spill *s, struct spindle_msg *m);
void spill_clear(struct spill *s);
void spill_free(struct spill *s);

/* Bytes that are kept aside. */
static inline uint64_t spill_bytes(const struct spill *s)
{
	return s->end - s->first;
}

#endif /* SPINDLE_REPLICA_INTERNAL_H */
