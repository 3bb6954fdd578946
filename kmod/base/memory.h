/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory: zeroed pages that the kernel and processes share.
 *
 * Owner: the object that allocated the pages. A mapping (mapping.h) holds a reference to the
 * frames, so the owner can free them while a process maps them. The last reference frees them.
 *
 * Context: process.
 */
#ifndef SPINDLE_BASE_MEMORY_H
#define SPINDLE_BASE_MEMORY_H

#include <linux/mm_types.h>
#include <linux/refcount.h>
#include <linux/sched/user.h>

/**
 * struct spindle_frames - reference-counted pages
 */
struct spindle_frames {
	/** @refs: references of struct spindle_pages and of mappings */
	refcount_t refs;
	/** @n: number of pages */
	u32 n;
	/** @page: the pages */
	struct page *page[];
};

/**
 * struct spindle_pages - pages, mapped into the kernel
 */
struct spindle_pages {
	/** @frames: a reference to the pages, or NULL */
	struct spindle_frames *frames;
	/** @n: their number */
	u32 n;
	/** @va: kernel mapping; NULL of pages that are shared, or of none */
	void *va;
};

int spindle_pages_alloc(struct spindle_pages *pages, u64 bytes);
void spindle_pages_free(struct spindle_pages *pages);
void spindle_pages_share(struct spindle_pages *pages, const struct spindle_pages *of);
void spindle_frames_put(struct spindle_frames *frames);
int spindle_memlock_charge(struct user_struct *user, unsigned long pages);
void spindle_memlock_force(struct user_struct *user, unsigned long pages);
void spindle_memlock_uncharge(struct user_struct *user, unsigned long pages);

#endif /* SPINDLE_BASE_MEMORY_H */
