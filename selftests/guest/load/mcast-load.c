// SPDX-License-Identifier: GPL-2.0-only
/*
 * mcast-load: send through any number of attachments and check every delivery.
 *
 *	mcast-load -n 1-16 -g 1,2 [-s all|half|one|none|N] [-c COUNT] [-l MIN-MAX]
 *		   [-w SECONDS] [-S SEED] [-f FILE] [-p MS] [-C] [-R] [-u] [-H]
 *
 * The program attaches to every pair of node and subgroup that exists here. It is one process
 * without threads, so that a run is the same on two CPUs as on sixteen. Each sender sends COUNT
 * messages whose length and bytes follow from (seed, subgroup, node, number); each reader checks
 * for every delivery
 *	- sender, number (first in first out, no gap), length and bytes,
 *	- in an ordered subgroup that sequence numbers grow,
 * and at the end that all messages of all senders came, and that all readers of an ordered subgroup
 * here have the same hash over (sequence number, sender, number). The hashes are printed, to be
 * compared over several hosts (-H: nothing else).
 *
 *	-C	readers copy			-R	reserve ahead, commit out of order
 *	-u	subgroups are unordered		-w	give up without progress (60)
 *	-f	create FILE when each sender has committed a first message
 *	-p	milliseconds between attaching and the first message, for engines to sleep
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
#include <time.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "ids.h"
#include "selfcheck.h"

#define MAX_IDS		64
#define MAX_AHEAD	8
#define BATCH		64

/* Message numbers continue from one process to the next, so count from the first one. */
struct sender_seen {
	uint64_t base;
	uint64_t next;
};

struct end {
	struct spindle_queue q;
	bool sends;
	uint64_t sent;		/* committed or about to be */
	uint64_t rng;
	uint64_t seen;
	uint64_t last_lsn;
	uint64_t hash;
	struct sender_seen from[SPINDLE_MAX_MEMBERS];
};

static struct {
	uint32_t node[MAX_IDS], group[MAX_IDS];
	int nodes, groups;
	const char *senders, *flag_file;
	uint64_t count;
	uint32_t min, max;
	uint64_t seed;
	int wait, pause;
	bool copy, ahead, unordered, only_hash;
} opt = { .senders = "all", .count = 100, .min = 1, .max = 1024, .seed = 1, .wait = 60 };

static struct end *ends;
static int num_ends;

#define die(...) do { fprintf(stderr, "mcast-load: " __VA_ARGS__); exit(1); } while (0)

static uint64_t msg_key(uint32_t group, uint32_t node, uint64_t num)
{
	return mix(opt.seed ^ mix((uint64_t)group << 32 | node) ^ mix(num + 1));
}

static uint32_t msg_len(uint64_t key)
{
	return opt.min + mix(key) % (opt.max - opt.min + 1);
}

static void fill(unsigned char *p, uint32_t len, uint64_t key)
{
	uint32_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		key = key * 6364136223846793005ULL + 1442695040888963407ULL;
		memcpy(p + i, &key, 8);
	}
	key = mix(key);
	memcpy(p + i, &key, len - i);
}

static bool same(const unsigned char *p, uint32_t len, uint64_t key)
{
	uint32_t i;

	for (i = 0; i + 8 <= len; i += 8) {
		key = key * 6364136223846793005ULL + 1442695040888963407ULL;
		if (memcmp(p + i, &key, 8))
			return false;
	}
	key = mix(key);
	return !memcmp(p + i, &key, len - i);
}

static bool wants_to_send(const struct spindle_queue *q)
{
	if (q->sender_rank == SPINDLE_NO_RANK || !strcmp(opt.senders, "none"))
		return false;
	if (!strcmp(opt.senders, "all"))
		return true;
	if (!strcmp(opt.senders, "half"))
		return q->sender_rank < (q->senders + 1) / 2;
	if (!strcmp(opt.senders, "one"))
		return q->sender_rank == 0;
	return q->sender_rank == strtoul(opt.senders, NULL, 10);
}

/*
 * The number of senders of the subgroup that send, here or elsewhere. All hosts compute the same
 * number.
 */
static uint32_t active_senders(const struct spindle_queue *q)
{
	if (!strcmp(opt.senders, "none"))
		return 0;
	if (!strcmp(opt.senders, "all"))
		return q->senders;
	return strcmp(opt.senders, "half") ? 1 : (q->senders + 1) / 2;
}

