// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages for the model. See wire.h.
 *
 * Replies are read tolerantly: a number may have any size, and unknown or missing attributes are
 * skipped. So this program works with a newer or older module.
 */
#include <string.h>
#include <sys/socket.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "live.h"
#include "names.h"
#include "record.h"
#include "util.h"
#include "wire.h"

/* The attributes of a message by number. If an attribute repeats, this is the last one. */
struct nlattr **ctl_msg_attrs(struct nlmsghdr *nlh)
{
	struct nlattr **attrs = ctl_alloc((SPINDLE_A_MAX + 1) * sizeof(*attrs));

	if (!genlmsg_valid_hdr(nlh, 0) || genlmsg_parse(nlh, 0, attrs, SPINDLE_A_MAX, NULL) < 0)
		memset(attrs, 0, (SPINDLE_A_MAX + 1) * sizeof(*attrs));
	return attrs;
}

/* The attributes of a nest by number. @nest may be NULL. */
struct nlattr **ctl_nest_attrs(struct nlattr *nest, int max)
{
	struct nlattr **attrs = ctl_alloc((max + 1) * sizeof(*attrs));

	if (nest && nla_parse_nested(attrs, max, nest, NULL) < 0)
		memset(attrs, 0, (max + 1) * sizeof(*attrs));
	return attrs;
}

/* A number of any size; 0 if it is missing. */
uint64_t ctl_attr_num(const struct nlattr *attr)
{
	switch (attr ? nla_len(attr) : 0) {
	case 1:
		return nla_get_u8(attr);
	case 2:
		return nla_get_u16(attr);
	case 4:
		return nla_get_u32(attr);
	case 8:
		return nla_get_u64(attr);
	}
	return 0;
}

/* A copy of a string; "" if it is missing. */
const char *ctl_attr_str(const struct nlattr *attr)
{
	return attr ? ctl_asprintf("%.*s", nla_len(attr), (const char *)nla_data(attr)) : "";
}

/* Read all counters of a nest that have a name. */
void ctl_attr_stats(struct nlattr **attrs, int max, const struct ctl_names *names,
		    struct ctl_stats *stats)
{
	unsigned int i;

	for (i = 0; i < names->count && (int)i <= max && i < CTL_STATS_MAX; i++) {
		if (!names->name[i] || !attrs[i])
			continue;
		stats->has |= 1ULL << i;
		stats->num[i] = ctl_attr_num(attrs[i]);
	}
}

/* Read an address. If there is none, its family is AF_UNSPEC. */
void ctl_addr_get(struct ctl_addr *addr, const struct nlattr *v4, const struct nlattr *v6)
{
	memset(addr, 0, sizeof(*addr));
	if (v4 && nla_len(v4) == 4) {
		addr->family = AF_INET;
		memcpy(addr->ip, nla_data(v4), 4);
	} else if (v6 && nla_len(v6) == 16) {
		addr->family = AF_INET6;
		memcpy(addr->ip, nla_data(v6), 16);
	}
}

/* Read the values that the message has. */
void ctl_attr_vals(const struct ctl_key *keys, struct ctl_val *val, struct nlattr **attrs)
{
	for (; keys->name; keys++, val++) {
		const struct nlattr *attr = attrs[keys->attr];

		if (keys->kind == CTL_ADDR) {
			ctl_addr_get(&val->addr, attr, attrs[keys->attr6]);
			val->set = val->addr.family != AF_UNSPEC;
		} else if (attr) {
			val->set = true;
			if (keys->kind == CTL_STR)
				val->str = ctl_attr_str(attr);
			else
				val->num = ctl_attr_num(attr);
		}
	}
}

/* Fill NODE_ADD. */
void ctl_node_put(struct ctl_req *req, const struct ctl_node *node)
{
	ctl_req_vals(req, ctl_node_keys, node->val);
}

#define NODE(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_node, field, SPINDLE_A_##attr, __VA_ARGS__)

static const char *node_address(const void *rec)
{
	const struct ctl_val *val = ((const struct ctl_node *)rec)->val;

	return ctl_endpoint_text(&val[CTL_NODE_ADDR].addr, val[CTL_NODE_PORT].num);
}

