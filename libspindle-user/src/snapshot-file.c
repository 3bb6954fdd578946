// SPDX-License-Identifier: MIT
/*
 * A file with a snapshot: does its head check, and may its owner have written it? See log/snap.h.
 *
 * Other users may have put files into the directory, so no link is followed, and no length is taken
 * from the head without a look at the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/snap.h"

/* May only root and this user have written the file? */
static bool is_own(const struct stat *info, uid_t owner)
{
	return S_ISREG(info->st_mode) && !(info->st_mode & 0022) &&
	       (!info->st_uid || info->st_uid == owner);
}

static int check_file(int fd, uid_t owner, struct spindle_dlog_snapshot *st)
{
	struct spindle_dlog_snapshot_disk head;
	struct stat info;
	ssize_t n;
	int err;

	if (fstat(fd, &info))
		return -errno;
	if (!is_own(&info, owner))
		return -EBADMSG;
	n = pread(fd, &head, sizeof(head), 0);
	if (n < 0)
		return -errno;
	err = n == (ssize_t)sizeof(head) ? spindle_dlog_snapshot_parse(&head, st) : -EBADMSG;
	if (err)
		return err;
	return (uint64_t)info.st_size == st->bytes + SPINDLE_DLOG_SNAP_HEAD ? 0 : -EBADMSG;
}

/**
 * spindle_dlog_snapshot_open - open a file with a snapshot
 * @dir: its directory
 * @file: its name
 * @owner: user that may own it, beside root
 * @st: what its head says; the bytes behind the head are not looked at
 *
 * Return: a descriptor, which the caller closes; -EBADMSG: head, length or owner are wrong, or the
 * file is no regular one; or another negative errno.
 */
int spindle_dlog_snapshot_open(int dir, const char *file, uid_t owner,
			       struct spindle_dlog_snapshot *st)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err;

	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	err = check_file(fd, owner, st);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/**
 * spindle_dlog_snapshot_look - look at a file with a snapshot
 * @dir: its directory
 * @file: its name
 * @lsn: the position that the name says
 * @owner: user that may own it, beside root
 * @st: what its head says
 *
 * Return: 0; -EBADMSG: it is no snapshot of that position; or another negative errno.
 */
int spindle_dlog_snapshot_look(int dir, const char *file, uint64_t lsn, uid_t owner,
			       struct spindle_dlog_snapshot *st)
{
	int fd = spindle_dlog_snapshot_open(dir, file, owner, st);

	if (fd < 0)
		return fd;
	close(fd);
	return st->at.lsn == lsn ? 0 : -EBADMSG;
}
