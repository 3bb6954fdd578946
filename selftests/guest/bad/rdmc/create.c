// SPDX-License-Identifier: GPL-2.0-only
/*
 * CREATE with each possible error, and a file without a group.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rdmc-bad.h"
#include "tap.h"

static const uint32_t two[] = { 1, 2 };

/* Try it on a new file, and close the file. */
static int try(struct spindle_rdmc_create a)
{
	int fd = open_dev(), err = call(fd, SPINDLE_RDMC_IOC_CREATE, &a);

	close(fd);
	return err;
}

/* Two pages, the second of which is not mapped. */
static unsigned char *edge(int prot)
{
	unsigned char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + PAGE, PAGE, prot))
		die("no memory");
	return p + PAGE;
}

static void fresh(void)
{
	struct pollfd p = { .fd = open_dev(), .events = POLLIN };
	struct spindle_rdmc_event ev;
	uint64_t word[8] = { 0 };
	unsigned long cmd[] = { SPINDLE_RDMC_IOC_SEND, SPINDLE_RDMC_IOC_ACCEPT,
				SPINDLE_RDMC_IOC_REFUSE, SPINDLE_RDMC_IOC_CANCEL,
				SPINDLE_RDMC_IOC_STAT, SPINDLE_RDMC_IOC_CLOSE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmd); i++) {
		is(call(p.fd, cmd[i], word), ENOTCONN, "no group: request %u", i);
		is(call(p.fd, cmd[i], NULL), ENOTCONN, "no group: request %u of nothing", i);
	}
	is(read(p.fd, &ev, sizeof(ev)) < 0 ? errno : 0, ENOTCONN, "no group: read");
	is(poll(&p, 1, 0), 1, "no group: poll does not wait");
	is(p.revents, POLLERR, "no group: poll");
	is(write(p.fd, &ev, sizeof(ev)) < 0 ? errno : 0, EINVAL, "write");
	is(lseek(p.fd, 0, SEEK_END) < 0 ? errno : 0, ESPIPE, "lseek");
	is(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, p.fd, 0) == MAP_FAILED ? errno : 0, ENODEV,
	   "mmap");
	close(p.fd);
}

static void sizes(void)
{
	static const uint32_t bad[] = { 0, 1, 4, sizeof(struct spindle_rdmc_create) - 1,
					PAGE + 1, UINT32_MAX };
	struct {
		struct spindle_rdmc_create a;
		uint8_t tail[8];
	} longer = { .a = args(1, two, 2) };
	struct spindle_rdmc_create a, *p;
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		a = args(1, two, 2);
		a.size = bad[i];
		is(try(a), EINVAL, "create: size %u", bad[i]);
	}
	longer.a.size = sizeof(longer);
	longer.tail[7] = 1;
	fd = open_dev();
	is(call(fd, SPINDLE_RDMC_IOC_CREATE, &longer), EINVAL,
	   "create: unknown fields that are not zero");
	longer.tail[7] = 0;
	is(call(fd, SPINDLE_RDMC_IOC_CREATE, &longer), 0,
	   "create: unknown fields that are zero, same file");
	is(longer.a.size, sizeof(longer.a), "create: the reply has the known size");
	is(longer.a.rank, 0, "create: the reply has the rank");
	close(fd);

	fd = open_dev();
	is(call(fd, SPINDLE_RDMC_IOC_CREATE, NULL), EFAULT, "create: a null pointer");
	is(call(fd, SPINDLE_RDMC_IOC_CREATE, (void *)-PAGE), EFAULT, "create: a kernel address");
	p = (void *)(edge(PROT_NONE) - 8);
	p->size = sizeof(*p);
	is(call(fd, SPINDLE_RDMC_IOC_CREATE, p), EFAULT,
	   "create: half of the argument is unmapped");
	p = (void *)edge(PROT_READ | PROT_WRITE);
	*p = args(2, two, 2);
	mprotect(p, PAGE, PROT_READ);
	is(call(fd, SPINDLE_RDMC_IOC_CREATE, p), EFAULT, "create: the argument is read-only");
	close(fd);
}

