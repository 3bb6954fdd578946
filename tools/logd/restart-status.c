// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file DIR/NODE/restart: how far a total restart is, and for which nodes it waits. See
 * restart.h.
 *
 * The file is JSON, for "spindle-ctl status" and other programs of this machine. No decision
 * depends on it, so it is not synced. It is there only while the node looks for its group.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "common/live.h"
#include "common/out.h"
#include "logd.h"
#include "restart.h"

#define NAME	"restart"
#define NAME_NEW "restart.new"
/* What has not changed is written this often, because its age says that the process lives. */
#define SHOW_MS	2000U

static const char *const state_word[ATTEMPT_STATES] = {
	[ATTEMPT_LOOK] = "looks",
	[ATTEMPT_PREPARE] = "asks for reports",
	[ATTEMPT_ACCEPT] = "asks for votes",
	[ATTEMPT_ENTER] = "begins the first view",
	[ATTEMPT_JOIN] = "joins the group",
	[ATTEMPT_RUNNING] = "runs",
	[ATTEMPT_FAILED] = "has failed",
};

static const char *const why_word[] = {
	[SPINDLE_RESTART_READY] = "ready",
	[SPINDLE_RESTART_NO_RECORD] = "no-record",
	[SPINDLE_RESTART_CONFLICT] = "conflict",
	[SPINDLE_RESTART_UNKNOWN_RANGE] = "unknown-range",
	[SPINDLE_RESTART_TOO_LONG] = "too-long",
	[SPINDLE_RESTART_NODES] = "nodes",
	[SPINDLE_RESTART_LOGS] = "logs",
};

static struct json_object *json_nodes(const uint32_t *node, uint32_t nodes)
{
	struct json_object *list = json_object_new_array();
	uint32_t i;

	for (i = 0; i < nodes; i++)
		json_object_array_add(list, ctl_json_num(node[i]));
	return list;
}

static struct json_object *json_need(const struct spindle_restart_need *need)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "id", ctl_json_num(need->id));
	ctl_json_str(obj, "why", why_word[need->why]);
	ctl_json_add(obj, "era", ctl_json_num(need->view.era));
	ctl_json_add(obj, "vid", ctl_json_num(need->view.vid));
	ctl_json_add(obj, "more", ctl_json_num(need->more));
	ctl_json_add(obj, "nodes", json_nodes(need->node, need->nodes));
	ctl_json_add(obj, "base", ctl_json_num(need->base));
	ctl_json_add(obj, "to", ctl_json_num(need->to));
	ctl_json_add(obj, "open", json_object_new_boolean(need->open));
	return obj;
}

static struct json_object *json_needs(const struct attempt *a)
{
	struct json_object *list = json_object_new_array();
	uint32_t i;

	for (i = 0; i < a->answer->parts; i++)
		json_object_array_add(list, json_need(&a->answer->part[i]));
	return list;
}

static struct json_object *json_here(const struct attempt *a, bool here)
{
	struct json_object *list = json_object_new_array();
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (a->peer[i].here == here)
			json_object_array_add(list, ctl_json_num(a->peer[i].node));
	return list;
}

/* Nodes that cannot be in one restart with this node, because they have another list. */
static struct json_object *json_lists(const struct attempt *a)
{
	struct json_object *list = json_object_new_array();
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (a->mine && a->peer[i].report &&
		    !spindle_restart_same_list(a->own, a->peer[i].report))
			json_object_array_add(list, ctl_json_num(a->peer[i].node));
	return list;
}

static struct json_object *json_loss(const struct spindle_restart_force *force)
{
	struct json_object *list = json_object_new_array(), *obj;
	uint32_t i;

	for (i = 0; i < force->proposal.parts; i++) {
		obj = json_object_new_object();
		ctl_json_add(obj, "id", ctl_json_num(force->proposal.part[i].id));
		ctl_json_add(obj, "base", ctl_json_num(force->proposal.part[i].base));
		ctl_json_add(obj, "to", ctl_json_num(force->loss[i].to));
		ctl_json_add(obj, "open", json_object_new_boolean(force->loss[i].open));
		json_object_array_add(list, obj);
	}
	return list;
}

