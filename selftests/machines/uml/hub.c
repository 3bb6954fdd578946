// SPDX-License-Identifier: GPL-2.0-only
/*
 * hub N COMMAND [ARG]...: a network of N ports for COMMAND and what it starts.
 *
 * Port i (from 1) is file descriptor HUB_FD + i of the command: one end of a pair of datagram
 * sockets. Each datagram is an Ethernet frame, as in the "fd" transport of User-Mode Linux. A frame
 * goes to the port from which its destination last sent, or to all others if there is none. A port
 * that does not read loses frames, as in any other network. The hub ends with the command, and
 * returns its status.
 *
 * File descriptor HUB_FD controls the hub. A line "I both|in|out|none" cuts port I off in both
 * directions, only for frames to it (in) or from it (out), or not at all.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HUB_FD		100
#define MAX_PORTS	8
#define MAX_FRAME	65536
#define MAX_MACS	64
#define BUFFER		(64 << 20)	/* for frames while a guest waits to run */
#define MAC_LEN		6
#define MAX_LINES	256

/* Directions in which a port is cut, as its guest sees them. */
#define CUT_IN		1
#define CUT_OUT		2

static int port[MAX_PORTS];
static unsigned int cut[MAX_PORTS];
static unsigned long lost[MAX_PORTS];	/* frames to the port without room for them */
static int num_ports;
static int handle;
static pid_t child;

/* The addresses that have sent, with their ports. A new entry replaces the oldest one. */
static struct {
	uint8_t mac[MAC_LEN];
	int port;
} known[MAX_MACS];
static unsigned int num_known;

static int find(const uint8_t *mac)
{
	unsigned int i;

	for (i = 0; i < num_known && i < MAX_MACS; i++)
		if (!memcmp(known[i].mac, mac, MAC_LEN))
			return i;
	return -1;
}

static void learn(const uint8_t *mac, int from)
{
	int i = find(mac);

	if (i < 0) {
		i = num_known++ % MAX_MACS;
		memcpy(known[i].mac, mac, MAC_LEN);
	}
	known[i].port = from;
}

static void forward(int from, const uint8_t *frame, ssize_t len)
{
	int i, to;

	if (len < 2 * MAC_LEN || (cut[from] & CUT_OUT))
		return;
	learn(frame + MAC_LEN, from);
	to = find(frame);
	for (i = 0; i < num_ports; i++)
		if (i != from && (to < 0 || known[to].port == i) && !(cut[i] & CUT_IN))
			if (send(port[i], frame, len, MSG_DONTWAIT) < 0)
				lost[i]++;
}

/* Lines arrive whole, because they are shorter than one atomic write to a pipe. */
static void obey(void)
{
	static const struct {
		const char *word;
		unsigned int cut;
	} hows[] = {
		{ "none", 0 }, { "in", CUT_IN }, { "out", CUT_OUT }, { "both", CUT_IN | CUT_OUT },
	};
	char lines[MAX_LINES], word[8], *line, *rest = lines;
	ssize_t len = read(handle, lines, sizeof(lines) - 1);
	unsigned int i;
	int node;

	if (len <= 0)
		return;
	lines[len] = '\0';
	while ((line = strsep(&rest, "\n")) && *line) {
		if (sscanf(line, "%d %7s", &node, word) != 2 || node < 1 || node > num_ports)
			continue;
		for (i = 0; i < sizeof(hows) / sizeof(*hows); i++)
			if (!strcmp(hows[i].word, word))
				cut[node - 1] = hows[i].cut;
	}
}

/* Without privilege, the socket gets as large a buffer as the system grants. */
static void widen(int fd)
{
	int size = BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

static void start(char **argv)
{
	int far[MAX_PORTS], i, pair[2], ctl[2];

	if (pipe(ctl)) {
		perror("hub: pipe");
		exit(1);
	}
	handle = ctl[0];
	for (i = 0; i < num_ports; i++) {
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) {
			perror("hub: socketpair");
			exit(1);
		}
		widen(pair[0]);
		widen(pair[1]);
		port[i] = pair[0];
		far[i] = pair[1];
	}
	child = fork();
	if (child < 0) {
		perror("hub: fork");
		exit(1);
	}
	if (!child && dup2(ctl[1], HUB_FD) < 0)
		_exit(1);
	if (!child)
		close(ctl[0]);
	close(ctl[1]);
	for (i = 0; i < num_ports; i++) {
		if (!child && dup2(far[i], HUB_FD + 1 + i) < 0)
			_exit(1);
		close(far[i]);
		if (!child)
			close(port[i]);
	}
	if (child)
		return;
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static void pass_on(int sig)
{
	kill(child, sig);
}

int main(int argc, char **argv)
{
	static uint8_t frame[MAX_FRAME];
	struct pollfd pfd[MAX_PORTS + 1];
	int i, status;

	num_ports = argc > 2 ? atoi(argv[1]) : 0;
	if (num_ports < 2 || num_ports > MAX_PORTS) {
		fprintf(stderr, "hub 2..%d COMMAND [ARG]...\n", MAX_PORTS);
		return 2;
	}
	start(argv + 2);
	/* The terminal sends Ctrl-C to the command, too, and the command handles it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	for (i = 0; i < num_ports; i++) {
		pfd[i].fd = port[i];
		pfd[i].events = POLLIN;
	}
	pfd[num_ports].fd = handle;
	pfd[num_ports].events = POLLIN;
	while (waitpid(child, &status, WNOHANG) != child) {
		if (poll(pfd, num_ports + 1, 200) <= 0)
			continue;
		if (pfd[num_ports].revents & POLLIN)
			obey();
		for (i = 0; i < num_ports; i++) {
			ssize_t len;

			while ((len = recv(port[i], frame, sizeof(frame), MSG_DONTWAIT)) > 0)
				forward(i, frame, len);
		}
	}
	for (i = 0; i < num_ports; i++)
		printf("# hub: port %d has lost %lu frames\n", i + 1, lost[i]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
