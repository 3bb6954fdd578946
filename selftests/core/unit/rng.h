/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers from a seed, for the unit tests and the simulator. tap_env() reads the seed and
 * other numbers from the environment.
 *
 * Owner: the test, which has each generator. Context: any.
 */
#ifndef SPINDLE_UNIT_RNG_H
#define SPINDLE_UNIT_RNG_H

#include <stdio.h>
#include <stdlib.h>

#include "core/base/port.h"

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

#endif /* SPINDLE_UNIT_RNG_H */
