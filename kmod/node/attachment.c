// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments: one open file bound to one subgroup. See attachment.h.
 */
#include <linux/eventfd.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "above.h"
#include "attachment.h"
#include "base/compat.h"
#include "base/engine.h"
#include "base/states.h"
#include "history.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"
#include "table.h"

/**
 * spindle_attachment_alloc() - for a file that was opened
 * @file: the file
 *
 * Return: an attachment that is bound to nothing, or NULL
 */
struct spindle_attachment *spindle_attachment_alloc(struct file *file)
{
	struct spindle_attachment *att = kzalloc(sizeof(*att), GFP_KERNEL_ACCOUNT);

	if (!att)
		return NULL;
	mutex_init(&att->lock);
	mutex_init(&att->binding);
	init_waitqueue_head(&att->wait);
	spindle_mappings_open(&att->maps, file);
	return att;
}

/**
 * spindle_attachment_undo() - free the memory of an attachment
 * @att: the attachment; the engine does not know it, or no longer
 */
void spindle_attachment_undo(struct spindle_attachment *att)
{
	kvfree(att->dlvq.copy_end);
	att->dlvq.copy_end = NULL;
	spindle_pages_free(&att->copy_pages);
	spindle_pages_free(&att->dlv_pages);
	spindle_pages_free(&att->usr_pages);
	spindle_pages_free(&att->ctl_pages);
	if (att->user) {
		spindle_memlock_uncharge(att->user, att->charged);
		free_uid(att->user);
		att->user = NULL;
	}
	if (att->eventfd) {
		eventfd_ctx_put(att->eventfd);
		att->eventfd = NULL;
	}
}

/*
 * Slots that the process reserved and did not commit. The number comes from a word of the
 * process, so a value that cannot be right counts as 0.
 */
static u32 left_behind(const struct spindle_attachment *att, const struct spindle_mc *mc)
{
	u32 slots = (u32)READ_ONCE(att->usr->reserve) - (u32)mc->send.txq.slot;

	return slots <= mc->window ? slots : 0;
}

static void detach_fn(void *ctx)
{
	struct spindle_attachment *att = ctx;
	struct spindle_mc *mc = &att->sg->mc;

	if (att->flags & SPINDLE_ATTACH_SEND) {
		att->parting = !spindle_mc_detach_sender(mc);
		spindle_count(&mc->stats.abandoned, att->parting ? 0 : left_behind(att, mc));
	}
	if (att->flags & SPINDLE_ATTACH_LOG)
		spindle_durable_detach(mc);
	if (att->flags & SPINDLE_ATTACH_RECV) {
		spindle_mc_detach_reader(mc, &att->dlvq);
		/* The end of a logger is not that of a program, and a logger is no program. */
		if (--att->sg->readers == !!att->sg->logging.logger && att->sg->inst->live &&
		    !(att->flags & SPINDLE_ATTACH_LOG))
			spindle_membership->unread(att->sg->inst->live, att->sg->index);
		/* The next pass must not check a parting sender as a reader. */
		att->flags &= ~SPINDLE_ATTACH_RECV;
		att->dlvq.error = SPINDLE_ERR_NONE;
	}
	if (att->ops)
		att->ops->detach(att);
	if (!att->parting)
		list_del(&att->link);
	spindle_subgroup_touch(att->sg);
}

static void unlink_parted_fn(void *ctx)
{
	struct spindle_attachment *att = ctx;

	list_del(&att->link);
}

static void free_all(struct spindle_attachment *att)
{
	if (att->ops)
		att->ops->freed(att);
	spindle_attachment_undo(att);
	if (att->engine)
		spindle_engine_put(att->engine);
	put_pid(att->pid);
	kfree(att);
}

/**
 * spindle_attachment_part() - free a parting sender: all that it had committed is sent
 * @sg: its subgroup
 *
 * Context: process, the namespace's lock.
 */
void spindle_attachment_part(struct spindle_subgroup *sg)
{
	struct spindle_attachment *att = sg->sender;

	lockdep_assert_held(&sg->inst->node->sn->lock);
	/* The end of the view may have freed the sender since this work was scheduled. */
	if (!att || !att->parting)
		return;
	spindle_engine_call(att->engine, unlink_parted_fn, att);
	sg->sender = NULL;
	free_all(att);
}

/**
 * spindle_attachment_lock() - take the lock of the namespace that a file is bound in
 * @att: the attachment
 *
 * The attachment holds its engine, and the engine holds its namespace.
 *
 * Context: process.
 * Return: the namespace, for spindle_net_unlock(); NULL: the file is not bound
 */
struct spindle_net *spindle_attachment_lock(struct spindle_attachment *att)
{
	/* Pairs with the release in spindle_attachment_publish(). */
	struct spindle_engine *engine = smp_load_acquire(&att->engine);

