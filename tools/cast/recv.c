// SPDX-License-Identifier: GPL-2.0-only
/* A receiver of a batch. The protocol is in manifest.h. */
#include <errno.h>
#include <string.h>
#include <sys/queue.h>

#include "common/bar.h"
#include "common/clock.h"
#include "common/util.h"
#include "file.h"
#include "link.h"
#include "out.h"
#include "recv.h"

#define PENDING		64U	/* more than a root can announce */
#define END_MS		3000
#define TICK_MS		200

/**
 * struct item - a file and its progress
 */
struct item {
	/** @mem: bytes that are to be written */
	struct spindle_rdmc_memory mem;
	/** @drop: bytes that are only relayed to other receivers */
	struct cast_memory drop;
	/** @queued: entry in the queue of files to be written */
	STAILQ_ENTRY(item) queued;
	/** @busy: the file has memory */
	bool busy;
	/** @result: result of the file */
	struct cast_say result;
	/** @ns: duration of the transfer */
	uint64_t ns;
};

STAILQ_HEAD(item_queue, item);

/* An object that waits for memory. */
struct pending {
	uint64_t object;
	uint64_t tag;
	uint64_t len;
};

static struct {
	const struct cast_opts *o;
	const struct cast_store *store;
	uint32_t me;			/* own rank */
	struct cast_link all;
	struct cast_link back;
	struct cast_link *link[2];
	struct ctl_work work;
	struct cast_memory text;	/* manifest or decision under way */
	bool manifest_due;		/* @text is the manifest, and complete */
	struct cast_manifest m;
	struct cast_answer decision;
	struct cast_say *reply;
	bool known;			/* @m is valid */
	bool decided;			/* @decision is valid */
	struct item *item;
	struct cast_memory drop;	/* memory of an object without a file */
	uint64_t drop_object;
	struct pending pending[PENDING];
	unsigned int pendings;
	uint64_t in_memory;
	struct item_queue queue;	/* files to be written */
	struct cast_write write;
	void *answer;			/* answer under way */
	unsigned int said;		/* answers that the sender has */
	uint64_t received;
} r;

/* ---- own answers ------------------------------------------------------ */

static void answer_done(void *arg, struct spindle_rdmc_group *g,
			const struct spindle_rdmc_event *ev)
{
	(void)arg;
	(void)g;
	(void)ev;
	ctl_free(r.answer);
	r.answer = NULL;
	r.said++;
}

static void answer(uint32_t kind, struct cast_say *say, const char *why)
{
	struct cast_answer a = { .kind = kind, .batch = r.m.batch, .why = why, .say = say,
				 .count = say ? r.m.count : 0 };
	size_t len;
	int err;

	if (r.back.state != CAST_LINK_OPEN)
		return;
	r.answer = cast_answer_pack(&a, &len);
	err = spindle_rdmc_send(r.back.g, r.answer, len, kind, NULL);
	if (err && err != -ECONNABORTED)
		ctl_err("node %u cannot be told: %s", r.o->member[0], strerror(-err));
}

/* ---- texts of the sender ---------------------------------------------- */

static void take_manifest(void)
{
	const char *err = cast_manifest_parse(&r.m, r.text.addr, r.text.len);
	uint64_t need = 0;
	uint32_t i;

	cast_memory_free(&r.text);
	r.manifest_due = false;
	if (err) {
		ctl_err("node %u has sent %s", r.o->member[0], err);
		memset(&r.m, 0, sizeof(r.m));
		answer(CAST_REPLY, NULL, err);
		return;
	}
	r.known = true;
	r.reply = ctl_alloc((r.m.count + 1) * sizeof(*r.reply));
	r.item = ctl_alloc((r.m.count + 1) * sizeof(*r.item));
	cast_store_look(r.store, &r.m, r.reply);
	for (i = 0; i < r.m.count; i++) {
		r.item[i].result = r.reply[i];
		if (r.reply[i].verdict == CAST_HAD && r.o->verbose)
			cast_out_say("%s: is there already", ctl_clean(r.m.entry[i].name));
		if (r.reply[i].verdict != CAST_YES)
			continue;
		need += r.m.entry[i].size;
		/* This result is replaced when the file is complete. */
		r.item[i].result = (struct cast_say){ CAST_NO, "was not sent" };
	}
	cast_out_failures(&r.m, 0, r.reply);
	ctl_work_begin(&r.work, need);
	answer(CAST_REPLY, r.reply, "");
}