static struct json_object *json_force(const struct spindle_restart_force *force,
				      const uint64_t *code, bool begun)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_str(obj, "code", ctl_lineage_text(code, 0));
	ctl_json_add(obj, "begun", json_object_new_boolean(begun));
	ctl_json_add(obj, "nodes", json_nodes(force->proposal.node, force->proposal.members));
	ctl_json_add(obj, "subgroups", json_loss(force));
	return obj;
}

/* What the administrator may consent to, and whether there is a consent that has no effect yet. */
static void add_force(struct json_object *obj, struct logd_restart *r)
{
	const struct logd_heard *left = logd_restart_left(r);
	const struct attempt *a = &r->attempt;
	uint64_t code[2];

	if (left)
		ctl_json_add(obj, "forced", json_force(&left->force, left->code, true));
	else if (a->state == ATTEMPT_PREPARE && a->forced && logd_force_name(a->force, code))
		ctl_json_add(obj, "forced", json_force(a->force, code, false));
	if (r->consents)
		ctl_json_str(obj, "consent", ctl_lineage_text(r->consent, 0));
}

/* A group runs whose era is below what this node has promised. Return: a member; NULL: none. */
static const struct attempt_how *shut_out(const struct attempt *a)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (a->peer[i].here && a->peer[i].how.state == ATTEMPT_RUNNING &&
		    a->peer[i].how.vid &&
		    a->peer[i].how.era < spindle_restart_bound(a->voter))
			return &a->peer[i].how;
	return NULL;
}

static struct json_object *json_all(struct logd_restart *r)
{
	struct json_object *obj = json_object_new_object();
	const struct attempt *a = &r->attempt;
	const struct attempt_how *out = shut_out(a);

	ctl_json_add(obj, "node", ctl_json_num(r->opts->node));
	ctl_json_add(obj, "pid", ctl_json_num((uint64_t)getpid()));
	ctl_json_str(obj, "state", state_word[a->state]);
	ctl_json_add(obj, "promised", ctl_json_num(a->voter->promised.era));
	ctl_json_add(obj, "proposer", ctl_json_num(a->voter->promised.proposer));
	ctl_json_add(obj, "answer", json_here(a, true));
	ctl_json_add(obj, "silent", json_here(a, false));
	if (a->state == ATTEMPT_LOOK && out) {
		ctl_json_add(obj, "runs", ctl_json_num(out->era));
		ctl_json_add(obj, "bound", ctl_json_num(spindle_restart_bound(a->voter)));
	}
	if (a->spent)
		ctl_json_add(obj, "spent", json_object_new_boolean(true));
	if (a->state == ATTEMPT_PREPARE && a->judged) {
		ctl_json_add(obj, "lists", json_lists(a));
		ctl_json_add(obj, "subgroups", json_needs(a));
	}
	add_force(obj, r);
	return obj;
}

static bool write_all(int dir, const char *text)
{
	int fd = openat(dir, NAME_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0640);
	size_t len = strlen(text);
	bool good;

	if (fd < 0)
		return false;
	good = write(fd, text, len) == (ssize_t)len;
	close(fd);
	return good && !renameat(dir, NAME_NEW, dir, NAME);
}

static void tell_spent(struct logd_restart *r)
{
	if (r->attempt.spent && !r->spent)
		ctl_err("node %u: no era is left above era %llu, so this node can only join its "
			"group", r->opts->node,
			(unsigned long long)r->attempt.voter->promised.era);
	r->spent = r->attempt.spent;
}

/**
 * logd_restart_show() - say in the status file how far the restart is
 * @r: the restart
 * @now: milliseconds
 *
 * A file that cannot be written holds up no restart.
 */
void logd_restart_show(struct logd_restart *r, uint64_t now)
{
	struct ctl_pool *before;
	struct json_object *obj;

	tell_spent(r);
	if (r->shown == r->attempt.state && now - r->shown_ms < SHOW_MS)
		return;
	r->shown = r->attempt.state;
	r->shown_ms = now;
	if (r->attempt.state == ATTEMPT_RUNNING) {
		unlinkat(r->state->dir, NAME, 0);
		return;
	}
	before = ctl_pool_use(&r->peers->pool);
	obj = json_all(r);
	if (!write_all(r->state->dir, json_object_to_json_string(obj)) && !r->mute) {
		ctl_err("node %u: cannot write the file '%s': %s", r->opts->node, NAME,
			strerror(errno));
		r->mute = true;
	}
	json_object_put(obj);
	ctl_pool_use(before);
	ctl_pool_drop(&r->peers->pool);
}
