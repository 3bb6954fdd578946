/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tools of every unit test: TAP output, checks, and random numbers from a seed.
 *
 * A program is a table of cases. A case is a function. A case fails if one of its CHECKs fails. The
 * case continues after that, so that one run shows all errors.
 */
#ifndef SPINDLE_UNIT_TAP_H
#define SPINDLE_UNIT_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/port.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct tap_case {
	const char *name;
	void (*fn)(void);
};

static unsigned int tap_failures; /* of the case that runs */

#define CHECK(cond) tap_check((cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(a, b) tap_equal((u64)(a), (u64)(b), __FILE__, __LINE__, #a " == " #b)

static inline bool tap_check(bool ok, const char *file, int line, const char *what)
{
	/* A broken loop must not fill the disk. */
	if (!ok && ++tap_failures <= 10)
		printf("# %s:%d: not so: %s\n", file, line, what);
	return ok;
}

static inline bool tap_equal(u64 a, u64 b, const char *file, int line, const char *what)
{
	if (a != b && ++tap_failures <= 10)
		printf("# %s:%d: not so: %s (%llu, %llu)\n", file, line, what,
		       (unsigned long long)a, (unsigned long long)b);
	return a == b;
}

__attribute__((format(printf, 1, 2)))
static inline void tap_fail(const char *fmt, ...)
{
	va_list ap;

	if (++tap_failures > 10)
		return;
	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static inline int tap_run(const struct tap_case *cases, size_t n)
{
	unsigned int bad = 0;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", n);
	for (i = 0; i < n; i++) {
		tap_failures = 0;
		cases[i].fn();
		bad += !!tap_failures;
		printf("%sok %zu - %s\n", tap_failures ? "not " : "", i + 1, cases[i].name);
	}
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline u64 tap_env(const char *name, u64 def)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : def;
}

/* Random numbers: splitmix64, the same everywhere for the same seed. */
struct rng {
	u64 state;
};

static inline u64 rng_mix(u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline u64 rng_u64(struct rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ULL;
	return rng_mix(rng->state);
}

/* 0 to n - 1; n is small against 2^32. */
static inline u32 rng_below(struct rng *rng, u32 n)
{
	return ((rng_u64(rng) >> 32) * n) >> 32;
}

static inline bool rng_chance(struct rng *rng, u32 percent)
{
	return rng_below(rng, 100) < percent;
}

/* Small numbers come more often than large ones, and 0 and the extremes come now and then. */
static inline u64 rng_odd(struct rng *rng)
{
	u64 v = rng_u64(rng) >> rng_below(rng, 64);

	switch (rng_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return U64_MAX - (v & 3);
	case 2:
		return 1ULL << rng_below(rng, 64);
	default:
		return v;
	}
}

/*
 * The program's seed, from the environment or fixed. The seed is printed, so that a run can be
 * repeated.
 */
static inline struct rng rng_seed(void)
{
	struct rng rng = { .state = tap_env("SEED", 1) };

	printf("# SEED=%llu\n", (unsigned long long)rng.state);
	return rng;
}

#endif /* SPINDLE_UNIT_TAP_H */