static void written(uint32_t i, const char *why)
{
	struct item *item = &r.item[i];
	const char *name = ctl_clean(r.m.entry[i].name);
	char rate[CTL_RATE_LEN];

	if (why) {
		item->result = (struct cast_say){ CAST_NO, why };
		ctl_err("%s: %s", name, why);
		return;
	}
	item->result = (struct cast_say){ CAST_YES, "" };
	cast_out_say("%s: %llu bytes in %.3f s, %s", name,
		     (unsigned long long)r.m.entry[i].size, (double)item->ns / 1e9,
		     ctl_rate_text(rate, r.m.entry[i].size, item->ns));
}

static bool is_wanted(uint32_t i)
{
	return r.reply[i].verdict == CAST_YES && r.decision.say[i].verdict == CAST_YES;
}

static void got_decision(uint64_t len)
{
	const char *err, *why;
	struct cast_write w;
	bool ready;
	uint32_t i;

	err = cast_answer_parse(&r.decision, r.text.addr, len, CAST_DECISION, &r.m);
	if (!err && !r.decision.say)
		err = r.decision.why;
	if (err) {
		ctl_err("node %u has sent %s", r.o->member[0], err);
		return;
	}
	r.decided = true;
	for (i = 0; i < r.m.count; i++) {
		if (is_wanted(i) && !r.m.entry[i].size) {
			/* A file without bytes has no object, so it is made here. */
			why = cast_write_begin(&w, r.store, &r.m.entry[i], NULL);
			written(i, why ? why : cast_write_some(&w, r.store, &ready));
		} else if (r.reply[i].verdict == CAST_YES &&
			   r.decision.say[i].verdict == CAST_NO) {
			r.item[i].result.why = r.decision.say[i].why;
			ctl_err("%s: %s", ctl_clean(r.m.entry[i].name),
				ctl_clean(r.decision.say[i].why));
		}
	}
}

/* ---- objects ---------------------------------------------------------- */

static void *object_incoming(void *arg, struct spindle_rdmc_group *g,
			     const struct spindle_rdmc_event *ev, uint32_t *reason)
{
	bool text = (ev->tag == CAST_TAG_MANIFEST && !r.m.entry) ||
		    (ev->tag == CAST_TAG_DECISION && !r.decided);
	int err;

	(void)arg;
	(void)g;
	if (!text) {
		/*
		 * The object has to wait, because the file that it belongs to may not be known yet.
		 */
		if (r.pendings < PENDING) {
			r.pending[r.pendings++] = (struct pending){ ev->object, ev->tag, ev->len };
			return SPINDLE_RDMC_LATER;
		}
		*reason = EPROTO;
		return NULL;
	}
	err = r.text.addr ? -EBUSY : ev->len > CAST_TEXT_MAX ? -EFBIG :
	      cast_memory_new(&r.text, ev->len);
	if (!err)
		return r.text.addr;
	*reason = (uint32_t)-err;
	return NULL;
}

/* The file of an object, or NULL if the object belongs to no file that is sent. */
static struct item *file_of(uint64_t tag, uint64_t len)
{
	if (!r.known || !r.decided || !tag || tag > r.m.count ||
	    r.m.entry[tag - 1].size != len || r.decision.say[tag - 1].verdict != CAST_YES)
		return NULL;
	return &r.item[tag - 1];
}

static int give_drop(const struct pending *p, struct cast_memory *m)
{
	int err = cast_memory_new(m, p->len);

	if (!err)
		err = spindle_rdmc_accept(r.all.g, p->object, m->addr, p->len);
	if (err)
		cast_memory_free(m);
	return err;
}

static int give_memory(const struct pending *p)
{
	struct item *item = file_of(p->tag, p->len);
	int err;

	if (!item) {
		/*
		 * Other receivers need this object, and get blocks from here. So it gets memory,
		 * one at a time.
		 */
		if (r.drop.addr)
			return -EAGAIN;
		r.drop_object = p->object;
		return give_drop(p, &r.drop);
	}
	if (item->busy)
		return -EPROTO;
	err = is_wanted((uint32_t)(p->tag - 1)) ?
	      spindle_rdmc_accept_memfd(r.all.g, p->object, p->len, 0, &item->mem) :
	      give_drop(p, &item->drop);
	item->busy = !err;
	if (!err)
		r.in_memory += p->len;
	return err;
}

