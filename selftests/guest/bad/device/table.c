// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device of tables: requests that it refuses, and the reply to one that it does not refuse.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "dev-bad.h"
#include "ipc-lock.h"
#include "map.h"
#include "table.h"
#include "tap.h"

#define WRITE	SPINDLE_TABLE_WRITE

static int open_sst(void)
{
	int fd = open(SST_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", SST_DEVICE, strerror(errno));
	return fd;
}

static int attach_to(int fd, struct spindle_table_attach a)
{
	return call(fd, SPINDLE_TABLE_IOC_ATTACH, &a);
}

/* The same with a new file. The file is closed if the attach fails or @fd is NULL. */
static int attach_new_to(uint32_t node, uint32_t table, uint32_t flags, int *fd)
{
	int new = open_sst(), err = attach_to(new, cells_args(node, table, flags));

	if (fd && !err)
		*fd = new;
	else
		close(new);
	return err;
}

/* The attach is refused, its argument is as it was, and the file stays free. */
static void refused(int fd, struct spindle_table_attach a, int want, const char *what)
{
	struct spindle_table_attach was = a;

	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, &a), want, "table: %s: %s", what, strerror(want));
	ok(!memcmp(&a, &was, sizeof(a)), "table: %s: the argument is unchanged", what);
	is(call(fd, SPINDLE_TABLE_IOC_KICK, NULL), ENOTCONN, "table: %s: not attached", what);
}

/* ---- arguments ----------------------------------------------------------- */

static void table_sizes(int fd)
{
	static const uint32_t shorter[] = { 0, 4, 24, sizeof(struct spindle_table_attach) - 8,
					    sizeof(struct spindle_table_attach) - 1 };
	static unsigned char page[2 * PAGE] __attribute__((aligned(4096)));
	struct spindle_table_attach *a = (void *)page;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shorter); i++) {
		*a = cells_args(1, ROWS, 0);
		a->size = shorter[i];
		is(call(fd, SPINDLE_TABLE_IOC_ATTACH, a), EPROTONOSUPPORT, "table: size %u",
		   shorter[i]);
	}
	*a = cells_args(1, ROWS, 0);
	a->size = PAGE + 8;
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, a), EINVAL, "table: size of more than a page");
	a->size = UINT32_MAX;
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, a), EINVAL, "table: size 2^32-1");
	a->size = sizeof(*a) + 63;
	page[sizeof(*a) + 62] = 1;
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, a), EINVAL,
	   "table: an odd size, and something behind what is known");
	a->size = PAGE;
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, a), EINVAL,
	   "table: a page, and something behind what is known");
	is(call(fd, SPINDLE_TABLE_IOC_KICK, NULL), ENOTCONN, "table: no size has attached it");
}

static void table_pointers(int fd)
{
	char *two = last_page();
	struct spindle_table_attach *a = (void *)(two + PAGE - 64);

	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, NULL), EFAULT, "table: no argument");
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, (void *)8), EFAULT, "table: bad argument");
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, (void *)UINTPTR_MAX), EFAULT,
	   "table: the last address");
	a->size = sizeof(*a);
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, a), EFAULT, "table: half an argument");
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, two + PAGE - 2), EFAULT, "table: half a size");
	munmap(two, PAGE);
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, two), EFAULT, "table: unmapped argument");
}

static void table_names(int fd)
{
	struct spindle_table_attach a = cells_args(1, 0, 0);
	char *page = last_page();

	a.name = (uintptr_t)"";
	refused(fd, a, ENOENT, "empty name");
	a.name = (uintptr_t)"third";
	refused(fd, a, ENOENT, "unknown name");
	a.name = (uintptr_t)"first";
	refused(fd, a, ENOENT, "name of a subgroup with messages");
	memset(page, 'x', PAGE);
	a.name = (uintptr_t)page;
	refused(fd, a, ENAMETOOLONG, "a name without an end");
	a.name = (uintptr_t)(page + PAGE - 65);
	refused(fd, a, ENAMETOOLONG, "a name of 65 characters, and then no memory");
	a.name = (uintptr_t)(page + PAGE - 8);
	refused(fd, a, EFAULT, "a name that ends at no memory");
	munmap(page, PAGE);
	a.name = (uintptr_t)page;
	refused(fd, a, EFAULT, "a name in no memory");
	a.name = UINT64_MAX;
	refused(fd, a, EFAULT, "a name at the last address");
	a.name = (uintptr_t)"rows";
	a.table = ROWS;
	refused(fd, a, EINVAL, "id and name");
}

