// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exchange of rights, without which a connection is of no use to either side. See
 * rights.h.
 */
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "hostile-peer.h"
#include "connection.h"
#include "queues.h"
#include "rights.h"

uint32_t chunks_out, chunks_in;
struct desc *theirs;

static uint32_t give(const char *step, const char **what)
{
	uint32_t i, n = num(step, "n", DIV_ROUND_UP(chunks_in + PROOF_DESCS, DESCS));
	struct desc *d = (struct desc *)(pages + MAX_PAGES * SPINDLE_PAGE);

	memset(d, 0, MAX_PAGES * SPINDLE_PAGE);
	for (i = 0; i < chunks_in && i < MAX_PAGES * DESCS - PROOF_DESCS; i++) {
		uint64_t left = in.size - i * CHUNK;

		d[PROOF_DESCS + i].addr = htole64((uintptr_t)row + i * CHUNK);
		d[PROOF_DESCS + i].rkey = htole32(num(step, "key", row_mr->rkey));
		d[PROOF_DESCS + i].len = htole32(num(step, "len", left < CHUNK ? left : CHUNK));
	}
	prove(step, PROOF_RIGHTS, (uint8_t *)d);
	keep(step, d, PROOF_LEN);
	*what = "nothing";
	for (i = 0; i < n; i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)d + i % MAX_PAGES * SPINDLE_PAGE,
			.length = num(step, "size", SPINDLE_PAGE),
			.lkey = page_mr->lkey,
		};
		struct ibv_send_wr wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
		};

		*what = post_and_wait(&wr);
		if (strcmp(*what, "success"))
			break;
	}
	return i;
}

static bool take(void)
{
	uint64_t end = now_ms() + LIMIT_S * 1000;
	uint32_t i, want = DIV_ROUND_UP(chunks_out + PROOF_DESCS, DESCS);
	enum ibv_wc_status status;
	bool over;

	do {
		over = disconnected || now_ms() >= end;
		for (i = 0; i < 64; i++)
			poll_send(&status);
		next_event(!over, NULL, NULL);
	} while (got_pages < want && !over);
	if (got_pages < want)
		return false;
	for (i = 0; i < chunks_out; i++)
		theirs[i] = ((struct desc *)pages)[PROOF_DESCS + i];
	return true;
}

void step_give(const char *step)
{
	const char *what;
	uint32_t n = give(step, &what);

	printf("give: %u %s\n", n, what);
}

void step_take(const char *step)
{
	(void)step;
	if (take())
		printf("take: %u chunks\n", chunks_out);
	else
		printf("take: nothing\n");
}

void step_setup(const char *step)
{
	const char *what;

	give(step, &what);
	printf("setup: %s\n", strcmp(what, "success") ? what : take() ? "up" : "no rights");
}
