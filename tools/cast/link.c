// SPDX-License-Identifier: GPL-2.0-only
/* Several groups in one loop. See link.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/util.h"
#include "link.h"

/* How long to wait for an earlier group with the same id to disappear. */
#define EXIST_MS	5000
#define PAUSE_MS	50

static volatile sig_atomic_t caught, times;
static sigset_t unblocked;

static void on_signal(int sig)
{
	caught = sig;
	times++;
}

int cast_signal(void)
{
	return caught;
}

int cast_signals(void)
{
	return times;
}

/* Block signals except in cast_link_wait(), because the program can end there. */
void cast_signal_catch(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t block;
	unsigned int i;

	sigemptyset(&block);
	for (i = 0; i < CTL_ARRAY_SIZE(sigs); i++)
		sigaddset(&block, sigs[i]);
	sigprocmask(SIG_BLOCK, &block, &unblocked);
	for (i = 0; i < CTL_ARRAY_SIZE(sigs); i++) {
		sigdelset(&unblocked, sigs[i]);
		sigaction(sigs[i], &sa, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	/* Without the signal, a file that gets too long is an error of write(). */
	signal(SIGXFSZ, SIG_IGN);
}

/* After cleaning up, end by the signal that was caught, if there was one. */
void cast_signal_die(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
	raise(caught);
}

/* ---- events of a group ------------------------------------------------- */

static void on_opened(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct cast_link *l = arg;

	(void)g;
	(void)ev;
	l->state = CAST_LINK_OPEN;
}

/* Refuse an object in a group where this program expects none. */
static void *on_incoming(void *arg, struct spindle_rdmc_group *g,
			 const struct spindle_rdmc_event *ev, uint32_t *reason)
{
	(void)arg;
	(void)g;
	(void)ev;
	*reason = EPROTO;
	return NULL;
}

static void on_closed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct cast_link *l = arg;

	(void)g;
	(void)ev;
	l->state = CAST_LINK_CLOSED;
}

static void on_failed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct cast_link *l = arg;

	(void)g;
	/* A failure before the group was open leads to another try, see cast_link_open(). */
	l->state = l->state == CAST_LINK_OPENING ? CAST_LINK_NONE : CAST_LINK_FAILED;
	l->error = ev->error;
	l->node = ev->node;
}

static const struct spindle_rdmc_calls calls = {
	.opened = on_opened, .incoming = on_incoming, .closed = on_closed, .failed = on_failed,
};

/* ---- groups ----------------------------------------------------------- */

/* Set up the group of all members, from the sender to all receivers. */
void cast_link_all(struct cast_link *l, const struct cast_opts *o)
{
	l->calls = calls;
	l->id = o->group << 16;
	l->members = o->members;
	memcpy(l->member, o->member, o->members * sizeof(l->member[0]));
}

/* Set up the group of one receiver, from it to the sender. */
void cast_link_back(struct cast_link *l, const struct cast_opts *o, uint32_t rank)
{
	l->calls = calls;
	l->id = o->group << 16 | rank;
	l->rank = rank;
	l->members = 2;
	l->member[0] = o->member[rank];
	l->member[1] = o->member[0];
}

/* Has the group been closed, or has it failed? */
bool cast_link_over(const struct cast_link *l)
{
	return l->state != CAST_LINK_OPENING && l->state != CAST_LINK_OPEN;
}

void cast_link_end(struct cast_link *l)
{
	spindle_rdmc_destroy(l->g);
	l->g = NULL;
}

/**
 * cast_link_wait() - handle the events of groups
 * @l: groups, of which each may be NULL
 * @n: entries of @l
 * @timeout_ms: how long to wait for an event; -1: without end
 *
 * Return: whether there was an event
 */
