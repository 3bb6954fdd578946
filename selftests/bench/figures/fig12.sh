#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Posting at the end of a pass and outside of the lock.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n

	for n in $NODES; do
		point "batching and nulls" "$n" -n "$n" $PAPER -T $NULLS
		point "+ post at the end" "$n" -n "$n" $PAPER -T $LATE
		point "all techniques" "$n" -n "$n" $PAPER
	done
}

bench
