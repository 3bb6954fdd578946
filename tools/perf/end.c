// SPDX-License-Identifier: GPL-2.0-only
/* A member of a subgroup: its attachment, and the check of what is delivered. See end.h. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/util.h"
#include "end.h"
#include "place.h"
#include "stop.h"

/* Messages that one read takes, and the number of reads in a step. */
#define BATCH	PERF_DUES
#define TURNS	4

/* Rounds of silence, where the number of rounds is not known in advance. */
#define SILENCE	(1 << 20)

/* Report an error with the end and its state, and stop everything. Return: -1 */
int perf_end_fail(const struct perf_end *e, const char *fmt, ...)
{
	int state = spindle_state(&e->q);
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (!perf_stopped() && state > SPINDLE_STATE_ACTIVE)
		ctl_err("node %u, subgroup %u: %s: %s", e->q.node, e->q.subgroup,
			spindle_state_string(state), spindle_strerror(spindle_error_code(&e->q)));
	else if (!perf_stopped())
		ctl_err("node %u, subgroup %u: %s", e->q.node, e->q.subgroup,
			n < 0 ? fmt : text);
	if (n >= 0)
		free(text);
	perf_stop(PERF_FAILED);
	return -1;
}

/* Choose the senders that send, and how they do. All hosts come to the same result. */
static void assign(struct perf_end *e)
{
	const struct perf_conf *conf = e->load->conf;
	uint32_t senders = perf_some(e->load->all ? PERF_ALL : conf->senders, e->q.senders);
	uint32_t delayed = conf->delay ? perf_some(conf->delay_senders, senders) : 0;
	bool nulls = !(conf->tune.selector & SPINDLE_SW_NULLS & ~conf->tune.switches) ||
		     conf->mode == SPINDLE_MODE_UNORDERED;
	uint32_t s;

	for (s = 0; s < e->q.senders; s++) {
		struct perf_from *f = &e->from[s];

		f->delayed = s < senders && s >= senders - delayed;
		f->active = s < senders && !(f->delayed && conf->delay >= PERF_SILENT);
		/* Without nulls, all senders have to send the same number of messages. */
		f->follows = f->active && f->delayed && nulls && delayed < senders &&
			     e->load->quota[1];
	}
}

/**
 * perf_end_attach() - attach to a subgroup
 * @e: zeroed
 * @load: what the end will do
 * @node: node
 * @group: subgroup
 * @sender: the node may send in it
 *
 * Return: 0, or -1 after a message
 */
int perf_end_attach(struct perf_end *e, const struct perf_load *load, uint32_t node,
		    const struct perf_group *group, bool sender)
{
	struct spindle_attach_opts o = {
		.node = node,
		.subgroup = group->id,
		.flags = SPINDLE_ATTACH_RECV | (sender ? SPINDLE_ATTACH_SEND : 0) |
			 (load->conf->copy_out ? SPINDLE_ATTACH_COPY : 0),
	};
	int err = spindle_attach(&e->q, &o);
	uint32_t need = load->size < PERF_HEAD ? PERF_HEAD : load->size;
	char why[256];

	if (err) {
		ctl_err("%s", spindle_attach_strerror(&e->q, &o, err, why, sizeof(why)));
		return -1;
	}
	if (need > e->q.max_msg) {
		ctl_err("size %u: messages of %u bytes are needed, subgroup %u has at most %u (max-msg)",
			load->size, need, group->id, e->q.max_msg);
		spindle_detach(&e->q);
		return -1;
	}
	e->load = load;
	e->from = ctl_alloc(e->q.senders * sizeof(*e->from));
	assign(e);
	e->me = sender ? &e->from[e->q.sender_rank] : NULL;
	e->hello_due = sender;
	e->slow = e->q.rank >= e->q.members - perf_some(load->conf->upcall_nodes, e->q.members);
	if (!e->me || !e->me->active || !(e->q.features & SPINDLE_FEAT_LOG))
		return 0;
	e->durable = perf_durable_begin(&e->q);
	return e->durable ? 0 : -1;
}

/* Undo perf_end_attach(). A zeroed end is allowed. */
void perf_end_detach(struct perf_end *e)
{
	/* The thread of @e->durable waits with the attachment. */
	perf_durable_end(e->durable);
	e->durable = NULL;
	if (e->from)
		spindle_detach(&e->q);
	ctl_free(e->from);
	e->from = NULL;
	ctl_free(e->mate);
	e->mate = NULL;
}

/**
 * perf_end_begin() - prepare a repetition
 * @e: member; the repetition before is done
 * @rep: number of the repetition
 */
