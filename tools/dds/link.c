// SPDX-License-Identifier: GPL-2.0-only
/* A participant and its reader. See link.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/net.h"
#include "common/util.h"
#include "common/wire.h"
#include "link.h"

/* Samples that are taken at once, and how often that is done between two looks at other records. */
#define BATCH		16U
#define WORK_EACH	64U
/* A signal that comes just before a wait is noticed when the wait is over. */
#define WAIT_MS		1000
#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL

/* ---- signals ------------------------------------------------------------------------- */

static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	caught = sig;
}

/* From here on a signal ends loops, and no system call but a wait. */
static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	unsigned int i;

	caught = 0;
	for (i = 0; i < CTL_ARRAY_SIZE(sigs); i++)
		sigaction(sigs[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* The signal that was caught, or 0. */
int dds_signal(void)
{
	return caught;
}

/* The next signal ends the program at once, because the end of a participant may take long. */
static void release_signals(void)
{
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(sigs); i++)
		signal(sigs[i], SIG_DFL);
}

/* After cleaning up, end by the signal that was caught, if there was one. */
void dds_signal_die(void)
{
	if (caught)
		raise(caught);
}

/* ---- participant --------------------------------------------------------------------- */

/* The only node of this network namespace. Return: its id; 0 after a message. */
static uint32_t only_node(void)
{
	struct ctl_running *running;
	const struct ctl_running *run;
	struct ctl_val all = { 0 };
	unsigned int count;
	struct ctl_net net;

	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch(&net, ctl_program, &all, &running, &count, false))
		return 0;
	run = ctl_running_find(running, count, 0);
	return run ? (uint32_t)run->node.val[CTL_NODE_ID].num : 0;
}

/**
 * dds_link_open() - become the participant of the node
 * @l: out: the participant, which dds_link_close() takes also after a failure
 * @o: options
 *
 * Return: CTL_OK, or CTL_FAILED after a message
 */
int dds_link_open(struct dds_link *l, const struct dds_opts *o)
{
	struct spindle_dds_opts opts = {
		.device = o->device, .rdmc_device = o->rdmc_device, .control = o->control,
		.name = ctl_program, .node = o->node ? o->node : only_node(),
		.flags = o->begin ? SPINDLE_DDS_BEGIN : 0, .timeout_ms = (uint32_t)o->timeout,
	};

	*l = (struct dds_link){ .o = o };
	if (!opts.node)
		return CTL_FAILED;
	if (!spindle_dds_open(&l->p, &opts)) {
		catch_signals();
		return CTL_OK;
	}
	if (!l->p)
		ctl_err("out of memory");
	return l->p ? dds_link_fail(l) : CTL_FAILED;
}

/* End the participant, if there is one. */
void dds_link_close(struct dds_link *l)
{
	release_signals();
	spindle_dds_close(l->p);
	l->p = NULL;
}

/* Print why the last call of the library has failed. Return: CTL_FAILED. */
int dds_link_fail(const struct dds_link *l)
{
	/* The words may contain names that other participants have chosen. */
	ctl_err("%s", ctl_clean(spindle_dds_error(l->p)));
	return CTL_FAILED;
}

/* ---- topic --------------------------------------------------------------------------- */

/**
 * dds_link_find() - look for the topic of the command line
 * @l: participant; gets topic
 * @wait: wait for the topic, for the time of the options, if it is not there
 *
 * Return: 0; -ENOENT without a message; -EINTR: a signal was caught; -EIO after a message
 */
int dds_link_find(struct dds_link *l, bool wait)
{
	uint64_t end = perf_monotonic() + l->o->wait * NSEC_PER_MSEC;
	struct pollfd fd = { .fd = spindle_dds_fd(l->p), .events = POLLIN };

	while (spindle_dds_find(l->p, l->o->topic, &l->topic)) {
		if (!wait || perf_monotonic() >= end)
			return -ENOENT;
		if (dds_signal())
			return -EINTR;
		poll(&fd, 1, WAIT_MS / 10);
		if (spindle_dds_work(l->p) < 0) {
			dds_link_fail(l);
			return -EIO;
		}
	}
	return 0;
}

/* ---- what a writer and a reader share -------------------------------------------------- */

/* Copy the partitions of the options. */
void dds_link_qos(const struct dds_link *l, struct spindle_dds_qos *qos)
{
	qos->partitions = l->o->partitions;
	memcpy(qos->partition, l->o->partition, sizeof(qos->partition));
}

/**
 * dds_link_note() - say which endpoint does not match, once for each
 * @l: participant
 * @st: status of its reader or writer
 * @what: what the other endpoint is
 */
void dds_link_note(struct dds_link *l, const struct spindle_dds_status *st, const char *what)
{
	if (l->o->quiet || !st->other || st->other == l->other)
		return;
	l->other = st->other;
	ctl_err("a %s does not match: %s", what, st->why);
}

/* Print on standard error what was done in all. */
void dds_link_sum(const struct dds_link *l, const char *did)
{
	if (l->o->quiet)
		return;
	fflush(stdout);
	fprintf(stderr, "%s %llu samples, %llu bytes in %.1f s\n", did,
		(unsigned long long)l->samples, (unsigned long long)l->bytes,
		(double)(perf_monotonic() - l->start) / NSEC_PER_SEC);
}

/* ---- reader -------------------------------------------------------------------------- */

/**
 * struct reading - a reader and its samples
 */
