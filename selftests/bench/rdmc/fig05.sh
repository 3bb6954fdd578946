#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Where the time of an object goes.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local n size

	for n in 2 4; do
		for size in 16 64; do
			[ -z "$QUICK" ] || [ $size = 16 ] || continue
			large "$n members" $size -n $n -S ${size}M
			# As in the paper.
			large "$n members blocks of 1 MiB" $size -n $n -S ${size}M -b 1M
		done
	done
}

bench
