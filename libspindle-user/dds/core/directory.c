// SPDX-License-Identifier: MIT
/*
 * A record at a position changes the directory of a domain, or is refused. Both follow from the
 * records before it alone, so all participants agree on them.
 */
#include "inner.h"

/* ---- searches --------------------------------------------------------------------------- */

/**
 * spindle_dds_name_hash() - hash of a name
 * @name: the name
 *
 * The hash decides which shared subgroup a topic is in, so it is a part of the protocol.
 *
 * Return: FNV-1a, 64 bits.
 */
uint64_t spindle_dds_name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3ULL;
	return hash;
}

static uint32_t *topic_head(struct spindle_dds_directory *d, const char *name)
{
	return &d->topic_head[spindle_dds_name_hash(name) % SPINDLE_DDS_TOPIC_HEADS];
}

static uint32_t id_head(uint64_t id)
{
	return (uint32_t)(id % SPINDLE_DDS_ID_HEADS);
}

/**
 * spindle_dds_find_participant() - the participant of a node
 * @d: the directory
 * @node: id of the node
 *
 * Return: the participant; NULL: there is none.
 */
const struct spindle_dds_participant *
spindle_dds_find_participant(const struct spindle_dds_directory *d, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < SPINDLE_DDS_PARTICIPANTS; i++)
		if (d->participant[i].id && d->participant[i].node == node)
			return &d->participant[i];
	return NULL;
}

static struct spindle_dds_participant *own_participant(struct spindle_dds_directory *d,
						       uint32_t node)
{
	const struct spindle_dds_participant *p = spindle_dds_find_participant(d, node);

	return p ? &d->participant[p - d->participant] : NULL;
}

static uint32_t topic_index(const struct spindle_dds_directory *d, const char *name)
{
	uint32_t i = d->topic_head[spindle_dds_name_hash(name) % SPINDLE_DDS_TOPIC_HEADS];

	while (i != SPINDLE_DDS_NONE && strcmp(d->topic[i].topic.name, name))
		i = d->topic[i].chain;
	return i;
}

/**
 * spindle_dds_find_topic() - the topic of a name
 * @d: the directory
 * @name: the name
 *
 * Return: the topic; NULL: there is none.
 */
const struct spindle_dds_entry *spindle_dds_find_topic(const struct spindle_dds_directory *d,
						       const char *name)
{
	uint32_t i = topic_index(d, name);

	return i == SPINDLE_DDS_NONE ? NULL : &d->topic[i];
}

/**
 * spindle_dds_find_endpoint() - a writer or a reader
 * @d: the directory
 * @id: its id
 *
 * Return: the endpoint, which may have gone; NULL: there is none, or it was forgotten.
 */
const struct spindle_dds_endpoint *
spindle_dds_find_endpoint(const struct spindle_dds_directory *d, uint64_t id)
{
	uint32_t i = d->id_head[id_head(id)];

	while (i != SPINDLE_DDS_NONE && d->endpoint[i].id != id)
		i = d->endpoint[i].chain;
	return i == SPINDLE_DDS_NONE ? NULL : &d->endpoint[i];
}

/* ---- topics ----------------------------------------------------------------------------- */

/* Topics that keep samples outlive their writers and readers. */
static bool is_stored(const struct spindle_dds_entry *t)
{
	return t->topic.level >= SPINDLE_DDS_TRANSIENT;
}

/**
 * spindle_dds_new_topic() - make a topic
 * @d: a directory with room for the topic
 * @id: id of the topic
 * @topic: its description, with a name that no other topic has
 * @maker: node that makes it
 *
 * Return: its index.
 */
uint32_t spindle_dds_new_topic(struct spindle_dds_directory *d, uint64_t id,
			       const struct spindle_dds_topic *topic, uint32_t maker)
{
	uint32_t *head = topic_head(d, topic->name), i = 0;
	struct spindle_dds_entry *t;

	while (d->topic[i].id)
		i++;
	t = &d->topic[i];
	t->id = id;
	t->topic = *topic;
	t->maker = maker;
	t->shared = (uint32_t)(spindle_dds_name_hash(topic->name) % d->shared);
	list_init(&t->endpoints);
	t->chain = *head;
	*head = i;
	d->topics++;
	return i;
}

static void forget_topic(struct spindle_dds_directory *d, uint32_t i)
{
	uint32_t *at = topic_head(d, d->topic[i].topic.name);

	while (*at != i)
		at = &d->topic[*at].chain;
	*at = d->topic[i].chain;
	d->topic[i].id = 0;
	d->topics--;
}

