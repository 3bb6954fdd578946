// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replicas under faults: five nodes, processes that send, die at any time and come back with or
 * without a state of their own, nodes that leave and join, histories that are filled, late messages
 * of dead processes, parts that find no memory. TAP on stdout.
 *
 * replica_sim [SEED [SCHEDULES]]
 *
 * After each message the state of a replica has to be that of all messages so far. What comes into
 * a history has to be what was delivered. In the end, with no more faults, all replicas have the
 * state, and nothing is left open.
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
static uint64_t applied, transfers, died, declared, restored;

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
	const char dir[] = { (char)('0' + node), '\0' };
	struct process *p = &process[node];
	struct spindle_place from = { .lsn = p->saved_lsn };

	p->hash = 0;
	if (p->saved) {
		o.from = &from;
		p->hash = p->saved_hash;
	}
	if (group.logs) {
		o.dir = dir;
		o.program = "sim";
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
	restored += p->r->st.restored;
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
	bool whole, given;

	if (!r)
		return;
	whole = r->st.state == SPINDLE_REPLICA_RECEIVING && r->st.bytes &&
		r->st.received == r->st.bytes;
	given = r->donor.past.buf;
	if (spindle_replica_dispatch(r))
		wrong("a replica has failed", node, r->st.lsn);
	else if (!reported_well(node))
		wrong("a replica reports another state than it has", node, r->st.lsn);
	if (whole && r->st.state == SPINDLE_REPLICA_ASKING)
		wrong("a replica that has a whole snapshot asks again", node, r->st.lsn);
	if (given && !r->donor.group && r->donor.alone)
		wrong("a replica fails to give a state because of a history", node, r->st.lsn);
	if (group.wrong)
		wrong(group.wrong, node, group.end);
	group.wrong = NULL;
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

/* A replica that is not CURRENT, or has no log, makes no snapshot. */
static void snapshot(uint32_t node)
{
	struct spindle_replica *r = process[node].r;
	uint64_t lsn;
	int err;

	if (!r)
		return;
	lsn = r->st.lsn;
	err = spindle_replica_snapshot(r);
	if (err == -EOPNOTSUPP ? group.logs :
	    err == -EBUSY ? r->st.state == SPINDLE_REPLICA_CURRENT && !r->keeper.s :
	    err && err != -ENOSPC)
		wrong("a snapshot is refused", node, lsn);
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
			if (group.logs && group_random() % 2)
				group_log_trim(node, group.end);
		}
		group_set_member(node, !group.member[node]);
		look_at_log();
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
		if (group.logs && !(group_random() % 7))
			snapshot(node);
		else
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
		group_set_member(i, true);
		if (i == silent)
			crash(i);
		else if (!process[i].r)
			start(i);
	}
	group.refusals = 0;
	group.forgets = 0;
	group.faults = false;
	for (n = 0; n < REST && !all_are_current(); n++)
		step(false);
	if (n == REST)
		wrong("not all replicas get the state", 0, group.end);
	for (i = 1; i < GROUP_NODES; i++)
		if (process[i].r && process[i].hash != process[one].hash)
			wrong("the states differ", i, group.end);
}

static void begin(void)
{
	group_begin(seed);
	group_logs_begin();
	memset(process, 0, sizeof(process));
	known = 0;
	state_at[0] = 0;
}

static void end(void)
{
	uint32_t i;

	for (i = 1; i < GROUP_NODES; i++)
		if (process[i].r)
			spindle_replica_close(process[i].r);
	group_logs_end();
	if (group_rdmc_left())
		wrong("groups are left", 0, 0);
}

/* With @logs the subgroup is durable, and no history is filled. */
static void schedule(bool logs)
{
	uint32_t i;

	begin();
	group.history = group_random() % 2 ? 0 : group_random() % 200;
	group.fill = group_random() % 4;
	group.logs = logs;
	if (logs) {
		group.fill = false;
		group.faults = group_random() % 4;
	}
	group.forgets = group_random() % 2 ? 4 : 0;
	group.refusals = group_random() % 2 ? 4 : 0;
	for (i = 1; i < GROUP_NODES; i++)
		if (group_random() % 4)
			start(i);
	for (i = 0; i < STEPS; i++)
		step(true);
	rest();
	end();
}

/* ---- histories without faults ------------------------------------------------------------- */

/* A number of messages, and some views among them: node 2 has no process, and comes and goes. */
static void chatter(uint32_t n)
{
	for (; n; n--) {
		uint32_t node = n % 2 ? 1 : 3;

		send_data(node);
		group_deliver(node);
		look_at_log();
		go_on(node);
		if (n % 11 == 0)
			group_set_member(2, !group.member[2]);
	}
}

