// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues of the library, and messages whose bytes follow from a number.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "queue.h"
#include "selfcheck.h"
#include "tap.h"

void must_attach(struct spindle_queue *q, uint32_t node, uint32_t subgroup, uint32_t flags,
		 int event_fd)
{
	struct spindle_attach_opts o = {
		.node = node, .subgroup = subgroup, .flags = flags, .event_fd = event_fd,
	};
	int err = spindle_attach(q, &o);

	if (err)
		die("attach to node %u subgroup %u: %s", node, subgroup, strerror(-err));
}

void fill(unsigned char *p, uint32_t len, uint64_t key)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = mix(key + i / 8) >> (i % 8 * 8);
}

int send_one(struct spindle_queue *q, uint64_t num, uint32_t len)
{
	struct spindle_slot s;
	int err = spindle_reserve(q, len, &s);

	if (err)
		return err;
	fill(s.data, len, num);
	return spindle_commit(q, &s, len);
}

int send_wait(struct spindle_queue *q, uint64_t num, uint32_t len)
{
	unsigned char buf[1024];

	fill(buf, len, num);
	return spindle_send_wait(q, buf, len, 20000);
}

int read_one(struct spindle_queue *q, uint64_t num, uint32_t len, int timeout)
{
	unsigned char want[1024];
	struct spindle_msg m;
	int n;

	while (!(n = spindle_peek(q, &m)) && timeout-- > 0)
		usleep(1000);
	if (n <= 0)
		return n;
	fill(want, len, num);
	return m.len == len && !memcmp(m.data, want, len) ? 1 : -EILSEQ;
}

int read_release(struct spindle_queue *q, uint64_t num, uint32_t len, int timeout)
{
	int n = read_one(q, num, len, timeout);

	spindle_release(q);
	return n;
}
