// SPDX-License-Identifier: GPL-2.0-only
/* Messages of one sender, and marks that say what its logger has reported. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <spindle/spindle.h>

#include "attach.h"
#include "disk-cuts.h"

/* Messages at once, at most. */
#define BURST		3U

static struct {
	uint32_t node, group;
	uint64_t count;
	const char *device;
} opts;

static struct spindle_queue q;
static struct promise promise;

static int take(void *arg, const struct spindle_msg *m, unsigned int n)
{
	uint64_t *delivered = arg;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (m[i].kind == SPINDLE_DLV_VIEW)
			continue;
		if (m[i].lsn != *delivered)
			complain("message %" PRIu64 " has position %" PRIu64, *delivered,
				 m[i].lsn);
		(*delivered)++;
	}
	return 0;
}

/* Mark what is new. The mark is behind all writes that made it so. */
static void mark(void)
{
	struct spindle_log_report own;
	struct spindle_view v;
	char text[128];

	if (spindle_view(&q, &v) || v.rank == SPINDLE_NO_RANK ||
	    spindle_log_block(&q, v.rank, &own))
		return;
	if (own.persisted <= promise.persisted && own.record <= promise.record)
		return;
	promise.persisted = own.persisted > promise.persisted ? own.persisted : promise.persisted;
	promise.record = own.record > promise.record ? own.record : promise.record;
	promise.low = own.low > promise.low ? own.low : promise.low;
	snprintf(text, sizeof(text), MARK_FORMAT, promise.persisted, promise.low, promise.record,
		 promise.sent);
	dm_mark(opts.device, text);
}

static void work(uint64_t *delivered)
{
	const struct timespec nap = { .tv_nsec = 200000 };
	int n = spindle_dispatch(&q, take, delivered, 64);

	if (n < 0)
		fail("cannot read: %s", strerror(-n));
	mark();
	if (!n)
		nanosleep(&nap, NULL);
}

static void send(uint64_t lsn, uint64_t *delivered)
{
	static unsigned char buf[LEN_MAX];
	uint32_t len;
	int err;

	fill(lsn, buf, &len);
	promise.sent = lsn + 1;
	while ((err = spindle_send(&q, buf, len)) == -EAGAIN)
		work(delivered);
	if (err)
		fail("cannot send: %s", strerror(-err));
}

void load_main(int argc, char **argv)
{
	uint64_t sent = 0, delivered = 0;
	int o;

	while ((o = getopt(argc, argv, "n:g:c:m:")) != -1) {
		switch (o) {
		case 'n':
			opts.node = (uint32_t)atoi(optarg);
			break;
		case 'g':
			opts.group = (uint32_t)atoi(optarg);
			break;
		case 'c':
			opts.count = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			opts.device = optarg;
			break;
		default:
			fail("load: -n NODE -g SUBGROUP -c COUNT -m DEVICE");
		}
	}
	attach_or_exit(&q, opts.node, opts.group, SPINDLE_ATTACH_BOTH, NULL);
	while (promise.persisted < opts.count) {
		uint64_t burst = 1 + sent * 7 % BURST, at = promise.persisted;

		while (burst-- && sent < opts.count)
			send(sent++, &delivered);
		/* Each burst is a frame or two, because the next one waits for it. */
		do
			work(&delivered);
		while (promise.persisted == at);
	}
	spindle_detach(&q);
	printf("# %" PRIu64 " messages are on disk\n", promise.persisted);
}
