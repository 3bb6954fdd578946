/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hellos, and what goes with them in a request for a connection or the answer to one.
 */
#ifndef SPINDLE_HOSTILE_PEER_HELLO_H
#define SPINDLE_HOSTILE_PEER_HELLO_H

#include <rdma/rdma_cma.h>

#include "../progs/hello.h"

/*
 * What a connection is requested or accepted with. It is right but for what the step wants to
 * be wrong, and stays in "said" (proof.h).
 */
struct rdma_conn_param make_request(const char *step);
struct rdma_conn_param make_answer(const char *step);

#endif /* SPINDLE_HOSTILE_PEER_HELLO_H */
