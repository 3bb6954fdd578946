// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that disappears while an object is under way, and processes that exit then. The groups are
 * chains, because the last member gets nothing before the member in front of it has memory. So the
 * test controls how long an object takes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdmc-bad.h"
#include "tap.h"

#define LEN	(256 * PAGE + 77)
#define BYTES	(257 * PAGE)

/* Freed pages may go to another owner, and this memory is that owner. */
static unsigned char *others;

static void take_freed(void)
{
	others = memory(8 * BYTES, 99);
}

static void give_back(const char *what)
{
	ok(painted(others, 8 * BYTES, 99), "%s: the objects of other members are whole", what);
	munmap(others, 8 * BYTES);
}

static void child_scribbles(unsigned char *p)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		memset(p, 0x11, BYTES);
		munmap(p, BYTES);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("no child");
}

/*
 * The ways in which memory disappears. Returns an address where it can be read after that, or NULL.
 */
static unsigned char *do_nothing(unsigned char *p)
{
	return p;
}

static unsigned char *do_munmap(unsigned char *p)
{
	munmap(p, BYTES);
	return NULL;
}

static unsigned char *do_mremap(unsigned char *p)
{
	unsigned char *to = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	to = mremap(p, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	return to == MAP_FAILED ? NULL : to;
}

static unsigned char *do_forget(unsigned char *p)
{
	madvise(p, BYTES, MADV_DONTNEED);
	return NULL;
}

static unsigned char *do_protect(unsigned char *p)
{
	mprotect(p, BYTES, PROT_READ);
	return p;
}

static unsigned char *do_cover(unsigned char *p)
{
	mmap(p, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(p, 0x22, BYTES);
	return NULL;
}

static unsigned char *do_fork(unsigned char *p)
{
	child_scribbles(p);
	return p;
}

static const struct {
	const char *what;
	unsigned char *(*fn)(unsigned char *p);
} ways[] = {
	{ "left alone", do_nothing }, { "munmap", do_munmap }, { "mremap", do_mremap },
	{ "MADV_DONTNEED", do_forget }, { "mprotect", do_protect }, { "covered", do_cover },
	{ "fork", do_fork },
};

/* The root's memory disappears before a member has any of it. */
static void root_loses(unsigned int way)
{
	unsigned char *from = memory(BYTES, way), *mid = memory(BYTES, 2), *last = memory(BYTES, 3);
	struct spindle_rdmc_event ev;
	char what[64];
	int fd[3];

	snprintf(what, sizeof(what), "root's memory, %s", ways[way].what);
	create_all(fd, 3, SPINDLE_RDMC_CHAIN, 0);
	is(send_it(fd[0], from, LEN, NULL), 0, "%s: send", what);
	from = ways[way].fn(from);
	take_freed();
	ok(expect(fd[1], SPINDLE_RDMC_INCOMING, &ev) && !accept_it(fd[1], 0, mid, LEN) &&
	   expect(fd[2], SPINDLE_RDMC_INCOMING, &ev) && !accept_it(fd[2], 0, last, LEN),
	   "%s: the other members accept", what);
	ok(!done(fd[0], 0) && !done(fd[1], 0) && !done(fd[2], 0), "%s: the object arrives", what);
	ok(painted(mid, LEN, way) && painted(last, LEN, way),
	   "%s: receivers have the right bytes", what);
	ok(!from || painted(from, LEN, way), "%s: the root has the right bytes", what);
	give_back(what);
	ok(close_all(fd, 3, true), "%s: the group closes", what);
	if (from)
		munmap(from, BYTES);
	munmap(mid, BYTES);
	munmap(last, BYTES);
}

/*
 * The memory of a relay disappears half way. The memory of the last member disappears before any
 * block is there.
 */
static void others_lose(unsigned int way)
{
	unsigned char *from = memory(BYTES, way), *mid = memory(BYTES, 2), *last = memory(BYTES, 3);
	struct spindle_rdmc_event ev;
	char what[64];
	int fd[3];

	snprintf(what, sizeof(what), "receivers' memory, %s", ways[way].what);
	create_all(fd, 3, SPINDLE_RDMC_CHAIN, 0);
	is(send_it(fd[0], from, LEN, NULL), 0, "%s: send", what);
	ok(expect(fd[2], SPINDLE_RDMC_INCOMING, &ev) && !accept_it(fd[2], 0, last, LEN),
	   "%s: the last one accepts", what);
	last = ways[way].fn(last);
	ok(expect(fd[1], SPINDLE_RDMC_INCOMING, &ev) && !accept_it(fd[1], 0, mid, LEN),
	   "%s: the first one accepts", what);
	mid = ways[way].fn(mid);
	take_freed();
	ok(!done(fd[0], 0) && !done(fd[1], 0) && !done(fd[2], 0), "%s: the object arrives", what);
	ok((!mid || painted(mid, LEN, way)) && (!last || painted(last, LEN, way)),
	   "%s: the mapped memory has the right bytes", what);
	give_back(what);
	ok(close_all(fd, 3, true), "%s: the group closes", what);
	munmap(from, BYTES);
	if (mid)
		munmap(mid, BYTES);
	if (last)
		munmap(last, BYTES);
}

/* A file of the page cache loses its pages. */
static void truncated(void)
{
	unsigned char *from = memory(BYTES, 5), *to;
	int fd[2], file = memfd_create("rdmc-bad", MFD_CLOEXEC);
	struct spindle_rdmc_event ev;

	if (file < 0 || ftruncate(file, BYTES))
		die("memfd: %s", strerror(errno));
	to = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 0);
	ok(!send_it(fd[0], from, LEN, NULL) && expect(fd[1], SPINDLE_RDMC_INCOMING, &ev) &&
	   !accept_it(fd[1], 0, to, LEN), "truncated: the object is accepted");
	if (ftruncate(file, 0))
		die("truncate: %s", strerror(errno));
	take_freed();
	ok(!done(fd[1], 0) && !done(fd[0], 0), "truncated: the object arrives");
	give_back("truncated");
	ok(close_all(fd, 2, true), "truncated: the group closes");
	munmap(to, BYTES);
	munmap(from, BYTES);
	close(file);
}

void part_vanish(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		root_loses(i);
		others_lose(i);
	}
	truncated();
}

