/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings: what a process sees of the pages of an attachment and of rows.
 *
 * Pages come with the first access (MAP_POPULATE: with mmap()), under a lock that also ends a
 * mapping: no page of a row appears in a process behind the end. An ended mapping shows zeroes,
 * and what the process writes there goes into pages of its own. So neither a pointer that a
 * process keeps too long kills it, nor does a row live for it.
 *
 * Owner: the area of the process, all parts of which count as one. A mapping holds the frames;
 * its file holds the attachment, and so the set.
 */
#ifndef SPINDLE_MAPPING_H
#define SPINDLE_MAPPING_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>

#include "memory.h"

/**
 * struct spindle_mappings - the mappings of an open file
 * @lock: protects @list, and orders the end of a mapping against its page faults. The mmap
 *	lock comes before it
 * @list: struct spindle_mapping
 * @space: what the kernel finds the areas by, and nobody else's: offsets mean the same in all
 *	files of the device
 */
struct spindle_mappings {
	struct mutex lock;	/* see above */
	struct list_head list;
	struct address_space space;
};

/**
 * struct spindle_mapped - a part of some pages, to be mapped
 * @mem: the pages
 * @offset: first byte, page aligned
 * @bytes: length, page aligned
 * @writable: the process may write
 */
struct spindle_mapped {
	const struct spindle_pages *mem;
	u64 offset;
	u64 bytes;
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

#endif /* SPINDLE_MAPPING_H */
