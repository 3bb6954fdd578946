// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump-loop: look at everything that there is to see, all the time.
 *
 *	dump-loop [-f FILE]
 *
 * The program asks for all dumps of the family in turn, and takes its events, until the file -f
 * exists. A new command for each dump would take a hundred times longer in an emulated guest, and
 * would cause hardly any races.
 */
#include <getopt.h>
#include <stdlib.h>

#include "nl.h"

static int count_msg(void *ctx, const struct nlmsghdr *nlh)
{
	(void)nlh;
	++*(unsigned long *)ctx;
	return 0;
}

int main(int argc, char **argv)
{
	static const int cmds[] = {
		SPINDLE_CMD_STATS_GET, SPINDLE_CMD_SUBGROUP_GET, SPINDLE_CMD_NODE_GET,
		SPINDLE_CMD_VIEW_GET,
	};
	static struct nl_req r;
	unsigned long dumps = 0, msgs = 0, events = 0;
	const char *stop = NULL;
	struct nl nl, ev;
	int c, err;

	while ((c = getopt(argc, argv, "f:")) != -1) {
		if (c != 'f') {
			fprintf(stderr, "usage: dump-loop [-f FILE]\n");
			return 2;
		}
		stop = optarg;
	}
	err = nl_open(&nl);
	if (!err)
		err = nl_open(&ev);
	if (!err)
		err = nl_listen(&ev);
	for (; !err && !(stop && !access(stop, F_OK)); dumps++) {
		struct nl_ack ack;

		nl_begin(&nl, &r, cmds[dumps % (sizeof(cmds) / sizeof(cmds[0]))], NLM_F_DUMP);
		err = nl_talk(&nl, &r, &ack, count_msg, &msgs);
		if (!err)
			err = ack.err;
		c = nl_events(&ev, NULL, NULL);
		if (c > 0)
			events += c;
		/* The socket loses events if there are too many, which is no error here. */
		else if (c != -ENOBUFS && !err)
			err = c;
	}
	if (err) {
		fprintf(stderr, "dump-loop: %s\n", strerror(-err));
		return 1;
	}
	printf("# %lu dumps, %lu messages, %lu events\n", dumps, msgs, events);
	return 0;
}
