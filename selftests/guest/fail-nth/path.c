// SPDX-License-Identifier: GPL-2.0-only
/*
 * A path: an operation is repeated, each of its allocations fails once, and certain properties must
 * hold.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "nth.h"
#include "path.h"
#include "shown.h"
#include "tap.h"

const int errs_mem[] = { ENOMEM, 0 };
const int errs_netlink[] = { ENOMEM, ENOBUFS, 0 };
const int errs_thread[] = { ENOMEM, EAGAIN, 0 };

void nothing(void *ctx)
{
	(void)ctx;
}

static bool documented(const struct op *op, int err)
{
	const int *e;

	for (e = op->errs; *e; e++)
		if (err == -*e)
			return true;
	return false;
}

static struct {
	unsigned int failed, refused, unharmed, bad;
} count;

/* Print one line for each of the first few errors of a path. */
__attribute__((format(printf, 2, 3)))
static void wrong(const struct op *op, const char *fmt, ...)
{
	va_list ap;

	if (count.bad++ > 10)
		return;
	printf("# %s, allocation %u: ", op->name, nth);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static struct shown before, now, done;

/* The operation has succeeded: check its effect, and undo it. */
static void succeeded(const struct op *op)
{
	look(&now);
	if (!same(&now, &done))
		wrong(op, "the result differs from a run without failures");
	if (op->after && !op->after(op->ctx))
		wrong(op, "the created object does not work");
	op->undo(op->ctx);
	look(&now);
	if (!same(&now, &before))
		wrong(op, "what is left behind differs from what was before");
}

/* Do the operation again, without a failure. */
static bool again(const struct op *op)
{
	unsigned int n = nth;
	int err;

	nth = 0;
	err = op->run(op->ctx);
	nth = n;
	if (err)
		wrong(op, "then it fails for good: %s", strerror(-err));
	else
		succeeded(op);
	return !err;
}

/* Let the nth allocation fail. Returns false if there is none. */
static bool one(const struct op *op)
{
	int err = op->run(op->ctx);
	bool hit = fired;

	if (!hit) {
		if (err)
			wrong(op, "without a failure: %s", strerror(-err));
		else
			succeeded(op);
		return false;
	}
	count.failed++;
	if (!err) {
		count.unharmed++;
		succeeded(op);
		return true;
	}
	if (!documented(op, err))
		wrong(op, "refused with %s", strerror(-err));
	look(&now);
	/* The answer could not be sent, and the operation has happened. */
	if (err == -ENOBUFS && !same(&now, &before)) {
		count.unharmed++;
		succeeded(op);
		return true;
	}
	count.refused++;
	if (!same(&now, &before))
		wrong(op, "refused, and yet something has changed");
	return again(op);
}

void path(const struct op *op)
{
	long start = now_ms();
	struct usage first, last;
	unsigned int n;

	memset(&count, 0, sizeof(count));
	/*
	 * Do the operation twice without a failure, because the kernel keeps memory for the next
	 * time.
	 */
	nth = 0;
	look(&before);
	if (op->run(op->ctx))
		die("%s: it does not work at all", op->name);
	look(&done);
	op->undo(op->ctx);
	look(&now);
	if (!same(&now, &before))
		wrong(op, "the operation cannot be undone");
	again(op);
	first = usage();
	for (nth = 1; nth < MAX_NTH && one(op) && count.bad < 20; nth++)
		;
	n = nth;
	nth = 0;
	last = usage();
	ok(count.failed && !count.refused == op->never && !count.bad && n < MAX_NTH,
	   "%s: %u allocations failed, %u refusals, %u times no effect", op->name,
	   count.failed, count.refused, count.unharmed);
	is(last.maps, first.maps, "%s: mappings in use", op->name);
	printf("# pages in use: %+ld, %ld ms\n", last.pages - first.pages, now_ms() - start);
	/* The kernel's own use of pages varies by a few hundred now and then. */
	if (count.refused >= 500)
		ok(last.pages - first.pages < (long)count.refused,
		   "%s: less than a page per refusal", op->name);
	fflush(stdout);
}
