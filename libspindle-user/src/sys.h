/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the library, in a file of their own, so that the self-test can link its
 * fake kernel instead. The functions return what the kernel returns: a value, or a negative
 * errno.
 */
#ifndef SPINDLE_SYS_H
#define SPINDLE_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* @flags: O_NONBLOCK, or 0 */
int spindle_sys_open(const char *path, int flags);
void spindle_sys_close(int fd);
int spindle_sys_ioctl(int fd, unsigned long cmd, void *arg);
/* @flags: MAP_POPULATE, or 0 */
int spindle_sys_mmap(int fd, uint64_t cookie, size_t len, int prot, int flags, void **addr);
void spindle_sys_munmap(void *addr, size_t len);
ssize_t spindle_sys_read(int fd, void *buf, size_t len);
int spindle_sys_poll(int fd, short events, short *revents, const struct timespec *timeout);

#endif /* SPINDLE_SYS_H */
