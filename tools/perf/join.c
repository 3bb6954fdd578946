// SPDX-License-Identifier: GPL-2.0-only
/*
 * How all members begin at the same time. See perf-end.h.
 *
 * Several processes, on several hosts, that are not started at the same time, may drive
 * the members of a subgroup, and earlier ones may have left messages in it. There is the
 * subgroup itself to agree through:
 *
 *	- Who sends says HELLO with a number that tells its process apart, at first and
 *	  whenever a process appears that may have missed it.
 *	- Who knows the numbers of all senders says READY with a digest of them, before each
 *	  repetition. Whoever says so is there, and has seen everybody.
 *	- A repetition begins at a member when all senders were ready with the digest that it
 *	  has itself. What was left by others has another one.
 *
 * In a total order all members see the last READY at the same place. Without one, data
 * may come before the READY of another sender, so that what has come is counted for each
 * sender from its own READY on.
 */
#include <string.h>

#include "ctl.h"
#include "perf-end.h"

/* What all members have to agree on; 0 while it is not known. */
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
 * perf_join_say() - say what is to be said
 * @e: member
 *
 * Return: 1 if something was said, 0 or -1
 */
int perf_join_say(struct perf_end *e)
{
	struct perf_head head = { .nonce = e->load->nonce };
	int rc = 0;

	if (!e->me)
		return 0;
	if (e->hello_due) {
		head.kind = PERF_HELLO;
		head.number = e->load->digest;
		rc = perf_send_control(e, &head);
		if (rc <= 0)
			return rc;
		e->hello_due = false;
	}
	if (e->joined && e->ready_said != e->joined) {
		head.kind = PERF_READY;
		head.number = e->joined;
		head.time = e->rep;
		rc = perf_send_control(e, &head);
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
		return perf_end_fail(e, "the process that drives node %u was started anew",
				     perf_from_node(e, f));
	/* It may not have been there when we said so; our own ends all were. */
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
 * perf_join_take() - a message that is no data
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
	/* Of somebody who was here before. */
	return 0;
}

/* May the repetition begin here? */
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

/* Say on standard error why it does not begin. */
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
