/* SPDX-License-Identifier: GPL-2.0-only */
/* The work of spindle-recv. */
#ifndef SPINDLE_CAST_RECV_H
#define SPINDLE_CAST_RECV_H

#include <stdbool.h>

#include "opts.h"
#include "store.h"

int cast_recv(const struct cast_opts *o, const struct cast_store *store, bool *hopeless);

#endif /* SPINDLE_CAST_RECV_H */
