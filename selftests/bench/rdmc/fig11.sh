#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Polling against sleeping.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local n size idle

	for size in 10K 1M 16M; do
		[ -z "$QUICK" ] || [ $size != 16M ] || continue
		for n in 2 4 8; do
			for idle in 0 50 2000; do
				large "$size idle $idle" $n -n $n -S $size -c 4 -q 1 --idle-us $idle
			done
		done
	done
}

bench
