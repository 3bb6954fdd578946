// SPDX-License-Identifier: GPL-2.0-only
/*
 * rdmc-load: send large objects to RDMC groups and check every byte.
 *
 *	rdmc-load -m 1-8 [-n NODES] [-g GROUPS] [-a ALGORITHM] [-b BLOCK] [-c COUNT]
 *		  [-l BYTES,...|MIN-MAX] [-t TIMEOUT-MS] [-w SECONDS] [-S SEED] [-f FILE]
 *		  [-o OFFSET] [-M | -H] [-x OBJECT:KIND[:INDEX]] [-G FIRST] [-v]
 *
 * All members (-m, the first one sends) that are nodes of this host, or of these the ones
 * named by -n, create a group each in this one process. With -g G there are G groups at the
 * same time: each has another member for its root, the list is rotated. Lengths follow from
 * the list, or from (seed, group, object); bytes from (seed, group, object).
 *
 *	-o	offset of objects in a page
 *	-M	receivers take memfds, by the library
 *	-H	the same with huge pages, and the root sends from huge pages
 *	-x	object OBJECT is cancelled by the root (cancel), refused by a member (refuse), or
 *		cancelled by it once it has accepted (drop): the one with this INDEX in -m.
 *		Or the process of that member stops when it is offered OBJECT (sleep).
 *	-f	create FILE when the first object has arrived at a member
 *	-G	number of the first group
 *	-v	print events
 *
 * The program prints "node N group G: E" for each group that ended with an error, and totals of
 * the objects. Exit status 0: all objects were complete and all groups closed. 3: events reported
 * all other ends, and all complete objects had the right bytes. 1: a sentence on standard error
 * names the error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include <spindle/rdmc.h>

#include "ids.h"
#include "selfcheck.h"

#define MAX_IDS		64
#define MAX_SIZES	64

struct object {
	unsigned char *mem;	/* as allocated */
	unsigned char *at;	/* where the object begins */
	size_t mapped;		/* bytes, if it is of huge pages */
	struct spindle_rdmc_memory memfd;
	bool done;
};

struct end {
	struct spindle_rdmc_group *g;
	uint32_t node;
	int group;
	uint32_t rank;
	uint64_t queued;	/* root: sent; others: announced */
	uint64_t ended;
	uint64_t whole;
	bool open;
	bool closing;
	bool over;
	uint32_t error;
	struct object *obj;
};

static struct {
	uint32_t member[MAX_IDS], node[MAX_IDS];
	int members, nodes, groups;
	struct spindle_rdmc_options o;
	uint64_t count;
	uint64_t size[MAX_SIZES], min, max;
	int sizes;
	uint64_t seed, offset, base;
	int wait;
	const char *flag_file;
	bool memfd, huge, verbose;
	uint64_t special;
	char kind[8];
	uint32_t who;
} opt = { .groups = 1, .count = 1, .min = 1 << 20, .max = 1 << 20, .seed = 1, .wait = 60,
	  .special = UINT64_MAX, .base = 1 };

static struct end *ends;
static int num_ends;

#define die(...) do { fprintf(stderr, "rdmc-load: " __VA_ARGS__); exit(1); } while (0)

static uint64_t key_of(const struct end *e, uint64_t object)
{
	return mix(opt.seed ^ mix((uint64_t)e->group << 32) ^ mix(object + 1));
}

static uint64_t len_of(const struct end *e, uint64_t object)
{
	if (opt.sizes)
		return opt.size[object % opt.sizes];
	return opt.min + mix(key_of(e, object)) % (opt.max - opt.min + 1);
}

/* Eight bytes each, the same bytes in memory on all hosts that run this. */
static uint64_t next_word(uint64_t *key)
{
	*key = *key * 6364136223846793005ULL + 1442695040888963407ULL;
	return *key ^ *key >> 29;
}

static void fill(unsigned char *p, uint64_t len, uint64_t key)
{
	uint64_t i, word;

	for (i = 0; i < len; i += 8) {
		word = next_word(&key);
		memcpy(p + i, &word, len - i < 8 ? len - i : 8);
	}
}

/* The approximate offset of the first wrong byte, or @len if there is none. */
static uint64_t wrong(const unsigned char *p, uint64_t len, uint64_t key)
{
	uint64_t i, word;

	for (i = 0; i < len; i += 8) {
		word = next_word(&key);
		if (memcmp(p + i, &word, len - i < 8 ? len - i : 8))
			return i;
	}
	return len;
}

