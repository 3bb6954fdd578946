/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tools of the parts: open files of the device.
 */
#ifndef SPINDLE_DEV_BAD_DEV_BAD_H
#define SPINDLE_DEV_BAD_DEV_BAD_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/spindle.h>

#define PAGE	4096UL
#define BOTH	(SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV)
#define COPY	(SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY)

/* Open the device, or end the test. */
int open_dev(void);

/* Arguments of an attach. The fields that only the reply fills are 0. */
struct spindle_attach args(uint32_t node, uint32_t subgroup, uint32_t flags);

/* The errno of an ioctl, positive. The two functions below return the same. */
int call(int fd, unsigned long cmd, void *arg);

/* An attach whose reply does not matter. */
int attach(int fd, struct spindle_attach a);

/* The same with a new file. The file is closed if the attach fails or @fd is NULL. */
int attach_new(uint32_t node, uint32_t subgroup, uint32_t flags, int *fd);

/* A page that can be read and written, with no page behind it. munmap() frees it. */
void *last_page(void);

/* Does poll() return in time exactly the wanted ones of @events, POLLERR and POLLHUP? */
bool pollable(int fd, short events, short want, int timeout);

/* The parts, one for each word that dev-bad understands. */
void part_attach(void);		/* attach.c */
void part_map(void);		/* map.c */
void part_calls(void);		/* calls.c */
void part_notify(void);
void part_silence(void);	/* silence.c */
void part_report(void);		/* report.c */
void part_older(void);		/* older.c */
void part_seats(void);		/* seats.c */
void part_seats_live(void);
void part_seats_past(void);
void part_fork(void);		/* fork.c */
void part_memlock(void);	/* memory.c */
void part_nomem(void);
void part_copy(void);		/* copy.c */
void part_forming(void);	/* state.c */
void part_gone(void);
void part_close(void);		/* close.c */
void part_table(void);		/* table.c */
void part_table_live(void);	/* table-use.c */
void part_predicate(void);	/* table-pred.c */
void part_hoard(void);
void part_flush(void);		/* table-flush.c */
void part_refresh(void);
void part_log(void);		/* log.c */

#endif /* SPINDLE_DEV_BAD_DEV_BAD_H */
