// SPDX-License-Identifier: GPL-2.0-only
/* Waiting for the result of a request. See wait.h. */
#include <errno.h>
#include <string.h>

#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/clock.h"
#include "common/live.h"
#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"
#include "diff.h"
#include "report.h"
#include "wait.h"

/* How often the status is requested if the events are not sufficient. */
#define POLL_MS		200

const struct ctl_key ctl_timeout_key =
	CTL_KEY("timeout", NULL, U32, 0, .min = 1, .max = 86400, .def = CTL_WAIT_DEF_S);

/**
 * enum ctl_wait_end - progress of a wait
 */
enum ctl_wait_end {
	/** @CTL_WAIT_MORE: continue to wait */
	CTL_WAIT_MORE,
	/** @CTL_WAIT_LOOK: the status has to decide */
	CTL_WAIT_LOOK,
	/** @CTL_WAIT_DONE: the requested result is there */
	CTL_WAIT_DONE,
	/** @CTL_WAIT_FAILED: the requested result cannot come any more */
	CTL_WAIT_FAILED,
	/** @CTL_WAIT_TIMEOUT: the time is over */
	CTL_WAIT_TIMEOUT
};

static enum ctl_wait_end failed(struct ctl_wait *w, const char *reason)
{
	w->reason = reason && *reason ? reason : "the kernel does not say why";
	return CTL_WAIT_FAILED;
}

/*
 * The node is in no live view. A request to leave is done, for whatever reason; all others failed.
 */
static enum ctl_wait_end gone(struct ctl_wait *w, const char *reason)
{
	return w->how == CTL_WAIT_LEAVE ? CTL_WAIT_DONE : failed(w, reason);
}

/* An event has a reason, or an error, or both. */
static const char *why(const struct ctl_event *ev)
{
	return *ev->reason ? ev->reason : ctl_error_text(ev->error);
}

/* What does an event mean for the command? */
static enum ctl_wait_end take_event(struct ctl_wait *w, const struct ctl_event *ev)
{
	if (ev->node != w->node)
		return CTL_WAIT_MORE;
	switch (ev->kind) {
	case SPINDLE_EVENT_VIEW_INSTALL:
		if (w->how == CTL_WAIT_LEAVE)
			return CTL_WAIT_MORE;
		w->vid = ev->vid;
		/* Another change may have come first, so look at this view. */
		return w->how == CTL_WAIT_JOIN ? CTL_WAIT_DONE : CTL_WAIT_LOOK;
	case SPINDLE_EVENT_RULES_FAILED:
		return w->how == CTL_WAIT_CHANGE ? failed(w, why(ev)) : CTL_WAIT_MORE;
	case SPINDLE_EVENT_JOIN_FAILED:
	case SPINDLE_EVENT_STOPPED:
		return gone(w, why(ev));
	case SPINDLE_EVENT_VIEW_REMOVE:
		/*
		 * This event also comes with each change, and a node that joins may have had a view
		 * before.
		 */
		return CTL_WAIT_LOOK;
	case SPINDLE_EVENT_NODE_DEL:
		return gone(w, "the node was removed");
	case SPINDLE_EVENT_NODE_DEAD:
		return gone(w, "the node lost its RDMA device");
	}
	return CTL_WAIT_MORE;
}

static enum ctl_wait_end evicted(struct ctl_wait *w, const struct ctl_status *s)
{
	const struct ctl_status_member *m = ctl_status_member(s, w->peer);

	if (s->state != SPINDLE_LIVE_ACTIVE && s->state != SPINDLE_LIVE_FORMING)
		return CTL_WAIT_MORE;
	/* An evicted peer may ask to join again at once. It has no rank then. */
	return m && m->rank.set ? CTL_WAIT_MORE : CTL_WAIT_DONE;
}

/* Is a subgroup of the view gone, or has it the rules that were asked for? */
static bool is_made(const struct ctl_wait *w, const struct ctl_view *view,
		    const struct ctl_change *change)
{
	const struct ctl_view now = ctl_live_asked(view);
	uint64_t id = change->sg->val[CTL_SG_ID].num;
	const struct ctl_subgroup *is = ctl_view_subgroup(&now, id);

	/* The id may be that of any shard, of which @now has only the first. */
	if (change->attr == SPINDLE_A_REMOVE)
		return !ctl_view_subgroup(view, id);
	return is && !ctl_rule_diff(&now, is, w->view, change->sg);
}

/* Has the view of the node changed as asked? Without an answer the wait goes on. */
static enum ctl_wait_end changed(struct ctl_wait *w)
{
	struct ctl_val id = ctl_val_num(w->node);
	struct ctl_running *running;
	unsigned int count, i;

	if (ctl_fetch(&w->net, w->what, &id, &running, &count, true) || !count)
		return CTL_WAIT_MORE;
	for (i = 0; i < w->changes; i++)
		if (!is_made(w, &running->view, &w->change[i]))
			return CTL_WAIT_MORE;
	return CTL_WAIT_DONE;
}

/* Request the status of the node, which is NULL if there is no such node any more. */
static const struct ctl_status *fetch(struct ctl_wait *w)
{
	struct ctl_val id = ctl_val_num(w->node);
	struct ctl_status *status;
	unsigned int count;

	if (ctl_fetch_status(&w->net, w->what, &id, CTL_SAY, &status, &count) || !count)
		return NULL;
	return status;
}

