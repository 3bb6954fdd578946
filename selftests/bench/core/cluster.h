/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cluster: the members of a view, each with the real core, in one thread.
 *
 * In a round, processes commit, and every member's engine makes a pass. Then every member pushes to
 * every other one, the writes are carried out, and processes read. All engines pass before any
 * write is carried out. So there are few intervals to time, with any number of members, and no
 * interval includes a copy or a process. The writes take the bytes at the end of the round, so
 * nothing is queued or allocated.
 */
#ifndef SPINDLE_BENCH_CLUSTER_H
#define SPINDLE_BENCH_CLUSTER_H

#include "core/multicast/multicast.h"
#include "core/base/push.h"

#include "process.h"

#define CLUSTER_MEMBERS PROCESS_SENDERS

/**
 * enum cluster_senders - the members that send
 * @CLUSTER_ALL: all members
 * @CLUSTER_ONE: one member; the others only receive
 * @CLUSTER_QUIET: one member; the others are senders and stay silent
 */
enum cluster_senders {
	CLUSTER_ALL,
	CLUSTER_ONE,
	CLUSTER_QUIET,
};

/**
 * struct cluster_conf - a configuration to measure
 * @members: how many
 * @size: bytes of each message
 * @batch: messages that each sender commits before a pass
 * @senders: the members that send
 * @switches: enum spindle_switch, at all members
 * @subgroups: how many; messages flow in the first one
 * @lone: only the first member has a core, and no message moves
 */
struct cluster_conf {
	u32 members;
	u32 size;
	u32 batch;
	enum cluster_senders senders;
	u32 switches;
	u32 subgroups;
	bool lone;
};

/* Parts of a pass, if they are timed one by one. */
enum cluster_stage {
	STAGE_RECEIVE,
	STAGE_SEND,
	STAGE_DELIVER,
	STAGE_RELEASE,
	STAGE_PUBLISH,
	STAGES
};

/* The kinds of measurements of a round. */
enum cluster_look {
	LOOK_NOT,
	LOOK_TIME,	/* clock: passes, pushes, copies */
	LOOK_STAGES,	/* clock: stages, pushes, copies */
	LOOK_COUNT,	/* counters of the processor: passes and pushes */
};

/**
 * struct cluster_tally - sums over the rounds since it was cleared
 * @rounds: rounds
 * @sent: messages, over all members
 * @delivered: messages, over all members
 * @run: ticks of spindle_mc_run()
 * @push: ticks of spindle_push(), and of the check which members need one
 * @wire: ticks of the copies from row to row
 * @stage: ticks
 */
struct cluster_tally {
	u64 rounds;
	u64 sent;
	u64 delivered;
	int64_t run;
	int64_t push;
	int64_t wire;
	int64_t stage[STAGES];
};

/**
 * struct cluster_subgroup - a subgroup at a member
 * @mc: the engine's; first, so that it leads to the rest
 * @member: where
 * @process: the process, which reads, and sends if the member is a sender
 * @dlvq: the engine's end of the process's delivery ring
 */
struct cluster_subgroup {
	struct spindle_mc mc;
	struct cluster_member *member;
	struct process *process;
	struct spindle_dlvq dlvq;
};

/**
 * struct cluster_member - a member
 * @cluster: the cluster
 * @rank: its rank
 * @idle: the last pass found nothing to do
 * @lo: layout of each member's row here
 * @row: each member's row here
 * @subgroup: by index
 * @write: writes that were pushed to each member and not carried out
 * @writes: the number of these
 */
struct cluster_member {
	struct cluster *cluster;
	u32 rank;
	bool idle;
	struct spindle_layout lo[CLUSTER_MEMBERS];
	u8 *row[CLUSTER_MEMBERS];
	struct cluster_subgroup *subgroup[SPINDLE_MAX_SUBGROUPS];
	struct spindle_write write[CLUSTER_MEMBERS][SPINDLE_PUSH_MAX];
	u32 writes[CLUSTER_MEMBERS];
};

/**
 * struct cluster - a cluster
 * @conf: the configuration
 * @view: the view that follows
 * @member: by rank
 * @cores: members that have a core
 * @tally: the measurements
 * @look: the kind of measurement of the round under way
 * @inner: ticks of posts in the middle of a pass, in the interval under way
 */
struct cluster {
	struct cluster_conf conf;
	struct spindle_view view;
	struct cluster_member *member;
	u32 cores;
	struct cluster_tally tally;
	enum cluster_look look;
	int64_t inner;
};

u64 cluster_bytes(const struct cluster_conf *conf);
struct cluster *cluster_open(const struct cluster_conf *conf);
void cluster_close(struct cluster *c);
void cluster_clear(struct cluster *c);
struct cluster_tally cluster_tally(struct cluster *c);
void cluster_round(struct cluster *c, enum cluster_look look);
u32 cluster_idle(struct cluster *c);
const char *cluster_finish(struct cluster *c);

#endif /* SPINDLE_BENCH_CLUSTER_H */
