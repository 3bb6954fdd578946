/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often samples come, and how large they are: figures of the last samples.
 *
 * Owner: the verb has the window, whose memory is that of ctl_alloc(). Context: any. No I/O.
 */
#ifndef SPINDLE_DDS_TOOL_RATE_H
#define SPINDLE_DDS_TOOL_RATE_H

#include <stdint.h>

/**
 * struct dds_arrival - a sample that has come
 */
struct dds_arrival {
	/** @at: when, nanoseconds of a clock that never goes back */
	uint64_t at;
	/** @bytes: its bytes */
	uint32_t bytes;
};

/**
 * struct dds_window - the last samples
 */
struct dds_window {
	/** @sample: ring of samples */
	struct dds_arrival *sample;
	/** @room: entries of @sample */
	uint32_t room;
	/** @n: samples in it */
	uint32_t n;
	/** @next: entry of the next sample */
	uint32_t next;
};

/**
 * struct dds_hz - how often samples come; NaN is a figure that needs more samples
 */
struct dds_hz {
	/** @rate: samples per second */
	double rate;
	/** @min: shortest interval, milliseconds */
	double min;
	/** @max: longest interval, milliseconds */
	double max;
	/** @deviation: standard deviation of the intervals, milliseconds */
	double deviation;
	/** @samples: samples of the window */
	uint32_t samples;
};

/**
 * struct dds_bw - how large samples are; NaN is a figure that needs more samples
 */
struct dds_bw {
	/** @rate: bytes per second */
	double rate;
	/** @mean: mean size, bytes */
	double mean;
	/** @min: smallest size, bytes */
	uint32_t min;
	/** @max: largest size, bytes */
	uint32_t max;
	/** @samples: samples of the window */
	uint32_t samples;
};

void dds_window_init(struct dds_window *w, uint32_t room);
void dds_window_add(struct dds_window *w, uint64_t at, uint32_t bytes);
void dds_window_hz(const struct dds_window *w, struct dds_hz *hz);
void dds_window_bw(const struct dds_window *w, uint64_t now, struct dds_bw *bw);

#endif /* SPINDLE_DDS_TOOL_RATE_H */