	if (!engine)
		return NULL;
	spindle_net_lock(engine->sn);
	return engine->sn;
}

/**
 * spindle_attachment_free() - the file is released
 * @att: the attachment; no mapping of it is left, because each mapping holds the file
 *
 * The death of a process leads here, too. Messages that it committed are sent, slots that it
 * only reserved are abandoned, and entries that it had not consumed hold up no sender.
 *
 * Context: process.
 */
void spindle_attachment_free(struct spindle_attachment *att)
{
	struct spindle_net *sn = spindle_attachment_lock(att);
	bool parting;

	if (!sn) {
		free_all(att);
		return;
	}
	if (att->sg) {
		spindle_engine_call(att->engine, detach_fn, att);
		if ((att->flags & SPINDLE_ATTACH_SEND) && !att->parting)
			att->sg->sender = NULL;
		if (att->flags & SPINDLE_ATTACH_LOG)
			att->sg->logging.logger = NULL;
		if (att->ops)
			att->ops->detached(att);
	}
	/* If it is parting, spindle_attachment_part() may free it once the lock is released. */
	parting = att->parting;
	spindle_net_unlock(sn);
	if (!parting)
		free_all(att);
}

/* Does the process have entries in its queue that point into rows? */
static bool reads_rows(const struct spindle_attachment *att)
{
	return (att->flags & SPINDLE_ATTACH_RECV) && !(att->flags & SPINDLE_ATTACH_COPY) &&
	       READ_ONCE(att->ctl->dlv_tail) != READ_ONCE(att->usr->consumed);
}

/* The history goes with the subgroup. From now on the pages are there for its readers only. */
static void charge_history(struct spindle_attachment *att)
{
	unsigned long pages = att->dlv_pages.n + att->copy_pages.n;

	spindle_memlock_force(att->user, pages);
	att->charged += pages;
}

/*
 * Detach the mappings from the rows. A process that still reads its last messages keeps the
 * pages of rows that it has mapped, and they are charged to it. The own TX ring is always
 * unmapped, so that the process cannot write a ring that the next sender gets.
 */
static void let_rows_go(struct spindle_attachment *att)
{
	const struct spindle_installed *inst = att->sg->inst;
	const struct spindle_peer *peer;
	bool reads = reads_rows(att);
	u32 i;

	if (att->history)
		charge_history(att);
	spindle_mappings_end(&att->maps, &inst->row.mem, reads);
	if (reads)
		spindle_mappings_keep(&att->maps, &inst->row.mem, att->user);
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++) {
		if (reads)
			spindle_mappings_keep(&att->maps, &peer->row.mem, att->user);
		else
			spindle_mappings_end(&att->maps, &peer->row.mem, false);
	}
}

/**
 * spindle_attachment_forget() - unmap a row in which no reader holds a message
 * @inst: the installed view; its processes then see zeroes instead of the row
 * @mem: the pages of the row
 *
 * Context: process, the namespace's lock.
 */
void spindle_attachment_forget(const struct spindle_installed *inst,
			       const struct spindle_pages *mem)
{
	struct spindle_attachment *att;
	struct spindle_subgroup *sg;
	u32 i;

	lockdep_assert_held(&inst->node->sn->lock);
	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		list_for_each_entry(att, &sg->attachments, link)
			spindle_mappings_end(&att->maps, mem, false);
}

/**
 * spindle_attachment_cut() - cut an attachment off its subgroup, which goes
 * @att: the attachment; the engine no longer runs its subgroup
 *
 * Context: process, the namespace's lock.
 */
void spindle_attachment_cut(struct spindle_attachment *att)
{
	lockdep_assert_held(&att->sg->inst->node->sn->lock);
	mutex_lock(&att->lock);
	list_del(&att->link);
	/* A parting attachment has no file any more, so it has no mappings. */
	if (!att->parting)
		let_rows_go(att);
	att->sg = NULL;
	mutex_unlock(&att->lock);
	if (att->parting)
		free_all(att);
}

/**
 * spindle_attachment_move() - move an attachment to the subgroup's object in the next view
 * @att: the attachment; the engine has moved it already
 * @sg: the subgroup
 *
 * Context: process, the namespace's lock.
 */
void spindle_attachment_move(struct spindle_attachment *att, struct spindle_subgroup *sg)
{
	lockdep_assert_held(&sg->inst->node->sn->lock);
	mutex_lock(&att->lock);
	att->sg = sg;
	mutex_unlock(&att->lock);
}

/* ---- bind ------------------------------------------------------------- */

/* The bytes that an attachment of this kind pins, rounded as the allocations are. */
static u64 usr_bytes(const struct spindle_attachment *att)
{
	u64 desc = att->flags & SPINDLE_ATTACH_SEND ? att->window : 0;

	return PAGE_ALIGN(sizeof(struct spindle_usr) + desc * sizeof(struct spindle_tx_desc));
}