void perf_end_begin(struct perf_end *e, uint64_t rep)
{
	const struct perf_load *load = e->load;
	unsigned int which = perf_load_which(load, rep);
	uint32_t s;

	e->rep = rep;
	e->running = false;
	e->ready_said = 0;
	e->sent = 0;
	e->over = false;
	e->end_said = false;
	e->quota = 0;
	if (e->me && e->me->active)
		e->quota = e->me->follows || !load->quota[which] ? PERF_OPEN :
								   load->quota[which];
	e->msgs = 0;
	e->hash = 0;
	e->left = 0;
	e->left_fast = 0;
	/* Other members may have begun the repetition already. */
	for (s = 0; s < e->q.senders; s++) {
		const struct perf_from *f = &e->from[s];

		if (perf_from_rep(f) == rep)
			e->msgs += perf_from_num(f);
		if (f->active && !perf_from_through(f, rep)) {
			e->left++;
			e->left_fast += !f->follows;
		}
	}
	e->bytes = e->msgs * load->size;
	if (e->durable)
		perf_durable_clear(e->durable);
}

/* Start the repetition, because all members are ready. */
void perf_end_start(struct perf_end *e, uint64_t now)
{
	const struct perf_load *load = e->load;
	unsigned int which = perf_load_which(load, e->rep);
	int err;

	e->start = now;
	e->last = now;
	e->stop = load->quota[which] ? 0 : now + load->ticks[which];
	e->due = now;
	if (load->gap > 0)
		e->due += load->gap * e->q.sender_rank / e->q.senders;
	e->running = true;
	if (e->durable)
		perf_durable_start(e->durable, e->stop);
	if (!e->me || !e->me->delayed || !load->silent)
		return;
	err = spindle_silence(&e->q, load->quota[which] ? load->quota[which] : SILENCE);
	if (err)
		perf_end_fail(e, "cannot be silent: %s", strerror(-err));
}

/*
 * Has the end sent its part of the repetition, has all data arrived, and is it durable where there
 * are logs?
 */
bool perf_end_done(const struct perf_end *e)
{
	if (e->left || e->held)
		return false;
	if (!e->me || !e->me->active)
		return true;
	if (e->quota == PERF_OPEN ? !e->end_said : e->sent != e->quota)
		return false;
	return !e->durable || !perf_durable_left(e->durable);
}

/* ---- reading ----------------------------------------------------------- */

static bool is_control(const struct perf_end *e, const struct spindle_msg *m,
		       struct perf_head *head)
{
	if (m->len < PERF_HEAD)
		return false;
	memcpy(head, m->data, sizeof(*head));
	return m->len == PERF_HEAD && (!e->load->heads || head->kind != PERF_DATA);
}

/*
 * Does a delivery at @now count? With a time limit, it counts before that time. Without one, it
 * counts until the senders that do not follow others have finished.
 */
static bool counts(const struct perf_end *e, uint64_t now)
{
	return e->stop && e->running ? now < e->stop : e->left_fast;
}

static int take_data(struct perf_end *e, const struct spindle_msg *m, struct perf_from *f,
		     const struct perf_head *head, bool counted)
{
	const struct perf_load *load = e->load;
	uint64_t num = perf_from_num(f);
	uint32_t skip = load->heads ? PERF_HEAD : 0;

	/* Skip what an earlier process left in the subgroup. */
	if (!perf_from_rep(f) || (load->heads && head->nonce != f->nonce))
		return 0;
	if (m->len != load->size)
		return perf_end_fail(e, "node %u: message %llu has %u bytes, not %u", m->node,
				     (unsigned long long)num, m->len, load->size);
	if (load->heads && (head->kind != PERF_DATA || head->number != num))
		return perf_end_fail(e, "node %u: message %llu came, not %llu", m->node,
				     (unsigned long long)head->number, (unsigned long long)num);
	if (num >= f->expect)
		return perf_end_fail(e, "node %u: more than %llu messages", m->node,
				     (unsigned long long)f->expect);
	if (load->conf->verify &&
	    !perf_filled((const unsigned char *)m->data + skip, m->len - skip,
			 perf_key(e->q.subgroup, m->node, num)))
		return perf_end_fail(e, "node %u: message %llu: wrong bytes", m->node,
				     (unsigned long long)num);
	perf_from_set(f, f->at + 1);
	if (e->durable)
		perf_durable_note(e->durable, m->lsn,
				  f == e->me && load->heads ? head->time : 0, counted);
	e->hash = perf_mix(e->hash ^ ((uint64_t)m->sender << 56 ^ num)) + 1;
	if (counted) {
		e->msgs++;
		e->bytes += m->len;
	}
	return 0;
}

