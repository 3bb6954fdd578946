// SPDX-License-Identifier: GPL-2.0-only
/*
 * The node in the kernel: whether it is in a view, the first view after a restart, and the join.
 * See restart.h.
 */
#include <errno.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "common/live.h"
#include "common/wire.h"
#include "logd.h"
#include "restart.h"

static enum logd_kernel state_of(const struct ctl_running *run)
{
	if (!run->in_live)
		return run->has_view ? LOGD_KERNEL_ACTIVE : LOGD_KERNEL_NONE;
	switch (run->live_state) {
	case SPINDLE_LIVE_FORMING:
		return LOGD_KERNEL_FORMING;
	case SPINDLE_LIVE_JOINING:
		return LOGD_KERNEL_JOINING;
	case SPINDLE_LIVE_STOPPED:
		return LOGD_KERNEL_STOPPED;
	default:
		return LOGD_KERNEL_ACTIVE;
	}
}

static void note_place(struct logd_restart *r, const struct ctl_running *run)
{
	struct ctl_member self = ctl_node_member(&run->node);
	const char *text = ctl_place_text(&self);

	if (strlen(text) < sizeof(r->place))
		strcpy(r->place, text);
}

/**
 * logd_kernel_look() - ask the kernel how the node is
 * @r: the restart
 * @seat: out: its view
 *
 * Return: how it is; a sentence says why not if that is an error.
 */
enum logd_kernel logd_kernel_look(struct logd_restart *r, struct logd_seat *seat)
{
	struct ctl_val id = ctl_val_num(r->opts->node);
	enum logd_kernel state = LOGD_KERNEL_ERROR;
	struct ctl_running *run = NULL;
	unsigned int count = 0;
	struct ctl_pool *before;

	*seat = (struct logd_seat){ .has_lineage = false };
	/* Without peers, nobody has opened it. */
	if (!r->peers->net.sk && ctl_net_open(&r->peers->net, CTL_SAY))
		return LOGD_KERNEL_ERROR;
	before = ctl_pool_use(&r->peers->pool);
	if (!ctl_fetch(&r->peers->net, "restart", &id, &run, &count, true) && count) {
		state = state_of(run);
		seat->vid = run->node.vid;
		seat->has_lineage = run->has_view && run->view.lineage.set &&
				    !ctl_lineage_parse(run->view.lineage.str,
						       (uint8_t *)seat->lineage, &seat->era);
		note_place(r, run);
	}
	ctl_pool_use(before);
	ctl_pool_drop(&r->peers->pool);
	return state;
}

static bool call(struct logd_restart *r, struct ctl_req *req)
{
	return !ctl_net_call(&r->peers->net, req, NULL, CTL_SAY);
}

/* ---- tuning ------------------------------------------------------------------------------- */

/* What is so already is left out, because the kernel may refuse to set that now. */
static bool find_changes(const struct ctl_val *is, const struct ctl_val *wanted,
			 struct ctl_val *change)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < CTL_TUNE_VALS; i++) {
		change[i] = (struct ctl_val){ .set = wanted[i].set && is[i].set &&
						     wanted[i].num != is[i].num,
					      .num = wanted[i].num };
		any |= change[i].set;
	}
	return any;
}

/* What the kernel refuses is printed, and the node goes on without it. */
static void set_tune(struct logd_restart *r, const struct ctl_val *id,
		     const struct ctl_val *change)
{
	static const struct ctl_key id_key = CTL_KEY("id", NULL, U32, SPINDLE_A_SUBGROUP_ID);
	struct ctl_val node = ctl_val_num(r->opts->node);
	struct ctl_req *req;

	req = ctl_req_new(&r->peers->net, SPINDLE_CMD_SUBGROUP_SET, 0,
			  ctl_asprintf("tuning of subgroup %u", (uint32_t)id->num));
	ctl_req_val(req, &ctl_at_node_keys[0], &node);
	ctl_req_val(req, &id_key, id);
	ctl_tune_put(req, change);
	call(r, req);
}

