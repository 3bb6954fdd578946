// SPDX-License-Identifier: GPL-2.0-only
/*
 * The n-th allocation of the next system calls of this thread fails, and of no other:
 * the way back out of a request that is half done is code that nobody walks otherwise.
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

/* Reads 0 again when the allocation has failed. */
static __thread int fd = -1;
static __thread pid_t owner;
static __thread bool hungry;

static bool set(unsigned int nth)
{
	char text[16];

	/* The file is of the thread that opened it; a child has one of its own. */
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

/* Back to normal; counts whether an allocation did fail. */
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
