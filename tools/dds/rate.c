// SPDX-License-Identifier: GPL-2.0-only
/* Figures of the last samples. See rate.h. */
#include <math.h>

#include "common/util.h"
#include "rate.h"

#define NSEC_PER_SEC	1e9
#define NSEC_PER_MSEC	1e6

/**
 * dds_window_init() - make an empty window
 * @w: out: the window
 * @room: samples that it has at most, 2 or more
 */
void dds_window_init(struct dds_window *w, uint32_t room)
{
	*w = (struct dds_window){ .room = room };
	w->sample = ctl_alloc((size_t)room * sizeof(*w->sample));
}

/**
 * dds_window_add() - add a sample, in place of the oldest one if the window is full
 * @w: window
 * @at: when the sample came, nanoseconds, not before the last one
 * @bytes: its bytes
 */
void dds_window_add(struct dds_window *w, uint64_t at, uint32_t bytes)
{
	w->sample[w->next] = (struct dds_arrival){ .at = at, .bytes = bytes };
	w->next = (w->next + 1) % w->room;
	w->n += w->n < w->room;
}

/* A sample of the window, 0 is the oldest one. */
static const struct dds_arrival *nth(const struct dds_window *w, uint32_t i)
{
	return &w->sample[((uint64_t)w->next + w->room - w->n + i) % w->room];
}

/**
 * dds_window_hz() - compute how often samples come
 * @w: window
 * @hz: out: figures
 */
void dds_window_hz(const struct dds_window *w, struct dds_hz *hz)
{
	double sum = 0, squares = 0, mean, ms;
	uint32_t i;

	*hz = (struct dds_hz){ .rate = NAN, .min = NAN, .max = NAN, .deviation = NAN,
			       .samples = w->n };
	if (w->n < 2)
		return;
	mean = (double)(nth(w, w->n - 1)->at - nth(w, 0)->at) / NSEC_PER_MSEC / (w->n - 1);
	for (i = 1; i < w->n; i++) {
		ms = (double)(nth(w, i)->at - nth(w, i - 1)->at) / NSEC_PER_MSEC;
		hz->min = fmin(hz->min, ms);
		hz->max = fmax(hz->max, ms);
		sum += ms;
		squares += (ms - mean) * (ms - mean);
	}
	hz->deviation = sqrt(squares / (w->n - 1));
	if (sum > 0)
		hz->rate = (w->n - 1) / sum * 1000;
}

/**
 * dds_window_bw() - compute how large samples are
 * @w: window
 * @now: end of the time that the rate is computed of, nanoseconds
 * @bw: out: figures
 */
void dds_window_bw(const struct dds_window *w, uint64_t now, struct dds_bw *bw)
{
	const struct dds_arrival *s;
	double sum = 0;
	uint32_t i;

	*bw = (struct dds_bw){ .rate = NAN, .mean = NAN, .samples = w->n };
	if (!w->n)
		return;
	bw->min = UINT32_MAX;
	for (i = 0; i < w->n; i++) {
		s = nth(w, i);
		sum += s->bytes;
		bw->min = s->bytes < bw->min ? s->bytes : bw->min;
		bw->max = s->bytes > bw->max ? s->bytes : bw->max;
	}
	bw->mean = sum / w->n;
	if (now > nth(w, 0)->at)
		bw->rate = sum / (double)(now - nth(w, 0)->at) * NSEC_PER_SEC;
}
