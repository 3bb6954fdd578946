// SPDX-License-Identifier: GPL-2.0-only
/*
 * A total restart at one node: the loop until the node is in a view, and answers to other nodes
 * from then on. See restart.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logd.h"
#include "restart.h"

/* No wait of the loop is longer. */
#define WAIT_MS	200

/**
 * logd_restart_tell() - say something that is not what was said last
 * @r: the restart
 * @fmt: a sentence
 */
void logd_restart_tell(struct logd_restart *r, const char *fmt, ...)
{
	char text[sizeof(r->told)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!strcmp(r->told, text))
		return;
	strcpy(r->told, text);
	ctl_err("node %u: %s", r->opts->node, text);
}

static bool fail(struct logd_restart *r)
{
	ctl_err("node %u: %s", r->opts->node, r->state->why);
	return false;
}

/* ---- begin -------------------------------------------------------------------------------- */

/**
 * logd_restart_knows() - do the files of a node know a group?
 * @opts: command line
 *
 * Nothing is made or opened, because most nodes have no such files.
 *
 * Return: whether there is a group file.
 */
bool logd_restart_knows(const struct logd_opts *opts)
{
	char *path = ctl_asprintf("%s/%u/group", opts->dir, opts->node);
	struct stat st;
	bool has = !lstat(path, &st);

	ctl_free(path);
	return has;
}

/**
 * logd_restart_is_due() - does the node have to find its group?
 * @r: the restart; opts, peers and state are set
 *
 * That is so when the node is in no view, and its files know a group. A view that the node has
 * stopped in ends here, because the log has what was delivered. The process before may have died
 * while the kernel was on its way into a view, and then this one waits for that first. A node that
 * is not there, that begins another group, or of which the kernel does not say how it is, is left
 * to the caller.
 *
 * Return: whether it has to.
 */
bool logd_restart_is_due(struct logd_restart *r)
{
	struct logd_seat seat;

	if (!r->state->group.is)
		return false;
	r->found = logd_kernel_look(r, &seat);
	if (r->found == LOGD_KERNEL_STOPPED)
		logd_kernel_leave(r);
	if (r->found == LOGD_KERNEL_FORMING && seat.has_lineage &&
	    memcmp(seat.lineage, r->state->group.lineage, sizeof(seat.lineage)))
		return false;
	return r->found == LOGD_KERNEL_NONE || r->found == LOGD_KERNEL_STOPPED ||
	       r->found == LOGD_KERNEL_FORMING || r->found == LOGD_KERNEL_JOINING;
}

static int promise(void *arg, const struct spindle_restart_ballot *ballot)
{
	struct logd_restart *r = arg;

	if (logd_state_promise(r->state, ballot))
		return 1;
	return r->state->failed ? -1 : 0;
}

static int accept_proposal(void *arg, const struct spindle_restart_proposal *proposal)
{
	struct logd_restart *r = arg;

	if (logd_state_accept(r->state, proposal))
		return 1;
	return r->state->failed ? -1 : 0;
}

static void withdraw(void *arg, const struct spindle_restart_ballot *ballot)
{
	struct logd_restart *r = arg;

	spindle_restart_withdraw(&r->state->voter, ballot);
}

/* A node in a view gives its records alone, because its logs change. */
static void report_records(const struct logd_restart *r, struct spindle_restart_report *report)
{
	unsigned int i;

	memset(report, 0, sizeof(*report));
	for (i = 0; i < r->count && report->parts < SPINDLE_MAX_SUBGROUPS; i++) {
		const struct logd *l = &r->logs[i];
		struct spindle_restart_part *part = &report->part[report->parts];

		if (!l->role || !l->records.now.record.views)
			continue;
		part->id = l->attach.subgroup;
		part->member = true;
		part->record = l->records.now.record;
		part->path = l->records.now.path;
		part->log.missing = true;
		report->parts++;
	}
}

