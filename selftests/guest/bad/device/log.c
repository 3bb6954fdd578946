// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loggers: which files may be one, what becomes of one that says what cannot be so, and what others
 * see of one that tells the truth.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev-bad.h"
#include "queue.h"
#include "tap.h"

#define LOGGER	(SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_HISTORY | SPINDLE_ATTACH_LOG)
/* Milliseconds in which the engine looks at a word. */
#define SOON	20000

/* An attachment of subgroup 1 with the pages that matter here. */
struct logger {
	int fd;
	struct spindle_attach a;
	char *ctl, *usr;
};

static struct spindle_attach logger_args(uint32_t subgroup)
{
	struct spindle_attach a = args(1, subgroup, LOGGER);

	a.from = SPINDLE_FROM_OLDEST;
	return a;
}

static void open_logger(struct logger *l)
{
	l->a = logger_args(1);
	l->fd = open_dev();
	if (call(l->fd, SPINDLE_IOC_ATTACH, &l->a))
		die("a logger cannot attach: %s", strerror(errno));
	l->ctl = mmap(NULL, l->a.ctl.len, PROT_READ, MAP_SHARED, l->fd, l->a.ctl.cookie);
	l->usr = mmap(NULL, l->a.usr.len, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd,
		      l->a.usr.cookie);
	if (l->ctl == MAP_FAILED || l->usr == MAP_FAILED)
		die("mmap: %s", strerror(errno));
}

static void close_logger(struct logger *l)
{
	munmap(l->ctl, l->a.ctl.len);
	munmap(l->usr, l->a.usr.len);
	close(l->fd);
}

static struct spindle_log_words *words(struct logger *l)
{
	return (struct spindle_log_words *)(l->usr + l->a.usr_log);
}

/* Tell the kernel, as a logger does. */
static void say(struct logger *l, struct spindle_log_words w)
{
	struct spindle_log_words *to = words(l);

	w.change = to->change;
	*to = w;
	__atomic_store_n(&to->change, w.change + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	call(l->fd, SPINDLE_IOC_KICK, NULL);
}

static uint64_t load(const char *page, uint32_t offset)
{
	return __atomic_load_n((const uint64_t *)(page + offset), __ATOMIC_ACQUIRE);
}

/* Has the kernel frozen the logger, because of what it said? */
static bool is_frozen(struct logger *l)
{
	return pollable(l->fd, 0, POLLERR | POLLHUP, SOON) &&
	       *(uint32_t *)(l->ctl + l->a.ctl_state) == SPINDLE_STATE_FROZEN &&
	       *(uint32_t *)(l->ctl + l->a.ctl_error) == SPINDLE_ERR_LOG;
}

static void roles(void)
{
	struct spindle_attach a = logger_args(1);
	struct logger l;
	int fd = open_dev();

	a.flags &= ~SPINDLE_ATTACH_HISTORY;
	is(attach(fd, a), EINVAL, "log: a logger that does not know histories");
	a = logger_args(1);
	a.flags = SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_LOG;
	is(attach(fd, a), EINVAL, "log: a logger that does not receive");
	a = logger_args(1);
	a.from = SPINDLE_FROM_NOW;
	is(attach(fd, a), EINVAL, "log: a logger that skips messages");
	is(attach(fd, logger_args(2)), EOPNOTSUPP, "log: a subgroup without logs");
	a = logger_args(1);
	a.next = UINT64_MAX;
	is(attach(fd, a), ERANGE, "log: a log that ends behind the last message");
	open_logger(&l);
	is(attach(fd, logger_args(1)), EBUSY, "log: a second logger");
	close_logger(&l);
	is(attach(fd, logger_args(1)), 0, "log: another logger, once the first has gone");
	close(fd);
}

/* Words that no logger of a subgroup without messages says in view 1. */
static void lies(void)
{
	static const struct {
		struct spindle_log_words w;
		const char *what;
	} lie[] = {
		{ { .persisted = 1 }, "more than was delivered" },
		{ { .persisted = UINT64_MAX }, "the largest position" },
		{ { .low = 1 }, "a log that begins behind its end" },
		{ { .snapshot = 1 }, "a snapshot of the future" },
		{ { .record = 1000 }, "the record of a later view" },
		{ { .record = UINT64_MAX }, "the record of the largest view" },
		{ { .state = SPINDLE_LOG_BEHIND }, "a state that only the kernel sets" },
		{ { .state = UINT32_MAX }, "the largest state" },
	};
	struct logger l;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lie); i++) {
		open_logger(&l);
		say(&l, lie[i].w);
		ok(is_frozen(&l), "log: %s freezes the logger", lie[i].what);
		close_logger(&l);
	}
}

/* Words that change all the time, without any order. */
static void garbage(void)
{
	uint64_t seed = 88172645463325252ULL;
	struct logger l;
	unsigned int n;

	open_logger(&l);
	for (n = 0; n < 200000; n++) {
		uint64_t *word = (uint64_t *)words(&l) + seed % 6;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		__atomic_store_n(word, seed >> seed % 64, __ATOMIC_RELAXED);
		if (!(n % 1000))
			call(l.fd, SPINDLE_IOC_KICK, NULL);
	}
	ok(is_frozen(&l), "log: garbage freezes the logger");
	close_logger(&l);
}

static void truth(void)
{
	struct spindle_queue q;
	struct logger l;
	uint64_t *want, lsn;

	open_logger(&l);
	must_attach(&q, 1, 1, SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV, -1);
	say(&l, (struct spindle_log_words){ .state = SPINDLE_LOG_LOGGING, .record = l.a.vid });
	is(send_wait(&q, 7, 100), 0, "log: a message is sent");
	is(read_release(&q, 7, 100, SOON), 1, "log: a reader has it before it is durable");
	lsn = load(l.ctl, l.a.ctl_durable);
	is(lsn, 0, "log: nothing is durable before the disk has it");
	want = (uint64_t *)(l.usr + l.a.usr_want);
	__atomic_store_n(want, 1, __ATOMIC_SEQ_CST);
	ok(pollable(l.fd, POLLPRI, 0, 100), "log: so nobody is woken");
	say(&l, (struct spindle_log_words){
		.state = SPINDLE_LOG_LOGGING, .record = l.a.vid, .persisted = 1 });
	ok(pollable(l.fd, POLLPRI, POLLPRI, SOON), "log: the process that waits is woken");
	is(load(l.ctl, l.a.ctl_durable), 1, "log: the message is durable");
	say(&l, (struct spindle_log_words){ .state = SPINDLE_LOG_LOGGING, .record = l.a.vid });
	ok(is_frozen(&l), "log: a logger that takes back what it had is frozen");
	is(load(l.ctl, l.a.ctl_durable), 1, "log: what was durable stays so");
	close_logger(&l);
	spindle_detach(&q);
}

/* A disk that has lost what an earlier logger had. */
static void loss(void)
{
	struct spindle_attach a = logger_args(1);
	int fd = open_dev();

	is(attach(fd, a), ENODATA, "log: a log that has lost messages");
	a.from = SPINDLE_FROM_LSN;
	a.lsn = 1;
	is(attach(fd, a), 0, "log: one that begins behind them");
	close(fd);
}

void part_log(void)
{
	roles();
	lies();
	garbage();
	truth();
	loss();
}
