// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>

#include "sim.h"
#include "tap.h"

static void choose_sizes(struct sim *sim)
{
	u32 blocks = 3 + rng_below(&sim->rng, 6), frames = 1 + rng_below(&sim->rng, 3);

	sim->id = (struct spindle_dlog_ident){ .subgroup = 7, .node = 3, .block = 4096 };
	if (rng_chance(&sim->rng, 70))
		sim->id.block = 512;
	sim->id.salt = rng_u64(&sim->rng);
	sim_bytes(rng_u64(&sim->rng), sim->id.lineage, sizeof(sim->id.lineage));
	sim->id.frame = sim->id.block * (sim->id.block == 512 ? blocks : 1 + blocks / 3);
	sim->id.segment = sim->id.block + frames * sim->id.frame +
			  rng_below(&sim->rng, 6) * sim->id.block;
	if (sim->id.segment > DISK_BYTES)
		sim->id.segment = DISK_BYTES;
}

static void choose_config(struct sim *sim)
{
	struct spindle_dlog_config *c = &sim->config;
	u32 i;

	*c = (struct spindle_dlog_config){ .depth = 1, .go_on = true, .meta = sim->meta };
	if (rng_chance(&sim->rng, 70))
		c->depth += rng_below(&sim->rng, 8);
	c->eager = rng_chance(&sim->rng, 50);
	c->policy = rng_below(&sim->rng, 3);
	c->commit = rng_below(&sim->rng, sim->id.frame);
	c->spares = 1 + rng_below(&sim->rng, 3);
	for (i = 0; i <= c->depth; i++)
		c->slot[i] = sim->slot[i];
}

static void choose_faults(struct sim *sim)
{
	sim->cutting = rng_chance(&sim->rng, 60);
	sim->may_cut = false;
	sim->was_cut = false;
	sim->cut_seq = ~0ULL;
	sim->cut_hurt = false;
	sim->map_max = 3 + rng_below(&sim->rng, SIM_SEGMENTS - 3);
	sim->eio = rng_chance(&sim->rng, 20) ? 1 + rng_below(&sim->rng, 20) : 0;
	sim->corrupts = rng_chance(&sim->rng, 35);
	if (rng_chance(&sim->rng, 30))
		sim->disk.most = 2 + rng_below(&sim->rng, 10);
}

static void begin_schedule(struct sim *sim, u64 seed)
{
	u32 i, frames = sim->frames;

	for (i = 0; i < frames; i++) {
		free(sim->frame[i].copy);
		sim->frame[i].copy = NULL;
	}
	sim->frames = 0;
	sim->seed = seed;
	sim->rng = (struct rng){ .state = rng_mix(seed) };
	sim->failure[0] = 0;
	sim->running = false;
	sim->stop = false;
	sim->hurt = false;
	sim->meta_hurt = false;
	sim->bad_sector = false;
	sim->hurts = 0;
	sim->safe_hurts = UINT64_MAX;
	memset(&sim->safe, 0, sizeof(sim->safe));
	memset(&sim->gone, 0, sizeof(sim->gone));
	memset(&sim->repair, 0, sizeof(sim->repair));
	memset(&sim->fix_range, 0, sizeof(sim->fix_range));
	sim->first = rng_u64(&sim->rng) >> 1;
	if (rng_chance(&sim->rng, 50))
		sim->first = rng_below(&sim->rng, 3);
	sim->next = sim->first;
	sim->persisted = sim->first;
	sim->low = sim->first;
	sim->low_asked = sim->first;
	sim->era = 1;
	sim->vid = 1;
	sim->now = 1000000;
	disk_init(&sim->disk, rng_mix(seed + 1), seed & 1);
	choose_sizes(sim);
	choose_config(sim);
	choose_faults(sim);
}

static void prepare_scan(struct sim *sim)
{
	sim->scan = (struct spindle_dlog_scan){
		.port = &sim->disk.port, .window = { .buf = sim->window[0], .size = SIM_BUFFER },
		.file = sim->file, .max_files = DISK_FILES, .damaged = sim->damaged,
		.max_damaged = SIM_RANGES, .epoch = sim->epoch, .max_epochs = SIM_EPOCHS,
		.id = { .frame = sim->id.frame },
		.map = { .seg = sim->segment[0], .max = SIM_SEGMENTS },
	};
}

