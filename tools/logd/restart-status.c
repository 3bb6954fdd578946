// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file DIR/NODE/restart: how far a total restart is, and whom it waits for. See restart.h.
 *
 * The file is for people and programs of this machine. No decision depends on it, so it is not
 * synced.
 */
#include <stdio.h>
#include <string.h>

#include "logd.h"
#include "restart.h"

bool logd_restart_force(void *arg, const struct spindle_restart_ballot *ballot,
			const struct spindle_restart_report *const *report, uint32_t reports,
			struct spindle_restart_answer *answer)
{
	(void)arg;
	(void)ballot;
	(void)report;
	(void)reports;
	(void)answer;
	return false;
}

void logd_restart_show(struct logd_restart *r, uint64_t now)
{
	r->shown_ms = now;
}
