/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes and views by hand, for struct op.
 */
#ifndef SPINDLE_FAIL_NTH_HAND_H
#define SPINDLE_FAIL_NTH_HAND_H

#include <stdint.h>

#include "request.h"

/**
 * struct hand - what an operation is about
 * @node: id
 * @vid: of the view; grows
 * @view: the one to set
 * @old: what it replaces, or NULL
 */
struct hand {
	uint32_t node;
	uint64_t vid;
	const struct view *view, *old;
};

/* From a small one to a large one; node 3 is in each of them. */
extern const struct view views[];

/* What a struct hand says, as @run and @undo of operations. */
int node_add(void *ctx);
void node_del(void *ctx);
int view_set(void *ctx);
void view_del(void *ctx);

#endif /* SPINDLE_FAIL_NTH_HAND_H */
