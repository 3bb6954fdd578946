/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A member of a subgroup that this process drives. The member sends its messages, and checks what
 * is delivered.
 *
 * Repetitions are numbered from 1. A repetition begins when all senders have said that they are
 * ready, see join.c. A repetition ends when all of its messages have arrived.
 */
#ifndef SPINDLE_PERF_END_H
#define SPINDLE_PERF_END_H

#include <spindle/spindle.h>

#include "conf.h"
#include "durable.h"
#include "hist.h"
#include "msg.h"

struct perf_group;

/**
 * struct perf_load - what all ends do; constant during a measurement
 */
struct perf_load {
	/** @conf: configuration */
	const struct perf_conf *conf;
	/** @size: bytes of a message */
	uint32_t size;
	/** @heads: messages are long enough for a head */
	bool heads;
	/** @all: all senders of the view send */
	bool all;
	/** @warm: the first repetition is the warm-up */
	bool warm;
	/**
	 * @quota: messages of a sender in the warm-up and in a repetition; 0: as many as @ticks
	 * allow
	 */
	uint64_t quota[2];
	/** @ticks: length of the warm-up and of a repetition, in ticks; 0: @quota is the limit */
	uint64_t ticks[2];
	/** @gap: ticks from one message to the next, by the clock; 0: no rate */
	double gap;
	/** @delay: ticks that a sender rests after a message */
	uint64_t delay;
	/** @silent: the senders with a delay send nothing, and have announced their silence */
	bool silent;
	/** @upcall: ticks that a reader takes for a message */
	uint64_t upcall;
	/** @spin_ticks: longest delay, in ticks, that a process spends spinning */
	uint64_t spin_ticks;
	/** @nonce: random number of this process */
	uint32_t nonce;
	/** @digest: digest of the arguments; equal on all hosts */
	uint64_t digest;
	/** @source: bytes to copy */
	unsigned char *source;
};

/* The lower bits of perf_from.at count the messages of a repetition. */
#define PERF_NUM_BITS	40
#define PERF_NUM_MASK	((1ULL << PERF_NUM_BITS) - 1)

/* The number of messages is not known before the last one has arrived. */
#define PERF_OPEN	UINT64_MAX

/**
 * struct perf_from - a sender, as an end sees it
 */
struct perf_from {
	/**
	 * @at: repetition that the sender is ready for, and the number of its data messages that
	 * have arrived since then; other ends of the subgroup read it
	 */
	uint64_t at;
	/** @slot: number that the kernel will give the sender's next message */
	uint64_t slot;
	/** @expect: number of data messages that will come, or PERF_OPEN */
	uint64_t expect;
	/** @hello: digest of the arguments of the sender's process */
	uint64_t hello;
	/** @ready: digest of the sender's last READY */
	uint64_t ready;
	/** @nonce: random number of the sender's process */
	uint32_t nonce;
	/** @known: a message has arrived, so @slot is valid */
	bool known;
	/** @said: the sender has said HELLO */
	bool said;
	/** @local: an end of this process is the sender */
	bool local;
	/** @active: the sender sends data */
	bool active;
	/** @delayed: the sender rests after each message */
	bool delayed;
	/** @follows: the sender sends until the senders without a delay have finished */
	bool follows;
};

/**
 * struct perf_end - a member
 */
