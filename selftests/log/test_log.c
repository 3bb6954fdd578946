// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases of the durable log that a simulator meets rarely, or that need a disk made by hand.
 */
#include <errno.h>
#include <endian.h>

#include "disk.h"
#include "fix.h"
#include "tap.h"

#define BLOCK 512U
#define FRAME 2048U
#define SEGMENT 8192U
#define BUFFER (FRAME + SPINDLE_DLOG_BLOCK_MAX)
#define FIRST 100U

static struct fixture {
	struct disk disk;
	struct spindle_dlog log;
	struct spindle_dlog_scan scan;
	struct spindle_dlog_config config;
	struct spindle_dlog_segment segment[8];
	struct spindle_dlog_file file[DISK_FILES];
	struct spindle_dlog_range damaged[8];
	struct spindle_dlog_epoch epoch[8];
	u8 slot[SPINDLE_DLOG_DEPTH + 1][BUFFER] __attribute__((aligned(4096)));
	u8 meta[SPINDLE_DLOG_BLOCK_MAX] __attribute__((aligned(4096)));
	u8 window[3][BUFFER] __attribute__((aligned(4096)));
	u8 fix_buf[BUFFER + 2 * SPINDLE_DLOG_BLOCK_MAX] __attribute__((aligned(4096)));
	struct spindle_dlog_repair repair;
} fx;

static const struct spindle_dlog_ident ident = {
	.lineage = "a lineage of 16", .subgroup = 2, .node = 5, .block = BLOCK,
	.segment = SEGMENT, .frame = FRAME, .salt = 0x1234567890abcdefULL,
};

static int scan(void)
{
	fx.scan = (struct spindle_dlog_scan){
		.port = &fx.disk.port, .window = { .buf = fx.window[0], .size = BUFFER },
		.file = fx.file, .max_files = DISK_FILES, .damaged = fx.damaged,
		.max_damaged = 8, .epoch = fx.epoch, .max_epochs = 8, .known = fx.scan.known,
		.newest = fx.scan.newest,
		.id = { .frame = FRAME }, .map = { .seg = fx.segment, .max = 8 },
	};
	return spindle_dlog_recover(&fx.scan);
}

static void end_all(void)
{
	u32 token;
	int err;

	while (fx.disk.pending) {
		token = disk_end(&fx.disk, 0, DISK_FINE, &err);
		if (token == SPINDLE_DLOG_TOKEN_REPAIR)
			spindle_dlog_repair_done(&fx.repair, err);
		else
			spindle_dlog_done(&fx.log, token, err);
	}
}

static void start(u32 depth)
{
	u32 i;

	fx.config = (struct spindle_dlog_config){
		.depth = depth, .eager = true, .spares = 1, .meta = fx.meta,
		.policy = fx.config.policy, .go_on = fx.config.go_on,
	};
	for (i = 0; i <= SPINDLE_DLOG_DEPTH; i++)
		fx.config.slot[i] = fx.slot[i];
	CHECK_EQ(scan(), 0);
	if (fx.scan.is_new) {
		fx.scan.id = ident;
		fx.scan.map.low = FIRST;
		fx.scan.next = FIRST;
	}
	CHECK_EQ(spindle_dlog_start(&fx.log, &fx.config, &fx.scan), 0);
}

static void begin(u32 depth)
{
	memset(&fx, 0, sizeof(fx));
	disk_init(&fx.disk, 1, true);
	start(depth);
	end_all();
	CHECK_EQ(spindle_dlog_state(&fx.log), SPINDLE_DLOG_RUNNING);
}

static void end(void)
{
	CHECK(!fx.disk.wrong);
	disk_free(&fx.disk);
}

static int append(u32 len, u64 vid, u64 now)
{
	static u8 data[FRAME];
	struct spindle_dlog_msg m = {
		.lsn = fx.log.next, .era = 1, .vid = vid, .slot = fx.log.next, .len = len,
		.data = data,
	};

	memset(data, (u8)m.lsn, sizeof(data));
	return spindle_dlog_append(&fx.log, &m, now);
}

/* Frames of one message each, durable. */
static void write_frames(u32 n)
{
	while (n--) {
		CHECK_EQ(append(40, 1, fx.log.next), 0);
		spindle_dlog_commit(&fx.log, 0);
		end_all();
	}
	CHECK_EQ(fx.log.persisted, fx.log.next);
}

static u8 *bytes_at(u64 seq, u32 offset)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT, .id = seq };

	return disk_find(&fx.disk, name)->platter + offset;
}

static void open_reader(struct spindle_dlog_reader *r, const struct spindle_dlog_map *map, u64 lsn)
{
	*r = (struct spindle_dlog_reader){
		.port = &fx.disk.port, .id = &ident, .map = map,
		.window = { .buf = fx.window[1], .size = BUFFER },
	};
	spindle_dlog_seek(r, lsn);
}

