// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subgroups: a multicast of core/, with its memory, its state and its attachments.
 * See subgroup.h.
 */
#include <linux/slab.h>

#include "attachment.h"
#include "event.h"
#include "group.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"

/*
 * The one place where the state changes. GONE follows anything, FAILED follows what
 * still works, and nothing comes back. Returns false if the change is not legal.
 */
static bool change_state(struct spindle_subgroup *sg, u32 new)
{
	bool ok = false;

	switch (new) {
	case SPINDLE_STATE_ACTIVE:
		ok = sg->state == SPINDLE_STATE_FORMING;
		break;
	case SPINDLE_STATE_FAILED:
		ok = sg->state < SPINDLE_STATE_FAILED;
		break;
	case SPINDLE_STATE_GONE:
		ok = sg->state != SPINDLE_STATE_GONE;
		break;
	}
	if (ok)
		WRITE_ONCE(sg->state, new);
	return ok;
}

static void tell_attachments(struct spindle_subgroup *sg, u32 error)
{
	struct spindle_attachment *att;

	list_for_each_entry(att, &sg->attachments, link)
		spindle_attachment_state(att, sg->state, error);
}

/**
 * spindle_subgroup_end() - the subgroup stops for good
 * @sg: the subgroup
 * @state: SPINDLE_STATE_FAILED or SPINDLE_STATE_GONE
 * @error: enum spindle_error
 * @reason: for people, or NULL
 */
void spindle_subgroup_end(struct spindle_subgroup *sg, u32 state, u32 error,
			  const char *reason)
{
	struct spindle_event_info info = {
		.vid = sg->group->view.vid,
		.subgroup = sg->cfg->id,
		.has_subgroup = true,
		.error = error,
		.reason = reason,
	};

	if (!change_state(sg, state))
		return;
	sg->mc.active = false;
	if (!sg->error)
		WRITE_ONCE(sg->error, error);
	tell_attachments(sg, error);
	if (state == SPINDLE_STATE_FAILED)
		spindle_event(sg->group->node, SPINDLE_EVENT_SUBGROUP_FAILED, &info);
}

/* ---- engine ----------------------------------------------------------- */

static bool activate_test(void *ctx)
{
	const struct spindle_subgroup *sg = ctx;

	return sg->state == SPINDLE_STATE_FORMING && !(sg->peers & ~sg->group->joined);
}

static void activate_trigger(void *ctx)
{
	struct spindle_subgroup *sg = ctx;
	struct spindle_event_info info = {
		.vid = sg->group->view.vid,
		.subgroup = sg->cfg->id,
		.has_subgroup = true,
	};

	if (!change_state(sg, SPINDLE_STATE_ACTIVE))
		return;
	sg->mc.active = true;
	tell_attachments(sg, SPINDLE_ERR_NONE);
	spindle_event(sg->group->node, SPINDLE_EVENT_SUBGROUP_ACTIVE, &info);
}

/* A ring's rules were broken: freeze that attachment, and only that. */
static void freeze_attachments(struct spindle_subgroup *sg)
{
	struct spindle_attachment *att;

	list_for_each_entry(att, &sg->attachments, link) {
		struct spindle_event_info info = {
			.vid = sg->group->view.vid,
			.subgroup = sg->cfg->id,
			.has_subgroup = true,
			.reason = "the process broke the rules of its ring",
		};

		if (att->dlvq.error)
			info.error = att->dlvq.error;
		else if ((att->flags & SPINDLE_ATTACH_SEND) && sg->mc.txq.error)
			info.error = sg->mc.txq.error;
		if (!info.error || att->ctl->state == SPINDLE_STATE_FROZEN)
			continue;
		spindle_count(&sg->mc.stats.frozen, 1);
		/* Neither of its two halves goes on. */
		if ((att->flags & SPINDLE_ATTACH_RECV) && !att->dlvq.error)
			att->dlvq.error = info.error;
		if ((att->flags & SPINDLE_ATTACH_SEND) && !sg->mc.txq.error)
			sg->mc.txq.error = info.error;
		sg->mc.settle = true;
		sg->mc.blocked = false;
		spindle_attachment_state(att, SPINDLE_STATE_FROZEN, info.error);
		spindle_event(sg->group->node, SPINDLE_EVENT_RING_ERROR, &info);
	}
}

