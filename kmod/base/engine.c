// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines: the threads that run the protocol. See engine.h.
 *
 * A pass visits every node once. The engine runs passes without pause while they find work.
 * Without work it polls for the shortest idle time of its nodes, if no other task wants its CPU.
 * If one does, the engine yields a few times. Then it goes to sleep in this order, which loses
 * no wake-up:
 *
 *	tell processes (need_wakeup) and peers (sleep column) that it sleeps
 *	full barrier
 *	one more pass over all subgroups, which sees all work of those that did not know yet
 *	sleep until poked
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "core/base/port.h"
#include "engine.h"
#include "net.h"
#include "trace.h"

/* How often a sleeping engine polls for errors while posted writes are not completed. */
#define UNSETTLED_NS (20 * NSEC_PER_MSEC)

/* How late a timer may fire, so that several timers can share an interrupt. */
#define SLACK_NS (100 * NSEC_PER_USEC)

/* How often in a row an engine without work yields before it sleeps. */
#define YIELDS 8

/**
 * struct idle - an engine without work
 */
struct idle {
	/** @since: since when the engine polls alone on its CPU, ktime; 0: it does not */
	u64 since;
	/** @yields: how often it has yielded */
	u32 yields;
};

/* A function that spindle_engine_call() wants to be run; on the stack of the caller. */
struct letter {
	struct llist_node node;
	void (*fn)(void *ctx);
	void *ctx;
	struct completion done;
};

static bool read_mail(struct spindle_engine *engine)
{
	struct llist_node *all = llist_reverse_order(llist_del_all(&engine->mailbox));
	struct letter *letter, *next;

	llist_for_each_entry_safe(letter, next, all, node) {
		letter->fn(letter->ctx);
		complete(&letter->done);
	}
	return all;
}

static bool pass(struct spindle_engine *engine, u32 how)
{
	u64 begin = engine->timing ? ktime_get_ns() : 0;
	struct spindle_served *served;
	bool work = read_mail(engine);

	list_for_each_entry(served, &engine->served, link)
		work |= served->ops->pass(served, how);
	spindle_count(&engine->stats.passes, 1);
	spindle_count(&engine->stats.busy, work);
	/* A function from the mailbox may have turned the measurement on or off. */
	if (work && begin && engine->timing)
		spindle_count(&engine->stats.busy_ns, ktime_get_ns() - begin);
	return work;
}

static u64 idle_ns(const struct spindle_engine *engine)
{
	const struct spindle_served *served;
	u32 us = U32_MAX;

	list_for_each_entry(served, &engine->served, link)
		us = min(us, served->idle_us);
	return us == U32_MAX ? 0 : us * (u64)NSEC_PER_USEC;
}

static bool settled(struct spindle_engine *engine)
{
	struct spindle_served *served;
	bool all = true;

	list_for_each_entry(served, &engine->served, link)
		all &= served->ops->settled(served);
	return all;
}

/* Nanoseconds until the engine has to run a pass even if it is not woken; U64_MAX: never. */
static u64 due(struct spindle_engine *engine)
{
	struct spindle_served *served;
	u64 ns = settled(engine) ? U64_MAX : UNSETTLED_NS;

	list_for_each_entry(served, &engine->served, link)
		ns = min(ns, served->ops->due(served));
	return ns;
}

/* Returns false if no write to some peer could be posted: then the engine must not sleep. */
static bool announce(struct spindle_engine *engine, bool sleep)
{
	struct spindle_served *served;
	bool ok = true;

	list_for_each_entry(served, &engine->served, link)
		ok &= served->ops->announce(served, sleep);
	return ok;
}

/*
 * A timeout in jiffies is too coarse. Rounded down, the engine would spin for the rest of a
 * heartbeat interval. Rounded up, heartbeats would be late.
 */
static void sleep_for(u64 ns)
{
	ktime_t timeout = ns_to_ktime(min_t(u64, ns, KTIME_MAX));

	schedule_hrtimeout_range(ns == U64_MAX ? NULL : &timeout, SLACK_NS, HRTIMER_MODE_REL);
}

static void go_to_sleep(struct spindle_engine *engine)
{
	bool ok;

	WRITE_ONCE(engine->poke, 0);
	WRITE_ONCE(engine->asleep, 1);
	ok = announce(engine, true);
	/*
	 * Pairs with the full barrier in spindle_engine_wake(), and with that of a process
	 * between its commit and its load of need_wakeup. Either they see that the engine
	 * sleeps, or this pass sees their stores.
	 */
	smp_mb();
	if (!pass(engine, SPINDLE_PASS_ALL | SPINDLE_PASS_IDLE) && ok) {
		spindle_count(&engine->stats.sleeps, 1);
		trace_spindle_sleep(engine->id, engine->stats.passes);
		for (;;) {
			u64 ns = due(engine);

			set_current_state(TASK_IDLE);
			if (!ns || READ_ONCE(engine->poke) || kthread_should_stop())
				break;
			sleep_for(ns);
		}
		__set_current_state(TASK_RUNNING);
		trace_spindle_wake(engine->id, engine->stats.passes);
	}
	WRITE_ONCE(engine->asleep, 0);
	announce(engine, false);
}

/*
 * May the engine go on polling without work? If it is alone on its CPU, it may do so for the
 * idle time. If other tasks want the CPU, the engine may be waiting for one of them (a thread of
 * the device, a process that is about to send). So it yields and polls once more. After YIELDS
 * rounds it sleeps, because further polling only takes the CPU from these tasks.
 */
