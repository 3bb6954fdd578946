/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The port of a durable log to a directory of this machine.
 *
 * Files are open with O_DSYNC, so a write that has ended is durable. Where the file system allows
 * it they are open with O_DIRECT, too. Frames are written by io_uring, or by threads where that is
 * not allowed. Whatever may take long has a thread: files that are made, names, syncs.
 *
 * Owner: the log, whose main thread makes all calls. Context: threads of the port only run jobs,
 * and a lock guards the list of jobs. An eventfd says that jobs have ended.
 */
#ifndef SPINDLE_LOGD_IO_H
#define SPINDLE_LOGD_IO_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "port.h"

/* Memory and places in files are multiples of this: it suits disks with sectors of 512 and 4096. */
#define LOGD_BLOCK	4096U
/* Bytes of zeros that a file is filled with at once. */
#define LOGD_ZEROS	(1U << 20)
/* Writes at once, at most. */
#define LOGD_DEPTH	8U
/* Operations at once: the writes, a sync, a chore, and a step of a repair. */
#define LOGD_JOBS	(LOGD_DEPTH + 3)
/* Bytes of the longest name of a file. */
#define LOGD_NAME	32U
/* Files that stay open to be written: both meta blocks, a segment, and one that is repaired. */
#define LOGD_OPEN	4

struct logd_ring;

/**
 * struct logd_job - an operation under way
 */
struct logd_job {
	/** @entry: entry in the list of those that wait, or of those that have ended */
	STAILQ_ENTRY(logd_job) entry;
	/** @op: the operation */
	struct spindle_dlog_op op;
	/** @used: the job is not free */
	bool used;
	/** @fd: file that is written or synced; not closed by the job */
	int fd;
	/** @at: bytes that are written */
	uint32_t at;
	/** @err: 0 or a negative errno */
	int err;
};

STAILQ_HEAD(logd_jobs, logd_job);

/**
 * struct logd_open - a file that stays open
 */
struct logd_open {
	/** @file: which one */
	struct spindle_dlog_file file;
	/** @fd: -1: none */
	int fd;
};

/**
 * struct logd_port - a directory
 */
struct logd_port {
	/** @port: for the log */
	struct spindle_dlog_port port;
	/** @dir: the directory */
	int dir;
	/** @event: eventfd; readable when a job has ended */
	int event;
	/** @quiet: poll() has found that @event is not readable, for the next logd_port_reap() */
	bool quiet;
	/** @direct: the file system allows O_DIRECT */
	bool direct;
	/** @ring: io_uring, or NULL */
	struct logd_ring *ring;
	/** @open: files to write to, by kind and number */
	struct logd_open open[LOGD_OPEN];
	/** @source: file that is read */
	struct logd_open source;
	/** @job: all jobs */
	struct logd_job job[LOGD_JOBS];
	/** @zeros: LOGD_ZEROS bytes of zeros */
	unsigned char *zeros;

	/** @lock: guards @waiting, @ended and @stop */
	pthread_mutex_t lock;
	/** @wake: @waiting has grown, or @stop is set */
	pthread_cond_t wake;
	/** @waiting: jobs that no thread has taken */
	struct logd_jobs waiting;
	/** @ended: jobs that the log does not know to have ended */
	struct logd_jobs ended;
	/** @stop: threads end when there is nothing to do */
	bool stop;
	/** @thread: the threads */
	pthread_t thread[LOGD_JOBS];
	/** @threads: how many */
	unsigned int threads;

	/** @error: the first operation that has failed, in words; empty without one */
	char error[160];

	/** @tell: told of bytes that the log has read; NULL: nobody is */
	void (*tell)(void *arg, uint32_t bytes);
	/** @tell_arg: of @tell */
	void *tell_arg;
};

/**
 * typedef logd_done_fn - an operation has ended
 * @arg: as given to logd_port_reap()
 * @token: of the operation
 * @err: 0 or a negative errno
 */
typedef void (*logd_done_fn)(void *arg, uint32_t token, int err);

int logd_port_open(struct logd_port *p, const char *path, int lock, bool want_ring,
		   unsigned int depth);
void logd_port_close(struct logd_port *p);
void logd_port_reap(struct logd_port *p, logd_done_fn done, void *arg);

/* Between io.c, thread.c, file.c and ring.c. */

void logd_job_add_ended(struct logd_port *p, struct logd_job *job);
void logd_job_ended(struct logd_port *p, struct logd_job *job);
void logd_file_run(struct logd_port *p, struct logd_job *job);
int logd_file_writable(struct logd_port *p, struct spindle_dlog_file file);
void logd_file_forget(struct logd_port *p, struct spindle_dlog_file file);
void logd_file_name(struct spindle_dlog_file file, char *buf);
void logd_file_port(struct logd_port *p);
int logd_threads_start(struct logd_port *p, unsigned int n);
void logd_threads_give(struct logd_port *p, struct logd_job *job);
void logd_threads_stop(struct logd_port *p);

int logd_ring_open(struct logd_ring **ring, int event, int lock);
void logd_ring_close(struct logd_ring *ring);
int logd_ring_submit(struct logd_ring *ring, struct logd_job *job);
void logd_ring_reap(struct logd_ring *ring, struct logd_port *p);

#endif /* SPINDLE_LOGD_IO_H */
