/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rights: where the chunks of a row are, and with which keys they can be written. Each
 * side sends those of the row that it has for the other one.
 */
#ifndef SPINDLE_HOSTILE_PEER_RIGHTS_H
#define SPINDLE_HOSTILE_PEER_RIGHTS_H

#include <stdint.h>

#include "layout.h"
#include "proof.h"

#define CHUNK_SHIFT	21
#define CHUNK		(1ULL << CHUNK_SHIFT)
#define DESCS		(SPINDLE_PAGE / sizeof(struct desc))
/* The first page begins with a proof, in place of so many. */
#define PROOF_DESCS	(PROOF_LEN / sizeof(struct desc))

/**
 * struct desc - one chunk, as in kmod/fabric, which has no headers for user space
 * @addr: where it begins
 * @rkey: its key
 * @len: bytes, CHUNK but for the last one
 */
struct desc {
	uint64_t addr;
	uint32_t rkey;
	uint32_t len;
};

/* Chunks of our row there, and of its row here. */
extern uint32_t chunks_out, chunks_in;

/* The rights that the node gave, one for each chunk of our row. */
extern struct desc *theirs;

#endif /* SPINDLE_HOSTILE_PEER_RIGHTS_H */
