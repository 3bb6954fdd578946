/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which messages nobody needs any more: snapshots of programs, and what the administrator has said.
 * See snapshot.c.
 *
 * Owner: the log. Context: the main thread, in its loop.
 */
#ifndef SPINDLE_LOGD_SNAPSHOT_H
#define SPINDLE_LOGD_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

struct logd;

/**
 * struct logd_snapshots - what the files in the directory say
 */
struct logd_snapshots {
	/** @least: smallest position of a snapshot; 0: none, or one that cannot be read */
	uint64_t least;
	/** @trim: the administrator needs nothing below; 0: not said */
	uint64_t trim;
	/** @floor: what the kernel was told, also by an earlier logger */
	uint64_t floor;
	/** @asked: @floor is known */
	bool asked;
	/** @told: the administrator knows of a file that cannot be read */
	bool told;
	/** @look_ms: when the files were read last; 0: never */
	uint64_t look_ms;
};

/* The files are read this often. */
#define LOGD_SNAPSHOT_MS	2000U

void logd_snapshots_look(struct logd *l);
bool logd_snapshots_position(struct logd *l, uint64_t *lsn);

#endif /* SPINDLE_LOGD_SNAPSHOT_H */
