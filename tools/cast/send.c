// SPDX-License-Identifier: GPL-2.0-only
/* The sender of a batch. The protocol is in manifest.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/bar.h"
#include "common/clock.h"
#include "common/util.h"
#include "file.h"
#include "link.h"
#include "out.h"
#include "send.h"

/* Objects under way at a time. With this many, the next object follows without a pause. */
#define AHEAD		8U
/* How long to wait for reports after a signal, and for the end of groups after all reports. */
#define GRACE_MS	10000
#define END_MS		3000
#define TICK_MS		200

/**
 * struct receiver - another member
 */
struct receiver {
	/** @link: group of the receiver */
	struct cast_link link;
	/** @mem: message that is arriving */
	struct cast_memory mem;
	/** @reply: files that the receiver needs */
	struct cast_answer reply;
	/** @report: results of the files */
	struct cast_answer report;
	/** @replied: @reply is valid */
	bool replied;
	/** @reported: @report is valid */
	bool reported;
	/** @broken: a message of the receiver was invalid */
	bool broken;
};

/**
 * struct item - a file under way
 */
struct item {
	/** @mem: bytes of the file, from SEND to DONE */
	struct cast_memory mem;
	/** @object: number of the object */
	uint64_t object;
	/** @why: why the file could not be sent, or NULL */
	const char *why;
	/** @ns: duration of the transfer */
	uint64_t ns;
};

static struct {
	const struct cast_opts *o;
	struct cast_files f;
	struct cast_link all;
	struct receiver r[SPINDLE_MAX_MEMBERS];	/* by rank, from 1 */
	struct cast_link *link[SPINDLE_MAX_MEMBERS];
	unsigned int n;
	struct cast_answer decision;
	struct item *item;
	bool refused;		/* manifest or decision could not be sent */
	bool cancelled;
	struct ctl_work work;
	uint32_t next;		/* file that is sent next */
	unsigned int texts;	/* manifest and decision under way */
	unsigned int ahead;	/* files under way */
	uint64_t in_memory;	/* bytes of these files */
	uint64_t sent;		/* bytes of files that have ended */
} s;

/* ---- answers of receivers --------------------------------------------- */

static void *answer_incoming(void *arg, struct spindle_rdmc_group *g,
			     const struct spindle_rdmc_event *ev, uint32_t *reason)
{
	const struct cast_link *l = arg;
	struct receiver *r = &s.r[l->rank];
	int err = r->mem.addr ? -EBUSY : ev->len > CAST_TEXT_MAX ? -EFBIG :
		  cast_memory_new(&r->mem, ev->len);

	(void)g;
	if (!err)
		return r->mem.addr;
	*reason = (uint32_t)-err;
	return NULL;
}

static void answer_done(void *arg, struct spindle_rdmc_group *g,
			const struct spindle_rdmc_event *ev)
{
	const struct cast_link *l = arg;
	struct receiver *r = &s.r[l->rank];
	const char *err = NULL;

	(void)g;
	if (ev->error || !r->mem.addr)
		goto out;
	if (!r->replied) {
		err = cast_answer_parse(&r->reply, r->mem.addr, ev->len, CAST_REPLY, &s.f.m);
		r->replied = true;
	} else {
		err = cast_answer_parse(&r->report, r->mem.addr, ev->len, CAST_REPORT, &s.f.m);
		r->reported = !err;
	}
	if (err) {
		ctl_err("node %u has sent %s", l->member[0], err);
		r->broken = true;
	}
out:
	cast_memory_free(&r->mem);
}

/* Has each receiver sent this answer or a broken message, or is its group over? */
static bool all_answered(enum cast_kind kind)
{
	const struct receiver *r;

	for (r = s.r + 1; r < s.r + s.n; r++)
		if (!(kind == CAST_REPLY ? r->replied : r->reported) && !r->broken &&
		    !cast_link_over(&r->link))
			return false;
	return true;
}

/* ---- own messages ----------------------------------------------------- */

static const char *reason_text(const struct spindle_rdmc_event *ev)
{
	const char *what = spindle_rdmc_strerror(ev->error);

	if (!ev->node)
		return what;
	if (ev->reason)
		return ctl_asprintf("node %u: %s (%s)", ev->node, what,
				    strerror((int)ev->reason));
	return ctl_asprintf("node %u: %s", ev->node, what);
}

