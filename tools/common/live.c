// SPDX-License-Identifier: GPL-2.0-only
/* Live views, as the user asks for them. See live.h. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/attr.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "live.h"
#include "names.h"
#include "util.h"
#include "wire.h"

#define LIVE(at, name, conf, kind, attr, ...)	\
	[CTL_LIVE_##at] = CTL_KEY(name, conf, kind, SPINDLE_LIVE_A_##attr, __VA_ARGS__)
#define RULE(at, name, conf, kind, attr, ...)	\
	[CTL_RULE_##at] = CTL_KEY(name, conf, kind, SPINDLE_RULE_A_##attr, __VA_ARGS__)

const struct ctl_key ctl_live_keys[] = {
	LIVE(TIMEOUT, "timeout-ms", "TimeoutMs", U32, TIMEOUT_MS, .min = SPINDLE_MIN_TIMEOUT_MS,
	     .max = SPINDLE_MAX_TIMEOUT_MS, .def = SPINDLE_DEF_TIMEOUT_MS),
	LIVE(MAX_NODES, "max-nodes", "MaxNodes", U32, MAX_NODES, .min = 1,
	     .max = SPINDLE_MAX_MEMBERS, .def = SPINDLE_DEF_MAX_NODES),
	LIVE(QUORUM, "quorum", "Quorum", BOOL, QUORUM, .def = 1),
	LIVE(SPARES, "spares", "Spares", U32, SPARES, .max = SPINDLE_MAX_SUBGROUPS),
	LIVE(SPARE_WINDOW, "spare-window", "SpareWindow", U32, SPARE_WINDOW, .min = 1,
	     .max = SPINDLE_MAX_WINDOW, .def = SPINDLE_DEF_WINDOW),
	LIVE(SPARE_RING, "spare-ring", "SpareRing", BYTES, SPARE_RING,
	     .def = SPINDLE_DEF_SPARE_RING),
	{ .name = NULL }
};

const struct ctl_key ctl_rule_keys[] = {
	RULE(SHARDS, "shards", "Shards", U32, SHARDS, .min = 1, .max = SPINDLE_MAX_MEMBERS,
	     .def = 1),
	RULE(MIN, "min", "Min", U32, MIN, .min = 1, .max = SPINDLE_MAX_MEMBERS, .def = 1),
	RULE(ON_EXIT, "on-exit", "OnExit", ENUM, ON_EXIT, .names = &ctl_on_exit,
	     .def = SPINDLE_ON_EXIT_DISCARD),
	{ .name = NULL }
};

/* A word of files. On the command line, "live" is a word without a value. */
const struct ctl_key ctl_live_key = CTL_KEY("live", "Live", BOOL, 0);

/* An address, and a port if the text has one. On the wire these are two attributes. */
const struct ctl_key ctl_contact_key = CTL_KEY("contact", "Join", STR, 0);

/* A list of node ids. On the wire each id is one attribute. */
const struct ctl_key ctl_witness_key = CTL_KEY("witness", "Witness", STR, 0);

/* 32 hexadecimal digits, and an era. On the wire these are an attribute of bytes, and a number. */
const struct ctl_key ctl_lineage_key = CTL_KEY("lineage", "Lineage", STR, 0);

/*
 * A word of files. On the command line, "insecure" is a word without a value; on the wire it is a
 * flag.
 */
const struct ctl_key ctl_insecure_key = CTL_KEY("insecure", "Insecure", BOOL, 0);

/* A key of the subgroup that only a live view has, or NULL. */
static const char *live_key(const struct ctl_subgroup *sg)
{
	unsigned int k;

	for (k = 0; k < CTL_RULE_VALS; k++)
		if (sg->rule[k].set)
			return ctl_rule_keys[k].name;
	return ctl_is_logged(sg) ? ctl_subgroup_keys[CTL_SG_LOG].name : NULL;
}