/* A page behind the object, and what is in front of it, must stay as it is. */
#define FENCE	4096
#define FENCED	0xa5

/* Memory of a file of huge pages. */
static unsigned char *make_huge(struct object *o, uint64_t bytes)
{
	int fd = memfd_create("rdmc-load", MFD_CLOEXEC | MFD_HUGETLB);
	struct statfs fs;
	void *p;

	if (fd < 0 || fstatfs(fd, &fs))
		die("a file of huge pages: %s\n", strerror(errno));
	o->mapped = (bytes + fs.f_bsize - 1) / fs.f_bsize * fs.f_bsize;
	if (ftruncate(fd, o->mapped))
		die("huge pages: %s\n", strerror(errno));
	p = mmap(NULL, o->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die("huge pages: %s\n", strerror(errno));
	close(fd);
	return p;
}

static void make(struct object *o, uint64_t len)
{
	uint64_t bytes = opt.offset + len + FENCE;

	if (opt.huge)
		o->mem = make_huge(o, bytes);
	else if (posix_memalign((void **)&o->mem, 4096, bytes))
		die("no memory\n");
	memset(o->mem, FENCED, bytes);
	o->at = o->mem + opt.offset;
}

static void unmake(struct object *o)
{
	if (o->mapped)
		munmap(o->mem, o->mapped);
	else
		free(o->mem);
	o->mem = NULL;
}

static void check_fences(const struct end *e, const struct object *o, uint64_t len)
{
	uint64_t i;

	for (i = 0; i < opt.offset; i++)
		if (o->mem[i] != FENCED)
			die("node %u: a byte in front of the object was written\n", e->node);
	for (i = opt.offset + len; i < opt.offset + len + FENCE; i++)
		if (o->mem[i] != FENCED)
			die("node %u: a byte behind the object was written\n", e->node);
}

static bool special(const struct end *e, uint64_t object, const char *kind)
{
	return object == opt.special && !strcmp(opt.kind, kind) &&
	       (!strcmp(kind, "cancel") || e->node == opt.member[opt.who]);
}

static void send_some(struct end *e)
{
	while (e->queued < opt.count && !e->closing) {
		struct object *o = &e->obj[e->queued];
		uint64_t len = len_of(e, e->queued), number;
		int err;

		if (!o->mem) {
			make(o, len);
			fill(o->at, len, key_of(e, e->queued));
		}
		err = spindle_rdmc_send(e->g, o->at, len, e->queued ^ opt.seed, &number);
		if (err == -EAGAIN)
			return;
		if (err == -ECONNABORTED)
			return;
		if (err)
			die("node %u: send: %s\n", e->node, strerror(-err));
		if (number != e->queued)
			die("node %u: object %" PRIu64 " has number %" PRIu64 "\n", e->node,
			    e->queued, number);
		e->queued++;
		if (special(e, number, "cancel"))
			spindle_rdmc_cancel(e->g, number, 4242);
	}
	if (!e->closing) {
		e->closing = true;
		spindle_rdmc_close(e->g);
	}
}

static void *incoming(void *arg, struct spindle_rdmc_group *g,
		      const struct spindle_rdmc_event *ev, uint32_t *reason)
{
	struct end *e = arg;
	struct object *o = &e->obj[ev->object];
	int err;

	if (ev->object != e->queued++)
		die("node %u: object %" PRIu64 " out of order\n", e->node, (uint64_t)ev->object);
	if (ev->len != len_of(e, ev->object) || ev->tag != (ev->object ^ opt.seed))
		die("node %u: object %" PRIu64 " announced with length %" PRIu64 "\n", e->node,
		    (uint64_t)ev->object, (uint64_t)ev->len);
	if (special(e, ev->object, "refuse")) {
		*reason = 4242;
		return NULL;
	}
	if (!opt.memfd)
		make(o, ev->len);
	/* The whole process stops, for good unless somebody continues it. */
	if (special(e, ev->object, "sleep"))
		raise(SIGSTOP);
	if (special(e, ev->object, "drop")) {
		if (spindle_rdmc_accept(g, ev->object, o->at, ev->len) ||
		    spindle_rdmc_cancel(g, ev->object, 4242))
			die("node %u: cannot take an object, and give it up\n", e->node);
		return SPINDLE_RDMC_LATER;
	}
	if (!opt.memfd)
		return o->at;
	err = spindle_rdmc_accept_memfd(g, ev->object, ev->len,
					opt.huge ? SPINDLE_RDMC_HUGETLB : 0, &o->memfd);
	if (err && err != -ENOENT)
		die("node %u: memfd: %s\n", e->node, strerror(-err));
	return SPINDLE_RDMC_LATER;
}

static void raise_flag(void)
{
	FILE *f = opt.flag_file ? fopen(opt.flag_file, "w") : NULL;

	if (opt.flag_file && (!f || fclose(f)))
		die("%s: %s\n", opt.flag_file, strerror(errno));
	opt.flag_file = NULL;
}

static void done(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct end *e = arg;
	struct object *o = &e->obj[ev->object];
	uint64_t len = len_of(e, ev->object), at;
	unsigned char *p = opt.memfd && e->rank ? o->memfd.addr : o->at;

	(void)g;
	if (ev->object >= e->queued || o->done)
		die("node %u: object %" PRIu64 " ends, but is not under way\n", e->node,
		    (uint64_t)ev->object);
	o->done = true;
	e->ended++;
	if (ev->error) {
		printf("node %u group %d object %" PRIu64 ": error %u node %u reason %u\n",
		       e->node, e->group, (uint64_t)ev->object, ev->error, ev->node, ev->reason);
	} else {
		at = wrong(p, len, key_of(e, ev->object));
		if (at < len)
			die("node %u group %d: object %" PRIu64 " of %" PRIu64
			    " bytes is wrong at %" PRIu64 "\n", e->node, e->group,
			    (uint64_t)ev->object, len, at);
		e->whole++;
		raise_flag();
	}
	if (o->mem)
		check_fences(e, o, len);
	unmake(o);
	spindle_rdmc_free_memory(&o->memfd);
	memset(&o->memfd, 0, sizeof(o->memfd));
	if (opt.verbose)
		printf("node %u group %d object %" PRIu64 ": done after %" PRIu64
		       " us, busy %" PRIu64 " us\n", e->node, e->group, (uint64_t)ev->object,
		       (uint64_t)(ev->at_ns - ev->first_ns) / 1000,
		       (uint64_t)ev->busy_ns / 1000);
}

static void opened(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct end *e = arg;

	(void)g;
	(void)ev;
	e->open = true;
}

static void over(struct end *e, const struct spindle_rdmc_event *ev, bool closed)
{
	e->over = true;
	e->error = ev->error;
	if (ev->error)
		printf("node %u group %d: error %u node %u\n", e->node, e->group, ev->error,
		       ev->node);
	if (closed && !ev->error && (e->whole != e->ended || e->whole != opt.count))
		die("node %u: closed as if all was complete\n", e->node);
	if (e->ended != e->queued)
		die("node %u group %d: %" PRIu64 " objects, and %" PRIu64 " ended\n", e->node,
		    e->group, e->queued, e->ended);
}

static void closed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	(void)g;
	over(arg, ev, true);
}

