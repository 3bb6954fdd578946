// SPDX-License-Identifier: GPL-2.0-only
/*
 * Namespaces: what each network namespace has of its own. See net.h.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "net.h"

/* What the network namespace itself keeps. */
struct slot {
	struct spindle_net *sn;
};

static unsigned int slot_id;
static void (*gone_cb)(struct spindle_net *sn);

static LIST_HEAD(nets);
static DEFINE_MUTEX(nets_lock);	/* nets; before the locks of all of them */

struct workqueue_struct *spindle_wq;
struct workqueue_struct *spindle_ask_wq;

/**
 * spindle_net_of() - what we have of a network namespace
 * @net: the namespace; somebody keeps it alive
 *
 * Return: the caller's for as long as @net is
 */
struct spindle_net *spindle_net_of(const struct net *net)
{
	const struct slot *slot = net_generic(net, slot_id);

	return slot->sn;
}

/**
 * spindle_net_hold() - one more reference
 * @sn: the caller has one, or the namespace is alive
 */
void spindle_net_hold(struct spindle_net *sn)
{
	kref_get(&sn->ref);
}

static void net_release(struct kref *ref)
{
	struct spindle_net *sn = container_of(ref, struct spindle_net, ref);

	mutex_destroy(&sn->lock);
	mutex_destroy(&sn->engines_lock);
	kfree(sn);
}

/**
 * spindle_net_put() - give a reference back
 * @sn: the namespace; its lock is free
 *
 * Context: any.
 */
void spindle_net_put(struct spindle_net *sn)
{
	kref_put(&sn->ref, net_release);
}

/**
 * spindle_net_lock() - take the lock of a namespace that may have ended
 * @sn: the namespace; what the caller knows it by keeps it until it has the lock
 *
 * Context: process.
 */
void spindle_net_lock(struct spindle_net *sn)
{
	spindle_net_hold(sn);
	mutex_lock(&sn->lock);
}

/**
 * spindle_net_unlock() - give it back
 * @sn: the namespace; nothing else need keep it any more
 */
void spindle_net_unlock(struct spindle_net *sn)
{
	mutex_unlock(&sn->lock);
	spindle_net_put(sn);
}

/**
 * spindle_net_lock_all() - take the locks of all namespaces
 *
 * A device may be in use in several of them. Nobody else takes two.
 *
 * Context: process.
 */
void spindle_net_lock_all(void)
{
	struct spindle_net *sn;

	mutex_lock(&nets_lock);
	list_for_each_entry(sn, &nets, list)
		mutex_lock_nest_lock(&sn->lock, &nets_lock);
}

/**
 * spindle_net_unlock_all() - give them back
 */
void spindle_net_unlock_all(void)
{
	struct spindle_net *sn;

	list_for_each_entry(sn, &nets, list)
		mutex_unlock(&sn->lock);
	mutex_unlock(&nets_lock);
}

/**
 * spindle_net_each() - do something in each namespace
 * @fn: what
 * @ib: its argument
 *
 * Context: process, with the locks of all.
 */
void spindle_net_each(void (*fn)(struct spindle_net *sn, struct ib_device *ib),
		      struct ib_device *ib)
{
	struct spindle_net *sn;

	lockdep_assert_held(&nets_lock);
	list_for_each_entry(sn, &nets, list)
		fn(sn, ib);
}

/* ---- chores ------------------------------------------------------------- */

static struct spindle_chore *take_chore(struct spindle_net *sn)
{
	struct spindle_chore *chore;

	lockdep_assert_held(&sn->lock);
	spin_lock_irq(&sn->chores_lock);
	chore = list_first_entry_or_null(&sn->chores, struct spindle_chore, list);
	if (chore)
		list_del_init(&chore->list);
	spin_unlock_irq(&sn->chores_lock);
	return chore;
}

/* The lock goes round between two chores: a waiter is not kept by a long list. */
static void chores_work(struct work_struct *work)
{
	struct spindle_net *sn = container_of(work, struct spindle_net, work);
	struct spindle_chore *chore;

	do {
		mutex_lock(&sn->lock);
		chore = take_chore(sn);
		if (chore)
			chore->fn(chore);
		mutex_unlock(&sn->lock);
	} while (chore);
	spindle_net_put(sn);
}

static void enqueue(struct spindle_chore *chore)
{
	struct spindle_net *sn = chore->sn;
	unsigned long flags;

	/* Of the work item. The chore may be done, and its owner gone, once it is in the list. */
	spindle_net_hold(sn);
	spin_lock_irqsave(&sn->chores_lock, flags);
	if (list_empty(&chore->list))
		list_add_tail(&chore->list, &sn->chores);
	spin_unlock_irqrestore(&sn->chores_lock, flags);
	if (!queue_work(spindle_wq, &sn->work))
		spindle_net_put(sn);
}