/* ---- processes that die --------------------------------------------------- */

enum { BEFORE, OPENED, GIVEN, ACCEPTED, MOVING, CLOSING, POINTS };

static void end_life(unsigned char *mem, int how)
{
	fflush(stdout);
	if (how == 0)
		kill(getpid(), SIGKILL);
	if (how == 1)
		munmap(mem, BYTES);
	if (how == 2)
		execl("/bin/true", "true", NULL);
	if (how == 2)
		execl("/bin/busybox", "true", NULL);
	_exit(0);
}

/* The life of member 2. It ends at the given point, in the given way. */
static void victim(uint64_t group, int point, int how, int pause_us)
{
	static const uint32_t member[] = { 1, 2, 3 };
	unsigned char *mem = memory(BYTES, 2);
	int fd = create(group, 2, member, 3, SPINDLE_RDMC_CHAIN, 0);
	struct spindle_rdmc_event ev;

	if (point >= OPENED)
		expect(fd, SPINDLE_RDMC_OPENED, &ev);
	if (point >= GIVEN)
		expect(fd, SPINDLE_RDMC_INCOMING, &ev);
	if (point >= ACCEPTED)
		accept_it(fd, 0, mem, LEN);
	if (point == MOVING)
		usleep(pause_us);
	if (point >= CLOSING)
		done(fd, 0);
	end_life(mem, how);
}

