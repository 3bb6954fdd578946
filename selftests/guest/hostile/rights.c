// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exchange of rights: without rights neither side can use the connection. See rights.h.
 */
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "hostile-peer.h"
#include "connection.h"
#include "queues.h"
#include "rights.h"
#include "table.h"

struct rights *theirs;

static uint32_t chunks(uint64_t bytes, uint32_t shift)
{
	return (bytes + (1ULL << shift) - 1) >> shift;
}

uint32_t rights_pages(uint64_t bytes)
{
	uint64_t len = sizeof(struct rights) +
		       chunks(bytes, CHUNK_SHIFT_MIN) * sizeof(uint32_t);

	return DIV_ROUND_UP(len, SPINDLE_PAGE);
}

uint32_t chunks_out(void)
{
	return chunks(bytes_out(), le32toh(theirs->shift));
}

static uint32_t give(const char *step, const char **what)
{
	uint64_t bytes = bytes_in();
	uint32_t i, n = num(step, "n", rights_pages(bytes));
	uint32_t shift = num(step, "shift", CHUNK_SHIFT_MAX);
	struct rights *d = (struct rights *)(pages + MAX_PAGES * SPINDLE_PAGE);

	memset(d, 0, MAX_PAGES * SPINDLE_PAGE);
	d->bytes = htole64(num(step, "len", bytes));
	d->shift = htole32(shift);
	d->zero = htole32(num(step, "zero", 0));
	for (i = 0; shift <= CHUNK_SHIFT_MAX && i < chunks(bytes, shift); i++)
		d->key[i] = htole32(num(step, "key", row_mr->rkey));
	prove(step, PROOF_RIGHTS, d->proof);
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

/*
 * The rights must be correct and nothing more. They must contain no address, and no old bytes of
 * the pages.
 */
static bool clean(uint32_t want)
{
	const uint8_t *byte = (const uint8_t *)theirs;
	uint32_t shift = le32toh(theirs->shift);
	uint64_t i, bytes = bytes_out();

	if (le64toh(theirs->bytes) != bytes || shift < CHUNK_SHIFT_MIN ||
	    shift > CHUNK_SHIFT_MAX || theirs->zero)
		return false;
	i = sizeof(*theirs) + chunks(bytes, shift) * sizeof(uint32_t);
	while (i < (uint64_t)want * SPINDLE_PAGE && !byte[i])
		i++;
	return i == (uint64_t)want * SPINDLE_PAGE;
}

static bool take(void)
{
	uint64_t end = now_ms() + LIMIT_S * 1000;
	uint32_t i, want = rights_pages(bytes_out());
	enum ibv_wc_status status;
	bool over;

	do {
		over = disconnected || now_ms() >= end;
		for (i = 0; i < 64; i++)
			poll_send(&status);
		next_event(!over, NULL, NULL);
	} while (got_pages < want && !over);
	theirs = (struct rights *)pages;
	return got_pages >= want && clean(want);
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
		printf("take: %u chunks of %u KiB\n", chunks_out(),
		       1U << (le32toh(theirs->shift) - 10));
	else
		printf("take: nothing\n");
}

void step_setup(const char *step)
{
	const char *what;

	give(step, &what);
	printf("setup: %s\n", strcmp(what, "success") ? what : take() ? "up" : "no rights");
}
