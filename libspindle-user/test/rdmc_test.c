// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of large objects without a kernel, on top of fake_rdmc.c. TAP on stdout.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

#include <spindle/rdmc.h>

#include "internal.h"
#include "fake_rdmc.h"
#include "tap.h"

#define LEN	(300U * 1000)

static const uint32_t three[] = { 5, 3, 9 };
static struct fake_rdmc_opts how = { .memlock = 64 << 20 };

static void *kernel(void *arg)
{
	fake_rdmc_serve(*(int *)arg, &how);
	return NULL;
}

static struct spindle_rdmc_group *must_create(uint32_t node, uint64_t id, const uint32_t *m,
					      unsigned int n, uint32_t flags)
{
	struct spindle_rdmc_options o = { .flags = flags };
	struct spindle_rdmc_group *g;

	if (spindle_rdmc_create(&g, node, id, m, n, &o))
		bail_out("cannot create a group");
	return g;
}

/* The next event, which is of this kind. */
static struct spindle_rdmc_event expect(struct spindle_rdmc_group *g, uint32_t kind,
					uint32_t error)
{
	struct spindle_rdmc_event ev = { 0 };

	CHECK(spindle_rdmc_next(g, &ev, 5000) == 1);
	if (ev.kind != kind || ev.error != error)
		printf("# node %u: event %u error %u, not %u %u\n",
		       spindle_rdmc_member(g, spindle_rdmc_rank(g)), ev.kind, ev.error, kind,
		       error);
	CHECK(ev.kind == kind && ev.error == error);
	return ev;
}

static void open_three(struct spindle_rdmc_group *g[3], uint64_t id, uint32_t flags)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		g[i] = must_create(three[i], id, three, 3, flags);
	for (i = 0; i < 3; i++)
		expect(g[i], SPINDLE_RDMC_OPENED, 0);
}

static void destroy_three(struct spindle_rdmc_group *g[3])
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		spindle_rdmc_destroy(g[i]);
}

static unsigned char *object_of(unsigned char seed)
{
	unsigned char *p = malloc(LEN);
	unsigned int i;

	for (i = 0; i < LEN; i++)
		p[i] = (unsigned char)(i * 7 + (i >> 9) + seed);
	return p;
}

/* ---- one event after the other ---------------------------------------- */

