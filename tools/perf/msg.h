/* SPDX-License-Identifier: GPL-2.0-only */
/* The content of the messages of a measurement. */
#ifndef SPINDLE_PERF_MSG_H
#define SPINDLE_PERF_MSG_H

#include <stdbool.h>
#include <stdint.h>

/**
 * enum perf_kind - the kind of a message
 */
enum perf_kind {
	/** @PERF_HELLO: a process has started: @number is the digest of its arguments */
	PERF_HELLO = 0x5eed0001,
	/**
	 * @PERF_READY: a repetition may begin: @number is the digest of all senders that said
	 * HELLO, @time is the number of the repetition
	 */
	PERF_READY,
	/**
	 * @PERF_DATA: @number counts from 0 in each repetition, @time is when the message was sent,
	 * or was due
	 */
	PERF_DATA,
	/** @PERF_END: no more data follows in this repetition: @number messages were sent */
	PERF_END
};

/**
 * struct perf_head - the begin of a message
 *
 * A control message consists of a head only. So its length tells it from data that is too short for
 * a head.
 */
struct perf_head {
	/** @kind: enum perf_kind */
	uint32_t kind;
	/**
	 * @nonce: random number of the process, which tells it from others and from earlier ones
	 */
	uint32_t nonce;
	/** @number: see enum perf_kind */
	uint64_t number;
	/** @time: ticks of the sending host */
	uint64_t time;
};

#define PERF_HEAD	sizeof(struct perf_head)

/* Mix the bits of a number. */
static inline uint64_t perf_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* The key from which the bytes of a message are computed. */
static inline uint64_t perf_key(uint32_t group, uint32_t node, uint64_t number)
{
	return perf_mix(perf_mix((uint64_t)group << 32 | node) ^ number);
}

void perf_fill(unsigned char *p, uint32_t len, uint64_t key);
bool perf_filled(const unsigned char *p, uint32_t len, uint64_t key);

#endif /* SPINDLE_PERF_MSG_H */
