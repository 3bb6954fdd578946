// SPDX-License-Identifier: MIT
/*
 * The system calls of the library. The self-test replaces this file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys.h"

int spindle_sys_open(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

void spindle_sys_close(int fd)
{
	close(fd);
}

int spindle_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

int spindle_sys_mmap(int fd, uint64_t cookie, size_t len, int prot, int flags, void **addr)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED | flags, fd, (off_t)cookie);
	int err;

	if (p == MAP_FAILED)
		return -errno;
	/* A child must not become a second writer of the rings. */
	if (madvise(p, len, MADV_DONTFORK)) {
		err = -errno;
		munmap(p, len);
		return err;
	}
	*addr = p;
	return 0;
}

void spindle_sys_munmap(void *addr, size_t len)
{
	munmap(addr, len);
}

ssize_t spindle_sys_read(int fd, void *buf, size_t len)
{
	ssize_t n = read(fd, buf, len);

	return n < 0 ? -errno : n;
}

int spindle_sys_poll(int fd, short events, short *revents, const struct timespec *timeout)
{
	struct pollfd p = { .fd = fd, .events = events };
	int ret = ppoll(&p, 1, timeout, NULL);

	*revents = p.revents;
	return ret < 0 ? -errno : ret;
}
