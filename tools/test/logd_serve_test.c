// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-logd serves its log: what a stranger gets, what a guest may ask, and what one that does
 * not read does to the others. The server is in this process, at a port of the loopback, with a
 * log in a real directory.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>

#include "logd_store.h"
#include "tap.h"

#define MESSAGES	1500U
#define CLIENTS		20

static struct store store;
static struct peer_server server;
static struct sockaddr_in addr;
static uint64_t until_ms;

static struct peer_id make_id(uint32_t node, const char *key)
{
	struct peer_id id = { .node = node, .lineage = "lineage" };

	peer_key(&id, key, strlen(key));
	return id;
}

static bool find(void *arg, uint32_t subgroup, struct peer_log *log)
{
	*log = (struct peer_log){ .log = arg, .frame = STORE_FRAME };
	return subgroup == STORE_SUBGROUP;
}

static void begin(void)
{
	socklen_t len = sizeof(addr);
	int fd;

	addr = (struct sockaddr_in){ .sin_family = AF_INET };
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = peer_listen((struct sockaddr *)&addr, sizeof(addr));
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&addr, &len))
		bail_out("no socket");
	server = (struct peer_server){
		.id = make_id(1, "the key of the group"), .find = find, .arg = &store.log,
	};
	peer_server_begin(&server, fd);
	until_ms = peer_now_ms() + 60000;
}

/* One turn of the loop, with up to two clients. */
static void turn_both(struct peer_fetch *f, struct peer_fetch *g)
{
	struct pollfd fd[PEER_GUESTS + 3];
	int ms = 20;
	unsigned int n = peer_server_poll(&server, fd, &ms);

	if (f)
		n += peer_client_poll(&f->client, &fd[n], &ms);
	if (g)
		n += peer_client_poll(&g->client, &fd[n], &ms);
	poll(fd, n, ms);
	peer_server_work(&server);
	if (f)
		peer_fetch_work(f);
	if (g)
		peer_fetch_work(g);
	if (peer_now_ms() > until_ms)
		bail_out("the test does not end");
}

static void turn(struct peer_fetch *f)
{
	turn_both(f, NULL);
}

static int dial(void)
{
	int fd = peer_connect((struct sockaddr *)&addr, sizeof(addr));

	if (fd < 0)
		bail_out("cannot connect");
	return fd;
}

/* Read until the server has hung up, or has sent @max bytes. Return: how many came. */
static uint32_t hear(int fd, uint8_t *buf, uint32_t max, bool *ended)
{
	uint32_t len = 0;
	int turns = 0;
	ssize_t n;

	*ended = false;
	while (len < max && !*ended && turns++ < 50) {
		turn(NULL);
		n = recv(fd, buf + len, max - len, MSG_DONTWAIT);
		*ended = !n || (n < 0 && errno != EAGAIN);
		len += n > 0 ? (uint32_t)n : 0;
	}
	return len;
}

static void say(int fd, const void *buf, size_t len)
{
	CHECK_EQ(send(fd, buf, len, MSG_NOSIGNAL), len);
}

/* ---- strangers -------------------------------------------------------------- */

/* Bytes that a stranger gets for these words, without the nonce. The line is down then. */
static uint32_t answer_to(const uint8_t *hello, uint32_t len)
{
	uint8_t buf[PEER_NONCE + 100];
	bool ended;
	int fd = dial();
	uint32_t n;

	CHECK_EQ(hear(fd, buf, PEER_NONCE, &ended), PEER_NONCE);
	say(fd, hello, len);
	shutdown(fd, SHUT_WR);
	n = hear(fd, buf, sizeof(buf), &ended);
	CHECK(ended);
	close(fd);
	return n;
}

static void strangers(void)
{
	struct peer_id id = make_id(2, "another key of a group");
	uint8_t hello[PEER_HELLO] = { 0 }, nonce[PEER_NONCE] = { 0 };
	struct peer_session s;
	unsigned int i;

	CHECK_EQ(answer_to(hello, PEER_HELLO), 0);
	peer_hello_build(hello, &id, 1, nonce, nonce, &s);
	CHECK_EQ(answer_to(hello, PEER_HELLO), 0);
	for (i = 0; i < PEER_HELLO; i++)
		CHECK_EQ(answer_to(hello, i), 0);
}

/* With the right key, and a part is missing. Return: the socket. */
static int greet(uint8_t *hello, struct peer_session *s, uint32_t len)
{
	struct peer_id id = make_id(2, "the key of the group");
	uint8_t nonce[PEER_NONCE], own[PEER_NONCE] = "own";
	int fd = dial();
	bool ended;

	CHECK_EQ(hear(fd, nonce, PEER_NONCE, &ended), PEER_NONCE);
	peer_hello_build(hello, &id, 1, nonce, own, s);
	say(fd, hello, len);
	return fd;
}

