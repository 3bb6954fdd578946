// SPDX-License-Identifier: GPL-2.0-only
/*
 * set: changes of a node and of a subgroup while they run, and measurements of the device: the ends
 * of all ranges, refusals that depend on the state, and processes without the right to change.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/spindle.h>

#include "genl-bad.h"
#include "refusal.h"
#include "tap.h"

#define SG0 "id=1 subgroup-id=0 "
#define SG4 "id=4 subgroup-id=0 "
#define VIEW4(max) "members=4-5 subgroup{ id=0 window=4 ring=524288 max-msg=" #max " } "

/* A number in an answer. Its place is given by the types of the nests around it and its own. */
struct value {
	int path[3];
	uint64_t num;
	unsigned int found;
};

static int take_value(void *ctx, const struct nlmsghdr *nlh)
{
	const void *at = nl_attrs(nlh);
	const struct nlattr *a = NULL;
	int len = nl_attrs_len(nlh);
	struct value *v = ctx;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(v->path) && v->path[i]; i++) {
		a = nl_find(at, len, v->path[i]);
		if (!a)
			return 0;
		at = nl_data(a);
		len = nl_len(a);
	}
	v->num = nl_num(a);
	v->found++;
	return 0;
}

#define AT_NODE(a) { SPINDLE_A_##a }
#define AT_TUNE(a) { SPINDLE_A_SUBGROUP, SPINDLE_SUBGROUP_A_TUNE, SPINDLE_TUNE_A_##a }

/*
 * Requests that are accepted, and the values that a dump shows after them. In the end all values
 * are as before.
 */
struct edge {
	int cmd;
	const char *words;
	int path[3];
	uint64_t want;
};

static const struct edge edges[] = {
	{ NSET, "id=1 idle-us=0", AT_NODE(IDLE_US), 0 },
	{ NSET, "id=1 idle-us=1000000 timing=1", AT_NODE(IDLE_US), 1000000 },
	{ NSET, "id=1 timing=1", AT_NODE(TIMING), 1 },
	{ NSET, "id=1 idle-us=7 idle-us=50", AT_NODE(IDLE_US), SPINDLE_DEF_IDLE_US },
	{ NSET, "id=1 timing=0", AT_NODE(TIMING), 0 },
	{ NSET, "id=1 timing=0", AT_NODE(TIMING), 0 },
	{ NSET, "id=1 former-key=0", AT_NODE(FORMER_KEY), 0 },
	{ NSET, "id=1 rack=0", AT_NODE(RACK), 0 },
	{ NSET, "id=1 rack=65534 idle-us=50", AT_NODE(RACK), 65534 },
	{ NSET, "id=1 rack=65535", AT_NODE(RACK), SPINDLE_NO_RACK },
	{ SSET, SG0 "tune{ } ", AT_TUNE(SWITCHES), SWITCHES_ALL },
	{ SSET, "id=1 subgroup-name=zero tune{ silence=5 } ", AT_TUNE(SILENCE), 5 },
	{ SSET, SG0 "subgroup-name=zero tune{ silence=1024 } ", AT_TUNE(SILENCE),
		SPINDLE_DEF_SILENCE },
	{ SSET, SG0 "tune{ switches=0:0 } ", AT_TUNE(SWITCHES), SWITCHES_ALL },
	{ SSET, SG0 "tune{ switches=0:128 } ", AT_TUNE(SWITCHES), SWITCHES_ALL & ~128ULL },
	{ SSET, SG0 "tune{ switches=2:3 } ", AT_TUNE(SWITCHES), SWITCHES_ALL & ~129ULL },
	{ SSET, SG0 "tune{ switches=0:511 } ", AT_TUNE(SWITCHES), SWITCHES_ALL & ~511ULL },
	{ SSET, SG0 "tune{ switches=511:511 } ", AT_TUNE(SWITCHES), SWITCHES_ALL },
	{ SSET, SG0 "tune{ send-budget=1 } ", AT_TUNE(SEND_BUDGET), 1 },
	{ SSET, SG0 "tune{ send-budget=65536 } ", AT_TUNE(SEND_BUDGET), 65536 },
	{ SSET, SG0 "tune{ send-budget=512 } ", AT_TUNE(SEND_BUDGET), SPINDLE_DEF_SEND_BUDGET },
	{ SSET, SG0 "tune{ recv-budget=1 } ", AT_TUNE(RECV_BUDGET), 1 },
	{ SSET, SG0 "tune{ recv-budget=65536 } ", AT_TUNE(RECV_BUDGET), SPINDLE_DEF_RECV_BUDGET },
	{ SSET, SG0 "tune{ dlv-budget=1 } ", AT_TUNE(DLV_BUDGET), 1 },
	{ SSET, SG0 "tune{ dlv-budget=65536 } ", AT_TUNE(DLV_BUDGET), 65536 },
	{ SSET, SG0 "tune{ dlv-budget=2048 } ", AT_TUNE(DLV_BUDGET), SPINDLE_DEF_DLV_BUDGET },
	{ SSET, SG0 "tune{ silence=0 } ", AT_TUNE(SILENCE), 0 },
	{ SSET, SG0 "tune{ silence=1048576 } ", AT_TUNE(SILENCE), SPINDLE_MAX_SILENCE },
	{ SSET, SG0 "tune{ silence=9 silence=1024 } ", AT_TUNE(SILENCE), SPINDLE_DEF_SILENCE },
	{ SSET, SG0 "tune{ stall-ms=3600000 } ", AT_TUNE(STALL_MS), SPINDLE_MAX_STALL_MS },
	{ SSET, SG0 "tune{ stall-ms=0 } ", AT_TUNE(STALL_MS), 0 },
	{ SSET, SG0 "tune{ history=65536 } ", AT_TUNE(HISTORY), SPINDLE_MIN_HISTORY },
	{ SSET, SG0 "tune{ silence=1024 } ", AT_TUNE(HISTORY), SPINDLE_MIN_HISTORY },
	{ SSET, SG0 "tune{ history=131072 } ", AT_TUNE(HISTORY), 131072 },
	{ SSET, SG0 "tune{ history=0 } ", AT_TUNE(HISTORY), 0 },
	{ 0, NULL, { 0 }, 0 }
};