static u64 pinned_bytes(const struct spindle_attachment *att,
			const struct spindle_attach *args)
{
	u64 bytes = PAGE_SIZE + usr_bytes(att);

	if (att->flags & SPINDLE_ATTACH_SEND)
		bytes += args->ring_bytes;
	/* The pages of a history are charged to the process that has set it. */
	if ((att->flags & SPINDLE_ATTACH_RECV) && !att->history)
		bytes += PAGE_ALIGN((u64)args->dlv_entries * sizeof(struct spindle_dlv)) +
			 args->copy_bytes;
	return bytes;
}

static int charge(struct spindle_attachment *att, unsigned long pages)
{
	struct user_struct *user = get_uid(current_user());

	if (spindle_memlock_charge(user, pages)) {
		free_uid(user);
		return -ENOMEM;
	}
	att->user = user;
	att->charged = pages;
	return 0;
}

/**
 * spindle_attachment_prepare() - take the eventfd, and charge the memory of an attachment
 * @att: not bound; spindle_attachment_undo() gives back what this took, also after an error
 * @event_fd: an eventfd of the process, or -1
 * @pages: pages that the attachment will pin
 *
 * Context: process, the namespace's lock.
 * Return: 0, -EBADF, -EINVAL (no eventfd), or -ENOMEM (RLIMIT_MEMLOCK)
 */
int spindle_attachment_prepare(struct spindle_attachment *att, s32 event_fd, unsigned long pages)
{
	int err;

	if (event_fd >= 0) {
		att->eventfd = eventfd_ctx_fdget(event_fd);
		err = PTR_ERR_OR_ZERO(att->eventfd);
		if (err) {
			att->eventfd = NULL;
			return err;
		}
	}
	return charge(att, pages);
}

static int alloc_reader(struct spindle_attachment *att, const struct spindle_kept *kept,
			const struct spindle_attach *args)
{
	struct spindle_dlvq *q = &att->dlvq;

	memset(q, 0, sizeof(*q));
	q->tail_word = &att->ctl->dlv_tail;
	q->consumed_word = &att->usr->consumed;
	if (kept) {
		q->low_word = &att->ctl->dlv_low;
		spindle_pages_share(&att->dlv_pages, &kept->dlv);
		spindle_pages_share(&att->copy_pages, &kept->copy);
		return 0;
	}
	if (spindle_pages_alloc(&att->dlv_pages, (u64)args->dlv_entries *
						 sizeof(struct spindle_dlv)))
		return -ENOMEM;
	q->ring = att->dlv_pages.va;
	q->mask = args->dlv_entries - 1;
	if (!(att->flags & SPINDLE_ATTACH_COPY))
		return 0;
	q->copy_end = kvcalloc(args->dlv_entries, sizeof(*q->copy_end), GFP_KERNEL_ACCOUNT);
	if (!q->copy_end || spindle_pages_alloc(&att->copy_pages, args->copy_bytes))
		return -ENOMEM;
	q->copy = att->copy_pages.va;
	q->copy_units = args->copy_bytes >> SPINDLE_UNIT_SHIFT;
	return 0;
}

static int alloc_memory(struct spindle_attachment *att, const struct spindle_kept *kept,
			const struct spindle_attach *args)
{
	if (spindle_pages_alloc(&att->ctl_pages, sizeof(*att->ctl)) ||
	    spindle_pages_alloc(&att->usr_pages, usr_bytes(att)))
		return -ENOMEM;
	att->ctl = att->ctl_pages.va;
	att->usr = att->usr_pages.va;
	return att->flags & SPINDLE_ATTACH_RECV ? alloc_reader(att, kept, args) : 0;
}

/**
 * spindle_attachment_section() - describe a part of an attachment to its process
 * @part: the part
 * @bytes: its length
 *
 * Return: the section; of a part that there is for each rank, the first one
 */
struct spindle_section spindle_attachment_section(enum spindle_part part, u64 bytes)
{
	return (struct spindle_section){
		.cookie = (u64)part << SPINDLE_PART_SHIFT,
		.len = PAGE_ALIGN(bytes),
	};
}

/* What a process has to know of the logs of a subgroup; NULL: the subgroup has none. */
static u64 log_features(const struct spindle_durable *d)
{
	if (!d)
		return SPINDLE_FEAT_DIRECT;
	return SPINDLE_FEAT_LOG | (d->gate ? SPINDLE_FEAT_GATE : 0) |
	       (d->first ? SPINDLE_FEAT_FIRST : 0);
}

