// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl log repair: ask the process that writes the log for a repair, and see what has become
 * of the damage. See cmd-log.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd-log.h"
#include "common/util.h"

/* How long the process may take for one range, without the option. */
#define TIMEOUT_S	300U
#define NAP_MS		100U

/**
 * struct ranges - what is damaged
 */
struct ranges {
	/** @n: entries */
	uint32_t n;
	/** @from: first position of each */
	uint64_t from[SPINDLE_LOG_RANGES];
	/** @to: position behind each */
	uint64_t to[SPINDLE_LOG_RANGES];
};

static void take_ranges(const struct look *l, struct ranges *r)
{
	r->n = 0;
	while (!spindle_log_damaged(l->log, r->n, &r->from[r->n], &r->to[r->n]))
		if (++r->n == SPINDLE_LOG_RANGES)
			break;
}

/* ---- the process that writes the log ----------------------------------------- */

/* The process holds a lock as long as it lives. Return: exit code. */
static int find_writer(const struct look *l)
{
	const char *path = ctl_asprintf("%s/LOCK", l->dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err = 0;

	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB))
		err = errno;
	if (fd >= 0)
		close(fd);
	if (err == EWOULDBLOCK)
		return CTL_OK;
	if (err && err != ENOENT)
		ctl_err("%s: %s: %s", l->what, path, strerror(err));
	else
		ctl_err("%s: %s: no process writes this log; spindle-logd repairs it when it "
			"begins, with the key of the group (option -K)", l->what, l->dir);
	return CTL_FAILED;
}

/* Wait until the process has removed the request for a range. Return: exit code. */
static int await(struct look *l, uint32_t i, uint64_t seconds)
{
	const char *path = ctl_asprintf("%s/repair", l->dir);
	const struct timespec nap = { .tv_nsec = NAP_MS * 1000000L };
	uint64_t left = seconds * 1000 / NAP_MS;
	struct stat st;

	for (; !lstat(path, &st); left--) {
		if (!left) {
			unlink(path);
			ctl_err("%s: %s: spindle-logd has not answered for %llu seconds", l->what,
				l->dir, (unsigned long long)seconds);
			return CTL_FAILED;
		}
		ctl_log_is_at(l, i);
		nanosleep(&nap, NULL);
	}
	if (errno == ENOENT)
		return CTL_OK;
	ctl_err("%s: %s: %s", l->what, path, strerror(errno));
	return CTL_FAILED;
}

/* Ask for one range after the other. Return: exit code. */
static int ask(struct look *l, const struct ranges *r, uint64_t seconds)
{
	struct spindle_place place;
	int rc = CTL_OK, err;
	uint32_t i;

	ctl_log_reads(l, 0, r->n);
	for (i = 0; i < r->n && !rc; i++) {
		ctl_log_place(l, r->from[i], &place);
		err = spindle_log_repair(l->dir, &place);
		rc = err ? ctl_log_failed(l, err) : await(l, i, seconds);
	}
	ctl_bar_clear();
	return rc;
}

/* ---- what has become of the damage ------------------------------------------- */

static bool is_left(const struct ranges *left, uint64_t from, uint64_t to)
{
	uint32_t i;

	for (i = 0; i < left->n; i++)
		if (left->from[i] < to && from < left->to[i])
			return true;
	return false;
}

static struct json_object *list_json(const struct ranges *r, const struct ranges *but)
{
	struct json_object *list = json_object_new_array();
	uint32_t i;

	for (i = 0; i < r->n; i++)
		if (!but || !is_left(but, r->from[i], r->to[i]))
			json_object_array_add(list, ctl_log_range_json(r->from[i], r->to[i]));
	return list;
}

static void print_ranges(const char *word, const struct ranges *r, const struct ranges *but)
{
	uint32_t i;

	for (i = 0; i < r->n; i++)
		if (!but || !is_left(but, r->from[i], r->to[i]))
			printf("%s: %s\n", word, ctl_log_range(r->from[i], r->to[i]));
}

/* Return: exit code; only a log that is whole is a success. */
static int report(const struct look *l, const struct ranges *was)
{
	struct json_object *obj;
	struct ranges left;

	take_ranges(l, &left);
	if (ctl_opts.json) {
		obj = json_object_new_object();
		ctl_json_add(obj, "repaired", list_json(was, &left));
		ctl_json_add(obj, "damaged", list_json(&left, NULL));
		ctl_json_print(obj);
	} else {
		print_ranges("repaired", was, &left);
		print_ranges("damaged", &left, NULL);
		if (l->info.damaged > left.n)
			printf("damaged: %u ranges more\n", l->info.damaged - left.n);
		if (!was->n)
			printf("nothing is damaged\n");
	}
	return l->info.damaged ? CTL_FAILED : CTL_OK;
}

/**
 * ctl_log_repair() - spindle-ctl log repair
 * @a: words of the command line
 *
 * Return: exit code
 */
int ctl_log_repair(struct ctl_args *a)
{
	static const struct ctl_key keys[] = {
		CTL_KEY("timeout", NULL, U32, 0),
		{ .name = NULL }
	};
	struct ctl_val timeout = { 0 };
	struct look l = { 0 };
	struct ranges was;
	int rc = ctl_log_dir(a, &l);

	if (!rc)
		rc = ctl_args_keys(a, keys, &timeout, 0);
	if (!rc)
		rc = ctl_log_open(&l);
	if (rc)
		return rc;
	take_ranges(&l, &was);
	if (was.n)
		rc = find_writer(&l);
	if (was.n && !rc)
		rc = ask(&l, &was, timeout.set ? timeout.num : TIMEOUT_S);
	if (was.n && !rc) {
		spindle_log_close(l.log);
		rc = ctl_log_open(&l);
	}
	if (!l.log)
		return rc;
	/* Without an answer, this is what is known to be damaged. */
	if (report(&l, &was) && !rc) {
		ctl_err("%s: %s: the log is not whole; messages of spindle-logd say why", l.what,
			l.dir);
		rc = CTL_FAILED;
	}
	spindle_log_close(l.log);
	return rc;
}
