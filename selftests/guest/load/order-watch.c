// SPDX-License-Identifier: GPL-2.0-only
/*
 * order-watch: honest members of a subgroup in which other members lie.
 *
 *	order-watch -g SUBGROUP -n READERS [-s SENDERS] [-x NODES] [-v NODES]
 *		    [-r FILE] [-f FILE] [-l MAX] [-S SEED] [-w SECONDS]
 *
 * One process without a thread attaches as reader to all READERS (1-3,5) and as sender, too, to the
 * SENDERS among them, creates the file -r, and sends and reads until the file -f exists. Then each
 * of its senders sends a last message. When all readers have all of these, the process checks that
 * they have seen the same messages.
 *
 * Every reader checks that each message is the next of its sender, and that sequence numbers grow.
 * Of the own senders the bytes are checked, and no message may be missing. The bytes of -v, which
 * may die at any time, are checked. The bytes of -x are rubbish.
 *
 * Exit status 0: all held. 1: a sentence on standard error names the error.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "selfcheck.h"

#define MAX_NODE	64
#define BATCH		32
#define AHEAD		4	/* messages that a sender sends before others get a turn */

enum kind { OTHER, OWN, VICTIM, RUBBISH };

struct from {
	uint64_t next_slot, next_num, count;
	bool known, ended;
};

struct end {
	struct spindle_queue q;
	bool sends, ended;
	uint64_t sent, seen, hash, last_lsn;
	struct from from[MAX_NODE + 1];
};

static struct {
	bool reader[MAX_NODE + 1], sender[MAX_NODE + 1];
	enum kind kind[MAX_NODE + 1];
	uint32_t group, max;
	const char *ready, *stop;
	uint64_t seed;
	int wait;
} opt = { .max = 512, .seed = 1, .wait = 30 };

static struct end *ends;
static int num_ends, num_senders;

#define fail(...) do { fprintf(stderr, "order-watch: " __VA_ARGS__); exit(1); } while (0)

static void attach_all(void)
{
	uint32_t n;

	ends = calloc(MAX_NODE + 1, sizeof(*ends));
	for (n = 1; n <= MAX_NODE; n++) {
		struct end *e = &ends[num_ends];
		struct spindle_attach_opts o = {
			.node = n,
			.subgroup = opt.group,
			.flags = SPINDLE_ATTACH_RECV | (opt.sender[n] ? SPINDLE_ATTACH_SEND : 0),
			.event_fd = -1,
		};
		int err;

		if (!opt.reader[n])
			continue;
		err = spindle_attach(&e->q, &o);
		if (err)
			fail("attach node %u subgroup %u: %s\n", n, opt.group, strerror(-err));
		e->sends = opt.sender[n];
		num_senders += e->sends;
		num_ends++;
	}
}

static bool send_some(struct end *e, bool stop)
{
	struct selfcheck_hdr h = { .node = e->q.node };
	bool any = false;
	int i;

	for (i = 0; i < AHEAD && e->sends && !e->ended; i++) {
		struct spindle_slot s;
		uint32_t len;
		int err;

		h.magic = stop ? SELFCHECK_END : SELFCHECK_MAGIC;
		h.num = e->sent;
		len = sizeof(h) + mix(opt.seed + e->sent * MAX_NODE + e->q.node) %
		      (opt.max - sizeof(h));
		err = spindle_reserve(&e->q, len, &s);
		if (err == -EAGAIN)
			break;
		if (err)
			fail("node %u: reserve: %s, error %s\n", e->q.node, strerror(-err),
			     spindle_strerror(spindle_error_code(&e->q)));
		selfcheck_fill(s.data, len, &h);
		spindle_commit(&e->q, &s, len);
		e->sent++;
		e->ended = stop;
		any = true;
	}
	return any;
}

static void check(struct end *e, const struct spindle_msg *m)
{
	enum kind kind = opt.kind[m->node];
	struct from *f = &e->from[m->node];
	struct selfcheck_hdr h = { .magic = 0 };

	if (f->known && m->slot != f->next_slot)
		fail("node %u: sender %u: number %" PRIu64 ", not %" PRIu64 "\n", e->q.node,
		     m->node, m->slot, f->next_slot);
	f->known = true;
	f->next_slot = m->slot + 1;
	f->count++;
	if (e->seen && m->lsn != e->last_lsn + 1)
		fail("node %u: position %" PRIu64 " after %" PRIu64 "\n", e->q.node, m->lsn,
		     e->last_lsn);
	e->last_lsn = m->lsn;
	e->seen++;
	e->hash = mix(e->hash ^ mix(m->lsn) ^ mix((uint64_t)m->sender << 48 | m->slot) ^
		      mix(m->len));
	if (kind == OTHER)
		fail("node %u: a message of node %u, which sends nothing\n", e->q.node, m->node);
	if (kind == RUBBISH)
		return;
	if (!selfcheck_same(m->data, m->len, &h) || h.node != m->node)
		fail("node %u: sender %u number %" PRIu64 ", %u bytes: wrong bytes\n", e->q.node,
		     m->node, m->slot, m->len);
	e->hash = mix(e->hash ^ h.num);
	if (kind == VICTIM)
		return;
	if (h.num != f->next_num)
		fail("node %u: sender %u: its message %" PRIu64 ", not %" PRIu64 "\n", e->q.node,
		     m->node, h.num, f->next_num);
	f->next_num++;
	f->ended = h.magic == SELFCHECK_END;
}

