// SPDX-License-Identifier: GPL-2.0-only
/*
 * shows: a dump of a subgroup with the most members, and with more readers than a dump shows. All
 * of it has to fit into one message.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/spindle.h>

#include "genl-bad.h"
#include "dump.h"
#include "words.h"
#include "tap.h"

#define MEMBERS_ALL	64
#define READERS_SHOWN	32
#define READERS_ALL	40
#define ROOM		16384

/* The contents of the one message. */
struct seen {
	unsigned int messages, bytes, readers, readers_all, rows, hists, tunes;
	unsigned int bad;
	uint64_t lag[READERS_ALL + MEMBERS_ALL];
	uint32_t pid[READERS_ALL + MEMBERS_ALL];
};

static uint64_t num_in(const struct nlattr *nest, int type, int len)
{
	const struct nlattr *a = nl_find(nl_data(nest), nl_len(nest), type);

	if (a && nl_len(a) == len)
		return nl_num(a);
	printf("# attribute %d in %d is not there, or not of %d bytes\n", type, nl_type(nest),
	       len);
	return UINT64_MAX;
}

static void take_reader(struct seen *s, const struct nlattr *a)
{
	const struct nlattr *comm = nl_find(nl_data(a), nl_len(a), SPINDLE_READER_A_COMM);

	s->lag[s->readers] = num_in(a, SPINDLE_READER_A_LAG, 8);
	s->pid[s->readers] = num_in(a, SPINDLE_READER_A_PID, 4);
	/* Every other one reads copies. */
	s->bad += num_in(a, SPINDLE_READER_A_COPY, 1) != s->readers % 2;
	s->bad += num_in(a, SPINDLE_READER_A_IDLE_MS, 8) == UINT64_MAX;
	s->bad += !comm || strcmp(nl_data(comm), "genl-bad");
	s->readers++;
}

static void take_row(struct seen *s, const struct nlattr *a)
{
	s->bad += num_in(a, SPINDLE_ROW_A_ID, 4) != 4 + s->rows;
	s->bad += num_in(a, SPINDLE_ROW_A_SENT, 8) != 0;
	s->bad += num_in(a, SPINDLE_ROW_A_SLOTS, 8) != 0;
	s->bad += num_in(a, SPINDLE_ROW_A_RECEIVED, 8) != 0;
	s->bad += num_in(a, SPINDLE_ROW_A_DELIVERED, 8) != 0;
	s->rows++;
}

static int take_message(void *ctx, const struct nlmsghdr *nlh)
{
	const struct nlattr *sg = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_SUBGROUP);
	const struct nlattr *a;
	struct seen *s = ctx;
	const void *end;

	s->messages++;
	s->bytes = nlh->nlmsg_len;
	if (!sg)
		return 0;
	end = (const char *)nl_data(sg) + nl_len(sg);
	for (a = nl_at(nl_data(sg), end); a; a = nl_behind(a, end)) {
		switch (nl_type(a)) {
		case SPINDLE_SUBGROUP_A_READERS:
			s->readers_all = nl_num(a);
			break;
		case SPINDLE_SUBGROUP_A_READER:
			if (s->readers < READERS_ALL)
				take_reader(s, a);
			break;
		case SPINDLE_SUBGROUP_A_ROW:
			take_row(s, a);
			break;
		case SPINDLE_SUBGROUP_A_SEND_HIST:
		case SPINDLE_SUBGROUP_A_RECV_HIST:
		case SPINDLE_SUBGROUP_A_DLV_HIST:
			s->hists += nl_len(a) == SPINDLE_HIST_BUCKETS * 8;
			break;
		case SPINDLE_SUBGROUP_A_TUNE:
			s->tunes += num_in(a, SPINDLE_TUNE_A_SWITCHES, 8) == SWITCHES_ALL;
			break;
		}
	}
	return 0;
}

/* The first piece of a socket has the size that the module demands. */
static void take_all(struct seen *s)
{
	static struct nl_req r;
	struct nl_ack ack;
	struct nl sk;
	int err;

	memset(s, 0, sizeof(*s));
	fresh_socket(&sk, ROOM);
	nl_begin(&sk, &r, SPINDLE_CMD_SUBGROUP_GET, NLM_F_DUMP);
	nl_put_u32(&r, SPINDLE_A_NODE_ID, 4);
	err = nl_talk(&sk, &r, &ack, take_message, s);
	close(sk.fd);
	is(err ? err : ack.err, 0, "shows: a dump");
	is(s->messages, 1, "shows: one message");
}

static int open_reader(struct spindle_attach *a, uint32_t flags)
{
	int fd = open("/dev/spindle", O_RDWR | O_CLOEXEC);

	*a = (struct spindle_attach){
		.size = sizeof(*a), .node = 4, .subgroup = 1, .flags = flags, .event_fd = -1,
	};
	if (fd < 0 || ioctl(fd, SPINDLE_IOC_ATTACH, a))
		die("attach: %s", strerror(errno));
	return fd;
}

