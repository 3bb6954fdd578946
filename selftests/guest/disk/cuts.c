// SPDX-License-Identifier: GPL-2.0-only
/* Replay the log of a disk, and check each image that a power failure may have left. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "disk-cuts.h"

#define SNAPSHOT	"cut"
#define MOUNT		"/tmp/cut"

static struct {
	const char *type, *log, *to, *store, *dir;
	uint64_t every;
} opts = { .every = 4 };

static struct {
	uint64_t cuts, torn, marks, bad;
	/* Of all marks until now, and what the next mark says of the messages that were sent. */
	struct promise promise;
	/* What the last cut has shown. */
	struct found found;
	uint64_t seed;
} now = { .seed = 1 };

static uint64_t draw(uint64_t below)
{
	now.seed = now.seed * 6364136223846793005U + 1442695040888963407U;
	return (now.seed >> 33) % below;
}

/* Return: whether the load has made the mark. dm-log-writes makes one at its end. */
static bool read_mark(const struct entry *e, struct promise *p)
{
	if (!strcmp(e->mark, "dm-log-writes-end"))
		return false;
	if (sscanf(e->mark, "persisted=%" SCNu64 ",low=%" SCNu64 ",record=%" SCNu64
		   ",sent=%" SCNu64, &p->persisted, &p->low, &p->record, &p->sent) != 4)
		fail("a mark says '%s'", e->mark);
	return true;
}

/* Messages that were sent when the next mark was made: the disk has no others. */
static uint64_t sent_until(struct replay ahead)
{
	struct promise p;
	struct entry e;

	while (replay_next(&ahead, &e)) {
		if (e.is_mark && read_mark(&e, &p))
			return p.sent;
	}
	return UINT64_MAX;
}

static bool check_image(const char *device)
{
	char dir[128];
	bool good;

	if (mount(device, MOUNT, opts.type, 0, NULL)) {
		complain("cannot mount: %s", strerror(errno));
		return false;
	}
	snprintf(dir, sizeof(dir), "%s/%s", MOUNT, opts.dir);
	/* The next life takes longer than all the rest. */
	good = check_log(dir, &now.promise, !draw(opts.every), &now.found);
	if (umount(MOUNT))
		fail("cannot unmount: %s", strerror(errno));
	return good;
}

static void cut(const struct replay *r, const char *what)
{
	char device[64];

	/* The snapshot reads below the page cache. */
	replay_sync(r);
	dm_snapshot(SNAPSHOT, opts.to, opts.store, device, sizeof(device));
	if (!check_image(device)) {
		complain("that is %s entry %" PRIu64 " of %" PRIu64, what, r->next, r->entries);
		now.bad++;
	}
	dm_remove(SNAPSHOT);
}

/* The image is that of the last cut. */
static void check_mark(const struct replay *r, const struct entry *e)
{
	uint64_t sent;

	if (!read_mark(e, &now.promise))
		return;
	sent = now.promise.sent;
	now.marks++;
	if (now.found.next < now.promise.persisted || now.found.record < now.promise.record) {
		complain("entry %" PRIu64 ": '%s', but positions end at %" PRIu64 ", record %"
			 PRIu64, r->next, e->mark, now.found.next, now.found.record);
		now.bad++;
	}
	now.promise.sent = sent_until(*r);
	if (now.promise.sent == UINT64_MAX)
		now.promise.sent = sent;
}

static void replay(struct replay *r)
{
	bool written = false;
	struct entry e;

	now.promise.sent = sent_until(*r);
	while (replay_next(r, &e)) {
		if (e.is_mark) {
			check_mark(r, &e);
			continue;
		}
		if (e.is_flush && !draw(opts.every) && replay_tear(r, &e, draw)) {
			cut(r, "in the middle of");
			now.torn++;
		}
		replay_apply(r, &e);
		written |= e.len;
		if (!e.is_flush || !written)
			continue;
		cut(r, "behind");
		now.cuts++;
		written = false;
	}
}

static void parse(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "f:l:t:s:d:e:")) != -1) {
		switch (o) {
		case 'f':
			opts.type = optarg;
			break;
		case 'l':
			opts.log = optarg;
			break;
		case 't':
			opts.to = optarg;
			break;
		case 's':
			opts.store = optarg;
			break;
		case 'd':
			opts.dir = optarg;
			break;
		case 'e':
			opts.every = strtoull(optarg, NULL, 0);
			break;
		default:
			fail("replay: unknown option");
		}
	}
	if (!opts.type || !opts.log || !opts.to || !opts.store || !opts.dir || !opts.every)
		fail("replay: an option is missing");
}

void cuts_main(int argc, char **argv)
{
	struct replay r;

	parse(argc, argv);
	if (mkdir(MOUNT, 0700) && errno != EEXIST)
		fail("%s: %s", MOUNT, strerror(errno));
	replay_open(&r, opts.log, opts.to);
	replay(&r);
	printf("cuts %" PRIu64 " torn %" PRIu64 " marks %" PRIu64, now.cuts, now.torn, now.marks);
	printf(" entries %" PRIu64 " bad %" PRIu64 "\n", r.entries, now.bad);
}
