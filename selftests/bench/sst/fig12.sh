#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Counting in step, by predicates of the engines: in the guard, in another cell, and with reads.
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local n members="2 3 4 8 12 16 24 28"

	[ -z "$QUICK" ] || members=$MEMBERS
	for n in $members; do
		shared "counting" "$n" count -n "$n" -c $((ROUNDS * 4 / n)) -x 0
		shared "counting in another cell" "$n" count -n "$n" -c $((ROUNDS * 4 / n))
		# Reads have connections of their own, which double the memory of a guest.
		[ "$n" -gt 24 ] ||
			shared "counting with reads" "$n" count -m read -n "$n" \
				-c $((ROUNDS * 4 / n))
	done
	[ "$QUICK" ] || shared "to one million" 3 count -n 3 -c 1000000 -k 1 -x 0
}

bench