static void settle(void)
{
	uint32_t n;

	for (n = 0; n < REST && !all_are_current(); n++)
		step(false);
	if (n == REST)
		wrong("not all replicas get the state", 0, group.end);
}

static void begin_with_two(void)
{
	uint32_t i;

	begin();
	group.history = 1000;
	group.fill = true;
	for (i = 4; i < GROUP_NODES; i++)
		group_set_member(i, false);
	start(1);
	start(3);
	settle();
	chatter(66);
}

/*
 * The last one of two that share an offer has joined later, so that batches repeat messages to it.
 */
static void newcomers(void)
{
	uint64_t joined[2], i;

	begin_with_two();
	for (i = 0; i < 2; i++) {
		group_set_member((uint32_t)(4 + i), true);
		joined[i] = group.end;
		chatter(22);
	}
	for (i = 4; i < 6; i++) {
		start((uint32_t)i);
		go_on((uint32_t)i);
	}
	/* Both have asked before anyone hears of it. */
	while (group_deliver(4) || group_deliver(5))
		look_at_log();
	settle();
	for (i = 0; i < 2; i++)
		if (group_oldest((uint32_t)(4 + i)) ||
		    process[4 + i].r->st.filled != joined[i])
			wrong("a newcomer does not get all messages", (uint32_t)(4 + i), joined[i]);
	end();
}

/* A node leaves before a message is delivered to it, and joins again later. */
static void comes_back(void)
{
	uint64_t joined;

	begin_with_two();
	group_set_member(4, true);
	group_set_member(4, false);
	chatter(22);
	group_set_member(4, true);
	joined = group.end;
	chatter(22);
	start(4);
	settle();
	if (group_oldest(4) || process[4].r->st.filled != joined)
		wrong("a node that comes back does not get all messages", 4, joined);
	end();
}

/* A log without its beginning, and no snapshot: the replica asks without waiting. */
static void trimmed(void)
{
	struct spindle_replica *r;
	int64_t begun;

	begin();
	group.logs = true;
	group.durable = GROUP_LOG;
	start(1);
	start(3);
	settle();
	chatter(22);
	group_log_trim(5, group.end);
	start(5);
	r = process[5].r;
	begun = group.now_ms;
	go_on(5);
	go_on(5);
	if (group.now_ms != begun || !r->st.asked || r->restore.step != RESTORE_NONE)
		wrong("a replica waits for what was trimmed", 5, group.end);
	settle();
	if (r->st.restored || !r->st.donor)
		wrong("a replica has a state that nobody gave", 5, group.end);
	end();
}

/* A HAVE that was sent before a state was lost comes behind the declaration of another one. */
static void late_have(void)
{
	struct replica_have have = { 0 };
	struct spindle_replica *r;

	begin();
	start(1);
	start(3);
	settle();
	chatter(22);
	crash(1);
	crash(3);
	process[3].saved = false;
	start(3);
	r = process[3].r;
	have.life = r->life;
	replica_send(r, REPLICA_HAVE, &have, sizeof(have));
	declare(3);
	while (group_deliver(3))
		look_at_log();
	while (r->st.lsn < group.end)
		go_on(3);
	if (r->st.state != SPINDLE_REPLICA_ASKING || r->valid)
		wrong("a HAVE of before counts as a declaration", 3, group.end);
	settle();
	end();
}

/* ---- liars -------------------------------------------------------------------------------- */

#define LIE_MSGS	3U
#define LIE_BYTES	100U
#define LIE_LEN		(sizeof(struct batch_head) + 2 * sizeof(struct spindle_seat) +	\
			 LIE_MSGS * sizeof(struct spindle_dlv) + LIE_BYTES)

static const struct batch_head good_head = {
	.magic = BATCH_MAGIC, .version = REPLICA_VERSION, .lsn = 7, .members = 2,
	.count = LIE_MSGS, .bytes = LIE_BYTES,
};

/* Does a replica give its kernel a batch with such a head? */
static bool takes_batch(struct spindle_replica *r, struct batch_head head, uint64_t len)
{
	struct spindle_rdmc_event ev = { .tag = BATCH, .len = len };
	uint64_t fills = group.fills;
	unsigned char *buf;
	uint32_t reason;

	r->joiner.oldest = 7;
	r->joiner.history = true;
	buf = batch_incoming(r, &ev, &reason);
	if (!buf)
		return false;
	memcpy(buf, &head, sizeof(head));
	batch_done(r, &ev);
	group.wrong = NULL;
	/* Neither this library nor the kernel of the test believes any of it. */
	if (r->joiner.oldest)
		wrong("a replica goes on after a bad batch", r->opts.node, 0);
	return group.fills > fills;
}

