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
 * A node has two keys while the key of its group is changed: the present one, and the former
 * one until somebody retires it. The tag of a request says which one it was made with. All
 * proofs of that conversation are made with the same.
 *
 * Owner: the node. Context: process, but for handlers of rdma_cm, which are work items as well.
 */
#ifndef SPINDLE_KEY_H
#define SPINDLE_KEY_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct crypto_shash;

#define SPINDLE_PROOF_LEN 32
#define SPINDLE_TAG_LEN 8
/* Bytes of a request; its tag is the last of them. */
#define SPINDLE_REQUEST_LEN 56

/* What a proof is for: none passes for another. */
enum spindle_proof {
	SPINDLE_PROOF_NOTHING,	/* is never sent */
	SPINDLE_PROOF_REQUEST,
	SPINDLE_PROOF_ANSWER,
	SPINDLE_PROOF_RIGHTS,
	SPINDLE_PROOF_CARD,
};

enum spindle_key_age {
	SPINDLE_KEY_PRESENT,
	SPINDLE_KEY_FORMER,
	SPINDLE_KEYS,
};

/**
 * struct spindle_key - the key of a node, and the one that it had before
 * @lock: keys change while connections are made
 * @tfm: by enum spindle_key_age, the hash with the key in it, or NULL
 */
struct spindle_key {
	spinlock_t lock;	/* tfm */
	struct crypto_shash *tfm[SPINDLE_KEYS];
};

void spindle_key_init(struct spindle_key *key);
int spindle_key_set(struct spindle_key *key, const void *bytes, u32 len);
void spindle_key_retire(struct spindle_key *key);
void spindle_key_free(struct spindle_key *key);
bool spindle_key_has_former(const struct spindle_key *key);
void spindle_key_tag(struct spindle_key *key, enum spindle_key_age age,
		     u8 request[SPINDLE_REQUEST_LEN]);
bool spindle_key_tagged(struct spindle_key *key, const u8 request[SPINDLE_REQUEST_LEN]);
void spindle_key_prove(struct spindle_key *key, enum spindle_proof what,
		       const u8 request[SPINDLE_REQUEST_LEN], const void *answer, u32 len,
		       u8 proof[SPINDLE_PROOF_LEN]);
bool spindle_key_proven(struct spindle_key *key, enum spindle_proof what,
			const u8 request[SPINDLE_REQUEST_LEN], const void *answer, u32 len,
			const u8 *proof, u32 n);

/**
 * spindle_key_given() - has the node a key?
 * @key: its key
 *
 * A node that has one never loses it, and one that has none never gets one.
 *
 * Return: true if so
 */
static inline bool spindle_key_given(const struct spindle_key *key)
{
	return READ_ONCE(key->tfm[SPINDLE_KEY_PRESENT]);
}

#endif /* SPINDLE_KEY_H */
