/* SPDX-License-Identifier: MIT */
/*
 * What the examples with predicates have in common: they begin with NODE and TABLE, and end with a
 * text and status 1 when a call fails. Status 2: what the program checks does not hold.
 */
#ifndef EXAMPLES_APP_H
#define EXAMPLES_APP_H

#include <stdio.h>
#include <stdlib.h>
#include <spindle/predicate.h>

/* Patience with other members, in milliseconds. */
#define TIMEOUT 120000

static inline void app_attach(struct spindle_table *t, int argc, char **argv, uint32_t flags)
{
	struct spindle_table_attr o = { .flags = SPINDLE_TABLE_WRITE | flags };
	char why[256];
	int err;

	if (argc < 4) {
		fprintf(stderr, "usage: %s NODE TABLE ARGUMENT\n", argv[0]);
		exit(1);
	}
	o.node = (uint32_t)atoi(argv[1]);
	o.name = argv[2];
	err = spindle_table_attach(t, &o);
	if (!err)
		return;
	fprintf(stderr, "%s\n", spindle_table_attach_strerror(t, &o, err, why, sizeof(why)));
	exit(1);
}

/* Return: @ret, unless it is an error. */
static inline int app_check(struct spindle_table *t, int ret)
{
	char why[256];

	if (ret >= 0)
		return ret;
	fprintf(stderr, "node %u: %s\n", t->node,
		spindle_table_call_strerror(t, ret, why, sizeof(why)));
	exit(1);
}

static inline uint32_t app_add(struct spindle_table *t, struct spindle_predicate *p)
{
	int id = spindle_predicate_add(t, p);
	char why[256];

	if (id >= 0)
		return (uint32_t)id;
	fprintf(stderr, "node %u: %s\n", t->node,
		spindle_predicate_strerror(t, p, id, why, sizeof(why)));
	exit(1);
}

/* Wait until one predicate has signalled. Return: how often the process was woken. */
static inline unsigned int app_wait(struct spindle_table *t, uint32_t id)
{
	unsigned int wakes = 0;

	while (!spindle_predicate_fired(t, id)) {
		if (app_check(t, spindle_table_wait_signal(t, TIMEOUT))) {
			wakes++;
			continue;
		}
		fprintf(stderr, "node %u: time is up\n", t->node);
		exit(1);
	}
	return wakes;
}

/* Programs that begin with empty rows do not run in a table a second time. */
static inline void app_need_empty(struct spindle_table *t, uint32_t cell)
{
	uint64_t version = 1;

	spindle_cell_get(t, t->own_instance, cell, NULL, 0, &version);
	if (!version)
		return;
	fprintf(stderr, "node %u: the table was used before: add another one\n", t->node);
	exit(1);
}

static inline void app_bad(const struct spindle_table *t, const char *what)
{
	fprintf(stderr, "node %u: wrong: %s\n", t->node, what);
	exit(2);
}

#endif /* EXAMPLES_APP_H */