static void failed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	(void)g;
	over(arg, ev, false);
}

static const struct spindle_rdmc_calls calls = {
	.opened = opened,
	.incoming = incoming,
	.done = done,
	.closed = closed,
	.failed = failed,
};

static bool named(uint32_t node)
{
	int i;

	for (i = 0; i < opt.nodes; i++)
		if (opt.node[i] == node)
			return true;
	return !opt.nodes;
}

static void create_one(int group, const uint32_t *member, uint32_t node)
{
	struct end *e = &ends[num_ends];
	int err = spindle_rdmc_create(&e->g, node, opt.base + group, member, opt.members, &opt.o);

	/* Without -n, a node may be on another host. */
	if (err == -ENODEV && !opt.nodes)
		return;
	if (err)
		die("node %u group %d: create: %s\n", node, group, strerror(-err));
	e->node = node;
	e->group = group;
	e->rank = spindle_rdmc_rank(e->g);
	e->obj = calloc(opt.count, sizeof(*e->obj));
	if (!e->obj)
		die("no memory\n");
	num_ends++;
}

static void create_all(void)
{
	uint32_t member[MAX_IDS];
	int g, i;

	ends = calloc((size_t)opt.groups * opt.members, sizeof(*ends));
	for (g = 0; g < opt.groups; g++) {
		for (i = 0; i < opt.members; i++)
			member[i] = opt.member[(i + g) % opt.members];
		for (i = 0; i < opt.members; i++)
			if (named(member[i]))
				create_one(g, member, member[i]);
	}
	if (!num_ends)
		die("no member is a node of this host\n");
}

