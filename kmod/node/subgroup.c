// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subgroups: a multicast of core/, with its memory, its state and its attachments.
 * See subgroup.h.
 */
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/slab.h>

#include "above.h"
#include "attachment.h"
#include "base/engine.h"
#include "base/states.h"
#include "base/trace.h"
#include "core/group/stream.h"
#include "event.h"
#include "fetch.h"
#include "history.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"
#include "table.h"

/* Change the state; no other function does. Returns false if the change is not legal. */
static bool change_state(struct spindle_subgroup *sg, u32 to)
{
	static const u8 from[] = {
		/* A live view has too few members now. */
		[SPINDLE_STATE_FORMING] = BIT(SPINDLE_STATE_ACTIVE),
		/* A failed subgroup never works again, because its members may differ by then. */
		[SPINDLE_STATE_ACTIVE] = BIT(SPINDLE_STATE_FORMING),
		/* Only attachments freeze. A subgroup goes on without them. */
		[SPINDLE_STATE_FROZEN] = 0,
		/* The first failure is the one that is reported. */
		[SPINDLE_STATE_FAILED] = BIT(SPINDLE_STATE_FORMING) | BIT(SPINDLE_STATE_ACTIVE),
		/* A view that is removed ends failed subgroups, too. */
		[SPINDLE_STATE_GONE] = BIT(SPINDLE_STATE_FORMING) | BIT(SPINDLE_STATE_ACTIVE) |
				       BIT(SPINDLE_STATE_FAILED),
	};

	if (!spindle_may(from, sg->state, to))
		return false;
	WRITE_ONCE(sg->state, to);
	return true;
}

static void say(const struct spindle_subgroup *sg, enum spindle_event_kind event, u32 error,
		const char *reason)
{
	spindle_event(sg->inst->node, event, &(struct spindle_event_info){
		.vid = sg->inst->view.vid,
		.subgroup = sg->cfg,
		.error = error,
		.reason = reason,
	});
}

/* Show the attachments the state. */
static void tell(struct spindle_subgroup *sg, u32 error)
{
	struct spindle_attachment *att;

	spindle_engine_assert(sg->inst->node->engine);
	list_for_each_entry(att, &sg->attachments, link)
		spindle_attachment_state(att, sg->state, error);
}

/* If the last message of a parting sender is sent, let the chore free the attachment. */
static void look_for_parted(struct spindle_subgroup *sg)
{
	if (sg->mc.events & SPINDLE_MC_PARTED)
		spindle_chore_queue(&sg->part, 0);
	sg->mc.events &= ~SPINDLE_MC_PARTED;
}

/**
 * spindle_subgroup_end() - end a subgroup for good
 * @sg: the subgroup
 * @state: SPINDLE_STATE_FAILED or SPINDLE_STATE_GONE
 * @error: enum spindle_error
 * @reason: for people, or NULL
 */
void spindle_subgroup_end(struct spindle_subgroup *sg, u32 state, u32 error,
			  const char *reason)
{
	spindle_engine_assert(sg->inst->node->engine);
	if (!change_state(sg, state))
		return;
	spindle_mc_end(&sg->mc);
	if (sg->streams)
		spindle_streams_stop(sg->streams);
	if (sg->table && sg->table->fetches)
		spindle_fetches_end(sg->table->fetches);
	look_for_parted(sg);
	if (!sg->error)
		WRITE_ONCE(sg->error, error);
	tell(sg, error);
	if (state == SPINDLE_STATE_FAILED)
		say(sg, SPINDLE_EVENT_SUBGROUP_FAILED, error, reason);
}

/* ---- engine ----------------------------------------------------------- */

/**
 * spindle_subgroup_formed() - all members are connected: become ACTIVE, if there are enough
 * @sg: the subgroup
 */
void spindle_subgroup_formed(struct spindle_subgroup *sg)
{
	spindle_engine_assert(sg->inst->node->engine);
	if (sg->mc.lacking || !change_state(sg, SPINDLE_STATE_ACTIVE))
		return;
	tell(sg, SPINDLE_ERR_NONE);
	say(sg, SPINDLE_EVENT_SUBGROUP_ACTIVE, SPINDLE_ERR_NONE, NULL);
}

