// SPDX-License-Identifier: GPL-2.0-only
/*
 * Namespaces: the state of each network namespace. See net.h.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "net.h"

/* The per-namespace data that the network namespace itself allocates. */
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
 * spindle_net_of() - our state of a network namespace
 * @net: the namespace; the caller keeps it alive
 *
 * Return: the state, valid as long as @net is alive; this takes no reference
 */
struct spindle_net *spindle_net_of(const struct net *net)
{
	const struct slot *slot = net_generic(net, slot_id);

	return slot->sn;
}

/**
 * spindle_net_hold() - take another reference
 * @sn: the namespace; the caller has a reference, or the network namespace is alive
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
 * @sn: the namespace; the caller does not hold its lock
 *
 * Context: any.
 */
void spindle_net_put(struct spindle_net *sn)
{
	kref_put(&sn->ref, net_release);
}

/**
 * spindle_net_lock() - take the lock of a namespace that may have ended
 * @sn: the namespace; the caller keeps it alive until this returns
 *
 * This takes a reference, so the caller may drop its own while it holds the lock.
 *
 * Context: process.
 */
void spindle_net_lock(struct spindle_net *sn)
{
	spindle_net_hold(sn);
	mutex_lock(&sn->lock);
}

/**
 * spindle_net_unlock() - release the lock, and the reference of spindle_net_lock()
 * @sn: the namespace; may be freed by this
 */
void spindle_net_unlock(struct spindle_net *sn)
{
	mutex_unlock(&sn->lock);
	spindle_net_put(sn);
}

/**
 * spindle_net_lock_all() - take the locks of all namespaces
 *
 * The removal of a device needs this, because several namespaces may use the device. No other
 * code takes two of these locks.
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
 * spindle_net_unlock_all() - release the locks of all namespaces
 */
void spindle_net_unlock_all(void)
{
	struct spindle_net *sn;

	list_for_each_entry(sn, &nets, list)
		mutex_unlock(&sn->lock);
	mutex_unlock(&nets_lock);
}

/**
 * spindle_net_each() - call a function for each namespace
 * @fn: the function
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

/* Release the lock between two chores, so that a long list does not keep waiters out. */
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

	/*
	 * The reference is for the work item. Take it first: once the chore is in the list it
	 * may be done at once, and its owner may be gone.
	 */
	spindle_net_hold(sn);
	spin_lock_irqsave(&sn->chores_lock, flags);
	if (list_empty(&chore->list))
		list_add_tail(&chore->list, &sn->chores);
	spin_unlock_irqrestore(&sn->chores_lock, flags);
	if (!queue_work(spindle_wq, &sn->work))
		spindle_net_put(sn);
}

/*
 * This must not take the namespace's lock, because spindle_chore_cancel() waits for this work item
 * with the lock held.
 */
static void later_work(struct work_struct *work)
{
	enqueue(container_of(work, struct spindle_chore, later.work));
}

/**
 * spindle_chore_init() - prepare a chore
 * @chore: the chore, embedded in its owner
 * @sn: the namespace; the owner keeps it alive
 * @fn: does the chore
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
 * spindle_chore_queue() - queue a chore
 * @chore: the chore
 * @ms: delay in milliseconds
 *
 * A chore that is queued again before it begins is done only once.
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
 * spindle_chore_cancel() - cancel a chore
 * @chore: the chore; it must not be queued again. A chore may cancel itself
 *
 * Context: process, with the namespace's lock, so the work item is not running the chore.
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
 * spindle_net_init() - start following network namespaces
 * @gone: called with the lock of a namespace that ends
 *
 * The queues do not have WQ_MEM_RECLAIM, because no file system and no swap depends on a node.
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
 * spindle_net_exit() - stop following network namespaces; no node and no file is left
 *
 * Work items may have dropped the last reference to something, and not have returned yet.
 * Destroying the queues waits for them, so that no code of the module runs after this.
 */
void spindle_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
	destroy_workqueue(spindle_ask_wq);
	destroy_workqueue(spindle_wq);
}
