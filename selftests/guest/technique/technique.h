/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * technique: actions on a subgroup that no other program here makes. See
 * technique.c.
 */
#ifndef SPINDLE_TECHNIQUE_H
#define SPINDLE_TECHNIQUE_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/spindle.h>

#include "nl.h"

#define MAX_NODES	16

/**
 * struct where - the ends of a subgroup that a command uses
 * @node: ids of nodes of this kernel
 * @nodes: the number of ids
 * @group: the subgroup
 */
struct where {
	uint32_t node[MAX_NODES];
	int nodes;
	uint32_t group;
};

/* Parse a list like "1-3,5". Returns false if it is not a list. */
bool where_nodes(struct where *w, const char *list);

int retune_main(int argc, char **argv);
int silence_main(int argc, char **argv);
int raw_main(int argc, char **argv);

#endif /* SPINDLE_TECHNIQUE_H */
