/* SPDX-License-Identifier: MIT */
/*
 * Declarations inside the replicas of the library.
 *
 *	replica.c		open, close, dispatch; what a replica is
 *	replica-order.c		messages in their order: which nodes have the state
 *	replica-donor.c		save, and send a snapshot
 *	replica-joiner.c	receive a snapshot, and load it
 *	spill.c			messages that are kept aside
 */
#ifndef SPINDLE_REPLICA_INTERNAL_H
#define SPINDLE_REPLICA_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include <spindle/rdmc.h>
#include <spindle/replica.h>
#include <spindle/spindle.h>

#define REPLICA_MAGIC		0x53504d52U	/* "RMPS" in memory */
#define REPLICA_VERSION		1U
#define SNAPSHOT_MAGIC		0x50414e5353504d52ULL

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
};

/* Behind the head of an OFFER, with @count node ids behind it. */
struct replica_offer {
	uint64_t life;
	uint32_t count;
	uint32_t resv;
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

/* A snapshot that goes out. */
struct donor {
	struct nodes waiting;	/* have asked, and chosen this replica */
	struct nodes to;	/* of the offer that is said, or of the transfer */
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
	bool over;		/* the group has ended */
	int error;
	pthread_t thread;	/* runs load() */
	bool running;		/* @thread is to be joined */
	int loaded;		/* what load() returned; 1: it runs. Atomic */
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
};

/* replica.c */
void replica_set_state(struct spindle_replica *r, enum spindle_replica_state state);
void replica_changed(struct spindle_replica *r);
void replica_report(const struct spindle_replica *r);
int64_t replica_now(void);
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

/* replica-donor.c */
void donor_begin(struct spindle_replica *r, const struct nodes *to, uint64_t group, uint64_t lsn);
void donor_run(struct spindle_replica *r);
void donor_end(struct spindle_replica *r, int error);

/* replica-joiner.c */
void joiner_begin(struct spindle_replica *r, uint32_t donor, const struct nodes *to,
		  uint64_t group, uint64_t lsn);
int joiner_run(struct spindle_replica *r);
void joiner_end(struct spindle_replica *r);

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
