// SPDX-License-Identifier: GPL-2.0-only
/* Making nodes and a view for a measurement. See place.h. */
#include <errno.h>
#include <glob.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "common/util.h"
#include "common/wire.h"
#include "net.h"
#include "place.h"

/* Of a view with logs: silence after which a member is suspected. */
#define LOG_TIMEOUT_MS	30000

/* Does this network device have an RDMA device? */
static bool has_rdma(const char *netdev)
{
	char name[64];
	bool found = false;
	glob_t g;
	size_t i;
	FILE *f;

	if (glob("/sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0", 0, NULL, &g))
		return false;
	for (i = 0; i < g.gl_pathc && !found; i++) {
		f = fopen(g.gl_pathv[i], "r");
		if (!f)
			continue;
		found = fscanf(f, "%63s", name) == 1 && !strcmp(name, netdev);
		fclose(f);
	}
	globfree(&g);
	return found;
}

/**
 * perf_setup_addr() - make sure that there is an address for the nodes
 * @where: if it has no address, gets the first IPv4 address of an RDMA device
 *
 * Return: 0 or -ENODEV, after a message
 */
int perf_setup_addr(struct perf_where *where)
{
	struct ctl_addr *addr = &where->addr;
	struct ifaddrs *list, *ifa;

	if (addr->family)
		return 0;
	if (getifaddrs(&list)) {
		ctl_err("%s", strerror(errno));
		return -ENODEV;
	}
	for (ifa = list; ifa && !addr->family; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != AF_INET ||
		    !has_rdma(ifa->ifa_name))
			continue;
		addr->family = AF_INET;
		memcpy(addr->ip, &((struct sockaddr_in *)ifa->ifa_addr)->sin_addr, 4);
	}
	freeifaddrs(list);
	if (addr->family)
		return 0;
	ctl_err("no RDMA device of this machine has an IPv4 address; make one "
		"(rdma link add rxe0 type rxe netdev DEVICE) or give --addr");
	return -ENODEV;
}

/* The address of a node. */
static struct ctl_addr addr_of(const struct perf_where *where, uint32_t id)
{
	unsigned int i = where->addr.family == AF_INET ? 4 : 16, more = id - where->first;
	struct ctl_addr addr = where->addr;

	for (; where->spread && i-- && more; more >>= 8) {
		more += addr.ip[i];
		addr.ip[i] = more;
	}
	return addr;
}

static int add_node(struct perf_place *place, const struct perf_where *where,
		    const struct perf_conf *conf, uint32_t id)
{
	struct ctl_node node = {
		.val[CTL_NODE_ID] = ctl_val_num(id),
		.val[CTL_NODE_ADDR] = { .set = true, .addr = addr_of(where, id) },
		.val[CTL_NODE_PORT] = ctl_val_num(where->port + id),
		.val[CTL_NODE_VISIBILITY] = ctl_val_num(conf->visibility),
		.val[CTL_NODE_IDLE_US] = ctl_val_num(conf->idle_us),
	};
	struct ctl_req *req = ctl_req_new(place->net, SPINDLE_CMD_NODE_ADD, 0,
					  ctl_asprintf("making node %u", id));
	int rc;

	ctl_node_put(req, &node);
	rc = perf_net_call(place->net, req, NULL, CTL_SAY);
	if (rc == -EEXIST)
		ctl_err("see --first-node; or was a run killed? then: spindle-ctl node del id %u",
			id);
	if (rc)
		return rc;
	place->node[place->nodes++] = id;
	place->made = place->nodes;
	return 0;
}

/**
 * perf_setup_nodes() - make nodes
 * @place: gets the nodes
 * @where: addresses
 * @conf: properties of the nodes
 * @first: id of the first node
 * @nodes: number of nodes
 *
 * Return: 0 or -errno, after a message
 */
int perf_setup_nodes(struct perf_place *place, const struct perf_where *where,
		     const struct perf_conf *conf, uint32_t first, unsigned int nodes)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < nodes; i++)
		rc = add_node(place, where, conf, first + i);
	return rc;
}

/* Fill in a subgroup. The first nodes are its senders. */
static void make_subgroup(struct ctl_subgroup *sg, const struct perf_where *where,
			  const struct perf_conf *conf, uint32_t id)
{
	uint32_t i, senders = perf_some(conf->senders, conf->nodes);

	sg->val[CTL_SG_ID] = ctl_val_num(id);
	sg->val[CTL_SG_MODE] = ctl_val_num(conf->mode);
	sg->val[CTL_SG_WINDOW] = ctl_val_num(conf->window);
	sg->val[CTL_SG_MAX_MSG] = ctl_val_num(conf->max_msg);
	/* What the words of spindle-ctl begin with: ack all, deliver stable. */
	if (conf->log)
		sg->val[CTL_SG_LOG] = ctl_val_num(1);
	if (conf->ring)
		sg->val[CTL_SG_RING] = ctl_val_num(conf->ring);
	if (senders == conf->nodes)
		return;
	sg->senders.set = true;
	for (i = 0; i < senders; i++)
		ctl_ids_add(&sg->senders, where->first + i);
}

/**
 * perf_setup_view() - make nodes install a view
 * @place: nodes; the first ones install the view
 * @where: addresses
 * @view: view with subgroups; gets the members
 * @nodes: number of nodes
 *
 * Return: 0 or -errno, after a message
 */
int perf_setup_view(struct perf_place *place, const struct perf_where *where,
		    struct ctl_view *view, unsigned int nodes)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < nodes; i++) {
		view->member = ctl_grow(view->member, view->members, sizeof(*view->member));
		view->member[view->members++] = (struct ctl_member){
			.id = place->node[i],
			.addr = addr_of(where, place->node[i]),
			.has_port = true,
			.port = where->port + place->node[i],
		};
	}
	for (i = 0; !rc && i < nodes; i++) {
		struct ctl_val node = ctl_val_num(place->node[i]);
		struct ctl_req *req = ctl_req_new(place->net, SPINDLE_CMD_VIEW_SET, 0,
						  ctl_asprintf("making the view of node %u",
							       place->node[i]));

		ctl_view_put(req, &node, view);
		rc = perf_net_call(place->net, req, NULL, CTL_SAY);
	}
	return rc;
}

/**
 * perf_setup() - make nodes 1 to n and one view on all of them
 * @place: empty; gets the nodes that were made, also after a failure
 * @where: addresses
 * @conf: properties of the view
 *
 * Return: 0 or -errno, after a message
 */
int perf_setup(struct perf_place *place, const struct perf_where *where,
	       const struct perf_conf *conf)
{
	/* Only live views have subgroups with logs. A disk may keep a node from its work. */
	struct ctl_view view = {
		.vid = ctl_val_num(1),
		.is_live = conf->log,
		.insecure = conf->log,
		.live[CTL_LIVE_TIMEOUT] = { .set = conf->log, .num = LOG_TIMEOUT_MS },
	};
	unsigned int i;
	int rc = perf_setup_nodes(place, where, conf, where->first, conf->nodes);

	if (rc)
		return rc;
	for (i = 0; i < conf->subgroups; i++) {
		view.subgroup = ctl_grow(view.subgroup, view.subgroups, sizeof(*view.subgroup));
		make_subgroup(&view.subgroup[view.subgroups++], where, conf, i + 1);
	}
	return perf_setup_view(place, where, &view, place->nodes);
}