static void describe_config(const struct spindle_subgroup *sg, struct spindle_attach *args)
{
	const struct spindle_mc *mc = &sg->mc;

	args->features = SPINDLE_FEAT_COPY | log_features(mc->durable);
	if (mc->tune.switches & SPINDLE_SW_PACKED)
		args->features |= SPINDLE_FEAT_PACKED;
	if (mc->ordered)
		args->features |= SPINDLE_FEAT_ORDERED;
	if (sg->inst->live)
		args->features |= SPINDLE_FEAT_LIVE;
	args->vid = sg->inst->view.vid;
	args->members = mc->members;
	args->senders = mc->senders;
	args->rank = mc->me;
	args->sender_rank = mc->my_sender;
	args->window = mc->window;
	args->max_msg = sg->cfg->max_msg;
	args->ring_bytes = sg->cfg->ring;
	args->dlv_stride = sizeof(struct spindle_dlv);
	if (!(args->flags & SPINDLE_ATTACH_RECV))
		return;
	args->dlv_entries = mc->deliver.log_mask + 1;
	if (!sg->kept)
		return;
	args->features |= SPINDLE_FEAT_HISTORY;
	if (sg->fill && (args->flags & SPINDLE_ATTACH_SEND) && mc->ordered)
		args->features |= SPINDLE_FEAT_FILL;
	args->dlv_entries = sg->kept->history.q.mask + 1;
}

/* Of a subgroup with logs: where the words of durable messages, and of the logger, are. */
static void describe_logs(const struct spindle_attachment *att,
			  const struct spindle_subgroup *sg, struct spindle_attach *args)
{
	args->ctl_durable = offsetof(struct spindle_ctl, durable);
	args->ctl_lsn = offsetof(struct spindle_ctl, lsn);
	args->usr_want = offsetof(struct spindle_usr, want);
	args->sst_log = spindle_layout_log(sg->inst->view.num_subgroups, sg->index);
	if (att->flags & SPINDLE_ATTACH_LOG)
		args->usr_log = offsetof(struct spindle_usr, log);
}

static void describe_layout(const struct spindle_attachment *att,
			    const struct spindle_subgroup *sg, struct spindle_attach *args)
{
	u32 flags = att->flags;

	args->rx_stride = SPINDLE_RANK_STRIDE;
	args->sst_stride = SPINDLE_RANK_STRIDE;
	args->sst_offset = spindle_layout_block(sg->index);
	args->ctl_state = offsetof(struct spindle_ctl, state);
	args->ctl_error = offsetof(struct spindle_ctl, error);
	args->ctl_need_wakeup = offsetof(struct spindle_ctl, need_wakeup);
	args->ctl_dlv_tail = offsetof(struct spindle_ctl, dlv_tail);
	args->ctl_dlv_low = offsetof(struct spindle_ctl, dlv_low);
	args->ctl_tx_slot = offsetof(struct spindle_ctl, tx_slot);
	args->ctl_tx_unit = offsetof(struct spindle_ctl, tx_unit);
	args->usr_consumed = offsetof(struct spindle_usr, consumed);
	args->usr_reserve = offsetof(struct spindle_usr, reserve);
	args->usr_desc = offsetof(struct spindle_usr, desc);
	if (sg->mc.durable)
		describe_logs(att, sg, args);
	args->ctl = spindle_attachment_section(SPINDLE_PART_CTL, sizeof(struct spindle_ctl));
	args->usr = spindle_attachment_section(SPINDLE_PART_USR, usr_bytes(att));
	args->sst = spindle_attachment_section(SPINDLE_PART_SST, sg->inst->layout.sst);
	if (flags & SPINDLE_ATTACH_SEND)
		args->tx = spindle_attachment_section(SPINDLE_PART_TX, args->ring_bytes);
	if (flags & SPINDLE_ATTACH_RECV)
		args->dlv = spindle_attachment_section(SPINDLE_PART_DLV,
						       (u64)args->dlv_entries *
							       args->dlv_stride);
	if (att->history)
		args->copy_bytes = spindle_kept_bytes(sg->kept);
	if (flags & SPINDLE_ATTACH_COPY)
		args->copy = spindle_attachment_section(SPINDLE_PART_COPY, args->copy_bytes);
	else if (flags & SPINDLE_ATTACH_RECV)
		args->rx = spindle_attachment_section(SPINDLE_PART_RX, args->ring_bytes);
}

/**
 * spindle_attachment_lsn() - position of the next message that the process of a reader consumes
 * @att: a reader
 * @sg: its subgroup
 *
 * Context: engine; or any, for the answer of a moment ago.
 * Return: the position
 */
u64 spindle_attachment_lsn(const struct spindle_attachment *att,
			   const struct spindle_subgroup *sg)
{
	u64 next = READ_ONCE(sg->mc.deliver.lsn);

	if (att->history && !att->dlvq.logger)
		next = spindle_history_next(&sg->kept->history, next);
	return spindle_dlvq_lsn(&att->dlvq, next);
}

