// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words that spindle-logd speaks to other nodes: proofs, MACs, payloads, and what a record has
 * to be. Bytes that were changed at random are looked at, in memory that is as long as they are.
 */
#include <errno.h>
#include <time.h>

#include "logd/peer.h"
#include "tap.h"

#define ROUNDS	30000

static const char secret[] = "the key of the group";
static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(seed >> 33) % below;
}

static struct peer_id make_id(uint32_t node, const char *key)
{
	struct peer_id id = { .node = node, .lineage = "lineage" };

	peer_key(&id, key, strlen(key));
	return id;
}

/* ---- proofs ---------------------------------------------------------------- */

struct talk {
	struct peer_id client, server;
	uint8_t nonce[2][PEER_NONCE], hello[PEER_HELLO];
	struct peer_session up, down;
};

static void begin_talk(struct talk *t)
{
	unsigned int i;

	*t = (struct talk){ .client = make_id(2, secret), .server = make_id(1, secret) };
	for (i = 0; i < PEER_NONCE; i++) {
		t->nonce[0][i] = (uint8_t)draw(256);
		t->nonce[1][i] = (uint8_t)draw(256);
	}
	peer_hello_build(t->hello, &t->client, 1, t->nonce[0], t->nonce[1], &t->up);
}

static bool check(struct talk *t)
{
	return peer_hello_check(t->hello, &t->server, t->nonce[0], &t->down);
}

static void agree(void)
{
	struct talk t;

	begin_talk(&t);
	CHECK(check(&t));
	CHECK_EQ(t.down.client, 2);
	CHECK(peer_equal(t.up.proof, t.down.proof));
	CHECK(peer_equal(t.up.up.key, t.down.up.key));
	CHECK(peer_equal(t.up.down.key, t.down.down.key));
	CHECK(!peer_equal(t.up.up.key, t.up.down.key));
	/* The proof of the client is none of the server. */
	CHECK(!peer_equal(t.hello + 64, t.up.proof));
}

static void other_sides(void)
{
	struct talk t;

	begin_talk(&t);
	t.server = make_id(1, "another key of a group");
	CHECK(!check(&t));
	begin_talk(&t);
	peer_key(&t.server, NULL, 0);
	CHECK(!check(&t));
	begin_talk(&t);
	t.server.lineage[0]++;
	CHECK(!check(&t));
	begin_talk(&t);
	t.server.node = 3;
	CHECK(!check(&t));
	/* A replay meets another nonce. */
	begin_talk(&t);
	t.nonce[0][31] ^= 1;
	CHECK(!check(&t));
	/* A mode that the proof covers. */
	begin_talk(&t);
	t.server.mode = 0;
	CHECK(!check(&t));
}

/* What a node has said as a client comes back to it as a server. */
static void reflection(void)
{
	struct talk t;

	begin_talk(&t);
	t.server = t.client;
	CHECK(!check(&t));
	peer_hello_build(t.hello, &t.client, 2, t.nonce[0], t.nonce[1], &t.up);
	CHECK(!check(&t));
}

static void each_bit_of_a_hello(void)
{
	struct talk t;
	unsigned int i;

	for (i = 0; i < PEER_HELLO * 8; i++) {
		begin_talk(&t);
		t.hello[i / 8] ^= (uint8_t)(1U << i % 8);
		CHECK(!check(&t));
	}
}

/* With the right key, so only what is said is wrong. */
static void versions(void)
{
	struct talk t;

	begin_talk(&t);
	t.client.mode = 0;
	peer_hello_build(t.hello, &t.client, 1, t.nonce[0], t.nonce[1], &t.up);
	CHECK(!check(&t));
}

static void without_a_key(void)
{
	struct talk t;

	begin_talk(&t);
	peer_key(&t.server, NULL, 0);
	peer_key(&t.client, NULL, 0);
	peer_hello_build(t.hello, &t.client, 1, t.nonce[0], t.nonce[1], &t.up);
	CHECK(check(&t));
}

static void fuzz_hello(void)
{
	struct talk t;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		unsigned int n = 1 + draw(4);
		uint8_t was[PEER_HELLO];

		begin_talk(&t);
		memcpy(was, t.hello, sizeof(was));
		while (n--)
			t.hello[draw(PEER_HELLO)] = (uint8_t)draw(256);
		CHECK(check(&t) == !memcmp(was, t.hello, sizeof(was)));
	}
}

/* ---- frames ----------------------------------------------------------------- */

#define LEN	100U
#define FRAME	(PEER_HEAD + LEN + PEER_MAC)

static struct peer_way make_way(void)
{
	struct peer_way way = { .key = "key of a way" };

	return way;
}

static void make_frame(uint8_t *buf, struct peer_way *way)
{
	unsigned int i;

	for (i = 0; i < LEN; i++)
		buf[PEER_HEAD + i] = (uint8_t)draw(256);
	CHECK_EQ(peer_seal(way, buf, PEER_DATA, LEN), FRAME);
}

