// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handshake surface: a node, and peers with a wrong hello, or with a correct one and any writes
 * after it. The program hostile-peer plays peers with queue pairs. Its steps are random, and half
 * of these processes are killed early.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kmod/core/base/view.h"
#include "fuzz.h"
#include "peer.h"

#define MAX_WORDS 128

/* Arguments of a program. */
struct words {
	char *word[MAX_WORDS];
	unsigned int n;
};

static struct spindle_view view;

__attribute__((format(printf, 2, 3)))
static void add(struct words *w, const char *fmt, ...)
{
	va_list ap;

	if (w->n == MAX_WORDS - 1)
		return;
	va_start(ap, fmt);
	if (vasprintf(&w->word[w->n++], fmt, ap) < 0)
		exit(1);
	va_end(ap);
	w->word[w->n] = NULL;
}

static void drop(struct words *w)
{
	while (w->n)
		free(w->word[--w->n]);
}

static pid_t spawn(struct words *w, int out)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(out, 1);
	dup2(open("/dev/null", O_WRONLY), 2);
	execvp(w->word[0], w->word);
	_exit(127);
}

/* ---- the node and its views -------------------------------------------- */

static void member(uint32_t id)
{
	struct spindle_view_member *m = &view.member[view.num_members++];

	m->id = id;
	m->addr.family = 4;
	m->addr.ip[0] = 10;
	m->addr.ip[3] = 1;
	m->addr.port = PORT(id);
}

static void make_view(void)
{
	uint64_t vid = view.vid;
	unsigned int i, n = 1 + below(2);

	memset(&view, 0, sizeof(view));
	view.vid = vid + 1;
	if (!one_in(5))
		member(LOW_PEER);
	member(VICTIM);
	if (one_in(2) || view.num_members < 2)
		member(HIGH_PEER);
	for (i = 0; i < n; i++) {
		struct spindle_view_subgroup *sg = &view.subgroup[view.num_subgroups++];

		sg->id = 1 + i;
		sg->window = 1 << below(6);
		sg->ring = one_in(6) ? 4 << 20 : 4096 << below(3);
		sg->max_msg = 1 + below(2048);
		sg->members = (1ULL << view.num_members) - 1;
		sg->senders = sg->members;
	}
}

static void view_words(struct words *w)
{
	unsigned int i;

	add(w, "vid");
	add(w, "%" PRIu64, view.vid);
	for (i = 0; i < view.num_members; i++) {
		add(w, "member");
		add(w, "%u@10.0.0.1:%u", view.member[i].id, view.member[i].addr.port);
	}
	for (i = 0; i < view.num_subgroups; i++) {
		const struct spindle_view_subgroup *sg = &view.subgroup[i];

		add(w, "subgroup");
		add(w, "%u", sg->id);
		add(w, "window");
		add(w, "%u", sg->window);
		add(w, "max-msg");
		add(w, "%u", sg->max_msg);
		add(w, "ring");
		add(w, "%u", sg->ring);
		add(w, "hold");
		add(w, "0");
	}
}

