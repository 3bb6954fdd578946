/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink requests as trees of attributes. The fuzzer spoils a tree before it is laid out.
 */
#ifndef SPINDLE_FUZZ_ATTRS_H
#define SPINDLE_FUZZ_ATTRS_H

#include "fuzz.h"
#include "nl.h"

#define ATTR_BYTES 40

/**
 * struct attr - an attribute
 * @next: the one behind it
 * @child: the first one inside; an attribute with children has no bytes of its own
 * @type: with flags
 * @lie: added to the length in the header, to make it wrong
 * @len: bytes, those beyond @data are noise
 * @data: the value
 */
struct attr {
	struct attr *next, *child;
	uint16_t type;
	int16_t lie;
	uint32_t len;
	unsigned char data[ATTR_BYTES];
};

/* A request: the list of attributes at the top. */
struct tree {
	struct attr *first, **end;
};

void tree_begin(struct tree *t);
struct attr *tree_put(struct tree *t, int type, const void *data, uint32_t len);
struct attr *tree_u8(struct tree *t, int type, uint8_t v);
struct attr *tree_u16(struct tree *t, int type, uint16_t v);
struct attr *tree_u32(struct tree *t, int type, uint32_t v);
struct attr *tree_u64(struct tree *t, int type, uint64_t v);
/* Takes the attributes of @in, which must not be used again. */
struct attr *tree_nest(struct tree *t, int type, struct tree *in);

void tree_mutate(struct tree *t);
void tree_lay_out(const struct tree *t, struct nl_req *r);

#endif /* SPINDLE_FUZZ_ATTRS_H */
