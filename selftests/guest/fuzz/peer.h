/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hellos of a stranger: hello.c
 */
#ifndef SPINDLE_FUZZ_PEER_H
#define SPINDLE_FUZZ_PEER_H

#include <stdbool.h>
#include <stdint.h>

/* Outcomes of a connection request, besides 0 and the code of a rejection. */
#define NO_ANSWER 1000

int hello_dial(uint32_t from, uint32_t to, uint64_t digest, bool right);

#endif /* SPINDLE_FUZZ_PEER_H */
