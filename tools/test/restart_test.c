// SPDX-License-Identifier: GPL-2.0-only
/*
 * What spindle-ctl reads and prints of a total restart: files of spindle-logd, also old and hostile
 * ones. TAP.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "common/out.h"
#include "common/util.h"
#include "ctl/restart.h"
#include "tap.h"

static char base[64];
static char path[128];
static char *printed;

static void put(const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		die("cannot write %s", path);
}

/* The file has this age. */
static void set_age(time_t s)
{
	const struct timespec times[2] = {
		{ .tv_sec = time(NULL) - s }, { .tv_sec = time(NULL) - s },
	};

	if (utimensat(AT_FDCWD, path, times, 0))
		die("cannot set the time of %s", path);
}

static bool is_read(void)
{
	struct json_object *obj = ctl_restart_read(base, 7);
	bool has = obj;

	json_object_put(obj);
	return has;
}

/* Return: what is printed of the file. */
static const char *print(void)
{
	struct json_object *obj = ctl_restart_read(base, 7);
	FILE *before = stdout;
	size_t len;

	free(printed);
	printed = NULL;
	stdout = open_memstream(&printed, &len);
	if (!stdout)
		exit(1);
	ctl_restart_print(obj);
	fclose(stdout);
	stdout = before;
	json_object_put(obj);
	return printed;
}

static const char *head(const char *rest)
{
	return ctl_asprintf("{ \"pid\": %d, \"state\": \"looks\"%s }", getpid(), rest);
}

static void files(void)
{
	pid_t pid;

	ok(!is_read(), "without a file there is no restart");
	put(head(""));
	ok(is_read(), "there is one with the file of a process that lives");
	set_age(50);
	ok(is_read(), "also when the process has not written for some time");
	set_age(3600);
	ok(!is_read(), "an old file is of another process with this number");
	set_age(-3600);
	ok(is_read(), "a clock that was set back does not matter");
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	put(ctl_asprintf("{ \"pid\": %d }", pid));
	ok(!is_read(), "a process that has gone has none");
	put("{ \"pid\": 0 }");
	ok(!is_read(), "nor has process 0");
	put("{ \"pid\": -1 }");
	ok(!is_read(), "nor a negative one");
	put(ctl_asprintf("[ %d ]", getpid()));
	ok(!is_read(), "an array is no restart");
	put(ctl_asprintf("{ \"pid\": %d", getpid()));
	ok(!is_read(), "nor is half an object");
	unlink(path);
	if (mkfifo(path, 0600))
		die("no pipe");
	ok(!is_read(), "a pipe is not waited for");
	unlink(path);
}

static void texts(void)
{
	put(head(", \"answer\": [ 2, 3 ], \"silent\": [ 18446744073709551615 ]"));
	ok(!strcmp(print(), "restart: looks; nodes that answer: 2, 3; nodes that do not: "
		   "18446744073709551615\n"), "nodes are printed");
	put(head(", \"runs\": 4, \"bound\": 5, \"spent\": true"));
	ok(strstr(print(), "runs in era 4, and this node has promised era 5") &&
	   strstr(printed, "no era is left"), "so are eras");
	put(head(", \"lists\": [ 2, 5 ]"));
	ok(strstr(print(), "do not have the same subgroups with logs as this node: 2, 5\n"),
	   "nodes with other subgroups are named");
	put(head(", \"lists\": [], \"subgroups\": [ { \"id\": 1, \"why\": \"nodes\", \"more\": 2, "
		 "\"nodes\": [ 4, 5, 6 ], \"vid\": 7, \"era\": 8, \"base\": 10, \"to\": 12, "
		 "\"open\": true } ]"));
	ok(strstr(print(), "subgroup 1: 2 more of these nodes have to be there: 4, 5, 6 (view 7 of "
		  "era 8)\n") &&
	   strstr(printed, "all below position 10 is there; 10 to 11 are not; nodes that are away "
		  "may know of more\n") && !strstr(printed, "the same subgroups"),
	   "and what a subgroup waits for");
	put(ctl_asprintf("{ \"pid\": %d, \"state\": \"\\u001b[31m\", \"answer\": 1, "
			 "\"silent\": {}, \"subgroups\": [ 1, [], \"x\", { \"nodes\": [ {}, [], "
			 "null, \"9\" ], \"why\": \"nodes\" } ] }", getpid()));
	ok(!strchr(print(), 27) &&
	   strstr(printed, "subgroup 0: 0 more of these nodes have to be there: 0, 0, 0, 9 ("),
	   "values of other types are none");
}

/* As many entries as the longest file can have. */
static char *many(const char *entry, size_t n)
{
	char *all = ctl_alloc(n * (strlen(entry) + 1) + 2), *p = all;
	size_t i;

	for (i = 0; i < n; i++)
		p += sprintf(p, "%s%s", i ? "," : "[", entry);
	strcpy(p, "]");
	return all;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void limits(void)
{
	const char *all = many("1", 60000);

	put(head(ctl_asprintf(", \"answer\": %s", all)));
	is((long long)count(print(), "1,"), 63, "64 nodes are printed at most");
	put(head(ctl_asprintf(", \"subgroups\": %s", many("{\"why\":\"ready\"}", 5000))));
	is((long long)count(print(), "subgroup"), 64, "and 64 subgroups");
	put(head(ctl_asprintf(", \"answer\": %s", many("1", 70000))));
	ok(!is_read(), "a file that is too long is none");
}

int main(void)
{
	snprintf(base, sizeof(base), "/tmp/spindle-restart-XXXXXX");
	if (!mkdtemp(base))
		die("no directory");
	snprintf(path, sizeof(path), "%s/7", base);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/7/restart", base);
	files();
	texts();
	limits();
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(base);
	return tap_end();
}
