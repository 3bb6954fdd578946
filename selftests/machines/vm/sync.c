// SPDX-License-Identifier: GPL-2.0-only
/*
 * A barrier among guests, over TCP.
 *
 *   vm-sync NODE NODES SERVER PORT NAME SECONDS
 *
 * Node 1 serves at address SERVER. All nodes wait until every node has reached
 * the barrier NAME. The exit status is 0 then, or 1 when the time is over. A
 * node that reaches a barrier of another name is out of step, and the server
 * refuses it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_NODES	64
#define NAME_LEN	64

struct hello {
	unsigned int node;
	char name[NAME_LEN];
};

static time_t deadline;

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static int left_ms(void)
{
	time_t t = now();

	return t >= deadline ? 0 : (int)(deadline - t) * 1000;
}

static int ready(int fd, short what)
{
	struct pollfd p = { .fd = fd, .events = what };

	return poll(&p, 1, left_ms()) == 1;
}

static int get(int fd, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n;

		if (!ready(fd, POLLIN))
			return -1;
		n = read(fd, (char *)buf + done, len - done);
		if (n <= 0)
			return -1;
		done += n;
	}
	return 0;
}

static int serve(struct sockaddr_in *sa, unsigned int nodes, const char *name)
{
	int fds[MAX_NODES + 1], one = 1, rc = 0;
	unsigned int i, come = 1;
	char go = 'g';
	int ls;

	memset(fds, -1, sizeof(fds));
	ls = socket(AF_INET, SOCK_STREAM, 0);
	if (ls < 0)
		return 1;
	setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(ls, (struct sockaddr *)sa, sizeof(*sa)) || listen(ls, 64)) {
		perror("vm-sync: listen");
		return 1;
	}
	while (come < nodes) {
		struct hello h;
		int fd;

		if (!ready(ls, POLLIN)) {
			fprintf(stderr, "vm-sync: %s: only %u of %u came\n",
				name, come, nodes);
			rc = 1;
			break;
		}
		fd = accept(ls, NULL, NULL);
		if (fd < 0)
			continue;
		if (get(fd, &h, sizeof(h)) || h.node < 2 || h.node > nodes) {
			close(fd);
			continue;
		}
		h.name[NAME_LEN - 1] = '\0';
		if (strcmp(h.name, name)) {
			fprintf(stderr, "vm-sync: node %u is at %s, not %s\n",
				h.node, h.name, name);
			close(fd);
			continue;
		}
		/* A node that lost its connection comes again. */
		if (fds[h.node] >= 0)
			close(fds[h.node]);
		else
			come++;
		fds[h.node] = fd;
	}
	for (i = 0; i <= MAX_NODES; i++) {
		if (fds[i] < 0)
			continue;
		if (!rc && write(fds[i], &go, 1) != 1)
			rc = 1;
		close(fds[i]);
	}
	close(ls);
	return rc;
}

/* 0: all nodes arrived, 1: the time is over, -1: try again */
static int meet(struct sockaddr_in *sa, unsigned int node, const char *name)
{
	struct hello h = { .node = node };
	char go;
	int fd, rc = -1;

	snprintf(h.name, sizeof(h.name), "%s", name);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		return 1;
	if (!connect(fd, (struct sockaddr *)sa, sizeof(*sa)) &&
	    write(fd, &h, sizeof(h)) == sizeof(h) && !get(fd, &go, 1))
		rc = 0;
	close(fd);
	return rc;
}

int main(int argc, char **argv)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	struct timespec nap = { .tv_nsec = 100 * 1000 * 1000 };
	unsigned int node, nodes;

	if (argc != 7)
		return 2;
	node = atoi(argv[1]);
	nodes = atoi(argv[2]);
	sa.sin_port = htons(atoi(argv[4]));
	if (!node || node > nodes || nodes > MAX_NODES ||
	    inet_pton(AF_INET, argv[3], &sa.sin_addr) != 1)
		return 2;
	deadline = now() + atoi(argv[6]);
	signal(SIGPIPE, SIG_IGN);
	if (node == 1)
		return serve(&sa, nodes, argv[5]);
	while (left_ms()) {
		if (!meet(&sa, node, argv[5]))
			return 0;
		nanosleep(&nap, NULL);
	}
	fprintf(stderr, "vm-sync: %s: time over\n", argv[5]);
	return 1;
}
