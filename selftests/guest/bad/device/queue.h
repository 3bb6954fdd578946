/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues of the library. Messages have at most 1024 bytes, which follow from their number.
 */
#ifndef SPINDLE_DEV_BAD_QUEUE_H
#define SPINDLE_DEV_BAD_QUEUE_H

#include <stdint.h>
#include <spindle/spindle.h>

/* Attach, or end the test. */
void must_attach(struct spindle_queue *q, uint32_t node, uint32_t subgroup, uint32_t flags,
		 int event_fd);

/* The bytes that follow from a number. */
void fill(unsigned char *p, uint32_t len, uint64_t key);

/* Send one message; 0 or -errno. */
int send_one(struct spindle_queue *q, uint64_t num, uint32_t len);

/* Send, and wait for room while another process reads; 0 or -errno. */
int send_wait(struct spindle_queue *q, uint64_t num, uint32_t len);

/*
 * Take the next message and check its bytes. Returns 1 if it is right, 0 if none came, or -errno;
 * -EILSEQ: other bytes. The function polls the ring, because poll() does not wait for a new message
 * while others are held.
 */
int read_one(struct spindle_queue *q, uint64_t num, uint32_t len, int timeout);

/* The same, and release all held messages. */
int read_release(struct spindle_queue *q, uint64_t num, uint32_t len, int timeout);

#endif /* SPINDLE_DEV_BAD_QUEUE_H */
