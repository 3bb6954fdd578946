/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings, and probes of memory with unknown contents.
 */
#ifndef SPINDLE_DEV_BAD_MAP_H
#define SPINDLE_DEV_BAD_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/spindle.h>

/**
 * struct part - a section of an attachment
 * @name: for the lines of tests
 * @s: the section
 * @stride: distance between its instances; 0: there is one
 * @ranks: number of instances
 * @writable: the process may write to it
 * @ring: it is a ring
 */
struct part {
	const char *name;
	struct spindle_section s;
	uint64_t stride;
	uint32_t ranks;
	bool writable, ring;
};

/* Map and unmap. Returns the errno of the mapping. */
int map_errno(int fd, uint64_t off, size_t len, int prot, int flags);

/* Is the memory all zero? */
bool all_zero(const unsigned char *p, size_t n);

/* Check which lengths, offsets and rights a mapping of the section may have. */
void map_part(int fd, const struct part *p);

/* Check a mapping of twice the length, and leave zeroes in a section that is writable. */
void map_doubled(int fd, const struct part *p);

/* Let the kernel read a byte of the memory. Returns the result of write(). */
int probe(const void *p);

#endif /* SPINDLE_DEV_BAD_MAP_H */
