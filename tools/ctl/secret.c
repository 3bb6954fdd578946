// SPDX-License-Identifier: GPL-2.0-only
/*
 * The key of a group. See secret.h.
 *
 * The key comes from a file, because everybody can read a command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "secret.h"

/* Read as many bytes as there is room for. Return: 0 or -errno. */
static int read_all(struct ctl_secret *secret, int fd)
{
	ssize_t got;

	while (secret->len < sizeof(secret->byte)) {
		got = read(fd, secret->byte + secret->len, sizeof(secret->byte) - secret->len);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			break;
		secret->len += got > 0 ? got : 0;
	}
	return 0;
}

/* Which other users have access to the file, by its mode? NULL: none, or it is no regular file. */
static const char *who_else(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !(st.st_mode & 0006))
		return NULL;
	return st.st_mode & 0004 ? "everybody on this machine can read it" :
				   "everybody on this machine can write it";
}

/**
 * ctl_secret_load() - read a key without printing anything
 * @secret: out: the key
 * @path: file of the key; a newline at its end is not part of the key, because editors add one
 * @open_to: out: other users that have access to the file, in words; NULL: none
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_secret_load(struct ctl_secret *secret, const char *path, const char **open_to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	*open_to = NULL;
	memset(secret, 0, sizeof(*secret));
	if (fd < 0)
		return strerror(errno);
	*open_to = who_else(fd);
	rc = read_all(secret, fd);
	close(fd);
	if (rc)
		return strerror(-rc);
	if (secret->len && secret->byte[secret->len - 1] == '\n')
		secret->len--;
	if (secret->len > SPINDLE_MAX_KEY)
		return ctl_asprintf("it is longer than %d bytes; a key has %d to %d",
				    SPINDLE_MAX_KEY, SPINDLE_MIN_KEY, SPINDLE_MAX_KEY);
	if (secret->len < SPINDLE_MIN_KEY)
		return ctl_asprintf("it has %u byte%s; a key has %d to %d", secret->len,
				    secret->len == 1 ? "" : "s", SPINDLE_MIN_KEY,
				    SPINDLE_MAX_KEY);
	secret->path = path;
	return NULL;
}

/**
 * ctl_secret_read() - read the key that the command line names
 * @secret: out: the key
 * @path: file of the key
 *
 * Return: 0, or -EINVAL after a message
 */
int ctl_secret_read(struct ctl_secret *secret, const char *path)
{
	const char *open_to, *err = ctl_secret_load(secret, path, &open_to);

	/* This is a warning and no error, because the key may be for a test. */
	if (open_to)
		ctl_err("key-file '%s': warning: %s", ctl_clean(path), open_to);
	if (!err)
		return 0;
	ctl_err("key-file '%s': %s", ctl_clean(path), err);
	return -EINVAL;
}

/* Add the key to NODE_ADD, if there is one, and wipe it from @secret. */
void ctl_secret_put(struct ctl_req *req, int line, struct ctl_secret *secret)
{
	if (!secret->path)
		return;
	ctl_req_mark(req, line, ctl_asprintf("key-file %s", secret->path));
	ctl_req_bytes(req, SPINDLE_A_KEY, secret->byte, secret->len);
	explicit_bzero(secret->byte, sizeof(secret->byte));
}
