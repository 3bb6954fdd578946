// SPDX-License-Identifier: GPL-2.0-only
/*
 * States of a subgroup besides active: the possible uses of an attachment before and after.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev-bad.h"
#include "map.h"
#include "queue.h"
#include "rows.h"
#include "silence.h"
#include "table.h"
#include "tap.h"

void part_forming(void)
{
	struct spindle_queue q;
	int i;

	must_attach(&q, 1, 3, BOTH, -1);
	is(spindle_state(&q), SPINDLE_STATE_FORMING, "forming: the state is FORMING");
	is(spindle_error_code(&q), SPINDLE_ERR_NONE, "forming: the error is NONE");
	ok(pollable(spindle_fd(&q), POLLIN | POLLOUT, POLLOUT, 0), "forming: poll reports room");
	for (i = 0; i < 1000 && !send_one(&q, i, 10); i++)
		;
	is(i, spindle_window(&q), "forming: a window can be committed");
	ok(pollable(spindle_fd(&q), POLLIN | POLLOUT, 0, 0), "forming: poll reports a full window");
	is(read_one(&q, 0, 10, 200), 0, "forming: nothing is delivered");
	is(silence(spindle_fd(&q), 7), 0, "forming: silence can be declared");
	is(silence(spindle_fd(&q), SPINDLE_MAX_ROUNDS + 1), EINVAL,
	   "forming: too much silence is refused");
	is(send_one(&q, i, 10), -EAGAIN, "forming: silence makes no room");
	spindle_detach(&q);
	is(attach_new(1, 3, SPINDLE_ATTACH_SEND, NULL), EBUSY,
	   "forming: committed messages keep the sender attached");
	is(attach_new(1, 3, SPINDLE_ATTACH_RECV, NULL), 0, "forming: a reader may attach");
}

static int run(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_final(struct spindle_queue *q, int state, int error, const char *what)
{
	is(spindle_state(q), state, "%s: state", what);
	is(spindle_error_code(q), error, "%s: error", what);
	is(send_one(q, 0, 10), -EPIPE, "%s: no message can be reserved", what);
}

/* A child declares silence until that fails. Its exit status is the error. */
static pid_t silent_child(int fd)
{
	pid_t pid;
	int err;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	do {
		err = silence(fd, 1);
	} while (!err);
	_exit(err);
}

