/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the family shows: a request without effect leaves it as it is.
 */
#ifndef SPINDLE_GENL_BAD_STATE_H
#define SPINDLE_GENL_BAD_STATE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct state - nodes and views as they are, and what is set of subgroups
 * @buf: the attributes of the dumps, one message behind the other
 * @len: bytes of them
 */
struct state {
	unsigned char buf[128 << 10];
	size_t len;
};

/* Counters are not part of it, nor what depends on where messages are. */
void read_state(struct state *st);

/* Whether nothing was changed in between. */
bool same_state(const struct state *a, const struct state *b);

/* Events since this was last asked: 0, as it has to be, how many, or -errno. */
int no_events(void);

#endif /* SPINDLE_GENL_BAD_STATE_H */
