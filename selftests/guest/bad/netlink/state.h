/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state that the family shows. A request without effect does not change it.
 */
#ifndef SPINDLE_GENL_BAD_STATE_H
#define SPINDLE_GENL_BAD_STATE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct state - the nodes, the views, and the settings of subgroups
 * @buf: the attributes of the dumps, one message behind the other
 * @len: bytes of them
 */
struct state {
	unsigned char buf[128 << 10];
	size_t len;
};

/*
 * Read the state, without counters and without values that depend on messages.
 */
void read_state(struct state *st);

/* Are both states the same? */
bool same_state(const struct state *a, const struct state *b);

/*
 * Events since the last call: 0, as it has to be, or their number, or -errno.
 */
int no_events(void);

#endif /* SPINDLE_GENL_BAD_STATE_H */
