/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Engines: the threads that run the protocol.
 *
 * An engine serves the nodes of one network namespace that name its number. A node has exactly
 * one engine. The engine owns all protocol state of its nodes, so the hot path needs no lock.
 * Other contexts use the mailbox: the engine runs their functions between two passes.
 *
 * Lifetime: reference counted. Nodes and attachments hold references. The thread ends with the
 * last reference.
 */
#ifndef SPINDLE_BASE_ENGINE_H
#define SPINDLE_BASE_ENGINE_H

#include <linux/bug.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/sched.h>

struct spindle_net;
struct spindle_served;

/* Additional work of a pass. */
#define SPINDLE_PASS_ALL	BIT(0) /* visit idle subgroups, too */
#define SPINDLE_PASS_IDLE	BIT(1) /* the last pass found no work: send what could wait */

/**
 * struct spindle_served_ops - what an engine asks of a node
 *
 * Context: engine.
 */
struct spindle_served_ops {
	/** @pass: one pass, SPINDLE_PASS_*. Returns true if there was work */
	bool (*pass)(struct spindle_served *served, u32 how);
	/** @settled: may the engine sleep until it is woken? */
	bool (*settled)(struct spindle_served *served);
	/** @due: nanoseconds until the engine has to look again, U64_MAX: never */
	u64 (*due)(struct spindle_served *served);
	/**
	 * @announce: the engine goes to sleep, or is awake. Returns false if a peer could not be
	 * told
	 */
	bool (*announce)(struct spindle_served *served, bool sleep);
};

/**
 * struct spindle_served - a node, as its engine sees it
 */
struct spindle_served {
	/** @link: in the engine's list; engine context */
	struct list_head link;
	/** @ops: constant */
	const struct spindle_served_ops *ops;
	/** @idle_us: how long the engine polls for it without work; the least of all counts */
	u32 idle_us;
};

#define SPINDLE_ANY_CPU (-1)

/**
 * struct spindle_engine - a thread and the nodes that it serves
 */
struct spindle_engine {
	/** @ref: references */
	struct kref ref;
	/** @list: in the namespace's list of engines */
	struct list_head list;
	/** @sn: its namespace, a reference */
	struct spindle_net *sn;
	/** @id: number */
	u32 id;
	/** @cpu: CPU it is bound to, or SPINDLE_ANY_CPU */
	int cpu;
	/** @task: the thread */
	struct task_struct *task;
	/** @mailbox: functions to run between passes */
	struct llist_head mailbox;
	/** @served: its nodes, struct spindle_served.link; engine context */
	struct list_head served;
	/** @poke: run another pass before sleeping; set by spindle_engine_wake() */
	int poke;
	/** @asleep: the thread sleeps or is about to */
	int asleep;
	/** @spin_ns: how long the engine could poll when it last had no work */
	u64 spin_ns;
	/** @timing: the engine measures its busy time; engine context */
	bool timing;
	/** @timed_since: since when, ktime */
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
	/**
	 * @stats: counters; only the engine writes them, except @kicks and @bells, which are atomic
	 */
	} stats;
};

struct spindle_engine *spindle_engine_get(struct spindle_net *sn, u32 id, int cpu);
void spindle_engine_hold(struct spindle_engine *engine);
void spindle_engine_put(struct spindle_engine *engine);
void spindle_engine_call(struct spindle_engine *engine, void (*fn)(void *ctx), void *ctx);
bool spindle_engine_wake(struct spindle_engine *engine);

/**
 * spindle_engine_assert() - check that the caller is the engine
 * @engine: the engine
 *
 * A function with "Context: engine" calls this, as one that needs a lock calls
 * lockdep_assert_held(). Kernels with CONFIG_PROVE_LOCKING report another caller, with a trace. In
 * other kernels nothing is compiled.
 *
 * Context: any.
 */
static inline void spindle_engine_assert(const struct spindle_engine *engine)
{
	if (IS_ENABLED(CONFIG_PROVE_LOCKING))
		WARN_ON_ONCE(current != READ_ONCE(engine->task));
}

/* engine context */
void spindle_engine_time(struct spindle_engine *engine, bool on);

#endif /* SPINDLE_BASE_ENGINE_H */
