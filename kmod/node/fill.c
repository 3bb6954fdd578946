// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fill: a process puts messages in front of a history that were delivered before it began. See
 * fill.h.
 *
 * All that the process says is copied before it is checked. A process can make readers of its node
 * believe any older messages, because no other member vouches for them. So the administrator has to
 * allow it (sg->fill), and only the node's sender may do it.
 */
#include <linux/slab.h>
#include <linux/spindle.h>

#include "attachment.h"
#include "base/engine.h"
#include "base/net.h"
#include "fill.h"
#include "history.h"
#include "installed.h"
#include "node.h"
#include "subgroup.h"

/* A fill on its way to the engine and back. */
struct letter {
	struct spindle_subgroup *sg;
	const struct spindle_older *older;
	u64 before;	/* out: spindle_history_before() ahead of the fill */
	u64 oldest;	/* out: position of the oldest message */
	int err;
};

/**
 * spindle_fill_check() - may the numbers in a request be?
 * @args: a private copy of the request
 *
 * Return: 0 or -EINVAL
 */
int spindle_fill_check(const struct spindle_fill *args)
{
	if (args->resv || !args->members || args->members > SPINDLE_MAX_MEMBERS ||
	    args->count > SPINDLE_MAX_FILL_MSGS || args->bytes > SPINDLE_MAX_FILL)
		return -EINVAL;
	/* Nothing would be put in front. */
	if (!args->count && !args->vid)
		return -EINVAL;
	return !args->vid == !args->before ? 0 : -EINVAL;
}

static bool is_listed(const struct spindle_seat *seat, u32 n, u32 node)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (seat[i].node == node)
			return true;
	return false;
}

/* Check the members that a process names, by their ranks, and count the senders among them. */
static int check_seats(const struct spindle_seat *seat, u32 n, u32 *senders)
{
	u32 i;

	*senders = 0;
	for (i = 0; i < n; i++) {
		if (!seat[i].node || is_listed(seat, i, seat[i].node) || seat[i].rx ||
		    seat[i].sst || seat[i].resv || (seat[i].flags & ~SPINDLE_SEAT_JOINED))
			return -EINVAL;
		if (seat[i].sender_rank == SPINDLE_NO_RANK)
			continue;
		if (seat[i].sender_rank != *senders)
			return -EINVAL;
		++*senders;
	}
	return 0;
}

static void fill_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_mc *mc = &letter->sg->mc;
	struct spindle_history *h = mc->deliver.history;

	letter->before = spindle_history_before(h);
	/* The history begins with the present view, whose entry it does not have yet. */
	if (mc->deliver.vid_due && h->q.tail == h->q.consumed)
		letter->err = -ESTALE;
	else
		letter->err = spindle_history_fill(h, letter->older, mc->deliver.lsn);
	letter->oldest = spindle_history_oldest(h, mc->deliver.lsn);
}

/* Fill the history of an attachment's subgroup. The namespace's lock is held. */
static int fill(struct spindle_attachment *att, struct spindle_fill *args,
		const struct spindle_older *older, u32 senders, struct spindle_former **former)
{
	struct spindle_subgroup *sg = att->sg;
	struct letter letter = { .sg = sg, .older = older };
	const struct spindle_lineage lineage = {
		.word = { args->lineage[0], args->lineage[1] }, .era = args->era,
	};
	const u32 both = SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV;

	if (!sg)
		return -ENOTCONN;
	if (!sg->kept || !sg->fill || (att->flags & both) != both)
		return -EPERM;
	if (!spindle_installed_is_of(sg->inst, &lineage))
		return -EXDEV;
	if (!sg->mc.ordered || !spindle_older_is_valid(older, senders, sg->cfg->max_msg))
		return -EINVAL;
	if (args->vid > sg->inst->view.vid)
		return -ESTALE;
	spindle_engine_call(att->engine, fill_fn, &letter);
	args->lsn = letter.oldest;
	/* The view may be in the history, although there was no room for its messages. */
	if (*former && letter.err != -ESTALE) {
		spindle_former_keep(sg->kept, *former, letter.before);
		*former = NULL;
	}
	return letter.err;
}

/**
 * spindle_fill() - put messages in front of a history
 * @att: the attachment
 * @args: the request, a private copy that was checked; out: @lsn
 * @seat: its members, a private copy
 * @dlv: its messages, a private copy
 * @data: bytes of the messages, a private copy
 *
 * Context: process; takes the namespace's lock.
 * Return: 0, or an error as listed in <linux/spindle.h>
 */
int spindle_fill(struct spindle_attachment *att, struct spindle_fill *args,
		 const struct spindle_seat *seat, const struct spindle_dlv *dlv, const u8 *data)
{
	const struct spindle_older older = {
		.dlv = dlv, .data = data, .bytes = args->bytes, .count = args->count,
		.lsn = args->lsn, .vid = args->vid, .before = args->before,
	};
	struct spindle_former *former = NULL;
	struct spindle_net *sn;
	u32 senders;
	int err;

	err = check_seats(seat, args->members, &senders);
	if (err)
		return err;
	if (args->vid) {
		former = spindle_former_alloc(args->before, seat, args->members);
		if (!former)
			return -ENOMEM;
	}
	sn = spindle_attachment_lock(att);
	err = -ENOTCONN;
	if (sn) {
		err = fill(att, args, &older, senders, &former);
		spindle_net_unlock(sn);
	}
	kfree(former);
	return err;
}
