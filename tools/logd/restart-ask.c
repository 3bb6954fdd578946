// SPDX-License-Identifier: GPL-2.0-only
/* Questions of an attempt to other nodes, and answers to theirs, over TCP. See restart.h. */
#include <stdio.h>
#include <string.h>

#include "logd.h"
#include "restart.h"

/* ---- nodes that are known ----------------------------------------------------------------- */

/**
 * logd_restart_find() - find the place of a node
 * @r: the restart
 * @node: its id
 *
 * Return: the place, or NULL.
 */
struct logd_asked *logd_restart_find(struct logd_restart *r, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < r->attempt.peers; i++)
		if (r->attempt.peer[i].node == node)
			return &r->ask[i];
	return NULL;
}

/* Nodes ask as long as the restart waits, so the text of an address takes no memory for ever. */
static bool read_place(const char *address, uint32_t node, struct logd_place *place)
{
	struct ctl_pool pool = { 0 }, *before = ctl_pool_use(&pool);
	bool good = logd_peers_parse(address, node, place);

	ctl_pool_use(before);
	ctl_pool_drop(&pool);
	return good;
}

/**
 * logd_restart_know() - a node can be asked
 * @r: the restart
 * @node: its id
 * @address: address and port; what is none is left alone
 *
 * Return: whether it can.
 */
bool logd_restart_know(struct logd_restart *r, uint32_t node, const char *address)
{
	struct logd_asked *asked;
	struct logd_place place;

	if (node == r->opts->node || !read_place(address, node, &place) ||
	    !attempt_know(&r->attempt, node))
		return false;
	asked = logd_restart_find(r, node);
	asked->place = place;
	return true;
}

/* ---- answers ------------------------------------------------------------------------------ */

/* The kernel knows how the node is. */
static void look_again(struct logd_restart *r)
{
	struct logd_seat seat;

	if (r->attempt.state != ATTEMPT_RUNNING)
		return;
	if (logd_kernel_look(r, &seat) != LOGD_KERNEL_ACTIVE)
		seat = (struct logd_seat){ .has_lineage = false };
	attempt_runs(&r->attempt, seat.era, seat.vid, peer_now_ms());
}

/* A node of the lineage before only learns which restart the group has begun by. */
static uint32_t answer_former(const struct logd_restart *r, uint8_t *reply)
{
	const struct attempt_reply answer = {
		.how = { .state = ATTEMPT_LOOK }, .yes = true, .force = r->state->forced,
	};

	return answer.force ? attempt_put_reply(&answer, r->place, reply) : 0;
}

/**
 * logd_restart_answer() - answer another node
 * @arg: the restart
 * @session: of the connection, with the id of the node
 * @p: the question
 * @len: its bytes
 * @reply: out, PEER_TELL_MAX bytes
 *
 * Return: bytes of the reply; 0: the question is none.
 */
uint32_t logd_restart_answer(void *arg, const struct peer_session *session, const uint8_t *p,
			     uint32_t len, uint8_t *reply)
{
	char address[SPINDLE_RESTART_ADDRESS];
	struct logd_restart *r = arg;
	struct attempt_request req;
	struct attempt_reply answer;

	if (!r->begun || !attempt_get_request(&req, address, r->proposal, p, len))
		return 0;
	if (session->former)
		return answer_former(r, reply);
	if (!attempt_is_of(&req, session->client))
		return 0;
	if (*address && r->attempt.state < ATTEMPT_ENTER)
		logd_restart_know(r, session->client, address);
	look_again(r);
	attempt_serve(&r->attempt, &req, &answer, peer_now_ms());
	return attempt_put_reply(&answer, r->place, reply);
}

/* ---- questions ---------------------------------------------------------------------------- */

static void connect_to(struct logd_restart *r, struct logd_asked *asked)
{
	const struct logd_place *place = &asked->place;

	asked->q.client.id = &r->peers->server.id;
	peer_ask_begin(&asked->q, place->node,
		       peer_connect((const struct sockaddr *)&place->addr, place->len));
}

static void begin(struct logd_restart *r, struct logd_asked *asked,
		  const struct attempt_request *req)
{
	peer_ask_end(&asked->q);
	if (!peer_ask_room(&asked->q))
		return;
	asked->q.len = attempt_put_request(req, r->ears, asked->q.question);
	if (asked->q.len)
		connect_to(r, asked);
}