static int open_frame(const uint8_t *buf, uint32_t have, struct peer_way way)
{
	uint32_t type, len;
	int n = peer_unseal(&way, buf, have, 200, &type, &len);

	CHECK(n <= 0 || (type == PEER_DATA && len == LEN));
	return n;
}

static void frames(void)
{
	struct peer_way way = make_way(), first = make_way(), other = make_way(), second;
	uint8_t buf[FRAME];
	uint32_t type, len;
	unsigned int i;

	make_frame(buf, &way);
	CHECK_EQ(open_frame(buf, FRAME, first), FRAME);
	for (i = 0; i < FRAME; i++)
		CHECK_EQ(open_frame(buf, i, first), 0);
	for (i = 0; i < FRAME * 8; i++) {
		buf[i / 8] ^= (uint8_t)(1U << i % 8);
		CHECK(open_frame(buf, FRAME, first) <= 0);
		buf[i / 8] ^= (uint8_t)(1U << i % 8);
	}
	/* A frame that comes twice, or too early, or the other way. */
	second = first;
	CHECK_EQ(peer_unseal(&second, buf, FRAME, 200, &type, &len), FRAME);
	CHECK_EQ(open_frame(buf, FRAME, second), -EBADMSG);
	make_frame(buf, &way);
	CHECK_EQ(open_frame(buf, FRAME, first), -EBADMSG);
	CHECK_EQ(open_frame(buf, FRAME, second), FRAME);
	other.key[0]++;
	other.count = 1;
	CHECK_EQ(open_frame(buf, FRAME, other), -EBADMSG);
	CHECK_EQ(peer_unseal(&second, buf, FRAME, LEN - 1, &type, &len), -EBADMSG);
}

static void fuzz_frame(void)
{
	uint8_t was[FRAME];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct peer_way way = make_way();
		uint32_t len = draw(4) ? FRAME : draw(FRAME);
		uint8_t *buf;
		unsigned int n = 1 + draw(6);

		make_frame(was, &way);
		buf = malloc(len + 1);
		memcpy(buf, was, len);
		while (n-- && len)
			buf[draw(len)] = (uint8_t)draw(256);
		CHECK((open_frame(buf, len, make_way()) > 0) ==
		      (len == FRAME && !memcmp(was, buf, FRAME)));
		free(buf);
	}
}

/* ---- payloads ---------------------------------------------------------------- */

static void payloads(void)
{
	struct peer_status_req sr = { .lineage = "lineage", .era = 7, .subgroup = 9 }, sr2;
	struct peer_status st = { PEER_OK, 1, 2, 3, 4, 5 }, st2;
	struct peer_read_req rr = { 1ULL << 40, 2, 3 }, rr2;
	struct peer_data d = { PEER_OK, 1, 2, 3, 4, 5 }, d2;
	uint8_t buf[PEER_DATA_HEAD];

	peer_status_req_put(buf, &sr);
	CHECK(peer_status_req_get(buf, PEER_STATUS_REQ, &sr2) && sr2.era == 7 && sr2.subgroup == 9);
	CHECK(!memcmp(sr.lineage, sr2.lineage, 16));
	CHECK(!peer_status_req_get(buf, PEER_STATUS_REQ - 1, &sr2));
	buf[PEER_STATUS_REQ - 1] = 1;
	CHECK(!peer_status_req_get(buf, PEER_STATUS_REQ, &sr2));
	peer_status_put(buf, &st);
	CHECK(peer_status_get(buf, PEER_STATUS_REP, &st2) && !memcmp(&st, &st2, sizeof(st)));
	CHECK(!peer_status_get(buf, PEER_STATUS_REP + 1, &st2));
	st.low = 4;
	peer_status_put(buf, &st);
	CHECK(!peer_status_get(buf, PEER_STATUS_REP, &st2));
	peer_read_req_put(buf, &rr);
	CHECK(peer_read_req_get(buf, PEER_READ_REQ, &rr2) && !memcmp(&rr, &rr2, sizeof(rr)));
	CHECK(!peer_read_req_get(buf, PEER_READ_REQ - 1, &rr2));
	peer_data_put(buf, &d);
	CHECK(peer_data_get(buf, PEER_DATA_HEAD, &d2) && !memcmp(&d, &d2, sizeof(d)));
	CHECK(!peer_data_get(buf, PEER_DATA_HEAD - 1, &d2));
	d.count = 0;
	peer_data_put(buf, &d);
	CHECK(!peer_data_get(buf, PEER_DATA_HEAD, &d2));
	d.code = PEER_END;
	peer_data_put(buf, &d);
	CHECK(peer_data_get(buf, PEER_DATA_HEAD, &d2));
	CHECK(!peer_data_get(buf, PEER_DATA_HEAD + 1, &d2));
	d.code = PEER_CODES;
	peer_data_put(buf, &d);
	CHECK(!peer_data_get(buf, PEER_DATA_HEAD, &d2));
}

static const struct peer_want want = {
	.next = 1000, .era = 3, .vid = 5, .era_max = 4, .vid_max = 6, .max_msg = 64,
};

