#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Throughput of one subgroup, the baseline against opportunistic batching.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n who

	for n in $NODES; do
		for who in all half one; do
			point "baseline $who" "$n" -n "$n" -s $who $PAPER -T $BASELINE
			point "batching $who" "$n" -n "$n" -s $who $PAPER -T $BATCHING
		done
	done
}

bench
