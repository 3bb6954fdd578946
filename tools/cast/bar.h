/* SPDX-License-Identifier: GPL-2.0-only */
/* The progress of a batch, on standard error if that is a terminal; and numbers for people. */
#ifndef SPINDLE_CAST_BAR_H
#define SPINDLE_CAST_BAR_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/rdmc.h>

#define CAST_RATE_LEN	32

void cast_bar_init(bool quiet);
void cast_bar_begin(uint64_t total);
bool cast_bar_due(void);
void cast_bar_show(const char *name, const char *what, uint64_t done);
uint64_t cast_bar_part(const struct spindle_rdmc_stat *st, uint64_t object, uint64_t len,
		       uint32_t block);

const char *cast_rate_text(char *buf, uint64_t bytes, uint64_t ns);

#endif /* SPINDLE_CAST_BAR_H */