/* Where the process wants to begin, and what it knows of the positions. */
struct place {
	u32 from;
	u64 lsn;
	/* Of a logger: all messages below are on disk; 0: those below the first that it reads */
	u64 end;
	struct spindle_lineage lineage;
};

/* A process that comes back compares all with what it has kept. */
static void describe_place(const struct spindle_subgroup *sg, struct spindle_attach *args)
{
	const struct spindle_lineage *lineage = sg->inst->lineage;

	if (!lineage)
		return;
	args->lineage[0] = lineage->word[0];
	args->lineage[1] = lineage->word[1];
	args->era = lineage->era;
}

/*
 * Positions of another lineage, or of another era, say nothing about this subgroup. Nor does one of
 * an unordered subgroup, because each life of a node counts there from 0 on.
 */
static int check_place(const struct spindle_subgroup *sg, const struct place *place)
{
	static const struct spindle_lineage none;

	if (place->from != SPINDLE_FROM_LSN)
		return 0;
	if (!sg->mc.ordered)
		return -EOPNOTSUPP;
	if (!memcmp(&place->lineage, &none, sizeof(none)))
		return 0;
	return spindle_installed_is_of(sg->inst, &place->lineage) ? 0 : -EXDEV;
}

/**
 * spindle_attachment_find() - the subgroup that a process wants to attach to
 * @sn: network namespace
 * @id: id of the node
 * @subgroup: id of the subgroup, without @name
 * @name: its name, or NULL
 *
 * Context: process, the namespace's lock.
 * Return: the subgroup; ERR_PTR(-ENODEV): no such node; ERR_PTR(-ENOENT): it is not in the subgroup
 */
struct spindle_subgroup *spindle_attachment_find(const struct spindle_net *sn, u32 id,
						 u32 subgroup, const char *name)
{
	struct spindle_node *node = spindle_node_find(sn, id);
	struct spindle_subgroup *sg;

	if (!node)
		return ERR_PTR(-ENODEV);
	if (name)
		sg = spindle_installed_find_name(node->inst, name);
	else
		sg = spindle_installed_find(node->inst, subgroup);
	return sg ? : ERR_PTR(-ENOENT);
}

static int check_role(const struct spindle_subgroup *sg, struct spindle_attach *args)
{
	/* The members of a table have no messages. */
	if (sg->table)
		return -EPERM;
	/* A program that does not know (F) would believe what is overwritten. */
	if (sg->kept && (args->flags & SPINDLE_ATTACH_RECV) &&
	    !(args->flags & SPINDLE_ATTACH_HISTORY))
		return -EPROTONOSUPPORT;
	if (READ_ONCE(sg->state) > SPINDLE_STATE_ACTIVE)
		return -ENOTCONN;
	if (args->flags & SPINDLE_ATTACH_SEND) {
		if (sg->mc.my_sender == SPINDLE_NO_RANK)
			return -EPERM;
		if (sg->sender)
			return sg->sender->parting ? -EAGAIN : -EBUSY;
	}
	if (args->flags & SPINDLE_ATTACH_LOG) {
		if (!sg->mc.durable)
			return -EOPNOTSUPP;
		if (sg->logging.logger)
			return -EBUSY;
	}
	/* The engine checks all readers in one pass, so their number must have a limit. */
	if ((args->flags & SPINDLE_ATTACH_RECV) && sg->readers >= SPINDLE_MAX_READERS)
		return -EUSERS;
	if ((args->flags & SPINDLE_ATTACH_COPY) && !sg->kept) {
		if (!args->copy_bytes)
			args->copy_bytes = sg->cfg->ring;
		if (!is_power_of_2(args->copy_bytes) || args->copy_bytes < PAGE_SIZE ||
		    args->copy_bytes < sg->cfg->max_msg || args->copy_bytes > SPINDLE_MAX_RING)
			return -EINVAL;
	}
	return 0;
}

struct attach {
	struct spindle_attachment *att;
	struct spindle_subgroup *sg;
	const struct place *place;
	struct spindle_attach *args;
	int err;
};

/* The view that comes before the next entry of the history. */
static u64 last_vid(const struct spindle_subgroup *sg)
{
	const struct spindle_mc *mc = &sg->mc;

	return mc->deliver.vid_due ? mc->deliver.vid_before : sg->inst->view.vid;
}

/* The cursor of the logger is attached, and begins at @lsn. */
static int attach_logger(struct attach *letter, u64 lsn)
{
	struct spindle_attachment *att = letter->att;
	struct spindle_mc *mc = &letter->sg->mc;
	u64 end = letter->place->end ? : lsn;
	int err = -ERANGE;

	if (end >= lsn && end <= mc->deliver.lsn)
		err = spindle_durable_attach(mc, &att->usr->log, end);

	if (err)
		spindle_mc_detach_reader(mc, &att->dlvq);
	return err;
}

