/* SPDX-License-Identifier: GPL-2.0-only */
/* The summary of the values of a few repetitions. */
#ifndef SPINDLE_PERF_STAT_H
#define SPINDLE_PERF_STAT_H

/**
 * struct perf_stat - summary of a sample
 *
 * All fields but @count are NaN if @count is 0.
 */
struct perf_stat {
	/** @count: number of known values */
	unsigned int count;
	/** @median: middle value; with an even number of values, the mean of the two middle ones */
	double median;
	/** @p90: value that 90 % of the values do not exceed */
	double p90;
	/** @p99: value that 99 % of the values do not exceed */
	double p99;
	/** @min: smallest one */
	double min;
	/** @max: largest one */
	double max;
	/** @mean: mean */
	double mean;
	/** @dev: standard deviation of the sample, 0 of a single value */
	double dev;
};

struct perf_stat perf_stat(const double *v, unsigned int n);
struct perf_stat perf_stat_of(const double *v, unsigned int n, unsigned int step);

#endif /* SPINDLE_PERF_STAT_H */
