// SPDX-License-Identifier: GPL-2.0-only
/*
 * Children: they inherit the file, and none of its mappings.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev-bad.h"
#include "map.h"
#include "queue.h"
#include "tap.h"

static int child_status(void (*fn)(void *p), void *p)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		fn(p);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void load(void *p)
{
	(void)__atomic_load_n((unsigned char *)p, __ATOMIC_RELAXED);
}

static void store(void *p)
{
	__atomic_store_n((unsigned char *)p, 1, __ATOMIC_RELAXED);
}

static void load_by_kernel(void *p)
{
	_exit(probe(p));
}

/* Map by hand, because the library also sets MADV_DONTFORK. */
static void fork_part(int fd, const char *name, const struct spindle_section *s, size_t times,
		      bool writable)
{
	void *m = mmap(NULL, s->len * times, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
		       fd, s->cookie);
	int status;

	if (m == MAP_FAILED)
		die("%s: %s", name, strerror(errno));
	status = child_status(writable ? store : load, m);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "fork: the child has no %s", name);
	status = child_status(load_by_kernel, m);
	is(WEXITSTATUS(status), EFAULT, "fork: the kernel finds no %s in the child", name);
	munmap(m, s->len * times);
}

void part_fork(void)
{
	struct spindle_attach a = args(1, 1, BOTH);
	struct spindle_queue q;
	int hold[2], fd = open_dev();
	unsigned int i;
	pid_t pid;
	char c;

	if (call(fd, SPINDLE_IOC_ATTACH, &a))
		die("attach: %s", strerror(errno));
	fork_part(fd, "ctl", &a.ctl, 1, false);
	fork_part(fd, "usr", &a.usr, 1, true);
	fork_part(fd, "tx", &a.tx, 2, true);
	fork_part(fd, "rx", &a.rx, 2, false);
	fork_part(fd, "dlv", &a.dlv, 1, false);
	fork_part(fd, "sst", &a.sst, 1, false);
	close(fd);

	must_attach(&q, 1, 1, BOTH, -1);
	/* The child lives on with the file, and the parent goes on. */
	if (pipe(hold))
		die("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(hold[1]);
		/* Wait until the parent closes the pipe. */
		_exit(read(hold[0], &c, 1));
	}
	close(hold[0]);
	for (i = 0; i < 100; i++)
		if (send_one(&q, i, i) || read_release(&q, i, i, 20000) != 1)
			break;
	is(i, 100, "fork: the parent's traffic goes on");
	spindle_detach(&q);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), EBUSY,
	   "fork: the child's file keeps the attachment");
	close(hold[1]);
	waitpid(pid, NULL, 0);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), 0,
	   "fork: the attachment ends with the child");
}
