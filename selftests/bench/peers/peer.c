// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members of a group that send and receive. See peer.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peer-board.h"
#include "common/clock.h"

/* Longest poll(), because the progress of other members shows only in memory. */
#define NAP_NS		20000000.0
/* Time between two attempts, where poll() does not tell of room. */
#define RETRY_NS	1000000.0
/* The process does not sleep for a message that is due so soon, as in spindle-perf. */
#define SPIN_NS		50000.0
/* Time from the agreement on a start until the start. */
#define START_NS	2000000.0

/**
 * peer_say() - say what is wrong
 * @peer: member
 * @fmt: as printf
 *
 * Return: -EIO
 */
int peer_say(const struct peer *peer, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: member %u: ", peer->link->name, peer->me + 1);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return -EIO;
}

/* When a message is due. Not all members send at the same instant, as with spindle-perf. */
static uint64_t due(const struct peer *p, uint64_t number)
{
	double phase = (double)p->me / p->conf->members;

	return p->start + perf_ticks((phase + number) * 1e9 / p->conf->rate);
}

/**
 * peer_fill() - make the next message
 * @peer: member that sends
 * @nth: number of messages before it that are not sent yet
 *
 * Only the head changes. The rest of the message keeps its bytes.
 *
 * Return: the message, valid until PEER_BATCH others have been filled
 */
void *peer_fill(struct peer *peer, unsigned int nth)
{
	void *at = peer->buf + nth * peer->conf->size;
	struct peer_head head = {
		.member = peer->me,
		.rep = peer->rep,
		.number = peer->sent + nth,
	};

	head.time = peer->conf->rate > 0 ? due(peer, head.number) : perf_now();
	memcpy(at, &head, sizeof(head));
	return at;
}

/**
 * peer_take() - check a delivered message
 * @peer: member
 * @msg: message
 * @len: its length
 *
 * The message has to be the next one of its sender.
 */
void peer_take(struct peer *peer, const void *msg, size_t len)
{
	const struct peer_conf *conf = peer->conf;
	struct peer_head head;
	uint64_t *t;

	if (peer->failed)
		return;
	if (len != conf->size) {
		peer->failed = true;
		peer_say(peer, "a message of %zu bytes came", len);
		return;
	}
	memcpy(&head, msg, sizeof(head));
	if (head.member >= conf->members || head.rep != peer->rep ||
	    head.number != peer->got[head.member]) {
		peer->failed = true;
		peer_say(peer, "message %llu of member %u in %u came for %llu in %u",
			 (unsigned long long)head.number, head.member + 1, head.rep,
			 (unsigned long long)peer->got[head.member % PEER_MAX], peer->rep);
		return;
	}
	if (conf->rate > 0 || head.member == peer->me)
		peer->now = perf_now();
	peer->got[head.member]++;
	if (peer->now >= peer->from && peer->now < peer->stop)
		peer->counted++;
	if (head.member == peer->me && head.time >= peer->from)
		perf_hist_add(&peer->board->part[peer->me].own,
			      perf_since(peer->now, head.time));
	t = peer_board_times(peer->board, conf, head.member, head.number);
	if (!t)
		return;
	if (head.member == peer->me)
		t[0] = head.time;
	t[1 + peer->me] = peer->now;
}

/* The number of messages that may be sent now. */
static unsigned int may_send(const struct peer *p)
{
	unsigned int n = 0;

	if (p->now >= p->stop)
		return 0;
	if (!(p->conf->rate > 0))
		return p->conf->batch;
	while (n < p->conf->batch && due(p, p->sent + n) <= p->now &&
	       due(p, p->sent + n) < p->stop)
		n++;
	return n;
}

/* Have all messages arrived that were sent? */
static bool all_came(const struct peer *p)
{
	unsigned int i;

	if (p->board->ended < p->conf->members)
		return false;
	for (i = 0; i < p->conf->members; i++)
		if (p->got[i] != p->board->part[i].sent)
			return false;
	return true;
}

/* There is nothing to do: sleep until there is. */
static void rest(const struct peer *p, bool over)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	struct timespec ts = { 0, 0 };
	double ns = NAP_NS, left;

	if (p->blocked && p->link->tells_room)
		pfd.events |= POLLOUT;
	else if (p->blocked)
		ns = RETRY_NS;
	if (!over) {
		uint64_t until = p->conf->rate > 0 && !p->blocked ? due(p, p->sent) : p->stop;

		left = until > p->now ? perf_ns(until - p->now) : 0;
		if (left < SPIN_NS)
			return;
		if (left < ns)
			ns = left;
	}
	ts.tv_nsec = ns;
	ppoll(&pfd, 1, &ts, NULL);
}

