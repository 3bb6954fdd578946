/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world for RDMC: nodes with memory, processes that want objects, and lanes between them that are
 * slow, have no room, and break. The world knows which node may write to which memory, and checks
 * each write.
 */
#ifndef SPINDLE_UNIT_RDMC_WORLD_H
#define SPINDLE_UNIT_RDMC_WORLD_H

#include "core/rdmc/rdmc.h"
#include "rng.h"
#include "tap.h"

#define RW_NODES	64
#define RW_GROUPS	3
#define RW_OBJECTS	64
#define RW_NONE		U32_MAX

struct rw_world;

/* Memory that a process has given for an object. */
struct rw_mem {
	u8 *bytes;
	unsigned long *have;
	u64 len;
	u64 object;
	u32 grants;	/* that are not taken back */
	u32 writes;	/* under way, from it */
	bool right;	/* as seen when it was released */
	bool going;	/* part of it is released */
};

/* The right to write somewhere; its index is the key. */
struct rw_right {
	enum { RW_DEAD, RW_ACTIVE, RW_USED, RW_REVOKING } state;
	struct rw_mem *mem;
	u32 owner, holder, group, g;
	u64 off;
	u32 len;
};

/* A message or write that is under way, or an event that waits to be reported. */
struct rw_item {
	enum { RW_MSG, RW_WRITE, RW_WRITTEN, RW_REVOKED, RW_UP, RW_LOST, RW_QUIET } kind;
	u32 node, peer, group;
	u32 key, len, block;
	u64 object, off, life;
	struct rw_mem *mem;
	struct spindle_rdmc_msg msg;
	u32 number;
	bool garbage;
};

struct rw_list {
	struct rw_item *item;
	u32 head, tail, size;
};

/* A lane from one node to another. */
struct rw_lane {
	struct rw_list list;
	u32 room;
	u32 said[RW_GROUPS];	/* messages in the list */
	u32 writing;		/* writes that were not reported */
	bool broken, lost, quiet, shut;
};

/* Habits of a process, in percent. */
struct rw_habits {
	u32 refuses, cancels, never, early_close, leaves, never_closes;
};

/* One member of one group, with its process. */
struct rw_inst {
	struct spindle_rdmc r;	/* first */
	struct rw_world *w;
	u32 node, group;
	struct rw_habits habits;
	struct rw_mem *mem[RW_OBJECTS];
	bool waits[RW_OBJECTS];	/* for the process to make up its mind */
	u64 to_send;
	u64 incoming, done, complete, released;
	bool opened, closing, ended, told_close, leave, dirty, created;
	bool deaf;		/* it had no room for events in the last pass */
	bool unread;		/* its process does not read */
	u32 ended_how, ended_error, ended_node;
	u64 failed_at;
};

/* What a group is about. */
struct rw_group {
	u32 algorithm, shift, block;
	u64 total;
	u64 len[RW_OBJECTS];
	u8 *bytes[RW_OBJECTS];
	u16 rack[RW_NODES];
	u64 least_complete[RW_NODES];
};

struct rw_world {
	struct rng rng;
	u64 seed, now, timeout, steps;
	u32 n, groups;
	struct rw_group group[RW_GROUPS];
	struct rw_inst *inst[RW_NODES][RW_GROUPS];
	u64 finished[RW_NODES][RW_GROUPS];	/* objects complete at the node */
	bool crashed[RW_NODES];
	struct rw_lane *lane;
	struct rw_list wait;
	struct rw_right *right;
	u32 rights, max_rights;
	u32 liar;		/* node, or RW_NONE */
	u32 lies;		/* how often, percent */
	u32 stuck;		/* node whose engine sleeps while its lanes live, or RW_NONE */
	u32 releases;		/* parts of the root's memory that take long to release */
	bool quiet_faults;	/* nothing is wrong with anybody */
	u64 writes, said, grants, blocks_in, bytes_in, bytes_out, timeouts;
	u64 done_ok, done_bad, closed_ok, closed_bad, failed;
	u64 missed_root;	/* groups that failed because the root was silent */
	u32 bad;
	char why[200];
};

struct rw_world *rw_new(u64 seed, u32 n, u32 groups);
void rw_free(struct rw_world *w);
void rw_create(struct rw_world *w, u32 node, u32 group, const struct rw_habits *habits);
void rw_break(struct rw_world *w, u32 a, u32 b);
void rw_crash(struct rw_world *w, u32 node);
bool rw_step(struct rw_world *w);
void rw_accept(struct rw_world *w, u32 node, u32 group, u32 object);
void rw_wake(struct rw_world *w);
bool rw_jump(struct rw_world *w);
bool rw_all_over(const struct rw_world *w);
void rw_leave_all(struct rw_world *w);

__attribute__((format(printf, 2, 3)))
void rw_bad(struct rw_world *w, const char *fmt, ...);

static inline u32 rw_node(const struct rw_world *w, u32 group, u32 rank)
{
	return (rank + w->group[group].shift) % w->n;
}

static inline u32 rw_rank(const struct rw_world *w, u32 group, u32 node)
{
	return (node + w->n - w->group[group].shift) % w->n;
}

#endif /* SPINDLE_UNIT_RDMC_WORLD_H */
