// SPDX-License-Identifier: GPL-2.0-only
/*
 * durable-load: a process that sends to a durable subgroup, and notes what was acknowledged.
 *
 *	durable-load -n NODE -g SUBGROUP -l LIFE -o FILE [-p MICROSECONDS] [-w] [-G]
 *
 * The text of a message is "NODE LIFE N ", then letters that follow from these numbers. The program
 * sends until it is killed, or until the subgroup ends for the node. Each line of FILE says
 * what was acknowledged, and is written behind that:
 *
 *	r LSN NODE LIFE N	this message was read at the position, and is durable
 *	w NODE LIFE N		spindle_send_durable() has returned 0
 *
 * durable-check looks for all of them in the logs.
 *
 *	-p	the pause behind each message (0)
 *	-w	sends by spindle_send_durable(), one after the other; otherwise up to AHEAD messages
 *		of its own are not durable yet
 *	-G	the subgroup delivers what is durable: a message that is read has to be
 *
 * Exit status: 0: the subgroup has ended; 1: a sentence says what is wrong.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "durable.h"

#define AHEAD		32
#define BATCH		32
#define PENDING		4096
#define WAIT_MS		20

#define die(...) do { fprintf(stderr, "durable-load: " __VA_ARGS__); exit(1); } while (0)

static struct {
	uint32_t node, group, pause_us;
	uint64_t life;
	bool waits, gated;
} opt;

/* Messages that were read, in order. The reader alone has them. */
static struct {
	struct {
		uint64_t lsn;
		struct durable_text text;
	} at[PENDING];
	uint64_t first, next;
} pending;

static struct spindle_queue reader, sender;
static FILE *out;
/* How many messages of its own the reader has noted. The sender reads it. */
static atomic_uint_least64_t noted;

/* Both threads write lines. A line is in the file when the call returns. */
static void note(const char *line)
{
	if (fputs(line, out) == EOF || fflush(out))
		die("cannot write to the file\n");
}

static bool has_ended(int err)
{
	return err == -EPIPE || err == -ENOTCONN;
}

static void keep(const struct spindle_msg *m)
{
	if (m->kind == SPINDLE_DLV_VIEW)
		return;
	if (pending.next - pending.first == PENDING)
		die("%u messages are not durable\n", PENDING);
	pending.at[pending.next % PENDING].lsn = m->lsn;
	if (!durable_parse(m->data, m->len, &pending.at[pending.next % PENDING].text))
		die("the message at position %" PRIu64 " is not what was sent\n", m->lsn);
	pending.next++;
	if (opt.gated && spindle_durable(&reader) <= m->lsn)
		die("position %" PRIu64 " was delivered and is not durable\n", m->lsn);
}

/* Returns false if the subgroup has ended. */
static bool read_some(void)
{
	struct spindle_msg msg[BATCH];
	int n = spindle_next_batch(&reader, msg, BATCH), i;

	if (has_ended(n))
		return false;
	if (n < 0)
		die("cannot read: %s\n", strerror(-n));
	for (i = 0; i < n; i++)
		keep(&msg[i]);
	spindle_release(&reader);
	return true;
}

static void note_durable(void)
{
	char line[128];

	while (pending.first != pending.next) {
		const struct durable_text *t = &pending.at[pending.first % PENDING].text;
		uint64_t lsn = pending.at[pending.first % PENDING].lsn;

		if (spindle_durable(&reader) <= lsn)
			return;
		snprintf(line, sizeof(line), "r %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu64 "\n",
			 lsn, t->node, t->life, t->n);
		note(line);
		pending.first++;
		if (t->node == opt.node && t->life == opt.life)
			atomic_fetch_add(&noted, 1);
	}
}

static void read_all(void)
{
	while (read_some()) {
		note_durable();
		if (pending.first == pending.next)
			spindle_wait(&reader, POLLIN, WAIT_MS);
		else
			spindle_wait_durable(&reader, pending.at[pending.first % PENDING].lsn,
					     WAIT_MS);
	}
}

/* Send a message and wait for it. Returns false if the subgroup has ended. */
static bool send_durable(uint64_t n, const char *text, uint32_t len)
{
	int err = spindle_send_durable(&sender, text, len, -1);
	char line[128];

	if (has_ended(err))
		return false;
	if (err)
		die("cannot send: %s\n", strerror(-err));
	snprintf(line, sizeof(line), "w %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", opt.node, opt.life,
		 n);
	note(line);
	return true;
}

static bool send_ahead(uint64_t n, const char *text, uint32_t len)
{
	int err;

	while (n - atomic_load(&noted) >= AHEAD)
		if (spindle_wait_durable(&sender, spindle_durable(&sender), WAIT_MS) == -ENOTCONN)
			return false;
	err = spindle_send_wait(&sender, text, len, -1);
	if (err && !has_ended(err))
		die("cannot send: %s\n", strerror(-err));
	return !err;
}

static void *send_all(void *arg)
{
	char text[DURABLE_MAX];
	uint64_t n;

	for (n = 0;; n++) {
		const struct durable_text t = { .node = opt.node, .life = opt.life, .n = n };
		uint32_t len = durable_print(&t, text);

		if (!(opt.waits ? send_durable : send_ahead)(n, text, len))
			return arg;
		if (opt.pause_us)
			usleep(opt.pause_us);
	}
}

int main(int argc, char **argv)
{
	const char *file = NULL;
	pthread_t thread;
	int c;

	while ((c = getopt(argc, argv, "n:g:l:o:p:wG")) >= 0) {
		switch (c) {
		case 'n': opt.node = atoi(optarg); break;
		case 'g': opt.group = atoi(optarg); break;
		case 'l': opt.life = strtoull(optarg, NULL, 10); break;
		case 'o': file = optarg; break;
		case 'p': opt.pause_us = atoi(optarg); break;
		case 'w': opt.waits = true; break;
		case 'G': opt.gated = true; break;
		default: return 1;
		}
	}
	if (!file)
		die("-o is missing\n");
	out = fopen(file, "w");
	if (!out)
		die("%s: %s\n", file, strerror(errno));
	attach_or_exit(&reader, opt.node, opt.group, SPINDLE_ATTACH_RECV, NULL);
	attach_or_exit(&sender, opt.node, opt.group, SPINDLE_ATTACH_SEND, NULL);
	if (pthread_create(&thread, NULL, send_all, NULL))
		die("no thread\n");
	read_all();
	pthread_join(thread, NULL);
	return fclose(out) ? 1 : 0;
}