/**
 * ctl_live_check() - does only a live view have the properties of live views?
 * @view: view
 *
 * The kernel could not refuse a rule of a view that is not live, because ctl_view_put() does not
 * send that rule.
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_live_check(const struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; !view->is_live && i < view->subgroups; i++) {
		const char *key = live_key(&view->subgroup[i]);

		if (key)
			return ctl_asprintf("%s: '%s' is for live views only; add 'live'",
					    ctl_subgroup_title(&view->subgroup[i]), key);
	}
	if (!view->is_live && view->insecure)
		return "'insecure' is for live views only; add 'live'";
	if (view->is_live && view->live[CTL_LIVE_MAX_NODES].set &&
	    view->members > view->live[CTL_LIVE_MAX_NODES].num)
		return ctl_asprintf("there are %u members, and max-nodes is %llu", view->members,
				    (unsigned long long)view->live[CTL_LIVE_MAX_NODES].num);
	return NULL;
}

/**
 * ctl_witness_parse() - read the ids of witnesses, like 3 or 3,4
 * @text: ids
 * @ids: out: the list
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_witness_parse(const char *text, struct ctl_ids *ids)
{
	const char *err = ctl_ids_parse(text, ids, false);

	if (!err && ids->set && ids->count <= SPINDLE_MAX_WITNESSES)
		return NULL;
	if (!err && ids->set)
		return ctl_asprintf("there are at most %d witnesses", SPINDLE_MAX_WITNESSES);
	ids->set = false;
	return "not a list of node ids like 3 or 3,4";
}

/* Describe the properties of a live view, for people. */
const char *ctl_live_text(const struct ctl_view *view)
{
	const char *witness = view->witnesses.count ?
			      ctl_asprintf(", witness %s", ctl_ids_text(&view->witnesses)) : "";
	struct ctl_val val[CTL_LIVE_VALS];
	unsigned int i;

	for (i = 0; i < CTL_LIVE_VALS; i++) {
		val[i] = view->live[i];
		ctl_val_default(&ctl_live_keys[i], &val[i]);
	}
	return ctl_asprintf("live: timeout %llu ms, %llu members at most, %s%s%s",
			    (unsigned long long)val[CTL_LIVE_TIMEOUT].num,
			    (unsigned long long)val[CTL_LIVE_MAX_NODES].num,
			    val[CTL_LIVE_QUORUM].num ? "a majority goes on" :
						       "any part goes on", witness,
			    view->insecure ? ", insecure (without a key)" : "");
}

/* Sort the nodes that rules name, because their order has no meaning. */
struct ctl_ids ctl_ids_sorted(const struct ctl_ids *ids)
{
	struct ctl_ids out = { .set = ids->set, .line = ids->line };
	unsigned int i, k;

	for (i = 0; i < ids->count; i++) {
		ctl_ids_add(&out, ids->id[i]);
		for (k = out.count - 1; k && out.id[k - 1] > out.id[k]; k--) {
			uint32_t id = out.id[k];

			out.id[k] = out.id[k - 1];
			out.id[k - 1] = id;
		}
	}
	return out;
}

/**
 * ctl_rule_resolve() - fill in what a subgroup of a live view leaves out
 * @view: the view of the subgroup, as the user asks for it
 * @sg: subgroup as it was given
 *
 * Return: the subgroup, with the nodes that its rule names, in order
 */
struct ctl_subgroup ctl_rule_resolve(const struct ctl_view *view, const struct ctl_subgroup *sg)
{
	struct ctl_subgroup out = ctl_subgroup_resolve(view, sg);
	struct ctl_ids all = ctl_view_users(view);
	unsigned int i;

	for (i = 0; i < CTL_RULE_VALS; i++)
		if (ctl_rule_has(sg, i))
			ctl_val_default(&ctl_rule_keys[i], &out.rule[i]);
	if (ctl_is_table(sg)) {
		out.members = ctl_ids_sorted(&sg->members);
		return out;
	}
	/* On the wire a sender is a member with a flag, so a list of senders names all members. */
	out.members = ctl_ids_sorted(sg->senders.set && !sg->members.set ? &all : &sg->members);
	out.senders = ctl_ids_sorted(&sg->senders);
	return out;
}

/**
 * ctl_live_asked() - the request that leads to a live view as it is now
 * @view: view as the kernel shows it
 *
 * Return: the view with one subgroup for each rule, where the kernel shows each shard. The
 *	subgroups have the nodes that the rules name, where the kernel shows those that are members.
 */
struct ctl_view ctl_live_asked(const struct ctl_view *view)
{
	struct ctl_view out = *view;
	unsigned int i, step;

