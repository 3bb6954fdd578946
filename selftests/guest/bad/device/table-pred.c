// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates of a table: requests that the kernel refuses, and what those do that it takes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dev-bad.h"
#include "map.h"
#include "table.h"
#include "tap.h"

#define WRITE	SPINDLE_TABLE_WRITE
#define SIGNALS	SPINDLE_TABLE_SIGNALS
#define WAIT	20000

/* ---- what a predicate needs ------------------------------------------------ */

static struct spindle_field word(uint16_t cell, uint16_t at)
{
	return (struct spindle_field){ .cell = cell, .offset = at * 8, .width = 8 };
}

static struct spindle_number number(uint8_t fold, uint16_t cell, uint16_t at)
{
	return (struct spindle_number){ .fold = fold, .field = word(cell, at) };
}

/* Signal when the word is at least @value in the rows of so many members. */
static struct spindle_predicate reach(uint16_t cell, uint64_t value, uint32_t least)
{
	return (struct spindle_predicate){
		.size = sizeof(struct spindle_predicate), .id = SPINDLE_ANY_ID,
		.kind = SPINDLE_KIND_RECURRENT, .terms = 1, .triggers = 1,
		.term[0] = {
			.compare = SPINDLE_CMP_GE, .least = least, .right = { .add = value },
			.left = number(SPINDLE_FOLD_EACH, cell, 0),
		},
	};
}

static struct spindle_trigger to_add(uint16_t cell, uint16_t at, uint64_t n)
{
	struct spindle_trigger t = {
		.what = SPINDLE_DO_SET, .field = word(cell, at),
		.value = number(SPINDLE_FOLD_OWN, cell, at),
	};

	t.value.add = n;
	return t;
}

static int add(int fd, struct spindle_predicate p)
{
	return call(fd, SPINDLE_TABLE_IOC_ADD, &p);
}

/* The id of a predicate that is taken. */
static uint32_t must_add(const struct cells *c, struct spindle_predicate p)
{
	int err = call(c->fd, SPINDLE_TABLE_IOC_ADD, &p);

	if (err)
		die("add a predicate: %s (%u)", strerror(err), p.bad);
	return p.id;
}

static int drop(int fd, unsigned long id)
{
	return call(fd, SPINDLE_TABLE_IOC_REMOVE, (void *)id);
}

static uint64_t fired(const struct cells *c, uint32_t id)
{
	return __atomic_load_n((uint64_t *)(c->ctl + c->a.ctl_fired) + id, __ATOMIC_ACQUIRE);
}

static uint64_t signals(const struct cells *c)
{
	return __atomic_load_n((uint64_t *)(c->ctl + c->a.ctl_signals), __ATOMIC_ACQUIRE);
}

static void hear(const struct cells *c)
{
	__atomic_store_n((uint64_t *)(c->usr + c->a.usr_heard), signals(c), __ATOMIC_SEQ_CST);
}

/* The first word of a cell of the own row; the rest of the value stays. */
static void put(struct cells *c, uint32_t cell, uint64_t value)
{
	uint32_t words = cells_words(c);
	uint64_t *to = c->own + cell * words;

	__atomic_store_n(&to[0], value, __ATOMIC_RELAXED);
	__atomic_store_n(&to[words - 2], to[words - 2] + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&to[words - 1], cells_seal(to, words - 1), __ATOMIC_RELEASE);
	__atomic_fetch_or((uint64_t *)(c->usr + c->a.usr_dirty), 1ULL << cell, __ATOMIC_RELEASE);
	if (cells_kick(c))
		die("kick");
}

static bool awaits(const uint64_t *at, uint64_t value)
{
	int i;

	for (i = 0; i < WAIT; i++) {
		if (__atomic_load_n(at, __ATOMIC_ACQUIRE) == value)
			return true;
		usleep(1000);
	}
	return false;
}

