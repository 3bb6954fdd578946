/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hellos, and what goes with them in a request for a connection or the answer to one.
 */
#ifndef SPINDLE_HOSTILE_PEER_HELLO_H
#define SPINDLE_HOSTILE_PEER_HELLO_H

#include <rdma/rdma_cma.h>

#include "../progs/hello.h"

/*
 * What a connection is requested or accepted with. The hello goes to @h, which has to
 * stay, and is right but for what the step wants to be wrong.
 */
struct rdma_conn_param make_param(const char *step, struct hello *h);

#endif /* SPINDLE_HOSTILE_PEER_HELLO_H */
