// SPDX-License-Identifier: GPL-2.0-only
/* Bytes that are computed from a key. See msg.h. */
#include <string.h>

#include "msg.h"

static uint64_t next(uint64_t key)
{
	return key * 6364136223846793005ULL + 1442695040888963407ULL;
}

void perf_fill(unsigned char *p, uint32_t len, uint64_t key)
{
	for (; len >= sizeof(key); len -= sizeof(key), p += sizeof(key)) {
		key = next(key);
		memcpy(p, &key, sizeof(key));
	}
	key = perf_mix(key);
	memcpy(p, &key, len);
}

bool perf_filled(const unsigned char *p, uint32_t len, uint64_t key)
{
	for (; len >= sizeof(key); len -= sizeof(key), p += sizeof(key)) {
		key = next(key);
		if (memcmp(p, &key, sizeof(key)))
			return false;
	}
	key = perf_mix(key);
	return !memcmp(p, &key, len);
}
