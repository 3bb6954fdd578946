/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory: zeroed pages that the kernel and processes see.
 *
 * Owner: whoever allocated them. Each process mapping holds its own reference to the
 * pages, so they can be freed while they are mapped.
 *
 * Context: process.
 */
#ifndef SPINDLE_MEMORY_H
#define SPINDLE_MEMORY_H

#include <linux/mm_types.h>
#include <linux/sched/user.h>

/**
 * struct spindle_pages - pages, mapped into the kernel
 * @page: the pages
 * @n: their number
 * @va: kernel mapping
 */
struct spindle_pages {
	struct page **page;
	u32 n;
	void *va;
};

int spindle_pages_alloc(struct spindle_pages *pages, u64 bytes);
void spindle_pages_free(struct spindle_pages *pages);
int spindle_pages_map(struct vm_area_struct *vma, const struct spindle_pages *pages,
		      u64 offset, u64 bytes, bool writable);
int spindle_memlock_charge(struct user_struct *user, unsigned long pages);
void spindle_memlock_uncharge(struct user_struct *user, unsigned long pages);

#endif /* SPINDLE_MEMORY_H */
