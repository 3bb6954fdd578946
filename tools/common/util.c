// SPDX-License-Identifier: GPL-2.0-only
/* Memory, strings and messages of all tools. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

struct ctl_opts ctl_opts;

/* Name of the program, for messages. */
const char *ctl_program = "spindle-ctl";

static struct ctl_pool forever;
static struct ctl_pool *pool = &forever;

/**
 * ctl_pool_use() - choose the pool for the allocations that follow
 * @p: the pool; NULL: the one that is never dropped
 *
 * Return: the pool of the allocations before
 */
struct ctl_pool *ctl_pool_use(struct ctl_pool *p)
{
	struct ctl_pool *before = pool;

	pool = p ? p : &forever;
	return before;
}

/* Free all memory of a pool. */
void ctl_pool_drop(struct ctl_pool *p)
{
	while (!LIST_EMPTY(&p->list))
		ctl_free(LIST_FIRST(&p->list) + 1);
}

/* Put a chunk on the list of the pool and return its memory. Without a chunk, end the program. */
static void *link_chunk(struct ctl_chunk *chunk)
{
	if (!chunk) {
		fprintf(stderr, "%s: out of memory\n", ctl_program);
		exit(CTL_FAILED);
	}
	LIST_INSERT_HEAD(&pool->list, chunk, entry);
	return chunk + 1;
}

static struct ctl_chunk *unlink_chunk(void *p)
{
	struct ctl_chunk *chunk = (struct ctl_chunk *)p - 1;

	LIST_REMOVE(chunk, entry);
	return chunk;
}

/* Allocate zeroed memory. If there is none, end the program. */
void *ctl_alloc(size_t size)
{
	return link_chunk(calloc(1, sizeof(struct ctl_chunk) + size));
}

/* Free the memory that one of these functions returned. NULL is allowed. */
void ctl_free(void *p)
{
	if (p)
		free(unlink_chunk(p));
}

/**
 * ctl_grow() - make room for one more entry, zeroed
 * @array: NULL or what the last call returned
 * @entries: entries of the array
 * @size: bytes of an entry
 *
 * Return: the array, which may have moved
 */
void *ctl_grow(void *array, size_t entries, size_t size)
{
	struct ctl_chunk *chunk = array ? unlink_chunk(array) : NULL;
	size_t bytes;
	char *p;

	if (__builtin_mul_overflow(entries + 1, size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*chunk), &bytes))
		chunk = NULL;
	else
		chunk = realloc(chunk, bytes);
	p = link_chunk(chunk);
	memset(p + entries * size, 0, size);
	return p;
}

char *ctl_strdup(const char *s)
{
	size_t size = strlen(s) + 1;

	return memcpy(ctl_alloc(size), s, size);
}

char *ctl_asprintf(const char *fmt, ...)
{
	va_list ap, again;
	char *s;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	s = ctl_alloc(n < 0 ? 1 : n + 1);
	if (n > 0)
		vsnprintf(s, n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return s;
}

/* Print a number, a word or an address into one of a few static buffers. */
const char *ctl_brief(const char *fmt, ...)
{
	static char buf[32][64];
	static unsigned int turn;
	va_list ap;

	turn = (turn + 1) % CTL_ARRAY_SIZE(buf);
	va_start(ap, fmt);
	vsnprintf(buf[turn], sizeof(buf[turn]), fmt, ap);
	va_end(ap);
	return buf[turn];
}

/* Read an unsigned integer of any size. */
uint64_t ctl_load(const void *at, size_t size)
{
	switch (size) {
	case sizeof(uint8_t):
		return *(const uint8_t *)at;
	case sizeof(uint16_t):
		return *(const uint16_t *)at;
	case sizeof(uint32_t):
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

/* Write an unsigned integer of any size. */
void ctl_store(void *at, size_t size, uint64_t num)
{
	switch (size) {
	case sizeof(uint8_t):
		*(uint8_t *)at = (uint8_t)num;
		break;
	case sizeof(uint16_t):
		*(uint16_t *)at = (uint16_t)num;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)at = (uint32_t)num;
		break;
	default:
		*(uint64_t *)at = num;
	}
}

/**
 * ctl_clean() - a string that is safe on a terminal and stays on one line
 * @s: string of the kernel, which may have come from another host
 *
 * Return: a copy with '?' for each control character
 */
char *ctl_clean(const char *s)
{
	char *copy = ctl_strdup(s), *p;

	for (p = copy; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '?';
	return copy;
}

/**
 * ctl_utf8_len() - measure a character of UTF-8
 * @c: bytes, with a zero byte somewhere behind them
 *
 * Return: bytes of the character; 0: the bytes are none
 */
unsigned int ctl_utf8_len(const unsigned char *c)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	unsigned int more = *c < 0xc0 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3, i;
	uint32_t code = *c & (0x3f >> more);

	if (*c < 0x80)
		return 1;
	for (i = 1; i <= more && (c[i] & 0xc0) == 0x80; i++)
		code = code << 6 | (c[i] & 0x3f);
	if (!more || *c >= 0xf8 || i <= more || code < least[more] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return i;
}

/* A function to call before an error is printed, or NULL. */
void (*ctl_before_err)(void);

/* Print "program: ..." on standard error, after everything that was printed on standard output. */
void ctl_err(const char *fmt, ...)
{
	va_list ap;

	if (ctl_before_err)
		ctl_before_err();
	fflush(stdout);
	fprintf(stderr, "%s: ", ctl_program);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/**
 * ctl_flush() - flush standard output, and make it a failure if that did not work
 * @rc: exit code so far
 *
 * Return: exit code
 */
int ctl_flush(int rc)
{
	if (!fflush(stdout) && !ferror(stdout))
		return rc;
	if (errno != EPIPE)
		ctl_err("output: %s", strerror(errno));
	return rc ? rc : CTL_FAILED;
}
