// SPDX-License-Identifier: MIT
/*
 * Memory with a file descriptor, for objects.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spindle/rdmc.h>

static int map(struct spindle_rdmc_memory *m, uint64_t len)
{
	struct stat st;
	uint64_t page;
	void *addr;

	if (fstat(m->fd, &st))
		return -errno;
	page = (uint64_t)st.st_blksize;
	m->len = len;
	m->mapped = (len + page - 1) / page * page;
	if (m->mapped < len || m->mapped > SIZE_MAX)
		return -ENOMEM;
	/* A hugetlb file must have whole huge pages. */
	if (ftruncate(m->fd, (off_t)(page > (uint64_t)getpagesize() ? m->mapped : len)))
		return -errno;
	addr = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (addr == MAP_FAILED)
		return -errno;
	m->addr = addr;
	/* A child must not write this memory. */
	if (madvise(addr, m->mapped, MADV_DONTFORK))
		return -errno;
	return 0;
}

int spindle_rdmc_accept_memfd(struct spindle_rdmc_group *g, uint64_t object, uint64_t len,
			      unsigned int flags, struct spindle_rdmc_memory *m)
{
	int err;

	memset(m, 0, sizeof(*m));
	if (!len || len > SPINDLE_RDMC_MAX_LEN || (flags & ~SPINDLE_RDMC_HUGETLB))
		return -EINVAL;
	m->fd = memfd_create("spindle-rdmc", MFD_CLOEXEC |
			     (flags & SPINDLE_RDMC_HUGETLB ? MFD_HUGETLB : 0));
	if (m->fd < 0) {
		err = -errno;
		memset(m, 0, sizeof(*m));
		return err;
	}
	err = map(m, len);
	if (!err)
		err = spindle_rdmc_accept(g, object, m->addr, len);
	if (err) {
		if (!m->addr)
			close(m->fd);
		else
			spindle_rdmc_free_memory(m);
		memset(m, 0, sizeof(*m));
	}
	return err;
}

void spindle_rdmc_free_memory(struct spindle_rdmc_memory *m)
{
	if (!m->addr)
		return;
	munmap(m->addr, m->mapped);
	if (m->fd >= 0)
		close(m->fd);
	memset(m, 0, sizeof(*m));
}
