/* SPDX-License-Identifier: MIT */
/*
 * libspindle-user: send to and read from a Spindle subgroup through mapped memory.
 *
 *	<spindle/queue.h>	attach, detach, wait, errors
 *	<spindle/ring.h>	the hot path: reserve, commit, peek, release
 *	<linux/spindle.h>	the contract between the kernel and the library
 */
#ifndef SPINDLE_SPINDLE_H
#define SPINDLE_SPINDLE_H

#include <spindle/queue.h>
#include <spindle/ring.h>

#endif /* SPINDLE_SPINDLE_H */
