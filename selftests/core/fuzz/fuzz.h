/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tools of every target of the core's fuzzer: numbers from the input, memory of the exact size,
 * writes of a peer while the core looks, and a count of the looks.
 *
 * A target is a function of bytes. libFuzzer calls it, and keeps inputs that reach new code.
 */
#ifndef SPINDLE_FUZZ_CORE_FUZZ_H
#define SPINDLE_FUZZ_CORE_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "core/base/port.h"

/* A property that no peer and no process may break. */
#define MUST(cond) \
	do { \
		if (!(cond)) \
			fuzz_fail(__FILE__, __LINE__, #cond); \
	} while (0)

__attribute__((noreturn))
void fuzz_fail(const char *file, int line, const char *what);

/* ---- numbers ----------------------------------------------------------------- */

struct input {
	const u8 *at;
	size_t left;
};

/* Behind the end there are zeroes. */
static inline u8 in_u8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static inline u32 in_u32(struct input *in)
{
	u32 v = 0, i;

	for (i = 0; i < 4; i++)
		v |= (u32)in_u8(in) << 8 * i;
	return v;
}

static inline u64 in_u64(struct input *in)
{
	u64 low = in_u32(in);

	return low | (u64)in_u32(in) << 32;
}

/* 0 to n - 1; n is at most 256. */
static inline u32 in_below(struct input *in, u32 n)
{
	return in_u8(in) % n;
}

/* A count near @base, a small one, an edge of the range, or any. */
static inline u64 in_near(struct input *in, u64 base)
{
	u8 how = in_u8(in);

	switch (how >> 5) {
	default:
		return base + (how & 3) - 1;
	case 4:
		return how & 31;
	case 5:
		return base + in_u8(in);
	case 6:
		return BIT_ULL(how & 31) << (how & 32) | (in_u8(in) & 3);
	case 7:
		return how & 1 ? U64_MAX - (how >> 1 & 15) : in_u64(in);
	}
}

/* ---- memory ------------------------------------------------------------------- */

/*
 * Zeroed memory of exactly @bytes. Freed memory, and memory that an input has left, is poisoned
 * until it is used again. The pool exists because malloc() would take most of the time of a run.
 */
void *fuzz_alloc(size_t bytes);
void fuzz_free(void *mem);
/* A new input begins: no memory is in use. */
void fuzz_begin(void);

/* ---- writes of others between two looks ------------------------------------------- */

/* The number of looks of the core. */
extern u64 fuzz_looks;

/* After @looks more looks, or at fuzz_write_now(), the 8 bytes at @to become @value. */
void fuzz_write_later(void *to, u64 value, u32 looks);
void fuzz_write_now(void);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif /* SPINDLE_FUZZ_CORE_FUZZ_H */
