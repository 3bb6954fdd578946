// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of replicas: which files may report what? loop-replica.sh looks at what the kernel shows.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev-bad.h"
#include "tap.h"

static int report(int fd, struct spindle_report r)
{
	return call(fd, SPINDLE_IOC_REPORT, &r);
}

static void pointers(int fd)
{
	unsigned char *page = last_page();

	is(call(fd, SPINDLE_IOC_REPORT, NULL), EFAULT, "report: no argument");
	is(call(fd, SPINDLE_IOC_REPORT, (void *)-8L), EFAULT, "report: the kernel's memory");
	is(call(fd, SPINDLE_IOC_REPORT, page + PAGE - 8), EFAULT, "report: half a report");
	is(call(fd, SPINDLE_IOC_REPORT, page + PAGE - sizeof(struct spindle_report)), 0,
	   "report: one at the end of a page");
	munmap(page, PAGE);
}

static void values(int fd)
{
	const struct spindle_report most = {
		.state = SPINDLE_REPLICA_RECEIVING, .donor = UINT32_MAX, .received = UINT64_MAX,
		.bytes = UINT64_MAX, .serving = UINT32_MAX,
	};
	uint32_t state;

	for (state = 0; state <= SPINDLE_REPLICA_FAILED; state++)
		is(report(fd, (struct spindle_report){ .state = state }), 0, "report: state %u",
		   state);
	is(report(fd, (struct spindle_report){ .state = state }), EINVAL,
	   "report: a state that there is not");
	is(report(fd, (struct spindle_report){ .state = UINT32_MAX }), EINVAL,
	   "report: the largest state");
	is(report(fd, (struct spindle_report){ .resv = 1 }), EINVAL, "report: a reserved word");
	is(report(fd, most), 0, "report: the largest numbers");
	is(report(fd, (struct spindle_report){ .received = 1 }), 0,
	   "report: none, and yet some bytes");
}

void part_report(void)
{
	int fd = open_dev();

	is(report(fd, (struct spindle_report){ 0 }), ENOTCONN, "report: of an unattached file");
	is(report(fd, (struct spindle_report){ .resv = 1 }), EINVAL,
	   "report: an unattached file with a reserved word");
	close(fd);
	if (attach_new(1, 1, SPINDLE_ATTACH_SEND, &fd))
		die("attach");
	is(report(fd, (struct spindle_report){ 0 }), EPERM, "report: of a file that only sends");
	close(fd);
	if (attach_new(1, 1, BOTH, &fd))
		die("attach");
	pointers(fd);
	values(fd);
	close(fd);
}
