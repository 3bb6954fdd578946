// SPDX-License-Identifier: MIT
/*
 * Replicas: what one is, and how it goes on. <spindle/replica.h> is the contract.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "replica.h"

/* The shortest messages that a replica can live with: an offer has to name some nodes. */
#define MIN_MSG		64U
/* Messages that one call of spindle_replica_dispatch() takes from the ring. */
#define BUDGET		256U
/* Messages that it takes of those kept aside: more, so that these end. A test takes few. */
#ifndef FOLLOW_BUDGET
#define FOLLOW_BUDGET	(4 * BUDGET)
#endif
#define ATTACH_TRIES	8

#define BIT(n)		(1U << (n))

/* Which state may follow which: bit masks of the next ones. */
static const uint32_t next_states[] = {
	/* What the log of this node has is loaded without a donor. */
	[SPINDLE_REPLICA_ASKING] = BIT(SPINDLE_REPLICA_RECEIVING) | BIT(SPINDLE_REPLICA_LOADING) |
				   BIT(SPINDLE_REPLICA_CURRENT),
	[SPINDLE_REPLICA_RECEIVING] = BIT(SPINDLE_REPLICA_ASKING) | BIT(SPINDLE_REPLICA_LOADING),
	/* The thread cannot be made, or the log does not have all. */
	[SPINDLE_REPLICA_LOADING] = BIT(SPINDLE_REPLICA_FOLLOWING) | BIT(SPINDLE_REPLICA_ASKING),
	/* Another state was declared before this one was known. */
	[SPINDLE_REPLICA_FOLLOWING] = BIT(SPINDLE_REPLICA_CURRENT) | BIT(SPINDLE_REPLICA_ASKING),
	[SPINDLE_REPLICA_CURRENT] = BIT(SPINDLE_REPLICA_ASKING),
	[SPINDLE_REPLICA_FAILED] = 0,
};

int64_t replica_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* An error is of no interest: a replica whose subgroup has gone learns that from the ring. */
void replica_report(const struct spindle_replica *r)
{
	const struct spindle_report report = {
		.state = r->st.state, .donor = r->st.donor, .received = r->st.received,
		.bytes = r->st.bytes, .serving = r->st.serving,
	};

	spindle_report(&r->q, &report);
}

void replica_changed(struct spindle_replica *r)
{
	struct spindle_replica_stat st;

	replica_report(r);
	if (!r->ops.changed)
		return;
	spindle_replica_stat(r, &st);
	r->ops.changed(r->ctx, &st);
}

/* The only writer of the state, once it has begun. */
void replica_set_state(struct spindle_replica *r, enum spindle_replica_state state)
{
	/* Anything may fail, once. */
	if (state == SPINDLE_REPLICA_FAILED ? r->st.state == state :
					      !(next_states[r->st.state] & BIT(state)))
		abort();
	r->st.state = state;
	replica_changed(r);
}

