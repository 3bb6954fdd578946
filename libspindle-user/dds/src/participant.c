// SPDX-License-Identifier: MIT
/* A participant: its options, how it begins, and how it ends. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "internal.h"

#define TIMEOUT_MS	10000U
#define LEASE_MS	10000U
#define LEASE_MIN_MS	100U
#define LATE_SAMPLES	4096U
#define LATE_MAX	(1U << 20)
/* An offer of a directory is waited for at most so long, before the next participant is asked. */
#define OFFER_MS	2000U
/* Records that are kept aside while a directory comes, in bytes. */
#define SPILL_BYTES	(64ULL << 20)

/* Set the words of an error. Return: @err. */
int dds_fail(struct spindle_dds *p, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	return err;
}

/* Milliseconds of a clock that never goes back. */
int64_t dds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

const char *spindle_dds_error(const struct spindle_dds *p)
{
	return p->why;
}

int spindle_dds_fd(const struct spindle_dds *p)
{
	return spindle_replica_fd(p->replica);
}

/* ---- open -------------------------------------------------------------------------- */

static void set_default(uint32_t *field, uint32_t value)
{
	if (!*field)
		*field = value;
}

/* The strings of the caller become copies, or NULL if there is no memory. */
static int copy_strings(struct spindle_dds *p)
{
	const char **string[] = { &p->opts.device, &p->opts.rdmc_device, &p->opts.control,
				  &p->opts.name };
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(string) / sizeof(string[0]); i++) {
		if (!*string[i])
			continue;
		*string[i] = strdup(*string[i]);
		good = good && *string[i];
	}
	return good ? 0 : dds_fail(p, -ENOMEM, "no memory");
}

static bool are_good(const struct spindle_dds_opts *o)
{
	static const uint32_t no_resv[sizeof(o->resv) / sizeof(o->resv[0])];

	return !memcmp(o->resv, no_resv, sizeof(no_resv)) && !(o->flags & ~SPINDLE_DDS_BEGIN) &&
	       o->shared <= SPINDLE_DDS_SHARED && (!o->lease_ms || o->lease_ms >= LEASE_MIN_MS) &&
	       o->late_samples <= LATE_MAX;
}

static int take_opts(struct spindle_dds *p, const struct spindle_dds_opts *o)
{
	struct spindle_dds_opts *own = &p->opts;

	if (!are_good(o))
		return dds_fail(p, -EINVAL, "the options are wrong");
	if (o->name && strlen(o->name) >= SPINDLE_DDS_SHORT)
		return dds_fail(p, -EINVAL, "the name of a participant has at most %u characters",
				SPINDLE_DDS_SHORT - 1);
	*own = *o;
	if (!own->control)
		own->control = "dds";
	set_default(&own->timeout_ms, TIMEOUT_MS);
	set_default(&own->lease_ms, LEASE_MS);
	set_default(&own->late_samples, LATE_SAMPLES);
	return copy_strings(p);
}

static int make_directories(struct spindle_dds *p)
{
	p->directory = malloc(sizeof(*p->directory));
	p->fresh = malloc(sizeof(*p->fresh));
	if (!p->directory || !p->fresh)
		return dds_fail(p, -ENOMEM, "no memory for the directory");
	spindle_dds_directory_init(p->directory, NULL);
	return 0;
}

/* Why this process could not become a replica of the directory. */
static const char *open_words(int err)
{
	switch (-err) {
	case EBUSY:
		return "another process is the participant of the node";
	case ENODEV:
		return "there is no such node, or no device";
	case ENOENT:
		return "the node has no such subgroup, or there is no device";
	case EPERM:
		return "the node is no sender there";
	default:
		return spindle_replica_strerror(err);
	}
}

static int open_replica(struct spindle_dds *p)
{
	uint32_t offer = p->opts.timeout_ms / 4;
	struct spindle_replica_opts o = {
		.device = p->opts.device, .rdmc_device = p->opts.rdmc_device,
		.node = p->opts.node, .name = p->opts.control,
		/* A directory is small, and a program does not expect that a library forks. */
		.flags = SPINDLE_REPLICA_NO_FORK,
		.timeout_ms = offer < OFFER_MS ? offer + 1 : OFFER_MS,
		.spill_bytes = SPILL_BYTES, .state_bytes = SPINDLE_DDS_SNAPSHOT_BYTES,
	};
	int err = spindle_replica_open(&p->replica, &dds_replica_ops, p, &o);

	if (err)
		return dds_fail(p, err, "control subgroup '%s': %s", p->opts.control,
				open_words(err));
	if (spindle_replica_max_msg(p->replica) < SPINDLE_DDS_RECORD_BYTES)
		return dds_fail(p, -EMSGSIZE, "control subgroup '%s' needs messages of %u bytes",
				p->opts.control, SPINDLE_DDS_RECORD_BYTES + SPINDLE_REPLICA_HEAD);
	return 0;
}