/* A reader that is there already keeps the history as it is, but nothing else. */
static void tune(struct logd_restart *r, const struct ctl_subgroup *is)
{
	const struct ctl_val *id = &is->val[CTL_SG_ID];
	const struct ctl_subgroup *entry = logd_state_find(&r->state->group.view, id->num);
	struct ctl_val wanted[CTL_TUNE_VALS], change[CTL_TUNE_VALS];
	struct ctl_val history[CTL_TUNE_VALS] = { 0 };

	if (!entry)
		return;
	memcpy(wanted, entry->tune, sizeof(wanted));
	history[CTL_TUNE_HISTORY] = wanted[CTL_TUNE_HISTORY];
	wanted[CTL_TUNE_HISTORY].set = false;
	if (find_changes(is->tune, history, change))
		set_tune(r, id, change);
	if (find_changes(is->tune, wanted, change))
		set_tune(r, id, change);
}

/**
 * logd_kernel_tune() - give the kernel the tuning of the group file, if that is due
 * @r: the restart of a node that is in a view, whose logs are not attached yet
 *
 * The history of a subgroup with logs gets no other size once a logger has attached.
 *
 * Return: whether the kernel was asked; a sentence says why not.
 */
bool logd_kernel_tune(struct logd_restart *r)
{
	struct ctl_val id = ctl_val_num(r->opts->node), all = { .set = false };
	struct ctl_running_subgroup *list = NULL;
	struct ctl_pool *before;
	unsigned int count = 0, i;
	struct logd_seat seat;
	bool good;

	if (!r->state->group.is || !r->state->group.due)
		return true;
	if (logd_kernel_look(r, &seat) == LOGD_KERNEL_ERROR)
		return false;
	/* The tuning is that of another group. */
	if (!seat.has_lineage || memcmp(seat.lineage, r->state->group.lineage,
					sizeof(seat.lineage)))
		return true;
	before = ctl_pool_use(&r->peers->pool);
	good = !ctl_fetch_subgroups(&r->peers->net, "restart", &id, &all, &all, &list, &count);
	for (i = 0; good && i < count; i++)
		tune(r, &list[i].sg);
	ctl_pool_use(before);
	ctl_pool_drop(&r->peers->pool);
	return good;
}

/* ---- the first view ----------------------------------------------------------------------- */

static const struct spindle_restart_base *
find_part(const struct spindle_restart_proposal *proposal, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < proposal->parts; i++)
		if (proposal->part[i].id == id)
			return &proposal->part[i];
	return NULL;
}

/* The views of earlier eras that the first view of a subgroup follows. */
static struct ctl_ids *list_range(const struct spindle_restart_base *part, unsigned int *count)
{
	struct ctl_ids *range = NULL;
	uint32_t i, k;

	*count = 0;
	for (i = 0; i < part->range.views; i++) {
		struct ctl_ids *ids = CTL_ADD(range, *count);

		ids->set = true;
		for (k = 0; k < part->range.view[i].members; k++)
			ctl_ids_add(ids, part->range.view[i].node[k]);
	}
	return range;
}

static void add_shard(const struct spindle_restart_proposal *proposal,
		      const struct spindle_restart_base *part, struct ctl_subgroup *sg)
{
	struct ctl_shard *shard = CTL_ADD(sg->shard, sg->shards);
	uint32_t i;

	shard->lsn = part->base;
	shard->members.set = true;
	for (i = 0; i < proposal->members; i++)
		if (part->members >> i & 1)
			ctl_ids_add(&shard->members, proposal->node[i]);
	shard->range = list_range(part, &shard->ranges);
}

/*
 * Where a subgroup begins again. All members tell the kernel the same of each subgroup and shard,
 * also of those that they are not in.
 */
