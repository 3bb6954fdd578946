// SPDX-License-Identifier: MIT
/*
 * A directory as bytes, for a participant that comes when the control subgroup has forgotten its
 * first records:
 *
 *	magic, version (32 bits each), position, shared, participants, topics, endpoints
 *
 * Endpoints that are there come first, in the order of their ids. Then come those that have gone,
 * in the order in which they will be forgotten.
 */
#include "cursor.h"
#include "inner.h"

#define MAGIC	0x31534453U	/* "SDS1" */
#define VERSION	1U

/* ---- encode ------------------------------------------------------------------------------- */

static void put_participant(struct cursor *c, const struct spindle_dds_participant *p)
{
	put64(c, p->id);
	put64(c, p->incarnation);
	put32(c, p->node);
	put32(c, p->lease_ms);
	spindle_dds_put_text(c, p->name);
}

static void put_entry(struct cursor *c, const struct spindle_dds_entry *t)
{
	put64(c, t->id);
	put32(c, t->maker);
	spindle_dds_put_topic(c, &t->topic);
}

/* @topic: number of the topic in the snapshot; of no meaning if the endpoint has gone */
static void put_endpoint(struct cursor *c, const struct spindle_dds_endpoint *e, uint32_t topic)
{
	put64(c, e->id);
	put64(c, e->gone);
	put64(c, e->topic_id);
	put32(c, topic);
	put32(c, e->node);
	put32(c, e->number);
	put32(c, e->writer);
	spindle_dds_put_qos(c, &e->qos);
}

static void put_participants(struct cursor *c, const struct spindle_dds_directory *d)
{
	uint32_t i;

	put32(c, d->participants);
	for (i = 0; i < SPINDLE_DDS_PARTICIPANTS; i++)
		if (d->participant[i].id)
			put_participant(c, &d->participant[i]);
}

static void put_topics(struct cursor *c, struct spindle_dds_directory *d)
{
	uint32_t i, n = 0;

	put32(c, d->topics);
	for (i = 0; i < SPINDLE_DDS_TOPICS; i++) {
		if (!d->topic[i].id)
			continue;
		d->topic[i].mark = n++;
		put_entry(c, &d->topic[i]);
	}
}

static void put_endpoints(struct cursor *c, const struct spindle_dds_directory *d)
{
	const struct spindle_dds_endpoint *e;
	uint32_t i;

	put32(c, d->live.n);
	for (i = d->live.first; i != SPINDLE_DDS_NONE; i = e->all.next) {
		e = &d->endpoint[i];
		put_endpoint(c, e, d->topic[e->topic].mark);
	}
	put32(c, d->left.n);
	for (i = d->left.first; i != SPINDLE_DDS_NONE; i = e->all.next) {
		e = &d->endpoint[i];
		put_endpoint(c, e, 0);
	}
}

/**
 * spindle_dds_save() - encode a directory
 * @d: the directory; only the marks of its topics change
 * @to: out
 * @size: bytes at @to; SPINDLE_DDS_SNAPSHOT_BYTES are enough
 *
 * Return: the bytes; 0: there is no room.
 */
size_t spindle_dds_save(struct spindle_dds_directory *d, uint8_t *to, size_t size)
{
	struct cursor c = { .to = to, .left = size };

	put32(&c, MAGIC);
	put32(&c, VERSION);
	put64(&c, d->position);
	put32(&c, d->shared);
	put_participants(&c, d);
	put_topics(&c, d);
	put_endpoints(&c, d);
	return c.bad ? 0 : (size_t)(c.to - to);
}

/* ---- decode ------------------------------------------------------------------------------- */

/* Ids are positions that the directory has passed. */
static bool is_id(const struct spindle_dds_directory *d, uint64_t id)
{
	return id && id <= d->position;
}

/* One record makes one participant, or one topic. */
static bool is_new_id(const struct spindle_dds_directory *d, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < d->participants; i++)
		if (d->participant[i].id == id)
			return false;
	for (i = 0; i < d->topics; i++)
		if (d->topic[i].id == id)
			return false;
	return is_id(d, id);
}

static void get_participants(struct cursor *c, struct spindle_dds_directory *d)
{
	uint32_t i, n = get_count(c, SPINDLE_DDS_PARTICIPANTS);

	c->bad |= n && !d->shared;
	for (i = 0; i < n && !c->bad; i++) {
		struct spindle_dds_participant *p = &d->participant[i];
		uint64_t id = get64(c);

		p->incarnation = get64(c);
		p->node = get32(c);
		p->lease_ms = get32(c);
		spindle_dds_get_text(c, p->name, sizeof(p->name));
		c->bad |= !is_new_id(d, id) || spindle_dds_find_participant(d, p->node);
		p->id = id;
		d->participants++;
	}
}

static void get_topics(struct cursor *c, struct spindle_dds_directory *d)
{
	uint32_t i, maker, n = get_count(c, d->limits.topics);
	struct spindle_dds_topic topic;
	uint64_t id;

	c->bad |= n && !d->shared;
	for (i = 0; i < n && !c->bad; i++) {
		id = get64(c);
		maker = get32(c);
		spindle_dds_get_topic(c, &topic);
		c->bad |= !is_new_id(d, id) || spindle_dds_find_topic(d, topic.name);
		if (!c->bad)
			spindle_dds_new_topic(d, id, &topic, maker);
	}
}

