/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hello of the handshake, as in kmod/node/hello.h, which is no header for user space.
 */
#ifndef SPINDLE_GUEST_HELLO_H
#define SPINDLE_GUEST_HELLO_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <linux/spindle_genl.h>

#define HELLO_MAGIC	0x4c444e53U
#define HELLO_VERSION	9

#define HELLO_F_IMM	1
#define HELLO_F_JOIN	2
#define HELLO_F_ASK	4
#define HELLO_F_READ	64

/* All numbers are little-endian. */
struct hello {
	uint32_t magic;
	uint8_t version;
	uint8_t flags;
	uint16_t port;
	uint32_t src;
	uint32_t dst;
	uint64_t incarnation;
	uint64_t digest;
	uint32_t cluster;
	uint32_t lineage;
	uint64_t nonce;
	uint8_t tag[8];
};

/* The fingerprint of a cluster's name. */
static inline uint32_t hello_cluster(const char *name)
{
	char padded[SPINDLE_CLUSTER_LEN + 1] = { 0 };
	uint64_t word[sizeof(padded) / sizeof(uint64_t)], h = 0;
	unsigned int i;

	snprintf(padded, sizeof(padded), "%s", name);
	memcpy(word, padded, sizeof(word));
	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		h ^= word[i];
		h *= 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

#endif /* SPINDLE_GUEST_HELLO_H */
