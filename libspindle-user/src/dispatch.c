// SPDX-License-Identifier: MIT
/*
 * Batches for callers that prefer a callback to a loop.
 */
#include <errno.h>
#include <limits.h>

#include "internal.h"

#define BATCH	64

int spindle_dispatch(struct spindle_queue *q, spindle_batch_fn fn, void *arg, unsigned int budget)
{
	struct spindle_msg msgs[BATCH];
	unsigned int done = 0;
	int n, ret;

	if (!budget || budget > INT_MAX)
		return -EINVAL;
	if (q->rx_cursor != q->rx_released)
		return -EBUSY;
	while (done < budget) {
		n = spindle_next_batch(q, msgs, budget - done < BATCH ? budget - done : BATCH);
		if (n <= 0)
			return done ? (int)done : n;
		ret = fn(arg, msgs, (unsigned int)n);
		/* The history overwrote the batch while it was handled. */
		if (!spindle_intact(q))
			return -ESTALE;
		spindle_release(q);
		done += (unsigned int)n;
		if (ret)
			return ret < 0 ? ret : (int)done;
	}
	return (int)done;
}
