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

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "format.h"

#define LOGD_CUT_MAGIC		0x434c5053U	/* "SPLC" on disk */
#define LOGD_CUT_VERSION	1U
/* Bytes at the beginning that the first notes did not have. */
#define LOGD_CUT_HEAD		8U

/**
 * struct logd_cut - a note; all numbers are little endian
 */
struct logd_cut {
	/** @magic: LOGD_CUT_MAGIC */
	uint32_t magic;
	/** @version: LOGD_CUT_VERSION */
	uint32_t version;
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @salt: of the log, because another one may have its place later */
	uint64_t salt;
	/** @era: the era */
	uint64_t era;
};

static_assert(sizeof(struct logd_cut) == 40, "a note has 40 bytes");

int logd_cut_write(int dir, const struct spindle_dlog_ident *id, uint64_t era);
int logd_cut_has(int dir, const struct spindle_dlog_ident *id, uint64_t era);

#endif /* SPINDLE_LOGD_CUT_H */
