// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables: a subgroup's table, and the files that are attached to it. See table.h.
 */
#include <linux/eventfd.h>
#include <linux/slab.h>
#include <linux/spindle_table.h>

#include "base/engine.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"
#include "table.h"

/* ---- engine ----------------------------------------------------------- */

/* Show which guards a process may believe. */
static void show_vouched(const struct spindle_subgroup *sg, struct spindle_table_ctl *ctl)
{
	const struct spindle_tb *tb = &sg->table->tb;
	u32 r;

	for (r = 0; r < tb->members; r++) {
		u64 guard = r == tb->me ? U64_MAX : tb->member[r].guard;

		/* Pairs with the reader's load-acquire: the other cells are visible. */
		smp_store_release(&ctl->vouched[tb->member[r].instance], guard);
	}
}

static void show(const struct spindle_subgroup *sg, struct spindle_attachment *att)
{
	struct spindle_table_ctl *ctl = spindle_table_ctl(att);

	if (sg->inst->node->imm)
		show_vouched(sg, ctl);
	/* Pairs with the load-acquire of a process, which then looks at rows and @vouched. */
	smp_store_release(&ctl->generation, sg->table->generation);
}

static void changed(struct spindle_attachment *att, const struct spindle_subgroup *sg)
{
	show(sg, att);
	if (!(att->flags & SPINDLE_ATTACH_SIGNALS))
		spindle_attachment_notify(att, EPOLLIN | EPOLLRDNORM);
}

/* Show the signals of the predicates that have fired. */
static void signalled(struct spindle_attachment *att)
{
	struct spindle_table_ctl *ctl = spindle_table_ctl(att);
	u64 signals = ctl->signals;
	u32 id;

	for (id = 0; att->preds && id < SPINDLE_MAX_PREDICATES; id++) {
		const struct spindle_tb_pred *pred = att->preds->pred[id];

		if (!pred || pred->signals == ctl->fired[id])
			continue;
		signals += pred->signals - ctl->fired[id];
		WRITE_ONCE(ctl->fired[id], pred->signals);
	}
	if (signals == ctl->signals)
		return;
	/* Pairs with the load-acquire of a process, which then looks at @fired and at rows. */
	smp_store_release(&ctl->signals, signals);
	spindle_attachment_notify(att, EPOLLPRI);
}

static void flushed(struct spindle_attachment *att, u64 flush)
{
	/* Pairs with the load-acquire of a process: the other members have what it has marked. */
	smp_store_release(&spindle_table_ctl(att)->flushed, flush);
	spindle_attachment_notify(att, EPOLLOUT | EPOLLWRNORM);
}

static void refreshed(struct spindle_attachment *att, u64 refresh)
{
	/* Pairs with the load-acquire of a process, which then looks at rows. */
	smp_store_release(&spindle_table_ctl(att)->refreshed, refresh);
	spindle_attachment_notify(att, EPOLLRDBAND);
}

/* What the process has marked is pushed, as committed messages are sent. */
static void detach(struct spindle_attachment *att)
{
	u32 id;

	spindle_engine_assert(att->engine);
	for (id = 0; att->preds && id < SPINDLE_MAX_PREDICATES; id++)
		if (att->preds->pred[id])
			kfree(spindle_tb_pred_remove(att->preds, id));
	if (att->flags & SPINDLE_ATTACH_OWN)
		spindle_tb_detach(&att->sg->table->tb);
}

struct attach {
	struct spindle_attachment *att;
	struct spindle_subgroup *sg;
};

static void begin_row(struct spindle_table *table, struct spindle_table_usr *usr)
{
	spindle_tb_attach(&table->tb, usr->dirty, &usr->flush, usr->skip);
	spindle_tb_adopt(&table->tb);
	table->flushed = table->tb.flushed;
}

static void attach_fn(void *ctx)
{
	struct attach *letter = ctx;
	struct spindle_attachment *att = letter->att;
	struct spindle_subgroup *sg = letter->sg;

	att->ctl->state = sg->state;
	att->ctl->error = sg->error;
	if (att->flags & SPINDLE_ATTACH_OWN)
		begin_row(sg->table, spindle_table_usr(att));
	show(sg, att);
	list_add_tail(&att->link, &sg->attachments);
	spindle_subgroup_touch(sg);
}

