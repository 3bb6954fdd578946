// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <endian.h>
#include <stdarg.h>

#include "sim.h"

void sim_fail(struct sim *sim, const char *fmt, ...)
{
	va_list ap;

	if (sim->failure[0])
		return;
	va_start(ap, fmt);
	vsnprintf(sim->failure, sizeof(sim->failure), fmt, ap);
	va_end(ap);
}

struct sim_message *sim_message(struct sim *sim, u64 lsn)
{
	return &sim->message[lsn - sim->first];
}

void sim_bytes(u64 key, u8 *to, u32 len)
{
	u64 word;
	u32 i;

	for (i = 0; i < len; i += sizeof(word)) {
		word = htole64(rng_mix(key + i / sizeof(word)));
		memcpy(to + i, &word, min(len - i, (u32)sizeof(word)));
	}
}

/* Remember the frames of a write, as they are on their way to the disk. */
static void note_frame(struct sim *sim, const struct disk_op *p, u32 at)
{
	const struct spindle_dlog_frame *f = (const void *)(p->data + at);
	struct sim_frame *to = &sim->frame[sim->frames];

	if (sim->frames == SIM_FRAMES) {
		sim_fail(sim, "more frames than the simulator has room for");
		return;
	}
	*to = (struct sim_frame){
		.seq = le64toh(f->seq), .offset = p->op.offset + at, .lsn = le64toh(f->lsn),
		.end = le64toh(f->lsn) + le32toh(f->count), .base = le64toh(f->base),
		.acked = le64toh(f->acked), .bytes = le32toh(f->bytes), .copy = to->copy,
		.fix = p->op.file.kind == SPINDLE_DLOG_FIX,
	};
	free(to->copy);
	to->copy = malloc(to->bytes);
	memcpy(to->copy, p->data + at, to->bytes);
	sim->frames++;
}

/* A cut may write its first frame again, with the same bytes. */
static bool is_the_same(const struct sim_frame *f, const struct disk_op *p)
{
	return p->op.offset == f->offset && p->op.len == f->bytes &&
	       !memcmp(p->data, f->copy, f->bytes);
}

static void check_not_acked(struct sim *sim, const struct disk_op *p)
{
	u32 i;

	for (i = 0; i < sim->frames; i++) {
		struct sim_frame *f = &sim->frame[i];

		if (is_the_same(f, p))
			continue;
		if (f->seq == p->op.file.id && f->end <= sim->persisted &&
		    p->op.offset < f->offset + f->bytes && f->offset < p->op.offset + p->op.len)
			sim_fail(sim, "a block with acknowledged bytes is written again");
	}
}

void sim_note_write(struct sim *sim, const struct disk_op *p)
{
	u32 bytes, at;

	if (p->op.what != SPINDLE_DLOG_WRITE || (p->op.file.kind != SPINDLE_DLOG_SEGMENT &&
						 p->op.file.kind != SPINDLE_DLOG_FIX))
		return;
	if (p->op.file.kind == SPINDLE_DLOG_SEGMENT)
		check_not_acked(sim, p);
	for (at = 0; at < p->op.len; at += bytes) {
		bytes = le32toh(((const struct spindle_dlog_frame *)(p->data + at))->bytes);
		if (!bytes || bytes > p->op.len - at) {
			sim_fail(sim, "a write is no row of frames");
			return;
		}
		note_frame(sim, p, at);
	}
}

void sim_see_progress(struct sim *sim)
{
	struct spindle_dlog *log = &sim->log;

	if (log->failed)
		sim->disk.frozen = true;
	if (log->failed != sim->erred)
		sim_fail(sim, log->failed ? "the log fails without an error" :
			 "an error does not end the log");
	if (!log->opened)
		return;
	if (log->persisted < sim->persisted)
		sim_fail(sim, "persisted steps back");
	if (log->persisted > sim->next)
		sim_fail(sim, "persisted is behind the last message");
	if (log->failed && log->persisted != sim->persisted)
		sim_fail(sim, "persisted moves after the log has failed");
	sim->persisted = log->persisted;
	if (log->map.low > sim->low_asked && sim->config.policy != SPINDLE_DLOG_RING)
		sim_fail(sim, "low moves without a trim");
	sim->low = log->map.low;
}

