// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys: a node with a key only talks to nodes that prove that they have it. See key.h.
 */
#include <linux/err.h>
#include <linux/string.h>
#include <crypto/hash.h>

#include "compat.h"
#include "key.h"

#define UNTAGGED (SPINDLE_REQUEST_LEN - SPINDLE_TAG_LEN)

static const u8 none[SPINDLE_PROOF_LEN];

static int try_hash(struct crypto_shash *tfm, u8 what, const void *a, u32 alen, const void *b,
		    u32 blen, u8 *out)
{
	SHASH_DESC_ON_STACK(desc, tfm);
	int err;

	desc->tfm = tfm;
	err = crypto_shash_init(desc);
	if (!err)
		err = crypto_shash_update(desc, &what, sizeof(what));
	if (!err)
		err = crypto_shash_update(desc, a, alen);
	if (!err && blen)
		err = crypto_shash_update(desc, b, blen);
	if (!err)
		err = crypto_shash_final(desc, out);
	shash_desc_zero(desc);
	return err;
}

/* Without a key, or if the hash fails, the result is zero, which fits() never accepts. */
static void hash(struct crypto_shash *tfm, enum spindle_proof what, const void *a, u32 alen,
		 const void *b, u32 blen, u8 out[SPINDLE_PROOF_LEN])
{
	if (!tfm || try_hash(tfm, what, a, alen, b, blen, out))
		memset(out, 0, SPINDLE_PROOF_LEN);
}

/* Is the proof right? If @want could not be computed, no proof is right. */
static bool fits(const u8 want[SPINDLE_PROOF_LEN], const u8 *proof, u32 n)
{
	return memcmp(want, none, sizeof(none)) && !crypto_memneq(want, proof, n);
}

static bool tagged_with(struct crypto_shash *tfm, const u8 request[SPINDLE_REQUEST_LEN])
{
	u8 want[SPINDLE_PROOF_LEN];

	hash(tfm, SPINDLE_PROOF_REQUEST, request, UNTAGGED, NULL, 0, want);
	return fits(want, request + UNTAGGED, SPINDLE_TAG_LEN);
}

/* The key that a request was made with, or NULL. */
static struct crypto_shash *key_of(struct spindle_key *key,
				   const u8 request[SPINDLE_REQUEST_LEN])
{
	u32 i;

	lockdep_assert_held(&key->lock);
	for (i = 0; i < SPINDLE_KEYS; i++)
		if (tagged_with(key->tfm[i], request))
			return key->tfm[i];
	return NULL;
}

/**
 * spindle_key_init() - initialize without a key
 * @key: zeroed
 */
void spindle_key_init(struct spindle_key *key)
{
	spin_lock_init(&key->lock);
}

static bool same(struct crypto_shash *a, struct crypto_shash *b)
{
	u8 x[SPINDLE_PROOF_LEN], y[SPINDLE_PROOF_LEN];

	hash(a, SPINDLE_PROOF_NOTHING, none, sizeof(none), NULL, 0, x);
	hash(b, SPINDLE_PROOF_NOTHING, none, sizeof(none), NULL, 0, y);
	return fits(x, y, sizeof(y));
}

/*
 * Make @tfm the present key, and the present key the former one. Returns the hash to free. Setting
 * the present key again changes nothing, so that an administrator can safely repeat the command.
 */
static struct crypto_shash *put(struct spindle_key *key, struct crypto_shash *tfm)
{
	struct crypto_shash *old = tfm;

	spin_lock(&key->lock);
	if (!same(tfm, key->tfm[SPINDLE_KEY_PRESENT])) {
		old = key->tfm[SPINDLE_KEY_FORMER];
		key->tfm[SPINDLE_KEY_FORMER] = key->tfm[SPINDLE_KEY_PRESENT];
		WRITE_ONCE(key->tfm[SPINDLE_KEY_PRESENT], tfm);
	}
	spin_unlock(&key->lock);
	return old;
}

/**
 * spindle_key_set() - set a key; the key that it replaces is accepted until it is retired
 * @key: initialised
 * @bytes: the key; not kept
 * @len: its length
 *
 * Context: process; one at a time.
 * Return: 0; -ENOENT if the kernel has no HMAC-SHA256, -ENOMEM
 */
