// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of an open file, correct and wrong ones. Each success is checked against
 * <linux/spindle.h>: no mapping may be executable, private, too long, or writable where the section
 * is for reading.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

#define PART_SHIFT	40
#define RANK_SHIFT	32

static void keep(struct file *f, unsigned char *at, size_t len, enum part p, uint32_t rank)
{
	struct map *m = &f->map[below(MAPS)];
	unsigned int i;

	for (i = 0; i < MAPS; i++)
		if (!f->map[i].at)
			m = &f->map[i];
	if (m->at)
		munmap(m->at, m->len);
	*m = (struct map){ .at = at, .len = len, .part = p, .rank = rank };
}

/* Map a section as the reply says, with its length or twice that. */
void map_whole(struct file *f, enum part p)
{
	struct spindle_section s = section(f, p);
	uint32_t ranks = p == RX ? f->a.senders : p == SST ? f->a.members : 1, rank = 0;
	int prot = for_writing(p) ? PROT_READ | PROT_WRITE : PROT_READ;
	unsigned char *at;
	size_t len;

	if (!s.len)
		return;
	if (ranks > 1)
		rank = below(ranks);
	len = s.len << below(2);
	if (one_in(10))
		starve();
	at = mmap(NULL, len, prot, MAP_SHARED | (one_in(4) ? MAP_POPULATE : 0), f->fd,
		  s.cookie + ((uint64_t)rank << RANK_SHIFT));
	feed();
	count(OP_MMAP, at == MAP_FAILED ? errno : 0);
	if (at != MAP_FAILED)
		keep(f, at, len, p, rank);
}

/* Map with any offset, length and protection. Only a success is checked. */
void map_odd(struct file *f)
{
	static const int kinds[] = { MAP_SHARED, MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE };
	enum part p = below(PARTS + 1);
	struct spindle_section s = p < PARTS ? section(f, p) : f->a.ctl;
	uint64_t off = ((uint64_t)p << PART_SHIFT) + ((uint64_t)below(4) << RANK_SHIFT);
	size_t len = s.len << below(2);
	int prot = below(8), flags = kinds[below(4)];
	struct map *over = NULL;
	unsigned char *at;

	if (one_in(4))
		off = odd() & ~(PAGE - 1);
	else if (one_in(4))
		off += (uint64_t)below(64) * PAGE;
	if (one_in(3) || !len)
		len = (1 + below(64)) * PAGE;
	if (one_in(3))
		flags |= one_in(2) ? MAP_POPULATE : one_in(2) ? MAP_LOCKED : MAP_NORESERVE;
	if (one_in(6))
		over = &f->map[below(MAPS)];
	/* Replace only a mapping of the device, and no other memory of this process. */
	if (over && (!over->at || over->len < len))
		over = NULL;
	at = mmap(over ? over->at : NULL, len, prot, flags | (over ? MAP_FIXED : 0), f->fd, off);
	if (over)
		over->at = NULL;
	count(OP_MMAP_ODD, at == MAP_FAILED ? errno : 0);
	if (at == MAP_FAILED)
		return;
	p = off >> PART_SHIFT;
	/* MAP_SHARED_VALIDATE includes the bit of MAP_PRIVATE. */
	if ((flags & MAP_TYPE) == MAP_PRIVATE || (prot & PROT_EXEC) || p >= PARTS ||
	    ((prot & PROT_WRITE) && !for_writing(p)) || (off & ((1ULL << RANK_SHIFT) - 1)) ||
	    (len != section(f, p).len && len != 2 * section(f, p).len))
		broken("mmap: offset %#llx, %zu bytes, protection %d, flags %#x",
		       (unsigned long long)off, len, prot, flags);
	keep(f, at, len, p, off >> RANK_SHIFT & 0xff);
}

static struct map *any_map(struct file *f)
{
	unsigned int i = below(MAPS), n;

