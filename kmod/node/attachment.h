/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attachments: one open file bound to one subgroup, with the rings between them.
 *
 * Owner: the file. When the file of a sender is released while its last messages are still
 * being sent, the attachment is "parting" and the subgroup owns it. An attachment outlives its
 * subgroup: when the view goes the attachment is cut off (@sg is NULL). Its memory stays until
 * the file is released, which is after the last mapping is gone.
 *
 * The process sees the state of the subgroup, and one more:
 *
 *	FORMING <--> ACTIVE        as the subgroup
 *	    |          |
 *	    +----+-----+
 *	         |  \
 *	         |   --> FROZEN    the process broke the rules of its ring, or did not read
 *	         v         |
 *	       FAILED <----+       as the subgroup
 *	         v         |
 *	        GONE <-----+       the view is removed; from any state
 *
 * @lock orders cutting off against mmap(). The lock of the namespace and the mmap lock are taken
 * before it. User memory must not be touched under it.
 */
#ifndef SPINDLE_NODE_ATTACHMENT_H
#define SPINDLE_NODE_ATTACHMENT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "base/mapping.h"
#include "base/memory.h"
#include "core/multicast/dlvq.h"

struct eventfd_ctx;
struct spindle_engine;
struct spindle_installed;
struct spindle_net;
struct spindle_subgroup;

/**
 * struct spindle_ctl - control page: the kernel writes, the process reads
 * @state: enum spindle_state
 * @error: enum spindle_error
 * @need_wakeup: the engine sleeps
 * @pad0: own cache line for what follows
 * @dlv_tail: entries delivered
 * @pad1: own cache line for what follows
 * @tx_slot: slots that are free again
 * @tx_unit: units that are free again
 */
struct spindle_ctl {
	u32 state;
	u32 error;
	u32 need_wakeup;
	u32 pad0[13];
	u64 dlv_tail;
	u64 pad1[7];
	u64 tx_slot;
	u64 tx_unit;
};

/**
 * struct spindle_usr - user page: the process writes, the kernel trusts none of it
 * @consumed: entries consumed
 * @pad0: own cache line for what follows
 * @reserve: next slot and next unit, shared by the threads of the process
 * @pad1: own cache line for what follows
 * @desc: TX descriptors
 */
struct spindle_usr {
	u64 consumed;
	u64 pad0[7];
	u64 reserve;
	u64 pad1[7];
	struct spindle_tx_desc desc[];
};

/**
 * struct spindle_attachment - see above
 * @lock: see above
 * @sg: the subgroup, or NULL; changed with the namespace's lock and @lock
 * @binding: serializes requests that bind the file
 * @attached: the file is bound; never cleared
 * @parting: the file is released, but some committed messages are not sent yet; the subgroup
 *	owns the attachment
 * @link: in the subgroup's list; engine context
 * @engine: a reference, for kicks
 * @flags: SPINDLE_ATTACH_*
 * @maps: what processes have mapped
 * @wait: pollers
 * @eventfd: or NULL
 * @ctl_pages: control page
 * @usr_pages: user pages
 * @dlv_pages: delivery ring
 * @copy_pages: copy ring
 * @ctl: kernel's view of @ctl_pages
 * @usr: kernel's view of @usr_pages
 * @dlvq: reader's queue
 * @pid: process that attached, a reference
 * @comm: its name
 * @watched: entries consumed when the engine last checked the reader
 * @has_some: at that check the reader had entries that it had not consumed
 * @since_ns: since when the reader has consumed no entry, ktime; written by the engine
 * @user: user that is charged
 * @charged: pages charged
 * @tx_units_max: units of the largest message
 * @window: slots
 * @ring_units: units of the TX ring
 */
struct spindle_attachment {
	struct mutex lock;	/* cutting off against mmap() */
	struct spindle_subgroup *sg;
	struct mutex binding;	/* attached */
	bool attached;
	bool parting;
	struct list_head link;
	struct spindle_engine *engine;
	u32 flags;
	struct spindle_mappings maps;
	wait_queue_head_t wait;
	struct eventfd_ctx *eventfd;
	struct spindle_pages ctl_pages;
	struct spindle_pages usr_pages;
	struct spindle_pages dlv_pages;
	struct spindle_pages copy_pages;
	struct spindle_ctl *ctl;
	struct spindle_usr *usr;
	struct spindle_dlvq dlvq;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
	u64 watched;
	bool has_some;
	u64 since_ns;
	struct user_struct *user;
	unsigned long charged;
	u32 tx_units_max;
	u32 window;
	u32 ring_units;
};

struct spindle_attachment *spindle_attachment_alloc(struct file *file);
struct spindle_net *spindle_attachment_lock(struct spindle_attachment *att);
void spindle_attachment_free(struct spindle_attachment *att);
int spindle_attachment_silence(struct spindle_attachment *att, u64 rounds);
int spindle_attachment_bind(struct spindle_attachment *att, struct spindle_net *sn,
			    struct spindle_attach *args);
void spindle_attachment_part(struct spindle_subgroup *sg);
void spindle_attachment_cut(struct spindle_attachment *att);
void spindle_attachment_forget(const struct spindle_installed *inst,
			       const struct spindle_pages *mem);
void spindle_attachment_move(struct spindle_attachment *att, struct spindle_subgroup *sg);
int spindle_attachment_mmap(struct spindle_attachment *att, struct vm_area_struct *vma);
__poll_t spindle_attachment_poll(struct spindle_attachment *att);

/* engine context */
void spindle_attachment_state(struct spindle_attachment *att, u32 state, u32 error);
void spindle_attachment_notify(struct spindle_attachment *att, __poll_t events);

#endif /* SPINDLE_NODE_ATTACHMENT_H */
