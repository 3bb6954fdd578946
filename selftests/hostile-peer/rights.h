/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rights: the keys by which the chunks of a row can be written. Each side sends those of
 * the row that it has for the other one.
 */
#ifndef SPINDLE_HOSTILE_PEER_RIGHTS_H
#define SPINDLE_HOSTILE_PEER_RIGHTS_H

#include <stdint.h>

#include "proof.h"

/* log2 of the bytes of a chunk, as in kmod/fabric/region.h. */
#define CHUNK_SHIFT_MIN	19
#define CHUNK_SHIFT_MAX	21

/**
 * struct rights - what a node tells of the row that it has for the other one, as in
 * kmod/fabric/setup.c, which has no headers for user space
 * @proof: of the dialling side
 * @bytes: of the row
 * @shift: log2 of the bytes of a chunk
 * @zero: 0
 * @key: of the chunks; bytes are named by their offset in the row
 */
struct rights {
	uint8_t proof[PROOF_LEN];
	uint64_t bytes;
	uint32_t shift;
	uint32_t zero;
	uint32_t key[];
};

/* Pages that the rights of so many bytes take, whatever the chunks. */
uint32_t rights_pages(uint64_t bytes);

/* What the node told of our row, when it has. */
extern struct rights *theirs;

/* Chunks of our row there. */
uint32_t chunks_out(void);

#endif /* SPINDLE_HOSTILE_PEER_RIGHTS_H */