static void truncated(void)
{
	uint8_t hello[PEER_HELLO], buf[100];
	struct peer_session s;
	unsigned int i;
	bool ended;
	int fd;

	for (i = 0; i < PEER_HELLO; i++) {
		fd = greet(hello, &s, i);
		shutdown(fd, SHUT_WR);
		CHECK_EQ(hear(fd, buf, sizeof(buf), &ended), 0);
		CHECK(ended);
		close(fd);
	}
	fd = greet(hello, &s, PEER_HELLO);
	CHECK_EQ(hear(fd, buf, PEER_MAC, &ended), PEER_MAC);
	CHECK(peer_equal(buf, s.proof));
	close(fd);
}

/* All that a guest has said is said once more. */
static void replay(void)
{
	struct peer_status_req req = {
		.lineage = "lineage", .era = STORE_ERA, .subgroup = STORE_SUBGROUP,
	};
	uint8_t said[PEER_HELLO + PEER_REQUEST], buf[200], *frame = said + PEER_HELLO;
	struct peer_session s;
	uint32_t len;
	bool ended;
	int fd = greet(said, &s, PEER_HELLO);

	peer_status_req_put(frame + PEER_HEAD, &req);
	len = peer_seal(&s.up, frame, PEER_STATUS, PEER_STATUS_REQ);
	say(fd, frame, len);
	CHECK_EQ(hear(fd, buf, PEER_MAC + PEER_HEAD + PEER_STATUS_REP + PEER_MAC, &ended),
		 PEER_MAC + PEER_HEAD + PEER_STATUS_REP + PEER_MAC);
	/* The same frame again on the same line. */
	say(fd, frame, len);
	CHECK_EQ(hear(fd, buf, sizeof(buf), &ended), 0);
	CHECK(ended);
	close(fd);
	CHECK_EQ(answer_to(said, PEER_HELLO + len), 0);
}

static unsigned int greeted(const int *fd, unsigned int n)
{
	uint8_t buf[PEER_NONCE + 1];
	unsigned int i, all = 0;

	for (i = 0; i < n; i++)
		all += recv(fd[i], buf, sizeof(buf), MSG_DONTWAIT) == PEER_NONCE;
	return all;
}

/* Eight of them are let in, for five seconds; then those that have waited. */
static void limits(void)
{
	int fd[CLIENTS];
	unsigned int i;
	uint64_t begun = peer_now_ms();

	for (i = 0; i < CLIENTS; i++)
		fd[i] = dial();
	while (peer_now_ms() - begun < 1000)
		turn(NULL);
	CHECK_EQ(greeted(fd, CLIENTS), PEER_STRANGERS);
	while (peer_now_ms() - begun < PEER_PROOF_MS + 1000)
		turn(NULL);
	CHECK_EQ(greeted(fd, CLIENTS), PEER_STRANGERS);
	for (i = 0; i < CLIENTS; i++)
		close(fd[i]);
	for (i = 0; i < 10; i++)
		turn(NULL);
}

/* ---- guests ------------------------------------------------------------------ */

static struct peer_id client_id;

static int take(void *arg, const struct spindle_dlog_msg *m, const char **why)
{
	struct spindle_dlog_msg want = store_msg(m->lsn);
	uint64_t *next = arg;

	(void)why;
	CHECK(m->lsn == (*next)++ && m->len == want.len && m->slot == want.slot &&
	      m->vid == want.vid && !memcmp(m->data, want.data, m->len));
	return 0;
}

static void prepare(struct peer_fetch *f, uint64_t *next)
{
	client_id = make_id(2, "the key of the group");
	*f = (struct peer_fetch){
		.client.id = &client_id, .subgroup = STORE_SUBGROUP, .take = take, .arg = next,
		.want = { .era_max = STORE_ERA, .vid_max = 100, .max_msg = STORE_LONGEST },
	};
}

static uint32_t connect_guest(struct peer_fetch *f, uint64_t *next)
{
	prepare(f, next);
	peer_fetch_begin(f, 1, dial());
	while (f->client.step < PEER_KNOWS)
		turn(f);
	return f->client.step;
}

