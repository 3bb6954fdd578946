/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tools of the parts: groups by bare ioctls, and the events of their files.
 */
#ifndef SPINDLE_RDMC_BAD_RDMC_BAD_H
#define SPINDLE_RDMC_BAD_RDMC_BAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/spindle_rdmc.h>

#define PAGE		4096UL
#define DEVICE		"/dev/spindle-rdmc"
#define WAIT_MS		60000	/* bounds a failure only */

/* Open a new file, or end the test. */
int open_dev(void);

/* The errno of an ioctl, positive. */
int call(int fd, unsigned long cmd, void *arg);

/* Correct arguments of a new group. The first member is the root. */
struct spindle_rdmc_create args(uint32_t node, const uint32_t *member, uint32_t count);

/* An id that was not used yet. */
uint64_t next_group(void);

/* A file with a group. */
int create(uint64_t group, uint32_t node, const uint32_t *member, uint32_t count,
	   uint32_t algorithm, uint32_t timeout_ms);

/* The same for members 1 to @n, all in this process, until all are open. */
void create_all(int *fd, uint32_t n, uint32_t algorithm, uint32_t timeout_ms);

/* The next event, if it comes in time. */
bool next(int fd, struct spindle_rdmc_event *ev, int ms);

/* The next event, which has to be of this kind. Other events are printed. */
bool expect(int fd, uint32_t kind, struct spindle_rdmc_event *ev);

/* Read until DONE of an object; returns its error, or -1: something else came. */
int done(int fd, uint64_t object);

/* Read until the group has ended; returns its error, or -1. */
int ended(int fd);

/* errno of these, positive. */
int send_it(int fd, const void *addr, uint64_t len, uint64_t *object);
int accept_it(int fd, uint64_t object, void *addr, uint64_t len);
int cancel(int fd, uint64_t object);
int refuse(int fd, uint64_t object);

/* All members close. Returns whether all ended with all objects (@whole), or without. */
bool close_all(int *fd, uint32_t n, bool whole);

/* Memory of this process, of whole pages, with bytes that follow from @seed. */
unsigned char *memory(size_t bytes, uint64_t seed);
void paint(unsigned char *p, size_t len, uint64_t seed);
bool painted(const unsigned char *p, size_t len, uint64_t seed);

/* The parts, one for each word that rdmc-bad understands. */
void part_create(void);		/* create.c */
void part_order(void);		/* order.c */
void part_queue(void);
void part_unread(void);
void part_send(void);		/* memory.c */
void part_accept(void);
void part_memlock(void);	/* memlock.c */
void part_vanish(void);		/* vanish.c */
void part_death(void);
void part_fair(void);		/* fair.c */
void part_race(void);		/* race.c */
void part_churn(void);
void part_pins(void);
void part_gone(void);

#endif /* SPINDLE_RDMC_BAD_RDMC_BAD_H */
