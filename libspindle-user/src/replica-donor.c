// SPDX-License-Identifier: MIT
/*
 * A donor: save the state in a child process, and send it to those that the offer names.
 *
 * The parent goes on while the child saves, because fork() has made a copy of the state at the
 * position of the offer. An error ends the transfer; those that were to get the state ask again.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replica.h"

static int write_all(int fd, const void *buf, size_t len, off_t at)
{
	ssize_t n = pwrite(fd, buf, len, at);

	if (n == (ssize_t)len)
		return 0;
	return n < 0 ? -errno : -EIO;
}

/* The program's bytes, behind a head. The length in the head says that all of it is there. */
static int write_snapshot(struct spindle_replica *r, int fd, uint64_t lsn)
{
	struct snapshot_head head = {
		.magic = SNAPSHOT_MAGIC, .lsn = lsn, .version = REPLICA_VERSION,
		.current = r->current.n,
	};
	off_t end;
	uint32_t i;
	int err;

	for (i = 0; i < r->current.n; i++)
		head.node[i] = r->current.id[i];
	err = write_all(fd, &head, sizeof(head), 0);
	if (!err && lseek(fd, sizeof(head), SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = r->ops.save(r->ctx, fd, lsn);
	if (err)
		return err < 0 ? err : -EINVAL;
	end = lseek(fd, 0, SEEK_END);
	if (end < (off_t)sizeof(head))
		return end < 0 ? -errno : -EIO;
	head.bytes = (uint64_t)end;
	return write_all(fd, &head, sizeof(head), 0);
}

/* Map the snapshot that was saved. Return: 0, or why there is none. */
static int map_snapshot(struct donor *d)
{
	struct snapshot_head *head;
	struct stat st;
	void *map;

	if (fstat(d->fd, &st))
		return -errno;
	if (st.st_size < (off_t)sizeof(*head))
		return -ENODATA;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	d->map = map;
	d->len = (uint64_t)st.st_size;
	head = map;
	if (head->bytes != d->len)
		return -ENODATA;
	/* The device reads this memory, so no child may share it copy-on-write. */
	return madvise(map, d->len, MADV_DONTFORK) ? -errno : 0;
}

/*
 * Begin to give the state that is behind message @lsn - 1 to the nodes of an offer, and with
 * @history the messages that are older than their histories. Those nodes have the same number of
 * the group.
 */
void donor_begin(struct spindle_replica *r, const struct nodes *to, uint64_t group, uint64_t lsn,
		 bool history)
{
	struct spindle_rdmc_options o = {
		.device = r->opts.rdmc_device, .flags = SPINDLE_RDMC_AUTO_CLOSE,
	};
	uint32_t members[SPINDLE_MAX_MEMBERS], i;
	struct donor *d = &r->donor;
	int err;

	d->offered = false;
	/* A replica that failed in the meantime has no state to give. */
	if (d->group || !r->valid)
		return;
	d->to = *to;
	members[0] = r->opts.node;
	for (i = 0; i < to->n; i++) {
		members[i + 1] = to->id[i];
		nodes_drop(&d->waiting, to->id[i]);
		nodes_drop(&d->filling, to->id[i]);
	}
	d->past.below = history ? d->oldest : 0;
	d->part = PART;
	d->again = UINT64_MAX;
	d->fd = memfd_create("spindle-snapshot", MFD_CLOEXEC);
	err = d->fd < 0 ? -errno : 0;
	if (!err)
		err = spindle_rdmc_create(&d->group, r->opts.node, group, members, to->n + 1, &o);
	if (!err)
		err = replica_watch(r, spindle_rdmc_fd(d->group), EPOLLIN);
	if (!err && (r->opts.flags & SPINDLE_REPLICA_NO_FORK))
		err = write_snapshot(r, d->fd, lsn);
	else if (!err)
		err = replica_fork(r, d->fd, write_snapshot, lsn, &d->child);
	if (!err && (r->opts.flags & SPINDLE_REPLICA_NO_FORK))
		err = map_snapshot(d);
	d->deadline = replica_now() + r->opts.timeout_ms;
	r->st.serving = to->n;
	if (err)
		donor_end(r, err);
	else
		replica_changed(r);
}

static void unmap(struct donor *d)
{
	if (d->map)
		munmap(d->map, d->len);
	if (d->fd >= 0)
		close(d->fd);
	d->map = NULL;
	d->fd = -1;
}

/* There was progress. */
static void rearm(struct spindle_replica *r)
{
	r->donor.deadline = replica_now() + (int64_t)STALL * r->opts.timeout_ms;
}

/* End a transfer, well or not. A child that still saves ends, too. */
void donor_end(struct spindle_replica *r, int error)
{
	struct donor old = r->donor, *d = &r->donor;

	if (!d->group && d->fd < 0 && !error)
		return;
	replica_kill(r, &d->child);
	if (d->group)
		replica_unwatch(r, spindle_rdmc_fd(d->group));
	spindle_rdmc_destroy(d->group);
	past_end(d);
	unmap(d);
	*d = (struct donor){
		.child = -1, .fd = -1, .waiting = old.waiting, .filling = old.filling,
		.oldest = old.oldest, .alone = error, .last = old.last,
		.not_before = error ? replica_now() + PAUSE_MS : 0,
	};
	r->st.serving = 0;
	r->st.error = error;
	replica_changed(r);
}

static int look_after_child(struct spindle_replica *r)
{
	struct donor *d = &r->donor;

	if (d->child < 0 || !replica_ended(r, &d->child))
		return 0;
	rearm(r);
	return map_snapshot(d);
}

static void opened(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct spindle_replica *r = arg;

	(void)g;
	(void)ev;
	r->donor.opened = true;
	rearm(r);
}

/*
 * All receivers have a part. Its memory is freed now, because the donor would stand still while it
 * frees a large snapshot at once. Behind a part that was refused, parts are sent again, so these
 * stay.
 */
static void free_part(struct donor *d, const struct spindle_rdmc_event *ev)
{
	if (ev->tag != d->freed)
		return;
	madvise(d->map + d->freed, ev->len, MADV_REMOVE);
	d->freed += ev->len;
}

static void done(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct spindle_replica *r = arg;
	struct donor *d = &r->donor;

	(void)g;
	rearm(r);
	if (ev->tag & BATCH) {
		past_done(r, ev);
		return;
	}
	d->flying--;
	if (ev->error == SPINDLE_RDMC_OK) {
		free_part(d, ev);
		return;
	}
	if (ev->error == SPINDLE_RDMC_REFUSED && ev->reason == ENOMEM && d->part > PART_MIN) {
		if (ev->tag < d->again)
			d->again = ev->tag;
		return;
	}
	d->over = true;
	d->error = ev->error == SPINDLE_RDMC_REFUSED ? replica_errno(ev->reason) : -ECONNABORTED;
}

static void closed(void *arg, struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	struct donor *d = &((struct spindle_replica *)arg)->donor;

	(void)g;
	d->over = true;
	/* What was refused because there was no memory has come again. */
	if (ev->error != SPINDLE_RDMC_OK && ev->error != SPINDLE_RDMC_INCOMPLETE && !d->error)
		d->error = -ECONNABORTED;
}

static const struct spindle_rdmc_calls calls = {
	.opened = opened, .done = done, .closed = closed, .failed = closed,
};

/* Go back to what was refused because there was no memory, with parts of half the length. */
static void go_back(struct donor *d)
{
	if (d->again == UINT64_MAX || d->flying)
		return;
	d->sent = d->again;
	d->again = UINT64_MAX;
	d->part /= 2;
}

/* Send one part, if that is possible now. As for a receiver, messages come between two parts. */
static int send_part(struct spindle_replica *r)
{
	struct donor *d = &r->donor;
	uint64_t left = d->len - d->sent, n;
	int err;

	if (!left || d->flying == PARTS || d->again != UINT64_MAX)
		return 0;
	n = left < d->part ? left : d->part;
	err = spindle_rdmc_send(d->group, d->map + d->sent, n, d->sent, NULL);
	if (err == -ENOMEM && d->flying)
		return 0;
	if (err && (err != -ENOMEM || d->part == PART_MIN))
		return err;
	if (err) {
		d->part /= 2;
	} else {
		d->sent += n;
		d->flying++;
	}
	replica_wake(r);
	return 0;
}

static int go_on(struct spindle_replica *r)
{
	struct donor *d = &r->donor;
	int err;

	if (!d->opened || !d->map || d->closed)
		return 0;
	go_back(d);
	err = send_part(r);
	if (err || d->sent < d->len || d->flying || d->again != UINT64_MAX)
		return err;
	if (past_run(r))
		return 0;
	d->closed = true;
	return spindle_rdmc_close(d->group);
}

/* A transfer has ended. All receivers have the state once the history behind it has begun. */
static void finish(struct spindle_replica *r, int error)
{
	if (r->donor.past.buf)
		error = 0;
	if (!error)
		r->st.served += r->donor.to.n;
	donor_end(r, error);
}

/* Go on with a transfer, as far as that is possible now. */
void donor_run(struct spindle_replica *r)
{
	struct donor *d = &r->donor;
	int err;

	if (!d->group)
		return;
	err = look_after_child(r);
	if (!err) {
		int n = spindle_rdmc_dispatch(d->group, &calls, r);

		err = n < 0 && n != -EPIPE ? n : 0;
	}
	if (!err && replica_now() >= d->deadline)
		err = -ETIMEDOUT;
	if (!err && !d->over)
		err = go_on(r);
	if (err || d->over)
		finish(r, err ? err : d->error);
}
