// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of outcomes, in memory that all processes share: accepted requests, and refused ones by
 * errno. A fuzzer whose requests are all refused finds nothing, so each round must reach the deeper
 * code.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define OUTCOMES 160

/* The kind of an outcome that is not 0. */
enum label { ERRNO, REFUSAL, RING_ERROR, SIGNAL, STATUS };

static const struct {
	const char *name;
	enum label label;
	uint32_t need;		/* accepted requests that a useful round needs */
	uint32_t kinds;		/* kinds of outcomes that a useful round needs */
	uint32_t sample;	/* requests that have so many kinds; 0: four for each kind */
} ops[OPS] = {
	[OP_NODE_ADD] = { "netlink: node add", ERRNO, 3, 2 },
	[OP_NODE_DEL] = { "netlink: node del", ERRNO, 1, 0 },
	[OP_VIEW_SET] = { "netlink: view set", ERRNO, 3, 2 },
	[OP_VIEW_DEL] = { "netlink: view del", ERRNO, 1, 0 },
	[OP_GET] = { "netlink: get", ERRNO, 1, 0 },
	[OP_DUMP] = { "netlink: dump", ERRNO, 3, 0 },
	[OP_CUT_DUMP] = { "netlink: dump, interrupted", ERRNO, 1, 0 },
	[OP_NODE_SET] = { "netlink: node set", ERRNO, 1, 0 },
	[OP_SUBGROUP_SET] = { "netlink: subgroup set", ERRNO, 3, 2 },
	[OP_RAW] = { "netlink: raw run", ERRNO, 1, 3 },
	[OP_LIVE_SET] = { "netlink: live view set", ERRNO, 3, 2 },
	[OP_JOIN] = { "netlink: node join", ERRNO, 1, 2 },
	[OP_LEAVE] = { "netlink: node leave", ERRNO, 0, 2 },
	[OP_EVICT] = { "netlink: node evict", ERRNO, 0, 2 },
	[OP_CHANGE] = { "netlink: subgroup change", ERRNO, 1, 2 },
	[OP_MUTANT] = { "netlink: mutant", ERRNO, 1, 4 },
	[OP_HEADER] = { "netlink: odd header", ERRNO, 0, 2, .sample = 16 },
	[OP_OPEN] = { "device: open", ERRNO, 10, 0 },
	[OP_ATTACH_SEND] = { "device: attach, send", ERRNO, 3, 2 },
	[OP_ATTACH_RECV] = { "device: attach, receive", ERRNO, 3, 0 },
	[OP_ATTACH_COPY] = { "device: attach, copy", ERRNO, 2, 0 },
	[OP_ATTACH_ODD] = { "device: attach, odd", ERRNO, 0, 3 },
	[OP_MMAP] = { "device: mmap", ERRNO, 20, 0 },
	[OP_MMAP_ODD] = { "device: mmap, odd", ERRNO, 0, 3 },
	[OP_MPROTECT] = { "device: mprotect", ERRNO, 1, 2 },
	[OP_MREMAP] = { "device: mremap", ERRNO, 0, 2 },
	[OP_MADVISE] = { "device: madvise and the like", ERRNO, 1, 0 },
	[OP_POKE] = { "device: /proc/self/mem", ERRNO, 0, 1 },
	[OP_KICK] = { "device: kick", ERRNO, 3, 0 },
	[OP_MEMBERS] = { "device: members", ERRNO, 1, 2 },
	[OP_SILENCE] = { "device: silence", ERRNO, 1, 3 },
	[OP_FILL] = { "device: fill", ERRNO, 0, 3 },
	[OP_IOCTL_ODD] = { "device: ioctl, odd", ERRNO, 0, 1 },
	[OP_POLL] = { "device: poll", ERRNO, 3, 0 },
	[OP_FILE_ODD] = { "device: other calls", ERRNO, 0, 2 },
	[OP_COMMIT] = { "device: commit", ERRNO, 10, 0 },
	[OP_CONSUME] = { "device: read messages", ERRNO, 3, 0 },
	[OP_FREEZE] = { "device: frozen for", RING_ERROR, 0, 3 },
	[OP_LIFE] = { "device: end of a process", SIGNAL, 3, 0 },
	[OP_TABLE_ATTACH] = { "table: attach", ERRNO, 3, 2 },
	[OP_TABLE_ODD] = { "table: attach, odd", ERRNO, 0, 3 },
	[OP_TABLE_MMAP] = { "table: mmap", ERRNO, 10, 3 },
	[OP_TABLE_SCRIBBLE] = { "table: scribble", ERRNO, 10, 0 },
	[OP_TABLE_CALL] = { "table: calls", ERRNO, 5, 4 },
	[OP_TABLE_ADD] = { "table: add a predicate", ERRNO, 3, 1 },
	[OP_TABLE_ODD_ADD] = { "table: add a predicate, odd", ERRNO, 0, 2 },
	[OP_TABLE_REMOVE] = { "table: remove a predicate", ERRNO, 2, 1 },
	[OP_RDMC_CREATE] = { "large: create", ERRNO, 10, 3 },
	[OP_RDMC_SEND] = { "large: send", ERRNO, 10, 3 },
	[OP_RDMC_ACCEPT] = { "large: accept", ERRNO, 1, 3 },
	[OP_RDMC_GIVE_UP] = { "large: cancel and refuse", ERRNO, 0, 2 },
	[OP_RDMC_STAT] = { "large: stat", ERRNO, 1, 2 },
	[OP_RDMC_CLOSE] = { "large: close", ERRNO, 1, 0 },
	[OP_RDMC_READ] = { "large: read", ERRNO, 10, 0 },
	[OP_RDMC_ODD] = { "large: ioctl, odd", ERRNO, 0, 2 },
	[OP_CHATTER] = { "large: chatter of a peer", STATUS, 0, 0 },
	[OP_HELLO] = { "handshake: odd hello", REFUSAL, 0, 4 },
	[OP_DIAL] = { "handshake: a peer dials", REFUSAL, 1, 0 },
	[OP_LURE] = { "handshake: a peer is dialled", REFUSAL, 0, 0 },
	[OP_RIGHTS] = { "handshake: rights exchanged", STATUS, 1, 0 },
	[OP_ONE_SIDED] = { "handshake: work of a peer", STATUS, 3, 0 },
	[OP_STARVED] = { "no memory for a call", STATUS, 0, 0 },
};

