/* SPDX-License-Identifier: MIT */
/*
 * A file that says that a program needs no message below a position: "snapshot.NAME", because the
 * program has a snapshot, or "trim", because the administrator has said so. The same bytes in
 * "repair" ask for the repair of the damaged range at the position.
 *
 * Owner: the caller has all buffers. Context: any; the functions keep no state.
 */
#ifndef SPINDLE_DLOG_SNAP_H
#define SPINDLE_DLOG_SNAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPINDLE_DLOG_SNAP_MAGIC		0x534c5053U	/* "SPLS" on disk */
#define SPINDLE_DLOG_REPAIR_FILE	"repair"
/* Characters of the name of a program. */
#define SPINDLE_DLOG_SNAP_NAME		32U
/* Bytes of the longest name of a file, with its end: "snapshot.", the name, ".new". */
#define SPINDLE_DLOG_SNAP_FILE		48U

/**
 * struct spindle_dlog_snap_disk - such a file
 */
struct spindle_dlog_snap_disk {
	/** @magic: SPINDLE_DLOG_SNAP_MAGIC */
	uint32_t magic;
	/** @version: 1 */
	uint32_t version;
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @era: of the group */
	uint64_t era;
	/** @lsn: no message below is needed, or the one that is damaged */
	uint64_t lsn;
	/** @resv: 0 */
	uint32_t resv;
	/** @crc: CRC-32C of the bytes up to here */
	uint32_t crc;
};

static_assert(sizeof(struct spindle_dlog_snap_disk) == 48, "such a file has 48 bytes");

/**
 * struct spindle_dlog_snap - the same in memory
 */
struct spindle_dlog_snap {
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @era: of the group */
	uint64_t era;
	/** @lsn: no message below is needed, or the one that is damaged */
	uint64_t lsn;
};

bool spindle_dlog_snap_name(const char *name);
int spindle_dlog_snap_read(int dir, const char *file, struct spindle_dlog_snap *to);

#endif /* SPINDLE_DLOG_SNAP_H */
