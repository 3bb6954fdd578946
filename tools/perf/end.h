/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A member of a subgroup, as this process drives it: it sends what it has to, and checks
 * what is delivered.
 *
 * Repetitions are numbered from 1. Each begins when all senders have said that they are
 * ready for it, see perf-join.c, and ends when all that they sent has come.
 */
#ifndef SPINDLE_PERF_END_H
#define SPINDLE_PERF_END_H

#include <spindle/spindle.h>

#include "perf-hist.h"
#include "perf-msg.h"

struct perf_conf;
struct perf_group;

/**
 * struct perf_load - what all ends do, and does not change
 * @size: bytes of a message
 * @heads: messages are long enough for a head
 * @verify: check every byte
 * @copy_in: copy into the ring
 * @closed: one message of a sender at a time
 * @batch: messages sent at a time at most
 * @all: all senders of the view send
 * @warm: the first repetition is the warm-up
 * @quota: messages of a sender in a repetition, the warm-up first; 0: until the time is
 *	over
 * @ticks: or so many ticks, the warm-up first
 * @gap: ticks from one message to the next, by the clock; 0: no rate
 * @delay: ticks that a sender rests after a message
 * @silent: those that have a delay send nothing, and have said so
 * @upcall: ticks that a reader takes for a message
 * @spin_ticks: above so many a process does not spin but does something else
 * @nonce: of this process
 * @digest: of what was asked for; equal on all hosts
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

/* Messages of a repetition are counted in the lower bits of perf_from.at. */
#define PERF_NUM_BITS	40
#define PERF_NUM_MASK	((1ULL << PERF_NUM_BITS) - 1)

/* How many come is not known before the last one has come. */
#define PERF_OPEN	UINT64_MAX

/**
 * struct perf_from - a sender, as an end sees it
 * @at: repetition that it is ready for, and how much of its data has come since then;
 *	the ends of a subgroup look at each other's
 * @slot: number that the kernel gave its next message
 * @expect: how much data will come, or PERF_OPEN
 * @hello: digest of its orders
 * @ready: digest that it was ready with
 * @nonce: of its process
 * @known: a message has come, @slot is valid
 * @said: it has said hello
 * @local: an end of this process
 * @active: it sends data
 * @delayed: it rests after each message
 * @follows: it sends until those that do not rest are through
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
 * @load: what to do
 * @from: senders by rank
 * @me: the one that it is, or NULL
 * @mate: the other ends of the subgroup in this process
 * @mates: entries of @mate
 * @slow: its reader takes @load->upcall for a message
 * @own: times from sending to own delivery, of the loop that drives this end
 * @slowest: times until the last end of this process has it
 * @late: times from when messages were due until they were sent
 * @rep: repetition
 * @running: it has begun
 * @joined: digest of all that said hello, 0 before that is known
 * @hello_due: say hello
 * @ready_said: digest that we were ready with in this repetition
 * @sent: data sent in this repetition
 * @quota: data to send; PERF_OPEN
 * @over: nothing more is sent
 * @end_said: and all others know how much it was
 * @blocked: there was no room
 * @start: ticks when it began
 * @stop: ticks when it is to end, or 0
 * @due: ticks before which nothing is sent
 * @held: ticks until which the reader holds a message, or 0
 * @left: senders that are not through
 * @left_fast: those of them that do not follow others
 * @msgs: messages that count
 * @bytes: their bytes
 * @last: ticks when the last one of them came
 * @hash: of the order of all data
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

/* perf-send.c */
int perf_send(struct perf_end *e, uint64_t now);
int perf_send_control(struct perf_end *e, const struct perf_head *head);
bool perf_send_wants(const struct perf_end *e);

/* perf-join.c */
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

/* The node that a sender is. */
static inline uint32_t perf_from_node(const struct perf_end *e, const struct perf_from *f)
{
	uint32_t node = 0;

	spindle_sender_node(&e->q, f - e->from, &node);
	return node;
}

/* A word of which others see each value. */
static inline void perf_from_set(struct perf_from *f, uint64_t at)
{
	__atomic_store_n(&f->at, at, __ATOMIC_RELAXED);
}

/* Has all come that it sends in this repetition? */
static inline bool perf_from_through(const struct perf_from *f, uint64_t rep)
{
	return perf_from_rep(f) > rep ||
	       (perf_from_rep(f) == rep && perf_from_num(f) == f->expect);
}

/* The first repetition may be the warm-up: an index into perf_load.quota and ticks. */
static inline unsigned int perf_load_which(const struct perf_load *load, uint64_t rep)
{
	return !(load->warm && rep == 1);
}

#endif /* SPINDLE_PERF_END_H */
