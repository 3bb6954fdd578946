/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wire: a subgroup gets its arrays, and its members and senders get their places in rows.
 *
 * Core allocates nothing: the embedder's allocator is called once, when a subgroup is made. All
 * sizes follow from the view, which is checked.
 *
 * Context: any. Only the embedder's allocator may sleep.
 */
#ifndef SPINDLE_CORE_WIRE_H
#define SPINDLE_CORE_WIRE_H

#include "core/membership/rules.h"
#include "core/multicast/multicast.h"

/**
 * struct spindle_memory - where the arrays of a subgroup come from
 * @zalloc: zeroed memory for @n objects of @size bytes, or NULL
 * @free: takes memory back; NULL is ignored
 */
struct spindle_memory {
	void *(*zalloc)(size_t n, size_t size);
	void (*free)(const void *at);
};

/**
 * struct spindle_row - the row of a member of a view, as this node holds it
 * @base: its first byte; NULL: there is none
 * @in: its layout
 * @out: layout of the own row in that member's memory; NULL of this node itself
 * @vouch: by subgroup, what completions have vouched for; NULL where memory shows writes in
 *	their order
 */
struct spindle_row {
	u8 *base;
	const struct spindle_layout *in;
	const struct spindle_layout *out;
	u32 *vouch;
};

int spindle_mc_create(struct spindle_mc *mc, const struct spindle_view *view, u32 index, u32 me,
		      const struct spindle_rules *rules, const struct spindle_mc *old,
		      const struct spindle_memory *memory);
void spindle_mc_destroy(struct spindle_mc *mc, const struct spindle_memory *memory);
void spindle_mc_wire(struct spindle_mc *mc, const struct spindle_view *view, u32 index,
		     struct spindle_row (*row)(void *ctx, u32 rank), void *ctx);
void spindle_mc_clear(const struct spindle_row *row, u64 subgroups);
u64 spindle_mc_bytes(const struct spindle_mc *mc);

#endif /* SPINDLE_CORE_WIRE_H */
