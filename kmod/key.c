// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys: nodes that have one talk to nodes that prove to have the same. See key.h.
 */
#include <linux/err.h>
#include <linux/string.h>
#include <crypto/hash.h>

#include "compat.h"
#include "key.h"

/**
 * spindle_key_set() - take a key
 * @key: zeroed
 * @bytes: the key; not kept
 * @len: its length
 *
 * Context: process.
 * Return: 0; -ENOENT if the kernel has no HMAC-SHA256, -ENOMEM
 */
int spindle_key_set(struct spindle_key *key, const void *bytes, u32 len)
{
	/* By name: the library's hmac_sha256() is not in 6.12. */
	struct crypto_shash *tfm = crypto_alloc_shash("hmac(sha256)", 0, 0);
	int err;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	err = crypto_shash_setkey(tfm, bytes, len);
	if (err) {
		crypto_free_shash(tfm);
		return err;
	}
	key->tfm = tfm;
	return 0;
}

/**
 * spindle_key_free() - forget it
 * @key: set, or zeroed
 */
void spindle_key_free(struct spindle_key *key)
{
	if (key->tfm)
		crypto_free_shash(key->tfm);
	key->tfm = NULL;
}

static int hash(struct crypto_shash *tfm, u8 what, const void *a, u32 alen, const void *b,
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

/**
 * spindle_key_prove() - prove to have the key
 * @key: the key, or none
 * @what: what the proof is for
 * @a: what it is about
 * @alen: its length
 * @b: what else, or NULL
 * @blen: its length
 * @proof: out; zeroes without a key
 */
void spindle_key_prove(const struct spindle_key *key, enum spindle_proof what, const void *a,
		       u32 alen, const void *b, u32 blen, u8 proof[SPINDLE_PROOF_LEN])
{
	memset(proof, 0, SPINDLE_PROOF_LEN);
	if (key->tfm && hash(key->tfm, what, a, alen, b, blen, proof))
		memset(proof, 0, SPINDLE_PROOF_LEN);
}

/**
 * spindle_key_proven() - does somebody else have the key?
 * @key: the key, or none
 * @what: as in spindle_key_prove()
 * @a: as there
 * @alen: as there
 * @b: as there
 * @blen: as there
 * @proof: what was sent
 * @len: its length, up to SPINDLE_PROOF_LEN
 *
 * Return: true if it has the same, or both have none
 */
bool spindle_key_proven(const struct spindle_key *key, enum spindle_proof what, const void *a,
			u32 alen, const void *b, u32 blen, const u8 *proof, u32 len)
{
	static const u8 none[SPINDLE_PROOF_LEN];
	u8 want[SPINDLE_PROOF_LEN];

	spindle_key_prove(key, what, a, alen, b, blen, want);
	/* A proof that could not be made proves nothing. */
	if (key->tfm && !memcmp(want, none, sizeof(none)))
		return false;
	return !crypto_memneq(want, proof, len);
}
