// SPDX-License-Identifier: GPL-2.0-only
/*
 * technique: actions on a subgroup for the tests of its techniques.
 *
 *	technique retune  -n NODES -g SUBGROUP -f FILE [-S SEED] [-z]
 *	technique silence -n NODES -g SUBGROUP
 *	technique raw     -n NODE -g SUBGROUP [-k KIND] [-s SIZE] [-c COUNT]
 *
 * retune  changes switches, budgets and silence of all ends, one after the other, as
 *		fast as it can, until FILE exists (retune.c)
 * silence spindle_silence(): what it promises and what it refuses, as TAP (silence.c) raw
 * one measurement of the device, and what became of it (raw.c)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "technique.h"

bool where_nodes(struct where *w, const char *list)
{
	w->nodes = 0;
	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (!first || (*end && *end != ','))
			return false;
		for (; first <= last; first++) {
			if (w->nodes == MAX_NODES)
				return false;
			w->node[w->nodes++] = first;
		}
		list = *end ? end + 1 : end;
	}
	return w->nodes;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} command[] = {
		{ "retune", retune_main },
		{ "silence", silence_main },
		{ "raw", raw_main },
	};
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(command) / sizeof(command[0]); i++)
		if (!strcmp(argv[1], command[i].name))
			return command[i].run(argc - 1, argv + 1);
	fprintf(stderr, "technique: which of retune, silence and raw?\n");
	return 2;
}