/* Attach a reader to the history. */
static int attach_cursor(struct attach *letter)
{
	struct spindle_mc *mc = &letter->sg->mc;
	const struct spindle_history *h = mc->deliver.history;
	struct spindle_dlvq *cursor = &letter->att->dlvq;
	u64 lsn = letter->place->lsn;
	int err;

	cursor->logger = letter->att->flags & SPINDLE_ATTACH_LOG;
	letter->args->oldest = spindle_history_oldest(h, mc->deliver.lsn);
	if (!cursor->logger)
		letter->args->next = spindle_mc_next(mc);
	if (letter->place->from == SPINDLE_FROM_NOW)
		lsn = letter->args->next;
	else if (letter->place->from == SPINDLE_FROM_OLDEST)
		lsn = min(letter->args->oldest, letter->args->next);
	err = spindle_mc_attach_cursor(mc, cursor, lsn);
	if (!err && cursor->logger)
		err = attach_logger(letter, lsn);
	if (err)
		return err;
	letter->att->usr->consumed = cursor->consumed;
	letter->args->lsn = spindle_attachment_lsn(letter->att, letter->sg);
	letter->args->vid = spindle_history_vid(h, cursor->consumed, last_vid(letter->sg));
	return 0;
}

/* Attach a reader that gets what is delivered from now on. */
static int attach_reader(struct attach *letter)
{
	struct spindle_mc *mc = &letter->sg->mc;
	const struct place *place = letter->place;

	if (place->from == SPINDLE_FROM_LSN && place->lsn != mc->deliver.lsn)
		return place->lsn < mc->deliver.lsn ? -ESTALE : -ERANGE;
	spindle_mc_attach_reader(mc, &letter->att->dlvq);
	return 0;
}

/* Set the words of durable messages. No process maps them yet. */
static void set_durable(struct spindle_attachment *att, struct spindle_mc *mc)
{
	att->ctl->durable = mc->durable->durable;
	att->ctl->lsn = mc->deliver.lsn;
	if (att->flags & SPINDLE_ATTACH_SEND)
		mc->send.txq.lsn_word = &att->ctl->lsn;
}

static void attach_fn(void *ctx)
{
	struct attach *letter = ctx;
	struct spindle_attachment *att = letter->att;
	struct spindle_subgroup *sg = letter->sg;
	struct spindle_mc *mc = &sg->mc;

	if (mc->durable) {
		letter->args->began_vid = mc->durable->vid;
		letter->args->began_lsn = mc->durable->base;
	}
	letter->args->lsn = mc->deliver.lsn;
	letter->args->oldest = mc->deliver.lsn;
	letter->args->next = mc->deliver.lsn;
	if (att->flags & SPINDLE_ATTACH_RECV) {
		letter->err = att->history ? attach_cursor(letter) : attach_reader(letter);
		if (letter->err)
			return;
		att->since_ns = ktime_get_ns();
	}
	att->lsn = letter->args->lsn;
	att->ctl->state = sg->state;
	att->ctl->error = sg->error;
	if (att->flags & SPINDLE_ATTACH_SEND) {
		spindle_mc_attach_sender(mc, att->usr->desc, &att->ctl->tx_slot,
					 &att->ctl->tx_unit);
		att->usr->reserve = (u64)(u32)mc->send.txq.unit << 32 | (u32)mc->send.txq.slot;
	}
	if (mc->durable)
		set_durable(att, mc);
	list_add_tail(&att->link, &sg->attachments);
	spindle_subgroup_touch(sg);
}

static void name_process(struct spindle_attachment *att)
{
	att->pid = get_pid(task_tgid(current));
	get_task_comm(att->comm, current->group_leader);
}

/**
 * spindle_attachment_publish() - let other threads use an attachment that the engine knows
 * @att: complete
 * @sg: its subgroup
 *
 * Context: process, the namespace's lock.
 */
void spindle_attachment_publish(struct spindle_attachment *att, struct spindle_subgroup *sg)
{
	struct spindle_engine *engine = sg->inst->node->engine;

	mutex_lock(&att->lock);
	att->sg = sg;
	att->attached = true;
	mutex_unlock(&att->lock);
	spindle_engine_hold(engine);
	/*
	 * From here on poll() and KICK use the attachment. Pairs with the acquires in
	 * spindle_attachment_lock(), spindle_attachment_poll() and spindle_file_kick().
	 */
	smp_store_release(&att->engine, engine);
}

/*
 * The rest of the bind: everything is checked and allocated. Only the engine knows the range of the
 * history, so this fails if the place is not in it.
 */
