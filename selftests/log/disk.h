/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of a disk with one directory, as the port of a log.
 *
 * Each sector has what the platter holds and what was written last. A sector is dirty until a sync
 * or a write through has put it on the platter. Each file has the names that it got since the last
 * sync of the directory. Operations wait until the schedule ends them, in any order.
 *
 * Owner: the schedule. Context: one thread.
 */
#ifndef SPINDLE_DLOG_TEST_DISK_H
#define SPINDLE_DLOG_TEST_DISK_H

#include "log.h"

#include "rng.h"

#define DISK_SECTOR 512U
#define DISK_FILES 44
#define DISK_BYTES (64U << 10) /* of a file, at most */
#define DISK_SECTORS (DISK_BYTES / DISK_SECTOR)
#define DISK_OPS 16
#define DISK_NAMES 8

/* What a power failure or the end of a process does to whatever is not durable. */
enum disk_loss { DISK_LOSE_SOME, DISK_LOSE_ALL, DISK_LOSE_NONE };

/* What goes wrong with an operation. */
enum disk_fault { DISK_FINE, DISK_EIO, DISK_NOWHERE, DISK_ASTRAY };

struct disk_name {
	bool there; /* false: no name, the file is gone */
	u32 pair; /* another file has lost or got its name in the same moment; 0: none */
	struct spindle_dlog_file file;
};

struct disk_file {
	bool used;
	u32 bytes;
	u32 names;
	struct disk_name name[DISK_NAMES]; /* the durable one, then those that followed */
	u8 platter[DISK_BYTES];
	u8 cache[DISK_BYTES]; /* of dirty sectors */
	bool dirty[DISK_SECTORS];
	bool bad[DISK_SECTORS]; /* cannot be read */
};

struct disk_op {
	bool used;
	struct spindle_dlog_op op;
	u8 *data; /* copy of what is written */
	bool snap[DISK_SECTORS]; /* dirty when the sync began */
};

struct disk {
	struct rng rng;
	struct spindle_dlog_port port;
	struct disk_file *file;
	struct disk_op op[DISK_OPS];
	u32 pending;
	u32 pairs; /* that there were */
	u32 most; /* files of a segment's size that there is room for */
	bool frozen; /* no operation may begin */
	const char *wrong; /* what a test has to report */
	u64 writes, syncs, refused;
};

void disk_init(struct disk *disk, u64 seed, bool through);
void disk_free(struct disk *disk);
/* End an operation, the ith one of those that wait. Return: its token, and what to report. */
u32 disk_end(struct disk *disk, u32 i, enum disk_fault fault, int *err);
/* The process ends. With @power the machine does, too. */
void disk_crash(struct disk *disk, bool power, enum disk_loss loss);
struct disk_file *disk_find(struct disk *disk, struct spindle_dlog_file file);
/* The ith operation that waits. */
struct disk_op *disk_pending(struct disk *disk, u32 i);
int disk_read(struct disk_file *f, u64 offset, void *buf, u32 len);
/* A random segment, or NULL. */
struct disk_file *disk_any_segment(struct disk *disk);

#endif /* SPINDLE_DLOG_TEST_DISK_H */