static void detached(struct spindle_attachment *att)
{
	struct spindle_table *table = att->sg->table;

	lockdep_assert_held(&att->sg->inst->node->sn->lock);
	table->files--;
	if (table->writer == att)
		table->writer = NULL;
}

/* If the table has ended, its engine does not know the predicates, and they are here still. */
static void freed(struct spindle_attachment *att)
{
	u32 id;

	for (id = 0; att->preds && id < SPINDLE_MAX_PREDICATES; id++)
		kfree(att->preds->pred[id]);
	kfree(att->preds);
}

/* Is there a generation that the process has not seen, or a signal; have its requests ended? */
static __poll_t poll(const struct spindle_attachment *att)
{
	const struct spindle_table_ctl *ctl = spindle_table_ctl(att);
	const struct spindle_table_usr *usr = spindle_table_usr(att);
	__poll_t mask = 0;

	if (!(att->flags & SPINDLE_ATTACH_SIGNALS) &&
	    READ_ONCE(ctl->generation) != READ_ONCE(usr->seen))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(ctl->signals) != READ_ONCE(usr->heard))
		mask |= EPOLLPRI;
	if ((att->flags & SPINDLE_ATTACH_OWN) && READ_ONCE(ctl->flushed) == READ_ONCE(usr->flush))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (READ_ONCE(ctl->refreshed) == READ_ONCE(usr->refresh))
		mask |= EPOLLRDBAND;
	return mask;
}

static const struct spindle_attachment_ops table_ops = {
	.changed = changed,
	.signalled = signalled,
	.flushed = flushed,
	.refreshed = refreshed,
	.detach = detach,
	.detached = detached,
	.freed = freed,
	.poll = poll,
};

/* ---- bind ------------------------------------------------------------- */

static int check_args(const struct spindle_table_attach *args)
{
	u32 known = SPINDLE_TABLE_WRITE | SPINDLE_TABLE_SIGNALS;

	if ((args->flags & ~known) || args->resv || args->event_fd < -1)
		return -EINVAL;
	return 0;
}

static int check_role(const struct spindle_subgroup *sg, const struct spindle_table_attach *args)
{
	if (!sg->table)
		return -ENOENT;
	if (READ_ONCE(sg->state) > SPINDLE_STATE_ACTIVE)
		return -ENOTCONN;
	if ((args->flags & SPINDLE_TABLE_WRITE) && sg->table->writer)
		return -EBUSY;
	return sg->table->files < SPINDLE_MAX_TABLE_FILES ? 0 : -EUSERS;
}

static int alloc_memory(struct spindle_attachment *att)
{
	if (spindle_pages_alloc(&att->ctl_pages, sizeof(struct spindle_table_ctl)) ||
	    spindle_pages_alloc(&att->usr_pages, sizeof(struct spindle_table_usr)))
		return -ENOMEM;
	att->ctl = att->ctl_pages.va;
	att->usr = att->usr_pages.va;
	return 0;
}

static void describe(const struct spindle_subgroup *sg, struct spindle_table_attach *args)
{
	const struct spindle_installed *inst = sg->inst;
	const struct spindle_tb *tb = &sg->table->tb;

	args->table = sg->cfg->id;
	args->vid = inst->view.vid;
	args->members = tb->members;
	args->rank = tb->me;
	args->cells = tb->cells;
	args->cell = tb->cell;
	args->mode = sg->cfg->mode;
	args->own_instance = tb->member[tb->me].instance;
	args->instances = inst->live ? SPINDLE_TABLE_INSTANCES : tb->members;
	if (inst->node->imm)
		args->features |= SPINDLE_TABLE_FEAT_VOUCH;
	if (!inst->live)
		return;
	args->features |= SPINDLE_TABLE_FEAT_LIVE;
	args->lineage[0] = inst->lineage->word[0];
	args->lineage[1] = inst->lineage->word[1];
	args->era = inst->lineage->era;
}

