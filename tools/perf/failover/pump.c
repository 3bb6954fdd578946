// SPDX-License-Identifier: GPL-2.0-only
/* Ends that read, and send at a steady rate. See pump.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/util.h"
#include "pump.h"

/* Messages that an end reads or sends at a time, and how often in a turn. */
#define BATCH	64
#define TURNS	4

/* Gaps that a new log has room for. */
#define FIRST_ROOM	1024

/* The longest sleep, so that a request to stop is noticed soon. */
#define NAP_NS	50000000ULL

/**
 * perf_pump_attach() - attach an end
 * @e: out: end
 * @load: what the end sends
 * @node: node
 * @subgroup: subgroup
 *
 * The end may send if its load has a rate.
 *
 * Return: 0, or the error of spindle_attach(), without a message
 */
int perf_pump_attach(struct perf_pump_end *e, const struct perf_pump_load *load,
		     uint32_t node, uint32_t subgroup)
{
	struct spindle_attach_opts o = {
		.node = node,
		.subgroup = subgroup,
		.flags = SPINDLE_ATTACH_RECV | (load->rate ? SPINDLE_ATTACH_SEND : 0),
		.event_fd = -1,
		.want = SPINDLE_WANT_VIEWS,
	};
	int err;

	memset(e, 0, sizeof(*e));
	err = spindle_attach(&e->q, &o);
	if (err)
		return err;
	e->open = true;
	e->load = load;
	e->vid = e->q.vid;
	e->start = perf_now();
	return 0;
}

/**
 * perf_pump_open() - attach an end, with a message if that fails
 * @e: out: end
 * @load: what the end sends
 * @node: node
 * @subgroup: subgroup
 *
 * Return: 0, or a negative errno after a message
 */
int perf_pump_open(struct perf_pump_end *e, const struct perf_pump_load *load, uint32_t node,
		   uint32_t subgroup)
{
	struct spindle_attach_opts o = { .node = node, .subgroup = subgroup };
	int err = perf_pump_attach(e, load, node, subgroup);
	char why[256];

	if (err) {
		o.flags = SPINDLE_ATTACH_RECV | (load->rate ? SPINDLE_ATTACH_SEND : 0);
		ctl_err("%s", spindle_attach_strerror(&e->q, &o, err, why, sizeof(why)));
		return err;
	}
	if (load->rate && load->size > e->q.max_msg) {
		ctl_err("size %u: subgroup %u has messages of at most %u bytes", load->size,
			subgroup, e->q.max_msg);
		return -EMSGSIZE;
	}
	return 0;
}

/* Make a pump. Its ends may be attached later. */
void perf_pump_init(struct perf_pump *p, unsigned int ends)
{
	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
	p->end = ctl_alloc(ends * sizeof(*p->end));
	p->pfd = ctl_alloc(ends * sizeof(*p->pfd));
	p->ends = ends;
}

/* ---- gaps -------------------------------------------------------------- */

/* Note a gap. Only the thread that reads calls this function. */
void perf_gap_note(struct perf_gap_log *log, uint64_t end, uint64_t length)
{
	size_t room = log->room ? log->room * 2 : FIRST_ROOM;
	struct perf_gap_note *note;

	if (log->notes == log->room) {
		note = realloc(log->note, room * sizeof(*note));
		if (!note) {
			log->lost++;
			return;
		}
		log->note = note;
		log->room = room;
	}
	log->note[log->notes++] = (struct perf_gap_note){ .end = end, .length = length };
}

/**
 * perf_gap_sort() - find the gaps that belong to a change
 * @log: gaps
 * @from: ticks when the change began
 * @to: ticks when the change was over; before @from: there was no change
 * @quiet: gets all other gaps
 *
 * Return: the gaps that overlap the time of the change
 */
struct perf_gap perf_gap_sort(const struct perf_gap_log *log, uint64_t from, uint64_t to,
			      struct perf_hist *quiet)
{
	struct perf_gap around = { 0, 0 };
	size_t i;

	for (i = 0; i < log->notes; i++) {
		const struct perf_gap_note *n = &log->note[i];

		if (n->end < from || n->end - n->length > to || to < from) {
			perf_hist_add(quiet, n->length);
			continue;
		}
		around.count++;
		if (n->length > around.longest)
			around.longest = n->length;
	}
	return around;
}

void perf_gap_free(struct perf_gap_log *log)
{
	free(log->note);
	memset(log, 0, sizeof(*log));
}

/* ---- reading ----------------------------------------------------------- */

/* Count a batch. The messages of a batch came together, so they are one delivery. */
static void came(struct perf_pump_end *e, unsigned int messages)
{
	uint64_t now = perf_now();

	e->delivered += messages;
	if (e->last)
		perf_gap_note(&e->gaps, now, perf_since(now, e->last));
	e->last = now;
	if (!e->resumed)
		e->resumed = now;
}

static bool read_some(struct perf_pump_end *e)
{
	struct spindle_msg msg[BATCH];
	int n = spindle_next_batch(&e->q, msg, BATCH), i, messages = 0;

	if (n < 0) {
		e->ended = n;
		return false;
	}
	for (i = 0; i < n; i++) {
		if (msg[i].kind == SPINDLE_DLV_VIEW) {
			e->vid = msg[i].slot;
			e->resumed = 0;
		} else {
			messages++;
		}
	}
	spindle_release(&e->q);
	if (messages)
		came(e, messages);
	return n;
}

/* ---- sending ----------------------------------------------------------- */

/*
 * The time when the next message is due. All ends send at the same time, because this needs the
 * fewest wake-ups.
 */
