/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Engines: the threads that run the protocol.
 *
 * An engine serves the nodes of one network namespace that name its number; a node
 * has exactly one engine. The engine owns all protocol state of its nodes: everybody
 * else asks it, through the mailbox, to run a function between two passes. That is
 * why the hot path has no lock.
 *
 * Lifetime: reference counted. Nodes and attachments hold references; the thread ends
 * with the last.
 */
#ifndef SPINDLE_ENGINE_H
#define SPINDLE_ENGINE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/sched.h>

struct spindle_net;

/* What a pass has to do beside what is always done. */
#define SPINDLE_PASS_ALL	BIT(0) /* look at subgroups in which nothing happens, too */
#define SPINDLE_PASS_IDLE	BIT(1) /* the last one found nothing: tell what can wait */
struct spindle_node;

#define SPINDLE_ANY_CPU (-1)

/**
 * struct spindle_engine - a thread and the nodes that it serves
 * @ref: references
 * @list: in the namespace's list of engines
 * @sn: its namespace, a reference
 * @id: number
 * @cpu: CPU it is bound to, or SPINDLE_ANY_CPU
 * @task: the thread
 * @mailbox: functions to run between passes
 * @nodes: served nodes; engine context
 * @poke: look again before sleeping; set by whoever has news
 * @asleep: the thread sleeps or is about to
 * @spin_ns: how long it may poll without work, as of the last time
 * @timing: it measures where its time goes; engine context
 * @timed_since: since when, ktime
 * @stats: counters; kicks and bells are raced for by their nature, and only counted
 */
struct spindle_engine {
	struct kref ref;
	struct list_head list;
	struct spindle_net *sn;
	u32 id;
	int cpu;
	struct task_struct *task;
	struct llist_head mailbox;
	struct list_head nodes;
	int poke;
	int asleep;
	u64 spin_ns;
	bool timing;
	u64 timed_since;
	struct {
		u64 passes;
		u64 busy;
		u64 sleeps;
		u64 busy_ns;
		u64 post_ns;
		u64 timed_ns;
		atomic64_t kicks;
		atomic64_t bells;
	} stats;
};

struct spindle_engine *spindle_engine_get(struct spindle_net *sn, u32 id, int cpu);
void spindle_engine_hold(struct spindle_engine *engine);
void spindle_engine_put(struct spindle_engine *engine);
void spindle_engine_call(struct spindle_engine *engine, void (*fn)(void *ctx), void *ctx);
bool spindle_engine_wake(struct spindle_engine *engine);

/* engine context */
void spindle_engine_time(struct spindle_engine *engine, bool on);

#endif /* SPINDLE_ENGINE_H */
