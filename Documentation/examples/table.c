// SPDX-License-Identifier: MIT
/*
 * Each node publishes its load average in a table, and prints those of all nodes when one changes.
 *
 *	cc table.c $(pkg-config --cflags --libs spindle) -o table
 *	./table NODE TABLE
 */
#include <stdio.h>
#include <stdlib.h>
#include <spindle/table.h>

#define CELL 1

static int publish(struct spindle_table *t)
{
	double load;

	if (getloadavg(&load, 1) != 1)
		return 0;
	return spindle_cell_put(t, CELL, &load, sizeof(load));
}

/* Members come and go, so ask for them each time. Return: how many, or the error of a call. */
static int print_all(struct spindle_table *t)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	int i, n = spindle_table_seats(t, seat, SPINDLE_MAX_MEMBERS);
	uint64_t version;
	double load;

	for (i = 0; i < n; i++) {
		/* A cell that is just being written is in the next line. */
		if (spindle_cell_get(t, seat[i].sst, CELL, &load, sizeof(load), &version))
			continue;
		if (version)
			printf("%snode %u: %.2f", i ? ", " : "", seat[i].node, load);
	}
	printf("\n");
	return n;
}

int main(int argc, char **argv)
{
	struct spindle_table_attr o = { .flags = SPINDLE_TABLE_WRITE };
	struct spindle_table t;
	char why[256];
	int err;

	o.node = argc > 1 ? atoi(argv[1]) : 0;
	o.name = argc > 2 ? argv[2] : NULL;
	err = spindle_table_attach(&t, &o);
	if (err) {
		fprintf(stderr, "%s\n", spindle_table_attach_strerror(&t, &o, err, why,
								      sizeof(why)));
		return 1;
	}
	do {
		err = publish(&t);
		while (err >= 0 && spindle_table_wait(&t, 1000) == 1)
			err = print_all(&t);
	} while (err >= 0);
	fprintf(stderr, "%s\n", spindle_table_call_strerror(&t, err, why, sizeof(why)));
	spindle_table_detach(&t);
	return 1;
}