static void attach_all(void)
{
	int n, g;

	ends = calloc((size_t)opt.nodes * opt.groups, sizeof(*ends));
	for (n = 0; n < opt.nodes; n++)
		for (g = 0; g < opt.groups; g++) {
			struct end *e = &ends[num_ends];
			struct spindle_attach_opts o = {
				.node = opt.node[n],
				.subgroup = opt.group[g],
				.flags = SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV |
					 (opt.copy ? SPINDLE_ATTACH_COPY : 0),
				.event_fd = -1,
			};
			int err = spindle_attach(&e->q, &o);

			if (err == -EPERM) {
				o.flags &= ~SPINDLE_ATTACH_SEND;
				err = spindle_attach(&e->q, &o);
			}
			if (err == -ENOENT && e->q.step == SPINDLE_STEP_ATTACH)
				continue;
			if (err)
				die("attach node %u subgroup %u: %s\n", o.node, o.subgroup,
				    strerror(-err));
			if (opt.max > e->q.max_msg)
				die("length %u is above max_msg %u\n", opt.max, e->q.max_msg);
			e->sends = wants_to_send(&e->q);
			e->rng = mix(opt.seed + num_ends);
			num_ends++;
		}
	if (!num_ends)
		die("nothing to attach to\n");
}

/* Commit the reserved slots in a random order. Now and then abandon one of them. */
static void commit_all(struct end *e, struct spindle_slot *slot, uint64_t *num, int n)
{
	while (n) {
		int i;
		uint32_t len;

		e->rng = mix(e->rng + 1);
		i = e->rng % n;
		if (num[i] == UINT64_MAX) {
			spindle_abandon(&e->q, &slot[i]);
		} else {
			uint64_t key = msg_key(e->q.subgroup, e->q.node, num[i]);

			len = msg_len(key);
			fill(slot[i].data, len, key);
			spindle_commit_quiet(&e->q, &slot[i], len);
		}
		n--;
		slot[i] = slot[n];
		num[i] = num[n];
	}
	spindle_flush(&e->q);
}

/* Send as much as fits; returns true if anything was sent. */
static bool send_some(struct end *e)
{
	struct spindle_slot slot[MAX_AHEAD];
	uint64_t num[MAX_AHEAD];
	int ahead = opt.ahead ? MAX_AHEAD : 1;
	bool any = false;

	while (e->sends && e->sent < opt.count) {
		int n = 0, err = 0;

		while (n < ahead && e->sent < opt.count) {
			uint32_t len = msg_len(msg_key(e->q.subgroup, e->q.node, e->sent));
			bool waste;

			e->rng = mix(e->rng + 1);
			waste = opt.ahead && e->rng % 16 == 0;
			/*
			 * A reservation that is larger than its message must waste no space for
			 * good.
			 */
			if (opt.ahead && e->rng % 4 == 1)
				len = opt.max;
			err = spindle_reserve(&e->q, len, &slot[n]);
			if (err)
				break;
			num[n++] = waste ? UINT64_MAX : e->sent++;
		}
		if (err && err != -EAGAIN)
			die("node %u subgroup %u: reserve: %s, error %s\n", e->q.node,
			    e->q.subgroup, strerror(-err),
			    spindle_strerror(spindle_error_code(&e->q)));
		if (!n)
			break;
		commit_all(e, slot, num, n);
		any = true;
	}
	return any;
}

static void check(struct end *e, const struct spindle_msg *m)
{
	struct sender_seen *from = &e->from[m->sender];
	uint64_t key = msg_key(e->q.subgroup, m->node, from->next);

	if (!from->next)
		from->base = m->slot;
	if (m->slot != from->base + from->next)
		die("node %u subgroup %u: sender %u: number %" PRIu64 ", not %" PRIu64 "\n",
		    e->q.node, e->q.subgroup, m->node, m->slot, from->base + from->next);
	from->next++;
	if (m->len != msg_len(key))
		die("node %u subgroup %u: sender %u number %" PRIu64 ": length %u, not %u\n",
		    e->q.node, e->q.subgroup, m->node, m->slot, m->len, msg_len(key));
	if (!same(m->data, m->len, key))
		die("node %u subgroup %u: sender %u number %" PRIu64 ": wrong bytes\n",
		    e->q.node, e->q.subgroup, m->node, m->slot);
	if (e->seen && m->lsn != e->last_lsn + 1)
		die("node %u subgroup %u: position %" PRIu64 " after %" PRIu64 "\n",
		    e->q.node, e->q.subgroup, m->lsn, e->last_lsn);
	e->last_lsn = m->lsn;
	e->hash = mix(e->hash ^ mix(m->lsn) ^ mix((uint64_t)m->sender << 48 | from->next));
	e->seen++;
}

