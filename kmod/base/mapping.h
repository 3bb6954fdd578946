/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings: mmap() of the pages of attachments and rows.
 *
 * A page is mapped at its first access (with MAP_POPULATE: by mmap()), under the lock that also
 * ends a mapping. So no page of a row can appear in a process after the end. An ended mapping
 * shows zeroes, and writes to it go into pages of the process. So a process that keeps a pointer
 * for too long is not killed, and does not keep a row alive.
 *
 * Owner: the areas of the process that show the mapping. A mapping holds the frames. Its file
 * holds the attachment, and so the set.
 */
#ifndef SPINDLE_BASE_MAPPING_H
#define SPINDLE_BASE_MAPPING_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>

#include "memory.h"

/**
 * struct spindle_mappings - the mappings of an open file
 */
struct spindle_mappings {
	/**
	 * @lock: protects @list, and orders the end of a mapping against its page faults. The mmap
	 * lock is taken before it
	 */
	struct mutex lock;	/* see above */
	/** @list: struct spindle_mapping */
	struct list_head list;
	/**
	 * @space: address space of this file alone, by which the kernel finds its areas. The files
	 * of the device must not share one, because all use the same offsets
	 */
	struct address_space space;
};

/**
 * struct spindle_mapped - a part of some pages, to be mapped
 */
struct spindle_mapped {
	/** @mem: the pages */
	const struct spindle_pages *mem;
	/** @offset: first byte, page aligned */
	u64 offset;
	/** @bytes: length, page aligned */
	u64 bytes;
	/** @writable: the process may write */
	bool writable;
};

int spindle_mapping_init(void);
void spindle_mapping_exit(void);
void spindle_mappings_open(struct spindle_mappings *maps, struct file *file);
int spindle_mapping_add(struct spindle_mappings *maps, struct vm_area_struct *vma,
			const struct spindle_mapped *what);
void spindle_mappings_end(struct spindle_mappings *maps, const struct spindle_pages *mem,
			  bool writable);
void spindle_mappings_keep(struct spindle_mappings *maps, const struct spindle_pages *mem,
			   struct user_struct *user);

#endif /* SPINDLE_BASE_MAPPING_H */