static void note_hurt(struct sim *sim)
{
	sim->hurt = true;
	sim->hurts++;
}

static void heal_sectors(struct sim *sim)
{
	u32 i;

	for (i = 0; i < DISK_FILES; i++)
		memset(sim->disk.file[i].bad, 0, sizeof(sim->disk.file[i].bad));
	sim->bad_sector = false;
}

/* A scan of a new log is filled in by the caller. */
static void fill_new(struct sim *sim)
{
	if (sim->persisted != sim->first)
		sim_fail(sim, "a log is new that had messages");
	sim->scan.id = sim->id;
	sim->scan.map.low = sim->first;
	sim->scan.map.until = sim->first;
	sim->scan.next = sim->first;
}

static int scan_again(struct sim *sim)
{
	int err;

	prepare_scan(sim);
	err = spindle_dlog_recover(&sim->scan);
	if (err == -EIO && sim->bad_sector) {
		heal_sectors(sim);
		prepare_scan(sim);
		err = spindle_dlog_recover(&sim->scan);
	}
	if (err == -EUCLEAN && sim->meta_hurt)
		sim->stop = true;
	else if (err)
		sim_fail(sim, "recovery fails: %d", err);
	return err;
}

static void keep_messages(struct sim_message *to, const struct sim *sim, u64 lsn, u64 end)
{
	memcpy(to, &sim->message[lsn - sim->first], (end - lsn) * sizeof(*to));
}

/*
 * A write that went astray hides what was durable, and a crash of the machine may lose that write.
 * So the messages that a scan has not found may come back, until a frame is written behind them.
 */
static void note_gone(struct sim *sim)
{
	u64 lsn = sim->scan.next, end = sim->gone.to ? sim->gone.from : sim->next;

	if (!sim->hurt || lsn >= end)
		return;
	keep_messages(&sim->gone_message[lsn - sim->first], sim, lsn, end);
	sim->gone.from = lsn;
	sim->gone.to = max(sim->gone.to, end);
}

static void see_gone(struct sim *sim)
{
	u64 from = sim->gone.from, n = sim->gone.to - from;

	if (!n || sim->scan.next <= from)
		return;
	memcpy(sim_message(sim, from), &sim->gone_message[from - sim->first],
	       n * sizeof(sim->message[0]));
	sim->next = sim->gone.to;
	memset(&sim->gone, 0, sizeof(sim->gone));
}

/* What was not durable may be gone, and the next life writes something else. */
static void take_end(struct sim *sim)
{
	sim->cuts += sim->next != sim->scan.next;
	note_gone(sim);
	sim->next = sim->scan.next;
	if (sim->persisted > sim->next)
		sim->persisted = sim->next;
	sim->low = max(sim->scan.map.low, sim->first);
	/* A group never goes back to an older view, whatever a member has on disk. */
	sim->vid += rng_below(&sim->rng, 2);
	sim->meta_hurt = false;
}

/* A frame of the log may have been written from here on. */
static void note_frame(struct sim *sim, const struct disk_op *p)
{
	if (sim->running && p->op.what == SPINDLE_DLOG_WRITE &&
	    p->op.file.kind == SPINDLE_DLOG_SEGMENT)
		memset(&sim->gone, 0, sizeof(sim->gone));
}

static void note_pending(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->disk.pending; i++)
		note_frame(sim, disk_pending(&sim->disk, i));
}

static void crash(struct sim *sim)
{
	bool power = rng_chance(&sim->rng, 60);
	enum disk_loss loss = rng_below(&sim->rng, 3);

	SIM_SAY(sim, "crash: power %d loss %d at %llu, persisted %llu\n", power, loss,
		(unsigned long long)sim->next, (unsigned long long)sim->persisted);
	note_pending(sim);
	disk_crash(&sim->disk, power, loss);
	sim->running = false;
	sim->crashes++;
	sim->cut_repairs += sim->repair.step > SPINDLE_DLOG_REPAIR_IDLE &&
			    sim->repair.step < SPINDLE_DLOG_REPAIR_DONE;
	sim->repair.step = SPINDLE_DLOG_REPAIR_IDLE;
}

