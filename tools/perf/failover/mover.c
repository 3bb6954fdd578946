// SPDX-License-Identifier: GPL-2.0-only
/* The node that joins and leaves. See mover.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/clock.h"
#include "common/event.h"
#include "common/util.h"
#include "failover.h"
#include "mover.h"
#include "perf/net.h"
#include "perf/stop.h"

#define LOOK_MS		100

/* The time between two attempts to attach, because attaching fails until the subgroup exists. */
#define AGAIN_US	200

/* ---- the process of the mover -------------------------------------------- */

static uint64_t deadline(const struct perf_fopts *o)
{
	return perf_monotonic() + o->give_up * 1000000000ULL;
}

static int ask_to_join(struct ctl_net *net, const struct perf_fopts *o)
{
	struct ctl_req *req = perf_net_req(net, SPINDLE_CMD_NODE_JOIN, perf_fopts_mover(o),
					   "node join");
	bool six = o->where.addr.family == AF_INET6;

	ctl_req_mark(req, 0, "contact");
	ctl_req_bytes(req, six ? SPINDLE_A_ADDR6 : SPINDLE_A_ADDR4, o->where.addr.ip,
		      six ? 16 : 4);
	ctl_req_mark(req, 0, "port of the contact");
	ctl_req_u16(req, SPINDLE_A_PORT, o->where.port + o->where.first);
	/* Nodes of a measurement have no key. */
	ctl_req_mark(req, 0, "insecure");
	ctl_req_bytes(req, SPINDLE_A_INSECURE, "", 0);
	return perf_net_call(net, req, NULL, CTL_SAY);
}

/*
 * Return: 1 if the node is a member, 0 if the event does not say so, or -1 if it cannot become one
 */
static int take_event(const struct ctl_net *events, struct nlmsghdr *nlh, uint32_t node)
{
	struct nlattr *a[SPINDLE_A_MAX + 1];
	struct ctl_event ev;

	if (!ctl_event_attrs(events, nlh, a))
		return 0;
	ctl_event_get(&ev, a);
	if (ev.node != node)
		return 0;
	if (ev.kind == SPINDLE_EVENT_VIEW_INSTALL)
		return 1;
	if (ev.kind != SPINDLE_EVENT_JOIN_FAILED && ev.kind != SPINDLE_EVENT_STOPPED)
		return 0;
	ctl_err("node %u does not come: %s", node, ev.reason);
	return -1;
}

static int wait_view(const struct ctl_net *events, const struct perf_fopts *o)
{
	uint64_t end = deadline(o);
	struct nlmsghdr *nlh;
	int len, rc = 0;

	while (!rc && perf_monotonic() < end) {
		len = ctl_event_recv(events, LOOK_MS, &nlh);
		for (; !rc && len > 0 && nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len))
			rc = take_event(events, nlh, perf_fopts_mover(o));
	}
	if (!rc)
		ctl_err("node %u has not come in %u s", perf_fopts_mover(o), o->give_up);
	return rc > 0 ? 0 : -1;
}

static int attach(struct perf_pump_end *e, const struct perf_fopts *o)
{
	uint64_t end = deadline(o);
	int err;

	for (;;) {
		err = perf_pump_attach(e, &o->load, perf_fopts_mover(o), PERF_SUBGROUP);
		if (!err)
			return 0;
		if ((err != -ENOENT && err != -ENOTCONN && err != -ESTALE) ||
		    perf_monotonic() > end)
			break;
		usleep(AGAIN_US);
	}
	ctl_err("attaching to node %u: %s", perf_fopts_mover(o), strerror(-err));
	return err;
}

static int say(int fd, const struct perf_mover_news *news)
{
	return write(fd, news, sizeof(*news)) == sizeof(*news) ? 0 : -1;
}

static int come(const struct perf_fopts *o, struct perf_pump *p,
		struct perf_mover_news *news)
{
	struct ctl_net net, events;
	uint64_t end;

	if (ctl_net_open(&net, CTL_SAY) || ctl_net_open(&events, CTL_SAY) ||
	    ctl_event_join(&events, "failover", false) < 0)
		return -1;
	news->asked = perf_now();
	if (ask_to_join(&net, o) || wait_view(&events, o))
		return -1;
	news->viewed = perf_now();
	if (attach(&p->end[0], o))
		return -1;
	news->attached = perf_now();
	for (end = deadline(o); !p->end[0].last && !p->end[0].ended;) {
		perf_pump_turn(p);
		if (perf_monotonic() < end)
			continue;
		ctl_err("node %u is delivered nothing", perf_fopts_mover(o));
		return -1;
	}
	news->first = p->end[0].last;
	return p->end[0].last ? 0 : -1;
}

