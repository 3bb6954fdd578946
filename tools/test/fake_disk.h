/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that the linker wraps (--wrap), where a test has a disk of its own. */
#ifndef SPINDLE_TEST_FAKE_DISK_H
#define SPINDLE_TEST_FAKE_DISK_H

#include <sys/types.h>

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_posix_fadvise64(int fd, off_t offset, off_t len, int advice);
int __wrap_posix_fadvise64(int fd, off_t offset, off_t len, int advice);

#endif /* SPINDLE_TEST_FAKE_DISK_H */