static bool same_message(struct sim *sim, const struct spindle_dlog_msg *m)
{
	static u8 want[SIM_LONGEST];
	struct sim_message *t = sim_message(sim, m->lsn);

	if (m->len != t->len || m->era != t->era || m->vid != t->vid || m->slot != t->key ||
	    m->node != (u32)(t->key >> 7) || m->sender != (u32)(t->key >> 9) ||
	    m->flags != (u32)(t->key >> 11))
		return false;
	sim_bytes(t->key, want, m->len);
	return !memcmp(want, m->data, m->len);
}

/* Is the frame on the disk as it was written? */
static bool is_intact(struct sim *sim, struct sim_frame *f)
{
	static u8 have[SIM_BUFFER];
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT, .id = f->seq };
	struct disk_file *file = disk_find(&sim->disk, name);

	return file && disk_read(file, f->offset, have, f->bytes) == (int)f->bytes &&
	       !memcmp(have, f->copy, f->bytes);
}

/* All below was acknowledged, as intact frames say. */
static u64 look_at_frames(struct sim *sim)
{
	u64 witness = 0;
	u32 i;

	for (i = 0; i < sim->frames; i++) {
		struct sim_frame *f = &sim->frame[i];

		f->intact = is_intact(sim, f);
		if (f->intact)
			witness = max(witness, f->acked);
	}
	return witness;
}

/*
 * A frame that is intact and proven by intact ones of its log must not be reported as damaged. A
 * frame of a repair may go astray to its own place in the segment. Then the chain is broken there,
 * or the first frame is not that of the repair.
 */
static bool must_be_there(struct sim *sim, u64 lsn)
{
	struct sim_frame *f = NULL;
	bool has_first;
	u64 proof = 0;
	u32 i;

	for (i = 0; i < sim->frames; i++)
		if (sim->frame[i].lsn <= lsn && lsn < sim->frame[i].end)
			f = &sim->frame[i];
	if (!f || !f->intact)
		return false;
	has_first = !f->fix;
	for (i = 0; i < sim->frames; i++) {
		struct sim_frame *o = &sim->frame[i];

		if (o->intact && o->seq == f->seq && o->fix != f->fix)
			return false;
		has_first |= o->intact && o->seq == f->seq && !o->offset && o->base == f->base;
		if (o->intact && o->seq == f->seq)
			proof = max(proof, o->acked);
		else if (o->intact && o->seq == f->seq + 1)
			proof = max(proof, o->base);
	}
	return has_first && f->end <= proof;
}

static void check_damage(struct sim *sim, u64 from, u64 to, bool live)
{
	u64 lsn;

	sim->damages++;
	if (sim->hurts == sim->safe_hurts && from < sim->safe.to && to > sim->safe.from &&
	    to > sim->low)
		sim_fail(sim, "%llu to %llu were repaired, and are damaged",
			 (unsigned long long)from, (unsigned long long)to);
	if (!sim->hurt) {
		sim_fail(sim, "%llu to %llu are damaged, and nothing has hurt them",
			 (unsigned long long)from, (unsigned long long)to);
		return;
	}
	for (lsn = max(from, sim->first); lsn < to && lsn < sim->next; lsn++) {
		sim_message(sim, lsn)->hurt = true;
		if (!live && lsn >= sim->low && must_be_there(sim, lsn))
			sim_fail(sim, "%llu is reported as damaged, and is intact",
				 (unsigned long long)lsn);
	}
}

static bool is_in_ranges(struct sim *sim, u64 lsn)
{
	u32 i;

	for (i = 0; i < sim->scan.n_damaged && i < SIM_RANGES; i++)
		if (sim->damaged[i].from <= lsn && lsn < sim->damaged[i].to)
			return true;
	return false;
}

