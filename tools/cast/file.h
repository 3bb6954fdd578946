/* SPDX-License-Identifier: GPL-2.0-only */
/* Files to send: their list, and their bytes in memory. */
#ifndef SPINDLE_CAST_FILE_H
#define SPINDLE_CAST_FILE_H

#include <stdbool.h>

#include "manifest.h"
#include "opts.h"

/**
 * struct cast_files - files to send
 */
struct cast_files {
	/** @m: manifest, which describes them to the receivers */
	struct cast_manifest m;
	/** @path: path of each file */
	char **path;
};

/**
 * struct cast_memory - bytes of a file in memory
 */
struct cast_memory {
	/** @addr: bytes; NULL: none */
	void *addr;
	/** @len: number of bytes */
	size_t len;
};

int cast_files_find(struct cast_files *f, const struct cast_opts *o);
int cast_file_map(const struct cast_files *f, uint32_t i, struct cast_memory *m);
int cast_file_copy(const struct cast_files *f, uint32_t i, struct cast_memory *m);
int cast_memory_new(struct cast_memory *m, uint64_t len);
void cast_memory_free(struct cast_memory *m);

#endif /* SPINDLE_CAST_FILE_H */
