// SPDX-License-Identifier: GPL-2.0-only
/*
 * rights: which process may read, and which may change? A socket has the rights of the process that
 * sends with it, not those with which it was opened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "genl-bad.h"
#include "refusal.h"
#include "tap.h"

static const struct refusal changes[] = {
	{ ADD, "node add", "id=9 " HERE, EPERM, NULL, 0 },
	{ DEL, "node del", "id=4", EPERM, NULL, 0 },
	{ VSET, "view set", "id=1 vid=8 " MEMBERS SUBGROUP0, EPERM, NULL, 0 },
	{ VDEL, "view del", "id=1", EPERM, NULL, 0 },
	{ NSET, "node set", "id=1 idle-us=7 timing=1", EPERM, NULL, 0 },
	{ SSET, "subgroup set", "id=1 subgroup-id=0 tune{ silence=7 } ", EPERM, NULL, 0 },
	{ CHANGE, "subgroup change", "id=1 subgroup{ id=9 } remove=0 ", EPERM, NULL, 0 },
	{ RAW, "raw run", "id=1 subgroup-id=0 raw{ size=64 count=1 } ", EPERM, NULL, 0 },
};

static void unprivileged(void)
{
	struct nl_ack ack;
	unsigned int i;

	if (setresuid(65534, 65534, 65534))
		die("setresuid: %s", strerror(errno));
	/* Test the socket that was opened with all rights, and a new one. */
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		is(request(&nl, changes[i].cmd, changes[i].words, &ack, NULL), EPERM,
		   "%s: an old socket gives no rights", changes[i].what);
	close(nl.fd);
	if (nl_open(&nl))
		die("open as user nobody");
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		is(request(&nl, changes[i].cmd, changes[i].words, &ack, NULL), EPERM,
		   "%s: user nobody is refused", changes[i].what);
	is(request(&nl, GET, "id=1", &ack, NULL), 0, "node get: user nobody may look");
	is(request(&nl, GET | DUMP, "", &ack, NULL), 0, "node get: user nobody may dump");
	is(request(&nl, STATS | DUMP, "", &ack, NULL), 0, "stats get: user nobody may dump");
	is(request(&nl, SGET | DUMP, "", &ack, NULL), 0, "subgroup get: user nobody may dump");
	is(request(&nl, RGET | DUMP, "", &ack, NULL), 0, "rdmc get: user nobody may dump");
	exit(tap_bad != 0);
}

void rights(void)
{
	static struct state before, after;
	int status;
	pid_t pid;

	read_state(&before);
	fflush(stdout);
	pid = fork();
	if (!pid)
		unprivileged();
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		die("the child died");
	read_state(&after);
	ok(same_state(&before, &after), "user nobody changed nothing");
	is(no_events(), 0, "user nobody caused no event");
	tap_bad += !!status;
}
