// SPDX-License-Identifier: GPL-2.0-only
/*
 * The membership's part of our row in a live view: signs of life, and words that no correct member
 * writes.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/membership/membership.h"
#include "hostile-peer.h"
#include "access.h"
#include "connection.h"
#include "queues.h"

#define BEAT_OFF	offsetof(struct spindle_mb_row, beat)
#define STATE_OFF	offsetof(struct spindle_mb_row, state)

static const char *put(uint64_t off, const void *data, uint32_t len)
{
	char imm[32];

	if (out.mb == SPINDLE_NO_OFFSET)
		die("the view is not live\n");
	snprintf(imm, sizeof(imm), "m,imm=%u", SPINDLE_IMM_NODE << SPINDLE_IMM_SHIFT);
	return one_sided(imm, IBV_WR_RDMA_WRITE, out.mb + off, data, len);
}

static const char *put_sealed(uint64_t off, struct spindle_block *b, bool bad)
{
	b->seal = spindle_seal(b->word) ^ bad;
	return put(off, b, SPINDLE_BLOCK_PUSH);
}

/* @offer: other rules that we offer, or 0 */
const char *put_beat(uint64_t offer)
{
	static uint64_t beat;
	struct spindle_block b = { .word = {
		[SPINDLE_MB_COL_BEAT] = ++beat,
		[SPINDLE_MB_COL_RULES] = offer,
	} };

	return put_sealed(BEAT_OFF, &b, false);
}

/* Beat for the given time, or until the node disconnects us. */
static const char *beat_for(uint64_t ms, uint64_t offer)
{
	uint64_t end = now_ms() + ms;
	const char *what = "success";

	while (!disconnected && now_ms() < end && !strcmp(what, "success")) {
		what = put_beat(offer);
		next_event(20, NULL, NULL);
	}
	return disconnected ? "gone" : what;
}

void step_beat(const char *step)
{
	printf("beat: %s\n", beat_for(num(step, "ms", 200), num(step, "rules", 0)));
}

void step_wish(const char *step)
{
	struct spindle_block b = { .word = {
		[SPINDLE_MB_COL_BEAT] = num(step, "beat", 1ULL << 40),
		[SPINDLE_MB_COL_WISH] = num(step, "node", 0),
		[SPINDLE_MB_COL_WISH_INC] = num(step, "inc", 1),
		[SPINDLE_MB_COL_RULES] = num(step, "rules", 0),
	} };

	printf("wish: %s\n", put_sealed(BEAT_OFF, &b, find(step, "seal")));
}

void step_state(const char *step)
{
	struct spindle_block b = { .word = {
		[SPINDLE_MB_COL_VID] = num(step, "vid", view.vid),
		[SPINDLE_MB_COL_SUSPECTED] = num(step, "suspected", 0),
		[SPINDLE_MB_COL_PHASE] = num(step, "phase", 0),
		[SPINDLE_MB_COL_DIGEST] = num(step, "digest", 0),
	} };

	printf("state: %s\n", put_sealed(STATE_OFF, &b, find(step, "seal")));
}

/* Random bytes, anywhere in that part, with signs of life between them unless "silent". */
void step_rubbish(const char *step)
{
	uint64_t bytes = spindle_mb_row_bytes(spindle_rules_trims(&rules));
	uint64_t n = num(step, "n", 100), i, j;
	const char *what = "success";

	rng = num(step, "seed", 1) * 0x9e3779b97f4a7c15ULL + 1;
	for (i = 0; i < n && !strcmp(what, "success") && !disconnected; i++) {
		uint64_t off = find(step, "words") ? offsetof(struct spindle_mb_row, word) : 0;
		uint64_t len = 1 + random64() % 64;
		uint64_t junk[8];

		off += random64() % (bytes - off);
		len = min(len, bytes - off);
		for (j = 0; j < 8; j++)
			junk[j] = random64() >> random64() % 64;
		what = put(off, junk, len);
		if (!find(step, "silent") && !strcmp(what, "success"))
			what = put_beat(0);
		next_event(1, NULL, NULL);
	}
	printf("rubbish: %s\n", disconnected ? "gone" : what);
}
