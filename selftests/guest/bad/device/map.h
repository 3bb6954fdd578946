/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings, and probes of memory with unknown contents.
 */
#ifndef SPINDLE_DEV_BAD_MAP_H
#define SPINDLE_DEV_BAD_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Map and unmap. Returns the errno of the mapping. */
int map_errno(int fd, uint64_t off, size_t len, int prot, int flags);

/* Is the memory all zero? */
bool all_zero(const unsigned char *p, size_t n);

/* Let the kernel read a byte of the memory. Returns the result of write(). */
int probe(const void *p);

#endif /* SPINDLE_DEV_BAD_MAP_H */
