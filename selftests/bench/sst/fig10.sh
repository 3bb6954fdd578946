#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Detection by size of the row, with a predicate over all rows. With writes and with reads.
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local n size members="2 4 8 16"

	[ -z "$QUICK" ] || members="2 4"
	for n in $members; do
		for size in 64 256 1024 4096; do
			shared "$n members" "$size" back -n "$n" -S "$size"
			shared "$n members with reads" "$size" back -m read -n "$n" -S "$size"
		done
	done
}

bench
