// SPDX-License-Identifier: GPL-2.0-only
/*
 * Door: what nodes that are no members of a live view may learn of it. See door.h.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>

#include "core/rules.h"
#include "door.h"
#include "fabric/endpoint.h"
#include "live.h"

/* ---- cards ------------------------------------------------------------ */

static u32 card_bytes(u32 members, u32 subgroups, u32 rules)
{
	return sizeof(struct spindle_card) + members * sizeof(struct spindle_view_member) +
	       subgroups * sizeof(u64) + rules * sizeof(struct spindle_rule);
}

/**
 * spindle_card_max() - the longest card that there can be
 *
 * Return: bytes
 */
u32 spindle_card_max(void)
{
	return card_bytes(SPINDLE_MAX_MEMBERS, SPINDLE_MAX_SUBGROUPS, SPINDLE_MAX_SUBGROUPS);
}

/**
 * spindle_card_make() - a card of a view
 * @view: the view
 * @rules: its rules
 * @digest: of both
 * @id: who tells it
 * @bytes: out: its length
 *
 * Context: process.
 * Return: the card, to be freed by kvfree(), or NULL
 */
struct spindle_card *spindle_card_make(const struct spindle_view *view,
				       const struct spindle_rules *rules, u64 digest, u32 id,
				       u32 *bytes)
{
	u32 n = card_bytes(view->num_members, view->num_subgroups, rules->num_rules), i;
	struct spindle_card *card = kvzalloc(n, GFP_KERNEL_ACCOUNT);
	struct spindle_view_member *member = (void *)(card + 1);
	u64 *mask = (u64 *)(member + view->num_members);

	if (!card)
		return NULL;
	*card = (struct spindle_card){
		.vid = view->vid,
		.digest = digest,
		.contact = id,
		.members = view->num_members,
		.subgroups = view->num_subgroups,
		.rules = rules->num_rules,
		.timeout_ms = rules->timeout_ms,
		.max_nodes = rules->max_nodes,
		.quorum = rules->quorum,
	};
	memcpy(member, view->member, view->num_members * sizeof(*member));
	for (i = 0; i < view->num_subgroups; i++)
		mask[i] = view->subgroup[i].members;
	memcpy(mask + view->num_subgroups, rules->rule, rules->num_rules * sizeof(*rules->rule));
	*bytes = n;
	return card;
}

/* Names are for people, and end. */
static void end_names(struct spindle_rules *rules)
{
	u32 i;

	for (i = 0; i < rules->num_rules; i++)
		rules->rule[i].cfg.name[SPINDLE_NAME_LEN] = 0;
}

/**
 * spindle_card_read() - the view and the rules of a card
 * @card: a private copy of what somebody sent
 * @bytes: its length
 * @view: out
 * @rules: out
 *
 * Return: NULL, or what is wrong with it
 */
const char *spindle_card_read(const struct spindle_card *card, u32 bytes,
			      struct spindle_view *view, struct spindle_rules *rules)
{
	const struct spindle_view_member *member = (const void *)(card + 1);
	const u64 *mask;
	const char *text;
	int fault;
	u32 i;

	if (bytes < sizeof(*card) || card->members > SPINDLE_MAX_MEMBERS ||
	    card->subgroups > SPINDLE_MAX_SUBGROUPS || card->rules > SPINDLE_MAX_SUBGROUPS ||
	    bytes != card_bytes(card->members, card->subgroups, card->rules))
		return "the contact's answer has the wrong length";
	mask = (const u64 *)(member + card->members);
	memset(view, 0, sizeof(*view));
	memset(rules, 0, sizeof(*rules));
	rules->timeout_ms = card->timeout_ms;
	rules->max_nodes = card->max_nodes;
	rules->quorum = card->quorum;
	rules->num_rules = card->rules;
	memcpy(rules->rule, mask + card->subgroups, card->rules * sizeof(*rules->rule));
	end_names(rules);
	text = spindle_rules_check(rules, &fault);
	if (text)
		return text;
	view->vid = card->vid;
	view->num_members = card->members;
	memcpy(view->member, member, card->members * sizeof(*member));
	spindle_rules_apply(rules, NULL, view);
	if (view->num_subgroups != card->subgroups)
		return "the contact's answer contradicts itself";
	for (i = 0; i < card->subgroups; i++)
		view->subgroup[i].members = mask[i];
	spindle_rules_senders(rules, view);
	text = spindle_view_check(view, true, NULL);
	if (text)
		return text;
	return spindle_live_digest(view, rules) == card->digest ? NULL :
	       "the contact's answer contradicts itself";
}

/* ---- the door --------------------------------------------------------- */

/**
 * spindle_door_change() - the view is another one, or has ended
 * @door: the door
 * @ep: the node's endpoint
 * @view: the view, or NULL
 * @card: of the view; the door's from now on
 * @bytes: its length
 *
 * Context: process.
 * Return: the card of the view before, for the caller to free
 */
struct spindle_card *spindle_door_change(struct spindle_door *door, struct spindle_endpoint *ep,
					 const struct spindle_view *view,
					 struct spindle_card *card, u32 bytes)
{
	struct spindle_card *old;
	u32 i;