static void live(const struct perf_fopts *o, int fd)
{
	struct perf_mover_news news = { .pid = getpid() };
	struct perf_pump p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	perf_pump_init(&p, 1);
	if (come(o, &p, &news)) {
		news.kind = PERF_MOVER_FAILED;
		say(fd, &news);
		_exit(CTL_FAILED);
	}
	news.kind = PERF_MOVER_CAME;
	if (say(fd, &news))
		_exit(CTL_FAILED);
	while (!p.end[0].ended)
		perf_pump_turn(&p);
	perf_pump_end(&p);
	_exit(CTL_OK);
}

/* ---- the nursery --------------------------------------------------------- */

static void nurse(const struct perf_fopts *o, int order, int fd)
{
	struct perf_mover_news news = { .kind = PERF_MOVER_ENDED };
	pid_t pid;
	char c;

	/*
	 * Signals that ask for the end are left to the parent. When the parent ends, this process
	 * dies.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (read(order, &c, 1) == 1) {
		pid = fork();
		if (!pid)
			live(o, fd);
		if (pid < 0)
			ctl_err("a process for node %u: %s", perf_fopts_mover(o), strerror(errno));
		else
			waitpid(pid, NULL, 0);
		news.pid = pid;
		if (say(fd, &news))
			break;
	}
	_exit(CTL_OK);
}

/**
 * perf_mover_start() - make the nursery, before anything else is started
 * @m: out: mover
 * @o: nodes, and what they send
 *
 * Return: 0 or a negative errno, after a message. The caller calls perf_mover_stop() in both cases
 */
int perf_mover_start(struct perf_mover *m, const struct perf_fopts *o)
{
	int order[2], news[2];

	memset(m, 0, sizeof(*m));
	if (pipe(order) || pipe(news)) {
		ctl_err("pipe: %s", strerror(errno));
		return -errno;
	}
	m->order = order[1];
	m->news = news[0];
	m->nursery = fork();
	if (m->nursery < 0) {
		m->nursery = 0;
		ctl_err("fork: %s", strerror(errno));
		return -errno;
	}
	if (!m->nursery) {
		close(order[1]);
		close(news[0]);
		nurse(o, order[0], news[1]);
	}
	close(order[0]);
	close(news[1]);
	return 0;
}

/* Make the mover join. */
int perf_mover_go(struct perf_mover *m)
{
	if (write(m->order, "", 1) == 1)
		return 0;
	ctl_err("the nursery: %s", strerror(errno));
	return -EPIPE;
}

/* Return: 1 if there is news, 0 if not yet, or a negative errno */
static int next_news(struct perf_mover *m, struct perf_mover_news *news)
{
	struct pollfd pfd = { .fd = m->news, .events = POLLIN };

	if (poll(&pfd, 1, LOOK_MS) <= 0)
		return 0;
	if (read(m->news, news, sizeof(*news)) != sizeof(*news)) {
		ctl_err("the nursery has gone");
		return -EPIPE;
	}
	m->pid = news->kind == PERF_MOVER_CAME ? news->pid : 0;
	return 1;
}

/**
 * perf_mover_wait() - wait for news of the mover
 * @m: mover
 * @kind: news to wait for
 * @seconds: longest time to wait
 * @news: out: the news
 *
 * Return: 0, or a negative errno after a message
 */
int perf_mover_wait(struct perf_mover *m, enum perf_mover_kind kind, unsigned int seconds,
		    struct perf_mover_news *news)
{
	uint64_t end = perf_monotonic() + seconds * 1000000000ULL;
	int rc = 0;

	while (!perf_stopped()) {
		rc = next_news(m, news);
		if (rc < 0)
			return rc;
		if (rc)
			break;
		if (perf_monotonic() < end)
			continue;
		ctl_err("nothing is heard of the node that comes and goes for %u s", seconds);
		return -ETIMEDOUT;
	}
	if (rc <= 0)
		return -EINTR;
	if (news->kind == (int)kind)
		return 0;
	if (news->kind == PERF_MOVER_ENDED)
		ctl_err("the process of the node that comes and goes has ended too early");
	return -ECHILD;
}

/* Kill the process of the mover at any point of its work. */
void perf_mover_kill(struct perf_mover *m)
{
	if (m->pid)
		kill(m->pid, SIGKILL);
}

/* Undo perf_mover_start(). A zeroed mover is allowed. The mover's process dies with the nursery. */
void perf_mover_stop(struct perf_mover *m)
{
	if (m->nursery) {
		kill(m->nursery, SIGKILL);
		waitpid(m->nursery, NULL, 0);
		close(m->order);
		close(m->news);
	}
	memset(m, 0, sizeof(*m));
}
