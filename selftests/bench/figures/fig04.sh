#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages per second by their size, with batching; and the baseline's.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n size who

	for n in $FEW_NODES; do
		for size in 1 128 1K 10K; do
			for who in all half one; do
				[ -z "$QUICK" ] || [ $who != half ] || continue
				point "$size $who" "$n" -n "$n" -s $who -S $size -w 100 \
					-T $BATCHING
			done
			point "$size all baseline" "$n" -n "$n" -S $size -w 100 -T $BASELINE
		done
	done
}

bench
