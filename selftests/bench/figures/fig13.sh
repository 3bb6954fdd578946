#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Several active subgroups.
# bench: mem=4096
. ./lib-bench.sh

sweep()
{
	local k n

	for k in 1 2 5 10 20; do
		[ -z "$QUICK" ] || [ $k -lt 5 ] || [ $k = 10 ] || continue
		for n in 2 4 8; do
			[ -z "$QUICK" ] || [ $n != 8 ] || continue
			[ $((n * n * k)) -le 700 ] || continue
			point "baseline $n" "$k" -n "$n" -k $k -S 10K -w 32 -T $BASELINE
			point "all techniques $n" "$k" -n "$n" -k $k -S 10K -w 32
		done
	done
}

bench
