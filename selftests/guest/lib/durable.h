/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages of durable-load, as text: a dump of a log shows them as they are.
 */
#ifndef SPINDLE_GUEST_DURABLE_H
#define SPINDLE_GUEST_DURABLE_H

#include <inttypes.h>
#include <stdio.h>

#include "selfcheck.h"

/* Bytes of the longest message, with the zero behind it. */
#define DURABLE_MAX	256U
/* Most letters behind the numbers. */
#define DURABLE_LETTERS	160U

/**
 * struct durable_text - which message it is
 * @node: id of the node that has sent it
 * @life: of the process that has sent it; no two processes of a node have the same
 * @n: its number in that life, from 0 on
 */
struct durable_text {
	uint32_t node;
	uint64_t life;
	uint64_t n;
};

/* Returns the length of the text, without the zero. */
static inline uint32_t durable_print(const struct durable_text *t, char text[DURABLE_MAX])
{
	uint64_t key = mix(mix(mix(t->node) ^ t->life) ^ t->n);
	int head = snprintf(text, DURABLE_MAX, "%" PRIu32 " %" PRIu64 " %" PRIu64 " ", t->node,
			    t->life, t->n);
	uint32_t letters = key % (DURABLE_LETTERS + 1), i;

	for (i = 0; i < letters; i++)
		text[head + i] = 'a' + mix(key + i) % 26;
	text[head + letters] = '\0';
	return head + letters;
}

/* Returns whether @len bytes are a message, and all of it. */
static inline bool durable_parse(const void *bytes, uint32_t len, struct durable_text *t)
{
	char text[DURABLE_MAX], want[DURABLE_MAX];

	if (len >= DURABLE_MAX)
		return false;
	memcpy(text, bytes, len);
	text[len] = '\0';
	if (sscanf(text, "%" SCNu32 " %" SCNu64 " %" SCNu64 " ", &t->node, &t->life, &t->n) != 3)
		return false;
	return durable_print(t, want) == len && !memcmp(text, want, len);
}

#endif /* SPINDLE_GUEST_DURABLE_H */
