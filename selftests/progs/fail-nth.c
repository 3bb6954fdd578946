// SPDX-License-Identifier: GPL-2.0-only
/*
 * fail-nth: each allocation of a set-up path fails once.
 *
 *	fail-nth load FILE	the module, from FILE; it must not be loaded
 *	fail-nth node		node add, and the start of its engine's thread
 *	fail-nth view		view set: alone, several subgroups, rows of several chunks,
 *				in place of another view
 *	fail-nth attach		open and attach, of each kind
 *	fail-nth map		the mappings of an attachment
 *	fail-nth dump		requests that show something
 *	fail-nth event		events: who listens gets them, or is told that he did not
 *	fail-nth connect	connections, which are made in work items
 *
 * Needs a kernel with failslab and fail_page_alloc, an RDMA device at 10.0.0.1, and from
 * "node" on the module. "view" and later ones need nodes 1, 2 and 3 at ports 5001 to
 * 5003: "view" and "connect" without views, the others with active subgroups 1 and 2.
 *
 * An operation is done again and again; the first time its first allocation fails, then
 * its second, and so on, until it has no more. It either is refused, by an error that is
 * documented, and then nothing has changed and it succeeds when it is asked for again;
 * or it succeeds all the same, since not every allocation matters: netlink, KASAN and
 * kmemleak allocate as well. In the end neither mappings nor pages are in use that were
 * not before; what else may leak, kmemleak finds.
 *
 * The kernel counts by thread, /proc/PID/fail-nth: ours, that of the engine, the one that
 * makes threads, those of the work queues.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <linux/capability.h>
#include <spindle/spindle.h>

#include "nl.h"
#include "tap.h"

#define PAGE		4096UL
#define MAX_NTH		20000	/* no operation of ours has so many allocations */
#define LOOK_MAX	(512 << 10)
#define WAIT_MS		120000	/* bounds a failure only */

/* ---- the machine ------------------------------------------------------ */

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

static int get(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n;
}

static void nap(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000L + ts.tv_nsec / 1000000;
}

static int nth_fd = -1;		/* fail-nth of the thread that is meant, mostly ours */
static unsigned int nth;	/* which allocation is to fail; 0: none */
static bool fired;		/* it did */

/* Whose allocations fail from now on. */
static void aim(const char *path)
{
	if (nth_fd >= 0)
		close(nth_fd);
	nth_fd = open(path, O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		die("%s: %s", path, strerror(errno));
}

/* The allocations that count are those between these two. */
static void arm(void)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	fired = false;
	if (nth && pwrite(nth_fd, text, n, 0) != n)
		die("cannot write fail-nth: %s", strerror(errno));
}

static void disarm(void)
{
	int err = errno;
	char text[16] = "";

	if (!nth)
		return;
	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0 || pwrite(nth_fd, "0", 1, 0) != 1)
		die("cannot read fail-nth: %s", strerror(errno));
	fired = atoi(text) == 0;
	errno = err;
}

/*
 * All kinds of allocations fail, and only when fail-nth says so. A page of this process
 * that is not there would be another allocation in the middle of a system call, and its
 * failure an EFAULT: so all are.
 */