static int bind_to(struct spindle_attachment *att, struct spindle_subgroup *sg,
		   const struct place *place, struct spindle_attach *args)
{
	struct attach letter = { .att = att, .sg = sg, .place = place, .args = args };

	name_process(att);
	att->tx_units_max = spindle_units(sg->cfg->max_msg);
	att->ring_units = sg->mc.ring_units;
	spindle_engine_call(sg->inst->node->engine, attach_fn, &letter);
	if (letter.err) {
		put_pid(att->pid);
		att->pid = NULL;
		return letter.err;
	}
	if (att->flags & SPINDLE_ATTACH_SEND)
		sg->sender = att;
	if (att->flags & SPINDLE_ATTACH_LOG)
		sg->logging.logger = att;
	if (att->flags & SPINDLE_ATTACH_RECV)
		sg->readers++;
	spindle_attachment_publish(att, sg);
	return 0;
}

static int check_args(const struct spindle_attach *args)
{
	const u32 known = SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY |
			  SPINDLE_ATTACH_HISTORY | SPINDLE_ATTACH_LOG;
	const u32 logger = SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_HISTORY;
	u32 flags = args->flags;

	if ((flags & ~known) || !(flags & (SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV)) ||
	    args->from > SPINDLE_FROM_LSN || args->resv2 || args->event_fd < -1)
		return -EINVAL;
	if (args->from != SPINDLE_FROM_NOW && !(flags & SPINDLE_ATTACH_RECV))
		return -EINVAL;
	if ((flags & SPINDLE_ATTACH_COPY) && !(flags & SPINDLE_ATTACH_RECV))
		return -EINVAL;
	if ((flags & SPINDLE_ATTACH_LOG) &&
	    ((flags & logger) != logger || args->from == SPINDLE_FROM_NOW))
		return -EINVAL;
	if (!(flags & SPINDLE_ATTACH_COPY) && args->copy_bytes)
		return -EINVAL;
	return 0;
}

/**
 * spindle_attachment_bind() - bind a file to a subgroup
 * @att: not bound
 * @sn: network namespace of the node
 * @name: name of the subgroup, a kernel copy; NULL: @args has its id
 * @args: in and out; a kernel copy
 *
 * Context: process; takes the namespace's lock.
 * Return: 0, or an error as listed in <linux/spindle.h>; -EAGAIN: the former sender is parting,
 * try again soon
 */
int spindle_attachment_bind(struct spindle_attachment *att, struct spindle_net *sn,
			    const char *name, struct spindle_attach *args)
{
	struct place place = {
		.from = args->from,
		.lsn = args->lsn,
		.end = args->next,
		.lineage.word = { args->lineage[0], args->lineage[1] },
		.lineage.era = args->era,
	};
	struct spindle_subgroup *sg;
	int err = check_args(args);

	if (err)
		return err;
	/* All later members are output. Those that do not apply stay zero. */
	memset_after(args, 0, copy_bytes);
	/*
	 * Threads in different namespaces may bind the same file at once, so the lock of the
	 * namespace is not enough.
	 */
	mutex_lock(&att->binding);
	mutex_lock(&sn->lock);
	err = -EISCONN;
	if (att->attached)
		goto out;
	sg = spindle_attachment_find(sn, args->node, args->subgroup, name);
	err = PTR_ERR_OR_ZERO(sg);
	if (!err)
		err = check_role(sg, args);
	if (err)
		goto out;
	args->subgroup = sg->cfg->id;
	describe_place(sg, args);
	err = check_place(sg, &place);
	if (err)
		goto out;
	att->flags = args->flags;
	att->history = sg->kept && (args->flags & SPINDLE_ATTACH_RECV);
	/* A reader of a history is a copying one whose ring is shared. */
	if (att->history)
		att->flags |= SPINDLE_ATTACH_COPY;
	att->window = sg->mc.window;
	describe_config(sg, args);
	args->memlock = pinned_bytes(att, args);
	err = spindle_attachment_prepare(att, args->event_fd, args->memlock >> PAGE_SHIFT);
	if (!err)
		err = alloc_memory(att, sg->kept, args);
	if (!err)
		err = bind_to(att, sg, &place, args);
	if (err) {
		spindle_attachment_undo(att);
		goto out;
	}
	describe_layout(att, sg, args);
out:
	mutex_unlock(&sn->lock);
	mutex_unlock(&att->binding);
	return err;
}

/*
 * Lock the namespace for a request of an attachment with this role, SPINDLE_ATTACH_*. Return: 0
 * with @sn locked, -ENOTCONN or -EPERM
 */