static void die_at(int point, int how, int pause_us)
{
	static const uint32_t member[] = { 1, 2, 3 };
	unsigned char *from = memory(BYTES, 1), *to = memory(BYTES, 2);
	uint64_t group = next_group();
	struct spindle_rdmc_event ev;
	int fd[2], status, err[2];
	bool whole = false;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		victim(group, point, how, pause_us);
	fd[0] = create(group, 1, member, 3, SPINDLE_RDMC_CHAIN, 5000);
	fd[1] = create(group, 3, member, 3, SPINDLE_RDMC_CHAIN, 5000);
	send_it(fd[0], from, LEN, NULL);
	while (next(fd[1], &ev, WAIT_MS) && ev.kind <= SPINDLE_RDMC_INCOMING)
		if (ev.kind == SPINDLE_RDMC_INCOMING && accept_it(fd[1], 0, to, LEN) == EINVAL)
			break;
	whole = ev.kind == SPINDLE_RDMC_DONE && !ev.error;
	err[1] = ev.kind == SPINDLE_RDMC_FAILED ? (int)ev.error : ended(fd[1]);
	err[0] = ended(fd[0]);
	ok(waitpid(pid, &status, 0) == pid,
	   "death: point %d, way %d, %d us: the process has ended", point, how,
	   pause_us);
	take_freed();
	/* If a member dies before others know it, they learn of that by its silence. */
	ok(err[0] == SPINDLE_RDMC_LOST || err[0] == SPINDLE_RDMC_LEFT ||
	   (point == BEFORE && err[0] == SPINDLE_RDMC_TIMEOUT),
	   "death: the root gets an error: %d", err[0]);
	ok(err[1] == SPINDLE_RDMC_LOST || err[1] == SPINDLE_RDMC_LEFT ||
	   (point == BEFORE && err[1] == SPINDLE_RDMC_TIMEOUT),
	   "death: the other member gets an error: %d", err[1]);
	ok(!whole || painted(to, LEN, 1), "death: a complete object has the right bytes");
	close(fd[0]);
	close(fd[1]);
	give_back("death");
	munmap(from, BYTES);
	munmap(to, BYTES);
}

/* ---- the root dies ----------------------------------------------------------- */

/*
 * The point at which the root dies. The points are: before the group opens, after it, after the
 * send, while blocks move, with the object done at the root, with the object at all members, and
 * during the close.
 */
enum { R_BEFORE, R_OPENED, R_SENT, R_MOVING, R_DONE, R_ALL, R_CLOSING, R_POINTS };

/* No object, and no error of a group. */
#define NONE	(-1)

struct survivor {
	int fd;
	uint32_t node;
	unsigned char *to;
	bool announced, over;
	int object, group;
	uint32_t culprit;
};

/* Wait until the root knows that a member has some blocks, or all. */
static void await(int fd, uint32_t member, bool all)
{
	struct spindle_rdmc_stat st = { .member = member };

	while (!call(fd, SPINDLE_RDMC_IOC_STAT, &st) && !st.finished && (all || !st.blocks))
		usleep(100);
}

/* A group waits less for a member that may never come. Opening may take a while. */
static uint32_t patience(int point)
{
	return point == R_BEFORE ? 5000 : 30000;
}

static void dying_root(uint64_t group, int point, int how, int pause_us)
{
	static const uint32_t member[] = { 1, 2, 3 };
	unsigned char *mem = memory(BYTES, 1);
	int fd = create(group, 1, member, 3, SPINDLE_RDMC_CHAIN, patience(point));
	struct spindle_rdmc_event ev;

	if (point >= R_OPENED)
		expect(fd, SPINDLE_RDMC_OPENED, &ev);
	if (point >= R_SENT)
		send_it(fd, mem, LEN, NULL);
	if (point >= R_MOVING)
		await(fd, 1, false);
	if (point == R_MOVING)
		usleep(pause_us);
	if (point >= R_DONE)
		done(fd, 0);
	if (point >= R_ALL) {
		await(fd, 1, true);
		await(fd, 2, true);
	}
	if (point >= R_CLOSING)
		call(fd, SPINDLE_RDMC_IOC_CLOSE, NULL);
	end_life(mem, how);
}