/* Are all last messages here? Messages behind them are not checked. */
static bool complete(const struct end *e)
{
	int n, ended = 0;

	for (n = 1; n <= MAX_NODE; n++)
		ended += e->from[n].ended;
	return ended == num_senders;
}

static bool read_some(struct end *e)
{
	struct spindle_msg msg[BATCH];
	bool any = false;
	int i, n;

	while ((n = spindle_next_batch(&e->q, msg, BATCH)) > 0) {
		for (i = 0; i < n && !complete(e); i++)
			check(e, &msg[i]);
		spindle_release(&e->q);
		any = true;
		if (complete(e))
			break;
	}
	if (n < 0)
		fail("node %u: read: %s, error %s\n", e->q.node, strerror(-n),
		     spindle_strerror(spindle_error_code(&e->q)));
	return any;
}

static void wait_for_news(void)
{
	struct pollfd pfd[MAX_NODE + 1];
	int i;

	for (i = 0; i < num_ends; i++) {
		pfd[i].fd = spindle_fd(&ends[i].q);
		pfd[i].events = POLLIN | (ends[i].sends && !ends[i].ended ? POLLOUT : 0);
	}
	if (poll(pfd, num_ends, opt.wait * 1000))
		return;
	for (i = 0; i < num_ends; i++)
		fprintf(stderr, "# node %u: sent %" PRIu64 " seen %" PRIu64 " state %s\n",
			ends[i].q.node, ends[i].sent, ends[i].seen,
			spindle_state_string(spindle_state(&ends[i].q)));
	fail("no progress for %d s\n", opt.wait);
}

static void run(void)
{
	int i, done = 0;

	while (done < num_ends) {
		bool stop = !opt.stop || !access(opt.stop, F_OK), any = false;

		for (i = done = 0; i < num_ends; i++) {
			any |= send_some(&ends[i], stop);
			any |= read_some(&ends[i]);
			done += complete(&ends[i]);
		}
		if (!any && done < num_ends)
			wait_for_news();
	}
}

static void report(void)
{
	int i, n;

	for (i = 0; i < num_ends; i++) {
		printf("# node %u seen %" PRIu64 " order %016" PRIx64 " of", ends[i].q.node,
		       ends[i].seen, ends[i].hash);
		for (n = 1; n <= MAX_NODE; n++)
			if (ends[i].from[n].count)
				printf(" %d:%" PRIu64, n, ends[i].from[n].count);
		putchar('\n');
		if (ends[i].hash != ends[0].hash)
			fail("nodes %u and %u have seen different things\n", ends[0].q.node,
			     ends[i].q.node);
	}
	for (n = 1; n <= MAX_NODE; n++)
		if ((opt.kind[n] == VICTIM || opt.kind[n] == RUBBISH) && !ends[0].from[n].count)
			fail("nothing came of node %d: this was no test\n", n);
}

/* "1-4,7" */
static void each_node(const char *s, void (*fn)(uint32_t node))
{
	while (*s) {
		char *end;
		unsigned long a = strtoul(s, &end, 10), b = a;

		if (*end == '-')
			b = strtoul(end + 1, &end, 10);
		if (!a || b > MAX_NODE || (*end && *end != ','))
			fail("bad list '%s'\n", s);
		for (; a <= b; a++)
			fn(a);
		s = *end ? end + 1 : end;
	}
}

static void set_reader(uint32_t n)
{
	opt.reader[n] = true;
}

static void set_sender(uint32_t n)
{
	opt.sender[n] = true;
	opt.kind[n] = OWN;
}

static void set_victim(uint32_t n)
{
	opt.kind[n] = VICTIM;
}

static void set_rubbish(uint32_t n)
{
	opt.kind[n] = RUBBISH;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "g:n:s:x:v:r:f:l:S:w:")) != -1) {
		switch (c) {
		case 'g':
			opt.group = atoi(optarg);
			break;
		case 'n':
			each_node(optarg, set_reader);
			break;
		case 's':
			each_node(optarg, set_sender);
			break;
		case 'x':
			each_node(optarg, set_rubbish);
			break;
		case 'v':
			each_node(optarg, set_victim);
			break;
		case 'r':
			opt.ready = optarg;
			break;
		case 'f':
			opt.stop = optarg;
			break;
		case 'l':
			opt.max = atoi(optarg);
			break;
		case 'S':
			opt.seed = strtoull(optarg, NULL, 10);
			break;
		case 'w':
			opt.wait = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	attach_all();
	if (!num_senders)
		fail("give -n and -s\n");
	if (opt.ready) {
		FILE *f = fopen(opt.ready, "w");

		if (!f || fclose(f))
			fail("%s: %s\n", opt.ready, strerror(errno));
	}
	run();
	report();
	for (c = 0; c < num_ends; c++)
		spindle_detach(&ends[c].q);
	free(ends);
	return 0;
}
