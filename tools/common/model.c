// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes, views and subgroups. See model.h.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>
#include <linux/spindle_table.h>

#include "fields.h"
#include "model.h"
#include "names.h"
#include "util.h"

/* A range with more ids than this is a mistake of the user. */
#define CTL_RANGE_MAX	4096

#define NODE(at, name, conf, kind, attr, ...)	\
	[CTL_NODE_##at] = CTL_KEY(name, conf, kind, SPINDLE_A_##attr, __VA_ARGS__)
#define SUBGROUP(at, name, conf, kind, attr, ...)	\
	[CTL_SG_##at] = CTL_KEY(name, conf, kind, SPINDLE_SUBGROUP_A_##attr, __VA_ARGS__)
#define TUNE(at, name, conf, kind, attr, ...)	\
	[CTL_TUNE_##at] = CTL_KEY(name, conf, kind, SPINDLE_TUNE_A_##attr, __VA_ARGS__)

/* The keys of a request that needs a node and nothing else. */
const struct ctl_key ctl_at_node_keys[] = {
	CTL_KEY("node", NULL, U32, SPINDLE_A_NODE_ID),
	{ .name = NULL }
};

const struct ctl_key ctl_node_keys[] = {
	NODE(ID, "id", "Id", U32, NODE_ID),
	NODE(ADDR, "addr", "Address", ADDR, ADDR4, .attr6 = SPINDLE_A_ADDR6),
	NODE(PORT, "port", "Port", U16, PORT, .def = SPINDLE_DEF_PORT),
	NODE(CLUSTER, "cluster", "Cluster", STR, CLUSTER, .def_str = SPINDLE_DEF_CLUSTER),
	NODE(VISIBILITY, "visibility", "Visibility", ENUM, VISIBILITY, .names = &ctl_visibility,
	     .def = SPINDLE_VISIBILITY_AUTO),
	NODE(IDLE_US, "idle-us", "IdleUs", U32, IDLE_US, .def = SPINDLE_DEF_IDLE_US),
	NODE(ENGINE, "engine", "Engine", U32, ENGINE),
	NODE(CPU, "cpu", "Cpu", U32, CPU, .any = true),
	NODE(RACK, "rack", "Rack", U16, RACK, .def = SPINDLE_NO_RACK, .none = "none"),
	{ .name = NULL }
};

const struct ctl_key ctl_subgroup_keys[] = {
	SUBGROUP(ID, "id", "Id", U32, ID),
	SUBGROUP(NAME, "name", "Name", STR, NAME),
	SUBGROUP(MODE, "mode", "Mode", ENUM, MODE, .names = &ctl_mode, .def = SPINDLE_MODE_ORDERED),
	SUBGROUP(WINDOW, "window", "Window", U32, WINDOW, .def = SPINDLE_DEF_WINDOW),
	SUBGROUP(MAX_MSG, "max-msg", "MaxMsg", BYTES, MAX_MSG, .def = SPINDLE_DEF_MAX_MSG),
	SUBGROUP(RING, "ring", "Ring", BYTES, RING),
	SUBGROUP(HOLD, "hold", "Hold", BOOL, HOLD, .def = 1),
	SUBGROUP(LOG, "log", "Log", BOOL, LOG),
	SUBGROUP(ACK, "ack", "Ack", ENUM, ACK, .names = &ctl_ack, .def = SPINDLE_ACK_ALL),
	SUBGROUP(DELIVER, "deliver", "Deliver", ENUM, DELIVER, .names = &ctl_deliver,
		 .def = SPINDLE_DELIVER_STABLE),
	SUBGROUP(MIN_COPIES, "min-copies", "MinCopies", U32, MIN_COPIES,
		 .max = SPINDLE_MAX_MEMBERS, .zero = "default"),
	SUBGROUP(CELLS, "cells", "Cells", U32, CELLS),
	SUBGROUP(CELL, "cell", "Cell", BYTES, CELL, .def = SPINDLE_DEF_CELL),
	SUBGROUP(FIELDS, "fields", "Fields", STR, FIELDS),
	/* Files do not have it, because a file describes a group at any position. */
	SUBGROUP(LSN, "lsn", NULL, U64, LSN, .any = true),
	{ .name = NULL }
};

/* The mode of a subgroup that was begun as a table. A request has the value of CTL_SG_MODE. */
const struct ctl_key ctl_table_mode_key = CTL_KEY("mode", "Mode", ENUM, SPINDLE_SUBGROUP_A_UNSPEC,
						  .names = &ctl_table_mode,
						  .def = SPINDLE_MODE_TABLE);

/* Only the group file of spindle-logd has these. A file for "apply" describes no tuning. */
const struct ctl_key ctl_tune_keys[] = {
	TUNE(SEND_BATCH, "send-batch", "SendBatch", SWITCH, UNSPEC),
	TUNE(RECV_BATCH, "recv-batch", "RecvBatch", SWITCH, UNSPEC),
	TUNE(DLV_BATCH, "dlv-batch", "DlvBatch", SWITCH, UNSPEC),
	TUNE(NULLS, "nulls", "Nulls", SWITCH, UNSPEC),
	TUNE(LATE_POST, "late-post", "LatePost", SWITCH, UNSPEC),
	TUNE(MERGED_ACKS, "merged-acks", "MergedAcks", SWITCH, UNSPEC),
	TUNE(PACKED, "packed", "Packed", SWITCH, UNSPEC),
	TUNE(TRACKING, "tracking", "Tracking", SWITCH, UNSPEC),
	TUNE(EXPRESS, "express", "Express", SWITCH, UNSPEC),
	TUNE(SEND_BUDGET, "send-budget", "SendBudget", U32, SEND_BUDGET,
	     .def = SPINDLE_DEF_SEND_BUDGET),
	TUNE(RECV_BUDGET, "recv-budget", "RecvBudget", U32, RECV_BUDGET,
	     .def = SPINDLE_DEF_RECV_BUDGET),
	TUNE(DLV_BUDGET, "dlv-budget", "DlvBudget", U32, DLV_BUDGET,
	     .def = SPINDLE_DEF_DLV_BUDGET),
	TUNE(SILENCE, "silence", "Silence", U32, SILENCE, .def = SPINDLE_DEF_SILENCE),
	TUNE(STALL_MS, "stall-ms", "StallMs", U32, STALL_MS, .zero = "never"),
	TUNE(LARGE, "large", "Large", BYTES, LARGE, .def = SPINDLE_DEF_LARGE),
	TUNE(HISTORY, "history", "History", BYTES, HISTORY, .zero = "none"),
	TUNE(HISTORY_FILL, "history-fill", "HistoryFill", BOOL, HISTORY_FILL),
	TUNE(LOG_STALL_MS, "log-stall-ms", "LogStallMs", U32, LOG_STALL_MS, .zero = "never",
	     .def = SPINDLE_DEF_LOG_STALL_MS),
	TUNE(ON_LOG_STALL, "on-log-stall", "OnLogStall", ENUM, ON_LOG_STALL,
	     .names = &ctl_on_log_stall, .def = SPINDLE_ON_LOG_STALL_WAIT),
	{ .name = NULL }
};

/*
 * The switch can be set, but neither at the addition of a node nor in a file, because timing is for
 * diagnosis.
 */
const struct ctl_key ctl_timing_key = CTL_KEY("timing", NULL, SWITCH, SPINDLE_A_TIMING);

/* Only "off" can be set. The node then accepts no peer that has its former key. */
const struct ctl_key ctl_former_key = CTL_KEY("former-key", NULL, SWITCH, SPINDLE_A_FORMER_KEY);

/* A word of files and of the command line; the key itself is never shown. */
const struct ctl_key ctl_secret_key = CTL_KEY("key-file", "KeyFile", STR, 0);

const struct ctl_key ctl_vid_key = CTL_KEY("vid", "Vid", U64, SPINDLE_A_VIEW_ID);

/**
 * ctl_member_parse() - read ID@ADDR or ID@ADDR:PORT
 * @text: text
 * @member: out: the member
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_member_parse(const char *text, struct ctl_member *member)
{
	const char *at = strchr(text, '@');
	uint64_t id;
	char *num;

	if (!at)
		return "not a member; one looks like 1@10.0.0.1 or 1@10.0.0.1:4790";
	num = ctl_strdup(text);
	num[at - text] = '\0';
	if (ctl_num_parse(num, UINT32_MAX, false, &id))
		return "the id before the @ is not a number from 0 to 4294967295";
	member->id = id;
	return ctl_contact_parse(at + 1, member);
}

/* Read ADDR or ADDR:PORT. Return: NULL, or what is wrong. */
const char *ctl_contact_parse(const char *text, struct ctl_member *contact)
{
	contact->port = SPINDLE_DEF_PORT;
	return ctl_endpoint_parse(text, &contact->addr, &contact->has_port, &contact->port);
}

/**
 * ctl_members_add() - read a member or a contact, and add it to the end of a list
 * @list: list, which may move
 * @count: entries of @list
 * @text: text of the user
 * @line: line of the file, or 0
 * @parse: reader of the text
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_members_add(struct ctl_member **list, unsigned int *count, const char *text,
			    int line,
			    const char *(*parse)(const char *text, struct ctl_member *member))
{
	struct ctl_member *m = CTL_ADD(*list, *count);

	m->line = line;
	return parse(text, m);
}

const char *ctl_member_text(const struct ctl_member *member)
{
	return ctl_asprintf("%u@%s", member->id, ctl_place_text(member));
}

/* Address and port of a member as text, in one of a few static buffers. */
const char *ctl_place_text(const struct ctl_member *member)
{
	return ctl_endpoint_text(&member->addr, member->port);
}

bool ctl_same_place(const struct ctl_member *a, const struct ctl_member *b)
{
	return a->port == b->port && ctl_addr_equal(&a->addr, &b->addr);
}

/* The member that a node of a file is. */
struct ctl_member ctl_node_member(const struct ctl_node *node)
{
	const struct ctl_val *port = &node->val[CTL_NODE_PORT];

	return (struct ctl_member){
		.id = node->val[CTL_NODE_ID].num,
		.addr = node->val[CTL_NODE_ADDR].addr,
		.has_port = true,
		.port = port->set ? port->num : SPINDLE_DEF_PORT,
		.line = node->line,
	};
}

/* Add an id to the end of a list. */
void ctl_ids_add(struct ctl_ids *ids, uint32_t id)
{
	*CTL_ADD(ids->id, ids->count) = id;
}

/* Read one id or a range of ids. Return: whether the word is one of these. */
static bool take_ids(struct ctl_ids *ids, char *word)
{
	char *dash = strchr(word, '-');
	uint64_t first, last;

	if (dash)
		*dash = '\0';
	if (ctl_num_parse(word, UINT32_MAX, false, &first))
		return false;
	last = first;
	if (dash && ctl_num_parse(dash + 1, UINT32_MAX, false, &last))
		return false;
	if (last < first || last - first >= CTL_RANGE_MAX)
		return false;
	for (; first <= last; first++)
		ctl_ids_add(ids, first);
	return true;
}

/**
 * ctl_ids_parse() - read 1,2,3 or 1-3
 * @text: ids, or "all", or "none"
 * @ids: out: the list; not set for "all"
 * @none: whether the word "none" is valid
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_ids_parse(const char *text, struct ctl_ids *ids, bool none)
{
	char *list = ctl_strdup(text), *word;

	ids->set = false;
	if (!strcasecmp(text, "all"))
		return NULL;
	ids->set = true;
	if (none && !strcasecmp(text, "none"))
		return NULL;
	while ((word = strsep(&list, ","))) {
		word += strspn(word, " \t");
		word[strcspn(word, " \t")] = '\0';
		if (!take_ids(ids, word))
			return none ?
			       "not a list of node ids like 1,2,3 or 1-3, nor 'all' or 'none'" :
			       "not a list of node ids like 1,2,3 or 1-3, nor 'all'";
	}
	return NULL;
}

/* The list as text; three ids or more in a row are a range. */
const char *ctl_ids_text(const struct ctl_ids *ids)
{
	const char *text = "", *comma = "";
	unsigned int i, n;

	if (!ids->set)
		return "all";
	for (i = 0; i < ids->count; i += n) {
		for (n = 1; i + n < ids->count && ids->id[i + n] == ids->id[i] + n; n++)
			;
		if (n > 2) {
			text = ctl_asprintf("%s%s%u-%u", text, comma, ids->id[i],
					    ids->id[i + n - 1]);
		} else {
			text = ctl_asprintf("%s%s%u", text, comma, ids->id[i]);
			n = 1;
		}
		comma = ",";
	}
	return *text ? text : "none";
}

bool ctl_ids_has(const struct ctl_ids *ids, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < ids->count; i++)
		if (ids->id[i] == id)
			return true;
	return false;
}

/* The member with this id, or NULL. */
struct ctl_member *ctl_view_member(const struct ctl_view *view, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < view->members; i++)
		if (view->member[i].id == id)
			return &view->member[i];
	return NULL;
}

/* The subgroup with this id, or NULL. */
const struct ctl_subgroup *ctl_view_subgroup(const struct ctl_view *view, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < view->subgroups; i++)
		if (view->subgroup[i].val[CTL_SG_ID].num == id)
			return &view->subgroup[i];
	return NULL;
}

