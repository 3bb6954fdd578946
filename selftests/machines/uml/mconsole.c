// SPDX-License-Identifier: GPL-2.0-only
/*
 * mconsole SOCKET COMMAND: send a command to the management console of a UML
 * kernel. The kernel answers as long as it handles interrupts.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

struct request {
	uint32_t magic, version, len;
	char data[512];
};

struct reply {
	uint32_t err, more, len;
	char data[512];
};

int main(int argc, char **argv)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct sockaddr_un me = { .sun_family = AF_UNIX };
	struct request req = { .magic = 0xcafebabe, .version = 2 };
	struct timeval limit = { .tv_sec = 2 };
	struct reply rep;
	int fd;

	if (argc != 3 || strlen(argv[1]) >= sizeof(to.sun_path) ||
	    strlen(argv[2]) >= sizeof(req.data)) {
		fprintf(stderr, "mconsole SOCKET COMMAND\n");
		return 2;
	}
	strcpy(to.sun_path, argv[1]);
	strcpy(req.data, argv[2]);
	req.len = strlen(argv[2]);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	/*
	 * Bind to an address that the kernel chooses, so that the console can
	 * answer.
	 */
	if (fd < 0 || bind(fd, (void *)&me, sizeof(me.sun_family)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    sendto(fd, &req, sizeof(req), 0, (void *)&to, sizeof(to)) < 0) {
		perror(argv[1]);
		return 1;
	}
	do {
		ssize_t n = recv(fd, &rep, sizeof(rep), 0);

		if (n < (ssize_t)(3 * sizeof(uint32_t))) {
			fprintf(stderr, "no answer\n");
			return 1;
		}
		if (rep.len > sizeof(rep.data))
			rep.len = sizeof(rep.data);
		printf("%.*s", (int)rep.len, rep.data);
	} while (rep.more);
	return rep.err != 0;
}
