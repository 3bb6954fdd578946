// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log: the life of a view in the kernel log. See log.h.
 */
#include <linux/printk.h>
#include <linux/string.h>

#include "base/addr.h"
#include "event.h"
#include "installed.h"
#include "log.h"
#include "node.h"

/* Lines of one kind that are printed in five seconds, per node and for all nodes together. */
#define LIMIT_HZ	(5 * HZ)
#define LIMIT_NODE	10
#define LIMIT_ALL	50

/* Names of the kinds. The kernel prints them in "callbacks suppressed" lines. */
static const char *const kinds[SPINDLE_LOG_KINDS] = {
	[SPINDLE_LOG_VIEW] = "spindle: views",
	[SPINDLE_LOG_SUSPECT] = "spindle: suspicions",
	[SPINDLE_LOG_STOPPED] = "spindle: nodes that stop",
	[SPINDLE_LOG_REFUSED] = "spindle: refusals",
	[SPINDLE_LOG_JOIN] = "spindle: joins",
	[SPINDLE_LOG_LOST] = "spindle: losses",
	[SPINDLE_LOG_DEVICE] = "spindle: devices",
};

static struct spindle_log all = {
	.limit = {
		[0 ... SPINDLE_LOG_KINDS - 1] = RATELIMIT_STATE_INIT(all, LIMIT_HZ, LIMIT_ALL),
	},
};

/**
 * spindle_log_init() - initialize the limits of a node
 * @log: of a new node
 */
void spindle_log_init(struct spindle_log *log)
{
	u32 i;

	for (i = 0; i < SPINDLE_LOG_KINDS; i++)
		ratelimit_state_init(&log->limit[i], LIMIT_HZ, LIMIT_NODE);
}

/* The node's limit comes first, so that lines that it holds back do not use up the common one. */
static bool may_print(struct spindle_node *node, enum spindle_log_kind kind)
{
	return ___ratelimit(&node->log.limit[kind], kinds[kind]) &&
	       ___ratelimit(&all.limit[kind], kinds[kind]);
}

/* The name of the cluster is escaped, because the administrator of a container may choose it. */
static __printf(4, 5) void line(struct spindle_node *node, enum spindle_log_kind kind, bool bad,
				const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	if (!may_print(node, kind))
		return;
	va_start(args, fmt);
	vaf.va = &args;
	if (bad)
		pr_warn("node %u of cluster %*pE: %pV\n", node->id, (int)strlen(node->cluster),
			node->cluster, &vaf);
	else
		pr_info("node %u of cluster %*pE: %pV\n", node->id, (int)strlen(node->cluster),
			node->cluster, &vaf);
	va_end(args);
}

/* Ids of members, ascending, as "1-3,7"; cut off with dots if @buf is too small. */
static void members_text(char *buf, size_t size, const struct spindle_view *view)
{
	const size_t dots = sizeof(",...");
	size_t len = 0;
	u32 i, last;

	buf[0] = 0;
	for (i = 0; i < view->num_members; i = last + 1) {
		char one[24];
		int n;

		for (last = i; last + 1 < view->num_members &&
		     view->member[last + 1].id == view->member[last].id + 1; last++)
			;
		n = scnprintf(one, sizeof(one), last == i ? "%s%u" : "%s%u-%u", i ? "," : "",
			      view->member[i].id, view->member[last].id);
		if (len + n + dots > size) {
			strscpy(buf + len, ",...", size - len);
			return;
		}
		memcpy(buf + len, one, n + 1);
		len += n;
	}
}

static void log_view(struct spindle_node *node, const struct spindle_event_info *event)
{
	const struct spindle_view *view = event->view;
	char members[160];

	if (!view) {
		line(node, SPINDLE_LOG_VIEW, false, "%s", event->reason);
		return;
	}
	members_text(members, sizeof(members), view);
	line(node, SPINDLE_LOG_VIEW, false, "view %llu is installed, %u member%s: %s", view->vid,
	     view->num_members, view->num_members == 1 ? "" : "s", members);
}

static void log_refused(struct spindle_node *node, const struct spindle_event_info *event)
{
	if (event->repeated)
		return;
	if (event->peer)
		line(node, SPINDLE_LOG_REFUSED, true, "node %u: %s", event->peer, event->reason);
	else
		line(node, SPINDLE_LOG_REFUSED, true, "a stranger: %s", event->reason);
}

/* Losses are only logged in a static view: a live view logs suspicions and its end instead. */
static bool is_static(const struct spindle_node *node)
{
	return node->running && !node->running->live;
}

/**
 * spindle_log_event() - print the line of an event, if it has one
 * @node: node of the event
 * @event: kind of event
 * @info: details
 */
void spindle_log_event(struct spindle_node *node, enum spindle_event_kind event,
		       const struct spindle_event_info *info)
{
	switch (event) {
	case SPINDLE_EVENT_VIEW_INSTALL:
		log_view(node, info);
		break;
	case SPINDLE_EVENT_VIEW_REMOVE:
		line(node, SPINDLE_LOG_VIEW, false, "view %llu is removed", info->vid);
		break;
	case SPINDLE_EVENT_SUSPECT:
		line(node, SPINDLE_LOG_SUSPECT, !info->mild, "view %llu: %s", info->vid,
		     info->reason);
		break;
	case SPINDLE_EVENT_STOPPED:
		line(node, SPINDLE_LOG_STOPPED, !info->mild,
		     "the node is no longer a member of view %llu: %s", info->vid, info->reason);
		break;
	case SPINDLE_EVENT_PEER_REFUSED:
		log_refused(node, info);
		break;
	case SPINDLE_EVENT_JOIN_FAILED:
		line(node, SPINDLE_LOG_JOIN, true, "the node could not join: %s", info->reason);
		break;
	case SPINDLE_EVENT_PEER_DOWN:
		if (is_static(node))
			line(node, SPINDLE_LOG_LOST, true, "node %u is lost: %s", info->peer,
			     info->reason ? : "the connection failed");
		break;
	case SPINDLE_EVENT_SUBGROUP_FAILED:
		if (is_static(node))
			line(node, SPINDLE_LOG_LOST, true,
			     "view %llu: subgroup %u has failed: %s", info->vid, info->subgroup->id,
			     info->reason ? : "a member is lost");
		break;
	case SPINDLE_EVENT_NODE_DEAD:
		line(node, SPINDLE_LOG_DEVICE, true, "the RDMA device is gone");
		break;
	default:
		break;
	}
}

/**
 * spindle_log_join() - print that a join begins; there is no event for this
 * @node: the node
 * @contact: addresses that the node asks in turn
 * @contacts: their number
 * @begins: the node begins a view if no contact is in one
 */
void spindle_log_join(struct spindle_node *node, const struct spindle_addr *contact, u32 contacts,
		      bool begins)
{
	struct sockaddr_storage addr;

	spindle_sockaddr(&addr, contact);
	line(node, SPINDLE_LOG_JOIN, false, "the node %s %pISpc%s",
	     begins ? "begins a view, and first asks" : "joins through", &addr,
	     contacts > 1 ? ", or others" : "");
}

/**
 * spindle_log_insecure() - print a warning if a live view begins, or is joined, without a key
 * @node: the node
 */
void spindle_log_insecure(struct spindle_node *node)
{
	if (!spindle_key_given(&node->key))
		line(node, SPINDLE_LOG_JOIN, true,
		     "the live view is insecure: without a key any host can join");
}
