#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Batch sizes of the three stages.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n

	for n in 4 ${QUICK:+8} 16; do
		[ -z "$QUICK" ] || [ "$n" != 16 ] || continue
		point "batching" "$n" -n "$n" $PAPER -T $BATCHING
		point "all techniques" "$n" -n "$n" $PAPER
	done
}

bench
