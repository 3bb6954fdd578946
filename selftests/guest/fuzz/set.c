// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of running objects. See set.h.
 */
#include <arpa/inet.h>

#include "set.h"

static void begin(struct tree *t, const struct place *at)
{
	tree_begin(t);
	tree_u32(t, SPINDLE_A_NODE_ID, at->node);
}

void node_set(struct tree *t, const struct place *at)
{
	static const uint32_t idle[] = { 0, 1, 50, 1000 };
	/* No request with these values is refused. */
	uint32_t what = one_in(8) ? 0 : 1 + below(3);

	begin(t, at);
	if (what & 1)
		tree_u8(t, SPINDLE_A_TIMING, below(2));
	if (what & 2)
		tree_u32(t, SPINDLE_A_IDLE_US, idle[below(ARRAY_SIZE(idle))]);
	if (what && one_in(4))
		tree_u16(t, SPINDLE_A_RACK, below(65536));
	if (what && one_in(4))
		tree_u8(t, SPINDLE_A_FORMER_KEY, 0);
}

static void put_switches(struct tree *in, uint32_t on, uint32_t selector)
{
	struct nla_bitfield32 bits = { on & selector, selector };

	tree_put(in, SPINDLE_TUNE_A_SWITCHES, &bits, sizeof(bits));
}

static uint32_t some_budget(void)
{
	return one_in(2) ? 1 + below(4) : 1U << below(17);
}

/*
 * With any settings, messages are right. But without nulls messages wait until silent members have
 * nulls again, and a limit may detach a reader. Bystanders that wait must have neither.
 */
static uint32_t may_select(const struct place *at)
{
	bool waits = of_bystanders(at) && at->subgroup == QUIET_SUBGROUP;

	return SPINDLE_SW_ALL & ~(waits ? SPINDLE_SW_NULLS : 0U);
}

static void put_tune(struct tree *t, const struct place *at, struct tree *in)
{
	begin(t, at);
	tree_u32(t, SPINDLE_A_SUBGROUP_ID, at->subgroup);
	tree_nest(t, SPINDLE_A_TUNE, in);
}

void stall_ms(struct tree *t, const struct place *at, uint32_t ms)
{
	struct tree in;

	tree_begin(&in);
	tree_u32(&in, SPINDLE_TUNE_A_STALL_MS, ms);
	put_tune(t, at, &in);
}

void subgroup_set(struct tree *t, const struct place *at)
{
	uint32_t may = may_select(at);
	struct tree in;

	tree_begin(&in);
	if (!one_in(3))
		put_switches(&in, rnd(), may & (one_in(2) ? rnd() : 1U << below(8)));
	if (one_in(3))
		tree_u32(&in, SPINDLE_TUNE_A_SEND_BUDGET, some_budget());
	if (one_in(3))
		tree_u32(&in, SPINDLE_TUNE_A_RECV_BUDGET, some_budget());
	if (one_in(3))
		tree_u32(&in, SPINDLE_TUNE_A_DLV_BUDGET, some_budget());
	if (one_in(3))
		tree_u32(&in, SPINDLE_TUNE_A_SILENCE, one_in(3) ? 0 : 1U << below(21));
	/* A limit stays for long, so that some reader is slow in that time. */
	if (one_in(2))
		tree_u32(&in, SPINDLE_TUNE_A_STALL_MS, may != SPINDLE_SW_ALL || one_in(6) ? 0 :
			 1 + below(10));
	/* In most cases there are no large messages. */
	if (one_in(16))
		tree_u32(&in, SPINDLE_TUNE_A_LARGE, SPINDLE_MIN_LARGE << below(10));
	/* Bystanders do not know histories. */
	if (!of_bystanders(at) && one_in(3)) {
		tree_u32(&in, SPINDLE_TUNE_A_HISTORY, one_in(4) ? 0 : 65536U << below(3));
		tree_u8(&in, SPINDLE_TUNE_A_HISTORY_FILL, !one_in(8));
	}
	put_tune(t, at, &in);
}

/* Most measurements are short. The others take as long as a request may. */
void raw_run(struct tree *t, const struct place *at)
{
	struct tree in;

	tree_begin(&in);
	if (one_in(2))
		tree_u8(&in, SPINDLE_RAW_A_KIND, below(2));
	tree_u32(&in, SPINDLE_RAW_A_SIZE, 1 + (one_in(2) ? below(256) : below(8192)));
	tree_u32(&in, SPINDLE_RAW_A_COUNT, one_in(8) ? SPINDLE_RAW_MAX_COUNT : 1 + below(100));
	begin(t, at);
	tree_u32(t, SPINDLE_A_SUBGROUP_ID, at->subgroup);
	tree_nest(t, SPINDLE_A_RAW, &in);
}

