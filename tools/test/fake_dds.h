/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libspindle-dds as far as spindle-dds needs it: a domain in memory, samples that come when they
 * are due, and a clock that only waits move.
 *
 * Owner: the test, which has one. Context: one thread.
 */
#ifndef SPINDLE_TOOLS_TEST_FAKE_DDS_H
#define SPINDLE_TOOLS_TEST_FAKE_DDS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <spindle/dds.h>

#define FAKE_TOPICS	3U
#define FAKE_SAMPLES	64U
#define FAKE_TEXT	4096U

/* A sample that a reader gets. */
struct fake_sample {
	const char *data;
	uint32_t len;
	uint32_t flags;
	uint64_t due;		/* ns of the clock from which on it is there */
	uint8_t key[SPINDLE_DDS_HASH];
};

struct fake_dds {
	/* what the test sets */
	struct spindle_dds_topic_info topic[FAKE_TOPICS];
	uint32_t topics;
	uint64_t appear;	/* ns of the clock from which on the topics are there */
	struct fake_sample sample[FAKE_SAMPLES];
	unsigned int samples;
	struct spindle_dds_status status;
	uint64_t match;		/* ns of the clock from which on one reader matches */
	unsigned int full;	/* writes that find no room */
	unsigned int slow;	/* flushes that are too early */
	int open_error, reader_error, writer_error, write_error, take_error;
	bool overtaken;
	uint64_t signal;	/* ns of the clock when SIGINT comes; 0: never */

	/* what the tool did */
	uint64_t now;		/* ns of the clock */
	unsigned int given;	/* samples that the reader got */
	struct spindle_dds_opts opts;
	struct spindle_dds_topic made;	/* of the reader or writer */
	struct spindle_dds_qos qos;
	char written[FAKE_TEXT];	/* "NS:TEXT|" of each sample */
	uint8_t key[SPINDLE_DDS_HASH];	/* of the last sample */
	bool keyed;
	unsigned int waits, flushes, opened, closed;
};

extern struct fake_dds fake;

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_poll(struct pollfd *fd, nfds_t n, int ms);
int __wrap_ppoll(struct pollfd *fd, nfds_t n, const struct timespec *t, const sigset_t *mask);

#endif /* SPINDLE_TOOLS_TEST_FAKE_DDS_H */