static void guests(void)
{
	struct peer_fetch f;
	uint64_t next = 100;

	CHECK_EQ(connect_guest(&f, &next), PEER_KNOWS);
	CHECK(f.status.low == 100 && f.status.end == MESSAGES && f.status.era == STORE_ERA);
	CHECK_EQ(f.status.vid, store_msg(MESSAGES - 1).vid);
	peer_fetch_read(&f, 100, MESSAGES);
	while (f.client.step < PEER_DONE)
		turn(&f);
	CHECK_EQ(f.client.step, PEER_DONE);
	CHECK_EQ(next, MESSAGES);
	peer_fetch_end(&f);
	next = 1234;
	CHECK_EQ(connect_guest(&f, &next), PEER_KNOWS);
	peer_fetch_read(&f, 1234, 1236);
	while (f.client.step < PEER_DONE)
		turn(&f);
	CHECK(f.client.step == PEER_DONE && next == 1236);
	peer_fetch_end(&f);
}

static void below_and_behind(void)
{
	struct peer_fetch f;
	uint64_t next = 99;

	CHECK_EQ(connect_guest(&f, &next), PEER_KNOWS);
	peer_fetch_read(&f, 99, MESSAGES);
	while (f.client.step < PEER_DONE)
		turn(&f);
	CHECK(f.client.step == PEER_FAILED &&
	      !strcmp(f.client.why, "its log begins at position 100"));
	next = MESSAGES;
	CHECK_EQ(connect_guest(&f, &next), PEER_KNOWS);
	peer_fetch_read(&f, MESSAGES, MESSAGES + 5);
	while (f.client.step < PEER_DONE)
		turn(&f);
	CHECK(f.client.step == PEER_DONE && f.taken == 0 && next == MESSAGES);
	peer_fetch_end(&f);
}

static void refusals(void)
{
	struct peer_fetch f;
	uint64_t next = 0;

	prepare(&f, &next);
	f.subgroup++;
	peer_fetch_begin(&f, 1, dial());
	while (f.client.step < PEER_KNOWS)
		turn(&f);
	CHECK(!strcmp(f.client.why, "it has no log of this subgroup"));
	prepare(&f, &next);
	f.want.era_max--;
	peer_fetch_begin(&f, 1, dial());
	while (f.client.step < PEER_KNOWS)
		turn(&f);
	CHECK(!strcmp(f.client.why, "its log is of another lineage, or of a later era"));
	prepare(&f, &next);
	client_id.lineage[3]++;
	peer_fetch_begin(&f, 1, dial());
	while (f.client.step < PEER_KNOWS)
		turn(&f);
	CHECK(f.client.step == PEER_FAILED);
	prepare(&f, &next);
	peer_fetch_begin(&f, 3, dial());
	while (f.client.step < PEER_KNOWS)
		turn(&f);
	CHECK(f.client.step == PEER_FAILED);
}

/* Return: whether the server hangs up, and says no more. */
static bool is_thrown_out(uint32_t type, uint32_t len, uint32_t claim)
{
	uint8_t hello[PEER_HELLO], buf[PEER_HEAD + 200 + PEER_MAC] = { 0 };
	struct peer_session s;
	bool ended;
	int fd = greet(hello, &s, PEER_HELLO);
	uint32_t n;

	CHECK_EQ(hear(fd, buf, PEER_MAC, &ended), PEER_MAC);
	n = peer_seal(&s.up, buf, type, len);
	memcpy(buf, &claim, sizeof(claim));
	say(fd, buf, n);
	n = hear(fd, buf, sizeof(buf), &ended);
	close(fd);
	return !n && ended;
}

static void nonsense(void)
{
	CHECK(is_thrown_out(PEER_READ, PEER_READ_REQ, PEER_READ_REQ));
	CHECK(is_thrown_out(PEER_STATUS, PEER_STATUS_REQ - 1, PEER_STATUS_REQ - 1));
	CHECK(is_thrown_out(PEER_STATUS, PEER_STATUS_REQ + 1, PEER_STATUS_REQ + 1));
	CHECK(is_thrown_out(PEER_STATUS, PEER_STATUS_REQ, 0x7fffffff));
	CHECK(is_thrown_out(PEER_STATUS, PEER_STATUS_REQ, 0xfffffff0));
	CHECK(is_thrown_out(PEER_STATUS, PEER_STATUS_REQ, 5));
	CHECK(is_thrown_out(PEER_DATA, 0, 0));
	/* Nothing is found or loaded before a log was named. */
	CHECK(is_thrown_out(PEER_FIND, PEER_NAME, PEER_NAME));
	CHECK(is_thrown_out(PEER_FIND, PEER_NAME - 1, PEER_NAME - 1));
	CHECK(is_thrown_out(PEER_LOAD, PEER_LOAD_REQ, PEER_LOAD_REQ));
	CHECK(is_thrown_out(99, 0, 0));
}

