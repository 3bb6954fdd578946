/* SPDX-License-Identifier: GPL-2.0-only */
/* The work of spindle-cast. */
#ifndef SPINDLE_CAST_SEND_H
#define SPINDLE_CAST_SEND_H

#include "opts.h"

int cast_send(const struct cast_opts *o);

#endif /* SPINDLE_CAST_SEND_H */