void part_gone(void)
{
	int efd = eventfd(0, EFD_NONBLOCK), status, i;
	struct spindle_queue q, copy, far;
	struct spindle_members arg = { .count = 0 };
	struct table_pair pair;
	unsigned char *tx;
	struct rows rows;
	struct pollfd p;
	eventfd_t v;
	pid_t pid;

	rows_open(&rows);
	must_attach(&q, 1, 1, BOTH, efd);
	must_attach(&copy, 1, 1, COPY, -1);
	must_attach(&far, 2, 1, BOTH, -1);
	for (i = 0; i < 10; i++)
		if (send_one(&q, i, 500))
			die("send");
	for (i = 0; i < 10; i++)
		if (read_one(&far, i, 500, 20000) != 1)
			die("the other node does not get message %d", i);
	/* Wait until the messages are delivered here, too, because machines may be slow. */
	while (spindle_load_acquire(q.ctl_dlv_tail) != 10 ||
	       spindle_load_acquire(copy.ctl_dlv_tail) != 10)
		usleep(1000);
	while (!eventfd_read(efd, &v))
		;

	rows_consume(&rows);
	table_pair_open(&pair);
	tx = q.map_tx.addr;
	ok(!all_zero(tx, q.map_tx.len), "gone: messages are in the ring of their sender");
	pid = silent_child(q.fd);
	is(run("spindle-ctl view del node 1"), 0, "view del, with attachments");
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == ENOTCONN,
	   "gone: silence was declared until then");
	p = (struct pollfd){ .fd = spindle_fd(&q), .events = POLLIN | POLLOUT };
	poll(&p, 1, 20000);
	is(p.revents & (POLLIN | POLLOUT | POLLERR | POLLHUP), POLLIN | POLLERR | POLLHUP,
	   "gone: poll");
	ok(pollable(efd, POLLIN, POLLIN, 20000), "gone: eventfd");
	check_final(&q, SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE, "gone");
	for (i = 0; i < 10 && read_one(&q, i, 500, 0) == 1; i++)
		;
	is(i, 10, "gone: delivered messages can be read");
	ok(all_zero(tx, q.map_tx.len), "gone: the sender's mapping of the ring is empty");
	tx[0] = 0x5a;
	is(tx[0], 0x5a, "gone: the sender may write to its mapping");
	rows_check(&rows);
	table_pair_check(&pair);
	is(read_one(&q, i, 500, 0), -EPIPE, "gone: reading ends after the last message");
	spindle_release(&q);
	ok(pollable(spindle_fd(&q), POLLIN, POLLERR | POLLHUP, 20000),
	   "gone: poll reports the end");
	for (i = 0; i < 10 && read_one(&copy, i, 500, 0) == 1; i++)
		;
	is(i, 10, "gone: copied messages can be read");
	is(call(q.fd, SPINDLE_IOC_MEMBERS, &arg), ENOTCONN, "gone: members");
	is(silence(q.fd, 1), ENOTCONN, "gone: silence");
	is(silence(copy.fd, 1), ENOTCONN, "gone: silence of a reader");
	is(attach(q.fd, args(2, 4, SPINDLE_ATTACH_RECV)), EISCONN,
	   "gone: the file cannot attach again");
	is(map_errno(q.fd, 2ULL << 40, 16384, PROT_READ, MAP_SHARED), ENOTCONN, "gone: map tx");
	is(map_errno(q.fd, 0, PAGE, PROT_READ, MAP_SHARED), 0, "gone: map ctl");
	call(q.fd, SPINDLE_IOC_KICK, NULL);
	is(attach_new(1, 1, SPINDLE_ATTACH_RECV, NULL), ENOENT, "gone: attach");

	/* The other members have lost one. */
	p = (struct pollfd){ .fd = spindle_fd(&far), .events = 0 };
	is(poll(&p, 1, 20000), 1, "failed: poll");
	is(p.revents, POLLERR | POLLHUP, "failed: poll");
	check_final(&far, SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST, "failed");
	is(silence(far.fd, 1), 0, "failed: silence can be declared");
	is(attach_new(2, 1, SPINDLE_ATTACH_RECV, NULL), ENOTCONN, "failed: attach");
	is(attach_new(2, 1, BOTH, NULL), ENOTCONN, "failed: attach to send");
	is(attach_new(2, 4, BOTH, NULL), 0, "failed: a subgroup without the lost member works");

	/* Nodes can be removed while attachments are open. The module cannot. */
	is(run("spindle-ctl node del id 1"), 0, "node del, with attachments");
	is(run("spindle-ctl node del id 2"), 0, "node del, of a failed subgroup");
	is(attach_new(1, 1, BOTH, NULL), ENODEV, "node del: attach");
	ok(spindle_state(&far) > SPINDLE_STATE_ACTIVE, "node del: the final state stays");
	is(spindle_error_code(&far), SPINDLE_ERR_PEER_LOST, "node del: the first error stays");
	is(run("spindle-ctl node del id 3"), 0, "node del, of a subgroup with a lost member");
	is(run("spindle-ctl node del id 4"), 0, "node del, without a view");
	ok(run("rmmod spindle 2>/dev/null"), "rmmod: not with open files");
	spindle_detach(&q);
	close(copy.fd);
	ok(run("rmmod spindle 2>/dev/null"), "rmmod: not with mappings");
	copy.fd = -1;
	spindle_detach(&copy);
	spindle_detach(&far);
	close(efd);
}
