// SPDX-License-Identifier: GPL-2.0-only
/* A progress bar. See bar.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bar.h"
#include "clock.h"

#define WIDTH		30
#define PERIOD_NS	200000000.0

static struct {
	bool on;
	bool shown;
	char title[80];
	uint64_t next;
} bar;

void perf_bar_init(bool quiet)
{
	bar.on = !quiet && isatty(STDERR_FILENO);
}

void perf_bar_title(const char *title)
{
	snprintf(bar.title, sizeof(bar.title), "%s", title);
	bar.next = 0;
}

/**
 * perf_bar_show() - draw the bar, at most once per PERIOD_NS
 * @done: share that is done, 0 to 1
 * @now: the time in ticks
 */
void perf_bar_show(double done, uint64_t now)
{
	char line[WIDTH + 1];
	int full = done * WIDTH;

	if (!bar.on || now < bar.next)
		return;
	bar.next = now + perf_ticks(PERIOD_NS);
	if (full < 0)
		full = 0;
	if (full > WIDTH)
		full = WIDTH;
	memset(line, '#', full);
	memset(line + full, '.', WIDTH - full);
	line[WIDTH] = '\0';
	fprintf(stderr, "\r\033[K%s [%s] %3.0f %%", bar.title, line, done * 100);
	bar.shown = true;
}

/* Erase the bar before other output is written. */
void perf_bar_clear(void)
{
	if (bar.shown)
		fputs("\r\033[K", stderr);
	bar.shown = false;
}
