// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile bytes: a log that was written well is broken at random, and scanned, read and written on.
 * Nothing may crash or run without end. Half of the runs make the CRCs right again, so that the
 * bytes get past them. In the others, each record that is read must be one that was appended.
 *
 *	fuzz [-s SEED] [-n RUNS]
 */
#include <errno.h>
#include <endian.h>
#include <getopt.h>

#include "disk.h"
#include "tap.h"

#define BLOCK 512U
#define FRAME 2048U
#define SEGMENT 6144U
#define BUFFER (FRAME + SPINDLE_DLOG_BLOCK_MAX)
#define FIRST 1000U
#define READS 5000

static struct fuzz {
	struct rng rng;
	struct disk disk;
	struct disk_file good[DISK_FILES];
	struct spindle_dlog log;
	struct spindle_dlog_scan scan;
	struct spindle_dlog_config config;
	struct spindle_dlog_segment segment[16];
	struct spindle_dlog_file file[DISK_FILES];
	struct spindle_dlog_range damaged[4];
	struct spindle_dlog_epoch epoch[4];
	u8 slot[SPINDLE_DLOG_DEPTH + 1][BUFFER] __attribute__((aligned(4096)));
	u8 meta[SPINDLE_DLOG_BLOCK_MAX] __attribute__((aligned(4096)));
	u8 window[2][BUFFER] __attribute__((aligned(4096)));
	u64 next, records, damages, scans, refused;
	bool sealed;
} fz;

static const struct spindle_dlog_ident ident = {
	.subgroup = 2, .node = 5, .block = BLOCK, .segment = SEGMENT, .frame = FRAME,
	.salt = 0x6b79a3f1c2d4e508ULL,
};

static int scan(void)
{
	fz.scan = (struct spindle_dlog_scan){
		.port = &fz.disk.port, .window = { .buf = fz.window[0], .size = BUFFER },
		.file = fz.file, .max_files = DISK_FILES, .damaged = fz.damaged,
		.max_damaged = 4, .epoch = fz.epoch, .max_epochs = 4,
		.id = { .frame = FRAME }, .map = { .seg = fz.segment, .max = 16 },
	};
	return spindle_dlog_recover(&fz.scan);
}

static bool start(void)
{
	u32 i;

	fz.config = (struct spindle_dlog_config){
		.depth = 3, .eager = true, .spares = 1, .meta = fz.meta, .go_on = true,
	};
	for (i = 0; i <= SPINDLE_DLOG_DEPTH; i++)
		fz.config.slot[i] = fz.slot[i];
	if (fz.scan.is_new) {
		fz.scan.id = ident;
		fz.scan.map.low = FIRST;
		fz.scan.next = FIRST;
	}
	return !spindle_dlog_start(&fz.log, &fz.config, &fz.scan);
}

/* Append, and end operations in any order. */
static void append(u32 n)
{
	u8 data[400];
	u32 token;
	int err;

	while (n--) {
		struct spindle_dlog_msg m = {
			.lsn = fz.log.next, .era = fz.log.era, .vid = fz.log.vid + !(n % 16),
			.slot = fz.log.next, .data = data, .len = rng_below(&fz.rng, 400),
		};

		memset(data, (u8)m.lsn, sizeof(data));
		spindle_dlog_append(&fz.log, &m, n);
		spindle_dlog_commit(&fz.log, n);
		while (fz.disk.pending && rng_chance(&fz.rng, 80)) {
			token = disk_end(&fz.disk, rng_below(&fz.rng, fz.disk.pending), DISK_FINE,
					 &err);
			spindle_dlog_done(&fz.log, token, err);
		}
	}
}

static void write_good(void)
{
	disk_init(&fz.disk, 7, true);
	if (scan())
		bail_out("an empty disk is no new log");
	start();
	append(150);
	disk_crash(&fz.disk, true, DISK_LOSE_ALL);
	if (scan())
		bail_out("a good log cannot be scanned");
	start();
	append(40);
	fz.next = fz.log.next;
	disk_crash(&fz.disk, true, DISK_LOSE_SOME);
	memcpy(fz.good, fz.disk.file, sizeof(fz.good));
}

static struct disk_file *any_file(void)
{
	struct disk_file *f;

	do {
		f = &fz.disk.file[rng_below(&fz.rng, DISK_FILES)];
	} while (!f->used);
	return f;
}

static void seal_frame(u8 *buf)
{
	struct spindle_dlog_frame *f = (void *)buf;
	u64 salt = htole64(ident.salt);
	u32 crc = spindle_dlog_crc(0, &salt, sizeof(salt));
	u32 bytes = le32toh(f->bytes);

	if (bytes > sizeof(*f) && bytes <= FRAME)
		f->body = htole32(spindle_dlog_crc(0, buf + sizeof(*f), bytes - sizeof(*f)));
	f->crc = htole32(spindle_dlog_crc(crc, f, offsetof(struct spindle_dlog_frame, crc)));
}

static void seal_meta(u8 *buf)
{
	struct spindle_dlog_meta *m = (void *)buf;

	m->crc = htole32(spindle_dlog_crc(0, m, offsetof(struct spindle_dlog_meta, crc)));
}

