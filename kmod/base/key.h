/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys: a node with a key only talks to nodes that prove that they have it.
 *
 *	request		a hello with a tag, so that a node without the key costs no memory
 *	answer		a hello, and a proof over both hellos for the dialling node
 *	rights		the first memory rights, and a proof over both hellos for the dialled
 *			node, which then gives its own rights
 *
 * Proofs are HMAC-SHA256 over the hellos of both nodes. These contain nonces of both, so a proof
 * cannot be replayed in another connection. Later traffic is not signed, because it goes directly
 * between the RDMA devices. Without a key all tags and proofs must be zero.
 *
 * While the key of a group is being changed a node has two keys: the present one, and the former
 * one until an administrator retires it. The tag of a request shows which key it was made with.
 * All proofs of that conversation use the same key.
 *
 * Owner: the node. Context: process; handlers of rdma_cm are work items, too.
 */
#ifndef SPINDLE_BASE_KEY_H
#define SPINDLE_BASE_KEY_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct crypto_shash;

#define SPINDLE_PROOF_LEN 32
#define SPINDLE_TAG_LEN 8
/* Bytes of a request; its tag is the last of them. */
#define SPINDLE_REQUEST_LEN 56

/* Purpose of a proof. The hash covers it, so no proof can be used for another purpose. */
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
 * struct spindle_key - the present and the former key of a node
 */
struct spindle_key {
	/** @lock: protects @tfm, because keys change while connections are made */
	spinlock_t lock;	/* tfm */
	/** @tfm: by enum spindle_key_age, the hash with the key in it, or NULL */
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
 * spindle_key_given() - does the node have a key?
 * @key: its keys
 *
 * The result never changes: a node has a key from its creation, or never gets one.
 *
 * Return: true if so
 */
static inline bool spindle_key_given(const struct spindle_key *key)
{
	return READ_ONCE(key->tfm[SPINDLE_KEY_PRESENT]);
}

#endif /* SPINDLE_BASE_KEY_H */
