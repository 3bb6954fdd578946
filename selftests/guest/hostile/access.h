/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One-sided access to the node's memory.
 */
#ifndef SPINDLE_HOSTILE_PEER_ACCESS_H
#define SPINDLE_HOSTILE_PEER_ACCESS_H

#include <stdint.h>
#include <infiniband/verbs.h>

/*
 * Make one access to our row at @off, with the right key unless the step says otherwise. Returns
 * the status. Without @data the bytes come from the scratch memory.
 */
const char *one_sided(const char *step, enum ibv_wr_opcode opcode, uint64_t off,
		      const void *data, uint32_t len);

#endif /* SPINDLE_HOSTILE_PEER_ACCESS_H */
