#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Algorithms: all members on one processor.
# bench: machine=icount
# bench: mem=4096
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local n size a

	for size in 1 8 64; do
		[ -z "$QUICK" ] || [ $size != 64 ] || continue
		for n in 2 4 8 16; do
			# Virtual minutes say no more of a processor that is shared.
			[ $size != 64 ] || [ $n -le 8 ] || continue
			[ -z "$QUICK" ] || [ $n -le 8 ] || continue
			for a in pipeline sequential chain tree; do
				large "$a $size MiB" $n -n $n -S ${size}M -a $a
			done
		done
	done
}

bench