	spin_lock(&ep->lock);
	old = door->card;
	door->card = card;
	door->bytes = bytes;
	door->digest = card ? card->digest : 0;
	door->max = card ? card->max_nodes : 0;
	door->ids = view ? view->num_members : 0;
	for (i = 0; i < door->ids; i++)
		door->id[i] = view->member[i].id;
	spin_unlock(&ep->lock);
	return old;
}

/**
 * spindle_door_take() - a knock that waits
 * @door: the door
 * @ep: the node's endpoint
 * @knock: out
 *
 * Return: false if there is none
 */
bool spindle_door_take(struct spindle_door *door, struct spindle_endpoint *ep,
		       struct spindle_knock *knock)
{
	bool any;

	spin_lock(&ep->lock);
	any = door->knocks;
	if (any)
		*knock = door->knock[--door->knocks];
	spin_unlock(&ep->lock);
	return any;
}

/**
 * spindle_answer_seal() - prove who answers
 * @answer: complete but for the proof
 * @key: the node's
 * @question: the hello that it answers
 */
void spindle_answer_seal(struct spindle_answer *answer, struct spindle_key *key,
			 const void *question)
{
	u8 proof[SPINDLE_PROOF_LEN];

	memset(answer->proof, 0, sizeof(answer->proof));
	spindle_key_prove(key, SPINDLE_PROOF_CARD, question, answer, sizeof(*answer), proof);
	memcpy(answer->proof, proof, sizeof(answer->proof));
}

/**
 * spindle_answer_proven() - did somebody with the key answer?
 * @answer: a private copy of what came; its proof is gone afterwards
 * @key: the node's
 * @question: the hello that it answers
 *
 * Return: true if so, or if there is no key
 */
bool spindle_answer_proven(struct spindle_answer *answer, struct spindle_key *key,
			   const void *question)
{
	u8 proof[sizeof(answer->proof)];

	memcpy(proof, answer->proof, sizeof(proof));
	memset(answer->proof, 0, sizeof(answer->proof));
	return spindle_key_proven(key, SPINDLE_PROOF_CARD, question, answer, sizeof(*answer),
				  proof, sizeof(proof));
}

/**
 * spindle_door_answer() - a part of the card
 * @door: the door, or NULL
 * @key: the node's
 * @hello: the question; its node is the right one
 * @reject: out: the answer
 *
 * Return: SPINDLE_REJECT_ANSWER, or enum spindle_refusal
 */
u32 spindle_door_answer(const struct spindle_door *door, struct spindle_key *key,
			const struct spindle_hello *hello, struct spindle_reject *reject)
{
	struct spindle_answer *answer = (struct spindle_answer *)reject->data;
	u64 from = le64_to_cpu(hello->incarnation);
	u32 len;

	if (!door || !door->card)
		return SPINDLE_REFUSE_NO_VIEW;
	if (from >= door->bytes)
		return SPINDLE_REFUSE_NOT_SPINDLE;
	len = min_t(u64, door->bytes - from, sizeof(answer->data));
	answer->digest = cpu_to_le64(door->digest);
	answer->total = cpu_to_le32(door->bytes);
	answer->len = cpu_to_le32(len);
	memcpy(answer->data, (const u8 *)door->card + from, len);
	spindle_answer_seal(answer, key, hello);
	reject->len = sizeof(*answer);
	return SPINDLE_REJECT_ANSWER;
}

static bool take_addr(struct spindle_addr *addr, const struct sockaddr_storage *from,
		      __le16 port)
{
	memset(addr, 0, sizeof(*addr));
	addr->port = le16_to_cpu(port);
	if (from->ss_family == AF_INET) {
		addr->family = 4;
		memcpy(addr->ip, &((const struct sockaddr_in *)from)->sin_addr, 4);
	} else if (from->ss_family == AF_INET6) {
		addr->family = 6;
		memcpy(addr->ip, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
	}
	return addr->family && addr->port;
}

/**
 * spindle_door_knock() - a node wants a seat
 * @door: the door, or NULL
 * @hello: its request; its node is the right one, and no connection expects it
 * @from: its address
 *
 * Return: SPINDLE_REJECT_BUSY if it shall come again, else enum spindle_refusal
 */
u32 spindle_door_knock(struct spindle_door *door, const struct spindle_hello *hello,
		       const struct sockaddr_storage *from)
{
	struct spindle_knock knock = {
		.id = le32_to_cpu(hello->src),
		.incarnation = le64_to_cpu(hello->incarnation),
		.digest = le64_to_cpu(hello->digest),
	};
	u32 i;

	if (!door || !door->card)
		return SPINDLE_REFUSE_NO_VIEW;
	if (!knock.id || !knock.incarnation || !take_addr(&knock.addr, from, hello->port))
		return SPINDLE_REFUSE_NOT_SPINDLE;
	for (i = 0; i < door->ids; i++)
		if (door->id[i] == knock.id)
			return SPINDLE_REFUSE_MEMBER;
	if (knock.digest != door->digest)
		return SPINDLE_REFUSE_VIEW;
	if (door->ids >= door->max)
		return SPINDLE_REFUSE_FULL;
	for (i = 0; i < door->knocks; i++)
		if (door->knock[i].id == knock.id)
			return SPINDLE_REJECT_BUSY;
	if (door->knocks < SPINDLE_KNOCKS) {
		door->knock[door->knocks++] = knock;
		door->work(door);
	}
	return SPINDLE_REJECT_BUSY;
}
