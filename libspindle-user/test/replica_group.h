/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What replicas of one process need in place of a kernel: a subgroup whose messages are a list,
 * histories of its nodes, RDMC groups that copy, and a clock. The test decides when each part goes
 * on.
 */
#ifndef REPLICA_GROUP_H
#define REPLICA_GROUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct spindle_report;

#define GROUP_NODES	6U	/* ids 1 to 5 */
#define GROUP_LOG	20000U	/* messages of a schedule, at most */
#define GROUP_MSG	1024U
#define GROUP_SHORT	64U	/* bytes of a message, with a history */

struct group_message {
	uint32_t node, len;
	uint64_t vid;		/* view that it was delivered in */
	unsigned char bytes[GROUP_MSG] __attribute__((aligned(8)));
};

/* A schedule sets these. */
extern struct group {
	uint64_t history;	/* entries of a node's history; 0: there is none */
	bool fill;		/* a node may fill its history */
	unsigned int forgets;	/* one of so many questions for seats comes too late; 0: none */
	uint64_t end;		/* messages that were delivered */
	bool member[GROUP_NODES];	/* group_set_member() changes it */
	const char *wrong;	/* what is wrong with a batch of a history, or NULL */
	uint64_t fills, filled, views;	/* batches, messages, views between those */
	bool logs;		/* the subgroup is durable */
	bool faults;		/* calls of logs fail now and then */
	uint64_t durable;	/* position */
	uint64_t snapshots;	/* that have got their names */
	unsigned int refusals;	/* one of so many parts finds no memory; 0: none */
	int64_t now_ms;
	struct group_message log[GROUP_LOG];
} group;

void group_begin(uint64_t seed);
uint64_t group_random(void);
/* A node joins, with an empty history, or leaves. */
void group_set_member(uint32_t node, bool member);
/* The oldest message in the history of a node. */
uint64_t group_oldest(uint32_t node);
/* The oldest message that a node has sent, and that is not delivered, is delivered now. */
bool group_deliver(uint32_t node);
/* The logs of all nodes begin with position 0, and end. The log of a node begins later. */
void group_logs_begin(void);
void group_logs_end(void);
void group_log_trim(uint32_t node, uint64_t low);
/* What the last process of a node has reported last. */
const struct spindle_report *group_report(uint32_t node);
/* Parts that were sent or came so far, each of which the kernel maps. */
uint64_t group_parts(void);
/* RDMC groups that have not ended, and descriptors that are open. */
unsigned int group_rdmc_left(void);

/* The linker puts these in place of the functions that they are named after. */
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg);
int __wrap_pthread_join(pthread_t thread, void **value);

#endif /* REPLICA_GROUP_H */