static void fields(void)
{
	static const uint32_t twice[] = { 1, 2, 1 }, strange[] = { 1, 77 }, others[] = { 2, 3 };
	static const uint32_t block[] = { 1, 2048, 4095, 4097, 12288, 2 << 20, 1U << 31,
					  UINT32_MAX };
	static const uint32_t count[] = { 0, 1, 65, 1U << 30, UINT32_MAX };
	struct spindle_rdmc_create a;
	uint32_t many[64], *half;
	unsigned int i;

#define WITH(field, value) ({ a = args(1, two, 2); a.field = (value); try(a); })
	for (i = 0; i < 32; i++)
		if (WITH(flags, 1U << i) != EINVAL)
			break;
	is(i, 32, "create: no flag");
	is(WITH(group, 0), EINVAL, "create: group 0");
	for (i = 0; i < ARRAY_SIZE(count); i++)
		is(WITH(count, count[i]), EINVAL, "create: %u members", count[i]);
	for (i = 0; i < ARRAY_SIZE(block); i++)
		is(WITH(block, block[i]), EINVAL, "create: blocks of %u", block[i]);
	is(WITH(algorithm, SPINDLE_RDMC_HYBRID + 1), EINVAL, "create: algorithm 5");
	is(WITH(algorithm, UINT32_MAX), EINVAL, "create: no algorithm");
	is(WITH(timeout_ms, UINT32_MAX), 0, "create: the longest time");
	is(WITH(timeout_ms, 1), 0, "create: the shortest time");
	is(WITH(members, 0), EFAULT, "create: no list");
	is(WITH(members, (uint64_t)-PAGE), EFAULT, "create: the kernel's list");
	is(WITH(members, 1ULL << 63), EFAULT, "create: a list at an illegal address");
	half = (uint32_t *)edge(PROT_NONE) - 1;
	*half = 1;
	is(WITH(members, (uintptr_t)half), EFAULT, "create: half of the list is unmapped");
	is(WITH(node, 77), ENODEV, "create: unknown node");
	is(WITH(node, 0), ENODEV, "create: no node");
	is(WITH(node, 4), ENOTCONN, "create: node without a view");
	is(WITH(node, 3), EINVAL, "create: node that is no member");
#undef WITH
	is(try(args(1, twice, 3)), EINVAL, "create: a member twice");
	is(try(args(1, strange, 2)), ENOENT, "create: a member that is not in the view");
	is(try(args(1, others, 2)), EINVAL, "create: a group without the own node");
	for (i = 0; i < 64; i++)
		many[i] = i + 1;
	is(try(args(1, many, 64)), ENOENT, "create: 64 members");
	a = args(1, two, 2);
	a.block = 0;
	a.timeout_ms = 0;
	i = open_dev();
	is(call(i, SPINDLE_RDMC_IOC_CREATE, &a), 0, "create: defaults");
	is(a.block, 256 << 10, "create: the reply has the default block");
	is(a.timeout_ms, 30000, "create: the reply has the default timeout");
	is(call(i, SPINDLE_RDMC_IOC_CREATE, &a), EISCONN,
	   "create: a second group of the same file");
	is(try(a), EEXIST, "create: a group id that is in use");
	close(i);
	is(try(a), 0, "create: the same id after the group is gone");
}

/* As many groups as a lane accepts, and one more. */
static void many_groups(void)
{
	int fd[300], n, err = 0, tries = 0;
	struct spindle_rdmc_create a;

	for (n = 0; n < 300 && !err; n++) {
		fd[n] = open_dev();
		a = args(1, two, 2);
		err = call(fd[n], SPINDLE_RDMC_IOC_CREATE, &a);
	}
	is(err, ENOSPC, "create: too many groups of two nodes");
	is(n, 257, "create: the number of groups at that limit");
	close(fd[0]);
	do {
		a = args(1, two, 2);
		err = call(fd[n - 1], SPINDLE_RDMC_IOC_CREATE, &a);
		usleep(10000);
	} while (err == ENOSPC && tries++ < 1000);
	is(err, 0, "create: a closed group makes room");
	while (--n)
		close(fd[n]);
}

void part_create(void)
{
	fresh();
	sizes();
	fields();
	many_groups();
}
