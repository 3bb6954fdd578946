// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: attributes of the state of a subgroup in replies. See internal.h.
 *
 * Context: the namespace's lock.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "core/multicast/multicast.h"
#include "internal.h"
#include "node/attachment.h"
#include "node/history.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/subgroup.h"
#include "node/table.h"

/* Bytes of a row, and of a reader, in a message about a subgroup. */
#define ROW_BYTES	192
#define READER_BYTES	176

/* Readers of a subgroup in a message at most. */
#define READERS		32

/**
 * spindle_fill_subgroup_bytes() - size of a message about a subgroup
 * @inst: the installed view
 *
 * Return: bytes, at most
 */
u32 spindle_fill_subgroup_bytes(const struct spindle_installed *inst)
{
	const struct spindle_subgroup *sg;
	u32 i, readers = 0;

	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		readers = max(readers, sg->readers);
	return 2 * SPINDLE_FILL_BASE + SPINDLE_FILL_FIELDS +
	       min_t(u32, readers, READERS) * READER_BYTES +
	       inst->view.num_members * (SPINDLE_FILL_NODE + ROW_BYTES);
}

/* Only the engine writes counters. They are read without a lock, so they may differ by a pass. */
static int fill_subgroup_stats(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	const struct spindle_mc *mc = &sg->mc;
	const struct spindle_mc_stats *s = &mc->stats;
	const struct spindle_counter list[] = {
		{ SPINDLE_SUBGROUP_S_SENT, READ_ONCE(s->sent) },
		{ SPINDLE_SUBGROUP_S_SENT_BYTES, READ_ONCE(s->sent_bytes) },
		{ SPINDLE_SUBGROUP_S_NULLS, READ_ONCE(s->nulls) },
		{ SPINDLE_SUBGROUP_S_RECEIVED, READ_ONCE(s->received) },
		{ SPINDLE_SUBGROUP_S_DELIVERED, READ_ONCE(s->delivered) },
		{ SPINDLE_SUBGROUP_S_DELIVERED_BYTES, READ_ONCE(s->delivered_bytes) },
		{ SPINDLE_SUBGROUP_S_DISCARDED, READ_ONCE(s->discarded) },
		{ SPINDLE_SUBGROUP_S_SEND_BATCHES, READ_ONCE(s->send_batches) },
		{ SPINDLE_SUBGROUP_S_RECV_BATCHES, READ_ONCE(s->recv_batches) },
		{ SPINDLE_SUBGROUP_S_DLV_BATCHES, READ_ONCE(s->dlv_batches) },
		{ SPINDLE_SUBGROUP_S_ABANDONED, READ_ONCE(s->abandoned) },
		{ SPINDLE_SUBGROUP_S_FROZEN, READ_ONCE(s->frozen) },
		{ SPINDLE_SUBGROUP_S_STABLE, READ_ONCE(mc->deliver.stable) },
		{ SPINDLE_SUBGROUP_S_ROUND, READ_ONCE(mc->own.word[SPINDLE_COL_SENT]) },
		{ SPINDLE_SUBGROUP_S_ACTIVATIONS, READ_ONCE(s->activations) },
		{ SPINDLE_SUBGROUP_S_VISITS, READ_ONCE(s->visits) },
		{ SPINDLE_SUBGROUP_S_SILENT, READ_ONCE(s->silent) },
		{ SPINDLE_SUBGROUP_S_FREE, READ_ONCE(mc->send.free_slot) },
		{ SPINDLE_SUBGROUP_S_STALLED, READ_ONCE(s->stalled) },
		{ SPINDLE_SUBGROUP_S_BEHIND, READ_ONCE(s->behind) },
		{ SPINDLE_SUBGROUP_S_ROW_BYTES, spindle_subgroup_row_bytes(sg) },
		{ SPINDLE_SUBGROUP_S_PRIVATE_BYTES, spindle_subgroup_private_bytes(sg) },
		{ SPINDLE_SUBGROUP_S_LARGE, READ_ONCE(s->large) },
		{ SPINDLE_SUBGROUP_S_LARGE_BYTES, READ_ONCE(s->large_bytes) },
		{ SPINDLE_SUBGROUP_S_LARGE_AGAIN, READ_ONCE(s->large_again) },
		{ SPINDLE_SUBGROUP_S_LARGE_NOMEM, READ_ONCE(s->large_nomem) },
		{ SPINDLE_SUBGROUP_S_LARGE_WAITING, READ_ONCE(mc->send.held) != SPINDLE_HELD_NONE },
		{ SPINDLE_SUBGROUP_S_DIRECT, READ_ONCE(s->direct) },
	};

	return spindle_fill_nest(skb, SPINDLE_SUBGROUP_A_STATS, SPINDLE_SUBGROUP_S_PAD, list,
			 ARRAY_SIZE(list));
}

