// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl log, over logs in a temporary directory. TAP.
 *
 * log.txt has the expected output. "log_test.asan update" writes the file again.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/util.h"
#include "ctl/cmd.h"
#include "fake_wire.h"
#include "file_log.h"

static struct file_log writer;
static FILE *expected;
static bool update;

/* ---- the expected output -------------------------------------------------- */

/* Compare the output of a command with the part of the file that has the same title. */
static void shows(const char *words, const char *what)
{
	const char *title = ctl_asprintf("# log %s%s%s: %s\n", words, ctl_opts.json ? " -j" : "",
					 ctl_opts.verbose ? " -v" : "", what);
	const char *name = ctl_asprintf("%.*s", (int)strlen(title) - 3, title + 2);
	char *line = NULL, *want = ctl_strdup("");
	size_t size = 0;
	int rc = run(ctl_cmd_log, "log", words);

	if (update) {
		fprintf(expected, "%s%s= %d\n", title, output, rc);
		ok(true, "%s", name);
		return;
	}
	if (getline(&line, &size, expected) < 0 || strcmp(line, title))
		want = ctl_asprintf("no part '%s'\n", title);
	while (getline(&line, &size, expected) >= 0 && strncmp(line, "= ", 2))
		want = ctl_asprintf("%s%s", want, line);
	same(ctl_asprintf("%s= %d\n", output, rc), ctl_asprintf("%s%s", want, line ? line : ""),
	     name);
	free(line);
}

static void both(const char *words, const char *what)
{
	ctl_opts.json = false;
	shows(words, what);
	ctl_opts.json = true;
	shows(words, what);
	ctl_opts.json = false;
}

/* ---- logs ----------------------------------------------------------------- */

static void flip(const char *name, off_t at)
{
	int fd = open(name, O_RDWR);
	unsigned char c;

	if (fd < 0 || pread(fd, &c, 1, at) != 1)
		bail_out("no such byte");
	c ^= 1;
	if (pwrite(fd, &c, 1, at) != 1)
		bail_out("cannot write");
	close(fd);
}

/* A message that is no matter of arithmetic. */
static void say(const char *text, uint32_t len)
{
	struct spindle_dlog_msg m = {
		.lsn = writer.log.next, .era = 1, .vid = 99, .slot = 7, .node = 3, .sender = 2,
		.flags = 1, .len = len, .data = text,
	};

	if (spindle_dlog_append(&writer.log, &m, 1764417600123456789ULL))
		bail_out("cannot append");
	spindle_dlog_commit(&writer.log, m.time);
	file_log_mark(&writer);
}

static void test_usage(void)
{
	shows("show", "no directory");
	shows("show log more", "a word too much");
	shows("verify", "no directory");
	shows("dump", "no directory");
	shows("repair log timeout x", "no number");
	shows("dump log from x", "no number");
	shows("dump log from 1 since 2026-01-01", "two beginnings");
	shows("dump log since yesterday", "no time");
	shows("dump log since 99999999999999999999", "a number that is too large");
	shows("make log", "no verb");
}

static void test_none(void)
{
	both("show none", "no such directory");
	both("verify log", "an empty directory");
	both("dump log", "an empty directory");
}

static void test_whole(void)
{
	both("show log", "a log");
	both("verify log", "a log");
	both("dump log from 100 to 103", "some messages");
	both("dump log from 131", "the last messages");
	ctl_opts.verbose = true;
	shows("dump log from 133", "all of a message");
	ctl_opts.verbose = false;
	both("repair log", "no damage");
	shows("dump log from 120 to 119", "nothing");
	shows("dump log from 135", "the end");
	shows("dump log from 99", "a position that was trimmed");
	shows("dump log from 136", "a position behind the end");
	shows("dump log to 99", "positions that were trimmed");
	shows("dump log since 1764417600", "seconds since 1970");
	shows("dump log since 2025-11-29T12:00:00Z", "a time of day, UTC");
	shows("dump log since 2025-11-29T12:00:00", "a time of day");
	shows("dump log since 2025-11-29", "a day");
	shows("dump log since 2025-11-30", "a day later");
}

