// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines: the threads that run the protocol. See engine.h.
 *
 * A pass visits every node once. While passes find work the engine goes on; without
 * work it polls for the shortest idle time of its nodes, if it is alone on its CPU, or
 * lets others run, then goes to sleep in the order that loses no wake-up:
 *
 *	tell processes (need_wakeup) and peers (sleep column)
 *	full barrier
 *	one more pass, over all subgroups: sees all that was done before they could know
 *	sleep until poked
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>

#include "engine.h"
#include "net.h"
#include "node.h"
#include "trace.h"

/* How often a sleeping engine looks for errors while the device owes it answers. */
#define UNSETTLED_NS (20 * NSEC_PER_MSEC)

/* How much later than it is due a look may be, so that timers can share an interrupt. */
#define SLACK_NS (100 * NSEC_PER_USEC)

/* Times in a row that it lets others run before it sleeps. */
#define YIELDS 8

/**
 * struct idle - an engine without work
 * @since: when it began to poll alone, ktime; 0: it does not
 * @yields: times that it let others run
 */
struct idle {
	u64 since;
	u32 yields;
};

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
	struct spindle_node *node;
	bool work = read_mail(engine);

	list_for_each_entry(node, &engine->nodes, engine_link)
		work |= spindle_node_pass(node, how);
	spindle_count(&engine->stats.passes, 1);
	spindle_count(&engine->stats.busy, work);
	/* The mail may have turned it on or off. */
	if (work && begin && engine->timing)
		spindle_count(&engine->stats.busy_ns, ktime_get_ns() - begin);
	return work;
}

static u64 idle_ns(const struct spindle_engine *engine)
{
	const struct spindle_node *node;
	u32 us = U32_MAX;

	list_for_each_entry(node, &engine->nodes, engine_link)
		us = min(us, node->idle_us);
	return us == U32_MAX ? 0 : us * (u64)NSEC_PER_USEC;
}

static bool settled(struct spindle_engine *engine)
{
	struct spindle_node *node;
	bool all = true;

	list_for_each_entry(node, &engine->nodes, engine_link)
		all &= spindle_node_settled(node);
	return all;
}

/* Nanoseconds until the engine has to look again, whatever happens; U64_MAX: never. */
static u64 due(struct spindle_engine *engine)
{
	const struct spindle_node *node;
	u64 ns = settled(engine) ? U64_MAX : UNSETTLED_NS;

	list_for_each_entry(node, &engine->nodes, engine_link)
		ns = min(ns, spindle_node_due(node));
	return ns;
}

/* Returns false if a peer could not be told: then the engine must not sleep. */
static bool announce(struct spindle_engine *engine, bool sleep)
{
	struct spindle_node *node;
	bool ok = true;

	list_for_each_entry(node, &engine->nodes, engine_link)
		ok &= spindle_node_announce(node, sleep);
	return ok;
}

/*
 * A jiffy is too coarse: rounded down, it would have the engine spin for what is left of a
 * heartbeat's interval; rounded up, heartbeats would be late.
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
	 * Pairs with the full barriers of spindle_engine_wake() and of a process
	 * between its commit and its look at need_wakeup: either they see that we
	 * sleep, or this pass sees what they did.
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
 * Nothing to do: may it poll on? Alone on its CPU it may, for the idle time. Where others
 * want the CPU, one of them may be what it waits for (the device's own threads, a process
 * that is about to send), so they get it, and it looks again. After some rounds of that
 * nobody is helped by one that polls.
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
	/* There is no event to wait for: it is runnable, and others shall be first. */
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
			/* Nobody says which subgroup it was woken for. */
			how = SPINDLE_PASS_ALL;
		}
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/**
 * spindle_engine_time() - begin or end to measure where the time goes
 * @engine: the engine
 * @on: which of the two
 *
 * Context: engine, from the mailbox.
 */
void spindle_engine_time(struct spindle_engine *engine, bool on)
{
	u64 now = ktime_get_ns();

	if (engine->timing)
		spindle_count(&engine->stats.timed_ns, now - engine->timed_since);
	/* Statistics show it. */
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
	INIT_LIST_HEAD(&engine->nodes);
	task = kthread_create(engine_thread, engine, "spindle/%u", id);
	if (IS_ERR(task)) {
		spindle_net_put(sn);
		kfree(engine);
		engine = ERR_CAST(task);
		goto out;
	}
	/* Statistics name its pid, and wakers its task, until the engine is freed. */
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
 * spindle_engine_hold() - one more reference
 * @engine: the caller has one
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
 * spindle_engine_wake() - there is news for the engine
 * @engine: the engine
 *
 * Context: any.
 * Return: true if it slept
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
 * spindle_engine_call() - have a function run between two passes, and wait
 * @engine: the engine
 * @fn: must not sleep for long, and must not call the engine
 * @ctx: its argument
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