int replica_watch(struct spindle_replica *r, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/*
 * Undo replica_watch(), before the file is closed: epoll knows a file as long as any process has
 * it open.
 */
void replica_unwatch(struct spindle_replica *r, int fd)
{
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* The negative errno of a number that another member has sent. */
int replica_errno(uint32_t reason)
{
	return reason && reason < 4096 ? -(int)reason : -EPROTO;
}

/* Have spindle_replica_dispatch() called again. Any thread. */
void replica_wake(struct spindle_replica *r)
{
	const uint64_t one = 1;

	/* This fails only if the descriptor is readable anyway. */
	if (write(r->wake, &one, sizeof(one)) < 0)
		return;
}

static int open_fds(struct spindle_replica *r)
{
	int err;

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->epoll < 0 || r->timer < 0 || r->wake < 0)
		return -EMFILE;
	err = replica_watch(r, r->timer, EPOLLIN);
	return err ? err : replica_watch(r, r->wake, EPOLLIN);
}

static void free_replica(struct spindle_replica *r)
{
	if (r->epoll >= 0)
		close(r->epoll);
	if (r->timer >= 0)
		close(r->timer);
	if (r->wake >= 0)
		close(r->wake);
	spill_free(&r->spill);
	free(r->restore.dir);
	free(r->restore.program);
	free(r->copy);
	free(r);
}

/* Attach, again while views follow each other too fast. */
static int attach_to(struct spindle_replica *r, const struct spindle_place *from, uint64_t want)
{
	struct spindle_attach_opts a = {
		.device = r->opts.device, .node = r->opts.node, .subgroup = r->opts.subgroup,
		.name = r->opts.name,
		.flags = SPINDLE_ATTACH_BOTH, .from = from, .want = want,
	};
	int tries = ATTACH_TRIES, err;

	do
		err = spindle_attach(&r->q, &a);
	while (err == -ESTALE && r->q.step != SPINDLE_STEP_ATTACH && --tries);
	return err;
}

/*
 * Attach where the program's state ends, or at position 0 if a history has that. If neither can be
 * read any more, other replicas have gone on, and the messages before now are in their state.
 */
static int attach(struct spindle_replica *r)
{
	int err = attach_to(r, r->opts.from, r->opts.from ? 0 : SPINDLE_WANT_OLDEST);

	if (err == -ESTALE && r->q.step == SPINDLE_STEP_ATTACH && r->opts.from) {
		r->opts.from = NULL;
		return attach_to(r, NULL, 0);
	}
	if (err || r->opts.from || !spindle_lsn(&r->q))
		return err;
	spindle_detach(&r->q);
	return attach_to(r, NULL, 0);
}

/* Is there a log of this subgroup at this node? */
bool replica_has_log(const struct spindle_replica *r)
{
	return r->restore.dir && (r->q.features & SPINDLE_FEAT_LOG);
}

static int check_queue(const struct spindle_replica *r)
{
	if (!(r->q.features & SPINDLE_FEAT_ORDERED))
		return -EOPNOTSUPP;
	return r->q.max_msg < MIN_MSG ? -EMSGSIZE : 0;
}

static void begin(struct spindle_replica *r)
{
	r->st.lsn = spindle_lsn(&r->q);
	if (r->q.features & SPINDLE_FEAT_FILL)
		r->joiner.oldest = r->q.oldest;
	if (r->opts.from || !r->st.lsn) {
		r->st.state = SPINDLE_REPLICA_CURRENT;
		r->valid = true;
		r->say = SAY_HAVE;
	} else {
		r->st.state = SPINDLE_REPLICA_ASKING;
		if (replica_has_log(r))
			restore_begin(r);
		else
			r->ask_at = replica_now();
	}
	/* The caller's memory. */
	r->opts.from = NULL;
	replica_report(r);
	replica_wake(r);
}

/* The strings of the caller go. Return: 0, -EINVAL or -ENOMEM. */
static int copy_strings(struct spindle_replica *r, const struct spindle_replica_opts *o)
{
	if (!o->dir)
		return o->program ? -EINVAL : 0;
	if (!o->program || !*o->program)
		return -EINVAL;
	r->restore.dir = strdup(o->dir);
	r->restore.program = strdup(o->program);
	return r->restore.dir && r->restore.program ? 0 : -ENOMEM;
}

static struct spindle_replica *alloc(const struct spindle_replica_ops *ops, void *ctx,
				     const struct spindle_replica_opts *o)
{
	struct spindle_replica *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->ops = *ops;
	r->ctx = ctx;
	r->opts = *o;
	r->opts.timeout_ms = o->timeout_ms ? o->timeout_ms : SPINDLE_REPLICA_TIMEOUT_MS;
	r->opts.state_bytes = o->state_bytes ? o->state_bytes : SPINDLE_REPLICA_STATE;
	r->spill.limit = o->spill_bytes ? o->spill_bytes : SPINDLE_REPLICA_SPILL;
	r->spill.fd = -1;
	r->donor.child = -1;
	r->donor.fd = -1;
	r->joiner.fd = -1;
	r->restore.fd = -1;
	r->restore.empty = !o->from;
	r->keeper.child = -1;
	r->epoll = -1;
	r->timer = -1;
	r->wake = -1;
	return r;
}

int spindle_replica_open(struct spindle_replica **out, const struct spindle_replica_ops *ops,
			 void *ctx, const struct spindle_replica_opts *o)
{
	struct spindle_replica *r;
	int err;

	*out = NULL;
	if (!ops->save || !ops->load || !ops->apply || (o->flags & ~SPINDLE_REPLICA_NO_FORK) ||
	    o->resv)
		return -EINVAL;
	r = alloc(ops, ctx, o);
	if (!r)
		return -ENOMEM;
	err = copy_strings(r, o);
	if (!err && getrandom(&r->life, sizeof(r->life), 0) != (ssize_t)sizeof(r->life))
		err = -EIO;
	if (!err)
		err = open_fds(r);
	if (!err)
		err = attach(r);
	if (err) {
		free_replica(r);
		return err;
	}
	err = check_queue(r);
	if (!err)
		err = replica_watch(r, spindle_fd(&r->q), EPOLLIN);
	if (err) {
		spindle_detach(&r->q);
		free_replica(r);
		return err;
	}
	begin(r);
	*out = r;
	return 0;
}

void spindle_replica_close(struct spindle_replica *r)
{
	if (!r)
		return;
	/* The program does not hear of what it ends itself. */
	r->ops.changed = NULL;
	donor_end(r, 0);
	keeper_end(r, 0);
	restore_stop(r);
	/* load() may take long, and a reader that does not read holds up the senders. */
	spindle_detach(&r->q);
	joiner_end(r);
	restore_end(r);
	free_replica(r);
}

/* ---- going on ----------------------------------------------------------------- */

/*
 * Copy a message of a history, which may overwrite it at any time. Return: -ESTALE if it was
 * overwritten: nothing of it must be used.
 */
static int copy_message(struct spindle_replica *r, struct spindle_msg *m)
{
	if (!r->q.ctl_dlv_low)
		return 0;
	if (!r->copy)
		r->copy = malloc(r->q.max_msg);
	if (!r->copy)
		return -ENOMEM;
	memcpy(r->copy, m->data, m->len);
	m->data = r->copy;
	return spindle_intact(&r->q) ? 0 : -ESTALE;
}

static int take(struct spindle_replica *r, const struct spindle_msg *msg)
{
	struct spindle_msg copy = *msg, *m = &copy;
	int err;

	if (m->kind != SPINDLE_DLV_MSG)
		return 0;
	/* A replay of the log was faster than this attachment. */
	if (r->valid && m->lsn < r->st.lsn)
		return 0;
	err = copy_message(r, m);
	if (err)
		return err;
	switch (r->st.state) {
	case SPINDLE_REPLICA_LOADING:
		if (restore_drops(r, m->lsn))
			return 0;
		return spill_add(&r->spill, m);
	case SPINDLE_REPLICA_RECEIVING:
	case SPINDLE_REPLICA_FOLLOWING:
		return spill_add(&r->spill, m);
	default:
		return replica_handle(r, m);
	}
}

static int take_batch(void *arg, const struct spindle_msg *msgs, unsigned int n)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = take(arg, &msgs[i]);
	return err;
}