/* The subgroup of a name, or NULL. */
const struct ctl_subgroup *ctl_view_named(const struct ctl_view *view, const char *name)
{
	unsigned int i;

	for (i = 0; i < view->subgroups; i++)
		if (view->subgroup[i].val[CTL_SG_NAME].set &&
		    !strcmp(view->subgroup[i].val[CTL_SG_NAME].str, name))
			return &view->subgroup[i];
	return NULL;
}

/* All members of a view. */
struct ctl_ids ctl_view_ids(const struct ctl_view *view)
{
	struct ctl_ids ids = { .set = true, .count = view->members };
	unsigned int i;

	ids.id = ctl_alloc(view->members * sizeof(*ids.id) + 1);
	for (i = 0; i < view->members; i++)
		ids.id[i] = view->member[i].id;
	return ids;
}

/* The members that are in the subgroups of the view by default. */
struct ctl_ids ctl_view_users(const struct ctl_view *view)
{
	struct ctl_ids ids = { .set = true };
	unsigned int i;

	for (i = 0; i < view->members; i++)
		if (!ctl_ids_has(&view->witnesses, view->member[i].id))
			ctl_ids_add(&ids, view->member[i].id);
	return ids;
}

static uint64_t round_up_pow2(uint64_t v)
{
	uint64_t p = 1;

	while (p < v)
		p <<= 1;
	return p;
}

