/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue pair of the connection, the memory that it works with, and its completions.
 */
#ifndef SPINDLE_HOSTILE_PEER_QUEUES_H
#define SPINDLE_HOSTILE_PEER_QUEUES_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define SCRATCH		(1U << 20)
#define MAX_PAGES	8

/* Nothing of this is there before the connection is begun. */
extern struct ibv_cq *cq;
extern struct ibv_qp *qp;
extern struct ibv_mr *row_mr, *page_mr, *scratch_mr;

/*
 * The node's row here; the pages that it sends its rights in, and behind MAX_PAGES of
 * them as many to send ours; and the bytes that a step writes or reads.
 */
extern unsigned char *row, *pages, *scratch;

/* Pages of rights that have come. */
extern uint32_t got_pages;

/* All of the above but the memory, for the connection at hand and as the step says. */
void make_queues(const char *step);

/*
 * The queue pair goes through its states by hand where it is to have more rights than
 * the node has granted.
 */
void move_qp(enum ibv_qp_state state, uint8_t reads);

/* Take one completion if there is one: receives are dealt with here. */
bool poll_send(enum ibv_wc_status *status);

/* Post, and say how it ended. */
const char *post_and_wait(struct ibv_send_wr *wr);

#endif /* SPINDLE_HOSTILE_PEER_QUEUES_H */
