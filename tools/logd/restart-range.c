// SPDX-License-Identifier: GPL-2.0-only
/*
 * The range of a view that the node has joined, from the record of another member (A5). See
 * restart.h. The members are asked one after the other, until one of them has the view in its
 * record.
 */
#include <string.h>

#include "logd.h"
#include "restart.h"

static bool waits(const struct logd_restart *r)
{
	unsigned int i;

	for (i = 0; i < r->count; i++)
		if (r->logs[i].pending.members && !r->logs[i].failed)
			return true;
	return false;
}

static void take_part(struct logd_restart *r, const struct spindle_restart_part *part)
{
	struct spindle_restart_keep *keep = ctl_alloc(sizeof(*keep));
	unsigned int i;

	memcpy(keep->lineage, r->report->lineage, sizeof(keep->lineage));
	keep->record = part->record;
	keep->path = part->path;
	for (i = 0; i < r->count; i++)
		if (r->logs[i].pending.members && r->logs[i].attach.subgroup == part->id)
			logd_take_range(&r->logs[i], keep);
	ctl_free(keep);
}

/* None of the members knows more, or none is there: the record says so. */
static void give_up(struct logd_restart *r, uint64_t now)
{
	unsigned int i;

	for (i = 0; i < r->count; i++)
		if (r->logs[i].pending.members && now - r->logs[i].pending_ms >= LOGD_RANGE_MS)
			logd_take_range(&r->logs[i], NULL);
}

static void ask_next(struct logd_restart *r, uint64_t now)
{
	struct logd_peers *p = r->peers;

	if (now - r->asked_ms < LOGD_ASK_MS)
		return;
	r->asked_ms = now;
	if (r->member >= p->places) {
		r->member = 0;
		logd_peers_refresh(p);
	}
	if (r->member < p->places)
		logd_restart_ask_record(r, &p->place[r->member++]);
}

/**
 * logd_restart_range_work() - ask for the range of views that wait for it
 * @r: the restart of a node that is in a view
 */
void logd_restart_range_work(struct logd_restart *r)
{
	uint64_t now;
	uint32_t i;

	if (!r->begun || !waits(r))
		return;
	now = peer_now_ms();
	peer_ask_work(&r->record.q);
	if (r->record.q.client.step == PEER_IDLE)
		ask_next(r, now);
	else if (logd_restart_take_record(r) > 0)
		for (i = 0; i < r->report->parts; i++)
			take_part(r, &r->report->part[i]);
	give_up(r, now);
}

/**
 * logd_restart_range_poll() - what the loop waits for
 * @r: the restart
 * @fd: filled; it stays where it is until logd_restart_range_work()
 * @ms: made less if the loop may not sleep so long; negative: for ever
 */
void logd_restart_range_poll(struct logd_restart *r, struct pollfd *fd, int *ms)
{
	*fd = (struct pollfd){ .fd = -1 };
	if (!r->begun || !waits(r))
		return;
	peer_client_poll(&r->record.q.client, fd, ms);
	if (*ms < 0 || *ms > (int)LOGD_ASK_MS)
		*ms = LOGD_ASK_MS;
}
