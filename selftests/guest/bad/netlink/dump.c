// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump: a dump shows each lasting object once, whatever is added and removed at the same time. See
 * dump.h.
 */
#include <stdio.h>
#include <string.h>

#include "genl-bad.h"
#include "dump.h"
#include "words.h"
#include "tap.h"

static int take_node(void *ctx, const struct nlmsghdr *nlh)
{
	struct dumped *d = ctx;
	uint32_t id = nl_num(nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_NODE_ID));

	d->intr += !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
	d->out_of_order += id <= d->last;
	d->last = id;
	if (id >= FIRST && id <= FIRST + MANY)
		d->seen[id - FIRST]++;
	else
		d->others++;
	if (++d->messages == 3 && d->between)
		d->between(d);
	/* Give up on a dump that begins again and again. */
	return d->messages > 10 * MANY;
}

void fresh_socket(struct nl *sk, uint32_t room)
{
	int one = 1;

	if (nl_open(sk))
		die("open");
	close(sk->fd);
	sk->fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	setsockopt(sk->fd, SOL_SOCKET, SO_RCVBUF, &one, sizeof(one));
	sk->room = room;
}

int dump_pieces(int cmd, struct dumped *d, struct nl_ack *ack)
{
	static struct nl_req r;
	struct nl sk;
	int err;

	memset(ack, 0, sizeof(*ack));
	fresh_socket(&sk, 4096);
	nl_begin(&sk, &r, cmd, NLM_F_DUMP);
	err = nl_talk(&sk, &r, ack, take_node, d);
	close(sk.fd);
	return err ? err : ack->err;
}

static void many_nodes(bool add)
{
	struct nl_ack ack;
	char words[96];
	int i, bad = 0;

	for (i = 0; i < MANY; i++) {
		if (add)
			snprintf(words, sizeof(words), "id=%d addr4=10.0.0.1 port=%d", FIRST + i,
				 6001 + i);
		else
			snprintf(words, sizeof(words), "id=%d", FIRST + i);
		bad += !!request(&nl, add ? ADD : DEL, words, &ack, NULL);
	}
	is(bad, 0, "%d nodes %s", MANY, add ? "added" : "removed");
}

static void remove_some(struct dumped *d)
{
	struct nl_ack ack;

	(void)d;
	request(&nl, DEL, "id=1090", &ack, NULL);
	request(&nl, DEL, "id=1002", &ack, NULL);
	request(&nl, ADD, "id=1097 addr4=10.0.0.1 port=6200", &ack, NULL);
}

static void check_dump(int cmd, const char *name)
{
	struct dumped d = { 0 };
	struct nl_ack ack;
	int i, once = 0;

	is(dump_pieces(cmd, &d, &ack), 0, "%s: a dump in pieces", name);
	for (i = 0; i < MANY; i++)
		once += d.seen[i] == 1;
	is(once, MANY, "%s: shows all nodes once", name);
	is(d.out_of_order, 0, "%s: sorted by id", name);
	is(d.intr + ack.intr, 0, "%s: the dump is not marked as interrupted", name);
}

void pieces(void)
{
	struct dumped d = { .between = remove_some };
	struct nl_ack ack;
	int i, once = 0;

	many_nodes(true);
	check_dump(SPINDLE_CMD_NODE_GET, "node get");
	check_dump(SPINDLE_CMD_STATS_GET, "stats get");

	is(dump_pieces(SPINDLE_CMD_NODE_GET, &d, &ack), 0, "a dump with changes in between");
	for (i = 0; i < MANY; i++)
		once += d.seen[i] == 1 && i != 1090 - FIRST;
	is(once, MANY - 1, "the dump shows each permanent node once");
	is(d.out_of_order, 0, "the dump is sorted by id");
	ok(d.intr + ack.intr > 0, "the dump is marked as interrupted");
	request(&nl, ADD, "id=1090 addr4=10.0.0.1 port=6090", &ack, NULL);
	request(&nl, ADD, "id=1002 addr4=10.0.0.1 port=6002", &ack, NULL);
	request(&nl, DEL, "id=1097", &ack, NULL);
	many_nodes(false);
}
