// SPDX-License-Identifier: MIT
/*
 * Samples that a reader has not taken: the last ones of each key, or all, within limits. The same
 * samples in the same order give the same cache, at each reader that takes at the same places.
 */
#include "inner.h"

static uint32_t *head_of(struct spindle_dds_cache *c, const uint8_t *hash)
{
	uint64_t word;

	memcpy(&word, hash, sizeof(word));
	/* Key hashes may be small numbers, so all bits have to count. */
	word *= 0x9e3779b97f4a7c15ULL;
	return &c->head[(word >> 32) & (c->heads - 1)];
}

/**
 * spindle_dds_cache_init() - an empty cache
 * @c: the cache; the fields up to @head are set
 */
void spindle_dds_cache_init(struct spindle_dds_cache *c)
{
	uint32_t i;

	memset(c->head, 0xff, c->heads * sizeof(*c->head));
	memset(c->key, 0, c->max_keys * sizeof(*c->key));
	list_init(&c->order);
	list_init(&c->spare);
	list_init(&c->idle);
	for (i = 0; i < c->max_samples; i++)
		list_add(&c->spare, c->sample, i, order);
	for (i = 0; i < c->max_keys; i++) {
		list_init(&c->key[i].samples);
		list_add(&c->idle, c->key, i, idle);
	}
	c->replaced = 0;
}

static uint32_t find_key(struct spindle_dds_cache *c, const uint8_t *hash)
{
	uint32_t i = *head_of(c, hash);

	while (i != SPINDLE_DDS_NONE && memcmp(c->key[i].hash, hash, SPINDLE_DDS_HASH))
		i = c->key[i].chain;
	return i;
}

static void unchain(struct spindle_dds_cache *c, uint32_t i)
{
	uint32_t *at = head_of(c, c->key[i].hash);

	while (*at != i)
		at = &c->key[*at].chain;
	*at = c->key[i].chain;
}

static bool is_idle(const struct spindle_dds_key *key)
{
	return !key->used || (!key->samples.n && key->state != SPINDLE_DDS_ALIVE);
}

/* The entry of @idle that is there for the longest time gets a new key. */
static uint32_t new_key(struct spindle_dds_cache *c, const uint8_t *hash)
{
	uint32_t i = c->idle.first, *head;
	struct spindle_dds_key *key = &c->key[i];

	if (key->used)
		unchain(c, i);
	memcpy(key->hash, hash, SPINDLE_DDS_HASH);
	key->used = true;
	/* Like a free entry, the key is idle until its first sample is there. */
	key->state = SPINDLE_DDS_DISPOSED;
	head = head_of(c, hash);
	key->chain = *head;
	*head = i;
	return i;
}

/* Take a sample out of all lists. Its entry is free then. */
static void *take_out(struct spindle_dds_cache *c, uint32_t i)
{
	list_del(&c->order, c->sample, i, order);
	list_del(&c->key[c->sample[i].key].samples, c->sample, i, of_key);
	list_add(&c->spare, c->sample, i, order);
	return c->sample[i].data;
}

static uint32_t state_after(uint32_t flags)
{
	if (flags & SPINDLE_DDS_DISPOSE)
		return SPINDLE_DDS_DISPOSED;
	return flags & SPINDLE_DDS_UNREGISTER ? SPINDLE_DDS_UNREGISTERED : SPINDLE_DDS_ALIVE;
}

/* An unregister means something if its writer has written the last sample of the key. */
static bool is_news(const struct spindle_dds_cache *c, uint32_t key,
		    const struct spindle_dds_head *head)
{
	if (!(head->flags & SPINDLE_DDS_UNREGISTER))
		return true;
	return key != SPINDLE_DDS_NONE && c->key[key].state == SPINDLE_DDS_ALIVE &&
	       c->key[key].writer == head->writer;
}

static void add_sample(struct spindle_dds_cache *c, uint32_t key,
		       const struct spindle_dds_cached *sample)
{
	uint32_t i = c->spare.first;

	list_del(&c->spare, c->sample, i, order);
	c->sample[i] = *sample;
	c->sample[i].key = key;
	list_add(&c->order, c->sample, i, order);
	list_add(&c->key[key].samples, c->sample, i, of_key);
}

/**
 * spindle_dds_cache_put() - a sample arrives
 * @c: the cache
 * @sample: the sample; the cache copies it, and has @sample->data if it keeps the sample
 * @out: set to the data of the sample that was replaced, which is the caller's again; or NULL
 *
 * Return: what became of the sample. Of SPINDLE_DDS_NO_NEWS and all behind it, @sample->data is
 * still the caller's, and the cache is as it was.
 */
enum spindle_dds_kept spindle_dds_cache_put(struct spindle_dds_cache *c,
					    const struct spindle_dds_cached *sample, void **out)
{
	uint32_t key = find_key(c, sample->head.key);
	bool full;

	*out = NULL;
	if (!is_news(c, key, &sample->head))
		return SPINDLE_DDS_NO_NEWS;
	if (key == SPINDLE_DDS_NONE && !c->idle.n)
		return SPINDLE_DDS_KEYS_FULL;
	full = c->depth && key != SPINDLE_DDS_NONE && c->key[key].samples.n >= c->depth;
	if (!full && !c->spare.n)
		return SPINDLE_DDS_SAMPLES_FULL;
	if (key == SPINDLE_DDS_NONE)
		key = new_key(c, sample->head.key);
	if (is_idle(&c->key[key]))
		list_del(&c->idle, c->key, key, idle);
	if (full)
		*out = take_out(c, c->key[key].samples.first);
	add_sample(c, key, sample);
	c->key[key].state = state_after(sample->head.flags);
	c->key[key].writer = sample->head.writer;
	c->replaced += full;
	return full ? SPINDLE_DDS_REPLACED : SPINDLE_DDS_KEPT;
}

/**
 * spindle_dds_cache_take() - take the oldest sample
 * @c: the cache
 * @sample: filled; its data is the caller's again
 * @state: set to the enum spindle_dds_key_state of its key, as the last sample of the key says
 *
 * A key without samples that is not alive may be forgotten from then on.
 *
 * Return: whether there was one.
 */
bool spindle_dds_cache_take(struct spindle_dds_cache *c, struct spindle_dds_cached *sample,
			    uint32_t *state)
{
	uint32_t i = c->order.first, key;

	if (i == SPINDLE_DDS_NONE)
		return false;
	*sample = c->sample[i];
	key = sample->key;
	*state = c->key[key].state;
	take_out(c, i);
	if (is_idle(&c->key[key]))
		list_add(&c->idle, c->key, key, idle);
	return true;
}
