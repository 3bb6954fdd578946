/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings, and memory of which it is not known what is there.
 */
#ifndef SPINDLE_DEV_BAD_MAP_H
#define SPINDLE_DEV_BAD_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The errno of a mapping, which is not kept. */
int map_errno(int fd, uint64_t off, size_t len, int prot, int flags);

/* Whether nothing was written there. */
bool all_zero(const unsigned char *p, size_t n);

/* The kernel looks there: what write() of a byte says. */
int probe(const void *p);

#endif /* SPINDLE_DEV_BAD_MAP_H */