/*
 * @at: the subgroup of the requests
 */
static void try_edges(const struct edge *e, const char *at)
{
	struct nl_ack ack;

	for (; e->words; e++) {
		struct value v = { .path = { e->path[0], e->path[1], e->path[2] } };
		bool node = e->cmd == NSET;

		is(request(&nl, e->cmd, e->words, &ack, NULL), 0, "set: %s", e->words);
		request_for(&nl, node ? GET : SGET | DUMP, node ? "id=1" : at, &ack, NULL,
			    take_value, &v);
		ok(v.found == 1 && v.num == e->want, "set: the value is shown as %#llx",
		   (unsigned long long)e->want);
		if (v.num != e->want)
			printf("# %#llx\n", (unsigned long long)v.num);
	}
}

/* ---- measurements ------------------------------------------------------ */

/* The kernel ends a run when its time is over, so a slow machine may need several runs. */
static void measure(const char *words, uint64_t writes)
{
	struct value v = { .num = 0 };
	struct nl_ack ack;
	int err = 0, i;

	for (i = 0; i < 10 && !err && v.num < writes; i++) {
		v = (struct value){ .path = { SPINDLE_A_RAW, SPINDLE_RAW_A_WRITES } };
		err = request_for(&nl, RAW, words, &ack, NULL, take_value, &v);
	}
	if (!is(err, 0, "raw run: %s", words))
		printf("# text '%s'\n", ack.text);
	ok(v.found == 1 && v.num == writes, "raw run: one answer, %llu writes",
	   (unsigned long long)writes);
}

/* Ask for far more than the time allows. The answer must have the number that was done. */
static void limited(const char *words)
{
	struct value v = { .path = { SPINDLE_A_RAW, SPINDLE_RAW_A_COUNT } };
	struct nl_ack ack;

	is(request_for(&nl, RAW, words, &ack, NULL, take_value, &v), 0, "raw run: %s", words);
	ok(v.found == 1 && v.num > 0 && v.num < 1000000,
	   "raw run: the time limit leaves a part: %llu", (unsigned long long)v.num);
}

/* ---- wrong states ------------------------------------------------------ */

static int attach(uint32_t node, uint32_t flags)
{
	struct spindle_attach a = {
		.size = sizeof(a), .node = node, .flags = flags, .event_fd = -1,
	};
	int fd = open("/dev/spindle", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, SPINDLE_IOC_ATTACH, &a))
		die("attach to node %u: %s", node, strerror(errno));
	return fd;
}

static void try_all(const struct refusal *c)
{
	static struct state before;

	no_events();
	read_state(&before);
	for (; c->what; c++)
		try_refusal(c, &before);
}

static void accepted(int cmd, const char *words, const char *when)
{
	struct nl_ack ack;

	if (!is(request(&nl, cmd, words, &ack, NULL), 0, "%s: %s", when, words))
		printf("# text '%s'\n", ack.text);
}