static bool report_state(void *arg, struct spindle_restart_report *report)
{
	struct logd_restart *r = arg;

	if (r->attempt.state == ATTEMPT_RUNNING) {
		report_records(r, report);
	} else if (!logd_state_report(r->state, report)) {
		logd_restart_tell(r, "%s", r->state->why);
		return false;
	}
	report->node = r->opts->node;
	memcpy(report->lineage, r->attempt.lineage, sizeof(report->lineage));
	strcpy(report->address, r->place);
	return true;
}

static void hear_force(void *arg, uint32_t node, const struct spindle_restart_force *force,
		       bool begun)
{
	logd_restart_heard(arg, node, force, begun);
}

static const struct attempt_ops ops = {
	.promise = promise, .accept = accept_proposal, .withdraw = withdraw,
	.report = report_state, .heard = hear_force,
};

/* Nodes of the lineage that a forced restart has left may ask for that restart. */
static void use_lineage(struct logd_restart *r)
{
	const struct spindle_restart_force *forced = r->state->forced;
	struct peer_id *id = &r->peers->server.id;

	memcpy(r->attempt.lineage, r->state->group.lineage, sizeof(r->attempt.lineage));
	id->has_former = forced;
	if (forced)
		memcpy(id->former, forced->proposal.lineage, sizeof(id->former));
}

static bool make_room(struct logd_restart *r)
{
	r->report = malloc(sizeof(*r->report));
	r->proposal = malloc(sizeof(*r->proposal));
	r->force = malloc(sizeof(*r->force));
	r->heard = calloc(1, sizeof(*r->heard));
	return r->report && r->proposal && r->force && r->heard;
}

static bool begin(struct logd_restart *r)
{
	uint64_t seed;

	if (r->begun)
		return true;
	if (!make_room(r) ||
	    getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
		ctl_err("no memory, or no random numbers");
		return false;
	}
	r->attempt.ops = &ops;
	r->attempt.arg = r;
	r->attempt.node = r->opts->node;
	r->attempt.voter = &r->state->voter;
	use_lineage(r);
	if (!attempt_begin(&r->attempt, seed, peer_now_ms())) {
		ctl_err("no memory");
		return false;
	}
	snprintf(r->ears, sizeof(r->ears), "%s", r->opts->listen ? r->opts->listen : r->place);
	r->peers->server.ask = logd_restart_answer;
	r->peers->server.ask_arg = r;
	r->begun = true;
	return true;
}

/* The members of the last view that this node knows. */
static void know_members(struct logd_restart *r)
{
	const struct ctl_view *view = &r->state->group.view;
	unsigned int i;

	for (i = 0; i < view->members; i++)
		logd_restart_know(r, view->member[i].id, ctl_place_text(&view->member[i]));
}

/* ---- into a view -------------------------------------------------------------------------- */

static void go(struct logd_restart *r, enum logd_going to, uint64_t now)
{
	r->going = to;
	r->going_ms = now;
}

/* The kernel was told of a view. */
static void go_wait(struct logd_restart *r, uint32_t limit, uint64_t now)
{
	r->limit = limit;
	go(r, LOGD_GOING_WAITS, now);
}

/* The node is in no view after all. */
static void turn_back(struct logd_restart *r, uint64_t now)
{
	go(r, LOGD_GOING_NOT, now);
	logd_state_stop(r->state);
	attempt_again(&r->attempt, now);
}

static void turn_back_because(struct logd_restart *r, uint64_t now)
{
	if (*r->state->why)
		logd_restart_tell(r, "%s", r->state->why);
	turn_back(r, now);
}

/* Is the node in a view of its group that its votes allow? */
static bool is_ours(const struct logd_restart *r, const struct logd_seat *seat, uint64_t era)
{
	return seat->has_lineage && seat->era >= era &&
	       !memcmp(seat->lineage, r->attempt.lineage, sizeof(seat->lineage));
}

