/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Proofs of the group's key, right or not, and hellos and answers that another process may have
 * recorded.
 */
#ifndef SPINDLE_HOSTILE_PEER_PROOF_H
#define SPINDLE_HOSTILE_PEER_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "hello.h"

#define PROOF_LEN	32

/* The purpose of a proof, as in kmod/base/key.h. */
enum proof {
	PROOF_REQUEST = 1,
	PROOF_ANSWER,
	PROOF_RIGHTS,
};

/* The data of an accept: a hello and a proof. */
struct reply {
	struct hello hello;
	uint8_t proof[PROOF_LEN];
};

/* The replies that we sent and received in the last attempt. */
extern struct reply said, heard;

/* Use the key of a file from now on. Without a key, proofs are zeroes. */
void take_key(const char *file);

/* Nonce and tag of a request; "tag=bad" is one bit off. */
void seal(const char *step, struct hello *h);

/*
 * Make a proof about the current connection: "proof=none" is zeroes, "proof=bad" one bit off,
 * "proof=other" right, but made for something else.
 */
void prove(const char *step, enum proof what, uint8_t proof[PROOF_LEN]);

/* "keep=FILE" writes the bytes to a file. "again=FILE" takes other bytes from a file. */
void keep(const char *step, void *data, size_t len);

/* "heard=FILE" writes the received hello to a file. */
void keep_heard(const char *step);

#endif /* SPINDLE_HOSTILE_PEER_PROOF_H */
