#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A predicate that always holds, and counts in a row that nobody else has.
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	shared "one member" 1 back -n 1 -c $((ROUNDS * 20))
}

bench
