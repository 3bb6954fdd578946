#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Copying into the ring and out of it.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n who

	for n in $FEW_NODES; do
		for who in all half one; do
			[ -z "$QUICK" ] || [ $who != half ] || continue
			point "in place $who" "$n" -n "$n" -s $who $PAPER
			point "copied $who" "$n" -n "$n" -s $who $PAPER --copy-in --copy-out
		done
		point "1 B in place" "$n" -n "$n" -S 1 -w 100
		point "1 B copied" "$n" -n "$n" -S 1 -w 100 --copy-in --copy-out
	done
}

bench
