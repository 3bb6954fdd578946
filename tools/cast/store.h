/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory for received files. All files stay below it, and a file gets its name only when it
 * is complete.
 */
#ifndef SPINDLE_CAST_STORE_H
#define SPINDLE_CAST_STORE_H

#include <stdbool.h>

#include "manifest.h"
#include "opts.h"

/**
 * struct cast_store - a directory
 */
struct cast_store {
	/** @fd: descriptor of the directory */
	int fd;
	/** @o: options */
	const struct cast_opts *o;
};

/**
 * struct cast_write - a file that is being written
 */
struct cast_write {
	/** @e: properties of the file; NULL: there is none */
	const struct cast_entry *e;
	/** @data: bytes */
	const unsigned char *data;
	/** @dir: directory of the file */
	int dir;
	/** @fd: the file, under its temporary name */
	int fd;
	/** @temp: the temporary name */
	char temp[256];
	/** @done: bytes that are written */
	uint64_t done;
	/** @crc: CRC of these bytes */
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
