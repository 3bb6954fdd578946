// SPDX-License-Identifier: GPL-2.0-only
/*
 * A forced restart: the consent of the administrator, and the restart that it is about. See
 * restart.h.
 *
 * The own reports may make that restart. Otherwise another node has it: one whose reports make it,
 * or one of the group that has begun by it.
 */
#include <string.h>

#include "logd.h"
#include "restart.h"

static bool is_same(const uint64_t *code, const uint64_t *other)
{
	return code[0] == other[0] && code[1] == other[1];
}

/**
 * logd_restart_heard() - another node says what could be forced
 * @r: the restart
 * @node: id of the node
 * @force: what it says
 * @begun: its group has begun by that
 *
 * What the administrator has consented to is kept. A group that has begun is shown.
 */
void logd_restart_heard(struct logd_restart *r, uint32_t node,
			const struct spindle_restart_force *force, bool begun)
{
	struct logd_heard *h = r->heard;
	uint64_t code[2];

	if (!logd_force_name(force, code))
		return;
	if (r->consents && !is_same(code, r->consent) && (!begun || h->is))
		return;
	if (!r->consents && !begun)
		return;
	h->is = true;
	h->begun = begun;
	h->node = node;
	memcpy(h->code, code, sizeof(code));
	h->force = *force;
}

/**
 * logd_restart_left() - is there a group that has begun by a forced restart of this one?
 * @r: the restart
 *
 * Return: what a node of that group says; NULL: none answers.
 */
const struct logd_heard *logd_restart_left(struct logd_restart *r)
{
	const struct attempt_peer *peer = NULL;

	if (r->heard->is && r->heard->begun)
		peer = attempt_find(&r->attempt, r->heard->node);
	return peer && peer->here && peer->left ? r->heard : NULL;
}

/* The restart that the administrator has consented to; NULL: it is not known yet. */
static const struct spindle_restart_force *find_force(const struct logd_restart *r)
{
	const struct attempt *a = &r->attempt;
	uint64_t code[2];

	if (a->forced && logd_force_name(a->force, code) && is_same(code, r->consent))
		return a->force;
	return r->heard->is && is_same(r->heard->code, r->consent) ? &r->heard->force : NULL;
}

static bool may_move(const struct logd_restart *r)
{
	return r->attempt.state == ATTEMPT_LOOK || r->attempt.state == ATTEMPT_PREPARE;
}

/**
 * logd_restart_force() - follow a forced restart, if the administrator has consented to it
 * @r: the restart
 * @now: milliseconds
 *
 * Return: whether the node is of another lineage now, and has to begin again.
 */
bool logd_restart_force(struct logd_restart *r, uint64_t now)
{
	const struct spindle_restart_force *force;

	if (!may_move(r) || now < r->consent_ms)
		return false;
	r->consent_ms = now + LOGD_LOOK_MS;
	r->consents = logd_state_consent(r->state, r->consent);
	force = r->consents ? find_force(r) : NULL;
	r->attempt.wants = r->consents && !force;
	if (!force)
		return false;
	r->moved = logd_state_force(r->state, force);
	if (r->moved)
		return true;
	if (r->state->failed)
		attempt_move(&r->attempt, ATTEMPT_FAILED, now);
	else
		logd_restart_tell(r, "%s", r->state->why);
	r->consent_ms = now + LOGD_ERROR_MS;
	return false;
}
