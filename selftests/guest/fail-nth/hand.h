/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests for nodes and views, for struct op.
 */
#ifndef SPINDLE_FAIL_NTH_HAND_H
#define SPINDLE_FAIL_NTH_HAND_H

#include <stdint.h>

#include "request.h"

/**
 * struct hand - the subject of an operation
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

/* From a small view to a large one. Node 3 is in each of them. */
extern const struct view views[];

/* Functions for @run and @undo of operations, on a struct hand. */
int node_add(void *ctx);
void node_del(void *ctx);
int view_set(void *ctx);
void view_del(void *ctx);

#endif /* SPINDLE_FAIL_NTH_HAND_H */