static void too_many_friends(void)
{
	struct peer_fetch f[PEER_FRIENDS + 1];
	uint64_t next[PEER_FRIENDS + 1];
	unsigned int i;

	for (i = 0; i < PEER_FRIENDS; i++)
		CHECK_EQ(connect_guest(&f[i], &next[i]), PEER_KNOWS);
	CHECK_EQ(connect_guest(&f[i], &next[i]), PEER_FAILED);
	peer_fetch_end(&f[0]);
	for (i = 0; i < 10; i++)
		turn(NULL);
	CHECK_EQ(connect_guest(&f[0], &next[0]), PEER_KNOWS);
	for (i = 0; i < PEER_FRIENDS; i++)
		peer_fetch_end(&f[i]);
	for (i = 0; i < 10; i++)
		turn(NULL);
}

/* Say a request, and hear the reply. Return: bytes of its payload, 0 without one. */
static uint32_t ask(int fd, struct peer_session *s, uint32_t type, uint32_t len, uint8_t *buf)
{
	uint32_t n = 0, got = 0, is;
	int frame = 0;
	bool ended = false;

	say(fd, buf, peer_seal(&s->up, buf, type, len));
	for (got = 0; !frame && !ended; got += n) {
		frame = peer_unseal(&s->down, buf, got, PEER_PAYLOAD, &is, &len);
		if (!frame)
			n = hear(fd, buf + got, got < PEER_HEAD ? PEER_HEAD - got :
				 PEER_HEAD + len + PEER_MAC - got, &ended);
	}
	return frame > 0 ? len : 0;
}

/* Read from a position. Return: whether the first record is the right one, in these bytes. */
static bool reads(int fd, struct peer_session *s, struct peer_read_req req)
{
	static uint8_t buf[PEER_FRAME];
	struct spindle_dlog_msg m = store_msg(req.from);
	struct peer_record r;
	struct peer_data d;
	uint32_t len;

	peer_read_req_put(buf + PEER_HEAD, &req);
	len = ask(fd, s, PEER_READ, PEER_READ_REQ, buf);
	return peer_data_get(buf + PEER_HEAD, len, &d) && d.code == PEER_OK &&
	       peer_record_get(buf + PEER_HEAD + PEER_DATA_HEAD, len - PEER_DATA_HEAD, &r) &&
	       r.m.lsn == req.from && r.m.len == m.len && r.skip == req.skip &&
	       !memcmp(r.m.data, (const uint8_t *)m.data + r.skip, r.part);
}

/* One line, on which a guest goes to and fro. */
static void to_and_fro(void)
{
	struct peer_status_req req = { .lineage = "other", .era = STORE_ERA,
				       .subgroup = STORE_SUBGROUP };
	uint8_t hello[PEER_HELLO], buf[200];
	struct peer_session s;
	struct peer_status st;
	bool ended;
	int fd = greet(hello, &s, PEER_HELLO);

	CHECK_EQ(hear(fd, buf, PEER_MAC, &ended), PEER_MAC);
	peer_status_req_put(buf + PEER_HEAD, &req);
	CHECK_EQ(ask(fd, &s, PEER_STATUS, PEER_STATUS_REQ, buf), PEER_STATUS_REP);
	CHECK(peer_status_get(buf + PEER_HEAD, PEER_STATUS_REP, &st) && st.code == PEER_LINEAGE);
	memcpy(req.lineage, "lineage", 8);
	peer_status_req_put(buf + PEER_HEAD, &req);
	CHECK_EQ(ask(fd, &s, PEER_STATUS, PEER_STATUS_REQ, buf), PEER_STATUS_REP);
	CHECK(peer_status_get(buf + PEER_HEAD, PEER_STATUS_REP, &st) && st.code == PEER_OK);
	CHECK(reads(fd, &s, (struct peer_read_req){ .from = 1400, .max = 5000 }));
	CHECK(reads(fd, &s, (struct peer_read_req){ .from = 100 }));
	CHECK(reads(fd, &s, (struct peer_read_req){ .from = 1399, .max = UINT32_MAX }));
	CHECK(reads(fd, &s, (struct peer_read_req){ .from = 333, .max = 5000 }));
	CHECK(reads(fd, &s, (struct peer_read_req){ .from = 333, .skip = 599999 }));
	CHECK(reads(fd, &s, (struct peer_read_req){ .from = 333, .skip = 300001 }));
	CHECK(!reads(fd, &s, (struct peer_read_req){ .from = 333, .skip = STORE_LONGEST }));
	close(fd);
}