const struct ctl_field ctl_node_fields[] = {
	NODE(KEYS, NULL, val, UNSPEC, .keys = ctl_node_keys),
	CTL_MADE(NULL, node_address, .head = "address"),
	NODE(TEXT, "device", device, DEVICE),
	NODE(NUM, "state", state, NODE_STATE, .names = &ctl_node_state),
	NODE(NUM, "incarnation", incarnation, INCARNATION),
	NODE(NUM, "vid", vid, VIEW_ID, .head = "view", .some = true),
	NODE(SWITCH, "timing", timing, TIMING),
	NODE(SWITCH, "keyed", keyed, KEYED),
	NODE(SWITCH, "former-key", former_key, FORMER_KEY, .some = true),
	{ 0 }
};

/* Read NODE_GET. */
void ctl_node_get(struct ctl_node *node, struct nlmsghdr *nlh)
{
	memset(node, 0, sizeof(*node));
	ctl_record_msg(ctl_node_fields, node, nlh);
	/* A module without racks sends none, so the default is right. */
	ctl_val_default(&ctl_node_keys[CTL_NODE_RACK], &node->val[CTL_NODE_RACK]);
}

static void put_member(struct ctl_req *req, const struct ctl_member *m)
{
	const char *text = ctl_asprintf("member %s", ctl_member_text(m));
	struct nlattr *nest;

	ctl_req_mark(req, m->line, text);
	nest = ctl_req_nest(req, SPINDLE_A_MEMBER, &ctl_member_attr);
	ctl_req_mark(req, m->line, ctl_asprintf("id of %s", text));
	ctl_req_u32(req, SPINDLE_MEMBER_A_ID, m->id);
	ctl_req_mark(req, m->line, ctl_asprintf("address of %s", text));
	if (m->addr.family == AF_INET6)
		ctl_req_bytes(req, SPINDLE_MEMBER_A_ADDR6, m->addr.ip, 16);
	else
		ctl_req_bytes(req, SPINDLE_MEMBER_A_ADDR4, m->addr.ip, 4);
	if (m->has_port) {
		ctl_req_mark(req, m->line, ctl_asprintf("port of %s", text));
		ctl_req_u16(req, SPINDLE_MEMBER_A_PORT, m->port);
	}
	ctl_req_nest_end(req, nest);
}

static void put_subgroup_node(struct ctl_req *req, const struct ctl_subgroup *sg, uint32_t id)
{
	bool sender = !sg->senders.set || ctl_ids_has(&sg->senders, id);
	struct nlattr *nest;

	ctl_req_mark(req, sg->members.line, ctl_asprintf("member %u", id));
	nest = ctl_req_nest(req, SPINDLE_SUBGROUP_A_NODE, &ctl_subgroup_node_attr);
	ctl_req_u32(req, SPINDLE_SUBGROUP_NODE_A_ID, id);
	if (!ctl_is_table(sg)) {
		ctl_req_mark(req, sg->senders.line, ctl_asprintf("senders, member %u", id));
		ctl_req_u8(req, SPINDLE_SUBGROUP_NODE_A_SENDER, sender);
	}
	ctl_req_nest_end(req, nest);
}

/* A view of an earlier era, by its members. */
static void put_range(struct ctl_req *req, int attr, const struct ctl_ids *ids)
{
	struct nlattr *nest;
	unsigned int i;

	ctl_req_mark(req, ids->line, ctl_asprintf("range %s", ctl_ids_text(ids)));
	nest = ctl_req_nest(req, attr, &ctl_range_attr);
	for (i = 0; i < ids->count; i++)
		ctl_req_u32(req, SPINDLE_RANGE_A_ID, ids->id[i]);
	ctl_req_nest_end(req, nest);
}