/* The size that the kernel takes for a ring that is not given. See SPINDLE_SUBGROUP_A_RING. */
static uint64_t default_ring(uint64_t window, uint64_t max_msg)
{
	uint64_t msg = (max_msg + SPINDLE_UNIT - 1) & ~(uint64_t)(SPINDLE_UNIT - 1);
	uint64_t cap = round_up_pow2(4 * msg);
	uint64_t all = round_up_pow2(window * msg);

	if (cap < 1 << 20)
		cap = 1 << 20;
	if (all < 4096)
		all = 4096;
	if (all > cap)
		all = cap;
	return all < SPINDLE_MAX_RING ? all : SPINDLE_MAX_RING;
}

/* The ids of a list in the order of the view, because ranks follow the order of the view. */
static struct ctl_ids in_view_order(const struct ctl_view *view, const struct ctl_ids *ids,
				    const struct ctl_ids *all)
{
	struct ctl_ids out = { .set = true, .line = ids->line };
	unsigned int i;

	for (i = 0; i < view->members; i++) {
		uint32_t id = view->member[i].id;

		if (ctl_ids_has(ids->set ? ids : all, id))
			ctl_ids_add(&out, id);
	}
	return out;
}

/* Is the value, an index into ctl_subgroup_keys, one that says more of logs? */
static bool is_of_logs(unsigned int val)
{
	return val == CTL_SG_ACK || val == CTL_SG_DELIVER || val == CTL_SG_MIN_COPIES;
}