static u32 crc_of_bits(const u8 *buf, size_t len)
{
	u32 crc = ~0U, i;

	while (len--) {
		crc ^= *buf++;
		for (i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78U : crc >> 1;
	}
	return ~crc;
}

static void check_crc(const u8 *buf, u32 n, u32 part)
{
	u32 want = crc_of_bits(buf, n);

	CHECK_EQ(spindle_dlog_crc(0, buf, n), want);
	CHECK_EQ(spindle_dlog_crc_table(0, buf, n), want);
	CHECK_EQ(spindle_dlog_crc(spindle_dlog_crc(0, buf, part), buf + part, n - part), want);
	CHECK_EQ(spindle_dlog_crc_table(spindle_dlog_crc(0, buf, part), buf + part, n - part),
		 want);
}

/* Long runs are summed in three parts of 1024 bytes at once, and what is left word by word. */
static void test_crc(void)
{
	struct rng rng = { .state = 5 };
	static u8 buf[20000];
	u32 i, n, from;

	CHECK_EQ(spindle_dlog_crc(0, "123456789", 9), 0xe3069283U);
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (u8)rng_u64(&rng);
	for (i = 0; i < 1000; i++) {
		n = rng_below(&rng, i % 10 ? 100 : 18000);
		from = rng_below(&rng, 100);
		check_crc(buf + from, n, rng_below(&rng, n + 1));
	}
	for (n = 3070; n < 3080; n++)
		check_crc(buf + 1, n, 1);
	check_crc(buf, 6144, 3072);
}

static void build(u8 *buf, struct spindle_dlog_info *info)
{
	struct spindle_dlog_msg m = { .slot = 9, .node = 3, .sender = 1, .len = 13,
				     .data = "thirteen byte" };
	struct spindle_dlog_build b;
	u32 i;

	*info = (struct spindle_dlog_info){ .seq = 4, .offset = 1024, .lsn = 50, .base = 40,
					   .acked = 45, .era = 1, .vid = 2, .time = 77 };
	spindle_dlog_build_begin(&b, buf, FRAME);
	for (i = 0; i < 3; i++)
		spindle_dlog_build_add(&b, &m);
	CHECK_EQ(spindle_dlog_build_seal(&b, &ident, info), BLOCK);
}

static int parse(const u8 *buf, u64 seq, u64 offset, const struct spindle_dlog_ident *id)
{
	struct spindle_dlog_info info;
	int err = spindle_dlog_header_parse(buf, id, seq, offset, &info);

	return err ? err : spindle_dlog_body_check(buf, id, &info);
}

static void test_frame(void)
{
	struct spindle_dlog_ident other = ident;
	struct spindle_dlog_info info;
	struct spindle_dlog_msg m;
	u8 buf[FRAME];
	u32 i, at = 0;

	build(buf, &info);
	CHECK_EQ(parse(buf, 4, 1024, &ident), 0);
	CHECK_EQ(parse(buf, 5, 1024, &ident), -EBADMSG);
	CHECK_EQ(parse(buf, 4, 1536, &ident), -EBADMSG);
	other.salt++;
	CHECK_EQ(parse(buf, 4, 1024, &other), -EBADMSG);
	for (i = 0; i < 3; i++) {
		at = spindle_dlog_record_parse(buf, &info, at, &m);
		CHECK(at && m.len == 13 && m.slot == 9 && m.node == 3 && m.sender == 1 &&
		      m.vid == 2 && m.time == 77 && !memcmp(m.data, "thirteen byte", 13));
	}
	CHECK_EQ(spindle_dlog_record_parse(buf, &info, at, &m), 0);
	for (i = 0; i < 8 * BLOCK; i++) {
		buf[i / 8] ^= 1U << (i % 8);
		CHECK_EQ(parse(buf, 4, 1024, &ident), -EBADMSG);
		buf[i / 8] ^= 1U << (i % 8);
	}
}

/* Make the CRC of a header right again. */
static void seal_again(u8 *buf)
{
	struct spindle_dlog_frame *f = (void *)buf;
	u64 salt = htole64(ident.salt);
	u32 crc = spindle_dlog_crc(0, &salt, sizeof(salt));

	f->crc = htole32(spindle_dlog_crc(crc, f, offsetof(struct spindle_dlog_frame, crc)));
}

static void test_fields(void)
{
	struct spindle_dlog_frame *f;
	struct spindle_dlog_info info;
	u64 words[FRAME / 8];
	u8 *buf = (u8 *)words;
	u32 i;

	for (i = 0; i < 8; i++) {
		build(buf, &info);
		f = (void *)buf;
		f->count = htole32(i == 0 ? 2 : i == 1 ? 4 : 3);
		f->bytes = htole32(i == 2 ? BLOCK + 8 : i == 3 ? 2 * FRAME : BLOCK);
		f->used = htole32(i == 4 ? 4 : i == 5 ? BLOCK + 1 : info.used);
		f->acked = htole64(i == 6 ? 51 : 45);
		f->lsn = htole64(i == 7 ? ~0ULL : 50);
		seal_again(buf);
		CHECK_EQ(parse(buf, 4, 1024, &ident), -EBADMSG);
	}
	build(buf, &info);
	seal_again(buf);
	CHECK_EQ(parse(buf, 4, 1024, &ident), 0);
}

/* The chain, or the base of the segment, is that of another one. */
static void test_chain(void)
{
	struct spindle_dlog_frame *f;
	u32 i;

	for (i = 0; i < 2; i++) {
		begin(1);
		write_frames(4);
		f = (void *)bytes_at(0, 3 * BLOCK);
		f->prev ^= htole32(!i);
		f->base = htole64(FIRST - i);
		seal_again((u8 *)f);
		CHECK_EQ(scan(), 0);
		CHECK_EQ(fx.scan.n_damaged, 1);
		CHECK(fx.damaged[0].from == FIRST + 2 && fx.damaged[0].to == FIRST + 3);
		CHECK_EQ(fx.scan.next, FIRST + 4);
		end();
	}
}

static void test_torn(void)
{
	begin(1);
	write_frames(3);
	bytes_at(0, 3 * BLOCK)[200] ^= 1;
	CHECK_EQ(scan(), 0);
	CHECK(!fx.scan.n_damaged && fx.scan.next == FIRST + 2 && fx.scan.acked == FIRST + 1);
	fx.scan.known = FIRST + 3;
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.n_damaged == 1 && fx.scan.tail_damaged && fx.scan.next == FIRST + 3);
	end();
}

static void test_mark(void)
{
	begin(1);
	write_frames(3);
	spindle_dlog_mark(&fx.log, 0);
	end_all();
	spindle_dlog_mark(&fx.log, 0);
	CHECK_EQ(fx.disk.pending, 0);
	bytes_at(0, 3 * BLOCK)[200] ^= 1;
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.n_damaged == 1 && fx.damaged[0].from == FIRST + 2);
	CHECK_EQ(fx.scan.next, FIRST + 3);
	CHECK_EQ(spindle_dlog_start(&fx.log, &fx.config, &fx.scan), -EUCLEAN);
	fx.config.go_on = true;
	start(1);
	end_all();
	write_frames(1);
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.n_damaged == 1 && fx.scan.next == FIRST + 4 && !fx.scan.tail_damaged);
	end();
}

/* The oldest frame ends last, and what is reported waits for it. */
static void test_order(void)
{
	u32 token;
	int err;

	begin(2);
	write_frames(1);
	CHECK_EQ(append(10, 1, 1), 0);
	spindle_dlog_commit(&fx.log, 1);
	CHECK_EQ(append(10, 1, 2), 0);
	spindle_dlog_commit(&fx.log, 2);
	CHECK_EQ(fx.disk.pending, 2);
	token = disk_end(&fx.disk, 1, DISK_FINE, &err);
	spindle_dlog_done(&fx.log, token, err);
	CHECK_EQ(fx.log.persisted, FIRST + 1);
	end_all();
	CHECK_EQ(fx.log.persisted, FIRST + 3);
	end();
}

static void end_second(void)
{
	u32 token;
	int err;

	token = disk_end(&fx.disk, 1, DISK_FINE, &err);
	spindle_dlog_done(&fx.log, token, err);
}

/*
 * A frame was cut off behind a torn one, and its position was written once more in a segment that
 * is lost now. The frame is still whole, and must not come back.
 */
static void test_cut_off(void)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;
	u64 lost;
	u32 i;
	int n;

	begin(2);
	write_frames(3);
	append(10, 1, 1);
	spindle_dlog_commit(&fx.log, 1);
	append(10, 1, 1);
	spindle_dlog_commit(&fx.log, 1);
	end_second();
	disk_crash(&fx.disk, true, DISK_LOSE_ALL);
	start(2);
	CHECK_EQ(fx.scan.dropped, 1);
	end_all();
	CHECK_EQ(fx.log.next, FIRST + 3);
	write_frames(20);
	lost = fx.log.map.seg[1].seq;
	memset(bytes_at(lost, 0), 0, SEGMENT);
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.n_damaged == 1 && fx.damaged[0].from == FIRST + 3);
	open_reader(&r, &fx.scan.map, FIRST);
	for (i = 0; i < 100 && (n = spindle_dlog_read(&r, &m)); i++)
		CHECK(n == 1 ? m.lsn < FIRST + 3 || m.lsn >= fx.damaged[0].to : n == -EUCLEAN);
	CHECK_EQ(r.lsn, fx.scan.next);
	end();
}

/*
 * The last frame is hurt without a witness, and was cut. It checks again when the next life has
 * given its position to another message, with and without a gap in front of it.
 */
static void test_healed(void)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;
	u32 i, j;

	begin(1);
	write_frames(3);
	bytes_at(0, 3 * BLOCK)[200] ^= 1;
	start(1);
	end_all();
	CHECK_EQ(fx.log.next, FIRST + 2);
	CHECK_EQ(append(10, 9, 1), 0);
	spindle_dlog_commit(&fx.log, 1);
	end_all();
	bytes_at(0, 3 * BLOCK)[200] ^= 1;
	for (i = 0; i < 2; i++) {
		CHECK_EQ(scan(), 0);
		CHECK(fx.scan.n_damaged == i && fx.scan.next == FIRST + 3);
		open_reader(&r, &fx.scan.map, FIRST);
		for (j = 0; j < 3; j++)
			CHECK_EQ(spindle_dlog_read(&r, &m), i && j == 1 ? -EUCLEAN : 1);
		CHECK(m.lsn == FIRST + 2 && m.vid == 9);
		bytes_at(0, 2 * BLOCK)[200] ^= 1;
	}
	end();
}

/* What cannot be read in the last segment may be the newest frame. */
static void test_unreadable(void)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT };
	bool *bad;

	begin(1);
	write_frames(3);
	bad = disk_find(&fx.disk, name)->bad;
	bad[3] = true;
	CHECK_EQ(scan(), -EIO);
	bad[3] = false;
	write_frames(20);
	bad[3] = true;
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.n_damaged == 1 && fx.damaged[0].from == FIRST + 2 &&
	      fx.damaged[0].to == FIRST + 3 && fx.scan.next == FIRST + 23);
	end();
}

