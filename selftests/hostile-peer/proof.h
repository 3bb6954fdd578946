/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Proofs of the group's key, right or not, and hellos and answers that somebody else may have
 * recorded.
 */
#ifndef SPINDLE_HOSTILE_PEER_PROOF_H
#define SPINDLE_HOSTILE_PEER_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "hello.h"

#define PROOF_LEN	32

/* What a proof is for, as in kmod/key.h. */
enum proof {
	PROOF_REQUEST = 1,
	PROOF_ANSWER,
	PROOF_RIGHTS,
};

/* What is accepted with: a hello and a proof. */
struct reply {
	struct hello hello;
	uint8_t proof[PROOF_LEN];
};

/* What was said in the last attempt, and what came. */
extern struct reply said, heard;

/* The key of a file, from now on; without one, proofs are zeroes. */
void take_key(const char *file);

/* Nonce and tag of a request; "tag=bad" is one bit off. */
void seal(const char *step, struct hello *h);

/*
 * A proof about the connection at hand: "proof=none" is zeroes, "proof=bad" one bit off,
 * "proof=other" right, but made for something else.
 */
void prove(const char *step, enum proof what, uint8_t proof[PROOF_LEN]);

/* "keep=FILE" and "again=FILE": write the bytes there, or have others in their place. */
void keep(const char *step, void *data, size_t len);

/* "heard=FILE": write the hello that came there. */
void keep_heard(const char *step);

#endif /* SPINDLE_HOSTILE_PEER_PROOF_H */
