// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "disk.h"

static struct disk_name *name_of(struct disk_file *f)
{
	return &f->name[f->names - 1];
}

static bool is_named(struct disk_file *f, struct spindle_dlog_file file)
{
	struct disk_name *n = name_of(f);

	return f->used && n->there && n->file.kind == file.kind && n->file.id == file.id;
}

struct disk_file *disk_find(struct disk *disk, struct spindle_dlog_file file)
{
	u32 i;

	for (i = 0; i < DISK_FILES; i++)
		if (disk->file[i].used && is_named(&disk->file[i], file))
			return &disk->file[i];
	return NULL;
}

struct disk_file *disk_any_segment(struct disk *disk)
{
	u32 i, from = rng_below(&disk->rng, DISK_FILES);

	for (i = 0; i < DISK_FILES; i++) {
		struct disk_file *f = &disk->file[(from + i) % DISK_FILES];

		if (f->used && name_of(f)->there && name_of(f)->file.kind == SPINDLE_DLOG_SEGMENT)
			return f;
	}
	return NULL;
}

static const u8 *seen(struct disk_file *f, u32 sector)
{
	return (f->dirty[sector] ? f->cache : f->platter) + sector * DISK_SECTOR;
}

int disk_read(struct disk_file *f, u64 offset, void *buf, u32 len)
{
	u32 at;

	if (offset >= f->bytes)
		return 0;
	if (len > f->bytes - offset)
		len = f->bytes - offset;
	for (at = 0; at < len; at += DISK_SECTOR) {
		u32 sector = (offset + at) / DISK_SECTOR;
		u32 n = len - at < DISK_SECTOR ? len - at : DISK_SECTOR;

		if (f->bad[sector])
			return -EIO;
		memcpy((u8 *)buf + at, seen(f, sector), n);
	}
	return len;
}

static int port_read(void *env, struct spindle_dlog_file file, uint64_t offset, void *buf,
		     uint32_t len)
{
	struct disk_file *f = disk_find(env, file);

	return f ? disk_read(f, offset, buf, len) : -ENOENT;
}

static int port_size(void *env, struct spindle_dlog_file file, uint64_t *bytes)
{
	struct disk_file *f = disk_find(env, file);

	if (!f)
		return -ENOENT;
	*bytes = f->bytes;
	return 0;
}

static int port_list(void *env, struct spindle_dlog_file *files, uint32_t max)
{
	struct disk *disk = env;
	u32 i, n = 0, from = rng_below(&disk->rng, DISK_FILES);

	for (i = 0; i < DISK_FILES; i++) {
		struct disk_file *f = &disk->file[(from + i) % DISK_FILES];

		if (!f->used || !name_of(f)->there)
			continue;
		if (n == max)
			return -E2BIG;
		files[n++] = name_of(f)->file;
	}
	return n;
}

static void wrong(struct disk *disk, const char *what)
{
	if (!disk->wrong)
		disk->wrong = what;
}

static struct disk_op *free_op(struct disk *disk)
{
	u32 i;

	for (i = 0; i < DISK_OPS; i++)
		if (!disk->op[i].used)
			return &disk->op[i];
	return NULL;
}

/* Two writes in flight must not touch the same sector, because either may be the last. */
static void check_overlap(struct disk *disk, const struct spindle_dlog_op *op)
{
	u32 i;

	for (i = 0; i < DISK_OPS; i++) {
		struct spindle_dlog_op *o = &disk->op[i].op;

		if (disk->op[i].used && o->what == SPINDLE_DLOG_WRITE &&
		    o->file.kind == op->file.kind && o->file.id == op->file.id &&
		    op->offset < o->offset + o->len && o->offset < op->offset + op->len)
			wrong(disk, "two writes in flight overlap");
	}
}

static void port_submit(void *env, const struct spindle_dlog_op *op)
{
	struct disk *disk = env;
	struct disk_op *p = free_op(disk);
	struct disk_file *f = disk_find(disk, op->file);

	if (!p) {
		wrong(disk, "too many operations");
		return;
	}
	if (disk->frozen)
		wrong(disk, "an operation begins after the log has failed");
	if (op->what == SPINDLE_DLOG_WRITE)
		check_overlap(disk, op);
	*p = (struct disk_op){ .used = true, .op = *op, .data = p->data };
	if (op->what == SPINDLE_DLOG_WRITE) {
		memcpy(p->data, op->buf, op->len);
		if (!f || op->offset + op->len > f->bytes)
			wrong(disk, "a write that leaves its file");
	}
	if (op->what == SPINDLE_DLOG_SYNC && f)
		memcpy(p->snap, f->dirty, sizeof(p->snap));
	disk->pending++;
}