static void check_record(struct sim *sim, const struct spindle_dlog_msg *m, u64 want)
{
	if (m->lsn != want)
		sim_fail(sim, "%llu was read in place of %llu", (unsigned long long)m->lsn,
			 (unsigned long long)want);
	else if (m->lsn < sim->first || m->lsn >= sim->next)
		sim_fail(sim, "%llu was read and never appended", (unsigned long long)m->lsn);
	else if (!same_message(sim, m))
		sim_fail(sim, "%llu is another message", (unsigned long long)m->lsn);
	sim->reads++;
}

static void check_step_over(struct sim *sim, struct spindle_dlog_reader *r, u64 lsn, bool live)
{
	if (r->damaged.from != lsn || r->damaged.to <= lsn)
		sim_fail(sim, "a damaged range is not where the reader is");
	check_damage(sim, r->damaged.from, r->damaged.to, live);
	if (!live && !is_in_ranges(sim, lsn))
		sim_fail(sim, "the scan has not seen that %llu is damaged",
			 (unsigned long long)lsn);
}

/* Read to the end. Each position comes once, in order, or is reported as damaged. */
static void read_all(struct sim *sim, struct spindle_dlog_reader *r, u32 most, bool live)
{
	const struct spindle_dlog_map *map = r->map;
	struct spindle_dlog_msg m;
	u64 lsn = r->lsn;
	int n;

	while (!sim->failure[0] && most--) {
		n = spindle_dlog_read(r, &m);
		if (n == 1) {
			check_record(sim, &m, lsn);
			if (!live && is_in_ranges(sim, lsn))
				sim_fail(sim, "%llu is read, and reported as damaged",
					 (unsigned long long)lsn);
			lsn++;
		} else if (n == -EUCLEAN) {
			check_step_over(sim, r, lsn, live);
			lsn = r->damaged.to;
		} else {
			if (n || lsn != map->until)
				sim_fail(sim, "a reader ends at %llu of %llu with %d",
					 (unsigned long long)lsn,
					 (unsigned long long)map->until, n);
			return;
		}
	}
}

static void prepare_reader(struct sim *sim, const struct spindle_dlog_map *map,
			   const struct spindle_dlog_ident *id)
{
	sim->reader = (struct spindle_dlog_reader){
		.port = &sim->disk.port, .id = id, .map = map,
		.window = { .buf = sim->window[1], .size = SIM_BUFFER },
	};
}

static void check_epochs(struct sim *sim)
{
	struct spindle_dlog_scan *s = &sim->scan;
	u32 i, at = 0;
	u64 lsn;

	for (lsn = s->map.low; lsn < s->next && !sim->hurt; lsn++) {
		struct sim_message *m = sim_message(sim, lsn);

		while (at + 1 < s->n_epochs && s->epoch[at + 1].lsn <= lsn)
			at++;
		if (s->epoch[at].era != m->era || s->epoch[at].vid != m->vid)
			sim_fail(sim, "the epoch of %llu is another one", (unsigned long long)lsn);
	}
	for (i = 1; i < s->n_epochs; i++)
		if (s->epoch[i].lsn <= s->epoch[i - 1].lsn)
			sim_fail(sim, "epochs are not in order");
}

static void check_end(struct sim *sim, u64 witness)
{
	struct spindle_dlog_scan *s = &sim->scan;
	u64 least = sim->hurt ? min(witness, sim->persisted) : sim->persisted;

	if (s->next < least)
		sim_fail(sim, "the log ends at %llu, and all below %llu was acknowledged",
			 (unsigned long long)s->next, (unsigned long long)least);
	if (s->next > sim->next)
		sim_fail(sim, "the log ends at %llu, and %llu was never appended",
			 (unsigned long long)s->next, (unsigned long long)sim->next);
	/* A life that has not opened may have said so, after it had synced the tail. */
	if (s->acked > sim->next)
		sim_fail(sim, "the log says that %llu was acknowledged",
			 (unsigned long long)s->acked);
	if (s->map.low > sim->low)
		sim_fail(sim, "the log begins at %llu, and all from %llu on is kept",
			 (unsigned long long)s->map.low, (unsigned long long)sim->low);
}

