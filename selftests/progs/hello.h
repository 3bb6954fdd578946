/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hello of the handshake, as in kmod/hello.h, which is no header for user space.
 */
#ifndef SPINDLE_PROGS_HELLO_H
#define SPINDLE_PROGS_HELLO_H

#include <stdint.h>
#include <linux/spindle_genl.h>

#define HELLO_MAGIC	0x4c444e53U
#define HELLO_VERSION	2

/* All numbers are little-endian. */
struct hello {
	uint32_t magic;
	uint16_t version;
	uint16_t flags;
	uint32_t src;
	uint32_t dst;
	uint64_t incarnation;
	uint64_t digest;
	char cluster[SPINDLE_CLUSTER_LEN + 1];
};

#endif /* SPINDLE_PROGS_HELLO_H */
