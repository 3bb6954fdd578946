/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * HMAC-SHA256 (FIPS 180-4, RFC 2104) of short texts.
 */
#ifndef SPINDLE_HOSTILE_PEER_SHA256_H
#define SPINDLE_HOSTILE_PEER_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN	32
#define HMAC_TEXT	256	/* bytes at most, and 64 of the key */

void hmac_sha256(const uint8_t *key, size_t klen, const uint8_t *text, size_t len,
		 uint8_t out[SHA256_LEN]);

#endif /* SPINDLE_HOSTILE_PEER_SHA256_H */