/* The newest segment shows what a write that went astray has put there, and no sync has covered. */
static void hide_newest(void)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT, .id = fx.log.seq };
	struct disk_file *f = disk_find(&fx.disk, name);

	memset(f->cache, 0x5a, SEGMENT);
	memset(f->dirty, 1, SEGMENT / DISK_SECTOR * sizeof(f->dirty[0]));
}

/* Start, append a message, and let this many operations end. Return: whether that were all. */
static bool go_on_for(u32 steps)
{
	u64 from = fx.log.next;
	u32 token;
	int err;

	start(1);
	while (fx.disk.pending && steps--) {
		token = disk_end(&fx.disk, 0, DISK_FINE, &err);
		spindle_dlog_done(&fx.log, token, err);
		if (fx.log.opened && fx.log.next == fx.scan.next && fx.log.next != from)
			CHECK_EQ(append(40, 9, 1), 0);
		spindle_dlog_commit(&fx.log, 1);
	}
	return !fx.disk.pending;
}

/*
 * A scan does not find the newest segment, and a crash of the machine brings it back. That may be,
 * until a message of the next life is durable.
 */
static void test_hidden(void)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;
	bool all = false, back, is_new;
	u32 steps, backs = 0, news = 0;

	for (steps = 0; steps < 100 && !all; steps++) {
		begin(1);
		fx.disk.port.through = false;
		write_frames(20);
		CHECK_EQ(fx.log.map.n, 2);
		hide_newest();
		disk_crash(&fx.disk, false, DISK_LOSE_NONE);
		all = go_on_for(steps);
		CHECK_EQ(fx.scan.next, FIRST + 15);
		is_new = fx.log.opened && fx.log.persisted == FIRST + 16;
		disk_crash(&fx.disk, true, DISK_LOSE_ALL);
		CHECK_EQ(scan(), 0);
		back = fx.scan.next == FIRST + 20;
		CHECK_EQ(fx.scan.next, back ? FIRST + 20 : FIRST + 15 + is_new);
		CHECK(!(back && is_new) && !fx.scan.n_damaged);
		open_reader(&r, &fx.scan.map, FIRST + 15);
		if (back || is_new)
			CHECK(spindle_dlog_read(&r, &m) == 1 && m.vid == (back ? 1 : 9));
		backs += back;
		news += is_new;
		end();
	}
	CHECK(all && backs && news);
}

/* A process died. What it wrote is there, and is durable after a sync. */
static void test_opening(void)
{
	begin(1);
	write_frames(2);
	CHECK_EQ(append(10, 1, 1), 0);
	spindle_dlog_commit(&fx.log, 1);
	disk_crash(&fx.disk, false, DISK_LOSE_NONE);
	start(1);
	CHECK(fx.scan.next == FIRST + 3 && fx.scan.acked == FIRST + 2);
	CHECK(fx.log.persisted == FIRST + 2 && fx.log.map.until == FIRST + 2);
	CHECK_EQ(spindle_dlog_state(&fx.log), SPINDLE_DLOG_OPENING);
	CHECK_EQ(append(10, 1, 1), -EAGAIN);
	end_all();
	CHECK(fx.log.persisted == FIRST + 3 && fx.log.map.until == FIRST + 3);
	end();
}

static void test_refused(void)
{
	struct spindle_dlog_msg m = { .lsn = FIRST + 1, .era = 1, .vid = 5, .data = "" };

	begin(1);
	CHECK_EQ(spindle_dlog_append(&fx.log, &m, 1), -EINVAL);
	CHECK_EQ(append(0, 5, 1), 0);
	CHECK_EQ(append(0, 4, 1), -EINVAL);
	CHECK_EQ(append(FRAME, 5, 1), -EMSGSIZE);
	CHECK_EQ(append(FRAME - 96 - 24, 5, 1), 0);
	CHECK_EQ(append(0, 5, 1), -EAGAIN);
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 1), -EINVAL);
	end_all();
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 1), 0);
	end();
}

static void test_failed(void)
{
	int err;

	begin(2);
	write_frames(1);
	CHECK_EQ(append(10, 1, 1), 0);
	spindle_dlog_commit(&fx.log, 1);
	CHECK_EQ(append(10, 1, 1), 0);
	spindle_dlog_done(&fx.log, disk_end(&fx.disk, 0, DISK_EIO, &err), -EIO);
	CHECK_EQ(spindle_dlog_state(&fx.log), SPINDLE_DLOG_FAILED);
	spindle_dlog_commit(&fx.log, 1);
	CHECK_EQ(fx.disk.pending, 0);
	CHECK_EQ(append(10, 1, 1), -EIO);
	CHECK_EQ(fx.log.persisted, FIRST + 1);
	end();
}

/* Append until the log is full. */
static int fill(void)
{
	u32 n;
	int err = 0;

	for (n = 0; n < 100 && !err; n++) {
		err = append(1000, 1, 1);
		if (err != -ENOSPC)
			spindle_dlog_commit(&fx.log, 1);
		end_all();
		if (err == -EAGAIN)
			err = 0;
	}
	return err;
}

static void test_full(void)
{
	u32 policy;

	for (policy = SPINDLE_DLOG_BLOCK; policy <= SPINDLE_DLOG_LEAVE; policy++) {
		begin(1);
		fx.disk.most = 2;
		fx.log.config.policy = policy;
		CHECK_EQ(fill(), -ENOSPC);
		CHECK_EQ(spindle_dlog_state(&fx.log), SPINDLE_DLOG_FULL);
		CHECK_EQ(spindle_dlog_full(&fx.log), policy);
		CHECK_EQ(fx.log.map.low, FIRST);
		CHECK_EQ(spindle_dlog_trim(&fx.log, fx.log.persisted), 0);
		end_all();
		CHECK(spindle_dlog_state(&fx.log) != SPINDLE_DLOG_FULL);
		CHECK_EQ(append(1000, 1, 1), 0);
		end();
	}
}

static void test_ring(void)
{
	begin(1);
	fx.disk.most = 3;
	fx.log.config.policy = SPINDLE_DLOG_RING;
	CHECK_EQ(fill(), 0);
	CHECK(fx.log.map.low > FIRST && fx.log.persisted > FIRST + 60);
	CHECK_EQ(scan(), 0);
	CHECK(!fx.scan.n_damaged && fx.scan.map.low == fx.log.map.low);
	end();
}

static void test_epochs(void)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;
	u32 i;

	begin(1);
	for (i = 0; i < 12; i++) {
		CHECK_EQ(append(10, 1 + i / 4, 1000 * i), 0);
		spindle_dlog_commit(&fx.log, 1000 * i);
		end_all();
	}
	CHECK_EQ(scan(), 0);
	CHECK_EQ(fx.scan.n_epochs, 3);
	for (i = 0; i < 3; i++)
		CHECK(fx.epoch[i].vid == 1 + i && fx.epoch[i].lsn == FIRST + 4 * i);
	open_reader(&r, &fx.scan.map, FIRST);
	CHECK_EQ(spindle_dlog_find_time(&r, 6500), 0);
	CHECK_EQ(spindle_dlog_read(&r, &m), 1);
	CHECK(m.lsn == FIRST + 7 && m.time == 7000 && *(const u8 *)m.data == FIRST + 7);
	CHECK_EQ(spindle_dlog_find_time(&r, 99999), 0);
	CHECK_EQ(spindle_dlog_read(&r, &m), 0);
	end();
}

static void test_time(void)
{
	struct spindle_dlog_reader r;
	u32 i;

	begin(1);
	for (i = 0; i < 40; i++) {
		CHECK_EQ(append(10, 1, 1000 * i), 0);
		spindle_dlog_commit(&fx.log, 1000 * i);
		end_all();
	}
	CHECK(fx.log.map.n > 2);
	open_reader(&r, &fx.log.map, FIRST);
	for (i = 0; i < 40; i++) {
		CHECK_EQ(spindle_dlog_find_time(&r, 1000 * i), 0);
		CHECK_EQ(r.lsn, FIRST + i);
	}
	end();
}

