// SPDX-License-Identifier: MIT
/*
 * Cut a log at a position: a restart of the group goes on without the messages from there on.
 *
 * A cut is a segment with the next number, whose base is the end of the log. A frame that ends
 * above the base of a later segment does not belong to the log. So the segment takes all messages
 * from there on away at once, when its first write is whole. Before that write the log is as it
 * was. No byte of the log is overwritten.
 *
 * The segment has two frames, and each of them says the base. So damage of one brings nothing back.
 * If the position is inside of a frame, the base is the beginning of that frame, and the second
 * frame has a copy of the records that stay. Otherwise that frame is empty. It is written before
 * the first one, so a crash leaves a copy and a cut, or none.
 */
#include <errno.h>

#include "log.h"

static const struct spindle_dlog_file new_file = { .kind = SPINDLE_DLOG_NEW };

static struct spindle_dlog_file segment(uint64_t seq)
{
	return (struct spindle_dlog_file){ .kind = SPINDLE_DLOG_SEGMENT, .id = seq };
}

static struct spindle_dlog_file meta(uint64_t number)
{
	return (struct spindle_dlog_file){ .kind = SPINDLE_DLOG_META, .id = number & 1 };
}

/* A crash may have left a meta file that is shorter. */
static bool lacks_meta(const struct spindle_dlog_cut *c, uint64_t number)
{
	uint64_t bytes;

	return c->port->size(c->port->env, meta(number), &bytes) || bytes != c->id.block;
}

/* The process before may have died in front of a sync, so what a scan sees may not be durable. */
static bool is_sync(uint32_t step)
{
	return step == SPINDLE_DLOG_CUT_SYNC_META || step == SPINDLE_DLOG_CUT_SYNC_OTHER;
}

static bool is_of_head(uint32_t step)
{
	return step == SPINDLE_DLOG_CUT_HEAD || step == SPINDLE_DLOG_CUT_SYNC_HEAD;
}

static bool is_needed(const struct spindle_dlog_cut *c)
{
	if (c->step == SPINDLE_DLOG_CUT_TAIL)
		return c->has_tail;
	if (c->is_cut && !is_of_head(c->step))
		return is_sync(c->step) && !lacks_meta(c, c->step == SPINDLE_DLOG_CUT_SYNC_META);
	switch (c->step) {
	case SPINDLE_DLOG_CUT_MAKE_META:
		return lacks_meta(c, c->number + 1);
	case SPINDLE_DLOG_CUT_MAKE_OTHER:
		return lacks_meta(c, c->number + 2);
	case SPINDLE_DLOG_CUT_SYNC_META:
	case SPINDLE_DLOG_CUT_SYNC_OTHER:
	case SPINDLE_DLOG_CUT_SYNC_COPY:
	case SPINDLE_DLOG_CUT_SYNC_END:
	case SPINDLE_DLOG_CUT_SYNC_END_OTHER:
		return !c->port->through;
	case SPINDLE_DLOG_CUT_HEAD:
		return c->head;
	case SPINDLE_DLOG_CUT_SYNC_HEAD:
		return c->head && !c->port->through;
	default:
		return true;
	}
}

static struct spindle_dlog_op write_meta(struct spindle_dlog_cut *c, uint64_t number, uint64_t low,
					 uint64_t acked)
{
	struct spindle_dlog_meta_state state = {
		.number = number, .low = low, .acked = acked, .seq = c->seq + 1,
	};

	spindle_dlog_meta_build(c->meta, &c->id, &state);
	return (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_WRITE, .file = meta(number), .buf = c->meta,
		.len = c->id.block,
	};
}

/*
 * Nothing may say any more that positions behind the cut were durable. All below the base is. The
 * log may have been trimmed above that.
 */
static struct spindle_dlog_op give_up(struct spindle_dlog_cut *c, uint64_t number)
{
	return write_meta(c, number, c->low, c->low > c->base ? c->low : c->base);
}

static struct spindle_dlog_op say_end(struct spindle_dlog_cut *c, uint64_t number)
{
	return write_meta(c, number, c->low < c->end ? c->low : c->end, c->end);
}

static struct spindle_dlog_op make(struct spindle_dlog_file file, uint32_t len)
{
	return (struct spindle_dlog_op){ .what = SPINDLE_DLOG_CREATE, .file = file, .len = len };
}

static struct spindle_dlog_op sync_file(struct spindle_dlog_file file)
{
	return (struct spindle_dlog_op){ .what = SPINDLE_DLOG_SYNC, .file = file };
}

static struct spindle_dlog_op write_block(const struct spindle_dlog_cut *c, uint32_t offset,
					  uint32_t len)
{
	return (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_WRITE, .file = segment(c->seq), .offset = offset,
		.buf = c->buf + offset, .len = len,
	};
}

