// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl node join|leave|evict: changes of the members of a live view.
 *
 * The kernel answers such a request when the change has begun. These commands wait for its end, so
 * that the next line of a script can rely on it.
 */
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/event.h"
#include "common/live.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"
#include "wait.h"

#define NEED(key)	(1U << (key))

/* Keys of the three verbs. KEY_OTHER is a key that only one verb has, or none. */
enum {
	KEY_ID,
	KEY_TIMEOUT,
	KEY_OTHER
};

static const struct ctl_key id_key = CTL_KEY("id", NULL, U32, SPINDLE_A_NODE_ID);
static const struct ctl_key peer_key = CTL_KEY("node", NULL, U32, SPINDLE_A_PEER_ID);

/* Remove "contact 10.0.0.1:4790", which may occur several times, and "insecure" from any place. */
static int take_asked(struct ctl_args *a, struct ctl_view *asked)
{
	int i, left = 0;

	asked->insecure = ctl_args_word(a, ctl_insecure_key.name);
	for (i = 0; i < a->argc; i++) {
		const char *err;

		if (strcmp(a->argv[i], ctl_contact_key.name)) {
			a->argv[left++] = a->argv[i];
			continue;
		}
		if (++i == a->argc)
			return ctl_usage(a, "contact: the value is missing");
		err = ctl_members_add(&asked->contact, &asked->contacts, a->argv[i], 0,
				      ctl_contact_parse);
		if (err)
			return ctl_usage(a, "contact '%s': %s", a->argv[i], err);
	}
	a->argc = left;
	return asked->contacts ? CTL_OK : ctl_usage(a, "'contact' is missing");
}

/**
 * run() - run one of the three verbs
 * @a: arguments
 * @how: result to wait for
 * @cmd: request
 * @other: key that only this verb has; without a name: none
 *
 * Return: exit code
 */
static int run(struct ctl_args *a, enum ctl_wait_for how, uint8_t cmd,
	       const struct ctl_key *other)
{
	const struct ctl_key keys[] = { id_key, ctl_timeout_key, *other, { .name = NULL } };
	struct ctl_val val[CTL_ARRAY_SIZE(keys)] = { 0 };
	struct ctl_wait w = { .how = how, .what = ctl_asprintf("node %s", a->verb) };
	struct ctl_view asked = { 0 };
	bool wait = ctl_args_wait(a);
	struct ctl_req *req;
	unsigned int need = NEED(KEY_ID);
	int rc = how == CTL_WAIT_JOIN ? take_asked(a, &asked) : CTL_OK;

	if (how == CTL_WAIT_EVICT)
		need |= NEED(KEY_OTHER);
	if (!rc)
		rc = ctl_args_keys(a, keys, val, need);
	if (!rc && how == CTL_WAIT_JOIN)
		rc = ctl_cmd_lineage(a, &val[KEY_OTHER]);
	if (rc)
		return rc;
	ctl_val_default(&ctl_timeout_key, &val[KEY_TIMEOUT]);
	w.node = val[KEY_ID].num;
	w.peer = val[KEY_OTHER].num;
	w.timeout_ms = val[KEY_TIMEOUT].num * 1000;
	if (ctl_net_open(&w.net, CTL_SAY))
		return CTL_FAILED;
	req = ctl_req_new(&w.net, cmd, 0, w.what);
	ctl_req_val(req, &id_key, &val[KEY_ID]);
	if (how == CTL_WAIT_EVICT)
		ctl_req_val(req, other, &val[KEY_OTHER]);
	ctl_contacts_put(req, asked.contact, asked.contacts);
	if (how == CTL_WAIT_JOIN)
		ctl_lineage_put(req, &val[KEY_OTHER]);
	if (asked.insecure)
		ctl_insecure_put(req, 0);
	return ctl_wait_command(&w, req, wait);
}

int ctl_node_join(struct ctl_args *a)
{
	return run(a, CTL_WAIT_JOIN, SPINDLE_CMD_NODE_JOIN, &ctl_lineage_key);
}

int ctl_node_leave(struct ctl_args *a)
{
	const struct ctl_key none = { .name = NULL };

	return run(a, CTL_WAIT_LEAVE, SPINDLE_CMD_NODE_LEAVE, &none);
}

int ctl_node_evict(struct ctl_args *a)
{
	return run(a, CTL_WAIT_EVICT, SPINDLE_CMD_NODE_EVICT, &peer_key);
}