/* Wait until this participant has the directory. Return: 0; -ETIMEDOUT; or why not, with words. */
static int wait_for_directory(struct spindle_dds *p, struct spindle_replica_stat *st)
{
	int64_t end = dds_now() + p->opts.timeout_ms;
	int err = 0;

	spindle_replica_stat(p->replica, st);
	while (!err && st->state != SPINDLE_REPLICA_CURRENT) {
		err = dds_wait(p, POLLIN, end);
		spindle_replica_stat(p->replica, st);
	}
	return err;
}

static int get_directory(struct spindle_dds *p)
{
	struct spindle_replica_stat st;
	int err = wait_for_directory(p, &st);

	/* Others would lose the directory that they have, so they have their time to answer. */
	if (err == -ETIMEDOUT && st.state == SPINDLE_REPLICA_ASKING &&
	    p->opts.flags & SPINDLE_DDS_BEGIN) {
		spindle_replica_declare(p->replica);
		err = wait_for_directory(p, &st);
	}
	if (err != -ETIMEDOUT)
		return err;
	if (st.state == SPINDLE_REPLICA_ASKING)
		return dds_fail(p, -ENODATA, "no participant has the directory of the domain");
	return dds_fail(p, err, "the directory of the domain did not come in %u ms",
			p->opts.timeout_ms);
}

static int say_hello(struct spindle_dds *p)
{
	struct spindle_dds_record hello = {
		.kind = SPINDLE_DDS_HELLO, .shared = p->opts.shared,
		.lease_ms = p->opts.lease_ms == SPINDLE_DDS_NO_LEASE ? 0 : p->opts.lease_ms,
	};
	int err;

	/* The number of shared subgroups may be in records that are still to be read. */
	do
		err = spindle_dds_work(p);
	while (err > 0);
	if (err)
		return err;
	if (!hello.shared)
		hello.shared = p->directory->shared ? p->directory->shared : 1;
	if (getrandom(&p->incarnation, sizeof(p->incarnation), 0) !=
	    (ssize_t)sizeof(p->incarnation))
		return dds_fail(p, -EIO, "there are no random numbers");
	hello.incarnation = p->incarnation;
	if (p->opts.name)
		strcpy(hello.name, p->opts.name);
	if (!spindle_dds_good_hello(&hello))
		return dds_fail(p, -EINVAL, "the name of the participant cannot be printed, or has "
				"spaces");
	return dds_say_and_wait(p, &hello);
}

int spindle_dds_open(struct spindle_dds **out, const struct spindle_dds_opts *o)
{
	struct spindle_dds *p = calloc(1, sizeof(*p));
	int err;

	*out = p;
	if (!p)
		return -ENOMEM;
	p->stop = -1;
	err = take_opts(p, o);
	if (!err)
		err = make_directories(p);
	if (!err)
		err = open_replica(p);
	if (!err)
		err = get_directory(p);
	if (!err)
		err = say_hello(p);
	return err ? err : dds_beat_begin(p);
}

/* ---- close ------------------------------------------------------------------------- */

/* Say GONE, and wait until that has come back. */
static void say_gone(struct spindle_dds *p)
{
	struct spindle_dds_record gone = { .kind = SPINDLE_DDS_GONE, .id = p->id };

	if (p->id && !p->lost)
		dds_say_and_wait(p, &gone);
}

void spindle_dds_close(struct spindle_dds *p)
{
	if (!p)
		return;
	while (p->readers)
		spindle_dds_reader_close(p->readers);
	while (p->writers)
		spindle_dds_writer_close(p->writers);
	dds_beat_end(p);
	if (p->replica)
		say_gone(p);
	spindle_replica_close(p->replica);
	free(p->directory);
	free(p->fresh);
	free((char *)p->opts.device);
	free((char *)p->opts.rdmc_device);
	free((char *)p->opts.control);
	free((char *)p->opts.name);
	free(p);
}
