/* SPDX-License-Identifier: GPL-2.0-only */
/* Repeated looks: how often, and on what device. */
#ifndef SPINDLE_CTL_LOOKS_H
#define SPINDLE_CTL_LOOKS_H

#include <stdio.h>

#include "args.h"
#include "common/util.h"

#define CTL_NS_PER_S	1000000000ULL

/**
 * struct ctl_looks - how the user wants to look
 * @watch: look more than once
 * @delay: nanoseconds between two looks
 * @count: looks after the first one; 0: no end
 * @batch: print one look after another, also to a terminal
 */
struct ctl_looks {
	bool watch;
	uint64_t delay;
	uint64_t count;
	bool batch;
};

/**
 * struct ctl_look_ops - what is looked at
 * @take: take a sample. @n is the number of the look, from 0. The sample's memory is freed before
 *	look @n + 2, because it belongs to one of two pools. Sets @ns to the time of the sample, on
 *	the monotonic clock. Returns CTL_OK or CTL_FAILED
 * @json: print what has changed since the look before as JSON
 * @write: write the same as text, to @to
 */
struct ctl_look_ops {
	int (*take)(void *ctx, uint64_t n, uint64_t *ns);
	void (*json)(void *ctx);
	void (*write)(void *ctx, FILE *to);
};

int ctl_looks_take(struct ctl_args *a, struct ctl_looks *looks);
int ctl_looks_run(const struct ctl_looks *looks, const struct ctl_look_ops *ops, void *ctx);

#endif /* SPINDLE_CTL_LOOKS_H */