static void test_trimmed(void)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;

	begin(1);
	write_frames(40);
	open_reader(&r, &fx.log.map, FIRST);
	CHECK_EQ(spindle_dlog_read(&r, &m), 1);
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 35), 0);
	end_all();
	CHECK_EQ(spindle_dlog_read(&r, &m), -ESTALE);
	spindle_dlog_seek(&r, FIRST + 35);
	CHECK_EQ(spindle_dlog_read(&r, &m), 1);
	CHECK_EQ(m.lsn, FIRST + 35);
	CHECK(fx.log.map.n < 3);
	end();
}

/* What the disk has of a log that has skipped, or will have. Return: whether it has. */
static bool has_skipped(u64 from, u64 to)
{
	CHECK_EQ(scan(), 0);
	CHECK(!fx.scan.n_damaged && !fx.scan.tail_damaged);
	if (fx.scan.next == from) {
		CHECK_EQ(fx.scan.map.low, FIRST);
		return false;
	}
	CHECK(fx.scan.map.low == to && fx.scan.next >= to);
	return true;
}

/* The log goes on at a later position, and has nothing in front of it. */
static void test_skip(void)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;

	begin(1);
	write_frames(40);
	CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 100), 0);
	CHECK_EQ(spindle_dlog_state(&fx.log), SPINDLE_DLOG_OPENING);
	CHECK_EQ(append(10, 1, 100), -EAGAIN);
	end_all();
	CHECK(fx.log.persisted == FIRST + 100 && fx.log.map.until == FIRST + 100);
	CHECK(has_skipped(FIRST + 40, FIRST + 100) && fx.scan.next == FIRST + 100);
	write_frames(5);
	CHECK(fx.log.map.n == 1 && fx.log.map.seg[0].lsn == FIRST + 100);
	open_reader(&r, &fx.log.map, FIRST + 39);
	CHECK_EQ(spindle_dlog_read(&r, &m), -ESTALE);
	spindle_dlog_seek(&r, FIRST + 100);
	CHECK_EQ(spindle_dlog_read(&r, &m), 1);
	CHECK_EQ(m.lsn, FIRST + 100);
	CHECK(has_skipped(FIRST + 40, FIRST + 100) && fx.scan.next == FIRST + 105);
	end();
}

/* A crash behind each operation leaves the log as it was, or one that has skipped. */
static void test_skip_crash(void)
{
	u32 ends, through, token, had, has;
	bool more;
	int err;

	for (through = 0; through < 2; through++) {
		had = 0;
		more = true;
		for (ends = 0; more; ends++) {
			u32 i;

			begin(1);
			fx.disk.port.through = through;
			write_frames(40);
			CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 100), 0);
			for (i = 0; i < ends && fx.disk.pending; i++) {
				token = disk_end(&fx.disk, 0, DISK_FINE, &err);
				spindle_dlog_done(&fx.log, token, err);
				if (fx.log.opened && fx.log.next < FIRST + 103 &&
				    !append(10, 1, 200))
					spindle_dlog_commit(&fx.log, 1);
			}
			more = i == ends;
			has = fx.log.persisted;
			disk_crash(&fx.disk, true, ends & 1 ? DISK_LOSE_ALL : DISK_LOSE_SOME);
			if (has_skipped(FIRST + 40, FIRST + 100)) {
				had++;
				CHECK(!fx.log.opened || fx.scan.next >= has);
			} else {
				CHECK(!fx.log.opened);
			}
			start(1);
			end_all();
			write_frames(3);
			CHECK_EQ(scan(), 0);
			CHECK(fx.scan.next == fx.log.next && !fx.scan.n_damaged);
			end();
		}
		CHECK(had > 3 && had < ends);
	}
}

static void test_skip_refused(void)
{
	begin(1);
	write_frames(3);
	CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 3), -EINVAL);
	CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 2), -EINVAL);
	CHECK_EQ(spindle_dlog_skip(&fx.log, UINT64_MAX), -EINVAL);
	CHECK_EQ(append(10, 1, 50), 0);
	CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 10), -EAGAIN);
	spindle_dlog_commit(&fx.log, 1);
	CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 10), -EAGAIN);
	end_all();
	CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 10), 0);
	CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 20), -EAGAIN);
	end_all();
	fx.log.failed = true;
	CHECK_EQ(spindle_dlog_skip(&fx.log, FIRST + 20), -EIO);
	end();
}

/* A reader with a scan of its own meets a segment that the writer has recycled. */
static void test_old_scan(void)
{
	struct spindle_dlog_segment seg[8];
	struct spindle_dlog_reader r;
	struct spindle_dlog_map map;
	struct spindle_dlog_msg m;

	begin(1);
	write_frames(40);
	CHECK_EQ(scan(), 0);
	map = fx.scan.map;
	memcpy(seg, fx.segment, sizeof(seg));
	map.seg = seg;
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 35), 0);
	end_all();
	open_reader(&r, &map, FIRST);
	CHECK_EQ(spindle_dlog_read(&r, &m), -ESTALE);
	end();
}

static void test_bounds(void)
{
	begin(1);
	write_frames(40);
	scan();
	fx.scan.max_files = 1;
	fx.scan.leftovers = 0;
	CHECK_EQ(spindle_dlog_recover(&fx.scan), -E2BIG);
	scan();
	fx.scan.map.n = 0;
	fx.scan.map.max = 1;
	CHECK_EQ(spindle_dlog_recover(&fx.scan), -E2BIG);
	fx.scan.id.frame = 2 * BUFFER;
	CHECK_EQ(spindle_dlog_recover(&fx.scan), -EINVAL);
	end();
}

static void test_meta(void)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_META };
	u32 i;

	begin(1);
	write_frames(20);
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 5), 0);
	end_all();
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.number == 2 && fx.scan.map.low == FIRST + 5);
	for (i = 0; i < 2; i++) {
		name.id = i;
		disk_find(&fx.disk, name)->platter[60] ^= 1;
		CHECK_EQ(scan(), i ? -EUCLEAN : 0);
		CHECK(i || (fx.scan.number == 1 && fx.scan.map.low == FIRST));
	}
	end();
}

/*
 * The life before has left a segment without frames. It loses its number, and then the newest meta
 * block is lost, which has said that the number was used.
 */
static void test_number(void)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_META };
	u32 i, steps, token, lost = 0;
	bool all = false;
	int err;

	for (steps = 0; steps < 100 && !all; steps++) {
		begin(1);
		write_frames(20);
		disk_crash(&fx.disk, false, DISK_LOSE_NONE);
		start(1);
		CHECK_EQ(fx.scan.seq, 3);
		for (i = 0; i < steps && fx.disk.pending; i++) {
			token = disk_end(&fx.disk, 0, DISK_FINE, &err);
			spindle_dlog_done(&fx.log, token, err);
		}
		all = !fx.disk.pending;
		disk_crash(&fx.disk, false, DISK_LOSE_ALL);
		CHECK_EQ(scan(), 0);
		name.id = fx.scan.number & 1;
		if (fx.scan.number == 2) {
			disk_find(&fx.disk, name)->platter[60] ^= 1;
			CHECK_EQ(scan(), 0);
			CHECK_EQ(fx.scan.number, 1);
			lost++;
		}
		CHECK(fx.scan.seq >= 3);
		end();
	}
	CHECK(all && lost);
}

/* Cut the log, but let only the first @steps operations end. Return: how many there were. */
static u32 cut(u64 lsn, u32 steps)
{
	struct spindle_dlog_cut c = { .meta = fx.meta, .buf = fx.slot[0] };
	u32 n = 0;
	int err;

	CHECK_EQ(scan(), 0);
	CHECK_EQ(spindle_dlog_cut(&c, &fx.scan, lsn), 0);
	while (fx.disk.pending && n < steps) {
		disk_end(&fx.disk, 0, DISK_FINE, &err);
		CHECK_EQ(spindle_dlog_cut_done(&c, err), 0);
		n++;
	}
	CHECK_EQ(c.step == SPINDLE_DLOG_CUT_DONE, !fx.disk.pending);
	return n;
}