struct reading {
	/** @l: participant */
	struct dds_link *l;
	/** @how: what is done with samples */
	const struct dds_read *how;
	/** @r: the reader */
	struct spindle_dds_reader *r;
	/** @copy: room for the bytes of a sample */
	unsigned char *copy;
	/** @room: bytes of @copy */
	uint32_t room;
	/** @next: when the next second is over, nanoseconds */
	uint64_t next;
	/** @takes: how often samples were taken */
	unsigned int takes;
	/** @pool: memory of a call of @how */
	struct ctl_pool pool;
};

/* A reader that wants nothing old takes what any writer offers. */
static int open_reader(struct reading *g)
{
	struct dds_link *l = g->l;
	struct spindle_dds_qos qos = {
		.level = l->o->depth ? SPINDLE_DDS_TRANSIENT : SPINDLE_DDS_UNORDERED,
		.depth = l->o->depth, .max_bytes = UINT32_MAX,
	};

	if (l->o->depth && l->topic.topic.level < SPINDLE_DDS_TRANSIENT) {
		ctl_err("--depth: topic '%s' has level %s, which keeps no samples", l->o->topic,
			spindle_dds_level_string(l->topic.topic.level));
		return CTL_FAILED;
	}
	dds_link_qos(l, &qos);
	if (spindle_dds_reader_open(&g->r, l->p, &l->topic.topic, &qos))
		return dds_link_fail(l);
	l->start = perf_monotonic();
	g->next = l->start + NSEC_PER_SEC;
	return CTL_OK;
}

/* Copy the bytes of a sample, which another process could still change. */
static int copy(struct reading *g, struct spindle_dds_sample *s)
{
	unsigned char *more;

	if (s->len > g->room) {
		more = realloc(g->copy, s->len);
		if (!more) {
			ctl_err("out of memory");
			return CTL_FAILED;
		}
		g->copy = more;
		g->room = s->len;
	}
	if (s->len)
		memcpy(g->copy, s->data, s->len);
	s->data = g->copy;
	if (spindle_dds_intact(g->r))
		return CTL_OK;
	ctl_err("the history has overtaken the reader");
	return CTL_FAILED;
}

static bool is_enough(const struct dds_link *l)
{
	return dds_signal() || l->output || (l->o->count && l->samples >= l->o->count);
}

/* What was printed may have met a full disk, or a pipe whose reader has gone. */
static void check_output(struct dds_link *l)
{
	if (ferror(stdout) && !l->output)
		l->output = errno;
}

static int hand_on(struct reading *g, struct spindle_dds_sample *s)
{
	int rc = copy(g, s);

	if (rc)
		return rc;
	g->l->samples++;
	g->l->bytes += s->len;
	ctl_pool_use(&g->pool);
	g->how->sample(g->how->ctx, s, perf_monotonic());
	check_output(g->l);
	ctl_pool_use(NULL);
	ctl_pool_drop(&g->pool);
	return CTL_OK;
}

static void tick(struct reading *g, bool last)
{
	uint64_t now = perf_monotonic();

	if (!g->how->tick || (now < g->next && !last))
		return;
	g->next = now + NSEC_PER_SEC;
	ctl_pool_use(&g->pool);
	g->how->tick(g->how->ctx, now, last);
	check_output(g->l);
	ctl_pool_use(NULL);
	ctl_pool_drop(&g->pool);
}

/* Say which writer does not match. */
static void look(struct reading *g)
{
	struct spindle_dds_status st;

	spindle_dds_reader_status(g->r, &st);
	dds_link_note(g->l, &st, "writer");
}

/* Hand on all samples that are there. Return: CTL_OK, or CTL_FAILED after a message. */
static int drain(struct reading *g)
{
	struct spindle_dds_sample s[BATCH];
	int n, i, rc;

	while ((n = spindle_dds_take(g->r, s, BATCH)) > 0) {
		for (i = 0; i < n && !is_enough(g->l); i++) {
			rc = hand_on(g, &s[i]);
			if (rc)
				return rc;
		}
		if (is_enough(g->l))
			return CTL_OK;
		tick(g, false);
		/* Samples that come without a pause must not keep the control subgroup waiting. */
		if (++g->takes % WORK_EACH)
			continue;
		if (spindle_dds_work(g->l->p) < 0)
			return dds_link_fail(g->l);
		look(g);
	}
	return n < 0 ? dds_link_fail(g->l) : CTL_OK;
}

static int read_all(struct reading *g)
{
	uint64_t now;
	int rc, err;

	for (;;) {
		rc = drain(g);
		fflush(stdout);
		check_output(g->l);
		if (rc || is_enough(g->l))
			return rc;
		tick(g, false);
		look(g);
		now = perf_monotonic();
		err = spindle_dds_wait(g->r, g->how->tick && g->next > now ?
				       (int)((g->next - now) / NSEC_PER_MSEC) + 1 : WAIT_MS);
		if (err < 0 && err != -EINTR)
			return dds_link_fail(g->l);
	}
}

/**
 * dds_link_read() - read samples of the topic, until a signal or the count of the options ends that
 * @l: participant, with the topic
 * @how: what is done with samples
 *
 * Return: CTL_OK, or CTL_FAILED after a message
 */
int dds_link_read(struct dds_link *l, const struct dds_read *how)
{
	struct reading g = { .l = l, .how = how };
	struct spindle_dds_status st;
	int rc = open_reader(&g);

	if (rc)
		return rc;
	rc = read_all(&g);
	tick(&g, true);
	dds_link_sum(l, "read");
	spindle_dds_reader_status(g.r, &st);
	if (st.wrong && !l->o->quiet)
		fprintf(stderr, "%llu messages were no samples\n", (unsigned long long)st.wrong);
	spindle_dds_reader_close(g.r);
	free(g.copy);
	return rc;
}
