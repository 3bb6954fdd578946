// SPDX-License-Identifier: MIT
/*
 * A replica without a state: receive a snapshot from a donor, and load it.
 *
 * An error ends the attempt, and the replica asks again. Only an error of load() is final, because
 * it may have spoilt what the program had.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"
#include "replica.h"

static int create(struct spindle_replica *r, uint32_t donor, const struct nodes *to,
		  uint64_t group)
{
	struct spindle_rdmc_options o = {
		.device = r->opts.rdmc_device, .flags = SPINDLE_RDMC_AUTO_CLOSE,
	};
	uint32_t members[SPINDLE_MAX_MEMBERS];
	struct joiner *j = &r->joiner;
	int err;

	members[0] = donor;
	memcpy(members + 1, to->id, to->n * sizeof(*members));
	j->fd = memfd_create("spindle-snapshot", MFD_CLOEXEC);
	if (j->fd < 0)
		return -errno;
	err = spindle_rdmc_create(&j->group, r->opts.node, group, members, to->n + 1, &o);
	return err ? err : replica_watch(r, spindle_rdmc_fd(j->group), EPOLLIN);
}

/* The clock of the donor may be behind, so the next offer is waited for longer. */
static int64_t patience(const struct spindle_replica *r)
{
	unsigned int n = r->joiner.failed < 4 ? r->joiner.failed : 4;

	return (int64_t)r->opts.timeout_ms << n;
}

static void rearm(struct spindle_replica *r)
{
	r->joiner.deadline = replica_now() + STALL * patience(r);
}

/*
 * Begin to receive what a node offers. From the next message on the replica keeps messages aside.
 * With @history older messages follow. After an error the replica still asks, so that it takes the
 * next offer.
 */
void joiner_begin(struct spindle_replica *r, uint32_t donor, const struct nodes *to,
		  uint64_t group, uint64_t lsn, bool history)
{
	struct joiner *j = &r->joiner;
	int err;

	j->lsn = lsn;
	j->over = false;
	j->error = 0;
	j->size = 0;
	j->good = 0;
	j->history = history && j->oldest;
	j->shared = to->n > 1;
	err = create(r, donor, to, group);
	if (err) {
		joiner_end(r);
		r->st.error = err;
		r->ask_at = replica_now() + PAUSE_MS;
		replica_changed(r);
		return;
	}
	j->deadline = replica_now() + patience(r);
	r->ask_at = 0;
	r->declared = false;
	r->say &= ~(SAY_ASK | SAY_HAVE);
	r->st.donor = donor;
	r->st.received = 0;
	r->st.bytes = 0;
	replica_set_state(r, SPINDLE_REPLICA_RECEIVING);
}

static void free_parts(struct joiner *j)
{
	unsigned int i;

	for (i = 0; i < SPINDLE_RDMC_QUEUE; i++) {
		if (j->part[i].addr)
			munmap(j->part[i].addr, j->part[i].len);
		j->part[i].addr = NULL;
	}
}

static void leave_group(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;

	if (j->group)
		replica_unwatch(r, spindle_rdmc_fd(j->group));
	spindle_rdmc_destroy(j->group);
	j->group = NULL;
}

/* Free all that an attempt has. Waits for load(), if that runs. */
void joiner_end(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;

	if (j->running)
		pthread_join(j->thread, NULL);
	j->running = false;
	leave_group(r);
	j->deadline = 0;
	free_parts(j);
	batch_end(j);
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}

static void ask_again(struct spindle_replica *r, int error)
{
	joiner_end(r);
	spill_clear(&r->spill);
	r->joiner.failed++;
	r->ask_at = replica_now() + PAUSE_MS;
	r->st.error = error;
	replica_set_state(r, SPINDLE_REPLICA_ASKING);
}

static struct part *part_of(struct joiner *j, uint64_t object)
{
	unsigned int i;

	for (i = 0; i < SPINDLE_RDMC_QUEUE; i++)
		if (j->part[i].addr && j->part[i].object == object)
			return &j->part[i];
	return NULL;
}

