/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connection for blocks: messages instead of rows.
 */
#ifndef SPINDLE_HOSTILE_PEER_BULK_H
#define SPINDLE_HOSTILE_PEER_BULK_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/* "dial,flags=8", as in kmod/node/hello.h. */
#define HELLO_F_BULK	8

#define BULK_RECVS	128
#define BULK_INBOX	1024
/* Receives for messages have this number and the next ones. */
#define BULK_WR		16

/* As in kmod/fabric/bulk.c and kmod/core/rdmc/rdmc.h, which have no headers for user space. */
struct bulk_message {
	uint32_t reposted;
	uint32_t flags;
	uint64_t to;
	uint32_t word;
	uint32_t arg;
	uint64_t w[4];
};

/* The connection is one for blocks, on which no side has rows. */
extern bool bulk;

/* Post receives for messages. */
void bulk_receives(struct ibv_pd *pd);

/* A receive for a message has completed. */
void bulk_came(const struct ibv_wc *wc);

#endif /* SPINDLE_HOSTILE_PEER_BULK_H */
