// SPDX-License-Identifier: GPL-2.0-only
/* Threads that run the jobs of a port. */
#include <signal.h>

#include "io.h"

static struct logd_job *take(struct logd_port *p)
{
	struct logd_job *job;

	pthread_mutex_lock(&p->lock);
	while (!(job = STAILQ_FIRST(&p->waiting)) && !p->stop)
		pthread_cond_wait(&p->wake, &p->lock);
	if (job)
		STAILQ_REMOVE_HEAD(&p->waiting, entry);
	pthread_mutex_unlock(&p->lock);
	return job;
}

static void *run(void *arg)
{
	struct logd_port *p = arg;
	struct logd_job *job;

	while ((job = take(p))) {
		logd_file_run(p, job);
		logd_job_ended(p, job);
	}
	return NULL;
}

/**
 * logd_threads_start() - start the threads of a port
 * @p: the port
 * @n: how many
 *
 * Signals go to the main thread.
 *
 * Return: 0 or a negative errno.
 */
int logd_threads_start(struct logd_port *p, unsigned int n)
{
	sigset_t all, before;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (; p->threads < n && !err; p->threads += !err)
		err = pthread_create(&p->thread[p->threads], NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

/**
 * logd_threads_give() - give a job to a thread
 * @p: the port
 * @job: the job
 */
void logd_threads_give(struct logd_port *p, struct logd_job *job)
{
	pthread_mutex_lock(&p->lock);
	STAILQ_INSERT_TAIL(&p->waiting, job, entry);
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

/**
 * logd_threads_stop() - wait until the threads have run all jobs, and end them
 * @p: the port
 */
void logd_threads_stop(struct logd_port *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	while (p->threads)
		pthread_join(p->thread[--p->threads], NULL);
}
