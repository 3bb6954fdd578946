// SPDX-License-Identifier: GPL-2.0-only
/*
 * How all members begin a repetition at the same time. See end.h.
 *
 * The members of a subgroup may be driven by several processes on several hosts. These do not start
 * at the same time. Earlier processes may have left messages in the subgroup. The processes agree
 * by messages of the subgroup itself:
 *
 *	- A sender says HELLO with a random number of its process. It does so first, and again
 *	  whenever a process appears that may have missed the first one.
 *	- A sender that knows the numbers of all senders says READY before each repetition. READY
 *	  has a digest of the numbers. So a sender that says READY has heard all other senders.
 *	- A repetition begins at a member when all senders were READY with the member's own digest.
 *	  The READY of an earlier process has another digest.
 *
 * In a total order, all members see the last READY at the same place. Without a total order, data
 * may arrive before the READY of another sender. So the data of each sender is counted from that
 * sender's own READY.
 */
#include "common/util.h"
#include "end.h"

/* The digest that all members have to agree on; 0 until all senders have said HELLO. */
static uint64_t digest(const struct perf_end *e)
{
	uint64_t d = e->load->digest;
	uint32_t s;

	for (s = 0; s < e->q.senders; s++) {
		if (!e->from[s].said)
			return 0;
		d = perf_mix(d ^ e->from[s].nonce) + s;
	}
	return d | 1;
}

/**
 * perf_join_say() - send the control message that is due
 * @e: member
 *
 * Return: 1 if a message was sent, 0 if not, or -1
 */
int perf_join_say(struct perf_end *e)
{
	int rc = 0;

	if (!e->me)
		return 0;
	if (e->hello_due) {
		rc = perf_send_control(e, PERF_HELLO, e->load->digest, 0);
		if (rc <= 0)
			return rc;
		e->hello_due = false;
	}
	if (e->joined && e->ready_said != e->joined) {
		rc = perf_send_control(e, PERF_READY, e->joined, e->rep);
		if (rc <= 0)
			return rc;
		e->ready_said = e->joined;
	}
	return rc;
}

static int take_hello(struct perf_end *e, struct perf_from *f, const struct perf_head *head)
{
	if (f->said && f->nonce == head->nonce)
		return 0;
	if (e->running)
		return perf_end_fail(e, "the process that drives node %u was started again",
				     perf_from_node(e, f));
	/* Another process may have missed our HELLO. Ends of this process cannot have missed it. */
	if (e->me && head->nonce != e->load->nonce)
		e->hello_due = true;
	f->said = true;
	f->nonce = head->nonce;
	f->hello = head->number;
	perf_from_set(f, 0);
	e->joined = digest(e);
	return 0;
}

static int take_ready(struct perf_end *e, struct perf_from *f, const struct perf_head *head)
{
	uint64_t rep = head->time;
	unsigned int which = perf_load_which(e->load, rep);

	if (!f->said || f->nonce != head->nonce || rep >= 1 << 20)
		return 0;
	f->ready = head->number;
	perf_from_set(f, rep << PERF_NUM_BITS);
	if (!f->active)
		f->expect = 0;
	else if (f->follows || !e->load->quota[which])
		f->expect = PERF_OPEN;
	else
		f->expect = e->load->quota[which];
	return 0;
}

/**
 * perf_join_take() - take a control message
 * @e: member
 * @f: its sender
 * @head: message
 *
 * Return: 0, or -1
 */
int perf_join_take(struct perf_end *e, struct perf_from *f, const struct perf_head *head)
{
	switch (head->kind) {
	case PERF_HELLO:
		return take_hello(e, f, head);
	case PERF_READY:
		return take_ready(e, f, head);
	case PERF_END:
		if (!f->said || f->nonce != head->nonce || !perf_from_rep(f))
			return 0;
		if (perf_from_num(f) != head->number)
			return perf_end_fail(e, "node %u has sent %llu messages, %llu came",
					     perf_from_node(e, f),
					     (unsigned long long)head->number,
					     (unsigned long long)perf_from_num(f));
		f->expect = head->number;
		return 0;
	}
	/* The message is from an earlier process. */
	return 0;
}

/* May the repetition begin at this member? */
bool perf_end_ready(const struct perf_end *e)
{
	uint32_t s;

	if (!e->joined)
		return false;
	for (s = 0; s < e->q.senders; s++)
		if (perf_from_rep(&e->from[s]) < e->rep || e->from[s].ready != e->joined)
			return false;
	return true;
}

/* Print on standard error why the repetition does not begin. */
void perf_join_explain(const struct perf_end *e)
{
	uint32_t s;

	for (s = 0; s < e->q.senders; s++) {
		const struct perf_from *f = &e->from[s];
		uint32_t node = perf_from_node(e, f);

		if (!f->said)
			ctl_err("subgroup %u: no hello from node %u; does spindle-perf run there?",
				e->q.subgroup, node);
		else if (f->hello != e->load->digest)
			ctl_err("subgroup %u: node %u was started with other arguments",
				e->q.subgroup, node);
		else if (perf_from_rep(f) < e->rep || f->ready != e->joined)
			ctl_err("subgroup %u: node %u is not ready", e->q.subgroup, node);
	}
}
