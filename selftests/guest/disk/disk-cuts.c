// SPDX-License-Identifier: GPL-2.0-only
/*
 * disk-cuts: the log of spindle-logd after each power failure that its disk may have had.
 *
 *	disk-cuts load -n NODE -g SUBGROUP -c COUNT -m DEVICE
 *	disk-cuts copy FROM TO
 *	disk-cuts replay -f TYPE -l LOG -t TO -s STORE -d DIR [-e EVERY]
 *
 * "load" sends COUNT messages, and marks in the log of a device of dm-log-writes what the logger of
 * the node has reported. "copy" copies what is not zero. "replay" writes the log of such a device
 * to TO, which begins as a copy. At each flush and each write with FUA it mounts a snapshot of TO,
 * whose writes go to STORE, and checks the spindle-logd directory DIR in it. One of EVERY frames is
 * torn before it is written, which is a cut, too. At one of EVERY cuts the log goes on.
 *
 * Exit status 0: all is as it was reported; 1: a line says what is not.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk-cuts.h"

static unsigned int complaints;

void complain(const char *fmt, ...)
{
	va_list ap;

	/* The first ones tell. */
	if (++complaints > 20)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

void fail(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* The bytes of a message follow from its position. */
void fill(uint64_t lsn, unsigned char *buf, uint32_t *len)
{
	uint32_t i;

	*len = (uint32_t)(lsn * 2654435761U % (lsn % 16 ? LEN_MAX / 8 : LEN_MAX));
	for (i = 0; i < *len; i++)
		buf[i] = (unsigned char)(lsn * 31 + i * (lsn % 7 + 1));
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (!strcmp(verb, "load"))
		load_main(argc - 1, argv + 1);
	else if (!strcmp(verb, "replay"))
		cuts_main(argc - 1, argv + 1);
	else if (!strcmp(verb, "copy") && argc == 4)
		replay_copy(argv[2], argv[3]);
	else
		fail("disk-cuts: load, copy or replay");
	return complaints ? 1 : 0;
}
