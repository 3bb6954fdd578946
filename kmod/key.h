/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys: nodes that have one talk to nodes that prove to have the same, and to no others.
 *
 *	request		a hello with a tag over it: who has not got the key costs no memory
 *	answer		a hello, and a proof over both: the dialling node believes the other
 *	rights		another proof over both, with the first rights: the other believes it,
 *			and gives rights in turn
 *
 * Proofs are HMAC-SHA256 over what both have said, nonces of both in it, so that none is of
 * use in another connection. What follows is not signed: it goes between two network cards.
 * Without a key, tags and proofs are zero, and have to be.
 *
 * Owner: the node. Context: any.
 */
#ifndef SPINDLE_KEY_H
#define SPINDLE_KEY_H

#include <linux/types.h>

struct crypto_shash;

#define SPINDLE_PROOF_LEN 32

/* What a proof is for: none passes for another. */
enum spindle_proof {
	SPINDLE_PROOF_REQUEST = 1,
	SPINDLE_PROOF_ANSWER,
	SPINDLE_PROOF_RIGHTS,
	SPINDLE_PROOF_CARD,
};

/**
 * struct spindle_key - a key
 * @tfm: the hash with the key in it, or NULL: no key
 */
struct spindle_key {
	struct crypto_shash *tfm;
};

int spindle_key_set(struct spindle_key *key, const void *bytes, u32 len);
void spindle_key_free(struct spindle_key *key);
void spindle_key_prove(const struct spindle_key *key, enum spindle_proof what, const void *a,
		       u32 alen, const void *b, u32 blen, u8 proof[SPINDLE_PROOF_LEN]);
bool spindle_key_proven(const struct spindle_key *key, enum spindle_proof what, const void *a,
			u32 alen, const void *b, u32 blen, const u8 *proof, u32 len);

/**
 * spindle_key_given() - has the node a key?
 * @key: its key
 *
 * Return: true if so
 */
static inline bool spindle_key_given(const struct spindle_key *key)
{
	return key->tfm;
}

#endif /* SPINDLE_KEY_H */
