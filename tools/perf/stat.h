/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is said of a few repetitions of a measurement.
 */
#ifndef SPINDLE_PERF_STAT_H
#define SPINDLE_PERF_STAT_H

/**
 * struct perf_stat - a sample in short
 * @count: values; what is not known is not counted
 * @median: the middle one; the mean of both if there are two
 * @min: smallest one
 * @max: largest one
 * @mean: mean
 * @dev: standard deviation of the sample, 0 of a single value
 *
 * All are NaN if @count is 0.
 */
struct perf_stat {
	unsigned int count;
	double median;
	double min;
	double max;
	double mean;
	double dev;
};

struct perf_stat perf_stat(const double *v, unsigned int n);

#endif /* SPINDLE_PERF_STAT_H */
