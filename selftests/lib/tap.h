/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test Anything Protocol for all tests in C.
 *
 * A test is a call of ok(), or a case: CHECKs between tap_begin() and tap_report() note what does
 * not hold. A case continues after a CHECK that fails, so that one run shows all errors. A table of
 * cases runs by tap_run(), which prints the plan first. All other programs call tap_end() last.
 *
 * With TAP_OF_SCRIPT lines have no numbers, because tap_run of lib-tap.sh counts them together with
 * those of the script that runs the program.
 *
 * Owner: the program, whose files share the counters. Context: one thread at a time.
 */
#ifndef SPINDLE_SELFTESTS_TAP_H
#define SPINDLE_SELFTESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

/* Failures that one case prints. A broken loop must not fill the disk. */
#define TAP_SHOWN 10

__attribute__((weak)) unsigned int tap_count;
__attribute__((weak)) unsigned int tap_bad;
__attribute__((weak)) const char *tap_name = "";	/* of the case that runs */
__attribute__((weak)) unsigned int tap_failures;	/* in this case */

static inline void tap_line(bool good, const char *text)
{
	tap_bad += !good;
#ifdef TAP_OF_SCRIPT
	printf("%sok - %s\n", good ? "" : "not ", text);
#else
	printf("%sok %u - %s\n", good ? "" : "not ", ++tap_count, text);
#endif
	fflush(stdout);
}

/* One test; returns whether it holds. */
__attribute__((format(printf, 2, 3)))
static inline bool ok(bool good, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tap_line(good, text);
	return good;
}

/* The same for two numbers. The line shows them if they differ. */
__attribute__((format(printf, 3, 4)))
static inline bool is(long long have, long long want, const char *fmt, ...)
{
	char text[512];
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

/* End the program at once, if going on makes no sense or would never end. */
static inline void bail_out(const char *why)
{
	printf("Bail out! %s: %s\n", tap_name, why);
	fflush(stdout);
	_exit(1);
}

#define CHECK(cond) tap_check((cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(a, b) tap_equal((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a " == " #b)

static inline bool tap_check(bool good, const char *file, int line, const char *what)
{
	if (!good && ++tap_failures <= TAP_SHOWN)
		printf("# %s:%d: not so: %s\n", file, line, what);
	return good;
}

static inline bool tap_equal(uint64_t a, uint64_t b, const char *file, int line, const char *what)
{
	if (a != b && ++tap_failures <= TAP_SHOWN)
		printf("# %s:%d: not so: %s (%llu, %llu)\n", file, line, what,
		       (unsigned long long)a, (unsigned long long)b);
	return a == b;
}

__attribute__((format(printf, 1, 2)))
static inline void tap_fail(const char *fmt, ...)
{
	va_list ap;

	if (++tap_failures > TAP_SHOWN)
		return;
	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static inline void tap_begin(const char *name)
{
	tap_name = name;
	tap_failures = 0;
}

static inline void tap_report(void)
{
	tap_line(!tap_failures, tap_name);
}

struct tap_case {
	const char *name;
	void (*fn)(void);
};

/* With TAP_STOP in the environment, no case follows the first one that fails. */
static inline void tap_cases(const struct tap_case *cases, size_t n)
{
	size_t i;

	for (i = 0; i < n && !(tap_bad && getenv("TAP_STOP")); i++) {
		tap_begin(cases[i].name);
		cases[i].fn();
		tap_report();
	}
}

/* The plan behind the tests. Return: exit status of the program. */
static inline int tap_end(void)
{
	printf("1..%u\n", tap_count);
	return tap_bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A program that has nothing but cases. Return: its exit status. */
static inline int tap_run(const struct tap_case *cases, size_t n)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", n);
	tap_cases(cases, n);
	return tap_bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A program that runs the part that its argument names. Return: its exit status. */
static inline int tap_part(const char *program, const struct tap_case *parts, size_t n, int argc,
			   char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < n; i++) {
		if (strcmp(argv[1], parts[i].name))
			continue;
		parts[i].fn();
		return tap_bad != 0;
	}
	fprintf(stderr, "usage: %s PART\n", program);
	return 2;
}

#endif /* SPINDLE_SELFTESTS_TAP_H */
