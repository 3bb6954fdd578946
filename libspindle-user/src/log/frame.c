// SPDX-License-Identifier: MIT
/*
 * Build and parse frames, records and the meta block. A parser believes nothing: what a disk gives
 * back may be anything.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "format.h"

#define HEADER	((uint32_t)sizeof(struct spindle_dlog_frame))
#define RECORD	((uint32_t)sizeof(struct spindle_dlog_record))

static uint32_t pad(uint32_t len, uint32_t to)
{
	return (len + to - 1) & ~(to - 1);
}

/**
 * spindle_dlog_ident_check - are the sizes of a log possible?
 * @id: the log
 *
 * Return: whether they are.
 */
bool spindle_dlog_ident_check(const struct spindle_dlog_ident *id)
{
	if (id->block < SPINDLE_DLOG_BLOCK_MIN || id->block > SPINDLE_DLOG_BLOCK_MAX ||
	    (id->block & (id->block - 1)))
		return false;
	if (!id->frame || id->frame % id->block || !id->segment || id->segment % id->block)
		return false;
	/* A segment has room for its first frame and for one with records. */
	return id->frame <= INT32_MAX && id->segment <= INT32_MAX &&
	       id->block + id->frame <= id->segment;
}

/**
 * spindle_dlog_build_begin - begin a frame
 * @b: the frame
 * @buf: its memory, aligned to the block
 * @room: bytes at @buf, a multiple of the block
 */
void spindle_dlog_build_begin(struct spindle_dlog_build *b, void *buf, uint32_t room)
{
	*b = (struct spindle_dlog_build){ .buf = buf, .room = room, .used = HEADER };
}

/**
 * spindle_dlog_build_fits - is there room for one more message?
 * @b: the frame
 * @len: bytes of the message
 *
 * Return: whether there is.
 */
bool spindle_dlog_build_fits(const struct spindle_dlog_build *b, uint32_t len)
{
	return len <= INT32_MAX && b->room - b->used >= RECORD &&
	       pad(len, SPINDLE_DLOG_ALIGN) <= b->room - b->used - RECORD;
}

/**
 * spindle_dlog_build_add - copy one more message into the frame
 * @b: the frame; the message fits
 * @m: the message
 */
void spindle_dlog_build_add(struct spindle_dlog_build *b, const struct spindle_dlog_msg *m)
{
	struct spindle_dlog_record rec = {
		.len = htole32(m->len), .flags = htole32(m->flags), .node = htole32(m->node),
		.sender = htole32(m->sender), .slot = htole64(m->slot),
	};
	uint32_t padded = pad(m->len, SPINDLE_DLOG_ALIGN);
	unsigned char *at = b->buf + b->used;

	memcpy(at, &rec, RECORD);
	if (m->len)
		memcpy(at + RECORD, m->data, m->len);
	memset(at + RECORD + m->len, 0, padded - m->len);
	b->used += RECORD + padded;
	b->count++;
}

/* The salt is in front, so that a sender that does not know it cannot make a frame. */
static uint32_t header_crc(const struct spindle_dlog_frame *f, uint64_t salt)
{
	uint64_t le = htole64(salt);
	uint32_t crc = spindle_dlog_crc(0, &le, sizeof(le));

	return spindle_dlog_crc(crc, f, offsetof(struct spindle_dlog_frame, crc));
}

static void write_header(void *buf, const struct spindle_dlog_ident *id,
			 struct spindle_dlog_info *info)
{
	struct spindle_dlog_frame f = {
		.magic = htole32(SPINDLE_DLOG_FRAME_MAGIC),
		.version = htole16(SPINDLE_DLOG_VERSION),
		.flags = htole16((uint16_t)info->flags), .bytes = htole32(info->bytes),
		.used = htole32(info->used), .count = htole32(info->count),
		.prev = htole32(info->prev), .seq = htole64(info->seq),
		.offset = htole64(info->offset), .lsn = htole64(info->lsn),
		.base = htole64(info->base), .acked = htole64(info->acked),
		.era = htole64(info->era), .vid = htole64(info->vid), .time = htole64(info->time),
	};
	unsigned char *body = (unsigned char *)buf + HEADER;

	memset((unsigned char *)buf + info->used, 0, info->bytes - info->used);
	f.body = htole32(spindle_dlog_crc(0, body, info->bytes - HEADER));
	info->crc = header_crc(&f, id->salt);
	f.crc = htole32(info->crc);
	memcpy(buf, &f, HEADER);
}

/**
 * spindle_dlog_build_seal - pad a frame, and write its header
 * @b: the frame
 * @id: the log
 * @info: has seq, offset, lsn, base, acked, era, vid, time and prev; gets the rest
 *
 * Return: bytes of the frame.
 */