bool cast_link_wait(struct cast_link **l, unsigned int n, int timeout_ms)
{
	struct pollfd p[2 * SPINDLE_MAX_MEMBERS];
	struct timespec ts = { 0, 0 };
	bool any = false;
	unsigned int i;
	int ret;

	for (i = 0; i < n; i++) {
		p[i] = (struct pollfd){ .fd = -1 };
		if (!l[i] || !l[i]->g || cast_link_over(l[i]))
			continue;
		ret = spindle_rdmc_dispatch(l[i]->g, &l[i]->calls, l[i]);
		if (ret < 0) {
			ctl_err("node %u: %s", l[i]->member[0], strerror(-ret));
			l[i]->state = CAST_LINK_FAILED;
			l[i]->error = SPINDLE_RDMC_PROTOCOL;
		}
		any |= ret;
		p[i] = (struct pollfd){ .fd = spindle_rdmc_fd(l[i]->g), .events = POLLIN };
	}
	if (!any && timeout_ms > 0) {
		ts.tv_sec = timeout_ms / 1000;
		ts.tv_nsec = timeout_ms % 1000 * 1000000L;
	}
	/* Call ppoll() even if there was an event, because signals are seen only here. */
	ppoll(p, n, any || timeout_ms >= 0 ? &ts : NULL, &unblocked);
	return any;
}

/* Create a group. Return: 0, or -errno; -EEXIST is worth another try. */
static int create(struct cast_link *l, const struct cast_opts *o)
{
	struct spindle_rdmc_options opts = {
		.device = o->device, .algorithm = o->algorithm, .block = o->block,
		.timeout_ms = o->timeout * 1000, .flags = SPINDLE_RDMC_AUTO_CLOSE,
	};
	int err;

	cast_link_end(l);
	l->error = 0;
	err = spindle_rdmc_create(&l->g, o->node, l->id, l->member, l->members, &opts);
	if (!err)
		l->state = CAST_LINK_OPENING;
	return err;
}

static void complain_create(const struct cast_link *l, const struct cast_opts *o, int err)
{
	struct spindle_rdmc_options opts = { .device = o->device };
	char text[256];

	spindle_rdmc_create_strerror(err, o->node, l->id, &opts, text, sizeof(text));
	ctl_err("%s%s", text, err == -EEXIST ?
		"; another spindle-cast or spindle-recv has it: use another --group" : "");
}

/* Could another try to open the group succeed? */
static bool temporary(const struct cast_link *l)
{
	return l->error == SPINDLE_RDMC_TIMEOUT || l->error == SPINDLE_RDMC_LEFT ||
	       l->error == SPINDLE_RDMC_LOST;
}

/**
 * cast_link_open() - wait until all members of all groups have created them
 * @l: groups
 * @n: entries of @l
 * @o: options
 *
 * Until then, members may come and go.
 *
 * Return: CTL_OK, also if a signal has come; or CTL_FAILED after a message
 */
int cast_link_open(struct cast_link **l, unsigned int n, const struct cast_opts *o)
{
	int64_t now, start = perf_monotonic_ms(), free = start;
	unsigned int i, open;
	int err;

	while (!cast_signal()) {
		now = perf_monotonic_ms();
		for (i = 0, open = 0; i < n; i++) {
			open += l[i]->state == CAST_LINK_OPEN;
			if (l[i]->state == CAST_LINK_FAILED ||
			    (l[i]->state == CAST_LINK_NONE && l[i]->error && !temporary(l[i]))) {
				cast_link_complain(l[i]);
				return CTL_FAILED;
			}
			if (l[i]->state != CAST_LINK_NONE)
				continue;
			err = create(l[i], o);
			free = err ? free : now;
			if (err && (err != -EEXIST || now - free > EXIST_MS)) {
				complain_create(l[i], o, err);
				return CTL_FAILED;
			}
		}
		if (open == n)
			return CTL_OK;
		if (o->wait && now - start > o->wait * 1000LL) {
			ctl_err("not all members have come within %u seconds", o->wait);
			return CTL_FAILED;
		}
		cast_link_wait(l, n, PAUSE_MS);
	}
	return CTL_OK;
}

/* Print why a group has failed. */
void cast_link_complain(const struct cast_link *l)
{
	if (l->node)
		ctl_err("node %u: %s", l->node, spindle_rdmc_strerror(l->error));
	else
		ctl_err("%s", spindle_rdmc_strerror(l->error));
}

/**
 * cast_link_part() - compute how much of an object a member has
 * @st: progress of the member
 * @object: number of the object
 * @len: bytes of the object
 * @block: bytes of a block
 *
 * The last block is usually shorter, so the number of blocks alone would give too many bytes.
 *
 * Return: bytes, never fewer than for an earlier @st
 */
uint64_t cast_link_part(const struct spindle_rdmc_stat *st, uint64_t object, uint64_t len,
			uint32_t block)
{
	if (object < st->finished)
		return len;
	if (object > st->finished)
		return 0;
	return st->blocks <= len / block ? st->blocks * block : len;
}
