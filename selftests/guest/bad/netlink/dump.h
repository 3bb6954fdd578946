/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dumps of nodes in many pieces.
 */
#ifndef SPINDLE_GENL_BAD_DUMP_H
#define SPINDLE_GENL_BAD_DUMP_H

#include <stdint.h>

#include "nl.h"

/* Ids of the nodes that are added for this test. One more is added and removed. */
#define FIRST	1001
#define MANY	96

/**
 * struct dumped - the contents of a dump
 * @seen: how often each of the many nodes came
 * @others: messages about other nodes
 * @messages: all of them
 * @out_of_order: those whose id is not higher than that before
 * @intr: those that say that the dump was interrupted
 * @last: the last id
 * @between: called once, behind the third message, before the others
 */
struct dumped {
	unsigned int seen[MANY + 1];
	unsigned int others, messages, out_of_order, intr;
	uint32_t last;
	void (*between)(struct dumped *d);
};

/*
 * Open a new socket for pieces of this size. The kernel makes pieces as large as the earlier reads
 * of a socket.
 */
void fresh_socket(struct nl *sk, uint32_t room);

/* Take a dump in pieces of 4 KiB, which the kernel makes only when they are read; 0 or -errno. */
int dump_pieces(int cmd, struct dumped *d, struct nl_ack *ack);

#endif /* SPINDLE_GENL_BAD_DUMP_H */