static void test_repair(void)
{
	int lock = open("log/LOCK", O_RDWR | O_CREAT, 0600);

	both("repair log", "damage, and no process");
	if (lock < 0 || flock(lock, LOCK_EX))
		bail_out("no lock");
	both("repair log timeout 0", "damage, and a process that does not answer");
	ok(access("log/repair", F_OK), "the request is gone");
	close(lock);
}

static void test_damaged(void)
{
	flip("log/0000000000000000.seg", 512 * 4 + 90);
	flip("log/0000000000000000.seg", 512 * 5 + 90);
	flip("log/0000000000000000.seg", 512 * 9 + 90);
	both("show log", "damage");
	both("verify log", "damage");
	test_repair();
	both("dump log from 102 to 105", "damage");
	both("dump log from 103 to 103", "nothing but damage");
	shows("dump log from 109 to 109", "behind damage");
	flip("log/meta.0", 20);
	flip("log/meta.1", 20);
	both("show log", "no meta block");
}

/*
 * Run a command with such a terminal as standard error, while each look at the clock takes @step_ms.
 */
static int run_on_terminal(const char *words, uint64_t step_ms, const char *term)
{
	int master, slave, saved = dup(STDERR_FILENO), rc;

	if (saved < 0 || openpty(&master, &slave, NULL, NULL, NULL))
		bail_out("no terminal");
	dup2(slave, STDERR_FILENO);
	setenv("TERM", term, 1);
	wire.step_ms = step_ms;
	rc = run(ctl_cmd_log, "log", words);
	wire.step_ms = 0;
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(slave);
	close(master);
	return rc;
}

/* Has the command drawn a bar with this text, and erased it before this end of its output? */
static bool has_bar(const char *text, const char *end)
{
	const char *last = strrchr(output, '\r');

	return strstr(output, text) && strstr(output, " left [##") && last &&
	       !strncmp(last, "\r\033[K", 4) && strstr(last, end);
}

static void test_bar(void)
{
	ok(!run_on_terminal("verify log", 300, "xterm") && has_bar("log verify, ", "messages of"),
	   "verify shows how far it is");
	ok(strstr(output, "log verify 0 B/s") || strstr(output, "kB/s"),
	   "so does the scan in front");
	ok(!run_on_terminal("verify log", 0, "xterm") && !strchr(output, '\r'),
	   "there is no bar for short work");
	ok(!run_on_terminal("verify log", 300, "dumb") && !strchr(output, '\r'),
	   "there is no bar on a terminal that cannot draw");
	ctl_opts.json = true;
	ok(!run_on_terminal("verify log", 300, "xterm") && !strchr(output, '\r'),
	   "there is no bar around JSON");
	ctl_opts.json = false;
	ok(!run_on_terminal("dump log", 300, "xterm") && has_bar("log dump, ", ""),
	   "dump shows how far it is");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/spindle-ctl-log-XXXXXX";

	update = argc > 1 && !strcmp(argv[1], "update");
	expected = fopen("log.txt", update ? "w" : "r");
	if (!expected || !mkdtemp(dir) || chdir(dir) || mkdir("log", 0700))
		bail_out("no log.txt, or no temporary directory");
	setenv("TZ", "UTC", 1);
	test_usage();
	test_none();
	if (file_log_start(&writer, "log", 77) || file_log_write(&writer, 33, 1))
		bail_out("no log");
	say("hello, \"world\"", 14);
	say("\0\1\xff", 3);
	test_whole();
	test_bar();
	test_damaged();
	fclose(expected);
	if (chdir("/") || nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS))
		bail_out("cannot remove the temporary directory");
	return tap_end();
}
