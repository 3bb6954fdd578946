// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments: an open file of the device, and the mappings of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>
#include <spindle/spindle.h>

#include "fail-nth.h"
#include "machine.h"
#include "nth.h"
#include "path.h"
#include "tap.h"

#define BOTH	(SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV)
#define COPY	(SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY)

struct seat {
	uint32_t flags;
	int fd, event_fd;
	uint64_t memlock;		/* locked bytes of the attachment, once known */
	struct spindle_attach a;
	/* a mapping of it */
	uint64_t cookie;
	size_t len, times;
	int prot;
	char *addr;
};

static int dev_open(void *ctx)
{
	struct seat *seat = ctx;

	arm();
	seat->fd = open(SPINDLE_DEVICE, O_RDWR | O_CLOEXEC);
	disarm();
	return seat->fd < 0 ? -errno : 0;
}

static void dev_close(void *ctx)
{
	struct seat *seat = ctx;

	close(seat->fd);
	seat->fd = -1;
}

static void sit(struct seat *seat)
{
	unsigned int n = nth;

	nth = 0;
	if (dev_open(seat))
		die("%s: %s", SPINDLE_DEVICE, strerror(errno));
	nth = n;
}

/* Open another file, which is not attached. */
static void sit_again(void *ctx)
{
	dev_close(ctx);
	sit(ctx);
}

/* A file whose attach was refused stays as it is, and is used again. */
static int attach(void *ctx)
{
	struct seat *seat = ctx;
	int err;

	seat->a = (struct spindle_attach){
		.size = sizeof(seat->a), .node = 1, .subgroup = 1, .flags = seat->flags,
		.event_fd = seat->event_fd,
	};
	arm();
	err = ioctl(seat->fd, SPINDLE_IOC_ATTACH, &seat->a) ? -errno : 0;
	disarm();
	if (seat->memlock && (!err || err == -ENOMEM) && seat->a.memlock != seat->memlock)
		return -EPROTO;
	return err;
}

/* Take or give up the right to pin more than RLIMIT_MEMLOCK allows. */
static void may_pin(bool may)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		die("capget: %s", strerror(errno));
	d[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
	if (may)
		d[CAP_TO_INDEX(CAP_IPC_LOCK)].effective |= CAP_TO_MASK(CAP_IPC_LOCK);
	if (syscall(SYS_capset, &h, d))
		die("capset: %s", strerror(errno));
}

/*
 * Set the limit to just enough, so that a page that a refusal leaves charged breaks the next
 * attempt.
 */
static void limited(const struct op *op, struct seat *seat)
{
	struct rlimit was, lim;

	sit(seat);
	if (attach(seat))
		die("cannot attach");
	seat->memlock = seat->a.memlock;
	sit_again(seat);
	getrlimit(RLIMIT_MEMLOCK, &was);
	lim.rlim_cur = seat->memlock;
	lim.rlim_max = was.rlim_max > lim.rlim_cur ? was.rlim_max : lim.rlim_cur;
	if (setrlimit(RLIMIT_MEMLOCK, &lim))
		die("setrlimit: %s", strerror(errno));
	may_pin(false);
	path(op);
	may_pin(true);
	setrlimit(RLIMIT_MEMLOCK, &was);
	dev_close(seat);
}

void test_attach(void)
{
	static const struct {
		const char *name;
		uint32_t flags;
		bool event;
	} kinds[] = {
		{ "send", SPINDLE_ATTACH_SEND, false },
		{ "recv", SPINDLE_ATTACH_RECV, false },
		{ "copy", COPY, false },
		{ "send and copy, eventfd", BOTH | COPY, true },
	};
	struct seat seat = { .fd = -1, .event_fd = -1 };
	struct op op = { .name = "open", .run = dev_open, .undo = dev_close, .ctx = &seat,
			 .errs = errs_mem };
	size_t i;

	path(&op);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		seat = (struct seat){ .flags = kinds[i].flags, .fd = -1, .event_fd = -1 };
		if (kinds[i].event)
			seat.event_fd = eventfd(0, EFD_CLOEXEC);
		op = (struct op){ .run = attach, .undo = sit_again, .ctx = &seat,
				  .errs = errs_mem };
		snprintf(op.name, sizeof(op.name), "attach: %s", kinds[i].name);
		limited(&op, &seat);
		if (seat.event_fd >= 0)
			close(seat.event_fd);
	}
}

