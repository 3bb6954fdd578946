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
struct spindle_attachment;
struct spindle_engine;
struct spindle_installed;
struct spindle_net;
struct spindle_subgroup;
struct spindle_tb_preds;

/* In spindle_attachment.flags, beside SPINDLE_ATTACH_*: the process writes the row of a table. */
#define SPINDLE_ATTACH_OWN	BIT(31)
/* There: changes of rows do not wake the process. */
#define SPINDLE_ATTACH_SIGNALS	BIT(30)

/**
 * enum spindle_part - parts of an attachment that a process maps
 *
 * The rows of a table are where senders have their payload rings.
 */
enum spindle_part {
	/** @SPINDLE_PART_CTL: control page */
	SPINDLE_PART_CTL,
	/** @SPINDLE_PART_USR: user pages */
	SPINDLE_PART_USR,
	/** @SPINDLE_PART_TX: own payload ring, or own row of a table */
	SPINDLE_PART_TX,
	/** @SPINDLE_PART_RX: payload ring of a sender, or row of a member of a table */
	SPINDLE_PART_RX,
	/** @SPINDLE_PART_DLV: delivery ring */
	SPINDLE_PART_DLV,
	/** @SPINDLE_PART_COPY: copy ring */
	SPINDLE_PART_COPY,
	/** @SPINDLE_PART_SST: columns of a member */
	SPINDLE_PART_SST,
};

/**
 * struct spindle_attachment_ops - what is different for an attachment to a table
 */
struct spindle_attachment_ops {
	/**
	 * @changed: the rows or the members of the table may have changed; engine. While a view
	 * begins, the attachment may still have the table's former object in @sg
	 */
	void (*changed)(struct spindle_attachment *att, const struct spindle_subgroup *sg);
	/** @signalled: predicates have signalled; engine */
	void (*signalled)(struct spindle_attachment *att);
	/** @flushed: a flush has ended; engine */
	void (*flushed)(struct spindle_attachment *att, u64 flush);
	/** @refreshed: a refresh has ended, in a table of mode read; engine */
	void (*refreshed)(struct spindle_attachment *att, u64 refresh);
	/** @detach: the file is released; engine */
	void (*detach)(struct spindle_attachment *att);
	/** @detached: the engine does not know the attachment any more; the namespace's lock */
	void (*detached)(struct spindle_attachment *att);
	/** @freed: the attachment is freed, whether it was detached or cut off; process */
	void (*freed)(struct spindle_attachment *att);
	/** @poll: poll events beside those of the state */
	__poll_t (*poll)(const struct spindle_attachment *att);
};

/* The part of an attachment in the offset of its cookie for mmap(). */
#define SPINDLE_PART_SHIFT	40

/* Distance between the cookies of two instances of a part. */
#define SPINDLE_RANK_STRIDE	BIT_ULL(32)

/**
 * struct spindle_ctl - control page: the kernel writes, the process reads
 */
struct spindle_ctl {
	/** @state: enum spindle_state */
	u32 state;
	/** @error: enum spindle_error */
	u32 error;
	/** @need_wakeup: the engine sleeps */
	u32 need_wakeup;
	/** @pad0: own cache line for what follows */
	u32 pad0[13];
	/** @dlv_tail: entries delivered */
	u64 dlv_tail;
	/** @pad1: own cache line for what follows */
	u64 pad1[7];
	/** @dlv_low: reader of a history: entries below are forgotten */
	u64 dlv_low;
	/** @pad2: own cache line for what follows */
	u64 pad2[7];
	/** @durable: messages below this position are durable; of a subgroup with logs */
	u64 durable;
	/** @lsn: position of the next message; of a subgroup with logs */
	u64 lsn;
	/** @pad3: own cache line for what follows */
	u64 pad3[6];
	/** @tx_slot: slots that are free again */
	u64 tx_slot;
	/** @tx_unit: units that are free again */
	u64 tx_unit;
};

/**
 * struct spindle_usr - user page: the process writes, the kernel trusts none of it
 */
struct spindle_usr {
	/** @consumed: entries consumed */
	u64 consumed;
	/** @pad0: own cache line for what follows */
	u64 pad0[7];
	/** @reserve: next slot and next unit, shared by the threads of the process */
	u64 reserve;
	/** @pad1: own cache line for what follows */
	u64 pad1[7];
	/** @log: of the logger */
	struct spindle_log_words log;
	/** @want: position that the process waits for to be durable; 0: none */
	u64 want;
	/** @pad2: own cache line for what follows */
	u64 pad2[1];
	/** @desc: TX descriptors */
	struct spindle_tx_desc desc[];
};

/**
 * struct spindle_attachment - see above
 */