/* A view of another group, or a static one, is not what this process has told the kernel of. */
static bool is_own_doing(const struct logd_restart *r, enum logd_kernel state,
			 const struct logd_seat *seat)
{
	if (seat->has_lineage)
		return is_ours(r, seat, 0);
	return state != LOGD_KERNEL_NONE && state != LOGD_KERNEL_ACTIVE;
}

/* Each error is printed, so the next question comes later. Return: whether the kernel was asked. */
static bool ask_kernel(struct logd_restart *r, uint32_t ms, uint64_t now, enum logd_kernel *state,
		       struct logd_seat *seat)
{
	if (now - r->looked_ms < (r->look_failed ? LOGD_ERROR_MS : ms))
		return false;
	r->looked_ms = now;
	*state = logd_kernel_look(r, seat);
	r->look_failed = *state == LOGD_KERNEL_ERROR;
	return true;
}

/* The kernel was told. Is the node in the view? An error of the question says nothing. */
static void wait_for_kernel(struct logd_restart *r, uint64_t now)
{
	enum logd_kernel state;
	struct logd_seat seat;

	if (!ask_kernel(r, LOGD_KERNEL_MS, now, &state, &seat))
		return;
	if (state == LOGD_KERNEL_ACTIVE && is_ours(r, &seat, r->attempt.era)) {
		go(r, LOGD_GOING_NOT, now);
		attempt_runs(&r->attempt, seat.era, seat.vid, now);
		return;
	}
	if ((state == LOGD_KERNEL_FORMING || state == LOGD_KERNEL_JOINING ||
	     state == LOGD_KERNEL_ERROR) && now - r->going_ms < r->limit)
		return;
	logd_restart_tell(r, "the view does not take this node: it looks for the group again");
	if (is_own_doing(r, state, &seat))
		logd_kernel_leave(r);
	turn_back(r, now);
}

/* The kernel has the node in a view already, without this process. */
static void take_seat(struct logd_restart *r, const struct logd_seat *seat, uint64_t now)
{
	if (!is_ours(r, seat, 0)) {
		logd_restart_tell(r, "its view is one of another group: this process goes on to "
				  "look for its own");
		return;
	}
	if (r->attempt.state == ATTEMPT_PREPARE)
		attempt_step_back(&r->attempt, now);
	if (is_ours(r, seat, spindle_restart_bound(r->attempt.voter)))
		attempt_runs(&r->attempt, seat->era, seat->vid, now);
	else
		logd_restart_tell(r, "its view has an era below that of its promise, and this "
				  "process goes on to look");
}

/* An administrator may have put the node into a view. */
static void look_at_kernel(struct logd_restart *r, uint64_t now)
{
	enum logd_kernel state;
	struct logd_seat seat;

	if (!ask_kernel(r, LOGD_LOOK_MS, now, &state, &seat))
		return;
	if (state == LOGD_KERNEL_ACTIVE)
		take_seat(r, &seat, now);
	else if (state == LOGD_KERNEL_STOPPED && is_own_doing(r, state, &seat))
		logd_kernel_leave(r);
}

/* Addresses of the members of a view, as they are in reports. */
static unsigned int list_known(struct logd_restart *r, struct logd_known *known)
{
	uint32_t i, n = 0;

	known[n].node = r->opts->node;
	strcpy(known[n++].address, r->place);
	for (i = 0; i < r->attempt.peers; i++) {
		const struct attempt_peer *peer = &r->attempt.peer[i];
		const char *address = peer->report ? peer->report->address : r->ask[i].address;

		if (!*address)
			continue;
		known[n].node = peer->node;
		strcpy(known[n++].address, address);
	}
	return n;
}

static void enter(struct logd_restart *r, uint64_t now)
{
	static struct logd_known known[SPINDLE_MAX_MEMBERS];
	unsigned int count;

	if (r->going == LOGD_GOING_WAITS) {
		wait_for_kernel(r, now);
		return;
	}
	count = list_known(r, known);
	if (!logd_state_enter(r->state, r->attempt.proposal, known, count)) {
		turn_back_because(r, now);
		return;
	}
	logd_restart_tell(r, "the group begins again with era %llu, view %llu",
			  (unsigned long long)r->attempt.era, (unsigned long long)r->attempt.vid);
	if (logd_kernel_enter(r))
		go_wait(r, LOGD_FORM_MS, now);
	else
		turn_back(r, now);
}