static void prepare(void)
{
	static const char * const set[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/cache-filter", "N" },
		{ "failslab/probability", "0" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/probability", "0" },
		{ "fail_page_alloc/verbose", "0" },
	};
	char path[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(set); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s", set[i][0]);
		if (!put(path, set[i][1]))
			die("%s: %s", path, strerror(errno));
	}
	aim("/proc/thread-self/fail-nth");
	memset(alloca(256 << 10), 0, 256 << 10);
	if (mlockall(MCL_CURRENT))
		die("mlockall: %s", strerror(errno));
}

/* ---- requests --------------------------------------------------------- */

static void put_addr(struct nl_req *r, int addr, int port, uint32_t id)
{
	uint32_t ip = inet_addr("10.0.0.1");
	uint16_t p = 5000 + id;

	nl_put(r, addr, &ip, sizeof(ip));
	nl_put(r, port, &p, sizeof(p));
}

struct subgroup {
	uint32_t id, window, max_msg, ring;
	uint8_t mode;
	uint32_t members, senders;	/* as bits, by id; 0: all */
};

struct view {
	const char *name;
	uint32_t members;
	struct subgroup sg[8];
};

static void view_request(struct nl *nl, struct nl_req *r, const struct view *v, uint32_t node,
			 uint64_t vid)
{
	const struct subgroup *sg;
	uint32_t i;

	nl_begin(nl, r, SPINDLE_CMD_VIEW_SET, 0);
	nl_put_u32(r, SPINDLE_A_NODE_ID, node);
	nl_put(r, SPINDLE_A_VIEW_ID, &vid, sizeof(vid));
	for (i = 0; i < 32; i++) {
		if (!(v->members & 1U << i))
			continue;
		nl_nest(r, SPINDLE_A_MEMBER)->nla_type |= NLA_F_NESTED;
		nl_put_u32(r, SPINDLE_MEMBER_A_ID, i);
		put_addr(r, SPINDLE_MEMBER_A_ADDR4, SPINDLE_MEMBER_A_PORT, i);
		nl_nest_end(r);
	}
	for (sg = v->sg; sg < v->sg + ARRAY_SIZE(v->sg) && sg->id; sg++) {
		uint32_t members = sg->members ? sg->members : v->members;
		uint32_t senders = sg->senders ? sg->senders : members;

		nl_nest(r, SPINDLE_A_SUBGROUP)->nla_type |= NLA_F_NESTED;
		nl_put_u32(r, SPINDLE_SUBGROUP_A_ID, sg->id);
		nl_put(r, SPINDLE_SUBGROUP_A_MODE, &sg->mode, 1);
		nl_put_u32(r, SPINDLE_SUBGROUP_A_WINDOW, sg->window);
		nl_put_u32(r, SPINDLE_SUBGROUP_A_MAX_MSG, sg->max_msg);
		nl_put_u32(r, SPINDLE_SUBGROUP_A_RING, sg->ring);
		for (i = 0; i < 32; i++) {
			uint8_t sends = !!(senders & 1U << i);

			if (!(members & 1U << i))
				continue;
			nl_nest(r, SPINDLE_SUBGROUP_A_NODE)->nla_type |= NLA_F_NESTED;
			nl_put_u32(r, SPINDLE_SUBGROUP_NODE_A_ID, i);
			nl_put(r, SPINDLE_SUBGROUP_NODE_A_SENDER, &sends, 1);
			nl_nest_end(r);
		}
		nl_nest_end(r);
	}
}

/* What a request has shown, without what changes all the time. */
struct shown {
	int len, bytes;		/* @bytes: with what is left out */
	bool overflow;
	char buf[LOOK_MAX];
};

static void show(struct shown *s, const void *data, int len)
{
	if (s->len + len > LOOK_MAX) {
		s->overflow = true;
		return;
	}
	memcpy(s->buf + s->len, data, len);
	s->len += len;
}

static int show_attrs(struct shown *s, const void *attrs, int len, bool subgroup)
{
	const void *end = (const char *)attrs + len;
	const struct nlattr *a;

	for (a = nl_at(attrs, end); a; a = nl_behind(a, end)) {
		/* Where it stands depends on what comes before. */
		if (!subgroup && nl_type(a) == SPINDLE_A_PAD)
			continue;
		if (subgroup ? nl_type(a) == SPINDLE_SUBGROUP_A_STATS :
			       nl_type(a) == SPINDLE_A_STATS || nl_type(a) == SPINDLE_A_PEER ||
			       nl_type(a) == SPINDLE_A_INCARNATION)
			show(s, a, NLA_HDRLEN);
		else if (!subgroup && nl_type(a) == SPINDLE_A_SUBGROUP)
			show_attrs(s, nl_data(a), nl_len(a), true);
		else
			show(s, a, a->nla_len);
	}
	return 0;
}

static int show_msg(void *ctx, const struct nlmsghdr *nlh)
{
	((struct shown *)ctx)->bytes += nlh->nlmsg_len;
	return show_attrs(ctx, nl_attrs(nlh), nl_attrs_len(nlh), false);
}

static struct nl_req request;

/* A dump, or one object if @node is given with @flags 0. 0 or -errno. */
static int show_all(struct nl *nl, struct shown *s, int cmd, int flags, uint32_t node)
{
	struct nl_ack ack;
	int err;

	nl_begin(nl, &request, cmd, flags);
	if (node)
		nl_put_u32(&request, SPINDLE_A_NODE_ID, node);
	arm();
	err = nl_talk(nl, &request, &ack, show_msg, s);
	disarm();
	return err ? err : ack.err;
}

static struct nl eye;	/* the socket that looks, which nothing ever fails for */

static void open_eye(void)
{
	int err = nl_open(&eye);

	if (err)
		die("the netlink family: %s", strerror(-err));
}

/* Threads of engines: one that nobody needs any more is in no dump. */
static int engine_threads(void)
{
	char path[300], comm[64];
	const struct dirent *e;
	DIR *d = opendir("/proc");
	int n = 0;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		if (isdigit(e->d_name[0]) && get(path, comm, sizeof(comm)) > 0)
			n += !strncmp(comm, "spindle/", 8);
	}
	if (d)
		closedir(d);
	return n;
}

/* Everything that can be seen of the module, for comparison. */
static void look(struct shown *s)
{
	static const int cmds[] = {
		SPINDLE_CMD_NODE_GET, SPINDLE_CMD_VIEW_GET, SPINDLE_CMD_SUBGROUP_GET,
	};
	unsigned int keep = nth;
	char text[64];
	int err, n;
	size_t i;

	nth = 0;
	s->len = 0;
	s->overflow = false;
	n = get("/sys/module/spindle/refcnt", text, sizeof(text));
	if (n < 0) {
		show(s, "-", 1);
		nth = keep;
		return;
	}
	show(s, text, n);
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		err = show_all(&eye, s, cmds[i], NLM_F_DUMP, 0);
		if (err)
			die("cannot look: %s", strerror(-err));
	}
	if (s->overflow)
		die("there is too much to see");
	nth = keep;
}

static bool same(const struct shown *a, const struct shown *b)
{
	return a->len == b->len && !memcmp(a->buf, b->buf, a->len);
}

