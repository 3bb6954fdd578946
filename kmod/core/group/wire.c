// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wire: arrays of a subgroup, and places in rows. See wire.h.
 */
#include "wire.h"

/*
 * No message is sent in a table. One slot is the least that the multicast can have. The number of
 * cells is no power of two, as a window is.
 */
static void configure_sizes(struct spindle_mc *mc, const struct spindle_view_subgroup *cfg)
{
	bool table = spindle_view_is_table(cfg);

	mc->window = table ? 1 : cfg->window;
	mc->ring_units = table ? 1 : cfg->ring >> SPINDLE_UNIT_SHIFT;
	mc->max_msg = table ? SPINDLE_UNIT : cfg->max_msg;
}

/* Set all but the arrays. */
static void configure(struct spindle_mc *mc, u64 vid, const struct spindle_view_subgroup *cfg,
		      u32 me)
{
	mc->id = cfg->id;
	mc->vid = vid;
	mc->latest = vid;
	mc->members = hweight64(cfg->members);
	mc->senders = hweight64(cfg->senders);
	mc->me = spindle_mask_rank(cfg->members, me);
	mc->my_sender = SPINDLE_NO_RANK;
	configure_sizes(mc, cfg);
	mc->ordered = cfg->mode == SPINDLE_MODE_ORDERED;
	mc->deliver.hold = cfg->hold;
	mc->deliver.lsn = mc->ordered ? cfg->former : 0;
	mc->send.txq.wmask = mc->window - 1;
	mc->send.txq.ring_units = mc->ring_units;
	mc->send.txq.max_msg = mc->max_msg;
}

/* Allocate the logs of a subgroup that has some. Returns false if there is no memory. */
static bool create_durable(struct spindle_mc *mc, const struct spindle_view_subgroup *cfg,
			   const struct spindle_memory *memory)
{
	struct spindle_durable *d;

	if (!cfg->log)
		return true;
	d = memory->zalloc(1, sizeof(*d));
	mc->durable = d;
	if (!d)
		return false;
	spindle_durable_init(d, cfg);
	d->me = mc->me;
	d->member = memory->zalloc(d->members, sizeof(*d->member));
	return d->member;
}

static void destroy_durable(struct spindle_mc *mc, const struct spindle_memory *memory)
{
	if (mc->durable)
		memory->free(mc->durable->member);
	memory->free(mc->durable);
}

/**
 * spindle_mc_create() - allocate what a subgroup takes, and make it ready to be wired
 * @mc: zeroed
 * @view: checked
 * @index: of the subgroup in the view
 * @me: own rank in the view, a member of the subgroup
 * @rules: of a live view, which may give the subgroup too few members; NULL of a static one
 * @old: the same subgroup in the view before, or NULL: what its readers hold has to have a
 *	place in the log
 * @memory: the embedder's allocator
 *
 * Return: 0, or -ENOMEM: spindle_mc_destroy() frees what there is
 */
int spindle_mc_create(struct spindle_mc *mc, const struct spindle_view *view, u32 index, u32 me,
		      const struct spindle_rules *rules, const struct spindle_mc *old,
		      const struct spindle_memory *memory)
{
	u64 entries;

	configure(mc, view->vid, &view->subgroup[index], me);
	mc->lacking = rules && !spindle_rules_enough(rules, view, index);
	entries = spindle_mc_log_entries(mc->senders, mc->window);
	if (old)
		entries = max(entries, old->deliver.log_mask + 1);
	mc->deliver.log_mask = entries - 1;
	mc->member = memory->zalloc(mc->members, sizeof(*mc->member));
	mc->sender = memory->zalloc(mc->senders, sizeof(*mc->sender));
	mc->send.ends = memory->zalloc(mc->window, sizeof(*mc->send.ends));
	mc->deliver.log = memory->zalloc(entries, sizeof(*mc->deliver.log));
	mc->msgs = memory->zalloc((size_t)mc->senders * mc->window, sizeof(*mc->msgs));
	if (!mc->member || !mc->sender || !mc->send.ends || !mc->deliver.log || !mc->msgs ||
	    !create_durable(mc, &view->subgroup[index], memory))
		return -ENOMEM;
	spindle_mc_init(mc);
	return 0;
}

/**
 * spindle_mc_destroy() - free what spindle_mc_create() has allocated
 * @mc: created, or half created; or zeroed
 * @memory: as for spindle_mc_create()
 */
void spindle_mc_destroy(struct spindle_mc *mc, const struct spindle_memory *memory)
{
	destroy_durable(mc, memory);
	memory->free(mc->msgs);
	memory->free(mc->deliver.log);
	memory->free(mc->send.ends);
	memory->free(mc->sender);
	memory->free(mc->member);
}

