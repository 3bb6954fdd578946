// SPDX-License-Identifier: MIT
/*
 * Child processes of a replica, which save the state: fork() has made a copy of the state, so the
 * parent goes on in the meantime.
 */
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replica.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/*
 * The child closes all other files, because attachments and connections would not end with its
 * parent while another process has them open.
 */
static void run_child(struct spindle_replica *r, int keep, replica_work_fn work, uint64_t lsn,
		      pid_t parent)
{
	const unsigned int fd = (unsigned int)keep;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (fd > 3)
		syscall(SYS_close_range, 3, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0U, 0);
	_exit(work(r, keep, lsn) ? 1 : 0);
}

/* Wait for a child that ends. */
static void reap(idtype_t type, id_t id)
{
	siginfo_t info;

	while (waitid(type, id, &info, WEXITED) && errno == EINTR)
		;
}

/*
 * Have @work done in a child, with @fd as the only file beside 0 to 2. @child is set to a pidfd,
 * which wakes the replica. Return: 0 or a negative errno, without a child.
 */
int replica_fork(struct spindle_replica *r, int fd, replica_work_fn work, uint64_t lsn, int *child)
{
	pid_t parent = getpid(), pid = fork();
	int err = 0, pidfd;

	if (pid < 0)
		return -errno;
	if (!pid)
		run_child(r, fd, work, lsn, parent);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		err = -errno;
	if (!err)
		err = replica_watch(r, pidfd, EPOLLIN);
	if (!err) {
		*child = pidfd;
		return 0;
	}
	kill(pid, SIGKILL);
	reap(P_PID, (id_t)pid);
	if (pidfd >= 0)
		close(pidfd);
	return err;
}

static void forget(struct spindle_replica *r, int *child)
{
	replica_unwatch(r, *child);
	close(*child);
	*child = -1;
}

/* Has the child ended? Its status does not matter: the program may have reaped it. */
bool replica_ended(struct spindle_replica *r, int *child)
{
	siginfo_t info = { 0 };

	if (!waitid(P_PIDFD, (id_t)*child, &info, WEXITED | WNOHANG) && !info.si_pid)
		return false;
	forget(r, child);
	return true;
}

/* End a child, if there is one. */
void replica_kill(struct spindle_replica *r, int *child)
{
	if (*child < 0)
		return;
	syscall(SYS_pidfd_send_signal, *child, SIGKILL, NULL, 0);
	reap(P_PIDFD, (id_t)*child);
	forget(r, child);
}
