// SPDX-License-Identifier: MIT
/*
 * on-tty: run a command on a terminal, and press keys there.
 *
 *	on-tty ROWS COLUMNS KEYS AFTER COMMAND...
 *
 * The program presses the keys (for example ^C) when the command has written the text AFTER. The
 * output of the command is copied to the standard output, with ^[ for each escape and without
 * carriage returns. A command that has not written for a minute is killed.
 *
 * Exit status: that of the command, 128 and its number if a signal ended it; 1 also if the terminal
 * has other modes than before; 2 usage.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

/* The time between two looks, and the most looks without output. */
#define LOOK_MS		100
#define LOOKS		600

static char seen[1 << 20];
static size_t len;

/* Copy the output of the command at once, because a script may wait for it. */
static void copy(int master)
{
	ssize_t got, i;

	if (len == sizeof(seen) - 1)
		len = 0;
	got = read(master, seen + len, sizeof(seen) - 1 - len);
	for (i = 0; i < got; i++) {
		if (seen[len + i] == '\033')
			fputs("^[", stdout);
		else if (seen[len + i] != '\r')
			putchar(seen[len + i]);
	}
	len += got > 0 ? got : 0;
	seen[len] = '\0';
	fflush(stdout);
}

static void press(int master, const char *keys)
{
	char key;

	for (; *keys; keys++) {
		key = *keys;
		if (key == '^' && keys[1])
			key = *++keys & 0x1f;
		if (write(master, &key, 1) != 1)
			perror("on-tty: press");
	}
}

/* Watch until the command has ended. Return: its status, as from waitpid() */
static int watch(int master, pid_t pid, const char *keys, const char *after)
{
	struct pollfd fd = { .fd = master, .events = POLLIN };
	int status, looks = 0;

	while (poll(&fd, 1, LOOK_MS) == 1 || !waitpid(pid, &status, WNOHANG)) {
		if (!(fd.revents & POLLIN)) {
			if (++looks == LOOKS)
				kill(pid, SIGKILL);
			continue;
		}
		looks = 0;
		copy(master);
		if (keys && strstr(seen, after)) {
			press(master, keys);
			keys = NULL;
		}
	}
	return status;
}

int main(int argc, char **argv)
{
	struct termios before, after;
	struct winsize size = { 0 };
	int master, slave, status;
	pid_t pid;

	if (argc < 6) {
		fprintf(stderr, "usage: on-tty ROWS COLUMNS KEYS AFTER COMMAND...\n");
		return 2;
	}
	size.ws_row = atoi(argv[1]);
	size.ws_col = atoi(argv[2]);
	if (openpty(&master, &slave, NULL, NULL, &size) || tcgetattr(slave, &before)) {
		perror("on-tty: openpty");
		return 2;
	}
	pid = fork();
	if (!pid) {
		close(master);
		setenv("TERM", "linux", 1);
		if (!login_tty(slave))
			execvp(argv[5], argv + 5);
		_exit(127);
	}
	/* The slave stays open here, so the master does not report the end of the command. */
	status = watch(master, pid, argv[3], argv[4]);
	if (tcgetattr(slave, &after) || memcmp(&before, &after, sizeof(before))) {
		fprintf(stderr, "on-tty: the modes of the terminal are not as before\n");
		return 1;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