/* Another test may have left values in the rows. */
static void clear(struct cells *from, const struct cells *at, uint32_t cell)
{
	uint32_t words = cells_words(from);
	const uint64_t *row = cells_map(at, &at->a.rows, from->a.own_instance, PROT_READ);

	if (!row)
		die("mmap: %s", strerror(errno));
	memset(from->own + cell * words, 0, from->a.cell - sizeof(struct spindle_cell_seal));
	put(from, cell, 0);
	if (!awaits(&row[cell * words + words - 1], from->own[cell * words + words - 1]))
		die("a row does not arrive");
	munmap((void *)row, at->a.rows.len);
}

/* ---- bad requests ------------------------------------------------------------ */

static void refused(int fd, struct spindle_predicate p, int want, uint32_t bad, const char *what)
{
	is(call(fd, SPINDLE_TABLE_IOC_ADD, &p), want, "predicate: %s: %s", what, strerror(want));
	is(p.bad, bad, "predicate: %s: the place", what);
}

static void bad_sizes(int fd)
{
	static unsigned char page[2 * PAGE] __attribute__((aligned(4096)));
	struct spindle_predicate *p = (void *)page;
	char *two = last_page();

	*p = reach(1, 1, 1);
	p->size = sizeof(*p) - 8;
	is(call(fd, SPINDLE_TABLE_IOC_ADD, p), EPROTONOSUPPORT, "predicate: of an older version");
	p->size = 0;
	is(call(fd, SPINDLE_TABLE_IOC_ADD, p), EPROTONOSUPPORT, "predicate: no size");
	p->size = UINT32_MAX;
	is(call(fd, SPINDLE_TABLE_IOC_ADD, p), EINVAL, "predicate: size 2^32-1");
	p->size = sizeof(*p) + 8;
	page[sizeof(*p) + 7] = 1;
	is(call(fd, SPINDLE_TABLE_IOC_ADD, p), EINVAL, "predicate: something behind what is known");
	is(call(fd, SPINDLE_TABLE_IOC_ADD, NULL), EFAULT, "predicate: no argument");
	p = (void *)(two + PAGE - 64);
	p->size = sizeof(*p);
	is(call(fd, SPINDLE_TABLE_IOC_ADD, p), EFAULT, "predicate: half an argument");
	munmap(two, PAGE);
	is(call(fd, SPINDLE_TABLE_IOC_ADD, two), EFAULT, "predicate: unmapped argument");
}

static void bad_values(int fd)
{
	struct spindle_predicate p = reach(8, 1, 1);

	refused(fd, p, EINVAL, 1, "a cell that there is not");
	p = reach(1, 1, 1);
	p.term[0].left.field.offset = 48;
	refused(fd, p, EINVAL, 1, "a field in the seal");
	p = reach(1, 1, 0);
	refused(fd, p, EINVAL, 1, "no row is enough");
	p = reach(1, 1, 1);
	p.kind = 3;
	refused(fd, p, EINVAL, 0, "an unknown kind");
	p = reach(1, 1, 1);
	p.bad = 7;
	refused(fd, p, EINVAL, 0, "something in an output");
	p = reach(1, 1, 1);
	p.id = SPINDLE_MAX_PREDICATES;
	refused(fd, p, EINVAL, 0, "an id that there is not");
	p = reach(1, 1, 1);
	p.terms = 1U << 31;
	refused(fd, p, EINVAL, 0, "2^31 terms");
	p = reach(1, 1, 1);
	p.triggers = UINT32_MAX;
	refused(fd, p, EINVAL, 0, "2^32-1 triggers");
	p = reach(1, 1, 1);
	p.triggers = 2;
	p.trigger[1] = to_add(1, 7, 1);
	refused(fd, p, EINVAL, SPINDLE_BAD_TRIGGER + 1, "a trigger that sets a seal");
}

static void bad_files(void)
{
	int fd = open(SST_DEVICE, O_RDWR | O_CLOEXEC), other = open_dev();
	struct spindle_predicate p = reach(1, 1, 1);
	struct cells r;

	is(add(fd, p), ENOTCONN, "predicate: before the attach");
	is(drop(fd, 0), ENOTCONN, "predicate: remove before the attach");
	is(add(other, p), ENOTTY, "predicate: other device");
	is(drop(other, 0), ENOTTY, "predicate: remove, other device");
	close(fd);
	close(other);
	table_attach(&r, table_args(1, 0, -1));
	p.triggers = 2;
	p.trigger[1] = to_add(1, 0, 1);
	refused(r.fd, p, EBADF, SPINDLE_BAD_TRIGGER + 1, "a reader sets a field");
	cells_detach(&r);
}

