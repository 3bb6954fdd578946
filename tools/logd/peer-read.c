// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies from a log that is being written. See peer.h.
 *
 * A search for a position has a budget of bytes for each call, because the loop also writes the
 * log.
 */
#include <errno.h>
#include <stdlib.h>

#include "io.h"
#include "peer.h"

/* Bytes of frames that one call steps over. */
#define SEEK	(2U << 20)
/* A guest that asks for less gets so many bytes. */
#define LEAST	4096U

/**
 * peer_reader_open() - begin to read a log
 * @p: the reader, zeroed
 * @log: the log, whose writer lives longer
 *
 * Return: whether there was memory.
 */
bool peer_reader_open(struct peer_reader *p, const struct peer_log *log)
{
	uint32_t size = (log->frame + LOGD_BLOCK - 1) / LOGD_BLOCK * LOGD_BLOCK;

	*p = (struct peer_reader){ .id = log->log->id };
	p->id.frame = log->frame;
	p->r = (struct spindle_dlog_reader){
		.port = log->log->port, .id = &p->id, .map = &log->log->map,
		.window = { .buf = aligned_alloc(LOGD_BLOCK, size), .size = size },
	};
	return p->r.window.buf;
}

/**
 * peer_reader_close() - free the memory of a reader
 * @p: the reader
 */
void peer_reader_close(struct peer_reader *p)
{
	free(p->r.window.buf);
	*p = (struct peer_reader){ .has = false };
}

/* Return: as spindle_dlog_read(). */
static int next(struct peer_reader *p)
{
	int n = spindle_dlog_read(&p->r, &p->m);

	p->has = n == 1;
	p->at = p->m.lsn;
	return n;
}

/* Go to the beginning of the segment, unless the reader is on the way to the position. */
static void place(struct peer_reader *p, uint64_t from)
{
	const struct spindle_dlog_map *map = p->r.map;
	uint64_t base = map->low;
	uint32_t i;

	for (i = map->n; i-- && map->seg[i].lsn > from;)
		;
	if (i < map->n && map->seg[i].lsn > base)
		base = map->seg[i].lsn;
	if (!p->placed || p->r.lsn > from || p->r.lsn < base)
		spindle_dlog_seek(&p->r, base);
	p->placed = true;
	p->has = false;
}

/*
 * Read up to a position. Return: 1; 0: not there yet; -EUCLEAN: it is damaged, up to @to; -ENODATA:
 * it is not there.
 */
static int find(struct peer_reader *p, uint64_t from, uint64_t *to)
{
	uint64_t seen = 0;
	int n;

	if (p->has && p->at == from)
		return 1;
	place(p, from);
	while (seen < SEEK) {
		n = next(p);
		if (n == 1 && p->at == from)
			return 1;
		if (n == 1 && p->r.frame.end <= from) {
			seen += p->r.frame.bytes;
			p->r.lsn = p->r.frame.end;
		} else if (n == -EUCLEAN && p->r.damaged.to > from) {
			*to = p->r.damaged.to;
			return -EUCLEAN;
		} else if (n != 1 && n != -EUCLEAN) {
			p->placed = false;
			return -ENODATA;
		}
	}
	return 0;
}

/* Add the message that is there, and those behind it, as far as there is room. */
static uint32_t add_records(struct peer_reader *p, const struct peer_read_req *req, uint8_t *buf,
			    uint32_t *count)
{
	uint32_t max = req->max < PEER_CHUNK ? req->max : PEER_CHUNK, used = 0;
	struct peer_record rec = { .m = p->m, .skip = req->skip };

	if (max < LEAST)
		max = LEAST;
	rec.part = rec.m.len - req->skip;
	if (rec.part > max)
		rec.part = max;
	rec.m.data = (const uint8_t *)p->m.data + req->skip;
	used = peer_record_put(buf, &rec);
	*count = 1;
	/* A part is alone, and its message stays where it is. */
	if (rec.part != rec.m.len)
		return used;
	while (next(p) == 1 && used + PEER_RECORD + p->m.len <= max) {
		rec = (struct peer_record){ .m = p->m, .part = p->m.len };
		used += peer_record_put(buf + used, &rec);
		(*count)++;
	}
	return used;
}

static uint32_t code_of(int found)
{
	return found == -EUCLEAN ? PEER_DAMAGED : PEER_END;
}

/**
 * peer_reader_reply() - answer PEER_READ
 * @p: the reader
 * @req: the request
 * @buf: room for PEER_PAYLOAD bytes
 * @len: set to the bytes of the payload
 *
 * Only messages that are on disk and check are in the reply.
 *
 * Return: 1; 0: call again, because the position was not found yet; -EBADMSG: a request that makes
 * no sense.
 */
int peer_reader_reply(struct peer_reader *p, const struct peer_read_req *req, uint8_t *buf,
		      uint32_t *len)
{
	const struct spindle_dlog_map *map = p->r.map;
	struct peer_data d = { .from = req->from, .low = map->low, .end = map->until };
	int found = 1;

	*len = PEER_DATA_HEAD;
	if (req->from < map->low)
		d.code = PEER_TRIMMED;
	else if (req->from >= map->until)
		d.code = PEER_END;
	else
		found = find(p, req->from, &d.next);
	if (!found)
		return 0;
	if (found < 0)
		d.code = code_of(found);
	if (d.code == PEER_OK) {
		if (req->skip && req->skip >= p->m.len)
			return -EBADMSG;
		*len += add_records(p, req, buf + PEER_DATA_HEAD, &d.count);
	}
	peer_data_put(buf, &d);
	return 1;
}
