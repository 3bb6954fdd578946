/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of running objects: a node and its end of a subgroup, measurements of the device, and
 * members of live views that join and leave. All requests could be right.
 */
#ifndef SPINDLE_FUZZ_SET_H
#define SPINDLE_FUZZ_SET_H

#include "attrs.h"

/* The subject of a request: a node and, except in requests about a node, a subgroup. */
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

/* Join by a contact at 10.0.0.1, or fd00::1. */
void node_join(struct tree *t, uint32_t node, uint32_t contact);
void node_evict(struct tree *t, uint32_t node, uint32_t member);

/* Nests of a first live view and of the rule of a subgroup. */
void put_live(struct tree *t);
void put_rule(struct tree *t);

/* Change the one setting of a subgroup whose effect the device shows. */
void stall_ms(struct tree *t, const struct place *at, uint32_t ms);

/* Go back to the defaults. @packed: also the setting that cannot change while there is a sender. */
void node_default(struct tree *t, const struct place *at);
void subgroup_default(struct tree *t, const struct place *at, bool packed);

#endif /* SPINDLE_FUZZ_SET_H */