static void ids(const struct cells *w)
{
	struct spindle_predicate p = reach(1, UINT64_MAX, 1);
	uint32_t i;

	is(drop(w->fd, 0), ENOENT, "predicate: remove what there is not");
	p.id = 7;
	is(must_add(w, p), 7, "predicate: an id that the process chooses");
	is(add(w->fd, p), EBUSY, "predicate: an id that is taken");
	for (i = 0; i < SPINDLE_MAX_PREDICATES - 1; i++)
		must_add(w, reach(1, UINT64_MAX, 1));
	is(add(w->fd, reach(1, 1, 1)), ENOSPC, "predicate: one more than there may be");
	is(drop(w->fd, SPINDLE_MAX_PREDICATES), ENOENT, "predicate: remove number 32");
	is(drop(w->fd, 7 + (1UL << 32)), ENOENT, "predicate: remove number 2^32 + 7");
	is(drop(w->fd, ULONG_MAX), ENOENT, "predicate: remove number 2^64-1");
	for (i = 0; i < SPINDLE_MAX_PREDICATES; i++)
		if (drop(w->fd, i))
			break;
	is(i, SPINDLE_MAX_PREDICATES, "predicate: all are removed");
	is(drop(w->fd, 7), ENOENT, "predicate: remove it twice");
}

/* ---- predicates that are taken ------------------------------------------------ */

/* Node 1 writes, and a process of node 2 sleeps until two rows have reached a value. */
static void signals_come(struct cells *w)
{
	int efd = eventfd(0, EFD_NONBLOCK);
	uint64_t v;
	struct cells r;
	uint32_t id;

	table_attach(&r, table_args(2, SIGNALS | WRITE, efd));
	clear(w, &r, 1);
	put(&r, 1, 5);
	id = must_add(&r, reach(1, 5, 2));
	ok(pollable(r.fd, POLLIN | POLLPRI, 0, 200), "predicate: one row is not enough");
	put(w, 1, 4);
	ok(pollable(r.fd, POLLIN | POLLPRI, 0, 200), "predicate: the other one has less");
	ok(eventfd_read(efd, &v), "predicate: no change wakes this process");
	put(w, 1, 5);
	ok(pollable(r.fd, POLLIN | POLLPRI, POLLPRI, WAIT), "predicate: the other row has it");
	ok(pollable(efd, POLLIN, POLLIN, WAIT), "predicate: its eventfd is signalled");
	ok(fired(&r, id) && signals(&r) == fired(&r, id), "predicate: it has fired");
	hear(&r);
	ok(pollable(r.fd, POLLIN | POLLPRI, 0, 0), "predicate: the signal was heard");
	is(drop(r.fd, id), 0, "predicate: remove it");
	v = signals(&r);
	put(w, 1, 6);
	ok(pollable(r.fd, POLLIN | POLLPRI, 0, 200), "predicate: what was removed is silent");
	is(signals(&r), v, "predicate: no signal is taken back");
	must_add(&r, reach(7, UINT64_MAX, 1));
	is(fired(&r, id), 0, "predicate: the id begins again");
	cells_detach(&r);
	close(efd);
}