static void test_all(void)
{
	struct spindle_rdmc_memory m = { 0 };
	unsigned char *from = object_of(1), *to = calloc(1, LEN);
	struct spindle_rdmc_group *g[3];
	struct spindle_rdmc_event ev;
	struct spindle_rdmc_stat st;
	uint64_t object = 77;
	struct stat file;
	unsigned int i;

	open_three(g, 1, 0);
	for (i = 0; i < 3; i++) {
		CHECK(spindle_rdmc_rank(g[i]) == i && spindle_rdmc_count(g[i]) == 3);
		CHECK(spindle_rdmc_block(g[i]) == 65536 && spindle_rdmc_timeout(g[i]) == 30000);
		CHECK(spindle_rdmc_next(g[i], &ev, 0) == 0 && spindle_rdmc_next(g[i], &ev, 5) == 0);
	}
	CHECK(spindle_rdmc_member(g[0], 2) == 9 && !spindle_rdmc_member(g[0], 3));
	CHECK(spindle_rdmc_send(g[1], from, LEN, 4, NULL) == -EPERM);
	CHECK(spindle_rdmc_send(g[0], from, 0, 4, NULL) == -EINVAL);
	CHECK(spindle_rdmc_send(g[0], (void *)64, LEN, 4, NULL) == -EFAULT);
	CHECK(spindle_rdmc_send(g[0], from, 65 << 20, 4, NULL) == -ENOMEM);
	CHECK(!spindle_rdmc_send(g[0], from, LEN, 4, &object) && object == 0);
	CHECK(!spindle_rdmc_send(g[0], from, 1, 5, &object) && object == 1);
	for (i = 1; i < 3; i++) {
		ev = expect(g[i], SPINDLE_RDMC_INCOMING, 0);
		CHECK(ev.object == 0 && ev.len == LEN && ev.tag == 4);
		ev = expect(g[i], SPINDLE_RDMC_INCOMING, 0);
		CHECK(ev.object == 1 && ev.len == 1 && ev.tag == 5);
	}
	CHECK(spindle_rdmc_accept(g[1], 0, to, LEN - 1) == -EINVAL);
	CHECK(spindle_rdmc_accept(g[1], 2, to, LEN) == -ENOENT);
	CHECK(!spindle_rdmc_accept(g[1], 0, to, LEN));
	CHECK(spindle_rdmc_accept(g[1], 0, to, LEN) == -ENOENT);
	CHECK(spindle_rdmc_accept_memfd(g[2], 0, LEN, 4, &m) == -EINVAL && !m.addr);
	CHECK(spindle_rdmc_accept_memfd(g[2], 0, LEN - 1, 0, &m) == -EINVAL && !m.addr && !m.fd);
	CHECK(!spindle_rdmc_accept_memfd(g[2], 0, LEN, 0, &m));
	CHECK(m.len == LEN && m.mapped >= LEN && m.mapped < LEN + 4096);
	CHECK(!fstat(m.fd, &file) && file.st_size == LEN);
	for (i = 0; i < 3; i++) {
		ev = expect(g[i], SPINDLE_RDMC_DONE, 0);
		CHECK(ev.object == 0 && ev.tag == 4 && ev.len == LEN && ev.first_ns &&
		      ev.first_ns <= ev.at_ns);
	}
	CHECK(!memcmp(from, to, LEN) && !memcmp(from, m.addr, LEN));
	spindle_rdmc_free_memory(&m);
	spindle_rdmc_free_memory(&m);
	CHECK(!spindle_rdmc_stat(g[0], 2, &st) && st.node == 9 && st.finished == 1 &&
	      st.object == 1 && st.total == 1 && !st.blocks);
	CHECK(spindle_rdmc_stat(g[0], 3, &st) == -EINVAL);
	memset(to, 0, 2);
	CHECK(!spindle_rdmc_accept(g[1], 1, to, 1) && !spindle_rdmc_accept(g[2], 1, to + 1, 1));
	for (i = 0; i < 3; i++)
		expect(g[i], SPINDLE_RDMC_DONE, 0);
	CHECK(to[0] == from[0] && to[1] == from[0]);
	CHECK(!spindle_rdmc_close(g[0]) && !spindle_rdmc_close(g[0]));
	CHECK(spindle_rdmc_send(g[0], from, LEN, 4, NULL) == -ESHUTDOWN);
	for (i = 1; i < 3; i++) {
		ev = expect(g[i], SPINDLE_RDMC_CLOSING, 0);
		CHECK(ev.object == 2);
	}
	CHECK(spindle_rdmc_next(g[0], &ev, 50) == 0);
	CHECK(!spindle_rdmc_close(g[1]) && !spindle_rdmc_close(g[2]));
	for (i = 0; i < 3; i++) {
		expect(g[i], SPINDLE_RDMC_CLOSED, 0);
		CHECK(spindle_rdmc_next(g[i], &ev, -1) == -EPIPE);
	}
	destroy_three(g);
	spindle_rdmc_destroy(NULL);
	free(from);
	free(to);
}

