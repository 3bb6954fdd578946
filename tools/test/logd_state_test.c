// SPDX-License-Identifier: GPL-2.0-only
/*
 * What spindle-logd keeps for a restart: the group file, the votes, reports made of files, and the
 * entry into a view. Logs are in real directories. A crash is a copy of the files in between.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/spindle_genl.h>

#include "common/live.h"
#include "logd/cut.h"
#include "logd/pair.h"
#include "logd/state-files.h"
#include "tap.h"

#define HEX	"000102030405060708090a0b0c0d0e0f"
#define SEGMENT	(1U << 20)
#define FRAME	(256U << 10)
#define SEGS	64U

static char base[64];
static struct logd_state s;
static struct spindle_restart_report report;

/* ---- a view, and logs --------------------------------------------------------------- */

static struct ctl_subgroup subgroup(uint32_t id, bool logged)
{
	struct ctl_subgroup sg = { .line = 0 };

	sg.val[CTL_SG_ID] = ctl_val_num(id);
	sg.val[CTL_SG_NAME] = (struct ctl_val){ .set = true, .str = "with \"quotes\" # and\n" };
	sg.val[CTL_SG_WINDOW] = ctl_val_num(16);
	sg.val[CTL_SG_MAX_MSG] = ctl_val_num(4096);
	if (logged) {
		sg.val[CTL_SG_LOG] = ctl_val_num(1);
		sg.val[CTL_SG_ACK] = ctl_val_num(SPINDLE_ACK_MAJORITY);
	}
	return sg;
}

/* A view of nodes 1 to @members, as the kernel shows it: subgroup 3 has logs, 4 has none. */
static struct ctl_view running(uint64_t vid, const char *lineage, unsigned int members)
{
	struct ctl_view v = { .is_live = true };
	struct ctl_member *m;
	unsigned int i;

	v.vid = ctl_val_num(vid);
	v.lineage = (struct ctl_val){ .set = true, .str = lineage };
	for (i = 1; i <= members; i++) {
		m = CTL_ADD(v.member, v.members);
		*m = (struct ctl_member){ .id = i, .has_port = true,
					  .port = (uint16_t)(7000 + i) };
		m->addr.family = AF_INET;
		memcpy(m->addr.ip, (uint8_t[]){ 10, 0, 0, (uint8_t)i }, 4);
	}
	*CTL_ADD(v.subgroup, v.subgroups) = subgroup(3, true);
	*CTL_ADD(v.subgroup, v.subgroups) = subgroup(4, false);
	return v;
}

static const char *in(const char *name)
{
	static char path[4][128];
	static unsigned int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", base, name);
	return path[i];
}

static void op_done(void *arg, uint32_t token, int err)
{
	if (err)
		die("an operation fails: %s", strerror(-err));
	spindle_dlog_done(arg, token, err);
}

static void *block(size_t bytes)
{
	return aligned_alloc(LOGD_BLOCK, bytes);
}

/* Write a log: positions to 10 are of view (0, 1), then @more of view (@era, 2). */
static void write_log_of(uint32_t id, uint64_t era, uint64_t more)
{
	const char *path = in(id == 3 ? "1/3" : "1/4");
	struct spindle_dlog_config c = { .depth = 1, .spares = 1 };
	struct spindle_dlog_segment seg[SEGS];
	struct spindle_dlog_file file[SEGS];
	struct spindle_dlog_scan sc = {
		.file = file, .max_files = SEGS, .map = { .seg = seg, .max = SEGS },
		.id.frame = FRAME, .window = { .buf = block(FRAME), .size = FRAME },
	};
	static const uint8_t long_one[60000];
	struct spindle_dlog_msg m = { .len = 5, .data = "12345" };
	struct spindle_dlog log;
	struct logd_port io;
	struct pollfd fd;
	int lock, dir;

	logd_state_release(&s);
	mkdir(path, 0700);
	dir = open(path, O_RDONLY | O_DIRECTORY);
	lock = logd_state_lock(dir);
	if (lock < 0 || logd_port_open(&io, path, lock, false, 1))
		die("no port");
	sc.port = &io.port;
	if (spindle_dlog_recover(&sc))
		die("no scan");
	if (sc.is_new) {
		sc.id = (struct spindle_dlog_ident){ .subgroup = id, .node = 1,
						     .block = LOGD_BLOCK, .segment = SEGMENT,
						     .frame = FRAME, .salt = 9 };
		memcpy(sc.id.lineage, s.lineage, 16);
	}
	/* Many messages fill segments. */
	if (more > 20)
		m = (struct spindle_dlog_msg){ .len = sizeof(long_one), .data = long_one };
	c.slot[0] = block(LOGD_BLOCK + FRAME);
	c.slot[1] = block(LOGD_BLOCK + FRAME);
	c.meta = block(LOGD_BLOCK);
	if (spindle_dlog_start(&log, &c, &sc))
		die("no start");
	fd = (struct pollfd){ .fd = io.event, .events = POLLIN };
	while (log.persisted < 10 + more || !log.opened) {
		m.lsn = log.next;
		m.era = m.lsn < 10 ? 0 : era;
		m.vid = m.lsn < 10 ? 1 : 2;
		if (log.opened && log.next < 10 + more)
			spindle_dlog_append(&log, &m, 1);
		spindle_dlog_commit(&log, 1);
		poll(&fd, 1, 10);
		logd_port_reap(&io, op_done, &log);
	}
	logd_port_close(&io);
	close(lock);
	close(dir);
}

/* The same of subgroup 3. */
static void write_log(uint64_t era, uint64_t more)
{
	write_log_of(3, era, more);
}

static void write_record(const struct spindle_restart_keep *keep)
{
	struct logd_records r;
	int dir = open(in("1/3"), O_RDONLY | O_DIRECTORY);

	if (logd_records_open(&r, dir))
		die("no record");
	r.now = *keep;
	if (logd_records_write(&r))
		die("no record");
	close(dir);
}

