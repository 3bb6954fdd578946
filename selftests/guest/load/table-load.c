// SPDX-License-Identifier: GPL-2.0-only
/*
 * table-load: processes that write the rows of a table, and read and check all rows.
 *
 *	-n LIST   nodes, "1,2,3": a process for each
 *	-t TABLE  id of the table
 *	-r N      rounds of each process
 *	-w SEC    time without progress that means a hang, default 60
 *	-k        each process dies in the middle of an update, and another one goes on
 *	-e LIST   nodes whose rows are expected to be complete, default those of -n
 *	-u US     of a table of mode read: microseconds from one read of a row to the next, default
 *	          1; 0: only by requests
 *
 * In round V a process seals one cell, and then cell 0, which is the guard, with version V. So from
 * the version of a guard follows which versions of all cells a reader must see. All bytes of a
 * value follow from node, cell and version. The program uses the contract of
 * <linux/spindle_table.h> as it stands, without the library.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cells.h"

#define MAX_NODES	64
#define MAX_INSTANCES	256

static uint32_t node[MAX_NODES], expected[MAX_NODES];
static int nodes, num_expected, wait_s = 60;
static uint64_t rounds = 100, every_us = 1;
static uint32_t table = 1;
static bool dies;

/* What one process has mapped. */
static struct cells mine;
static uint64_t *row[MAX_INSTANCES];
static uint32_t words;
static uint64_t seen[MAX_INSTANCES][SPINDLE_MAX_CELLS];
static uint64_t values, torn, waits;

#define fail(...) do { fprintf(stderr, "table-load: " __VA_ARGS__); exit(1); } while (0)

static uint64_t value_of(uint32_t id, uint32_t cell, uint64_t version, uint32_t at_word)
{
	uint64_t w[4] = { id, cell, version, at_word };

	return cells_seal(w, 4);
}

/* The version that a cell has when its owner has sealed guard @round. */
static uint64_t version_at(uint64_t round, uint32_t cell)
{
	uint32_t others = mine.a.cells - 1;

	return !cell ? round : round / others + (round % others >= cell);
}

static uint32_t cell_of_round(uint64_t round)
{
	return mine.a.cells == 1 ? 0 : 1 + (round - 1) % (mine.a.cells - 1);
}

static void attach(uint32_t id, uint32_t flags)
{
	int err = cells_attach(&mine, cells_args(id, table, flags));

	if (err)
		fail("attach node %u: %s\n", id, strerror(-err));
	if (mine.a.instances > MAX_INSTANCES)
		fail("node %u has %u instances\n", id, mine.a.instances);
	words = cells_words(&mine);
	cells_every(&mine, every_us);
}

/* When a table ends, its rows show zeroes. */
static void check_end(void)
{
	if (__atomic_load_n((uint32_t *)(mine.ctl + mine.a.ctl_state), __ATOMIC_ACQUIRE) >
	    SPINDLE_STATE_ACTIVE)
		fail("node %u: the table has ended, error %u\n", mine.a.node,
		     *(uint32_t *)(mine.ctl + mine.a.ctl_error));
}

/* ---- write ---------------------------------------------------------------- */

/* Write a value, half of it if the process is to die in the middle. */
static void update(uint32_t id, uint32_t cell, uint64_t version, bool die)
{
	uint64_t *at_cell = mine.own + (uint64_t)cell * words;
	uint64_t *dirty = (uint64_t *)(mine.usr + mine.a.usr_dirty) + cell / 64;
	uint32_t i;

	for (i = 0; i < words - 2; i++) {
		if (die && i == (words - 2) / 2)
			kill(getpid(), SIGKILL);
		__atomic_store_n(&at_cell[i], value_of(id, cell, version, i), __ATOMIC_RELAXED);
	}
	__atomic_store_n(&at_cell[i], version, __ATOMIC_RELAXED);
	__atomic_store_n(&at_cell[i + 1], cells_seal(at_cell, words - 1), __ATOMIC_RELEASE);
	__atomic_fetch_or(dirty, 1ULL << cell % 64, __ATOMIC_RELEASE);
}

static void one_round(uint32_t id, uint64_t round, bool die)
{
	uint32_t cell = cell_of_round(round);
	int err;

	if (cell)
		update(id, cell, version_at(round, cell), die);
	update(id, 0, round, false);
	err = cells_kick(&mine);
	if (err)
		fail("kick: %s\n", strerror(-err));
}

/* ---- read ----------------------------------------------------------------- */

/* Read a whole value. Returns false if the cell is being written. */
static bool read_cell(uint32_t id, uint32_t instance, uint32_t cell, uint64_t *version)
{
	uint64_t copy[MAX_WORDS];
	uint32_t i;

	if (!cells_copy(&mine, row[instance], cell, copy)) {
		torn++;
		return false;
	}
	*version = copy[words - 2];
	for (i = 0; *version && i < words - 2; i++)
		if (copy[i] != value_of(id, cell, *version, i))
			fail("node %u: cell %u of node %u is no value of version %" PRIu64 "\n",
			     mine.a.node, cell, id, *version);
	if (*version < seen[instance][cell]) {
		check_end();
		fail("node %u: cell %u of node %u went back from %" PRIu64 " to %" PRIu64 "\n",
		     mine.a.node, cell, id, seen[instance][cell], *version);
	}
	seen[instance][cell] = *version;
	values++;
	return true;
}