static void table_values(int fd)
{
	struct spindle_table_attach a = cells_args(1, ROWS, 0);
	int null = open("/dev/null", O_RDWR);

	refused(fd, cells_args(1, ROWS, 4), EINVAL, "flag 4");
	refused(fd, cells_args(1, ROWS, WRITE | 1U << 30), EINVAL, "flag 2^30");
	refused(fd, cells_args(1, ROWS, 1U << 31), EINVAL, "flag 2^31");
	a.resv = 1;
	refused(fd, a, EINVAL, "reserved word");
	a.resv = 0;
	a.event_fd = -2;
	refused(fd, a, EINVAL, "event_fd -2");
	a.event_fd = INT32_MIN;
	refused(fd, a, EINVAL, "event_fd -2^31");
	a.event_fd = 999;
	refused(fd, a, EBADF, "event_fd 999");
	a.event_fd = null;
	refused(fd, a, EINVAL, "event_fd of something else");
	a.event_fd = fd;
	refused(fd, a, EINVAL, "event_fd of the file itself");
	refused(fd, cells_args(99, ROWS, 0), ENODEV, "unknown node");
	refused(fd, cells_args(0, ROWS, 0), ENODEV, "node 0");
	refused(fd, cells_args(UINT32_MAX, ROWS, 0), ENODEV, "node 2^32-1");
	refused(fd, cells_args(4, ROWS, 0), ENOENT, "node without view");
	refused(fd, cells_args(1, 77, 0), ENOENT, "unknown table");
	refused(fd, cells_args(1, 0, 0), ENOENT, "table 0");
	refused(fd, cells_args(1, 8, 0), ENOENT, "table without the node");
	refused(fd, cells_args(1, 1, 0), ENOENT, "a subgroup with messages");
	refused(fd, cells_args(1, 1, WRITE), ENOENT, "a subgroup with messages, to write");
	close(null);
}

static void table_elsewhere(void)
{
	int status, fd = open_sst();
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNET))
			_exit(99);
		_exit(attach_to(fd, cells_args(1, ROWS, 0)));
	}
	waitpid(pid, &status, 0);
	is(WEXITSTATUS(status), ENODEV, "table: node of another network namespace");
	close(fd);
}

/* ---- calls --------------------------------------------------------------- */

static void table_unattached(int fd)
{
	struct spindle_seats seats = { .resv = 1 };

	is(call(fd, SPINDLE_TABLE_IOC_KICK, NULL), ENOTCONN, "table: kick before the attach");
	is(call(fd, SPINDLE_TABLE_IOC_SEATS, &seats), EINVAL, "table: seats, reserved word");
	seats.resv = 0;
	is(call(fd, SPINDLE_TABLE_IOC_SEATS, &seats), ENOTCONN, "table: seats before the attach");
	ok(pollable(fd, POLLIN | POLLOUT, POLLERR, 0), "table: poll before the attach");
	is(map_errno(fd, 0, PAGE, PROT_READ, MAP_SHARED), ENOTCONN, "table: ctl before the attach");
	is(map_errno(fd, 3ULL << 40, PAGE, PROT_READ, MAP_SHARED), ENOTCONN,
	   "table: rows before the attach");
}

static void table_numbers(int fd)
{
	static unsigned char page[PAGE];
	static const unsigned long wrong[] = {
		SPINDLE_IOC_ATTACH, SPINDLE_IOC_KICK, SPINDLE_IOC_MEMBERS, SPINDLE_IOC_SILENCE,
		SPINDLE_IOC_SEATS, SPINDLE_IOC_REPORT, SPINDLE_IOC_FILL,
		_IO(SPINDLE_IOC_MAGIC, 63), _IO(SPINDLE_IOC_MAGIC, 64), _IO(SPINDLE_IOC_MAGIC, 67),
		_IOW(SPINDLE_IOC_MAGIC, 64, struct spindle_table_attach),
		_IOWR(SPINDLE_IOC_MAGIC, 65, struct spindle_table_attach),
		_IOWR(SPINDLE_IOC_MAGIC, 66, struct spindle_members),
		_IOWR(SPINDLE_IOC_MAGIC + 1, 64, struct spindle_table_attach), 0, UINT32_MAX,
	};
	int other = open_dev();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		is(call(fd, wrong[i], page), ENOTTY, "table: ioctl %#lx", wrong[i]);
	is(read(fd, page, 1) < 0 ? errno : 0, EINVAL, "table: read()");
	is(write(fd, page, 1) < 0 ? errno : 0, EINVAL, "table: write()");
	is(call(other, SPINDLE_TABLE_IOC_ATTACH, page), ENOTTY, "table: attach, other device");
	is(call(other, SPINDLE_TABLE_IOC_KICK, NULL), ENOTTY, "table: kick, other device");
	is(call(other, SPINDLE_TABLE_IOC_SEATS, page), ENOTTY, "table: seats, other device");
	is(attach(other, args(1, ROWS, SPINDLE_ATTACH_RECV)), EPERM, "a table has no readers");
	is(attach(other, args(1, ROWS, SPINDLE_ATTACH_SEND)), EPERM, "a table has no senders");
	is(attach(other, args(1, ROWS, COPY | SPINDLE_ATTACH_HISTORY)), EPERM,
	   "a table has no history");
	close(other);
}

