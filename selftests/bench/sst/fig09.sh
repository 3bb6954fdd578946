#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Detection by rows that the predicate is about, with writes and with reads.
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local n r members="4 8 16 24"

	[ -z "$QUICK" ] || members="4 8"
	for n in $members; do
		for r in 1 2 4 8 16 23; do
			[ "$r" -lt "$n" ] || continue
			shared "$n members" "$r" back -n "$n" -r "$r"
		done
		for r in 1 2 4 8 16 23; do
			[ "$r" -lt "$n" ] || continue
			shared "$n members with reads" "$r" back -m read -n "$n" -r "$r"
		done
	done
}

bench
