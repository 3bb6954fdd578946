/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMC groups: the kernel side of core/rdmc.
 *
 *	rdmc.c		creation, end and requests of a group
 *	run.c		the engine's part
 *	dev/rdmc_dev.c	/dev/spindle-rdmc: files and their ioctls
 *	link.c		a group's share in lanes, with regions for grants
 *	lane.c		connections to the other members
 *	pinned.c	objects in memory of processes
 *
 * Owner: the file that created the group. After the file is released the group owns itself, until
 * no memory is in use any more and all messages are sent. Then its chore frees it. When a node
 * leaves its view, its groups end at once, and stay with their files, without lanes.
 *
 * @chore runs with the namespace's lock. The engine owns the protocol state. Events go from the
 * engine to the file through a ring with one writer and one reader.
 */
#ifndef SPINDLE_BULK_RDMC_H
#define SPINDLE_BULK_RDMC_H

#include <linux/llist.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "base/net.h"
#include "core/rdmc/rdmc.h"
#include "lane.h"

struct spindle_engine;
struct spindle_installed;
struct spindle_node;
struct spindle_pinned;

/* Entries of the ring of events, a power of two. Objects do not end while it is nearly full. */
#define SPINDLE_RDMC_EVENTS	128U
/* Free entries that the ring must have, because so many events may follow without a check. */
#define SPINDLE_RDMC_SLACK	(2 * SPINDLE_RDMC_QUEUE + 8)
/* Defaults. */
#define SPINDLE_RDMC_BLOCK	(256U << 10)
#define SPINDLE_RDMC_TIMEOUT_MS	30000U
/* Ids with this bit are reserved for the kernel, so no process can create such a group. */
#define SPINDLE_RDMC_OWN	BIT_ULL(63)

/**
 * struct spindle_rdmc_group - a group
 */
struct spindle_rdmc_group {
	/** @r: the protocol's state; engine */
	struct spindle_rdmc r;
	/** @list: in the node's list; the namespace's lock */
	struct list_head list;
	/** @run: in the engine's list; engine */
	struct list_head run;
	/**
	 * @number: unique among all groups ever created, so that a dump can resume after a group
	 */
	u64 number;
	/** @node: its node; NULL: the node has left its view, and the group is over */
	struct spindle_node *node;
	/** @engine: a reference */
	struct spindle_engine *engine;
	/** @link: by rank; that of the own rank has no lane */
	struct spindle_link link[SPINDLE_MAX_MEMBERS];
	/**
	 * @sources: bit mask of the ranks that send to us, whose links need regions for our grants
	 */
	u64 sources;
	/** @lock: serializes readers of events */
	struct mutex lock;	/* readers of events */
	/** @wait: readers of events */
	wait_queue_head_t wait;
	/** @event: events */
	struct spindle_rdmc_event event[SPINDLE_RDMC_EVENTS];
	/** @head: next to read; written by the reader */
	u32 head;
	/** @tail: next to write; written by the engine */
	u32 tail;
	/** @ended: the last event is in the ring */
	bool ended;
	/** @orphan: the file is released; the namespace's lock */
	bool orphan;
	/** @over: the core has nothing more to do; written by the engine */
	bool over;
	/**
	 * @chore: work with the lock of the namespace: regions for lanes that came up, and the end
	 */
	struct spindle_chore chore;
	/** @work: frees memory; takes no lock, so that the end of the group may wait for it */
	struct work_struct work;
	/** @garbage: pinned memory that is not in use any more */
	struct llist_head garbage;
	/** @comm: name of the process that created it */
	char comm[TASK_COMM_LEN];
	/** @pid: that process, a reference */
	struct pid *pid;
};

struct spindle_rdmc_group *spindle_rdmc_group_create(struct spindle_net *sn,
						     struct spindle_rdmc_create *args,
						     const u32 *member);
void spindle_rdmc_group_release(struct spindle_rdmc_group *group);
int spindle_rdmc_group_send(struct spindle_rdmc_group *group, struct spindle_rdmc_send *args);
int spindle_rdmc_group_accept(struct spindle_rdmc_group *group,
			      const struct spindle_rdmc_accept *args);
int spindle_rdmc_group_cancel(struct spindle_rdmc_group *group,
			      const struct spindle_rdmc_cancel *args, bool refuse);
int spindle_rdmc_group_close(struct spindle_rdmc_group *group);
int spindle_rdmc_group_stat(struct spindle_rdmc_group *group, struct spindle_rdmc_stat *args);
bool spindle_rdmc_group_next(struct spindle_rdmc_group *group, struct spindle_rdmc_event *ev);
void spindle_rdmc_node_drop(struct spindle_node *node);

/* run.c */
extern const struct spindle_rdmc_ops spindle_rdmc_group_ops;

/* run.c, engine context */
void spindle_rdmc_node_view(const struct spindle_installed *inst);
void spindle_rdmc_node_cut(struct spindle_node *node, u32 id);
void spindle_rdmc_node_stop(struct spindle_node *node);

extern const struct spindle_transfer_ops spindle_bulk_transfer;

#endif /* SPINDLE_BULK_RDMC_H */
