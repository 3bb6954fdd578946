#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Predicates that always hold, each of which counts in a row that nobody else has.
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local n

	for n in 1 2 4 6; do
		shared "one member" "$n" back -n 1 -p "$n" -c $((ROUNDS * 20))
	done
}

bench
