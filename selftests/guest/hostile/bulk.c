// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection for blocks, and a member of an RDMC group that says anything. The modules'
 * core/rdmc/rdmc.h and fabric/bulk.h have the correct protocol.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <linux/spindle_rdmc.h>

#include "hostile-peer.h"
#include "bulk.h"
#include "connection.h"
#include "queues.h"
#include "rights.h"
#include "core/base/sst.h"

enum { HELLO = 1, ANNOUNCE, GRANT, PROGRESS, STOP, ABORT, RETURN, FAIL, CLOSE, END, WORDS };

bool bulk;
static struct bulk_message inbox[BULK_INBOX];
static unsigned int came, taken;
static uint32_t reposted, imms;
static struct ibv_mr *talk_mr;
static struct bulk_message talk[BULK_RECVS], said_last;
static uint64_t our_life = 77, their_life;
static struct bulk_message last_grant;
static uint64_t last_announced;

static void post_talk(uint32_t i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&talk[i],
		.length = sizeof(talk[i]),
		.lkey = talk_mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = BULK_WR + i, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(qp, &wr, &bad))
		die("post a receive: %s\n", strerror(errno));
}

void bulk_receives(struct ibv_pd *pd)
{
	uint32_t i;

	talk_mr = ibv_reg_mr(pd, talk, sizeof(talk), IBV_ACCESS_LOCAL_WRITE);
	if (!talk_mr)
		die("no memory region: %s\n", strerror(errno));
	for (i = 0; i < BULK_RECVS; i++)
		post_talk(i);
}

void bulk_came(const struct ibv_wc *wc)
{
	uint32_t i = wc->wr_id - BULK_WR;

	if (wc->status != IBV_WC_SUCCESS)
		return;
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		imms++;
	else if (talk[i].flags & 1)
		inbox[came++ % BULK_INBOX] = talk[i];
	reposted++;
	post_talk(i);
}

static const char *say(const char *step, struct bulk_message m)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)scratch,
		.length = num(step, "len", sizeof(m)),
		.lkey = scratch_mr->lkey,
	};
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = sge.length != 0,
				  .opcode = IBV_WR_SEND };

	m.reposted = num(step, "reposted", reposted) + num(step, "more", 0);
	m.flags = num(step, "flags", 1);
	said_last = m;
	memset(scratch, 0, min(sge.length, SCRATCH));
	memcpy(scratch, &m, sizeof(m));
	if (find(step, "imm")) {
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htobe32(num(step, "imm", 0));
	}
	return post_and_wait(&wr);
}

/* Take the next message. Returns false if no more arrive. */
static bool hear(uint32_t word, uint64_t ms, struct bulk_message *m)
{
	uint64_t end = now_ms() + ms;
	enum ibv_wc_status status;

	for (;;) {
		while (taken != came) {
			*m = inbox[taken++ % BULK_INBOX];
			if (m->word == HELLO)
				their_life = m->w[1];
			if (m->word == GRANT)
				last_grant = *m;
			if (m->word == ANNOUNCE)
				last_announced = m->w[1];
			/* In a stream all members have the same life, and no member says HELLO. */
			if (m->word == ANNOUNCE && !their_life)
				their_life = m->to;
			if (!word || m->word == word)
				return true;
		}
		if (now_ms() >= end || disconnected)
			return false;
		poll_send(&status);
		next_event(0, NULL, NULL);
	}
}

/* The same as digest_of() of the module. */
static uint64_t digest(const char *step)
{
	uint64_t part[5] = { num(step, "group", 1), 0, num(step, "alg", 0),
			     num(step, "block", 4096) };
	const char *p = find(step, "members");
	char *end = NULL;

	for (part[1] = 0; p && *p && *p != ','; part[1]++) {
		strtoul(p, &end, 10);
		p = *end == '.' ? end + 1 : end;
	}
	for (p = find(step, "members"); p && *p && *p != ','; p = *end == '.' ? end + 1 : end) {
		part[4] = strtoul(p, &end, 10);
		part[0] = spindle_mix(part, 5);
	}
	return num(step, "digest", part[0]);
}

void step_hi(const char *step)
{
	uint32_t group = num(step, "group", 1);
	struct bulk_message m = { .to = num(step, "to", group), .word = HELLO,
				  .arg = num(step, "rack", 0) };
	const char *what;

	our_life = num(step, "life", our_life);
	if (!find(step, "blind") && !their_life && !hear(HELLO, LIMIT_S * 1000, &m)) {
		printf("hi: no member\n");
		return;
	}
	/*
	 * With "echo", repeat the other member's words, because this process does not know the
	 * group's id.
	 */
	if (!find(step, "echo")) {
		m.to = num(step, "to", group);
		m.w[0] = digest(step);
	}
	m.arg = num(step, "rack", 0);
	m.w[1] = our_life;
	m.w[2] = num(step, "yours", their_life);
	what = say(step, m);
	printf("hi: %s\n", what);
}

