/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Namespaces: what each network namespace has of its own, so that none waits for another.
 *
 *	namespace -> lock        over all configuration of its nodes
 *	          -> nodes
 *	          -> engines
 *	          -> chores      what has to be done with the lock, one after the other
 *
 * Chores are done by one work item of the namespace. It takes the lock before it takes a chore off
 * the list, and keeps the lock until the chore is done. So a chore is either done or not begun for
 * a holder of the lock, and spindle_chore_cancel() has nobody to wait for.
 *
 * Lifetime: reference counted. The network namespace, nodes and engines hold references, so does
 * the work item while it is queued; attachments and RDMC groups hold their engine.
 */
#ifndef SPINDLE_NET_H
#define SPINDLE_NET_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct ib_device;
struct net;

/**
 * struct spindle_net - a network namespace
 * @ref: references
 * @list: in the list of all
 * @lock: all configuration of its nodes: requests, attach and release, chores, device removal
 * @nodes: its nodes, ordered by id, so that a dump can resume behind the last one it showed
 * @generation: changes with every change of configuration: a dump that spans one says so
 * @rdmc_generation: changes with every RDMC group that comes or goes
 * @rdmc_numbers: RDMC groups ever created
 * @engines_lock: @engines, and the step from the last reference of an engine to off the list
 * @engines: its engines
 * @chores_lock: @chores
 * @chores: what is to be done, struct spindle_chore
 * @work: does it
 */
struct spindle_net {
	struct kref ref;
	struct list_head list;
	struct mutex lock;	/* configuration */
	struct list_head nodes;
	u32 generation;
	u32 rdmc_generation;
	u64 rdmc_numbers;
	struct mutex engines_lock;	/* engines */
	struct list_head engines;
	spinlock_t chores_lock;	/* chores */
	struct list_head chores;
	struct work_struct work;
};

/**
 * struct spindle_chore - something to do with the lock of a namespace
 * @list: in the list of the namespace, or empty
 * @sn: the namespace; the owner of the chore holds it
 * @later: puts it into the list
 * @fn: does it, with the lock; may free the chore
 */
struct spindle_chore {
	struct list_head list;
	struct spindle_net *sn;
	struct delayed_work later;
	void (*fn)(struct spindle_chore *chore);
};

/* All work items of the module but those of connections; destroyed when the module ends. */
extern struct workqueue_struct *spindle_wq;
/* Those that wait for another host, for seconds: they shall keep no other from running. */
extern struct workqueue_struct *spindle_ask_wq;

struct spindle_net *spindle_net_of(const struct net *net);
void spindle_net_hold(struct spindle_net *sn);
void spindle_net_put(struct spindle_net *sn);
void spindle_net_lock(struct spindle_net *sn);
void spindle_net_unlock(struct spindle_net *sn);
void spindle_net_lock_all(void);
void spindle_net_unlock_all(void);
void spindle_net_each(void (*fn)(struct spindle_net *sn, struct ib_device *ib),
		      struct ib_device *ib);

void spindle_chore_init(struct spindle_chore *chore, struct spindle_net *sn,
			void (*fn)(struct spindle_chore *chore));
void spindle_chore_queue(struct spindle_chore *chore, u32 ms);
bool spindle_chore_pending(struct spindle_chore *chore);
void spindle_chore_cancel(struct spindle_chore *chore);

int spindle_net_init(void (*gone)(struct spindle_net *sn));
void spindle_net_exit(void);

#endif /* SPINDLE_NET_H */