/* Segments of frames with three messages each, and a mark. Return: the end. */
static u64 write_threes(u32 frames)
{
	u32 i;

	while (frames--) {
		for (i = 0; i < 3; i++)
			CHECK_EQ(append(40, 1, fx.log.next), 0);
		spindle_dlog_commit(&fx.log, 0);
		end_all();
	}
	spindle_dlog_mark(&fx.log, 0);
	end_all();
	return fx.log.next;
}

/* All messages up to the end are as append() has made them. */
static bool is_all_there(u64 end)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;
	u64 lsn = fx.scan.map.low;

	open_reader(&r, &fx.scan.map, lsn);
	while (spindle_dlog_read(&r, &m) == 1) {
		if (m.lsn != lsn || m.slot != lsn || m.len != 40 ||
		    *(const u8 *)m.data != (u8)lsn)
			return false;
		lsn++;
	}
	return lsn == end && fx.scan.next == end && !fx.scan.n_damaged;
}

/* A cut at each position, in frames and between them, in each of several segments. */
static void test_cut_at(void)
{
	u64 lsn, last;

	for (lsn = FIRST; lsn <= FIRST + 120; lsn++) {
		begin(1);
		last = write_threes(40);
		CHECK(fx.log.map.n > 2);
		CHECK_EQ(cut(lsn, ~0U) > 3, lsn < last);
		CHECK_EQ(scan(), 0);
		CHECK(is_all_there(lsn));
		CHECK_EQ(fx.scan.acked, lsn);
		start(1);
		end_all();
		CHECK_EQ(write_threes(3), lsn + 9);
		CHECK_EQ(scan(), 0);
		CHECK(is_all_there(lsn + 9));
		end();
	}
}

/* A crash behind each operation, and what was not synced is lost. Then the same call again. */
static void test_cut_crash(void)
{
	u64 last, lsn = FIRST + 61;
	u32 steps, all = ~0U, through;

	for (through = 0; through < 2; through++)
		for (steps = 0, all = ~0U; steps <= all; steps++) {
			begin(1);
			fx.disk.port.through = through;
			last = write_threes(40);
			all = all == ~0U ? cut(lsn, ~0U) : all;
			if (steps)
				cut(lsn, steps - 1);
			disk_crash(&fx.disk, true, DISK_LOSE_ALL);
			CHECK_EQ(scan(), 0);
			CHECK(is_all_there(last) || is_all_there(lsn));
			cut(lsn, ~0U);
			disk_crash(&fx.disk, true, DISK_LOSE_ALL);
			CHECK_EQ(scan(), 0);
			CHECK(is_all_there(lsn));
			end();
		}
}

/* A log whose end is here now, whatever crash follows, and which goes on there. */
static void expect_end_at(u64 lsn)
{
	disk_crash(&fx.disk, true, DISK_LOSE_ALL);
	CHECK_EQ(scan(), 0);
	CHECK(is_all_there(lsn));
	start(1);
	end_all();
	CHECK_EQ(write_threes(3), lsn + 9);
	disk_crash(&fx.disk, true, DISK_LOSE_ALL);
	CHECK_EQ(scan(), 0);
	CHECK(is_all_there(lsn + 9));
	end();
}

static u64 newest_segment(void)
{
	if (!CHECK(fx.scan.map.n))
		return 0;
	return fx.scan.map.seg[fx.scan.map.n - 1].seq;
}

/*
 * One of the two frames of the segment that cuts is hurt. Without the first one all is there. The
 * second one may have a copy, which is damaged then.
 */
static void hurt_each_frame(u64 lsn)
{
	u64 base = lsn - (lsn - FIRST) % 3, seq = newest_segment();

	bytes_at(seq, 0)[200] ^= 1;
	CHECK_EQ(scan(), 0);
	CHECK(is_all_there(lsn));
	bytes_at(seq, 0)[200] ^= 1;
	bytes_at(seq, BLOCK)[200] ^= 1;
	CHECK_EQ(scan(), 0);
	CHECK_EQ(fx.scan.next, lsn);
	CHECK_EQ(fx.scan.n_damaged, lsn != base);
	bytes_at(seq, BLOCK)[200] ^= 1;
}

/* Each of two frames says where the log was cut. */
static void test_cut_hurt(void)
{
	u64 lsn;

	for (lsn = FIRST + 58; lsn < FIRST + 64; lsn++) {
		begin(1);
		write_threes(40);
		cut(lsn, ~0U);
		CHECK_EQ(scan(), 0);
		hurt_each_frame(lsn);
		expect_end_at(lsn);
	}
}

/* The crash came between the two frames, and the same call again brings the first one. */
static void test_cut_half(void)
{
	u64 lsn, seq;
	u32 through;

	for (lsn = FIRST + 58; lsn < FIRST + 64; lsn++)
		for (through = 0; through < 2; through++) {
			begin(1);
			fx.disk.port.through = through;
			write_threes(40);
			cut(lsn, ~0U);
			CHECK_EQ(scan(), 0);
			seq = newest_segment();
			memset(bytes_at(seq, 0), 0, BLOCK);
			CHECK_EQ(scan(), 0);
			CHECK_EQ(newest_segment(), seq);
			CHECK_EQ(cut(lsn, ~0U), through ? 4 : 5);
			disk_crash(&fx.disk, true, DISK_LOSE_ALL);
			CHECK_EQ(scan(), 0);
			CHECK_EQ(newest_segment(), seq);
			hurt_each_frame(lsn);
			CHECK_EQ(cut(lsn, ~0U), 3);
			expect_end_at(lsn);
		}
}

/* End all operations but writes of frames. */
static void end_chores(void)
{
	struct disk_op *p;
	u32 token, i = 0;
	int err;

	while (i < fx.disk.pending) {
		p = disk_pending(&fx.disk, i);
		if (p->op.what == SPINDLE_DLOG_WRITE && p->op.file.kind == SPINDLE_DLOG_SEGMENT) {
			i++;
			continue;
		}
		token = disk_end(&fx.disk, i, DISK_FINE, &err);
		spindle_dlog_done(&fx.log, token, err);
	}
}

/*
 * The log is trimmed where it was cut. A crash may bring back the names of segments that were
 * recycled, so the one that cuts keeps its own until the next one has a frame.
 */
static void test_cut_recycled(void)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT };

	begin(1);
	write_frames(20);
	cut(FIRST + 2, ~0U);
	CHECK_EQ(scan(), 0);
	name.id = newest_segment();
	start(1);
	end_all();
	CHECK_EQ(append(40, 1, 1), 0);
	spindle_dlog_commit(&fx.log, 1);
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 2), 0);
	end_chores();
	CHECK_EQ(fx.disk.pending, 1);
	CHECK(disk_find(&fx.disk, name));
	end_all();
	CHECK(!disk_find(&fx.disk, name));
	CHECK_EQ(fx.log.map.n, 1);
	end();
}

/* A crash has left a file of a meta block that is shorter. It is made again. */
static void test_cut_short_file(void)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_META };

	for (name.id = 0; name.id < 2; name.id++) {
		begin(1);
		write_threes(40);
		CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 3), 0);
		end_all();
		CHECK_EQ(scan(), 0);
		/* The file of the older block. The newer one says what the log is. */
		if ((fx.scan.number & 1) == name.id)
			CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 6), 0);
		end_all();
		disk_find(&fx.disk, name)->bytes = BLOCK - DISK_SECTOR;
		cut(FIRST + 61, ~0U);
		CHECK_EQ(disk_find(&fx.disk, name)->bytes, BLOCK);
		expect_end_at(FIRST + 61);
	}
}

