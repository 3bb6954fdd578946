#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Latency of a raw write by its size; and its bandwidth.
. ./lib-bench.sh

SIZES="1 8 64 128 256 512 1K 2K 4K 8K 10K 16K 32K 64K"
[ -z "$QUICK" ] || SIZES="1 64 1K 4K 10K 64K"

sweep()
{
	local size

	for size in $SIZES; do
		point "raw write" "$(bytes "$size")" -n 2 -S "$size" -c 50 -W 0
	done
}

bench
