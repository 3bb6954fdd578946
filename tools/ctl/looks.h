/* SPDX-License-Identifier: GPL-2.0-only */
/* Repeated looks: how often, and on what device. */
#ifndef SPINDLE_CTL_LOOKS_H
#define SPINDLE_CTL_LOOKS_H

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

int ctl_looks_take(struct ctl_args *a, struct ctl_looks *looks);
bool ctl_looks_wait(uint64_t ns, bool screen);

#endif /* SPINDLE_CTL_LOOKS_H */
