#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Final throughput, and latency under load.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n who

	for n in $FEW_NODES; do
		for who in all half one; do
			point "baseline $who" "$n" -n "$n" -s $who $PAPER -T $BASELINE
			point "all techniques $who" "$n" -n "$n" -s $who $PAPER
		done
	done
}

bench