/* The same of a table. */
static int fill_table_stats(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	const struct spindle_tb_stats *s = &sg->table->tb.stats;
	const struct spindle_counter list[] = {
		{ SPINDLE_TABLE_S_TAKEN, READ_ONCE(s->taken) },
		{ SPINDLE_TABLE_S_CELLS, READ_ONCE(s->cells) },
		{ SPINDLE_TABLE_S_WRITES, READ_ONCE(s->writes) },
		{ SPINDLE_TABLE_S_BLOCKS, READ_ONCE(s->blocks) },
		{ SPINDLE_TABLE_S_HEARD, READ_ONCE(s->heard) },
		{ SPINDLE_TABLE_S_TORN, READ_ONCE(s->torn) },
		{ SPINDLE_TABLE_S_HALF, READ_ONCE(s->half) },
		{ SPINDLE_TABLE_S_GENERATION, READ_ONCE(sg->table->generation) },
		{ SPINDLE_TABLE_S_ROW_BYTES, spindle_subgroup_row_bytes(sg) },
		{ SPINDLE_TABLE_S_PRIVATE_BYTES, spindle_subgroup_private_bytes(sg) },
		{ SPINDLE_TABLE_S_LOOKS, READ_ONCE(s->looks) },
		{ SPINDLE_TABLE_S_FIRED, READ_ONCE(s->fired) },
		{ SPINDLE_TABLE_S_READS, READ_ONCE(s->reads) },
		{ SPINDLE_TABLE_S_FETCHES, READ_ONCE(s->fetches) },
	};

	return spindle_fill_nest(skb, SPINDLE_SUBGROUP_A_TABLE_STATS, SPINDLE_TABLE_S_PAD, list,
			 ARRAY_SIZE(list));
}

static int fill_log_tune(struct sk_buff *skb, const struct spindle_logging *l)
{
	return nla_put_u32(skb, SPINDLE_TUNE_A_LOG_STALL_MS, l->stall_ms) ? :
	       nla_put_u8(skb, SPINDLE_TUNE_A_ON_LOG_STALL, l->on_stall);
}

