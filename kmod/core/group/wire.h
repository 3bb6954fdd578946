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
#include "core/table/table.h"

/**
 * struct spindle_memory - where the arrays of a subgroup come from
 */
struct spindle_memory {
	/** @zalloc: zeroed memory for @n objects of @size bytes, or NULL */
	void *(*zalloc)(size_t n, size_t size);
	/** @free: takes memory back; NULL is ignored */
	void (*free)(const void *at);
};

/**
 * struct spindle_row - the row of a member of a view, as this node holds it
 */
struct spindle_row {
	/** @base: its first byte; NULL: there is none */
	u8 *base;
	/** @in: its layout */
	const struct spindle_layout *in;
	/** @out: layout of the own row in that member's memory; NULL of this node itself */
	const struct spindle_layout *out;
	/**
	 * @vouch: by subgroup, what completions have vouched for; NULL where memory shows writes in
	 * their order
	 */
	u32 *vouch;
	/** @done: how far the queue to that member is complete; NULL of this node itself */
	const u64 *done;
};

int spindle_mc_create(struct spindle_mc *mc, const struct spindle_view *view, u32 index, u32 me,
		      const struct spindle_rules *rules, const struct spindle_mc *old,
		      const struct spindle_memory *memory);
void spindle_mc_destroy(struct spindle_mc *mc, const struct spindle_memory *memory);
void spindle_mc_wire(struct spindle_mc *mc, const struct spindle_view *view, u32 index,
		     struct spindle_row (*row)(void *ctx, u32 rank), void *ctx);
void spindle_mc_clear(const struct spindle_row *row, u32 n, u64 subgroups, u64 messages);
u64 spindle_mc_bytes(const struct spindle_mc *mc);
int spindle_tb_create(struct spindle_tb *tb, const struct spindle_view *view, u32 index, u32 me,
		      const struct spindle_memory *memory);
void spindle_tb_destroy(struct spindle_tb *tb, const struct spindle_memory *memory);
void spindle_tb_wire(struct spindle_tb *tb, const struct spindle_view *view, u32 index,
		     struct spindle_row (*row)(void *ctx, u32 rank), void *ctx);
void spindle_tb_clear(const struct spindle_row *row, const struct spindle_view *view,
		      u64 subgroups);

#endif /* SPINDLE_CORE_WIRE_H */
