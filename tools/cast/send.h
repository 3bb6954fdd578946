/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What spindle-cast does.
 */
#ifndef SPINDLE_CAST_SEND_H
#define SPINDLE_CAST_SEND_H

#include "cast-opts.h"

int cast_send(const struct cast_opts *o);

#endif /* SPINDLE_CAST_SEND_H */