/* Does another description of a topic agree with it? */
static enum spindle_dds_outcome compare(const struct spindle_dds_topic *a,
					const struct spindle_dds_topic *b)
{
	if (strcmp(a->type, b->type))
		return SPINDLE_DDS_OTHER_TYPE;
	if (memcmp(a->type_hash, b->type_hash, sizeof(a->type_hash)))
		return SPINDLE_DDS_OTHER_HASH;
	if (a->level != b->level)
		return SPINDLE_DDS_OTHER_LEVEL;
	if (a->keyed != b->keyed)
		return SPINDLE_DDS_OTHER_KEYS;
	if (strcmp(a->subgroup, b->subgroup))
		return SPINDLE_DDS_OTHER_SUBGROUP;
	return SPINDLE_DDS_DONE;
}

/**
 * spindle_dds_compare() - does a description agree with the topic of its name?
 * @d: the directory
 * @topic: the description
 *
 * Return: SPINDLE_DDS_DONE if it does, or if there is no such topic; otherwise what becomes of a
 * record with this description.
 */
enum spindle_dds_outcome spindle_dds_compare(const struct spindle_dds_directory *d,
					     const struct spindle_dds_topic *topic)
{
	const struct spindle_dds_entry *t = spindle_dds_find_topic(d, topic->name);

	return t ? compare(&t->topic, topic) : SPINDLE_DDS_DONE;
}

static uint32_t stored_by(const struct spindle_dds_directory *d, uint32_t node)
{
	uint32_t i, n = 0;

	for (i = 0; i < SPINDLE_DDS_TOPICS; i++)
		n += d->topic[i].id && is_stored(&d->topic[i]) && d->topic[i].maker == node;
	return n;
}

/* May a node make a topic of this description? */
static enum spindle_dds_outcome may_make(const struct spindle_dds_directory *d, uint32_t node,
					 const struct spindle_dds_topic *topic)
{
	if (d->topics >= d->limits.topics)
		return SPINDLE_DDS_TOO_MANY_TOPICS;
	if (topic->level >= SPINDLE_DDS_TRANSIENT && stored_by(d, node) >= d->limits.own)
		return SPINDLE_DDS_TOO_MANY_OWN;
	return SPINDLE_DDS_DONE;
}

/* ---- endpoints --------------------------------------------------------------------------- */

/* Forget the endpoint that went first, so that another one gets its entry. */
static uint32_t reuse(struct spindle_dds_directory *d)
{
	uint32_t i = d->left.first, *at = &d->id_head[id_head(d->endpoint[i].id)];

	while (*at != i)
		at = &d->endpoint[*at].chain;
	*at = d->endpoint[i].chain;
	list_del(&d->left, d->endpoint, i, all);
	return i;
}

/**
 * spindle_dds_new_endpoint() - put an endpoint into the directory
 * @d: a directory with room for the endpoint
 * @from: the endpoint; its links do not matter
 *
 * The participant's count is the caller's.
 */
void spindle_dds_new_endpoint(struct spindle_dds_directory *d,
			      const struct spindle_dds_endpoint *from)
{
	uint32_t i = d->used < d->limits.endpoints ? d->used++ : reuse(d);
	uint32_t *head = &d->id_head[id_head(from->id)];

	d->endpoint[i] = *from;
	d->endpoint[i].chain = *head;
	*head = i;
	if (from->gone) {
		list_add(&d->left, d->endpoint, i, all);
		return;
	}
	list_add(&d->live, d->endpoint, i, all);
	list_add(&d->topic[from->topic].endpoints, d->endpoint, i, of_topic);
}

/* An endpoint goes: readers still know it, because its samples may come after this. */
static void leave(struct spindle_dds_directory *d, uint32_t i, uint64_t gone)
{
	struct spindle_dds_endpoint *e = &d->endpoint[i];
	struct spindle_dds_entry *t = &d->topic[e->topic];

	list_del(&d->live, d->endpoint, i, all);
	list_del(&t->endpoints, d->endpoint, i, of_topic);
	if (!t->endpoints.n && !is_stored(t))
		forget_topic(d, e->topic);
	e->gone = gone;
	list_add(&d->left, d->endpoint, i, all);
}

/* A participant goes with all its endpoints, in the order of their ids. */
static void forget_participant(struct spindle_dds_directory *d, struct spindle_dds_participant *p,
			       uint64_t gone)
{
	uint32_t i, next;

	for (i = d->live.first; i != SPINDLE_DDS_NONE; i = next) {
		next = d->endpoint[i].all.next;
		if (d->endpoint[i].node == p->node)
			leave(d, i, gone);
	}
	memset(p, 0, sizeof(*p));
	d->participants--;
}

/* ---- records ------------------------------------------------------------------------------ */