/* What does the status mean for the command? */
static enum ctl_wait_end look(struct ctl_wait *w)
{
	const struct ctl_status *s = fetch(w);
	enum ctl_wait_end end = CTL_WAIT_MORE;

	w->status = s;
	if (!s)
		return gone(w, "the node was removed");
	if (!s->is_live)
		return gone(w, *s->reason ? s->reason :
			    "the node is in no live view, and joins none");
	if (s->state == SPINDLE_LIVE_STOPPED)
		return gone(w, s->reason);
	if (w->how == CTL_WAIT_EVICT)
		end = evicted(w, s);
	else if (w->how == CTL_WAIT_CHANGE)
		end = changed(w);
	else if (w->how == CTL_WAIT_JOIN && s->state != SPINDLE_LIVE_JOINING)
		end = CTL_WAIT_DONE;
	if (end == CTL_WAIT_DONE)
		w->vid = s->vid;
	return end;
}

/*
 * Wait for the next event. Return: 1: there is one, 0: none came in time, -ENOBUFS: some are lost,
 * or another -errno.
 */
static int next_event(struct ctl_wait *w, int timeout_ms, struct ctl_event *ev)
{
	struct nlattr *a[SPINDLE_A_MAX + 1];
	struct nlmsghdr *nlh;

	if (!nlmsg_ok(w->nlh, w->len)) {
		w->len = ctl_event_recv(&w->events, timeout_ms, &w->nlh);
		if (w->len < 0)
			return w->len;
	}
	while (nlmsg_ok(w->nlh, w->len)) {
		nlh = w->nlh;
		w->nlh = nlmsg_next(nlh, &w->len);
		if (ctl_event_attrs(&w->events, nlh, a)) {
			ctl_event_get(ev, a);
			return 1;
		}
	}
	return 0;
}

/* Wait for one event. If events are not sufficient, request the status as well. */
static enum ctl_wait_end step(struct ctl_wait *w, uint64_t left)
{
	uint64_t wait = w->polls && left > POLL_MS ? POLL_MS : left;
	enum ctl_wait_end end = CTL_WAIT_MORE;
	struct ctl_event ev;
	int rc;

	rc = next_event(w, wait, &ev);
	if (rc == -ENOBUFS)
		w->polls = true;
	else if (rc < 0)
		return failed(w, strerror(-rc));
	else if (rc)
		end = take_event(w, &ev);
	/* After one look the state may change without an event about it. */
	if (end == CTL_WAIT_LOOK)
		w->polls = true;
	if (end == CTL_WAIT_LOOK || (end == CTL_WAIT_MORE && rc <= 0 && w->polls))
		end = look(w);
	return end;
}

static enum ctl_wait_end wait_for(struct ctl_wait *w)
{
	uint64_t end_ms = perf_monotonic_ms() + w->timeout_ms, now;
	enum ctl_wait_end end = CTL_WAIT_MORE;

	while (end == CTL_WAIT_MORE) {
		now = perf_monotonic_ms();
		if (now >= end_ms) {
			end = look(w);
			return end == CTL_WAIT_MORE ? CTL_WAIT_TIMEOUT : end;
		}
		end = step(w, end_ms - now);
	}
	return end;
}

/* The present state, for a wait that took too long. */
static const char *now_text(const struct ctl_wait *w)
{
	const struct ctl_status *s = w->status;

	return ctl_asprintf("%s%s%s", ctl_report_state(s), *s->reason ? ": " : "",
			    ctl_clean(s->reason));
}

/* Wait for the result, and complain if it is another one. Returns an exit code. */
static int run(struct ctl_wait *w)
{
	enum ctl_wait_end end = wait_for(w);
	const char *action;

	if (end == CTL_WAIT_DONE)
		return CTL_OK;
	if (end != CTL_WAIT_TIMEOUT) {
		ctl_err("%s: %s", w->what, ctl_clean(w->reason));
		return CTL_FAILED;
	}
	ctl_err("%s: not done after %llu seconds, but it goes on; node %llu is %s", w->what,
		(unsigned long long)w->timeout_ms / 1000, (unsigned long long)w->node,
		now_text(w));
	action = ctl_report_action(w->status);
	if (action)
		ctl_err("%s", action);
	return CTL_FAILED;
}

/**
 * ctl_wait_ask() - send a request and wait for its result
 * @w: the wait
 * @req: the request
 *
 * The socket for events listens before the request is sent, so that no event is missed.
 *
 * Return: exit code
 */
int ctl_wait_ask(struct ctl_wait *w, struct ctl_req *req)
{
	if (ctl_net_open(&w->events, CTL_SAY) ||
	    ctl_event_join(&w->events, w->what, false) < 0 ||
	    ctl_net_call(&w->net, req, NULL, CTL_SAY))
		return CTL_FAILED;
	return run(w);
}

/**
 * ctl_wait_command() - send the request of a command, and print its result with -j
 * @w: the wait
 * @req: the request
 * @wait: wait; false: the request is enough
 *
 * Return: exit code
 */
int ctl_wait_command(struct ctl_wait *w, struct ctl_req *req, bool wait)
{
	struct json_object *obj;
	int rc;

	if (!wait)
		return ctl_net_call(&w->net, req, NULL, CTL_SAY) ? CTL_FAILED : CTL_OK;
	rc = ctl_wait_ask(w, req);
	if (rc || !ctl_opts.json || !w->vid)
		return rc;
	obj = json_object_new_object();
	ctl_json_add(obj, "vid", ctl_json_num(w->vid));
	ctl_json_print(obj);
	return CTL_OK;
}
