// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durable: what a node does for the logs of a subgroup. See durable.h.
 */
#include <linux/ktime.h>
#include <linux/log2.h>

#include "above.h"
#include "base/engine.h"
#include "durable.h"
#include "event.h"
#include "history.h"
#include "installed.h"
#include "node.h"
#include "subgroup.h"

/* Bytes of the history that a subgroup begins with. */
static u32 first_history(const struct spindle_view_subgroup *cfg)
{
	u64 bytes = roundup_pow_of_two(4 * (u64)cfg->max_msg);

	return clamp_t(u64, bytes, SPINDLE_DEF_LOG_HISTORY, SPINDLE_MAX_HISTORY);
}

/**
 * spindle_logging_create() - make the history of a subgroup with logs
 * @sg: the subgroup, which the engine does not run yet, and which has no object in a former view
 *
 * The memory cgroup of the calling process is charged.
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -ENOMEM
 */
int spindle_logging_create(struct spindle_subgroup *sg)
{
	sg->logging.stall_ms = SPINDLE_DEF_LOG_STALL_MS;
	sg->logging.told = SPINDLE_LOG_LOGGING;
	sg->kept = spindle_kept_alloc(first_history(sg->cfg));
	if (!sg->kept)
		return -ENOMEM;
	spindle_mc_remember(&sg->mc, &sg->kept->history);
	return 0;
}

/* ---- engine ----------------------------------------------------------- */

static void say(const struct spindle_subgroup *sg, enum spindle_event_kind event,
		const char *reason)
{
	spindle_event(sg->inst->node, event, &(struct spindle_event_info){
		.vid = sg->inst->view.vid,
		.subgroup = sg->cfg,
		.lsn = sg->logging.persisted,
		.has_lsn = true,
		.reason = reason,
	});
}

/* Report that the log is fine again, if anything was reported before. */
static void look_at_health(struct spindle_subgroup *sg, u32 state)
{
	struct spindle_logging *l = &sg->logging;

	if (state != SPINDLE_LOG_LOGGING || l->lagging || l->told == SPINDLE_LOG_LOGGING)
		return;
	l->told = SPINDLE_LOG_LOGGING;
	say(sg, SPINDLE_EVENT_LOG_OK, NULL);
}

/* Report what the logger says about its disk, and that the history does not keep its messages. */
static void look_at_state(struct spindle_subgroup *sg)
{
	const struct spindle_durable *d = sg->mc.durable;
	struct spindle_logging *l = &sg->logging;
	u32 state = spindle_durable_state(d->member[d->me].word);

	if (d->given_up != l->given_up) {
		l->given_up = d->given_up;
		l->told = SPINDLE_LOG_BEHIND;
		say(sg, SPINDLE_EVENT_LOG_BEHIND,
		    "the history does not keep any more what the log has not persisted");
	}
	if (state == SPINDLE_LOG_FULL && state != l->told) {
		l->told = state;
		say(sg, SPINDLE_EVENT_LOG_FULL, NULL);
	}
	/* A counter, because the logger goes when its disk has failed, and its state with it. */
	if (d->failed != l->failed) {
		l->failed = d->failed;
		l->told = SPINDLE_LOG_FAILED;
		say(sg, SPINDLE_EVENT_LOG_FAILED, NULL);
	}
	look_at_health(sg, state);
}

/* The log has persisted nothing for too long: name it, and do what the policy says. */
static void report_stall(struct spindle_subgroup *sg)
{
	struct spindle_logging *l = &sg->logging;
	char reason[96];

	l->lagging = true;
	l->told = SPINDLE_LOG_NONE;
	snprintf(reason, sizeof(reason), "%s has persisted nothing for %u ms",
		 sg->mc.durable->words ? "the log" : "there is no logger, and the log",
		 l->stall_ms);
	say(sg, SPINDLE_EVENT_LOG_LAGGING, reason);
	if (l->on_stall == SPINDLE_ON_LOG_STALL_FORGET)
		spindle_durable_give_up(&sg->mc);
	else if (l->on_stall == SPINDLE_ON_LOG_STALL_LEAVE)
		spindle_membership->leave(sg->inst->live);
	spindle_subgroup_touch(sg);
	spindle_engine_wake(sg->inst->node->engine);
}

/**
 * spindle_logging_set() - set what happens to a log that stands still
 * @l: the logs of a subgroup
 * @stall_ms: time after which it is named; 0: never
 * @on_stall: enum spindle_on_log_stall
 *
 * With other values than before, a log that was named already is looked at again.
 */
void spindle_logging_set(struct spindle_logging *l, u32 stall_ms, u32 on_stall)
{
	if (l->stall_ms != stall_ms || l->on_stall != on_stall)
		l->lagging = false;
	l->stall_ms = stall_ms;
	l->on_stall = on_stall;
}

/* Since when has the durable position stood still? For people, so that they see how long. */
static void look_at_durable(struct spindle_subgroup *sg, u64 now)
{
	const struct spindle_durable *d = sg->mc.durable;
	struct spindle_logging *l = &sg->logging;

	if (d->durable == l->durable && d->durable != sg->mc.deliver.lsn && l->durable_ns)
		return;
	l->durable = d->durable;
	WRITE_ONCE(l->durable_ns, d->durable == sg->mc.deliver.lsn ? 0 : now);
}

/**
 * spindle_logging_watch() - report a log that stands still
 * @sg: a subgroup with logs
 *
 * Return: true if the caller has to call this again after a while, even without an event
 */
bool spindle_logging_watch(struct spindle_subgroup *sg)
{
	const struct spindle_durable *d = sg->mc.durable;
	u64 persisted = d->member[d->me].word[SPINDLE_LOG_COL_PERSISTED];
	bool has_some = persisted < sg->mc.deliver.lsn;
	struct spindle_logging *l = &sg->logging;
	u64 now = ktime_get_ns();

	spindle_engine_assert(sg->inst->node->engine);
	look_at_durable(sg, now);
	/* The time begins when there are messages, and again with each progress. */
	if (persisted != l->persisted || has_some != l->has_some) {
		l->persisted = persisted;
		l->has_some = has_some;
		l->since_ns = now;
		l->lagging = false;
	}
	look_at_state(sg);
	if (!has_some || !l->stall_ms || l->lagging)
		return false;
	if (now - l->since_ns >= l->stall_ms * (u64)NSEC_PER_MSEC)
		report_stall(sg);
	return true;
}
