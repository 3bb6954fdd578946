#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Objects of one byte.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local n count=1000

	[ -z "$QUICK" ] || count=200
	for n in $MEMBERS; do
		large "1 byte" "$n" -n "$n" -S 1 -c $count
		large "1 byte one by one" "$n" -n "$n" -S 1 -c $((count / 4)) -q 1
	done
}

bench
