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
#define CELL	3
#define ROUNDS	200

/* A writer of node 1, and its row as nodes 2 and 3 have it. */
static struct cells w, reader[2];
static const uint64_t *row[2];
static uint64_t version, number;

static void begin(int event_fd)
{
	uint32_t i;

	table_attach(&w, table_args(1, WRITE, event_fd));
	for (i = 0; i < 2; i++) {
		table_attach(&reader[i], table_args(2 + i, 0, -1));
		row[i] = cells_map(&reader[i], &reader[i].a.rows, w.a.own_instance, PROT_READ);
		if (!row[i])
			die("mmap: %s", strerror(errno));
	}
	version = w.own[CELL * cells_words(&w) + cells_words(&w) - 2];
	number = 0;
}

static void end(void)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		munmap((void *)row[i], reader[i].a.rows.len);
		cells_detach(&reader[i]);
	}
	cells_detach(&w);
}

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
	uint64_t *word = (uint64_t *)(w.usr + w.a.usr_skip) + instance / 64;

	if (on)
		__atomic_fetch_or(word, 1ULL << instance % 64, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(word, ~(1ULL << instance % 64), __ATOMIC_RELAXED);
	if (cells_kick(&w))
		die("kick: %s", strerror(errno));
}

static void put(void)
{
	cells_write(&w, CELL, ++version);
}

/* Wait by poll() for the end of a new flush. */
static bool flushes(void)
{
	ask(&w, ++number);
	return pollable(w.fd, POLLOUT, POLLOUT, WAIT) && flushed(&w) == number;
}

static bool has_version(uint32_t i)
{
	uint64_t seen = 0;

	return !cells_read(&reader[i], row[i], CELL, &seen) && seen == version;
}

static bool gets_version(uint32_t i)
{
	int left;

	for (left = WAIT; left && !has_version(i); left--)
		usleep(1000);
	return left;
}

/* ---- flushes ----------------------------------------------------------------- */

static void test_promise(void)
{
	bool ends = true, whole = true;
	uint32_t i;

	ok(pollable(w.fd, POLLOUT, POLLOUT, 0), "flush: none is under way at first");
	for (i = 0; i < ROUNDS && ends && whole; i++) {
		put();
		ends = flushes();
		whole = has_version(0) && has_version(1);
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
		ask(&w, wild[i]);
		ok(pollable(w.fd, POLLOUT, POLLOUT, WAIT) && flushed(&w) == wild[i],
		   "flush: number %#llx ends", (unsigned long long)wild[i]);
	}
	for (i = 0; i < 100000; i++)
		ask(&w, mix(i));
	ok(pollable(w.fd, POLLOUT, POLLOUT, WAIT), "flush: the last of 100000 numbers ends");
	number = 1000000;
	put();
	ok(flushes() && has_version(0), "flush: the next one keeps its promise");
}

static void test_reader(void)
{
	ask(&reader[0], 9);
	put();
	ok(flushes() && !flushed(&reader[0]), "flush: a reader has none");
	ok(pollable(reader[0].fd, POLLOUT, 0, 0), "flush: POLLOUT is for the writer");
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
	uint32_t instance = reader[0].a.own_instance;

	put();
	ok(flushes() && has_version(0), "skip: node 2 has the value before");
	skip(instance, true);
	put();
	ok(flushes(), "skip: no flush waits for node 2");
	ok(has_version(1), "skip: node 3 has the next value");
	ok(!has_version(0), "skip: node 2 has not");
	skip(instance, false);
	ok(gets_version(0), "skip: node 2 gets it when the process takes it in again");
	put();
	ok(flushes() && has_version(0), "skip: flushes wait for node 2 again");
}

static void test_skip_all(void)
{
	uint64_t *mask = (uint64_t *)(w.usr + w.a.usr_skip);

	memset(mask, 0xff, (w.a.instances + 63) / 64 * 8);
	put();
	ok(flushes(), "skip: a flush of no member ends");
	ok(!has_version(0) && !has_version(1), "skip: nobody gets the value");
	memset(mask, 0, (w.a.instances + 63) / 64 * 8);
	ok(flushes() && has_version(0) && has_version(1), "skip: a flush takes all in again");
	memset(mask, 0xff, (w.a.instances + 63) / 64 * 8);
	put();
}

/* A writer ends in the middle of the guard. */
static void test_torn_guard(void)
{
	w.own[0]++;
	cells_detach(&w);
	table_attach(&w, table_args(1, WRITE, -1));
	number = 0;
	put();
	ok(flushes() && has_version(0), "flush: one of the next writer does not wait for the guard");
	w.own[0]--;
}

void part_flush(void)
{
	int event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	begin(event_fd);
	test_promise();
	test_numbers();
	test_reader();
	test_eventfd(event_fd);
	test_skip();
	test_skip_all();
	cells_detach(&w);
	ok(gets_version(0) && gets_version(1), "skip: the end of the writer skips nobody");
	table_attach(&w, table_args(1, WRITE, -1));
	is(flushed(&w), 0, "flush: a new writer has none");
	test_torn_guard();
	end();
	close(event_fd);
}