static int stalled(const struct peer *p)
{
	unsigned int i;

	for (i = 0; i < p->conf->members; i++)
		peer_say(p, "of member %u %llu messages came, %llu were sent", i + 1,
			 (unsigned long long)p->got[i],
			 (unsigned long long)p->board->part[i].sent);
	return peer_say(p, "nothing has moved for %u s", p->conf->wait);
}

/* One turn: send, receive. Return: the number of both, or -errno */
static int step(struct peer *p, bool over)
{
	unsigned int most = over ? 0 : may_send(p);
	int sent = 0, got;

	p->blocked = false;
	if (most) {
		sent = p->link->send(p, most);
		if (sent < 0)
			return sent;
		p->sent += sent;
	}
	got = p->link->receive(p, p->conf->batch);
	if (got < 0)
		return got;
	return p->failed ? -EIO : sent + got;
}

static int drive(struct peer *p)
{
	struct peer_board *b = p->board;
	uint64_t idle, limit = perf_ticks(p->conf->wait * 1e9);
	bool over = false;
	int moved;

	p->now = perf_now();
	idle = p->now;
	while (!over || !all_came(p)) {
		moved = step(p, over);
		if (moved < 0)
			return moved;
		p->now = perf_now();
		if (!over && p->now >= p->stop) {
			over = true;
			b->part[p->me].sent = p->sent;
			b->ended++;
		}
		if (p->present < p->conf->members)
			return peer_say(p, "a member has left");
		if (moved) {
			idle = p->now;
			continue;
		}
		if (perf_since(p->now, idle) > limit)
			return stalled(p);
		rest(p, over);
		/* Messages that became due during the sleep are sent at once. */
		p->now = perf_now();
	}
	return 0;
}

/* Packets that the network device of a member has sent. */
static uint64_t packets(const struct peer *p)
{
	char line[512], name[64], dev[64];
	unsigned long long out = 0;
	FILE *f = p->conf->dev ? fopen("/proc/self/net/dev", "r") : NULL;

	if (!f)
		return 0;
	snprintf(dev, sizeof(dev), "%s%u", p->conf->dev, p->me + 1);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %63[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu", name,
			   &out) == 2 && !strcmp(name, dev))
			break;
		out = 0;
	}
	fclose(f);
	return out;
}

static int run(struct peer *p)
{
	double warmup = p->conf->seconds * p->conf->warmup / 100;
	struct peer_part *part = &p->board->part[p->me];
	uint64_t before;
	unsigned int i;
	int rc;

	memset(p->got, 0, sizeof(p->got));
	p->sent = 0;
	p->counted = 0;
	part->delivered = 0;
	perf_hist_clear(&part->own);
	before = packets(p);
	if (!p->me) {
		p->board->ended = 0;
		p->board->start = perf_now() + perf_ticks(START_NS);
	}
	pthread_barrier_wait(&p->board->gate);
	p->start = p->board->start;
	p->from = p->start + perf_ticks(warmup * 1e9);
	p->stop = p->from + perf_ticks(p->conf->seconds * 1e9);
	p->board->from = p->from;
	while (perf_now() < p->start)
		sched_yield();
	rc = drive(p);
	if (rc)
		return rc;
	part->counted = p->counted;
	part->packets = packets(p) - before;
	for (i = 0; i < p->conf->members; i++)
		part->delivered += p->got[i];
	/* No member goes on while others still read the board. */
	pthread_barrier_wait(&p->board->gate);
	return 0;
}