static void *in_row(const struct spindle_row *row, u64 offset)
{
	return offset == SPINDLE_NO_OFFSET ? NULL : row->base + offset;
}

static void wire_own(struct spindle_mc *mc, u32 index, const struct spindle_row *row)
{
	mc->own.block = in_row(row, spindle_layout_block(index));
	mc->my_sender = mc->member[mc->me].sender;
	mc->own.hdr = row->in->hdr[index];
	mc->own.pay = row->in->pay[index];
	mc->own.hdr_ring = in_row(row, mc->own.hdr);
}

static void wire_remote(struct spindle_mc_member *m, u32 index, const struct spindle_row *row)
{
	m->remote_block = spindle_layout_block(index);
	m->remote_hdr = row->out->hdr[index];
	m->remote_pay = row->out->pay[index];
	m->remote_express = spindle_layout_express(row->out, index);
}

static void wire_sender(struct spindle_mc *mc, u32 index, u32 rank, const struct spindle_row *row)
{
	struct spindle_mc_member *m = &mc->member[rank];
	struct spindle_mc_sender *sd = &mc->sender[m->sender];

	if (row->out && row->vouch)
		m->vouch = &row->vouch[index];
	else if (row->out)
		m->express = in_row(row, spindle_layout_express(row->in, index));
	sd->member = rank;
	sd->walk.ring = in_row(row, row->in->hdr[index]);
	sd->walk.wmask = mc->window - 1;
	sd->walk.max_msg = mc->max_msg;
	/* What is durable is the same at all members. So a subgroup with logs has no masks. */
	sd->walk.unknown = mc->durable ? U64_MAX : ~(U64_MAX >> (64 - mc->members));
	sd->pay = in_row(row, row->in->pay[index]);
	sd->msgs = mc->msgs + (u64)m->sender * mc->window;
}

static void wire_log(struct spindle_durable *d, const struct spindle_view *view, u32 index,
		     u32 rank, const struct spindle_row *row)
{
	u32 r = spindle_mask_rank(view->subgroup[index].members, rank);
	u64 at = spindle_layout_log(view->num_subgroups, index);
	struct spindle_durable_member *m = &d->member[r];

	m->node = view->member[rank].id;
	if (row->out) {
		m->block = in_row(row, at);
		m->remote = at;
	} else {
		d->block = in_row(row, at);
	}
}

static void wire_member(struct spindle_mc *mc, const struct spindle_view_subgroup *cfg, u32 index,
			u32 rank, const struct spindle_row *row)
{
	u32 r = spindle_mask_rank(cfg->members, rank);
	struct spindle_mc_member *m = &mc->member[r];

	m->block = in_row(row, spindle_layout_block(index));
	m->sender = SPINDLE_NO_RANK;
	if (row->out)
		wire_remote(m, index, row);
	if (cfg->senders & BIT_ULL(rank)) {
		m->sender = spindle_mask_rank(cfg->senders, rank);
		wire_sender(mc, index, r, row);
	}
	if (!row->out)
		wire_own(mc, index, row);
}

/**
 * spindle_mc_wire() - set where members of a subgroup write here, and where this node writes there
 * @mc: created
 * @view: as for spindle_mc_create()
 * @index: as for spindle_mc_create()
 * @row: the row of a member of this rank in the view, own or other
 * @ctx: argument of @row
 */
void spindle_mc_wire(struct spindle_mc *mc, const struct spindle_view *view, u32 index,
		     struct spindle_row (*row)(void *ctx, u32 rank), void *ctx)
{
	const struct spindle_view_subgroup *cfg = &view->subgroup[index];
	u64 members;

	for (members = cfg->members; members; members &= members - 1) {
		u32 rank = __ffs64(members);
		struct spindle_row of = row(ctx, rank);

		wire_member(mc, cfg, index, rank, &of);
		if (mc->durable)
			wire_log(mc->durable, view, index, rank, &of);
	}
}

/**
 * spindle_mc_clear() - clear blocks of a row, which begin again
 * @row: the row
 * @n: number of subgroups of the view
 * @subgroups: by index; no write of the old view comes to them any more
 * @messages: those that have messages in the view. The others have none to clear, and in front of
 *	the block of a table may be the bytes of another subgroup
 */
void spindle_mc_clear(const struct spindle_row *row, u32 n, u64 subgroups, u64 messages)
{
	for (; subgroups; subgroups &= subgroups - 1) {
		u32 i = __ffs64(subgroups);

		memset(row->base + spindle_layout_block(i), 0, sizeof(struct spindle_block));
		memset(row->base + spindle_layout_log(n, i), 0, sizeof(struct spindle_block));
		if (row->in->hdr[i] != SPINDLE_NO_OFFSET && (messages & BIT_ULL(i)))
			memset(row->base + spindle_layout_express(row->in, i), 0,
			       sizeof(struct spindle_express));
	}
}

