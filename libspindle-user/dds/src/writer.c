// SPDX-License-Identifier: MIT
/* Writers: a sample is built in the ring of the local sender, behind its head. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

/* ---- open and close ---------------------------------------------------------------- */

static int announce(struct spindle_dds_writer *w, const struct spindle_dds_topic *topic,
		    const struct spindle_dds_qos *qos)
{
	struct spindle_dds *p = w->p;
	const struct spindle_dds_endpoint *own;
	int err = lane_get(p, topic, qos, &w->lane);

	if (err)
		return err;
	err = dds_add(p, topic, qos, true, &w->head.writer);
	if (err)
		return err;
	own = spindle_dds_find_endpoint(p->directory, w->head.writer);
	if (!own)
		return dds_fail(p, -ENOTCONN, "others have taken this participant for dead");
	w->head.topic = own->topic_id;
	return 0;
}

int spindle_dds_writer_open(struct spindle_dds_writer **out, struct spindle_dds *p,
			    const struct spindle_dds_topic *topic,
			    const struct spindle_dds_qos *qos)
{
	struct spindle_dds_writer *w;
	int err;

	*out = NULL;
	err = dds_check(p, topic, qos);
	if (err)
		return err;
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
	spindle_dds_abandon(w);
	dds_remove(w->p, w->head.writer);
	lane_put(w->p, w->lane);
	free(w);
}

/* ---- samples ----------------------------------------------------------------------- */

static int64_t source_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int spindle_dds_loan(struct spindle_dds_writer *w, uint32_t len, void **data)
{
	uint32_t head = spindle_dds_head_bytes(w->keyed);
	int err = dds_is_lost(w->p);

	if (err)
		return err;
	if (w->begun)
		return dds_fail(w->p, -EBUSY, "the writer has a sample that was begun");
	if (len > w->max_bytes)
		return dds_fail(w->p, -EMSGSIZE, "the sample has %u bytes, and the writer has said "
				"at most %u", len, w->max_bytes);
	err = spindle_reserve(&w->lane->q, head + len, &w->slot);
	if (err == -EAGAIN)
		return dds_fail(w->p, err, "there is no room now");
	if (err)
		return dds_fail(w->p, err, "subgroup '%s' takes no messages", w->lane->name);
	w->begun = true;
	*data = (unsigned char *)w->slot.data + head;
	return 0;
}

/* Does @info fit to the topic, and to the length of the sample? */
static int check_info(struct spindle_dds_writer *w, uint32_t len,
		      const struct spindle_dds_info *info)
{
	uint32_t end = info->flags;

	if (w->keyed != !!info->key)
		return dds_fail(w->p, -EINVAL, "%s", w->keyed ?
				"the topic has keys, and the sample has none" :
				"the topic has no keys, and the sample has one");
	if (info->resv || (end && end != SPINDLE_DDS_DISPOSE && end != SPINDLE_DDS_UNREGISTER))
		return dds_fail(w->p, -EINVAL, "the flags of the sample are wrong");
	if (end && len)
		return dds_fail(w->p, -EINVAL, "a sample that ends its key has no bytes");
	return 0;
}

int spindle_dds_publish(struct spindle_dds_writer *w, uint32_t len,
			const struct spindle_dds_info *info)
{
	static const struct spindle_dds_info none;
	uint32_t head = spindle_dds_head_bytes(w->keyed);
	int err;

	if (!w->begun)
		return dds_fail(w->p, -EINVAL, "no sample was begun");
	if (len > w->slot.len - head)
		return dds_fail(w->p, -EMSGSIZE, "the sample was begun with %u bytes, not %u",
				w->slot.len - head, len);
	if (!info)
		info = &none;
	err = check_info(w, len, info);
	if (err)
		return err;
	w->head.flags = info->flags | (info->key ? SPINDLE_DDS_KEYED : 0);
	if (info->key)
		memcpy(w->head.key, info->key, sizeof(w->head.key));
	w->head.bytes = len;
	w->head.sequence++;
	w->head.time = info->time ? info->time : source_time();
	spindle_dds_put_head(&w->head, w->slot.data);
	w->begun = false;
	return spindle_commit(&w->lane->q, &w->slot, head + len);
}

void spindle_dds_abandon(struct spindle_dds_writer *w)
{
	if (w->begun)
		spindle_abandon(&w->lane->q, &w->slot);
	w->begun = false;
}

int spindle_dds_write(struct spindle_dds_writer *w, const void *data, uint32_t len,
		      const struct spindle_dds_info *info)
{
	void *to;
	int err = spindle_dds_loan(w, len, &to);

	if (err)
		return err;
	if (len)
		memcpy(to, data, len);
	err = spindle_dds_publish(w, len, info);
	if (err)
		spindle_dds_abandon(w);
	return err;
}

int spindle_dds_writer_fd(const struct spindle_dds_writer *w)
{
	return spindle_fd(&w->lane->q);
}

int spindle_dds_flush(struct spindle_dds_writer *w, int timeout_ms)
{
	int err;

	if (w->begun)
		return dds_fail(w->p, -EBUSY, "the writer has a sample that was begun");
	err = spindle_drain(&w->lane->q, timeout_ms);
	return err ? dds_fail(w->p, err, "not all members have the samples of subgroup '%s'",
			      w->lane->name) : 0;
}

void spindle_dds_writer_status(const struct spindle_dds_writer *w, struct spindle_dds_status *st)
{
	dds_status(w->p, w->head.writer, st);
}
