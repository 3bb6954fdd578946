#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Batching at one stage after the other.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n

	for n in $NODES; do
		point "baseline" "$n" -n "$n" $PAPER -T $BASELINE
		point "+ delivery" "$n" -n "$n" $PAPER -T $DELIVERY
		point "+ receive" "$n" -n "$n" $PAPER -T $RECEIVE
		point "+ send" "$n" -n "$n" $PAPER -T $BATCHING
	done
}

bench