static void test_refuse(void)
{
	unsigned char *from = object_of(2), *to = calloc(2, LEN);
	struct spindle_rdmc_group *g[3];
	struct spindle_rdmc_event ev;
	unsigned int i, k;

	open_three(g, 2, SPINDLE_RDMC_AUTO_CLOSE);
	for (i = 0; i < 3; i++)
		CHECK(!spindle_rdmc_send(g[0], from, LEN, i, NULL));
	for (k = 0; k < 3; k++) {
		expect(g[1], SPINDLE_RDMC_INCOMING, 0);
		expect(g[2], SPINDLE_RDMC_INCOMING, 0);
	}
	CHECK(!spindle_rdmc_refuse(g[1], 1, ENOSPC) && spindle_rdmc_refuse(g[1], 1, 1) == -ENOENT);
	CHECK(!spindle_rdmc_cancel(g[0], 0, EINTR) && spindle_rdmc_cancel(g[0], 0, 1) == -ENOENT);
	for (i = 0; i < 3; i++) {
		ev = expect(g[i], SPINDLE_RDMC_DONE, SPINDLE_RDMC_REFUSED);
		CHECK(ev.object == 1 && ev.node == 3 && ev.reason == ENOSPC);
		ev = expect(g[i], SPINDLE_RDMC_DONE, SPINDLE_RDMC_CANCELLED);
		CHECK(ev.object == 0 && ev.node == 5 && ev.reason == EINTR);
	}
	CHECK(!spindle_rdmc_accept(g[1], 2, to, LEN));
	CHECK(!spindle_rdmc_accept(g[2], 2, to + LEN, LEN));
	for (i = 0; i < 3; i++)
		expect(g[i], SPINDLE_RDMC_DONE, 0);
	CHECK(!memcmp(to, from, LEN) && !memcmp(to + LEN, from, LEN));
	spindle_rdmc_close(g[0]);
	/* AUTO_CLOSE: the program itself does not close. */
	expect(g[1], SPINDLE_RDMC_CLOSING, 0);
	expect(g[2], SPINDLE_RDMC_CLOSING, 0);
	for (i = 0; i < 3; i++)
		expect(g[i], SPINDLE_RDMC_CLOSED, SPINDLE_RDMC_INCOMPLETE);
	destroy_three(g);
	free(from);
	free(to);
}

static void test_lost(void)
{
	unsigned char *from = object_of(3), *to = calloc(1, LEN);
	struct spindle_rdmc_group *g[3];
	struct spindle_rdmc_event ev;
	unsigned int i;

	open_three(g, 3, 0);
	for (i = 0; i < SPINDLE_RDMC_QUEUE; i++)
		CHECK(!spindle_rdmc_send(g[0], from, LEN, i, NULL));
	CHECK(spindle_rdmc_send(g[0], from, LEN, i, NULL) == -EAGAIN);
	expect(g[1], SPINDLE_RDMC_INCOMING, 0);
	CHECK(!spindle_rdmc_accept(g[1], 0, to, LEN));
	spindle_rdmc_destroy(g[2]);
	for (i = 0; i < SPINDLE_RDMC_QUEUE; i++) {
		ev = expect(g[0], SPINDLE_RDMC_DONE, SPINDLE_RDMC_LEFT);
		CHECK(ev.object == i && ev.node == 9);
	}
	ev = expect(g[0], SPINDLE_RDMC_FAILED, SPINDLE_RDMC_LEFT);
	CHECK(ev.node == 9 && spindle_rdmc_next(g[0], &ev, 0) == -EPIPE);
	CHECK(spindle_rdmc_send(g[0], from, LEN, 0, NULL) == -ECONNABORTED);
	CHECK(spindle_rdmc_close(g[0]) == -ECONNABORTED);
	CHECK(spindle_rdmc_accept(g[1], 0, to, LEN) == -ENOENT);
	/* The node can be in another group with this id only when this one is gone. */
	CHECK(spindle_rdmc_create(&g[2], 5, 3, three, 3, NULL) == -EEXIST && !g[2]);
	spindle_rdmc_destroy(g[0]);
	spindle_rdmc_destroy(g[1]);
	open_three(g, 3, 0);
	destroy_three(g);
	free(from);
	free(to);
}

/* ---- create ------------------------------------------------------------ */

static void expect_refusal(uint32_t node, const uint32_t *m, unsigned int n,
			   const struct spindle_rdmc_options *o, int want, const char *text)
{
	struct spindle_rdmc_group *g = (void *)&g;
	char buf[200];
	int err = spindle_rdmc_create(&g, node, 70, m, n, o);

	CHECK(err == want && !g);
	spindle_rdmc_create_strerror(err, node, 70, o, buf, sizeof(buf));
	if (!strstr(buf, text))
		printf("# want \"%s\" in \"%s\"\n", text, buf);
	CHECK(strstr(buf, text));
}