	for (n = 0; n < MAPS; n++, i++)
		if (f->map[i % MAPS].at)
			return &f->map[i % MAPS];
	return NULL;
}

static void unmap(struct map *m)
{
	size_t from = 0, len = m->len;

	if (one_in(3)) {
		from = below(m->len / PAGE) * PAGE;
		len = (1 + below((m->len - from) / PAGE)) * PAGE;
	}
	munmap(m->at + from, len);
	/*
	 * Other memory may appear at this address, so forget it. The rest behind a hole stays until
	 * the process exits.
	 */
	if (from) {
		m->len = from;
	} else if (len < m->len) {
		m->at += len;
		m->len -= len;
		m->cut = true;
	} else {
		m->at = NULL;
	}
}

static void protect(struct map *m)
{
	int prot = below(8), err;

	err = mprotect(m->at, one_in(2) ? m->len : PAGE, prot) ? errno : 0;
	count(OP_MPROTECT, err);
	if (!err && ((prot & PROT_EXEC) || ((prot & PROT_WRITE) && !for_writing(m->part))))
		broken("mprotect: section %d became %d", m->part, prot);
}

static void move(struct map *m)
{
	size_t old = one_in(6) ? 0 : one_in(4) ? PAGE : m->len;
	size_t new = one_in(3) ? m->len : (1 + below(32)) * PAGE;
	unsigned char *at = mremap(m->at, old, new, one_in(4) ? 0 : MREMAP_MAYMOVE);

	count(OP_MREMAP, at == MAP_FAILED ? errno : 0);
	if (at == MAP_FAILED)
		return;
	if (new > old)
		broken("mremap: section %d grew from %zu to %zu", m->part, old, new);
	m->at = at;
	m->len = new;
}

static void advise(struct map *m)
{
	static const int advice[] = { MADV_DONTNEED, MADV_FREE, MADV_REMOVE, MADV_WILLNEED,
				      MADV_COLD, MADV_PAGEOUT, MADV_DOFORK, MADV_HUGEPAGE,
				      MADV_MERGEABLE, MADV_DODUMP, MADV_POPULATE_WRITE };
	unsigned char vec[64];
	int err;

	switch (below(5)) {
	case 0:
		err = msync(m->at, m->len, MS_SYNC);
		break;
	case 1:
		err = mlock(m->at, m->len);
		break;
	case 2:
		err = mincore(m->at, m->len < sizeof(vec) * PAGE ? m->len : PAGE, vec);
		break;
	default:
		err = madvise(m->at, m->len, advice[below(ARRAY_SIZE(advice))]);
		break;
	}
	count(OP_MADVISE, err ? errno : 0);
}

/* Write by /proc/self/mem. */
static void poke(struct file *f, struct map *m)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC), err;
	uint64_t v = rnd();

	if (fd < 0)
		return;
	/* The parent would not know why its attachment is frozen. */
	if (not_alone && m->part == USR) {
		close(fd);
		return;
	}
	err = pwrite(fd, &v, sizeof(v), (uintptr_t)m->at) == sizeof(v) ? 0 : errno;
	count(OP_POKE, err);
	if (m->part == USR)
		f->spoilt = f->scribbled = true;
	if (!err && !for_writing(m->part))
		broken("/proc/self/mem: section %d was written", m->part);
	close(fd);
}

static void touch(struct map *m)
{
	volatile unsigned char *p = m->at;
	size_t i;

	for (i = 0; i < m->len; i += PAGE)
		(void)p[i];
}

/* Do something with one of the mappings. */
void map_any(struct file *f)
{
	struct map *m = any_map(f);

	if (!m)
		return;
	switch (below(12)) {
	case 0:
	case 1:
		unmap(m);
		break;
	case 2:
	case 3:
		protect(m);
		break;
	case 4:
	case 5:
		move(m);
		break;
	case 6:
	case 7:
		advise(m);
		break;
	case 8:
		poke(f, m);
		break;
	default:
		touch(m);
		break;
	}
}
