// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bugs on purpose: one per checker of the debug kernel, and one per assertion of a context, chosen
 * by "bug". A checker that misses a bug here would also miss bugs of spindle.
 */
#include <linux/debugobjects.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include "base/engine.h"

static char *bug = "";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "uaf, vmalloc, lock, sleep, leak, shift, bounds, timer, list, held or engine");

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(two);
static DEFINE_SPINLOCK(spin);

/* Hide a pointer from the compiler. */
static noinline void *hide(void *p)
{
	OPTIMIZER_HIDE_VAR(p);
	return p;
}

static noinline int hide_int(int i)
{
	OPTIMIZER_HIDE_VAR(i);
	return i;
}

static void planted_uaf(void)
{
	char *p = hide(kmalloc(64, GFP_KERNEL));

	if (!p)
		return;
	kfree(p);
	WRITE_ONCE(p[8], 1);
}

static void planted_vmalloc(void)
{
	char *p = hide(vmalloc(PAGE_SIZE - 32));

	if (!p)
		return;
	WRITE_ONCE(p[PAGE_SIZE - 16], 1);
	vfree(p);
}

/*
 * Take the locks in both orders, one after the other: a deadlock that only
 * lockdep sees.
 */
static void planted_lock(void)
{
	mutex_lock(&one);
	mutex_lock(&two);
	mutex_unlock(&two);
	mutex_unlock(&one);

	mutex_lock(&two);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&two);
}

static void planted_sleep(void)
{
	spin_lock(&spin);
	/* The allocation succeeds at once, but it might sleep. */
	kfree(kmalloc(64, GFP_KERNEL));
	spin_unlock(&spin);
}

/*
 * Leak several objects, because a stale register or stack word may point to one
 * of them.
 */
static void planted_leak(void)
{
	int i;

	for (i = 0; i < 16; i++)
		if (!hide(kmalloc(200, GFP_KERNEL)))
			return;
}

static void planted_shift(void)
{
	pr_info("shifted: %d\n", 1 << hide_int(40));
}

static int planted_array[4];

static void planted_bounds(void)
{
	planted_array[hide_int(5)] = 1;
	pr_info("within bounds: %d\n", planted_array[hide_int(3)]);
}

static void planted_fn(struct timer_list *t)
{
}

static void planted_timer(void)
{
	struct timer_list *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;
	timer_setup(t, planted_fn, 0);
	mod_timer(t, jiffies + 600 * HZ);
	/* The checker removes the timer before the memory is freed. */
	kfree(t);
}

static void planted_list(void)
{
	LIST_HEAD(head);
	struct list_head entry;

	list_add(&entry, &head);
	list_add(&entry, &head);
}

/* A function that needs a lock has a caller that does not hold it. */
static noinline void planted_held(void)
{
	lockdep_assert_held(&one);
}

/* Work of an engine is done by another thread. */
static noinline void planted_engine(void)
{
	static struct spindle_engine engine;

	spindle_engine_assert(&engine);
}

static const struct {
	const char *name;
	void (*fn)(void);
} planted[] = {
	{ "uaf", planted_uaf },
	{ "vmalloc", planted_vmalloc },
	{ "lock", planted_lock },
	{ "sleep", planted_sleep },
	{ "leak", planted_leak },
	{ "shift", planted_shift },
	{ "bounds", planted_bounds },
	{ "timer", planted_timer },
	{ "list", planted_list },
	{ "held", planted_held },
	{ "engine", planted_engine },
};

static int __init planted_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(planted); i++) {
		if (strcmp(bug, planted[i].name))
			continue;
		planted[i].fn();
		return 0;
	}
	return -EINVAL;
}
module_init(planted_init);

static void __exit planted_exit(void)
{
}
module_exit(planted_exit);

MODULE_DESCRIPTION("Bugs that the debug kernel has to report");
MODULE_LICENSE("GPL");
