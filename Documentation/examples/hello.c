// SPDX-License-Identifier: MIT
/*
 * Send one message to a subgroup, and read until it comes back.
 *
 *	cc hello.c $(pkg-config --cflags --libs spindle) -o hello
 *	./hello NODE SUBGROUP
 */
#include <stdio.h>
#include <stdlib.h>
#include <spindle/spindle.h>

int main(int argc, char **argv)
{
	struct spindle_attach_opts o = { .flags = SPINDLE_ATTACH_BOTH };
	struct spindle_queue q;
	struct spindle_msg m;
	char why[256];
	int err, back = 0;

	o.node = argc > 1 ? atoi(argv[1]) : 0;
	o.subgroup = argc > 2 ? atoi(argv[2]) : 0;
	err = spindle_attach(&q, &o);
	if (err) {
		fprintf(stderr, "%s\n", spindle_attach_strerror(&q, &o, err, why, sizeof(why)));
		return 1;
	}
	err = spindle_send_wait(&q, "hello, world", 12, -1);
	while (!err && !back) {
		err = spindle_wait(&q, POLLIN, -1);
		if (err > 0)
			err = 0;
		while (spindle_peek(&q, &m) == 1) {
			printf("%llu from node %u: %.*s\n", (unsigned long long)m.lsn, m.node,
			       (int)m.len, (const char *)m.data);
			back |= m.sender == spindle_sender_rank(&q);
		}
		spindle_release(&q);
	}
	if (err)
		fprintf(stderr, "%s\n", spindle_call_strerror(&q, err, why, sizeof(why)));
	spindle_detach(&q);
	return err != 0;
}
