// SPDX-License-Identifier: GPL-2.0-only
/*
 * Silence: which files may declare it, and how many rounds? It must lose no message, even if the
 * file is closed at the same time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev-bad.h"
#include "queue.h"
#include "silence.h"
#include "tap.h"

int silence(int fd, uint64_t rounds)
{
	return call(fd, SPINDLE_IOC_SILENCE, &rounds);
}

/* The pointer leads to no number, to half of one, or to one in read-only memory. */
static void pointers(int fd)
{
	unsigned char *page = last_page();

	is(call(fd, SPINDLE_IOC_SILENCE, NULL), EFAULT, "silence: no argument");
	is(call(fd, SPINDLE_IOC_SILENCE, (void *)8), EFAULT, "silence: bad pointer");
	is(call(fd, SPINDLE_IOC_SILENCE, (void *)-8L), EFAULT, "silence: the kernel's memory");
	is(call(fd, SPINDLE_IOC_SILENCE, page + PAGE), EFAULT, "silence: a page that is not there");
	is(call(fd, SPINDLE_IOC_SILENCE, page + PAGE - 4), EFAULT, "silence: half a number");
	is(call(fd, SPINDLE_IOC_SILENCE, page + 1), 0, "silence: a number at an odd address");
	mprotect(page, PAGE, PROT_READ);
	is(call(fd, SPINDLE_IOC_SILENCE, page), 0, "silence: a number that is only for reading");
	munmap(page, PAGE);
}

static void numbers(int fd)
{
	is(silence(fd, 0), 0, "silence: none");
	is(silence(fd, 1), 0, "silence: one round");
	is(silence(fd, SPINDLE_MAX_ROUNDS), 0, "silence: as much as may be");
	is(silence(fd, SPINDLE_MAX_ROUNDS), 0, "silence: the maximum once more");
	is(silence(fd, SPINDLE_MAX_ROUNDS + 1), EINVAL, "silence: one more than may be");
	is(silence(fd, 1ULL << 56), EINVAL, "silence: all rounds that there are");
	is(silence(fd, 1ULL << 63), EINVAL, "silence: negative");
	is(silence(fd, UINT64_MAX), EINVAL, "silence: so much that a sum is too small");
}

/* Two senders send before and after each silence. All messages come, in one order. */
static void messages(struct spindle_queue *q, struct spindle_queue *far)
{
	static const uint64_t rounds[] = { 0, 1, 2, 1000, 1ULL << 32, 3 };
	unsigned int i, got = 0, good = 0;

	for (i = 0; i < ARRAY_SIZE(rounds); i++) {
		good += !send_wait(q, 2 * i, 100) && !silence(q->fd, rounds[i]);
		got += read_release(q, 2 * i, 100, 20000) == 1;
		got += read_release(far, 2 * i, 100, 20000) == 1;
		good += !send_wait(far, 2 * i + 1, 64);
		got += read_release(q, 2 * i + 1, 64, 20000) == 1;
		got += read_release(far, 2 * i + 1, 64, 20000) == 1;
	}
	is(good, 2 * i, "silence: all messages are sent");
	is(got, 4 * i, "silence: two readers get all messages in one order");
}

/* A child goes on declaring silence while the parent closes the file that the child inherited. */
static void in_a_child(void)
{
	struct spindle_queue q;
	int hold[2], status;
	unsigned int i;
	pid_t pid;

	must_attach(&q, 1, 1, BOTH, -1);
	if (pipe(hold))
		die("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		int err = 0;
		char c;

		close(hold[1]);
		for (i = 0; i < 200 && !err; i++)
			err = silence(q.fd, 5);
		if (read(hold[0], &c, 1))
			_exit(1);
		/* The parent has closed the file. */
		for (i = 0; i < 200 && !err; i++)
			err = silence(q.fd, i);
		_exit(err);
	}
	close(hold[0]);
	for (i = 0; i < 100; i++)
		if (send_one(&q, i, i) || read_release(&q, i, i, 20000) != 1)
			break;
	is(i, 100, "silence: a child declares it during the parent's traffic");
	spindle_detach(&q);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), EBUSY,
	   "silence: the child keeps the attachment");
	close(hold[1]);
	waitpid(pid, &status, 0);
	is(status, 0, "silence: a child with the only file declares it");
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), 0,
	   "silence: the attachment ends with the child");
}

