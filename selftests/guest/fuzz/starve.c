// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let the n-th allocation in the next system calls of this thread fail. No other thread is
 * affected. This tests the error paths of requests that are half done, which no other test reaches.
 * In a kernel without fault injection nothing happens.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "fuzz.h"

/* The file reads 0 again after the allocation has failed. */
static __thread int fd = -1;
static __thread pid_t owner;
static __thread bool hungry;

static bool set(unsigned int nth)
{
	char text[16];

	/* The file belongs to the thread that opened it. A child opens its own. */
	if (fd < 0 || owner != getpid()) {
		fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
		owner = getpid();
	}
	if (fd < 0)
		return false;
	snprintf(text, sizeof(text), "%u", nth);
	return pwrite(fd, text, strlen(text), 0) > 0;
}

/* Few requests allocate more often than this. */
void starve(void)
{
	hungry = set(1 + (one_in(3) ? below(200) : below(24)));
}

/* Go back to normal. Counts whether an allocation failed. */
void feed(void)
{
	char text[16] = "";

	if (!hungry)
		return;
	hungry = false;
	if (pread(fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text))
		count(OP_STARVED, 0);
	set(0);
}