/* A cut takes away some of the newest segment that was repaired, or all of it. */
static void cut_fixed(struct sim *sim, u64 lsn)
{
	sim->fixes_cut += sim->fix_range.from < lsn && lsn < sim->fix_range.to;
	sim->fixes_gone += sim->fix_range.to && lsn <= sim->fix_range.from;
	if (lsn < sim->fix_range.to)
		memset(&sim->fix_range, 0, sizeof(sim->fix_range));
	sim->safe.to = min(sim->safe.to, lsn);
}

/* The log ends here now, whatever was acknowledged. */
static void take_cut(struct sim *sim, u64 lsn)
{
	u32 i;

	sim->next = lsn;
	sim->persisted = min(sim->persisted, lsn);
	sim->low = min(sim->low, lsn);
	sim->low_asked = min(sim->low_asked, lsn);
	sim->was_cut = true;
	sim->cut_seq = sim->try_seq;
	sim->cut_hurt = false;
	sim->cut_end = lsn;
	memset(&sim->gone, 0, sizeof(sim->gone));
	cut_fixed(sim, lsn);
	for (i = 0; i < sim->frames; i++) {
		struct sim_frame *f = &sim->frame[i];

		/* No frame witnesses what was cut, and none of a segment behind the cut counts. */
		f->acked = min(f->acked, sim->cut_base);
		if (f->base > sim->cut_base)
			f->seq = ~0ULL;
	}
}

/* End an operation of a cut, maybe with an error. */
static int end_step(struct sim *sim, struct spindle_dlog_cut *c)
{
	bool fails = rng_below(&sim->rng, 1000) < sim->eio;
	struct disk_op *p = disk_pending(&sim->disk, 0);
	int err;

	sim_note_write(sim, p);
	SIM_SAY(sim, "end of %u kind %u id %llu at %llu in a cut\n", p->op.what, p->op.file.kind,
		(unsigned long long)p->op.file.id, (unsigned long long)p->op.offset);
	disk_end(&sim->disk, 0, fails ? DISK_EIO : DISK_FINE, &err);
	return spindle_dlog_cut_done(c, err);
}

/* Return: whether the cut has come to its end. A crash is next. */
static bool cut_at(struct sim *sim, u64 lsn)
{
	struct spindle_dlog_cut c = { .meta = sim->meta, .buf = sim->slot[0] };
	int err = spindle_dlog_cut(&c, &sim->scan, lsn);

	sim->cut_base = c.base;
	if (!c.is_cut)
		sim->try_seq = c.seq;
	while (!err && sim->disk.pending && !(sim->cutting && rng_chance(&sim->rng, 7)))
		err = end_step(sim, &c);
	if (err && err != -EIO && err != -E2BIG && err != -ENOSPC)
		sim_fail(sim, "a cut fails: %d", err);
	SIM_SAY(sim, "cut at %llu of %llu: step %u, %d\n", (unsigned long long)lsn,
		(unsigned long long)sim->scan.next, c.step, err);
	sim->removals += !err && c.step == SPINDLE_DLOG_CUT_DONE;
	return !err && c.step == SPINDLE_DLOG_CUT_DONE;
}

/*
 * A cut at a random position, which a crash or an error may end. Without a crash, the log is cut.
 * With one, it is cut or as it was, and the next scan says which of them.
 */
static void cut_log(struct sim *sim)
{
	u64 span = sim->scan.next - sim->scan.map.low;
	u64 lsn = sim->scan.next - (span ? rng_below(&sim->rng, (u32)span + 1) : 0);
	u64 back = min(sim->scan.map.low - sim->first, (u64)5);

	if (rng_chance(&sim->rng, 5))
		lsn = sim->scan.map.low - back;
	sim->may_cut = lsn < sim->next;
	sim->cut_to = lsn;
	if (cut_at(sim, lsn) && sim->may_cut) {
		take_cut(sim, lsn);
		sim->may_cut = false;
	}
	crash(sim);
}

/*
 * Did a cut that has not ended come to its end? The same call again makes that durable. Return:
 * false if the log crashes before.
 */
static bool see_cut(struct sim *sim)
{
	u64 lsn = sim->scan.next;
	bool is = sim->may_cut && (lsn == sim->cut_to ||
				   (lsn == sim->scan.map.low && sim->cut_to < lsn));

	if (is && !cut_at(sim, lsn)) {
		crash(sim);
		return false;
	}
	if (is)
		take_cut(sim, lsn);
	sim->may_cut = false;
	return true;
}

