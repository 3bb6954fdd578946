// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-dds topic pub: a text again and again, or the lines of standard input, as samples.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "common/clock.h"
#include "common/fields.h"
#include "common/util.h"
#include "value.h"

#define NSEC_PER_SEC	1000000000ULL
/* A signal that comes just before a wait is noticed when the wait is over. */
#define WAIT_NS		NSEC_PER_SEC
/* How long one look at what was sent takes, milliseconds. */
#define FLUSH_MS	100
/* Samples between two looks at the control subgroup, if the writer never has to wait. */
#define WORK_EACH	64U
/* A byte in hexadecimal has two digits, and may have a blank in front. */
#define HEX_CHARS	3U

/**
 * struct writing - a writer and its samples
 */
struct writing {
	/** @l: participant */
	struct dds_link *l;
	/** @w: the writer */
	struct spindle_dds_writer *w;
	/** @size: bytes of its longest sample */
	uint32_t size;
	/** @lines: standard input, unless there is a text */
	struct dds_lines lines;
	/** @hex: room for a line that was in hexadecimal */
	unsigned char *hex;
	/** @failed: the library has failed, and the reason was said */
	bool failed;
	/** @due: when the next sample is written, nanoseconds */
	uint64_t due;
};

/* ---- topic and writer ---------------------------------------------------------------- */

/* What the options and a topic that is there do not agree on, or NULL. */
static const char *contradiction(const struct dds_opts *o, const struct spindle_dds_topic *t)
{
	if (o->level != DDS_LEVEL_NONE && o->level != t->level)
		return ctl_asprintf("has level %s", spindle_dds_level_string(t->level));
	if (o->type && strcmp(o->type, t->type))
		return *t->type ? ctl_asprintf("has type '%s'", t->type) : "has no type";
	if (o->subgroup && strcmp(o->subgroup, t->subgroup))
		return *t->subgroup ? ctl_asprintf("is in subgroup '%s'", t->subgroup) :
		       "is in a shared subgroup";
	if (o->keyed != !!t->keyed)
		return t->keyed ? "has keys, and --key is missing" : "has no keys";
	return NULL;
}

/* The topic as the options describe it. */
static void describe(const struct dds_opts *o, struct spindle_dds_topic *t)
{
	*t = (struct spindle_dds_topic){ .level = o->level, .keyed = o->keyed };
	strcpy(t->name, o->topic);
	if (o->type)
		strcpy(t->type, o->type);
	if (o->subgroup)
		strcpy(t->subgroup, o->subgroup);
}

static int choose_topic(struct dds_link *l)
{
	const struct dds_opts *o = l->o;
	int err = dds_link_find(l, false);
	const char *why;

	if (err && o->level == DDS_LEVEL_NONE) {
		ctl_err("there is no topic '%s'; --level makes it", o->topic);
		return CTL_FAILED;
	}
	if (err) {
		describe(o, &l->topic.topic);
		return CTL_OK;
	}
	why = contradiction(o, &l->topic.topic);
	if (!why)
		return CTL_OK;
	ctl_err("topic '%s' %s", o->topic, why);
	return CTL_FAILED;
}

static int open_writer(struct writing *g)
{
	struct dds_link *l = g->l;
	const struct dds_opts *o = l->o;
	struct spindle_dds_qos qos = { .max_bytes = g->size, .depth = o->depth };
	int rc = choose_topic(l);

	if (rc)
		return rc;
	qos.level = l->topic.topic.level;
	if (o->depth == UINT32_MAX)
		qos.depth = qos.level >= SPINDLE_DDS_TRANSIENT;
	if (qos.depth && qos.level < SPINDLE_DDS_TRANSIENT) {
		ctl_err("--depth: topic '%s' has level %s, which keeps no samples", o->topic,
			spindle_dds_level_string(qos.level));
		return CTL_FAILED;
	}
	dds_link_qos(l, &qos);
	if (spindle_dds_writer_open(&g->w, l->p, &l->topic.topic, &qos))
		return dds_link_fail(l);
	if (o->text)
		return CTL_OK;
	/* The subgroup has messages of this size, so the size is no mistake. */
	dds_lines_init(&g->lines, o->form == DDS_HEX ? (size_t)g->size * HEX_CHARS : g->size);
	g->hex = ctl_alloc(o->form == DDS_HEX ? g->size : 1);
	return CTL_OK;
}

/* ---- waiting ------------------------------------------------------------------------- */

/* What a wait ends for, beside time, a signal and records of others. */
enum wait_for {
	NOTHING,
	ROOM,		/* for a sample */
	INPUT		/* at standard input */
};

static int fail(struct writing *g)
{
	g->failed = true;
	return dds_link_fail(g->l);
}

/* Look at what others have announced. Return: CTL_OK, or CTL_FAILED after a message. */
static int work(struct writing *g)
{
	struct spindle_dds_status st;
	int n = spindle_dds_work(g->l->p);

	if (n < 0)
		return fail(g);
	spindle_dds_writer_status(g->w, &st);
	dds_link_note(g->l, &st, "reader");
	return CTL_OK;
}