void step_msg(const char *step)
{
	struct bulk_message m = {
		.to = num(step, "to", their_life),
		.word = num(step, "word", 0),
		.arg = num(step, "arg", 0),
		.w = { num(step, "a", 0), num(step, "b", 0), num(step, "c", 0),
		       num(step, "d", 0) },
	};
	uint64_t n = num(step, "n", 1);
	const char *what = "none";

	while (n--) {
		what = say(step, m);
		if (strcmp(what, "success"))
			break;
		m.w[0] += num(step, "step", 0);
	}
	printf("msg: %s\n", what);
}

/* A grant of memory in this process, correct or not. */
void step_grant(const char *step)
{
	struct bulk_message m = {
		.to = their_life,
		.word = GRANT,
		.arg = num(step, "b", 0),
		.w = { num(step, "o", 0), num(step, "addr", (uintptr_t)scratch + (64 << 10)),
		       num(step, "key", scratch_mr->rkey) | num(step, "number", 0) << 32,
		       num(step, "l", last_announced) },
	};

	printf("grant: %s\n", say(step, m));
}

void step_hear(const char *step)
{
	static const char * const words[WORDS] = {
		"?", "hello", "announce", "grant", "progress", "stop", "abort", "return", "fail",
		"close", "end",
	};
	uint64_t n = num(step, "n", 1);
	struct bulk_message m = { .word = 0 };
	bool got = true;

	while (got && n--)
		got = hear(num(step, "word", 0), num(step, "ms", LIMIT_S * 1000), &m);
	/* The grant has the offset of a block in its page, and no address. */
	if (got && m.word == GRANT && m.w[1] >= SPINDLE_PAGE)
		printf("hear: an address\n");
	else if (got)
		printf("hear: %s\n", m.word < WORDS ? words[m.word] : "?");
	else
		printf("hear: nothing\n");
}

/* Write a block by the last grant, unless the step says otherwise. */
void step_blk(const char *step)
{
	const struct bulk_message *g = &last_grant;
	struct ibv_sge sge = {
		.addr = (uintptr_t)scratch,
		.length = num(step, "len", 4096),
		.lkey = scratch_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = sge.length != 0,
		.opcode = find(step, "silent") ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htobe32(num(step, "imm", g->w[2] >> 32) + num(step, "more", 0)),
		.wr.rdma = {
			.remote_addr = num(step, "addr", g->w[1]) + num(step, "off", 0),
			.rkey = num(step, "key", (uint32_t)g->w[2]) + num(step, "near", 0),
		},
	};

	memset(scratch, num(step, "fill", 0x5a), min(sge.length, SCRATCH));
	printf("blk: %s\n", post_and_wait(&wr));
}

static uint64_t about(uint64_t right)
{
	switch (random64() >> 20 & 7) {
	case 0:
		return random64();
	case 1:
		return random64() >> (random64() >> 40 & 63);
	case 2:
		return right + 1;
	case 3:
		return right - 1;
	default:
		return right;
	}
}

/* Random messages and immediate data, near the correct ones. */
void step_chatter(const char *step)
{
	uint64_t n = num(step, "n", 100), i;
	const char *what = "success";
	struct bulk_message m;

	rng = num(step, "seed", 1) * 0x9e3779b97f4a7c15ULL + 1;
	for (i = 0; i < n && !strcmp(what, "success"); i++) {
		uint64_t r = random64();

		while (hear(0, 0, &m))
			;
		if ((r >> 24 & 15) == 0) {
			char blk[128];

			snprintf(blk, sizeof(blk), "b,len=%u,near=%u,more=%u%s",
				 r & 1 ? 0 : (uint32_t)(r >> 32 & 8191), (uint32_t)(r >> 50 & 3),
				 (uint32_t)(r >> 54 & 3), r & 2 ? ",silent" : "");
			step_blk(blk);
			continue;
		}
		m = (struct bulk_message) {
			.to = about(their_life),
			.word = r >> 8 & 15 ? 1 + (r >> 12 & 0xff) % (WORDS - 1) : r >> 32,
			.arg = about(random64() >> 30 & 1),
			.w = { about(random64() >> 30 & 3), about(random64() >> 30 & 0xffff),
			       about(random64() >> 30 & 7), about(last_announced) },
		};
		if (m.word == HELLO)
			m.to = about(num(step, "group", 1));
		what = say("s", m);
	}
	printf("chatter: %s\n", what);
}
