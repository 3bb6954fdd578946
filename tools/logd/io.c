// SPDX-License-Identifier: GPL-2.0-only
/* The life of a port, and the way of an operation through it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fix.h"
#include "io.h"

static const char *const what_text[] = {
	[SPINDLE_DLOG_WRITE] = "write to",
	[SPINDLE_DLOG_SYNC] = "sync",
	[SPINDLE_DLOG_CREATE] = "make",
	[SPINDLE_DLOG_RENAME] = "rename",
	[SPINDLE_DLOG_REPLACE] = "replace by",
	[SPINDLE_DLOG_REMOVE] = "remove",
	[SPINDLE_DLOG_SYNC_DIR] = "sync the directory of",
};

static struct logd_job *free_job(struct logd_port *p)
{
	unsigned int i;

	for (i = 0; i < LOGD_JOBS; i++) {
		if (!p->job[i].used) {
			p->job[i].used = true;
			return &p->job[i];
		}
	}
	/* The log has at most as many operations under way as there are jobs. */
	abort();
}

/**
 * logd_job_add_ended() - put a job where logd_port_reap() finds it when it is called next
 * @p: the port
 * @job: the job, with its error
 */
void logd_job_add_ended(struct logd_port *p, struct logd_job *job)
{
	pthread_mutex_lock(&p->lock);
	STAILQ_INSERT_TAIL(&p->ended, job, entry);
	pthread_mutex_unlock(&p->lock);
}

/**
 * logd_job_ended() - the same, and have the main thread call logd_port_reap()
 * @p: the port
 * @job: the job, with its error
 */
void logd_job_ended(struct logd_port *p, struct logd_job *job)
{
	logd_job_add_ended(p, job);
	/* The counter of an eventfd has room for more than all jobs of a century. */
	if (eventfd_write(p->event, 1))
		abort();
}

static bool goes_by_ring(const struct logd_port *p, const struct spindle_dlog_op *op)
{
	return p->ring && (op->what == SPINDLE_DLOG_WRITE || op->what == SPINDLE_DLOG_SYNC);
}

static void port_submit(void *env, const struct spindle_dlog_op *op)
{
	struct logd_port *p = env;
	struct logd_job *job = free_job(p);
	int err = 0;

	job->op = *op;
	job->at = 0;
	job->err = 0;
	job->fd = -1;
	/* The file that had the name is another one. */
	if (op->what == SPINDLE_DLOG_CREATE)
		logd_file_forget(p, op->file);
	if (op->what == SPINDLE_DLOG_WRITE || op->what == SPINDLE_DLOG_SYNC) {
		job->fd = logd_file_writable(p, op->file);
		err = job->fd < 0 ? job->fd : 0;
	}
	if (!err && goes_by_ring(p, op)) {
		err = logd_ring_submit(p->ring, job);
	} else if (!err) {
		/* The job belongs to a thread from here on, and may have ended already. */
		logd_threads_give(p, job);
		return;
	}
	if (!err)
		return;
	job->err = err;
	logd_job_ended(p, job);
}

static void note_error(struct logd_port *p, const struct logd_job *job)
{
	char name[LOGD_NAME];

	/* The log goes on when a repair has failed, and without a file that has no space. */
	if (!job->err || *p->error || job->op.token == SPINDLE_DLOG_TOKEN_REPAIR ||
	    (job->op.what == SPINDLE_DLOG_CREATE && job->err == -ENOSPC))
		return;
	logd_file_name(job->op.file, name);
	snprintf(p->error, sizeof(p->error), "cannot %s %s: %s", what_text[job->op.what], name,
		 strerror(-job->err));
}

static struct logd_job *take_ended(struct logd_port *p)
{
	struct logd_job *job;

	pthread_mutex_lock(&p->lock);
	job = STAILQ_FIRST(&p->ended);
	if (job)
		STAILQ_REMOVE_HEAD(&p->ended, entry);
	pthread_mutex_unlock(&p->lock);
	return job;
}

/**
 * logd_port_reap() - report the operations that have ended
 * @p: the port
 * @done: called for each of them; other operations may begin there
 * @arg: its first argument
 *
 * Does not wait.
 */
void logd_port_reap(struct logd_port *p, logd_done_fn done, void *arg)
{
	struct logd_job *job;
	eventfd_t count;

	/*
	 * The counter is reset before the jobs are looked at, so a later job makes it readable
	 * again. One that poll() has not found readable needs no system call.
	 */
	if (!p->quiet)
		(void)eventfd_read(p->event, &count);
	p->quiet = false;
	if (p->ring)
		logd_ring_reap(p->ring, p);
	while ((job = take_ended(p))) {
		uint32_t token = job->op.token;
		int err = job->err;

		note_error(p, job);
		if (job->op.what == SPINDLE_DLOG_REPLACE) {
			logd_file_forget(p, job->op.file);
			logd_file_forget(p, job->op.to);
		}
		job->used = false;
		done(arg, token, err);
	}
}

static int start_io(struct logd_port *p, int lock, bool want_ring, unsigned int depth)
{
	int err = -EPERM;

	p->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (p->event < 0)
		return -errno;
	if (want_ring)
		err = logd_ring_open(&p->ring, p->event, lock);
	/* A process without io_uring writes by threads, and another error is no reason to fail. */
	if (err)
		p->ring = NULL;
	p->zeros = aligned_alloc(LOGD_BLOCK, LOGD_ZEROS);
	if (!p->zeros)
		return -ENOMEM;
	memset(p->zeros, 0, LOGD_ZEROS);
	/* One for the chore, and one for each write that has no ring. */
	return logd_threads_start(p, p->ring ? 1 : 1 + depth);
}

/**
 * logd_port_open() - begin to use a directory
 * @p: the port; all of it is overwritten
 * @path: the directory
 * @lock: descriptor of its lock file, which the ring keeps until its last write has ended
 * @want_ring: use io_uring if that is allowed
 * @depth: writes at once
 *
 * Return: 0 or a negative errno.
 */
int logd_port_open(struct logd_port *p, const char *path, int lock, bool want_ring,
		   unsigned int depth)
{
	unsigned int i;
	int fd;

	*p = (struct logd_port){ .dir = -1, .event = -1, .source = { .fd = -1 } };
	for (i = 0; i < LOGD_OPEN; i++)
		p->open[i].fd = -1;
	STAILQ_INIT(&p->waiting);
	STAILQ_INIT(&p->ended);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	p->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return -errno;
	fd = openat(p->dir, "LOCK", O_RDONLY | O_DIRECT | O_CLOEXEC);
	p->direct = fd >= 0;
	if (fd >= 0)
		close(fd);
	logd_file_port(p);
	p->port.env = p;
	p->port.through = true;
	p->port.submit = port_submit;
	return start_io(p, lock, want_ring, depth);
}

/**
 * logd_port_close() - end a port, also one that logd_port_open() failed for
 * @p: the port
 *
 * Waits for jobs of the threads.
 */
void logd_port_close(struct logd_port *p)
{
	unsigned int i;

	logd_threads_stop(p);
	if (p->ring)
		logd_ring_close(p->ring);
	for (i = 0; i < LOGD_OPEN; i++)
		if (p->open[i].fd >= 0)
			close(p->open[i].fd);
	if (p->source.fd >= 0)
		close(p->source.fd);
	if (p->event >= 0)
		close(p->event);
	if (p->dir >= 0)
		close(p->dir);
	free(p->zeros);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
}
