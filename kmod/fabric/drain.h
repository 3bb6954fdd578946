/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draining: waiting until the hardware is through with a queue pair whose completion
 * queue is polled.
 *
 * ib_drain_sq() and ib_drain_rq() look at such a queue no sooner than after a tenth of a
 * second: too long for the end of a view with many members.
 */
#ifndef SPINDLE_FABRIC_DRAIN_H
#define SPINDLE_FABRIC_DRAIN_H

#include <rdma/ib_verbs.h>

void spindle_drain_sends(struct ib_qp *qp);
void spindle_drain_receives(struct ib_qp *qp);

#endif /* SPINDLE_FABRIC_DRAIN_H */