static void start(struct sim *sim)
{
	int err = scan_again(sim);

	if (err || sim->failure[0])
		return;
	if (sim->scan.is_new) {
		fill_new(sim);
	} else {
		see_gone(sim);
		if (!see_cut(sim))
			return;
		sim_check_scan(sim);
	}
	if (sim->failure[0])
		return;
	take_end(sim);
	if (!sim->scan.is_new && sim->cutting && rng_chance(&sim->rng, 20)) {
		cut_log(sim);
		return;
	}
	sim->scan.map.max = max(sim->map_max, sim->scan.map.n + 2);
	if (sim->scan.map.max > SIM_SEGMENTS)
		sim->scan.map.max = SIM_SEGMENTS;
	err = spindle_dlog_start(&sim->log, &sim->config, &sim->scan);
	if (err)
		sim_fail(sim, "a start fails: %d", err);
	sim->running = !err;
	sim->erred = false;
	sim_begin_follower(sim);
	sim_repair_begin(sim);
	sim->config.eager ^= rng_chance(&sim->rng, 10);
}

static u32 choose_length(struct sim *sim)
{
	u32 most = sim->id.frame - sizeof(struct spindle_dlog_frame) -
		   sizeof(struct spindle_dlog_record);

	if (rng_chance(&sim->rng, 3))
		return most - rng_below(&sim->rng, 8);
	if (rng_chance(&sim->rng, 80))
		most = min(most, 300U);
	return rng_below(&sim->rng, most);
}

static bool append(struct sim *sim)
{
	static u8 data[SIM_LONGEST];
	struct sim_message *t;
	struct spindle_dlog_msg m;
	u64 key = rng_u64(&sim->rng);
	int err;

	if (sim->next - sim->first == SIM_MESSAGES)
		return false;
	m = (struct spindle_dlog_msg){
		.lsn = sim->next, .era = sim->era, .vid = sim->vid, .slot = key,
		.node = (u32)(key >> 7), .sender = (u32)(key >> 9), .flags = (u32)(key >> 11),
		.len = choose_length(sim), .data = data,
	};
	sim_bytes(key, data, m.len);
	err = spindle_dlog_append(&sim->log, &m, sim->now);
	sim->fulls += err == -ENOSPC;
	if (err == -EINVAL || err == -EMSGSIZE)
		sim_fail(sim, "a message is refused: %d", err);
	if (err)
		return false;
	t = sim_message(sim, sim->next++);
	*t = (struct sim_message){ .key = key, .era = m.era, .vid = m.vid, .len = m.len,
				   .time = sim->now };
	sim->appended++;
	return true;
}

static void append_some(struct sim *sim)
{
	u32 n = 1 + rng_below(&sim->rng, 6);

	if (rng_chance(&sim->rng, 5))
		sim->vid++;
	if (rng_chance(&sim->rng, 1))
		sim->era++;
	while (n-- && append(sim))
		;
	if (rng_chance(&sim->rng, 90))
		spindle_dlog_commit(&sim->log, sim->now);
}

/* The log was cut and has nothing behind that. One write must not take both frames that say so. */
static bool is_bare(const struct sim *sim)
{
	return sim->was_cut && sim->persisted <= sim->cut_end;
}

static enum disk_fault choose_fault(struct sim *sim, const struct disk_op *p)
{
	if (rng_below(&sim->rng, 1000) < sim->eio)
		return DISK_EIO;
	if (!sim->corrupts || p->op.what != SPINDLE_DLOG_WRITE ||
	    (p->op.file.kind != SPINDLE_DLOG_SEGMENT && p->op.file.kind != SPINDLE_DLOG_FIX) ||
	    rng_below(&sim->rng, 100))
		return DISK_FINE;
	note_hurt(sim);
	return is_bare(sim) || rng_chance(&sim->rng, 50) ? DISK_NOWHERE : DISK_ASTRAY;
}