/*
 * A node has one participant, so the one before it has ended without a word, if there is one. A
 * domain that is empty may begin again with another number of shared subgroups.
 */
static enum spindle_dds_outcome hello(struct spindle_dds_directory *d, uint64_t id, uint32_t node,
				      const struct spindle_dds_record *record)
{
	struct spindle_dds_participant *p = own_participant(d, node);
	uint32_t i;

	if (p)
		forget_participant(d, p, id);
	if (!d->participants && !d->topics)
		d->shared = 0;
	if (d->shared && d->shared != record->shared)
		return SPINDLE_DDS_OTHER_SHARED;
	if (d->participants == SPINDLE_DDS_PARTICIPANTS)
		return SPINDLE_DDS_TOO_MANY_PARTICIPANTS;
	for (i = 0; d->participant[i].id; i++)
		;
	p = &d->participant[i];
	p->id = id;
	p->node = node;
	p->incarnation = record->incarnation;
	p->lease_ms = record->lease_ms;
	memcpy(p->name, record->name, sizeof(p->name));
	d->participants++;
	d->shared = record->shared;
	return SPINDLE_DDS_DONE;
}

/* @topic is set to the index of the topic, or to SPINDLE_DDS_NONE if the topic has to be made. */
static enum spindle_dds_outcome may_add(const struct spindle_dds_directory *d, uint32_t node,
					const struct spindle_dds_record *record, uint32_t *topic)
{
	const struct spindle_dds_participant *p = spindle_dds_find_participant(d, node);

	if (!p)
		return SPINDLE_DDS_NO_PARTICIPANT;
	if (p->endpoints >= d->limits.own)
		return SPINDLE_DDS_TOO_MANY_OWN;
	if (d->live.n >= d->limits.endpoints)
		return SPINDLE_DDS_TOO_MANY_ENDPOINTS;
	*topic = topic_index(d, record->topic.name);
	if (*topic != SPINDLE_DDS_NONE)
		return compare(&d->topic[*topic].topic, &record->topic);
	return may_make(d, node, &record->topic);
}

static enum spindle_dds_outcome add(struct spindle_dds_directory *d, uint64_t id, uint32_t node,
				    const struct spindle_dds_record *record)
{
	struct spindle_dds_endpoint e = { .id = id, .node = node };
	enum spindle_dds_outcome outcome = may_add(d, node, record, &e.topic);

	if (outcome != SPINDLE_DDS_DONE)
		return outcome;
	if (e.topic == SPINDLE_DDS_NONE)
		e.topic = spindle_dds_new_topic(d, id, &record->topic, node);
	e.topic_id = d->topic[e.topic].id;
	e.number = record->number;
	e.writer = record->writer;
	e.qos = record->qos;
	spindle_dds_new_endpoint(d, &e);
	own_participant(d, node)->endpoints++;
	return SPINDLE_DDS_DONE;
}

static enum spindle_dds_outcome take_away(struct spindle_dds_directory *d, uint64_t id,
					  uint32_t node, uint64_t which)
{
	const struct spindle_dds_endpoint *e = spindle_dds_find_endpoint(d, which);

	if (!e || e->gone)
		return SPINDLE_DDS_NOT_THERE;
	if (e->node != node)
		return SPINDLE_DDS_NOT_OWN;
	leave(d, (uint32_t)(e - d->endpoint), id);
	own_participant(d, node)->endpoints--;
	return SPINDLE_DDS_DONE;
}

/* Participants that see a view without a node say this of its participant, each of them once. */
static enum spindle_dds_outcome gone(struct spindle_dds_directory *d, uint64_t id, uint64_t which)
{
	uint32_t i;

	for (i = 0; i < SPINDLE_DDS_PARTICIPANTS; i++) {
		if (!which || d->participant[i].id != which)
			continue;
		forget_participant(d, &d->participant[i], id);
		return SPINDLE_DDS_DONE;
	}
	return SPINDLE_DDS_NOT_THERE;
}

static enum spindle_dds_outcome drop(struct spindle_dds_directory *d, uint64_t which)
{
	uint32_t i;

	for (i = 0; i < SPINDLE_DDS_TOPICS; i++) {
		if (!which || d->topic[i].id != which)
			continue;
		if (d->topic[i].endpoints.n)
			return SPINDLE_DDS_IN_USE;
		forget_topic(d, i);
		return SPINDLE_DDS_DONE;
	}
	return SPINDLE_DDS_NOT_THERE;
}

/* Nothing changes. A participant that is not there any more learns that from the outcome. */
static enum spindle_dds_outcome beat(const struct spindle_dds_directory *d, uint32_t node,
				     uint64_t which)
{
	const struct spindle_dds_participant *p = spindle_dds_find_participant(d, node);

	return p && p->id == which ? SPINDLE_DDS_DONE : SPINDLE_DDS_NOT_THERE;
}

