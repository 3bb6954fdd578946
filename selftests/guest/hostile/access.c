// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses that no peer has to understand: in our row or next to it, with our key or another one,
 * with bytes that mean nothing. See access.h.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hostile-peer.h"
#include "access.h"
#include "queues.h"
#include "rights.h"
#include "table.h"

/* Aim at an offset of the row, with the right key unless the step says otherwise. */
static void aim(const char *step, struct ibv_send_wr *wr, uint64_t off)
{
	uint32_t c = off >> le32toh(theirs->shift);

	if (c >= chunks_out())
		c = chunks_out() - 1;
	wr->wr.rdma.remote_addr = num(step, "addr", off);
	wr->wr.rdma.rkey = le32toh(theirs->key[c]);
	if (find(step, "foreign")) {
		if (chunks_out() < 2)
			die("the row has one chunk\n");
		wr->wr.rdma.rkey = le32toh(theirs->key[!c]);
	}
	if (find(step, "key"))
		wr->wr.rdma.rkey = num(step, "key", 0);
	if (find(step, "near"))
		wr->wr.rdma.rkey += num(step, "near", 0);
	if (find(step, "imm")) {
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->imm_data = htobe32(num(step, "imm", 0));
	}
}

const char *one_sided(const char *step, enum ibv_wr_opcode opcode, uint64_t off,
		      const void *data, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)scratch,
		.length = len,
		.lkey = scratch_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = len != 0,
		.opcode = opcode,
	};

	if (len > SCRATCH)
		die("too long\n");
	if (data)
		memcpy(scratch, data, len);
	aim(step, &wr, off);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		uint64_t addr = wr.wr.rdma.remote_addr;
		uint32_t rkey = wr.wr.rdma.rkey;

		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.swap = 0;
	}
	return post_and_wait(&wr);
}

void step_write(const char *step)
{
	uint64_t off = num(step, "off", 0) + (find(step, "end") ? bytes_out() : 0);
	uint32_t len = num(step, "len", 8);

	memset(scratch, num(step, "fill", 0x55), min(len, SCRATCH));
	printf("write: %s\n", one_sided(step, IBV_WR_RDMA_WRITE, off, NULL, len));
}

void step_read(const char *step)
{
	uint64_t off = num(step, "off", 0) + (find(step, "end") ? bytes_out() : 0);
	uint32_t len = num(step, "len", 8);
	const char *what;

	memset(scratch, 0xaa, min(len, SCRATCH));
	what = one_sided(step, IBV_WR_RDMA_READ, off, NULL, len);
	printf("read: %s%s\n", what, find(step, "cells") ? say_cells(scratch, len) : "");
}

void step_add(const char *step)
{
	printf("add: %s\n", one_sided(step, IBV_WR_ATOMIC_FETCH_AND_ADD, num(step, "off", 0),
				      NULL, 8));
}

void step_send(const char *step)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)scratch,
		.length = num(step, "size", 0),
		.lkey = scratch_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = sge.length != 0,
		.opcode = find(step, "inv") ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
		.invalidate_rkey = num(step, "inv", 0),
	};

	printf("send: %s\n", post_and_wait(&wr));
}

void step_garbage(const char *step)
{
	uint64_t n = num(step, "n", 100), i, j, chunk = 1ULL << le32toh(theirs->shift);
	const char *what = "success";

	rng = num(step, "seed", 1) * 0x9e3779b97f4a7c15ULL + 1;
	for (i = 0; i < n && !strcmp(what, "success"); i++) {
		/* Half of the writes hit the columns and the first headers. */
		uint64_t span = random64() & 1 ? out.size : min(out.size, 2 * SPINDLE_PAGE);
		uint64_t off = random64() % span;
		uint64_t len = 1 + random64() % 256;
		char imm[32] = "";

		len = min(len, min(out.size - off, chunk - (off & (chunk - 1))));
		for (j = 0; j < len; j += 8) {
			uint64_t r = random64();

			memcpy(scratch + j, &r, sizeof(r));
		}
		if (random64() % 4 == 0)
			snprintf(imm, sizeof(imm), "g,imm=%" PRIu32, (uint32_t)random64());
		what = one_sided(imm, IBV_WR_RDMA_WRITE, off, NULL, len);
	}
	printf("garbage: %s\n", what);
}

void step_imms(const char *step)
{
	uint64_t n = num(step, "n", 100), i;
	const char *what = "success";

	for (i = 0; i < n && !strcmp(what, "success"); i++) {
		char imm[32];

		snprintf(imm, sizeof(imm), "i,imm=%" PRIu32,
			 (uint32_t)num(step, "v", random64() & 0xffffffff));
		what = one_sided(imm, IBV_WR_RDMA_WRITE, 0, NULL, 0);
	}
	printf("imms: %s\n", what);
}
