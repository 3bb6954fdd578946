// SPDX-License-Identifier: GPL-2.0-only
/* The status of a live view, read from messages. See status.h. */
#include <stdlib.h>

#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "live.h"
#include "names.h"
#include "status.h"
#include "util.h"
#include "wire.h"

#define LIVE(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_status, field, SPINDLE_LIVE_A_##attr, __VA_ARGS__)
#define MEMBER(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_status_member, field, SPINDLE_LIVE_MEMBER_A_##attr,	\
		  __VA_ARGS__)
#define CONTACT(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_status_contact, field, SPINDLE_CONTACT_A_##attr,	\
		  __VA_ARGS__)

const struct ctl_field ctl_status_member_fields[] = {
	MEMBER(NUM, "id", id, ID, .head = "member"),
	MEMBER(FLAG, "self", self, UNSPEC),
	MEMBER(VAL, "rank", rank, RANK),
	MEMBER(FLAG, "joins", joins, UNSPEC),
	MEMBER(FLAG, "witness", witness, UNSPEC, .some = true),
	MEMBER(VAL, "state", state, STATE, .names = &ctl_peer_state),
	MEMBER(VAL, "vid", vid, VIEW, .head = "view"),
	MEMBER(VAL, "beat-ms", beat, BEAT_MS, .head = "beat"),
	MEMBER(NUM, "why", why, WHY, .names = &ctl_why),
	MEMBER(IDS, "suspected-by", by, SUSPECTED_BY),
	MEMBER(NUM, "lag", lag, LAG),
	MEMBER(NUM, "lag-bytes", lag_bytes, LAG_BYTES, .head = "bytes"),
	MEMBER(TEXT, "reason", reason, REASON, .some = true),
	{ 0 }
};

static const char *contact_text(const void *rec)
{
	const struct ctl_status_contact *c = rec;

	return ctl_endpoint_text(&c->addr, c->port);
}

static const char *answer_text(const void *rec)
{
	const struct ctl_status_contact *c = rec;

	return *c->reason ? c->reason : "not asked yet";
}

const struct ctl_field ctl_status_contact_fields[] = {
	CTL_MADE(NULL, contact_text, .head = "contact"),
	CTL_MADE(NULL, answer_text, .head = "answer"),
	CONTACT(ADDR, "addr", addr, ADDR4, .attr6 = SPINDLE_CONTACT_A_ADDR6),
	CONTACT(NUM, "port", port, PORT),
	CONTACT(TEXT, "answer", reason, REASON),
	CONTACT(FLAG, "final", final, FINAL),
	{ 0 }
};

const struct ctl_field ctl_status_live_fields[] = {
	LIVE(NUM, "state", state, STATE, .names = &ctl_live_state),
	LIVE(NUM, "vid", vid, UNSPEC, .some = true),
	LIVE(TEXT, "lineage", lineage.str, UNSPEC, .some = true),
	LIVE(FLAG, "insecure", insecure, UNSPEC),
	LIVE(NUM, "changes", changes, CHANGES),
	LIVE(NUM, "why", why, WHY, .names = &ctl_why),
	LIVE(TEXT, "reason", reason, REASON),
	LIVE(KEYS, NULL, live, UNSPEC, .keys = ctl_live_keys),
	LIVE(IDS, NULL, witnesses, WITNESS),
	LIVE(VAL, "wanted-by", wanted_by, WANTED_BY, .some = true),
	LIVE(IDS, "offered-by", offered_by, OFFERED_BY, .some = true),
	LIVE(VAL, "detect-us", phase[CTL_DETECT], DETECT_US),
	LIVE(VAL, "wedge-us", phase[CTL_WEDGE], WEDGE_US),
	LIVE(VAL, "agree-us", phase[CTL_AGREE], AGREE_US),
	LIVE(VAL, "install-us", phase[CTL_INSTALL], INSTALL_US),
	CTL_LIST("members", struct ctl_status, member, members, ctl_status_member_fields,
		 .attr = SPINDLE_LIVE_A_MEMBER),
	CTL_LIST("contacts", struct ctl_status, contact, contacts, ctl_status_contact_fields,
		 .some = true),
	{ 0 }
};

static const struct ctl_field status_fields[] = {
	CTL_LIST(NULL, struct ctl_status, contact, contacts, ctl_status_contact_fields,
		 .attr = SPINDLE_A_CONTACT),
	{ 0 }
};

