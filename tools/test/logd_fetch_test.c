// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-logd fetches what its log misses: from one peer, from two of which one has less, with a
 * process that dies in between, and from peers that lie. Own log and logs of the peers are in real
 * directories. A liar knows the key, and is another process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>

#include "logd_store.h"
#include "tap.h"

#define MESSAGES	3000U

static struct store full, less, own;
static struct peer_server server;
static struct peer_fetch fetch;
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

/* A message goes to the own log as spindle-logd does it. */
static int take(void *arg, const struct spindle_dlog_msg *m, const char **why)
{
	int err = spindle_dlog_append(&own.log, m, 1);

	(void)arg;
	if (!err)
		return 0;
	*why = "the log does not take it";
	own.blocked = err == -EAGAIN || err == -ENOSPC;
	return own.blocked ? -EAGAIN : -EBADMSG;
}

static struct peer_id own_id;

static void begin_fetch(int fd, uint32_t node)
{
	own_id = make_id(2, "the key of the group");
	fetch = (struct peer_fetch){
		.client.id = &own_id, .subgroup = STORE_SUBGROUP, .take = take,
		.want = {
			.era = STORE_ERA, .vid = own.log.vid, .era_max = STORE_ERA,
			.vid_max = 100, .max_msg = STORE_LONGEST,
		},
	};
	peer_fetch_begin(&fetch, node, fd);
	until_ms = peer_now_ms() + 60000;
}

/* One turn of a loop with the own log, a server, and the client. */
static void turn(void)
{
	struct pollfd fd[PEER_GUESTS + 3];
	int ms = 20;
	unsigned int n = peer_server_poll(&server, fd, &ms);

	fd[n++] = (struct pollfd){ .fd = own.io.event, .events = POLLIN };
	n += peer_client_poll(&fetch.client, &fd[n], &ms);
	if (fetch.client.step == PEER_TAKES && !own.blocked)
		ms = 0;
	poll(fd, n, ms);
	store_reap(&own);
	if (server.find)
		peer_server_work(&server);
	peer_fetch_work(&fetch);
	if (peer_now_ms() > until_ms)
		bail_out("the test does not end");
}

static void serve(struct store *s)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int fd;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = peer_listen((struct sockaddr *)&addr, sizeof(addr));
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&addr, &len))
		bail_out("no socket");
	server = (struct peer_server){
		.id = make_id(1, "the key of the group"), .find = find, .arg = &s->log,
	};
	peer_server_begin(&server, fd);
	begin_fetch(peer_connect((struct sockaddr *)&addr, sizeof(addr)), 1);
	while (fetch.client.step < PEER_KNOWS)
		turn();
	CHECK_EQ(fetch.client.step, PEER_KNOWS);
}

/* Fetch until so many are there, or no more come. */
static void fetch_to(uint64_t to, uint64_t stop)
{
	if (fetch.client.step == PEER_KNOWS)
		peer_fetch_read(&fetch, own.log.next, stop);
	while (fetch.client.step < PEER_DONE && own.log.next < to)
		turn();
}

static void leave(void)
{
	peer_fetch_end(&fetch);
	peer_server_end(&server);
	server = (struct peer_server){ .listen = -1 };
}

static void make_own(uint64_t low)
{
	CHECK(store_make(&own, low));
	store_settle(&own);
}

/* All is on disk, and right; a scan finds the same. */
static void check_own(uint64_t low, uint64_t next)
{
	store_settle(&own);
	CHECK_EQ(own.log.next, next);
	CHECK_EQ(store_right(&own), next);
	store_close(&own);
	CHECK(store_open(&own, 0));
	CHECK(!own.scan.is_new && !own.scan.n_damaged);
	CHECK_EQ(own.scan.map.low, low);
	CHECK_EQ(own.scan.next, next);
	store_settle(&own);
	CHECK_EQ(store_right(&own), next);
	store_remove(&own);
}

static void whole(void)
{
	make_own(0);
	serve(&full);
	fetch_to(MESSAGES, MESSAGES);
	leave();
	check_own(0, MESSAGES);
}

/* The process dies in the middle, and what was not on disk is fetched again. */
static void interrupted(void)
{
	uint64_t persisted;
	unsigned int i;

	make_own(0);
	for (i = 1; i < 6; i++) {
		serve(&full);
		fetch_to(i * 500 + i, MESSAGES);
		leave();
		persisted = own.log.persisted;
		store_close(&own);
		CHECK(store_open(&own, 0));
		CHECK(own.log.next >= persisted);
		store_settle(&own);
	}
	serve(&full);
	fetch_to(MESSAGES, MESSAGES);
	leave();
	check_own(0, MESSAGES);
}

static void two_peers(void)
{
	make_own(0);
	serve(&less);
	CHECK_EQ(fetch.status.end, 700);
	fetch_to(MESSAGES, MESSAGES);
	CHECK(fetch.client.step == PEER_DONE && own.log.next == 700);
	leave();
	serve(&full);
	fetch_to(MESSAGES, MESSAGES);
	leave();
	check_own(0, MESSAGES);
}

