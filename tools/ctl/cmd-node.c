// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl node add|set|del|show; join, leave and evict are in cmd-member.c
 */
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"
#include "secret.h"

#define NEED(key)	(1U << (key))

static const struct ctl_key id_keys[] = {
	{ .name = "id", .kind = CTL_U32, .attr = SPINDLE_A_NODE_ID },
	{ .name = NULL }
};

/* Take the values of the node to add, and the path of its key. The kernel never shows the key. */
static int take_node(struct ctl_args *a, struct ctl_node *node, struct ctl_val *file)
{
	struct ctl_key keys[CTL_NODE_VALS + 2] = { 0 };
	struct ctl_val val[CTL_NODE_VALS + 1] = { 0 };
	int rc;

	memcpy(keys, ctl_node_keys, CTL_NODE_VALS * sizeof(*keys));
	keys[CTL_NODE_VALS] = ctl_secret_key;
	rc = ctl_args_keys(a, keys, val, NEED(CTL_NODE_ID) | NEED(CTL_NODE_ADDR));
	memcpy(node->val, val, sizeof(node->val));
	*file = val[CTL_NODE_VALS];
	return rc;
}

static int node_add(struct ctl_args *a)
{
	struct ctl_secret secret = { 0 };
	struct ctl_node node = { 0 };
	struct ctl_val file;
	struct ctl_net net;
	struct ctl_req *req;
	int rc;

	rc = take_node(a, &node, &file);
	if (rc)
		return rc;
	if (file.set && ctl_secret_read(&secret, file.str))
		return CTL_FAILED;
	if (ctl_net_open(&net, CTL_SAY))
		return CTL_FAILED;
	req = ctl_req_new(&net, SPINDLE_CMD_NODE_ADD, 0, "node add");
	ctl_node_put(req, &node);
	ctl_secret_put(req, 0, &secret);
	return ctl_net_call(&net, req, NULL, CTL_SAY) ? CTL_FAILED : CTL_OK;
}

static int node_set(struct ctl_args *a)
{
	const struct ctl_key keys[] = {
		id_keys[0], ctl_node_keys[CTL_NODE_IDLE_US], ctl_timing_key,
		ctl_node_keys[CTL_NODE_RACK], ctl_former_key, ctl_secret_key, { .name = NULL }
	};
	const unsigned int last = CTL_ARRAY_SIZE(keys) - 2;
	struct ctl_val val[CTL_ARRAY_SIZE(keys)] = { 0 };
	struct ctl_secret secret = { 0 };
	struct ctl_net net;
	struct ctl_req *req;
	unsigned int i;
	int rc;

	rc = ctl_args_keys(a, keys, val, NEED(0));
	if (rc)
		return rc;
	for (i = 1; i <= last && !val[i].set; i++)
		;
	if (i > last)
		return ctl_usage(a, "there is nothing to set; there is: %s",
				 ctl_key_list(keys + 1, false));
	if (val[last].set && ctl_secret_read(&secret, val[last].str))
		return CTL_FAILED;
	if (ctl_net_open(&net, CTL_SAY))
		return CTL_FAILED;
	req = ctl_req_new(&net, SPINDLE_CMD_NODE_SET, 0, "node set");
	ctl_req_vals(req, keys, val);
	ctl_secret_put(req, 0, &secret);
	return ctl_net_call(&net, req, NULL, CTL_SAY) ? CTL_FAILED : CTL_OK;
}

static int node_del(struct ctl_args *a)
{
	return ctl_cmd_del(a, id_keys, SPINDLE_CMD_NODE_DEL);
}

static void show_table(const struct ctl_running *running, unsigned int count)
{
	struct ctl_table t = { 0 };
	const struct ctl_key *rack_key = &ctl_node_keys[CTL_NODE_RACK];
	bool timing = false, racks = false;
	const char *columns;
	unsigned int i;

	for (i = 0; i < count; i++) {
		timing |= running[i].node.timing.set;
		racks |= !ctl_val_none(rack_key, &running[i].node.val[CTL_NODE_RACK]);
	}
	columns = ctl_asprintf("id address cluster device state view visibility idle-us engine cpu%s%s",
			       racks ? " rack" : "", timing ? " timing" : "");
	ctl_record_rows(&t, columns, ctl_node_fields, &running->node, count, sizeof(*running));
	ctl_table_print(&t);
}

static int node_show(struct ctl_args *a)
{
	struct ctl_running *running;
	struct ctl_val id = { 0 };
	struct ctl_net net;
	unsigned int count;
	int rc;

	rc = ctl_args_keys(a, id_keys, &id, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch(&net, "node show", &id, &running, &count, false))
		return CTL_FAILED;
	if (ctl_opts.json)
		ctl_json_print(ctl_record_list(NULL, ctl_node_fields, &running->node, count,
					       sizeof(*running)));
	else if (count)
		show_table(running, count);
	else
		puts("There is no node. Make one: spindle-ctl node add id N addr ADDRESS");
	return CTL_OK;
}

int ctl_cmd_node(struct ctl_args *a)
{
	static const struct ctl_verb verbs[] = {
		{ "show", node_show }, { "list", node_show }, { "ls", node_show },
		{ "add", node_add },
		{ "set", node_set },
		{ "del", node_del }, { "delete", node_del },
		{ "join", ctl_node_join },
		{ "leave", ctl_node_leave },
		{ "evict", ctl_node_evict },
		{ NULL, NULL }
	};

	return ctl_verb(a, verbs);
}
