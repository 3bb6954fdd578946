/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is on disk of a log: a scan with memory of its own, and how far it is. See scan.c.
 *
 * Owner: the log, or the state of the node. Context: the main thread; a scan waits for the disk.
 */
#ifndef SPINDLE_LOGD_SCAN_H
#define SPINDLE_LOGD_SCAN_H

#include "io.h"
#include "log.h"
#include "progress.h"

/* A frame is at least this long, if a segment has room for four of them. */
#define LOGD_FRAME	(1U << 20)
/* Segments that a log has at most: 1 TiB of 64 MiB each. A scan has an entry for each. */
#define LOGD_SEGMENTS	16384U
/* Epochs that a scan has, the newest ones. */
#define LOGD_EPOCHS	4096U
/* Ranges that are damaged, of those that a scan has. */
#define LOGD_DAMAGED	64U

uint32_t logd_scan_frame(struct logd_port *io, uint32_t need);
int logd_scan(struct spindle_dlog_scan *s, struct logd_port *io, uint32_t frame,
	      const struct spindle_dlog_scan *before, struct logd_progress *progress);
void logd_scan_drop(struct spindle_dlog_scan *s);

#endif /* SPINDLE_LOGD_SCAN_H */
