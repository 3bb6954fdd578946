/* SPDX-License-Identifier: MIT */
/*
 * A file that says that a program needs no message below a position: "snapshot.NAME", because the
 * program has a snapshot, or "trim", because the administrator has said so. The same bytes in
 * "repair" ask for the repair of the damaged range at the position. And files with the snapshots
 * themselves, "snap.NAME.LSN" with the position in 16 hexadecimal digits.
 *
 * Owner: the caller has all buffers. Context: any; the functions keep no state.
 */
#ifndef SPINDLE_DLOG_SNAP_H
#define SPINDLE_DLOG_SNAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SPINDLE_DLOG_SNAP_MAGIC		0x534c5053U	/* "SPLS" on disk */
#define SPINDLE_DLOG_REPAIR_FILE	"repair"
/* Characters of the name of a program. */
#define SPINDLE_DLOG_SNAP_NAME		32U
/* Bytes of the longest name of a file, with its end: "snapshot.", the name, ".new". */
#define SPINDLE_DLOG_SNAP_FILE		64U
/* Bytes in front of the state in "snap.NAME.LSN". */
#define SPINDLE_DLOG_SNAP_HEAD		64U
#define SPINDLE_DLOG_SNAPSHOT_MAGIC	0x544c5053U	/* "SPLT" on disk */

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

/**
 * struct spindle_dlog_snapshot_disk - the beginning of a file with a snapshot
 */
struct spindle_dlog_snapshot_disk {
	/** @magic: SPINDLE_DLOG_SNAPSHOT_MAGIC */
	uint32_t magic;
	/** @version: 1 */
	uint32_t version;
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @era: of the group when the snapshot was made */
	uint64_t era;
	/** @lsn: position of the first message that is not in the snapshot */
	uint64_t lsn;
	/** @bytes: of the state, which follows */
	uint64_t bytes;
	/** @body: CRC-32C of these bytes */
	uint32_t body;
	/** @subgroup: id of the subgroup */
	uint32_t subgroup;
	/** @resv: 0 */
	uint32_t resv;
	/** @crc: CRC-32C of the bytes up to here */
	uint32_t crc;
};

static_assert(sizeof(struct spindle_dlog_snapshot_disk) == SPINDLE_DLOG_SNAP_HEAD,
	      "the head of a snapshot has 64 bytes");

/**
 * struct spindle_dlog_snapshot - the same in memory
 */
struct spindle_dlog_snapshot {
	/** @at: the group, and the position of the first message that is not in the snapshot */
	struct spindle_dlog_snap at;
	/** @subgroup: id of the subgroup */
	uint32_t subgroup;
	/** @bytes: of the state */
	uint64_t bytes;
	/** @body: CRC-32C of these bytes */
	uint32_t body;
};

bool spindle_dlog_snap_name(const char *name);
bool spindle_dlog_snap_newer(const struct spindle_dlog_snap *a, const struct spindle_dlog_snap *b);
void spindle_dlog_snapshot_build(struct spindle_dlog_snapshot_disk *to,
				 const struct spindle_dlog_snapshot *from);
int spindle_dlog_snapshot_parse(const struct spindle_dlog_snapshot_disk *from,
				struct spindle_dlog_snapshot *to);
void spindle_dlog_snapshot_file(const char *name, uint64_t lsn, char *file);
bool spindle_dlog_snapshot_lsn(const char *file, const char *name, uint64_t *lsn);
bool spindle_dlog_snapshot_split(const char *file, char *name, uint64_t *lsn);
int spindle_dlog_snap_read(int dir, const char *file, struct spindle_dlog_snap *to);
int spindle_dlog_snapshot_open(int dir, const char *file, uid_t owner,
			       struct spindle_dlog_snapshot *st);
int spindle_dlog_snapshot_look(int dir, const char *file, uint64_t lsn, uid_t owner,
			       struct spindle_dlog_snapshot *st);

#endif /* SPINDLE_DLOG_SNAP_H */
