// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: zeroed pages that the kernel and processes see. See memory.h.
 */
#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "core/port.h"
#include "memory.h"

/* Layouts count in pages of 4096 bytes, and mappings in pages of the MMU. */
static_assert(PAGE_SIZE == SPINDLE_PAGE);

/**
 * spindle_pages_alloc() - allocate zeroed pages and map them
 * @pages: out
 * @bytes: size, rounded up to whole pages
 *
 * Return: 0 or -ENOMEM
 */
int spindle_pages_alloc(struct spindle_pages *pages, u64 bytes)
{
	u32 i;

	pages->n = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
	/* Sizes come from configuration: too large is a refusal, nobody else's end. */
	if (pages->n > si_mem_available())
		return -ENOMEM;
	pages->page = kvcalloc(pages->n, sizeof(*pages->page), GFP_KERNEL);
	if (!pages->page)
		return -ENOMEM;
	for (i = 0; i < pages->n; i++) {
		pages->page[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
					    __GFP_RETRY_MAYFAIL);
		if (!pages->page[i])
			goto err_pages;
		cond_resched();
	}
	pages->va = vmap(pages->page, pages->n, VM_MAP, PAGE_KERNEL);
	if (pages->va)
		return 0;

err_pages:
	while (i--)
		__free_page(pages->page[i]);
	kvfree(pages->page);
	memset(pages, 0, sizeof(*pages));
	return -ENOMEM;
}

/**
 * spindle_pages_free() - the mirror; all zero is fine
 * @pages: the pages
 */
void spindle_pages_free(struct spindle_pages *pages)
{
	u32 i;

	if (!pages->va)
		return;
	vunmap(pages->va);
	for (i = 0; i < pages->n; i++)
		__free_page(pages->page[i]);
	kvfree(pages->page);
	memset(pages, 0, sizeof(*pages));
}

/**
 * spindle_pages_map() - map a part of the pages into a process
 * @vma: of one or two times @bytes: the second half shows the same pages again
 * @pages: the pages
 * @offset: first byte, page aligned
 * @bytes: length, page aligned
 * @writable: the process may write
 *
 * A mapping that must not be written refuses PROT_WRITE, now and by mprotect(). No
 * mapping is executable, grows, goes into a core dump or is inherited: a child has to
 * attach itself, there is one writer to a ring.
 *
 * Context: mmap(), with the mmap lock.
 * Return: 0, -EINVAL, -EACCES, -ENOMEM
 */
int spindle_pages_map(struct vm_area_struct *vma, const struct spindle_pages *pages,
		      u64 offset, u64 bytes, bool writable)
{
	unsigned long len = vma->vm_end - vma->vm_start;
	unsigned long at = vma->vm_start;
	vm_flags_t clear = VM_MAYEXEC;
	int err = 0;

	if (!bytes || (len != bytes && len != 2 * bytes))
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED) || (vma->vm_flags & VM_EXEC))
		return -EINVAL;
	if (!writable) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		clear |= VM_MAYWRITE;
	}
	spindle_vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, clear);
	for (; !err && at < vma->vm_end; at += bytes) {
		unsigned long n = bytes >> PAGE_SHIFT;

		err = vm_insert_pages(vma, at, pages->page + (offset >> PAGE_SHIFT), &n);
	}
	/* The address is right: what it cannot reach is a page table that is not there. */
	return err == -EFAULT ? -ENOMEM : err;
}

/**
 * spindle_memlock_charge() - account pages that a process pins
 * @user: who pays
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
 * spindle_memlock_uncharge() - the mirror
 * @user: who paid
 * @pages: how many
 */
void spindle_memlock_uncharge(struct user_struct *user, unsigned long pages)
{
	atomic_long_sub(pages, &user->locked_vm);
}
