/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of everything that takes part: kernel, device, process.
 */
#ifndef SPINDLE_PERF_COUNT_H
#define SPINDLE_PERF_COUNT_H

#include <stdint.h>

#include <linux/spindle_genl.h>

struct perf_place;

/**
 * enum perf_counter - what is counted, over all nodes of the place
 * @PERF_C_WRITES: work requests
 * @PERF_C_POSTS: chains of them
 * @PERF_C_BYTES: bytes written
 * @PERF_C_DOORBELLS: writes with immediate data
 * @PERF_C_TORN: reads of a row that had to be repeated
 * @PERF_C_PASSES: passes of the engines
 * @PERF_C_BUSY: those that found work
 * @PERF_C_SLEEPS: times that an engine went to sleep
 * @PERF_C_KICKS: times that a process woke one
 * @PERF_C_BELLS: times that a peer woke one
 * @PERF_C_BUSY_NS: time in busy passes
 * @PERF_C_POST_NS: of this, posting
 * @PERF_C_TIMED_NS: time that was watched for that
 * @PERF_C_SENT: messages sent, those of ours that are no data included
 * @PERF_C_DELIVERED: deliveries, of all messages at all nodes
 * @PERF_C_DISCARDED: of these, to nobody
 * @PERF_C_NULLS: rounds given up one by one
 * @PERF_C_SILENT: rounds given up in advance
 * @PERF_C_SEND_BATCHES: times that the send predicate found something
 * @PERF_C_RECV_BATCHES: the same of the receive predicate
 * @PERF_C_DLV_BATCHES: the same of the deliver predicate
 * @PERF_C_RECEIVED: messages received, own ones included
 * @PERF_C_VISITS: looks at a subgroup
 * @PERF_C_ACTIVATIONS: those that found work
 * @PERF_C_PKTS_OUT: packets that the devices sent
 * @PERF_C_PKTS_IN: packets that they received
 * @PERF_C_IOCTLS: system calls of the library to wake an engine
 * @PERF_C_POLLS: system calls of the process to wait
 * @PERF_C_YIELDS: voluntary switches of the process to another
 * @PERF_C_PREEMPTED: other switches
 * @PERF_C_USER_NS: processor time of the process, its own
 * @PERF_C_SYS_NS: the same, in the kernel
 * @PERF_COUNTERS: how many there are
 */
enum perf_counter {
	PERF_C_WRITES,
	PERF_C_POSTS,
	PERF_C_BYTES,
	PERF_C_DOORBELLS,
	PERF_C_TORN,
	PERF_C_PASSES,
	PERF_C_BUSY,
	PERF_C_SLEEPS,
	PERF_C_KICKS,
	PERF_C_BELLS,
	PERF_C_BUSY_NS,
	PERF_C_POST_NS,
	PERF_C_TIMED_NS,
	PERF_C_SENT,
	PERF_C_DELIVERED,
	PERF_C_DISCARDED,
	PERF_C_NULLS,
	PERF_C_SILENT,
	PERF_C_SEND_BATCHES,
	PERF_C_RECV_BATCHES,
	PERF_C_DLV_BATCHES,
	PERF_C_RECEIVED,
	PERF_C_VISITS,
	PERF_C_ACTIVATIONS,
	PERF_C_PKTS_OUT,
	PERF_C_PKTS_IN,
	PERF_C_IOCTLS,
	PERF_C_POLLS,
	PERF_C_YIELDS,
	PERF_C_PREEMPTED,
	PERF_C_USER_NS,
	PERF_C_SYS_NS,
	PERF_COUNTERS
};

/* Stages of a message that work in batches. */
enum perf_stage {
	PERF_SEND,
	PERF_RECV,
	PERF_DLV,
	PERF_STAGES
};

/**
 * struct perf_counts - all counters
 * @has: bit mask of those that somebody counts
 * @num: counters
 * @batch: batches of each stage by size, as in the netlink contract
 */
struct perf_counts {
	uint64_t has;
	uint64_t num[PERF_COUNTERS];
	uint64_t batch[PERF_STAGES][SPINDLE_HIST_BUCKETS];
};

int perf_count_begin(const struct perf_place *place, struct perf_counts *c);
int perf_count_end(const struct perf_place *place, struct perf_counts *c);
void perf_count_since(struct perf_counts *c, const struct perf_counts *before);
void perf_count_add(struct perf_counts *sum, const struct perf_counts *c);

/* One more system call to wait. Those of the library are counted without help. */
void perf_count_poll(void);

/* The linker puts these around the library's function, see the Makefile. */
int __real_spindle_sys_ioctl(int fd, unsigned long cmd, void *arg);
int __wrap_spindle_sys_ioctl(int fd, unsigned long cmd, void *arg);

#endif /* SPINDLE_PERF_COUNT_H */
