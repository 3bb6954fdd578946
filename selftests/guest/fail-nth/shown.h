/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The visible state of the module.
 */
#ifndef SPINDLE_FAIL_NTH_SHOWN_H
#define SPINDLE_FAIL_NTH_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

#define LOOK_MAX	(512 << 10)

/**
 * struct shown - the answer to a request, without values that change all the
 * time
 * @len: bytes in @buf
 * @bytes: bytes including those that are left out
 * @overflow: there is more
 * @buf: attributes
 */
struct shown {
	int len, bytes;
	bool overflow;
	char buf[LOOK_MAX];
};

/* A dump, or one object if @node is given with @flags 0. 0 or -errno. */
int show_all(struct nl *nl, struct shown *s, int cmd, int flags, uint32_t node);
/* Are both states the same? */
bool same(const struct shown *a, const struct shown *b);

/* The socket for reading the state. Its allocations never fail. */
extern struct nl eye;

/* Call this each time that the module is loaded. */
void open_eye(void);
/* Read all visible state of the module, for comparison. */
void look(struct shown *s);
/* enum spindle_state, or -errno. */
int subgroup_state(uint32_t node, uint32_t id);

#endif /* SPINDLE_FAIL_NTH_SHOWN_H */
