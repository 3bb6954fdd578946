/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rights: the keys by which a peer can write the chunks of a row. Each side sends the keys of the
 * row that it holds for the other one.
 */
#ifndef SPINDLE_HOSTILE_PEER_RIGHTS_H
#define SPINDLE_HOSTILE_PEER_RIGHTS_H

#include <stdint.h>

#include "proof.h"

/* log2 of the bytes of a chunk, as in kmod/fabric/region.h. */
#define CHUNK_SHIFT_MIN	19
#define CHUNK_SHIFT_MAX	21

/**
 * struct rights - description of the row that a node holds for the other one. kmod/fabric/setup.c
 * has the same struct, and no header for user space
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

/* The number of pages for the rights of @bytes bytes, with any size of chunks. */
uint32_t rights_pages(uint64_t bytes);

/* The node's rights for our row, once they have arrived. */
extern struct rights *theirs;

/* The number of chunks of our row at the node. */
uint32_t chunks_out(void);

#endif /* SPINDLE_HOSTILE_PEER_RIGHTS_H */