static int enter(const struct peer *p)
{
	char path[PATH_MAX];
	int fd, rc;

	if (!p->conf->netns)
		return 0;
	snprintf(path, sizeof(path), "/run/netns/%s%u", p->conf->netns, p->me + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return peer_say(p, "%s: %s", path, strerror(errno));
	rc = setns(fd, CLONE_NEWNET);
	close(fd);
	return rc ? peer_say(p, "%s: %s", path, strerror(errno)) : 0;
}

static int join(struct peer *p)
{
	uint64_t begin = perf_now();
	int rc = enter(p);

	if (!rc)
		rc = p->link->join(p);
	while (!rc && p->present < p->conf->members) {
		p->now = perf_now();
		if (perf_since(p->now, begin) > perf_ticks(p->conf->wait * 1e9))
			return peer_say(p, "only %u members are there", p->present);
		rc = p->link->receive(p, 1);
		if (rc >= 0)
			rest(p, true);
		rc = rc < 0 ? rc : 0;
	}
	/* The members that have joined see this one, too. */
	if (!rc)
		pthread_barrier_wait(&p->board->gate);
	return rc;
}

/* The life of a member. The first one makes the figures. */
static int member(const struct peer_conf *conf, struct peer_board *board,
		  const struct peer_link *link, unsigned int me)
{
	struct peer_result *result = calloc(conf->reps, sizeof(*result));
	struct peer p = { .conf = conf, .board = board, .link = link, .me = me, .fd = -1 };
	int rc;

	p.buf = calloc(conf->batch, conf->size);
	if (!result || !p.buf)
		return peer_say(&p, "no memory");
	rc = join(&p);
	for (; !rc && p.rep < conf->reps; p.rep++) {
		rc = run(&p);
		if (!rc && !me)
			peer_board_figures(board, conf, &result[p.rep]);
		/* A member that goes on would clear the memory that the first one reads. */
		if (!rc)
			pthread_barrier_wait(&board->gate);
	}
	if (!rc && !me && peer_board_csv(link->name, conf, result))
		rc = peer_say(&p, "cannot write %s", conf->csv ?: "the figures");
	/* A member that leaves early would be missed by the others. */
	if (!rc)
		pthread_barrier_wait(&board->gate);
	return rc;
}

/* If one fails, the others would wait for it. */
static int wait_for_all(pid_t *pid, unsigned int n)
{
	unsigned int i, left = n;
	int status, rc = 0;
	pid_t gone;

	while (left) {
		gone = wait(&status);
		if (gone < 0)
			break;
		left--;
		for (i = 0; i < n; i++)
			if (pid[i] == gone)
				pid[i] = 0;
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		rc = 1;
		for (i = 0; i < n; i++)
			if (pid[i])
				kill(pid[i], SIGKILL);
	}
	return rc;
}

static int usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [-n MEMBERS] [-S BYTES] [-t SECONDS] [-r REPETITIONS] [-W WARMUP]\n"
		"       [-R RATE] [-b BATCH] [-w WAIT] [-N NETNS] [-i DEVICE] [-C FILE]\n",
		name);
	return 2;
}

static bool parse(int argc, char **argv, struct peer_conf *conf)
{
	int c;

	while ((c = getopt(argc, argv, "n:S:t:r:W:R:b:w:N:i:C:")) != -1) {
		switch (c) {
		case 'n': conf->members = atoi(optarg); break;
		case 'S': conf->size = atol(optarg); break;
		case 't': conf->seconds = atof(optarg); break;
		case 'r': conf->reps = atoi(optarg); break;
		case 'W': conf->warmup = atof(optarg); break;
		case 'R': conf->rate = atof(optarg); break;
		case 'b': conf->batch = atoi(optarg); break;
		case 'w': conf->wait = atoi(optarg); break;
		case 'N': conf->netns = optarg; break;
		case 'i': conf->dev = optarg; break;
		case 'C': conf->csv = optarg; break;
		default: return false;
		}
	}
	return optind == argc && conf->members > 0 && conf->members <= PEER_MAX &&
	       conf->size >= sizeof(struct peer_head) && conf->size <= PEER_SIZE_MAX &&
	       conf->seconds > 0 && conf->reps > 0 && conf->reps <= 100 &&
	       conf->warmup >= 0 && conf->warmup <= 100 && conf->rate >= 0 &&
	       conf->batch > 0 && conf->batch <= PEER_BATCH && conf->wait > 0;
}

/**
 * peer_main() - a client
 * @argc: of main()
 * @argv: of main()
 * @link: the system of the client
 *
 * Return: status of the program: 1 if something failed or was wrong, 2 for wrong usage
 */
int peer_main(int argc, char **argv, const struct peer_link *link)
{
	struct peer_conf conf = {
		.members = 2,
		.reps = 3,
		.batch = PEER_BATCH,
		.wait = 20,
		.size = 64,
		.seconds = 1,
		.warmup = 10,
	};
	struct peer_board *board;
	pid_t pid[PEER_MAX] = { 0 };
	unsigned int i;

	if (!parse(argc, argv, &conf))
		return usage(argv[0]);
	perf_clock_init();
	board = peer_board_new(&conf);
	if (!board) {
		fprintf(stderr, "%s: no memory\n", link->name);
		return 1;
	}
	fflush(NULL);
	for (i = 0; i < conf.members; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			exit(member(&conf, board, link, i) ? 1 : 0);
		}
		if (pid[i] > 0)
			continue;
		fprintf(stderr, "%s: fork: %s\n", link->name, strerror(errno));
		while (i--)
			kill(pid[i], SIGKILL);
		return 1;
	}
	return wait_for_all(pid, conf.members);
}
