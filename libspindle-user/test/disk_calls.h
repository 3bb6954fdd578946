/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that change a disk. The linker puts those of a test in front of those of the C library, see
 * --wrap of ld(1).
 */
#ifndef SPINDLE_TEST_DISK_CALLS_H
#define SPINDLE_TEST_DISK_CALLS_H

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __real_unlinkat(int at, const char *file, int flags);
int __wrap_unlinkat(int at, const char *file, int flags);

#endif /* SPINDLE_TEST_DISK_CALLS_H */