/* Run spindle-ctl with these words. Returns whether it succeeded. */
static bool ctl(struct words *w)
{
	int status, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t pid = spawn(w, null);

	drop(w);
	close(null);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static void node_words(struct words *w, const char *what, const char *verb)
{
	add(w, "spindle-ctl");
	add(w, "%s", what);
	add(w, "%s", verb);
}

/* Set another view. The netlink surface may have removed the node. */
static void fresh_view(void)
{
	static const char * const modes[] = { "auto", "poll", "imm" };
	struct words w = { .n = 0 };
	int tries = 20;

	make_view();
	if (one_in(6)) {
		node_words(&w, "node", "del");
		add(&w, "id");
		add(&w, "%u", VICTIM);
		ctl(&w);
	}
	while (tries--) {
		node_words(&w, "view", "set");
		add(&w, "node");
		add(&w, "%u", VICTIM);
		view_words(&w);
		if (ctl(&w))
			return;
		node_words(&w, "node", "add");
		add(&w, "id");
		add(&w, "%u", VICTIM);
		add(&w, "addr");
		add(&w, "10.0.0.1");
		add(&w, "port");
		add(&w, "%u", PORT(VICTIM));
		add(&w, "visibility");
		add(&w, "%s", modes[below(3)]);
		/* The node exists and has a later view, so its count of views is lost. */
		if (!ctl(&w)) {
			node_words(&w, "node", "del");
			add(&w, "id");
			add(&w, "%u", VICTIM);
			ctl(&w);
		}
	}
	broken("node %u takes no view", VICTIM);
}

/* ---- steps of a peer --------------------------------------------------- */

/*
 * Keys of a hello, more often right than not. Returns whether a node may accept the hello, because
 * some unusual values concern only the peer.
 */
static bool hello_keys(char *to, size_t size)
{
	static const char * const wrong[] = { "nodata", "short", "junk", "magic", "version",
					      "cluster", "digest", "src=2", "dst=3" };
	static const char * const unusual[] = { "norecv", "retry=7", "rnr=0", "reads=1",
						"flags=249" };
	int n = snprintf(to, size, ",flags=%u", below(2));
	bool bad = one_in(4);

	if (bad)
		snprintf(to + n, size - n, ",%s", wrong[below(ARRAY_SIZE(wrong))]);
	else if (one_in(4))
		snprintf(to + n, size - n, ",%s", unusual[below(ARRAY_SIZE(unusual))]);
	return !bad;
}

static void setup_step(struct words *w)
{
	switch (below(8)) {
	case 0:
		add(w, "give,key=%" PRIu64, odd() & 0xffffffff);
		break;
	case 1:
		add(w, "give,len=%" PRIu64, odd() & 0xffffffff);
		break;
	case 2:
		add(w, "give,size=%u,n=%u", one_in(2) ? 1 + below(4096) : 64 * below(65),
		    below(4));
		break;
	default:
		add(w, "setup");
		break;
	}
}

static uint64_t small(void)
{
	return one_in(4) ? odd() : below(12);
}

static void work_step(struct words *w)
{
	uint32_t sg = below(view.num_subgroups);

	switch (below(14)) {
	case 0:
		add(w, "write,off=%" PRIu64 ",len=%u", odd() & 0xffffff, 1 + below(4096));
		break;
	case 1:
		add(w, "write,end,off=%d,len=%u", -(int)below(64), 1 + below(128));
		break;
	case 2:
		add(w, "write,near=%u,len=8", below(512));
		break;
	case 3:
		add(w, one_in(2) ? "read,off=0" : "add,off=0");
		break;
	case 4:
		add(w, "send,size=%u", one_in(2) ? 0 : 1 + below(5000));
		break;
	case 5:
		add(w, "send,inv=%" PRIu64, odd() & 0xffffffff);
		break;
	case 6:
	case 7:
		add(w, "block,sg=%u,sent=%" PRIu64 ",received=%" PRIu64 ",delivered=%" PRIu64
		    ",slots=%" PRIu64 "%s%s", sg, small(), small(), small(), small(),
		    one_in(8) ? ",seal=bad" : "", one_in(4) ? ",quiet" : "");
		break;
	case 8:
		add(w, "block,sg=%u,sent=%u", sg, 1 + below(4));
		break;
	case 9:
		add(w, "node,sleep=%" PRIu64 ",lost=%" PRIu64, small(),
		    one_in(4) ? odd() : 0);
		break;
	case 10:
		add(w, "hdr,sg=%u,slot=%" PRIu64 ",round=%" PRIu64 ",unit=%" PRIu64 ",len=%"
		    PRIu64, sg, small(), small(), odd(), one_in(2) ? odd() : below(2048));
		break;
	case 11:
		/* A correct message. */
		add(w, "hdr,sg=%u,slot=0,round=0,unit=0,len=1", sg);
		add(w, "block,sg=%u,sent=1,slots=1", sg);
		break;
	case 12:
		add(w, "garbage,n=%u,seed=%" PRIu64, 1 + below(60), rnd());
		break;
	case 13:
		add(w, one_in(2) ? "imms,n=%u" : "imms,n=%u,v=0", 1 + below(300));
		break;
	}
}

/* Returns whether the peer may be accepted. */
static bool steps(struct words *w, bool dials)
{
	unsigned int i, n = 1 + below(10);
	char keys[64];
	bool fine = hello_keys(keys, sizeof(keys));

	add(w, "%s%s", !dials ? "lure" : one_in(8) ? "half" : "dial", keys);
	if (!dials && one_in(4))
		add(w, "exit");
	setup_step(w);
	for (i = 0; i < n; i++)
		work_step(w);
	switch (below(4)) {
	case 0:
		add(w, "mute");
		break;
	case 1:
		add(w, "hangup");
		break;
	case 2:
		add(w, "gone,ms=%u", below(2000));
		break;
	}
	return fine;
}

/* ---- outcomes ----------------------------------------------------------- */

static void take_line(const char *line, bool dials, bool fine)
{
	const char *what = strchr(line, ':');
	int code = 0;

	if (!what)
		return;
	what += 2;
	if (!strncmp(line, "dial:", 5) || !strncmp(line, "lure:", 5) ||
	    !strncmp(line, "half:", 5)) {
		if (strcmp(what, "up") && strcmp(what, "answered") &&
		    sscanf(what, "rejected %d", &code) != 1)
			code = NO_ANSWER;
		count(dials ? OP_DIAL : OP_LURE, code);
		if (dials && !fine && !strcmp(what, "up"))
			broken("node %u accepted a peer whose hello is wrong", VICTIM);
	} else if (!strncmp(line, "chatter:", 8)) {
		count(OP_CHATTER, strcmp(what, "success") ? 1 : 0);
	} else if (!strncmp(line, "setup:", 6)) {
		count(OP_RIGHTS, strcmp(what, "up") ? 1 : 0);
	} else {
		count(OP_ONE_SIDED, strncmp(what, "success", 7) && strncmp(what, "yes", 3));
	}
}

static void take_text(char *text, bool dials, bool fine)
{
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		take_line(line, dials, fine);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

/* Let a peer run for at most @ms milliseconds. */
static void run_peer(struct words *w, bool dials, bool fine, unsigned int ms)
{
	uint64_t end = now_ms() + ms;
	char text[8192];
	size_t have = 0;
	int out[2], status;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC)) {
		broken("no pipe");
		return;
	}
	pid = spawn(w, out[1]);
	close(out[1]);
	for (;;) {
		struct pollfd p = { .fd = out[0], .events = POLLIN };
		uint64_t now = now_ms();
		ssize_t n;

		if (now >= end || have == sizeof(text) - 1 || poll(&p, 1, end - now) != 1)
			break;
		n = read(out[0], text + have, sizeof(text) - 1 - have);
		if (n <= 0)
			break;
		have += n;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(out[0]);
	text[have] = '\0';
	take_text(text, dials, fine);
}

static bool is_member(uint32_t id)
{
	return spindle_view_rank(&view, id) >= 0;
}

/* A member of a group for large objects says random things. */
static void one_talker(void)
{
	static uint64_t group = 1000;
	bool root = one_in(2);
	struct words w = { .n = 0 };
	int status, tries = 4;
	pid_t pid;

	group++;
	pid = rdmc_partner(VICTIM, LOW_PEER, root, group);
	/* At first the node does not know the group. */
	usleep(50000);
	while (tries--) {
		add(&w, "hostile-peer");
		add(&w, "-i");
		add(&w, "%u", LOW_PEER);
		add(&w, "-t");
		add(&w, "%u", VICTIM);
		view_words(&w);
		add(&w, "--");
		add(&w, "dial,flags=8");
		add(&w, "setup");
		add(&w, "hi,group=%" PRIu64 ",members=%u.%u", group,
		    root ? VICTIM : LOW_PEER, root ? LOW_PEER : VICTIM);
		add(&w, "chatter,n=%u,seed=%" PRIu64 ",group=%" PRIu64, 20 + below(300), rnd(),
		    group);
		if (one_in(2))
			add(&w, one_in(2) ? "hangup" : "gone,ms=200");
		run_peer(&w, true, true, one_in(6) ? 100 + below(600) : 5000);
		drop(&w);
		if (waitpid(pid, &status, WNOHANG) == pid)
			return;
		if (one_in(8))
			break;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void one_peer(void)
{
	bool dials = is_member(LOW_PEER) && (!is_member(HIGH_PEER) || one_in(2));
	struct words w = { .n = 0 };
	bool fine;

	add(&w, "hostile-peer");
	add(&w, "-i");
	add(&w, "%u", dials ? LOW_PEER : HIGH_PEER);
	add(&w, "-t");
	add(&w, "%u", VICTIM);
	view_words(&w);
	add(&w, "--");
	fine = steps(&w, dials);
	/* Most peers finish sooner. Killing a peer also ends a connection. */
	run_peer(&w, dials, fine, one_in(3) ? 50 + below(600) : 3000);
	drop(&w);
}

/* Strangers also ask nodes whose connections are all made. */
static void one_hello(void)
{
	bool at_home = one_in(4), right = one_in(4);
	uint32_t to = at_home ? 1 + below(BYSTANDERS) : VICTIM;
	int outcome = hello_dial(at_home ? 1 + below(BYSTANDERS) : LOW_PEER, to,
				 spindle_view_digest(&view), right);

	count(OP_HELLO, outcome);
	if (at_home && !outcome)
		broken("node %u took a stranger for a member", to);
}

void fuzz_handshake(unsigned int peers)
{
	while (peers--) {
		unsigned int hellos = below(5);

		fresh_view();
		while (hellos--)
			one_hello();
		if (is_member(LOW_PEER) && one_in(3))
			one_talker();
		else
			one_peer();
	}
}