/* The protocol has gone on already. */
static void follow_table(struct spindle_subgroup *sg, struct spindle_subgroup *before)
{
	struct spindle_table *table = sg->table, *old = before->table;

	table->writer = old->writer;
	table->files = old->files;
	table->generation = old->generation;
	table->counted = old->counted;
	table->signalled = old->signalled;
	table->flushed = old->flushed;
	if (!table->fetches)
		return;
	swap(table->fetches, old->fetches);
	spindle_fetches_follow(table->fetches, sg);
	/* The other ones have never had a fetch, and go with the former object. */
	spindle_fetches_follow(old->fetches, before);
}

/**
 * spindle_subgroup_follow() - take over the state of the subgroup in the former view
 * @sg: the subgroup in the next view, with its attachments
 * @old: its object in the former view
 *
 * Too few members in the next view make it FORMING, unless it has failed. A failed subgroup stays
 * failed. Its multicast runs in the next view, so that it holds up no other member.
 *
 * Context: engine.
 */
void spindle_subgroup_follow(struct spindle_subgroup *sg, struct spindle_subgroup *old)
{
	spindle_engine_assert(sg->inst->node->engine);
	WRITE_ONCE(sg->state, old->state);
	WRITE_ONCE(sg->error, old->error);
	if (sg->table)
		follow_table(sg, old);
	if (sg->mc.lacking && change_state(sg, SPINDLE_STATE_FORMING))
		tell(sg, SPINDLE_ERR_NONE);
}

/* Stop both halves of an attachment, reader and sender, so that the view does not wait for it. */
static void freeze(struct spindle_subgroup *sg, struct spindle_attachment *att,
		   enum spindle_event_kind event, u32 error, const char *reason)
{
	if (att->flags & SPINDLE_ATTACH_RECV)
		WRITE_ONCE(att->lsn, spindle_attachment_lsn(att, sg));
	if ((att->flags & SPINDLE_ATTACH_RECV) && !att->dlvq.error)
		att->dlvq.error = error;
	if ((att->flags & SPINDLE_ATTACH_SEND) && !sg->mc.send.txq.error)
		sg->mc.send.txq.error = error;
	sg->mc.deliver.settle = true;
	sg->mc.deliver.blocked = false;
	trace_spindle_ring_error(sg->inst->node->id, sg->cfg->id, error);
	spindle_attachment_state(att, SPINDLE_STATE_FROZEN, error);
	spindle_event(sg->inst->node, event, &(struct spindle_event_info){
		.vid = sg->inst->view.vid,
		.subgroup = sg->cfg,
		.lsn = att->lsn,
		.has_lsn = att->flags & SPINDLE_ATTACH_RECV,
		.error = error,
		.reason = reason,
	});
}

/* Freeze the attachments that broke the rules of their rings or are behind, and no others. */
static void freeze_attachments(struct spindle_subgroup *sg)
{
	struct spindle_attachment *att;

	list_for_each_entry(att, &sg->attachments, link) {
		u32 error = att->dlvq.error;

		if (!error && (att->flags & SPINDLE_ATTACH_SEND))
			error = sg->mc.send.txq.error;
		if (!error && (att->flags & SPINDLE_ATTACH_LOG) && sg->mc.durable->bad)
			error = SPINDLE_ERR_LOG;
		if (!error || att->ctl->state > SPINDLE_STATE_ACTIVE)
			continue;
		if (error == SPINDLE_ERR_BEHIND) {
			spindle_count(&sg->mc.stats.behind, 1);
			freeze(sg, att, SPINDLE_EVENT_READER_BEHIND, error,
			       "the history has forgotten what the process had not consumed");
			continue;
		}
		spindle_count(&sg->mc.stats.frozen, 1);
		freeze(sg, att, SPINDLE_EVENT_RING_ERROR, error,
		       "the process broke the rules of its ring");
	}
}

