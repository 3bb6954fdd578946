// SPDX-License-Identifier: GPL-2.0-only
/* The other members of the view, and the service for them. See peers.h. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "common/model.h"
#include "common/wire.h"
#include "logd.h"

/* Return: whether there is an address. */
static bool set_place(struct logd_place *place, uint32_t node, const struct ctl_addr *addr,
		      uint16_t port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&place->addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&place->addr;

	*place = (struct logd_place){ .node = node, .addr.ss_family = (sa_family_t)addr->family };
	if (addr->family == AF_INET) {
		memcpy(&v4->sin_addr, addr->ip, sizeof(v4->sin_addr));
		v4->sin_port = htons(port);
		place->len = sizeof(*v4);
	} else if (addr->family == AF_INET6) {
		memcpy(&v6->sin6_addr, addr->ip, sizeof(v6->sin6_addr));
		v6->sin6_port = htons(port);
		place->len = sizeof(*v6);
	}
	return place->len;
}

static void take_view(struct logd_peers *p, const struct ctl_running *run)
{
	const struct ctl_view *view = &run->view;
	struct ctl_member self = ctl_node_member(&run->node);
	struct logd_place place;
	unsigned int i;

	p->keyed = run->node.keyed.num;
	p->vid = run->node.vid;
	p->places = 0;
	set_place(&p->self, p->node, &self.addr, self.port);
	for (i = 0; run->has_view && i < view->members; i++) {
		const struct ctl_member *m = &view->member[i];

		if (!set_place(&place, m->id, &m->addr, m->port))
			continue;
		if (m->id == p->node)
			p->self = place;
		else if (p->places < SPINDLE_MAX_MEMBERS)
			p->place[p->places++] = place;
	}
}

/**
 * logd_peers_refresh() - ask the kernel for the members
 * @p: the peers
 *
 * Return: whether it has said so; otherwise a sentence says why not.
 */
bool logd_peers_refresh(struct logd_peers *p)
{
	struct ctl_val id = ctl_val_num(p->node);
	struct ctl_pool *before = ctl_pool_use(&p->pool);
	struct ctl_running *run = NULL;
	unsigned int count = 0;
	bool good;

	good = !ctl_fetch(&p->net, "peers", &id, &run, &count, true) && count;
	if (good)
		take_view(p, &run[0]);
	ctl_pool_use(before);
	ctl_pool_drop(&p->pool);
	return good;
}

/* The view of the node, with the tuning of its subgroups. Return: whether the kernel tells it. */
static bool fetch_tuned(struct logd_peers *p, const struct ctl_val *id, struct ctl_running **run,
			unsigned int *count)
{
	struct ctl_running_subgroup *list = NULL;
	const struct ctl_val all = { .set = false };
	unsigned int n = 0, i, k;

	if (!p->asks)
		p->asks = !ctl_net_open(&p->views, CTL_SAY);
	if (!p->asks || ctl_fetch(&p->views, "group file", id, run, count, true) ||
	    ctl_fetch_subgroups(&p->views, "group file", id, &all, &all, &list, &n))
		return false;
	for (i = 0; *count && i < (*run)[0].view.subgroups; i++) {
		struct ctl_subgroup *sg = &(*run)[0].view.subgroup[i];

		for (k = 0; k < n; k++)
			if (list[k].sg.val[CTL_SG_ID].num == sg->val[CTL_SG_ID].num)
				memcpy(sg->tune, list[k].sg.tune, sizeof(sg->tune));
	}
	return true;
}

/**
 * logd_peers_keep() - have votes and group file of the present view on disk
 * @p: the peers
 * @state: files of the node
 *
 * A node that is in no view any more has nothing to keep.
 *
 * Return: 1: done; 0: the kernel does not answer; -1: the disk has failed, or the node may not be
 * in this view, so that the process has to end. A sentence says so.
 */
int logd_peers_keep(struct logd_peers *p, struct logd_state *state)
{
	struct ctl_val id = ctl_val_num(state->node);
	struct ctl_pool *before = ctl_pool_use(&p->pool);
	struct ctl_running *run = NULL;
	unsigned int count = 0;
	int kept = fetch_tuned(p, &id, &run, &count);

	if (kept && count && run[0].has_view && !logd_state_view(state, &run[0].view))
		kept = -1;
	ctl_pool_use(before);
	ctl_pool_drop(&p->pool);
	if (kept < 0)
		ctl_err("%s", state->why);
	return kept;
}

/**
 * logd_peers_begin() - find out whether there are peers to speak to
 * @p: the peers, zeroed
 * @opts: command line
 *
 * Without a key everybody in the network could read the logs, so this needs a word of the user.
 *
 * Return: whether the command line is possible; a sentence says why not.
 */