/* A process may report any number of consumed entries. Beyond the tail its lag is 0. */
static void rubbish(int fd, const struct spindle_attach *a)
{
	static const struct { uint64_t consumed, lag; } said[] = {
		{ 1, 0 }, { UINT64_MAX, 1 }, { -64ULL, 64 }, { -65ULL, 0 }, { 1ULL << 63, 0 },
		{ 0, 0 },
	};
	unsigned char *usr = mmap(NULL, a->usr.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				  a->usr.cookie);
	static struct seen s;
	unsigned int i;

	if (usr == MAP_FAILED)
		die("usr: %s", strerror(errno));
	is(a->dlv_entries, 64, "shows: entries of a reader");
	for (i = 0; i < ARRAY_SIZE(said); i++) {
		__atomic_store_n((uint64_t *)(usr + a->usr_consumed), said[i].consumed,
				 __ATOMIC_RELEASE);
		take_all(&s);
		is(s.lag[0], said[i].lag,
		   "shows: lag of a reader that claims to have consumed %lld",
		   (long long)said[i].consumed);
	}
	munmap(usr, a->usr.len);
}

static int take_engine(void *ctx, const struct nlmsghdr *nlh)
{
	const struct nlattr *stats = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_STATS);
	uint64_t *pid = ctx;

	*pid = stats ? num_in(stats, SPINDLE_ENGINE_S_PID, 8) : UINT64_MAX;
	return 0;
}

static uint64_t engine_pid(void)
{
	static struct nl_req r;
	uint64_t pid = UINT64_MAX;
	struct nl_ack ack;
	struct nl sk;

	fresh_socket(&sk, ROOM);
	nl_begin(&sk, &r, SPINDLE_CMD_STATS_GET, NLM_F_DUMP);
	nl_put_u32(&r, SPINDLE_A_NODE_ID, 4);
	if (nl_talk(&sk, &r, &ack, take_engine, &pid) || ack.err)
		pid = UINT64_MAX;
	close(sk.fd);
	return pid;
}

/* A process in a PID namespace without these threads gets no ids of them. */
static void other_pids(void)
{
	static struct seen s;
	unsigned int i, bad = 0;
	int status;
	pid_t pid;

	pid = engine_pid();
	ok(pid > 0 && !kill(pid, 0), "shows: the engine's thread");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* The new namespace is only for children. */
		if (unshare(CLONE_NEWPID))
			die("no namespace: %s", strerror(errno));
		pid = fork();
		if (!pid) {
			take_all(&s);
			for (i = 0; i < s.readers; i++)
				bad += s.pid[i] != 0;
			is(bad, 0, "shows: no process of another namespace");
			is(engine_pid(), 0, "shows: no thread of another namespace");
			exit(tap_bad != 0);
		}
		waitpid(pid, &status, 0);
		exit(status != 0);
	}
	waitpid(pid, &status, 0);
	tap_bad += !!status;
}

void shows(void)
{
	static struct seen s;
	struct spindle_attach a, first;
	int fd[READERS_ALL], i;
	unsigned int bad = 0;
	struct nl_ack ack;

	is(request(&nl, VSET, "id=4 vid=1 members=4-67 subgroups=1-1", &ack, NULL), 0,
	   "shows: a view of %d members", MEMBERS_ALL);
	for (i = 0; i < READERS_ALL; i++)
		fd[i] = open_reader(i ? &a : &first, SPINDLE_ATTACH_RECV |
				    (i % 2 ? SPINDLE_ATTACH_COPY : 0));
	take_all(&s);
	printf("# %u bytes\n", s.bytes);
	is(s.readers_all, READERS_ALL, "shows: the number of readers");
	is(s.readers, READERS_SHOWN, "shows: the list of readers has its limit");
	is(s.rows, MEMBERS_ALL, "shows: all members are listed");
	is(s.hists, 3, "shows: three histograms");
	is(s.tunes, 1, "shows: the tuning");
	is(s.bad, 0, "shows: each entry is complete");
	for (i = 0; i < READERS_SHOWN; i++)
		bad += s.pid[i] != (uint32_t)getpid() || s.lag[i];
	is(bad, 0, "shows: each reader and its lag of 0");
	other_pids();
	rubbish(fd[0], &first);
	for (i = 0; i < READERS_ALL; i++)
		close(fd[i]);
	take_all(&s);
	is(s.readers + s.readers_all, 0, "shows: no reader is left");
	is(request(&nl, VDEL, "id=4", &ack, NULL), 0, "shows: the view goes");
}
