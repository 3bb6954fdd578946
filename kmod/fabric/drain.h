/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draining: wait until the hardware has finished with a queue pair whose completion queue is
 * polled.
 *
 * ib_drain_sq() and ib_drain_rq() poll such a queue only every tenth of a second. That is too slow
 * for the end of a view with many members.
 */
#ifndef SPINDLE_FABRIC_DRAIN_H
#define SPINDLE_FABRIC_DRAIN_H

#include <rdma/ib_verbs.h>

void spindle_drain_sends(struct ib_qp *qp);
void spindle_drain_receives(struct ib_qp *qp);

#endif /* SPINDLE_FABRIC_DRAIN_H */
