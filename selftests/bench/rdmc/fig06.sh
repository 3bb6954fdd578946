#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sizes of blocks.
# bench: machine=icount
# bench: mem=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/rdmc/lib-rdmc.sh
. "./${LIST:+rdmc/}lib-rdmc.sh"

sweep()
{
	local block size

	for size in 16K 256K 1M 16M; do
		[ -z "$QUICK" ] || [ $size != 16M ] || continue
		for block in 4 16 64 128 256 512 1024; do
			large "$size" $block -n 4 -S $size -b ${block}K
		done
	done
}

bench