static void table_seats(int fd, uint64_t vid)
{
	struct spindle_seat seat[4];
	struct spindle_seats arg = { .count = 2, .ptr = (uintptr_t)seat };
	uint32_t i;

	memset(seat, 0, sizeof(seat));
	is(call(fd, SPINDLE_TABLE_IOC_SEATS, NULL), EFAULT, "table: seats, no argument");
	is(call(fd, SPINDLE_TABLE_IOC_SEATS, &arg), ENOSPC, "table: seats, not enough room");
	ok(arg.count == 3 && all_zero((void *)seat, sizeof(seat)),
	   "table: seats, only the number was copied");
	arg.ptr = 8;
	is(call(fd, SPINDLE_TABLE_IOC_SEATS, &arg), EFAULT, "table: seats, bad pointer");
	arg.ptr = (uintptr_t)seat;
	arg.vid = vid + 1;
	is(call(fd, SPINDLE_TABLE_IOC_SEATS, &arg), ENOENT, "table: seats of the next view");
	arg.vid = vid - 1;
	is(call(fd, SPINDLE_TABLE_IOC_SEATS, &arg), ESTALE, "table: seats of the view before");
	arg.vid = vid;
	arg.count = UINT32_MAX;
	is(call(fd, SPINDLE_TABLE_IOC_SEATS, &arg), 0, "table: seats");
	for (i = 0; i < 3; i++)
		ok(seat[i].node == i + 1 && seat[i].sst == i &&
		   seat[i].flags == (i ? 0 : SPINDLE_SEAT_ME), "table: seat of rank %u", i);
	ok(all_zero((void *)&seat[3], sizeof(seat[3])), "table: seats of members only");
}

/* ---- an attach that is right ----------------------------------------------- */

/* The fields that only the reply fills contain rubbish before. */
static void table_reply(int fd)
{
	struct spindle_table_attach a;

	memset(&a, 0xa5, sizeof(a));
	a.size = sizeof(a);
	a.node = 1;
	a.table = 0;
	a.flags = WRITE;
	a.event_fd = -1;
	a.resv = 0;
	a.name = (uintptr_t)"rows";
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, &a), 0, "table: rubbish where the reply goes");
	ok(a.size == sizeof(a) && a.table == ROWS && !a.name && !a.resv,
	   "table: reply: size, id and reserved words");
	ok(a.vid == 5 && a.members == 3 && !a.rank, "table: reply: view");
	ok(a.cells == 8 && a.cell == 64 && !a.own_instance && a.instances == 3,
	   "table: reply: cells and instances");
	is(a.lineage[0] | a.lineage[1] | a.era, 0, "table: reply: a static view");
	is(a.features & ~(SPINDLE_TABLE_FEAT_LIVE | SPINDLE_TABLE_FEAT_VOUCH), 0,
	   "table: reply: features");
	ok(a.ctl.len == PAGE && a.usr.len == PAGE && a.own.len == PAGE && a.rows.len == PAGE,
	   "table: reply: sections");
	is(attach_to(fd, cells_args(1, ROWS, 0)), EISCONN, "table: the same file again");
	is(attach_to(fd, cells_args(99, 0, 0)), EISCONN, "table: the same file, to nowhere");
	is(attach_new_to(1, ROWS, WRITE, NULL), EBUSY, "table: a second writer");
	is(attach_new_to(2, ROWS, WRITE, NULL), 0, "table: a writer of another node");
	is(attach_new_to(1, 7, WRITE, NULL), 0, "table: a writer of another table");
	is(attach_new_to(1, ROWS, 0, NULL), 0, "table: a reader besides a writer");
	table_seats(fd, a.vid);
}

