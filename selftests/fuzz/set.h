/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests about what runs: changes of a node and of its end of a subgroup, measurements
 * of the device, members of live views that come and go. All of them could be right.
 */
#ifndef SPINDLE_FUZZ_SET_H
#define SPINDLE_FUZZ_SET_H

#include "attrs.h"

/* What a request is about: a node and, but for that of a node, a subgroup. */
struct place {
	uint32_t node, subgroup;
};

static inline bool of_bystanders(const struct place *at)
{
	return at->node >= 1 && at->node <= BYSTANDERS;
}

void node_set(struct tree *t, const struct place *at);
void subgroup_set(struct tree *t, const struct place *at);
void raw_run(struct tree *t, const struct place *at);

/* By a contact at 10.0.0.1, or fd00::1. */
void node_join(struct tree *t, uint32_t node, uint32_t contact);
void node_evict(struct tree *t, uint32_t node, uint32_t member);

/* Nests of a first live view and of the rule of a subgroup. */
void put_live(struct tree *t);
void put_rule(struct tree *t);

/* Of a subgroup the one thing that can be seen from the device. */
void stall_ms(struct tree *t, const struct place *at, uint32_t ms);

/* Back to the defaults; @packed: also what cannot change under a sender. */
void node_default(struct tree *t, const struct place *at);
void subgroup_default(struct tree *t, const struct place *at, bool packed);

#endif /* SPINDLE_FUZZ_SET_H */