/**
 * logd_restart_ask() - ask the nodes that the attempt wants to ask
 * @r: the restart
 * @now: milliseconds
 *
 * A question of an earlier round is given up, because its answer is late.
 */
void logd_restart_ask(struct logd_restart *r, uint64_t now)
{
	struct attempt_request req;
	uint64_t turn;
	uint32_t i;

	for (i = 0; i < r->attempt.peers; i++) {
		struct logd_asked *asked = &r->ask[i];

		if (!attempt_next(&r->attempt, i, &req, &turn))
			continue;
		asked->turn = turn;
		if (r->peers->on)
			begin(r, asked, &req);
		if (asked->q.client.step == PEER_IDLE)
			attempt_answer(&r->attempt, asked->place.node, turn, NULL, now);
	}
}

/**
 * logd_restart_poll() - what the loop waits for
 * @r: the restart
 * @fd: room for SPINDLE_MAX_MEMBERS + 1; they stay where they are until logd_restart_take()
 * @ms: made less if the loop may not sleep so long; negative: for ever
 *
 * Return: entries of @fd that were filled.
 */
unsigned int logd_restart_poll(struct logd_restart *r, struct pollfd *fd, int *ms)
{
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < r->attempt.peers; i++)
		n += peer_client_poll(&r->ask[i].q.client, &fd[n], ms);
	return n + peer_client_poll(&r->record.q.client, &fd[n], ms);
}

/* Return: whether the answer could be read; it is valid until the next one. */
static bool read_answer(struct logd_restart *r, struct logd_asked *asked,
			struct attempt_reply *reply)
{
	char address[SPINDLE_RESTART_ADDRESS];

	if (!attempt_get_reply(reply, address, r->report, r->proposal, r->force,
			       asked->q.client.conn.in + PEER_HEAD, asked->q.answer))
		return false;
	memcpy(asked->address, address, sizeof(address));
	return true;
}

static void take_one(struct logd_restart *r, struct logd_asked *asked, uint64_t now)
{
	struct attempt_reply reply;
	bool good;

	peer_ask_work(&asked->q);
	if (asked->q.client.step != PEER_DONE && asked->q.client.step != PEER_FAILED)
		return;
	good = asked->q.client.step == PEER_DONE && read_answer(r, asked, &reply);
	peer_ask_end(&asked->q);
	attempt_answer(&r->attempt, asked->place.node, asked->turn, good ? &reply : NULL, now);
}

/**
 * logd_restart_take() - take the answers that have come
 * @r: the restart
 * @now: milliseconds
 */
void logd_restart_take(struct logd_restart *r, uint64_t now)
{
	uint32_t i;

	for (i = 0; i < r->attempt.peers; i++)
		if (r->ask[i].q.client.step != PEER_IDLE)
			take_one(r, &r->ask[i], now);
	peer_ask_work(&r->record.q);
}

/* ---- the record of a member --------------------------------------------------------------- */

/**
 * logd_restart_ask_record() - ask a node of the group that runs for its view records
 * @r: the restart
 * @place: the node
 *
 * Return: whether it is asked.
 */
bool logd_restart_ask_record(struct logd_restart *r, const struct logd_place *place)
{
	const struct attempt_request req = { .kind = ATTEMPT_RECORD };

	r->record.place = *place;
	begin(r, &r->record, &req);
	return r->record.q.client.step != PEER_IDLE;
}

/**
 * logd_restart_take_record() - has the node answered?
 * @r: the restart
 *
 * Return: 1: its report is in @r->report; 0: not yet; -1: it gives none.
 */
int logd_restart_take_record(struct logd_restart *r)
{
	struct attempt_reply reply;
	bool good;

	if (r->record.q.client.step != PEER_DONE && r->record.q.client.step != PEER_FAILED &&
	    r->record.q.client.step != PEER_IDLE)
		return 0;
	good = r->record.q.client.step == PEER_DONE && read_answer(r, &r->record, &reply) &&
	       reply.report && reply.report->node == r->record.place.node &&
	       !memcmp(reply.report->lineage, r->attempt.lineage, sizeof(r->attempt.lineage));
	peer_ask_end(&r->record.q);
	return good ? 1 : -1;
}
