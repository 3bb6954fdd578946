// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory, strings and messages of spindle-ctl.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

struct ctl_opts ctl_opts;

static void *check(void *p)
{
	if (!p) {
		fputs("spindle-ctl: out of memory\n", stderr);
		exit(CTL_FAILED);
	}
	return p;
}

/* Zeroed memory, or the end of the program. */
void *ctl_alloc(size_t size)
{
	return check(calloc(1, size));
}

/**
 * ctl_grow() - make room for one more entry, zeroed
 * @array: NULL or what the last call returned
 * @entries: entries that it has
 * @size: bytes of an entry
 *
 * Return: the array, moved perhaps
 */
void *ctl_grow(void *array, size_t entries, size_t size)
{
	char *p = check(reallocarray(array, entries + 1, size));

	memset(p + entries * size, 0, size);
	return p;
}

char *ctl_strdup(const char *s)
{
	return check(strdup(s));
}

char *ctl_asprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return check(n < 0 ? NULL : s);
}

/**
 * ctl_clean() - a string that is safe on a terminal and stays on one line
 * @s: string of the kernel, which may have had it from another host
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

/* "spindle-ctl: ..." on the error output. What was printed before comes before. */
void ctl_err(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("spindle-ctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/**
 * ctl_flush() - output that could not be written is a failure
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