static void end_one(struct sim *sim)
{
	struct disk_op *p;
	enum disk_fault fault;
	u32 token, i;
	int err;

	if (!sim->disk.pending)
		return;
	i = rng_below(&sim->rng, sim->disk.pending);
	p = disk_pending(&sim->disk, i);
	fault = choose_fault(sim, p);
	note_frame(sim, p);
	sim_note_write(sim, p);
	token = disk_end(&sim->disk, i, fault, &err);
	sim->fails += err == -EIO;
	SIM_SAY(sim, "end of %u kind %u id %llu at %llu, token %u: %d\n", p->op.what,
		p->op.file.kind, (unsigned long long)p->op.file.id,
		(unsigned long long)p->op.offset, token, err);
	if (fault == DISK_NOWHERE || fault == DISK_ASTRAY)
		SIM_SAY(sim, "it was lost%s\n", fault == DISK_ASTRAY ? ", and hits a segment" : "");
	if (token == SPINDLE_DLOG_TOKEN_REPAIR) {
		sim_repair_done(sim, err);
		return;
	}
	sim->erred |= err == -EIO;
	spindle_dlog_done(&sim->log, token, err);
	sim_see_progress(sim);
}

static void trim(struct sim *sim)
{
	struct spindle_dlog *log = &sim->log;
	u64 span = log->persisted - log->map.low;
	u64 lsn = log->map.low + (span ? rng_below(&sim->rng, (u32)span + 1) : 0);

	if (!log->opened)
		return;
	sim->low_asked = max(sim->low_asked, lsn);
	if (spindle_dlog_trim(log, lsn))
		sim_fail(sim, "a trim is refused");
	if (!spindle_dlog_trim(log, log->persisted + 1))
		sim_fail(sim, "a trim of what is not durable is accepted");
	sim_see_progress(sim);
}

/* Nobody has the next messages any more. */
static void skip(struct sim *sim)
{
	u64 lsn = sim->next + 1 + rng_below(&sim->rng, 5), at;
	int err;

	if (lsn - sim->first > SIM_MESSAGES || spindle_dlog_repair_waits(&sim->repair) ||
	    sim->gone.to)
		return;
	err = spindle_dlog_skip(&sim->log, lsn);
	if (err) {
		if (err != -EAGAIN && !sim->log.failed)
			sim_fail(sim, "a skip is refused: %d", err);
		return;
	}
	SIM_SAY(sim, "skip from %llu to %llu\n", (unsigned long long)sim->next,
		(unsigned long long)lsn);
	/* Without the newest meta block they are damaged, and a repair may bring them. */
	for (at = sim->next; at < lsn; at++)
		*sim_message(sim, at) = (struct sim_message){ .era = sim->era, .vid = sim->vid };
	sim->next = lsn;
	sim->low = lsn;
	sim->low_asked = lsn;
	sim->skips++;
	/* All that a repair could bring back was given up. */
	sim->repair.step = SPINDLE_DLOG_REPAIR_IDLE;
	sim_see_progress(sim);
}

static bool meta_is_good(struct sim *sim, u64 id)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_META, .id = id };
	struct disk_file *f = disk_find(&sim->disk, name);
	struct spindle_dlog_meta_state state;
	struct spindle_dlog_ident ident;
	u8 block[SPINDLE_DLOG_BLOCK_MAX];

	return f && disk_read(f, 0, block, sim->id.block) == (int)sim->id.block &&
	       !spindle_dlog_meta_parse(block, &ident, &state);
}

static void flip(struct sim *sim, struct disk_file *f)
{
	u32 at = rng_below(&sim->rng, f->bytes), sector = at / DISK_SECTOR;
	u8 bit = 1U << rng_below(&sim->rng, 8);

	f->platter[at] ^= bit;
	if (f->dirty[sector])
		f->cache[at] ^= bit;
	note_hurt(sim);
}

/* Two frames say where the log was cut, as long as no later segment has frames. One is enough. */
static struct disk_file *any_to_hurt(struct sim *sim)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT, .id = sim->cut_seq };
	struct disk_file *f = disk_any_segment(&sim->disk);

	return sim->cut_hurt && f == disk_find(&sim->disk, name) ? NULL : f;
}

static void hurt_segment(struct sim *sim, struct disk_file *f)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT, .id = sim->cut_seq };

	sim->cut_hurt |= f == disk_find(&sim->disk, name);
	if (rng_chance(&sim->rng, 30)) {
		SIM_SAY(sim, "a sector cannot be read\n");
		f->bad[rng_below(&sim->rng, f->bytes / DISK_SECTOR)] = true;
		sim->bad_sector = true;
		note_hurt(sim);
	} else {
		SIM_SAY(sim, "a bit flips\n");
		flip(sim, f);
	}
}