static void member_broke_protocol(struct spindle_subgroup *sg)
{
	struct spindle_group *group = sg->group;
	u32 r;

	for (r = 0; r < group->view.num_members; r++)
		if ((sg->cfg->members & BIT_ULL(r)) &&
		    spindle_mask_rank(sg->cfg->members, r) == sg->mc.bad_member)
			break;
	spindle_peer_blame(group->peer[r]);
}

static void handle_events(struct spindle_subgroup *sg)
{
	u32 events = sg->mc.events;
	struct spindle_attachment *att;

	sg->mc.events = 0;
	if (events & SPINDLE_MC_FROZEN)
		freeze_attachments(sg);
	if (events & SPINDLE_MC_FAILED)
		member_broke_protocol(sg);
	if (!(events & (SPINDLE_MC_DELIVERED | SPINDLE_MC_FREED)))
		return;
	list_for_each_entry(att, &sg->attachments, link) {
		if ((events & SPINDLE_MC_DELIVERED) && (att->flags & SPINDLE_ATTACH_RECV))
			spindle_attachment_notify(att, EPOLLIN | EPOLLRDNORM);
		if ((events & SPINDLE_MC_FREED) && (att->flags & SPINDLE_ATTACH_SEND))
			spindle_attachment_notify(att, EPOLLOUT | EPOLLWRNORM);
	}
}

/**
 * spindle_subgroup_pass() - one pass of the engine
 * @sg: the subgroup
 *
 * Return: true if there was work
 */
bool spindle_subgroup_pass(struct spindle_subgroup *sg)
{
	bool work = spindle_preds_run(&sg->preds);

	work |= spindle_mc_run(&sg->mc);
	if (sg->mc.events)
		handle_events(sg);
	return work;
}

/* ---- life ------------------------------------------------------------- */

static void *in_row(const struct spindle_region *row, u64 offset)
{
	return offset == SPINDLE_NO_OFFSET ? NULL : row->mem.va + offset;
}

/* Wire member and sender of one rank to the row that it writes. */
static void wire_member(struct spindle_subgroup *sg, u32 view_rank, u32 rank)
{
	struct spindle_group *group = sg->group;
	struct spindle_peer *peer = group->peer[view_rank];
	const struct spindle_region *row = peer ? &peer->row : &group->row;
	const struct spindle_layout *lo = peer ? &peer->in : &group->layout;
	struct spindle_mc *mc = &sg->mc;
	struct spindle_mc_member *m = &mc->member[rank];
	struct spindle_mc_sender *sd;

	m->block = in_row(row, spindle_layout_block(sg->index));
	m->sender = SPINDLE_NO_RANK;
	if (peer) {
		m->remote_block = spindle_layout_block(sg->index);
		m->remote_hdr = peer->out.hdr[sg->index];
		m->remote_pay = peer->out.pay[sg->index];
	}
	if (!(sg->cfg->senders & BIT_ULL(view_rank)))
		return;
	if (peer && group->node->imm)
		m->vouch = &peer->vouch[sg->index];
	m->sender = spindle_mask_rank(sg->cfg->senders, view_rank);
	sd = &mc->sender[m->sender];
	sd->member = rank;
	sd->walk.ring = in_row(row, lo->hdr[sg->index]);
	sd->walk.wmask = mc->window - 1;
	sd->walk.max_msg = sg->cfg->max_msg;
	sd->pay = in_row(row, lo->pay[sg->index]);
	sd->msgs = sg->msgs + (u64)m->sender * mc->window;
}