static void put_shard(struct ctl_req *req, const struct ctl_shard *shard)
{
	struct nlattr *nest;
	unsigned int i;

	ctl_req_mark(req, shard->members.line,
		     ctl_asprintf("shard of %s", ctl_ids_text(&shard->members)));
	nest = ctl_req_nest(req, SPINDLE_SUBGROUP_A_SHARD, &ctl_shard_attr);
	for (i = 0; i < shard->members.count; i++)
		ctl_req_u32(req, SPINDLE_SHARD_A_ID, shard->members.id[i]);
	ctl_req_bytes(req, SPINDLE_SHARD_A_LSN, &shard->lsn, sizeof(shard->lsn));
	for (i = 0; i < shard->ranges; i++)
		put_range(req, SPINDLE_SHARD_A_RANGE, &shard->range[i]);
	ctl_req_nest_end(req, nest);
}

/* @attr: SPINDLE_A_SUBGROUP or SPINDLE_A_REPLACE */
static void put_subgroup(struct ctl_req *req, int attr, const struct ctl_view *view,
			 const struct ctl_subgroup *sg)
{
	struct ctl_ids all = ctl_view_users(view);
	const struct ctl_ids *members = sg->members.set ? &sg->members : &all;
	struct nlattr *nest;
	unsigned int i;

	ctl_req_mark(req, sg->line, ctl_subgroup_title(sg));
	req->ctx = ctl_asprintf("%s ", ctl_subgroup_title(sg));
	nest = ctl_req_nest(req, attr, &ctl_subgroup_attr);
	ctl_req_vals(req, ctl_subgroup_keys, sg->val);
	/* A request without members means that all members of the view are in and send. */
	for (i = 0; (sg->members.set || sg->senders.set) && i < members->count; i++)
		put_subgroup_node(req, sg, members->id[i]);
	for (i = 0; i < sg->ranges; i++)
		put_range(req, SPINDLE_SUBGROUP_A_RANGE, &sg->range[i]);
	for (i = 0; i < sg->shards; i++)
		put_shard(req, &sg->shard[i]);
	if (view->is_live)
		ctl_rule_put(req, sg);
	ctl_req_nest_end(req, nest);
	req->ctx = "";
}

/**
 * ctl_changes_put() - fill SUBGROUP_CHANGE
 * @req: the request
 * @node: id of a member of the live view
 * @view: the view as the user wants it; not used if subgroups are only removed
 * @change: the changes, all or none of which the members make
 * @count: entries of @change
 */
void ctl_changes_put(struct ctl_req *req, const struct ctl_val *node, const struct ctl_view *view,
		     const struct ctl_change *change, unsigned int count)
{
	const struct ctl_change *end = change + count;

	ctl_req_mark(req, 0, "node");
	ctl_req_u32(req, SPINDLE_A_NODE_ID, node->num);
	for (; change < end; change++) {
		if (change->attr != SPINDLE_A_REMOVE) {
			put_subgroup(req, change->attr, view, change->sg);
			continue;
		}
		ctl_req_mark(req, 0, ctl_subgroup_title(change->sg));
		ctl_req_u32(req, SPINDLE_A_REMOVE, change->sg->val[CTL_SG_ID].num);
	}
}

/* Fill VIEW_SET. */
void ctl_view_put(struct ctl_req *req, const struct ctl_val *node, const struct ctl_view *view)
{
	unsigned int i;

	ctl_req_val(req, &ctl_at_node_keys[0], node);
	ctl_req_val(req, &ctl_vid_key, &view->vid);
	if (view->is_live)
		ctl_live_put(req, view);
	for (i = 0; i < view->members; i++)
		put_member(req, &view->member[i]);
	for (i = 0; i < view->subgroups; i++)
		put_subgroup(req, SPINDLE_A_SUBGROUP, view, &view->subgroup[i]);
}

/* Fill SUBGROUP_SET. Only the switches that have a value change. */
void ctl_tune_put(struct ctl_req *req, const struct ctl_val *tune)
{
	struct nla_bitfield32 switches = { 0 };
	const char *text = "";
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < CTL_TUNE_SWITCHES; i++) {
		if (!tune[i].set)
			continue;
		switches.selector |= 1U << i;
		switches.value |= tune[i].num << i;
		text = ctl_asprintf("%s%s%s %s", text, *text ? " " : "",
				    ctl_tune_keys[i].name,
				    ctl_val_text(&ctl_tune_keys[i], &tune[i]));
	}
	ctl_req_mark(req, 0, "tuning");
	nest = ctl_req_nest(req, SPINDLE_A_TUNE, &ctl_tune_attr);
	if (switches.selector) {
		ctl_req_mark(req, 0, text);
		ctl_req_bytes(req, SPINDLE_TUNE_A_SWITCHES, &switches, sizeof(switches));
	}
	ctl_req_vals(req, ctl_tune_keys + CTL_TUNE_SWITCHES, tune + CTL_TUNE_SWITCHES);
	ctl_req_nest_end(req, nest);
}

