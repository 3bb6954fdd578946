// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hellos: which bytes are a hello, what a hello means, and which refusal each
 * mismatch gets.
 */
#include "core/membership/hello.h"
#include "../../guest/lib/hello.h"
#include "tap.h"

/* Hostile peers say hello as the module does. */
static_assert(HELLO_MAGIC == SPINDLE_HELLO_MAGIC && HELLO_VERSION == SPINDLE_PROTOCOL &&
	      sizeof(struct hello) == sizeof(struct spindle_hello));

static const struct spindle_hello_self self = {
	.id = 7, .cluster = 0x12345678, .incarnation = 99, .port = 4711,
};

static const struct spindle_hello_peer peer = { .id = 3, .digest = 0xd1, .incarnation = 5 };
static const struct spindle_addr host = { .ip = { 10, 0, 0, 3 }, .port = 4711, .family = 4 };
static struct spindle_hello hello;
static struct spindle_hello_door door;
static struct spindle_heard heard;
static u32 asked;
static bool key;

static bool tagged(void *ctx, const struct spindle_hello *h)
{
	CHECK(ctx == &asked);
	CHECK(h == &hello);
	asked++;
	return key;
}

/* Node 3 addresses node 7, and both mean the same view. */
static void sample(void)
{
	spindle_hello_make(&hello, &self);
	hello.src = cpu_to_le32(3);
	hello.dst = cpu_to_le32(7);
	hello.digest = cpu_to_le64(0xd1);
	hello.incarnation = cpu_to_le64(5);
	hello.nonce = cpu_to_le64(1);
	door = (struct spindle_hello_door){
		.digest = 0xd1, .mark = 0x7703, .id = { 1, 2 }, .ids = 2, .max = 3, .bytes = 1000,
	};
	memset(&heard, 0, sizeof(heard));
	asked = 0;
	key = true;
}

static u32 meant(void)
{
	return spindle_hello_meant(&hello, &self, tagged, &asked);
}

/* The bytes of a hello on the wire. */
static void test_bytes(void)
{
	static const u8 wire[] = {
		0x53, 0x4e, 0x44, 0x4c, SPINDLE_PROTOCOL, 1, 0x67, 0x12, 7, 0, 0, 0, 0, 0, 0, 0,
		99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x78, 0x56, 0x34, 0x12,
	};
	struct spindle_hello_self imm = self;
	u8 data[100];

	imm.imm = true;
	spindle_hello_make(&hello, &imm);
	CHECK(!memcmp(&hello, wire, sizeof(wire)));
	memset(data, 0xa5, sizeof(data));
	CHECK(!spindle_hello_read(&hello, data, sizeof(hello) - 1));
	CHECK_EQ(hello.magic, 0);
	CHECK(spindle_hello_read(&hello, data, sizeof(data)));
	CHECK(!memcmp(&hello, data, sizeof(hello)));
}

static void test_cluster(void)
{
	char name[SPINDLE_CLUSTER_LEN + 1] = "spindle";
	u32 is = spindle_hello_cluster(name);

	name[SPINDLE_CLUSTER_LEN - 1] = 'x';
	CHECK(spindle_hello_cluster(name) != is);
	name[SPINDLE_CLUSTER_LEN - 1] = 0;
	CHECK_EQ(spindle_hello_cluster(name), is);
}

/* A node computes a tag only for a hello of its own cluster. */
static void test_meant(void)
{
	sample();
	CHECK_EQ(meant(), 0);
	CHECK_EQ(asked, 1);
	hello.dst = cpu_to_le32(8);
	CHECK_EQ(meant(), SPINDLE_REFUSE_DESTINATION);
	hello.dst = 0;
	CHECK_EQ(meant(), SPINDLE_REFUSE_DESTINATION);
	hello.flags = SPINDLE_HELLO_F_ASK;
	CHECK_EQ(meant(), 0);
	hello.dst = cpu_to_le32(8);
	CHECK_EQ(meant(), SPINDLE_REFUSE_DESTINATION);
	key = false;
	CHECK_EQ(meant(), SPINDLE_REFUSE_KEY);
	asked = 0;
	hello.cluster ^= cpu_to_le32(1);
	CHECK_EQ(meant(), SPINDLE_REFUSE_CLUSTER);
	hello.version++;
	CHECK_EQ(meant(), SPINDLE_REFUSE_VERSION);
	hello.magic ^= cpu_to_le32(1);
	CHECK_EQ(meant(), SPINDLE_REFUSE_NOT_SPINDLE);
	CHECK_EQ(asked, 0);
}