/* Accept objects that wait, as far as there is room. */
static void take_pending(void)
{
	struct pending *p = r.pending;
	int err;

	while (r.pendings && !cast_link_over(&r.all)) {
		if (r.known && !r.decided)
			return;
		if (r.in_memory && r.in_memory + p->len > r.o->memory)
			return;
		err = give_memory(p);
		if (err == -EAGAIN || (err == -ENOMEM && r.in_memory))
			return;
		/* -ENOENT means that the object has ended, which an event reports. */
		if (err && err != -ENOENT)
			(void)spindle_rdmc_refuse(r.all.g, p->object, (uint32_t)-err);
		memmove(p, p + 1, --r.pendings * sizeof(*p));
	}
}

static void forget_pending(uint64_t object)
{
	unsigned int i;

	for (i = 0; i < r.pendings; i++)
		if (r.pending[i].object == object)
			memmove(&r.pending[i], &r.pending[i + 1],
				(--r.pendings - i) * sizeof(r.pending[0]));
}

static void free_item(struct item *item)
{
	if (item->mem.addr || item->drop.addr)
		r.in_memory -= item->mem.len + item->drop.len;
	spindle_rdmc_free_memory(&item->mem);
	cast_memory_free(&item->drop);
}

static void file_done(uint32_t i, const struct spindle_rdmc_event *ev)
{
	struct item *item = &r.item[i];

	item->ns = ev->first_ns ? ev->at_ns - ev->first_ns : 0;
	r.received += item->mem.len;
	if (!ev->error && item->mem.addr) {
		STAILQ_INSERT_TAIL(&r.queue, item, queued);
		return;
	}
	free_item(item);
	if (ev->error && is_wanted(i)) {
		item->busy = false;
		item->result.why = ev->node && ev->node != r.o->node ?
			ctl_asprintf("node %u: %s", ev->node, spindle_rdmc_strerror(ev->error)) :
			ev->reason ? strerror((int)ev->reason) : spindle_rdmc_strerror(ev->error);
	}
}

static void object_done(void *arg, struct spindle_rdmc_group *g,
			const struct spindle_rdmc_event *ev)
{
	struct item *item;

	(void)arg;
	(void)g;
	forget_pending(ev->object);
	if (r.drop.addr && r.drop_object == ev->object) {
		cast_memory_free(&r.drop);
		return;
	}
	if (ev->tag == CAST_TAG_MANIFEST || ev->tag == CAST_TAG_DECISION) {
		/* The manifest may arrive before the group for the answer is open. */
		r.manifest_due = !ev->error && r.text.addr && ev->tag == CAST_TAG_MANIFEST;
		if (r.manifest_due)
			return;
		if (!ev->error && r.text.addr && r.known)
			got_decision(ev->len);
		cast_memory_free(&r.text);
		return;
	}
	item = file_of(ev->tag, ev->len);
	if (item)
		file_done((uint32_t)(ev->tag - 1), ev);
}

/* ---- writing ---------------------------------------------------------- */

/* Write a piece of the first file of the queue. Return: whether there is more to write */
static bool write_some(void)
{
	struct item *item = STAILQ_FIRST(&r.queue);
	const char *why;
	bool ready = false;
	uint32_t i;

	if (!item)
		return false;
	i = (uint32_t)(item - r.item);
	why = r.write.e ? NULL :
	      cast_write_begin(&r.write, r.store, &r.m.entry[i], item->mem.addr);
	if (!why)
		why = cast_write_some(&r.write, r.store, &ready);
	if (!why && !ready)
		return true;
	written(i, why);
	free_item(item);
	STAILQ_REMOVE_HEAD(&r.queue, queued);
	return !STAILQ_EMPTY(&r.queue);
}

static void show_progress(void)
{
	struct spindle_rdmc_stat st;

	if (r.known && !spindle_rdmc_stat(r.all.g, r.me, &st) && st.total)
		ctl_work_bytes(&r.work, ctl_clean(r.o->argv[0]), "", r.received +
			       st.blocks * spindle_rdmc_block(r.all.g));
}