static int fill_tune(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	const struct spindle_mc_tune *t = &sg->mc.tune;
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_SUBGROUP_A_TUNE);

	/* Only spindle_netlink_subgroup_set_doit() changes these, with the namespace's lock. */
	if (!nest || nla_put_bitfield32(skb, SPINDLE_TUNE_A_SWITCHES, t->switches,
					SPINDLE_SW_ALL) ||
	    nla_put_u32(skb, SPINDLE_TUNE_A_SEND_BUDGET, t->send_budget) ||
	    nla_put_u32(skb, SPINDLE_TUNE_A_RECV_BUDGET, t->recv_budget) ||
	    nla_put_u32(skb, SPINDLE_TUNE_A_DLV_BUDGET, t->dlv_budget) ||
	    nla_put_u32(skb, SPINDLE_TUNE_A_SILENCE, t->silence) ||
	    nla_put_u32(skb, SPINDLE_TUNE_A_STALL_MS, sg->stall_ms) ||
	    nla_put_u32(skb, SPINDLE_TUNE_A_HISTORY, spindle_kept_bytes(sg->kept)) ||
	    nla_put_u8(skb, SPINDLE_TUNE_A_HISTORY_FILL, sg->fill) ||
	    (sg->large && nla_put_u32(skb, SPINDLE_TUNE_A_LARGE, t->large)) ||
	    (sg->mc.durable && fill_log_tune(skb, &sg->logging)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_hist(struct sk_buff *skb, int type, const u64 hist[SPINDLE_HIST_BUCKETS])
{
	u64 copy[SPINDLE_HIST_BUCKETS];
	u32 i;

	for (i = 0; i < SPINDLE_HIST_BUCKETS; i++)
		copy[i] = READ_ONCE(hist[i]);
	return nla_put(skb, type, sizeof(copy), copy);
}

/* Messages that a reader has not consumed. The process may have written any value. */
static u64 reader_lag(const struct spindle_attachment *att)
{
	const struct spindle_dlvq *q = &att->dlvq;
	u64 lag = READ_ONCE(*q->tail_word) - READ_ONCE(*q->consumed_word);

	return lag <= q->mask + 1ULL ? lag : 0;
}

static enum spindle_reads reads(const struct spindle_attachment *att)
{
	if (att->history)
		return SPINDLE_READS_HISTORY;
	return att->flags & SPINDLE_ATTACH_COPY ? SPINDLE_READS_COPIES : SPINDLE_READS_SLOTS;
}

/* Add what the process of a reader reports about its replica. */
static int put_report(struct sk_buff *skb, const struct spindle_attachment *att)
{
	const struct spindle_report *report = &att->report;
	u64 ms = div_u64(ktime_get_ns() - att->report_ns, NSEC_PER_MSEC);

	if (nla_put_u8(skb, SPINDLE_READER_A_REPLICA, report->state) ||
	    nla_put_u64_64bit(skb, SPINDLE_READER_A_REPLICA_MS, ms, SPINDLE_READER_A_PAD) ||
	    nla_put_u32(skb, SPINDLE_READER_A_DONOR, report->donor) ||
	    nla_put_u64_64bit(skb, SPINDLE_READER_A_RECEIVED, report->received,
			      SPINDLE_READER_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_READER_A_BYTES, report->bytes, SPINDLE_READER_A_PAD) ||
	    nla_put_u32(skb, SPINDLE_READER_A_SERVING, report->serving))
		return -EMSGSIZE;
	return 0;
}

static int fill_reader(struct sk_buff *skb, const struct spindle_attachment *att)
{
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_SUBGROUP_A_READER);
	u64 lag = reader_lag(att), since = READ_ONCE(att->since_ns), now = ktime_get_ns();
	u64 idle = lag && now > since ? div_u64(now - since, NSEC_PER_MSEC) : 0;
	u64 lsn = READ_ONCE(att->dlvq.error) ? READ_ONCE(att->lsn) :
		  spindle_attachment_lsn(att, att->sg);

	if (!nest || nla_put_u32(skb, SPINDLE_READER_A_PID, pid_vnr(att->pid)) ||
	    nla_put_string(skb, SPINDLE_READER_A_COMM, att->comm) ||
	    nla_put_u8(skb, SPINDLE_READER_A_COPY, !!(att->flags & SPINDLE_ATTACH_COPY)) ||
	    nla_put_u8(skb, SPINDLE_READER_A_READS, reads(att)) ||
	    nla_put_u64_64bit(skb, SPINDLE_READER_A_LAG, lag, SPINDLE_READER_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_READER_A_IDLE_MS, idle, SPINDLE_READER_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_READER_A_LSN, lsn, SPINDLE_READER_A_PAD) ||
	    (att->report.state && put_report(skb, att)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * Add readers by decreasing lag, because not all may fit, and slow readers are of most interest.
 * The namespace's lock protects the list of attachments.
 */
static int fill_readers(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	const struct spindle_attachment *att, *last = NULL;
	u64 most = 0;
	u32 n = 1;

	list_for_each_entry(att, &sg->attachments, link) {
		if (!(att->flags & SPINDLE_ATTACH_RECV) || (last && reader_lag(att) <= most))
			continue;
		most = reader_lag(att);
		last = att;
	}
	if (last && fill_reader(skb, last))
		return -EMSGSIZE;
	list_for_each_entry(att, &sg->attachments, link) {
		if (!(att->flags & SPINDLE_ATTACH_RECV) || att == last)
			continue;
		if (++n > READERS)
			break;
		if (fill_reader(skb, att))
			return -EMSGSIZE;
	}
	return 0;
}

/* Add the log block of a member, whose words may be of two versions. */
static int put_log(struct sk_buff *skb, const struct spindle_mc *mc, u32 rank)
{
	const u64 *word = mc->durable->member[rank].word;
	u64 record = READ_ONCE(word[SPINDLE_LOG_COL_RECORD]);
	const struct spindle_counter list[] = {
		{ SPINDLE_ROW_A_PERSISTED, READ_ONCE(word[SPINDLE_LOG_COL_PERSISTED]) },
		{ SPINDLE_ROW_A_LOW, READ_ONCE(word[SPINDLE_LOG_COL_LOW]) },
		{ SPINDLE_ROW_A_SNAPSHOT, READ_ONCE(word[SPINDLE_LOG_COL_SNAPSHOT]) },
		{ SPINDLE_ROW_A_RECORD, record >> SPINDLE_LOG_RECORD_SHIFT },
	};
	bool establish;
	u64 awaited = spindle_durable_waits_for(mc, &establish);

	if (spindle_fill_counters(skb, SPINDLE_ROW_A_PAD, list, ARRAY_SIZE(list)) ||
	    nla_put_u8(skb, SPINDLE_ROW_A_LOG_STATE, record & SPINDLE_LOG_STATE) ||
	    nla_put_u8(skb, SPINDLE_ROW_A_AWAITED, !!(awaited & BIT_ULL(rank))))
		return -EMSGSIZE;
	return 0;
}

static int fill_row(struct sk_buff *skb, const struct spindle_subgroup *sg, u32 id, u32 rank)
{
	const struct spindle_mc *mc = &sg->mc;
	const struct spindle_mc_member *m = &mc->member[rank];
	const u64 *own = rank == mc->me ? mc->own.word : NULL;
	const struct spindle_counter list[] = {
		{ SPINDLE_ROW_A_SENT, READ_ONCE(*(own ? &own[SPINDLE_COL_SENT] : &m->sent)) },
		{ SPINDLE_ROW_A_SLOTS, READ_ONCE(*(own ? &own[SPINDLE_COL_SLOTS] : &m->slots)) },
		{ SPINDLE_ROW_A_RECEIVED,
		  READ_ONCE(*(own ? &own[SPINDLE_COL_RECEIVED] : &m->received)) },
		{ SPINDLE_ROW_A_DELIVERED,
		  READ_ONCE(*(own ? &own[SPINDLE_COL_DELIVERED] : &m->delivered)) },
	};
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_SUBGROUP_A_ROW);

	if (!nest || nla_put_u32(skb, SPINDLE_ROW_A_ID, id) ||
	    spindle_fill_counters(skb, SPINDLE_ROW_A_PAD, list, ARRAY_SIZE(list)) ||
	    (mc->durable && put_log(skb, mc, rank)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_rows(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	const struct spindle_view *view = &sg->inst->view;
	u32 r;

	for (r = 0; r < view->num_members; r++)
		if ((sg->cfg->members & BIT_ULL(r)) &&
		    fill_row(skb, sg, view->member[r].id,
			     spindle_mask_rank(sg->cfg->members, r)))
			return -EMSGSIZE;
	return 0;
}

static int fill_oldest(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	if (!sg->kept)
		return 0;
	return nla_put_u64_64bit(skb, SPINDLE_SUBGROUP_A_OLDEST,
				 spindle_history_oldest(&sg->kept->history,
							READ_ONCE(sg->mc.deliver.lsn)),
				 SPINDLE_SUBGROUP_A_PAD);
}

/* How far the logs are, together. */
static int fill_durable(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	const struct spindle_durable *d = sg->mc.durable;
	u64 since = READ_ONCE(sg->logging.durable_ns), now = ktime_get_ns();
	u64 ms = since && now > since ? div_u64(now - since, NSEC_PER_MSEC) : 0;

	if (!d)
		return 0;
	if (nla_put_u64_64bit(skb, SPINDLE_SUBGROUP_A_DURABLE, READ_ONCE(d->durable),
			      SPINDLE_SUBGROUP_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_SUBGROUP_A_DURABLE_MS, ms, SPINDLE_SUBGROUP_A_PAD) ||
	    nla_put_u8(skb, SPINDLE_SUBGROUP_A_ESTABLISHED, READ_ONCE(d->established)))
		return -EMSGSIZE;
	return 0;
}

/* The attachments of a subgroup with messages, and what only such a subgroup has. */
static int fill_messages(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	if (nla_put_u32(skb, SPINDLE_SUBGROUP_A_READERS, sg->readers) ||
	    nla_put_u8(skb, SPINDLE_SUBGROUP_A_SENDER, !!sg->sender) ||
	    nla_put_u64_64bit(skb, SPINDLE_SUBGROUP_A_LSN, READ_ONCE(sg->mc.deliver.lsn),
			      SPINDLE_SUBGROUP_A_PAD) ||
	    fill_oldest(skb, sg) || fill_durable(skb, sg) || fill_tune(skb, sg) ||
	    fill_subgroup_stats(skb, sg) ||
	    fill_hist(skb, SPINDLE_SUBGROUP_A_SEND_HIST, sg->mc.stats.send_hist) ||
	    fill_hist(skb, SPINDLE_SUBGROUP_A_RECV_HIST, sg->mc.stats.recv_hist) ||
	    fill_hist(skb, SPINDLE_SUBGROUP_A_DLV_HIST, sg->mc.stats.dlv_hist) ||
	    fill_readers(skb, sg) || fill_rows(skb, sg))
		return -EMSGSIZE;
	return 0;
}

/* The attachments and counters of a table. */
static int fill_table(struct sk_buff *skb, const struct spindle_subgroup *sg)
{
	if (nla_put_u32(skb, SPINDLE_SUBGROUP_A_READERS, sg->table->files) ||
	    nla_put_u8(skb, SPINDLE_SUBGROUP_A_SENDER, !!sg->table->writer))
		return -EMSGSIZE;
	return fill_table_stats(skb, sg);
}

/**
 * spindle_fill_subgroup() - add a subgroup with its state and counters
 * @skb: room
 * @node: the node
 * @sg: the subgroup
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_subgroup(struct sk_buff *skb, const struct spindle_node *node,
			  const struct spindle_subgroup *sg)
{
	struct nlattr *nest;

	if (nla_put_u32(skb, SPINDLE_A_NODE_ID, node->id) ||
	    nla_put_u64_64bit(skb, SPINDLE_A_VIEW_ID, node->inst->view.vid, SPINDLE_A_PAD))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SPINDLE_A_SUBGROUP);
	if (!nest || spindle_fill_subgroup_config(skb, &node->inst->view, sg->cfg) ||
	    nla_put_u8(skb, SPINDLE_SUBGROUP_A_STATE, READ_ONCE(sg->state)) ||
	    nla_put_u32(skb, SPINDLE_SUBGROUP_A_ERROR, READ_ONCE(sg->error)) ||
	    (sg->table ? fill_table(skb, sg) : fill_messages(skb, sg)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