/* Does the kernel show such a value? @val: index into ctl_subgroup_keys */
static bool is_shown(const struct ctl_subgroup *sg, unsigned int val)
{
	return ctl_subgroup_has(sg, val) && (ctl_is_logged(sg) || !is_of_logs(val));
}

/**
 * ctl_subgroup_resolve() - fill in what a subgroup leaves out
 * @view: the view of the subgroup
 * @sg: subgroup as it was given
 *
 * Return: the subgroup as the kernel would show it
 */
struct ctl_subgroup ctl_subgroup_resolve(const struct ctl_view *view,
					 const struct ctl_subgroup *sg)
{
	struct ctl_ids all = ctl_view_users(view);
	struct ctl_subgroup out = *sg;
	struct ctl_val *window = &out.val[CTL_SG_WINDOW];
	struct ctl_val *ring = &out.val[CTL_SG_RING];
	unsigned int i;

	for (i = 0; i < CTL_SG_VALS; i++)
		if (i != CTL_SG_RING && i != CTL_SG_CELLS && is_shown(sg, i))
			ctl_val_default(&ctl_subgroup_keys[i], &out.val[i]);
	out.members = in_view_order(view, &sg->members, &all);
	if (ctl_is_table(sg)) {
		out.senders = (struct ctl_ids){ .set = true };
		return out;
	}
	if (window->num <= SPINDLE_MAX_WINDOW)
		window->num = round_up_pow2(window->num);
	if (!ring->set && window->num <= SPINDLE_MAX_WINDOW) {
		ring->set = true;
		ring->num = default_ring(window->num, out.val[CTL_SG_MAX_MSG].num);
	}
	out.senders = in_view_order(view, &sg->senders, &out.members);
	return out;
}