/* Read the ring. Return: 0, or why nothing more will come. */
static int read_ring(struct spindle_replica *r)
{
	int n = spindle_dispatch(&r->q, take_batch, r, BUDGET);

	return n > 0 ? 0 : n;
}

/* Apply some of what was kept aside. */
static int follow(struct spindle_replica *r)
{
	struct spindle_msg m;
	unsigned int i;
	int n = 1, err = 0;

	if (r->st.state != SPINDLE_REPLICA_FOLLOWING)
		return 0;
	for (i = 0; i < FOLLOW_BUDGET && !err; i++) {
		n = spill_take(&r->spill, &m);
		if (n <= 0)
			break;
		err = replica_handle(r, &m);
	}
	if (err || n < 0)
		return err ? err : n;
	/* Another state was declared. */
	if (r->st.state != SPINDLE_REPLICA_FOLLOWING)
		return 0;
	if (!n)
		replica_set_state(r, SPINDLE_REPLICA_CURRENT);
	else
		replica_wake(r);
	return 0;
}

static void ask_if_due(struct spindle_replica *r)
{
	int64_t now = replica_now();

	if (r->st.state != SPINDLE_REPLICA_ASKING || !r->ask_at || now < r->ask_at)
		return;
	r->say |= SAY_ASK;
	/* The next one is asked if this one does not answer. */
	if (r->st.asked)
		r->joiner.attempt++;
	r->ask_at = now + r->opts.timeout_ms;
}

static void earlier(int64_t *at, int64_t other)
{
	if (other && (!*at || other < *at))
		*at = other;
}

/* Wait for the next of the times at which something is due, and for room while something waits. */
static int arm(struct spindle_replica *r)
{
	struct epoll_event ev = { .events = EPOLLIN | (r->say ? EPOLLOUT : 0) };
	struct itimerspec t = { 0 };
	int64_t at = 0;

	earlier(&at, r->ask_at);
	earlier(&at, r->donor.deadline);
	if (r->donor.waiting.n && !r->donor.group && !r->donor.offered && !(r->say & SAY_OFFER))
		earlier(&at, r->donor.not_before);
	earlier(&at, r->joiner.deadline);
	earlier(&at, r->restore.look_at);
	earlier(&at, r->keeper.look_at);
	t.it_value.tv_sec = at / 1000;
	t.it_value.tv_nsec = at % 1000 * 1000000;
	if (timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &t, NULL))
		return -errno;
	if (r->wants_room == !!r->say)
		return 0;
	r->wants_room = !!r->say;
	return epoll_ctl(r->epoll, EPOLL_CTL_MOD, spindle_fd(&r->q), &ev) ? -errno : 0;
}

