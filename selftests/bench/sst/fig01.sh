#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Latency of a write of a process by the size of its cell, and of a read.
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local size

	for size in $SIZES; do
		raw "raw write" "$size" -n 2 -S "$size"
		shared "write" "$size" write -S "$size"
		shared "reader asleep" "$size" wake -S "$size"
		shared "raw read" "$size" raw -m read -S "$size"
		shared "read" "$size" read -m read -S "$size"
	done
}

bench
