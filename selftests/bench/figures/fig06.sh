#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Window sizes; and the baseline's.
# bench: mem=8192
. ./lib-bench.sh

sweep()
{
	local n window

	for n in $FEW_NODES; do
		for window in 5 10 50 100 500 1000; do
			point "window $window" "$n" -n "$n" -S 10K -w $window -T $BATCHING
		done
		point "baseline window 100" "$n" -n "$n" $PAPER -T $BASELINE
	done
}

bench