/* A newer program, whose argument is longer. */
static void table_newer(void)
{
	struct {
		struct spindle_table_attach a;
		uint64_t newer[8];
	} longer = { .a = cells_args(1, ROWS, 0) };
	int fd = open_sst();

	longer.a.size = sizeof(longer);
	is(call(fd, _IOC(_IOC_READ | _IOC_WRITE, SPINDLE_IOC_MAGIC, 64, sizeof(longer)), &longer),
	   0, "table: a newer program");
	is(longer.a.size, sizeof(longer.a), "table: reply: bytes that the kernel knows");
	close(fd);
}

/* An argument that the reply cannot be written to. The attach holds, as that of /dev/spindle. */
static void table_read_only(void)
{
	struct spindle_table_attach *a = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open_sst();

	if (a == MAP_FAILED)
		die("mmap");
	*a = cells_args(1, ROWS, WRITE);
	mprotect(a, PAGE, PROT_READ);
	is(call(fd, SPINDLE_TABLE_IOC_ATTACH, a), EFAULT, "table: an argument that is read-only");
	close(fd);
	is(attach_new_to(1, ROWS, WRITE, NULL), 0, "table: the row is free again after that");
	munmap(a, PAGE);
}

static void table_many(void)
{
	int fd[SPINDLE_MAX_TABLE_FILES], more = open_sst();
	unsigned int i, good = 0;

	for (i = 0; i < SPINDLE_MAX_TABLE_FILES; i++) {
		fd[i] = open_sst();
		good += !attach_to(fd[i], cells_args(1, ROWS, i ? 0 : WRITE));
	}
	is(good, SPINDLE_MAX_TABLE_FILES, "table: as many attachments as there may be");
	refused(more, cells_args(1, ROWS, 0), EUSERS, "one more");
	refused(more, cells_args(1, ROWS, WRITE), EBUSY, "one more, that writes");
	is(attach_new_to(2, ROWS, 0, NULL), 0, "table: the limit counts one node");
	close(fd[0]);
	is(attach_to(more, cells_args(1, ROWS, WRITE)), 0, "table: when one has gone");
	for (i = 1; i < SPINDLE_MAX_TABLE_FILES; i++)
		close(fd[i]);
	close(more);
}

/* ---- memory -------------------------------------------------------------- */

static void set_memlock(rlim_t bytes)
{
	struct rlimit r = { bytes, bytes };

	if (setrlimit(RLIMIT_MEMLOCK, &r))
		die("setrlimit: %s", strerror(errno));
}

static void memlock_child(void)
{
	struct spindle_table_attach a = cells_args(1, ROWS, 0);
	int fd = open_sst(), i, bad = 0;

	drop_ipc_lock();
	set_memlock(2 * PAGE);
	/* A refused attach charges nothing. */
	a.event_fd = 999;
	for (i = 0; i < 100; i++) {
		bad += attach_to(fd, a) != EBADF;
		bad += !!attach_new_to(1, ROWS, WRITE, NULL);
	}
	is(bad, 0, "table: 100 attachments under a limit for one, and 100 refusals");
	is(attach_to(fd, cells_args(1, ROWS, WRITE)), 0, "table: a limit for one allows one");
	is(attach_new_to(1, ROWS, 0, NULL), ENOMEM, "table: a limit for one refuses two");
	close(fd);
	set_memlock(2 * PAGE - 1);
	is(attach_new_to(1, ROWS, WRITE, NULL), ENOMEM, "table: a limit one byte too low");
	set_memlock(0);
	fd = open_sst();
	refused(fd, cells_args(1, ROWS, WRITE), ENOMEM, "RLIMIT_MEMLOCK 0");
	exit(tap_bad != 0);
}

static void table_memlock(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		memlock_child();
	waitpid(pid, &status, 0);
	tap_bad += !!status;
	is(attach_new_to(1, ROWS, WRITE, NULL), 0, "table: the row is free after refusals");
}

void part_table(void)
{
	int fd = open_sst();

	table_unattached(fd);
	table_sizes(fd);
	table_pointers(fd);
	table_values(fd);
	table_names(fd);
	table_numbers(fd);
	table_elsewhere();
	table_reply(fd);
	table_numbers(fd);
	close(fd);
	table_newer();
	table_read_only();
	table_memlock();
	table_many();
	table_maps();
	table_polls();
}
