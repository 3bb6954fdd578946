/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The participant of spindle-dds, its reader, and signals.
 *
 * Owner: a verb has a struct dds_link, which it closes. Context: main thread.
 */
#ifndef SPINDLE_DDS_TOOL_LINK_H
#define SPINDLE_DDS_TOOL_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <spindle/dds.h>

#include "opts.h"

/**
 * struct dds_link - a participant
 */
struct dds_link {
	/** @o: options */
	const struct dds_opts *o;
	/** @p: the participant */
	struct spindle_dds *p;
	/** @topic: the topic, when it was found */
	struct spindle_dds_topic_info topic;
	/** @samples: samples that were read or written */
	uint64_t samples;
	/** @bytes: their bytes */
	uint64_t bytes;
	/** @start: nanoseconds of the monotonic clock when the reader or writer was there */
	uint64_t start;
	/** @output: errno of the first failure of standard output; 0: there was none */
	int output;
	/** @other: endpoint that the last note about a mismatch was about; 0: none */
	uint64_t other;
};

/**
 * struct dds_read - what a verb does with samples
 *
 * All memory of ctl_alloc() in these functions is freed when they return.
 */
struct dds_read {
	/**
	 * @sample: a sample has come. Its bytes are a copy, which is valid in the call. @now:
	 * nanoseconds of the monotonic clock
	 */
	void (*sample)(void *ctx, const struct spindle_dds_sample *s, uint64_t now);
	/** @tick: a second is over, or reading ends; or NULL */
	void (*tick)(void *ctx, uint64_t now, bool last);
	/** @ctx: argument of both */
	void *ctx;
};

int dds_signal(void);
void dds_signal_die(void);

int dds_link_open(struct dds_link *l, const struct dds_opts *o);
void dds_link_close(struct dds_link *l);
int dds_link_fail(const struct dds_link *l);
int dds_link_find(struct dds_link *l, bool wait);
int dds_link_read(struct dds_link *l, const struct dds_read *how);
void dds_link_qos(const struct dds_link *l, struct spindle_dds_qos *qos);
void dds_link_note(struct dds_link *l, const struct spindle_dds_status *st, const char *what);
void dds_link_sum(const struct dds_link *l, const char *did);

#endif /* SPINDLE_DDS_TOOL_LINK_H */
