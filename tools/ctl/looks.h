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
 * struct ctl_span - the time between two looks
 * @now: sample at the end
 * @before: sample at the beginning; NULL: @now is the first one
 * @seconds: length; 0 without @before
 */
struct ctl_span {
	void *now;
	const void *before;
	double seconds;
};

/**
 * struct ctl_look_ops - what is looked at
 * @sample: bytes of a sample
 * @take: take the sample @span->now, which is zeroed. Its memory is freed before the look after the
 *	next one, because it belongs to one of two pools. Returns CTL_OK or CTL_FAILED
 * @json: print what has changed as JSON
 * @write: write the same as text, to @to
 */
struct ctl_look_ops {
	size_t sample;
	int (*take)(void *ctx, const struct ctl_span *span);
	void (*json)(const struct ctl_span *span);
	void (*write)(const struct ctl_span *span, FILE *to);
};

int ctl_looks_take(struct ctl_args *a, struct ctl_looks *looks);
int ctl_looks_run(const struct ctl_looks *looks, const struct ctl_look_ops *ops, void *ctx);

#endif /* SPINDLE_CTL_LOOKS_H */
