/* SPDX-License-Identifier: GPL-2.0-only */
/* Repeated looks: how often, and on what device. */
#ifndef SPINDLE_CTL_LOOKS_H
#define SPINDLE_CTL_LOOKS_H

#include <stdio.h>

#include "args.h"
#include "common/net.h"
#include "common/util.h"

#define CTL_NS_PER_S	1000000000ULL

/* What the user wants to see; the index into the keys of a look. */
enum {
	CTL_LOOK_NODE,
	CTL_LOOK_ID,
	CTL_LOOK_VALS
};

/**
 * struct ctl_looks - what the user wants to see, and how
 */
struct ctl_looks {
	/** @net: netlink */
	struct ctl_net net;
	/** @val: the node and the object to show */
	struct ctl_val val[CTL_LOOK_VALS];
	/** @watch: look more than once */
	bool watch;
	/** @delay: nanoseconds between two looks */
	uint64_t delay;
	/** @count: looks after the first one; 0: no end */
	uint64_t count;
	/** @batch: print one look after another, also to a terminal */
	bool batch;
};

/**
 * struct ctl_span - the time between two looks
 */
struct ctl_span {
	/** @now: sample at the end */
	void *now;
	/** @before: sample at the beginning; NULL: @now is the first one */
	const void *before;
	/** @seconds: length; 0 without @before */
	double seconds;
};

/**
 * struct ctl_look_ops - what is looked at
 */
struct ctl_look_ops {
	/** @sample: bytes of a sample */
	size_t sample;
	/**
	 * @take: take the sample @span->now, which is zeroed. Its memory is freed before the look
	 * after the next one, because it belongs to one of two pools. Returns CTL_OK or CTL_FAILED
	 */
	int (*take)(struct ctl_looks *looks, const struct ctl_span *span);
	/** @json: print what has changed as JSON */
	void (*json)(const struct ctl_span *span);
	/** @write: write the same as text, to @to */
	void (*write)(const struct ctl_span *span, FILE *to);
};

int ctl_looks_take(struct ctl_args *a, const struct ctl_key *keys, struct ctl_looks *looks);
int ctl_looks_run(struct ctl_looks *looks, const struct ctl_look_ops *ops);

#endif /* SPINDLE_CTL_LOOKS_H */