/* ---- a batch ---------------------------------------------------------- */

static int init(const struct cast_opts *o, const struct cast_store *store)
{
	memset(&r, 0, sizeof(r));
	STAILQ_INIT(&r.queue);
	r.o = o;
	r.store = store;
	for (r.me = 1; r.me < o->members && o->member[r.me] != o->node;)
		r.me++;
	if (r.me == o->members) {
		ctl_err("node %u is not among the members", o->node);
		return CTL_FAILED;
	}
	cast_link_all(&r.all, o);
	r.all.calls.incoming = object_incoming;
	r.all.calls.done = object_done;
	cast_link_back(&r.back, o, r.me);
	r.back.calls.done = answer_done;
	r.link[0] = &r.all;
	r.link[1] = &r.back;
	return CTL_OK;
}

/* Handle events until the group is over and all received files are written. */
static void receive(void)
{
	bool more = false;

	while (!cast_signal() && (!cast_link_over(&r.all) || more)) {
		if (!cast_link_over(&r.all) && ctl_work_due(&r.work))
			show_progress();
		cast_link_wait(r.link, 2, more || r.manifest_due ? 0 : TICK_MS);
		if (r.manifest_due)
			take_manifest();
		take_pending();
		more = write_some();
	}
}

/* Send the results of all files to the sender, and wait until the sender has them. */
static void report(void)
{
	struct cast_say *say = ctl_alloc((r.m.count + 1) * sizeof(*say));
	int64_t start;
	uint32_t i;

	for (i = 0; i < r.m.count; i++)
		say[i] = r.item[i].result;
	if (r.known) {
		while (r.said < 1 && !cast_link_over(&r.back) && !cast_signal())
			cast_link_wait(r.link, 2, TICK_MS);
		answer(CAST_REPORT, say, "");
	}
	if (!cast_link_over(&r.back))
		(void)spindle_rdmc_close(r.back.g);
	start = perf_monotonic_ms();
	while (!cast_link_over(&r.back) && !cast_signal() &&
	       (r.answer || perf_monotonic_ms() - start < END_MS))
		cast_link_wait(r.link, 2, TICK_MS);
}

static int sum_up(void)
{
	uint32_t i, there = 0;

	for (i = 0; i < r.m.count; i++) {
		there += r.item[i].result.verdict != CAST_NO;
		cast_out_file(&r.m.entry[i], r.o->node, &r.item[i].result, r.item[i].ns);
	}
	if (r.all.state == CAST_LINK_FAILED)
		cast_link_complain(&r.all);
	if (r.known && there == r.m.count) {
		cast_out_say("all %u files are there", there);
		return CTL_OK;
	}
	if (r.known)
		ctl_err("%u of %u files are there; send again what is missing", there, r.m.count);
	else
		ctl_err("no list of files has come");
	return r.all.state == CAST_LINK_FAILED ? CAST_LOST : CTL_FAILED;
}

static void clean_up(void)
{
	uint32_t i;

	/* End the groups first, because they write into the memory. */
	cast_link_end(&r.all);
	cast_link_end(&r.back);
	cast_write_abort(&r.write);
	for (i = 0; r.item && i < r.m.count; i++)
		free_item(&r.item[i]);
	cast_memory_free(&r.drop);
	cast_memory_free(&r.text);
}

/**
 * cast_recv() - receive a batch
 * @o: options
 * @store: directory for the files
 * @hopeless: out: the next batch would fail in the same way
 *
 * Return: exit code, if there was no signal
 */
int cast_recv(const struct cast_opts *o, const struct cast_store *store, bool *hopeless)
{
	int rc;

	*hopeless = true;
	rc = init(o, store);
	if (rc)
		return rc;
	if (o->verbose)
		cast_out_say("waiting for node %u", o->member[0]);
	rc = cast_link_open(r.link, 2, o);
	if (!rc && (!cast_signal() || r.all.state == CAST_LINK_OPEN)) {
		*hopeless = false;
		receive();
		cast_write_abort(&r.write);
		report();
		rc = sum_up();
	}
	clean_up();
	return rc;
}