/* A member that has just joined the era does not know what was before. */
static bool knows_path(const struct spindle_restart_path *path)
{
	return path->whole || path->eras;
}

/* The views that the logs of this node have to follow, as far as the member knows them. */
static unsigned int list_ways(const struct logd_restart *r, struct logd_way *way)
{
	const struct spindle_restart_report *report = r->report;
	uint32_t i, n = 0;

	for (i = 0; i < report->parts; i++) {
		const struct spindle_restart_part *part = &report->part[i];
		const struct spindle_restart_record *record = &part->record;

		if (!record->views || record->view[record->views - 1].id.era != r->attempt.era ||
		    !knows_path(&part->path))
			continue;
		way[n].id = part->id;
		way[n].view = record->view[record->views - 1].id;
		way[n++].path = part->path;
	}
	return n;
}

static void join_now(struct logd_restart *r, uint64_t now)
{
	static struct logd_way way[SPINDLE_MAX_SUBGROUPS];

	if (!logd_state_join(r->state, r->attempt.era, way, list_ways(r, way))) {
		turn_back_because(r, now);
		return;
	}
	logd_restart_tell(r, "the group runs in era %llu, and this node joins it",
			  (unsigned long long)r->attempt.era);
	if (logd_kernel_join(r, r->record.address))
		go_wait(r, LOGD_JOIN_MS, now);
	else
		turn_back(r, now);
}

static void join(struct logd_restart *r, uint64_t now)
{
	const struct logd_asked *asked;
	int have;

	switch (r->going) {
	case LOGD_GOING_WAITS:
		wait_for_kernel(r, now);
		return;
	case LOGD_GOING_ASKS:
		have = logd_restart_take_record(r);
		if (have > 0)
			join_now(r, now);
		else if (have < 0)
			turn_back(r, now);
		return;
	default:
		asked = logd_restart_find(r, r->attempt.contact);
		if (asked && logd_restart_ask_record(r, &asked->place))
			go(r, LOGD_GOING_ASKS, now);
		else
			turn_back(r, now);
	}
}

/* ---- the loop ----------------------------------------------------------------------------- */

