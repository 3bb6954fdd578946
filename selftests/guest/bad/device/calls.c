// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls besides attach and mmap, including poll(), and the eventfd that may replace it.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev-bad.h"
#include "map.h"
#include "queue.h"
#include "tap.h"

#ifdef __x86_64__
/*
 * Make an ioctl without argument as a 32-bit process does. Returns its result, negative on an
 * error.
 */
static int old_ioctl(int fd, unsigned int cmd)
{
	int ret;

	asm volatile("int $0x80" : "=a"(ret) : "a"(54), "b"(fd), "c"(cmd), "d"(0)
		     : "r8", "r9", "r10", "r11", "cc", "memory");
	return ret;
}

/*
 * Kernels may be built or booted without support for 32-bit processes. User-Mode Linux never has
 * it.
 */
static void calls_of_32_bits(int fd)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(-old_ioctl(fd, SPINDLE_IOC_KICK) & 0xff);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || !system("grep -q 'User Mode Linux' /proc/cpuinfo"))
		puts("# this kernel runs no processes of 32 bits");
	else
		is(WEXITSTATUS(status), ENOTTY, "kick by a process of 32 bits");
}
#endif

void part_calls(void)
{
	struct spindle_member m[8] = { 0 };
	struct spindle_members arg = { .count = 8, .ptr = (uintptr_t)m };
	struct spindle_queue q;
	int fd = open_dev(), i;

	is(call(fd, SPINDLE_IOC_KICK, NULL), ENOTCONN, "kick of an unattached file");
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), ENOTCONN, "members of an unattached file");
	ok(pollable(fd, POLLIN | POLLOUT, POLLERR, 0), "poll of an unattached file");
#ifdef __x86_64__
	calls_of_32_bits(fd);
#endif
	close(fd);

	must_attach(&q, 1, 1, BOTH, -1);
	fd = spindle_fd(&q);
	is(call(fd, SPINDLE_IOC_KICK, NULL), 0, "kick");
	is(call(fd, SPINDLE_IOC_KICK, (void *)1), 0, "kick with an argument");
	is(call(fd, SPINDLE_IOC_MEMBERS, NULL), EFAULT, "members: no argument");
	arg.resv = 1;
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), EINVAL, "members: reserved word");
	arg.resv = 0;
	arg.count = 2;
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), ENOSPC, "members: too little room");
	is(arg.count, 3, "members: room that is needed");
	ok(all_zero((void *)m, sizeof(m)), "members: nothing was copied");
	arg.ptr = 8;
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), EFAULT, "members: bad pointer");
	arg.ptr = (uintptr_t)m;
	arg.count = UINT32_MAX;
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), 0, "members: room for any number of members");
	is(arg.count, 3, "members: count");
	for (i = 0; i < 3; i++)
		ok(m[i].node == (uint32_t)i + 1 && m[i].sender_rank == (uint32_t)i,
		   "members: rank %d", i);
	ok(all_zero((void *)&m[3], sizeof(m[3])), "members: only real members are copied");

	/* Check poll() while one ring fills up and another one is read. */
	ok(pollable(fd, POLLIN | POLLOUT, POLLOUT, 0), "poll: room, nothing to read");
	for (i = 0; i < 16 && !send_one(&q, i, 64); i++)
		;
	is(i, 16, "a sender fills its window");
	is(send_one(&q, i, 64), -EAGAIN, "a full window takes no more messages");
	ok(pollable(fd, POLLIN, POLLIN, 20000), "poll: something to read");
	ok(pollable(fd, POLLOUT, 0, 0), "poll: no room until the message is read");
	for (i = 0; i < 16; i++)
		if (read_one(&q, i, 64, 20000) != 1)
			break;
	is(i, 16, "a reader gets all messages of the window");
	spindle_release(&q);
	ok(pollable(fd, POLLOUT, POLLOUT, 20000), "poll: room again");
	ok(pollable(fd, POLLIN, 0, 0), "poll: nothing to read after the last message");
	spindle_detach(&q);

	must_attach(&q, 1, 2, SPINDLE_ATTACH_RECV, -1);
	arg.count = 8;
	is(call(spindle_fd(&q), SPINDLE_IOC_MEMBERS, &arg), 0, "members: of subgroup 2");
	ok(arg.count == 2 && m[0].sender_rank == SPINDLE_NO_RANK && !m[1].sender_rank,
	   "members: one of them is no sender");
	spindle_detach(&q);
}

void part_notify(void)
{
	int efd = eventfd(0, EFD_NONBLOCK), i;
	struct spindle_queue q, s;
	eventfd_t v;

	must_attach(&q, 1, 2, SPINDLE_ATTACH_RECV, efd);
	must_attach(&s, 2, 2, SPINDLE_ATTACH_SEND, -1);
	while (!eventfd_read(efd, &v))
		;
	ok(pollable(efd, POLLIN, 0, 0), "eventfd: silent");
	for (i = 0; i < 20; i++) {
		if (send_wait(&s, i, 100) || !pollable(efd, POLLIN, POLLIN, 20000))
			break;
		eventfd_read(efd, &v);
		if (read_release(&q, i, 100, 0) != 1)
			break;
	}
	is(i, 20, "eventfd: signalled at each of 20 deliveries");
	/* The descriptor may be closed, because the attachment holds the eventfd. */
	i = dup(efd);
	close(efd);
	if (send_wait(&s, 7, 100))
		die("send");
	ok(pollable(i, POLLIN, POLLIN, 20000), "eventfd: after its descriptor was closed");
	spindle_detach(&q);
	spindle_detach(&s);
	close(i);
}
