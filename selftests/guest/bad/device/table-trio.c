// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer of a table and two readers of its row, for tests of flushes and of refreshes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "dev-bad.h"
#include "table.h"
#include "tap.h"

#define CELL	3
#define WAIT_MS	20000

void table_trio_open(struct table_trio *t, uint32_t table, int writer_fd, int reader_fd)
{
	uint32_t i;

	table_attach(&t->w, table_args_of(1, table, SPINDLE_TABLE_WRITE, writer_fd));
	for (i = 0; i < 2; i++) {
		table_attach(&t->reader[i], table_args_of(2 + i, table, 0, i ? -1 : reader_fd));
		t->row[i] = cells_map(&t->reader[i], &t->reader[i].a.rows, t->w.a.own_instance,
				      PROT_READ);
		if (!t->row[i])
			die("mmap: %s", strerror(errno));
	}
	t->version = t->w.own[CELL * cells_words(&t->w) + cells_words(&t->w) - 2];
}

void table_trio_close(struct table_trio *t)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		munmap((void *)t->row[i], t->reader[i].a.rows.len);
		cells_detach(&t->reader[i]);
	}
	cells_detach(&t->w);
}

void table_trio_put(struct table_trio *t)
{
	cells_write(&t->w, CELL, ++t->version);
}

bool table_trio_has(const struct table_trio *t, uint32_t i)
{
	uint64_t seen = 0;

	return !cells_read(&t->reader[i], t->row[i], CELL, &seen) && seen == t->version;
}

bool table_trio_gets(const struct table_trio *t, uint32_t i)
{
	int left;

	for (left = WAIT_MS; left && !table_trio_has(t, i); left--)
		usleep(1000);
	return left;
}
