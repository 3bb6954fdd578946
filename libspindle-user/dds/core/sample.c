// SPDX-License-Identifier: MIT
/*
 * The head of a sample, and whether the sample is for a reader:
 *
 *	magic and flags (16 bits each), bytes (32), topic, writer, sequence, source time (64 each),
 *	key hash (16 bytes, with SPINDLE_DDS_KEYED)
 *
 * All numbers are little-endian.
 */
#include "cursor.h"
#include "inner.h"

#define MAGIC		0x5344U		/* "DS" */
#define FLAGS		(SPINDLE_DDS_KEYED | SPINDLE_DDS_DISPOSE | SPINDLE_DDS_UNREGISTER)

/**
 * spindle_dds_head_bytes() - length of the head of a sample
 * @keyed: with a key hash
 *
 * Return: bytes.
 */
uint32_t spindle_dds_head_bytes(bool keyed)
{
	return keyed ? SPINDLE_DDS_KEYED_HEAD : SPINDLE_DDS_HEAD;
}

/**
 * spindle_dds_put_head() - encode the head of a sample
 * @head: a head that spindle_dds_get_head() would take
 * @to: room for spindle_dds_head_bytes()
 */
void spindle_dds_put_head(const struct spindle_dds_head *head, uint8_t *to)
{
	bool keyed = head->flags & SPINDLE_DDS_KEYED;
	struct cursor c = { .to = to, .left = spindle_dds_head_bytes(keyed) };

	put32(&c, MAGIC | head->flags << 16);
	put32(&c, head->bytes);
	put64(&c, head->topic);
	put64(&c, head->writer);
	put64(&c, head->sequence);
	put64(&c, (uint64_t)head->time);
	if (keyed)
		put_bytes(&c, head->key, sizeof(head->key));
}

/* A key ends in one of two ways, and without bytes. */
static bool is_good(const struct spindle_dds_head *head)
{
	uint32_t end = head->flags & (SPINDLE_DDS_DISPOSE | SPINDLE_DDS_UNREGISTER);

	if (head->flags & ~FLAGS || !head->topic || !head->writer || !head->sequence)
		return false;
	return !end || (!head->bytes && end != (SPINDLE_DDS_DISPOSE | SPINDLE_DDS_UNREGISTER));
}

/**
 * spindle_dds_get_head() - decode the head of a sample
 * @head: out; undefined unless the return is true
 * @from: a message of a topic's subgroup; each byte of the head is read once, because its sender
 *	may change it
 * @len: bytes of the message
 *
 * Return: whether the message is a head and @head->bytes bytes.
 */
bool spindle_dds_get_head(struct spindle_dds_head *head, const uint8_t *from, size_t len)
{
	struct cursor c = { .from = from, .left = len };
	uint32_t word = get32(&c);

	memset(head, 0, sizeof(*head));
	head->flags = word >> 16;
	head->bytes = get32(&c);
	head->topic = get64(&c);
	head->writer = get64(&c);
	head->sequence = get64(&c);
	head->time = (int64_t)get64(&c);
	if (head->flags & SPINDLE_DDS_KEYED)
		get_bytes(&c, head->key, sizeof(head->key));
	return !c.bad && (word & 0xffff) == MAGIC && c.left == head->bytes && is_good(head);
}

/* Does the sample keep to what its writer and its topic say? */
static bool is_true(const struct spindle_dds_directory *d,
		    const struct spindle_dds_endpoint *writer,
		    const struct spindle_dds_endpoint *reader, const struct spindle_dds_head *head)
{
	bool keyed = head->flags & SPINDLE_DDS_KEYED;

	return head->bytes <= writer->qos.max_bytes &&
	       keyed == (bool)d->topic[reader->topic].topic.keyed;
}

/**
 * spindle_dds_judge() - is a sample for a reader?
 * @d: the directory
 * @reader: a reader of it that has not gone
 * @node: node that has sent the sample, as the kernel says
 * @head: its head
 *
 * A writer writes when its record has come back to it. The record may be on its way to this
 * participant then, because subgroups have no order among themselves. A writer that has gone is
 * still known, because samples that it wrote before may come after its end.
 *
 * Return: the verdict. With SPINDLE_DDS_AHEAD ask again when the directory has changed.
 */
enum spindle_dds_verdict spindle_dds_judge(const struct spindle_dds_directory *d,
					   const struct spindle_dds_endpoint *reader,
					   uint32_t node, const struct spindle_dds_head *head)
{
	const struct spindle_dds_endpoint *writer;

	if (head->topic != reader->topic_id)
		return SPINDLE_DDS_OTHER;
	if (head->writer > d->position)
		return SPINDLE_DDS_AHEAD;
	writer = spindle_dds_find_endpoint(d, head->writer);
	if (!writer || !writer->writer || writer->node != node ||
	    writer->topic_id != head->topic || !is_true(d, writer, reader, head))
		return SPINDLE_DDS_FALSE;
	if (spindle_dds_match(&writer->qos, &reader->qos) != SPINDLE_DDS_MATCH)
		return SPINDLE_DDS_OTHER;
	return SPINDLE_DDS_TAKE;
}
