#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Groups with the same members, each with another root.
# bench: machine=icount
# bench: mem=6144
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local n who size

	for size in 10K 1M 4M; do
		[ -z "$QUICK" ] || [ $size = 1M ] || continue
		for n in 2 4 8 16; do
			[ $n != 16 ] || { [ $size != 4M ] && [ -z "$QUICK" ]; } || continue
			for who in all half one; do
				[ $n -ge 4 ] || [ $who = all ] || continue
				large "$size $who" $n -n $n -s $who -S $size -c 2
			done
		done
	done
}

bench
