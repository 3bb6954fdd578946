// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends: of the file, of the mappings, of a page.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev-bad.h"
#include "map.h"
#include "queue.h"
#include "tap.h"

static void unmap_all(struct spindle_queue *q)
{
	uint32_t i;

	for (i = 0; i < q->senders; i++)
		munmap(q->source[i].map.addr, q->source[i].map.len);
	munmap(q->map_dlv.addr, q->map_dlv.len);
	munmap(q->map_usr.addr, q->map_usr.len);
	munmap(q->map_ctl.addr, q->map_ctl.len);
	if (q->map_tx.len)
		munmap(q->map_tx.addr, q->map_tx.len);
}

void part_close(void)
{
	struct spindle_queue q, r, s;
	int i, n;

	/* The file is closed, and the mappings stay. */
	must_attach(&q, 1, 1, BOTH, -1);
	must_attach(&r, 1, 1, SPINDLE_ATTACH_RECV, -1);
	close(q.fd);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), EBUSY,
	   "close: mappings keep the attachment");
	for (i = 0; i < 50; i++) {
		struct spindle_slot slot;

		if (spindle_reserve(&q, 200, &slot))
			break;
		fill(slot.data, 200, i);
		spindle_commit_quiet(&q, &slot, 200);
		/* Any attachment of the node wakes the engine. */
		spindle_kick(&r);
		if (read_release(&r, i, 200, 20000) != 1)
			break;
		do {
			struct spindle_msg m;

			n = spindle_peek(&q, &m);
		} while (!n);
		spindle_store_release(q.usr_consumed, i + 1);
		q.rx_released = i + 1;
		spindle_kick(&r);
		/* The slot of the message becomes free. */
		while (spindle_load_acquire(q.ctl_tx_slot) != slot.slot + 1)
			usleep(1000);
	}
	is(i, 50, "close: 50 messages sent and read without the file");
	unmap_all(&q);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), 0,
	   "close: the attachment ends with its mappings");
	spindle_detach(&r);

	/* The mappings go in the middle of deliveries, and the file stays. */
	must_attach(&q, 1, 1, SPINDLE_ATTACH_RECV, -1);
	must_attach(&r, 1, 1, SPINDLE_ATTACH_RECV, -1);
	must_attach(&s, 2, 1, SPINDLE_ATTACH_SEND, -1);
	for (i = 0; i < 8 && !send_one(&s, i, 300); i++)
		;
	unmap_all(&q);
	for (; i < 16 && !send_one(&s, i, 300); i++)
		;
	for (i = 0; i < 16 && read_release(&r, i, 300, 20000) == 1; i++)
		;
	is(i, 16, "munmap: another reader gets all messages");
	is(send_one(&s, 16, 300), -EAGAIN, "munmap: unread messages hold the window");
	close(q.fd);
	is(send_wait(&s, 16, 300), 0, "munmap: closing the file frees the window");
	is(read_release(&r, 16, 300, 20000), 1, "munmap: the other reader goes on");
	spindle_detach(&r);
	spindle_detach(&s);

	/* A page that madvise() has dropped comes back, and no other process notices. */
	must_attach(&q, 1, 1, SPINDLE_ATTACH_RECV, -1);
	must_attach(&r, 1, 1, BOTH, -1);
	madvise(q.map_ctl.addr, q.map_ctl.len, MADV_DONTNEED);
	for (i = 0; i < (int)q.senders; i++)
		madvise(q.source[i].map.addr, q.source[i].map.len, MADV_DONTNEED);
	is(probe(q.map_ctl.addr), 0, "madvise: the page is mapped again");
	for (i = 0; i < 10; i++)
		if (send_one(&r, i, 64) || read_release(&r, i, 64, 20000) != 1)
			break;
	is(i, 10, "madvise: other processes are not affected");
	spindle_detach(&q);
	spindle_detach(&r);
}