static void sent_done(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	const struct cast_link *l = arg;
	char rate[CTL_RATE_LEN];
	struct item *item;
	uint32_t i;

	(void)g;
	if (ev->tag == CAST_TAG_MANIFEST || ev->tag == CAST_TAG_DECISION) {
		s.texts--;
		if (ev->error && l->state == CAST_LINK_OPEN && !s.cancelled) {
			ctl_err("the list of files: %s", reason_text(ev));
			s.refused = true;
		}
		return;
	}
	i = (uint32_t)(ev->tag - 1);
	item = &s.item[i];
	s.ahead--;
	s.in_memory -= item->mem.len;
	s.sent += item->mem.len;
	cast_memory_free(&item->mem);
	item->ns = ev->first_ns ? ev->at_ns - ev->first_ns : 0;
	if (ev->error) {
		item->why = reason_text(ev);
		return;
	}
	cast_out_say("%s: %llu bytes in %.3f s, %s to each of %u",
		     ctl_clean(s.f.m.entry[i].name), (unsigned long long)ev->len,
		     (double)item->ns / 1e9, ctl_rate_text(rate, ev->len, item->ns), s.n - 1);
}

/*
 * Bytes that a receiver has of all files. The receiver may have files that the root does not know
 * to be complete.
 */
static uint64_t bytes_at(const struct spindle_rdmc_stat *st)
{
	uint32_t block = spindle_rdmc_block(s.all.g), i;
	uint64_t bytes = s.sent;

	for (i = 0; i < s.next; i++)
		if (s.item[i].mem.addr)
			bytes += cast_link_part(st, s.item[i].object, s.item[i].mem.len, block);
	return bytes;
}

/* Draw the progress of the slowest receiver. */
static void show_progress(void)
{
	struct spindle_rdmc_stat st, least = { .finished = UINT64_MAX };
	const char *name;
	char what[32];
	uint32_t i;

	for (i = 1; i < s.n; i++) {
		if (spindle_rdmc_stat(s.all.g, i, &st))
			return;
		if (st.finished < least.finished ||
		    (st.finished == least.finished && st.blocks < least.blocks))
			least = st;
	}
	snprintf(what, sizeof(what), ", last: node %u", least.node);
	name = ctl_clean(s.f.m.entry[s.next ? s.next - 1 : 0].name);
	ctl_work_bytes(&s.work, name, what, bytes_at(&least));
}

static void wait_some(int timeout_ms)
{
	if (s.ahead && ctl_work_due(&s.work))
		show_progress();
	cast_link_wait(s.link, s.n, timeout_ms);
}

/* Can the batch continue? */
static bool well(void)
{
	return s.all.state == CAST_LINK_OPEN && !cast_signal() && !s.refused;
}

static int send_text(const void *text, size_t len, uint64_t tag)
{
	int err = spindle_rdmc_send(s.all.g, text, len, tag, NULL);

	if (!err)
		s.texts++;
	else if (err != -ECONNABORTED)
		ctl_err("the list of files: %s", strerror(-err));
	return err;
}

/* ---- files to send ---------------------------------------------------- */

static struct cast_say reply_of(uint32_t rank, uint32_t file)
{
	struct receiver *r = &s.r[rank];

	if (r->replied && !r->broken && r->reply.say)
		return r->reply.say[file];
	return (struct cast_say){ CAST_NO, r->reply.why && r->reply.why[0] ? r->reply.why :
				  "it has not said what it has" };
}

static void decide(uint32_t file, struct cast_say *to)
{
	bool need = false, had = true;
	struct cast_say is;
	uint32_t i;

	*to = (struct cast_say){ CAST_YES, "" };
	for (i = 1; i < s.n; i++) {
		is = reply_of(i, file);
		need |= is.verdict == CAST_YES;
		had &= is.verdict == CAST_HAD;
		if (is.verdict == CAST_NO && !s.o->keep_going) {
			to->verdict = CAST_NO;
			to->why = ctl_asprintf("not sent, because of node %u: %s",
					       s.o->member[i], is.why);
			return;
		}
	}
	if (had)
		to->verdict = CAST_HAD;
	else if (!need)
		*to = (struct cast_say){ CAST_NO, "no member that needs it can take it" };
}