static void test_create(void)
{
	struct spindle_rdmc_options o = { .device = "/nonexistent" };
	static const uint32_t far[] = { 5, 65 };
	struct spindle_rdmc_group *g[2];
	struct spindle_rdmc_event ev;
	char buf[100];

	expect_refusal(5, three, 3, &o, -ENXIO, "/nonexistent: no such device; load");
	expect_refusal(99, three, 3, NULL, -ENODEV, "node 99");
	expect_refusal(5, far, 2, NULL, -ENOENT, "node 5: a member is not in");
	expect_refusal(6, three, 3, NULL, -EINVAL, "group 70 of node 6");
	expect_refusal(5, three, 1, NULL, -EINVAL, "invalid id");
	o = (struct spindle_rdmc_options){ .flags = 2 };
	expect_refusal(5, three, 3, &o, -EINVAL, "invalid");
	o = (struct spindle_rdmc_options){ .resv = { 0, 0, 0, 1 } };
	expect_refusal(5, three, 3, &o, -EINVAL, "invalid");
	o = (struct spindle_rdmc_options){ .block = 4097 };
	expect_refusal(5, three, 3, &o, -EINVAL, "block");
	spindle_rdmc_create_strerror(-ENOSPC, 5, 1, NULL, buf, sizeof(buf));
	CHECK(strstr(buf, "256 groups"));
	spindle_rdmc_create_strerror(-EOPNOTSUPP, 5, 1, NULL, buf, sizeof(buf));
	CHECK(strstr(buf, "node 5: the node's RDMA device cannot register"));
	spindle_rdmc_create_strerror(0, 1, 1, NULL, buf, sizeof(buf));
	CHECK(!strcmp(buf, "success"));

	o = (struct spindle_rdmc_options){ .block = 4096, .timeout_ms = 100 };
	g[0] = must_create(5, 71, three, 2, 0);
	CHECK(!spindle_rdmc_create(&g[1], 3, 71, three, 2, &o));
	ev = expect(g[0], SPINDLE_RDMC_FAILED, SPINDLE_RDMC_MISMATCH);
	CHECK(ev.node == 3);
	expect(g[1], SPINDLE_RDMC_FAILED, SPINDLE_RDMC_MISMATCH);
	spindle_rdmc_destroy(g[0]);
	spindle_rdmc_destroy(g[1]);
}

static void test_words(void)
{
	unsigned int i, k;

	for (i = 0; i <= SPINDLE_RDMC_INCOMPLETE; i++)
		for (k = 0; k < i; k++)
			CHECK(strcmp(spindle_rdmc_strerror(i), spindle_rdmc_strerror(k)));
	CHECK(!strcmp(spindle_rdmc_strerror(i), "unknown error"));
	CHECK(!strcmp(spindle_rdmc_algorithm_string(SPINDLE_RDMC_HYBRID), "hybrid"));
	CHECK(!spindle_rdmc_algorithm_string(SPINDLE_RDMC_HYBRID + 1));
}

/* ---- callbacks ---------------------------------------------------------- */

struct tally {
	int opened, done, refused, closing, closed, failed;
	unsigned char *to;
	bool later;
	uint64_t waiting;
};

static void on_opened(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	(void)g;
	(void)ev;
	((struct tally *)arg)->opened++;
}

static void *on_incoming(void *arg, struct spindle_rdmc_group *g,
			 const struct spindle_rdmc_event *ev, uint32_t *reason)
{
	struct tally *t = arg;

	(void)g;
	if (ev->tag == 1) {
		*reason = EDQUOT;
		return NULL;
	}
	if (ev->tag == 2)
		return (void *)64;
	if (t->later) {
		t->waiting = ev->object;
		return SPINDLE_RDMC_LATER;
	}
	return t->to;
}

static void on_done(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct tally *t = arg;

	(void)g;
	if (ev->error)
		t->refused++;
	else
		t->done++;
	if (ev->error)
		CHECK(ev->error == SPINDLE_RDMC_REFUSED &&
		      ev->reason == (ev->tag == 1 ? EDQUOT : EFAULT) && ev->node == 3);
}

static void on_closing(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	CHECK(ev->object == 3);
	((struct tally *)arg)->closing++;
	CHECK(!spindle_rdmc_close(g));
}

static void on_closed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	(void)g;
	CHECK(ev->error == SPINDLE_RDMC_INCOMPLETE);
	((struct tally *)arg)->closed++;
}

static void on_failed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	(void)g;
	(void)ev;
	((struct tally *)arg)->failed++;
}