/* ---- what is in use --------------------------------------------------- */

struct usage {
	long maps, pages;
};

static long meminfo(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? atol(at + strlen(name)) / 4 : 0;
}

/*
 * Mappings by the module, exactly; and pages that are neither free nor, by the kernel's
 * own account, used for something that is none of ours. KASAN keeps freed objects for a
 * while, which are pages of slabs.
 */
static struct usage usage(void)
{
	static const char * const others[] = {
		"MemFree:", "Buffers:", "Cached:", "Slab:", "AnonPages:", "PageTables:",
		"KernelStack:", "VmallocUsed:", "Percpu:",
	};
	static char text[1 << 20];
	struct usage u = { 0 };
	int fd = open("/proc/vmallocinfo", O_RDONLY | O_CLOEXEC), n = 0, got;
	const char *at;
	size_t i;

	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	close(fd);
	text[n] = 0;
	for (at = text; (at = strstr(at, " [spindle]")); at++)
		u.maps++;
	put("/proc/sys/vm/drop_caches", "3");
	get("/proc/meminfo", text, 8192);
	u.pages = meminfo(text, "MemTotal:");
	for (i = 0; i < ARRAY_SIZE(others); i++)
		u.pages -= meminfo(text, others[i]);
	fd = get("/proc/zoneinfo", text, sizeof(text));
	for (at = text; (at = strstr(at, " count:")); at++)
		u.pages -= atol(at + 7);
	return u;
}

/* ---- a path ----------------------------------------------------------- */

/*
 * struct op - an operation whose allocations fail
 * @name: for people
 * @run: do it, between arm() and disarm(); 0 or -errno
 * @undo: take it back when it has succeeded
 * @ctx: for both
 * @errs: errors that it may end with
 * @after: what has to hold when it has succeeded, or NULL
 * @never: it is not refused for want of memory
 */
struct op {
	char name[64];
	int (*run)(void *ctx);
	void (*undo)(void *ctx);
	void *ctx;
	const int *errs;
	bool (*after)(void *ctx);
	bool never;
};

/* Out of memory; that of netlink, which may have happened to the answer alone. */
static const int errs_mem[] = { ENOMEM, 0 };
static const int errs_netlink[] = { ENOMEM, ENOBUFS, 0 };
/* What fork() says. */
static const int errs_thread[] = { ENOMEM, EAGAIN, 0 };

static bool documented(const struct op *op, int err)
{
	const int *e;

	for (e = op->errs; *e; e++)
		if (err == -*e)
			return true;
	return false;
}

static struct {
	unsigned int failed, refused, unharmed, bad;
} count;

/* One line per path for the first few that are wrong. */
__attribute__((format(printf, 2, 3)))
static void wrong(const struct op *op, const char *fmt, ...)
{
	va_list ap;

	if (count.bad++ > 10)
		return;
	printf("# %s, allocation %u: ", op->name, nth);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static struct shown before, now, done;

/* It has succeeded: what it was to do is done, and can be taken back. */
static void succeeded(const struct op *op)
{
	look(&now);
	if (!same(&now, &done))
		wrong(op, "it did something else than usual");
	if (op->after && !op->after(op->ctx))
		wrong(op, "it does not work");
	op->undo(op->ctx);
	look(&now);
	if (!same(&now, &before))
		wrong(op, "what is left behind differs from what was before");
}

/* Again, without a failure. */
static bool again(const struct op *op)
{
	unsigned int n = nth;
	int err;

	nth = 0;
	err = op->run(op->ctx);
	nth = n;
	if (err)
		wrong(op, "then it fails for good: %s", strerror(-err));
	else
		succeeded(op);
	return !err;
}

/* The nth allocation fails. Returns false when there is none. */
static bool one(const struct op *op)
{
	int err = op->run(op->ctx);
	bool hit = fired;

	if (!hit) {
		if (err)
			wrong(op, "without a failure: %s", strerror(-err));
		else
			succeeded(op);
		return false;
	}
	count.failed++;
	if (!err) {
		count.unharmed++;
		succeeded(op);
		return true;
	}
	if (!documented(op, err))
		wrong(op, "refused with %s", strerror(-err));
	look(&now);
	/* An answer that could not be sent: it happened. */
	if (err == -ENOBUFS && !same(&now, &before)) {
		count.unharmed++;
		succeeded(op);
		return true;
	}
	count.refused++;
	if (!same(&now, &before))
		wrong(op, "refused, and yet something has changed");
	return again(op);
}

static void path(const struct op *op)
{
	long start = now_ms();
	struct usage first, last;
	unsigned int n;

	memset(&count, 0, sizeof(count));
	/* Twice without a failure: what the kernel keeps for next time is there. */
	nth = 0;
	look(&before);
	if (op->run(op->ctx))
		die("%s: it does not work at all", op->name);
	look(&done);
	op->undo(op->ctx);
	look(&now);
	if (!same(&now, &before))
		wrong(op, "it cannot be undone");
	again(op);
	first = usage();
	for (nth = 1; nth < MAX_NTH && one(op) && count.bad < 20; nth++)
		;
	n = nth;
	nth = 0;
	last = usage();
	ok(count.failed && !count.refused == op->never && !count.bad && n < MAX_NTH,
	   "%s: %u allocations failed, %u refusals, %u times it made no difference", op->name,
	   count.failed, count.refused, count.unharmed);
	is(last.maps, first.maps, "%s: mappings in use", op->name);
	printf("# pages in use: %+ld, %ld ms\n", last.pages - first.pages, now_ms() - start);
	/* The kernel's own use of pages varies by a few hundred now and then. */
	if (count.refused >= 500)
		ok(last.pages - first.pages < (long)count.refused,
		   "%s: less than a page per refusal", op->name);
	fflush(stdout);
}

/* ---- node, view ------------------------------------------------------- */

struct hand {
	uint32_t node;
	uint64_t vid;
	const struct view *view, *old;
};

static int talk(struct nl *nl, struct nl_req *r)
{
	struct nl_ack ack;
	int err;

	arm();
	err = nl_talk(nl, r, &ack, NULL, NULL);
	disarm();
	return err ? err : ack.err;
}

/* With a socket of its own: an answer that comes late is nobody else's. */
static void begin(struct nl *nl)
{
	int err = nl_open(nl);

	if (err)
		die("cannot open a socket: %s", strerror(-err));
}

static int node_add(void *ctx)
{
	const struct hand *h = ctx;
	struct nl nl;
	int err;

	begin(&nl);
	nl_begin(&nl, &request, SPINDLE_CMD_NODE_ADD, 0);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, h->node);
	put_addr(&request, SPINDLE_A_ADDR4, SPINDLE_A_PORT, h->node);
	err = talk(&nl, &request);
	close(nl.fd);
	return err;
}

