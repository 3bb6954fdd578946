// SPDX-License-Identifier: GPL-2.0-only
/* The progress of a batch. See bar.h. */
#include <stdio.h>
#include <unistd.h>

#include "bar.h"
#include "common/bar.h"
#include "common/clock.h"
#include "common/util.h"

#define PERIOD_NS	250000000ULL
#define NSEC_PER_SEC	1000000000ULL

static struct {
	bool on;
	uint64_t total;
	uint64_t start;
	uint64_t next;
} bar;

void cast_bar_init(bool quiet)
{
	bar.on = !quiet && isatty(STDERR_FILENO);
	perf_bar_init(quiet);
	ctl_before_err = perf_bar_clear;
}

/* Begin a bar of @total bytes, which go to all receivers. */
void cast_bar_begin(uint64_t total)
{
	bar.total = total;
	bar.start = perf_monotonic();
	bar.next = bar.start + PERIOD_NS;
}

/* Is it time to draw the bar again? If not, the caller need not compute the progress. */
bool cast_bar_due(void)
{
	uint64_t now;

	if (!bar.on || !bar.total)
		return false;
	now = perf_monotonic();
	if (now < bar.next)
		return false;
	bar.next = now + PERIOD_NS;
	return true;
}

/**
 * cast_bar_show() - draw the bar
 * @name: present file
 * @what: text behind the rate, or ""
 * @done: bytes that all receivers have
 */
void cast_bar_show(const char *name, const char *what, uint64_t done)
{
	uint64_t ns = perf_monotonic() - bar.start, left;
	char rate[CAST_RATE_LEN], title[80], eta[24] = "";

	if (done > bar.total)
		done = bar.total;
	if (done) {
		left = (uint64_t)((double)ns / (double)done * (double)(bar.total - done)) /
		       NSEC_PER_SEC;
		snprintf(eta, sizeof(eta), ", %llu:%02llu left", (unsigned long long)left / 60,
			 (unsigned long long)left % 60);
	}
	cast_rate_text(rate, done, ns);
	snprintf(title, sizeof(title), "%.24s %s%s%s", ctl_clean(name), rate, eta, what);
	perf_bar_title(title);
	perf_bar_show((double)done / (double)bar.total, perf_now());
}

/**
 * cast_bar_part() - compute how much of an object a member has
 * @st: progress of the member
 * @object: number of the object
 * @len: bytes of the object
 * @block: bytes of a block
 *
 * The last block is usually shorter, so the number of blocks alone would give too many bytes.
 *
 * Return: bytes, never fewer than for an earlier @st
 */
uint64_t cast_bar_part(const struct spindle_rdmc_stat *st, uint64_t object, uint64_t len,
		       uint32_t block)
{
	if (object < st->finished)
		return len;
	if (object > st->finished)
		return 0;
	return st->blocks <= len / block ? st->blocks * block : len;
}

const char *cast_rate_text(char *buf, uint64_t bytes, uint64_t ns)
{
	double rate = ns ? (double)bytes / (double)ns * NSEC_PER_SEC : 0;
	static const char * const units[] = { "B/s", "kB/s", "MB/s", "GB/s" };
	unsigned int i = 0;

	while (rate >= 1000 && i + 1 < CTL_ARRAY_SIZE(units)) {
		rate /= 1000;
		i++;
	}
	snprintf(buf, CAST_RATE_LEN, "%.*f %s", rate < 10 && i ? 2 : rate < 100 && i ? 1 : 0, rate,
		 units[i]);
	return buf;
}