/* Takes no lock that sleeps, so that a holder of the namespace's lock may wait for it. */
static void later_work(struct work_struct *work)
{
	enqueue(container_of(work, struct spindle_chore, later.work));
}

/**
 * spindle_chore_init() - prepare a chore
 * @chore: part of what it belongs to
 * @sn: the namespace; what the chore belongs to keeps it alive
 * @fn: does it
 */
void spindle_chore_init(struct spindle_chore *chore, struct spindle_net *sn,
			void (*fn)(struct spindle_chore *chore))
{
	INIT_LIST_HEAD(&chore->list);
	chore->sn = sn;
	chore->fn = fn;
	INIT_DELAYED_WORK(&chore->later, later_work);
}

/**
 * spindle_chore_queue() - have it done, once, however often it is asked for until then
 * @chore: the chore
 * @ms: not before so many milliseconds
 *
 * Context: any.
 */
void spindle_chore_queue(struct spindle_chore *chore, u32 ms)
{
	if (ms)
		mod_delayed_work(spindle_wq, &chore->later, msecs_to_jiffies(ms));
	else
		enqueue(chore);
}

/**
 * spindle_chore_pending() - is it still to be done?
 * @chore: the chore
 *
 * Context: any; a hint for callers that would ask for it too often.
 * Return: true if so
 */
bool spindle_chore_pending(struct spindle_chore *chore)
{
	return delayed_work_pending(&chore->later) || !list_empty_careful(&chore->list);
}

/**
 * spindle_chore_cancel() - do not do it any more
 * @chore: the chore; nobody asks for it again. A chore may cancel itself
 *
 * Context: process, with the namespace's lock: it is not being done by anybody else.
 */
void spindle_chore_cancel(struct spindle_chore *chore)
{
	struct spindle_net *sn = chore->sn;

	lockdep_assert_held(&sn->lock);
	cancel_delayed_work_sync(&chore->later);
	spin_lock_irq(&sn->chores_lock);
	list_del_init(&chore->list);
	spin_unlock_irq(&sn->chores_lock);
}

/* ---- namespaces come and go ---------------------------------------------- */

static int __net_init net_init(struct net *net)
{
	struct spindle_net *sn = kzalloc(sizeof(*sn), GFP_KERNEL_ACCOUNT);
	struct slot *slot = net_generic(net, slot_id);

	if (!sn)
		return -ENOMEM;
	kref_init(&sn->ref);
	mutex_init(&sn->lock);
	mutex_init(&sn->engines_lock);
	INIT_LIST_HEAD(&sn->nodes);
	INIT_LIST_HEAD(&sn->engines);
	spin_lock_init(&sn->chores_lock);
	INIT_LIST_HEAD(&sn->chores);
	INIT_WORK(&sn->work, chores_work);
	sn->generation = 1;
	slot->sn = sn;
	mutex_lock(&nets_lock);
	list_add_tail(&sn->list, &nets);
	mutex_unlock(&nets_lock);
	return 0;
}

static void __net_exit net_exit(struct net *net)
{
	struct spindle_net *sn = spindle_net_of(net);

	mutex_lock(&sn->lock);
	gone_cb(sn);
	mutex_unlock(&sn->lock);
	mutex_lock(&nets_lock);
	list_del(&sn->list);
	mutex_unlock(&nets_lock);
	spindle_net_put(sn);
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.exit = net_exit,
	.id = &slot_id,
	.size = sizeof(struct slot),
};

/**
 * spindle_net_init() - begin to follow network namespaces
 * @gone: a namespace ends; called with its lock
 *
 * The queues are not for reclaiming memory: no file system and no swap is behind a node.
 *
 * Return: 0 or -errno
 */
int spindle_net_init(void (*gone)(struct spindle_net *sn))
{
	int err = -ENOMEM;

	gone_cb = gone;
	spindle_wq = alloc_workqueue("spindle", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!spindle_wq)
		return err;
	spindle_ask_wq = alloc_workqueue("spindle_ask", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!spindle_ask_wq)
		goto err_wq;
	err = register_pernet_subsys(&net_ops);
	if (!err)
		return 0;
	destroy_workqueue(spindle_ask_wq);
err_wq:
	destroy_workqueue(spindle_wq);
	return err;
}

/**
 * spindle_net_exit() - stop following them; no node and no file is left
 *
 * Work items that were the last to know of something may still be on their way out: no code of
 * the module runs in them when this returns.
 */
void spindle_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
	destroy_workqueue(spindle_ask_wq);
	destroy_workqueue(spindle_wq);
}