static bool read_record(struct spindle_restart_keep *keep)
{
	int dir = open(in("1/3"), O_RDONLY | O_DIRECTORY);
	struct logd_records r;
	bool good = logd_state_read_record(&s, 3, dir, &r);

	*keep = r.now;
	close(dir);
	return good;
}

/* The record of view (0, 1) of nodes 1 to 3, which is the first one. */
static struct spindle_restart_keep first_record(void)
{
	struct spindle_restart_keep keep = { .established = false };
	struct spindle_restart_view v = {
		.id = { 0, 1 }, .members = 3, .node = { 1, 2, 3 },
	};

	memcpy(keep.lineage, s.lineage, sizeof(keep.lineage));
	logd_record_add(&keep, &v, true, true);
	return keep;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void clear(void)
{
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	mkdir(base, 0700);
}

static void copy(const char *from, const char *to)
{
	char cmd[300];

	snprintf(cmd, sizeof(cmd), "rm -rf %s && cp -a %s %s", to, from, to);
	if (system(cmd))
		die("no copy");
}

static bool again(void)
{
	logd_state_close(&s);
	return logd_state_open(&s, base, 1);
}

/* Node 1 has been in view (0, 1) of three nodes, and has 10 messages of it. */
static void set_up(void)
{
	struct ctl_view v = running(1, HEX, 3);
	struct spindle_restart_keep keep;

	logd_state_close(&s);
	clear();
	if (!logd_state_open(&s, base, 1) || !logd_state_view(&s, &v))
		die("no state: %s", s.why);
	write_log(0, 0);
	keep = first_record();
	write_record(&keep);
	if (!again())
		die("no state: %s", s.why);
}

/* ---- the group file ------------------------------------------------------------------- */

static bool is_group(uint64_t era, uint64_t vid, unsigned int members)
{
	const struct ctl_view *v = &s.group.view;

	return s.group.is && s.group.era == era && v->vid.num == vid && v->members == members &&
	       v->subgroups == 2 && v->subgroup[0].val[CTL_SG_ID].num == 3 &&
	       ctl_is_logged(&v->subgroup[0]) && !ctl_is_logged(&v->subgroup[1]) &&
	       v->subgroup[0].val[CTL_SG_ACK].num == SPINDLE_ACK_MAJORITY &&
	       !strcmp(v->subgroup[0].val[CTL_SG_NAME].str, "with \"quotes\" # and\n");
}

static void put(const char *name, const char *text, size_t len)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		die("%s: %s", name, strerror(errno));
	close(fd);
}

/* A text with a CRC that is right. */
static void put_group(const char *text)
{
	char all[4096];
	int len = snprintf(all, sizeof(all), "%s# CRC-32C %08x\n", text,
			   spindle_dlog_crc(0, text, strlen(text)));

	put("1/group", all, (size_t)len);
}

static void hostile_groups(void)
{
	static const char *const text[] = {
		"", "[View]\nVid = 1\n", "[Node]\nId = 1\n",
		"[View]\nVid = 1\nLineage = xyz\nMember = 1@10.0.0.1\n",
		"[View]\nVid = 0\nLineage = " HEX "\nMember = 1@10.0.0.1\n",
		"[View]\nVid = 1\nLineage = " HEX "\n",
		"[View]\nVid = 1\nLineage = " HEX "\nMember = 1@10.0.0.1\nMember = 1@10.0.0.2\n",
		"[View]\nVid = 1\nLineage = " HEX "\nMember = 1@10.0.0.1\n[Subgroup]\nLog = 1\n",
		"[View]\nVid = 1\nLineage = " HEX "\nMember = 1@10.0.0.1\n[View]\nVid = 2\n",
		"[View]\nVid = 1\nLineage = " HEX "\nMember = 1@10.0.0.1\n[Subgroup]\nId = 1\n"
		"[Subgroup]\nId = 1\n",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(text); i++) {
		put_group(text[i]);
		ok(!again() && s.why[0] && !s.group.is, "a group file that is wrong: %s", s.why);
	}
	put_group("[View]\nVid = 1\nLineage = " HEX "\nMember = 1@10.0.0.1\n");
	ok(again() && s.group.is, "one that is just enough");
}

static void group(void)
{
	struct ctl_view v = running(1, HEX "/6", 3);
	char *text;
	size_t len, i;
	bool taken = false;

	clear();
	ok(logd_state_open(&s, base, 1) && !s.group.is, "a new node has no group file");
	ok(logd_state_view(&s, &v), "its first view writes it: %s", s.why);
	ok(again() && is_group(6, 1, 3), "a later life reads the same");
	ok(s.group.view.member[2].port == 7003 && s.group.view.member[2].addr.ip[3] == 3,
	   "with addresses");
	v = running(2, HEX "/6", 2);
	ok(logd_state_view(&s, &v) && again() && is_group(6, 2, 2), "the next view replaces it");
	len = s.group.len;
	text = malloc(len);
	memcpy(text, s.group.text, len);
	for (i = 0; i < len; i++) {
		put("1/group", text, i);
		taken |= again();
	}
	ok(!taken, "a file that is cut off anywhere is refused: %s", s.why);
	for (i = 0; i < 8 * len; i++) {
		text[i / 8] ^= 1 << i % 8;
		put("1/group", text, len);
		text[i / 8] ^= 1 << i % 8;
		taken |= again();
	}
	ok(!taken, "and one with a bit that has changed");
	free(text);
	hostile_groups();
	unlink(in("1/group"));
	if (symlink("/etc/passwd", in("1/group")))
		die("symlink");
	ok(!again(), "a symbolic link is not followed: %s", s.why);
}

static void set_tune(struct ctl_view *v, unsigned int i, unsigned int key, uint64_t num)
{
	v->subgroup[i].tune[key] = ctl_val_num(num);
}