static int hear_replies(struct peer_fetch *f)
{
	static uint8_t buf[PEER_FRAME];
	uint32_t got = 0, n, type, len;
	int frame, replies = 0;
	bool ended = false;

	while (!ended) {
		frame = peer_unseal(&f->client.session.down, buf, got, PEER_PAYLOAD, &type, &len);
		if (frame < 0)
			return frame;
		replies += frame > 0;
		got -= (uint32_t)frame;
		memmove(buf, buf + frame, got);
		if (frame)
			continue;
		n = hear(f->client.conn.fd, buf + got, got < PEER_HEAD ? PEER_HEAD - got :
			 PEER_HEAD + len + PEER_MAC - got, &ended);
		if (!n)
			break;
		got += n;
	}
	return replies;
}

/* A guest asks again and again, and reads nothing, while another one fetches all. */
static void slow_guest(void)
{
	uint8_t buf[PEER_REQUEST];
	struct peer_read_req req = { .from = 100, .max = PEER_CHUNK };
	struct peer_fetch slow, quick;
	uint64_t none = 100, next = 100;
	int i, small = 32768, sent = 0;

	CHECK_EQ(connect_guest(&slow, &none), PEER_KNOWS);
	setsockopt(slow.client.conn.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (i = 0; i < (int)PEER_GUESTS; i++)
		setsockopt(server.guest[i].conn.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	for (i = 0; i < 8; i++) {
		uint32_t n;

		peer_read_req_put(buf + PEER_HEAD, &req);
		n = peer_seal(&slow.client.session.up, buf, PEER_READ, PEER_READ_REQ);
		sent += send(slow.client.conn.fd, buf, n, MSG_DONTWAIT | MSG_NOSIGNAL) ==
			(ssize_t)n;
		turn(NULL);
	}
	CHECK_EQ(sent, 8);
	/* The server has not got rid of the first reply. */
	CHECK_EQ(server.guest[0].conn.fd >= 0 && server.guest[0].conn.out_len, true);
	CHECK_EQ(connect_guest(&quick, &next), PEER_KNOWS);
	peer_fetch_read(&quick, 100, MESSAGES);
	while (quick.client.step < PEER_DONE)
		turn(&quick);
	CHECK_EQ(next, MESSAGES);
	peer_fetch_end(&quick);
	/* What it asked for has come all the same, one reply behind the other. */
	CHECK_EQ(hear_replies(&slow), sent);
	peer_fetch_end(&slow);
	for (i = 0; i < 10; i++)
		turn(NULL);
}

/* The log grows, and is trimmed, while it is read. */
static void living_log(void)
{
	struct peer_fetch f;
	uint64_t next = 100;

	CHECK_EQ(connect_guest(&f, &next), PEER_KNOWS);
	peer_fetch_read(&f, 100, 3000);
	while (f.client.step < PEER_DONE) {
		if (store.log.next < 3000)
			store_write(&store, store.log.next + 100);
		turn(&f);
	}
	while (f.client.step == PEER_DONE && next < 3000) {
		peer_fetch_end(&f);
		connect_guest(&f, &next);
		peer_fetch_read(&f, next, 3000);
		while (f.client.step < PEER_DONE)
			turn(&f);
	}
	CHECK_EQ(next, 3000);
	peer_fetch_end(&f);
	CHECK(!spindle_dlog_trim(&store.log, 2500));
	store_settle(&store);
	next = 2499;
	CHECK_EQ(connect_guest(&f, &next), PEER_KNOWS);
	CHECK_EQ(f.status.low, 2500);
	peer_fetch_end(&f);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a stranger gets a nonce, whatever it says", strangers },
		{ "a hello that ends too early gets nothing", truncated },
		{ "a connection that is recorded cannot be played again", replay },
		{ "a guest gets the whole log, or a part of it", guests },
		{ "a guest hears where the log begins and ends", below_and_behind },
		{ "another subgroup, era, lineage or node is refused", refusals },
		{ "a guest goes to and fro on one line", to_and_fro },
		{ "a guest that sends nonsense is thrown out", nonsense },
		{ "a guest that does not read does not stop the others", slow_guest },
		{ "eight guests are served, and not nine", too_many_friends },
		{ "a log is served while it grows", living_log },
		{ "eight strangers are let in at once, for five seconds", limits },
	};
	int rc;

	if (!store_make(&store, 100))
		return 1;
	store_write(&store, MESSAGES);
	begin();
	rc = tap_run(cases, ARRAY_SIZE(cases));
	peer_server_end(&server);
	store_remove(&store);
	return rc;
}