/* A request is no answer, because a request has a tag. */
static void test_answers(void)
{
	sample();
	CHECK(spindle_hello_answers(&hello, &self));
	hello.tag[7] = 1;
	CHECK(!spindle_hello_answers(&hello, &self));
	sample();
	hello.dst = cpu_to_le32(8);
	CHECK(!spindle_hello_answers(&hello, &self));
	sample();
	hello.cluster ^= cpu_to_le32(1);
	CHECK(!spindle_hello_answers(&hello, &self));
	sample();
	hello.version++;
	CHECK(!spindle_hello_answers(&hello, &self));
}

static void test_expected(void)
{
	struct spindle_hello_peer any = peer;

	sample();
	CHECK_EQ(spindle_hello_expected(&hello, &peer), 0);
	hello.incarnation = cpu_to_le64(6);
	CHECK_EQ(spindle_hello_expected(&hello, &peer), SPINDLE_REFUSE_LIFE);
	any.incarnation = 0;
	CHECK_EQ(spindle_hello_expected(&hello, &any), 0);
	hello.digest = cpu_to_le64(0xd2);
	CHECK_EQ(spindle_hello_expected(&hello, &any), SPINDLE_REFUSE_VIEW);
	hello.src = cpu_to_le32(4);
	CHECK_EQ(spindle_hello_expected(&hello, &any), SPINDLE_REFUSE_UNKNOWN);
}

static u32 admitted(u64 life, u64 nonce)
{
	hello.incarnation = cpu_to_le64(life);
	hello.nonce = cpu_to_le64(nonce);
	return spindle_hello_admitted(&hello, &heard, &host, &host);
}

/* The nonces of one life grow, and may wrap. Each life has its own nonces. */
static void test_again(void)
{
	u64 life;

	sample();
	CHECK_EQ(admitted(1, 10), 0);
	CHECK_EQ(admitted(1, 10), SPINDLE_REFUSE_AGAIN);
	CHECK_EQ(admitted(1, 9), SPINDLE_REFUSE_AGAIN);
	CHECK_EQ(admitted(1, 11), 0);
	CHECK_EQ(admitted(2, 5), 0);
	CHECK_EQ(admitted(1, 11), SPINDLE_REFUSE_AGAIN);
	CHECK_EQ(admitted(2, U64_MAX / 2), 0);
	CHECK_EQ(admitted(2, U64_MAX - 1), 0);
	CHECK_EQ(admitted(2, 1), 0);
	CHECK_EQ(admitted(2, U64_MAX - 1), SPINDLE_REFUSE_AGAIN);
	for (life = 3; life <= SPINDLE_LIVES; life++)
		CHECK_EQ(admitted(life, 1), 0);
	CHECK_EQ(admitted(1, 11), SPINDLE_REFUSE_AGAIN);
	/* A new life replaces the oldest one. */
	CHECK_EQ(admitted(life, 1), 0);
	CHECK_EQ(heard.lives, SPINDLE_LIVES);
	CHECK_EQ(admitted(2, 1), SPINDLE_REFUSE_AGAIN);
	CHECK_EQ(admitted(1, 11), 0);
	/* Lives are random numbers of 64 bits. */
	CHECK_EQ(admitted(1ULL << 32 | 1, 50), 0);
	CHECK_EQ(admitted(1, 12), 0);
	/* Without a key the node remembers no nonce. */
	CHECK_EQ(spindle_hello_admitted(&hello, NULL, &host, &host), 0);
	CHECK_EQ(spindle_hello_admitted(&hello, NULL, &host, &host), 0);
}

static void test_address(void)
{
	struct spindle_addr from = host;

	sample();
	from.port = 1;
	CHECK_EQ(spindle_hello_admitted(&hello, NULL, &host, &from), 0);
	from.ip[3]++;
	CHECK_EQ(spindle_hello_admitted(&hello, &heard, &host, &from), SPINDLE_REFUSE_ADDRESS);
	/* A refused hello is not remembered. */
	CHECK_EQ(heard.lives, 0);
	from = host;
	from.family = 6;
	CHECK_EQ(spindle_hello_admitted(&hello, NULL, &host, &from), SPINDLE_REFUSE_ADDRESS);
	CHECK_EQ(spindle_hello_admitted(&hello, NULL, &from, &from), 0);
	from.family = 0;
	CHECK_EQ(spindle_hello_admitted(&hello, NULL, &host, &from), SPINDLE_REFUSE_ADDRESS);
	from = host;
	from.family = 6;
	from.ip[15] = 1;
	hello.nonce = 0;
	CHECK_EQ(spindle_hello_admitted(&hello, NULL, &from,
					&(struct spindle_addr){ .ip = { 10, 0, 0, 3 },
								.family = 6 }),
		 SPINDLE_REFUSE_ADDRESS);
}

static u32 asks(u64 from, u32 *at, u32 *len)
{
	hello.incarnation = cpu_to_le64(from);
	return spindle_hello_asks(&hello, &door, 100, at, len);
}