static uint64_t make_decision(void)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 1; i < s.n; i++) {
		if (s.r[i].replied && s.r[i].reply.say)
			cast_out_failures(&s.f.m, s.o->member[i], s.r[i].reply.say);
		else if (s.r[i].replied && !s.r[i].broken)
			ctl_err("node %u: %s", s.o->member[i], ctl_clean(s.r[i].reply.why));
	}
	s.decision = (struct cast_answer){
		.kind = CAST_DECISION, .batch = s.f.m.batch, .why = "", .count = s.f.m.count,
		.say = ctl_alloc(s.f.m.count * sizeof(struct cast_say)),
	};
	for (i = 0; i < s.f.m.count; i++) {
		decide(i, &s.decision.say[i]);
		if (s.decision.say[i].verdict == CAST_YES)
			total += s.f.m.entry[i].size;
		else if (s.decision.say[i].verdict == CAST_HAD && s.o->verbose)
			cast_out_say("%s: everybody has it", ctl_clean(s.f.m.entry[i].name));
	}
	return total;
}

/* ---- files ------------------------------------------------------------ */

/* Return: 0, or -errno; -EAGAIN: try again later. */
static int send_file(uint32_t i)
{
	struct item *item = &s.item[i];
	int err = cast_file_map(&s.f, i, &item->mem);

	if (!err)
		err = spindle_rdmc_send(s.all.g, item->mem.addr, item->mem.len, i + 1,
					&item->object);
	/*
	 * Some mappings of files cannot be pinned, or the file cannot be mapped at all. Send a copy
	 * then.
	 */
	if (err == -EFAULT || err == -ENOMEM || err == -ENODEV || err == -EINVAL) {
		cast_memory_free(&item->mem);
		if (err == -ENOMEM && s.ahead)
			return -EAGAIN;
		err = cast_file_copy(&s.f, i, &item->mem);
		if (!err)
			err = spindle_rdmc_send(s.all.g, item->mem.addr, item->mem.len, i + 1,
						&item->object);
	}
	if (err) {
		cast_memory_free(&item->mem);
		return err == -ENOMEM && s.ahead ? -EAGAIN : err;
	}
	s.ahead++;
	s.in_memory += item->mem.len;
	return 0;
}

static const char *file_error(int err)
{
	if (err == -ESTALE)
		return "has changed since its checksum was taken";
	if (err == -ENOMEM)
		return "no memory, or RLIMIT_MEMLOCK is too low (ulimit -l)";
	return strerror(-err);
}

/* Send as many files as there is room for. */
static void send_files(void)
{
	const struct cast_entry *e;
	int err;

	for (; s.next < s.f.m.count; s.next++) {
		e = &s.f.m.entry[s.next];
		if (s.decision.say[s.next].verdict != CAST_YES || !e->size)
			continue;
		if (s.ahead >= AHEAD || (s.ahead && s.in_memory + e->size > s.o->memory))
			return;
		err = send_file(s.next);
		if (err == -EAGAIN || err == -ECONNABORTED)
			return;
		if (!err)
			continue;
		s.item[s.next].why = file_error(err);
		ctl_err("%s: %s", ctl_clean(s.f.path[s.next]), file_error(err));
	}
}

static void cancel_files(void)
{
	uint32_t i;

	s.cancelled = true;
	s.next = s.f.m.count;
	for (i = 0; i < s.f.m.count; i++)
		if (s.item[i].mem.addr)
			(void)spindle_rdmc_cancel(s.all.g, s.item[i].object, ECANCELED);
}

/* ---- the end ---------------------------------------------------------- */

static bool all_over(void)
{
	unsigned int i;

	for (i = 0; i < s.n; i++)
		if (!cast_link_over(s.link[i]))
			return false;
	return true;
}

static bool is_lost(uint32_t rank)
{
	return s.r[rank].link.state == CAST_LINK_FAILED && !s.r[rank].reported;
}

static struct cast_say result_of(uint32_t rank, uint32_t file)
{
	const struct receiver *r = &s.r[rank];
	const char *why = "no report of it has come";
	struct cast_say is = { CAST_NO, "" };

	if (r->reported && r->report.say)
		return r->report.say[file];
	if (s.decision.say)
		is = reply_of(rank, file);
	if (is.verdict == CAST_HAD)
		return is;
	if (is_lost(rank))
		why = "the member was lost";
	else if (s.item[file].why)
		why = s.item[file].why;
	else if (r->report.why && r->report.why[0])
		why = r->report.why;
	return (struct cast_say){ CAST_NO, why };
}

