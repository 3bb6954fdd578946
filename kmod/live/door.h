/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Door: the interface of a live view for nodes that are no members of it.
 *
 * A question is a connection request that asks for the view. Its rejection carries one part of
 * the answer, so that this node keeps no state about the node that asks. A knock is a
 * connection request of a node that knows the view and wants to join. The request is rejected
 * with "come again", and a work item makes a seat for the node.
 *
 * Owner: the live view. Its node points to the door while the node is a member. The lock of the
 * endpoint protects the door, because the endpoint's handlers use it.
 */
#ifndef SPINDLE_LIVE_DOOR_H
#define SPINDLE_LIVE_DOOR_H

#include "core/membership/card.h"
#include "core/base/view.h"
#include "node/hello.h"

struct spindle_endpoint;

/* Knocks that are kept until they have a seat. Other nodes have to knock again. */
#define SPINDLE_KNOCKS 4

/**
 * struct spindle_answer - part of a card, in a rejection
 */
struct spindle_answer {
	/** @digest: of the view: parts with different digests belong to different cards */
	__le64 digest;
	/** @total: bytes of the card */
	__le32 total;
	/** @len: bytes of this part */
	__le32 len;
	/** @proof: over the question and this answer, with the group key */
	u8 proof[16];
	/** @data: the part */
	u8 data[SPINDLE_ANSWER_LEN - 32];
};

static_assert(sizeof(struct spindle_answer) == SPINDLE_ANSWER_LEN);

/**
 * struct spindle_knock - a node that wants a seat
 */
struct spindle_knock {
	/** @id: its id */
	u32 id;
	/** @incarnation: its incarnation */
	u64 incarnation;
	/** @addr: its address */
	struct spindle_addr addr;
	/** @digest: digest of the view that it knows */
	u64 digest;
};

/**
 * struct spindle_door - see above
 */
struct spindle_door {
	/** @work: schedules the work item that makes seats */
	void (*work)(struct spindle_door *door);
	/** @view: data of the view by which core/membership/hello.h decides */
	struct spindle_hello_door view;
	/** @card: the view and its rules */
	struct spindle_card *card;
	/** @rules: a card with the rules that this node wants, or NULL */
	struct spindle_card *rules;
	/** @knock: nodes that want a seat */
	struct spindle_knock knock[SPINDLE_KNOCKS];
	/** @knocks: their number */
	u32 knocks;
};

struct spindle_card *spindle_door_change(struct spindle_door *door, struct spindle_endpoint *ep,
					 const struct spindle_view *view,
					 struct spindle_card *card, u32 bytes);
int spindle_door_rules(struct spindle_door *door, struct spindle_endpoint *ep,
		       const struct spindle_view *view, const struct spindle_rules *rules,
		       const struct spindle_lineage *lineage);
void spindle_door_no_rules(struct spindle_door *door, struct spindle_endpoint *ep);
bool spindle_door_take(struct spindle_door *door, struct spindle_endpoint *ep,
		       struct spindle_knock *knock);

bool spindle_answer_proven(struct spindle_answer *answer, struct spindle_key *key,
			   const void *question);

/* With the endpoint's lock. */
u32 spindle_door_other(const struct spindle_door *door, const struct spindle_hello *hello);
u32 spindle_door_answer(const struct spindle_door *door, struct spindle_key *key,
			const struct spindle_hello *hello, struct spindle_reject *reject);
u32 spindle_door_knock(struct spindle_door *door, const struct spindle_hello *hello,
		       const struct sockaddr_storage *from);

#endif /* SPINDLE_LIVE_DOOR_H */
