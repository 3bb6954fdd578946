// SPDX-License-Identifier: GPL-2.0-only
/*
 * The key of a group. See ctl-secret.h.
 *
 * It comes from a file, as everybody can read a command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl-secret.h"

const struct ctl_key ctl_secret_key = { .name = "key-file", .kind = CTL_STR };

static int fail(const char *path, const char *why)
{
	ctl_err("key-file '%s': %s", ctl_clean(path), why);
	return -EINVAL;
}

/* As many bytes as there is room for. Return: 0 or -errno. */
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

/* A warning only: it may be a test, or a file system that knows no modes. */
static void warn_open(const char *path, int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0006))
		ctl_err("key-file '%s': warning: everybody on this machine can %s it",
			ctl_clean(path), st.st_mode & 0004 ? "read" : "write");
}

/**
 * ctl_secret_read() - read a key
 * @secret: out: the key
 * @path: its file; a newline at the end is not part of it, as editors add one
 *
 * Return: 0 or -errno, having told the user
 */
int ctl_secret_read(struct ctl_secret *secret, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	memset(secret, 0, sizeof(*secret));
	if (fd < 0)
		return fail(path, strerror(errno));
	warn_open(path, fd);
	rc = read_all(secret, fd);
	close(fd);
	if (rc)
		return fail(path, strerror(-rc));
	if (secret->len && secret->byte[secret->len - 1] == '\n')
		secret->len--;
	if (secret->len > SPINDLE_MAX_KEY)
		return fail(path, ctl_asprintf("it is longer than %d bytes; a key has %d to %d",
					       SPINDLE_MAX_KEY, SPINDLE_MIN_KEY, SPINDLE_MAX_KEY));
	if (secret->len < SPINDLE_MIN_KEY)
		return fail(path, ctl_asprintf("it has %u byte%s; a key has %d to %d",
					       secret->len, secret->len == 1 ? "" : "s",
					       SPINDLE_MIN_KEY, SPINDLE_MAX_KEY));
	secret->path = path;
	return 0;
}

/* Into NODE_ADD, if there is one. What is left of it here is wiped out. */
void ctl_secret_put(struct ctl_req *req, struct ctl_secret *secret)
{
	if (!secret->path)
		return;
	ctl_req_mark(req, 0, ctl_asprintf("key-file %s", secret->path));
	ctl_req_bytes(req, SPINDLE_A_KEY, secret->byte, secret->len);
	explicit_bzero(secret->byte, sizeof(secret->byte));
}