/* Is the subgroup a table? */
bool ctl_is_table(const struct ctl_subgroup *sg)
{
	return ctl_is_read(sg) ||
	       (sg->val[CTL_SG_MODE].set && sg->val[CTL_SG_MODE].num == SPINDLE_MODE_TABLE);
}

/* Is the subgroup a table whose rows members read from their owners? */
bool ctl_is_read(const struct ctl_subgroup *sg)
{
	return sg->val[CTL_SG_MODE].set && sg->val[CTL_SG_MODE].num == SPINDLE_MODE_TABLE_READ;
}

/* Has the subgroup logs? */
bool ctl_is_logged(const struct ctl_subgroup *sg)
{
	return sg->val[CTL_SG_LOG].set && sg->val[CTL_SG_LOG].num;
}

/* Make a table of a subgroup that has no values yet. @line: line of its section, or 0 */
void ctl_make_table(struct ctl_subgroup *sg, int line)
{
	sg->way.num = SPINDLE_MODE_TABLE;
	sg->val[CTL_SG_MODE] = ctl_val_num(SPINDLE_MODE_TABLE);
	sg->val[CTL_SG_MODE].line = line;
}

/**
 * ctl_take_way() - give a table the mode that the user has chosen
 * @sg: a subgroup that was begun as a table; @way is that mode
 */
void ctl_take_way(struct ctl_subgroup *sg)
{
	sg->val[CTL_SG_MODE].num = sg->way.num;
	if (sg->way.line)
		sg->val[CTL_SG_MODE].line = sg->way.line;
}

/**
 * ctl_mode_text() - the mode as people read it
 * @subgroup: a struct ctl_subgroup
 *
 * Return: the word; for a table write or read
 */
const char *ctl_mode_text(const void *subgroup)
{
	const struct ctl_subgroup *sg = subgroup;
	const struct ctl_key *key = &ctl_subgroup_keys[CTL_SG_MODE];

	return ctl_val_text(ctl_is_table(sg) ? &ctl_table_mode_key : key, &sg->val[CTL_SG_MODE]);
}

/* Does a subgroup of this mode have such a value? @val: index into ctl_subgroup_keys */
bool ctl_subgroup_has(const struct ctl_subgroup *sg, unsigned int val)
{
	if (val == CTL_SG_ID || val == CTL_SG_NAME || val == CTL_SG_MODE)
		return true;
	return ctl_is_table(sg) ==
	       (val == CTL_SG_CELLS || val == CTL_SG_CELL || val == CTL_SG_FIELDS);
}

/* Does the rule of such a subgroup have this value? @val: index into ctl_rule_keys */
bool ctl_rule_has(const struct ctl_subgroup *sg, unsigned int val)
{
	return !ctl_is_table(sg) || val == CTL_RULE_SHARDS || val == CTL_RULE_MIN;
}

/* The name of a subgroup or a table in messages: subgroup 2 "prices". */
const char *ctl_subgroup_title(const struct ctl_subgroup *sg)
{
	const char *what = ctl_is_table(sg) ? "table" : "subgroup";
	const struct ctl_val *name = &sg->val[CTL_SG_NAME];
	unsigned long long id = sg->val[CTL_SG_ID].num;

	if (name->set && *name->str)
		return ctl_asprintf("%s %llu \"%s\"", what, id, ctl_clean(name->str));
	return ctl_asprintf("%s %llu", what, id);
}

