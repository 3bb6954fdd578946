// SPDX-License-Identifier: GPL-2.0-only
/* Writes and syncs by io_uring. */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "io.h"

struct logd_ring {
	struct io_uring uring;
	/* A job was refused, and is still in the queue: nothing may be submitted any more. */
	bool broken;
};

/**
 * logd_ring_open() - begin to use io_uring
 * @ring: set
 * @event: eventfd to signal at the end of a job
 * @lock: descriptor of the lock file
 *
 * A process that was killed may leave writes behind, and the kernel ends them after it has closed
 * the files of the process. The ring keeps the lock file until then, so that no other process
 * begins before.
 *
 * Return: 0 or a negative errno, also where io_uring is not allowed.
 */
int logd_ring_open(struct logd_ring **ring, int event, int lock)
{
	struct logd_ring *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	err = io_uring_queue_init(LOGD_JOBS, &r->uring, 0);
	if (err) {
		free(r);
		return err;
	}
	err = io_uring_register_files(&r->uring, &lock, 1);
	if (!err)
		err = io_uring_register_eventfd(&r->uring, event);
	if (err) {
		logd_ring_close(r);
		return err;
	}
	*ring = r;
	return 0;
}

/**
 * logd_ring_close() - end a ring
 * @ring: the ring
 */
void logd_ring_close(struct logd_ring *ring)
{
	io_uring_queue_exit(&ring->uring);
	free(ring);
}

/**
 * logd_ring_submit() - begin a job, or the rest of one
 * @ring: the ring
 * @job: a write or a sync
 *
 * Return: 0 or a negative errno.
 */
int logd_ring_submit(struct logd_ring *ring, struct logd_job *job)
{
	const struct spindle_dlog_op *op = &job->op;
	struct io_uring_sqe *sqe;
	int n;

	sqe = ring->broken ? NULL : io_uring_get_sqe(&ring->uring);
	if (!sqe)
		return -EBUSY;
	if (op->what == SPINDLE_DLOG_WRITE)
		io_uring_prep_write(sqe, job->fd, (const unsigned char *)op->buf + job->at,
				    op->len - job->at, op->offset + job->at);
	else
		io_uring_prep_fsync(sqe, job->fd, IORING_FSYNC_DATASYNC);
	io_uring_sqe_set_data(sqe, job);
	do
		n = io_uring_submit(&ring->uring);
	while (n == -EINTR);
	ring->broken = n != 1;
	if (!ring->broken)
		return 0;
	return n < 0 ? n : -EIO;
}

/* Note the result of a part. Return: whether the job has ended. */
static bool take_result(struct logd_ring *ring, struct logd_job *job, int res)
{
	bool writes = job->op.what == SPINDLE_DLOG_WRITE;

	if (res < 0 && res != -EINTR)
		job->err = res;
	else if (!res && writes)
		job->err = -EIO;
	else if (res > 0)
		job->at += (uint32_t)res;
	if (job->err || (writes ? job->at == job->op.len : !res))
		return true;
	job->err = logd_ring_submit(ring, job);
	return job->err;
}

/**
 * logd_ring_reap() - find the jobs that have ended
 * @ring: the ring
 * @p: the port; logd_port_reap() finds them there
 */
void logd_ring_reap(struct logd_ring *ring, struct logd_port *p)
{
	struct io_uring_cqe *cqe;

	while (!io_uring_peek_cqe(&ring->uring, &cqe)) {
		struct logd_job *job = io_uring_cqe_get_data(cqe);
		int res = cqe->res;

		io_uring_cqe_seen(&ring->uring, cqe);
		if (take_result(ring, job, res))
			logd_job_add_ended(p, job);
	}
}
