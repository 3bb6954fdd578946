/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of numbers on command lines.
 */
#ifndef SPINDLE_GUEST_IDS_H
#define SPINDLE_GUEST_IDS_H

#include <stdint.h>
#include <stdlib.h>

/*
 * Parse a list like "1-4,7". Returns the number of ids, at most @max; -1: not a
 * list.
 */
static inline int parse_ids(const char *s, uint32_t *id, int max)
{
	int n = 0;

	while (*s) {
		char *end;
		unsigned long a = strtoul(s, &end, 10), b = a;

		if (*end == '-')
			b = strtoul(end + 1, &end, 10);
		for (; a <= b && n < max; a++)
			id[n++] = a;
		if (*end && *end != ',')
			return -1;
		s = *end ? end + 1 : end;
	}
	return n;
}

#endif /* SPINDLE_GUEST_IDS_H */