static void wire_own(struct spindle_subgroup *sg)
{
	struct spindle_group *group = sg->group;
	struct spindle_mc *mc = &sg->mc;

	mc->block = in_row(&group->row, spindle_layout_block(sg->index));
	mc->my_sender = mc->member[mc->me].sender;
	mc->own_hdr = group->layout.hdr[sg->index];
	mc->own_pay = group->layout.pay[sg->index];
	mc->own_hdr_ring = in_row(&group->row, mc->own_hdr);
	mc->txq.wmask = mc->window - 1;
	mc->txq.ring_units = mc->ring_units;
	mc->txq.max_msg = sg->cfg->max_msg;
}

static int alloc_arrays(struct spindle_subgroup *sg)
{
	struct spindle_mc *mc = &sg->mc;
	u64 entries = spindle_mc_log_entries(mc->senders, mc->window);

	mc->log_mask = entries - 1;
	mc->member = kvcalloc(mc->members, sizeof(*mc->member), GFP_KERNEL_ACCOUNT);
	mc->sender = kvcalloc(mc->senders, sizeof(*mc->sender), GFP_KERNEL_ACCOUNT);
	mc->ends = kvcalloc(mc->window, sizeof(*mc->ends), GFP_KERNEL_ACCOUNT);
	mc->log = kvcalloc(entries, sizeof(*mc->log), GFP_KERNEL_ACCOUNT);
	sg->msgs = kvcalloc((size_t)mc->senders * mc->window, sizeof(*sg->msgs),
			    GFP_KERNEL_ACCOUNT);
	if (!mc->member || !mc->sender || !mc->ends || !mc->log || !sg->msgs)
		return -ENOMEM;
	return 0;
}

/**
 * spindle_subgroup_create() - build a subgroup that this node is a member of
 * @group: its group; own row and peers exist
 * @index: its index in the view
 *
 * Context: process, spindle_mutex.
 * Return: the subgroup, or NULL for want of memory
 */
struct spindle_subgroup *spindle_subgroup_create(struct spindle_group *group, u32 index)
{
	const struct spindle_view_subgroup *cfg = &group->view.subgroup[index];
	struct spindle_subgroup *sg = kvzalloc(sizeof(*sg), GFP_KERNEL_ACCOUNT);
	struct spindle_mc *mc;
	u32 r;

	if (!sg)
		return NULL;
	sg->group = group;
	sg->cfg = cfg;
	sg->index = index;
	sg->peers = cfg->members & ~BIT_ULL(group->me);
	INIT_LIST_HEAD(&sg->attachments);
	mc = &sg->mc;
	mc->members = hweight64(cfg->members);
	mc->senders = hweight64(cfg->senders);
	mc->me = spindle_mask_rank(cfg->members, group->me);
	mc->window = cfg->window;
	mc->ring_units = cfg->ring >> SPINDLE_UNIT_SHIFT;
	mc->ordered = cfg->mode == SPINDLE_MODE_ORDERED;
	mc->hold = cfg->hold;
	if (alloc_arrays(sg)) {
		spindle_subgroup_free(sg);
		return NULL;
	}
	for (r = 0; r < group->view.num_members; r++)
		if (cfg->members & BIT_ULL(r))
			wire_member(sg, r, spindle_mask_rank(cfg->members, r));
	wire_own(sg);
	spindle_mc_init(mc);
	sg->activate.test = activate_test;
	sg->activate.trigger = activate_trigger;
	sg->activate.ctx = sg;
	sg->activate.kind = SPINDLE_PRED_ONCE;
	spindle_pred_add(&sg->preds, &sg->activate);
	return sg;
}

/**
 * spindle_subgroup_free() - the mirror; the engine does not know it any more
 * @sg: the subgroup, possibly half built, or NULL; no attachment is left
 */
void spindle_subgroup_free(struct spindle_subgroup *sg)
{
	if (!sg)
		return;
	kvfree(sg->msgs);
	kvfree(sg->mc.log);
	kvfree(sg->mc.ends);
	kvfree(sg->mc.sender);
	kvfree(sg->mc.member);
	kvfree(sg);
}