static struct part *unused_part(struct joiner *j)
{
	unsigned int i;

	for (i = 0; i < SPINDLE_RDMC_QUEUE; i++)
		if (!j->part[i].addr)
			return &j->part[i];
	return NULL;
}

/*
 * May this part come? What the donor says is checked here. A part behind a gap is asked for again
 * together with what is missing.
 */
static int check_part(const struct spindle_replica *r, const struct spindle_rdmc_event *ev)
{
	const struct joiner *j = &r->joiner;

	if (ev->tag % PART_MIN || ev->tag < j->good || ev->len > PART_MAX)
		return -EPROTO;
	if (ev->len > r->opts.state_bytes || ev->tag > r->opts.state_bytes - ev->len)
		return -EFBIG;
	return ev->tag > j->size ? -ENOMEM : 0;
}

static void *incoming(void *arg, struct spindle_rdmc_group *g,
		      const struct spindle_rdmc_event *ev, uint32_t *reason)
{
	struct spindle_replica *r = arg;
	struct joiner *j = &r->joiner;
	struct part *p = unused_part(j);
	uint64_t end = ev->tag + ev->len;
	void *addr;

	(void)g;
	rearm(r);
	if (ev->tag & BATCH)
		return batch_incoming(r, ev, reason);
	*reason = (uint32_t)(p ? -check_part(r, ev) : ENOBUFS);
	if (*reason)
		return NULL;
	if (end > j->size && ftruncate(j->fd, (off_t)end)) {
		*reason = (uint32_t)errno;
		return NULL;
	}
	addr = mmap(NULL, ev->len, PROT_READ | PROT_WRITE, MAP_SHARED, j->fd, (off_t)ev->tag);
	if (addr == MAP_FAILED) {
		*reason = (uint32_t)errno;
		return NULL;
	}
	if (end > j->size)
		j->size = end;
	/* No child of the program may share memory that the device writes. */
	madvise(addr, ev->len, MADV_DONTFORK);
	*p = (struct part){ .object = ev->object, .addr = addr, .offset = ev->tag, .len = ev->len };
	return addr;
}

static void opened(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct spindle_replica *r = arg;

	(void)g;
	(void)ev;
	rearm(r);
}