int spindle_key_set(struct spindle_key *key, const void *bytes, u32 len)
{
	/* The crypto API is used because the library function hmac_sha256() is newer than 6.12. */
	struct crypto_shash *tfm = crypto_alloc_shash("hmac(sha256)", 0, 0);
	int err;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = crypto_shash_setkey(tfm, bytes, len);
	if (!err)
		tfm = put(key, tfm);
	if (tfm)
		crypto_free_shash(tfm);
	return err;
}

/**
 * spindle_key_retire() - forget the former key
 * @key: initialised
 *
 * Context: process.
 */
void spindle_key_retire(struct spindle_key *key)
{
	struct crypto_shash *tfm;

	spin_lock(&key->lock);
	tfm = key->tfm[SPINDLE_KEY_FORMER];
	key->tfm[SPINDLE_KEY_FORMER] = NULL;
	spin_unlock(&key->lock);
	if (tfm)
		crypto_free_shash(tfm);
}

/**
 * spindle_key_free() - forget both keys; they are no longer in use
 * @key: initialised
 */
void spindle_key_free(struct spindle_key *key)
{
	spindle_key_retire(key);
	if (key->tfm[SPINDLE_KEY_PRESENT])
		crypto_free_shash(key->tfm[SPINDLE_KEY_PRESENT]);
	key->tfm[SPINDLE_KEY_PRESENT] = NULL;
}

/**
 * spindle_key_has_former() - is a former key accepted?
 * @key: the key
 *
 * Return: true if so
 */
bool spindle_key_has_former(const struct spindle_key *key)
{
	return READ_ONCE(key->tfm[SPINDLE_KEY_FORMER]);
}

/**
 * spindle_key_tag() - set the tag of a request
 * @key: the node's keys; without a key the tag is zero
 * @age: which key; without a former key the present one
 * @request: in and out; complete except for the tag
 */
void spindle_key_tag(struct spindle_key *key, enum spindle_key_age age,
		     u8 request[SPINDLE_REQUEST_LEN])
{
	u8 proof[SPINDLE_PROOF_LEN];

	spin_lock(&key->lock);
	hash(key->tfm[age] ? : key->tfm[SPINDLE_KEY_PRESENT], SPINDLE_PROOF_REQUEST, request,
	     UNTAGGED, NULL, 0, proof);
	spin_unlock(&key->lock);
	memcpy(request + UNTAGGED, proof, SPINDLE_TAG_LEN);
}

/**
 * spindle_key_tagged() - does the sender of a request have the present or the former key?
 * @key: the node's keys, or none
 * @request: as received
 *
 * Return: true if so, or both have none
 */
bool spindle_key_tagged(struct spindle_key *key, const u8 request[SPINDLE_REQUEST_LEN])
{
	bool tagged;

	if (!spindle_key_given(key))
		return !memcmp(request + UNTAGGED, none, SPINDLE_TAG_LEN);
	spin_lock(&key->lock);
	tagged = key_of(key, request);
	spin_unlock(&key->lock);
	return tagged;
}

/**
 * spindle_key_prove() - prove possession of the key of a request
 * @key: the node's keys, or none
 * @what: purpose of the proof
 * @request: request that began the conversation
 * @answer: the answer to it
 * @len: bytes of @answer
 * @proof: out; zero without a key, or if the key of @request has been retired since
 */
void spindle_key_prove(struct spindle_key *key, enum spindle_proof what,
		       const u8 request[SPINDLE_REQUEST_LEN], const void *answer, u32 len,
		       u8 proof[SPINDLE_PROOF_LEN])
{
	spin_lock(&key->lock);
	hash(key_of(key, request), what, request, SPINDLE_REQUEST_LEN, answer, len, proof);
	spin_unlock(&key->lock);
}

/**
 * spindle_key_proven() - does the other end have the key of a request?
 * @key: the node's keys, or none
 * @what: as in spindle_key_prove()
 * @request: as in spindle_key_prove()
 * @answer: as in spindle_key_prove()
 * @len: as in spindle_key_prove()
 * @proof: the proof that the other end sent
 * @n: bytes of @proof, up to SPINDLE_PROOF_LEN
 *
 * Return: true if so, or both have none
 */
bool spindle_key_proven(struct spindle_key *key, enum spindle_proof what,
			const u8 request[SPINDLE_REQUEST_LEN], const void *answer, u32 len,
			const u8 *proof, u32 n)
{
	u8 want[SPINDLE_PROOF_LEN];

	if (!spindle_key_given(key))
		return !memcmp(proof, none, n);
	spindle_key_prove(key, what, request, answer, len, want);
	return fits(want, proof, n);
}
