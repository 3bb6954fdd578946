// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents of rows: lies in ours, which have the form of correct words, and the node's own columns
 * in the row that it writes here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/express.h"
#include "core/base/push.h"
#include "hostile-peer.h"
#include "access.h"
#include "connection.h"
#include "queues.h"

/* ---- our row ----------------------------------------------------------- */

/* Guards go with a doorbell, so that an engine that sleeps looks at them. */
static const char *put_guard(const char *step, uint32_t index, uint64_t off, void *data,
			     uint32_t len)
{
	char imm[32] = "";

	if (!find(step, "quiet"))
		snprintf(imm, sizeof(imm), "b,imm=%u", index << SPINDLE_IMM_SHIFT |
			 ((uint32_t)num(step, "slots", 0) & SPINDLE_IMM_SLOTS));
	return one_sided(imm, IBV_WR_RDMA_WRITE, off, data, len);
}

static void put_block(const char *step, uint32_t index, struct spindle_block *b)
{
	uint64_t off = index == SPINDLE_IMM_NODE ? SPINDLE_NODE_BLOCK :
						   spindle_layout_block(index);

	b->seal = spindle_seal(b->word);
	if (find(step, "seal"))
		b->seal ^= 1;
	printf("%.*s: %s\n", (int)strcspn(step, ","), step,
	       put_guard(step, index, off, b, SPINDLE_BLOCK_PUSH));
}

void step_block(const char *step)
{
	struct spindle_block b = { .word = {
		[SPINDLE_COL_SENT] = num(step, "sent", 0),
		[SPINDLE_COL_RECEIVED] = num(step, "received", 0),
		[SPINDLE_COL_DELIVERED] = num(step, "delivered", 0),
		[SPINDLE_COL_SLOTS] = num(step, "slots", 0),
	} };

	put_block(step, num(step, "sg", 0), &b);
}

void step_express(const char *step)
{
	static const uint8_t bytes[SPINDLE_PAGE] = "by express";
	uint32_t sg = num(step, "sg", 0), from;
	const uint64_t word[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_COL_SENT] = num(step, "sent", 0),
		[SPINDLE_COL_RECEIVED] = num(step, "received", 0),
		[SPINDLE_COL_DELIVERED] = num(step, "delivered", 0),
		[SPINDLE_COL_SLOTS] = num(step, "slots", 0),
	};
	const struct spindle_msg msg = {
		.round = num(step, "round", 0),
		.unit = num(step, "unit", 0),
		.len = num(step, "len", 0),
	};
	struct spindle_express x;

	if (out.hdr[sg] == SPINDLE_NO_OFFSET)
		die("we do not send in subgroup index %u\n", sg);
	if (msg.len > SPINDLE_EXPRESS_BYTES)
		die("%s: too long\n", step);
	spindle_express_write(&x, word, &msg, bytes, sizeof(bytes));
	from = spindle_express_offset(msg.len);
	if (find(step, "says")) {
		x.len = num(step, "says", 0);
		x.seal = spindle_mix(x.word, (offsetof(struct spindle_express, seal) -
					      offsetof(struct spindle_express, word)) / 8);
	}
	if (find(step, "mix"))
		x.pay[SPINDLE_EXPRESS_WORDS - 1] ^= 1;
	printf("express: %s\n",
	       put_guard(step, sg, spindle_layout_express(&out, sg) + from,
			 (uint8_t *)&x + from, sizeof(x) - from));
}

void step_node(const char *step)
{
	struct spindle_block b = { .word = {
		[SPINDLE_NODE_COL_SLEEP] = num(step, "sleep", 0),
		[SPINDLE_NODE_COL_VID] = view.vid,
		[SPINDLE_NODE_COL_LOST] = num(step, "lost", 0),
		[SPINDLE_NODE_COL_READY] = num(step, "ready", 0),
	} };

	put_block(step, SPINDLE_IMM_NODE, &b);
}

void step_hdr(const char *step)
{
	uint32_t sg = num(step, "sg", 0);
	uint64_t slot = num(step, "slot", 0);
	struct spindle_hdr h = {
		.round = num(step, "round", 0),
		.slot = num(step, "word", slot + 1),
		.unit = num(step, "unit", 0),
		.len = num(step, "len", 0),
	};
	uint64_t off = out.hdr[sg] + slot % view.subgroup[sg].window * sizeof(h);

	if (out.hdr[sg] == SPINDLE_NO_OFFSET)
		die("there is no header ring of subgroup index %u in our row\n", sg);
	printf("hdr: %s\n", one_sided(step, IBV_WR_RDMA_WRITE, off, &h, sizeof(h)));
}

/* ---- the node's row ---------------------------------------------------- */

void step_await(const char *step)
{
	static const char * const col[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_COL_SENT] = "sent",
		[SPINDLE_COL_RECEIVED] = "received",
		[SPINDLE_COL_DELIVERED] = "delivered",
		[SPINDLE_COL_SLOTS] = "slots",
	};
	uint32_t sg = num(step, "sg", 0);
	const struct spindle_block *b = (void *)(row + spindle_layout_block(sg));
	const struct spindle_express *x = NULL;
	struct spindle_express copy;
	uint64_t xseal = 0;
	uint64_t end = now_ms() + num(step, "ms", LIMIT_S * 1000);
	uint64_t word[SPINDLE_BLOCK_WORDS] = { 0 }, seal = 0;
	enum ibv_wc_status status;
	bool there = false;
	int i;

	if (in.hdr[sg] != SPINDLE_NO_OFFSET)
		x = (void *)(row + spindle_layout_express(&in, sg));
	while (!there && now_ms() < end && !disconnected) {
		poll_send(&status);
		next_event(0, NULL, NULL);
		spindle_block_read(b, &seal, word);
		if (x && spindle_express_read(x, &xseal, &copy) == SPINDLE_READ_NEW)
			for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
				word[i] = max(word[i], copy.word[i]);
		there = true;
		for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
			there &= word[i] >= num(step, col[i], 0);
	}
	printf("await: %s\n", there ? "there" : disconnected ? "gone" : "not there");
	if (!there)
		fprintf(stderr, "# await: sent %" PRIu64 " received %" PRIu64 " delivered %"
			PRIu64 " slots %" PRIu64 "\n", word[0], word[1], word[2], word[3]);
}

void step_joined(const char *step)
{
	const struct spindle_block *b = (void *)(row + SPINDLE_NODE_BLOCK);
	uint64_t ready = num(step, "ready", 0), end = now_ms() + LIMIT_S * 1000, seal = 0;
	uint64_t word[SPINDLE_BLOCK_WORDS] = { 0 };
	enum ibv_wc_status status;
	bool there = false;

	while (!there && now_ms() < end && !disconnected) {
		poll_send(&status);
		next_event(1, NULL, NULL);
		spindle_block_read(b, &seal, word);
		there = seal && word[SPINDLE_NODE_COL_READY] >= ready;
	}
	printf("joined: %s\n", there ? "yes" : "no");
}
