// SPDX-License-Identifier: GPL-2.0-only
/*
 * The step "contact": be asked by nodes that want to join, and never let them in. Or be asked by
 * members for the rules that we offer.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/membership/membership.h"
#include "hostile-peer.h"
#include "connection.h"
#include "proof.h"

#define REJECT_BUSY	1
#define REJECT_ANSWER	3

#define CARD_MAX	4096

/* The data of a rejection that answers a question, as in kmod/live/door.h. */
struct answer {
	uint32_t code;
	uint64_t digest;
	uint32_t total;
	uint32_t len;
	uint8_t proof[16];
	uint8_t data[112];
} __attribute__((packed));

/* A member of any view knows the lineage. This one is of no group. */
static const struct spindle_lineage lineage = { { 1, 2 }, 0 };

static uint64_t card[CARD_MAX / sizeof(uint64_t)];

static void make_card(void)
{
	if (spindle_card_bytes(&view, &rules) > CARD_MAX)
		die("the card is too large\n");
	spindle_card_make((struct spindle_card *)card, &view, &rules, &lineage, my_id);
}

/* The part of the card at this byte. An endless card is zeroes behind its end. */
static struct answer make_answer_at(const char *step, uint64_t at)
{
	uint32_t total = spindle_card_bytes(&view, &rules);
	struct answer answer = { .code = htobe32(REJECT_ANSWER) };
	uint64_t len = num(step, "len", sizeof(answer.data)), have;

	if (find(step, "endless"))
		total = spindle_card_max();
	if (at > total)
		at = total;
	if (len > total - at)
		len = total - at;
	have = at < CARD_MAX ? CARD_MAX - at : 0;
	memcpy(answer.data, (const char *)card + at, len < have ? len : have);
	answer.digest = htole64(((const struct spindle_card *)card)->digest);
	answer.total = htole32(total);
	answer.len = htole32(len);
	return answer;
}

/* Reject a request: a question with an answer, any other with "come again". */
static bool reply_to(const char *step, struct rdma_cm_id *from)
{
	uint32_t busy = htobe32(REJECT_BUSY);
	bool asks = heard.hello.flags & HELLO_F_ASK;
	uint64_t at = le64toh(heard.hello.incarnation);
	struct answer answer;

	if (!asks) {
		rdma_reject(from, &busy, sizeof(busy));
		return false;
	}
	usleep(1000 * num(step, "ms", 0));
	if (!at && find(step, "restless")) {
		view.vid++;
		make_card();
	}
	answer = make_answer_at(step, at);
	return !rdma_reject(from, &answer, sizeof(answer));
}

void step_listen(const char *step)
{
	(void)step;
	listen_here();
	printf("listen: yes\n");
}

/*
 * The name of the rules that the members are to want. Such rules may not follow the present ones:
 * "other" ones have another timeout.
 */
static uint64_t make_offer(const char *step)
{
	uint64_t name = num(step, "rules", 0);

	if (find(step, "other")) {
		rules.timeout_ms++;
		name = spindle_rules_offer(&rules);
	}
	return name ? name | SPINDLE_MB_WANTS : 0;
}

/* Go on until there is a file or, without one, until the whole card has been asked for. */
static bool goes_on(const char *file, uint64_t answers)
{
	uint64_t asked = answers * sizeof(((struct answer *)0)->data);

	return file ? access(file, F_OK) : asked < spindle_card_bytes(&view, &rules);
}

void step_contact(const char *step)
{
	const char *file = find(step, "until");
	uint64_t answers = 0, offer = make_offer(step);
	struct rdma_cm_id *from;

	make_card();
	while (goes_on(file, answers)) {
		if (offer || find(step, "beat"))
			put_beat(offer);
		if (next_event(10, NULL, &from) != RDMA_CM_EVENT_CONNECT_REQUEST)
			continue;
		answers += reply_to(step, from);
		rdma_destroy_id(from);
	}
	printf("contact: %" PRIu64 "\n", answers);
}
