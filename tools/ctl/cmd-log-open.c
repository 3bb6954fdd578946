// SPDX-License-Identifier: GPL-2.0-only
/* What the commands "log" share. See cmd-log.h. */
#include <string.h>
#include <time.h>

#include "cmd-log.h"
#include "common/util.h"

#define NS_PER_S	1000000000ULL

/**
 * ctl_log_failed() - say why a log cannot be read
 * @l: the log
 * @err: a negative errno
 *
 * Return: CTL_FAILED
 */
int ctl_log_failed(const struct look *l, int err)
{
	ctl_err("%s: %s: %s", l->what, l->dir, spindle_log_strerror(err));
	return CTL_FAILED;
}

/**
 * ctl_log_dir() - take the directory, which is the first word
 * @a: words of the command line
 * @l: filled
 *
 * Return: exit code
 */
int ctl_log_dir(struct ctl_args *a, struct look *l)
{
	l->what = ctl_asprintf("log %s", a->verb);
	l->dir = ctl_args_next(a);
	return l->dir ? CTL_OK : ctl_usage(a, "the directory is missing");
}

/**
 * ctl_log_no_more() - the command line has to end here
 * @a: words of the command line
 *
 * Return: exit code
 */
int ctl_log_no_more(struct ctl_args *a)
{
	const char *word = ctl_args_next(a);

	return word ? ctl_usage(a, "'%s' is not known here", word) : CTL_OK;
}

/* ---- progress -------------------------------------------------------------- */

static void tell(void *arg, uint64_t done, uint64_t total)
{
	struct look *l = arg;

	/* Damage is looked at twice. */
	if (!l->work.total || done < l->seen)
		ctl_work_begin(&l->work, total);
	l->seen = done;
	if (ctl_work_due(&l->work))
		ctl_work_bytes(&l->work, l->what, "", done);
}

/**
 * ctl_log_open() - open the log, with a bar if that takes long
 * @l: the command and the directory; the rest is filled
 *
 * Return: exit code
 */
int ctl_log_open(struct look *l)
{
	int err;

	l->work = (struct ctl_work){ 0 };
	err = spindle_log_open_tell(&l->log, l->dir, 0, tell, l);
	ctl_bar_clear();
	l->work.total = 0;
	if (err)
		return ctl_log_failed(l, err);
	spindle_log_info(l->log, &l->info);
	return CTL_OK;
}

/**
 * ctl_log_reads() - messages are read from here on
 * @l: the log, which is open
 * @from: position of the first one
 * @end: position behind the last one
 */
void ctl_log_reads(struct look *l, uint64_t from, uint64_t end)
{
	l->seen = from;
	ctl_work_begin(&l->work, end > from ? end - from : 0);
}

/**
 * ctl_log_is_at() - show how far the command is
 * @l: the log
 * @lsn: position that is read now
 */
void ctl_log_is_at(struct look *l, uint64_t lsn)
{
	if (ctl_work_due(&l->work))
		ctl_work_parts(&l->work, l->what, lsn > l->seen ? lsn - l->seen : 0);
}

/* The last era of the log, which the process that writes it has, or a later one. */
static uint64_t last_era(const struct look *l)
{
	struct spindle_log_epoch e = { 0 };

	if (l->info.epochs)
		spindle_log_epoch(l->log, l->info.epochs - 1, &e);
	return e.era;
}

/**
 * ctl_log_place() - the place of a position
 * @l: the log
 * @lsn: the position
 * @place: filled
 */
void ctl_log_place(const struct look *l, uint64_t lsn, struct spindle_place *place)
{
	*place = (struct spindle_place){ .lsn = lsn, .era = last_era(l) };
	memcpy(place->lineage, l->info.lineage, sizeof(place->lineage));
}

/* ---- words ---------------------------------------------------------------- */

/**
 * ctl_log_time() - write a time of the wall clock
 * @ns: nanoseconds
 *
 * Return: UTC, because logs of several machines are compared
 */
const char *ctl_log_time(uint64_t ns)
{
	time_t seconds = (time_t)(ns / NS_PER_S);
	char text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%FT%T", &tm))
		return "?";
	return ctl_asprintf("%s.%09lluZ", text, (unsigned long long)(ns % NS_PER_S));
}

/**
 * ctl_log_range() - write positions as people name them
 * @from: the first one
 * @to: behind the last one
 *
 * Return: the text
 */
const char *ctl_log_range(uint64_t from, uint64_t to)
{
	if (to == from)
		return "none";
	return ctl_asprintf("%llu to %llu", (unsigned long long)from, (unsigned long long)to - 1);
}

/**
 * ctl_log_range_json() - positions for programs
 * @from: the first one
 * @to: behind the last one
 *
 * Return: the object
 */
struct json_object *ctl_log_range_json(uint64_t from, uint64_t to)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "first", ctl_json_num(from));
	ctl_json_add(obj, "last", ctl_json_num(to - 1));
	return obj;
}
