// SPDX-License-Identifier: GPL-2.0-only
/* Loggers of nodes that this program has made. See logger.h. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/util.h"
#include "logger.h"
#include "stop.h"

#define PROGRAM		"spindle-logd"
#define LOOK_MS		100
/* Descriptors of nftw(). */
#define DEPTH		8

/* The socket at which a logger says that its log is open, as it would to systemd. */
static int open_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = bind(fd, (struct sockaddr *)&addr,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
	if (!err)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* A logger has a process group of its own, because Ctrl-C must not end it before its subgroup. */
static void become(const char *dir, uint32_t node, const char *notify, const char *messages)
{
	const char *id = ctl_asprintf("%u", node);
	int fd = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	setenv("NOTIFY_SOCKET", notify, 1);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(127);
	execlp(PROGRAM, PROGRAM, "-d", dir, "-P", "none", id, (char *)NULL);
	dprintf(STDERR_FILENO, "%s: %s\n", PROGRAM, strerror(errno));
	_exit(127);
}

/* Show the last line that a logger has written. */
static void show_last(const char *messages, uint32_t node)
{
	char line[256] = "", last[256] = "";
	FILE *f = fopen(messages, "r");

	while (f && fgets(line, sizeof(line), f))
		strcpy(last, line);
	if (f)
		fclose(f);
	last[strcspn(last, "\n")] = '\0';
	ctl_err("the logger of node %u does not begin: %s", node, *last ? last : "no reason given");
}

/* A logger also tells how far it is. */
static bool is_ready(int fd)
{
	char text[256];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return strstr(text, "READY=1");
}

/* Return: 0, or -errno after a message */
static int wait_ready(struct perf_loggers *l, int fd, uint32_t node, const char *messages,
		      unsigned int wait)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t start = perf_monotonic();

	for (;;) {
		if (poll(&p, 1, LOOK_MS) > 0 && is_ready(fd))
			return 0;
		if (perf_stopped())
			return -EINTR;
		if (waitpid(l->pid[l->count - 1], NULL, WNOHANG) > 0) {
			l->count--;
			show_last(messages, node);
			return -ECHILD;
		}
		if (perf_monotonic() - start > wait * 1000000000ULL) {
			show_last(messages, node);
			return -ETIMEDOUT;
		}
	}
}

static int begin_one(struct perf_loggers *l, uint32_t node, unsigned int wait)
{
	char *notify = ctl_asprintf("%s/ready-%u", l->dir, node);
	char *messages = ctl_asprintf("%s/messages-%u", l->dir, node);
	int fd = open_socket(notify), rc;
	pid_t pid;

	if (fd < 0) {
		ctl_err("%s: %s", notify, strerror(-fd));
		return fd;
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		become(l->dir, node, notify, messages);
	if (pid < 0) {
		rc = -errno;
		ctl_err("a logger: %s", strerror(errno));
	} else {
		l->pid[l->count++] = pid;
		rc = wait_ready(l, fd, node, messages, wait);
	}
	close(fd);
	return rc;
}

/**
 * perf_loggers_begin() - start a logger for each node, and wait until their logs are open
 * @l: zeroed; the caller calls perf_loggers_end(), also after a failure
 * @base: directory below which they get a directory
 * @node: nodes
 * @nodes: entries of @node
 * @wait: seconds for each of them
 *
 * Return: 0 or -errno, after a message
 */
int perf_loggers_begin(struct perf_loggers *l, const char *base, const uint32_t *node,
		       unsigned int nodes, unsigned int wait)
{
	char *dir = ctl_asprintf("%s/spindle-perf.XXXXXX", base);
	unsigned int i;
	int rc = 0;

	if (!mkdtemp(dir)) {
		rc = -errno;
		ctl_err("log-dir %s: %s", base, strerror(errno));
		return rc;
	}
	l->dir = dir;
	for (i = 0; !rc && i < nodes; i++)
		rc = begin_one(l, node[i], wait);
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	if (remove(path))
		ctl_err("%s: %s", path, strerror(errno));
	return 0;
}

/* End all loggers, and remove their logs. What was zeroed only is allowed. */
void perf_loggers_end(struct perf_loggers *l)
{
	unsigned int i;

	/* A second signal would end a logger before it has written what it has read. */
	for (i = 0; i < l->count; i++)
		kill(l->pid[i], SIGTERM);
	for (i = 0; i < l->count; i++)
		while (waitpid(l->pid[i], NULL, 0) < 0 && errno == EINTR)
			;
	l->count = 0;
	if (l->dir)
		nftw(l->dir, remove_one, DEPTH, FTW_DEPTH | FTW_PHYS);
	l->dir = NULL;
}
