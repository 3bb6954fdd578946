// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables: an attachment, and predicates of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "cells.h"
#include "fail-nth.h"
#include "machine.h"
#include "nth.h"
#include "path.h"
#include "tap.h"

#define TABLE	6
#define FLAGS	(SPINDLE_TABLE_WRITE | SPINDLE_TABLE_SIGNALS)

/**
 * struct sst - the subject of the operations
 * @c: the attachment, unless the operation is to attach
 * @event_fd: an eventfd for it
 * @id: of the predicate that was added
 */
struct sst {
	struct cells c;
	int event_fd;
	uint32_t id;
};

static struct spindle_table_attach args_of(const struct sst *sst)
{
	struct spindle_table_attach a = cells_args(1, TABLE, FLAGS);

	a.event_fd = sst->event_fd;
	return a;
}

/* The operations below do not count these allocations. */
static void begin(struct sst *sst)
{
	unsigned int n = nth;
	int err;

	nth = 0;
	err = cells_attach(&sst->c, args_of(sst));
	if (err)
		die("attach to table %u: %s", TABLE, strerror(-err));
	nth = n;
}

static void begin_again(void *ctx)
{
	struct sst *sst = ctx;

	cells_detach(&sst->c);
	begin(sst);
}

static void open_again(void *ctx)
{
	struct sst *sst = ctx;

	if (sst->c.fd >= 0)
		close(sst->c.fd);
	sst->c.fd = open(SST_DEVICE, O_RDWR | O_CLOEXEC);
	if (sst->c.fd < 0)
		die("%s: %s", SST_DEVICE, strerror(errno));
}

static int attach(void *ctx)
{
	struct sst *sst = ctx;
	int err;

	sst->c.a = args_of(sst);
	arm();
	err = ioctl(sst->c.fd, SPINDLE_TABLE_IOC_ATTACH, &sst->c.a) ? -errno : 0;
	disarm();
	return err;
}

/* Numbers of every kind, because each of them needs memory. The predicate fires once. */
static int add(void *ctx)
{
	struct sst *sst = ctx;
	struct spindle_field field = { .cell = 1, .width = 8 };
	struct spindle_number sum = { .fold = SPINDLE_FOLD_SUM, .field = field };
	struct spindle_predicate p = {
		.size = sizeof(p), .id = SPINDLE_ANY_ID, .kind = SPINDLE_KIND_ONCE,
		.terms = 2, .triggers = 2,
		.term[0] = { .compare = SPINDLE_CMP_EQ, .left = sum, .right = sum },
		.term[1] = { .compare = SPINDLE_CMP_EQ, .left = sum, .right = sum },
		.trigger[0] = { .what = SPINDLE_DO_SET, .field = field, .value = sum },
		.trigger[1] = { .what = SPINDLE_DO_SIGNAL },
	};
	int err;

	arm();
	err = ioctl(sst->c.fd, SPINDLE_TABLE_IOC_ADD, &p) ? -errno : 0;
	disarm();
	sst->id = p.id;
	return err;
}

static bool has_fired(void *ctx)
{
	const struct sst *sst = ctx;
	const uint64_t *fired = (uint64_t *)(sst->c.ctl + sst->c.a.ctl_fired) + sst->id;
	long end = now_ms() + WAIT_MS;

	while (!__atomic_load_n(fired, __ATOMIC_ACQUIRE) && now_ms() < end)
		nap(1);
	return *fired == 1;
}

static void take_back(void *ctx)
{
	const struct sst *sst = ctx;

	if (ioctl(sst->c.fd, SPINDLE_TABLE_IOC_REMOVE, (unsigned long)sst->id))
		die("remove a predicate: %s", strerror(errno));
}

void test_table(void)
{
	struct sst sst = { .c.fd = -1, .event_fd = eventfd(0, EFD_CLOEXEC) };
	struct op op = { .name = "table: attach", .run = attach, .undo = open_again, .ctx = &sst,
			 .errs = errs_mem };

	open_again(&sst);
	path(&op);
	close(sst.c.fd);
	begin(&sst);
	op = (struct op){ .name = "table: the first predicate", .run = add, .undo = begin_again,
			  .ctx = &sst, .errs = errs_mem, .after = has_fired };
	path(&op);
	if (add(&sst))
		die("cannot add a predicate");
	op = (struct op){ .name = "table: another predicate", .run = add, .undo = take_back,
			  .ctx = &sst, .errs = errs_mem, .after = has_fired };
	path(&op);
	cells_detach(&sst.c);
	close(sst.event_fd);
}
