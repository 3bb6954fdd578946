// SPDX-License-Identifier: GPL-2.0-only
/*
 * Door: the interface of a live view for nodes that are no members of it. See door.h.
 */
#include <linux/slab.h>

#include "door.h"
#include "fabric/endpoint.h"

/* ---- the door --------------------------------------------------------- */

/**
 * spindle_door_change() - show another view, or none
 * @door: the door
 * @ep: the node's endpoint
 * @view: the view, or NULL
 * @card: card of the view, or NULL; the door owns it from now on
 * @bytes: length of @card
 *
 * Context: process.
 * Return: the card of the view before, for the caller to free
 */
struct spindle_card *spindle_door_change(struct spindle_door *door, struct spindle_endpoint *ep,
					 const struct spindle_view *view,
					 struct spindle_card *card, u32 bytes)
{
	struct spindle_hello_door *now = &door->view;
	struct spindle_card *old;
	u32 i;

	spin_lock(&ep->lock);
	old = door->card;
	door->card = card;
	now->bytes = card ? bytes : 0;
	now->digest = card ? card->digest : 0;
	now->mark = card ? spindle_lineage_mark(&card->lineage) : 0;
	now->max = card ? card->max_nodes : 0;
	now->ids = view ? view->num_members : 0;
	for (i = 0; i < now->ids; i++)
		now->id[i] = view->member[i].id;
	spin_unlock(&ep->lock);
	return old;
}

static struct spindle_card *swap_rules(struct spindle_door *door, struct spindle_endpoint *ep,
				       struct spindle_card *rules, u32 bytes)
{
	spin_lock(&ep->lock);
	swap(door->rules, rules);
	door->view.rules = bytes;
	spin_unlock(&ep->lock);
	return rules;
}

/**
 * spindle_door_rules() - tell members that ask the rules that this node wants
 * @door: the door
 * @ep: the node's endpoint
 * @view: the installed view
 * @rules: the rules
 * @lineage: lineage of the view
 *
 * Context: process.
 * Return: 0 or -ENOMEM
 */
int spindle_door_rules(struct spindle_door *door, struct spindle_endpoint *ep,
		       const struct spindle_view *view, const struct spindle_rules *rules,
		       const struct spindle_lineage *lineage)
{
	u32 bytes = spindle_card_bytes(view, rules);
	struct spindle_card *card = kvzalloc(bytes, GFP_KERNEL_ACCOUNT);

	if (!card)
		return -ENOMEM;
	spindle_card_make(card, view, rules, lineage, 0);
	kvfree(swap_rules(door, ep, card, bytes));
	return 0;
}

/**
 * spindle_door_no_rules() - this node wants no other rules any more
 * @door: the door
 * @ep: the node's endpoint
 *
 * Context: process.
 */
void spindle_door_no_rules(struct spindle_door *door, struct spindle_endpoint *ep)
{
	kvfree(swap_rules(door, ep, NULL, 0));
}

/**
 * spindle_door_take() - take a waiting knock
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
 * answer_seal() - set the proof of an answer
 * @answer: complete except for the proof
 * @key: the node's key
 * @question: the hello that @answer belongs to
 */
static void answer_seal(struct spindle_answer *answer, struct spindle_key *key,
			const void *question)
{
	u8 proof[SPINDLE_PROOF_LEN];

	memset(answer->proof, 0, sizeof(answer->proof));
	spindle_key_prove(key, SPINDLE_PROOF_CARD, question, answer, sizeof(*answer), proof);
	memcpy(answer->proof, proof, sizeof(answer->proof));
}

/**
 * spindle_answer_proven() - does the sender of an answer have the key?
 * @answer: a private copy of the answer; its proof is cleared
 * @key: the node's key
 * @question: the hello that @answer belongs to
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
 * spindle_door_other() - does a node belong to another lineage or era?
 * @door: the door, or NULL
 * @hello: the node's hello
 *
 * A node that has no lineage yet may still join this one.
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_door_other(const struct spindle_door *door, const struct spindle_hello *hello)
{
	return door ? spindle_hello_other(hello, &door->view) : 0;
}

/**
 * spindle_door_answer() - answer a question with a part of the card, or of the rules
 * @door: the door, or NULL
 * @key: the node's key
 * @hello: the question; it is addressed to this node
 * @reject: out: the answer
 *
 * Return: SPINDLE_REJECT_ANSWER, or enum spindle_refusal
 */
u32 spindle_door_answer(const struct spindle_door *door, struct spindle_key *key,
			const struct spindle_hello *hello, struct spindle_reject *reject)
{
	struct spindle_answer *answer = (struct spindle_answer *)reject->data;
	bool rules = hello->flags & SPINDLE_HELLO_F_RULES;
	u32 refusal = SPINDLE_REFUSE_NO_VIEW, at, len;

	if (door)
		refusal = spindle_hello_asks(hello, &door->view, sizeof(answer->data), &at, &len);
	if (refusal)
		return refusal;
	answer->digest = cpu_to_le64(door->view.digest);
	answer->total = cpu_to_le32(rules ? door->view.rules : door->view.bytes);
	answer->len = cpu_to_le32(len);
	memcpy(answer->data, (const u8 *)(rules ? door->rules : door->card) + at, len);
	answer_seal(answer, key, hello);
	reject->len = sizeof(*answer);
	return SPINDLE_REJECT_ANSWER;
}

/**
 * spindle_door_knock() - keep the knock of a node that wants a seat
 * @door: the door, or NULL
 * @hello: its request, addressed to this node; no connection expects it
 * @from: its address
 *
 * Return: SPINDLE_REJECT_BUSY if the node shall knock again, else enum spindle_refusal
 */
u32 spindle_door_knock(struct spindle_door *door, const struct spindle_hello *hello,
		       const struct sockaddr_storage *from)
{
	struct spindle_knock knock = {
		.id = le32_to_cpu(hello->src),
		.incarnation = le64_to_cpu(hello->incarnation),
		.digest = le64_to_cpu(hello->digest),
	};
	u32 refusal = SPINDLE_REFUSE_NO_VIEW, i;

	spindle_hello_where(&knock.addr, from);
	if (door)
		refusal = spindle_hello_knocks(hello, &door->view, &knock.addr);
	if (refusal)
		return refusal;
	for (i = 0; i < door->knocks; i++)
		if (door->knock[i].id == knock.id)
			return SPINDLE_REJECT_BUSY;
	if (door->knocks < SPINDLE_KNOCKS) {
		door->knock[door->knocks++] = knock;
		door->work(door);
	}
	return SPINDLE_REJECT_BUSY;
}