void disk_init(struct disk *disk, u64 seed, bool through)
{
	u32 i;

	*disk = (struct disk){ .rng = { .state = seed }, .most = DISK_FILES };
	/* The bytes of a file are cleared when it is made, because all of them at once are many. */
	disk->file = malloc(DISK_FILES * sizeof(*disk->file));
	for (i = 0; i < DISK_FILES; i++)
		disk->file[i].used = false;
	for (i = 0; i < DISK_OPS; i++)
		disk->op[i].data = malloc(DISK_BYTES);
	disk->port = (struct spindle_dlog_port){
		.env = disk, .through = through, .submit = port_submit, .read = port_read,
		.size = port_size, .list = port_list,
	};
}

void disk_free(struct disk *disk)
{
	u32 i;

	for (i = 0; i < DISK_OPS; i++)
		free(disk->op[i].data);
	free(disk->file);
}

struct disk_op *disk_pending(struct disk *disk, u32 i)
{
	u32 at;

	for (at = 0; at < DISK_OPS; at++)
		if (disk->op[at].used && !i--)
			return &disk->op[at];
	return NULL;
}

/* A sector that is being written when the power fails may have a part of either. */
static u32 bytes_of_sector(struct disk *disk, u32 percent)
{
	if (percent < 100 && rng_chance(&disk->rng, 5))
		return rng_below(&disk->rng, DISK_SECTOR);
	return DISK_SECTOR;
}

/* Put some or all sectors of a write into the cache, or on the platter. */
static void put(struct disk *disk, struct disk_file *f, const struct disk_op *p, u64 offset,
		u32 percent, bool durable)
{
	u32 at;

	for (at = 0; f && at < p->op.len && offset + at < f->bytes; at += DISK_SECTOR) {
		u32 sector = (offset + at) / DISK_SECTOR;

		if (percent < 100 && !rng_chance(&disk->rng, percent))
			continue;
		if (!durable && !f->dirty[sector])
			memcpy(f->cache + sector * DISK_SECTOR,
			       f->platter + sector * DISK_SECTOR, DISK_SECTOR);
		memcpy((durable ? f->platter : f->cache) + sector * DISK_SECTOR, p->data + at,
		       bytes_of_sector(disk, percent));
		f->dirty[sector] = !durable;
		f->bad[sector] = false;
	}
}

static void end_write(struct disk *disk, struct disk_op *p, enum disk_fault fault)
{
	struct disk_file *f = disk_find(disk, p->op.file);
	u64 offset = p->op.offset;

	if (memcmp(p->data, p->op.buf, p->op.len))
		wrong(disk, "a buffer changes while it is written");
	disk->writes++;
	if (fault == DISK_NOWHERE)
		return;
	if (fault == DISK_ASTRAY) {
		f = disk_any_segment(disk);
		offset = f ? rng_below(&disk->rng, f->bytes / p->op.len) * p->op.len : 0;
	}
	put(disk, f, p, offset, fault == DISK_EIO ? 50 : 100, disk->port.through);
}

/* After a sync has failed, the sectors are clean, and some are not on the platter. */
static void end_sync(struct disk *disk, struct disk_op *p, enum disk_fault fault)
{
	struct disk_file *f = disk_find(disk, p->op.file);
	u32 i;

	disk->syncs++;
	for (i = 0; f && i < DISK_SECTORS; i++) {
		if (!p->snap[i] || !f->dirty[i])
			continue;
		if (fault != DISK_EIO || rng_chance(&disk->rng, 50))
			memcpy(f->platter + i * DISK_SECTOR, f->cache + i * DISK_SECTOR,
			       DISK_SECTOR);
		f->dirty[i] = false;
	}
}

