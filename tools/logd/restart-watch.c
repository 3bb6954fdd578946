// SPDX-License-Identifier: GPL-2.0-only
/*
 * The group file of a node that is in a view. See restart.h. A log has a record of each view of its
 * subgroup, but the group may have a new view without that, and other tuning without any view.
 */
#include "logd.h"
#include "restart.h"

/**
 * logd_restart_watch() - have the present view and tuning in the group file, now and then
 * @r: the restart
 *
 * Nothing is written while nothing changes.
 *
 * Return: whether the process may go on; a sentence says why not.
 */
bool logd_restart_watch(struct logd_restart *r)
{
	uint64_t now = peer_now_ms();
	int kept;

	if (!r->logs || now - r->watched_ms < (r->watch_failed ? LOGD_ERROR_MS : LOGD_WATCH_MS))
		return true;
	r->watched_ms = now;
	kept = logd_peers_keep(r->peers, r->state);
	r->watch_failed = !kept;
	return kept >= 0;
}