/* Map far from all other mappings, so that all levels of the page table are missing. */
static int map(void *ctx)
{
	struct seat *seat = ctx;
	void *p;
	int err;

	arm();
	p = mmap(seat->addr, seat->len * seat->times, seat->prot,
		 MAP_SHARED | MAP_FIXED_NOREPLACE, seat->fd, seat->cookie);
	err = p == MAP_FAILED ? -errno : 0;
	disarm();
	return !err && p != seat->addr ? -EPROTO : err;
}

static void unmap(void *ctx)
{
	struct seat *seat = ctx;

	munmap(seat->addr, seat->len * seat->times);
}

/* The pages are there, and the second half shows the same pages. */
static bool mapped(void *ctx)
{
	const struct seat *seat = ctx;
	size_t i;

	for (i = 0; i < seat->len; i += PAGE)
		if (seat->prot & PROT_WRITE)
			((volatile char *)seat->addr)[i] ^= 0x55;
	for (i = 1; i < seat->times; i++)
		if (memcmp(seat->addr, seat->addr + i * seat->len, seat->len))
			return false;
	for (i = 0; i < seat->len; i += PAGE)
		if (seat->prot & PROT_WRITE)
			((volatile char *)seat->addr)[i] ^= 0x55;
	return true;
}

void test_map(void)
{
	const size_t gib = 1UL << 30;
	struct seat seat = { .flags = BOTH, .fd = -1, .event_fd = -1 };
	struct seat copy = { .flags = COPY, .fd = -1, .event_fd = -1 };
	char *room = mmap(NULL, 4 * gib, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);
	size_t i;

	if (room == MAP_FAILED || munmap(room, 4 * gib))
		die("no room for mappings: %s", strerror(errno));
	room = (char *)(((uintptr_t)room + 2 * gib) & ~(gib - 1));
	sit(&seat);
	sit(&copy);
	if (attach(&seat) || attach(&copy))
		die("cannot attach");
	{
		const struct {
			const char *name;
			const struct seat *from;
			const struct spindle_section *s;
			uint64_t more;
			int times, prot;
		} parts[] = {
			{ "ctl", &seat, &seat.a.ctl, 0, 1, PROT_READ },
			{ "usr", &seat, &seat.a.usr, 0, 1, PROT_READ | PROT_WRITE },
			{ "tx", &seat, &seat.a.tx, 0, 2, PROT_READ | PROT_WRITE },
			{ "rx, own", &seat, &seat.a.rx, 0, 2, PROT_READ },
			{ "rx, a peer", &seat, &seat.a.rx, seat.a.rx_stride, 2, PROT_READ },
			{ "dlv", &seat, &seat.a.dlv, 0, 1, PROT_READ },
			{ "copy", &copy, &copy.a.copy, 0, 2, PROT_READ },
			{ "sst, a peer", &seat, &seat.a.sst, seat.a.sst_stride, 1, PROT_READ },
		};

		for (i = 0; i < ARRAY_SIZE(parts); i++) {
			struct seat part = {
				.fd = parts[i].from->fd,
				.cookie = parts[i].s->cookie + parts[i].more,
				.len = parts[i].s->len, .times = parts[i].times,
				.prot = parts[i].prot, .addr = room,
			};
			struct op op = { .run = map, .undo = unmap, .ctx = &part,
					 .errs = errs_mem, .after = mapped };

			snprintf(op.name, sizeof(op.name), "mmap: %s", parts[i].name);
			path(&op);
		}
	}
	dev_close(&seat);
	dev_close(&copy);
}

/* A process may call this at any time, and it always succeeds, with any amount of free memory. */
void test_silence(void)
{
	struct seat seat = { .flags = SPINDLE_ATTACH_SEND, .fd = -1, .event_fd = -1 };
	uint64_t rounds = 5;
	int err;

	sit(&seat);
	if (attach(&seat))
		die("cannot attach");
	for (nth = 1; nth <= 3; nth++) {
		arm();
		err = ioctl(seat.fd, SPINDLE_IOC_SILENCE, &rounds) ? errno : 0;
		disarm();
		is(err, 0, "silence: declared, allocation %u would fail", nth);
		ok(!fired, "silence: no allocation is made");
	}
	nth = 0;
	dev_close(&seat);
}
