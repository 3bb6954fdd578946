// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flushes of a table, and members to skip: what they promise, and what wrong numbers and masks do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "dev-bad.h"
#include "table.h"
#include "tap.h"

#define WRITE	SPINDLE_TABLE_WRITE
#define WAIT	20000
#define ROUNDS	200

static struct table_trio t;
static uint64_t number;

static uint64_t flushed(const struct cells *c)
{
	return __atomic_load_n((uint64_t *)(c->ctl + c->a.ctl_flushed), __ATOMIC_ACQUIRE);
}

static void ask(const struct cells *c, uint64_t flush)
{
	__atomic_store_n((uint64_t *)(c->usr + c->a.usr_flush), flush, __ATOMIC_RELEASE);
	if (cells_kick(c))
		die("kick: %s", strerror(errno));
}

static void skip(uint32_t instance, bool on)
{
	uint64_t *word = (uint64_t *)(t.w.usr + t.w.a.usr_skip) + instance / 64;

	if (on)
		__atomic_fetch_or(word, 1ULL << instance % 64, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(word, ~(1ULL << instance % 64), __ATOMIC_RELAXED);
	if (cells_kick(&t.w))
		die("kick: %s", strerror(errno));
}

/* Wait by poll() for the end of a new flush. */
static bool flushes(void)
{
	ask(&t.w, ++number);
	return pollable(t.w.fd, POLLOUT, POLLOUT, WAIT) && flushed(&t.w) == number;
}

/* ---- flushes ----------------------------------------------------------------- */

static void test_promise(void)
{
	bool ends = true, whole = true;
	uint32_t i;

	ok(pollable(t.w.fd, POLLOUT, POLLOUT, 0), "flush: none is under way at first");
	for (i = 0; i < ROUNDS && ends && whole; i++) {
		table_trio_put(&t);
		ends = flushes();
		whole = table_trio_has(&t, 0) && table_trio_has(&t, 1);
	}
	ok(ends, "flush: each of %u ends", ROUNDS);
	ok(whole, "flush: nodes 2 and 3 have the value then");
	ok(flushes(), "flush: one with nothing to send ends, too");
}

/* Numbers of any order are numbers. */
static void test_numbers(void)
{
	static const uint64_t wild[] = { UINT64_MAX, 5, 4, 1ULL << 63, 0, 7 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(wild); i++) {
		ask(&t.w, wild[i]);
		ok(pollable(t.w.fd, POLLOUT, POLLOUT, WAIT) && flushed(&t.w) == wild[i],
		   "flush: number %#llx ends", (unsigned long long)wild[i]);
	}
	for (i = 0; i < 100000; i++)
		ask(&t.w, mix(i));
	ok(pollable(t.w.fd, POLLOUT, POLLOUT, WAIT), "flush: the last of 100000 numbers ends");
	number = 1000000;
	table_trio_put(&t);
	ok(flushes() && table_trio_has(&t, 0), "flush: the next one keeps its promise");
}

static void test_reader(void)
{
	ask(&t.reader[0], 9);
	table_trio_put(&t);
	ok(flushes() && !flushed(&t.reader[0]), "flush: a reader has none");
	ok(pollable(t.reader[0].fd, POLLOUT, 0, 0), "flush: POLLOUT is for the writer");
}

static void test_eventfd(int event_fd)
{
	uint64_t n = 0;

	if (read(event_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		die("read: %s", strerror(errno));
	/* Nothing has changed, so only the end of the flush signals. */
	ok(flushes(), "flush: one more ends");
	ok(read(event_fd, &n, sizeof(n)) == sizeof(n) && n, "flush: the eventfd is signalled");
}

/* ---- members to skip ------------------------------------------------------------ */

static void test_skip(void)
{
	uint32_t instance = t.reader[0].a.own_instance;

	table_trio_put(&t);
	ok(flushes() && table_trio_has(&t, 0), "skip: node 2 has the value before");
	skip(instance, true);
	table_trio_put(&t);
	ok(flushes(), "skip: no flush waits for node 2");
	ok(table_trio_has(&t, 1), "skip: node 3 has the next value");
	ok(!table_trio_has(&t, 0), "skip: node 2 has not");
	skip(instance, false);
	ok(table_trio_gets(&t, 0), "skip: node 2 gets it when the process takes it in again");
	table_trio_put(&t);
	ok(flushes() && table_trio_has(&t, 0), "skip: flushes wait for node 2 again");
}

static void test_skip_all(void)
{
	uint64_t *mask = (uint64_t *)(t.w.usr + t.w.a.usr_skip);

	memset(mask, 0xff, (t.w.a.instances + 63) / 64 * 8);
	table_trio_put(&t);
	ok(flushes(), "skip: a flush of no member ends");
	ok(!table_trio_has(&t, 0) && !table_trio_has(&t, 1), "skip: nobody gets the value");
	memset(mask, 0, (t.w.a.instances + 63) / 64 * 8);
	ok(flushes() && table_trio_has(&t, 0) && table_trio_has(&t, 1),
	   "skip: a flush takes all in again");
	memset(mask, 0xff, (t.w.a.instances + 63) / 64 * 8);
	table_trio_put(&t);
}

/* A writer ends in the middle of the guard. */
static void test_torn_guard(void)
{
	t.w.own[0]++;
	cells_detach(&t.w);
	table_attach(&t.w, table_args(1, WRITE, -1));
	number = 0;
	table_trio_put(&t);
	ok(flushes() && table_trio_has(&t, 0),
	   "flush: one of the next writer does not wait for the guard");
	t.w.own[0]--;
}

void part_flush(void)
{
	int event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	table_trio_open(&t, ROWS, event_fd, -1);
	test_promise();
	test_numbers();
	test_reader();
	test_eventfd(event_fd);
	test_skip();
	test_skip_all();
	cells_detach(&t.w);
	ok(table_trio_gets(&t, 0) && table_trio_gets(&t, 1),
	   "skip: the end of the writer skips nobody");
	table_attach(&t.w, table_args(1, WRITE, -1));
	is(flushed(&t.w), 0, "flush: a new writer has none");
	test_torn_guard();
	table_trio_close(&t);
	close(event_fd);
}
