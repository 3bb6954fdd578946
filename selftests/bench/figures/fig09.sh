#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# One active of many subgroups, batching. See fig08.sh.
# bench: mem=6144
. ./lib-bench.sh

sweep()
{
	local k n

	for k in 1 2 5 10 20 50; do
		[ -z "$QUICK" ] || [ $((k % 5)) != 0 ] || [ $k = 50 ] || continue
		for n in 2 4 8; do
			[ $((n * n * k)) -le 1300 ] || continue
			[ -z "$QUICK" ] || [ $n != 8 ] || continue
			point "$n members" "$k" -n "$n" -k $k -a one $PAPER -T $BATCHING
		done
		[ "$QUICK" ] || point "16 members of 1 KB" "$k" -n 16 -k $k -a one -S 1K \
			-w 100 -T $BATCHING
	done
}

bench
