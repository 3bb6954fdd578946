// SPDX-License-Identifier: GPL-2.0-only
/* A domain in memory. See fake_dds.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_dds.h"

struct fake_dds fake;

static const char *words = "no error";

/* ---- clock --------------------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	*t = (struct timespec){ .tv_sec = (time_t)(fake.now / 1000000000),
				.tv_nsec = (long)(fake.now % 1000000000) };
	return 0;
}

/* Time goes by, and a signal may come. */
static void pass(uint64_t ns)
{
	fake.waits++;
	fake.now += ns;
	if (fake.signal && fake.now >= fake.signal) {
		fake.signal = 0;
		raise(SIGINT);
	}
}

int __wrap_poll(struct pollfd *fd, nfds_t n, int ms)
{
	(void)fd;
	(void)n;
	pass((uint64_t)ms * 1000000);
	return 0;
}

/* Standard input can always be read. */
int __wrap_ppoll(struct pollfd *fd, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	(void)mask;
	if (n == 3 && fd[2].fd == STDIN_FILENO) {
		fd[2].revents = POLLIN;
		return 1;
	}
	pass((uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec);
	return 0;
}

/* ---- participant --------------------------------------------------------------------- */

static int fail(int err, const char *text)
{
	words = text;
	return err;
}

int spindle_dds_open(struct spindle_dds **out, const struct spindle_dds_opts *o)
{
	fake.opts = *o;
	*out = (struct spindle_dds *)&fake;
	return fake.open_error ? fail(fake.open_error, "no participant has the directory") : 0;
}

void spindle_dds_close(struct spindle_dds *p)
{
	(void)p;
}

const char *spindle_dds_error(const struct spindle_dds *p)
{
	(void)p;
	return words;
}

int spindle_dds_fd(const struct spindle_dds *p)
{
	(void)p;
	return -1;
}

int spindle_dds_work(struct spindle_dds *p)
{
	(void)p;
	return 0;
}

uint32_t spindle_dds_topics(struct spindle_dds *p, struct spindle_dds_topic_info *info, uint32_t n)
{
	uint32_t i;

	(void)p;
	for (i = 0; i < n && i < fake.topics; i++)
		info[i] = fake.topic[i];
	return fake.topics;
}

int spindle_dds_find(struct spindle_dds *p, const char *name, struct spindle_dds_topic_info *info)
{
	uint32_t i;

	(void)p;
	for (i = 0; i < fake.topics && fake.now >= fake.appear; i++) {
		*info = fake.topic[i];
		if (!strcmp(info->topic.name, name))
			return 0;
	}
	return fail(-ENOENT, "there is no such topic");
}

/* ---- writer -------------------------------------------------------------------------- */

static void note(const struct spindle_dds_topic *topic, const struct spindle_dds_qos *qos)
{
	fake.made = *topic;
	fake.qos = *qos;
	fake.opened++;
}

int spindle_dds_writer_open(struct spindle_dds_writer **out, struct spindle_dds *p,
			    const struct spindle_dds_topic *topic,
			    const struct spindle_dds_qos *qos)
{
	*out = (struct spindle_dds_writer *)p;
	note(topic, qos);
	return fake.writer_error ? fail(fake.writer_error, "samples do not fit") : 0;
}

void spindle_dds_writer_close(struct spindle_dds_writer *w)
{
	(void)w;
	fake.closed++;
}

int spindle_dds_write(struct spindle_dds_writer *w, const void *data, uint32_t len,
		      const struct spindle_dds_info *info)
{
	size_t at = strlen(fake.written);

	(void)w;
	if (fake.full) {
		fake.full--;
		return fail(-EAGAIN, "there is no room now");
	}
	if (fake.write_error)
		return fail(fake.write_error, "the subgroup takes no messages");
	fake.keyed = info->key;
	if (info->key)
		memcpy(fake.key, info->key, sizeof(fake.key));
	snprintf(fake.written + at, sizeof(fake.written) - at, "%llu:%.*s|",
		 (unsigned long long)fake.now, (int)len, (const char *)data);
	return 0;
}

int spindle_dds_writer_fd(const struct spindle_dds_writer *w)
{
	(void)w;
	return -1;
}

int spindle_dds_flush(struct spindle_dds_writer *w, int timeout_ms)
{
	(void)w;
	fake.flushes++;
	if (!fake.slow)
		return 0;
	fake.slow--;
	pass((uint64_t)timeout_ms * 1000000);
	return fail(-EAGAIN, "not all members have the samples");
}

void spindle_dds_writer_status(const struct spindle_dds_writer *w, struct spindle_dds_status *st)
{
	(void)w;
	*st = fake.status;
	st->matched = fake.now >= fake.match;
}

/* ---- reader -------------------------------------------------------------------------- */

int spindle_dds_reader_open(struct spindle_dds_reader **out, struct spindle_dds *p,
			    const struct spindle_dds_topic *topic,
			    const struct spindle_dds_qos *qos)
{
	*out = (struct spindle_dds_reader *)p;
	note(topic, qos);
	return fake.reader_error ? fail(fake.reader_error, "the topic has another type") : 0;
}

void spindle_dds_reader_close(struct spindle_dds_reader *r)
{
	(void)r;
	fake.closed++;
}

/* One sample at a time, so that each has its own time. */
int spindle_dds_take(struct spindle_dds_reader *r, struct spindle_dds_sample *s, unsigned int most)
{
	const struct fake_sample *f = &fake.sample[fake.given];

	(void)r;
	if (fake.given == fake.samples || !most)
		return fake.take_error ? fail(fake.take_error, "the reader cannot go on") : 0;
	if (f->due > fake.now)
		return 0;
	fake.given++;
	*s = (struct spindle_dds_sample){
		.data = f->data, .len = f->len, .flags = f->flags, .lsn = 100 + fake.given,
		.writer = 7, .sequence = fake.given, .time = -5, .node = 3,
	};
	memcpy(s->key, f->key, sizeof(s->key));
	return 1;
}

int spindle_dds_intact(const struct spindle_dds_reader *r)
{
	(void)r;
	return !fake.overtaken;
}

int spindle_dds_wait(struct spindle_dds_reader *r, int timeout_ms)
{
	uint64_t ns = (uint64_t)timeout_ms * 1000000;
	const struct fake_sample *f = &fake.sample[fake.given];

	(void)r;
	if (fake.given < fake.samples && f->due < fake.now + ns)
		ns = f->due > fake.now ? f->due - fake.now : 0;
	pass(ns);
	return fake.given < fake.samples;
}

void spindle_dds_reader_status(const struct spindle_dds_reader *r, struct spindle_dds_status *st)
{
	(void)r;
	*st = fake.status;
}
