// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile-peer: a member that does not keep to the protocol.
 *
 *	hostile-peer -i ID -t ID [-c CLUSTER] [-k KEY-FILE] VIEW-WORDS... -- STEP...
 *
 * With "live" before the VIEW-WORDS the view is live, by rules without nodes or shards.
 * The program connects as node -i to the node -t of this kernel over user-space verbs,
 * and does the steps one after the other. VIEW-WORDS are those of "spindle-ctl view
 * set" from "vid" on, so that a test gives the same words to both. Digest, layouts and
 * seals come from the module's own core/.
 *
 * A step is NAME[,KEY[=VALUE]]... and prints one line:
 *
 *	dial		request a connection. Wrong on purpose: nodata short junk magic
 *			version cluster digest src=ID dst=ID anybody; flags=N inc=N
 *			retry=N rnr=N reads=N; bytes=N: a part of the hello;
 *			flags=64,table=ID: for reads of that table; depth=N: reads at a time;
 *			norecv: post no receives; tag=bad: a bit of it; heard=FILE: write the
 *			hello of the answer; from=N: by the address that ends so.
 *			"up", "rejected CODE", or what else came
 *	flood,n=N	N requests without a queue pair, keys as for dial; what
 *			became of them
 *	lure		be dialled, once, keys as for dial and proof= as for give;
 *			reject=CODE refuses; tag: with the tag of a request
 *	listen		accept requests from now on
 *	contact		be the contact of joiners, without a key, until=FILE exists: answer
 *			questions with parts of the card of the view, each part len=N bytes and
 *			ms=N late; endless: the card has no end; restless: each question for its
 *			first byte finds another view. Without until, up to the end of a
 *			whole card; rules=N: want rules of this name, too; other: want
 *			those of the card, with another timeout; beat: show life and want none.
 *			The number of answers
 *	half		request and say nothing more when the answer comes
 *	give		send our rights; len=N key=N shift=N zero=N in them, size=N bytes,
 *			n=N pages;
 *			proof=none proof=bad proof=other: one for something else
 *	take		wait for the node's rights, in which nothing else is: number and size
 *			of the chunks
 *	setup		give and take, correctly; keys as for give
 *			What dial and lure say, and the proof of give: keep=FILE writes it,
 *			again=FILE says what another attempt, or another process, has written
 *	write		off= len= of the row, end: off counts from its end; key= near=
 *			addr=: this key, the key so much further on, this address;
 *			foreign: a chunk with another one's key; imm=V, fill=V.
 *			Prints the completion's status
 *	read, add	the same, one-sided read and atomic; cells: the versions that came
 *	send		size=N bytes; inv=KEY: and invalidate
 *	block		sg=INDEX and sent= received= delivered= slots=, sealed, with a
 *			doorbell; seal=bad, quiet: without doorbell
 *	node		sleep=N lost=RANKS ready=VID, the same of the node block
 *	express		as block, with round= unit= len= of a message; says=N: another
 *			length; mix=bad: other bytes
 *	hdr		sg= slot= round= unit= len=; word=N: another slot word
 *	garbage		n=N random writes into the row, seed=N, some with immediate data
 *	imms		n=N immediate data without a byte, v=V or random
 *	await		sg= and sent= received= delivered= slots=: until the node's own
 *			columns, as it pushed them to us, are at least these
 *	beat		ms=N: signs of life for this time, in a live view, or until it ends;
 *			rules=N: that want rules of this name
 *	wish		node=ID inc=N beat=N rules=N: a node that wants to join by us; seal=bad
 *	state		vid= suspected= phase= digest= of membership, sealed; seal=bad
 *	rubbish		n=N random writes into the membership's part, seed=N; words: only
 *			behind its blocks; silent: without signs of life
 *	hi		act as a member of an RDMC group, by a connection that was dialled with
 *			flags=8 and set up: wait for the node's hello, and say ours; group=ID
 *			members=ID.ID alg=N block=N as they are; blind: do not wait; digest=N
 *			life=N yours=N rack=N to=N
 *	msg		a message: word=N arg=N a=N b=N c=N; to=N; n=N times, a grows by step=N;
 *			len=N bytes, reposted=N more=N flags=N in its head, imm=N
 *	grant		of memory here: o=OBJECT b=BLOCK addr=N key=N number=N
 *	hear		wait for a message, or n=N of them: word=N, ms=N; what it is
 *	blk		a block by the last grant heard: len=N addr=N off=N key=N near=N imm=N
 *			more=N; silent: without immediate data
 *	chatter		n=N of all that at random, seed=N; group=ID
 *	cells		seal our cells, which the node reads: v=N; bad: with wrong seals; ones: no
 *			bit is 0
 *	churn,ms=N	change words and versions of our cells at random for this time
 *	joined		wait until its engine uses the connection (where memory is polled)
 *	gone		wait until the node has disconnected
 *	mute		reset the queue pair: no answers and no messages after that
 *	hangup, exit	disconnect; end without a word
 *	mark=F until=F	create a file; wait for one
 *
 * Exit status: 0: all steps were done, with any result; 1: a step could not be done.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/spindle_table.h>

#include "hostile-peer.h"
#include "connection.h"
#include "proof.h"
#include "queues.h"
#include "rights.h"
#include "core/base/sst.h"