/* Damaged messages below the cut stay damaged, and those behind it are gone. */
static void test_cut_damaged(void)
{
	begin(1);
	write_threes(40);
	bytes_at(0, 3 * BLOCK)[200] ^= 1;
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.n_damaged == 1 && fx.damaged[0].to == fx.damaged[0].from + 3);
	cut(fx.damaged[0].to + 4, ~0U);
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.n_damaged == 1 && !fx.scan.tail_damaged);
	cut(fx.damaged[0].from + 1, ~0U);
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.n_damaged == 1 && fx.damaged[0].to == fx.damaged[0].from + 1);
	CHECK(fx.scan.tail_damaged && fx.scan.next == fx.damaged[0].to);
	cut(fx.damaged[0].from, ~0U);
	CHECK_EQ(scan(), 0);
	CHECK(!fx.scan.n_damaged && !fx.scan.tail_damaged);
	end();
}

/* A log that was trimmed above the cut is empty. */
static void test_cut_trimmed(void)
{
	begin(1);
	write_threes(40);
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 70), 0);
	end_all();
	cut(FIRST + 80, ~0U);
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.map.low == FIRST + 70 && is_all_there(FIRST + 80));
	cut(FIRST + 5, ~0U);
	CHECK_EQ(scan(), 0);
	CHECK(fx.scan.map.low == FIRST + 5 && fx.scan.next == FIRST + 5 && !fx.scan.n_epochs);
	start(1);
	end_all();
	CHECK_EQ(write_threes(1), FIRST + 8);
	CHECK_EQ(scan(), 0);
	CHECK(is_all_there(FIRST + 8));
	end();
}

/* What a cut has left is used again, and a damaged meta block brings nothing back. */
static void test_cut_twice(void)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_META };

	for (name.id = 0; name.id < 2; name.id++) {
		begin(1);
		write_threes(40);
		cut(FIRST + 50, ~0U);
		cut(FIRST + 20, ~0U);
		disk_find(&fx.disk, name)->platter[60] ^= 1;
		CHECK_EQ(scan(), 0);
		CHECK(is_all_there(FIRST + 20));
		start(1);
		end_all();
		CHECK_EQ(scan(), 0);
		CHECK(is_all_there(FIRST + 20) && fx.scan.map.n <= 5);
		end();
	}
}

static void test_cut_refused(void)
{
	struct spindle_dlog_cut c = { .meta = fx.meta, .buf = fx.slot[0] };
	u32 i, left = 0;

	begin(1);
	write_threes(40);
	CHECK_EQ(scan(), 0);
	fx.scan.map.max = fx.scan.map.n;
	CHECK_EQ(spindle_dlog_cut(&c, &fx.scan, FIRST), -E2BIG);
	CHECK_EQ(spindle_dlog_cut(&c, &fx.scan, fx.scan.next), 0);
	CHECK(c.is_cut && fx.disk.pending);
	disk_crash(&fx.disk, false, DISK_LOSE_NONE);
	cut(FIRST + 3, ~0U);
	CHECK_EQ(scan(), 0);
	for (i = 0; i < fx.scan.leftovers; i++)
		left += fx.scan.file[i].kind == SPINDLE_DLOG_SEGMENT;
	CHECK(left);
	fx.scan.map.max = fx.scan.map.n + left;
	CHECK_EQ(spindle_dlog_cut(&c, &fx.scan, FIRST), -E2BIG);
	fx.scan.map.max++;
	CHECK_EQ(spindle_dlog_cut(&c, &fx.scan, FIRST), 0);
	disk_crash(&fx.disk, false, DISK_LOSE_NONE);
	fx.scan.is_new = true;
	CHECK_EQ(spindle_dlog_cut(&c, &fx.scan, FIRST), -EINVAL);
	end();
}

/* A scan with little memory has the oldest epochs, or the newest ones. */
static void test_newest_epochs(void)
{
	u32 i, n;

	begin(1);
	for (i = 0; i < 12; i++) {
		CHECK_EQ(append(40, 1 + i, 0), 0);
		spindle_dlog_commit(&fx.log, 0);
		end_all();
	}
	for (n = 0; n < 2; n++) {
		fx.scan.newest = n;
		CHECK_EQ(scan(), 0);
		CHECK_EQ(fx.scan.n_epochs, 12);
		for (i = 0; i < 8; i++)
			CHECK(fx.epoch[i].vid == 1 + i + 4 * n);
	}
	end();
}

/* Frames of one message in a segment: one block is the head. */
#define EACH (SEGMENT / BLOCK - 1)

/* The epochs of a later scan are those of the earlier one, unless that has dropped some of them. */
static void test_epochs_since(void)
{
	struct spindle_dlog_segment segment[8];
	struct spindle_dlog_file file[DISK_FILES];
	struct spindle_dlog_epoch epoch[8];
	struct spindle_dlog_range damaged[8];
	struct spindle_dlog_scan since;
	u32 i, n;

	begin(1);
	for (i = 0; i < 2 * EACH; i++) {
		CHECK_EQ(append(40, 1 + i * 12 / (2 * EACH), 0), 0);
		spindle_dlog_commit(&fx.log, 0);
		end_all();
	}
	for (n = 0; n < 2; n++) {
		fx.scan.newest = n;
		CHECK_EQ(scan(), 0);
		CHECK(fx.scan.map.n > 1 && fx.scan.n_epochs == 12 && fx.scan.resume.n_epochs);
		since = (struct spindle_dlog_scan){
			.port = &fx.disk.port, .window = { .buf = fx.window[1], .size = BUFFER },
			.file = file, .max_files = DISK_FILES, .damaged = damaged,
			.max_damaged = 8, .epoch = epoch, .max_epochs = 8, .newest = n,
			.id = { .frame = FRAME }, .map = { .seg = segment, .max = 8 },
		};
		CHECK_EQ(spindle_dlog_recover_since(&since, &fx.scan), n ? -EAGAIN : 0);
		CHECK(n || (since.n_epochs == 12 && !memcmp(epoch, fx.epoch, sizeof(epoch))));
	}
	end();
}

/* ---- repair ------------------------------------------------------------------ */

/* A log of four segments, and what the scan of its next life finds behind @hurt. */
static void begin_damaged(void (*hurt)(void), u32 ranges)
{
	begin(1);
	write_frames(4 * EACH);
	spindle_dlog_mark(&fx.log, 0);
	end_all();
	disk_crash(&fx.disk, false, DISK_LOSE_NONE);
	hurt();
	fx.config.go_on = true;
	start(1);
	CHECK_EQ(fx.scan.n_damaged, ranges);
	end_all();
	spindle_dlog_repair_init(&fx.repair, &fx.log, FRAME, fx.window[2], fx.fix_buf);
	fx.repair.reader.window.size = BUFFER;
}

/* Bring what the repair wants, with messages of @len bytes, up to the position @to. */
static void bring(u32 len, u64 to)
{
	static u8 data[FRAME];
	struct spindle_dlog_msg m = { .era = 1, .vid = 1, .len = len, .data = data };
	int err;

	while (fx.repair.step == SPINDLE_DLOG_REPAIR_WANT && fx.repair.next < to) {
		m.lsn = fx.repair.next;
		m.slot = m.lsn;
		memset(data, (u8)m.lsn, sizeof(data));
		err = spindle_dlog_repair_give(&fx.repair, &m);
		if (err)
			CHECK_EQ(err, -EAGAIN);
		end_all();
	}
}

/* Return: step at the end. */
static u32 repair(u64 from, u32 len)
{
	u32 n;

	CHECK_EQ(spindle_dlog_repair_begin(&fx.repair, from), 0);
	for (n = 0; n < 1000 && fx.repair.step < SPINDLE_DLOG_REPAIR_DONE; n++) {
		end_all();
		spindle_dlog_repair_work(&fx.repair);
		bring(len, UINT64_MAX);
	}
	return fx.repair.step;
}

