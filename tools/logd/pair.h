/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two files of which one is always whole. Each write goes to the file with the older contents, so a
 * write that does not end leaves the newer ones. What was read is on disk, as what was written.
 *
 * Owner: the record or the voter whose bytes the files have. Context: the main thread; a write
 * waits for the disk.
 */
#ifndef SPINDLE_LOGD_PAIR_H
#define SPINDLE_LOGD_PAIR_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a file beside its contents. */
#define LOGD_PAIR_BYTES	32U

/**
 * struct logd_pair - two files
 */
struct logd_pair {
	/** @dir: their directory, which somebody else closes */
	int dir;
	/** @name: their names */
	const char *name[2];
	/** @generation: of the newer one, which grows by one; 0: there is none */
	uint64_t generation;
};

int logd_pair_put(int fd, const uint8_t *from, size_t len);
int logd_pair_replace(int dir, const char *next, const char *name, const uint8_t *from, size_t len);
int logd_pair_read(struct logd_pair *pair, uint8_t *to, size_t size, size_t *len);
int logd_pair_write(struct logd_pair *pair, const uint8_t *from, size_t len);

#endif /* SPINDLE_LOGD_PAIR_H */
