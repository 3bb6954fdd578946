// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of a node and of its end of a subgroup while they run. Measurements of the device, which
 * are answered whole or not at all.
 */
#include <stdio.h>
#include <unistd.h>
#include <linux/spindle.h>

#include "fail-nth.h"
#include "path.h"
#include "nth.h"
#include "request.h"
#include "tap.h"

#define SIZE	256
#define COUNT	3

static int set_node(uint32_t idle_us, uint8_t timing)
{
	struct nl nl;

	begin_for(&nl, SPINDLE_CMD_NODE_SET, 2);
	nl_put_u32(&request, SPINDLE_A_IDLE_US, idle_us);
	nl_put(&request, SPINDLE_A_TIMING, &timing, 1);
	return finish(&nl);
}

static int set_subgroup(const struct nla_bitfield32 *switches, const uint32_t number[5])
{
	struct nl nl;
	int i;

	begin_for(&nl, SPINDLE_CMD_SUBGROUP_SET, 2);
	nl_put_u32(&request, SPINDLE_A_SUBGROUP_ID, 1);
	nl_nest(&request, SPINDLE_A_TUNE)->nla_type |= NLA_F_NESTED;
	nl_put(&request, SPINDLE_TUNE_A_SWITCHES, switches, sizeof(*switches));
	for (i = 0; i < 5; i++)
		nl_put_u32(&request, SPINDLE_TUNE_A_SEND_BUDGET + i, number[i]);
	nl_nest_end(&request);
	return finish(&nl);
}

static int change_node(void *ctx)
{
	(void)ctx;
	return set_node(77, 1);
}

static int change_subgroup(void *ctx)
{
	static const struct nla_bitfield32 off = { 0, SPINDLE_SW_PACKED | SPINDLE_SW_TRACKING };
	static const uint32_t number[] = { 7, 8, 9, 10, 100000 };

	(void)ctx;
	return set_subgroup(&off, number);
}

/* Go back to the defaults. No allocation fails here. */
static void node_back(void *ctx)
{
	unsigned int n = nth;

	(void)ctx;
	nth = 0;
	if (set_node(SPINDLE_DEF_IDLE_US, 0))
		die("the node cannot be set back");
	nth = n;
}

static void subgroup_back(void *ctx)
{
	static const struct nla_bitfield32 on = { SPINDLE_SW_ALL, SPINDLE_SW_ALL };
	static const uint32_t number[] = {
		SPINDLE_DEF_SEND_BUDGET, SPINDLE_DEF_RECV_BUDGET, SPINDLE_DEF_DLV_BUDGET,
		SPINDLE_DEF_SILENCE, 0,
	};
	unsigned int n = nth;

	(void)ctx;
	nth = 0;
	if (set_subgroup(&on, number))
		die("the subgroup cannot be set back");
	nth = n;
}

/**
 * struct measure - a measurement
 * @kind: enum spindle_raw_kind
 * @writes: writes of the measurement
 * @answers: that came
 * @wrong: of these, the wrong ones
 */
struct measure {
	uint8_t kind;
	uint64_t writes;
	unsigned int answers, wrong;
};

static int take_answer(void *ctx, const struct nlmsghdr *nlh)
{
	const struct nlattr *raw = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_RAW);
	struct measure *m = ctx;

	m->answers++;
	m->wrong += !raw ||
		    nl_num(nl_find(nl_data(raw), nl_len(raw), SPINDLE_RAW_A_KIND)) != m->kind ||
		    nl_num(nl_find(nl_data(raw), nl_len(raw), SPINDLE_RAW_A_SIZE)) != SIZE ||
		    nl_num(nl_find(nl_data(raw), nl_len(raw), SPINDLE_RAW_A_COUNT)) != COUNT ||
		    !nl_find(nl_data(raw), nl_len(raw), SPINDLE_RAW_A_NS) ||
		    nl_num(nl_find(nl_data(raw), nl_len(raw), SPINDLE_RAW_A_WRITES)) != m->writes;
	return 0;
}

static int measure(void *ctx)
{
	struct measure *m = ctx;
	struct nl nl;
	int err;

	m->answers = m->wrong = 0;
	begin_for(&nl, SPINDLE_CMD_RAW_RUN, 1);
	nl_put_u32(&request, SPINDLE_A_SUBGROUP_ID, 1);
	nl_nest(&request, SPINDLE_A_RAW)->nla_type |= NLA_F_NESTED;
	nl_put(&request, SPINDLE_RAW_A_KIND, &m->kind, 1);
	nl_put_u32(&request, SPINDLE_RAW_A_SIZE, SIZE);
	nl_put_u32(&request, SPINDLE_RAW_A_COUNT, COUNT);
	nl_nest_end(&request);
	err = talk_for(&nl, &request, take_answer, m);
	close(nl.fd);
	return err;
}

static bool answered(void *ctx)
{
	const struct measure *m = ctx;

	return m->answers == 1 && !m->wrong;
}

void test_set(void)
{
	static struct measure measures[] = {
		{ .kind = SPINDLE_RAW_WRITE, .writes = 2 * COUNT },
		{ .kind = SPINDLE_RAW_PINGPONG, .writes = 2 * COUNT },
	};
	struct op node = { .name = "node set", .run = change_node, .undo = node_back,
			   .errs = errs_netlink };
	struct op subgroup = { .name = "subgroup set", .run = change_subgroup,
			       .undo = subgroup_back, .errs = errs_netlink };
	size_t i;

	path(&node);
	path(&subgroup);
	for (i = 0; i < ARRAY_SIZE(measures); i++) {
		struct op op = { .run = measure, .undo = nothing, .ctx = &measures[i],
				 .errs = errs_netlink, .after = answered };

		snprintf(op.name, sizeof(op.name), "raw run: %s",
			 measures[i].kind ? "ping-pong" : "write");
		path(&op);
	}
}
