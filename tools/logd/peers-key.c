// SPDX-License-Identifier: GPL-2.0-only
/* The key of the group, from the file that the node has it from. See peers.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/spindle_genl.h>

#include "peers.h"

/* A newline behind the key, and a byte that shows that it is too long. */
#define ROOM	(SPINDLE_MAX_KEY + 2)

/* Return: bytes, or a negative errno. */
static int read_all(int fd, uint8_t *buf)
{
	int len = 0;
	ssize_t n;

	while (len < ROOM) {
		n = read(fd, buf + len, (size_t)(ROOM - len));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			break;
		len += n > 0 ? (int)n : 0;
	}
	return len;
}

/* This is a warning and no error, because the key may be for a test. */
static void warn_of_others(int fd, const char *path)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0006))
		ctl_err("key-file '%s': warning: everybody on this machine has access to it",
			ctl_clean(path));
}

/**
 * logd_peers_key() - read the key of the group
 * @id: gets the key that is made of it
 * @path: file, as that of "spindle-ctl node add ... key-file"
 *
 * Return: whether it is one; a sentence says why not.
 */
bool logd_peers_key(struct peer_id *id, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), len;
	uint8_t buf[ROOM];

	if (fd < 0) {
		ctl_err("key-file '%s': %s", ctl_clean(path), strerror(errno));
		return false;
	}
	warn_of_others(fd, path);
	len = read_all(fd, buf);
	close(fd);
	if (len > 0 && buf[len - 1] == '\n')
		len--;
	if (len < 0)
		ctl_err("key-file '%s': %s", ctl_clean(path), strerror(-len));
	else if (len < SPINDLE_MIN_KEY || len > SPINDLE_MAX_KEY)
		ctl_err("key-file '%s': a key has %d to %d bytes", ctl_clean(path),
			SPINDLE_MIN_KEY, SPINDLE_MAX_KEY);
	else
		peer_key(id, buf, (size_t)len);
	explicit_bzero(buf, sizeof(buf));
	return len >= SPINDLE_MIN_KEY && len <= SPINDLE_MAX_KEY;
}
