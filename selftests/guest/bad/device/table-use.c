// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses of a table: mappings, poll(), and the end of its view.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "dev-bad.h"
#include "map.h"
#include "table.h"
#include "tap.h"

#define WRITE	SPINDLE_TABLE_WRITE
#define WAIT	20000

void table_attach(struct cells *c, struct spindle_table_attach a)
{
	int err = cells_attach(c, a);

	if (err)
		die("attach to node %u table %u: %s", a.node, a.table, strerror(-err));
}

static const void *must_map_row(const struct cells *c, uint32_t instance)
{
	const void *row = cells_map(c, &c->a.rows, instance, PROT_READ);

	if (!row)
		die("mmap: %s", strerror(errno));
	return row;
}

/* ---- mappings ------------------------------------------------------------ */

/* Sections and instances of a table of this many bytes. */
static void maps_of(uint32_t table, uint32_t members)
{
	struct cells c;

	table_attach(&c, cells_args(1, table, WRITE));
	const struct part parts[] = {
		{ "table ctl", c.a.ctl, 0, 1, false, false },
		{ "table usr", c.a.usr, 0, 1, true, false },
		{ "own row", c.a.own, 0, 1, true, true },
		{ "rows", c.a.rows, c.a.row_stride, members, false, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		map_part(c.fd, &parts[i]);
	for (i = 0; i < members; i++) {
		uint64_t at = c.a.rows.cookie + i * c.a.row_stride;

		is(map_errno(c.fd, at, c.a.rows.len, PROT_READ, MAP_SHARED), 0, "row %u", i);
		is(map_errno(c.fd, at, 2 * c.a.rows.len, PROT_READ, MAP_SHARED), 0,
		   "row %u, doubled", i);
		is(map_errno(c.fd, at, c.a.rows.len, PROT_READ | PROT_WRITE, MAP_SHARED), EACCES,
		   "row %u, writable", i);
	}
	map_doubled(c.fd, &parts[2]);
	map_doubled(c.fd, &parts[3]);
	cells_detach(&c);
}

/* Parts that only attachments to messages have. */
static void maps_of_messages(int fd)
{
	uint64_t part;

	for (part = 4; part < 6; part++)
		is(map_errno(fd, part << 40, PAGE, PROT_READ, MAP_SHARED), EINVAL,
		   "table: part %u", (unsigned int)part);
	is(map_errno(fd, 6ULL << 40, PAGE, PROT_READ, MAP_SHARED), EACCES, "table: columns");
	is(map_errno(fd, 7ULL << 40, PAGE, PROT_READ, MAP_SHARED), EINVAL, "table: part 7");
	is(map_errno(fd, 1ULL << 62, PAGE, PROT_READ, MAP_SHARED), EINVAL,
	   "table: a part with a huge number");
}

void table_maps(void)
{
	struct cells r;
	int fd;

	maps_of(ROWS, 3);
	maps_of(7, 2);
	table_attach(&r, cells_args(1, ROWS, 0));
	is(r.a.own.len, 0, "table: a reader has no own section");
	is(map_errno(r.fd, 2ULL << 40, PAGE, PROT_READ, MAP_SHARED), EACCES,
	   "own row of a reader");
	is(map_errno(r.fd, 2ULL << 40, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED), EACCES,
	   "own row of a reader, writable");
	maps_of_messages(r.fd);
	cells_detach(&r);

	/* Nothing can be written through a file that is open for reading. */
	fd = open(SST_DEVICE, O_RDONLY | O_CLOEXEC);
	r.a = cells_args(1, ROWS, WRITE);
	if (fd < 0 || call(fd, SPINDLE_TABLE_IOC_ATTACH, &r.a))
		die("a file open for reading: %s", strerror(errno));
	is(map_errno(fd, r.a.own.cookie, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED), EACCES,
	   "writable own row of a file open for reading");
	is(map_errno(fd, r.a.usr.cookie, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED), EACCES,
	   "writable usr of a file open for reading");
	close(fd);
}

/* ---- poll ---------------------------------------------------------------- */

/* Wait until a cell of a row has this version. */
static bool arrives(const struct cells *c, const uint64_t *row, uint32_t cell, uint64_t version)
{
	uint64_t have;
	int i;

	for (i = 0; i < WAIT; i++) {
		if (!cells_read(c, row, cell, &have) && have == version)
			return true;
		usleep(1000);
	}
	return false;
}

/* Let changes that are under way arrive. */
static void settle(const struct cells *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	do
		cells_see(c);
	while (poll(&p, 1, 300) > 0);
}

static void polls_of(struct cells *w, struct cells *r, const uint64_t *row, int efd)
{
	uint64_t *seen = (uint64_t *)(r->usr + r->a.usr_seen), v;
	int i;

	ok(pollable(r->fd, POLLIN | POLLOUT, 0, 0), "table: poll, nothing has changed");
	while (!eventfd_read(efd, &v))
		;
	for (i = 1; i <= 20; i++) {
		cells_write(w, i % w->a.cells, i);
		if (cells_kick(w) || !pollable(r->fd, POLLIN, POLLIN, WAIT) ||
		    !pollable(efd, POLLIN, POLLIN, WAIT) ||
		    !arrives(r, row, i % w->a.cells, i))
			break;
		/* The guard may come after the change that was seen. */
		settle(r);
		eventfd_read(efd, &v);
		if (!pollable(r->fd, POLLIN, 0, 0))
			break;
	}
	is(i, 21, "table: poll and eventfd report each change, until it is seen");
	v = *seen;
	*seen = v + 1;
	ok(pollable(r->fd, POLLIN, POLLIN, 0), "table: poll, a generation of the future was seen");
	*seen = UINT64_MAX;
	ok(pollable(r->fd, POLLIN, POLLIN, 0), "table: poll, generation 2^64-1 was seen");
	*seen = v;
	ok(pollable(r->fd, POLLIN, 0, 0), "table: poll, the right one was seen");
}

/* Bits of cells that there are not change no row. */
static void bits_of_nowhere(struct cells *w, struct cells *r)
{
	uint64_t *dirty = (uint64_t *)(w->usr + w->a.usr_dirty), *word;
	uint64_t *end = (uint64_t *)(w->usr + w->a.usr.len);

	settle(r);
	__atomic_fetch_or(&dirty[0], ~0ULL << w->a.cells, __ATOMIC_RELEASE);
	for (word = dirty + 1; word < end; word++)
		__atomic_store_n(word, UINT64_MAX, __ATOMIC_RELEASE);
	is(call(w->fd, SPINDLE_TABLE_IOC_KICK, NULL), 0, "table: kick");
	is(call(w->fd, SPINDLE_TABLE_IOC_KICK, (void *)1), 0, "table: kick with an argument");
	ok(pollable(r->fd, POLLIN, 0, 300), "table: bits of cells that there are not");
}

void table_polls(void)
{
	struct spindle_table_attach a = cells_args(2, ROWS, 0);
	struct cells w, r;
	const uint64_t *row;

	a.event_fd = eventfd(0, EFD_NONBLOCK);
	table_attach(&w, cells_args(1, ROWS, WRITE));
	table_attach(&r, a);
	row = must_map_row(&r, w.a.own_instance);
	settle(&r);
	polls_of(&w, &r, row, a.event_fd);
	bits_of_nowhere(&w, &r);
	munmap((void *)row, r.a.rows.len);
	cells_detach(&r);
	cells_detach(&w);
	close(a.event_fd);
}

/* ---- the end of the view --------------------------------------------------- */

void table_pair_open(struct table_pair *p)
{
	table_attach(&p->w, cells_args(1, ROWS, WRITE));
	table_attach(&p->r, cells_args(2, ROWS, 0));
	p->at_w = must_map_row(&p->w, p->w.a.own_instance);
	p->at_r = must_map_row(&p->r, p->w.a.own_instance);
	cells_write(&p->w, 1, 77);
	cells_kick(&p->w);
	ok(arrives(&p->r, p->at_r, 1, 77), "table: a value arrives");
	table_pair_watch(p);
	settle(&p->w);
}

static bool ends(const struct cells *c, uint32_t state, uint32_t error)
{
	struct pollfd p = { .fd = c->fd };

	poll(&p, 1, WAIT);
	return p.revents == (POLLERR | POLLHUP) &&
	       *(uint32_t *)(c->ctl + c->a.ctl_state) == state &&
	       *(uint32_t *)(c->ctl + c->a.ctl_error) == error;
}

void table_pair_check(struct table_pair *p)
{
	struct spindle_seats seats = { .count = 0 };
	struct cells *w = &p->w;

	ok(ends(w, SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE), "table gone: poll, state and error");
	ok(all_zero((void *)w->own, w->a.own.len), "table gone: the writer's row has zeroes");
	ok(all_zero((void *)p->at_w, w->a.rows.len), "table gone: rows have zeroes");
	cells_write(w, 2, 5);
	ok(w->own[3 * 8 - 2] == 5, "table gone: the writer may write to its mapping");
	ok(all_zero((void *)p->at_w, w->a.rows.len), "table gone: that shows in no row");
	memset(w->usr, 0xff, w->a.usr.len);
	call(w->fd, SPINDLE_TABLE_IOC_KICK, NULL);
	is(call(w->fd, SPINDLE_TABLE_IOC_SEATS, &seats), ENOTCONN, "table gone: seats");
	is(call(w->fd, SPINDLE_TABLE_IOC_ATTACH, &w->a), EISCONN,
	   "table gone: the file cannot attach again");
	table_pair_watched(p);
	is(map_errno(w->fd, w->a.rows.cookie, PAGE, PROT_READ, MAP_SHARED), ENOTCONN,
	   "table gone: map a row");
	is(map_errno(w->fd, w->a.own.cookie, PAGE, PROT_READ, MAP_SHARED), ENOTCONN,
	   "table gone: map the own row");
	is(map_errno(w->fd, w->a.ctl.cookie, PAGE, PROT_READ, MAP_SHARED), 0,
	   "table gone: map ctl");

	ok(ends(&p->r, SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST),
	   "table failed: poll, state and error");
	munmap((void *)p->at_w, w->a.rows.len);
	munmap((void *)p->at_r, p->r.a.rows.len);
	cells_detach(&p->r);
	cells_detach(w);
	is(cells_attach(w, cells_args(1, ROWS, 0)), -ENOENT, "table gone: attach");
	is(cells_attach(w, cells_args(2, ROWS, 0)), -ENOTCONN, "table failed: attach");
}

/* ---- a live view ----------------------------------------------------------- */

static uint64_t vouched(const struct cells *c, uint32_t instance)
{
	return __atomic_load_n((uint64_t *)(c->ctl + c->a.ctl_vouched) + instance,
			       __ATOMIC_ACQUIRE);
}

/* The instance of a node's row, when the table has this number of members. */
static uint32_t instance_of(const struct cells *c, uint32_t node, uint32_t members)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	uint32_t n;
	int i;

	for (i = 0; i < WAIT / 50; i++) {
		struct spindle_seats arg = { .count = ARRAY_SIZE(seat), .ptr = (uintptr_t)seat };

		if (!call(c->fd, SPINDLE_TABLE_IOC_SEATS, &arg) && arg.count == members)
			for (n = 0; n < members; n++)
				if (seat[n].node == node)
					return seat[n].sst;
		usleep(50000);
	}
	die("the table does not get %u members with node %u", members, node);
}

/* A departed member's row is freed when its connection is gone. */
static bool becomes_empty(const struct cells *c, uint32_t instance)
{
	uint64_t at = c->a.rows.cookie + instance * c->a.row_stride;
	int i;

	for (i = 0; i < WAIT / 50; i++) {
		if (map_errno(c->fd, at, c->a.rows.len, PROT_READ, MAP_SHARED) == EINVAL)
			return true;
		usleep(50000);
	}
	return false;
}

/* Seats are taken in turn. Node 4 joins and leaves until it has this one. */
static bool takes_seat(const struct cells *c, uint32_t seat)
{
	int i;

	for (i = 0; i < (int)c->a.instances; i++) {
		if (system("spindle-ctl node join id 4 insecure contact 10.0.0.1:5001"))
			return false;
		if (instance_of(c, 4, 3) == seat)
			return true;
		if (system("spindle-ctl node leave id 4"))
			return false;
		instance_of(c, 1, 2);
	}
	return false;
}

/* Node 3 has a guard, and node 4 gets its seat. Nothing vouches for a guard of node 4 then. */
void part_table_live(void)
{
	const uint64_t *row;
	struct cells w, r;
	uint32_t seat;
	int i;

	table_attach(&w, cells_args(3, ROWS, WRITE));
	table_attach(&r, cells_args(1, ROWS, 0));
	ok(r.a.features & SPINDLE_TABLE_FEAT_LIVE, "table live: the view is live");
	ok(r.a.features & SPINDLE_TABLE_FEAT_VOUCH, "table live: completions vouch");
	seat = instance_of(&r, 3, 3);
	row = must_map_row(&r, seat);
	cells_write(&w, 0, 1000);
	cells_kick(&w);
	ok(arrives(&r, row, 0, 1000), "table live: a guard arrives");
	for (i = 0; i < WAIT && vouched(&r, seat) != 1000; i++)
		usleep(1000);
	is(vouched(&r, seat), 1000, "table live: the guard may be believed");
	cells_detach(&w);
	ok(!system("spindle-ctl node leave id 3"), "table live: 3 leaves");
	instance_of(&r, 1, 2);
	ok(becomes_empty(&r, seat), "table live: the seat of node 3 becomes empty");
	ok(all_zero((void *)row, r.a.rows.len), "table live: a mapping of the row has zeroes");
	ok(takes_seat(&r, seat), "table live: 4 gets the seat of 3");
	is(vouched(&r, seat), 0, "table live: no guard of 4 may be believed");
	munmap((void *)row, r.a.rows.len);
	cells_detach(&r);
}