/* Read the tuning of a subgroup. @tune is zeroed. @nest may be NULL. */
void ctl_tune_get(struct ctl_val *tune, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_TUNE_A_MAX), *attr;
	struct nla_bitfield32 switches = { 0 };
	unsigned int i;

	attr = a[SPINDLE_TUNE_A_SWITCHES];
	if (attr && nla_len(attr) >= (int)sizeof(switches))
		memcpy(&switches, nla_data(attr), sizeof(switches));
	for (i = 0; i < CTL_TUNE_SWITCHES; i++) {
		tune[i].set = switches.selector & 1U << i;
		tune[i].num = !!(switches.value & 1U << i);
	}
	ctl_attr_vals(ctl_tune_keys + CTL_TUNE_SWITCHES, tune + CTL_TUNE_SWITCHES, a);
}

static void get_hist(struct ctl_hist *hist, const struct nlattr *attr)
{
	if (!attr)
		return;
	hist->entries = nla_len(attr) / sizeof(hist->num[0]);
	if (hist->entries > CTL_HIST_MAX)
		hist->entries = CTL_HIST_MAX;
	memcpy(hist->num, nla_data(attr), hist->entries * sizeof(hist->num[0]));
}

#define MEMBER(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_member, field, SPINDLE_MEMBER_A_##attr, __VA_ARGS__)
#define READER(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_reader, field, SPINDLE_READER_A_##attr, __VA_ARGS__)
#define ROW(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_row, field, SPINDLE_ROW_A_##attr, __VA_ARGS__)
#define SUBGROUP(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_subgroup, field, SPINDLE_SUBGROUP_A_##attr, __VA_ARGS__)

const struct ctl_field ctl_member_fields[] = {
	MEMBER(NUM, "id", id, ID),
	MEMBER(ADDR, "addr", addr, ADDR4, .attr6 = SPINDLE_MEMBER_A_ADDR6),
	MEMBER(NUM, "port", port, PORT),
	{ 0 }
};

static const struct ctl_field view_fields[] = {
	CTL_LIST(NULL, struct ctl_view, member, members, ctl_member_fields,
		 .attr = SPINDLE_A_MEMBER),
	{ 0 }
};

const struct ctl_field ctl_reader_fields[] = {
	READER(NUM, "pid", pid, PID, .dash = true),
	READER(TEXT, "comm", comm, COMM),
	READER(FLAG, "copy", copy, COPY),
	READER(NUM, "lag", lag, LAG),
	READER(NUM, "idle-ms", idle_ms, IDLE_MS),
	READER(NUM, "lsn", lsn, LSN),
	READER(NUM, "reads", reads, READS, .names = &ctl_reads),
	READER(NUM, "replica", replica, REPLICA, .names = &ctl_replica_state, .some = true),
	READER(NUM, "replica-ms", replica_ms, REPLICA_MS, .some = true),
	READER(NUM, "donor", donor, DONOR, .some = true),
	READER(NUM, "received", received, RECEIVED, .some = true),
	READER(NUM, "bytes", bytes, BYTES, .some = true),
	READER(NUM, "serving", serving, SERVING, .some = true),
	READER(VAL, "left-ms", left_ms, UNSPEC),
	{ 0 }
};

#define ROW_LOGGED	offsetof(struct ctl_row, logged)