/**
 * spindle_mc_bytes() - memory of the arrays of a subgroup
 * @mc: created
 *
 * Return: bytes
 */
u64 spindle_mc_bytes(const struct spindle_mc *mc)
{
	return (mc->durable ? sizeof(*mc->durable) +
			      mc->members * sizeof(*mc->durable->member) : 0) +
	       mc->members * sizeof(*mc->member) + mc->senders * sizeof(*mc->sender) +
	       mc->window * sizeof(*mc->send.ends) +
	       (mc->deliver.log_mask + 1) * sizeof(*mc->deliver.log) +
	       (u64)mc->senders * mc->window * sizeof(*mc->msgs);
}

/* ---- tables ------------------------------------------------------------- */

/**
 * spindle_tb_create() - allocate what a table takes, and make it ready to be wired
 * @tb: zeroed
 * @view: checked
 * @index: of the table in the view
 * @me: own rank in the view, a member of the table
 * @memory: the embedder's allocator
 *
 * Return: 0, or -ENOMEM: spindle_tb_destroy() frees what there is
 */
int spindle_tb_create(struct spindle_tb *tb, const struct spindle_view *view, u32 index, u32 me,
		      const struct spindle_memory *memory)
{
	const struct spindle_view_subgroup *cfg = &view->subgroup[index];

	tb->members = hweight64(cfg->members);
	tb->me = spindle_mask_rank(cfg->members, me);
	tb->cells = spindle_view_cells(cfg);
	tb->cell = spindle_view_cell(cfg);
	tb->read = spindle_view_is_read(cfg);
	tb->member = memory->zalloc(tb->members, sizeof(*tb->member));
	tb->guard = memory->zalloc(1, tb->cell);
	tb->next = memory->zalloc(1, tb->cell);
	tb->copy = memory->zalloc(1, tb->cell);
	return tb->member && tb->guard && tb->next && tb->copy ? 0 : -ENOMEM;
}

/**
 * spindle_tb_destroy() - free what spindle_tb_create() has allocated
 * @tb: created, or half created; or zeroed
 * @memory: as for spindle_tb_create()
 */
void spindle_tb_destroy(struct spindle_tb *tb, const struct spindle_memory *memory)
{
	memory->free(tb->copy);
	memory->free(tb->next);
	memory->free(tb->guard);
	memory->free(tb->member);
}

/**
 * spindle_tb_wire() - set where members of a table write here, and where this node writes there
 * @tb: created
 * @view: as for spindle_tb_create()
 * @index: as for spindle_tb_create()
 * @row: the row of a member of this rank in the view, own or other
 * @ctx: argument of @row
 */
void spindle_tb_wire(struct spindle_tb *tb, const struct spindle_view *view, u32 index,
		     struct spindle_row (*row)(void *ctx, u32 rank), void *ctx)
{
	u64 members = view->subgroup[index].members;
	struct spindle_tb_member *m = tb->member;

	for (; members; members &= members - 1, m++) {
		struct spindle_row of = row(ctx, __ffs64(members));

		m->node = view->member[__ffs64(members)].id;
		if (!of.out) {
			tb->row = in_row(&of, of.in->pay[index]);
			tb->local = of.in->pay[index];
			continue;
		}
		m->block = in_row(&of, of.in->hdr[index]);
		m->cells = in_row(&of, of.in->pay[index]);
		m->remote_cells = of.out->pay[index];
		m->remote_block = of.out->hdr[index];
		m->vouch = of.vouch ? &of.vouch[index] : NULL;
		m->done = of.done;
	}
}

/**
 * spindle_tb_clear() - clear the cells of tables in a row, because another table was there before
 * @row: the row
 * @view: the view that begins
 * @subgroups: the tables, by index; no write to what was there before comes any more, and no
 *	completion of such a write
 *
 * The number that completions have vouched for is cleared, too. Otherwise it could be that of the
 * first change of the new row, and the guard of that change would count before the other cells.
 */
void spindle_tb_clear(const struct spindle_row *row, const struct spindle_view *view,
		      u64 subgroups)
{
	for (; subgroups; subgroups &= subgroups - 1) {
		u32 i = __ffs64(subgroups);

		if (row->in->pay[i] == SPINDLE_NO_OFFSET)
			continue;
		memset(row->base + row->in->pay[i], 0, view->subgroup[i].ring);
		memset(row->base + row->in->hdr[i], 0, sizeof(struct spindle_block));
		if (row->vouch)
			WRITE_ONCE(row->vouch[i], 0);
	}
}
