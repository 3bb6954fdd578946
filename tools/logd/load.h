/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots of programs that a log gets from other nodes. See load.c.
 *
 * Owner: the log, which catches up. Context: the main thread, in its loop.
 */
#ifndef SPINDLE_LOGD_LOAD_H
#define SPINDLE_LOGD_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "snap.h"

struct logd;

/* Programs that a peer is asked for. */
#define LOGD_PROGRAMS	16U
/* A peer that cannot be asked is tried so many times. */
#define LOGD_LOAD_ROUNDS	3U
/* Bytes that all snapshots of a directory may have together, without an option. */
#define LOGD_SNAP_MOST	(4ULL << 30)
/* Bytes of a snapshot that wait for their sync. */
#define LOGD_LOAD_SYNC	(4U << 20)
/* The file that bytes of a snapshot go to, before they have been checked. */
#define LOGD_LOAD_FILE	"fetched"

/**
 * enum logd_load_step - what a peer is asked for
 */
enum logd_load_step {
	/** @LOGD_LOAD_OFF: nothing */
	LOGD_LOAD_OFF,
	/** @LOGD_LOAD_BEGINS: the next program is to be asked for */
	LOGD_LOAD_BEGINS,
	/** @LOGD_LOAD_FINDS: a program was asked for */
	LOGD_LOAD_FINDS,
	/** @LOGD_LOAD_TAKES: bytes of its snapshot come */
	LOGD_LOAD_TAKES,
};

/**
 * struct logd_load - how a log gets snapshots
 */
struct logd_load {
	/** @step: enum logd_load_step */
	uint32_t step;
	/** @done: all peers were asked, or nothing is missing any more */
	bool done;
	/** @missed: a peer could not be asked in this round */
	bool missed;
	/** @rounds: how many have ended */
	unsigned int rounds;
	/** @programs: that this peer has named */
	unsigned int programs;
	/** @low: position of the first message that the log has, or will have */
	uint64_t low;
	/** @fd: the file, while @step is LOGD_LOAD_TAKES */
	int fd;
	/** @crc: CRC-32C of the bytes that have come */
	uint32_t crc;
	/** @bytes: how many there are */
	uint64_t bytes;
	/** @synced: how many of them were synced */
	uint64_t synced;
	/** @loaded: snapshots that have got their names */
	unsigned int loaded;
};

bool logd_load_due(struct logd *l, uint64_t low, uint64_t end);
bool logd_load_begin(struct logd *l, uint64_t low);
bool logd_load_covers(const struct logd *l);
void logd_load_order(struct logd *l);
bool logd_load_end_peer(struct logd *l);
bool logd_load_end_round(struct logd *l);
int logd_load_put(void *arg, const uint8_t *p, uint32_t len);
void logd_load_end(struct logd *l);

#endif /* SPINDLE_LOGD_LOAD_H */
