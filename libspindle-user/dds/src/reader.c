// SPDX-License-Identifier: MIT
/* Readers: the samples of a subgroup that are of the topic and of a writer that matches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int spindle_dds_reader_open(struct spindle_dds_reader **out, struct spindle_dds *p,
			    const struct spindle_dds_topic *topic,
			    const struct spindle_dds_qos *qos)
{
	struct spindle_dds_reader *r;
	int err;

	*out = NULL;
	if (!spindle_dds_good_topic(topic) || !spindle_dds_good_qos(qos))
		return dds_fail(p, -EINVAL, "topic or QoS have a field that is out of range");
	r = calloc(1, sizeof(*r));
	if (!r)
		return dds_fail(p, -ENOMEM, "no memory");
	r->p = p;
	/* The reader is attached before others know of it, so it misses no sample for it. */
	err = dds_attach(p, &r->q, topic, qos, SPINDLE_ATTACH_RECV);
	if (!err) {
		err = dds_add(p, topic, qos, false, &r->id);
		if (err)
			spindle_detach(&r->q);
	}
	if (err) {
		free(r);
		return err;
	}
	r->next = p->readers;
	p->readers = r;
	*out = r;
	return 0;
}

void spindle_dds_reader_close(struct spindle_dds_reader *r)
{
	struct spindle_dds_reader **at;

	if (!r)
		return;
	for (at = &r->p->readers; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	dds_remove(r->p, r->id);
	spindle_detach(&r->q);
	free(r);
}

int spindle_dds_reader_fd(const struct spindle_dds_reader *r)
{
	return spindle_fd(&r->q);
}

/* Give back what the call before has looked at. The rest of the batch stays. */
static int give_back(struct spindle_dds_reader *r)
{
	if (!r->at)
		return 0;
	spindle_release_n(&r->q, r->at);
	memmove(&r->msg[0], &r->msg[r->at], (r->n - r->at) * sizeof(r->msg[0]));
	r->n -= r->at;
	r->at = 0;
	return 0;
}

/*
 * Subgroups have no order among themselves, so a sample may be here before its writer. Return: is
 * it worth to wait for the writer?
 */
static bool is_early(struct spindle_dds_reader *r)
{
	if (!r->ahead_since)
		r->ahead_since = dds_now();
	return dds_now() - r->ahead_since < r->p->opts.timeout_ms;
}

static enum spindle_dds_verdict judge(struct spindle_dds_reader *r, const struct spindle_msg *m,
				      struct spindle_dds_head *head)
{
	const struct spindle_dds_endpoint *own = spindle_dds_find_endpoint(r->p->directory, r->id);
	enum spindle_dds_verdict verdict;

	if (!own || own->gone)
		return SPINDLE_DDS_OTHER;
	if (!spindle_dds_get_head(head, m->data, m->len))
		return SPINDLE_DDS_FALSE;
	verdict = spindle_dds_judge(r->p->directory, own, m->node, head);
	if (verdict != SPINDLE_DDS_AHEAD || spindle_dds_work(r->p) <= 0)
		return verdict;
	own = spindle_dds_find_endpoint(r->p->directory, r->id);
	return own && !own->gone ? spindle_dds_judge(r->p->directory, own, m->node, head) :
				   SPINDLE_DDS_OTHER;
}

static void hand_out(const struct spindle_msg *m, const struct spindle_dds_head *head,
		     struct spindle_dds_sample *s)
{
	*s = (struct spindle_dds_sample){
		.data = (const unsigned char *)m->data +
			spindle_dds_head_bytes(head->flags & SPINDLE_DDS_KEYED),
		.len = head->bytes, .flags = head->flags, .lsn = m->lsn, .writer = head->writer,
		.sequence = head->sequence, .time = head->time, .node = m->node,
	};
	memcpy(s->key, head->key, sizeof(s->key));
}

int spindle_dds_take(struct spindle_dds_reader *r, struct spindle_dds_sample *s,
		     unsigned int most)
{
	struct spindle_dds_head head;
	enum spindle_dds_verdict verdict;
	unsigned int taken = 0;
	int n = give_back(r);

	if (!r->n) {
		n = spindle_next_batch(&r->q, r->msg, BATCH);
		if (n < 0)
			return dds_fail(r->p, n, "the reader cannot go on");
		r->n = (unsigned int)n;
	}
	for (; r->at < r->n && taken < most; r->at++) {
		verdict = judge(r, &r->msg[r->at], &head);
		if (verdict == SPINDLE_DDS_AHEAD && is_early(r))
			break;
		r->ahead_since = 0;
		if (verdict == SPINDLE_DDS_TAKE)
			hand_out(&r->msg[r->at], &head, &s[taken++]);
		else if (verdict != SPINDLE_DDS_OTHER)
			r->foreign++;
	}
	return (int)taken;
}

uint32_t spindle_dds_reader_matched(const struct spindle_dds_reader *r)
{
	return spindle_dds_matched(r->p->directory, r->id);
}
