/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mover: the node that joins and leaves, and its process.
 *
 * The mover has a process of its own, so that this process can be killed. The nursery forks that
 * process. The nursery itself was forked before anything was mapped, so that no fork disturbs the
 * measurement.
 */
#ifndef SPINDLE_PERF_FAILOVER_MOVER_H
#define SPINDLE_PERF_FAILOVER_MOVER_H

#include <stdint.h>
#include <sys/types.h>

struct perf_fopts;

/**
 * enum perf_mover_kind - news of the mover
 */
enum perf_mover_kind {
	/** @PERF_MOVER_CAME: the mover is a member, and a message was delivered to it */
	PERF_MOVER_CAME,
	/** @PERF_MOVER_FAILED: the mover could not join; its process has printed why */
	PERF_MOVER_FAILED,
	/** @PERF_MOVER_ENDED: the process of the mover has ended */
	PERF_MOVER_ENDED
};

/**
 * struct perf_mover_news - news of the mover
 */
struct perf_mover_news {
	/** @kind: enum perf_mover_kind */
	int32_t kind;
	/** @pid: process of the mover */
	int32_t pid;
	/** @asked: ticks when the mover asked to join */
	uint64_t asked;
	/** @viewed: ticks when it was in a view */
	uint64_t viewed;
	/** @attached: ticks when its process was attached */
	uint64_t attached;
	/** @first: ticks of the first delivery */
	uint64_t first;
};

/**
 * struct perf_mover - the connection to the mover
 */
struct perf_mover {
	/** @nursery: process that forks the process of the mover; 0: none */
	pid_t nursery;
	/** @pid: process of the mover, while there is one; 0: none */
	pid_t pid;
	/** @order: write end of a pipe to the nursery */
	int order;
	/** @news: read end of a pipe from the nursery */
	int news;
};

int perf_mover_start(struct perf_mover *m, const struct perf_fopts *o);
int perf_mover_go(struct perf_mover *m);
int perf_mover_wait(struct perf_mover *m, enum perf_mover_kind kind, unsigned int seconds,
		    struct perf_mover_news *news);
void perf_mover_kill(struct perf_mover *m);
void perf_mover_stop(struct perf_mover *m);

#endif /* SPINDLE_PERF_FAILOVER_MOVER_H */
