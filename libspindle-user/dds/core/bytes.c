// SPDX-License-Identifier: MIT
/*
 * Records of the control subgroup as bytes:
 *
 *	magic, version and kind (32 bits each), content
 *
 * All numbers are little-endian, and a text is its length (32 bits) and its characters. The content
 * has to end where the message ends.
 */
#include "cursor.h"
#include "inner.h"

#define MAGIC	0x31434453U	/* "SDC1" */
#define VERSION	1U

/**
 * spindle_dds_put_text() - encode a text
 * @c: the encoding
 * @text: characters with an end
 */
void spindle_dds_put_text(struct cursor *c, const char *text)
{
	uint32_t len = (uint32_t)strlen(text);

	put32(c, len);
	put_bytes(c, text, len);
}

/**
 * spindle_dds_get_text() - decode a text
 * @c: the encoding; bad behind this if the text has characters that cannot be printed
 * @text: filled, with zeroes behind the characters
 * @size: bytes at @text
 */
void spindle_dds_get_text(struct cursor *c, char *text, size_t size)
{
	uint32_t i, len = get_count(c, (uint32_t)size - 1);

	memset(text, 0, size);
	get_bytes(c, text, len);
	for (i = 0; i < len; i++)
		c->bad |= text[i] <= ' ' || text[i] > '~';
}

/* Has a text an end, and no character that cannot be printed? */
static bool is_text(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && text[i]; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return i < size;
}

/**
 * spindle_dds_good_topic() - is this the description of a topic?
 * @topic: the description
 *
 * Return: whether its texts end, its name is not empty, and its numbers are in their ranges.
 */
bool spindle_dds_good_topic(const struct spindle_dds_topic *topic)
{
	return is_text(topic->name, sizeof(topic->name)) && topic->name[0] &&
	       is_text(topic->type, sizeof(topic->type)) &&
	       is_text(topic->subgroup, sizeof(topic->subgroup)) &&
	       topic->level < SPINDLE_DDS_LEVELS && topic->keyed <= 1;
}

/**
 * spindle_dds_good_qos() - is this a QoS?
 * @qos: the QoS
 *
 * A level that keeps nothing has no depth.
 *
 * Return: whether its texts end, and its numbers are in their ranges and fit together.
 */
bool spindle_dds_good_qos(const struct spindle_dds_qos *qos)
{
	uint32_t i;

	if (qos->level >= SPINDLE_DDS_LEVELS || qos->partitions > SPINDLE_DDS_PARTITIONS)
		return false;
	if (qos->level < SPINDLE_DDS_TRANSIENT && qos->depth)
		return false;
	for (i = 0; i < qos->partitions; i++)
		if (!is_text(qos->partition[i], sizeof(qos->partition[i])))
			return false;
	return true;
}

/**
 * spindle_dds_good_hello() - is this the HELLO of a participant?
 * @hello: the record
 *
 * Return: whether its text ends, and its number of shared subgroups is in the range.
 */
bool spindle_dds_good_hello(const struct spindle_dds_record *hello)
{
	return is_text(hello->name, sizeof(hello->name)) && hello->shared &&
	       hello->shared <= SPINDLE_DDS_SHARED;
}

/**
 * spindle_dds_put_topic() - encode the description of a topic
 * @c: the encoding
 * @topic: a good one
 */
void spindle_dds_put_topic(struct cursor *c, const struct spindle_dds_topic *topic)
{
	spindle_dds_put_text(c, topic->name);
	spindle_dds_put_text(c, topic->type);
	put_bytes(c, topic->type_hash, sizeof(topic->type_hash));
	spindle_dds_put_text(c, topic->subgroup);
	put32(c, topic->level);
	put32(c, topic->keyed);
}

/**
 * spindle_dds_get_topic() - decode the description of a topic
 * @c: the encoding; bad behind this if the description is not good
 * @topic: filled
 */
void spindle_dds_get_topic(struct cursor *c, struct spindle_dds_topic *topic)
{
	spindle_dds_get_text(c, topic->name, sizeof(topic->name));
	spindle_dds_get_text(c, topic->type, sizeof(topic->type));
	get_bytes(c, topic->type_hash, sizeof(topic->type_hash));
	spindle_dds_get_text(c, topic->subgroup, sizeof(topic->subgroup));
	topic->level = get32(c);
	topic->keyed = get32(c);
	c->bad = c->bad || !spindle_dds_good_topic(topic);
}