/* A damaged meta block must not bring back what the one before it says, so both are written. */
static struct spindle_dlog_op operation(struct spindle_dlog_cut *c)
{
	switch (c->step) {
	case SPINDLE_DLOG_CUT_TAIL:
		return sync_file(segment(c->tail));
	case SPINDLE_DLOG_CUT_MAKE_META:
		return make(meta(c->number + 1), c->id.block);
	case SPINDLE_DLOG_CUT_MAKE_OTHER:
		return make(meta(c->number + 2), c->id.block);
	case SPINDLE_DLOG_CUT_MAKE:
		return make(new_file, c->id.segment);
	case SPINDLE_DLOG_CUT_NAME:
		return (struct spindle_dlog_op){
			.what = SPINDLE_DLOG_RENAME, .file = new_file, .to = segment(c->seq),
		};
	case SPINDLE_DLOG_CUT_NAMES:
		return (struct spindle_dlog_op){ .what = SPINDLE_DLOG_SYNC_DIR };
	case SPINDLE_DLOG_CUT_META:
		return give_up(c, c->number + 1);
	case SPINDLE_DLOG_CUT_SYNC_META:
		return sync_file(meta(c->number + 1));
	case SPINDLE_DLOG_CUT_OTHER:
		return give_up(c, c->number + 2);
	case SPINDLE_DLOG_CUT_SYNC_OTHER:
		return sync_file(meta(c->number + 2));
	case SPINDLE_DLOG_CUT_COPY:
		return write_block(c, c->id.block, c->copy);
	case SPINDLE_DLOG_CUT_HEAD:
		return write_block(c, 0, c->id.block);
	case SPINDLE_DLOG_CUT_END:
		return say_end(c, c->number + 3);
	case SPINDLE_DLOG_CUT_SYNC_END:
		return sync_file(meta(c->number + 3));
	case SPINDLE_DLOG_CUT_END_OTHER:
		return say_end(c, c->number + 4);
	case SPINDLE_DLOG_CUT_SYNC_END_OTHER:
		return sync_file(meta(c->number + 4));
	default:
		return sync_file(segment(c->seq));
	}
}

/* Begin the next step that is needed. */
static void go_on(struct spindle_dlog_cut *c)
{
	struct spindle_dlog_op op;

	while (c->step != SPINDLE_DLOG_CUT_DONE && !is_needed(c))
		c->step++;
	if (c->step == SPINDLE_DLOG_CUT_DONE)
		return;
	op = operation(c);
	op.token = SPINDLE_DLOG_TOKEN_CHORE;
	c->port->submit(c->port->env, &op);
}

/* Copy the records of a frame that stay. The window has the frame. */
static int copy_records(struct spindle_dlog_cut *c, struct spindle_dlog_info *info,
			const unsigned char *from)
{
	struct spindle_dlog_build b;
	struct spindle_dlog_msg m;
	uint64_t lsn;
	uint32_t at = 0;

	spindle_dlog_build_begin(&b, c->buf + c->id.block, c->id.frame);
	for (lsn = info->lsn; lsn < c->end; lsn++) {
		at = spindle_dlog_record_parse(from, info, at, &m);
		if (!at || !spindle_dlog_build_fits(&b, m.len))
			return -EIO;
		spindle_dlog_build_add(&b, &m);
	}
	c->base = info->lsn;
	return (int)b.used;
}

/* The first frame of a segment, which follows from the second one. Return: its CRC. */
static uint32_t build_head(struct spindle_dlog_cut *c, const struct spindle_dlog_info *second)
{
	struct spindle_dlog_info head = {
		.seq = c->seq, .lsn = c->base, .base = c->base, .acked = c->base,
		.era = second->era, .vid = second->vid, .time = second->time,
	};

	spindle_dlog_head_build(c->buf, &c->id, &head);
	return head.crc;
}

/* The first frame of the segment, and the second one, which follows it in the chain. */
static void seal(struct spindle_dlog_cut *c, struct spindle_dlog_info *info, uint32_t used,
		 uint32_t count)
{
	struct spindle_dlog_build b = {
		.buf = c->buf + c->id.block, .room = c->id.frame, .used = used, .count = count,
	};

	*info = (struct spindle_dlog_info){
		.seq = c->seq, .offset = c->id.block, .lsn = c->base, .base = c->base,
		.acked = c->base, .era = info->era, .vid = info->vid, .time = info->time,
	};
	info->prev = build_head(c, info);
	c->head = true;
	c->copy = spindle_dlog_build_seal(&b, &c->id, info);
}