/* The length that the snapshot says it has, as far as it is here; 0: that is not here yet. */
static uint64_t announced(const struct joiner *j)
{
	struct snapshot_head head;

	if (j->good < sizeof(head) || pread(j->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return 0;
	return head.magic == SNAPSHOT_MAGIC && head.bytes >= j->good ? head.bytes : 0;
}

static bool is_complete(const struct joiner *j)
{
	return j->good && announced(j) == j->good;
}

/* The donor sends again from the first part on that found no memory. */
static void done(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct spindle_replica *r = arg;
	struct joiner *j = &r->joiner;
	struct part *p = part_of(j, ev->object);

	(void)g;
	rearm(r);
	if (ev->tag & BATCH) {
		batch_done(r, ev);
		return;
	}
	if (ev->error == SPINDLE_RDMC_REFUSED && ev->reason != ENOMEM)
		j->error = replica_errno(ev->reason);
	if (!p)
		return;
	munmap(p->addr, p->len);
	p->addr = NULL;
	if (ev->error == SPINDLE_RDMC_OK && p->offset == j->good)
		j->good = p->offset + p->len;
	r->st.received = j->good;
	if (!r->st.bytes)
		r->st.bytes = announced(j);
	replica_report(r);
}

static void closed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct joiner *j = &((struct spindle_replica *)arg)->joiner;

	(void)g;
	j->over = true;
	/* A part that came twice makes it INCOMPLETE. What counts is what has arrived. */
	if (ev->error != SPINDLE_RDMC_OK && ev->error != SPINDLE_RDMC_INCOMPLETE && !j->error)
		j->error = ev->error == SPINDLE_RDMC_NOMEM ? -ENOMEM : -ECONNABORTED;
}

static const struct spindle_rdmc_calls calls = {
	.opened = opened, .incoming = incoming, .done = done, .closed = closed, .failed = closed,
};

static int load(struct spindle_replica *r)
{
	int err = r->ops.load(r->ctx, r->joiner.fd, r->joiner.lsn);

	/* This frees the snapshot, which takes long if that is large. */
	close(r->joiner.fd);
	r->joiner.fd = -1;
	return err > 0 ? -EINVAL : err;
}

static void *run(void *arg)
{
	struct spindle_replica *r = arg;

	__atomic_store_n(&r->joiner.result, r->joiner.job(r), __ATOMIC_RELEASE);
	replica_wake(r);
	return NULL;
}

/*
 * Begin @job in a thread. It returns 0 or a negative errno. No signal of the program is handled in
 * this thread.
 */
int joiner_start(struct spindle_replica *r, int (*job)(struct spindle_replica *r))
{
	struct joiner *j = &r->joiner;
	sigset_t all, old;
	int err;

	j->job = job;
	j->result = 1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&j->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	j->running = !err;
	return -err;
}

/* Has the job ended, with @result? Then its thread has gone. */
bool joiner_ended(struct spindle_replica *r, int *result)
{
	struct joiner *j = &r->joiner;

	*result = __atomic_load_n(&j->result, __ATOMIC_ACQUIRE);
	if (*result > 0)
		return false;
	pthread_join(j->thread, NULL);
	j->running = false;
	return true;
}

/* The snapshot is here. Return: 0 if load() runs, or why the snapshot is none. */
static int begin_load(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;
	struct snapshot_head head;
	uint32_t i;

	if (pread(j->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    head.magic != SNAPSHOT_MAGIC || head.version != REPLICA_VERSION ||
	    head.lsn != j->lsn || head.bytes != j->size || head.bytes != j->good ||
	    head.current > SPINDLE_MAX_MEMBERS)
		return -EPROTO;
	r->current.n = 0;
	for (i = 0; i < head.current; i++)
		nodes_add(&r->current, head.node[i]);
	if (lseek(j->fd, sizeof(head), SEEK_SET) < 0)
		return -errno;
	leave_group(r);
	j->deadline = 0;
	free_parts(j);
	batch_end(j);
	replica_set_state(r, SPINDLE_REPLICA_LOADING);
	return joiner_start(r, load);
}

static void receive(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;
	int n, err = 0;

	/*
	 * One part at a time, because the kernel takes milliseconds to map it. A process that reads
	 * no message for longer may hold up all senders. The rest keeps the descriptor readable.
	 */
	n = spindle_rdmc_dispatch_some(j->group, &calls, r, 1);
	if (n < 0 && n != -EPIPE)
		err = n;
	else if (j->over)
		err = j->error;
	else if (replica_now() >= j->deadline)
		err = -ETIMEDOUT;
	else
		return;
	/* Whatever ends the history behind a state, the state is here. */
	if (!err || is_complete(j))
		err = begin_load(r);
	if (err)
		ask_again(r, err);
}

/* The program has the state in front of position @lsn. What was kept aside follows. */
void joiner_done(struct spindle_replica *r, uint64_t lsn)
{
	r->joiner.failed = 0;
	r->st.lsn = lsn;
	r->st.error = 0;
	r->valid = true;
	r->say |= SAY_HAVE;
	replica_set_state(r, SPINDLE_REPLICA_FOLLOWING);
}

/* Go on with an attempt. Return: 0, or the error of load(), which is final. */
int joiner_run(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;
	int err;

	if (r->restore.step != RESTORE_NONE)
		return restore_run(r);
	if (r->st.state == SPINDLE_REPLICA_RECEIVING)
		receive(r);
	if (r->st.state != SPINDLE_REPLICA_LOADING || !joiner_ended(r, &err))
		return 0;
	joiner_end(r);
	if (!err)
		joiner_done(r, j->lsn);
	return err;
}