/* Report all files at all members. Return: exit code */
static int sum_up(void)
{
	struct cast_say *say = ctl_alloc((s.f.m.count + 1) * sizeof(*say));
	uint32_t i, k, there, complete = 0;
	int rc = CTL_OK;
	bool lost = s.all.state == CAST_LINK_FAILED;

	if (lost)
		cast_link_complain(&s.all);
	for (i = 1; i < s.n; i++) {
		for (k = 0, there = 0; k < s.f.m.count; k++) {
			say[k] = result_of(i, k);
			there += say[k].verdict != CAST_NO;
			cast_out_file(&s.f.m.entry[k], s.o->member[i], &say[k], s.item[k].ns);
		}
		complete += there == s.f.m.count;
		if (there != s.f.m.count)
			rc = CTL_FAILED;
		lost |= is_lost(i);
		/* Failures before the transfer were reported before, so they are left out here. */
		for (k = 0; k < s.f.m.count; k++)
			if (s.decision.say && (s.decision.say[k].verdict == CAST_NO ||
					       reply_of(i, k).verdict == CAST_NO))
				say[k].verdict = CAST_HAD;
		cast_out_failures(&s.f.m, s.o->member[i], say);
		if (there != s.f.m.count)
			ctl_err("node %u has %u of %u files", s.o->member[i], there, s.f.m.count);
	}
	if (!rc)
		cast_out_say("%u files are at all %u receivers", s.f.m.count, s.n - 1);
	return !rc ? rc : lost ? CAST_LOST : rc;
}

static void init(const struct cast_opts *o)
{
	uint32_t i;

	s.o = o;
	s.n = o->members;
	s.item = ctl_alloc((s.f.m.count + 1) * sizeof(*s.item));
	cast_link_all(&s.all, o);
	s.all.calls.done = sent_done;
	s.link[0] = &s.all;
	for (i = 1; i < s.n; i++) {
		cast_link_back(&s.r[i].link, o, i);
		s.r[i].link.calls.incoming = answer_incoming;
		s.r[i].link.calls.done = answer_done;
		s.link[i] = &s.r[i].link;
	}
}

/* Send the batch, until the group of all is closed or has failed. */
static void send_batch(void)
{
	void *manifest, *decision;
	size_t len;

	manifest = cast_manifest_pack(&s.f.m, &len);
	if (send_text(manifest, len, CAST_TAG_MANIFEST))
		return;
	while (well() && (s.texts || !all_answered(CAST_REPLY)))
		wait_some(TICK_MS);
	if (well()) {
		ctl_work_begin(&s.work, make_decision());
		decision = cast_answer_pack(&s.decision, &len);
		if (send_text(decision, len, CAST_TAG_DECISION))
			return;
	}
	while (well() && (s.texts || s.ahead || s.next < s.f.m.count)) {
		send_files();
		wait_some(TICK_MS);
	}
	if (!cast_link_over(&s.all)) {
		if (s.ahead)
			cancel_files();
		(void)spindle_rdmc_close(s.all.g);
	}
}

/**
 * cast_send() - send a batch
 * @o: options
 *
 * Return: exit code, if there was no signal
 */
int cast_send(const struct cast_opts *o)
{
	int64_t start;
	unsigned int i;
	int rc;

	memset(&s, 0, sizeof(s));
	if (cast_files_find(&s.f, o))
		return CTL_FAILED;
	init(o);
	if (o->verbose)
		cast_out_say("waiting for %u receivers", s.n - 1);
	rc = cast_link_open(s.link, s.n, o);
	if (!rc && !cast_signal()) {
		send_batch();
		/*
		 * After a signal, the sender still gives the receivers some time to send their
		 * reports.
		 */
		start = perf_monotonic_ms();
		while (!all_answered(CAST_REPORT) && cast_signals() < 2 &&
		       (!cast_signal() || perf_monotonic_ms() - start < GRACE_MS))
			wait_some(TICK_MS);
		start = perf_monotonic_ms();
		while (!all_over() && cast_signals() < 2 && perf_monotonic_ms() - start < END_MS)
			wait_some(TICK_MS);
		rc = sum_up();
	} else if (cast_signal()) {
		ctl_err("nothing was sent");
	}
	for (i = 0; i < s.n; i++)
		cast_link_end(s.link[i]);
	return rc;
}
