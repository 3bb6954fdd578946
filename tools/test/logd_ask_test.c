// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions of an attempt to restart: their bytes, hostile ones too, and their way over TCP between
 * a server and a client in one process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "logd/attempt.h"
#include "logd/peer.h"
#include "tap.h"

static uint8_t bytes[PEER_TELL_MAX];
static struct spindle_restart_report *report, *got_report;
static struct spindle_restart_proposal *proposal, *got_proposal;
static struct spindle_restart_force *force, *got_force;

static void make(void)
{
	struct spindle_restart_view view = { .id = { 1, 4 }, .origin = 1, .members = 3,
					     .node = { 1, 2, 3 } };
	struct spindle_restart_base *part = &proposal->part[0];

	report->node = 2;
	strcpy(report->address, "10.0.0.1:5002");
	report->lineage[0] = 7;
	report->promised = (struct spindle_restart_ballot){ 9, 1 };
	report->parts = 1;
	report->part[0].id = 3;
	report->part[0].member = true;
	report->part[0].record = (struct spindle_restart_record){ .known = true, .views = 1 };
	report->part[0].record.view[0] = view;
	report->part[0].path.whole = true;
	report->part[0].log = (struct spindle_restart_log){ .whole = true };
	proposal->ballot = (struct spindle_restart_ballot){ 9, 1 };
	proposal->origin = 9;
	proposal->lineage[0] = 7;
	proposal->vid = 5;
	proposal->members = 2;
	proposal->node[0] = 1;
	proposal->node[1] = 2;
	proposal->parts = 1;
	part->id = 3;
	part->base = 10;
	part->members = 3;
	part->range = report->part[0].record;
	part->path = (struct spindle_restart_path){ .whole = true, .eras = 1 };
	part->path.past[0] = (struct spindle_restart_past){ view.id, 10 };
	force->proposal = *proposal;
	force->proposal.ballot.proposer = 0;
	force->loss[0].to = 12;
}

static bool take_request(struct attempt_request *req, uint32_t len)
{
	char address[SPINDLE_RESTART_ADDRESS];

	return attempt_get_request(req, address, got_proposal, bytes, len);
}

static void requests(void)
{
	struct attempt_request req = { .kind = ATTEMPT_VOTE, .proposal = proposal }, got;
	uint32_t kind, len, n, i;

	for (kind = 0; kind < ATTEMPT_KINDS; kind++) {
		req.kind = kind;
		req.ballot = (struct spindle_restart_ballot){ 1ULL << 40, 77 };
		req.proposal = kind == ATTEMPT_VOTE ? proposal : NULL;
		len = attempt_put_request(&req, "10.0.0.1:5001", bytes);
		CHECK(take_request(&got, len));
		CHECK_EQ(got.kind, kind);
		CHECK_EQ(got.ballot.era, 1ULL << 40);
		CHECK_EQ(got.ballot.proposer, 77);
		CHECK(!!got.proposal == (kind == ATTEMPT_VOTE));
		for (n = 0; n < len; n++)
			CHECK(!take_request(&got, n));
		if (kind != ATTEMPT_VOTE)
			CHECK(!take_request(&got, len + 1));
	}
	CHECK_EQ(got_proposal->part[0].base, 10);
	req = (struct attempt_request){ .kind = ATTEMPT_KINDS };
	CHECK(!take_request(&got, attempt_put_request(&req, "", bytes)));
	req.kind = ATTEMPT_PROMISE;
	req.ballot.era = SPINDLE_RESTART_ERA_MAX;
	CHECK(take_request(&got, attempt_put_request(&req, "", bytes)));
	req.ballot.era++;
	CHECK(!take_request(&got, attempt_put_request(&req, "", bytes)));
	req = (struct attempt_request){ .kind = ATTEMPT_HOW };
	len = attempt_put_request(&req, "", bytes);
	memset(bytes + 16, 'a', SPINDLE_RESTART_ADDRESS);
	CHECK(!take_request(&got, len));
	for (i = 1; i < 256; i++) {
		len = attempt_put_request(&req, "", bytes);
		bytes[16] = (uint8_t)i;
		CHECK(take_request(&got, len) == (i > ' ' && i <= '~'));
	}
	len = attempt_put_request(&req, "", bytes);
	bytes[17] = 'a';
	CHECK(!take_request(&got, len));
}

static bool take_reply(struct attempt_reply *reply, uint32_t len)
{
	char address[SPINDLE_RESTART_ADDRESS];

	return attempt_get_reply(reply, address, got_report, got_proposal, got_force, bytes, len);
}

