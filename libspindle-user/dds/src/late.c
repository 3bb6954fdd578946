// SPDX-License-Identifier: MIT
/*
 * Readers that come late: the history of the node has old samples. The reader copies the last ones
 * of each key into a cache, and hands them out before all others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Entries of the hash of keys, for so many keys. */
static uint32_t heads_for(uint32_t keys)
{
	uint32_t heads = 1;

	while (heads < keys)
		heads *= 2;
	return heads;
}

/*
 * Begin to collect what the history has. A sample that is kept has a key, so there are no more keys
 * than samples. Return: 0, or -ENOMEM with words.
 */
int late_begin(struct spindle_dds_reader *r, uint32_t depth)
{
	uint32_t most = r->p->opts.late_samples;
	struct late *l = calloc(1, sizeof(*l));
	struct spindle_dds_cache *c;

	r->late = l;
	if (!l)
		return dds_fail(r->p, -ENOMEM, "no memory");
	l->end = r->q.next;
	c = &l->cache;
	c->depth = depth;
	c->max_samples = most;
	c->max_keys = most;
	c->heads = heads_for(most);
	c->sample = calloc(c->max_samples, sizeof(*c->sample));
	c->key = calloc(c->max_keys, sizeof(*c->key));
	c->head = calloc(c->heads, sizeof(*c->head));
	if (!c->sample || !c->key || !c->head)
		return dds_fail(r->p, -ENOMEM, "no memory for %u samples", most);
	spindle_dds_cache_init(c);
	return 0;
}

static void free_given(struct late *l)
{
	while (l->givens)
		free(l->given[--l->givens].data);
}

/* Give up what was collected, if there is anything. */
void late_end(struct spindle_dds_reader *r)
{
	struct spindle_dds_cached sample;
	struct late *l = r->late;
	uint32_t state;

	if (!l)
		return;
	while (l->cache.order.n && spindle_dds_cache_take(&l->cache, &sample, &state))
		free(sample.data);
	free_given(l);
	free(l->given);
	free(l->cache.sample);
	free(l->cache.key);
	free(l->cache.head);
	free(l);
	r->late = NULL;
}

/* Keep a copy of a sample. Return: 0, or a negative errno. */
int late_put(struct spindle_dds_reader *r, const struct spindle_msg *m,
	     const struct spindle_dds_head *head)
{
	const unsigned char *bytes = m->data;
	struct spindle_dds_cached sample = { .head = *head, .lsn = m->lsn, .node = m->node };
	void *out;

	sample.data = malloc(head->bytes ? head->bytes : 1);
	if (!sample.data)
		return -ENOMEM;
	memcpy(sample.data, bytes + spindle_dds_head_bytes(head->flags & SPINDLE_DDS_KEYED),
	       head->bytes);
	if (!spindle_intact(&r->q)) {
		free(sample.data);
		return -ESTALE;
	}
	switch (spindle_dds_cache_put(&r->late->cache, &sample, &out)) {
	case SPINDLE_DDS_KEPT:
		return 0;
	case SPINDLE_DDS_REPLACED:
		free(out);
		return 0;
	case SPINDLE_DDS_NO_NEWS:
		free(sample.data);
		return 0;
	default:
		free(sample.data);
		return -ENOBUFS;
	}
}

/* Room for the samples of one take. */
static int make_room(struct late *l, unsigned int most)
{
	struct spindle_dds_cached *given;

	if (l->room >= most)
		return 0;
	given = realloc(l->given, most * sizeof(*given));
	if (!given)
		return -ENOMEM;
	l->given = given;
	l->room = most;
	return 0;
}

/* Hand out samples, and free those of the call before. Return: how many, or a negative errno. */
int late_take(struct spindle_dds_reader *r, struct spindle_dds_sample *s, unsigned int most)
{
	struct late *l = r->late;
	struct spindle_dds_cached *c;
	uint32_t state;
	int err;

	free_given(l);
	if (most > l->cache.order.n)
		most = l->cache.order.n;
	err = make_room(l, most);
	if (err)
		return err;
	for (; l->givens < most; l->givens++) {
		c = &l->given[l->givens];
		spindle_dds_cache_take(&l->cache, c, &state);
		s[l->givens] = (struct spindle_dds_sample){
			.data = c->data, .len = c->head.bytes, .flags = c->head.flags,
			.lsn = c->lsn, .writer = c->head.writer, .sequence = c->head.sequence,
			.time = c->head.time, .node = c->node,
		};
		memcpy(s[l->givens].key, c->head.key, sizeof(c->head.key));
	}
	return (int)most;
}
