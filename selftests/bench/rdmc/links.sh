#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Members with a link each, which is the bound: 80 Mbit/s in each direction.
# bench: machine=icount
# bench: mem=3072
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"
# shellcheck source=selftests/bench/peers/lib-peers.sh
[ "${LIST:-}" ] || . ./lib-peers.sh

LARGE_PLACE=$LINKS_PLACE

sweep()
{
	local n size=16M sizes="2 3 4 7 8"

	if [ "$QUICK" ]; then
		size=2M
		sizes="2 4"
	fi
	for n in $sizes; do
		large "pipeline" "$n" -n "$n" -S $size
		large "pipeline blocks of 64 KiB" "$n" -n "$n" -S $size -b 64K
		large "chain" "$n" -n "$n" -S $size -a chain
		large "tree" "$n" -n "$n" -S $size -a tree
		large "sequential" "$n" -n "$n" -S $size -a sequential
	done
}

# shellcheck disable=SC2034 # lib-bench.sh calls both
BENCH_BEGIN=links_begin
# shellcheck disable=SC2034
BENCH_END=down
bench
