/* SPDX-License-Identifier: MIT */
/*
 * Numbers and bytes in encodings that come from a disk or from another node. All numbers are
 * little-endian. Each function does nothing behind the end of the bytes, and notes that in @bad.
 *
 * Owner: the caller, for one encoding. Context: any.
 */
#ifndef SPINDLE_CURSOR_H
#define SPINDLE_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * struct cursor - a place in an encoding
 */
struct cursor {
	/** @to: of an encoder: where the next byte goes */
	uint8_t *to;
	/** @from: of a decoder: the next byte */
	const uint8_t *from;
	/** @left: bytes from there to the end */
	size_t left;
	/** @bad: the bytes were too few, or a decoder has found a value that cannot be */
	bool bad;
};

static inline void put_bytes(struct cursor *c, const void *bytes, size_t len)
{
	if (c->bad || c->left < len) {
		c->bad = true;
		return;
	}
	memcpy(c->to, bytes, len);
	c->to += len;
	c->left -= len;
}

static inline void put32(struct cursor *c, uint32_t word)
{
	uint32_t le = htole32(word);

	put_bytes(c, &le, sizeof(le));
}

static inline void put64(struct cursor *c, uint64_t word)
{
	uint64_t le = htole64(word);

	put_bytes(c, &le, sizeof(le));
}

static inline void get_bytes(struct cursor *c, void *bytes, size_t len)
{
	if (c->bad || c->left < len) {
		c->bad = true;
		memset(bytes, 0, len);
		return;
	}
	memcpy(bytes, c->from, len);
	c->from += len;
	c->left -= len;
}

static inline uint32_t get32(struct cursor *c)
{
	uint32_t le;

	get_bytes(c, &le, sizeof(le));
	return le32toh(le);
}

static inline uint64_t get64(struct cursor *c)
{
	uint64_t le;

	get_bytes(c, &le, sizeof(le));
	return le64toh(le);
}

static inline bool get_flag(struct cursor *c)
{
	uint32_t word = get32(c);

	c->bad |= word > 1;
	return word == 1;
}

/* A number of entries that fits. */
static inline uint32_t get_count(struct cursor *c, uint32_t max)
{
	uint32_t n = get32(c);

	if (n <= max)
		return n;
	c->bad = true;
	return 0;
}

#endif /* SPINDLE_CURSOR_H */
