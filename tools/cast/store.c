// SPDX-License-Identifier: GPL-2.0-only
/* The directory for received files. See store.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/util.h"
#include "crc32c.h"
#include "store.h"

#define BUFFER		(1U << 20)
/* Bytes that one call writes before it returns to the loop. */
#define CHUNK		(8U << 20)
/* The name needs room for "." in front and ".XXXXXXXX.part" behind, within NAME_MAX. */
#define NAME_PART	239

int cast_store_open(struct cast_store *s, const struct cast_opts *o)
{
	s->o = o;
	s->fd = open(o->argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd >= 0)
		return CTL_OK;
	ctl_err("%s: %s", ctl_clean(o->argv[0]), strerror(errno));
	return CTL_FAILED;
}

/**
 * open_parent() - open the directory of a file, without following links
 * @s: store
 * @name: name of the file
 * @make: make directories that do not exist
 * @last: out: last part of @name
 *
 * Return: descriptor, or -errno. With -ENOENT, *@last is the first part that does not exist
 */
static int open_parent(const struct cast_store *s, const char *name, bool make,
		       const char **last)
{
	char part[CAST_NAME_MAX + 1];
	int fd = dup(s->fd), next, err;
	const char *slash;

	for (*last = name; fd >= 0 && (slash = strchr(*last, '/')); *last = slash + 1) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - *last), *last);
		if (make && mkdirat(fd, part, 0777) && errno != EEXIST) {
			err = -errno;
			close(fd);
			return err;
		}
		next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		err = -errno;
		close(fd);
		if (next < 0)
			return err;
		fd = next;
	}
	return fd < 0 ? -errno : fd;
}

/* ---- what is there ---------------------------------------------------- */

static int checksum_at(int dir, const char *name, uint32_t *crc)
{
	static unsigned char buf[BUFFER];
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;

	*crc = 0;
	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		*crc = crc32c(*crc, buf, (size_t)n);
	close(fd);
	return n < 0 ? -errno : 0;
}

static void say(struct cast_say *to, uint32_t verdict, const char *why)
{
	to->verdict = verdict;
	to->why = why;
}

static void look_at(const struct cast_store *s, int dir, const char *last,
		    const struct cast_entry *e, struct cast_say *to)
{
	struct stat st;
	uint32_t crc;
	int err;

	if (fstatat(dir, last, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno != ENOENT)
			say(to, CAST_NO, strerror(errno));
		else
			say(to, CAST_YES, "");
	} else if (!S_ISREG(st.st_mode)) {
		say(to, CAST_NO, "something that is no regular file has this name");
	} else if ((uint64_t)st.st_size == e->size) {
		err = checksum_at(dir, last, &crc);
		if (!err && crc == e->crc)
			say(to, CAST_HAD, "");
		else if (s->o->overwrite)
			say(to, CAST_YES, "");
		else
			say(to, CAST_NO, err ? strerror(-err) :
			    "a different file has this name; --overwrite replaces it");
	} else {
		say(to, s->o->overwrite ? CAST_YES : CAST_NO, s->o->overwrite ? "" :
		    "a different file has this name; --overwrite replaces it");
	}
}

static void look(const struct cast_store *s, const struct cast_entry *e, struct cast_say *to)
{
	struct rlimit limit;
	const char *last;
	char *parent;
	int dir;

	dir = open_parent(s, e->name, false, &last);
	if (dir == -ENOENT) {
		/* The missing directory would be made in the deepest one that exists. */
		parent = ctl_asprintf("%.*s", (int)(last - e->name), e->name);
		dir = open_parent(s, parent, false, &last);
		ctl_free(parent);
		say(to, CAST_YES, "");
	} else if (dir >= 0) {
		look_at(s, dir, last, e, to);
	}
	if (dir < 0) {
		say(to, CAST_NO, dir == -ELOOP || dir == -ENOTDIR ?
		    "something that is no directory has the name of its directory" :
		    strerror(-dir));
		return;
	}
	if (to->verdict == CAST_YES && faccessat(dir, ".", W_OK | X_OK, AT_EACCESS))
		say(to, CAST_NO, ctl_asprintf("its directory: %s", strerror(errno)));
	if (to->verdict == CAST_YES && !getrlimit(RLIMIT_FSIZE, &limit) && e->size > limit.rlim_cur)
		say(to, CAST_NO, "longer than RLIMIT_FSIZE allows (ulimit -f)");
	close(dir);
}

/**
 * cast_store_look() - find the files that are needed, and those that cannot be stored
 * @s: store
 * @m: batch
 * @to: out: state of each file
 */
void cast_store_look(const struct cast_store *s, const struct cast_manifest *m,
		     struct cast_say *to)
{
	uint64_t need = 0, room;
	struct statvfs fs;
	const char *why;
	uint32_t i;

