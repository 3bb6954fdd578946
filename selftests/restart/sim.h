/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulator of groups with durable subgroups, and of their restarts. The decisions are those of
 * libspindle-user/src/restart, and all else is a model: views, messages, logs, disks, messages
 * between nodes. The simulator knows all, and checks the promises of durability.rst.
 *
 *	world.c		views, logs, records, and what is durable, as in the kernel
 *	attempt.c	attempts to restart: messages, votes on disk, and the first view
 *	forced.c	what could be forced while an attempt waits
 *	sim.c		random schedules
 *
 * Owner: the program. Context: one thread.
 */
#ifndef SPINDLE_RESTART_SIM_H
#define SPINDLE_RESTART_SIM_H

#include <stdio.h>

#include "restart.h"
#include "rng.h"

#define NODES	5
#define SUBS	2
#define VIEWS	40
#define GROUPS	16
#define LSNS	48
#define ATTEMPTS 7
#define MESSAGES 96
#define NOWHERE	(-1)

/* Views of one subgroup. A message is known by the view that it was delivered in. */
struct sview {
	struct spindle_restart_id id;
	u64 origin;
	u32 base, top, members;
	int parent;
	bool stands;
	struct spindle_restart_path path;
	u8 seq[LSNS];
};

/* A group in one era, in its present view. */
struct group {
	u64 era, origin, vid, first_vid;
	u32 members;
	int view[SUBS];
};

/* Views that follow each other without a gap. */
struct list {
	bool known;
	u32 n;
	int view[SPINDLE_RESTART_VIEWS];
};

struct node_log {
	u32 len;
	bool damaged;
	u8 seq[LSNS];
};

struct node {
	/* On disk. */
	struct list record[SUBS];
	struct node_log log[SUBS];
	u8 *votes;
	size_t votes_len;
	/* In memory. */
	struct spindle_restart_voter *voter;
	int group;
	u64 vid;
	int view[SUBS];
	u32 from[SUBS];
	struct list list[SUBS];
	bool established[SUBS], blind[SUBS];
	u64 hint;
};

enum type { ASK_PROMISE, REPORT, ASK_VOTE, VOTE, BEGIN };

struct message {
	enum type type;
	u32 from, to, attempt;
	u8 *bytes;
	size_t len;
};

struct attempt {
	bool live, proposed, decided, stands;
	struct spindle_restart_ballot ballot;
	u32 proposer, has, votes, acks;
	struct spindle_restart_report *report[NODES];
	struct spindle_restart_answer *answer;
};

struct sim {
	struct rng rng;
	u64 seed;
	bool verbose;
	char failure[256];
	u32 nodes, subs, config[SUBS], copies, views[SUBS], groups, attempts, messages, steps;
	bool majority[SUBS], range_sent, too_many;
	u32 changes, crashes, damages, chance_lost, chance_sync_crash;
	struct sview view[SUBS][VIEWS];
	struct group group[GROUPS];
	struct node node[NODES];
	struct attempt attempt[ATTEMPTS];
	struct message message[MESSAGES];
	u8 shown[SUBS][LSNS];
	u32 shown_len[SUBS];
	u64 shown_era[SUBS];
	u8 *buf;
	struct spindle_restart_proposal *scratch;
	struct spindle_restart_report *own;
	/* Of forced restarts. */
	struct spindle_restart_answer *waits;
	struct spindle_restart_force *force;
	u8 *again;
	/* Counts of all schedules. */
	u64 n_stand, n_again, n_durable, n_stuck, n_crashes, n_refused, n_views, n_gaps;
	u64 n_withdrawn, n_forced, n_lost;
};

#define SAY(sim, ...) do { if ((sim)->verbose) printf(__VA_ARGS__); } while (0)

__attribute__((format(printf, 2, 3)))
void sim_fail(struct sim *sim, const char *fmt, ...);

bool world_is_on_path(const struct sim *sim, u32 s, int view, int of);
bool world_is_followed(const struct sim *sim, u32 s, u64 origin, int of);
bool world_runs(const struct sim *sim, u32 j);
int world_find(const struct sim *sim, u32 s, const struct spindle_restart_id *id);
int world_new_view(struct sim *sim, u32 s, int parent, u32 base, u32 members);
void world_begin(struct sim *sim);
void world_change(struct sim *sim);
void world_send(struct sim *sim);
bool world_persist(struct sim *sim, u32 j, u32 s);
bool world_sync_record(struct sim *sim, u32 j, u32 s);
void world_poll(struct sim *sim, u32 j, u32 s);
void world_see(struct sim *sim, u32 j, u32 s);
void world_crash(struct sim *sim, u32 j);
bool world_enter(struct sim *sim, u32 j, u32 g);
void world_check_stands(struct sim *sim, u32 s, int view);
u32 world_common(const struct sim *sim, u32 s, const u8 *a, u32 a_len, const u8 *b, u32 b_len);

void attempt_fill_report(const struct sim *sim, u32 j, struct spindle_restart_report *report);
u32 attempt_shuffle(struct sim *sim, const struct attempt *attempt,
		    const struct spindle_restart_report *report[NODES]);
void attempt_begin(struct sim *sim, u32 p);
void attempt_deliver(struct sim *sim);
void attempt_withdraw(struct sim *sim);
void attempt_consider(struct sim *sim);
void attempt_save(struct sim *sim, u32 j);
void attempt_finish(struct sim *sim);
void attempt_fill_view(const struct sim *sim, u32 s, int v, struct spindle_restart_view *to);
void attempt_fill_log(const struct sim *sim, u32 j, u32 s, struct spindle_restart_log *log);

void forced_check(struct sim *sim, const struct attempt *attempt);

#endif /* SPINDLE_RESTART_SIM_H */