static void no_more_than_needed(void)
{
	make_own(300);
	serve(&full);
	fetch_to(MESSAGES, 801);
	CHECK_EQ(fetch.client.step, PEER_DONE);
	leave();
	check_own(300, 801);
}

/* ---- liars -------------------------------------------------------------------- */

/* What is done to the second record of a reply, or to the reply. */
enum lie {
	TRUTH, GAP, AGAIN, OTHER_ERA, OLD_ERA, OLD_VIEW, NEW_VIEW, TOO_LONG, FLAGS, SENDER,
	COUNT, FROM, NO_RECORD, REST, PART, SKIP, BIG_PART, CODE, STATUS, MAC, TYPE, LENGTH,
	PROOF, TWICE, LIES
};

static const char *const lie_name[] = {
	"the truth", "a gap", "a position again", "another era", "an earlier era",
	"an earlier view", "a view to come", "a long message", "unknown flags",
	"an impossible sender", "a wrong count", "a wrong beginning", "half a record",
	"bytes behind the records", "a part of a message", "a part from the middle",
	"a part that is longer", "an unknown code", "an impossible status", "a wrong MAC",
	"an unknown type", "a wrong length", "a wrong proof", "a part twice",
};

static void send_all(int fd, const uint8_t *buf, size_t len)
{
	if (send(fd, buf, len, MSG_NOSIGNAL) != (ssize_t)len)
		_exit(0);
}

static void recv_all(int fd, uint8_t *buf, size_t len)
{
	if (recv(fd, buf, len, MSG_WAITALL) != (ssize_t)len)
		_exit(0);
}

static void twist(struct peer_record *r, enum lie lie)
{
	switch (lie) {
	case GAP: r->m.lsn++; break;
	case AGAIN: r->m.lsn--; break;
	case OTHER_ERA: r->m.era++; break;
	case OLD_ERA: r->m.era--; break;
	case OLD_VIEW: r->m.vid = 0; break;
	case NEW_VIEW: r->m.vid = 101; break;
	case TOO_LONG: r->m.len = STORE_LONGEST + 1; break;
	case FLAGS: r->m.flags = 8; break;
	case SENDER: r->m.sender = 64; break;
	case PART: r->part--; break;
	case SKIP: r->skip = 1; r->part--; break;
	case BIG_PART: r->part += 9; break;
	default: break;
	}
}

/* The first part of a message, which is more than its half. */
static uint32_t first_part(uint8_t *p)
{
	struct spindle_dlog_msg m = store_msg(1);
	struct peer_data d = { .count = 1, .end = 5 };
	struct peer_record r = { .m = m, .part = 60 };

	r.m.lsn = 0;
	r.m.len = 100;
	peer_data_put(p, &d);
	return PEER_DATA_HEAD + peer_record_put(p + PEER_DATA_HEAD, &r);
}

static uint32_t lie_data(uint8_t *p, enum lie lie)
{
	struct peer_data d = { .count = 5, .low = 0, .end = 5 };
	uint32_t len = PEER_DATA_HEAD;
	uint64_t lsn;

	if (lie == TWICE)
		return first_part(p);
	for (lsn = 0; lsn < 5; lsn++) {
		struct peer_record r = { .m = store_msg(lsn), .part = store_msg(lsn).len };

		if (lsn == 3)
			twist(&r, lie);
		len += peer_record_put(p + len, &r);
	}
	d.count += lie == COUNT;
	d.from += lie == FROM;
	d.code = lie == CODE ? PEER_CODES : PEER_OK;
	peer_data_put(p, &d);
	len += lie == REST;
	return lie == NO_RECORD ? len - store_msg(4).len - 10 : len;
}

static void send_frame(int fd, struct peer_session *s, uint8_t *buf, uint32_t type, uint32_t len,
		       enum lie lie)
{
	uint32_t n;

	type += (lie == TYPE) * 100;
	n = peer_seal(&s->down, buf, type, len);
	if (lie == MAC)
		buf[n - 1] ^= 1;
	if (lie == LENGTH)
		memset(buf, 0xff, 4);
	send_all(fd, buf, n);
}

static void liar(int fd, enum lie lie)
{
	struct peer_id id = make_id(1, "the key of the group");
	struct peer_status st = { .end = lie == STATUS ? 0 : 5, .low = lie == STATUS };
	uint8_t nonce[PEER_NONCE] = { 1 }, hello[PEER_HELLO], in[PEER_REQUEST];
	static uint8_t buf[PEER_FRAME];
	struct peer_session s;

	send_all(fd, nonce, sizeof(nonce));
	recv_all(fd, hello, sizeof(hello));
	if (!peer_hello_check(hello, &id, nonce, &s))
		_exit(1);
	s.proof[0] ^= lie == PROOF;
	send_all(fd, s.proof, sizeof(s.proof));
	recv_all(fd, in, PEER_REQUEST);
	peer_status_put(buf + PEER_HEAD, &st);
	send_frame(fd, &s, buf, PEER_STATUS_IS, PEER_STATUS_REP, TRUTH);
	recv_all(fd, in, PEER_HEAD + PEER_READ_REQ + PEER_MAC);
	send_frame(fd, &s, buf, PEER_DATA, lie_data(buf + PEER_HEAD, lie), lie);
	recv_all(fd, in, PEER_HEAD + PEER_READ_REQ + PEER_MAC);
	send_frame(fd, &s, buf, PEER_DATA, lie_data(buf + PEER_HEAD, lie), lie);
	recv_all(fd, in, PEER_HEAD + PEER_READ_REQ + PEER_MAC);
	_exit(0);
}