static void test_asks(void)
{
	u32 at, len;

	sample();
	CHECK_EQ(asks(0, &at, &len), 0);
	CHECK(at == 0 && len == 100);
	CHECK_EQ(asks(999, &at, &len), 0);
	CHECK(at == 999 && len == 1);
	CHECK_EQ(asks(1000, &at, &len), SPINDLE_REFUSE_NOT_SPINDLE);
	CHECK_EQ(asks(BIT_ULL(32), &at, &len), SPINDLE_REFUSE_NOT_SPINDLE);
	hello.lineage = cpu_to_le32(0x7703);
	CHECK_EQ(asks(0, &at, &len), 0);
	hello.lineage = cpu_to_le32(0x7803);
	CHECK_EQ(asks(0, &at, &len), SPINDLE_REFUSE_LINEAGE);
	/* Rules that the member wants have a length of their own. */
	hello.lineage = 0;
	hello.flags |= SPINDLE_HELLO_F_RULES;
	CHECK_EQ(asks(0, &at, &len), SPINDLE_REFUSE_NO_RULES);
	door.rules = 300;
	CHECK_EQ(asks(250, &at, &len), 0);
	CHECK(at == 250 && len == 50);
	CHECK_EQ(asks(300, &at, &len), SPINDLE_REFUSE_NOT_SPINDLE);
	hello.lineage = cpu_to_le32(0x7803);
	door.bytes = 0;
	CHECK_EQ(asks(0, &at, &len), SPINDLE_REFUSE_NO_VIEW);
	CHECK(!spindle_hello_other(&hello, &door));
}

/* The mark is that of era 3, in its last bits. */
static void test_eras(void)
{
	static const struct {
		u32 mark;
		u8 flags;
		u32 want;
	} is[] = {
		{ 0x7703, 0, 0 },
		{ 0x7702, SPINDLE_HELLO_F_JOIN, 0 },
		{ 0x7702, SPINDLE_HELLO_F_ASK, 0 },
		{ 0x7702, 0, SPINDLE_REFUSE_ERA },
		{ 0x7784, SPINDLE_HELLO_F_JOIN, 0 },
		{ 0x7784, SPINDLE_HELLO_F_ASK, 0 },
		{ 0x7704, 0, SPINDLE_REFUSE_ERA },
		{ 0x7603, SPINDLE_HELLO_F_JOIN, SPINDLE_REFUSE_LINEAGE },
		{ 0x17703, 0, SPINDLE_REFUSE_LINEAGE },
	};
	u32 i;

	sample();
	for (i = 0; i < ARRAY_SIZE(is); i++) {
		hello.lineage = cpu_to_le32(is[i].mark);
		hello.flags = is[i].flags;
		CHECK_EQ(spindle_hello_other(&hello, &door), is[i].want);
	}
}

static u32 knocks(void)
{
	struct spindle_addr from = host;
	u32 refusal;

	from.port = 0;
	refusal = spindle_hello_knocks(&hello, &door, &from);
	CHECK(!door.bytes || from.port == le16_to_cpu(hello.port));
	return refusal;
}

static void test_knocks(void)
{
	struct spindle_addr nowhere = { .port = 1 };

	sample();
	CHECK_EQ(knocks(), 0);
	door.max = 2;
	CHECK_EQ(knocks(), SPINDLE_REFUSE_FULL);
	door.digest++;
	CHECK_EQ(knocks(), SPINDLE_REFUSE_VIEW);
	hello.src = cpu_to_le32(2);
	CHECK_EQ(knocks(), SPINDLE_REFUSE_MEMBER);
	hello.lineage = cpu_to_le32(0x7803);
	CHECK_EQ(knocks(), SPINDLE_REFUSE_LINEAGE);
	hello.port = 0;
	CHECK_EQ(knocks(), SPINDLE_REFUSE_NOT_SPINDLE);
	sample();
	hello.src = 0;
	CHECK_EQ(knocks(), SPINDLE_REFUSE_NOT_SPINDLE);
	sample();
	hello.incarnation = 0;
	CHECK_EQ(knocks(), SPINDLE_REFUSE_NOT_SPINDLE);
	sample();
	CHECK_EQ(spindle_hello_knocks(&hello, &door, &nowhere), SPINDLE_REFUSE_NOT_SPINDLE);
	door.bytes = 0;
	CHECK_EQ(knocks(), SPINDLE_REFUSE_NO_VIEW);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a hello has its bytes where the wire has them", test_bytes },
		{ "the whole name of a cluster counts", test_cluster },
		{ "a request means this node, and has its key", test_meant },
		{ "an answer is not accepted as a request", test_answers },
		{ "a connection expects one incarnation of a node in one view", test_expected },
		{ "a repeated request is rejected", test_again },
		{ "a request has to come from the address of its node", test_address },
		{ "the answer to a question is a part of the card", test_asks },
		{ "members of two eras are not connected", test_eras },
		{ "a knock is admitted or refused with its reason", test_knocks },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