/* Are the fields of a table a list of fields that its cells have room for? */
static const char *check_fields(const struct ctl_subgroup *sg)
{
	const struct ctl_val *text = &sg->val[CTL_SG_FIELDS], *cell = &sg->val[CTL_SG_CELL];
	uint64_t bytes = cell->set ? cell->num : SPINDLE_DEF_CELL;
	struct ctl_cell_fields fields;
	const char *err;

	if (!text->set || !*text->str)
		return NULL;
	if (strlen(text->str) > SPINDLE_FIELDS_LEN)
		return ctl_asprintf("%s: the fields have %d characters at most",
				    ctl_subgroup_title(sg), SPINDLE_FIELDS_LEN);
	err = ctl_fields_parse(text->str, &fields);
	if (!err && bytes >= SPINDLE_MIN_CELL && bytes <= SPINDLE_MAX_CELL)
		err = ctl_fields_fit(&fields, bytes - sizeof(struct spindle_cell_seal));
	return err ? ctl_asprintf("%s: %s", ctl_subgroup_title(sg), err) : NULL;
}

/*
 * A request would drop the senders of a table without an error, and the kernel does not read
 * fields. It refuses other values.
 */
static const char *check_table(const struct ctl_subgroup *sg, int *line)
{
	if (!ctl_is_table(sg))
		return NULL;
	*line = sg->val[CTL_SG_FIELDS].line;
	if (!sg->senders.set)
		return check_fields(sg);
	*line = sg->senders.line;
	return ctl_asprintf("%s has no senders: each member writes its row",
			    ctl_subgroup_title(sg));
}

/* The kernel checks this as well. Here the mistake is found before anything is changed. */
static const char *check_logs(const struct ctl_subgroup *sg, int *line)
{
	const struct ctl_key *key = &ctl_subgroup_keys[CTL_SG_ACK];
	const struct ctl_val *mode = &sg->val[CTL_SG_MODE];

	*line = sg->val[CTL_SG_LOG].line;
	if (ctl_is_logged(sg) && mode->set && mode->num != SPINDLE_MODE_ORDERED)
		return ctl_asprintf("%s has no logs: only an ordered subgroup can have some",
				    ctl_subgroup_title(sg));
	for (; !ctl_is_logged(sg) && key <= &ctl_subgroup_keys[CTL_SG_MIN_COPIES]; key++) {
		const struct ctl_val *val = &sg->val[key - ctl_subgroup_keys];

		*line = val->line;
		if (val->set)
			return ctl_asprintf("%s: '%s' is for subgroups with logs only",
					    ctl_subgroup_title(sg),
					    sg->line ? key->conf : key->name);
	}
	return ctl_is_logged(sg) || !sg->ranges ? NULL :
	       ctl_asprintf("%s: 'range' is for subgroups with logs only", ctl_subgroup_title(sg));
}

/**
 * ctl_subgroup_check() - is everything right that the kernel does not check?
 * @view: the view of the subgroup
 * @sg: subgroup
 * @line: out: line of the mistake
 *
 * On the wire a sender is a member with a flag. So a request would drop a sender that is not a
 * member, and the senders of a table, without an error. Only programs read the fields of a table.
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_subgroup_check(const struct ctl_view *view, const struct ctl_subgroup *sg,
			       int *line)
{
	struct ctl_ids all = ctl_view_users(view);
	const struct ctl_ids *members = sg->members.set ? &sg->members : &all;
	const char *err = check_table(sg, line);
	unsigned int i;

	if (!err)
		err = check_logs(sg, line);
	if (err)
		return err;
	*line = sg->members.line;
	for (i = 0; sg->members.set && i < sg->members.count; i++)
		if (ctl_ids_has(&view->witnesses, sg->members.id[i]))
			return ctl_asprintf("%s: node %u is a witness, which is in no subgroup",
					    ctl_subgroup_title(sg), sg->members.id[i]);
	/* In a live view these nodes may join later. */
	for (i = 0; !view->is_live && sg->members.set && i < sg->members.count; i++)
		if (!ctl_ids_has(&all, sg->members.id[i]))
			return ctl_asprintf("%s: node %u is not a member of the view",
					    ctl_subgroup_title(sg), sg->members.id[i]);
	*line = sg->senders.line;
	for (i = 0; sg->senders.set && i < sg->senders.count; i++)
		if (!ctl_ids_has(members, sg->senders.id[i]))
			return ctl_asprintf("%s: sender %u is not one of its members (%s)",
					    ctl_subgroup_title(sg), sg->senders.id[i],
					    ctl_ids_text(members));
	return NULL;
}
