// SPDX-License-Identifier: MIT
/*
 * Participants that have gone without a word: with their node, or because their process was
 * killed. A participant with a lease sends a heartbeat in each third of it, from a thread. One of
 * the others says GONE, and the order of the control subgroup makes all agree.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

/* ---- heartbeats -------------------------------------------------------------------- */

static void *beat(void *arg)
{
	struct spindle_dds *p = arg;
	const struct spindle_dds_record record = { .kind = SPINDLE_DDS_BEAT, .id = p->id };
	struct pollfd stop = { .fd = p->stop, .events = POLLIN };
	int ms = (int)(p->opts.lease_ms / 3);

	while (!poll(&stop, 1, ms))
		/* Without room for the record it is tried again sooner. */
		ms = (int)(p->opts.lease_ms / (dds_say(p, &record) ? 30 : 3));
	return NULL;
}

/* Begin to send heartbeats, if the participant has a lease. Return: 0, or an errno with words. */
int dds_beat_begin(struct spindle_dds *p)
{
	sigset_t all, before;
	int err;

	if (p->opts.lease_ms == SPINDLE_DDS_NO_LEASE)
		return 0;
	p->stop = eventfd(0, EFD_CLOEXEC);
	if (p->stop < 0)
		return dds_fail(p, -errno, "no descriptor for heartbeats");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&p->beat, NULL, beat, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	p->beats = !err;
	return err ? dds_fail(p, -err, "no thread for heartbeats") : 0;
}

/* Safe to call if dds_beat_begin() has failed, or was not called. */
void dds_beat_end(struct spindle_dds *p)
{
	if (p->beats) {
		eventfd_write(p->stop, 1);
		pthread_join(p->beat, NULL);
	}
	if (p->stop >= 0)
		close(p->stop);
	p->beats = false;
	p->stop = -1;
}

/* ---- those that are silent ------------------------------------------------------------ */

/* What was heard of the participant in an entry. One that is new was heard now. */
static struct heard *heard_of(struct spindle_dds *p, uint32_t i)
{
	struct heard *h = &p->heard[i];

	if (h->id != p->directory->participant[i].id)
		*h = (struct heard){ .id = p->directory->participant[i].id, .at = dds_now() };
	return h;
}

/* A message of a node has come, whatever its bytes are. */
void dds_heard(struct spindle_dds *p, uint32_t node)
{
	const struct spindle_dds_participant *other;

	other = spindle_dds_find_participant(p->directory, node);
	if (other)
		heard_of(p, (uint32_t)(other - p->directory->participant))->at = dds_now();
}

static bool is_silent(struct spindle_dds *p, const struct spindle_dds_participant *other)
{
	const struct heard *h = heard_of(p, (uint32_t)(other - p->directory->participant));

	return other->id != p->id && other->lease_ms && dds_now() - h->at > other->lease_ms;
}

static bool is_member(const struct spindle_view *v, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < v->members; i++)
		if (v->seat[i].node == node)
			return true;
	return false;
}

/*
 * One participant says of all that have gone: the first one of the view that is not silent. If that
 * goes as well, the next one does.
 */
static bool is_speaker(struct spindle_dds *p, const struct spindle_view *v)
{
	const struct spindle_dds_participant *other;
	uint32_t i;

	for (i = 0; i < v->members; i++) {
		other = spindle_dds_find_participant(p->directory, v->seat[i].node);
		if (other && !is_silent(p, other))
			return other->id == p->id;
	}
	return false;
}

/* Say GONE of participants that have gone. Without room for a record, the next call says it. */
void dds_look(struct spindle_dds *p)
{
	struct spindle_dds_record gone = { .kind = SPINDLE_DDS_GONE };
	const struct spindle_dds_participant *other;
	struct spindle_view v;
	struct heard *h;
	uint32_t i;

	if (!p->id || p->lost || spindle_view(spindle_replica_queue(p->replica), &v) ||
	    !is_speaker(p, &v))
		return;
	for (i = 0; i < SPINDLE_DDS_PARTICIPANTS; i++) {
		other = &p->directory->participant[i];
		h = heard_of(p, i);
		if (!other->id || h->said || (is_member(&v, other->node) && !is_silent(p, other)))
			continue;
		gone.id = other->id;
		h->said = !dds_say(p, &gone);
	}
}
