/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common tools of the fuzzer: random numbers that follow from the seed, counts of outcomes, and the
 * world that scripts/module/module-fuzz.sh makes.
 */
#ifndef SPINDLE_FUZZ_FUZZ_H
#define SPINDLE_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "selfcheck.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Nodes 1 to 3 belong to the bystanders. No request may change these nodes, and only bystanders
 * send in subgroup 1. In subgroups 2 and 3 and in tables 4 and 5 attachments may do anything.
 * Table 5 is of mode read. Nodes from 10 on are added and removed. Peers connect to node 20. Peer 4
 * dials, and peer 30 is dialled.
 */
#define BYSTANDERS	3
#define QUIET_SUBGROUP	1
#define FUZZ_TABLE	4
#define FUZZ_READ	5
#define CHURN_FIRST	10
#define CHURN_NODES	4
#define VICTIM		20
#define LOW_PEER	4
#define HIGH_PEER	30
#define PORT(id)	(5000 + (id))

/* ---- random numbers: one stream for each process ----------------------- */

extern uint64_t rng;

static inline uint64_t rnd(void)
{
	rng += 0x9e3779b97f4a7c15ULL;
	return mix(rng);
}

static inline uint32_t below(uint32_t n)
{
	return rnd() % n;
}

static inline bool one_in(uint32_t n)
{
	return !below(n);
}

uint64_t odd(void);

/* ---- outcomes ---------------------------------------------------------- */

/* The operations. count.c says what is counted of each. */
enum op {
	OP_NODE_ADD, OP_NODE_DEL, OP_VIEW_SET, OP_VIEW_DEL, OP_GET, OP_DUMP, OP_CUT_DUMP,
	OP_NODE_SET, OP_SUBGROUP_SET, OP_RAW, OP_LIVE_SET, OP_JOIN, OP_LEAVE, OP_EVICT,
	OP_CHANGE, OP_MUTANT, OP_HEADER,
	OP_OPEN, OP_ATTACH_SEND, OP_ATTACH_RECV, OP_ATTACH_COPY, OP_ATTACH_ODD, OP_MMAP,
	OP_MMAP_ODD, OP_MPROTECT, OP_MREMAP, OP_MADVISE, OP_POKE, OP_KICK, OP_MEMBERS, OP_SILENCE,
	OP_FILL,
	OP_IOCTL_ODD, OP_POLL, OP_FILE_ODD, OP_COMMIT, OP_CONSUME, OP_FREEZE, OP_LIFE,
	OP_TABLE_ATTACH, OP_TABLE_ODD, OP_TABLE_MMAP, OP_TABLE_SCRIBBLE, OP_TABLE_CALL,
	OP_TABLE_ADD, OP_TABLE_ODD_ADD, OP_TABLE_REMOVE,
	OP_RDMC_CREATE, OP_RDMC_SEND, OP_RDMC_ACCEPT, OP_RDMC_GIVE_UP, OP_RDMC_STAT,
	OP_RDMC_CLOSE, OP_RDMC_READ, OP_RDMC_ODD, OP_CHATTER,
	OP_HELLO, OP_DIAL, OP_LURE, OP_RIGHTS, OP_ONE_SIDED, OP_STARVED,
	OPS
};

void count_init(void);
void count(enum op op, int outcome);
void count_report(uint64_t seed);
bool count_deep(void);

/* Report a promise of the kernel that does not hold. */
__attribute__((format(printf, 1, 2)))
void broken(const char *fmt, ...);
bool any_broken(void);

/* ---- memory that runs out in the next system calls of this thread ------- */

void starve(void);
void feed(void);

/* ---- the surfaces, each in a process of its own ------------------------- */

void fuzz_netlink(unsigned int requests);
void fuzz_device(unsigned int lives);
void fuzz_handshake(unsigned int peers);
void fuzz_rdmc(unsigned int lives);

/* Start a process that has a group of a node and a peer. The process ends without a signal. */
pid_t rdmc_partner(uint32_t node, uint32_t peer, bool root, uint64_t group);

/* Undo changes of the bystanders' nodes, so that all messages under way arrive. */
void undo_changes(void);

/* One life of a process with open devices, and its rings. */
void device_life(unsigned int acts, bool forks);

#endif /* SPINDLE_FUZZ_FUZZ_H */