static u32 files_of_size(struct disk *disk, u32 bytes)
{
	u32 i, n = 0;

	for (i = 0; i < DISK_FILES; i++)
		n += disk->file[i].used && disk->file[i].bytes == bytes &&
		     name_of(&disk->file[i])->there;
	return n;
}

static struct disk_file *make_file(struct disk *disk, struct spindle_dlog_file file, u32 bytes)
{
	struct disk_file *f = disk_find(disk, file);
	u32 i;

	for (i = 0; !f && i < DISK_FILES; i++)
		if (!disk->file[i].used)
			f = &disk->file[i];
	if (!f)
		return NULL;
	memset(f, 0, sizeof(*f));
	f->used = true;
	f->bytes = bytes;
	f->names = 2;
	f->name[1] = (struct disk_name){ .there = true, .file = file };
	return f;
}

static int end_create(struct disk *disk, struct disk_op *p)
{
	if (p->op.file.kind >= SPINDLE_DLOG_NEW &&
	    files_of_size(disk, p->op.len) >= disk->most) {
		disk->refused++;
		return -ENOSPC;
	}
	return make_file(disk, p->op.file, p->op.len) ? 0 : -ENOSPC;
}

static void add_name(struct disk_file *f, struct disk_name to)
{
	if (f->names == DISK_NAMES) {
		memmove(&f->name[1], &f->name[2], (DISK_NAMES - 2) * sizeof(f->name[0]));
		f->names--;
	}
	f->name[f->names++] = to;
}

static int rename_file(struct disk *disk, struct spindle_dlog_file from, struct disk_name to)
{
	struct disk_file *f = disk_find(disk, from);

	if (!f)
		return -ENOENT;
	if (to.there && disk_find(disk, to.file))
		wrong(disk, "a name is given twice");
	add_name(f, to);
	return 0;
}

/* The file that has the name loses it in the same moment. */
static int replace_file(struct disk *disk, const struct spindle_dlog_op *op)
{
	struct disk_name to = { .there = true, .file = op->to };
	struct disk_file *old = disk_find(disk, op->to);

	if (!disk_find(disk, op->file))
		return -ENOENT;
	if (old) {
		to.pair = ++disk->pairs;
		add_name(old, (struct disk_name){ .pair = to.pair });
	}
	return rename_file(disk, op->file, to);
}

static void sync_names(struct disk *disk)
{
	u32 i;

	for (i = 0; i < DISK_FILES; i++) {
		struct disk_file *f = &disk->file[i];

		if (!f->used)
			continue;
		f->name[0] = *name_of(f);
		f->names = 1;
		f->used = f->name[0].there;
	}
}

static int apply(struct disk *disk, struct disk_op *p, enum disk_fault fault)
{
	switch (p->op.what) {
	case SPINDLE_DLOG_WRITE:
		end_write(disk, p, fault);
		break;
	case SPINDLE_DLOG_SYNC:
		end_sync(disk, p, fault);
		break;
	case SPINDLE_DLOG_CREATE:
		return fault == DISK_EIO ? -EIO : end_create(disk, p);
	case SPINDLE_DLOG_RENAME:
		if (fault != DISK_EIO)
			return rename_file(disk, p->op.file, (struct disk_name){
				.there = true, .file = p->op.to });
		break;
	case SPINDLE_DLOG_REPLACE:
		if (fault != DISK_EIO)
			return replace_file(disk, &p->op);
		break;
	case SPINDLE_DLOG_REMOVE:
		if (fault != DISK_EIO)
			return rename_file(disk, p->op.file, (struct disk_name){ .there = false });
		break;
	case SPINDLE_DLOG_SYNC_DIR:
		if (fault != DISK_EIO)
			sync_names(disk);
		break;
	}
	return fault == DISK_EIO ? -EIO : 0;
}

u32 disk_end(struct disk *disk, u32 i, enum disk_fault fault, int *err)
{
	struct disk_op *p = disk_pending(disk, i);

	*err = apply(disk, p, fault);
	p->used = false;
	disk->pending--;
	return p->op.token;
}

static u32 percent_kept(struct disk *disk, enum disk_loss loss)
{
	if (loss == DISK_LOSE_SOME)
		return rng_below(&disk->rng, 101);
	return loss == DISK_LOSE_ALL ? 0 : 100;
}