uint32_t spindle_dlog_build_seal(struct spindle_dlog_build *b, const struct spindle_dlog_ident *id,
				 struct spindle_dlog_info *info)
{
	info->flags = 0;
	info->used = b->used;
	info->count = b->count;
	info->bytes = pad(b->used, id->block);
	info->end = info->lsn + b->count;
	write_header(b->buf, id, info);
	return info->bytes;
}

static void fill_identity(struct spindle_dlog_identity *to, const struct spindle_dlog_ident *id)
{
	memcpy(to->lineage, id->lineage, sizeof(to->lineage));
	to->subgroup = htole32(id->subgroup);
	to->node = htole32(id->node);
	to->block = htole32(id->block);
	to->segment = htole32(id->segment);
}

/**
 * spindle_dlog_head_build - write the first frame of a segment, which has one block
 * @buf: the block
 * @id: the log
 * @info: as for spindle_dlog_build_seal()
 */
void spindle_dlog_head_build(void *buf, const struct spindle_dlog_ident *id,
			     struct spindle_dlog_info *info)
{
	struct spindle_dlog_identity body;

	fill_identity(&body, id);
	memcpy((unsigned char *)buf + HEADER, &body, sizeof(body));
	info->flags = SPINDLE_DLOG_HEAD;
	info->used = HEADER + sizeof(body);
	info->count = 0;
	info->bytes = id->block;
	info->end = info->lsn;
	info->prev = 0;
	write_header(buf, id, info);
}

static void read_header(const struct spindle_dlog_frame *f, struct spindle_dlog_info *info)
{
	*info = (struct spindle_dlog_info){
		.bytes = le32toh(f->bytes), .used = le32toh(f->used), .count = le32toh(f->count),
		.flags = le16toh(f->flags), .prev = le32toh(f->prev), .crc = le32toh(f->crc),
		.seq = le64toh(f->seq), .offset = le64toh(f->offset), .lsn = le64toh(f->lsn),
		.base = le64toh(f->base), .acked = le64toh(f->acked), .era = le64toh(f->era),
		.vid = le64toh(f->vid), .time = le64toh(f->time),
	};
	info->end = info->lsn + info->count;
}

static bool sizes_are_possible(const struct spindle_dlog_info *info,
			       const struct spindle_dlog_ident *id)
{
	if (info->bytes < id->block || info->bytes > id->frame || info->bytes % id->block)
		return false;
	if (info->bytes > id->segment - info->offset)
		return false;
	if (info->used < HEADER || info->used > info->bytes ||
	    info->bytes - info->used >= id->block)
		return false;
	return info->count <= (info->used - HEADER) / RECORD;
}

static bool positions_are_possible(const struct spindle_dlog_info *info)
{
	return info->end >= info->lsn && info->base <= info->acked && info->acked <= info->lsn;
}

/**
 * spindle_dlog_header_parse - parse and check the header of a frame
 * @buf: one block
 * @id: the log
 * @seq: number of the segment
 * @offset: of the frame in its segment
 * @info: the header
 *
 * Return: 0, or -EBADMSG if this is no frame of this place.
 */
int spindle_dlog_header_parse(const void *buf, const struct spindle_dlog_ident *id, uint64_t seq,
			      uint64_t offset, struct spindle_dlog_info *info)
{
	struct spindle_dlog_frame f;

	memcpy(&f, buf, HEADER);
	if (le32toh(f.magic) != SPINDLE_DLOG_FRAME_MAGIC ||
	    le16toh(f.version) != SPINDLE_DLOG_VERSION)
		return -EBADMSG;
	read_header(&f, info);
	if (info->seq != seq || info->offset != offset || offset >= id->segment)
		return -EBADMSG;
	if (info->crc != header_crc(&f, id->salt))
		return -EBADMSG;
	if (info->flags != (offset ? 0 : SPINDLE_DLOG_HEAD))
		return -EBADMSG;
	return sizes_are_possible(info, id) && positions_are_possible(info) ? 0 : -EBADMSG;
}

/*
 * A forced restart gives the log another lineage, and segments keep the one that they were written
 * in. The salt in the CRC says that the frame is of this log.
 */
static bool head_is_ours(const unsigned char *buf, const struct spindle_dlog_ident *id,
			 const struct spindle_dlog_info *info)
{
	struct spindle_dlog_identity want;

	fill_identity(&want, id);
	memcpy(want.lineage, buf + HEADER, sizeof(want.lineage));
	return info->used == HEADER + sizeof(want) && !info->count &&
	       !memcmp(buf + HEADER, &want, sizeof(want));
}

