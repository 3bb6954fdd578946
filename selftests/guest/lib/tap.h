/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of a program that runs in a test guest: lines of TAP without numbers, which
 * tap_run of scripts/lib/lib-tap.sh counts together with those of the script.
 */
#ifndef SPINDLE_GUEST_TAP_H
#define SPINDLE_GUEST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selfcheck.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* All files of a program share this counter. */
__attribute__((weak)) int tap_bad;

/* One test; returns whether it holds. */
__attribute__((format(printf, 2, 3)))
static inline bool ok(bool good, const char *fmt, ...)
{
	va_list ap;

	tap_bad += !good;
	printf("%s - ", good ? "ok" : "not ok");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	return good;
}

/* The same for two numbers. The line shows them if they differ. */
__attribute__((format(printf, 3, 4)))
static inline bool is(long long have, long long want, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!ok(have == want, "%s", text))
		printf("# have %lld, want %lld\n", have, want);
	fflush(stdout);
	return have == want;
}

/* End a program that cannot go on. */
#define die(...) do {				\
	printf("# ");				\
	printf(__VA_ARGS__);			\
	putchar('\n');				\
	ok(false, "ran to its end");		\
	exit(1);				\
} while (0)

#endif /* SPINDLE_GUEST_TAP_H */
