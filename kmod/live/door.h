/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Door: what nodes that are no members of a live view may learn of it, and leave there.
 *
 * A question is answered in the rejection of a connection request, a part of the answer at a
 * time: nothing is kept of who asks. A knock is a request of a node that knows the view; a seat
 * is made for it by a work item, and it is told to come again.
 *
 * Owner: the live view; its node points to it as long as it is a member. All of it is protected
 * by the lock of the endpoint, in whose handlers it is used.
 */
#ifndef SPINDLE_DOOR_H
#define SPINDLE_DOOR_H

#include "core/card.h"
#include "core/view.h"
#include "hello.h"

struct spindle_endpoint;

/* Knocks that wait for a seat; more have to come again. */
#define SPINDLE_KNOCKS 4

/**
 * struct spindle_answer - part of a card, in a rejection
 * @digest: of the view: parts of another are of another card
 * @total: bytes of the card
 * @len: bytes of this part
 * @proof: over the question and this answer, with the group key
 * @data: the part
 */
struct spindle_answer {
	__le64 digest;
	__le32 total;
	__le32 len;
	u8 proof[16];
	u8 data[SPINDLE_ANSWER_LEN - 32];
};

static_assert(sizeof(struct spindle_answer) == SPINDLE_ANSWER_LEN);

/**
 * struct spindle_knock - a node that wants a seat
 * @id: its id
 * @incarnation: of its life
 * @addr: where it listens
 * @digest: of the view that it knows
 */
struct spindle_knock {
	u32 id;
	u64 incarnation;
	struct spindle_addr addr;
	u64 digest;
};

/**
 * struct spindle_door - see above
 * @work: makes seats
 * @view: what the core decides by
 * @card: the view and its rules
 * @knock: nodes that want a seat
 * @knocks: their number
 */
struct spindle_door {
	void (*work)(struct spindle_door *door);
	struct spindle_hello_door view;
	struct spindle_card *card;
	struct spindle_knock knock[SPINDLE_KNOCKS];
	u32 knocks;
};

struct spindle_card *spindle_door_change(struct spindle_door *door, struct spindle_endpoint *ep,
					 const struct spindle_view *view,
					 struct spindle_card *card, u32 bytes);
bool spindle_door_take(struct spindle_door *door, struct spindle_endpoint *ep,
		       struct spindle_knock *knock);

void spindle_answer_seal(struct spindle_answer *answer, struct spindle_key *key,
			 const void *question);
bool spindle_answer_proven(struct spindle_answer *answer, struct spindle_key *key,
			   const void *question);

/* With the endpoint's lock. */
bool spindle_door_other(const struct spindle_door *door, const struct spindle_hello *hello);
u32 spindle_door_answer(const struct spindle_door *door, struct spindle_key *key,
			const struct spindle_hello *hello, struct spindle_reject *reject);
u32 spindle_door_knock(struct spindle_door *door, const struct spindle_hello *hello,
		       const struct sockaddr_storage *from);

#endif /* SPINDLE_DOOR_H */