static int lock_for(struct spindle_attachment *att, u32 role, struct spindle_net **sn)
{
	int err = 0;

	*sn = spindle_attachment_lock(att);
	if (!*sn)
		return -ENOTCONN;
	if (!att->sg)
		err = -ENOTCONN;
	else if (!(att->flags & role))
		err = -EPERM;
	if (err)
		spindle_net_unlock(*sn);
	return err;
}

struct silence {
	struct spindle_attachment *att;
	u64 rounds;
	bool ok;
};

static void silence_fn(void *ctx)
{
	struct silence *silence = ctx;
	struct spindle_subgroup *sg = silence->att->sg;

	silence->ok = spindle_mc_silence(&sg->mc, silence->rounds);
	spindle_subgroup_touch(sg);
}

/**
 * spindle_attachment_silence() - the sender will be silent for some rounds
 * @att: the attachment
 * @rounds: how many
 *
 * Context: process; takes the namespace's lock.
 * Return: 0, or an error as listed in <linux/spindle.h>
 */
int spindle_attachment_silence(struct spindle_attachment *att, u64 rounds)
{
	struct silence silence = { .att = att, .rounds = rounds };
	struct spindle_net *sn;
	int err;

	if (rounds > SPINDLE_MAX_ROUNDS)
		return -EINVAL;
	err = lock_for(att, SPINDLE_ATTACH_SEND, &sn);
	if (err)
		return err;
	spindle_engine_call(att->engine, silence_fn, &silence);
	spindle_net_unlock(sn);
	return silence.ok ? 0 : -EINVAL;
}

/**
 * spindle_attachment_report() - keep what a process says about its replica, for SUBGROUP_GET
 * @att: the attachment
 * @report: a private copy of the process's report
 *
 * Context: process; takes the namespace's lock.
 * Return: 0, or an error as listed in <linux/spindle.h>
 */
int spindle_attachment_report(struct spindle_attachment *att, const struct spindle_report *report)
{
	struct spindle_net *sn;
	int err;

	if (report->state > SPINDLE_REPLICA_FAILED || report->resv)
		return -EINVAL;
	err = lock_for(att, SPINDLE_ATTACH_RECV, &sn);
	if (err)
		return err;
	if (att->report.state != report->state || att->report.donor != report->donor)
		att->report_ns = ktime_get_ns();
	att->report = *report;
	spindle_net_unlock(sn);
	return 0;
}

/* ---- engine ----------------------------------------------------------- */

/**
 * spindle_attachment_notify() - wake pollers and signal the eventfd
 * @att: the attachment
 * @events: EPOLL*
 *
 * wq_has_sleeper() has the barrier that pairs with the one of poll_wait().
 */
void spindle_attachment_notify(struct spindle_attachment *att, __poll_t events)
{
	if (wq_has_sleeper(&att->wait))
		wake_up_interruptible_poll(&att->wait, events);
	if (att->eventfd)
		spindle_eventfd_signal(att->eventfd);
}

/**
 * spindle_attachment_state() - show the process a new state
 * @att: the attachment
 * @state: enum spindle_state; ignored if it may not follow the present state. A live subgroup
 *	changes between FORMING and ACTIVE as members come and go; a FROZEN attachment must not
 * @error: enum spindle_error; the first error stays
 *
 * No other function changes ctl.state after the attach.
 */
void spindle_attachment_state(struct spindle_attachment *att, u32 state, u32 error)
{
	static const u8 from[] = {
		/* A frozen attachment stays frozen, because its rings are not believed any more. */
		[SPINDLE_STATE_FORMING] = BIT(SPINDLE_STATE_ACTIVE),
		[SPINDLE_STATE_ACTIVE] = BIT(SPINDLE_STATE_FORMING),
		/* After the end of the subgroup, a broken rule makes no difference. */
		[SPINDLE_STATE_FROZEN] = BIT(SPINDLE_STATE_FORMING) | BIT(SPINDLE_STATE_ACTIVE),
		/* The subgroup ends for frozen attachments, too. */
		[SPINDLE_STATE_FAILED] = BIT(SPINDLE_STATE_FORMING) | BIT(SPINDLE_STATE_ACTIVE) |
					 BIT(SPINDLE_STATE_FROZEN),
		[SPINDLE_STATE_GONE] = BIT(SPINDLE_STATE_FORMING) | BIT(SPINDLE_STATE_ACTIVE) |
				       BIT(SPINDLE_STATE_FROZEN) | BIT(SPINDLE_STATE_FAILED),
	};

	if (!spindle_may(from, att->ctl->state, state))
		return;
	if (!att->ctl->error)
		WRITE_ONCE(att->ctl->error, error);
	/* The error is stored first, because a process that sees the state reads it. */
	smp_store_release(&att->ctl->state, state);
	spindle_attachment_notify(att, state > SPINDLE_STATE_ACTIVE ? EPOLLERR | EPOLLHUP :
								      EPOLLOUT);
}
