/* SPDX-License-Identifier: GPL-2.0-only */
/* Rates from two looks at the counters. */
#ifndef SPINDLE_CTL_RATE_H
#define SPINDLE_CTL_RATE_H

#include "common/wire.h"
#include "stats.h"

/**
 * struct ctl_sample - one look at all counters
 */
struct ctl_sample {
	/** @node: nodes */
	struct ctl_node_stats *node;
	/** @nodes: entries of @node */
	unsigned int nodes;
	/** @sg: subgroups of these nodes */
	struct ctl_running_subgroup *sg;
	/** @sgs: entries of @sg */
	unsigned int sgs;
};

/**
 * struct ctl_rate - a rate that is computed from counters
 */
struct ctl_rate {
	/** @word: name in JSON */
	const char *word;
	/** @head: head of the column; NULL: the rate has no column */
	const char *head;
	/** @part: counter */
	unsigned int part;
	/** @less: counter that is subtracted from @part; 0: none */
	unsigned int less;
	/** @whole: counter that @part is divided by; 0: seconds */
	unsigned int whole;
	/** @scale: factor for the column */
	double scale;
};

/* Lists end with an entry without a word. */
extern const struct ctl_rate ctl_node_rates[];
extern const struct ctl_rate ctl_subgroup_rates[];

/* rate.c */
int ctl_sample_take(struct ctl_net *net, const struct ctl_val *node,
		    const struct ctl_val *id, struct ctl_sample *sample);
const struct ctl_stats *ctl_node_before(const struct ctl_sample *before,
					const struct ctl_node_stats *node);
const struct ctl_stats *ctl_subgroup_before(const struct ctl_sample *before,
					    const struct ctl_running_subgroup *sg);
double ctl_rate(const struct ctl_rate *rate, const struct ctl_stats *now,
		const struct ctl_stats *before, double seconds);

#endif /* SPINDLE_CTL_RATE_H */
