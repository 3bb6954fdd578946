// SPDX-License-Identifier: MIT
/*
 * A replica without a state: receive a snapshot from a donor, and load it.
 *
 * An error ends the attempt, and the replica asks again. Only an error of load() is final, because
 * it may have spoilt what the program had.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replica.h"

/* Wait so long after an attempt has failed, so that a fault that stays is no busy loop. */
#define PAUSE_MS	200

/*
 * Begin to receive what a node offers. From the next message on the replica keeps messages aside.
 */
void joiner_begin(struct spindle_replica *r, uint32_t donor, const struct nodes *to,
		  uint64_t group, uint64_t lsn)
{
	struct spindle_rdmc_options o = {
		.device = r->opts.rdmc_device, .flags = SPINDLE_RDMC_AUTO_CLOSE,
	};
	uint32_t members[SPINDLE_MAX_MEMBERS];
	struct joiner *j = &r->joiner;
	int err;

	members[0] = donor;
	memcpy(members + 1, to->id, to->n * sizeof(*members));
	j->lsn = lsn;
	j->over = false;
	j->error = 0;
	j->size = 0;
	j->deadline = replica_now() + r->opts.timeout_ms;
	r->ask_at = 0;
	r->say &= ~SAY_ASK;
	r->st.donor = donor;
	r->st.received = 0;
	replica_set_state(r, SPINDLE_REPLICA_RECEIVING);
	j->fd = memfd_create("spindle-snapshot", MFD_CLOEXEC);
	err = j->fd < 0 ? -errno : 0;
	if (!err)
		err = spindle_rdmc_create(&j->group, r->opts.node, group, members, to->n + 1, &o);
	if (!err)
		err = replica_watch(r, spindle_rdmc_fd(j->group), EPOLLIN);
	if (err) {
		/* joiner_run() ends the attempt. */
		j->over = true;
		j->error = err;
		replica_wake(r);
	}
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

/* Free all that an attempt has. Waits for load(), if that runs. */
void joiner_end(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;

	if (j->running)
		pthread_join(j->thread, NULL);
	j->running = false;
	spindle_rdmc_destroy(j->group);
	j->group = NULL;
	j->deadline = 0;
	free_parts(j);
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}

static void ask_again(struct spindle_replica *r, int error)
{
	joiner_end(r);
	spill_clear(&r->spill);
	r->joiner.attempt++;
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

/* May this part come? It follows those before it, or comes again. */
static int check_part(const struct spindle_replica *r, const struct spindle_rdmc_event *ev)
{
	if (ev->tag % PART_MIN || ev->tag > r->joiner.size)
		return -EPROTO;
	if (ev->len > r->opts.state_bytes || ev->tag > r->opts.state_bytes - ev->len)
		return -EFBIG;
	return 0;
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
	r->joiner.deadline = 0;
}

static void done(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct spindle_replica *r = arg;
	struct part *p = part_of(&r->joiner, ev->object);

	(void)g;
	if (p) {
		munmap(p->addr, p->len);
		p->addr = NULL;
		if (ev->error == SPINDLE_RDMC_OK)
			r->st.received = p->offset + p->len;
	}
	/* The donor repeats what had no memory; CLOSED or FAILED says how the others end. */
	if (ev->error == SPINDLE_RDMC_REFUSED && ev->reason != ENOMEM)
		r->joiner.error = -(int)ev->reason;
}

static void closed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct joiner *j = &((struct spindle_replica *)arg)->joiner;

	(void)g;
	j->over = true;
	if (ev->error != SPINDLE_RDMC_OK && !j->error)
		j->error = ev->error == SPINDLE_RDMC_NOMEM ? -ENOMEM : -ECONNABORTED;
}

static const struct spindle_rdmc_calls calls = {
	.opened = opened, .incoming = incoming, .done = done, .closed = closed, .failed = closed,
};

static void *load(void *arg)
{
	struct spindle_replica *r = arg;
	int err = r->ops.load(r->ctx, r->joiner.fd, r->joiner.lsn);

	__atomic_store_n(&r->joiner.loaded, err > 0 ? -EINVAL : err, __ATOMIC_RELEASE);
	replica_wake(r);
	return NULL;
}

/* The snapshot is here. Return: 0 if load() runs, or why the snapshot is none. */
static int begin_load(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;
	struct snapshot_head head;
	uint32_t i;

	if (pread(j->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    head.magic != SNAPSHOT_MAGIC || head.version != REPLICA_VERSION ||
	    head.lsn != j->lsn || head.bytes != j->size || head.current > SPINDLE_MAX_MEMBERS)
		return -EPROTO;
	r->current.n = 0;
	for (i = 0; i < head.current; i++)
		nodes_add(&r->current, head.node[i]);
	if (lseek(j->fd, sizeof(head), SEEK_SET) < 0)
		return -errno;
	j->loaded = 1;
	if (pthread_create(&j->thread, NULL, load, r))
		return -EAGAIN;
	j->running = true;
	spindle_rdmc_destroy(j->group);
	j->group = NULL;
	free_parts(j);
	replica_set_state(r, SPINDLE_REPLICA_LOADING);
	return 0;
}

static void receive(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;
	int n = j->group ? spindle_rdmc_dispatch(j->group, &calls, r) : 0, err = 0;

	if (n < 0 && n != -EPIPE)
		err = n;
	else if (j->over)
		err = j->error ? j->error : begin_load(r);
	else if (j->deadline && replica_now() >= j->deadline)
		err = -ETIMEDOUT;
	if (err)
		ask_again(r, err);
}

/* Go on with an attempt. Return: 0, or the error of load(), which is final. */
int joiner_run(struct spindle_replica *r)
{
	struct joiner *j = &r->joiner;
	int err;

	if (r->st.state == SPINDLE_REPLICA_RECEIVING)
		receive(r);
	if (r->st.state != SPINDLE_REPLICA_LOADING)
		return 0;
	err = __atomic_load_n(&j->loaded, __ATOMIC_ACQUIRE);
	if (err > 0)
		return 0;
	joiner_end(r);
	if (err)
		return err;
	r->st.lsn = j->lsn;
	r->st.error = 0;
	r->say |= SAY_HAVE;
	replica_set_state(r, SPINDLE_REPLICA_FOLLOWING);
	return 0;
}