static int take(struct perf_end *e, const struct spindle_msg *m, bool counted)
{
	struct perf_from *f = &e->from[m->sender];
	bool through = perf_from_through(f, e->rep);
	struct perf_head head = { 0 };
	int rc;

	if (f->known && m->slot != f->slot)
		return perf_end_fail(e, "node %u: the kernel delivered message %llu after %llu",
				     m->node, (unsigned long long)m->slot,
				     (unsigned long long)f->slot - 1);
	f->known = true;
	f->slot = m->slot + 1;
	if (is_control(e, m, &head))
		rc = perf_join_take(e, f, &head);
	else
		rc = take_data(e, m, f, &head, counted);
	if (f->active && !through && perf_from_through(f, e->rep)) {
		e->left--;
		e->left_fast -= !f->follows;
	}
	return rc;
}

/* How much of a sender's data the slowest other end of the subgroup in this process has. */
static uint64_t others_at(const struct perf_end *e, uint32_t sender)
{
	uint64_t at, least = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < e->mates; i++) {
		at = __atomic_load_n(&e->mate[i]->from[sender].at, __ATOMIC_RELAXED);
		if (at < least)
			least = at;
	}
	return least;
}

/* Record the latencies of a batch. The caller has taken all of its messages. */
static void take_times(struct perf_end *e, const struct spindle_msg *msg, int n, uint64_t now)
{
	uint64_t others[SPINDLE_MAX_MEMBERS], asked = 0, at;
	struct perf_head head;
	int i;

	/*
	 * If two ends get a message at the same time, the barrier lets at least one see the other.
	 */
	if (e->load->conf->threads)
		spindle_mb();
	for (i = 0; i < n; i++) {
		const struct spindle_msg *m = &msg[i];
		const struct perf_from *f = &e->from[m->sender];

		if (!f->local || m->len != e->load->size)
			continue;
		memcpy(&head, m->data, sizeof(head));
		if (head.kind != PERF_DATA || perf_from_rep(f) != e->rep)
			continue;
		if (f == e->me)
			perf_hist_add(e->own, perf_since(now, head.time));
		if (!(asked & 1ULL << m->sender)) {
			others[m->sender] = others_at(e, m->sender);
			asked |= 1ULL << m->sender;
		}
		at = e->rep << PERF_NUM_BITS | head.number;
		if (others[m->sender] > at)
			perf_hist_add(e->slowest, perf_since(now, head.time));
	}
}

/* Take delivered messages. Return: their number, or -1 */
static int read_some(struct perf_end *e, uint64_t now)
{
	bool hold = e->slow && e->load->upcall > e->load->spin_ticks;
	struct spindle_msg msg[BATCH];
	bool counted = counts(e, now);
	int i, n;

	n = spindle_next_batch(&e->q, msg, hold ? 1 : BATCH);
	if (n <= 0)
		return n ? perf_end_fail(e, "cannot read: %s", strerror(-n)) : 0;
	for (i = 0; i < n; i++) {
		if (take(e, &msg[i], counted))
			return -1;
		if (e->slow && e->load->upcall && !hold)
			perf_spin(e->load->upcall);
	}
	if (e->durable)
		perf_durable_give(e->durable);
	if (e->load->heads && e->running)
		take_times(e, msg, n, now);
	if (counted)
		e->last = now;
	if (hold && e->running)
		e->held = now + e->load->upcall;
	else
		spindle_release(&e->q);
	return n;
}

/**
 * perf_end_step() - do what is possible without waiting
 * @e: member
 *
 * Return: 1 if there was progress, 0 if not, or -1
 */
int perf_end_step(struct perf_end *e)
{
	uint64_t now = perf_now();
	int turn, n, rc, moved = 0;

	if (e->durable && perf_durable_error(e->durable))
		return perf_end_fail(e, "cannot wait for the logs: %s",
				     strerror(-perf_durable_error(e->durable)));
	if (e->held && now >= e->held) {
		e->held = 0;
		spindle_release(&e->q);
		moved = 1;
	}
	for (turn = 0; turn < TURNS && !e->held; turn++) {
		n = read_some(e, now);
		if (n < 0)
			return n;
		if (!n)
			break;
		moved = 1;
		if (n < BATCH)
			break;
		now = perf_now();
	}
	rc = e->running ? perf_send(e, now) : perf_join_say(e);
	return rc < 0 ? rc : moved | rc;
}

/* ---- waiting ----------------------------------------------------------- */

/* The events for poll(); 0: the end waits only for a time. */
short perf_end_events(const struct perf_end *e)
{
	return (e->held ? 0 : POLLIN) | (e->blocked ? POLLOUT : 0);
}

/* The next time, in ticks, at which this end can act without an event. UINT64_MAX: never. */
uint64_t perf_end_wake(const struct perf_end *e)
{
	uint64_t wake = UINT64_MAX;

	if (e->held)
		wake = e->held;
	if (!perf_send_wants(e))
		return wake;
	if (e->stop && e->stop < wake)
		wake = e->stop;
	if (!e->blocked && (!e->load->conf->closed || perf_from_num(e->me) == e->sent) &&
	    e->due < wake)
		wake = e->due;
	return wake;
}
