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
#include "common/status.h"
#include "common/util.h"
#include "common/wire.h"
#include "stats.h"

#define REASON_MAX	512

/* The subjects of an event, in the order in which they are printed. */
static const struct {
	const char *word;
	int attr;
} event_nums[] = {
	{ "node", SPINDLE_A_NODE_ID },
	{ "vid", SPINDLE_A_VIEW_ID },
	{ "subgroup", SPINDLE_A_SUBGROUP_ID },
	{ "lsn", SPINDLE_A_LSN },
	{ "peer", SPINDLE_A_PEER_ID },
	{ "rdmc", SPINDLE_A_RDMC_ID },
};

static void print_event(struct nlattr **a, const char *reason)
{
	uint64_t error = ctl_attr_num(a[SPINDLE_A_ERROR]);
	uint64_t rdmc = ctl_attr_num(a[SPINDLE_A_RDMC_ERROR]);
	unsigned int i;

	if (!*reason && (error || rdmc))
		reason = error ? ctl_error_text(error) : ctl_rdmc_error_text(rdmc);
	printf("%s  %-15s", ctl_now(true), ctl_name(&ctl_event, ctl_attr_num(a[SPINDLE_A_EVENT])));
	for (i = 0; i < CTL_ARRAY_SIZE(event_nums); i++)
		if (a[event_nums[i].attr])
			printf("  %s %llu", event_nums[i].word,
			       (unsigned long long)ctl_attr_num(a[event_nums[i].attr]));
	if (error)
		printf("  error %s", ctl_name(&ctl_error, error));
	else if (rdmc)
		printf("  error %s", ctl_name(&ctl_rdmc_error, rdmc));
	if (reason && *reason)
		printf("  (%s)", reason);
	putchar('\n');
}

static void json_event(struct nlattr **a, const char *reason)
{
	struct json_object *obj = json_object_new_object();
	unsigned int i;

	ctl_json_str(obj, "time", ctl_now(false));
	ctl_json_str(obj, "event", ctl_name(&ctl_event, ctl_attr_num(a[SPINDLE_A_EVENT])));
	for (i = 0; i < CTL_ARRAY_SIZE(event_nums); i++)
		if (a[event_nums[i].attr])
			ctl_json_add(obj, event_nums[i].word,
				     ctl_json_num(ctl_attr_num(a[event_nums[i].attr])));
	if (a[SPINDLE_A_ERROR])
		ctl_json_str(obj, "error",
			     ctl_name(&ctl_error, ctl_attr_num(a[SPINDLE_A_ERROR])));
	else if (a[SPINDLE_A_RDMC_ERROR])
		ctl_json_str(obj, "error",
			     ctl_name(&ctl_rdmc_error, ctl_attr_num(a[SPINDLE_A_RDMC_ERROR])));
	if (a[SPINDLE_A_REASON])
		ctl_json_str(obj, "reason", reason);
	ctl_json_print(obj);
}

/* The kernel had no room for some events, so the user has to look at the state again. */
static void say_lost(void)
{
	struct json_object *obj;

	if (!ctl_opts.json) {
		printf("%s  %-15s  (more events than could be read; see what is with 'show')\n",
		       ctl_now(true), "events-lost");
		return;
	}
	obj = json_object_new_object();
	ctl_json_str(obj, "time", ctl_now(false));
	ctl_json_str(obj, "event", "events-lost");
	ctl_json_print(obj);
}

/**
 * struct being - an object that exists when the monitor begins
 */
struct being {
	/** @node: node id; 0: the end of the list */
	uint64_t node;
	/** @vid: view, or 0 */
	uint64_t vid;
	/** @word: "peer" or "subgroup"; NULL: the node itself */
	const char *word;
	/** @id: id of the peer or subgroup */
	uint64_t id;
	/** @state: its state */
	const char *state;
	/** @reason: reason of the state, or empty */
	const char *reason;
};