static void under_a_sender(void)
{
	static const struct refusal busy[] = {
		{ SSET, "packed off under a sender", SG0 "tune{ silence=9 *switches=0:64 } ", EBUSY,
			"sender is attached", 0 },
		{ SSET, "all off under a sender", SG0 "tune{ *switches=0:511 stall-ms=1 } ", EBUSY,
			"sender is attached", 0 },
		{ RAW, "under a sender", SG0 "raw{ size=64 count=1 } ", EBUSY, "in use", 0 },
		{ RAW, "ping-pong under a sender", SG0 "raw{ kind=1 size=64 count=1 } ", EBUSY,
			"in use", 0 },
		{ RAW, "ping-pong, the other end has a sender",
			"id=3 subgroup-id=0 raw{ kind=1 size=64 count=1 } ", EBUSY, "in use", 0 },
		{ 0, NULL, NULL, 0, NULL, 0 }
	};
	static const struct refusal read[] = {
		{ SSET, "history under a reader", SG0 "tune{ silence=9 *history=65536 } ", EBUSY,
			"while a process reads", 0 },
		{ 0, NULL, NULL, 0, NULL, 0 }
	};
	int fd = attach(1, SPINDLE_ATTACH_SEND);

	try_all(busy);
	accepted(SSET, SG0 "tune{ switches=64:64 } ", "under a sender");
	accepted(SSET, SG0 "tune{ switches=0:447 silence=0 } ", "under a sender");
	accepted(SSET, SG0 "tune{ switches=511:511 silence=1024 } ", "under a sender");
	accepted(SSET, "id=2 subgroup-id=0 tune{ switches=0:64 } ", "sender elsewhere");
	accepted(SSET, "id=2 subgroup-id=0 tune{ switches=64:64 } ", "sender elsewhere");
	measure("id=2 subgroup-id=0 raw{ size=64 count=1 } ", 2);
	close(fd);
	fd = attach(1, SPINDLE_ATTACH_RECV);
	try_all(read);
	accepted(SSET, SG0 "tune{ history=0 } ", "the same history under a reader");
	accepted(SSET, SG0 "tune{ switches=0:64 } ", "under a reader");
	accepted(SSET, SG0 "tune{ switches=64:64 } ", "under a reader");
	measure(SG0 "raw{ size=64 count=1 } ", 2);
	close(fd);
}

static void not_active(void)
{
	static const struct refusal forming[] = {
		{ RAW, "not active", "id=4 subgroup-id=0 raw{ size=64 count=1 } ", EBUSY,
			"not active", 0 },
		{ RAW, "ping-pong with a node that is nowhere",
			"id=4 subgroup-id=0 raw{ kind=1 size=64 count=1 } ", EOPNOTSUPP,
			"another sender", 0 },
		{ SSET, "not active", "id=4 subgroup-id=0 tune{ *dlv-budget=0 } ", EINVAL,
			"1 to 65536", 0 },
		{ 0, NULL, NULL, 0, NULL, 0 }
	};

	accepted(VSET, "id=4 vid=1 members=4-5 " SUBGROUP0, "a member that is nowhere");
	try_all(forming);
	accepted(SSET, "id=4 subgroup-id=0 tune{ switches=0:511 stall-ms=1 } ", "not active");
	accepted(NSET, "id=4 idle-us=50 timing=0", "not active");
	accepted(VDEL, "id=4", "a view goes");
	no_events();
}

/* The threshold of large messages. Other values are refused. */
static void large_messages(void)
{
	static const struct edge at[] = {
		{ SSET, SG4 "tune{ } ", AT_TUNE(LARGE), SPINDLE_DEF_LARGE },
		{ SSET, SG4 "tune{ large=4096 } ", AT_TUNE(LARGE), SPINDLE_MIN_LARGE },
		{ SSET, SG4 "tune{ silence=9 } ", AT_TUNE(LARGE), SPINDLE_MIN_LARGE },
		{ SSET, SG4 "tune{ large=4096 large=1048576 } ", AT_TUNE(LARGE),
			SPINDLE_MAX_LARGE },
		{ 0, NULL, { 0 }, 0 }
	};
	static const struct refusal wrong[] = {
		{ SSET, "large 0", SG4 "tune{ *large=0 } ", EINVAL, "4096 to 1048576", 0 },
		{ SSET, "large 4095", SG4 "tune{ silence=1 *large=4095 } ", EINVAL,
			"4096 to 1048576", 0 },
		{ SSET, "large 2^20+1", SG4 "tune{ *large=1048577 } ", EINVAL, "4096 to 1048576",
			0 },
		{ SSET, "large 2^32-1", SG4 "tune{ *large=4294967295 } ", EINVAL,
			"4096 to 1048576", 0 },
		{ SSET, "short large", SG4 "tune{ *large/3 } ", EINVAL, LENGTH, 0 },
		{ 0, NULL, NULL, 0, NULL, 0 }
	};
	static const struct refusal history[] = {
		{ SSET, "history of one message", SG4 "tune{ *history=524288 } ", EINVAL,
			"twice the bytes of max-msg", 0 },
		{ 0, NULL, NULL, 0, NULL, 0 }
	};
	static const struct refusal none[] = {
		{ SSET, "max-msg 262144", SG4 "tune{ *large=4096 } ", EOPNOTSUPP,
			"max-msg above 262144", 0 },
		{ 0, NULL, NULL, 0, NULL, 0 }
	};

	accepted(VSET, "id=4 vid=2 " VIEW4(262145), "large messages");
	try_edges(at, SG4);
	try_all(wrong);
	try_all(history);
	accepted(SSET, SG4 "tune{ history=1048576 } ", "a history of two messages and more");
	accepted(VSET, "id=4 vid=3 " VIEW4(262144), "no large messages");
	try_all(none);
	accepted(VDEL, "id=4", "a view goes");
	no_events();
}

