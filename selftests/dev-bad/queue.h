/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues, as the library has them. Messages have at most 1024 bytes, which follow from
 * their number.
 */
#ifndef SPINDLE_DEV_BAD_QUEUE_H
#define SPINDLE_DEV_BAD_QUEUE_H

#include <stdint.h>
#include <spindle/spindle.h>

/* An attachment without which the test is over. */
void must_attach(struct spindle_queue *q, uint32_t node, uint32_t subgroup, uint32_t flags,
		 int event_fd);

/* The bytes that follow from a number. */
void fill(unsigned char *p, uint32_t len, uint64_t key);

/* Send one message; 0 or -errno. */
int send_one(struct spindle_queue *q, uint64_t num, uint32_t len);

/* Send, waiting for room while somebody else reads; 0 or -errno. */
int send_wait(struct spindle_queue *q, uint64_t num, uint32_t len);

/*
 * Take the next message and look at its bytes. 1: fine, 0: none came, or -errno;
 * -EILSEQ: other bytes. Looks again and again: poll() does not wait for a new message
 * while others are held.
 */
int read_one(struct spindle_queue *q, uint64_t num, uint32_t len, int timeout);

/* The same, and all that is held goes back. */
int read_release(struct spindle_queue *q, uint64_t num, uint32_t len, int timeout);

#endif /* SPINDLE_DEV_BAD_QUEUE_H */