/* Has the file this value, as a later life reads it? */
static bool is_tune(unsigned int i, unsigned int key, uint64_t num)
{
	return again() && s.group.is && s.group.view.subgroup[i].tune[key].set &&
	       s.group.view.subgroup[i].tune[key].num == num;
}

static void tuned_views(void)
{
	struct ctl_view v = running(1, HEX, 3);
	unsigned int k;

	clear();
	logd_state_open(&s, base, 1);
	for (k = 0; k < CTL_TUNE_VALS; k++)
		set_tune(&v, 1, k, k != CTL_TUNE_NULLS);
	set_tune(&v, 0, CTL_TUNE_HISTORY, 65536);
	set_tune(&v, 0, CTL_TUNE_LOG_STALL_MS, 0);
	ok(logd_state_view(&s, &v), "a view is kept with its tuning: %s", s.why);
	ok(is_tune(0, CTL_TUNE_HISTORY, 65536) && is_tune(0, CTL_TUNE_LOG_STALL_MS, 0) &&
	   !s.group.view.subgroup[0].tune[CTL_TUNE_NULLS].set,
	   "a later life reads it, and nothing that was not set");
	for (k = 0; k < CTL_TUNE_VALS; k++)
		ok(is_tune(1, k, k != CTL_TUNE_NULLS), "%s", ctl_tune_keys[k].name);
	v = running(2, HEX, 3);
	set_tune(&v, 0, CTL_TUNE_HISTORY, 131072);
	ok(logd_state_view(&s, &v) && is_tune(0, CTL_TUNE_HISTORY, 131072) &&
	   is_tune(1, CTL_TUNE_SILENCE, 1), "what the kernel does not tell stays");
	ok(!s.group.due && logd_state_tune_due(&s) && again() && s.group.due &&
	   is_tune(0, CTL_TUNE_HISTORY, 131072), "the tuning is due, also in a later life");
	v = running(3, HEX, 3);
	ok(logd_state_view(&s, &v) && again() && !s.group.due && s.group.view.vid.num == 3,
	   "until the node is in a view");
	v.subgroup[0].val[CTL_SG_NAME].str = "\n# The kernel does not have the tuning yet.\n";
	ok(logd_state_view(&s, &v) && again() && s.group.is && !s.group.due,
	   "a name does not make it due");
	v = running(4, HEX, 3);
	v.subgroup[0].rule[CTL_RULE_SHARDS] = ctl_val_num(2);
	v.subgroup[0].named.set = true;
	ctl_ids_add(&v.subgroup[0].named, 1);
	v.subgroup[1].val[CTL_SG_LOG] = ctl_val_num(1);
	v.subgroup[1].rule[CTL_RULE_SHARDS] = ctl_val_num(2);
	set_tune(&v, 1, CTL_TUNE_HISTORY, 262144);
	ok(logd_state_view(&s, &v) && is_tune(0, CTL_TUNE_HISTORY, 262144) &&
	   s.group.view.subgroups == 1, "a shard has the tuning of all: %s", s.why);
}

/* ---- votes ------------------------------------------------------------------------------ */

static struct spindle_restart_ballot ballot(uint64_t era)
{
	return (struct spindle_restart_ballot){ .era = era, .proposer = 2 };
}

static void votes(void)
{
	struct spindle_restart_ballot b = ballot(3), low = ballot(2);
	struct ctl_view v = running(1, HEX, 3);
	static const char zero[512];

	set_up();
	ok(logd_state_promise(&s, &b) && again(), "a promise is on disk");
	ok(s.voter.promised.era == 3 && s.voter.state == SPINDLE_RESTART_PROMISED,
	   "a later life knows it");
	ok(!logd_state_promise(&s, &low) && !s.why[0], "a lower one is refused");
	ok(logd_state_promise(&s, &b), "the same one is not");
	ok(!logd_state_view(&s, &v), "a view of an era below is none to be in: %s", s.why);
	put("1/votes.a", zero, sizeof(zero));
	ok(again() && s.voter.promised.era == 3, "damage of one file loses no vote");
	put("1/votes.b", zero, sizeof(zero));
	put("1/votes.a", zero, sizeof(zero));
	ok(!again(), "damage of both is reported: %s", s.why);
	set_up();
	b.proposer = 1;
	v = running(1, HEX, 3);
	ok(logd_state_promise(&s, &b) && !logd_state_view(&s, &v),
	   "an attempt of the node itself binds it");
	ok(again() && logd_state_view(&s, &v),
	   "until the next life, which does not go on with it: %s", s.why);
	b.proposer = 2;
	set_up();
	logd_state_promise(&s, &b);
	v = running(1, "ff0102030405060708090a0b0c0d0e0f", 2);
	ok(logd_state_view(&s, &v) && again() && !s.voter.promised.era,
	   "another group knows nothing of these votes");
	set_up();
	v = running(1, "ff0102030405060708090a0b0c0d0e0f", 2);
	copy(in("1/group"), in("group"));
	if (!logd_state_view(&s, &v))
		die("no view: %s", s.why);
	copy(in("group"), in("1/group"));
	ok(again() && !logd_state_report(&s, &report), "votes of one group and the file of "
	   "another make no report: %s", s.why);
}

/* ---- reports ------------------------------------------------------------------------------ */

