// SPDX-License-Identifier: GPL-2.0-only
/* spindle-ctl monitor: the present state, and then events as they come. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/genetlink.h>
#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/event.h"
#include "common/names.h"
#include "common/out.h"
#include "common/stats.h"
#include "common/status.h"
#include "common/util.h"
#include "common/wire.h"

/* Columns of the word for an event, if something follows it. */
#define EVENT_WIDE	15

/**
 * struct line - an event, or an object that exists when the monitor begins
 */
struct line {
	/** @kind: enum spindle_event_kind */
	uint64_t kind;
	/** @event: word for the event */
	const char *event;
	/** @node: node id; not set: the line is about the monitor */
	struct ctl_val node;
	/** @vid: view */
	struct ctl_val vid;
	/** @subgroup: id of the subgroup */
	struct ctl_val subgroup;
	/** @name: name of the subgroup; NULL: it has none */
	const char *name;
	/** @lsn: position in the subgroup */
	struct ctl_val lsn;
	/** @peer: id of the peer */
	struct ctl_val peer;
	/** @rdmc: id of the RDMC group */
	struct ctl_val rdmc;
	/** @error: enum spindle_error */
	struct ctl_val error;
	/** @rdmc_error: enum spindle_rdmc_error */
	struct ctl_val rdmc_error;
	/** @state: state of an object that exists; NULL: the line is an event */
	const char *state;
	/** @reason: reason of the event or of the state, or empty */
	const char *reason;
	/** @told: JSON has the reason */
	bool told;
};

static const char *time_text(const void *rec)
{
	(void)rec;
	return ctl_now(false);
}

static const char *error_word(const void *rec)
{
	const struct line *l = rec;

	if (l->error.set)
		return ctl_name(&ctl_error, l->error.num);
	return l->rdmc_error.set ? ctl_name(&ctl_rdmc_error, l->rdmc_error.num) : "";
}

#define LINE(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct line, field, SPINDLE_A_##attr, __VA_ARGS__)

static const struct ctl_field line_fields[] = {
	CTL_MADE("time", time_text),
	LINE(NUM, NULL, kind, EVENT),
	LINE(TEXT, "event", event, UNSPEC),
	LINE(VAL, "node", node, NODE_ID),
	LINE(VAL, "vid", vid, VIEW_ID),
	LINE(VAL, "subgroup", subgroup, SUBGROUP_ID),
	LINE(TEXT, "name", name, SUBGROUP_NAME, .some = true),
	LINE(VAL, "lsn", lsn, LSN),
	LINE(VAL, "peer", peer, PEER_ID),
	LINE(VAL, "rdmc", rdmc, RDMC_ID),
	LINE(VAL, NULL, error, ERROR),
	LINE(VAL, NULL, rdmc_error, RDMC_ERROR),
	LINE(TEXT, "state", state, UNSPEC, .some = true),
	CTL_MADE("error", error_word, .some = true),
	LINE(TEXT, "reason", reason, REASON, .needs = offsetof(struct line, told)),
	{ 0 }
};

/* The reason that an error or an event has by itself, or NULL. */
static const char *known_reason(const struct line *l)
{
	if (l->error.num)
		return ctl_error_text(l->error.num);
	if (l->rdmc_error.num)
		return ctl_rdmc_error_text(l->rdmc_error.num);
	return ctl_event_text(l->kind);
}

static void print_line(const struct line *l)
{
	const char *reason = l->reason;
	const struct ctl_field *f;

	if (!*reason)
		reason = known_reason(l);
	printf("%s  %-*s", ctl_now(true), l->node.set || *l->reason ? EVENT_WIDE : 0, l->event);
	for (f = line_fields; f->kind; f++) {
		const struct ctl_val *val = (const void *)((const char *)l + f->at);

		if (f->kind == CTL_F_VAL && f->name && val->set)
			printf("  %s %llu", f->name, (unsigned long long)val->num);
		if (val == &l->subgroup && l->name && *l->name)
			printf(" \"%s\"", ctl_clean(l->name));
	}
	if (l->state)
		printf("  %s", l->state);
	if (l->error.num || l->rdmc_error.num)
		printf("  error %s", error_word(l));
	if (reason && *reason)
		printf("  (%s)", ctl_clean(reason));
	putchar('\n');
}

static void say(const struct line *l)
{
	if (ctl_opts.json)
		ctl_json_print(ctl_record_json(NULL, line_fields, l));
	else
		print_line(l);
}

/* The kernel had no room for some events, so the user has to look at the state again. */
static void say_lost(void)
{
	say(&(struct line){
		.event = "events-lost",
		.reason = "more events than could be read; see what is with 'show'",
	});
}

static const char *node_word(const struct ctl_status *s)
{
	if (s->is_live)
		return ctl_name(&ctl_live_state, s->state);
	return s->is_dead ? "dead" : s->vid ? "view" : "idle";
}

/* Say that an object exists, for a reason that may be empty. */
static void say_being(struct line *l, const char *state, const char *reason)
{
	l->state = state;
	l->reason = reason;
	l->told = *reason;
	say(l);
}

