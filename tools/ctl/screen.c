// SPDX-License-Identifier: GPL-2.0-only
/*
 * A terminal on which a text is drawn repeatedly. See screen.h.
 *
 * The terminal is left as it was found, however the program ends. Signals are only let in while
 * ctl_screen_wait() waits. That function restores the terminal before it obeys a signal.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/bar.h"
#include "common/clock.h"
#include "common/util.h"
#include "screen.h"

/* Use the alternate screen, without cursor and without wrapped lines; and go back. */
#define ENTER	"\033[?1049h\033[?25l\033[?7l"
#define LEAVE	"\033[?7h\033[?25h\033[?1049l"
/* Move to the first row; clear to the end of the line; clear all rows below. */
#define HOME	"\033[H"
#define EOL	"\033[K"
#define BELOW	"\033[J"

#define CTRL_L	12

static const int signals[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH
};

static bool opened, has_keys;
static struct termios saved;
static sigset_t let_in;
static volatile sig_atomic_t caught[CTL_ARRAY_SIZE(signals)];
static char *shown;

static void catch(int sig)
{
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(signals); i++)
		if (signals[i] == sig)
			caught[i] = 1;
}

/* Is standard output a terminal that can be drawn on? */
bool ctl_screen_there(void)
{
	return ctl_can_draw(STDOUT_FILENO);
}

static void put(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

static void take_terminal(void)
{
	struct termios keys;

	/* Read one key at a time, without echo. ^C and ^Z remain signals. */
	has_keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &saved);
	if (has_keys) {
		keys = saved;
		keys.c_lflag &= ~(ICANON | ECHO);
		keys.c_cc[VMIN] = 1;
		keys.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	}
	put(ENTER);
}

static void give_terminal(void)
{
	put(LEAVE);
	if (has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/**
 * ctl_screen_prepare() - catch signals
 *
 * ctl_screen_draw() takes the terminal over, not this function. So an error before the first
 * drawing leaves a normal terminal.
 */
void ctl_screen_prepare(void)
{
	struct sigaction act = { .sa_handler = catch };
	sigset_t block;
	unsigned int i;

	sigemptyset(&block);
	for (i = 0; i < CTL_ARRAY_SIZE(signals); i++) {
		sigaddset(&block, signals[i]);
		sigaction(signals[i], &act, NULL);
	}
	sigprocmask(SIG_BLOCK, &block, &let_in);
	for (i = 0; i < CTL_ARRAY_SIZE(signals); i++)
		sigdelset(&let_in, signals[i]);
	ctl_before_err = ctl_screen_close;
	atexit(ctl_screen_close);
}

/* Restore the terminal, if it was taken over. The next drawing takes it over again. */
void ctl_screen_close(void)
{
	if (opened)
		give_terminal();
	opened = false;
}

/* The end of the part that fits into @columns. Continuation bytes of UTF-8 do not count. */
static const char *clip(const char *line, const char *end, unsigned int columns)
{
	for (; line < end; line++)
		if (((unsigned char)*line & 0xc0) != 0x80 && !columns--)
			break;
	return line;
}

static void redraw(void)
{
	struct winsize size = { 0 };
	const char *line = shown, *end;
	unsigned int row = 0, more = 0;
	char note[32];

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	/* A serial line does not know its size. */
	if (!size.ws_row || !size.ws_col)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	fputs(HOME, stdout);
	for (; line && *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (row + 1 >= size.ws_row) {
			more++;
			continue;
		}
		printf("%.*s" EOL "\n", (int)(clip(line, end, size.ws_col) - line), line);
		row++;
	}
	/* The last row has no newline, because the screen would scroll. */
	if (more) {
		snprintf(note, sizeof(note), "(%u more lines)", more);
		printf("%.*s" EOL, size.ws_col, note);
	}
	put(BELOW);
}

/**
 * ctl_screen_draw() - draw a text
 * @text: lines; lines and characters that do not fit are left out
 */
void ctl_screen_draw(const char *text)
{
	free(shown);
	shown = strdup(text);
	if (!opened)
		take_terminal();
	opened = true;
	redraw();
}

/* Restore the terminal, and let the signal have its default effect. */
static void obey(int sig)
{
	struct sigaction act = { .sa_handler = SIG_DFL }, old;
	sigset_t one;

	give_terminal();
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigaction(sig, &act, &old);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	/* The process is running again, so the signal had only stopped it. */
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(sig, &old, NULL);
	take_terminal();
	redraw();
}

static void obey_signals(void)
{
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(signals); i++) {
		if (!caught[i])
			continue;
		caught[i] = 0;
		if (signals[i] == SIGWINCH || signals[i] == SIGCONT)
			redraw();
		else
			obey(signals[i]);
	}
}

/* Read a key. Return: false if the user wants to quit. */
static bool take_key(void)
{
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1)
		has_keys = false;
	else if (key == 'q' || key == 'Q')
		return false;
	else if (key == CTRL_L)
		redraw();
	return true;
}

/**
 * ctl_screen_wait() - wait, and handle signals and keys
 * @until: time on the monotonic clock, in nanoseconds
 *
 * Return: true at that time, false if the user wants to quit
 */
bool ctl_screen_wait(uint64_t until)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec left;
	uint64_t ns;

	for (;;) {
		ns = perf_monotonic();
		if (ns >= until)
			return true;
		left.tv_sec = (until - ns) / 1000000000ULL;
		left.tv_nsec = (until - ns) % 1000000000ULL;
		keys.revents = 0;
		if (ppoll(&keys, has_keys, &left, &let_in) < 0 && errno != EINTR)
			return false;
		obey_signals();
		if (ferror(stdout) || (keys.revents && !take_key()))
			return false;
	}
}
