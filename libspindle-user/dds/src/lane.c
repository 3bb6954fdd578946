// SPDX-License-Identifier: MIT
/* The subgroups of topics: their names, what they have to be able to do, and their senders. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The subgroup that carries a topic. A shared one follows from level and name. */
static void name_of(const struct spindle_dds *p, const struct spindle_dds_topic *topic,
		    char name[SPINDLE_DDS_SUBGROUP])
{
	uint64_t n = spindle_dds_name_hash(topic->name) % p->directory->shared;

	if (topic->subgroup[0])
		memcpy(name, topic->subgroup, SPINDLE_DDS_SUBGROUP);
	else
		snprintf(name, SPINDLE_DDS_SUBGROUP, "dds-%s-%u",
			 spindle_dds_level_string(topic->level), (unsigned int)n);
}

/* Features that the subgroup of a topic needs. A sender shows only some of them. */
static uint64_t features_of(uint32_t level, uint32_t flags)
{
	uint64_t features = level == SPINDLE_DDS_UNORDERED ? 0 : SPINDLE_FEAT_ORDERED;

	if (level >= SPINDLE_DDS_TRANSIENT && flags & SPINDLE_ATTACH_RECV)
		features |= SPINDLE_FEAT_HISTORY;
	if (level == SPINDLE_DDS_PERSISTENT)
		features |= SPINDLE_FEAT_LOG | SPINDLE_FEAT_GATE;
	return features;
}

static int check(struct spindle_dds *p, const struct spindle_queue *q, const char *name,
		 const struct spindle_dds_topic *topic, const struct spindle_dds_qos *qos,
		 uint32_t flags)
{
	uint64_t features = features_of(topic->level, flags);
	uint32_t head = spindle_dds_head_bytes(topic->keyed);

	if ((q->features & features) != features)
		return dds_fail(p, -EOPNOTSUPP, "subgroup '%s' cannot carry topics of level %s",
				name, spindle_dds_level_string(topic->level));
	if (flags & SPINDLE_ATTACH_SEND &&
	    (q->max_msg < head || qos->max_bytes > q->max_msg - head))
		return dds_fail(p, -EMSGSIZE, "samples of %u bytes do not fit into messages of "
				"subgroup '%s', which have up to %u", qos->max_bytes, name,
				q->max_msg);
	return 0;
}

/*
 * Attach to the subgroup of a topic. A reader that wants samples from before begins with the oldest
 * message. Return: 0; or a negative errno with words, and nothing is attached.
 */
int dds_attach(struct spindle_dds *p, struct spindle_queue *q,
	       const struct spindle_dds_topic *topic, const struct spindle_dds_qos *qos,
	       uint32_t flags)
{
	bool old = flags & SPINDLE_ATTACH_RECV && qos->level >= SPINDLE_DDS_TRANSIENT && qos->depth;
	char name[SPINDLE_DDS_SUBGROUP], why[WHY_BYTES - 80];
	struct spindle_attach_opts o = {
		.device = p->opts.device, .node = p->opts.node, .name = name, .flags = flags,
		.want = old ? SPINDLE_WANT_OLDEST : 0,
	};
	int err;

	name_of(p, topic, name);
	err = spindle_attach(q, &o);
	if (err)
		return dds_fail(p, err, "subgroup '%s': %s", name,
				spindle_attach_strerror(q, &o, err, why, sizeof(why)));
	err = check(p, q, name, topic, qos, flags);
	if (err)
		spindle_detach(q);
	return err;
}

/* The local sender of the subgroup of a topic, which one more writer uses. */
int lane_get(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	     const struct spindle_dds_qos *qos, struct lane **out)
{
	char name[SPINDLE_DDS_SUBGROUP];
	struct lane *lane;
	int err;

	name_of(p, topic, name);
	for (lane = p->lanes; lane && strcmp(lane->name, name); lane = lane->next)
		;
	*out = lane;
	if (lane) {
		err = check(p, &lane->q, name, topic, qos, SPINDLE_ATTACH_SEND);
		lane->writers += !err;
		return err;
	}
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return dds_fail(p, -ENOMEM, "no memory");
	err = dds_attach(p, &lane->q, topic, qos, SPINDLE_ATTACH_SEND);
	if (err) {
		free(lane);
		return err;
	}
	memcpy(lane->name, name, sizeof(lane->name));
	lane->writers = 1;
	lane->next = p->lanes;
	p->lanes = lane;
	*out = lane;
	return 0;
}

/* A writer uses it no more. The last one detaches the sender. */
void lane_put(struct spindle_dds *p, struct lane *lane)
{
	struct lane **at = &p->lanes;

	if (--lane->writers)
		return;
	while (*at != lane)
		at = &(*at)->next;
	*at = lane->next;
	/* What was committed is sent, unless others do not read. */
	spindle_drain(&lane->q, (int)p->opts.timeout_ms);
	spindle_detach(&lane->q);
	free(lane);
}