static bool set_begin(struct logd_restart *r, struct ctl_subgroup *sg)
{
	const struct spindle_restart_proposal *proposal = r->attempt.proposal;
	uint32_t i, n = logd_state_logs(sg), id = (uint32_t)sg->val[CTL_SG_ID].num;
	const struct spindle_restart_base *part;

	for (i = 0; i < n; i++) {
		part = find_part(proposal, id + i);
		if (!part) {
			ctl_err("node %u: the restart does not have subgroup %u, which is in the "
				"group file", r->opts->node, id + i);
			return false;
		}
		if (n > 1) {
			add_shard(proposal, part, sg);
			continue;
		}
		sg->val[CTL_SG_LSN] = ctl_val_num(part->base);
		sg->range = list_range(part, &sg->ranges);
	}
	return true;
}

/* The view of the group file, and what the restart says of its subgroups with logs. */
static bool make_view(struct logd_restart *r, struct ctl_view *view)
{
	unsigned int i;

	*view = r->state->group.view;
	view->subgroup = ctl_alloc((view->subgroups + 1) * sizeof(*view->subgroup));
	for (i = 0; i < view->subgroups; i++) {
		view->subgroup[i] = r->state->group.view.subgroup[i];
		if (!set_begin(r, &view->subgroup[i]))
			return false;
	}
	return true;
}

/**
 * logd_kernel_enter() - begin the first view after a restart, which is in the group file
 * @r: the restart, whose attempt has the proposal of the view
 *
 * Return: whether the kernel has begun; a sentence says why not.
 */
bool logd_kernel_enter(struct logd_restart *r)
{
	struct ctl_pool *before = ctl_pool_use(&r->peers->pool);
	struct ctl_val id = ctl_val_num(r->opts->node);
	struct ctl_view view;
	struct ctl_req *req;
	bool good;

	good = make_view(r, &view);
	if (good) {
		req = ctl_req_new(&r->peers->net, SPINDLE_CMD_VIEW_SET, 0, "restart");
		ctl_view_put(req, &id, &view);
		good = call(r, req);
	}
	ctl_pool_use(before);
	ctl_pool_drop(&r->peers->pool);
	return good;
}

/**
 * logd_kernel_join() - join the group that runs
 * @r: the restart
 * @contact: address and port of a member
 *
 * Return: whether the kernel has begun; a sentence says why not.
 */
bool logd_kernel_join(struct logd_restart *r, const char *contact)
{
	struct ctl_pool *before = ctl_pool_use(&r->peers->pool);
	struct ctl_val id = ctl_val_num(r->opts->node);
	struct ctl_member member = { .id = 0 };
	struct ctl_req *req;
	bool good = false;

	if (ctl_contact_parse(contact, &member)) {
		ctl_err("restart: '%s' is no address of a member", ctl_clean(contact));
	} else {
		req = ctl_req_new(&r->peers->net, SPINDLE_CMD_NODE_JOIN, 0, "restart");
		ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], &id);
		ctl_contacts_put(req, &member, 1);
		ctl_lineage_put(req, &r->state->group.view.lineage);
		if (r->state->group.view.insecure)
			ctl_insecure_put(req, 0);
		good = call(r, req);
	}
	ctl_pool_use(before);
	ctl_pool_drop(&r->peers->pool);
	return good;
}

/**
 * logd_kernel_leave() - take the node out of a view that it is not in yet
 * @r: the restart
 */
void logd_kernel_leave(struct logd_restart *r)
{
	struct ctl_pool *before = ctl_pool_use(&r->peers->pool);
	struct ctl_val id = ctl_val_num(r->opts->node);
	struct ctl_req *req = ctl_req_new(&r->peers->net, SPINDLE_CMD_VIEW_DEL, 0, "restart");

	ctl_req_val(req, &ctl_at_node_keys[0], &id);
	/* The view may have gone by now. */
	ctl_net_call(&r->peers->net, req, NULL, CTL_QUIET);
	ctl_pool_use(before);
	ctl_pool_drop(&r->peers->pool);
}
