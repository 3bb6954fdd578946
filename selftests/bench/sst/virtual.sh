#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Figure 8 in virtual time, where nothing but the instructions of both ways counts.
# bench: machine=icount
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local size

	for size in 64 256 1024 4096; do
		raw "raw write" "$size" -n 2 -S "$size"
		shared "predicate" "$size" back -S "$size"
		shared "predicate of the guard" "$size" back -S "$size" -x 0
		shared "raw read" "$size" raw -m read -S "$size"
		shared "predicate with reads" "$size" back -m read -S "$size"
	done
}

bench