static const struct spindle_rdmc_calls calls = {
	.opened = on_opened, .incoming = on_incoming, .done = on_done, .closing = on_closing,
	.closed = on_closed, .failed = on_failed,
};

/* One poll() loop with groups, until each has ended. */
static void loop(struct spindle_rdmc_group **g, struct tally *t, unsigned int n)
{
	struct pollfd p[8];
	unsigned int i, left = n;
	int ret;

	while (left) {
		for (i = 0, left = 0; i < n; i++) {
			p[i] = (struct pollfd){ .fd = -1 };
			ret = spindle_rdmc_dispatch(g[i], &calls, &t[i]);
			CHECK(ret >= 0 || ret == -EPIPE);
			if (ret == -EPIPE)
				continue;
			left++;
			p[i] = (struct pollfd){ spindle_rdmc_fd(g[i]), POLLIN, 0 };
			if (t[i].later && t[i].waiting) {
				t[i].later = false;
				CHECK(!spindle_rdmc_accept(g[i], t[i].waiting, t[i].to, LEN));
			}
		}
		if (left && poll(p, n, 5000) <= 0)
			bail_out("nothing happens");
	}
}

static void test_dispatch(void)
{
	struct spindle_rdmc_group *g[4];
	unsigned char *from = object_of(4), *to = calloc(2, LEN);
	struct tally t[4] = { { 0 }, { .to = to, .later = true }, { 0 }, { .to = to + LEN } };
	unsigned int i, k;

	/* Two groups of two members in one loop. */
	for (i = 0; i < 4; i++)
		g[i] = must_create(three[i % 2], 80 + i / 2, three, 2, 0);
	for (i = 0; i < 4; i += 2) {
		for (k = 1; k <= 3; k++)
			CHECK(!spindle_rdmc_send(g[i], from, LEN, k, NULL));
		CHECK(!spindle_rdmc_close(g[i]));
	}
	loop(g, t, 4);
	for (i = 0; i < 4; i++) {
		CHECK(t[i].opened == 1 && t[i].done == 1 && t[i].refused == 2 && t[i].closed == 1);
		CHECK(t[i].closing == (int)(i % 2) && !t[i].failed);
		CHECK(spindle_rdmc_dispatch(g[i], &calls, &t[i]) == -EPIPE);
		spindle_rdmc_destroy(g[i]);
	}
	CHECK(!memcmp(to, from, LEN) && !memcmp(to + LEN, from, LEN));
	free(from);
	free(to);
}

static void test_no_calls(void)
{
	static const struct spindle_rdmc_calls none;
	struct spindle_rdmc_group *g[3];
	struct spindle_rdmc_event ev;
	char byte = 1;

	open_three(g, 6, 0);
	CHECK(!spindle_rdmc_send(g[0], &byte, 1, 0, NULL));
	while (!spindle_rdmc_dispatch(g[2], &none, NULL))
		usleep(1000);
	ev = expect(g[0], SPINDLE_RDMC_DONE, SPINDLE_RDMC_REFUSED);
	CHECK(ev.reason == EOPNOTSUPP && ev.node == 9);
	destroy_three(g);
}

int main(void)
{
	static const struct tap_case list[] = {
		{ "create: refusals are undone and explained", test_create },
		{ "words for errors and algorithms", test_words },
		{ "objects from the root to all, close", test_all },
		{ "refused and cancelled objects, automatic close", test_refuse },
		{ "a member that leaves", test_lost },
		{ "dispatch: groups in one loop", test_dispatch },
		{ "dispatch: no functions", test_no_calls },
	};
	char dir[] = "/tmp/rdmc_test.XXXXXX", path[64];
	pthread_t thread;
	int fd;

	/* SIGALRM ends a test that hangs. */
	alarm(120);
	if (!mkdtemp(dir))
		bail_out("no directory");
	snprintf(path, sizeof(path), "%s/s", dir);
	fd = fake_rdmc_listen(path);
	setenv(FAKE_RDMC_ENV, path, 1);
	if (fd < 0 || pthread_create(&thread, NULL, kernel, &fd))
		bail_out("no device");
	pthread_detach(thread);
	tap_cases(list, ARRAY_SIZE(list));
	unlink(path);
	rmdir(dir);
	return tap_end();
}
