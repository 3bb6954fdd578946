// SPDX-License-Identifier: GPL-2.0-only
/*
 * rdmc-bad: requests that /dev/spindle-rdmc refuses, and uses that it survives.
 *
 *	rdmc-bad create|order|queue|unread|send|accept|memlock|vanish|death|fair|race|churn|
 *		pins|gone
 *
 * Needs nodes 1 to 4 in this kernel; on 1 to 3 a view of the members 1, 2, 3 and 9, of which 9 is
 * nowhere, with a subgroup 1 of members 1 to 3; node 4 has no view. "pins" checks the memory that
 * other parts have left pinned. "gone" removes views and nodes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rdmc-bad.h"
#include "selfcheck.h"
#include "tap.h"

int open_dev(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", DEVICE, strerror(errno));
	return fd;
}

int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

uint64_t next_group(void)
{
	static uint32_t n;

	return (uint64_t)getpid() << 32 | ++n;
}

struct spindle_rdmc_create args(uint32_t node, const uint32_t *member, uint32_t count)
{
	struct spindle_rdmc_create a = {
		.size = sizeof(a),
		.node = node,
		.group = next_group(),
		.members = (uintptr_t)member,
		.count = count,
		.block = 4096,
	};

	return a;
}

int create(uint64_t group, uint32_t node, const uint32_t *member, uint32_t count,
	   uint32_t algorithm, uint32_t timeout_ms)
{
	struct spindle_rdmc_create a = args(node, member, count);
	int fd = open_dev(), err, tries = 0;

	a.group = group;
	a.algorithm = algorithm;
	a.timeout_ms = timeout_ms;
	/* Groups that were left before may still exist. */
	while ((err = call(fd, SPINDLE_RDMC_IOC_CREATE, &a)) == ENOSPC && tries++ < 1000)
		usleep(10000);
	if (err)
		die("node %u: create: %s", node, strerror(err));
	return fd;
}

void create_all(int *fd, uint32_t n, uint32_t algorithm, uint32_t timeout_ms)
{
	static const uint32_t member[] = { 1, 2, 3 };
	uint64_t group = next_group();
	struct spindle_rdmc_event ev;
	uint32_t i;

	for (i = 0; i < n; i++)
		fd[i] = create(group, member[i], member, n, algorithm, timeout_ms);
	for (i = 0; i < n; i++)
		if (!expect(fd[i], SPINDLE_RDMC_OPENED, &ev))
			die("a group does not open");
}

bool next(int fd, struct spindle_rdmc_event *ev, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && read(fd, ev, sizeof(*ev)) == sizeof(*ev);
}

bool expect(int fd, uint32_t kind, struct spindle_rdmc_event *ev)
{
	if (!next(fd, ev, WAIT_MS)) {
		printf("# no event, want %u\n", kind);
		return false;
	}
	if (ev->kind == kind)
		return true;
	printf("# event %u, error %u, node %u, object %llu, want %u\n", ev->kind, ev->error,
	       ev->node, (unsigned long long)ev->object, kind);
	return false;
}

int done(int fd, uint64_t object)
{
	struct spindle_rdmc_event ev;

	while (next(fd, &ev, WAIT_MS)) {
		if (ev.kind == SPINDLE_RDMC_DONE && ev.object == object)
			return ev.error;
		if (ev.kind == SPINDLE_RDMC_CLOSED || ev.kind == SPINDLE_RDMC_FAILED)
			break;
	}
	return -1;
}

int ended(int fd)
{
	struct spindle_rdmc_event ev;

	while (next(fd, &ev, WAIT_MS))
		if (ev.kind == SPINDLE_RDMC_CLOSED || ev.kind == SPINDLE_RDMC_FAILED)
			return ev.error;
	return -1;
}

int send_it(int fd, const void *addr, uint64_t len, uint64_t *object)
{
	struct spindle_rdmc_send s = { .addr = (uintptr_t)addr, .len = len };
	int err = call(fd, SPINDLE_RDMC_IOC_SEND, &s);

	if (object)
		*object = s.object;
	return err;
}

int accept_it(int fd, uint64_t object, void *addr, uint64_t len)
{
	struct spindle_rdmc_accept a = { .object = object, .addr = (uintptr_t)addr, .len = len };

	return call(fd, SPINDLE_RDMC_IOC_ACCEPT, &a);
}

static int give_up(int fd, uint64_t object, unsigned long cmd)
{
	struct spindle_rdmc_cancel c = { .object = object, .reason = 7 };

	return call(fd, cmd, &c);
}

int cancel(int fd, uint64_t object)
{
	return give_up(fd, object, SPINDLE_RDMC_IOC_CANCEL);
}

int refuse(int fd, uint64_t object)
{
	return give_up(fd, object, SPINDLE_RDMC_IOC_REFUSE);
}

bool close_all(int *fd, uint32_t n, bool whole)
{
	int want = whole ? SPINDLE_RDMC_OK : SPINDLE_RDMC_INCOMPLETE;
	bool good = true;
	uint32_t i;

	for (i = 0; i < n; i++)
		good &= !call(fd[i], SPINDLE_RDMC_IOC_CLOSE, NULL);
	for (i = 0; i < n; i++) {
		int err = ended(fd[i]);

		if (err != want)
			printf("# member %u ended with %d, want %d\n", i, err, want);
		good &= err == want;
		close(fd[i]);
	}
	return good;
}

static unsigned char byte_of(size_t i, unsigned char was, uint64_t seed)
{
	return i % 8 ? (uint64_t)was * 5 + 1 : mix(seed + i / 8);
}

void paint(unsigned char *p, size_t len, uint64_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = byte_of(i, i ? p[i - 1] : 0, seed);
}

bool painted(const unsigned char *p, size_t len, uint64_t seed)
{
	unsigned char was = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char want = byte_of(i, was, seed);

		if (p[i] != want) {
			printf("# byte %zu of %zu is wrong\n", i, len);
			return false;
		}
		was = want;
	}
	return true;
}

unsigned char *memory(size_t bytes, uint64_t seed)
{
	unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("no memory");
	paint(p, bytes, seed);
	return p;
}

int main(int argc, char **argv)
{
	static const struct tap_case parts[] = {
		{ "create", part_create }, { "order", part_order }, { "queue", part_queue },
		{ "unread", part_unread }, { "send", part_send }, { "accept", part_accept },
		{ "memlock", part_memlock }, { "vanish", part_vanish }, { "death", part_death },
		{ "fair", part_fair }, { "race", part_race }, { "churn", part_churn },
		{ "pins", part_pins }, { "gone", part_gone },
	};

	return tap_part("rdmc-bad", parts, ARRAY_SIZE(parts), argc, argv);
}
