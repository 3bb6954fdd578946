// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that show something: the answer is complete, or ends with an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/spindle.h>

#include "fail-nth.h"
#include "path.h"
#include "request.h"
#include "shown.h"
#include "tap.h"

/* More readers than a dump shows. */
#define READERS 36

struct query {
	int cmd, flags;
	uint32_t node;
	struct shown got, want;
	bool known;
};

static int ask(void *ctx)
{
	struct query *q = ctx;
	struct nl nl;
	int err;

	begin(&nl);
	q->got.len = q->got.bytes = 0;
	err = show_all(&nl, &q->got, q->cmd, q->flags, q->node);
	close(nl.fd);
	if (!err && !q->known) {
		q->want = q->got;
		q->known = true;
	}
	return err;
}

/* An answer without an error is complete. */
static bool complete(void *ctx)
{
	struct query *q = ctx;

	if (q->got.len && same(&q->got, &q->want))
		return true;
	printf("# %d bytes were shown, of %d\n", q->got.bytes, q->want.bytes);
	return false;
}

static void open_readers(int *fd)
{
	struct spindle_attach a;
	int i;

	for (i = 0; i < READERS; i++) {
		a = (struct spindle_attach){
			.size = sizeof(a), .node = 1, .subgroup = 1, .event_fd = -1,
			.flags = SPINDLE_ATTACH_RECV | (i % 2 ? SPINDLE_ATTACH_COPY : 0),
		};
		fd[i] = open("/dev/spindle", O_RDWR | O_CLOEXEC);
		if (fd[i] < 0 || ioctl(fd[i], SPINDLE_IOC_ATTACH, &a))
			die("reader %d: %s", i, strerror(errno));
	}
}

void test_dump(void)
{
	static struct {
		const char *name;
		struct query q;
	} list[] = {
		{ "one node", { .cmd = SPINDLE_CMD_NODE_GET, .node = 1 } },
		{ "nodes", { .cmd = SPINDLE_CMD_NODE_GET, .flags = NLM_F_DUMP } },
		{ "one view", { .cmd = SPINDLE_CMD_VIEW_GET, .node = 1 } },
		{ "views", { .cmd = SPINDLE_CMD_VIEW_GET, .flags = NLM_F_DUMP } },
		{ "subgroups", { .cmd = SPINDLE_CMD_SUBGROUP_GET, .flags = NLM_F_DUMP } },
		{ "statistics", { .cmd = SPINDLE_CMD_STATS_GET, .flags = NLM_F_DUMP } },
	};
	int fd[READERS];
	size_t i;

	open_readers(fd);
	for (i = 0; i < ARRAY_SIZE(list); i++) {
		struct op op = { .run = ask, .undo = nothing, .ctx = &list[i].q,
				 .errs = errs_netlink, .after = complete };

		snprintf(op.name, sizeof(op.name), "show: %s", list[i].name);
		path(&op);
	}
	/* The kernel gives up to 32 KiB at a time. */
	ok(list[4].q.want.bytes > 32768, "subgroups are shown in several pieces: %d bytes",
	   list[4].q.want.bytes);
	for (i = 0; i < READERS; i++)
		close(fd[i]);
}
