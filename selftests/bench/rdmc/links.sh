#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Members with a link each, which is the bound: 20 Mbit/s in each direction.
# bench: machine=icount
# bench: mem=3072
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"
# shellcheck source=selftests/bench/peers/lib-peers.sh
[ "${LIST:-}" ] || . ./lib-peers.sh

LARGE_PLACE=$LINKS_PLACE

# other_links RATE first|line SERIES X OPTION...
other_links()
{
	local rate=$1 acks=$2

	shift 2
	[ ! "$pass" ] || link_queues "$rate" "$acks" || return 1
	large "$@"
	[ ! "$pass" ] || link_queues "$LINK_RATE" first
}

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
		large "pipeline blocks of 128 KiB" "$n" -n "$n" -S $size -b 128K
		large "pipeline blocks of 512 KiB" "$n" -n "$n" -S $size -b 512K
		large "chain" "$n" -n "$n" -S $size -a chain
		large "tree" "$n" -n "$n" -S $size -a tree
		large "sequential" "$n" -n "$n" -S $size -a sequential
		other_links 80mbit first "80 Mbit/s" "$n" -n "$n" -S $size
		other_links 80mbit line "80 Mbit/s in line" "$n" -n "$n" -S $size
	done
}

# shellcheck disable=SC2034 # lib-bench.sh calls both
BENCH_BEGIN=links_begin
# shellcheck disable=SC2034
BENCH_END=down
bench