static void json_being(const struct being *b)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_str(obj, "time", ctl_now(false));
	ctl_json_str(obj, "event", b->node ? "exists" : "exists-end");
	if (b->node)
		ctl_json_add(obj, "node", ctl_json_num(b->node));
	if (b->vid)
		ctl_json_add(obj, "vid", ctl_json_num(b->vid));
	if (b->word)
		ctl_json_add(obj, b->word, ctl_json_num(b->id));
	if (b->state)
		ctl_json_str(obj, "state", b->state);
	if (b->reason && *b->reason)
		ctl_json_str(obj, "reason", b->reason);
	ctl_json_print(obj);
}

static void say_being(const struct being *b)
{
	if (ctl_opts.json) {
		json_being(b);
		return;
	}
	if (!b->node) {
		printf("%s  exists-end\n", ctl_now(true));
		return;
	}
	printf("%s  %-15s  node %llu", ctl_now(true), "exists", (unsigned long long)b->node);
	if (b->vid)
		printf("  vid %llu", (unsigned long long)b->vid);
	if (b->word)
		printf("  %s %llu", b->word, (unsigned long long)b->id);
	if (b->state)
		printf("  %s", b->state);
	if (b->reason && *b->reason)
		printf("  (%s)", ctl_clean(b->reason));
	putchar('\n');
}

static const char *node_word(const struct ctl_status *s)
{
	if (s->is_live)
		return ctl_name(&ctl_live_state, s->state);
	return s->is_dead ? "dead" : s->vid ? "view" : "idle";
}

static void say_node(const struct ctl_status *s, const struct ctl_node_stats *stats,
		     const struct ctl_running_subgroup *sg, unsigned int sgs)
{
	struct being b = { .node = s->node, .vid = s->vid, .reason = s->reason };
	unsigned int i;

	b.state = node_word(s);
	say_being(&b);
	b.vid = 0;
	b.word = "peer";
	for (i = 0; i < stats->peers; i++) {
		b.id = stats->peer[i].id;
		b.state = ctl_name(&ctl_peer_state, stats->peer[i].state);
		b.reason = stats->peer[i].reason;
		say_being(&b);
	}
	b.word = "subgroup";
	b.reason = NULL;
	for (i = 0; i < sgs; i++) {
		if (sg[i].node != s->node)
			continue;
		b.vid = sg[i].vid;
		b.id = sg[i].sg.val[CTL_SG_ID].num;
		b.state = ctl_name(&ctl_state, sg[i].sg.state);
		say_being(&b);
	}
}

/*
 * Print the state when the monitor begins. The requests have a socket of their own, because an
 * event before the reply would be lost on the socket that listens. The monitor accepts the id of a
 * node that does not exist yet.
 */
static int say_all(const struct ctl_val *node)
{
	static const struct ctl_node_stats none;
	static const struct ctl_val all;
	struct ctl_running_subgroup *sg;
	struct ctl_node_stats *stats;
	struct ctl_status *status;
	unsigned int count, nodes, sgs, i, k;
	struct ctl_net net;

	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch_status(&net, "monitor", &all, CTL_SAY, &status, &count) ||
	    ctl_fetch_stats(&net, "monitor", &all, &stats, &nodes) ||
	    ctl_fetch_subgroups(&net, "monitor", &all, &all, &sg, &sgs))
		return CTL_FAILED;
	for (i = 0; i < count; i++) {
		if (node->set && node->num != status[i].node)
			continue;
		for (k = 0; k < nodes && stats[k].id != status[i].node; k++)
			;
		say_node(&status[i], k < nodes ? &stats[k] : &none, sg, sgs);
	}
	say_being(&(struct being){ 0 });
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

static void take_event(const struct ctl_net *net, struct nlmsghdr *nlh,
		       const struct ctl_val *node)
{
	struct nlattr *a[SPINDLE_A_MAX + 1];
	char reason[REASON_MAX] = "", *safe;

	if (!ctl_event_attrs(net, nlh, a))
		return;
	if (node->set && ctl_attr_num(a[SPINDLE_A_NODE_ID]) != node->num)
		return;
	if (a[SPINDLE_A_REASON])
		nla_strlcpy(reason, a[SPINDLE_A_REASON], sizeof(reason));
	safe = ctl_clean(reason);
	if (ctl_opts.json)
		json_event(a, safe);
	else
		print_event(a, safe);
	ctl_free(safe);
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
