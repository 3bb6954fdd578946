// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots for guests, from the directory of a log. See peer.h.
 *
 * A file stays open from one request to the next one, because its program may remove it.
 */
#include <string.h>
#include <unistd.h>

#include "peer.h"

/**
 * peer_source_open() - the requests that follow are about the snapshots beside this log
 * @s: the snapshots, closed
 * @log: the log, whose writer and directory live longer
 */
void peer_source_open(struct peer_source *s, const struct peer_log *log)
{
	*s = (struct peer_source){
		.dir = log->dir, .log = log->log, .era = log->era, .fd = -1,
	};
}

/**
 * peer_source_close() - close what is open
 * @s: the snapshots
 */
void peer_source_close(struct peer_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct peer_source){ .dir = -1, .fd = -1 };
}

/*
 * A guest goes on with the log behind the snapshot. So a snapshot in front of the log is of no use
 * to the guest.
 */
static bool find(const struct peer_source *s, const char *after, struct logd_snap *snap)
{
	struct logd_snap_want w = { .era = s->era, .end = UINT64_MAX };

	if (s->dir < 0)
		return false;
	w.low = s->log->map.low;
	w.subgroup = s->log->id.subgroup;
	memcpy(w.lineage, s->log->id.lineage, sizeof(w.lineage));
	return logd_snap_next(s->dir, &w, after, snap);
}

/**
 * peer_source_find() - answer PEER_FIND
 * @s: the snapshots
 * @after: the program before
 * @o: filled
 */
void peer_source_find(struct peer_source *s, const char *after, struct peer_offer *o)
{
	struct logd_snap snap;
	uid_t owner;

	*o = (struct peer_offer){ .code = PEER_END };
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	if (!find(s, after, &snap) || !logd_snap_owner(s->dir, &owner))
		return;
	/* The file may be another one by now, and its head is what counts. */
	s->fd = spindle_dlog_snapshot_open(s->dir, snap.file, owner, &o->st);
	if (s->fd < 0)
		return;
	s->bytes = o->st.bytes;
	o->code = PEER_OK;
	strcpy(o->name, snap.name);
}

/**
 * peer_source_load() - answer PEER_LOAD
 * @s: the snapshots, of which one was found
 * @req: the request
 * @buf: room for PEER_PAYLOAD bytes
 *
 * Return: bytes of the payload; 0: a request that makes no sense.
 */
uint32_t peer_source_load(const struct peer_source *s, const struct peer_load_req *req,
			  uint8_t *buf)
{
	struct peer_piece d = { .from = req->from };
	uint32_t n = req->max < PEER_CHUNK ? req->max : PEER_CHUNK;
	ssize_t got;

	if (s->fd < 0 || req->from >= s->bytes || !n)
		return 0;
	if (n > s->bytes - req->from)
		n = (uint32_t)(s->bytes - req->from);
	got = pread(s->fd, buf + PEER_PIECE_HEAD, n,
		    (off_t)(SPINDLE_DLOG_SNAP_HEAD + req->from));
	d.code = got > 0 ? PEER_OK : PEER_DAMAGED;
	d.count = got > 0 ? (uint32_t)got : 0;
	peer_piece_put(buf, &d);
	return PEER_PIECE_HEAD + d.count;
}