static void hurt_disk(struct sim *sim)
{
	u64 meta = rng_below(&sim->rng, 2);
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_META, .id = meta };
	struct disk_file *f = any_to_hurt(sim);

	if (!sim->corrupts)
		return;
	if (rng_chance(&sim->rng, 10) && meta_is_good(sim, !meta) && meta_is_good(sim, meta)) {
		SIM_SAY(sim, "a meta block is hurt\n");
		flip(sim, disk_find(&sim->disk, name));
		sim->meta_hurt = true;
	} else if (f) {
		hurt_segment(sim, f);
	}
}

/*
 * Somebody removes a segment of an earlier life, of which nothing is under way. The one that cuts
 * is not removed, because no other one says where.
 */
static void delete_segment(struct sim *sim)
{
	const struct spindle_dlog_map *map = &sim->log.map;
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT };
	struct disk_file *f;

	if (!sim->corrupts || !sim->running || sim->disk.pending || map->n < 3 ||
	    !rng_chance(&sim->rng, 30))
		return;
	name.id = map->seg[1 + rng_below(&sim->rng, map->n - 2)].seq;
	f = disk_find(&sim->disk, name);
	if (!f || name.id == sim->cut_seq)
		return;
	SIM_SAY(sim, "segment %llu is removed\n", (unsigned long long)name.id);
	f->used = false;
	note_hurt(sim);
	crash(sim);
}

/* A segment may be as short as the next message is long, and then a disk of two is full. */
static void give_space(struct sim *sim)
{
	if (rng_chance(&sim->rng, 20))
		sim->disk.most++;
	spindle_dlog_more(&sim->log);
}

static void step(struct sim *sim)
{
	u32 dice = rng_below(&sim->rng, 1000);

	sim->steps++;
	sim->now += rng_below(&sim->rng, 100);
	if (sim->running && rng_chance(&sim->rng, 50))
		sim_repair(sim);
	if (!sim->running)
		start(sim);
	else if (dice < 350)
		append_some(sim);
	else if (dice < 880)
		end_one(sim);
	else if (dice < 900)
		spindle_dlog_commit(&sim->log, sim->now);
	else if (dice < 920)
		spindle_dlog_mark(&sim->log, sim->now);
	else if (dice < 935)
		trim(sim);
	else if (dice < 938)
		skip(sim);
	else if (dice < 940)
		sim_check_live(sim);
	else if (dice < 950)
		sim_follow(sim);
	else if (dice < 955)
		sim_check_time(sim);
	else if (dice < 965)
		hurt_disk(sim);
	else if (dice < 970)
		give_space(sim);
	else if (dice < 975)
		delete_segment(sim);
	else
		crash(sim);
	if (sim->running)
		sim_see_progress(sim);
	if (sim->disk.wrong)
		sim_fail(sim, "%s", sim->disk.wrong);
}

/* Without more faults, everything becomes durable. */
static void drain(struct sim *sim)
{
	u32 n;

	sim->eio = 0;
	sim->corrupts = false;
	sim->cutting = false;
	sim->disk.most = DISK_FILES;
	if (!sim->running && !sim->failure[0])
		start(sim);
	for (n = 0; n < 2000 && sim->running && !sim->failure[0] && !sim->log.failed; n++) {
		if (sim->log.opened && sim->log.persisted == sim->next && !sim->disk.pending)
			return;
		if (sim->log.opened && n % 50 == 49) {
			sim->low_asked = sim->log.persisted;
			spindle_dlog_trim(&sim->log, sim->log.persisted);
		}
		spindle_dlog_commit(&sim->log, sim->now);
		spindle_dlog_more(&sim->log);
		end_one(sim);
	}
	if (sim->running && !sim->failure[0] && !sim->log.failed)
		sim_fail(sim, "the log does not come to rest: state %u, %llu of %llu",
			 spindle_dlog_state(&sim->log), (unsigned long long)sim->persisted,
			 (unsigned long long)sim->next);
}

static void last_crash(struct sim *sim)
{
	if (sim->failure[0] || sim->stop)
		return;
	note_pending(sim);
	disk_crash(&sim->disk, true, DISK_LOSE_ALL);
	sim->running = false;
	if (!scan_again(sim) && !sim->scan.is_new) {
		see_gone(sim);
		sim_check_scan(sim);
	}
	if (sim->scan.is_new && sim->persisted != sim->first && !sim->stop)
		sim_fail(sim, "the log is gone");
}