/**
 * spindle_dds_put_qos() - encode a QoS
 * @c: the encoding
 * @qos: a good one
 */
void spindle_dds_put_qos(struct cursor *c, const struct spindle_dds_qos *qos)
{
	uint32_t i;

	put32(c, qos->level);
	put32(c, qos->depth);
	put32(c, qos->max_bytes);
	put32(c, qos->partitions);
	for (i = 0; i < qos->partitions; i++)
		spindle_dds_put_text(c, qos->partition[i]);
}

/**
 * spindle_dds_get_qos() - decode a QoS
 * @c: the encoding; bad behind this if the QoS is not good
 * @qos: filled
 */
void spindle_dds_get_qos(struct cursor *c, struct spindle_dds_qos *qos)
{
	uint32_t i;

	memset(qos, 0, sizeof(*qos));
	qos->level = get32(c);
	qos->depth = get32(c);
	qos->max_bytes = get32(c);
	qos->partitions = get_count(c, SPINDLE_DDS_PARTITIONS);
	for (i = 0; i < qos->partitions; i++)
		spindle_dds_get_text(c, qos->partition[i], sizeof(qos->partition[i]));
	c->bad = c->bad || !spindle_dds_good_qos(qos);
}

static void put_add(struct cursor *c, const struct spindle_dds_record *record)
{
	put32(c, record->number);
	put32(c, record->writer);
	spindle_dds_put_topic(c, &record->topic);
	spindle_dds_put_qos(c, &record->qos);
}

static void get_add(struct cursor *c, struct spindle_dds_record *record)
{
	record->number = get32(c);
	record->writer = get_flag(c);
	spindle_dds_get_topic(c, &record->topic);
	spindle_dds_get_qos(c, &record->qos);
	/* A topic cannot keep a promise that is above its level. */
	c->bad = c->bad || record->qos.level > record->topic.level;
}

static void put_hello(struct cursor *c, const struct spindle_dds_record *record)
{
	put64(c, record->incarnation);
	put32(c, record->shared);
	put32(c, record->lease_ms);
	spindle_dds_put_text(c, record->name);
}

static void get_hello(struct cursor *c, struct spindle_dds_record *record)
{
	record->incarnation = get64(c);
	record->shared = get32(c);
	record->lease_ms = get32(c);
	spindle_dds_get_text(c, record->name, sizeof(record->name));
	c->bad = c->bad || !spindle_dds_good_hello(record);
}

/**
 * spindle_dds_put_record() - encode a record
 * @record: a record that spindle_dds_get_record() would take
 * @to: out
 * @size: bytes at @to; SPINDLE_DDS_RECORD_BYTES are enough
 *
 * Return: the bytes; 0: there is no room.
 */
size_t spindle_dds_put_record(const struct spindle_dds_record *record, uint8_t *to, size_t size)
{
	struct cursor c = { .to = to, .left = size };

	put32(&c, MAGIC);
	put32(&c, VERSION);
	put32(&c, record->kind);
	if (record->kind == SPINDLE_DDS_HELLO)
		put_hello(&c, record);
	else if (record->kind == SPINDLE_DDS_ADD)
		put_add(&c, record);
	else
		put64(&c, record->id);
	return c.bad ? 0 : (size_t)(c.to - to);
}

/**
 * spindle_dds_get_record() - decode a record
 * @record: out; undefined unless the return is true
 * @from: bytes of another participant; each byte is read once, because its sender may change it
 * @len: how many
 *
 * Return: whether the bytes are a record, and nothing else.
 */
bool spindle_dds_get_record(struct spindle_dds_record *record, const uint8_t *from, size_t len)
{
	struct cursor c = { .from = from, .left = len };
	uint32_t magic = get32(&c), version = get32(&c);

	memset(record, 0, sizeof(*record));
	record->kind = get32(&c);
	if (magic != MAGIC || version != VERSION)
		return false;
	switch (record->kind) {
	case SPINDLE_DDS_HELLO:
		get_hello(&c, record);
		break;
	case SPINDLE_DDS_ADD:
		get_add(&c, record);
		break;
	case SPINDLE_DDS_REMOVE:
	case SPINDLE_DDS_GONE:
	case SPINDLE_DDS_DROP:
	case SPINDLE_DDS_BEAT:
		record->id = get64(&c);
		break;
	default:
		return false;
	}
	return !c.bad && !c.left;
}
