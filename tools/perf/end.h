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

#include "hist.h"
#include "msg.h"

struct perf_conf;
struct perf_group;

/**
 * struct perf_load - what all ends do; constant during a measurement
 * @size: bytes of a message
 * @heads: messages are long enough for a head
 * @verify: check each byte
 * @copy_in: copy messages into the ring
 * @closed: a sender waits for its own message before it sends the next one
 * @batch: largest number of messages that are sent at a time
 * @all: all senders of the view send
 * @warm: the first repetition is the warm-up
 * @quota: messages of a sender in the warm-up and in a repetition; 0: as many as @ticks allow
 * @ticks: length of the warm-up and of a repetition, in ticks; 0: @quota is the limit
 * @gap: ticks from one message to the next, by the clock; 0: no rate
 * @delay: ticks that a sender rests after a message
 * @silent: the senders with a delay send nothing, and have announced their silence
 * @upcall: ticks that a reader takes for a message
 * @spin_ticks: longest delay, in ticks, that a process spends spinning
 * @nonce: random number of this process
 * @digest: digest of the arguments; equal on all hosts
 * @threads: ends have threads
 * @source: bytes to copy
 */
struct perf_load {
	uint32_t size;
	bool heads;
	bool verify;
	bool copy_in;
	bool closed;
	uint32_t batch;
	bool all;
	bool warm;
	uint64_t quota[2];
	uint64_t ticks[2];
	double gap;
	uint64_t delay;
	bool silent;
	uint64_t upcall;
	uint64_t spin_ticks;
	uint32_t nonce;
	uint64_t digest;
	bool threads;
	unsigned char *source;
};

/* The lower bits of perf_from.at count the messages of a repetition. */
#define PERF_NUM_BITS	40
#define PERF_NUM_MASK	((1ULL << PERF_NUM_BITS) - 1)

/* The number of messages is not known before the last one has arrived. */
#define PERF_OPEN	UINT64_MAX

/**
 * struct perf_from - a sender, as an end sees it
 * @at: repetition that the sender is ready for, and the number of its data messages that have
 *	arrived since then; other ends of the subgroup read it
 * @slot: number that the kernel will give the sender's next message
 * @expect: number of data messages that will come, or PERF_OPEN
 * @hello: digest of the arguments of the sender's process
 * @ready: digest of the sender's last READY
 * @nonce: random number of the sender's process
 * @known: a message has arrived, so @slot is valid
 * @said: the sender has said HELLO
 * @local: an end of this process is the sender
 * @active: the sender sends data
 * @delayed: the sender rests after each message
 * @follows: the sender sends until the senders without a delay have finished
 */
struct perf_from {
	uint64_t at;
	uint64_t slot;
	uint64_t expect;
	uint64_t hello;
	uint64_t ready;
	uint32_t nonce;
	bool known;
	bool said;
	bool local;
	bool active;
	bool delayed;
	bool follows;
};

/**
 * struct perf_end - a member
 * @q: attachment
 * @load: what the end does
 * @from: senders by rank
 * @me: this end as a sender, or NULL
 * @mate: the other ends of the subgroup in this process
 * @mates: entries of @mate
 * @slow: the reader of this end takes @load->upcall for a message
 * @own: times from sending to own delivery; belongs to the loop that drives this end
 * @slowest: times until the last end of this process has the message
 * @late: times from when messages were due until they were sent
 * @rep: repetition
 * @running: the repetition has begun
 * @joined: digest of all senders that said HELLO, 0 until all have
 * @hello_due: HELLO has to be sent
 * @ready_said: digest of the last READY in this repetition
 * @sent: data messages sent in this repetition
 * @quota: data messages to send, or PERF_OPEN
 * @over: no more data is sent
 * @end_said: END has told the other members how many messages were sent
 * @blocked: there was no room to send
 * @start: ticks at the start of the repetition
 * @stop: ticks at which the repetition has to end, or 0
 * @due: ticks before which nothing is sent
 * @held: ticks until which the reader holds a message, or 0
 * @left: senders that have not finished
 * @left_fast: senders that have not finished and do not follow others
 * @msgs: messages that count
 * @bytes: bytes of these messages
 * @last: ticks when the last of these messages arrived
 * @hash: hash of the order of all data
 */
struct perf_end {
	struct spindle_queue q;
	const struct perf_load *load;
	struct perf_from *from;
	struct perf_from *me;
	struct perf_end **mate;
	unsigned int mates;
	bool slow;
	struct perf_hist *own;
	struct perf_hist *slowest;
	struct perf_hist *late;

	uint64_t rep;
	bool running;
	uint64_t joined;
	bool hello_due;
	uint64_t ready_said;

	uint64_t sent;
	uint64_t quota;
	bool over;
	bool end_said;
	bool blocked;
	uint64_t start;
	uint64_t stop;
	uint64_t due;
	uint64_t held;

	unsigned int left;
	unsigned int left_fast;
	uint64_t msgs;
	uint64_t bytes;
	uint64_t last;
	uint64_t hash;
};

int perf_end_attach(struct perf_end *e, const struct perf_load *load,
		    const struct perf_conf *conf, uint32_t node, const struct perf_group *group,
		    bool sender);
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
int perf_send_control(struct perf_end *e, const struct perf_head *head);
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