/* The engines of two nodes count to a thousand, while the processes make no call. */
static void engines_count(struct cells *w)
{
	struct spindle_predicate p = reach(3, 0, SPINDLE_ALL_ROWS);
	uint64_t *mine, *other, version, had;
	struct cells v;

	table_attach(&v, table_args(2, WRITE, -1));
	clear(w, &v, 3);
	clear(&v, w, 3);
	mine = w->own + 3 * cells_words(w);
	other = v.own + 3 * cells_words(&v);
	version = mine[cells_words(w) - 2];
	had = signals(w);
	p.terms = 2;
	p.term[0].left.rows = SPINDLE_ROWS_NODES;
	p.term[0].left.nodes = 2;
	p.term[0].left.node[0] = 1;
	p.term[0].left.node[1] = 2;
	p.term[0].right = number(SPINDLE_FOLD_OWN, 3, 0);
	p.term[1] = (struct spindle_term){
		.compare = SPINDLE_CMP_LT, .right.add = 1000,
		.left = number(SPINDLE_FOLD_OWN, 3, 0),
	};
	p.trigger[0] = to_add(3, 0, 1);
	must_add(w, p);
	must_add(&v, p);
	ok(awaits(mine, 1000) && awaits(other, 1000), "predicate: two engines count together");
	usleep(100000);
	ok(*mine == 1000 && *other == 1000, "predicate: they stop where they should");
	is(cells_seal(mine, cells_words(w) - 1), mine[cells_words(w) - 1],
	   "predicate: the engine seals");
	is(mine[cells_words(w) - 2] - version, 1000, "predicate: a version for each value");
	is(signals(w) - had + signals(&v), 0, "predicate: nobody was woken");
	cells_detach(&v);
}

/*
 * A predicate that fires in each pass, and a process that writes into the cell that it sets. The
 * file is closed with the predicate.
 */
static void never_ends(void)
{
	struct spindle_predicate p = reach(4, 0, SPINDLE_ALL_ROWS);
	struct cells w;
	uint64_t was;
	int i;

	table_attach(&w, table_args(1, WRITE, -1));
	p.triggers = 2;
	p.trigger[1] = to_add(4, 1, 1);
	must_add(&w, p);
	for (i = 0; i < 200; i++) {
		memset(w.own + 4 * cells_words(&w), i, w.a.cell);
		put(&w, i % 4, i);
	}
	was = signals(&w);
	for (i = 0; i < WAIT && signals(&w) == was; i++)
		usleep(1000);
	ok(signals(&w) != was, "predicate: one that always fires goes on");
	cells_detach(&w);
}

void part_predicate(void)
{
	struct cells w;

	bad_files();
	table_attach(&w, table_args(1, WRITE, -1));
	bad_sizes(w.fd);
	bad_values(w.fd);
	ids(&w);
	signals_come(&w);
	engines_count(&w);
	cells_detach(&w);
	never_ends();
	table_attach(&w, table_args(1, WRITE, -1));
	is(signals(&w), 0, "predicate: a new file has no signals");
	cells_detach(&w);
}

/* ---- the end of the view ------------------------------------------------------- */

void table_pair_watch(const struct table_pair *p)
{
	is(must_add(&p->r, reach(1, UINT64_MAX, 1)), 0, "table: a predicate of the reader");
	is(must_add(&p->w, reach(1, UINT64_MAX, 1)), 0, "table: a predicate of the writer");
}

void table_pair_watched(const struct table_pair *p)
{
	struct spindle_predicate gone = reach(1, 1, 1);

	is(add(p->w.fd, gone), ENOTCONN, "table gone: add a predicate");
	is(add(p->r.fd, gone), ENOTCONN, "table failed: add a predicate");
	is(drop(p->w.fd, 0), ENOENT, "table gone: remove a predicate");
	is(drop(p->r.fd, 0), 0, "table failed: remove a predicate");
}

/* ---- memory ------------------------------------------------------------------- */

/* A predicate that keeps values of eight fields, the most without a row to write: 8 KiB. */
static struct spindle_predicate large(void)
{
	struct spindle_predicate p = reach(1, UINT64_MAX, 1);
	int i;

	p.terms = SPINDLE_MAX_TERMS;
	for (i = 0; i < SPINDLE_MAX_TERMS; i++) {
		p.term[i] = p.term[0];
		p.term[i].right = number(SPINDLE_FOLD_MAX, 2, 0);
	}
	return p;
}

/* Add as many as 40 attachments may have, and keep them. The caller measures. */
void part_hoard(void)
{
	struct cells c;
	int i, j, bad = 0;

	for (i = 0; i < 40; i++) {
		table_attach(&c, table_args(3, 0, -1));
		for (j = 0; j < SPINDLE_MAX_PREDICATES; j++)
			bad += !!add(c.fd, large());
	}
	is(bad, 0, "hoard: 1280 predicates");
	printf("# hoard: all are there\n");
	fflush(stdout);
	pause();
}