static void stalled(void)
{
	int i;

	for (i = 0; i < num_ends; i++)
		if (!ends[i].over)
			fprintf(stderr, "# node %u group %d: open %d queued %" PRIu64 " ended %"
				PRIu64 "\n", ends[i].node, ends[i].group, ends[i].open,
				ends[i].queued, ends[i].ended);
	die("no progress for %d s\n", opt.wait);
}

/* One step of a root between events. */
static bool step(struct end *e)
{
	int n = spindle_rdmc_dispatch(e->g, &calls, e);

	if (n < 0 && n != -EPIPE)
		die("node %u: %s\n", e->node, strerror(-n));
	if (e->open && !e->rank && !e->over)
		send_some(e);
	return n > 0;
}

static void run(void)
{
	struct pollfd *pfd = calloc(num_ends, sizeof(*pfd));
	int i, left;

	for (;;) {
		bool any = false;

		for (i = left = 0; i < num_ends; i++) {
			if (!ends[i].over)
				any |= step(&ends[i]);
			left += !ends[i].over;
			pfd[i].fd = ends[i].over ? -1 : spindle_rdmc_fd(ends[i].g);
			pfd[i].events = POLLIN;
		}
		if (!left)
			break;
		if (!any && !poll(pfd, num_ends, opt.wait * 1000))
			stalled();
	}
	free(pfd);
}

static int report(void)
{
	uint64_t whole = 0, want = 0;
	int i, bad = 0;

	for (i = 0; i < num_ends; i++) {
		whole += ends[i].whole;
		want += opt.count;
		bad |= ends[i].error;
	}
	printf("# %" PRIu64 " of %" PRIu64 " objects whole\n", whole, want);
	return bad || whole != want ? 3 : 0;
}

static int ids(const char *s, uint32_t *id)
{
	int n = parse_ids(s, id, MAX_IDS);

	if (n < 0)
		die("bad list '%s'\n", s);
	return n;
}

static void parse_sizes(const char *s)
{
	char *end;

	if (sscanf(s, "%" SCNu64 "-%" SCNu64, &opt.min, &opt.max) == 2)
		return;
	while (*s && opt.sizes < MAX_SIZES) {
		opt.size[opt.sizes++] = strtoull(s, &end, 10);
		if (end == s || (*end && *end != ','))
			die("bad sizes '%s'\n", s);
		s = *end ? end + 1 : end;
	}
}

static void parse_algorithm(const char *s)
{
	const char *name;

	for (opt.o.algorithm = 0; ; opt.o.algorithm++) {
		name = spindle_rdmc_algorithm_string(opt.o.algorithm);
		if (!name)
			die("no algorithm '%s'\n", s);
		if (!strcmp(name, s))
			return;
	}
}

int main(int argc, char **argv)
{
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	opt.o.flags = SPINDLE_RDMC_AUTO_CLOSE;
	while ((c = getopt(argc, argv, "m:n:g:G:a:b:c:l:t:w:S:f:o:x:MHv")) != -1) {
		switch (c) {
		case 'm': opt.members = ids(optarg, opt.member); break;
		case 'n': opt.nodes = ids(optarg, opt.node); break;
		case 'g': opt.groups = atoi(optarg); break;
		case 'G': opt.base = strtoull(optarg, NULL, 10); break;
		case 'a': parse_algorithm(optarg); break;
		case 'b': opt.o.block = strtoul(optarg, NULL, 10); break;
		case 'c': opt.count = strtoull(optarg, NULL, 10); break;
		case 'l': parse_sizes(optarg); break;
		case 't': opt.o.timeout_ms = strtoul(optarg, NULL, 10); break;
		case 'w': opt.wait = atoi(optarg); break;
		case 'S': opt.seed = strtoull(optarg, NULL, 10); break;
		case 'f': opt.flag_file = optarg; break;
		case 'o': opt.offset = strtoull(optarg, NULL, 10); break;
		case 'M': opt.memfd = true; break;
		case 'H': opt.memfd = true; opt.huge = true; break;
		case 'v': opt.verbose = true; break;
		case 'x':
			if (sscanf(optarg, "%" SCNu64 ":%7[a-z]:%u", &opt.special, opt.kind,
				   &opt.who) < 2 || opt.who >= MAX_IDS)
				die("bad -x '%s'\n", optarg);
			break;
		default:
			return 2;
		}
	}
	if (opt.members < 2)
		die("give -m\n");
	create_all();
	run();
	c = report();
	for (; num_ends--; free(ends[num_ends].obj))
		spindle_rdmc_destroy(ends[num_ends].g);
	free(ends);
	return c;
}