struct perf_end {
	/** @q: attachment */
	struct spindle_queue q;
	/** @load: what the end does */
	const struct perf_load *load;
	/** @from: senders by rank */
	struct perf_from *from;
	/** @me: this end as a sender, or NULL */
	struct perf_from *me;
	/** @mate: the other ends of the subgroup in this process */
	struct perf_end **mate;
	/** @mates: entries of @mate */
	unsigned int mates;
	/** @slow: the reader of this end takes @load->upcall for a message */
	bool slow;
	/** @own: times from sending to own delivery; belongs to the loop that drives this end */
	struct perf_hist *own;
	/** @slowest: times until the last end of this process has the message */
	struct perf_hist *slowest;
	/** @late: times from when messages were due until they were sent */
	struct perf_hist *late;
	/** @durable: of a sender in a subgroup with logs: what it waits for, or NULL */
	struct perf_durable *durable;
	/** @rep: repetition */
	uint64_t rep;
	/** @running: the repetition has begun */
	bool running;
	/** @joined: digest of all senders that said HELLO, 0 until all have */
	uint64_t joined;
	/** @hello_due: HELLO has to be sent */
	bool hello_due;
	/** @ready_said: digest of the last READY in this repetition */
	uint64_t ready_said;
	/** @sent: data messages sent in this repetition */
	uint64_t sent;
	/** @quota: data messages to send, or PERF_OPEN */
	uint64_t quota;
	/** @over: no more data is sent */
	bool over;
	/** @end_said: END has told the other members how many messages were sent */
	bool end_said;
	/** @blocked: there was no room to send */
	bool blocked;
	/** @start: ticks at the start of the repetition */
	uint64_t start;
	/** @stop: ticks at which the repetition has to end, or 0 */
	uint64_t stop;
	/** @due: ticks before which nothing is sent */
	uint64_t due;
	/** @held: ticks until which the reader holds a message, or 0 */
	uint64_t held;
	/** @left: senders that have not finished */
	unsigned int left;
	/** @left_fast: senders that have not finished and do not follow others */
	unsigned int left_fast;
	/** @msgs: messages that count */
	uint64_t msgs;
	/** @bytes: bytes of these messages */
	uint64_t bytes;
	/** @last: ticks when the last of these messages arrived */
	uint64_t last;
	/** @hash: hash of the order of all data */
	uint64_t hash;
};

int perf_end_attach(struct perf_end *e, const struct perf_load *load, uint32_t node,
		    const struct perf_group *group, bool sender);
void perf_end_detach(struct perf_end *e);
void perf_end_begin(struct perf_end *e, uint64_t rep);
void perf_end_start(struct perf_end *e, uint64_t now);
int perf_end_step(struct perf_end *e);
bool perf_end_ready(const struct perf_end *e);
bool perf_end_done(const struct perf_end *e);
short perf_end_events(const struct perf_end *e);
uint64_t perf_end_wake(const struct perf_end *e);
int perf_end_fail(const struct perf_end *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* send.c */
int perf_send(struct perf_end *e, uint64_t now);
int perf_send_control(struct perf_end *e, uint32_t kind, uint64_t number, uint64_t time);
bool perf_send_wants(const struct perf_end *e);

/* join.c */
int perf_join_say(struct perf_end *e);
int perf_join_take(struct perf_end *e, struct perf_from *f, const struct perf_head *head);
void perf_join_explain(const struct perf_end *e);

static inline uint64_t perf_from_rep(const struct perf_from *f)
{
	return f->at >> PERF_NUM_BITS;
}

static inline uint64_t perf_from_num(const struct perf_from *f)
{
	return f->at & PERF_NUM_MASK;
}

/* The id of the node that the sender is. */
static inline uint32_t perf_from_node(const struct perf_end *e, const struct perf_from *f)
{
	uint32_t node = 0;

	spindle_sender_node(&e->q, f - e->from, &node);
	return node;
}

/* Store a word that other threads read. */
static inline void perf_from_set(struct perf_from *f, uint64_t at)
{
	__atomic_store_n(&f->at, at, __ATOMIC_RELAXED);
}

/* Has all data of the sender in this repetition arrived? */
static inline bool perf_from_through(const struct perf_from *f, uint64_t rep)
{
	return perf_from_rep(f) > rep ||
	       (perf_from_rep(f) == rep && perf_from_num(f) == f->expect);
}

/* Index into perf_load.quota and ticks. The first repetition may be the warm-up. */
static inline unsigned int perf_load_which(const struct perf_load *load, uint64_t rep)
{
	return !(load->warm && rep == 1);
}

#endif /* SPINDLE_PERF_END_H */
