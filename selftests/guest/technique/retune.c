// SPDX-License-Identifier: GPL-2.0-only
/*
 * technique retune: settings that change all the time.
 *
 * Each change takes one node at random and sets all switches, budgets and the silence there at
 * random. The techniques of a member must not depend on those of the others, nor on messages that
 * were under way at a change. Two settings stay as they are:
 *	- nulls: without them a member that is ahead waits for ever. Nulls are on, or off with -z,
 *	  if all members send equally many messages from the first one on;
 *	- packed: the layout of the ring is the sender's as long as it is attached.
 *
 * The changes follow from the seed. The messages that a change meets do not.
 */
#include <getopt.h>
#include <sched.h>
#include <unistd.h>

#include "technique.h"
#include "loop.h"

/*
 * An end of the range or a value inside it. The ends come often, because errors are often at
 * limits.
 */
static uint32_t some(uint32_t low, uint32_t high)
{
	switch (rnd() % 4) {
	case 0:
		return low;
	case 1:
		return high;
	case 2:
		return low + rnd() % 8;
	default:
		return low + rnd() % (high - low + 1);
	}
}

/* Change one end. Returns 0, or the error of the kernel. */
static int change(struct nl *nl, const struct where *w, bool nulls)
{
	static struct nl_req r;
	struct nla_bitfield32 bits = {
		.value = rnd() & SPINDLE_SW_ALL & ~SPINDLE_SW_NULLS,
		.selector = SPINDLE_SW_ALL & ~SPINDLE_SW_PACKED,
	};
	struct nl_ack ack;
	int err;

	bits.value &= bits.selector;
	bits.value |= nulls ? SPINDLE_SW_NULLS : 0;
	nl_begin(nl, &r, SPINDLE_CMD_SUBGROUP_SET, 0);
	nl_put_u32(&r, SPINDLE_A_NODE_ID, w->node[rnd() % w->nodes]);
	nl_put_u32(&r, SPINDLE_A_SUBGROUP_ID, w->group);
	nl_nest(&r, SPINDLE_A_TUNE | NLA_F_NESTED);
	nl_put(&r, SPINDLE_TUNE_A_SWITCHES, &bits, sizeof(bits));
	nl_put_u32(&r, SPINDLE_TUNE_A_SEND_BUDGET, some(1, SPINDLE_MAX_BUDGET));
	nl_put_u32(&r, SPINDLE_TUNE_A_RECV_BUDGET, some(1, SPINDLE_MAX_BUDGET));
	nl_put_u32(&r, SPINDLE_TUNE_A_DLV_BUDGET, some(1, SPINDLE_MAX_BUDGET));
	nl_put_u32(&r, SPINDLE_TUNE_A_SILENCE, some(0, SPINDLE_MAX_SILENCE));
	/* No reader stalls for so long, but the kernel checks the limit nevertheless. */
	nl_put_u32(&r, SPINDLE_TUNE_A_STALL_MS, rnd() % 2 ? SPINDLE_MAX_STALL_MS : 0);
	nl_nest_end(&r);
	err = nl_talk(nl, &r, &ack, NULL, NULL);
	if (!err && ack.err)
		fprintf(stderr, "technique retune: %s\n", ack.text);
	return err ? err : ack.err;
}

int retune_main(int argc, char **argv)
{
	struct loop loop = { .seed = 1 };
	struct where w = { .nodes = 0 };
	bool nulls = true;
	struct nl nl;
	int c, err, n;

	while ((c = getopt(argc, argv, LOOP_OPTIONS "z")) != -1) {
		if (c == 'z')
			nulls = false;
		else if (c == 'n' ? !where_nodes(&w, optarg) : !loop_option(&loop, c, optarg))
			return 2;
	}
	w.group = loop.group;
	if (!w.nodes || !loop.stop)
		return 2;
	err = nl_open(&nl);
	rnd_begin(&loop, 0);
	for (n = 0; !err && loop_goes_on(&loop, n); n++) {
		err = change(&nl, &w, nulls);
		/*
		 * Other threads run on the same processor, and some changes should last for a
		 * while.
		 */
		if (rnd() % 8)
			sched_yield();
		else
			usleep(1000);
	}
	if (err)
		fprintf(stderr, "technique retune: change %d: %s\n", n, strerror(-err));
	printf("# %d changes\n", n);
	return err || !n;
}