struct spindle_view view;
uint32_t my_id, their_id;
const char *cluster = "spindle";
struct spindle_layout out, in;
struct spindle_rules rules;
bool live;
uint64_t rng = 1;

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

uint64_t random64(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

const char *find(const char *step, const char *key)
{
	size_t n = strlen(key);
	const char *p = step;

	while ((p = strchr(p, ','))) {
		p++;
		if (!strncmp(p, key, n) && (p[n] == '=' || p[n] == ',' || !p[n]))
			return p + n + (p[n] == '=');
	}
	return NULL;
}

uint64_t num(const char *step, const char *key, uint64_t def)
{
	const char *p = find(step, key);

	return p ? strtoull(p, NULL, 0) : def;
}

uint64_t view_digest(void)
{
	struct spindle_lineage lineage = { { 0 }, 0 };

	if (!live)
		return spindle_view_digest(&view);
	/*
	 * A view with one member has a lineage that this process cannot know, so views here have
	 * several.
	 */
	spindle_lineage_of(&lineage, &view, &rules);
	return spindle_live_digest(&view, &rules, &lineage);
}

/* ---- steps of this process alone --------------------------------------- */

static void step_exit(const char *step)
{
	(void)step;
	fflush(stdout);
	_exit(0);
}

static void step_mark(const char *step)
{
	int fd = open(step + strcspn(step, "=") + 1, O_CREAT | O_WRONLY, 0600);

	if (fd < 0)
		die("%s: %s\n", step, strerror(errno));
	close(fd);
}

/* While this process waits, the node may write to us and finds receives. */
static void step_until(const char *step)
{
	const char *file = step + strcspn(step, "=") + 1;
	uint64_t end = now_ms() + 5 * LIMIT_S * 1000;
	enum ibv_wc_status status;

	while (access(file, F_OK)) {
		while (cq && poll_send(&status))
			;
		next_event(10, NULL, NULL);
		if (now_ms() > end)
			die("%s: it did not come\n", step);
	}
}

static const struct {
	const char *name;
	void (*fn)(const char *step);
} steps[] = {
	{ "dial", step_dial }, { "half", step_half }, { "flood", step_flood },
	{ "lure", step_lure }, { "listen", step_listen }, { "contact", step_contact },
	{ "give", step_give }, { "take", step_take },
	{ "setup", step_setup }, { "write", step_write }, { "read", step_read },
	{ "add", step_add }, { "send", step_send }, { "block", step_block },
	{ "express", step_express }, { "node", step_node }, { "hdr", step_hdr },
	{ "garbage", step_garbage }, { "imms", step_imms }, { "await", step_await },
	{ "joined", step_joined }, { "gone", step_gone },
	{ "beat", step_beat }, { "wish", step_wish }, { "state", step_state },
	{ "rubbish", step_rubbish }, { "hi", step_hi }, { "msg", step_msg },
	{ "grant", step_grant }, { "hear", step_hear }, { "blk", step_blk },
	{ "chatter", step_chatter }, { "cells", step_cells }, { "churn", step_churn },
	{ "mute", step_mute }, { "hangup", step_hangup }, { "exit", step_exit },
	{ "mark", step_mark }, { "until", step_until },
};

static void run(const char *step)
{
	size_t n = strcspn(step, ",="), i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (strlen(steps[i].name) != n || strncmp(step, steps[i].name, n))
			continue;
		steps[i].fn(step);
		return;
	}
	die("unknown step '%s'\n", step);
}

int main(int argc, char **argv)
{
	int c, first, me, they;

	while ((c = getopt(argc, argv, "+i:t:c:k:")) != -1) {
		switch (c) {
		case 'i': my_id = strtoul(optarg, NULL, 0); break;
		case 't': their_id = strtoul(optarg, NULL, 0); break;
		case 'c': cluster = optarg; break;
		case 'k': take_key(optarg); break;
		default: return 2;
		}
	}
	for (first = optind; first < argc && strcmp(argv[first], "--"); first++)
		;
	parse_view(argv + optind, first - optind);
	me = spindle_view_rank(&view, my_id);
	they = spindle_view_rank(&view, their_id);
	if ((me < 0 && !live) || they < 0)
		die("-i and -t name members of the view\n");
	setvbuf(stdout, NULL, _IOLBF, 0);

	if (live) {
		spindle_rules_row(&out, &rules, my_id, their_id);
		spindle_rules_row(&in, &rules, their_id, my_id);
	} else {
		spindle_layout_row(&out, &view, me, they);
		spindle_layout_row(&in, &view, they, me);
	}
	row = aligned_alloc(SPINDLE_PAGE, in.size + SPINDLE_MAX_TABLE_ROW);
	pages = aligned_alloc(SPINDLE_PAGE, 2 * MAX_PAGES * SPINDLE_PAGE);
	scratch = aligned_alloc(SPINDLE_PAGE, SCRATCH);
	chan = rdma_create_event_channel();
	if (!row || !pages || !scratch || !chan)
		die("no memory, or no /dev/infiniband/rdma_cm\n");
	memset(row, 0, in.size + SPINDLE_MAX_TABLE_ROW);
	memset(pages, 0, 2 * MAX_PAGES * SPINDLE_PAGE);

	while (++first < argc)
		run(argv[first]);
	return 0;
}