/*
 * A replica that fails while load() runs does not wait for load(), because nobody reads the ring in
 * that time. spindle_replica_close() waits.
 */
static int fail(struct spindle_replica *r, int error)
{
	donor_end(r, 0);
	keeper_end(r, 0);
	restore_stop(r);
	if (!r->joiner.running)
		joiner_end(r);
	spill_clear(&r->spill);
	r->ask_at = 0;
	r->say = 0;
	r->st.error = error;
	replica_set_state(r, SPINDLE_REPLICA_FAILED);
	return error;
}

int spindle_replica_dispatch(struct spindle_replica *r)
{
	uint64_t n;
	int err;

	if (r->st.state == SPINDLE_REPLICA_FAILED)
		return r->st.error;
	/* What makes it readable from here on is looked at below, or the next time. */
	if (read(r->wake, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return fail(r, -errno);
	err = read_ring(r);
	if (!err)
		err = joiner_run(r);
	if (!err)
		err = follow(r);
	if (err)
		return fail(r, err);
	donor_run(r);
	keeper_run(r);
	ask_if_due(r);
	err = replica_say(r);
	if (!err)
		err = arm(r);
	return err ? fail(r, err) : 0;
}

int spindle_replica_wait(struct spindle_replica *r, int events, int timeout_ms)
{
	struct pollfd p[2] = {
		{ .fd = r->epoll, .events = POLLIN },
		{ .fd = spindle_fd(&r->q), .events = POLLOUT },
	};

	spindle_flush(&r->q);
	if (poll(p, events & POLLOUT ? 2 : 1, timeout_ms) < 0)
		return -errno;
	return spindle_replica_dispatch(r);
}

/* ---- what a program asks and says -------------------------------------------------- */

int spindle_replica_fd(const struct spindle_replica *r)
{
	return r->epoll;
}

uint32_t spindle_replica_max_msg(const struct spindle_replica *r)
{
	return r->q.max_msg - SPINDLE_REPLICA_HEAD;
}

int spindle_replica_send(struct spindle_replica *r, const void *buf, uint32_t len)
{
	if (len > spindle_replica_max_msg(r))
		return -EMSGSIZE;
	return replica_send(r, REPLICA_DATA, buf, len);
}

int spindle_replica_declare(struct spindle_replica *r)
{
	if (r->st.state != SPINDLE_REPLICA_ASKING)
		return -EBUSY;
	restore_end(r);
	/* An ASK behind the HAVE would take it back. */
	r->say = SAY_HAVE;
	r->ask_at = 0;
	r->st.donor = 0;
	r->declared = true;
	replica_report(r);
	replica_wake(r);
	return 0;
}

int spindle_replica_place(const struct spindle_replica *r, struct spindle_place *place)
{
	if (!r->valid)
		return -ENODATA;
	spindle_place(&r->q, place);
	place->lsn = r->st.lsn;
	return 0;
}

void spindle_replica_stat(const struct spindle_replica *r, struct spindle_replica_stat *st)
{
	*st = r->st;
	st->spilled = spill_bytes(&r->spill);
}

const struct spindle_queue *spindle_replica_queue(const struct spindle_replica *r)
{
	return &r->q;
}

const char *spindle_replica_state_string(uint32_t state)
{
	static const char *const names[] = {
		[SPINDLE_REPLICA_NONE] = "none",
		[SPINDLE_REPLICA_ASKING] = "asking",
		[SPINDLE_REPLICA_RECEIVING] = "receiving",
		[SPINDLE_REPLICA_LOADING] = "loading",
		[SPINDLE_REPLICA_FOLLOWING] = "following",
		[SPINDLE_REPLICA_CURRENT] = "current",
		[SPINDLE_REPLICA_FAILED] = "failed",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

const char *spindle_replica_strerror(int err)
{
	switch (-err) {
	case 0:
		return "nothing is wrong";
	case EINVAL:
		return "an argument is wrong, or a function of the program returned no errno";
	case EOPNOTSUPP:
		return "the subgroup has no order, or the position is of a subgroup without one";
	case EMSGSIZE:
		return "replicas need a subgroup with messages of at least 64 bytes";
	case ENOBUFS:
		return "too many messages came while a state was received: raise spill_bytes, "
		       "or wait until there is less to do";
	case ESTALE:
		return "the history has overtaken this replica: open it again";
	case EPIPE:
		return "the attachment has ended";
	default:
		return strerror(-err);
	}
}