/* Returns the version of the guard, 0 if it cannot be read now. */
static uint64_t read_row(uint32_t id, uint32_t instance)
{
	const uint64_t *vouched = (uint64_t *)(mine.ctl + mine.a.ctl_vouched) + instance;
	uint64_t guard, version;
	uint32_t cell;

	if (!read_cell(id, instance, 0, &guard))
		return 0;
	if ((mine.a.features & SPINDLE_TABLE_FEAT_VOUCH) &&
	    guard > __atomic_load_n(vouched, __ATOMIC_ACQUIRE))
		return 0;
	for (cell = 1; cell < mine.a.cells; cell++)
		if (read_cell(id, instance, cell, &version) &&
		    version < version_at(guard, cell)) {
			check_end();
			fail("node %u: guard %" PRIu64 " of node %u, cell %u of version %" PRIu64
			     "\n", mine.a.node, guard, id, cell, version);
		}
	return guard;
}

static bool is_expected(uint32_t id)
{
	for (int i = 0; i < num_expected; i++)
		if (expected[i] == id)
			return true;
	return false;
}

/* Read all rows. Returns how many of the expected ones are complete. */
static int read_all(void)
{
	struct spindle_seat seat[MAX_NODES];
	struct spindle_seats seats = { .count = MAX_NODES, .ptr = (uintptr_t)seat };
	int complete = 0;

	if (ioctl(mine.fd, SPINDLE_TABLE_IOC_SEATS, &seats)) {
		check_end();
		fail("node %u: seats: %s\n", mine.a.node, strerror(errno));
	}
	for (uint32_t i = 0; i < seats.count; i++) {
		uint32_t instance = seat[i].sst;

		if (!row[instance])
			row[instance] = cells_map(&mine, &mine.a.rows, instance, PROT_READ);
		if (!row[instance])
			fail("node %u cannot map row %u\n", mine.a.node, instance);
		complete += read_row(seat[i].node, instance) >= rounds && is_expected(seat[i].node);
	}
	return complete;
}

/*
 * Wait until a row has changed since the generation that was seen. Without an interval, wait for
 * a read of all rows instead, which may bring nothing new.
 */
static void await_change(void)
{
	bool asks = mine.a.mode == SPINDLE_MODE_TABLE_READ && !every_us;
	struct pollfd pfd = { .fd = mine.fd, .events = asks ? POLLRDBAND : POLLIN };
	int n;

	if (asks && cells_refresh(&mine, waits + 1))
		fail("kick: %s\n", strerror(errno));
	n = poll(&pfd, 1, wait_s * 1000);

	waits++;
	if (n <= 0)
		fail("node %u: no change for %d s\n", mine.a.node, wait_s);
	check_end();
}

/* ---- processes ------------------------------------------------------------ */

static int run(uint32_t id, uint64_t die_in)
{
	uint64_t round;

	attach(id, SPINDLE_TABLE_WRITE);
	/* A former writer may have died before the guard of its round. Its round is done again. */
	for (round = mine.own[words - 2] + 1; round <= rounds; round++) {
		one_round(id, round, round == die_in);
		if (round % 8 == 0)
			read_all();
	}
	for (;;) {
		cells_see(&mine);
		if (read_all() == num_expected)
			break;
		await_change();
	}
	printf("# node %u: %" PRIu64 " values, %" PRIu64 " half written, %" PRIu64 " waits\n", id,
	       values, torn, waits);
	return 0;
}

static pid_t start(uint32_t id, uint64_t die_in)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("fork: %s\n", strerror(errno));
	if (!pid)
		exit(run(id, die_in));
	return pid;
}

/* Wait for a process that dies, and have another one go on. */
static pid_t replace(pid_t pid, uint32_t id)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		fail("node %u did not die\n", id);
	return start(id, 0);
}

static int parse(const char *list, uint32_t *to)
{
	int n = 0;
	char *end;

	for (; *list && n < MAX_NODES; list = end + (*end == ','))
		to[n++] = strtoul(list, &end, 10);
	return n;
}

int main(int argc, char **argv)
{
	pid_t pid[MAX_NODES];
	int c, i, status, bad = 0;

	while ((c = getopt(argc, argv, "n:t:r:w:ke:u:")) != -1) {
		switch (c) {
		case 'n':
			nodes = parse(optarg, node);
			break;
		case 't':
			table = strtoul(optarg, NULL, 10);
			break;
		case 'r':
			rounds = strtoull(optarg, NULL, 10);
			break;
		case 'w':
			wait_s = atoi(optarg);
			break;
		case 'k':
			dies = true;
			break;
		case 'u':
			every_us = strtoull(optarg, NULL, 10);
			break;
		case 'e':
			num_expected = parse(optarg, expected);
			break;
		default:
			return 2;
		}
	}
	if (!num_expected) {
		memcpy(expected, node, sizeof(node));
		num_expected = nodes;
	}
	for (i = 0; i < nodes; i++)
		pid[i] = start(node[i], dies ? rounds / 2 + i : 0);
	for (i = 0; i < nodes && dies; i++)
		pid[i] = replace(pid[i], node[i]);
	for (i = 0; i < nodes; i++) {
		if (waitpid(pid[i], &status, 0) != pid[i] || status) {
			fprintf(stderr, "table-load: node %u: status %x\n", node[i], status);
			bad = 1;
		}
	}
	return bad;
}
