/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dumps of nodes in many pieces.
 */
#ifndef SPINDLE_GENL_BAD_DUMP_H
#define SPINDLE_GENL_BAD_DUMP_H

#include <stdint.h>

#include "../progs/nl.h"

/* Ids of the nodes that are added for this; one more comes and goes. */
#define FIRST	1001
#define MANY	96

/**
 * struct dumped - what came in a dump
 * @seen: how often each of the many nodes
 * @others: messages about other nodes
 * @messages: all of them
 * @out_of_order: those whose id is not higher than that before
 * @intr: those that say that the dump was interrupted
 * @last: the last id
 * @between: called once, behind the third message, when more are to come
 */
struct dumped {
	unsigned int seen[MANY + 1];
	unsigned int others, messages, out_of_order, intr;
	uint32_t last;
	void (*between)(struct dumped *d);
};

/*
 * A socket that nothing was read from, for pieces of this size: the kernel makes them as
 * large as those that were read before.
 */
void fresh_socket(struct nl *sk, uint32_t room);

/* A dump in pieces of 4 KiB that are only made when they are read; 0 or -errno. */
int dump_pieces(int cmd, struct dumped *d, struct nl_ack *ack);

#endif /* SPINDLE_GENL_BAD_DUMP_H */
