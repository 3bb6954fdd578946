// SPDX-License-Identifier: GPL-2.0-only
/*
 * A question of an attempt to restart, and its answer. See peer.h.
 *
 * Questions are rare, so each has a connection of its own, and no node holds a place at another one
 * for longer than a question takes.
 */
#include <stdlib.h>
#include <string.h>

#include "peer.h"

/**
 * peer_ask_room() - have room for a question
 * @q: the question, with nothing under way
 *
 * Return: whether there is memory.
 */
bool peer_ask_room(struct peer_ask *q)
{
	if (!q->question)
		q->question = malloc(PEER_ASK_MAX);
	return q->question;
}

/**
 * peer_ask_begin() - ask a node
 * @q: the question; the id of the client, question and len are set
 * @server: id of the node
 * @fd: socket, which may still connect; or a negative errno
 */
void peer_ask_begin(struct peer_ask *q, uint32_t server, int fd)
{
	q->answer = 0;
	q->begun_ms = peer_now_ms();
	peer_client_begin(&q->client, server, fd, PEER_ANSWER, PEER_QUESTION);
}

/**
 * peer_ask_end() - hang up, and free the memory
 * @q: the question, or a zeroed one
 */
void peer_ask_end(struct peer_ask *q)
{
	peer_client_end(&q->client);
	free(q->question);
	q->question = NULL;
}

static void ask(struct peer_ask *q)
{
	memcpy(q->client.conn.out + PEER_HEAD, q->question, q->len);
	peer_client_request(&q->client, PEER_ASK, q->len, PEER_ASKS);
}

static void take_answer(struct peer_ask *q)
{
	uint32_t type = 0, len = 0;

	if (!peer_client_frame(&q->client, PEER_TELL_MAX, &type, &len))
		return;
	if (type != PEER_TELL) {
		peer_client_fail(&q->client, "it answers what was not asked");
		return;
	}
	q->answer = len;
	q->client.step = PEER_DONE;
}

/**
 * peer_ask_work() - do what can be done without waiting
 * @q: the question
 */
void peer_ask_work(struct peer_ask *q)
{
	if (!peer_client_work(&q->client))
		return;
	if (q->client.step == PEER_PROVED)
		ask(q);
	else
		take_answer(q);
}
