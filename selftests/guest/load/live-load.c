// SPDX-License-Identifier: GPL-2.0-only
/*
 * live-load: a process of a node in a live view, that sends, reads, and keeps a log.
 *
 *	live-load -n NODE -g SUBGROUP -o LOG [-r PER-SECOND] [-l MAX] [-c COUNT]
 *		  [-R] [-C] [-z MICROSECONDS]
 *
 * The program sends messages with the node, its life, and a number, until SIGTERM or COUNT.
 * Then it waits for its own messages. Each line of the log is one event, in order:
 *
 *	a VID NODE,...		the program is attached, in this view of these members
 *	v VID NODE,...		a view begins
 *	m NODE LIFE N		a message was delivered
 *	e ERROR			the subgroup has ended for this node
 *	g MICROSECONDS VID	the longest time without a message, and the view of the next one
 *	s N			N messages were committed; the last line, unless it was killed
 *
 * live-check compares all logs. This program compares the bytes.
 *
 *	-r	the most messages per second; 0: as many as there is room for
 *	-R	only reads			-C	copies
 *	-z	sleeps before it releases its messages
 *
 * Exit status: 0: all own messages came back, or the subgroup has ended, or it only reads;
 * 1: a sentence says what is wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "selfcheck.h"

#define MAX_LEN	(1 << 20)

#define die(...) do { fprintf(stderr, "live-load: " __VA_ARGS__); exit(1); } while (0)

/* The beginning of a message. The rest of the bytes follows from it. */
struct head {
	uint64_t node;
	uint64_t life;
	uint64_t n;
};

static struct {
	uint32_t node, group;
	const char *log;
	uint64_t rate, count;
	uint32_t max;
	unsigned int nap;
	bool reads, copy;
} opt = { .rate = 2000, .count = UINT64_MAX, .max = 200 };

static struct spindle_queue q;
static FILE *out;
static volatile sig_atomic_t stopping;
static uint64_t life, sent, back;

/*
 * Silence: the time of the last message, the longest pause, and the view in which the pause ended.
 */
static uint64_t last_ns, silence_ns, silence_vid, vid;

