/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all tools share: exit codes, messages, memory.
 *
 * Memory of the model is not freed, because most commands end at once. Of the commands that run on,
 * monitor keeps no memory, and top has pools.
 */
#ifndef SPINDLE_COMMON_UTIL_H
#define SPINDLE_COMMON_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "key.h"

/* Exit codes. */
enum {
	CTL_OK,		/* done */
	CTL_FAILED,	/* refused, failed, or not there */
	CTL_USAGE	/* the command line is wrong */
};

/**
 * struct ctl_opts - options before the object
 */
struct ctl_opts {
	/** @json: -j, print JSON */
	bool json;
	/** @pretty: -p, print it indented */
	bool pretty;
	/** @verbose: -v, show more */
	bool verbose;
};

extern struct ctl_opts ctl_opts;

#define CTL_PRINTF(f, a)	__attribute__((format(printf, f, a)))
#define CTL_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * struct ctl_chunk - header of an allocation
 */
struct ctl_chunk {
	/** @entry: entry in the list of its pool */
	LIST_ENTRY(ctl_chunk) entry;
};

LIST_HEAD(ctl_chunks, ctl_chunk);

/**
 * struct ctl_pool - allocations that are freed together
 */
struct ctl_pool {
	/** @list: head of their list; zeroed: the pool is empty */
	struct ctl_chunks list;
};

/* Add a zeroed entry to the end of an array, which may move. The value is its address. */
#define CTL_ADD(array, count)	\
	((array) = ctl_grow((array), (count), sizeof(*(array))), &(array)[(count)++])

struct ctl_pool *ctl_pool_use(struct ctl_pool *pool);
void ctl_pool_drop(struct ctl_pool *pool);
extern const char *ctl_program;
void *ctl_alloc(size_t size);
void *ctl_grow(void *array, size_t entries, size_t size);
void ctl_free(void *p);
char *ctl_strdup(const char *s);
char *ctl_asprintf(const char *fmt, ...) CTL_PRINTF(1, 2);
const char *ctl_brief(const char *fmt, ...) CTL_PRINTF(1, 2);
uint64_t ctl_load(const void *at, size_t size);
void ctl_store(void *at, size_t size, uint64_t num);
char *ctl_clean(const char *s);
unsigned int ctl_utf8_len(const unsigned char *c);
void ctl_err(const char *fmt, ...) CTL_PRINTF(1, 2);
int ctl_flush(int rc);
extern void (*ctl_before_err)(void);

#endif /* SPINDLE_COMMON_UTIL_H */