static void get_endpoint(struct cursor *c, struct spindle_dds_endpoint *e)
{
	memset(e, 0, sizeof(*e));
	e->id = get64(c);
	e->gone = get64(c);
	e->topic_id = get64(c);
	e->topic = get32(c);
	e->node = get32(c);
	e->number = get32(c);
	e->writer = get_flag(c);
	spindle_dds_get_qos(c, &e->qos);
}

/* Does an endpoint that is there fit to its topic and its participant? */
static bool fits(struct spindle_dds_directory *d, const struct spindle_dds_endpoint *e)
{
	const struct spindle_dds_participant *p = spindle_dds_find_participant(d, e->node);
	const struct spindle_dds_entry *t;

	if (!p || e->topic >= d->topics)
		return false;
	t = &d->topic[e->topic];
	return t->id == e->topic_id && e->qos.level <= t->topic.level &&
	       p->endpoints < d->limits.own;
}

static bool is_good(struct spindle_dds_directory *d, const struct spindle_dds_endpoint *e,
		    bool live)
{
	if (!is_id(d, e->id) || !is_id(d, e->topic_id) || spindle_dds_find_endpoint(d, e->id))
		return false;
	if (!live)
		return e->gone > e->id && e->gone <= d->position &&
		       (!d->left.n || d->endpoint[d->left.last].gone <= e->gone);
	return !e->gone && fits(d, e) &&
	       (!d->live.n || d->endpoint[d->live.last].id < e->id);
}

static void get_endpoints(struct cursor *c, struct spindle_dds_directory *d, bool live)
{
	uint32_t i, n = get_count(c, d->limits.endpoints - d->used);
	struct spindle_dds_endpoint e;

	for (i = 0; i < n && !c->bad; i++) {
		get_endpoint(c, &e);
		if (c->bad || !is_good(d, &e, live)) {
			c->bad = true;
			return;
		}
		spindle_dds_new_endpoint(d, &e);
		if (live)
			d->participant[spindle_dds_find_participant(d, e.node) -
				       d->participant].endpoints++;
	}
}

/* A topic that keeps nothing has ended with its last endpoint. */
static bool has_dead_topic(const struct spindle_dds_directory *d)
{
	uint32_t i;

	for (i = 0; i < d->topics; i++)
		if (!d->topic[i].endpoints.n && d->topic[i].topic.level < SPINDLE_DDS_TRANSIENT)
			return true;
	return false;
}

/**
 * spindle_dds_load() - decode a directory
 * @d: out; an empty directory unless the return is true
 * @limits: as spindle_dds_directory_init()
 * @from: bytes of another participant
 * @len: how many
 *
 * Return: whether the bytes are a directory whose parts fit together, and nothing else.
 */
bool spindle_dds_load(struct spindle_dds_directory *d, const struct spindle_dds_limits *limits,
		      const uint8_t *from, size_t len)
{
	struct cursor c = { .from = from, .left = len };
	bool good = get32(&c) == MAGIC && get32(&c) == VERSION;

	spindle_dds_directory_init(d, limits);
	d->position = get64(&c);
	d->shared = get32(&c);
	c.bad = c.bad || !good || d->position > SPINDLE_DDS_LSN_MAX + 1 ||
		d->shared > SPINDLE_DDS_SHARED;
	get_participants(&c, d);
	get_topics(&c, d);
	get_endpoints(&c, d, true);
	get_endpoints(&c, d, false);
	if (!c.bad && !c.left && !has_dead_topic(d))
		return true;
	spindle_dds_directory_init(d, limits);
	return false;
}

/* ---- digest ------------------------------------------------------------------------------- */

static uint64_t mix(const uint8_t *bytes, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	while (len--)
		hash = (hash ^ *bytes++) * 0x100000001b3ULL;
	hash ^= hash >> 31;
	return hash * 0x9e3779b97f4a7c15ULL;
}

/**
 * spindle_dds_digest() - a number that differs if two directories differ
 * @d: the directory
 *
 * Where entries are in the arrays does not count. Endpoints that have gone count with their order.
 *
 * Return: the digest. It is for tests and for people, and no protection against liars.
 */
uint64_t spindle_dds_digest(const struct spindle_dds_directory *d)
{
	uint64_t sum = d->position * 31 + d->shared;
	uint8_t bytes[SPINDLE_DDS_RECORD_BYTES];
	struct cursor c;
	uint32_t i, n = 0;

#define ADD(put, ...) do {						\
	c = (struct cursor){ .to = bytes, .left = sizeof(bytes) };	\
	put(&c, __VA_ARGS__);						\
	sum += mix(bytes, (size_t)(c.to - bytes));			\
} while (0)
	for (i = 0; i < SPINDLE_DDS_PARTICIPANTS; i++)
		if (d->participant[i].id)
			ADD(put_participant, &d->participant[i]);
	for (i = 0; i < SPINDLE_DDS_TOPICS; i++)
		if (d->topic[i].id)
			ADD(put_entry, &d->topic[i]);
	for (i = d->live.first; i != SPINDLE_DDS_NONE; i = d->endpoint[i].all.next)
		ADD(put_endpoint, &d->endpoint[i], 0);
	for (i = d->left.first; i != SPINDLE_DDS_NONE; i = d->endpoint[i].all.next)
		ADD(put_endpoint, &d->endpoint[i], ++n);
#undef ADD
	return sum;
}
