// SPDX-License-Identifier: MIT
/*
 * What the process that writes a log shall do: drop messages that nobody needs any more, or repair
 * damaged ones. This is what <spindle/log.h> promises of it, and the files.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spindle/log.h>

#include "log/format.h"
#include "log/snap.h"

/* Fill the bytes of a file. */
static void build(struct spindle_dlog_snap_disk *to, const struct spindle_dlog_snap *from)
{
	*to = (struct spindle_dlog_snap_disk){
		.magic = htole32(SPINDLE_DLOG_SNAP_MAGIC), .version = htole32(1),
		.era = htole64(from->era), .lsn = htole64(from->lsn),
	};
	memcpy(to->lineage, from->lineage, sizeof(to->lineage));
	to->crc = htole32(spindle_dlog_crc(0, to, offsetof(struct spindle_dlog_snap_disk, crc)));
}

/* Look at the bytes of a file. Return: 0, or -EBADMSG. */
static int parse(const struct spindle_dlog_snap_disk *from, struct spindle_dlog_snap *to)
{
	if (le32toh(from->magic) != SPINDLE_DLOG_SNAP_MAGIC || le32toh(from->version) != 1 ||
	    le32toh(from->crc) !=
	    spindle_dlog_crc(0, from, offsetof(struct spindle_dlog_snap_disk, crc)))
		return -EBADMSG;
	*to = (struct spindle_dlog_snap){ .era = le64toh(from->era), .lsn = le64toh(from->lsn) };
	memcpy(to->lineage, from->lineage, sizeof(to->lineage));
	return 0;
}

/**
 * spindle_dlog_snap_read - read a file
 * @dir: its directory
 * @file: its name
 * @to: what it says
 *
 * Return: 0; -EBADMSG if its bytes are wrong, or it is no regular file; or another errno.
 */
int spindle_dlog_snap_read(int dir, const char *file, struct spindle_dlog_snap *to)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err = 0;
	struct spindle_dlog_snap_disk disk;
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EBADMSG;
	else
		n = pread(fd, &disk, sizeof(disk), 0);
	if (n < 0)
		err = -errno;
	close(fd);
	if (!err && n != (ssize_t)sizeof(disk))
		err = -EBADMSG;
	return err ? err : parse(&disk, to);
}

/* The bytes are durable before the file gets its name. */
static int write_new(int dir, const char *name, const struct spindle_dlog_snap_disk *disk)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK, 0644), err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, disk, sizeof(*disk));
	if (n < 0 || fsync(fd))
		err = -errno;
	else if (n != (ssize_t)sizeof(*disk))
		err = -ENOSPC;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* Replace a file, and have it durable. Return: 0 or a negative errno. */
static int write_file(int dir, const char *file, const struct spindle_dlog_snap *from)
{
	char name[SPINDLE_DLOG_SNAP_FILE];
	struct spindle_dlog_snap_disk disk;
	int err, n = snprintf(name, sizeof(name), "%s.new", file);

	if (n < 0 || (size_t)n >= sizeof(name))
		return -EINVAL;
	build(&disk, from);
	err = write_new(dir, name, &disk);
	if (err)
		return err;
	if (renameat(dir, name, dir, file) || fsync(dir))
		return -errno;
	return 0;
}

static bool is_newer(const struct spindle_dlog_snap *a, const struct spindle_dlog_snap *b)
{
	return !memcmp(a->lineage, b->lineage, sizeof(a->lineage)) && spindle_dlog_snap_newer(a, b);
}

static int replace(const char *dir, const char *file, const struct spindle_dlog_snap *snap)
{
	int err, fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct spindle_dlog_snap old;

	if (fd < 0)
		return -errno;
	err = spindle_dlog_snap_read(fd, file, &old);
	if (!err && is_newer(&old, snap))
		err = -ESTALE;
	else if (!err || err == -ENOENT || err == -EBADMSG)
		err = write_file(fd, file, snap);
	close(fd);
	return err;
}

int spindle_log_snapshot(const char *dir, const char *name, const struct spindle_place *place)
{
	struct spindle_dlog_snap snap = { .era = place->era, .lsn = place->lsn };
	char file[SPINDLE_DLOG_SNAP_FILE];

	if (!spindle_dlog_snap_name(name))
		return -EINVAL;
	memcpy(snap.lineage, place->lineage, sizeof(snap.lineage));
	snprintf(file, sizeof(file), "snapshot.%s", name);
	return replace(dir, file, &snap);
}

int spindle_log_trim(const char *dir, const struct spindle_place *place)
{
	struct spindle_dlog_snap snap = { .era = place->era, .lsn = place->lsn };

	memcpy(snap.lineage, place->lineage, sizeof(snap.lineage));
	return replace(dir, "trim", &snap);
}

int spindle_log_repair(const char *dir, const struct spindle_place *place)
{
	struct spindle_dlog_snap snap = { .era = place->era, .lsn = place->lsn };
	int err, fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	memcpy(snap.lineage, place->lineage, sizeof(snap.lineage));
	err = write_file(fd, SPINDLE_DLOG_REPAIR_FILE, &snap);
	close(fd);
	return err;
}