/* Wait at most @ns. Return: CTL_OK, or CTL_FAILED after a message. */
static int rest(struct writing *g, enum wait_for what, uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns >= WAIT_NS, .tv_nsec = ns >= WAIT_NS ? 0 : (long)ns };
	struct pollfd fd[3] = {
		{ .fd = spindle_dds_fd(g->l->p), .events = POLLIN },
		{ .fd = what == ROOM ? spindle_dds_writer_fd(g->w) : -1, .events = POLLOUT },
		{ .fd = what == INPUT ? STDIN_FILENO : -1, .events = POLLIN },
	};
	int err;

	if (ppoll(fd, 3, &ts, NULL) < 0)
		return CTL_OK;
	if (fd[2].revents) {
		err = dds_lines_fill(&g->lines, STDIN_FILENO);
		if (err) {
			ctl_err("standard input: %s", strerror(-err));
			return CTL_FAILED;
		}
	}
	return work(g);
}

static int wait_for_readers(struct writing *g)
{
	struct spindle_dds_status st;
	int rc = CTL_OK;

	for (;;) {
		spindle_dds_writer_status(g->w, &st);
		if (rc || dds_signal() || st.matched >= g->l->o->readers)
			return rc;
		rc = rest(g, NOTHING, WAIT_NS);
	}
}

/* ---- samples ------------------------------------------------------------------------- */

static int write_one(struct writing *g, const void *data, uint32_t len)
{
	const struct dds_opts *o = g->l->o;
	struct spindle_dds_info info = { .key = o->keyed ? o->key : NULL };
	int err, rc = CTL_OK;

	while ((err = spindle_dds_write(g->w, data, len, &info)) == -EAGAIN && !rc && !dds_signal())
		rc = rest(g, ROOM, WAIT_NS);
	if (err == -EAGAIN)
		return rc;
	if (err)
		return fail(g);
	g->l->bytes += len;
	return ++g->l->samples % WORK_EACH ? CTL_OK : work(g);
}

/* A line that was found. */
static int write_line(struct writing *g, const char *line, uint32_t len)
{
	unsigned long long number = g->lines.line - 1;
	const char *err = NULL;
	char *text;

	if (g->l->o->form == DDS_TEXT)
		return write_one(g, line, len);
	text = ctl_asprintf("%.*s", (int)len, line);
	if (strlen(text) < len)
		err = "two digits from 0 to f for each byte";
	if (!err)
		err = ctl_value_unhex(text, g->hex, g->size, &len);
	ctl_free(text);
	if (!err)
		return write_one(g, g->hex, len);
	ctl_err("line %llu: %s", number, err);
	return CTL_FAILED;
}

/* Write the next line, or wait for one. @end: out: there is none any more. */
static int next_line(struct writing *g, bool *end)
{
	const char *line;
	uint32_t len;

	switch (dds_lines_next(&g->lines, &line, &len)) {
	case DDS_FOUND:
		return write_line(g, line, len);
	case DDS_MORE:
		return rest(g, INPUT, WAIT_NS);
	case DDS_LONG:
		ctl_err("line %llu is too long: a sample has %u bytes at most (--size)",
			(unsigned long long)g->lines.line, g->size);
		return CTL_FAILED;
	default:
		*end = true;
		return CTL_OK;
	}
}

/* The time of the next sample. A writer that is late by an interval skips what it missed. */
static void go_on(struct writing *g)
{
	uint64_t now = perf_monotonic();

	if (g->l->o->rate <= 0)
		return;
	g->due += (uint64_t)((double)NSEC_PER_SEC / g->l->o->rate);
	if (g->due < now)
		g->due = now;
}

static int write_all(struct writing *g)
{
	const struct dds_opts *o = g->l->o;
	uint64_t now, before;
	bool end = false;
	int rc = CTL_OK;

	while (!rc && !end && !dds_signal() && (!o->count || g->l->samples < o->count)) {
		now = perf_monotonic();
		if (now < g->due) {
			rc = rest(g, NOTHING, g->due - now);
			continue;
		}
		before = g->l->samples;
		rc = o->text ? write_one(g, o->text, o->bytes) : next_line(g, &end);
		if (g->l->samples > before)
			go_on(g);
	}
	return rc;
}

/* Wait until all members have the samples, unless something of the library has failed. */
static int finish(struct writing *g)
{
	int err, rc;

	if (g->failed)
		return CTL_FAILED;
	do {
		err = spindle_dds_flush(g->w, FLUSH_MS);
		if (err && err != -EAGAIN && err != -EINTR)
			return fail(g);
		rc = work(g);
	} while (err && !rc && !dds_signal());
	return rc;
}

/* spindle-dds topic pub. Return: exit code. */
int dds_cmd_pub(struct dds_link *l)
{
	const struct dds_opts *o = l->o;
	struct writing g = { .l = l, .size = o->size ? o->size : o->text ? o->bytes : DDS_SIZE };
	int rc = open_writer(&g), end;

	if (rc)
		return rc;
	rc = wait_for_readers(&g);
	l->start = perf_monotonic();
	g.due = l->start;
	if (!rc)
		rc = write_all(&g);
	end = finish(&g);
	dds_link_sum(l, "wrote");
	spindle_dds_writer_close(g.w);
	return rc ? rc : end;
}