/* Returns true if the reader has messages and may have to be detached later. */
static bool watch_reader(struct spindle_subgroup *sg, struct spindle_attachment *att)
{
	/* A reader of a history holds up nobody. */
	u32 stall_ms = att->history ? 0 : sg->stall_ms;
	const struct spindle_dlvq *q = &att->dlvq;
	char reason[sizeof(att->comm) + 64];
	u64 now = ktime_get_ns();

	/* The letter that detaches a process ends its role as a reader, before the next pass. */
	WARN_ON_ONCE(att->parting && (att->flags & SPINDLE_ATTACH_RECV));
	if (!(att->flags & SPINDLE_ATTACH_RECV) || q->error)
		return false;
	/* The reader has just consumed something, and the next pass handles that. */
	if (READ_ONCE(*q->consumed_word) != q->consumed) {
		spindle_subgroup_touch(sg);
		spindle_engine_wake(sg->inst->node->engine);
		return true;
	}
	/* Restart the time if the reader has consumed entries, or had none to consume. */
	if (q->consumed != att->watched || !att->has_some || q->consumed == q->tail) {
		att->watched = q->consumed;
		att->has_some = q->consumed != q->tail;
		WRITE_ONCE(att->since_ns, now);
		return stall_ms && att->has_some;
	}
	if (!stall_ms)
		return false;
	if (now - att->since_ns < stall_ms * (u64)NSEC_PER_MSEC)
		return true;
	/*
	 * Use the pid in the namespace of the process: this thread has no pid namespace of its
	 * own, and those of listeners may differ.
	 */
	snprintf(reason, sizeof(reason), "process %d (%s) consumed nothing for %u ms",
		 pid_nr_ns(att->pid, ns_of_pid(att->pid)), att->comm, stall_ms);
	spindle_count(&sg->mc.stats.stalled, 1);
	freeze(sg, att, SPINDLE_EVENT_READER_STALLED, SPINDLE_ERR_STALLED, reason);
	/* The next pass releases the messages that the reader held. */
	spindle_subgroup_touch(sg);
	spindle_engine_wake(sg->inst->node->engine);
	return true;
}

/**
 * spindle_subgroup_watch() - detach readers that do not read, and report a log that stands still
 * @sg: the subgroup
 *
 * Return: true if the caller has to call this again after a while, even without an event
 */
bool spindle_subgroup_watch(struct spindle_subgroup *sg)
{
	struct spindle_attachment *att;
	bool again = false;

	spindle_engine_assert(sg->inst->node->engine);
	/* After the end of a subgroup, readers may take any time to read the rest. */
	if (!spindle_mc_runs(&sg->mc))
		return false;
	list_for_each_entry(att, &sg->attachments, link)
		again |= watch_reader(sg, att);
	if (sg->mc.durable)
		again |= spindle_logging_watch(sg);
	return again;
}

static void members_broke_protocol(struct spindle_subgroup *sg)
{
	struct spindle_installed *inst = sg->inst;
	u64 set;

	for (set = sg->peers; set; set &= set - 1) {
		u32 r = __ffs64(set);

		if (sg->mc.bad & BIT_ULL(spindle_mask_rank(sg->cfg->members, r)))
			spindle_peer_blame(inst->peer[r], SPINDLE_NOT_LEGAL);
	}
}

/* Show all attachments the durable position, which has moved. */
static void show_durable(struct spindle_subgroup *sg)
{
	u64 durable = sg->mc.durable->durable;
	struct spindle_attachment *att;

	list_for_each_entry(att, &sg->attachments, link)
		/* Pairs with the process's load-acquire: what is durable was delivered before. */
		smp_store_release(&att->ctl->durable, durable);
	/* Pairs with the process's barrier between its store of @want and its look at @durable. */
	smp_mb();
	list_for_each_entry(att, &sg->attachments, link)
		if (spindle_attachment_wanted(att, durable))
			spindle_attachment_notify(att, EPOLLPRI);
}