static struct race {
	int fd;
	bool stop;
} race;

/*
 * Call the ioctl on a descriptor that may be closed at any time. Count the errors that must not
 * occur.
 */
static void *declare(void *arg)
{
	unsigned int odd_ones = 0;

	(void)arg;
	while (!__atomic_load_n(&race.stop, __ATOMIC_ACQUIRE)) {
		int err = silence(race.fd, 3);

		odd_ones += err && err != EBADF && err != ENOTCONN;
	}
	return (void *)(uintptr_t)odd_ones;
}

/* The file is attached and closed while a thread declares silence all the time. */
static void under_a_close(void)
{
	pthread_t thread;
	void *odd_ones;
	int i, err = 0;

	race = (struct race){ .fd = dup(0) };
	close(race.fd);
	if (pthread_create(&thread, NULL, declare, NULL))
		die("no thread");
	for (i = 0; i < 300 && !err; i++) {
		int fd = open_dev();

		/* No other thread opens files, so the descriptor is the same. */
		if (fd != race.fd)
			err = EPROTO;
		else
			err = attach(fd, args(1, 1, BOTH));
		close(fd);
		/* The other thread does the close if it is in a call. */
		if (err == EBUSY)
			err = 0;
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, &odd_ones);
	is(err, 0, "silence: 300 files come and go");
	is((uintptr_t)odd_ones, 0, "silence: each call succeeds or has no attachment");
	is(attach_new(1, 1, BOTH, NULL), 0, "silence: no attachment is left of these files");
}

void part_silence(void)
{
	struct spindle_queue q, far;
	int fd = open_dev();

	is(silence(fd, 1), ENOTCONN, "silence: of an unattached file");
	is(call(fd, SPINDLE_IOC_SILENCE, NULL), EFAULT,
	   "silence: an unattached file without an argument");
	is(silence(fd, SPINDLE_MAX_ROUNDS + 1), EINVAL,
	   "silence: an unattached file with too many rounds");
	is(attach(fd, args(1, 77, BOTH)), ENOENT, "silence: an attach that fails");
	is(silence(fd, 1), ENOTCONN, "silence: the failed attach left no attachment");
	is(attach(fd, args(1, 1, SPINDLE_ATTACH_RECV)), 0,
	   "silence: the file attaches as a reader");
	is(silence(fd, 1), EPERM, "silence: a reader may not declare a round");
	is(silence(fd, 0), EPERM, "silence: a reader may not declare 0 rounds");
	is(silence(fd, SPINDLE_MAX_ROUNDS + 1), EINVAL,
	   "silence: a reader gets EPERM before EINVAL");
	close(fd);
	if (attach_new(1, 2, SPINDLE_ATTACH_RECV, &fd))
		die("attach");
	is(silence(fd, 1), EPERM, "silence: at a node that does not send");
	close(fd);
	if (attach_new(1, 1, COPY, &fd))
		die("attach");
	is(silence(fd, 1), EPERM, "silence: a copying reader may not declare it");
	close(fd);

	must_attach(&q, 1, 1, BOTH, -1);
	must_attach(&far, 2, 1, BOTH, -1);
	pointers(spindle_fd(&q));
	numbers(spindle_fd(&q));
	messages(&q, &far);
	numbers(spindle_fd(&far));
	messages(&far, &q);
	spindle_detach(&q);
	spindle_detach(&far);
	in_a_child();
	under_a_close();
}