static void describe_layout(const struct spindle_attachment *att,
			    const struct spindle_subgroup *sg, struct spindle_table_attach *args)
{
	args->ctl_state = offsetof(struct spindle_table_ctl, base.state);
	args->ctl_error = offsetof(struct spindle_table_ctl, base.error);
	args->ctl_need_wakeup = offsetof(struct spindle_table_ctl, base.need_wakeup);
	args->ctl_generation = offsetof(struct spindle_table_ctl, generation);
	args->ctl_vouched = offsetof(struct spindle_table_ctl, vouched);
	args->ctl_signals = offsetof(struct spindle_table_ctl, signals);
	args->ctl_fired = offsetof(struct spindle_table_ctl, fired);
	args->usr_seen = offsetof(struct spindle_table_usr, seen);
	args->usr_heard = offsetof(struct spindle_table_usr, heard);
	args->usr_dirty = offsetof(struct spindle_table_usr, dirty);
	args->usr_flush = offsetof(struct spindle_table_usr, flush);
	args->usr_skip = offsetof(struct spindle_table_usr, skip);
	args->ctl_flushed = offsetof(struct spindle_table_ctl, flushed);
	args->ctl_fields = offsetof(struct spindle_table_ctl, fields);
	args->ctl_refreshed = offsetof(struct spindle_table_ctl, refreshed);
	args->usr_refresh = offsetof(struct spindle_table_usr, refresh);
	args->usr_every = offsetof(struct spindle_table_usr, every);
	args->row_stride = SPINDLE_RANK_STRIDE;
	args->ctl = spindle_attachment_section(SPINDLE_PART_CTL, sizeof(struct spindle_table_ctl));
	args->usr = spindle_attachment_section(SPINDLE_PART_USR, sizeof(struct spindle_table_usr));
	args->rows = spindle_attachment_section(SPINDLE_PART_RX, sg->cfg->ring);
	if (att->flags & SPINDLE_ATTACH_OWN)
		args->own = spindle_attachment_section(SPINDLE_PART_TX, sg->cfg->ring);
}

/* The file is in no table, and the table takes it. */
static int bind_to(struct spindle_attachment *att, struct spindle_subgroup *sg,
		   struct spindle_table_attach *args)
{
	struct attach letter = { .att = att, .sg = sg };
	int err;

	att->flags = args->flags & SPINDLE_TABLE_WRITE ? SPINDLE_ATTACH_OWN : 0;
	if (args->flags & SPINDLE_TABLE_SIGNALS)
		att->flags |= SPINDLE_ATTACH_SIGNALS;
	err = spindle_attachment_prepare(att, args->event_fd, 2);
	if (!err)
		err = alloc_memory(att);
	if (err) {
		spindle_attachment_undo(att);
		return err;
	}
	att->ops = &table_ops;
	strscpy(spindle_table_ctl(att)->fields, sg->cfg->fields,
		sizeof(spindle_table_ctl(att)->fields));
	describe(sg, args);
	describe_layout(att, sg, args);
	spindle_engine_call(sg->inst->node->engine, attach_fn, &letter);
	spindle_attachment_publish(att, sg);
	sg->table->files++;
	if (att->flags & SPINDLE_ATTACH_OWN)
		sg->table->writer = att;
	return 0;
}

/**
 * spindle_table_bind() - bind a file to a table
 * @att: not bound
 * @sn: network namespace of the node
 * @name: name of the table, a kernel copy; NULL: @args has its id
 * @args: in and out; a kernel copy
 *
 * Context: process; takes the namespace's lock.
 * Return: 0, or an error as listed in <linux/spindle_table.h>
 */
int spindle_table_bind(struct spindle_attachment *att, struct spindle_net *sn, const char *name,
		       struct spindle_table_attach *args)
{
	struct spindle_subgroup *sg;
	int err = check_args(args);

	if (err)
		return err;
	/* All later members are output. Those that do not apply stay zero. */
	memset_after(args, 0, resv);
	mutex_lock(&att->binding);
	mutex_lock(&sn->lock);
	err = att->attached ? -EISCONN : 0;
	if (err)
		goto out;
	sg = spindle_attachment_find(sn, args->node, args->table, name);
	err = PTR_ERR_OR_ZERO(sg);
	if (!err)
		err = check_role(sg, args);
	if (!err)
		err = bind_to(att, sg, args);
out:
	mutex_unlock(&sn->lock);
	mutex_unlock(&att->binding);
	return err;
}

/* ---- predicates ------------------------------------------------------- */