static void simple(int cmd, uint32_t node)
{
	unsigned int n = nth;
	struct nl nl;
	int err;

	nth = 0;
	begin(&nl);
	nl_begin(&nl, &request, cmd, 0);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, node);
	err = talk(&nl, &request);
	close(nl.fd);
	nth = n;
	if (err)
		die("node %u cannot be undone: %s", node, strerror(-err));
}

static void node_del(void *ctx)
{
	simple(SPINDLE_CMD_NODE_DEL, ((struct hand *)ctx)->node);
}

static int set_view(const struct view *v, uint32_t node, uint64_t vid)
{
	struct nl nl;
	int err;

	begin(&nl);
	view_request(&nl, &request, v, node, vid);
	err = talk(&nl, &request);
	close(nl.fd);
	return err;
}

static int view_set(void *ctx)
{
	const struct hand *h = ctx;

	return set_view(h->view, h->node, h->vid);
}

static void view_del(void *ctx)
{
	simple(SPINDLE_CMD_VIEW_DEL, ((struct hand *)ctx)->node);
}

/* Back to the view that was replaced: ids only grow, so by way of none. */
static void view_back(void *ctx)
{
	const struct hand *h = ctx;
	unsigned int n = nth;

	view_del(ctx);
	nth = 0;
	if (set_view(h->old, h->node, h->vid - 1))
		die("the old view cannot be set any more");
	nth = n;
}

#define SET(...) { __VA_ARGS__ }
#define IDS3 (1U << 1 | 1U << 2 | 1U << 3)

static const struct view views[] = {
	{ "alone", 1U << 3, { SET(.id = 1, .window = 4, .max_msg = 64, .ring = 4096) } },
	{ "three members, both modes", IDS3, {
		SET(.id = 1, .window = 16, .max_msg = 512, .ring = 8192),
		SET(.id = 2, .window = 8, .max_msg = 64, .ring = 4096,
		    .mode = SPINDLE_MODE_UNORDERED, .senders = 1U << 1),
		SET(.id = 3, .window = 1024, .max_msg = 4096, .ring = 65536,
		    .members = 1U << 2 | 1U << 3),
	} },
	/* A row of more than 2 MiB is registered in several pieces. */
	{ "several chunks", 1U << 1 | 1U << 3, {
		SET(.id = 1, .window = 64, .max_msg = 65536, .ring = 2 << 20,
		    .senders = 1U << 3),
	} },
};

static void test_node(void)
{
	struct hand h = { .node = 9 };
	struct op op = { .name = "node add", .run = node_add, .undo = node_del, .ctx = &h,
			 .errs = errs_netlink };
	int threads = engine_threads();
	char comm[32];

	path(&op);
	/* The thread is made by another one, whose allocations are its own. */
	get("/proc/2/comm", comm, sizeof(comm));
	if (strcmp(comm, "kthreadd\n"))
		die("process 2 is %s", comm);
	aim("/proc/2/fail-nth");
	snprintf(op.name, sizeof(op.name), "node add: the engine's thread");
	op.errs = errs_thread;
	path(&op);
	is(engine_threads(), threads, "no thread of an engine is left");
}

static void test_view(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views); i++) {
		struct hand h = { .node = 3, .vid = 2, .view = &views[i] };
		struct op op = { .run = view_set, .undo = view_del, .ctx = &h,
				 .errs = errs_netlink };

		snprintf(op.name, sizeof(op.name), "view set: %s", views[i].name);
		path(&op);
	}
	{
		struct hand h = { .node = 3, .vid = 2, .view = &views[1], .old = &views[0] };
		struct op op = { .name = "view set: in place of another", .run = view_set,
				 .undo = view_back, .ctx = &h, .errs = errs_netlink };

		if (set_view(&views[0], 3, 1))
			die("the old view cannot be set");
		path(&op);
		simple(SPINDLE_CMD_VIEW_DEL, 3);
	}
}

