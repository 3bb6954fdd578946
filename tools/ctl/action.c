// SPDX-License-Identifier: GPL-2.0-only
/* Advice about a live view. See report.h. */
#include <string.h>

#include <linux/spindle_genl.h>

#include "common/util.h"
#include "report.h"

/* A member lags if its lag is at least LAG_MIN and LAG_TIMES the second largest lag. */
#define LAG_MIN		64
#define LAG_TIMES	4

/* The other members of the view for which @is holds. */
static struct ctl_ids members_that(const struct ctl_status *s,
				   bool (*is)(const struct ctl_status_member *m))
{
	struct ctl_ids ids = { .set = true };
	unsigned int i;

	for (i = 0; i < s->members; i++)
		if (s->member[i].rank.set && s->member[i].id != s->node && is(&s->member[i]))
			ctl_ids_add(&ids, s->member[i].id);
	return ids;
}

static bool is_away(const struct ctl_status_member *m)
{
	return m->state.set && m->state.num != SPINDLE_PEER_UP;
}

static const char *forming(const struct ctl_status *s)
{
	struct ctl_ids away = members_that(s, is_away);

	if (!away.count)
		return NULL;
	return ctl_asprintf("Not connected: %s. Set the same view there, too; 'spindle-ctl stats node %llu' says why a connection fails.",
			    ctl_ids_text(&away), (unsigned long long)s->node);
}

/*
 * If an even number of members loses half of them, neither half is a majority. So the text advises
 * a witness on one more host.
 */
static const char *minority(const struct ctl_status *s, const char *join)
{
	unsigned int n = ctl_report_ranked(s);
	const char *advice = "";

	if (n && !(n & 1))
		advice = ". A witness on one more host lets one half go on: Witness in FILE";
	return ctl_asprintf("Too few members were left: only a majority goes on. Check the network. If others go on: %s; if none does, begin a new view, on one host: spindle-ctl apply --bootstrap FILE%s",
			    join, advice);
}

/* The advice for a stopped node depends on the reason. */
static const char *stopped(const struct ctl_status *s)
{
	const char *join = ctl_asprintf("spindle-ctl node join id %llu contact ADDRESS",
					(unsigned long long)s->node);

	switch (s->why) {
	case SPINDLE_WHY_LEFT:
		return NULL;
	case SPINDLE_WHY_MINORITY:
		return minority(s, join);
	case SPINDLE_WHY_EVICTED:
		return ctl_asprintf("The other members have gone on without it. To have it back: %s",
				    join);
	case SPINDLE_WHY_LAYOUT:
		return "The rules of the subgroups have no next view. "
		       "Add nodes or ask for less with 'min' and 'shards', then set a new view.";
	case SPINDLE_WHY_LIED:
		return ctl_asprintf("The node wrote what no correct member writes. Look at the kernel log, then: %s",
				    join);
	}
	return ctl_asprintf("The node is no member any more. To have it back: %s", join);
}

/* The member whose lag is far larger than that of all others, or NULL. */
static const struct ctl_status_member *laggard(const struct ctl_status *s)
{
	const struct ctl_status_member *most = NULL, *m;
	uint64_t second = 0;

	for (m = s->member; m < s->member + s->members; m++) {
		if (!m->rank.set)
			continue;
		if (!most || m->lag > most->lag) {
			second = most ? most->lag : 0;
			most = m;
		} else if (m->lag > second) {
			second = m->lag;
		}
	}
	return most && most->lag >= LAG_MIN && most->lag / LAG_TIMES >= second ? most : NULL;
}

static const char *running(const struct ctl_status *s)
{
	struct ctl_ids suspects = members_that(s, ctl_status_suspects);
	const struct ctl_status_member *slow = laggard(s);

	if (suspects.count)
		return ctl_asprintf("Suspected: %s. The view goes on without a member that does not come back; check the host and the network.",
				    ctl_ids_text(&suspects));
	if (slow)
		return ctl_asprintf("Member %llu lags, and senders may wait for it. To see the readers there: spindle-ctl subgroup show -v",
				    (unsigned long long)slow->id);
	return NULL;
}

/* Advice for a node that is in no live view. */
static const char *outside(const struct ctl_status *s)
{
	unsigned long long id = s->node;

	if (s->is_dead)
		return ctl_asprintf("The address of the node needs an RDMA device, see 'rdma link'. Then remove it: spindle-ctl node del id %llu, add it again and have it join; or: spindle-ctl apply FILE --replace",
				    id);
	if (strstr(s->reason, "another lineage") || strstr(s->reason, " era of this group"))
		return ctl_asprintf("The others have begun apart from the view that it was in, or stand in another group. To join them all the same: spindle-ctl view del node %llu, then spindle-ctl node join id %llu contact ADDRESS",
				    id, id);
	if (*s->reason)
		return ctl_asprintf("The node does not try again. To try again: spindle-ctl node join id %llu contact ADDRESS",
				    id);
	return NULL;
}

/**
 * ctl_report_action() - advice that follows from a status
 * @s: status
 *
 * Return: one or two sentences, or NULL if there is nothing to do
 */
const char *ctl_report_action(const struct ctl_status *s)
{
	if (!s->is_live)
		return outside(s);
	switch (s->state) {
	case SPINDLE_LIVE_FORMING:
		return forming(s);
	case SPINDLE_LIVE_JOINING:
		if (s->contacts && !s->members)
			return ctl_asprintf("The node asks again and again. If no node is in a view at all, begin one, on one host: spindle-ctl apply --bootstrap FILE; to give up: spindle-ctl node leave id %llu",
					    (unsigned long long)s->node);
		return ctl_asprintf("The node waits until the members let it in. If that takes long, see 'spindle-ctl status' at the contact; to give up: spindle-ctl node leave id %llu",
				    (unsigned long long)s->node);
	case SPINDLE_LIVE_ACTIVE:
	case SPINDLE_LIVE_CHANGING:
		return running(s);
	case SPINDLE_LIVE_STOPPED:
		return stopped(s);
	}
	return NULL;
}
