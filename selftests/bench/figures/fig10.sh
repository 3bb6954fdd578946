#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Delayed senders.
# bench: mem=3072
. ./lib-bench.sh

sweep()
{
	local n delay who

	for n in $FEW_NODES; do
		# For a time, as the others.
		point "no delay" "$n" -n "$n" $PAPER -d 0 -T $NULLS
		for who in one half; do
			for delay in 1 100 long; do
				# Of two, half is one.
				point "$delay us $who" "$n" -n "$n" $PAPER -d $delay \
					--delay-senders $who -T $NULLS
			done
		done
	done
}

bench
