/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log in a real directory, by the writer and the port of spindle-logd, for tests of its peers.
 * The bytes of a message follow from its position.
 *
 * Owner: the test. Context: one thread.
 */
#ifndef SPINDLE_TEST_LOGD_STORE_H
#define SPINDLE_TEST_LOGD_STORE_H

#include "logd/io.h"
#include "logd/peer.h"

#define STORE_SEGMENT	(2U << 20)
#define STORE_FRAME	(1U << 20)
#define STORE_SEGMENTS	64U
#define STORE_FILES	(STORE_SEGMENTS + 16)
#define STORE_DEPTH	2U
#define STORE_RANGES	16U
#define STORE_ERA	3U
#define STORE_SUBGROUP	5U
/* Bytes of the longest message, which does not fit into a reply. */
#define STORE_LONGEST	(600U << 10)

/**
 * struct store - a log
 */
struct store {
	/** @dir: directory, which is removed at the end */
	char dir[64];
	/** @lock: lock file */
	int lock;
	/** @io: the port */
	struct logd_port io;
	/** @scan: what was there */
	struct spindle_dlog_scan scan;
	/** @log: the writer */
	struct spindle_dlog log;
	/** @file: memory of the scan */
	struct spindle_dlog_file file[STORE_FILES];
	/** @damaged: ranges that the scan has found */
	struct spindle_dlog_range damaged[STORE_RANGES];
	/** @seg: memory of the map */
	struct spindle_dlog_segment seg[STORE_SEGMENTS];
	/** @memory: that is freed at the end */
	void *memory[STORE_DEPTH + 3];
	/** @blocked: the writer has to wait */
	bool blocked;
};

bool store_make(struct store *s, uint64_t low);
bool store_open(struct store *s, uint64_t low);
void store_close(struct store *s);
void store_remove(struct store *s);
struct spindle_dlog_msg store_msg(uint64_t lsn);
void store_write(struct store *s, uint64_t to);
void store_reap(struct store *s);
void store_settle(struct store *s);
uint64_t store_right(struct store *s);

#endif /* SPINDLE_TEST_LOGD_STORE_H */