/* ---- the module ------------------------------------------------------- */

struct image {
	void *data;
	size_t len;
};

static int load(void *ctx)
{
	const struct image *im = ctx;
	int err;

	arm();
	err = syscall(SYS_init_module, im->data, im->len, "") ? -errno : 0;
	disarm();
	if (!err)
		open_eye();
	return err;
}

static void unload(void *ctx)
{
	(void)ctx;
	close(eye.fd);
	if (syscall(SYS_delete_module, "spindle", O_NONBLOCK))
		die("the module cannot be removed: %s", strerror(errno));
}

/* A node can be added: the module knows the device. */
static bool serves(void *ctx)
{
	struct hand h = { .node = 9 };
	unsigned int n = nth;
	int err;

	(void)ctx;
	nth = 0;
	err = node_add(&h);
	if (err)
		printf("# node add: %s\n", strerror(-err));
	else
		node_del(&h);
	nth = n;
	return !err;
}

static void test_load(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct image im;
	struct op op = { .name = "module load", .run = load, .undo = unload, .ctx = &im,
			 .errs = errs_mem, .after = serves };

	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", file, strerror(errno));
	im.len = st.st_size;
	im.data = malloc(im.len);
	if (!im.data || read(fd, im.data, im.len) != (ssize_t)im.len)
		die("%s cannot be read", file);
	close(fd);
	path(&op);
}

/* ---- attachments ------------------------------------------------------ */

#define BOTH	(SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV)
#define COPY	(SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY)

struct seat {
	uint32_t flags;
	int fd, event_fd;
	uint64_t memlock;		/* what it takes, when that is known */
	struct spindle_attach a;
	/* a mapping of it */
	uint64_t cookie;
	size_t len, times;
	int prot;
	char *addr;
};

static int dev_open(void *ctx)
{
	struct seat *seat = ctx;

	arm();
	seat->fd = open(SPINDLE_DEVICE, O_RDWR | O_CLOEXEC);
	disarm();
	return seat->fd < 0 ? -errno : 0;
}

static void dev_close(void *ctx)
{
	struct seat *seat = ctx;

	close(seat->fd);
	seat->fd = -1;
}

static void sit(struct seat *seat)
{
	unsigned int n = nth;

	nth = 0;
	if (dev_open(seat))
		die("%s: %s", SPINDLE_DEVICE, strerror(errno));
	nth = n;
}

/* Another file that is attached to nothing. */
static void sit_again(void *ctx)
{
	dev_close(ctx);
	sit(ctx);
}

/* A file that was refused stays as it is, and is used again. */
static int attach(void *ctx)
{
	struct seat *seat = ctx;
	int err;

	seat->a = (struct spindle_attach){
		.size = sizeof(seat->a), .node = 1, .subgroup = 1, .flags = seat->flags,
		.event_fd = seat->event_fd,
	};
	arm();
	err = ioctl(seat->fd, SPINDLE_IOC_ATTACH, &seat->a) ? -errno : 0;
	disarm();
	if (seat->memlock && (!err || err == -ENOMEM) && seat->a.memlock != seat->memlock)
		return -EPROTO;
	return err;
}

/* With or without the right to pin more than RLIMIT_MEMLOCK allows. */
static void may_pin(bool may)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		die("capget: %s", strerror(errno));
	d[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
	if (may)
		d[CAP_TO_INDEX(CAP_IPC_LOCK)].effective |= CAP_TO_MASK(CAP_IPC_LOCK);
	if (syscall(SYS_capset, &h, d))
		die("capset: %s", strerror(errno));
}

/* The limit is just enough: a page that a refusal leaves charged is the end. */
static void limited(const struct op *op, struct seat *seat)
{
	struct rlimit was, lim;

	sit(seat);
	if (attach(seat))
		die("cannot attach");
	seat->memlock = seat->a.memlock;
	sit_again(seat);
	getrlimit(RLIMIT_MEMLOCK, &was);
	lim.rlim_cur = seat->memlock;
	lim.rlim_max = was.rlim_max > lim.rlim_cur ? was.rlim_max : lim.rlim_cur;
	if (setrlimit(RLIMIT_MEMLOCK, &lim))
		die("setrlimit: %s", strerror(errno));
	may_pin(false);
	path(op);
	may_pin(true);
	setrlimit(RLIMIT_MEMLOCK, &was);
	dev_close(seat);
}