static bool poll_on(struct spindle_engine *engine, struct idle *idle)
{
	if (single_task_running()) {
		u64 now = ktime_get_ns();

		if (!idle->since)
			idle->since = now;
		WRITE_ONCE(engine->spin_ns, idle_ns(engine));
		return now - idle->since < engine->spin_ns;
	}
	WRITE_ONCE(engine->spin_ns, 0);
	if (++idle->yields > YIELDS)
		return false;
	idle->since = 0;
	/* The engine waits for no event that could wake it: it only lets other tasks run first. */
	yield();
	return true;
}

static int engine_thread(void *arg)
{
	struct spindle_engine *engine = arg;
	struct idle idle = {};
	u32 how = SPINDLE_PASS_ALL;

	while (!kthread_should_stop()) {
		if (pass(engine, how)) {
			idle = (struct idle){};
			how = 0;
		} else if (poll_on(engine, &idle)) {
			how = SPINDLE_PASS_IDLE;
		} else {
			go_to_sleep(engine);
			idle = (struct idle){};
			/* A wake-up does not say which subgroup has work. */
			how = SPINDLE_PASS_ALL;
		}
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/**
 * spindle_engine_time() - start or stop the measurement of busy time
 * @engine: the engine
 * @on: true to start
 *
 * Context: engine, from the mailbox.
 */
void spindle_engine_time(struct spindle_engine *engine, bool on)
{
	u64 now = ktime_get_ns();

	spindle_engine_assert(engine);
	if (engine->timing)
		spindle_count(&engine->stats.timed_ns, now - engine->timed_since);
	/* Readers of statistics load these without a lock. */
	WRITE_ONCE(engine->timed_since, now);
	WRITE_ONCE(engine->timing, on);
}

/**
 * spindle_engine_get() - find or start an engine
 * @sn: network namespace
 * @id: number
 * @cpu: CPU that it has to be bound to, or SPINDLE_ANY_CPU
 *
 * Context: process.
 * Return: a reference; ERR_PTR(-EINVAL) if it runs but not on @cpu, -ENOMEM
 */
struct spindle_engine *spindle_engine_get(struct spindle_net *sn, u32 id, int cpu)
{
	struct spindle_engine *engine;
	struct task_struct *task;

	mutex_lock(&sn->engines_lock);
	list_for_each_entry(engine, &sn->engines, list) {
		if (engine->id != id)
			continue;
		if (cpu != SPINDLE_ANY_CPU && engine->cpu != cpu)
			engine = ERR_PTR(-EINVAL);
		else
			kref_get(&engine->ref);
		goto out;
	}
	engine = kzalloc(sizeof(*engine), GFP_KERNEL);
	if (!engine) {
		engine = ERR_PTR(-ENOMEM);
		goto out;
	}
	kref_init(&engine->ref);
	spindle_net_hold(sn);
	engine->sn = sn;
	engine->id = id;
	engine->cpu = cpu;
	init_llist_head(&engine->mailbox);
	INIT_LIST_HEAD(&engine->served);
	task = kthread_create(engine_thread, engine, "spindle/%u", id);
	if (IS_ERR(task)) {
		spindle_net_put(sn);
		kfree(engine);
		engine = ERR_CAST(task);
		goto out;
	}
	/* Statistics read the pid, and wakers use the task, until the engine is freed. */
	engine->task = get_task_struct(task);
	if (cpu != SPINDLE_ANY_CPU)
		kthread_bind(task, cpu);
	list_add_tail(&engine->list, &sn->engines);
	wake_up_process(task);
out:
	mutex_unlock(&sn->engines_lock);
	return engine;
}

/**
 * spindle_engine_hold() - take another reference
 * @engine: the engine; the caller has a reference
 */
void spindle_engine_hold(struct spindle_engine *engine)
{
	kref_get(&engine->ref);
}

static void engine_release(struct kref *ref)
{
	struct spindle_engine *engine = container_of(ref, struct spindle_engine, ref);

	list_del(&engine->list);
	mutex_unlock(&engine->sn->engines_lock);
	kthread_stop(engine->task);
	put_task_struct(engine->task);
	spindle_net_put(engine->sn);
	kfree(engine);
}

/**
 * spindle_engine_put() - give a reference back; the last one stops the thread
 * @engine: the engine
 *
 * Context: process.
 */
void spindle_engine_put(struct spindle_engine *engine)
{
	kref_put_mutex(&engine->ref, engine_release, &engine->sn->engines_lock);
}

/**
 * spindle_engine_wake() - wake the engine because it has new work
 * @engine: the engine
 *
 * Context: any.
 * Return: true if it was asleep
 */
bool spindle_engine_wake(struct spindle_engine *engine)
{
	WRITE_ONCE(engine->poke, 1);
	/* Pairs with the barrier in go_to_sleep(). */
	smp_mb();
	if (!READ_ONCE(engine->asleep))
		return false;
	wake_up_process(engine->task);
	return true;
}

/**
 * spindle_engine_call() - run a function between two passes, and wait for it
 * @engine: the engine
 * @fn: the function; must not sleep for long, and must not call the engine
 * @ctx: argument of @fn
 *
 * Context: process, not the engine.
 */
void spindle_engine_call(struct spindle_engine *engine, void (*fn)(void *ctx), void *ctx)
{
	struct letter letter = { .fn = fn, .ctx = ctx };

	init_completion(&letter.done);
	llist_add(&letter.node, &engine->mailbox);
	spindle_engine_wake(engine);
	wait_for_completion(&letter.done);
}
