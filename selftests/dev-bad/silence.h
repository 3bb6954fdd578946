/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Silence, in states that other parts are about.
 */
#ifndef SPINDLE_DEV_BAD_SILENCE_H
#define SPINDLE_DEV_BAD_SILENCE_H

#include <stdint.h>

/* Declare it; the errno, positive. */
int silence(int fd, uint64_t rounds);

#endif /* SPINDLE_DEV_BAD_SILENCE_H */
