/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays that grow while a program reads its input. */
#ifndef SPINDLE_GUEST_GROW_H
#define SPINDLE_GUEST_GROW_H

#include <stdio.h>
#include <stdlib.h>

/*
 * Returns an array like @p with room for more than @n entries of @size bytes. Ends the program if
 * there is no memory.
 */
static inline void *grow(void *p, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return p;
	*room = *room ? 2 * *room : 1024;
	p = realloc(p, *room * size);
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

#endif /* SPINDLE_GUEST_GROW_H */
