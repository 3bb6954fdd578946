// SPDX-License-Identifier: GPL-2.0-only
/* A progress bar. See bar.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bar.h"
#include "clock.h"
#include "util.h"

#define WIDTH		30
#define PERIOD_NS	200000000.0
/* Work that is over before has no bar. */
#define WORK_NS		250000000ULL
#define NSEC_PER_SEC	1000000000ULL

static struct {
	bool on;
	bool shown;
	char title[80];
	uint64_t next;
} bar;

/**
 * ctl_can_draw() - is this a terminal whose lines can be drawn again?
 * @fd: a descriptor
 *
 * Where TERM is "dumb" or not set, each drawing would stay.
 *
 * Return: whether it is.
 */
bool ctl_can_draw(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb");
}

/**
 * ctl_bar_init() - find out whether there is a terminal for the bar
 * @quiet: there shall be no bar
 *
 * Errors erase the bar from here on.
 */
void ctl_bar_init(bool quiet)
{
	bar.on = !quiet && ctl_can_draw(STDERR_FILENO);
	ctl_before_err = ctl_bar_clear;
}

/**
 * ctl_bar_title() - set the text in front of the bar
 * @title: text without control characters
 */
void ctl_bar_title(const char *title)
{
	snprintf(bar.title, sizeof(bar.title), "%s", title);
	bar.next = 0;
}

/**
 * ctl_bar_show() - draw the bar, at most once per PERIOD_NS
 * @done: share that is done, 0 to 1
 * @now: the time in ticks
 */
void ctl_bar_show(double done, uint64_t now)
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
void ctl_bar_clear(void)
{
	if (bar.shown)
		fputs("\r\033[K", stderr);
	bar.shown = false;
}

/* ---- work ---------------------------------------------------------------- */

/**
 * ctl_work_begin() - begin work
 * @w: the work
 * @total: bytes or other parts of it
 */
void ctl_work_begin(struct ctl_work *w, uint64_t total)
{
	w->total = total;
	w->start = perf_monotonic();
	w->next = w->start + WORK_NS;
}

/**
 * ctl_work_due() - is it time to draw the bar again?
 * @w: the work, or a zeroed one
 *
 * Return: whether the caller has to compute the progress.
 */
bool ctl_work_due(struct ctl_work *w)
{
	uint64_t now;

	if (!bar.on || !w->total)
		return false;
	now = perf_monotonic();
	if (now < w->next)
		return false;
	w->next = now + WORK_NS;
	return true;
}

/* Draw the bar with the time that is left. */
static void draw(const struct ctl_work *w, const char *head, const char *what, uint64_t done,
		 uint64_t ns)
{
	char title[80], eta[24] = "";
	uint64_t left;

	if (done) {
		left = (uint64_t)((double)ns / (double)done * (double)(w->total - done)) /
		       NSEC_PER_SEC;
		snprintf(eta, sizeof(eta), ", %llu:%02llu left", (unsigned long long)left / 60,
			 (unsigned long long)left % 60);
	}
	snprintf(title, sizeof(title), "%s%s%s", head, eta, what);
	ctl_bar_title(title);
	ctl_bar_show((double)done / (double)w->total, perf_now());
}

/**
 * ctl_work_bytes() - draw the bar of work in bytes
 * @w: the work, which is due
 * @name: what is under way, without control characters
 * @what: text behind the rate, or ""
 * @done: bytes that are done
 */
void ctl_work_bytes(const struct ctl_work *w, const char *name, const char *what, uint64_t done)
{
	uint64_t ns = perf_monotonic() - w->start;
	char rate[CTL_RATE_LEN], head[64];

	if (done > w->total)
		done = w->total;
	snprintf(head, sizeof(head), "%.24s %s", name, ctl_rate_text(rate, done, ns));
	draw(w, head, what, done, ns);
}

/**
 * ctl_work_parts() - draw the bar of work in other parts
 * @w: the work, which is due
 * @name: what is under way, without control characters
 * @done: parts that are done
 */
void ctl_work_parts(const struct ctl_work *w, const char *name, uint64_t done)
{
	char head[48];

	snprintf(head, sizeof(head), "%s", name);
	draw(w, head, "", done < w->total ? done : w->total, perf_monotonic() - w->start);
}

/**
 * ctl_rate_text() - write a rate for people
 * @buf: CTL_RATE_LEN bytes
 * @bytes: bytes
 * @ns: nanoseconds that they took
 *
 * Return: @buf
 */
const char *ctl_rate_text(char *buf, uint64_t bytes, uint64_t ns)
{
	double rate = ns ? (double)bytes / (double)ns * NSEC_PER_SEC : 0;
	static const char * const units[] = { "B/s", "kB/s", "MB/s", "GB/s" };
	unsigned int i = 0;

	while (rate >= 1000 && i + 1 < CTL_ARRAY_SIZE(units)) {
		rate /= 1000;
		i++;
	}
	snprintf(buf, CTL_RATE_LEN, "%.*f %s", rate < 10 && i ? 2 : rate < 100 && i ? 1 : 0, rate,
		 units[i]);
	return buf;
}
