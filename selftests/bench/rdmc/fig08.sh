#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Many members: what they cost on one processor.
# bench: machine=icount
# bench: mem=4096
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local n size=16

	[ -z "$QUICK" ] || size=2
	for n in $MEMBERS; do
		large "pipeline" "$n" -n "$n" -S ${size}M
	done
	for n in 2 8; do
		large "pipeline 64 MiB" $n -n $n -S 64M
	done
}

bench