/* Operations that have not ended may have had any part of their effect. */
static void cut_op(struct disk *disk, struct disk_op *p, enum disk_loss loss)
{
	u32 percent = percent_kept(disk, loss);
	struct disk_file *f;

	if (p->op.what == SPINDLE_DLOG_WRITE) {
		put(disk, disk_find(disk, p->op.file), p, p->op.offset, percent, false);
	} else if (p->op.what == SPINDLE_DLOG_CREATE) {
		f = rng_chance(&disk->rng, percent) ?
			make_file(disk, p->op.file, p->op.len) : NULL;
		if (f && rng_chance(&disk->rng, 50))
			f->bytes -= DISK_SECTOR;
	} else if (p->op.what != SPINDLE_DLOG_SYNC && rng_chance(&disk->rng, percent)) {
		apply(disk, p, DISK_FINE);
	}
}

static void lose_sectors(struct disk *disk, struct disk_file *f, u32 percent)
{
	u32 i;

	for (i = 0; i < DISK_SECTORS; i++) {
		if (f->dirty[i] && rng_chance(&disk->rng, percent))
			memcpy(f->platter + i * DISK_SECTOR, f->cache + i * DISK_SECTOR,
			       DISK_SECTOR);
		f->dirty[i] = false;
	}
}

static bool names_collide(struct disk *disk, const u32 *keep)
{
	u32 i, j;

	for (i = 0; i < DISK_FILES; i++) {
		struct disk_name *a = &disk->file[i].name[keep[i]];

		for (j = 0; j < i; j++) {
			struct disk_name *b = &disk->file[j].name[keep[j]];

			if (disk->file[i].used && disk->file[j].used && a->there && b->there &&
			    a->file.kind == b->file.kind && a->file.id == b->file.id)
				return true;
		}
	}
	return false;
}

/* Has this pair of changes reached the disk, by one of its files? */
static bool has_pair(const struct disk_file *f, u32 keep, u32 pair, bool *kept)
{
	u32 i;

	for (i = 1; f->used && i < f->names; i++) {
		if (f->name[i].pair == pair) {
			*kept = i <= keep;
			return true;
		}
	}
	return false;
}

/* Both files of a pair have the change, or none. */
static bool pairs_break(struct disk *disk, const u32 *keep)
{
	bool kept, first = false;
	u32 i, pair, seen;

	for (pair = 1; pair <= disk->pairs; pair++) {
		seen = 0;
		for (i = 0; i < DISK_FILES; i++) {
			if (!has_pair(&disk->file[i], keep[i], pair, &kept))
				continue;
			if (seen++ && kept != first)
				return true;
			first = kept;
		}
	}
	return false;
}

/* Each file keeps some of its changes of name, the earlier ones. Names stay unique. */
static void lose_names(struct disk *disk, enum disk_loss loss)
{
	u32 i, tries, keep[DISK_FILES];

	for (tries = 0; tries < 9; tries++) {
		for (i = 0; i < DISK_FILES; i++) {
			struct disk_file *f = &disk->file[i];

			keep[i] = f->used ? f->names - 1 : 0;
			if (tries < 8 && loss != DISK_LOSE_NONE && f->used)
				keep[i] = loss == DISK_LOSE_ALL && !tries ? 0 :
					  rng_below(&disk->rng, f->names);
		}
		if (!names_collide(disk, keep) && !pairs_break(disk, keep))
			break;
	}
	for (i = 0; i < DISK_FILES; i++) {
		struct disk_file *f = &disk->file[i];

		if (!f->used)
			continue;
		f->name[0] = f->name[keep[i]];
		f->names = 1;
		f->used = f->name[0].there;
	}
}

void disk_crash(struct disk *disk, bool power, enum disk_loss loss)
{
	u32 i, percent = percent_kept(disk, loss);

	for (i = 0; i < DISK_OPS; i++) {
		if (disk->op[i].used)
			cut_op(disk, &disk->op[i], loss);
		disk->op[i].used = false;
	}
	disk->pending = 0;
	disk->frozen = false;
	if (!power)
		return;
	for (i = 0; i < DISK_FILES; i++)
		if (disk->file[i].used)
			lose_sectors(disk, &disk->file[i], percent);
	lose_names(disk, loss);
}
