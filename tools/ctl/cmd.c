// SPDX-License-Identifier: GPL-2.0-only
/* Parts that several commands share. See cmd.h. */
#include "args.h"
#include "cmd.h"
#include "common/live.h"
#include "common/util.h"
#include "common/wire.h"

/**
 * ctl_cmd_del() - run a verb that removes an object
 * @a: arguments
 * @key: table with the key of the object, which must be there
 * @cmd: request
 *
 * Return: exit code
 */
int ctl_cmd_del(struct ctl_args *a, const struct ctl_key *key, uint8_t cmd)
{
	struct ctl_val val = { 0 };
	struct ctl_net net;
	struct ctl_req *req;
	int rc;

	rc = ctl_args_keys(a, key, &val, 1);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY))
		return CTL_FAILED;
	req = ctl_req_new(&net, cmd, 0, ctl_asprintf("%s del", a->noun));
	ctl_req_val(req, key, &val);
	return ctl_net_call(&net, req, NULL, CTL_SAY) ? CTL_FAILED : CTL_OK;
}

/* Check a lineage of the command line, if there is one. Return: CTL_OK or CTL_USAGE. */
int ctl_cmd_lineage(struct ctl_args *a, const struct ctl_val *val)
{
	uint8_t lineage[SPINDLE_LINEAGE_LEN];
	uint64_t era;
	const char *err = val->set ? ctl_lineage_parse(val->str, lineage, &era) : NULL;

	return err ? ctl_usage(a, "lineage '%s': %s", val->str, err) : CTL_OK;
}

/**
 * ctl_cmd_none() - report the node or the object that does not exist, as nothing was found
 * @net: socket
 * @what: purpose of the request, for messages
 * @node: node of the objects; not set: all nodes
 * @object: kind of the objects, for messages
 * @id: id of an object, or its name; not set: all objects
 *
 * Return: CTL_OK if there need not be any object, or CTL_FAILED after a message
 */
int ctl_cmd_none(struct ctl_net *net, const char *what, const struct ctl_val *node,
		 const char *object, const struct ctl_val *id)
{
	struct ctl_running *running;
	unsigned int count;

	if (node->set && ctl_fetch(net, what, node, &running, &count, false))
		return CTL_FAILED;
	if (!id->set)
		return CTL_OK;
	ctl_err("there is no %s %s%s", object,
		id->str ? ctl_asprintf("\"%s\"", ctl_clean(id->str)) :
			  ctl_asprintf("%llu", (unsigned long long)id->num),
		node->set ? " at this node" : "");
	return CTL_FAILED;
}