static void test_attach(void)
{
	static const struct {
		const char *name;
		uint32_t flags;
		bool event;
	} kinds[] = {
		{ "send", SPINDLE_ATTACH_SEND, false },
		{ "recv", SPINDLE_ATTACH_RECV, false },
		{ "copy", COPY, false },
		{ "send and copy, eventfd", BOTH | COPY, true },
	};
	struct seat seat = { .fd = -1, .event_fd = -1 };
	struct op op = { .name = "open", .run = dev_open, .undo = dev_close, .ctx = &seat,
			 .errs = errs_mem };
	size_t i;

	path(&op);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		seat = (struct seat){ .flags = kinds[i].flags, .fd = -1, .event_fd = -1 };
		if (kinds[i].event)
			seat.event_fd = eventfd(0, EFD_CLOEXEC);
		op = (struct op){ .run = attach, .undo = sit_again, .ctx = &seat,
				  .errs = errs_mem };
		snprintf(op.name, sizeof(op.name), "attach: %s", kinds[i].name);
		limited(&op, &seat);
		if (seat.event_fd >= 0)
			close(seat.event_fd);
	}
}

/* To where nothing is near, so that all levels of the page table are missing. */
static int map(void *ctx)
{
	struct seat *seat = ctx;
	void *p;
	int err;

	arm();
	p = mmap(seat->addr, seat->len * seat->times, seat->prot,
		 MAP_SHARED | MAP_FIXED_NOREPLACE, seat->fd, seat->cookie);
	err = p == MAP_FAILED ? -errno : 0;
	disarm();
	return !err && p != seat->addr ? -EPROTO : err;
}

static void unmap(void *ctx)
{
	struct seat *seat = ctx;

	munmap(seat->addr, seat->len * seat->times);
}

/* The pages are there, and those of the second half are the same. */
static bool mapped(void *ctx)
{
	const struct seat *seat = ctx;
	size_t i;

	for (i = 0; i < seat->len; i += PAGE)
		if (seat->prot & PROT_WRITE)
			((volatile char *)seat->addr)[i] ^= 0x55;
	for (i = 1; i < seat->times; i++)
		if (memcmp(seat->addr, seat->addr + i * seat->len, seat->len))
			return false;
	for (i = 0; i < seat->len; i += PAGE)
		if (seat->prot & PROT_WRITE)
			((volatile char *)seat->addr)[i] ^= 0x55;
	return true;
}

static void test_map(void)
{
	const size_t gib = 1UL << 30;
	struct seat seat = { .flags = BOTH, .fd = -1, .event_fd = -1 };
	struct seat copy = { .flags = COPY, .fd = -1, .event_fd = -1 };
	char *room = mmap(NULL, 4 * gib, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);
	size_t i;

	if (room == MAP_FAILED || munmap(room, 4 * gib))
		die("no room for mappings: %s", strerror(errno));
	room = (char *)(((uintptr_t)room + 2 * gib) & ~(gib - 1));
	sit(&seat);
	sit(&copy);
	if (attach(&seat) || attach(&copy))
		die("cannot attach");
	{
		const struct {
			const char *name;
			const struct seat *from;
			const struct spindle_section *s;
			uint64_t more;
			int times, prot;
		} parts[] = {
			{ "ctl", &seat, &seat.a.ctl, 0, 1, PROT_READ },
			{ "usr", &seat, &seat.a.usr, 0, 1, PROT_READ | PROT_WRITE },
			{ "tx", &seat, &seat.a.tx, 0, 2, PROT_READ | PROT_WRITE },
			{ "rx, own", &seat, &seat.a.rx, 0, 2, PROT_READ },
			{ "rx, a peer", &seat, &seat.a.rx, seat.a.rx_stride, 2, PROT_READ },
			{ "dlv", &seat, &seat.a.dlv, 0, 1, PROT_READ },
			{ "copy", &copy, &copy.a.copy, 0, 2, PROT_READ },
			{ "sst, a peer", &seat, &seat.a.sst, seat.a.sst_stride, 1, PROT_READ },
		};

		for (i = 0; i < ARRAY_SIZE(parts); i++) {
			struct seat part = {
				.fd = parts[i].from->fd,
				.cookie = parts[i].s->cookie + parts[i].more,
				.len = parts[i].s->len, .times = parts[i].times,
				.prot = parts[i].prot, .addr = room,
			};
			struct op op = { .run = map, .undo = unmap, .ctx = &part,
					 .errs = errs_mem, .after = mapped };

			snprintf(op.name, sizeof(op.name), "mmap: %s", parts[i].name);
			path(&op);
		}
	}
	dev_close(&seat);
	dev_close(&copy);
}

/* ---- dumps ------------------------------------------------------------ */

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

/* What comes without an error is complete. */
static bool complete(void *ctx)
{
	struct query *q = ctx;

	if (q->got.len && same(&q->got, &q->want))
		return true;
	printf("# %d bytes were shown, of %d\n", q->got.bytes, q->want.bytes);
	return false;
}

static void nothing(void *ctx)
{
	(void)ctx;
}

static void test_dump(void)
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		struct op op = { .run = ask, .undo = nothing, .ctx = &list[i].q,
				 .errs = errs_netlink, .after = complete };

		snprintf(op.name, sizeof(op.name), "show: %s", list[i].name);
		path(&op);
	}
	/* The kernel gives up to 32 KiB at a time. */
	ok(list[4].q.want.bytes > 32768, "subgroups are shown in several pieces: %d bytes",
	   list[4].q.want.bytes);
}

/* ---- events ----------------------------------------------------------- */

static struct nl ear;
static int want_event;		/* enum spindle_event */
static int heard;