const struct ctl_field ctl_row_fields[] = {
	ROW(NUM, "id", id, ID, .head = "member"),
	ROW(NUM, "sent", sent, SENT),
	ROW(NUM, "slots", slots, SLOTS),
	ROW(NUM, "received", received, RECEIVED),
	ROW(NUM, "delivered", delivered, DELIVERED),
	ROW(NUM, "ahead", ahead, UNSPEC, .needs = offsetof(struct ctl_row, sends)),
	ROW(NUM, "recv-lag", recv_lag, UNSPEC),
	ROW(NUM, "dlv-lag", dlv_lag, UNSPEC),
	ROW(NUM, "persisted", persisted, PERSISTED, .needs = ROW_LOGGED),
	ROW(NUM, "low", low, LOW, .needs = ROW_LOGGED),
	ROW(NUM, "snapshot", snapshot, SNAPSHOT, .needs = ROW_LOGGED),
	ROW(NUM, "record", record, RECORD, .needs = ROW_LOGGED),
	ROW(NUM, "log-state", log_state, LOG_STATE, .names = &ctl_log_state,
	    .needs = ROW_LOGGED),
	ROW(FLAG, "awaited", awaited, AWAITED, .needs = ROW_LOGGED),
	{ 0 }
};

#define MESSAGES	offsetof(struct ctl_subgroup, messages)
#define TABULAR		offsetof(struct ctl_subgroup, tabular)
#define LOGGED		offsetof(struct ctl_subgroup, logged)

const struct ctl_field ctl_subgroup_fields[] = {
	CTL_MADE(NULL, ctl_mode_text, .head = "mode"),
	SUBGROUP(KEYS, NULL, val, UNSPEC, .keys = ctl_subgroup_keys),
	SUBGROUP(NUM, NULL, val[CTL_SG_ID].num, UNSPEC, .head = "subgroup"),
	SUBGROUP(NUM, NULL, val[CTL_SG_ID].num, UNSPEC, .head = "table"),
	SUBGROUP(IDS, "members", members, UNSPEC),
	SUBGROUP(IDS, "senders", senders, UNSPEC),
	SUBGROUP(NUM, "state", state, STATE, .names = &ctl_state),
	SUBGROUP(NUM, "error", error, ERROR, .names = &ctl_error, .dash = true),
	SUBGROUP(NUM, "readers", readers, READERS, .needs = MESSAGES),
	SUBGROUP(FLAG, "sender", sender, SENDER, .needs = MESSAGES),
	SUBGROUP(NUM, "files", readers, UNSPEC, .needs = TABULAR),
	SUBGROUP(FLAG, "writer", sender, UNSPEC, .needs = TABULAR),
	SUBGROUP(VAL, "oldest", oldest, OLDEST),
	SUBGROUP(NUM, "durable", durable, DURABLE, .needs = LOGGED),
	SUBGROUP(FLAG, "established", established, ESTABLISHED, .needs = LOGGED),
	SUBGROUP(NUM, "durable-ms", durable_ms, DURABLE_MS, .needs = LOGGED),
	SUBGROUP(STATS, "stats", stats, STATS, .names = &ctl_subgroup_stat, .needs = MESSAGES),
	SUBGROUP(STATS, "stats", table_stats, TABLE_STATS, .names = &ctl_table_stat,
		 .head = "table-stats", .needs = TABULAR),
	SUBGROUP(NUM, NULL, stats.num[SPINDLE_SUBGROUP_S_SENT], UNSPEC, .head = "sent"),
	SUBGROUP(NUM, NULL, stats.num[SPINDLE_SUBGROUP_S_RECEIVED], UNSPEC, .head = "received"),
	SUBGROUP(NUM, NULL, stats.num[SPINDLE_SUBGROUP_S_DELIVERED], UNSPEC, .head = "delivered"),
	SUBGROUP(NUM, NULL, table_stats.num[SPINDLE_TABLE_S_TAKEN], UNSPEC, .head = "taken"),
	SUBGROUP(NUM, NULL, table_stats.num[SPINDLE_TABLE_S_BLOCKS], UNSPEC, .head = "pushed"),
	SUBGROUP(NUM, NULL, table_stats.num[SPINDLE_TABLE_S_HEARD], UNSPEC, .head = "heard"),
	SUBGROUP(NUM, NULL, table_stats.num[SPINDLE_TABLE_S_GENERATION], UNSPEC,
		 .head = "generation"),
	CTL_LIST(NULL, struct ctl_subgroup, reader, reader_count, ctl_reader_fields,
		 .attr = SPINDLE_SUBGROUP_A_READER),
	CTL_LIST(NULL, struct ctl_subgroup, row, rows, ctl_row_fields,
		 .attr = SPINDLE_SUBGROUP_A_ROW),
	{ 0 }
};

