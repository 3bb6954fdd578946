// SPDX-License-Identifier: GPL-2.0-only
/*
 * fake-logger: the logger of a subgroup, without a disk. It says of each message at once that it is
 * persisted.
 *
 *	fake-logger NODE SUBGROUP LSN [RECORD]
 *
 * Its log has all messages below LSN, and the record of view RECORD, by default of none. The line
 * "begins LSN first 0" says where it reads from, and whether the subgroup had no view before.
 *
 * Exit status 1: a sentence on standard error says why the logger does not go on.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

#include "attach.h"

#define BATCH	64

#define die(...) do { fprintf(stderr, "fake-logger: " __VA_ARGS__); exit(1); } while (0)

static void say(struct spindle_queue *q, const struct spindle_log_report *report)
{
	int err = spindle_log_say(q, report);

	if (err)
		die("it cannot say anything: %s\n", strerror(-err));
}

/* Take what was delivered. Return: whether there was anything. */
static bool take(struct spindle_queue *q, struct spindle_log_report *report)
{
	struct spindle_msg msg[BATCH];
	int n = spindle_next_batch(q, msg, BATCH), i;

	if (n < 0)
		die("reading: %s\n", strerror(-n));
	for (i = 0; i < n; i++) {
		if (msg[i].lsn != report->persisted)
			die("position %" PRIu64 " comes behind %" PRIu64 "\n", (uint64_t)msg[i].lsn,
			    report->persisted - 1);
		report->persisted++;
	}
	spindle_release(q);
	return n;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (!*text || *end)
		die("'%s' is no number\n", text);
	return n;
}

int main(int argc, char **argv)
{
	struct spindle_log_report report = { .state = SPINDLE_LOG_LOGGING };
	struct spindle_place from = { 0 };
	static struct spindle_queue q;
	uint64_t vid, lsn;
	int err;

	if (argc < 4 || argc > 5)
		die("NODE SUBGROUP LSN [RECORD]\n");
	from.lsn = number(argv[3]);
	report.persisted = from.lsn;
	report.record = argc > 4 ? number(argv[4]) : 0;
	attach_or_exit(&q, number(argv[1]), number(argv[2]), SPINDLE_ATTACH_RECV |
		       SPINDLE_ATTACH_LOG, &from);
	say(&q, &report);
	printf("begins %" PRIu64 " first %d\n", from.lsn, spindle_log_began(&q, &vid, &lsn));
	fflush(stdout);
	for (;;) {
		if (take(&q, &report)) {
			say(&q, &report);
			continue;
		}
		err = spindle_wait(&q, POLLIN, -1);
		if (err < 0)
			die("waiting: %s\n", strerror(-err));
	}
}