static void hear(void *ctx, const struct nlmsghdr *nlh)
{
	(void)ctx;
	heard += (int)nl_num(nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_EVENT)) ==
		 want_event;
}

/* Before what is to be heard. */
static void clear_ear(void)
{
	while (nl_events(&ear, NULL, NULL) == -ENOBUFS)
		;
	heard = 0;
}

/* It came, or the socket says that something did not. */
static bool told(void *ctx)
{
	int err;

	(void)ctx;
	heard = 0;
	err = nl_events(&ear, hear, NULL);
	if (heard || err == -ENOBUFS)
		return true;
	printf("# event %d did not come, and nobody said so\n", want_event);
	return false;
}

static int node_add_heard(void *ctx)
{
	clear_ear();
	return node_add(ctx);
}

static int view_set_heard(void *ctx)
{
	clear_ear();
	return view_set(ctx);
}

static int subgroup_state(uint32_t node, uint32_t id)
{
	struct nl_subgroup sg;
	int err = nl_subgroup(&eye, node, id, &sg);

	return err ? err : (int)sg.state;
}

/* The engine says that the subgroup is active; it is what fails. */
static int activate(void *ctx)
{
	const struct hand *h = ctx;
	unsigned int n = nth;
	long end = now_ms() + WAIT_MS;
	int err;

	clear_ear();
	arm();
	nth = 0;
	err = set_view(h->view, h->node, h->vid);
	while (!err && subgroup_state(h->node, 1) != SPINDLE_STATE_ACTIVE && now_ms() < end)
		nap(1);
	nth = n;
	disarm();
	return err;
}

static int take_pid(void *ctx, const struct nlmsghdr *nlh)
{
	const struct nlattr *stats = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_STATS);

	if (stats)
		*(int *)ctx = nl_num(nl_find(nl_data(stats), nl_len(stats),
					     SPINDLE_ENGINE_S_PID));
	return 0;
}

static void test_event(void)
{
	struct hand node = { .node = 9 };
	struct hand view = { .node = 3, .vid = 100, .view = &views[0] };
	struct op add = { .name = "event: node-add", .run = node_add_heard, .undo = node_del,
			  .ctx = &node, .errs = errs_netlink, .after = told };
	struct op set = { .name = "event: view-install", .run = view_set_heard,
			  .undo = view_del, .ctx = &view, .errs = errs_netlink, .after = told };
	struct op act = { .name = "event: subgroup-active, by the engine", .run = activate,
			  .undo = view_del, .ctx = &view, .errs = errs_netlink, .after = told,
			  .never = true };
	struct nl_ack ack;
	char text[64];
	int pid = 0;

	begin(&ear);
	if (nl_listen(&ear))
		die("cannot listen");
	want_event = SPINDLE_EVENT_NODE_ADD;
	path(&add);
	want_event = SPINDLE_EVENT_VIEW_INSTALL;
	path(&set);
	nl_begin(&eye, &request, SPINDLE_CMD_STATS_GET, NLM_F_DUMP);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, 3);
	if (nl_talk(&eye, &request, &ack, take_pid, &pid) || !pid)
		die("the engine's thread is unknown");
	snprintf(text, sizeof(text), "/proc/%d/fail-nth", pid);
	aim(text);
	want_event = SPINDLE_EVENT_SUBGROUP_ACTIVE;
	path(&act);
	close(ear.fd);
}

/* ---- connections ------------------------------------------------------ */

/*
 * Connections are made by work items. Which thread runs one is not known before, and the
 * same threads send the packets of soft-RoCE, whose management queue pair does not
 * survive an allocation that fails. So the nth allocation of each worker of the unbound
 * queues fails, and only those count that the module has asked for, itself or by way of
 * the RDMA core (CONFIG_FAULT_INJECTION_STACKTRACE_FILTER).
 */
#define MAX_WORKERS	256
#define QUIET_ROUNDS	3	/* so many without a failure: there are no more */

static struct {
	int fd[MAX_WORKERS];
	int n;
} workers;

static void only_ours(bool only)
{
	static const char * const dirs[] = { "failslab", "fail_page_alloc" };
	unsigned long first = 0, last = ~0UL;
	char path[128], text[64], line[512];
	FILE *f = only ? fopen("/proc/kallsyms", "r") : NULL;
	size_t i;

	if (only) {
		first = ~0UL;
		last = 0;
	}
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long at;
		char type;

		if (!strstr(line, "\t[spindle]") || sscanf(line, "%lx %c", &at, &type) != 2 ||
		    tolower(type) != 't')
			continue;
		first = at < first ? at : first;
		/* The last function ends a page later, or before. */
		last = at + PAGE > last ? at + PAGE : last;
	}
	if (f)
		fclose(f);
	if (first >= last)
		die("the module has no symbols");
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/require-start", dirs[i]);
		snprintf(text, sizeof(text), "0x%lx", first);
		if (!put(path, text))
			die("%s: %s", path, strerror(errno));
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/require-end", dirs[i]);
		snprintf(text, sizeof(text), "0x%lx", last);
		if (!put(path, text))
			die("%s: %s", path, strerror(errno));
	}
}