struct spindle_attachment {
	/** @lock: see above */
	struct mutex lock;	/* cutting off against mmap() */
	/** @sg: the subgroup, or NULL; changed with the namespace's lock and @lock */
	struct spindle_subgroup *sg;
	/** @binding: serializes requests that bind the file */
	struct mutex binding;	/* attached */
	/** @attached: the file is bound; never cleared */
	bool attached;
	/**
	 * @parting: the file is released, but some committed messages are not sent yet; the
	 * subgroup owns the attachment
	 */
	bool parting;
	/** @link: in the subgroup's list; engine context */
	struct list_head link;
	/** @engine: a reference, for kicks */
	struct spindle_engine *engine;
	/** @flags: SPINDLE_ATTACH_*, of the process and of this file */
	u32 flags;
	/** @ops: of an attachment to a table, else NULL; constant once it is bound */
	const struct spindle_attachment_ops *ops;
	/** @preds: predicates of an attachment to a table, or NULL; set by the engine */
	struct spindle_tb_preds *preds;
	/** @ask: number of the refresh that is under way, of a table of mode read; engine */
	u64 ask;
	/** @round: the round of it; 0: none is under way; engine */
	u64 round;
	/** @history: it reads the history of the subgroup */
	bool history;
	/** @maps: what processes have mapped */
	struct spindle_mappings maps;
	/** @wait: pollers */
	wait_queue_head_t wait;
	/** @eventfd: or NULL */
	struct eventfd_ctx *eventfd;
	/** @ctl_pages: control page */
	struct spindle_pages ctl_pages;
	/** @usr_pages: user pages */
	struct spindle_pages usr_pages;
	/** @dlv_pages: delivery ring, own or of a history */
	struct spindle_pages dlv_pages;
	/** @copy_pages: copy ring, own or of a history */
	struct spindle_pages copy_pages;
	/** @ctl: kernel's view of @ctl_pages */
	struct spindle_ctl *ctl;
	/** @usr: kernel's view of @usr_pages */
	struct spindle_usr *usr;
	/** @dlvq: reader's queue */
	struct spindle_dlvq dlvq;
	/** @pid: process that attached, a reference */
	struct pid *pid;
	/** @comm: its name */
	char comm[TASK_COMM_LEN];
	/** @watched: entries consumed when the engine last checked the reader */
	u64 watched;
	/** @has_some: at that check the reader had entries that it had not consumed */
	bool has_some;
	/** @since_ns: since when the reader has consumed no entry, ktime; written by the engine */
	u64 since_ns;
	/**
	 * @lsn: position of the next message at the attach; of a frozen reader: of the first
	 * message that it has not consumed
	 */
	u64 lsn;
	/** @report: what the process says about its replica; the namespace's lock */
	struct spindle_report report;
	/** @report_ns: since when it is in that state, with that donor, ktime */
	u64 report_ns;
	/** @user: user that is charged */
	struct user_struct *user;
	/** @charged: pages charged */
	unsigned long charged;
	/** @tx_units_max: units of the largest message */
	u32 tx_units_max;
	/** @window: slots */
	u32 window;
	/** @ring_units: units of the TX ring */
	u32 ring_units;
};

struct spindle_attachment *spindle_attachment_alloc(struct file *file);
int spindle_attachment_prepare(struct spindle_attachment *att, s32 event_fd, unsigned long pages);
void spindle_attachment_undo(struct spindle_attachment *att);
struct spindle_subgroup *spindle_attachment_find(const struct spindle_net *sn, u32 id,
						 u32 subgroup, const char *name);
void spindle_attachment_publish(struct spindle_attachment *att, struct spindle_subgroup *sg);
struct spindle_section spindle_attachment_section(enum spindle_part part, u64 bytes);
struct spindle_net *spindle_attachment_lock(struct spindle_attachment *att);
void spindle_attachment_free(struct spindle_attachment *att);
int spindle_attachment_silence(struct spindle_attachment *att, u64 rounds);
int spindle_attachment_report(struct spindle_attachment *att, const struct spindle_report *report);
int spindle_attachment_bind(struct spindle_attachment *att, struct spindle_net *sn,
			    const char *name, struct spindle_attach *args);
void spindle_attachment_part(struct spindle_subgroup *sg);
void spindle_attachment_cut(struct spindle_attachment *att);
void spindle_attachment_forget(const struct spindle_installed *inst,
			       const struct spindle_pages *mem);
void spindle_attachment_move(struct spindle_attachment *att, struct spindle_subgroup *sg);
int spindle_attachment_mmap(struct spindle_attachment *att, struct vm_area_struct *vma);
__poll_t spindle_attachment_poll(struct spindle_attachment *att);

u64 spindle_attachment_lsn(const struct spindle_attachment *att,
			   const struct spindle_subgroup *sg);

/**
 * spindle_attachment_wanted() - does the process wait for a position that is durable?
 * @att: an attachment that is bound
 * @durable: the durable position
 *
 * Context: any.
 * Return: true if so
 */
static inline bool spindle_attachment_wanted(const struct spindle_attachment *att, u64 durable)
{
	u64 want = READ_ONCE(att->usr->want);

	return want && want <= durable;
}

/* engine context */
void spindle_attachment_state(struct spindle_attachment *att, u32 state, u32 error);
void spindle_attachment_notify(struct spindle_attachment *att, __poll_t events);

#endif /* SPINDLE_NODE_ATTACHMENT_H */