static enum spindle_dds_outcome change(struct spindle_dds_directory *d, uint64_t id, uint32_t node,
				       const struct spindle_dds_record *record)
{
	switch (record->kind) {
	case SPINDLE_DDS_HELLO:
		return hello(d, id, node, record);
	case SPINDLE_DDS_ADD:
		return add(d, id, node, record);
	case SPINDLE_DDS_REMOVE:
		return take_away(d, id, node, record->id);
	case SPINDLE_DDS_GONE:
		return gone(d, id, record->id);
	case SPINDLE_DDS_BEAT:
		return beat(d, node, record->id);
	default:
		return drop(d, record->id);
	}
}

/**
 * spindle_dds_directory_init() - an empty directory
 * @d: memory of the caller
 * @limits: how much it holds, or NULL for the limits of this protocol; tests have smaller ones
 */
void spindle_dds_directory_init(struct spindle_dds_directory *d,
				const struct spindle_dds_limits *limits)
{
	static const struct spindle_dds_limits most = {
		.topics = SPINDLE_DDS_TOPICS,
		.endpoints = SPINDLE_DDS_ENDPOINTS,
		.own = SPINDLE_DDS_OWN,
	};

	memset(d, 0, offsetof(struct spindle_dds_directory, topic));
	memset(d->topic, 0, sizeof(d->topic));
	memset(d->topic_head, 0xff, sizeof(d->topic_head));
	memset(d->id_head, 0xff, sizeof(d->id_head));
	d->limits = limits ? *limits : most;
	list_init(&d->live);
	list_init(&d->left);
}

/**
 * spindle_dds_apply() - apply a message of the control subgroup
 * @d: the directory
 * @lsn: position of the message; positions grow, and some may be missing
 * @node: node that has sent it, as the kernel says
 * @from: its bytes; each is read once
 * @len: how many
 *
 * The id of what the record makes is @lsn + 1.
 *
 * Return: what became of it, the same at all participants.
 */
enum spindle_dds_outcome spindle_dds_apply(struct spindle_dds_directory *d, uint64_t lsn,
					   uint32_t node, const uint8_t *from, size_t len)
{
	struct spindle_dds_record record;

	if (lsn < d->position || lsn > SPINDLE_DDS_LSN_MAX)
		return SPINDLE_DDS_OLD;
	d->position = lsn + 1;
	if (!spindle_dds_get_record(&record, from, len))
		return SPINDLE_DDS_NO_RECORD;
	return change(d, lsn + 1, node, &record);
}

/**
 * spindle_dds_outcome_words() - say what became of a record
 * @outcome: what spindle_dds_apply() has returned
 *
 * Return: a constant string.
 */
const char *spindle_dds_outcome_words(enum spindle_dds_outcome outcome)
{
	static const char *const words[SPINDLE_DDS_OUTCOMES] = {
		[SPINDLE_DDS_DONE] = "done",
		[SPINDLE_DDS_NO_RECORD] = "the message is no record",
		[SPINDLE_DDS_OLD] = "the record is older than the directory",
		[SPINDLE_DDS_OTHER_SHARED] = "the domain has another number of shared subgroups",
		[SPINDLE_DDS_TOO_MANY_PARTICIPANTS] = "the domain has too many participants",
		[SPINDLE_DDS_NO_PARTICIPANT] = "the node has no participant",
		[SPINDLE_DDS_TOO_MANY_OWN] =
			"the participant has too many writers and readers, or stored topics",
		[SPINDLE_DDS_TOO_MANY_TOPICS] = "the domain has too many topics",
		[SPINDLE_DDS_TOO_MANY_ENDPOINTS] = "the domain has too many writers and readers",
		[SPINDLE_DDS_OTHER_TYPE] = "the topic has another type",
		[SPINDLE_DDS_OTHER_HASH] = "the type of the topic has another hash",
		[SPINDLE_DDS_OTHER_LEVEL] = "the topic has another level",
		[SPINDLE_DDS_OTHER_KEYS] = "the topic and the description differ in keys",
		[SPINDLE_DDS_OTHER_SUBGROUP] = "the topic is in another subgroup",
		[SPINDLE_DDS_NOT_THERE] = "there is nothing with this id",
		[SPINDLE_DDS_NOT_OWN] = "the writer or reader belongs to another participant",
		[SPINDLE_DDS_IN_USE] = "the topic has writers or readers",
	};

	return outcome < SPINDLE_DDS_OUTCOMES ? words[outcome] : "unknown";
}