static void break_block(void)
{
	struct disk_file *f = any_file();
	u32 block = rng_below(&fz.rng, f->bytes / BLOCK) * BLOCK, i, n, at;
	u8 *p = f->platter + block;

	for (n = 1 + rng_below(&fz.rng, 3); n--;) {
		/* Most fields are words of eight bytes in the header. */
		at = rng_below(&fz.rng, rng_chance(&fz.rng, 80) ? 16 : BLOCK / 8) * 8;
		switch (rng_below(&fz.rng, 4)) {
		case 0:
			p[at + rng_below(&fz.rng, 8)] ^= 1U << rng_below(&fz.rng, 8);
			break;
		case 1:
			memset(p + at, rng_chance(&fz.rng, 50) ? 0xff : 0, 8);
			break;
		case 2:
			p[at] += 1 - 2 * rng_below(&fz.rng, 2);
			break;
		default:
			for (i = 0; i < 8; i++)
				p[at + i] = (u8)rng_u64(&fz.rng);
		}
	}
	if (fz.sealed && f->bytes <= BLOCK)
		seal_meta(p);
	else if (fz.sealed && block + FRAME <= DISK_BYTES)
		seal_frame(p);
}

static void move_block(void)
{
	struct disk_file *from = any_file(), *to = any_file();
	u32 a = rng_below(&fz.rng, from->bytes / BLOCK) * BLOCK;
	u32 b = rng_below(&fz.rng, to->bytes / BLOCK) * BLOCK;

	memmove(to->platter + b, from->platter + a, BLOCK);
}

static void break_log(void)
{
	struct disk_file *f;
	u32 i, n;

	memcpy(fz.disk.file, fz.good, sizeof(fz.good));
	fz.sealed = rng_chance(&fz.rng, 50);
	for (n = 1 + rng_below(&fz.rng, 6); n--;) {
		if (rng_chance(&fz.rng, 85))
			break_block();
		else
			move_block();
	}
	f = any_file();
	if (rng_chance(&fz.rng, 5))
		for (i = 0; i < f->bytes; i++)
			f->platter[i] = (u8)rng_u64(&fz.rng);
	if (rng_chance(&fz.rng, 5))
		f->bytes = rng_below(&fz.rng, f->bytes + 1) / DISK_SECTOR * DISK_SECTOR;
	if (!f->bytes)
		f->bytes = DISK_SECTOR;
}

static void check_record(const struct spindle_dlog_msg *m)
{
	const u8 *data = m->data;
	u32 i, sum = 0;

	fz.records++;
	/* The sanitizer sees a read behind the frame. */
	for (i = 0; i < m->len; i++)
		sum += data[i] != (u8)m->lsn;
	if (!fz.sealed && (sum || m->slot != m->lsn || m->lsn >= fz.next))
		tap_fail("record %llu was never appended", (unsigned long long)m->lsn);
}

static void read_log(struct spindle_dlog_map *map)
{
	struct spindle_dlog_reader r = {
		.port = &fz.disk.port, .id = &fz.scan.id, .map = map,
		.window = { .buf = fz.window[1], .size = BUFFER },
	};
	struct spindle_dlog_msg m;
	u64 before;
	u32 i;
	int n;

	spindle_dlog_seek(&r, map->low);
	for (i = 0; i < READS; i++) {
		before = r.lsn;
		n = spindle_dlog_read(&r, &m);
		if (n == 1)
			check_record(&m);
		else if (n != -EUCLEAN)
			break;
		fz.damages += n == -EUCLEAN;
		if (r.lsn <= before)
			tap_fail("a reader stands still at %llu", (unsigned long long)r.lsn);
	}
	if (i == READS)
		tap_fail("a reader comes to no end");
	spindle_dlog_find_time(&r, rng_below(&fz.rng, 200));
}

static void run(void)
{
	break_log();
	fz.disk.pending = 0;
	if (scan()) {
		fz.refused++;
		return;
	}
	fz.scans++;
	if (fz.scan.map.n)
		read_log(&fz.scan.map);
	/* The model disk has no longer files. */
	if (fz.scan.id.segment > DISK_BYTES || !start()) {
		fz.refused++;
		return;
	}
	append(10);
	disk_crash(&fz.disk, rng_chance(&fz.rng, 50), DISK_LOSE_SOME);
	fz.disk.wrong = NULL;
}

int main(int argc, char **argv)
{
	u64 seed = 1, n = 20000, i;
	int c;

	while ((c = getopt(argc, argv, "s:n:")) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			n = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	tap_begin("hostile bytes in a log neither crash it nor become records");
	write_good();
	for (i = 0; i < n && !tap_failures; i++) {
		fz.rng.state = rng_mix(seed + i);
		run();
		if (tap_failures)
			printf("# seed %llu\n", (unsigned long long)(seed + i));
	}
	printf("# %llu runs, %llu scans, %llu refused, %llu records, %llu ranges damaged\n",
	       (unsigned long long)i, (unsigned long long)fz.scans,
	       (unsigned long long)fz.refused, (unsigned long long)fz.records,
	       (unsigned long long)fz.damages);
	tap_report();
	disk_free(&fz.disk);
	return tap_end();
}
