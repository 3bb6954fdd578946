/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cells of a table, by the contract of <linux/spindle_table.h>, without the library.
 *
 * All bytes of a value follow from its version, so that a reader can check them.
 */
#ifndef SPINDLE_GUEST_CELLS_H
#define SPINDLE_GUEST_CELLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/spindle_table.h>

#include "selfcheck.h"

#define SST_DEVICE	"/dev/spindle-sst"
#define MAX_WORDS	(SPINDLE_MAX_CELL / sizeof(uint64_t))

/**
 * struct cells - a file that is attached to a table
 * @fd: the file
 * @a: the reply
 * @ctl: mapped section
 * @usr: mapped section
 * @own: mapped section, NULL without SPINDLE_TABLE_WRITE
 */
struct cells {
	int fd;
	struct spindle_table_attach a;
	unsigned char *ctl, *usr;
	uint64_t *own;
};

static inline struct spindle_table_attach cells_args(uint32_t node, uint32_t table,
						     uint32_t flags)
{
	return (struct spindle_table_attach){
		.size = sizeof(struct spindle_table_attach), .node = node, .table = table,
		.flags = flags, .event_fd = -1,
	};
}

static inline uint64_t cells_seal(const uint64_t *word, uint32_t n)
{
	uint64_t h = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		h ^= word[i];
		h *= 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return h;
}

static inline uint32_t cells_words(const struct cells *c)
{
	return c->a.cell / sizeof(uint64_t);
}

/* A section, or the row of an instance. NULL: it cannot be mapped. */
static inline void *cells_map(const struct cells *c, const struct spindle_section *s,
			      uint32_t instance, int prot)
{
	void *p = mmap(NULL, s->len, prot, MAP_SHARED, c->fd,
		       s->cookie + instance * c->a.row_stride);

	return p == MAP_FAILED ? NULL : p;
}

/* Attach and map. Returns 0 or -errno. */
static inline int cells_attach(struct cells *c, struct spindle_table_attach a)
{
	int err;

	*c = (struct cells){ .a = a, .fd = open(SST_DEVICE, O_RDWR | O_CLOEXEC) };
	if (c->fd < 0)
		return -errno;
	if (ioctl(c->fd, SPINDLE_TABLE_IOC_ATTACH, &c->a)) {
		err = -errno;
		close(c->fd);
		return err;
	}
	c->ctl = cells_map(c, &c->a.ctl, 0, PROT_READ);
	c->usr = cells_map(c, &c->a.usr, 0, PROT_READ | PROT_WRITE);
	if (a.flags & SPINDLE_TABLE_WRITE)
		c->own = cells_map(c, &c->a.own, 0, PROT_READ | PROT_WRITE);
	return c->ctl && c->usr && (c->own || !(a.flags & SPINDLE_TABLE_WRITE)) ? 0 : -EIO;
}

static inline void cells_detach(struct cells *c)
{
	munmap(c->ctl, c->a.ctl.len);
	munmap(c->usr, c->a.usr.len);
	if (c->own)
		munmap(c->own, c->a.own.len);
	close(c->fd);
}

/* A value with its version and its seal. */
static inline void cells_make(uint64_t *word, uint32_t words, uint64_t version)
{
	uint32_t i;

	for (i = 0; i < words - 2; i++)
		word[i] = version ? mix(version + i) : 0;
	word[words - 2] = version;
	word[words - 1] = cells_seal(word, words - 1);
}

/* Write a cell of the own row, and mark it. */
static inline void cells_write(struct cells *c, uint32_t cell, uint64_t version)
{
	uint64_t *dirty = (uint64_t *)(c->usr + c->a.usr_dirty) + cell / 64;
	uint32_t words = cells_words(c), i;
	uint64_t *to = c->own + (uint64_t)cell * words, word[MAX_WORDS];

	cells_make(word, words, version);
	for (i = 0; i < words - 1; i++)
		__atomic_store_n(&to[i], word[i], __ATOMIC_RELAXED);
	__atomic_store_n(&to[i], word[i], __ATOMIC_RELEASE);
	__atomic_fetch_or(dirty, 1ULL << cell % 64, __ATOMIC_RELEASE);
}

/* Wake the engine if it sleeps. */
static inline int cells_kick(const struct cells *c)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n((uint32_t *)(c->ctl + c->a.ctl_need_wakeup), __ATOMIC_RELAXED))
		return 0;
	return ioctl(c->fd, SPINDLE_TABLE_IOC_KICK) ? -errno : 0;
}

/* Of a table of mode read: read all rows again and again, at this interval. */
static inline void cells_every(const struct cells *c, uint64_t us)
{
	if (c->a.mode != SPINDLE_MODE_TABLE_READ)
		return;
	__atomic_store_n((uint64_t *)(c->usr + c->a.usr_every), us, __ATOMIC_RELAXED);
	cells_kick(c);
}

/* Of such a table: ask for a read of all rows. Returns 0 or -errno. */
static inline int cells_refresh(const struct cells *c, uint64_t number)
{
	__atomic_store_n((uint64_t *)(c->usr + c->a.usr_refresh), number, __ATOMIC_RELEASE);
	return cells_kick(c);
}

static inline uint64_t cells_refreshed(const struct cells *c)
{
	return __atomic_load_n((uint64_t *)(c->ctl + c->a.ctl_refreshed), __ATOMIC_ACQUIRE);
}

/* Copy a cell of a row. Returns false if half of it is there. */
static inline bool cells_copy(const struct cells *c, const uint64_t *row, uint32_t cell,
			      uint64_t copy[MAX_WORDS])
{
	uint32_t words = cells_words(c), i;
	const uint64_t *from = row + (uint64_t)cell * words;

	copy[words - 1] = __atomic_load_n(&from[words - 1], __ATOMIC_ACQUIRE);
	for (i = 0; i < words - 1; i++)
		copy[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return cells_seal(copy, words - 1) == copy[words - 1];
}

/* Returns 0, -EAGAIN: half of it is there, or -EILSEQ: a sealed value that nobody has made. */
static inline int cells_read(const struct cells *c, const uint64_t *row, uint32_t cell,
			     uint64_t *version)
{
	uint64_t copy[MAX_WORDS], want[MAX_WORDS];
	uint32_t words = cells_words(c);

	if (!cells_copy(c, row, cell, copy))
		return -EAGAIN;
	*version = copy[words - 2];
	cells_make(want, words, *version);
	return memcmp(copy, want, words * sizeof(*want)) ? -EILSEQ : 0;
}

/* Handle all changes up to now. */
static inline void cells_see(const struct cells *c)
{
	__atomic_store_n((uint64_t *)(c->usr + c->a.usr_seen),
			 __atomic_load_n((uint64_t *)(c->ctl + c->a.ctl_generation),
					 __ATOMIC_ACQUIRE), __ATOMIC_SEQ_CST);
}

#endif /* SPINDLE_GUEST_CELLS_H */