/* Does this node or another member suspect @m? */
bool ctl_status_suspects(const struct ctl_status_member *m)
{
	return m->why != SPINDLE_WHY_FINE || m->by.count;
}

/* The member with this id, or NULL. */
const struct ctl_status_member *ctl_status_member(const struct ctl_status *s, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < s->members; i++)
		if (s->member[i].id == id)
			return &s->member[i];
	return NULL;
}

/* Order members by rank. Nodes without a rank come last, ordered by id. */
static int compare(const void *one, const void *two)
{
	const struct ctl_status_member *a = one, *b = two;

	if (a->rank.set != b->rank.set)
		return a->rank.set ? -1 : 1;
	if (a->rank.num != b->rank.num)
		return a->rank.num < b->rank.num ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void get_live(struct ctl_status *s, struct nlattr *nest)
{
	struct ctl_status_member *m;

	ctl_record_nest(ctl_status_live_fields, s, nest);
	for (m = s->member; m < s->member + s->members; m++) {
		m->self = m->id == s->node;
		m->joins = !m->rank.set && s->state != SPINDLE_LIVE_JOINING;
		m->witness = ctl_ids_has(&s->witnesses, m->id);
	}
	if (s->members)
		qsort(s->member, s->members, sizeof(*s->member), compare);
}

/* Read STATUS_GET. */
static void ctl_status_get(struct ctl_status *s, struct nlmsghdr *nlh)
{
	struct nlattr **a = ctl_msg_attrs(nlh);

	s->node = ctl_attr_num(a[SPINDLE_A_NODE_ID]);
	s->is_live = a[SPINDLE_A_LIVE];
	s->lineage = ctl_lineage_get(a[SPINDLE_A_LINEAGE], ctl_attr_num(a[SPINDLE_A_ERA]));
	s->insecure = a[SPINDLE_A_INSECURE];
	ctl_record_msg(status_fields, s, nlh);
	if (a[SPINDLE_A_VIEW_ID])
		s->vid = ctl_attr_num(a[SPINDLE_A_VIEW_ID]);
	if (s->is_live)
		get_live(s, a[SPINDLE_A_LIVE]);
	else
		s->reason = ctl_attr_str(a[SPINDLE_A_REASON]);
}

/* The status of a node, or NULL. */
struct ctl_status *ctl_status_find(struct ctl_status *list, unsigned int count, uint64_t node)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (list[i].node == node)
			return &list[i];
	return NULL;
}

/* A node in no live view has no status, so its entry is filled from the list of nodes. */
static void from_nodes(struct ctl_status *list, const struct ctl_running *running,
		       unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		list[i].node = running[i].node.val[CTL_NODE_ID].num;
		list[i].cluster = running[i].node.val[CTL_NODE_CLUSTER].str;
		list[i].device = running[i].node.device;
		list[i].is_dead = running[i].node.state == SPINDLE_NODE_DEAD;
		list[i].vid = running[i].node.vid;
		list[i].reason = "";
	}
}

/**
 * ctl_fetch_status() - the status of all nodes, or of one
 * @net: socket
 * @what: purpose of the request, for messages
 * @node: node id; not set: all nodes
 * @say: whether to tell the user the reason of a refusal
 * @status: out: status of each node
 * @count: out: entries of @status
 *
 * Return: 0 or -errno
 */
int ctl_fetch_status(struct ctl_net *net, const char *what, const struct ctl_val *node,
		     enum ctl_say say, struct ctl_status **status, unsigned int *count)
{
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_STATUS_GET, NLM_F_DUMP, what);
	struct ctl_running *running;
	struct ctl_replies replies;
	struct ctl_status *s;
	unsigned int i;
	int rc;

	ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], node);
	rc = ctl_net_call(net, req, &replies, say);
	nlmsg_free(req->msg);
	if (!rc)
		rc = ctl_fetch(net, what, node, &running, count, false);
	if (rc)
		return rc;
	*status = ctl_alloc(*count * sizeof(**status) + 1);
	from_nodes(*status, running, *count);
	for (i = 0; i < replies.count; i++) {
		uint64_t id = ctl_attr_num(ctl_msg_attrs(replies.msg[i])[SPINDLE_A_NODE_ID]);

		/* Skip a node that is not in the list, because it came after the list was read. */
		s = ctl_status_find(*status, *count, id);
		if (s)
			ctl_status_get(s, replies.msg[i]);
	}
	return 0;
}
