// SPDX-License-Identifier: MIT
/* Writers: a sample is built in the ring of the local sender, behind its head. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

static int64_t source_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int announce(struct spindle_dds_writer *w, const struct spindle_dds_topic *topic,
		    const struct spindle_dds_qos *qos)
{
	struct spindle_dds *p = w->p;
	int err = lane_get(p, topic, qos, &w->lane);

	if (err) {
		w->lane = NULL;
		return err;
	}
	err = dds_add(p, topic, qos, true, &w->head.writer);
	if (!err)
		w->head.topic = spindle_dds_find_endpoint(p->directory, w->head.writer)->topic_id;
	return err;
}

int spindle_dds_writer_open(struct spindle_dds_writer **out, struct spindle_dds *p,
			    const struct spindle_dds_topic *topic,
			    const struct spindle_dds_qos *qos)
{
	struct spindle_dds_writer *w;
	int err;

	*out = NULL;
	if (!spindle_dds_good_topic(topic) || !spindle_dds_good_qos(qos))
		return dds_fail(p, -EINVAL, "topic or QoS have a field that is out of range");
	w = calloc(1, sizeof(*w));
	if (!w)
		return dds_fail(p, -ENOMEM, "no memory");
	w->p = p;
	w->max_bytes = qos->max_bytes;
	w->keyed = topic->keyed;
	err = announce(w, topic, qos);
	if (err) {
		if (w->lane)
			lane_put(p, w->lane);
		free(w);
		return err;
	}
	w->next = p->writers;
	p->writers = w;
	*out = w;
	return 0;
}

void spindle_dds_writer_close(struct spindle_dds_writer *w)
{
	struct spindle_dds_writer **at;

	if (!w)
		return;
	for (at = &w->p->writers; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	if (w->begun)
		spindle_abandon(&w->lane->q, &w->slot);
	dds_remove(w->p, w->head.writer);
	lane_put(w->p, w->lane);
	free(w);
}

int spindle_dds_loan(struct spindle_dds_writer *w, uint32_t len, void **data)
{
	uint32_t head = spindle_dds_head_bytes(w->keyed);
	int err;

	if (w->begun)
		return dds_fail(w->p, -EBUSY, "the writer has a sample that was begun");
	if (len > w->max_bytes)
		return dds_fail(w->p, -EMSGSIZE, "the sample has %u bytes, and the writer has said "
				"at most %u", len, w->max_bytes);
	err = spindle_reserve(&w->lane->q, head + len, &w->slot);
	if (err)
		return dds_fail(w->p, err, "%s", err == -EAGAIN ? "there is no room now" :
				"the subgroup of the topic does not take messages");
	w->begun = true;
	w->head.bytes = len;
	*data = (unsigned char *)w->slot.data + head;
	return 0;
}

static int publish(struct spindle_dds_writer *w, const uint8_t *key, uint32_t flags)
{
	if (!w->begun || w->keyed != !!key)
		return dds_fail(w->p, -EINVAL, !w->begun ? "no sample was begun" :
				w->keyed ? "the topic has keys, and the sample has none" :
				"the topic has no keys");
	w->head.flags = flags | (key ? SPINDLE_DDS_KEYED : 0);
	if (key)
		memcpy(w->head.key, key, SPINDLE_DDS_HASH);
	w->head.sequence++;
	w->head.time = source_time();
	spindle_dds_put_head(&w->head, w->slot.data);
	w->begun = false;
	spindle_commit(&w->lane->q, &w->slot, w->slot.len);
	return 0;
}

int spindle_dds_publish(struct spindle_dds_writer *w, const uint8_t *key)
{
	return publish(w, key, 0);
}

static int send(struct spindle_dds_writer *w, const void *data, uint32_t len, const uint8_t *key,
		uint32_t flags)
{
	void *to;
	int err = spindle_dds_loan(w, len, &to);

	if (err)
		return err;
	if (len)
		memcpy(to, data, len);
	err = publish(w, key, flags);
	if (err) {
		spindle_abandon(&w->lane->q, &w->slot);
		w->begun = false;
	}
	return err;
}

int spindle_dds_write(struct spindle_dds_writer *w, const void *data, uint32_t len,
		      const uint8_t *key)
{
	return send(w, data, len, key, 0);
}

int spindle_dds_end_key(struct spindle_dds_writer *w, uint32_t flag, const uint8_t *key)
{
	if (flag != SPINDLE_DDS_DISPOSE && flag != SPINDLE_DDS_UNREGISTER)
		return dds_fail(w->p, -EINVAL, "a key is disposed of, or unregistered");
	return send(w, NULL, 0, key, flag);
}

uint32_t spindle_dds_writer_matched(const struct spindle_dds_writer *w)
{
	return spindle_dds_matched(w->p->directory, w->head.writer);
}