bool logd_peers_begin(struct logd_peers *p, const struct logd_opts *opts)
{
	bool open = opts->peers && !strcmp(opts->peers, "open");

	p->node = opts->node;
	p->server.id.node = opts->node;
	p->server.listen = -1;
	if (opts->peers && !open)
		return true;
	if (opts->key_file) {
		if (!logd_peers_key(&p->server.id, opts->key_file))
			return false;
	} else if (open) {
		peer_key(&p->server.id, NULL, 0);
	} else {
		ctl_err("without a key-file (option -K) no log is served to other nodes or "
			"fetched from them");
		return true;
	}
	if (ctl_net_open(&p->net, CTL_SAY) || !logd_peers_refresh(p))
		return false;
	if (!opts->key_file && p->keyed) {
		ctl_err("node %u has a key, so '-P open' is refused: give the file of the key "
			"(option -K)", opts->node);
		return false;
	}
	p->on = true;
	return true;
}

/* ---- the service ------------------------------------------------------------ */

static bool find_log(void *arg, uint32_t subgroup, struct peer_log *log)
{
	const struct logd_peers *p = arg;
	unsigned int i;

	for (i = 0; i < p->count; i++) {
		const struct logd *l = &p->logs[i];

		if (l->attach.subgroup != subgroup || !l->log.port || l->broken || l->failed)
			continue;
		/* A log that could not be compared may belong to a group that has ended. */
		if (l->catch.on && !l->catch.trusted)
			continue;
		*log = (struct peer_log){
			.log = &l->log, .damaged = l->scan.n_damaged, .frame = l->frame,
			.dir = l->io.dir, .era = l->era,
		};
		return true;
	}
	return false;
}

/**
 * logd_peers_place() - is this an address to listen to?
 * @text: ADDR:PORT
 *
 * Return: whether it is.
 */
bool logd_peers_place(const char *text)
{
	bool has_port = false;
	struct ctl_addr addr;
	uint16_t port;

	return !ctl_endpoint_parse(text, &addr, &has_port, &port) && has_port;
}

/**
 * logd_peers_parse() - read where a node can be asked
 * @text: ADDR:PORT
 * @node: id of the node
 * @place: out
 *
 * Return: whether the text is an address with a port.
 */
bool logd_peers_parse(const char *text, uint32_t node, struct logd_place *place)
{
	bool has_port = false;
	struct ctl_addr addr;
	uint16_t port = 0;

	return !ctl_endpoint_parse(text, &addr, &has_port, &port) && has_port &&
	       set_place(place, node, &addr, port);
}

static bool own_place(const struct logd_peers *p, const char *text, struct logd_place *place)
{
	*place = p->self;
	return text ? logd_peers_parse(text, p->node, place) : place->len;
}

/**
 * logd_peers_listen() - begin to serve logs
 * @p: the peers
 * @opts: command line
 * @logs: logs, which are open
 * @count: how many; 0: none is open yet, and this is called again
 *
 * A log that cannot be served is still written.
 */
void logd_peers_listen(struct logd_peers *p, const struct logd_opts *opts, struct logd *logs,
		       unsigned int count)
{
	struct logd_place place;
	int fd = -EADDRNOTAVAIL;

	if (!p->on)
		return;
	p->logs = logs;
	p->count = count;
	if (p->listens)
		return;
	p->listens = true;
	p->server.find = find_log;
	p->server.arg = p;
	if (own_place(p, opts->listen, &place))
		fd = peer_listen((struct sockaddr *)&place.addr, place.len);
	if (fd < 0)
		ctl_err("other nodes cannot fetch from here: no TCP port to listen to (option "
			"-L): %s", strerror(-fd));
	peer_server_begin(&p->server, fd < 0 ? -1 : fd);
}

/**
 * logd_peers_room() - how much does the loop have to wait for?
 * @p: the peers
 *
 * Return: entries that logd_peers_poll() needs.
 */
unsigned int logd_peers_room(const struct logd_peers *p)
{
	return p->on ? PEER_GUESTS + 1 + 2 * p->count : 0;
}

/**
 * logd_peers_poll() - what the loop waits for
 * @p: the peers
 * @fd: filled; it stays where it is until logd_peers_work()
 * @room: entries of @fd, as logd_peers_room() has said
 * @ms: made less if the loop may not sleep so long; negative: for ever
 */
void logd_peers_poll(struct logd_peers *p, struct pollfd *fd, unsigned int room, int *ms)
{
	unsigned int i, n = 0;

	if (!p->on)
		return;
	n = peer_server_poll(&p->server, fd, ms);
	for (i = 0; i < p->count; i++) {
		n += logd_catch_poll(&p->logs[i], &fd[n], ms);
		n += logd_repair_poll(&p->logs[i], &fd[n], ms);
	}
	for (; n < room; n++)
		fd[n] = (struct pollfd){ .fd = -1 };
}

/**
 * logd_peers_work() - answer what other nodes ask
 * @p: the peers
 */
void logd_peers_work(struct logd_peers *p)
{
	if (p->on)
		peer_server_work(&p->server);
}
