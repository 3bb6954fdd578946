// SPDX-License-Identifier: GPL-2.0-only
/* The status of a live view, read from messages. See status.h. */
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "live.h"
#include "status.h"
#include "util.h"
#include "wire.h"

/* A number that may be missing. */
static struct ctl_val num_val(const struct nlattr *attr)
{
	return (struct ctl_val){ .set = attr, .num = ctl_attr_num(attr) };
}

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

static void get_member(struct ctl_status_member *m, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_LIVE_MEMBER_A_MAX), *attr;
	int rem;

	m->id = ctl_attr_num(a[SPINDLE_LIVE_MEMBER_A_ID]);
	m->rank = num_val(a[SPINDLE_LIVE_MEMBER_A_RANK]);
	m->state = num_val(a[SPINDLE_LIVE_MEMBER_A_STATE]);
	m->vid = num_val(a[SPINDLE_LIVE_MEMBER_A_VIEW]);
	m->beat = num_val(a[SPINDLE_LIVE_MEMBER_A_BEAT_MS]);
	m->why = ctl_attr_num(a[SPINDLE_LIVE_MEMBER_A_WHY]);
	m->lag = ctl_attr_num(a[SPINDLE_LIVE_MEMBER_A_LAG]);
	m->lag_bytes = ctl_attr_num(a[SPINDLE_LIVE_MEMBER_A_LAG_BYTES]);
	m->reason = ctl_attr_str(a[SPINDLE_LIVE_MEMBER_A_REASON]);
	m->by.set = true;
	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY)
			ctl_ids_add(&m->by, ctl_attr_num(attr));
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
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_LIVE_A_MAX), *attr;
	int rem, i;

	_Static_assert(SPINDLE_LIVE_A_INSTALL_US - SPINDLE_LIVE_A_DETECT_US == CTL_INSTALL,
		       "phases are in the order of their attributes");
	ctl_attr_vals(ctl_live_keys, s->live, a);
	ctl_witness_get(&s->witnesses, nest);
	s->state = ctl_attr_num(a[SPINDLE_LIVE_A_STATE]);
	s->why = ctl_attr_num(a[SPINDLE_LIVE_A_WHY]);
	s->reason = ctl_attr_str(a[SPINDLE_LIVE_A_REASON]);
	s->changes = ctl_attr_num(a[SPINDLE_LIVE_A_CHANGES]);
	for (i = 0; i < CTL_PHASES; i++)
		s->phase[i] = num_val(a[SPINDLE_LIVE_A_DETECT_US + i]);
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != SPINDLE_LIVE_A_MEMBER)
			continue;
		s->member = ctl_grow(s->member, s->members, sizeof(*s->member));
		get_member(&s->member[s->members++], attr);
	}
	if (s->members)
		qsort(s->member, s->members, sizeof(*s->member), compare);
}

static void get_contact(struct ctl_status_contact *c, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_CONTACT_A_MAX);

	ctl_addr_get(&c->addr, a[SPINDLE_CONTACT_A_ADDR4], a[SPINDLE_CONTACT_A_ADDR6]);
	c->port = ctl_attr_num(a[SPINDLE_CONTACT_A_PORT]);
	c->reason = ctl_attr_str(a[SPINDLE_CONTACT_A_REASON]);
	c->final = ctl_attr_num(a[SPINDLE_CONTACT_A_FINAL]);
}

static void get_contacts(struct ctl_status *s, struct nlmsghdr *nlh)
{
	struct genlmsghdr *genl = nlmsg_data(nlh);
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(attr) != SPINDLE_A_CONTACT)
			continue;
		s->contact = ctl_grow(s->contact, s->contacts, sizeof(*s->contact));
		get_contact(&s->contact[s->contacts++], attr);
	}
}

/* Read STATUS_GET. */
static void ctl_status_get(struct ctl_status *s, struct nlmsghdr *nlh)
{
	struct nlattr **a = ctl_msg_attrs(nlh);

	s->node = ctl_attr_num(a[SPINDLE_A_NODE_ID]);
	s->is_live = a[SPINDLE_A_LIVE];
	s->lineage = ctl_lineage_get(a[SPINDLE_A_LINEAGE]);
	s->insecure = a[SPINDLE_A_INSECURE];
	get_contacts(s, nlh);
	if (a[SPINDLE_A_VIEW_ID])
		s->vid = ctl_attr_num(a[SPINDLE_A_VIEW_ID]);
	if (s->is_live)
		get_live(s, a[SPINDLE_A_LIVE]);
	else
		s->reason = ctl_attr_str(a[SPINDLE_A_REASON]);
}

static struct ctl_status *find(struct ctl_status *list, unsigned int count, uint64_t node)
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
		s = find(*status, *count, id);
		if (s)
			ctl_status_get(s, replies.msg[i]);
	}
	return 0;
}
