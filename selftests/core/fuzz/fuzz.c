// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tools of every target of the core's fuzzer. See fuzz.h.
 */
#include <sanitizer/asan_interface.h>

#include "fuzz.h"

#define SIZES	128	/* different sizes */
#define CHUNKS	64	/* of one size, at a time */

void fuzz_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

/* ---- memory ------------------------------------------------------------------- */

struct chunks {
	size_t bytes;
	u32 n;
	bool used[CHUNKS];
	void *mem[CHUNKS];
};

static struct chunks pool[SIZES];

static struct chunks *chunks_of(size_t bytes)
{
	u32 i;

	for (i = 0; i < SIZES; i++) {
		if (!pool[i].bytes)
			pool[i].bytes = bytes;
		if (pool[i].bytes == bytes)
			return &pool[i];
	}
	fuzz_fail(__FILE__, __LINE__, "so many sizes");
}

void *fuzz_alloc(size_t bytes)
{
	struct chunks *c = chunks_of(bytes ?: 1);
	u32 i;

	for (i = 0; i < c->n && c->used[i]; i++)
		;
	MUST(i < CHUNKS);
	if (i == c->n)
		c->mem[c->n++] = malloc(c->bytes);
	c->used[i] = true;
	ASAN_UNPOISON_MEMORY_REGION(c->mem[i], c->bytes);
	return memset(c->mem[i], 0, c->bytes);
}

static void give_back(struct chunks *c, u32 i)
{
	c->used[i] = false;
	ASAN_POISON_MEMORY_REGION(c->mem[i], c->bytes);
}

void fuzz_free(void *mem)
{
	u32 s, i;

	for (s = 0; mem && s < SIZES; s++) {
		for (i = 0; i < pool[s].n; i++) {
			if (pool[s].mem[i] == mem) {
				MUST(pool[s].used[i]);
				give_back(&pool[s], i);
				return;
			}
		}
	}
	MUST(!mem);
}

static struct {
	u64 *to;
	u64 value;
	u32 looks;
} later;

void fuzz_begin(void)
{
	u32 s, i;

	for (s = 0; s < SIZES; s++)
		for (i = 0; i < pool[s].n; i++)
			if (pool[s].used[i])
				give_back(&pool[s], i);
	later.to = NULL;
	fuzz_looks = 0;
}

/* ---- writes of others between two looks ------------------------------------------- */

u64 fuzz_looks;

void fuzz_write_now(void)
{
	if (later.to)
		memcpy(later.to, &later.value, sizeof(later.value));
	later.to = NULL;
}

void fuzz_write_later(void *to, u64 value, u32 looks)
{
	fuzz_write_now();
	later.to = to;
	later.value = value;
	later.looks = looks;
}

/* port.h names this function. */
void fuzz_between_looks(void);

void fuzz_between_looks(void)
{
	fuzz_looks++;
	if (later.to && !later.looks--)
		fuzz_write_now();
}