static void on_term(int sig)
{
	(void)sig;
	stopping = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t key_of(const struct head *h)
{
	return mix(mix(h->node) ^ mix(h->life + 1) ^ h->n);
}

static uint32_t length_of(const struct head *h)
{
	return sizeof(*h) + mix(key_of(h)) % (opt.max - sizeof(*h) + 1);
}

static void fill(unsigned char *to, const struct head *h, uint32_t len)
{
	uint64_t key = key_of(h);
	uint32_t i;

	memcpy(to, h, sizeof(*h));
	for (i = sizeof(*h); i < len; i++)
		to[i] = mix(key + i / 8) >> (i % 8 * 8);
}

static bool same(const unsigned char *p, const struct head *h, uint32_t len)
{
	static unsigned char want[MAX_LEN];

	fill(want, h, len);
	return !memcmp(p, want, len);
}

/* ---- the log ------------------------------------------------------------ */

static void log_view(char what)
{
	struct spindle_view v;
	int err = spindle_view(&q, &v);
	uint32_t i;

	if (err)
		die("cannot see the view: %s\n", strerror(-err));
	vid = v.vid;
	fprintf(out, "%c %" PRIu64 " ", what, v.vid);
	for (i = 0; i < v.members; i++)
		fprintf(out, "%s%u", i ? "," : "", v.seat[i].node);
	fputc('\n', out);
}

static void log_silence(void)
{
	uint64_t now = now_ns();

	if (last_ns && now - last_ns > silence_ns) {
		silence_ns = now - last_ns;
		silence_vid = vid;
	}
	last_ns = now;
}

/* The last lines. */
static void log_end(void)
{
	fprintf(out, "g %" PRIu64 " %" PRIu64 "\n", silence_ns / 1000, silence_vid);
	fprintf(out, "s %" PRIu64 "\n", sent);
	if (fclose(out))
		die("cannot write the log\n");
}

static void take(const struct spindle_msg *m)
{
	uint32_t node = 0;
	struct head h;

	if (m->kind == SPINDLE_DLV_VIEW) {
		log_view('v');
		return;
	}
	if (m->len < sizeof(h))
		die("a message of %u bytes is too short\n", m->len);
	memcpy(&h, m->data, sizeof(h));
	if (spindle_sender_node(&q, m->sender, &node) || h.node != node)
		die("a message of node %" PRIu64 " comes from sender %u, which is node %u\n",
		    h.node, m->sender, node);
	if (m->len != length_of(&h) || !same(m->data, &h, m->len))
		die("message %" PRIu64 " of node %" PRIu64 " is not what was sent\n", h.n, h.node);
	log_silence();
	fprintf(out, "m %" PRIu64 " %" PRIx64 " %" PRIu64 "\n", h.node, h.life, h.n);
	if (h.node == opt.node && h.life == life)
		back++;
}

static void end(int err)
{
	fprintf(out, "e %d\n", spindle_error_code(&q));
	if (err != -EPIPE && err != -ENOTCONN)
		fprintf(out, "# %s\n", strerror(-err));
	log_end();
	exit(0);
}

/* ---- the work ------------------------------------------------------------ */

/* Returns true if there was a message. */
static bool read_some(void)
{
	struct spindle_msg msg[64];
	int n = spindle_next_batch(&q, msg, 64), i;

	if (n < 0)
		end(n);
	for (i = 0; i < n; i++)
		take(&msg[i]);
	/*
	 * Write the log at once, because a killed machine must leave the messages that it has seen.
	 */
	if (n && fflush(out))
		die("cannot write the log\n");
	if (n && opt.nap)
		usleep(opt.nap);
	spindle_release(&q);
	return n;
}

/* Returns true if something was sent. */
static bool send_some(uint64_t most)
{
	uint64_t before = sent;

	while (sent < most && sent < opt.count) {
		struct head h = { .node = opt.node, .life = life, .n = sent };
		uint32_t len = length_of(&h);
		struct spindle_slot slot;
		int err = spindle_reserve(&q, len, &slot);

		if (err == -EAGAIN)
			break;
		if (err == -EPIPE)
			return false;
		if (err)
			die("reserve: %s\n", strerror(-err));
		fill(slot.data, &h, len);
		err = spindle_commit(&q, &slot, len);
		if (err && err != -EPIPE)
			die("commit: %s\n", strerror(-err));
		sent++;
	}
	return sent != before;
}

/* Messages that may have been sent by now. */
static uint64_t allowed(uint64_t begin)
{
	return opt.rate ? (now_ns() - begin) / 1000 * opt.rate / 1000000 : UINT64_MAX;
}

static void run(void)
{
	uint64_t begin = now_ns();

	for (;;) {
		bool work = read_some();

		if (!opt.reads && !stopping)
			work |= send_some(allowed(begin));
		if (stopping || sent == opt.count) {
			if (opt.reads || back == sent)
				break;
		}
		if (!work)
			spindle_wait(&q, POLLIN, 1);
	}
	/* Messages under way still arrive. */
	for (begin = now_ns(); now_ns() - begin < 300000000;)
		if (!read_some())
			spindle_wait(&q, POLLIN, 20);
}

int main(int argc, char **argv)
{
	struct spindle_attach_opts o = { .event_fd = -1, .want = SPINDLE_WANT_VIEWS };
	int c, err;

	while ((c = getopt(argc, argv, "n:g:o:r:l:c:RCz:")) >= 0) {
		switch (c) {
		case 'n': opt.node = atoi(optarg); break;
		case 'g': opt.group = atoi(optarg); break;
		case 'o': opt.log = optarg; break;
		case 'r': opt.rate = strtoull(optarg, NULL, 10); break;
		case 'l': opt.max = atoi(optarg); break;
		case 'c': opt.count = strtoull(optarg, NULL, 10); break;
		case 'R': opt.reads = true; break;
		case 'C': opt.copy = true; break;
		case 'z': opt.nap = atoi(optarg); break;
		default: return 1;
		}
	}
	if (!opt.log || opt.max < sizeof(struct head) || opt.max > MAX_LEN)
		die("-o is missing, or -l makes no sense\n");
	signal(SIGTERM, on_term);
	out = fopen(opt.log, "w");
	if (!out)
		die("%s: %s\n", opt.log, strerror(errno));
	life = now_ns();
	o.node = opt.node;
	o.subgroup = opt.group;
	o.flags = SPINDLE_ATTACH_RECV | (opt.reads ? 0 : SPINDLE_ATTACH_SEND) |
		  (opt.copy ? SPINDLE_ATTACH_COPY : 0);
	err = spindle_attach(&q, &o);
	if (err)
		die("attach: %s\n", strerror(-err));
	log_view('a');
	run();
	log_end();
	return 0;
}
