// SPDX-License-Identifier: MIT
/*
 * Readers of a durable log: what <spindle/log.h> promises, over the core in log/.
 *
 * A writer changes the directory under a reader, and the reader takes no lock. What keeps the
 * reader from errors:
 *
 * - A segment that is trimmed loses its name before its file gets other bytes. So a read counts
 *   only if the name still leads to the file afterwards.
 * - A segment that is repaired is another file, which has the frames at other places. So a reader
 *   that meets another file scans once more.
 * - A scan sees the parts of a log one after the other: names, meta blocks, blocks of a segment. A
 *   later part may say that something was durable which the scan has missed in an earlier one. So
 *   damage counts if two scans find it.
 *
 * What a scan believes lives in a struct look. A later one replaces it as a whole.
 *
 * Owner: the caller, one thread at a time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spindle/log.h>

#include "log/log.h"
#include "log/names.h"

/* A writer may spoil a scan. After so many scans that it has spoiled, it is too fast. */
#define TRIES	16

/**
 * struct names - files of a log in the directory
 */
struct names {
	/** @file: the files */
	struct spindle_dlog_file *file;
	/** @n: entries of @file */
	uint32_t n;
	/** @max: entries that @file has room for */
	uint32_t max;
};

/**
 * struct version - the file of a segment, and when it was changed last
 */
struct version {
	/** @seq: number of the segment */
	uint64_t seq;
	/** @ino: of the file */
	uint64_t ino;
	/** @ctime: of the file */
	struct timespec ctime;
};

/**
 * struct look - what a scan has found, and its memory
 */
struct look {
	/** @version: files of segments in front of the scan, in order */
	struct version *version;
	/** @versions: entries of @version */
	uint32_t versions;
	/** @scan: of the core */
	struct spindle_dlog_scan scan;
	/** @damaged: for ranges */
	struct spindle_dlog_range damaged[SPINDLE_LOG_RANGES];
	/** @epoch: for epochs */
	struct spindle_dlog_epoch epoch[SPINDLE_LOG_EPOCHS];
};

struct spindle_log {
	/** @dir: descriptor of the directory */
	int dir;
	/** @flags: as given */
	unsigned int flags;
	/** @port: of the core */
	struct spindle_dlog_port port;
	/** @names: list of the scan that runs */
	struct names names;
	/** @gone: the directory has changed, and what a call found says nothing */
	bool gone;
	/** @scans: a scan runs */
	bool scans;
	/** @tell: told how far the scan is, or NULL */
	spindle_log_tell_fn tell;
	/** @arg: of @tell */
	void *arg;
	/** @done: bytes that the scan has read */
	uint64_t done;
	/** @total: bytes that it will read, unless it looks for frames twice */
	uint64_t total;
	/** @look: newest scan */
	struct look *look;
	/** @reader: of the core */
	struct spindle_dlog_reader reader;
};

static int add_name(struct names *names, struct spindle_dlog_file file)
{
	struct spindle_dlog_file *more;
	uint32_t max = names->max ? 2 * names->max : 64;

	if (names->n == SPINDLE_LOG_FILES)
		return -E2BIG;
	if (names->n == names->max) {
		more = realloc(names->file, max * sizeof(*more));
		if (!more)
			return -ENOMEM;
		names->file = more;
		names->max = max;
	}
	names->file[names->n++] = file;
	return 0;
}

static int read_names(DIR *d, struct names *names)
{
	struct spindle_dlog_file file;
	struct dirent *e;
	int err = 0;

	do {
		errno = 0;
		e = readdir(d);
		if (!e)
			return -errno;
		if (!spindle_dlog_parse_name(e->d_name, &file))
			err = add_name(names, file);
	} while (!err);
	return err;
}

/* List the directory. A descriptor of its own begins at the first name. */
static int list_names(const struct spindle_log *log, struct names *names)
{
	int err, fd = openat(log->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d;

	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		err = -errno;
		close(fd);
		return err;
	}
	err = read_names(d, names);
	closedir(d);
	spindle_dlog_sort(names->file, names->n);
	return err;
}

/* Return: bytes, fewer only at the end of the file. */
static int read_fully(int fd, uint64_t offset, unsigned char *buf, uint32_t len, uint64_t size)
{
	uint32_t got = 0;
	ssize_t n;

	while (got < len && offset + got < size) {
		n = pread(fd, buf + got, len - got, (off_t)(offset + got));
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += (uint32_t)n;
	}
	return (int)got;
}