static void hear(struct survivor *s, bool take)
{
	struct spindle_rdmc_event ev;

	if (s->over || !next(s->fd, &ev, 10))
		return;
	switch (ev.kind) {
	case SPINDLE_RDMC_INCOMING:
		s->announced = true;
		if (take)
			accept_it(s->fd, 0, s->to, LEN);
		break;
	case SPINDLE_RDMC_DONE:
		s->object = s->object == NONE ? (int)ev.error : NONE;
		break;
	case SPINDLE_RDMC_CLOSING:
		call(s->fd, SPINDLE_RDMC_IOC_CLOSE, NULL);
		break;
	case SPINDLE_RDMC_CLOSED:
	case SPINDLE_RDMC_FAILED:
		s->over = true;
		s->group = ev.error;
		s->culprit = ev.node;
		break;
	}
}

static bool right_end(const struct survivor *s, int point)
{
	/*
	 * If the root dies before the others know it, they learn of that by its silence. A root
	 * that closes has done all.
	 */
	bool good = s->group == SPINDLE_RDMC_LOST || s->group == SPINDLE_RDMC_LEFT ||
		    (point == R_BEFORE && s->group == SPINDLE_RDMC_TIMEOUT);

	if (point == R_CLOSING && s->group == SPINDLE_RDMC_OK)
		return true;
	return good && s->culprit == 1;
}

static bool right_object(const struct survivor *s, int point)
{
	/*
	 * An object that a member does not know has no end there. An object without memory cannot
	 * end well. Before R_ALL the root has waited for node 2 only, so node 3, which is behind it
	 * in the chain, may not know the object.
	 */
	if (!s->announced)
		return (point <= R_SENT || (point < R_ALL && s->node == 3)) && s->object == NONE;
	if (point >= R_ALL)
		return s->object == SPINDLE_RDMC_OK;
	if (s->object == SPINDLE_RDMC_OK)
		return point >= R_MOVING;
	return s->object == s->group;
}

static void root_dies(int point, int how, int pause_us)
{
	static const uint32_t member[] = { 1, 2, 3 };
	struct survivor s[2] = { { .node = 2 }, { .node = 3 } };
	uint64_t group = next_group();
	int k, rounds, status;
	char what[64];
	pid_t pid;

	snprintf(what, sizeof(what), "root's death: point %d, way %d, %d us", point, how, pause_us);
	fflush(stdout);
	pid = fork();
	if (!pid)
		dying_root(group, point, how, pause_us);
	for (k = 0; k < 2; k++) {
		s[k].fd = create(group, s[k].node, member, 3, SPINDLE_RDMC_CHAIN, patience(point));
		s[k].to = memory(BYTES, 2);
		s[k].object = NONE;
		s[k].group = NONE;
	}
	for (rounds = 0; rounds < WAIT_MS / 10 && !(s[0].over && s[1].over); rounds++)
		for (k = 0; k < 2; k++)
			hear(&s[k], point >= R_MOVING);
	ok(waitpid(pid, &status, 0) == pid, "%s: the process has ended", what);
	take_freed();
	for (k = 0; k < 2; k++) {
		ok(right_end(&s[k], point), "%s: node %u gets an error: %d, node %u", what,
		   s[k].node, s[k].group, s[k].culprit);
		ok(right_object(&s[k], point),
		   "%s: the result of its object: %d", what, s[k].object);
		ok(s[k].object != SPINDLE_RDMC_OK || painted(s[k].to, LEN, 1),
		   "%s: a complete object has the right bytes", what);
		close(s[k].fd);
	}
	give_back(what);
	for (k = 0; k < 2; k++)
		munmap(s[k].to, BYTES);
}

void part_death(void)
{
	int point, how;

	for (point = BEFORE; point < POINTS; point++)
		for (how = 0; how < 3; how++)
			die_at(point, how, 1000 * how);
	for (how = 0; how < 9; how++)
		die_at(MOVING, how % 3, 500 << how);
	for (point = R_BEFORE; point < R_POINTS; point++)
		for (how = 0; how < 3; how++)
			root_dies(point, how, 1000 * how);
	for (how = 0; how < 9; how++)
		root_dies(R_MOVING, how % 3, 50 << how);
}
