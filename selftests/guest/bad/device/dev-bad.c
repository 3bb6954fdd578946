// SPDX-License-Identifier: GPL-2.0-only
/*
 * dev-bad: requests that /dev/spindle refuses, and uses that it survives.
 *
 *	dev-bad attach|map|calls|silence|report|older|seats|fork|memlock|table|notify|copy|forming|
 *		close|gone|nomem|seats-live|seats-past|table-live|predicate|flush|refresh|
 *		hoard|log
 *
 * Needs nodes 1 to 4 in this kernel; on 1 to 3 a view of the members 1, 2, 3 and 9, of which 9 is
 * nowhere, with the subgroups
 *	1	members 1 2 3, window 16, max-msg 1024, ring 16384
 *	2	members 1 2, sender 2, window 8, max-msg 512, ring 4096
 *	3	members 1 9: never active
 *	4	members 2 3
 *	5	members 1 2, from position 1000 on, with a history of 65536 bytes at both, and
 *		history-fill at node 1
 * and the tables
 *	6	members 1 2 3, 8 cells of 64 bytes, name rows
 *	7	members 1 2, 100 cells of 128 bytes
 *	8	members 2 3
 * "gone" removes views and nodes. "nomem" needs subgroup 1 of node 1 alone. "seats-live" needs
 * nodes 1 to 3 in a live view 5 with this subgroup, and node 4 in none; "seats-past" node 1 alone
 * in a live view, and node 2 in none; "table-live" nodes 1 to 3 in a live view with table 6, by
 * visibility imm, and node 4 in none. "hoard" needs node 3 in a view with table 6. It keeps
 * predicates of 10 MiB until a signal ends it. "log" needs node 1 alone in the first view of a live
 * view, with subgroup 1 of at most 1024 bytes, which has logs and where nothing was sent, and
 * subgroup 2, which has none.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev-bad.h"
#include "tap.h"

int open_dev(void)
{
	int fd = open(SPINDLE_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", SPINDLE_DEVICE, strerror(errno));
	return fd;
}

struct spindle_attach args(uint32_t node, uint32_t subgroup, uint32_t flags)
{
	struct spindle_attach a = {
		.size = sizeof(a),
		.node = node,
		.subgroup = subgroup,
		.flags = flags,
		.event_fd = -1,
	};

	return a;
}

int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

void *last_page(void)
{
	char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);

	if (two == MAP_FAILED || munmap(two + PAGE, PAGE))
		die("mmap");
	return two;
}

int attach(int fd, struct spindle_attach a)
{
	return call(fd, SPINDLE_IOC_ATTACH, &a);
}

int attach_new(uint32_t node, uint32_t subgroup, uint32_t flags, int *fd)
{
	int new = open_dev(), err = attach(new, args(node, subgroup, flags));

	if (fd && !err)
		*fd = new;
	else
		close(new);
	return err;
}

bool pollable(int fd, short events, short want, int timeout)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n = poll(&p, 1, timeout);

	if (n >= 0 && (p.revents & (events | POLLERR | POLLHUP)) == want)
		return true;
	printf("# poll: %d, events %#x, want %#x\n", n, p.revents, want);
	return false;
}

int main(int argc, char **argv)
{
	static const struct tap_case parts[] = {
		{ "attach", part_attach }, { "map", part_map }, { "calls", part_calls },
		{ "silence", part_silence }, { "report", part_report }, { "older", part_older },
		{ "seats", part_seats },
		{ "seats-live", part_seats_live }, { "seats-past", part_seats_past },
		{ "fork", part_fork }, { "memlock", part_memlock }, { "notify", part_notify },
		{ "copy", part_copy }, { "forming", part_forming }, { "close", part_close },
		{ "table", part_table }, { "table-live", part_table_live },
		{ "predicate", part_predicate }, { "flush", part_flush },
		{ "refresh", part_refresh }, { "hoard", part_hoard },
		{ "log", part_log },
		{ "gone", part_gone }, { "nomem", part_nomem },
	};

	return tap_part("dev-bad", parts, ARRAY_SIZE(parts), argc, argv);
}
