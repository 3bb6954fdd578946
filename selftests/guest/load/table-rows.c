// SPDX-License-Identifier: GPL-2.0-only
/*
 * table-rows: the rows of a table, as a node has them.
 *
 *	table-rows -n NODE -t TABLE [-p VERSION] [-r MS] [-a RANK=VERSION] [-s SECONDS]
 *
 *	-p VERSION	write it into all cells of the own row
 *	-r MS		in a table of mode read: read the rows of others without pause for this time
 *	-a RANK=VERSION	wait until all cells of this member have this version
 *	-s SECONDS	wait so long at most (60)
 *
 * In a table of mode read, the program asks for a read of all rows, or goes on asking with -a. It
 * prints a line for each member of a static view: the rank, and the version of each cell. Status 1:
 * what it waits for did not come.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cells.h"

#define die(...) do { fprintf(stderr, "table-rows: " __VA_ARGS__); exit(2); } while (0)
#define MAX_ROWS	64

static struct cells mine;
static const uint64_t *row[MAX_ROWS];
static uint32_t node, table, rank = UINT32_MAX;
static uint64_t put, want, asked;
static int read_ms, wait_s = 60;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void begin(void)
{
	uint32_t i;
	int err = cells_attach(&mine, cells_args(node, table, put ? SPINDLE_TABLE_WRITE : 0));

	if (err)
		die("attach: %s\n", strerror(-err));
	if (mine.a.members > MAX_ROWS)
		die("%u members\n", mine.a.members);
	/* In a live view, instances are no ranks. */
	for (i = 0; i < mine.a.members && !(mine.a.features & SPINDLE_TABLE_FEAT_LIVE); i++) {
		row[i] = cells_map(&mine, &mine.a.rows, i, PROT_READ);
		if (!row[i])
			die("map row %u: %s\n", i, strerror(errno));
	}
}

static void put_all(void)
{
	uint32_t cell;

	for (cell = mine.a.cells; put && cell--;)
		cells_write(&mine, cell, put);
	if (put && cells_kick(&mine))
		die("kick: %s\n", strerror(errno));
}

/* Has a new refresh ended within this time? Tables of mode write need none. */
static bool refreshes(int ms)
{
	struct pollfd p = { .fd = mine.fd, .events = POLLRDBAND };

	if (mine.a.mode != SPINDLE_MODE_TABLE_READ)
		return true;
	/* One that has not ended yet goes on. */
	if (cells_refreshed(&mine) == asked && cells_refresh(&mine, ++asked))
		die("kick: %s\n", strerror(errno));
	return poll(&p, 1, ms) > 0 && cells_refreshed(&mine) == asked;
}

static bool has_all(void)
{
	uint64_t copy[MAX_WORDS];
	uint32_t cell;

	for (cell = 0; cell < mine.a.cells; cell++)
		if (!cells_copy(&mine, row[rank], cell, copy) ||
		    copy[cells_words(&mine) - 2] != want)
			return false;
	return true;
}

static bool comes(void)
{
	uint64_t end = now_ms() + wait_s * 1000ULL;

	if (rank == UINT32_MAX)
		return refreshes(wait_s * 1000);
	while (!has_all()) {
		if (now_ms() > end)
			return false;
		refreshes(100);
		usleep(10000);
	}
	return true;
}

static void print_rows(void)
{
	uint64_t copy[MAX_WORDS];
	uint32_t i, cell;

	for (i = 0; i < mine.a.members && row[i]; i++) {
		printf("%u:", i);
		for (cell = 0; cell < mine.a.cells; cell++)
			if (cells_copy(&mine, row[i], cell, copy))
				printf(" %" PRIu64, copy[cells_words(&mine) - 2]);
			else
				printf(" torn");
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	int c;
	bool came;

	while ((c = getopt(argc, argv, "n:t:p:r:a:s:")) != -1) {
		switch (c) {
		case 'n': node = strtoul(optarg, NULL, 0); break;
		case 't': table = strtoul(optarg, NULL, 0); break;
		case 'p': put = strtoull(optarg, NULL, 0); break;
		case 'r': read_ms = atoi(optarg); break;
		case 's': wait_s = atoi(optarg); break;
		case 'a':
			if (sscanf(optarg, "%u=%" SCNu64, &rank, &want) != 2)
				return 2;
			break;
		default: return 2;
		}
	}
	begin();
	if (rank != UINT32_MAX && (rank >= mine.a.members || !row[rank]))
		die("there is no rank %u\n", rank);
	put_all();
	if (read_ms) {
		cells_every(&mine, 1);
		usleep(read_ms * 1000);
		cells_every(&mine, 0);
	}
	came = comes();
	if (!came)
		printf("no read of all rows\n");
	print_rows();
	return !came;
}
