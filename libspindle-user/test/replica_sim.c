// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replicas under faults: five nodes, processes that send, die at any time and come back with or
 * without a state of their own, nodes that leave and join, late messages of dead processes, parts
 * that find no memory. TAP on stdout.
 *
 *	replica_sim [SEED [SCHEDULES]]
 *
 * After each message the state of a replica has to be that of all messages so far. In the end, with
 * no more faults, all replicas have the state, and nothing is left open.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spindle/replica.h>
#include <spindle/spindle.h>

#include "replica.h"
#include "replica_group.h"
#include "tap.h"

#define STEPS		1500
#define REST		20000	/* steps without faults, at most */
#define PAD		200000U	/* a snapshot of several parts */

/* A process and its state. */
struct process {
	struct spindle_replica *r;
	uint64_t hash;
	uint64_t saved_hash, saved_lsn;	/* on its disk */
	bool saved;
};

static struct process process[GROUP_NODES];
/* The state behind each message, and how far it is known. */
static uint64_t state_at[GROUP_LOG + 1];
static uint64_t known;
static uint64_t seed;
static uint64_t applied, transfers, died, declared;

static void wrong(const char *what, uint32_t node, uint64_t lsn)
{
	printf("# seed %llu: node %u, position %llu: %s\n", (unsigned long long)seed, node,
	       (unsigned long long)lsn, what);
	tap_failures++;
}

