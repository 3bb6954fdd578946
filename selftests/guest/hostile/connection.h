/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connection to the node; there is one at a time.
 */
#ifndef SPINDLE_HOSTILE_PEER_CONNECTION_H
#define SPINDLE_HOSTILE_PEER_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/rdma_cma.h>

/* The channel of all events of connections. */
extern struct rdma_event_channel *chan;

/* The last connection that was begun. */
extern struct rdma_cm_id *id;

/* The node has disconnected. Only next_event() updates this. */
extern bool disconnected;

/* Accept requests at the address of our member from now on. */
void listen_here(void);

/* The next event, or -1 when the time is over. The code of a rejection goes to @code. */
int next_event(int ms, int64_t *code, struct rdma_cm_id **from);

#endif /* SPINDLE_HOSTILE_PEER_CONNECTION_H */
