/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where received files go: below one directory, nowhere else, and under their names only
 * when they are whole.
 */
#ifndef SPINDLE_CAST_STORE_H
#define SPINDLE_CAST_STORE_H

#include <stdbool.h>

#include "cast-manifest.h"
#include "cast-opts.h"

/**
 * struct cast_store - a directory
 * @fd: it
 * @overwrite: replace files that are different
 * @fsync: write through
 * @verify: compare checksums
 */
struct cast_store {
	int fd;
	bool overwrite;
	bool fsync;
	bool verify;
};

/**
 * struct cast_write - a file that is being written
 * @e: what it shall be; NULL: none
 * @data: bytes
 * @dir: its directory
 * @fd: it, under a name that is not its own
 * @temp: that name
 * @done: bytes that are written
 * @crc: of them
 */
struct cast_write {
	const struct cast_entry *e;
	const unsigned char *data;
	int dir;
	int fd;
	char temp[256];
	uint64_t done;
	uint32_t crc;
};

int cast_store_open(struct cast_store *s, const struct cast_opts *o);
void cast_store_look(const struct cast_store *s, const struct cast_manifest *m,
		     struct cast_say *say);
const char *cast_write_begin(struct cast_write *w, const struct cast_store *s,
			     const struct cast_entry *e, const void *data);
const char *cast_write_some(struct cast_write *w, const struct cast_store *s, bool *ready);
void cast_write_abort(struct cast_write *w);

#endif /* SPINDLE_CAST_STORE_H */
