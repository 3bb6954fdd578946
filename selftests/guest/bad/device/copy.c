// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copying readers: a slow reader delays no other one until its ring is full.
 */
#include <unistd.h>

#include "dev-bad.h"
#include "queue.h"
#include "tap.h"

void part_copy(void)
{
	struct spindle_attach_opts o = {
		.node = 1, .subgroup = 1, .flags = COPY, .copy_bytes = 4096,
	};
	struct spindle_queue slow, small, fast;
	int i, n;

	/* 64 entries: four times the window. */
	must_attach(&slow, 1, 1, COPY, -1);
	must_attach(&fast, 1, 1, BOTH, -1);
	for (i = 0; i < 60; i++)
		if (send_wait(&fast, i, 100) || read_release(&fast, i, 100, 20000) != 1)
			break;
	is(i, 60, "copy: 60 messages are sent while one reader reads nothing");
	for (i = 0; i < 60; i++)
		if (read_one(&slow, i, 100, 20000) != 1)
			break;
	is(i, 60, "copy: this reader gets all of them later");
	spindle_release(&slow);
	spindle_detach(&slow);

	/* The largest messages go through a ring with room for four of them, and none is lost. */
	n = spindle_attach(&small, &o);
	is(n, 0, "copy: a ring of a page");
	for (i = 0; i < 200; i++) {
		if (send_wait(&fast, i, 1000 + i % 25) ||
		    read_release(&small, i, 1000 + i % 25, 20000) != 1 ||
		    read_release(&fast, i, 1000 + i % 25, 20000) != 1)
			break;
	}
	is(i, 200, "copy: 200 messages wrap the ring");
	/* The full ring delays all readers, but only until its reader reads. */
	for (i = 0; i < 4; i++)
		if (send_wait(&fast, i, 1024) || read_release(&fast, i, 1024, 20000) != 1)
			break;
	is(i, 4, "copy: the ring takes as many as fit");
	if (send_wait(&fast, 4, 1024))
		die("send");
	is(read_one(&fast, 4, 1024, 300), 0, "copy: the next message waits for the full ring");
	is(read_release(&small, 0, 1024, 20000), 1, "copy: the slow reader reads one message");
	is(read_release(&fast, 4, 1024, 20000), 1, "copy: the next message is delivered");
	/* The ring is full again, and its reader dies. */
	if (send_wait(&fast, 5, 1024))
		die("send");
	is(read_one(&fast, 5, 1024, 300), 0, "copy: the ring is full again");
	spindle_detach(&small);
	is(read_release(&fast, 5, 1024, 20000), 1,
	   "copy: other readers go on after the slow one ends");
	spindle_detach(&fast);
}