struct add {
	struct spindle_attachment *att;
	struct spindle_tb_preds *preds;
	struct spindle_tb_pred *pred;
	u32 id;
};

static void add_fn(void *ctx)
{
	const struct add *letter = ctx;
	struct spindle_attachment *att = letter->att;

	att->preds = letter->preds;
	WRITE_ONCE(spindle_table_ctl(att)->fired[letter->id], 0);
	spindle_tb_pred_add(&att->sg->table->tb, att->preds, letter->id, letter->pred);
	spindle_subgroup_touch(att->sg);
}

/* The id of a new predicate: the one that the process wants, or a free one. */
static int choose_id(const struct spindle_tb_preds *preds, u32 *id)
{
	u32 i;

	if (*id != SPINDLE_ANY_ID)
		return preds->pred[*id] ? -EBUSY : 0;
	for (i = 0; i < SPINDLE_MAX_PREDICATES; i++) {
		if (preds->pred[i])
			continue;
		*id = i;
		return 0;
	}
	return -ENOSPC;
}

static int add_checked(struct spindle_attachment *att, struct spindle_predicate *args)
{
	struct add letter = { .att = att, .preds = att->preds };
	int err = -ENOMEM;

	if (!letter.preds)
		letter.preds = kzalloc(sizeof(*letter.preds), GFP_KERNEL_ACCOUNT);
	if (!letter.preds)
		return err;
	err = choose_id(letter.preds, &args->id);
	if (err)
		goto out;
	err = -ENOMEM;
	letter.pred = kzalloc(spindle_tb_pred_bytes(args), GFP_KERNEL_ACCOUNT);
	if (!letter.pred)
		goto out;
	letter.id = args->id;
	spindle_tb_pred_init(letter.pred, args);
	/* The attachment has the set from here on. */
	spindle_engine_call(att->engine, add_fn, &letter);
	err = 0;
out:
	if (letter.preds != att->preds)
		kfree(letter.preds);
	return err;
}

/* Is the attachment one of a table that has not ended? */
static bool is_running(const struct spindle_attachment *att)
{
	return att->sg && READ_ONCE(att->sg->state) <= SPINDLE_STATE_ACTIVE;
}

/**
 * spindle_table_add() - give the engine a predicate
 * @att: the attachment
 * @args: in and out; a kernel copy
 *
 * Context: process; takes the namespace's lock.
 * Return: 0, or an error as listed in <linux/spindle_table.h>
 */
int spindle_table_add(struct spindle_attachment *att, struct spindle_predicate *args)
{
	struct spindle_net *sn = spindle_attachment_lock(att);
	int err = -ENOTCONN;

	if (!sn)
		return err;
	if (is_running(att)) {
		const struct spindle_tb *tb = &att->sg->table->tb;

		err = spindle_tb_pred_check(args, tb->cells, tb->cell,
					    att->flags & SPINDLE_ATTACH_OWN);
		if (!err)
			err = add_checked(att, args);
	}
	spindle_net_unlock(sn);
	return err;
}

struct remove {
	struct spindle_tb_preds *preds;
	struct spindle_tb_pred *pred;
	u32 id;
};

static void remove_fn(void *ctx)
{
	struct remove *letter = ctx;

	letter->pred = spindle_tb_pred_remove(letter->preds, letter->id);
}

/**
 * spindle_table_remove() - take a predicate back
 * @att: the attachment
 * @id: of the predicate, as the process says
 *
 * The engine has let go of the predicate when this returns. If the table has ended, the predicate
 * stays until the attachment is freed, because the engine's list has gone.
 *
 * Context: process; takes the namespace's lock.
 * Return: 0, -ENOENT, or -ENOTCONN
 */
int spindle_table_remove(struct spindle_attachment *att, u64 id)
{
	struct spindle_net *sn = spindle_attachment_lock(att);
	struct remove letter = { .id = id };

	if (!sn)
		return -ENOTCONN;
	letter.preds = att->preds;
	if (att->sg && letter.preds && id < SPINDLE_MAX_PREDICATES && letter.preds->pred[id])
		spindle_engine_call(att->engine, remove_fn, &letter);
	spindle_net_unlock(sn);
	if (!letter.pred)
		return -ENOENT;
	kfree(letter.pred);
	return 0;
}
