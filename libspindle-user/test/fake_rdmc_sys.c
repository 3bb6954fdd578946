// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls of the library, as requests to fake_rdmc.c.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <linux/spindle_rdmc.h>

#include "sys.h"
#include "fake_rdmc.h"

#define FILES	256

/* Control socket of an open file, by its descriptor; 0: none. */
static int control[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Send the other end of the event socket to the fake. */
static int send_fd(int sock, int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room,
			      .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &msg, MSG_NOSIGNAL) == 1 ? 0 : -EIO;
}

int spindle_sys_open(const char *path, int flags)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *where = getenv(FAKE_RDMC_ENV);
	int sock, sv[2];

	(void)flags;
	if (!where || strcmp(path, "/dev/spindle-rdmc"))
		return -ENOENT;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", where);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		abort();
	/* Allow the fake to access our memory, which Yama would forbid. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (connect(sock, (struct sockaddr *)&to, sizeof(to)) || send_fd(sock, sv[1])) {
		close(sock);
		close(sv[0]);
		close(sv[1]);
		return -ENOENT;
	}
	close(sv[1]);
	if (sv[0] >= FILES)
		abort();
	control[sv[0]] = sock;
	return sv[0];
}

static int request(int fd, unsigned long cmd, void *arg, size_t len)
{
	struct fake_rdmc_request req = { .cmd = cmd };
	struct fake_rdmc_reply rep;
	ssize_t n;

	if (fd < 0 || fd >= FILES || !control[fd])
		return -EBADF;
	if (len > sizeof(req.arg))
		abort();
	memcpy(req.arg, arg, len);
	pthread_mutex_lock(&lock);
	n = send(control[fd], &req, sizeof(req), MSG_NOSIGNAL);
	do {
		if (n == sizeof(req))
			n = recv(control[fd], &rep, sizeof(rep), 0);
	} while (n < 0 && errno == EINTR);
	pthread_mutex_unlock(&lock);
	if (n != sizeof(rep))
		return -EIO;
	memcpy(arg, rep.arg, len);
	return (int)rep.ret;
}

int spindle_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	char none;

	return request(fd, cmd, arg ? arg : &none, arg ? _IOC_SIZE(cmd) : 0);
}

void spindle_sys_close(int fd)
{
	char none;

	/* The fake answers when it does not use our memory any more. */
	request(fd, 0, &none, 0);
	close(control[fd]);
	control[fd] = 0;
	close(fd);
}

ssize_t spindle_sys_read(int fd, void *buf, size_t len)
{
	const size_t size = sizeof(struct spindle_rdmc_event);
	ssize_t n, done = 0;

	if (fd < 0 || fd >= FILES || !control[fd])
		return -EBADF;
	while (len - (size_t)done >= size) {
		n = recv(fd, (char *)buf + done, size, MSG_DONTWAIT);
		if (n < 0 && !done)
			return -errno;
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}

int spindle_sys_poll(int fd, short events, short *revents, const struct timespec *timeout)
{
	struct pollfd p = { .fd = fd, .events = events };
	int ret = ppoll(&p, 1, timeout, NULL);

	*revents = p.revents;
	return ret < 0 ? -errno : ret;
}

/* The fake has no subgroups, so there is nothing to map. */
int spindle_sys_mmap(int fd, uint64_t cookie, size_t len, int prot, int flags, void **addr)
{
	(void)fd;
	(void)cookie;
	(void)len;
	(void)prot;
	(void)flags;
	(void)addr;
	return -ENODEV;
}

void spindle_sys_munmap(void *addr, size_t len)
{
	(void)addr;
	(void)len;
}