/* Return: whether the process goes on. */
static bool wait_a_while(struct logd_restart *r, int signals)
{
	static struct pollfd fd[SPINDLE_MAX_MEMBERS + PEER_GUESTS + 4];
	unsigned int room = logd_peers_room(r->peers), n;
	struct signalfd_siginfo info;
	int ms = WAIT_MS;

	fd[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
	logd_peers_poll(r->peers, fd + 1, room, &ms);
	n = 1 + room;
	n += logd_restart_poll(r, fd + n, &ms);
	if (poll(fd, n, ms) < 0 && errno != EINTR) {
		ctl_err("cannot wait: %s", strerror(errno));
		return false;
	}
	r->stopped = read(signals, &info, sizeof(info)) == sizeof(info);
	return !r->stopped;
}

/* The process before has told the kernel of a view that the node is not in yet. */
static void resume(struct logd_restart *r)
{
	uint64_t now = peer_now_ms();

	if (r->found == LOGD_KERNEL_FORMING)
		go_wait(r, LOGD_FORM_MS, now);
	else if (r->found == LOGD_KERNEL_JOINING)
		go_wait(r, LOGD_JOIN_MS, now);
	else
		return;
	logd_restart_tell(r, "the kernel is on its way into a view, and this process waits for "
			  "that");
	attempt_resume(&r->attempt, now);
}

static void turn(struct logd_restart *r)
{
	uint64_t now = peer_now_ms();

	logd_peers_work(r->peers);
	if (logd_restart_force(r, now))
		return;
	logd_restart_take(r, now);
	attempt_work(&r->attempt, now);
	if (r->attempt.state == ATTEMPT_ENTER)
		enter(r, now);
	else if (r->attempt.state == ATTEMPT_JOIN)
		join(r, now);
	else if (r->attempt.state == ATTEMPT_LOOK || r->attempt.state == ATTEMPT_PREPARE)
		look_at_kernel(r, now);
	logd_restart_ask(r, now);
	logd_restart_show(r, now);
}

static void drop(struct logd_restart *r)
{
	uint32_t i;

	for (i = 0; i < SPINDLE_MAX_MEMBERS; i++)
		peer_ask_end(&r->ask[i].q);
	peer_ask_end(&r->record.q);
	if (r->begun)
		attempt_end(&r->attempt);
	r->begun = false;
	free(r->report);
	free(r->proposal);
	free(r->force);
	free(r->heard);
	r->report = NULL;
	r->proposal = NULL;
	r->force = NULL;
	r->heard = NULL;
}

/* In another lineage, the node knows nothing of what other nodes have said. */
static void begin_again(struct logd_restart *r)
{
	drop(r);
	memset(&r->attempt, 0, sizeof(r->attempt));
	memset(r->ask, 0, sizeof(r->ask));
	r->moved = false;
	r->consents = false;
	r->shown_ms = 0;
	logd_restart_tell(r, "this node follows a forced restart, and looks for the group of that");
}

/* Return: whether the node is in a view, has failed, or is of another lineage. */
static bool look_for_group(struct logd_restart *r, int signals)
{
	memcpy(r->peers->server.id.lineage, r->state->group.lineage,
	       sizeof(r->state->group.lineage));
	if (!begin(r))
		return false;
	if (!logd_state_tune_due(r->state))
		return fail(r);
	know_members(r);
	/* The node answers nobody while it reads its logs, so it reads them before it asks. */
	report_state(r, r->report);
	resume(r);
	/* Each turn can be the last one. So a signal is seen before a turn, or by the caller. */
	while (r->attempt.state != ATTEMPT_RUNNING && r->attempt.state != ATTEMPT_FAILED &&
	       !r->moved) {
		if (!wait_a_while(r, signals))
			return false;
		turn(r);
	}
	return true;
}

/**
 * logd_restart_run() - restart the group, or join it, until the node is in a view
 * @r: the restart, which is due
 * @signals: signalfd
 *
 * Return: whether the node is in a view; otherwise a signal has come, or a sentence says why not.
 */
bool logd_restart_run(struct logd_restart *r, int signals)
{
	logd_peers_listen(r->peers, r->opts, NULL, 0);
	logd_restart_tell(r, "this node is in no view: it looks for its group");
	while (look_for_group(r, signals)) {
		if (!r->moved)
			return r->attempt.state == ATTEMPT_RUNNING || fail(r);
		begin_again(r);
		/* What the kernel was on its way into has gone before the node has moved. */
		r->found = LOGD_KERNEL_NONE;
	}
	return false;
}

/* ---- from then on ------------------------------------------------------------------------- */

/**
 * logd_restart_serve() - the node is in a view, and its logs are open: answer other nodes
 * @r: the restart
 * @logs: the logs
 * @count: how many
 *
 * A node without a logged subgroup has no files, and answers nothing.
 */
void logd_restart_serve(struct logd_restart *r, struct logd *logs, unsigned int count)
{
	struct logd_seat seat;

	if (!r->state || !r->state->group.is || !begin(r))
		return;
	r->logs = logs;
	r->count = count;
	use_lineage(r);
	if (logd_kernel_look(r, &seat) == LOGD_KERNEL_ACTIVE)
		attempt_runs(&r->attempt, seat.era, seat.vid, peer_now_ms());
	know_members(r);
	logd_restart_show(r, peer_now_ms());
}

/**
 * logd_restart_end() - close all
 * @r: the restart
 */
void logd_restart_end(struct logd_restart *r)
{
	drop(r);
}