static struct spindle_dlog_msg make_msg(void)
{
	return (struct spindle_dlog_msg){
		.lsn = 1000, .era = 3, .vid = 5, .slot = 4, .node = 2, .sender = 1, .len = 10,
		.data = "0123456789",
	};
}

#define WRONG(field, value) do {				\
	struct spindle_dlog_msg wrong = make_msg();		\
	wrong.field = (value);					\
	CHECK(peer_judge(&want, &wrong));		\
} while (0)

static void judge(void)
{
	struct spindle_dlog_msg m = make_msg();

	CHECK(!peer_judge(&want, &m));
	m.vid = 600;
	CHECK(!peer_judge(&want, &m));
	/* A later era begins with view 1 again. */
	m.era = 4;
	CHECK(peer_judge(&want, &m));
	m.vid = 6;
	CHECK(!peer_judge(&want, &m));
	m.vid = 1;
	CHECK(!peer_judge(&want, &m));
	WRONG(lsn, 999);
	WRONG(lsn, 1001);
	WRONG(era, 2);
	WRONG(era, 5);
	WRONG(vid, 4);
	WRONG(len, 65);
	WRONG(flags, 4);
	WRONG(flags, LOGD_FETCHED);
	WRONG(flags, LOGD_OTHER);
	WRONG(sender, 64);
	m = (struct spindle_dlog_msg){ .lsn = 1000, .era = 3, .vid = 5, .flags = LOGD_OTHER };
	CHECK(!peer_judge(&want, &m));
	m.flags |= LOGD_FETCHED;
	CHECK(!peer_judge(&want, &m));
	m.flags |= 8;
	CHECK(peer_judge(&want, &m));
	m.flags &= ~8U;
	m.node = 1;
	CHECK(peer_judge(&want, &m));
}

static uint32_t make_data(uint8_t *buf)
{
	struct peer_data d = { .count = 3, .from = 1000, .low = 1, .end = 2000 };
	struct peer_record r = { .m = make_msg(), .part = 10 };
	uint32_t len = PEER_DATA_HEAD;

	peer_data_put(buf, &d);
	for (; r.m.lsn < 1003; r.m.lsn++)
		len += peer_record_put(buf + len, &r);
	return len;
}

/* Read all bytes of what was accepted, so that the sanitizer sees them. */
static bool parse(const uint8_t *buf, uint32_t len, unsigned int *accepted)
{
	struct peer_want w = want;
	uint32_t at = PEER_DATA_HEAD, i, n, sum = 0;
	struct peer_record r;
	struct peer_data d;

	if (!peer_data_get(buf, len, &d))
		return false;
	for (i = 0; i < d.count; i++) {
		n = peer_record_get(buf + at, len - at, &r);
		if (!n || peer_judge(&w, &r.m) || r.part != r.m.len)
			return false;
		for (n = 0; n < r.part; n++)
			sum += ((const uint8_t *)r.m.data)[n];
		CHECK(r.m.lsn == 1000 + i && (r.m.era == 3 || r.m.era == 4));
		CHECK(r.m.era == 3 ? r.m.vid >= 5 : r.m.vid <= 6);
		CHECK(r.m.len <= 64 && (uint8_t)sum + r.m.len < 1000);
		at += PEER_RECORD + r.part;
		w.next++;
		w.era = r.m.era;
		w.vid = r.m.vid;
		(*accepted)++;
	}
	return at == len;
}

static void fuzz_data(void)
{
	unsigned int accepted = 0, good = 0, i;
	uint8_t was[512];
	uint32_t all = make_data(was);

	CHECK(parse(was, all, &accepted));
	for (i = 0; i < ROUNDS; i++) {
		uint32_t len = draw(3) ? all : draw(all + 1), n = draw(5);
		uint8_t *buf = malloc(len + 1);

		memcpy(buf, was, len);
		while (n-- && len)
			buf[draw(len)] = draw(2) ? (uint8_t)draw(256) : (uint8_t)(draw(3) - 1);
		/* The exact length, and no byte more. */
		buf = realloc(buf, len ? len : 1);
		good += parse(buf, len, &accepted);
		free(buf);
	}
	CHECK(accepted > 1000 && good > 100 && good < ROUNDS);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "both sides of a hello have the same keys", agree },
		{ "another key, node, lineage, mode or nonce is refused", other_sides },
		{ "a hello that comes back is refused", reflection },
		{ "each bit of a hello counts", each_bit_of_a_hello },
		{ "a client without a key is refused by a server with one", versions },
		{ "without a key on both sides there is a connection", without_a_key },
		{ "30000 hellos that were changed are refused", fuzz_hello },
		{ "each bit of a frame counts, and its number", frames },
		{ "30000 frames that were changed are refused", fuzz_frame },
		{ "payloads come as they went, or not at all", payloads },
		{ "a record that does not follow is refused", judge },
		{ "of 30000 replies that were changed no record is a wrong one", fuzz_data },
	};

	seed = (uint64_t)time(NULL);
	printf("# seed %llu\n", (unsigned long long)seed);
	return tap_run(cases, ARRAY_SIZE(cases));
}