static void say_peers(struct line *l, const struct ctl_node_stats *stats)
{
	const struct ctl_peer *peer;

	l->peer.set = true;
	for (peer = stats->peer; peer < stats->peer + stats->peers; peer++) {
		l->peer.num = peer->id;
		say_being(l, ctl_name(&ctl_peer_state, peer->state), peer->reason);
	}
	l->peer.set = false;
}

static void say_node(const struct ctl_status *s, const struct ctl_sample *sample)
{
	struct line l = { .event = "exists", .node = ctl_val_num(s->node) };
	const struct ctl_running_subgroup *sg;
	unsigned int i;

	l.vid = (struct ctl_val){ .set = s->vid, .num = s->vid };
	say_being(&l, node_word(s), s->reason);
	l.vid.set = false;
	for (i = 0; i < sample->nodes; i++)
		if (sample->node[i].id == s->node)
			say_peers(&l, &sample->node[i]);
	l.subgroup.set = true;
	for (sg = sample->sg; sg < sample->sg + sample->sgs; sg++) {
		if (sg->node != s->node)
			continue;
		l.vid = (struct ctl_val){ .set = sg->vid, .num = sg->vid };
		l.subgroup.num = sg->sg.val[CTL_SG_ID].num;
		l.name = sg->sg.val[CTL_SG_NAME].str;
		say_being(&l, ctl_name(&ctl_state, sg->sg.state), "");
	}
}

/*
 * Print the state when the monitor begins. The requests have a socket of their own, because an
 * event before the reply would be lost on the socket that listens. The monitor accepts the id of a
 * node that does not exist yet.
 */
static int say_all(const struct ctl_val *node)
{
	static const struct ctl_val all;
	struct ctl_sample sample = { 0 };
	struct ctl_status *status;
	unsigned int count, i;
	struct ctl_net net;

	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch_status(&net, "monitor", &all, CTL_SAY, &status, &count) ||
	    ctl_sample_take(&net, "monitor", &all, &all, &sample))
		return CTL_FAILED;
	for (i = 0; i < count; i++)
		if (!node->set || node->num == status[i].node)
			say_node(&status[i], &sample);
	say(&(struct line){ .event = "exists-end", .reason = "" });
	return CTL_OK;
}

/*
 * Has the family been removed? Without this check the monitor would wait without end, because no
 * event can come any more.
 */
static bool is_unload(struct nlmsghdr *nlh)
{
	struct nlattr *a[CTRL_ATTR_MAX + 1];
	struct genlmsghdr *genl = nlmsg_data(nlh);

	return nlh->nlmsg_type == GENL_ID_CTRL && genlmsg_valid_hdr(nlh, 0) &&
	       genl->cmd == CTRL_CMD_DELFAMILY &&
	       genlmsg_parse(nlh, 0, a, CTRL_ATTR_MAX, NULL) >= 0 &&
	       a[CTRL_ATTR_FAMILY_NAME] &&
	       !nla_strcmp(a[CTRL_ATTR_FAMILY_NAME], SPINDLE_GENL_NAME);
}

/* Print an event, and free the memory that it took, because the monitor runs without end. */
static void take_event(const struct ctl_net *net, struct nlmsghdr *nlh,
		       const struct ctl_val *node)
{
	struct nlattr *a[SPINDLE_A_MAX + 1];
	struct ctl_pool pool = { 0 };
	struct line l = { 0 };

	if (!ctl_event_attrs(net, nlh, a))
		return;
	ctl_pool_use(&pool);
	ctl_record_msg(line_fields, &l, nlh);
	l.event = ctl_name(&ctl_event, l.kind);
	l.reason = ctl_clean(l.reason);
	l.told = a[SPINDLE_A_REASON];
	if (!node->set || l.node.num == node->num)
		say(&l);
	ctl_pool_use(NULL);
	ctl_pool_drop(&pool);
}

static int listen_for(const struct ctl_net *net, const struct ctl_val *node)
{
	struct nlmsghdr *nlh;
	int len;

	for (;;) {
		len = ctl_event_recv(net, -1, &nlh);
		if (len == -ENOBUFS) {
			say_lost();
			continue;
		}
		if (len < 0) {
			ctl_err("monitor: %s", strerror(-len));
			return CTL_FAILED;
		}
		for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
			if (is_unload(nlh)) {
				ctl_err("monitor: spindle.ko was unloaded");
				return CTL_FAILED;
			}
			take_event(net, nlh, node);
		}
		if (ferror(stdout))
			return CTL_FAILED;
	}
}

int ctl_cmd_monitor(struct ctl_args *a)
{
	struct ctl_val node = { 0 };
	struct ctl_net net;
	int rc;

	rc = ctl_args_keys(a, ctl_at_node_keys, &node, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) || ctl_event_join(&net, "monitor", true) < 0)
		return CTL_FAILED;
	/*
	 * Write each line at once, because a reader at the other end of a pipe wants it at once,
	 * too.
	 */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (say_all(&node))
		return CTL_FAILED;
	return listen_for(&net, &node);
}
