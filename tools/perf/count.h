/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of the kernel, the devices and the process. */
#ifndef SPINDLE_PERF_COUNT_H
#define SPINDLE_PERF_COUNT_H

#include <stdint.h>

#include <linux/spindle_genl.h>

#include "common/model.h"

struct perf_place;

/**
 * enum perf_counter - a counter, summed over all nodes of the place
 */
enum perf_counter {
	/** @PERF_C_WRITES: work requests */
	PERF_C_WRITES,
	/** @PERF_C_POSTS: chains of work requests */
	PERF_C_POSTS,
	/** @PERF_C_BYTES: bytes written */
	PERF_C_BYTES,
	/** @PERF_C_DOORBELLS: writes with immediate data */
	PERF_C_DOORBELLS,
	/** @PERF_C_TORN: reads of a row that had to be repeated */
	PERF_C_TORN,
	/** @PERF_C_PASSES: passes of the engines */
	PERF_C_PASSES,
	/** @PERF_C_BUSY: passes that found work */
	PERF_C_BUSY,
	/** @PERF_C_SLEEPS: times that an engine went to sleep */
	PERF_C_SLEEPS,
	/** @PERF_C_KICKS: times that a process woke an engine */
	PERF_C_KICKS,
	/** @PERF_C_BELLS: times that a peer woke an engine */
	PERF_C_BELLS,
	/** @PERF_C_BUSY_NS: time in busy passes */
	PERF_C_BUSY_NS,
	/** @PERF_C_POST_NS: part of this time that was spent posting */
	PERF_C_POST_NS,
	/** @PERF_C_TIMED_NS: time during which these times were measured */
	PERF_C_TIMED_NS,
	/** @PERF_C_SENT: messages sent, including control messages of this program */
	PERF_C_SENT,
	/** @PERF_C_DELIVERED: deliveries, of all messages at all nodes */
	PERF_C_DELIVERED,
	/** @PERF_C_DISCARDED: deliveries without a reader */
	PERF_C_DISCARDED,
	/** @PERF_C_NULLS: rounds that were given up one by one */
	PERF_C_NULLS,
	/** @PERF_C_SILENT: rounds given up in advance */
	PERF_C_SILENT,
	/** @PERF_C_SEND_BATCHES: times that the send predicate found something */
	PERF_C_SEND_BATCHES,
	/** @PERF_C_RECV_BATCHES: times that the receive predicate found something */
	PERF_C_RECV_BATCHES,
	/** @PERF_C_DLV_BATCHES: times that the deliver predicate found something */
	PERF_C_DLV_BATCHES,
	/** @PERF_C_RECEIVED: messages received, own ones included */
	PERF_C_RECEIVED,
	/** @PERF_C_VISITS: looks at a subgroup */
	PERF_C_VISITS,
	/** @PERF_C_ACTIVATIONS: looks that found work */
	PERF_C_ACTIVATIONS,
	/** @PERF_C_PKTS_OUT: packets that the devices sent */
	PERF_C_PKTS_OUT,
	/** @PERF_C_PKTS_IN: packets that the devices received */
	PERF_C_PKTS_IN,
	/** @PERF_C_IOCTLS: system calls of the library to wake an engine */
	PERF_C_IOCTLS,
	/** @PERF_C_POLLS: system calls of the process to wait */
	PERF_C_POLLS,
	/** @PERF_C_YIELDS: voluntary context switches of the process */
	PERF_C_YIELDS,
	/** @PERF_C_PREEMPTED: involuntary context switches of the process */
	PERF_C_PREEMPTED,
	/** @PERF_C_USER_NS: processor time of the process in user mode */
	PERF_C_USER_NS,
	/** @PERF_C_SYS_NS: processor time of the process in the kernel */
	PERF_C_SYS_NS,
	/** @PERF_COUNTERS: number of counters */
	PERF_COUNTERS
};

/* Stages of a message that work in batches. */
enum perf_stage {
	PERF_SEND = CTL_SEND,
	PERF_RECV = CTL_RECV,
	PERF_DLV = CTL_DLV,
	PERF_STAGES = CTL_STAGES
};

/**
 * struct perf_counts - all counters
 */
struct perf_counts {
	/** @has: bit mask of the counters that were read */
	uint64_t has;
	/** @num: counters */
	uint64_t num[PERF_COUNTERS];
	/** @batch: batches of each stage by size, as in the netlink contract */
	uint64_t batch[PERF_STAGES][SPINDLE_HIST_BUCKETS];
};

int perf_count_begin(const struct perf_place *place, struct perf_counts *c);
int perf_count_end(const struct perf_place *place, struct perf_counts *c);
void perf_count_since(struct perf_counts *c, const struct perf_counts *before);
void perf_count_add(struct perf_counts *sum, const struct perf_counts *c);

/* Count a system call that waits. System calls of the library are counted automatically. */
void perf_count_poll(void);

/* The linker puts these functions around that of the library; see the Makefile. */
int __real_spindle_sys_ioctl(int fd, unsigned long cmd, void *arg);
int __wrap_spindle_sys_ioctl(int fd, unsigned long cmd, void *arg);

#endif /* SPINDLE_PERF_COUNT_H */
