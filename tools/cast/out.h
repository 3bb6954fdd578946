/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of the results of files, for people and for programs. */
#ifndef SPINDLE_CAST_OUT_H
#define SPINDLE_CAST_OUT_H

#include "common/util.h"
#include "manifest.h"
#include "opts.h"

void cast_out_init(const struct cast_opts *o);
void cast_out_say(const char *fmt, ...) CTL_PRINTF(1, 2);
void cast_out_file(const struct cast_entry *e, uint32_t node, const struct cast_say *say,
		   uint64_t ns);
void cast_out_failures(const struct cast_manifest *m, uint32_t node, const struct cast_say *say);

#endif /* SPINDLE_CAST_OUT_H */