static const struct version *find_version(const struct look *look, uint64_t seq)
{
	uint32_t low = 0, high = look->versions;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (look->version[mid].seq == seq)
			return &look->version[mid];
		if (look->version[mid].seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Is this the file that the scan has read? */
static bool is_known(const struct spindle_log *log, struct spindle_dlog_file file, uint64_t ino)
{
	const struct version *v;

	if (log->scans || file.kind != SPINDLE_DLOG_SEGMENT)
		return true;
	v = find_version(log->look, file.id);
	return !v || v->ino == ino;
}

/* The name may be anything that somebody has put there, so only a regular file is read. */
static int read_open(const struct spindle_log *log, struct spindle_dlog_file what, int fd,
		     const char *name, uint64_t offset, void *buf, uint32_t len)
{
	struct stat file, after;
	int n;

	if (fstat(fd, &file))
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EUCLEAN;
	if (!is_known(log, what, file.st_ino))
		return -ENOENT;
	n = read_fully(fd, offset, buf, len, (uint64_t)file.st_size);
	if (n < 0)
		return n;
	if (fstatat(log->dir, name, &after, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return after.st_ino == file.st_ino && after.st_dev == file.st_dev ? n : -ENOENT;
}

static int read_named(const struct spindle_log *log, struct spindle_dlog_file file,
		      const char *name, uint64_t offset, void *buf, uint32_t len, int direct)
{
	int fd = openat(log->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | direct);
	int n;

	if (fd < 0)
		return -errno;
	n = read_open(log, file, fd, name, offset, buf, len);
	close(fd);
	return n;
}

/* Say how far a scan is. A search in a damaged area reads some bytes twice. */
static void tell(struct spindle_log *log, int n)
{
	if (!log->tell || !log->scans || n <= 0 || !log->total)
		return;
	log->done += (uint64_t)n;
	if (log->done > log->total)
		log->done = log->total;
	log->tell(log->arg, log->done, log->total);
}

/*
 * Read from the disk, as the core asks for. The writer writes with O_DIRECT, and pages of the file
 * in the page cache would be in its way. A file system without O_DIRECT, or a disk whose sectors
 * are longer than the blocks of the log, has only the page cache.
 */
static int port_read(void *env, struct spindle_dlog_file file, uint64_t offset, void *buf,
		     uint32_t len)
{
	struct spindle_log *log = env;
	char name[SPINDLE_DLOG_NAME];
	int n;

	n = spindle_dlog_name(file, name, sizeof(name));
	if (n)
		return n;
	n = read_named(log, file, name, offset, buf, len, O_DIRECT);
	if (n == -EINVAL)
		n = read_named(log, file, name, offset, buf, len, 0);
	if (n == -ENOENT)
		log->gone = true;
	tell(log, n);
	return n;
}

static int port_list(void *env, struct spindle_dlog_file *files, uint32_t max)
{
	const struct names *names = &((struct spindle_log *)env)->names;

	if (names->n > max)
		return -E2BIG;
	if (names->n)
		memcpy(files, names->file, names->n * sizeof(*files));
	return (int)names->n;
}

static void drop_look(struct look *look)
{
	if (!look)
		return;
	free(look->version);
	free(look->scan.window.buf);
	free(look->scan.file);
	free(look->scan.map.seg);
	free(look);
}

/*
 * The longest frame that fits into a segment of this log, so that the buffer is not longer than the
 * log needs. The disk does not say how long the frames are. Without a meta block that checks, there
 * are none.
 */
static uint32_t longest_frame(struct spindle_log *log)
{
	unsigned char block[SPINDLE_DLOG_BLOCK_MAX] __attribute__((aligned(4096)));
	static const uint32_t most = SPINDLE_LOG_BUFFER;
	struct spindle_dlog_meta_state state;
	uint64_t number = 0;
	uint32_t i, frame = SPINDLE_DLOG_BLOCK_MAX;

	for (i = 0; i < 2; i++) {
		struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_META, .id = i };
		struct spindle_dlog_ident id = { 0 };

		if (port_read(log, file, 0, block, sizeof(block)) < (int)SPINDLE_DLOG_BLOCK_MIN ||
		    spindle_dlog_meta_parse(block, &id, &state) || state.number < number)
			continue;
		id.frame = id.block;
		if (!spindle_dlog_ident_check(&id))
			continue;
		number = state.number;
		frame = id.segment - id.block;
		if (frame > most)
			frame = most - most % id.block;
	}
	/* A file that is not there is no reason to begin again. */
	log->gone = false;
	return frame;
}

static struct look *make_look(struct spindle_log *log)
{
	struct look *look = calloc(1, sizeof(*look));
	struct spindle_dlog_scan *s;

	if (!look)
		return NULL;
	s = &look->scan;
	s->port = &log->port;
	s->max_files = log->names.n + 1;
	s->map.max = log->names.n + 1;
	s->max_damaged = SPINDLE_LOG_RANGES;
	s->max_epochs = SPINDLE_LOG_EPOCHS;
	s->damaged = look->damaged;
	s->epoch = look->epoch;
	s->id.frame = longest_frame(log);
	/* At least one block, and a multiple of the largest one. */
	s->window.size = (s->id.frame + SPINDLE_DLOG_BLOCK_MAX - 1) & ~(SPINDLE_DLOG_BLOCK_MAX - 1);
	s->window.buf = aligned_alloc(SPINDLE_DLOG_BLOCK_MAX, s->window.size);
	s->file = calloc(s->max_files, sizeof(*s->file));
	s->map.seg = calloc(s->map.max, sizeof(*s->map.seg));
	look->version = calloc(s->max_files, sizeof(*look->version));
	if (s->window.buf && s->file && s->map.seg && look->version)
		return look;
	drop_look(look);
	return NULL;
}

/* A file that goes in the meantime is a matter of the scan. */
static void note_versions(struct spindle_log *log, struct look *look)
{
	char name[SPINDLE_DLOG_NAME];
	struct stat st;
	uint32_t i;

	log->done = 0;
	log->total = 0;
	for (i = 0; i < log->names.n; i++) {
		if (log->names.file[i].kind != SPINDLE_DLOG_SEGMENT ||
		    spindle_dlog_name(log->names.file[i], name, sizeof(name)) ||
		    fstatat(log->dir, name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		look->version[look->versions++] = (struct version){
			.seq = log->names.file[i].id, .ino = st.st_ino, .ctime = st.st_ctim,
		};
		log->total += (uint64_t)st.st_size;
	}
}

static bool is_same_version(const struct version *a, const struct version *b)
{
	return a && b && a->ino == b->ino && a->ctime.tv_sec == b->ctime.tv_sec &&
	       a->ctime.tv_nsec == b->ctime.tv_nsec;
}

/*
 * A segment that is not the last one is changed by nobody but a repair, which makes another file.
 * What the scan before has found in segments that are the same files still holds.
 */
static bool holds(const struct look *before, const struct look *look)
{
	const struct spindle_dlog_map *map = &before->scan.map;
	uint32_t i;

	for (i = 0; i + 1 < map->n; i++) {
		const struct version *now = find_version(look, map->seg[i].seq);

		if (now && !is_same_version(now, find_version(before, map->seg[i].seq)))
			return false;
	}
	return true;
}

static int run_scan(struct spindle_log *log, struct look *look, const struct look *before)
{
	int err;

	note_versions(log, look);
	log->scans = true;
	if (before)
		err = holds(before, look) ?
		      spindle_dlog_recover_since(&look->scan, &before->scan) : -EAGAIN;
	else
		err = spindle_dlog_recover(&look->scan);
	log->scans = false;
	return err;
}

/*
 * Scan once, with @before only what has changed since. Return: 0, with @out; -EAGAIN if all has to
 * be scanned; or an errno, which says nothing if log->gone.
 */
static int scan_once(struct spindle_log *log, struct look **out, const struct look *before)
{
	struct look *look;
	int err;

	log->names.n = 0;
	log->gone = false;
	err = list_names(log, &log->names);
	if (err)
		return err;
	look = make_look(log);
	if (!look)
		return -ENOMEM;
	err = run_scan(log, look, before);
	if (!err && look->scan.is_new)
		err = -ENODATA;
	if (err || log->gone)
		drop_look(look);
	else
		*out = look;
	return err;
}

static bool has_range(const struct look *look, const struct spindle_dlog_range *r)
{
	const struct spindle_dlog_scan *s = &look->scan;
	uint32_t i;

	for (i = 0; i < s->n_damaged && i < s->max_damaged; i++)
		if (s->damaged[i].from <= r->from && r->to <= s->damaged[i].to)
			return true;
	return false;
}

/* Has the scan before found all damage, too? */
static bool is_confirmed(const struct look *look, const struct look *before)
{
	const struct spindle_dlog_scan *s = &look->scan;
	uint32_t i;

	for (i = 0; i < s->n_damaged && i < s->max_damaged; i++)
		if (!before || !has_range(before, &s->damaged[i]))
			return false;
	return true;
}

/*
 * A log may also seem broken because its meta blocks are written while they are read. With @since,
 * only what has changed is scanned, if that is possible.
 */
static int scan(struct spindle_log *log, struct look **out, const struct look *since)
{
	struct look *look = NULL, *before = NULL;
	uint32_t i, broken = 0;
	int err = 0;

	for (i = 0; i < TRIES; i++) {
		err = scan_once(log, &look, since);
		if (since && (err || log->gone)) {
			since = NULL;
			continue;
		}
		if (log->gone || (err == -EUCLEAN && !broken++))
			continue;
		if (err || is_confirmed(look, before))
			break;
		drop_look(before);
		before = look;
	}
	drop_look(before);
	if (i == TRIES)
		return -EBUSY;
	if (!err)
		*out = look;
	return err;
}

static bool is_same_log(const struct spindle_dlog_ident *a, const struct spindle_dlog_ident *b)
{
	return !memcmp(a->lineage, b->lineage, sizeof(a->lineage)) && a->salt == b->salt &&
	       a->subgroup == b->subgroup && a->node == b->node;
}

/* Have the reader use this look. */
static void use_look(struct spindle_log *log, struct look *look, uint64_t lsn)
{
	struct spindle_dlog_scan *s = &look->scan;

	drop_look(log->look);
	log->look = look;
	if ((log->flags & SPINDLE_LOG_DURABLE) && s->map.until > s->acked)
		s->map.until = s->acked;
	log->reader = (struct spindle_dlog_reader){
		.port = &log->port, .id = &s->id, .map = &s->map, .window = s->window,
	};
	spindle_dlog_seek(&log->reader, lsn);
}

/*
 * Where the messages end that the scan before has seen. A segment that is newer than all of its
 * segments begins behind these messages, unless they were cut.
 */
static uint64_t end_of_known(const struct look *before, const struct look *look)
{
	const struct spindle_dlog_map *old = &before->scan.map, *map = &look->scan.map;
	uint64_t end = look->scan.next;
	uint32_t i;

	for (i = map->n; i-- && (!old->n || map->seg[i].seq > old->seg[old->n - 1].seq);)
		if (map->seg[i].lsn < end)
			end = map->seg[i].lsn;
	return end;
}

int spindle_log_refresh(struct spindle_log *log)
{
	uint64_t lsn = log->reader.lsn, end;
	struct look *look;
	int err = scan(log, &look, log->look);

	if (err)
		return err;
	if (!is_same_log(&look->scan.id, &log->look->scan.id)) {
		drop_look(look);
		return -EXDEV;
	}
	end = end_of_known(log->look, look);
	if (lsn <= end) {
		use_look(log, look, lsn);
		return 0;
	}
	use_look(log, look, end > look->scan.map.low ? end : look->scan.map.low);
	return -ERANGE;
}

int spindle_log_open(struct spindle_log **out, const char *dir, unsigned int flags)
{
	return spindle_log_open_tell(out, dir, flags, NULL, NULL);
}

int spindle_log_open_tell(struct spindle_log **out, const char *dir, unsigned int flags,
			  spindle_log_tell_fn tell_fn, void *arg)
{
	struct spindle_log *log;
	struct look *look;
	int err;

	*out = NULL;
	if (flags & ~SPINDLE_LOG_DURABLE)
		return -EINVAL;
	log = calloc(1, sizeof(*log));
	if (!log)
		return -ENOMEM;
	log->flags = flags;
	/* The core asks for nothing else without a writer. */
	log->port = (struct spindle_dlog_port){ .env = log, .read = port_read, .list = port_list };
	log->tell = tell_fn;
	log->arg = arg;
	log->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = log->dir < 0 ? -errno : scan(log, &look, NULL);
	if (err) {
		spindle_log_close(log);
		return err;
	}
	log->tell = NULL;
	use_look(log, look, look->scan.map.low);
	*out = log;
	return 0;
}

void spindle_log_close(struct spindle_log *log)
{
	if (!log)
		return;
	if (log->dir >= 0)
		close(log->dir);
	drop_look(log->look);
	free(log->names.file);
	free(log);
}

void spindle_log_info(const struct spindle_log *log, struct spindle_log_info *info)
{
	const struct spindle_dlog_scan *s = &log->look->scan;

	*info = (struct spindle_log_info){
		.subgroup = s->id.subgroup, .node = s->id.node, .low = s->map.low,
		.next = s->next, .acked = s->acked, .time = s->time,
		.bytes = (uint64_t)s->map.n * s->id.segment, .segment = s->id.segment,
		.segments = s->map.n, .damaged = s->n_damaged, .epochs = s->n_epochs,
	};
	memcpy(info->lineage, s->id.lineage, sizeof(info->lineage));
}

int spindle_log_damaged(const struct spindle_log *log, uint32_t i, uint64_t *from, uint64_t *to)
{
	const struct spindle_dlog_scan *s = &log->look->scan;

	if (i >= s->n_damaged || i >= s->max_damaged)
		return -ENOENT;
	*from = s->damaged[i].from;
	*to = s->damaged[i].to;
	return 0;
}

int spindle_log_epoch(const struct spindle_log *log, uint32_t i, struct spindle_log_epoch *epoch)
{
	const struct spindle_dlog_scan *s = &log->look->scan;

	if (i >= s->n_epochs || i >= s->max_epochs)
		return -ENOENT;
	*epoch = (struct spindle_log_epoch){
		.era = s->epoch[i].era, .vid = s->epoch[i].vid, .lsn = s->epoch[i].lsn,
	};
	if (epoch->lsn < s->map.low)
		epoch->lsn = s->map.low;
	return 0;
}

int spindle_log_seek(struct spindle_log *log, uint64_t lsn)
{
	const struct spindle_dlog_map *map = &log->look->scan.map;

	if (lsn < map->low)
		return -ESTALE;
	if (lsn > map->until)
		return -ERANGE;
	spindle_dlog_seek(&log->reader, lsn);
	return 0;
}

static void give(const struct spindle_dlog_msg *from, struct spindle_log_msg *m)
{
	*m = (struct spindle_log_msg){
		.lsn = from->lsn, .next = from->lsn + 1, .era = from->era, .vid = from->vid,
		.time = from->time, .slot = from->slot, .node = from->node,
		.sender = from->sender, .flags = from->flags, .len = from->len,
		.data = from->data,
	};
}

/* What the core found in a directory that has changed since its scan says nothing. */
static int read_again(struct spindle_log *log, uint64_t lsn)
{
	spindle_dlog_seek(&log->reader, lsn);
	return spindle_log_refresh(log);
}

/* Was a segment repaired that the scan and the reader have seen in another file? */
static bool was_repaired(const struct spindle_log *log)
{
	const struct look *look = log->look;
	char name[SPINDLE_DLOG_NAME];
	struct stat st;
	uint32_t i;

	for (i = 0; i < look->versions; i++) {
		struct spindle_dlog_file file = {
			.kind = SPINDLE_DLOG_SEGMENT, .id = look->version[i].seq,
		};

		if (!spindle_dlog_name(file, name, sizeof(name)) &&
		    !fstatat(log->dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
		    st.st_ino != look->version[i].ino)
			return true;
	}
	return false;
}

int spindle_log_read(struct spindle_log *log, struct spindle_log_msg *m)
{
	struct spindle_dlog_msg msg;
	uint64_t lsn = log->reader.lsn;
	uint32_t i;
	int n, err;

	for (i = 0; i < TRIES; i++) {
		log->gone = false;
		n = spindle_dlog_read(&log->reader, &msg);
		if (!log->gone && (n != -EUCLEAN || !was_repaired(log)))
			break;
		err = read_again(log, lsn);
		if (err)
			return err;
	}
	if (i == TRIES)
		return -EBUSY;
	if (n == 1)
		give(&msg, m);
	else if (n == -EUCLEAN)
		*m = (struct spindle_log_msg){ .lsn = log->reader.damaged.from,
					       .next = log->reader.damaged.to };
	return n;
}

int spindle_log_find_time(struct spindle_log *log, uint64_t ns)
{
	uint64_t lsn = log->reader.lsn;
	uint32_t i;
	int n, err;

	for (i = 0; i < TRIES; i++) {
		log->gone = false;
		n = spindle_dlog_find_time(&log->reader, ns);
		if (!log->gone)
			break;
		err = read_again(log, lsn);
		/* The place of a time is none that the reader has had. */
		if (err && err != -ERANGE)
			return err;
		lsn = log->reader.lsn;
	}
	if (i < TRIES && !n)
		return 0;
	spindle_dlog_seek(&log->reader, lsn);
	return i < TRIES ? n : -EBUSY;
}

const char *spindle_log_strerror(int err)
{
	switch (-err) {
	case 0:
		return "success";
	case ENODATA:
		return "there is no log in the directory";
	case EUCLEAN:
		return "messages of the log are damaged, or its meta blocks";
	case ESTALE:
		return "the position was trimmed";
	case ERANGE:
		return "the position is behind the end of the log";
	case EXDEV:
		return "another log is in the directory now";
	case EBUSY:
		return "the log changes faster than it can be read";
	case E2BIG:
		return "the directory has too many files";
	case EINVAL:
		return "unknown flags";
	case ENOENT:
		return "there is no such directory";
	case ENOTDIR:
		return "not a directory";
	case EACCES:
		return "no permission to read the log";
	case ENOMEM:
		return "out of memory";
	}
	return err < 0 ? strerror(-err) : "unknown error";
}
