#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Detection by the simplest predicate, and raw writes of the same size.
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
	done
}

bench