static uint64_t mix(uint64_t h, uint64_t lsn, const void *data, uint32_t len)
{
	const unsigned char *p = data;
	uint32_t i;

	h = (h ^ lsn) * 0x100000001b3ULL;
	for (i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ULL;
	return h;
}

/* Has the state of a process become that of the group by its message @lsn, which was delivered? */
static bool takes_over(const struct group_message *m, uint64_t lsn)
{
	const struct replica_have *have = (const void *)(m->bytes + sizeof(struct replica_head));
	struct spindle_replica *r = process[m->node].r;

	if (!have->declared || !r || r->life != have->life)
		return false;
	/* The replica applies nothing before that, because it has no state. */
	while (r->st.lsn <= lsn && r->st.state == SPINDLE_REPLICA_ASKING)
		spindle_replica_dispatch(r);
	return r->st.lsn == lsn + 1 && r->st.state == SPINDLE_REPLICA_CURRENT;
}

/* Compute the right states up to what is delivered. */
static void look_at_log(void)
{
	for (; known < group.end; known++) {
		const struct group_message *m = &group.log[known];
		const struct replica_head *head = (const void *)m->bytes;
		uint64_t h = state_at[known];

		if (head->kind == REPLICA_DATA)
			h = mix(h, known, head + 1, m->len - (uint32_t)sizeof(*head));
		else if (head->kind == REPLICA_HAVE && takes_over(m, known))
			h = 0;
		state_at[known + 1] = h;
	}
}

/* ---- what a program does ------------------------------------------------------------ */

/* Bytes that no part can do without. */
static const unsigned char *pad_of(void)
{
	static unsigned char pad[PAD];
	uint32_t i;

	for (i = 0; i < PAD && !pad[PAD - 1]; i++)
		pad[i] = (unsigned char)(1 + i / 7 % 255);
	return pad;
}

static int save(void *ctx, int fd, uint64_t lsn)
{
	struct process *p = ctx;

	if (p->hash != state_at[lsn])
		wrong("a state is saved that is not that of its position", p->r->opts.node, lsn);
	if (write(fd, &p->hash, sizeof(p->hash)) != sizeof(p->hash) ||
	    write(fd, pad_of(), PAD) != PAD)
		return -EIO;
	return 0;
}

static int load(void *ctx, int fd, uint64_t lsn)
{
	static unsigned char pad[PAD + 1];
	struct process *p = ctx;

	if (read(fd, &p->hash, sizeof(p->hash)) != sizeof(p->hash))
		return -EIO;
	if (read(fd, pad, sizeof(pad)) != PAD || memcmp(pad, pad_of(), PAD))
		wrong("a snapshot has other bytes", p->r->opts.node, lsn);
	if (p->hash != state_at[lsn])
		wrong("a state is loaded that is not that of its position", p->r->opts.node, lsn);
	transfers++;
	return 0;
}

static int apply(void *ctx, const struct spindle_msg *m)
{
	struct process *p = ctx;

	p->hash = mix(p->hash, m->lsn, m->data, m->len);
	applied++;
	if (p->hash != state_at[m->lsn + 1])
		wrong("a message was missed or repeated", p->r->opts.node, m->lsn);
	return 0;
}

/* ---- the schedule ------------------------------------------------------------------- */

static void start(uint32_t node)
{
	static const struct spindle_replica_ops ops = {
		.save = save, .load = load, .apply = apply,
	};
	struct spindle_replica_opts o = {
		.node = node, .flags = SPINDLE_REPLICA_NO_FORK, .timeout_ms = 500,
	};
	struct process *p = &process[node];
	struct spindle_place from = { .lsn = p->saved_lsn };

	p->hash = 0;
	if (p->saved) {
		o.from = &from;
		p->hash = p->saved_hash;
	}
	if (spindle_replica_open(&p->r, &ops, p, &o))
		abort();
}

static void crash(uint32_t node)
{
	struct process *p = &process[node];

	if (!p->r)
		return;
	p->saved = false;
	if (!(group_random() % 2)) {
		struct spindle_place at;

		p->saved = !spindle_replica_place(p->r, &at);
		p->saved_lsn = at.lsn;
		p->saved_hash = p->hash;
	}
	spindle_replica_close(p->r);
	p->r = NULL;
	died++;
}

/* Is no process left that has the state, or is about to get it? */
static bool is_lost(void)
{
	uint32_t i;

	for (i = 1; i < GROUP_NODES; i++)
		if (process[i].r && (process[i].r->st.state != SPINDLE_REPLICA_ASKING ||
				     process[i].r->declared))
			return false;
	return true;
}

/* The administrator decides, when the last one with a state is gone. */
static void declare(uint32_t node)
{
	struct spindle_replica *r = process[node].r;

	if (!r || r->st.state != SPINDLE_REPLICA_ASKING || !is_lost())
		return;
	process[node].hash = 0;
	spindle_replica_declare(r);
	declared++;
}

static bool has_snapshot(const struct spindle_replica_stat *st)
{
	return st->donor && st->state >= SPINDLE_REPLICA_LOADING;
}

/* Does the kernel show what is so? */
static bool reported_well(uint32_t node)
{
	const struct spindle_replica_stat *st = &process[node].r->st;
	const struct spindle_report *report = group_report(node);

	return report->state == st->state && report->donor == st->donor &&
	       report->received == st->received && report->bytes == st->bytes &&
	       report->serving == st->serving && !report->resv &&
	       (has_snapshot(st) ? st->received == st->bytes :
				   st->received <= st->bytes || !st->bytes);
}

static void go_on(uint32_t node)
{
	struct spindle_replica *r = process[node].r;
	uint64_t parts = group_parts();

	if (!r)
		return;
	if (spindle_replica_dispatch(r))
		wrong("a replica has failed", node, r->st.lsn);
	else if (!reported_well(node))
		wrong("a replica reports another state than it has", node, r->st.lsn);
	if (group_parts() > parts + 1)
		wrong("a replica reads no message between two parts", node, r->st.lsn);
}

static void send_data(uint32_t node)
{
	uint64_t what[4] = { group_random(), group_random() };

	if (process[node].r && spindle_replica_send(process[node].r, what,
						    (uint32_t)(group_random() % sizeof(what))))
		wrong("a message cannot be sent", node, 0);
}

static void disturb(uint32_t node)
{
	switch (group_random() % 16) {
	case 0:
		crash(node);
		break;
	case 1:
		if (group.member[node]) {
			crash(node);
			process[node].saved = false;
		}
		group.member[node] = !group.member[node];
		break;
	case 2:
		group.now_ms += 700;
		break;
	default:
		if (!process[node].r && group.member[node])
			start(node);
	}
}

static void step(bool faults)
{
	uint32_t node = 1 + (uint32_t)(group_random() % (GROUP_NODES - 1));

	group.now_ms += (int64_t)(group_random() % 4);
	switch (group_random() % (faults ? 32 : 24)) {
	case 0 ... 7:
		group_deliver(node);
		look_at_log();
		break;
	case 8 ... 21:
		go_on(node);
		break;
	case 22:
		if (faults)
			send_data(node);
		break;
	case 23:
		declare(node);
		break;
	case 24 ... 30:
		send_data(node);
		break;
	default:
		disturb(node);
	}
}

static bool all_are_current(void)
{
	uint32_t i;

	for (i = 1; i < GROUP_NODES; i++) {
		const struct spindle_replica *r = process[i].r;

		if (r && (r->st.state != SPINDLE_REPLICA_CURRENT || r->st.lsn != group.end ||
			  r->donor.group))
			return false;
	}
	return true;
}

/* No more faults. One node may be without a process, which may have had the state. */
static void rest(void)
{
	uint32_t silent = (uint32_t)(group_random() % (2 * GROUP_NODES)), i, n;
	uint32_t one = silent == 1 ? 2 : 1;

	for (i = 1; i < GROUP_NODES; i++) {
		group.member[i] = true;
		if (i == silent)
			crash(i);
		else if (!process[i].r)
			start(i);
	}
	group.refusals = 0;
	for (n = 0; n < REST && !all_are_current(); n++)
		step(false);
	if (n == REST)
		wrong("not all replicas get the state", 0, group.end);
	for (i = 1; i < GROUP_NODES; i++)
		if (process[i].r && process[i].hash != process[one].hash)
			wrong("the states differ", i, group.end);
}

static void schedule(void)
{
	uint32_t i;

	group_begin(seed);
	memset(process, 0, sizeof(process));
	known = 0;
	state_at[0] = 0;
	group.history = group_random() % 3 ? 0 : group_random() % 60;
	group.refusals = group_random() % 2 ? 4 : 0;
	for (i = 1; i < GROUP_NODES; i++)
		if (group_random() % 4)
			start(i);
	for (i = 0; i < STEPS; i++)
		step(true);
	rest();
	for (i = 1; i < GROUP_NODES; i++)
		if (process[i].r)
			spindle_replica_close(process[i].r);
	if (group_rdmc_left())
		wrong("groups are left", 0, 0);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 300, at;

	alarm(900);
	for (seed = first; seed < first + n && tap_failures < 10; seed++)
		schedule();
	printf("# %llu messages applied, %llu states loaded and %llu declared, %llu processes died\n",
	       (unsigned long long)applied, (unsigned long long)transfers,
	       (unsigned long long)declared, (unsigned long long)died);
	at = applied && transfers && died && declared;
	ok(!tap_failures, "replicas have the same state, whatever dies");
	ok(at, "messages, transfers and deaths are there");
	return tap_end();
}
