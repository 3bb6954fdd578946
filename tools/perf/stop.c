// SPDX-License-Identifier: GPL-2.0-only
/* A measurement that ends early. See stop.h. */
#include <signal.h>
#include <stddef.h>

#include "common/util.h"
#include "stop.h"

int perf_stop_why;

/* Stop all threads. The first reason stays. */
void perf_stop(int why)
{
	int none = 0;

	__atomic_compare_exchange_n(&perf_stop_why, &none, why, 0, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static void on_signal(int sig)
{
	perf_stop(sig);
}

static const int caught[] = { SIGINT, SIGTERM, SIGHUP };

/* Catch signals that ask for the end, because the nodes have to be removed first. */
void perf_stop_catch(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(caught); i++)
		sigaction(caught[i], &sa, NULL);
	/* The reader of the output may end. This must not prevent the removal of the nodes. */
	signal(SIGPIPE, SIG_IGN);
}

/* After the nodes are removed, end by the signal that was caught, if there was one. */
void perf_stop_die(void)
{
	if (perf_stop_why <= 0)
		return;
	signal(perf_stop_why, SIG_DFL);
	raise(perf_stop_why);
}
