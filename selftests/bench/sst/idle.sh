#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tables at rest.
. ./lib-bench.sh
# shellcheck source=selftests/bench/sst/lib-sst.sh
. "./${LIST:+sst/}lib-sst.sh"

sweep()
{
	local n

	for n in 1 16 64; do
		idle "$n"
	done
}

bench
