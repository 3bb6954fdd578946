// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: zeroed pages that the kernel and processes share. See memory.h.
 */
#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/base/port.h"
#include "memory.h"

/* Layouts use pages of 4096 bytes, and mappings use pages of the MMU. */
static_assert(PAGE_SIZE == SPINDLE_PAGE);

static struct spindle_frames *alloc_frames(u32 n)
{
	struct spindle_frames *frames = kvzalloc(struct_size(frames, page, n), GFP_KERNEL_ACCOUNT);

	if (!frames)
		return NULL;
	refcount_set(&frames->refs, 1);
	for (; frames->n < n; frames->n++) {
		struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
					       __GFP_RETRY_MAYFAIL);

		if (!page) {
			spindle_frames_put(frames);
			return NULL;
		}
		frames->page[frames->n] = page;
		cond_resched();
	}
	return frames;
}

/**
 * spindle_frames_put() - give a reference back
 * @frames: the pages, freed with the last reference
 */
void spindle_frames_put(struct spindle_frames *frames)
{
	u32 i;

	if (!refcount_dec_and_test(&frames->refs))
		return;
	for (i = 0; i < frames->n; i++)
		__free_page(frames->page[i]);
	kvfree(frames);
}

/**
 * spindle_pages_alloc() - allocate zeroed pages and map them
 * @pages: out
 * @bytes: size, rounded up to whole pages
 *
 * Return: 0 or -ENOMEM
 */
int spindle_pages_alloc(struct spindle_pages *pages, u64 bytes)
{
	u64 n = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);

	memset(pages, 0, sizeof(*pages));
	/*
	 * The size comes from configuration: refuse it before the OOM killer hits other tasks. The
	 * number of pages has 32 bits elsewhere.
	 */
	if (n > si_mem_available() || n > U32_MAX)
		return -ENOMEM;
	pages->frames = alloc_frames(n);
	if (!pages->frames)
		return -ENOMEM;
	pages->n = n;
	pages->va = vmap(pages->frames->page, n, VM_MAP, PAGE_KERNEL);
	if (pages->va)
		return 0;
	spindle_frames_put(pages->frames);
	memset(pages, 0, sizeof(*pages));
	return -ENOMEM;
}

/**
 * spindle_pages_free() - free pages
 * @pages: the pages; may be all zero
 */
void spindle_pages_free(struct spindle_pages *pages)
{
	if (!pages->frames)
		return;
	vunmap(pages->va);
	spindle_frames_put(pages->frames);
	memset(pages, 0, sizeof(*pages));
}

/**
 * spindle_pages_share() - hold pages of another owner, to map them into processes
 * @pages: out: without a kernel mapping
 * @of: the pages
 */
void spindle_pages_share(struct spindle_pages *pages, const struct spindle_pages *of)
{
	refcount_inc(&of->frames->refs);
	*pages = (struct spindle_pages){ .frames = of->frames, .n = of->n };
}

/**
 * spindle_memlock_charge() - account pages that a process pins
 * @user: user to charge
 * @pages: how many
 *
 * Return: 0, or -ENOMEM beyond RLIMIT_MEMLOCK without CAP_IPC_LOCK
 */
int spindle_memlock_charge(struct user_struct *user, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long sum = atomic_long_add_return(pages, &user->locked_vm);

	if (sum <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic_long_sub(pages, &user->locked_vm);
	return -ENOMEM;
}

/**
 * spindle_memlock_force() - account pages that a process keeps, without a limit
 * @user: user to charge
 * @pages: how many
 *
 * Pages that a process does not give back count against its later requests.
 */
void spindle_memlock_force(struct user_struct *user, unsigned long pages)
{
	atomic_long_add(pages, &user->locked_vm);
}

/**
 * spindle_memlock_uncharge() - undo a charge
 * @user: user that was charged
 * @pages: how many
 */
void spindle_memlock_uncharge(struct user_struct *user, unsigned long pages)
{
	atomic_long_sub(pages, &user->locked_vm);
}