static void liars(void)
{
	static const struct { size_t at; uint32_t value; } lie[] = {
		{ offsetof(struct batch_head, magic), 1 },
		{ offsetof(struct batch_head, version), 0 },
		{ offsetof(struct batch_head, members), 0 },
		{ offsetof(struct batch_head, members), 3 },
		{ offsetof(struct batch_head, members), SPINDLE_MAX_MEMBERS + 1 },
		{ offsetof(struct batch_head, members), UINT32_MAX },
		{ offsetof(struct batch_head, count), 0 },
		{ offsetof(struct batch_head, count), LIE_MSGS - 1 },
		{ offsetof(struct batch_head, count), SPINDLE_MAX_FILL_MSGS + 1 },
		{ offsetof(struct batch_head, count), 1U << 27 },
		{ offsetof(struct batch_head, count), UINT32_MAX },
		{ offsetof(struct batch_head, bytes), LIE_BYTES + 1 },
		{ offsetof(struct batch_head, bytes), SPINDLE_MAX_FILL + 1 },
		{ offsetof(struct batch_head, bytes), UINT32_MAX },
	};
	static const uint64_t len[] = {
		0, 1, sizeof(struct batch_head), LIE_LEN - 1, LIE_LEN + 1, BATCH_MAX,
		BATCH_MAX + 1, UINT64_MAX,
	};
	struct spindle_replica *r;
	size_t i;

	begin_with_two();
	r = process[1].r;
	if (!takes_batch(r, good_head, LIE_LEN))
		wrong("a good batch is refused", 1, 0);
	for (i = 0; i < ARRAY_SIZE(lie); i++) {
		struct batch_head head = good_head;

		memcpy((char *)&head + lie[i].at, &lie[i].value, sizeof(lie[i].value));
		if (takes_batch(r, head, LIE_LEN))
			wrong("a batch with a bad head is believed", 1, i);
	}
	for (i = 0; i < ARRAY_SIZE(len); i++)
		if (takes_batch(r, good_head, len[i]))
			wrong("a batch of another length is believed", 1, i);
	end();
}

static bool is_refused(struct spindle_replica *r, uint32_t why)
{
	struct spindle_rdmc_event ev = { .tag = BATCH, .len = LIE_LEN };
	uint32_t reason = 0;

	return !batch_incoming(r, &ev, &reason) && reason == why;
}

/* A batch comes only if it was promised, one after the other, and while it is of use. */
static void unasked(void)
{
	struct spindle_replica *r;
	struct joiner *j;

	begin_with_two();
	r = process[1].r;
	j = &r->joiner;
	j->oldest = 7;
	if (!is_refused(r, EPROTO))
		wrong("a batch is taken that was not promised", 1, 0);
	j->history = true;
	if (is_refused(r, EPROTO) || !is_refused(r, EPROTO))
		wrong("two batches are taken at once", 1, 0);
	batch_end(j);
	j->oldest = 0;
	if (!is_refused(r, ENOSPC))
		wrong("a donor goes on for a history that is full", 1, 0);
	j->shared = true;
	if (is_refused(r, ENOSPC))
		wrong("a history that is full ends those of others", 1, 0);
	batch_end(j);
	r->spill.end = r->spill.limit;
	if (!is_refused(r, ENOBUFS))
		wrong("old messages come while there is no room for new ones", 1, 0);
	r->spill.end = 0;
	end();
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 300, at;

	alarm(900);
	newcomers();
	for (seed = 0; seed < 8; seed++)
		comes_back();
	trimmed();
	late_have();
	liars();
	unasked();
	ok(!tap_failures, "a newcomer gets the history, and asks if its log is no help");
	for (seed = first; seed < first + n && tap_failures < 10; seed++)
		schedule(false);
	for (seed = first; seed < first + n && tap_failures < 10; seed += 3)
		schedule(true);
	printf("# %llu batches of histories, %llu messages put into them, %llu views\n",
	       (unsigned long long)group.fills, (unsigned long long)group.filled,
	       (unsigned long long)group.views);
	printf("# %llu snapshots, %llu states from logs\n", (unsigned long long)group.snapshots,
	       (unsigned long long)restored);
	printf("# %llu messages applied, %llu states loaded, %llu declared, %llu processes died\n",
	       (unsigned long long)applied, (unsigned long long)transfers,
	       (unsigned long long)declared, (unsigned long long)died);
	at = applied && transfers && died && declared && group.filled && group.views &&
	     group.snapshots && restored;
	ok(!tap_failures, "replicas have the same state, whatever dies");
	ok(at, "messages, transfers and deaths are there");
	return tap_end();
}
