#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What null messages cost when all send all the time.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n who

	for n in $NODES; do
		for who in all half one; do
			[ "$n" -ge 4 ] || [ $who = all ] || continue
			point "without $who" "$n" -n "$n" -s $who $PAPER -T $BATCHING
			point "nulls $who" "$n" -n "$n" -s $who $PAPER -T $NULLS
		done
	done
}

bench
