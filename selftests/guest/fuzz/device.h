/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open files of the device in one process, and their mappings.
 */
#ifndef SPINDLE_FUZZ_DEVICE_H
#define SPINDLE_FUZZ_DEVICE_H

#include <stddef.h>
#include <linux/spindle.h>

#include "fuzz.h"

/*
 * Others write into the pages, too: a racing thread, or the parent, whose page a child has mapped.
 * Then the fate of an attachment is unknown.
 */
extern bool not_alone;

#define FILES	6
#define MAPS	10
#define PAGE	4096UL

/* Sections in the order of their cookies in the kernel. */
enum part { CTL, USR, TX, RX, DLV, COPY, SST, PARTS };

/**
 * struct map - a mapping that succeeded
 * @at: where; NULL: none
 * @len: bytes
 * @part: its section
 * @rank: its member, where there are several
 * @cut: it no longer begins where the section begins
 */
struct map {
	unsigned char *at;
	size_t len;
	bool cut;
	enum part part;
	uint32_t rank;
};

/**
 * struct file - an open file
 * @fd: -1: none
 * @attached: it was attached, and this is the reply
 * @begun: @slot, @unit and @read are known
 * @frozen: it is frozen, and that was counted
 * @spoilt: the process broke the protocol
 * @scribbled: it broke so much that the result is unknown
 * @a: the reply
 * @map: its mappings
 * @slot: next one to commit
 * @unit: where its bytes go
 * @read: entries consumed
 */
struct file {
	int fd;
	bool attached, begun, frozen, spoilt, scribbled;
	struct spindle_attach a;
	struct map map[MAPS];
	uint64_t slot;
	uint32_t unit;
	uint64_t read;
};

static inline bool for_writing(enum part p)
{
	return p == USR || p == TX;
}

static inline struct spindle_section section(const struct file *f, enum part p)
{
	return (&f->a.ctl)[p];
}

/*
 * The first mapping of a part, or NULL. The mapping has to be whole, because behind a shorter one
 * may be a page of another file. A write there would freeze that file's attachment.
 */
static inline unsigned char *mapped(const struct file *f, enum part p)
{
	unsigned int i;

	for (i = 0; i < MAPS; i++)
		if (f->map[i].at && f->map[i].part == p && !f->map[i].cut &&
		    f->map[i].len >= section(f, p).len)
			return f->map[i].at;
	return NULL;
}

/* Mappings: map.c */
void map_whole(struct file *f, enum part p);
void map_odd(struct file *f);
void map_any(struct file *f);

/* Actions on mapped pages: ring.c */
void ring_commit(struct file *f, bool right);
void ring_consume(struct file *f, bool right);
void ring_scribble(struct file *f);
void ring_look(struct file *f);

/* Some acts on files of the device of tables: table.c */
void table_act(void);

#endif /* SPINDLE_FUZZ_DEVICE_H */