static void arm_workers(unsigned int n)
{
	char path[300], comm[64], text[16];
	const struct dirent *e;
	DIR *d = opendir("/proc");

	workers.n = 0;
	snprintf(text, sizeof(text), "%u", n);
	while (d && (e = readdir(d)) && workers.n < MAX_WORKERS) {
		int fd;

		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		if (!isdigit(e->d_name[0]) || get(path, comm, sizeof(comm)) <= 0 ||
		    strncmp(comm, "kworker/u", 9))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/fail-nth", e->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && pwrite(fd, text, strlen(text), 0) > 0)
			workers.fd[workers.n++] = fd;
		else if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
}

/* Returns in how many an allocation failed. A worker may have ended. */
static unsigned int disarm_workers(void)
{
	unsigned int hit = 0;

	while (workers.n) {
		int fd = workers.fd[--workers.n];
		char text[16] = "";

		if (pread(fd, text, sizeof(text) - 1, 0) > 0)
			hit += atoi(text) == 0;
		if (pwrite(fd, "0", 1, 0) < 0 && errno != ESRCH)
			die("cannot disarm a worker: %s", strerror(errno));
		close(fd);
	}
	return hit;
}

static int take_attempts(void *ctx, const struct nlmsghdr *nlh)
{
	const void *end = (char *)nl_attrs(nlh) + nl_attrs_len(nlh);
	const struct nlattr *a;

	for (a = nl_at(nl_attrs(nlh), end); a; a = nl_behind(a, end))
		if (nl_type(a) == SPINDLE_A_PEER)
			*(unsigned int *)ctx += nl_num(nl_find(nl_data(a), nl_len(a),
							       SPINDLE_PEER_A_ATTEMPTS));
	return 0;
}

/* Of all connections of the installed views. */
static unsigned int attempts(void)
{
	unsigned int sum = 0;
	struct nl_ack ack;

	nl_begin(&eye, &request, SPINDLE_CMD_STATS_GET, NLM_F_DUMP);
	if (nl_talk(&eye, &request, &ack, take_attempts, &sum) || ack.err)
		die("cannot look at connections");
	return sum;
}

/* Two chunks a row. */
static const struct view pair = {
	"a pair", 1U << 1 | 1U << 2, {
		SET(.id = 1, .window = 64, .max_msg = 65536, .ring = 2 << 20),
	}
};

/* The one who waits first, so that there is one attempt each if nothing fails. */
static bool connect_pair(uint64_t vid)
{
	long end = now_ms() + WAIT_MS;
	int a, b;

	if (set_view(&pair, 2, vid) || set_view(&pair, 1, vid))
		die("a view cannot be set");
	do {
		nap(2);
		a = subgroup_state(1, 1);
		b = subgroup_state(2, 1);
	} while (now_ms() < end && a <= SPINDLE_STATE_ACTIVE && b <= SPINDLE_STATE_ACTIVE &&
		 (a != SPINDLE_STATE_ACTIVE || b != SPINDLE_STATE_ACTIVE));
	return a == SPINDLE_STATE_ACTIVE && b == SPINDLE_STATE_ACTIVE;
}

static void part_pair(void)
{
	simple(SPINDLE_CMD_VIEW_DEL, 1);
	simple(SPINDLE_CMD_VIEW_DEL, 2);
}

static void test_connect(void)
{
	unsigned int n, quiet = 0, failed = 0, undone = 0, bad = 0;
	long start = now_ms();
	struct usage first, last;
	uint64_t vid = 1000;

	for (n = 0; n < 3; n++) {
		if (n)
			part_pair();
		if (!connect_pair(vid++))
			die("no connection even if nothing fails");
	}
	first = usage();
	only_ours(true);
	for (n = 1; n < MAX_NTH && quiet < QUIET_ROUNDS && bad < 5; n++) {
		unsigned int hit;
		bool up;

		part_pair();
		arm_workers(n);
		up = connect_pair(vid++);
		hit = disarm_workers();
		failed += hit;
		quiet = hit ? 0 : quiet + 1;
		if (up && attempts() > 2)
			undone++;
		if (up)
			continue;
		bad++;
		printf("# allocation %u of %u workers: no connection\n", n, hit);
		part_pair();
		if (!connect_pair(vid++))
			printf("# nor with the next view\n");
	}
	only_ours(false);
	last = usage();
	ok(failed && undone && !bad && n < MAX_NTH,
	   "connect: %u allocations failed, %u times it was undone and tried again", failed,
	   undone);
	is(last.maps, first.maps, "connect: mappings in use");
	printf("# pages in use: %+ld, %ld ms\n", last.pages - first.pages, now_ms() - start);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} tests[] = {
		{ "node", test_node }, { "view", test_view }, { "attach", test_attach },
		{ "map", test_map }, { "dump", test_dump }, { "event", test_event },
		{ "connect", test_connect },
	};
	const char *what = argc > 1 ? argv[1] : "";
	size_t i;

	prepare();
	if (!strcmp(what, "load") && argc == 3) {
		test_load(argv[2]);
		return tap_bad != 0;
	}
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (strcmp(what, tests[i].name))
			continue;
		open_eye();
		tests[i].fn();
		return tap_bad != 0;
	}
	die("what? see the head of fail-nth.c");
}