static uint64_t due(const struct perf_pump_end *e)
{
	if (!e->load->rate || !(e->q.flags & SPINDLE_ATTACH_SEND))
		return UINT64_MAX;
	return e->start + perf_ticks(e->sent * 1e9 / e->load->rate);
}

/* Send what is due. Messages that found no room are sent when there is room. */
static bool send_some(struct perf_pump_end *e)
{
	uint64_t now = perf_now();
	struct spindle_slot slot;
	unsigned int n = 0;

	e->blocked = false;
	while (n < BATCH && due(e) <= now) {
		int err = spindle_reserve(&e->q, e->load->size, &slot);

		/* If the subgroup has ended, the next read reports that. */
		e->blocked = err;
		if (err)
			break;
		memset(slot.data, 0, e->load->size);
		spindle_commit_quiet(&e->q, &slot, e->load->size);
		e->sent++;
		n++;
	}
	if (n)
		spindle_flush(&e->q);
	return n;
}

/* ---- turns ------------------------------------------------------------- */

static void step(struct perf_pump_end *e)
{
	unsigned int i;

	for (i = 0; i < TURNS && e->open && !e->ended; i++)
		if (!(read_some(e) | send_some(e)))
			break;
}

/* Fill in what the end waits for. Return: ticks when the end continues without an event */
static uint64_t wait_for(const struct perf_pump_end *e, struct pollfd *pfd)
{
	pfd->fd = -1;
	if (!e->open || e->ended)
		return UINT64_MAX;
	pfd->fd = spindle_fd(&e->q);
	pfd->events = POLLIN | (e->blocked ? POLLOUT : 0);
	return e->blocked ? UINT64_MAX : due(e);
}

/* Read and send what is possible, and sleep until there is more to do. */
void perf_pump_turn(struct perf_pump *p)
{
	struct timespec ts = { .tv_nsec = NAP_NS };
	uint64_t wake = UINT64_MAX, at, now;
	unsigned int i;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->ends; i++) {
		step(&p->end[i]);
		at = wait_for(&p->end[i], &p->pfd[i]);
		if (at < wake)
			wake = at;
	}
	pthread_mutex_unlock(&p->lock);
	now = perf_now();
	if (wake < now + perf_ticks(NAP_NS))
		ts.tv_nsec = perf_ns(perf_since(wake, now));
	ppoll(p->pfd, p->ends, &ts, NULL);
}

static void *run(void *arg)
{
	struct perf_pump *p = arg;

	while (!__atomic_load_n(&p->stop, __ATOMIC_RELAXED))
		perf_pump_turn(p);
	return NULL;
}

/* Start a thread that makes the turns. Return: 0, or a negative errno after a message */
int perf_pump_start(struct perf_pump *p)
{
	int err = pthread_create(&p->thread, NULL, run, p);

	if (err)
		ctl_err("a thread: %s", strerror(err));
	p->runs = !err;
	return -err;
}

/* ---- results ----------------------------------------------------------- */

/**
 * perf_pump_sort() - take the gaps of an end, and find those that belong to a change
 * @p: pump
 * @i: index of the end
 * @from: ticks when the change began
 * @to: ticks when the change was over
 * @quiet: gets all other gaps
 *
 * Return: the gaps that belong to the change
 */
struct perf_gap perf_pump_sort(struct perf_pump *p, unsigned int i, uint64_t from, uint64_t to,
			       struct perf_hist *quiet)
{
	struct perf_gap_log log;
	struct perf_gap around;

	pthread_mutex_lock(&p->lock);
	log = p->end[i].gaps;
	memset(&p->end[i].gaps, 0, sizeof(log));
	pthread_mutex_unlock(&p->lock);
	around = perf_gap_sort(&log, from, to, quiet);
	perf_gap_free(&log);
	return around;
}

/* Forget all gaps that were noted so far. */
void perf_pump_forget(struct perf_pump *p)
{
	unsigned int i;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->ends; i++)
		p->end[i].gaps.notes = 0;
	pthread_mutex_unlock(&p->lock);
}

/* Has each end had a delivery after @time? */
bool perf_pump_after(struct perf_pump *p, uint64_t time)
{
	bool after = true;
	unsigned int i;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->ends; i++)
		after &= p->end[i].last > time;
	pthread_mutex_unlock(&p->lock);
	return after;
}

/* An end that has stopped or has lost gaps, or NULL. */
const struct perf_pump_end *perf_pump_dead(struct perf_pump *p)
{
	const struct perf_pump_end *dead = NULL;
	unsigned int i;

	pthread_mutex_lock(&p->lock);
	for (i = 0; i < p->ends && !dead; i++)
		if (p->end[i].ended || p->end[i].gaps.lost)
			dead = &p->end[i];
	pthread_mutex_unlock(&p->lock);
	return dead;
}

/* Undo perf_pump_start(). A zeroed pump is allowed. */
void perf_pump_stop(struct perf_pump *p)
{
	__atomic_store_n(&p->stop, true, __ATOMIC_RELAXED);
	if (p->runs)
		pthread_join(p->thread, NULL);
	p->runs = false;
}

/* Undo all functions of a pump. A zeroed pump is allowed. */
void perf_pump_end(struct perf_pump *p)
{
	unsigned int i;

	perf_pump_stop(p);
	for (i = 0; i < p->ends; i++) {
		if (p->end[i].open)
			spindle_detach(&p->end[i].q);
		p->end[i].open = false;
		perf_gap_free(&p->end[i].gaps);
	}
	ctl_free(p->end);
	ctl_free(p->pfd);
	p->end = NULL;
	p->pfd = NULL;
	p->ends = 0;
}
