/* SPDX-License-Identifier: MIT */
/*
 * Inside the library.
 */
#ifndef SPINDLE_INTERNAL_H
#define SPINDLE_INTERNAL_H

#include <spindle/spindle.h>

#include "sys.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Where attach.c mapped the sections; the rings of the senders are in q->source. */
struct spindle_layout {
	const unsigned char *ctl;
	unsigned char *usr;
	unsigned char *tx;
	const unsigned char *dlv;
};

/* Check a reply of the kernel against itself, before anything is mapped by it. */
int spindle_layout_check(const struct spindle_attach *a);

/* Point the queue into the mapped sections; cannot fail. */
void spindle_layout_apply(struct spindle_queue *q, const struct spindle_attach *a,
			  const struct spindle_layout *l);

#endif /* SPINDLE_INTERNAL_H */
