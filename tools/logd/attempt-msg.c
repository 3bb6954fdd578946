// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions and answers of an attempt as bytes. See attempt.h. All numbers are little-endian.
 *
 *	question	kind, proposer (32 bits each), era (64), address, proposal
 *	answer		state, yes (32 bits each), promised era (64), proposer, what (32 each),
 *			era, number of the view (64 each), address, report, proposal or
 *			forced restart
 *
 * What comes from another node is hostile, although it knows the key.
 */
#include <string.h>

#include "attempt.h"
#include "peer.h"

/* What an answer has behind its head. */
enum {
	TELL_NOTHING,
	TELL_REPORT,
	TELL_PROPOSAL,
	TELL_FORCE,
};

/* An address has an end, and nothing behind that. */
static bool get_address(char *to, const uint8_t *from)
{
	size_t len = strnlen((const char *)from, SPINDLE_RESTART_ADDRESS), i;

	if (len == SPINDLE_RESTART_ADDRESS)
		return false;
	for (i = 0; i < SPINDLE_RESTART_ADDRESS; i++)
		if (i < len ? from[i] <= ' ' || from[i] > '~' : from[i])
			return false;
	memcpy(to, from, SPINDLE_RESTART_ADDRESS);
	return true;
}

static void put_address(uint8_t *to, const char *from)
{
	memset(to, 0, SPINDLE_RESTART_ADDRESS);
	memcpy(to, from, strnlen(from, SPINDLE_RESTART_ADDRESS - 1));
}

/**
 * attempt_put_request() - encode a question
 * @req: the question
 * @address: where the asker can be found; "": it does not say so
 * @to: out, PEER_ASK_MAX bytes
 *
 * Return: the bytes; 0: there is no room.
 */
uint32_t attempt_put_request(const struct attempt_request *req, const char *address, uint8_t *to)
{
	size_t n = 0;

	peer_put(to, req->kind, 4);
	peer_put(to + 4, req->ballot.proposer, 4);
	peer_put(to + 8, req->ballot.era, 8);
	put_address(to + 16, address);
	if (req->proposal) {
		n = spindle_restart_put_proposal(req->proposal, to + PEER_ASK_HEAD,
						 SPINDLE_RESTART_BYTES);
		if (!n)
			return 0;
	}
	return (uint32_t)(PEER_ASK_HEAD + n);
}

/**
 * attempt_get_request() - decode a question
 * @req: out
 * @address: out, SPINDLE_RESTART_ADDRESS bytes
 * @proposal: room for a proposal
 * @from: bytes of another node
 * @len: how many
 *
 * Return: whether they are a question.
 */
bool attempt_get_request(struct attempt_request *req, char *address,
			 struct spindle_restart_proposal *proposal, const uint8_t *from,
			 uint32_t len)
{
	if (len < PEER_ASK_HEAD || !get_address(address, from + 16))
		return false;
	*req = (struct attempt_request){
		.kind = (uint32_t)peer_get(from, 4),
		.ballot = {
			.era = peer_get(from + 8, 8),
			.proposer = (uint32_t)peer_get(from + 4, 4),
		},
	};
	if (req->ballot.era > SPINDLE_RESTART_ERA_MAX)
		return false;
	if (req->kind != ATTEMPT_VOTE)
		return req->kind < ATTEMPT_KINDS && len == PEER_ASK_HEAD;
	req->proposal = proposal;
	return spindle_restart_get_proposal(proposal, from + PEER_ASK_HEAD, len - PEER_ASK_HEAD);
}

/**
 * attempt_put_reply() - encode an answer
 * @reply: the answer
 * @address: where the node can be found; "": it does not say so
 * @to: out, PEER_TELL_MAX bytes
 *
 * Return: the bytes; 0: there is no room.
 */
uint32_t attempt_put_reply(const struct attempt_reply *reply, const char *address, uint8_t *to)
{
	uint32_t what = reply->force ? TELL_FORCE : reply->report ? TELL_REPORT :
			reply->proposal ? TELL_PROPOSAL : TELL_NOTHING;
	size_t n = 0;

	peer_put(to, reply->how.state, 4);
	peer_put(to + 4, reply->yes, 4);
	peer_put(to + 8, reply->how.promised.era, 8);
	peer_put(to + 16, reply->how.promised.proposer, 4);
	peer_put(to + 20, what, 4);
	peer_put(to + 24, reply->how.era, 8);
	peer_put(to + 32, reply->how.vid, 8);
	put_address(to + 40, address);
	if (reply->force)
		n = spindle_restart_put_force(reply->force, to + PEER_TELL_HEAD,
					      SPINDLE_RESTART_BYTES);
	else if (reply->report)
		n = spindle_restart_put_report(reply->report, to + PEER_TELL_HEAD,
					       SPINDLE_RESTART_BYTES);
	else if (reply->proposal)
		n = spindle_restart_put_proposal(reply->proposal, to + PEER_TELL_HEAD,
						 SPINDLE_RESTART_BYTES);
	return !n && what ? 0 : (uint32_t)(PEER_TELL_HEAD + n);
}

/**
 * attempt_get_reply() - decode an answer
 * @reply: out
 * @address: out, SPINDLE_RESTART_ADDRESS bytes
 * @report: room for a report
 * @proposal: room for a proposal
 * @force: room for a forced restart
 * @from: bytes of another node
 * @len: how many
 *
 * Return: whether they are an answer.
 */
bool attempt_get_reply(struct attempt_reply *reply, char *address,
		       struct spindle_restart_report *report,
		       struct spindle_restart_proposal *proposal,
		       struct spindle_restart_force *force, const uint8_t *from, uint32_t len)
{
	const uint8_t *rest = from + PEER_TELL_HEAD;
	uint64_t yes, what;

	if (len < PEER_TELL_HEAD || !get_address(address, from + 40))
		return false;
	yes = peer_get(from + 4, 4);
	what = peer_get(from + 20, 4);
	*reply = (struct attempt_reply){
		.how = {
			.state = (uint32_t)peer_get(from, 4),
			.promised = { .era = peer_get(from + 8, 8),
				      .proposer = (uint32_t)peer_get(from + 16, 4) },
			.era = peer_get(from + 24, 8), .vid = peer_get(from + 32, 8),
		},
		.yes = yes,
	};
	if (reply->how.state >= ATTEMPT_STATES || yes > 1 ||
	    reply->how.promised.era > SPINDLE_RESTART_ERA_MAX ||
	    reply->how.era > SPINDLE_RESTART_ERA_MAX)
		return false;
	len -= PEER_TELL_HEAD;
	switch (what) {
	case TELL_NOTHING:
		return !len;
	case TELL_REPORT:
		reply->report = report;
		return spindle_restart_get_report(report, rest, len);
	case TELL_PROPOSAL:
		reply->proposal = proposal;
		return spindle_restart_get_proposal(proposal, rest, len);
	case TELL_FORCE:
		reply->force = force;
		return spindle_restart_get_force(force, rest, len);
	default:
		return false;
	}
}
