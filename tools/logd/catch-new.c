// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a new log begins: with the oldest message that other nodes have. See peers.h.
 *
 * This runs before the loop does, and each peer has a few seconds to answer.
 */
#include <errno.h>
#include <string.h>

#include "logd.h"

/* The positions that a peer has. */
struct span {
	uint64_t low;
	uint64_t end;
};

static int take_none(void *arg, const struct spindle_dlog_msg *m, const char **why)
{
	(void)arg;
	(void)m;
	(void)why;
	return -EIO;
}

/* Return: whether the peer has a log of this subgroup. */
static bool ask(struct logd *l, const struct logd_place *place, struct span *span)
{
	struct peer_fetch f = {
		.client.id = &l->peers->server.id, .subgroup = l->q.subgroup, .take = take_none,
		.want = { .era_max = l->era },
	};
	struct pollfd fd;
	bool known;
	int ms;

	peer_fetch_begin(&f, place->node,
			 peer_connect((const struct sockaddr *)&place->addr, place->len));
	while (f.client.step < PEER_KNOWS) {
		ms = -1;
		if (!peer_client_poll(&f.client, &fd, &ms))
			break;
		if (poll(&fd, 1, ms) < 0 && errno != EINTR)
			break;
		peer_fetch_work(&f);
	}
	*span = (struct span){ f.status.low, f.status.end };
	known = f.client.step == PEER_KNOWS && f.status.era <= l->era;
	peer_fetch_end(&f);
	return known && span->low < span->end;
}

/* The lowest position from which the spans reach another one without a gap. */
static uint64_t lowest(const struct span *span, unsigned int n, uint64_t oldest)
{
	unsigned int i;
	bool moved;

	do {
		moved = false;
		for (i = 0; i < n; i++) {
			if (span[i].low < oldest && span[i].end >= oldest) {
				oldest = span[i].low;
				moved = true;
			}
		}
	} while (moved);
	return oldest;
}

/**
 * logd_catch_lowest() - where does a new log begin?
 * @l: the log, which is attached
 * @oldest: position of the oldest message of the history
 *
 * Return: the position.
 */
uint64_t logd_catch_lowest(struct logd *l, uint64_t oldest)
{
	struct span span[SPINDLE_MAX_MEMBERS];
	struct logd_peers *p = l->peers;
	unsigned int i, n = 0;

	if (!p || !p->on || !oldest)
		return oldest;
	if (logd_peers_refresh(p))
		for (i = 0; i < p->places; i++)
			n += ask(l, &p->place[i], &span[n]);
	if (!n)
		logd_say(l, "no other node serves its log, so this one begins with the history");
	return lowest(span, n, oldest);
}
