// SPDX-License-Identifier: GPL-2.0-only
/*
 * The use of a terminal by "top". A child draws on a pseudo terminal, which is resized and on which
 * keys are pressed. TAP.
 */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include "common/util.h"
#include "ctl/screen.h"
#include "tap.h"

#define ENTER	"\033[?1049h\033[?25l\033[?7l"
#define LEAVE	"\033[?7h\033[?25h\033[?1049l"

/* Longer than any step takes, because this bounds the time of a failure. */
#define LONG_MS	20000

static const char text[] =
	"first line\n"
	"f\303\274nf and a tail that is long\n"
	"third\n"
	"fourth\n"
	"fifth\n";

/* All of the text but its beginning, in a window that is large enough. */
#define FULL	"a tail that is long\033[K\r\nthird\033[K\r\nfourth\033[K\r\nfifth\033[K\r\n\033[J"

/**
 * struct term - a terminal and the child that draws on it
 */
struct term {
	/** @master: the side of the user */
	int master;
	/** @slave: the side of the child, kept open so that no output is lost */
	int slave;
	/** @pid: child */
	pid_t pid;
	/** @saved: modes of the terminal before the child started */
	struct termios saved;
	/** @seen: output behind the text that writes() found last */
	char seen[65536];
};

static uint64_t later(unsigned int seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec + seconds) * 1000000000ULL + now.tv_nsec;
}

/* Draw until a key or a signal ends it. */
static int draw(bool fail)
{
	if (!ctl_screen_there())
		return 4;
	ctl_screen_prepare();
	ctl_screen_draw(text);
	if (fail) {
		ctl_err("no more");
		return CTL_FAILED;
	}
	if (!ctl_screen_wait(later(LONG_MS / 1000)))
		return 3;
	return 5;
}

static void start(struct term *t, unsigned short rows, unsigned short columns, bool fail)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };

	memset(t, 0, sizeof(*t));
	if (openpty(&t->master, &t->slave, NULL, NULL, &size) ||
	    tcgetattr(t->slave, &t->saved))
		exit(1);
	t->pid = fork();
	if (!t->pid) {
		setenv("TERM", "xterm", 1);
		if (login_tty(t->slave))
			_exit(6);
		exit(draw(fail));
	}
}

/* Does the child write this text? Output in front of it is dropped. */
static bool writes(struct term *t, const char *what)
{
	struct pollfd fd = { .fd = t->master, .events = POLLIN };
	size_t len = strlen(t->seen);
	char *at;
	ssize_t got;

	while (!(at = strstr(t->seen, what))) {
		if (len == sizeof(t->seen) - 1 || poll(&fd, 1, LONG_MS) != 1)
			break;
		got = read(t->master, t->seen + len, sizeof(t->seen) - 1 - len);
		if (got <= 0)
			break;
		len += got;
	}
	if (!at) {
		for (at = t->seen; *at; at++)
			if (*at == '\033' || *at == '\r')
				*at = '^';
		fprintf(stderr, "# wrote: %s\n", t->seen);
		return false;
	}
	at += strlen(what);
	memmove(t->seen, at, strlen(at) + 1);
	return true;
}

static void press(struct term *t, const char *keys)
{
	if (write(t->master, keys, strlen(keys)) < 0)
		perror("# press");
}

/*
 * Wait for the child. Return: its exit status, or -SIGNAL. @restored: whether the modes of the
 * terminal are as before.
 */
static int end(struct term *t, bool *restored)
{
	struct termios now;
	int status = 0;

	waitpid(t->pid, &status, 0);
	*restored = !tcgetattr(t->slave, &now) && now.c_lflag == t->saved.c_lflag &&
		    now.c_cc[VMIN] == t->saved.c_cc[VMIN];
	close(t->master);
	close(t->slave);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_draw(void)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	struct termios now;
	struct term t;
	bool restored;

	start(&t, 4, 11, false);
	ok(writes(&t, ENTER "\033[Hfirst line\033[K\r\nf\303\274nf and a \033[K\r\n"
		      "third\033[K\r\n(2 more lin\033[K\033[J"),
	   "what does not fit is left out, in characters");
	ok(!tcgetattr(t.slave, &now) && !(now.c_lflag & (ICANON | ECHO)) &&
	   now.c_lflag & ISIG, "keys come by themselves and are not shown");
	ioctl(t.master, TIOCSWINSZ, &size);
	ok(writes(&t, FULL), "a larger window shows more");
	press(&t, "x\f");
	ok(writes(&t, "\033[Hfirst line"), "^L draws again");
	press(&t, "q");
	ok(writes(&t, LEAVE), "the terminal is given back");
	ok(end(&t, &restored) == 3 && restored, "q quits");
	start(&t, 0, 0, false);
	ok(writes(&t, FULL), "a terminal of unknown size has the usual one");
	press(&t, "Q");
	ok(end(&t, &restored) == 3 && restored, "Q quits, too");
}

static void test_signals(void)
{
	struct term t;
	bool restored;

	start(&t, 24, 80, false);
	writes(&t, "fifth\033[K\r\n\033[J");
	press(&t, "\003");
	ok(writes(&t, LEAVE), "the terminal is given back after ^C");
	ok(end(&t, &restored) == -SIGINT && restored, "^C ends it as it ends others");
	start(&t, 24, 80, false);
	writes(&t, "fifth\033[K\r\n\033[J");
	kill(t.pid, SIGTERM);
	ok(writes(&t, LEAVE), "the terminal is given back after a signal");
	ok(end(&t, &restored) == -SIGTERM && restored,
	   "the signal ends the program as it ends others");
	start(&t, 24, 80, false);
	writes(&t, "fifth\033[K\r\n\033[J");
	/* The child has no shell that could continue it, so the kernel does not stop it. */
	press(&t, "\032");
	ok(writes(&t, LEAVE ENTER "\033[Hfirst line"), "^Z gives it back and takes it again");
	press(&t, "q");
	ok(end(&t, &restored) == 3 && restored, "the program goes on after ^Z");
}

static void test_error(void)
{
	struct term t;
	bool restored;

	start(&t, 24, 80, true);
	ok(writes(&t, "fifth\033[K\r\n\033[J" LEAVE "spindle-ctl: no more\r\n"),
	   "an error is told where it can be read");
	ok(end(&t, &restored) == CTL_FAILED && restored,
	   "the terminal is as before after an error");
}

static void test_file(void)
{
	int saved = dup(STDOUT_FILENO), file = open("/dev/null", O_WRONLY);
	bool there;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	there = ctl_screen_there();
	dup2(saved, STDOUT_FILENO);
	ok(!there, "a file is no terminal");
}

int main(void)
{
	test_draw();
	test_signals();
	test_error();
	test_file();
	return tap_end();
}
