/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attach, or end the program with the sentence of the library.
 */
#ifndef SPINDLE_GUEST_ATTACH_H
#define SPINDLE_GUEST_ATTACH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <spindle/spindle.h>

static inline void attach_or_exit(struct spindle_queue *q, uint32_t node, uint32_t group,
				  uint32_t flags, const struct spindle_place *from)
{
	struct spindle_attach_opts o = {
		.node = node, .subgroup = group, .flags = flags, .from = from,
	};
	char text[200];
	int err = spindle_attach(q, &o);

	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name,
		spindle_attach_strerror(q, &o, err, text, sizeof(text)));
	exit(1);
}

#endif /* SPINDLE_GUEST_ATTACH_H */
