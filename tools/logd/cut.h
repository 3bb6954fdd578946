/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The note in the directory of a log, in cut.a or cut.b: the log has only what is on the way to an
 * era. The history can compare a log with itself only inside of one era. So a log that has no
 * message of the present era needs the note, and without one it is refused.
 *
 * Owner: nobody, because a note is written and read as a whole. Context: the main thread; a write
 * waits for the disk.
 */
#ifndef SPINDLE_LOGD_CUT_H
#define SPINDLE_LOGD_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "format.h"

/**
 * struct logd_cut - a note
 */
struct logd_cut {
	/** @lineage: of the group */
	uint64_t lineage[2];
	/** @salt: of the log, because another one may have its place later */
	uint64_t salt;
	/** @era: the era */
	uint64_t era;
};

int logd_cut_write(int dir, const struct spindle_dlog_ident *id, uint64_t era);
int logd_cut_has(int dir, const struct spindle_dlog_ident *id, uint64_t era);

#endif /* SPINDLE_LOGD_CUT_H */
