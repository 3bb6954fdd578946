// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: mmap() of the pages of attachments and rows. See mapping.h.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "mapping.h"

/* Pages per page fault at most, so that the lock is not held while a whole gigabyte is mapped. */
#define FAULT_PAGES 512

/**
 * struct spindle_mapping - a section that a process has mapped
 */
struct spindle_mapping {
	/** @list: in the set */
	struct list_head list;
	/** @maps: the set */
	struct spindle_mappings *maps;
	/** @areas: number of areas (VMAs) of the mapping: munmap() may split it */
	refcount_t areas;
	/** @frames: the pages, a reference */
	struct spindle_frames *frames;
	/** @first: index of the first page in @frames */
	u32 first;
	/** @n: pages of the section; an area of twice as many shows them twice */
	u32 n;
	/** @at: file offset of the section, in pages */
	pgoff_t at;
	/** @writable: the process may write */
	bool writable;
	/** @ended: shows no pages of ours any more, see mapping.h */
	bool ended;
	/** @user: user charged for pages that only this mapping keeps, a reference, or NULL */
	struct user_struct *user;
};

/* The zero page that a read-only mapping shows after its end. */
static struct page *nothing;

/**
 * spindle_mapping_init() - allocate the page that ended mappings show
 *
 * Return: 0 or -ENOMEM
 */
int spindle_mapping_init(void)
{
	nothing = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return nothing ? 0 : -ENOMEM;
}

/**
 * spindle_mapping_exit() - undo spindle_mapping_init(); no file of the device is open
 */
void spindle_mapping_exit(void)
{
	__free_page(nothing);
}

/* ---- areas of a process ------------------------------------------------- */

static void area_open(struct vm_area_struct *vma)
{
	struct spindle_mapping *m = vma->vm_private_data;

	refcount_inc(&m->areas);
}

static void area_close(struct vm_area_struct *vma)
{
	struct spindle_mapping *m = vma->vm_private_data;

	if (!refcount_dec_and_test(&m->areas))
		return;
	mutex_lock(&m->maps->lock);
	list_del(&m->list);
	mutex_unlock(&m->maps->lock);
	if (m->user) {
		spindle_memlock_uncharge(m->user, m->n);
		free_uid(m->user);
	}
	spindle_frames_put(m->frames);
	kfree(m);
}

/* An ended area gets a new page of the process if it is writable, else the zero page. */
static vm_fault_t fault_ended(struct vm_fault *vmf, const struct spindle_mapping *m)
{
	if (m->writable) {
		vmf->page = alloc_page(GFP_HIGHUSER | __GFP_ZERO | __GFP_ACCOUNT);
		return vmf->page ? 0 : VM_FAULT_OOM;
	}
	get_page(nothing);
	vmf->page = nothing;
	return 0;
}

/* Map the missing page and those after it. */
static vm_fault_t fault_pages(struct vm_fault *vmf, const struct spindle_mapping *m)
{
	struct vm_area_struct *vma = vmf->vma;
	u32 i = (u32)(vmf->pgoff - m->at) % m->n;
	unsigned long n = min3((unsigned long)FAULT_PAGES, (unsigned long)(m->n - i),
			       (vma->vm_end - vmf->address) >> PAGE_SHIFT);

	switch (vm_insert_pages(vma, vmf->address, m->frames->page + m->first + i, &n)) {
	case 0:
	case -EBUSY:	/* Another thread has mapped this page, or pages after it. */
		return VM_FAULT_NOPAGE;
	default:
		return VM_FAULT_OOM;
	}
}

static vm_fault_t area_fault(struct vm_fault *vmf)
{
	struct spindle_mapping *m = vmf->vma->vm_private_data;
	vm_fault_t ret;

	mutex_lock(&m->maps->lock);
	ret = m->ended ? fault_ended(vmf, m) : fault_pages(vmf, m);
	mutex_unlock(&m->maps->lock);
	return ret;
}

static const struct vm_operations_struct area_ops = {
	.open = area_open,
	.close = area_close,
	.fault = area_fault,
};

/* ---- the set ------------------------------------------------------------- */