static void reports(void)
{
	static uint8_t bytes[SPINDLE_RESTART_BYTES];
	static struct spindle_restart_report back;
	const struct spindle_restart_part *p = &report.part[0];
	struct spindle_restart_ballot b = ballot(3);
	static const char zero[4096];
	size_t len;

	set_up();
	logd_state_promise(&s, &b);
	ok(logd_state_report(&s, &report), "there is a report: %s", s.why);
	ok(report.node == 1 && !strcmp(report.address, "10.0.0.1:7001") && report.parts == 1 &&
	   report.promised.era == 3, "of this node, with its address and its promise");
	ok(p->id == 3 && p->majority && p->member && p->record.known && p->record.views == 1 &&
	   p->path.whole, "of the subgroup that has logs, with its record");
	ok(!p->log.missing && p->log.end == 10 && p->log.good == 10 && p->log.whole &&
	   p->log.epochs == 1 && p->log.epoch[0].id.vid == 1, "and its log");
	len = spindle_restart_put_report(&report, bytes, sizeof(bytes));
	ok(len && spindle_restart_get_report(&back, bytes, len), "others take it");
	write_log(4, 5);
	ok(logd_state_report(&s, &report) && p->log.end == 15 && p->log.epochs == 2 &&
	   p->log.epoch[1].lsn == 10, "a log tells its epochs");
	put("1/3/view.a", zero, sizeof(zero));
	put("1/3/view.b", zero, sizeof(zero));
	ok(!logd_state_report(&s, &report) && s.why[0], "a damaged record is no missing one: %s",
	   s.why);
	nftw(in("1/3"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
	ok(logd_state_report(&s, &report) && p->log.missing && !p->record.views && p->member,
	   "a member may have no files");
	unlink(in("1/group"));
	ok(again() && !logd_state_report(&s, &report), "without a group file there is none: %s",
	   s.why);
}

/* Make the second frame of a segment of the log of subgroup 3 differ from what was written. */
static void damage(uint64_t seq)
{
	const struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_SEGMENT, .id = seq };
	char name[LOGD_NAME], path[300];
	int fd;

	logd_file_name(file, name);
	snprintf(path, sizeof(path), "%s/%s", in("1/3"), name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || pwrite(fd, "damage", 6, LOGD_BLOCK + 8) != 6)
		die("no damage in %s", path);
	close(fd);
}

static uint64_t first_seq(void)
{
	return logd_state_scan(&s, 3)->map.seg[0].seq;
}

static uint64_t good_end(void)
{
	return logd_state_report(&s, &report) ? report.part[0].log.good : UINT64_MAX;
}

/* Votes and the entry into a view need what the first report has read. */
static void reads_once(void)
{
	int dir;

	set_up();
	write_log(4, 5);
	ok(good_end() == 15, "a log is read");
	dir = open(in("1/3"), O_RDONLY | O_DIRECTORY);
	damage(first_seq());
	ok(good_end() == 15, "and not read again by the next report");
	ok(flock(openat(dir, "LOCK", O_RDWR), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK,
	   "nobody else writes it in between");
	close(dir);
	ok(logd_state_join(&s, 4, NULL, 0), "nor does a node that joins read it: %s", s.why);
	logd_state_release(&s);
	ok(good_end() < 15, "after its writer it is read again");
}

/* The writer reads only the last segment of a log that the state has just read. */
static void hands_on(void)
{
	struct logd_progress progress = { .title = "the log" };
	struct spindle_dlog_scan since;
	struct logd_port io;
	int dir, lock;

	set_up();
	write_log(4, 50);
	ok(good_end() == 60 && logd_state_scan(&s, 3)->map.n > 2, "a log of segments is read");
	damage(first_seq());
	logd_state_release(&s);
	dir = open(in("1/3"), O_RDONLY | O_DIRECTORY);
	lock = logd_state_lock(dir);
	if (lock < 0 || logd_port_open(&io, in("1/3"), lock, false, 1))
		die("no port");
	ok(!logd_scan(&since, &io, logd_scan_frame(&io, FRAME), logd_state_scan(&s, 3),
		      &progress) && since.next == 60 && !since.n_damaged &&
	   since.n_epochs == 2 && since.epoch[1].lsn == 10, "its writer has the same");
	logd_scan_drop(&since);
	ok(!logd_scan(&since, &io, logd_scan_frame(&io, FRAME), NULL, &progress) &&
	   since.n_damaged == 1, "and has not read its first segment");
	logd_scan_drop(&since);
	logd_port_close(&io);
	close(lock);
	close(dir);
	logd_state_forget(&s);
	ok(!logd_state_scan(&s, 3), "then the state has no scan");
}

/* ---- enter -------------------------------------------------------------------------------- */

/* Nodes 1 and 4 begin again with view 3 of era 7, where the group has @at messages. */
static const struct spindle_restart_proposal *proposal(uint64_t at)
{
	static struct spindle_restart_proposal p;
	struct spindle_restart_keep keep = first_record();

	p = (struct spindle_restart_proposal){
		.ballot = ballot(7), .origin = 6, .vid = 3, .members = 2, .node = { 1, 4 },
		.parts = 1,
	};
	memcpy(p.lineage, s.lineage, sizeof(p.lineage));
	p.part[0] = (struct spindle_restart_base){
		.id = 3, .base = at, .members = 3, .range = keep.record,
		.path = { .whole = true, .eras = 1, .past = { { { 0, 1 }, at } } },
	};
	return &p;
}

static const struct logd_known known[] = { { .node = 4, .address = "10.0.0.4:7777" } };

static bool has_entered(uint64_t end)
{
	static struct spindle_restart_keep keep;
	const struct spindle_restart_view *v;

	if (!again() || !read_record(&keep) || !logd_state_report(&s, &report))
		return false;
	v = logd_record_newest(&keep);
	return v && v->id.era == 7 && v->id.vid == 3 && v->origin == 6 && v->base == 8 &&
	       v->members == 2 && keep.record.views == 2 && keep.record.known &&
	       keep.path.eras == 1 && is_group(7, 3, 2) && s.group.view.member[1].id == 4 &&
	       s.group.view.member[1].port == 7777 && s.voter.promised.era == 7 &&
	       report.part[0].log.end == end && report.part[0].log.epochs == (end ? 1 : 0);
}

static void enter(void)
{
	struct spindle_restart_ballot b = ballot(8);
	struct spindle_restart_proposal p;
	struct ctl_view v = running(1, HEX, 3);

	set_up();
	set_tune(&v, 0, CTL_TUNE_HISTORY, 65536);
	ok(logd_state_view(&s, &v) && logd_state_tune_due(&s) &&
	   logd_state_enter(&s, proposal(8), known, 1) && is_tune(0, CTL_TUNE_HISTORY, 65536) &&
	   s.group.due, "the tuning is still due in the first view: %s", s.why);

	set_up();
	write_log(4, 5);
	ok(logd_state_enter(&s, proposal(8), known, 1), "a node enters: %s", s.why);
	ok(has_entered(8), "votes, log, record and group file are those of the view");
	ok(logd_state_enter(&s, proposal(8), known, 1) && has_entered(8), "the same call again");
	set_up();
	ok(!logd_state_enter(&s, proposal(8), NULL, 0) && s.why[0], "without an address: %s",
	   s.why);
	ok(logd_state_enter(&s, proposal(8), known, 1) && has_entered(8),
	   "the same call with it does the rest");
	set_up();
	logd_state_promise(&s, &b);
	ok(!logd_state_enter(&s, proposal(8), known, 1) && !s.why[0],
	   "a promise to a later attempt forbids that");
	set_up();
	p = *proposal(8);
	p.node[0] = 2;
	ok(!logd_state_enter(&s, &p, known, 1) && s.why[0], "a node that is no member: %s", s.why);
	p = *proposal(8);
	p.lineage[0]++;
	ok(!logd_state_enter(&s, &p, known, 1) && s.why[0], "a proposal of another group: %s",
	   s.why);
	ok(!logd_state_accept(&s, &p), "which gets no vote");
	set_up();
	ok(logd_state_enter(&s, proposal(8), known, 1) && has_entered(8),
	   "a log that is cut inside of a view");
}

/* What is on disk is what some of the steps have left, and the same call does the rest. */
static void crashes(void)
{
	static const char *const step[] = {
		"votes.a", "votes.b", "3", "group",
	};
	unsigned int n, i;

	set_up();
	write_log(4, 5);
	copy(in("1"), in("before"));
	if (!logd_state_enter(&s, proposal(8), known, 1))
		die("no entry: %s", s.why);
	logd_state_close(&s);
	copy(in("1"), in("after"));
	for (n = 0; n <= ARRAY_SIZE(step); n++) {
		char from[64], to[64];

		logd_state_close(&s);
		copy(in("before"), in("1"));
		for (i = 0; i < n; i++) {
			snprintf(from, sizeof(from), "after/%s", step[i]);
			snprintf(to, sizeof(to), "1/%s", step[i]);
			copy(in(from), in(to));
		}
		if (!logd_state_open(&s, base, 1))
			die("no state: %s", s.why);
		ok(logd_state_enter(&s, proposal(8), known, 1) && has_entered(8),
		   "a crash behind %u of the steps: %s", n, s.why);
	}
}

/* Does the log of subgroup 3 have the note of this era? */
static bool has_note(uint64_t era)
{
	struct logd_disk *d = logd_disk_open(&s, 3);
	bool has;

	if (!d)
		die("no log: %s", s.why);
	has = logd_cut_has(d->dir, &d->scan.id, era) == 1;
	d->scan.id.salt++;
	if (logd_cut_has(d->dir, &d->scan.id, era))
		die("another log has the note");
	d->scan.id.salt--;
	return has;
}

/* Write the note of an era as the first notes were, or with another byte at @at. */
static void write_note(uint64_t era, bool first, size_t at)
{
	uint8_t bytes[sizeof(struct logd_cut)];
	struct logd_pair pair = { .name = { "cut.a", "cut.b" } };
	struct logd_disk *d = logd_disk_open(&s, 3);
	size_t len;

	if (!d)
		die("no log: %s", s.why);
	pair.dir = d->dir;
	if (logd_cut_write(d->dir, &d->scan.id, era) ||
	    logd_pair_read(&pair, bytes, sizeof(bytes), &len) || len != sizeof(bytes))
		die("no note");
	if (!first)
		bytes[at]++;
	if (first ? logd_pair_write(&pair, bytes + LOGD_CUT_HEAD, len - LOGD_CUT_HEAD) :
	    logd_pair_write(&pair, bytes, len))
		die("no note");
}

/* The bytes of a note are the same on each machine. */
static void notes(void)
{
	set_up();
	write_log(4, 5);
	write_note(9, true, 0);
	ok(has_note(9) && !has_note(8), "a note without a version is read");
	write_note(9, false, 4);
	ok(!has_note(9), "a note of another version is none");
	write_note(9, false, 0);
	ok(!has_note(9), "nor are other bytes");
	write_note(0x0102030405060707, false, offsetof(struct logd_cut, era));
	ok(has_note(0x0102030405060708), "the era begins with its lowest byte");
}

static bool ends_at(uint64_t end)
{
	return logd_state_report(&s, &report) && report.part[0].log.end == end;
}

/* A log of an earlier era goes on only where a member knows the way, or where it was cut. */
static void no_way(void)
{
	struct logd_way way = {
		.id = 3, .view = { 6, 9 },
		.path = { .whole = true, .eras = 1, .past = { { { 0, 1 }, 9 } } },
	};
	static const char zero[64];

	set_up();
	write_log(4, 5);
	ok(!logd_state_join(&s, 7, NULL, 0) && s.why[0], "without a way, nobody joins: %s", s.why);
	ok(!logd_state_join(&s, 7, &way, 1) && s.why[0], "the way to another era is none");
	way.view.era = 7;
	way.id = 4;
	ok(!logd_state_join(&s, 7, &way, 1) && s.why[0], "nor is that of another subgroup");
	ok(ends_at(15) && !has_note(7), "the log is as before");
	way.id = 3;
	ok(logd_state_join(&s, 7, &way, 1) && has_note(7) && !has_note(4),
	   "a log that is cut has a note");
	ok(again() && logd_state_join(&s, 7, NULL, 0), "and needs no way any more");
	ok(!logd_state_join(&s, 8, NULL, 0) && s.why[0], "which is another thing in a later era");
	put("1/3/cut.a", zero, sizeof(zero));
	put("1/3/cut.b", zero, sizeof(zero));
	ok(!logd_state_join(&s, 8, NULL, 0) && s.why[0], "a damaged note is none");
	way.view.era = 8;
	ok(logd_state_join(&s, 8, &way, 1) && has_note(8), "and there is a new one");
	set_up();
	write_log(7, 5);
	ok(logd_state_join(&s, 7, NULL, 0) && ends_at(15), "a log of the era stays: %s", s.why);
	nftw(in("1/3"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
	ok(logd_state_join(&s, 9, NULL, 0), "a log that is not there needs no way: %s", s.why);
	set_up();
	ok(logd_state_enter(&s, proposal(8), known, 1) && has_note(7),
	   "a node that enters has the note as well");
}

/* ---- shards ------------------------------------------------------------------------------- */

/* Subgroups 3 and 4 are shards of one, and node 1 was in the first of them. */
static void set_up_shards(void)
{
	struct ctl_view v = running(2, HEX, 3);

	set_up();
	v.subgroup[0].rule[CTL_RULE_SHARDS] = ctl_val_num(2);
	v.subgroup[1] = v.subgroup[0];
	v.subgroup[1].val[CTL_SG_ID] = ctl_val_num(4);
	if (!logd_state_view(&s, &v) || !again() || s.group.view.subgroups != 1)
		die("no shards: %s", s.why);
	write_log(4, 5);
}

/* Node 1 has a record of each shard that it has been in, and of no other one. */
static void shards(void)
{
	const struct spindle_restart_part *part = report.part;
	struct spindle_restart_proposal p;
	struct spindle_restart_keep keep;

	set_up_shards();
	ok(logd_state_report(&s, &report) && report.parts == 2 && part[0].id == 3 &&
	   !part[0].shard && part[0].member && part[0].record.views == 1 &&
	   part[0].log.end == 15, "a report has the shard that the node was in: %s", s.why);
	ok(part[1].id == 4 && part[1].shard == 1 && part[1].member && !part[1].record.views &&
	   part[1].log.missing, "and the other one, which it may be in");
	p = *proposal(8);
	p.parts = 2;
	p.part[1] = p.part[0];
	p.part[1].id = 4;
	p.part[1].base = 6;
	p.part[1].path.past[0].base = 6;
	p.part[0].members = 2;
	p.part[1].members = 1;
	ok(logd_state_enter(&s, &p, known, 1) && ends_at(8) && has_note(7),
	   "the log of a shard that the node is not in any more is cut as well: %s", s.why);
	ok(read_record(&keep) && logd_record_newest(&keep)->id.era == 0,
	   "and its record stays, because the node is in no view of it");
	ok(part[1].record.views == 2 && part[1].record.view[1].base == 6 &&
	   part[1].record.view[1].members == 1, "the record of its shard is that of the view");
}

/* Each member knows the way of its own shard. */
static void shards_join(void)
{
	struct logd_way way = {
		.id = 4, .view = { 7, 9 },
		.path = { .whole = true, .eras = 1, .past = { { { 0, 1 }, 9 } } },
	};

	set_up_shards();
	write_log_of(4, 4, 5);
	ok(!logd_state_join(&s, 7, &way, 1) && s.why[0],
	   "a node with logs of two shards needs both ways: %s", s.why);
	ok(ends_at(15) && report.part[1].log.end == 9, "one member has told it one of them");
	way.id = 3;
	ok(again() && logd_state_join(&s, 7, &way, 1) && ends_at(9),
	   "and another one tells it the other: %s", s.why);
}

/* What the own record knows to be durable is not cut, whatever a member says. */
static void keep_durable(void)
{
	struct logd_way way = {
		.id = 3, .view = { 7, 9 },
		.path = { .whole = true, .eras = 1, .past = { { { 0, 1 }, 9 } } },
	};
	struct spindle_restart_keep keep;

	set_up();
	write_log(4, 5);
	keep = first_record();
	keep.established = true;
	keep.record.view[0].base = 10;
	write_record(&keep);
	ok(!logd_state_join(&s, 7, &way, 1) && strstr(s.why, "is durable") && ends_at(15),
	   "a log is not cut below an established view: %s", s.why);
	keep.record.view[0].base = 9;
	write_record(&keep);
	ok(logd_state_join(&s, 7, &way, 1) && ends_at(9), "it is cut at the base of one");
}

static void join(void)
{
	struct logd_way way = {
		.id = 3, .view = { 7, 9 },
		.path = { .whole = true, .eras = 1, .past = { { { 0, 1 }, 9 } } },
	};
	struct spindle_restart_ballot b = ballot(8);

	set_up();
	write_log(4, 5);
	ok(logd_state_join(&s, 7, &way, 1), "a node is ready to join: %s", s.why);
	ok(again() && logd_state_report(&s, &report) && report.part[0].log.end == 9,
	   "its log has what the group has");
	ok(report.part[0].record.view[0].id.era == 0 && s.voter.promised.era == 7,
	   "the record is the old one, and the votes are of the era");
	logd_state_promise(&s, &b);
	ok(!logd_state_join(&s, 7, &way, 1) && !s.why[0], "a promise forbids that");
}

/* ---- a forced restart ---------------------------------------------------------------------- */

/* Nodes @me and 4 begin with view 3 of era 7, where subgroup 3 has 8 messages. */
static const struct spindle_restart_force *make_force(uint32_t me)
{
	static struct spindle_restart_force f;
	struct spindle_restart_keep keep = first_record();

	f = (struct spindle_restart_force){
		.proposal = { .ballot.era = 7, .origin = 7, .vid = 3, .members = 2,
			      .node = { me, me + 3 }, .parts = 1 },
		.address = { "10.0.0.1:7001", "10.0.0.4:7777" },
		.loss = { { .to = 10, .open = true } },
	};
	memcpy(f.proposal.lineage, s.lineage, sizeof(f.proposal.lineage));
	f.proposal.part[0] = (struct spindle_restart_base){
		.id = 3, .base = 8, .members = 3, .range = keep.record,
		.path = { .whole = true, .eras = 1, .past = { { { 0, 1 }, 8 } } },
	};
	return &f;
}

/* Has the node moved, with its log? */
static bool has_moved(const uint64_t *lineage, uint32_t views)
{
	static struct spindle_restart_keep keep;

	if (!again() || !read_record(&keep) || !logd_state_report(&s, &report))
		return false;
	return !memcmp(s.lineage, lineage, 16) && !memcmp(s.group.lineage, lineage, 16) &&
	       s.forced && is_group(7, 3, 2) && s.group.view.member[1].port == 7777 &&
	       s.voter.promised.era == 7 && s.voter.bound == 7 &&
	       s.voter.state == SPINDLE_RESTART_SILENT && !s.voter.has_accepted &&
	       !report.part[0].log.missing && report.part[0].log.end == 8 &&
	       report.part[0].log.good == 8 && keep.record.views == views &&
	       (!views || (keep.record.known && keep.record.view[0].id.era == 7 &&
			   keep.record.view[0].base == 8 && keep.path.eras == 1));
}

static void force(void)
{
	struct spindle_restart_ballot b = ballot(8);
	uint64_t lineage[2], code[2];
	char text[40];

	set_up();
	write_log(7, 5);
	logd_state_promise(&s, &b);
	ok(logd_force_name(make_force(1), lineage), "a forced restart has a name");
	put("1/consent", HEX "\n", 33);
	ok(logd_state_consent(&s, code) && code[0] == s.lineage[0], "a consent is read");
	ok(logd_state_force(&s, make_force(1)), "a node moves: %s", s.why);
	ok(has_moved(lineage, 1), "log, votes, record and group file are of the new lineage");
	ok(!access(in("1/consent"), F_OK), "the consent to something else stays");
	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, be64toh(lineage[0]),
		 be64toh(lineage[1]));
	put("1/consent", text, 32);
	ok(has_moved(lineage, 1) && access(in("1/consent"), F_OK), "that to this restart goes");
	put("1/consent", HEX "/7", 34);
	ok(!logd_state_consent(&s, code), "an era is no part of a consent");
	ok(!logd_state_force(&s, make_force(1)) || memcmp(s.lineage, lineage, 16),
	   "the same contents in another lineage are another restart");
	set_up();
	write_log(7, 5);
	ok(logd_state_force(&s, make_force(2)) && logd_force_name(make_force(2), code) &&
	   s.lineage[0] == s.group.lineage[0], "a node that is no member follows: %s", s.why);
	memcpy(lineage, s.lineage, sizeof(lineage));
	ok(has_moved(lineage, 0), "and has no record of the first view");
	set_up();
	put("1/forced", "x", 1);
	ok(!again() && s.why[0], "a file that is damaged is reported: %s", s.why);
}

/* Node 1 is in the lineage before again, with no log. */
static void put_back(void)
{
	struct ctl_view v = running(1, HEX, 3);

	nftw(in("1"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (!logd_state_open(&s, base, 1) || !logd_state_view(&s, &v))
		die("no state: %s", s.why);
}

/* What was cut is a log of its own, with all of the messages that have gone. */
static void kept(void)
{
	set_up();
	write_log(7, 5);
	mkdir(in("1/3.lost-00010203-7.new"), 0700);
	put("1/3.lost-00010203-7.new/rest", "x", 1);
	if (!logd_state_force(&s, make_force(1)))
		die("no move: %s", s.why);
	ok(access(in("1/3.lost-00010203-7.new"), F_OK), "what a crash has left is cleared");
	logd_state_close(&s);
	copy(in("1/3.lost-00010203-7"), in("kept"));
	unlink(in("1/forced"));
	put_back();
	copy(in("kept"), in("1/3"));
	ok(logd_state_report(&s, &report) && report.part[0].log.end == 15 &&
	   report.part[0].log.good == 15, "the log as it was before the cut is kept: %s", s.why);
	set_up();
	put("1/3.lost-00010203-7.new", "x", 1);
	ok(!logd_state_force(&s, make_force(1)) && s.why[0], "what cannot be kept is not cut: %s",
	   s.why);
	ok(again() && ends_at(10) && !s.forced && access(in("1/forced"), F_OK),
	   "and all is as before");
}

/* A crash between any two writes: the next start does the rest. */
static void force_crashes(void)
{
	static const char *const step[] = {
		"forced", "votes.a", "votes.b", "3/log", "3/view", "group",
	};
	uint64_t lineage[2];
	unsigned int n, i;

	set_up();
	write_log(7, 5);
	logd_force_name(make_force(1), lineage);
	copy(in("1"), in("before"));
	if (!logd_state_force(&s, make_force(1)))
		die("no move: %s", s.why);
	logd_state_close(&s);
	copy(in("1"), in("after"));
	for (n = 1; n <= ARRAY_SIZE(step); n++) {
		char cmd[600];

		logd_state_close(&s);
		copy(in("before"), in("1"));
		for (i = 0; i < n; i++) {
			if (!strcmp(step[i], "3/log"))
				snprintf(cmd, sizeof(cmd), "cd %s && rm -rf 1/3 && "
					 "cp -a after/3 1/3 && rm -f 1/3/view.*; "
					 "cp -a before/3/view.* 1/3", base);
			else
				snprintf(cmd, sizeof(cmd), "cd %s && cp -a after/%s* 1/%s", base,
					 step[i], strcmp(step[i], "3/view") ? "" : "3");
			if (system(cmd))
				die("no copy");
		}
		ok(has_moved(lineage, 1), "a crash behind %u of the writes: %s", n, s.why);
	}
}

/* ---- a subgroup that gets logs ---------------------------------------------------------- */

/* The newest view is (0, 2), which begins at position 10, and the era before has a last view. */
static void set_up_later(void)
{
	struct spindle_restart_view v = {
		.id = { 0, 2 }, .base = 10, .members = 2, .node = { 1, 2 },
	};
	struct spindle_restart_keep keep;

	set_up();
	keep = first_record();
	logd_record_add(&keep, &v, true, false);
	write_record(&keep);
}

static bool has_added(void)
{
	const struct spindle_restart_part *p = &report.part[1];

	return logd_state_report(&s, &report) && report.parts == 2 && report.part[0].id == 3 &&
	       report.part[0].record.view[1].base == 10 && report.part[0].log.end == 10 &&
	       p->id == 4 && p->majority && p->member && !p->log.missing && p->log.whole &&
	       !p->log.end && p->record.known && p->record.views == 2 &&
	       p->record.view[1].id.vid == 2 && !p->record.view[1].base &&
	       p->record.view[1].members == 2 && p->record.view[0].members == 3 && p->path.whole;
}

static bool adds(void)
{
	return logd_state_add_log(&s, 4, SEGMENT);
}

static void adds_logs(void)
{
	size_t len;

	set_up_later();
	ok(adds(), "a subgroup gets logs: %s", s.why);
	ok(has_added(), "with the views of the other one, and no message: %s", s.why);
	ok(again() && has_added(), "a later life has the same");
	len = s.group.len;
	ok(adds() && has_added() && s.group.len == len, "a second time makes no difference");
	ok(!logd_state_add_log(&s, 5, SEGMENT), "one that the group does not have: %s", s.why);
	set_up();
	nftw(in("1/3"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
	ok(adds() && logd_state_report(&s, &report) && report.parts == 2 &&
	   !report.part[1].record.views && !report.part[1].log.missing,
	   "a node without a record makes none: %s", s.why);
}

/* A crash between any two of the writes. */
static void adds_crashes(void)
{
	static const char *const file[] = { "4/meta.*", "4/view.*", "group" };
	unsigned int n, i;
	char cmd[600];

	set_up_later();
	copy(in("1"), in("before"));
	if (!adds())
		die("no logs: %s", s.why);
	logd_state_close(&s);
	copy(in("1"), in("after"));
	for (n = 0; n <= ARRAY_SIZE(file); n++) {
		logd_state_close(&s);
		copy(in("before"), in("1"));
		for (i = 0; i < n; i++) {
			snprintf(cmd, sizeof(cmd), "cd %s && mkdir -p 1/4 && cp -a after/%s 1/%s",
				 base, file[i], i == 2 ? "" : "4");
			if (system(cmd))
				die("no copy");
		}
		ok(again() && adds() && has_added(), "a crash behind %u writes: %s", n, s.why);
	}
}

/* The node is in this view, and subgroup 4 does not get logs. */
static bool refuses(const struct ctl_view *v)
{
	set_up();
	if (!logd_state_view(&s, v))
		die("no view: %s", s.why);
	return !adds() && s.why[0] && again() && logd_state_report(&s, &report) &&
	       report.parts <= 1;
}

static void adds_none(void)
{
	struct spindle_restart_ballot b = ballot(7);
	struct ctl_view v = running(1, HEX, 3);

	v.subgroup[1].val[CTL_SG_MODE] = ctl_val_num(SPINDLE_MODE_UNORDERED);
	ok(refuses(&v), "an unordered one: %s", s.why);
	v.subgroup[1] = (struct ctl_subgroup){ .val[CTL_SG_ID] = ctl_val_num(4) };
	v.subgroup[1].val[CTL_SG_CELLS] = ctl_val_num(4);
	ctl_make_table(&v.subgroup[1], 0);
	ok(refuses(&v), "a table: %s", s.why);
	v = running(1, HEX, 3);
	v.subgroup[1].rule[CTL_RULE_SHARDS] = ctl_val_num(2);
	*CTL_ADD(v.subgroup, v.subgroups) = subgroup(5, false);
	ok(refuses(&v), "one with shards: %s", s.why);
	v = running(1, HEX, 3);
	v.subgroup[0] = subgroup(3, false);
	ok(refuses(&v), "a group without logs: %s", s.why);
	v = running(1, HEX, 3);
	v.subgroup[1].named.set = true;
	ctl_ids_add(&v.subgroup[1].named, 1);
	ctl_ids_add(&v.subgroup[1].named, 2);
	ctl_ids_add(&v.subgroup[1].named, 3);
	ok(refuses(&v), "one of some nodes beside one of all: %s", s.why);
	v.subgroup[0].named = v.subgroup[1].named;
	ok(!refuses(&v), "one of the same nodes gets logs: %s", s.why);
	v.subgroup[1].named.count = 2;
	ok(refuses(&v), "one of fewer nodes: %s", s.why);
	set_up();
	write_log_of(4, 0, 0);
	ok(!adds(), "one with messages in its log: %s", s.why);
	set_up();
	s.lineage[0]++;
	write_log_of(4, 0, 0);
	s.lineage[0]--;
	ok(!adds(), "one with the log of another group: %s", s.why);
	set_up();
	ok(logd_state_promise(&s, &b) && logd_state_accept(&s, proposal(8)) && !adds(),
	   "a node that has voted for a restart: %s", s.why);
	set_up();
	ok(logd_state_promise(&s, &b) && adds(), "but one that has only promised: %s", s.why);
}

int main(void)
{
	snprintf(base, sizeof(base), "/tmp/spindle-state-XXXXXX");
	if (!mkdtemp(base))
		die("mkdtemp: %s", strerror(errno));
	ctl_program = "logd_state_test";
	group();
	tuned_views();
	votes();
	reports();
	reads_once();
	hands_on();
	enter();
	crashes();
	join();
	notes();
	no_way();
	shards();
	shards_join();
	keep_durable();
	force();
	kept();
	force_crashes();
	adds_logs();
	adds_crashes();
	adds_none();
	logd_state_close(&s);
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return tap_end();
}