static bool read_some(struct end *e)
{
	struct spindle_msg msg[BATCH];
	bool any = false;
	int i, n;

	while ((n = spindle_next_batch(&e->q, msg, BATCH)) > 0) {
		for (i = 0; i < n; i++)
			check(e, &msg[i]);
		spindle_release(&e->q);
		any = true;
	}
	if (n < 0)
		die("node %u subgroup %u: read: %s, error %s after %" PRIu64 " messages\n",
		    e->q.node, e->q.subgroup, strerror(-n),
		    spindle_strerror(spindle_error_code(&e->q)), e->seen);
	return any;
}

/* Tell a script that messages are under way, or wait for the subgroup to form. */
static void raise_flag(void)
{
	FILE *f;
	int i;

	for (i = 0; i < num_ends; i++)
		if (ends[i].sends && !ends[i].sent)
			return;
	f = fopen(opt.flag_file, "w");
	if (!f || fclose(f))
		die("%s: %s\n", opt.flag_file, strerror(errno));
	opt.flag_file = NULL;
}

static bool complete(const struct end *e)
{
	return e->seen == active_senders(&e->q) * opt.count &&
	       (!e->sends || e->sent == opt.count);
}

static void report_stall(void)
{
	int i;

	for (i = 0; i < num_ends; i++)
		if (!complete(&ends[i]))
			fprintf(stderr, "# node %u subgroup %u: sent %" PRIu64 " seen %" PRIu64
				" of %" PRIu64 " state %d\n", ends[i].q.node,
				ends[i].q.subgroup, ends[i].sent, ends[i].seen,
				active_senders(&ends[i].q) * opt.count,
				spindle_state(&ends[i].q));
	die("no progress for %d s\n", opt.wait);
}

static void run(void)
{
	struct pollfd *pfd = calloc(num_ends, sizeof(*pfd));
	int i, done;

	for (;;) {
		bool any = false;

		for (i = done = 0; i < num_ends; i++) {
			any |= send_some(&ends[i]);
			any |= read_some(&ends[i]);
			done += complete(&ends[i]);
		}
		if (opt.flag_file)
			raise_flag();
		if (done == num_ends)
			break;
		if (any)
			continue;
		for (i = 0; i < num_ends; i++) {
			pfd[i].fd = spindle_fd(&ends[i].q);
			pfd[i].events = POLLIN;
			if (ends[i].sends && ends[i].sent < opt.count)
				pfd[i].events |= POLLOUT;
		}
		if (!poll(pfd, num_ends, opt.wait * 1000))
			report_stall();
	}
	free(pfd);
}

static void report(void)
{
	int i, j;

	for (i = 0; i < num_ends; i++) {
		const struct end *e = &ends[i];

		printf("%snode %u subgroup %u seen %" PRIu64 " order %016" PRIx64 "\n",
		       opt.only_hash ? "" : "# ", e->q.node, e->q.subgroup, e->seen, e->hash);
		for (j = 0; j < i && !opt.unordered; j++)
			if (ends[j].q.subgroup == e->q.subgroup && ends[j].hash != e->hash)
				die("nodes %u and %u delivered in different orders\n",
				    ends[j].q.node, e->q.node);
	}
}

static int ids(const char *s, uint32_t *id)
{
	int n = parse_ids(s, id, MAX_IDS);

	if (n < 0)
		die("bad list '%s'\n", s);
	return n;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:g:s:c:l:S:w:f:p:CRuH")) != -1) {
		switch (c) {
		case 'n': opt.nodes = ids(optarg, opt.node); break;
		case 'g': opt.groups = ids(optarg, opt.group); break;
		case 's': opt.senders = optarg; break;
		case 'c': opt.count = strtoull(optarg, NULL, 10); break;
		case 'S': opt.seed = strtoull(optarg, NULL, 10); break;
		case 'w': opt.wait = atoi(optarg); break;
		case 'f': opt.flag_file = optarg; break;
		case 'p': opt.pause = atoi(optarg); break;
		case 'C': opt.copy = true; break;
		case 'R': opt.ahead = true; break;
		case 'u': opt.unordered = true; break;
		case 'H': opt.only_hash = true; break;
		case 'l':
			if (sscanf(optarg, "%u-%u", &opt.min, &opt.max) == 1)
				opt.max = opt.min;
			if (opt.min > opt.max)
				die("bad lengths '%s'\n", optarg);
			break;
		default:
			return 2;
		}
	}
	if (!opt.nodes || !opt.groups)
		die("give -n and -g\n");
	attach_all();
	usleep(1000 * opt.pause);
	run();
	report();
	for (c = 0; c < num_ends; c++)
		spindle_detach(&ends[c].q);
	free(ends);
	return 0;
}
