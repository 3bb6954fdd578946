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
#define WAIT		20000
#define ROUNDS		200
#define COMERS		300

static struct table_trio t;
static uint64_t number[2];

static void ask(const struct cells *c, uint64_t refresh)
{
	if (cells_refresh(c, refresh))
		die("kick: %s", strerror(errno));
}

/* Wait by poll() for the end of a new refresh. */
static bool refreshes(uint32_t i)
{
	ask(&t.reader[i], ++number[i]);
	return pollable(t.reader[i].fd, POLLRDBAND, POLLRDBAND, WAIT) &&
	       cells_refreshed(&t.reader[i]) == number[i];
}

/* ---- refreshes --------------------------------------------------------------- */

static void test_promise(void)
{
	bool ends = true, whole = true;
	uint32_t i;

	is(t.w.a.mode, SPINDLE_MODE_TABLE_READ, "refresh: the reply has the mode");
	ok(pollable(t.reader[0].fd, POLLRDBAND, POLLRDBAND, 0), "refresh: none at first");
	for (i = 0; i < ROUNDS && ends && whole; i++) {
		table_trio_put(&t);
		ends = refreshes(0) && refreshes(1);
		whole = table_trio_has(&t, 0) && table_trio_has(&t, 1);
	}
	ok(ends, "refresh: each of %u ends", ROUNDS);
	ok(whole, "refresh: nodes 2 and 3 have the value then");
	ok(refreshes(0), "refresh: one with nothing new ends, too");
}

/* Nothing is read that nobody has asked for. */
static void test_quiet(void)
{
	table_trio_put(&t);
	usleep(100000);
	ok(!table_trio_has(&t, 0) && !table_trio_has(&t, 1),
	   "refresh: without one nobody has the next value");
	ok(refreshes(1), "refresh: node 3 asks");
	ok(table_trio_has(&t, 1) && !table_trio_has(&t, 0),
	   "refresh: node 3 has it, and node 2 has not");
}

/* Numbers of any order are numbers. */
static void test_numbers(void)
{
	static const uint64_t wild[] = { UINT64_MAX, 5, 4, 1ULL << 63, 0, 7 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(wild); i++) {
		ask(&t.reader[0], wild[i]);
		ok(pollable(t.reader[0].fd, POLLRDBAND, POLLRDBAND, WAIT) &&
		   cells_refreshed(&t.reader[0]) == wild[i], "refresh: number %#llx ends",
		   (unsigned long long)wild[i]);
	}
	for (i = 0; i < 100000; i++)
		ask(&t.reader[0], mix(i));
	ok(pollable(t.reader[0].fd, POLLRDBAND, POLLRDBAND, WAIT),
	   "refresh: the last of 100000 numbers ends");
	number[0] = 1000000;
	table_trio_put(&t);
	ok(refreshes(0) && table_trio_has(&t, 0), "refresh: the next one keeps its promise");
}

/* Each attachment has numbers of its own, and any may ask. */
static void test_own_numbers(void)
{
	uint64_t other = cells_refreshed(&t.reader[1]);

	ok(refreshes(0), "refresh: node 2 asks");
	is(cells_refreshed(&t.reader[1]), other, "refresh: node 3 sees no end of that");
	ask(&t.w, 77);
	ok(pollable(t.w.fd, POLLRDBAND, POLLRDBAND, WAIT) && cells_refreshed(&t.w) == 77,
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
	uint64_t *mask = (uint64_t *)(t.w.usr + t.w.a.usr_skip);

	memset(mask, 0xff, (t.w.a.instances + 63) / 64 * 8);
	table_trio_put(&t);
	__atomic_store_n((uint64_t *)(t.w.usr + t.w.a.usr_flush), 5, __ATOMIC_RELEASE);
	if (cells_kick(&t.w))
		die("kick: %s", strerror(errno));
	ok(pollable(t.w.fd, POLLOUT, POLLOUT, WAIT), "refresh: a flush ends");
	ok(refreshes(0) && table_trio_has(&t, 0), "refresh: a member to skip is read");
	memset(mask, 0, (t.w.a.instances + 63) / 64 * 8);
}

/* ---- intervals ----------------------------------------------------------------- */

static void test_every(void)
{
	static const uint64_t us[] = { 1, 1000, 0, UINT64_MAX, 1ULL << 63, UINT64_MAX / 1000, 1 };
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(us); i++) {
		cells_every(&t.reader[0], us[i]);
		table_trio_put(&t);
		ok(refreshes(0) && table_trio_has(&t, 0), "every %#llx us: a refresh ends",
		   (unsigned long long)us[i]);
	}
	table_trio_put(&t);
	ok(table_trio_gets(&t, 0), "every: a short interval needs no refresh");
	ok(!table_trio_has(&t, 1), "every: the interval is one of this node");
	cells_every(&t.reader[0], UINT64_MAX);
	cells_every(&t.reader[1], 500);
	table_trio_put(&t);
	ok(table_trio_gets(&t, 1), "every: node 3 reads at an interval");
	cells_every(&t.reader[0], 0);
	cells_every(&t.reader[1], 0);
}

/* One attachment of a node. Most of them ask, and go before there is an answer. */
static void come(uint32_t i)
{
	static const uint64_t us[] = { 0, 1, UINT64_MAX, 7, 100 };
	struct cells c;

	table_attach(&c, table_args_of(2 + i % 2, READ_ROWS, 0, -1));
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
	table_trio_put(&t);
	ok(refreshes(0) && table_trio_has(&t, 0), "come: the next refresh keeps its promise");
	table_trio_put(&t);
	usleep(100000);
	ok(!table_trio_has(&t, 0), "come: no interval is left");
}

void part_refresh(void)
{
	int event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	table_trio_open(&t, READ_ROWS, -1, event_fd);
	test_promise();
	test_quiet();
	test_numbers();
	test_own_numbers();
	test_eventfd(event_fd);
	test_other_mode();
	test_flush();
	test_every();
	test_come_and_go();
	table_trio_close(&t);
	close(event_fd);
}