static void handle_events(struct spindle_subgroup *sg)
{
	struct spindle_attachment *att;
	u32 events;

	look_for_parted(sg);
	events = sg->mc.events;
	sg->mc.events = 0;
	if (events & SPINDLE_MC_FROZEN)
		freeze_attachments(sg);
	if (events & SPINDLE_MC_FAILED)
		members_broke_protocol(sg);
	if (events & SPINDLE_MC_DURABLE)
		show_durable(sg);
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
 * spindle_subgroup_changed() - tell the attachments that rows, or members, may have changed
 * @sg: a table
 */
void spindle_subgroup_changed(struct spindle_subgroup *sg)
{
	struct spindle_attachment *att;

	spindle_engine_assert(sg->inst->node->engine);
	sg->table->generation++;
	list_for_each_entry(att, &sg->attachments, link)
		att->ops->changed(att, sg);
}

static void pass_signals(struct spindle_subgroup *sg)
{
	struct spindle_attachment *att;

	list_for_each_entry(att, &sg->attachments, link)
		att->ops->signalled(att);
}

static void pass_flush(struct spindle_subgroup *sg)
{
	struct spindle_attachment *att;

	list_for_each_entry(att, &sg->attachments, link)
		if (att->flags & SPINDLE_ATTACH_OWN)
			att->ops->flushed(att, sg->table->flushed);
}

static void look_at_table(struct spindle_subgroup *sg)
{
	struct spindle_table *table = sg->table;
	u64 changes = table->tb.stats.taken + table->tb.stats.heard;

	if (changes != table->counted) {
		table->counted = changes;
		spindle_subgroup_changed(sg);
	}
	if (table->tb.signals != table->signalled) {
		table->signalled = table->tb.signals;
		pass_signals(sg);
	}
	if (table->tb.flushed != table->flushed) {
		table->flushed = table->tb.flushed;
		pass_flush(sg);
	}
}

/**
 * spindle_subgroup_ran() - finish the visit of a pass
 * @sg: the subgroup
 * @work: there was work
 */
void spindle_subgroup_ran(struct spindle_subgroup *sg, bool work)
{
	spindle_engine_assert(sg->inst->node->engine);
	if (sg->mc.events)
		handle_events(sg);
	if (sg->table)
		look_at_table(sg);
	/* A sleeping engine checks readers in due(), but a busy one never gets there. */
	if (work || sg->stall_ms || sg->mc.durable)
		spindle_subgroup_watch(sg);
}

/* core/ calls this in the middle of a pass if SPINDLE_SW_LATE_POST is off. */
static void post_in_place(struct spindle_mc *mc)
{
	struct spindle_subgroup *sg = container_of(mc, struct spindle_subgroup, mc);
	u64 set;

	for (set = sg->peers; set; set &= set - 1)
		spindle_peer_post(sg->inst->peer[__ffs64(set)], sg->index);
}

/* ---- life ------------------------------------------------------------- */

static void *zalloc(size_t n, size_t size)
{
	return kvcalloc(n, size, GFP_KERNEL_ACCOUNT);
}

static const struct spindle_memory memory = { .zalloc = zalloc, .free = kvfree };

static void part_chore(struct spindle_chore *chore)
{
	spindle_attachment_part(container_of(chore, struct spindle_subgroup, part));
}

/* The installed view, and the peers of a view that may come after it, for row_of(). */
struct rows {
	struct spindle_installed *inst;
	struct spindle_peer *const *peer;
};

static struct spindle_row row_of(void *ctx, u32 rank)
{
	const struct rows *rows = ctx;

	return spindle_peer_row(rows->inst, rows->peer[rank]);
}

static int make_mc(struct spindle_subgroup *sg, const struct spindle_view *view, u32 me,
		   struct spindle_peer *const *peer)
{
	struct spindle_installed *inst = sg->inst;
	const struct spindle_subgroup *old = inst->subgroup[sg->index];
	struct spindle_mc *mc = &sg->mc;

	if (spindle_mc_create(mc, view, sg->index, me, inst->rules,
			      old ? &old->mc : NULL, &memory))
		return -ENOMEM;
	mc->node = inst->node->id;
	mc->post = post_in_place;
	spindle_mc_wire(mc, view, sg->index, row_of, &(struct rows){ inst, peer });
	return 0;
}

/* Note the instances of the members' rows, as find_instance() has them. */
static void note_instances(struct spindle_subgroup *sg, struct spindle_peer *const *peer)
{
	struct spindle_tb *tb = &sg->table->tb;
	u64 members = sg->cfg->members;
	u32 r;

	for (r = 0; r < tb->members; r++, members &= members - 1) {
		const struct spindle_peer *p = peer[__ffs64(members)];

		if (sg->inst->live)
			tb->member[r].instance = p ? p->seat : SPINDLE_SEATS;
		else
			tb->member[r].instance = r;
	}
}

static int make_table(struct spindle_subgroup *sg, const struct spindle_view *view, u32 me,
		      struct spindle_peer *const *peer)
{
	sg->table = zalloc(1, sizeof(*sg->table));
	if (!sg->table || spindle_tb_create(&sg->table->tb, view, sg->index, me, &memory))
		return -ENOMEM;
	spindle_tb_wire(&sg->table->tb, view, sg->index, row_of,
			&(struct rows){ sg->inst, peer });
	note_instances(sg, peer);
	if (!sg->table->tb.read)
		return 0;
	sg->table->fetches = spindle_fetches_create(sg);
	return sg->table->fetches ? 0 : -ENOMEM;
}

static void free_table(struct spindle_table *table)
{
	if (!table)
		return;
	spindle_fetches_destroy(table->fetches);
	spindle_tb_destroy(&table->tb, &memory);
	kvfree(table);
}

/**
 * spindle_subgroup_create() - build a subgroup of this node
 * @inst: the installed view; the own row exists
 * @view: the view of @inst, or the next one
 * @me: own rank in the view
 * @peer: the other members, by rank
 * @index: index of the subgroup in the view
 *
 * Context: process, the namespace's lock.
 * Return: the subgroup, or NULL if there is no memory
 */
struct spindle_subgroup *spindle_subgroup_create(struct spindle_installed *inst,
						 const struct spindle_view *view, u32 me,
						 struct spindle_peer *const *peer, u32 index)
{
	const struct spindle_view_subgroup *cfg = &view->subgroup[index];
	struct spindle_subgroup *sg = kvzalloc(sizeof(*sg), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&inst->node->sn->lock);
	if (!sg)
		return NULL;
	sg->inst = inst;
	sg->cfg = cfg;
	sg->index = index;
	sg->peers = cfg->members & ~BIT_ULL(me);
	INIT_LIST_HEAD(&sg->attachments);
	spindle_chore_init(&sg->part, inst->node->sn, part_chore);
	if (make_mc(sg, view, me, peer) ||
	    (cfg->log && !inst->subgroup[index] && spindle_logging_create(sg)) ||
	    (spindle_view_is_table(cfg) && make_table(sg, view, me, peer)) ||
	    spindle_transfer->create(sg, view)) {
		spindle_subgroup_free(sg);
		return NULL;
	}
	return sg;
}

/**
 * spindle_subgroup_free() - free a subgroup
 * @sg: the subgroup, possibly half built, or NULL. No attachment is left, and the engine does not
 *	use it any more
 */
void spindle_subgroup_free(struct spindle_subgroup *sg)
{
	if (!sg)
		return;
	spindle_chore_cancel(&sg->part);
	spindle_transfer->destroy(sg->large);
	spindle_kept_free(sg->kept);
	free_table(sg->table);
	spindle_mc_destroy(&sg->mc, &memory);
	kvfree(sg);
}

/**
 * spindle_subgroup_tb() - the protocol of a subgroup's table
 * @sg: the subgroup
 *
 * Return: the protocol; NULL if the subgroup has messages
 */
struct spindle_tb *spindle_subgroup_tb(const struct spindle_subgroup *sg)
{
	return sg->table ? &sg->table->tb : NULL;
}

/**
 * spindle_subgroup_row_bytes() - memory of the node's table that a subgroup takes
 * @sg: the subgroup
 *
 * Return: bytes of headers, payload ring and express message of each sender, and of the block and
 * the log block of each member; of a table: of both blocks and the cells of each member, and what
 * reads arrive in
 */
u64 spindle_subgroup_row_bytes(const struct spindle_subgroup *sg)
{
	u64 rings = sg->cfg->ring + (u64)sg->cfg->window * sizeof(struct spindle_hdr) +
		    sizeof(struct spindle_express);

	if (spindle_view_is_table(sg->cfg))
		return sg->mc.members * (sg->cfg->ring + 2 * sizeof(struct spindle_block)) +
		       spindle_fetches_landings(sg->table->fetches);
	return sg->mc.senders * rings +
	       sg->mc.members * (1 + !!sg->mc.durable) * sizeof(struct spindle_block);
}

/* The table, its members, both copies of the guard, and the one of a cell. */
static u64 table_bytes(const struct spindle_table *table)
{
	const struct spindle_tb *tb = &table->tb;

	return sizeof(*table) + tb->members * sizeof(*tb->member) + 3 * (u64)tb->cell +
	       spindle_fetches_bytes(table->fetches);
}

/**
 * spindle_subgroup_private_bytes() - memory of the engine's own state of a subgroup, and history
 * @sg: the subgroup
 *
 * Return: bytes
 */
u64 spindle_subgroup_private_bytes(const struct spindle_subgroup *sg)
{
	return sizeof(*sg) + spindle_mc_bytes(&sg->mc) + spindle_kept_memory(sg->kept) +
	       (sg->table ? table_bytes(sg->table) : 0);
}
