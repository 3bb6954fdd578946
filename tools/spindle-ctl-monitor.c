// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl monitor: events, as they come.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/genetlink.h>
#include <linux/spindle_genl.h>

#include "ctl.h"
#include "ctl-event.h"
#include "ctl-names.h"
#include "ctl-out.h"
#include "ctl-wire.h"

#define REASON_MAX	512

static const struct ctl_key monitor_keys[] = {
	{ .name = "node", .kind = CTL_U32 },
	{ .name = NULL }
};

/* What an event is about, in the order in which it is printed. */
static const struct {
	const char *word;
	int attr;
} event_nums[] = {
	{ "node", SPINDLE_A_NODE_ID },
	{ "vid", SPINDLE_A_VIEW_ID },
	{ "subgroup", SPINDLE_A_SUBGROUP_ID },
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

/* Events that the kernel could not keep for us are gone; who watches must look anew. */
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

/* Did the family go away? The socket would wait for ever and hear nothing. */
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

	rc = ctl_args_keys(a, monitor_keys, &node, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) || ctl_event_join(&net, "monitor", true) < 0)
		return CTL_FAILED;
	/* Lines are wanted when they happen, also in a pipe. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	return listen_for(&net, &node);
}
