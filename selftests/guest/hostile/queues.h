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

/* These are NULL before the connection is begun. */
extern struct ibv_cq *cq;
extern struct ibv_qp *qp;
extern struct ibv_mr *row_mr, *page_mr, *scratch_mr;

/*
 * The node's row here. Pages for rights: MAX_PAGES that receive the node's, and behind them
 * MAX_PAGES that send ours. The bytes that a step writes or reads.
 */
extern unsigned char *row, *pages, *scratch;

/* The number of pages of rights that have arrived. */
extern uint32_t got_pages;

/* Make all of the above except the memory, for the current connection, as the step says. */
void make_queues(const char *step);

/*
 * Change the state of the queue pair by hand, where it needs more rights than the node has granted.
 */
void move_qp(enum ibv_qp_state state, uint8_t reads);

/* Take one completion, if there is one. Completions of receives are handled inside. */
bool poll_send(enum ibv_wc_status *status);

/* Post, wait, and return the status. */
const char *post_and_wait(struct ibv_send_wr *wr);

#endif /* SPINDLE_HOSTILE_PEER_QUEUES_H */
