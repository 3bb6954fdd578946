#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Schedules where links are the bound, with the time that a block takes here.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local n a

	for n in 2 3 4 5 6 7 8 12 16 32 64 128 256 512; do
		for a in pipeline sequential chain tree; do
			replayed "$a" $n -a $a -S 64M
		done
		replayed "pipeline 16 MiB" $n -S 16M
		replayed "pipeline 1 MiB" $n -S 1M
		replayed "first come" $n -S 64M -f
		replayed "first come grants for one block" $n -S 64M -f -W 1
	done
}

bench