/* Each message from here on, in the map of the writer and in that of a scan. */
static void expect_whole(u64 from, u64 to)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;
	u64 lsn;
	u32 i;

	disk_crash(&fx.disk, true, DISK_LOSE_ALL);
	CHECK_EQ(scan(), 0);
	CHECK_EQ(fx.scan.n_damaged, 0);
	CHECK_EQ(fx.scan.next, FIRST + 4 * EACH);
	open_reader(&r, &fx.scan.map, from);
	for (lsn = from; lsn < to; lsn++) {
		CHECK_EQ(spindle_dlog_read(&r, &m), 1);
		CHECK(m.lsn == lsn && m.slot == lsn && m.vid == 1);
		for (i = 0; i < m.len; i++)
			CHECK_EQ(((const u8 *)m.data)[i], (u8)lsn);
	}
	end();
}

static void hurt_middle(void)
{
	memset(bytes_at(1, 4 * BLOCK), 1, 3 * BLOCK);
	bytes_at(1, 9 * BLOCK)[100] ^= 1;
}

static void test_fix_middle(void)
{
	begin_damaged(hurt_middle, 2);
	CHECK_EQ(repair(fx.damaged[0].from, 40), SPINDLE_DLOG_REPAIR_DONE);
	CHECK_EQ(fx.repair.next, FIRST + 2 * EACH);
	CHECK_EQ(fx.log.map.n, 5);
	expect_whole(FIRST, FIRST + 4 * EACH);
}

/* The new file begins where the log does. */
static void test_fix_trimmed(void)
{
	begin_damaged(hurt_middle, 2);
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + EACH + 1), 0);
	end_all();
	CHECK_EQ(repair(fx.damaged[0].from, 40), SPINDLE_DLOG_REPAIR_DONE);
	CHECK_EQ(fx.repair.base, FIRST + EACH + 1);
	expect_whole(FIRST + EACH + 1, FIRST + 4 * EACH);
}

/* Whole records of a segment are never given up for those that come. */
static void test_fix_too_long(void)
{
	begin_damaged(hurt_middle, 2);
	CHECK_EQ(repair(fx.damaged[0].from, 1800), SPINDLE_DLOG_REPAIR_FAILED);
	CHECK_EQ(fx.repair.err, -ENOSPC);
	disk_crash(&fx.disk, true, DISK_LOSE_ALL);
	CHECK_EQ(scan(), 0);
	CHECK_EQ(fx.scan.n_damaged, 2);
	CHECK_EQ(fx.damaged[0].to - fx.damaged[0].from, 3);
	end();
}

static void remove_segment(u64 seq)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_SEGMENT, .id = seq };

	disk_find(&fx.disk, name)->used = false;
}

static void hurt_file(void)
{
	remove_segment(1);
	memset(bytes_at(0, 10 * BLOCK), 1, 6 * BLOCK);
}

/* The first segment has room for some of the range, and a new one gets the rest. */
static void repair_rest(u64 from, u64 to, u32 len)
{
	u32 n = 0;

	while (from < to && n++ < 20) {
		if (!CHECK_EQ(repair(from, len), SPINDLE_DLOG_REPAIR_DONE))
			return;
		CHECK(n == 1 || fx.repair.next > from);
		from = fx.repair.next;
	}
	CHECK_EQ(from, to);
	CHECK(n > 1);
}

static void test_fix_file(void)
{
	begin_damaged(hurt_file, 1);
	CHECK_EQ(fx.damaged[0].to, FIRST + 2 * EACH);
	repair_rest(fx.damaged[0].from, fx.damaged[0].to, 200);
	CHECK_EQ(fx.log.map.n, 5);
	expect_whole(FIRST, FIRST + 4 * EACH);
}

static void hurt_all_of_two(void)
{
	memset(bytes_at(1, 0), 0, SEGMENT);
	memset(bytes_at(2, 0), 0, SEGMENT);
	bytes_at(0, 15 * BLOCK)[50] ^= 4;
}

static void test_fix_lost(void)
{
	begin_damaged(hurt_all_of_two, 1);
	CHECK_EQ(fx.damaged[0].from, FIRST + EACH - 1);
	CHECK_EQ(fx.damaged[0].to, FIRST + 3 * EACH);
	repair_rest(fx.damaged[0].from, fx.damaged[0].to, 200);
	expect_whole(FIRST, FIRST + 4 * EACH);
}

static void hurt_first(void)
{
	remove_segment(0);
}

static void test_fix_first(void)
{
	begin(1);
	end();
	begin_damaged(hurt_middle, 2);
	disk_crash(&fx.disk, false, DISK_LOSE_NONE);
	hurt_first();
	start(1);
	end_all();
	spindle_dlog_repair_init(&fx.repair, &fx.log, FRAME, fx.window[2], fx.fix_buf);
	fx.repair.reader.window.size = BUFFER;
	/* There is no number below the segment behind it but 0, and that is free. */
	CHECK_EQ(fx.damaged[0].from, FIRST);
	CHECK_EQ(repair(FIRST, 40), SPINDLE_DLOG_REPAIR_DONE);
	CHECK_EQ(fx.log.map.seg[0].seq, 0);
	CHECK_EQ(repair(FIRST + EACH + 3, 40), SPINDLE_DLOG_REPAIR_DONE);
	expect_whole(FIRST, FIRST + 4 * EACH);
}

/* The newest segments are gone, and the meta block says what they had. */
static void hurt_end(void)
{
	struct spindle_dlog_file name = { .kind = SPINDLE_DLOG_META, .id = 0 };
	struct spindle_dlog_meta_state state;
	struct spindle_dlog_ident id;
	u8 *meta;

	if (fx.log.number & 1)
		name.id = 1;
	meta = disk_find(&fx.disk, name)->platter;
	CHECK(!spindle_dlog_meta_parse(meta, &id, &state));
	state.acked = FIRST + 4 * EACH;
	state.seq = 2;
	spindle_dlog_meta_build(meta, &id, &state);
	for (name.kind = SPINDLE_DLOG_SEGMENT, name.id = 2; name.id < 10; name.id++)
		if (disk_find(&fx.disk, name))
			remove_segment(name.id);
}

static void test_fix_end(void)
{
	begin_damaged(hurt_end, 1);
	CHECK(fx.scan.tail_damaged);
	CHECK_EQ(fx.damaged[0].from, FIRST + 2 * EACH);
	repair_rest(fx.damaged[0].from, fx.damaged[0].to, 200);
	expect_whole(FIRST, FIRST + 4 * EACH);
}

/* A reader that is in the segment finds its place in the new file. */
static void test_fix_reader(void)
{
	struct spindle_dlog_reader r;
	struct spindle_dlog_msg m;
	u64 lsn;

	begin_damaged(hurt_middle, 2);
	open_reader(&r, &fx.log.map, FIRST + EACH + 7);
	CHECK_EQ(spindle_dlog_read(&r, &m), 1);
	/* Longer messages move the frames behind them. */
	CHECK_EQ(repair(fx.damaged[0].from, 1), SPINDLE_DLOG_REPAIR_DONE);
	for (lsn = FIRST + EACH + 8; lsn < FIRST + 3 * EACH; lsn++) {
		CHECK_EQ(spindle_dlog_read(&r, &m), 1);
		CHECK(m.lsn == lsn && m.slot == lsn);
	}
	end();
}

/* A write that the disk loses in silence ends the repair, and the segment stays. */
static void test_fix_astray(void)
{
	int err;

	begin_damaged(hurt_middle, 2);
	CHECK_EQ(spindle_dlog_repair_begin(&fx.repair, fx.damaged[0].from), 0);
	end_all();
	spindle_dlog_repair_work(&fx.repair);
	CHECK_EQ(fx.repair.step, SPINDLE_DLOG_REPAIR_WRITE);
	disk_end(&fx.disk, 0, DISK_NOWHERE, &err);
	spindle_dlog_repair_done(&fx.repair, err);
	CHECK_EQ(fx.repair.step, SPINDLE_DLOG_REPAIR_FAILED);
	CHECK_EQ(fx.repair.err, -EIO);
	CHECK_EQ(repair(fx.damaged[0].from, 40), SPINDLE_DLOG_REPAIR_DONE);
	expect_whole(FIRST, FIRST + 4 * EACH);
}

