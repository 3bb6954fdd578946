/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Silence, for the states that other parts test.
 */
#ifndef SPINDLE_DEV_BAD_SILENCE_H
#define SPINDLE_DEV_BAD_SILENCE_H

#include <stdint.h>

/* Declare silence; returns the errno, positive. */
int silence(int fd, uint64_t rounds);

#endif /* SPINDLE_DEV_BAD_SILENCE_H */