static void replies(void)
{
	struct attempt_reply reply = {
		.how = { .state = ATTEMPT_RUNNING, .promised = { 5, 6 }, .era = 7, .vid = 8 },
		.yes = true,
	}, got;
	uint32_t len, n;

	len = attempt_put_reply(&reply, "[fe80::1]:5001", bytes);
	CHECK(take_reply(&got, len) && !got.report && !got.proposal && got.yes);
	CHECK(!memcmp(&got.how, &reply.how, sizeof(got.how)));
	CHECK(!take_reply(&got, len + 1));
	reply.report = report;
	len = attempt_put_reply(&reply, "", bytes);
	CHECK(take_reply(&got, len) && got.report == got_report && got_report->node == 2);
	for (n = 0; n < len; n++)
		CHECK(!take_reply(&got, n));
	reply.report = NULL;
	reply.proposal = proposal;
	len = attempt_put_reply(&reply, "", bytes);
	CHECK(take_reply(&got, len) && got.proposal == got_proposal);
	bytes[PEER_TELL_HEAD + 20] ^= 1;
	CHECK(!take_reply(&got, len));
	reply.proposal = NULL;
	reply.force = force;
	len = attempt_put_reply(&reply, "", bytes);
	CHECK(take_reply(&got, len) && got.force == got_force && got.yes);
	CHECK_EQ(got_force->loss[0].to, 12);
	for (n = 0; n < len; n++)
		CHECK(!take_reply(&got, n));
	reply.force = NULL;
	reply.how.state = ATTEMPT_STATES;
	CHECK(!take_reply(&got, attempt_put_reply(&reply, "", bytes)));
	reply.how.state = ATTEMPT_LOOK;
	len = attempt_put_reply(&reply, "", bytes);
	bytes[4] = 2;
	CHECK(!take_reply(&got, len));
	len = attempt_put_reply(&reply, "", bytes);
	bytes[20] = 3;
	CHECK(!take_reply(&got, len));
	reply.how.era = SPINDLE_RESTART_ERA_MAX;
	reply.how.promised.era = SPINDLE_RESTART_ERA_MAX;
	CHECK(take_reply(&got, attempt_put_reply(&reply, "", bytes)));
	reply.how.era++;
	CHECK(!take_reply(&got, attempt_put_reply(&reply, "", bytes)));
	reply.how.era--;
	reply.how.promised.era++;
	CHECK(!take_reply(&got, attempt_put_reply(&reply, "", bytes)));
}

/* ---- over TCP ---------------------------------------------------------------------------- */

static struct peer_server server;
static struct peer_ask ask;
static uint32_t asked;
static bool was_former;

static uint32_t answer(void *arg, const struct peer_session *session, const uint8_t *p,
		       uint32_t len, uint8_t *reply)
{
	(void)arg;
	if (session->client != 2 || len < 4 || p[0] == 'x')
		return 0;
	asked++;
	was_former = session->former;
	memcpy(reply, p, len);
	return len;
}

static struct peer_id make_id(uint32_t node, const char *key)
{
	struct peer_id id = { .node = node };

	peer_key(&id, key, strlen(key));
	return id;
}

static int listen_here(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd;

	*addr = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	fd = peer_listen((struct sockaddr *)addr, sizeof(*addr));
	if (fd < 0 || getsockname(fd, (struct sockaddr *)addr, &len))
		die("no socket: %s", strerror(errno));
	return fd;
}

static void turn(void)
{
	struct pollfd fd[PEER_GUESTS + 2];
	int ms = 1000;
	unsigned int n = peer_server_poll(&server, fd, &ms);

	n += peer_client_poll(&ask.client, &fd[n], &ms);
	poll(fd, n, ms);
	peer_server_work(&server);
	peer_ask_work(&ask);
}

/* Return: whether the answer is the question. */
static bool put_question(const struct sockaddr_in *addr, const struct peer_id *id, char first,
			 uint32_t len)
{
	bool good;

	ask = (struct peer_ask){ .client.id = id, .len = len };
	if (!peer_ask_room(&ask))
		die("no memory");
	memset(ask.question, first, len);
	peer_ask_begin(&ask, 1, peer_connect((const struct sockaddr *)addr, sizeof(*addr)));
	while (ask.client.step != PEER_DONE && ask.client.step != PEER_FAILED)
		turn();
	good = ask.client.step == PEER_DONE && ask.answer == len &&
	       !memcmp(ask.client.conn.in + PEER_HEAD, ask.question, len);
	peer_ask_end(&ask);
	return good;
}

static void connections(void)
{
	struct peer_id id = make_id(2, "the key of the group"), bad = make_id(2, "another key");
	struct sockaddr_in addr;
	uint32_t i;

	server.id = make_id(1, "the key of the group");
	server.ask = answer;
	peer_server_begin(&server, listen_here(&addr));
	CHECK(put_question(&addr, &id, 'a', PEER_ASK_HEAD));
	CHECK(put_question(&addr, &id, 'b', PEER_ASK_MAX));
	for (i = 0; i < 3 * PEER_GUESTS; i++)
		CHECK(put_question(&addr, &id, 'c', 100));
	CHECK_EQ(asked, 2 + 3 * PEER_GUESTS);
	CHECK(!put_question(&addr, &id, 'x', 100));
	CHECK(!put_question(&addr, &bad, 'd', 100));
	id.lineage[3] = 1;
	CHECK(!put_question(&addr, &id, 'd', 100));
	CHECK_EQ(asked, 2 + 3 * PEER_GUESTS);
	/* The lineage that a forced restart has left. */
	memcpy(server.id.former, id.lineage, sizeof(server.id.former));
	CHECK(!put_question(&addr, &id, 'd', 100));
	server.id.has_former = true;
	CHECK(put_question(&addr, &id, 'f', 100));
	CHECK(was_former);
	id.lineage[3] = 0;
	CHECK(put_question(&addr, &id, 'd', 100));
	CHECK(!was_former);
	server.ask = NULL;
	id.lineage[3] = 0;
	CHECK(!put_question(&addr, &id, 'd', 100));
	peer_server_end(&server);
}

static const struct tap_case cases[] = {
	{ "questions come back as they were, and wrong ones are refused", requests },
	{ "answers come back as they were, and wrong ones are refused", replies },
	{ "a question gets its answer, and none with another key or lineage", connections },
};

int main(void)
{
	report = calloc(1, sizeof(*report));
	got_report = calloc(1, sizeof(*report));
	proposal = calloc(1, sizeof(*proposal));
	got_proposal = calloc(1, sizeof(*proposal));
	force = calloc(1, sizeof(*force));
	got_force = calloc(1, sizeof(*force));
	if (!report || !got_report || !proposal || !got_proposal || !force || !got_force)
		die("no memory");
	make();
	return tap_run(cases, ARRAY_SIZE(cases));
}