static void get_subgroup_node(struct ctl_subgroup *sg, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_SUBGROUP_NODE_A_MAX);
	uint32_t id = ctl_attr_num(a[SPINDLE_SUBGROUP_NODE_A_ID]);

	sg->members.set = true;
	sg->senders.set = true;
	ctl_ids_add(&sg->members, id);
	if (ctl_is_table(sg))
		return;
	if (!a[SPINDLE_SUBGROUP_NODE_A_SENDER] ||
	    ctl_attr_num(a[SPINDLE_SUBGROUP_NODE_A_SENDER]))
		ctl_ids_add(&sg->senders, id);
}

/* When will the rest of a snapshot be here? */
static void reckon(struct ctl_reader *r)
{
	double ms;

	if (r->replica != SPINDLE_REPLICA_RECEIVING || !r->received || r->received > r->bytes)
		return;
	ms = (double)r->replica_ms * (r->bytes - r->received) / r->received;
	/* A process reports any numbers; what is beyond a u64 is as good as not known. */
	if (ms < (double)UINT64_MAX)
		r->left_ms = ctl_val_num(ms);
}

/* Read a subgroup of VIEW_GET or SUBGROUP_GET. */
void ctl_subgroup_get(struct ctl_subgroup *sg, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_SUBGROUP_A_MAX);
	struct nlattr *attr;
	unsigned int i;
	int rem;

	memset(sg, 0, sizeof(*sg));
	ctl_record_nest(ctl_subgroup_fields, sg, nest);
	sg->tabular = ctl_is_table(sg);
	sg->messages = !sg->tabular;
	sg->logged = ctl_is_logged(sg);
	ctl_tune_get(sg->tune, a[SPINDLE_SUBGROUP_A_TUNE]);
	ctl_rule_get(sg, a[SPINDLE_SUBGROUP_A_RULE]);
	get_hist(&sg->hist[CTL_SEND], a[SPINDLE_SUBGROUP_A_SEND_HIST]);
	get_hist(&sg->hist[CTL_RECV], a[SPINDLE_SUBGROUP_A_RECV_HIST]);
	get_hist(&sg->hist[CTL_DLV], a[SPINDLE_SUBGROUP_A_DLV_HIST]);
	if (!nest)
		return;
	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == SPINDLE_SUBGROUP_A_NODE)
			get_subgroup_node(sg, attr);
	for (i = 0; i < sg->rows; i++) {
		ctl_row_lag(sg, &sg->row[i]);
		sg->row[i].logged = sg->logged;
	}
	for (i = 0; i < sg->reader_count; i++)
		reckon(&sg->reader[i]);
}

/* Read VIEW_GET. */
void ctl_view_get(struct ctl_view *view, struct nlmsghdr *nlh)
{
	struct nlattr **a = ctl_msg_attrs(nlh);
	struct genlmsghdr *genl = nlmsg_data(nlh);
	struct ctl_member *m;
	struct nlattr *attr;
	int rem;

	memset(view, 0, sizeof(*view));
	view->vid.set = true;
	view->vid.num = ctl_attr_num(a[SPINDLE_A_VIEW_ID]);
	ctl_live_get(view, a[SPINDLE_A_LIVE]);
	view->lineage = ctl_lineage_get(a[SPINDLE_A_LINEAGE], ctl_attr_num(a[SPINDLE_A_ERA]));
	view->insecure = a[SPINDLE_A_INSECURE];
	ctl_record_msg(view_fields, view, nlh);
	for (m = view->member; m < view->member + view->members; m++) {
		m->has_port = true;
		m->port = m->port ? m->port : SPINDLE_DEF_PORT;
	}
	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem)
		if (nla_type(attr) == SPINDLE_A_SUBGROUP)
			ctl_subgroup_get(CTL_ADD(view->subgroup, view->subgroups), attr);
}