/**
 * spindle_dlog_body_check - check the body of a frame
 * @buf: the frame, all of its bytes
 * @id: the log
 * @info: its header, as spindle_dlog_header_parse() has given it
 *
 * Return: 0, or -EBADMSG.
 */
int spindle_dlog_body_check(const void *buf, const struct spindle_dlog_ident *id,
			    const struct spindle_dlog_info *info)
{
	struct spindle_dlog_frame f;
	struct spindle_dlog_msg m;
	uint32_t i, at = HEADER;

	memcpy(&f, buf, HEADER);
	if (le32toh(f.body) != spindle_dlog_crc(0, (const unsigned char *)buf + HEADER,
						info->bytes - HEADER))
		return -EBADMSG;
	if (info->flags & SPINDLE_DLOG_HEAD)
		return head_is_ours(buf, id, info) ? 0 : -EBADMSG;
	for (i = 0; i < info->count; i++) {
		at = spindle_dlog_record_parse(buf, info, at, &m);
		if (!at)
			return -EBADMSG;
	}
	return at == info->used ? 0 : -EBADMSG;
}

/**
 * spindle_dlog_record_parse - parse one record
 * @buf: the frame
 * @info: its header
 * @at: offset of the record in the frame; 0: of the first one
 * @m: the message; its position stays as it is
 *
 * Return: offset of the record behind it, or 0 if the record does not fit into the frame.
 */
uint32_t spindle_dlog_record_parse(const void *buf, const struct spindle_dlog_info *info,
				   uint32_t at, struct spindle_dlog_msg *m)
{
	struct spindle_dlog_record rec;
	uint32_t len;

	if (!at)
		at = HEADER;
	if (info->used - at < RECORD)
		return 0;
	memcpy(&rec, (const unsigned char *)buf + at, RECORD);
	len = le32toh(rec.len);
	if (len > info->used - at - RECORD ||
	    pad(len, SPINDLE_DLOG_ALIGN) > info->used - at - RECORD)
		return 0;
	m->len = len;
	m->flags = le32toh(rec.flags);
	m->node = le32toh(rec.node);
	m->sender = le32toh(rec.sender);
	m->slot = le64toh(rec.slot);
	m->era = info->era;
	m->vid = info->vid;
	m->time = info->time;
	m->data = (const unsigned char *)buf + at + RECORD;
	return at + RECORD + pad(len, SPINDLE_DLOG_ALIGN);
}

/**
 * spindle_dlog_meta_build - write the meta block
 * @buf: one block
 * @id: the log
 * @state: what the block says
 */
void spindle_dlog_meta_build(void *buf, const struct spindle_dlog_ident *id,
			     const struct spindle_dlog_meta_state *state)
{
	struct spindle_dlog_meta meta = {
		.magic = htole32(SPINDLE_DLOG_META_MAGIC), .version = htole32(SPINDLE_DLOG_VERSION),
		.number = htole64(state->number), .salt = htole64(id->salt),
		.low = htole64(state->low), .acked = htole64(state->acked),
		.seq = htole64(state->seq),
	};

	fill_identity(&meta.id, id);
	meta.crc = htole32(spindle_dlog_crc(0, &meta, offsetof(struct spindle_dlog_meta, crc)));
	memset(buf, 0, id->block);
	memcpy(buf, &meta, sizeof(meta));
}

/**
 * spindle_dlog_meta_parse - parse the meta block
 * @buf: SPINDLE_DLOG_BLOCK_MIN bytes
 * @id: what the log is; the length of frames stays as it is
 * @state: what the block says
 *
 * Return: 0, or -EBADMSG.
 */
int spindle_dlog_meta_parse(const void *buf, struct spindle_dlog_ident *id,
			    struct spindle_dlog_meta_state *state)
{
	struct spindle_dlog_meta meta;

	memcpy(&meta, buf, sizeof(meta));
	if (le32toh(meta.magic) != SPINDLE_DLOG_META_MAGIC ||
	    le32toh(meta.version) != SPINDLE_DLOG_VERSION ||
	    le32toh(meta.crc) != spindle_dlog_crc(0, &meta,
						  offsetof(struct spindle_dlog_meta, crc)))
		return -EBADMSG;
	memcpy(id->lineage, meta.id.lineage, sizeof(id->lineage));
	id->subgroup = le32toh(meta.id.subgroup);
	id->node = le32toh(meta.id.node);
	id->block = le32toh(meta.id.block);
	id->segment = le32toh(meta.id.segment);
	id->salt = le64toh(meta.salt);
	*state = (struct spindle_dlog_meta_state){
		.number = le64toh(meta.number), .low = le64toh(meta.low),
		.acked = le64toh(meta.acked), .seq = le64toh(meta.seq),
	};
	return state->low <= state->acked ? 0 : -EBADMSG;
}
