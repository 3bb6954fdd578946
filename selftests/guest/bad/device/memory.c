// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: which user is charged for it, and what if there is not enough?
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev-bad.h"
#include "table.h"
#include "tap.h"
#include "ipc-lock.h"

static void set_memlock(rlim_t bytes)
{
	struct rlimit r = { bytes, bytes };

	if (setrlimit(RLIMIT_MEMLOCK, &r))
		die("setrlimit: %s", strerror(errno));
}

static void memlock_nobody(uint64_t need)
{
	struct spindle_attach a = args(1, 2, SPINDLE_ATTACH_RECV);
	int fd = open_dev();

	set_memlock(need - 1);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		die("setresuid: %s", strerror(errno));
	is(open(SPINDLE_DEVICE, O_RDWR) < 0 ? errno : 0, EACCES,
	   "user nobody may not open the device");
	is(call(fd, SPINDLE_IOC_ATTACH, &a), ENOMEM,
	   "memlock: user nobody with a limit one byte too low");
	is(a.memlock, need, "memlock: the reply has the needed bytes");
	set_memlock(0);
	is(attach(fd, args(1, 2, SPINDLE_ATTACH_RECV)), ENOMEM,
	   "memlock: user nobody with a limit of 0");
	exit(tap_bad != 0);
}

/* A table charges its two pages, and nothing for rows, which are those of the view. */
static void memlock_table(void)
{
	struct cells c, two;
	int i, bad = 0;
	uint64_t need;

	set_memlock(64 << 20);
	table_attach(&c, table_args(1, SPINDLE_TABLE_WRITE, -1));
	need = c.a.ctl.len + c.a.usr.len;
	cells_detach(&c);
	set_memlock(need - 1);
	is(cells_attach(&c, table_args(1, 0, -1)), -ENOMEM,
	   "memlock: a table, with a limit one byte too low");
	set_memlock(need);
	for (i = 0; i < 100; i++) {
		bad += !!cells_attach(&c, table_args(1, SPINDLE_TABLE_WRITE, -1));
		bad += cells_attach(&two, table_args(1, 0, -1)) != -ENOMEM;
		cells_detach(&c);
	}
	is(bad, 0, "memlock: a table, 100 attachments under a limit for one, and no second one");
	bad = 0;
	for (i = 0; i < 100; i++)
		bad += cells_attach(&c, table_args(1, 0, 999)) != -EBADF;
	is(bad, 0, "memlock: a table, 100 refusals");
	is(cells_attach(&c, table_args(1, 0, -1)), 0, "memlock: a table, refusals charge nothing");
	cells_detach(&c);
}

void part_memlock(void)
{
	struct spindle_attach a = args(1, 2, SPINDLE_ATTACH_RECV);
	int fd = open_dev(), other, i, status, bad = 0;
	uint64_t need;
	pid_t pid;

	set_memlock(0);
	is(call(fd, SPINDLE_IOC_ATTACH, &a), 0, "memlock: no limit with CAP_IPC_LOCK");
	need = a.memlock;
	is(need, a.ctl.len + a.usr.len + a.dlv.len, "memlock: the charge is ctl, usr and dlv");
	close(fd);
	set_memlock(64 << 20);

	fflush(stdout);
	pid = fork();
	if (!pid)
		memlock_nobody(need);
	waitpid(pid, &status, 0);
	tap_bad += !!status;

	/* Run as root, which may open the device, but without the right to ignore the limit. */
	drop_ipc_lock();
	set_memlock(need);
	for (i = 0; i < 1000; i++)
		bad += !!attach_new(1, 2, SPINDLE_ATTACH_RECV, NULL);
	is(bad, 0, "memlock: 1000 attachments under a limit for one");
	is(attach_new(1, 2, SPINDLE_ATTACH_RECV, &fd), 0,
	   "memlock: a limit for one attachment allows one");
	other = open_dev();
	a = args(1, 2, SPINDLE_ATTACH_RECV);
	is(call(other, SPINDLE_IOC_ATTACH, &a), ENOMEM,
	   "memlock: a limit for one attachment refuses two");
	is(a.memlock, need, "memlock: the refusal has the needed bytes");
	close(fd);
	is(attach(other, args(1, 2, SPINDLE_ATTACH_RECV)), 0,
	   "memlock: the same file attaches after room is free");
	close(other);
	/* An attach that is refused for another reason charges nothing either. */
	for (i = bad = 0; i < 100; i++) {
		a = args(1, 2, SPINDLE_ATTACH_RECV);
		a.event_fd = 999;
		fd = open_dev();
		bad += call(fd, SPINDLE_IOC_ATTACH, &a) != EBADF;
		close(fd);
		bad += attach_new(1, 1, BOTH, NULL) != ENOMEM;
	}
	is(bad, 0, "memlock: 100 refusals");
	is(attach_new(1, 2, SPINDLE_ATTACH_RECV, NULL), 0, "memlock: refusals charge nothing");
	memlock_table();
}

/* This part needs a machine with less memory than the rings take. */
void part_nomem(void)
{
	struct spindle_attach a = args(1, 1, COPY);
	int fd = open_dev();

	a.copy_bytes = SPINDLE_MAX_RING;
	is(call(fd, SPINDLE_IOC_ATTACH, &a), ENOMEM, "nomem: a copy ring of 1 GiB");
	ok(a.memlock > SPINDLE_MAX_RING, "nomem: the reply has the needed bytes");
	is(attach(fd, args(1, 1, COPY)), 0, "nomem: the same file attaches with a smaller ring");
	close(fd);
}
