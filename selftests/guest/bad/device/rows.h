/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows that go while processes map them.
 */
#ifndef SPINDLE_DEV_BAD_ROWS_H
#define SPINDLE_DEV_BAD_ROWS_H

#include <sys/types.h>

/**
 * struct rows - readers of subgroup 1 of node 1
 * @rx: ring of a sender, of a reader that has consumed everything
 * @len: bytes of a ring
 * @tail: where the kernel counts its entries
 * @consumed: where the reader counts them
 * @child: a process of another user that has mapped a ring and reads nothing
 * @go: pipe to the child
 */
struct rows {
	unsigned char *rx;
	size_t len;
	const volatile uint64_t *tail;
	volatile uint64_t *consumed;
	pid_t child;
	int go[2];
};

/* Call this before messages are sent. */
void rows_open(struct rows *r);

/* Consume all messages of the first reader. */
void rows_consume(struct rows *r);

/* Call this after the view was deleted. */
void rows_check(struct rows *r);

#endif /* SPINDLE_DEV_BAD_ROWS_H */
