/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the messages of a measurement carry.
 */
#ifndef SPINDLE_PERF_MSG_H
#define SPINDLE_PERF_MSG_H

#include <stdbool.h>
#include <stdint.h>

/**
 * enum perf_kind - what a message is for
 * @PERF_HELLO: a process is there: @number is the digest of what it was asked to do
 * @PERF_READY: a repetition may begin: @number is the digest of all that said hello,
 *	@time the number of the repetition
 * @PERF_DATA: @number counts from 0 in each repetition, @time is when it was sent, or
 *	was meant to be
 * @PERF_END: nothing follows in this repetition: @number messages were sent
 */
enum perf_kind {
	PERF_HELLO = 0x5eed0001,
	PERF_READY,
	PERF_DATA,
	PERF_END
};

/**
 * struct perf_head - how a message begins
 * @kind: enum perf_kind
 * @nonce: tells processes apart, and those before them
 * @number: see enum perf_kind
 * @time: ticks of the sending host
 *
 * Messages of other kinds than data have nothing else, so that they are known by their
 * length where data is too short for a head.
 */
struct perf_head {
	uint32_t kind;
	uint32_t nonce;
	uint64_t number;
	uint64_t time;
};

#define PERF_HEAD	sizeof(struct perf_head)

/* Good bits out of any. */
static inline uint64_t perf_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* What the bytes of a message follow from. */
static inline uint64_t perf_key(uint32_t group, uint32_t node, uint64_t number)
{
	return perf_mix(perf_mix((uint64_t)group << 32 | node) ^ number);
}

void perf_fill(unsigned char *p, uint32_t len, uint64_t key);
bool perf_filled(const unsigned char *p, uint32_t len, uint64_t key);

#endif /* SPINDLE_PERF_MSG_H */