struct asked {
	int cmd;
	const char *name, *words;
	int err;
};

static void in_namespaces(int namespaces, const struct asked *asked, unsigned int n,
			  const char *where)
{
	static struct state before, after;
	struct nl_ack ack;
	unsigned int i;
	int status;
	pid_t pid;

	read_state(&before);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (unshare(namespaces) || nl_open(&nl))
			die("no namespace: %s", strerror(errno));
		for (i = 0; i < n; i++)
			is(request(&nl, asked[i].cmd, asked[i].words, &ack, NULL), asked[i].err,
			   "%s: in %s", asked[i].name, where);
		exit(tap_bad != 0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		die("the child died");
	tap_bad += !!status;
	read_state(&after);
	ok(same_state(&before, &after), "in %s: nothing was changed", where);
}

/* Namespaces without nodes, and user namespaces whose rights are for something else. */
static void elsewhere(int namespaces, int err, const char *where)
{
	const struct asked asked[] = {
		{ NSET, "node set", "id=1 idle-us=9 timing=1", err },
		{ SSET, "subgroup set", SG0 "tune{ silence=9 } ", err },
		{ RAW, "raw run", SG0 "raw{ size=64 count=1 } ", err },
	};

	in_namespaces(namespaces, asked, ARRAY_SIZE(asked), where);
}

/* An administrator of only a namespace has no right over the machine's processors. */
static void without_nice(void)
{
	static const struct asked asked[] = {
		{ ADD, "node add, idle-us 50", "id=1 idle-us=50 addr4=10.0.0.1", EADDRNOTAVAIL },
		{ ADD, "node add, idle-us 51", "id=1 idle-us=51 addr4=10.0.0.1", EPERM },
		{ ADD, "node add, cpu 0", "id=1 cpu=0 addr4=10.0.0.1", EPERM },
		{ NSET, "node set, idle-us 50", "id=1 idle-us=50", ENODEV },
		{ NSET, "node set, idle-us 51", "id=1 idle-us=51", EPERM },
	};

	in_namespaces(CLONE_NEWUSER | CLONE_NEWNET, asked, ARRAY_SIZE(asked),
		      "namespaces without CAP_SYS_NICE");
}

void set(void)
{
	static struct state before, after;

	read_state(&before);
	try_edges(edges, SG0);
	measure(SG0 "raw{ size=1 count=1 } ", 2);
	measure(SG0 "raw{ size=65536 count=3 kind=0 } ", 6);
	measure(SG0 "raw{ size=64 count=300 } ", 600);
	measure("id=2 subgroup-id=5 raw{ size=4096 count=5 } ", 5);
	measure(SG0 "raw{ kind=1 size=1 count=5 } ", 10);
	measure("id=3 subgroup-id=0 raw{ kind=1 size=65536 count=7 } ", 14);
	limited(SG0 "raw{ size=65536 count=1000000 } ");
	limited(SG0 "raw{ kind=1 size=65536 count=1000000 } ");
	under_a_sender();
	not_active();
	large_messages();
	elsewhere(CLONE_NEWNET, ENODEV, "another network namespace");
	elsewhere(CLONE_NEWUSER, EPERM, "another user namespace");
	elsewhere(CLONE_NEWUSER | CLONE_NEWNET, ENODEV, "namespaces of its own");
	without_nice();
	read_state(&after);
	ok(same_state(&before, &after), "the state is the same in the end");
	is(no_events(), 0, "the settings caused no event");
}
