// SPDX-License-Identifier: MIT
/* What the directory says of topics, writers and readers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void describe(const struct spindle_dds_directory *d, const struct spindle_dds_entry *t,
		     struct spindle_dds_topic_info *info)
{
	uint32_t i;

	*info = (struct spindle_dds_topic_info){ .id = t->id, .topic = t->topic };
	for (i = t->endpoints.first; i != SPINDLE_DDS_NONE; i = d->endpoint[i].of_topic.next) {
		info->writers += d->endpoint[i].writer;
		info->readers += !d->endpoint[i].writer;
	}
}

static int by_id(const void *a, const void *b)
{
	const struct spindle_dds_entry *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

uint32_t spindle_dds_topics(struct spindle_dds *p, struct spindle_dds_topic_info *info, uint32_t n)
{
	const struct spindle_dds_entry *found[SPINDLE_DDS_TOPICS];
	const struct spindle_dds_directory *d = p->directory;
	uint32_t i, have = 0;

	for (i = 0; i < SPINDLE_DDS_TOPICS; i++)
		if (d->topic[i].id)
			found[have++] = &d->topic[i];
	qsort(found, have, sizeof(found[0]), by_id);
	for (i = 0; i < have && i < n; i++)
		describe(d, found[i], &info[i]);
	return have;
}

int spindle_dds_find(struct spindle_dds *p, const char *name, struct spindle_dds_topic_info *info)
{
	const struct spindle_dds_entry *t = spindle_dds_find_topic(p->directory, name);

	if (!t)
		return dds_fail(p, -ENOENT, "there is no topic '%s'", name);
	describe(p->directory, t, info);
	return 0;
}

/* Fill the counts and the words of a status. All else is 0. */
void dds_status(const struct spindle_dds *p, uint64_t id, struct spindle_dds_status *st)
{
	const struct spindle_dds_endpoint *own = spindle_dds_find_endpoint(p->directory, id);
	struct spindle_dds_counts n = spindle_dds_count(p->directory, id);

	*st = (struct spindle_dds_status){ .matched = n.matched, .mismatched = n.mismatched };
	if (!n.first)
		return;
	st->other = n.first->id;
	spindle_dds_match_words(own->writer ? &own->qos : &n.first->qos,
				own->writer ? &n.first->qos : &own->qos, st->why, sizeof(st->why));
}
