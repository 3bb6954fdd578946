// SPDX-License-Identifier: MIT
/*
 * A replica without a state in a durable subgroup: get the state from a snapshot and the log of
 * this node. No other replica is asked.
 *
 *	WAITS	 until the logger of this node is attached: its log is that of the group
 *	LOOKS	 for the newest snapshot that the group has gone on from
 *	REPLAYS	 what is behind the snapshot, up to the end; messages that arrive are dropped,
 *		 because the replay has them as well
 *	ENDS	 replays what has come by then, and messages that arrive are kept aside
 *
 * So the replica keeps aside what arrives during the second replay only, which is short. A log that
 * is being filled may not have the next message yet: then the replay pauses (PAUSES). If there is
 * no progress for as long as a transfer may stand still, the replica asks the others.
 *
 * Looks and replays are jobs of the thread of the joiner, which has nothing else to do then. The
 * thread owns fd, loaded, final, replay and the table of nodes while it runs.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "replica.h"

/* How long a replay waits until it looks whether it has to stop. */
#define WAIT_MS	100

/* Which step may follow which: bit masks of the next ones. Any of them may end. */
static const uint32_t next_steps[] = {
	[RESTORE_NONE] = 1U << RESTORE_WAITS,
	[RESTORE_WAITS] = 1U << RESTORE_WAITS | 1U << RESTORE_LOOKS,
	[RESTORE_LOOKS] = 1U << RESTORE_WAITS | 1U << RESTORE_REPLAYS,
	[RESTORE_REPLAYS] = 1U << RESTORE_PAUSES | 1U << RESTORE_ENDS,
	[RESTORE_PAUSES] = 1U << RESTORE_PAUSES | 1U << RESTORE_REPLAYS,
	[RESTORE_ENDS] = 1U << RESTORE_PAUSES,
};

/* The only writer of the step. */
static void set_step(struct restore *s, enum restore_step step)
{
	if (step != RESTORE_NONE && !(next_steps[s->step] & 1U << step))
		__builtin_trap();
	s->step = step;
	s->look_at = 0;
}

static void rearm(struct spindle_replica *r)
{
	r->restore.give_up = replica_now() + (int64_t)STALL * r->opts.timeout_ms;
}

/* The replica has no state, and a log. */
void restore_begin(struct spindle_replica *r)
{
	struct restore *s = &r->restore;

	set_step(s, RESTORE_WAITS);
	s->look_at = replica_now();
	rearm(r);
}

/* Has the replica no use for a message that arrives now, because the replay has it? */
bool restore_drops(const struct spindle_replica *r, uint64_t lsn)
{
	const struct restore *s = &r->restore;

	return s->step == RESTORE_REPLAYS || s->step == RESTORE_PAUSES ||
	       (s->step == RESTORE_ENDS && lsn < s->until);
}

/* Have the thread end soon. */
void restore_stop(struct spindle_replica *r)
{
	__atomic_store_n(&r->restore.stop, true, __ATOMIC_RELAXED);
}

/* Free all but the names. Waits for the thread. */
void restore_end(struct spindle_replica *r)
{
	struct restore *s = &r->restore;

	if (s->step == RESTORE_NONE)
		return;
	restore_stop(r);
	joiner_end(r);
	spindle_replay_close(s->replay);
	s->replay = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	set_step(s, RESTORE_NONE);
}

/* ---- in the thread ---------------------------------------------------------- */

/*
 * Return: 0 if there is a state to begin with. The empty one is that of position 0, if the program
 * has no other one.
 */
static int look(struct spindle_replica *r)
{
	struct restore *s = &r->restore;
	struct spindle_place group = s->at;
	int fd = spindle_snapshot_open(s->dir, s->program, r->q.subgroup, &group, &s->at);

	s->fd = fd < 0 ? -1 : fd;
	if (fd >= 0 || (fd == -ENODATA && !s->at.lsn && s->empty))
		return 0;
	return fd;
}

static int load(struct spindle_replica *r)
{
	struct restore *s = &r->restore;
	int err = s->fd < 0 ? 0 : r->ops.load(r->ctx, s->fd, s->at.lsn);

	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->loaded = !err;
	s->final = err;
	return err > 0 ? -EINVAL : err;
}

/* As replica_handle(), for a message of the past: nobody waits for an answer. */
static int handle_old(struct spindle_replica *r, const struct spindle_log_msg *m)
{
	struct spindle_msg msg = {
		.lsn = m->lsn, .slot = m->slot, .data = m->data, .len = m->len,
		.sender = m->sender, .node = m->node, .kind = SPINDLE_DLV_MSG,
	};
	struct replica_have have = { 0 };
	struct replica_head head;
	int err = 0;

	if (!replica_is_ours(m->data, m->len, &head))
		return 0;
	switch (head.kind) {
	case REPLICA_DATA:
		err = replica_apply(r, &msg);
		r->restore.final = err;
		break;
	case REPLICA_ASK:
		nodes_drop(&r->current, m->node);
		break;
	case REPLICA_HAVE:
		nodes_add(&r->current, m->node);
		if (m->len == sizeof(head) + sizeof(have))
			memcpy(&have, (const char *)m->data + sizeof(head), sizeof(have));
		/* The state of the group is another one from here on. */
		r->restore.replaced |= have.declared;
		err = have.declared ? -EXDEV : 0;
	}
	return err;
}