/*
 * Find the frame that the position is in. A position that is damaged, or below the log, has none.
 * Return: 0, or a negative errno.
 */
static int prepare(struct spindle_dlog_cut *c, struct spindle_dlog_scan *s)
{
	struct spindle_dlog_reader r = {
		.port = s->port, .id = &s->id, .map = &s->map, .window = s->window,
	};
	struct spindle_dlog_info info = {
		.era = s->last_epoch.era, .vid = s->last_epoch.vid, .time = s->time,
	};
	struct spindle_dlog_msg m;
	int n, used = sizeof(struct spindle_dlog_frame);

	if (c->end > s->map.low) {
		spindle_dlog_seek(&r, c->end);
		n = spindle_dlog_read(&r, &m);
		if (n < 0 && n != -EUCLEAN)
			return n;
		if (n == 1 && r.frame.lsn < c->end) {
			info = r.frame;
			used = copy_records(c, &info, spindle_dlog_window_at(&r.window,
									     r.walk.start));
		}
	}
	if (used < 0)
		return used;
	seal(c, &info, (uint32_t)used, (uint32_t)(c->end - c->base));
	return 0;
}

/*
 * A crash may have left the second frame alone. Damage of that frame would bring back what was cut,
 * so the first one is written again. The second one says which bytes it had.
 */
static void prepare_again(struct spindle_dlog_cut *c, struct spindle_dlog_scan *s)
{
	struct spindle_dlog_info info;

	if (!c->has_tail ||
	    spindle_dlog_window_frame(&s->window, s->port, &s->id, c->tail, 0, &info) != -EBADMSG ||
	    spindle_dlog_window_frame(&s->window, s->port, &s->id, c->tail, s->id.block, &info))
		return;
	c->seq = c->tail;
	c->base = info.base;
	c->head = build_head(c, &info) == info.prev;
}

/* A scan also has an entry for each segment that an earlier cut has left. */
static bool has_room(const struct spindle_dlog_scan *s)
{
	uint32_t i, n = s->map.n;

	for (i = 0; i < s->leftovers; i++)
		n += s->file[i].kind == SPINDLE_DLOG_SEGMENT;
	return n < s->map.max && s->seq < SPINDLE_DLOG_SEQ_MAX;
}

/**
 * spindle_dlog_cut - begin to cut a log
 * @c: the cut; the caller has set @meta and @buf, and all else is overwritten
 * @s: a scan of the log, which no writer uses
 * @lsn: position of the first message that goes
 *
 * Operations of the port follow, one at a time. The caller passes the end of each to
 * spindle_dlog_cut_done(). The log is cut when @step is SPINDLE_DLOG_CUT_DONE. Then the scan is
 * too old, and a new one finds the end at @lsn. A crash before that leaves a log that is cut, or as
 * it was; if @lsn is below the log, it may also be empty. Damaged positions below @lsn stay
 * damaged. A log that ends at or below @lsn is only synced, and gets the first frame of its last
 * segment again if a crash has lost that.
 *
 * Return: 0; @step says whether there is anything to wait for; -EINVAL for a scan of no log;
 * -E2BIG if the memory of the scan has no room for one more segment; or the errno of a read.
 */
int spindle_dlog_cut(struct spindle_dlog_cut *c, struct spindle_dlog_scan *s, uint64_t lsn)
{
	int err;

	*c = (struct spindle_dlog_cut){
		.port = s->port, .id = s->id, .meta = c->meta, .buf = c->buf, .end = lsn,
		.base = lsn, .low = s->map.low, .seq = s->seq, .number = s->number,
		.step = SPINDLE_DLOG_CUT_DONE,
	};
	if (s->is_new || !spindle_dlog_ident_check(&s->id))
		return -EINVAL;
	c->is_cut = lsn >= s->next;
	if (!c->is_cut && !has_room(s))
		return -E2BIG;
	c->has_tail = s->map.n;
	c->tail = s->map.n ? s->map.seg[s->map.n - 1].seq : 0;
	err = 0;
	if (c->is_cut)
		prepare_again(c, s);
	else
		err = prepare(c, s);
	if (err)
		return err;
	c->step = SPINDLE_DLOG_CUT_TAIL;
	go_on(c);
	return 0;
}

/**
 * spindle_dlog_cut_done - an operation of a cut has ended
 * @c: the cut
 * @err: 0 or a negative errno
 *
 * Return: @err. After an error the cut ends, and nobody knows whether the log is cut.
 */
int spindle_dlog_cut_done(struct spindle_dlog_cut *c, int err)
{
	if (err)
		return err;
	c->step++;
	go_on(c);
	return 0;
}
