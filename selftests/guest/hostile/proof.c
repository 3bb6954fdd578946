// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proofs and tags. See proof.h.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <nettle/hmac.h>

#include "hostile-peer.h"
#include "proof.h"

#define MAX_KEY	64

struct reply said, heard;

static uint8_t key[MAX_KEY];
static size_t key_len;

void take_key(const char *file)
{
	FILE *f = fopen(file, "rb");

	if (!f)
		die("%s: %s\n", file, strerror(errno));
	key_len = fread(key, 1, sizeof(key), f);
	fclose(f);
	/*
	 * The newline at the end of the file is no part of the key, as in
	 * spindle-ctl.
	 */
	while (key_len && (key[key_len - 1] == '\n' || key[key_len - 1] == '\r'))
		key_len--;
}

static void hash(enum proof what, const void *a, size_t alen, const void *b, size_t blen,
		 uint8_t proof[PROOF_LEN])
{
	struct hmac_sha256_ctx ctx;
	uint8_t purpose = what;

	memset(proof, 0, PROOF_LEN);
	if (!key_len)
		return;
	hmac_sha256_set_key(&ctx, key_len, key);
	hmac_sha256_update(&ctx, 1, &purpose);
	hmac_sha256_update(&ctx, alen, a);
	hmac_sha256_update(&ctx, blen, b);
	hmac_sha256_digest(&ctx, PROOF_LEN, proof);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void seal(const char *step, struct hello *h)
{
	const char *how = find(step, "tag");
	uint8_t proof[PROOF_LEN];

	/* The nonces of one life grow. */
	h->nonce = htole64(num(step, "nonce", now_ns()));
	hash(PROOF_REQUEST, h, offsetof(struct hello, tag), h, 0, proof);
	memcpy(h->tag, proof, sizeof(h->tag));
	if (how && !strncmp(how, "bad", 3))
		h->tag[7] ^= 0x80;
}

void prove(const char *step, enum proof what, uint8_t proof[PROOF_LEN])
{
	const char *how = find(step, "proof");
	/*
	 * The answering side has heard the request. The side that gives rights
	 * has said it.
	 */
	const struct hello *a = what == PROOF_ANSWER ? &heard.hello : &said.hello;
	const struct hello *b = what == PROOF_ANSWER ? &said.hello : &heard.hello;

	if (how && !strncmp(how, "other", 5))
		what = what == PROOF_ANSWER ? PROOF_RIGHTS : PROOF_ANSWER;
	hash(what, a, sizeof(*a), b, sizeof(*b), proof);
	if (how && !strncmp(how, "none", 4))
		memset(proof, 0, PROOF_LEN);
	if (how && !strncmp(how, "bad", 3))
		proof[PROOF_LEN - 1] ^= 1;
}

static void file_of(const char *step, const char *what, const char *mode, void *data, size_t len)
{
	const char *p = find(step, what);
	char name[256];
	size_t n;
	FILE *f;

	if (!p)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, ","), p);
	f = fopen(name, mode);
	if (!f)
		die("%s: %s\n", name, strerror(errno));
	n = *mode == 'r' ? fread(data, 1, len, f) : fwrite(data, 1, len, f);
	if (fclose(f) || n != len)
		die("%s: not what it should be\n", name);
}

void keep_heard(const char *step)
{
	file_of(step, "heard", "wb", &heard.hello, sizeof(heard.hello));
}

void keep(const char *step, void *data, size_t len)
{
	file_of(step, "again", "rb", data, len);
	file_of(step, "keep", "wb", data, len);
}