/* Has the replay handed out all in front of the goal? It leaves out positions without a message. */
static bool is_there(const struct restore *s, bool empty)
{
	const struct spindle_queue *q = spindle_replay_queue(s->replay);
	struct spindle_place at;

	if (s->until == UINT64_MAX)
		return empty;
	spindle_replay_place(s->replay, &at);
	return at.lsn >= s->until || (empty && q && spindle_lsn(q) >= s->until);
}

static int open_replay(struct spindle_replica *r)
{
	struct spindle_replay_opts o = {
		.device = r->opts.device, .node = r->opts.node, .subgroup = r->q.subgroup,
		.dir = r->restore.dir, .from = &r->restore.at,
	};

	return r->restore.replay ? 0 : spindle_replay_open(&r->restore.replay, &o);
}

/* Load the snapshot, unless that was done, and replay up to the goal. */
static int replay(struct spindle_replica *r)
{
	struct restore *s = &r->restore;
	struct spindle_log_msg m;
	int n = s->loaded ? 0 : load(r);

	if (!n)
		n = open_replay(r);
	while (n >= 0 && !is_there(s, false)) {
		if (__atomic_load_n(&s->stop, __ATOMIC_RELAXED))
			return -ECANCELED;
		n = spindle_replay_next(s->replay, &m);
		if (n == 1)
			n = handle_old(r, &m);
		else if (!n && is_there(s, true))
			return 0;
		else if (!n)
			spindle_replay_wait(s->replay, WAIT_MS);
	}
	return n < 0 ? n : 0;
}

/* ---- in the dispatching thread ----------------------------------------------- */

/* Has the logger of this node said that it has the log of the group? */
static bool has_logger(struct spindle_replica *r)
{
	struct restore *s = &r->restore;
	struct spindle_log_report own;
	struct spindle_view v;

	if (spindle_view(&r->q, &v) || v.rank == SPINDLE_NO_RANK ||
	    spindle_log_block(&r->q, v.rank, &own) || own.state == SPINDLE_LOG_NONE)
		return false;
	/* A log that is being filled is progress. */
	if (own.persisted > s->persisted)
		rearm(r);
	s->persisted = own.persisted;
	return true;
}

/* Nothing more can be had from the log. */
static void give_up(struct spindle_replica *r)
{
	restore_end(r);
	r->ask_at = replica_now();
	if (r->st.state != SPINDLE_REPLICA_ASKING)
		replica_set_state(r, SPINDLE_REPLICA_ASKING);
}

/* What is kept aside comes again. */
static void try_later(struct spindle_replica *r, enum restore_step step, int error)
{
	struct restore *s = &r->restore;

	spill_clear(&r->spill);
	r->st.error = error;
	if (replica_now() >= s->give_up || s->replaced) {
		give_up(r);
		return;
	}
	set_step(s, step);
	s->look_at = replica_now() + PAUSE_MS;
}

static void start(struct spindle_replica *r, enum restore_step step,
		  int (*job)(struct spindle_replica *r))
{
	int err;

	set_step(&r->restore, step);
	err = joiner_start(r, job);
	if (!err)
		return;
	r->st.error = err;
	give_up(r);
}

static void start_replay(struct spindle_replica *r)
{
	r->restore.until = UINT64_MAX;
	start(r, RESTORE_REPLAYS, replay);
}

static void start_look(struct spindle_replica *r)
{
	if (!has_logger(r)) {
		try_later(r, RESTORE_WAITS, 0);
		return;
	}
	spindle_place(&r->q, &r->restore.at);
	start(r, RESTORE_LOOKS, look);
}

/*
 * What arrives is kept aside from here on. The replay may have had more than the attachment has
 * read: what comes a second time is dropped.
 */
static void start_end(struct spindle_replica *r)
{
	struct restore *s = &r->restore;
	struct spindle_place at;

	spindle_replay_place(s->replay, &at);
	s->until = spindle_lsn(&r->q);
	if (s->until < at.lsn)
		s->until = at.lsn;
	start(r, RESTORE_ENDS, replay);
}

/* The job of this step has ended with @err. Return: an error that is final. */
static int job_ended(struct spindle_replica *r, int err)
{
	struct restore *s = &r->restore;

	if (err && s->final)
		return err;
	if (s->step == RESTORE_LOOKS && err == -ENODATA && s->at.lsn != UINT64_MAX) {
		/* The log is there, and its beginning was trimmed. */
		r->st.error = err;
		give_up(r);
	} else if (s->step == RESTORE_LOOKS && !err) {
		r->current.n = 0;
		rearm(r);
		replica_set_state(r, SPINDLE_REPLICA_LOADING);
		start_replay(r);
	} else if (s->step == RESTORE_REPLAYS && !err) {
		start_end(r);
	} else if (!err) {
		restore_end(r);
		r->st.restored++;
		joiner_done(r, s->until);
	} else {
		try_later(r, s->step == RESTORE_LOOKS ? RESTORE_WAITS : RESTORE_PAUSES, err);
	}
	return 0;
}

/* Go on, as far as that is possible now. Return: 0, or an error of the program, which is final. */
int restore_run(struct spindle_replica *r)
{
	struct restore *s = &r->restore;
	int err;

	if (s->step == RESTORE_WAITS || s->step == RESTORE_PAUSES) {
		if (replica_now() < s->look_at)
			return 0;
		if (s->step == RESTORE_WAITS)
			start_look(r);
		else if (has_logger(r))
			start_replay(r);
		else
			try_later(r, RESTORE_PAUSES, r->st.error);
		return 0;
	}
	return joiner_ended(r, &err) ? job_ended(r, err) : 0;
}
