/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mover: the node that comes and goes, and its process.
 *
 * It is driven by a process of its own, so that this can die. A nursery makes it: a process
 * that was forked before anything was mapped, so that no fork disturbs what is measured.
 */
#ifndef SPINDLE_PERF_MOVER_H
#define SPINDLE_PERF_MOVER_H

#include <stdint.h>
#include <sys/types.h>

#include "ctl-key.h"
#include "perf-pump.h"

/**
 * struct perf_mover_life - what its process does
 * @node: the node
 * @subgroup: subgroup that it sends to and reads
 * @contact: address of a member
 * @port: its port
 * @load: what it sends
 * @wait: seconds to wait for what does not come
 */
struct perf_mover_life {
	uint32_t node;
	uint32_t subgroup;
	struct ctl_addr contact;
	uint16_t port;
	struct perf_pump_load load;
	unsigned int wait;
};

/**
 * enum perf_mover_kind - what is told of a mover
 * @PERF_MOVER_CAME: it is a member, and was delivered a message
 * @PERF_MOVER_FAILED: it could not; the user has been told
 * @PERF_MOVER_ENDED: its process has ended
 */
enum perf_mover_kind {
	PERF_MOVER_CAME,
	PERF_MOVER_FAILED,
	PERF_MOVER_ENDED
};

/**
 * struct perf_mover_news - what is told of a mover
 * @kind: enum perf_mover_kind
 * @pid: its process
 * @asked: ticks when it asked to join
 * @viewed: ticks when it was in a view
 * @attached: ticks when it was attached
 * @first: ticks when it was delivered something
 */
struct perf_mover_news {
	int32_t kind;
	int32_t pid;
	uint64_t asked;
	uint64_t viewed;
	uint64_t attached;
	uint64_t first;
};

/**
 * struct perf_mover - the way to it
 * @nursery: process that makes it; 0: none
 * @pid: its process, while there is one; 0: none
 * @order: end of a pipe to the nursery
 * @news: end of a pipe from there
 */
struct perf_mover {
	pid_t nursery;
	pid_t pid;
	int order;
	int news;
};

int perf_mover_start(struct perf_mover *m, const struct perf_mover_life *life);
int perf_mover_go(struct perf_mover *m);
int perf_mover_wait(struct perf_mover *m, enum perf_mover_kind kind, unsigned int seconds,
		    struct perf_mover_news *news);
void perf_mover_kill(struct perf_mover *m);
void perf_mover_stop(struct perf_mover *m);

#endif /* SPINDLE_PERF_MOVER_H */
