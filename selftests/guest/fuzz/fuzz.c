// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz: random requests on the surfaces that the module has, all from one seed.
 *
 *	fuzz [-s SEED] [-n REQUESTS] [-l LIVES] [-p PEERS] [-o LIVES]	one round
 *	fuzz -k							the seeds of the corpus
 *	fuzz -q							wait until all is quiet
 *
 * Netlink, the device with its pages, the handshake, and the device for large objects (-o) have one
 * process each, so that their steps interleave. The actions of each process follow from the seed
 * alone. The program needs the world that scripts/module/module-fuzz.sh makes, see fuzz.h. The
 * script checks whether bystanders were harmed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <linux/spindle.h>

#include "fuzz.h"
#include "nl.h"
#include "tap.h"

#define ROUND_S	240

uint64_t rng;

/* Seeds to try again. They are in a file of their own, because scripts read them, too. */
static const uint64_t corpus[] = {
#include "corpus"
};

/* Edge values come more often than others. */
uint64_t odd(void)
{
	static const uint64_t edge[] = { 0, 1, 2, 3, 63, 64, 65, 255, 256, 4095, 4096, 4097,
					 65535, 65536, 65537, 1 << 20, (1 << 20) + 1, 1 << 30,
					 INT32_MAX, 1ULL << 31, UINT32_MAX, 1ULL << 32,
					 1ULL << 40, 1ULL << 56, INT64_MAX, 1ULL << 63,
					 UINT64_MAX };

	switch (below(4)) {
	case 0:
		return edge[below(ARRAY_SIZE(edge))];
	case 1:
		return (1ULL << below(64)) + below(3) - 1;
	case 2:
		return below(16);
	default:
		return rnd() >> below(64);
	}
}

struct surface {
	const char *name;
	void (*fn)(unsigned int amount);
	unsigned int amount;
	pid_t pid;
};

static void start(struct surface *s, uint64_t seed, unsigned int number)
{
	fflush(stdout);
	s->pid = fork();
	if (s->pid < 0)
		die("fork: %s", strerror(errno));
	if (s->pid)
		return;
	rng = mix(seed + number);
	/* The group dies together with this process. */
	setpgid(0, 0);
	s->fn(s->amount);
	exit(0);
}

/* All surfaces must end within ROUND_S. A process that takes longer hangs in a call. */
static void finish(struct surface *s, int n)
{
	int left = n, i, status;
	time_t end = time(NULL) + ROUND_S;

	while (left) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (!pid && time(NULL) < end) {
			usleep(20000);
			continue;
		}
		for (i = 0; i < n && s[i].pid != pid; i++)
			;
		if (pid > 0 && i < n) {
			ok(WIFEXITED(status) && !WEXITSTATUS(status), "%s: to the end",
			   s[i].name);
			s[i].pid = 0;
			left--;
		}
		if (pid > 0)
			continue;
		for (i = 0; i < n; i++) {
			if (!s[i].pid)
				continue;
			ok(false, "%s: to the end", s[i].name);
			kill(-s[i].pid, SIGKILL);
		}
		return;
	}
}

/* ---- quiet ------------------------------------------------------------- */

/* The messages that nodes 1 to 3 have delivered in a subgroup, or -1 if they do not agree yet. */
static int64_t delivered(struct nl *nl, uint32_t id)
{
	struct nl_subgroup sg;
	uint64_t all = 0;
	uint32_t n;

	for (n = 1; n <= BYSTANDERS; n++) {
		int err = nl_subgroup(nl, n, id, &sg);

		if (err)
			die("subgroup %u of node %u: %s", id, n, strerror(-err));
		if (sg.state != SPINDLE_STATE_ACTIVE)
			die("subgroup %u of node %u is in state %u", id, n, sg.state);
		if (n > 1 && sg.stat[SPINDLE_SUBGROUP_S_DELIVERED] != all)
			return -1;
		all = sg.stat[SPINDLE_SUBGROUP_S_DELIVERED];
		if (sg.readers || sg.sender)
			return -1;
	}
	return all;
}

/*
 * Wait until no process is attached, and the messages of dead processes have arrived, for one
 * second.
 */
static int quiet(void)
{
	int64_t now, was = -1;
	int tries, same = 0;
	struct nl nl;
	uint32_t id;

	if (nl_open(&nl))
		die("the netlink family cannot be opened");
	for (id = 1; id <= 3; id++) {
		for (tries = same = 0; tries < 600 && same < 10; tries++) {
			now = delivered(&nl, id);
			same = now >= 0 && now == was ? same + 1 : 0;
			was = now;
			usleep(100000);
		}
		ok(same >= 10, "subgroup %u comes to rest", id);
	}
	return tap_bad != 0;
}

/* ---- a round ----------------------------------------------------------- */

static int round_of(uint64_t seed, struct surface *s, int n)
{
	int i;

	printf("# seed %#" PRIx64 "\n", seed);
	count_init();
	for (i = 0; i < n; i++)
		start(&s[i], seed, i);
	finish(s, n);
	undo_changes();
	count_report(seed);
	ok(!any_broken(), "seed %#" PRIx64 ": what the kernel says holds", seed);
	ok(count_deep(), "seed %#" PRIx64 ": all surfaces were reached", seed);
	return tap_bad != 0;
}

int main(int argc, char **argv)
{
	struct surface s[] = {
		{ "netlink", fuzz_netlink, 300, 0 },
		{ "device", fuzz_device, 60, 0 },
		{ "handshake", fuzz_handshake, 36, 0 },
		{ "large", fuzz_rdmc, 40, 0 },
	};
	uint64_t seed = 1;
	unsigned int i;
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt(argc, argv, "s:n:l:p:o:kq")) != -1) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			s[0].amount = atoi(optarg);
			break;
		case 'l':
			s[1].amount = atoi(optarg);
			break;
		case 'p':
			s[2].amount = atoi(optarg);
			break;
		case 'o':
			s[3].amount = atoi(optarg);
			break;
		case 'k':
			for (i = 0; i < ARRAY_SIZE(corpus); i++)
				printf("%#" PRIx64 "\n", corpus[i]);
			return 0;
		case 'q':
			return quiet();
		default:
			return 2;
		}
	}
	return round_of(seed, s, ARRAY_SIZE(s));
}
