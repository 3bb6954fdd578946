// SPDX-License-Identifier: GPL-2.0-only
/*
 * fake_rdmc.c as a process of its own, for tests of programs.
 *
 *	fake_rdmcd SOCKET [rate=N] [memlock=N] [memlock-in=N] [no-files] [corrupt=TAG] [lost]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "fake_rdmc.h"

int main(int argc, char **argv)
{
	struct fake_rdmc_opts o = { 0 };
	int i, fd;

	for (i = 2; i < argc; i++) {
		if (!strncmp(argv[i], "rate=", 5))
			o.rate = strtoull(argv[i] + 5, NULL, 0);
		else if (!strncmp(argv[i], "memlock=", 8))
			o.memlock = strtoull(argv[i] + 8, NULL, 0);
		else if (!strncmp(argv[i], "memlock-in=", 11))
			o.memlock_in = strtoull(argv[i] + 11, NULL, 0);
		else if (!strncmp(argv[i], "corrupt=", 8))
			o.corrupt_tag = strtoull(argv[i] + 8, NULL, 0);
		else if (!strcmp(argv[i], "no-files"))
			o.no_files = true;
		else if (!strcmp(argv[i], "lost"))
			o.lost = true;
		else
			return 2;
	}
	/* End with the script that started this process. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	fd = argc < 2 ? -1 : fake_rdmc_listen(argv[1]);
	if (fd < 0) {
		perror("fake_rdmcd");
		return 1;
	}
	fake_rdmc_serve(fd, &o);
	return 0;
}
