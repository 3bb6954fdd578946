/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hellos, and the rest of a request for a connection or of its answer.
 */
#ifndef SPINDLE_HOSTILE_PEER_HELLO_H
#define SPINDLE_HOSTILE_PEER_HELLO_H

#include <rdma/rdma_cma.h>

#include "../lib/hello.h"

/*
 * The parameters of a request and of an answer. They are correct, except for the errors that the
 * step asks for. The hello stays in "said" (proof.h).
 */
struct rdma_conn_param make_request(const char *step);
struct rdma_conn_param make_answer(const char *step);

#endif /* SPINDLE_HOSTILE_PEER_HELLO_H */
