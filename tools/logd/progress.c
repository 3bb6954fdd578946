// SPDX-License-Identifier: GPL-2.0-only
/* How far long work of a log is. See progress.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "logd.h"

/* Work that is over before has no line, and a longer one has lines this often. */
#define TELL_MS		10000U
/* The status of systemd changes this often. */
#define STATUS_MS	1000U

/**
 * logd_notify() - tell systemd something
 * @text: as sd_notify(3) takes it
 *
 * Without systemd there is no such socket, and nothing happens.
 */
void logd_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	if (!path || !*path || strlen(path) >= sizeof(addr.sun_path))
		return;
	memcpy(addr.sun_path, path, strlen(path));
	if (*path == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
			     (struct sockaddr *)&addr,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
					 strlen(path))) < 0)
		ctl_err("cannot notify %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static unsigned int percent(uint64_t done, uint64_t total)
{
	if (done >= total)
		return 100;
	return (unsigned int)((double)done / (double)total * 100);
}

/**
 * logd_progress() - say how far some work is, if that is due
 * @p: of the log
 * @what: the work, as a literal: what the log does
 * @done: bytes or positions that are done
 * @total: how many there are
 */
void logd_progress(struct logd_progress *p, const char *what, uint64_t done, uint64_t total)
{
	uint64_t now = peer_now_ms();
	char text[200];

	if (p->what != what)
		*p = (struct logd_progress){ .title = p->title, .what = what, .told_ms = now };
	if (!p->status_ms || now - p->status_ms >= STATUS_MS) {
		snprintf(text, sizeof(text), "STATUS=%s %s: %u %%", p->title, what,
			 percent(done, total));
		logd_notify(text);
		p->status_ms = now;
	}
	if (now - p->told_ms < TELL_MS)
		return;
	ctl_err("%s: %s: %u %%", p->title, what, percent(done, total));
	p->told_ms = now;
}

/**
 * logd_progress_end() - the work has ended
 * @p: of the log, with or without work
 */
void logd_progress_end(struct logd_progress *p)
{
	if (p->what)
		logd_notify("STATUS=");
	p->what = NULL;
}
