/* SPDX-License-Identifier: MIT */
/*
 * The names of a log's files in its directory:
 *
 *	meta.0, meta.1		meta blocks
 *	00000000000000a1.seg	a segment, by its number
 *	spare.N			a file of a segment's length without a number
 *	new			a file that is being made
 *	fix			a segment that is being repaired
 *
 * All other files of the directory are foreign, and the log leaves them alone.
 *
 * Owner: the caller, that has all memory. Context: any; the functions keep no state.
 */
#ifndef SPINDLE_DLOG_NAMES_H
#define SPINDLE_DLOG_NAMES_H

#include <stddef.h>

#include "port.h"

/* Bytes of the longest name, with its end: "spare." and 20 digits. */
#define SPINDLE_DLOG_NAME	27U

int spindle_dlog_name(struct spindle_dlog_file file, char *buf, size_t size);
int spindle_dlog_parse_name(const char *text, struct spindle_dlog_file *file);
void spindle_dlog_sort(struct spindle_dlog_file *file, uint32_t n);

#endif /* SPINDLE_DLOG_NAMES_H */
