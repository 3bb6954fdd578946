/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log in a directory, written by the core over files. Operations take effect when they are
 * submitted, and end when the test settles the log.
 *
 * What message has which position is a matter of arithmetic, so that a test knows what it reads.
 *
 * Owner: the test. Context: one thread.
 */
#ifndef SPINDLE_TEST_FILE_LOG_H
#define SPINDLE_TEST_FILE_LOG_H

#include <sys/types.h>

#include "log/log.h"
#include "log/names.h"

#define FILE_LOG_BLOCK		512U
#define FILE_LOG_FRAME		2048U
#define FILE_LOG_SEGMENT	8192U
#define FILE_LOG_FIRST		100U
#define FILE_LOG_NODE		5U
#define FILE_LOG_SUBGROUP	2U
#define FILE_LOG_BUFFER		(FILE_LOG_FRAME + SPINDLE_DLOG_BLOCK_MAX)
#define FILE_LOG_FILES		64U
/* Bytes of the longest message. */
#define FILE_LOG_LONGEST	90U

struct file_log {
	/* The directory. */
	int dir;
	/* Tokens of operations that wait for their end, and what they return. */
	struct { uint32_t token; int err; } done[16];
	uint32_t pending;
	struct spindle_dlog_port port;
	struct spindle_dlog_scan scan;
	struct spindle_dlog_config config;
	struct spindle_dlog log;
	struct spindle_dlog_segment segment[FILE_LOG_FILES];
	struct spindle_dlog_file file[FILE_LOG_FILES];
	unsigned char slot[2][FILE_LOG_BUFFER] __attribute__((aligned(4096)));
	unsigned char meta[SPINDLE_DLOG_BLOCK_MAX] __attribute__((aligned(4096)));
	unsigned char window[FILE_LOG_BUFFER] __attribute__((aligned(4096)));
};

/* Begin to write the log in this directory; a new one has this salt. Return: 0 or an errno. */
int file_log_start(struct file_log *f, const char *dir, uint64_t salt);
/* The same for a log of this identity, which has no position below @first, if the log is new. */
int file_log_start_as(struct file_log *f, const char *dir, const struct spindle_dlog_ident *id,
		      uint64_t first);
void file_log_stop(struct file_log *f);
/* Cut the log in this directory at a position, between two lives. Return: 0 or an errno. */
int file_log_cut(struct file_log *f, const char *dir, uint64_t lsn);
/* Append messages, with one frame for each @each of them, and have them durable. */
int file_log_write(struct file_log *f, uint32_t messages, uint32_t each);
/* Append this message, in a frame of its own if @commit. */
int file_log_append(struct file_log *f, const struct spindle_dlog_msg *m, bool commit);
/* Trim, and have all files recycled that this allows. */
void file_log_trim(struct file_log *f, uint64_t lsn);
/* An empty frame says what is durable. */
void file_log_mark(struct file_log *f);
/* The message at this position. The bytes are in @data, which has room for the longest one. */
struct spindle_dlog_msg file_log_msg(uint64_t lsn, unsigned char *data);

/* The linker puts the second one in the place of the first one, for hooks of a test. */
ssize_t __real_pread64(int fd, void *buf, size_t len, off_t offset);
ssize_t __wrap_pread64(int fd, void *buf, size_t len, off_t offset);

#endif /* SPINDLE_TEST_FILE_LOG_H */