/* Compare what a scan has found with what was appended. */
void sim_check_scan(struct sim *sim)
{
	struct spindle_dlog_scan *s = &sim->scan;
	u64 witness = sim->hurt ? look_at_frames(sim) : 0;
	u32 i;

	check_end(sim, witness);
	if (s->n_damaged > SIM_RANGES || s->n_epochs > SIM_EPOCHS)
		sim_fail(sim, "more ranges than the simulator has room for");
	for (i = 0; i < s->n_damaged && !sim->failure[0]; i++)
		check_damage(sim, s->damaged[i].from, s->damaged[i].to, false);
	if (sim->failure[0])
		return;
	prepare_reader(sim, &s->map, &s->id);
	spindle_dlog_seek(&sim->reader, s->map.low);
	read_all(sim, &sim->reader, ~0U, false);
	check_epochs(sim);
}

/* A reader beside the writer, from a random position on. */
void sim_check_live(struct sim *sim)
{
	struct spindle_dlog_map *map = &sim->log.map;
	u64 span = map->until - map->low;
	u64 lsn = map->low + (span ? rng_below(&sim->rng, (u32)span) : 0);

	prepare_reader(sim, map, &sim->log.id);
	spindle_dlog_seek(&sim->reader, lsn);
	read_all(sim, &sim->reader, rng_below(&sim->rng, 40), true);
}

/* What was repaired is there, while nothing has hurt the disk since. */
void sim_check_whole(struct sim *sim, u64 from, u64 to)
{
	struct spindle_dlog_msg m;

	from = max(from, sim->log.map.low);
	prepare_reader(sim, &sim->log.map, &sim->log.id);
	spindle_dlog_seek(&sim->reader, from);
	for (; from < to && !sim->failure[0]; from++) {
		if (spindle_dlog_read(&sim->reader, &m) == 1)
			check_record(sim, &m, from);
		else
			sim_fail(sim, "%llu was repaired, and is not there",
				 (unsigned long long)from);
	}
}

void sim_begin_follower(struct sim *sim)
{
	sim->follower = (struct spindle_dlog_reader){
		.port = &sim->disk.port, .id = &sim->log.id, .map = &sim->log.map,
		.window = { .buf = sim->window[2], .size = SIM_BUFFER },
	};
	spindle_dlog_seek(&sim->follower, sim->log.map.low);
}

/* A reader that goes on where it was. */
void sim_follow(struct sim *sim)
{
	struct spindle_dlog_msg m;

	if (sim->follower.lsn < sim->log.map.low) {
		if (spindle_dlog_read(&sim->follower, &m) != -ESTALE)
			sim_fail(sim, "a reader has a record that was trimmed");
		spindle_dlog_seek(&sim->follower, sim->log.map.low);
	}
	read_all(sim, &sim->follower, rng_below(&sim->rng, 60), true);
}

/* The first message that is not older than a time, by a reader beside the writer. */
void sim_check_time(struct sim *sim)
{
	struct spindle_dlog_map *map = &sim->log.map;
	u64 time = sim->now - rng_below(&sim->rng, 2000);
	struct spindle_dlog_msg m;
	int n;

	prepare_reader(sim, map, &sim->log.id);
	n = spindle_dlog_find_time(&sim->reader, time);
	if (n)
		sim_fail(sim, "no place for a time: %d", n);
	if (sim->reader.lsn > map->low && !sim->hurt &&
	    sim_message(sim, sim->reader.lsn - 1)->time >= time)
		sim_fail(sim, "%llu is too late for the time",
			 (unsigned long long)sim->reader.lsn);
	n = spindle_dlog_read(&sim->reader, &m);
	if (n == 1 && m.time < time)
		sim_fail(sim, "%llu is too early for the time", (unsigned long long)m.lsn);
}
