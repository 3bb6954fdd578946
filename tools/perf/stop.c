// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a measurement that has not come to its end. See perf-stop.h.
 */
#include <signal.h>
#include <stddef.h>

#include "ctl.h"
#include "perf-stop.h"

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

/* What asks us to end has to wait until nodes are removed. */
void perf_stop_catch(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(caught); i++)
		sigaction(caught[i], &sa, NULL);
	/* Whoever reads our output may go; that must not keep us from cleaning up. */
	signal(SIGPIPE, SIG_IGN);
}

/* Having cleaned up, end by the signal that wanted us to, if there was one. */
void perf_stop_die(void)
{
	if (perf_stop_why <= 0)
		return;
	signal(perf_stop_why, SIG_DFL);
	raise(perf_stop_why);
}