/* A message of an earlier or of another place is refused, and a range that was trimmed ends. */
static void test_fix_refused(void)
{
	struct spindle_dlog_msg m = { .era = 1, .vid = 0, .data = "" };

	begin_damaged(hurt_middle, 2);
	CHECK_EQ(spindle_dlog_repair_give(&fx.repair, &m), -EAGAIN);
	CHECK_EQ(spindle_dlog_repair_begin(&fx.repair, FIRST + 4 * EACH), -ESTALE);
	CHECK_EQ(spindle_dlog_repair_begin(&fx.repair, fx.damaged[0].from), 0);
	while (fx.repair.step != SPINDLE_DLOG_REPAIR_WANT) {
		end_all();
		spindle_dlog_repair_work(&fx.repair);
	}
	m.lsn = fx.repair.next;
	CHECK_EQ(spindle_dlog_repair_give(&fx.repair, &m), -EBADMSG);
	m.vid = 1;
	m.lsn++;
	CHECK_EQ(spindle_dlog_repair_give(&fx.repair, &m), -EBADMSG);
	CHECK_EQ(fx.repair.next, fx.damaged[0].from);
	CHECK_EQ(spindle_dlog_trim(&fx.log, FIRST + 3 * EACH), 0);
	end_all();
	bring(40, UINT64_MAX);
	end_all();
	spindle_dlog_repair_work(&fx.repair);
	CHECK_EQ(fx.repair.step, SPINDLE_DLOG_REPAIR_FAILED);
	CHECK_EQ(fx.repair.err, -ESTALE);
	end();
}

/* A segment that was repaired is cut like any other. */
static void test_fix_cut(void)
{
	u64 lsn;

	for (lsn = FIRST + EACH; lsn <= FIRST + 2 * EACH; lsn++) {
		begin_damaged(hurt_middle, 2);
		CHECK_EQ(repair(fx.damaged[0].from, 40), SPINDLE_DLOG_REPAIR_DONE);
		disk_crash(&fx.disk, false, DISK_LOSE_NONE);
		cut(lsn, ~0U);
		expect_end_at(lsn);
	}
}

/* Repair up to this step, whose operation has not ended. */
static void repair_up_to(u64 from, u32 step)
{
	u32 n;
	int err;

	CHECK_EQ(spindle_dlog_repair_begin(&fx.repair, from), 0);
	for (n = 0; n < 1000 && fx.repair.step != step; n++) {
		if (fx.disk.pending) {
			CHECK_EQ(disk_end(&fx.disk, 0, DISK_FINE, &err),
				 SPINDLE_DLOG_TOKEN_REPAIR);
			spindle_dlog_repair_done(&fx.repair, err);
		}
		spindle_dlog_repair_work(&fx.repair);
		bring(40, UINT64_MAX);
	}
	CHECK_EQ(fx.repair.step, step);
}

/* What a repair has written of a segment does not come back, if the segment is cut away. */
static void test_fix_cut_away(void)
{
	static const u32 steps[] = {
		SPINDLE_DLOG_REPAIR_SYNC, SPINDLE_DLOG_REPAIR_REPLACE,
		SPINDLE_DLOG_REPAIR_NAMES, SPINDLE_DLOG_REPAIR_DONE,
	};
	u32 i;

	for (i = 0; i < 8; i++) {
		begin_damaged(hurt_middle, 2);
		repair_up_to(fx.damaged[0].from, steps[i / 2]);
		disk_crash(&fx.disk, i % 2, DISK_LOSE_ALL);
		cut(FIRST + 7, ~0U);
		expect_end_at(FIRST + 7);
	}
}

/* A damaged range that a cut has made shorter is repaired up to the cut. */
static void test_fix_of_cut(void)
{
	u64 from, lsn;

	begin_damaged(hurt_middle, 2);
	from = fx.damaged[0].from;
	lsn = from + 1;
	disk_crash(&fx.disk, false, DISK_LOSE_NONE);
	cut(lsn, ~0U);
	start(1);
	end_all();
	CHECK(fx.scan.n_damaged == 1 && fx.damaged[0].to == lsn);
	CHECK_EQ(write_threes(20), lsn + 60);
	spindle_dlog_repair_init(&fx.repair, &fx.log, FRAME, fx.window[2], fx.fix_buf);
	fx.repair.reader.window.size = BUFFER;
	CHECK_EQ(repair(from, 40), SPINDLE_DLOG_REPAIR_DONE);
	CHECK_EQ(fx.repair.next, lsn);
	expect_end_at(lsn + 60);
}

static const struct tap_case cases[] = {
	{ "CRC-32C is that of a bitwise sum, by table and by instruction", test_crc },
	{ "a frame gives its records back, and no bit of it may change", test_frame },
	{ "fields of a header that contradict each other are refused", test_fields },
	{ "a frame that does not follow the one before is damaged", test_chain },
	{ "a last frame is torn unless another member knows it to be durable", test_torn },
	{ "a mark makes a last frame that does not check a damaged one", test_mark },
	{ "a frame that ends early waits for those before it", test_order },
	{ "a frame that was cut off does not come back", test_cut_off },
	{ "a frame that was cut and checks again does not come back", test_healed },
	{ "the last segment cannot be scanned if it cannot be read", test_unreadable },
	{ "what a write astray has hidden comes back before the next message", test_hidden },
	{ "what no sync has covered is not reported when a log opens", test_opening },
	{ "messages that do not follow, are old, or are long are refused", test_refused },
	{ "a write that fails ends the log", test_failed },
	{ "a full log blocks or leaves, and a trim makes room", test_full },
	{ "a full ring drops its oldest segment", test_ring },
	{ "a scan lists epochs, and a reader finds a time", test_epochs },
	{ "a reader finds each time in several segments", test_time },
	{ "a reader below the trimmed position is told so", test_trimmed },
	{ "a log skips to a later position, and has nothing in front", test_skip },
	{ "a crash leaves a log that has skipped, or as it was", test_skip_crash },
	{ "a skip waits for what is not durable", test_skip_refused },
	{ "a reader with an old scan finds its file gone", test_old_scan },
	{ "a scan stays inside the memory that it has", test_bounds },
	{ "two meta blocks take turns, and one is enough", test_meta },
	{ "a number is not used twice, also if the newest meta block is lost", test_number },
	{ "a log is cut at any position, and goes on there", test_cut_at },
	{ "a crash in a cut leaves the log as it was, or cut", test_cut_crash },
	{ "each of two frames says where a log was cut", test_cut_hurt },
	{ "the same cut again brings the frame that a crash has lost", test_cut_half },
	{ "a segment that cuts stays until the next one has a frame", test_cut_recycled },
	{ "a cut makes a file of a meta block again that is too short", test_cut_short_file },
	{ "a cut keeps what is damaged in front of it", test_cut_damaged },
	{ "a log that was trimmed above a cut is empty", test_cut_trimmed },
	{ "a log is cut twice, and a damaged meta block brings nothing back", test_cut_twice },
	{ "a cut is refused without room, and does nothing at the end", test_cut_refused },
	{ "a scan lists the newest epochs, if the caller wants those", test_newest_epochs },
	{ "a later scan has the epochs of the earlier one", test_epochs_since },
	{ "two ranges of a segment are repaired at once", test_fix_middle },
	{ "a segment that is trimmed in part is repaired in part", test_fix_trimmed },
	{ "a range that does not fit stays damaged, and nothing else is lost", test_fix_too_long },
	{ "a segment that is gone is made again", test_fix_file },
	{ "segments without a frame that checks are made again", test_fix_lost },
	{ "a first segment that is gone is made again", test_fix_first },
	{ "the end of a log is repaired, with segments that are gone", test_fix_end },
	{ "a reader goes on in a segment that is replaced under it", test_fix_reader },
	{ "a write of a repair that goes astray changes nothing", test_fix_astray },
	{ "a repair refuses what does not follow, and what was trimmed", test_fix_refused },
	{ "a segment that was repaired is cut", test_fix_cut },
	{ "a segment that is cut away does not come back by its repair", test_fix_cut_away },
	{ "a range that was cut is repaired up to the cut", test_fix_of_cut },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