/**
 * spindle_mappings_open() - initialize the set of a new file
 * @maps: the set
 * @file: the file; its areas are found in an address space of its own from now on
 */
void spindle_mappings_open(struct spindle_mappings *maps, struct file *file)
{
	mutex_init(&maps->lock);
	INIT_LIST_HEAD(&maps->list);
	address_space_init_once(&maps->space);
	maps->space.host = file->f_mapping->host;
	maps->space.a_ops = file->f_mapping->a_ops;
	file->f_mapping = &maps->space;
}

static int check_area(const struct vm_area_struct *vma, u64 bytes, bool writable)
{
	unsigned long len = vma->vm_end - vma->vm_start;

	if (!bytes || (len != bytes && len != 2 * bytes))
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED) || (vma->vm_flags & VM_EXEC))
		return -EINVAL;
	return !writable && (vma->vm_flags & VM_WRITE) ? -EACCES : 0;
}

/**
 * spindle_mapping_add() - map a section into a process
 * @maps: the set of the file
 * @vma: as long as the section, or twice as long: the second half shows the same pages again
 * @what: the section
 *
 * A read-only section refuses PROT_WRITE, here and in mprotect(). No mapping can be executed,
 * be extended or be in a core dump. A child inherits a mapping only after MADV_DOFORK of its
 * parent. Both then write the same ring, like two threads of one process.
 *
 * Context: mmap(), with the mmap lock.
 * Return: 0, -EINVAL, -EACCES, -ENOMEM
 */
int spindle_mapping_add(struct spindle_mappings *maps, struct vm_area_struct *vma,
			const struct spindle_mapped *what)
{
	vm_flags_t clear = VM_MAYEXEC | (what->writable ? 0 : VM_MAYWRITE);
	int err = check_area(vma, what->bytes, what->writable);
	struct spindle_mapping *m;

	mmap_assert_write_locked(vma->vm_mm);
	if (err)
		return err;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return -ENOMEM;
	refcount_inc(&what->mem->frames->refs);
	m->maps = maps;
	refcount_set(&m->areas, 1);
	m->frames = what->mem->frames;
	m->first = what->offset >> PAGE_SHIFT;
	m->n = what->bytes >> PAGE_SHIFT;
	m->at = vma->vm_pgoff;
	m->writable = what->writable;
	spindle_vm_flags(vma, VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, clear);
	vma->vm_private_data = m;
	vma->vm_ops = &area_ops;
	mutex_lock(&maps->lock);
	list_add_tail(&m->list, &maps->list);
	mutex_unlock(&maps->lock);
	return 0;
}

static bool shows(const struct spindle_mapping *m, const struct spindle_pages *mem)
{
	return m->frames == mem->frames && !m->ended;
}

/**
 * spindle_mappings_end() - unmap some pages from a process
 * @maps: the set of its file
 * @mem: the pages
 * @writable: only from writable mappings
 *
 * Context: process.
 */
void spindle_mappings_end(struct spindle_mappings *maps, const struct spindle_pages *mem,
			  bool writable)
{
	struct spindle_mapping *m;

	mutex_lock(&maps->lock);
	list_for_each_entry(m, &maps->list, list) {
		if (!shows(m, mem) || (writable && !m->writable))
			continue;
		m->ended = true;
		/* This removes mapped pages. @ended keeps faults from mapping more. */
		unmap_mapping_pages(&maps->space, m->at, 2 * m->n, true);
	}
	mutex_unlock(&maps->lock);
}

/**
 * spindle_mappings_keep() - charge a process for pages that only its mappings keep
 * @maps: the set of its file
 * @mem: the pages
 * @user: the user that is charged until the process unmaps
 *
 * Context: process.
 */
void spindle_mappings_keep(struct spindle_mappings *maps, const struct spindle_pages *mem,
			   struct user_struct *user)
{
	struct spindle_mapping *m;

	mutex_lock(&maps->lock);
	list_for_each_entry(m, &maps->list, list) {
		if (!shows(m, mem) || m->user)
			continue;
		m->user = get_uid(user);
		spindle_memlock_force(user, m->n);
	}
	mutex_unlock(&maps->lock);
}
