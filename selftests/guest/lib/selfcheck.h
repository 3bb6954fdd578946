/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that include enough to check their bytes.
 */
#ifndef SPINDLE_GUEST_SELFCHECK_H
#define SPINDLE_GUEST_SELFCHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SELFCHECK_MAGIC	0x5e1fc4ec
#define SELFCHECK_END	0x5e1fe4d0	/* the last message of a sender */

/**
 * struct selfcheck_hdr - the beginning of each message
 * @magic: SELFCHECK_MAGIC or SELFCHECK_END
 * @node: node id of the sender
 * @num: any number; the bytes that follow are made from it
 */
struct selfcheck_hdr {
	uint32_t magic;
	uint32_t node;
	uint64_t num;
};

/* A hash: similar numbers give different values (SplitMix64). */
static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static inline unsigned char selfcheck_byte(const struct selfcheck_hdr *h, uint32_t len,
					   uint32_t i)
{
	return mix(h->num * 64 + h->node + ((uint64_t)len << 32) + i / 8) >> (i % 8 * 8);
}

static inline void selfcheck_fill(unsigned char *p, uint32_t len, const struct selfcheck_hdr *h)
{
	uint32_t i;

	memcpy(p, h, sizeof(*h));
	for (i = sizeof(*h); i < len; i++)
		p[i] = selfcheck_byte(h, len, i);
}

/* Returns whether the bytes are right, and the header. */
static inline bool selfcheck_same(const unsigned char *p, uint32_t len, struct selfcheck_hdr *h)
{
	uint32_t i;

	if (len < sizeof(*h))
		return false;
	memcpy(h, p, sizeof(*h));
	if (h->magic != SELFCHECK_MAGIC && h->magic != SELFCHECK_END)
		return false;
	for (i = sizeof(*h); i < len; i++)
		if (p[i] != selfcheck_byte(h, len, i))
			return false;
	return true;
}

#endif /* SPINDLE_GUEST_SELFCHECK_H */
