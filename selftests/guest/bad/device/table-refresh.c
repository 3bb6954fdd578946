// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refreshes of a table of mode read, and intervals: what they promise, and what wrong numbers and
 * any intervals do, while attachments come and go.
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

#define READ_ROWS	9	/* a table of mode read of nodes 1, 2 and 3 */
#define WRITE		SPINDLE_TABLE_WRITE
#define WAIT		20000
#define CELL		3
#define ROUNDS		200
#define COMERS		300

/* A writer of node 1, and its row as nodes 2 and 3 have it. */
static struct cells w, reader[2];
static const uint64_t *row[2];
static uint64_t version, number[2];

static struct spindle_table_attach args_of(uint32_t node, uint32_t flags, int event_fd)
{
	struct spindle_table_attach a = cells_args(node, READ_ROWS, flags);

	a.event_fd = event_fd;
	return a;
}

static void begin(int event_fd)
{
	uint32_t i;

	table_attach(&w, args_of(1, WRITE, -1));
	for (i = 0; i < 2; i++) {
		table_attach(&reader[i], args_of(2 + i, 0, i ? -1 : event_fd));
		row[i] = cells_map(&reader[i], &reader[i].a.rows, w.a.own_instance, PROT_READ);
		if (!row[i])
			die("mmap: %s", strerror(errno));
	}
	version = w.own[CELL * cells_words(&w) + cells_words(&w) - 2];
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

static void ask(const struct cells *c, uint64_t refresh)
{
	if (cells_refresh(c, refresh))
		die("kick: %s", strerror(errno));
}

static void put(void)
{
	cells_write(&w, CELL, ++version);
}

/* Wait by poll() for the end of a new refresh. */
static bool refreshes(uint32_t i)
{
	ask(&reader[i], ++number[i]);
	return pollable(reader[i].fd, POLLRDBAND, POLLRDBAND, WAIT) &&
	       cells_refreshed(&reader[i]) == number[i];
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

/* ---- refreshes --------------------------------------------------------------- */

static void test_promise(void)
{
	bool ends = true, whole = true;
	uint32_t i;

	is(w.a.mode, SPINDLE_MODE_TABLE_READ, "refresh: the reply has the mode");
	ok(pollable(reader[0].fd, POLLRDBAND, POLLRDBAND, 0), "refresh: none at first");
	for (i = 0; i < ROUNDS && ends && whole; i++) {
		put();
		ends = refreshes(0) && refreshes(1);
		whole = has_version(0) && has_version(1);
	}
	ok(ends, "refresh: each of %u ends", ROUNDS);
	ok(whole, "refresh: nodes 2 and 3 have the value then");
	ok(refreshes(0), "refresh: one with nothing new ends, too");
}

/* Nothing is read that nobody has asked for. */
static void test_quiet(void)
{
	put();
	usleep(100000);
	ok(!has_version(0) && !has_version(1), "refresh: without one nobody has the next value");
	ok(refreshes(1), "refresh: node 3 asks");
	ok(has_version(1) && !has_version(0), "refresh: node 3 has it, and node 2 has not");
}

/* Numbers of any order are numbers. */
static void test_numbers(void)
{
	static const uint64_t wild[] = { UINT64_MAX, 5, 4, 1ULL << 63, 0, 7 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(wild); i++) {
		ask(&reader[0], wild[i]);
		ok(pollable(reader[0].fd, POLLRDBAND, POLLRDBAND, WAIT) &&
		   cells_refreshed(&reader[0]) == wild[i], "refresh: number %#llx ends",
		   (unsigned long long)wild[i]);
	}
	for (i = 0; i < 100000; i++)
		ask(&reader[0], mix(i));
	ok(pollable(reader[0].fd, POLLRDBAND, POLLRDBAND, WAIT),
	   "refresh: the last of 100000 numbers ends");
	number[0] = 1000000;
	put();
	ok(refreshes(0) && has_version(0), "refresh: the next one keeps its promise");
}

/* Each attachment has numbers of its own, and any may ask. */
static void test_own_numbers(void)
{
	uint64_t other = cells_refreshed(&reader[1]);

	ok(refreshes(0), "refresh: node 2 asks");
	is(cells_refreshed(&reader[1]), other, "refresh: node 3 sees no end of that");
	ask(&w, 77);
	ok(pollable(w.fd, POLLRDBAND, POLLRDBAND, WAIT) && cells_refreshed(&w) == 77,
	   "refresh: a writer may ask, too");
}

static void test_eventfd(int event_fd)
{
	uint64_t n = 0;

	if (read(event_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		die("read: %s", strerror(errno));
	/* Nothing has changed, so only the end of the refresh signals. */
	ok(refreshes(0), "refresh: one more ends");
	ok(read(event_fd, &n, sizeof(n)) == sizeof(n) && n, "refresh: the eventfd is signalled");
}

/* A table of mode write has none. */
static void test_other_mode(void)
{
	struct cells c;

	table_attach(&c, table_args(2, 0, -1));
	is(c.a.mode, SPINDLE_MODE_TABLE, "refresh: another table is of mode write");
	ask(&c, 9);
	ok(refreshes(0), "refresh: one of this table ends");
	ok(!cells_refreshed(&c) && pollable(c.fd, POLLRDBAND, 0, 0),
	   "refresh: that table has none, and no POLLRDBAND");
	cells_detach(&c);
}

/* A flush has nothing to wait for, and members to skip mean nothing. */
static void test_flush(void)
{
	uint64_t *mask = (uint64_t *)(w.usr + w.a.usr_skip);

	memset(mask, 0xff, (w.a.instances + 63) / 64 * 8);
	put();
	__atomic_store_n((uint64_t *)(w.usr + w.a.usr_flush), 5, __ATOMIC_RELEASE);
	if (cells_kick(&w))
		die("kick: %s", strerror(errno));
	ok(pollable(w.fd, POLLOUT, POLLOUT, WAIT), "refresh: a flush ends");
	ok(refreshes(0) && has_version(0), "refresh: a member to skip is read");
	memset(mask, 0, (w.a.instances + 63) / 64 * 8);
}

/* ---- intervals ----------------------------------------------------------------- */

static void test_every(void)
{
	static const uint64_t us[] = { 1, 1000, 0, UINT64_MAX, 1ULL << 63, UINT64_MAX / 1000, 1 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(us); i++) {
		cells_every(&reader[0], us[i]);
		put();
		ok(refreshes(0) && has_version(0), "every %#llx us: a refresh ends",
		   (unsigned long long)us[i]);
	}
	put();
	ok(gets_version(0), "every: a short interval needs no refresh");
	ok(!has_version(1), "every: the interval is one of this node");
	cells_every(&reader[0], UINT64_MAX);
	cells_every(&reader[1], 500);
	put();
	ok(gets_version(1), "every: node 3 reads at an interval");
	cells_every(&reader[0], 0);
	cells_every(&reader[1], 0);
}

/* One attachment of a node. Most of them ask, and go before there is an answer. */
static void come(uint32_t i)
{
	static const uint64_t us[] = { 0, 1, UINT64_MAX, 7, 100 };
	struct cells c;

	table_attach(&c, args_of(2 + i % 2, 0, -1));
	cells_every(&c, us[i % ARRAY_SIZE(us)]);
	if (i % 4)
		ask(&c, mix(i));
	if (i % 7 == 0)
		ok(pollable(c.fd, POLLRDBAND, POLLRDBAND, WAIT), "come %u: its refresh ends", i);
	cells_detach(&c);
}

static void test_come_and_go(void)
{
	uint32_t i;

	for (i = 0; i < COMERS; i++)
		come(i);
	/* The interval of one that has gone counts no more. */
	put();
	ok(refreshes(0) && has_version(0), "come: the next refresh keeps its promise");
	put();
	usleep(100000);
	ok(!has_version(0), "come: no interval is left");
}

void part_refresh(void)
{
	int event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	begin(event_fd);
	test_promise();
	test_quiet();
	test_numbers();
	test_own_numbers();
	test_eventfd(event_fd);
	test_other_mode();
	test_flush();
	test_every();
	test_come_and_go();
	end();
	close(event_fd);
}
