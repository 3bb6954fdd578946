/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Namespaces: the state of each network namespace, so that no namespace waits for another.
 *
 *	namespace -> lock        over all configuration of its nodes
 *	          -> nodes
 *	          -> engines
 *	          -> chores      work with the lock, done one after the other
 *
 * One work item of the namespace does its chores. The work item takes the lock before it takes a
 * chore off the list, and keeps the lock until the chore is done. So for a holder of the lock a
 * chore is either done or not begun, and spindle_chore_cancel() need not wait.
 *
 * Lifetime: reference counted. The network namespace, nodes and engines hold references, and so
 * does the work item while it is queued. Attachments and RDMC groups hold their engine.
 */
#ifndef SPINDLE_BASE_NET_H
#define SPINDLE_BASE_NET_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct ib_device;
struct net;

/**
 * struct spindle_net - a network namespace
 */
struct spindle_net {
	/** @ref: references */
	struct kref ref;
	/** @list: in the list of all */
	struct list_head list;
	/**
	 * @lock: all configuration of its nodes: requests, attach and release, chores, device
	 * removal
	 */
	struct mutex lock;	/* configuration */
	/**
	 * @nodes: its nodes, ordered by id, so that a dump can resume after the last node it showed
	 */
	struct list_head nodes;
	/**
	 * @generation: changes with every change of configuration, so that a dump can report that
	 * its parts are not consistent
	 */
	u32 generation;
	/** @rdmc_generation: changes with every RDMC group that comes or goes */
	u32 rdmc_generation;
	/** @rdmc_numbers: RDMC groups ever created */
	u64 rdmc_numbers;
	/**
	 * @engines_lock: protects @engines. The last put of an engine takes it off the list under
	 * the lock, so that spindle_engine_get() cannot find an engine without references
	 */
	struct mutex engines_lock;	/* engines */
	/** @engines: its engines */
	struct list_head engines;
	/** @chores_lock: protects @chores */
	spinlock_t chores_lock;	/* chores */
	/** @chores: work to do, struct spindle_chore */
	struct list_head chores;
	/** @work: does the chores */
	struct work_struct work;
};

/**
 * struct spindle_chore - work to do with the lock of a namespace
 */
struct spindle_chore {
	/** @list: in the list of the namespace, or empty */
	struct list_head list;
	/** @sn: the namespace; the owner of the chore holds it */
	struct spindle_net *sn;
	/** @later: puts the chore into the list */
	struct delayed_work later;
	/** @fn: does the chore, with the lock; may free the chore */
	void (*fn)(struct spindle_chore *chore);
};

/* Queue of all work items except those of connections; destroyed when the module ends. */
extern struct workqueue_struct *spindle_wq;
/* Queue of work items that wait for another host for seconds, and would delay the others. */
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
void spindle_chore_cancel(struct spindle_chore *chore);

int spindle_net_init(void (*gone)(struct spindle_net *sn));
void spindle_net_exit(void);

#endif /* SPINDLE_BASE_NET_H */