	out.subgroup = NULL;
	out.subgroups = 0;
	for (i = 0; i < view->subgroups; i += step) {
		const struct ctl_val *shards = &view->subgroup[i].rule[CTL_RULE_SHARDS];
		struct ctl_subgroup *sg = CTL_ADD(out.subgroup, out.subgroups);

		*sg = view->subgroup[i];
		sg->members = sg->named;
		sg->senders = sg->named_senders;
		step = shards->set && shards->num ? shards->num : 1;
	}
	return out;
}

/* Add the properties of a live view to VIEW_SET. */
void ctl_live_put(struct ctl_req *req, const struct ctl_view *view)
{
	struct nlattr *nest;
	unsigned int i;

	ctl_req_mark(req, 0, "live");
	nest = ctl_req_nest(req, SPINDLE_A_LIVE, &ctl_live_attr);
	ctl_req_vals(req, ctl_live_keys, view->live);
	for (i = 0; i < view->witnesses.count; i++) {
		ctl_req_mark(req, view->witnesses.line,
			     ctl_asprintf("witness %u", view->witnesses.id[i]));
		ctl_req_u32(req, SPINDLE_LIVE_A_WITNESS, view->witnesses.id[i]);
	}
	ctl_req_nest_end(req, nest);
	ctl_lineage_put(req, &view->lineage);
	if (view->insecure)
		ctl_insecure_put(req, view->line);
	ctl_contacts_put(req, view->contact, view->contacts);
}

/*
 * Add the rule to a subgroup of a live view. Where the user names senders, the request has to say
 * that other members do not send, because by default all later members do.
 */
void ctl_rule_put(struct ctl_req *req, const struct ctl_subgroup *sg)
{
	bool any = sg->senders.set;
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < CTL_RULE_VALS; i++)
		any |= sg->rule[i].set;
	if (!any)
		return;
	ctl_req_mark(req, sg->line, "rule");
	nest = ctl_req_nest(req, SPINDLE_SUBGROUP_A_RULE, &ctl_rule_attr);
	ctl_req_vals(req, ctl_rule_keys, sg->rule);
	if (sg->senders.set) {
		ctl_req_mark(req, sg->senders.line, "senders");
		ctl_req_u8(req, SPINDLE_RULE_A_SENDERS, 0);
	}
	ctl_req_nest_end(req, nest);
}

/* Read the witnesses of VIEW_GET or STATUS_GET. */
void ctl_witness_get(struct ctl_ids *ids, struct nlattr *nest)
{
	struct nlattr *attr;
	int rem;

	*ids = (struct ctl_ids){ .set = true };
	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == SPINDLE_LIVE_A_WITNESS)
			ctl_ids_add(ids, ctl_attr_num(attr));
}

/* Read the live view of VIEW_GET. */
void ctl_live_get(struct ctl_view *view, struct nlattr *nest)
{
	view->is_live = nest;
	ctl_attr_vals(ctl_live_keys, view->live, ctl_nest_attrs(nest, SPINDLE_LIVE_A_MAX));
	if (nest)
		ctl_witness_get(&view->witnesses, nest);
}

/* Read the rule of a subgroup of VIEW_GET. */
void ctl_rule_get(struct ctl_subgroup *sg, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_RULE_A_MAX), *attr, **n;
	bool some = a[SPINDLE_RULE_A_SENDERS] && !ctl_attr_num(a[SPINDLE_RULE_A_SENDERS]);
	int rem;

	ctl_attr_vals(ctl_rule_keys, sg->rule, a);
	if (!nest)
		return;
	nla_for_each_nested(attr, nest, rem) {
		uint32_t id;

		if (nla_type(attr) != SPINDLE_RULE_A_NODE)
			continue;
		n = ctl_nest_attrs(attr, SPINDLE_SUBGROUP_NODE_A_MAX);
		id = ctl_attr_num(n[SPINDLE_SUBGROUP_NODE_A_ID]);
		sg->named.set = true;
		ctl_ids_add(&sg->named, id);
		sg->named_senders.set = some;
		if (some && ctl_attr_num(n[SPINDLE_SUBGROUP_NODE_A_SENDER]))
			ctl_ids_add(&sg->named_senders, id);
	}
}