static struct {
	uint32_t table[OPS][OUTCOMES];
	uint32_t broken;
} *shared;

void count_init(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED) {
		perror("fuzz: shared memory");
		exit(1);
	}
}

/* An errno may have either sign. The last entry counts all values beyond the table. */
void count(enum op op, int outcome)
{
	unsigned int i = abs(outcome);

	__atomic_fetch_add(&shared->table[op][i < OUTCOMES ? i : OUTCOMES - 1], 1,
			   __ATOMIC_RELAXED);
}

static void say_outcome(enum label label, int i)
{
	static const char * const rings[] = { "nothing", "ready", "extent", "length",
					      "consumed", "a lost peer", "protocol", "device",
					      "view", "a stall", "a minority", "eviction",
					      "leaving", "no member" };

	switch (label) {
	case ERRNO:
		printf("%s", strerrorname_np(i) ? : "?");
		break;
	case RING_ERROR:
		printf("%s", (size_t)i < ARRAY_SIZE(rings) ? rings[i] : "?");
		break;
	case REFUSAL:
		printf(i == OUTCOMES - 1 ? "no answer" : "code %d", i);
		break;
	case SIGNAL:
		printf("signal %d", i);
		break;
	case STATUS:
		printf("failed");
		break;
	}
}

/* Print TAP comments with the counts of the round. */
void count_report(uint64_t seed)
{
	unsigned int op, i;

	for (op = 0; op < OPS; op++) {
		printf("# seed %#" PRIx64 " %s: %u done", seed, ops[op].name,
		       shared->table[op][0]);
		for (i = 1; i < OUTCOMES; i++) {
			if (!shared->table[op][i])
				continue;
			printf(", %u ", shared->table[op][i]);
			say_outcome(ops[op].label, i);
		}
		putchar('\n');
	}
	fflush(stdout);
}

static uint32_t kinds(unsigned int op)
{
	uint32_t i, n = 0;

	for (i = 0; i < OUTCOMES; i++)
		n += !!shared->table[op][i];
	return n;
}

/*
 * Kinds of outcomes that these requests have to have. A few requests, as on a slow machine, may all
 * have the same one by chance.
 */
static uint32_t want_kinds(unsigned int op)
{
	uint32_t kinds = ops[op].kinds, sample = ops[op].sample ? : 4 * kinds;
	uint32_t i, requests = 0;

	for (i = 0; i < OUTCOMES; i++)
		requests += shared->table[op][i];
	return requests < sample ? !!kinds : kinds;
}

/* Did the round get far enough on every surface? */
bool count_deep(void)
{
	unsigned int op;
	bool deep = true;

	for (op = 0; op < OPS; op++) {
		if (shared->table[op][0] < ops[op].need) {
			printf("# %s: %u done, want %u\n", ops[op].name, shared->table[op][0],
			       ops[op].need);
			deep = false;
		}
		if (kinds(op) < want_kinds(op)) {
			printf("# %s: %u kinds of outcomes, want %u\n", ops[op].name, kinds(op),
			       want_kinds(op));
			deep = false;
		}
	}
	return deep;
}

void broken(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	__atomic_fetch_add(&shared->broken, 1, __ATOMIC_RELAXED);
	/* Print in one write, because other processes print as well. */
	printf("# broken: %s\n", text);
	fflush(stdout);
}

bool any_broken(void)
{
	return shared->broken;
}