	for (i = 0; i < m->count; i++) {
		look(s, &m->entry[i], &to[i]);
		if (to[i].verdict == CAST_YES &&
		    __builtin_add_overflow(need, m->entry[i].size, &need))
			need = UINT64_MAX;
	}
	if (fstatvfs(s->fd, &fs))
		return;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (need <= room)
		return;
	why = ctl_asprintf("no space: the batch needs %llu bytes, and %llu are free",
			   (unsigned long long)need, (unsigned long long)room);
	for (i = 0; i < m->count; i++)
		if (to[i].verdict == CAST_YES && m->entry[i].size)
			say(&to[i], CAST_NO, why);
}

/* ---- writing ---------------------------------------------------------- */

/**
 * cast_write_begin() - create a file under a temporary name
 * @w: out: the file
 * @s: store
 * @e: properties of the file
 * @data: bytes of the file
 *
 * Return: NULL, or why the file cannot be created
 */
const char *cast_write_begin(struct cast_write *w, const struct cast_store *s,
			     const struct cast_entry *e, const void *data)
{
	const char *last, *why;
	uint32_t random = 0;
	int err;

	memset(w, 0, sizeof(*w));
	w->dir = open_parent(s, e->name, true, &last);
	if (w->dir < 0)
		return ctl_asprintf("its directory: %s", strerror(-w->dir));
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint32_t)getpid();
	snprintf(w->temp, sizeof(w->temp), ".%.*s.%08x.part", NAME_PART, last, random);
	w->fd = openat(w->dir, w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->fd < 0) {
		why = strerror(errno);
		close(w->dir);
		return why;
	}
	w->e = e;
	w->data = data;
	/* If space is lacking, it is better to know that before the file is written. */
	err = e->size ? fallocate(w->fd, 0, 0, (off_t)e->size) : 0;
	if (!err || errno == EOPNOTSUPP)
		return NULL;
	why = strerror(errno);
	cast_write_abort(w);
	return why;
}

/* Give up a file, and remove what was written. */
void cast_write_abort(struct cast_write *w)
{
	if (!w->e)
		return;
	unlinkat(w->dir, w->temp, 0);
	close(w->fd);
	close(w->dir);
	w->e = NULL;
}

/* Rename the file from its temporary name to its own. */
static int give_name(const struct cast_write *w, const struct cast_store *s)
{
	const char *slash = strrchr(w->e->name, '/'), *last = slash ? slash + 1 : w->e->name;

	if (s->o->overwrite)
		return renameat(w->dir, w->temp, w->dir, last);
	if (!renameat2(w->dir, w->temp, w->dir, last, RENAME_NOREPLACE))
		return 0;
	/* Some file systems do not have RENAME_NOREPLACE. */
	if (errno != EINVAL || !faccessat(w->dir, last, F_OK, AT_SYMLINK_NOFOLLOW))
		return -1;
	return renameat(w->dir, w->temp, w->dir, last);
}

static const char *finish(struct cast_write *w, const struct cast_store *s)
{
	struct timespec when[2] = {
		{ .tv_nsec = UTIME_OMIT }, { .tv_sec = w->e->sec, .tv_nsec = w->e->nsec },
	};
	const char *why = NULL;

	if (s->o->verify && w->crc != w->e->crc)
		why = ctl_asprintf("checksum %08x, and %08x was sent: the file has changed since then, "
				   "or the network spoils data", w->crc, w->e->crc);
	/* Drop set-id bits, because the user that set them is not a user of this machine. */
	else if (fchmod(w->fd, w->e->mode & 0777) || futimens(w->fd, when) ||
		 (s->o->fsync && fsync(w->fd)) || give_name(w, s) || (s->o->fsync && fsync(w->dir)))
		why = errno == EEXIST ? "another file has taken this name" :
					strerror(errno);
	if (why) {
		cast_write_abort(w);
		return why;
	}
	close(w->fd);
	close(w->dir);
	w->e = NULL;
	return NULL;
}

/**
 * cast_write_some() - write the next piece of a file
 * @w: file
 * @s: store
 * @ready: out: the file is complete, and has its name
 *
 * Return: NULL, or why the file has failed; it has been removed then
 */
const char *cast_write_some(struct cast_write *w, const struct cast_store *s, bool *ready)
{
	uint64_t left = w->e->size - w->done;
	size_t n, len = left < CHUNK ? (size_t)left : CHUNK;
	const char *why;
	ssize_t ret;

	*ready = false;
	for (n = 0; n < len; n += (size_t)ret) {
		ret = write(w->fd, w->data + w->done + n, len - n);
		if (ret <= 0) {
			why = strerror(ret ? errno : EIO);
			cast_write_abort(w);
			return why;
		}
	}
	if (s->o->verify && len)
		w->crc = crc32c(w->crc, w->data + w->done, len);
	w->done += len;
	if (w->done < w->e->size)
		return NULL;
	why = finish(w, s);
	*ready = !why;
	return why;
}
