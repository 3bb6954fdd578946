// SPDX-License-Identifier: MIT
/*
 * Does what a writer offers cover what a reader requests? If not, words say why.
 */
#include <stdio.h>

#include "inner.h"

static const char *const level[SPINDLE_DDS_LEVELS] = {
	[SPINDLE_DDS_UNORDERED] = "unordered",
	[SPINDLE_DDS_ATOMIC] = "atomic",
	[SPINDLE_DDS_TRANSIENT] = "transient",
	[SPINDLE_DDS_PERSISTENT] = "persistent",
};

/**
 * spindle_dds_level_string() - name a level
 * @which: enum spindle_dds_level
 *
 * Return: a constant lower-case word, also for unknown values.
 */
const char *spindle_dds_level_string(uint32_t which)
{
	return which < SPINDLE_DDS_LEVELS ? level[which] : "unknown";
}

static bool is_in(const struct spindle_dds_qos *qos, const char *partition)
{
	uint32_t i;

	for (i = 0; i < qos->partitions; i++)
		if (!strcmp(qos->partition[i], partition))
			return true;
	return !qos->partitions && !*partition;
}

static bool have_common_partition(const struct spindle_dds_qos *a, const struct spindle_dds_qos *b)
{
	uint32_t i;

	for (i = 0; i < a->partitions; i++)
		if (is_in(b, a->partition[i]))
			return true;
	return !a->partitions && is_in(b, "");
}

/**
 * spindle_dds_match() - do a writer and a reader of one topic match?
 * @writer: what the writer offers
 * @reader: what the reader requests
 *
 * Return: SPINDLE_DDS_MATCH, or the first reason against it.
 */
enum spindle_dds_mismatch spindle_dds_match(const struct spindle_dds_qos *writer,
					    const struct spindle_dds_qos *reader)
{
	if (writer->level < reader->level)
		return SPINDLE_DDS_LOW_LEVEL;
	if (writer->depth < reader->depth)
		return SPINDLE_DDS_SHALLOW;
	if (writer->max_bytes > reader->max_bytes)
		return SPINDLE_DDS_TOO_LONG;
	if (!have_common_partition(writer, reader))
		return SPINDLE_DDS_NO_PARTITION;
	return SPINDLE_DDS_MATCH;
}

/* The partitions of a QoS, separated by commas. */
static const char *partitions(const struct spindle_dds_qos *qos, char *buf, size_t size)
{
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < qos->partitions; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s'%s'", i ? ", " : "",
				       qos->partition[i]);
	if (!i)
		snprintf(buf, size, "''");
	return buf;
}

static void partition_words(const struct spindle_dds_qos *writer,
			    const struct spindle_dds_qos *reader, char *buf, size_t len)
{
	char a[SPINDLE_DDS_PARTITIONS * (SPINDLE_DDS_SHORT + 4)];
	char b[sizeof(a)];

	snprintf(buf, len, "the writer is in partition %s, and the reader in %s",
		 partitions(writer, a, sizeof(a)), partitions(reader, b, sizeof(b)));
}

/**
 * spindle_dds_match_words() - say why a writer and a reader do not match
 * @writer: what the writer offers
 * @reader: what the reader requests
 * @buf: filled
 * @len: bytes at @buf; 384 are enough
 *
 * Return: @buf, with one line of text without a final newline.
 */
const char *spindle_dds_match_words(const struct spindle_dds_qos *writer,
				    const struct spindle_dds_qos *reader, char *buf, size_t len)
{
	switch (spindle_dds_match(writer, reader)) {
	case SPINDLE_DDS_MATCH:
		snprintf(buf, len, "they match");
		break;
	case SPINDLE_DDS_LOW_LEVEL:
		snprintf(buf, len, "the writer offers level %s, and the reader requests %s",
			 spindle_dds_level_string(writer->level),
			 spindle_dds_level_string(reader->level));
		break;
	case SPINDLE_DDS_SHALLOW:
		snprintf(buf, len, "the last %u samples of a key are kept, and the reader needs %u",
			 writer->depth, reader->depth);
		break;
	case SPINDLE_DDS_TOO_LONG:
		snprintf(buf, len, "samples have up to %u bytes, and the reader takes up to %u",
			 writer->max_bytes, reader->max_bytes);
		break;
	default:
		partition_words(writer, reader, buf, len);
	}
	return buf;
}

/**
 * spindle_dds_count() - which endpoints of its topic does an endpoint match?
 * @d: the directory
 * @id: id of the writer or reader
 *
 * Return: the readers of a writer's topic, or the writers of a reader's topic, that are there now;
 * all 0 if the endpoint has gone.
 */
struct spindle_dds_counts spindle_dds_count(const struct spindle_dds_directory *d, uint64_t id)
{
	const struct spindle_dds_endpoint *own = spindle_dds_find_endpoint(d, id), *other;
	struct spindle_dds_counts n = { 0 };
	uint32_t i;

	if (!own || own->gone)
		return n;
	for (i = d->topic[own->topic].endpoints.first; i != SPINDLE_DDS_NONE;
	     i = other->of_topic.next) {
		other = &d->endpoint[i];
		if (other->writer == own->writer)
			continue;
		if (spindle_dds_match(own->writer ? &own->qos : &other->qos,
				      own->writer ? &other->qos : &own->qos) == SPINDLE_DDS_MATCH)
			n.matched++;
		else if (!n.mismatched++)
			n.first = other;
	}
	return n;
}