/* Add one contact to NODE_JOIN or VIEW_SET. */
static void put_contact(struct ctl_req *req, const struct ctl_member *contact)
{
	const char *text = contact->has_port ?
			   ctl_endpoint_text(&contact->addr, contact->port) :
			   ctl_addr_text(&contact->addr);
	struct nlattr *nest;

	ctl_req_mark(req, contact->line, ctl_asprintf("contact %s", text));
	nest = ctl_req_nest(req, SPINDLE_A_CONTACT, &ctl_contact_attr);
	if (contact->addr.family == AF_INET6)
		ctl_req_bytes(req, SPINDLE_CONTACT_A_ADDR6, contact->addr.ip, 16);
	else
		ctl_req_bytes(req, SPINDLE_CONTACT_A_ADDR4, contact->addr.ip, 4);
	if (contact->has_port) {
		ctl_req_mark(req, contact->line, ctl_asprintf("port of contact %s", text));
		ctl_req_u16(req, SPINDLE_CONTACT_A_PORT, contact->port);
	}
	ctl_req_nest_end(req, nest);
}

/* Add all contacts to NODE_JOIN or VIEW_SET. */
void ctl_contacts_put(struct ctl_req *req, const struct ctl_member *contact, unsigned int contacts)
{
	unsigned int i;

	for (i = 0; i < contacts; i++)
		put_contact(req, &contact[i]);
}

/**
 * ctl_lineage_parse() - read 32 hexadecimal digits, and an era behind them
 * @text: the digits; "/" and a number follow them if the era is not 0
 * @lineage: out: SPINDLE_LINEAGE_LEN bytes
 * @era: out
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_lineage_parse(const char *text, uint8_t *lineage, uint64_t *era)
{
	const char *end = text + strspn(text, "0123456789abcdefABCDEF");
	unsigned int i;

	*era = 0;
	if (end - text != 2 * SPINDLE_LINEAGE_LEN || (*end && *end != '/'))
		return "not 32 hexadecimal digits";
	for (i = 0; i < SPINDLE_LINEAGE_LEN; i++)
		if (sscanf(text + 2 * i, "%2hhx", &lineage[i]) != 1)
			return "not 32 hexadecimal digits";
	return *end ? ctl_num_parse(end + 1, UINT64_MAX, false, era) : NULL;
}

/* Add lineage and era to NODE_JOIN or VIEW_SET. The caller has checked the text. */
void ctl_lineage_put(struct ctl_req *req, const struct ctl_val *val)
{
	uint8_t lineage[SPINDLE_LINEAGE_LEN] = { 0 };
	uint64_t era;

	if (!val->set || ctl_lineage_parse(val->str, lineage, &era))
		return;
	ctl_req_mark(req, val->line, ctl_asprintf("lineage %s", val->str));
	ctl_req_bytes(req, SPINDLE_A_LINEAGE, lineage, sizeof(lineage));
	if (era)
		ctl_req_bytes(req, SPINDLE_A_ERA, &era, sizeof(era));
}

/* Add the flag "insecure" to NODE_JOIN or VIEW_SET. */
void ctl_insecure_put(struct ctl_req *req, int line)
{
	ctl_req_mark(req, line, ctl_insecure_key.name);
	ctl_req_bytes(req, SPINDLE_A_INSECURE, "", 0);
}

/**
 * ctl_lineage_text() - a lineage, as ctl_lineage_parse() reads it
 * @lineage: SPINDLE_LINEAGE_LEN bytes
 * @era: the era; 0: the text has none
 *
 * Return: the text.
 */
const char *ctl_lineage_text(const void *lineage, uint64_t era)
{
	char text[2 * SPINDLE_LINEAGE_LEN + 1];
	const uint8_t *byte = lineage;
	unsigned int i;

	for (i = 0; i < SPINDLE_LINEAGE_LEN; i++)
		snprintf(text + 2 * i, 3, "%02x", byte[i]);
	return era ? ctl_asprintf("%s/%llu", text, (unsigned long long)era) : ctl_strdup(text);
}

/* Read the lineage of VIEW_GET or STATUS_GET. The value is not set if there is none. */
struct ctl_val ctl_lineage_get(const struct nlattr *attr, uint64_t era)
{
	struct ctl_val val = { 0 };

	if (!attr || nla_len(attr) != SPINDLE_LINEAGE_LEN)
		return val;
	val.set = true;
	val.str = ctl_lineage_text(nla_data(attr), era);
	return val;
}
