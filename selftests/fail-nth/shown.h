/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module shows of itself.
 */
#ifndef SPINDLE_FAIL_NTH_SHOWN_H
#define SPINDLE_FAIL_NTH_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "../progs/nl.h"

#define LOOK_MAX	(512 << 10)

/**
 * struct shown - what a request has shown, without what changes all the time
 * @len: bytes in @buf
 * @bytes: with what is left out
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
/* Whether nothing has changed from one to the other. */
bool same(const struct shown *a, const struct shown *b);

/* The socket that looks, which nothing ever fails for. */
extern struct nl eye;

/* As often as the module is loaded. */
void open_eye(void);
/* Everything that can be seen of the module, for comparison. */
void look(struct shown *s);
/* enum spindle_state, or -errno. */
int subgroup_state(uint32_t node, uint32_t id);

#endif /* SPINDLE_FAIL_NTH_SHOWN_H */