static void meet(enum lie lie)
{
	int fd[2];
	pid_t pid;

	make_own(0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		bail_out("no socket");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(fd[0]);
		liar(fd[1], lie);
	}
	close(fd[1]);
	begin_fetch(fd[0], 1);
	while (fetch.client.step < PEER_KNOWS)
		turn();
	/* What is wrong behind the last record shows when more is needed. */
	fetch_to(MESSAGES, lie == COUNT || lie == REST ? 6 : 5);
	if (lie == TRUTH)
		CHECK(fetch.client.step == PEER_DONE && own.log.next == 5);
	else if (!CHECK(fetch.client.step == PEER_FAILED && own.log.next <= 4 + (lie >= COUNT)))
		printf("# %s: step %u, next %llu, %s\n", lie_name[lie], fetch.client.step,
		       (unsigned long long)own.log.next, fetch.client.why);
	if (lie == REST)
		CHECK(!strcmp(fetch.client.why, "there are bytes behind its records"));
	if (lie == TWICE)
		CHECK(!strcmp(fetch.client.why, "position 0: a part that does not follow"));
	if (lie == TYPE || lie == MAC || lie == LENGTH || lie == PROOF || lie == CODE)
		CHECK_EQ(own.log.next, 0);
	peer_fetch_end(&fetch);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	check_own(0, own.log.next);
}

static void liars(void)
{
	unsigned int lie;

	for (lie = TRUTH; lie < LIES; lie++)
		meet(lie);
}

/* Behind a liar, an honest peer has the rest. */
static void liar_and_friend(void)
{
	int fd[2];
	pid_t pid;

	make_own(0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		bail_out("no socket");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(fd[0]);
		liar(fd[1], GAP);
	}
	close(fd[1]);
	begin_fetch(fd[0], 1);
	while (fetch.client.step < PEER_KNOWS)
		turn();
	fetch_to(MESSAGES, MESSAGES);
	CHECK(fetch.client.step == PEER_FAILED && own.log.next == 3);
	CHECK(!strcmp(fetch.client.why,
		      "position 3: another position than the one that was asked for"));
	peer_fetch_end(&fetch);
	waitpid(pid, NULL, 0);
	serve(&full);
	fetch_to(MESSAGES, MESSAGES);
	leave();
	check_own(0, MESSAGES);
}

/* A server that is none: it says what the client has said, or nothing. */
static void mirror(void)
{
	uint8_t buf[PEER_HELLO] = { 0 };
	int fd[2];

	make_own(0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		bail_out("no socket");
	begin_fetch(fd[0], 1);
	CHECK_EQ(send(fd[1], buf, PEER_NONCE, MSG_NOSIGNAL), PEER_NONCE);
	while (recv(fd[1], buf, sizeof(buf), MSG_DONTWAIT) != sizeof(buf))
		turn();
	CHECK_EQ(send(fd[1], buf + 64, PEER_MAC, MSG_NOSIGNAL), PEER_MAC);
	while (fetch.client.step < PEER_KNOWS)
		turn();
	CHECK(fetch.client.step == PEER_FAILED &&
	      !strcmp(fetch.client.why, "it does not know the key"));
	close(fd[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		bail_out("no socket");
	begin_fetch(fd[0], 1);
	close(fd[1]);
	while (fetch.client.step < PEER_KNOWS)
		turn();
	CHECK_EQ(fetch.client.step, PEER_FAILED);
	check_own(0, 0);
}

static void silent(void)
{
	uint64_t begun = peer_now_ms();
	int fd[2];

	make_own(0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		bail_out("no socket");
	begin_fetch(fd[0], 1);
	while (fetch.client.step < PEER_KNOWS)
		turn();
	CHECK(fetch.client.step == PEER_FAILED &&
	      !strcmp(fetch.client.why, "it does not answer"));
	CHECK(peer_now_ms() - begun >= PEER_PROOF_MS);
	close(fd[1]);
	check_own(0, 0);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a log of 3000 messages is fetched", whole },
		{ "a process that dies in between goes on", interrupted },
		{ "one peer has less, and the other one the rest", two_peers },
		{ "no more is fetched than is needed", no_more_than_needed },
		{ "23 lies bring no wrong record into the log", liars },
		{ "behind a liar an honest peer has the rest", liar_and_friend },
		{ "a server without the key is found out", mirror },
		{ "a server that says nothing is given up", silent },
	};
	int rc;

	server.listen = -1;
	if (!store_make(&full, 0) || !store_make(&less, 0))
		return 1;
	store_write(&full, MESSAGES);
	store_write(&less, 700);
	rc = tap_run(cases, ARRAY_SIZE(cases));
	store_remove(&full);
	store_remove(&less);
	return rc;
}