static bool run(struct sim *sim, u64 seed)
{
	u32 i, n;

	begin_schedule(sim, seed);
	n = 100 + rng_below(&sim->rng, 400);
	for (i = 0; i < n && !sim->failure[0] && !sim->stop; i++)
		step(sim);
	if (!sim->stop)
		drain(sim);
	last_crash(sim);
	disk_free(&sim->disk);
	if (sim->failure[0])
		printf("seed %llu step %u: %s\n", (unsigned long long)seed, i, sim->failure);
	return !sim->failure[0];
}

static void prepare(struct sim *sim)
{
	u32 i;

	for (i = 0; i <= SPINDLE_DLOG_DEPTH; i++)
		sim->slot[i] = aligned_alloc(4096, SIM_BUFFER);
	sim->meta = aligned_alloc(4096, SPINDLE_DLOG_BLOCK_MAX);
	sim->fix = aligned_alloc(4096, SIM_BUFFER + 2 * SPINDLE_DLOG_BLOCK_MAX);
	sim->window[3] = aligned_alloc(4096, SIM_BUFFER);
	sim->window[0] = aligned_alloc(4096, SIM_BUFFER);
	sim->window[1] = aligned_alloc(4096, SIM_BUFFER);
	sim->window[2] = aligned_alloc(4096, SIM_BUFFER);
	sim->frame = calloc(SIM_FRAMES, sizeof(*sim->frame));
}

static void release(struct sim *sim)
{
	u32 i;

	for (i = 0; i <= SPINDLE_DLOG_DEPTH; i++)
		free(sim->slot[i]);
	for (i = 0; i < SIM_FRAMES; i++)
		free(sim->frame[i].copy);
	free(sim->meta);
	free(sim->window[0]);
	free(sim->window[1]);
	free(sim->window[2]);
	free(sim->window[3]);
	free(sim->fix);
	free(sim->frame);
	free(sim);
}

static u64 number(const char *text)
{
	char *end;
	u64 n = strtoull(text, &end, 0);

	if (*end || end == text || text[0] == '-') {
		fprintf(stderr, "'%s' is no number\n", text);
		exit(2);
	}
	return n;
}

static void print_counts(const struct sim *sim)
{
	printf("# %llu steps, %llu crashes, %llu messages appended, %llu read\n",
	       (unsigned long long)sim->steps, (unsigned long long)sim->crashes,
	       (unsigned long long)sim->appended, (unsigned long long)sim->reads);
	printf("# %llu ranges damaged, %llu torn tails, %llu errors of the disk, %llu times full\n",
	       (unsigned long long)sim->damages, (unsigned long long)sim->cuts,
	       (unsigned long long)sim->fails, (unsigned long long)sim->fulls);
	printf("# %llu repairs, %llu segments repaired, %llu repairs failed, %llu were cut\n",
	       (unsigned long long)sim->repairs, (unsigned long long)sim->repaired,
	       (unsigned long long)sim->unrepaired, (unsigned long long)sim->cut_repairs);
	printf("# %llu messages were refused\n", (unsigned long long)sim->refused);
	printf("# %llu cuts, %llu in a repaired segment, %llu in front of one, %llu skips\n",
	       (unsigned long long)sim->removals, (unsigned long long)sim->fixes_cut,
	       (unsigned long long)sim->fixes_gone, (unsigned long long)sim->skips);
	printf("# %llu segments repaired in a log that was cut\n",
	       (unsigned long long)sim->cut_fixed);
}

int main(int argc, char **argv)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	u64 seed = 1, n = 1000, most = 10, i, bad = 0;
	int c;

	while ((c = getopt(argc, argv, "s:n:m:v")) != -1) {
		if (c == 's')
			seed = number(optarg);
		else if (c == 'n')
			n = number(optarg);
		else if (c == 'm')
			most = number(optarg);
		else if (c == 'v')
			sim->verbose = true;
		else
			return 2;
	}
	prepare(sim);
	for (i = 0; i < n && bad < most; i++)
		bad += !run(sim, seed + i);
	print_counts(sim);
	ok(!bad && n, "the log in %llu schedules from seed %llu on", (unsigned long long)i,
	   (unsigned long long)seed);
	release(sim);
	return tap_end();
}
