#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Detection by the simplest predicate, with writes and with reads, and raw ones of the same size.
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local size

	for size in $SIZES; do
		raw "raw write" "$size" -n 2 -S "$size"
		shared "predicate" "$size" back -S "$size"
		shared "predicate of the guard" "$size" back -S "$size" -x 0
		shared "raw read" "$size" raw -m read -S "$size"
		shared "predicate with reads" "$size" back -m read -S "$size"
	done
}

bench