/* ---- live views --------------------------------------------------------- */

void put_live(struct tree *t)
{
	static const uint32_t timeouts[] = { 20, 100, 500, 2000, 60000 };
	struct tree in;

	tree_begin(&in);
	if (!one_in(4))
		tree_u32(&in, SPINDLE_LIVE_A_TIMEOUT_MS, timeouts[below(ARRAY_SIZE(timeouts))]);
	if (one_in(3))
		tree_u32(&in, SPINDLE_LIVE_A_MAX_NODES, 5 + below(60));
	if (one_in(3))
		tree_u8(&in, SPINDLE_LIVE_A_QUORUM, below(2));
	if (one_in(4))
		tree_u32(&in, SPINDLE_LIVE_A_WITNESS, 1 + below(6));
	if (!one_in(3)) {
		tree_u32(&in, SPINDLE_LIVE_A_SPARES, 1 + below(4));
		tree_u32(&in, SPINDLE_LIVE_A_SPARE_WINDOW, 64);
		tree_u32(&in, SPINDLE_LIVE_A_SPARE_RING, 65536);
	}
	tree_nest(t, SPINDLE_A_LIVE, &in);
}

void put_rule(struct tree *t)
{
	struct tree in;

	tree_begin(&in);
	if (one_in(3))
		tree_u32(&in, SPINDLE_RULE_A_SHARDS, 1 + below(2));
	if (one_in(3))
		tree_u32(&in, SPINDLE_RULE_A_MIN, 1 + below(2));
	if (one_in(3))
		tree_u8(&in, SPINDLE_RULE_A_ON_EXIT, below(2));
	if (one_in(4))
		tree_u8(&in, SPINDLE_RULE_A_SENDERS, 1);
	tree_nest(t, SPINDLE_SUBGROUP_A_RULE, &in);
}

void node_join(struct tree *t, uint32_t node, uint32_t contact)
{
	unsigned char ip6[16] = { 0xfd, [15] = 1 };
	uint32_t ip = htonl(0x0a000001);

	tree_begin(t);
	tree_u32(t, SPINDLE_A_NODE_ID, node);
	if (one_in(30))
		tree_put(t, SPINDLE_A_ADDR6, ip6, sizeof(ip6));
	else
		tree_put(t, SPINDLE_A_ADDR4, &ip, sizeof(ip));
	tree_u16(t, SPINDLE_A_PORT, PORT(contact));
}

void node_evict(struct tree *t, uint32_t node, uint32_t member)
{
	tree_begin(t);
	tree_u32(t, SPINDLE_A_NODE_ID, node);
	tree_u32(t, SPINDLE_A_PEER_ID, member);
}

/* ---- back ---------------------------------------------------------------- */

void node_default(struct tree *t, const struct place *at)
{
	begin(t, at);
	tree_u8(t, SPINDLE_A_TIMING, 0);
	tree_u32(t, SPINDLE_A_IDLE_US, SPINDLE_DEF_IDLE_US);
	tree_u16(t, SPINDLE_A_RACK, SPINDLE_NO_RACK);
}

void subgroup_default(struct tree *t, const struct place *at, bool packed)
{
	struct tree in;

	tree_begin(&in);
	put_switches(&in, SPINDLE_SW_ALL, packed ? SPINDLE_SW_PACKED :
		     SPINDLE_SW_ALL & ~SPINDLE_SW_PACKED);
	tree_u32(&in, SPINDLE_TUNE_A_SEND_BUDGET, SPINDLE_DEF_SEND_BUDGET);
	tree_u32(&in, SPINDLE_TUNE_A_RECV_BUDGET, SPINDLE_DEF_RECV_BUDGET);
	tree_u32(&in, SPINDLE_TUNE_A_DLV_BUDGET, SPINDLE_DEF_DLV_BUDGET);
	tree_u32(&in, SPINDLE_TUNE_A_SILENCE, SPINDLE_DEF_SILENCE);
	tree_u32(&in, SPINDLE_TUNE_A_STALL_MS, 0);
	put_tune(t, at, &in);
}
